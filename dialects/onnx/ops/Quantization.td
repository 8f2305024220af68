// SPDX-License-Identifier: Apache-2.0
// Written by tools/gen-onnx-ops.py from onnx 1.21.0; run it again instead of editing.

def ONNX_DequantizeLinearOp : ONNX_Op<"DequantizeLinear", 25, [Pure]> {
  let arguments = (ins AnyType:$x, AnyType:$x_scale, AnyType:$x_zero_point,
                       DefaultValuedOptionalAttr<I64Attr, "1">:$axis,
                       DefaultValuedOptionalAttr<I64Attr, "0">:$block_size,
                       DefaultValuedOptionalAttr<I64Attr, "0">:$output_dtype);
  let results = (outs AnyType:$y);
}

def ONNX_DynamicQuantizeLinearOp : ONNX_Op<"DynamicQuantizeLinear", 11, [Pure]> {
  let arguments = (ins AnyType:$x);
  let results = (outs AnyType:$y, AnyType:$y_scale, AnyType:$y_zero_point);
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
