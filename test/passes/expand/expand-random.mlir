// RUN: cameo-opt %s --split-input-file --pass-pipeline='builtin.module(func.func(cameo-expand-random))' > %t
// RUN: FileCheck %s < %t
// RUN: cameo-opt %t --split-input-file --pass-pipeline='builtin.module(func.func(cameo-expand-random))' | diff %t -

// Equal nodes draw from streams of their own; so do those of one seed, which are counted by themselves.
// CHECK-LABEL: func @streams(
// CHECK: %[[STATE:.*]] = onnx.RandomState() : () -> tensor<8xi32>
// CHECK: onnx.Draw(%[[STATE]], {{.*}}) {distribution = "uniform", high = 1.000000e+00 : f32, low = 0.000000e+00 : f32, stream = 0 : i64}
// CHECK-SAME: -> tensor<*xf32>
// CHECK: onnx.Draw(%[[STATE]], {{.*}}) {distribution = "uniform", {{.*}} stream = 1 : i64}
// CHECK: onnx.Draw(%[[STATE]], {{.*}}) {{{.*}} seed = 5.000000e-01 : f32, stream = 0 : i64}
// CHECK: onnx.Draw(%[[STATE]], {{.*}}) {{{.*}} seed = 5.000000e-01 : f32, stream = 1 : i64}
// CHECK: %[[SHAPE:.*]] = onnx.Shape(%arg0)
// CHECK: onnx.Draw(%[[STATE]], %[[SHAPE]], %{{.*}}) {distribution = "normal", mean = 0.000000e+00 : f32, scale = 2.000000e+00 : f32, stream = 2 : i64}
// CHECK-SAME: -> tensor<*xf16>
func.func @streams(%x: tensor<?xf16>) -> (tensor<2xf32>, tensor<2xf32>, tensor<2xf32>, tensor<2xf32>, tensor<*xf16>) {
  %0 = onnx.RandomUniform() {shape = array<i64: 2>} : () -> tensor<2xf32>
  %1 = onnx.RandomUniform() {shape = array<i64: 2>} : () -> tensor<2xf32>
  %2 = onnx.RandomUniform() {shape = array<i64: 2>, seed = 0.5 : f32} : () -> tensor<2xf32>
  %3 = onnx.RandomUniform() {shape = array<i64: 2>, seed = 0.5 : f32} : () -> tensor<2xf32>
  %4 = onnx.RandomNormalLike(%x) {scale = 2.0 : f32} : (tensor<?xf16>) -> tensor<*xf16>
  return %0, %1, %2, %3, %4 : tensor<2xf32>, tensor<2xf32>, tensor<2xf32>, tensor<2xf32>, tensor<*xf16>
}

// -----

// Probabilities of any type are compared in FP32, or FP64.
// CHECK-LABEL: func @bernoulli(
// CHECK: %[[P:.*]] = onnx.Cast(%arg0) {to = 1 : i64} : (tensor<4xf16>) -> tensor<*xf32>
// CHECK: %[[BITS:.*]] = onnx.Draw(%{{.*}}, %{{.*}}, %[[P]]) {distribution = "below", stream = 0 : i64} : (tensor<8xi32>, none, tensor<*xf32>) -> tensor<*xi1>
// CHECK: onnx.Cast(%[[BITS]]) {to = 10 : i64}
// CHECK: onnx.Draw(%{{.*}}, %{{.*}}, %arg1) {distribution = "below", stream = 1 : i64} : (tensor<8xi32>, none, tensor<4xf64>) -> tensor<*xi1>
func.func @bernoulli(%p: tensor<4xf16>, %q: tensor<4xf64>) -> (tensor<4xf16>, tensor<4xi1>) {
  %0 = onnx.Bernoulli(%p) : (tensor<4xf16>) -> tensor<4xf16>
  %1 = onnx.Bernoulli(%q) {dtype = 9 : i64} : (tensor<4xf64>) -> tensor<4xi1>
  return %0, %1 : tensor<4xf16>, tensor<4xi1>
}

// -----

// The first class whose sum is above a share of the greatest, of those with a finite logarithm.
// CHECK-LABEL: func @multinomial(
// CHECK: onnx.Abs(
// CHECK: onnx.Less(
// CHECK: %[[SUMS:.*]] = onnx.CumSum(
// CHECK: %[[MADE:.*]] = onnx.Where(%{{.*}}, %[[SUMS]],
// CHECK: onnx.ReduceMax(%[[MADE]],
// CHECK: onnx.Draw({{.*}} -> tensor<*xf64>
// CHECK: onnx.Greater(
// CHECK: onnx.ArgMax(
func.func @multinomial(%x: tensor<2x3xf32>) -> tensor<2x5xi32> {
  %0 = onnx.Multinomial(%x) {sample_size = 5 : i64} : (tensor<2x3xf32>) -> tensor<2x5xi32>
  return %0 : tensor<2x5xi32>
}

// -----

// In training for certain, perhaps, and never.
// CHECK-LABEL: func @dropout(
// CHECK: %[[DROPPED:.*]] = onnx.Draw({{.*}}) {distribution = "below"
// CHECK: %[[FACTOR:.*]] = onnx.Where(%[[DROPPED]],
// CHECK: %[[KEPT:.*]] = onnx.Not(%[[DROPPED]])
// CHECK: %[[Y:.*]] = onnx.Mul(%arg0, %[[FACTOR]])
// CHECK: onnx.Draw(
// CHECK: %[[Z:.*]] = onnx.Where(%arg1, %{{.*}}, %arg0)
// CHECK: %[[NEVER:.*]], %{{.*}} = onnx.Dropout(
// CHECK: return %[[Y]], %[[KEPT]], %[[Z]], %[[NEVER]]
func.func @dropout(%x: tensor<3xf32>, %t: tensor<i1>) -> (tensor<3xf32>, tensor<3xi1>, tensor<3xf32>, tensor<3xf32>) {
  %none = onnx.None() : () -> none
  %yes = onnx.Constant() {value = dense<true> : tensor<i1>} : () -> tensor<i1>
  %no = onnx.Constant() {value = dense<false> : tensor<i1>} : () -> tensor<i1>
  %y, %mask = onnx.Dropout(%x, %none, %yes) : (tensor<3xf32>, none, tensor<i1>) -> (tensor<3xf32>, tensor<3xi1>)
  %z, %1 = onnx.Dropout(%x, %none, %t) : (tensor<3xf32>, none, tensor<i1>) -> (tensor<3xf32>, none)
  %w, %2 = onnx.Dropout(%x, %none, %no) : (tensor<3xf32>, none, tensor<i1>) -> (tensor<3xf32>, none)
  return %y, %mask, %z, %w : tensor<3xf32>, tensor<3xi1>, tensor<3xf32>, tensor<3xf32>
}

// -----

// A ratio that only a run knows is checked by what the operator is in inference, and is moved into its range.
// CHECK-LABEL: func @open_ratio(
// CHECK: %[[CHECKED:.*]], %{{.*}} = onnx.Dropout(%arg0, %arg1, %{{.*}})
// CHECK: %[[RATIO:.*]] = onnx.Max(%arg1, %{{.*}})
// CHECK: onnx.Draw(%{{.*}}, %{{.*}}, %[[RATIO]])
// CHECK: onnx.Mul(%[[CHECKED]],
func.func @open_ratio(%x: tensor<3xf32>, %r: tensor<f32>) -> tensor<3xf32> {
  %yes = onnx.Constant() {value = dense<true> : tensor<i1>} : () -> tensor<i1>
  %y, %mask = onnx.Dropout(%x, %r, %yes) : (tensor<3xf32>, tensor<f32>, tensor<i1>) -> (tensor<3xf32>, none)
  return %y : tensor<3xf32>
}

// -----

// Each trip has a state of its own, and a trip of a loop in it one of that.
// CHECK-LABEL: func @loops(
// CHECK: %[[STATE:.*]] = onnx.RandomState()
// CHECK: onnx.Loop(
// CHECK: ^bb0(%[[I:.*]]: tensor<i64>, %{{.*}}: tensor<i1>, %{{.*}}: tensor<4xf32>):
// CHECK: %[[OUTER:.*]] = onnx.RandomTrip(%[[STATE]], %[[I]])
// CHECK: onnx.Loop(
// CHECK: ^bb0(%[[J:.*]]: tensor<i64>, %{{.*}}: tensor<i1>, %{{.*}}: tensor<4xf32>):
// CHECK: %[[INNER:.*]] = onnx.RandomTrip(%[[OUTER]], %[[J]])
// CHECK: onnx.Draw(%[[INNER]],
func.func @loops(%x: tensor<4xf32>, %n: tensor<i64>) -> tensor<4xf32> {
  %none = onnx.None() : () -> none
  %0 = onnx.Loop(%n, %none, %x) ({
  ^bb0(%i: tensor<i64>, %c: tensor<i1>, %v: tensor<4xf32>):
    %1 = onnx.Loop(%n, %none, %v) ({
    ^bb0(%j: tensor<i64>, %d: tensor<i1>, %w: tensor<4xf32>):
      %2 = onnx.RandomNormalLike(%w) : (tensor<4xf32>) -> tensor<4xf32>
      onnx.Yield(%d, %2) : (tensor<i1>, tensor<4xf32>) -> ()
    }) : (tensor<i64>, none, tensor<4xf32>) -> tensor<4xf32>
    onnx.Yield(%c, %1) : (tensor<i1>, tensor<4xf32>) -> ()
  }) : (tensor<i64>, none, tensor<4xf32>) -> tensor<4xf32>
  return %0 : tensor<4xf32>
}

// -----

// A Scan carries it.
// CHECK-LABEL: func @scan(
// CHECK: %[[STATE:.*]] = onnx.RandomState()
// CHECK: %[[RESULT:.*]]:3 = onnx.Scan(%[[STATE]], %arg0, %arg1)
// CHECK: ^bb0(%[[OWN:.*]]: tensor<8xi32>, %{{.*}}: tensor<4xf32>, %{{.*}}: tensor<4xf32>):
// CHECK: onnx.Draw(%[[OWN]],
// CHECK: %[[NEXT:.*]] = onnx.RandomTrip(%[[OWN]], %{{.*}})
// CHECK: onnx.Yield(%[[NEXT]],
// CHECK: return %[[RESULT]]#2
func.func @scan(%s: tensor<4xf32>, %x: tensor<3x4xf32>) -> tensor<3x4xf32> {
  %0:2 = onnx.Scan(%s, %x) {num_scan_inputs = 1 : i64} ({
  ^bb0(%a: tensor<4xf32>, %e: tensor<4xf32>):
    %1 = onnx.RandomNormalLike(%e) : (tensor<4xf32>) -> tensor<4xf32>
    onnx.Yield(%a, %1) : (tensor<4xf32>, tensor<4xf32>) -> ()
  }) : (tensor<4xf32>, tensor<3x4xf32>) -> (tensor<4xf32>, tensor<3x4xf32>)
  return %0#1 : tensor<3x4xf32>
}

// -----

// What cannot be drawn keeps the reason.
// CHECK-LABEL: func @refused(
// CHECK: onnx.RandomUniform() {{{.*}}onnx.unexpanded = "its numbers are from 1 to 0; low must not be above high, and their difference a float"
// CHECK: onnx.RandomUniform() {{{.*}}onnx.unexpanded = "its type has no number from 70000 up to but without 80000"
// CHECK: onnx.Dropout({{.*}}onnx.unexpanded = "ratio is not 0 or more and less than 1"
// CHECK: onnx.Multinomial({{.*}}onnx.unexpanded = "its input has no classes to choose from"
func.func @refused(%x: tensor<2xf32>, %none: tensor<2x0xf32>)
    -> (tensor<2xf32>, tensor<2xf16>, tensor<2xf32>, tensor<2x1xi32>) {
  %yes = onnx.Constant() {value = dense<true> : tensor<i1>} : () -> tensor<i1>
  %all = onnx.Constant() {value = dense<1.0> : tensor<f32>} : () -> tensor<f32>
  %0 = onnx.RandomUniform() {shape = array<i64: 2>, low = 1.0 : f32, high = 0.0 : f32} : () -> tensor<2xf32>
  %1 = onnx.RandomUniform() {shape = array<i64: 2>, dtype = 10 : i64, low = 7.0e4 : f32, high = 8.0e4 : f32} : () -> tensor<2xf16>
  %2, %3 = onnx.Dropout(%x, %all, %yes) : (tensor<2xf32>, tensor<f32>, tensor<i1>) -> (tensor<2xf32>, none)
  %4 = onnx.Multinomial(%none) : (tensor<2x0xf32>) -> tensor<2x1xi32>
  return %0, %1, %2, %4 : tensor<2xf32>, tensor<2xf16>, tensor<2xf32>, tensor<2x1xi32>
}
