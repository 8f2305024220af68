// The insert schedule: one thread per group of `vector` consecutive elements of what is inserted.
//
// For kernel.insert, whose destination is there already: a kernel writes the slices that are new and touches nothing
// else. Where the destination's former content is needed by others, or is an input of the model, the plan copies it
// first.
//
// SPDX-License-Identifier: Apache-2.0
#include "codegen/schedule/ElementWork.h"
#include "codegen/schedule/Schedule.h"
#include "dialects/kernel/form/Form.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/SCF/IR/SCF.h"

using namespace mlir;

namespace cameo {
namespace {

/// Of a block.
constexpr int64_t kInsertThreads = 256;

class InsertMatch : public ScheduleMatch {
public:
  InsertMatch(const Computation &computation, const Target &target, kernel::InsertOp insert)
      : ScheduleMatch(computation.op, target), insert(insert), work(elementWork(computation)),
        type(cast<RankedTensorType>(insert.getValues().getType())) {}

  SmallVector<Candidate, 0> candidates(size_t) const override {
    Builder b(op.getContext());
    double elements = type.hasStaticShape() ? double(type.getNumElements())
                                            : std::numeric_limits<double>::infinity();
    int64_t vector = mostTogether();
    if (vector > 1)
      vector = neighborsOfThread(vector, type.getShape().back(), elements, target);
    auto params =
        b.getDictionaryAttr({b.getNamedAttr("threads", b.getI64IntegerAttr(kInsertThreads)),
                             b.getNamedAttr("vector", b.getI64IntegerAttr(vector))});
    return {candidateOf(params)};
  }

  KernelWork workOf(DictionaryAttr params) const override {
    int64_t threads = *intParam(params, "threads"), vector = *intParam(params, "vector");
    double elements = tensorBytes(type) * 8 / std::max(type.getElementTypeBitWidth(), 8u);
    return kernelWork(work, ElementKernel{elements / double(threads * vector), threads});
  }

  LogicalResult verify(DictionaryAttr params) const override {
    auto threads = intParam(params, "threads"), vector = intParam(params, "vector");
    if (!threads || *threads < 1 || *threads > target.maxThreadsPerBlock)
      return op.emitError() << "schedule 'insert' needs threads, 1 to "
                            << target.maxThreadsPerBlock;
    int64_t most = mostTogether();
    if (!vector || *vector < 1 || most % *vector != 0)
      return op.emitError() << "schedule 'insert' needs vector, a divisor of " << most;
    return success();
  }

  FailureOr<SmallVector<Value>> emit(DictionaryAttr params, KernelEmitter &emitter) const override {
    int64_t threads = *intParam(params, "threads"), vector = *intParam(params, "vector");
    OpBuilder host(op);
    Location loc = op.getLoc();
    Value one = host.create<arith::ConstantIndexOp>(loc, 1), count = one;
    for (int64_t dim = 0; dim < type.getRank(); ++dim) {
      Value size = planSize(host, op, insert.getValues(), dim);
      if (!size)
        return op.emitError() << "the plan does not have the size along dimension " << dim
                              << " of what is inserted";
      count = host.createOrFold<arith::MulIOp>(loc, count, size);
    }
    Value blocks = host.createOrFold<arith::CeilDivSIOp>(
        loc, count, host.create<arith::ConstantIndexOp>(loc, threads * vector));
    return emitter.launch(op, "", threads, {blocks, one, one}, {0}, [&](KernelWriter &kernel) {
      emitBody(kernel, threads, vector);
      return success();
    });
  }

private:
  /// Neighbours that one access to the destination can have: they are inserted at one place.
  int64_t mostTogether() const {
    int64_t row = type.getShape().back();
    if (insert.getAxis() == type.getRank() - 1 || ShapedType::isDynamic(row) ||
        type.getElementType().isInteger(1))
      return 1;
    int64_t most = std::min<int64_t>(operandLayout(op, op.getInitArgs().front()).alignment,
                                     128 / type.getElementTypeBitWidth());
    for (Value input : op.getInputArgs())
      most = std::min(most, operandLayout(op, input).alignment);
    while (most > 1 && row % most != 0)
      most /= 2;
    return std::max<int64_t>(most, 1);
  }

  void emitBody(KernelWriter &kernel, int64_t threads, int64_t vector) const {
    kernel.storesOnce = true;
    OpBuilder &b = kernel.b;
    Location loc = kernel.loc;
    Value destination = op.getInitArgs().front();
    int64_t axis = insert.getAxis();
    SmallVector<Value> sizes = kernel.sizes(insert.getValues());
    Value count = kernel.constant(1);
    for (Value size : sizes)
      count = kernel.mul(count, size);
    Value thread =
        kernel.add(kernel.mul(kernel.blockId(), kernel.constant(threads)), kernel.threadId());
    Value first = kernel.mul(thread, kernel.constant(vector));
    auto begin = [&](Value condition) {
      b.setInsertionPointToStart(b.create<scf::IfOp>(loc, condition, false).thenBlock());
    };
    begin(b.create<arith::CmpIOp>(loc, arith::CmpIPredicate::slt, first, count));
    SmallVector<Value> at = kernel.placeOf(first, sizes);
    Value place = kernel.element(insert.getPlaces(), {at[0], at[axis]});
    // As numbers of 64 bits: a place outside need not fit an index.
    Value size = b.create<arith::IndexCastOp>(loc, b.getI64Type(), kernel.size(destination, axis));
    begin(b.create<arith::CmpIOp>(loc, arith::CmpIPredicate::ult, place, size));
    SmallVector<Value> values = vector > 1
                                    ? kernel.elements(insert.getValues(), at, vector)
                                    : SmallVector<Value>{kernel.element(insert.getValues(), at)};
    at[axis] = b.create<arith::IndexCastOp>(loc, b.getIndexType(), place);
    auto [memory, offset] = kernel.address(destination, at);
    kernel.storeVector(memory, offset, values);
  }

  mutable kernel::InsertOp insert;
  ElementWork work;
  RankedTensorType type; // of what is inserted
};

class InsertSchedule : public Schedule {
public:
  StringRef family() const override { return "insert"; }

protected:
  // No other class takes an insertion.
  bool takesEmpty() const override { return true; }

  std::unique_ptr<ScheduleMatch> tryMatch(const Computation &computation,
                                          const Target &target) const override {
    kernel::InsertOp insert = matchInsertion(computation);
    return insert ? std::make_unique<InsertMatch>(computation, target, insert) : nullptr;
  }
};

} // namespace

const Schedule *insertSchedule() {
  static const InsertSchedule schedule;
  return &schedule;
}

} // namespace cameo
