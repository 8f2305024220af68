// Reports everything in a model that cannot be compiled, before anything of it is changed.
//
// What is supported the shape rules know, so the pass infers all sizes. A node that is refused is
// stood in for by its declared shape, so that those behind it are looked at, too; without such a
// shape they are looked at as far as operators and types go.
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
