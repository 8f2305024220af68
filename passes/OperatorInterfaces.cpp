// The passes' knowledge of ONNX operators: the one place where layers attach their rows to ops, and the check that
// every operator has those that it needs.
//
// SPDX-License-Identifier: Apache-2.0
#include "passes/OperatorInterfaces.h"

#include "dialects/onnx/Interfaces.h"
#include "passes/expand/Expander.h"
#include "passes/graph/ConstantFolding.h"
#include "passes/graph/ControlFlow.h"
#include "passes/linalg/Lowering.h"
#include "passes/precision/NumberRanges.h"

using namespace mlir;

namespace cameo {

/// True of operators that have a tensor of floats, which may become one of 16 bits.
static bool hasFloats(const onnx::OpSchema &schema) {
  auto takesFP32 = [](const onnx::Formal &formal) {
    return formal.types().tensor >> unsigned(onnx::ElementKind::F32) & 1;
  };
  return llvm::any_of(schema.inputs, takesFP32) || llvm::any_of(schema.outputs, takesFP32);
}

/// The fault of an operator's rows; empty where there is none.
static StringRef problemOf(OperationName op) {
  bool hasShape = op.hasInterface<onnx::ShapeRuleInterface>();
  bool isLowered = op.hasInterface<LoweringInterface>();
  bool isExpanded = op.hasInterface<ExpansionInterface>();
  // What is folded where no run decides is refused where one does.
  bool isRefused =
      op.hasInterface<onnx::NearestFormInterface>() || op.hasInterface<ControlFlowInterface>();
  if (isLowered && !hasShape && op.getTypeID() != TypeID::get<onnx::ConstantOp>())
    return "has a lowering, but no shape rule";
  if (hasShape && !isLowered)
    return "has a shape rule, but no lowering";
  const ExpansionRow *expansion = onnx::rowOf<ExpansionModel>(op);
  if (expansion && expansion->isPartial) {
    if (!isLowered)
      return "has an expansion that may leave it, but no lowering";
    isExpanded = false;
  }
  if (isLowered + isExpanded + isRefused > 1)
    return "has more than one of a lowering, an expansion and a nearest form";
  if (isLowered + isExpanded + isRefused == 0)
    return "has neither a lowering nor an expansion, nor a nearest form that its refusal tells";
  if (hasShape && !op.hasInterface<PrecisionInterface>() &&
      hasFloats(*onnx::lookupSchema(op.stripDialect())))
    return "has a lowering and takes floats, but has no row of the precision policy";
  return "";
}

std::vector<OperationName> operatorsOf(MLIRContext &context) {
  std::vector<OperationName> ops;
  for (OperationName op : context.getRegisteredOperations())
    if (op.hasTrait<onnx::SchemaVerified>())
      ops.push_back(op);
  llvm::sort(ops,
             [](OperationName a, OperationName b) { return a.getStringRef() < b.getStringRef(); });
  return ops;
}

std::string incompleteOperators(MLIRContext &context) {
  std::string lines;
  for (OperationName op : context.getRegisteredOperations()) // in no order, for speed
    if (op.hasTrait<onnx::SchemaVerified>())
      if (StringRef problem = problemOf(op); !problem.empty())
        lines += (op.getStringRef() + " " + problem + "\n").str();
  return lines;
}

void registerOperatorInterfaces(DialectRegistry &registry) {
  registry.addExtension(+[](MLIRContext *context, onnx::OnnxDialect *) {
    // A context may be given a registry twice.
    auto relu = RegisteredOperationName::lookup(TypeID::get<onnx::ReluOp>(), context);
    if (relu->hasInterface<LoweringInterface>())
      return;
    attachControlFlow(*context);
    attachFolds(*context);
    attachSimplifications(*context);
    attachExpansions(*context);
    attachPrecisionRoles(*context);
    attachLowerings(*context);
    if (std::string lines = incompleteOperators(*context); !lines.empty())
      llvm::report_fatal_error(Twine("operators are incomplete:\n") + lines,
                               /*gen_crash_diag=*/false);
  });
}

void loadOperators(MLIRContext &context) {
  DialectRegistry registry;
  registerOperatorInterfaces(registry);
  context.appendDialectRegistry(registry);
  context.loadDialect<onnx::OnnxDialect>();
}

} // namespace cameo
