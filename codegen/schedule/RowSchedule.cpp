// The row schedules: threads that reduce rows together.
//
// For reductions and normalisations: every reduction of the dispatch has one result per index of the
// same rows; the threads of a row compute them one after the other (partial results a thread, then
// shuffles within warps and shared memory between them), and then the elements that depend on them.
// `rows` is for rows whose elements follow one another: neighbouring threads take neighbouring
// elements of a row, 16 bytes each where the row's length allows (told at run time where it is
// known only then). `columns` is for the others, such as reductions over channels: neighbouring
// threads take neighbouring rows, each as many as 16 bytes have elements where their number allows.
//
// SPDX-License-Identifier: Apache-2.0
#include "codegen/Shuffles.h"
#include "codegen/schedule/ElementWork.h"
#include "codegen/schedule/Schedule.h"
#include "dialects/kernel/form/Rows.h"
#include "runtime/mutant.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"

#include <cmath>

using namespace mlir;

namespace cameo {
namespace {

/// Steps of a thread along a row that are written out, so that what was read for one reduction may
/// stay in registers for the next.
constexpr int64_t kUnrolledSteps = 4;
/// Partial results a thread, which do not wait for one another.
constexpr int64_t kPartials = 4;
/// Bytes that memory reads at once.
constexpr int64_t kLine = 128;

/// How a block's threads share rows.
struct Layout {
  bool across; // `columns`: thread t has rows from (t % side) * beside on; otherwise row t / perRow
  int64_t threads, rows, vector;

  int64_t beside() const { return across ? vector : 1; } // rows of a thread
  int64_t side() const { return rows / beside(); }       // threads that have all of a block's rows
  int64_t perRow() const { return threads / side(); }    // threads that share a row
};

using State = SmallVector<Value>;

/// Whether neighbours along loop `dim` are neighbours in the tensor's last dimension.
bool isAlong(AffineMap map, unsigned dim) {
  return map.getNumResults() != 0 &&
         map.getResults().back() == getAffineDimExpr(dim, map.getContext());
}

/// Writes the kernel.
class RowEmitter {
public:
  RowEmitter(KernelWriter &kernel, const Rows &rows, const Layout &layout)
      : kernel(kernel), b(kernel.b), loc(kernel.loc), rows(rows), layout(layout) {}

  void emit() {
    if (layout.beside() == 1 || !rows.rowType.isDynamicDim(rows.rowType.getRank() - 1))
      return emitRows();
    // Where rows are not a multiple of what a thread would have, it has one, and blocks have fewer.
    Layout wide = layout;
    vectorize(ShapedType::kDynamic, rowSizes().back(), {}, [&](int64_t lanes) {
      layout = {true, wide.threads, wide.side() * lanes, lanes};
      emitRows();
      return State();
    });
  }

private:
  /// Of the rows' dimensions: numbers, or as the first result has them.
  SmallVector<Value> rowSizes() {
    SmallVector<Value> sizes;
    for (auto [dim, size] : llvm::enumerate(rows.rowType.getShape()))
      sizes.push_back(ShapedType::isDynamic(size) ? kernel.size(kernel.op.getInitArgs()[0],
                                                                *rows.outputs[0].sameDimension(dim))
                                                  : kernel.constant(size));
    return sizes;
  }

  void emitRows() {
    SmallVector<Value> sizes = rowSizes();
    int64_t total =
        rows.rowType.hasStaticShape() ? rows.rowType.getNumElements() : ShapedType::kDynamic;
    Value count = kernel.constant(1), thread = kernel.threadId();
    for (Value size : sizes)
      count = kernel.mul(count, size);
    // Which row of the block's, and which thread of that row's.
    Value divisor = kernel.constant(layout.across ? layout.side() : layout.perRow());
    local = b.createOrFold<arith::RemUIOp>(loc, thread, divisor);
    position = b.createOrFold<arith::DivUIOp>(loc, thread, divisor);
    if (!layout.across)
      std::swap(local, position);
    local = layout.side() == 1 ? kernel.constant(0)
                               : kernel.mul(local, kernel.constant(layout.beside()));
    if (layout.perRow() == 1)
      position = kernel.constant(0);
    Value index = kernel.add(kernel.mul(kernel.blockId(), kernel.constant(layout.rows)), local);
    exists = {};
    if (ShapedType::isDynamic(total) ? layout.rows != 1 : total % layout.rows != 0) {
      // Threads without a row take part in the last one's, but for writing.
      exists = b.create<arith::CmpIOp>(loc, arith::CmpIPredicate::ult, index, count);
      Value last = b.create<arith::SubIOp>(loc, count, kernel.constant(layout.beside()));
      index = b.create<arith::SelectOp>(loc, exists, index, last);
    }
    row = kernel.delinearize(index, sizes);

    for (const RowReduction &reduction : rows.reductions)
      reduce(reduction);
    for (auto [number, output] : llvm::enumerate(rows.outputs))
      write(output, kernel.op.getInitArgs()[number]);
  }

  //===-- Steps along a row -------------------------------------------------------------------===//

  /// Runs `emit` where `condition` (null: always) holds.
  void when(Value condition, function_ref<void()> emit) {
    OpBuilder::InsertionGuard guard(b);
    if (condition)
      b.setInsertionPointToStart(b.create<scf::IfOp>(loc, condition, false).thenBlock());
    emit();
  }

  /// Runs `emit` for the first of each `lanes` of a row's `count` elements that are this thread's;
  /// without a state it writes, and does so where the row exists. `known` is the count or kDynamic;
  /// `lanes` divides it.
  State walk(Value count, int64_t known, int64_t lanes, State state,
             function_ref<State(Value at, State state)> emit) {
    Value first = kernel.mul(position, kernel.constant(lanes));
    int64_t step = layout.perRow() * lanes;
    Value mine = state.empty() ? exists : Value();
    if (!ShapedType::isDynamic(known) && known <= kUnrolledSteps * step) {
      for (int64_t begin = 0; begin < known; begin += step) {
        Value at = kernel.add(first, kernel.constant(begin)), inside;
        if (begin + step > known) {
          // Beyond the row's end the first elements are read again: without a branch, what was
          // read stays known.
          inside = b.create<arith::CmpIOp>(loc, arith::CmpIPredicate::ult, at, count);
          at = b.create<arith::SelectOp>(loc, inside, at, kernel.constant(0));
        }
        if (state.empty()) {
          Value both = inside && mine ? b.create<arith::AndIOp>(loc, inside, mine).getResult()
                                      : (inside ? inside : mine);
          when(both, [&] { emit(at, {}); });
          continue;
        }
        State next = emit(at, state);
        for (auto [value, other] : llvm::zip(state, next))
          value = inside ? b.create<arith::SelectOp>(loc, inside, other, value).getResult() : other;
      }
      return state;
    }
    Value end = mine ? b.create<arith::SelectOp>(loc, mine, count, kernel.constant(0)) : count;
    auto loop = b.create<scf::ForOp>(loc, first, end, kernel.constant(step), state);
    OpBuilder::InsertionGuard guard(b);
    b.setInsertionPointToStart(loop.getBody());
    State next = emit(loop.getInductionVar(), State(loop.getRegionIterArgs()));
    if (!state.empty())
      b.create<scf::YieldOp>(loc, next);
    return State(loop.getResults());
  }

  /// Emits `emit` for as many lanes as a row allows whose innermost dimension has `known` elements
  /// (or `size`, known only at run time: then for lanes and without, the run chooses).
  State vectorize(int64_t known, Value size, TypeRange types,
                  function_ref<State(int64_t lanes)> emit) {
    int64_t lanes = layout.vector;
    if (!ShapedType::isDynamic(known)) {
      while (known % lanes != 0)
        lanes /= 2;
      return emit(lanes);
    }
    if (lanes == 1 || !isa<BlockArgument>(size))
      return emit(1);
    // The condition is known when the vectors are written.
    auto unknown = b.create<arith::ConstantIntOp>(loc, 1, 1);
    auto branch = b.create<scf::IfOp>(loc, types, unknown, true);
    OpBuilder::InsertionGuard guard(b);
    auto fill = [&](Block *block, int64_t width) {
      b.setInsertionPointToStart(block);
      State result = emit(width);
      if (!types.empty())
        b.create<scf::YieldOp>(loc, result);
    };
    llvm::SetVector<Value> sizes =
        kernel.assumingMultiples([&] { fill(branch.thenBlock(), lanes); });
    fill(branch.elseBlock(), 1);
    sizes.insert(size);
    b.setInsertionPoint(branch);
    branch.getConditionMutable().assign(isMultiple(sizes.getArrayRef(), lanes));
    unknown.erase();
    return State(branch.getResults());
  }

  Value isMultiple(ArrayRef<Value> sizes, int64_t lanes) {
    Value all = sizes.front();
    for (Value size : sizes.drop_front())
      all = b.create<arith::OrIOp>(loc, all, size);
    Value rest = b.create<arith::AndIOp>(loc, all, kernel.constant(lanes - 1));
    return b.create<arith::CmpIOp>(loc, arith::CmpIPredicate::eq, rest, kernel.constant(0));
  }

  //===-- Reductions --------------------------------------------------------------------------===//

  /// Partial results of two sets of a row's elements as that of both.
  State combine(const RowReduction &reduction, ArrayRef<Value> left, ArrayRef<Value> right) {
    if (Operation *combiner = reduction.combiner) {
      if (isa<math::FmaOp>(combiner))
        return {b.create<arith::AddFOp>(loc, left[0], right[0])};
      OperationState state(loc, combiner->getName());
      state.addOperands({left[0], right[0]});
      state.addTypes(left[0].getType());
      return {b.create(state)->getResult(0)};
    }
    // A search: whichever was found further along the row is compared with the other.
    Value inOrder = b.create<arith::CmpIOp>(loc, arith::CmpIPredicate::slt, left[1], right[1]);
    auto choose = [&](Value yes, Value no) {
      return b.create<arith::SelectOp>(loc, inOrder, yes, no).getResult();
    };
    linalg::GenericOp generic = reduction.generic;
    State loops(generic.getNumLoops());
    loops[reduction.reduced[0]] =
        b.create<arith::IndexCastOp>(loc, b.getIndexType(), choose(right[1], left[1]));
    return kernel.inlineBody(
        generic, loops,
        {choose(right[0], left[0]), choose(left[0], right[0]), choose(left[1], right[1])});
  }

  /// The same for each of a thread's rows: their partial results follow one another.
  State combineRows(const RowReduction &reduction, ArrayRef<Value> left, ArrayRef<Value> right) {
    State result;
    for (size_t one = left.size() / layout.beside(); !left.empty();
         left = left.drop_front(one), right = right.drop_front(one))
      llvm::append_range(result, combine(reduction, left.take_front(one), right.take_front(one)));
    return result;
  }

  /// Combines one partial result of each row a thread into one a row, which every thread of the row
  /// has.
  State combineThreads(const RowReduction &reduction, State state) {
    if (layout.perRow() == 1)
      return state;
    kernel.synchronises = true;
    // Within warps: all of a row's, or those that are a multiple of the rows apart.
    int64_t beside = layout.beside(), side = layout.side();
    int64_t nearest = layout.across ? side : 1;
    int64_t beyond = layout.across ? kWarp : std::min(layout.perRow(), kWarp);
    for (int64_t distance = beyond / 2; distance >= nearest; distance /= 2) {
      State other;
      for (Value value : state)
        other.push_back(fromOtherLane(b, loc, value, distance));
      state = combineRows(reduction, state, other);
    }
    // Between warps, or between groups of them that have all the block's rows.
    int64_t group = layout.across ? std::max(side, kWarp) : kWarp;
    int64_t groups = layout.across || layout.rows == 1 ? layout.threads / group : 1;
    if (groups == 1)
      return state;
    Value thread = kernel.threadId();
    Value number = b.create<arith::DivUIOp>(loc, thread, kernel.constant(group));
    Value place = b.create<arith::RemUIOp>(loc, thread, kernel.constant(group));
    Value leads =
        b.create<arith::CmpIOp>(loc, arith::CmpIPredicate::ult, place, kernel.constant(side));
    Value slot = kernel.add(kernel.mul(number, kernel.constant(layout.rows)), local);
    SmallVector<Value> memories;
    size_t values = state.size() / beside; // of a partial result
    for (size_t value = 0; value < values; ++value) {
      State words;
      for (size_t i = value; i < state.size(); i += values)
        words.push_back(packed(b, loc, state[i]));
      memories.push_back(kernel.sharedMemory(groups * layout.rows, words[0].getType()));
      when(side == group ? Value() : leads,
           [&] { kernel.storeVector(memories.back(), slot, words); });
    }
    b.create<gpu::BarrierOp>(loc);
    State result;
    for (int64_t i = 0; i < groups; ++i) {
      Value from = kernel.add(local, kernel.constant(i * layout.rows));
      State next(state.size());
      for (size_t value = 0; value < values; ++value)
        for (auto [lane, stored] : llvm::enumerate(kernel.load(memories[value], from, beside))) {
          size_t at = lane * values + value;
          next[at] = unpacked(b, loc, stored, state[at].getType());
        }
      result = i == 0 ? next : combineRows(reduction, result, next);
    }
    return result;
  }

  /// Elements of a row, where that is known.
  static int64_t knownSteps(const RowReduction &reduction) {
    linalg::GenericOp generic = reduction.generic;
    int64_t known = 1;
    for (unsigned dim : reduction.reduced) {
      int64_t range = generic.getStaticLoopRanges()[dim];
      known = ShapedType::isDynamic(range) || ShapedType::isDynamic(known) ? ShapedType::kDynamic
                                                                           : known * range;
    }
    return known;
  }

  void reduce(const RowReduction &reduction) {
    linalg::GenericOp generic = reduction.generic;
    AffineMap out = generic.getMatchingIndexingMap(generic.getDpsInitOperand(0));
    SmallVector<Value> extents = kernel.loopSizes(generic), loops(extents.size()), sizes;
    for (auto [expr, index] : llvm::zip(out.getResults(), row))
      loops[cast<AffineDimExpr>(expr).getPosition()] = index;
    Value count = kernel.constant(1);
    for (unsigned dim : reduction.reduced) {
      sizes.push_back(extents[dim]);
      count = kernel.mul(count, extents[dim]);
    }
    int64_t known = knownSteps(reduction);
    State init;
    for (Value start : generic.getDpsInits())
      init.push_back(kernel.element(start, row));

    // Lanes go along the row and have partial results of their own, but for searches, which go in
    // order; or they are rows beside one another.
    unsigned innermost = reduction.reduced.back();
    unsigned across = layout.beside() == 1 ? innermost : out.getDimPosition(row.size() - 1);
    auto accumulate = [&](int64_t lanes) {
      int64_t steps = layout.across ? 1 : lanes;
      int64_t partials = layout.across        ? lanes
                         : reduction.combiner ? std::min(lanes, kPartials)
                                              : 1;
      State start;
      for (int64_t i = 0; i < partials; ++i)
        llvm::append_range(start, init);
      State sums = walk(count, known, steps, start, [&](Value at, State sums) {
        for (auto [dim, value] : llvm::zip(reduction.reduced, kernel.delinearize(at, sizes)))
          loops[dim] = value;
        auto inputs = kernel.inputs(generic, loops, across, lanes);
        Value first = loops[across];
        kernel.forEachLane(lanes, [&](int64_t lane) {
          loops[across] = kernel.add(first, kernel.constant(lane));
          State arguments;
          for (const SmallVector<Value> &values : inputs)
            arguments.push_back(values.empty() ? Value() : values[lane]);
          auto mine =
              MutableArrayRef<Value>(sums).slice(lane % partials * init.size(), init.size());
          arguments.append(mine.begin(), mine.end());
          llvm::copy(kernel.inlineBody(generic, loops, arguments), mine.begin());
        });
        loops[across] = first;
        return sums;
      });
      if (layout.across)
        return sums;
      State one(ArrayRef<Value>(sums).take_front(init.size()));
      for (int64_t i = 1; i < partials; ++i)
        one = combine(reduction, one, ArrayRef<Value>(sums).slice(i * init.size(), init.size()));
      return one;
    };
    bool follow = llvm::any_of(generic.getIndexingMapsArray(),
                               [&](AffineMap map) { return isAlong(map, innermost); });
    State state = layout.across
                      ? accumulate(layout.vector)
                      : vectorize(follow ? generic.getStaticLoopRanges()[innermost] : 1,
                                  extents[innermost], ValueRange(init).getTypes(), accumulate);
    keepResults(generic, combineThreads(reduction, state));
  }

  /// For whatever reads them: `state` has the results for each of the thread's rows, which are what
  /// is computed at once where they are several.
  void keepResults(linalg::GenericOp generic, const State &state) {
    for (auto [number, result] : llvm::enumerate(generic.getResults())) {
      State values; // of the thread's rows
      for (size_t i = number; i < state.size(); i += generic.getNumResults())
        values.push_back(state[i]);
      if (values.size() == 1)
        kernel.keep(result, [value = values.front()](ValueRange) { return value; });
      else
        CAMEO_MUTANT(
            45, kernel.keepLanes(result, values), kernel.keep(result, [=](ValueRange indices) {
              auto sum = indices.back().getDefiningOp<arith::AddIOp>();
              return values[indices.back() == row.back() ? 0 : *getConstantIntValue(sum.getRhs())];
            }));
    }
  }

  //===-- Results -----------------------------------------------------------------------------===//

  void write(const RowOutput &output, Value destination) {
    auto type = cast<RankedTensorType>(destination.getType());
    SmallVector<Value> first = kernel.apply(output.first, row), sizes;
    Value count = kernel.constant(1);
    int64_t known = 1;
    for (RowOutput::Column column : output.columns) {
      bool isOpen = ShapedType::isDynamic(column.extent);
      sizes.push_back(isOpen ? kernel.size(destination, column.dim)
                             : kernel.constant(column.extent));
      count = kernel.mul(count, sizes.back());
      known = isOpen || ShapedType::isDynamic(known) ? ShapedType::kDynamic : known * column.extent;
    }
    // Rows alone: one element, the first thread's.
    bool along = !output.columns.empty() && output.columns.back().step == 1 &&
                 output.columns.back().dim + 1 == static_cast<unsigned>(type.getRank());
    auto fill = [&](int64_t lanes) {
      return walk(count, known, layout.across ? 1 : lanes, {}, [&](Value at, State) {
        SmallVector<Value> place = first;
        for (auto [column, value] : llvm::zip(output.columns, kernel.delinearize(at, sizes))) {
          if (!ShapedType::isDynamic(column.extent))
            kernel.setBelow(value, column.extent);
          place[column.dim] =
              kernel.add(place[column.dim], kernel.mul(value, kernel.constant(column.step)));
        }
        State values = lanes > 1 ? kernel.elements(output.value, place, lanes)
                                 : State{kernel.element(output.value, place)};
        kernel.storeVector(kernel.memory(destination), kernel.offset(destination, place), values);
        return State();
      });
    };
    if (layout.across)
      fill(layout.vector);
    else
      vectorize(along ? output.columns.back().extent : 1, along ? sizes.back() : Value(), {}, fill);
  }

  KernelWriter &kernel;
  OpBuilder &b;
  Location loc;
  const Rows &rows;
  Layout layout;
  Value local, position; // of the thread: its first row in the block, which of that row's threads
  Value exists;          // whether there is such a row to write; null where there always is
  SmallVector<Value> row;
};

StringRef familyOf(bool across) { return across ? "columns" : "rows"; }

class RowMatch : public ScheduleMatch {
public:
  RowMatch(const Computation &computation, const Target &target, Rows rows, bool across)
      : ScheduleMatch(computation.op, target), rows(std::move(rows)), across(across),
        work(elementWork(computation)) {}

  SmallVector<Candidate, 0> candidates(size_t) const override {
    int64_t count = 1, vector = 16, widest = 8;
    for (const RowReduction &reduction : rows.reductions) {
      linalg::GenericOp generic = reduction.generic;
      for (OpOperand *input : generic.getDpsInputOperands()) {
        if (!isReadEach(reduction, input) ||
            !isAlong(generic.getMatchingIndexingMap(input), laneLoop(reduction)))
          continue;
        Type type = getElementTypeOrSelf(input->get());
        if (across && type.isInteger(1)) // has no vectors in memory
          vector = 1;
        widest = std::max<int64_t>(widest, type.getIntOrFloatBitWidth());
      }
    }
    vector = std::min<int64_t>(vector, 128 / widest);
    for (int64_t size : rows.rowType.getShape())
      count *= ShapedType::isDynamic(size) ? 1 : size; // those of run time may be 1
    Layout layout = across ? layColumns(rows, count, longest(), vector, widest / 8, target)
                           : layRows(count, longest(), vector, target);
    // As many threads share a row as without what the kernel computes of it besides: sums keep their order.
    if (across && !canWiden(rows)) {
      layout.rows /= layout.vector;
      layout.vector = 1;
    }
    Builder b(op.getContext());
    auto number = [&](StringRef name, int64_t value) {
      return b.getNamedAttr(name, b.getI64IntegerAttr(value));
    };
    auto params =
        b.getDictionaryAttr({number("rows", layout.rows), number("threads", layout.threads),
                             number("vector", layout.vector)});
    return {candidateOf(params)};
  }

  KernelWork workOf(DictionaryAttr params) const override {
    Layout layout = layoutOf(params);
    // Each reduction waits for what it reads, a thread for as many loads as it has at once.
    double elements = 1;
    for (int64_t size : rows.rowType.getShape())
      elements *= ShapedType::isDynamic(size) ? kUnknownSize : double(size);
    double perThread = double(longest() * layout.rows) / double(layout.threads * layout.vector);
    ElementKernel kernel{elements / double(layout.rows), layout.threads,
                         double(rows.reductions.size()) * std::ceil(perThread / kLoadsTogether)};
    ElementWork all = work;
    for (const RowReduction &reduction : rows.reductions) {
      linalg::GenericOp generic = reduction.generic;
      for (OpOperand *input : generic.getDpsInputOperands()) {
        AffineMap map = generic.getMatchingIndexingMap(input);
        unsigned lane = laneLoop(reduction);
        if (isReadEach(reduction, input) && !isAlong(map, lane) && map.isFunctionOfDim(lane))
          all.reducedBytes += scatteredBytes(generic, getElementTypeOrSelf(input->get()));
      }
    }
    return kernelWork(all, kernel);
  }

  LogicalResult verify(DictionaryAttr params) const override {
    StringRef family = familyOf(across);
    auto threads = intParam(params, "threads"), block = intParam(params, "rows"),
         vector = intParam(params, "vector");
    if (!threads || !block || !vector || *threads < kWarp || *threads > target.maxThreadsPerBlock ||
        *threads % kWarp != 0)
      return op.emitError() << "schedule '" << family
                            << "' needs rows, vector and threads, a multiple of " << kWarp
                            << " up to " << target.maxThreadsPerBlock;
    if (*vector < 1 || *vector > 16 || !llvm::isPowerOf2_64(*vector))
      return op.emitError() << "schedule '" << family << "': vector " << *vector
                            << " is not 1, 2, 4, 8 or 16";
    if (across && *vector > 1) {
      if (!canWiden(rows) || (!ShapedType::isDynamic(rows.rowType.getShape().back()) &&
                              rows.rowType.getShape().back() % *vector != 0))
        return op.emitError() << "schedule '" << family << "': vector " << *vector
                              << " does not divide the rows beside one another";
    }
    // Rows that share warps must share them evenly.
    int64_t side = across ? *block / *vector : *block;
    if (side < 1 || *threads % side != 0 ||
        (across ? !llvm::isPowerOf2_64(side) || *block % *vector != 0
                : side != 1 && (!llvm::isPowerOf2_64(*threads / side) || *threads / side > kWarp)))
      return op.emitError() << "schedule '" << family << "': " << *threads
                            << " threads cannot share " << *block << " rows"
                            << (across ? " by vectors of " + std::to_string(*vector) : "");
    return success();
  }

  FailureOr<SmallVector<Value>> emit(DictionaryAttr params, KernelEmitter &emitter) const override {
    Layout layout = layoutOf(params);
    OpBuilder host(op);
    Location loc = op.getLoc();
    Value one = host.create<arith::ConstantIndexOp>(loc, 1), count = one;
    auto sizeOf = [&](unsigned dim) -> Value {
      if (!rows.rowType.isDynamicDim(dim))
        return host.create<arith::ConstantIndexOp>(loc, rows.rowType.getDimSize(dim));
      return emitter.gridSize(host, op, 0, *rows.outputs[0].sameDimension(dim));
    };
    for (int64_t dim = 0; dim < rows.rowType.getRank(); ++dim)
      count = host.createOrFold<arith::MulIOp>(loc, count, sizeOf(dim));
    auto constant = [&](int64_t value) { return host.create<arith::ConstantIndexOp>(loc, value); };
    Value blocks = host.createOrFold<arith::CeilDivSIOp>(loc, count, constant(layout.rows));
    if (layout.beside() > 1 && rows.rowType.isDynamicDim(rows.rowType.getRank() - 1)) {
      // As the kernel decides: vectors of rows, or one row per thread.
      Value size = sizeOf(rows.rowType.getRank() - 1);
      Value rest = host.create<arith::RemSIOp>(loc, size, constant(layout.vector));
      Value whole = host.create<arith::CmpIOp>(loc, arith::CmpIPredicate::eq, rest, constant(0));
      Value more = host.create<arith::CeilDivSIOp>(loc, count, constant(layout.side()));
      blocks = host.create<arith::SelectOp>(loc, whole, blocks, more);
    }
    auto outputs = llvm::to_vector(llvm::seq<int64_t>(0, op.getNumResults()));
    return emitter.launch(op, "", layout.threads, {blocks, one, one}, outputs,
                          [&](KernelWriter &kernel) {
                            RowEmitter(kernel, rows, layout).emit();
                            return success();
                          });
  }

private:
  Layout layoutOf(DictionaryAttr params) const {
    return {across, *intParam(params, "threads"), *intParam(params, "rows"),
            *intParam(params, "vector")};
  }

  /// Steps of the longest reduction.
  int64_t longest() const {
    int64_t steps = 1;
    for (const RowReduction &reduction : rows.reductions)
      steps = std::max(steps, rowLength(reduction, 256));
    return steps;
  }

  /// The loop along which neighbouring threads go.
  unsigned laneLoop(const RowReduction &reduction) const {
    linalg::GenericOp generic = reduction.generic;
    AffineMap out = generic.getMatchingIndexingMap(generic.getDpsInitOperand(0));
    return across ? out.getDimPosition(out.getNumResults() - 1) : reduction.reduced.back();
  }

  /// Whether a reduction reads the input at every step.
  static bool isReadEach(const RowReduction &reduction, OpOperand *input) {
    linalg::GenericOp generic = reduction.generic;
    AffineMap map = generic.getMatchingIndexingMap(input);
    return llvm::any_of(reduction.reduced,
                        [&](unsigned loop) { return map.isFunctionOfDim(loop); });
  }

  /// What is read of sectors beside their one element, where neighbouring threads are in different
  /// ones.
  static double scatteredBytes(linalg::GenericOp generic, Type type) {
    double iterations = 1;
    for (int64_t range : generic.getStaticLoopRanges())
      iterations *= ShapedType::isDynamic(range) ? kUnknownSize : double(range);
    return iterations * std::max(0.0, kSectorBytes - type.getIntOrFloatBitWidth() / 8.0);
  }

  /// For `count` rows or more.
  static Layout layRows(int64_t count, int64_t length, int64_t vector, const Target &target) {
    int64_t accesses = llvm::divideCeil(length, vector);
    if (accesses <= kWarp) {
      // Several rows a block, but not so many that multiprocessors are without blocks.
      int64_t perRow = llvm::PowerOf2Ceil(accesses), threads = 128;
      while (threads > kWarp && count * perRow / threads < target.board->sm_count)
        threads /= 2;
      return {false, threads, threads / perRow, vector};
    }
    // Whole warps that are done after equally many steps; more of them where rows are few.
    int64_t most = count < target.board->sm_count ? 512 : 256;
    int64_t steps = llvm::divideCeil(accesses, most);
    int64_t threads = llvm::alignTo(llvm::divideCeil(accesses, steps), kWarp);
    return {false, threads, 1, vector};
  }

  /// Whether rows beside one another are so in every result, too.
  static bool canWiden(const Rows &rows) {
    return llvm::all_of(rows.outputs, [](const RowOutput &output) {
      unsigned rank = output.first.getNumResults(), rowRank = output.first.getNumDims();
      return rowRank != 0 && output.sameDimension(rowRank - 1) == rank - 1;
    });
  }

  /// `vector` elements of up to `bytes` bytes are an access.
  static Layout layColumns(const Rows &rows, int64_t count, int64_t length, int64_t vector,
                           int64_t bytes, const Target &target) {
    ArrayRef<int64_t> beside = rows.rowType.getShape().take_back(rows.beside);
    bool known = llvm::none_of(beside, ShapedType::isDynamic);
    int64_t neighbours = known ? ShapedType::getNumElements(beside) : ShapedType::kDynamic;
    // Of a thread's own rows those of the innermost dimension alone are neighbours.
    int64_t innermost = beside.empty() ? 1 : beside.back();
    while (!ShapedType::isDynamic(innermost) && innermost % vector != 0)
      vector /= 2;
    // Enough threads to fill the GPU come before wide accesses.
    bool allKnown = rows.rowType.hasStaticShape();
    while (allKnown && vector > 1 &&
           count * length / vector < int64_t(target.board->sm_count) * 256)
      vector /= 2;
    int64_t side =
        known ? std::min<int64_t>(llvm::PowerOf2Ceil(neighbours / vector), kWarp) : kWarp;
    // One thread per row where that is enough to fill the GPU, else up to a block of 256.
    if (side == kWarp && count / vector >= int64_t(target.board->sm_count) * 512)
      return {true, 128, 128 * vector, vector};
    // Rows of a whole line of memory are enough where more of them would leave multiprocessors
    // without blocks.
    while (side * vector * bytes > kLine && count / (side * vector) < target.board->sm_count)
      side /= 2;
    int64_t perRow = llvm::PowerOf2Ceil(llvm::divideCeil(length, 4));
    perRow = std::clamp<int64_t>(perRow, kWarp / side, 256 / side);
    // Blocks of several warps, where that leaves enough of them.
    while (side >= kWarp && side * perRow < 128 &&
           count / (2 * side * vector) >= target.board->sm_count)
      side *= 2;
    return {true, side * perRow, side * vector, vector};
  }

  Rows rows;
  bool across;
  ElementWork work;
};

class RowSchedule : public Schedule {
public:
  explicit RowSchedule(bool across) : across(across) {}

  StringRef family() const override { return familyOf(across); }

  std::unique_ptr<ScheduleMatch> tryMatch(const Computation &computation,
                                          const Target &target) const override {
    const std::optional<Rows> &rows = matchRows(computation);
    if (!rows || !rows->isFor(across))
      return nullptr;
    return std::make_unique<RowMatch>(computation, target, *rows, across);
  }

private:
  bool across;
};

} // namespace

const Schedule *rowSchedule() {
  static const RowSchedule schedule(false);
  return &schedule;
}

const Schedule *columnSchedule() {
  static const RowSchedule schedule(true);
  return &schedule;
}

} // namespace cameo
