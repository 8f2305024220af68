// Gives every value the shape that its operator computes, with sizes by name where they are known
// only at run time.
//
//   func.func @main(%x: tensor<?x4xf32> {onnx.dims = ["N", 4]})
//   %0 = onnx.Concat(%x, %x) {axis = 0}              : ... -> tensor<*xf32>
//     ==>
//   %0 = onnx.Concat(%x, %x) {axis = 0, onnx.dims = [["N + N", 4]]} : ... -> tensor<?x4xf32>
//
// The rules are those that lowerings ask (dialects/onnx/shape/), here with symbols for sizes:
// numbers are static sizes, others expressions over the inputs' sizes. An operator that is refused
// keeps its declared shape and is marked, since such a model runs nowhere and its declarations are
// not checked. A declaration that contradicts what the operands make is warned of and ignored.
//
// SPDX-License-Identifier: Apache-2.0
#include "dialects/onnx/shape/SizeNames.h"
#include "dialects/rt/Ledger.h"
#include "passes/Statistics.h"
#include "passes/graph/Elements.h"
#include "passes/graph/Graph.h"
#include "passes/graph/ShapeWalk.h"

using namespace mlir;

namespace cameo {

#define GEN_PASS_DEF_INFERSHAPES
#include "passes/Passes.h.inc"

ElementsAttr knownIntegers(Operation *op, onnx::Shapes &shapes) {
  if (op->getNumResults() != 1 || isa<onnx::ConstantOp, onnx::NoneOp>(op))
    return {};
  auto type = dyn_cast<RankedTensorType>(op->getResult(0).getType());
  if (!type || !type.hasStaticShape() || !isa<IntegerType>(type.getElementType()) ||
      !shapes.find(op->getResult(0)))
    return {};
  std::optional<onnx::ElementKind> kind = onnx::innerKind(type);
  FailureOr<onnx::Sizes> values = shapes.host.tryValues(op->getResult(0));
  if (!kind || failed(values) || static_cast<int64_t>(values->size()) != type.getNumElements())
    return {};
  SmallVector<int64_t> numbers;
  for (OpFoldResult value : *values) {
    auto known = dyn_cast_if_present<IntegerAttr>(dyn_cast<Attribute>(value));
    if (!known)
      return {};
    numbers.push_back(known.getInt());
  }
  return onnx::makeConstant(type, nodeName(op), writeElements<int64_t>(*kind, numbers));
}

namespace {

bool isUnranked(Value value) { return isa<UnrankedTensorType>(value.getType()); }

bool isMissing(Value value) { return isUnranked(value) || !hasReliableShape(value); }

struct InferShapes : impl::InferShapesBase<InferShapes> {
  using InferShapesBase::InferShapesBase;

  void runOnOperation() override {
    func::FuncOp function = getOperation();
    if (missingOnly && llvm::none_of(function.getOps(), [](Operation &op) {
          return llvm::any_of(op.getResults(), isMissing);
        }))
      return;
    // Arguments without a rank are refused later.
    if (llvm::any_of(function.getArgumentTypes(),
                     [](Type type) { return !isa<RankedTensorType>(type); }))
      return;
    ShapeWalk walk(function);
    onnx::SizeNames names(walk.sizes);
    rt::Ledger ledger(function);
    walk.run([&](Operation *op) {
      if (walk.usesDeclaredShapes(op)) {
        if (!op->hasAttr(kDeclaredShapeAttr))
          ledger.chosen("shape", op->getLoc(), "given the shape that the model declares");
        op->setAttr(kDeclaredShapeAttr, UnitAttr::get(op->getContext()));
      } else {
        op->removeAttr(kDeclaredShapeAttr);
      }
      refine(op, walk.shapes, names);
    });
    foldKnownIntegers(function.getBody().front(), walk.shapes, ledger);
    nameOutputs(function);
    updateFunctionType(function);
  }

private:
  /// The name of the model's output that a value is; empty for others.
  static std::string outputName(OpResult value) {
    for (OpOperand &use : value.getUses())
      if (auto terminator = dyn_cast<func::ReturnOp>(use.getOwner()))
        if (auto name =
                cast<func::FuncOp>(terminator->getParentOp())
                    .getResultAttrOfType<StringAttr>(use.getOperandNumber(), onnx::kNameAttr))
          return " ('" + name.str() + "')";
    return "";
  }

  static void warnOfDeclaration(OpResult result, Type computed) {
    Operation *op = result.getOwner();
    emitWarning(op->getLoc()) << "node '" << nodeName(op) << "' (" << op->getName().stripDialect()
                              << "): output " << result.getResultNumber() << outputName(result)
                              << " is declared as " << onnx::typeText(result.getType())
                              << ", but its operands make it " << onnx::typeText(computed)
                              << "; the declaration is ignored";
  }

  /// Sizes as the operands make them, whatever is declared.
  void refine(Operation *op, const onnx::Shapes &shapes, onnx::SizeNames &names) {
    Builder b(op->getContext());
    SmallVector<Attribute> dims;
    bool named = false;
    for (OpResult result : op->getResults()) {
      std::optional<onnx::Sizes> inferred = shapes.find(result);
      dims.push_back(b.getArrayAttr({}));
      if (!inferred)
        continue;
      SmallVector<int64_t> shape;
      SmallVector<Attribute> sizes;
      for (OpFoldResult size : *inferred) {
        std::optional<int64_t> known = getConstantIntValue(size);
        std::string name = known ? "" : names.of(size);
        shape.push_back(known.value_or(ShapedType::kDynamic));
        sizes.push_back(known ? Attribute(b.getI64IntegerAttr(*known)) : b.getStringAttr(name));
      }
      Type element = cast<TensorType>(result.getType()).getElementType();
      auto computed = RankedTensorType::get(shape, element);
      auto declared = dyn_cast<RankedTensorType>(result.getType());
      if (declared && failed(verifyCompatibleShape(declared, computed)))
        warnOfDeclaration(result, computed);
      if (result.getType() != computed)
        count(&getContext(), getArgument(), "inferred");
      result.setType(computed);
      named |= llvm::any_of(sizes, [](Attribute size) {
        auto name = dyn_cast<StringAttr>(size);
        return name && !name.empty();
      });
      dims.back() = b.getArrayAttr(sizes);
    }
    if (named)
      op->setAttr(onnx::kDimsAttr, b.getArrayAttr(dims));
    else
      op->removeAttr(onnx::kDimsAttr);
  }

  void foldKnownIntegers(Block &body, onnx::Shapes &shapes, rt::Ledger &ledger) {
    // All of them first: host values are known by where operations are in memory.
    SmallVector<std::pair<Operation *, ElementsAttr>> known;
    for (Operation &op : body.without_terminator())
      if (ElementsAttr value = knownIntegers(&op, shapes))
        known.push_back({&op, value});
    for (auto [op, value] : known) {
      OpBuilder b(op);
      ledger.applied("fold", op->getLoc(), "folded to a constant", "known sizes make it");
      op->getResult(0).replaceAllUsesWith(createConstant(b, op->getLoc(), value));
      op->erase();
      count(&getContext(), getArgument(), "folded");
    }
  }

  /// Outputs take the names of sizes that the model does not name.
  static void nameOutputs(func::FuncOp function) {
    Builder b(function.getContext());
    for (OpOperand &operand : function.getBody().front().getTerminator()->getOpOperands()) {
      ArrayAttr found = knownDims(operand.get());
      unsigned number = operand.getOperandNumber();
      auto given = function.getResultAttrOfType<ArrayAttr>(number, onnx::kDimsAttr);
      if (!found)
        continue;
      SmallVector<Attribute> dims(found.begin(), found.end());
      if (given && given.size() != found.size())
        given = {}; // of a rank that the output does not have
      for (auto [i, dim] : llvm::enumerate(dims)) {
        auto name = given ? dyn_cast<StringAttr>(given[i]) : StringAttr();
        bool says = given && !(name && name.empty());
        if (says && isa<StringAttr>(dim))
          dim = given[i];
      }
      function.setResultAttr(number, onnx::kDimsAttr, b.getArrayAttr(dims));
    }
  }
};

} // namespace

Operation *findUninferred(func::FuncOp function) {
  Block &body = function.getBody().front();
  SmallVector<Operation *> unranked;
  for (Operation &op : body)
    if (llvm::any_of(op.getResults(), isUnranked))
      unranked.push_back(&op);
  if (unranked.empty() || llvm::any_of(function.getArgumentTypes(),
                                       [](Type type) { return !isa<RankedTensorType>(type); }))
    return nullptr;
  ShapeWalk walk(function);
  walk.run();
  auto *found = llvm::find_if(unranked, [&](Operation *op) {
    return llvm::any_of(op->getResults(),
                        [&](Value v) { return isUnranked(v) && walk.shapes.find(v); });
  });
  return found == unranked.end() ? nullptr : *found;
}

} // namespace cameo
