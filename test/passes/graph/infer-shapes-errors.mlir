// RUN: not cameo-opt %s --split-input-file --pass-pipeline='builtin.module(func.func(cameo-infer-shapes))' 2>&1 | FileCheck %s

// CHECK: error: {{.*}}node 'join' (Concat): output 0 is declared as float[5,3], but its operands make it float[6,3]
func.func @contradiction(%x: tensor<2x3xf32>, %y: tensor<4x3xf32>) -> tensor<5x3xf32> {
  %0 = onnx.Concat(%x, %y) {axis = 0 : i64} : (tensor<2x3xf32>, tensor<4x3xf32>) -> tensor<5x3xf32> loc("join")
  return %0 : tensor<5x3xf32>
}

// -----

// CHECK: error: {{.*}}node 'positive' (Relu): output 0 is declared as float[6], but its operands make it float[2,3]
func.func @rank(%x: tensor<2x3xf32>) -> tensor<6xf32> {
  %0 = onnx.Relu(%x) : (tensor<2x3xf32>) -> tensor<6xf32> loc("positive")
  return %0 : tensor<6xf32>
}
