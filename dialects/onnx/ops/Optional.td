// SPDX-License-Identifier: Apache-2.0
// Written by tools/gen-onnx-ops.py from onnx 1.21.0; run it again instead of editing.

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
