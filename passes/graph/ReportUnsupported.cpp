// Reports everything in a model that cannot be compiled, before anything of it is changed.
//
// The shape rules know what is supported, so the pass infers all sizes. The declared shape of a
// refused node takes the place of an inferred one, so that the nodes behind it are checked, too;
// without a declared shape only their operators and types are.
//
// SPDX-License-Identifier: Apache-2.0
#include "passes/graph/RefusalReport.h"
#include "passes/graph/ShapeWalk.h"

using namespace mlir;

namespace cameo {

#define GEN_PASS_DEF_REPORTUNSUPPORTED
#include "passes/Passes.h.inc"

/// Outputs that are constants, and those that cannot be packed; what nodes and inputs cannot be is
/// said of them.
static void checkOutputs(func::FuncOp function, ShapeWalk &walk) {
  for (OpOperand &operand : function.getBody().front().getTerminator()->getOpOperands()) {
    std::optional<std::string> problem;
    Type type = operand.get().getType();
    if (onnx::constantValue(operand.get()) || isa<onnx::SeqType, onnx::OptType>(type))
      problem = typeProblem(type);
    else if (std::optional<onnx::Sizes> sizes = walk.shapes.find(operand.get()))
      problem = packingProblem(inferredType(operand.get(), *sizes));
    auto name =
        function.getResultAttrOfType<StringAttr>(operand.getOperandNumber(), onnx::kNameAttr);
    if (problem)
      (void)walk.refusals.add(function,
                              "output '" + (name ? name.getValue() : "") + "' " + *problem,
                              onnx::Refusals::Subject::Output);
  }
}

LogicalResult reportUnsupported(func::FuncOp function) {
  ShapeWalk walk(function);
  walk.run();
  checkOutputs(function, walk);
  if (!walk.refusals.problems().empty())
    return reportRefusals(function, walk.refusals);
  // Nodes that are silent for the sake of another one, which must be there.
  onnx::Refusals silent;
  for (Operation &op : function.getBody().front())
    if (walk.refusals.contains(&op))
      (void)silent.add(&op, "the operator is not supported in this form");
  return reportRefusals(function, silent);
}

namespace {
struct ReportUnsupported : impl::ReportUnsupportedBase<ReportUnsupported> {
  void runOnOperation() override {
    markAllAnalysesPreserved();
    if (failed(reportUnsupported(getOperation())))
      signalPassFailure();
  }
};
} // namespace

} // namespace cameo
