// What of a model cannot be compiled.
//
// SPDX-License-Identifier: Apache-2.0
#include "dialects/onnx/shape/Refusals.h"

using namespace mlir;

namespace cameo::onnx {

LogicalResult Refusals::add(Operation *op, const Twine &reason, Subject subject) {
  if (refused.insert(op).second || subject != Subject::Node)
    recorded.push_back({op, subject, reason.str()});
  return failure();
}

void Refusals::forget(Operation *op) {
  if (refused.erase(op))
    llvm::erase_if(recorded, [&](const Problem &problem) { return problem.op == op; });
}

} // namespace cameo::onnx
