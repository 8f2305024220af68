// Needs go backwards from what asks for them, integers forwards from where they become floats.
//
// SPDX-License-Identifier: Apache-2.0
#include "passes/precision/NeededBits.h"

#include "dialects/onnx/shape/NodeText.h"
#include "passes/graph/Elements.h"

#include "llvm/Support/Endian.h"

#include <set>

using namespace mlir;

namespace cameo {

static bool isInteger(Value value) {
  auto type = dyn_cast<TensorType>(value.getType());
  return type && type.getElementType().isIntOrIndex() && !type.getElementType().isInteger(1);
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
    passOn(&op);
  }
  for (Operation &op : block)
    if (op.getNumResults() > 0 && isLargeInteger(&op))
      for (Value result : op.getResults())
        if (isFP32(result))
          integers.insert(result);
  findInputWork(block);
}

static bool isFloat(Value value) {
  auto type = dyn_cast<TensorType>(value.getType());
  return type && isa<FloatType>(type.getElementType());
}

/// Moves elements as they are: rounding behind it is rounding in front of it.
static bool onlyMoves(Operation *op) {
  return policyOf(op).role == Role::Movement && llvm::any_of(op->getResults(), isFP32);
}

/// What reads nothing but inputs and constants, without a product between, as long as it grows with inputs; and of
/// that what computes or leads to what does.
void NeededBits::findInputWork(Block &block) {
  llvm::DenseSet<Value> fromInputs, grown;
  SmallVector<Operation *> found;
  for (Value input : block.getArguments())
    if (isFloat(input)) {
      fromInputs.insert(input);
      grown.insert(input);
    }
  for (Operation &op : block) {
    if (!isa<onnx::OnnxDialect>(op.getDialect()) || op.getNumRegions() ||
        policyOf(&op).role == Role::Product)
      continue;
    bool reads = false, readsOthers = false;
    for (auto [i, operand] : llvm::enumerate(op.getOperands())) {
      if (!isFloat(operand) || onnx::constantValue(operand))
        continue;
      reads |= grown.contains(operand) && !isa<onnx::ShapeOp, onnx::SizeOp>(op);
      readsOthers |= !fromInputs.contains(operand);
    }
    if (readsOthers)
      continue;
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

/// The value of which this is the nearest integer on some side.
static Value roundedBy(Value value) {
  Operation *op = value.getDefiningOp();
  if (isa_and_nonnull<onnx::FloorOp, onnx::CeilOp, onnx::RoundOp>(op))
    return op->getOperand(0);
  if (auto back = dyn_cast_or_null<onnx::CastOp>(op); back && isInteger(op->getOperand(0)))
    if (auto cut = op->getOperand(0).getDefiningOp<onnx::CastOp>())
      return cut->getOperand(0);
  return {};
}

/// x - Floor(x) and its like.
static bool takesFraction(Operation *op) {
  return isa<onnx::SubOp>(op) && (roundedBy(op->getOperand(1)) == op->getOperand(0) ||
                                  roundedBy(op->getOperand(0)) == op->getOperand(1));
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
    return isInteger(op->getResult(0)) && !holdsAll(ranges.of(value), precision)
               ? std::optional(need)
               : std::nullopt;
  const PolicyRow &row = policyOf(op);
  if (row.keeps(operand) || isSensitive(op))
    return need;
  need.isGuard = true;
  return row.divides(operand) && ranges.guardSinks(value, precision) ? std::optional(need)
                                                                     : std::nullopt;
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
  if (row.role == Role::Product && need.products-- == 0)
    return;
  readers[op] = need.reader;
  if (row.settles ||
      (need.isGuard && (isSquare(op) || isa<onnx::ReduceSumSquareOp, onnx::ReduceL2Op>(op))))
    return;
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
      policyOf(op).role == Role::Movement ||
      isa<onnx::AddOp, onnx::SubOp, onnx::NegOp, onnx::AbsOp, onnx::MaxOp, onnx::MinOp>(op);
  return keepsWhole &&
         llvm::any_of(op->getOperands(), [&](Value v) { return integers.contains(v); }) &&
         llvm::all_of(op->getOperands(), isWhole);
}

std::string NeededBits::whyOf(Operation *op) const {
  std::string name = precisionText(precision);
  if (Operation *reader = readers.lookup(op)) {
    StringRef kind = reader->getName().stripDialect();
    return ("what it makes goes into " + kind + " '" + onnx::nodeText(reader) + "', which " +
            (isa<onnx::CastOp>(reader)                 ? "makes integers of it"
             : isSensitive(reader)                     ? "depends on bits that " + name + " has not"
             : policyOf(reader).role == Role::Movement ? "takes it in FP32"
                                                       : "divides by it"))
        .str();
  }
  for (auto [i, operand] : llvm::enumerate(op->getOperands()))
    if (integers.contains(operand) && !readsAnyType(op, i))
      return onnx::inputText(op, i) + " may have integers beyond " +
             std::to_string(int(exactIntegers(precision))) + ", up to which " + name +
             " has all of them";
  if (takesFraction(op))
    return "its result depends on bits that " + name + " has not";
  if (inputWork.contains(op))
    return "it is computed from inputs of FP32 alone, and rounded behind that";
  return "";
}

} // namespace cameo
