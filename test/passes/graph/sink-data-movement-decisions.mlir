// RUN: cameo-opt %s --split-input-file --pass-pipeline='builtin.module(func.func(cameo-sink-data-movement,cameo-sink-data-movement),cameo-report-decisions)' -o /dev/null 2>&1 | FileCheck %s

// CHECK: remark: loc("relu"): computed in another order of dimensions, with all that is connected to it: fewer transposes are left around them
func.func @permuted(%x: tensor<3x2xf32>) -> tensor<3x2xf32> {
  %0 = onnx.Transpose(%x) {perm = array<i64: 1, 0>} : (tensor<3x2xf32>) -> tensor<2x3xf32> loc("turn")
  %1 = onnx.Relu(%0) : (tensor<2x3xf32>) -> tensor<2x3xf32> loc("relu")
  %2 = onnx.Transpose(%1) {perm = array<i64: 1, 0>} : (tensor<2x3xf32>) -> tensor<3x2xf32> loc("back")
  return %2 : tensor<3x2xf32>
}

// -----

// CHECK-NEXT: remark: loc("sum"): not computed in another order of dimensions: as many transposes would be left around them
func.func @kept(%x: tensor<3x2xf32>, %y: tensor<2x3xf32>) -> tensor<2x3xf32> {
  %0 = onnx.Transpose(%x) {perm = array<i64: 1, 0>} : (tensor<3x2xf32>) -> tensor<2x3xf32> loc("turn")
  %1 = onnx.Add(%0, %y) : (tensor<2x3xf32>, tensor<2x3xf32>) -> tensor<2x3xf32> loc("sum")
  return %1 : tensor<2x3xf32>
}

// -----

// CHECK-NEXT: remark: loc("columns"): not computed: the product that reads it goes through its operand's columns
// CHECK-NOT: remark
func.func @product(%x: tensor<3x2xf32>, %w: tensor<3x4xf32>) -> tensor<2x4xf32> {
  %0 = onnx.Transpose(%x) {perm = array<i64: 1, 0>} : (tensor<3x2xf32>) -> tensor<2x3xf32> loc("columns")
  %1 = onnx.MatMul(%0, %w) : (tensor<2x3xf32>, tensor<3x4xf32>) -> tensor<2x4xf32> loc("product")
  return %1 : tensor<2x4xf32>
}
