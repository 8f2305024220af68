// Recognising rows in descriptions.
//
// SPDX-License-Identifier: Apache-2.0
#include "dialects/kernel/form/Rows.h"

#include "dialects/kernel/form/Places.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/Matchers.h"

using namespace mlir;

namespace cameo {

static Operation *combinerOf(linalg::GenericOp generic) {
  Value accumulator = generic.getBody()->getArguments().back();
  Operation *op = generic.getBody()->getTerminator()->getOperand(0).getDefiningOp();
  if (!op ||
      !isa<arith::AddFOp, arith::AddIOp, arith::MulFOp, arith::MulIOp, arith::MaximumFOp,
           arith::MinimumFOp, arith::MaxNumFOp, arith::MinNumFOp, arith::MaxSIOp, arith::MinSIOp,
           arith::MaxUIOp, arith::MinUIOp, arith::AndIOp, arith::OrIOp, math::FmaOp>(op))
    return nullptr;
  if (isa<math::FmaOp>(op) ? op->getOperand(2) != accumulator
                           : !llvm::is_contained(op->getOperands(), accumulator))
    return nullptr;
  return accumulator.hasOneUse() ? op : nullptr;
}

/// Whether each thread may start from the initial value: it is neutral, or repeating it is
/// harmless.
static bool startsNeutral(linalg::GenericOp generic, Operation *combiner) {
  auto fill = generic.getDpsInitOperand(0)->get().getDefiningOp<linalg::FillOp>();
  if (!fill)
    return false;
  Value init = fill.getInputs()[0];
  if (isa<arith::AddFOp, arith::AddIOp, math::FmaOp>(combiner))
    return matchPattern(init, m_AnyZeroFloat()) || matchPattern(init, m_Zero());
  if (isa<arith::MulFOp, arith::MulIOp>(combiner))
    return matchPattern(init, m_OneFloat()) || matchPattern(init, m_One());
  return true;
}

Operation *combinerOfPartials(linalg::GenericOp generic) {
  Operation *combiner = generic.getNumDpsInits() == 1 ? combinerOf(generic) : nullptr;
  return combiner && startsNeutral(generic, combiner) ? combiner : nullptr;
}

/// The best element and its position along the one reduction loop: both chosen by one comparison
/// of the element with the best so far, and started from fills.
static bool isSearch(linalg::GenericOp generic) {
  SmallVector<unsigned> reduced;
  generic.getReductionDims(reduced);
  if (generic.getNumDpsInits() != 2 || generic.getNumDpsInputs() != 1 || reduced.size() != 1)
    return false;
  Block *body = generic.getBody();
  Value element = body->getArgument(0);
  auto best = body->getTerminator()->getOperand(0).getDefiningOp<arith::SelectOp>();
  auto position = body->getTerminator()->getOperand(1).getDefiningOp<arith::SelectOp>();
  if (!best || !position || best.getCondition() != position.getCondition() ||
      best.getTrueValue() != element || best.getFalseValue() != body->getArgument(1) ||
      position.getFalseValue() != body->getArgument(2))
    return false;
  Operation *compare = best.getCondition().getDefiningOp();
  if (!isa_and_present<arith::CmpFOp, arith::CmpIOp>(compare) ||
      compare->getOperand(0) != element || compare->getOperand(1) != body->getArgument(1))
    return false;
  auto cast = position.getTrueValue().getDefiningOp<arith::IndexCastOp>();
  auto index = cast ? cast.getIn().getDefiningOp<linalg::IndexOp>() : linalg::IndexOp();
  return index && index.getDim() == reduced[0] &&
         llvm::all_of(generic.getDpsInits(),
                      [](Value init) { return init.getDefiningOp<linalg::FillOp>() != nullptr; }) &&
         generic.getMatchingIndexingMap(generic.getDpsInitOperand(0)) ==
             generic.getMatchingIndexingMap(generic.getDpsInitOperand(1));
}

/// Whether each index of a row is one of the value's, or 0.
static bool isPlain(AffineMap place) {
  return place.isProjectedPermutation(/*allowZeroInResults=*/true);
}

/// The rows that elements belong to: of those computed from reductions, and of those that these or
/// reductions read in any order of their own loops. Nothing where an element would need several
/// rows.
static std::optional<Places> placeInRows(const Computation &computation) {
  Places places;
  auto ownRows = [](linalg::GenericOp generic) { // of loops
    return simplifiedWithin(generic.getMatchingIndexingMap(generic.getDpsInitOperand(0)),
                            generic.getStaticLoopRanges());
  };
  for (Operation *op : computation.operations) {
    if (!llvm::is_contained(computation.combining, op)) {
      if (failed(places.follow(op)))
        return std::nullopt;
      for (OpResult result : op->getResults())
        if (AffineMap place = places.lookup(result); place && !isPlain(place))
          return std::nullopt;
      continue;
    }
    FailureOr<AffineMap> read = places.placeRead(op);
    if (failed(read) || (*read && *read != ownRows(cast<linalg::GenericOp>(op))))
      return std::nullopt;
    for (OpResult result : op->getResults()) {
      auto type = cast<RankedTensorType>(result.getType());
      auto same = AffineMap::getMultiDimIdentityMap(type.getRank(), op->getContext());
      places.set(result, simplifiedWithin(same, type.getShape()));
    }
  }
  for (Operation *op : llvm::reverse(computation.operations)) {
    auto generic = dyn_cast<linalg::GenericOp>(op);
    if (!generic)
      continue;
    AffineMap rows; // of loops
    if (generic.getNumReductionLoops() != 0)
      rows = ownRows(generic);
    else if (AffineMap place = places.lookup(generic.getResult(0)))
      rows = place.compose(generic.getMatchingIndexingMap(generic.getDpsInitOperand(0)));
    for (OpOperand *input : generic.getDpsInputOperands()) {
      AffineMap map = generic.getMatchingIndexingMap(input);
      if (rows && map.isPermutation() && !places.contains(input->get()))
        places.set(input->get(), rows.compose(inversePermutation(map)));
    }
  }
  return places;
}

/// How a result of the dispatch consists of rows: by the row of each of its elements.
static std::optional<RowOutput> matchOutput(Value value, AffineMap place, RankedTensorType rows) {
  if (!place || !isPlain(place) || !value.getDefiningOp())
    return std::nullopt;
  RowOutput output{value, {}, {}};
  ArrayRef<int64_t> shape = cast<RankedTensorType>(value.getType()).getShape();
  for (auto [expr, extent] : llvm::zip(place.getResults(), rows.getShape())) {
    auto dim = dyn_cast<AffineDimExpr>(expr);
    if (extent != (dim ? shape[dim.getPosition()] : 1))
      return std::nullopt; // a part of the rows
    output.rowDims.push_back(dim ? std::optional(dim.getPosition()) : std::nullopt);
  }
  for (auto [dim, extent] : llvm::enumerate(shape))
    if (extent != 1 && !llvm::is_contained(output.rowDims, dim))
      output.columnDims.push_back(dim);
  return output;
}

bool Rows::isFor(bool across) const {
  if (across ? alongRows || !acrossRows : !alongRows)
    return false;
  // Where elements depend on reductions, one thread would compute those for each element.
  bool reused =
      llvm::any_of(outputs, [](const RowOutput &output) { return !output.columnDims.empty(); });
  int64_t shortest = !reused ? 32 : across ? 2 : 8;
  return llvm::all_of(reductions, [&](const RowReduction &reduction) {
    return rowLength(reduction, 1024) >= shortest;
  });
}

int64_t rowLength(const RowReduction &reduction, int64_t unknown) {
  linalg::GenericOp generic = reduction.generic;
  int64_t length = 1;
  for (unsigned dim : reduction.reduced) {
    int64_t range = generic.getStaticLoopRanges()[dim];
    length *= ShapedType::isDynamic(range) ? unknown : range;
  }
  return length;
}

/// How many of the last dimensions of rows are the last ones of an operand.
static unsigned commonEnd(AffineMap rows, AffineMap operand) {
  unsigned common = 0;
  for (auto [mine, other] :
       llvm::zip(llvm::reverse(rows.getResults()), llvm::reverse(operand.getResults()))) {
    if (mine != other)
      break;
    ++common;
  }
  return common;
}

static std::optional<Rows> readRows(const Computation &computation) {
  Rows rows;
  for (Operation *inner : computation.combining) {
    auto generic = dyn_cast<linalg::GenericOp>(inner);
    if (!generic)
      return std::nullopt;
    RowReduction reduction{generic, nullptr, {}};
    generic.getReductionDims(reduction.reduced);
    if (generic.getNumDpsInits() == 1)
      reduction.combiner = combinerOf(generic);
    if (reduction.combiner ? !startsNeutral(generic, reduction.combiner) : !isSearch(generic))
      return std::nullopt;
    rows.reductions.push_back(reduction);
  }
  if (rows.reductions.empty())
    return std::nullopt;
  rows.rowType = cast<RankedTensorType>(rows.reductions.front().generic.getResult(0).getType());
  for (const RowReduction &reduction : rows.reductions) {
    linalg::GenericOp generic = reduction.generic;
    if (cast<RankedTensorType>(generic.getResult(0).getType()).getShape() !=
        rows.rowType.getShape())
      return std::nullopt;
    // Result indices are the parallel loops in order.
    AffineMap out = generic.getMatchingIndexingMap(generic.getDpsInitOperand(0));
    if (!out.isProjectedPermutation() || out.getNumResults() != generic.getNumParallelLoops())
      return std::nullopt;
    AffineExpr along = getAffineDimExpr(reduction.reduced.back(), generic.getContext());
    for (OpOperand *input : generic.getDpsInputOperands()) {
      AffineMap map = generic.getMatchingIndexingMap(input);
      if (map.getNumResults() == 0)
        continue;
      rows.alongRows |= map.getResults().back() == along;
      if (unsigned beside = commonEnd(out, map)) {
        rows.beside = rows.acrossRows ? std::min(rows.beside, beside) : beside;
        rows.acrossRows = true;
      }
    }
  }
  std::optional<Places> places = placeInRows(computation);
  if (!places)
    return std::nullopt;
  for (Value value : computation.results) {
    std::optional<RowOutput> output = matchOutput(value, places->lookup(value), rows.rowType);
    if (!output)
      return std::nullopt;
    rows.outputs.push_back(*output);
  }
  return rows;
}

const std::optional<Rows> &matchRows(const Computation &computation) {
  if (!computation.rows)
    computation.rows = std::make_shared<const std::optional<Rows>>(readRows(computation));
  return *computation.rows;
}

} // namespace cameo
