// Every error of the verifiers.
// SPDX-License-Identifier: Apache-2.0
// RUN: cameo-opt %s --split-input-file --verify-diagnostics

func.func @ElementType(%x: tensor<4xi8>) {
  // expected-error @+1 {{input 'input' cannot be int8[4]; Softmax takes float, double, float16, bfloat16}}
  %y = onnx.Softmax(%x) : (tensor<4xi8>) -> tensor<4xi8>
  return
}

// -----

func.func @OutputType(%x: tensor<4xf32>) {
  // expected-error @+1 {{output 'shape' cannot be int32[1]; Shape takes int64}}
  %y = onnx.Shape(%x) : (tensor<4xf32>) -> tensor<1xi32>
  return
}

// -----

func.func @TypesDiffer(%x: tensor<4xf32>, %y: tensor<4xf64>) {
  // expected-error @+1 {{input 'B' is of type double, another value of the same type variable of float}}
  %z = onnx.Add(%x, %y) : (tensor<4xf32>, tensor<4xf64>) -> tensor<4xf32>
  return
}

// -----

func.func @Absent(%x: tensor<4xf32>) {
  %none = onnx.None() : () -> none
  // expected-error @+1 {{input 'B' is not optional}}
  %z = onnx.Add(%x, %none) : (tensor<4xf32>, none) -> tensor<4xf32>
  return
}

// -----

func.func @TooFew() {
  // expected-error @+1 {{has 0 inputs; at least 1 are needed}}
  %z = onnx.Concat() {axis = 0 : i64} : () -> tensor<4xf32>
  return
}

// -----

func.func @TooFewOutputs(%x: tensor<4xf32>) {
  %none = onnx.None() : () -> none
  // expected-error @+1 {{has 0 outputs; at least 1 are needed}}
  onnx.Split(%x, %none) {num_outputs = 2 : i64} : (tensor<4xf32>, none) -> ()
  return
}

// -----

func.func @ConstantType() {
  // expected-error @+1 {{has a value of type 'tensor<2xf32>' but yields 'tensor<f32>'}}
  %c = onnx.Constant() {value = dense<1.0> : tensor<2xf32>} : () -> tensor<f32>
  return
}

// -----

func.func @CustomGraphs() {
  // expected-error @+1 {{names 1 graphs but has 0 regions}}
  onnx.Custom() {domain = "d", onnx_attributes = {}, op_type = "T", version = 1 : i64, graphs = ["body"]} : () -> ()
  return
}
