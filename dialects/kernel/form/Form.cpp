// Telling forms apart.
//
// SPDX-License-Identifier: Apache-2.0
#include "dialects/kernel/form/Form.h"

#include "dialects/kernel/form/Product.h"
#include "dialects/kernel/form/Rows.h"
#include "dialects/kernel/form/Windows.h"

using namespace mlir;

namespace cameo {

/// Lines shorter than this are not shared by threads.
static constexpr int64_t kShortestLine = 64;

kernel::ScanOp matchScan(const Computation &computation) {
  auto scan =
      computation.root ? computation.root.getDefiningOp<kernel::ScanOp>() : kernel::ScanOp();
  if (!scan)
    return {};
  auto type = cast<RankedTensorType>(scan.getType());
  unsigned bits = type.getElementTypeBitWidth();
  int64_t length = type.getDimSize(scan.getAxis());
  bool isLong = ShapedType::isDynamic(length) || length >= kShortestLine;
  return (bits == 32 || bits == 64) && isLong ? scan : kernel::ScanOp();
}

kernel::RecurrenceOp matchRecurrence(const Computation &computation) {
  auto recurrence = computation.combining.size() == 1
                        ? dyn_cast<kernel::RecurrenceOp>(computation.combining.front())
                        : kernel::RecurrenceOp();
  kernel::DispatchOp op = computation.op;
  if (!recurrence || !llvm::equal(computation.results, recurrence->getResults()) ||
      !llvm::equal(recurrence.getInits(), op.getInitArgs()))
    return {};
  return recurrence;
}

kernel::SortOp matchSort(const Computation &computation) {
  return computation.root ? computation.root.getDefiningOp<kernel::SortOp>() : kernel::SortOp();
}

kernel::ChooseOp matchChoice(const Computation &computation) {
  auto choose =
      computation.root ? computation.root.getDefiningOp<kernel::ChooseOp>() : kernel::ChooseOp();
  bool isAll =
      choose && computation.results.size() == 1 && computation.results.front() == computation.root;
  return isAll ? choose : kernel::ChooseOp();
}

kernel::InsertOp matchInsertion(const Computation &computation) {
  auto insert = computation.combining.size() == 1
                    ? dyn_cast<kernel::InsertOp>(computation.combining.front())
                    : kernel::InsertOp();
  kernel::DispatchOp op = computation.op;
  bool isAll = insert && op.getNumResults() == 1 && computation.results.front() == insert &&
               insert.getInit() == op.getInitArgs().front();
  return isAll ? insert : kernel::InsertOp();
}

DispatchForm formOf(const Computation &computation) {
  if (computation.combining.empty())
    return DispatchForm::Pointwise;
  if (llvm::any_of(computation.combining, llvm::IsaPred<kernel::RecurrenceOp>))
    return DispatchForm::Recurrence;
  if (matchInsertion(computation))
    return DispatchForm::Insertion;
  if (std::optional<Product> product = matchProduct(computation); product && product->fillsTiles())
    return DispatchForm::Product;
  if (const std::optional<Product> &product = matchProductOfRows(computation);
      product && product->fillsTiles())
    return DispatchForm::ProductOfRows;
  if (matchWindows(computation))
    return DispatchForm::Window;
  if (std::optional<Rows> rows = matchRows(computation);
      rows && (rows->isFor(/*across=*/false) || rows->isFor(/*across=*/true)))
    return DispatchForm::Rows;
  if (matchSort(computation))
    return DispatchForm::Sort;
  if (matchChoice(computation))
    return DispatchForm::Choice;
  return matchScan(computation) ? DispatchForm::Scan : DispatchForm::Other;
}

} // namespace cameo
