// SPDX-License-Identifier: Apache-2.0
// Written by tools/gen-onnx-ops.py from onnx 1.21.0; run it again instead of editing.

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
