// A live chain: what stands before the operation that matters becomes an argument, what comes after
// it goes, and nothing is said of what was tried on the way.
// SPDX-License-Identifier: Apache-2.0
// RUN: cameo-reduce %s '-reduction-tree=traversal-mode=0 test=%S/Inputs/has-relu.sh' > %t 2> %t.errors
// RUN: FileCheck %s < %t
// RUN: count 0 < %t.errors

// CHECK: func.func @classifier(%[[X:.*]]: tensor<*xf32>) {
// CHECK-NEXT: onnx.Relu(%[[X]])
// CHECK-NEXT: return
// CHECK-NEXT: }
// CHECK-NOT: onnx
func.func @classifier(%x: tensor<?x64xf32> {onnx.dims = ["N", 64], onnx.name = "x"}) -> (tensor<?x16xf32> {onnx.dims = ["N", 16], onnx.name = "y"}) {
  %none = onnx.None() : () -> none
  %w = onnx.Constant() {value = dense<1.0> : tensor<64x16xf32>} : () -> tensor<64x16xf32>
  %b = onnx.Constant() {value = dense<2.0> : tensor<16xf32>} : () -> tensor<16xf32>
  %half = onnx.Constant() {value = dense<5.0e-01> : tensor<f32>} : () -> tensor<f32>
  %0 = onnx.Mul(%b, %half) : (tensor<16xf32>, tensor<f32>) -> tensor<*xf32>
  %1 = onnx.MatMul(%x, %w) : (tensor<?x64xf32>, tensor<64x16xf32>) -> tensor<*xf32>
  %2 = onnx.Add(%1, %0) : (tensor<*xf32>, tensor<*xf32>) -> tensor<*xf32>
  %output, %mask = onnx.Dropout(%2, %none, %none) : (tensor<*xf32>, none, none) -> (tensor<*xf32>, none)
  %3 = onnx.Relu(%output) : (tensor<*xf32>) -> tensor<*xf32>
  %4 = onnx.Softmax(%3) {axis = -1 : i64} : (tensor<*xf32>) -> tensor<?x16xf32>
  return %4 : tensor<?x16xf32>
}
