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
    if (onnx::constantValue(operand.get()))
      problem = typeProblem(operand.get().getType());
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
  return reportRefusals(function, walk.refusals);
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
