// SPDX-License-Identifier: Apache-2.0
// Written by tools/gen-onnx-ops.py from onnx 1.21.0; run it again instead of editing.

def ONNX_AffineGridOp : ONNX_Op<"AffineGrid", 20, [Pure]> {
  let arguments = (ins AnyType:$theta, AnyType:$size,
                       DefaultValuedOptionalAttr<I64Attr, "0">:$align_corners);
  let results = (outs AnyType:$grid);
}

def ONNX_BitCastOp : ONNX_Op<"BitCast", 26, [Pure]> {
  let arguments = (ins AnyType:$input, I64Attr:$to);
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

def ONNX_CenterCropPadOp : ONNX_Op<"CenterCropPad", 18, [Pure]> {
  let arguments = (ins AnyType:$input_data, AnyType:$shape, OptionalAttr<DenseI64ArrayAttr>:$axes);
  let results = (outs AnyType:$output_data);
}

def ONNX_CompressOp : ONNX_Op<"Compress", 11, [Pure]> {
  let arguments = (ins AnyType:$input, AnyType:$condition, OptionalAttr<I64Attr>:$axis);
  let results = (outs AnyType:$output);
}

def ONNX_ConcatOp : ONNX_Op<"Concat", 13, [Pure]> {
  let arguments = (ins Variadic<AnyType>:$inputs, I64Attr:$axis);
  let results = (outs AnyType:$concat_result);
}

def ONNX_DepthToSpaceOp : ONNX_Op<"DepthToSpace", 13, [Pure]> {
  let arguments = (ins AnyType:$input, I64Attr:$blocksize,
                       DefaultValuedOptionalAttr<StrAttr, "\"DCR\"">:$mode);
  let results = (outs AnyType:$output);
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

def ONNX_GridSampleOp : ONNX_Op<"GridSample", 22, [Pure]> {
  let arguments = (ins AnyType:$X, AnyType:$grid,
                       DefaultValuedOptionalAttr<I64Attr, "0">:$align_corners,
                       DefaultValuedOptionalAttr<StrAttr, "\"linear\"">:$mode,
                       DefaultValuedOptionalAttr<StrAttr, "\"zeros\"">:$padding_mode);
  let results = (outs AnyType:$Y);
}

def ONNX_IdentityOp : ONNX_Op<"Identity", 25, [Pure]> {
  let arguments = (ins AnyType:$input);
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

def ONNX_NonZeroOp : ONNX_Op<"NonZero", 13, [Pure]> {
  let arguments = (ins AnyType:$X);
  let results = (outs AnyType:$Y);
}

def ONNX_OneHotOp : ONNX_Op<"OneHot", 11, [Pure]> {
  let arguments = (ins AnyType:$indices, AnyType:$depth, AnyType:$values,
                       DefaultValuedOptionalAttr<I64Attr, "-1">:$axis);
  let results = (outs AnyType:$output);
}

def ONNX_PadOp : ONNX_Op<"Pad", 25, [Pure]> {
  let arguments = (ins AnyType:$data, AnyType:$pads, AnyType:$constant_value, AnyType:$axes,
                       DefaultValuedOptionalAttr<StrAttr, "\"constant\"">:$mode);
  let results = (outs AnyType:$output);
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

def ONNX_ShapeOp : ONNX_Op<"Shape", 25, [Pure]> {
  let arguments = (ins AnyType:$data, OptionalAttr<I64Attr>:$end,
                       DefaultValuedOptionalAttr<I64Attr, "0">:$start);
  let results = (outs AnyType:$shape);
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

def ONNX_SqueezeOp : ONNX_Op<"Squeeze", 25, [Pure]> {
  let arguments = (ins AnyType:$data, AnyType:$axes);
  let results = (outs AnyType:$squeezed);
}

def ONNX_TensorScatterOp : ONNX_Op<"TensorScatter", 24, [Pure]> {
  let arguments = (ins AnyType:$past_cache, AnyType:$update, AnyType:$write_indices,
                       DefaultValuedOptionalAttr<I64Attr, "-2">:$axis,
                       DefaultValuedOptionalAttr<StrAttr, "\"linear\"">:$mode);
  let results = (outs AnyType:$present_cache);
}

def ONNX_TileOp : ONNX_Op<"Tile", 13, [Pure]> {
  let arguments = (ins AnyType:$input, AnyType:$repeats);
  let results = (outs AnyType:$output);
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
