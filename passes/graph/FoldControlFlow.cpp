// Folds control flow, sequences and optionals that are known when the model is compiled.
//
//   %0 = onnx.If(%true) ({ onnx.Yield(%a) }, { %1 = onnx.Relu(%x); onnx.Yield(%1) })
//     ==>
//   %1 = onnx.Relu(%x)
//
// An If becomes the branch that is taken, or both where only a run knows it (SelectBranches.cpp), a loop a copy of its
// body for each trip (UnrollLoops.cpp); what reads a sequence or an optional reads the tensors in it (FoldLists.cpp).
// Graphs that a run takes or repeats become functions (OutlineBodies.cpp).
//
// Sizes are inferred on the way, of what was in a branch or a body, too: the condition of one If
// may be known from the shape of another one's result. What is known of a node becomes a constant
// as soon as it was visited, so that the condition of the next trip is.
//
// SPDX-License-Identifier: Apache-2.0
#include "dialects/onnx/shape/NodeText.h"
#include "passes/Statistics.h"
#include "passes/graph/ConstantFolding.h"
#include "passes/graph/ControlFlow.h"

using namespace mlir;

namespace cameo {

#define GEN_PASS_DEF_FOLDCONTROLFLOW
#include "passes/Passes.h.inc"

/// The bytes that a constant made on the way has at most: enough for conditions and positions.
/// Larger ones are folded later.
static constexpr int64_t kMostKnownBytes = 4096;

void attachControlFlow(MLIRContext &context) {
  using namespace onnx;
  OperatorRows<ControlFlowModel> rows(context);
  StringRef positions = "a position that only a run knows";
  StringRef lists = "as an input or output of the model";
  rows.add<IfOp>("a condition that only a run knows, where branches make values of several ranks");
  rows.add<LoopOp, ScanOp>("where a run makes the trips: values that change their rank; parts of "
                           "sizes that only a trip knows, or of more than 2^24 trips by a count "
                           "alone");
  rows.add<SequenceMapOp>("more than 16 tensors; more than 2,000 nodes of all copies");
  rows.add<OptionalOp, SequenceConstructOp, SequenceEmptyOp>(lists);
  rows.add<SequenceAtOp, SequenceEraseOp, SequenceInsertOp>(positions);
  rows.add<SplitToSequenceOp>("sizes that only a run knows");
  rows.add<ConcatFromSequenceOp, OptionalGetElementOp, OptionalHasElementOp, SequenceLengthOp>("");
}

ControlFlow::ControlFlow(func::FuncOp function, StringRef pass)
    : function(function), pass(pass), ledger(function), walk(function) {}

bool ControlFlow::isPresent(func::FuncOp function) {
  return llvm::any_of(function.getOps(),
                      [](Operation &op) { return isa<ControlFlowInterface>(op); });
}

/// Takes an inferred type, unless a declaration contradicts it, which is warned of later.
static void refine(OpResult result, RankedTensorType inferred) {
  auto declared = dyn_cast<RankedTensorType>(result.getType());
  if (!declared || succeeded(verifyCompatibleShape(declared, inferred)))
    result.setType(inferred);
}

void ControlFlow::run() {
  OpBuilder b = OpBuilder::atBlockBegin(&function.getBody().front());
  auto absent = b.create<onnx::NoneOp>(function.getLoc(), b.getNoneType(), ValueRange());
  none = absent->getResult(0);
  function->getParentOfType<ModuleOp>().walk([&](Operation *op) {
    if (std::optional<StringRef> name = onnx::nodeName(op))
      names.insert(*name);
  });
  walk.run(
      [&](Operation *op) {
        for (OpResult result : op->getResults())
          if (std::optional<onnx::Sizes> sizes = walk.shapes.find(result))
            refine(result, inferredType(result, *sizes));
        foldKnown(op);
      },
      [&](Operation *op) { return fold(op); });
  for (Operation *op : sunk)
    if (op->getBlock())
      bury(op);
  eraseUnused();
  for (Operation *op : buried)
    op->destroy();
  if (none.use_empty())
    absent->erase();
  updateFunctionType(function);
}

Operation *ControlFlow::fold(Operation *op) {
  if (sunk.contains(op)) {
    Operation *next = op->getNextNode();
    bury(op);
    return next;
  }
  if (auto choice = dyn_cast<onnx::IfOp>(op))
    return foldIf(choice);
  if (isa<onnx::LoopOp, onnx::ScanOp, onnx::SequenceMapOp>(op))
    return unroll(op);
  return foldList(op);
}

Operation *ControlFlow::foldIf(onnx::IfOp op) {
  std::optional<int64_t> condition = known(op.getCond());
  if (!condition) {
    std::optional<onnx::Sizes> sizes = walk.shapes.find(op.getCond());
    if (!sizes)
      return keep(op, "");
    for (OpFoldResult size : *sizes)
      if (std::optional<int64_t> elements = getConstantIntValue(size); elements && *elements != 1)
        return keep(
            op, "its condition has " + Twine(*elements) +
                    " elements along a dimension; nearest supported: a condition of one element");
    if (isOpen(*sizes))
      return readScalar(op, 0);
    if (Operation *both = sinkReader(op))
      return both;
    return select(op);
  }
  Block &branch = (*condition ? op.getThenBranch() : op.getElseBranch()).front();
  Operation *yield = branch.getTerminator(), *before = op->getPrevNode();
  ledger.applied("fold", op.getLoc(),
                 *condition ? "replaced by its then-branch" : "replaced by its else-branch",
                 "its condition is known");
  count(function.getContext(), pass, "folded");
  SmallVector<Value> yielded(yield->getOperands());
  yield->erase();
  op->getBlock()->getOperations().splice(Block::iterator(op), branch.getOperations());
  return replace(op, yielded, before);
}

Operation *ControlFlow::behind(Operation *before, Block *block) {
  return before ? before->getNextNode() : &block->front();
}

void ControlFlow::markDeclared(Operation *before, Operation *end) {
  for (Operation *op = behind(before, end->getBlock()); op != end; op = op->getNextNode())
    if (!isa<onnx::ConstantOp, onnx::NoneOp>(op))
      op->setAttr(kDeclaredShapeAttr, UnitAttr::get(op->getContext()));
}

Operation *ControlFlow::replace(Operation *op, ValueRange values, Operation *before) {
  markDeclared(before, op);
  Operation *first = behind(before, op->getBlock());
  // A graph rarely declares what it yields, since its operator does.
  for (auto [value, result] : llvm::zip(values, op->getResults()))
    if (auto type = dyn_cast<RankedTensorType>(result.getType());
        type && isa<UnrankedTensorType>(value.getType()) && value.getDefiningOp())
      value.setType(type);
  op->replaceAllUsesWith(values);
  Operation *now = first == op ? op->getNextNode() : first;
  bury(op);
  return now;
}

Operation *ControlFlow::keep(Operation *op, const Twine &why) {
  op->setAttr(kUnexpandedAttr, StringAttr::get(op->getContext(), why));
  return op;
}

void ControlFlow::bury(Operation *op) {
  op->walk([&](Operation *each) { walk.refusals.forget(each); });
  op->remove();
  op->dropAllReferences();
  buried.push_back(op);
}

std::optional<int64_t> ControlFlow::known(Value value) {
  FailureOr<onnx::Sizes> values = walk.shapes.host.tryValues(value, 1);
  if (failed(values) || values->size() != 1)
    return std::nullopt;
  return getConstantIntValue(values->front());
}

std::string ControlFlow::whyUnknown(Value value, const Twine &what, StringRef nearest) {
  if (!walk.shapes.find(value))
    return ""; // a node before it is refused
  return cameo::whyUnknown(walk.shapes, value, what, nearest);
}

void ControlFlow::foldKnown(Operation *op) {
  if (op->use_empty() || op->getNumRegions() || op->hasAttr(kKeptUnfoldedAttr))
    return;
  SmallVector<ElementsAttr> values;
  int64_t growth;
  if (FailureOr<SmallVector<ElementsAttr>> folded =
          foldToConstants(op, kMostKnownBytes, /*reclaim=*/false, growth);
      succeeded(folded))
    values = *folded;
  else if (ElementsAttr integers = knownIntegers(op, walk.shapes))
    values = {integers};
  else
    return;
  OpBuilder b(op);
  for (auto [result, value] : llvm::zip(op->getResults(), values))
    if (!result.use_empty())
      result.replaceAllUsesWith(createConstant(b, op->getLoc(), value));
  bury(op);
}

bool ControlFlow::isKnownList(Operation *op) const {
  return op->getNumResults() && llvm::all_of(op->getResults(), [&](Value value) {
           return lists.contains(value) || optionals.contains(value);
         });
}

void ControlFlow::eraseUnused() {
  SmallVector<Operation *> known;
  for (Operation &op : function.getBody().front())
    if (isKnownList(&op))
      known.push_back(&op);
  for (Operation *op : llvm::reverse(known))
    if (op->use_empty()) {
      walk.refusals.forget(op);
      op->erase();
    } else {
      keep(op, ""); // what reads it is what cannot be compiled
    }
}

namespace {

struct FoldControlFlow : impl::FoldControlFlowBase<FoldControlFlow> {
  void runOnOperation() override {
    bool isPresent = false;
    // Those that come in on the way are folded there.
    for (auto function : llvm::to_vector(getOperation().getOps<func::FuncOp>())) {
      if (!ControlFlow::isPresent(function))
        continue;
      isPresent = true;
      ControlFlow(function, getArgument()).run();
    }
    if (!isPresent)
      markAllAnalysesPreserved();
  }
};

} // namespace

} // namespace cameo
