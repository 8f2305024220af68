// SPDX-License-Identifier: Apache-2.0
// Written by tools/gen-onnx-ops.py from onnx 1.21.0; run it again instead of editing.

def ONNX_NonMaxSuppressionOp : ONNX_Op<"NonMaxSuppression", 11, [Pure]> {
  let arguments = (ins AnyType:$boxes, AnyType:$scores, AnyType:$max_output_boxes_per_class,
                       AnyType:$iou_threshold, AnyType:$score_threshold,
                       DefaultValuedOptionalAttr<I64Attr, "0">:$center_point_box);
  let results = (outs AnyType:$selected_indices);
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
