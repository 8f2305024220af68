// How messages name nodes.
//
// SPDX-License-Identifier: Apache-2.0
#include "dialects/onnx/shape/NodeText.h"

#include "dialects/onnx/Onnx.h"

#include "llvm/Support/ErrorHandling.h"
#include "llvm/Support/Format.h"

using namespace mlir;

namespace cameo::onnx {

std::optional<StringRef> nodeName(Operation *op) {
  if (auto loc = op->getLoc()->findInstanceOf<NameLoc>())
    return loc.getName().getValue();
  return std::nullopt;
}

StringRef nodeText(Operation *op) { return nodeName(op).value_or("(unnamed)"); }

StringRef operatorName(Operation *op) {
  return isa<CallIfOp>(op) ? "If" : isa<CallLoopOp>(op) ? "Loop" : op->getName().stripDialect();
}

std::string operatorText(Operation *op) {
  auto custom = dyn_cast<CustomOp>(op);
  if (!custom) {
    std::string name = operatorName(op).str();
    auto model = op->getParentOfType<ModuleOp>()->getAttrOfType<DictionaryAttr>(kModelAttr);
    auto opset = model ? model.getAs<IntegerAttr>("opset") : IntegerAttr();
    return opset ? name + ", opset " + std::to_string(opset.getInt()) : name;
  }
  std::string domain = custom.getDomain().str();
  return (domain.empty() ? "" : domain + ".") + custom.getOpType().str() + ", opset " +
         std::to_string(custom.getVersion());
}

std::string inputText(Operation *op, unsigned operand) {
  const OpSchema *schema = schemaOf(op);
  if (!schema || schema->inputs.empty())
    return "input " + std::to_string(operand);
  const Formal &formal = schema->input(operand);
  std::string name = (Twine("input '") + formal.name + "'").str();
  if (formal.option != Option::Variadic)
    return name;
  return name + " " + std::to_string(operand + 1 - schema->inputs.size());
}

std::string numberText(double number) {
  std::string result;
  llvm::raw_string_ostream(result) << llvm::format("%g", number);
  return result;
}

void reportBug(Operation *op, const Twine &what) {
  llvm::report_fatal_error("node '" + nodeText(op) + "' (" + op->getName().getStringRef() +
                           "): " + what);
}

} // namespace cameo::onnx
