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

// Two groups of a convolution: a factor of each input channel.
// CHECK-LABEL: func @conv
// CHECK: dense<{{\[}}{{\[}}[2.000000e+00, 2.000000e+00]], {{\[}}[3.000000e+00, 3.000000e+00]]]> : tensor<2x1x2xf32>
// CHECK: %[[Y:.*]] = onnx.Conv(%arg0
// CHECK-NEXT: return %[[Y]]
func.func @conv(%x: tensor<1x2x4xf32>) -> tensor<1x2x3xf32> {
  %w = onnx.Constant() {value = dense<1.0> : tensor<2x1x2xf32>} : () -> tensor<2x1x2xf32>
  %c = onnx.Constant() {value = dense<[[2.0], [3.0]]> : tensor<2x1xf32>} : () -> tensor<2x1xf32>
  %none = onnx.None() : () -> none
  %1 = onnx.Mul(%x, %c) : (tensor<1x2x4xf32>, tensor<2x1xf32>) -> tensor<1x2x4xf32>
  %2 = onnx.Conv(%1, %w, %none) {group = 2 : i64} : (tensor<1x2x4xf32>, tensor<2x1x2xf32>, none) -> tensor<1x2x3xf32>
  return %2 : tensor<1x2x3xf32>
}

// -----

// CHECK-LABEL: func @gemm
// CHECK-DAG: %[[W:.*]] = onnx.Constant() {value = dense<{{\[}}[1.000000e+00], [2.000000e+00]]> : tensor<2x1xf32>}
// CHECK-DAG: %[[B:.*]] = onnx.Constant() {value = dense<1.000000e+01> : tensor<1xf32>}
// CHECK: %[[A:.*]] = onnx.Add(%arg0
// CHECK: onnx.Gemm(%[[A]], %[[W]], %[[B]]) {alpha = 5.000000e-01 : f32, beta = 5.000000e-01 : f32}
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

// -----

// Behind a convolution: one number a channel, of two groups of a transposed one; and what is left is next to a
// batch normalization.
// CHECK-LABEL: func @behind
// CHECK-DAG: dense<{{\[}}{{\[}}[2.000000e+00], [4.000000e+00]], {{\[}}[6.000000e+00], [8.000000e+00]]]> : tensor<2x2x1xf32>
// CHECK-DAG: dense<[6.000000e+00, 8.000000e+00, 1.000000e+01, 1.200000e+01]> : tensor<4xf32>
// CHECK: %[[Y:.*]] = onnx.ConvTranspose(%arg0
// CHECK-NEXT: return %[[Y]]
func.func @behind(%x: tensor<1x2x4xf32>) -> tensor<1x4x4xf32> {
  %w = onnx.Constant() {value = dense<1.0> : tensor<2x2x1xf32>} : () -> tensor<2x2x1xf32>
  %c = onnx.Constant() {value = dense<[[0.5], [1.0], [1.5], [2.0]]> : tensor<4x1xf32>} : () -> tensor<4x1xf32>
  %half = onnx.Constant() {value = dense<0.5> : tensor<f32>} : () -> tensor<f32>
  %factor = onnx.Constant() {value = dense<1.0> : tensor<f32>} : () -> tensor<f32>
  %shift = onnx.Constant() {value = dense<[[[1.0], [2.0], [3.0], [4.0]]]> : tensor<1x4x1xf32>} : () -> tensor<1x4x1xf32>
  %one = onnx.Constant() {value = dense<1.0> : tensor<4xf32>} : () -> tensor<4xf32>
  %two = onnx.Constant() {value = dense<2.0> : tensor<4xf32>} : () -> tensor<4xf32>
  %zero = onnx.Constant() {value = dense<0.0> : tensor<4xf32>} : () -> tensor<4xf32>
  %none = onnx.None() : () -> none
  %0 = onnx.ConvTranspose(%x, %w, %none) {group = 2 : i64} : (tensor<1x2x4xf32>, tensor<2x2x1xf32>, none) -> tensor<1x4x4xf32>
  %1 = onnx.Mul(%c, %0) : (tensor<4x1xf32>, tensor<1x4x4xf32>) -> tensor<1x4x4xf32>
  // expected-remark @+1 {{folded into the convolution before it}}
  %2:3 = onnx.BatchNormalization(%1, %two, %two, %zero, %one) {epsilon = 0.0 : f32} : (tensor<1x4x4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>) -> (tensor<1x4x4xf32>, none, none)
  %3 = onnx.Add(%2#0, %shift) : (tensor<1x4x4xf32>, tensor<1x4x1xf32>) -> tensor<1x4x4xf32>
  %4 = onnx.Mul(%3, %factor) : (tensor<1x4x4xf32>, tensor<f32>) -> tensor<1x4x4xf32>
  %5 = onnx.Div(%4, %half) : (tensor<1x4x4xf32>, tensor<f32>) -> tensor<1x4x4xf32>
  return %5 : tensor<1x4x4xf32>
}

// -----

// Behind a convolution, and not its own: another reader, weights that are not constants, constants along other
// dimensions, and what makes the result larger.
// CHECK-LABEL: func @notOfTheConvolution
// CHECK: onnx.Add
// CHECK: onnx.Mul
// CHECK: onnx.Add
// CHECK: onnx.Add
func.func @notOfTheConvolution(%x: tensor<1x1x2xf32>, %v: tensor<1x1x1xf32>) -> (tensor<1x1x2xf32>, tensor<1x1x2xf32>, tensor<1x1x2xf32>, tensor<1x1x2xf32>, tensor<1x2x2xf32>) {
  %w = onnx.Constant() {value = dense<1.0> : tensor<1x1x1xf32>} : () -> tensor<1x1x1xf32>
  %one = onnx.Constant() {value = dense<1.0> : tensor<f32>} : () -> tensor<f32>
  %columns = onnx.Constant() {value = dense<[1.0, 2.0]> : tensor<2xf32>} : () -> tensor<2xf32>
  %two = onnx.Constant() {value = dense<1.0> : tensor<2x1xf32>} : () -> tensor<2x1xf32>
  %none = onnx.None() : () -> none
  %0 = onnx.Conv(%x, %v, %none) : (tensor<1x1x2xf32>, tensor<1x1x1xf32>, none) -> tensor<1x1x2xf32>
  %1 = onnx.Add(%0, %one) : (tensor<1x1x2xf32>, tensor<f32>) -> tensor<1x1x2xf32>
  %2 = onnx.Conv(%x, %w, %none) : (tensor<1x1x2xf32>, tensor<1x1x1xf32>, none) -> tensor<1x1x2xf32>
  %3 = onnx.Mul(%2, %columns) : (tensor<1x1x2xf32>, tensor<2xf32>) -> tensor<1x1x2xf32>
  %4 = onnx.Conv(%x, %w, %none) : (tensor<1x1x2xf32>, tensor<1x1x1xf32>, none) -> tensor<1x1x2xf32>
  %5 = onnx.Add(%4, %one) : (tensor<1x1x2xf32>, tensor<f32>) -> tensor<1x1x2xf32>
  %6 = onnx.Conv(%x, %w, %none) : (tensor<1x1x2xf32>, tensor<1x1x1xf32>, none) -> tensor<1x1x2xf32>
  %7 = onnx.Add(%6, %two) : (tensor<1x1x2xf32>, tensor<2x1xf32>) -> tensor<1x2x2xf32>
  return %1, %3, %4, %5, %7 : tensor<1x1x2xf32>, tensor<1x1x2xf32>, tensor<1x1x2xf32>, tensor<1x1x2xf32>, tensor<1x2x2xf32>
}

// -----

// Factors that cancel, and are not far from 1 on the way.
// CHECK-LABEL: func @cancel
// CHECK: %[[C:.*]] = onnx.Constant() {value = dense<1.000000e+00> : tensor<f32>}
// CHECK-NEXT: %[[Y:.*]] = onnx.Mul(%arg0, %[[C]])
// CHECK-NEXT: return %[[Y]]
func.func @cancel(%x: tensor<4xf32>) -> tensor<4xf32> {
  %two = onnx.Constant() {value = dense<2.0> : tensor<f32>} : () -> tensor<f32>
  %three = onnx.Constant() {value = dense<3.0> : tensor<f32>} : () -> tensor<f32>
  %0 = onnx.Mul(%x, %two) : (tensor<4xf32>, tensor<f32>) -> tensor<4xf32>
  %1 = onnx.Mul(%0, %three) : (tensor<4xf32>, tensor<f32>) -> tensor<4xf32>
  %2 = onnx.Div(%1, %two) : (tensor<4xf32>, tensor<f32>) -> tensor<4xf32>
  %3 = onnx.Div(%2, %three) : (tensor<4xf32>, tensor<f32>) -> tensor<4xf32>
  return %3 : tensor<4xf32>
}

// -----

// Sums that round what they are of: of a chain all stay as they are, and what has one sign becomes one.
// CHECK-LABEL: func @rounds
// CHECK: onnx.Add
// CHECK: onnx.Sub
// CHECK: onnx.Add
// CHECK: onnx.Add
// CHECK: onnx.Sub
// CHECK: %[[C:.*]] = onnx.Constant() {value = dense<[4.000000e+00, 0x4D100000]> : tensor<2xf32>}
// CHECK-NEXT: %[[Y:.*]] = onnx.Add(%arg0, %[[C]])
// CHECK-NEXT: return
func.func @rounds(%x: tensor<2xf32>) -> (tensor<2xf32>, tensor<2xf32>, tensor<2xf32>) {
  %magic = onnx.Constant() {value = dense<12582912.0> : tensor<f32>} : () -> tensor<f32>
  %half = onnx.Constant() {value = dense<6291456.0> : tensor<f32>} : () -> tensor<f32>
  %row = onnx.Constant() {value = dense<[3.0, 150994944.0]> : tensor<2xf32>} : () -> tensor<2xf32>
  %one = onnx.Constant() {value = dense<1.0> : tensor<f32>} : () -> tensor<f32>
  %0 = onnx.Add(%x, %magic) : (tensor<2xf32>, tensor<f32>) -> tensor<2xf32>
  // expected-remark @+1 {{not one operator with those before it: constants come to 0 by way of 1.25829e+07, which rounds what they are added to}}
  %1 = onnx.Sub(%0, %magic) : (tensor<2xf32>, tensor<f32>) -> tensor<2xf32>
  %2 = onnx.Add(%x, %half) : (tensor<2xf32>, tensor<f32>) -> tensor<2xf32>
  %3 = onnx.Add(%2, %half) : (tensor<2xf32>, tensor<f32>) -> tensor<2xf32>
  // expected-remark @+1 {{not one operator with those before it: constants come to 0 by way of 1.25829e+07}}
  %4 = onnx.Sub(%3, %magic) : (tensor<2xf32>, tensor<f32>) -> tensor<2xf32>
  %5 = onnx.Add(%x, %row) : (tensor<2xf32>, tensor<2xf32>) -> tensor<2xf32>
  %6 = onnx.Add(%5, %one) : (tensor<2xf32>, tensor<f32>) -> tensor<2xf32>
  return %1, %4, %6 : tensor<2xf32>, tensor<2xf32>, tensor<2xf32>
}

// -----

// A product's bias and a sum behind the product are held to the same bound; one in front stays.
// CHECK-LABEL: func @roundsProducts
// CHECK: onnx.Gemm
// CHECK: onnx.Add
// CHECK: onnx.Sub
// CHECK: onnx.Gemm
// CHECK: onnx.Sub
// CHECK: onnx.Add
// CHECK: onnx.Gemm
func.func @roundsProducts(%x: tensor<4x1xf32>) -> (tensor<4x1xf32>, tensor<4x1xf32>, tensor<4x1xf32>) {
  %w = onnx.Constant() {value = dense<1.0> : tensor<1x1xf32>} : () -> tensor<1x1xf32>
  %magic = onnx.Constant() {value = dense<12582912.0> : tensor<f32>} : () -> tensor<f32>
  %bias = onnx.Constant() {value = dense<12582912.0> : tensor<1xf32>} : () -> tensor<1xf32>
  %minus = onnx.Constant() {value = dense<-12582912.0> : tensor<1xf32>} : () -> tensor<1xf32>
  %none = onnx.None() : () -> none
  %0 = onnx.Gemm(%x, %w, %none) : (tensor<4x1xf32>, tensor<1x1xf32>, none) -> tensor<4x1xf32>
  %1 = onnx.Add(%0, %magic) : (tensor<4x1xf32>, tensor<f32>) -> tensor<4x1xf32>
  // expected-remark @+2 {{not one operator with those before it}}
  // expected-remark @+1 {{not folded into weights: constants come to 0 by way of 1.25829e+07}}
  %2 = onnx.Sub(%1, %magic) : (tensor<4x1xf32>, tensor<f32>) -> tensor<4x1xf32>
  %3 = onnx.Gemm(%x, %w, %bias) : (tensor<4x1xf32>, tensor<1x1xf32>, tensor<1xf32>) -> tensor<4x1xf32>
  // expected-remark @+1 {{not folded into weights: constants come to 0 by way of 1.25829e+07}}
  %4 = onnx.Sub(%3, %magic) : (tensor<4x1xf32>, tensor<f32>) -> tensor<4x1xf32>
  %5 = onnx.Add(%x, %magic) : (tensor<4x1xf32>, tensor<f32>) -> tensor<4x1xf32>
  %6 = onnx.Gemm(%5, %w, %minus) : (tensor<4x1xf32>, tensor<1x1xf32>, tensor<1xf32>) -> tensor<4x1xf32>
  return %2, %4, %6 : tensor<4x1xf32>, tensor<4x1xf32>, tensor<4x1xf32>
}

// -----

// Factors with which what is in between leaves the range of its type, above and below; a product of two that is
// denormal; one that is 0, in front of which nothing is large.
// CHECK-LABEL: func @leavesRange
// CHECK-COUNT-4: onnx.Mul(
// CHECK: onnx.Mul
// CHECK-NEXT: onnx.Div
// CHECK: onnx.Mul
// CHECK-NEXT: onnx.Mul
// CHECK: %[[ZERO:.*]] = onnx.Constant() {value = dense<0.000000e+00> : tensor<f32>}
// CHECK-NEXT: onnx.Mul(%arg0, %[[ZERO]])
// CHECK-NEXT: return
func.func @leavesRange(%x: tensor<4xf32>) -> (tensor<4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>) {
  %large = onnx.Constant() {value = dense<1.0e30> : tensor<f32>} : () -> tensor<f32>
  %small = onnx.Constant() {value = dense<1.0e-30> : tensor<f32>} : () -> tensor<f32>
  %tiny = onnx.Constant() {value = dense<1.0e-20> : tensor<f32>} : () -> tensor<f32>
  %two = onnx.Constant() {value = dense<2.0> : tensor<f32>} : () -> tensor<f32>
  %zero = onnx.Constant() {value = dense<0.0> : tensor<f32>} : () -> tensor<f32>
  %0 = onnx.Mul(%x, %large) : (tensor<4xf32>, tensor<f32>) -> tensor<4xf32>
  %1 = onnx.Mul(%0, %large) : (tensor<4xf32>, tensor<f32>) -> tensor<4xf32>
  %2 = onnx.Mul(%1, %small) : (tensor<4xf32>, tensor<f32>) -> tensor<4xf32>
  // expected-remark @+1 {{constants come to 1 by way of 1e+60, where what they multiply may leave its type's range}}
  %3 = onnx.Mul(%2, %small) : (tensor<4xf32>, tensor<f32>) -> tensor<4xf32>
  %4 = onnx.Mul(%x, %small) : (tensor<4xf32>, tensor<f32>) -> tensor<4xf32>
  // expected-remark @+1 {{constants come to 1 by way of 1e-30, where what they multiply may leave its type's range}}
  %5 = onnx.Div(%4, %small) : (tensor<4xf32>, tensor<f32>) -> tensor<4xf32>
  %6 = onnx.Mul(%x, %tiny) : (tensor<4xf32>, tensor<f32>) -> tensor<4xf32>
  // expected-remark @+1 {{which has fewer digits than normal numbers}}
  %7 = onnx.Mul(%6, %tiny) : (tensor<4xf32>, tensor<f32>) -> tensor<4xf32>
  %8 = onnx.Mul(%x, %two) : (tensor<4xf32>, tensor<f32>) -> tensor<4xf32>
  %9 = onnx.Mul(%8, %zero) : (tensor<4xf32>, tensor<f32>) -> tensor<4xf32>
  return %3, %5, %7, %9 : tensor<4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>
}

// -----

// A product whose sums overflow before they are divided, and weights that would be denormal.
// CHECK-LABEL: func @productsRange
// CHECK: onnx.MatMul
// CHECK: onnx.Div
// CHECK: onnx.Mul
// CHECK: onnx.MatMul
func.func @productsRange(%x: tensor<2x2xf32>) -> (tensor<2x2xf32>, tensor<2x2xf32>) {
  %w = onnx.Constant() {value = dense<1.0e25> : tensor<2x2xf32>} : () -> tensor<2x2xf32>
  %v = onnx.Constant() {value = dense<1.0e-37> : tensor<2x2xf32>} : () -> tensor<2x2xf32>
  %large = onnx.Constant() {value = dense<1.0e25> : tensor<f32>} : () -> tensor<f32>
  %small = onnx.Constant() {value = dense<1.0e-2> : tensor<f32>} : () -> tensor<f32>
  %0 = onnx.MatMul(%x, %w) : (tensor<2x2xf32>, tensor<2x2xf32>) -> tensor<2x2xf32>
  // expected-remark @+1 {{may hide what leaves its type's range}}
  %1 = onnx.Div(%0, %large) : (tensor<2x2xf32>, tensor<f32>) -> tensor<2x2xf32>
  // expected-remark @+1 {{not folded into weights: the weights of a channel would be denormal}}
  %2 = onnx.Mul(%x, %small) : (tensor<2x2xf32>, tensor<f32>) -> tensor<2x2xf32>
  %3 = onnx.MatMul(%2, %v) : (tensor<2x2xf32>, tensor<2x2xf32>) -> tensor<2x2xf32>
  return %1, %3 : tensor<2x2xf32>, tensor<2x2xf32>
}

// -----

// A shift in front of a product stays there, and is subtracted before anything is rounded; the factor behind it goes into
// the weights, unless the shift is large in its units.
// CHECK-LABEL: func.func @shifts
func.func @shifts(%x: tensor<4x2xf32>) -> (tensor<4x2xf32>, tensor<4x2xf32>) {
  %w = onnx.Constant() {value = dense<[[1.0, 2.0], [3.0, 4.0]]> : tensor<2x2xf32>} : () -> tensor<2x2xf32>
  %none = onnx.None() : () -> none
  %half = onnx.Constant() {value = dense<0.5> : tensor<f32>} : () -> tensor<f32>
  %quarter = onnx.Constant() {value = dense<0.25> : tensor<f32>} : () -> tensor<f32>
  %pressure = onnx.Constant() {value = dense<101325.0> : tensor<f32>} : () -> tensor<f32>
  %spread = onnx.Constant() {value = dense<700.0> : tensor<f32>} : () -> tensor<f32>
  // CHECK: %[[S:.*]] = onnx.Sub(%arg0,
  // CHECK: dense<{{\[}}[4.000000e+00, 8.000000e+00], [1.200000e+01, 1.600000e+01]]>
  // CHECK: onnx.Gemm(%[[S]],
  // CHECK: %[[P:.*]] = onnx.Sub(%arg0,
  // CHECK: %[[D:.*]] = onnx.Div(%[[P]],
  // CHECK: onnx.Gemm(%[[D]],
  %0 = onnx.Sub(%x, %half) : (tensor<4x2xf32>, tensor<f32>) -> tensor<4x2xf32>
  %1 = onnx.Div(%0, %quarter) : (tensor<4x2xf32>, tensor<f32>) -> tensor<4x2xf32>
  %2 = onnx.Gemm(%1, %w, %none) : (tensor<4x2xf32>, tensor<2x2xf32>, none) -> tensor<4x2xf32>
  %3 = onnx.Sub(%x, %pressure) : (tensor<4x2xf32>, tensor<f32>) -> tensor<4x2xf32>
  // expected-remark @+1 {{not folded into weights: a shift of 144.8 in its units is in front of it}}
  %4 = onnx.Div(%3, %spread) : (tensor<4x2xf32>, tensor<f32>) -> tensor<4x2xf32>
  %5 = onnx.Gemm(%4, %w, %none) : (tensor<4x2xf32>, tensor<2x2xf32>, none) -> tensor<4x2xf32>
  return %2, %5 : tensor<4x2xf32>, tensor<4x2xf32>
}

// -----

// A factor that brings large numbers into range stays in front of the product.
// CHECK-LABEL: func.func @intoRange
// CHECK: onnx.Mul(
// CHECK: onnx.MatMul(
func.func @intoRange(%x: tensor<4x2xf32>) -> tensor<4x2xf32> {
  %w = onnx.Constant() {value = dense<[[1.0, 2.0], [3.0, 4.0]]> : tensor<2x2xf32>} : () -> tensor<2x2xf32>
  %days = onnx.Constant() {value = dense<1.0e-5> : tensor<f32>} : () -> tensor<f32>
  // expected-remark @+1 {{not folded into weights: a factor of 1.000000e-05 brings what it multiplies into range}}
  %0 = onnx.Mul(%x, %days) : (tensor<4x2xf32>, tensor<f32>) -> tensor<4x2xf32>
  %1 = onnx.MatMul(%0, %w) : (tensor<4x2xf32>, tensor<2x2xf32>) -> tensor<4x2xf32>
  return %1 : tensor<4x2xf32>
}
