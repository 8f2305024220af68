// #kernel.copied: groups of neighbours, dealt out to threads in order.
//
// SPDX-License-Identifier: Apache-2.0
#include "dialects/kernel/Kernel.h"

using namespace mlir;
using namespace cameo::kernel;

LogicalResult CopiedAttr::verify(function_ref<InFlightDiagnostic()> emitError, int64_t vector,
                                 Direction, int64_t threads, bool) {
  if (threads <= 0 || threads > 1024)
    return emitError() << "needs 1 to 1024 threads, has " << threads;
  if (vector <= 0)
    return emitError() << "vector must be positive, is " << vector;
  return success();
}

/// The place of the group that is `first` behind the thread's number, in lines of so many, as if
/// elements went along columns.
static Place placeAlong(CopiedAttr layout, AffineExpr thread, int64_t first, int64_t line) {
  int64_t vector = layout.getVector(), threads = layout.getThreads();
  if (threads % line == 0)
    return {thread.floorDiv(line), thread % line * vector, first / line, 0, threads};
  if (line % threads == 0)
    return {getAffineConstantExpr(0, layout.getContext()), thread * vector, first / line,
            first % line * vector, threads};
  return {(thread + first).floorDiv(line), (thread + first) % line * vector, 0, 0, threads};
}

/// The same where that many lines come before the next group of each.
static Place placeAcross(CopiedAttr layout, AffineExpr thread, int64_t first, int64_t lines) {
  int64_t vector = layout.getVector(), threads = layout.getThreads();
  if (lines % threads == 0)
    return {thread, getAffineConstantExpr(0, layout.getContext()), first % lines,
            first / lines * vector, threads};
  if (threads % lines == 0)
    return {thread % lines, thread.floorDiv(lines) * vector, 0, first / lines * vector, threads};
  return {(thread + first) % lines, (thread + first).floorDiv(lines) * vector, 0, 0, threads};
}

FailureOr<Spread> CopiedAttr::spread(int64_t rows, int64_t cols, Type,
                                     function_ref<InFlightDiagnostic()> emitError) const {
  bool alongRows = getAlong() == Direction::Rows;
  int64_t threads = getThreads(), extent = alongRows ? rows : cols;
  if (rows <= 0 || cols <= 0)
    return emitError() << "has " << rows << " rows and " << cols << " columns";
  if (extent % getVector() != 0)
    return emitError() << "vector of " << getVector() << " does not divide the extent " << extent;
  int64_t line = extent / getVector(), groups = rows * cols / getVector();
  AffineExpr thread = getAffineDimExpr(0, getContext());
  Spread result{threads, getVector(), alongRows, {}};
  for (int64_t first = 0; first < groups; first += threads) {
    Place place = getAcrossFirst() ? placeAcross(*this, thread, first, groups / line)
                                   : placeAlong(*this, thread, first, line);
    place.holders = std::min(threads, groups - first);
    if (alongRows) {
      std::swap(place.row, place.column);
      std::swap(place.rowOffset, place.columnOffset);
    }
    result.values.push_back(place);
  }
  return result;
}
