// The transpose schedule: a block turns a tile in shared memory.
//
// For elementwise work and mere copies whose operands follow one another along another dimension
// than the results do: threads read an operand's tile along its own innermost dimension, all of a
// line of memory together, and, when all have, compute the results along theirs. Elements of fewer
// than 4 bytes are in shared memory as words of several that the results have beside one another.
// Operands that are not turned are read where elements are computed.
//
// SPDX-License-Identifier: Apache-2.0
#include "codegen/schedule/ElementWork.h"
#include "codegen/schedule/Schedule.h"
#include "codegen/schedule/Transposition.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"

#include <cmath>

using namespace mlir;

namespace cameo {
namespace {

/// How many elements a thread accesses at once.
struct Widths {
  SmallVector<int64_t> load; // by operand
  int64_t store;
};

class TransposeEmitter {
public:
  TransposeEmitter(KernelWriter &kernel, const Transposition &transposition, int64_t threads,
                   const Widths &widths)
      : kernel(kernel), b(kernel.b), loc(kernel.loc), transposition(transposition),
        threads(threads), widths(widths) {}

  void emit() {
    SmallVector<Value> order, sizes = kernel.sizes(kernel.op.getInitArgs()[0]);
    for (auto [number, run] : llvm::enumerate(transposition.runs)) {
      SmallVector<Value> &parts = sizesOfRuns.emplace_back();
      Value extent = kernel.constant(1);
      for (unsigned dim : run) {
        parts.push_back(sizes[dim]);
        extent = kernel.mul(extent, sizes[dim]);
      }
      extents.push_back(extent);
      order.push_back(isTiled(number) ? tilesOf(number) : extent);
    }
    starts = kernel.delinearize(kernel.blockId(), order);
    for (size_t run : {transposition.along, transposition.last()})
      starts[run] = kernel.mul(starts[run], kernel.constant(transposition.tile));
    SmallVector<Staged> staged;
    for (auto [operand, vector] : llvm::zip(transposition.operands, widths.load))
      staged.push_back(load(operand, vector));
    for (const Staged &operand : staged)
      put(operand);
    b.create<gpu::BarrierOp>(loc);
    forEachUnit(transposition.tile / widths.store * transposition.tile, [&](Value unit) {
      auto [line, group] = split(unit, transposition.tile / widths.store);
      store(staged, line, kernel.mul(group, kernel.constant(widths.store)));
    });
  }

private:
  /// A group of elements that a thread has loaded: lines `packed` vectors of `vector` elements.
  struct Unit {
    Value inTile; // whether the tile has such a group; null: always
    Value line, column;
    SmallVector<SmallVector<Value>> loaded; // by column, then by line
  };
  struct Staged {
    const TransposedOperand &operand;
    SharedTile tile;
    Value memory;
    SmallVector<Unit> units;
  };

  bool isTiled(size_t run) const {
    return run == transposition.along || run == transposition.last();
  }

  Value tilesOf(size_t run) {
    int64_t known = transposition.extents[run], tile = transposition.tile;
    if (!ShapedType::isDynamic(known))
      return kernel.constant(llvm::divideCeil(known, tile));
    return b.create<arith::DivUIOp>(loc, kernel.add(extents[run], kernel.constant(tile - 1)),
                                    kernel.constant(tile));
  }

  std::pair<Value, Value> split(Value number, int64_t by) {
    Value divisor = kernel.constant(by);
    return {b.createOrFold<arith::DivUIOp>(loc, number, divisor),
            b.createOrFold<arith::RemUIOp>(loc, number, divisor)};
  }

  Value below(Value index, Value bound) {
    return b.create<arith::CmpIOp>(loc, arith::CmpIPredicate::ult, index, bound);
  }

  Value both(Value left, Value right) {
    return left && right ? b.create<arith::AndIOp>(loc, left, right).getResult()
                         : (left ? left : right);
  }

  /// Whether index `local` of the tile is one of the run's; null where each is.
  Value isInRun(size_t run, Value local) {
    int64_t known = transposition.extents[run];
    if (!ShapedType::isDynamic(known) && known % transposition.tile == 0)
      return {};
    return below(kernel.add(starts[run], local), extents[run]);
  }

  //===-- Units of work -----------------------------------------------------------------------===//

  int64_t rounds(int64_t units) const { return llvm::divideCeil(units, threads); }

  /// Number of the thread's unit in a round, and whether there is one (null: always).
  std::pair<Value, Value> unitOf(int64_t round, int64_t units) {
    Value unit = kernel.add(kernel.threadId(), kernel.constant(round * threads));
    return {unit, (round + 1) * threads > units ? below(unit, kernel.constant(units)) : Value()};
  }

  void forEachUnit(int64_t units, function_ref<void(Value)> emit) {
    for (int64_t round = 0; round < rounds(units); ++round) {
      auto [unit, exists] = unitOf(round, units);
      when(exists, [&, unit = unit] { emit(unit); });
    }
  }

  void when(Value condition, function_ref<void()> emit) {
    OpBuilder::InsertionGuard guard(b);
    if (condition)
      b.setInsertionPointToStart(b.create<scf::IfOp>(loc, condition, false).thenBlock());
    emit();
  }

  //===-- Operands ----------------------------------------------------------------------------===//

  /// Distances in an operand's memory, by dimension of the results, and where it begins.
  std::pair<SmallVector<Value>, Value> distancesOf(const TransposedOperand &operand) {
    SmallVector<Value> distances;
    if (llvm::none_of(operand.distances, ShapedType::isDynamic)) {
      for (int64_t distance : operand.distances)
        distances.push_back(kernel.constant(distance));
      return {distances, kernel.constant(operand.begin)};
    }
    distances.assign(operand.distances.size(), kernel.constant(0));
    Value stride = kernel.constant(1), begin = kernel.constant(0);
    for (int64_t dim = operand.place.getNumResults(); dim-- > 0;) {
      SmallVector<int64_t> factors = *factorsOf(operand.place, dim);
      auto times = [&](int64_t factor) { return kernel.mul(kernel.constant(factor), stride); };
      begin = kernel.add(begin, times(factors.pop_back_val()));
      for (auto [distance, factor] : llvm::zip(distances, factors))
        if (factor != 0)
          distance = kernel.add(distance, times(factor));
      stride = kernel.outerStride(operand.tensor, dim, stride);
    }
    return {distances, begin};
  }

  /// Issues a thread's loads of its part of the operand's tile.
  Staged load(const TransposedOperand &operand, int64_t vector) {
    SharedTile tile(transposition, operand, vector);
    Type type = getElementTypeOrSelf(operand.tensor);
    Staged staged{operand, tile, kernel.sharedMemory(tile.elements(), type), {}};
    auto [distances, base] = distancesOf(operand);
    for (auto [run, start] : llvm::zip(transposition.runs, starts))
      base = kernel.add(base, kernel.mul(start, distances[run.back()]));
    Value step = distances[transposition.runs.back().back()];
    int64_t units = tile.tile / vector * tile.words;
    for (int64_t round = 0; round < rounds(units); ++round) {
      auto [unit, exists] = unitOf(round, units);
      Unit &mine = staged.units.emplace_back();
      auto [word, group] = split(unit, tile.tile / vector);
      mine.inTile = exists;
      mine.line = kernel.mul(group, kernel.constant(vector));
      mine.column = kernel.mul(word, kernel.constant(tile.packed));
      Value inside = both(exists, isInRun(transposition.along, mine.line));
      for (int64_t i = 0; i < tile.packed; ++i) {
        Value column = kernel.add(mine.column, kernel.constant(i));
        Value at = kernel.add(kernel.add(base, mine.line), kernel.mul(column, step));
        mine.loaded.push_back(
            loadWhere(both(inside, isInRun(transposition.last(), column)), operand, at, vector));
      }
    }
    return staged;
  }

  /// Elements from an offset on where the condition holds, others zero.
  SmallVector<Value> loadWhere(Value condition, const TransposedOperand &operand, Value at,
                               int64_t lanes) {
    Value memory = kernel.memory(operand.tensor);
    if (!condition)
      return kernel.load(memory, at, lanes);
    Type type = getElementTypeOrSelf(operand.tensor);
    Value zero = b.create<arith::ConstantOp>(loc, b.getZeroAttr(type));
    SmallVector<Value> zeros(lanes, zero);
    auto branch = b.create<scf::IfOp>(loc, ValueRange(zeros).getTypes(), condition, true);
    OpBuilder::InsertionGuard guard(b);
    b.setInsertionPointToStart(branch.thenBlock());
    b.create<scf::YieldOp>(loc, kernel.load(memory, at, lanes));
    b.setInsertionPointToStart(branch.elseBlock());
    b.create<scf::YieldOp>(loc, zeros);
    return llvm::to_vector_of<Value>(branch.getResults());
  }

  /// Where an element of the tile is in shared memory.
  Value placeOf(const SharedTile &tile, Value line, Value column) {
    Value place = kernel.mul(line, kernel.constant(tile.pitch() * tile.packed));
    if (tile.tile > SharedTile::kBanks) {
      Value lines = b.createOrFold<arith::DivUIOp>(loc, line, kernel.constant(SharedTile::kBanks));
      place = kernel.add(place, kernel.mul(lines, kernel.constant(tile.skew * tile.packed)));
    }
    return kernel.add(place, column);
  }

  /// Writes what was loaded to shared memory, a word at a time.
  void put(const Staged &staged) {
    const SharedTile &tile = staged.tile;
    for (const Unit &unit : staged.units)
      when(unit.inTile, [&] {
        Value first = placeOf(tile, unit.line, unit.column);
        for (size_t line = 0; line < unit.loaded.front().size(); ++line) {
          SmallVector<Value> word;
          for (const SmallVector<Value> &column : unit.loaded)
            word.push_back(column[line]);
          Value at = kernel.add(first, kernel.constant(line * tile.pitch() * tile.packed));
          kernel.storeVector(staged.memory, at, word);
        }
      });
  }

  //===-- Results -----------------------------------------------------------------------------===//

  /// Indices of the results' element at a place of the tile.
  SmallVector<Value> indicesOf(Value line, Value column) {
    SmallVector<Value> result(
        cast<RankedTensorType>(kernel.op.getInitArgs()[0].getType()).getRank(), kernel.constant(0));
    for (auto [number, run] : llvm::enumerate(transposition.runs)) {
      Value index = starts[number];
      if (number == transposition.along)
        index = kernel.add(index, line);
      if (number == transposition.last())
        index = kernel.add(index, column);
      for (auto [dim, value] : llvm::zip(run, kernel.delinearize(index, sizesOfRuns[number])))
        result[dim] = value;
    }
    return result;
  }

  /// Whether so many neighbours of a run are so along the innermost dimension, too.
  bool areBeside(int64_t lanes) const {
    unsigned dim = transposition.runs.back().back();
    int64_t extent = cast<RankedTensorType>(kernel.op.getInitArgs()[0].getType()).getDimSize(dim);
    return !ShapedType::isDynamic(extent) && extent % lanes == 0;
  }

  /// Computes and stores a thread's elements from a place of the tile on.
  void store(ArrayRef<Staged> staged, Value line, Value column) {
    Value inside = both(isInRun(transposition.along, line), isInRun(transposition.last(), column));
    when(inside, [&] {
      int64_t lanes = widths.store;
      SmallVector<SmallVector<Value>> turned; // by operand
      for (const Staged &operand : staged) {
        SmallVector<Value> &values = turned.emplace_back();
        Value at = placeOf(operand.tile, line, column);
        int64_t piece = std::min(operand.tile.packed, lanes);
        for (int64_t lane = 0; lane < lanes; lane += piece)
          llvm::append_range(
              values, kernel.load(operand.memory, kernel.add(at, kernel.constant(lane)), piece));
      }
      SmallVector<Value> first = indicesOf(line, column);
      SmallVector<SmallVector<Value>> values = areBeside(lanes)
                                                   ? together(staged, turned, first)
                                                   : oneByOne(staged, turned, line, column);
      for (auto [number, lane] : llvm::enumerate(values)) {
        Value destination = kernel.op.getInitArgs()[number];
        kernel.storeVector(kernel.memory(destination), kernel.offset(destination, first), lane);
      }
    });
  }

  ValueRange results() const {
    return cast<kernel::YieldOp>(kernel.op.getBodyBlock()->getTerminator()).getValues();
  }

  SmallVector<SmallVector<Value>>
  together(ArrayRef<Staged> staged, ArrayRef<SmallVector<Value>> turned, ArrayRef<Value> indices) {
    for (auto [operand, values] : llvm::zip(staged, turned))
      kernel.keepLanes(operand.operand.tensor, values);
    SmallVector<SmallVector<Value>> elements;
    for (Value result : results())
      elements.push_back(kernel.elements(result, indices, widths.store));
    return elements;
  }

  SmallVector<SmallVector<Value>>
  oneByOne(ArrayRef<Staged> staged, ArrayRef<SmallVector<Value>> turned, Value line, Value column) {
    SmallVector<SmallVector<Value>> elements(results().size());
    for (int64_t lane = 0; lane < widths.store; ++lane) {
      for (auto [operand, values] : llvm::zip(staged, turned))
        kernel.keepLanes(operand.operand.tensor, values[lane]);
      SmallVector<Value> indices = indicesOf(line, kernel.add(column, kernel.constant(lane)));
      for (auto [element, result] : llvm::zip(elements, results()))
        element.push_back(kernel.element(result, indices));
    }
    return elements;
  }

  KernelWriter &kernel;
  OpBuilder &b;
  Location loc;
  const Transposition &transposition;
  int64_t threads;
  const Widths &widths;
  SmallVector<SmallVector<Value>> sizesOfRuns;
  SmallVector<Value> extents, starts; // by run; of the block's tile
};

class TransposeMatch : public ScheduleMatch {
public:
  TransposeMatch(const Computation &computation, const Target &target, Transposition transposition)
      : ScheduleMatch(computation.op, target), transposition(std::move(transposition)),
        work(elementWork(computation)) {}

  SmallVector<Candidate, 0> candidates(size_t) const override {
    Builder b(op.getContext());
    SmallVector<int64_t> loads;
    for (const TransposedOperand &operand : transposition.operands)
      loads.push_back(operand.vector);
    // Two loads of 16 bytes a thread, up to four before blocks have more than four warps.
    int64_t bytes = 0;
    for (const TransposedOperand &operand : transposition.operands)
      bytes = std::max(bytes, operand.bytes());
    int64_t loads16 = transposition.tile * transposition.tile * bytes / 16;
    int64_t threads = std::max(loads16 / 4, std::min(loads16 / 2, 4 * kWarp));
    auto params = b.getDictionaryAttr(
        {b.getNamedAttr("load_vector", b.getDenseI64ArrayAttr(loads)),
         b.getNamedAttr("store_vector", b.getI64IntegerAttr(transposition.vector)),
         b.getNamedAttr("threads", b.getI64IntegerAttr(threads))});
    return {candidateOf(params)};
  }

  /// One block per tile, which goes through shared memory, and of which those at the edges are partly
  /// empty.
  KernelWork workOf(DictionaryAttr params) const override {
    int64_t threads = *intParam(params, "threads");
    double blocks = 1, inside = 1, bytes = 0, tile = double(transposition.tile);
    for (auto [number, extent] : llvm::enumerate(transposition.extents)) {
      double size = ShapedType::isDynamic(extent) ? kUnknownSize : double(extent);
      bool isTiled = number == transposition.along || number == transposition.last();
      double tiles = std::ceil(size / tile);
      blocks *= isTiled ? tiles : size;
      inside *= isTiled ? size / (tiles * tile) : 1;
    }
    for (const TransposedOperand &operand : transposition.operands)
      bytes += tile * tile * double(operand.bytes());
    KernelWork kernel = kernelWork(work, {blocks, threads, /*trips=*/1, int64_t(bytes)});
    kernel.once.slots /= inside;
    kernel.once.sharedBytes = 2 * bytes;
    return kernel;
  }

  LogicalResult verify(DictionaryAttr params) const override {
    auto threads = intParam(params, "threads"), store = intParam(params, "store_vector");
    auto load = params.getAs<DenseI64ArrayAttr>("load_vector");
    if (!threads || !store || !load || load.size() != int64_t(transposition.operands.size()))
      return op.emitError() << "schedule 'transpose' needs threads, store_vector, and load_vector "
                               "of each of "
                            << transposition.operands.size() << " operands";
    if (*threads < kWarp || *threads > target.maxThreadsPerBlock || *threads % kWarp != 0)
      return op.emitError() << "schedule 'transpose' asks for " << *threads << " threads; "
                            << target.name << " allows multiples of " << kWarp << " up to "
                            << target.maxThreadsPerBlock;
    auto check = [&](StringRef name, int64_t asked, int64_t most) -> LogicalResult {
      if (asked >= 1 && most % asked == 0)
        return success();
      return op.emitError() << "schedule 'transpose': " << name << " " << asked
                            << " is not possible; at most " << most;
    };
    for (auto [asked, operand] : llvm::zip(load.asArrayRef(), transposition.operands))
      if (failed(check("load_vector", asked, operand.vector)))
        return failure();
    return check("store_vector", *store, transposition.vector);
  }

  FailureOr<SmallVector<Value>> emit(DictionaryAttr params, KernelEmitter &emitter) const override {
    Widths widths{SmallVector<int64_t>(params.getAs<DenseI64ArrayAttr>("load_vector").asArrayRef()),
                  *intParam(params, "store_vector")};
    int64_t threads = *intParam(params, "threads");
    OpBuilder host(op);
    Location loc = op.getLoc();
    Value one = host.create<arith::ConstantIndexOp>(loc, 1), blocks = one;
    for (auto [number, run] : llvm::enumerate(transposition.runs)) {
      Value extent = one;
      for (unsigned dim : run)
        extent = host.createOrFold<arith::MulIOp>(loc, extent, emitter.gridSize(host, op, 0, dim));
      if (number == transposition.along || number == transposition.last())
        extent = host.createOrFold<arith::CeilDivSIOp>(
            loc, extent, host.create<arith::ConstantIndexOp>(loc, transposition.tile));
      blocks = host.createOrFold<arith::MulIOp>(loc, blocks, extent);
    }
    auto outputs = llvm::to_vector(llvm::seq<int64_t>(0, op.getNumResults()));
    return emitter.launch(op, "", threads, {blocks, one, one}, outputs, [&](KernelWriter &kernel) {
      TransposeEmitter(kernel, transposition, threads, widths).emit();
      return success();
    });
  }

private:
  Transposition transposition;
  ElementWork work;
};

class TransposeSchedule : public Schedule {
public:
  StringRef family() const override { return "transpose"; }

  std::unique_ptr<ScheduleMatch> tryMatch(const Computation &computation,
                                          const Target &target) const override {
    std::optional<Transposition> transposition =
        matchTransposition(computation, target.staticSharedPerBlock);
    return transposition
               ? std::make_unique<TransposeMatch>(computation, target, std::move(*transposition))
               : nullptr;
  }
};

} // namespace

const Schedule *transposeSchedule() {
  static const TransposeSchedule schedule;
  return &schedule;
}

} // namespace cameo
