// Tensors between dispatches as the model has them ==> stored as their readers and writers want.
//
//   %0 = kernel.dispatch ... -> tensor<1x64x56x56xf32>    ==>  ... -> tensor<1x56x56x64xf32>
//   %1 = kernel.dispatch ins(%0) { reads (n, c, y, x) }   ==>  { reads (n, y, x, c) }
//
// SPDX-License-Identifier: Apache-2.0
#include "codegen/Passes.h"
#include "codegen/schedule/LayoutCost.h"
#include "codegen/schedule/LayoutGroups.h"
#include "dialects/rt/Layout.h"
#include "dialects/rt/Ledger.h"
#include "passes/Statistics.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"
#include "llvm/Support/Format.h"

using namespace mlir;

namespace cameo {

#define GEN_PASS_DEF_ASSIGNLAYOUTS
#include "codegen/Passes.h.inc"

namespace {

/// What is saved at least, in microseconds and as a share of what its dispatches take, before
/// anything is changed: estimates are not so good that less could be told.
constexpr double kWorthwhile = 0.2, kWorthwhileShare = 0.01;
/// On a variant: dimensions were moved whatever that costs.
constexpr llvm::StringLiteral kForced = rt::RtDialect::ChannelsLastAttrHelper::getNameStr();
/// Decisions depend on one another only where a dispatch is in several groups.
constexpr int kSweeps = 3;

class Assigner {
public:
  Assigner(func::FuncOp function, const Target &target) : function(function), cost(target) {}

  void collect();
  /// With `onMatrix` only of values that products on Tensor Cores read or write.
  void chooseByCost(bool onMatrix);
  void chooseChannelsLast();
  void chooseCopies(bool onMatrix);
  void record(rt::Ledger &ledger, bool withMissed);
  void apply();

  int64_t stored = 0, copied = 0;

private:
  struct Copy {
    Value value;
    DimOrder order;                                               // of the value as it was
    SmallVector<std::pair<kernel::DispatchOp, unsigned>> readers; // with inputs
  };

  SmallVector<DimOrder> ordersOf(const LayoutQuestion &dispatch) const;
  double costOf(unsigned group);
  double copyCost(Value value) const;
  void chooseCopies(Value value, ArrayRef<std::pair<const LayoutQuestion *, unsigned>> readers);
  void applyTo(kernel::DispatchOp op);
  void applyTo(Operation *op);
  void moveDims(Value value);
  Value insertCopy(Value value, ArrayRef<unsigned> from, ArrayRef<unsigned> to, OpBuilder &b);

  func::FuncOp function;
  LayoutCost cost;
  std::unique_ptr<LayoutGroups> groups;
  std::vector<LayoutQuestion> dispatches;
  SmallVector<SmallVector<unsigned>> dispatchesOf; // by group
  SmallVector<double> saved;                       // microseconds, by group
  std::vector<Copy> copies;
};

void Assigner::collect() {
  groups = std::make_unique<LayoutGroups>(function);
  function.walk([&](kernel::DispatchOp op) {
    SmallVector<Value> operands(op.getInputs());
    llvm::append_range(operands, op.getResults());
    // What is stored as imported may have a copy for several readers.
    auto hasChoice = [&](Value value) {
      auto shape = cast<RankedTensorType>(value.getType()).getShape();
      bool isCopied = !value.hasOneUse() && !rt::constantOf(value);
      return (groups->isFree(value) || isCopied) &&
             llvm::count_if(shape, [](int64_t size) { return size != 1; }) >= 2;
    };
    if (!llvm::any_of(operands, hasChoice))
      return;
    if (std::optional<LayoutQuestion> question = cost.ask(op, operands))
      dispatches.push_back(std::move(*question));
    else // reported where schedules are assigned
      groups->fix(operands, "no schedule class takes a dispatch that has it");
  });
  for (LayoutQuestion &dispatch : dispatches) {
    llvm::BitVector apart = dispatch.ranked.match->readApart();
    unsigned result = dispatch.op.getInputs().size();
    for (auto [dim, places] : llvm::enumerate(dispatch.pattern.alike))
      for (auto [operand, of] : places)
        if (operand >= result || !apart.test(operand))
          groups->relate(dispatch.operands[result], dim, dispatch.operands[operand], of);
  }
  groups->finish();
  dispatchesOf.resize(groups->size());
  saved.resize(groups->size());
  for (auto [number, dispatch] : llvm::enumerate(dispatches))
    for (Value operand : dispatch.operands)
      if (std::optional<unsigned> group = groups->groupOf(operand))
        if (auto &list = dispatchesOf[*group]; list.empty() || list.back() != number)
          list.push_back(number);
}

SmallVector<DimOrder> Assigner::ordersOf(const LayoutQuestion &dispatch) const {
  SmallVector<DimOrder> orders;
  for (Value operand : dispatch.operands)
    orders.push_back(groups->orderOf(operand));
  return orders;
}

double Assigner::copyCost(Value value) const {
  return cost.copyMicroseconds(cast<RankedTensorType>(value.getType()));
}

double Assigner::costOf(unsigned group) {
  double sum = 0;
  for (unsigned number : dispatchesOf[group])
    sum += cost.microseconds(dispatches[number], ordersOf(dispatches[number]));
  for (Value value : groups->neededAsImported(group))
    if (DimOrder order = groups->orderOf(value);
        !keepsElements(order, cast<RankedTensorType>(value.getType())))
      sum += copyCost(value);
  return sum;
}

void Assigner::chooseByCost(bool onMatrix) {
  auto isOnMatrix = [&](unsigned number) { return dispatches[number].isOnMatrix(); };
  SmallVector<double> asImported;
  for (unsigned group = 0; group < groups->size(); ++group)
    asImported.push_back(costOf(group));
  bool changed = true;
  for (int sweep = 0; sweep < kSweeps && changed; ++sweep) {
    changed = false;
    for (unsigned group = 0; group < groups->size(); ++group) {
      if (onMatrix && llvm::none_of(dispatchesOf[group], isOnMatrix))
        continue;
      std::optional<unsigned> before = groups->innermost(group), best = before;
      double least = costOf(group);
      for (std::optional<unsigned> candidate : groups->candidates(group)) {
        groups->setInnermost(group, candidate);
        double sum = costOf(group);
        if (sum + std::max(kWorthwhile, kWorthwhileShare * least) < least)
          best = candidate, least = sum;
      }
      groups->setInnermost(group, best);
      changed |= best != before;
    }
  }
  for (unsigned group = 0; group < groups->size(); ++group)
    saved[group] = asImported[group] - costOf(group);
}

void Assigner::chooseChannelsLast() {
  for (unsigned group = 0; group < groups->size(); ++group)
    groups->setInnermost(group, groups->channels(group));
}

/// A value that several dispatches read in another order than it is stored in may be worth a copy
/// for them.
void Assigner::chooseCopies(Value value,
                            ArrayRef<std::pair<const LayoutQuestion *, unsigned>> readers) {
  auto type = cast<RankedTensorType>(value.getType());
  DimOrder stored = groups->orderOf(value);
  std::optional<Copy> best;
  double most = kWorthwhile;
  for (unsigned dim = 0; dim < type.getRank(); ++dim) {
    DimOrder order;
    for (unsigned other = 0; other < type.getRank(); ++other)
      if (other != dim)
        order.push_back(other);
    order.push_back(dim);
    if (ArrayRef(order) == ArrayRef(stored) || (stored.empty() && keepsElements(order, type)))
      continue;
    Copy copy{value, order, {}};
    double saving = -copyCost(value);
    for (auto [dispatch, input] : readers) {
      SmallVector<DimOrder> orders = ordersOf(*dispatch);
      double now = cost.microseconds(*dispatch, orders);
      orders[input] = order;
      if (double then = cost.microseconds(*dispatch, orders); then < now) {
        saving += now - then;
        copy.readers.emplace_back(dispatch->op, input);
      }
    }
    if (saving > most)
      most = saving, best = std::move(copy);
  }
  if (best)
    copies.push_back(std::move(*best));
}

void Assigner::chooseCopies(bool onMatrix) {
  llvm::MapVector<Value, SmallVector<std::pair<const LayoutQuestion *, unsigned>>> readers;
  for (LayoutQuestion &dispatch : dispatches)
    for (unsigned input = 0; input < dispatch.op.getInputs().size(); ++input)
      if (Value value = dispatch.operands[input];
          !rt::constantOf(value) && (!onMatrix || dispatch.isOnMatrix()))
        readers[value].emplace_back(&dispatch, input);
  for (auto &[value, of] : readers)
    chooseCopies(value, of);
}

void Assigner::record(rt::Ledger &ledger, bool withMissed) {
  for (unsigned group = 0; group < groups->size(); ++group) {
    ArrayRef<Value> values = groups->valuesOf(group);
    auto changed = llvm::find_if(values, [&](Value value) {
      return !keepsElements(groups->orderOf(value), cast<RankedTensorType>(value.getType()));
    });
    if (changed == values.end())
      continue;
    DimOrder order = groups->orderOf(*changed);
    std::string text = "stored with dimension " + std::to_string(order.back()) + " innermost";
    if (values.size() > 1)
      text += ", as are " + std::to_string(values.size() - 1) + " values that go with it";
    std::string why;
    if (saved[group] > 0)
      llvm::raw_string_ostream(why)
          << "saves " << llvm::format("%.1f", saved[group]) << " us by the estimates";
    ledger.applied("layout", (*changed).getLoc(), text, why);
  }
  for (Copy &copy : copies)
    ledger.applied("layout", copy.readers.front().first.getLoc(),
                   "reads a copy with dimension " + Twine(copy.order.back()) + " innermost");
  if (withMissed)
    for (auto [value, reason] : groups->fixedValues())
      ledger.missed("layout", value.getLoc(), "stored as imported", reason);
}

//===-- Applying ------------------------------------------------------------------------------===//

/// Sizes that the plan asks a value for are those of its dimensions as they are now.
void Assigner::moveDims(Value value) {
  DimOrder order = groups->orderOf(value);
  if (order.empty())
    return;
  for (OpOperand &use : llvm::make_early_inc_range(value.getUses()))
    if (auto dim = dyn_cast<tensor::DimOp>(use.getOwner())) {
      OpBuilder b(dim);
      dim.getIndexMutable().set(b.create<arith::ConstantIndexOp>(
          dim.getLoc(), placeOfDim(*dim.getConstantIndex(), order)));
    }
}

void Assigner::applyTo(kernel::DispatchOp op) {
  SmallVector<DimOrder> inputs, results;
  for (Value input : op.getInputs())
    inputs.push_back(groups->orderOf(input));
  for (OpResult result : op.getResults()) {
    DimOrder order = groups->orderOf(result);
    Value init = op.getInits()[result.getResultNumber()];
    if (auto empty = init.getDefiningOp<tensor::EmptyOp>(); empty && !order.empty()) {
      OpBuilder b(op);
      op.getInitsMutable()[result.getResultNumber()].set(b.create<tensor::EmptyOp>(
          empty.getLoc(), permuted(empty.getType(), order),
          permuteDynamic(empty.getDynamicSizes(), empty.getType(), order)));
      if (empty->use_empty())
        empty.erase();
    }
    moveDims(result);
    stored += !order.empty();
    results.push_back(std::move(order));
  }
  auto changes = [](const DimOrder &order) { return !order.empty(); };
  if (llvm::any_of(inputs, changes) || llvm::any_of(results, changes))
    permuteDispatch(op, inputs, results);
}

/// Everything else that has or reads values of groups.
void Assigner::applyTo(Operation *op) {
  if (auto assemble = dyn_cast<rt::AssembleOp>(op))
    assemble.setDim(placeOfDim(assemble.getDim(), groups->orderOf(assemble.getResult())));
  if (!isa<rt::StorageOp, rt::ViewOp, rt::AssembleOp, rt::ReshapeOp, tensor::CastOp>(op))
    return;
  Value result = op->getResult(0);
  DimOrder order = groups->orderOf(result);
  if (order.empty())
    return;
  auto type = cast<RankedTensorType>(result.getType());
  auto permute = [&](MutableOperandRange sizes) {
    sizes.assign(permuteDynamic(SmallVector<Value>(OperandRange(sizes)), type, order));
  };
  if (auto storage = dyn_cast<rt::StorageOp>(op))
    permute(storage.getSizesMutable());
  if (auto reshape = dyn_cast<rt::ReshapeOp>(op))
    permute(reshape.getSizesMutable());
  if (auto view = dyn_cast<rt::ViewOp>(op)) {
    permute(view.getSizesMutable());
    SmallVector<OpFoldResult> offsets = view.getMixedOffsets(), moved;
    for (unsigned dim : order)
      moved.push_back(offsets[dim]);
    SmallVector<int64_t> known;
    SmallVector<Value> open;
    dispatchIndexOpFoldResults(moved, open, known);
    view.getOffsetsMutable().assign(open);
    view.setStaticOffsets(known);
  }
  moveDims(result);
  result.setType(permuted(type, order));
}

/// A dispatch that copies what is stored in order `from` to memory of order `to`, both of the
/// value's dimensions as they were.
Value Assigner::insertCopy(Value value, ArrayRef<unsigned> from, ArrayRef<unsigned> to,
                           OpBuilder &b) {
  Location loc = value.getLoc();
  auto type = cast<RankedTensorType>(value.getType());
  int64_t rank = type.getRank();
  DimOrder order; // by position in the copy: that in `value`
  SmallVector<Value> sizes;
  SmallVector<AffineExpr> at(rank);
  for (int64_t position = 0; position < rank; ++position) {
    int64_t source = placeOfDim(to.empty() ? position : to[position], from);
    order.push_back(source);
    at[source] = b.getAffineDimExpr(position);
    if (type.isDynamicDim(source))
      sizes.push_back(rt::sizeOf(value, source).value(b, loc));
  }
  Value memory = b.create<tensor::EmptyOp>(loc, permuted(type, order), sizes);
  auto copy = b.create<kernel::DispatchOp>(loc, value, ValueRange(), memory);
  OpBuilder body = OpBuilder::atBlockBegin(copy.getBodyBlock());
  SmallVector<AffineMap> maps{AffineMap::get(rank, 0, at, b.getContext()),
                              b.getMultiDimIdentityMap(rank)};
  SmallVector<utils::IteratorType> iterators(rank, utils::IteratorType::parallel);
  auto generic = body.create<linalg::GenericOp>(
      loc, memory.getType(), copy.getInputArgs()[0], copy.getInitArgs()[0], maps, iterators,
      [](OpBuilder &inner, Location where, ValueRange arguments) {
        inner.create<linalg::YieldOp>(where, arguments[0]);
      });
  body.create<kernel::YieldOp>(loc, generic.getResults());
  ++copied;
  return copy.getResult(0);
}

void Assigner::apply() {
  function.walk<WalkOrder::PreOrder>([&](Operation *op) {
    if (auto dispatch = dyn_cast<kernel::DispatchOp>(op)) {
      applyTo(dispatch);
      return WalkResult::skip();
    }
    applyTo(op);
    return WalkResult::advance();
  });
  for (unsigned group = 0; group < groups->size(); ++group)
    for (Value value : groups->neededAsImported(group)) {
      DimOrder order = groups->orderOf(value);
      if (order.empty() || keepsElements(order, groups->formerType(value)))
        continue;
      OpBuilder b(function.getContext());
      b.setInsertionPointAfterValue(value);
      Value copy = insertCopy(value, order, {}, b);
      value.replaceUsesWithIf(copy, [&](OpOperand &use) { return groups->needsAsImported(use); });
    }
  for (Copy &copy : copies) {
    DimOrder stored = groups->orderOf(copy.value), relative;
    for (unsigned dim : copy.order)
      relative.push_back(placeOfDim(dim, stored));
    OpBuilder b(function.getContext());
    b.setInsertionPoint(copy.readers.front().first);
    Value other = insertCopy(copy.value, stored, copy.order, b);
    for (auto [op, input] : copy.readers) {
      SmallVector<DimOrder> inputs(op.getInputs().size()), results(op.getNumResults());
      inputs[input] = relative;
      op.getInputsMutable()[input].set(other);
      permuteDispatch(op, inputs, results);
    }
  }
}

struct AssignLayouts : impl::AssignLayoutsBase<AssignLayouts> {
  using AssignLayoutsBase::AssignLayoutsBase;

  void runOnOperation() override {
    if (layout != "tensor-cores" && layout != "auto" && layout != "channels-last" &&
        layout != "as-imported") {
      getOperation().emitError()
          << "layout '" << layout
          << "' is not one of tensor-cores, auto, channels-last and as-imported";
      return signalPassFailure();
    }
    // What was moved by force would be moved once more.
    if (layout == "as-imported" || getOperation()->hasAttr(kForced))
      return;
    auto target = findTarget(getOperation().getTarget());
    if (!target) {
      getOperation().emitError(llvm::toString(target.takeError()));
      return signalPassFailure();
    }
    bool byCost = layout != "channels-last", onMatrix = layout == "tensor-cores";
    if (!byCost)
      getOperation()->setAttr(kForced, UnitAttr::get(&getContext()));
    rt::Ledger ledger(getOperation());
    for (auto function : getOperation().getOps<func::FuncOp>()) {
      Assigner assigner(function, **target);
      assigner.collect();
      if (byCost) {
        assigner.chooseByCost(onMatrix);
        assigner.chooseCopies(onMatrix);
      } else {
        assigner.chooseChannelsLast();
      }
      assigner.record(ledger, /*withMissed=*/!byCost);
      assigner.apply();
      count(&getContext(), getArgument(), "stored", assigner.stored);
      count(&getContext(), getArgument(), "copied", assigner.copied);
    }
  }
};

} // namespace

} // namespace cameo
