// The operator families, one file (or a few) each.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "passes/linalg/Lowering.h"

namespace cameo {

void registerElementwiseOperators(LoweringRows &rows); // unary, binary, casts, activations
void registerLayoutOperators(LoweringRows &rows);      // transpose, concat, slice, pad ...
void registerShapeOperators(LoweringRows &rows);       // Shape, Reshape, Constant, Range ...
void registerGatherOperators(LoweringRows &rows);      // Gather*, OneHot, Trilu and others
void registerScatterOperators(LoweringRows &rows);     // ScatterElements, ScatterND
void registerSelectionOperators(LoweringRows &rows);   // TopK, NonZero, Compress, Unique and others
void registerResizeOperators(LoweringRows &rows);      // Resize
void registerGridSample(LoweringRows &rows);           // GridSample
void registerRoiOperators(LoweringRows &rows);         // RoiAlign, MaxRoiPool
void registerReductionOperators(LoweringRows &rows);   // Reduce*, ArgMax, CumSum, Softmax ...
void registerNormalizationOperators(LoweringRows &rows); // *Normalization, LRN
void registerPoolingOperators(LoweringRows &rows);       // pools
void registerContractionOperators(LoweringRows &rows);   // MatMul, Gemm, Einsum
void registerConvolutionOperators(LoweringRows &rows);   // Conv, ConvTranspose
void registerQuantizationOperators(LoweringRows &rows);  // QuantizeLinear, DequantizeLinear ...
void registerIntegerProducts(LoweringRows &rows);        // ConvInteger, QLinearMatMul ...
void registerCallLowerings(LoweringRows &rows);          // CallIf, CallLoop
void registerRandomLowerings(LoweringRows &rows);        // Draw, RandomState, RandomTrip

// Parts of families in files of their own, called by the family's function.
void registerSoftmaxOperators(LoweringRows &rows);
void registerAttention(LoweringRows &rows);
void registerEinsum(LoweringRows &rows);
void registerConvTranspose(LoweringRows &rows);
void registerDeformConv(LoweringRows &rows);
void registerRecurrence(LoweringRows &rows);
void registerSuppression(LoweringRows &rows); // NonMaxSuppression

} // namespace cameo
