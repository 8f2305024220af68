// Needs go backwards from what asks for them, integers forwards from where they become floats.
//
// SPDX-License-Identifier: Apache-2.0
#include "passes/precision/NeededBits.h"

#include "dialects/onnx/shape/Attention.h"
#include "dialects/onnx/shape/NodeText.h"
#include "passes/graph/Elements.h"
#include "passes/precision/Cancellation.h"
#include "passes/precision/ScaleScores.h"

#include "llvm/Support/Endian.h"

#include <set>

using namespace mlir;

namespace cameo {

static bool isInteger(Value value) {
  auto type = dyn_cast<TensorType>(value.getType());
  return type && type.getElementType().isIntOrIndex() && !type.getElementType().isInteger(1);
}

static bool isDouble(Value value) {
  auto type = dyn_cast<TensorType>(value.getType());
  return type && type.getElementType().isF64();
}

static bool holdsAll(const NumberRange &range, Precision precision) {
  return range.isKnown() && range.magnitude() <= exactIntegers(precision);
}

/// A table of integers of which rounding changes some: positions, a grid. Two numbers make no table, but a mask.
static bool isTableOfLargeIntegers(Value value, Precision precision) {
  ElementsAttr constant = onnx::constantValue(value);
  std::optional<Elements> elements = constant ? Elements::of(constant) : std::nullopt;
  if (!isLow(precision) || !elements || elements->kind != onnx::ElementKind::F32 ||
      elements->isSplat())
    return false;
  double largest = largestOf(precision); // beyond which is no question of digits
  std::set<float> distinct;
  std::vector<float> numbers;
  for (int64_t i = 0, e = elements->count(); i < e; ++i) {
    auto n = llvm::bit_cast<float>(llvm::support::endian::read32le(elements->at(i)));
    if (n != std::trunc(n) || !(std::abs(n) <= largest))
      return false; // weights are found out by their first elements
    if (distinct.size() <= 2)
      distinct.insert(n);
    numbers.push_back(n);
  }
  onnx::ElementKind kind = storedAs(precision);
  std::vector<double> rounded = readDoubles(kind, writeElements<float>(kind, numbers));
  return distinct.size() > 2 && !llvm::equal(numbers, rounded);
}

NeededBits::NeededBits(func::FuncOp function, const NumberRanges &ranges, Precision precision)
    : ranges(ranges), precision(precision) {
  Block &block = function.getBody().front();
  for (Operation &op : llvm::reverse(block)) {
    if (!isa<onnx::OnnxDialect>(op.getDialect()) || isa<onnx::ConstantOp>(op))
      continue;
    for (unsigned i = 0; i < op.getNumOperands(); ++i)
      if (std::optional<Need> need = needOf(&op, i))
        ask(op.getOperand(i), *need);
    if (std::optional<Cancellation> cancellation = cancellationIn(&op))
      for (Value product : cancellation->products)
        ask(product, {&op, /*products=*/1});
    passOn(&op);
  }
  for (Operation &op : block)
    if (op.getNumResults() > 0 && isLargeInteger(&op))
      for (Value result : op.getResults())
        if (isFP32(result))
          integers.insert(result);
  findInputWork(block);
  findRunningSums(block);
  findLargeBiases(block);
}

static bool isFloat(Value value) {
  auto type = dyn_cast<TensorType>(value.getType());
  return type && isa<FloatType>(type.getElementType());
}

/// Moves elements as they are: rounding behind it is rounding in front of it.
static bool onlyMoves(Operation *op) {
  return policyOf(op).role == Role::Movement && llvm::any_of(op->getResults(), isFP32);
}

/// True of a value that products read, as it is or moved: it has lost its bits there in any case.
static bool isReadByProducts(Value value, unsigned depth = 4) {
  return llvm::any_of(value.getUsers(), [&](Operation *user) {
    Role role = policyOf(user).role;
    return role == Role::Product || (role == Role::Movement && depth > 0 && onlyMoves(user) &&
                                     isReadByProducts(user->getResult(0), depth - 1));
  });
}

/// Nodes that read nothing but inputs and constants, without a product between, as long as they grow with inputs; nodes
/// that add such a value to others, if products do not read it; products that take differences of such; of these those
/// that compute, or lead to such as do.
void NeededBits::findInputWork(Block &block) {
  llvm::DenseSet<Value> fromInputs, grown;
  llvm::DenseMap<Value, bool> known; // many nodes may read one value
  auto isFar = [&](Value value) {
    auto [found, isNew] = known.try_emplace(value);
    if (isNew)
      found->second = !isReadByProducts(value);
    return found->second;
  };
  SmallVector<Operation *> found;
  for (Value input : block.getArguments())
    if (isFloat(input)) {
      fromInputs.insert(input);
      grown.insert(input);
    }
  for (Operation &op : block) {
    if (!isa<onnx::OnnxDialect>(op.getDialect()) || op.getNumRegions())
      continue;
    if (policyOf(&op).role == Role::Product) {
      if (grown.contains(op.getOperand(0)) && takesDifferences(&op))
        found.push_back(&op);
      continue;
    }
    bool reads = false, readsFar = false, readsOthers = false;
    for (auto [i, operand] : llvm::enumerate(op.getOperands())) {
      if (!isFloat(operand) || onnx::constantValue(operand))
        continue;
      bool isGrown = grown.contains(operand) && !isa<onnx::ShapeOp, onnx::SizeOp>(op);
      reads |= isGrown;
      readsFar |= isGrown && isFar(operand);
      readsOthers |= !fromInputs.contains(operand);
    }
    // Scores that a mask is added to are none.
    if (readsOthers && (!readsFar || leadsToSoftmax(&op)))
      continue;
    if (!readsOthers)
      fromInputs.insert(op.result_begin(), op.result_end());
    if (!reads)
      continue;
    found.push_back(&op);
    if (!policyOf(&op).settles)
      grown.insert(op.result_begin(), op.result_end());
  }
  for (Operation *op : llvm::reverse(found))
    if (!onlyMoves(op) ||
        llvm::any_of(op->getUsers(), [&](Operation *user) { return inputWork.contains(user); }))
      inputWork.insert(op);
}

/// Sums along an axis, and their differences, which are small beside them.
void NeededBits::findRunningSums(Block &block) {
  for (Operation &op : block) {
    if (op.getNumResults() == 0 || !isFP32(op.getResult(0)) || isa<onnx::ConstantOp>(op))
      continue;
    bool keeps =
        policyOf(&op).role == Role::Movement || isa<onnx::AddOp, onnx::SubOp, onnx::NegOp>(op);
    if (isa<onnx::CumSumOp>(op) || (keeps && llvm::any_of(op.getOperands(), [&](Value value) {
                                      return runningSums.contains(value);
                                    })))
      runningSums.insert(op.result_begin(), op.result_end());
  }
}

// Scores are of the order of 8, and lose as much by the rounding of what is added to them.
static constexpr double kLargeBias = 16;
// A factor that makes numbers of a few units hide what they are added to.
static constexpr double kHidingFactor = 64;

/// A table with graded numbers that are large, as distances times a slope are; a mask has one or two large numbers.
static bool isLargeBias(Value value) {
  ElementsAttr constant = onnx::constantValue(value);
  std::optional<Elements> elements = constant ? Elements::of(constant) : std::nullopt;
  if (!elements || elements->kind != onnx::ElementKind::F32 || elements->isSplat())
    return false;
  std::set<float> large;
  for (int64_t i = 0, e = elements->count(); i < e && large.size() <= 2; ++i) {
    auto n = llvm::bit_cast<float>(llvm::support::endian::read32le(elements->at(i)));
    if (std::isfinite(n) && std::abs(n) > kLargeBias)
      large.insert(n);
  }
  return large.size() > 2;
}

static bool hides(Operation *op) {
  return isa<onnx::MulOp>(op) && llvm::any_of(op->getOperands(), [](Value value) {
           std::optional<double> number = onnx::constantScalar(value);
           return number && std::abs(*number) > kHidingFactor;
         });
}

/// Positions times slopes and the like on their way to a Softmax, and the scores that they are added to.
void NeededBits::findLargeBiases(Block &block) {
  for (Operation &op : block) {
    if (op.getNumResults() == 0 || !isFP32(op.getResult(0)))
      continue;
    if (isa<onnx::ConstantOp>(op)) {
      if (isLargeBias(op.getResult(0)))
        largeBiases.insert(op.getResult(0));
      continue;
    }
    bool goesOn =
        policyOf(&op).role == Role::Movement ||
        isa<onnx::AddOp, onnx::SubOp, onnx::NegOp, onnx::MulOp, onnx::DivOp, onnx::WhereOp>(op);
    bool isLarge = llvm::any_of(op.getOperands(), [&](Value value) {
      return largeBiases.contains(value) || integers.contains(value) || runningSums.contains(value);
    });
    if (goesOn && isLarge && !hides(&op) && leadsToSoftmax(&op))
      largeBiases.insert(op.result_begin(), op.result_end());
  }
}

bool NeededBits::hasLargeBias(Operation *op) const {
  return isa<onnx::AttentionOp>(op) && largeBiases.contains(op->getOperand(onnx::kMask));
}

static bool rounds(Operation *op) {
  return isa<onnx::FloorOp, onnx::CeilOp, onnx::RoundOp>(op) ||
         (isa<onnx::CastOp>(op) && isInteger(op->getResult(0)) && isFP32(op->getOperand(0)));
}

/// True if `value` is computed of `source` elementwise, and rounded to integers on the way.
static bool isRounded(Value value, Value source, bool isMet, unsigned depth) {
  if (value == source)
    return isMet;
  Operation *op = value.getDefiningOp();
  if (!op || depth == 0 || !isa<onnx::OnnxDialect>(op->getDialect()))
    return false;
  if (policyOf(op).role != Role::Elementwise && !isa<onnx::CastOp, onnx::WhereOp>(op))
    return false;
  return llvm::any_of(op->getOperands(), [&](Value operand) {
    return isRounded(operand, source, isMet || rounds(op), depth - 1);
  });
}

/// x - Floor(x) and its like: what is left of a number behind the point, or of a period.
static bool takesFraction(Operation *op) {
  constexpr unsigned kMostBetween = 6;
  if (!isa<onnx::SubOp, onnx::AddOp>(op))
    return false;
  return isRounded(op->getOperand(1), op->getOperand(0), false, kMostBetween) ||
         isRounded(op->getOperand(0), op->getOperand(1), false, kMostBetween);
}

/// True of a constant that takes away a function's bound, and leaves how far the function is from that: 1 -
/// Sigmoid(x), Exp(x) - 1.
bool NeededBits::leavesRest(Operation *op) const {
  if (!isa<onnx::SubOp, onnx::AddOp>(op))
    return false;
  for (unsigned i : {0, 1}) {
    std::optional<double> number = onnx::constantScalar(op->getOperand(i));
    Value other = op->getOperand(1 - i);
    if (!number || *number == 0 || !isFP32(other))
      continue;
    double root = isa<onnx::AddOp>(op) ? -*number : *number;
    NumberRange range = ranges.of(other);
    Operation *made = other.getDefiningOp();
    bool isAtBound = range.isKnown() && (range.least == root || range.most == root) && made;
    if (isAtBound || (isa_and_nonnull<onnx::ExpOp>(made) && root == 1))
      return true;
  }
  return false;
}

static bool isSensitive(Operation *op) { return policyOf(op).isSensitive() || takesFraction(op); }

/// The need that goes further is kept.
void NeededBits::ask(Value value, Need need) {
  if (!isFP32(value))
    return;
  Need &known = needs[value];
  if (need.goesFurtherThan(known))
    known = need;
}

std::optional<NeededBits::Need> NeededBits::needOf(Operation *op, unsigned operand) const {
  Value value = op->getOperand(operand);
  if (!isFP32(value))
    return std::nullopt;
  Need need{op, /*products=*/1};
  if (isa<onnx::CastOp>(op))
    return isDouble(op->getResult(0)) ||
                   (isInteger(op->getResult(0)) && !holdsAll(ranges.of(value), precision))
               ? std::optional(need)
               : std::nullopt;
  const PolicyRow &row = policyOf(op);
  if (row.keeps(operand) || isSensitive(op) || leavesRest(op))
    return need;
  if (cancellationIn(op)) {
    need.products = 0;
    return need;
  }
  need.isGuard = true;
  return row.divides(operand) && ranges.divisorSinks(value, precision) ? std::optional(need)
                                                                       : std::nullopt;
}

/// A product by a matrix of a few rows: a rotation, a camera, homogeneous coordinates. Tensor Cores gain nothing there,
/// and chains of such are one step of geometry.
static bool isSmallTransform(Operation *op) {
  constexpr int64_t kMostDepth = 4;
  auto left = dyn_cast<RankedTensorType>(op->getOperand(0).getType());
  if (!left || left.getRank() == 0 || !isa<onnx::MatMulOp, onnx::GemmOp>(op))
    return false;
  auto gemm = dyn_cast<onnx::GemmOp>(op);
  int64_t depth = left.getDimSize(gemm && gemm.getTransA() ? 0 : left.getRank() - 1);
  return !ShapedType::isDynamic(depth) && depth <= kMostDepth;
}

/// Needs of a node's results become needs of its operands.
void NeededBits::passOn(Operation *op) {
  Need need;
  for (Value result : op->getResults())
    if (auto found = needs.find(result);
        found != needs.end() && found->second.goesFurtherThan(need))
      need = found->second;
  const PolicyRow &row = policyOf(op);
  if (!need.reader || row.role == Role::Full)
    return;
  if (row.role == Role::Product && !isSmallTransform(op)) {
    if (need.products-- == 0)
      return;
    need.isBehindProduct = true;
  }
  readers[op] = need.reader;
  if (row.settles)
    return;
  if (isSquare(op) || isa<onnx::ReduceSumSquareOp, onnx::ReduceL2Op>(op)) {
    // Bands of a spectrum: what is small in it is small beside all that its own products add up.
    need.products = need.isGuard ? 0 : need.products + need.isBehindProduct;
    need.isBehindProduct = false;
  }
  for (auto [i, operand] : llvm::enumerate(op->getOperands()))
    if (!readsAnyType(op, i) || isa<onnx::CastOp>(op))
      ask(operand, need);
}

/// True where the floats that a node makes are integers which the type may not have.
bool NeededBits::isLargeInteger(Operation *op) const {
  Value result = op->getResult(0);
  if (!isFP32(result) || holdsAll(ranges.of(result), precision))
    return false;
  if (isa<onnx::ConstantOp>(op))
    return isTableOfLargeIntegers(result, precision);
  if (isa<onnx::CastOp>(op))
    return isInteger(op->getOperand(0)) || integers.contains(op->getOperand(0));
  if (isa<onnx::RangeOp>(op))
    return true;
  auto isWhole = [&](Value value) {
    NumberRange range = ranges.of(value);
    return integers.contains(value) || !isFP32(value) ||
           (range.least == range.most && range.least == std::trunc(range.least));
  };
  bool keepsWhole =
      policyOf(op).role == Role::Movement || isa<onnx::AddOp, onnx::SubOp, onnx::MulOp, onnx::NegOp,
                                                 onnx::AbsOp, onnx::MaxOp, onnx::MinOp>(op);
  return keepsWhole &&
         llvm::any_of(op->getOperands(), [&](Value v) { return integers.contains(v); }) &&
         llvm::all_of(op->getOperands(), isWhole) &&
         !(isa<onnx::MulOp>(op) && leadsToSoftmax(op)); // a factor of masks hides
}

std::string NeededBits::whyOf(Operation *op) const {
  std::string name = precisionText(precision);
  if (Operation *reader = readers.lookup(op)) {
    StringRef kind = reader->getName().stripDialect();
    return ("what it makes goes into " + kind + " '" + onnx::nodeText(reader) + "', which " +
            (isDouble(reader->getResult(0)) ? "has it in FP64"
             : isa<onnx::CastOp>(reader)    ? "makes integers of it"
             : isSensitive(reader) || leavesRest(reader) || cancellationIn(reader)
                 ? "depends on bits that " + name + " has not"
             : policyOf(reader).kept ? "takes it in FP32"
                                     : "divides by it"))
        .str();
  }
  for (auto [i, operand] : llvm::enumerate(op->getOperands()))
    if (integers.contains(operand) && !readsAnyType(op, i))
      return onnx::inputText(op, i) + " may have integers beyond " +
             std::to_string(int(exactIntegers(precision))) + ", up to which " + name +
             " has all of them";
  if (isa<onnx::CumSumOp>(op) ||
      (policyOf(op).role != Role::Product &&
       llvm::any_of(op->getOperands(), [&](Value value) { return runningSums.contains(value); })))
    return "differences of running sums have bits that " + name + " has not";
  bool hasScores = isa<onnx::SoftmaxOp, onnx::LogSoftmaxOp>(op) ||
                   llvm::any_of(op->getResults(), [&](Value v) { return largeBiases.contains(v); });
  for (auto [i, operand] : llvm::enumerate(op->getOperands()))
    if (hasScores && largeBiases.contains(operand))
      return onnx::inputText(op, i) + " may have numbers beyond " +
             std::to_string(int(kLargeBias)) + ", beside which " + name + " rounds scores";
  if (takesFraction(op) || leavesRest(op) || cancellationIn(op))
    return "its result depends on bits that " + name + " has not";
  if (inputWork.contains(op))
    return "it is computed from inputs of FP32, and rounded behind that";
  return "";
}

} // namespace cameo
