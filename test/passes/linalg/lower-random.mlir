// RUN: cameo-opt %s --split-input-file --cameo-lower-onnx-to-dispatches | FileCheck %s

// A number is a function of the run's state and of an element's place in row-major order.
// CHECK-LABEL: func @uniform
// CHECK: %[[STATE:.*]] = rt.random_state : tensor<8xi32>
// CHECK: %[[FLAT:.*]] = kernel.dispatch ins(%[[STATE]] : tensor<8xi32>) outs(%{{.*}} : tensor<6xf32>)
// CHECK-NEXT: ^bb0(%[[IN:.*]]: tensor<8xi32>,
// CHECK: linalg.generic
// CHECK: linalg.index 0
// CHECK: tensor.extract %[[IN]]
// CHECK: arith.muli {{.*}} : i64
// CHECK: arith.uitofp {{.*}} : i32 to f32
// CHECK: rt.reshape %[[FLAT]] : tensor<6xf32> -> tensor<2x3xf32>
func.func @uniform() -> tensor<2x3xf32> {
  %none = onnx.None() : () -> none
  %shape = onnx.Constant() {value = dense<[2, 3]> : tensor<2xi64>} : () -> tensor<2xi64>
  %s = onnx.RandomState() : () -> tensor<8xi32>
  %0 = onnx.Draw(%s, %shape, %none) {distribution = "uniform", stream = 3 : i64, low = 0.0 : f32, high = 1.0 : f32}
      : (tensor<8xi32>, tensor<2xi64>, none) -> tensor<2x3xf32>
  return %0 : tensor<2x3xf32>
}

// -----

// Two blocks are derived for a trip; nothing but the number of it is given by the host.
// CHECK-LABEL: func @trip
// CHECK: %[[STATE:.*]] = rt.random_state
// CHECK: kernel.dispatch ins(%[[STATE]] : tensor<8xi32>) outs({{.*}} : tensor<8xi32>)
func.func @trip() -> tensor<8xi32> {
  %i = onnx.Constant() {value = dense<4> : tensor<i64>} : () -> tensor<i64>
  %s = onnx.RandomState() : () -> tensor<8xi32>
  %0 = onnx.RandomTrip(%s, %i) : (tensor<8xi32>, tensor<i64>) -> tensor<8xi32>
  return %0 : tensor<8xi32>
}

// -----

// Probabilities are read at the element's place, or one for all.
// CHECK-LABEL: func @below
// CHECK-COUNT-2: arith.cmpf olt
func.func @below(%p: tensor<?x3xf32>, %one: tensor<f32>) -> (tensor<?x3xi1>, tensor<4xi1>) {
  %none = onnx.None() : () -> none
  %shape = onnx.Constant() {value = dense<4> : tensor<1xi64>} : () -> tensor<1xi64>
  %s = onnx.RandomState() : () -> tensor<8xi32>
  %0 = onnx.Draw(%s, %none, %p) {distribution = "below", stream = 0 : i64} : (tensor<8xi32>, none, tensor<?x3xf32>) -> tensor<?x3xi1>
  %1 = onnx.Draw(%s, %shape, %one) {distribution = "below", stream = 1 : i64, seed = 7 : i64}
      : (tensor<8xi32>, tensor<1xi64>, tensor<f32>) -> tensor<4xi1>
  return %0, %1 : tensor<?x3xi1>, tensor<4xi1>
}
