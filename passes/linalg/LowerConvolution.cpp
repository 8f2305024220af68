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

namespace {
/// The loops n, [g,] f, o..., c, k... and where they read and write.
struct ConvolutionLoops {
  AffineMap input, weight, out;
  SmallVector<utils::IteratorType> iterators;
};
} // namespace

static ConvolutionLoops convolutionLoops(MLIRContext *context, const Convolution &conv) {
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

static LogicalResult lowerConv(Operation *op, Lowering &l) {
  FailureOr<Convolution> conv = readConvolution(op, l, onnx::inferConv);
  if (failed(conv))
    return failure();
  Location loc = op->getLoc();
  Lowered input = conv->x, weight = conv->w;
  Sizes out(conv->result);
  if (conv->isGrouped()) {
    // Channels are seen as [g, c]: views of the operands.
    OpFoldResult groups = l.plan.index(conv->groups);
    OpFoldResult filters = l.plan.floorDiv(weight.sizes[0], groups);
    input = l.build.reshape(loc, conv->x, splitSizes(conv->x.sizes, 1, groups, conv->w.sizes[1]));
    weight = l.build.reshape(loc, conv->w, splitSizes(conv->w.sizes, 0, groups, filters));
    out = splitSizes(out, 1, groups, filters);
  }
  Sizes before, after;
  for (const Window &window : conv->windows) {
    before.push_back(window.before);
    after.push_back(window.after);
  }
  ConvolutionLoops loops = convolutionLoops(op->getContext(), *conv);
  Type type = conv->x.elementType;
  Value sum = l.build.dispatch(
      loc, OutputSpec{out, type}, [&](OpBuilder &b, Location at, ValueRange inits) {
        Value padded = padWithZeros(l, b, at, input, before, after);
        Value product = contract(b, at, padded, loops.input, weight.tensor, loops.weight, out,
                                 loops.out, type, loops.iterators, l);
        return SmallVector<Value>{addBias(l, b, at, *conv, product, inits[0], out)};
      })[0];
  l.define(op, 0, l.build.reshape(loc, Lowered{sum, out, type}, conv->result));
  return success();
}

void registerConvolutionOperators(OperatorTable &table) {
  table["Conv"] = {lowerConv};
  registerConvTranspose(table);
}

} // namespace cameo
