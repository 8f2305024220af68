// RUN: cameo-opt %s --split-input-file --pass-pipeline='builtin.module(cameo-lower-onnx-to-dispatches,func.func(cameo-fuse-dispatches))' | FileCheck %s

// Rows that a product gathers: each tile finds its rows by their indices.
// CHECK-LABEL: func @rows
// CHECK: kernel.dispatch
// CHECK: tensor.extract
// CHECK: math.fma
// CHECK-NOT: kernel.dispatch
func.func @rows(%t: tensor<500x64xf32>, %i: tensor<2x32xi64>, %w: tensor<64x96xf32>) -> tensor<2x32x96xf32> {
  %0 = onnx.Gather(%t, %i) : (tensor<500x64xf32>, tensor<2x32xi64>) -> tensor<2x32x64xf32>
  %1 = onnx.MatMul(%0, %w) : (tensor<2x32x64xf32>, tensor<64x96xf32>) -> tensor<2x32x96xf32>
  return %1 : tensor<2x32x96xf32>
}

// -----

// With work on them.
// CHECK-LABEL: func @positions
// CHECK: kernel.dispatch
// CHECK: math.fma
// CHECK-NOT: kernel.dispatch
func.func @positions(%t: tensor<500x64xf32>, %i: tensor<32xi32>, %p: tensor<32x64xf32>, %w: tensor<64x96xf32>) -> tensor<32x96xf32> {
  %0 = onnx.Gather(%t, %i) : (tensor<500x64xf32>, tensor<32xi32>) -> tensor<32x64xf32>
  %1 = onnx.Add(%0, %p) : (tensor<32x64xf32>, tensor<32x64xf32>) -> tensor<32x64xf32>
  %2 = onnx.MatMul(%1, %w) : (tensor<32x64xf32>, tensor<64x96xf32>) -> tensor<32x96xf32>
  return %2 : tensor<32x96xf32>
}

// -----

// Along depth an index would be needed for each step.
// CHECK-LABEL: func @depth
// CHECK-COUNT-2: kernel.dispatch
func.func @depth(%a: tensor<32x64xf32>, %t: tensor<500x96xf32>, %i: tensor<64xi64>) -> tensor<32x96xf32> {
  %0 = onnx.Gather(%t, %i) : (tensor<500x96xf32>, tensor<64xi64>) -> tensor<64x96xf32>
  %1 = onnx.MatMul(%a, %0) : (tensor<32x64xf32>, tensor<64x96xf32>) -> tensor<32x96xf32>
  return %1 : tensor<32x96xf32>
}

// -----

// Neighbours in memory would not be neighbours.
// CHECK-LABEL: func @elements
// CHECK-COUNT-2: kernel.dispatch
func.func @elements(%t: tensor<64x500xf32>, %i: tensor<96xi64>, %a: tensor<32x64xf32>) -> tensor<32x96xf32> {
  %0 = onnx.Gather(%t, %i) {axis = 1 : i64} : (tensor<64x500xf32>, tensor<96xi64>) -> tensor<64x96xf32>
  %1 = onnx.MatMul(%a, %0) : (tensor<32x64xf32>, tensor<64x96xf32>) -> tensor<32x96xf32>
  return %1 : tensor<32x96xf32>
}

// -----

// One index may be read from memory, not two.
// CHECK-LABEL: func @points
// CHECK-COUNT-2: kernel.dispatch
func.func @points(%t: tensor<9x9x64xf32>, %i: tensor<32x2xi64>, %w: tensor<64x96xf32>) -> tensor<32x96xf32> {
  %0 = onnx.GatherND(%t, %i) : (tensor<9x9x64xf32>, tensor<32x2xi64>) -> tensor<32x64xf32>
  %1 = onnx.MatMul(%0, %w) : (tensor<32x64xf32>, tensor<64x96xf32>) -> tensor<32x96xf32>
  return %1 : tensor<32x96xf32>
}

// -----

// Somebody else reads them: they are in memory.
// CHECK-LABEL: func @shared
// CHECK-COUNT-2: kernel.dispatch
func.func @shared(%t: tensor<500x64xf32>, %i: tensor<32xi64>, %w: tensor<64x96xf32>) -> (tensor<32x96xf32>, tensor<32x64xf32>) {
  %0 = onnx.Gather(%t, %i) : (tensor<500x64xf32>, tensor<32xi64>) -> tensor<32x64xf32>
  %1 = onnx.MatMul(%0, %w) : (tensor<32x64xf32>, tensor<64x96xf32>) -> tensor<32x96xf32>
  return %1, %0 : tensor<32x96xf32>, tensor<32x64xf32>
}
