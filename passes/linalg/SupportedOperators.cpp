// All lowerings, from the families' files.
//
// SPDX-License-Identifier: Apache-2.0
#include "passes/linalg/Families.h"

#include "passes/linalg/Interfaces.cpp.inc"

using namespace mlir;

namespace cameo {

void attachLowerings(MLIRContext &context) {
  LoweringRows rows(context);
  registerElementwiseOperators(rows);
  registerLayoutOperators(rows);
  registerShapeOperators(rows);
  registerGatherOperators(rows);
  registerScatterOperators(rows);
  registerSelectionOperators(rows);
  registerResizeOperators(rows);
  registerGridSample(rows);
  registerRoiOperators(rows);
  registerReductionOperators(rows);
  registerNormalizationOperators(rows);
  registerPoolingOperators(rows);
  registerContractionOperators(rows);
  registerConvolutionOperators(rows);
  registerQuantizationOperators(rows);
  registerIntegerProducts(rows);
  registerCallLowerings(rows);
  registerRandomLowerings(rows);
}

} // namespace cameo
