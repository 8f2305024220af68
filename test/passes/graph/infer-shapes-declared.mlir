// RUN: cameo-opt %s --split-input-file --pass-pipeline='builtin.module(func.func(cameo-infer-shapes))' -o %t 2>&1 | FileCheck %s --check-prefix=WARN
// RUN: FileCheck %s < %t

// Declared shapes that the operands contradict are warned of and ignored.

// WARN: warning: {{.*}}node 'join' (Concat): output 0 ('sum') is declared as float[5,3], but its operands make it float[6,3]; the declaration is ignored
// CHECK-LABEL: func @size
// CHECK-SAME: -> (tensor<6x3xf32> {onnx.dims = [6, 3], onnx.name = "sum"})
// CHECK: onnx.Concat({{.*}}) -> tensor<6x3xf32>
func.func @size(%x: tensor<2x3xf32>, %y: tensor<4x3xf32>) -> (tensor<5x3xf32> {onnx.name = "sum", onnx.dims = [5, 3]}) {
  %0 = onnx.Concat(%x, %y) {axis = 0 : i64} : (tensor<2x3xf32>, tensor<4x3xf32>) -> tensor<5x3xf32> loc("join")
  return %0 : tensor<5x3xf32>
}

// -----

// WARN: warning: {{.*}}node 'positive' (Relu): output 0 is declared as float[6], but its operands make it float[?,3]; the declaration is ignored
// CHECK-LABEL: func @rank
// CHECK-SAME: -> (tensor<?x3xf32> {onnx.dims = ["N", 3]})
// CHECK: onnx.Neg({{.*}}) {onnx.dims = {{\[}}["N", 3]]} : (tensor<?x3xf32>) -> tensor<?x3xf32>
func.func @rank(%x: tensor<?x3xf32> {onnx.dims = ["N", 3]}) -> (tensor<?xf32> {onnx.dims = ["M"]}) {
  %0 = onnx.Relu(%x) : (tensor<?x3xf32>) -> tensor<6xf32> loc("positive")
  %1 = onnx.Neg(%0) : (tensor<6xf32>) -> tensor<?xf32>
  return %1 : tensor<?xf32>
}
