// Writing kernels of products.
//
// Two stages a tile, so that an iteration needs one barrier: what the next step needs is loaded
// before the products of this one and, where a thread has many of them, written to the other stage
// behind them, so that they do not wait for global memory.
//
// SPDX-License-Identifier: Apache-2.0
#include "codegen/schedule/ContractionKernel.h"

#include "codegen/schedule/Sources.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"

using namespace mlir;

namespace cameo {
namespace {

/// Steps of depth that are written out; deeper tiles are multiplied by kSteps in a loop.
constexpr int64_t kWrittenDepth = 16;
constexpr int64_t kSteps = 4;

/// Products of a thread in a step of depth from which on what is loaded stays in registers
/// meanwhile. Threads with fewer leave room for more warps, which multiply while one waits. No GPU
/// has confirmed the number: with a lower one the simulator takes a sixth longer (ResNet-50, one
/// image), which says nothing of a GPU.
constexpr int64_t kProductsAhead = 64;
/// Elements of a thread that do so at most: more, beside 64 sums and their places, do not fit.
constexpr int64_t kElementsAhead = 32;

/// Loads of a thread that others wait for together.
constexpr int64_t kLoadsInFlight = 8;

/// An operand as a block copies it: its place in the product and in shared memory.
struct Copied {
  const Operand &operand;
  bool isRow;                // of the product, not its column
  ArrayRef<unsigned> across; // its loops of rows or columns
  Value start;               // of the tile, along these
  int64_t size;              // of the tile, along these
  ContractionVectors::Copy vector;
  TypedValue<kernel::TileType> tile;
  SmallVector<Value> indices; // see stageIndices
};

class ContractionEmitter : ProductKernel {
public:
  ContractionEmitter(KernelWriter &kernel, const Product &product, const ContractionTile &tile,
                     const ContractionVectors &vectors, const DepthParts &parts)
      : ProductKernel(kernel, product, tile.rows, tile.columns, parts), tile(tile),
        vectors(vectors) {}

  void emit() {
    kernel.storesOnce = true;
    Value depth = total(product.depth);
    // Depth by depth, so that a step's elements are consecutive.
    Copied row{product.row,
               true,
               product.rows,
               rowStart,
               tile.rows,
               vectors.row,
               tileOf(tile.rows, tile.depth, {1, tile.rowStride()}),
               stageIndices(product.row, product.rows, rowStart, tile.rows, tile.threads())};
    Copied column{
        product.column,
        false,
        product.columns,
        columnStart,
        tile.columns,
        vectors.column,
        tileOf(tile.depth, tile.columns, {tile.columnStride(), 1}),
        stageIndices(product.column, product.columns, columnStart, tile.columns, tile.threads())};
    Value sums = multiply(row, column, depth);
    if (parts.sums)
      return storePart(sums, std::min(vectors.store, kGroup), Rows{});
    SmallVector<Value> loaded = loadForSteps(cast<kernel::FragmentType>(sums.getType()), Rows{});
    Kept kept = computeSteps(sums, loaded, Rows{});
    for (size_t number = 0; number < product.epilogues.size(); ++number)
      store(kept, number, std::min(vectors.store, kGroup), Rows{});
  }

private:
  //===-- Copies and products -----------------------------------------------------------------===//

  TypedValue<kernel::TileType> tileOf(int64_t rows, int64_t columns,
                                      std::pair<int64_t, int64_t> strides) {
    auto layout = kernel::StridedAttr::get(b.getContext(), strides.first, strides.second);
    return kernel.tile(
        kernel::TileType::get(b.getContext(), rows, columns, product.sumType, layout, 2));
  }

  kernel::FragmentType fragment(int64_t rows, int64_t columns, Type element,
                                kernel::FragmentLayoutInterface layout) {
    return kernel::FragmentType::get(b.getContext(), rows, columns, element, layout);
  }

  /// The sums of the tile, along all of the depth.
  Value multiply(const Copied &row, const Copied &column, Value depth) {
    auto layout = kernel::ThreadTileAttr::get(b.getContext(), tile.rows / tile.threadRows,
                                              tile.columns / tile.threadColumns, tile.threadRows,
                                              tile.threadColumns, kGroup);
    kernel::FragmentType type = fragment(tile.rows, tile.columns, product.sumType, layout);
    Value zero = b.create<arith::ConstantOp>(loc, b.getZeroAttr(product.sumType));
    Value sum = b.create<kernel::FillFragmentOp>(loc, type, zero);
    auto [first, steps] = stepsOfPart(tilesOf(depth, tile.depth));
    auto fill = [&, first = first](Value step, Value stage, function_ref<void()> meanwhile) {
      Value start = kernel.mul(kernel.add(first, step), kernel.constant(tile.depth));
      SmallVector<Value> ofRow = load(row, start);
      // Both operands' loads before the first is waited for, if they are few.
      bool isApart = !meanwhile && loadsOf(row) + loadsOf(column) > kLoadsInFlight;
      if (isApart)
        write(row, ofRow, stage);
      SmallVector<Value> ofColumn = load(column, start);
      if (meanwhile)
        meanwhile();
      if (!isApart)
        write(row, ofRow, stage);
      write(column, ofColumn, stage);
    };
    fill(kernel.constant(0), kernel.constant(0), {});
    auto loop = b.create<scf::ForOp>(loc, kernel.constant(0), steps, kernel.constant(1), sum);
    OpBuilder::InsertionGuard guard(b);
    b.setInsertionPointToStart(loop.getBody());
    Value step = loop.getInductionVar();
    // All have written this step's stage and are done with the other one.
    b.create<gpu::BarrierOp>(loc);
    Value next = b.create<arith::AddIOp>(loc, step, kernel.constant(1));
    Value stage = b.create<arith::RemUIOp>(loc, step, kernel.constant(2));
    Value other = b.create<arith::SubIOp>(loc, kernel.constant(1), stage);
    Value result;
    auto multiply = [&] {
      result = multiplyStage(row, column, stage, loop.getRegionIterArgs()[0]);
    };
    bool isAhead = tile.threadRows * tile.threadColumns >= kProductsAhead &&
                   (tile.rows + tile.columns) * tile.depth <= kElementsAhead * tile.threads();
    fill(next, other, isAhead ? function_ref<void()>(multiply) : function_ref<void()>());
    if (!isAhead)
      multiply();
    b.create<scf::YieldOp>(loc, result);
    return loop.getResult(0);
  }

  /// `sums` and the products of a stage of the tiles.
  Value multiplyStage(const Copied &row, const Copied &column, Value stage, Value sums) {
    auto type = cast<kernel::FragmentType>(sums.getType());
    auto accumulators = cast<kernel::AccumulatorLayoutInterface>(type.getLayout());
    auto operand = [&](int64_t number, int64_t rows, int64_t columns) {
      auto layout = kernel::OperandAttr::get(b.getContext(), number, accumulators);
      return fragment(rows, columns, product.sumType, layout);
    };
    kernel::FragmentType rowType = operand(0, tile.rows, 1);
    kernel::FragmentType columnType = operand(1, 1, tile.columns);
    Value zero = kernel.constant(0);
    auto step = [&](Value depth, Value sums) -> Value {
      Value left = b.create<kernel::LoadFragmentOp>(loc, rowType, row.tile, stage, zero, depth);
      Value right =
          b.create<kernel::LoadFragmentOp>(loc, columnType, column.tile, stage, depth, zero);
      return b.create<kernel::ContractOp>(loc, type, left, right, sums);
    };
    int64_t looped = tile.depth > kWrittenDepth ? tile.depth - tile.depth % kSteps : 0;
    if (looped > 0) {
      auto loop =
          b.create<scf::ForOp>(loc, zero, kernel.constant(looped), kernel.constant(kSteps), sums);
      OpBuilder::InsertionGuard guard(b);
      b.setInsertionPointToStart(loop.getBody());
      Value carried = loop.getRegionIterArgs()[0];
      for (int64_t k = 0; k < kSteps; ++k)
        carried = step(kernel.add(loop.getInductionVar(), kernel.constant(k)), carried);
      b.create<scf::YieldOp>(loc, carried);
      sums = loop.getResult(0);
    }
    for (int64_t k = looped; k < tile.depth; ++k)
      sums = step(kernel.constant(k), sums);
    return sums;
  }

  /// What of an operand is copied as vectors: neighbours in depth, or across.
  struct CopyWidth {
    bool inDepth;
    int64_t width;
  };
  CopyWidth widthOf(const Copied &copied) {
    bool inDepth = copied.vector.across == 1 && copied.vector.depth > 1;
    int64_t width = inDepth ? copied.vector.depth : copied.vector.across;
    while ((inDepth ? tile.depth : copied.size) % width != 0)
      width /= 2;
    return {inDepth && width > 1, width};
  }

  /// Loads of a thread for one tile of an operand.
  int64_t loadsOf(const Copied &copied) {
    return llvm::divideCeil(copied.size * tile.depth / widthOf(copied).width, tile.threads());
  }

  /// A step's load of an operand's tile, in the making.
  struct TileLoad {
    const Copied &copied;
    Value depthStart;
    std::optional<unsigned> steady;
    SmallVector<Value> place;  // where an element is, in loop indices
    SmallVector<Value> origin; // where the memory of far kernels begins
    Value inside;              // null: all are, so far
    /// By read: its memory, and of the offset what is the same in the whole tile.
    SmallVector<ProductOffsets> offsets;
    SmallVector<Value> memories, fixed;

    ArrayRef<Access> reads() const { return copied.operand.value.reads; }
  };

  void require(TileLoad &load, Value condition) {
    load.inside =
        load.inside ? b.create<arith::AndIOp>(loc, load.inside, condition).getResult() : condition;
  }

  /// Loads what an operand's tile of the depth from `depthStart` on is computed from: a fragment
  /// for each of its reads, and where it is not memory as it is, one of which elements are inside.
  SmallVector<Value> load(const Copied &copied, Value depthStart) {
    TileLoad step = beginLoad(copied, depthStart);
    kernel::LoadGlobalOp loaded = createLoad(step);
    OpBuilder::InsertionGuard guard(b);
    b.createBlock(&loaded.getBody(), {}, {b.getIndexType(), b.getIndexType()}, {loc, loc});
    placeElements(step);
    return loaded.getResults();
  }

  /// What does not change within the tile is computed before it: a step of depth that stays within
  /// its innermost loop has one place in the others. Depth is always checked: the copy ahead of the
  /// last step asks for what is past the end.
  TileLoad beginLoad(const Copied &copied, Value depthStart) {
    TileLoad load{copied, depthStart, steadyLoop(), {}, {}, {}, {}, {}, {}};
    for (unsigned loop = 0; loop < loops.size(); ++loop)
      load.place.push_back(loops[loop] ? loops[loop] : kernel.constant(0));
    if (load.steady) {
      require(load, below(depthStart, total(product.depth)));
      spread(product.depth, depthStart, load.place);
    }
    // Far kernels have all of that in their pointers, and count from there.
    load.origin = load.place;
    if (kernel.isFar) {
      spread(product.depth, depthStart, load.origin);
      spread(copied.across, copied.start, load.origin);
    }
    for (const Access &read : load.reads()) {
      ProductOffsets &of = load.offsets.emplace_back(kernel, read);
      load.memories.push_back(kernel.isFar ? of.memoryFrom(load.origin)
                                           : kernel.memory(read.source));
      Value start = of.constantPart();
      if (!kernel.isFar) {
        for (unsigned loop : product.batch)
          start = of.add(start, loop, load.place[loop]);
        for (unsigned loop : load.steady ? ArrayRef(product.depth) : ArrayRef<unsigned>())
          start = of.add(start, loop, load.place[loop]);
      }
      load.fixed.push_back(start);
    }
    return load;
  }

  /// The load, with nothing in its region.
  kernel::LoadGlobalOp createLoad(const TileLoad &load) {
    const Copied &copied = load.copied;
    const Operand &operand = copied.operand;
    auto [inDepth, width] = widthOf(copied);
    auto layout = kernel::CopiedAttr::get(b.getContext(), width,
                                          inDepth == copied.isRow ? kernel::Direction::Columns
                                                                  : kernel::Direction::Rows,
                                          tile.threads(), /*acrossFirst=*/false);
    SmallVector<Type> types;
    SmallVector<Value> paddings;
    SmallVector<int64_t> widths;
    auto add = [&](Type element) {
      types.push_back(copied.isRow ? fragment(copied.size, tile.depth, element, layout)
                                   : fragment(tile.depth, copied.size, element, layout));
    };
    for (const Access &read : load.reads()) {
      Type element = getElementTypeOrSelf(read.source);
      add(element);
      paddings.push_back(
          operand.value.isMemory()
              ? paddingOf(operand, element)
              : b.create<arith::ConstantOp>(loc, b.getZeroAttr(element)).getResult());
      ArrayRef<unsigned> along = inDepth ? ArrayRef(product.depth) : copied.across;
      widths.push_back(loadWidth(kernel.op, read, along, product.ranges, width));
    }
    DenseI64ArrayAttr partly;
    if (!operand.value.isMemory()) {
      add(b.getI1Type());
      partly = b.getDenseI64ArrayAttr(widths);
    }
    return b.create<kernel::LoadGlobalOp>(loc, types, load.memories, paddings, partly,
                                          /*together=*/IntegerAttr());
  }

  /// The load's region: of an element of the tile its offset in each memory, and whether it is
  /// inside.
  void placeElements(TileLoad &load) {
    const Copied &copied = load.copied;
    Block *body = b.getInsertionBlock();
    Value localDepth = body->getArgument(copied.isRow ? 1 : 0);
    Value index = kernel.add(copied.start, body->getArgument(copied.isRow ? 0 : 1));
    Value acrossTotal = total(copied.across);
    if (auto known = getConstantIntValue(acrossTotal); !known || *known % copied.size != 0)
      require(load, below(index, acrossTotal));
    spread(copied.across, index, load.place);
    auto addPart = [&](const ProductOffsets &of, Value flat, unsigned loop) {
      return kernel.isFar ? of.addDistance(flat, loop, load.origin[loop], load.place[loop])
                          : of.add(flat, loop, load.place[loop]);
    };
    SmallVector<Value> yielded;
    // The part of depth last: what goes across is the same in every step.
    for (auto [of, start, staged] : llvm::zip(load.offsets, load.fixed, copied.indices)) {
      Value flat = kernel.constant(0);
      if (staged)
        flat = addStaged(flat, of, staged, body->getArgument(copied.isRow ? 0 : 1));
      for (unsigned loop : copied.across)
        flat = addPart(of, flat, loop);
      yielded.push_back(kernel.add(flat, start));
    }
    if (!load.steady) {
      Value depth = kernel.add(load.depthStart, localDepth);
      require(load, below(depth, total(product.depth)));
      spread(product.depth, depth, load.place);
    }
    for (auto [of, flat] : llvm::zip(load.offsets, yielded)) {
      if (load.steady)
        flat = of.add(flat, *load.steady, localDepth);
      for (unsigned loop : load.steady ? ArrayRef<unsigned>() : ArrayRef(product.depth))
        flat = addPart(of, flat, loop);
    }
    requireUnpadded(load, localDepth);
    if (!load.inside)
      load.inside = b.create<arith::ConstantOp>(loc, b.getBoolAttr(true));
    yielded.push_back(load.inside);
    b.create<kernel::YieldOp>(loc, yielded);
  }

  /// What an operand's padding has in its place is not inside.
  void requireUnpadded(TileLoad &load, Value localDepth) {
    const Operand &operand = load.copied.operand;
    tensor::PadOp pad = operand.pad;
    if (!pad)
      return;
    if (load.steady)
      load.place[*load.steady] = kernel.add(load.place[*load.steady], localDepth);
    SmallVector<Value> indices = kernel.apply(operand.map, load.place);
    for (size_t dim = 0; dim < indices.size(); ++dim)
      if (Value amount = kernel.lowPad(pad, dim))
        require(load, below(b.createOrFold<arith::SubIOp>(loc, indices[dim], amount),
                            kernel.size(pad.getSource(), dim)));
  }

  /// Writes what was loaded of an operand to a stage of its tile, as what it is in the product.
  void write(const Copied &copied, ArrayRef<Value> loaded, Value stage) {
    Value result = computeOperand(copied.operand, loaded, product.sumType);
    Value zero = kernel.constant(0);
    b.create<kernel::WriteTileOp>(loc, result, copied.tile, stage, zero, zero);
  }

  /// The innermost loop of depth, if a tile's depth stays within it.
  std::optional<unsigned> steadyLoop() {
    for (unsigned loop : llvm::reverse(product.depth)) {
      int64_t range = product.ranges[loop];
      if (range != 1)
        return !ShapedType::isDynamic(range) && range % tile.depth == 0 ? std::optional(loop)
                                                                        : std::nullopt;
    }
    return std::nullopt;
  }

  const ContractionTile &tile;
  const ContractionVectors &vectors;
};

} // namespace

void emitContraction(KernelWriter &kernel, const Product &product, const ContractionTile &tile,
                     const ContractionVectors &vectors, const DepthParts &parts) {
  ContractionEmitter(kernel, product, tile, vectors, parts).emit();
}

} // namespace cameo
