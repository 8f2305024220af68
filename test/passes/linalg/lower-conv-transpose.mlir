// RUN: cameo-opt %s --split-input-file --verify-diagnostics --cameo-lower-onnx-to-dispatches | FileCheck %s

// Gather form: stride 2 leaves only taps at even distances.
// CHECK-LABEL: func @stride
// CHECK: iterator_types = ["parallel", "parallel", "parallel", "reduction", "reduction"]
// CHECK: arith.remui
// CHECK: scf.if
// CHECK: math.fma
// CHECK: -> tensor<1x2x7xf32>
func.func @stride(%x: tensor<1x3x3xf32>, %w: tensor<3x2x3xf32>) -> tensor<1x2x7xf32> {
  %none = onnx.None() : () -> none
  %y = onnx.ConvTranspose(%x, %w, %none) {strides = array<i64: 2>}
      : (tensor<1x3x3xf32>, tensor<3x2x3xf32>, none) -> tensor<1x2x7xf32>
  return %y : tensor<1x2x7xf32>
}

// -----

// expected-error@below {{1 node cannot be compiled}}
func.func @rank(%x: tensor<1x3x3xf32>, %w: tensor<3x2xf32>) -> tensor<*xf32> {
  %none = onnx.None() : () -> none
  // expected-note@below {{X of rank 3, W of rank 2; one rank of 3 or more is needed}}
  %y = onnx.ConvTranspose(%x, %w, %none)
      : (tensor<1x3x3xf32>, tensor<3x2xf32>, none) -> tensor<*xf32>
  return %y : tensor<*xf32>
}
