// SPDX-License-Identifier: Apache-2.0
// Written by tools/gen-onnx-ops.py from onnx 1.21.0; run it again instead of editing.

def ONNX_AndOp : ONNX_Op<"And", 7, [Pure]> {
  let arguments = (ins AnyType:$A, AnyType:$B);
  let results = (outs AnyType:$C);
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

def ONNX_EqualOp : ONNX_Op<"Equal", 19, [Pure]> {
  let arguments = (ins AnyType:$A, AnyType:$B);
  let results = (outs AnyType:$C);
}

def ONNX_GreaterOp : ONNX_Op<"Greater", 13, [Pure]> {
  let arguments = (ins AnyType:$A, AnyType:$B);
  let results = (outs AnyType:$C);
}

def ONNX_GreaterOrEqualOp : ONNX_Op<"GreaterOrEqual", 16, [Pure]> {
  let arguments = (ins AnyType:$A, AnyType:$B);
  let results = (outs AnyType:$C);
}

def ONNX_LessOp : ONNX_Op<"Less", 13, [Pure]> {
  let arguments = (ins AnyType:$A, AnyType:$B);
  let results = (outs AnyType:$C);
}

def ONNX_LessOrEqualOp : ONNX_Op<"LessOrEqual", 16, [Pure]> {
  let arguments = (ins AnyType:$A, AnyType:$B);
  let results = (outs AnyType:$C);
}

def ONNX_NotOp : ONNX_Op<"Not", 1, [Pure]> {
  let arguments = (ins AnyType:$X);
  let results = (outs AnyType:$Y);
}

def ONNX_OrOp : ONNX_Op<"Or", 7, [Pure]> {
  let arguments = (ins AnyType:$A, AnyType:$B);
  let results = (outs AnyType:$C);
}

def ONNX_XorOp : ONNX_Op<"Xor", 7, [Pure]> {
  let arguments = (ins AnyType:$A, AnyType:$B);
  let results = (outs AnyType:$C);
}
