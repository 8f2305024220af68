// RUN: cameo-opt %s --pass-pipeline='builtin.module(func.func(cameo-infer-shapes,cameo-infer-shapes),cameo-report-decisions)' -o /dev/null 2>&1 | FileCheck %s

// What is believed of shapes, and what follows from them.
// CHECK: remark: loc("random"): given the shape that the model declares
// CHECK-NEXT: remark: loc("size"): folded to a constant: known sizes make it
// CHECK-NOT: remark
func.func @main(%x: tensor<?x3xf32>) -> (tensor<2x5xf32>, tensor<*xi64>, tensor<*xf32>) {
  %axis = onnx.Constant() {value = dense<1> : tensor<1xi64>} : () -> tensor<1xi64>
  %0 = onnx.Custom(%x) {domain = "d", op_type = "Op", version = 1 : i64, onnx_attributes = {}} : (tensor<?x3xf32>) -> tensor<2x5xf32> loc("random")
  %1 = onnx.Shape(%x) : (tensor<?x3xf32>) -> tensor<*xi64> loc("shape")
  %2 = onnx.Gather(%1, %axis) : (tensor<*xi64>, tensor<1xi64>) -> tensor<*xi64> loc("size")
  %3 = onnx.Relu(%x) : (tensor<?x3xf32>) -> tensor<*xf32> loc("relu")
  return %0, %2, %3 : tensor<2x5xf32>, tensor<*xi64>, tensor<*xf32>
}
