// RUN: cameo-opt %s --split-input-file --pass-pipeline='builtin.module(func.func(cameo-merge-nodes,cameo-merge-nodes),cameo-report-decisions)' 2> %t.txt | FileCheck %s
// RUN: FileCheck %s --check-prefix=LEDGER < %t.txt

// CHECK-LABEL: func @equal
// CHECK: %[[A:.*]] = onnx.Relu
// CHECK-NEXT: %[[B:.*]] = onnx.Add(%[[A]], %[[A]])
// CHECK-NEXT: return %[[B]]
// LEDGER: remark: loc("second"): merged with 'first', an equal node
// Constants are not nodes.
// LEDGER-NEXT: remark: loc("doubled"): merged with 'twice', an equal node
// LEDGER-NOT: remark
func.func @equal(%x: tensor<4xf32>) -> tensor<4xf32> {
  %0 = onnx.Relu(%x) : (tensor<4xf32>) -> tensor<4xf32> loc("first")
  %1 = onnx.Relu(%x) : (tensor<4xf32>) -> tensor<4xf32> loc("second")
  %2 = onnx.Add(%0, %1) : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  return %2 : tensor<4xf32>
}

// CHECK-LABEL: func @constants
// CHECK: onnx.Constant
// CHECK-NOT: onnx.Constant
// CHECK: %[[M:.*]] = onnx.Mul
// CHECK-NEXT: return %[[M]], %[[M]]
func.func @constants(%x: tensor<2xf32>) -> (tensor<2xf32>, tensor<2xf32>) {
  %a = onnx.Constant() {value = dense<2.0> : tensor<2xf32>} : () -> tensor<2xf32> loc("two")
  %b = onnx.Constant() {value = dense<2.0> : tensor<2xf32>} : () -> tensor<2xf32> loc("zwei")
  %0 = onnx.Mul(%x, %a) : (tensor<2xf32>, tensor<2xf32>) -> tensor<2xf32> loc("twice")
  %1 = onnx.Mul(%x, %b) : (tensor<2xf32>, tensor<2xf32>) -> tensor<2xf32> loc("doubled")
  return %0, %1 : tensor<2xf32>, tensor<2xf32>
}

// Other operands, attributes or types.
// CHECK-LABEL: func @unlike
// CHECK: onnx.Concat
// CHECK: onnx.Concat
// CHECK: onnx.Concat
func.func @unlike(%x: tensor<2x2xf32>, %y: tensor<2x2xf32>) -> (tensor<4x2xf32>, tensor<2x4xf32>, tensor<2x4xf32>) {
  %0 = onnx.Concat(%x, %y) {axis = 0 : i64} : (tensor<2x2xf32>, tensor<2x2xf32>) -> tensor<4x2xf32> loc("rows")
  %1 = onnx.Concat(%x, %y) {axis = 1 : i64} : (tensor<2x2xf32>, tensor<2x2xf32>) -> tensor<2x4xf32> loc("columns")
  %2 = onnx.Concat(%y, %x) {axis = 1 : i64} : (tensor<2x2xf32>, tensor<2x2xf32>) -> tensor<2x4xf32> loc("others")
  return %0, %1, %2 : tensor<4x2xf32>, tensor<2x4xf32>, tensor<2x4xf32>
}
