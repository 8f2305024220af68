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
      if (asks(&op, i))
        ask(op.getOperand(i), {&op, 1});
    passOn(&op);
  }
  for (Operation &op : block)
    if (op.getNumResults() > 0 && isLargeInteger(&op))
      for (Value result : op.getResults())
        if (isFP32(result))
          integers.insert(result);
  for (Value input : block.getArguments())
    findShifts(input);
}

/// Elementwise work on that value and constants.
static bool worksOn(Operation *op, Value value) {
  return op->getNumResults() == 1 && isFP32(op->getResult(0)) &&
         policyOf(op).role == Role::Elementwise && llvm::all_of(op->getOperands(), [&](Value v) {
           return v == value || onnx::isAbsent(v) || onnx::constantValue(v);
         });
}

/// Chains of such work, up to the last that adds a constant.
void NeededBits::findShifts(Value input) {
  if (!isFP32(input))
    return;
  for (Operation *op : input.getUsers()) {
    SmallVector<Operation *> chain;
    size_t kept = 0;
    for (Value read = input; worksOn(op, read); op = *read.user_begin()) {
      chain.push_back(op);
      if (isa<onnx::AddOp, onnx::SubOp>(op))
        kept = chain.size();
      read = op->getResult(0);
      if (!read.hasOneUse())
        break;
    }
    shifts.insert(chain.begin(), chain.begin() + kept);
  }
}

/// The need that goes further is kept.
void NeededBits::ask(Value value, Need need) {
  if (!isFP32(value))
    return;
  Need &known = needs[value];
  if (!known.reader || known.products < need.products)
    known = need;
}

bool NeededBits::asks(Operation *op, unsigned operand) const {
  Value value = op->getOperand(operand);
  if (!isFP32(value))
    return false;
  if (isa<onnx::CastOp>(op))
    return isInteger(op->getResult(0)) && !holdsAll(ranges.of(value), precision);
  const PolicyRow &row = policyOf(op);
  return row.keeps(operand) || row.isSensitive() ||
         (row.divides(operand) && ranges.guardSinks(value, precision));
}

/// Needs of a node's results become needs of its operands.
void NeededBits::passOn(Operation *op) {
  Need need;
  for (Value result : op->getResults())
    if (auto found = needs.find(result); found != needs.end() && found->second.reader &&
                                         (!need.reader || need.products < found->second.products))
      need = found->second;
  const PolicyRow &row = policyOf(op);
  if (!need.reader || row.role == Role::Full)
    return;
  if (row.role == Role::Product && need.products-- == 0)
    return;
  readers[op] = need.reader;
  if (row.settles)
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
             : policyOf(reader).isSensitive()          ? "depends on bits that " + name + " has not"
             : policyOf(reader).role == Role::Movement ? "takes it in FP32"
                                                       : "divides by it"))
        .str();
  }
  for (auto [i, operand] : llvm::enumerate(op->getOperands()))
    if (integers.contains(operand) && !readsAnyType(op, i))
      return onnx::inputText(op, i) + " may have integers beyond " +
             std::to_string(int(exactIntegers(precision))) + ", up to which " + name +
             " has all of them";
  if (shifts.contains(op))
    return "an input is shifted, which is stored in FP32, and rounded behind that";
  return "";
}

} // namespace cameo
