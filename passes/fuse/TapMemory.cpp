// Bytes of the arena that kernels read and write.
//
// SPDX-License-Identifier: Apache-2.0
#include "passes/fuse/TapMemory.h"

#include "dialects/rt/Rt.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "llvm/ADT/SetVector.h"

using namespace mlir;

namespace cameo {

/// What a value is another shape of.
static Value behindReshapes(Value value) {
  while (auto reshape = value.getDefiningOp<rt::ReshapeOp>())
    value = reshape.getSource();
  return value;
}

TapMemory::TapMemory(Block &block) {
  auto function = dyn_cast<func::FuncOp>(block.getParentOp());
  if (!function)
    return;
  llvm::BitVector found(function.getNumResults());
  for (unsigned i = 0; i < function.getNumResults(); ++i)
    found[i] = bool(function.getResultAttr(i, rt::kTapAttr));
  if (found.none())
    return;
  taps = std::move(found);
  for (auto op : block.getOps<kernel::DispatchOp>()) {
    llvm::DenseSet<Value> elsewhere;
    for (auto [input, argument] : llvm::zip(op.getInputs(), op.getInputArgs()))
      if (!isInArena(behindReshapes(input)))
        elsewhere.insert(argument);
    op.getBody().walk([&](linalg::LinalgOp inner) {
      llvm::SmallSetVector<Value, 8> values;
      for (Value input : inner.getDpsInputs())
        if (!elsewhere.contains(input))
          values.insert(input);
      values.insert(inner->result_begin(), inner->result_end());
      Bytes bytes = {};
      for (Value value : values)
        add(value, bytes);
      for (auto [greatest, here] : llvm::zip(most, bytes))
        greatest = std::max(greatest, here);
    });
  }
}

/// Inputs, constants and outputs of the model are not.
bool TapMemory::isInArena(Value value) const {
  return value.getDefiningOp<kernel::DispatchOp>() &&
         llvm::none_of(value.getUses(), [&](OpOperand &use) {
           return isa<func::ReturnOp>(use.getOwner()) && !taps[use.getOperandNumber()];
         });
}

void TapMemory::add(Value value, Bytes &bytes) {
  auto type = dyn_cast<RankedTensorType>(value.getType());
  if (!type)
    return;
  for (auto [sum, unknown] : llvm::zip(bytes, kUnknownSizes)) {
    double own = std::max<int64_t>(type.getElementTypeBitWidth(), 8) / 8;
    for (int64_t size : type.getShape())
      own *= double(ShapedType::isDynamic(size) ? unknown : size);
    sum += own;
  }
}

/// Whether nothing reads the value but the consumer and taps, perhaps in another shape.
bool TapMemory::isOnlyTapped(Value value, kernel::DispatchOp consumer) const {
  return llvm::all_of(value.getUses(), [&](OpOperand &use) {
    Operation *user = use.getOwner();
    if (isa<func::ReturnOp>(user))
      return bool(taps[use.getOperandNumber()]);
    return user == consumer ||
           (isa<rt::ReshapeOp>(user) && isOnlyTapped(user->getResult(0), consumer));
  });
}

std::string TapMemory::whyTooMuch(kernel::DispatchOp producer, kernel::DispatchOp consumer,
                                  const llvm::BitVector &kept) const {
  if (taps.empty() || llvm::none_of(kept.set_bits(), [&](unsigned i) {
        return isOnlyTapped(producer.getResult(i), consumer);
      }))
    return {};
  llvm::SmallSetVector<Value, 8> values;
  for (kernel::DispatchOp op : {producer, consumer})
    for (Value input : op.getInputs())
      if (Value value = behindReshapes(input); value.getDefiningOp() != producer)
        values.insert(value);
  for (unsigned i : kept.set_bits())
    values.insert(producer.getResult(i));
  values.insert(consumer.result_begin(), consumer.result_end());
  Bytes bytes = {};
  for (Value value : values)
    if (isInArena(value))
      add(value, bytes);
  for (auto [here, greatest] : llvm::zip(bytes, most))
    if (here > greatest)
      return "a tap shows what is between them, and one kernel would take more memory than any "
             "operation by itself";
  return {};
}

} // namespace cameo
