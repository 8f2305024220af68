// RUN: cameo-opt %s --pass-pipeline='builtin.module(cameo-lower-onnx-to-dispatches,func.func(cameo-fuse-dispatches),cameo-report-decisions)' -o /dev/null 2>&1 | FileCheck %s

// Every pair that became one, and every one that did not.
// CHECK: remark: loc("relu"): fused with 'product'; it saves 8192 B of memory traffic
// CHECK-NEXT: remark: loc("second"): not fused with 'product': one kernel cannot compute both; it would save 8192 B of memory traffic
// CHECK-NOT: remark
func.func @main(%x: tensor<32x32xf32>, %w: tensor<32x32xf32>) -> tensor<32x32xf32> {
  %0 = onnx.MatMul(%x, %w) : (tensor<32x32xf32>, tensor<32x32xf32>) -> tensor<32x32xf32> loc("product")
  %1 = onnx.Relu(%0) : (tensor<32x32xf32>) -> tensor<32x32xf32> loc("relu")
  %2 = onnx.MatMul(%1, %w) : (tensor<32x32xf32>, tensor<32x32xf32>) -> tensor<32x32xf32> loc("second")
  return %2 : tensor<32x32xf32>
}
