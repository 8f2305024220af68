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

def ONNX_AffineGridOp : ONNX_Op<"AffineGrid", 20, [Pure]> {
  let arguments = (ins AnyType:$theta, AnyType:$size,
                       DefaultValuedOptionalAttr<I64Attr, "0">:$align_corners);
  let results = (outs AnyType:$grid);
}

def ONNX_AndOp : ONNX_Op<"And", 7, [Pure]> {
  let arguments = (ins AnyType:$A, AnyType:$B);
  let results = (outs AnyType:$C);
}

def ONNX_ArgMaxOp : ONNX_Op<"ArgMax", 13, [Pure]> {
  let arguments = (ins AnyType:$data, DefaultValuedOptionalAttr<I64Attr, "0">:$axis,
                       DefaultValuedOptionalAttr<I64Attr, "1">:$keepdims,
                       DefaultValuedOptionalAttr<I64Attr, "0">:$select_last_index);
  let results = (outs AnyType:$reduced);
}

def ONNX_ArgMinOp : ONNX_Op<"ArgMin", 13, [Pure]> {
  let arguments = (ins AnyType:$data, DefaultValuedOptionalAttr<I64Attr, "0">:$axis,
                       DefaultValuedOptionalAttr<I64Attr, "1">:$keepdims,
                       DefaultValuedOptionalAttr<I64Attr, "0">:$select_last_index);
  let results = (outs AnyType:$reduced);
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

def ONNX_AttentionOp : ONNX_Op<"Attention", 24, [Pure]> {
  let arguments = (ins AnyType:$Q, AnyType:$K, AnyType:$V, AnyType:$attn_mask, AnyType:$past_key,
                       AnyType:$past_value, AnyType:$nonpad_kv_seqlen,
                       DefaultValuedOptionalAttr<I64Attr, "0">:$is_causal,
                       OptionalAttr<I64Attr>:$kv_num_heads, OptionalAttr<I64Attr>:$q_num_heads,
                       DefaultValuedOptionalAttr<I64Attr, "0">:$qk_matmul_output_mode,
                       OptionalAttr<F32Attr>:$scale,
                       DefaultValuedOptionalAttr<F32Attr, "0.0f">:$softcap,
                       OptionalAttr<I64Attr>:$softmax_precision);
  let results = (outs AnyType:$Y, AnyType:$present_key, AnyType:$present_value,
                      AnyType:$qk_matmul_output);
}

def ONNX_AveragePoolOp : ONNX_Op<"AveragePool", 22, [Pure]> {
  let arguments = (ins AnyType:$X, DefaultValuedOptionalAttr<StrAttr, "\"NOTSET\"">:$auto_pad,
                       DefaultValuedOptionalAttr<I64Attr, "0">:$ceil_mode,
                       DefaultValuedOptionalAttr<I64Attr, "0">:$count_include_pad,
                       OptionalAttr<DenseI64ArrayAttr>:$dilations,
                       DenseI64ArrayAttr:$kernel_shape, OptionalAttr<DenseI64ArrayAttr>:$pads,
                       OptionalAttr<DenseI64ArrayAttr>:$strides);
  let results = (outs AnyType:$Y);
}

def ONNX_BatchNormalizationOp : ONNX_Op<"BatchNormalization", 15, [Pure]> {
  let arguments = (ins AnyType:$X, AnyType:$scale, AnyType:$B, AnyType:$input_mean,
                       AnyType:$input_var,
                       DefaultValuedOptionalAttr<F32Attr, "9.99999975e-06f">:$epsilon,
                       DefaultValuedOptionalAttr<F32Attr, "0.899999976f">:$momentum,
                       DefaultValuedOptionalAttr<I64Attr, "0">:$training_mode);
  let results = (outs AnyType:$Y, AnyType:$running_mean, AnyType:$running_var);
}

def ONNX_BernoulliOp : ONNX_Op<"Bernoulli", 22, []> {
  let arguments = (ins AnyType:$input, OptionalAttr<I64Attr>:$dtype, OptionalAttr<F32Attr>:$seed);
  let results = (outs AnyType:$output);
}

def ONNX_BitCastOp : ONNX_Op<"BitCast", 26, [Pure]> {
  let arguments = (ins AnyType:$input, I64Attr:$to);
  let results = (outs AnyType:$output);
}

def ONNX_BitShiftOp : ONNX_Op<"BitShift", 11, [Pure]> {
  let arguments = (ins AnyType:$X, AnyType:$Y, StrAttr:$direction);
  let results = (outs AnyType:$Z);
}

def ONNX_BitwiseAndOp : ONNX_Op<"BitwiseAnd", 18, [Pure]> {
  let arguments = (ins AnyType:$A, AnyType:$B);
  let results = (outs AnyType:$C);
}

def ONNX_BitwiseNotOp : ONNX_Op<"BitwiseNot", 18, [Pure]> {
  let arguments = (ins AnyType:$X);
  let results = (outs AnyType:$Y);
}

def ONNX_BitwiseOrOp : ONNX_Op<"BitwiseOr", 18, [Pure]> {
  let arguments = (ins AnyType:$A, AnyType:$B);
  let results = (outs AnyType:$C);
}

def ONNX_BitwiseXorOp : ONNX_Op<"BitwiseXor", 18, [Pure]> {
  let arguments = (ins AnyType:$A, AnyType:$B);
  let results = (outs AnyType:$C);
}

def ONNX_BlackmanWindowOp : ONNX_Op<"BlackmanWindow", 17, [Pure]> {
  let arguments = (ins AnyType:$size, DefaultValuedOptionalAttr<I64Attr, "1">:$output_datatype,
                       DefaultValuedOptionalAttr<I64Attr, "1">:$periodic);
  let results = (outs AnyType:$output);
}

def ONNX_CastOp : ONNX_Op<"Cast", 25, [Pure]> {
  let arguments = (ins AnyType:$input, DefaultValuedOptionalAttr<StrAttr, "\"up\"">:$round_mode,
                       DefaultValuedOptionalAttr<I64Attr, "1">:$saturate, I64Attr:$to);
  let results = (outs AnyType:$output);
}

def ONNX_CastLikeOp : ONNX_Op<"CastLike", 25, [Pure]> {
  let arguments = (ins AnyType:$input, AnyType:$target_type,
                       DefaultValuedOptionalAttr<StrAttr, "\"up\"">:$round_mode,
                       DefaultValuedOptionalAttr<I64Attr, "1">:$saturate);
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

def ONNX_CenterCropPadOp : ONNX_Op<"CenterCropPad", 18, [Pure]> {
  let arguments = (ins AnyType:$input_data, AnyType:$shape, OptionalAttr<DenseI64ArrayAttr>:$axes);
  let results = (outs AnyType:$output_data);
}

def ONNX_ClipOp : ONNX_Op<"Clip", 13, [Pure]> {
  let arguments = (ins AnyType:$input, AnyType:$min, AnyType:$max);
  let results = (outs AnyType:$output);
}

def ONNX_Col2ImOp : ONNX_Op<"Col2Im", 18, [Pure]> {
  let arguments = (ins AnyType:$input, AnyType:$image_shape, AnyType:$block_shape,
                       OptionalAttr<DenseI64ArrayAttr>:$dilations,
                       OptionalAttr<DenseI64ArrayAttr>:$pads,
                       OptionalAttr<DenseI64ArrayAttr>:$strides);
  let results = (outs AnyType:$output);
}

def ONNX_CompressOp : ONNX_Op<"Compress", 11, [Pure]> {
  let arguments = (ins AnyType:$input, AnyType:$condition, OptionalAttr<I64Attr>:$axis);
  let results = (outs AnyType:$output);
}

def ONNX_ConcatOp : ONNX_Op<"Concat", 13, [Pure]> {
  let arguments = (ins Variadic<AnyType>:$inputs, I64Attr:$axis);
  let results = (outs AnyType:$concat_result);
}

def ONNX_ConcatFromSequenceOp : ONNX_Op<"ConcatFromSequence", 11, [Pure]> {
  let arguments = (ins AnyType:$input_sequence, I64Attr:$axis,
                       DefaultValuedOptionalAttr<I64Attr, "0">:$new_axis);
  let results = (outs AnyType:$concat_result);
}

def ONNX_ConstantOfShapeOp : ONNX_Op<"ConstantOfShape", 25, [Pure]> {
  let arguments = (ins AnyType:$input, OptionalAttr<ElementsAttr>:$value);
  let results = (outs AnyType:$output);
}

def ONNX_ConvOp : ONNX_Op<"Conv", 22, [Pure]> {
  let arguments = (ins AnyType:$X, AnyType:$W, AnyType:$B,
                       DefaultValuedOptionalAttr<StrAttr, "\"NOTSET\"">:$auto_pad,
                       OptionalAttr<DenseI64ArrayAttr>:$dilations,
                       DefaultValuedOptionalAttr<I64Attr, "1">:$group,
                       OptionalAttr<DenseI64ArrayAttr>:$kernel_shape,
                       OptionalAttr<DenseI64ArrayAttr>:$pads,
                       OptionalAttr<DenseI64ArrayAttr>:$strides);
  let results = (outs AnyType:$Y);
}

def ONNX_ConvIntegerOp : ONNX_Op<"ConvInteger", 10, [Pure]> {
  let arguments = (ins AnyType:$x, AnyType:$w, AnyType:$x_zero_point, AnyType:$w_zero_point,
                       DefaultValuedOptionalAttr<StrAttr, "\"NOTSET\"">:$auto_pad,
                       OptionalAttr<DenseI64ArrayAttr>:$dilations,
                       DefaultValuedOptionalAttr<I64Attr, "1">:$group,
                       OptionalAttr<DenseI64ArrayAttr>:$kernel_shape,
                       OptionalAttr<DenseI64ArrayAttr>:$pads,
                       OptionalAttr<DenseI64ArrayAttr>:$strides);
  let results = (outs AnyType:$y);
}

def ONNX_ConvTransposeOp : ONNX_Op<"ConvTranspose", 22, [Pure]> {
  let arguments = (ins AnyType:$X, AnyType:$W, AnyType:$B,
                       DefaultValuedOptionalAttr<StrAttr, "\"NOTSET\"">:$auto_pad,
                       OptionalAttr<DenseI64ArrayAttr>:$dilations,
                       DefaultValuedOptionalAttr<I64Attr, "1">:$group,
                       OptionalAttr<DenseI64ArrayAttr>:$kernel_shape,
                       OptionalAttr<DenseI64ArrayAttr>:$output_padding,
                       OptionalAttr<DenseI64ArrayAttr>:$output_shape,
                       OptionalAttr<DenseI64ArrayAttr>:$pads,
                       OptionalAttr<DenseI64ArrayAttr>:$strides);
  let results = (outs AnyType:$Y);
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

def ONNX_DeformConvOp : ONNX_Op<"DeformConv", 22, [Pure]> {
  let arguments = (ins AnyType:$X, AnyType:$W, AnyType:$offset, AnyType:$B, AnyType:$mask,
                       OptionalAttr<DenseI64ArrayAttr>:$dilations,
                       DefaultValuedOptionalAttr<I64Attr, "1">:$group,
                       OptionalAttr<DenseI64ArrayAttr>:$kernel_shape,
                       DefaultValuedOptionalAttr<I64Attr, "1">:$offset_group,
                       OptionalAttr<DenseI64ArrayAttr>:$pads,
                       OptionalAttr<DenseI64ArrayAttr>:$strides);
  let results = (outs AnyType:$Y);
}

def ONNX_DepthToSpaceOp : ONNX_Op<"DepthToSpace", 13, [Pure]> {
  let arguments = (ins AnyType:$input, I64Attr:$blocksize,
                       DefaultValuedOptionalAttr<StrAttr, "\"DCR\"">:$mode);
  let results = (outs AnyType:$output);
}

def ONNX_DequantizeLinearOp : ONNX_Op<"DequantizeLinear", 25, [Pure]> {
  let arguments = (ins AnyType:$x, AnyType:$x_scale, AnyType:$x_zero_point,
                       DefaultValuedOptionalAttr<I64Attr, "1">:$axis,
                       DefaultValuedOptionalAttr<I64Attr, "0">:$block_size,
                       DefaultValuedOptionalAttr<I64Attr, "0">:$output_dtype);
  let results = (outs AnyType:$y);
}

def ONNX_DetOp : ONNX_Op<"Det", 22, [Pure]> {
  let arguments = (ins AnyType:$X);
  let results = (outs AnyType:$Y);
}

def ONNX_DivOp : ONNX_Op<"Div", 14, [Pure]> {
  let arguments = (ins AnyType:$A, AnyType:$B);
  let results = (outs AnyType:$C);
}

def ONNX_DropoutOp : ONNX_Op<"Dropout", 22, []> {
  let arguments = (ins AnyType:$data, AnyType:$ratio, AnyType:$training_mode,
                       OptionalAttr<I64Attr>:$seed);
  let results = (outs AnyType:$output, AnyType:$mask);
}

def ONNX_DynamicQuantizeLinearOp : ONNX_Op<"DynamicQuantizeLinear", 11, [Pure]> {
  let arguments = (ins AnyType:$x);
  let results = (outs AnyType:$y, AnyType:$y_scale, AnyType:$y_zero_point);
}

def ONNX_EinsumOp : ONNX_Op<"Einsum", 12, [Pure]> {
  let arguments = (ins Variadic<AnyType>:$Inputs, StrAttr:$equation);
  let results = (outs AnyType:$Output);
}

def ONNX_EluOp : ONNX_Op<"Elu", 22, [Pure]> {
  let arguments = (ins AnyType:$X, DefaultValuedOptionalAttr<F32Attr, "1.0f">:$alpha);
  let results = (outs AnyType:$Y);
}

def ONNX_EqualOp : ONNX_Op<"Equal", 19, [Pure]> {
  let arguments = (ins AnyType:$A, AnyType:$B);
  let results = (outs AnyType:$C);
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

def ONNX_EyeLikeOp : ONNX_Op<"EyeLike", 22, [Pure]> {
  let arguments = (ins AnyType:$input, OptionalAttr<I64Attr>:$dtype,
                       DefaultValuedOptionalAttr<I64Attr, "0">:$k);
  let results = (outs AnyType:$output);
}

def ONNX_FlattenOp : ONNX_Op<"Flatten", 25, [Pure]> {
  let arguments = (ins AnyType:$input, DefaultValuedOptionalAttr<I64Attr, "1">:$axis);
  let results = (outs AnyType:$output);
}

def ONNX_FloorOp : ONNX_Op<"Floor", 13, [Pure]> {
  let arguments = (ins AnyType:$X);
  let results = (outs AnyType:$Y);
}

def ONNX_GRUOp : ONNX_Op<"GRU", 22, [Pure]> {
  let arguments = (ins AnyType:$X, AnyType:$W, AnyType:$R, AnyType:$B, AnyType:$sequence_lens,
                       AnyType:$initial_h, OptionalAttr<DenseF32ArrayAttr>:$activation_alpha,
                       OptionalAttr<DenseF32ArrayAttr>:$activation_beta,
                       OptionalAttr<StrArrayAttr>:$activations, OptionalAttr<F32Attr>:$clip,
                       DefaultValuedOptionalAttr<StrAttr, "\"forward\"">:$direction,
                       OptionalAttr<I64Attr>:$hidden_size,
                       DefaultValuedOptionalAttr<I64Attr, "0">:$layout,
                       DefaultValuedOptionalAttr<I64Attr, "0">:$linear_before_reset);
  let results = (outs AnyType:$Y, AnyType:$Y_h);
}

def ONNX_GatherOp : ONNX_Op<"Gather", 13, [Pure]> {
  let arguments = (ins AnyType:$data, AnyType:$indices,
                       DefaultValuedOptionalAttr<I64Attr, "0">:$axis);
  let results = (outs AnyType:$output);
}

def ONNX_GatherElementsOp : ONNX_Op<"GatherElements", 13, [Pure]> {
  let arguments = (ins AnyType:$data, AnyType:$indices,
                       DefaultValuedOptionalAttr<I64Attr, "0">:$axis);
  let results = (outs AnyType:$output);
}

def ONNX_GatherNDOp : ONNX_Op<"GatherND", 13, [Pure]> {
  let arguments = (ins AnyType:$data, AnyType:$indices,
                       DefaultValuedOptionalAttr<I64Attr, "0">:$batch_dims);
  let results = (outs AnyType:$output);
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

def ONNX_GlobalAveragePoolOp : ONNX_Op<"GlobalAveragePool", 22, [Pure]> {
  let arguments = (ins AnyType:$X);
  let results = (outs AnyType:$Y);
}

def ONNX_GlobalLpPoolOp : ONNX_Op<"GlobalLpPool", 22, [Pure]> {
  let arguments = (ins AnyType:$X, DefaultValuedOptionalAttr<I64Attr, "2">:$p);
  let results = (outs AnyType:$Y);
}

def ONNX_GlobalMaxPoolOp : ONNX_Op<"GlobalMaxPool", 22, [Pure]> {
  let arguments = (ins AnyType:$X);
  let results = (outs AnyType:$Y);
}

def ONNX_GreaterOp : ONNX_Op<"Greater", 13, [Pure]> {
  let arguments = (ins AnyType:$A, AnyType:$B);
  let results = (outs AnyType:$C);
}

def ONNX_GreaterOrEqualOp : ONNX_Op<"GreaterOrEqual", 16, [Pure]> {
  let arguments = (ins AnyType:$A, AnyType:$B);
  let results = (outs AnyType:$C);
}

def ONNX_GridSampleOp : ONNX_Op<"GridSample", 22, [Pure]> {
  let arguments = (ins AnyType:$X, AnyType:$grid,
                       DefaultValuedOptionalAttr<I64Attr, "0">:$align_corners,
                       DefaultValuedOptionalAttr<StrAttr, "\"linear\"">:$mode,
                       DefaultValuedOptionalAttr<StrAttr, "\"zeros\"">:$padding_mode);
  let results = (outs AnyType:$Y);
}

def ONNX_GroupNormalizationOp : ONNX_Op<"GroupNormalization", 21, [Pure]> {
  let arguments = (ins AnyType:$X, AnyType:$scale, AnyType:$bias,
                       DefaultValuedOptionalAttr<F32Attr, "9.99999975e-06f">:$epsilon,
                       I64Attr:$num_groups, DefaultValuedOptionalAttr<I64Attr, "1">:$stash_type);
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

def ONNX_IdentityOp : ONNX_Op<"Identity", 25, [Pure]> {
  let arguments = (ins AnyType:$input);
  let results = (outs AnyType:$output);
}

def ONNX_IfOp : ONNX_Op<"If", 25, [RecursiveMemoryEffects, SingleBlock], 2> {
  let arguments = (ins AnyType:$cond);
  let results = (outs Variadic<AnyType>:$outputs);
  let regions = (region SizedRegion<1>:$else_branch, SizedRegion<1>:$then_branch);
}

def ONNX_ImageDecoderOp : ONNX_Op<"ImageDecoder", 20, [Pure]> {
  let arguments = (ins AnyType:$encoded_stream,
                       DefaultValuedOptionalAttr<StrAttr, "\"RGB\"">:$pixel_format);
  let results = (outs AnyType:$image);
}

def ONNX_InstanceNormalizationOp : ONNX_Op<"InstanceNormalization", 22, [Pure]> {
  let arguments = (ins AnyType:$input, AnyType:$scale, AnyType:$B,
                       DefaultValuedOptionalAttr<F32Attr, "9.99999975e-06f">:$epsilon);
  let results = (outs AnyType:$output);
}

def ONNX_IsInfOp : ONNX_Op<"IsInf", 20, [Pure]> {
  let arguments = (ins AnyType:$X, DefaultValuedOptionalAttr<I64Attr, "1">:$detect_negative,
                       DefaultValuedOptionalAttr<I64Attr, "1">:$detect_positive);
  let results = (outs AnyType:$Y);
}

def ONNX_IsNaNOp : ONNX_Op<"IsNaN", 20, [Pure]> {
  let arguments = (ins AnyType:$X);
  let results = (outs AnyType:$Y);
}

def ONNX_LRNOp : ONNX_Op<"LRN", 13, [Pure]> {
  let arguments = (ins AnyType:$X, DefaultValuedOptionalAttr<F32Attr, "9.99999975e-05f">:$alpha,
                       DefaultValuedOptionalAttr<F32Attr, "0.75f">:$beta,
                       DefaultValuedOptionalAttr<F32Attr, "1.0f">:$bias, I64Attr:$size);
  let results = (outs AnyType:$Y);
}

def ONNX_LSTMOp : ONNX_Op<"LSTM", 22, [Pure]> {
  let arguments = (ins AnyType:$X, AnyType:$W, AnyType:$R, AnyType:$B, AnyType:$sequence_lens,
                       AnyType:$initial_h, AnyType:$initial_c, AnyType:$P,
                       OptionalAttr<DenseF32ArrayAttr>:$activation_alpha,
                       OptionalAttr<DenseF32ArrayAttr>:$activation_beta,
                       OptionalAttr<StrArrayAttr>:$activations, OptionalAttr<F32Attr>:$clip,
                       DefaultValuedOptionalAttr<StrAttr, "\"forward\"">:$direction,
                       OptionalAttr<I64Attr>:$hidden_size,
                       DefaultValuedOptionalAttr<I64Attr, "0">:$input_forget,
                       DefaultValuedOptionalAttr<I64Attr, "0">:$layout);
  let results = (outs AnyType:$Y, AnyType:$Y_h, AnyType:$Y_c);
}

def ONNX_LayerNormalizationOp : ONNX_Op<"LayerNormalization", 17, [Pure]> {
  let arguments = (ins AnyType:$X, AnyType:$Scale, AnyType:$B,
                       DefaultValuedOptionalAttr<I64Attr, "-1">:$axis,
                       DefaultValuedOptionalAttr<F32Attr, "9.99999975e-06f">:$epsilon,
                       DefaultValuedOptionalAttr<I64Attr, "1">:$stash_type);
  let results = (outs AnyType:$Y, AnyType:$Mean, AnyType:$InvStdDev);
}

def ONNX_LeakyReluOp : ONNX_Op<"LeakyRelu", 16, [Pure]> {
  let arguments = (ins AnyType:$X, DefaultValuedOptionalAttr<F32Attr, "0.00999999978f">:$alpha);
  let results = (outs AnyType:$Y);
}

def ONNX_LessOp : ONNX_Op<"Less", 13, [Pure]> {
  let arguments = (ins AnyType:$A, AnyType:$B);
  let results = (outs AnyType:$C);
}

def ONNX_LessOrEqualOp : ONNX_Op<"LessOrEqual", 16, [Pure]> {
  let arguments = (ins AnyType:$A, AnyType:$B);
  let results = (outs AnyType:$C);
}

def ONNX_LogOp : ONNX_Op<"Log", 13, [Pure]> {
  let arguments = (ins AnyType:$input);
  let results = (outs AnyType:$output);
}

def ONNX_LogSoftmaxOp : ONNX_Op<"LogSoftmax", 13, [Pure]> {
  let arguments = (ins AnyType:$input, DefaultValuedOptionalAttr<I64Attr, "-1">:$axis);
  let results = (outs AnyType:$output);
}

def ONNX_LoopOp : ONNX_Op<"Loop", 25, [RecursiveMemoryEffects, SingleBlock], 1> {
  let arguments = (ins AnyType:$M, AnyType:$cond, Variadic<AnyType>:$v_initial);
  let results = (outs Variadic<AnyType>:$v_final_and_scan_outputs);
  let regions = (region SizedRegion<1>:$body);
}

def ONNX_LpNormalizationOp : ONNX_Op<"LpNormalization", 22, [Pure]> {
  let arguments = (ins AnyType:$input, DefaultValuedOptionalAttr<I64Attr, "-1">:$axis,
                       DefaultValuedOptionalAttr<I64Attr, "2">:$p);
  let results = (outs AnyType:$output);
}

def ONNX_LpPoolOp : ONNX_Op<"LpPool", 22, [Pure]> {
  let arguments = (ins AnyType:$X, DefaultValuedOptionalAttr<StrAttr, "\"NOTSET\"">:$auto_pad,
                       DefaultValuedOptionalAttr<I64Attr, "0">:$ceil_mode,
                       OptionalAttr<DenseI64ArrayAttr>:$dilations,
                       DenseI64ArrayAttr:$kernel_shape,
                       DefaultValuedOptionalAttr<I64Attr, "2">:$p,
                       OptionalAttr<DenseI64ArrayAttr>:$pads,
                       OptionalAttr<DenseI64ArrayAttr>:$strides);
  let results = (outs AnyType:$Y);
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

def ONNX_MaxPoolOp : ONNX_Op<"MaxPool", 22, [Pure]> {
  let arguments = (ins AnyType:$X, DefaultValuedOptionalAttr<StrAttr, "\"NOTSET\"">:$auto_pad,
                       DefaultValuedOptionalAttr<I64Attr, "0">:$ceil_mode,
                       OptionalAttr<DenseI64ArrayAttr>:$dilations,
                       DenseI64ArrayAttr:$kernel_shape, OptionalAttr<DenseI64ArrayAttr>:$pads,
                       DefaultValuedOptionalAttr<I64Attr, "0">:$storage_order,
                       OptionalAttr<DenseI64ArrayAttr>:$strides);
  let results = (outs AnyType:$Y, AnyType:$Indices);
}

def ONNX_MaxRoiPoolOp : ONNX_Op<"MaxRoiPool", 22, [Pure]> {
  let arguments = (ins AnyType:$X, AnyType:$rois, DenseI64ArrayAttr:$pooled_shape,
                       DefaultValuedOptionalAttr<F32Attr, "1.0f">:$spatial_scale);
  let results = (outs AnyType:$Y);
}

def ONNX_MaxUnpoolOp : ONNX_Op<"MaxUnpool", 22, [Pure]> {
  let arguments = (ins AnyType:$X, AnyType:$I, AnyType:$output_shape,
                       DenseI64ArrayAttr:$kernel_shape, OptionalAttr<DenseI64ArrayAttr>:$pads,
                       OptionalAttr<DenseI64ArrayAttr>:$strides);
  let results = (outs AnyType:$output);
}

def ONNX_MeanOp : ONNX_Op<"Mean", 13, [Pure]> {
  let arguments = (ins Variadic<AnyType>:$data_0);
  let results = (outs AnyType:$mean);
}

def ONNX_MeanVarianceNormalizationOp : ONNX_Op<"MeanVarianceNormalization", 13, [Pure]> {
  let arguments = (ins AnyType:$X,
                       DefaultValuedOptionalAttr<DenseI64ArrayAttr, "{0, 2, 3}">:$axes);
  let results = (outs AnyType:$Y);
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

def ONNX_MultinomialOp : ONNX_Op<"Multinomial", 22, []> {
  let arguments = (ins AnyType:$input, DefaultValuedOptionalAttr<I64Attr, "6">:$dtype,
                       DefaultValuedOptionalAttr<I64Attr, "1">:$sample_size,
                       OptionalAttr<F32Attr>:$seed);
  let results = (outs AnyType:$output);
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

def ONNX_NonMaxSuppressionOp : ONNX_Op<"NonMaxSuppression", 11, [Pure]> {
  let arguments = (ins AnyType:$boxes, AnyType:$scores, AnyType:$max_output_boxes_per_class,
                       AnyType:$iou_threshold, AnyType:$score_threshold,
                       DefaultValuedOptionalAttr<I64Attr, "0">:$center_point_box);
  let results = (outs AnyType:$selected_indices);
}

def ONNX_NonZeroOp : ONNX_Op<"NonZero", 13, [Pure]> {
  let arguments = (ins AnyType:$X);
  let results = (outs AnyType:$Y);
}

def ONNX_NotOp : ONNX_Op<"Not", 1, [Pure]> {
  let arguments = (ins AnyType:$X);
  let results = (outs AnyType:$Y);
}

def ONNX_OneHotOp : ONNX_Op<"OneHot", 11, [Pure]> {
  let arguments = (ins AnyType:$indices, AnyType:$depth, AnyType:$values,
                       DefaultValuedOptionalAttr<I64Attr, "-1">:$axis);
  let results = (outs AnyType:$output);
}

def ONNX_OptionalOp : ONNX_Op<"Optional", 15, [Pure]> {
  let arguments = (ins AnyType:$input, OptionalAttr<TypeAttr>:$type);
  let results = (outs AnyType:$output);
}

def ONNX_OptionalGetElementOp : ONNX_Op<"OptionalGetElement", 18, [Pure]> {
  let arguments = (ins AnyType:$input);
  let results = (outs AnyType:$output);
}

def ONNX_OptionalHasElementOp : ONNX_Op<"OptionalHasElement", 18, [Pure]> {
  let arguments = (ins AnyType:$input);
  let results = (outs AnyType:$output);
}

def ONNX_OrOp : ONNX_Op<"Or", 7, [Pure]> {
  let arguments = (ins AnyType:$A, AnyType:$B);
  let results = (outs AnyType:$C);
}

def ONNX_PReluOp : ONNX_Op<"PRelu", 16, [Pure]> {
  let arguments = (ins AnyType:$X, AnyType:$slope);
  let results = (outs AnyType:$Y);
}

def ONNX_PadOp : ONNX_Op<"Pad", 25, [Pure]> {
  let arguments = (ins AnyType:$data, AnyType:$pads, AnyType:$constant_value, AnyType:$axes,
                       DefaultValuedOptionalAttr<StrAttr, "\"constant\"">:$mode);
  let results = (outs AnyType:$output);
}

def ONNX_PowOp : ONNX_Op<"Pow", 15, [Pure]> {
  let arguments = (ins AnyType:$X, AnyType:$Y);
  let results = (outs AnyType:$Z);
}

def ONNX_QLinearConvOp : ONNX_Op<"QLinearConv", 10, [Pure]> {
  let arguments = (ins AnyType:$x, AnyType:$x_scale, AnyType:$x_zero_point, AnyType:$w,
                       AnyType:$w_scale, AnyType:$w_zero_point, AnyType:$y_scale,
                       AnyType:$y_zero_point, AnyType:$B,
                       DefaultValuedOptionalAttr<StrAttr, "\"NOTSET\"">:$auto_pad,
                       OptionalAttr<DenseI64ArrayAttr>:$dilations,
                       DefaultValuedOptionalAttr<I64Attr, "1">:$group,
                       OptionalAttr<DenseI64ArrayAttr>:$kernel_shape,
                       OptionalAttr<DenseI64ArrayAttr>:$pads,
                       OptionalAttr<DenseI64ArrayAttr>:$strides);
  let results = (outs AnyType:$y);
}

def ONNX_QLinearMatMulOp : ONNX_Op<"QLinearMatMul", 21, [Pure]> {
  let arguments = (ins AnyType:$a, AnyType:$a_scale, AnyType:$a_zero_point, AnyType:$b,
                       AnyType:$b_scale, AnyType:$b_zero_point, AnyType:$y_scale,
                       AnyType:$y_zero_point);
  let results = (outs AnyType:$y);
}

def ONNX_QuantizeLinearOp : ONNX_Op<"QuantizeLinear", 25, [Pure]> {
  let arguments = (ins AnyType:$x, AnyType:$y_scale, AnyType:$y_zero_point,
                       DefaultValuedOptionalAttr<I64Attr, "1">:$axis,
                       DefaultValuedOptionalAttr<I64Attr, "0">:$block_size,
                       DefaultValuedOptionalAttr<I64Attr, "0">:$output_dtype,
                       DefaultValuedOptionalAttr<I64Attr, "0">:$precision,
                       DefaultValuedOptionalAttr<I64Attr, "1">:$saturate);
  let results = (outs AnyType:$y);
}

def ONNX_RMSNormalizationOp : ONNX_Op<"RMSNormalization", 23, [Pure]> {
  let arguments = (ins AnyType:$X, AnyType:$scale, DefaultValuedOptionalAttr<I64Attr, "-1">:$axis,
                       DefaultValuedOptionalAttr<F32Attr, "9.99999975e-06f">:$epsilon,
                       DefaultValuedOptionalAttr<I64Attr, "1">:$stash_type);
  let results = (outs AnyType:$Y);
}

def ONNX_RNNOp : ONNX_Op<"RNN", 22, [Pure]> {
  let arguments = (ins AnyType:$X, AnyType:$W, AnyType:$R, AnyType:$B, AnyType:$sequence_lens,
                       AnyType:$initial_h, OptionalAttr<DenseF32ArrayAttr>:$activation_alpha,
                       OptionalAttr<DenseF32ArrayAttr>:$activation_beta,
                       OptionalAttr<StrArrayAttr>:$activations, OptionalAttr<F32Attr>:$clip,
                       DefaultValuedOptionalAttr<StrAttr, "\"forward\"">:$direction,
                       OptionalAttr<I64Attr>:$hidden_size,
                       DefaultValuedOptionalAttr<I64Attr, "0">:$layout);
  let results = (outs AnyType:$Y, AnyType:$Y_h);
}

def ONNX_RandomNormalOp : ONNX_Op<"RandomNormal", 22, []> {
  let arguments = (ins DefaultValuedOptionalAttr<I64Attr, "1">:$dtype,
                       DefaultValuedOptionalAttr<F32Attr, "0.0f">:$mean,
                       DefaultValuedOptionalAttr<F32Attr, "1.0f">:$scale,
                       OptionalAttr<F32Attr>:$seed, DenseI64ArrayAttr:$shape);
  let results = (outs AnyType:$output);
}

def ONNX_RandomNormalLikeOp : ONNX_Op<"RandomNormalLike", 22, []> {
  let arguments = (ins AnyType:$input, OptionalAttr<I64Attr>:$dtype,
                       DefaultValuedOptionalAttr<F32Attr, "0.0f">:$mean,
                       DefaultValuedOptionalAttr<F32Attr, "1.0f">:$scale,
                       OptionalAttr<F32Attr>:$seed);
  let results = (outs AnyType:$output);
}

def ONNX_RandomUniformOp : ONNX_Op<"RandomUniform", 22, []> {
  let arguments = (ins DefaultValuedOptionalAttr<I64Attr, "1">:$dtype,
                       DefaultValuedOptionalAttr<F32Attr, "1.0f">:$high,
                       DefaultValuedOptionalAttr<F32Attr, "0.0f">:$low,
                       OptionalAttr<F32Attr>:$seed, DenseI64ArrayAttr:$shape);
  let results = (outs AnyType:$output);
}

def ONNX_RandomUniformLikeOp : ONNX_Op<"RandomUniformLike", 22, []> {
  let arguments = (ins AnyType:$input, OptionalAttr<I64Attr>:$dtype,
                       DefaultValuedOptionalAttr<F32Attr, "1.0f">:$high,
                       DefaultValuedOptionalAttr<F32Attr, "0.0f">:$low,
                       OptionalAttr<F32Attr>:$seed);
  let results = (outs AnyType:$output);
}

def ONNX_RangeOp : ONNX_Op<"Range", 11, [Pure]> {
  let arguments = (ins AnyType:$start, AnyType:$limit, AnyType:$delta);
  let results = (outs AnyType:$output);
}

def ONNX_ReciprocalOp : ONNX_Op<"Reciprocal", 13, [Pure]> {
  let arguments = (ins AnyType:$X);
  let results = (outs AnyType:$Y);
}

def ONNX_ReduceL1Op : ONNX_Op<"ReduceL1", 18, [Pure]> {
  let arguments = (ins AnyType:$data, AnyType:$axes,
                       DefaultValuedOptionalAttr<I64Attr, "1">:$keepdims,
                       DefaultValuedOptionalAttr<I64Attr, "0">:$noop_with_empty_axes);
  let results = (outs AnyType:$reduced);
}

def ONNX_ReduceL2Op : ONNX_Op<"ReduceL2", 18, [Pure]> {
  let arguments = (ins AnyType:$data, AnyType:$axes,
                       DefaultValuedOptionalAttr<I64Attr, "1">:$keepdims,
                       DefaultValuedOptionalAttr<I64Attr, "0">:$noop_with_empty_axes);
  let results = (outs AnyType:$reduced);
}

def ONNX_ReduceLogSumOp : ONNX_Op<"ReduceLogSum", 18, [Pure]> {
  let arguments = (ins AnyType:$data, AnyType:$axes,
                       DefaultValuedOptionalAttr<I64Attr, "1">:$keepdims,
                       DefaultValuedOptionalAttr<I64Attr, "0">:$noop_with_empty_axes);
  let results = (outs AnyType:$reduced);
}

def ONNX_ReduceLogSumExpOp : ONNX_Op<"ReduceLogSumExp", 18, [Pure]> {
  let arguments = (ins AnyType:$data, AnyType:$axes,
                       DefaultValuedOptionalAttr<I64Attr, "1">:$keepdims,
                       DefaultValuedOptionalAttr<I64Attr, "0">:$noop_with_empty_axes);
  let results = (outs AnyType:$reduced);
}

def ONNX_ReduceMaxOp : ONNX_Op<"ReduceMax", 20, [Pure]> {
  let arguments = (ins AnyType:$data, AnyType:$axes,
                       DefaultValuedOptionalAttr<I64Attr, "1">:$keepdims,
                       DefaultValuedOptionalAttr<I64Attr, "0">:$noop_with_empty_axes);
  let results = (outs AnyType:$reduced);
}

def ONNX_ReduceMeanOp : ONNX_Op<"ReduceMean", 18, [Pure]> {
  let arguments = (ins AnyType:$data, AnyType:$axes,
                       DefaultValuedOptionalAttr<I64Attr, "1">:$keepdims,
                       DefaultValuedOptionalAttr<I64Attr, "0">:$noop_with_empty_axes);
  let results = (outs AnyType:$reduced);
}

def ONNX_ReduceMinOp : ONNX_Op<"ReduceMin", 20, [Pure]> {
  let arguments = (ins AnyType:$data, AnyType:$axes,
                       DefaultValuedOptionalAttr<I64Attr, "1">:$keepdims,
                       DefaultValuedOptionalAttr<I64Attr, "0">:$noop_with_empty_axes);
  let results = (outs AnyType:$reduced);
}

def ONNX_ReduceProdOp : ONNX_Op<"ReduceProd", 18, [Pure]> {
  let arguments = (ins AnyType:$data, AnyType:$axes,
                       DefaultValuedOptionalAttr<I64Attr, "1">:$keepdims,
                       DefaultValuedOptionalAttr<I64Attr, "0">:$noop_with_empty_axes);
  let results = (outs AnyType:$reduced);
}

def ONNX_ReduceSumOp : ONNX_Op<"ReduceSum", 13, [Pure]> {
  let arguments = (ins AnyType:$data, AnyType:$axes,
                       DefaultValuedOptionalAttr<I64Attr, "1">:$keepdims,
                       DefaultValuedOptionalAttr<I64Attr, "0">:$noop_with_empty_axes);
  let results = (outs AnyType:$reduced);
}

def ONNX_ReduceSumSquareOp : ONNX_Op<"ReduceSumSquare", 18, [Pure]> {
  let arguments = (ins AnyType:$data, AnyType:$axes,
                       DefaultValuedOptionalAttr<I64Attr, "1">:$keepdims,
                       DefaultValuedOptionalAttr<I64Attr, "0">:$noop_with_empty_axes);
  let results = (outs AnyType:$reduced);
}

def ONNX_RegexFullMatchOp : ONNX_Op<"RegexFullMatch", 20, [Pure]> {
  let arguments = (ins AnyType:$X, OptionalAttr<StrAttr>:$pattern);
  let results = (outs AnyType:$Y);
}

def ONNX_ReluOp : ONNX_Op<"Relu", 14, [Pure]> {
  let arguments = (ins AnyType:$X);
  let results = (outs AnyType:$Y);
}

def ONNX_ReshapeOp : ONNX_Op<"Reshape", 25, [Pure]> {
  let arguments = (ins AnyType:$data, AnyType:$shape,
                       DefaultValuedOptionalAttr<I64Attr, "0">:$allowzero);
  let results = (outs AnyType:$reshaped);
}

def ONNX_ResizeOp : ONNX_Op<"Resize", 19, [Pure]> {
  let arguments = (ins AnyType:$X, AnyType:$roi, AnyType:$scales, AnyType:$sizes,
                       DefaultValuedOptionalAttr<I64Attr, "0">:$antialias,
                       OptionalAttr<DenseI64ArrayAttr>:$axes,
                       DefaultValuedOptionalAttr<StrAttr, "\"half_pixel\"">:$coordinate_transformation_mode,
                       DefaultValuedOptionalAttr<F32Attr, "-0.75f">:$cubic_coeff_a,
                       DefaultValuedOptionalAttr<I64Attr, "0">:$exclude_outside,
                       DefaultValuedOptionalAttr<F32Attr, "0.0f">:$extrapolation_value,
                       DefaultValuedOptionalAttr<StrAttr, "\"stretch\"">:$keep_aspect_ratio_policy,
                       DefaultValuedOptionalAttr<StrAttr, "\"nearest\"">:$mode,
                       DefaultValuedOptionalAttr<StrAttr, "\"round_prefer_floor\"">:$nearest_mode);
  let results = (outs AnyType:$Y);
}

def ONNX_ReverseSequenceOp : ONNX_Op<"ReverseSequence", 10, [Pure]> {
  let arguments = (ins AnyType:$input, AnyType:$sequence_lens,
                       DefaultValuedOptionalAttr<I64Attr, "1">:$batch_axis,
                       DefaultValuedOptionalAttr<I64Attr, "0">:$time_axis);
  let results = (outs AnyType:$Y);
}

def ONNX_RoiAlignOp : ONNX_Op<"RoiAlign", 22, [Pure]> {
  let arguments = (ins AnyType:$X, AnyType:$rois, AnyType:$batch_indices,
                       DefaultValuedOptionalAttr<StrAttr, "\"half_pixel\"">:$coordinate_transformation_mode,
                       DefaultValuedOptionalAttr<StrAttr, "\"avg\"">:$mode,
                       DefaultValuedOptionalAttr<I64Attr, "1">:$output_height,
                       DefaultValuedOptionalAttr<I64Attr, "1">:$output_width,
                       DefaultValuedOptionalAttr<I64Attr, "0">:$sampling_ratio,
                       DefaultValuedOptionalAttr<F32Attr, "1.0f">:$spatial_scale);
  let results = (outs AnyType:$Y);
}

def ONNX_RotaryEmbeddingOp : ONNX_Op<"RotaryEmbedding", 23, [Pure]> {
  let arguments = (ins AnyType:$X, AnyType:$cos_cache, AnyType:$sin_cache, AnyType:$position_ids,
                       DefaultValuedOptionalAttr<I64Attr, "0">:$interleaved,
                       OptionalAttr<I64Attr>:$num_heads,
                       DefaultValuedOptionalAttr<I64Attr, "0">:$rotary_embedding_dim);
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

def ONNX_ScanOp : ONNX_Op<"Scan", 25, [RecursiveMemoryEffects, SingleBlock], 1> {
  let arguments = (ins Variadic<AnyType>:$initial_state_and_scan_inputs, I64Attr:$num_scan_inputs,
                       OptionalAttr<DenseI64ArrayAttr>:$scan_input_axes,
                       OptionalAttr<DenseI64ArrayAttr>:$scan_input_directions,
                       OptionalAttr<DenseI64ArrayAttr>:$scan_output_axes,
                       OptionalAttr<DenseI64ArrayAttr>:$scan_output_directions);
  let results = (outs Variadic<AnyType>:$final_state_and_scan_outputs);
  let regions = (region SizedRegion<1>:$body);
}

def ONNX_ScatterElementsOp : ONNX_Op<"ScatterElements", 18, [Pure]> {
  let arguments = (ins AnyType:$data, AnyType:$indices, AnyType:$updates,
                       DefaultValuedOptionalAttr<I64Attr, "0">:$axis,
                       DefaultValuedOptionalAttr<StrAttr, "\"none\"">:$reduction);
  let results = (outs AnyType:$output);
}

def ONNX_ScatterNDOp : ONNX_Op<"ScatterND", 18, [Pure]> {
  let arguments = (ins AnyType:$data, AnyType:$indices, AnyType:$updates,
                       DefaultValuedOptionalAttr<StrAttr, "\"none\"">:$reduction);
  let results = (outs AnyType:$output);
}

def ONNX_SeluOp : ONNX_Op<"Selu", 22, [Pure]> {
  let arguments = (ins AnyType:$X, DefaultValuedOptionalAttr<F32Attr, "1.67326319f">:$alpha,
                       DefaultValuedOptionalAttr<F32Attr, "1.05070102f">:$gamma);
  let results = (outs AnyType:$Y);
}

def ONNX_SequenceAtOp : ONNX_Op<"SequenceAt", 11, [Pure]> {
  let arguments = (ins AnyType:$input_sequence, AnyType:$position);
  let results = (outs AnyType:$tensor);
}

def ONNX_SequenceConstructOp : ONNX_Op<"SequenceConstruct", 11, [Pure]> {
  let arguments = (ins Variadic<AnyType>:$inputs);
  let results = (outs AnyType:$output_sequence);
}

def ONNX_SequenceEmptyOp : ONNX_Op<"SequenceEmpty", 11, [Pure]> {
  let arguments = (ins OptionalAttr<I64Attr>:$dtype);
  let results = (outs AnyType:$output);
}

def ONNX_SequenceEraseOp : ONNX_Op<"SequenceErase", 11, [Pure]> {
  let arguments = (ins AnyType:$input_sequence, AnyType:$position);
  let results = (outs AnyType:$output_sequence);
}

def ONNX_SequenceInsertOp : ONNX_Op<"SequenceInsert", 11, [Pure]> {
  let arguments = (ins AnyType:$input_sequence, AnyType:$tensor, AnyType:$position);
  let results = (outs AnyType:$output_sequence);
}

def ONNX_SequenceLengthOp : ONNX_Op<"SequenceLength", 11, [Pure]> {
  let arguments = (ins AnyType:$input_sequence);
  let results = (outs AnyType:$length);
}

def ONNX_SequenceMapOp : ONNX_Op<"SequenceMap", 17, [RecursiveMemoryEffects, SingleBlock], 1> {
  let arguments = (ins AnyType:$input_sequence, Variadic<AnyType>:$additional_inputs);
  let results = (outs Variadic<AnyType>:$out_sequence);
  let regions = (region SizedRegion<1>:$body);
}

def ONNX_ShapeOp : ONNX_Op<"Shape", 25, [Pure]> {
  let arguments = (ins AnyType:$data, OptionalAttr<I64Attr>:$end,
                       DefaultValuedOptionalAttr<I64Attr, "0">:$start);
  let results = (outs AnyType:$shape);
}

def ONNX_ShrinkOp : ONNX_Op<"Shrink", 9, [Pure]> {
  let arguments = (ins AnyType:$input, DefaultValuedOptionalAttr<F32Attr, "0.0f">:$bias,
                       DefaultValuedOptionalAttr<F32Attr, "0.5f">:$lambd);
  let results = (outs AnyType:$output);
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

def ONNX_SizeOp : ONNX_Op<"Size", 25, [Pure]> {
  let arguments = (ins AnyType:$data);
  let results = (outs AnyType:$size);
}

def ONNX_SliceOp : ONNX_Op<"Slice", 13, [Pure]> {
  let arguments = (ins AnyType:$data, AnyType:$starts, AnyType:$ends, AnyType:$axes,
                       AnyType:$steps);
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

def ONNX_SpaceToDepthOp : ONNX_Op<"SpaceToDepth", 13, [Pure]> {
  let arguments = (ins AnyType:$input, I64Attr:$blocksize);
  let results = (outs AnyType:$output);
}

def ONNX_SplitOp : ONNX_Op<"Split", 18, [Pure]> {
  let arguments = (ins AnyType:$input, AnyType:$split,
                       DefaultValuedOptionalAttr<I64Attr, "0">:$axis,
                       OptionalAttr<I64Attr>:$num_outputs);
  let results = (outs Variadic<AnyType>:$outputs);
}

def ONNX_SplitToSequenceOp : ONNX_Op<"SplitToSequence", 24, [Pure]> {
  let arguments = (ins AnyType:$input, AnyType:$split,
                       DefaultValuedOptionalAttr<I64Attr, "0">:$axis,
                       DefaultValuedOptionalAttr<I64Attr, "1">:$keepdims);
  let results = (outs AnyType:$output_sequence);
}

def ONNX_SqrtOp : ONNX_Op<"Sqrt", 13, [Pure]> {
  let arguments = (ins AnyType:$X);
  let results = (outs AnyType:$Y);
}

def ONNX_SqueezeOp : ONNX_Op<"Squeeze", 25, [Pure]> {
  let arguments = (ins AnyType:$data, AnyType:$axes);
  let results = (outs AnyType:$squeezed);
}

def ONNX_StringConcatOp : ONNX_Op<"StringConcat", 20, [Pure]> {
  let arguments = (ins AnyType:$X, AnyType:$Y);
  let results = (outs AnyType:$Z);
}

def ONNX_StringNormalizerOp : ONNX_Op<"StringNormalizer", 10, [Pure]> {
  let arguments = (ins AnyType:$X,
                       DefaultValuedOptionalAttr<StrAttr, "\"NONE\"">:$case_change_action,
                       DefaultValuedOptionalAttr<I64Attr, "0">:$is_case_sensitive,
                       OptionalAttr<StrAttr>:$locale, OptionalAttr<StrArrayAttr>:$stopwords);
  let results = (outs AnyType:$Y);
}

def ONNX_StringSplitOp : ONNX_Op<"StringSplit", 20, [Pure]> {
  let arguments = (ins AnyType:$X, OptionalAttr<StrAttr>:$delimiter,
                       OptionalAttr<I64Attr>:$maxsplit);
  let results = (outs AnyType:$Y, AnyType:$Z);
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

def ONNX_TensorScatterOp : ONNX_Op<"TensorScatter", 24, [Pure]> {
  let arguments = (ins AnyType:$past_cache, AnyType:$update, AnyType:$write_indices,
                       DefaultValuedOptionalAttr<I64Attr, "-2">:$axis,
                       DefaultValuedOptionalAttr<StrAttr, "\"linear\"">:$mode);
  let results = (outs AnyType:$present_cache);
}

def ONNX_TfIdfVectorizerOp : ONNX_Op<"TfIdfVectorizer", 9, [Pure]> {
  let arguments = (ins AnyType:$X, I64Attr:$max_gram_length, I64Attr:$max_skip_count,
                       I64Attr:$min_gram_length, StrAttr:$mode, DenseI64ArrayAttr:$ngram_counts,
                       DenseI64ArrayAttr:$ngram_indexes,
                       OptionalAttr<DenseI64ArrayAttr>:$pool_int64s,
                       OptionalAttr<StrArrayAttr>:$pool_strings,
                       OptionalAttr<DenseF32ArrayAttr>:$weights);
  let results = (outs AnyType:$Y);
}

def ONNX_ThresholdedReluOp : ONNX_Op<"ThresholdedRelu", 22, [Pure]> {
  let arguments = (ins AnyType:$X, DefaultValuedOptionalAttr<F32Attr, "1.0f">:$alpha);
  let results = (outs AnyType:$Y);
}

def ONNX_TileOp : ONNX_Op<"Tile", 13, [Pure]> {
  let arguments = (ins AnyType:$input, AnyType:$repeats);
  let results = (outs AnyType:$output);
}

def ONNX_TopKOp : ONNX_Op<"TopK", 24, [Pure]> {
  let arguments = (ins AnyType:$X, AnyType:$K, DefaultValuedOptionalAttr<I64Attr, "-1">:$axis,
                       DefaultValuedOptionalAttr<I64Attr, "1">:$largest,
                       DefaultValuedOptionalAttr<I64Attr, "1">:$sorted);
  let results = (outs AnyType:$Values, AnyType:$Indices);
}

def ONNX_TransposeOp : ONNX_Op<"Transpose", 25, [Pure]> {
  let arguments = (ins AnyType:$data, OptionalAttr<DenseI64ArrayAttr>:$perm);
  let results = (outs AnyType:$transposed);
}

def ONNX_TriluOp : ONNX_Op<"Trilu", 14, [Pure]> {
  let arguments = (ins AnyType:$input, AnyType:$k, DefaultValuedOptionalAttr<I64Attr, "1">:$upper);
  let results = (outs AnyType:$output);
}

def ONNX_UniqueOp : ONNX_Op<"Unique", 11, [Pure]> {
  let arguments = (ins AnyType:$X, OptionalAttr<I64Attr>:$axis,
                       DefaultValuedOptionalAttr<I64Attr, "1">:$sorted);
  let results = (outs AnyType:$Y, AnyType:$indices, AnyType:$inverse_indices, AnyType:$counts);
}

def ONNX_UnsqueezeOp : ONNX_Op<"Unsqueeze", 25, [Pure]> {
  let arguments = (ins AnyType:$data, AnyType:$axes);
  let results = (outs AnyType:$expanded);
}

def ONNX_WhereOp : ONNX_Op<"Where", 16, [Pure]> {
  let arguments = (ins AnyType:$condition, AnyType:$X, AnyType:$Y);
  let results = (outs AnyType:$output);
}

def ONNX_XorOp : ONNX_Op<"Xor", 7, [Pure]> {
  let arguments = (ins AnyType:$A, AnyType:$B);
  let results = (outs AnyType:$C);
}
