// Shapes of Attention.
//
// SPDX-License-Identifier: Apache-2.0
#include "dialects/onnx/shape/Attention.h"

#include "dialects/onnx/Onnx.h"
#include "dialects/onnx/shape/Attributes.h"
#include "dialects/onnx/shape/ShapeRules.h"

#include "mlir/Dialect/Utils/StaticValueUtils.h"

using namespace mlir;

namespace cameo::onnx {

static LogicalResult checkEqual(SizeBuilder &s, Operation *op, StringRef what, OpFoldResult a,
                                OpFoldResult b) {
  return a == b ? success()
                : s.check(op, s.equal(a, b), what + Twine(" {0} and {1} differ; they must be one"),
                          a, b);
}

/// [batch, heads, length, size] of Q, K or V.
static FailureOr<Sizes> unpacked(SizeBuilder &s, Operation *op, const Sizes &given,
                                 StringRef headsName) {
  int64_t heads = intAttribute(op, headsName, 0);
  if (given.size() == 4) {
    if (heads &&
        failed(checkEqual(s, op, (headsName + " and the heads").str(), s.index(heads), given[1])))
      return failure();
    return given;
  }
  if (!heads)
    return s.refuse(op, "operands of rank 3 without " + headsName +
                            "; nearest supported: with q_num_heads and kv_num_heads");
  OpFoldResult count = s.index(heads);
  if (failed(s.check(op, s.equal(s.rem(given[2], count), s.index(0)),
                     "size {0} is not a multiple of " + headsName + " {1}", given[2], count)))
    return failure();
  return Sizes{given[0], count, given[1], s.floorDiv(given[2], count)};
}

/// How many heads of queries one of keys has.
static FailureOr<int64_t> headGroups(SizeBuilder &s, Operation *op, OpFoldResult queries,
                                     OpFoldResult keys) {
  if (queries == keys)
    return 1;
  std::optional<int64_t> many = getConstantIntValue(queries), few = getConstantIntValue(keys);
  if (!many || !few)
    return s.refuse(op, "numbers of heads known only at run time that may differ; nearest "
                        "supported: the same symbolic size, or fixed numbers");
  if (*few == 0 || *many % *few != 0)
    return s.refuse(op, Twine(*many) + " heads of queries for " + Twine(*few) +
                            " of keys; the first must be a multiple of the second");
  return *many / *few;
}

/// Past keys or values: [batch, heads, length, size] with the sizes of those that are new.
static LogicalResult checkPast(SizeBuilder &s, Operation *op, const Sizes &past,
                               const Sizes &fresh) {
  if (past.size() != 4)
    return s.refuse(op, "past keys or values of rank " + Twine(past.size()) + "; they must have 4");
  return success(succeeded(checkEqual(s, op, "batch sizes", past[0], fresh[0])) &&
                 succeeded(checkEqual(s, op, "numbers of heads", past[1], fresh[1])) &&
                 succeeded(checkEqual(s, op, "head sizes", past[3], fresh[3])));
}

/// The lengths of padded samples, and that there is no past then.
static LogicalResult checkLengths(Shapes &shapes, Operation *op, OpFoldResult batch) {
  if (isAbsent(op, kLengths))
    return success();
  SizeBuilder &s = shapes.sizes;
  Sizes lengths = shapes.of(op, kLengths);
  if (lengths.size() != 1)
    return s.refuse(op,
                    "nonpad_kv_seqlen has rank " + Twine(lengths.size()) + "; it must have one");
  if (!isAbsent(op, kPastKey))
    return s.refuse(op, "nonpad_kv_seqlen beside past_key; nearest supported: one of both");
  return checkEqual(s, op, "the number of lengths and the batch", lengths[0], batch);
}

bool keepsScores(Operation *op) {
  int64_t number = intAttribute(op, "softmax_precision", 0);
  return number == elementNumber(ElementKind::F32) || number == elementNumber(ElementKind::F64);
}

/// A mask that is broadcast to the scores; its last size may be less.
static LogicalResult checkMask(Shapes &shapes, Operation *op, const Sizes &scores) {
  if (isAbsent(op, kMask))
    return success();
  SizeBuilder &s = shapes.sizes;
  Type type = elementType(op->getOperand(kMask));
  if (!type.isInteger(1) && !isa<FloatType>(type))
    return s.refuse(op, "attn_mask has integers; nearest supported: booleans or floats");
  Sizes mask = shapes.of(op, kMask);
  if (mask.empty() || mask.size() > 4)
    return s.refuse(op, "attn_mask has rank " + Twine(mask.size()) + "; it must have 1 to 4");
  ArrayRef<OpFoldResult> before = ArrayRef(mask).drop_back();
  for (auto [size, whole] :
       llvm::zip(before, ArrayRef(scores).drop_back().take_back(before.size())))
    if (failed(s.checkBroadcast(op, size, whole,
                                "sizes of attn_mask and of the scores {0} and {1} differ; that of "
                                "attn_mask must be 1 or the other")))
      return failure();
  OpFoldResult last = mask.back(), keys = scores.back();
  if (last == keys)
    return success();
  return s.check(op, s.less(last, s.add(keys, s.index(1))),
                 "attn_mask is for {0} keys; there are {1}", last, keys);
}

static LogicalResult checkTypes(SizeBuilder &s, Operation *op) {
  for (unsigned i : {kKey, kValue, kPastKey, kPastValue})
    if (!isAbsent(op, i) && elementType(op->getOperand(i)) != elementType(op->getOperand(kQuery)))
      return s.refuse(op, "operands of several element types; nearest supported: that of Q for "
                          "keys, values and their past");
  auto numbers = op->getAttrOfType<DictionaryAttr>(kArithmeticAttr);
  for (NamedAttribute named : numbers ? numbers.getValue() : ArrayRef<NamedAttribute>())
    if (!isa<FloatAttr>(named.getValue()))
      return s.refuse(op, "'" + kArithmeticAttr + "' has '" + named.getName().getValue() +
                              "', which is not a number");
  return success();
}

FailureOr<AttentionShape> inferAttention(Shapes &shapes, Operation *op) {
  SizeBuilder &s = shapes.sizes;
  Sizes query = shapes.of(op, kQuery), key = shapes.of(op, kKey), value = shapes.of(op, kValue);
  if ((query.size() != 3 && query.size() != 4) || key.size() != query.size() ||
      value.size() != query.size())
    return s.refuse(op, "Q, K and V of rank " + Twine(query.size()) + ", " + Twine(key.size()) +
                            " and " + Twine(value.size()) + "; all must have 3, or all 4");
  if (isAbsent(op, kPastKey) != isAbsent(op, kPastValue))
    return s.refuse(op, "one of past_key and past_value; nearest supported: both or none");
  FailureOr<Sizes> q = unpacked(s, op, query, "q_num_heads");
  FailureOr<Sizes> k = failed(q) ? q : unpacked(s, op, key, "kv_num_heads");
  FailureOr<Sizes> v = failed(k) ? k : unpacked(s, op, value, "kv_num_heads");
  if (failed(v) || failed(checkTypes(s, op)) ||
      failed(checkEqual(s, op, "batch sizes", (*q)[0], (*k)[0])) ||
      failed(checkEqual(s, op, "batch sizes", (*q)[0], (*v)[0])) ||
      failed(checkEqual(s, op, "numbers of heads", (*k)[1], (*v)[1])) ||
      failed(checkEqual(s, op, "lengths of keys and values", (*k)[2], (*v)[2])) ||
      failed(checkEqual(s, op, "head sizes", (*q)[3], (*k)[3])))
    return failure();
  if (auto scale = op->getAttrOfType<FloatAttr>("scale"); scale && !(scale.getValueAsDouble() > 0))
    return s.refuse(op, "scale must be above 0, as its square root scales Q and K");
  if (!op->hasAttr("scale") && !getConstantIntValue((*q)[3]))
    return s.refuse(op, "a head size known only at run time; nearest supported: with scale");
  FailureOr<int64_t> groups = headGroups(s, op, (*q)[1], (*k)[1]);
  if (failed(groups))
    return failure();
  OpFoldResult past = s.index(0);
  if (!isAbsent(op, kPastKey)) {
    Sizes pastKey = shapes.of(op, kPastKey), pastValue = shapes.of(op, kPastValue);
    if (failed(checkPast(s, op, pastKey, *k)) || failed(checkPast(s, op, pastValue, *v)) ||
        failed(checkEqual(s, op, "lengths of the past", pastKey[2], pastValue[2])))
      return failure();
    past = pastKey[2];
  }
  OpFoldResult keys = s.add(past, (*k)[2]);
  AttentionShape shape{query.size() == 3, *q, *k, *v, past, *groups, *k, *v, {}, {}};
  shape.presentKey[2] = shape.presentValue[2] = keys;
  shape.scores = {(*q)[0], (*q)[1], (*q)[2], keys};
  shape.result = shape.isPacked ? Sizes{(*q)[0], (*q)[2], s.mul((*q)[1], (*v)[3])}
                                : Sizes{(*q)[0], (*q)[1], (*q)[2], (*v)[3]};
  if (failed(checkMask(shapes, op, shape.scores)) || failed(checkLengths(shapes, op, (*q)[0])))
    return failure();
  return shape;
}

static FailureOr<SmallVector<Sizes>> inferAttentionResults(Shapes &shapes, Operation *op) {
  FailureOr<AttentionShape> shape = inferAttention(shapes, op);
  if (failed(shape))
    return failure();
  return SmallVector<Sizes>{shape->result, shape->presentKey, shape->presentValue, shape->scores};
}

void registerAttentionRules(ShapeRows &rows) { rows.add<AttentionOp>(inferAttentionResults); }

} // namespace cameo::onnx
