// The table of shape rules.
//
// SPDX-License-Identifier: Apache-2.0
#include "dialects/onnx/shape/ShapeRules.h"

#include "dialects/onnx/shape/NodeText.h"

using namespace mlir;

namespace cameo::onnx {

const RuleTable &shapeRules() {
  static const RuleTable table = [] {
    RuleTable rules;
    registerElementwiseRules(rules);
    registerContractionRules(rules);
    registerAttentionRules(rules);
    registerWindowRules(rules);
    registerNormalizationRules(rules);
    registerReductionRules(rules);
    registerLayoutRules(rules);
    registerSlicingRules(rules);
    registerReshapeRules(rules);
    registerGeneratorRules(rules);
    registerGatherRules(rules);
    registerResizeRules(rules);
    registerSamplingRules(rules);
    registerQuantizationRules(rules);
    return rules;
  }();
  return table;
}

const OperatorRules *rulesOf(Operation *op) {
  auto found = shapeRules().find(op->getName().stripDialect());
  return found == shapeRules().end() ? nullptr : &found->second;
}

FailureOr<SmallVector<Sizes>> inferSizes(Shapes &shapes, Operation *op) {
  const OperatorRules *rules = rulesOf(op);
  if (!rules)
    reportBug(op, "no rule says what sizes its results have");
  FailureOr<SmallVector<Sizes>> results = rules->infer(shapes, op);
  // A report says nothing where it is silent about a node.
  if (failed(results))
    return shapes.sizes.refuse(op, "not supported in this form");
  return results;
}

} // namespace cameo::onnx
