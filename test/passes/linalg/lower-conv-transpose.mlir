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

// -----

// expected-error@below {{3 nodes cannot be compiled}}
func.func @outside(%x: tensor<1x3x3xf32>, %w: tensor<3x2x3xf32>)
    -> (tensor<*xf32>, tensor<*xf32>, tensor<*xf32>) {
  %none = onnx.None() : () -> none
  // expected-note@below {{output_padding has a value of 2; it must be less than the stride of 2 or the dilation of 1}}
  %a = onnx.ConvTranspose(%x, %w, %none) {strides = array<i64: 2>, output_padding = array<i64: 2>}
      : (tensor<1x3x3xf32>, tensor<3x2x3xf32>, none) -> tensor<*xf32>
  // expected-note@below {{pads take away 5 elements of 5}}
  %b = onnx.ConvTranspose(%x, %w, %none) {pads = array<i64: 2, 3>}
      : (tensor<1x3x3xf32>, tensor<3x2x3xf32>, none) -> tensor<*xf32>
  // expected-note@below {{output_shape has a size of 6; it must be less than 6}}
  %c = onnx.ConvTranspose(%x, %w, %none) {output_shape = array<i64: 6>}
      : (tensor<1x3x3xf32>, tensor<3x2x3xf32>, none) -> tensor<*xf32>
  return %a, %b, %c : tensor<*xf32>, tensor<*xf32>, tensor<*xf32>
}
