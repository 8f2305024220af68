// SPDX-License-Identifier: Apache-2.0
// Written by tools/gen-onnx-ops.py from onnx 1.21.0; run it again instead of editing.

def ONNX_IfOp : ONNX_Op<"If", 25, [RecursiveMemoryEffects, SingleBlock], 2> {
  let arguments = (ins AnyType:$cond);
  let results = (outs Variadic<AnyType>:$outputs);
  let regions = (region SizedRegion<1>:$else_branch, SizedRegion<1>:$then_branch);
}

def ONNX_LoopOp : ONNX_Op<"Loop", 25, [RecursiveMemoryEffects, SingleBlock], 1> {
  let arguments = (ins AnyType:$M, AnyType:$cond, Variadic<AnyType>:$v_initial);
  let results = (outs Variadic<AnyType>:$v_final_and_scan_outputs);
  let regions = (region SizedRegion<1>:$body);
}

def ONNX_ScanOp : ONNX_Op<"Scan", 25, [RecursiveMemoryEffects, SingleBlock], 1> {
  let arguments = (ins Variadic<AnyType>:$initial_state_and_scan_inputs, I64Attr:$num_scan_inputs,
                       OptionalAttr<DenseI64ArrayAttr>:$scan_input_axes,
                       OptionalAttr<DenseI64ArrayAttr>:$scan_input_directions,
                       OptionalAttr<DenseI64ArrayAttr>:$scan_output_axes,
                       OptionalAttr<DenseI64ArrayAttr>:$scan_output_directions);
  let results = (outs Variadic<AnyType>:$final_state_and_scan_outputs);
  let regions = (region SizedRegion<1>:$body);
}
