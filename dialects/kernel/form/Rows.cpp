// Recognising rows in descriptions.
//
// SPDX-License-Identifier: Apache-2.0
#include "dialects/kernel/form/Rows.h"

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

/// Results of reductions, and elementwise work on such results of the same shape.
static llvm::DenseSet<Value> rowTensors(const Computation &computation) {
  llvm::DenseSet<Value> found;
  for (Operation *op : computation.operations) {
    auto generic = dyn_cast<linalg::GenericOp>(op);
    if (!generic)
      continue;
    bool isRow = generic.getNumReductionLoops() != 0;
    if (!isRow && !generic.hasIndexSemantics() && computation.isCombined(generic.getResult(0)))
      isRow = computation.isElementwiseOnCombined(op) &&
              llvm::all_of(generic.getDpsInputs(), [&](Value input) {
                return !computation.isCombined(input) || found.contains(input);
              });
    if (isRow)
      found.insert(op->result_begin(), op->result_end());
  }
  return found;
}

/// How a result of the dispatch consists of rows.
static std::optional<RowOutput> matchOutput(Value value, const Computation &computation,
                                            const llvm::DenseSet<Value> &rowTensors) {
  RowOutput output{value, {}, {}};
  auto type = cast<RankedTensorType>(value.getType());
  auto generic = value.getDefiningOp<linalg::GenericOp>();
  if (!generic)
    return std::nullopt;
  if (generic.getNumReductionLoops() == 0) {
    AffineMap outMap = generic.getMatchingIndexingMap(
        generic.getDpsInitOperand(cast<OpResult>(value).getResultNumber()));
    if (!outMap.isIdentity())
      return std::nullopt;
    std::optional<AffineMap> through;
    for (OpOperand *input : generic.getDpsInputOperands()) {
      if (!rowTensors.contains(input->get())) {
        // Elementwise work on elements must not hide a reduction.
        if (computation.isCombined(input->get()))
          return std::nullopt;
        continue;
      }
      AffineMap map = generic.getMatchingIndexingMap(input);
      if (through && *through != map)
        return std::nullopt;
      through = map;
    }
    bool extracts = false;
    generic.getBody()->walk([&](tensor::ExtractOp) { extracts = true; });
    if (!through || !through->isProjectedPermutation() || extracts)
      return std::nullopt;
    for (AffineExpr expr : through->getResults())
      output.rowDims.push_back(cast<AffineDimExpr>(expr).getPosition());
  } else {
    for (int64_t dim = 0; dim < type.getRank(); ++dim)
      output.rowDims.push_back(dim);
  }
  for (unsigned dim = 0; dim < type.getRank(); ++dim)
    if (!llvm::is_contained(output.rowDims, dim))
      output.columnDims.push_back(dim);
  return output;
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

std::optional<Rows> matchRows(const Computation &computation) {
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
      rows.acrossRows |=
          out.getNumResults() != 0 && map.getResults().back() == out.getResults().back();
    }
  }
  llvm::DenseSet<Value> tensors = rowTensors(computation);
  for (Value value : computation.results) {
    std::optional<RowOutput> output = matchOutput(value, computation, tensors);
    if (!output)
      return std::nullopt;
    rows.outputs.push_back(*output);
  }
  return rows;
}

} // namespace cameo
