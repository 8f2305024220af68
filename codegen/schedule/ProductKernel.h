// What kernels of products share: indices of a block's tile, where operands' elements are, and how
// results are stored.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "codegen/schedule/KernelEmitter.h"
#include "dialects/kernel/form/Product.h"

namespace cameo {

/// Offsets into memory that an operand reads as a sum over loops, each with the distance that a
/// step of it makes: so the part of each loop is computed where that loop's index is known.
class ProductOffsets {
public:
  ProductOffsets(Kernel &kernel, const Access &operand);

  /// Offset of loop indices 0.
  mlir::Value constantPart() const { return constant; }
  /// `sum` and the part of `loop` at `index`.
  mlir::Value add(mlir::Value sum, unsigned loop, mlir::Value index) const {
    return distances[loop] ? kernel->add(sum, kernel->mul(index, distances[loop])) : sum;
  }

private:
  void takeOffPadding(const Access &operand, llvm::ArrayRef<int64_t> factors, mlir::Value stride);

  Kernel *kernel;
  llvm::SmallVector<mlir::Value> distances; // by loop; null: the loop does not move it
  mlir::Value constant;
};

/// A kernel of which each block computes a tile of rows by columns.
class ProductKernel {
protected:
  ProductKernel(Kernel &kernel, const Product &product, int64_t tileRows, int64_t tileColumns);

  //===-- Indices -----------------------------------------------------------------------------===//
  llvm::SmallVector<mlir::Value> sizesOf(llvm::ArrayRef<unsigned> group);
  /// Steps of all these loops together.
  mlir::Value total(llvm::ArrayRef<unsigned> group);
  mlir::Value tilesOf(mlir::Value extent, int64_t size);
  /// Writes the indices of these loops, of which `index` is the flat one.
  void spread(llvm::ArrayRef<unsigned> group, mlir::Value index,
              llvm::SmallVector<mlir::Value> &place);
  mlir::Value below(mlir::Value index, mlir::Value bound);
  /// The same of what is in a tile of `size`; known where the bound is a multiple of that.
  mlir::Value isIn(mlir::Value index, mlir::Value bound, int64_t size);
  /// Loop indices of the block's batch, and 0 for all others.
  llvm::SmallVector<mlir::Value> placeOfBatch();

  //===-- Operands ----------------------------------------------------------------------------===//
  /// What is beside an operand's elements, as one of `type`.
  mlir::Value paddingOf(const Operand &operand, mlir::Type type);
  /// An operand's elements as `type`, from fragments of what it reads; where it is not memory as it
  /// is, the last of them is whether elements are inside.
  mlir::Value computeOperand(const Operand &operand, llvm::ArrayRef<mlir::Value> loaded,
                             mlir::Type type);

  //===-- Results -----------------------------------------------------------------------------===//
  /// Which rows of the block's tile a fragment has: groups of `together` rows, from `first` on and
  /// `apart` from one to the next. Where these are equal, all rows.
  struct Rows {
    int64_t first = 0, together = 0, apart = 0;
  };
  /// Elements of a result that are stored at once, `most` at most.
  int64_t storeWidth(size_t number, int64_t most);
  /// Stores a result of the dispatch, of whose product these are sums, `vector` elements at once at
  /// most.
  void store(mlir::Value sums, size_t number, int64_t vector, const Rows &rows);

  Kernel &kernel;
  mlir::OpBuilder &b;
  mlir::Location loc;
  const Product &product;
  int64_t tileRows, tileColumns;
  llvm::SmallVector<mlir::Value> extents, loops; // of all loops; indices of those of the batch
  mlir::Value rows, columns;                     // in all
  mlir::Value rowStart, columnStart;             // of the block's tile
  mlir::Value rowPadding, columnPadding;         // null: zero

private:
  mlir::Value computeInside(const Operand &operand, mlir::ValueRange loaded);
  llvm::SmallVector<mlir::Value> placeOf(mlir::Value row, mlir::Value column);
  mlir::Value rowOf(mlir::Value row, const Rows &rows);
  std::optional<Elementwise> workOf(const Epilogue &epilogue);
  void describeReads(kernel::StoreFragmentOp store, const Elementwise &work, const Rows &rows);
  mlir::Value pullElement(mlir::Value result, mlir::ValueRange indices, mlir::Value accumulated,
                          mlir::Value inside);
};

/// Elements of the dispatch's result `number` that may be stored at once, `most` at most.
int64_t storeVector(const Product &product, size_t number, int64_t most);

} // namespace cameo
