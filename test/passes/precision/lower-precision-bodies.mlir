// Types of inputs and outputs are those of the model's entry: what goes into a body and out of it has the model's.
// RUN: cameo-opt %s --pass-pipeline='builtin.module(cameo-lower-precision{precision=fp16 io=fp16})' | FileCheck %s

// CHECK: func @main(%arg0: tensor<2x2xf16> {{.*}}, %arg1: tensor<i1> {{.*}}) -> (tensor<2x2xf16>
// CHECK: %[[X:.*]] = onnx.Cast(%arg0) {{.*}} -> tensor<2x2xf32>
// CHECK: onnx.CallIf(%arg1, %[[X]]) {{.*}} : (tensor<i1>, tensor<2x2xf32>) -> tensor<2x2xf32>
// CHECK: func private @main.then(%arg0: tensor<2x2xf32> {{.*}}) -> tensor<2x2xf32>
// CHECK: func private @main.else(%arg0: tensor<2x2xf32> {{.*}}) -> tensor<2x2xf32>
func.func @main(%x: tensor<2x2xf32> {onnx.name = "x"}, %c: tensor<i1> {onnx.name = "c"}) -> (tensor<2x2xf32> {onnx.name = "y"}) {
  %0 = onnx.CallIf(%c, %x) {else_branch = @main.else, sizes = array<i64: -1, -1, -1, -1>, then_branch = @main.then} : (tensor<i1>, tensor<2x2xf32>) -> tensor<2x2xf32>
  return %0 : tensor<2x2xf32>
}
func.func private @main.then(%x: tensor<2x2xf32> {onnx.dims = [2, 2], onnx.name = "x"}) -> tensor<2x2xf32> {
  %0 = onnx.MatMul(%x, %x) : (tensor<2x2xf32>, tensor<2x2xf32>) -> tensor<2x2xf32>
  return %0 : tensor<2x2xf32>
}
func.func private @main.else(%x: tensor<2x2xf32> {onnx.dims = [2, 2], onnx.name = "x"}) -> tensor<2x2xf32> {
  return %x : tensor<2x2xf32>
}
