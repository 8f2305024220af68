// #kernel.copied: groups of neighbours, dealt out to threads in order.
//
// SPDX-License-Identifier: Apache-2.0
#include "dialects/kernel/Kernel.h"

using namespace mlir;
using namespace cameo::kernel;

LogicalResult CopiedAttr::verify(function_ref<InFlightDiagnostic()> emitError, int64_t vector,
                                 Direction, int64_t threads) {
  if (threads <= 0 || threads > 1024)
    return emitError() << "needs 1 to 1024 threads, has " << threads;
  if (vector <= 0)
    return emitError() << "vector must be positive, is " << vector;
  return success();
}

FailureOr<Spread> CopiedAttr::spread(int64_t rows, int64_t cols, Type,
                                     function_ref<InFlightDiagnostic()> emitError) const {
  bool alongRows = getAlong() == Direction::Rows;
  int64_t threads = getThreads(), extent = alongRows ? rows : cols;
  if (rows <= 0 || cols <= 0)
    return emitError() << "has " << rows << " rows and " << cols << " columns";
  if (extent % getVector() != 0)
    return emitError() << "vector of " << getVector() << " does not divide the extent " << extent;
  int64_t line = extent / getVector(); // groups
  int64_t groups = rows * cols / extent * line;
  AffineExpr thread = getAffineDimExpr(0, getContext());
  Spread result{threads, getVector(), alongRows, {}};
  for (int64_t first = 0; first < groups; first += threads) {
    Place place{thread.floorDiv(line), thread % line * getVector(), 0, 0,
                std::min(threads, groups - first)};
    if (threads % line == 0) {
      place.rowOffset = first / line;
    } else if (line % threads == 0) {
      place.row = getAffineConstantExpr(0, getContext());
      place.column = thread * getVector();
      place.rowOffset = first / line;
      place.columnOffset = first % line * getVector();
    } else {
      place.row = (thread + first).floorDiv(line);
      place.column = (thread + first) % line * getVector();
    }
    if (alongRows) {
      std::swap(place.row, place.column);
      std::swap(place.rowOffset, place.columnOffset);
    }
    result.values.push_back(place);
  }
  return result;
}
