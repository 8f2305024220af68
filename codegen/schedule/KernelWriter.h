// A kernel being written: what schedule classes write kernels with.
//
// A dispatch's body describes tensors; a kernel computes elements. `KernelWriter` has one gpu.func with
// the dispatch's operands as arguments, and evaluates the description by pulling: the element of a
// tensor at an index is loaded, or computed by inlining the operation that describes it, reductions
// as loops. Pulled again, it is what it was the first time, unless that is in a branch or a loop. A
// schedule decides which thread pulls which elements and keeps what it has computed (`keep`), so
// that later pulls find it.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "dialects/kernel/Kernel.h"

#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/IRMapping.h"
#include "llvm/ADT/SetVector.h"

#include <functional>
#include <unordered_map>

namespace cameo {

class KernelEmitter;

/// Threads of a warp.
inline constexpr int64_t kWarp = 32;

/// Where the elements of a dispatch's operand are in its memory, which begins with the first one.
struct OperandLayout {
  /// Elements from one to the next along each dimension, kDynamic where known at run time only;
  /// nothing where everything is row-major in one piece.
  llvm::SmallVector<int64_t> strides;
  /// A power of two of elements: accesses of more than these are not aligned, or leave the pieces
  /// that the operand consists of. Of memory of its own more than any access has.
  int64_t alignment = 32;
  bool isContiguous() const { return strides.empty(); }
};

/// Inputs and destinations that are not in memory of their own, as block arguments.
llvm::SmallVector<mlir::BlockArgument> viewsOf(kernel::DispatchOp op);

/// Of an input or destination, by the dispatch's block argument.
OperandLayout operandLayout(kernel::DispatchOp op, mlir::Value blockArgument);

/// The dimension along which neighbours are consecutive in memory: the last of more than one
/// element.
int64_t laneDimension(mlir::RankedTensorType type);

/// Neighbours that are computed together, along a dimension of what they are of.
struct Lanes {
  int64_t count = 1, along = -1;
};

/// Whether `lanes` neighbours along `laneDimension` share each loop that computes them: a reduction
/// then reads an input of its in vectors. So it is of what has no loops.
bool loopsTogether(mlir::Value tensor, int64_t lanes);

/// A kernel being written. Methods emit at `b`'s insertion point, inside the function.
class KernelWriter {
public:
  mlir::OpBuilder b;
  mlir::Location loc;
  kernel::DispatchOp op;

  //===-- Sizes -------------------------------------------------------------------------------===//
  /// Size of a tensor of the description along a dimension, as an index value.
  mlir::Value size(mlir::Value tensor, int64_t dim);
  mlir::Value constant(int64_t value);
  mlir::Value add(mlir::Value a, mlir::Value c);
  mlir::Value mul(mlir::Value a, mlir::Value c);
  /// Index into a row-major tensor of these sizes.
  mlir::Value linearize(mlir::ValueRange indices, llvm::ArrayRef<mlir::Value> sizes);
  /// Indices of element `flat` of a row-major tensor of these sizes.
  llvm::SmallVector<mlir::Value> delinearize(mlir::Value flat, llvm::ArrayRef<mlir::Value> sizes);
  /// From now on `index` is known to be less than `bound`.
  void setBelow(mlir::Value index, int64_t bound) { bounds[index] = bound; }
  /// The same for an element that many tensors of these sizes may be read at: their offset is
  /// known.
  llvm::SmallVector<mlir::Value> placeOf(mlir::Value flat, llvm::ArrayRef<mlir::Value> sizes);
  llvm::SmallVector<mlir::Value> sizes(mlir::Value tensor);
  /// Loop extents of a linalg operation.
  llvm::SmallVector<mlir::Value> loopSizes(mlir::linalg::LinalgOp op);

  //===-- Elements ----------------------------------------------------------------------------===//
  /// The element of a tensor of the description at indices. Null after an error was emitted.
  mlir::Value element(mlir::Value tensor, mlir::ValueRange indices);
  /// `lanes` elements from indices on along `laneDimension`, which they do not leave; the index
  /// there is a multiple of `lanes`.
  llvm::SmallVector<mlir::Value> elements(mlir::Value tensor, mlir::ValueRange indices,
                                          int64_t lanes);
  /// Input scalars of a linalg.generic's body for `lanes` loop indices from `loops` on along
  /// `dim`, whose index is a multiple of `lanes`: one list per input, empty for those it does not use.
  llvm::SmallVector<llvm::SmallVector<mlir::Value>> inputs(mlir::linalg::GenericOp generic,
                                                           llvm::ArrayRef<mlir::Value> loops,
                                                           unsigned dim, int64_t lanes);
  /// The same of one of its inputs.
  llvm::SmallVector<mlir::Value> input(mlir::OpOperand *operand, llvm::ArrayRef<mlir::Value> loops,
                                       unsigned dim, int64_t lanes);
  /// Runs `emit`, during which last dimensions known only at run time are taken for multiples of
  /// the lanes asked for. Returns those whose being so was used: arguments of the kernel.
  llvm::SetVector<mlir::Value> assumingMultiples(llvm::function_ref<void()> emit);
  /// Results of a linalg.generic's body for given loop indices and input and output scalars.
  llvm::SmallVector<mlir::Value> inlineBody(mlir::linalg::GenericOp generic, mlir::ValueRange loops,
                                            mlir::ValueRange arguments);
  /// The values that a block of scalars ends with for these arguments, of which it need not have all; it may
  /// ask for the indices of `loops`.
  llvm::SmallVector<mlir::Value> inlineBlock(mlir::Block *body, mlir::ValueRange loops,
                                             mlir::ValueRange arguments);
  /// A value that a linalg.generic's body computes from loop indices, memory and scalars alone.
  mlir::Value bodyValue(mlir::linalg::GenericOp generic, mlir::ValueRange loops, mlir::Value value);
  /// Affine map applied to loop indices.
  llvm::SmallVector<mlir::Value> apply(mlir::AffineMap map, mlir::ValueRange dims);
  mlir::Value apply(mlir::AffineExpr expr, mlir::ValueRange dims);
  /// What a padded tensor has beside its source.
  mlir::Value padding(mlir::tensor::PadOp pad);
  /// How far dimension `dim` of the source begins behind the padded tensor's; null where it is not
  /// padded at either end.
  mlir::Value lowPad(mlir::tensor::PadOp pad, int64_t dim);
  /// From now on elements of `tensor` are what `fn` gives.
  void keep(mlir::Value tensor, std::function<mlir::Value(mlir::ValueRange indices)> fn);
  /// The same where each of several elements of a result that are computed at once needs one of
  /// `tensor`: these.
  void keepLanes(mlir::Value tensor, llvm::ArrayRef<mlir::Value> lanes);
  /// Calls `visit` for each of several elements that are computed at once: what it pulls is for that
  /// one.
  void forEachLane(int64_t lanes, llvm::function_ref<void(int64_t lane)> visit);

  //===-- Memory ------------------------------------------------------------------------------===//
  /// Memory of an input or destination of the dispatch (its block argument).
  mlir::Value memory(mlir::Value blockArgument) { return memories.lookup(blockArgument); }
  /// A value of the dispatch's body that is not a tensor.
  mlir::Value scalar(mlir::Value value) { return mapping.lookupOrDefault(value); }
  /// Offset of an element of an input or destination (its block argument): all accesses to global
  /// memory are made with this, or with strides.
  mlir::Value offset(mlir::Value blockArgument, mlir::ValueRange indices);
  /// Elements from one to the next along dimension `dim - 1`, given those along `dim`.
  mlir::Value outerStride(mlir::Value blockArgument, int64_t dim, mlir::Value stride);
  const OperandLayout &layout(mlir::Value blockArgument) { return layouts[blockArgument]; }
  /// `offset` in 64 bits, of indices that have fewer.
  mlir::Value wideOffset(mlir::Value blockArgument, mlir::ValueRange indices);
  /// The same in a row-major tensor of these sizes.
  mlir::Value wideOffset(mlir::ValueRange indices, llvm::ArrayRef<mlir::Value> sizes);
  /// The same memory from an element on, whose number has 64 bits.
  mlir::Value advanced(mlir::Value memory, mlir::Value offset);
  /// Where an element is: memory, and an offset from there on. That is small where the kernel is
  /// far: the rest is in the memory.
  struct Address {
    mlir::Value memory, offset;
  };
  Address address(mlir::Value blockArgument, mlir::ValueRange indices);
  /// As a number of 64 bits.
  mlir::Value wide(mlir::Value index);
  /// Declares static shared memory of the block.
  mlir::Value sharedMemory(int64_t elements, mlir::Type type);
  /// A tile in shared memory of its own, or where others are.
  mlir::TypedValue<kernel::TileType> tile(kernel::TileType type, mlir::ValueRange over = {});
  /// Aligned vector load or store at an element offset; a store of more than 16 bytes is several.
  mlir::Value loadVector(mlir::Value memory, mlir::Value offset, int64_t lanes);
  void storeVector(mlir::Value memory, mlir::Value offset, llvm::ArrayRef<mlir::Value> lanes);
  /// `lanes` elements from an offset on that is a multiple of them, by vectors of up to 16 bytes.
  llvm::SmallVector<mlir::Value> load(mlir::Value memory, mlir::Value offset, int64_t lanes);

  //===-- Threads -----------------------------------------------------------------------------===//
  mlir::Value threadId();
  mlir::Value blockId(mlir::gpu::Dimension dim = mlir::gpu::Dimension::x);

  mlir::gpu::GPUFuncOp function;
  mlir::Value launchNumber;  // of a kernel that is launched several times in a row; null: of others
  bool synchronises = false; // uses barriers, shuffles or shared memory
  bool broken = false;       // an error was emitted
  int64_t ownSharedBytes = 0; // of sharedMemory
  bool storesOnce = false;    // no element of a destination is written twice in a launch
  /// Operands may be longer than offsets reach: these count from memory that has been `advanced`,
  /// to where a tile begins or to the element.
  bool isFar = false;

private:
  friend class KernelEmitter;
  KernelWriter(kernel::DispatchOp op, mlir::OpBuilder b) : b(b), loc(op.getLoc()), op(op) {}
  mlir::Value computeElement(mlir::Value tensor, mlir::ValueRange indices);
  llvm::SmallVector<mlir::Value> elementsAlong(mlir::Value tensor, mlir::ValueRange indices,
                                               Lanes lanes);
  llvm::SmallVector<mlir::Value> computeElements(mlir::Value tensor, mlir::ValueRange indices,
                                                 Lanes lanes);
  llvm::SmallVector<mlir::Value> inlineGeneric(mlir::OpResult result, mlir::ValueRange indices,
                                               Lanes lanes);
  llvm::SmallVector<mlir::Value> inputsAt(mlir::linalg::GenericOp generic, mlir::ValueRange loops);
  llvm::SmallVector<mlir::Value> inlineLoops(mlir::OpResult result, mlir::ValueRange indices,
                                             Lanes lanes);
  llvm::SmallVector<mlir::Value> inlinePad(mlir::tensor::PadOp pad, mlir::ValueRange indices,
                                           Lanes lanes);
  llvm::SmallVector<mlir::Value> forLanes(int64_t lanes,
                                          llvm::function_ref<mlir::Value(int64_t)> compute);
  /// Where an element of a reshape, a slice or a cast comes from.
  struct Moved {
    mlir::Value source;
    llvm::SmallVector<mlir::Value> indices;
  };
  Moved moved(mlir::Operation *definition, mlir::ValueRange indices);
  mlir::Value inlineScan(kernel::ScanOp scan, mlir::ValueRange indices);
  void copyScalarOps();
  mlir::Value replacement(mlir::Operation *op);
  void inlineOperation(mlir::Operation &operation, mlir::ValueRange loops);

  llvm::DenseMap<mlir::Value, mlir::Value> memories;
  llvm::DenseMap<mlir::Value, OperandLayout> layouts; // of those with memories
  llvm::DenseMap<mlir::Value, int64_t> alignments;    // by memory, see OperandLayout
  llvm::DenseMap<std::pair<mlir::Value, int64_t>, mlir::Value> dynamicSizes;
  llvm::DenseMap<std::pair<mlir::Value, int64_t>, mlir::Value> dynamicStrides;
  int64_t alignmentOf(mlir::Value memory, int64_t lanes);
  llvm::DenseMap<mlir::Value, int64_t> bounds;        // of indices, see setBelow
  std::unordered_map<int64_t, mlir::Value> constants; // any: no key is a sentinel
  /// What placeOf was called with last, and what it gave.
  struct {
    mlir::Value flat;
    llvm::SmallVector<mlir::Value> sizes, indices;
  } place;
  llvm::DenseMap<mlir::Value, std::function<mlir::Value(mlir::ValueRange)>> kept;
  mlir::IRMapping mapping;
  int64_t lane = 0; // of several elements at once, which is being computed

  /// Elements from these indices on that were loaded or computed.
  struct Computed {
    llvm::SmallVector<mlir::Value> indices, values;
    int64_t along;
  };
  /// Whether the value can be used at the insertion point: it may be in a branch or a loop.
  bool isVisible(mlir::Value value);
  /// What `compute` has given for the same before, or gives now.
  llvm::SmallVector<mlir::Value> once(mlir::Value tensor, mlir::ValueRange indices, Lanes lanes,
                                      llvm::function_ref<llvm::SmallVector<mlir::Value>()> compute);
  /// By tensor and hash of indices and lanes.
  llvm::DenseMap<std::pair<mlir::Value, size_t>, llvm::SmallVector<Computed, 1>> computed;

  llvm::SetVector<mlir::Value> *assumed = nullptr; // see assumingMultiples
};

} // namespace cameo
