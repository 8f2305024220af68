// RUN: cameo-opt %s --load-pass-plugin=%plugin --pass-pipeline='builtin.module(func.func(replace-divisions))' | FileCheck %s

// A power of two has a reciprocal, to the last bit, and the node keeps its name; three has none.
// CHECK-LABEL: func.func @divisions
// CHECK: %[[QUARTER:.*]] = onnx.Constant() {value = dense<2.500000e-01> : tensor<f32>}
// CHECK: onnx.Mul(%{{.*}}, %[[QUARTER]]) : {{.*}} loc([[NAME:#.*]])
// CHECK: onnx.Div
// CHECK: [[NAME]] = loc("by_four")
func.func @divisions(%x: tensor<2xf32> {onnx.name = "x"}) -> (tensor<2xf32> {onnx.name = "y"}, tensor<2xf32> {onnx.name = "z"}) {
  %four = onnx.Constant() {value = dense<4.0> : tensor<f32>} : () -> tensor<f32>
  %three = onnx.Constant() {value = dense<3.0> : tensor<f32>} : () -> tensor<f32>
  %0 = onnx.Div(%x, %four) : (tensor<2xf32>, tensor<f32>) -> tensor<2xf32> loc("by_four")
  %1 = onnx.Div(%x, %three) : (tensor<2xf32>, tensor<f32>) -> tensor<2xf32> loc("by_three")
  return %0, %1 : tensor<2xf32>, tensor<2xf32>
}
