// Nodes of copies have names of their own, that end in the trips' numbers.
// RUN: cameo-opt %s --pass-pipeline='builtin.module(cameo-fold-control-flow)' --mlir-print-debuginfo | FileCheck %s

// CHECK: onnx.Exp({{.*}} loc(#[[A:.*]])
// CHECK: onnx.Neg({{.*}} loc(#[[C:.*]])
// CHECK: onnx.Exp({{.*}} loc(#[[B:.*]])
// CHECK: onnx.Neg({{.*}} loc(#[[D:.*]])
// CHECK-DAG: #[[A]] = loc("step/0"
// CHECK-DAG: #[[B]] = loc("step/1_1"
// CHECK-DAG: #[[C]] = loc("inner/0/0"
// CHECK-DAG: #[[D]] = loc("inner/1/0"
func.func @Names(%x: tensor<3xf32>) -> tensor<*xf32> {
  %none = onnx.None() : () -> none
  %one = onnx.Constant() {value = dense<1> : tensor<i64>} : () -> tensor<i64>
  %two = onnx.Constant() {value = dense<2> : tensor<i64>} : () -> tensor<i64>
  %taken = onnx.Abs(%x) : (tensor<3xf32>) -> tensor<*xf32> loc("step/1")
  %0 = onnx.Loop(%two, %none, %taken) ({
  ^bb0(%i: tensor<i64>, %c: tensor<i1>, %v: tensor<*xf32>):
    %1 = onnx.Exp(%v) : (tensor<*xf32>) -> tensor<*xf32> loc("step")
    %2 = onnx.Loop(%one, %none, %1) ({
    ^bb0(%j: tensor<i64>, %d: tensor<i1>, %u: tensor<*xf32>):
      %3 = onnx.Neg(%u) : (tensor<*xf32>) -> tensor<*xf32> loc("inner")
      onnx.Yield(%d, %3) : (tensor<i1>, tensor<*xf32>) -> ()
    }) : (tensor<i64>, none, tensor<*xf32>) -> tensor<*xf32> loc("loop2")
    onnx.Yield(%c, %2) : (tensor<i1>, tensor<*xf32>) -> ()
  }) : (tensor<i64>, none, tensor<*xf32>) -> tensor<*xf32> loc("loop")
  return %0 : tensor<*xf32>
}
