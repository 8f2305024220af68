// The operands and windows of a convolution, and what is around its sums.
//
// SPDX-License-Identifier: Apache-2.0
#include "passes/linalg/Convolution.h"

#include "passes/linalg/Contraction.h"

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

Sizes splitSizes(const Sizes &sizes, unsigned at, OpFoldResult outer, OpFoldResult inner) {
  Sizes wide(sizes.begin(), sizes.begin() + at);
  wide.append({outer, inner});
  wide.append(sizes.begin() + at + 1, sizes.end());
  return wide;
}

Value padWithZeros(Lowering &l, OpBuilder &b, Location loc, const Lowered &input,
                   const Sizes &before, const Sizes &after) {
  unsigned lead = input.rank() - before.size();
  Sizes low(lead, b.getIndexAttr(0)), high(low), sizes(input.sizes);
  for (auto [i, front, back] : llvm::enumerate(before, after)) {
    low.push_back(front);
    high.push_back(back);
    sizes[lead + i] = l.plan.add(l.plan.add(sizes[lead + i], front), back);
  }
  if (llvm::all_of(llvm::concat<OpFoldResult>(low, high),
                   [](OpFoldResult amount) { return isConstantIntValue(amount, 0); }))
    return input.tensor;
  RankedTensorType type = tensorType(sizes, input.elementType);
  Value zero = b.create<arith::ConstantOp>(loc, b.getZeroAttr(type.getElementType()));
  return b.create<tensor::PadOp>(loc, type, input.tensor, low, high, zero);
}

Value addBias(Lowering &l, OpBuilder &b, Location loc, const Convolution &conv, Value sum,
              Value init, const Sizes &out) {
  Type type = conv.x.elementType;
  if (!conv.bias)
    return epilogue(b, loc, sum, init, {}, {}, type, nullptr);
  MLIRContext *context = b.getContext();
  SmallVector<AffineExpr> place{getAffineDimExpr(1, context)};
  Value bias = conv.bias->tensor;
  if (conv.isGrouped()) {
    bias = l.build.reshape(loc, *conv.bias, {l.plan.index(conv.groups), out[2]}).tensor;
    place.push_back(getAffineDimExpr(2, context));
  }
  auto finish = [&](OpBuilder &nested, Location where, ValueRange args) -> Value {
    Value value = convertScalar(nested, where, args[1], type, args[0].getType());
    return nested.create<arith::AddFOp>(where, args[0], value);
  };
  return epilogue(b, loc, sum, init, bias, AffineMap::get(out.size(), 0, place, context), type,
                  finish);
}

} // namespace cameo
