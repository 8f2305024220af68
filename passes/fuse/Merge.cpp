// Two dispatches as one description.
//
//   %y = kernel.dispatch ins(%x) outs(%e) {A}         %z = kernel.dispatch ins(%x) outs(%f) {
//   %z = kernel.dispatch ins(%y) outs(%f) {B}   ==>     A into a tensor.empty, B }
//
// SPDX-License-Identifier: Apache-2.0
#include "passes/fuse/Merge.h"

#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/IRMapping.h"
#include "llvm/ADT/SetVector.h"

using namespace mlir;

namespace cameo {
namespace {

/// Copies bodies into the dispatch that takes their place.
class Merger {
public:
  explicit Merger(kernel::DispatchOp merged)
      : body(OpBuilder::atBlockEnd(merged.getBodyBlock())), merged(merged) {
    for (auto [outside, argument] : llvm::zip(merged.getInputs(), merged.getInputArgs()))
      inside[outside] = argument;
    for (auto [outside, argument] : llvm::zip(merged.getScalars(), merged.getScalarArgs()))
      inside[outside] = argument;
  }

  /// Copies the body of `op`, whose inputs are arguments or, as in `computed`, values of the body;
  /// its destinations are those from position `next` on where `kept`, else tensor.empty. Returns
  /// what it yields.
  SmallVector<Value> copy(kernel::DispatchOp op, const llvm::BitVector &kept, unsigned &next) {
    IRMapping mapping;
    for (auto [outside, argument] : llvm::zip(op.getInputs(), op.getInputArgs()))
      mapping.map(argument, inside.lookup(outside));
    for (auto [outside, argument] : llvm::zip(op.getScalars(), op.getScalarArgs()))
      mapping.map(argument, inside.lookup(outside));
    for (auto [i, outside, argument] : llvm::enumerate(op.getInits(), op.getInitArgs()))
      mapping.map(argument, kept[i] ? Value(merged.getInitArgs()[next++]) : empty(outside));
    for (Operation &inner : op.getBodyBlock()->without_terminator())
      body.clone(inner, mapping);
    SmallVector<Value> yielded;
    for (Value value : op.getBodyBlock()->getTerminator()->getOperands())
      yielded.push_back(mapping.lookup(value));
    return yielded;
  }

  void define(Value outside, Value value) { inside[outside] = value; }

  OpBuilder body;

private:
  Value empty(Value outside) {
    auto empty = outside.getDefiningOp<tensor::EmptyOp>();
    SmallVector<Value> sizes;
    for (Value size : empty.getDynamicSizes())
      sizes.push_back(inside.lookup(size));
    return body.create<tensor::EmptyOp>(merged.getLoc(), empty.getType(), sizes);
  }

  kernel::DispatchOp merged;
  DenseMap<Value, Value> inside;
};

} // namespace

kernel::DispatchOp mergeDispatches(OpBuilder &builder, kernel::DispatchOp producer,
                                   kernel::DispatchOp consumer, const llvm::BitVector &kept) {
  llvm::SetVector<Value> inputs, scalars;
  SmallVector<Value> inits;
  inputs.insert(producer.getInputs().begin(), producer.getInputs().end());
  for (Value input : consumer.getInputs())
    if (input.getDefiningOp() != producer)
      inputs.insert(input);
  for (kernel::DispatchOp op : {producer, consumer})
    scalars.insert(op.getScalars().begin(), op.getScalars().end());
  for (auto [i, init] : llvm::enumerate(producer.getInits())) {
    if (kept[i]) {
      inits.push_back(init);
      continue;
    }
    auto empty = init.getDefiningOp<tensor::EmptyOp>();
    if (!empty)
      return {};
    scalars.insert(empty.getDynamicSizes().begin(), empty.getDynamicSizes().end());
  }
  llvm::append_range(inits, consumer.getInits());

  Location loc = builder.getFusedLoc({producer.getLoc(), consumer.getLoc()});
  auto merged =
      builder.create<kernel::DispatchOp>(loc, inputs.getArrayRef(), scalars.getArrayRef(), inits);
  Merger merger(merged);
  unsigned next = 0;
  SmallVector<Value> results, first = merger.copy(producer, kept, next);
  for (auto [i, value] : llvm::enumerate(first)) {
    merger.define(producer.getResult(i), value);
    if (kept[i])
      results.push_back(value);
  }
  llvm::append_range(results,
                     merger.copy(consumer, llvm::BitVector(consumer.getNumResults(), true), next));
  merger.body.create<kernel::YieldOp>(loc, results);
  return merged;
}

} // namespace cameo
