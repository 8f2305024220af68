// The operands and windows of a convolution.
//
// SPDX-License-Identifier: Apache-2.0
#include "passes/linalg/Convolution.h"

using namespace mlir;

namespace cameo {

FailureOr<Convolution> readConvolution(Operation *op, Lowering &l, ConvolutionRule rule) {
  SmallVector<Lowered> operands = l.operands(op);
  Convolution conv{operands[0], operands[1], {}, intAttribute(op, "group", 1), {}, {}};
  if (operands.size() > 2)
    conv.bias = operands[2];
  FailureOr<onnx::WindowShape> shape = rule(l.plan, op, l.shapes.operands(op));
  if (failed(shape))
    return failure();
  conv.windows = shape->windows;
  conv.result = shape->result;
  return conv;
}

} // namespace cameo
