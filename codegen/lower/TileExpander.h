// Expands the tile operations of one kernel. Split over three files: TileExpander.cpp (arithmetic
// on thread indices, regions), ExpandCopyTile.cpp and ExpandFragments.cpp; ExpandTiles.cpp is the
// pass.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "dialects/kernel/Kernel.h"

#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "mlir/IR/Builders.h"
#include "mlir/IR/IRMapping.h"
#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/SmallPtrSet.h"

namespace cameo {

/// A tile operation's region, to be inlined for one element after the other. What may run for
/// elements that are outside is told apart from what may not (loads, above all).
class ElementRegion {
public:
  /// `condition` is the number of the yielded value that says whether an element is inside;
  /// arguments from number `loaded` on are there only for elements that are.
  ElementRegion(mlir::Block &body, unsigned condition, unsigned loaded = ~0u);

  /// What every element may compute, and with `withCondition` also whether it is inside.
  void inlineUnguarded(mlir::OpBuilder &builder, mlir::IRMapping &values, bool withCondition) const;
  /// The rest, for elements that are inside.
  void inlineGuarded(mlir::OpBuilder &builder, mlir::IRMapping &values, bool withCondition) const;
  /// What the region yields for the element of `values`.
  mlir::Value result(mlir::IRMapping &values, unsigned number) const;

private:
  bool isGuarded(mlir::Operation *op, bool withCondition) const;

  mlir::Block &body;
  llvm::SmallPtrSet<mlir::Operation *, 8> conditionSlice;
  llvm::SmallPtrSet<mlir::Operation *, 8> guarded;
};

/// Sources of which a thread loads what a group of neighbouring elements needs, before anything is
/// computed: of each source the whole group at once, pieces of it, or one element for all.
class SourceGroup {
public:
  /// `widths` as tile operations have them.
  SourceGroup(mlir::ValueRange sources, llvm::ArrayRef<int64_t> widths, int64_t vector);

  /// Of what `load` gives.
  llvm::SmallVector<mlir::Type> types() const;
  /// `offset` is asked for the place in a source of one of the group's elements.
  llvm::SmallVector<mlir::Value>
  load(mlir::OpBuilder &builder, mlir::Location loc,
       llvm::function_ref<mlir::Value(unsigned source, int64_t element)> offset) const;
  /// Of a source, the element that was loaded for an element of the group.
  mlir::Value element(mlir::OpBuilder &builder, mlir::Location loc,
                      llvm::ArrayRef<mlir::Value> loaded, unsigned source, int64_t element) const;
  /// Loads of more than one element for all.
  int64_t loads() const;

private:
  struct Source {
    mlir::Value memory;
    mlir::Type element;
    int64_t width, pieces;
    unsigned first; // piece
  };
  llvm::SmallVector<Source> sources;
};

class TileExpander {
public:
  /// `threads` is the size of the kernel's one-dimensional block.
  TileExpander(mlir::gpu::GPUFuncOp function, int64_t threads);

  /// Expands every tile operation of the kernel; errors are emitted.
  mlir::LogicalResult expand();

private:
  using Values = llvm::SmallVector<mlir::Value>;

  // ExpandTiles.cpp: control flow around fragments.
  mlir::LogicalResult expandBlock(mlir::Block &block);
  mlir::LogicalResult expandFor(mlir::Operation *op);
  mlir::LogicalResult expandIf(mlir::Operation *op);
  mlir::LogicalResult expandYield(mlir::Operation *op);
  mlir::FailureOr<Values> flatten(mlir::Operation *op, mlir::ValueRange values);
  mlir::FailureOr<llvm::SmallVector<mlir::Type>> flatten(mlir::Operation *op,
                                                         mlir::TypeRange types);
  void mapResults(mlir::ValueRange from, mlir::ValueRange to);

  // ExpandCopyTile.cpp
  mlir::LogicalResult expandCopy(kernel::CopyTileOp op);
  /// The operation before which what `op` copies is stored: behind the loads of the copies that
  /// follow, so that a thread waits for global memory once.
  mlir::Operation *storePoint(kernel::CopyTileOp op);

  // ExpandFragments.cpp
  mlir::FailureOr<kernel::ThreadTileAttr> layoutOf(mlir::Operation *op, kernel::FragmentType type);
  mlir::LogicalResult expandFill(kernel::FillFragmentOp op);
  mlir::LogicalResult expandContract(kernel::ContractTileOp op);
  mlir::LogicalResult expandStore(kernel::StoreFragmentOp op);

  // TileExpander.cpp: index arithmetic. Nothing wraps around: tiles are far below 2^31.
  mlir::Value constant(int64_t value);
  mlir::Value add(mlir::OpBuilder &builder, mlir::Location loc, mlir::Value a, mlir::Value b);
  mlir::Value add(mlir::OpBuilder &builder, mlir::Location loc, mlir::Value a, int64_t b) {
    return add(builder, loc, a, constant(b));
  }
  mlir::Value mul(mlir::OpBuilder &builder, mlir::Location loc, mlir::Value a, int64_t b);
  mlir::Value divide(mlir::OpBuilder &builder, mlir::Location loc, mlir::Value a, int64_t b);
  mlir::Value remainder(mlir::OpBuilder &builder, mlir::Location loc, mlir::Value a, int64_t b);
  mlir::Value thread();
  /// Thread index / `divisor` and the remainder, times `factor`: each computed once, at the entry.
  mlir::Value threadQuotient(int64_t divisor, int64_t factor);
  mlir::Value threadRemainder(int64_t divisor, int64_t factor);

  mlir::gpu::GPUFuncOp function;
  int64_t threads;
  mlir::OpBuilder entry;
  mlir::Value threadId;
  llvm::DenseMap<int64_t, mlir::Value> constants;
  llvm::DenseMap<std::pair<int64_t, int64_t>, mlir::Value> quotients, remainders;
  llvm::DenseMap<mlir::Value, Values> fragments;
  llvm::DenseMap<mlir::Operation *, mlir::Operation *> storePoints;
  /// Operations that are expanded, users after what they use.
  llvm::SmallVector<mlir::Operation *> expanded;
};

/// A number that divides `value` whatever it is at run time; 0 if the value is 0.
int64_t knownDivisor(mlir::Value value);

/// Bytes an element takes in memory.
int64_t bytesOf(mlir::Type element);

/// What accesses of elements at multiples of `divisor` elements may promise, in bytes: at most the
/// 16 that buffers are aligned to.
int64_t accessAlignment(int64_t divisor, mlir::Type element);

/// Elements as one value: a vector where there are several.
mlir::Value joinElements(mlir::OpBuilder &builder, mlir::Location loc,
                         llvm::ArrayRef<mlir::Value> elements);

/// A load or store of one or more consecutive elements.
mlir::Value loadElements(mlir::OpBuilder &builder, mlir::Location loc, mlir::Value memory,
                         mlir::Value offset, int64_t count, int64_t alignment);
void storeElements(mlir::OpBuilder &builder, mlir::Location loc, mlir::Value values,
                   mlir::Value memory, mlir::Value offset, int64_t alignment);

} // namespace cameo
