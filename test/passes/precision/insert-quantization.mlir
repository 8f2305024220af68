// RUN: echo '{"cameo_ranges": 1, "model": "16e89c4be18b0e5f", "ranges": {"x": {"min": -1, "max": 12.7}, "a": {"min": 0, "max": 12.7}, "b": {"min": -25.4, "max": 2}, "c": {"min": 0, "max": 1.27}, "d": {"min": -25.4, "max": 12.7, "method": "entropy", "thresholds": {"max": 25.4, "entropy": 12.7}}, "none": {"min": 0, "max": 0}}}' > %t.json
// RUN: cameo-opt %s --split-input-file --verify-diagnostics --pass-pipeline='builtin.module(cameo-attach-ranges{file=%t.json},cameo-insert-quantization{nodes=asked=int8;held=fp16;other=fp32},cameo-report-decisions)' | FileCheck %s

// What is stored is what the work behind a product gives, and a pool moves bytes. A scale is a
// threshold by 127, one a channel of weights; it is rounded up to 5 bits (12.7 / 127 to 26 / 256), of
// weights to 4 (300 / 127 to 2.5). The bias has the scale of the sum.
// CHECK-LABEL: func @chain(
// CHECK: %[[A:.*]] = onnx.Relu
// CHECK: %[[SCALE:.*]] = onnx.Constant() {value = dense<0.1015625> : tensor<f32>}
// CHECK: %[[ZERO:.*]] = onnx.Constant() {value = dense<0> : tensor<i8>}
// CHECK: %[[Q:.*]] = onnx.QuantizeLinear(%[[A]], %[[SCALE]], %[[ZERO]]) : (tensor<1x2x4x4xf32>, tensor<f32>, tensor<i8>) -> tensor<1x2x4x4xi8>
// CHECK: %[[D:.*]] = onnx.DequantizeLinear(%[[Q]], %[[SCALE]], %[[ZERO]])
// CHECK: %[[P:.*]], %{{.*}} = onnx.MaxPool(%[[D]])
// CHECK: %[[IW:.*]] = onnx.Constant() {value = dense<{{.*}}127{{.*}}-64{{.*}}51{{.*}}120{{.*}}> : tensor<2x2x1x1xi8>}
// CHECK: %[[SW:.*]] = onnx.Constant() {value = dense<[1.000000e+00, 2.500000e+00]> : tensor<2xf32>}
// CHECK: %[[W:.*]] = onnx.DequantizeLinear(%[[IW]], %[[SW]], %{{.*}}) {axis = 0 : i64}
// CHECK: %[[IB:.*]] = onnx.Constant() {value = dense<[10, -4]> : tensor<2xi32>}
// CHECK: %[[B:.*]] = onnx.DequantizeLinear(%[[IB]], %{{.*}}) {axis = 0 : i64} : (tensor<2xi32>, tensor<2xf32>, none) -> tensor<2xf32>
// CHECK: onnx.Conv(%[[P]], %[[W]], %[[B]])
func.func @chain(%x: tensor<1x2x4x4xf32> {onnx.name = "x"}) -> tensor<1x2x2x2xf32> {
  %w = onnx.Constant() {value = dense<[[[[127.0]], [[-64.0]]], [[[128.0]], [[300.0]]]]> : tensor<2x2x1x1xf32>} : () -> tensor<2x2x1x1xf32>
  %b = onnx.Constant() {value = dense<[1.0, -1.0]> : tensor<2xf32>} : () -> tensor<2xf32>
  %0 = onnx.Log(%x) : (tensor<1x2x4x4xf32>) -> tensor<1x2x4x4xf32> loc("first")
  %1 = onnx.Relu(%0) : (tensor<1x2x4x4xf32>) -> tensor<1x2x4x4xf32> loc("a")
  %2:2 = onnx.MaxPool(%1) {kernel_shape = array<i64: 2, 2>, strides = array<i64: 2, 2>} : (tensor<1x2x4x4xf32>) -> (tensor<1x2x2x2xf32>, none)
  %3 = onnx.Conv(%2#0, %w, %b) : (tensor<1x2x2x2xf32>, tensor<2x2x1x1xf32>, tensor<2xf32>) -> tensor<1x2x2x2xf32>
  return %3 : tensor<1x2x2x2xf32>
}

// -----

// Of two products that are added, the earlier one is stored; what is joined has one scale, that of
// what reads it.
// CHECK-LABEL: func @sum(
// CHECK: %[[A:.*]] = onnx.MatMul
// CHECK: %[[QA:.*]] = onnx.QuantizeLinear(%[[A]]
// CHECK: %[[DA:.*]] = onnx.DequantizeLinear(%[[QA]]
// CHECK: %[[B:.*]] = onnx.MatMul
// CHECK-NOT: Quantize
// CHECK: %[[S:.*]] = onnx.Add(%[[B]], %[[DA]])
// CHECK: onnx.QuantizeLinear(%[[S]]
func.func @sum(%x: tensor<4x4xf32> {onnx.name = "x"}, %y: tensor<4x4xf32>) -> tensor<4x4xf32> {
  %0 = onnx.Tanh(%x) : (tensor<4x4xf32>) -> tensor<4x4xf32>
  %1 = onnx.MatMul(%0, %0) : (tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<4x4xf32> loc("a")
  %2 = onnx.MatMul(%0, %0) : (tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<4x4xf32> loc("b")
  %3 = onnx.Add(%2, %1) : (tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<4x4xf32> loc("c")
  %4 = onnx.MatMul(%3, %3) : (tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<4x4xf32>
  return %4 : tensor<4x4xf32>
}

// -----

// CHECK-LABEL: func @joined(
// CHECK-COUNT-2: onnx.Constant() {value = dense<0.1015625> : tensor<f32>}
// CHECK: %[[D:.*]] = onnx.Concat(%{{.*}}, %{{.*}})
// CHECK: %[[T:.*]] = onnx.Transpose(%[[D]])
// CHECK: onnx.MatMul(%[[T]],
func.func @joined(%x: tensor<4x2xf32> {onnx.name = "x"}) -> tensor<4x4xf32> {
  %w = onnx.Constant() {value = dense<1.0> : tensor<4x4xf32>} : () -> tensor<4x4xf32>
  %0 = onnx.Relu(%x) : (tensor<4x2xf32>) -> tensor<4x2xf32> loc("a")
  %1 = onnx.Neg(%x) : (tensor<4x2xf32>) -> tensor<4x2xf32> loc("b")
  %2 = onnx.Concat(%0, %1) {axis = 1 : i64} : (tensor<4x2xf32>, tensor<4x2xf32>) -> tensor<4x4xf32> loc("d")
  %3 = onnx.Transpose(%2) {perm = array<i64: 1, 0>} : (tensor<4x4xf32>) -> tensor<4x4xf32>
  %4 = onnx.MatMul(%3, %w) : (tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<4x4xf32>
  return %4 : tensor<4x4xf32>
}

// -----

// A part that is small beside the whole, and that others read, is quantised for each.
// CHECK-LABEL: func @apart(
// CHECK: %[[C:.*]] = onnx.Sigmoid
// CHECK-DAG: %[[OWN:.*]] = onnx.QuantizeLinear(%[[C]], %[[SMALL:[^,]*]],
// CHECK-DAG: %[[PART:.*]] = onnx.QuantizeLinear(%[[C]], %[[LARGE:[^,]*]],
// CHECK-DAG: %[[SMALL]] = onnx.Constant() {value = dense<0.01{{.*}}> : tensor<f32>}
// CHECK-DAG: %[[LARGE]] = onnx.Constant() {value = dense<0.1015625> : tensor<f32>}
// CHECK-DAG: %[[D:.*]] = onnx.DequantizeLinear(%[[PART]]
// CHECK: onnx.Concat(%[[D]], %{{.*}})
func.func @apart(%x: tensor<4x2xf32> {onnx.name = "x"}) -> (tensor<4x4xf32>, tensor<4x2xf32>) {
  %w = onnx.Constant() {value = dense<1.0> : tensor<4x4xf32>} : () -> tensor<4x4xf32>
  %v = onnx.Constant() {value = dense<1.0> : tensor<2x2xf32>} : () -> tensor<2x2xf32>
  %0 = onnx.Sigmoid(%x) : (tensor<4x2xf32>) -> tensor<4x2xf32> loc("c")
  %1 = onnx.Relu(%x) : (tensor<4x2xf32>) -> tensor<4x2xf32> loc("a")
  // expected-remark @+1 {{'c' quantised once more: others read it in a scale of its own}}
  %2 = onnx.Concat(%0, %1) {axis = 1 : i64} : (tensor<4x2xf32>, tensor<4x2xf32>) -> tensor<4x4xf32>
  %3 = onnx.MatMul(%2, %w) : (tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<4x4xf32>
  %4 = onnx.MatMul(%0, %v) : (tensor<4x2xf32>, tensor<2x2xf32>) -> tensor<4x2xf32>
  return %3, %4 : tensor<4x4xf32>, tensor<4x2xf32>
}

// -----

// What has no range of its own has that of what it is made of, as far as operators leave that: 1 of 25.4, since x is
// -1 at least (1 / 127 is rounded up to 17 / 2048).
// CHECK-LABEL: func @bounded(
// CHECK: %[[C:.*]] = onnx.Clip
// CHECK: %[[S:.*]] = onnx.Constant() {value = dense<0.00830078125> : tensor<f32>}
// CHECK: onnx.QuantizeLinear(%[[C]], %[[S]],
func.func @bounded(%x: tensor<4x4xf32> {onnx.name = "x"}) -> tensor<4x4xf32> {
  %least = onnx.Constant() {value = dense<0.0> : tensor<f32>} : () -> tensor<f32>
  %most = onnx.Constant() {value = dense<6.0> : tensor<f32>} : () -> tensor<f32>
  %0 = onnx.Neg(%x) : (tensor<4x4xf32>) -> tensor<4x4xf32> loc("b")
  %1 = onnx.Clip(%0, %least, %most) : (tensor<4x4xf32>, tensor<f32>, tensor<f32>) -> tensor<4x4xf32>
  %2 = onnx.MatMul(%1, %1) : (tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<4x4xf32>
  return %2 : tensor<4x4xf32>
}

// -----

// What goes on to a normalisation stays as it is; weights are values, too; a softmax has bounds.
// CHECK-LABEL: func @attention(
// CHECK: %[[X:.*]] = onnx.Relu
// CHECK: %[[D:.*]] = onnx.DequantizeLinear
// CHECK: %[[S:.*]] = onnx.MatMul(%[[D]], %[[D]])
// CHECK: %[[P:.*]] = onnx.Softmax(%[[S]])
// CHECK: %[[C:.*]] = onnx.Constant() {value = dense<{{0\.0083|8\.30}}{{.*}}> : tensor<f32>}
// CHECK: %[[QP:.*]] = onnx.QuantizeLinear(%[[P]], %[[C]],
// CHECK: %[[DP:.*]] = onnx.DequantizeLinear(%[[QP]]
// CHECK: %[[Y:.*]] = onnx.MatMul(%[[DP]], %[[D]])
// CHECK: %[[R:.*]] = onnx.Add(%[[Y]], %[[X]])
// CHECK: onnx.Softmax(%[[R]])
func.func @attention(%x: tensor<4x4xf32> {onnx.name = "x"}) -> tensor<4x4xf32> {
  %0 = onnx.Relu(%x) : (tensor<4x4xf32>) -> tensor<4x4xf32> loc("a")
  %1 = onnx.MatMul(%0, %0) : (tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<4x4xf32>
  %2 = onnx.Softmax(%1) {axis = 1 : i64} : (tensor<4x4xf32>) -> tensor<4x4xf32>
  %3 = onnx.MatMul(%2, %0) : (tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<4x4xf32>
  %4 = onnx.Add(%3, %0) : (tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<4x4xf32>
  %5 = onnx.Softmax(%4) {axis = 1 : i64} : (tensor<4x4xf32>) -> tensor<4x4xf32>
  return %5 : tensor<4x4xf32>
}

// -----

// The bounds of a softmax say nothing of long rows, whose mean is below 8 numbers of 127: 17 elements.
// CHECK-LABEL: func @spread_attention(
// CHECK: %[[P:.*]] = onnx.Softmax
// CHECK-NOT: onnx.QuantizeLinear
// CHECK: onnx.MatMul(%[[P]],
func.func @spread_attention(%x: tensor<4x17xf32> {onnx.name = "x"}, %y: tensor<17x4xf32>) -> tensor<4x4xf32> {
  %0 = onnx.Relu(%y) : (tensor<17x4xf32>) -> tensor<17x4xf32> loc("a")
  %1 = onnx.Softmax(%x) {axis = -1 : i64} : (tensor<4x17xf32>) -> tensor<4x17xf32>
  // expected-remark @+1 {{not quantised: input 'A' has no range in the file}}
  %2 = onnx.MatMul(%1, %0) : (tensor<4x17xf32>, tensor<17x4xf32>) -> tensor<4x4xf32>
  return %2 : tensor<4x4xf32>
}

// -----

// A range that was recorded does.
// CHECK-LABEL: func @recorded_attention(
// CHECK: %[[P:.*]] = onnx.Softmax
// CHECK: %[[QP:.*]] = onnx.QuantizeLinear(%[[P]]
// CHECK: %[[DP:.*]] = onnx.DequantizeLinear(%[[QP]]
// CHECK: onnx.MatMul(%[[DP]],
func.func @recorded_attention(%x: tensor<4x17xf32> {onnx.name = "x"}, %y: tensor<17x4xf32>) -> tensor<4x4xf32> {
  %0 = onnx.Relu(%y) : (tensor<17x4xf32>) -> tensor<17x4xf32> loc("a")
  %1 = onnx.Softmax(%x) {axis = -1 : i64} : (tensor<4x17xf32>) -> tensor<4x17xf32> loc("c")
  %2 = onnx.MatMul(%1, %0) : (tensor<4x17xf32>, tensor<17x4xf32>) -> tensor<4x4xf32>
  return %2 : tensor<4x4xf32>
}

// -----

// Scales of weights grow with a bias that would leave 32 bits; a channel of zeros has one all the same.
// CHECK-LABEL: func @bias(
// CHECK: onnx.Constant() {value = dense<[0.009765625, 1.000000e+00]> : tensor<2xf32>}
// CHECK: onnx.Constant() {value = dense<[1008246{{[0-9]*}}, 0]> : tensor<2xi32>}
func.func @bias(%x: tensor<1x1xf32> {onnx.name = "x"}) -> tensor<1x2xf32> {
  %w = onnx.Constant() {value = dense<[[1.0e-3, 0.0]]> : tensor<1x2xf32>} : () -> tensor<1x2xf32>
  %b = onnx.Constant() {value = dense<[1.0e6, 0.0]> : tensor<2xf32>} : () -> tensor<2xf32>
  %0 = onnx.Relu(%x) : (tensor<1x1xf32>) -> tensor<1x1xf32> loc("a")
  // expected-remark @+1 {{scales of weights widened for 1 channels, whose biases would leave 32 bits}}
  %1 = onnx.Gemm(%0, %w, %b) : (tensor<1x1xf32>, tensor<1x2xf32>, tensor<2xf32>) -> tensor<1x2xf32>
  return %1 : tensor<1x2xf32>
}

// -----

// A bias below all normal floats asks for nothing.
// CHECK-LABEL: func @denormal_bias(
// CHECK: onnx.Constant() {value = dense<0.0107421875> : tensor<1xf32>}
func.func @denormal_bias(%x: tensor<1x1xf32> {onnx.name = "x"}) -> tensor<1x1xf32> {
  %w = onnx.Constant() {value = dense<1.27> : tensor<1x1xf32>} : () -> tensor<1x1xf32>
  %b = onnx.Constant() {value = dense<1.0e-44> : tensor<1xf32>} : () -> tensor<1xf32>
  %0 = onnx.Relu(%x) : (tensor<1x1xf32>) -> tensor<1x1xf32> loc("a")
  %1 = onnx.Gemm(%0, %w, %b) : (tensor<1x1xf32>, tensor<1x1xf32>, tensor<1xf32>) -> tensor<1x1xf32>
  return %1 : tensor<1x1xf32>
}

// -----

// Quantising an input of the model is a launch by itself, which few channels do not make up for,
// unless somebody wants it.
// CHECK-LABEL: func @cost(
// CHECK: onnx.Conv(%arg0, {{.*}}onnx.kept_precision
func.func @cost(%x: tensor<1x3x8x8xf32> {onnx.name = "x"}) -> tensor<1x4x8x8xf32> {
  %w = onnx.Constant() {value = dense<1.0> : tensor<4x3x1x1xf32>} : () -> tensor<4x3x1x1xf32>
  %none = onnx.None() : () -> none
  // expected-remark @+1 {{not quantised: quantising what it reads would cost more than 8 bits save}}
  %0 = onnx.Conv(%x, %w, %none) : (tensor<1x3x8x8xf32>, tensor<4x3x1x1xf32>, none) -> tensor<1x4x8x8xf32>
  return %0 : tensor<1x4x8x8xf32>
}

// -----

// CHECK-LABEL: func @asked(
// CHECK: onnx.QuantizeLinear(%arg0
// CHECK: onnx.MatMul(%{{.*}}, %{{.*}}) {onnx.kept_precision = "--precision-of=held=fp16"}
func.func @asked(%x: tensor<4x4xf32> {onnx.name = "x"}) -> (tensor<4x4xf32>, tensor<4x4xf32>) {
  %0 = onnx.MatMul(%x, %x) : (tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<4x4xf32> loc("asked")
  %1 = onnx.Relu(%x) : (tensor<4x4xf32>) -> tensor<4x4xf32> loc("a")
  %2 = onnx.MatMul(%1, %1) : (tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<4x4xf32> loc("held")
  return %0, %2 : tensor<4x4xf32>, tensor<4x4xf32>
}

// -----

// Products that stay.
// CHECK-LABEL: func @kept(
// CHECK-NOT: Quantize
// CHECK: return
func.func @kept(%x: tensor<4x4xf32> {onnx.name = "x"}, %y: tensor<4x200000xf32>, %i: tensor<1x1x4x4xf32>) -> (tensor<4x4xf32>, tensor<4x4xf32>, tensor<4x4xf32>, tensor<4x4xf32>, tensor<1x1x4x4xf32>) {
  %inf = onnx.Constant() {value = dense<0x7F800000> : tensor<4x4xf32>} : () -> tensor<4x4xf32>
  %w = onnx.Constant() {value = dense<1.0> : tensor<200000x4xf32>} : () -> tensor<200000x4xf32>
  %k = onnx.Constant() {value = dense<1.0> : tensor<1x1x1x1xf32>} : () -> tensor<1x1x1x1xf32>
  %none = onnx.None() : () -> none
  %a = onnx.Relu(%x) : (tensor<4x4xf32>) -> tensor<4x4xf32> loc("a")
  %u = onnx.Log(%x) : (tensor<4x4xf32>) -> tensor<4x4xf32> loc("unknown")
  %l = onnx.Tanh(%y) : (tensor<4x200000xf32>) -> tensor<4x200000xf32>
  // expected-remark @+1 {{not quantised: input 'A' has no range in the file}}
  %0 = onnx.MatMul(%u, %a) : (tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<4x4xf32>
  // expected-remark @+1 {{not quantised: input 'B' is not finite}}
  %1 = onnx.MatMul(%a, %inf) : (tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<4x4xf32>
  // expected-remark @+1 {{not quantised: its left operand is transposed}}
  %2 = onnx.Gemm(%a, %a, %none) {transA = 1 : i64} : (tensor<4x4xf32>, tensor<4x4xf32>, none) -> tensor<4x4xf32>
  // expected-remark @+1 {{not quantised: sums of 200000 products of 8 bits may leave 32 bits; at most 132104 stay}}
  %3 = onnx.MatMul(%l, %w) : (tensor<4x200000xf32>, tensor<200000x4xf32>) -> tensor<4x4xf32>
  // expected-remark @+1 {{not quantised: there is no product of integers of this operator}}
  %4 = onnx.ConvTranspose(%i, %k, %none) : (tensor<1x1x4x4xf32>, tensor<1x1x1x1xf32>, none) -> tensor<1x1x4x4xf32>
  return %0, %1, %2, %3, %4 : tensor<4x4xf32>, tensor<4x4xf32>, tensor<4x4xf32>, tensor<4x4xf32>, tensor<1x1x4x4xf32>
}

// -----

// Of what others read as floats, the part that a product reads is quantised.
// CHECK-LABEL: func @part(
// CHECK: %[[X:.*]] = onnx.Relu
// CHECK: %[[P:.*]] = onnx.Slice(%[[X]]
// CHECK: onnx.QuantizeLinear(%[[P]]
// CHECK: onnx.Softmax(%[[X]])
func.func @part(%x: tensor<64x4xf32> {onnx.name = "x"}) -> (tensor<4x4xf32>, tensor<64x4xf32>) {
  %w = onnx.Constant() {value = dense<1.0> : tensor<4x4xf32>} : () -> tensor<4x4xf32>
  %from = onnx.Constant() {value = dense<0> : tensor<1xi64>} : () -> tensor<1xi64>
  %to = onnx.Constant() {value = dense<4> : tensor<1xi64>} : () -> tensor<1xi64>
  %none = onnx.None() : () -> none
  %0 = onnx.Relu(%x) : (tensor<64x4xf32>) -> tensor<64x4xf32> loc("a")
  %1 = onnx.Slice(%0, %from, %to, %from, %none) : (tensor<64x4xf32>, tensor<1xi64>, tensor<1xi64>, tensor<1xi64>, none) -> tensor<4x4xf32>
  %2 = onnx.MatMul(%1, %w) : (tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<4x4xf32>
  %3 = onnx.Softmax(%0) {axis = 1 : i64} : (tensor<64x4xf32>) -> tensor<64x4xf32>
  return %2, %3 : tensor<4x4xf32>, tensor<64x4xf32>
}
