// Emitting the steps of a recurrent network as a loop in each block.
//
//   for each step                      one block for a direction and a few rows
//     sums of units' gates             threads beside one another each add up a part of the depth,
//                                      then exchange by shuffles, so that each has cells of its own
//     cells                            states stay in registers; the vector that the next product
//     barrier                          reads is in shared memory, twice, so that one barrier will do
//
// Blocks of a cluster have a part of the units each. What the next product reads they store in one
// another's shared memory, and they wait for one another. Warps that share the depth of Tensor Cores'
// sums exchange these through shared memory; each computes the cells then, and one stores them.
//
// An element's sum is added up in an order that depends on `parts`, `deep` and `splits` alone: not on how
// many rows, directions or steps there are.
//
// SPDX-License-Identifier: Apache-2.0
#include "codegen/schedule/RecurrenceEmitter.h"

#include "codegen/lower/DevicePatterns.h"

#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
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

/// Registers of a lane for the sums of a phase's tiles at most.
static int64_t mostTileSums(kernel::RecurrenceOp recurrence) {
  return 4 * tilesOf(*llvm::max_element(recurrence.getPhases()));
}

int64_t recurrenceShared(kernel::RecurrenceOp recurrence, const RecurrenceForm &form) {
  if (form.isStep) {
    int64_t sums = 0; // of each phase's tiles
    for (int64_t gates : recurrence.getPhases())
      sums += 4 * tilesOf(gates);
    return form.splits > 1 ? form.splits * sums * kWarp * int64_t(sizeof(float)) : 0;
  }
  int64_t sums =
      form.splits > 1 ? form.threads * mostTileSums(recurrence) * int64_t(sizeof(float)) : 0;
  if (isAlone(form, recurrence.getUnits()))
    return 0;
  Type type = form.isMatrix ? getElementTypeOrSelf(recurrence.getInitial().front())
                            : recurrence.getComputeType();
  int64_t stride = recurrence.getUnits() + (form.isMatrix ? kBankSkew : 0);
  return sums + (recurrence.getPhases().size() + 1) * form.rows * stride *
                    type.getIntOrFloatBitWidth() / 8;
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
    registers +=
        tilesOf(gates) * units / (kMatrixDepth * form.splits) * 4 * form.placesOfThread(units);
  return registers <= weightRegisters(form.threads);
}

namespace {

/// Writes the kernel that does all steps.
class SequenceEmitter : RecurrenceEmitter {
public:
  SequenceEmitter(KernelWriter &kernel, kernel::RecurrenceOp op, const RecurrenceForm &form)
      : RecurrenceEmitter(kernel, op, form), vectorType(form.isMatrix ? stateType : type),
        rowStride(units + (form.isMatrix ? kBankSkew : 0)), vectorElements(form.rows * rowStride),
        keeps(keepsWeights(op, form)) {}

  void emit();

private:
  void keepWeights();
  Sums multiply(const Place &place, int64_t firstGate, int64_t gates, Value vector, Value offset);
  /// The same where one thread has all units.
  Sums multiplyOwn(const Place &place, int64_t firstGate, int64_t gates, ArrayRef<Value> factors);
  Sums multiplyAt(const Place &place, int64_t firstGate, int64_t gates, Value vector, Value offset,
                  Value depth, int64_t count, ValueRange before);
  Sums multiplyMatrices(const Place &place, unsigned phase, int64_t firstGate, int64_t gates,
                        Value vector, Value offset);
  /// The sums of all warps that share a group's depth, in their order.
  SmallVector<Value> addSplits(ArrayRef<Value> partial);
  /// What each thread has a cell of, with the sums of a phase's gates.
  Sums sumsOf(const Place &place, unsigned phase, int64_t firstGate, int64_t gates, Value current,
              ArrayRef<Value> own);
  /// From one product of a warp to its next one, along the depth.
  int64_t splitDepth() const { return form.splits * kMatrixDepth; }
  /// Waits for all threads that share vectors.
  void synchronise();
  /// For other threads, where there are any that read it.
  void storeVector(const Cell &cell, Value vector, Value offset, Value value);
  /// In each block's shared memory, at the same place; values of 32 or 64 bits.
  void storeInCluster(Value vector, Value at, Value value);
  SmallVector<Value> step(Value number, Value current, ValueRange states);
  SmallVector<Value> doSteps(ArrayRef<Value> carried);

  Type vectorType;
  int64_t rowStride, vectorElements; // of a row's vector in shared memory; of those of all rows
  bool keeps;                        // weights are loaded once
  // Shared memory, where threads share the units: the first state twice; what later phases multiply.
  Value vectors, product;
  Value partials; // and what warps that share the depth have added up
};

} // namespace

/// Loads what products of all steps read, where registers have room for it.
void SequenceEmitter::keepWeights() {
  if (!keeps)
    return;
  for (Place &place : places) {
    int64_t firstGate = 0;
    for (int64_t gates : op.getPhases()) {
      SmallVector<Fragments> &tiles = place.kept.emplace_back();
      for (int64_t gate = 0; gate < gates; gate += 2) {
        Fragments &steps = tiles.emplace_back();
        for (int64_t depth = 0; depth < units; depth += splitDepth())
          steps.push_back(fragment(place, firstGate + gate, firstGate + gates,
                                   kernel.add(place.depth, constant(depth))));
      }
      firstGate += gates;
    }
  }
}

/// `before` and the products of `count` neighbours along the depth.
SequenceEmitter::Sums SequenceEmitter::multiplyAt(const Place &place, int64_t firstGate,
                                                  int64_t gates, Value vector, Value offset,
                                                  Value depth, int64_t count, ValueRange before) {
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

SequenceEmitter::Sums SequenceEmitter::multiply(const Place &place, int64_t firstGate,
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

SequenceEmitter::Sums SequenceEmitter::multiplyOwn(const Place &place, int64_t firstGate,
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

SequenceEmitter::Sums SequenceEmitter::multiplyMatrices(const Place &place, unsigned phase,
                                                        int64_t firstGate, int64_t gates,
                                                        Value vector, Value offset) {
  auto pair = VectorType::get({2}, stateType);
  Value begin = kernel.add(offset, kernel.mul(laneRow, constant(rowStride)));
  auto multiplyStep = [&](Value depth, ValueRange before, std::optional<int64_t> number) {
    SmallVector<Value> state;
    for (int64_t half : {0, 8}) {
      Value at = kernel.add(kernel.add(begin, kernel.add(depth, constant(half))), lanePair);
      state.push_back(b.create<vector::FromElementsOp>(loc, pair, kernel.load(vector, at, 2)));
    }
    Fragments weights;
    for (int64_t tile = 0; tile < tilesOf(gates); ++tile)
      weights.push_back(number ? place.kept[phase][tile][*number]
                               : fragment(place, firstGate + 2 * tile, firstGate + gates, depth));
    return multiplyTiles(weights, state, before);
  };
  SmallVector<Value> sums(4 * tilesOf(gates), zero());
  if (keeps) {
    for (int64_t number = 0; number < units / splitDepth(); ++number)
      sums = multiplyStep(kernel.add(place.depth, constant(number * splitDepth())), sums, number);
  } else {
    auto loop =
        b.create<scf::ForOp>(loc, constant(0), constant(units), constant(splitDepth()), sums);
    OpBuilder::InsertionGuard guard(b);
    b.setInsertionPointToStart(loop.getBody());
    b.create<scf::YieldOp>(loc, multiplyStep(kernel.add(loop.getInductionVar(), place.depth),
                                             loop.getRegionIterArgs(), std::nullopt));
    sums.assign(loop.getResults().begin(), loop.getResults().end());
  }
  return sumsOfTiles(place, gates, form.splits > 1 ? addSplits(sums) : sums);
}

SmallVector<Value> SequenceEmitter::addSplits(ArrayRef<Value> partial) {
  Value thread = kernel.threadId(), lane = remainder(thread, kWarp), warp = quotient(thread, kWarp);
  Value first = kernel.mul(quotient(warp, form.splits), constant(form.splits));
  auto at = [&](Value warp, int64_t sum) { return sharedSum(warp, sum, partial.size(), lane); };
  for (auto [number, value] : llvm::enumerate(partial))
    b.create<memref::StoreOp>(loc, value, partials, at(warp, number));
  b.create<gpu::BarrierOp>(loc);
  SmallVector<Value> sums;
  for (int64_t number = 0, end = partial.size(); number < end; ++number)
    for (int64_t split = 0; split < form.splits; ++split) {
      Value part =
          b.create<memref::LoadOp>(loc, partials, at(kernel.add(first, constant(split)), number));
      if (split == 0)
        sums.push_back(part);
      else
        sums.back() = b.create<arith::AddFOp>(loc, sums.back(), part);
    }
  return sums;
}

SequenceEmitter::Sums SequenceEmitter::sumsOf(const Place &place, unsigned phase, int64_t firstGate,
                                              int64_t gates, Value current, ArrayRef<Value> own) {
  if (!vectors)
    return multiplyOwn(place, firstGate, gates, own);
  Value vector = phase == 0 ? vectors : product, offset = phase == 0 ? current : constant(0);
  return form.isMatrix ? multiplyMatrices(place, phase, firstGate, gates, vector, offset)
                       : exchange(place, multiply(place, firstGate, gates, vector, offset));
}

void SequenceEmitter::storeVector(const Cell &cell, Value vector, Value offset, Value value) {
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

void SequenceEmitter::storeInCluster(Value vector, Value at, Value value) {
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

void SequenceEmitter::synchronise() {
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

/// The states behind a step, which reads what shared memory has from `current` on.
SmallVector<Value> SequenceEmitter::step(Value number, Value current, ValueRange states) {
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

void SequenceEmitter::emit() {
  findBlock();
  if (!isAlone(form, units) && !isConstantIntValue(steps, 0)) {
    vectors = kernel.sharedMemory(2 * vectorElements, vectorType);
    if (op.getPhases().size() > 1)
      product = kernel.sharedMemory(vectorElements, vectorType);
    if (form.splits > 1)
      partials = kernel.sharedMemory(form.threads * mostTileSums(op), type);
  }
  if (form.isMatrix) {
    findMatrixPlaces();
    keepWeights();
  } else {
    findPlaces();
  }
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
SmallVector<Value> SequenceEmitter::doSteps(ArrayRef<Value> carried) {
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
  SequenceEmitter(kernel, recurrence, form).emit();
}

} // namespace cameo
