// Branches and bodies, which are functions up to here, become regions of the plan.
//
//   %t, %h = rt.loop @main.body count %n carries(%x : tensor<4xf32>) reads(%w : tensor<4xf32>) -> tensor<4xf32>
//     ==>
//   %t, %h = rt.repeat count %n carries(%x : tensor<4xf32>) {
//   ^bb0(%i: index, %c: tensor<4xf32>):
//     ... // the function's operations, with %w itself
//     rt.yield %true, %next : i1, tensor<4xf32>
//   } -> tensor<4xf32>
//
// A value that a function shows (`rt.tap`) becomes a step of the region, with the attributes that the result has.
//
// A number that a function reads of its arguments on the host is what the caller has put there, where that is known, else an
// input of the model, else fetched.
//
// SPDX-License-Identifier: Apache-2.0
#include "dialects/rt/Ledger.h"
#include "passes/Passes.h"
#include "passes/Statistics.h"
#include "passes/host/Taps.h"

using namespace mlir;

namespace cameo {

#define GEN_PASS_DEF_REPLACECALLS
#include "passes/Passes.h.inc"

namespace {

class Inliner {
public:
  Inliner(func::FuncOp function, rt::Ledger &ledger) : function(function), ledger(ledger) {}

  LogicalResult run();
  unsigned inlined = 0;

private:
  LogicalResult inlineIf(rt::IfOp op);
  LogicalResult inlineLoop(rt::LoopOp op);
  func::FuncOp calleeOf(Operation *op, FlatSymbolRefAttr name);
  Value adapted(OpBuilder &b, Value value, Value argument);
  void moveBody(func::FuncOp callee, Region &region, ValueRange values);
  LogicalResult resolveRead(rt::ReadOp read);
  rt::FetchOp fetched(Value source, Location loc);

  func::FuncOp function;
  rt::Ledger &ledger;
  llvm::DenseMap<Value, Type> elements; // of ONNX, of what has become of arguments
  llvm::DenseMap<Value, rt::FetchOp> fetches;
};

} // namespace

func::FuncOp Inliner::calleeOf(Operation *op, FlatSymbolRefAttr name) {
  auto callee = SymbolTable::lookupNearestSymbolFrom<func::FuncOp>(op, name);
  if (callee)
    takeTaps(callee);
  return callee;
}

/// The value in the shape that the function knows of it.
Value Inliner::adapted(OpBuilder &b, Value value, Value argument) {
  auto function = cast<func::FuncOp>(argument.getParentBlock()->getParentOp());
  if (auto element = function.getArgAttrOfType<TypeAttr>(
          cast<BlockArgument>(argument).getArgNumber(), onnx::kTypeAttr))
    elements.try_emplace(value, element.getValue());
  if (value.getType() == argument.getType())
    return value;
  auto type = cast<RankedTensorType>(argument.getType());
  SmallVector<Value> sizes;
  for (int64_t i = 0; i < type.getRank(); ++i)
    if (type.isDynamicDim(i))
      sizes.push_back(b.create<tensor::DimOp>(value.getLoc(), value, i));
  return b.create<rt::ReshapeOp>(value.getLoc(), type, value, sizes);
}

/// Moves a function's operations into a region, where they have values in place of the arguments.
void Inliner::moveBody(func::FuncOp callee, Region &region, ValueRange values) {
  Block &from = callee.getBody().front(), &to = region.front();
  for (auto [argument, value] : llvm::zip(from.getArguments(), values))
    argument.replaceAllUsesWith(value);
  to.getOperations().splice(to.end(), from.getOperations());
  Operation *end = &to.back();
  OpBuilder b(end);
  b.create<rt::YieldOp>(end->getLoc(), end->getOperands());
  end->erase();
  callee.erase();
  ++inlined;
}

LogicalResult Inliner::inlineIf(rt::IfOp op) {
  OpBuilder b(op);
  auto branch = b.create<rt::BranchOp>(op.getLoc(), op.getResultTypes(), op.getCondition());
  std::array names = {op.getThenBranchAttr(), op.getElseBranchAttr()};
  for (auto [region, name] : llvm::zip(branch->getRegions(), names)) {
    func::FuncOp callee = calleeOf(op, name);
    if (!callee || callee.getNumResults() != op.getNumResults())
      return op.emitError() << "calls " << name << ", which does not give its results";
    b.setInsertionPoint(branch);
    SmallVector<Value> values;
    for (auto [value, argument] : llvm::zip(op.getCaptures(), callee.getArguments()))
      values.push_back(adapted(b, value, argument));
    region.emplaceBlock();
    moveBody(callee, region, values);
  }
  op.replaceAllUsesWith(branch.getResults());
  op.erase();
  return success();
}

LogicalResult Inliner::inlineLoop(rt::LoopOp op) {
  func::FuncOp callee = calleeOf(op, op.getBodyAttr());
  // It gives all sizes of what is carried; the loop those that are open.
  size_t opened = op.getOpen().size() / 2, given = op.getNumResults() - opened;
  SmallVector<unsigned>
      sizesOf; // of what is carried: the first size of each that the function gives
  unsigned all = given;
  for (Value value : op.getCarried()) {
    sizesOf.push_back(all);
    all += cast<RankedTensorType>(value.getType()).getRank();
  }
  if (!callee || callee.getNumResults() != all)
    return op.emitError() << "calls " << op.getBodyAttr() << ", which does not give its results";
  OpBuilder b(op);
  SmallVector<Value> carried, captures;
  unsigned next = 1;
  for (Value value : op.getCarried())
    carried.push_back(adapted(b, value, callee.getArgument(next++)));
  for (Value value : op.getCaptures())
    captures.push_back(adapted(b, value, callee.getArgument(next++)));
  ArrayRef<int64_t> open = op.getOpen();
  SmallVector<Value> first(carried); // of the first trip
  for (size_t i = 0; i < open.size(); i += 2)
    first.push_back(b.create<tensor::DimOp>(op.getLoc(), carried[open[i]], open[i + 1]));
  auto repeat = b.create<rt::RepeatOp>(
      op.getLoc(), op.getResultTypes(), op.getCount(), op.getCondition(), first, op.getSizes(),
      ValueRange(), op.getOpenAttr(), DenseI64ArrayAttr(), op.getUnconditionalAttr());
  Block &body = repeat.getBody().emplaceBlock();
  Value trip = body.addArgument(b.getIndexType(), op.getLoc());
  b.setInsertionPointToStart(&body);
  SmallVector<Value> values{
      b.create<rt::FromScalarsOp>(op.getLoc(), callee.getArgument(0).getType(), trip)};
  for (Value value : carried) {
    values.push_back(body.addArgument(value.getType(), value.getLoc()));
    if (Type element = elements.lookup(value))
      elements[values.back()] = element;
  }
  for (size_t i = 0; i < opened; ++i)
    body.addArgument(b.getIndexType(), op.getLoc());
  llvm::append_range(values, captures);
  moveBody(callee, repeat.getBody(), values);
  auto yield = cast<rt::YieldOp>(body.getTerminator());
  SmallVector<Value> yielded(yield.getValues().take_front(given));
  for (size_t i = 0; i < open.size(); i += 2)
    yielded.push_back(yield.getValues()[sizesOf[open[i]] + open[i + 1]]);
  yield->setOperands(yielded);
  op.replaceAllUsesWith(repeat.getResults());
  op.erase();
  return success();
}

/// All numbers of a tensor, where it has just been computed.
rt::FetchOp Inliner::fetched(Value source, Location loc) {
  rt::FetchOp &known = fetches[source];
  if (known)
    return known;
  OpBuilder b(source.getContext());
  b.setInsertionPointAfterValue(source);
  auto type = cast<RankedTensorType>(source.getType());
  Type element = elements.lookup(source);
  if (!element)
    element = type.getElementType();
  Type number = isa<FloatType>(element) ? Type(b.getF64Type()) : b.getI64Type();
  known =
      b.create<rt::FetchOp>(loc, SmallVector<Type>(type.getNumElements(), number), source, element);
  ledger.chosen("fetch", loc,
                Twine(type.getNumElements()) +
                    (type.getNumElements() == 1 ? " number is" : " numbers are") +
                    " read back from the device, which a branch or a trip goes by: each run waits "
                    "for that");
  return known;
}

LogicalResult Inliner::resolveRead(rt::ReadOp read) {
  Value source = read.getInput();
  while (source.getDefiningOp<rt::ReshapeOp>() || source.getDefiningOp<tensor::CastOp>())
    source = source.getDefiningOp()->getOperand(0);
  auto argument = dyn_cast<BlockArgument>(source);
  if (argument && argument.getOwner() == &function.getBody().front())
    return success(); // an input of the model
  std::optional<int64_t> position = getConstantIntValue(read.getPosition());
  auto type = cast<RankedTensorType>(source.getType());
  if (!position || !type.hasStaticShape() || *position < 0 || *position >= type.getNumElements())
    return read.emitError() << "needs a constant position in " << type;
  OpBuilder b(read);
  Value number;
  if (auto scalars = source.getDefiningOp<rt::FromScalarsOp>()) {
    number = scalars.getValues()[*position];
    if (number.getType().isIndex())
      number = b.create<arith::IndexCastOp>(read.getLoc(), b.getI64Type(), number);
  } else {
    number = fetched(source, read.getLoc()).getValues()[*position];
  }
  if (number.getType() != read.getType())
    return read.emitError() << "reads " << number.getType() << " as " << read.getType();
  read.replaceAllUsesWith(number);
  read.erase();
  return success();
}

LogicalResult Inliner::run() {
  // Functions that are inlined may call, too.
  while (true) {
    Operation *call = nullptr;
    function.walk([&](Operation *op) {
      if (isa<rt::IfOp, rt::LoopOp>(op))
        call = op;
      return call ? WalkResult::interrupt() : WalkResult::advance();
    });
    if (!call)
      break;
    auto choice = dyn_cast<rt::IfOp>(call);
    if (failed(choice ? inlineIf(choice) : inlineLoop(cast<rt::LoopOp>(call))))
      return failure();
  }
  SmallVector<rt::ReadOp> reads;
  function.walk([&](rt::ReadOp read) { reads.push_back(read); });
  for (rt::ReadOp read : reads)
    if (failed(resolveRead(read)))
      return failure();
  return success();
}

namespace {

struct ReplaceCalls : impl::ReplaceCallsBase<ReplaceCalls> {
  void runOnOperation() override {
    rt::VariantOp variant = getOperation();
    bool calls = false;
    variant.walk([&](Operation *op) { calls |= isa<rt::IfOp, rt::LoopOp>(op); });
    if (!calls)
      return markAllAnalysesPreserved();
    rt::Ledger ledger(variant);
    // The others are gone with their calls.
    SmallVector<func::FuncOp> entries;
    for (auto function : variant.getOps<func::FuncOp>())
      if (function.isPublic())
        entries.push_back(function);
    for (func::FuncOp function : entries) {
      Inliner inliner(function, ledger);
      if (failed(inliner.run()))
        return signalPassFailure();
      count(&getContext(), getArgument(), "inlined", inliner.inlined);
    }
  }
};

} // namespace

} // namespace cameo
