// The window schedule: a thread computes several neighbouring elements of sliding windows.
//
// For reductions over the taps of small windows, such as depthwise convolutions and pools: an input
// is read at x * stride + k * dilation along its last dimension, x being the result's last loop and
// k the innermost reduction. A thread owns `vector` consecutive x; for every row of taps it loads
// what their windows cover once, 16 bytes at a time where alignment and padding allow, and combines
// from registers. Loops over taps are unrolled.
//
// SPDX-License-Identifier: Apache-2.0
#include "codegen/schedule/Epilogues.h"
#include "codegen/schedule/Schedule.h"
#include "dialects/kernel/form/Runs.h"
#include "dialects/kernel/form/Windows.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"

using namespace mlir;

namespace cameo {
namespace {

/// So many taps in all are unrolled.
constexpr int64_t kUnrolledTaps = 64;

int64_t bytesOf(Type type) { return type.isInteger(1) ? 1 : type.getIntOrFloatBitWidth() / 8; }

/// Writes one thread's work.
class Emitter {
public:
  Emitter(Kernel &kernel, const Windows &windows, int64_t vector)
      : kernel(kernel), b(kernel.b), loc(kernel.loc), windows(windows), generic(windows.generic),
        vector(vector) {}

  /// Values of the `vector` elements of the reduction from `indices` on.
  SmallVector<Value> reduce(ArrayRef<Value> indices) {
    AffineMap out = generic.getMatchingIndexingMap(generic.getDpsInitOperand(0));
    loops.resize(generic.getNumLoops());
    for (auto [expr, index] : llvm::zip(out.getResults(), indices))
      loops[cast<AffineDimExpr>(expr).getPosition()] = index;
    extents = kernel.loopSizes(generic);
    Value start = kernel.element(generic.getDpsInitOperand(0)->get(), indices);
    int64_t unrolled = windows.count;
    return nest(ArrayRef(windows.reductions).drop_back(), SmallVector<Value>(vector, start),
                unrolled);
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
    SmallVector<int64_t> places;
    for (int64_t lane = 0; lane < vector; ++lane)
      for (int64_t tap = 0; tap < windows.count; ++tap)
        places.push_back(lane * windows.stride + tap * windows.dilation);
    llvm::sort(places);
    places.erase(std::unique(places.begin(), places.end()), places.end());
    SmallVector<Value> loaded = load(begin, places);
    for (int64_t tap = 0; tap < windows.count; ++tap) {
      loops[windows.taps] = kernel.constant(tap);
      SmallVector<Value> shared(generic.getNumDpsInputs());
      for (int64_t lane = 0; lane < vector; ++lane) {
        loops[windows.across] = kernel.add(first, kernel.constant(lane));
        SmallVector<Value> arguments;
        for (OpOperand *input : generic.getDpsInputOperands()) {
          unsigned number = input->getOperandNumber();
          AffineMap map = generic.getMatchingIndexingMap(input);
          if (number == windows.input) {
            int64_t place = lane * windows.stride + tap * windows.dilation;
            arguments.push_back(loaded[llvm::lower_bound(places, place) - places.begin()]);
          } else if (!isa<RankedTensorType>(input->get().getType())) {
            arguments.push_back(kernel.scalar(input->get()));
          } else if (map.isFunctionOfDim(windows.across)) {
            arguments.push_back(kernel.element(input->get(), kernel.apply(map, loops)));
          } else {
            if (!shared[number])
              shared[number] = kernel.element(input->get(), kernel.apply(map, loops));
            arguments.push_back(shared[number]);
          }
        }
        arguments.push_back(sums[lane]);
        sums[lane] = kernel.inlineBody(generic, loops, arguments)[0];
      }
    }
    loops[windows.across] = first;
    return sums;
  }

  /// The elements of the slid tensor at `begin` and `places` further along its last dimension.
  SmallVector<Value> load(ArrayRef<Value> begin, ArrayRef<int64_t> places) {
    const Access &access = windows.slid;
    tensor::PadOp pad = access.pad;
    size_t last = begin.size() - 1;
    std::optional<int64_t> low =
        pad ? getConstantIntValue(pad.getMixedLowPad()[last]) : std::optional<int64_t>(0);
    if (!low) {
      SmallVector<Value> values, indices(begin);
      for (int64_t place : places) {
        indices[last] = kernel.add(begin[last], kernel.constant(place));
        values.push_back(widened(kernel.element(access.tensor, indices)));
      }
      return values;
    }
    SmallVector<Value> indices(begin);
    Value source = pad ? pad.getSource() : access.source;
    if (!pad)
      return loadRow(source, indices, places, 0, Value());
    // One condition for the row, others for elements that may be beside it.
    Value inside, padding = widened(kernel.padding(pad));
    for (size_t dim = 0; dim <= last; ++dim) {
      Value amount = kernel.lowPad(pad, dim);
      if (!amount)
        continue;
      indices[dim] = b.createOrFold<arith::SubIOp>(loc, indices[dim], amount);
      if (dim == last)
        continue;
      Value good = b.create<arith::CmpIOp>(loc, arith::CmpIPredicate::ult, indices[dim],
                                           kernel.size(source, dim));
      inside = inside ? b.create<arith::AndIOp>(loc, inside, good) : good;
    }
    bool beside = kernel.lowPad(pad, last) != nullptr;
    if (!inside)
      return loadRow(source, indices, places, *low, beside ? padding : Value());
    SmallVector<Type> types(places.size(), padding.getType());
    auto branch = b.create<scf::IfOp>(loc, types, inside, true);
    OpBuilder::InsertionGuard guard(b);
    b.setInsertionPointToStart(branch.thenBlock());
    b.create<scf::YieldOp>(loc, loadRow(source, indices, places, *low, beside ? padding : Value()));
    b.setInsertionPointToStart(branch.elseBlock());
    b.create<scf::YieldOp>(loc, SmallVector<Value>(places.size(), padding));
    return llvm::to_vector_of<Value>(branch.getResults());
  }

  /// What is read as the reduction's body reads it.
  Value widened(Value value) {
    Type type = windows.slid.elementType;
    return value.getType() == type ? value : b.create<arith::ExtFOp>(loc, type, value).getResult();
  }

  /// The same of what may be padded; `indices` are at place 0, which is `low` before the row's
  /// beginning for the first x. With `padding`, elements beside the row are that.
  SmallVector<Value> loadRow(Value source, ArrayRef<Value> indices, ArrayRef<int64_t> places,
                             int64_t low, Value padding) {
    auto type = cast<RankedTensorType>(source.getType());
    Value memory = kernel.memory(source), begin; // null: computed element by element
    if (memory)
      begin = kernel.offset(source, indices);
    auto element = [&](int64_t place) {
      if (memory)
        return widened(
            b.create<memref::LoadOp>(loc, memory, kernel.add(begin, kernel.constant(place))));
      SmallVector<Value> at(indices);
      at.back() = kernel.add(at.back(), kernel.constant(place));
      return widened(kernel.element(source, at));
    };
    int64_t row = type.getShape().back();
    bool isKnown = !ShapedType::isDynamic(row) && !ShapedType::isDynamic(windows.width);
    int64_t reach = isKnown ? (windows.width - vector) * windows.stride - low : 0; // of the last x
    int64_t widest = type.getElementType().isInteger(1) ? 1 : 16 / bytesOf(type.getElementType());
    widest = std::min(widest, kernel.layout(source).alignment);
    SmallVector<Value> values(places.size());
    for (size_t i = 0; i < places.size(); ++i) {
      if (values[i])
        continue;
      // As many elements as are aligned, inside whatever x is, and mostly wanted.
      int64_t at = places[i] - low, lanes = isKnown && at >= 0 ? widest : 1;
      auto fits = [&] {
        size_t wanted = llvm::lower_bound(places, places[i] + lanes) - (places.begin() + i);
        return at % lanes == 0 && row % lanes == 0 && vector * windows.stride % lanes == 0 &&
               reach + places[i] + lanes <= row && 2 * int64_t(wanted) > lanes;
      };
      while (lanes > 1 && !fits())
        lanes /= 2;
      if (lanes > 1) {
        SmallVector<Value> first(indices);
        first.back() = kernel.add(first.back(), kernel.constant(places[i]));
        Value loaded; // where it is memory
        SmallVector<Value> computed;
        if (memory)
          loaded = kernel.loadVector(memory, kernel.add(begin, kernel.constant(places[i])), lanes);
        else
          computed = kernel.elements(source, first, lanes);
        for (size_t next = i; next < places.size() && places[next] < places[i] + lanes; ++next) {
          int64_t lane = places[next] - places[i];
          values[next] = widened(memory ? b.create<vector::ExtractOp>(loc, loaded, lane).getResult()
                                        : computed[lane]);
        }
        continue;
      }
      bool always = isKnown && at >= 0 && reach + places[i] < row;
      if (!padding || always) {
        values[i] = element(places[i]);
        continue;
      }
      Value index = kernel.add(indices.back(), kernel.constant(places[i]));
      Value inside = b.create<arith::CmpIOp>(loc, arith::CmpIPredicate::ult, index,
                                             kernel.size(source, type.getRank() - 1));
      auto branch = b.create<scf::IfOp>(loc, TypeRange{padding.getType()}, inside, true);
      OpBuilder::InsertionGuard guard(b);
      b.setInsertionPointToStart(branch.thenBlock());
      b.create<scf::YieldOp>(loc, element(places[i]));
      b.setInsertionPointToStart(branch.elseBlock());
      b.create<scf::YieldOp>(loc, padding);
      values[i] = branch.getResult(0);
    }
    return values;
  }

  Kernel &kernel;
  OpBuilder &b;
  Location loc;
  const Windows &windows;
  linalg::GenericOp generic;
  int64_t vector;
  SmallVector<Value> loops, extents;
};

class WindowMatch : public ScheduleMatch {
public:
  WindowMatch(kernel::DispatchOp op, const Target &target, Windows windows)
      : ScheduleMatch(op, target), windows(std::move(windows)) {}

  DictionaryAttr choose() const override {
    int64_t elements = 1; // sizes known only at run time may be 1
    for (int64_t size : cast<RankedTensorType>(root().getType()).getShape())
      elements *= ShapedType::isDynamic(size) ? 1 : size;
    // Two warps on every multiprocessor come before long runs; runs that are stored 16 bytes at a
    // time before others.
    int64_t vector = 1;
    for (int64_t run : {2, 3, 5, 6, 7, 4, 8})
      if (!ShapedType::isDynamic(windows.width) && windows.width % run == 0 &&
          elements / run >= int64_t(target.board->sm_count) * 64)
        vector = run;
    Builder b(op.getContext());
    return b.getDictionaryAttr({b.getNamedAttr("threads", b.getI64IntegerAttr(128)),
                                b.getNamedAttr("vector", b.getI64IntegerAttr(vector))});
  }

  LogicalResult verify(DictionaryAttr params) const override {
    auto threads = intParam(params, "threads"), vector = intParam(params, "vector");
    if (!threads || !vector || *threads < 1 || *threads > target.maxThreadsPerBlock)
      return op.emitError() << "schedule 'window' needs vector, and threads of 1 to "
                            << target.maxThreadsPerBlock;
    if (*vector < 1 || *vector > kLargestWindow ||
        (*vector > 1 && (ShapedType::isDynamic(windows.width) || windows.width % *vector != 0)))
      return op.emitError() << "schedule 'window': vector " << *vector
                            << " does not divide the last dimension or exceeds " << kLargestWindow;
    return success();
  }

  FailureOr<SmallVector<Value>> emit(DictionaryAttr params, KernelEmitter &emitter) const override {
    int64_t threads = *intParam(params, "threads"), vector = *intParam(params, "vector");
    OpBuilder host(op);
    Location loc = op.getLoc();
    Value one = host.create<arith::ConstantIndexOp>(loc, 1), count = one;
    for (Value size : planSizesOfRoot(host, op, windows.epilogues.front(), root()))
      count = host.createOrFold<arith::MulIOp>(loc, count, size);
    Value blocks = host.createOrFold<arith::CeilDivSIOp>(
        loc, count, host.create<arith::ConstantIndexOp>(loc, threads * vector));
    auto outputs = llvm::to_vector(llvm::seq<int64_t>(0, op.getNumResults()));
    return emitter.launch(op, "", threads, {blocks, one, one}, outputs,
                          [&](Kernel &kernel) { return emitBody(kernel, threads, vector); });
  }

private:
  Value root() const { return linalg::GenericOp(windows.generic).getResult(0); }

  LogicalResult emitBody(Kernel &kernel, int64_t threads, int64_t vector) const {
    OpBuilder &b = kernel.b;
    Location loc = kernel.loc;
    SmallVector<Value> groups = kernel.sizes(root());
    if (vector > 1)
      groups.back() = kernel.constant(windows.width / vector);
    Value count = kernel.constant(1);
    for (Value size : groups)
      count = kernel.mul(count, size);
    Value group =
        kernel.add(kernel.mul(kernel.blockId(), kernel.constant(threads)), kernel.threadId());
    Value exists = b.create<arith::CmpIOp>(loc, arith::CmpIPredicate::slt, group, count);
    auto guard = b.create<scf::IfOp>(loc, exists, false);
    b.setInsertionPointToStart(guard.thenBlock());
    SmallVector<Value> indices = kernel.delinearize(group, groups);
    indices.back() = kernel.mul(indices.back(), kernel.constant(vector));

    SmallVector<Value> values = Emitter(kernel, windows, vector).reduce(indices);
    auto flat = [&] { return kernel.mul(group, kernel.constant(vector)); };
    for (auto [number, epilogue] : llvm::enumerate(windows.epilogues))
      storeResult(kernel, root(), epilogue, number, indices, values, flat);
    return success();
  }

  Windows windows;
};

class WindowSchedule : public Schedule {
public:
  StringRef family() const override { return "window"; }

  std::unique_ptr<ScheduleMatch> match(const Computation &computation,
                                       const Target &target) const override {
    std::optional<Windows> windows = matchWindows(computation);
    return windows ? std::make_unique<WindowMatch>(computation.op, target, std::move(*windows))
                   : nullptr;
  }
};

} // namespace

const Schedule *windowSchedule() {
  static const WindowSchedule schedule;
  return &schedule;
}

} // namespace cameo
