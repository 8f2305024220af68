// RUN: echo '{"cameo_ranges": 1, "channels": {"a": [0, 3], "b": [-1, 2], "known": [1, 1], "left": [0, 1], "moved": [2, 0]}, "inputs": {"p": {"value": "a", "scale": 0.125, "means": [1, 2], "shifts": [0, 0]}}, "ranges": {"x": {"min": -1, "max": 127}, "a": {"min": 0, "max": 127, "method": "mse", "thresholds": {"mse": 127}, "scaled": {"mse": 15.875}}, "pooled": {"min": 0, "max": 127, "method": "mse", "thresholds": {"mse": 127}, "scaled": {"mse": 15.875}}, "b": {"min": 0, "max": 127, "method": "mse", "thresholds": {"mse": 127}, "scaled": {"mse": 31.75}}, "joined": {"min": 0, "max": 127, "method": "mse", "thresholds": {"mse": 127}, "scaled": {"mse": 31.75}}, "sum": {"min": 0, "max": 254}, "known": {"min": 0, "max": 127}, "half": {"min": 0, "max": 127, "method": "mse", "thresholds": {"mse": 127}, "scaled": {"mse": 31.75}}, "left": {"min": 0, "max": 127, "method": "mse", "thresholds": {"mse": 127}, "scaled": {"mse": 15.875}}, "moved": {"min": 0, "max": 127, "method": "mse", "thresholds": {"mse": 127}, "scaled": {"mse": 15.875}}, "flat": {"min": 0, "max": 127, "method": "mse", "thresholds": {"mse": 127}, "scaled": {"mse": 15.875}}}}' > %t.json
// RUN: cameo-opt %s --split-input-file --pass-pipeline='builtin.module(cameo-attach-ranges{file=%t.json},cameo-insert-quantization)' | FileCheck %s
// RUN: cameo-opt %s --split-input-file --pass-pipeline='builtin.module(cameo-attach-ranges{file=%t.json},cameo-insert-quantization,cameo-report-decisions)' 2>&1 | FileCheck %s --check-prefix=REMARK
// RUN: cameo-opt %s --split-input-file --pass-pipeline='builtin.module(cameo-attach-ranges{file=%t.json},cameo-insert-quantization{scale-channels=false})' | FileCheck %s --check-prefix=OFF
// RUN: cameo-opt %s --split-input-file --pass-pipeline='builtin.module(cameo-attach-ranges{file=%t.json},cameo-insert-quantization{correct-biases=on})' | FileCheck %s --check-prefix=BIAS
// RUN: echo '{"cameo_ranges": 1, "channels": {"a": [0, 17]}, "ranges": {}}' > %t.far
// RUN: not cameo-opt %s --cameo-attach-ranges='file=%t.far' 2>&1 | FileCheck %s --check-prefix=FAR
// FAR: error: ranges in '{{.*}}.far': the channels of 'a': expected a list of exponents from -16 to 16, found [0,17]

// Channels are multiplied where the value is quantised; the product behind the pool divides its weights, and the
// sum, which is no product, divides what it reads. The product's scale is that of scaled channels.
// REMARK: remark: loc("a"): channels of 'a' scaled, by factors from 2^0 to 2^3
// CHECK-LABEL: func @residual(
// CHECK: %[[A:.*]] = onnx.Relu
// CHECK: %[[UP:.*]] = onnx.Constant() {value = dense<{{\[\[}}{{\[\[}}1.000000e+00]], {{\[\[}}8.000000e+00]]]]> : tensor<1x2x1x1xf32>}
// CHECK: %[[M:.*]] = onnx.Mul(%[[A]], %[[UP]])
// CHECK: %[[SCALE:.*]] = onnx.Constant() {value = dense<1.250000e-01> : tensor<f32>}
// CHECK: %[[Q:.*]] = onnx.QuantizeLinear(%[[M]], %{{.*}}, %{{.*}})
// CHECK: %[[D:.*]] = onnx.DequantizeLinear(%[[Q]]
// CHECK: %[[DOWN:.*]] = onnx.Constant() {value = dense<{{\[\[}}{{\[\[}}1.000000e+00]], {{\[\[}}1.250000e-01]]]]>
// CHECK: %[[BACK:.*]] = onnx.Mul(%[[D]], %[[DOWN]])
// CHECK: %[[P:.*]], %{{.*}} = onnx.MaxPool(%[[D]])
// CHECK: value = dense<{{.*}}127{{.*}}16{{.*}}> : tensor<2x2x1x1xi8>
// CHECK: %[[C:.*]] = onnx.Conv(%[[P]],
// CHECK: onnx.Add(%[[C]], %[[BACK]])
// OFF-LABEL: func @residual(
// OFF: %[[A:.*]] = onnx.Relu
// OFF: onnx.QuantizeLinear(%[[A]]
// OFF-NOT: onnx.Mul
func.func @residual(%x: tensor<1x2x4x4xf32> {onnx.name = "x"}) -> tensor<1x2x4x4xf32> {
  %w = onnx.Constant() {value = dense<[[[[127.0]], [[127.0]]], [[[1.0]], [[127.0]]]]> : tensor<2x2x1x1xf32>} : () -> tensor<2x2x1x1xf32>
  %none = onnx.None() : () -> none
  %0 = onnx.Log(%x) : (tensor<1x2x4x4xf32>) -> tensor<1x2x4x4xf32> loc("first")
  %1 = onnx.Relu(%0) : (tensor<1x2x4x4xf32>) -> tensor<1x2x4x4xf32> loc("a")
  %2:2 = onnx.MaxPool(%1) {kernel_shape = array<i64: 3, 3>, pads = array<i64: 1, 1, 1, 1>} : (tensor<1x2x4x4xf32>) -> (tensor<1x2x4x4xf32>, none) loc("pooled")
  %3 = onnx.Conv(%2#0, %w, %none) : (tensor<1x2x4x4xf32>, tensor<2x2x1x1xf32>, none) -> tensor<1x2x4x4xf32> loc("conv")
  %4 = onnx.Add(%3, %1) : (tensor<1x2x4x4xf32>, tensor<1x2x4x4xf32>) -> tensor<1x2x4x4xf32> loc("sum")
  %5 = onnx.Conv(%4, %w, %none) : (tensor<1x2x4x4xf32>, tensor<2x2x1x1xf32>, none) -> tensor<1x2x4x4xf32> loc("last")
  return %5 : tensor<1x2x4x4xf32>
}

// -----

// Parts of a concatenation have factors of their own and one scale; who reads the whole takes all factors.
// CHECK-LABEL: func @parts(
// CHECK: onnx.Relu
// CHECK: onnx.Constant() {value = dense<{{\[\[}}1.000000e+00, 8.000000e+00]]> : tensor<1x2xf32>}
// CHECK: onnx.Constant() {value = dense<2.500000e-01> : tensor<f32>}
// CHECK: onnx.Abs
// CHECK: onnx.Constant() {value = dense<{{\[\[}}5.000000e-01, 4.000000e+00]]> : tensor<1x2xf32>}
// CHECK: onnx.Constant() {value = dense<2.500000e-01> : tensor<f32>}
// CHECK: %[[J:.*]] = onnx.Concat
// CHECK: value = dense<{{\[\[}}114, 114], [14, 14], [114, 114], [28, 28]]> : tensor<4x2xi8>
// CHECK: onnx.MatMul(%[[J]],
// OFF-LABEL: func @parts(
// OFF-NOT: onnx.Mul
func.func @parts(%x: tensor<4x2xf32> {onnx.name = "x"}) -> tensor<4x2xf32> {
  %w = onnx.Constant() {value = dense<[[64.0, 64.0], [64.0, 64.0], [32.0, 32.0], [64.0, 64.0]]> : tensor<4x2xf32>} : () -> tensor<4x2xf32>
  %0 = onnx.Relu(%x) : (tensor<4x2xf32>) -> tensor<4x2xf32> loc("a")
  %1 = onnx.Abs(%x) : (tensor<4x2xf32>) -> tensor<4x2xf32> loc("b")
  %2 = onnx.Concat(%0, %1) {axis = 1 : i64} : (tensor<4x2xf32>, tensor<4x2xf32>) -> tensor<4x4xf32> loc("joined")
  %3 = onnx.MatMul(%2, %w) : (tensor<4x4xf32>, tensor<4x2xf32>) -> tensor<4x2xf32> loc("conv")
  return %3 : tensor<4x2xf32>
}

// -----

// All of what is joined, or nothing: of one part it is not known.
// CHECK-LABEL: func @unknown(
// CHECK-NOT: onnx.Mul(
// CHECK: onnx.MatMul
func.func @unknown(%x: tensor<4x2xf32> {onnx.name = "x"}) -> tensor<4x2xf32> {
  %w = onnx.Constant() {value = dense<1.0> : tensor<4x2xf32>} : () -> tensor<4x2xf32>
  %0 = onnx.Relu(%x) : (tensor<4x2xf32>) -> tensor<4x2xf32> loc("known")
  %1 = onnx.Abs(%x) : (tensor<4x2xf32>) -> tensor<4x2xf32> loc("other")
  %2 = onnx.Concat(%0, %1) {axis = 1 : i64} : (tensor<4x2xf32>, tensor<4x2xf32>) -> tensor<4x4xf32> loc("half")
  %w4 = onnx.Constant() {value = dense<1.0> : tensor<4x2xf32>} : () -> tensor<4x2xf32>
  %3 = onnx.MatMul(%2, %w4) : (tensor<4x4xf32>, tensor<4x2xf32>) -> tensor<4x2xf32>
  return %3 : tensor<4x2xf32>
}

// -----

// A product of computed values can divide nothing, so nothing that it reads is multiplied.
// REMARK: remark: loc("left"): channels not scaled: 'both' has no constant weights to divide
// CHECK-LABEL: func @computed(
// CHECK-NOT: onnx.Mul(
// CHECK: onnx.MatMul
// CHECK: onnx.MatMul
func.func @computed(%x: tensor<2x2xf32> {onnx.name = "x"}) -> tensor<2x2xf32> {
  %w = onnx.Constant() {value = dense<1.0> : tensor<2x2xf32>} : () -> tensor<2x2xf32>
  %0 = onnx.Relu(%x) : (tensor<2x2xf32>) -> tensor<2x2xf32> loc("left")
  %1 = onnx.MatMul(%0, %w) : (tensor<2x2xf32>, tensor<2x2xf32>) -> tensor<2x2xf32>
  %2 = onnx.MatMul(%0, %0) : (tensor<2x2xf32>, tensor<2x2xf32>) -> tensor<2x2xf32> loc("both")
  %3 = onnx.Sub(%1, %2) : (tensor<2x2xf32>, tensor<2x2xf32>) -> tensor<2x2xf32>
  return %3 : tensor<2x2xf32>
}

// -----

// A channel is four columns of what is flattened, and the third dimension of what is transposed.
// CHECK-LABEL: func @flattened(
// CHECK: %[[UP:.*]] = onnx.Constant() {value = dense<{{.*}}4.000000e+00{{.*}}1.000000e+00{{.*}}> : tensor<1x1x1x2xf32>}
// CHECK: onnx.Mul(%{{.*}}, %[[UP]])
// CHECK: value = dense<{{\[\[}}32], [32], [32], [32], [127], [127], [127], [127]]> : tensor<8x1xi8>
func.func @flattened(%x: tensor<1x2x2x2xf32> {onnx.name = "x"}) -> tensor<1x1xf32> {
  %w = onnx.Constant() {value = dense<127.0> : tensor<8x1xf32>} : () -> tensor<8x1xf32>
  %0 = onnx.Relu(%x) : (tensor<1x2x2x2xf32>) -> tensor<1x2x2x2xf32> loc("moved")
  %1 = onnx.Transpose(%0) {perm = array<i64: 0, 3, 1, 2>} : (tensor<1x2x2x2xf32>) -> tensor<1x2x2x2xf32> loc("turned")
  %2 = onnx.Flatten(%1) {axis = 1 : i64} : (tensor<1x2x2x2xf32>) -> tensor<1x8xf32> loc("flat")
  %3 = onnx.MatMul(%2, %w) : (tensor<1x8xf32>, tensor<8x1xf32>) -> tensor<1x1xf32>
  return %3 : tensor<1x1xf32>
}

// -----

// Patches of 2 x 2 are joined along channels: each channel is there four times.
// CHECK-LABEL: func @patches(
// CHECK: onnx.Mul(
// CHECK: value = dense<{{\[\[}}32], [127], [32], [127], [32], [127], [32], [127]]> : tensor<8x1xi8>
func.func @patches(%x: tensor<1x4x4x2xf32> {onnx.name = "x"}) -> tensor<1x4x1xf32> {
  %w = onnx.Constant() {value = dense<127.0> : tensor<8x1xf32>} : () -> tensor<8x1xf32>
  %apart = onnx.Constant() {value = dense<[1, 2, 2, 2, 2, 2]> : tensor<6xi64>} : () -> tensor<6xi64>
  %joined = onnx.Constant() {value = dense<[1, 4, 8]> : tensor<3xi64>} : () -> tensor<3xi64>
  %0 = onnx.Relu(%x) : (tensor<1x4x4x2xf32>) -> tensor<1x4x4x2xf32> loc("moved")
  %1 = onnx.Reshape(%0, %apart) : (tensor<1x4x4x2xf32>, tensor<6xi64>) -> tensor<1x2x2x2x2x2xf32> loc("apart")
  %2 = onnx.Transpose(%1) {perm = array<i64: 0, 1, 3, 2, 4, 5>} : (tensor<1x2x2x2x2x2xf32>) -> tensor<1x2x2x2x2x2xf32> loc("turned")
  %3 = onnx.Reshape(%2, %joined) : (tensor<1x2x2x2x2x2xf32>, tensor<3xi64>) -> tensor<1x4x8xf32> loc("flat")
  %4 = onnx.MatMul(%3, %w) : (tensor<1x4x8xf32>, tensor<8x1xf32>) -> tensor<1x4x1xf32>
  return %4 : tensor<1x4x1xf32>
}

// -----

// Means are recorded without factors: a weight of 0.4 is lost, and with it 0.4 times a mean of 2, which is 6 steps of 0.125.
// BIAS-LABEL: func @corrected(
// BIAS: onnx.Mul(
// BIAS: onnx.Constant() {value = dense<[6, 0]> : tensor<2xi32>}
func.func @corrected(%x: tensor<1x2x4x4xf32> {onnx.name = "x"}) -> tensor<1x2x4x4xf32> {
  %w = onnx.Constant() {value = dense<[[[[127.0]], [[0.4]]], [[[0.0]], [[127.0]]]]> : tensor<2x2x1x1xf32>} : () -> tensor<2x2x1x1xf32>
  %none = onnx.None() : () -> none
  %0 = onnx.Relu(%x) : (tensor<1x2x4x4xf32>) -> tensor<1x2x4x4xf32> loc("a")
  %1 = onnx.Conv(%0, %w, %none) : (tensor<1x2x4x4xf32>, tensor<2x2x1x1xf32>, none) -> tensor<1x2x4x4xf32> loc("p")
  return %1 : tensor<1x2x4x4xf32>
}
