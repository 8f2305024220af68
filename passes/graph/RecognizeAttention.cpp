// Makes one Attention of the operators that attention is written in.
//
//   %s = onnx.MatMul(%q, %kt)
//   %d = onnx.Div(%s, %eight)
//   %m = onnx.Add(%d, %mask)
//   %w = onnx.Softmax(%m)
//   %y = onnx.MatMul(%w, %v)        ==>   onnx.Attention(%q, %k, %v, %mask)
//   {scale = 0.125 : f32}
//
// What is looked for is how the values depend on one another: a Softmax along
// the last axis between two products, and between it and the first product any
// of: one number that the scores are multiplied by or divided by, and one mask,
// added or chosen by. What the numbers are and where they stood is kept as
// `onnx.arithmetic`, so that lowering computes to the bit what the operators
// did. Keys and values whose heads are repeated for groups of queries are taken
// as they are in front of that.
//
// SPDX-License-Identifier: Apache-2.0
#include "dialects/onnx/shape/Attention.h"
#include "dialects/rt/Ledger.h"
#include "passes/Statistics.h"
#include "passes/graph/Elements.h"
#include "passes/graph/Permutations.h"

using namespace mlir;

namespace cameo {

#define GEN_PASS_DEF_RECOGNIZEATTENTION
#include "passes/Passes.h.inc"

//===-- Steps
//---------------------------------------------------------------------------------===//

namespace {
/// A product of a tensor with one number, or a quotient.
struct Scale {
  Operation *op = nullptr;
  Value x;
  FloatAttr number;
  bool divides = false;

  explicit operator bool() const { return op; }
  double factor() const {
    return divides ? 1 / number.getValueAsDouble() : number.getValueAsDouble();
  }
  static Scale of(Value value);
};

/// Scores that are masked: `mask` is added to them, or chooses them where it is
/// true.
struct Mask {
  Operation *op = nullptr;
  Value x, mask;
  bool isInverted = false; // it chooses where it is false
  FloatAttr hidden;        // what stands for the others

  explicit operator bool() const { return op; }
};

/// Attention written in primitives.
struct Pattern {
  Operation *product = nullptr, *softmax, *result = nullptr;
  Scale scores, query, key;
  Mask mask;
  Value q, k, v;
  std::optional<Permutation> keyPermutation; // of `k`, that makes [batch, heads, length, size]
  Location keyLoc;

  explicit Pattern(Operation *softmax) : softmax(softmax), keyLoc(softmax->getLoc()) {}
};
} // namespace

static RankedTensorType reliableType(Value value) {
  return hasReliableShape(value) ? dyn_cast<RankedTensorType>(value.getType()) : RankedTensorType();
}

Scale Scale::of(Value value) {
  Scale scale;
  Operation *op = value.getDefiningOp();
  if (!op || !isa<onnx::MulOp, onnx::DivOp>(op))
    return scale;
  for (unsigned i : {1u, 0u}) {
    std::optional<double> number = onnx::constantScalar(op->getOperand(i));
    auto type = reliableType(op->getOperand(1 - i)), constant = reliableType(op->getOperand(i));
    if (!number || !type || !isa<FloatType>(type.getElementType()) ||
        constant.getRank() > type.getRank() || (i == 0 && isa<onnx::DivOp>(op)))
      continue;
    scale.op = op;
    scale.x = op->getOperand(1 - i);
    scale.number = FloatAttr::get(type.getElementType(), *number);
    scale.divides = isa<onnx::DivOp>(op);
    // Attention takes the root of its scale.
    return scale.factor() > 0 && std::isfinite(scale.factor()) ? scale : Scale();
  }
  return scale;
}

/// Size `i` of a value, counted from the end; null where nothing is known of
/// it.
static Attribute sizeFromEnd(Value value, unsigned i) {
  ArrayAttr dims = hasReliableShape(value) ? knownDims(value) : ArrayAttr();
  Attribute size = dims && i < dims.size() ? dims[dims.size() - 1 - i] : Attribute();
  auto name = dyn_cast_or_null<StringAttr>(size);
  return name && name.empty() ? Attribute() : size;
}

static bool isOne(Attribute size) {
  auto number = dyn_cast_or_null<IntegerAttr>(size);
  return number && number.getInt() == 1;
}

//===-- Masks
//---------------------------------------------------------------------------------===//

/// Whether each row of a constant, along its last axis, has a true element, or
/// a false one.
static bool hasInEachRow(ElementsAttr value, bool wanted) {
  std::optional<Elements> elements = Elements::of(value);
  if (!elements || elements->type.getRank() == 0)
    return false;
  if (elements->isSplat())
    return (*elements->at(0) != 0) == wanted;
  int64_t row = elements->shape().back();
  for (int64_t begin = 0; begin < elements->count(); begin += row)
    if (llvm::none_of(llvm::seq(begin, begin + row),
                      [&](int64_t i) { return (*elements->at(i) != 0) == wanted; }))
      return false;
  return true;
}

/// Whether a value is a product, or one times a number.
static bool areScores(Value value) {
  if (Scale scale = Scale::of(value))
    value = scale.x;
  return isa_and_nonnull<onnx::MatMulOp>(value.getDefiningOp());
}

/// A number this low instead of -inf gives the same weights, where a row has a
/// score beside it.
static constexpr double kLow = -1e4;

static Mask maskOf(Value value, std::string &why) {
  Mask mask;
  if (auto add = value.getDefiningOp<onnx::AddOp>()) {
    bool isSecond = !areScores(add->getOperand(0));
    mask = {add, add->getOperand(isSecond), add->getOperand(!isSecond), false, {}};
  } else if (auto where = value.getDefiningOp<onnx::WhereOp>()) {
    bool isSecond = onnx::constantScalar(where->getOperand(1)).has_value();
    std::optional<double> hidden = onnx::constantScalar(where->getOperand(isSecond ? 1 : 2));
    Value x = where->getOperand(isSecond ? 2 : 1), condition = where->getOperand(0);
    auto type = reliableType(x);
    if (!hidden || !type || !isa<FloatType>(type.getElementType()))
      return mask;
    ElementsAttr known = onnx::constantValue(condition);
    if (!std::isinf(*hidden) &&
        (*hidden > kLow || !known || !hasInEachRow(known, /*wanted=*/!isSecond))) {
      why = "what its mask hides might still be seen, where it hides all of a "
            "row";
      return mask;
    }
    if (*hidden < 0)
      mask = {where, x, condition, isSecond, FloatAttr::get(type.getElementType(), *hidden)};
  }
  return mask;
}

/// Whether a mask is one that Attention may have for these scores.
static bool fits(const Mask &mask, Value scores) {
  auto type = reliableType(mask.mask), whole = reliableType(scores);
  if (!type || !whole || !haveSameShape(mask.x, mask.op->getResult(0)) || type.getRank() < 2)
    return false;
  // Beside one head, [length, length] is broadcast; a batch of such would count
  // as heads.
  if (whole.getRank() == 3 && type.getRank() == 3 && !isOne(sizeFromEnd(mask.mask, 2)))
    return false;
  for (int64_t i = 0; i < type.getRank(); ++i) {
    Attribute size = sizeFromEnd(mask.mask, i), own = sizeFromEnd(scores, i);
    // A mask for one key of several is completed by ONNX, not broadcast.
    if (!size || (size != own && (i == 0 || !isOne(size))))
      return false;
  }
  return mask.hidden || type.getElementType() == whole.getElementType();
}

//===-- Matching
//------------------------------------------------------------------------------===//

/// A value that only its one reader uses.
static bool isPrivate(Value value) { return value.hasOneUse(); }

/// Follows K from the product's right operand through its transpose and its
/// scale.
static void matchKey(Pattern &pattern) {
  Value value = pattern.product->getOperand(1);
  int64_t rank = cast<RankedTensorType>(value.getType()).getRank();
  Permutation permutation = lastExchanged(rank);
  pattern.keyLoc = pattern.product->getLoc();
  bool isTransposed = false;
  // What others read as well is not taken along, but for a transpose: keys are
  // read before it.
  for (bool isShared = false; !isShared;) {
    isShared = !isPrivate(value);
    Operation *op = value.getDefiningOp();
    if (std::optional<Permutation> own = permutationOf(op); own && !isTransposed) {
      isTransposed = true;
      permutation = composed(*own, permutation);
      pattern.keyLoc = op->getLoc();
      value = op->getOperand(0);
    } else if (Scale scale = Scale::of(value); scale && !pattern.key && !isShared) {
      pattern.key = scale;
      value = scale.x;
    } else {
      break;
    }
  }
  pattern.k = value;
  if (!isIdentity(permutation))
    pattern.keyPermutation = permutation;
}

/// What is in front of this, where each head of keys or values is repeated as often; null for others.
///
///   %u = onnx.Unsqueeze(%k, 2)  %e = onnx.Expand(%u, ...)  %r = onnx.Reshape(%e, ...)
///   [batch, heads, 1, m, n]     [batch, heads, groups, m, n]   [batch, heads * groups, m, n]
static Value ownHeads(Value value) {
  Operation *join = value.getDefiningOp<onnx::ReshapeOp>();
  Operation *repeat = join ? join->getOperand(0).getDefiningOp() : nullptr;
  Operation *view = isa_and_nonnull<onnx::ExpandOp, onnx::TileOp>(repeat)
                        ? repeat->getOperand(0).getDefiningOp()
                        : nullptr;
  if (!isa_and_nonnull<onnx::UnsqueezeOp, onnx::ReshapeOp>(view))
    return {};
  Value own = view->getOperand(0), one = view->getResult(0), many = repeat->getResult(0);
  auto hasRank = [](Value tensor, int64_t rank) {
    RankedTensorType type = reliableType(tensor);
    return type && type.getRank() == rank;
  };
  if (!hasRank(own, 4) || !hasRank(one, 5) || !hasRank(many, 5) || !hasRank(value, 4))
    return {};
  auto agree = [&](unsigned i, unsigned ofView) {
    Attribute size = sizeFromEnd(own, i);
    return size && size == sizeFromEnd(one, ofView) && size == sizeFromEnd(many, ofView) &&
           (ofView == 3 || size == sizeFromEnd(value, i));
  };
  auto heads = dyn_cast_or_null<IntegerAttr>(sizeFromEnd(own, 2));
  auto groups = dyn_cast_or_null<IntegerAttr>(sizeFromEnd(many, 2));
  auto all = dyn_cast_or_null<IntegerAttr>(sizeFromEnd(value, 2));
  bool isRepeated = agree(0, 0) && agree(1, 1) && agree(2, 3) && agree(3, 4) && heads && groups &&
                    all && isOne(sizeFromEnd(one, 2)) &&
                    heads.getInt() * groups.getInt() == all.getInt();
  return isRepeated ? own : Value();
}

/// Takes keys and values in front of where their heads are repeated, if both are.
static void takeOwnHeads(Pattern &pattern) {
  const std::optional<Permutation> &order = pattern.keyPermutation;
  if (order && ((*order)[0] != 0 || (*order)[1] != 1))
    return;
  Value key = ownHeads(pattern.k), value = ownHeads(pattern.v);
  if (key && value && sizeFromEnd(key, 2) == sizeFromEnd(value, 2))
    pattern.k = key, pattern.v = value;
}

/// Whether Q, K and V agree as Attention asks for.
static bool haveFittingShapes(const Pattern &pattern) {
  Value query = pattern.product->getOperand(0), key = pattern.product->getOperand(1);
  Value value = pattern.v;
  auto q = reliableType(query), k = reliableType(key), v = reliableType(value);
  if (!q || !k || !v || q.getRank() < 3 || q.getRank() > 4 || k.getRank() != q.getRank() ||
      v.getRank() != q.getRank() || !isa<FloatType>(q.getElementType()))
    return false;
  unsigned batch = q.getRank() - 1;
  auto agree = [&](Value a, Value b, unsigned i) {
    Attribute size = sizeFromEnd(a, i);
    return size && size == sizeFromEnd(b, i);
  };
  if (!agree(query, key, batch) || !agree(query, value, batch))
    return false;
  if (batch == 2)
    return true;
  bool isOneForAll = isOne(sizeFromEnd(key, 2)) && !q.isDynamicDim(1);
  return agree(key, value, 2) && (agree(query, key, 2) || isOneForAll);
}

/// The attention that a Softmax belongs to; says why not where it stands
/// between two products.
static std::optional<Pattern> match(onnx::SoftmaxOp softmax, std::string &why) {
  Pattern pattern(softmax);
  Value weights = softmax->getResult(0), x = softmax->getOperand(0);
  auto type = reliableType(x);
  auto axis = static_cast<int64_t>(softmax.getAxis());
  if (!type || (axis != -1 && axis != type.getRank() - 1))
    return std::nullopt;
  auto found = llvm::find_if(weights.getUsers(), [&](Operation *user) {
    return isa<onnx::MatMulOp>(user) && user->getOperand(0) == weights &&
           user->getOperand(1) != weights;
  });
  if (found == weights.user_end())
    return std::nullopt;
  pattern.result = *found;
  pattern.v = pattern.result->getOperand(1);
  bool isShared = !isPrivate(weights);
  auto enter = [&](Operation *op, Value inner) {
    isShared |= !isPrivate(op->getResult(0));
    x = inner;
  };
  if ((pattern.mask = maskOf(x, why)))
    enter(pattern.mask.op, pattern.mask.x);
  if ((pattern.scores = Scale::of(x)))
    enter(pattern.scores.op, pattern.scores.x);
  pattern.product = x.getDefiningOp<onnx::MatMulOp>();
  if (!pattern.product)
    return std::nullopt;
  isShared |= !isPrivate(x);
  if (isShared)
    why = "others read its scores or weights";
  else if (!haveFittingShapes(pattern))
    why = "sizes of queries, keys and values are not known to agree";
  else if (pattern.mask && !fits(pattern.mask, x))
    why = "its mask is not of a form that Attention has";
  if (!why.empty())
    return std::nullopt;
  pattern.q = pattern.product->getOperand(0);
  if (Scale scale = Scale::of(pattern.q); scale && isPrivate(pattern.q)) {
    pattern.query = scale;
    pattern.q = scale.x;
  }
  matchKey(pattern);
  takeOwnHeads(pattern);
  return pattern;
}

//===-- Pass
//----------------------------------------------------------------------------------===//

namespace {

struct RecognizeAttention : impl::RecognizeAttentionBase<RecognizeAttention> {
  void runOnOperation() override {
    rt::Ledger ledger(getOperation());
    SmallVector<onnx::SoftmaxOp> candidates;
    getOperation().walk([&](onnx::SoftmaxOp op) { candidates.push_back(op); });
    opposites.clear();
    for (onnx::SoftmaxOp softmax : candidates) {
      std::string why;
      std::optional<Pattern> pattern = match(softmax, why);
      if (pattern)
        replace(*pattern, ledger);
      else if (!why.empty())
        ledger.missed("attention", softmax.getLoc(), "not recognised as attention", why);
    }
  }

private:
  void replace(const Pattern &pattern, rt::Ledger &ledger) {
    OpBuilder b(pattern.result);
    Operation *op = create(b, pattern);
    pattern.result->getResult(0).replaceAllUsesWith(op->getResult(0));
    ledger.applied("attention", op->getLoc(), "recognised as attention");
    count(&getContext(), getArgument(), "recognized");
    Operation *keys = pattern.product->getOperand(1).getDefiningOp();
    Operation *values = pattern.result->getOperand(1).getDefiningOp();
    for (Operation *gone : {pattern.result, pattern.softmax, pattern.mask.op, pattern.scores.op,
                            pattern.product, pattern.query.op})
      if (gone)
        eraseWithConstants(gone);
    if (values != keys) // else once
      eraseBehind(values, pattern.v, pattern);
    eraseBehind(keys, pattern.k, pattern);
  }

  /// What nobody reads any more of `op` and what is in front of it, up to `kept`: of keys transpose and
  /// scale, in either order, and what repeats heads.
  static void eraseBehind(Operation *op, Value kept, const Pattern &pattern) {
    while (op && op->use_empty() && op != kept.getDefiningOp()) {
      Value x = op == pattern.key.op ? pattern.key.x : op->getOperand(0);
      eraseWithConstants(op);
      op = x.getDefiningOp();
    }
  }

  Operation *create(OpBuilder &b, const Pattern &pattern) {
    Location at = pattern.result->getLoc();
    Value none = b.create<onnx::NoneOp>(at, b.getNoneType(), ValueRange()), key = pattern.k;
    if (pattern.keyPermutation)
      key = createTranspose(b, pattern.keyLoc, key, *pattern.keyPermutation);
    Value mask = pattern.mask ? maskOperand(b, pattern.mask) : none;
    SmallVector<NamedAttribute> attributes;
    addScale(b, pattern, attributes);
    Type type = pattern.result->getResult(0).getType();
    if (cast<RankedTensorType>(type).getRank() == 3)
      for (StringRef name : {"q_num_heads", "kv_num_heads"})
        attributes.push_back(b.getNamedAttr(name, b.getIntegerAttr(b.getIntegerType(64), 1)));
    auto op = b.create<onnx::AttentionOp>(
        location(b, pattern), TypeRange{type, b.getNoneType(), b.getNoneType(), b.getNoneType()},
        ValueRange{pattern.q, key, pattern.v, mask, none, none, none}, attributes);
    if (ArrayAttr dims = knownDims(pattern.result->getResult(0)))
      setDims(op, dims.getValue());
    return op;
  }

  static void addScale(OpBuilder &b, const Pattern &pattern,
                       SmallVectorImpl<NamedAttribute> &attributes) {
    double factor = 1;
    SmallVector<NamedAttribute> numbers;
    for (auto [scale, name] : {std::pair(&pattern.query, "query"), std::pair(&pattern.key, "key"),
                               std::pair(&pattern.scores, "scores")})
      if (*scale) {
        factor *= scale->factor();
        std::string key = std::string(name) + (scale->divides ? "_divisor" : "");
        numbers.push_back(b.getNamedAttr(key, scale->number));
      }
    if (pattern.mask.hidden && !std::isinf(pattern.mask.hidden.getValueAsDouble()))
      numbers.push_back(b.getNamedAttr("masked", pattern.mask.hidden));
    attributes.push_back(b.getNamedAttr("scale", b.getF32FloatAttr(factor)));
    if (!numbers.empty())
      attributes.push_back(b.getNamedAttr(onnx::kArithmeticAttr, b.getDictionaryAttr(numbers)));
  }

  /// Attention sees where its mask is true.
  Value maskOperand(OpBuilder &b, const Mask &mask) {
    if (!mask.isInverted)
      return mask.mask;
    if (auto inverse = mask.mask.getDefiningOp<onnx::NotOp>())
      return inverse->getOperand(0);
    Value &opposite = opposites[mask.mask];
    if (opposite)
      return opposite;
    OpBuilder::InsertionGuard guard(b);
    b.setInsertionPointAfterValue(mask.mask);
    if (ElementsAttr known = onnx::constantValue(mask.mask)) {
      Elements elements = *Elements::of(known);
      std::vector<char> bytes(elements.count());
      for (auto [i, byte] : llvm::enumerate(bytes))
        byte = *elements.at(i) == 0;
      std::string name = (nodeName(mask.op) + ".mask").str();
      return opposite = createConstant(b, mask.op->getLoc(),
                                       onnx::makeConstant(elements.type, name, bytes));
    }
    auto inverse = b.create<onnx::NotOp>(mask.op->getLoc(), mask.mask.getType(), mask.mask);
    if (ArrayAttr dims = knownDims(mask.mask))
      setDims(inverse, dims.getValue());
    return opposite = inverse;
  }

  /// The nodes, with what each was, so that lowering finds each step's.
  static Location location(OpBuilder &b, const Pattern &pattern) {
    SmallVector<Location> nodes;
    SmallVector<Attribute> steps;
    auto add = [&](Operation *op, StringRef step) {
      if (!op)
        return;
      nodes.push_back(op->getLoc());
      steps.push_back(b.getStringAttr(step));
    };
    add(pattern.result, "result");
    add(pattern.softmax, "softmax");
    add(pattern.mask.op, "mask");
    add(pattern.scores.op, "scores");
    add(pattern.product, "product");
    add(pattern.query.op, "query");
    add(pattern.key.op, "key");
    return FusedLoc::get(b.getContext(), nodes, b.getArrayAttr(steps));
  }

  llvm::DenseMap<Value, Value> opposites; // of masks that choose where they are false
};

} // namespace

} // namespace cameo
