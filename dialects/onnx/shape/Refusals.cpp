// What of a model cannot be compiled.
//
// SPDX-License-Identifier: Apache-2.0
#include "dialects/onnx/shape/Refusals.h"

#include "mlir/Interfaces/FunctionInterfaces.h"

using namespace mlir;

namespace cameo::onnx {

LogicalResult Refusals::add(Operation *op, const Twine &reason) {
  if (refused.insert(op).second || isa<FunctionOpInterface>(op))
    recorded.push_back({op, reason.str()});
  return failure();
}

} // namespace cameo::onnx
