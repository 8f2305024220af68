// Infers the sizes of a function's values, node by node.
//
// SPDX-License-Identifier: Apache-2.0
#include "passes/graph/ShapeWalk.h"

#include "passes/graph/ControlFlow.h"
#include "passes/graph/RefusalReport.h"

using namespace mlir;

namespace cameo {

ShapeWalk::ShapeWalk(func::FuncOp function)
    : sizes(function.getContext(), refusals), shapes(sizes, refusals), function(function) {}

/// The sizes that a type has, with the names in `dims`.
static onnx::Sizes sizesOf(onnx::SymbolicSizes &s, RankedTensorType type, ArrayAttr dims) {
  onnx::Sizes result;
  for (auto [i, size] : llvm::enumerate(type.getShape())) {
    auto name = dims ? dyn_cast<StringAttr>(dims[i]) : StringAttr();
    if (!ShapedType::isDynamic(size))
      result.push_back(s.index(size));
    else
      result.push_back(s.size(name ? name : StringAttr::get(type.getContext())));
  }
  return result;
}

/// Shapes of all inputs without a rank, as --shapes takes them.
std::string ShapeWalk::unrankedShapes() {
  std::string text;
  for (BlockArgument argument : function.getArguments())
    if (isa<UnrankedTensorType>(argument.getType())) {
      auto name = function.getArgAttrOfType<StringAttr>(argument.getArgNumber(), onnx::kNameAttr);
      text += (text.empty() ? "" : ",") + (name ? name.getValue().str() : "") + ":?x?x3";
    }
  return text;
}

void ShapeWalk::beginInputs() {
  for (BlockArgument argument : function.getArguments()) {
    unsigned number = argument.getArgNumber();
    auto type = dyn_cast<RankedTensorType>(argument.getType());
    std::optional<std::string> problem = typeProblem(argument.getType());
    if (!problem && !type)
      problem = "has no known rank; nearest supported: --shapes=" + unrankedShapes() +
                ", with as many sizes each as runs give, ? for one that stays open";
    if (!problem)
      problem = sizeProblem(type);
    if (!problem)
      problem = packingProblem(type);
    if (problem) {
      auto name = function.getArgAttrOfType<StringAttr>(number, onnx::kNameAttr);
      (void)refusals.add(function, "input '" + (name ? name.getValue() : "") + "' " + *problem,
                         onnx::Refusals::Subject::Input);
      continue;
    }
    auto dims = function.getArgAttrOfType<ArrayAttr>(number, onnx::kDimsAttr);
    shapes.define(argument, sizesOf(sizes, type, dims));
  }
}

/// Whether there are rules for the operator and its values can be represented.
LogicalResult ShapeWalk::checkOperator(Operation *op) {
  if (isa<onnx::NoneOp, onnx::ConstantOp, onnx::YieldOp>(op))
    return success();
  if (!isa<onnx::ShapeRuleInterface>(op)) {
    auto unexpanded = op->getAttrOfType<StringAttr>(kUnexpandedAttr);
    if (unexpanded && unexpanded.empty()) {
      refusals.hide(op);
      return failure();
    }
    (void)refusals.add(op, unexpanded ? unexpanded.str() : describeUnsupported(op));
    // What stands in its graphs would be the next thing to be told.
    for (Region &region : op->getRegions())
      region.walk<WalkOrder::PreOrder>([&](Operation *nested) {
        // Of control flow within it nothing is known.
        if (isa<ControlFlowInterface>(nested))
          return WalkResult::advance();
        (void)checkOperator(nested);
        return nested->getNumRegions() ? WalkResult::skip() : WalkResult::advance();
      });
    return failure();
  }
  for (OpOperand &operand : op->getOpOperands()) {
    if (isa<onnx::AnyType>(operand.get().getType()))
      continue; // whatever made it is refused
    if (auto problem = typeProblem(operand.get().getType()))
      return refusals.add(op, onnx::inputText(op, operand.getOperandNumber()) + " " + *problem);
  }
  for (OpResult result : op->getResults()) {
    if (isa<onnx::AnyType>(result.getType()))
      continue;
    if (auto problem = typeProblem(result.getType())) {
      const onnx::OpSchema *schema = onnx::schemaOf(op);
      std::string name = schema ? schema->output(result.getResultNumber()).name : "";
      return refusals.add(op, "output '" + name + "' " + *problem);
    }
  }
  return success();
}

RankedTensorType inferredType(Value result, const onnx::Sizes &sizes) {
  SmallVector<int64_t> shape;
  for (OpFoldResult size : sizes)
    shape.push_back(getConstantIntValue(size).value_or(ShapedType::kDynamic));
  return RankedTensorType::get(shape, onnx::elementType(result));
}

/// Infers one node whose operator and types are known to be supported.
void ShapeWalk::infer(Operation *op) {
  if (!shapes.hasOperands(op)) // after a node that was refused
    return refusals.hide(op);
  FailureOr<SmallVector<onnx::Sizes>> results = onnx::inferSizes(shapes, op);
  if (failed(results))
    return;
  for (auto [result, inferred] : llvm::zip(op->getResults(), *results)) {
    if (!isa<TensorType>(result.getType()))
      continue;
    shapes.define(result, inferred);
    if (auto problem = sizeProblem(inferredType(result, inferred)))
      (void)refusals.add(op, "a value " + *problem);
  }
}

void ShapeWalk::useDeclaredShape(OpResult result) {
  auto type = dyn_cast<RankedTensorType>(result.getType());
  if (type && !typeProblem(type) && !sizeProblem(type))
    shapes.define(result, sizesOf(sizes, type, {}));
}

bool ShapeWalk::usesDeclaredShapes(Operation *op) const {
  return refusals.contains(op) && llvm::any_of(op->getResults(), [&](Value result) {
           return shapes.find(result).has_value();
         });
}

llvm::DenseSet<Operation *> neededOperators(Block &block) {
  llvm::DenseSet<Operation *> needed{block.getTerminator()};
  for (Operation &op : llvm::reverse(block.without_terminator()))
    if (llvm::any_of(op.getUsers(), [&](Operation *user) {
          return needed.contains(block.findAncestorOpInBlock(*user));
        }))
      needed.insert(&op);
  return needed;
}

void ShapeWalk::visit(Operation *op) {
  if (succeeded(checkOperator(op)))
    infer(op);
  if (refusals.contains(op))
    for (OpResult result : op->getResults())
      if (!shapes.find(result))
        useDeclaredShape(result);
}

void ShapeWalk::run(llvm::function_ref<void(Operation *)> after,
                    llvm::function_ref<Operation *(Operation *)> replace) {
  beginInputs();
  Block &body = function.getBody().front();
  llvm::DenseSet<Operation *> needed = neededOperators(body);
  for (Operation *op = &body.front(); op != body.getTerminator();) {
    Operation *next = op->getNextNode();
    if (!isa<onnx::NoneOp, onnx::ConstantOp>(op) && needed.contains(op)) {
      Operation *now = replace(op);
      if (now != op) {
        for (op = now; now != next; now = now->getNextNode())
          needed.insert(now);
        continue;
      }
      visit(op);
      after(op);
    }
    op = next;
  }
}

} // namespace cameo
