// The sort schedule: one block per line, which it has in shared memory.
//
// For kernel.sort. Threads exchange pairs of elements in the order of a bitonic network, with a barrier behind each of
// its steps. All exchanges put the lesser element in front: what is behind a line's end would never move, so that lines
// of any length are sorted without padding.
//
// SPDX-License-Identifier: Apache-2.0
#include "codegen/schedule/ElementWork.h"
#include "codegen/schedule/Epilogues.h"
#include "codegen/schedule/Schedule.h"
#include "dialects/kernel/form/Form.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"

using namespace mlir;

namespace cameo {
namespace {

/// Writes the kernel of a sort.
class SortEmitter {
public:
  SortEmitter(KernelWriter &kernel, kernel::SortOp sort, int64_t threads)
      : kernel(kernel), b(kernel.b), loc(kernel.loc), sort(sort), threads(threads) {}

  /// `store` is called for each element of a thread, with its place and value.
  void emit(llvm::function_ref<void(ArrayRef<Value>, Value)> store) {
    kernel.synchronises = true;
    int64_t axis = sort.getAxis();
    SmallVector<Value> sizes = kernel.sizes(sort.getResult()), outer(sizes);
    length = sizes[axis];
    outer[axis] = kernel.constant(1);
    SmallVector<Value> place = kernel.delinearize(kernel.blockId(), outer);
    thread = kernel.threadId();
    Type type = cast<RankedTensorType>(sort.getType()).getElementType();
    line = kernel.sharedMemory(sort.getMost(), type);
    forEach(length, [&](Value at) {
      place[axis] = at;
      Value element = kernel.element(sort.getInput(), place);
      b.create<memref::StoreOp>(loc, element, line, at);
    });
    b.create<gpu::BarrierOp>(loc);
    sortLine();
    forEach(length, [&](Value at) {
      place[axis] = at;
      store(place, b.create<memref::LoadOp>(loc, line, at));
    });
  }

private:
  /// The block's threads share the numbers from 0 to `count`.
  void forEach(Value count, llvm::function_ref<void(Value)> body) {
    auto loop = b.create<scf::ForOp>(loc, thread, count, kernel.constant(threads));
    OpBuilder::InsertionGuard guard(b);
    b.setInsertionPointToStart(loop.getBody());
    body(loop.getInductionVar());
  }

  Value below(Value a, Value c) {
    return b.create<arith::CmpIOp>(loc, arith::CmpIPredicate::slt, a, c);
  }

  Value shift(Value bits) { return b.create<arith::ShLIOp>(loc, kernel.constant(1), bits); }

  /// How often a run of one element is doubled until it has the line.
  Value doublings() {
    Value count = kernel.constant(0);
    for (int64_t run = 1; run < sort.getMost(); run *= 2) {
      Value isShorter = below(kernel.constant(run), length);
      count = kernel.add(count, b.create<arith::IndexCastUIOp>(loc, b.getIndexType(), isShorter));
    }
    return count;
  }

  /// Runs of 2, 4, 8 ... elements: each from two halves, the second read backwards in the first step.
  void sortLine() {
    Value zero = kernel.constant(0), one = kernel.constant(1);
    Value rounds = doublings();
    // No pair of the last round has a first element behind this many.
    Value pairs = b.create<arith::ShRUIOp>(loc, shift(rounds), one);
    auto round = b.create<scf::ForOp>(loc, zero, rounds, one);
    OpBuilder::InsertionGuard guard(b);
    b.setInsertionPointToStart(round.getBody());
    Value half = round.getInductionVar(); // elements of half a run, as a power of two
    auto step = b.create<scf::ForOp>(loc, zero, kernel.add(half, one), one);
    b.setInsertionPointToStart(step.getBody());
    Value bits = b.create<arith::SubIOp>(loc, half, step.getInductionVar());
    Value distance = shift(bits), within = b.create<arith::SubIOp>(loc, distance, one);
    Value isFirst = b.create<arith::CmpIOp>(loc, arith::CmpIPredicate::eq, bits, half);
    Value mirrored = b.create<arith::SubIOp>(loc, shift(kernel.add(half, one)), one);
    Value mask = b.create<arith::SelectOp>(loc, isFirst, mirrored, distance);
    forEach(pairs, [&](Value pair) {
      Value run = b.create<arith::ShLIOp>(loc, b.create<arith::ShRUIOp>(loc, pair, bits),
                                          kernel.add(bits, one));
      Value low = kernel.add(run, b.create<arith::AndIOp>(loc, pair, within));
      exchange(low, b.create<arith::XOrIOp>(loc, low, mask));
    });
    b.create<gpu::BarrierOp>(loc);
  }

  void exchange(Value low, Value high) {
    auto exists = b.create<scf::IfOp>(loc, below(high, length), false);
    OpBuilder::InsertionGuard guard(b);
    b.setInsertionPointToStart(exists.thenBlock());
    Value first = b.create<memref::LoadOp>(loc, line, low);
    Value second = b.create<memref::LoadOp>(loc, line, high);
    auto swaps = b.create<scf::IfOp>(loc, below(second, first), false);
    b.setInsertionPointToStart(swaps.thenBlock());
    b.create<memref::StoreOp>(loc, second, line, low);
    b.create<memref::StoreOp>(loc, first, line, high);
  }

  KernelWriter &kernel;
  OpBuilder &b;
  Location loc;
  kernel::SortOp sort;
  int64_t threads;
  Value length, thread, line;
};

class SortMatch : public ScheduleMatch {
public:
  SortMatch(const Computation &computation, const Target &target, kernel::SortOp sort)
      : ScheduleMatch(computation.op, target), epilogues(computation.epilogues), sort(sort),
        work(elementWork(computation)) {}

  SmallVector<Candidate, 0> candidates(size_t) const override {
    if (sharedBytes() > target.staticSharedPerBlock)
      return {};
    // Two pairs for each thread, so that its loads wait for one another less.
    int64_t threads = std::clamp<int64_t>(llvm::PowerOf2Ceil(length()) / 4, kWarp, 512);
    Builder b(op.getContext());
    auto params = b.getDictionaryAttr({b.getNamedAttr("threads", b.getI64IntegerAttr(threads))});
    return {candidateOf(params)};
  }

  KernelWork workOf(DictionaryAttr params) const override {
    auto type = cast<RankedTensorType>(sort.getType());
    double bytes = double(llvm::divideCeil(type.getElementTypeBitWidth(), 8));
    double elements = tensorBytes(type) / bytes, line = double(length());
    ElementKernel kernel{std::max(elements / line, 1.0), *intParam(params, "threads"), 2,
                         sharedBytes()};
    KernelWork result = kernelWork(work, kernel);
    double rounds = double(llvm::Log2_64_Ceil(length())), steps = rounds * (rounds + 1) / 2;
    // Both elements of a pair are read, and of half of the pairs written.
    constexpr double kInstructions = 10;
    result.once.slots += steps * line / 2 * kInstructions / kWarp;
    result.once.sharedBytes += steps * line * bytes * 1.5;
    result.once.barriers += steps + 1;
    return result;
  }

  LogicalResult verify(DictionaryAttr params) const override {
    auto threads = intParam(params, "threads");
    if (!threads || *threads < kWarp || *threads > target.maxThreadsPerBlock ||
        *threads % kWarp != 0)
      return op.emitError() << "schedule 'sort' needs threads, a multiple of " << kWarp << " up to "
                            << target.maxThreadsPerBlock;
    if (sharedBytes() > target.staticSharedPerBlock)
      return op.emitError() << "lines of up to " << sort.getMost() << " elements take "
                            << sharedBytes() << " B of shared memory; static is "
                            << target.staticSharedPerBlock << " B";
    return success();
  }

  FailureOr<SmallVector<Value>> emit(DictionaryAttr params, KernelEmitter &emitter) const override {
    int64_t threads = *intParam(params, "threads");
    OpBuilder host(op);
    auto grid = gridOfLines(host, emitter, op, epilogues.front(), sort.getResult(), sort.getAxis());
    auto outputs = llvm::to_vector(llvm::seq<int64_t>(0, op.getNumResults()));
    return emitter.launch(op, "", threads, grid, outputs, [&](KernelWriter &kernel) {
      SortEmitter(kernel, sort, threads).emit([&](ArrayRef<Value> place, Value value) {
        for (auto [number, epilogue] : llvm::enumerate(epilogues))
          storeResult(kernel, sort.getResult(), epilogue, number, place, {value});
      });
      return success();
    });
  }

private:
  int64_t length() const {
    int64_t known = cast<RankedTensorType>(sort.getType()).getDimSize(sort.getAxis());
    return std::max<int64_t>(ShapedType::isDynamic(known) ? sort.getMost() : known, 1);
  }

  int64_t sharedBytes() const {
    unsigned bits = cast<RankedTensorType>(sort.getType()).getElementTypeBitWidth();
    return sort.getMost() * int64_t(llvm::divideCeil(bits, 8));
  }

  SmallVector<Epilogue> epilogues;
  mutable kernel::SortOp sort;
  ElementWork work;
};

class SortSchedule : public Schedule {
public:
  StringRef family() const override { return "sort"; }

protected:
  // No other class takes a sort.
  bool takesEmpty() const override { return true; }

  std::unique_ptr<ScheduleMatch> tryMatch(const Computation &computation,
                                          const Target &target) const override {
    kernel::SortOp sort = matchSort(computation);
    return sort ? std::make_unique<SortMatch>(computation, target, sort) : nullptr;
  }
};

} // namespace

const Schedule *sortSchedule() {
  static const SortSchedule schedule;
  return &schedule;
}

} // namespace cameo
