// Asking schedule classes what they make of operands that are stored otherwise.
//
// SPDX-License-Identifier: Apache-2.0
#include "codegen/schedule/LayoutCost.h"

#include "mlir/IR/BuiltinOps.h"

using namespace mlir;

namespace cameo {

std::optional<LayoutQuestion> LayoutCost::ask(kernel::DispatchOp op, ArrayRef<Value> operands) {
  std::vector<RankedSchedule> ranked = rankSchedules(Computation(op), target);
  if (ranked.empty())
    return std::nullopt;
  return LayoutQuestion{op, std::move(ranked.front()), AccessPattern(op), llvm::to_vector(operands),
                        hasher.key(op)};
}

double LayoutCost::timeOfBytes(double bytes) const { return bytes / target.memoryRate(); }

double LayoutCost::copyMicroseconds(RankedTensorType type) const {
  return timeOfBytes(double(target.launchBytes()) + 2 * tensorBytes(type));
}

/// The dispatch as it would be, in place of which it stands for as long as it is looked at.
double LayoutCost::kernelMicroseconds(const LayoutQuestion &question, OperandOrders orders) const {
  kernel::DispatchOp op = question.op;
  OpBuilder b(op);
  auto stored = cast<kernel::DispatchOp>(b.clone(*op));
  SmallVector<Operation *> operands;
  // Operands of which nothing is known but their type.
  auto store = [&](OpOperand &operand, const DimOrder &order) {
    if (order.empty())
      return;
    auto type = permuted(cast<RankedTensorType>(operand.get().getType()), order);
    auto other = b.create<UnrealizedConversionCastOp>(op.getLoc(), type, operand.get());
    operands.push_back(other);
    operand.set(other.getResult(0));
  };
  b.setInsertionPoint(stored);
  size_t inputs = op.getInputs().size();
  for (auto [operand, order] : llvm::zip(stored.getInputsMutable(), orders.take_front(inputs)))
    store(operand, order);
  for (auto [operand, order] : llvm::zip(stored.getInitsMutable(), orders.drop_front(inputs)))
    store(operand, order);
  permuteDispatch(stored, orders.take_front(inputs), orders.drop_front(inputs));
  std::vector<RankedSchedule> ranked = rankSchedules(Computation(stored), target);
  double found =
      ranked.empty() ? std::numeric_limits<double>::infinity() : ranked.front().best.microseconds;
  ranked.clear();
  stored.erase();
  for (Operation *operand : operands)
    operand->erase();
  return found;
}

double LayoutCost::microseconds(const LayoutQuestion &question, OperandOrders orders) {
  auto [answer, isNew] = answers.try_emplace({question.key, llvm::to_vector(orders)}, 0);
  if (isNew) {
    answer->second = timeOfBytes(question.ranked.match->layoutBytes(question.pattern, orders));
    if (question.ranked.schedule->isOfProducts())
      answer->second += kernelMicroseconds(question, orders);
  }
  return answer->second;
}

} // namespace cameo
