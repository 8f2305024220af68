// Emitting the steps of a recurrent network as a loop in each block.
//
//   for each step                      one block for a direction and a few rows
//     sums of units' gates             threads beside one another each add up a part of the depth,
//                                      then exchange by shuffles, so that each has cells of its own
//     cells                            states stay in registers; the vector that the next product
//     barrier                          reads is in shared memory, twice, so that one barrier will do
//
// Blocks of a cluster have a part of the units each. What the next product reads they store in one
// another's shared memory, and they wait for one another.
//
// An element's sum is added up in an order that depends on `parts` and `deep` alone: not on how many
// rows, directions or steps there are.
//
// SPDX-License-Identifier: Apache-2.0
#include "codegen/schedule/RecurrenceKernel.h"

#include "codegen/lower/DevicePatterns.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "llvm/Support/FormatVariadic.h"

using namespace mlir;

namespace cameo {

/// Elements between a row's vectors for matrix instructions, beside the units: rows that a warp reads
/// together are in different banks.
static constexpr int64_t kBankSkew = 8;
/// Cells whose inputs a thread asks for before its products.
static constexpr size_t kCellsAhead = 4;
/// Registers of a thread for weights at most, by threads of a block.
static int64_t weightRegisters(int64_t threads) { return threads <= 256 ? 136 : 80; }
/// True where one thread has all units.
static bool isAlone(const RecurrenceForm &form, int64_t units) {
  return form.blocks == 1 && form.places(units) == 1;
}

int64_t recurrenceShared(kernel::RecurrenceOp recurrence, const RecurrenceForm &form) {
  if (isAlone(form, recurrence.getUnits()))
    return 0;
  Type type = form.isMatrix ? getElementTypeOrSelf(recurrence.getInitial().front())
                            : recurrence.getComputeType();
  int64_t stride = recurrence.getUnits() + (form.isMatrix ? kBankSkew : 0);
  return (recurrence.getPhases().size() + 1) * form.rows * stride * type.getIntOrFloatBitWidth() /
         8;
}

linalg::GenericOp matrixWeights(kernel::RecurrenceOp recurrence) {
  auto generic = recurrence.getWeights().getDefiningOp<linalg::GenericOp>();
  Type type = getElementTypeOrSelf(recurrence.getWeights());
  bool isMoved =
      generic && generic.getNumDpsInputs() == 1 &&
      generic.getMatchingIndexingMap(generic.getDpsInitOperand(0)).isIdentity() &&
      generic.getBody()->getTerminator()->getOperand(0) == generic.getBody()->getArgument(0);
  if (!isMoved || (!type.isF16() && !type.isBF16()) ||
      type != getElementTypeOrSelf(recurrence.getInitial().front()) ||
      recurrence.getUnits() % kMatrixDepth != 0 || !recurrence.getComputeType().isF32())
    return {};
  AffineMap map = generic.getMatchingIndexingMap(generic.getDpsInputOperand(0));
  AffineExpr depth = getAffineDimExpr(1, recurrence.getContext());
  return map.getNumResults() != 0 && map.getResults().back() == depth ? generic
                                                                      : linalg::GenericOp();
}

/// Matrix instructions for the gates of a phase: two gates of eight units each.
static int64_t tilesOf(int64_t gates) { return llvm::divideCeil(gates, 2); }

int64_t matrixCells(kernel::RecurrenceOp recurrence) {
  auto input = cast<RankedTensorType>(recurrence.getInput().getType());
  return input.getDimSize(recurrence.getRowsFirst() ? 0 : 1) == 1 ? 1 : 2;
}

bool keepsWeights(kernel::RecurrenceOp recurrence, const RecurrenceForm &form) {
  int64_t units = recurrence.getUnits(), registers = 0;
  if (!form.isMatrix) {
    registers = recurrence.getGates() * form.vector * form.deep * form.placesOfThread(units) *
                recurrence.getComputeType().getIntOrFloatBitWidth() / 32;
    return units == form.parts * form.deep && registers <= weightRegisters(form.threads);
  }
  for (int64_t gates : recurrence.getPhases())
    registers += tilesOf(gates) * units / kMatrixDepth * 4 * form.placesOfThread(units);
  return registers <= weightRegisters(form.threads);
}

namespace {

/// One unit of one row, whose states a thread has. Others may have the same ones.
struct Cell {
  Value row, unit;
  Value vectorRow; // in the block
  Value isOwn;     // whether this thread stores it for other threads
  Value isStored;  // the same, of rows that there are
  Value length;    // steps of the row; null: all
  SmallVector<Value> parameters;
};

/// Operands of matrix instructions: by step along the depth, four registers for two gates.
using Fragments = SmallVector<std::array<Value, 4>>;

/// A thread's units and its part of their sums.
struct Place {
  Value part, unit; // the first of its units
  Value isInside;   // null: always
  SmallVector<Cell> cells;
  SmallVector<SmallVector<Fragments>> kept; // by phase and two gates
};

class RecurrenceEmitter {
public:
  RecurrenceEmitter(KernelWriter &kernel, kernel::RecurrenceOp op, const RecurrenceForm &form)
      : kernel(kernel), b(kernel.b), loc(kernel.loc), op(op), form(form), units(op.getUnits()),
        type(op.getComputeType()), stateType(getElementTypeOrSelf(op.getInitial().front())),
        vectorType(form.isMatrix ? stateType : type),
        rowStride(units + (form.isMatrix ? kBankSkew : 0)), vectorElements(form.rows * rowStride),
        keeps(keepsWeights(op, form)) {}

  void emit();

private:
  //===-- Indices ---------------------------------------------------------------------------===//
  Value constant(int64_t value) { return kernel.constant(value); }
  Value compare(arith::CmpIPredicate predicate, Value x, Value y) {
    return b.create<arith::CmpIOp>(loc, predicate, x, y);
  }
  Value both(Value x, Value y) {
    return !x ? y : !y ? x : b.create<arith::AndIOp>(loc, x, y).getResult();
  }
  Value quotient(Value x, int64_t by) {
    return by == 1 ? x : b.create<arith::DivUIOp>(loc, x, constant(by)).getResult();
  }
  Value remainder(Value x, int64_t by) {
    return by == 1 ? constant(0) : b.create<arith::RemUIOp>(loc, x, constant(by)).getResult();
  }
  Value minimum(Value x, Value y) { return b.create<arith::MinUIOp>(loc, x, y); }
  /// Indices of a state's element, of an input's or of the sequence's.
  SmallVector<Value> stateIndices(const Cell &cell) const {
    if (op.getRowsFirst())
      return {cell.row, direction, cell.unit};
    return {direction, cell.row, cell.unit};
  }
  SmallVector<Value> inputIndices(const Cell &cell, Value step, Value gate) const {
    if (op.getRowsFirst())
      return {cell.row, step, direction, gate, cell.unit};
    return {step, cell.row, direction, gate, cell.unit};
  }
  SmallVector<Value> sequenceIndices(const Cell &cell, Value step) const {
    if (op.getRowsFirst())
      return {cell.row, step, direction, cell.unit};
    return {step, direction, cell.row, cell.unit};
  }

  //===-- Numbers ---------------------------------------------------------------------------===//
  Value wide(Value value) {
    return value.getType() == type ? value : b.create<arith::ExtFOp>(loc, type, value).getResult();
  }
  Value narrow(Value value) {
    return stateType == type ? value : b.create<arith::TruncFOp>(loc, stateType, value).getResult();
  }
  Value zero() { return b.create<arith::ConstantOp>(loc, b.getZeroAttr(type)); }
  void inBranch(Value condition, function_ref<void()> emitBranch) {
    if (!condition)
      return emitBranch();
    auto branch = b.create<scf::IfOp>(loc, condition, false);
    OpBuilder::InsertionGuard guard(b);
    b.setInsertionPointToStart(branch.thenBlock());
    emitBranch();
  }

  //===-- Parts -----------------------------------------------------------------------------===//
  Value ownUnit(Value unit) { return firstUnit ? kernel.add(firstUnit, unit) : unit; }
  void findBlock();
  void findPlaces();
  void findCells(Place &place);
  Cell cellAt(Value unit, Value row, Value isOwn);
  Value laneBit(const Place &place, int64_t mask) {
    Value bits = b.create<arith::AndIOp>(loc, place.part, constant(mask));
    return compare(arith::CmpIPredicate::ne, bits, constant(0));
  }
  /// By unit and row of a block, and gate: sums of a thread's part.
  using Sums = SmallVector<SmallVector<Value>>;
  Sums multiply(const Place &place, int64_t firstGate, int64_t gates, Value vector, Value offset);
  /// The same where one thread has all units.
  Sums multiplyOwn(const Place &place, int64_t firstGate, int64_t gates, ArrayRef<Value> factors);
  Sums multiplyAt(const Place &place, int64_t firstGate, int64_t gates, Value vector, Value offset,
                  Value depth, int64_t count, ValueRange before);
  /// Of all parts, for the cells of the thread.
  Sums exchange(const Place &place, Sums sums);
  void findMatrixPlaces();
  /// The weights of two gates, the second one perhaps beyond `end`, at a step along the depth.
  std::array<Value, 4> fragment(const Place &place, int64_t gate, int64_t end, Value depth);
  Sums multiplyMatrices(const Place &place, unsigned phase, int64_t firstGate, int64_t gates,
                        Value vector, Value offset);
  /// What each thread has a cell of, with the sums of a phase's gates.
  Sums sumsOf(const Place &place, unsigned phase, int64_t firstGate, int64_t gates, Value current,
              ArrayRef<Value> own);
  /// Waits for all threads that share vectors.
  void synchronise();
  /// For other threads, where there are any that read it.
  void storeVector(const Cell &cell, Value vector, Value offset, Value value);
  /// In each block's shared memory, at the same place; values of 32 or 64 bits.
  void storeInCluster(Value vector, Value at, Value value);
  void storeResult(Value destination, const Cell &cell, ArrayRef<Value> indices, Value value);
  SmallVector<Value> step(Value number, Value current, ValueRange states);
  SmallVector<Value> doSteps(ArrayRef<Value> carried);
  /// Where a row's step `number` is, and whether the row has it (null: always).
  std::pair<Value, Value> timeOf(const Cell &cell, Value number);

  KernelWriter &kernel;
  OpBuilder &b;
  Location loc;
  mutable kernel::RecurrenceOp op;
  RecurrenceForm form;
  int64_t units;
  Type type, stateType, vectorType;
  int64_t rowStride, vectorElements; // of a row's vector in shared memory; of those of all rows
  bool keeps;                        // weights are loaded once

  Value direction, isReverse; // the latter null where directions are alike
  Value firstRow, rows, steps;
  // Shared memory, where threads share the units: the first state twice; what later phases multiply.
  Value vectors, product;
  SmallVector<Place> places;
  Value firstUnit;         // of the block; null: 0
  Value laneRow, lanePair; // of a matrix: row, and the first of two columns or of the depth
};

} // namespace

void RecurrenceEmitter::findBlock() {
  int64_t stepDim = op.getRowsFirst() ? 1 : 0;
  steps = kernel.size(op.getInput(), stepDim);
  rows = kernel.size(op.getInput(), 1 - stepDim);
  Value block = kernel.blockId();
  if (form.blocks > 1) {
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
void RecurrenceEmitter::findMatrixPlaces() {
  Value thread = kernel.threadId(), lane = remainder(thread, kWarp), warp = quotient(thread, kWarp);
  constexpr int64_t kGroup = 8;
  int64_t groups = units / form.blocks / kGroup, warps = form.threads / kWarp;
  laneRow = quotient(lane, 4);
  lanePair = kernel.mul(remainder(lane, 4), constant(2));
  for (int64_t first = 0; first < groups; first += warps) {
    Place place;
    Value group = kernel.add(warp, constant(first));
    if (first + warps > groups) {
      place.isInside = compare(arith::CmpIPredicate::ult, group, constant(groups));
      group = minimum(group, constant(groups - 1));
    }
    place.unit = ownUnit(kernel.add(kernel.mul(group, constant(kGroup)), laneRow));
    for (int64_t i = 0; i < matrixCells(op); ++i)
      place.cells.push_back(cellAt(place.unit, kernel.add(lanePair, constant(i)), place.isInside));
    places.push_back(std::move(place));
  }
  if (!keeps)
    return;
  for (Place &place : places) {
    int64_t firstGate = 0;
    for (int64_t gates : op.getPhases()) {
      SmallVector<Fragments> &tiles = place.kept.emplace_back();
      for (int64_t gate = 0; gate < gates; gate += 2) {
        Fragments &steps = tiles.emplace_back();
        for (int64_t depth = 0; depth < units; depth += kMatrixDepth)
          steps.push_back(fragment(place, firstGate + gate, firstGate + gates, constant(depth)));
      }
      firstGate += gates;
    }
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

Cell RecurrenceEmitter::cellAt(Value unit, Value row, Value isOwn) {
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

/// `before` and the products of `count` neighbours along the depth.
RecurrenceEmitter::Sums RecurrenceEmitter::multiplyAt(const Place &place, int64_t firstGate,
                                                      int64_t gates, Value vector, Value offset,
                                                      Value depth, int64_t count,
                                                      ValueRange before) {
  SmallVector<SmallVector<Value>> factors; // by row
  for (int64_t row = 0; row < form.rows; ++row) {
    Value at = kernel.add(kernel.add(offset, constant(row * units)), depth);
    factors.push_back(kernel.load(vector, at, count));
  }
  Sums sums(form.rows * form.vector);
  for (auto [number, value] : llvm::enumerate(before))
    sums[number / gates].push_back(value);
  for (int64_t i = 0; i < count; ++i)
    for (int64_t gate = 0; gate < gates; ++gate) {
      SmallVector<Value> weights = kernel.elements(
          op.getWeights(),
          {direction, kernel.add(depth, constant(i)), constant(firstGate + gate), place.unit},
          form.vector);
      for (auto [unit, weight] : llvm::enumerate(weights)) {
        Value factor = wide(weight);
        for (int64_t row = 0; row < form.rows; ++row) {
          Value &sum = sums[row * form.vector + unit][gate];
          sum = b.create<math::FmaOp>(loc, factors[row][i], factor, sum);
        }
      }
    }
  return sums;
}

RecurrenceEmitter::Sums RecurrenceEmitter::multiply(const Place &place, int64_t firstGate,
                                                    int64_t gates, Value vector, Value offset) {
  int64_t stride = form.parts * form.deep;
  SmallVector<Value> zeros(form.rows * form.vector * gates, zero());
  // Neighbouring threads read neighbours along the depth: of shared memory, in different banks.
  bool divides = units % stride == 0;
  Value begin = divides ? constant(0) : place.part;
  auto loop = b.create<scf::ForOp>(loc, begin, constant(units), constant(stride), zeros);
  {
    OpBuilder::InsertionGuard guard(b);
    b.setInsertionPointToStart(loop.getBody());
    Value depth = loop.getInductionVar();
    if (divides)
      depth = kernel.add(depth, kernel.mul(place.part, constant(form.deep)));
    Sums sums = multiplyAt(place, firstGate, gates, vector, offset, depth, form.deep,
                           loop.getRegionIterArgs());
    SmallVector<Value> yielded;
    for (ArrayRef<Value> ofCell : sums)
      llvm::append_range(yielded, ofCell);
    b.create<scf::YieldOp>(loc, yielded);
  }
  Sums sums(form.rows * form.vector);
  for (auto [number, value] : llvm::enumerate(loop.getResults()))
    sums[number / gates].push_back(value);
  return sums;
}

RecurrenceEmitter::Sums RecurrenceEmitter::multiplyOwn(const Place &place, int64_t firstGate,
                                                       int64_t gates, ArrayRef<Value> factors) {
  Sums sums(factors.size(), SmallVector<Value>(gates, zero()));
  for (int64_t depth = 0; depth < units; ++depth)
    for (int64_t gate = 0; gate < gates; ++gate) {
      SmallVector<Value> weights = kernel.elements(
          op.getWeights(), {direction, constant(depth), constant(firstGate + gate), place.unit},
          form.vector);
      for (auto [unit, weight] : llvm::enumerate(weights))
        for (int64_t row = 0; row < form.rows; ++row) {
          Value &sum = sums[row * form.vector + unit][gate];
          sum = b.create<math::FmaOp>(loc, factors[row * form.vector + depth], wide(weight), sum);
        }
    }
  return sums;
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

std::array<Value, 4> RecurrenceEmitter::fragment(const Place &place, int64_t gate, int64_t end,
                                                 Value depth) {
  linalg::GenericOp generic = matrixWeights(op);
  auto pair = VectorType::get({2}, stateType);
  std::array<Value, 4> registers;
  for (int64_t i = 0; i < 4; ++i) {
    // Rows of the second gate are behind those of the first; the depth's second half comes last.
    int64_t row = std::min(gate + i % 2, end - 1);
    Value from = kernel.add(kernel.add(depth, constant(i / 2 * 8)), lanePair);
    SmallVector<Value> two = kernel.input(generic.getDpsInputOperand(0),
                                          {direction, from, constant(row), place.unit}, 1, 2);
    registers[i] = b.create<vector::FromElementsOp>(loc, pair, two);
  }
  return registers;
}

RecurrenceEmitter::Sums RecurrenceEmitter::multiplyMatrices(const Place &place, unsigned phase,
                                                            int64_t firstGate, int64_t gates,
                                                            Value vector, Value offset) {
  auto pair = VectorType::get({2}, stateType);
  std::string name =
      llvm::formatv("mma.sync.aligned.m{0}n{1}k{2}.row.col.f32.{3}.{3}.f32", kMatrixSums,
                    kMatrixRows, kMatrixDepth, stateType.isF16() ? "f16" : "bf16");
  Value begin = kernel.add(offset, kernel.mul(laneRow, constant(rowStride)));
  // Registers of two gates each, one after another.
  auto multiplyStep = [&](Value depth, ValueRange before, std::optional<int64_t> number) {
    SmallVector<Value> state;
    for (int64_t half : {0, 8}) {
      Value at = kernel.add(kernel.add(begin, kernel.add(depth, constant(half))), lanePair);
      state.push_back(b.create<vector::FromElementsOp>(loc, pair, kernel.load(vector, at, 2)));
    }
    SmallVector<Value> after;
    for (int64_t tile = 0; tile < tilesOf(gates); ++tile) {
      std::array<Value, 4> weights =
          number ? place.kept[phase][tile][*number]
                 : fragment(place, firstGate + 2 * tile, firstGate + gates, depth);
      SmallVector<Value> operands(weights.begin(), weights.end());
      llvm::append_range(operands, state);
      llvm::append_range(operands, before.slice(tile * 4, 4));
      auto product =
          b.create<kernel::PtxOp>(loc, SmallVector<Type>(4, type), b.getStringAttr(name), operands);
      llvm::append_range(after, product.getOutputs());
    }
    return after;
  };
  SmallVector<Value> sums(4 * tilesOf(gates), zero());
  if (keeps) {
    for (int64_t number = 0; number < units / kMatrixDepth; ++number)
      sums = multiplyStep(constant(number * kMatrixDepth), sums, number);
  } else {
    auto loop =
        b.create<scf::ForOp>(loc, constant(0), constant(units), constant(kMatrixDepth), sums);
    OpBuilder::InsertionGuard guard(b);
    b.setInsertionPointToStart(loop.getBody());
    b.create<scf::YieldOp>(
        loc, multiplyStep(loop.getInductionVar(), loop.getRegionIterArgs(), std::nullopt));
    sums.assign(loop.getResults().begin(), loop.getResults().end());
  }
  Sums result(place.cells.size());
  for (size_t cell = 0; cell < result.size(); ++cell)
    for (int64_t gate = 0; gate < gates; ++gate)
      result[cell].push_back(sums[gate / 2 * 4 + gate % 2 * 2 + cell]);
  return result;
}

RecurrenceEmitter::Sums RecurrenceEmitter::sumsOf(const Place &place, unsigned phase,
                                                  int64_t firstGate, int64_t gates, Value current,
                                                  ArrayRef<Value> own) {
  if (!vectors)
    return multiplyOwn(place, firstGate, gates, own);
  Value vector = phase == 0 ? vectors : product, offset = phase == 0 ? current : constant(0);
  return form.isMatrix ? multiplyMatrices(place, phase, firstGate, gates, vector, offset)
                       : exchange(place, multiply(place, firstGate, gates, vector, offset));
}

void RecurrenceEmitter::storeVector(const Cell &cell, Value vector, Value offset, Value value) {
  if (!vector)
    return;
  Value row = kernel.mul(cell.vectorRow, constant(rowStride));
  Value at = kernel.add(offset, kernel.add(row, cell.unit));
  if (form.blocks == 1)
    return inBranch(cell.isOwn, [&] {
      b.create<memref::StoreOp>(loc, form.isMatrix ? narrow(value) : value, vector, at);
    });
  if (!form.isMatrix)
    return inBranch(cell.isOwn, [&] { storeInCluster(vector, at, value); });
  // Of two neighbours, four lanes apart, the first one stores both.
  Value four = b.create<arith::ConstantIntOp>(loc, 4, 32);
  Value width = b.create<arith::ConstantIntOp>(loc, kWarp, 32);
  Value other =
      b.create<gpu::ShuffleOp>(loc, value, four, width, gpu::ShuffleMode::XOR).getShuffleResult();
  Value isFirst = compare(arith::CmpIPredicate::eq, remainder(laneRow, 2), constant(0));
  inBranch(both(cell.isOwn, isFirst), [&] {
    Value pair = b.create<vector::FromElementsOp>(loc, VectorType::get({2}, stateType),
                                                  ValueRange{narrow(value), narrow(other)});
    Value word = b.create<vector::BitCastOp>(loc, VectorType::get({1}, b.getI32Type()), pair);
    storeInCluster(vector, at, b.create<vector::ExtractOp>(loc, word, 0));
  });
}

void RecurrenceEmitter::storeInCluster(Value vector, Value at, Value value) {
  auto pointer = LLVM::LLVMPointerType::get(b.getContext(), kShared);
  Value own = b.create<kernel::AddressOp>(loc, pointer, vector, at);
  Type stored = value.getType();
  std::string name = llvm::formatv("st.shared::cluster.{0}{1}", isa<FloatType>(stored) ? "f" : "b",
                                   stored.getIntOrFloatBitWidth());
  for (int64_t block = 0; block < form.blocks; ++block) {
    Value number = b.create<arith::ConstantIntOp>(loc, block, 32);
    Value there = b.create<kernel::PtxOp>(loc, TypeRange{pointer}, "mapa.shared::cluster.u32",
                                          ValueRange{own, number})
                      .getResult(0);
    b.create<kernel::PtxOp>(loc, TypeRange(), name, ValueRange{there, value});
  }
}

void RecurrenceEmitter::synchronise() {
  if (!vectors)
    return;
  if (form.blocks == 1) {
    b.create<gpu::BarrierOp>(loc);
    return;
  }
  for (StringRef instruction :
       {"barrier.cluster.arrive.release.aligned", "barrier.cluster.wait.acquire.aligned"})
    b.create<kernel::PtxOp>(loc, TypeRange(), instruction, ValueRange());
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

/// The states behind a step, which reads what shared memory has from `current` on.
SmallVector<Value> RecurrenceEmitter::step(Value number, Value current, ValueRange states) {
  size_t stateCount = op.getInitial().size(), next = 0;
  struct Work {
    Place *place;
    Cell *cell;
    Value time, exists;
    SmallVector<Value> inputs, before, passed;
  };
  auto loadInputs = [&](Work &w) {
    for (int64_t gate = 0; gate < op.getGates(); ++gate)
      w.inputs.push_back(
          kernel.element(op.getInput(), inputIndices(*w.cell, w.time, constant(gate))));
  };
  SmallVector<Work> work;
  for (Place &place : places)
    for (Cell &cell : place.cells) {
      Work &w = work.emplace_back(Work{&place, &cell, {}, {}, {}, {}, {}});
      std::tie(w.time, w.exists) = timeOf(cell, number);
      // Asked for before the products, which take longer than memory, where registers allow.
      if (places.size() * place.cells.size() <= kCellsAhead)
        loadInputs(w);
      w.before = llvm::to_vector(states.slice(next, stateCount));
      next += stateCount;
    }
  Value following = b.create<arith::SubIOp>(loc, constant(vectorElements), current);
  SmallVector<Value> result;
  int64_t firstGate = 0;
  for (auto [phase, gates] : llvm::enumerate(op.getPhases())) {
    bool isLast = phase + 1 == op.getPhases().size();
    Block *cellBody = &op.getCells()[phase].front();
    Work *w = work.begin();
    for (Place &place : places) {
      SmallVector<Value> own;
      for (const Work &ofCell : ArrayRef(w, place.cells.size()))
        own.push_back(phase == 0 ? ofCell.before.front() : ofCell.passed.front());
      Sums sums = sumsOf(place, phase, firstGate, gates, current, own);
      for (ArrayRef<Value> ofCell : sums) {
        if (w->inputs.empty())
          loadInputs(*w);
        SmallVector<Value> arguments{direction};
        llvm::append_range(arguments, ArrayRef(w->inputs).slice(firstGate, gates));
        llvm::append_range(arguments, ofCell);
        llvm::append_range(arguments, w->cell->parameters);
        llvm::append_range(arguments, w->before);
        llvm::append_range(arguments, w->passed);
        w->passed = kernel.inlineBlock(cellBody, {}, arguments);
        if (!isLast)
          storeVector(*w->cell, product, constant(0), w->passed.front());
        ++w;
      }
    }
    firstGate += gates;
    if (!isLast)
      synchronise();
  }
  for (Work &w : work) {
    for (auto [state, value] : llvm::enumerate(w.passed)) {
      value = wide(narrow(value));
      if (w.exists)
        value = b.create<arith::SelectOp>(loc, w.exists, value, w.before[state]);
      result.push_back(value);
    }
    Value first = result[result.size() - stateCount];
    storeVector(*w.cell, vectors, following, first);
    if (!op.hasSequence())
      continue;
    Value shown =
        w.exists ? b.create<arith::SelectOp>(loc, w.exists, first, zero()).getResult() : first;
    storeResult(op.getInits().front(), *w.cell, sequenceIndices(*w.cell, w.time), shown);
  }
  return result;
}

void RecurrenceEmitter::emit() {
  findBlock();
  if (!isAlone(form, units) && !isConstantIntValue(steps, 0)) {
    vectors = kernel.sharedMemory(2 * vectorElements, vectorType);
    if (op.getPhases().size() > 1)
      product = kernel.sharedMemory(vectorElements, vectorType);
  }
  if (form.isMatrix)
    findMatrixPlaces();
  else
    findPlaces();
  // Other blocks' memory is there when these have begun.
  if (form.blocks > 1)
    synchronise();
  // Rows that there are not are multiplied, too.
  if (form.isMatrix && vectors && matrixCells(op) == 1)
    for (Place &place : places) {
      Cell other = place.cells.front();
      other.vectorRow = kernel.add(other.vectorRow, constant(1));
      for (int64_t copy : {0, 1})
        storeVector(other, vectors, constant(copy * vectorElements), zero());
      if (product)
        storeVector(other, product, constant(0), zero());
    }
  SmallVector<Value> carried{constant(0)};
  for (Place &place : places)
    for (Cell &cell : place.cells)
      for (auto [state, initial] : llvm::enumerate(op.getInitial())) {
        carried.push_back(wide(kernel.element(initial, stateIndices(cell))));
        if (state == 0)
          storeVector(cell, vectors, constant(0), carried.back());
      }
  if (!isConstantIntValue(steps, 0))
    carried = doSteps(carried);
  auto last = carried.begin() + 1;
  for (Place &place : places)
    for (Cell &cell : place.cells)
      for (Value destination : op.getInits().take_back(op.getInitial().size()))
        storeResult(destination, cell, stateIndices(cell), *last++);
}

/// Where shared memory has the first state, and the states, behind all steps.
SmallVector<Value> RecurrenceEmitter::doSteps(ArrayRef<Value> carried) {
  synchronise();
  auto loop = b.create<scf::ForOp>(loc, constant(0), steps, constant(1), carried);
  OpBuilder::InsertionGuard guard(b);
  b.setInsertionPointToStart(loop.getBody());
  Value current = loop.getRegionIterArgs().front();
  SmallVector<Value> after =
      step(loop.getInductionVar(), current, loop.getRegionIterArgs().drop_front());
  synchronise();
  Value following = b.create<arith::SubIOp>(loc, constant(vectorElements), current);
  after.insert(after.begin(), following);
  b.create<scf::YieldOp>(loc, after);
  return SmallVector<Value>(loop.getResults());
}

void emitRecurrence(KernelWriter &kernel, kernel::RecurrenceOp recurrence,
                    const RecurrenceForm &form) {
  RecurrenceEmitter(kernel, recurrence, form).emit();
}

} // namespace cameo
