// Writing kernels of skinny products.
//
// A thread has `wide` x `deep` elements of the large operand at once, and `deep` of each of the
// few vectors; from one step to the next it goes on along depth by what all that share it have.
// Sums of a warp's lanes are added by shuffles, those of warps in shared memory, both in an order
// that is fixed; from there threads store neighbours of the results.
//
// SPDX-License-Identifier: Apache-2.0
#include "codegen/schedule/SkinnyKernel.h"

#include "codegen/schedule/Epilogues.h"
#include "codegen/schedule/Sources.h"
#include "dialects/kernel/form/Runs.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"

using namespace mlir;

namespace cameo {

bool thinIsRows(const Product &product) {
  int64_t rows = product.extent(product.rows);
  return !ShapedType::isDynamic(rows) && rows <= kMostThin;
}

namespace {

class SkinnyEmitter : ProductKernel {
public:
  SkinnyEmitter(KernelWriter &kernel, const Product &product, const SkinnyForm &form,
                const DepthParts &parts)
      : ProductKernel(kernel, product, tileOf(product, form, /*isRow=*/true),
                      tileOf(product, form, /*isRow=*/false), parts),
        form(form), thinIsRow(thinIsRows(product)),
        thin(product.extent(thinIsRow ? product.rows : product.columns)) {}

  void emit() {
    kernel.storesOnce = true;
    Value thread = kernel.threadId();
    Value lane = remainder(thread, kWarp), warp = quotient(thread, kWarp);
    laneAlong = quotient(lane, form.laneAcross);
    warpAlong = quotient(warp, form.warpAcross);
    Value laneAcross = remainder(lane, form.laneAcross);
    Value warpAcross = remainder(warp, form.warpAcross);
    across =
        kernel.mul(kernel.add(kernel.mul(warpAcross, kernel.constant(form.laneAcross)), laneAcross),
                   kernel.constant(form.wide));
    group = kernel.add(kernel.mul(warpAlong, kernel.constant(form.laneAlong)), laneAlong);
    Side wide = wideSide(), few = thinSide();
    SmallVector<Value> sums = addLanes(multiply(wide, few));
    Value memory = kernel.sharedMemory(form.sums(thin), product.sumType);
    writeSums(sums, memory);
    b.create<gpu::BarrierOp>(loc);
    storeAll(memory, thread);
  }

private:
  static int64_t tileOf(const Product &product, const SkinnyForm &form, bool isRow) {
    return thinIsRows(product) == isRow ? product.extent(isRow ? product.rows : product.columns)
                                        : form.blockWide();
  }

  Value remainder(Value value, int64_t size) {
    return size == 1 ? kernel.constant(0)
                     : b.createOrFold<arith::RemUIOp>(loc, value, kernel.constant(size));
  }
  Value quotient(Value value, int64_t size) {
    return b.createOrFold<arith::DivUIOp>(loc, value, kernel.constant(size));
  }

  //===-- Operands ----------------------------------------------------------------------------===//

  /// A place in memory that an operand is computed from.
  struct Source {
    const Access *read;
    ProductOffsets offsets;
    int64_t width;             // elements that are loaded at once; 0: neighbours have the same one
    SmallVector<Value> starts; // by index of the side, without the part of depth; null: not needed
    SmallVector<Value> origin; // loop indices of the first one: where far kernels count from
  };

  /// An operand as a thread reads it.
  struct Side {
    const Operand &operand;
    ArrayRef<unsigned> loops;   // of rows or columns
    SmallVector<Value> indices; // that the thread has of them
    bool alongDepth;            // else loads go across
    int64_t vector;
    SmallVector<Source> sources;
  };

  Side wideSide() {
    Side side{thinIsRow ? product.column : product.row,
              thinIsRow ? ArrayRef(product.columns) : ArrayRef(product.rows),
              {},
              form.alongDepth,
              form.wideVector,
              {}};
    Value first = kernel.add(thinIsRow ? columnStart : rowStart, across);
    Value extent = thinIsRow ? columns : rows;
    auto known = getConstantIntValue(extent);
    bool isWhole = known && *known % form.blockWide() == 0;
    // Behind the end the last elements are read again, whose sums are not stored.
    int64_t together = form.alongDepth ? 1 : form.wideVector;
    Value last = b.createOrFold<arith::SubIOp>(loc, extent, kernel.constant(together)), start;
    for (int64_t i = 0; i < form.wide; ++i) {
      if (i % together == 0) {
        start = kernel.add(first, kernel.constant(i));
        if (!isWhole)
          start = b.createOrFold<arith::MinSIOp>(loc, start, last);
      }
      side.indices.push_back(kernel.add(start, kernel.constant(i % together)));
    }
    findSources(side);
    return side;
  }

  Side thinSide() {
    Side side{thinIsRow ? product.row : product.column,
              thinIsRow ? ArrayRef(product.rows) : ArrayRef(product.columns),
              {},
              /*alongDepth=*/true,
              form.thinVector,
              {}};
    for (int64_t i = 0; i < thin; ++i)
      side.indices.push_back(kernel.constant(i));
    findSources(side);
    return side;
  }

  void findSources(Side &side) {
    ArrayRef<unsigned> along = side.alongDepth ? ArrayRef(product.depth) : side.loops;
    for (const Access &read : side.operand.value.reads) {
      int64_t width = loadWidth(kernel.op, read, along, product.ranges, side.vector);
      Source source{&read, ProductOffsets(kernel, read), width, {}, {}};
      SmallVector<Value> place = placeOfBatch();
      Value base = source.offsets.constantPart();
      if (kernel.isFar)
        spread(side.loops, side.indices.front(), place);
      else
        for (unsigned loop : product.batch)
          base = source.offsets.add(base, loop, place[loop]);
      source.origin = place;
      int64_t apart = side.alongDepth ? 1 : width == 0 ? side.vector : width;
      for (auto [i, index] : llvm::enumerate(side.indices)) {
        Value &start = source.starts.emplace_back();
        if (int64_t(i) % apart != 0)
          continue;
        start = base;
        spread(side.loops, index, place);
        for (unsigned loop : side.loops)
          start = kernel.isFar
                      ? source.offsets.addDistance(start, loop, source.origin[loop], place[loop])
                      : source.offsets.add(start, loop, place[loop]);
      }
      side.sources.push_back(std::move(source));
    }
  }

  /// The innermost loop of depth, if steps from multiples of `deep` on stay within it.
  std::optional<unsigned> steadyLoop(int64_t deep) {
    SmallVector<unsigned> moving;
    for (unsigned loop : product.depth)
      if (product.ranges[loop] != 1)
        moving.push_back(loop);
    int64_t range = moving.empty() ? 1 : product.ranges[moving.back()];
    bool stays = moving.size() == 1 || (!ShapedType::isDynamic(range) && range % deep == 0);
    return !moving.empty() && stays ? std::optional(moving.back()) : std::nullopt;
  }

  /// What is added to an operand's offsets for each of `deep` indices of depth from `start` on; in
  /// a far kernel, from the first one on, whose place is `origin`.
  SmallVector<Value> depthOffsets(const ProductOffsets &of, Value start, int64_t deep,
                                  SmallVector<Value> &origin) {
    std::optional<unsigned> steady = steadyLoop(deep);
    SmallVector<Value> result, place(loops);
    for (int64_t i = 0; i < deep; ++i) {
      if (i != 0 && steady) {
        result.push_back(of.add(result[0], *steady, kernel.constant(i)));
        continue;
      }
      spread(product.depth, kernel.add(start, kernel.constant(i)), place);
      if (i == 0)
        for (unsigned loop : product.depth)
          origin[loop] = place[loop];
      Value sum = kernel.constant(0);
      for (unsigned loop : product.depth)
        sum = kernel.isFar ? of.addDistance(sum, loop, origin[loop], place[loop])
                           : of.add(sum, loop, place[loop]);
      result.push_back(sum);
    }
    return result;
  }

  using Elements = SmallVector<SmallVector<Value>>; // [index of the side][step of depth]

  Elements load(const Side &side, const Source &source, Value start, int64_t deep) {
    SmallVector<Value> origin(source.origin);
    SmallVector<Value> depth = depthOffsets(source.offsets, start, deep, origin);
    Value memory =
        kernel.isFar ? source.offsets.memoryFrom(origin) : kernel.memory(source.read->source);
    int64_t count = side.indices.size();
    Elements result(count, SmallVector<Value>(deep));
    auto at = [&](int64_t index, int64_t step) {
      return kernel.add(source.starts[index], depth[step]);
    };
    // Steps that are not a whole vector are single ones.
    int64_t width = side.alongDepth && deep == 1 ? 1 : source.width;
    int64_t run = std::min(side.alongDepth ? deep : side.vector, width == 0 ? side.vector : width);
    for (int64_t index = 0; index < count; index += side.alongDepth ? 1 : run)
      for (int64_t step = 0; step < deep; step += side.alongDepth ? run : 1) {
        SmallVector<Value> lanes = kernel.load(memory, at(index, step), width == 0 ? 1 : run);
        for (int64_t i = 0; i < run; ++i)
          (side.alongDepth ? result[index][step + i] : result[index + i][step]) =
              lanes[width == 0 ? 0 : i];
      }
    return result;
  }

  /// Elements of an operand as they are multiplied.
  Elements loadOperand(const Side &side, Value start, int64_t deep) {
    SmallVector<Elements> loaded;
    for (const Source &source : side.sources)
      loaded.push_back(load(side, source, start, deep));
    if (side.operand.value.isMemory())
      return loaded.front();
    Elements result(side.indices.size());
    for (auto [index, line] : llvm::enumerate(result))
      for (int64_t step = 0; step < deep; ++step) {
        SmallVector<Value> elements;
        for (const Elements &read : loaded)
          elements.push_back(read[index][step]);
        line.push_back(computeElement(kernel, side.operand.value, elements));
      }
    return result;
  }

  //===-- Sums --------------------------------------------------------------------------------===//

  Value add(Value a, Value c) {
    return isa<FloatType>(product.sumType) ? b.create<arith::AddFOp>(loc, a, c).getResult()
                                           : b.create<arith::AddIOp>(loc, a, c).getResult();
  }

  /// Whether the description's first input is the column's operand.
  bool isTurned() {
    AffineMap first = linalg::GenericOp(product.generic).getIndexingMapsArray().front();
    auto hasLoop = [&](ArrayRef<unsigned> group) {
      return llvm::any_of(group, [&](unsigned loop) { return first.isFunctionOfDim(loop); });
    };
    return hasLoop(product.columns) || (!product.rows.empty() && !hasLoop(product.rows));
  }

  /// `sum` and a product of elements, as the description has it.
  Value multiplyAdd(Value row, Value column, Value sum) {
    linalg::GenericOp generic = product.generic;
    SmallVector<Value> arguments{row, column, sum};
    if (isTurned())
      std::swap(arguments[0], arguments[1]);
    for (auto [argument, wanted] : llvm::zip(arguments, generic.getBody()->getArguments()))
      if (argument.getType() != wanted.getType()) // read through what widens it
        argument = b.create<arith::ExtFOp>(loc, wanted.getType(), argument);
    return kernel.inlineBody(generic, {}, arguments).front();
  }

  /// The thread's sums, of thin and then of wide indices.
  SmallVector<Value> multiply(const Side &wide, const Side &few) {
    Value zero = b.create<arith::ConstantOp>(loc, b.getZeroAttr(product.sumType));
    SmallVector<Value> sums(thin * form.wide, zero);
    Value depth = total(product.depth), deep = kernel.constant(form.deep);
    auto known = getConstantIntValue(depth);
    Value rest = known ? kernel.constant(*known % form.deep) : remainder(depth, form.deep);
    Value whole = b.createOrFold<arith::SubIOp>(loc, depth, rest);
    auto [begin, end] = wholeOfPart(whole);
    sums = loop(wide, few, kernel.add(begin, kernel.mul(group, deep)), end, form.deep, sums);
    if (!isConstantIntValue(rest, 0))
      sums = loop(wide, few, restOfPart(kernel.add(whole, group), depth), depth, /*deep=*/1, sums);
    return sums;
  }

  /// Where the block's part of the depth begins and ends, of what consists of whole steps of threads.
  std::pair<Value, Value> wholeOfPart(Value whole) {
    if (parts.count == 1)
      return {kernel.constant(0), whole};
    auto [first, steps] = stepsOfPart(tilesOf(whole, form.blockDeep()));
    Value deep = kernel.constant(form.blockDeep());
    Value end = kernel.mul(kernel.add(first, steps), deep);
    return {kernel.mul(first, deep), b.createOrFold<arith::MinSIOp>(loc, end, whole)};
  }

  /// `start` of the steps at the end, which the last part has; `depth` in others.
  Value restOfPart(Value start, Value depth) {
    if (parts.count == 1)
      return start;
    Value isLast = b.create<arith::CmpIOp>(loc, arith::CmpIPredicate::eq, depthPart,
                                           kernel.constant(parts.count - 1));
    return b.create<arith::SelectOp>(loc, isLast, start, depth);
  }

  /// Step by step.
  void addProducts(const Elements &large, const Elements &small, SmallVector<Value> &sums) {
    for (size_t step = 0; step < large.front().size(); ++step)
      for (int64_t i = 0; i < thin; ++i)
        for (int64_t j = 0; j < form.wide; ++j) {
          Value &sum = sums[i * form.wide + j];
          sum = thinIsRow ? multiplyAdd(small[i][step], large[j][step], sum)
                          : multiplyAdd(large[j][step], small[i][step], sum);
        }
  }

  /// Adds the products of `deep` steps from `start` on, of those `groups` times as far, and so on.
  SmallVector<Value> loop(const Side &wide, const Side &few, Value start, Value end, int64_t deep,
                          ArrayRef<Value> sums) {
    Value distance = kernel.constant(form.groups() * deep);
    auto steps = b.create<scf::ForOp>(loc, start, end, distance, sums);
    OpBuilder::InsertionGuard guard(b);
    b.setInsertionPointToStart(steps.getBody());
    Value at = steps.getInductionVar();
    SmallVector<Value> result(steps.getRegionIterArgs());
    int64_t together = std::min(deep, form.together);
    for (int64_t first = 0; first < deep; first += together) {
      Value place = kernel.add(at, kernel.constant(first));
      addProducts(loadOperand(wide, place, together), loadOperand(few, place, together), result);
    }
    b.create<scf::YieldOp>(loc, result);
    return SmallVector<Value>(steps.getResults());
  }

  /// Sums of the lanes of a warp that share elements: all of them have these.
  SmallVector<Value> addLanes(SmallVector<Value> sums) {
    kernel.synchronises = true;
    Value width = b.create<arith::ConstantIntOp>(loc, kWarp, 32);
    for (int64_t distance = form.laneAcross; distance < kWarp; distance *= 2) {
      Value mask = b.create<arith::ConstantIntOp>(loc, distance, 32);
      for (Value &sum : sums) {
        auto other = b.create<gpu::ShuffleOp>(loc, sum, mask, width, gpu::ShuffleMode::XOR);
        sum = add(sum, other.getShuffleResult());
      }
    }
    return sums;
  }

  //===-- Results -----------------------------------------------------------------------------===//

  /// Where a warp's sum is in shared memory, in the order of the block's tile.
  Value slot(Value warp, Value row, Value column) {
    Value line = kernel.add(kernel.mul(warp, kernel.constant(tileRows)), row);
    return kernel.add(kernel.mul(line, kernel.constant(tileColumns)), column);
  }

  void writeSums(ArrayRef<Value> sums, Value memory) {
    OpBuilder::InsertionGuard guard(b);
    Value leads =
        b.create<arith::CmpIOp>(loc, arith::CmpIPredicate::eq, laneAlong, kernel.constant(0));
    b.setInsertionPointToStart(b.create<scf::IfOp>(loc, leads, false).thenBlock());
    for (int64_t i = 0; i < thin; ++i) {
      Value index = kernel.constant(i);
      ArrayRef<Value> mine = sums.slice(i * form.wide, form.wide);
      if (thinIsRow) {
        kernel.storeVector(memory, slot(warpAlong, index, across), mine);
        continue;
      }
      for (auto [j, sum] : llvm::enumerate(mine))
        kernel.storeVector(memory, slot(warpAlong, kernel.add(across, kernel.constant(j)), index),
                           {sum});
    }
  }

  /// Each thread adds what warps have of some neighbours, and stores what becomes of them.
  void storeAll(Value memory, Value thread) {
    Value root = linalg::GenericOp(product.generic).getResult(0);
    int64_t vector = form.storeVector, perRow = tileColumns / vector;
    auto each = b.create<scf::ForOp>(loc, thread, kernel.constant(tileRows * perRow),
                                     kernel.constant(form.threads()));
    OpBuilder::InsertionGuard guard(b);
    b.setInsertionPointToStart(each.getBody());
    Value localRow = quotient(each.getInductionVar(), perRow);
    Value localColumn =
        kernel.mul(remainder(each.getInductionVar(), perRow), kernel.constant(vector));
    Value row = kernel.add(rowStart, localRow), column = kernel.add(columnStart, localColumn);
    Value inside = b.createOrFold<arith::AndIOp>(loc, isIn(row, rows, tileRows),
                                                 isIn(column, columns, tileColumns));
    b.setInsertionPointToStart(b.create<scf::IfOp>(loc, inside, false).thenBlock());
    SmallVector<Value> sums;
    for (int64_t warp = 0; warp < form.warpAlong; ++warp) {
      SmallVector<Value> part =
          kernel.load(memory, slot(kernel.constant(warp), localRow, localColumn), vector);
      for (auto [i, value] : llvm::enumerate(part))
        warp == 0 ? sums.push_back(value) : void(sums[i] = add(sums[i], value));
    }
    if (parts.count > 1)
      return storePartAt(row, column, sums);
    SmallVector<Value> place = kernel.apply(product.outMap, placeOf(row, column));
    for (auto [number, epilogue] : llvm::enumerate(product.epilogues))
      storeResult(kernel, root, epilogue, number, place, sums);
  }

  const SkinnyForm &form;
  bool thinIsRow;
  int64_t thin;
  Value laneAlong, warpAlong; // of the thread, among those that share elements
  Value across, group;        // its first index of the block's; which of those it is
};

} // namespace

void emitSkinny(KernelWriter &kernel, const Product &product, const SkinnyForm &form,
                const DepthParts &parts) {
  SkinnyEmitter(kernel, product, form, parts).emit();
}

} // namespace cameo
