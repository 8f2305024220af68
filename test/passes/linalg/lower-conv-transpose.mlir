// RUN: cameo-opt %s --split-input-file --verify-diagnostics --cameo-lower-onnx-to-dispatches | FileCheck %s

// The stride is the kernel: one product, written to its places. Any weights will do: no zero is
// around the input.
// CHECK: #[[X:.*]] = affine_map<(d0, d1, d2, d3, d4, d5, d6, d7) -> (d0, d5, d3 - d6, d4 - d7)>
// CHECK: #[[W:.*]] = affine_map<(d0, d1, d2, d3, d4, d5, d6, d7) -> (d5, d1, d6, d2, d7)>
// CHECK: #[[PLACE:.*]] = affine_map<(d0, d1, d2, d3, d4) -> (d0, d1, d3, d2, d4)>
// CHECK-LABEL: func @phases(
// CHECK: %[[TAPS:.*]] = rt.reshape %{{.*}} : tensor<8x4x2x1xf32> -> tensor<8x4x1x2x1xf32>
// CHECK: kernel.dispatch ins(%{{.*}}, %[[TAPS]] : {{.*}}) outs(%{{.*}} : tensor<?x4x5x2x6xf32>)
// CHECK-NOT: tensor.pad
// CHECK: linalg.generic {indexing_maps = [#[[X]], #[[W]], #{{.*}}], iterator_types = ["parallel", "parallel", "parallel", "parallel", "parallel", "reduction", "reduction", "reduction"]}
// CHECK: math.fma
// CHECK: linalg.generic {indexing_maps = [#[[PLACE]], #{{.*}}]
// CHECK: rt.reshape %{{.*}} : tensor<?x4x5x2x6xf32> -> tensor<?x4x10x6xf32>
func.func @phases(%x: tensor<?x8x5x6xf32>, %w: tensor<8x4x2x1xf32>) -> tensor<?x4x10x6xf32> {
  %none = onnx.None() : () -> none
  %y = onnx.ConvTranspose(%x, %w, %none) {strides = array<i64: 2, 1>}
      : (tensor<?x8x5x6xf32>, tensor<8x4x2x1xf32>, none) -> tensor<?x4x10x6xf32>
  return %y : tensor<?x4x10x6xf32>
}

// -----

// Two taps a phase, and padding: zeros around the input, a part of what is computed is the result.
// CHECK-LABEL: func @part(
// CHECK: %[[PADDED:.*]] = tensor.pad %{{.*}} low[0, 0, 1] high[0, 0, 1]
// CHECK: math.fma
// CHECK: %[[ALL:.*]] = tensor.collapse_shape %{{.*}} {{\[}}[0], [1], [2, 3]] : tensor<1x4x10x2xf32> into tensor<1x4x20xf32>
// CHECK: tensor.extract_slice %[[ALL]][0, 0, 1] [1, 4, 18] [1, 1, 1]
func.func @part(%x: tensor<1x8x9xf32>) -> tensor<1x4x18xf32> {
  %none = onnx.None() : () -> none
  %w = onnx.Constant() {value = dense<0.5> : tensor<8x4x4xf32>} : () -> tensor<8x4x4xf32>
  %y = onnx.ConvTranspose(%x, %w, %none) {strides = array<i64: 2>, pads = array<i64: 1, 1>}
      : (tensor<1x8x9xf32>, tensor<8x4x4xf32>, none) -> tensor<1x4x18xf32>
  return %y : tensor<1x4x18xf32>
}

// -----

// Stride 1: a convolution, its taps from the last to the first. Groups are loops.
// CHECK: affine_map<(d0, d1, d2, d3, d4, d5) -> (d0, d1, d4, d3 + d5 * -2 + 4)>
// CHECK: affine_map<(d0, d1, d2, d3, d4, d5) -> (d1, d4, d2, d5)>
// CHECK-LABEL: func @stride_one(
// CHECK: tensor.pad %{{.*}} low[0, 0, 0, 2] high[0, 0, 0, 2]
// CHECK: rt.reshape %{{.*}} : tensor<1x2x8x9xf32> -> tensor<1x16x9xf32>
func.func @stride_one(%x: tensor<1x16x9xf32>) -> tensor<1x16x9xf32> {
  %none = onnx.None() : () -> none
  %w = onnx.Constant() {value = dense<0.5> : tensor<16x8x3xf32>} : () -> tensor<16x8x3xf32>
  %y = onnx.ConvTranspose(%x, %w, %none) {group = 2 : i64, dilations = array<i64: 2>, pads = array<i64: 2, 2>}
      : (tensor<1x16x9xf32>, tensor<16x8x3xf32>, none) -> tensor<1x16x9xf32>
  return %y : tensor<1x16x9xf32>
}

// -----

// The stride does not divide the kernel: products of taps, and the sums of those that reach an
// element, of two taps each.
// CHECK-LABEL: func @gathered(
// CHECK: %[[P:.*]] = kernel.dispatch {{.*}} outs(%{{.*}} : tensor<1x4x3x9xf32>)
// CHECK: iterator_types = ["parallel", "parallel", "parallel", "parallel", "reduction"]
// CHECK: kernel.dispatch ins(%[[P]]
// CHECK: iterator_types = ["parallel", "parallel", "parallel", "reduction"]
// CHECK: arith.remui
// CHECK: scf.if
// CHECK: arith.addf
func.func @gathered(%x: tensor<1x8x9xf32>, %w: tensor<8x4x3xf32>) -> tensor<1x4x19xf32> {
  %none = onnx.None() : () -> none
  %y = onnx.ConvTranspose(%x, %w, %none) {strides = array<i64: 2>}
      : (tensor<1x8x9xf32>, tensor<8x4x3xf32>, none) -> tensor<1x4x19xf32>
  return %y : tensor<1x4x19xf32>
}

// -----

// Weights of run time may be infinite, which zeros around the input must not meet.
// CHECK-LABEL: func @weights_of_run_time(
// CHECK-NOT: tensor.pad
// CHECK: kernel.dispatch {{.*}} outs(%{{.*}} : tensor<1x4x4x9xf32>)
// CHECK: kernel.dispatch
func.func @weights_of_run_time(%x: tensor<1x8x9xf32>, %w: tensor<8x4x4xf32>) -> tensor<1x4x20xf32> {
  %none = onnx.None() : () -> none
  %y = onnx.ConvTranspose(%x, %w, %none) {strides = array<i64: 2>}
      : (tensor<1x8x9xf32>, tensor<8x4x4xf32>, none) -> tensor<1x4x20xf32>
  return %y : tensor<1x4x20xf32>
}

// -----

// Three channels fill no tile: one dispatch, of the taps at even distances only.
// CHECK-LABEL: func @few(
// CHECK: iterator_types = ["parallel", "parallel", "parallel", "reduction", "reduction"]
// CHECK: arith.remui
// CHECK: scf.if
// CHECK: math.fma
// CHECK: -> tensor<1x2x7xf32>
func.func @few(%x: tensor<1x3x3xf32>, %w: tensor<3x2x3xf32>) -> tensor<1x2x7xf32> {
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
