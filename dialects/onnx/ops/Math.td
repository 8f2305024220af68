// SPDX-License-Identifier: Apache-2.0
// Written by tools/gen-onnx-ops.py from onnx 1.21.0; run it again instead of editing.

def ONNX_AbsOp : ONNX_Op<"Abs", 13, [Pure]> {
  let arguments = (ins AnyType:$X);
  let results = (outs AnyType:$Y);
}

def ONNX_AcosOp : ONNX_Op<"Acos", 22, [Pure]> {
  let arguments = (ins AnyType:$input);
  let results = (outs AnyType:$output);
}

def ONNX_AcoshOp : ONNX_Op<"Acosh", 22, [Pure]> {
  let arguments = (ins AnyType:$input);
  let results = (outs AnyType:$output);
}

def ONNX_AddOp : ONNX_Op<"Add", 14, [Pure]> {
  let arguments = (ins AnyType:$A, AnyType:$B);
  let results = (outs AnyType:$C);
}

def ONNX_AsinOp : ONNX_Op<"Asin", 22, [Pure]> {
  let arguments = (ins AnyType:$input);
  let results = (outs AnyType:$output);
}

def ONNX_AsinhOp : ONNX_Op<"Asinh", 22, [Pure]> {
  let arguments = (ins AnyType:$input);
  let results = (outs AnyType:$output);
}

def ONNX_AtanOp : ONNX_Op<"Atan", 22, [Pure]> {
  let arguments = (ins AnyType:$input);
  let results = (outs AnyType:$output);
}

def ONNX_AtanhOp : ONNX_Op<"Atanh", 22, [Pure]> {
  let arguments = (ins AnyType:$input);
  let results = (outs AnyType:$output);
}

def ONNX_BlackmanWindowOp : ONNX_Op<"BlackmanWindow", 17, [Pure]> {
  let arguments = (ins AnyType:$size, DefaultValuedOptionalAttr<I64Attr, "1">:$output_datatype,
                       DefaultValuedOptionalAttr<I64Attr, "1">:$periodic);
  let results = (outs AnyType:$output);
}

def ONNX_CeilOp : ONNX_Op<"Ceil", 13, [Pure]> {
  let arguments = (ins AnyType:$X);
  let results = (outs AnyType:$Y);
}

def ONNX_CeluOp : ONNX_Op<"Celu", 12, [Pure]> {
  let arguments = (ins AnyType:$X, DefaultValuedOptionalAttr<F32Attr, "1.0f">:$alpha);
  let results = (outs AnyType:$Y);
}

def ONNX_ClipOp : ONNX_Op<"Clip", 13, [Pure]> {
  let arguments = (ins AnyType:$input, AnyType:$min, AnyType:$max);
  let results = (outs AnyType:$output);
}

def ONNX_CosOp : ONNX_Op<"Cos", 22, [Pure]> {
  let arguments = (ins AnyType:$input);
  let results = (outs AnyType:$output);
}

def ONNX_CoshOp : ONNX_Op<"Cosh", 22, [Pure]> {
  let arguments = (ins AnyType:$input);
  let results = (outs AnyType:$output);
}

def ONNX_CumProdOp : ONNX_Op<"CumProd", 26, [Pure]> {
  let arguments = (ins AnyType:$x, AnyType:$axis,
                       DefaultValuedOptionalAttr<I64Attr, "0">:$exclusive,
                       DefaultValuedOptionalAttr<I64Attr, "0">:$reverse);
  let results = (outs AnyType:$y);
}

def ONNX_CumSumOp : ONNX_Op<"CumSum", 14, [Pure]> {
  let arguments = (ins AnyType:$x, AnyType:$axis,
                       DefaultValuedOptionalAttr<I64Attr, "0">:$exclusive,
                       DefaultValuedOptionalAttr<I64Attr, "0">:$reverse);
  let results = (outs AnyType:$y);
}

def ONNX_DFTOp : ONNX_Op<"DFT", 20, [Pure]> {
  let arguments = (ins AnyType:$input, AnyType:$dft_length, AnyType:$axis,
                       DefaultValuedOptionalAttr<I64Attr, "0">:$inverse,
                       DefaultValuedOptionalAttr<I64Attr, "0">:$onesided);
  let results = (outs AnyType:$output);
}

def ONNX_DetOp : ONNX_Op<"Det", 22, [Pure]> {
  let arguments = (ins AnyType:$X);
  let results = (outs AnyType:$Y);
}

def ONNX_DivOp : ONNX_Op<"Div", 14, [Pure]> {
  let arguments = (ins AnyType:$A, AnyType:$B);
  let results = (outs AnyType:$C);
}

def ONNX_EinsumOp : ONNX_Op<"Einsum", 12, [Pure]> {
  let arguments = (ins Variadic<AnyType>:$Inputs, StrAttr:$equation);
  let results = (outs AnyType:$Output);
}

def ONNX_EluOp : ONNX_Op<"Elu", 22, [Pure]> {
  let arguments = (ins AnyType:$X, DefaultValuedOptionalAttr<F32Attr, "1.0f">:$alpha);
  let results = (outs AnyType:$Y);
}

def ONNX_ErfOp : ONNX_Op<"Erf", 13, [Pure]> {
  let arguments = (ins AnyType:$input);
  let results = (outs AnyType:$output);
}

def ONNX_ExpOp : ONNX_Op<"Exp", 13, [Pure]> {
  let arguments = (ins AnyType:$input);
  let results = (outs AnyType:$output);
}

def ONNX_ExpandOp : ONNX_Op<"Expand", 13, [Pure]> {
  let arguments = (ins AnyType:$input, AnyType:$shape);
  let results = (outs AnyType:$output);
}

def ONNX_FloorOp : ONNX_Op<"Floor", 13, [Pure]> {
  let arguments = (ins AnyType:$X);
  let results = (outs AnyType:$Y);
}

def ONNX_GeluOp : ONNX_Op<"Gelu", 20, [Pure]> {
  let arguments = (ins AnyType:$X, DefaultValuedOptionalAttr<StrAttr, "\"none\"">:$approximate);
  let results = (outs AnyType:$Y);
}

def ONNX_GemmOp : ONNX_Op<"Gemm", 13, [Pure]> {
  let arguments = (ins AnyType:$A, AnyType:$B, AnyType:$C,
                       DefaultValuedOptionalAttr<F32Attr, "1.0f">:$alpha,
                       DefaultValuedOptionalAttr<F32Attr, "1.0f">:$beta,
                       DefaultValuedOptionalAttr<I64Attr, "0">:$transA,
                       DefaultValuedOptionalAttr<I64Attr, "0">:$transB);
  let results = (outs AnyType:$Y);
}

def ONNX_HammingWindowOp : ONNX_Op<"HammingWindow", 17, [Pure]> {
  let arguments = (ins AnyType:$size, DefaultValuedOptionalAttr<I64Attr, "1">:$output_datatype,
                       DefaultValuedOptionalAttr<I64Attr, "1">:$periodic);
  let results = (outs AnyType:$output);
}

def ONNX_HannWindowOp : ONNX_Op<"HannWindow", 17, [Pure]> {
  let arguments = (ins AnyType:$size, DefaultValuedOptionalAttr<I64Attr, "1">:$output_datatype,
                       DefaultValuedOptionalAttr<I64Attr, "1">:$periodic);
  let results = (outs AnyType:$output);
}

def ONNX_HardSigmoidOp : ONNX_Op<"HardSigmoid", 22, [Pure]> {
  let arguments = (ins AnyType:$X, DefaultValuedOptionalAttr<F32Attr, "0.200000003f">:$alpha,
                       DefaultValuedOptionalAttr<F32Attr, "0.5f">:$beta);
  let results = (outs AnyType:$Y);
}

def ONNX_HardSwishOp : ONNX_Op<"HardSwish", 22, [Pure]> {
  let arguments = (ins AnyType:$X);
  let results = (outs AnyType:$Y);
}

def ONNX_HardmaxOp : ONNX_Op<"Hardmax", 13, [Pure]> {
  let arguments = (ins AnyType:$input, DefaultValuedOptionalAttr<I64Attr, "-1">:$axis);
  let results = (outs AnyType:$output);
}

def ONNX_LeakyReluOp : ONNX_Op<"LeakyRelu", 16, [Pure]> {
  let arguments = (ins AnyType:$X, DefaultValuedOptionalAttr<F32Attr, "0.00999999978f">:$alpha);
  let results = (outs AnyType:$Y);
}

def ONNX_LogOp : ONNX_Op<"Log", 13, [Pure]> {
  let arguments = (ins AnyType:$input);
  let results = (outs AnyType:$output);
}

def ONNX_LogSoftmaxOp : ONNX_Op<"LogSoftmax", 13, [Pure]> {
  let arguments = (ins AnyType:$input, DefaultValuedOptionalAttr<I64Attr, "-1">:$axis);
  let results = (outs AnyType:$output);
}

def ONNX_MatMulOp : ONNX_Op<"MatMul", 13, [Pure]> {
  let arguments = (ins AnyType:$A, AnyType:$B);
  let results = (outs AnyType:$Y);
}

def ONNX_MatMulIntegerOp : ONNX_Op<"MatMulInteger", 10, [Pure]> {
  let arguments = (ins AnyType:$A, AnyType:$B, AnyType:$a_zero_point, AnyType:$b_zero_point);
  let results = (outs AnyType:$Y);
}

def ONNX_MaxOp : ONNX_Op<"Max", 13, [Pure]> {
  let arguments = (ins Variadic<AnyType>:$data_0);
  let results = (outs AnyType:$max);
}

def ONNX_MeanOp : ONNX_Op<"Mean", 13, [Pure]> {
  let arguments = (ins Variadic<AnyType>:$data_0);
  let results = (outs AnyType:$mean);
}

def ONNX_MelWeightMatrixOp : ONNX_Op<"MelWeightMatrix", 17, [Pure]> {
  let arguments = (ins AnyType:$num_mel_bins, AnyType:$dft_length, AnyType:$sample_rate,
                       AnyType:$lower_edge_hertz, AnyType:$upper_edge_hertz,
                       DefaultValuedOptionalAttr<I64Attr, "1">:$output_datatype);
  let results = (outs AnyType:$output);
}

def ONNX_MinOp : ONNX_Op<"Min", 13, [Pure]> {
  let arguments = (ins Variadic<AnyType>:$data_0);
  let results = (outs AnyType:$min);
}

def ONNX_MishOp : ONNX_Op<"Mish", 22, [Pure]> {
  let arguments = (ins AnyType:$X);
  let results = (outs AnyType:$Y);
}

def ONNX_ModOp : ONNX_Op<"Mod", 13, [Pure]> {
  let arguments = (ins AnyType:$A, AnyType:$B, DefaultValuedOptionalAttr<I64Attr, "0">:$fmod);
  let results = (outs AnyType:$C);
}

def ONNX_MulOp : ONNX_Op<"Mul", 14, [Pure]> {
  let arguments = (ins AnyType:$A, AnyType:$B);
  let results = (outs AnyType:$C);
}

def ONNX_NegOp : ONNX_Op<"Neg", 13, [Pure]> {
  let arguments = (ins AnyType:$X);
  let results = (outs AnyType:$Y);
}

def ONNX_NegativeLogLikelihoodLossOp : ONNX_Op<"NegativeLogLikelihoodLoss", 22, [Pure]> {
  let arguments = (ins AnyType:$input, AnyType:$target, AnyType:$weight,
                       OptionalAttr<I64Attr>:$ignore_index,
                       DefaultValuedOptionalAttr<StrAttr, "\"mean\"">:$reduction);
  let results = (outs AnyType:$loss);
}

def ONNX_PReluOp : ONNX_Op<"PRelu", 16, [Pure]> {
  let arguments = (ins AnyType:$X, AnyType:$slope);
  let results = (outs AnyType:$Y);
}

def ONNX_PowOp : ONNX_Op<"Pow", 15, [Pure]> {
  let arguments = (ins AnyType:$X, AnyType:$Y);
  let results = (outs AnyType:$Z);
}

def ONNX_QLinearMatMulOp : ONNX_Op<"QLinearMatMul", 21, [Pure]> {
  let arguments = (ins AnyType:$a, AnyType:$a_scale, AnyType:$a_zero_point, AnyType:$b,
                       AnyType:$b_scale, AnyType:$b_zero_point, AnyType:$y_scale,
                       AnyType:$y_zero_point);
  let results = (outs AnyType:$y);
}

def ONNX_ReciprocalOp : ONNX_Op<"Reciprocal", 13, [Pure]> {
  let arguments = (ins AnyType:$X);
  let results = (outs AnyType:$Y);
}

def ONNX_ReluOp : ONNX_Op<"Relu", 14, [Pure]> {
  let arguments = (ins AnyType:$X);
  let results = (outs AnyType:$Y);
}

def ONNX_RoundOp : ONNX_Op<"Round", 22, [Pure]> {
  let arguments = (ins AnyType:$X);
  let results = (outs AnyType:$Y);
}

def ONNX_STFTOp : ONNX_Op<"STFT", 17, [Pure]> {
  let arguments = (ins AnyType:$signal, AnyType:$frame_step, AnyType:$window,
                       AnyType:$frame_length, DefaultValuedOptionalAttr<I64Attr, "1">:$onesided);
  let results = (outs AnyType:$output);
}

def ONNX_SeluOp : ONNX_Op<"Selu", 22, [Pure]> {
  let arguments = (ins AnyType:$X, DefaultValuedOptionalAttr<F32Attr, "1.67326319f">:$alpha,
                       DefaultValuedOptionalAttr<F32Attr, "1.05070102f">:$gamma);
  let results = (outs AnyType:$Y);
}

def ONNX_SigmoidOp : ONNX_Op<"Sigmoid", 13, [Pure]> {
  let arguments = (ins AnyType:$X);
  let results = (outs AnyType:$Y);
}

def ONNX_SignOp : ONNX_Op<"Sign", 13, [Pure]> {
  let arguments = (ins AnyType:$input);
  let results = (outs AnyType:$output);
}

def ONNX_SinOp : ONNX_Op<"Sin", 22, [Pure]> {
  let arguments = (ins AnyType:$input);
  let results = (outs AnyType:$output);
}

def ONNX_SinhOp : ONNX_Op<"Sinh", 22, [Pure]> {
  let arguments = (ins AnyType:$input);
  let results = (outs AnyType:$output);
}

def ONNX_SoftmaxOp : ONNX_Op<"Softmax", 13, [Pure]> {
  let arguments = (ins AnyType:$input, DefaultValuedOptionalAttr<I64Attr, "-1">:$axis);
  let results = (outs AnyType:$output);
}

def ONNX_SoftmaxCrossEntropyLossOp : ONNX_Op<"SoftmaxCrossEntropyLoss", 13, [Pure]> {
  let arguments = (ins AnyType:$scores, AnyType:$labels, AnyType:$weights,
                       OptionalAttr<I64Attr>:$ignore_index,
                       DefaultValuedOptionalAttr<StrAttr, "\"mean\"">:$reduction);
  let results = (outs AnyType:$output, AnyType:$log_prob);
}

def ONNX_SoftplusOp : ONNX_Op<"Softplus", 22, [Pure]> {
  let arguments = (ins AnyType:$X);
  let results = (outs AnyType:$Y);
}

def ONNX_SoftsignOp : ONNX_Op<"Softsign", 22, [Pure]> {
  let arguments = (ins AnyType:$input);
  let results = (outs AnyType:$output);
}

def ONNX_SqrtOp : ONNX_Op<"Sqrt", 13, [Pure]> {
  let arguments = (ins AnyType:$X);
  let results = (outs AnyType:$Y);
}

def ONNX_SubOp : ONNX_Op<"Sub", 14, [Pure]> {
  let arguments = (ins AnyType:$A, AnyType:$B);
  let results = (outs AnyType:$C);
}

def ONNX_SumOp : ONNX_Op<"Sum", 13, [Pure]> {
  let arguments = (ins Variadic<AnyType>:$data_0);
  let results = (outs AnyType:$sum);
}

def ONNX_SwishOp : ONNX_Op<"Swish", 24, [Pure]> {
  let arguments = (ins AnyType:$X, DefaultValuedOptionalAttr<F32Attr, "1.0f">:$alpha);
  let results = (outs AnyType:$Y);
}

def ONNX_TanOp : ONNX_Op<"Tan", 22, [Pure]> {
  let arguments = (ins AnyType:$input);
  let results = (outs AnyType:$output);
}

def ONNX_TanhOp : ONNX_Op<"Tanh", 13, [Pure]> {
  let arguments = (ins AnyType:$input);
  let results = (outs AnyType:$output);
}

def ONNX_ThresholdedReluOp : ONNX_Op<"ThresholdedRelu", 22, [Pure]> {
  let arguments = (ins AnyType:$X, DefaultValuedOptionalAttr<F32Attr, "1.0f">:$alpha);
  let results = (outs AnyType:$Y);
}

def ONNX_TopKOp : ONNX_Op<"TopK", 24, [Pure]> {
  let arguments = (ins AnyType:$X, AnyType:$K, DefaultValuedOptionalAttr<I64Attr, "-1">:$axis,
                       DefaultValuedOptionalAttr<I64Attr, "1">:$largest,
                       DefaultValuedOptionalAttr<I64Attr, "1">:$sorted);
  let results = (outs AnyType:$Values, AnyType:$Indices);
}
