// Expands the tile operations of one kernel. Split over the files of this folder: ExpandTiles.cpp
// is the pass and control flow; TileExpander.cpp has arithmetic on thread numbers and values; the
// others have the operations.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "codegen/lower/tile/ElementRegion.h"
#include "codegen/lower/tile/MatrixLoads.h"
#include "dialects/kernel/Kernel.h"

#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/IR/Builders.h"
#include "llvm/ADT/DenseMap.h"

#include <unordered_map>

namespace cameo {

class TileExpander {
public:
  using Values = llvm::SmallVector<mlir::Value>;

  /// `threads` is the size of the kernel's one-dimensional block.
  TileExpander(mlir::gpu::GPUFuncOp function, int64_t threads);

  /// Expands every tile operation of the kernel; errors are emitted.
  mlir::LogicalResult expand();

private:
  // ExpandTiles.cpp: control flow around fragments.
  mlir::LogicalResult expandBlock(mlir::Block &block);
  mlir::LogicalResult expandFor(mlir::scf::ForOp loop);
  mlir::LogicalResult expandIf(mlir::scf::IfOp branch);
  mlir::LogicalResult expandYield(mlir::Operation *op);
  mlir::FailureOr<Values> flatten(mlir::Operation *op, mlir::ValueRange values);
  mlir::FailureOr<llvm::SmallVector<mlir::Type>> flatten(mlir::Operation *op,
                                                         mlir::TypeRange types);
  void mapResults(mlir::ValueRange from, mlir::ValueRange to);

  // SharedTiles.cpp
  mlir::LogicalResult placeTiles();
  // LoadGlobal.cpp
  mlir::LogicalResult expand(kernel::LoadGlobalOp op);
  mlir::LogicalResult expand(kernel::CopyAsyncOp op);
  // Fragments.cpp
  mlir::LogicalResult expand(kernel::FillFragmentOp op);
  mlir::LogicalResult expand(kernel::MapFragmentOp op);
  mlir::LogicalResult expand(kernel::WriteTileOp op);
  mlir::LogicalResult expand(kernel::LoadFragmentOp op);
  mlir::LogicalResult expand(kernel::SliceFragmentOp op);
  // Contract.cpp
  mlir::LogicalResult expand(kernel::ContractOp op);
  mlir::LogicalResult contractThreads(kernel::ContractOp op, kernel::ThreadTileAttr layout);
  mlir::LogicalResult contractWarps(kernel::ContractOp op);
  // ReduceRows.cpp
  mlir::LogicalResult expand(kernel::ReduceRowsOp op);
  // StoreFragment.cpp
  mlir::LogicalResult expand(kernel::StoreFragmentOp op);

  /// A fragment's values in a thread.
  const kernel::Spread &spreadOf(kernel::FragmentType type);
  /// The same, if it is spread over as many threads as the block has.
  mlir::FailureOr<const kernel::Spread *> spreadOf(mlir::Operation *op, kernel::FragmentType type);
  mlir::Type valueType(kernel::FragmentType type);

  /// Where the elements of a tile's stage are, from a row and a column on.
  struct Part {
    kernel::TileType type;
    mlir::Value memory, stage, row, col;
  };
  /// An element of shared memory, and a number that divides its offset.
  struct Element {
    mlir::Value offset;
    int64_t divisor;
  };
  /// The element at a place of a fragment that lies on the part.
  Element elementAt(mlir::OpBuilder &builder, mlir::Location loc, const Part &part,
                    const kernel::Place &place);
  Element stridedElement(mlir::OpBuilder &builder, mlir::Location loc, const Part &part,
                         const kernel::Place &place, kernel::StridedAttr layout);
  Element swizzledElement(mlir::OpBuilder &builder, mlir::Location loc, const Part &part,
                          const kernel::Place &place, kernel::SwizzleAttr layout);
  mlir::Value swizzled(mlir::OpBuilder &builder, mlir::Location loc, kernel::TileType type,
                       mlir::Value line, mlir::Value along);
  Element stagedElement(mlir::OpBuilder &builder, mlir::Location loc, const Part &part,
                        const kernel::Place &place, kernel::StagedAttr layout);
  mlir::Value staged(mlir::OpBuilder &builder, mlir::Location loc, kernel::TileType type,
                     mlir::Value row, mlir::Value column);
  /// How many neighbours in a value, the first of which is there, are neighbours in the tile, which
  /// is accessed by so many at once.
  static int64_t runOf(const kernel::Spread &spread, kernel::TileType tile, const Element &first);

  // TileExpander.cpp: index arithmetic. Nothing wraps around: tiles are far below 2^31.
  mlir::Value constant(int64_t value);
  mlir::Value add(mlir::OpBuilder &builder, mlir::Location loc, mlir::Value a, mlir::Value b);
  mlir::Value add(mlir::OpBuilder &builder, mlir::Location loc, mlir::Value a, int64_t b) {
    return add(builder, loc, a, constant(b));
  }
  mlir::Value mul(mlir::OpBuilder &builder, mlir::Location loc, mlir::Value a, int64_t b);
  mlir::Value divide(mlir::OpBuilder &builder, mlir::Location loc, mlir::Value a, int64_t b);
  mlir::Value remainder(mlir::OpBuilder &builder, mlir::Location loc, mlir::Value a, int64_t b);
  /// An expression of the thread's number, computed once, at the entry.
  mlir::Value atThread(mlir::AffineExpr expr);
  mlir::Value rowOf(mlir::OpBuilder &builder, mlir::Location loc, const kernel::Place &place) {
    return add(builder, loc, atThread(place.row), place.rowOffset);
  }
  mlir::Value colOf(mlir::OpBuilder &builder, mlir::Location loc, const kernel::Place &place) {
    return add(builder, loc, atThread(place.column), place.columnOffset);
  }
  /// Whether the thread has the value; null where every thread has.
  mlir::Value holds(const kernel::Place &place);

  mlir::gpu::GPUFuncOp function;
  int64_t threads;
  mlir::OpBuilder entry;
  std::unordered_map<int64_t, mlir::Value> constants, holders; // any: no key is a sentinel
  llvm::DenseMap<mlir::AffineExpr, mlir::Value> threadValues;
  llvm::DenseMap<mlir::Type, std::unique_ptr<kernel::Spread>> spreads;
  llvm::DenseMap<mlir::Value, Values> fragments;
  llvm::DenseMap<mlir::Value, mlir::Value> tiles; // their memory
  /// Where the thread's part of a stage begins.
  llvm::DenseMap<std::tuple<mlir::Value, int64_t, mlir::AffineExpr>, mlir::Value> stageParts;
  /// The thread's part of offsets in a swizzled stage, by line and position in it.
  llvm::DenseMap<std::tuple<mlir::Type, mlir::AffineExpr, mlir::AffineExpr>, mlir::Value>
      swizzledParts;
  /// The same in a staged one, by row and column, with a number that it is combined with; and the
  /// block where that is known, which is not the entry: results are stored behind a long loop.
  llvm::DenseMap<std::tuple<mlir::Block *, mlir::Type, mlir::AffineExpr, mlir::AffineExpr, int64_t>,
                 mlir::Value>
      stagedParts;
  std::optional<MatrixLoads> matrixLoads;
  /// Operations that are expanded, users after what they use.
  llvm::SmallVector<mlir::Operation *> expanded;
};

/// Bytes an element takes in memory.
int64_t bytesOf(mlir::Type element);

/// What accesses of elements at multiples of `divisor` elements may promise, in bytes: at most the
/// 16 that buffers are aligned to.
int64_t accessAlignment(int64_t divisor, mlir::Type element);

/// An element of a value: of a vector where there are several.
mlir::Value elementOf(mlir::OpBuilder &builder, mlir::Location loc, mlir::Value value, int64_t i);
/// Elements as one value: a vector where there are several.
mlir::Value joinElements(mlir::OpBuilder &builder, mlir::Location loc,
                         llvm::ArrayRef<mlir::Value> elements);
/// One element as a value of that type.
mlir::Value splat(mlir::OpBuilder &builder, mlir::Location loc, mlir::Type type, mlir::Value value);

/// A load or store of one or more consecutive elements.
mlir::Value loadElements(mlir::OpBuilder &builder, mlir::Location loc, mlir::Value memory,
                         mlir::Value offset, int64_t count, int64_t alignment);
void storeElements(mlir::OpBuilder &builder, mlir::Location loc, mlir::Value values,
                   mlir::Value memory, mlir::Value offset, int64_t alignment);

} // namespace cameo
