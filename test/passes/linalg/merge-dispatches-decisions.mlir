// RUN: cameo-opt %s --pass-pipeline='builtin.module(cameo-lower-onnx-to-dispatches,func.func(cameo-merge-dispatches,cameo-merge-dispatches),cameo-report-decisions)' -o /dev/null 2>&1 | FileCheck %s

// Of equal nodes the first stands for the others; what else is merged is not a node.
// CHECK: remark: loc("second"): merged with 'first', an equal dispatch
// CHECK-NEXT: remark: loc("after"): merged with 'before', an equal dispatch
// CHECK-NOT: remark
func.func @main(%x: tensor<?xf32>) -> (tensor<?xf32>, tensor<?xf32>) {
  %0 = onnx.Sqrt(%x) : (tensor<?xf32>) -> tensor<?xf32> loc("first")
  %1 = onnx.Sqrt(%x) : (tensor<?xf32>) -> tensor<?xf32> loc("second")
  %2 = onnx.Abs(%0) : (tensor<?xf32>) -> tensor<?xf32> loc("before")
  %3 = onnx.Abs(%1) : (tensor<?xf32>) -> tensor<?xf32> loc("after")
  return %2, %3 : tensor<?xf32>, tensor<?xf32>
}
