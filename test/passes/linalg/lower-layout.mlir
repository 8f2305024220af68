// RUN: cameo-opt %s --split-input-file --verify-diagnostics --cameo-lower-onnx-to-dispatches | FileCheck %s

// A permutation is the input's map.
// CHECK-DAG: #[[SWAPPED:.*]] = affine_map<(d0, d1) -> (d1, d0)>
// CHECK-LABEL: func @transpose
// CHECK: kernel.dispatch ins(%arg0 : tensor<2x3xf32>)
// CHECK: linalg.generic {indexing_maps = [#[[SWAPPED]], #{{.*}}]
func.func @transpose(%x: tensor<2x3xf32>) -> tensor<3x2xf32> {
  %y = onnx.Transpose(%x) : (tensor<2x3xf32>) -> tensor<3x2xf32>
  return %y : tensor<3x2xf32>
}

// -----

// Dimensions of size 1 that move are no work.
// CHECK-LABEL: func @transpose_ones
// CHECK-NOT: kernel.dispatch
// CHECK: rt.reshape %arg0 : tensor<2x1x3xf32> -> tensor<1x2x3xf32>
func.func @transpose_ones(%x: tensor<2x1x3xf32>) -> tensor<1x2x3xf32> {
  %y = onnx.Transpose(%x) {perm = array<i64: 1, 0, 2>} : (tensor<2x1x3xf32>) -> tensor<1x2x3xf32>
  return %y : tensor<1x2x3xf32>
}

// -----

// CHECK-DAG: #[[STRIDED:.*]] = affine_map<(d0) -> (d0 * 2 + 1)>
// CHECK-LABEL: func @slice
// CHECK: linalg.generic {indexing_maps = [#[[STRIDED]], #{{.*}}]
func.func @slice(%x: tensor<8xf32>) -> tensor<3xf32> {
  %start = onnx.Constant() {value = dense<1> : tensor<1xi64>} : () -> tensor<1xi64>
  %end = onnx.Constant() {value = dense<-2> : tensor<1xi64>} : () -> tensor<1xi64>
  %step = onnx.Constant() {value = dense<2> : tensor<1xi64>} : () -> tensor<1xi64>
  %axis = onnx.Constant() {value = dense<0> : tensor<1xi64>} : () -> tensor<1xi64>
  %y = onnx.Slice(%x, %start, %end, %axis, %step)
      : (tensor<8xf32>, tensor<1xi64>, tensor<1xi64>, tensor<1xi64>, tensor<1xi64>)
      -> tensor<3xf32>
  return %y : tensor<3xf32>
}

// -----

// The operand of an index is found by the index.
// CHECK-LABEL: func @concat
// CHECK: kernel.dispatch ins(%arg0, %arg1 : tensor<2xf32>, tensor<?xf32>)
// CHECK: scf.if
// CHECK: tensor.extract
// CHECK: else
// CHECK: tensor.extract
func.func @concat(%x: tensor<2xf32>, %y: tensor<?xf32>) -> tensor<?xf32> {
  %z = onnx.Concat(%x, %y) {axis = 0 : i64} : (tensor<2xf32>, tensor<?xf32>) -> tensor<?xf32>
  return %z : tensor<?xf32>
}

// -----

// expected-error @below {{unsupported: 1 node cannot be compiled}}
func.func @padding(%x: tensor<4xf32>, %pads: tensor<2xi64>) -> tensor<?xf32> {
  %none = onnx.None() : () -> none
  // expected-note @below {{mode 'mirror'; nearest supported: constant, reflect, edge or wrap}}
  %y = onnx.Pad(%x, %pads, %none, %none) {mode = "mirror"}
      : (tensor<4xf32>, tensor<2xi64>, none, none) -> tensor<?xf32>
  return %y : tensor<?xf32>
}
