// Operators on constants, computed by the compiler.
//
// An operator's evaluation is a function in one table (ConstantFolding.cpp). Only what IEEE 754 and
// two's complement define to the last bit is computed, so that every host folds to the same bytes:
// no exponentials, no trigonometry.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "dialects/onnx/OperatorRows.h"
#include "passes/graph/Elements.h"
#include "passes/graph/Graph.h"

namespace cameo {
class Fold;
} // namespace cameo

#include "passes/graph/Interfaces.h.inc"

namespace cameo {

/// The bytes that folding one operator may add to the model's constants: cameo-fold-constants'
/// default.
inline constexpr int64_t kFoldedBytes = 1 << 20;

/// One operator being folded.
class Fold {
public:
  /// `reclaimed`: bytes of operands that have no other use and so disappear.
  Fold(mlir::Operation *op, int64_t limit, int64_t reclaimed);

  mlir::Operation *op;

  bool absent(unsigned i) const { return i >= inputs.size() || !inputs[i]; }
  /// An operand; it is there.
  const Elements &input(unsigned i) const { return *inputs[i]; }
  unsigned inputCount() const { return inputs.size(); }
  /// The integers of an operand, or nothing.
  std::optional<llvm::SmallVector<int64_t>> ints(unsigned i) const;
  /// The same of an operand that has one dimension at most.
  std::optional<llvm::SmallVector<int64_t>> list(unsigned i) const;
  int64_t attribute(llvm::StringRef name, int64_t otherwise) const;
  /// An axis counted from the front, or nothing.
  std::optional<int64_t> axis(int64_t given, int64_t rank) const;
  /// The element type of a result.
  mlir::Type elementType(unsigned result = 0) const;
  onnx::ElementKind kind(unsigned result = 0) const;

  /// The number of elements of a result, if its shape is one and it may be as large.
  std::optional<int64_t> count(llvm::ArrayRef<int64_t> shape);
  /// Whether equal elements may be yielded in this shape, which has elements.
  bool canYieldSplat(llvm::ArrayRef<int64_t> shape) const;
  /// Sets the next result. Without bytes: an operand's under another shape. A splat holds one
  /// element, so that no limit concerns it.
  mlir::LogicalResult yield(llvm::ArrayRef<int64_t> shape, llvm::ArrayRef<char> bytes);
  mlir::LogicalResult yieldSplat(llvm::ArrayRef<int64_t> shape, llvm::ArrayRef<char> element);
  mlir::LogicalResult yieldView(unsigned operand, llvm::ArrayRef<int64_t> shape);
  /// Passes over a result that the node leaves out.
  void yieldNone() { results.push_back({}); }

  /// Where all operands are splats: makes them scalars for an elementwise function, whose result
  /// then is a splat of the shape that they broadcast to.
  void collapseSplats();

  llvm::SmallVector<mlir::ElementsAttr> results;
  int64_t growth = 0; // bytes added so far

private:
  mlir::RankedTensorType typeOf(llvm::ArrayRef<int64_t> shape) const;

  llvm::SmallVector<std::optional<Elements>> inputs;
  std::optional<llvm::SmallVector<int64_t>> collapsed; // the shape of what was made scalar
  int64_t limit, reclaimed;
};

/// Sets the fold's results, or fails.
using FoldFunction = mlir::LogicalResult (*)(Fold &fold);

struct FoldRow {
  FoldFunction fold = nullptr;
  bool isElementwise = false;
};
struct FoldModel : FoldInterface::FallbackModel<FoldModel> {
  FoldRow row;
  mlir::LogicalResult foldConstants(mlir::Operation *, Fold &fold) const { return row.fold(fold); }
  bool isElementwise(mlir::Operation *) const { return row.isElementwise; }
};
using FoldRows = onnx::OperatorRows<FoldModel>;

/// Attaches all folds.
void attachFolds(mlir::MLIRContext &context);
void registerLayoutFolds(FoldRows &rows);      // FoldLayout.cpp
void registerElementwiseFolds(FoldRows &rows); // FoldElementwise.cpp
void registerReductionFolds(FoldRows &rows);   // FoldReductions.cpp
void registerSelectionFolds(FoldRows &rows);   // FoldSelections.cpp

/// Strides, in elements, at which a tensor is read when it broadcasts to `shape`; nothing where it
/// does not.
std::optional<llvm::SmallVector<int64_t>> broadcastStrides(llvm::ArrayRef<int64_t> from,
                                                           llvm::ArrayRef<int64_t> shape);
/// Calls `fn` for every element of `shape` in row-major order with where it is read from.
template <typename Function>
void forEachOffset(llvm::ArrayRef<int64_t> shape, llvm::ArrayRef<int64_t> strides, int64_t offset,
                   Function fn) {
  llvm::SmallVector<int64_t> index(shape.size(), 0);
  int64_t count = 1;
  for (int64_t size : shape)
    count *= size;
  for (int64_t i = 0; i < count; ++i) {
    fn(i, offset);
    for (int64_t d = static_cast<int64_t>(shape.size()) - 1; d >= 0; --d) {
      offset += strides[d];
      if (++index[d] < shape[d])
        break;
      offset -= strides[d] * shape[d];
      index[d] = 0;
    }
  }
}

/// The values of an operator's results; failure where it cannot be folded, or would add more than
/// `limit` bytes. `growth` becomes what it adds.
mlir::FailureOr<llvm::SmallVector<mlir::ElementsAttr>>
foldToConstants(mlir::Operation *op, int64_t limit, bool reclaim, int64_t &growth);

} // namespace cameo
