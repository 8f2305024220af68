// RUN: cameo-opt %s --split-input-file --pass-pipeline='builtin.module(cameo-lower-onnx-to-dispatches,func.func(cameo-place-concatenations),cameo-report-decisions)' -o /dev/null 2>&1 | FileCheck %s

// Each part that has its place, and each that is copied.
// CHECK: remark: loc("relu"): written where it belongs in 'cat'; it saves 48 B of memory traffic
// CHECK-NEXT: remark: loc("cat"): part 1 is copied: it is an input; it would save 80 B of memory traffic
// CHECK-NEXT: remark: loc("cat"): part 2 is copied: it is a constant; it would save 48 B of memory traffic
// CHECK-NEXT: remark: loc("neg"): written where it belongs in 'second'
// CHECK-NEXT: remark: loc("second"): part 1 is copied: it has its place in another concatenation, or in this one
func.func @main(%x: tensor<2x3xf32>, %y: tensor<2x5xf32>) -> (tensor<2x11xf32>, tensor<2x6xf32>) {
  %c = onnx.Constant() {value = dense<[[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]]> : tensor<2x3xf32>} : () -> tensor<2x3xf32>
  %0 = onnx.Relu(%x) : (tensor<2x3xf32>) -> tensor<2x3xf32> loc("relu")
  %1 = onnx.Concat(%0, %y, %c) {axis = 1 : i64} : (tensor<2x3xf32>, tensor<2x5xf32>, tensor<2x3xf32>) -> tensor<2x11xf32> loc("cat")
  %2 = onnx.Neg(%x) : (tensor<2x3xf32>) -> tensor<2x3xf32> loc("neg")
  %3 = onnx.Concat(%2, %0) {axis = 1 : i64} : (tensor<2x3xf32>, tensor<2x3xf32>) -> tensor<2x6xf32> loc("second")
  return %1, %3 : tensor<2x11xf32>, tensor<2x6xf32>
}

// -----

// CHECK-NEXT: remark: loc("cat"): part 0 is copied: it is needed in memory of its own, as outputs are; it would save 48 B of memory traffic
// CHECK-NEXT: remark: loc("neg"): written where it belongs in 'cat'
func.func @output(%x: tensor<2x3xf32>) -> (tensor<2x3xf32>, tensor<2x6xf32>) {
  %0 = onnx.Relu(%x) : (tensor<2x3xf32>) -> tensor<2x3xf32> loc("relu")
  %1 = onnx.Neg(%x) : (tensor<2x3xf32>) -> tensor<2x3xf32> loc("neg")
  %2 = onnx.Concat(%0, %1) {axis = 1 : i64} : (tensor<2x3xf32>, tensor<2x3xf32>) -> tensor<2x6xf32> loc("cat")
  return %0, %2 : tensor<2x3xf32>, tensor<2x6xf32>
}

// -----

// A part that is written in another shape has a place behind parts whose sizes are its own, and none behind those whose
// sizes only a check compares.
// CHECK-NEXT: remark: loc("cat"): part 0 is copied: it is an input
// CHECK-NEXT: remark: loc("grouped"): written where it belongs in 'cat'
// CHECK-NEXT: remark: loc("unlike"): part 0 is copied: it is an input
// CHECK-NEXT: remark: loc("unlike"): part 1 is copied: its sizes are not known to be those of the others
// CHECK-NOT: remark
func.func @reshaped(%x: tensor<?x4x2x8xf32>, %y: tensor<?x4x2x8xf32>) -> (tensor<?x8x2x8xf32>, tensor<?x8x2x8xf32>) {
  %none = onnx.None() : () -> none
  %w = onnx.Constant() {value = dense<2.0> : tensor<4x1x1x1xf32>} : () -> tensor<4x1x1x1xf32>
  %0 = onnx.Conv(%x, %w, %none) {group = 4 : i64} : (tensor<?x4x2x8xf32>, tensor<4x1x1x1xf32>, none) -> tensor<?x4x2x8xf32> loc("grouped")
  %1 = onnx.Concat(%x, %0) {axis = 1 : i64} : (tensor<?x4x2x8xf32>, tensor<?x4x2x8xf32>) -> tensor<?x8x2x8xf32> loc("cat")
  %2 = onnx.Conv(%x, %w, %none) {group = 4 : i64} : (tensor<?x4x2x8xf32>, tensor<4x1x1x1xf32>, none) -> tensor<?x4x2x8xf32> loc("second")
  %3 = onnx.Concat(%y, %2) {axis = 1 : i64} : (tensor<?x4x2x8xf32>, tensor<?x4x2x8xf32>) -> tensor<?x8x2x8xf32> loc("unlike")
  return %1, %3 : tensor<?x8x2x8xf32>, tensor<?x8x2x8xf32>
}
