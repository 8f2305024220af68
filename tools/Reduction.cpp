// MLIR's own pass of this name erases what nothing uses, and breaks where rewriting all operations
// at once is too much. Here operations that are used go as well: each kind of change is tried on
// all of the operations that it fits, then on halves of them, down to single ones.
// SPDX-License-Identifier: Apache-2.0
#include "tools/Reduction.h"

#include "dialects/onnx/Onnx.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/AttrTypeSubElements.h"
#include "mlir/Pass/Pass.h"
#include "mlir/Pass/PassRegistry.h"
#include "mlir/Reducer/Tester.h"

using namespace mlir;
using namespace cameo;

namespace {

//===-- Kinds of changes: whether the operation was changed -----------------------------------===//

/// The function that an operation stands in the outermost block of; null for others.
func::FuncOp functionOf(Operation *op) {
  auto function = dyn_cast_or_null<func::FuncOp>(op->getParentOp());
  return function && op->getBlock() == &function.front() ? function : func::FuncOp();
}

/// What the operation had for operands stays: it may be what matters, and goes by itself if not.
bool eraseOperation(Operation *op) {
  if (!op->use_empty() || op->hasTrait<OpTrait::IsTerminator>())
    return false;
  op->erase();
  return true;
}

/// The function returns nothing.
bool dropResults(Operation *op) {
  auto end = dyn_cast<func::ReturnOp>(op);
  auto function = functionOf(op);
  if (!end || !function || end.getNumOperands() == 0)
    return false;
  function.eraseResults(llvm::BitVector(function.getNumResults(), true));
  end.getOperandsMutable().clear();
  return true;
}

/// What the function returns of the operation is what the operation has for an operand.
bool returnOperand(Operation *op) {
  auto function = functionOf(op);
  auto operand = llvm::find_if(op->getOperands(),
                               [](Value value) { return isa<ShapedType>(value.getType()); });
  if (!function || op->use_empty() || operand == op->operand_end() ||
      !llvm::all_of(op->getUsers(), [](Operation *user) { return isa<func::ReturnOp>(user); }))
    return false;
  Operation *end = *op->user_begin();
  op->replaceAllUsesWith(SmallVector<Value>(op->getNumResults(), *operand));
  function.setType(
      FunctionType::get(op->getContext(), function.getArgumentTypes(), end->getOperandTypes()));
  op->erase();
  return true;
}

/// The result is the first operand of the same type.
bool useOperand(Operation *op) {
  if (op->getNumResults() != 1 || op->use_empty())
    return false;
  auto operand = llvm::find_if(op->getOperands(), [&](Value value) {
    return value.getType() == op->getResult(0).getType() && value.getDefiningOp() != op;
  });
  if (operand == op->operand_end())
    return false;
  op->getResult(0).replaceAllUsesWith(*operand);
  op->erase();
  return true;
}

/// The results are new arguments of the function.
bool useArguments(Operation *op) {
  auto function = functionOf(op);
  if (!function || op->use_empty() || op->hasTrait<OpTrait::ConstantLike>())
    return false;
  for (Value result : op->getResults()) {
    if (result.use_empty())
      continue;
    unsigned number = function.getNumArguments();
    function.insertArgument(number, result.getType(), DictionaryAttr(), result.getLoc());
    result.replaceAllUsesWith(function.getArgument(number));
  }
  op->erase();
  return true;
}

/// The function has no arguments that nothing uses.
bool dropArguments(Operation *op) {
  auto function = dyn_cast<func::FuncOp>(op);
  if (!function || function.isExternal())
    return false;
  llvm::BitVector unused(function.getNumArguments());
  for (BlockArgument argument : function.getArguments())
    unused[argument.getArgNumber()] = argument.use_empty();
  function.eraseArguments(unused);
  return unused.any();
}

/// Null for what is not a constant, or repeats one element already.
ElementsAttr repeatedElement(Attribute attribute) {
  auto value = dyn_cast<ElementsAttr>(attribute);
  if (!value || value.getNumElements() < 2 || value.isSplat() ||
      value.getElementType().isInteger(1) || !value.getElementType().isIntOrFloat())
    return nullptr;
  std::optional<onnx::ConstantBytes> bytes = onnx::constantBytes(value);
  if (!bytes || bytes->isSplat())
    return nullptr;
  size_t width = bytes->get().size() / value.getNumElements();
  return DenseElementsAttr::getFromRawBuffer(value.getShapedType(), bytes->get().take_front(width));
}

/// All elements of a constant are like its first.
bool repeatElement(Operation *op) {
  bool isChanged = false;
  for (NamedAttribute attribute : SmallVector<NamedAttribute>(op->getAttrs()))
    if (ElementsAttr repeated = repeatedElement(attribute.getValue())) {
      op->setAttr(attribute.getName(), repeated);
      isChanged = true;
    }
  return isChanged;
}

/// The operation, and what its blocks are given, are nameless.
bool forgetLocations(Operation *op) {
  Location unknown = UnknownLoc::get(op->getContext());
  bool isChanged = op->getLoc() != unknown;
  op->setLoc(unknown);
  for (Region &region : op->getRegions())
    for (BlockArgument argument : region.getArguments()) {
      isChanged |= argument.getLoc() != unknown;
      argument.setLoc(unknown);
    }
  return isChanged;
}

using Change = bool (*)(Operation *);
constexpr Change kChanges[] = {forgetLocations, eraseOperation, dropResults,   returnOperand,
                               useOperand,      useArguments,   dropArguments, repeatElement};

//===-- The search ----------------------------------------------------------------------------===//

class Reducer {
public:
  Reducer(ModuleOp module, const Tester &tester) : module(module.clone()), tester(tester) {
    // What is tried stands in a folder of its own, away from files of weights.
    AttrTypeReplacer replacer;
    auto &files = module.getContext()->getOrLoadDialect<onnx::OnnxDialect>()->weightFiles();
    replacer.addReplacement([&](onnx::ExternalAttr value) -> std::optional<Attribute> {
      return files.asResource(value);
    });
    replacer.recursivelyReplaceElementsIn(*this->module, /*replaceAttrs=*/true,
                                          /*replaceLocs=*/false, /*replaceTypes=*/false);
  }

  /// Null where the module is of no interest as it is.
  OwningOpRef<ModuleOp> run() {
    auto [interest, bytes] = tester.isInteresting(*module);
    if (interest != Tester::Interestingness::True)
      return nullptr;
    size = bytes;
    for (size_t before = SIZE_MAX; size < before;) {
      before = size;
      for (Change change : kChanges)
        reduceBy(change);
    }
    return std::move(module);
  }

private:
  /// Tries the change on all operations, on halves, quarters and so on.
  void reduceBy(Change change) {
    for (size_t width = operations(*module).size(); width > 0; width /= 2)
      for (size_t begin = 0; begin < operations(*module).size();)
        // What has been changed may be changed again, or is gone.
        if (!attempt(change, begin, begin + width))
          begin += width;
  }

  bool attempt(Change change, size_t begin, size_t end) {
    OwningOpRef<ModuleOp> candidate = module->clone();
    if (!apply(change, *candidate, begin, end))
      return false;
    auto [interest, bytes] = tester.isInteresting(*candidate);
    if (interest != Tester::Interestingness::True || bytes >= size)
      return false;
    module = std::move(candidate);
    size = bytes;
    return true;
  }

  static bool apply(Change change, ModuleOp candidate, size_t begin, size_t end) {
    SmallVector<Operation *> all = operations(candidate);
    bool isChanged = false;
    // From behind: what is in an operation goes before it, and users before what they use.
    for (size_t i = std::min(end, all.size()); i-- > begin;)
      isChanged |= change(all[i]);
    return isChanged;
  }

  static SmallVector<Operation *> operations(ModuleOp module) {
    SmallVector<Operation *> all;
    for (Operation &top : module.getOps())
      top.walk<WalkOrder::PreOrder>([&](Operation *op) { all.push_back(op); });
    return all;
  }

  OwningOpRef<ModuleOp> module;
  const Tester &tester;
  size_t size = 0; // bytes of the text
};

struct Reduction : PassWrapper<Reduction, OperationPass<ModuleOp>> {
  MLIR_DEFINE_EXPLICIT_INTERNAL_INLINE_TYPE_ID(Reduction)

  Reduction() = default;
  Reduction(const Reduction &other) : PassWrapper(other) {}

  StringRef getArgument() const override { return "reduction-tree"; }
  StringRef getDescription() const override {
    return "reduce the module while a script exits with 1 for its file";
  }

  void runOnOperation() override {
    SmallVector<std::string> arguments(testArguments.begin(), testArguments.end());
    Tester tester(test, arguments);
    OwningOpRef<ModuleOp> reduced;
    {
      // What is tried and is not valid IR is not worth a word.
      ScopedDiagnosticHandler handler(&getContext(), [](Diagnostic &) { return success(); });
      reduced = Reducer(getOperation(), tester).run();
    }
    if (!reduced) {
      emitError(getOperation().getLoc())
          << "'" << test << "' does not exit with 1 for the module as it is";
      return signalPassFailure();
    }
    getOperation().getBodyRegion().takeBody(reduced->getBodyRegion());
  }

  Option<std::string> test{*this, "test", llvm::cl::desc("script that is called with a file")};
  ListOption<std::string> testArguments{*this, "test-arg", llvm::cl::desc("its arguments")};
  Option<unsigned> traversalMode{*this, "traversal-mode",
                                 llvm::cl::desc("0: what is smaller is kept"), llvm::cl::init(0)};
};

} // namespace

void cameo::registerReduction() { PassRegistration<Reduction>(); }
