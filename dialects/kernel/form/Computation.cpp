// Reading dispatches.
//
// SPDX-License-Identifier: Apache-2.0
#include "dialects/kernel/form/Computation.h"

#include "dialects/kernel/form/Places.h"
#include "runtime/mutant.h"

using namespace mlir;

namespace cameo {

static bool isCombining(Operation *op) {
  auto generic = dyn_cast<linalg::GenericOp>(op);
  return isa<kernel::LineOpInterface, kernel::ChooseOp, kernel::InsertOp, kernel::RecurrenceOp>(
             op) ||
         (generic && generic.getNumReductionLoops() != 0);
}

/// A number of the root, one of its dimensions or a part of that, that is one digit of an index of
/// the result, where dimensions became one and perhaps a part of that was taken: `(index + begin) /
/// divisor`, or that modulo how many such numbers there are.
struct Digit {
  AffineExpr number; // of the root's dimensions
  int64_t extent;
  int64_t divisor, begin;
};

/// The digit that `number` is, and of which index; nothing where the expression is none.
static std::optional<std::pair<unsigned, Digit>> digitOf(AffineExpr expr, AffineExpr number,
                                                         int64_t extent) {
  auto takeOff = [&](AffineExprKind kind) -> std::optional<int64_t> {
    auto binary = dyn_cast<AffineBinaryOpExpr>(expr);
    auto by = binary && binary.getKind() == kind ? dyn_cast<AffineConstantExpr>(binary.getRHS())
                                                 : AffineConstantExpr();
    if (!by)
      return std::nullopt;
    expr = binary.getLHS();
    return by.getValue();
  };
  std::optional<int64_t> modulus = takeOff(AffineExprKind::Mod);
  std::optional<int64_t> quotient = takeOff(AffineExprKind::FloorDiv);
  int64_t begin = 0;
  if (auto sum = dyn_cast<AffineBinaryOpExpr>(expr); sum && sum.getKind() == AffineExprKind::Add)
    if (auto constant = dyn_cast<AffineConstantExpr>(sum.getRHS())) {
      begin = constant.getValue();
      expr = sum.getLHS();
    }
  auto dim = dyn_cast<AffineDimExpr>(expr);
  if (!dim || (!modulus && !quotient) || modulus.value_or(extent) != extent)
    return std::nullopt;
  return std::pair(dim.getPosition(), Digit{number, extent, quotient.value_or(1), begin});
}

/// The index of `extent` that has these digits, and the bounds of those that it has; null where
/// they leave some of it open.
static AffineExpr joined(SmallVector<Digit> digits, int64_t extent, MLIRContext *context,
                         SmallVectorImpl<Bound> &bounds) {
  llvm::sort(digits, [](Digit a, Digit b) { return a.divisor < b.divisor; });
  int64_t begin = digits.front().begin, size = 1;
  AffineExpr sum = getAffineConstantExpr(-begin, context);
  for (Digit digit : digits) {
    if (digit.divisor != size || digit.begin != begin || ShapedType::isDynamic(digit.extent))
      return {};
    sum = sum + digit.number * size;
    size *= digit.extent;
  }
  if (ShapedType::isDynamic(extent) || begin < 0 || begin + extent > size)
    return {};
  if (begin != 0 || size != extent)
    bounds.push_back({sum, extent});
  return sum;
}

/// What is added up in an expression, each with its factor.
static void termsOf(AffineExpr expr, int64_t factor,
                    SmallVectorImpl<std::pair<int64_t, AffineExpr>> &terms) {
  auto binary = dyn_cast<AffineBinaryOpExpr>(expr);
  if (binary && binary.getKind() == AffineExprKind::Add) {
    termsOf(binary.getLHS(), factor, terms);
    termsOf(binary.getRHS(), factor, terms);
    return;
  }
  auto by = binary && binary.getKind() == AffineExprKind::Mul
                ? dyn_cast<AffineConstantExpr>(binary.getRHS())
                : AffineConstantExpr();
  if (by)
    termsOf(binary.getLHS(), factor * by.getValue(), terms);
  else
    terms.emplace_back(factor, expr);
}

/// Where a dimension of the root consists of indices of the result and of digits of such, as of
/// what is interleaved: gives each of them the part of the dimension that it is. False where the
/// dimension consists of something else.
static bool splitNumber(AffineExpr expr, AffineExpr number, int64_t extent, ArrayRef<int64_t> shape,
                        SmallVectorImpl<AffineExpr> &indices,
                        MutableArrayRef<SmallVector<Digit>> parts) {
  SmallVector<std::pair<int64_t, AffineExpr>> terms;
  termsOf(expr, 1, terms);
  llvm::sort(terms, llvm::less_first());
  int64_t size = 1;
  for (auto [factor, term] : terms) {
    auto binary = dyn_cast<AffineBinaryOpExpr>(term);
    auto dim = dyn_cast<AffineDimExpr>(term);
    int64_t count = 0;
    if (dim)
      count = shape[dim.getPosition()];
    else if (binary && binary.getKind() == AffineExprKind::Mod)
      if (auto modulus = dyn_cast<AffineConstantExpr>(binary.getRHS()))
        count = modulus.getValue();
    if (factor != size || count <= 0) // kDynamic is less, too
      return false;
    size *= count;
    AffineExpr part = number.floorDiv(factor);
    if (size != extent)
      part = part % count;
    if (dim) {
      if (indices[dim.getPosition()])
        return false;
      indices[dim.getPosition()] = part;
      continue;
    }
    auto digit = digitOf(term, part, count);
    if (!digit)
      return false;
    parts[digit->first].push_back(digit->second);
  }
  return size == extent;
}

std::optional<Epilogue> solvedFor(AffineMap map, ArrayRef<int64_t> shape, RankedTensorType root) {
  MLIRContext *context = map.getContext();
  Epilogue epilogue{{}, {}, {}};
  SmallVector<AffineExpr> indices(shape.size());
  SmallVector<SmallVector<Digit>> parts(shape.size()); // by index of the result
  for (auto [dim, extent] : llvm::enumerate(root.getShape())) {
    AffineExpr number = getAffineDimExpr(dim, context);
    if (auto digit = digitOf(map.getResult(dim), number, extent)) {
      parts[digit->first].push_back(digit->second);
      continue;
    }
    std::optional<SmallVector<int64_t>> factors = factorsOf(map, dim);
    if (!factors) {
      if (!splitNumber(map.getResult(dim), number, extent, shape, indices, parts))
        return std::nullopt;
      continue;
    }
    // The index is digits, the result's indices, of a number that begins at the constant.
    int64_t begin = factors->pop_back_val(), size = 1;
    SmallVector<unsigned> digits; // the least first
    for (unsigned i = 0; i < factors->size(); ++i)
      if ((*factors)[i] != 0)
        digits.push_back(i);
    llvm::sort(digits, [&](unsigned a, unsigned b) { return (*factors)[a] < (*factors)[b]; });
    AffineExpr at = number - begin, rest = at;
    for (unsigned digit : digits) {
      if (ShapedType::isDynamic(size) || (*factors)[digit] != size || indices[digit])
        return std::nullopt;
      size = ShapedType::isDynamic(shape[digit]) ? ShapedType::kDynamic : size * shape[digit];
    }
    for (unsigned digit : llvm::reverse(digits)) {
      indices[digit] = rest.floorDiv((*factors)[digit]);
      rest = rest % (*factors)[digit];
    }
    if (!ShapedType::isDynamic(size) && (begin != 0 || size != extent))
      epilogue.bounds.push_back({at, size});
    else if (begin != 0)
      return std::nullopt;
  }
  for (auto [index, extent, digits] : llvm::zip(indices, shape, parts)) {
    if (!digits.empty()) {
      if (index)
        return std::nullopt;
      index = joined(digits, extent, context, epilogue.bounds);
    }
    if (!index && extent != 1) // each of its elements is another one's copy
      return std::nullopt;
    if (!index)
      index = getAffineConstantExpr(0, context);
  }
  epilogue.place = AffineMap::get(root.getRank(), 0, indices, context);
  return epilogue;
}

std::optional<unsigned> sameDimension(const Epilogue &epilogue, unsigned dim) {
  AffineMap place = epilogue.place;
  return place.getResultPosition(getAffineDimExpr(dim, place.getContext()));
}

void Computation::findRoot() {
  if (combining.size() != 1 || combining.front()->getNumResults() != 1)
    return;
  Value combined = combining.front()->getResult(0);
  auto type = cast<RankedTensorType>(combined.getType());
  Places places;
  places.set(combined,
             simplifiedWithin(AffineMap::getMultiDimIdentityMap(type.getRank(), op.getContext()),
                              type.getShape()));
  for (Operation *inner : operations)
    if (inner != combining.front() && failed(places.follow(inner)))
      return;
  SmallVector<Epilogue> found;
  for (Value result : results) {
    AffineMap map = places.lookup(result);
    auto shape = cast<RankedTensorType>(result.getType()).getShape();
    std::optional<Epilogue> epilogue = map ? solvedFor(map, shape, type) : std::nullopt;
    if (!epilogue)
      return;
    epilogue->value = result;
    found.push_back(std::move(*epilogue));
  }
  // The plan takes sizes known only at run time from the first result.
  for (unsigned dim = 0; dim < type.getRank(); ++dim)
    if (found.empty() || (type.isDynamicDim(dim) && !sameDimension(found.front(), dim)))
      return;
  root = combined;
  epilogues = std::move(found);
}

/// Whether there is nothing along a dimension of what the operation reads or makes, or along a loop,
/// each of which is along such a dimension.
static bool isEmptyAlong(Operation *op) {
  return llvm::any_of(llvm::concat<const Type>(llvm::to_vector(op->getOperandTypes()),
                                               llvm::to_vector(op->getResultTypes())),
                      [](Type type) {
                        auto tensor = dyn_cast<RankedTensorType>(type);
                        return tensor && llvm::is_contained(tensor.getShape(), 0);
                      });
}

Computation::Computation(kernel::DispatchOp op)
    : op(op), results(op.getBodyBlock()->getTerminator()->getOperands()) {
  llvm::SmallPtrSet<Operation *, 16> needed;
  for (Operation &inner : llvm::reverse(*op.getBodyBlock())) {
    if (!needed.contains(&inner) && &inner != op.getBodyBlock()->getTerminator())
      continue;
    forEachRead(&inner, [&](OpOperand &operand) {
      if (Operation *definition = operand.get().getDefiningOp())
        needed.insert(definition);
    });
  }
  for (Operation &inner : op.getBodyBlock()->without_terminator()) {
    if (!needed.contains(&inner))
      continue;
    operations.push_back(&inner);
    isEmpty |= CAMEO_MUTANT(44, isEmptyAlong(&inner), false);
    if (isCombining(&inner))
      combining.push_back(&inner);
  }
  findRoot();
}

} // namespace cameo
