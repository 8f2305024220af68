// RUN: cameo-opt %s --split-input-file --pass-pipeline='builtin.module(cameo-insert-weight-quantization{least-weights=8})' > %t
// RUN: FileCheck %s < %t
// RUN: cameo-opt %s --split-input-file --pass-pipeline='builtin.module(cameo-insert-weight-quantization{least-weights=8},cameo-insert-weight-quantization{least-weights=8})' | diff %t -
// RUN: cameo-opt %s --split-input-file --pass-pipeline='builtin.module(cameo-insert-weight-quantization{least-weights=8 type=int4 block=2})' | FileCheck %s --check-prefix=BLOCKS
// RUN: cameo-opt %s --split-input-file --pass-pipeline='builtin.module(cameo-insert-weight-quantization{least-weights=8 type=int4 block=2},cameo-report-decisions)' 2>&1 | FileCheck %s --check-prefix=SAID
// RUN: not cameo-opt %s --split-input-file --pass-pipeline='builtin.module(cameo-insert-weight-quantization{type=int2})' 2>&1 | FileCheck %s --check-prefix=TYPE
// TYPE: error: weights: 'int2' is none of int8 and int4

// The greatest magnitudes of the columns are 127 and 63.5; of blocks of two they are 14, 7, 127, 63.5.
// CHECK-LABEL: func @columns
// CHECK: %[[W:.*]] = onnx.Constant() {value = dense<{{\[\[}}14, 4], [-7, 14], [127, -2], [64, 127]]> : tensor<4x2xi8>}
// CHECK: %[[S:.*]] = onnx.Constant() {value = dense<[1.000000e+00, 5.000000e-01]> : tensor<2xf32>}
// CHECK: %[[D:.*]] = onnx.DequantizeLinear(%[[W]], %[[S]], %{{.*}}) {axis = 1 : i64}
// CHECK: onnx.MatMul(%arg0, %[[D]])
// BLOCKS-LABEL: func @columns
// BLOCKS: %[[W:.*]] = onnx.Constant() {value = dense<{{\[\[}}7, 2], [-4, 7], [7, 0], [4, 7]]> : tensor<4x2xi4>}
// BLOCKS: %[[S:.*]] = onnx.Constant() {{.*}} : tensor<2x2xf32>}
// BLOCKS: %[[D:.*]] = onnx.DequantizeLinear(%[[W]], %[[S]], %{{.*}}) {axis = 0 : i64, block_size = 2 : i64}
// BLOCKS: onnx.MatMul(%arg0, %[[D]])
// SAID: remark: weights quantised
func.func @columns(%x: tensor<5x4xf32>) -> tensor<5x2xf32> {
  %w = onnx.Constant() {value = dense<[[14.0, 2.0], [-7.0, 7.0], [127.0, -1.0], [63.75, 63.5]]> : tensor<4x2xf32>} : () -> tensor<4x2xf32>
  %0 = onnx.MatMul(%x, %w) : (tensor<5x4xf32>, tensor<4x2xf32>) -> tensor<5x2xf32>
  return %0 : tensor<5x2xf32>
}

// -----

// Columns of turned weights are rows; two products by one matrix share it.
// CHECK-LABEL: func @turned
// CHECK: %[[D:.*]] = onnx.DequantizeLinear({{.*}}) {axis = 0 : i64} : (tensor<2x4xi8>, tensor<2xf32>, none) -> tensor<2x4xf32>
// CHECK: onnx.Gemm(%arg0, %[[D]], %{{.*}})
// CHECK-NOT: onnx.DequantizeLinear
// CHECK: onnx.Gemm(%arg1, %[[D]], %{{.*}})
// BLOCKS-LABEL: func @turned
// BLOCKS: onnx.DequantizeLinear({{.*}}) {axis = 1 : i64, block_size = 2 : i64} : (tensor<2x4xi4>, tensor<2x2xf32>, none) -> tensor<2x4xf32>
func.func @turned(%x: tensor<5x4xf32>, %y: tensor<3x4xf32>) -> (tensor<5x2xf32>, tensor<3x2xf32>) {
  %none = onnx.None() : () -> none
  %w = onnx.Constant() {value = dense<[[1.0, 2.0, 3.0, 4.0], [5.0, 6.0, 7.0, 8.0]]> : tensor<2x4xf32>} : () -> tensor<2x4xf32>
  %0 = onnx.Gemm(%x, %w, %none) {transB = 1 : i64} : (tensor<5x4xf32>, tensor<2x4xf32>, none) -> tensor<5x2xf32>
  %1 = onnx.Gemm(%y, %w, %none) {transB = 1 : i64} : (tensor<3x4xf32>, tensor<2x4xf32>, none) -> tensor<3x2xf32>
  return %0, %1 : tensor<5x2xf32>, tensor<3x2xf32>
}

// -----

// CHECK-LABEL: func @few
// CHECK-NOT: onnx.DequantizeLinear
// SAID: warning: --weights=int4: no weights are quantised; --remarks tells why of each product
// SAID: remark: weights not quantised: 4 weights are little to read; 8 or more are quantised
func.func @few(%x: tensor<5x2xf32>) -> tensor<5x2xf32> {
  %w = onnx.Constant() {value = dense<[[1.0, 2.0], [3.0, 4.0]]> : tensor<2x2xf32>} : () -> tensor<2x2xf32>
  %0 = onnx.MatMul(%x, %w) : (tensor<5x2xf32>, tensor<2x2xf32>) -> tensor<5x2xf32>
  return %0 : tensor<5x2xf32>
}

// -----

// CHECK-LABEL: func @partOfABlock
// CHECK: onnx.DequantizeLinear(
// BLOCKS-LABEL: func @partOfABlock
// BLOCKS-NOT: onnx.DequantizeLinear
// SAID: remark: weights not quantised: a depth of 3 is not whole blocks of 2
func.func @partOfABlock(%x: tensor<5x3xf32>) -> tensor<5x3xf32> {
  %w = onnx.Constant() {value = dense<[[1.0, 2.0, 3.0], [4.0, 5.0, 6.0], [7.0, 8.0, 9.0]]> : tensor<3x3xf32>} : () -> tensor<3x3xf32>
  %0 = onnx.MatMul(%x, %w) : (tensor<5x3xf32>, tensor<3x3xf32>) -> tensor<5x3xf32>
  return %0 : tensor<5x3xf32>
}

// -----

// CHECK-LABEL: func @infinite
// CHECK-NOT: onnx.DequantizeLinear
// SAID: remark: weights not quantised: some weights are infinite or no numbers
func.func @infinite(%x: tensor<5x4xf32>) -> tensor<5x2xf32> {
  %w = onnx.Constant() {value = dense<[[1.0, 0x7F800000], [3.0, 4.0], [5.0, 6.0], [7.0, 8.0]]> : tensor<4x2xf32>} : () -> tensor<4x2xf32>
  %0 = onnx.MatMul(%x, %w) : (tensor<5x4xf32>, tensor<4x2xf32>) -> tensor<5x2xf32>
  return %0 : tensor<5x2xf32>
}

// -----

// CHECK-LABEL: func @batch
// CHECK-NOT: onnx.DequantizeLinear
// SAID: remark: weights not quantised: weights of 3 dimensions are no matrix
func.func @batch(%x: tensor<2x5x2xf32>) -> tensor<2x5x2xf32> {
  %w = onnx.Constant() {value = dense<[[[1.0, 2.0], [3.0, 4.0]], [[5.0, 6.0], [7.0, 8.0]]]> : tensor<2x2x2xf32>} : () -> tensor<2x2x2xf32>
  %0 = onnx.MatMul(%x, %w) : (tensor<2x5x2xf32>, tensor<2x2x2xf32>) -> tensor<2x5x2xf32>
  return %0 : tensor<2x5x2xf32>
}

// -----

// CHECK-LABEL: func @convolution
// CHECK-NOT: onnx.DequantizeLinear
// SAID: remark: weights not quantised: only matrix products and recurrent networks dequantise weights as they read them
func.func @convolution(%x: tensor<1x2x4xf32>) -> tensor<1x4x4xf32> {
  %none = onnx.None() : () -> none
  %w = onnx.Constant() {value = dense<[[[1.0], [2.0]], [[3.0], [4.0]], [[5.0], [6.0]], [[7.0], [8.0]]]> : tensor<4x2x1xf32>} : () -> tensor<4x2x1xf32>
  %0 = onnx.Conv(%x, %w, %none) : (tensor<1x2x4xf32>, tensor<4x2x1xf32>, none) -> tensor<1x4x4xf32>
  return %0 : tensor<1x4x4xf32>
}

// -----

// Weights that are computed, and those of 16 bits.
// CHECK-LABEL: func @others
// CHECK-NOT: onnx.DequantizeLinear
func.func @others(%x: tensor<5x4xf32>, %y: tensor<4x2xf32>, %z: tensor<5x4xf16>) -> (tensor<5x2xf32>, tensor<5x2xf16>) {
  %w = onnx.Constant() {value = dense<[[1.0, 2.0], [3.0, 4.0], [5.0, 6.0], [7.0, 8.0]]> : tensor<4x2xf16>} : () -> tensor<4x2xf16>
  %0 = onnx.MatMul(%x, %y) : (tensor<5x4xf32>, tensor<4x2xf32>) -> tensor<5x2xf32>
  %1 = onnx.MatMul(%z, %w) : (tensor<5x4xf16>, tensor<4x2xf16>) -> tensor<5x2xf16>
  return %0, %1 : tensor<5x2xf32>, tensor<5x2xf16>
}

// -----

// Rows of both directions are blocks: each gate of a unit has a scale. Biases stay.
// CHECK-LABEL: func @recurrent(
// CHECK: %[[B:.*]] = onnx.Constant() {{.*}} : tensor<2x4xf32>}
// CHECK: %[[W:.*]] = onnx.Constant() {value = dense<{{\[\[}}[32, 64, 95, 127], [127, 0, -127, 64]], {{\[}}[127, 127, 127, 127], [0, 0, 0, -127]]]> : tensor<2x2x4xi8>}
// CHECK: %[[D:.*]] = onnx.DequantizeLinear(%[[W]], %{{.*}}, %{{.*}}) {axis = 2 : i64, block_size = 4 : i64} : (tensor<2x2x4xi8>, tensor<2x2x1xf32>, none) -> tensor<2x2x4xf32>
// CHECK: %[[E:.*]] = onnx.DequantizeLinear({{.*}}) {axis = 2 : i64, block_size = 2 : i64} : (tensor<2x2x2xi8>, tensor<2x2x1xf32>, none) -> tensor<2x2x2xf32>
// CHECK: onnx.RNN(%arg0, %[[D]], %[[E]], %[[B]],
// BLOCKS-LABEL: func @recurrent(
// BLOCKS-NOT: onnx.DequantizeLinear
// SAID: remark: weights not quantised: recurrent networks have a scale for each gate of a unit, of 8 bits
func.func @recurrent(%x: tensor<5x3x4xf32>) -> tensor<5x2x3x2xf32> {
  %none = onnx.None() : () -> none
  %w = onnx.Constant() {value = dense<[[[1.0, 2.0, 3.0, 4.0], [2.0, 0.0, -2.0, 1.0]], [[7.0, 7.0, 7.0, 7.0], [0.0, 0.0, 0.0, -1.0]]]>
      : tensor<2x2x4xf32>} : () -> tensor<2x2x4xf32>
  %r = onnx.Constant() {value = dense<[[[1.0, 2.0], [3.0, 4.0]], [[5.0, 6.0], [7.0, 8.0]]]> : tensor<2x2x2xf32>} : () -> tensor<2x2x2xf32>
  %b = onnx.Constant() {value = dense<[[1.0, 2.0, 3.0, 4.0], [5.0, 6.0, 7.0, 8.0]]> : tensor<2x4xf32>} : () -> tensor<2x4xf32>
  %0, %1 = onnx.RNN(%x, %w, %r, %b, %none, %none) {direction = "bidirectional"}
      : (tensor<5x3x4xf32>, tensor<2x2x4xf32>, tensor<2x2x2xf32>, tensor<2x4xf32>, none, none) -> (tensor<5x2x3x2xf32>, none)
  return %0 : tensor<5x2x3x2xf32>
}

// -----

// Weights that are inputs stay.
// CHECK-LABEL: func @recurrentInput
// CHECK-NOT: onnx.DequantizeLinear
func.func @recurrentInput(%x: tensor<5x3x4xf32>, %w: tensor<1x3x4xf32>, %r: tensor<1x3x3xf32>) -> tensor<5x1x3x3xf32> {
  %none = onnx.None() : () -> none
  %0, %1 = onnx.RNN(%x, %w, %r, %none, %none, %none)
      : (tensor<5x3x4xf32>, tensor<1x3x4xf32>, tensor<1x3x3xf32>, none, none, none) -> (tensor<5x1x3x3xf32>, none)
  return %0 : tensor<5x1x3x3xf32>
}
