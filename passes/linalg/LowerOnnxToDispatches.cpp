// Lowers the entry function from ONNX operators to dispatches and plan arithmetic.
//
//   %0 = "onnx.Relu"(%x)   ==>   %0 = kernel.dispatch ins(%x) outs(%e) { linalg.generic ... }
//
// Nodes are visited in order; one that cannot be lowered, or that uses the result of such a node,
// is recorded or passed over, and all records come in one error.
//
// SPDX-License-Identifier: Apache-2.0
#include "passes/linalg/Lowering.h"

using namespace mlir;

namespace cameo {

#define GEN_PASS_DEF_LOWERONNXTODISPATCHES
#include "passes/Passes.h.inc"

static std::string nodeName(Operation *op) {
  if (auto loc = op->getLoc()->findInstanceOf<NameLoc>())
    return loc.getName().str();
  return "(unnamed)";
}

static std::string operatorName(Operation *op) {
  if (auto custom = dyn_cast<onnx::CustomOp>(op)) {
    std::string domain = custom.getDomain().str();
    return (domain.empty() ? "" : domain + ".") + custom.getOpType().str();
  }
  return op->getName().stripDialect().str();
}

/// Whether kernels know the element type; complaint otherwise.
static std::optional<std::string> typeProblem(Type type) {
  auto tensor = dyn_cast<TensorType>(type);
  if (isa<NoneType>(type))
    return std::nullopt;
  std::string text;
  llvm::raw_string_ostream out(text);
  if (!tensor) {
    out << "values of type " << type << "; tensors only";
    return text;
  }
  Type element = tensor.getElementType();
  bool known = element.isF16() || element.isBF16() || element.isF32() || element.isF64();
  if (auto integer = dyn_cast<IntegerType>(element))
    known = llvm::is_contained({1u, 8u, 16u, 32u, 64u}, integer.getWidth());
  if (known)
    return std::nullopt;
  out << "element type " << element
      << "; nearest supported: bool, (u)int8 to (u)int64, float16, bfloat16, float, double";
  return text;
}

LogicalResult Lowering::reportUnsupported(func::FuncOp function) {
  if (problems.empty())
    return success();
  auto diagnostic = emitError(function.getLoc())
                    << "unsupported: " << problems.size() << " node"
                    << (problems.size() == 1 ? "" : "s") << " cannot be compiled";
  for (auto &[op, reason] : problems) {
    if (op == function)
      diagnostic.attachNote(op->getLoc()) << reason;
    else
      diagnostic.attachNote(op->getLoc())
          << "node '" << nodeName(op) << "' (" << operatorName(op) << "): " << reason;
  }
  return failure();
}

/// The entry function on builtin tensors: its arguments are the model's inputs.
func::FuncOp Lowering::lowerInputs(func::FuncOp function, OpBuilder &outer) {
  Block &source = function.getBody().front();
  auto target = outer.create<func::FuncOp>(function.getLoc(), function.getName(),
                                           outer.getFunctionType({}, {}));
  Block *entry = target.addEntryBlock();
  b.setInsertionPointToStart(entry);
  hostLoc = function.getLoc();

  // Inputs: sizes with one symbolic name are one value, the first one's.
  llvm::StringMap<OpFoldResult> symbols;
  SmallVector<Type> argumentTypes;
  SmallVector<DictionaryAttr> argumentAttrs;
  for (BlockArgument argument : source.getArguments()) {
    auto type = dyn_cast<RankedTensorType>(argument.getType());
    unsigned number = argument.getArgNumber();
    StringAttr name = function.getArgAttrOfType<StringAttr>(number, onnx::kNameAttr);
    if (auto problem = typeProblem(argument.getType()); problem || !type) {
      (void)unsupported(function, "input '" + (name ? name.getValue() : "") + "' has " +
                                      (problem ? *problem : "no known rank"));
      continue;
    }
    auto plain = RankedTensorType::get(type.getShape(), signless(type.getElementType()));
    Value input = entry->addArgument(plain, argument.getLoc());
    auto dims = function.getArgAttrOfType<ArrayAttr>(number, onnx::kDimsAttr);
    Sizes sizes;
    for (int64_t i = 0; i < type.getRank(); ++i) {
      if (!type.isDynamicDim(i)) {
        sizes.push_back(index(type.getDimSize(i)));
        continue;
      }
      auto symbol = dims ? dyn_cast<StringAttr>(dims[i]) : StringAttr();
      OpFoldResult fresh, *size = &fresh;
      if (symbol && !symbol.empty())
        size = &symbols[symbol.getValue()];
      if (!*size)
        *size = b.create<tensor::DimOp>(argument.getLoc(), input, i).getResult();
      if (symbol && !symbol.empty())
        symbolOf[cast<Value>(*size)] = symbol;
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

void Lowering::lowerNodes(Block &source, llvm::function_ref<void(Operation *)> after) {
  const OperatorTable &table = supportedOperators();
  for (Operation &op : source.without_terminator()) {
    if (isa<onnx::NoneOp, onnx::ConstantOp>(op) || op.use_empty())
      continue;
    auto entryOf = table.find(op.getName().stripDialect());
    if (entryOf == table.end() || isa<onnx::CustomOp>(op)) {
      (void)unsupported(&op, "unsupported operator; see the list of supported operators");
      after(&op);
      continue;
    }
    std::optional<std::string> problem;
    SmallVector<Type> types(op.getOperandTypes());
    llvm::append_range(types, op.getResultTypes());
    for (Type type : types)
      if (!problem)
        problem = typeProblem(type);
    if (problem) {
      (void)unsupported(&op, *problem);
      after(&op);
      continue;
    }
    bool ready = llvm::all_of(op.getOperands(), [&](Value operand) {
      return onnx::isAbsent(operand) || onnx::constantValue(operand) || values.count(operand);
    });
    if (!ready) { // after a node that was recorded
      after(&op);
      continue;
    }
    hostLoc = op.getLoc();
    if (failed(entryOf->second.lower(&op, *this)) && !problems.count(&op))
      (void)unsupported(&op, "not supported in this form");
    after(&op);
  }
}

LogicalResult Lowering::lowerFunction(func::FuncOp function) {
  OpBuilder outer(function);
  Block &source = function.getBody().front();
  func::FuncOp target = lowerInputs(function, outer);
  lowerNodes(source, [](Operation *) {});

  Operation *terminator = source.getTerminator();
  SmallVector<Value> results;
  SmallVector<DictionaryAttr> resultAttrs;
  for (OpOperand &operand : terminator->getOpOperands()) {
    if (!onnx::constantValue(operand.get()) && !values.count(operand.get()))
      continue;
    Lowered result = lowered(operand.get());
    results.push_back(result.tensor);
    NamedAttrList attrs(function.getResultAttrDict(operand.getOperandNumber()));
    attrs.set("onnx.type", TypeAttr::get(result.elementType));
    resultAttrs.push_back(attrs.getDictionary(b.getContext()));
  }
  if (failed(reportUnsupported(function)))
    return failure();
  b.create<func::ReturnOp>(terminator->getLoc(), results);
  target.setType(outer.getFunctionType(target.getArgumentTypes(), ValueRange(results).getTypes()));
  target.setAllResultAttrs(resultAttrs);
  function.erase();
  return success();
}

namespace {
struct LowerOnnxToDispatches : impl::LowerOnnxToDispatchesBase<LowerOnnxToDispatches> {
  void runOnOperation() override {
    SmallVector<func::FuncOp> functions(getOperation().getOps<func::FuncOp>());
    Lowering lowering(getOperation());
    for (func::FuncOp function : functions)
      if (failed(lowering.lowerFunction(function)))
        return signalPassFailure();
    // What only shapes needed has no use any more.
    for (auto function : getOperation().getOps<func::FuncOp>())
      for (Operation &op : llvm::make_early_inc_range(llvm::reverse(function.getBody().front())))
        if (isOpTriviallyDead(&op))
          op.erase();
  }
};
} // namespace

} // namespace cameo
