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
    if (AffineMap to = reshapedTo(op)) {
      AffineMap place = places.lookup(op->getResult(0));
      Value source = op->getOperand(0);
      if (place && !places.contains(source))
        places.set(source, simplifiedWithin(place.compose(to),
                                            cast<RankedTensorType>(source.getType()).getShape()));
    }
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

std::optional<unsigned> RowOutput::sameDimension(unsigned dim) const {
  return first.getResultPosition(getAffineDimExpr(dim, first.getContext()));
}

namespace {

/// Reads how a result of the dispatch consists of rows: by the row of each of its elements. Indices
/// of rows are digits of the result's indices, or several of these together; the digits that are
/// left are what a row has.
class OutputReader {
public:
  OutputReader(Value value, AffineMap place, RankedTensorType rows)
      : rows(rows), shape(cast<RankedTensorType>(value.getType()).getShape()),
        place(withJoinedDigits(place, shape)), first(shape.size(), constant(0)),
        taken(shape.size()), output{value, {}, {}} {}

  std::optional<RowOutput> read() {
    for (unsigned dim = 0; dim < rows.getRank(); ++dim)
      if (!readRow(dim))
        return std::nullopt;
    output.first = AffineMap::get(rows.getRank(), 0, first, rows.getContext());
    for (unsigned dim = 0; dim < shape.size(); ++dim)
      if (!readColumns(dim))
        return std::nullopt;
    return std::move(output);
  }

private:
  AffineExpr constant(int64_t value) { return getAffineConstantExpr(value, rows.getContext()); }

  /// Adds what dimension `dim` of rows says of the result's indices. False where the result has a
  /// part of the rows only, or one cannot tell.
  bool readRow(unsigned dim) {
    AffineExpr index = getAffineDimExpr(dim, rows.getContext());
    SmallVector<NumberDigit> digits = digitsOf(place.getResult(dim));
    llvm::sort(digits,
               [](const NumberDigit &a, const NumberDigit &b) { return a.factor < b.factor; });
    int64_t size = 1;
    for (const NumberDigit &digit : digits) {
      if (digit.number == constant(0))
        continue;
      auto of = dyn_cast<AffineDimExpr>(digit.number);
      int64_t count = of ? countOf(digit, shape[of.getPosition()]) : 0;
      if (count == 0 || digit.factor != size)
        return false;
      size = ShapedType::isDynamic(count) ? count : size * count;
      AffineExpr part = index.floorDiv(digit.factor);
      if (size != rows.getDimSize(dim))
        part = part % count;
      first[of.getPosition()] = first[of.getPosition()] + part * digit.divisor;
      taken[of.getPosition()].push_back({of.getPosition(), count, digit.divisor});
    }
    return size == rows.getDimSize(dim);
  }

  /// How many values a digit of an index of `extent` has; 0 where one cannot tell.
  static int64_t countOf(const NumberDigit &digit, int64_t extent) {
    if (digit.modulus != 0)
      return digit.modulus;
    if (ShapedType::isDynamic(extent))
      return digit.divisor == 1 ? extent : 0;
    return extent % digit.divisor == 0 ? extent / digit.divisor : 0;
  }

  /// Adds the digits of an index of the result that are left. False where rows share some.
  bool readColumns(unsigned dim) {
    llvm::sort(taken[dim], [](const RowOutput::Column &a, const RowOutput::Column &b) {
      return a.step < b.step;
    });
    SmallVector<RowOutput::Column> left;
    int64_t step = 1, extent = shape[dim];
    for (const RowOutput::Column &rows : taken[dim]) {
      if (ShapedType::isDynamic(rows.extent))
        return taken[dim].size() == 1; // all of the dimension
      if (rows.step % step != 0)
        return false;
      if (rows.step != step)
        left.push_back({dim, rows.step / step, step});
      step = rows.step * rows.extent;
    }
    if (ShapedType::isDynamic(extent) ? step != 1 : extent % step != 0)
      return false;
    if (extent != step)
      left.push_back({dim, ShapedType::isDynamic(extent) ? extent : extent / step, step});
    llvm::append_range(output.columns, llvm::reverse(left));
    return true;
  }

  RankedTensorType rows;
  ArrayRef<int64_t> shape;
  AffineMap place;
  SmallVector<AffineExpr> first;
  SmallVector<SmallVector<RowOutput::Column>> taken; // by dimension of the result: what rows number
  RowOutput output;
};

} // namespace

bool Rows::isFor(bool across) const {
  if (across ? alongRows || !acrossRows : !alongRows)
    return false;
  // Where elements depend on reductions, one thread would compute those for each element.
  bool reused =
      llvm::any_of(outputs, [](const RowOutput &output) { return !output.columns.empty(); });
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

/// Where a size comes from: a dimension of a value around the dispatch, or (-1) a number there.
using SizeSource = std::pair<Value, int64_t>;

/// The operand of the dispatch that an argument of its body is; the value itself where it is none.
static Value outsideOf(Value value) {
  auto argument = dyn_cast<BlockArgument>(value);
  auto op = argument ? dyn_cast<kernel::DispatchOp>(argument.getOwner()->getParentOp())
                     : kernel::DispatchOp();
  return op ? op->getOperand(argument.getArgNumber()) : value;
}

static SizeSource sourceOfSize(Value value, int64_t dim) {
  while (true) {
    value = outsideOf(value);
    Operation *op = value.getDefiningOp();
    if (auto empty = dyn_cast_if_present<tensor::EmptyOp>(op)) {
      if (!empty.getType().isDynamicDim(dim))
        return {value, dim};
      Value size = outsideOf(empty.getDynamicSize(dim));
      auto of = size.getDefiningOp<tensor::DimOp>();
      std::optional<int64_t> index = of ? of.getConstantIndex() : std::nullopt;
      if (!index)
        return {size, -1};
      value = of.getSource();
      dim = *index;
    } else if (auto dispatch = dyn_cast_if_present<kernel::DispatchOp>(op)) {
      value = dispatch.getInits()[cast<OpResult>(value).getResultNumber()];
    } else if (auto into = dyn_cast_if_present<DestinationStyleOpInterface>(op)) {
      value = into.getTiedOpOperand(cast<OpResult>(value))->get();
    } else {
      return {value, dim};
    }
  }
}

/// Where the size of rows along `dim` comes from, as the result of a reduction and what it reads
/// have it.
static SmallVector<SizeSource> sourcesOfRows(linalg::GenericOp generic, unsigned dim) {
  SmallVector<SizeSource> sources = {sourceOfSize(generic.getResult(0), dim)};
  AffineExpr loop = generic.getMatchingIndexingMap(generic.getDpsInitOperand(0)).getResult(dim);
  for (OpOperand *input : generic.getDpsInputOperands())
    if (auto at = generic.getMatchingIndexingMap(input).getResultPosition(loop))
      sources.push_back(sourceOfSize(input->get(), *at));
  return sources;
}

/// True if reductions have as many rows along each dimension, for all that is known: two sizes that
/// only a run knows are the same where they come from one.
static bool haveTheSameRows(ArrayRef<RowReduction> reductions, RankedTensorType rows) {
  for (unsigned dim = 0; dim < rows.getRank(); ++dim) {
    if (!rows.isDynamicDim(dim))
      continue;
    SmallVector<SizeSource> known = sourcesOfRows(reductions.front().generic, dim);
    for (const RowReduction &reduction : reductions.drop_front()) {
      SmallVector<SizeSource> sources = sourcesOfRows(reduction.generic, dim);
      if (llvm::none_of(sources, [&](SizeSource size) { return llvm::is_contained(known, size); }))
        return false;
      known.append(sources);
    }
  }
  return true;
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
  if (!haveTheSameRows(rows.reductions, rows.rowType))
    return std::nullopt;
  std::optional<Places> places = placeInRows(computation);
  if (!places)
    return std::nullopt;
  for (Value value : computation.results) {
    AffineMap place = value.getDefiningOp() ? places->lookup(value) : AffineMap();
    std::optional<RowOutput> output =
        place ? OutputReader(value, place, rows.rowType).read() : std::nullopt;
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
