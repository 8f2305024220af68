// A sum is taken apart into terms with signs, and a term into what it is of second degree in.
//
// SPDX-License-Identifier: Apache-2.0
#include "passes/precision/Cancellation.h"

#include "dialects/onnx/Constants.h"
#include "passes/graph/Elements.h"
#include "passes/precision/NumberRanges.h"
#include "passes/precision/Policy.h"

#include "llvm/Support/Endian.h"

#include <cmath>
#include <functional>
#include <numeric>

using namespace mlir;

namespace cameo {

namespace {

constexpr unsigned kMostBetween = 8;
// The steps of a sum, and its terms: those of a solver or a residual network are many.
constexpr unsigned kDeepestSum = 64;
constexpr size_t kMostTerms = 64;

struct Term {
  Value value;
  bool isNegative;
};

/// What an operator multiplies by a constant, or null.
Value scaledBy(Operation *op, double *scalar) {
  if (!isa_and_nonnull<onnx::MulOp, onnx::DivOp>(op))
    return {};
  for (unsigned i : {1u, 0u}) {
    if (isa<onnx::DivOp>(op) && i == 0)
      break;
    if (!onnx::constantValue(op->getOperand(i)))
      continue;
    std::optional<double> number = onnx::constantScalar(op->getOperand(i));
    if (scalar && !number)
      return {};
    if (scalar)
      *scalar = *number;
    return op->getOperand(1 - i);
  }
  return {};
}

Value movedBy(Operation *op) {
  return op && op->getNumOperands() > 0 && policyOf(op).role == Role::Movement &&
                 !isa<onnx::ConcatOp>(op)
             ? op->getOperand(0)
             : Value();
}

/// The value behind movement, signs and constant factors of any shape.
Value stripped(Value value) {
  for (unsigned i = 0; i < kMostBetween; ++i) {
    Operation *op = value.getDefiningOp();
    Value inner = isa_and_nonnull<onnx::NegOp>(op) ? op->getOperand(0) : movedBy(op);
    if (!inner)
      inner = scaledBy(op, nullptr);
    if (!inner)
      break;
    value = inner;
  }
  return value;
}

void collectTerms(Value value, bool isNegative, unsigned depth, SmallVectorImpl<Term> &terms) {
  Operation *op = depth && terms.size() < kMostTerms ? value.getDefiningOp() : nullptr;
  double factor = 1;
  if (isa_and_nonnull<onnx::AddOp, onnx::SubOp>(op)) {
    collectTerms(op->getOperand(0), isNegative, depth - 1, terms);
    collectTerms(op->getOperand(1), isNegative != isa<onnx::SubOp>(op), depth - 1, terms);
  } else if (isa_and_nonnull<onnx::NegOp>(op)) {
    collectTerms(op->getOperand(0), !isNegative, depth - 1, terms);
  } else if (Value scaled = scaledBy(op, &factor)) {
    collectTerms(scaled, isNegative != (factor < 0), depth - 1, terms);
  } else if (Value moved = movedBy(op)) {
    collectTerms(moved, isNegative, depth - 1, terms);
  } else if (auto gemm = dyn_cast_or_null<onnx::GemmOp>(op)) {
    terms.push_back({value, isNegative != (gemm.getAlpha().convertToDouble() < 0)});
    if (op->getNumOperands() > 2)
      collectTerms(op->getOperand(2), isNegative != (gemm.getBeta().convertToDouble() < 0),
                   depth - 1, terms);
  } else {
    terms.push_back({value, isNegative});
  }
}

/// The two factors of a product of elements, stripped.
SmallVector<Value, 2> factorsOf(Value value) {
  Operation *op = value.getDefiningOp();
  if (!op)
    return {};
  if (isSquare(op))
    return {stripped(op->getOperand(0)), stripped(op->getOperand(0))};
  if (isa<onnx::MulOp>(op))
    return {stripped(op->getOperand(0)), stripped(op->getOperand(1))};
  return {};
}

bool isProduct(Operation *op) { return policyOf(op).role == Role::Product; }

/// Sums with constant weights: means, windows, products by constants.
bool isLinear(Operation *op) {
  if (!op)
    return false;
  if (isa<onnx::ReduceMeanOp, onnx::ReduceSumOp, onnx::AveragePoolOp, onnx::GlobalAveragePoolOp>(
          op))
    return true;
  return isProduct(op) && op->getNumOperands() > 1 && onnx::constantValue(op->getOperand(1));
}

/// True of a blur, a moving average: what it makes is as large as what it reads. Learned weights have both signs.
bool averages(Operation *op) {
  ElementsAttr weights = isProduct(op) ? onnx::constantValue(op->getOperand(1)) : ElementsAttr();
  std::optional<Elements> elements = weights ? Elements::of(weights) : std::nullopt;
  if (!elements || elements->kind != onnx::ElementKind::F32)
    return false;
  int64_t count = elements->isSplat() ? 1 : elements->count();
  for (int64_t i = 0; i < count; ++i)
    if (!(llvm::bit_cast<float>(llvm::support::endian::read32le(elements->at(i))) >= 0))
      return false; // weights are found out by their first elements
  return true;
}

/// What a term is made of.
struct Parts {
  enum Kind {
    Other,
    Sum,         // linear in its sources
    Squares,     // a sum of products of elements
    Average,     // a sum whose weights are not negative, by a product
    Bilinear,    // a product of two values
    SquareOfSums // a product of sums
  } kind = Other;
  SmallVector<Value, 2> sources;
  SmallVector<Value, 2> products; // of what is summed

  static Parts of(Value value);
  bool has(Value source) const { return llvm::is_contained(sources, source); }
};

Parts Parts::of(Value value) {
  Operation *op = value.getDefiningOp();
  if (!op)
    return {};
  if (isa<onnx::ReduceSumSquareOp>(op))
    return {Squares, {stripped(op->getOperand(0))}, {}};
  SmallVector<Value, 2> products;
  if (isProduct(op))
    products.push_back(value);
  if (isLinear(op)) {
    Value inner = stripped(op->getOperand(0));
    SmallVector<Value, 2> factors = factorsOf(inner);
    if (!factors.empty())
      return {Squares, factors, products};
    return {averages(op) ? Average : Sum, {inner}, products};
  }
  Parts parts{SquareOfSums, {}, products};
  SmallVector<Value, 2> factors = factorsOf(value);
  if (isProduct(op) && op->getNumOperands() > 1) {
    factors = {stripped(op->getOperand(0)), stripped(op->getOperand(1))};
    auto isMean = [](Value factor) {
      Operation *sum = factor.getDefiningOp();
      return isLinear(sum) && !isProduct(sum);
    };
    if (!llvm::all_of(factors, isMean))
      return {Bilinear, factors, products};
  }
  for (Value factor : factors) {
    Operation *sum = factor.getDefiningOp();
    if (!isLinear(sum))
      return {};
    parts.sources.push_back(stripped(sum->getOperand(0)));
    if (isProduct(sum))
      parts.products.push_back(factor);
  }
  return parts.sources.empty() ? Parts() : parts;
}

/// Whether one term takes away what the other one has; their signs differ.
bool cancels(const Parts &one, const Parts &other) {
  auto haveCommon = [&] {
    return llvm::any_of(one.sources, [&](Value source) { return other.has(source); });
  };
  switch (one.kind) {
  case Parts::Squares:
    return (other.kind == Parts::SquareOfSums || other.kind == Parts::Bilinear ||
            ((other.kind == Parts::Sum || other.kind == Parts::Average) &&
             !other.products.empty())) &&
           haveCommon();
  case Parts::Sum:
  case Parts::Bilinear:
    return other.kind == Parts::SquareOfSums && haveCommon();
  case Parts::Average:
    return (other.kind == Parts::SquareOfSums || other.kind == Parts::Average) && haveCommon();
  default:
    return false;
  }
}

/// True of where an interval ends, for all that a minimum or a maximum of ends can be moved or bounded.
template <typename Extremum> bool isEnd(Value value) {
  for (unsigned i = 0; i < kMostBetween; ++i) {
    Operation *op = value.getDefiningOp();
    if (isa_and_nonnull<Extremum>(op) && op->getNumOperands() == 2)
      return true;
    Value inner = movedBy(op);
    if (!inner)
      return false;
    value = inner;
  }
  return false;
}

/// A constant of several numbers, a grid: a single one is merged with its like, or stands for itself.
bool isTable(Value value) { return onnx::constantValue(value) && !onnx::constantScalar(value); }

/// Which of a product's channels of results a weight belongs to; nothing for products that have no such order.
std::function<int64_t(int64_t)> channelOf(Operation *op, ArrayRef<int64_t> shape) {
  if (isa<onnx::ConvOp>(op) && shape.size() > 2) {
    int64_t depth =
        std::accumulate(shape.begin() + 1, shape.end(), int64_t(1), std::multiplies<>());
    return [=](int64_t i) { return i / depth; };
  }
  if (shape.size() != 2 || !isa<onnx::MatMulOp, onnx::GemmOp>(op))
    return {};
  int64_t columns = shape[1];
  auto gemm = dyn_cast<onnx::GemmOp>(op);
  if (gemm && gemm.getTransB())
    return [=](int64_t i) { return i / columns; };
  return [=](int64_t i) { return i % columns; };
}

} // namespace

std::optional<Cancellation> cancellationIn(Operation *op) {
  if (!isa<onnx::AddOp, onnx::SubOp>(op))
    return std::nullopt;
  if (isa<onnx::SubOp>(op) && isEnd<onnx::MinOp>(op->getOperand(0)) &&
      isEnd<onnx::MaxOp>(op->getOperand(1)))
    return Cancellation(); // what two intervals have in common
  SmallVector<Term, 4> terms;
  collectTerms(op->getResult(0), false, kDeepestSum, terms);
  SmallVector<Parts, 4> parts;
  for (const Term &term : terms)
    parts.push_back(Parts::of(term.value));
  std::optional<Cancellation> found;
  for (size_t i = 0; i < terms.size(); ++i)
    for (size_t j = 0; j < i; ++j) {
      // The signs of a table are its own.
      bool areTables = isTable(terms[i].value) && isTable(terms[j].value);
      if (terms[i].isNegative == terms[j].isNegative && !areTables)
        continue;
      bool isSame = terms[i].value == terms[j].value || areTables;
      auto averages = [&](size_t average, size_t source) {
        return parts[average].kind == Parts::Average &&
               parts[average].has(stripped(terms[source].value));
      };
      if (!isSame && !cancels(parts[i], parts[j]) && !cancels(parts[j], parts[i]) &&
          !averages(i, j) && !averages(j, i))
        continue;
      if (!found)
        found.emplace();
      if (!isSame)
        for (size_t k : {i, j})
          found->products.append(parts[k].products);
    }
  return found;
}

bool takesDifferences(Operation *op) {
  // Sums of floats that should be 0 are as near to it; of trained weights hardly any channel is.
  constexpr double kRounding = 0x1p-18;
  ElementsAttr weights =
      op->getNumOperands() > 1 ? onnx::constantValue(op->getOperand(1)) : ElementsAttr();
  std::optional<Elements> elements = weights ? Elements::of(weights) : std::nullopt;
  if (!elements || elements->kind != onnx::ElementKind::F32 || elements->isSplat())
    return false;
  std::function<int64_t(int64_t)> channel = channelOf(op, elements->shape());
  if (!channel)
    return false;
  llvm::SmallDenseMap<int64_t, std::pair<double, double>> sums; // and those of magnitudes
  for (int64_t i = 0, count = elements->count(); i < count; ++i) {
    auto number = llvm::bit_cast<float>(llvm::support::endian::read32le(elements->at(i)));
    auto &[sum, magnitudes] = sums[channel(i)];
    sum += number;
    magnitudes += std::abs(number);
  }
  return llvm::any_of(sums, [&](const auto &entry) {
    auto [sum, magnitudes] = entry.second;
    return magnitudes > 0 && std::abs(sum) <= kRounding * magnitudes;
  });
}

} // namespace cameo
