// RUN: cameo-opt %s --split-input-file --cameo-assign-body-names --mlir-print-debuginfo --mlir-print-local-scope > %t
// RUN: FileCheck %s < %t
// RUN: cameo-opt %s --split-input-file --pass-pipeline='builtin.module(cameo-assign-body-names,cameo-assign-body-names)' --mlir-print-debuginfo --mlir-print-local-scope | diff %t -

// What a body captures is called as in the caller, what is carried as nothing else is, and so are nodes. Constants are
// copied into functions, and steps of one node have one name.
// CHECK-LABEL: func.func @main
// CHECK: onnx.CallLoop({{.*}} loc("loop")
// CHECK-LABEL: func.func private @main.body(
// CHECK-SAME: tensor<i64> {onnx.name = "trip"}
// CHECK-SAME: tensor<4xf32> {onnx.name = "x_1"}
// CHECK-SAME: tensor<4xf32> {onnx.name = "relu"}
// CHECK: onnx.Constant{{.*}} loc("one")
// CHECK: onnx.Neg{{.*}} loc("loop_1")
// CHECK: onnx.Add{{.*}} loc("loop_1")
// CHECK: onnx.Exp{{.*}} loc("own")
func.func @main(%n: tensor<i64> {onnx.name = "n"}, %x: tensor<4xf32> {onnx.name = "x"}) -> tensor<4xf32> {
  %none = onnx.None() : () -> none
  %one = onnx.Constant() {value = dense<true> : tensor<i1>} : () -> tensor<i1> loc("one")
  %0 = onnx.Relu(%x) : (tensor<4xf32>) -> tensor<4xf32> loc("relu")
  %1 = onnx.CallLoop(%n, %none, %x, %0) {body = @main.body, carried = 1 : i64, sizes = array<i64: -1, -1>} : (tensor<i64>, none, tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32> loc("loop")
  return %1 : tensor<4xf32>
}
func.func private @main.body(%i: tensor<i64> {onnx.name = "trip"}, %h: tensor<4xf32> {onnx.name = "x"}, %w: tensor<4xf32> {onnx.name = "before"}) -> (tensor<i1>, tensor<4xf32>) {
  %one = onnx.Constant() {value = dense<true> : tensor<i1>} : () -> tensor<i1> loc("one")
  %0 = onnx.Neg(%h) : (tensor<4xf32>) -> tensor<4xf32> loc("loop")
  %1 = onnx.Add(%0, %w) : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32> loc("loop")
  %2 = onnx.Exp(%1) : (tensor<4xf32>) -> tensor<4xf32> loc("own")
  return %one, %2 : tensor<i1>, tensor<4xf32>
}

// -----

// Captures of captures, and values without names.
// CHECK-LABEL: func.func private @main.then(
// CHECK-SAME: {onnx.name = "x"}
// CHECK-LABEL: func.func private @main.inner(
// CHECK-SAME: {onnx.name = "inner.carried"}{{.*}}{onnx.name = "x"}
func.func @main(%c: tensor<i1> {onnx.name = "c"}, %n: tensor<i64> {onnx.name = "n"}, %x: tensor<4xf32> {onnx.name = "x"}) -> tensor<4xf32> {
  %0 = onnx.CallIf(%c, %x, %n) {then_branch = @main.then, else_branch = @main.else, sizes = array<i64: -1, -1>} : (tensor<i1>, tensor<4xf32>, tensor<i64>) -> tensor<4xf32> loc("if")
  return %0 : tensor<4xf32>
}
func.func private @main.then(%x: tensor<4xf32> {onnx.name = "a"}, %n: tensor<i64> {onnx.name = "b"}) -> tensor<4xf32> {
  %none = onnx.None() : () -> none
  %0 = onnx.CallLoop(%n, %none, %x, %x) {body = @main.inner, carried = 1 : i64, sizes = array<i64: -1, -1>} : (tensor<i64>, none, tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32> loc("inner")
  return %0 : tensor<4xf32>
}
func.func private @main.else(%x: tensor<4xf32> {onnx.name = "a"}, %n: tensor<i64> {onnx.name = "b"}) -> tensor<4xf32> {
  return %x : tensor<4xf32>
}
func.func private @main.inner(%i: tensor<i64>, %h: tensor<4xf32>, %w: tensor<4xf32>) -> (tensor<i1>, tensor<4xf32>) {
  %one = onnx.Constant() {value = dense<true> : tensor<i1>} : () -> tensor<i1>
  %0 = onnx.Add(%h, %w) : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32> loc("add")
  return %one, %0 : tensor<i1>, tensor<4xf32>
}
