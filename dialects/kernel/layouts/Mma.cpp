// #kernel.mma: accumulators of mma.sync and their operands; #kernel.warp_rows: what their warps
// store. PTX ISA, "Matrix Fragments for
// mma.m16n8k16" and its neighbours: a lane's group is lane / 4; registers of 32 bits follow each
// other in the order of the instruction's operands. Where rows or columns are in pairs, a lane's
// group has two of them.
//
// SPDX-License-Identifier: Apache-2.0
#include "dialects/kernel/Kernel.h"

using namespace mlir;
using namespace cameo::kernel;

static constexpr int64_t kWarp = 32;
static constexpr int64_t kGroup = 4;   // lanes
static constexpr int64_t kGroups = 8;  // in a warp
static constexpr int64_t kPaired = 16; // rows or columns whose halves are pairs' elements

LogicalResult MmaAttr::verify(function_ref<InFlightDiagnostic()> emitError, int64_t m, int64_t n,
                              int64_t k, int64_t warpRows, int64_t warpCols, Pairs) {
  if ((m != 8 && m != 16) || n != 8 || k < kGroup || k % kGroup != 0)
    return emitError() << "no mma instruction has the shape " << m << "x" << n << "x" << k;
  if (warpRows <= 0 || warpCols <= 0 || warpRows * warpCols > 32)
    return emitError() << "needs 1 to 32 warps, has " << warpRows << "x" << warpCols;
  return success();
}

/// A warp's row and column among all.
template <typename Layout> static AffineExpr warpRowOf(Layout layout) {
  AffineExpr warp = getAffineDimExpr(0, layout.getContext()).floorDiv(kWarp);
  return layout.getWarpRows() == 1 ? getAffineConstantExpr(0, layout.getContext())
                                   : warp.floorDiv(layout.getWarpCols());
}
template <typename Layout> static AffineExpr warpColumnOf(Layout layout) {
  AffineExpr warp = getAffineDimExpr(0, layout.getContext()).floorDiv(kWarp);
  return layout.getWarpRows() == 1 ? warp : warp % layout.getWarpCols();
}
static AffineExpr groupOf(MmaAttr layout) {
  return (getAffineDimExpr(0, layout.getContext()) % kWarp).floorDiv(kGroup);
}
static AffineExpr laneOf(MmaAttr layout) {
  return getAffineDimExpr(0, layout.getContext()) % kGroup;
}

/// Where the first of eight rows or columns of instructions is.
static int64_t beginOf(int64_t eight, bool inPairs) {
  return inPairs ? eight / kPaired * kPaired + eight / kGroups % 2 : eight;
}

FailureOr<Spread> MmaAttr::spread(int64_t rows, int64_t cols, Type,
                                  function_ref<InFlightDiagnostic()> emitError) const {
  bool rowPairs = hasPairs(/*ofRows=*/true), columnPairs = hasPairs(/*ofRows=*/false);
  int64_t rowUnit = rowPairs ? kPaired : getM(), columnUnit = columnPairs ? kPaired : getN();
  if (rows <= 0 || cols <= 0 || rows % (rowUnit * getWarpRows()) != 0 ||
      cols % (columnUnit * getWarpCols()) != 0)
    return emitError() << "layout does not cover a fragment of " << rows << " by " << cols;
  // Pairs of columns that two instructions have are four neighbours.
  Spread result{
      kWarp * getWarpRows() * getWarpCols(), columnPairs ? 4 : 2, /*alongRows=*/false, {}};
  int64_t warpRows = rows / getWarpRows(), warpCols = cols / getWarpCols();
  AffineExpr row = warpRowOf(*this) * warpRows + groupOf(*this) * (rowPairs ? 2 : 1);
  AffineExpr column = warpColumnOf(*this) * warpCols + laneOf(*this) * result.width;
  for (int64_t i = 0; i < warpRows; i += getM())
    for (int64_t j = 0; j < warpCols; j += columnUnit)
      for (int64_t half = 0; half < getM(); half += kGroups)
        result.add(row, column, beginOf(i + half, rowPairs), j);
  return result;
}

FailureOr<Spread> MmaAttr::spreadOperand(int64_t number, int64_t rows, int64_t cols, Type element,
                                         function_ref<InFlightDiagnostic()> emitError) const {
  int64_t across = number == 0 ? rows : cols, depth = number == 0 ? cols : rows;
  int64_t warps = number == 0 ? getWarpRows() : getWarpCols();
  int64_t size = number == 0 ? getM() : getN();
  bool inPairs = hasPairs(/*ofRows=*/number == 0);
  int64_t unit = inPairs ? kPaired : size;
  if (across <= 0 || depth <= 0 || across % (unit * warps) != 0 || depth % getK() != 0)
    return emitError() << "operand " << number << " of " << rows << " by " << cols
                       << " is not made of those of " << getM() << "x" << getN() << "x" << getK();
  int64_t bits = element.isIntOrFloat() ? element.getIntOrFloatBitWidth() : 0;
  int64_t width = bits > 32 ? 1 : bits == 0 ? 0 : 32 / bits; // elements of a register
  if (width == 0 || getK() % (kGroup * width) != 0)
    return emitError() << "elements of " << element << " are not multiplied " << getK()
                       << " at a time";
  Spread result{kWarp * getWarpRows() * getWarpCols(), width, /*alongRows=*/number == 1, {}};
  AffineExpr warp = number == 0 ? warpRowOf(*this) : warpColumnOf(*this);
  AffineExpr place = warp * (across / warps) + groupOf(*this) * (inPairs ? 2 : 1);
  AffineExpr along = laneOf(*this) * width;
  auto add = [&](int64_t i, int64_t k) {
    if (number == 0)
      result.add(place, along, i, k);
    else
      result.add(along, place, k, i);
  };
  // One instruction's operand after the other, along the depth first.
  for (int64_t i = 0; i < across / warps; i += size)
    for (int64_t k = 0; k < depth; k += getK())
      for (int64_t inner = 0; inner < getK(); inner += kGroup * width)
        for (int64_t half = 0; half < size; half += kGroups)
          add(beginOf(i + half, inPairs), k + inner);
  return result;
}

LogicalResult WarpRowsAttr::verify(function_ref<InFlightDiagnostic()> emitError, int64_t vector,
                                   int64_t warpRows, int64_t warpCols) {
  if (vector <= 0)
    return emitError() << "vector must be positive, is " << vector;
  if (warpRows <= 0 || warpCols <= 0 || warpRows * warpCols > 32)
    return emitError() << "needs 1 to 32 warps, has " << warpRows << "x" << warpCols;
  return success();
}

FailureOr<Spread> WarpRowsAttr::spread(int64_t rows, int64_t cols, Type,
                                       function_ref<InFlightDiagnostic()> emitError) const {
  int64_t warpRows = rows / getWarpRows(), warpCols = cols / getWarpCols();
  if (rows <= 0 || cols <= 0 || rows % getWarpRows() != 0 ||
      cols % (getWarpCols() * getVector()) != 0 || warpRows * warpCols % (kWarp * getVector()) != 0)
    return emitError() << "layout does not cover a fragment of " << rows << " by " << cols;
  Spread result{kWarp * getWarpRows() * getWarpCols(), getVector(), /*alongRows=*/false, {}};
  AffineExpr row = warpRowOf(*this) * warpRows, column = warpColumnOf(*this) * warpCols;
  AffineExpr lane = getAffineDimExpr(0, getContext()) % kWarp;
  int64_t line = warpCols / getVector(); // groups
  for (int64_t first = 0; first < warpRows * line; first += kWarp) {
    if (kWarp % line == 0)
      result.add(row + lane.floorDiv(line), column + lane % line * getVector(), first / line, 0);
    else if (line % kWarp == 0)
      result.add(row, column + lane * getVector(), first / line, first % line * getVector());
    else
      result.add(row + (lane + first).floorDiv(line), column + (lane + first) % line * getVector(),
                 0, 0);
  }
  return result;
}
