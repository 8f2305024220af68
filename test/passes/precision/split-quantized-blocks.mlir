// RUN: cameo-opt %s --split-input-file --pass-pipeline='builtin.module(func.func(cameo-split-quantized-blocks))' > %t
// RUN: FileCheck %s < %t
// RUN: cameo-opt %t --split-input-file --pass-pipeline='builtin.module(func.func(cameo-split-quantized-blocks))' | diff %t -

// CHECK-LABEL: func @blocks
// CHECK: %[[X:.*]] = onnx.Reshape(%arg0, %{{.*}}) {{.*}} -> tensor<?x5x2x2xf32>
// CHECK: %[[W:.*]] = onnx.Constant() {value = dense<{{\[\[\[}}1], [2]], {{\[\[}}3], [4]]]> : tensor<2x2x1xi8>}
// CHECK: %[[S:.*]] = onnx.Constant() {value = dense<{{\[\[\[}}5.000000e-01]], {{\[\[}}2.500000e-01]]]> : tensor<2x1x1xf32>}
// CHECK: %[[D:.*]] = onnx.DequantizeLinear(%[[W]], %[[S]], %{{.*}}) {axis = 1 : i64, block_size = 2 : i64}
// CHECK: onnx.Einsum(%[[X]], %[[D]]) {equation = "abyz,yzx->abx"{{.*}}} : (tensor<?x5x2x2xf32>, tensor<2x2x1xf32>) -> tensor<?x5x1xf32>
func.func @blocks(%x: tensor<?x5x4xf32> {onnx.dims = ["N", 5, 4]}) -> tensor<?x5x1xf32> {
  %none = onnx.None() : () -> none
  %w = onnx.Constant() {value = dense<[[1], [2], [3], [4]]> : tensor<4x1xi8>} : () -> tensor<4x1xi8>
  %s = onnx.Constant() {value = dense<[[0.5], [0.25]]> : tensor<2x1xf32>} : () -> tensor<2x1xf32>
  %0 = onnx.DequantizeLinear(%w, %s, %none) {axis = 0 : i64, block_size = 2 : i64} : (tensor<4x1xi8>, tensor<2x1xf32>, none) -> tensor<4x1xf32>
  %1 = onnx.MatMul(%x, %0) {onnx.dims = [["N", 5, 1]]} : (tensor<?x5x4xf32>, tensor<4x1xf32>) -> tensor<?x5x1xf32>
  return %1 : tensor<?x5x1xf32>
}

// -----

// The last block has less.
// CHECK-LABEL: func @part
// CHECK: onnx.MatMul(
func.func @part(%x: tensor<5x3xf32>) -> tensor<5x1xf32> {
  %none = onnx.None() : () -> none
  %w = onnx.Constant() {value = dense<[[1], [2], [3]]> : tensor<3x1xi8>} : () -> tensor<3x1xi8>
  %s = onnx.Constant() {value = dense<[[0.5], [0.25]]> : tensor<2x1xf32>} : () -> tensor<2x1xf32>
  %0 = onnx.DequantizeLinear(%w, %s, %none) {axis = 0 : i64, block_size = 2 : i64} : (tensor<3x1xi8>, tensor<2x1xf32>, none) -> tensor<3x1xf32>
  %1 = onnx.MatMul(%x, %0) : (tensor<5x3xf32>, tensor<3x1xf32>) -> tensor<5x1xf32>
  return %1 : tensor<5x1xf32>
}

// -----

// Weights come when the model runs.
// CHECK-LABEL: func @given
// CHECK: onnx.MatMul(
func.func @given(%x: tensor<5x4xf32>, %w: tensor<4x1xi8>) -> tensor<5x1xf32> {
  %none = onnx.None() : () -> none
  %s = onnx.Constant() {value = dense<[[0.5], [0.25]]> : tensor<2x1xf32>} : () -> tensor<2x1xf32>
  %0 = onnx.DequantizeLinear(%w, %s, %none) {axis = 0 : i64, block_size = 2 : i64} : (tensor<4x1xi8>, tensor<2x1xf32>, none) -> tensor<4x1xf32>
  %1 = onnx.MatMul(%x, %0) : (tensor<5x4xf32>, tensor<4x1xf32>) -> tensor<5x1xf32>
  return %1 : tensor<5x1xf32>
}

// -----

// Blocks of columns are not blocks of the depth.
// CHECK-LABEL: func @columns
// CHECK: onnx.MatMul(
func.func @columns(%x: tensor<5x2xf32>) -> tensor<5x4xf32> {
  %none = onnx.None() : () -> none
  %w = onnx.Constant() {value = dense<1> : tensor<2x4xi8>} : () -> tensor<2x4xi8>
  %s = onnx.Constant() {value = dense<0.5> : tensor<2x2xf32>} : () -> tensor<2x2xf32>
  %0 = onnx.DequantizeLinear(%w, %s, %none) {axis = 1 : i64, block_size = 2 : i64} : (tensor<2x4xi8>, tensor<2x2xf32>, none) -> tensor<2x4xf32>
  %1 = onnx.MatMul(%x, %0) : (tensor<5x2xf32>, tensor<2x4xf32>) -> tensor<5x4xf32>
  return %1 : tensor<5x4xf32>
}

// -----

// A Gemm by weights whose columns come first; what it adds is added behind.
// CHECK-LABEL: func @turned
// CHECK: %[[C:.*]] = onnx.Constant() {value = dense<7.000000e+00> : tensor<1xf32>}
// CHECK: %[[X:.*]] = onnx.Reshape(%arg0, %{{.*}}) {{.*}} -> tensor<5x2x2xf32>
// CHECK: %[[W:.*]] = onnx.Constant() {value = dense<{{\[\[\[}}1, 2], [3, 4]]]> : tensor<1x2x2xi8>}
// CHECK: %[[S:.*]] = onnx.Constant() {value = dense<{{\[\[\[}}5.000000e-01], [2.500000e-01]]]> : tensor<1x2x1xf32>}
// CHECK: %[[D:.*]] = onnx.DequantizeLinear(%[[W]], %[[S]], %{{.*}}) {axis = 2 : i64, block_size = 2 : i64}
// CHECK: %[[Y:.*]] = onnx.Einsum(%[[X]], %[[D]]) {equation = "ayz,xyz->ax"
// CHECK: onnx.Add(%[[Y]], %[[C]])
func.func @turned(%x: tensor<5x4xf32>) -> tensor<5x1xf32> {
  %none = onnx.None() : () -> none
  %w = onnx.Constant() {value = dense<[[1, 2, 3, 4]]> : tensor<1x4xi8>} : () -> tensor<1x4xi8>
  %s = onnx.Constant() {value = dense<[[0.5, 0.25]]> : tensor<1x2xf32>} : () -> tensor<1x2xf32>
  %c = onnx.Constant() {value = dense<[7.0]> : tensor<1xf32>} : () -> tensor<1xf32>
  %0 = onnx.DequantizeLinear(%w, %s, %none) {axis = 1 : i64, block_size = 2 : i64} : (tensor<1x4xi8>, tensor<1x2xf32>, none) -> tensor<1x4xf32>
  %1 = onnx.Gemm(%x, %0, %c) {transB = 1 : i64} : (tensor<5x4xf32>, tensor<1x4xf32>, tensor<1xf32>) -> tensor<5x1xf32>
  return %1 : tensor<5x1xf32>
}

// -----

// A factor of its own.
// CHECK-LABEL: func @scaled
// CHECK: onnx.Gemm(
func.func @scaled(%x: tensor<5x4xf32>) -> tensor<5x1xf32> {
  %none = onnx.None() : () -> none
  %w = onnx.Constant() {value = dense<[[1, 2, 3, 4]]> : tensor<1x4xi8>} : () -> tensor<1x4xi8>
  %s = onnx.Constant() {value = dense<[[0.5, 0.25]]> : tensor<1x2xf32>} : () -> tensor<1x2xf32>
  %0 = onnx.DequantizeLinear(%w, %s, %none) {axis = 1 : i64, block_size = 2 : i64} : (tensor<1x4xi8>, tensor<1x2xf32>, none) -> tensor<1x4xf32>
  %1 = onnx.Gemm(%x, %0, %none) {alpha = 2.0 : f32, transB = 1 : i64} : (tensor<5x4xf32>, tensor<1x4xf32>, none) -> tensor<5x1xf32>
  return %1 : tensor<5x1xf32>
}

// -----

// ONNX has no Einsum of BF16: sums are of FP32, and what comes of them is rounded.
// CHECK-LABEL: func @bf16
// CHECK: %[[X:.*]] = onnx.Reshape(
// CHECK: %[[W:.*]] = onnx.DequantizeLinear({{.*}} -> tensor<2x2x1xbf16>
// CHECK: %[[A:.*]] = onnx.Cast(%[[X]]) {{.*}} -> tensor<5x2x2xf32>
// CHECK: %[[B:.*]] = onnx.Cast(%[[W]]) {{.*}} -> tensor<2x2x1xf32>
// CHECK: %[[Y:.*]] = onnx.Einsum(%[[A]], %[[B]]) {{.*}} -> tensor<5x1xf32>
// CHECK: onnx.Cast(%[[Y]]) {{.*}} -> tensor<5x1xbf16>
func.func @bf16(%x: tensor<5x4xbf16>) -> tensor<5x1xbf16> {
  %none = onnx.None() : () -> none
  %w = onnx.Constant() {value = dense<[[1], [2], [3], [4]]> : tensor<4x1xi8>} : () -> tensor<4x1xi8>
  %s = onnx.Constant() {value = dense<[[0.5], [0.25]]> : tensor<2x1xbf16>} : () -> tensor<2x1xbf16>
  %0 = onnx.DequantizeLinear(%w, %s, %none) {axis = 0 : i64, block_size = 2 : i64} : (tensor<4x1xi8>, tensor<2x1xbf16>, none) -> tensor<4x1xbf16>
  %1 = onnx.MatMul(%x, %0) : (tensor<5x4xbf16>, tensor<4x1xbf16>) -> tensor<5x1xbf16>
  return %1 : tensor<5x1xbf16>
}
