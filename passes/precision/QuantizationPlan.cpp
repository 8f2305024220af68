// Which products become products of integers, and where values are quantised for them.
//
//   Conv - Relu - MaxPool - Conv     ==>   Conv - Relu - Q - MaxPool - Conv
//   Conv - Add - Relu - Conv               Conv - Add - Relu - Q - Conv
//          /                                      /
//      Conv                               Conv - Q
//
// What a product reads is quantised where its elements are computed, behind the elementwise work on
// them and before operators that only move them: so it is part of the launch that computes them,
// and what moves elements moves bytes. All that such operators join has one scale. Elementwise work
// reads what is quantised if its own result is, and floats where floats come of it: what residuals
// add up in a network of normalisations is not rounded to 8 bits. Of two products that are added,
// the earlier one has to be stored, and is stored in 8 bits.
//
// SPDX-License-Identifier: Apache-2.0
#include "passes/precision/QuantizationPlan.h"

#include "dialects/onnx/shape/NodeText.h"
#include "passes/graph/Elements.h"
#include "passes/precision/NeededBits.h"
#include "passes/precision/PlaceCasts.h"
#include "passes/precision/QuantizationCost.h"
#include "passes/precision/QuantizedProduct.h"
#include "runtime/mutant.h"

#include "llvm/ADT/EquivalenceClasses.h"

using namespace mlir;

namespace cameo {

/// Rows of a softmax whose bounds say how large its elements are: their mean is 8 of 127 numbers or more.
static constexpr int64_t kLongestRow = 16;
/// A part may lose one bit of eight to the greater scale of its concatenation.
static constexpr double kApart = 2;
/// Sums of products of 8 bits stay in 32 bits.
static constexpr int64_t kMostDepth = (int64_t(1) << 31) / (128 * 127);

std::optional<KeptEnds> parseKeptEnds(StringRef name) {
  static constexpr llvm::StringLiteral names[] = {"none", "first", "last", "both"};
  for (auto [i, known] : llvm::enumerate(names))
    if (name == known)
      return static_cast<KeptEnds>(i);
  return std::nullopt;
}

std::optional<int64_t> channelAxis(Operation *product) {
  int64_t rank = rankOf(product->getOperand(1));
  if (isa<onnx::ConvOp>(product))
    return 0;
  if (auto gemm = dyn_cast<onnx::GemmOp>(product))
    return gemm.getTransB() ? 0 : 1;
  return rank >= 2 ? std::optional(rank - 1) : std::nullopt;
}

//===-- Graph ---------------------------------------------------------------------------------===//

static bool isProduct(Operation *op) { return policyOf(op).role == Role::Product; }

static bool isElementwise(Operation *op) { return policyOf(op).role == Role::Elementwise; }

/// Computes elements of its first operand's in a loop over few of them, or one by one.
static bool takesBytes(Operation *op) {
  return isElementwise(op) || isa<onnx::AveragePoolOp, onnx::GlobalAveragePoolOp>(op);
}

static bool moves(OpOperand &use) {
  return llvm::any_of(movedOperands(use.getOwner()),
                      [&](OpOperand &moved) { return &moved == &use; });
}

namespace {

class QuantizationPlanner {
public:
  QuantizationPlanner(func::FuncOp function, const RecordedRanges &recorded,
                      PrecisionOverrides &overrides, const QuantizationOptions &options)
      : block(function.getBody().front()), recorded(recorded), ranges(function, recorded, 1),
        needed(function, ranges, Precision::FP16), paths(function, ChannelPaths::Names::Recorded),
        overrides(overrides), options(options) {
    // Values in a branch that no sample takes have no ranges.
    isReached = !function.isPrivate() || llvm::any_of(block, [&](Operation &op) {
      return llvm::any_of(op.getResults(),
                          [&](Value value) { return recorded.byName.contains(valueName(value)); });
    });
    if (options.scalesChannels)
      findScaledChannels();
  }

  QuantizationPlan run();

private:
  void findProducts();
  void findEnds();
  std::string keptByUser(Operation *op, bool &isAsked);
  std::string whyNot(Operation *op);
  std::string whyNotRight(Operation *op);
  bool isInteger(Operation *op) const { return integers.contains(op); }

  void findEndsOfWork();
  void weigh();
  void place();
  /// The way from a product's operand to where its elements are computed.
  struct Path {
    SmallVector<OpOperand *> through; // operands of what moves elements
    SmallVector<Value> sources;
    SmallVector<OpOperand *> apart; // operands of concatenations that are quantised for these alone
  };
  Path walk(Value value);
  bool isApart(OpOperand &operand) const;
  bool mayMove(Value value) const;
  void placeSums();
  void placeReaders();
  void placeChannels();
  void findScaledChannels();
  ChannelExponents exponentsOf(Value value) const { return paths.exponents(value, exponents); }
  std::optional<float> scaleOf(Value value) const;

  Block &block;
  const RecordedRanges &recorded;
  NumberRanges ranges;
  NeededBits needed;
  ChannelPaths paths;
  llvm::StringMap<ChannelExponents> exponents; // by source, of classes that are scaled
  PrecisionOverrides &overrides;
  const QuantizationOptions &options;

  bool isReached; // by samples of which ranges are
  QuantizationPlan plan;
  llvm::DenseMap<Operation *, bool> asked; // candidates, and whether they are whatever it costs
  llvm::DenseSet<Operation *> integers;    // products of integers, as far as is decided
  llvm::DenseSet<Operation *> firsts, lasts;
  llvm::DenseSet<Value> ended; // their readers' work ends in 8 bits
};

//===-- Products ------------------------------------------------------------------------------===//

/// Which products no other product comes before or behind.
void QuantizationPlanner::findEnds() {
  llvm::DenseSet<Operation *> behind, before;
  for (Operation &op : block) {
    bool isBehind = llvm::any_of(op.getOperands(), [&](Value operand) {
      Operation *made = operand.getDefiningOp();
      return made && (isProduct(made) || behind.contains(made));
    });
    if (isBehind)
      behind.insert(&op);
    else if (isProduct(&op))
      firsts.insert(&op);
  }
  for (Operation &op : llvm::reverse(block)) {
    bool isBefore = llvm::any_of(
        op.getUsers(), [&](Operation *user) { return isProduct(user) || before.contains(user); });
    if (isBefore)
      before.insert(&op);
    else if (isProduct(&op))
      lasts.insert(&op);
  }
}

/// By overrides and the policy of ends; empty where it is to be a product of integers.
std::string QuantizationPlanner::keptByUser(Operation *op, bool &isAsked) {
  const PrecisionOverride *override = overrides.find(op);
  isAsked = override && override->precision == Precision::INT8;
  if (override)
    return isAsked ? "" : kAskedPrecision.str() + override->text;
  bool keepsFirst = options.kept == KeptEnds::First || options.kept == KeptEnds::Both;
  bool keepsLast = options.kept == KeptEnds::Last || options.kept == KeptEnds::Both;
  if (keepsFirst && firsts.contains(op))
    return "no product comes before it, and the first ones are kept";
  if (keepsLast && lasts.contains(op))
    return "no product comes behind it, and the last ones are kept";
  return "";
}

void QuantizationPlanner::findProducts() {
  findEnds();
  for (Operation &op : block) {
    if (!isProduct(&op) || !llvm::any_of(op.getOperands().take_front(2), isFP32))
      continue;
    bool isAsked;
    std::string why = keptByUser(&op, isAsked);
    if (!isAsked && !options.all)
      continue;
    if (why.empty())
      why = whyNot(&op);
    if (why.empty()) {
      asked[&op] = isAsked;
      integers.insert(&op);
    }
    plan.products.push_back({&op, std::move(why)});
  }
}

static bool isFiniteConstant(Value value) {
  std::optional<Elements> elements = Elements::of(onnx::constantValue(value));
  if (!elements || elements->kind != onnx::ElementKind::F32 || elements->count() == 0)
    return false;
  Elements some = *elements;
  if (some.isSplat())
    some.type = RankedTensorType::get({1}, some.type.getElementType());
  return llvm::all_of(readElements<float>(some), [](float n) { return std::isfinite(n); });
}

std::string QuantizationPlanner::whyNot(Operation *op) {
  if (!isa<onnx::ConvOp, onnx::GemmOp, onnx::MatMulOp>(op))
    return "there is no product of integers of this operator";
  if (!hasReliableShape(op->getResult(0)) || !isFP32(op->getResult(0)))
    return "its shape is not known";
  for (unsigned i : {0, 1}) {
    Value operand = op->getOperand(i);
    if (!isFP32(operand) || rankOf(operand) < 1)
      return onnx::inputText(op, i) + " is not a tensor of FP32 of known rank";
    if (onnx::constantValue(operand) ? !isFiniteConstant(operand) : !scaleOf(operand))
      return onnx::inputText(op, i) + (onnx::constantValue(operand) ? " is not finite"
                                       : isReached
                                           ? " has no range in the file"
                                           : " has no range: no sample has come to this graph");
  }
  if (std::string why = needed.whyOf(op); !why.empty())
    return why;
  return whyNotRight(op);
}

std::string QuantizationPlanner::whyNotRight(Operation *op) {
  Value w = op->getOperand(1);
  auto type = dyn_cast<RankedTensorType>(w.getType());
  auto gemm = dyn_cast<onnx::GemmOp>(op);
  if (gemm && gemm.getTransA())
    return "its left operand is transposed";
  if (gemm && gemm.getTransB() && !onnx::constantValue(w))
    return "its right operand is transposed and not constant";
  if (isa<onnx::ConvOp>(op) && !onnx::constantValue(w))
    return "its weights are computed";
  bool isAdded = op->getNumOperands() > 2 && !onnx::isAbsent(op->getOperand(2));
  bool isScaled = gemm && !gemm.getBeta().isExactlyValue(1.0f);
  if (isAdded && (isa<onnx::ConvOp>(op) || isScaled) && !isFiniteConstant(op->getOperand(2)))
    return "what it adds is not a constant of finite numbers";
  int64_t depth = 1;
  if (isa<onnx::ConvOp>(op))
    for (int64_t size : type.getShape().drop_front())
      depth *= size;
  else
    depth = type.getDimSize(gemm && gemm.getTransB() ? 1 : std::max<int64_t>(rankOf(w) - 2, 0));
  if (!ShapedType::isDynamic(depth) && depth > kMostDepth)
    return "sums of " + std::to_string(depth) + " products of 8 bits may leave 32 bits; at most " +
           std::to_string(kMostDepth) + " stay";
  return "";
}

//===-- Values --------------------------------------------------------------------------------===//

/// A class is scaled as a whole, where scales are known of all that its products read, or not at all.
void QuantizationPlanner::findScaledChannels() {
  for (const ChannelPaths::Class &joined : paths.classes()) {
    auto found = [&](unsigned number) {
      const ChannelPaths::Source &source = paths.sources()[number];
      auto known = recorded.channels.find(valueName(source.value));
      bool isOf =
          known != recorded.channels.end() && int64_t(known->second.size()) == source.channels;
      return isOf ? &known->second : nullptr;
    };
    auto hasScale = [&](Value value) {
      auto range = recorded.byName.find(valueName(value));
      return paths.exponents(value, recorded.channels).empty() ||
             (range != recorded.byName.end() && range->second.scaled > 0);
    };
    bool isKnown = llvm::all_of(joined.sources, [&](unsigned source) {
      return found(source) && hasScale(paths.sources()[source].value);
    });
    isKnown &= llvm::all_of(joined.products,
                            [&](Operation *product) { return hasScale(product->getOperand(0)); });
    if (isKnown)
      for (unsigned source : joined.sources)
        exponents[valueName(paths.sources()[source].value)] = *found(source);
  }
}

/// True of an operator that spreads 1 over so many elements that its bounds would round most of them to 0.
static bool spreadsOne(Operation *op) {
  auto softmax = dyn_cast_or_null<onnx::SoftmaxOp>(op);
  if (!softmax)
    return false;
  auto type = dyn_cast<RankedTensorType>(softmax.getInput().getType());
  if (!type)
    return true;
  int64_t axis = softmax.getAxis(), row = type.getDimSize(axis < 0 ? axis + type.getRank() : axis);
  return ShapedType::isDynamic(row) || row > kLongestRow;
}

/// The scale that was recorded, with channels as they are scaled; else the one that follows from that of
/// what the value is made of.
std::optional<float> QuantizationPlanner::scaleOf(Value value) const {
  if (!exponentsOf(value).empty())
    if (auto found = recorded.byName.find(valueName(value));
        found != recorded.byName.end() && found->second.scaled > 0)
      return found->second.scaled;
  double most = std::numeric_limits<double>::infinity();
  for (Value at = value; at;) {
    if (auto found = recorded.byName.find(valueName(at)); found != recorded.byName.end())
      return CAMEO_MUTANT(33, std::min(activationScale(float(most)), found->second.scale),
                          found->second.scale);
    NumberRange range = ranges.of(at);
    if (range.isKnown())
      most = std::min(most, range.magnitude());
    Operation *op = at.getDefiningOp();
    if (spreadsOne(op))
      return std::nullopt;
    bool isOne = op && !isa<onnx::ConcatOp>(op) &&
                 (movesElements(op) || isa<onnx::ReluOp, onnx::ClipOp, onnx::LeakyReluOp>(op));
    at = isOne ? op->getOperand(0) : Value();
  }
  return std::isfinite(most) ? std::optional(most > 0 ? activationScale(float(most)) : 0.0f)
                             : std::nullopt;
}

/// Whether some product of integers reads the value, perhaps moved.
static bool isMultiplied(Value value, const llvm::DenseSet<Operation *> &integers,
                         const llvm::DenseSet<Value> &multiplied) {
  return llvm::any_of(value.getUses(), [&](OpOperand &use) {
    if (integers.contains(use.getOwner()))
      return use.getOperandNumber() < 2;
    return moves(use) && multiplied.contains(use.getOwner()->getResult(0));
  });
}

/// Values that products of integers read, and those of which all elementwise work ends so.
void QuantizationPlanner::findEndsOfWork() {
  llvm::DenseSet<Value> multiplied;
  ended.clear();
  for (Operation &op : llvm::reverse(block)) {
    if (op.getNumResults() == 0)
      continue;
    Value result = op.getResult(0);
    if (isMultiplied(result, integers, multiplied))
      multiplied.insert(result);
    bool isEnded = !result.use_empty() && llvm::all_of(result.getUses(), [&](OpOperand &use) {
      Operation *user = use.getOwner();
      return (takesBytes(user) || moves(use)) && ended.contains(user->getResult(0));
    });
    if (isEnded || multiplied.contains(result))
      ended.insert(result);
  }
}

/// Whether the value's other readers can do with 8 bits, so that it need not be there as floats.
bool QuantizationPlanner::mayMove(Value value) const {
  return llvm::all_of(value.getUses(), [&](OpOperand &use) {
    Operation *user = use.getOwner();
    return (isInteger(user) && use.getOperandNumber() < 2) ||
           ((takesBytes(user) || moves(use)) && ended.contains(user->getResult(0)));
  });
}

/// A part of a concatenation whose numbers are small beside the others', and which others read: they read it in a
/// scale of its own.
bool QuantizationPlanner::isApart(OpOperand &operand) const {
  Operation *concatenation = operand.getOwner();
  if (!isa<onnx::ConcatOp>(concatenation))
    return false;
  std::optional<float> own = scaleOf(operand.get()), whole = scaleOf(concatenation->getResult(0));
  return own && whole && *own * kApart < *whole &&
         llvm::any_of(
             operand.get().getUses(),
             [&](OpOperand &use) {
               Operation *user = use.getOwner();
               return user != concatenation &&
                      (moves(use) || (isInteger(user) && use.getOperandNumber() < 2));
             });
}

/// Goes up from what a product reads to where its elements are computed.
QuantizationPlanner::Path QuantizationPlanner::walk(Value value) {
  Path path;
  SmallVector<Value> pending{value};
  llvm::DenseSet<Value> seen;
  while (!pending.empty()) {
    Value at = pending.pop_back_val();
    if (!seen.insert(at).second)
      continue;
    Operation *op = at.getDefiningOp();
    MutableArrayRef<OpOperand> moved = op ? movedOperands(op) : MutableArrayRef<OpOperand>();
    // Of what is stored as floats all the same, only the part that products read is quantised.
    bool isAll = llvm::all_of(moved, [&](OpOperand &operand) {
      return isFP32(operand.get()) && !onnx::constantValue(operand.get()) &&
             (mayMove(operand.get()) || estimatedElements(operand.get()) <= estimatedElements(at));
    });
    if (moved.empty() || !isAll || !mayMove(at)) {
      path.sources.push_back(at);
      continue;
    }
    for (OpOperand &operand : moved) {
      if (isApart(operand)) {
        path.apart.push_back(&operand);
        continue;
      }
      path.through.push_back(&operand);
      pending.push_back(operand.get());
    }
  }
  return path;
}

/// Takes products back that would cost more than they save.
void QuantizationPlanner::weigh() {
  std::vector<QuantizationCandidate> candidates;
  for (QuantizationPlan::Product &product : plan.products) {
    if (!product.isInteger())
      continue;
    QuantizationCandidate candidate{product.op, {}, asked[product.op]};
    for (Value operand : product.op->getOperands().take_front(2)) {
      if (onnx::constantValue(operand))
        continue;
      Path path = walk(operand);
      llvm::append_range(candidate.sources, path.sources);
      for (OpOperand *part : path.apart)
        candidate.sources.push_back(part->get());
    }
    candidates.push_back(std::move(candidate));
  }
  weighQuantization(candidates, [&](Value value) { return !mayMove(value); });
  auto next = candidates.begin();
  for (QuantizationPlan::Product &product : plan.products) {
    if (!product.isInteger())
      continue;
    if ((next++)->isDearer) {
      product.why = "quantising what it reads would cost more than 8 bits save";
      integers.erase(product.op);
    }
  }
}

/// Where what products of integers read is quantised. Values that operators join have one scale:
/// the greatest among those of what products read.
void QuantizationPlanner::place() {
  llvm::EquivalenceClasses<void *> joined;
  llvm::DenseMap<void *, float> greatest; // by value that a product reads
  llvm::SetVector<Value> found;
  llvm::MapVector<OpOperand *, void *> apart; // and the value that a product reads them in
  for (QuantizationPlan::Product &product : plan.products) {
    if (!product.isInteger())
      continue;
    for (OpOperand &operand : product.op->getOpOperands().take_front(2)) {
      if (onnx::constantValue(operand.get()))
        continue;
      Path path = walk(operand.get());
      plan.readers.insert(&operand);
      plan.readers.insert(path.through.begin(), path.through.end());
      void *key = operand.get().getAsOpaquePointer();
      joined.insert(key);
      for (OpOperand *part : path.apart)
        apart.insert({part, key});
      for (Value source : path.sources) {
        found.insert(source);
        joined.unionSets(key, source.getAsOpaquePointer());
      }
      for (OpOperand *moved : path.through)
        joined.unionSets(key, moved->get().getAsOpaquePointer());
      greatest[key] = *scaleOf(operand.get());
    }
  }
  llvm::DenseMap<void *, float> ofClass;
  for (auto [key, scale] : greatest) {
    float &most = ofClass[joined.getLeaderValue(key)];
    most = std::max(most, scale);
  }
  for (Value source : found)
    plan.scales[source] =
        CAMEO_MUTANT(32, ofClass[joined.getLeaderValue(source.getAsOpaquePointer())],
                     scaleOf(source).value_or(1.0f));
  for (auto [part, key] : apart)
    plan.apart[part] = ofClass[joined.getLeaderValue(key)];
}

/// Of two products that an elementwise operator joins, the earlier one is stored: in 8 bits, if
/// what the operator gives is.
void QuantizationPlanner::placeSums() {
  llvm::DenseMap<Value, Operation *> latest; // of the products that elementwise work is of
  auto latestOf = [&](Value value) { return latest.lookup(value); };
  for (Operation &op : block) {
    if (op.getNumResults() == 0)
      continue;
    Value result = op.getResult(0);
    if (!isElementwise(&op)) {
      latest[result] = &op;
      continue;
    }
    Operation *last = nullptr;
    for (Value operand : op.getOperands())
      if (Operation *other = latestOf(operand); other && !plan.scales.contains(operand) &&
                                                !onnx::constantValue(operand) &&
                                                (!last || last->isBeforeInBlock(other)))
        last = other;
    latest[result] = last;
    if (!last || !ended.contains(result))
      continue;
    for (Value operand : op.getOperands()) {
      Operation *product = latestOf(operand);
      if (!product || product == last || !isInteger(product) || plan.scales.contains(operand) ||
          !haveSameShape(operand, result))
        continue;
      // Of gates of one shape neither is a value that others have to read.
      bool isSum = isa<onnx::AddOp, onnx::SumOp, onnx::SubOp>(op);
      bool isScaled = isa<onnx::MulOp>(op) && llvm::any_of(op.getOperands(), [&](Value other) {
                        return other != operand && !haveSameShape(other, result);
                      });
      if (std::optional<float> scale = scaleOf(operand); scale && (isSum || isScaled))
        plan.scales[operand] = *scale;
    }
  }
}

/// Elementwise work that ends in 8 bits reads what is quantised.
void QuantizationPlanner::placeReaders() {
  for (auto &[value, scale] : plan.scales)
    for (OpOperand &use : value.getUses())
      if (takesBytes(use.getOwner()) && ended.contains(use.getOwner()->getResult(0)))
        plan.readers.insert(&use);
}

/// Values that are quantised have factors, and so has what moves them to products.
void QuantizationPlanner::placeChannels() {
  auto add = [&](Value value) {
    ChannelExponents found = exponentsOf(value);
    if (!found.empty())
      plan.channels[value] = {paths.of(value)->axis, std::move(found)};
  };
  for (auto &[value, scale] : plan.scales) {
    add(value);
    if (StringRef why = paths.whyNot(value); !why.empty() && !recorded.channels.empty())
      plan.unscaled.push_back({value, why.str()});
  }
  for (auto &[part, scale] : plan.apart) {
    add(part->get());
    add(part->getOwner()->getResult(0));
  }
  for (OpOperand *reader : plan.readers)
    if (moves(*reader))
      add(reader->getOwner()->getResult(0));
}

QuantizationPlan QuantizationPlanner::run() {
  findProducts();
  findEndsOfWork();
  weigh();
  findEndsOfWork(); // of what is left
  place();
  placeSums();
  placeChannels();
  placeReaders();
  return std::move(plan);
}

} // namespace

QuantizationPlan planQuantization(func::FuncOp function, const RecordedRanges &recorded,
                                  PrecisionOverrides &overrides,
                                  const QuantizationOptions &options) {
  return QuantizationPlanner(function, recorded, overrides, options).run();
}

} // namespace cameo
