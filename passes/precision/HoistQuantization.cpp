// Moves QuantizeLinear up, and DequantizeLinear down, past operators that only move elements.
//
//   Quantize(MaxPool(x))   ==>  MaxPool(Quantize(x))
//   Reshape(Dequantize(q)) ==>  Dequantize(Reshape(q))
//   Quantize(Dequantize(q)) with one scale and zero point  ==>  q
//
// Every bit stays, except where a MaxPool meets NaN: a quantisation of one scale is monotone, and
// gives back what it was given.
//
// SPDX-License-Identifier: Apache-2.0
#include "passes/Statistics.h"
#include "passes/graph/Permutations.h"
#include "passes/precision/QuantizedValue.h"

using namespace mlir;

namespace cameo {

#define GEN_PASS_DEF_HOISTQUANTIZATION
#include "passes/Passes.h.inc"

namespace {

/// The operands whose elements the operator moves.
unsigned movedOperands(Operation *op) { return isa<onnx::ConcatOp>(op) ? op->getNumOperands() : 1; }

void copyDims(Operation *to, Value from) {
  auto type = dyn_cast<RankedTensorType>(from.getType());
  if (type && !type.hasStaticShape())
    setDims(to, knownDims(from).getValue());
}

/// What quantises or dequantises another value, before `place`, as `like` does its own.
Operation *createLike(Operation *place, const QuantizedValue &like, Value source, Type element) {
  OpBuilder b(place);
  SmallVector<Value> operands(like.op->getOperands());
  operands[0] = source;
  // Copied where it comes later: moving it would number the block's operations anew each time.
  for (Value &parameter : MutableArrayRef(operands).drop_front())
    if (Operation *constant = parameter.getDefiningOp(); !constant->isBeforeInBlock(place))
      parameter = b.clone(*constant)->getResult(0);
  OperationState state(like.op->getLoc(), like.op->getName());
  state.addOperands(operands);
  state.addAttributes(like.op->getAttrs());
  state.addTypes(cast<TensorType>(source.getType()).cloneWith(std::nullopt, element));
  Operation *op = b.create(state);
  op->removeAttr(onnx::kDimsAttr);
  copyDims(op, source);
  return op;
}

struct HoistQuantization : impl::HoistQuantizationBase<HoistQuantization> {
  void runOnOperation() override {
    Block &block = getOperation().getBody().front();
    // In order, so that what was moved is moved on.
    for (Operation &op : llvm::make_early_inc_range(block))
      sink(&op);
    SmallVector<Operation *> quantizers;
    for (Operation &op : block)
      if (isa<onnx::QuantizeLinearOp>(op))
        quantizers.push_back(&op);
    while (!quantizers.empty())
      hoist(quantizers.pop_back_val(), quantizers);
    updateFunctionType(getOperation());
  }

private:
  void sink(Operation *op) {
    if (!movesElements(op))
      return;
    SmallVector<QuantizedValue> sources;
    for (Value operand : op->getOperands().take_front(movedOperands(op))) {
      std::optional<QuantizedValue> source = QuantizedValue::dequantized(operand);
      if (!source || !source->hasBytes() || (!sources.empty() && !source->isLike(sources[0])))
        return;
      sources.push_back(*source);
    }
    int64_t axis = 0;
    if (!sources[0].isPerTensor()) {
      // Of the others, dimensions become others.
      auto perm = isa<onnx::TransposeOp>(op) ? permutationOf(op) : std::nullopt;
      if (!perm)
        return;
      axis = llvm::find(*perm, sources[0].axis) - perm->begin();
    }
    Value old = op->getResult(0);
    for (auto [i, source] : llvm::enumerate(sources))
      op->setOperand(i, source.source());
    Type type = old.getType();
    old.setType(cast<TensorType>(type).cloneWith(std::nullopt, sources[0].numberType));
    Operation *behind =
        createLike(op->getNextNode(), sources[0], old, cast<TensorType>(type).getElementType());
    if (!sources[0].isPerTensor())
      behind->setAttr("axis", Builder(op->getContext()).getI64IntegerAttr(axis));
    old.replaceAllUsesExcept(behind->getResult(0), behind);
    llvm::SmallSetVector<Operation *, 2> before; // a concatenation may have one twice
    for (const QuantizedValue &source : sources)
      before.insert(source.op);
    for (Operation *source : before)
      if (source->use_empty())
        eraseWithConstants(source);
    count(&getContext(), getArgument(), "sunk");
  }

  /// What is hoisted is looked at again, where it is then.
  void hoist(Operation *op, SmallVectorImpl<Operation *> &pending) {
    std::optional<QuantizedValue> value = QuantizedValue::of(op);
    if (!value || !value->isPerTensor())
      return;
    if (std::optional<QuantizedValue> source = QuantizedValue::dequantized(op->getOperand(0));
        source && source->isLike(*value)) {
      replaceResult(op, 0, source->source());
      eraseWithConstants(op);
      if (source->op->use_empty())
        eraseWithConstants(source->op);
      count(&getContext(), getArgument(), "cancelled");
      return;
    }
    Operation *mover = op->getOperand(0).getDefiningOp();
    if (!value->hasBytes() || !movesElements(mover) || !op->getOperand(0).hasOneUse())
      return;
    for (unsigned i = 0; i < movedOperands(mover); ++i) {
      Operation *before = createLike(mover, *value, mover->getOperand(i), value->numberType);
      mover->setOperand(i, before->getResult(0));
      pending.push_back(before);
    }
    Value moved = mover->getResult(0);
    moved.setType(cast<TensorType>(moved.getType()).cloneWith(std::nullopt, value->numberType));
    op->getResult(0).replaceAllUsesWith(moved);
    eraseWithConstants(op);
    count(&getContext(), getArgument(), "hoisted");
  }
};

} // namespace

} // namespace cameo
