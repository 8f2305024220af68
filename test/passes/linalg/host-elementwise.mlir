// RUN: cameo-opt %s --split-input-file --cameo-lower-onnx-to-dispatches | FileCheck %s

// Axes that elementwise operators compute from constants are known: the last is reduced, since
// floor(2.7) is 2, and no dispatch computes them.
// CHECK-LABEL: func @axes
// CHECK: kernel.dispatch ins(%arg0 : tensor<2x3x4xf32>)
// CHECK: iterator_types = ["parallel", "parallel", "reduction"]
// CHECK-NOT: kernel.dispatch
func.func @axes(%x: tensor<2x3x4xf32>) -> tensor<2x3xf32> {
  %seven = onnx.Constant() {value = dense<-7> : tensor<1xi64>} : () -> tensor<1xi64>
  %four = onnx.Constant() {value = dense<4> : tensor<i64>} : () -> tensor<i64>
  %r = onnx.Constant() {value = dense<2.7> : tensor<1xf32>} : () -> tensor<1xf32>
  %m = onnx.Mod(%seven, %four) : (tensor<1xi64>, tensor<i64>) -> tensor<1xi64>
  %fl = onnx.Floor(%r) : (tensor<1xf32>) -> tensor<1xf32>
  %one = onnx.Cast(%m) {to = 1 : i64} : (tensor<1xi64>) -> tensor<1xf32>
  %eq = onnx.Less(%one, %fl) : (tensor<1xf32>, tensor<1xf32>) -> tensor<1xi1>
  %ne = onnx.Not(%eq) : (tensor<1xi1>) -> tensor<1xi1>
  %c = onnx.Cast(%fl) {to = 7 : i64} : (tensor<1xf32>) -> tensor<1xi64>
  %axes = onnx.Where(%ne, %seven, %c)
      : (tensor<1xi1>, tensor<1xi64>, tensor<1xi64>) -> tensor<1xi64>
  %y = onnx.ReduceSum(%x, %axes) {keepdims = 0 : i64}
      : (tensor<2x3x4xf32>, tensor<1xi64>) -> tensor<2x3xf32>
  return %y : tensor<2x3xf32>
}

// -----

// The largest size as a float, of a list and along one axis of a table, as torchvision pads images to: no number is
// read back.
// CHECK-LABEL: func @largest
// CHECK-NOT: rt.fetch
// CHECK: kernel.dispatch
// CHECK-NOT: kernel.dispatch
func.func @largest(%x: tensor<?x?xf32>, %y: tensor<?x?xf32>) -> tensor<?x?xf32> {
  %none = onnx.None() : () -> none
  %zero = onnx.Constant() {value = dense<0> : tensor<1xi64>} : () -> tensor<1xi64>
  %one = onnx.Constant() {value = dense<1.0> : tensor<1x1xf32>} : () -> tensor<1x1xf32>
  %a = onnx.Shape(%x) : (tensor<?x?xf32>) -> tensor<2xi64>
  %b = onnx.Shape(%y) : (tensor<?x?xf32>) -> tensor<2xi64>
  %rows = onnx.Unsqueeze(%a, %zero) : (tensor<2xi64>, tensor<1xi64>) -> tensor<1x2xi64>
  %others = onnx.Unsqueeze(%b, %zero) : (tensor<2xi64>, tensor<1xi64>) -> tensor<1x2xi64>
  %table = onnx.Concat(%rows, %others) {axis = 0 : i64} : (tensor<1x2xi64>, tensor<1x2xi64>) -> tensor<2x2xi64>
  %real = onnx.Cast(%table) {to = 1 : i64} : (tensor<2x2xi64>) -> tensor<2x2xf32>
  %most = onnx.ReduceMax(%real, %zero) {keepdims = 0 : i64} : (tensor<2x2xf32>, tensor<1xi64>) -> tensor<2xf32>
  %sizes = onnx.Cast(%most) {to = 7 : i64} : (tensor<2xf32>) -> tensor<2xi64>
  %z = onnx.Expand(%one, %sizes) : (tensor<1x1xf32>, tensor<2xi64>) -> tensor<?x?xf32>
  return %z : tensor<?x?xf32>
}
