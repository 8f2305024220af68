// RUN: cameo-opt %s --split-input-file --verify-diagnostics --cameo-lower-onnx-to-dispatches | FileCheck %s

// Inputs of all steps are one product, with both biases; steps are a second dispatch, whose weights have their depth in
// front. A sequence that nobody reads is not made.
// CHECK: #[[BY_DEPTH:.*]] = affine_map<(d0, d1, d2, d3) -> (d0, d2, d3, d1)>
// CHECK-LABEL: func @lstm
// CHECK: kernel.dispatch
// CHECK: linalg.generic {{.*}} iterator_types = ["parallel", "parallel", "parallel", "reduction"]
// CHECK: math.fma
// CHECK: linalg.generic {{.*}} iterator_types = ["parallel", "parallel", "parallel"]
// CHECK-COUNT-2: arith.addf
// CHECK: } -> tensor<10x1x12xf32>
// CHECK: rt.reshape %{{.*}} tensor<5x2x1x4x3xf32>
// CHECK: rt.reshape %{{.*}} tensor<1x4x3x3xf32>
// CHECK: kernel.dispatch
// CHECK: linalg.generic {indexing_maps = [#[[BY_DEPTH]], #{{.*}}]
// CHECK: kernel.recurrence input(%{{[^:]*}} : tensor<5x2x1x4x3xf32>) weights(%{{[^:]*}} : tensor<1x3x4x3xf32>)
// CHECK-SAME: initial(%{{[^:]*}} : tensor<1x2x3xf32>, tensor<1x2x3xf32>)
// CHECK-SAME: outs(%{{[^:]*}} : tensor<1x2x3xf32>, tensor<1x2x3xf32>) phases [4] reverse [false]
func.func @lstm(%x: tensor<5x2x4xf32>, %w: tensor<1x12x4xf32>, %r: tensor<1x12x3xf32>, %b: tensor<1x24xf32>)
    -> (tensor<1x2x3xf32>, tensor<1x2x3xf32>) {
  %none = onnx.None() : () -> none
  %y, %h, %c = onnx.LSTM(%x, %w, %r, %b, %none, %none, %none, %none) {hidden_size = 3 : i64}
      : (tensor<5x2x4xf32>, tensor<1x12x4xf32>, tensor<1x12x3xf32>, tensor<1x24xf32>, none, none, none, none)
      -> (tensor<5x1x2x3xf32>, tensor<1x2x3xf32>, tensor<1x2x3xf32>)
  return %h, %c : tensor<1x2x3xf32>, tensor<1x2x3xf32>
}

// -----

// A GRU that resets the state first multiplies twice a step; functions that directions have different are in branches.
// CHECK-LABEL: func @gru
// CHECK: kernel.recurrence {{.*}} lengths(%{{.*}} : tensor<2xi32>)
// CHECK-SAME: phases [2, 1] reverse [false, true] rows_first {
// CHECK-NOT: scf.if
// CHECK: kernel.yield %{{[^:]*}} : f32, f32
// CHECK: }, {
// CHECK: scf.if
// CHECK: kernel.yield %{{[^:]*}} : f32{{$| }}
func.func @gru(%x: tensor<2x?x4xf16>, %w: tensor<2x9x4xf16>, %r: tensor<2x9x3xf16>, %n: tensor<2xi32>)
    -> tensor<2x?x2x3xf16> {
  %none = onnx.None() : () -> none
  %y, %h = onnx.GRU(%x, %w, %r, %none, %n, %none)
      {direction = "bidirectional", layout = 1 : i64, activations = ["Sigmoid", "Tanh", "sigmoid", "Relu"]}
      : (tensor<2x?x4xf16>, tensor<2x9x4xf16>, tensor<2x9x3xf16>, none, tensor<2xi32>, none)
      -> (tensor<2x?x2x3xf16>, tensor<2x2x3xf16>)
  return %y : tensor<2x?x2x3xf16>
}

// -----

// Biases of the state are added before the reset where it comes last.
// CHECK-LABEL: func @resets_last
// CHECK: kernel.recurrence {{.*}} parameters(%{{.*}} : tensor<1x3x3xf32>)
// CHECK-SAME: phases [3] reverse [true]
func.func @resets_last(%x: tensor<5x2x4xf32>, %w: tensor<1x9x4xf32>, %r: tensor<1x9x3xf32>, %b: tensor<1x18xf32>)
    -> tensor<1x2x3xf32> {
  %none = onnx.None() : () -> none
  %y, %h = onnx.GRU(%x, %w, %r, %b, %none, %none) {direction = "reverse", linear_before_reset = 1 : i64}
      : (tensor<5x2x4xf32>, tensor<1x9x4xf32>, tensor<1x9x3xf32>, tensor<1x18xf32>, none, none)
      -> (tensor<5x1x2x3xf32>, tensor<1x2x3xf32>)
  return %h : tensor<1x2x3xf32>
}

// -----

// expected-error @below {{8 nodes cannot be compiled}}
func.func @refused(%x: tensor<5x2x4xf32>, %flat: tensor<5x4xf32>, %w: tensor<1x3x4xf32>, %r: tensor<1x3x3xf32>,
                   %open: tensor<1x?x?xf32>, %no_w: tensor<1x0x4xf32>, %no_r: tensor<1x0x0xf32>)
    -> (tensor<*xf32>, tensor<*xf32>, tensor<*xf32>, tensor<*xf32>, tensor<*xf32>, tensor<*xf32>, tensor<*xf32>, tensor<*xf32>) {
  %none = onnx.None() : () -> none
  // expected-note @below {{X has rank 2; it must have 3}}
  %a, %0 = onnx.RNN(%flat, %w, %r, %none, %none, %none)
      : (tensor<5x4xf32>, tensor<1x3x4xf32>, tensor<1x3x3xf32>, none, none, none) -> (tensor<*xf32>, none)
  // expected-note @below {{a number of units known only at run time; nearest supported: hidden_size, or R of known sizes}}
  %b, %1 = onnx.RNN(%x, %w, %open, %none, %none, %none)
      : (tensor<5x2x4xf32>, tensor<1x3x4xf32>, tensor<1x?x?xf32>, none, none, none) -> (tensor<*xf32>, none)
  // expected-note @below {{0 units, as hidden_size or R says; nearest supported: 1}}
  %c, %2 = onnx.RNN(%x, %no_w, %no_r, %none, %none, %none)
      : (tensor<5x2x4xf32>, tensor<1x0x4xf32>, tensor<1x0x0xf32>, none, none, none) -> (tensor<*xf32>, none)
  // expected-note @below {{2 activations; there must be 1, 1 a direction}}
  %d, %3 = onnx.RNN(%x, %w, %r, %none, %none, %none) {activations = ["Tanh", "Tanh"]}
      : (tensor<5x2x4xf32>, tensor<1x3x4xf32>, tensor<1x3x3xf32>, none, none, none) -> (tensor<*xf32>, none)
  // expected-note @below {{activations has 'Gelu', which is none of the specification's; nearest supported: Sigmoid, Tanh, HardSigmoid}}
  %e, %4 = onnx.RNN(%x, %w, %r, %none, %none, %none) {activations = ["Gelu"]}
      : (tensor<5x2x4xf32>, tensor<1x3x4xf32>, tensor<1x3x3xf32>, none, none, none) -> (tensor<*xf32>, none)
  // expected-note @below {{activations has 'ScaledTanh' without numbers of its own, which has no defaults; nearest supported: one of activation_alpha and one of activation_beta}}
  %f, %5 = onnx.RNN(%x, %w, %r, %none, %none, %none) {activations = ["ScaledTanh"], activation_alpha = array<f32: 1.0>}
      : (tensor<5x2x4xf32>, tensor<1x3x4xf32>, tensor<1x3x3xf32>, none, none, none) -> (tensor<*xf32>, none)
  // expected-note @below {{dimension 1 of W is 3; it must be 12}}
  %g, %6, %7 = onnx.LSTM(%x, %w, %r, %none, %none, %none, %none, %none)
      : (tensor<5x2x4xf32>, tensor<1x3x4xf32>, tensor<1x3x3xf32>, none, none, none, none, none) -> (tensor<*xf32>, none, none)
  // expected-note @below {{clip of -0.5; it must be above 0, as sums are between minus that and that}}
  %i, %8 = onnx.RNN(%x, %w, %r, %none, %none, %none) {clip = -0.5 : f32}
      : (tensor<5x2x4xf32>, tensor<1x3x4xf32>, tensor<1x3x3xf32>, none, none, none) -> (tensor<*xf32>, none)
  return %a, %b, %c, %d, %e, %f, %g, %i
      : tensor<*xf32>, tensor<*xf32>, tensor<*xf32>, tensor<*xf32>, tensor<*xf32>, tensor<*xf32>, tensor<*xf32>, tensor<*xf32>
}

// -----

// expected-error @below {{1 node cannot be compiled}}
func.func @lengths(%x: tensor<5x2x4xf32>, %w: tensor<1x3x4xf32>, %r: tensor<1x3x3xf32>) -> tensor<*xf32> {
  %none = onnx.None() : () -> none
  %n = onnx.Constant() {value = dense<[6, 1]> : tensor<2xi32>} : () -> tensor<2xi32>
  // expected-note @below {{sequence_lens has 6; there are 5 steps}}
  %a, %0 = onnx.RNN(%x, %w, %r, %none, %n, %none)
      : (tensor<5x2x4xf32>, tensor<1x3x4xf32>, tensor<1x3x3xf32>, none, tensor<2xi32>, none) -> (tensor<*xf32>, none)
  return %a : tensor<*xf32>
}
