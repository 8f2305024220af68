// RUN: %cameo-opt %s --pass-pipeline='builtin.module(cameo-place-taps{values=spl*})' | FileCheck %s

// A later result that is cast does not become the first one.
// CHECK-LABEL: func.func @later
// CHECK-SAME: tensor<2xf16> {onnx.dims = [2], onnx.name = "split", rt.tap}, tensor<2xf16> {onnx.dims = [2], onnx.name = "split:1", rt.tap})
func.func @later(%a: tensor<4xf16>) -> tensor<2xf32> {
  %none = onnx.None() : () -> none
  // CHECK: %[[SPLIT:.*]]:2 = onnx.Split
  %0:2 = onnx.Split(%a, %none) {axis = 0, num_outputs = 2} : (tensor<4xf16>, none) -> (tensor<2xf16>, tensor<2xf16>) loc("split")
  // CHECK: %[[OUT:.*]] = onnx.Cast
  %1 = onnx.Cast(%0#1) {to = 1} : (tensor<2xf16>) -> tensor<2xf32> loc("split")
  // CHECK: return %[[OUT]], %[[SPLIT]]#0, %[[SPLIT]]#1
  return %1 : tensor<2xf32>
}
