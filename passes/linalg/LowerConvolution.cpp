// Conv in any number of spatial dimensions, with groups, as one contraction over a padded input.
//
//   onnx.Conv  ==>  tensor.pad, then linalg.generic
//     [n, g, f, o..., c, k...] -> X[n, g * C + c, o * stride + k * dilation], W[g * F + f, c, k...]
//
// SPDX-License-Identifier: Apache-2.0
#include "passes/linalg/Contraction.h"
#include "passes/linalg/Convolution.h"
#include "passes/linalg/Families.h"

using namespace mlir;

namespace cameo {

Lowered convolve(Lowering &l, Location loc, const Convolution &conv) {
  GroupedOperands operands = groupedOperands(l, loc, conv);
  const Sizes &out = operands.out;
  ConvolutionLoops loops = convolutionLoops(loc.getContext(), conv);
  Type type = conv.x.elementType;
  Value sum = l.build.dispatch(
      loc, OutputSpec{out, type}, [&](OpBuilder &b, Location at, ValueRange inits) {
        Value padded = padWithZeros(l, b, at, operands.input, operands.before, operands.after);
        Value product = contract(b, at, padded, loops.input, operands.weight.tensor, loops.weight,
                                 out, loops.out, type, loops.iterators, l);
        return SmallVector<Value>{addBias(l, b, at, conv, product, inits[0], out)};
      })[0];
  return l.build.reshape(loc, Lowered{sum, out, type}, conv.result);
}

static LogicalResult lowerConv(Operation *op, Lowering &l) {
  FailureOr<Convolution> conv = readConvolution(op, l, onnx::inferConv);
  if (failed(conv))
    return failure();
  l.define(op, 0, convolve(l, op->getLoc(), *conv));
  return success();
}

void registerConvolutionOperators(LoweringRows &rows) {
  rows.add<onnx::ConvOp>({lowerConv});
  registerConvTranspose(rows);
  registerDeformConv(rows);
}

} // namespace cameo
