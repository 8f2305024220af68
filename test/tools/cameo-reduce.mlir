// Operations that do not matter to the script go; the one that does stays, and so does what it needs.
// SPDX-License-Identifier: Apache-2.0
// RUN: cameo-reduce %s '-reduction-tree=traversal-mode=0 test=%S/Inputs/has-relu.sh' | FileCheck %s

// CHECK-LABEL: func.func @Relu
func.func @Relu(%x: tensor<4xf32>) -> tensor<4xf32> {
  // CHECK-NOT: onnx.Neg
  %0 = onnx.Neg(%x) : (tensor<4xf32>) -> tensor<4xf32>
  %1 = onnx.Exp(%x) : (tensor<4xf32>) -> tensor<4xf32>
  // CHECK: onnx.Relu
  %2 = onnx.Relu(%x) : (tensor<4xf32>) -> tensor<4xf32>
  // CHECK-NOT: onnx.Exp
  return %2 : tensor<4xf32>
}

// CHECK-NOT: func.func @Other
func.func @Other(%x: tensor<4xf32>) -> tensor<4xf32> {
  %0 = onnx.Neg(%x) : (tensor<4xf32>) -> tensor<4xf32>
  return %0 : tensor<4xf32>
}
