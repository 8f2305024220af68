// SPDX-License-Identifier: Apache-2.0
// Written by tools/gen-onnx-ops.py from onnx 1.21.0; run it again instead of editing.

def ONNX_ImageDecoderOp : ONNX_Op<"ImageDecoder", 20, [Pure]> {
  let arguments = (ins AnyType:$encoded_stream,
                       DefaultValuedOptionalAttr<StrAttr, "\"RGB\"">:$pixel_format);
  let results = (outs AnyType:$image);
}
