// Attention: the steps that it is written in otherwise, a dispatch each.
//
//   onnx.Attention  ==>  [scale] product [scale] [softcap] [mask] softmax product
//
// One that cameo-recognize-attention made becomes the dispatches that its operators would have
// become, so that a model of 16 bits computes nothing otherwise for having been recognised. Of others scores of
// 16 bits are rounded once, in front of the softmax: before they are scaled and masked they may be beyond what FP16
// has. Where the softmax is to be in FP32, they are not rounded at all.
//
// SPDX-License-Identifier: Apache-2.0
#include "dialects/onnx/shape/Attention.h"
#include "passes/linalg/Contraction.h"
#include "passes/linalg/Indexing.h"
#include "passes/linalg/ScalarMath.h"
#include "passes/linalg/Softmax.h"

#include <limits>

using namespace mlir;

namespace cameo {

//===-- Numbers -------------------------------------------------------------------------------===//

/// A number of an Attention that was recognised.
static std::optional<double> arithmetic(Operation *op, StringRef name) {
  auto numbers = op->getAttrOfType<DictionaryAttr>(onnx::kArithmeticAttr);
  auto number = numbers ? dyn_cast_or_null<FloatAttr>(numbers.get(name)) : FloatAttr();
  return number ? std::optional(number.getValueAsDouble()) : std::nullopt;
}

/// What scores are multiplied by where nothing else is said.
static double ownScale(Operation *op, Lowering &l, const onnx::AttentionShape &shape) {
  if (auto scale = op->getAttrOfType<FloatAttr>("scale"))
    return scale.getValueAsDouble();
  std::optional<int64_t> size = getConstantIntValue(shape.query[3]);
  return 1.0 / std::sqrt(static_cast<double>(*size));
}

/// x with each element's `fn`, computed in the type in which sums are.
static Lowered mapped(Lowering &l, Location loc, ArrayRef<Lowered> inputs,
                      function_ref<Value(ScalarMath &, ValueRange)> fn) {
  const Lowered &x = inputs[0];
  Type type = signless(x.elementType), computed = accumulatorType(type);
  Value result = l.build.elementwise(
      loc, inputs, x.sizes, x.elementType, [&](OpBuilder &b, Location at, ValueRange scalars) {
        ScalarMath m(b, at, computed, /*isUnsigned=*/false);
        SmallVector<Value> elements(scalars);
        for (Value &element : elements)
          if (isa<FloatType>(element.getType()))
            element = convertScalar(b, at, element, element.getType(), computed);
        return convertScalar(b, at, fn(m, elements), computed, type);
      });
  return {result, x.sizes, x.elementType};
}

/// x as elements of another type.
static Lowered rounded(Lowering &l, Location loc, const Lowered &x, Type type) {
  if (x.elementType == type)
    return x;
  Value result = l.build.elementwise(
      loc, x, x.sizes, type, [&](OpBuilder &b, Location at, ValueRange scalars) {
        return convertScalar(b, at, scalars[0], signless(x.elementType), signless(type));
      });
  return {result, x.sizes, type};
}

/// x times or over the number that an Attention that was recognised has for it.
static Lowered scaled(Operation *op, Lowering &l, Location loc, const Lowered &x, StringRef name) {
  std::optional<double> factor = arithmetic(op, name);
  std::optional<double> divisor = arithmetic(op, (name + "_divisor").str());
  if (!factor && !divisor)
    return x;
  return mapped(l, loc, x, [&](ScalarMath &m, ValueRange scalars) {
    return factor ? m.mul(scalars[0], m.c(*factor)) : m.div(scalars[0], m.c(*divisor));
  });
}

//===-- Products ------------------------------------------------------------------------------===//

namespace {
/// One product for each head of queries: of [batch, heads, m, depth] with [batch, fewer heads,
/// depth, n], or [..., n, depth] where `transposed`; times `factor` before it is rounded to `stored`.
struct HeadProduct {
  bool transposed;
  int64_t groups; // heads of the left operand for one of the right
  Type stored;
  double factor = 1;

  Lowered build(Lowering &l, Location loc, const Lowered &left, const Lowered &right) const;
};
} // namespace

Lowered HeadProduct::build(Lowering &l, Location loc, const Lowered &left,
                           const Lowered &right) const {
  MLIRContext *context = loc.getContext();
  bool isOneHead = isConstantIntValue(right.sizes[1], 1);
  // Where heads share keys, they are two dimensions, and the keys have the outer one.
  bool isSplit = groups > 1 && !isOneHead;
  Sizes batches{left.sizes[0], left.sizes[1]};
  Lowered rows = left;
  if (isSplit) {
    batches = {left.sizes[0], right.sizes[1], l.plan.index(groups)};
    rows = l.build.reshape(loc, left,
                           {batches[0], batches[1], batches[2], left.sizes[2], left.sizes[3]});
  }
  int64_t count = batches.size();
  AffineExpr m = getAffineDimExpr(count, context), n = getAffineDimExpr(count + 1, context),
             k = getAffineDimExpr(count + 2, context), zero = getAffineConstantExpr(0, context);
  SmallVector<AffineExpr> leftAt,
      rightAt{getAffineDimExpr(0, context), isOneHead ? zero : getAffineDimExpr(1, context)};
  for (int64_t i = 0; i < count; ++i)
    leftAt.push_back(getAffineDimExpr(i, context));
  SmallVector<AffineExpr> resultAt(leftAt);
  leftAt.append({m, k});
  rightAt.append({transposed ? n : k, transposed ? k : n});
  resultAt.append({m, n});
  auto map = [&](ArrayRef<AffineExpr> at) { return AffineMap::get(count + 3, 0, at, context); };
  OpFoldResult columns = right.sizes[transposed ? 2 : 3];
  Sizes sizes(batches);
  sizes.append({left.sizes[2], columns});
  SmallVector<utils::IteratorType> iterators(count + 2, utils::IteratorType::parallel);
  iterators.push_back(utils::IteratorType::reduction);
  Type type = left.elementType;
  auto scale = [&](OpBuilder &b, Location at, ValueRange scalars) -> Value {
    return b.create<arith::MulFOp>(at, scalars[0],
                                   scalarConstant(b, at, scalars[0].getType(), factor));
  };
  function_ref<Value(OpBuilder &, Location, ValueRange)> finish = scale;
  Value product = l.build.dispatch(
      loc, OutputSpec{sizes, stored}, [&](OpBuilder &b, Location at, ValueRange inits) {
        Value sum = contract(b, at, rows.tensor, map(leftAt), right.tensor, map(rightAt), sizes,
                             map(resultAt), type, iterators, l);
        return SmallVector<Value>{
            epilogue(b, at, sum, inits[0], {}, {}, stored, factor == 1 ? nullptr : finish)};
      })[0];
  Lowered result{product, sizes, stored};
  Sizes heads{left.sizes[0], left.sizes[1], left.sizes[2], columns};
  return isSplit ? l.build.reshape(loc, result, heads) : result;
}

//===-- Masks ---------------------------------------------------------------------------------===//

/// The mask with what it lacks of the keys: nobody sees them.
static Lowered wholeMask(Lowering &l, Location loc, const Lowered &mask, OpFoldResult keys) {
  if (mask.sizes.back() == keys)
    return mask;
  Sizes sizes(mask.sizes);
  sizes.back() = keys;
  Type type = signless(mask.elementType);
  double hidden = isa<FloatType>(type) ? -std::numeric_limits<double>::infinity() : 0;
  Value whole = l.build.compute(loc, sizes, mask.elementType,
                                [&](OpBuilder &b, Location at, ValueRange indices) {
                                  IndexMath math(b, at);
                                  return math.choose(
                                      math.inside(indices.back(), mask.sizes.back()),
                                      [&](OpBuilder &then, Location place) {
                                        return IndexMath(then, place).element(mask, indices);
                                      },
                                      [&](OpBuilder &other, Location place) {
                                        return scalarConstant(other, place, type, hidden);
                                      });
                                });
  return {whole, sizes, mask.elementType};
}

/// The scores with those changed that are masked, by the operand, by order and by length.
static Lowered masked(Operation *op, Lowering &l, Location loc, const Lowered &scores,
                      const onnx::AttentionShape &shape) {
  bool isCausal = onnx::intAttribute(op, "is_causal", 0) != 0;
  bool hasMask = !l.absent(op, onnx::kMask), hasLengths = !l.absent(op, onnx::kLengths);
  if (!isCausal && !hasMask && !hasLengths)
    return scores;
  SmallVector<Lowered> inputs{scores};
  if (hasMask)
    inputs.push_back(wholeMask(l, loc, l.operand(op, onnx::kMask), scores.sizes.back()));
  bool adds = hasMask && isa<FloatType>(inputs[1].elementType);
  OpFoldResult one = l.plan.index(1);
  if (hasLengths)
    inputs.push_back(
        l.build.reshape(loc, l.operand(op, onnx::kLengths), {shape.query[0], one, one, one}));
  double infinity = std::numeric_limits<double>::infinity();
  double hidden = arithmetic(op, "masked").value_or(-infinity);
  return mapped(l, loc, inputs, [&](ScalarMath &m, ValueRange scalars) {
    Value result = scalars[0];
    if (hasMask)
      result = adds ? m.add(result, scalars[1]) : m.select(scalars[1], result, m.c(hidden));
    auto keepBelow = [&](Value end) {
      Value key = m.b.create<linalg::IndexOp>(m.loc, 3);
      Value seen = m.b.create<arith::CmpIOp>(m.loc, arith::CmpIPredicate::slt, key, end);
      result = m.select(seen, result, m.c(-infinity));
    };
    if (isCausal) {
      IndexMath math(m.b, m.loc);
      Value query = m.b.create<linalg::IndexOp>(m.loc, 2);
      keepBelow(math.add(math.add(query, shape.past), l.plan.index(1)));
    }
    if (hasLengths)
      keepBelow(m.b.create<arith::IndexCastOp>(m.loc, m.b.getIndexType(), scalars.back()));
    return result;
  });
}

//===-- Operator ------------------------------------------------------------------------------===//

namespace {
/// The steps in their order.
class AttentionSteps {
public:
  AttentionSteps(Operation *op, Lowering &l, const onnx::AttentionShape &shape)
      : op(op), l(l), shape(shape) {}

  void lower();

private:
  /// An operand as [batch, heads, length, size].
  Lowered heads(unsigned number, const Sizes &sizes);
  /// What is new behind the past, where there is one.
  Lowered present(unsigned past, unsigned result, const Lowered &fresh, const Sizes &sizes);
  /// Defines the scores as a result if it is these that are asked for.
  void show(int64_t mode, const Lowered &scores);
  /// Where the node of a step was that was recognised.
  Location at(StringRef step);
  Type precision();

  Operation *op;
  Lowering &l;
  const onnx::AttentionShape &shape;
};
} // namespace

Location AttentionSteps::at(StringRef step) {
  auto fused = dyn_cast<FusedLoc>(op->getLoc());
  auto steps = fused ? dyn_cast_or_null<ArrayAttr>(fused.getMetadata()) : ArrayAttr();
  if (steps && steps.size() == fused.getLocations().size())
    for (auto [name, loc] : llvm::zip(steps.getAsRange<StringAttr>(), fused.getLocations()))
      if (name == step)
        return loc;
  return op->getLoc();
}

Lowered AttentionSteps::heads(unsigned number, const Sizes &sizes) {
  Lowered given = l.operand(op, number);
  if (!shape.isPacked)
    return given;
  Lowered apart = l.build.reshape(op->getLoc(), given, {sizes[0], sizes[2], sizes[1], sizes[3]});
  return transposed(l, op->getLoc(), apart, {0, 2, 1, 3});
}

Lowered AttentionSteps::present(unsigned past, unsigned result, const Lowered &fresh,
                                const Sizes &sizes) {
  Lowered all = fresh;
  if (!l.absent(op, past) && !isConstantIntValue(shape.past, 0))
    all = l.build.concat(op->getLoc(), {l.operand(op, past), fresh}, 2, sizes);
  if (result < op->getNumResults() && isa<TensorType>(op->getResult(result).getType()))
    l.define(op, result, all);
  return all;
}

void AttentionSteps::show(int64_t mode, const Lowered &scores) {
  if (op->getNumResults() > 3 && isa<TensorType>(op->getResult(3).getType()) &&
      onnx::intAttribute(op, "qk_matmul_output_mode", 0) == mode)
    l.define(op, 3, rounded(l, op->getLoc(), scores, Lowering::elementType(op->getResult(3))));
}

/// What the softmax is computed in where the node asks for more than is done anyway.
Type AttentionSteps::precision() {
  Type least = accumulatorType(signless(Lowering::elementType(op->getOperand(0))));
  constexpr int64_t kDouble = 11; // TensorProto.DataType
  return onnx::intAttribute(op, "softmax_precision", 0) == kDouble ? l.builder().getF64Type()
                                                                   : least;
}

void AttentionSteps::lower() {
  Lowered query = heads(onnx::kQuery, shape.query);
  Lowered key = present(onnx::kPastKey, 1, heads(onnx::kKey, shape.key), shape.presentKey);
  Lowered value =
      present(onnx::kPastValue, 2, heads(onnx::kValue, shape.value), shape.presentValue);
  bool isOwn = !op->hasAttr(onnx::kArithmeticAttr);
  query = scaled(op, l, at("query"), query, "query");
  key = scaled(op, l, at("key"), key, "key");
  Type type = query.elementType;
  // A type that scores are in until they have been scaled, masked and capped: operators of the model round each.
  bool isRounded = !isOwn && !op->hasAttr(onnx::OnnxDialect::PrecisionAttrHelper::getNameStr());
  Type wide = isRounded || !isa<FloatType>(type) ? type : accumulatorType(type);
  HeadProduct product{/*transposed=*/true, shape.groups, wide, isOwn ? ownScale(op, l, shape) : 1};
  Lowered scores = product.build(l, at("product"), query, key);
  scores = scaled(op, l, at("scores"), scores, "scores");
  show(0, scores);
  // The cap comes before the mask, whose infinities it would make finite.
  if (float cap = onnx::floatAttribute(op, "softcap", 0); cap > 0)
    scores = mapped(l, op->getLoc(), scores, [&](ScalarMath &m, ValueRange x) {
      return m.mul(m.tanh(m.div(x[0], m.c(cap))), m.c(cap));
    });
  show(1, scores);
  Value unmasked = scores.tensor;
  scores = masked(op, l, at("mask"), scores, shape);
  // A query that sees no key gives 0; the model's own operators would make NaN of it.
  bool mayHideAll = isOwn && scores.tensor != unmasked;
  show(2, scores);
  if (isRounded || !onnx::keepsScores(op))
    scores = rounded(l, at("product"), scores, type);
  Lowered weights = softmax(l, at("softmax"), scores, 3, /*isLog=*/false, precision(), mayHideAll);
  weights = rounded(l, at("softmax"), weights, type);
  show(3, weights);
  HeadProduct mixed{/*transposed=*/false, shape.groups, type};
  Lowered result = mixed.build(l, at("result"), weights, value);
  if (shape.isPacked)
    result = l.build.reshape(op->getLoc(), transposed(l, op->getLoc(), result, {0, 2, 1, 3}),
                             shape.result);
  l.define(op, 0, result);
}

static LogicalResult lowerAttention(Operation *op, Lowering &l) {
  FailureOr<onnx::AttentionShape> shape = onnx::inferAttention(l.shapes, op);
  if (failed(shape))
    return failure();
  AttentionSteps(op, l, *shape).lower();
  return success();
}

void registerAttention(LoweringRows &rows) {
  rows.add<onnx::AttentionOp>(
      {lowerAttention, "one element type; masks of booleans or floats; a scale above 0"});
}

} // namespace cameo
