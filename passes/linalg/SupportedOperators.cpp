// The table of supported operators, put together from the families' files.
//
// SPDX-License-Identifier: Apache-2.0
#include "passes/linalg/Families.h"

namespace cameo {

const OperatorTable &supportedOperators() {
  static const OperatorTable table = [] {
    OperatorTable operators;
    registerElementwiseOperators(operators);
    registerLayoutOperators(operators);
    registerShapeOperators(operators);
    registerGatherOperators(operators);
    registerResizeOperators(operators);
    registerGridSample(operators);
    registerRoiOperators(operators);
    registerReductionOperators(operators);
    registerNormalizationOperators(operators);
    registerPoolingOperators(operators);
    registerContractionOperators(operators);
    registerConvolutionOperators(operators);
    registerQuantizationOperators(operators);
    registerIntegerProducts(operators);
    return operators;
  }();
  return table;
}

} // namespace cameo
