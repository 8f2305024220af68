// #kernel.thread_tile: accumulators of SIMT kernels and their operands.
//
// SPDX-License-Identifier: Apache-2.0
#include "dialects/kernel/Kernel.h"

#include <numeric>

using namespace mlir;
using namespace cameo::kernel;

LogicalResult ThreadTileAttr::verify(function_ref<InFlightDiagnostic()> emitError,
                                     int64_t threadRows, int64_t threadCols, int64_t tileRows,
                                     int64_t tileCols, int64_t group) {
  if (threadRows <= 0 || threadCols <= 0 || threadRows * threadCols > 1024)
    return emitError() << "needs 1 to 1024 threads, has " << threadRows << "x" << threadCols;
  if (tileRows <= 0 || tileCols <= 0 || group <= 0 || tileCols % group != 0)
    return emitError() << "thread tile of " << tileRows << "x" << tileCols
                       << " is not made of column groups of " << group;
  return success();
}

/// A thread's first row and column.
static AffineExpr rowOf(ThreadTileAttr layout) {
  return getAffineDimExpr(0, layout.getContext()).floorDiv(layout.getThreadCols()) *
         layout.getTileRows();
}
static AffineExpr columnOf(ThreadTileAttr layout) {
  return getAffineDimExpr(0, layout.getContext()) % layout.getThreadCols() * layout.getGroup();
}

FailureOr<Spread> ThreadTileAttr::spread(int64_t rows, int64_t cols, Type,
                                         function_ref<InFlightDiagnostic()> emitError) const {
  if (getThreadRows() * getTileRows() != rows || getThreadCols() * getTileCols() != cols)
    return emitError() << "layout does not cover a fragment of " << rows << " by " << cols;
  Spread result{getThreadRows() * getThreadCols(), getGroup(), /*alongRows=*/false, {}};
  AffineExpr row = rowOf(*this), column = columnOf(*this);
  for (int64_t i = 0; i < getTileRows(); ++i)
    for (int64_t j = 0; j < getTileCols() / getGroup(); ++j)
      result.add(row, column, i, j * getThreadCols() * getGroup());
  return result;
}

FailureOr<Spread>
ThreadTileAttr::spreadOperand(int64_t number, int64_t rows, int64_t cols, Type,
                              function_ref<InFlightDiagnostic()> emitError) const {
  int64_t across = number == 0 ? getThreadRows() * getTileRows() : getThreadCols() * getTileCols();
  if ((number == 0 ? rows : cols) != across)
    return emitError() << "operand " << number << " of " << rows << " by " << cols
                       << " does not go with the accumulators' " << across
                       << (number == 0 ? " rows" : " columns");
  int64_t threads = getThreadRows() * getThreadCols();
  AffineExpr zero = getAffineConstantExpr(0, getContext());
  if (number == 0) {
    // Four elements are what 16 bytes hold at most of the types that accumulate.
    Spread result{threads, std::gcd(getTileRows(), int64_t(4)), /*alongRows=*/true, {}};
    for (int64_t k = 0; k < cols; ++k)
      for (int64_t i = 0; i < getTileRows(); i += result.width)
        result.add(rowOf(*this), zero, i, k);
    return result;
  }
  Spread result{threads, getGroup(), /*alongRows=*/false, {}};
  for (int64_t k = 0; k < rows; ++k)
    for (int64_t j = 0; j < getTileCols() / getGroup(); ++j)
      result.add(zero, columnOf(*this), k, j * getThreadCols() * getGroup());
  return result;
}

LogicalResult OperandAttr::verify(function_ref<InFlightDiagnostic()> emitError, int64_t number,
                                  AccumulatorLayoutInterface) {
  if (number != 0 && number != 1)
    return emitError() << "a contraction has operands 0 and 1, not " << number;
  return success();
}

FailureOr<Spread> OperandAttr::spread(int64_t rows, int64_t cols, Type element,
                                      function_ref<InFlightDiagnostic()> emitError) const {
  return getOf().spreadOperand(getNumber(), rows, cols, element, emitError);
}
