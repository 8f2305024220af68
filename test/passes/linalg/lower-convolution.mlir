// RUN: cameo-opt %s --split-input-file --verify-diagnostics --cameo-lower-onnx-to-dispatches | FileCheck %s

// One sum of products over channels and taps, with the bias added to the sum.
// CHECK: #[[IN:.*]] = affine_map<(d0, d1, d2, d3, d4) -> (d0, d3, d2 * 2 + d4 * 3)>
// CHECK: #[[WEIGHT:.*]] = affine_map<(d0, d1, d2, d3, d4) -> (d1, d3, d4)>
// CHECK: #[[OUT:.*]] = affine_map<(d0, d1, d2, d3, d4) -> (d0, d1, d2)>
// CHECK: #[[BIAS:.*]] = affine_map<(d0, d1, d2) -> (d1)>
// CHECK-LABEL: func @plain
// CHECK-SAME: -> (tensor<2x4x3xf32>
// CHECK-NOT: tensor.pad
// CHECK: linalg.generic {indexing_maps = [#[[IN]], #[[WEIGHT]], #[[OUT]]]
// CHECK: math.fma
// CHECK: linalg.generic {indexing_maps = [#{{.*}}, #[[BIAS]],
// CHECK: arith.addf
func.func @plain(%x: tensor<2x3x8xf32>, %w: tensor<4x3x2xf32>, %b: tensor<4xf32>)
    -> tensor<2x4x3xf32> {
  %y = onnx.Conv(%x, %w, %b) {dilations = array<i64: 3>, strides = array<i64: 2>}
      : (tensor<2x3x8xf32>, tensor<4x3x2xf32>, tensor<4xf32>) -> tensor<2x4x3xf32>
  return %y : tensor<2x4x3xf32>
}

// -----

// With groups, channels are seen as [group, channel].
// CHECK: affine_map<(d0, d1, d2, d3, d4, d5) -> (d0, d1, d4, d3 + d5)>
// CHECK-LABEL: func @groups
// CHECK: rt.reshape {{.*}} : tensor<1x4x5xf32> -> tensor<1x2x2x5xf32>
// CHECK: rt.reshape {{.*}} : tensor<6x2x2xf32> -> tensor<2x3x2x2xf32>
// CHECK: rt.reshape {{.*}} : tensor<1x2x3x4xf32> -> tensor<1x6x4xf32>
func.func @groups(%x: tensor<1x4x5xf32>, %w: tensor<6x2x2xf32>) -> tensor<1x6x4xf32> {
  %none = onnx.None() : () -> none
  %y = onnx.Conv(%x, %w, %none) {group = 2 : i64}
      : (tensor<1x4x5xf32>, tensor<6x2x2xf32>, none) -> tensor<1x6x4xf32>
  return %y : tensor<1x6x4xf32>
}

// -----

// Of an odd number of padded elements, SAME_UPPER has the greater part behind the input and
// SAME_LOWER in front of it.
// CHECK-LABEL: func @same
// CHECK: tensor.pad %{{.*}} low[0, 0, 0] high[0, 0, 1]
// CHECK: tensor.pad %{{.*}} low[0, 0, 1] high[0, 0, 0]
func.func @same(%x: tensor<1x1x4xf32>, %w: tensor<1x1x2xf32>) -> tensor<1x1x4xf32> {
  %none = onnx.None() : () -> none
  %0 = onnx.Conv(%x, %w, %none) {auto_pad = "SAME_UPPER"}
      : (tensor<1x1x4xf32>, tensor<1x1x2xf32>, none) -> tensor<1x1x4xf32>
  %1 = onnx.Conv(%0, %w, %none) {auto_pad = "SAME_LOWER"}
      : (tensor<1x1x4xf32>, tensor<1x1x2xf32>, none) -> tensor<1x1x4xf32>
  return %1 : tensor<1x1x4xf32>
}

// -----

// A size that is known at run time only: the windows are counted, and there must be one.
// CHECK-LABEL: func @symbolic
// CHECK: %[[PADDED:.*]] = arith.addi %{{.*}}, %c2
// CHECK: %[[ROOM:.*]] = arith.subi %[[PADDED]], %c3
// CHECK: %[[STEPS:.*]] = arith.floordivsi %[[ROOM]], %c2
// CHECK: rt.check {{.*}}"a window of {0} elements is larger than the padded input of {1}"(%c3, %[[PADDED]]
// CHECK: arith.addi %[[STEPS]], %c1
func.func @symbolic(%x: tensor<1x1x?xf32> {onnx.dims = [1, 1, "W"]}, %w: tensor<1x1x3xf32>)
    -> tensor<1x1x?xf32> {
  %none = onnx.None() : () -> none
  %y = onnx.Conv(%x, %w, %none) {pads = array<i64: 1, 1>, strides = array<i64: 2>}
      : (tensor<1x1x?xf32>, tensor<1x1x3xf32>, none) -> tensor<1x1x?xf32>
  return %y : tensor<1x1x?xf32>
}

// -----

// expected-error@below {{1 node cannot be compiled}}
func.func @large_window(%x: tensor<1x1x3xf32>, %w: tensor<1x1x4xf32>) -> tensor<*xf32> {
  %none = onnx.None() : () -> none
  // expected-note@below {{a window of 4 elements is larger than the padded input of 3}}
  %y = onnx.Conv(%x, %w, %none) : (tensor<1x1x3xf32>, tensor<1x1x4xf32>, none) -> tensor<*xf32>
  return %y : tensor<*xf32>
}

// -----

// expected-error@below {{1 node cannot be compiled}}
func.func @channels(%x: tensor<1x4x3xf32>, %w: tensor<2x3x1xf32>) -> tensor<*xf32> {
  %none = onnx.None() : () -> none
  // expected-note@below {{the weights take 3 channels, the input has 4}}
  %y = onnx.Conv(%x, %w, %none) : (tensor<1x4x3xf32>, tensor<2x3x1xf32>, none) -> tensor<*xf32>
  return %y : tensor<*xf32>
}
