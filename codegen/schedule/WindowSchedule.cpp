// The window schedule: a thread computes several neighbouring elements of sliding windows.
//
// For reductions over the taps of small windows, such as depthwise convolutions and pools: an input
// is read at x * stride + k * dilation along a dimension, x being a loop of the result and k the
// innermost reduction. A thread owns consecutive x; for every row of taps it loads what their
// windows cover once and combines from registers. Loops over taps are unrolled.
//
// Where x is the innermost dimension, a thread owns `vector` of them and loads 16 bytes at a time
// where alignment and padding allow. Where another is, the channel, it owns `run` of them and
// `vector` channels, and each load is of these: all of them are padding, or none. What is innermost
// is that in memory, in whichever order the description has dimensions.
//
// SPDX-License-Identifier: Apache-2.0
#include "codegen/schedule/ElementWork.h"
#include "codegen/schedule/Epilogues.h"
#include "codegen/schedule/Schedule.h"
#include "dialects/kernel/form/Runs.h"
#include "dialects/kernel/form/Windows.h"
#include "dialects/rt/Layout.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"

#include <cmath>

using namespace mlir;

namespace cameo {
namespace {

/// So many taps in all are unrolled.
constexpr int64_t kUnrolledTaps = 64;
/// Elements of a thread that has runs of several channels.
constexpr int64_t kMostElements = 32;

int64_t bytesOf(Type type) { return type.isInteger(1) ? 1 : type.getIntOrFloatBitWidth() / 8; }

/// Elements of a thread: `run` neighbours along x, and of each `vector` beside one another.
struct Share {
  int64_t run, vector;
  int64_t elements() const { return run * vector; }
};

/// Writes one thread's work.
class Emitter {
public:
  Emitter(KernelWriter &kernel, const Windows &windows, Share share)
      : kernel(kernel), b(kernel.b), loc(kernel.loc), windows(windows), generic(windows.generic),
        share(share) {}

  /// Values of the thread's elements of the reduction from `indices` on, those of each x together.
  SmallVector<Value> reduce(ArrayRef<Value> indices) {
    AffineMap out = generic.getMatchingIndexingMap(generic.getDpsInitOperand(0));
    loops.resize(generic.getNumLoops());
    for (auto [expr, index] : llvm::zip(out.getResults(), indices))
      loops[cast<AffineDimExpr>(expr).getPosition()] = index;
    extents = kernel.loopSizes(generic);
    Value start = kernel.element(generic.getDpsInitOperand(0)->get(), indices);
    return nest(ArrayRef(windows.reductions).drop_back(),
                SmallVector<Value>(share.elements(), start), windows.count);
  }

private:
  /// Loops over `dims` around a row of taps.
  SmallVector<Value> nest(ArrayRef<unsigned> dims, SmallVector<Value> sums, int64_t unrolled) {
    if (dims.empty())
      return row(sums);
    unsigned dim = dims.front();
    if (auto known = getConstantIntValue(extents[dim]);
        known && unrolled * *known <= kUnrolledTaps) {
      for (int64_t i = 0; i < *known; ++i) {
        loops[dim] = kernel.constant(i);
        sums = nest(dims.drop_front(), sums, unrolled * *known);
      }
      return sums;
    }
    auto loop =
        b.create<scf::ForOp>(loc, kernel.constant(0), extents[dim], kernel.constant(1), sums);
    OpBuilder::InsertionGuard guard(b);
    b.setInsertionPointToStart(loop.getBody());
    loops[dim] = loop.getInductionVar();
    b.create<scf::YieldOp>(
        loc,
        nest(dims.drop_front(), llvm::to_vector_of<Value>(loop.getRegionIterArgs()), unrolled));
    return llvm::to_vector_of<Value>(loop.getResults());
  }

  /// One row of taps: for all elements of the thread.
  SmallVector<Value> row(SmallVector<Value> sums) {
    Value first = loops[windows.across];
    loops[windows.taps] = kernel.constant(0);
    SmallVector<Value> begin = kernel.apply(windows.slid.map, loops);
    auto placeOf = [&](int64_t step, int64_t tap) {
      return step * windows.stride + tap * windows.dilation;
    };
    SmallVector<int64_t> places;
    for (int64_t step = 0; step < share.run; ++step)
      for (int64_t tap = 0; tap < windows.count; ++tap)
        places.push_back(placeOf(step, tap));
    llvm::sort(places);
    places.erase(std::unique(places.begin(), places.end()), places.end());
    SmallVector<Value> loaded = load(begin, places);
    for (int64_t tap = 0; tap < windows.count; ++tap) {
      loops[windows.taps] = kernel.constant(tap);
      std::vector<SmallVector<Value>> shared(generic.getNumDpsInputs()); // by all steps
      for (int64_t step = 0; step < share.run; ++step) {
        loops[windows.across] = kernel.add(first, kernel.constant(step));
        size_t place = llvm::lower_bound(places, placeOf(step, tap)) - places.begin();
        combine(ArrayRef<Value>(loaded).slice(place * share.vector, share.vector), shared,
                MutableArrayRef<Value>(sums).slice(step * share.vector, share.vector));
      }
    }
    loops[windows.across] = first;
    return sums;
  }

  /// One tap of one x: `slid` elements of what is slid over to `sums`.
  void combine(ArrayRef<Value> slid, std::vector<SmallVector<Value>> &shared,
               MutableArrayRef<Value> sums) {
    std::vector<SmallVector<Value>> inputs;
    for (OpOperand *input : generic.getDpsInputOperands()) {
      unsigned number = input->getOperandNumber();
      if (number == windows.input) {
        inputs.emplace_back(slid);
        continue;
      }
      SmallVector<Value> own,
          &known = generic.getMatchingIndexingMap(input).isFunctionOfDim(windows.across)
                       ? own
                       : shared[number];
      if (known.empty())
        known = kernel.input(input, loops, beside(), share.vector);
      inputs.push_back(known);
    }
    Value first = loops[beside()];
    for (auto [lane, sum] : llvm::enumerate(sums)) {
      loops[beside()] = kernel.add(first, kernel.constant(lane));
      SmallVector<Value> arguments;
      for (const SmallVector<Value> &values : inputs)
        arguments.push_back(values[lane]);
      arguments.push_back(sum);
      sum = kernel.inlineBody(generic, loops, arguments)[0];
    }
    loops[beside()] = first;
  }

  /// The loop of elements beside one another; any where there is one.
  unsigned beside() const { return windows.beside.value_or(windows.across); }

  /// The elements of the slid tensor at `begin` and `places` further along its dimension `dim`,
  /// those beside one another together.
  SmallVector<Value> load(ArrayRef<Value> begin, ArrayRef<int64_t> places) {
    const Access &access = windows.slid;
    tensor::PadOp pad = access.pad;
    std::optional<int64_t> low =
        pad ? getConstantIntValue(pad.getMixedLowPad()[windows.dim]) : std::optional<int64_t>(0);
    if (!low || !pad)
      return low && !windows.beside ? loadRow(access.source, begin, places, 0, Value())
                                    : loadEach(access.tensor, begin, places, 0, Value());
    // One condition for the row, others for elements that may be beside it.
    SmallVector<Value> indices(begin);
    Value source = pad.getSource();
    Value inside, padding = widened(kernel.padding(pad));
    for (size_t dim = 0; dim < begin.size(); ++dim) {
      Value amount = kernel.lowPad(pad, dim);
      if (!amount)
        continue;
      indices[dim] = b.createOrFold<arith::SubIOp>(loc, indices[dim], amount);
      if (dim == windows.dim)
        continue;
      Value good = b.create<arith::CmpIOp>(loc, arith::CmpIPredicate::ult, indices[dim],
                                           kernel.size(source, dim));
      inside = inside ? b.create<arith::AndIOp>(loc, inside, good) : good;
    }
    Value outside = kernel.lowPad(pad, windows.dim) ? padding : Value();
    auto loadInside = [&] {
      return windows.beside ? loadEach(source, indices, places, *low, outside)
                            : loadRow(source, indices, places, *low, outside);
    };
    return inside ? either(inside, loadInside,
                           SmallVector<Value>(places.size() * share.vector, padding))
                  : loadInside();
  }

  /// What `emit` gives where `condition` holds, and otherwise these.
  SmallVector<Value> either(Value condition, function_ref<SmallVector<Value>()> emit,
                            ArrayRef<Value> otherwise) {
    auto branch = b.create<scf::IfOp>(loc, ValueRange(otherwise).getTypes(), condition, true);
    OpBuilder::InsertionGuard guard(b);
    b.setInsertionPointToStart(branch.thenBlock());
    b.create<scf::YieldOp>(loc, emit());
    b.setInsertionPointToStart(branch.elseBlock());
    b.create<scf::YieldOp>(loc, otherwise);
    return llvm::to_vector_of<Value>(branch.getResults());
  }

  /// What is read as the reduction's body reads it.
  Value widened(Value value) {
    Type type = windows.slid.elementType;
    return value.getType() == type ? value : b.create<arith::ExtFOp>(loc, type, value).getResult();
  }

  /// Whether `place`, `low` of which are padding for the first x, is at or behind the beginning of
  /// a row of that many elements, and `lanes` from it on are before its end, whatever x is.
  bool isInside(int64_t place, int64_t lanes, int64_t low, int64_t row) const {
    if (ShapedType::isDynamic(row) || ShapedType::isDynamic(windows.width))
      return false;
    return place >= low &&
           (windows.width - share.run) * windows.stride - low + place + lanes <= row;
  }

  /// Whether the element at `place` of the row is inside it.
  Value isInRow(Value source, ArrayRef<Value> indices, int64_t place) {
    Value index = kernel.add(indices[windows.dim], kernel.constant(place));
    return b.create<arith::CmpIOp>(loc, arith::CmpIPredicate::ult, index,
                                   kernel.size(source, windows.dim));
  }

  /// The elements at each place by themselves, as many as are beside one another. `indices` are at
  /// place 0, which is `low` before the row's beginning for the first x; with `padding`, elements
  /// beside the row are that.
  SmallVector<Value> loadEach(Value source, ArrayRef<Value> indices, ArrayRef<int64_t> places,
                              int64_t low, Value padding) {
    int64_t row = cast<RankedTensorType>(source.getType()).getDimSize(windows.dim);
    SmallVector<Value> result;
    for (int64_t place : places) {
      auto elements = [&] {
        SmallVector<Value> at(indices), values;
        at[windows.dim] = kernel.add(at[windows.dim], kernel.constant(place));
        Value tensor = source;
        // In memory it may be in another order than as it is padded.
        if (tensor::PadOp pad = windows.slid.pad; pad && source == pad.getSource())
          tensor = windows.slid.source, at = kernel.apply(windows.slid.beneath, at);
        for (Value value : kernel.elements(tensor, at, share.vector))
          values.push_back(widened(value));
        return values;
      };
      if (!padding || isInside(place, 1, low, row))
        llvm::append_range(result, elements());
      else
        llvm::append_range(result, either(isInRow(source, indices, place), elements,
                                          SmallVector<Value>(share.vector, padding)));
    }
    return result;
  }

  /// The same of a row whose elements follow one another: as many at once as possible.
  SmallVector<Value> loadRow(Value source, ArrayRef<Value> indices, ArrayRef<int64_t> places,
                             int64_t low, Value padding) {
    auto type = cast<RankedTensorType>(source.getType());
    Value memory = kernel.memory(source), begin; // null: computed
    if (memory)
      begin = kernel.offset(source, indices);
    auto elements = [&](int64_t place, int64_t lanes) {
      if (memory)
        return kernel.load(memory, kernel.add(begin, kernel.constant(place)), lanes);
      SmallVector<Value> at(indices);
      at.back() = kernel.add(at.back(), kernel.constant(place));
      return kernel.elements(source, at, lanes);
    };
    int64_t row = type.getShape().back();
    int64_t widest = type.getElementType().isInteger(1) ? 1 : 16 / bytesOf(type.getElementType());
    widest = std::min(widest, kernel.layout(source).alignment);
    SmallVector<Value> values(places.size());
    for (size_t i = 0; i < places.size(); ++i) {
      if (values[i])
        continue;
      // As many elements as are aligned, inside whatever x is, and mostly wanted.
      int64_t lanes = isInside(places[i], 1, low, row) ? widest : 1;
      auto fits = [&] {
        size_t wanted = llvm::lower_bound(places, places[i] + lanes) - (places.begin() + i);
        return (places[i] - low) % lanes == 0 && row % lanes == 0 &&
               share.run * windows.stride % lanes == 0 && isInside(places[i], lanes, low, row) &&
               2 * int64_t(wanted) > lanes;
      };
      while (lanes > 1 && !fits())
        lanes /= 2;
      if (lanes > 1) {
        SmallVector<Value> loaded = elements(places[i], lanes);
        for (size_t next = i; next < places.size() && places[next] < places[i] + lanes; ++next)
          values[next] = widened(loaded[places[next] - places[i]]);
        continue;
      }
      auto element = [&] { return SmallVector<Value>{widened(elements(places[i], 1)[0])}; };
      values[i] = !padding || isInside(places[i], 1, low, row)
                      ? element()[0]
                      : either(isInRow(source, indices, places[i]), element, padding)[0];
    }
    return values;
  }

  KernelWriter &kernel;
  OpBuilder &b;
  Location loc;
  const Windows &windows;
  linalg::GenericOp generic;
  Share share;
  SmallVector<Value> loops, extents;
};

/// Of a block.
constexpr int64_t kWindowThreads = 128;
/// Registers of a thread beside its sums and a row of what they are made of.
constexpr int64_t kOtherRegisters = 32;
/// Instructions of a load with its place and whether it is padding; of a result, work on it
/// included.
constexpr double kInstructionsOfLoad = 3, kInstructionsOfStore = 4;

class WindowMatch : public ScheduleMatch {
public:
  WindowMatch(const Computation &computation, const Target &target, Windows windows)
      : ScheduleMatch(computation.op, target), windows(std::move(windows)),
        work(elementWork(computation)) {}

  /// Weights of channels that are innermost follow one another, too.
  SmallVector<unsigned> packing(unsigned input) const override {
    if (!windows.beside)
      return {};
    linalg::GenericOp generic = windows.generic;
    for (OpOperand *operand : generic.getDpsInputOperands()) {
      AffineMap map = generic.getMatchingIndexingMap(operand);
      auto place = map.getResultPosition(getAffineDimExpr(*windows.beside, op.getContext()));
      if (operand->get() != op.getInputArgs()[input] || !place)
        continue;
      SmallVector<unsigned> order;
      for (unsigned dim = 0; dim < map.getNumResults(); ++dim)
        if (dim != *place)
          order.push_back(dim);
      order.push_back(*place);
      return order;
    }
    return {};
  }

  /// Weights are packed. What windows leave out between them is read by their other taps.
  double layoutBytes(const AccessPattern &pattern, OperandOrders orders) const override {
    llvm::BitVector apart = readApart();
    for (auto [input, argument] : llvm::zip(op.getInputs(), op.getInputArgs()))
      if (argument == windows.slid.source || rt::constantOf(input))
        apart.set(argument.getArgNumber());
    double bytes = pattern.bytesMoved(orders, apart, /*mayGoAlongReduced=*/false);
    if (auto slid = dyn_cast<BlockArgument>(windows.slid.source)) {
      RankedTensorType type = pattern.types[slid.getArgNumber()];
      double distance = pattern.distance(slid.getArgNumber(), orders);
      if (windows.count * windows.dilation >= windows.stride && distance >= windows.stride)
        distance /= windows.stride;
      bytes += tensorBytes(type) * std::max(sectorFactor(distance, type), 1.0);
    }
    return bytes;
  }

  SmallVector<Candidate, 0> candidates(size_t) const override {
    Share share = shareOf();
    Builder b(op.getContext());
    auto number = [&](StringRef name, int64_t value) {
      return b.getNamedAttr(name, b.getI64IntegerAttr(value));
    };
    auto params =
        windows.beside
            ? b.getDictionaryAttr({number("run", share.run), number("threads", kWindowThreads),
                                   number("vector", share.vector)})
            : b.getDictionaryAttr({number("threads", kWindowThreads), number("vector", share.run)});
    return {candidateOf(params)};
  }

  KernelWork workOf(DictionaryAttr params) const override {
    Share share = shareOf(params);
    int64_t threads = *intParam(params, "threads");
    auto type = cast<RankedTensorType>(root().getType());
    double elements = tensorBytes(type) * 8 / type.getElementTypeBitWidth();
    // Rows of taps that outputs beside one another share are loaded once.
    double taps = double(windows.count), run = double(share.run);
    ElementKernel kernel{elements / double(threads * share.elements()), threads,
                         std::ceil(work.longest / taps / kLoadsTogether)};
    kernel.reused = run * taps / double(placesOf(share));
    KernelWork result = kernelWork(work, kernel);
    result.once.slots = instructionsOf(share) * double(threads) / 32;
    double loaded = double(placesOf(share) * share.vector) *
                    double(bytesOf(getElementTypeOrSelf(windows.slid.source)));
    result.registers = std::min<int64_t>(int64_t(target.maxRegistersPerThread),
                                         kOtherRegisters + share.elements() + int64_t(loaded) / 4);
    return result;
  }

  /// Along a row of taps: those of all of a thread's windows.
  int64_t placesOf(const Share &share) const {
    int64_t reach = (share.run - 1) * windows.stride + (windows.count - 1) * windows.dilation + 1;
    return std::min(share.run * windows.count, reach);
  }

  /// Of a thread: loads and their places, conversions of what is loaded, arithmetic of taps,
  /// stores.
  double instructionsOf(const Share &share) const {
    linalg::GenericOp generic = windows.generic;
    SmallVector<int64_t> ranges = generic.getStaticLoopRanges();
    double rows = 1;
    for (unsigned loop : ArrayRef(windows.reductions).drop_back())
      rows *= ShapedType::isDynamic(ranges[loop]) ? kUnknownSize : double(ranges[loop]);
    double casts = 0, arithmetic = 0, others = double(generic.getNumDpsInputs()) - 1;
    for (Operation &inner : generic.getBody()->without_terminator())
      (isa<CastOpInterface>(inner) ? casts : arithmetic) += 1;
    auto taps = double(windows.count), places = double(placesOf(share));
    auto vector = double(share.vector), elements = double(share.elements());
    double loads = places * kInstructionsOfLoad + taps * others;
    double converted = (casts == 0 ? 0 : places + taps * std::max(casts - 1, 0.0)) * vector;
    double each = loads + converted + taps * arithmetic * elements;
    return rows * each + elements * kInstructionsOfStore * double(windows.epilogues.size());
  }

  Share shareOf(DictionaryAttr params) const {
    int64_t vector = *intParam(params, "vector");
    return windows.beside ? Share{*intParam(params, "run"), vector} : Share{vector, 1};
  }

  Share shareOf() const {
    int64_t elements = 1; // sizes known only at run time may be 1
    for (int64_t size : cast<RankedTensorType>(root().getType()).getShape())
      elements *= ShapedType::isDynamic(size) ? 1 : size;
    // Two warps on every multiprocessor come before long runs.
    auto isFor = [&](int64_t extent, int64_t size, int64_t others) {
      return !ShapedType::isDynamic(extent) && extent % size == 0 &&
             elements / (size * others) >= int64_t(target.board->sm_count) * 64;
    };
    Share share{1, 1};
    if (!windows.beside) {
      // Runs that are stored 16 bytes at a time come before others.
      for (int64_t run : {2, 3, 5, 6, 7, 4, 8})
        if (isFor(windows.width, run, 1))
          share.run = run;
      return share;
    }
    int64_t widest = 16 / bytesOf(getElementTypeOrSelf(windows.slid.source.getType()));
    for (int64_t vector = 2; vector <= widest; vector *= 2)
      if (isFor(windows.extent, vector, 1))
        share.vector = vector;
    // Runs are for what windows have in common.
    for (int64_t run : {2, 3, 7, 4})
      if (windows.count * windows.dilation > windows.stride &&
          run * share.vector <= kMostElements && isFor(windows.width, run, share.vector))
        share.run = run;
    return share;
  }

  LogicalResult verify(DictionaryAttr params) const override {
    auto threads = intParam(params, "threads"), vector = intParam(params, "vector");
    if (!threads || !vector || *threads < 1 || *threads > target.maxThreadsPerBlock)
      return op.emitError() << "schedule 'window' needs vector, and threads of 1 to "
                            << target.maxThreadsPerBlock;
    auto divides = [](int64_t size, int64_t extent) {
      return size == 1 || (!ShapedType::isDynamic(extent) && extent % size == 0);
    };
    if (*vector < 1 || *vector > kLargestWindow ||
        !divides(*vector, windows.beside ? windows.extent : windows.width))
      return op.emitError() << "schedule 'window': vector " << *vector
                            << " does not divide the last dimension or exceeds " << kLargestWindow;
    if (!windows.beside)
      return success();
    auto run = intParam(params, "run");
    if (!run || *run < 1 || *run > kLargestWindow || !divides(*run, windows.width))
      return op.emitError() << "schedule 'window' needs a run of 1 to " << kLargestWindow
                            << " that divides the dimension along which windows slide";
    if (!llvm::isPowerOf2_64(*vector))
      return op.emitError() << "schedule 'window': vector " << *vector
                            << " of channels is not a power of two";
    return success();
  }

  FailureOr<SmallVector<Value>> emit(DictionaryAttr params, KernelEmitter &emitter) const override {
    int64_t threads = *intParam(params, "threads");
    Share share = shareOf(params);
    OpBuilder host(op);
    Location loc = op.getLoc();
    Value one = host.create<arith::ConstantIndexOp>(loc, 1), count = one;
    for (Value size : gridSizesOfRoot(host, emitter, op, windows.epilogues.front(), root()))
      count = host.createOrFold<arith::MulIOp>(loc, count, size);
    Value blocks = host.createOrFold<arith::CeilDivSIOp>(
        loc, count, host.create<arith::ConstantIndexOp>(loc, threads * share.elements()));
    auto outputs = llvm::to_vector(llvm::seq<int64_t>(0, op.getNumResults()));
    return emitter.launch(op, "", threads, {blocks, one, one}, outputs,
                          [&](KernelWriter &kernel) { return emitBody(kernel, threads, share); });
  }

private:
  Value root() const { return linalg::GenericOp(windows.generic).getResult(0); }

  /// The dimension of the root that is this loop.
  unsigned dimensionOf(unsigned loop) const {
    linalg::GenericOp generic = windows.generic;
    AffineMap out = generic.getMatchingIndexingMap(generic.getDpsInitOperand(0));
    return *out.getResultPosition(getAffineDimExpr(loop, op.getContext()));
  }

  /// Of the root, of a thread's group: neighbouring threads go along what is innermost in memory.
  SmallVector<Value> indicesOf(KernelWriter &kernel, Value group, ArrayRef<Value> groups) const {
    auto order = llvm::to_vector(llvm::seq<unsigned>(0, groups.size()));
    if (windows.beside) {
      auto inner = order.begin() + dimensionOf(*windows.beside);
      std::rotate(inner, inner + 1, order.end());
    }
    SmallVector<Value> sizes, indices(groups.size());
    for (unsigned dim : order)
      sizes.push_back(groups[dim]);
    for (auto [dim, index] : llvm::zip(order, kernel.delinearize(group, sizes)))
      indices[dim] = index;
    return indices;
  }

  LogicalResult emitBody(KernelWriter &kernel, int64_t threads, Share share) const {
    OpBuilder &b = kernel.b;
    Location loc = kernel.loc;
    unsigned across = dimensionOf(windows.across);
    SmallVector<Value> groups = kernel.sizes(root());
    auto have = [&](unsigned dim, int64_t extent, int64_t size) {
      if (size > 1)
        groups[dim] = kernel.constant(extent / size);
    };
    have(across, windows.width, share.run);
    if (windows.beside)
      have(dimensionOf(*windows.beside), windows.extent, share.vector);
    Value count = kernel.constant(1);
    for (Value size : groups)
      count = kernel.mul(count, size);
    Value group =
        kernel.add(kernel.mul(kernel.blockId(), kernel.constant(threads)), kernel.threadId());
    Value exists = b.create<arith::CmpIOp>(loc, arith::CmpIPredicate::slt, group, count);
    auto guard = b.create<scf::IfOp>(loc, exists, false);
    b.setInsertionPointToStart(guard.thenBlock());
    SmallVector<Value> indices = indicesOf(kernel, group, groups);
    indices[across] = kernel.mul(indices[across], kernel.constant(share.run));
    if (windows.beside) {
      Value &index = indices[dimensionOf(*windows.beside)];
      index = kernel.mul(index, kernel.constant(share.vector));
    }

    SmallVector<Value> values = Emitter(kernel, windows, share).reduce(indices);
    if (!windows.beside) {
      auto flat = [&] { return kernel.mul(group, kernel.constant(share.run)); };
      for (auto [number, epilogue] : llvm::enumerate(windows.epilogues))
        storeResult(kernel, root(), epilogue, number, indices, values, flat);
      return success();
    }
    Value first = indices[across];
    for (int64_t step = 0; step < share.run; ++step) {
      indices[across] = kernel.add(first, kernel.constant(step));
      for (auto [number, epilogue] : llvm::enumerate(windows.epilogues))
        storeResult(kernel, root(), epilogue, number, indices,
                    ArrayRef<Value>(values).slice(step * share.vector, share.vector), {},
                    dimensionOf(*windows.beside));
    }
    return success();
  }

  Windows windows;
  ElementWork work;
};

class WindowSchedule : public Schedule {
public:
  StringRef family() const override { return "window"; }

  std::unique_ptr<ScheduleMatch> tryMatch(const Computation &computation,
                                          const Target &target) const override {
    const std::optional<Windows> &windows = matchWindows(computation);
    return windows ? std::make_unique<WindowMatch>(computation, target, *windows) : nullptr;
  }
};

} // namespace

const Schedule *windowSchedule() {
  static const WindowSchedule schedule;
  return &schedule;
}

} // namespace cameo
