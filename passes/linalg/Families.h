// The operator families, one file (or a few) each.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "passes/linalg/Lowering.h"

namespace cameo {

void registerElementwiseOperators(OperatorTable &table);   // unary, binary, casts, activations
void registerLayoutOperators(OperatorTable &table);        // transpose, concat, slice, pad ...
void registerShapeOperators(OperatorTable &table);         // Shape, Reshape, Constant, Range ...
void registerGatherOperators(OperatorTable &table);        // Gather*, OneHot, Trilu and others
void registerResizeOperators(OperatorTable &table);        // Resize
void registerGridSample(OperatorTable &table);             // GridSample
void registerRoiOperators(OperatorTable &table);           // RoiAlign, MaxRoiPool
void registerReductionOperators(OperatorTable &table);     // Reduce*, ArgMax, CumSum, Softmax ...
void registerNormalizationOperators(OperatorTable &table); // *Normalization, LRN
void registerPoolingOperators(OperatorTable &table);       // pools
void registerContractionOperators(OperatorTable &table);   // MatMul, Gemm, Einsum
void registerConvolutionOperators(OperatorTable &table);   // Conv, ConvTranspose
void registerQuantizationOperators(OperatorTable &table);  // QuantizeLinear, DequantizeLinear ...
void registerIntegerProducts(OperatorTable &table);        // ConvInteger, QLinearMatMul ...

// Parts of families in files of their own, called by the family's function.
void registerSoftmaxOperators(OperatorTable &table);
void registerAttention(OperatorTable &table);
void registerEinsum(OperatorTable &table);
void registerConvTranspose(OperatorTable &table);
void registerDeformConv(OperatorTable &table);

} // namespace cameo
