// SPDX-License-Identifier: Apache-2.0
// Written by tools/gen-onnx-ops.py from onnx 1.21.0; run it again instead of editing.

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
