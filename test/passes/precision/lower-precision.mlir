// RUN: cameo-opt %s --split-input-file --verify-diagnostics --pass-pipeline='builtin.module(cameo-lower-precision{precision=fp16},cameo-verify-stage{stage=precision strict=true},cameo-report-decisions)' | FileCheck %s
// RUN: cameo-opt %s --split-input-file --pass-pipeline='builtin.module(cameo-lower-precision{precision=fp16})' > %t
// RUN: cameo-opt %s --split-input-file --pass-pipeline='builtin.module(cameo-lower-precision{precision=fp16},cameo-lower-precision{precision=fp16})' | diff %t -

// Weights are rounded, and what an output needs is FP32 already.
// CHECK-LABEL: func @product(
// CHECK-SAME: %[[X:.*]]: tensor<1x1x4xf32>) -> tensor<1x2x4xf32> attributes {onnx.precision = "fp16"
// CHECK-DAG: %[[W:.*]] = onnx.Constant() {value = dense<{{.*}}[1.000000e+00]], {{.*}}3.000490e-01]]]> : tensor<2x1x1xf16>}
// CHECK-DAG: %[[C:.*]] = onnx.Cast(%[[X]]) {onnx.precision = "fp16", to = 10 : i64} : (tensor<1x1x4xf32>) -> tensor<1x1x4xf16>
// CHECK: %[[Y:.*]] = onnx.Conv(%[[C]], %[[W]]
// CHECK-SAME: -> tensor<1x2x4xf16>
// CHECK: %[[D:.*]] = onnx.Cast(%[[Y]]) {onnx.precision = "fp32", to = 1 : i64} : (tensor<1x2x4xf16>) -> tensor<1x2x4xf32>
// CHECK: %[[R:.*]] = onnx.Relu(%[[D]]) : (tensor<1x2x4xf32>)
// CHECK-NEXT: return %[[R]]
// expected-remark @+1 {{FP32: 1 node, FP16: 1 node; casts between them: 2}}
func.func @product(%x: tensor<1x1x4xf32>) -> tensor<1x2x4xf32> {
  %w = onnx.Constant() {value = dense<[[[1.0]], [[0.3]]]> : tensor<2x1x1xf32>} : () -> tensor<2x1x1xf32>
  %none = onnx.None() : () -> none
  %0 = onnx.Conv(%x, %w, %none) : (tensor<1x1x4xf32>, tensor<2x1x1xf32>, none) -> tensor<1x2x4xf32>
  // expected-remark @+1 {{kept in FP32: its neighbours are, and casts around it would cost more than it saves}}
  %1 = onnx.Relu(%0) : (tensor<1x2x4xf32>) -> tensor<1x2x4xf32>
  return %1 : tensor<1x2x4xf32>
}

// -----

// What stands between two products is of their type, through branches, too; one cast of %x serves both.
// CHECK-LABEL: func @between(
// CHECK: onnx.Cast(%arg0)
// CHECK-NOT: onnx.Cast
// CHECK: onnx.Concat({{.*}}) {axis = 0 : i64} : (tensor<4x4xf16>, tensor<4x4xf16>)
// CHECK: onnx.Softmax({{.*}} : (tensor<8x4xf16>) -> tensor<8x4xf16>
// CHECK: onnx.MatMul
// CHECK: onnx.Cast
// CHECK-NEXT: return
// expected-remark @+1 {{FP16: 5 nodes; casts between them: 2}}
func.func @between(%x: tensor<4x4xf32>, %i: tensor<4x4xi1>) -> tensor<8x4xf32> {
  %w = onnx.Constant() {value = dense<0.5> : tensor<4x4xf32>} : () -> tensor<4x4xf32>
  %0 = onnx.MatMul(%x, %w) : (tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<4x4xf32>
  %1 = onnx.MatMul(%w, %x) : (tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<4x4xf32>
  %2 = onnx.Concat(%0, %1) {axis = 0 : i64} : (tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<8x4xf32>
  %3 = onnx.Softmax(%2) {axis = 1 : i64} : (tensor<8x4xf32>) -> tensor<8x4xf32>
  %4 = onnx.MatMul(%3, %w) : (tensor<8x4xf32>, tensor<4x4xf32>) -> tensor<8x4xf32>
  return %4 : tensor<8x4xf32>
}

// -----

// Without products nothing is gained, and shapes are not numbers.
// CHECK-LABEL: func @nothing(
// CHECK-NOT: f16
// CHECK: return
// expected-remark @+1 {{FP32: 1 node; casts between them: 0}}
func.func @nothing(%x: tensor<4x4xf32>) -> (tensor<4x4xf32>, tensor<2xi64>) {
  // expected-remark @+1 {{kept in FP32: it is computed from inputs}}
  %0 = onnx.Relu(%x) : (tensor<4x4xf32>) -> tensor<4x4xf32>
  %1 = onnx.Shape(%0) : (tensor<4x4xf32>) -> tensor<2xi64>
  return %0, %1 : tensor<4x4xf32>, tensor<2xi64>
}

// -----

// Weights beyond the range make a product of BF16.
// CHECK-LABEL: func @overflows(
// CHECK: onnx.Gemm({{.*}}onnx.kept_precision = "input 'B' goes up to 70000; FP16 ends at 65504"{{.*}} -> tensor<2x2xbf16>
// expected-remark @+1 {{BF16: 1 node; casts between them: 2}}
func.func @overflows(%x: tensor<2x2xf32>) -> tensor<2x2xf32> {
  %w = onnx.Constant() {value = dense<[[1.0, 2.0], [-7.0e4, 3.0]]> : tensor<2x2xf32>} : () -> tensor<2x2xf32>
  %none = onnx.None() : () -> none
  // expected-remark @+1 {{kept in BF16: input 'B' goes up to 70000; FP16 ends at 65504}}
  %0 = onnx.Gemm(%x, %w, %none) : (tensor<2x2xf32>, tensor<2x2xf32>, none) -> tensor<2x2xf32>
  return %0 : tensor<2x2xf32>
}

// -----

// So do weights that FP16 has no digits for; some of a few do not.
// CHECK-LABEL: func @sinks(
// CHECK: onnx.MatMul({{.*}} -> tensor<2x2xbf16>
// CHECK: onnx.MatMul({{.*}} -> tensor<2x2xf16>
// expected-remark @+1 {{FP16: 1 node, BF16: 1 node; casts between them: 3}}
func.func @sinks(%x: tensor<2x2xf32>) -> tensor<2x2xf32> {
  %w = onnx.Constant() {value = dense<[[1.1e-7, 2.2e-7], [3.3e-7, 1.3e-7]]> : tensor<2x2xf32>} : () -> tensor<2x2xf32>
  %v = onnx.Constant() {value = dense<[[1.1e-7, 1.3], [1.7, 1.9]]> : tensor<2x2xf32>} : () -> tensor<2x2xf32>
  // expected-remark @+1 {{kept in BF16: input 'B' goes up to 3.3e-07 and sinks into denormals; FP16's least normal number is 6.10352e-05}}
  %0 = onnx.MatMul(%x, %w) : (tensor<2x2xf32>, tensor<2x2xf32>) -> tensor<2x2xf32>
  %1 = onnx.MatMul(%0, %v) : (tensor<2x2xf32>, tensor<2x2xf32>) -> tensor<2x2xf32>
  return %1 : tensor<2x2xf32>
}

// -----

// An exponential may be anything, unless what it is of is bounded, and a product that reads it has its range.
// CHECK-LABEL: func @exponentials(
// CHECK: onnx.Exp({{.*}} : (tensor<2x2xf32>)
// CHECK: onnx.MatMul({{.*}} -> tensor<2x2xbf16>
// CHECK: onnx.Tanh({{.*}} : (tensor<2x2xf16>)
// CHECK: onnx.Exp({{.*}} : (tensor<2x2xf16>)
// expected-remark @+1 {{FP32: 1 node, FP16: 4 nodes, BF16: 1 node; casts between them: 5}}
func.func @exponentials(%x: tensor<2x2xf32>, %w: tensor<2x2xf32>) -> tensor<2x2xf32> {
  %0 = onnx.MatMul(%x, %x) : (tensor<2x2xf32>, tensor<2x2xf32>) -> tensor<2x2xf32>
  // expected-remark @+1 {{kept in FP32: its result can grow beyond FP16, and its range is not known}}
  %1 = onnx.Exp(%0) : (tensor<2x2xf32>) -> tensor<2x2xf32>
  // expected-remark @+1 {{kept in BF16: input 'A' can grow beyond FP16}}
  %2 = onnx.MatMul(%1, %1) : (tensor<2x2xf32>, tensor<2x2xf32>) -> tensor<2x2xf32>
  %3 = onnx.Tanh(%2) : (tensor<2x2xf32>) -> tensor<2x2xf32>
  %4 = onnx.Exp(%3) : (tensor<2x2xf32>) -> tensor<2x2xf32>
  %5 = onnx.MatMul(%4, %4) : (tensor<2x2xf32>, tensor<2x2xf32>) -> tensor<2x2xf32>
  return %5 : tensor<2x2xf32>
}

// -----

// A large number that masks reaches what it is added to; a softmax ends it.
// CHECK-LABEL: func @mask(
// CHECK: onnx.Where({{.*}} -> tensor<2x2xf32>
// CHECK: %[[S:.*]] = onnx.Softmax({{.*}} -> tensor<2x2xf32>
// CHECK: onnx.Cast(%[[S]])
// expected-remark @+1 {{FP32: 2 nodes, FP16: 2 nodes; casts between them: 4}}
func.func @mask(%x: tensor<2x2xf32>, %seen: tensor<2x2xi1>) -> tensor<2x2xf32> {
  %hidden = onnx.Constant() {value = dense<-3.0e38> : tensor<f32>} : () -> tensor<f32>
  %0 = onnx.MatMul(%x, %x) : (tensor<2x2xf32>, tensor<2x2xf32>) -> tensor<2x2xf32>
  // expected-remark @+1 {{kept in FP32: input 'Y' goes up to 3e+38; FP16 ends at 65504}}
  %1 = onnx.Where(%seen, %0, %hidden) : (tensor<2x2xi1>, tensor<2x2xf32>, tensor<f32>) -> tensor<2x2xf32>
  // expected-remark @+1 {{kept in FP32: input 'input' goes up to 3e+38; FP16 ends at 65504}}
  %2 = onnx.Softmax(%1) {axis = 1 : i64} : (tensor<2x2xf32>) -> tensor<2x2xf32>
  %3 = onnx.MatMul(%2, %x) : (tensor<2x2xf32>, tensor<2x2xf32>) -> tensor<2x2xf32>
  return %3 : tensor<2x2xf32>
}

// -----

// Attention takes its mask in its own type: the last number there is hides as well.
// CHECK-LABEL: func @attentionMask(
// CHECK: %[[M:.*]] = onnx.Mul({{.*}} -> tensor<1x4xf32>
// CHECK: %[[CLIP:.*]] = onnx.Clip(%[[M]], {{.*}} -> tensor<1x4xf32>
// CHECK: %[[C:.*]] = onnx.Cast(%[[CLIP]])
// CHECK: onnx.Attention({{.*}}, %[[C]], {{.*}}onnx.arithmetic = {masked = -6.550400e+04 : f32}
// expected-remark @+1 {{FP32: 2 nodes, FP16: 1 node; casts between them: 3}}
func.func @attentionMask(%x: tensor<1x1x4x8xf32>, %seen: tensor<1x4xi64>) -> tensor<1x1x4x8xf32> {
  %hidden = onnx.Constant() {value = dense<-3.4e38> : tensor<f32>} : () -> tensor<f32>
  %none = onnx.None() : () -> none
  // expected-remark @+1 {{kept in FP32: its integers may be beyond 2048, up to which FP16 has all of them}}
  %0 = onnx.Cast(%seen) {to = 1 : i64} : (tensor<1x4xi64>) -> tensor<1x4xf32>
  // expected-remark @+1 {{kept in FP32: input 'A' may have integers beyond 2048, up to which FP16 has all of them}}
  %1 = onnx.Mul(%0, %hidden) : (tensor<1x4xf32>, tensor<f32>) -> tensor<1x4xf32>
  %2:4 = onnx.Attention(%x, %x, %x, %1, %none, %none, %none) {onnx.arithmetic = {masked = -3.4e38 : f32}} : (tensor<1x1x4x8xf32>, tensor<1x1x4x8xf32>, tensor<1x1x4x8xf32>, tensor<1x4xf32>, none, none, none) -> (tensor<1x1x4x8xf32>, none, none, none)
  return %2#0 : tensor<1x1x4x8xf32>
}

// -----

// Scales of Resize are FP32 in ONNX, beside anything; bounds of Clip end where the type does.
// CHECK-LABEL: func @mixed(
// CHECK: %[[MOST:.*]] = onnx.Constant() {value = dense<6.550400e+04> : tensor<f16>}
// CHECK: onnx.Resize({{.*}} : (tensor<1x1x4x4xf16>, none, tensor<4xf32>, none)
// CHECK: onnx.Clip({{.*}}, %[[MOST]]) : (tensor<1x1x8x8xf16>, tensor<f16>, tensor<f16>)
// expected-remark @+1 {{FP16: 4 nodes; casts between them: 3}}
func.func @mixed(%x: tensor<1x1x4x4xf32>, %w: tensor<1x1x1x1xf32>) -> tensor<1x1x8x8xf32> {
  %scales = onnx.Constant() {value = dense<[1.0, 1.0, 2.0, 2.0]> : tensor<4xf32>} : () -> tensor<4xf32>
  %zero = onnx.Constant() {value = dense<0.0> : tensor<f32>} : () -> tensor<f32>
  %most = onnx.Constant() {value = dense<3.4e38> : tensor<f32>} : () -> tensor<f32>
  %none = onnx.None() : () -> none
  %0 = onnx.Conv(%x, %w, %none) : (tensor<1x1x4x4xf32>, tensor<1x1x1x1xf32>, none) -> tensor<1x1x4x4xf32>
  %1 = onnx.Resize(%0, %none, %scales, %none) : (tensor<1x1x4x4xf32>, none, tensor<4xf32>, none) -> tensor<1x1x8x8xf32>
  %2 = onnx.Clip(%1, %zero, %most) : (tensor<1x1x8x8xf32>, tensor<f32>, tensor<f32>) -> tensor<1x1x8x8xf32>
  %3 = onnx.Conv(%2, %w, %none) : (tensor<1x1x8x8xf32>, tensor<1x1x1x1xf32>, none) -> tensor<1x1x8x8xf32>
  return %3 : tensor<1x1x8x8xf32>
}

// -----

// What is of another type stays, and a cast to FP16 that was there becomes none.
// CHECK-LABEL: func @typed(
// CHECK: %[[Y:.*]] = onnx.MatMul({{.*}} -> tensor<2x2xf16>
// CHECK: onnx.Relu(%[[Y]]) : (tensor<2x2xf16>)
// CHECK: onnx.MatMul({{.*}} -> tensor<2x2xf64>
// expected-remark @+1 {{FP16: 1 node; casts between them: 1}}
func.func @typed(%x: tensor<2x2xf32>, %d: tensor<2x2xf64>) -> (tensor<2x2xf16>, tensor<2x2xf64>) {
  %0 = onnx.MatMul(%x, %x) : (tensor<2x2xf32>, tensor<2x2xf32>) -> tensor<2x2xf32>
  %1 = onnx.Cast(%0) {to = 10 : i64} : (tensor<2x2xf32>) -> tensor<2x2xf16>
  %2 = onnx.Relu(%1) : (tensor<2x2xf16>) -> tensor<2x2xf16>
  %3 = onnx.MatMul(%d, %d) : (tensor<2x2xf64>, tensor<2x2xf64>) -> tensor<2x2xf64>
  return %2, %3 : tensor<2x2xf16>, tensor<2x2xf64>
}

// -----

// The policy keeps some, whatever is around them.
// CHECK-LABEL: func @full(
// CHECK: onnx.Log({{.*}} : (tensor<2x2xf32>)
// expected-remark @+1 {{FP32: 2 nodes, FP16: 1 node; casts between them: 2}}
func.func @full(%x: tensor<2x2xf32>) -> tensor<2x2xf32> {
  // expected-remark @+1 {{kept in FP32: what it makes goes into Log '(unnamed)', which depends on bits that FP16 has not}}
  %0 = onnx.MatMul(%x, %x) : (tensor<2x2xf32>, tensor<2x2xf32>) -> tensor<2x2xf32>
  // expected-remark @+1 {{kept in FP32: its result depends on bits that FP16 has not}}
  %1 = onnx.Log(%0) : (tensor<2x2xf32>) -> tensor<2x2xf32>
  %2 = onnx.MatMul(%1, %1) : (tensor<2x2xf32>, tensor<2x2xf32>) -> tensor<2x2xf32>
  return %2 : tensor<2x2xf32>
}

// -----

// A sum of updates is rounded once.
// CHECK-LABEL: func @updates(
// CHECK: onnx.ScatterND({{.*}}reduction = "add"{{.*}} : (tensor<3x2xf32>, tensor<4x1xi64>, tensor<4x2xf32>)
// expected-remark @+1 {{FP32: 1 node, FP16: 2 nodes; casts between them: 5}}
func.func @updates(%x: tensor<4x4xf32>, %w: tensor<4x2xf32>, %i: tensor<4x1xi64>, %z: tensor<3x4xf32>) -> tensor<3x2xf32> {
  %0 = onnx.MatMul(%x, %w) : (tensor<4x4xf32>, tensor<4x2xf32>) -> tensor<4x2xf32>
  %1 = onnx.MatMul(%z, %w) : (tensor<3x4xf32>, tensor<4x2xf32>) -> tensor<3x2xf32>
  // expected-remark @+1 {{kept in FP32: each update would round its result}}
  %2 = onnx.ScatterND(%1, %i, %0) {reduction = "add"} : (tensor<3x2xf32>, tensor<4x1xi64>, tensor<4x2xf32>) -> tensor<3x2xf32>
  return %2 : tensor<3x2xf32>
}
