// Emitting one step of a recurrent network, or a phase of it, as a launch of many blocks.
//
//   sums of units' gates     neighbouring threads, or a block's warps where Tensor Cores multiply, each
//                            add up a part of the depth; the weights are read as they are in memory,
//                            depth innermost, the states from slots that the launch before has left
//   cells                    one thread has all gates of a unit; states go to slots, the first one by
//                            turns to two, so that blocks that still read the one before find it
//
// The first launch reads the initial states in place of slots, the last one stores the last states.
//
// SPDX-License-Identifier: Apache-2.0
#include "codegen/schedule/RecurrenceEmitter.h"

#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"

using namespace mlir;

namespace cameo {

/// The slot of what a phase hands on first: behind those of states.
static int64_t firstPassedSlot(kernel::RecurrenceOp recurrence) {
  return int64_t(recurrence.getInitial().size()) + 1;
}

int64_t recurrenceSlots(kernel::RecurrenceOp recurrence) {
  int64_t passed = 0;
  for (Region &cell : recurrence.getCells().drop_back())
    passed = std::max<int64_t>(passed, cell.front().getTerminator()->getNumOperands());
  return firstPassedSlot(recurrence) + passed;
}

namespace {

class StepEmitter : RecurrenceEmitter {
public:
  StepEmitter(KernelWriter &kernel, kernel::RecurrenceOp op, const RecurrenceForm &form,
              Value workspace)
      : RecurrenceEmitter(kernel, op, form), workspace(workspace) {}

  void emit();

private:
  /// Neighbours along the depth that a row's product reads, in the type that is computed in.
  using Source = std::function<SmallVector<Value>(Value row, Value depth, int64_t count)>;
  /// A cell in the phase that is written.
  struct Work {
    Value time, exists;
    SmallVector<Value> inputs;
  };

  void findPlace();
  void findMatrixPlace();
  Value rowAt(Value row) {
    Value last = b.create<arith::SubIOp>(loc, rows, constant(1));
    return minimum(kernel.add(firstRow, row), last);
  }
  Value slot(Value number) {
    SmallVector<Value> sizes{constant(recurrenceSlots(op)), constant(op.getDirections()), rows,
                             constant(units)};
    Value zero = constant(0);
    return kernel.advanced(kernel.memory(workspace),
                           kernel.wideOffset({number, zero, zero, zero}, sizes));
  }
  Value slotOffset(Value row, Value unit) {
    return kernel.linearize({direction, row, unit},
                            {constant(op.getDirections()), rows, constant(units)});
  }
  /// What a cell's own thread alone reads, since it writes another value there.
  Value load(Value slot, const Cell &cell) {
    auto read = [&] {
      return b.create<memref::LoadOp>(loc, slot, slotOffset(cell.row, cell.unit)).getResult();
    };
    if (!cell.isStored)
      return read();
    auto branch = b.create<scf::IfOp>(loc, type, cell.isStored, /*withElseRegion=*/true);
    for (bool isOwn : {true, false}) {
      OpBuilder::InsertionGuard guard(b);
      b.setInsertionPointToStart(isOwn ? branch.thenBlock() : branch.elseBlock());
      Value value = isOwn ? read() : zero();
      b.create<scf::YieldOp>(loc, value);
    }
    return branch.getResult(0);
  }
  void store(Value slot, const Cell &cell, Value value) {
    inBranch(cell.isStored,
             [&] { b.create<memref::StoreOp>(loc, value, slot, slotOffset(cell.row, cell.unit)); });
  }
  Source initialSource();
  Source slotSource(Value number);
  /// `count` values that the first step reads otherwise than later ones.
  SmallVector<Value> byStep(size_t count, function_ref<SmallVector<Value>(bool isFirst)> read);

  SmallVector<Value> partialSums(const Place &place, unsigned phase, int64_t firstGate);
  SmallVector<Value> laneSums(const Place &place, int64_t firstGate, int64_t gates,
                              const Source &source);
  SmallVector<Value> matrixSums(const Place &place, int64_t firstGate, int64_t gates,
                                const Source &source);
  void addWarps(size_t count, SmallVector<Value> partial,
                function_ref<void(ArrayRef<Value>)> useSums);
  void emitPhase(unsigned phase, int64_t firstGate);
  void emitCells(const Place &place, unsigned phase, ArrayRef<Work> work, const Sums &sums);
  void storeStates(const Cell &cell, const Work &work, ArrayRef<Value> before,
                   ArrayRef<Value> after);
  void storeLast(const Cell &cell, ValueRange states);
  void emitStep();

  Value workspace;
  Value number, stepNumber, parity; // of the launch; of the step; which of two slots it reads
  Value isFirst, isLast;            // null: the step is
  Value warp, lane;
};

} // namespace

void StepEmitter::findPlace() {
  Place &place = places.emplace_back();
  Value thread = kernel.threadId();
  Value unit = ownUnit(quotient(thread, form.parts));
  if (units % unitsOfStep(form) != 0)
    place.isInside = compare(arith::CmpIPredicate::ult, unit, constant(units));
  // Threads behind the last unit take part in shuffles.
  place.unit = place.isInside ? minimum(unit, constant(units - 1)) : unit;
  place.part = remainder(thread, form.parts);
  findCells(place);
}

void StepEmitter::findMatrixPlace() {
  Place &place = places.emplace_back();
  Value thread = kernel.threadId();
  lane = remainder(thread, kWarp);
  warp = quotient(thread, kWarp);
  laneRow = quotient(lane, 4);
  lanePair = kernel.mul(remainder(lane, 4), constant(2));
  place.unit = ownUnit(laneRow);
  for (int64_t i = 0; i < matrixCells(op); ++i)
    place.cells.push_back(cellAt(place.unit, kernel.add(lanePair, constant(i)), Value()));
}

StepEmitter::Source StepEmitter::initialSource() {
  return [this](Value row, Value depth, int64_t count) {
    SmallVector<Value> indices{direction, row, depth};
    if (op.getRowsFirst())
      std::swap(indices[0], indices[1]);
    SmallVector<Value> values = kernel.elements(op.getInitial().front(), indices, count);
    for (Value &value : values)
      value = wide(value);
    return values;
  };
}

StepEmitter::Source StepEmitter::slotSource(Value number) {
  Value memory = slot(number);
  return [this, memory](Value row, Value depth, int64_t count) {
    return kernel.load(memory, slotOffset(row, depth), count);
  };
}

SmallVector<Value> StepEmitter::byStep(size_t count,
                                       function_ref<SmallVector<Value>(bool isFirst)> read) {
  if (!isFirst)
    return read(true);
  auto branch = b.create<scf::IfOp>(loc, SmallVector<Type>(count, type), isFirst, true);
  for (bool first : {true, false}) {
    OpBuilder::InsertionGuard guard(b);
    b.setInsertionPointToStart(first ? branch.thenBlock() : branch.elseBlock());
    SmallVector<Value> values = read(first);
    b.create<scf::YieldOp>(loc, values);
  }
  return SmallVector<Value>(branch.getResults());
}

/// By row and gate, of the thread's part of the depth.
SmallVector<Value> StepEmitter::laneSums(const Place &place, int64_t firstGate, int64_t gates,
                                         const Source &source) {
  SmallVector<Value> zeros(form.rows * gates, zero()), rowsOfBlock;
  for (int64_t row = 0; row < form.rows; ++row)
    rowsOfBlock.push_back(form.rows == 1 ? firstRow : rowAt(constant(row)));
  Value begin = kernel.mul(place.part, constant(form.deep));
  auto loop =
      b.create<scf::ForOp>(loc, begin, constant(units), constant(form.parts * form.deep), zeros);
  OpBuilder::InsertionGuard guard(b);
  b.setInsertionPointToStart(loop.getBody());
  Value depth = loop.getInductionVar();
  SmallVector<SmallVector<Value>> factors, weights;
  for (int64_t gate = 0; gate < gates; ++gate)
    weights.push_back(weightsAlong(depth, firstGate + gate, place.unit, form.deep));
  for (Value row : rowsOfBlock)
    factors.push_back(source(row, depth, form.deep));
  SmallVector<Value> sums(loop.getRegionIterArgs());
  for (int64_t i = 0; i < form.deep; ++i)
    for (int64_t gate = 0; gate < gates; ++gate) {
      Value weight = wide(weights[gate][i]);
      for (int64_t row = 0; row < form.rows; ++row) {
        Value &sum = sums[row * gates + gate];
        sum = b.create<math::FmaOp>(loc, factors[row][i], weight, sum);
      }
    }
  b.create<scf::YieldOp>(loc, sums);
  return SmallVector<Value>(loop.getResults());
}

/// Registers of the tiles of gates, of the warp's part of the depth.
SmallVector<Value> StepEmitter::matrixSums(const Place &place, int64_t firstGate, int64_t gates,
                                           const Source &source) {
  SmallVector<Value> zeros(4 * tilesOf(gates), zero());
  Value row = rowAt(laneRow), begin = kernel.mul(warp, constant(kMatrixDepth));
  auto loop = b.create<scf::ForOp>(loc, constant(0), constant(units),
                                   constant(form.splits * kMatrixDepth), zeros);
  OpBuilder::InsertionGuard guard(b);
  b.setInsertionPointToStart(loop.getBody());
  Value depth = kernel.add(loop.getInductionVar(), begin);
  auto pair = VectorType::get({2}, stateType);
  SmallVector<Value> state;
  for (int64_t half : {0, 8}) {
    SmallVector<Value> two =
        source(row, kernel.add(kernel.add(depth, constant(half)), lanePair), 2);
    state.push_back(b.create<vector::FromElementsOp>(
        loc, pair, ValueRange{narrow(two.front()), narrow(two.back())}));
  }
  Fragments weights;
  for (int64_t tile = 0; tile < tilesOf(gates); ++tile)
    weights.push_back(fragment(place, firstGate + 2 * tile, firstGate + gates, depth));
  b.create<scf::YieldOp>(loc, multiplyTiles(weights, state, loop.getRegionIterArgs()));
  return SmallVector<Value>(loop.getResults());
}

SmallVector<Value> StepEmitter::partialSums(const Place &place, unsigned phase, int64_t firstGate) {
  int64_t gates = op.getPhases()[phase];
  auto multiply = [&](const Source &source) {
    return form.isMatrix ? matrixSums(place, firstGate, gates, source)
                         : laneSums(place, firstGate, gates, source);
  };
  if (phase > 0)
    return multiply(slotSource(constant(firstPassedSlot(op))));
  size_t count = form.isMatrix ? 4 * tilesOf(gates) : form.rows * gates;
  return byStep(count, [&](bool isInitial) {
    return multiply(isInitial ? initialSource() : slotSource(parity));
  });
}

/// Has the first warp use the sums of all, in their order.
void StepEmitter::addWarps(size_t count, SmallVector<Value> partial,
                           function_ref<void(ArrayRef<Value>)> useSums) {
  if (form.splits == 1)
    return useSums(partial);
  Value shared = kernel.sharedMemory(form.splits * count * kWarp, type);
  auto at = [&](Value warp, size_t i) { return sharedSum(warp, i, count, lane); };
  Value isFirstWarp = compare(arith::CmpIPredicate::eq, warp, constant(0));
  Value isOther = compare(arith::CmpIPredicate::ne, warp, constant(0));
  inBranch(isOther, [&] {
    for (auto [i, value] : llvm::enumerate(partial))
      b.create<memref::StoreOp>(loc, value, shared, at(warp, i));
  });
  b.create<gpu::BarrierOp>(loc);
  inBranch(isFirstWarp, [&] {
    for (int64_t other = 1; other < form.splits; ++other)
      for (auto [i, sum] : llvm::enumerate(partial)) {
        Value part = b.create<memref::LoadOp>(loc, shared, at(constant(other), i));
        sum = b.create<arith::AddFOp>(loc, sum, part);
      }
    useSums(partial);
  });
}

void StepEmitter::emitPhase(unsigned phase, int64_t firstGate) {
  const Place &place = places.front();
  int64_t gates = op.getPhases()[phase];
  SmallVector<Work> work;
  // Asked for before the products, which take longer than memory.
  for (const Cell &cell : place.cells) {
    Work &w = work.emplace_back();
    std::tie(w.time, w.exists) = timeOf(cell, stepNumber);
    for (int64_t gate = firstGate; gate < firstGate + gates; ++gate)
      w.inputs.push_back(kernel.element(op.getInput(), inputIndices(cell, w.time, constant(gate))));
  }
  SmallVector<Value> partial = partialSums(place, phase, firstGate);
  if (form.isMatrix)
    return addWarps(partial.size(), partial, [&](ArrayRef<Value> tiles) {
      emitCells(place, phase, work, sumsOfTiles(place, gates, tiles));
    });
  Sums sums;
  for (int64_t row = 0; row < form.rows; ++row)
    sums.push_back(llvm::to_vector(ArrayRef(partial).slice(row * gates, gates)));
  emitCells(place, phase, work, exchange(place, sums));
}

void StepEmitter::emitCells(const Place &place, unsigned phase, ArrayRef<Work> work,
                            const Sums &sums) {
  size_t stateCount = op.getInitial().size();
  bool isLastPhase = phase + 1 == op.getPhases().size();
  for (auto [number, cell] : llvm::enumerate(place.cells)) {
    SmallVector<Value> before = byStep(stateCount, [&, &cell = cell](bool isInitial) {
      SmallVector<Value> states;
      for (auto [state, initial] : llvm::enumerate(op.getInitial()))
        states.push_back(isInitial    ? wide(kernel.element(initial, stateIndices(cell)))
                         : state == 0 ? load(slot(parity), cell)
                                      : load(slot(constant(state + 1)), cell));
      return states;
    });
    SmallVector<Value> arguments{direction};
    llvm::append_range(arguments, work[number].inputs);
    llvm::append_range(arguments, sums[number]);
    llvm::append_range(arguments, cell.parameters);
    llvm::append_range(arguments, before);
    if (phase > 0)
      for (unsigned i = 0, end = op.getCells()[phase - 1].front().getTerminator()->getNumOperands();
           i < end; ++i)
        arguments.push_back(load(slot(constant(firstPassedSlot(op) + i)), cell));
    SmallVector<Value> after = kernel.inlineBlock(&op.getCells()[phase].front(), {}, arguments);
    if (isLastPhase)
      storeStates(cell, work[number], before, after);
    else
      for (auto [i, value] : llvm::enumerate(after))
        store(slot(constant(firstPassedSlot(op) + i)), cell, value);
  }
}

void StepEmitter::storeStates(const Cell &cell, const Work &work, ArrayRef<Value> before,
                              ArrayRef<Value> after) {
  SmallVector<Value> states;
  for (auto [value, old] : llvm::zip(after, before)) {
    Value rounded = wide(narrow(value));
    states.push_back(work.exists
                         ? b.create<arith::SelectOp>(loc, work.exists, rounded, old).getResult()
                         : rounded);
  }
  if (isFirst) {
    Value other = b.create<arith::SubIOp>(loc, constant(1), parity);
    for (auto [state, value] : llvm::enumerate(states))
      store(slot(state == 0 ? other : constant(state + 1)), cell, value);
  }
  inBranch(isLast, [&] { storeLast(cell, states); });
  if (!op.hasSequence())
    return;
  Value shown =
      work.exists ? b.create<arith::SelectOp>(loc, work.exists, states.front(), zero()).getResult()
                  : states.front();
  storeResult(op.getInits().front(), cell, sequenceIndices(cell, work.time), shown);
}

void StepEmitter::storeLast(const Cell &cell, ValueRange states) {
  for (auto [destination, value] :
       llvm::zip(op.getInits().take_back(op.getInitial().size()), states))
    storeResult(destination, cell, stateIndices(cell), value);
}

void StepEmitter::emitStep() {
  int64_t phases = op.getPhases().size(), firstGate = 0;
  Value phaseNumber = phases > 1 ? remainder(number, phases) : Value();
  for (auto [phase, gates] : llvm::enumerate(op.getPhases())) {
    Value isNow =
        phaseNumber ? compare(arith::CmpIPredicate::eq, phaseNumber, constant(phase)) : Value();
    inBranch(isNow, [&, phase = phase] { emitPhase(phase, firstGate); });
    firstGate += gates;
  }
}

void StepEmitter::emit() {
  kernel.synchronises = true;
  findBlock();
  if (form.isMatrix)
    findMatrixPlace();
  else
    findPlace();
  number = kernel.launchNumber ? kernel.launchNumber : constant(0);
  stepNumber = quotient(number, op.getPhases().size());
  parity = remainder(stepNumber, 2);
  if (!isConstantIntValue(steps, 1)) {
    isFirst = compare(arith::CmpIPredicate::eq, stepNumber, constant(0));
    Value last = b.create<arith::SubIOp>(loc, steps, constant(1));
    isLast = compare(arith::CmpIPredicate::eq, stepNumber, last);
  }
  auto storeInitial = [&] {
    Value isWriter =
        form.splits > 1 ? compare(arith::CmpIPredicate::eq, warp, constant(0)) : Value();
    inBranch(isWriter, [&] {
      for (const Cell &cell : places.front().cells) {
        SmallVector<Value> states;
        for (Value initial : op.getInitial())
          states.push_back(wide(kernel.element(initial, stateIndices(cell))));
        storeLast(cell, states);
      }
    });
  };
  if (getConstantIntValue(steps))
    return isConstantIntValue(steps, 0) ? storeInitial() : emitStep();
  Value isSome = compare(arith::CmpIPredicate::ne, steps, constant(0));
  auto choice = b.create<scf::IfOp>(loc, isSome, /*withElseRegion=*/true);
  OpBuilder::InsertionGuard guard(b);
  b.setInsertionPointToStart(choice.elseBlock());
  storeInitial();
  b.setInsertionPointToStart(choice.thenBlock());
  emitStep();
}

void emitRecurrenceStep(KernelWriter &kernel, kernel::RecurrenceOp recurrence,
                        const RecurrenceForm &form, Value workspace) {
  StepEmitter(kernel, recurrence, form, workspace).emit();
}

} // namespace cameo
