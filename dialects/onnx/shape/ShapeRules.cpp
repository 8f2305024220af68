// All shape rules, and the question to them.
//
// SPDX-License-Identifier: Apache-2.0
#include "dialects/onnx/shape/ShapeRules.h"

#include "dialects/onnx/shape/NodeText.h"

#include "dialects/onnx/Interfaces.cpp.inc"

using namespace mlir;

namespace cameo::onnx {

void attachShapeRules(MLIRContext &context) {
  ShapeRows rows(context);
  registerElementwiseRules(rows);
  registerContractionRules(rows);
  registerAttentionRules(rows);
  registerRecurrenceRules(rows);
  registerWindowRules(rows);
  registerNormalizationRules(rows);
  registerReductionRules(rows);
  registerLayoutRules(rows);
  registerSlicingRules(rows);
  registerReshapeRules(rows);
  registerGeneratorRules(rows);
  registerGatherRules(rows);
  registerSelectionRules(rows);
  registerResizeRules(rows);
  registerSamplingRules(rows);
  registerQuantizationRules(rows);
  registerCallRules(rows);
  registerRandomRules(rows);
}

FailureOr<SmallVector<Sizes>> inferSizes(Shapes &shapes, Operation *op) {
  auto rule = dyn_cast<ShapeRuleInterface>(op);
  if (!rule)
    reportBug(op, "no rule says what sizes its results have");
  FailureOr<SmallVector<Sizes>> results = rule.inferSizes(shapes);
  // A report says nothing where it is silent about a node.
  if (failed(results))
    return shapes.sizes.refuse(op, "not supported in this form");
  return results;
}

} // namespace cameo::onnx
