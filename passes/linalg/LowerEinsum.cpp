// Einsum: any equation as one sum of products.
//
//   "onnx.Einsum"(%a, %b) {equation = "ij,jk->ik"}   ==>   kernel.dispatch { linalg.generic fma }
//
// Loops are the result's indices, then the summed ones. An ellipsis stands for as many indices as
// an operand has beyond its letters; they are aligned at their ends and broadcast.
//
// SPDX-License-Identifier: Apache-2.0
#include "passes/linalg/Families.h"
#include "passes/linalg/Generics.h"

#include <map>

using namespace mlir;

namespace cameo {

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

static FailureOr<Equation> parseEquation(Lowering &l, Operation *op, ArrayRef<Lowered> operands) {
  StringRef text = op->getAttrOfType<StringAttr>("equation").getValue();
  auto invalid = [&](const Twine &why) {
    return l.unsupported(op, "equation '" + text + "' " + why);
  };
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
    int64_t rest = operand.rank() - term->letters();
    if (rest < 0 || (rest > 0 && !term->ellipsis))
      return invalid("has the term '" + part + "' for an operand of rank " + Twine(operand.rank()));
    ellipsisRank = std::max(ellipsisRank, rest);
    equation.operands.push_back(term->expand(rest));
    for (Label label : equation.operands.back())
      ++uses[label];
  }
  if (!hasResult) {
    // The ellipsis, then letters that occur once, in alphabetical order.
    equation.result = Term().expand(ellipsisRank);
    for (auto [label, count] : uses)
      if (label > 0 && count == 1)
        equation.result.push_back(label);
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

static LogicalResult lowerEinsum(Operation *op, Lowering &l) {
  SmallVector<Lowered> operands;
  for (unsigned i = 0; i < op->getNumOperands(); ++i)
    operands.push_back(l.operand(op, i));
  FailureOr<Equation> equation = parseEquation(l, op, operands);
  if (failed(equation))
    return failure();

  // Loops and their sizes; a size of 1 gives way to another.
  Labels order = equation->result;
  std::map<Label, OpFoldResult> sizes;
  for (auto [labels, operand] : llvm::zip(equation->operands, operands))
    for (auto [label, size] : llvm::zip(labels, operand.sizes)) {
      if (!llvm::is_contained(order, label))
        order.push_back(label);
      auto [known, isNew] = sizes.insert({label, size});
      if (isNew || known->second == size || isConstantIntValue(size, 1))
        continue;
      if (!isConstantIntValue(known->second, 1) &&
          failed(l.plan.check(op, l.plan.equal(known->second, size),
                              "one index of the equation has sizes {0} and {1}; it must have one",
                              known->second, size)))
        return failure();
      if (isConstantIntValue(known->second, 1) || isa<Attribute>(size))
        known->second = size;
    }
  Sizes loops;
  SmallVector<bool> reduced;
  for (auto [i, label] : llvm::enumerate(order)) {
    loops.push_back(sizes[label]);
    reduced.push_back(i >= equation->result.size());
  }
  MLIRContext *context = op->getContext();
  SmallVector<Read> reads;
  for (auto [labels, operand] : llvm::zip(equation->operands, operands)) {
    SmallVector<AffineExpr> exprs;
    for (auto [label, size] : llvm::zip(labels, operand.sizes)) {
      int64_t loop = llvm::find(order, label) - order.begin();
      bool broadcasts = isConstantIntValue(size, 1) && !isConstantIntValue(loops[loop], 1);
      exprs.push_back(broadcasts ? getAffineConstantExpr(0, context)
                                 : getAffineDimExpr(loop, context));
    }
    reads.push_back({operand.tensor, AffineMap::get(loops.size(), 0, exprs, context)});
  }

  Type type = operands[0].elementType, compute = accumulatorType(type);
  Sizes result = keptSizes(loops, reduced);
  bool plain = compute == type;
  Value value = l.build.dispatch(
      op->getLoc(), OutputSpec{result, type}, [&](OpBuilder &b, Location loc, ValueRange inits) {
        auto step = [&](OpBuilder &nested, Location at, Value accumulator,
                        ValueRange scalars) -> Value {
          Value factor;
          for (Value scalar : scalars.drop_back()) {
            Value wide = widen(nested, at, scalar, type, compute);
            factor = factor ? combine(nested, at, Combine::Mul, compute, factor, wide) : wide;
          }
          Value last = widen(nested, at, scalars.back(), type, compute);
          if (factor && isa<FloatType>(compute))
            return nested.create<math::FmaOp>(at, factor, last, accumulator);
          if (factor)
            last = combine(nested, at, Combine::Mul, compute, factor, last);
          return combine(nested, at, Combine::Add, compute, accumulator, last);
        };
        Value sum = reduceGeneric(l, b, loc, loops, reduced, Combine::Add, compute, reads, step,
                                  plain ? inits[0] : Value());
        if (plain)
          return SmallVector<Value>{sum};
        return SmallVector<Value>{mapGeneric(
            l, b, loc, result, type, Read{sum, identityMap(context, result.size())},
            [&](OpBuilder &nested, Location at, ValueRange scalars) {
              return widen(nested, at, scalars[0], compute, type);
            },
            inits[0])};
      })[0];
  l.define(op, 0, value, result, type);
  return success();
}

void registerEinsum(OperatorTable &table) { table["Einsum"] = {lowerEinsum}; }

} // namespace cameo
