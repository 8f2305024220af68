// RUN: cameo-opt %s --split-input-file --verify-diagnostics --cameo-lower-onnx-to-dispatches | FileCheck %s

// The sum goes to the destination; kept dimensions of size 1 are a view.
// CHECK-LABEL: func @sum
// CHECK: kernel.dispatch
// CHECK: iterator_types = ["parallel", "reduction", "parallel"]
// CHECK: arith.addf
// CHECK: rt.reshape {{.*}} tensor<2x1x4xf32>
func.func @sum(%x: tensor<2x3x4xf32>) -> tensor<2x1x4xf32> {
  %axes = onnx.Constant() {value = dense<1> : tensor<1xi64>} : () -> tensor<1xi64>
  %y = onnx.ReduceSum(%x, %axes) : (tensor<2x3x4xf32>, tensor<1xi64>) -> tensor<2x1x4xf32>
  return %y : tensor<2x1x4xf32>
}

// -----

// Neighbours that are reduced are one dimension; those that are kept stay as they are.
// CHECK-LABEL: func @neighbours
// CHECK: %[[LINES:.*]] = rt.reshape %arg0 : tensor<2x3x4x5xf32> -> tensor<2x3x20xf32>
// CHECK: kernel.dispatch ins(%[[LINES]] : tensor<2x3x20xf32>) outs(%{{.*}} : tensor<2x3xf32>)
// CHECK: iterator_types = ["parallel", "parallel", "reduction"]
func.func @neighbours(%x: tensor<2x3x4x5xf32>) -> tensor<2x3xf32> {
  %axes = onnx.Constant() {value = dense<[2, 3]> : tensor<2xi64>} : () -> tensor<2xi64>
  %y = onnx.ReduceSum(%x, %axes) {keepdims = 0 : i64}
      : (tensor<2x3x4x5xf32>, tensor<2xi64>) -> tensor<2x3xf32>
  return %y : tensor<2x3xf32>
}

// -----

// Means of 16-bit floats accumulate in f32; unsigned maxima compare as unsigned.
// CHECK-LABEL: func @mean
// CHECK: arith.extf
// CHECK: arith.addf {{.*}} : f32
// CHECK: arith.divf {{.*}} : f32
// CHECK: arith.truncf
// CHECK: arith.maxui
func.func @mean(%x: tensor<2x3xf16>, %u: tensor<2x3xui8>) -> (tensor<2xf16>, tensor<2xui8>) {
  %axes = onnx.Constant() {value = dense<1> : tensor<1xi64>} : () -> tensor<1xi64>
  %y = onnx.ReduceMean(%x, %axes) {keepdims = 0 : i64}
      : (tensor<2x3xf16>, tensor<1xi64>) -> tensor<2xf16>
  %z = onnx.ReduceMax(%u, %axes) {keepdims = 0 : i64}
      : (tensor<2x3xui8>, tensor<1xi64>) -> tensor<2xui8>
  return %y, %z : tensor<2xf16>, tensor<2xui8>
}

// -----

// Axes read at run time: each dimension has an outer and a reduced loop.
// CHECK: affine_map<(d0, d1, d2, d3) -> (d0 + d2, d1 + d3)>
// CHECK-LABEL: func @axes_at_run_time
// CHECK: rt.read
// CHECK: iterator_types = ["parallel", "parallel", "reduction", "reduction"]
func.func @axes_at_run_time(%x: tensor<2x3xf32>, %axes: tensor<1xi64>) -> tensor<?x?xf32> {
  %y = onnx.ReduceSum(%x, %axes) : (tensor<2x3xf32>, tensor<1xi64>) -> tensor<?x?xf32>
  return %y : tensor<?x?xf32>
}

// -----

// Reductions of host values are arithmetic of the plan: the axis is 1, and no dispatch computes it.
// CHECK-LABEL: func @host_product
// CHECK: kernel.dispatch
// CHECK: iterator_types = ["parallel", "reduction"]
// CHECK-NOT: kernel.dispatch
func.func @host_product(%x: tensor<3x4xf32>) -> tensor<3xf32> {
  %ones = onnx.Constant() {value = dense<1> : tensor<2xi64>} : () -> tensor<2xi64>
  %none = onnx.None() : () -> none
  %axis = onnx.ReduceProd(%ones, %none) : (tensor<2xi64>, none) -> tensor<1xi64>
  %y = onnx.ReduceSum(%x, %axis) {keepdims = 0 : i64}
      : (tensor<3x4xf32>, tensor<1xi64>) -> tensor<3xf32>
  return %y : tensor<3xf32>
}

// -----

// The position that compares greater or equal last wins.
// CHECK-LABEL: func @argmax
// CHECK: %[[BETTER:.*]] = arith.cmpf oge
// CHECK: arith.select %[[BETTER]]
// CHECK: arith.select %[[BETTER]]
func.func @argmax(%x: tensor<2x3xf32>) -> tensor<2x1xi64> {
  %y = onnx.ArgMax(%x) {axis = 1 : i64, select_last_index = 1 : i64}
      : (tensor<2x3xf32>) -> tensor<2x1xi64>
  return %y : tensor<2x1xi64>
}

// -----

// CHECK-LABEL: func @cumsum
// CHECK: rt.reshape {{.*}} tensor<2x3x4xf32>
// CHECK: kernel.scan add {{.*}}axis = 1 : i64, exclusive
func.func @cumsum(%x: tensor<2x3x2x2xf32>) -> tensor<2x3x2x2xf32> {
  %axis = onnx.Constant() {value = dense<1> : tensor<i64>} : () -> tensor<i64>
  %y = onnx.CumSum(%x, %axis) {exclusive = 1 : i64}
      : (tensor<2x3x2x2xf32>, tensor<i64>) -> tensor<2x3x2x2xf32>
  return %y : tensor<2x3x2x2xf32>
}

// -----

// expected-error@below {{1 node cannot be compiled}}
func.func @axis_outside(%x: tensor<2x3xf32>) -> tensor<2x3xf32> {
  // expected-note@below {{axis 2 is outside [-2, 2)}}
  %y = onnx.Softmax(%x) {axis = 2 : i64} : (tensor<2x3xf32>) -> tensor<2x3xf32>
  return %y : tensor<2x3xf32>
}
