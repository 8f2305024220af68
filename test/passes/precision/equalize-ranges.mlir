// RUN: cameo-opt %s --split-input-file --verify-diagnostics --pass-pipeline='builtin.module(func.func(cameo-equalize-ranges),cameo-report-decisions)' | FileCheck %s
// RUN: cameo-opt %s --split-input-file --pass-pipeline='builtin.module(func.func(cameo-equalize-ranges))' > %t
// RUN: cameo-opt %s --split-input-file --pass-pipeline='builtin.module(func.func(cameo-equalize-ranges,cameo-equalize-ranges))' | diff %t -

// Of channel 0 the weights are 16 and 1, so both become 4; of channel 1 they are 1 and 1.
// CHECK-LABEL: func @relu(
// CHECK-SAME: onnx.equalized =
// CHECK-DAG: %[[W:.*]] = onnx.Constant() {value = dense<{{\[\[\[}}4.000000e+00]], {{\[\[}}1.000000e+00]]]> : tensor<2x1x1xf32>}
// CHECK-DAG: %[[B:.*]] = onnx.Constant() {value = dense<[2.000000e+00, 3.000000e+00]> : tensor<2xf32>}
// CHECK: %[[Y:.*]] = onnx.Conv(%arg0, %[[W]], %[[B]])
// CHECK: %[[R:.*]] = onnx.Relu(%[[Y]])
// CHECK: %[[V:.*]] = onnx.Constant() {value = dense<{{\[\[\[}}4.000000e+00], [1.000000e+00]]]> : tensor<1x2x1xf32>}
// CHECK: onnx.Conv(%[[R]], %[[V]],
func.func @relu(%x: tensor<1x1x4xf32>) -> tensor<1x1x4xf32> {
  %w = onnx.Constant() {value = dense<[[[16.0]], [[1.0]]]> : tensor<2x1x1xf32>} : () -> tensor<2x1x1xf32>
  %b = onnx.Constant() {value = dense<[8.0, 3.0]> : tensor<2xf32>} : () -> tensor<2xf32>
  %v = onnx.Constant() {value = dense<[[[1.0], [1.0]]]> : tensor<1x2x1xf32>} : () -> tensor<1x2x1xf32>
  %none = onnx.None() : () -> none
  // expected-remark @below {{ranges of channels equalized, by factors from 0.25 to 1.00}}
  %0 = onnx.Conv(%x, %w, %b) : (tensor<1x1x4xf32>, tensor<2x1x1xf32>, tensor<2xf32>) -> tensor<1x2x4xf32>
  %1 = onnx.Relu(%0) : (tensor<1x2x4xf32>) -> tensor<1x2x4xf32>
  %2 = onnx.Conv(%1, %v, %none) : (tensor<1x2x4xf32>, tensor<1x2x1xf32>, none) -> tensor<1x1x4xf32>
  return %2 : tensor<1x1x4xf32>
}

// -----

// A chain through a depthwise convolution: 64, 1 and 1 become 4 each, in several rounds.
// CHECK-LABEL: func @chain(
// CHECK: onnx.Constant() {value = dense<4.000000e+00> : tensor<1x1x1xf32>}
// CHECK: onnx.Conv
// CHECK: onnx.Constant() {value = dense<4.000000e+00> : tensor<1x1x1xf32>}
// CHECK: onnx.Conv
// CHECK: onnx.Constant() {value = dense<4.000000e+00> : tensor<1x1xf32>}
// CHECK: onnx.Gemm
func.func @chain(%x: tensor<1x1x4xf32>) -> tensor<1x1xf32> {
  %w = onnx.Constant() {value = dense<64.0> : tensor<1x1x1xf32>} : () -> tensor<1x1x1xf32>
  %v = onnx.Constant() {value = dense<1.0> : tensor<1x1x1xf32>} : () -> tensor<1x1x1xf32>
  %g = onnx.Constant() {value = dense<1.0> : tensor<1x1xf32>} : () -> tensor<1x1xf32>
  %none = onnx.None() : () -> none
  // expected-remark @below {{ranges of channels equalized}}
  %0 = onnx.Conv(%x, %w, %none) : (tensor<1x1x4xf32>, tensor<1x1x1xf32>, none) -> tensor<1x1x4xf32>
  %1 = onnx.LeakyRelu(%0) {alpha = 0.1 : f32} : (tensor<1x1x4xf32>) -> tensor<1x1x4xf32>
  // expected-remark @below {{ranges of channels equalized}}
  %2 = onnx.Conv(%1, %v, %none) {group = 1 : i64} : (tensor<1x1x4xf32>, tensor<1x1x1xf32>, none) -> tensor<1x1x4xf32>
  %3 = onnx.GlobalAveragePool(%2) : (tensor<1x1x4xf32>) -> tensor<1x1x1xf32>
  %4 = onnx.Flatten(%3) {axis = 1 : i64} : (tensor<1x1x1xf32>) -> tensor<1x1xf32>
  %5 = onnx.Gemm(%4, %g, %none) : (tensor<1x1xf32>, tensor<1x1xf32>, none) -> tensor<1x1xf32>
  return %5 : tensor<1x1xf32>
}

// -----

// Squeeze-and-excite reads the channels twice: its first product, and what its gates scale.
// CHECK-LABEL: func @gated(
// CHECK: onnx.Constant() {value = dense<4.000000e+00> : tensor<1x1x1xf32>}
// CHECK: %[[Y:.*]] = onnx.Conv
// CHECK: %[[W:.*]] = onnx.Constant() {value = dense<4.000000e+00> : tensor<1x1x1xf32>}
// CHECK: onnx.Conv(%{{.*}}, %[[W]]
// CHECK: onnx.Mul(%[[Y]],
// CHECK: %[[V:.*]] = onnx.Constant() {value = dense<2.000000e+00> : tensor<1x1x1xf32>}
// CHECK: onnx.Conv(%{{.*}}, %[[V]]
func.func @gated(%x: tensor<1x1x4xf32>) -> tensor<1x1x4xf32> {
  %w = onnx.Constant() {value = dense<16.0> : tensor<1x1x1xf32>} : () -> tensor<1x1x1xf32>
  %v = onnx.Constant() {value = dense<1.0> : tensor<1x1x1xf32>} : () -> tensor<1x1x1xf32>
  %u = onnx.Constant() {value = dense<0.5> : tensor<1x1x1xf32>} : () -> tensor<1x1x1xf32>
  %none = onnx.None() : () -> none
  // expected-remark @below {{ranges of channels equalized, by factors from 0.25 to 0.25}}
  %0 = onnx.Conv(%x, %w, %none) : (tensor<1x1x4xf32>, tensor<1x1x1xf32>, none) -> tensor<1x1x4xf32>
  %1 = onnx.GlobalAveragePool(%0) : (tensor<1x1x4xf32>) -> tensor<1x1x1xf32>
  %2 = onnx.Conv(%1, %v, %none) : (tensor<1x1x1xf32>, tensor<1x1x1xf32>, none) -> tensor<1x1x1xf32>
  %3 = onnx.HardSigmoid(%2) : (tensor<1x1x1xf32>) -> tensor<1x1x1xf32>
  %4 = onnx.Mul(%0, %3) : (tensor<1x1x4xf32>, tensor<1x1x1xf32>) -> tensor<1x1x4xf32>
  %5 = onnx.Conv(%4, %u, %none) : (tensor<1x1x4xf32>, tensor<1x1x1xf32>, none) -> tensor<1x1x4xf32>
  return %5 : tensor<1x1x4xf32>
}

// -----

// Not through a hard-swish, which knows how large its operand is.
// CHECK-LABEL: func @swish(
// CHECK: onnx.Constant() {value = dense<1.600000e+01> : tensor<1x1x1xf32>}
// CHECK: onnx.Constant() {value = dense<1.000000e+00> : tensor<1x1x1xf32>}
// CHECK: onnx.Conv
func.func @swish(%x: tensor<1x1x4xf32>) -> tensor<1x1x4xf32> {
  %w = onnx.Constant() {value = dense<16.0> : tensor<1x1x1xf32>} : () -> tensor<1x1x1xf32>
  %v = onnx.Constant() {value = dense<1.0> : tensor<1x1x1xf32>} : () -> tensor<1x1x1xf32>
  %none = onnx.None() : () -> none
  %0 = onnx.Conv(%x, %w, %none) : (tensor<1x1x4xf32>, tensor<1x1x1xf32>, none) -> tensor<1x1x4xf32>
  %1 = onnx.HardSwish(%0) : (tensor<1x1x4xf32>) -> tensor<1x1x4xf32>
  %2 = onnx.Conv(%1, %v, %none) : (tensor<1x1x4xf32>, tensor<1x1x1xf32>, none) -> tensor<1x1x4xf32>
  return %2 : tensor<1x1x4xf32>
}

// -----

// Nor where a sum or who called the model reads the channels, too.
// CHECK-LABEL: func @read(
// CHECK: onnx.Constant() {value = dense<1.600000e+01> : tensor<1x1x1xf32>}
// CHECK: onnx.Constant() {value = dense<1.600000e+01> : tensor<1x1x1xf32>}
// CHECK: onnx.Constant() {value = dense<1.000000e+00> : tensor<1x1x1xf32>}
// CHECK: onnx.Conv
func.func @read(%x: tensor<1x1x4xf32>) -> (tensor<1x1x4xf32>, tensor<1x1x4xf32>) {
  %w = onnx.Constant() {value = dense<16.0> : tensor<1x1x1xf32>} : () -> tensor<1x1x1xf32>
  %u = onnx.Constant() {value = dense<16.0> : tensor<1x1x1xf32>} : () -> tensor<1x1x1xf32>
  %v = onnx.Constant() {value = dense<1.0> : tensor<1x1x1xf32>} : () -> tensor<1x1x1xf32>
  %none = onnx.None() : () -> none
  %0 = onnx.Conv(%x, %w, %none) : (tensor<1x1x4xf32>, tensor<1x1x1xf32>, none) -> tensor<1x1x4xf32>
  %1 = onnx.Conv(%0, %u, %none) : (tensor<1x1x4xf32>, tensor<1x1x1xf32>, none) -> tensor<1x1x4xf32>
  %2 = onnx.Add(%1, %x) : (tensor<1x1x4xf32>, tensor<1x1x4xf32>) -> tensor<1x1x4xf32>
  %3 = onnx.Conv(%2, %v, %none) : (tensor<1x1x4xf32>, tensor<1x1x1xf32>, none) -> tensor<1x1x4xf32>
  return %3, %0 : tensor<1x1x4xf32>, tensor<1x1x4xf32>
}

// -----

// The square of a factor is not a factor.
// CHECK-LABEL: func @square(
// CHECK: onnx.Constant() {value = dense<1.600000e+01> : tensor<1x1x1xf32>}
// CHECK: onnx.Constant() {value = dense<1.000000e+00> : tensor<1x1x1xf32>}
// CHECK: onnx.Conv
func.func @square(%x: tensor<1x1x4xf32>) -> tensor<1x1x4xf32> {
  %w = onnx.Constant() {value = dense<16.0> : tensor<1x1x1xf32>} : () -> tensor<1x1x1xf32>
  %v = onnx.Constant() {value = dense<1.0> : tensor<1x1x1xf32>} : () -> tensor<1x1x1xf32>
  %none = onnx.None() : () -> none
  %0 = onnx.Conv(%x, %w, %none) : (tensor<1x1x4xf32>, tensor<1x1x1xf32>, none) -> tensor<1x1x4xf32>
  %1 = onnx.Relu(%0) : (tensor<1x1x4xf32>) -> tensor<1x1x4xf32>
  %2 = onnx.Mul(%0, %1) : (tensor<1x1x4xf32>, tensor<1x1x4xf32>) -> tensor<1x1x4xf32>
  %3 = onnx.Conv(%2, %v, %none) : (tensor<1x1x4xf32>, tensor<1x1x1xf32>, none) -> tensor<1x1x4xf32>
  return %3 : tensor<1x1x4xf32>
}

// -----

// No further than 2^6; channels without weights, and numbers next to infinity, stay.
// CHECK-LABEL: func @limits(
// CHECK: onnx.Constant() {value = dense<9.99999968E+37> : tensor<1x1x1xf32>}
// CHECK: onnx.Constant() {value = dense<{{\[\[\[}}6.400000e+01]], {{\[\[}}0.000000e+00]]]> : tensor<2x1x1xf32>}
// CHECK: onnx.Conv
// CHECK: onnx.Constant() {value = dense<{{\[\[\[}}1.638400e+04], [1.000000e+00]]]> : tensor<1x2x1xf32>}
// CHECK: onnx.Conv
func.func @limits(%x: tensor<1x1x4xf32>) -> tensor<1x1x4xf32> {
  %w = onnx.Constant() {value = dense<[[[1.0]], [[0.0]]]> : tensor<2x1x1xf32>} : () -> tensor<2x1x1xf32>
  %v = onnx.Constant() {value = dense<[[[1048576.0], [1.0]]]> : tensor<1x2x1xf32>} : () -> tensor<1x2x1xf32>
  %u = onnx.Constant() {value = dense<1.0e38> : tensor<1x1x1xf32>} : () -> tensor<1x1x1xf32>
  %none = onnx.None() : () -> none
  // expected-remark @below {{ranges of channels equalized}}
  %0 = onnx.Conv(%x, %w, %none) : (tensor<1x1x4xf32>, tensor<2x1x1xf32>, none) -> tensor<1x2x4xf32>
  %1 = onnx.Conv(%0, %v, %none) : (tensor<1x2x4xf32>, tensor<1x2x1xf32>, none) -> tensor<1x1x4xf32>
  %2 = onnx.Conv(%1, %u, %none) : (tensor<1x1x4xf32>, tensor<1x1x1xf32>, none) -> tensor<1x1x4xf32>
  return %2 : tensor<1x1x4xf32>
}
