// RUN: cameo-opt %s --split-input-file --pass-pipeline='builtin.module(cameo-lower-onnx-to-dispatches,func.func(cameo-merge-dispatches,cameo-fuse-dispatches))' | FileCheck %s

// A token in front of patches: who reads both finds elements in its parts, so that none is copied.
// CHECK-LABEL: func @token
// CHECK-NOT: rt.concat
// CHECK: kernel.dispatch
// CHECK-DAG: tensor.pad {{.*}} low[0, 0, 0] high[0, 8, 0]
// CHECK-DAG: tensor.pad {{.*}} low[0, 1, 0] high[0, 0, 0]
// CHECK: arith.select
// CHECK: "reduction"
// CHECK-NOT: kernel.dispatch
func.func @token(%x: tensor<2x8x32xf32>, %t: tensor<2x1x32xf32>, %p: tensor<9x32xf32>) -> tensor<2x9x32xf32> {
  %0 = onnx.Concat(%t, %x) {axis = 1 : i64} : (tensor<2x1x32xf32>, tensor<2x8x32xf32>) -> tensor<2x9x32xf32>
  %1 = onnx.Add(%0, %p) : (tensor<2x9x32xf32>, tensor<9x32xf32>) -> tensor<2x9x32xf32>
  %2 = onnx.Softmax(%1) {axis = 2 : i64} : (tensor<2x9x32xf32>) -> tensor<2x9x32xf32>
  return %2 : tensor<2x9x32xf32>
}

// -----

// Kernels write all parts to their places.
// CHECK-LABEL: func @computed
// CHECK: rt.concat
func.func @computed(%x: tensor<2x8x32xf32>) -> tensor<2x16x32xf32> {
  %0 = onnx.Exp(%x) : (tensor<2x8x32xf32>) -> tensor<2x8x32xf32>
  %1 = onnx.Relu(%x) : (tensor<2x8x32xf32>) -> tensor<2x8x32xf32>
  %2 = onnx.Concat(%0, %1) {axis = 1 : i64} : (tensor<2x8x32xf32>, tensor<2x8x32xf32>) -> tensor<2x16x32xf32>
  %3 = onnx.Softmax(%2) {axis = 2 : i64} : (tensor<2x16x32xf32>) -> tensor<2x16x32xf32>
  return %3 : tensor<2x16x32xf32>
}

// -----

// Two read it: it is in memory, once.
// CHECK-LABEL: func @shared
// CHECK: rt.concat
func.func @shared(%x: tensor<2x8x32xf32>, %t: tensor<2x1x32xf32>, %w: tensor<32x32xf32>) -> (tensor<2x9x32xf32>, tensor<2x9x32xf32>) {
  %0 = onnx.Concat(%t, %x) {axis = 1 : i64} : (tensor<2x1x32xf32>, tensor<2x8x32xf32>) -> tensor<2x9x32xf32>
  %1 = onnx.Softmax(%0) {axis = 2 : i64} : (tensor<2x9x32xf32>) -> tensor<2x9x32xf32>
  %2 = onnx.MatMul(%0, %w) : (tensor<2x9x32xf32>, tensor<32x32xf32>) -> tensor<2x9x32xf32>
  return %1, %2 : tensor<2x9x32xf32>, tensor<2x9x32xf32>
}

// -----

// Neighbours in memory would be of several parts.
// CHECK-LABEL: func @last
// CHECK: rt.concat
func.func @last(%x: tensor<2x8x32xf32>, %t: tensor<2x8x4xf32>) -> tensor<2x8x36xf32> {
  %0 = onnx.Concat(%t, %x) {axis = 2 : i64} : (tensor<2x8x4xf32>, tensor<2x8x32xf32>) -> tensor<2x8x36xf32>
  %1 = onnx.Softmax(%0) {axis = 2 : i64} : (tensor<2x8x36xf32>) -> tensor<2x8x36xf32>
  return %1 : tensor<2x8x36xf32>
}

// -----

// A size that is not known tells of no index which part it is in.
// CHECK-LABEL: func @open
// CHECK: rt.concat
func.func @open(%x: tensor<2x?x32xf32> {onnx.name = "x", onnx.dims = [2, "S", 32]}, %t: tensor<2x1x32xf32>) -> tensor<2x?x32xf32> {
  %0 = onnx.Concat(%t, %x) {axis = 1 : i64} : (tensor<2x1x32xf32>, tensor<2x?x32xf32>) -> tensor<2x?x32xf32>
  %1 = onnx.Softmax(%0) {axis = 2 : i64} : (tensor<2x?x32xf32>) -> tensor<2x?x32xf32>
  return %1 : tensor<2x?x32xf32>
}

// -----

// A product copies tiles: its operand is memory.
// CHECK-LABEL: func @product
// CHECK: rt.concat
func.func @product(%x: tensor<8x32xf32>, %t: tensor<1x32xf32>, %w: tensor<32x32xf32>) -> tensor<9x32xf32> {
  %0 = onnx.Concat(%t, %x) {axis = 0 : i64} : (tensor<1x32xf32>, tensor<8x32xf32>) -> tensor<9x32xf32>
  %1 = onnx.MatMul(%0, %w) : (tensor<9x32xf32>, tensor<32x32xf32>) -> tensor<9x32xf32>
  return %1 : tensor<9x32xf32>
}

// -----

// Each element asks for all parts: of five, four would be in vain.
// CHECK-LABEL: func @many
// CHECK: rt.concat
func.func @many(%x: tensor<2x32xf32>) -> tensor<10x32xf32> {
  %0 = onnx.Concat(%x, %x, %x, %x, %x) {axis = 0 : i64} : (tensor<2x32xf32>, tensor<2x32xf32>, tensor<2x32xf32>, tensor<2x32xf32>, tensor<2x32xf32>) -> tensor<10x32xf32>
  %1 = onnx.Softmax(%0) {axis = 1 : i64} : (tensor<10x32xf32>) -> tensor<10x32xf32>
  return %1 : tensor<10x32xf32>
}
