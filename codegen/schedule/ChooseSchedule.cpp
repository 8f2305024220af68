// The choose schedule: one block per line, which strikes out what conflicts with what is chosen.
//
// For kernel.choose. Whether elements are left stands in the result's memory. A block looks for the first one that is
// left, as many elements at a time as a warp has lanes; all warps look at the same ones and find the same. It stays, and
// the block's threads strike out what conflicts with it behind it, between two barriers.
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

/// Writes the kernel of a choice.
class ChooseEmitter {
public:
  ChooseEmitter(KernelWriter &kernel, kernel::ChooseOp choose, int64_t threads)
      : kernel(kernel), b(kernel.b), loc(kernel.loc), choose(choose), threads(threads),
        destination(kernel.op.getInitArgs()[0]) {}

  void emit() {
    kernel.synchronises = true;
    SmallVector<Value> sizes = kernel.sizes(choose.getResult()), outer(sizes);
    length = sizes.back();
    outer.back() = kernel.constant(1);
    place = kernel.delinearize(kernel.blockId(), outer);
    thread = kernel.threadId();
    lane = b.create<arith::RemUIOp>(loc, thread, kernel.constant(kWarp));
    forEach(thread, [&](Value at) {
      place.back() = at;
      store(at, kernel.element(choose.getCandidates(), place));
    });
    b.create<gpu::BarrierOp>(loc);
    chooseElements();
  }

private:
  /// The block's threads share the elements from `begin`, of this thread, to the line's end.
  void forEach(Value begin, llvm::function_ref<void(Value)> body) {
    auto loop = b.create<scf::ForOp>(loc, begin, length, kernel.constant(threads));
    OpBuilder::InsertionGuard guard(b);
    b.setInsertionPointToStart(loop.getBody());
    body(loop.getInductionVar());
  }

  Value below(Value a, Value c) {
    return b.create<arith::CmpIOp>(loc, arith::CmpIPredicate::slt, a, c);
  }

  KernelWriter::Address addressOf(Value at) {
    place.back() = at;
    return kernel.address(destination, place);
  }
  void store(Value at, Value bit) {
    KernelWriter::Address to = addressOf(at);
    b.create<memref::StoreOp>(loc, bit, to.memory, to.offset);
  }
  Value load(Value at) {
    KernelWriter::Address from = addressOf(at);
    return b.create<memref::LoadOp>(loc, from.memory, from.offset);
  }

  /// Element by element from the line's begin on, until there are enough.
  void chooseElements() {
    Value zero = kernel.constant(0), one = kernel.constant(1);
    Type index = b.getIndexType();
    Value limit = kernel.scalar(choose.getLimit());
    auto loop = b.create<scf::WhileOp>(
        loc, TypeRange{index, index}, ValueRange{zero, zero},
        [&](OpBuilder &inner, Location loc, ValueRange state) {
          Value isInside =
              inner.create<arith::CmpIOp>(loc, arith::CmpIPredicate::slt, state[0], length);
          Value isMore =
              inner.create<arith::CmpIOp>(loc, arith::CmpIPredicate::slt, state[1], limit);
          Value goesOn = inner.create<arith::AndIOp>(loc, isInside, isMore);
          inner.create<scf::ConditionOp>(loc, goesOn, state);
        },
        [](OpBuilder &, Location, ValueRange) {});
    {
      OpBuilder::InsertionGuard guard(b);
      Block *body = loop.getAfterBody();
      b.setInsertionPointToEnd(body);
      Value at = body->getArgument(0), count = body->getArgument(1);
      Value found = firstFrom(at);
      auto isFound = b.create<scf::IfOp>(loc, TypeRange{index, index}, below(found, length), true);
      b.setInsertionPointToStart(isFound.thenBlock());
      strikeOut(found);
      b.create<scf::YieldOp>(loc, ValueRange{kernel.add(found, one), kernel.add(count, one)});
      b.setInsertionPointToStart(isFound.elseBlock());
      b.create<scf::YieldOp>(loc, ValueRange{kernel.add(at, kernel.constant(kWarp)), count});
      b.setInsertionPointToEnd(body);
      b.create<scf::YieldOp>(loc, isFound.getResults());
    }
    // Elements that are left when there are enough are not chosen.
    b.create<gpu::BarrierOp>(loc);
    forEach(kernel.add(loop.getResult(0), thread),
            [&](Value at) { store(at, b.create<arith::ConstantOp>(loc, b.getBoolAttr(false))); });
  }

  /// The first element that is left of as many as a warp has lanes; the line's length where none is.
  Value firstFrom(Value begin) {
    Value at = kernel.add(begin, lane);
    auto isInside = b.create<scf::IfOp>(loc, TypeRange{b.getIndexType()}, below(at, length), true);
    {
      OpBuilder::InsertionGuard guard(b);
      b.setInsertionPointToStart(isInside.thenBlock());
      Value candidate = b.create<arith::SelectOp>(loc, load(at), at, length);
      b.create<scf::YieldOp>(loc, candidate);
      b.setInsertionPointToStart(isInside.elseBlock());
      b.create<scf::YieldOp>(loc, length);
    }
    Type wide = b.getI32Type();
    Value first = b.create<arith::IndexCastOp>(loc, wide, isInside.getResult(0));
    Value width = b.create<arith::ConstantIntOp>(loc, kWarp, 32);
    for (int64_t distance = kWarp / 2; distance > 0; distance /= 2) {
      Value steps = b.create<arith::ConstantIntOp>(loc, distance, 32);
      auto other = b.create<gpu::ShuffleOp>(loc, first, steps, width, gpu::ShuffleMode::XOR);
      first = b.create<arith::MinSIOp>(loc, first, other.getShuffleResult());
    }
    return b.create<arith::IndexCastOp>(loc, b.getIndexType(), first);
  }

  void strikeOut(Value chosen) {
    // All warps have looked before anything is struck out, and it is before they look again.
    b.create<gpu::BarrierOp>(loc);
    forEach(kernel.add(kernel.add(chosen, kernel.constant(1)), thread), [&](Value at) {
      auto isLeft = b.create<scf::IfOp>(loc, load(at), false);
      OpBuilder::InsertionGuard guard(b);
      b.setInsertionPointToStart(isLeft.thenBlock());
      SmallVector<Value> pair(place);
      pair.back() = chosen;
      pair.push_back(at);
      Value conflicts = kernel.element(choose.getConflicts(), pair);
      auto isStruck = b.create<scf::IfOp>(loc, conflicts, false);
      b.setInsertionPointToStart(isStruck.thenBlock());
      store(at, b.create<arith::ConstantOp>(loc, b.getBoolAttr(false)));
    });
    b.create<gpu::BarrierOp>(loc);
  }

  KernelWriter &kernel;
  OpBuilder &b;
  Location loc;
  kernel::ChooseOp choose;
  int64_t threads;
  Value destination, length, thread, lane;
  SmallVector<Value> place; // of the line; the last index is any
};

class ChooseMatch : public ScheduleMatch {
public:
  ChooseMatch(const Computation &computation, const Target &target, kernel::ChooseOp choose)
      : ScheduleMatch(computation.op, target), epilogues(computation.epilogues), choose(choose),
        work(elementWork(computation)) {}

  SmallVector<Candidate, 0> candidates(size_t) const override {
    int64_t threads = std::clamp<int64_t>(llvm::PowerOf2Ceil(int64_t(length())), kWarp, 512);
    Builder b(op.getContext());
    auto params = b.getDictionaryAttr({b.getNamedAttr("threads", b.getI64IntegerAttr(threads))});
    return {candidateOf(params)};
  }

  KernelWork workOf(DictionaryAttr params) const override {
    // Only a run knows how many are chosen: a tenth of the line, or a hundred.
    auto type = cast<RankedTensorType>(choose.getType());
    double chosen = std::min(length() / 10, 100.0), threads = double(*intParam(params, "threads"));
    double lines = std::max(tensorBytes(type) / length(), 1.0);
    KernelWork result = kernelWork(work, ElementKernel{lines, int64_t(threads), 2});
    constexpr double kInstructions = 40,
                     kSearch = 20; // of a conflict, and of a look at a warp's elements
    result.once.slots = (chosen * length() / 2 * kInstructions + length() * kSearch) / kWarp;
    result.once.l2Bytes = chosen * length() / 2 * 8;
    result.once.barriers = 2 * chosen + 2;
    result.once.chain = (chosen + length() / kWarp) * 5 * kSearch;
    return result;
  }

  LogicalResult verify(DictionaryAttr params) const override {
    auto threads = intParam(params, "threads");
    if (!threads || *threads < kWarp || *threads > target.maxThreadsPerBlock ||
        *threads % kWarp != 0)
      return op.emitError() << "schedule 'choose' needs threads, a multiple of " << kWarp
                            << " up to " << target.maxThreadsPerBlock;
    return success();
  }

  FailureOr<SmallVector<Value>> emit(DictionaryAttr params, KernelEmitter &emitter) const override {
    int64_t threads = *intParam(params, "threads");
    OpBuilder host(op);
    int64_t last = cast<RankedTensorType>(choose.getType()).getRank() - 1;
    auto grid = gridOfLines(host, emitter, op, epilogues.front(), choose.getResult(), last);
    return emitter.launch(op, "", threads, grid, {0}, [&](KernelWriter &kernel) {
      ChooseEmitter(kernel, choose, threads).emit();
      return success();
    });
  }

private:
  double length() const {
    int64_t known = cast<RankedTensorType>(choose.getType()).getShape().back();
    return ShapedType::isDynamic(known) ? kUnknownSize : double(std::max<int64_t>(known, 1));
  }

  SmallVector<Epilogue> epilogues;
  mutable kernel::ChooseOp choose;
  ElementWork work;
};

class ChooseSchedule : public Schedule {
public:
  StringRef family() const override { return "choose"; }

protected:
  // No other class takes a choice.
  bool takesEmpty() const override { return true; }

  std::unique_ptr<ScheduleMatch> tryMatch(const Computation &computation,
                                          const Target &target) const override {
    kernel::ChooseOp choose = matchChoice(computation);
    return choose ? std::make_unique<ChooseMatch>(computation, target, choose) : nullptr;
  }
};

} // namespace

const Schedule *chooseSchedule() {
  static const ChooseSchedule schedule;
  return &schedule;
}

} // namespace cameo
