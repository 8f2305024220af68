// Values that keep their bits for what is made of them, and for what they are.
// RUN: cameo-opt %s --split-input-file --verify-diagnostics --pass-pipeline='builtin.module(cameo-lower-precision{precision=fp16},cameo-verify-stage{stage=precision strict=true},cameo-report-decisions)' | FileCheck %s

// An angle, through movement, elementwise work and a product; what comes of the sine is of FP16.
// CHECK-LABEL: func @angle(
// CHECK: onnx.MatMul({{.*}} -> tensor<2x4xf32>
// CHECK: onnx.Sin({{.*}} -> tensor<4x2xf32>
// CHECK: onnx.MatMul({{.*}} -> tensor<4x4xf16>
// expected-remark @+1 {{FP32: 4 nodes, FP16: 1 node; casts between them: 3}}
func.func @angle(%x: tensor<2x1xf32>, %w: tensor<1x4xf32>) -> tensor<4x4xf32> {
  %half = onnx.Constant() {value = dense<0.5> : tensor<f32>} : () -> tensor<f32>
  %0 = onnx.MatMul(%x, %w) : (tensor<2x1xf32>, tensor<1x4xf32>) -> tensor<2x4xf32>
  // The factor goes in front of the product, which is where the sums were multiplied.
  // expected-remark @+1 {{kept in FP32: what it makes goes into Sin '(unnamed)', which depends on bits that FP16 has not}}
  %1 = onnx.Mul(%0, %half) : (tensor<2x4xf32>, tensor<f32>) -> tensor<2x4xf32>
  // expected-remark @+1 {{kept in FP32: what it makes goes into Sin '(unnamed)'}}
  %2 = onnx.Transpose(%1) {perm = array<i64: 1, 0>} : (tensor<2x4xf32>) -> tensor<4x2xf32>
  // expected-remark @+1 {{kept in FP32: its result depends on bits that FP16 has not}}
  %3 = onnx.Sin(%2) : (tensor<4x2xf32>) -> tensor<4x2xf32>
  %4 = onnx.MatMul(%3, %1) : (tensor<4x2xf32>, tensor<2x4xf32>) -> tensor<4x4xf32>
  return %4 : tensor<4x4xf32>
}

// -----

// A second product in front of the first is of FP16; so is what comes before a function that has bounds.
// CHECK-LABEL: func @ends(
// CHECK: onnx.MatMul({{.*}} -> tensor<8x8xf16>
// CHECK: onnx.MatMul({{.*}} -> tensor<8x8xf32>
// CHECK: onnx.Cos(
// CHECK: onnx.MatMul({{.*}} -> tensor<8x8xf16>
// CHECK: onnx.Softmax({{.*}} -> tensor<8x8xf32>
// CHECK: onnx.Log(
// expected-remark @+1 {{FP32: 4 nodes, FP16: 2 nodes; casts between them: 4}}
func.func @ends(%x: tensor<8x8xf32>) -> (tensor<8x8xf32>, tensor<8x8xf32>) {
  %0 = onnx.MatMul(%x, %x) : (tensor<8x8xf32>, tensor<8x8xf32>) -> tensor<8x8xf32>
  // expected-remark @+1 {{kept in FP32: what it makes goes into Cos '(unnamed)', which depends on bits that FP16 has not}}
  %1 = onnx.MatMul(%0, %x) : (tensor<8x8xf32>, tensor<8x8xf32>) -> tensor<8x8xf32>
  // expected-remark @+1 {{kept in FP32: its result depends on bits that FP16 has not}}
  %2 = onnx.Cos(%1) : (tensor<8x8xf32>) -> tensor<8x8xf32>
  %3 = onnx.MatMul(%2, %x) : (tensor<8x8xf32>, tensor<8x8xf32>) -> tensor<8x8xf32>
  // expected-remark @+1 {{kept in FP32: what it makes goes into Log '(unnamed)', which depends on bits that FP16 has not}}
  %4 = onnx.Softmax(%3) {axis = 1 : i64} : (tensor<8x8xf32>) -> tensor<8x8xf32>
  // expected-remark @+1 {{kept in FP32: its result depends on bits that FP16 has not}}
  %5 = onnx.Log(%4) : (tensor<8x8xf32>) -> tensor<8x8xf32>
  return %2, %5 : tensor<8x8xf32>, tensor<8x8xf32>
}

// -----

// Integers that FP16 has not, through a difference of them; what they are scaled to is no integer any more.
// CHECK-LABEL: func @integers(
// CHECK: onnx.Cast({{.*}} -> tensor<4x1xf32>
// CHECK: onnx.Sub({{.*}} -> tensor<4x1xf32>
// CHECK: onnx.Mul({{.*}} -> tensor<4x1xf32>
// CHECK: onnx.MatMul({{.*}} -> tensor<4x4xf16>
// expected-remark @+1 {{FP32: 3 nodes, FP16: 1 node; casts between them: 3}}
func.func @integers(%at: tensor<4x1xi64>, %w: tensor<1x4xf32>) -> tensor<4x4xf32> {
  %one = onnx.Constant() {value = dense<1.0> : tensor<f32>} : () -> tensor<f32>
  %scale = onnx.Constant() {value = dense<0.3> : tensor<f32>} : () -> tensor<f32>
  // expected-remark @+1 {{kept in FP32: its integers may be beyond 2048, up to which FP16 has all of them}}
  %0 = onnx.Cast(%at) {to = 1 : i64} : (tensor<4x1xi64>) -> tensor<4x1xf32>
  // expected-remark @+1 {{kept in FP32: input 'B' may have integers beyond 2048, up to which FP16 has all of them}}
  %1 = onnx.Sub(%one, %0) : (tensor<f32>, tensor<4x1xf32>) -> tensor<4x1xf32>
  // expected-remark @+1 {{kept in FP32: input 'A' may have integers beyond 2048, up to which FP16 has all of them}}
  %2 = onnx.Mul(%1, %scale) : (tensor<4x1xf32>, tensor<f32>) -> tensor<4x1xf32>
  %3 = onnx.MatMul(%2, %w) : (tensor<4x1xf32>, tensor<1x4xf32>) -> tensor<4x4xf32>
  return %3 : tensor<4x4xf32>
}

// -----

// Integers of 8 bits are numbers of FP16; a product of those of more is of FP32.
// CHECK-LABEL: func @pixels(
// CHECK: onnx.MatMul({{.*}} -> tensor<4x4xf16>
// CHECK: onnx.MatMul({{.*}} -> tensor<4x4xf32>
// expected-remark @+1 {{FP32: 2 nodes, FP16: 2 nodes; casts between them: 2}}
func.func @pixels(%image: tensor<4x1xui8>, %at: tensor<4x1xi32>, %w: tensor<1x4xf32>) -> (tensor<4x4xf32>, tensor<4x4xf32>) {
  %0 = onnx.Cast(%image) {to = 1 : i64} : (tensor<4x1xui8>) -> tensor<4x1xf32>
  %1 = onnx.MatMul(%0, %w) : (tensor<4x1xf32>, tensor<1x4xf32>) -> tensor<4x4xf32>
  // expected-remark @+1 {{kept in FP32: its integers may be beyond 2048, up to which FP16 has all of them}}
  %2 = onnx.Cast(%at) {to = 1 : i64} : (tensor<4x1xi32>) -> tensor<4x1xf32>
  // expected-remark @+1 {{kept in FP32: input 'A' may have integers beyond 2048, up to which FP16 has all of them}}
  %3 = onnx.MatMul(%2, %w) : (tensor<4x1xf32>, tensor<1x4xf32>) -> tensor<4x4xf32>
  return %1, %3 : tensor<4x4xf32>, tensor<4x4xf32>
}

// -----

// What is made into integers keeps its bits, unless FP16 has all integers of its range.
// CHECK-LABEL: func @indices(
// CHECK: onnx.MatMul({{.*}} -> tensor<2x2xf32>
// CHECK: onnx.MatMul({{.*}} -> tensor<2x2xf16>
// expected-remark @+1 {{FP32: 1 node, FP16: 2 nodes; casts between them: 1}}
func.func @indices(%x: tensor<2x2xf32>) -> (tensor<2x2xi64>, tensor<2x2xui8>) {
  %least = onnx.Constant() {value = dense<0.0> : tensor<f32>} : () -> tensor<f32>
  %most = onnx.Constant() {value = dense<255.0> : tensor<f32>} : () -> tensor<f32>
  // expected-remark @+1 {{kept in FP32: what it makes goes into Cast '(unnamed)', which makes integers of it}}
  %0 = onnx.MatMul(%x, %x) : (tensor<2x2xf32>, tensor<2x2xf32>) -> tensor<2x2xf32>
  %1 = onnx.Cast(%0) {to = 7 : i64} : (tensor<2x2xf32>) -> tensor<2x2xi64>
  %2 = onnx.MatMul(%x, %x) : (tensor<2x2xf32>, tensor<2x2xf32>) -> tensor<2x2xf32>
  %3 = onnx.Clip(%2, %least, %most) : (tensor<2x2xf32>, tensor<f32>, tensor<f32>) -> tensor<2x2xf32>
  %4 = onnx.Cast(%3) {to = 2 : i64} : (tensor<2x2xf32>) -> tensor<2x2xui8>
  return %1, %4 : tensor<2x2xi64>, tensor<2x2xui8>
}

// -----

// A square grows as a power does, and so does its mean; its root does not, but is divided by.
// CHECK-LABEL: func @square(
// CHECK: onnx.Mul({{.*}} -> tensor<8x8xf32>
// CHECK: onnx.ReduceMean({{.*}} -> tensor<8x1xf32>
// CHECK: onnx.Sqrt({{.*}} -> tensor<8x1xf32>
// CHECK: onnx.MatMul({{.*}} -> tensor<8x8xf16>
// expected-remark @+1 {{FP32: 4 nodes, FP16: 2 nodes; casts between them: 4}}
func.func @square(%x: tensor<8x8xf32>) -> tensor<8x8xf32> {
  %axes = onnx.Constant() {value = dense<1> : tensor<1xi64>} : () -> tensor<1xi64>
  %0 = onnx.MatMul(%x, %x) : (tensor<8x8xf32>, tensor<8x8xf32>) -> tensor<8x8xf32>
  // expected-remark @+1 {{kept in FP32: what it makes goes into Div}}
  %1 = onnx.Mul(%0, %0) : (tensor<8x8xf32>, tensor<8x8xf32>) -> tensor<8x8xf32>
  // expected-remark @+1 {{kept in FP32: what it makes goes into Div}}
  %2 = onnx.ReduceMean(%1, %axes) : (tensor<8x8xf32>, tensor<1xi64>) -> tensor<8x1xf32>
  // expected-remark @+1 {{kept in FP32: what it makes goes into Div}}
  %3 = onnx.Sqrt(%2) : (tensor<8x1xf32>) -> tensor<8x1xf32>
  // expected-remark @+1 {{kept in FP32: input 'B' may be as small as numbers that FP16 has few digits of}}
  %4 = onnx.Div(%0, %3) : (tensor<8x8xf32>, tensor<8x1xf32>) -> tensor<8x8xf32>
  %5 = onnx.MatMul(%4, %4) : (tensor<8x8xf32>, tensor<8x8xf32>) -> tensor<8x8xf32>
  return %5 : tensor<8x8xf32>
}

// -----

// What keeps a divisor from 0 does so in FP16 only where that has the number; 1e-3 it has.
// CHECK-LABEL: func @guards(
// CHECK: onnx.Clip({{.*}} -> tensor<2x2xf32>
// CHECK: onnx.Div({{.*}} -> tensor<2x2xf32>
// CHECK: onnx.Clip({{.*}} -> tensor<2x2xf16>
// CHECK: onnx.Div({{.*}} -> tensor<2x2xf16>
// expected-remark @+1 {{FP32: 3 nodes, FP16: 4 nodes; casts between them: 4}}
func.func @guards(%x: tensor<2x2xf32>) -> (tensor<2x2xf32>, tensor<2x2xf32>) {
  %none = onnx.None() : () -> none
  %small = onnx.Constant() {value = dense<1.0e-8> : tensor<f32>} : () -> tensor<f32>
  %large = onnx.Constant() {value = dense<1.0e-3> : tensor<f32>} : () -> tensor<f32>
  // expected-remark @+1 {{kept in FP32: what it makes goes into Div '(unnamed)', which divides by it}}
  %0 = onnx.MatMul(%x, %x) : (tensor<2x2xf32>, tensor<2x2xf32>) -> tensor<2x2xf32>
  // expected-remark @+1 {{kept in FP32: what it makes goes into Div '(unnamed)', which divides by it}}
  %1 = onnx.Clip(%0, %small, %none) : (tensor<2x2xf32>, tensor<f32>, none) -> tensor<2x2xf32>
  // expected-remark @+1 {{kept in FP32: input 'B' is kept from 0 by numbers that FP16 has few digits of}}
  %2 = onnx.Div(%0, %1) : (tensor<2x2xf32>, tensor<2x2xf32>) -> tensor<2x2xf32>
  %3 = onnx.MatMul(%2, %x) : (tensor<2x2xf32>, tensor<2x2xf32>) -> tensor<2x2xf32>
  %4 = onnx.Clip(%3, %large, %none) : (tensor<2x2xf32>, tensor<f32>, none) -> tensor<2x2xf32>
  %5 = onnx.Div(%3, %4) : (tensor<2x2xf32>, tensor<2x2xf32>) -> tensor<2x2xf32>
  %6 = onnx.MatMul(%5, %x) : (tensor<2x2xf32>, tensor<2x2xf32>) -> tensor<2x2xf32>
  return %3, %6 : tensor<2x2xf32>, tensor<2x2xf32>
}

// -----

// A mask that nothing is known of hides by half of what FP16 has at most, so that scores may be added; what is
// infinite stays so. An input that is added elsewhere may be large, and so may the sum.
// CHECK-LABEL: func @mask(
// CHECK: %[[FINITE:.*]] = onnx.Clip(%arg1
// CHECK: %[[IS:.*]] = onnx.IsInf(%arg1)
// CHECK: %[[MASK:.*]] = onnx.Where(%[[IS]], %arg1, %[[FINITE]])
// CHECK: %[[CAST:.*]] = onnx.Cast(%[[MASK]])
// CHECK: onnx.Add({{.*}}, %[[CAST]])
// CHECK-NOT: onnx.Clip
// CHECK: onnx.Add({{.*}} -> tensor<2x2xf32>
// CHECK: return
// expected-remark @+1 {{FP16: 5 nodes; casts between them: 5}}
func.func @mask(%x: tensor<2x2xf32>, %mask: tensor<2x2xf32>, %bias: tensor<2x2xf32>) -> tensor<2x2xf32> {
  %0 = onnx.MatMul(%x, %x) : (tensor<2x2xf32>, tensor<2x2xf32>) -> tensor<2x2xf32>
  %1 = onnx.Add(%0, %mask) : (tensor<2x2xf32>, tensor<2x2xf32>) -> tensor<2x2xf32>
  %2 = onnx.Softmax(%1) {axis = 1 : i64} : (tensor<2x2xf32>) -> tensor<2x2xf32>
  %3 = onnx.MatMul(%2, %x) : (tensor<2x2xf32>, tensor<2x2xf32>) -> tensor<2x2xf32>
  // expected-remark @+1 {{kept in FP32: it is computed from inputs of FP32}}
  %4 = onnx.Add(%3, %bias) : (tensor<2x2xf32>, tensor<2x2xf32>) -> tensor<2x2xf32>
  %5 = onnx.MatMul(%4, %x) : (tensor<2x2xf32>, tensor<2x2xf32>) -> tensor<2x2xf32>
  return %5 : tensor<2x2xf32>
}

// -----

// Scores are scaled before they are stored: FP16 may not have them as they are, nor what products make of two computed
// values elsewhere. What is no factor below 1 stays.
// CHECK-LABEL: func @scores(
// CHECK: onnx.Div({{.*}} -> tensor<2x8xf32>
// CHECK: %[[Q:.*]] = onnx.Cast
// CHECK-NEXT: %[[S:.*]] = onnx.MatMul(%[[Q]],
// CHECK-NEXT: onnx.Softmax(%[[S]])
// CHECK: onnx.Cast
// CHECK-NEXT: onnx.MatMul(
// CHECK-NEXT: onnx.Mul(
// CHECK-NEXT: onnx.Softmax(
// CHECK: onnx.Div({{.*}} -> tensor<2x8xf32>
// CHECK: onnx.MatMul(
// CHECK-NEXT: onnx.MatMul(
// expected-remark @+1 {{FP16: 9 nodes; casts between them: 8}}
func.func @scores(%q: tensor<2x8xf32>, %k: tensor<8x2xf32>, %v: tensor<2x2xf32>) -> (tensor<2x2xf32>, tensor<2x2xf32>, tensor<2x2xf32>) {
  %eight = onnx.Constant() {value = dense<8.0> : tensor<f32>} : () -> tensor<f32>
  %0 = onnx.MatMul(%q, %k) : (tensor<2x8xf32>, tensor<8x2xf32>) -> tensor<2x2xf32>
  // expected-remark @+1 {{kept in FP32: it is computed from inputs}}
  %1 = onnx.Div(%0, %eight) : (tensor<2x2xf32>, tensor<f32>) -> tensor<2x2xf32>
  %2 = onnx.Softmax(%1) {axis = 1 : i64} : (tensor<2x2xf32>) -> tensor<2x2xf32>
  %3 = onnx.MatMul(%2, %v) : (tensor<2x2xf32>, tensor<2x2xf32>) -> tensor<2x2xf32>
  %4 = onnx.MatMul(%q, %k) : (tensor<2x8xf32>, tensor<8x2xf32>) -> tensor<2x2xf32>
  %5 = onnx.Mul(%4, %eight) : (tensor<2x2xf32>, tensor<f32>) -> tensor<2x2xf32>
  %6 = onnx.Softmax(%5) {axis = 1 : i64} : (tensor<2x2xf32>) -> tensor<2x2xf32>
  %7 = onnx.MatMul(%6, %v) : (tensor<2x2xf32>, tensor<2x2xf32>) -> tensor<2x2xf32>
  %8 = onnx.MatMul(%q, %k) : (tensor<2x8xf32>, tensor<8x2xf32>) -> tensor<2x2xf32>
  // expected-remark @+1 {{kept in FP32: it is computed from inputs}}
  %9 = onnx.Div(%8, %eight) : (tensor<2x2xf32>, tensor<f32>) -> tensor<2x2xf32>
  %10 = onnx.MatMul(%9, %v) : (tensor<2x2xf32>, tensor<2x2xf32>) -> tensor<2x2xf32>
  return %3, %7, %10 : tensor<2x2xf32>, tensor<2x2xf32>, tensor<2x2xf32>
}

// -----

// What is computed of inputs is rounded behind that, up to what does not grow with what it reads; what only moves
// them is rounded as ever, and so is what adds to a product an input that products read.
// CHECK-LABEL: func @inputs(
// CHECK: onnx.Transpose({{.*}} -> tensor<2x2xf32>
// CHECK-NEXT: onnx.Sub({{.*}} -> tensor<2x2xf32>
// CHECK: onnx.Transpose({{.*}} -> tensor<2x2xf16>
// CHECK-NEXT: onnx.MatMul({{.*}} -> tensor<2x2xf16>
// CHECK: onnx.Sub({{.*}} -> tensor<2x2xf32>
// CHECK: onnx.Sub({{.*}} -> tensor<2x2xf16>
// CHECK: onnx.Softmax({{.*}} -> tensor<2x2xf32>
// CHECK: onnx.Relu({{.*}} -> tensor<2x2xf16>
// CHECK-NEXT: onnx.MatMul({{.*}} -> tensor<2x2xf16>
// CHECK: onnx.MatMul({{.*}} -> tensor<2x2xf16>
// expected-remark @+1 {{FP16: 6 nodes}}
func.func @inputs(%x: tensor<2x2xf32>, %y: tensor<2x2xf32>, %w: tensor<2x2xf32>) -> (tensor<2x2xf32>, tensor<2x2xf32>) {
  // expected-remark @+1 {{kept in FP32: it is computed from inputs of FP32, and rounded behind that}}
  %0 = onnx.Transpose(%x) {perm = array<i64: 1, 0>} : (tensor<2x2xf32>) -> tensor<2x2xf32>
  // expected-remark @+1 {{kept in FP32: it is computed from inputs}}
  %1 = onnx.Sub(%0, %y) : (tensor<2x2xf32>, tensor<2x2xf32>) -> tensor<2x2xf32>
  %2 = onnx.Transpose(%1) {perm = array<i64: 1, 0>} : (tensor<2x2xf32>) -> tensor<2x2xf32>
  %3 = onnx.MatMul(%2, %w) : (tensor<2x2xf32>, tensor<2x2xf32>) -> tensor<2x2xf32>
  // expected-remark @+1 {{kept in FP32: it is computed from inputs}}
  %4 = onnx.Sub(%3, %x) : (tensor<2x2xf32>, tensor<2x2xf32>) -> tensor<2x2xf32>
  %9 = onnx.Sub(%3, %w) : (tensor<2x2xf32>, tensor<2x2xf32>) -> tensor<2x2xf32>
  // expected-remark @+1 {{kept in FP32: it is computed from inputs}}
  %5 = onnx.Softmax(%x) {axis = 1 : i64} : (tensor<2x2xf32>) -> tensor<2x2xf32>
  %6 = onnx.Relu(%5) : (tensor<2x2xf32>) -> tensor<2x2xf32>
  %7 = onnx.MatMul(%4, %9) : (tensor<2x2xf32>, tensor<2x2xf32>) -> tensor<2x2xf32>
  %8 = onnx.MatMul(%6, %w) : (tensor<2x2xf32>, tensor<2x2xf32>) -> tensor<2x2xf32>
  return %7, %8 : tensor<2x2xf32>, tensor<2x2xf32>
}

// -----

// A fraction keeps its bits, and so does what it is taken of; what is rounded alone does not.
// CHECK-LABEL: func @fraction(
// CHECK: onnx.MatMul({{.*}} -> tensor<2x2xf32>
// CHECK-NEXT: onnx.Floor({{.*}} -> tensor<2x2xf32>
// CHECK-NEXT: onnx.Sub({{.*}} -> tensor<2x2xf32>
// CHECK: onnx.MatMul({{.*}} -> tensor<2x2xf16>
// CHECK-NEXT: onnx.Floor({{.*}} -> tensor<2x2xf16>
// CHECK-NEXT: onnx.MatMul({{.*}} -> tensor<2x2xf16>
// expected-remark @+1 {{FP16: 3 nodes}}
func.func @fraction(%x: tensor<2x2xf32>) -> tensor<2x2xf32> {
  // expected-remark @+1 {{kept in FP32: what it makes goes into Sub}}
  %0 = onnx.MatMul(%x, %x) : (tensor<2x2xf32>, tensor<2x2xf32>) -> tensor<2x2xf32>
  // expected-remark @+1 {{kept in FP32: what it makes goes into Sub}}
  %1 = onnx.Floor(%0) : (tensor<2x2xf32>) -> tensor<2x2xf32>
  // expected-remark @+1 {{kept in FP32: its result depends on bits that FP16 has not}}
  %2 = onnx.Sub(%0, %1) : (tensor<2x2xf32>, tensor<2x2xf32>) -> tensor<2x2xf32>
  %3 = onnx.MatMul(%2, %x) : (tensor<2x2xf32>, tensor<2x2xf32>) -> tensor<2x2xf32>
  %4 = onnx.Floor(%3) : (tensor<2x2xf32>) -> tensor<2x2xf32>
  %5 = onnx.MatMul(%4, %x) : (tensor<2x2xf32>, tensor<2x2xf32>) -> tensor<2x2xf32>
  return %5 : tensor<2x2xf32>
}


// -----

// What keeps a mean of squares from 0 is as far back as the square, and what is normalised is below the root of 4: the
// products in front and behind are of FP16. Without the square, the guard goes on through a product.
// CHECK-LABEL: func @guards(
// CHECK: onnx.MatMul({{.*}} -> tensor<2x8xf16>
// CHECK-NEXT: onnx.Cast
// CHECK-NEXT: onnx.Pow({{.*}} -> tensor<2x8xf32>
// CHECK: onnx.Div({{.*}} -> tensor<2x8xf32>
// CHECK: onnx.MatMul({{.*}} -> tensor<2x8xf16>
// CHECK: onnx.MatMul({{.*}} -> tensor<2x8xf32>
// CHECK: onnx.Abs({{.*}} -> tensor<2x8xf32>
// CHECK: onnx.Div({{.*}} -> tensor<2x8xf32>
// expected-remark @+1 {{FP16: 2 nodes}}
func.func @guards(%x: tensor<2x8xf32>, %w: tensor<8x8xf32>) -> (tensor<2x8xf32>, tensor<2x8xf32>) {
  %two = onnx.Constant() {value = dense<2.0> : tensor<f32>} : () -> tensor<f32>
  %guard = onnx.Constant() {value = dense<1.0e-12> : tensor<f32>} : () -> tensor<f32>
  %axis = onnx.Constant() {value = dense<-1> : tensor<1xi64>} : () -> tensor<1xi64>
  %0 = onnx.MatMul(%x, %w) : (tensor<2x8xf32>, tensor<8x8xf32>) -> tensor<2x8xf32>
  // expected-remark @+1 {{kept in FP32: what it makes goes into Div}}
  %1 = onnx.Pow(%0, %two) : (tensor<2x8xf32>, tensor<f32>) -> tensor<2x8xf32>
  // expected-remark @+1 {{kept in FP32: what it makes goes into Div}}
  %2 = onnx.ReduceMean(%1, %axis) : (tensor<2x8xf32>, tensor<1xi64>) -> tensor<2x1xf32>
  // expected-remark @+1 {{kept in FP32: what it makes goes into Div}}
  %3 = onnx.Add(%2, %guard) : (tensor<2x1xf32>, tensor<f32>) -> tensor<2x1xf32>
  // expected-remark @+1 {{kept in FP32: what it makes goes into Div}}
  %4 = onnx.Sqrt(%3) : (tensor<2x1xf32>) -> tensor<2x1xf32>
  // expected-remark @+1 {{kept in FP32: input 'B' is kept from 0 by numbers that FP16 has few digits of}}
  %5 = onnx.Div(%0, %4) : (tensor<2x8xf32>, tensor<2x1xf32>) -> tensor<2x8xf32>
  %6 = onnx.MatMul(%5, %w) : (tensor<2x8xf32>, tensor<8x8xf32>) -> tensor<2x8xf32>
  // expected-remark @+1 {{kept in FP32: what it makes goes into Div}}
  %7 = onnx.MatMul(%x, %w) : (tensor<2x8xf32>, tensor<8x8xf32>) -> tensor<2x8xf32>
  // expected-remark @+1 {{kept in FP32: what it makes goes into Div}}
  %8 = onnx.Abs(%7) : (tensor<2x8xf32>) -> tensor<2x8xf32>
  // expected-remark @+1 {{kept in FP32: what it makes goes into Div}}
  %9 = onnx.Add(%8, %guard) : (tensor<2x8xf32>, tensor<f32>) -> tensor<2x8xf32>
  // expected-remark @+1 {{kept in FP32: input 'B' is kept from 0}}
  %10 = onnx.Div(%7, %9) : (tensor<2x8xf32>, tensor<2x8xf32>) -> tensor<2x8xf32>
  return %6, %10 : tensor<2x8xf32>, tensor<2x8xf32>
}

// -----

// What a function with bounds lacks of them, and what is divided by one, keep their bits back to the function.
// CHECK-LABEL: func @rests(
// CHECK: onnx.MatMul({{.*}} -> tensor<2x2xf16>
// CHECK: onnx.Sigmoid({{.*}} -> tensor<2x2xf32>
// CHECK-NEXT: onnx.Sub({{.*}} -> tensor<2x2xf32>
// CHECK-NEXT: onnx.Div({{.*}} -> tensor<2x2xf32>
// CHECK: onnx.MatMul({{.*}} -> tensor<2x2xf16>
// CHECK: onnx.CumSum({{.*}} -> tensor<2x2xf32>
// CHECK-NEXT: onnx.Neg({{.*}} -> tensor<2x2xf32>
// expected-remark @+1 {{FP16: 2 nodes}}
func.func @rests(%x: tensor<2x2xf32>) -> tensor<2x2xf32> {
  %one = onnx.Constant() {value = dense<1.0> : tensor<f32>} : () -> tensor<f32>
  %axis = onnx.Constant() {value = dense<1> : tensor<i64>} : () -> tensor<i64>
  %0 = onnx.MatMul(%x, %x) : (tensor<2x2xf32>, tensor<2x2xf32>) -> tensor<2x2xf32>
  // expected-remark @+1 {{kept in FP32: what it makes goes into}}
  %1 = onnx.Sigmoid(%0) : (tensor<2x2xf32>) -> tensor<2x2xf32>
  // expected-remark @+1 {{kept in FP32: what it makes goes into Div '(unnamed)', which divides by it}}
  %2 = onnx.Sub(%one, %1) : (tensor<f32>, tensor<2x2xf32>) -> tensor<2x2xf32>
  // expected-remark @+1 {{kept in FP32: input 'B' may be as small as numbers that FP16 has few digits of}}
  %3 = onnx.Div(%1, %2) : (tensor<2x2xf32>, tensor<2x2xf32>) -> tensor<2x2xf32>
  %4 = onnx.MatMul(%3, %x) : (tensor<2x2xf32>, tensor<2x2xf32>) -> tensor<2x2xf32>
  // expected-remark @+1 {{kept in FP32: differences of running sums have bits that FP16 has not}}
  %5 = onnx.CumSum(%4, %axis) : (tensor<2x2xf32>, tensor<i64>) -> tensor<2x2xf32>
  // expected-remark @+1 {{kept in FP32: differences of running sums}}
  %6 = onnx.Neg(%5) : (tensor<2x2xf32>) -> tensor<2x2xf32>
  return %6 : tensor<2x2xf32>
}

// -----

// Positions keep their bits where ONNX has a type of their own for them; with regions, which have the type of what is
// read there, all does.
// CHECK-LABEL: func @positions(
// CHECK: %[[F:.*]] = onnx.MatMul({{.*}} -> tensor<1x1x4x4xf16>
// CHECK: %[[G:.*]] = onnx.MatMul({{.*}} -> tensor<1x2x2x2xf32>
// CHECK: onnx.GridSample(%[[F]], %[[G]]) {{.*}}: (tensor<1x1x4x4xf16>, tensor<1x2x2x2xf32>) -> tensor<1x1x2x2xf16>
// CHECK: onnx.MatMul({{.*}} -> tensor<1x4xf32>
// CHECK: onnx.RoiAlign({{.*}} -> tensor<1x1x1x1xf32>
// expected-remark @+1 {{FP32: 3 nodes, FP16: 3 nodes; casts between them: 5}}
func.func @positions(%x: tensor<1x1x4x4xf32>, %a: tensor<1x2x2x2xf32>, %v: tensor<4x4xf32>, %w: tensor<2x2xf32>,
                     %r: tensor<1x4xf32>, %image: tensor<1xi64>) -> (tensor<1x1x2x2xf32>, tensor<1x1x1x1xf32>) {
  %0 = onnx.MatMul(%x, %v) : (tensor<1x1x4x4xf32>, tensor<4x4xf32>) -> tensor<1x1x4x4xf32>
  // expected-remark @+1 {{kept in FP32: what it makes goes into GridSample '(unnamed)', which takes it in FP32}}
  %1 = onnx.MatMul(%a, %w) : (tensor<1x2x2x2xf32>, tensor<2x2xf32>) -> tensor<1x2x2x2xf32>
  %2 = onnx.GridSample(%0, %1) : (tensor<1x1x4x4xf32>, tensor<1x2x2x2xf32>) -> tensor<1x1x2x2xf32>
  %3 = onnx.MatMul(%2, %w) : (tensor<1x1x2x2xf32>, tensor<2x2xf32>) -> tensor<1x1x2x2xf32>
  // expected-remark @+1 {{kept in FP32: what it makes goes into RoiAlign '(unnamed)', which takes it in FP32}}
  %4 = onnx.MatMul(%r, %v) : (tensor<1x4xf32>, tensor<4x4xf32>) -> tensor<1x4xf32>
  // expected-remark @+1 {{kept in FP32: its regions have the type of what it reads, and too few bits in FP16}}
  %5 = onnx.RoiAlign(%0, %4, %image) : (tensor<1x1x4x4xf32>, tensor<1x4xf32>, tensor<1xi64>) -> tensor<1x1x1x1xf32>
  return %3, %5 : tensor<1x1x2x2xf32>, tensor<1x1x1x1xf32>
}

// -----

// A norm bounds the rows that it is of: their exponentials fit. Without its dimension it meets columns.
// CHECK-LABEL: func @norms(
// CHECK: onnx.Exp({{.*}} -> tensor<2x2xf16>
// CHECK: onnx.Exp({{.*}} -> tensor<2x2xf32>
// expected-remark @+1 {{FP32: 5 nodes, FP16: 3 nodes, BF16: 1 node}}
func.func @norms(%x: tensor<2x2xf32>) -> tensor<2x2xf32> {
  %axis = onnx.Constant() {value = dense<1> : tensor<1xi64>} : () -> tensor<1xi64>
  %0 = onnx.MatMul(%x, %x) : (tensor<2x2xf32>, tensor<2x2xf32>) -> tensor<2x2xf32>
  // expected-remark @+1 {{kept in FP32: its result can grow beyond FP16}}
  %1 = onnx.ReduceL2(%0, %axis) : (tensor<2x2xf32>, tensor<1xi64>) -> tensor<2x1xf32>
  // expected-remark @+1 {{kept in FP32: input 'B' can grow beyond FP16}}
  %2 = onnx.Div(%0, %1) : (tensor<2x2xf32>, tensor<2x1xf32>) -> tensor<2x2xf32>
  %3 = onnx.Exp(%2) : (tensor<2x2xf32>) -> tensor<2x2xf32>
  %4 = onnx.MatMul(%3, %x) : (tensor<2x2xf32>, tensor<2x2xf32>) -> tensor<2x2xf32>
  // expected-remark @+1 {{kept in FP32: its result can grow beyond FP16}}
  %5 = onnx.ReduceL2(%4, %axis) {keepdims = 0 : i64} : (tensor<2x2xf32>, tensor<1xi64>) -> tensor<2xf32>
  // expected-remark @+1 {{kept in FP32: input 'B' can grow beyond FP16}}
  %6 = onnx.Div(%4, %5) : (tensor<2x2xf32>, tensor<2xf32>) -> tensor<2x2xf32>
  // expected-remark @+1 {{kept in FP32: its result can grow beyond FP16}}
  %7 = onnx.Exp(%6) : (tensor<2x2xf32>) -> tensor<2x2xf32>
  // expected-remark @+1 {{kept in BF16: input 'A' can grow beyond FP16}}
  %8 = onnx.MatMul(%7, %x) : (tensor<2x2xf32>, tensor<2x2xf32>) -> tensor<2x2xf32>
  return %8 : tensor<2x2xf32>
}

// -----

// A variance as the rest of two moments: what makes the moments keeps its bits, the product in front does not.
// CHECK-LABEL: func @moments(
// CHECK: onnx.MatMul({{.*}} -> tensor<2x8xf16>
// CHECK: onnx.Mul({{.*}} -> tensor<2x8xf32>
// CHECK: onnx.ReduceMean({{.*}} -> tensor<2x1xf32>
// CHECK: onnx.ReduceMean({{.*}} -> tensor<2x1xf32>
// CHECK: onnx.Mul({{.*}} -> tensor<2x1xf32>
// CHECK: onnx.Sub({{.*}} -> tensor<2x1xf32>
// expected-remark @+1 {{FP16: 1 node, BF16: 1 node}}
func.func @moments(%x: tensor<2x8xf32>, %w: tensor<8x8xf32>, %v: tensor<1x8xf32>) -> tensor<2x8xf32> {
  %axis = onnx.Constant() {value = dense<-1> : tensor<1xi64>} : () -> tensor<1xi64>
  %0 = onnx.MatMul(%x, %w) : (tensor<2x8xf32>, tensor<8x8xf32>) -> tensor<2x8xf32>
  // expected-remark @+1 {{kept in FP32: what it makes goes into Sub}}
  %1 = onnx.Mul(%0, %0) : (tensor<2x8xf32>, tensor<2x8xf32>) -> tensor<2x8xf32>
  // expected-remark @+1 {{kept in FP32: what it makes goes into Sub}}
  %2 = onnx.ReduceMean(%1, %axis) : (tensor<2x8xf32>, tensor<1xi64>) -> tensor<2x1xf32>
  // expected-remark @+1 {{kept in FP32: what it makes goes into Sub}}
  %3 = onnx.ReduceMean(%0, %axis) : (tensor<2x8xf32>, tensor<1xi64>) -> tensor<2x1xf32>
  // expected-remark @+1 {{kept in FP32: what it makes goes into Sub}}
  %4 = onnx.Mul(%3, %3) : (tensor<2x1xf32>, tensor<2x1xf32>) -> tensor<2x1xf32>
  // expected-remark @+1 {{kept in FP32: its result depends on bits that FP16 has not}}
  %5 = onnx.Sub(%2, %4) : (tensor<2x1xf32>, tensor<2x1xf32>) -> tensor<2x1xf32>
  // expected-remark @+1 {{kept in BF16: input 'A' can grow beyond FP16}}
  %6 = onnx.MatMul(%5, %v) : (tensor<2x1xf32>, tensor<1x8xf32>) -> tensor<2x8xf32>
  return %6 : tensor<2x8xf32>
}

// -----

// A distance by lengths and a product: the product, too. A sum of the same terms takes nothing away.
// CHECK-LABEL: func @distances(
// CHECK: onnx.ReduceSumSquare({{.*}} -> tensor<2x1xf32>
// CHECK: onnx.MatMul({{.*}} -> tensor<2x2xf32>
// CHECK: onnx.Sub({{.*}} -> tensor<2x2xf32>
// CHECK: onnx.MatMul({{.*}} -> tensor<2x2xf16>
// CHECK: onnx.Add({{.*}} -> tensor<2x2xf16>
// expected-remark @+1 {{FP16: 4 nodes}}
func.func @distances(%x: tensor<2x8xf32>, %w: tensor<8x8xf32>) -> (tensor<2x2xf32>, tensor<2x2xf32>) {
  %axis = onnx.Constant() {value = dense<-1> : tensor<1xi64>} : () -> tensor<1xi64>
  %a = onnx.MatMul(%x, %w) : (tensor<2x8xf32>, tensor<8x8xf32>) -> tensor<2x8xf32>
  // expected-remark @+1 {{kept in FP32: what it makes goes into Sub}}
  %b = onnx.Relu(%a) : (tensor<2x8xf32>) -> tensor<2x8xf32>
  // expected-remark @+1 {{kept in FP32: what it makes goes into Sub}}
  %t = onnx.Transpose(%b) {perm = array<i64: 1, 0>} : (tensor<2x8xf32>) -> tensor<8x2xf32>
  // expected-remark @+1 {{kept in FP32: what it makes goes into Sub}}
  %0 = onnx.ReduceSumSquare(%a, %axis) : (tensor<2x8xf32>, tensor<1xi64>) -> tensor<2x1xf32>
  // expected-remark @+1 {{kept in FP32: what it makes goes into Sub}}
  %1 = onnx.MatMul(%a, %t) : (tensor<2x8xf32>, tensor<8x2xf32>) -> tensor<2x2xf32>
  // expected-remark @+1 {{kept in FP32: its result depends on bits that FP16 has not}}
  %2 = onnx.Sub(%0, %1) : (tensor<2x1xf32>, tensor<2x2xf32>) -> tensor<2x2xf32>
  %3 = onnx.MatMul(%b, %t) : (tensor<2x8xf32>, tensor<8x2xf32>) -> tensor<2x2xf32>
  %4 = onnx.ReduceMean(%b, %axis) : (tensor<2x8xf32>, tensor<1xi64>) -> tensor<2x1xf32>
  %5 = onnx.Add(%3, %4) : (tensor<2x2xf32>, tensor<2x1xf32>) -> tensor<2x2xf32>
  return %2, %5 : tensor<2x2xf32>, tensor<2x2xf32>
}

// -----

// A bias with large numbers keeps scores from being rounded: in a softmax of its own, and in an Attention.
// CHECK-LABEL: func @bias(
// CHECK: onnx.MatMul({{.*}} -> tensor<4x4xf16>
// CHECK: onnx.Add({{.*}} -> tensor<4x4xf32>
// CHECK: onnx.Softmax({{.*}} -> tensor<4x4xf32>
// CHECK: onnx.Attention({{.*}}softmax_precision = 1{{.*}}tensor<4x4xf32>, none, none, none) -> (tensor<1x1x4x4xf16>
// expected-remark @+1 {{FP32: 2 nodes, FP16: 3 nodes}}
func.func @bias(%x: tensor<4x4xf32>, %w: tensor<4x4xf32>, %q: tensor<1x1x4x4xf32>) -> (tensor<4x4xf32>, tensor<1x1x4x4xf32>) {
  %none = onnx.None() : () -> none
  %b = onnx.Constant() {value = dense<[[0.0, 17.0, 34.0, 51.0], [0.0, 17.0, 34.0, 51.0], [0.0, 17.0, 34.0, 51.0], [0.0, 17.0, 34.0, 51.0]]> : tensor<4x4xf32>} : () -> tensor<4x4xf32>
  %0 = onnx.MatMul(%x, %w) : (tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<4x4xf32>
  // expected-remark @+1 {{kept in FP32: input 'B' may have numbers beyond 16, beside which FP16 rounds scores}}
  %1 = onnx.Add(%0, %b) : (tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<4x4xf32>
  // expected-remark @+1 {{kept in FP32}}
  %2 = onnx.Softmax(%1) : (tensor<4x4xf32>) -> tensor<4x4xf32>
  %3 = onnx.MatMul(%2, %w) : (tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<4x4xf32>
  // expected-remark @+1 {{scores in FP32}}
  %4:4 = onnx.Attention(%q, %q, %q, %b, %none, %none, %none) : (tensor<1x1x4x4xf32>, tensor<1x1x4x4xf32>, tensor<1x1x4x4xf32>, tensor<4x4xf32>, none, none, none) -> (tensor<1x1x4x4xf32>, none, none, none)
  return %3, %4#0 : tensor<4x4xf32>, tensor<1x1x4x4xf32>
}

// -----

// Two large numbers hide keys, and a factor of 1000 makes such of positions: scores stay in 16 bits.
// CHECK-LABEL: func @masks(
// CHECK: onnx.Add({{.*}} -> tensor<4x4xf16>
// CHECK: onnx.Add({{.*}} -> tensor<4x4xf16>
// expected-remark @+1 {{FP32: 2 nodes, FP16: 5 nodes}}
func.func @masks(%x: tensor<4x4xf32>, %w: tensor<4x4xf32>, %seen: tensor<1x4xi64>) -> tensor<4x4xf32> {
  %b = onnx.Constant() {value = dense<[[0.0, -100.0, -1000.0, 0.0]]> : tensor<1x4xf32>} : () -> tensor<1x4xf32>
  %c = onnx.Constant() {value = dense<-1.0e+4> : tensor<f32>} : () -> tensor<f32>
  %0 = onnx.MatMul(%x, %w) : (tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<4x4xf32>
  %1 = onnx.Add(%0, %b) : (tensor<4x4xf32>, tensor<1x4xf32>) -> tensor<4x4xf32>
  // expected-remark @+1 {{kept in FP32: its integers}}
  %2 = onnx.Cast(%seen) {to = 1 : i64} : (tensor<1x4xi64>) -> tensor<1x4xf32>
  // expected-remark @+1 {{kept in FP32: input 'A' may have integers}}
  %3 = onnx.Mul(%2, %c) : (tensor<1x4xf32>, tensor<f32>) -> tensor<1x4xf32>
  %4 = onnx.Add(%1, %3) : (tensor<4x4xf32>, tensor<1x4xf32>) -> tensor<4x4xf32>
  %5 = onnx.Softmax(%4) : (tensor<4x4xf32>) -> tensor<4x4xf32>
  %6 = onnx.MatMul(%5, %w) : (tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<4x4xf32>
  return %6 : tensor<4x4xf32>
}

// -----

// An edge filter takes differences of an input far from 0, weights that were trained do not.
// CHECK-LABEL: func @edges(
// CHECK: onnx.Conv({{.*}} -> tensor<1x1x2x2xf32>
// CHECK: onnx.Conv({{.*}} -> tensor<1x1x2x2xf16>
// expected-remark @+1 {{FP32: 1 node, FP16: 2 nodes}}
func.func @edges(%x: tensor<1x1x4x4xf32>) -> tensor<1x1x2x2xf32> {
  %none = onnx.None() : () -> none
  %w = onnx.Constant() {value = dense<[[[[0.0, 1.0, 0.0], [1.0, -4.0, 1.0], [0.0, 1.0, 0.0]]]]> : tensor<1x1x3x3xf32>} : () -> tensor<1x1x3x3xf32>
  %v = onnx.Constant() {value = dense<[[[[0.1, 1.0, 0.3], [1.0, -4.0, 1.0], [0.2, 1.0, 0.3]]]]> : tensor<1x1x3x3xf32>} : () -> tensor<1x1x3x3xf32>
  // expected-remark @+1 {{kept in FP32: it is computed from inputs of FP32}}
  %0 = onnx.Conv(%x, %w, %none) : (tensor<1x1x4x4xf32>, tensor<1x1x3x3xf32>, none) -> tensor<1x1x2x2xf32>
  %1 = onnx.Conv(%x, %v, %none) : (tensor<1x1x4x4xf32>, tensor<1x1x3x3xf32>, none) -> tensor<1x1x2x2xf32>
  %2 = onnx.MatMul(%0, %1) : (tensor<1x1x2x2xf32>, tensor<1x1x2x2xf32>) -> tensor<1x1x2x2xf32>
  return %2 : tensor<1x1x2x2xf32>
}

// -----

// The logarithm of bands of a spectrum: both products, since what is small in it is small beside all that was added up.
// CHECK-LABEL: func @bands(
// CHECK: onnx.MatMul({{.*}} -> tensor<2x8xf32>
// CHECK: onnx.Mul({{.*}} -> tensor<2x8xf32>
// CHECK: onnx.MatMul({{.*}} -> tensor<2x4xf32>
// CHECK: onnx.Log
// expected-remark @+1 {{FP32: 4 nodes, FP16: 1 node}}
func.func @bands(%x: tensor<2x64xf32>, %window: tensor<64x8xf32>, %mel: tensor<8x4xf32>) -> tensor<2x2xf32> {
  // expected-remark @+1 {{kept in FP32: what it makes goes into Log}}
  %0 = onnx.MatMul(%x, %window) : (tensor<2x64xf32>, tensor<64x8xf32>) -> tensor<2x8xf32>
  // expected-remark @+1 {{kept in FP32: what it makes goes into Log}}
  %1 = onnx.Mul(%0, %0) : (tensor<2x8xf32>, tensor<2x8xf32>) -> tensor<2x8xf32>
  // expected-remark @+1 {{kept in FP32: what it makes goes into Log}}
  %2 = onnx.MatMul(%1, %mel) : (tensor<2x8xf32>, tensor<8x4xf32>) -> tensor<2x4xf32>
  // expected-remark @+1 {{kept in FP32}}
  %3 = onnx.Log(%2) : (tensor<2x4xf32>) -> tensor<2x4xf32>
  %w = onnx.Constant() {value = dense<[[1.0, 2.0], [3.0, 4.0], [5.0, 6.0], [7.0, 9.0]]> : tensor<4x2xf32>} : () -> tensor<4x2xf32>
  %4 = onnx.MatMul(%3, %w) : (tensor<2x4xf32>, tensor<4x2xf32>) -> tensor<2x2xf32>
  return %4 : tensor<2x2xf32>
}

// -----

// What two intervals have in common, and a value that comes back behind many steps.
// CHECK-LABEL: func @overlaps(
// CHECK: onnx.Min({{.*}} -> tensor<16xf32>
// CHECK: onnx.Max({{.*}} -> tensor<16xf32>
// CHECK: onnx.Sub({{.*}} -> tensor<16xf32>
// expected-remark @+1 {{FP32: 4 nodes, FP16: 3 nodes}}
func.func @overlaps(%x: tensor<16x16xf32>, %w: tensor<16xf32>) -> tensor<16xf32> {
  %0 = onnx.MatMul(%x, %w) : (tensor<16x16xf32>, tensor<16xf32>) -> tensor<16xf32>
  %1 = onnx.MatMul(%w, %x) : (tensor<16xf32>, tensor<16x16xf32>) -> tensor<16xf32>
  // expected-remark @+1 {{kept in FP32: what it makes goes into Sub}}
  %2 = onnx.Sigmoid(%0) : (tensor<16xf32>) -> tensor<16xf32>
  // expected-remark @+1 {{kept in FP32: what it makes goes into Sub}}
  %3 = onnx.Min(%0, %1) : (tensor<16xf32>, tensor<16xf32>) -> tensor<16xf32>
  // expected-remark @+1 {{kept in FP32: what it makes goes into Sub}}
  %4 = onnx.Max(%0, %2) : (tensor<16xf32>, tensor<16xf32>) -> tensor<16xf32>
  // expected-remark @+1 {{kept in FP32: its result depends on bits}}
  %5 = onnx.Sub(%3, %4) : (tensor<16xf32>, tensor<16xf32>) -> tensor<16xf32>
  %6 = onnx.MatMul(%5, %x) : (tensor<16xf32>, tensor<16x16xf32>) -> tensor<16xf32>
  return %6 : tensor<16xf32>
}
