// The Lowering class: operands, results, and a function node by node.
//
// SPDX-License-Identifier: Apache-2.0
#include "passes/linalg/Lowering.h"

#include "dialects/onnx/Products.h"
#include "dialects/onnx/shape/NodeText.h"

#include "passes/graph/RefusalReport.h"
#include "passes/graph/ShapeWalk.h"
#include "passes/linalg/NarrowTypes.h"
#include "passes/linalg/PackedTensors.h"

using namespace mlir;

namespace cameo {

Lowering::Lowering(ModuleOp module)
    : module(module), b(module.getContext()), plan(b, refusals), build(module, b, plan),
      shapes(plan, refusals) {
  plan.tensorOf = [this](Value value) { return values.at(value).tensor; };
  module.walk([this](Operation *op) {
    if (auto call = dyn_cast<onnx::CallIfOp>(op))
      called[call.getThenBranch()] = called[call.getElseBranch()] = {Called::AsBranch};
    else if (auto loop = dyn_cast<onnx::CallLoopOp>(op))
      called[loop.getBody()] = {Called::AsBody, unsigned(loop.getCarried())};
  });
}

//===-- Operands and results ------------------------------------------------------------------===//

FailureOr<Sizes> Lowering::infer(Operation *op) {
  FailureOr<SmallVector<Sizes>> results = onnx::inferSizes(shapes, op);
  if (failed(results))
    return failure();
  return results->front();
}

Lowered Lowering::lowered(OpOperand &operand) {
  Value onnxValue = operand.get();
  auto found = values.find(onnxValue);
  if (found != values.end())
    return found->second;
  // Constants join the pool with their first use on the device: most of the small ones have none.
  ElementsAttr value = onnx::constantValue(onnxValue);
  if (!value)
    onnx::reportBug(operand.getOwner(),
                    "operand " + Twine(operand.getOperandNumber()) + " has not been lowered");
  Lowered result;
  result.tensor = build.constant(onnxValue.getLoc(), value);
  result.elementType = value.getElementType();
  result.sizes = *shapes.find(onnxValue);
  values[onnxValue] = result;
  return result;
}

SmallVector<Lowered> Lowering::operands(Operation *op) {
  SmallVector<Lowered> result;
  for (unsigned i = 0; i < op->getNumOperands(); ++i)
    result.push_back(absent(op, i) ? Lowered() : operand(op, i));
  while (!result.empty() && absent(op, result.size() - 1))
    result.pop_back();
  return result;
}

void Lowering::define(Operation *op, unsigned result, Lowered lowered) {
  if (lowered.tensor.getType() != tensorType(lowered.sizes, lowered.elementType))
    onnx::reportBug(op, "result " + Twine(result) + " is not as large as its sizes say");
  shapes.define(op->getResult(result), lowered.sizes);
  values[op->getResult(result)] = std::move(lowered);
}

void Lowering::define(Operation *op, unsigned result, Value tensor, const Sizes &sizes,
                      Type elementType) {
  define(op, result, Lowered{tensor, sizes, elementType});
}

//===-- Functions -----------------------------------------------------------------------------===//

/// Sizes of an input; those with one symbolic name are one value, the first one's.
Sizes Lowering::inputSizes(func::FuncOp function, unsigned number, Value input,
                           llvm::StringMap<OpFoldResult> &symbols) {
  auto type = cast<RankedTensorType>(input.getType());
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
      *size = b.create<tensor::DimOp>(input.getLoc(), input, i).getResult();
    if (symbol && !symbol.empty())
      plan.setName(cast<Value>(*size), symbol);
    sizes.push_back(*size);
  }
  return sizes;
}

/// The entry function on builtin tensors: its arguments are the model's inputs.
func::FuncOp Lowering::lowerInputs(func::FuncOp function, OpBuilder &outer) {
  auto target = outer.create<func::FuncOp>(function.getLoc(), function.getName(),
                                           outer.getFunctionType({}, {}));
  target.setVisibility(function.getVisibility());
  Block *entry = target.addEntryBlock();
  b.setInsertionPointToStart(entry);
  plan.begin(function.getLoc());

  llvm::StringMap<OpFoldResult> symbols;
  SmallVector<DictionaryAttr> argumentAttrs;
  for (BlockArgument argument : function.getArguments()) {
    auto type = cast<RankedTensorType>(argument.getType());
    unsigned number = argument.getArgNumber();
    bool isPacked = packedBits(type.getElementType()) != 0;
    auto plain = isPacked ? packedType(type)
                          : RankedTensorType::get(type.getShape(), signless(type.getElementType()));
    Value input = entry->addArgument(plain, argument.getLoc());
    Lowered lowered{input, {}, type.getElementType()};
    NamedAttrList attrs(function.getArgAttrDict(number));
    if (isPacked) {
      lowered = unpacked(*this, argument.getLoc(), input, type);
      attrs.set(onnx::kShapeAttr, b.getDenseI64ArrayAttr(type.getShape()));
    } else {
      lowered.sizes = inputSizes(function, number, input, symbols);
      plan.setInput(argument, input);
    }
    shapes.define(argument, lowered.sizes);
    values[argument] = lowered;
    attrs.set(onnx::kTypeAttr, TypeAttr::get(type.getElementType()));
    argumentAttrs.push_back(attrs.getDictionary(b.getContext()));
  }
  target.setType(outer.getFunctionType(entry->getArgumentTypes(), {}));
  target.setAllArgAttrs(argumentAttrs);
  return target;
}

LogicalResult Lowering::readProducts(Operation &op) {
  products = {};
  Attribute given = op.getAttr(onnx::kProductsAttr);
  if (auto text = dyn_cast_if_present<StringAttr>(given))
    products = text.getValue();
  if (!given || products == onnx::kTf32Products || products == onnx::kF16Sums)
    return success();
  return op.emitError() << "'" << onnx::kProductsAttr << "' is \"" << onnx::kTf32Products
                        << "\" or \"" << onnx::kF16Sums << "\", not " << given;
}

LogicalResult Lowering::lowerNodes(func::FuncOp function) {
  Block &body = function.getBody().front();
  llvm::DenseSet<Operation *> needed = neededOperators(body);
  for (Operation &op : body.without_terminator()) {
    if (isa<onnx::NoneOp, onnx::ConstantOp>(op) || !needed.contains(&op))
      continue;
    if (!shapes.hasOperands(&op)) // after a result that is not computed
      continue;
    plan.setLocation(op.getLoc());
    if (failed(readProducts(op)))
      return failure();
    // Whatever a rule refuses was reported; what is left is what only its sizes' values tell.
    auto lowerable = dyn_cast<LoweringInterface>(op);
    if (!lowerable)
      onnx::reportBug(&op, "it has no lowering");
    if (failed(lowerable.lower(*this)))
      return reportRefusals(function, refusals);
  }
  return success();
}

/// A branch returns the sizes of its results behind them; a body those of what is carried, and whether there is another
/// trip as a number of the plan.
LogicalResult Lowering::lowerReturn(Operation *end, SmallVectorImpl<Value> &results) {
  auto function = cast<func::FuncOp>(end->getParentOp());
  Called how = called.lookup(function.getName());
  if (how.kind == Called::Never)
    return success();
  bool isBody = how.kind == Called::AsBody;
  for (auto [i, result] : llvm::enumerate(end->getOperands()))
    if (isBody ? i >= 1 && i <= how.carried : !function.getResultAttr(i, rt::kTapAttr))
      for (OpFoldResult size : Sizes(*shapes.find(result)))
        results.push_back(plan.value(size));
  if (!isBody)
    return success();
  FailureOr<OpFoldResult> goesOn = shapes.host.number(end, 0);
  if (failed(goesOn))
    return failure();
  results.front() = plan.isTrue(*goesOn);
  return success();
}

LogicalResult Lowering::lowerResults(func::FuncOp function, func::FuncOp target) {
  Operation *terminator = function.getBody().front().getTerminator();
  SmallVector<Value> results;
  SmallVector<DictionaryAttr> resultAttrs;
  for (OpOperand &operand : terminator->getOpOperands()) {
    if (!shapes.find(operand.get()))
      return emitError(function.getLoc()) << "an output's type is not known";
    Lowered result = lowered(operand);
    NamedAttrList attrs(function.getResultAttrDict(operand.getOperandNumber()));
    Type elementType = result.elementType;
    if (packedBits(elementType)) {
      auto type = cast<RankedTensorType>(result.tensor.getType());
      attrs.set(onnx::kShapeAttr, b.getDenseI64ArrayAttr(type.getShape()));
      result = packed(*this, operand.get().getLoc(), result);
    }
    results.push_back(build.inMemory(result.tensor));
    attrs.set(onnx::kTypeAttr, TypeAttr::get(elementType));
    resultAttrs.push_back(attrs.getDictionary(b.getContext()));
  }
  if (failed(lowerReturn(terminator, results)))
    return reportRefusals(function, refusals);
  b.create<func::ReturnOp>(terminator->getLoc(), results);
  resultAttrs.resize(results.size(), b.getDictionaryAttr({}));
  target.setType(b.getFunctionType(target.getArgumentTypes(), ValueRange(results).getTypes()));
  target.setAllResultAttrs(resultAttrs);
  function.erase();
  return success();
}

LogicalResult Lowering::lowerFunction(func::FuncOp function) {
  if (failed(reportUnsupported(function)))
    return failure();
  OpBuilder outer(function);
  func::FuncOp target = lowerInputs(function, outer);
  if (failed(lowerNodes(function)))
    return failure();
  return lowerResults(function, target);
}

} // namespace cameo
