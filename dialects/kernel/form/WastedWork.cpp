// Telling how often elements would be computed.
//
// SPDX-License-Identifier: Apache-2.0
#include "dialects/kernel/form/WastedWork.h"

#include "dialects/kernel/form/Places.h"
#include "dialects/kernel/form/Product.h"

using namespace mlir;

namespace cameo {

/// Reductions of this many steps may be repeated; of unknown sizes they count as so many.
static constexpr int64_t kRepeatable = 64, kUnknown = 256;

/// Of an element, without those of what it is computed from.
static int64_t stepsOf(Operation *combining) {
  auto times = [](int64_t steps, int64_t extent) {
    return std::min<int64_t>(steps * (ShapedType::isDynamic(extent) ? kUnknown : extent), 1 << 20);
  };
  if (auto line = dyn_cast<kernel::LineOpInterface>(combining))
    return times(1, cast<RankedTensorType>(line.lineInput().getType()).getDimSize(line.lineAxis()));
  if (auto choose = dyn_cast<kernel::ChooseOp>(combining))
    return times(1, cast<RankedTensorType>(choose.getType()).getShape().back());
  auto generic = cast<linalg::GenericOp>(combining);
  SmallVector<unsigned> reduced;
  generic.getReductionDims(reduced);
  int64_t steps = 1;
  for (unsigned loop : reduced)
    steps = times(steps, generic.getStaticLoopRanges()[loop]);
  return steps;
}

/// Whether more elements than `combining` has, or some of them more than once, are asked for.
static bool isRepeated(const Computation &computation, Operation *combining) {
  Places places;
  for (OpResult result : combining->getResults())
    places.set(result,
               AffineMap::getMultiDimIdentityMap(cast<RankedTensorType>(result.getType()).getRank(),
                                                 combining->getContext()));
  for (Operation *op : computation.operations) {
    FailureOr<AffineMap> place = op == combining ? FailureOr(AffineMap()) : places.placeRead(op);
    if (failed(place))
      return true;
    if (!*place)
      continue;
    auto generic = dyn_cast<linalg::GenericOp>(op);
    auto type = cast<RankedTensorType>(op->getResult(0).getType());
    SmallVector<int64_t> extents(type.getShape());
    if (generic)
      extents = generic.getStaticLoopRanges();
    for (auto [dim, extent] : llvm::enumerate(extents))
      if (extent != 1 && !place->isFunctionOfDim(dim))
        return true;
    // What a reduction has read is at no one place any more; it is looked at by itself.
    if (!llvm::is_contained(computation.combining, op) && failed(places.follow(op)))
      return true;
  }
  // Results of different shapes are launches of their own.
  ArrayRef<int64_t> shape;
  for (Value result : computation.results) {
    if (!places.contains(result))
      continue;
    ArrayRef<int64_t> other = cast<RankedTensorType>(result.getType()).getShape();
    if (!shape.empty() && shape != other)
      return true;
    shape = other;
  }
  return false;
}

/// Steps of an element, with those of what it is computed from, by value.
static llvm::DenseMap<Value, int64_t> costs(const Computation &computation) {
  llvm::DenseMap<Value, int64_t> cost;
  for (Operation *op : computation.operations) {
    int64_t most = 1;
    forEachRead(op, [&](OpOperand &operand) {
      auto known = cost.find(operand.get());
      most = std::max(most, known == cost.end() ? 1 : known->second);
    });
    if (llvm::is_contained(computation.combining, op))
      most = std::min<int64_t>(most * stepsOf(op), 1 << 20);
    for (Value result : op->getResults())
      cost[result] = most;
  }
  return cost;
}

bool wastesWork(const Computation &computation) {
  // Steps of a recurrent network need all units of the step before; no element of a sort, or of a choice, is found
  // alone; an insertion leaves elements as they are.
  if (llvm::any_of(
          computation.combining,
          llvm::IsaPred<kernel::RecurrenceOp, kernel::SortOp, kernel::ChooseOp, kernel::InsertOp>))
    return true;
  if (computation.isEmpty)
    return false;
  llvm::DenseMap<Value, int64_t> cost = costs(computation);
  for (Operation *combining : computation.combining) {
    auto generic = dyn_cast<linalg::GenericOp>(combining);
    if (generic && stepsOf(combining) > kRepeatable && !matchProduct(computation)) {
      // That its operands are computed is no matter: they can be dispatches of their own.
      auto canBeMemory = [](const Access &access) {
        return isa<BlockArgument>(access.source) ||
               access.source.getDefiningOp<linalg::GenericOp>();
      };
      std::optional<Product> product = productOf(generic);
      if (product && product->fillsTiles() && canBeMemory(product->row) &&
          canBeMemory(product->column))
        return true;
    }
    if (cost.lookup(combining->getResult(0)) > kRepeatable && isRepeated(computation, combining))
      return true;
  }
  return false;
}

} // namespace cameo
