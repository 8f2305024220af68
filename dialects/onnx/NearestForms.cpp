// Operators that cannot be compiled, with what comes nearest to each.
// SPDX-License-Identifier: Apache-2.0
#include "dialects/onnx/Interfaces.h"
#include "dialects/onnx/Onnx.h"
#include "dialects/onnx/OperatorRows.h"

using namespace mlir;
namespace cameo::onnx {
namespace {
struct NearestFormModel : NearestFormInterface::FallbackModel<NearestFormModel> {
  StringRef row;
  StringRef nearestForm(Operation *) const { return row; }
};
} // namespace

void attachNearestForms(MLIRContext &context) {
  OperatorRows<NearestFormModel> rows(context);
  rows.add<IfOp>(
      "a condition that is a constant or known from shapes, or Where on the results of both");
  rows.add<ImageDecoderOp, RegexFullMatchOp, StringConcatOp, StringNormalizerOp, StringSplitOp>(
      "the same done before the model, which takes tensors of numbers");
}

} // namespace cameo::onnx
