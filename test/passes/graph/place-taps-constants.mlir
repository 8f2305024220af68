// RUN: cameo-opt %s --pass-pipeline='builtin.module(cameo-place-taps{values=*})' | FileCheck %s

// Weights that are stored as integers are the same in every run.
// CHECK-LABEL: func @stored_weights
// CHECK: %[[Y:.*]] = onnx.MatMul
// CHECK: return %[[Y]], %{{[^,]*}}, %[[Y]] : tensor<2x2xf32>, tensor<2x2xf32>, tensor<2x2xf32>
func.func @stored_weights(%x: tensor<2x2xf32> {onnx.name = "x"}) -> (tensor<2x2xf32> {onnx.name = "y"}) {
  %w = onnx.Constant() {value = dense<[[1, 2], [3, 4]]> : tensor<2x2xi8>} : () -> tensor<2x2xi8> loc("w")
  %s = onnx.Constant() {value = dense<0.5> : tensor<f32>} : () -> tensor<f32> loc("s")
  %z = onnx.Constant() {value = dense<0> : tensor<i8>} : () -> tensor<i8> loc("z")
  %d = onnx.DequantizeLinear(%w, %s, %z) : (tensor<2x2xi8>, tensor<f32>, tensor<i8>) -> tensor<2x2xf32> loc("d")
  %y = onnx.MatMul(%x, %d) : (tensor<2x2xf32>, tensor<2x2xf32>) -> tensor<2x2xf32> loc("product")
  return %y : tensor<2x2xf32>
}
