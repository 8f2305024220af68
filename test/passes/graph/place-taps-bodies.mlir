// RUN: cameo-opt %s --pass-pipeline='builtin.module(cameo-place-taps{values=*})' | FileCheck %s
// RUN: cameo-opt %s --pass-pipeline='builtin.module(cameo-place-taps{values=add})' | FileCheck %s --check-prefix=ONE
// RUN: not cameo-opt %s --pass-pipeline='builtin.module(cameo-place-taps{values=ade})' 2>&1 | FileCheck %s --check-prefix=NONE
// RUN: cameo-opt %s --pass-pipeline='builtin.module(cameo-place-taps{values=*},cameo-lower-onnx-to-dispatches)' | FileCheck %s --check-prefix=LOWERED

// A body shows what trips hand on and what it computes, behind what it gives; not what it captures, and not the number
// of the trip.
// CHECK-LABEL: func.func @main
// CHECK-SAME: onnx.name = "n", rt.tap
// CHECK-SAME: onnx.name = "x", rt.tap
// CHECK-SAME: onnx.name = "relu", rt.tap
// CHECK-SAME: onnx.name = "loop", rt.tap
// CHECK-LABEL: func.func private @main.body
// CHECK-SAME: -> (tensor<i1>, tensor<4xf32>, tensor<4xf32> {onnx.dims = [4], onnx.name = "h", rt.tap}, tensor<4xf32> {onnx.dims = [4], onnx.name = "add", rt.tap})
// CHECK: %[[ADD:.*]] = onnx.Add(%arg1, %arg2)
// CHECK: return %{{.*}}, %[[ADD]], %arg1, %[[ADD]]
// ONE-LABEL: func.func @main
// ONE-NOT: rt.tap
// ONE-LABEL: func.func private @main.body
// ONE-SAME: onnx.name = "add", rt.tap
// ONE-NOT: rt.tap
// NONE: --tap: 'ade' matches no value, neither by name nor by its node's name or operator; nearest: 'Add', 'add'
// Sizes of what is carried stand behind taps.
// LOWERED-LABEL: func.func private @main.body
// LOWERED-SAME: -> (i1 {{.*}}, tensor<4xf32> {{.*}}, tensor<4xf32> {{{.*}}rt.tap}, tensor<4xf32> {{{.*}}rt.tap}, index)
func.func @main(%n: tensor<i64> {onnx.name = "n"}, %x: tensor<4xf32> {onnx.name = "x"}) -> (tensor<4xf32> {onnx.name = "y"}) {
  %none = onnx.None() : () -> none
  %0 = onnx.Relu(%x) : (tensor<4xf32>) -> tensor<4xf32> loc("relu")
  %1 = onnx.CallLoop(%n, %none, %x, %0) {body = @main.body, carried = 1 : i64, sizes = array<i64: -1, -1>} : (tensor<i64>, none, tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32> loc("loop")
  return %1 : tensor<4xf32>
}
func.func private @main.body(%i: tensor<i64> {onnx.name = "number of the trip"}, %h: tensor<4xf32> {onnx.name = "h"}, %w: tensor<4xf32> {onnx.name = "relu"}) -> (tensor<i1>, tensor<4xf32>) {
  %one = onnx.Constant() {value = dense<true> : tensor<i1>} : () -> tensor<i1>
  %0 = onnx.Add(%h, %w) : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32> loc("add")
  return %one, %0 : tensor<i1>, tensor<4xf32>
}
