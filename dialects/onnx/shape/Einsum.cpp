// Shapes of Einsum: any equation as loops.
//
// An ellipsis stands for as many indices as an operand has beyond its letters; they are aligned at
// their ends and broadcast.
//
// SPDX-License-Identifier: Apache-2.0
#include "dialects/onnx/shape/Contractions.h"

#include "mlir/Dialect/Utils/StaticValueUtils.h"
#include "mlir/IR/BuiltinAttributes.h"
#include "llvm/ADT/StringExtras.h"
#include <map>

using namespace mlir;

namespace cameo::onnx {

namespace {
/// An index of an equation: a letter, or a dimension of the ellipsis counted from its end,
/// negative.
using Label = int;
using Labels = SmallVector<Label>;

/// One side of an equation before its ellipsis is known.
struct Term {
  Labels before, after;
  bool ellipsis = false;
  int64_t letters() const { return before.size() + after.size(); }
  Labels expand(int64_t ellipsisRank) const {
    Labels all = before;
    for (int64_t i = ellipsisRank; i > 0; --i)
      all.push_back(static_cast<Label>(-i));
    llvm::append_range(all, after);
    return all;
  }
};

struct Equation {
  SmallVector<Labels> operands;
  Labels result;
};
} // namespace

static std::optional<Term> parseTerm(StringRef text) {
  Term term;
  while (!text.empty()) {
    if (text.consume_front("...")) {
      if (term.ellipsis)
        return std::nullopt;
      term.ellipsis = true;
      continue;
    }
    char letter = text.front();
    text = text.drop_front();
    if (letter == ' ')
      continue;
    if (!llvm::isAlpha(letter))
      return std::nullopt;
    (term.ellipsis ? term.after : term.before).push_back(letter);
  }
  return term;
}

/// The result where none is given: the ellipsis, then letters that occur once, in alphabetical
/// order.
static Labels impliedResult(const std::map<Label, int> &uses, int64_t ellipsisRank) {
  Labels result = Term().expand(ellipsisRank);
  for (auto [label, count] : uses)
    if (label > 0 && count == 1)
      result.push_back(label);
  return result;
}

static FailureOr<Equation> parseEquation(SizeBuilder &s, Operation *op, ArrayRef<Sizes> operands) {
  StringRef text = op->getAttrOfType<StringAttr>("equation").getValue();
  auto invalid = [&](const Twine &why) { return s.refuse(op, "equation '" + text + "' " + why); };
  auto [left, right] = text.split("->");
  bool hasResult = text.contains("->");
  SmallVector<StringRef> parts;
  left.split(parts, ',');
  if (parts.size() != operands.size())
    return invalid("has " + Twine(parts.size()) + " terms for " + Twine(operands.size()) +
                   " operands");
  Equation equation;
  int64_t ellipsisRank = 0;
  std::map<Label, int> uses;
  for (auto [part, operand] : llvm::zip(parts, operands)) {
    std::optional<Term> term = parseTerm(part);
    if (!term)
      return invalid("has the term '" + part + "', which is not letters and one ellipsis");
    auto rest = static_cast<int64_t>(operand.size()) - term->letters();
    if (rest < 0 || (rest > 0 && !term->ellipsis))
      return invalid("has the term '" + part + "' for an operand of rank " + Twine(operand.size()));
    ellipsisRank = std::max(ellipsisRank, rest);
    equation.operands.push_back(term->expand(rest));
    for (Label label : equation.operands.back())
      ++uses[label];
  }
  if (!hasResult) {
    equation.result = impliedResult(uses, ellipsisRank);
    return equation;
  }
  std::optional<Term> term = parseTerm(right);
  if (!term)
    return invalid("has the result '" + right + "', which is not letters and one ellipsis");
  equation.result = term->expand(term->ellipsis ? ellipsisRank : 0);
  for (auto [i, label] : llvm::enumerate(equation.result))
    if (!uses.count(label) || llvm::is_contained(ArrayRef(equation.result).take_front(i), label))
      return invalid("has an index in its result that is unknown or repeated");
  return equation;
}

/// The size of each index; a size of 1 gives way to another operand's.
static FailureOr<std::map<Label, OpFoldResult>>
indexSizes(SizeBuilder &s, Operation *op, const Equation &equation, ArrayRef<Sizes> operands) {
  constexpr const char *kDiffer =
      "one index of the equation has sizes {0} and {1}; it must have one";
  std::map<Label, OpFoldResult> result;
  for (auto [labels, operand] : llvm::zip(equation.operands, operands)) {
    std::map<Label, OpFoldResult> own;
    for (auto [label, size] : llvm::zip(labels, operand)) {
      // A diagonal is of one size.
      auto [known, isNew] = own.insert({label, size});
      if (!isNew && failed(s.check(op, s.equal(known->second, size), kDiffer, known->second, size)))
        return failure();
    }
    for (auto [label, size] : own) {
      auto [known, isNew] = result.insert({label, size});
      if (isNew)
        continue;
      FailureOr<OpFoldResult> both = s.broadcast(op, known->second, size, kDiffer);
      if (failed(both))
        return failure();
      known->second = *both;
    }
  }
  return result;
}

FailureOr<EinsumShape> inferEinsum(SizeBuilder &s, Operation *op, ArrayRef<Sizes> operands) {
  FailureOr<Equation> equation = parseEquation(s, op, operands);
  if (failed(equation))
    return failure();
  FailureOr<std::map<Label, OpFoldResult>> sizes = indexSizes(s, op, *equation, operands);
  if (failed(sizes))
    return failure();
  EinsumShape shape;
  Labels order = equation->result;
  for (const Labels &labels : equation->operands) {
    SmallVector<int64_t> &loops = shape.operands.emplace_back();
    for (Label label : labels) {
      if (!llvm::is_contained(order, label))
        order.push_back(label);
      loops.push_back(llvm::find(order, label) - order.begin());
    }
  }
  for (Label label : order)
    shape.loops.push_back(sizes->at(label));
  shape.result.assign(shape.loops.begin(), shape.loops.begin() + equation->result.size());
  return shape;
}

} // namespace cameo::onnx
