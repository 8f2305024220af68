// RUN: cameo-opt %s --split-input-file --verify-diagnostics --pass-pipeline='builtin.module(func.func(cameo-fold-scales-into-weights),cameo-report-decisions)' | FileCheck %s
// RUN: cameo-opt %s --split-input-file --pass-pipeline='builtin.module(func.func(cameo-fold-scales-into-weights))' > %t
// RUN: cameo-opt %s --split-input-file --pass-pipeline='builtin.module(func.func(cameo-fold-scales-into-weights,cameo-fold-scales-into-weights))' | diff %t -

// Before and behind; in the end of more dimensions than the weights have.
// CHECK-LABEL: func @matMul
// CHECK-DAG: %[[W:.*]] = onnx.Constant() {value = dense<{{\[}}[1.000000e+00, 2.000000e+00], [2.000000e+00, 4.000000e+00]]> : tensor<2x2xf32>}
// CHECK: %[[Y:.*]] = onnx.MatMul(%arg0, %[[W]])
// CHECK-NEXT: return %[[Y]]
func.func @matMul(%x: tensor<1x4x2xf32>) -> tensor<1x4x2xf32> {
  %w = onnx.Constant() {value = dense<1.0> : tensor<2x2xf32>} : () -> tensor<2x2xf32>
  %c = onnx.Constant() {value = dense<[2.0, 4.0]> : tensor<2xf32>} : () -> tensor<2xf32>
  %d = onnx.Constant() {value = dense<[[[2.0, 1.0]]]> : tensor<1x1x2xf32>} : () -> tensor<1x1x2xf32>
  %0 = onnx.Mul(%c, %x) : (tensor<2xf32>, tensor<1x4x2xf32>) -> tensor<1x4x2xf32>
  %1 = onnx.MatMul(%0, %w) : (tensor<1x4x2xf32>, tensor<2x2xf32>) -> tensor<1x4x2xf32>
  %2 = onnx.Div(%1, %d) : (tensor<1x4x2xf32>, tensor<1x1x2xf32>) -> tensor<1x4x2xf32>
  return %2 : tensor<1x4x2xf32>
}

// -----

// Past a sum, which is scaled as well.
// CHECK-LABEL: func @pastSum
// CHECK: %[[W:.*]] = onnx.Constant() {value = dense<5.000000e-01> : tensor<2x2xf32>}
// CHECK: %[[Y:.*]] = onnx.MatMul(%arg0, %[[W]])
// CHECK: %[[B:.*]] = onnx.Constant() {value = dense<[5.000000e-01, 1.000000e+00]> : tensor<2xf32>}
// CHECK-NEXT: %[[Z:.*]] = onnx.Add(%[[Y]], %[[B]])
// CHECK-NEXT: return %[[Z]]
func.func @pastSum(%x: tensor<4x2xf32>) -> tensor<4x2xf32> {
  %w = onnx.Constant() {value = dense<1.0> : tensor<2x2xf32>} : () -> tensor<2x2xf32>
  %b = onnx.Constant() {value = dense<[1.0, 2.0]> : tensor<2xf32>} : () -> tensor<2xf32>
  %two = onnx.Constant() {value = dense<2.0> : tensor<f32>} : () -> tensor<f32>
  %0 = onnx.MatMul(%x, %w) : (tensor<4x2xf32>, tensor<2x2xf32>) -> tensor<4x2xf32>
  %1 = onnx.Add(%0, %b) : (tensor<4x2xf32>, tensor<2xf32>) -> tensor<4x2xf32>
  %2 = onnx.Div(%1, %two) : (tensor<4x2xf32>, tensor<f32>) -> tensor<4x2xf32>
  return %2 : tensor<4x2xf32>
}

// -----

// Two groups of a convolution without padding: a factor, then a shift, of each input channel.
// CHECK-LABEL: func @conv
// CHECK-DAG: dense<{{\[}}{{\[}}[2.000000e+00, 2.000000e+00]], {{\[}}[3.000000e+00, 3.000000e+00]]]> : tensor<2x1x2xf32>
// CHECK-DAG: dense<[4.000000e+00, 1.200000e+01]> : tensor<2xf32>
// CHECK: %[[Y:.*]] = onnx.Conv(%arg0
// CHECK-NEXT: return %[[Y]]
func.func @conv(%x: tensor<1x2x4xf32>) -> tensor<1x2x3xf32> {
  %w = onnx.Constant() {value = dense<1.0> : tensor<2x1x2xf32>} : () -> tensor<2x1x2xf32>
  %c = onnx.Constant() {value = dense<[[2.0], [3.0]]> : tensor<2x1xf32>} : () -> tensor<2x1xf32>
  %d = onnx.Constant() {value = dense<[[-1.0], [-2.0]]> : tensor<2x1xf32>} : () -> tensor<2x1xf32>
  %none = onnx.None() : () -> none
  %0 = onnx.Sub(%x, %d) : (tensor<1x2x4xf32>, tensor<2x1xf32>) -> tensor<1x2x4xf32>
  %1 = onnx.Mul(%0, %c) : (tensor<1x2x4xf32>, tensor<2x1xf32>) -> tensor<1x2x4xf32>
  %2 = onnx.Conv(%1, %w, %none) {group = 2 : i64} : (tensor<1x2x4xf32>, tensor<2x1x2xf32>, none) -> tensor<1x2x3xf32>
  return %2 : tensor<1x2x3xf32>
}

// -----

// CHECK-LABEL: func @gemm
// CHECK-DAG: %[[W:.*]] = onnx.Constant() {value = dense<{{\[}}[1.000000e+00], [2.000000e+00]]> : tensor<2x1xf32>}
// CHECK-DAG: %[[B:.*]] = onnx.Constant() {value = dense<1.100000e+01> : tensor<1xf32>}
// CHECK: onnx.Gemm(%arg0, %[[W]], %[[B]]) {alpha = 5.000000e-01 : f32, beta = 1.000000e+00 : f32}
func.func @gemm(%x: tensor<4x2xf32>) -> tensor<4x1xf32> {
  %w = onnx.Constant() {value = dense<[[1.0], [2.0]]> : tensor<2x1xf32>} : () -> tensor<2x1xf32>
  %b = onnx.Constant() {value = dense<10.0> : tensor<1xf32>} : () -> tensor<1xf32>
  %d = onnx.Constant() {value = dense<[4.0, 4.0]> : tensor<2xf32>} : () -> tensor<2xf32>
  %0 = onnx.Add(%x, %d) : (tensor<4x2xf32>, tensor<2xf32>) -> tensor<4x2xf32>
  %1 = onnx.Gemm(%0, %w, %b) {alpha = 0.5 : f32, beta = 0.5 : f32} : (tensor<4x2xf32>, tensor<2x1xf32>, tensor<1xf32>) -> tensor<4x1xf32>
  return %1 : tensor<4x1xf32>
}

// -----

// CHECK-LABEL: func @constants
// CHECK: %[[C:.*]] = onnx.Constant() {value = dense<[2.000000e+00, 4.000000e+00]> : tensor<2xf32>}
// CHECK: %[[M:.*]] = onnx.Mul(%arg0, %[[C]])
// CHECK: %[[D:.*]] = onnx.Constant() {value = dense<2.000000e+00> : tensor<f32>}
// CHECK: %[[A:.*]] = onnx.Add(%[[M]], %[[D]])
// CHECK: return %[[A]]
func.func @constants(%x: tensor<4x2xf32>) -> tensor<4x2xf32> {
  %two = onnx.Constant() {value = dense<2.0> : tensor<f32>} : () -> tensor<f32>
  %four = onnx.Constant() {value = dense<4.0> : tensor<f32>} : () -> tensor<f32>
  %c = onnx.Constant() {value = dense<[4.0, 8.0]> : tensor<2xf32>} : () -> tensor<2xf32>
  %0 = onnx.Mul(%x, %c) : (tensor<4x2xf32>, tensor<2xf32>) -> tensor<4x2xf32>
  %1 = onnx.Div(%0, %two) : (tensor<4x2xf32>, tensor<f32>) -> tensor<4x2xf32>
  %2 = onnx.Add(%four, %1) : (tensor<f32>, tensor<4x2xf32>) -> tensor<4x2xf32>
  %3 = onnx.Sub(%2, %two) : (tensor<4x2xf32>, tensor<f32>) -> tensor<4x2xf32>
  return %3 : tensor<4x2xf32>
}

// -----

// Other readers; constants that together are more numbers, or make the operand larger; integers; padding that
// would be shifted; a matrix read by columns; a constant divided.
// CHECK-LABEL: func @stays
// CHECK: onnx.Mul
// CHECK: onnx.Mul
// CHECK: onnx.Mul
// CHECK: onnx.Mul
// CHECK: onnx.Mul
// CHECK: onnx.MatMul
// CHECK: onnx.Mul
// CHECK: onnx.Mul
// CHECK: onnx.Add
// CHECK: onnx.Conv
// CHECK: onnx.Mul
// CHECK: onnx.Gemm
// CHECK: onnx.MatMul
// CHECK: onnx.Div
func.func @stays(%x: tensor<2x2xf32>, %y: tensor<2x1xf32>, %i: tensor<2xi32>, %z: tensor<1x1x4xf32>)
    -> (tensor<2x2xf32>, tensor<2x2xf32>, tensor<2x2xf32>, tensor<2x2xf32>, tensor<2xi32>, tensor<1x1x4xf32>, tensor<2x2xf32>, tensor<2x2xf32>) {
  %w = onnx.Constant() {value = dense<1.0> : tensor<2x2xf32>} : () -> tensor<2x2xf32>
  %k = onnx.Constant() {value = dense<1.0> : tensor<1x1x3xf32>} : () -> tensor<1x1x3xf32>
  %row = onnx.Constant() {value = dense<[2.0, 3.0]> : tensor<2xf32>} : () -> tensor<2xf32>
  %column = onnx.Constant() {value = dense<[[2.0], [3.0]]> : tensor<2x1xf32>} : () -> tensor<2x1xf32>
  %two = onnx.Constant() {value = dense<2.0> : tensor<f32>} : () -> tensor<f32>
  %three = onnx.Constant() {value = dense<3> : tensor<i32>} : () -> tensor<i32>
  %none = onnx.None() : () -> none
  %0 = onnx.Mul(%x, %row) : (tensor<2x2xf32>, tensor<2xf32>) -> tensor<2x2xf32>
  %1 = onnx.Mul(%0, %two) : (tensor<2x2xf32>, tensor<f32>) -> tensor<2x2xf32>
  %2 = onnx.Mul(%x, %row) : (tensor<2x2xf32>, tensor<2xf32>) -> tensor<2x2xf32>
  %3 = onnx.Mul(%2, %column) : (tensor<2x2xf32>, tensor<2x1xf32>) -> tensor<2x2xf32>
  %4 = onnx.Mul(%y, %row) : (tensor<2x1xf32>, tensor<2xf32>) -> tensor<2x2xf32>
  %5 = onnx.MatMul(%4, %w) : (tensor<2x2xf32>, tensor<2x2xf32>) -> tensor<2x2xf32>
  %6 = onnx.Mul(%i, %three) : (tensor<2xi32>, tensor<i32>) -> tensor<2xi32>
  %7 = onnx.Mul(%6, %three) : (tensor<2xi32>, tensor<i32>) -> tensor<2xi32>
  %8 = onnx.Add(%z, %two) : (tensor<1x1x4xf32>, tensor<f32>) -> tensor<1x1x4xf32>
  %9 = onnx.Conv(%8, %k, %none) {pads = array<i64: 1, 1>} : (tensor<1x1x4xf32>, tensor<1x1x3xf32>, none) -> tensor<1x1x4xf32>
  %10 = onnx.Mul(%x, %two) : (tensor<2x2xf32>, tensor<f32>) -> tensor<2x2xf32>
  %11 = onnx.Gemm(%10, %w, %none) {transA = 1 : i64} : (tensor<2x2xf32>, tensor<2x2xf32>, none) -> tensor<2x2xf32>
  %12 = onnx.MatMul(%x, %w) : (tensor<2x2xf32>, tensor<2x2xf32>) -> tensor<2x2xf32>
  %13 = onnx.Div(%two, %12) : (tensor<f32>, tensor<2x2xf32>) -> tensor<2x2xf32>
  return %0, %1, %3, %5, %7, %9, %11, %13 : tensor<2x2xf32>, tensor<2x2xf32>, tensor<2x2xf32>, tensor<2x2xf32>, tensor<2xi32>, tensor<1x1x4xf32>, tensor<2x2xf32>, tensor<2x2xf32>
}

// -----

// CHECK-LABEL: func @range
// CHECK: onnx.MatMul
// CHECK: onnx.Div
func.func @range(%x: tensor<2x2xf32>) -> tensor<2x2xf32> {
  %w = onnx.Constant() {value = dense<1.0> : tensor<2x2xf32>} : () -> tensor<2x2xf32>
  %zero = onnx.Constant() {value = dense<0.0> : tensor<f32>} : () -> tensor<f32>
  %0 = onnx.MatMul(%x, %w) : (tensor<2x2xf32>, tensor<2x2xf32>) -> tensor<2x2xf32>
  // expected-remark @+1 {{not folded into weights: the weights would leave the range of float}}
  %1 = onnx.Div(%0, %zero) : (tensor<2x2xf32>, tensor<f32>) -> tensor<2x2xf32>
  return %1 : tensor<2x2xf32>
}
