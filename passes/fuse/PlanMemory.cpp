// Lifetimes in a plan.
//
// SPDX-License-Identifier: Apache-2.0
#include "passes/fuse/PlanMemory.h"

#include "dialects/rt/Rt.h"
#include "passes/fuse/FusionCost.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "llvm/ADT/SetVector.h"

using namespace mlir;

namespace cameo {

bool isStep(Operation *op) {
  if (isa<kernel::DispatchOp, rt::FromScalarsOp>(op))
    return true;
  return !isPure(op) && !isa<rt::StorageOp>(op);
}

PlanMemory::PlanMemory(Block &block, const llvm::DenseMap<Operation *, int64_t> &places)
    : inUse(places.size()) {
  for (Operation &op : block)
    if (isStep(&op))
      for (unsigned number : tensorsOf(&op))
        tensors[number].steps.insert(places.lookup(&op));
  for (Value output : block.getTerminator()->getOperands())
    if (std::optional<unsigned> number = tensorOf(output))
      tensors[*number].bytes = 0;
  // Where a lifetime begins and ends first, then the sums of these.
  for (const Tensor &tensor : tensors) {
    inUse[*tensor.steps.begin()] += tensor.bytes;
    if (size_t behind = *tensor.steps.rbegin() + 1; behind < inUse.size())
      inUse[behind] -= tensor.bytes;
  }
  for (size_t place = 1; place < inUse.size(); ++place)
    inUse[place] += inUse[place - 1];
  for (double bytes : inUse)
    most = std::max(most, bytes);
}

/// The tensor of which a value of the plan is all or a part; nothing where it is an input or a
/// constant.
std::optional<unsigned> PlanMemory::tensorOf(Value value) {
  while (true) {
    Operation *op = value.getDefiningOp();
    if (auto view = dyn_cast_or_null<rt::ViewOp>(op)) {
      value = view.getSource();
    } else if (auto reshape = dyn_cast_or_null<rt::ReshapeOp>(op)) {
      value = reshape.getSource();
    } else if (auto sized = dyn_cast_or_null<tensor::CastOp>(op)) {
      value = sized.getSource();
    } else if (auto assemble = dyn_cast_or_null<rt::AssembleOp>(op)) {
      value = assemble.getStorage();
    } else if (auto dispatch = dyn_cast_or_null<kernel::DispatchOp>(op)) {
      Value init = dispatch.getTiedOpOperand(cast<OpResult>(value))->get();
      if (init.getDefiningOp<tensor::EmptyOp>())
        break;
      value = init;
    } else if (auto storage = dyn_cast_or_null<rt::StorageOp>(op); storage && !storage.getState()) {
      break;
    } else {
      return std::nullopt;
    }
  }
  auto [found, isNew] = numbers.try_emplace(value, tensors.size());
  if (isNew)
    tensors.push_back({estimatedBytes(value.getType()), {}});
  return found->second;
}

SmallVector<unsigned> PlanMemory::tensorsOf(Operation *op) {
  llvm::SmallSetVector<unsigned, 8> found;
  auto take = [&](Value value) {
    if (isa<RankedTensorType>(value.getType()))
      if (std::optional<unsigned> number = tensorOf(value))
        found.insert(*number);
  };
  for (Value operand : op->getOperands())
    if (!operand.getDefiningOp<tensor::EmptyOp>())
      take(operand);
  for (Value result : op->getResults())
    take(result);
  return found.takeVector();
}

void PlanMemory::add(const Tensor &tensor, double sign) {
  for (int64_t place = *tensor.steps.begin(); place <= *tensor.steps.rbegin(); ++place)
    inUse[place] += sign * tensor.bytes;
}

bool PlanMemory::move(kernel::DispatchOp op, int64_t from, int64_t to) {
  SmallVector<unsigned> numbers = tensorsOf(op);
  SmallVector<bool> isNew;
  for (unsigned number : numbers) {
    Tensor &tensor = tensors[number];
    add(tensor, -1);
    tensor.steps.erase(from);
    isNew.push_back(tensor.steps.insert(to).second);
    add(tensor, 1);
  }
  double here = 0;
  for (int64_t place = std::min(from, to); place <= std::max(from, to); ++place)
    here = std::max(here, inUse[place]);
  if (here <= most)
    return true;
  for (auto [number, isNew] : llvm::zip(numbers, isNew)) {
    Tensor &tensor = tensors[number];
    add(tensor, -1);
    tensor.steps.insert(from);
    if (isNew)
      tensor.steps.erase(to);
    add(tensor, 1);
  }
  return false;
}

void PlanMemory::replace(ValueRange results, ValueRange by) {
  for (auto [result, other] : llvm::zip(results, by))
    if (auto found = numbers.find(result); found != numbers.end()) {
      unsigned number = found->second;
      numbers.erase(found);
      numbers[other] = number;
    }
}

} // namespace cameo
