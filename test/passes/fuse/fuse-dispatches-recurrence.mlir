// RUN: cameo-opt %s --split-input-file --pass-pipeline='builtin.module(cameo-lower-onnx-to-dispatches,func.func(cameo-fuse-dispatches))' | FileCheck %s
// RUN: cameo-opt %s --split-input-file --pass-pipeline='builtin.module(cameo-lower-onnx-to-dispatches,func.func(cameo-fuse-dispatches),cameo-report-decisions)' -o /dev/null 2>&1 | FileCheck %s --check-prefix=WHY

// Weights of eight bits are read in each step and made floats there; those of the inputs by their product.
// CHECK-LABEL: func @weights
// CHECK-COUNT-2: kernel.dispatch
// CHECK: arith.sitofp
// CHECK: kernel.recurrence
// CHECK-NOT: kernel.dispatch
// WHY-DAG: remark: loc("steps"): fused with 'state_weights'
func.func @weights(%x: tensor<5x3x4xf32>, %w: tensor<1x2x4xf32>, %r: tensor<1x2x2xi8>, %s: tensor<1x2x1xf32>) -> tensor<1x3x2xf32> {
  %none = onnx.None() : () -> none
  %0 = onnx.DequantizeLinear(%r, %s, %none) {axis = 2 : i64, block_size = 2 : i64}
      : (tensor<1x2x2xi8>, tensor<1x2x1xf32>, none) -> tensor<1x2x2xf32> loc("state_weights")
  %1, %2 = onnx.RNN(%x, %w, %0, %none, %none, %none) {hidden_size = 2 : i64}
      : (tensor<5x3x4xf32>, tensor<1x2x4xf32>, tensor<1x2x2xf32>, none, none, none) -> (none, tensor<1x3x2xf32>) loc("steps")
  return %2 : tensor<1x3x2xf32>
}

// -----

// Others are computed once: each step would do it again, and read as much.
// CHECK-LABEL: func @computed
// CHECK-COUNT-3: kernel.dispatch
// WHY-DAG: remark: loc("steps_of_computed"): not fused with 'exponential': {{.*}} would compute its elements again for each use
func.func @computed(%x: tensor<5x3x4xf32>, %w: tensor<1x2x4xf32>, %r: tensor<1x2x2xf32>) -> tensor<1x3x2xf32> {
  %none = onnx.None() : () -> none
  %0 = onnx.Exp(%r) : (tensor<1x2x2xf32>) -> tensor<1x2x2xf32> loc("exponential")
  %1, %2 = onnx.RNN(%x, %w, %0, %none, %none, %none) {hidden_size = 2 : i64}
      : (tensor<5x3x4xf32>, tensor<1x2x4xf32>, tensor<1x2x2xf32>, none, none, none) -> (none, tensor<1x3x2xf32>) loc("steps_of_computed")
  return %2 : tensor<1x3x2xf32>
}

// -----

// A state is no weight.
// CHECK-LABEL: func @state
// CHECK-COUNT-3: kernel.dispatch
// WHY-DAG: remark: loc("steps_of_state"): not fused with 'cast': {{.*}} would compute its elements again for each use
func.func @state(%x: tensor<5x3x4xf32>, %w: tensor<1x2x4xf32>, %r: tensor<1x2x2xf32>, %h: tensor<1x3x2xi8>) -> tensor<1x3x2xf32> {
  %none = onnx.None() : () -> none
  %0 = onnx.Cast(%h) {to = 1 : i64} : (tensor<1x3x2xi8>) -> tensor<1x3x2xf32> loc("cast")
  %1, %2 = onnx.RNN(%x, %w, %r, %none, %none, %0) {hidden_size = 2 : i64}
      : (tensor<5x3x4xf32>, tensor<1x2x4xf32>, tensor<1x2x2xf32>, none, none, tensor<1x3x2xf32>) -> (none, tensor<1x3x2xf32>) loc("steps_of_state")
  return %2 : tensor<1x3x2xf32>
}
