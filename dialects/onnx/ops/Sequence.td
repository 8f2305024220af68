// SPDX-License-Identifier: Apache-2.0
// Written by tools/gen-onnx-ops.py from onnx 1.21.0; run it again instead of editing.

def ONNX_ConcatFromSequenceOp : ONNX_Op<"ConcatFromSequence", 11, [Pure]> {
  let arguments = (ins AnyType:$input_sequence, I64Attr:$axis,
                       DefaultValuedOptionalAttr<I64Attr, "0">:$new_axis);
  let results = (outs AnyType:$concat_result);
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

def ONNX_SplitToSequenceOp : ONNX_Op<"SplitToSequence", 24, [Pure]> {
  let arguments = (ins AnyType:$input, AnyType:$split,
                       DefaultValuedOptionalAttr<I64Attr, "0">:$axis,
                       DefaultValuedOptionalAttr<I64Attr, "1">:$keepdims);
  let results = (outs AnyType:$output_sequence);
}
