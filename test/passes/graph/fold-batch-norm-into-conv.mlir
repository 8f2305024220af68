// RUN: cameo-opt %s --split-input-file --verify-diagnostics --pass-pipeline='builtin.module(func.func(cameo-fold-batch-norm-into-conv),cameo-report-decisions)' | FileCheck %s
// RUN: cameo-opt %s --split-input-file --pass-pipeline='builtin.module(func.func(cameo-fold-batch-norm-into-conv))' > %t
// RUN: cameo-opt %s --split-input-file --pass-pipeline='builtin.module(func.func(cameo-fold-batch-norm-into-conv,cameo-fold-batch-norm-into-conv))' | diff %t -

// scale / sqrt(var + epsilon) is [2, 3]; b' = (bias - mean) * [2, 3] + b.
// CHECK-LABEL: func @conv
// CHECK-DAG: %[[W:.*]] = onnx.Constant() {value = dense<{{\[}}{{\[}}[2.000000e+00]], {{\[}}[6.000000e+00]]]> : tensor<2x1x1xf32>}
// CHECK-DAG: %[[B:.*]] = onnx.Constant() {value = dense<[7.000000e+00, 1.100000e+01]> : tensor<2xf32>}
// CHECK: %[[Y:.*]] = onnx.Conv(%arg0, %[[W]], %[[B]])
// CHECK-NEXT: return %[[Y]]
func.func @conv(%x: tensor<1x1x4xf32>) -> tensor<1x2x4xf32> {
  %w = onnx.Constant() {value = dense<[[[1.0]], [[2.0]]]> : tensor<2x1x1xf32>} : () -> tensor<2x1x1xf32>
  %c = onnx.Constant() {value = dense<[3.0, 4.0]> : tensor<2xf32>} : () -> tensor<2xf32>
  %scale = onnx.Constant() {value = dense<[4.0, 3.0]> : tensor<2xf32>} : () -> tensor<2xf32>
  %b = onnx.Constant() {value = dense<[3.0, 2.0]> : tensor<2xf32>} : () -> tensor<2xf32>
  %mean = onnx.Constant() {value = dense<1.0> : tensor<2xf32>} : () -> tensor<2xf32>
  %var = onnx.Constant() {value = dense<[3.5, 0.5]> : tensor<2xf32>} : () -> tensor<2xf32>
  %none = onnx.None() : () -> none
  %0 = onnx.Conv(%x, %w, %c) : (tensor<1x1x4xf32>, tensor<2x1x1xf32>, tensor<2xf32>) -> tensor<1x2x4xf32>
  // expected-remark @+1 {{folded into the convolution before it}}
  %1:3 = onnx.BatchNormalization(%0, %scale, %b, %mean, %var) {epsilon = 0.5 : f32} : (tensor<1x2x4xf32>, tensor<2xf32>, tensor<2xf32>, tensor<2xf32>, tensor<2xf32>) -> (tensor<1x2x4xf32>, none, none)
  return %1#0 : tensor<1x2x4xf32>
}

// -----

// Two groups of a transposed convolution: weights are [inputs, outputs of a group, size].
// CHECK-LABEL: func @convTranspose
// CHECK: dense<{{\[}}{{\[}}[1.000000e+00], [2.000000e+00]], {{\[}}[3.000000e+00], [4.000000e+00]]]> : tensor<2x2x1xf32>
// CHECK-NOT: onnx.BatchNormalization
// CHECK: return
func.func @convTranspose(%x: tensor<1x2x4xf32>) -> tensor<1x4x4xf32> {
  %w = onnx.Constant() {value = dense<1.0> : tensor<2x2x1xf32>} : () -> tensor<2x2x1xf32>
  %scale = onnx.Constant() {value = dense<[1.0, 2.0, 3.0, 4.0]> : tensor<4xf32>} : () -> tensor<4xf32>
  %zero = onnx.Constant() {value = dense<0.0> : tensor<4xf32>} : () -> tensor<4xf32>
  %half = onnx.Constant() {value = dense<0.5> : tensor<4xf32>} : () -> tensor<4xf32>
  %none = onnx.None() : () -> none
  %0 = onnx.ConvTranspose(%x, %w, %none) {group = 2 : i64} : (tensor<1x2x4xf32>, tensor<2x2x1xf32>, none) -> tensor<1x4x4xf32>
  // expected-remark @+1 {{folded into the convolution before it}}
  %1:3 = onnx.BatchNormalization(%0, %scale, %zero, %zero, %half) {epsilon = 0.5 : f32} : (tensor<1x4x4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>) -> (tensor<1x4x4xf32>, none, none)
  return %1#0 : tensor<1x4x4xf32>
}

// -----

// beta goes into the bias; two one after the other.
// CHECK-LABEL: func @gemm
// CHECK-DAG: %[[W:.*]] = onnx.Constant() {value = dense<{{\[}}[4.000000e+00, 9.000000e+00]]> : tensor<1x2xf32>}
// CHECK-DAG: %[[C:.*]] = onnx.Constant() {value = dense<[4.000000e+00, 0.000000e+00]> : tensor<2xf32>}
// CHECK: %[[Y:.*]] = onnx.Gemm(%arg0, %[[W]], %[[C]]) {beta = 1.000000e+00 : f32}
// CHECK-NEXT: return %[[Y]]
func.func @gemm(%x: tensor<4x1xf32>) -> tensor<4x2xf32> {
  %w = onnx.Constant() {value = dense<1.0> : tensor<1x2xf32>} : () -> tensor<1x2xf32>
  %c = onnx.Constant() {value = dense<[2.0, 0.0]> : tensor<2xf32>} : () -> tensor<2xf32>
  %scale = onnx.Constant() {value = dense<[2.0, 3.0]> : tensor<2xf32>} : () -> tensor<2xf32>
  %zero = onnx.Constant() {value = dense<0.0> : tensor<2xf32>} : () -> tensor<2xf32>
  %half = onnx.Constant() {value = dense<0.5> : tensor<2xf32>} : () -> tensor<2xf32>
  %0 = onnx.Gemm(%x, %w, %c) {beta = 0.5 : f32} : (tensor<4x1xf32>, tensor<1x2xf32>, tensor<2xf32>) -> tensor<4x2xf32>
  // expected-remark @+1 {{folded into the convolution before it}}
  %1:3 = onnx.BatchNormalization(%0, %scale, %zero, %zero, %half) {epsilon = 0.5 : f32} : (tensor<4x2xf32>, tensor<2xf32>, tensor<2xf32>, tensor<2xf32>, tensor<2xf32>) -> (tensor<4x2xf32>, none, none)
  // expected-remark @+1 {{folded into the convolution before it}}
  %2:3 = onnx.BatchNormalization(%1#0, %scale, %zero, %zero, %half) {epsilon = 0.5 : f32} : (tensor<4x2xf32>, tensor<2xf32>, tensor<2xf32>, tensor<2xf32>, tensor<2xf32>) -> (tensor<4x2xf32>, none, none)
  return %2#0 : tensor<4x2xf32>
}

// -----

// The convolution's result has another use; other arithmetic rounds where it stands, at any level.
// CHECK-LABEL: func @stays
// CHECK: onnx.Conv
// CHECK: onnx.BatchNormalization
// CHECK: onnx.Conv
// CHECK: onnx.Mul
// CHECK: onnx.Add
// CHECK: onnx.BatchNormalization
func.func @stays(%x: tensor<1x1x4xf32>) -> (tensor<1x1x4xf32>, tensor<1x1x4xf32>, tensor<1x1x4xf32>) {
  %w = onnx.Constant() {value = dense<1.0> : tensor<1x1x1xf32>} : () -> tensor<1x1x1xf32>
  %v = onnx.Constant() {value = dense<2.0> : tensor<1x1x1xf32>} : () -> tensor<1x1x1xf32>
  %one = onnx.Constant() {value = dense<1.0> : tensor<1xf32>} : () -> tensor<1xf32>
  %none = onnx.None() : () -> none
  %0 = onnx.Conv(%x, %w, %none) : (tensor<1x1x4xf32>, tensor<1x1x1xf32>, none) -> tensor<1x1x4xf32>
  %1:3 = onnx.BatchNormalization(%0, %one, %one, %one, %one) : (tensor<1x1x4xf32>, tensor<1xf32>, tensor<1xf32>, tensor<1xf32>, tensor<1xf32>) -> (tensor<1x1x4xf32>, none, none)
  %2 = onnx.Conv(%x, %v, %none) : (tensor<1x1x4xf32>, tensor<1x1x1xf32>, none) -> tensor<1x1x4xf32>
  %3 = onnx.Mul(%2, %one) : (tensor<1x1x4xf32>, tensor<1xf32>) -> tensor<1x1x4xf32>
  %4 = onnx.Add(%3, %one) : (tensor<1x1x4xf32>, tensor<1xf32>) -> tensor<1x1x4xf32>
  %5:3 = onnx.BatchNormalization(%4, %one, %one, %one, %one) : (tensor<1x1x4xf32>, tensor<1xf32>, tensor<1xf32>, tensor<1xf32>, tensor<1xf32>) -> (tensor<1x1x4xf32>, none, none)
  return %0, %1#0, %5#0 : tensor<1x1x4xf32>, tensor<1x1x4xf32>, tensor<1x1x4xf32>
}

// -----

// CHECK-LABEL: func @negativeVariance
// CHECK: onnx.BatchNormalization
func.func @negativeVariance(%x: tensor<1x1x2xf32>) -> tensor<1x1x2xf32> {
  %w = onnx.Constant() {value = dense<1.0> : tensor<1x1x1xf32>} : () -> tensor<1x1x1xf32>
  %one = onnx.Constant() {value = dense<1.0> : tensor<1xf32>} : () -> tensor<1xf32>
  %var = onnx.Constant() {value = dense<-1.0> : tensor<1xf32>} : () -> tensor<1xf32>
  %none = onnx.None() : () -> none
  %0 = onnx.Conv(%x, %w, %none) : (tensor<1x1x2xf32>, tensor<1x1x1xf32>, none) -> tensor<1x1x2xf32>
  // expected-remark @+1 {{not folded into the convolution before it: variance + epsilon of channel 0 is -0.50, not positive and finite}}
  %1:3 = onnx.BatchNormalization(%0, %one, %one, %one, %var) {epsilon = 0.5 : f32} : (tensor<1x1x2xf32>, tensor<1xf32>, tensor<1xf32>, tensor<1xf32>, tensor<1xf32>) -> (tensor<1x1x2xf32>, none, none)
  return %1#0 : tensor<1x1x2xf32>
}

// -----

// CHECK-LABEL: func @training
// CHECK: onnx.BatchNormalization
func.func @training(%x: tensor<1x1x2xf32>) -> tensor<1x1x2xf32> {
  %w = onnx.Constant() {value = dense<1.0> : tensor<1x1x1xf32>} : () -> tensor<1x1x1xf32>
  %one = onnx.Constant() {value = dense<1.0> : tensor<1xf32>} : () -> tensor<1xf32>
  %none = onnx.None() : () -> none
  %0 = onnx.Conv(%x, %w, %none) : (tensor<1x1x2xf32>, tensor<1x1x1xf32>, none) -> tensor<1x1x2xf32>
  %1:3 = onnx.BatchNormalization(%0, %one, %one, %one, %one) {training_mode = 1 : i64} : (tensor<1x1x2xf32>, tensor<1xf32>, tensor<1xf32>, tensor<1xf32>, tensor<1xf32>) -> (tensor<1x1x2xf32>, none, none)
  return %1#0 : tensor<1x1x2xf32>
}

// -----

// 60000 * 2 is infinite in f16; 0.5 * 1e-5 has a few digits, beside one that has them all and one that
// is nothing.
// CHECK-LABEL: func @range
// CHECK: onnx.BatchNormalization
// CHECK: onnx.BatchNormalization
// CHECK-NOT: onnx.BatchNormalization
func.func @range(%x: tensor<1x1x2xf16>) -> (tensor<1x1x2xf16>, tensor<1x1x2xf16>, tensor<1x2x2xf16>) {
  %w = onnx.Constant() {value = dense<6.0e+4> : tensor<1x1x1xf16>} : () -> tensor<1x1x1xf16>
  %v = onnx.Constant() {value = dense<1.0e-5> : tensor<1x1x1xf16>} : () -> tensor<1x1x1xf16>
  %two = onnx.Constant() {value = dense<2.0> : tensor<1xf16>} : () -> tensor<1xf16>
  %half = onnx.Constant() {value = dense<0.5> : tensor<1xf16>} : () -> tensor<1xf16>
  %zero = onnx.Constant() {value = dense<0.0> : tensor<1xf16>} : () -> tensor<1xf16>
  %u = onnx.Constant() {value = dense<[[[1.0]], [[2.0]]]> : tensor<2x1x1xf16>} : () -> tensor<2x1x1xf16>
  %scales = onnx.Constant() {value = dense<[1.0e-3, 0.0]> : tensor<2xf16>} : () -> tensor<2xf16>
  %zeros = onnx.Constant() {value = dense<0.0> : tensor<2xf16>} : () -> tensor<2xf16>
  %halves = onnx.Constant() {value = dense<0.5> : tensor<2xf16>} : () -> tensor<2xf16>
  %none = onnx.None() : () -> none
  %0 = onnx.Conv(%x, %w, %none) : (tensor<1x1x2xf16>, tensor<1x1x1xf16>, none) -> tensor<1x1x2xf16>
  // expected-remark @+1 {{not folded into the convolution before it: the weights would leave the range of float16}}
  %1:3 = onnx.BatchNormalization(%0, %two, %zero, %zero, %half) {epsilon = 0.5 : f32} : (tensor<1x1x2xf16>, tensor<1xf16>, tensor<1xf16>, tensor<1xf16>, tensor<1xf16>) -> (tensor<1x1x2xf16>, none, none)
  %2 = onnx.Conv(%x, %v, %none) : (tensor<1x1x2xf16>, tensor<1x1x1xf16>, none) -> tensor<1x1x2xf16>
  // expected-remark @+1 {{not folded into the convolution before it: the weights of a channel would be denormal}}
  %3:3 = onnx.BatchNormalization(%2, %half, %zero, %zero, %half) {epsilon = 0.5 : f32} : (tensor<1x1x2xf16>, tensor<1xf16>, tensor<1xf16>, tensor<1xf16>, tensor<1xf16>) -> (tensor<1x1x2xf16>, none, none)
  %4 = onnx.Conv(%x, %u, %none) : (tensor<1x1x2xf16>, tensor<2x1x1xf16>, none) -> tensor<1x2x2xf16>
  // expected-remark @+1 {{folded into the convolution before it}}
  %5:3 = onnx.BatchNormalization(%4, %scales, %zeros, %zeros, %halves) {epsilon = 0.5 : f32} : (tensor<1x2x2xf16>, tensor<2xf16>, tensor<2xf16>, tensor<2xf16>, tensor<2xf16>) -> (tensor<1x2x2xf16>, none, none)
  return %1#0, %3#0, %5#0 : tensor<1x1x2xf16>, tensor<1x1x2xf16>, tensor<1x2x2xf16>
}
