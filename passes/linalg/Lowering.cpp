// The Lowering class: operands, results, and a function node by node.
//
// SPDX-License-Identifier: Apache-2.0
#include "passes/linalg/RefusalReport.h"

using namespace mlir;

namespace cameo {

Lowering::Lowering(ModuleOp module)
    : module(module), b(module.getContext()), plan(b, refusals), build(module, b, plan),
      host(*this) {}

Type Lowering::elementType(Value onnxValue) {
  return cast<TensorType>(onnxValue.getType()).getElementType();
}

//===-- Operands and results ------------------------------------------------------------------===//

bool Lowering::absent(Operation *op, unsigned index) {
  return index >= op->getNumOperands() || onnx::isAbsent(op->getOperand(index));
}

Lowered Lowering::operand(Operation *op, unsigned index) { return lowered(op->getOperand(index)); }

Lowered Lowering::lowered(Value onnxValue) {
  auto found = values.find(onnxValue);
  if (found != values.end())
    return found->second;
  // Constants join the pool with their first use on the device: most of the small ones have none.
  ElementsAttr value = onnx::constantValue(onnxValue);
  assert(value && "operators are lowered after their operands");
  Lowered result;
  result.tensor = build.constant(onnxValue.getLoc(), value);
  result.elementType = value.getElementType();
  for (int64_t size : value.getShapedType().getShape())
    result.sizes.push_back(plan.index(size));
  values[onnxValue] = result;
  return result;
}

std::optional<Lowered> Lowering::tryLowered(Value onnxValue) {
  auto found = values.find(onnxValue);
  return found == values.end() ? std::nullopt : std::optional<Lowered>(found->second);
}

void Lowering::define(Operation *op, unsigned result, Lowered lowered) {
  assert(lowered.tensor.getType() == tensorType(lowered.sizes, lowered.elementType));
  values[op->getResult(result)] = std::move(lowered);
}

void Lowering::define(Operation *op, unsigned result, Value tensor, const Sizes &sizes,
                      Type elementType) {
  define(op, result, Lowered{tensor, sizes, elementType});
}

//===-- Functions -----------------------------------------------------------------------------===//

/// Whether lowering has its own function for the operator and can represent its values.
LogicalResult Lowering::checkOperator(Operation *op) {
  if (isa<onnx::NoneOp, onnx::ConstantOp, onnx::YieldOp>(op))
    return success();
  if (isa<onnx::CustomOp>(op) || !supportedOperators().contains(op->getName().stripDialect())) {
    (void)unsupported(op, describeUnsupported(op));
    // What stands in its graphs would be the next thing to be told.
    for (Region &region : op->getRegions())
      region.walk<WalkOrder::PreOrder>([&](Operation *nested) {
        (void)checkOperator(nested);
        return nested->getNumRegions() ? WalkResult::skip() : WalkResult::advance();
      });
    return failure();
  }
  for (OpOperand &operand : op->getOpOperands()) {
    if (isa<onnx::AnyType>(operand.get().getType()))
      continue; // whatever made it is refused
    if (auto problem = typeProblem(operand.get().getType()))
      return unsupported(op, inputText(op, operand.getOperandNumber()) + " " + *problem);
  }
  for (OpResult result : op->getResults()) {
    if (isa<onnx::AnyType>(result.getType()))
      continue;
    if (auto problem = typeProblem(result.getType())) {
      const onnx::OpSchema *schema = onnx::schemaOf(op);
      std::string name = schema ? schema->output(result.getResultNumber()).name : "";
      return unsupported(op, "output '" + name + "' " + *problem);
    }
  }
  return success();
}

/// The entry function on builtin tensors: its arguments are the model's inputs.
func::FuncOp Lowering::lowerInputs(func::FuncOp function, OpBuilder &outer) {
  Block &source = function.getBody().front();
  auto target = outer.create<func::FuncOp>(function.getLoc(), function.getName(),
                                           outer.getFunctionType({}, {}));
  Block *entry = target.addEntryBlock();
  b.setInsertionPointToStart(entry);
  plan.begin(function.getLoc());

  // Inputs: sizes with one symbolic name are one value, the first one's.
  llvm::StringMap<OpFoldResult> symbols;
  SmallVector<Type> argumentTypes;
  SmallVector<DictionaryAttr> argumentAttrs;
  for (BlockArgument argument : source.getArguments()) {
    auto type = dyn_cast<RankedTensorType>(argument.getType());
    unsigned number = argument.getArgNumber();
    StringAttr name = function.getArgAttrOfType<StringAttr>(number, onnx::kNameAttr);
    if (auto problem = typeProblem(argument.getType()); problem || !type) {
      (void)unsupported(function, "input '" + (name ? name.getValue() : "") + "' " +
                                      (problem ? *problem
                                               : "has no known rank; nearest supported: a shape, "
                                                 "whose sizes may be names"));
      continue;
    }
    if (std::string problem = sizeProblem(type); !problem.empty()) {
      (void)unsupported(function, "input '" + (name ? name.getValue() : "") + "' " + problem);
      continue;
    }
    auto plain = RankedTensorType::get(type.getShape(), signless(type.getElementType()));
    Value input = entry->addArgument(plain, argument.getLoc());
    auto dims = function.getArgAttrOfType<ArrayAttr>(number, onnx::kDimsAttr);
    Sizes sizes;
    for (int64_t i = 0; i < type.getRank(); ++i) {
      if (!type.isDynamicDim(i)) {
        sizes.push_back(plan.index(type.getDimSize(i)));
        continue;
      }
      auto symbol = dims ? dyn_cast<StringAttr>(dims[i]) : StringAttr();
      OpFoldResult fresh, *size = &fresh;
      if (symbol && !symbol.empty())
        size = &symbols[symbol.getValue()];
      if (!*size)
        *size = b.create<tensor::DimOp>(argument.getLoc(), input, i).getResult();
      if (symbol && !symbol.empty())
        plan.setName(cast<Value>(*size), symbol);
      sizes.push_back(*size);
    }
    values[argument] = Lowered{input, sizes, type.getElementType()};
    NamedAttrList attrs(function.getArgAttrDict(number));
    attrs.set("onnx.type", TypeAttr::get(type.getElementType()));
    argumentTypes.push_back(plain);
    argumentAttrs.push_back(attrs.getDictionary(b.getContext()));
  }
  target.setType(outer.getFunctionType(argumentTypes, {}));
  target.setAllArgAttrs(argumentAttrs);
  return target;
}

/// A value of the declared shape in place of a result that could not be lowered.
void Lowering::standIn(OpResult result) {
  auto type = dyn_cast<RankedTensorType>(result.getType());
  if (!type || typeProblem(type) || !sizeProblem(type).empty())
    return;
  auto plain = RankedTensorType::get(type.getShape(), signless(type.getElementType()));
  Value tensor =
      b.create<UnrealizedConversionCastOp>(result.getLoc(), plain, ValueRange()).getResult(0);
  Sizes sizes;
  for (auto [i, size] : llvm::enumerate(type.getShape())) {
    if (ShapedType::isDynamic(size))
      sizes.push_back(b.create<tensor::DimOp>(result.getLoc(), tensor, i).getResult());
    else
      sizes.push_back(plan.index(size));
  }
  define(result.getOwner(), result.getResultNumber(), tensor, sizes, type.getElementType());
}

/// Lowers one node whose operator and types are known to be supported.
void Lowering::lowerNode(Operation &op) {
  bool ready = llvm::all_of(op.getOperands(), [&](Value operand) {
    return onnx::isAbsent(operand) || onnx::constantValue(operand) || values.count(operand);
  });
  if (!ready) { // after a node that was refused
    refusals.hide(&op);
    return;
  }
  plan.setLocation(op.getLoc());
  const OperatorEntry &entry = supportedOperators().find(op.getName().stripDialect())->second;
  Block &plan = *b.getInsertionBlock();
  Operation *before = plan.empty() ? nullptr : &plan.back();
  if (failed(entry.lower(&op, *this))) {
    if (!refusals.contains(&op))
      (void)unsupported(&op, "not supported in this form");
    return;
  }
  // Of all that was built for it, results and what leads to them.
  for (Operation *built = before         ? before->getNextNode()
                          : plan.empty() ? nullptr
                                         : &plan.front();
       built; built = built->getNextNode())
    for (Type type : built->getResultTypes())
      if (isa<RankedTensorType>(type))
        if (std::string problem = sizeProblem(type); !problem.empty())
          return (void)unsupported(&op, "a value " + problem);
}

/// The operators on which what the block returns depends.
static llvm::DenseSet<Operation *> neededOperators(Block &block) {
  llvm::DenseSet<Operation *> needed{block.getTerminator()};
  for (Operation &op : llvm::reverse(block.without_terminator()))
    if (llvm::any_of(op.getUsers(), [&](Operation *user) {
          return needed.contains(block.findAncestorOpInBlock(*user));
        }))
      needed.insert(&op);
  return needed;
}

void Lowering::lowerNodes(Block &source, llvm::function_ref<void(Operation *)> after) {
  llvm::DenseSet<Operation *> needed = neededOperators(source);
  for (Operation &op : source.without_terminator()) {
    if (isa<onnx::NoneOp, onnx::ConstantOp>(op) || !needed.contains(&op))
      continue;
    if (succeeded(checkOperator(&op)))
      lowerNode(op);
    if (refusals.contains(&op))
      for (OpResult result : op.getResults())
        if (!values.count(result))
          standIn(result);
    after(&op);
  }
}

LogicalResult Lowering::lowerFunction(func::FuncOp function) {
  OpBuilder outer(function);
  Block &source = function.getBody().front();
  func::FuncOp target = lowerInputs(function, outer);
  lowerNodes(source, [](Operation *) {});

  checkOutputs(function);
  if (failed(reportRefusals(function, refusals)))
    return failure();

  Operation *terminator = source.getTerminator();
  SmallVector<Value> results;
  SmallVector<DictionaryAttr> resultAttrs;
  for (OpOperand &operand : terminator->getOpOperands()) {
    if (!onnx::constantValue(operand.get()) && !values.count(operand.get()))
      continue;
    Lowered result = lowered(operand.get());
    results.push_back(build.inMemory(result.tensor));
    NamedAttrList attrs(function.getResultAttrDict(operand.getOperandNumber()));
    attrs.set("onnx.type", TypeAttr::get(result.elementType));
    resultAttrs.push_back(attrs.getDictionary(b.getContext()));
  }
  if (results.size() != terminator->getNumOperands())
    return emitError(function.getLoc()) << "an output's type is not known";
  b.create<func::ReturnOp>(terminator->getLoc(), results);
  target.setType(outer.getFunctionType(target.getArgumentTypes(), ValueRange(results).getTypes()));
  target.setAllResultAttrs(resultAttrs);
  function.erase();
  return success();
}

void Lowering::checkOutputs(func::FuncOp function) {
  for (OpOperand &operand : function.getBody().front().getTerminator()->getOpOperands()) {
    // What nodes and inputs cannot be is said of them.
    if (!onnx::constantValue(operand.get()))
      continue;
    auto name =
        function.getResultAttrOfType<StringAttr>(operand.getOperandNumber(), onnx::kNameAttr);
    if (auto problem = typeProblem(operand.get().getType()))
      (void)unsupported(function, "output '" + (name ? name.getValue() : "") + "' " + *problem);
  }
}

LogicalResult Lowering::checkFunction(func::FuncOp function) {
  OpBuilder outer(module.getContext());
  outer.setInsertionPointToStart(module.getBody());
  Block &source = function.getBody().front();
  (void)lowerInputs(function, outer);
  lowerNodes(source, [](Operation *) {});
  checkOutputs(function);
  return reportRefusals(function, refusals);
}

} // namespace cameo
