// RUN: cameo-opt %s --split-input-file --pass-pipeline='builtin.module(cameo-lower-onnx-to-dispatches,func.func(cameo-fuse-dispatches),cameo-merge-products,cameo-report-decisions)' -o /dev/null 2>&1 | FileCheck %s
// RUN: cameo-opt %s --split-input-file --pass-pipeline='builtin.module(cameo-lower-onnx-to-dispatches,func.func(cameo-fuse-dispatches),cameo-merge-products{max-results=1},cameo-report-decisions)' -o /dev/null 2>&1 | FileCheck %s --check-prefix=LIMIT
// Nothing is recorded twice.
// RUN: cameo-opt %s --split-input-file --pass-pipeline='builtin.module(cameo-lower-onnx-to-dispatches,func.func(cameo-fuse-dispatches),cameo-merge-products,cameo-merge-products,cameo-report-decisions)' -o /dev/null 2>&1 | FileCheck %s

// Products of one tensor that stay apart, and why.
// CHECK: remark: loc("steps"): not merged with 'first', a product of the same operand: they go through it in different ways or steps; it would save 32768 B of memory traffic
func.func @strides(%x: tensor<1x32x16x16xf32>) -> (tensor<1x32x16x16xf32>, tensor<1x32x8x8xf32>) {
  %w = onnx.Constant() {value = dense<2.0> : tensor<32x32x1x1xf32>} : () -> tensor<32x32x1x1xf32>
  %none = onnx.None() : () -> none
  %0 = onnx.Conv(%x, %w, %none) : (tensor<1x32x16x16xf32>, tensor<32x32x1x1xf32>, none) -> tensor<1x32x16x16xf32> loc("first")
  %1 = onnx.Conv(%x, %w, %none) {strides = array<i64: 2, 2>} : (tensor<1x32x16x16xf32>, tensor<32x32x1x1xf32>, none) -> tensor<1x32x8x8xf32> loc("steps")
  return %0, %1 : tensor<1x32x16x16xf32>, tensor<1x32x8x8xf32>
}

// -----

// CHECK-NEXT: remark: loc("other"): not merged with 'one', a product of the same operand: the weight of one of them is not a constant, or its rows are not columns of the result; it would save 4096 B
func.func @weights(%x: tensor<64x16xf32>, %a: tensor<16x32xf32>) -> (tensor<64x32xf32>, tensor<64x32xf32>) {
  %w = onnx.Constant() {value = dense<2.0> : tensor<16x32xf32>} : () -> tensor<16x32xf32>
  %0 = onnx.MatMul(%x, %a) : (tensor<64x16xf32>, tensor<16x32xf32>) -> tensor<64x32xf32> loc("one")
  %1 = onnx.MatMul(%x, %w) : (tensor<64x16xf32>, tensor<16x32xf32>) -> tensor<64x32xf32> loc("other")
  return %0, %1 : tensor<64x32xf32>, tensor<64x32xf32>
}

// -----

// CHECK-NEXT: remark: loc("threes"): not merged with 'twos', a product of the same operand: a weight has equal elements alone, and is not memory; it would save 4096 B
// LIMIT: remark: loc("threes"): not merged with 'twos', a product of the same operand: one kernel would have 2 results; at most 1; it would save 4096 B
func.func @equal(%x: tensor<64x16xf32>) -> (tensor<64x32xf32>, tensor<64x32xf32>) {
  %a = onnx.Constant() {value = dense<2.0> : tensor<16x32xf32>} : () -> tensor<16x32xf32>
  %b = onnx.Constant() {value = dense<3.0> : tensor<16x32xf32>} : () -> tensor<16x32xf32>
  %0 = onnx.MatMul(%x, %a) : (tensor<64x16xf32>, tensor<16x32xf32>) -> tensor<64x32xf32> loc("twos")
  %1 = onnx.MatMul(%x, %b) : (tensor<64x16xf32>, tensor<16x32xf32>) -> tensor<64x32xf32> loc("threes")
  return %0, %1 : tensor<64x32xf32>, tensor<64x32xf32>
}

// -----

// CHECK-NEXT: remark: loc(fused["behind", "sum"]): not merged with 'before', a product of the same operand: one of them reads what is not computed before the other
// CHECK-NEXT: remark: loc("sum"): fused with 'behind'
// CHECK-NEXT: remark: loc(fused["behind", "sum"]): not fused with 'before': a product needs what many blocks of a product compute
// CHECK-NOT: remark
func.func @order(%x: tensor<64x16xf32>) -> tensor<64x32xf32> {
  %a = onnx.Constant() {value = dense<2.0> : tensor<16x32xf32>} : () -> tensor<16x32xf32>
  %b = onnx.Constant() {value = dense<3.0> : tensor<16x32xf32>} : () -> tensor<16x32xf32>
  %0 = onnx.MatMul(%x, %a) : (tensor<64x16xf32>, tensor<16x32xf32>) -> tensor<64x32xf32> loc("before")
  %1 = onnx.MatMul(%x, %b) : (tensor<64x16xf32>, tensor<16x32xf32>) -> tensor<64x32xf32> loc("behind")
  %2 = onnx.Add(%1, %0) : (tensor<64x32xf32>, tensor<64x32xf32>) -> tensor<64x32xf32> loc("sum")
  return %2 : tensor<64x32xf32>
}
