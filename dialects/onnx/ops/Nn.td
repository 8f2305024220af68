// SPDX-License-Identifier: Apache-2.0
// Written by tools/gen-onnx-ops.py from onnx 1.21.0; run it again instead of editing.

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

def ONNX_Col2ImOp : ONNX_Op<"Col2Im", 18, [Pure]> {
  let arguments = (ins AnyType:$input, AnyType:$image_shape, AnyType:$block_shape,
                       OptionalAttr<DenseI64ArrayAttr>:$dilations,
                       OptionalAttr<DenseI64ArrayAttr>:$pads,
                       OptionalAttr<DenseI64ArrayAttr>:$strides);
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

def ONNX_DropoutOp : ONNX_Op<"Dropout", 22, []> {
  let arguments = (ins AnyType:$data, AnyType:$ratio, AnyType:$training_mode,
                       OptionalAttr<I64Attr>:$seed);
  let results = (outs AnyType:$output, AnyType:$mask);
}

def ONNX_FlattenOp : ONNX_Op<"Flatten", 25, [Pure]> {
  let arguments = (ins AnyType:$input, DefaultValuedOptionalAttr<I64Attr, "1">:$axis);
  let results = (outs AnyType:$output);
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

def ONNX_GroupNormalizationOp : ONNX_Op<"GroupNormalization", 21, [Pure]> {
  let arguments = (ins AnyType:$X, AnyType:$scale, AnyType:$bias,
                       DefaultValuedOptionalAttr<F32Attr, "9.99999975e-06f">:$epsilon,
                       I64Attr:$num_groups, DefaultValuedOptionalAttr<I64Attr, "1">:$stash_type);
  let results = (outs AnyType:$Y);
}

def ONNX_InstanceNormalizationOp : ONNX_Op<"InstanceNormalization", 22, [Pure]> {
  let arguments = (ins AnyType:$input, AnyType:$scale, AnyType:$B,
                       DefaultValuedOptionalAttr<F32Attr, "9.99999975e-06f">:$epsilon);
  let results = (outs AnyType:$output);
}

def ONNX_LRNOp : ONNX_Op<"LRN", 13, [Pure]> {
  let arguments = (ins AnyType:$X, DefaultValuedOptionalAttr<F32Attr, "9.99999975e-05f">:$alpha,
                       DefaultValuedOptionalAttr<F32Attr, "0.75f">:$beta,
                       DefaultValuedOptionalAttr<F32Attr, "1.0f">:$bias, I64Attr:$size);
  let results = (outs AnyType:$Y);
}

def ONNX_LayerNormalizationOp : ONNX_Op<"LayerNormalization", 17, [Pure]> {
  let arguments = (ins AnyType:$X, AnyType:$Scale, AnyType:$B,
                       DefaultValuedOptionalAttr<I64Attr, "-1">:$axis,
                       DefaultValuedOptionalAttr<F32Attr, "9.99999975e-06f">:$epsilon,
                       DefaultValuedOptionalAttr<I64Attr, "1">:$stash_type);
  let results = (outs AnyType:$Y, AnyType:$Mean, AnyType:$InvStdDev);
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

def ONNX_MeanVarianceNormalizationOp : ONNX_Op<"MeanVarianceNormalization", 13, [Pure]> {
  let arguments = (ins AnyType:$X,
                       DefaultValuedOptionalAttr<DenseI64ArrayAttr, "{0, 2, 3}">:$axes);
  let results = (outs AnyType:$Y);
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

def ONNX_RMSNormalizationOp : ONNX_Op<"RMSNormalization", 23, [Pure]> {
  let arguments = (ins AnyType:$X, AnyType:$scale, DefaultValuedOptionalAttr<I64Attr, "-1">:$axis,
                       DefaultValuedOptionalAttr<F32Attr, "9.99999975e-06f">:$epsilon,
                       DefaultValuedOptionalAttr<I64Attr, "1">:$stash_type);
  let results = (outs AnyType:$Y);
}

def ONNX_RotaryEmbeddingOp : ONNX_Op<"RotaryEmbedding", 23, [Pure]> {
  let arguments = (ins AnyType:$X, AnyType:$cos_cache, AnyType:$sin_cache, AnyType:$position_ids,
                       DefaultValuedOptionalAttr<I64Attr, "0">:$interleaved,
                       OptionalAttr<I64Attr>:$num_heads,
                       DefaultValuedOptionalAttr<I64Attr, "0">:$rotary_embedding_dim);
  let results = (outs AnyType:$Y);
}

def ONNX_ShrinkOp : ONNX_Op<"Shrink", 9, [Pure]> {
  let arguments = (ins AnyType:$input, DefaultValuedOptionalAttr<F32Attr, "0.0f">:$bias,
                       DefaultValuedOptionalAttr<F32Attr, "0.5f">:$lambd);
  let results = (outs AnyType:$output);
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
