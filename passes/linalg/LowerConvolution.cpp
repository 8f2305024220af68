// Conv in any number of spatial dimensions, with groups, as one contraction over a padded input.
//
//   onnx.Conv  ==>  tensor.pad, then linalg.generic
//     [n, g, f, o..., c, k...] -> X[n, g * C + c, o * stride + k * dilation], W[g * F + f, c, k...]
//
// SPDX-License-Identifier: Apache-2.0
#include "passes/linalg/Contraction.h"
#include "passes/linalg/Families.h"
#include "passes/linalg/Windows.h"

using namespace mlir;

namespace cameo {

static LogicalResult lowerConv(Operation *op, Lowering &l) {
  auto conv = cast<onnx::ConvOp>(op);
  Lowered x = l.operand(op, 0), w = l.operand(op, 1);
  if (x.rank() < 3 || w.rank() != x.rank())
    return l.unsupported(op, "X of rank " + Twine(x.rank()) + ", W of rank " + Twine(w.rank()) +
                                 "; both need one rank of 3 or more");
  unsigned spatial = x.rank() - 2;
  int64_t groups = conv.getGroup();
  Sizes kernel(w.sizes.begin() + 2, w.sizes.end());
  FailureOr<WindowAttributes> attributes = windowAttributes(l, op, spatial);
  if (failed(attributes) || failed(checkKernelShape(l, op, kernel)))
    return failure();
  auto &[strides, dilations, pads, autoPad] = *attributes;
  OpFoldResult channels = l.mul(w.sizes[1], l.index(groups));
  if (channels != x.sizes[1] &&
      failed(l.check(op, l.equal(channels, x.sizes[1]),
                     groups == 1 ? "the weights take {0} channels, the input has {1}"
                                 : "the weights and group take {0} channels, the input has {1}",
                     channels, x.sizes[1])))
    return failure();
  OpFoldResult remainder = l.rem(w.sizes[0], l.index(groups));
  if (failed(l.check(op, l.equal(remainder, l.index(0)), "{0} filters are no multiple of group {1}",
                     w.sizes[0], l.index(groups))))
    return failure();
  bool hasBias = !l.absent(op, 2);
  if (hasBias) {
    Lowered bias = l.operand(op, 2);
    if (bias.rank() != 1)
      return l.unsupported(op, "the bias has rank " + Twine(bias.rank()) + ", needs 1");
    if (failed(l.check(op, l.equal(bias.sizes[0], w.sizes[0]),
                       "the bias has {0} values for {1} filters", bias.sizes[0], w.sizes[0])))
      return failure();
  }

  Sizes low, high, out{x.sizes[0], w.sizes[0]};
  for (unsigned i = 0; i < spatial; ++i) {
    OpFoldResult extent =
        l.add(l.mul(l.sub(kernel[i], l.index(1)), l.index(dilations[i])), l.index(1));
    OpFoldResult size = x.sizes[i + 2], stride = l.index(strides[i]);
    OpFoldResult before = l.index(pads[i]), after = l.index(pads[i + spatial]);
    if (attributes->same()) {
      OpFoldResult outputs = l.ceilDiv(size, stride);
      OpFoldResult total =
          l.max(l.index(0), l.sub(l.add(l.mul(l.sub(outputs, l.index(1)), stride), extent), size));
      OpFoldResult half = l.floorDiv(total, l.index(2)), rest = l.sub(total, half);
      before = autoPad == "SAME_UPPER" ? half : rest;
      after = autoPad == "SAME_UPPER" ? rest : half;
    } else if (autoPad == "VALID") {
      before = after = l.index(0);
    }
    low.push_back(before);
    high.push_back(after);
    OpFoldResult room = l.sub(l.add(l.add(size, before), after), extent);
    if (failed(l.check(op, l.less(l.index(-1), room),
                       "the kernel spans {0} elements, the padded input has {1}", extent,
                       l.add(l.add(size, before), after))))
      return failure();
    out.push_back(l.add(l.floorDiv(room, stride), l.index(1)));
  }

  // Loops: n, [g,] f, o..., c, k...
  MLIRContext *context = op->getContext();
  bool grouped = groups > 1;
  unsigned dims = 0;
  auto next = [&] { return getAffineDimExpr(dims++, context); };
  AffineExpr n = next(), g = grouped ? next() : getAffineConstantExpr(0, context), f = next();
  SmallVector<AffineExpr> o, k;
  for (unsigned i = 0; i < spatial; ++i)
    o.push_back(next());
  unsigned parallel = dims;
  AffineExpr c = next();
  for (unsigned i = 0; i < spatial; ++i)
    k.push_back(next());
  auto places = [&](ArrayRef<AffineExpr> lead, ArrayRef<AffineExpr> tail) {
    SmallVector<AffineExpr> exprs(lead);
    llvm::append_range(exprs, tail);
    return AffineMap::get(dims, 0, exprs, context);
  };
  SmallVector<AffineExpr> window;
  for (unsigned i = 0; i < spatial; ++i)
    window.push_back(o[i] * strides[i] + k[i] * dilations[i]);
  // With groups, channels are seen as [g, c]: views of the operands.
  Location loc = op->getLoc();
  Sizes result(out);
  Lowered input = x, weight = w;
  SmallVector<AffineExpr> inputLead{n, c}, weightLead{f, c}, outLead{n, f};
  if (grouped) {
    OpFoldResult filters = l.floorDiv(w.sizes[0], l.index(groups));
    auto split = [&](const Sizes &sizes, unsigned at, OpFoldResult inner) {
      Sizes wide(sizes.begin(), sizes.begin() + at);
      wide.push_back(l.index(groups));
      wide.push_back(inner);
      wide.append(sizes.begin() + at + 1, sizes.end());
      return wide;
    };
    input = l.reshape(loc, x, split(x.sizes, 1, w.sizes[1]));
    weight = l.reshape(loc, w, split(w.sizes, 0, filters));
    out = split(out, 1, filters);
    inputLead = {n, g, c};
    weightLead = {g, f, c};
    outLead = {n, g, f};
  }
  SmallVector<utils::IteratorType> iterators(parallel, utils::IteratorType::parallel);
  iterators.append(dims - parallel, utils::IteratorType::reduction);
  Type type = x.elementType;
  Value sum =
      l.dispatch(loc, OutputSpec{out, type}, [&](OpBuilder &b, Location at, ValueRange inits) {
        Value padded = input.tensor;
        bool pad = llvm::any_of(llvm::concat<OpFoldResult>(low, high),
                                [](OpFoldResult amount) { return !isConstantIntValue(amount, 0); });
        if (pad) {
          Sizes front(input.rank() - spatial, b.getIndexAttr(0)), back(front), sizes(input.sizes);
          front.append(low);
          back.append(high);
          for (unsigned i = 0; i < spatial; ++i) {
            unsigned dim = input.rank() - spatial + i;
            sizes[dim] = l.add(l.add(sizes[dim], low[i]), high[i]);
          }
          Value zero = b.create<arith::ConstantOp>(at, b.getZeroAttr(Lowering::signless(type)));
          padded = b.create<tensor::PadOp>(at, Lowering::tensorType(sizes, type), padded, front,
                                           back, zero);
        }
        Value product = contract(b, at, padded, places(inputLead, window), weight.tensor,
                                 places(weightLead, k), out,
                                 AffineMap::get(
                                     dims, 0,
                                     [&] {
                                       SmallVector<AffineExpr> exprs(outLead);
                                       llvm::append_range(exprs, o);
                                       return exprs;
                                     }(),
                                     context),
                                 type, iterators, l);
        if (!hasBias)
          return SmallVector<Value>{epilogue(b, at, product, inits[0], {}, {}, type, nullptr)};
        Lowered bias = l.operand(op, 2);
        SmallVector<AffineExpr> place{getAffineDimExpr(1, context)};
        Value biasTensor = bias.tensor;
        if (grouped) {
          biasTensor = l.reshape(loc, bias, {l.index(groups), out[2]}).tensor;
          place = {getAffineDimExpr(1, context), getAffineDimExpr(2, context)};
        }
        AffineMap map = AffineMap::get(out.size(), 0, place, context);
        auto finish = [&](OpBuilder &nested, Location where, ValueRange args) -> Value {
          Value value = convertScalar(nested, where, args[1], type, args[0].getType());
          return nested.create<arith::AddFOp>(where, args[0], value);
        };
        return SmallVector<Value>{
            epilogue(b, at, product, inits[0], biasTensor, map, type, finish)};
      })[0];
  l.define(op, 0, l.reshape(loc, Lowered{sum, out, type}, result));
  return success();
}

void registerConvolutionOperators(OperatorTable &table) {
  table["Conv"] = {lowerConv};
  registerConvTranspose(table);
}

} // namespace cameo
