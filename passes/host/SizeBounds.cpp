// Bounds of sizes, by intervals: a sum is at most the sum of bounds, a minimum any of them.
//
// SPDX-License-Identifier: Apache-2.0
#include "passes/host/SizeBounds.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"

using namespace mlir;

namespace cameo {

bool SizeBounds::isFetched(Value value) {
  auto found = fetched.find(value);
  if (found != fetched.end())
    return found->second;
  Operation *op = value.getDefiningOp();
  // The argument of a region is the number of its trip.
  bool is =
      !op || (isa<rt::FetchOp, rt::BranchOp, rt::RepeatOp>(op) ||
              llvm::any_of(op->getOperands(), [&](Value operand) { return isFetched(operand); }));
  return fetched[value] = is;
}

/// Gives a value that no fetch decides, where the builder stands.
Value SizeBounds::known(Value value) {
  Operation *op = value.getDefiningOp();
  Block *here = builder.getInsertionBlock();
  if (!op || (op->getBlock() == here && op->isBeforeInBlock(&*builder.getInsertionPoint())))
    return value;
  if (Value copy = copies.lookup(value))
    return copy;
  SmallVector<Value> operands;
  for (Value operand : op->getOperands())
    operands.push_back(known(operand));
  Operation *copy = builder.clone(*op);
  copy->setOperands(operands);
  return copies[value] = copy->getResult(cast<OpResult>(value).getResultNumber());
}

template <typename Op> Value SizeBounds::make(Operation *like, Value a, Value b) {
  return a && b ? builder.createOrFold<Op>(like->getLoc(), a, b) : Value();
}

// Ends of slices are written so large that they bound nothing, and that sums of them overflow.
static constexpr int64_t kNoBound = int64_t(1) << 40;

Value SizeBounds::of(Value size) {
  if (auto made = bounds.find(size); made != bounds.end())
    return made->second;
  Value bound = compute(size);
  return bounds[size] = bound;
}

Value SizeBounds::compute(Value size) {
  if (!isFetched(size))
    return getConstantIntValue(size).value_or(0) < kNoBound ? known(size) : Value();
  Operation *op = size.getDefiningOp();
  if (!op)
    return {};
  if (auto branch = dyn_cast<rt::BranchOp>(op)) {
    unsigned number = cast<OpResult>(size).getResultNumber();
    return make<arith::MaxSIOp>(op,
                                of(branch.getTaken().front().getTerminator()->getOperand(number)),
                                of(branch.getOther().front().getTerminator()->getOperand(number)));
  }
  if (auto repeat = dyn_cast<rt::RepeatOp>(op))
    return size == repeat.getTrips() && repeat.getCount() ? of(repeat.getCount()) : Value();
  auto operand = [&](unsigned i) { return of(op->getOperand(i)); };
  auto positive = [&](unsigned i) {
    return getConstantIntValue(op->getOperand(i)).value_or(0) > 0;
  };
  if (isa<arith::MinSIOp>(op)) {
    Value a = operand(0), b = operand(1);
    return a && b ? make<arith::MinSIOp>(op, a, b) : a ? a : b;
  }
  if (isa<arith::MaxSIOp>(op))
    return make<arith::MaxSIOp>(op, operand(0), operand(1));
  if (isa<arith::SelectOp>(op))
    return make<arith::MaxSIOp>(op, operand(1), operand(2));
  if (isa<arith::AddIOp>(op))
    return make<arith::AddIOp>(op, operand(0), operand(1));
  if (isa<arith::SubIOp>(op) && !isFetched(op->getOperand(1)))
    return make<arith::SubIOp>(op, operand(0), known(op->getOperand(1)));
  if (isa<arith::MulIOp>(op) && positive(1))
    return make<arith::MulIOp>(op, operand(0), known(op->getOperand(1)));
  if (isa<arith::FloorDivSIOp>(op) && positive(1))
    return make<arith::FloorDivSIOp>(op, operand(0), known(op->getOperand(1)));
  if (isa<arith::CeilDivSIOp>(op) && positive(1))
    return make<arith::CeilDivSIOp>(op, operand(0), known(op->getOperand(1)));
  return {};
}

} // namespace cameo
