// Writing kernels of mma.sync.
//
// Tiles of both operands stand in shared memory as they are in global memory, several steps of
// depth at once. While a step is multiplied, one that is `stages` - 1 ahead is copied; within a
// step, fragments of the next 32 bytes of depth are loaded while those before are multiplied, the
// first ones of the next step behind its only barrier:
//
//   step s:  load 1 | copy s + stages - 1 | multiply 0
//            ...
//            wait, barrier | load 0 of s + 1 | multiply the last
//
// Without cp.async there are two stages: what is copied is loaded to registers ahead of the
// products and written to the other stage before the barrier.
//
// Operands of f32 are rounded to tf32: constants where they are stored, what goes through registers
// before it is written to a tile, and all else in registers, right before it is multiplied. Where
// lines of a tile go across depth, ldmatrix turns elements of 16 bits, and those of 8 in pairs; elements
// of 32 bits are loaded one by one, from lines that are so far apart that a warp's are in different
// banks.
//
// SPDX-License-Identifier: Apache-2.0
#include "codegen/schedule/MmaKernel.h"

#include "codegen/schedule/ProductKernel.h"
#include "codegen/schedule/Sources.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/LLVMIR/NVVMDialect.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"

#include <numeric>

using namespace mlir;

namespace cameo {

DepthLoops depthLoops(const Product &product, int64_t count) {
  DepthLoops loops;
  for (unsigned loop : llvm::reverse(product.depth)) {
    bool isInner = product.ranges[loop] != 1 && int64_t(loops.inner.size()) < count;
    (isInner ? loops.inner : loops.outer).push_back(loop);
  }
  if (loops.inner.empty()) { // all of one index
    loops.inner.push_back(loops.outer.front());
    loops.outer.erase(loops.outer.begin());
  }
  std::reverse(loops.outer.begin(), loops.outer.end());
  std::reverse(loops.inner.begin(), loops.inner.end());
  return loops;
}

namespace {

using kernel::FragmentType;
using kernel::TileType;

/// An operand as a block copies and reads it.
struct Side {
  const Operand &operand;
  ArrayRef<unsigned> across; // its loops of rows or columns
  bool isRow;
  MmaForm::Copy copy;
  Value start;                         // of the block's tile, along these
  Value extent;                        // in all
  int64_t size;                        // of the tile, along these
  SmallVector<ProductOffsets> offsets; // of each of the operand's reads
  SmallVector<Value> indices;          // see stageIndices
  bool isEven; // whether steps of depth go through memory evenly, whichever loop they are along
  FragmentType copied;   // as threads share a step's tile
  FragmentType fragment; // what is multiplied at once
  TypedValue<TileType> tile;
};

class MmaEmitter : ProductKernel {
public:
  MmaEmitter(KernelWriter &kernel, const Product &product, const MmaForm &form,
             const DepthParts &parts)
      : ProductKernel(kernel, product, form.tile.rows, form.tile.columns, parts), form(form),
        depth(depthLoops(product, form.depthLoops)) {}

  void emit() {
    kernel.storesOnce = true;
    MLIRContext *context = b.getContext();
    accumulators = kernel::MmaAttr::get(context, form.m, form.n, form.k, form.tile.warpRows,
                                        form.tile.warpColumns, pairs());
    innerDepth = total(depth.inner), innerSteps = tilesOf(innerDepth, form.tile.depth);
    std::tie(firstStep, steps) = stepsOfPart(kernel.mul(total(depth.outer), innerSteps));
    Side row = side(/*isRow=*/true), column = side(/*isRow=*/false);
    Value staging = allocate(row, column);
    storeSums(multiply(row, column), staging);
  }

private:
  Type elementOf(const Operand &operand) { return getElementTypeOrSelf(operand.source); }
  int64_t bytesOf(const Operand &operand) { return elementOf(operand).getIntOrFloatBitWidth() / 8; }

  /// What lanes get two neighbours of: bytes that are stored across depth.
  kernel::Pairs pairs() {
    bool rows = bytesOf(product.row) == 1 && !form.row.alongDepth;
    bool columns = bytesOf(product.column) == 1 && !form.column.alongDepth;
    return rows ? (columns ? kernel::Pairs::Both : kernel::Pairs::Rows)
                : (columns ? kernel::Pairs::Columns : kernel::Pairs::None);
  }

  //===-- Shared memory -----------------------------------------------------------------------===//

  /// 16 to 128 bytes that a line's bytes are a multiple of.
  int64_t spanOf(int64_t line, Type element) {
    int64_t bytes = line * element.getIntOrFloatBitWidth() / 8;
    return std::min<int64_t>(bytes & -bytes, 128);
  }

  Side side(bool isRow) {
    MLIRContext *context = b.getContext();
    const Operand &operand = isRow ? product.row : product.column;
    MmaForm::Copy copy = isRow ? form.row : form.column;
    int64_t size = isRow ? form.tile.rows : form.tile.columns, deep = form.tile.depth;
    Type element = elementOf(operand);
    // Operand 0 has depth as columns, operand 1 as rows.
    auto along = copy.alongDepth == isRow ? kernel::Direction::Columns : kernel::Direction::Rows;
    kernel::TileLayoutInterface lines;
    if (int64_t gap = form.gap(isRow, bytesOf(operand)))
      lines = isRow ? kernel::StridedAttr::get(context, 1, size + gap)
                    : kernel::StridedAttr::get(context, size + gap, 1);
    else
      lines =
          kernel::SwizzleAttr::get(context, spanOf(copy.alongDepth ? deep : size, element), along);
    auto shape = [&](int64_t depth) {
      return isRow ? std::pair(size, depth) : std::pair(depth, size);
    };
    auto [rows, columns] = shape(deep);
    auto copied = kernel::CopiedAttr::get(context, copy.group, along, form.tile.threads(),
                                          /*acrossFirst=*/copy.isGathered());
    auto layout = kernel::OperandAttr::get(context, isRow ? 0 : 1, accumulators);
    int64_t bytes = bytesOf(operand);
    auto [fragmentRows, fragmentColumns] = shape(form.tile.fragmentBytes(form.k * bytes) / bytes);
    TileType tile = TileType::get(context, rows, columns, element, lines, form.tile.stages);
    SmallVector<ProductOffsets> offsets;
    for (const Access &read : operand.value.reads)
      offsets.emplace_back(kernel, read);
    bool isEven = llvm::all_of(offsets, [&](const ProductOffsets &read) {
      return read.isEvenAlong(depth.inner, product.ranges);
    });
    return {operand,
            isRow ? ArrayRef(product.rows) : ArrayRef(product.columns),
            isRow,
            copy,
            isRow ? rowStart : columnStart,
            isRow ? this->rows : this->columns,
            size,
            std::move(offsets),
            stageIndices(operand, isRow ? product.rows : product.columns,
                         isRow ? rowStart : columnStart, size, form.tile.threads()),
            isEven,
            FragmentType::get(context, rows, columns, element, copied),
            FragmentType::get(context, fragmentRows, fragmentColumns, element, layout),
            kernel.tile(tile)};
  }

  /// Memory for sums on their way to the results, in place of the operands, which are longer if
  /// need be: a part for each warp.
  Value allocate(const Side &row, const Side &column) {
    MLIRContext *context = b.getContext();
    stagedRows = product.steps.empty() ? form.tile.stagedRows(bytesOf(product.row))
                                       : MmaTile::kLeastStagedRows;
    auto layout =
        kernel::StagedAttr::get(context, stagedRows, form.tile.columns / form.tile.warpColumns);
    TileType type = TileType::get(context, stagedRows * form.tile.warpRows, form.tile.columns,
                                  product.sumType, layout, /*stages=*/1);
    SmallVector<Value> over{row.tile, column.tile};
    int64_t bytes = row.tile.getType().getBytes() + column.tile.getType().getBytes();
    if (int64_t more = type.getBytes() - bytes; more > 0) {
      auto line = kernel::StridedAttr::get(context, more, 1);
      over.push_back(kernel.tile(TileType::get(context, 1, more, b.getI8Type(), line, 1)));
    }
    return kernel.tile(type, over);
  }

  //===-- Copies ------------------------------------------------------------------------------===//

  /// Where a step's tile begins: indices of loops, and the one along all that steps go along.
  struct StepPlace {
    SmallVector<Value> loops;
    Value inner;
  };

  /// Of what goes across only far kernels have it in their pointers; of what steps go along where
  /// memory is even along it.
  StepPlace placeOfStep(const Side &side, Value step) {
    StepPlace place{placeOfBatch(), {}};
    SmallVector<Value> sizes = sizesOf(depth.outer);
    sizes.push_back(innerSteps);
    SmallVector<Value> at = kernel.delinearize(kernel.add(firstStep, step), sizes);
    for (auto [loop, index] : llvm::zip(depth.outer, at))
      place.loops[loop] = index;
    place.inner = kernel.mul(at.back(), kernel.constant(form.tile.depth));
    if (side.isEven)
      place.loops[depth.inner.back()] = place.inner;
    if (kernel.isFar)
      spread(side.across, side.start, place.loops);
    return place;
  }

  /// What the operand reads, from `place` on: what does not change within a step is in the
  /// pointers.
  SmallVector<Value> memoriesAt(const Side &side, ArrayRef<Value> place) {
    SmallVector<Value> memories;
    for (auto [read, offsets] : llvm::zip(side.operand.value.reads, side.offsets)) {
      if (kernel.isFar) {
        memories.push_back(offsets.memoryFrom(place));
        continue;
      }
      Value start = kernel.constant(0);
      for (ArrayRef<unsigned> group : {ArrayRef(product.batch), ArrayRef(product.depth)})
        for (unsigned loop : group)
          start = offsets.add(start, loop, place[loop]);
      Value wide = b.createOrFold<arith::IndexCastOp>(loc, b.getI64Type(), start);
      Value memory = kernel.memory(read.source);
      memories.push_back(b.create<kernel::AdvanceOp>(loc, memory.getType(), memory, wide));
    }
    return memories;
  }

  /// Writes where an element of a step's tile is, from those memories on, and whether it is inside.
  void describe(Region &region, const Side &side, Value step, const StepPlace &start) {
    OpBuilder::InsertionGuard guard(b);
    Block *body = b.createBlock(&region, {}, {b.getIndexType(), b.getIndexType()}, {loc, loc});
    Value local = body->getArgument(side.isRow ? 1 : 0); // depth
    Value index = kernel.add(side.start, body->getArgument(side.isRow ? 0 : 1));
    // Steps ahead may be behind the last one.
    Value inside = below(step, steps);
    auto require = [&](Value condition) {
      inside = b.createOrFold<arith::AndIOp>(loc, inside, condition);
    };
    require(isIn(index, side.extent, side.size));
    const SmallVector<Value> &origin = start.loops;
    SmallVector<Value> place(origin);
    spread(side.across, index, place);
    Value inner = kernel.add(start.inner, local);
    spread(depth.inner, inner, place);
    SmallVector<Value> yielded;
    for (auto [offsets, staged] : llvm::zip(side.offsets, side.indices)) {
      Value offset = offsets.constantPart();
      if (staged)
        offset = addStaged(offset, offsets, staged, body->getArgument(side.isRow ? 0 : 1));
      for (unsigned loop : side.across)
        offset = kernel.isFar ? offsets.addDistance(offset, loop, origin[loop], place[loop])
                              : offsets.add(offset, loop, place[loop]);
      if (side.isEven)
        offset = offsets.add(offset, depth.inner.back(), local);
      for (unsigned loop : side.isEven ? ArrayRef<unsigned>() : ArrayRef(depth.inner))
        offset = offsets.add(offset, loop, place[loop]);
      yielded.push_back(offset);
    }
    require(isIn(inner, innerDepth, form.tile.depth));
    if (tensor::PadOp pad = side.operand.pad) {
      SmallVector<Value> indices = kernel.apply(side.operand.map, place);
      for (size_t dim = 0; dim < indices.size(); ++dim)
        if (Value amount = kernel.lowPad(pad, dim))
          require(below(b.createOrFold<arith::SubIOp>(loc, indices[dim], amount),
                        kernel.size(pad.getSource(), dim)));
    }
    yielded.push_back(inside);
    b.create<kernel::YieldOp>(loc, yielded);
  }

  /// Starts to copy a step's tile.
  void copy(const Side &side, Value step, Value stage) {
    StepPlace place = placeOfStep(side, step);
    Value memory = memoriesAt(side, place.loops).front(), zero = kernel.constant(0);
    Value padding = side.isRow ? rowPadding : columnPadding;
    auto copy = b.create<kernel::CopyAsyncOp>(loc, memory, side.tile, stage, zero, zero, padding,
                                              TypeAttr::get(side.copied));
    describe(copy.getBody(), side, step, place);
  }

  /// Loads what a step's tile is computed from to registers: a fragment for each of the operand's
  /// reads, and where it is not memory as it is, one of which elements are inside.
  SmallVector<Value> load(const Side &side, Value step) {
    StepPlace place = placeOfStep(side, step);
    SmallVector<Value> memories = memoriesAt(side, place.loops), paddings;
    SmallVector<Type> types;
    SmallVector<int64_t> widths;
    ArrayRef<unsigned> along = side.copy.alongDepth ? depth.inner : side.across;
    for (const Access &read : side.operand.value.reads) {
      Type element = getElementTypeOrSelf(read.source);
      types.push_back(copiedOf(side, element));
      paddings.push_back(
          side.operand.value.isMemory()
              ? paddingOf(side.operand, element)
              : b.create<arith::ConstantOp>(loc, b.getZeroAttr(element)).getResult());
      widths.push_back(loadWidth(kernel.op, read, along, product.ranges, side.copy.vector));
    }
    DenseI64ArrayAttr partly;
    IntegerAttr together;
    if (!side.operand.value.isMemory())
      types.push_back(copiedOf(side, b.getI1Type()));
    if (!side.operand.value.isMemory() || side.copy.isGathered())
      partly = b.getDenseI64ArrayAttr(widths);
    if (side.copy.isGathered())
      together = b.getI64IntegerAttr(side.copy.vector);
    auto load = b.create<kernel::LoadGlobalOp>(loc, types, memories, paddings, partly, together);
    describe(load.getBody(), side, step, place);
    return load.getResults();
  }

  FragmentType copiedOf(const Side &side, Type element) {
    return FragmentType::get(b.getContext(), side.copied.getRows(), side.copied.getCols(), element,
                             side.copied.getLayout());
  }

  /// Writes what was loaded of an operand to a stage of its tile.
  void write(const Side &side, ArrayRef<Value> loaded, Value stage) {
    Value fragment = computeOperand(side.operand, loaded, elementOf(side.operand));
    if (!side.copy.isRounded)
      fragment = rounded(fragment);
    Value zero = kernel.constant(0);
    b.create<kernel::WriteTileOp>(loc, fragment, side.tile, stage, zero, zero);
  }

  //===-- Products ----------------------------------------------------------------------------===//

  Value fragment(const Side &side, Value stage, int64_t step) {
    Value zero = kernel.constant(0);
    Value deep =
        kernel.constant(step * (side.isRow ? side.fragment.getCols() : side.fragment.getRows()));
    return b.create<kernel::LoadFragmentOp>(loc, side.fragment, side.tile, stage,
                                            side.isRow ? zero : deep, side.isRow ? deep : zero);
  }

  /// What of a fragment is multiplied.
  Value multiplied(const Side &side, Value fragment) {
    return form.async && !side.copy.isRounded ? rounded(fragment) : fragment;
  }

  /// Of f32 what tf32 has.
  Value rounded(Value fragment) {
    auto type = cast<FragmentType>(fragment.getType());
    if (!type.getElementType().isF32())
      return fragment;
    auto map = b.create<kernel::MapFragmentOp>(loc, type, fragment);
    OpBuilder::InsertionGuard guard(b);
    Type f32 = b.getF32Type(), index = b.getIndexType();
    Block *body = b.createBlock(&map.getBody(), {}, {index, index, f32}, {loc, loc, loc});
    auto round =
        b.create<kernel::PtxOp>(loc, TypeRange(f32), "cvt.rna.tf32.f32", body->getArgument(2));
    b.create<kernel::YieldOp>(loc, round.getOutputs());
    return map;
  }

  Value next(Value stage) {
    Value more = b.create<arith::AddIOp>(loc, stage, kernel.constant(1));
    Value isLast = b.create<arith::CmpIOp>(loc, arith::CmpIPredicate::eq, more,
                                           kernel.constant(form.tile.stages));
    return b.create<arith::SelectOp>(loc, isLast, kernel.constant(0), more);
  }

  /// The tile of the step after those that are being multiplied is there for all threads.
  void await() {
    if (form.async)
      b.create<kernel::WaitCopiesOp>(loc, form.tile.stages - 2);
    b.create<gpu::BarrierOp>(loc);
  }

  /// Fills the first stages.
  void begin(const Side &row, const Side &column) {
    for (int64_t step = 0; step + 1 < form.tile.stages; ++step) {
      Value at = kernel.constant(step);
      if (form.async) {
        copy(row, at, at), copy(column, at, at);
        b.create<kernel::CommitCopiesOp>(loc);
      } else {
        SmallVector<Value> rowTile = load(row, at), columnTile = load(column, at);
        write(row, rowTile, at), write(column, columnTile, at);
      }
    }
    await();
  }

  /// The sums of the tile, along all of the depth.
  Value multiply(const Side &row, const Side &column) {
    auto type = FragmentType::get(b.getContext(), form.tile.rows, form.tile.columns,
                                  product.sumType, accumulators);
    Value zero = b.create<arith::ConstantOp>(loc, b.getZeroAttr(product.sumType));
    begin(row, column);
    Value first = kernel.constant(0), last = kernel.constant(form.tile.stages - 1);
    SmallVector<Value> carried{b.create<kernel::FillFragmentOp>(loc, type, zero),
                               fragment(row, first, 0), fragment(column, first, 0), first, last};
    auto loop = b.create<scf::ForOp>(loc, kernel.constant(0), steps, kernel.constant(1), carried);
    OpBuilder::InsertionGuard guard(b);
    b.setInsertionPointToStart(loop.getBody());
    ValueRange args = loop.getRegionIterArgs();
    Value sums = args[0], lhs = args[1], rhs = args[2], stage = args[3], filled = args[4];
    Value ahead = b.create<arith::AddIOp>(loc, loop.getInductionVar(), last);
    SmallVector<Value> rowTile, columnTile; // on their way
    int64_t count = form.tile.depth / row.fragment.getCols();
    for (int64_t step = 0; step < count; ++step) {
      if (step == 0 && form.async) {
        copy(row, ahead, filled), copy(column, ahead, filled);
        b.create<kernel::CommitCopiesOp>(loc);
      } else if (step == 0) {
        rowTile = load(row, ahead), columnTile = load(column, ahead);
      }
      bool isLast = step + 1 == count;
      if (isLast) {
        if (!form.async)
          write(row, rowTile, filled), write(column, columnTile, filled);
        await();
        stage = next(stage);
      }
      Value nextLhs = fragment(row, stage, isLast ? 0 : step + 1);
      Value nextRhs = fragment(column, stage, isLast ? 0 : step + 1);
      sums = b.create<kernel::ContractOp>(loc, sums.getType(), multiplied(row, lhs),
                                          multiplied(column, rhs), sums, product.row.isUnsigned,
                                          product.column.isUnsigned);
      lhs = nextLhs, rhs = nextRhs;
    }
    b.create<scf::YieldOp>(loc, ValueRange{sums, lhs, rhs, stage, next(filled)});
    return loop.getResult(0);
  }

  //===-- Results -----------------------------------------------------------------------------===//

  /// Lanes of a warp see what the others have done in shared memory.
  void awaitWarp() {
    Value all = b.create<arith::ConstantIntOp>(loc, -1, b.getI32Type());
    b.create<NVVM::SyncWarpOp>(loc, all);
  }

  /// Some rows of each warp's sums.
  FragmentType stagedPart() {
    return FragmentType::get(b.getContext(), stagedRows * form.tile.warpRows, form.tile.columns,
                             product.sumType, accumulators);
  }

  /// The same where results need whole rows: warps share all that are staged, each has some of
  /// them, and computes what they are reduced to by itself.
  void storeWholeRows(Value sums, Value staging) {
    FragmentType part = stagedPart();
    int64_t warps = form.tile.warpRows * form.tile.warpColumns, vector = 1;
    for (size_t number = 0; number < product.epilogues.size(); ++number)
      vector = std::max(vector, vectorOf(number));
    auto layout = kernel::WarpRowsAttr::get(b.getContext(), vector, warps, 1);
    auto type = FragmentType::get(b.getContext(), part.getRows(), part.getCols(),
                                  part.getElementType(), layout);
    int64_t warpRows = form.tile.rows / form.tile.warpRows;
    Value zero = kernel.constant(0);
    if (form.async)
      b.create<kernel::WaitCopiesOp>(loc, 0);
    for (int64_t piece = 0; piece * stagedRows < warpRows; ++piece) {
      Rows rows{piece * stagedRows, stagedRows, warpRows};
      SmallVector<Value> loaded = loadForSteps(type, rows);
      b.create<gpu::BarrierOp>(loc); // what was there before has been read
      Value written = b.create<kernel::SliceFragmentOp>(loc, part, sums, piece);
      b.create<kernel::WriteTileOp>(loc, written, staging, zero, zero, zero);
      b.create<gpu::BarrierOp>(loc);
      Value mine = b.create<kernel::LoadFragmentOp>(loc, type, staging, zero, zero, zero);
      Kept kept = computeSteps(mine, loaded, rows);
      for (size_t number = 0; number < product.epilogues.size(); ++number)
        store(kept, number, vectorOf(number), rows);
    }
  }

  /// Stores the results, some rows of each warp at a time. Warps stage their own, so that no other
  /// has to be waited for but before the first: it may still read the operands.
  void storeSums(Value sums, Value staging) {
    if (!product.steps.empty())
      return storeWholeRows(sums, staging);
    MLIRContext *context = b.getContext();
    FragmentType part = stagedPart();
    int64_t warpRows = form.tile.rows / form.tile.warpRows;
    Value zero = kernel.constant(0);
    if (form.async) // what was copied ahead of the last step arrives, too
      b.create<kernel::WaitCopiesOp>(loc, 0);
    b.create<gpu::BarrierOp>(loc);
    for (int64_t piece = 0; piece * stagedRows < warpRows; ++piece) {
      Value rows = b.create<kernel::SliceFragmentOp>(loc, part, sums, piece);
      if (piece > 0)
        awaitWarp();
      b.create<kernel::WriteTileOp>(loc, rows, staging, zero, zero, zero);
      awaitWarp();
      size_t results = parts.sums ? 1 : product.epilogues.size();
      for (size_t number = 0; number < results; ++number) {
        int64_t vector = vectorOf(number);
        auto layout =
            kernel::WarpRowsAttr::get(context, vector, form.tile.warpRows, form.tile.warpColumns);
        auto type = FragmentType::get(context, part.getRows(), part.getCols(),
                                      part.getElementType(), layout);
        Value mine = b.create<kernel::LoadFragmentOp>(loc, type, staging, zero, zero, zero);
        Rows rows{piece * stagedRows, stagedRows, warpRows};
        parts.sums ? storePart(mine, vector, rows)
                   : store({{product.sums(), mine}}, number, vector, rows);
      }
    }
  }

  /// Elements of a result that a lane stores at once: as many as may be, of which all lanes have
  /// some.
  int64_t vectorOf(size_t number) {
    int64_t elements = stagedRows * form.tile.columns / form.tile.warpColumns;
    return std::gcd(elements / 32, storeWidth(number, form.storeVector));
  }

  const MmaForm &form;
  DepthLoops depth;
  kernel::MmaAttr accumulators;
  Value innerDepth;       // of the loops that steps go along
  Value innerSteps;       // along these
  Value firstStep, steps; // of the block's part of all of them
  int64_t stagedRows;     // of a warp, at once
};

} // namespace

void emitMma(KernelWriter &kernel, const Product &product, const MmaForm &form,
             const DepthParts &parts) {
  MmaEmitter(kernel, product, form, parts).emit();
}

} // namespace cameo
