// ConvTranspose as one product, where the stride divides the kernel: with o + before = q * stride +
// r only the taps k = r + stride * t reach o, from i = q - t. So each r has a convolution of stride
// 1 of its own, and all of them are rows of one product, whose result is written in the order of o:
//
//   "onnx.ConvTranspose"(%x, %w)  ==>  kernel.dispatch { product, transposition, slice }
//     [n, g, f, r..., q..., c, t...] -> X[n, g, c, q - t...], W[g, c, f, (t, r)...]
//
// SPDX-License-Identifier: Apache-2.0
#include "passes/linalg/ConvTranspose.h"

#include "dialects/onnx/Constants.h"
#include "passes/graph/Elements.h"
#include "passes/linalg/Contraction.h"

#include <cmath>

using namespace mlir;

namespace cameo {
namespace {

/// What the phases of one spatial dimension are.
struct Phases {
  int64_t stride, taps, distance; // of each: so many taps, so far apart in the input
  int64_t first;                  // q of the first position that is computed
  int64_t skipped;                // positions computed in front of the result
  OpFoldResult count;             // of q
  OpFoldResult after;             // zeros behind the input
  bool isWhole;                   // what is computed is the result
  int64_t reach() const { return (taps - 1) * distance; }
};

} // namespace

/// A product's rows, columns and depth below this leave most of a tile idle (kernel/form/Product).
static constexpr int64_t kFewest = 8;

bool isEnough(ArrayRef<OpFoldResult> sizes) {
  int64_t product = 1;
  for (OpFoldResult size : sizes) {
    std::optional<int64_t> known = getConstantIntValue(size);
    if (!known)
      return true;
    product *= *known;
  }
  return product >= kFewest;
}

static bool isFinite(Value onnxValue) {
  ElementsAttr value = onnx::constantValue(onnxValue);
  std::optional<Elements> elements = value ? Elements::of(value) : std::nullopt;
  return elements &&
         llvm::all_of(readDoubles(*elements), [](double number) { return std::isfinite(number); });
}

static std::optional<Phases> phasesOf(const Window &window, Lowering &l) {
  std::optional<int64_t> kernel = getConstantIntValue(window.kernel);
  std::optional<int64_t> before = getConstantIntValue(window.before);
  int64_t stride = window.stride;
  // Without zero taps: they would spread what is not finite.
  if (!kernel || !before || !window.more ||
      (stride != 1 && (window.dilation != 1 || *kernel % stride != 0)))
    return std::nullopt;
  Phases phases{stride, *kernel / stride, stride == 1 ? window.dilation : 1, 0, 0, {}, {}, false};
  phases.first = std::min(*before / stride, phases.reach());
  phases.skipped = *before - phases.first * stride;
  int64_t more = *window.more + phases.skipped; // of what is computed, over count * stride
  int64_t whole = (more - ((more % stride + stride) % stride)) / stride;
  phases.isWhole = phases.skipped == 0 && more % stride == 0;
  if (phases.skipped >= stride)
    return std::nullopt;
  if (more % stride != 0)
    ++whole;
  phases.count = l.plan.add(window.count, l.plan.index(whole));
  phases.after = l.plan.index(std::max<int64_t>(whole + phases.first, 0));
  return phases;
}

/// Of all dimensions, where the result is a product with them.
static std::optional<SmallVector<Phases>> phasesOf(Operation *op, const TransposedConvolution &conv,
                                                   Lowering &l) {
  SmallVector<Phases> all;
  bool isWhole = true, isPadded = false, isStatic = true;
  for (const Window &window : conv.windows) {
    std::optional<Phases> phases = phasesOf(window, l);
    if (!phases)
      return std::nullopt;
    all.push_back(*phases);
    isWhole &= phases->isWhole;
    isPadded |= phases->reach() != phases->first || !isConstantIntValue(phases->after, 0);
    isStatic &= isa<Attribute>(phases->count);
  }
  Sizes rows{conv.channelsOut}, columns{conv.x.sizes[0]}, depth{conv.channelsIn};
  for (const Phases &phases : all) {
    rows.push_back(l.plan.index(phases.stride));
    columns.push_back(phases.count);
    depth.push_back(l.plan.index(phases.taps));
  }
  if (!isEnough(rows) || !isEnough(columns) || !isEnough(depth))
    return std::nullopt;
  // A part of the product is stored by bounds, which are numbers.
  if (!isWhole && (!isStatic || !isa<Attribute>(conv.channelsOut)))
    return std::nullopt;
  // A weight that is not finite must not reach a position from a zero around the input.
  return isPadded && !isFinite(op->getOperand(1)) ? std::nullopt : std::optional(all);
}

namespace {

/// The dispatch of phases, piece by piece.
class PhaseProduct {
public:
  PhaseProduct(Operation *op, const TransposedConvolution &conv, ArrayRef<Phases> phases,
               Lowering &l)
      : op(op), conv(conv), phases(phases), l(l), context(op->getContext()) {}

  Lowered build() {
    Location loc = op->getLoc();
    Sizes front(conv.groupedX.sizes);
    front.truncate(conv.lead());
    front.push_back(conv.channelsOut);
    product = interleaved = front;
    for (const Phases &one : phases)
      if (one.stride != 1)
        product.push_back(l.plan.index(one.stride));
    for (const Phases &one : phases) {
      product.push_back(one.count);
      interleaved.push_back(one.count);
      if (one.stride != 1)
        interleaved.push_back(l.plan.index(one.stride));
    }
    weight = l.build.reshape(loc, conv.groupedW, weightSizes());
    Type type = conv.x.elementType;
    bool isWhole = llvm::all_of(phases, [](const Phases &one) { return one.isWhole; });
    Sizes out = isWhole ? interleaved : conv.result;
    Value value = l.build.dispatch(
        loc, OutputSpec{out, type}, [&](OpBuilder &b, Location at, ValueRange inits) {
          Value last = isWhole ? inits[0] : emptyTensor(b, at, interleaved, type);
          Value sum = interleave(b, at, multiply(b, at, last), last);
          return SmallVector<Value>{isWhole ? sum : cut(b, at, sum)};
        })[0];
    return l.build.reshape(loc, Lowered{value, out, type}, conv.result);
  }

private:
  bool isStrided() const {
    return llvm::any_of(phases, [](const Phases &one) { return one.stride != 1; });
  }

  /// Taps as [t, r].
  Sizes weightSizes() const {
    Sizes sizes(conv.groupedW.sizes);
    sizes.truncate(conv.lead() + 1);
    for (const Phases &one : phases) {
      sizes.push_back(l.plan.index(one.taps));
      if (one.stride != 1)
        sizes.push_back(l.plan.index(one.stride));
    }
    return sizes;
  }

  /// The sums and their bias, as [n, g, f, r..., q...].
  Value multiply(OpBuilder &b, Location loc, Value last) {
    unsigned dims = 0;
    auto next = [&] { return getAffineDimExpr(dims++, context); };
    SmallVector<AffineExpr> input{next()}, weights, out(input), residues;
    if (conv.isGrouped()) {
      AffineExpr group = next();
      for (auto *exprs : {&input, &weights, &out})
        exprs->push_back(group);
    }
    out.push_back(next());
    AffineExpr filter = out.back();
    for (const Phases &one : phases) {
      residues.push_back(one.stride != 1 ? next() : AffineExpr());
      if (residues.back())
        out.push_back(residues.back());
    }
    for (int64_t i = 0; i < conv.spatial(); ++i)
      out.push_back(next());
    SmallVector<utils::IteratorType> iterators(dims, utils::IteratorType::parallel);
    AffineExpr channel = next();
    input.push_back(channel);
    weights.append({channel, filter});
    auto positions = ArrayRef(out).take_back(conv.spatial());
    Sizes before, after;
    for (auto [one, position, residue] : llvm::zip(phases, positions, residues)) {
      AffineExpr tap = next();
      input.push_back(position + (one.reach() - tap * one.distance));
      weights.push_back(tap);
      if (residue)
        weights.push_back(residue);
      before.push_back(l.plan.index(one.reach() - one.first));
      after.push_back(one.after);
    }
    iterators.append(1 + conv.spatial(), utils::IteratorType::reduction);
    auto map = [&](ArrayRef<AffineExpr> exprs) { return AffineMap::get(dims, 0, exprs, context); };
    Type type = conv.x.elementType;
    Value padded = padWithZeros(l, b, loc, conv.groupedX, before, after);
    Value sum = contract(b, loc, padded, map(input), weight.tensor, map(weights), product, map(out),
                         type, iterators, l);
    Value init = isStrided() ? emptyTensor(b, loc, product, type) : last;
    return addBias(l, b, loc, conv, sum, init, product);
  }

  /// As [n, g, f, (q, r)...].
  Value interleave(OpBuilder &b, Location loc, Value sum, Value last) {
    if (!isStrided())
      return sum;
    unsigned residue = conv.lead() + 1, position = product.size() - conv.spatial(), dims = residue;
    SmallVector<AffineExpr> from(product.size());
    for (unsigned i = 0; i < dims; ++i)
      from[i] = getAffineDimExpr(i, context);
    for (const Phases &one : phases) {
      from[position++] = getAffineDimExpr(dims++, context);
      if (one.stride != 1)
        from[residue++] = getAffineDimExpr(dims++, context);
    }
    AffineMap map = AffineMap::get(dims, 0, from, context);
    return mapGeneric(
        l, b, loc, interleaved, conv.x.elementType, {{sum, map}},
        [](OpBuilder &, Location, ValueRange scalars) { return scalars[0]; }, last);
  }

  /// The part that is the result.
  Value cut(OpBuilder &b, Location loc, Value sum) {
    SmallVector<ReassociationIndices> groups(conv.x.rank());
    Sizes whole;
    unsigned next = 0;
    auto take = [&](unsigned dim, unsigned count) {
      OpFoldResult size = l.plan.index(1);
      for (unsigned i = 0; i < count; ++i) {
        size = l.plan.mul(size, interleaved[next]);
        groups[dim].push_back(next++);
      }
      whole.push_back(size);
    };
    take(0, 1);
    take(1, conv.lead());
    for (auto [i, one] : llvm::enumerate(phases))
      take(2 + i, one.stride == 1 ? 1 : 2);
    Type type = conv.x.elementType;
    Value joined = sum;
    if (whole.size() != interleaved.size())
      joined = b.create<tensor::CollapseShapeOp>(loc, tensorType(whole, type), sum, groups);
    Sizes offsets(conv.x.rank(), b.getIndexAttr(0)), sizes(conv.result);
    if (!isa<Attribute>(sizes[0])) // all of it: forms see that in the size itself
      sizes[0] = b.create<tensor::DimOp>(loc, joined, 0).getResult();
    for (auto [i, one] : llvm::enumerate(phases))
      offsets[2 + i] = b.getIndexAttr(one.skipped);
    Sizes strides(conv.x.rank(), b.getIndexAttr(1));
    return b.create<tensor::ExtractSliceOp>(loc, tensorType(conv.result, type), joined, offsets,
                                            sizes, strides);
  }

  Operation *op;
  const TransposedConvolution &conv;
  ArrayRef<Phases> phases;
  Lowering &l;
  MLIRContext *context;
  Sizes product, interleaved;
  Lowered weight;
};

} // namespace

std::optional<Lowered> phasesAsProduct(Operation *op, const TransposedConvolution &conv,
                                       Lowering &l) {
  std::optional<SmallVector<Phases>> phases = phasesOf(op, conv, l);
  return phases ? std::optional(PhaseProduct(op, conv, *phases, l).build()) : std::nullopt;
}

} // namespace cameo
