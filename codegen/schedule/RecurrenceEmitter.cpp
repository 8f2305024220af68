// Places of a block's threads, exchange of their sums, weights for matrix instructions: what kernels of
// all steps and of one have in common.
//
// SPDX-License-Identifier: Apache-2.0
#include "codegen/schedule/RecurrenceEmitter.h"

#include "codegen/lower/DevicePatterns.h"

#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "llvm/Support/FormatVariadic.h"

using namespace mlir;

namespace cameo {

void RecurrenceEmitter::findBlock() {
  int64_t stepDim = op.getRowsFirst() ? 1 : 0;
  steps = kernel.size(op.getInput(), stepDim);
  rows = kernel.size(op.getInput(), 1 - stepDim);
  Value block = kernel.blockId();
  if (form.isStep) {
    firstUnit = kernel.mul(remainder(block, form.blocks), constant(unitsOfStep(form)));
    block = quotient(block, form.blocks);
  } else if (form.blocks > 1) {
    auto cluster = b.getDenseI32ArrayAttr({int32_t(form.blocks), 1, 1});
    kernel.function->setAttr(kClusterAttribute, cluster);
    firstUnit = kernel.mul(remainder(block, form.blocks), constant(units / form.blocks));
    block = quotient(block, form.blocks);
  }
  direction = constant(0);
  if (op.getDirections() > 1) {
    Value blocks = b.create<arith::CeilDivUIOp>(loc, rows, constant(form.rows));
    direction = b.create<arith::DivUIOp>(loc, block, blocks);
    block = b.create<arith::RemUIOp>(loc, block, blocks);
  }
  firstRow = kernel.mul(block, constant(form.rows));
  ArrayRef<bool> reverse = op.getReverse();
  if (!llvm::all_equal(reverse)) {
    isReverse = b.create<arith::ConstantIntOp>(loc, reverse.front(), 1);
    for (auto [number, flag] : llvm::enumerate(reverse.drop_front())) {
      Value is = compare(arith::CmpIPredicate::eq, direction, constant(number + 1));
      Value value = b.create<arith::ConstantIntOp>(loc, flag, 1);
      isReverse = b.create<arith::SelectOp>(loc, is, value, isReverse);
    }
  }
}

void RecurrenceEmitter::findPlaces() {
  Value thread = kernel.threadId();
  int64_t count = form.places(units);
  for (int64_t i = 0; i < form.placesOfThread(units); ++i) {
    Place place;
    Value number = kernel.add(thread, constant(i * form.threads));
    if ((i + 1) * form.threads > count)
      place.isInside = compare(arith::CmpIPredicate::ult, number, constant(count));
    // Threads behind the last place take part in its shuffles.
    Value group =
        minimum(quotient(number, form.parts), constant(units / form.blocks / form.vector - 1));
    place.part = remainder(number, form.parts);
    place.unit = ownUnit(kernel.mul(group, constant(form.vector)));
    findCells(place);
    places.push_back(std::move(place));
  }
}

/// A warp has eight units of a group at a time, its lanes four beside one another the columns of a unit.
/// Where warps share the depth, neighbours have one group, of which the first one stores.
void RecurrenceEmitter::findMatrixPlaces() {
  Value thread = kernel.threadId(), lane = remainder(thread, kWarp), warp = quotient(thread, kWarp);
  Value isFirst, depth = constant(0);
  if (form.splits > 1) {
    Value split = remainder(warp, form.splits);
    warp = quotient(warp, form.splits);
    isFirst = compare(arith::CmpIPredicate::eq, split, constant(0));
    depth = kernel.mul(split, constant(kMatrixDepth));
  }
  constexpr int64_t kGroup = 8;
  int64_t groups = units / form.blocks / kGroup, warps = form.threads / kWarp / form.splits;
  laneRow = quotient(lane, 4);
  lanePair = kernel.mul(remainder(lane, 4), constant(2));
  for (int64_t first = 0; first < groups; first += warps) {
    Place place;
    place.depth = depth;
    Value group = kernel.add(warp, constant(first));
    if (first + warps > groups) {
      place.isInside = compare(arith::CmpIPredicate::ult, group, constant(groups));
      group = minimum(group, constant(groups - 1));
    }
    place.unit = ownUnit(kernel.add(kernel.mul(group, constant(kGroup)), laneRow));
    for (int64_t i = 0; i < matrixCells(op); ++i)
      place.cells.push_back(
          cellAt(place.unit, kernel.add(lanePair, constant(i)), both(place.isInside, isFirst)));
    places.push_back(std::move(place));
  }
}

/// Exchanging sums leaves each thread with half of its cells, again and again, until there is one; then
/// several have the same.
void RecurrenceEmitter::findCells(Place &place) {
  int64_t count = form.rows * form.vector;
  Value first = constant(0), isFirst;
  for (int64_t mask = form.parts / 2; mask > 0; mask /= 2) {
    Value bit = laneBit(place, mask);
    if (count > 1) {
      count /= 2;
      Value half = b.create<arith::SelectOp>(loc, bit, constant(count), constant(0));
      first = kernel.add(first, half);
      continue;
    }
    Value isClear = compare(arith::CmpIPredicate::eq,
                            b.create<arith::AndIOp>(loc, place.part, constant(mask)), constant(0));
    isFirst = both(isFirst, isClear);
  }
  for (int64_t i = 0; i < count; ++i) {
    Value number = kernel.add(first, constant(i));
    Value row = form.rows == 1 ? constant(0) : quotient(number, form.vector);
    Value unit = kernel.add(place.unit, form.rows == 1 ? number : remainder(number, form.vector));
    place.cells.push_back(cellAt(unit, row, both(place.isInside, isFirst)));
  }
}

RecurrenceEmitter::Cell RecurrenceEmitter::cellAt(Value unit, Value row, Value isOwn) {
  Cell cell;
  cell.unit = unit;
  cell.vectorRow = row;
  Value wanted = kernel.add(firstRow, row);
  cell.isOwn = isOwn;
  Value exists = form.rows == 1 ? Value() : compare(arith::CmpIPredicate::ult, wanted, rows);
  cell.isStored = both(cell.isOwn, exists);
  // Threads of rows behind the last one compute that one again.
  Value last = b.create<arith::SubIOp>(loc, rows, constant(1));
  cell.row = form.rows == 1 ? wanted : minimum(wanted, last);
  if (Value lengths = op.getLengths()) {
    Value length = kernel.element(lengths, cell.row);
    Value none = b.create<arith::ConstantOp>(loc, b.getZeroAttr(length.getType()));
    length = b.create<arith::MaxSIOp>(loc, length, none);
    length = b.create<arith::IndexCastUIOp>(loc, b.getIndexType(), length);
    cell.length = minimum(length, steps);
  }
  if (Value parameters = op.getParameters())
    for (int64_t number = 0, end = cast<RankedTensorType>(parameters.getType()).getDimSize(1);
         number < end; ++number)
      cell.parameters.push_back(
          kernel.element(parameters, {direction, constant(number), cell.unit}));
  return cell;
}

RecurrenceEmitter::Sums RecurrenceEmitter::exchange(const Place &place, Sums sums) {
  Value width = b.create<arith::ConstantIntOp>(loc, kWarp, 32);
  for (int64_t mask = form.parts / 2; mask > 0; mask /= 2) {
    Value distance = b.create<arith::ConstantIntOp>(loc, mask, 32);
    auto other = [&](Value value) {
      return b.create<gpu::ShuffleOp>(loc, value, distance, width, gpu::ShuffleMode::XOR)
          .getShuffleResult();
    };
    bool halves = sums.size() > 1;
    Value bit = halves ? laneBit(place, mask) : Value();
    size_t kept = halves ? sums.size() / 2 : 1;
    Sums next(kept);
    for (size_t i = 0; i < kept; ++i)
      for (size_t gate = 0; gate < sums[i].size(); ++gate) {
        Value mine = sums[i][gate], given = mine;
        if (halves) {
          Value upper = sums[i + kept][gate];
          given = b.create<arith::SelectOp>(loc, bit, mine, upper);
          mine = b.create<arith::SelectOp>(loc, bit, upper, mine);
        }
        next[i].push_back(b.create<arith::AddFOp>(loc, mine, other(given)));
      }
    sums = std::move(next);
  }
  return sums;
}

SmallVector<Value> RecurrenceEmitter::weightsAlong(Value depth, int64_t gate, Value unit,
                                                   int64_t count) {
  auto at = [&](int64_t i) {
    return SmallVector<Value>{direction, kernel.add(depth, constant(i)), constant(gate), unit};
  };
  auto generic = op.getWeights().getDefiningOp<linalg::GenericOp>();
  SmallVector<Value> weights;
  if (!generic || generic.getNumLoops() != generic.getNumParallelLoops() ||
      !generic.getMatchingIndexingMap(generic.getDpsInitOperand(0)).isIdentity()) {
    for (int64_t i = 0; i < count; ++i)
      weights.push_back(kernel.element(op.getWeights(), at(i)));
    return weights;
  }
  constexpr unsigned kDepth = 1;
  SmallVector<SmallVector<Value>> inputs = kernel.inputs(generic, at(0), kDepth, count);
  for (int64_t i = 0; i < count; ++i) {
    SmallVector<Value> arguments;
    for (ArrayRef<Value> values : inputs)
      arguments.push_back(values.empty() ? Value() : values[i]);
    arguments.push_back({});
    weights.push_back(kernel.inlineBody(generic, at(i), arguments).front());
  }
  return weights;
}

std::array<Value, 4> RecurrenceEmitter::fragment(const Place &place, int64_t gate, int64_t end,
                                                 Value depth) {
  auto pair = VectorType::get({2}, stateType);
  std::array<Value, 4> registers;
  for (int64_t i = 0; i < 4; ++i) {
    // Rows of the second gate are behind those of the first; the depth's second half comes last.
    int64_t row = std::min(gate + i % 2, end - 1);
    Value from = kernel.add(kernel.add(depth, constant(i / 2 * 8)), lanePair);
    registers[i] =
        b.create<vector::FromElementsOp>(loc, pair, weightsAlong(from, row, place.unit, 2));
  }
  return registers;
}

SmallVector<Value> RecurrenceEmitter::multiplyTiles(ArrayRef<std::array<Value, 4>> weights,
                                                    ArrayRef<Value> state, ValueRange before) {
  std::string name =
      llvm::formatv("mma.sync.aligned.m{0}n{1}k{2}.row.col.f32.{3}.{3}.f32", kMatrixSums,
                    kMatrixRows, kMatrixDepth, stateType.isF16() ? "f16" : "bf16");
  SmallVector<Value> after;
  for (auto [tile, registers] : llvm::enumerate(weights)) {
    SmallVector<Value> operands(registers.begin(), registers.end());
    llvm::append_range(operands, state);
    llvm::append_range(operands, before.slice(tile * 4, 4));
    auto product =
        b.create<kernel::PtxOp>(loc, SmallVector<Type>(4, type), b.getStringAttr(name), operands);
    llvm::append_range(after, product.getOutputs());
  }
  return after;
}

RecurrenceEmitter::Sums RecurrenceEmitter::sumsOfTiles(const Place &place, int64_t gates,
                                                       ValueRange tiles) {
  Sums sums(place.cells.size());
  for (size_t cell = 0; cell < sums.size(); ++cell)
    for (int64_t gate = 0; gate < gates; ++gate)
      sums[cell].push_back(tiles[gate / 2 * 4 + gate % 2 * 2 + cell]);
  return sums;
}

void RecurrenceEmitter::storeResult(Value destination, const Cell &cell, ArrayRef<Value> indices,
                                    Value value) {
  inBranch(cell.isStored, [&] {
    KernelWriter::Address at = kernel.address(destination, indices);
    b.create<memref::StoreOp>(loc, narrow(value), at.memory, at.offset);
  });
}

std::pair<Value, Value> RecurrenceEmitter::timeOf(const Cell &cell, Value number) {
  Value exists, length = cell.length ? cell.length : steps;
  if (cell.length)
    exists = compare(arith::CmpIPredicate::ult, number, cell.length);
  bool mayReverse = isReverse || op.getReverse().front();
  if (!mayReverse)
    return {number, exists};
  Value last = b.create<arith::SubIOp>(loc, length, constant(1));
  Value time = b.create<arith::SubIOp>(loc, last, number);
  // Behind a row's end there is nothing to reverse.
  if (Value where = both(isReverse, exists))
    time = b.create<arith::SelectOp>(loc, where, time, number);
  return {time, exists};
}

} // namespace cameo
