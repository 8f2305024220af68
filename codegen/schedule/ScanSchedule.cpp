// The scan schedule: one block per line, its threads combining together.
//
// For kernel.scan along long lines. The block takes as many elements at a time as it has threads:
// running combinations within warps by shuffles, those of the warps through shared memory, and what
// came before is carried along. Linear in the line's length, where `map` is quadratic.
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

#include <cmath>

using namespace mlir;

namespace cameo {
namespace {

/// Writes the kernel of a scan: a block for each line, which goes along it in steps of as many
/// elements as it has threads and carries the sum so far.
class ScanEmitter {
public:
  ScanEmitter(KernelWriter &kernel, kernel::ScanOp scan, int64_t threads)
      : kernel(kernel), b(kernel.b), loc(kernel.loc), scan(scan), threads(threads),
        warps(threads / kWarp), type(cast<RankedTensorType>(scan.getType()).getElementType()),
        isFloat(isa<FloatType>(type)), isProduct(scan.getKind() == kernel::CombineKind::Mul) {}

  /// `store` is called where elements inside of the line are, with their place and value.
  void emit(llvm::function_ref<void(ArrayRef<Value>, Value)> store) {
    kernel.synchronises = true;
    TypedAttr one = isFloat ? TypedAttr(b.getFloatAttr(type, 1)) : b.getIntegerAttr(type, 1);
    neutral = b.create<arith::ConstantOp>(loc, isProduct ? one : TypedAttr(b.getZeroAttr(type)));
    int64_t axis = scan.getAxis();
    SmallVector<Value> sizes = kernel.sizes(scan.getResult()), outer(sizes);
    Value length = sizes[axis];
    outer[axis] = kernel.constant(1);
    SmallVector<Value> place = kernel.delinearize(kernel.blockId(), outer);
    findThread();
    auto loop =
        b.create<scf::ForOp>(loc, kernel.constant(0), length, kernel.constant(threads), neutral);
    b.setInsertionPointToStart(loop.getBody());
    Value number = kernel.add(loop.getInductionVar(), thread), at = number;
    if (scan.getReverse())
      at = b.create<arith::SubIOp>(loc, b.create<arith::SubIOp>(loc, length, kernel.constant(1)),
                                   number);
    place[axis] = at;
    Value inside = b.create<arith::CmpIOp>(loc, arith::CmpIPredicate::ult, number, length);
    Value sum = alongWarp(load(place, inside));
    Value own = scan.getExclusive() ? before(sum, 1) : sum;
    auto [front, total] = acrossWarps(sum, loop.getRegionIterArgs()[0]);
    Value value = combine(front, own);
    auto guarded = b.create<scf::IfOp>(loc, inside, false);
    {
      OpBuilder::InsertionGuard guard(b);
      b.setInsertionPointToStart(guarded.thenBlock());
      store(place, value);
    }
    b.create<scf::YieldOp>(loc, total);
  }

private:
  void findThread() {
    thread = kernel.threadId();
    warp = b.create<arith::DivUIOp>(loc, thread, kernel.constant(kWarp));
    lane = b.create<arith::RemUIOp>(loc, thread, kernel.constant(kWarp));
    isLast =
        b.create<arith::CmpIOp>(loc, arith::CmpIPredicate::eq, lane, kernel.constant(kWarp - 1));
    shared = warps > 1 ? kernel.sharedMemory(warps, type) : Value();
    width = b.create<arith::ConstantIntOp>(loc, kWarp, 32);
  }

  Value combine(Value left, Value right) {
    if (isProduct)
      return isFloat ? b.create<arith::MulFOp>(loc, left, right).getResult()
                     : b.create<arith::MulIOp>(loc, left, right).getResult();
    return isFloat ? b.create<arith::AddFOp>(loc, left, right).getResult()
                   : b.create<arith::AddIOp>(loc, left, right).getResult();
  }

  /// The value `distance` lanes before; the neutral element in front of the first.
  Value before(Value value, int64_t distance) {
    Value steps = b.create<arith::ConstantIntOp>(loc, distance, 32);
    auto moved = b.create<gpu::ShuffleOp>(loc, value, steps, width, gpu::ShuffleMode::UP);
    Value exists =
        b.create<arith::CmpIOp>(loc, arith::CmpIPredicate::uge, lane, kernel.constant(distance));
    return b.create<arith::SelectOp>(loc, exists, moved.getShuffleResult(), neutral);
  }

  /// The element at `place`; the neutral one behind the line's end.
  Value load(ArrayRef<Value> place, Value inside) {
    auto load = b.create<scf::IfOp>(loc, TypeRange{type}, inside, true);
    OpBuilder::InsertionGuard guard(b);
    b.setInsertionPointToStart(load.thenBlock());
    Value element = kernel.element(scan.getInput(), place);
    b.create<scf::YieldOp>(loc, element);
    b.setInsertionPointToStart(load.elseBlock());
    b.create<scf::YieldOp>(loc, neutral);
    return load.getResult(0);
  }

  /// Of the lanes up to each one.
  Value alongWarp(Value sum) {
    for (int64_t distance = 1; distance < kWarp; distance *= 2)
      sum = combine(before(sum, distance), sum);
    return sum;
  }

  /// What is in front of each warp, and what of all of the block's elements is carried on.
  std::pair<Value, Value> acrossWarps(Value sum, Value carried) {
    if (warps == 1) {
      Value last = b.create<arith::ConstantIntOp>(loc, kWarp - 1, 32);
      auto moved = b.create<gpu::ShuffleOp>(loc, sum, last, width, gpu::ShuffleMode::IDX);
      return {carried, combine(carried, moved.getShuffleResult())};
    }
    auto leads = b.create<scf::IfOp>(loc, isLast, false);
    {
      OpBuilder::InsertionGuard guard(b);
      b.setInsertionPointToStart(leads.thenBlock());
      b.create<memref::StoreOp>(loc, sum, shared, warp);
    }
    b.create<gpu::BarrierOp>(loc);
    Value total = carried, front = carried;
    for (int64_t i = 0; i < warps; ++i) {
      Value part = b.create<memref::LoadOp>(loc, shared, kernel.constant(i));
      total = combine(total, part);
      if (i + 1 < warps) {
        Value isBefore =
            b.create<arith::CmpIOp>(loc, arith::CmpIPredicate::ugt, warp, kernel.constant(i));
        front = b.create<arith::SelectOp>(loc, isBefore, total, front);
      }
    }
    // The next elements' sums are written when all have read these.
    b.create<gpu::BarrierOp>(loc);
    return {front, total};
  }

  KernelWriter &kernel;
  OpBuilder &b;
  Location loc;
  kernel::ScanOp scan;
  int64_t threads, warps;
  Type type;
  bool isFloat, isProduct;
  Value neutral, thread, warp, lane, isLast, shared, width;
};

class ScanMatch : public ScheduleMatch {
public:
  ScanMatch(const Computation &computation, const Target &target, kernel::ScanOp scan)
      : ScheduleMatch(computation.op, target), epilogues(computation.epilogues), scan(scan),
        work(elementWork(computation)) {}

  SmallVector<Candidate, 0> candidates(size_t) const override {
    int64_t length = cast<RankedTensorType>(scan.getType()).getDimSize(scan.getAxis());
    int64_t threads = ShapedType::isDynamic(length)
                          ? 256
                          : std::clamp<int64_t>(llvm::PowerOf2Ceil(length), kWarp, 256);
    Builder b(op.getContext());
    auto params = b.getDictionaryAttr({b.getNamedAttr("threads", b.getI64IntegerAttr(threads))});
    return {candidateOf(params)};
  }

  KernelWork workOf(DictionaryAttr params) const override {
    // A block carries a sum along its line, and waits for memory as often as for that.
    int64_t threads = *intParam(params, "threads");
    auto type = cast<RankedTensorType>(scan.getType());
    int64_t length = type.getDimSize(scan.getAxis());
    double line = ShapedType::isDynamic(length) ? kUnknownSize : double(length);
    double elements = tensorBytes(type) * 8 / type.getElementTypeBitWidth();
    ElementKernel kernel{elements / line, threads, std::ceil(line / double(threads))};
    return kernelWork(work, kernel);
  }

  LogicalResult verify(DictionaryAttr params) const override {
    auto threads = intParam(params, "threads");
    if (!threads || *threads < kWarp || *threads > target.maxThreadsPerBlock ||
        *threads % kWarp != 0)
      return op.emitError() << "schedule 'scan' needs threads, a multiple of " << kWarp << " up to "
                            << target.maxThreadsPerBlock;
    return success();
  }

  FailureOr<SmallVector<Value>> emit(DictionaryAttr params, KernelEmitter &emitter) const override {
    int64_t threads = *intParam(params, "threads");
    OpBuilder host(op);
    auto grid = gridOfLines(host, emitter, op, epilogues.front(), scan.getResult(), scan.getAxis());
    auto outputs = llvm::to_vector(llvm::seq<int64_t>(0, op.getNumResults()));
    return emitter.launch(op, "", threads, grid, outputs,
                          [&](KernelWriter &kernel) { return emitBody(kernel, threads); });
  }

private:
  LogicalResult emitBody(KernelWriter &kernel, int64_t threads) const {
    ScanEmitter(kernel, scan, threads).emit([&](ArrayRef<Value> place, Value value) {
      for (auto [number, epilogue] : llvm::enumerate(epilogues))
        storeResult(kernel, scan.getResult(), epilogue, number, place, {value});
    });
    return success();
  }

  SmallVector<Epilogue> epilogues;
  mutable kernel::ScanOp scan;
  ElementWork work;
};

class ScanSchedule : public Schedule {
public:
  StringRef family() const override { return "scan"; }

  std::unique_ptr<ScheduleMatch> tryMatch(const Computation &computation,
                                          const Target &target) const override {
    kernel::ScanOp scan = matchScan(computation);
    return scan ? std::make_unique<ScanMatch>(computation, target, scan) : nullptr;
  }
};

} // namespace

const Schedule *scanSchedule() {
  static const ScanSchedule schedule;
  return &schedule;
}

} // namespace cameo
