// RUN: cameo-opt %s --split-input-file --verify-diagnostics --cameo-lower-onnx-to-dispatches | FileCheck %s

// A window's tap is read at position * stride + tap; without padding there is nothing beside it.
// CHECK: #[[AT:.*]] = affine_map<(d0, d1, d2, d3, d4, d5) -> (d0, d1, d2 * 2 + d4, d3 * 2 + d5)>
// CHECK-LABEL: func @max
// CHECK-NOT: tensor.pad
// CHECK: indexing_maps = [#[[AT]]
// CHECK: arith.maximumf
func.func @max(%x: tensor<1x2x4x4xf32>) -> tensor<1x2x2x2xf32> {
  %y, %i = onnx.MaxPool(%x) {kernel_shape = array<i64: 2, 2>, strides = array<i64: 2, 2>}
      : (tensor<1x2x4x4xf32>) -> (tensor<1x2x2x2xf32>, none)
  return %y : tensor<1x2x2x2xf32>
}

// -----

// With padding, taps outside give the least value.
// CHECK-LABEL: func @padded_bytes
// CHECK: %[[LEAST:.*]] = arith.constant -128 : i8
// CHECK: tensor.pad %{{.*}} low[0, 0, 1] high[0, 0, 1]
// CHECK: tensor.yield %[[LEAST]] : i8
// CHECK: arith.maxsi
func.func @padded_bytes(%x: tensor<1x2x4xi8>) -> tensor<1x2x4xi8> {
  %y, %i = onnx.MaxPool(%x) {kernel_shape = array<i64: 3>, pads = array<i64: 1, 1>}
      : (tensor<1x2x4xi8>) -> (tensor<1x2x4xi8>, none)
  return %y : tensor<1x2x4xi8>
}

// -----

// Rounded up, but no window begins in the padding: 2 positions, not 3.
// CHECK-LABEL: func @ceil
// CHECK: tensor<1x1x2xf32>
func.func @ceil(%x: tensor<1x1x5xf32>) -> tensor<1x1x2xf32> {
  %y = onnx.AveragePool(%x) {ceil_mode = 1 : i64, kernel_shape = array<i64: 2>,
                             pads = array<i64: 0, 1>, strides = array<i64: 3>}
      : (tensor<1x1x5xf32>) -> tensor<1x1x2xf32>
  return %y : tensor<1x1x2xf32>
}

// -----

// expected-error@below {{1 node cannot be compiled}}
func.func @kernel_rank(%x: tensor<1x1x5xf32>) -> tensor<*xf32> {
  // expected-note@below {{kernel_shape holds 2 numbers for an input of rank 3}}
  %y, %i = onnx.MaxPool(%x) {kernel_shape = array<i64: 1, 1>}
      : (tensor<1x1x5xf32>) -> (tensor<*xf32>, none)
  return %y : tensor<*xf32>
}

// -----

// A window of nothing but padding has no greatest element.
// expected-error@below {{1 node cannot be compiled}}
func.func @padding_alone(%x: tensor<1x2x8xf32>) -> tensor<*xf32> {
  // expected-note@below {{pads has a value of 2; it must be less than the size of 2 in kernel_shape}}
  %y, %i = onnx.MaxPool(%x) {kernel_shape = array<i64: 2>, pads = array<i64: 0, 2>}
      : (tensor<1x2x8xf32>) -> (tensor<*xf32>, none)
  return %y : tensor<*xf32>
}
