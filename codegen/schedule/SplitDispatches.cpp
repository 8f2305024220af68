// Dispatches that no schedule class takes ==> several that classes take.
//
//   %0 = kernel.dispatch ins(%x, %w) {product, sum of it and its transposition}
//     ==>
//   %1 = kernel.dispatch ins(%x, %w) {product}
//   %0 = kernel.dispatch ins(%1) {sum of it and its transposition}
//
// SPDX-License-Identifier: Apache-2.0
#include "codegen/Passes.h"
#include "codegen/schedule/Schedule.h"
#include "codegen/schedule/SplitDispatch.h"
#include "dialects/kernel/form/Places.h"
#include "dialects/kernel/form/Product.h"
#include "passes/Statistics.h"

#include "mlir/Dialect/Arith/IR/Arith.h"

using namespace mlir;

namespace cameo {

#define GEN_PASS_DEF_SPLITDISPATCHES
#include "codegen/Passes.h.inc"

namespace {

/// A part of a dispatch in the making: what yields `values`, of which `given` are not computed but
/// read.
class Part {
public:
  Part(kernel::DispatchOp op, ArrayRef<Value> values, ArrayRef<Value> given)
      : op(op), values(values), given(given) {
    for (Value value : values)
      need(value);
  }

  /// Makes it, in front of the dispatch, with `memory` in place of what is given. Destinations are
  /// those of the dispatch, or new ones. Null where the plan does not know their sizes.
  kernel::DispatchOp make(ValueRange memory, bool isLast) {
    OpBuilder host(op);
    Location loc = op.getLoc();
    SmallVector<Value> inputs, inputArgs, scalars, scalarArgs, inits;
    for (auto [outside, argument] : llvm::zip(op.getInputs(), op.getInputArgs()))
      if (needed.contains(argument))
        inputs.push_back(outside), inputArgs.push_back(argument);
    llvm::append_range(inputs, memory);
    llvm::append_range(inputArgs, given);
    for (auto [outside, argument] : llvm::zip(op.getScalars(), op.getScalarArgs()))
      if (needed.contains(argument))
        scalars.push_back(outside), scalarArgs.push_back(argument);
    if (isLast)
      llvm::append_range(inits, op.getInits());
    for (Value value : isLast ? ArrayRef<Value>() : values) {
      auto type = cast<RankedTensorType>(value.getType());
      SmallVector<Value> sizes;
      for (int64_t dim = 0; dim < type.getRank(); ++dim)
        if (type.isDynamicDim(dim)) {
          sizes.push_back(planSize(host, op, value, dim));
          if (!sizes.back())
            return {};
        }
      inits.push_back(host.create<tensor::EmptyOp>(loc, type, sizes));
    }
    // Former destinations give sizes only.
    SmallVector<std::pair<Value, SmallVector<size_t>>> shapes; // with positions among scalars
    for (auto [outside, argument] : llvm::zip(op.getInits(), op.getInitArgs())) {
      if (isLast || !needed.contains(argument))
        continue;
      auto &[shape, sizes] = shapes.emplace_back(argument, SmallVector<size_t>());
      for (int64_t dim = 0; dim < cast<RankedTensorType>(shape.getType()).getRank(); ++dim)
        if (cast<RankedTensorType>(shape.getType()).isDynamicDim(dim)) {
          sizes.push_back(scalars.size());
          scalars.push_back(host.createOrFold<tensor::DimOp>(loc, outside, dim));
        }
    }
    auto part = host.create<kernel::DispatchOp>(loc, inputs, scalars, inits);
    IRMapping mapping;
    mapping.map(inputArgs, part.getInputArgs());
    for (auto [argument, scalar] : llvm::zip(scalarArgs, part.getScalarArgs()))
      mapping.map(argument, scalar);
    if (isLast)
      mapping.map(op.getInitArgs(), part.getInitArgs());
    OpBuilder inside = OpBuilder::atBlockBegin(part.getBodyBlock());
    for (auto &[shape, positions] : shapes) {
      SmallVector<Value> sizes;
      for (size_t position : positions)
        sizes.push_back(part.getScalarArgs()[position]);
      mapping.map(shape, inside.create<tensor::EmptyOp>(loc, shape.getType(), sizes));
    }
    for (Operation &inner : op.getBodyBlock()->without_terminator())
      if (operations.contains(&inner))
        inside.clone(inner, mapping);
    SmallVector<Value> yielded;
    for (Value value : values)
      yielded.push_back(mapping.lookup(value));
    inside.create<kernel::YieldOp>(loc, yielded);
    return part;
  }

private:
  void need(Value value) {
    SmallVector<Value> stack{value};
    while (!stack.empty()) {
      Value next = stack.pop_back_val();
      if (!needed.insert(next).second || llvm::is_contained(given, next))
        continue;
      Operation *definition = next.getDefiningOp();
      if (!definition || !operations.insert(definition).second)
        continue;
      definition->walk([&](Operation *inner) {
        for (Value operand : inner->getOperands())
          if (Operation *source = operand.getDefiningOp();
              source ? source->getBlock() == op.getBodyBlock()
                     : operand.getParentBlock() == op.getBodyBlock())
            stack.push_back(operand);
      });
    }
  }

  kernel::DispatchOp op;
  ArrayRef<Value> values, given;
  llvm::DenseSet<Value> needed;
  llvm::SmallPtrSet<Operation *, 16> operations;
};

/// Of a product whose rows are reduced: what the first reduction reads, with the work on it, if all
/// else comes of that; nothing where that is a result, which the second dispatch would copy.
Value reducedElements(const Computation &computation) {
  const std::optional<Product> &product = matchProductOfRows(computation);
  if (!product || product->steps.front().reduction)
    return {};
  Value elements = product->steps.front().value;
  llvm::DenseSet<Value> others{product->sums()};
  for (Operation *op : computation.operations)
    if (op != elements.getDefiningOp())
      forEachRead(op, [&](OpOperand &operand) {
        if (others.contains(operand.get()))
          others.insert(op->result_begin(), op->result_end());
      });
  bool isAll = llvm::none_of(computation.results, [&](Value result) {
    return result == elements || others.contains(result);
  });
  return isAll ? elements : Value();
}

/// What is computed first: the results of the first reduction, or, where that is all there is, what
/// the elements are computed by that it reads.
SmallVector<Value> firstPart(const Computation &computation) {
  if (computation.combining.empty())
    return {};
  if (Value elements = reducedElements(computation))
    return {elements};
  Operation *first = computation.combining.front();
  bool isAll = computation.combining.size() == 1 &&
               (computation.root || llvm::equal(computation.results, first->getResults()));
  if (!isAll)
    return SmallVector<Value>(first->getResults());
  SmallVector<Value> values;
  auto generic = dyn_cast<linalg::GenericOp>(first);
  for (OpOperand *input : generic ? generic.getDpsInputOperands() : SmallVector<OpOperand *>()) {
    if (!isa<RankedTensorType>(input->get().getType()))
      continue;
    Value source =
        accessOf(input->get(), generic.getMatchingIndexingMap(input), generic.getStaticLoopRanges())
            .source;
    if (source.getDefiningOp<linalg::GenericOp>() && !llvm::is_contained(values, source))
      values.push_back(source);
  }
  return values;
}

/// Whether a class can compute it; `map`, which takes most, is asked first.
bool isTaken(const Computation &computation, const Target &target) {
  return llvm::any_of(llvm::reverse(schedules()), [&](const Schedule *schedule) {
    return schedule->match(computation, target) != nullptr;
  });
}

struct SplitDispatches : impl::SplitDispatchesBase<SplitDispatches> {
  void runOnOperation() override {
    auto target = findTarget(getOperation().getTarget());
    if (!target) {
      getOperation().emitError(llvm::toString(target.takeError()));
      return signalPassFailure();
    }
    rt::Ledger ledger(getOperation());
    SmallVector<kernel::DispatchOp> open;
    getOperation().walk([&](kernel::DispatchOp op) {
      if (!op.getSchedule())
        open.push_back(op);
    });
    while (!open.empty()) {
      Computation computation(open.pop_back_val());
      if (isTaken(computation, **target))
        continue;
      auto parts = splitDispatch(computation, ledger, "split, as no schedule class takes it whole");
      if (!parts)
        continue; // reported where schedules are assigned
      count(&getContext(), getArgument(), "split");
      open.append({parts->first, parts->second});
    }
  }
};

} // namespace

std::optional<std::pair<kernel::DispatchOp, kernel::DispatchOp>>
splitDispatch(const Computation &computation, rt::Ledger &ledger, StringRef text, StringRef why) {
  kernel::DispatchOp op = computation.op;
  SmallVector<Value> values = firstPart(computation);
  kernel::DispatchOp front;
  if (!values.empty())
    front = Part(op, values, {}).make({}, /*isLast=*/false);
  if (!front)
    return std::nullopt;
  SmallVector<Value> results(op.getBodyBlock()->getTerminator()->getOperands());
  kernel::DispatchOp back = Part(op, results, values).make(front.getResults(), /*isLast=*/true);
  ledger.applied("split", op.getLoc(), text, why);
  op.replaceAllUsesWith(back);
  op.erase();
  return std::pair(front, back);
}

} // namespace cameo
