// Constants are shared and what is unused disappears; random operators are neither.
// SPDX-License-Identifier: Apache-2.0
// RUN: cameo-opt %s --cse --canonicalize | FileCheck %s

// CHECK-LABEL: func.func @SharesConstants
func.func @SharesConstants(%x: tensor<f32>) -> tensor<f32> {
  // CHECK-COUNT-1: onnx.Constant
  // CHECK-NOT: onnx.Constant
  %a = onnx.Constant() {value = dense<2.0> : tensor<f32>} : () -> tensor<f32>
  %b = onnx.Constant() {value = dense<2.0> : tensor<f32>} : () -> tensor<f32>
  %y = onnx.Mul(%x, %a) : (tensor<f32>, tensor<f32>) -> tensor<f32>
  %z = onnx.Mul(%y, %b) : (tensor<f32>, tensor<f32>) -> tensor<f32>
  return %z : tensor<f32>
}

// CHECK-LABEL: func.func @DropsUnused
// CHECK-NEXT: return
func.func @DropsUnused(%x: tensor<4xf32>) -> tensor<4xf32> {
  %y = onnx.Relu(%x) : (tensor<4xf32>) -> tensor<4xf32>
  return %x : tensor<4xf32>
}

// CHECK-LABEL: func.func @KeepsRandom
func.func @KeepsRandom() -> (tensor<2xf32>, tensor<2xf32>) {
  // CHECK-COUNT-2: onnx.RandomNormal
  %a = onnx.RandomNormal() {shape = array<i64: 2>} : () -> tensor<2xf32>
  %b = onnx.RandomNormal() {shape = array<i64: 2>} : () -> tensor<2xf32>
  return %a, %b : tensor<2xf32>, tensor<2xf32>
}
