// Which threads share the rows of a fragment. It is read off what a layout says of its values, so
// that there is nothing to write for a new one.
//
// SPDX-License-Identifier: Apache-2.0
#include "dialects/kernel/layouts/Spread.h"

#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/SmallPtrSet.h"
#include "llvm/ADT/bit.h"

using namespace mlir;
using namespace cameo::kernel;

/// An expression of the thread's number.
static int64_t valueOf(AffineExpr expr, int64_t thread) {
  if (auto number = dyn_cast<AffineConstantExpr>(expr))
    return number.getValue();
  auto binary = dyn_cast<AffineBinaryOpExpr>(expr);
  if (!binary)
    return thread;
  int64_t left = valueOf(binary.getLHS(), thread), right = valueOf(binary.getRHS(), thread);
  switch (expr.getKind()) {
  case AffineExprKind::Mul:
    return left * right;
  case AffineExprKind::FloorDiv:
    return left / right;
  case AffineExprKind::Mod:
    return left % right;
  default:
    return left + right;
  }
}

std::optional<RowSharing> cameo::kernel::rowSharing(const Spread &spread, int64_t cols) {
  if (spread.alongRows)
    return std::nullopt;
  llvm::DenseMap<std::pair<AffineExpr, int64_t>, int64_t> elements; // of a thread, by row
  llvm::DenseSet<AffineExpr> rows;
  for (const Place &place : spread.values) {
    if (place.holders < spread.threads)
      return std::nullopt;
    elements[{place.row, place.rowOffset}] += spread.width;
    rows.insert(place.row);
  }
  RowSharing sharing{0};
  for (int64_t bit = 1; bit < spread.threads; bit *= 2) {
    bool isSame = true;
    for (int64_t thread = 0; thread < spread.threads && isSame; ++thread)
      isSame =
          (thread ^ bit) < spread.threads &&
          llvm::all_of(
              rows,
              [&](AffineExpr row) { return valueOf(row, thread) == valueOf(row, thread ^ bit); });
    if (isSame)
      sharing.bits |= bit;
  }
  // Those threads have all of the row, and others none of it.
  int64_t threads = int64_t(1) << llvm::popcount(uint64_t(sharing.bits));
  for (auto [row, count] : elements)
    if (count * threads != cols)
      return std::nullopt;
  return sharing;
}
