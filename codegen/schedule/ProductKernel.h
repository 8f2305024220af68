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
  ProductOffsets(KernelWriter &kernel, const Access &operand);

  /// Offset of loop indices 0; from a base on, what padding takes off.
  mlir::Value constantPart() const { return kernel->isFar ? padding : constant; }
  /// `sum` and the part of `loop` at `index`.
  mlir::Value add(mlir::Value sum, unsigned loop, mlir::Value index) const {
    return distances[loop] ? kernel->add(sum, kernel->mul(index, distances[loop])) : sum;
  }

  /// `sum` and the part of an index that was read from memory.
  mlir::Value addRead(mlir::Value sum, mlir::Value index) const {
    return kernel->add(sum, kernel->mul(index, ofIndex));
  }

  /// The memory from the element at these loop indices on, as it would be without padding.
  mlir::Value memoryFrom(llvm::ArrayRef<mlir::Value> place) const;
  /// Whether steps along these loops, as along one, are equally far apart in memory, so that it is
  /// a multiple of what the innermost one makes.
  bool isEvenAlong(llvm::ArrayRef<unsigned> loops, llvm::ArrayRef<int64_t> ranges) const;
  /// `sum` and the distance that `loop` makes from one index to another.
  mlir::Value addDistance(mlir::Value sum, unsigned loop, mlir::Value from, mlir::Value to) const;

private:
  void takeOffPadding(const Access &operand, llvm::ArrayRef<int64_t> factors, mlir::Value stride);

  KernelWriter *kernel;
  mlir::Value source;
  mlir::AffineMap place;
  llvm::SmallVector<mlir::Value> distances; // by loop; null: the loop does not move it
  mlir::Value constant, padding;            // the former with the latter
  mlir::Value ofIndex; // that a step of the index makes that is read from memory; null: none is
};

/// The order in which a part's sums have the dimensions of the product's: that in which the first
/// result is stored, so that neighbours there are neighbours in each part.
llvm::SmallVector<unsigned> orderOfParts(const Product &product);
/// The place of one of a part's sums, by the product's loops.
mlir::AffineMap placeOfParts(const Product &product);

/// The depth of a product in parts, each of which other blocks sum up.
struct DepthParts {
  int64_t count = 1;
  mlir::Value sums; // where the parts' sums are stored; null where there is one part
  unsigned dim = 0; // of that, along which parts are
};

/// A kernel of which each block computes a tile of rows by columns.
class ProductKernel {
protected:
  ProductKernel(KernelWriter &kernel, const Product &product, int64_t tileRows, int64_t tileColumns,
                const DepthParts &parts = {});

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
  /// Of this many steps of depth, the first one of the block's part, and how many it has.
  std::pair<mlir::Value, mlir::Value> stepsOfPart(mlir::Value steps);
  /// Loop indices of the block's batch, and 0 for all others.
  llvm::SmallVector<mlir::Value> placeOfBatch();

  //===-- Operands ----------------------------------------------------------------------------===//
  /// What is beside an operand's elements, as one of `type`.
  mlir::Value paddingOf(const Operand &operand, mlir::Type type);
  /// An operand's elements as `type`, from fragments of what it reads; where it is not memory as it
  /// is, the last of them is whether elements are inside.
  mlir::Value computeOperand(const Operand &operand, llvm::ArrayRef<mlir::Value> loaded,
                             mlir::Type type);

  /// Of each of an operand's reads at an index that is in memory: those of the tile's `size` rows or
  /// columns from `start` on, in shared memory, where each of them is read once. Null for others.
  llvm::SmallVector<mlir::Value> stageIndices(const Operand &operand,
                                              llvm::ArrayRef<unsigned> across, mlir::Value start,
                                              int64_t size, int64_t threads);
  /// `sum` and the part of the index of row or column `local` of the tile.
  mlir::Value addStaged(mlir::Value sum, const ProductOffsets &offsets, mlir::Value staged,
                        mlir::Value local);

  //===-- Results -----------------------------------------------------------------------------===//
  /// Loop indices of a row and a column.
  llvm::SmallVector<mlir::Value> placeOf(mlir::Value row, mlir::Value column);
  /// Which rows of the block's tile a fragment has: groups of `together` rows, from `first` on and
  /// `apart` from one to the next. Where these are equal, all rows.
  struct Rows {
    int64_t first = 0, together = 0, apart = 0;
  };
  /// Elements of a result that are stored at once, `most` at most.
  int64_t storeWidth(size_t number, int64_t most);
  /// Values of the description, and the fragments that have their elements; the sums come first.
  using Kept = llvm::SmallVector<std::pair<mlir::Value, mlir::Value>>;
  /// What a fragment of whole rows is computed to on the way to the results, from its sums and what
  /// `loadForSteps` has loaded for it: before the sums are there, so that nothing waits.
  Kept computeSteps(mlir::Value sums, llvm::ArrayRef<mlir::Value> loaded, const Rows &rows);
  llvm::SmallVector<mlir::Value> loadForSteps(kernel::FragmentType sums, const Rows &rows);
  /// Stores a result of the dispatch, of whose product these are sums, `vector` elements at once at
  /// most; from what is kept of them, where it has steps.
  void store(const Kept &kept, size_t number, int64_t vector, const Rows &rows);
  /// The same of a part's sums, which others add to the rest.
  void storePart(mlir::Value sums, int64_t vector, const Rows &rows);
  /// The same of neighbours along columns from a row and a column on, which are a thread's.
  void storePartAt(mlir::Value row, mlir::Value column, llvm::ArrayRef<mlir::Value> sums);

  KernelWriter &kernel;
  mlir::OpBuilder &b;
  mlir::Location loc;
  const Product &product;
  DepthParts parts;
  int64_t tileRows, tileColumns;
  llvm::SmallVector<mlir::Value> extents, loops; // of all loops; indices of those of the batch
  mlir::Value rows, columns;                     // in all
  mlir::Value rowStart, columnStart;             // of the block's tile
  mlir::Value rowPadding, columnPadding;         // null: zero
  mlir::Value depthPart;                         // that the block sums up

private:
  /// Where the tile begins, of a far kernel; nothing of others.
  struct Origin {
    llvm::SmallVector<mlir::Value> loops, root; // indices

    /// Memory of a tensor, in which `map` has the places, from where the tile begins on.
    mlir::Value memory(KernelWriter &kernel, mlir::Value tensor, mlir::AffineMap map,
                       llvm::ArrayRef<mlir::Value> from) const;
    /// From there on, of what is at other indices.
    mlir::Value offset(KernelWriter &kernel, mlir::Value tensor, mlir::AffineMap map,
                       llvm::ArrayRef<mlir::Value> from, llvm::ArrayRef<mlir::Value> at) const;
  };
  Origin originOfTile();
  /// Sizes of the parts' sums; indices of one of the block's part; those that are together in memory,
  /// `most` at most.
  llvm::SmallVector<mlir::Value> sizesOfParts();
  llvm::SmallVector<mlir::Value> placeInParts(mlir::Value row, mlir::Value column);
  int64_t widthOfParts(int64_t most);
  mlir::Value computeInside(const Operand &operand, mlir::ValueRange loaded);
  mlir::Value rowOf(mlir::Value row, const Rows &rows);
  mlir::Value reduceRows(const RowStep &step, const Kept &kept, llvm::ArrayRef<mlir::Value> loaded);
  mlir::Value computeStep(const RowStep &step, const Kept &kept,
                          llvm::ArrayRef<mlir::Value> loaded);
  void describeReads(kernel::StoreFragmentOp store, const Elementwise &work, const Rows &rows,
                     const Origin &origin);
  mlir::Value pullElement(mlir::Value result, mlir::ValueRange indices, mlir::Value accumulated,
                          mlir::Value inside);
};

/// Elements of the dispatch's result `number` that may be stored at once, `most` at most.
int64_t storeVector(const Product &product, size_t number, int64_t most);

} // namespace cameo
