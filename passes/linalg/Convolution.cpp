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

ConvolutionLoops convolutionLoops(MLIRContext *context, const Convolution &conv) {
  unsigned spatial = conv.windows.size(), dims = 0;
  auto next = [&] { return getAffineDimExpr(dims++, context); };
  SmallVector<AffineExpr> input{next()}, weight, out(input), kernel;
  if (conv.isGrouped()) {
    AffineExpr group = next();
    for (auto *exprs : {&input, &weight, &out})
      exprs->push_back(group);
  }
  AffineExpr filter = next();
  weight.push_back(filter);
  out.push_back(filter);
  for (unsigned i = 0; i < spatial; ++i)
    out.push_back(next());
  SmallVector<utils::IteratorType> iterators(dims, utils::IteratorType::parallel);
  AffineExpr channel = next();
  input.push_back(channel);
  weight.push_back(channel);
  for (auto [window, position] : llvm::zip(conv.windows, ArrayRef(out).take_back(spatial))) {
    AffineExpr tap = next();
    input.push_back(position * window.stride + tap * window.dilation);
    weight.push_back(tap);
  }
  iterators.append(1 + spatial, utils::IteratorType::reduction);
  auto map = [&](ArrayRef<AffineExpr> exprs) { return AffineMap::get(dims, 0, exprs, context); };
  return {map(input), map(weight), map(out), iterators};
}

GroupedOperands groupedOperands(Lowering &l, Location loc, const Convolution &conv) {
  GroupedOperands operands{conv.x, conv.w, conv.result, {}, {}};
  if (conv.isGrouped()) {
    OpFoldResult groups = l.plan.index(conv.groups);
    OpFoldResult filters = l.plan.floorDiv(conv.w.sizes[0], groups);
    operands.input =
        l.build.reshape(loc, conv.x, splitSizes(conv.x.sizes, 1, groups, conv.w.sizes[1]));
    operands.weight = l.build.reshape(loc, conv.w, splitSizes(conv.w.sizes, 0, groups, filters));
    operands.out = splitSizes(operands.out, 1, groups, filters);
  }
  for (const Window &window : conv.windows) {
    operands.before.push_back(window.before);
    operands.after.push_back(window.after);
  }
  return operands;
}

Value padWithZeros(Lowering &l, OpBuilder &b, Location loc, const Lowered &input,
                   const Sizes &before, const Sizes &after) {
  return padWith(l, b, loc, input, before, after,
                 cast<TypedAttr>(b.getZeroAttr(signless(input.elementType))));
}

Value padWith(Lowering &l, OpBuilder &b, Location loc, const Lowered &input, const Sizes &before,
              const Sizes &after, TypedAttr value) {
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
  Value element = b.create<arith::ConstantOp>(loc, value);
  return b.create<tensor::PadOp>(loc, type, input.tensor, low, high, element);
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
