// RUN: cameo-opt %s --split-input-file --mlir-print-debuginfo --pass-pipeline='builtin.module(func.func(cameo-fold-pad-into-window))' > %t
// RUN: FileCheck %s < %t
// RUN: cameo-opt %t --split-input-file --mlir-print-debuginfo --pass-pipeline='builtin.module(func.func(cameo-fold-pad-into-window))' | diff %t -

// CHECK-LABEL: func @conv
// CHECK-NOT: onnx.Pad
// CHECK: onnx.Conv(%arg0, %{{.*}}, %{{.*}}) {pads = array<i64: 1, 3>}
func.func @conv(%x: tensor<1x1x4xf32>) -> tensor<1x1x6xf32> {
  %w = onnx.Constant() {value = dense<1.0> : tensor<1x1x3xf32>} : () -> tensor<1x1x3xf32>
  %pads = onnx.Constant() {value = dense<[0, 0, 1, 0, 0, 2]> : tensor<6xi64>} : () -> tensor<6xi64>
  %zero = onnx.Constant() {value = dense<0.0> : tensor<f32>} : () -> tensor<f32>
  %none = onnx.None() : () -> none
  %0 = onnx.Pad(%x, %pads, %zero, %none) : (tensor<1x1x4xf32>, tensor<6xi64>, tensor<f32>, none) -> tensor<1x1x7xf32>
  %1 = onnx.Conv(%0, %w, %none) {pads = array<i64: 0, 1>} : (tensor<1x1x7xf32>, tensor<1x1x3xf32>, none) -> tensor<1x1x6xf32>
  return %1 : tensor<1x1x6xf32>
}

// -----

// Axes from the end, no value, a size that is known at run time, and pads by name; Pad has another use.
// CHECK-LABEL: func @axes
// CHECK: onnx.Pad
// CHECK: onnx.Conv(%arg0, %{{.*}}, %{{.*}}) {pads = array<i64: 2, 2>}
func.func @axes(%x: tensor<?x1x4xf32>, %w: tensor<1x1x3xf32>) -> (tensor<?x1x6xf32>, tensor<?x1x8xf32>) {
  %pads = onnx.Constant() {value = dense<2> : tensor<2xi64>} : () -> tensor<2xi64>
  %axes = onnx.Constant() {value = dense<-1> : tensor<1xi64>} : () -> tensor<1xi64>
  %none = onnx.None() : () -> none
  %0 = onnx.Pad(%x, %pads, %none, %axes) : (tensor<?x1x4xf32>, tensor<2xi64>, none, tensor<1xi64>) -> tensor<?x1x8xf32>
  %1 = onnx.Conv(%0, %w, %none) {auto_pad = "VALID"} : (tensor<?x1x8xf32>, tensor<1x1x3xf32>, none) -> tensor<?x1x6xf32>
  return %1, %0 : tensor<?x1x6xf32>, tensor<?x1x8xf32>
}

// -----

// CHECK-LABEL: func @pools
// CHECK-NOT: onnx.Pad
// CHECK: onnx.AveragePool(%arg0) {count_include_pad = 1 : i64, kernel_shape = array<i64: 3>, pads = array<i64: 1, 1>}
// CHECK: onnx.MaxPool(%arg0) {kernel_shape = array<i64: 3>, pads = array<i64: 1, 2>}
// CHECK: onnx.MaxPool(%arg1) {kernel_shape = array<i64: 3>, pads = array<i64: 1, 1>}
func.func @pools(%x: tensor<1x1x4xf32>, %i: tensor<1x1x4xi8>) -> (tensor<1x1x4xf32>, tensor<1x1x5xf32>, tensor<1x1x4xi8>) {
  %pads = onnx.Constant() {value = dense<[0, 0, 1, 0, 0, 1]> : tensor<6xi64>} : () -> tensor<6xi64>
  %least = onnx.Constant() {value = dense<0xFF800000> : tensor<f32>} : () -> tensor<f32>
  %byte = onnx.Constant() {value = dense<-128> : tensor<i8>} : () -> tensor<i8>
  %none = onnx.None() : () -> none
  %0 = onnx.Pad(%x, %pads, %none, %none) : (tensor<1x1x4xf32>, tensor<6xi64>, none, none) -> tensor<1x1x6xf32>
  %1 = onnx.AveragePool(%0) {kernel_shape = array<i64: 3>} : (tensor<1x1x6xf32>) -> tensor<1x1x4xf32>
  %2 = onnx.Pad(%x, %pads, %least, %none) : (tensor<1x1x4xf32>, tensor<6xi64>, tensor<f32>, none) -> tensor<1x1x6xf32>
  %3:2 = onnx.MaxPool(%2) {kernel_shape = array<i64: 3>, pads = array<i64: 0, 1>} : (tensor<1x1x6xf32>) -> (tensor<1x1x5xf32>, none)
  %4 = onnx.Pad(%i, %pads, %byte, %none) : (tensor<1x1x4xi8>, tensor<6xi64>, tensor<i8>, none) -> tensor<1x1x6xi8>
  %5:2 = onnx.MaxPool(%4) {kernel_shape = array<i64: 3>} : (tensor<1x1x6xi8>) -> (tensor<1x1x4xi8>, none)
  return %1, %3#0, %5#0 : tensor<1x1x4xf32>, tensor<1x1x5xf32>, tensor<1x1x4xi8>
}

// -----

// Another value, another mode, amounts given at run time or below zero, another dimension, pads that depend on
// the input's size.
// CHECK-LABEL: func @notBeforeConv
// CHECK-COUNT-6: onnx.Pad
// CHECK: return
func.func @notBeforeConv(%x: tensor<1x1x4xf32>, %p: tensor<6xi64>) -> (tensor<1x1x4xf32>, tensor<1x1x4xf32>, tensor<1x1x?xf32>, tensor<1x1x1xf32>, tensor<3x1x2xf32>, tensor<1x1x6xf32>) {
  %w = onnx.Constant() {value = dense<1.0> : tensor<1x1x3xf32>} : () -> tensor<1x1x3xf32>
  %pads = onnx.Constant() {value = dense<[0, 0, 1, 0, 0, 1]> : tensor<6xi64>} : () -> tensor<6xi64>
  %less = onnx.Constant() {value = dense<[0, 0, -1, 0, 0, 0]> : tensor<6xi64>} : () -> tensor<6xi64>
  %batch = onnx.Constant() {value = dense<[1, 0, 0, 1, 0, 0]> : tensor<6xi64>} : () -> tensor<6xi64>
  %one = onnx.Constant() {value = dense<1.0> : tensor<f32>} : () -> tensor<f32>
  %none = onnx.None() : () -> none
  %0 = onnx.Pad(%x, %pads, %one, %none) : (tensor<1x1x4xf32>, tensor<6xi64>, tensor<f32>, none) -> tensor<1x1x6xf32>
  %1 = onnx.Conv(%0, %w, %none) : (tensor<1x1x6xf32>, tensor<1x1x3xf32>, none) -> tensor<1x1x4xf32>
  %2 = onnx.Pad(%x, %pads, %none, %none) {mode = "edge"} : (tensor<1x1x4xf32>, tensor<6xi64>, none, none) -> tensor<1x1x6xf32>
  %3 = onnx.Conv(%2, %w, %none) : (tensor<1x1x6xf32>, tensor<1x1x3xf32>, none) -> tensor<1x1x4xf32>
  %4 = onnx.Pad(%x, %p, %none, %none) : (tensor<1x1x4xf32>, tensor<6xi64>, none, none) -> tensor<1x1x?xf32>
  %5 = onnx.Conv(%4, %w, %none) : (tensor<1x1x?xf32>, tensor<1x1x3xf32>, none) -> tensor<1x1x?xf32>
  %6 = onnx.Pad(%x, %less, %none, %none) : (tensor<1x1x4xf32>, tensor<6xi64>, none, none) -> tensor<1x1x3xf32>
  %7 = onnx.Conv(%6, %w, %none) : (tensor<1x1x3xf32>, tensor<1x1x3xf32>, none) -> tensor<1x1x1xf32>
  %8 = onnx.Pad(%x, %batch, %none, %none) : (tensor<1x1x4xf32>, tensor<6xi64>, none, none) -> tensor<3x1x4xf32>
  %9 = onnx.Conv(%8, %w, %none) : (tensor<3x1x4xf32>, tensor<1x1x3xf32>, none) -> tensor<3x1x2xf32>
  %10 = onnx.Pad(%x, %pads, %none, %none) : (tensor<1x1x4xf32>, tensor<6xi64>, none, none) -> tensor<1x1x6xf32>
  %11 = onnx.Conv(%10, %w, %none) {auto_pad = "SAME_UPPER"} : (tensor<1x1x6xf32>, tensor<1x1x3xf32>, none) -> tensor<1x1x6xf32>
  return %1, %3, %5, %7, %9, %11 : tensor<1x1x4xf32>, tensor<1x1x4xf32>, tensor<1x1x?xf32>, tensor<1x1x1xf32>, tensor<3x1x2xf32>, tensor<1x1x6xf32>
}

// -----

// An average that counts no padding of its own; one, and a maximum, that round up; a window that has nothing of
// the input; indices; zeros before a maximum; the lowest number, which is more than -infinity.
// CHECK-LABEL: func @notBeforePools
// CHECK-COUNT-7: onnx.Pad
// CHECK: return
func.func @notBeforePools(%x: tensor<1x1x4xf32>) -> (tensor<1x1x6xf32>, tensor<1x1x3xf32>, tensor<1x1x3xf32>, tensor<1x1x7xf32>, tensor<1x1x4xi64>, tensor<1x1x4xf32>, tensor<1x1x4xf32>) {
  %pads = onnx.Constant() {value = dense<[0, 0, 1, 0, 0, 1]> : tensor<6xi64>} : () -> tensor<6xi64>
  %wide = onnx.Constant() {value = dense<[0, 0, 2, 0, 0, 2]> : tensor<6xi64>} : () -> tensor<6xi64>
  %least = onnx.Constant() {value = dense<0xFF800000> : tensor<f32>} : () -> tensor<f32>
  %lowest = onnx.Constant() {value = dense<0xFF7FFFFF> : tensor<f32>} : () -> tensor<f32>
  %none = onnx.None() : () -> none
  %0 = onnx.Pad(%x, %pads, %none, %none) : (tensor<1x1x4xf32>, tensor<6xi64>, none, none) -> tensor<1x1x6xf32>
  %1 = onnx.AveragePool(%0) {kernel_shape = array<i64: 3>, pads = array<i64: 1, 1>} : (tensor<1x1x6xf32>) -> tensor<1x1x6xf32>
  %2 = onnx.Pad(%x, %pads, %none, %none) : (tensor<1x1x4xf32>, tensor<6xi64>, none, none) -> tensor<1x1x6xf32>
  %3 = onnx.AveragePool(%2) {ceil_mode = 1 : i64, kernel_shape = array<i64: 3>, strides = array<i64: 2>} : (tensor<1x1x6xf32>) -> tensor<1x1x3xf32>
  %4 = onnx.Pad(%x, %pads, %least, %none) : (tensor<1x1x4xf32>, tensor<6xi64>, tensor<f32>, none) -> tensor<1x1x6xf32>
  %5:2 = onnx.MaxPool(%4) {ceil_mode = 1 : i64, kernel_shape = array<i64: 3>, strides = array<i64: 2>} : (tensor<1x1x6xf32>) -> (tensor<1x1x3xf32>, none)
  %6 = onnx.Pad(%x, %wide, %least, %none) : (tensor<1x1x4xf32>, tensor<6xi64>, tensor<f32>, none) -> tensor<1x1x8xf32>
  %7:2 = onnx.MaxPool(%6) {kernel_shape = array<i64: 2>} : (tensor<1x1x8xf32>) -> (tensor<1x1x7xf32>, none)
  %8 = onnx.Pad(%x, %pads, %least, %none) : (tensor<1x1x4xf32>, tensor<6xi64>, tensor<f32>, none) -> tensor<1x1x6xf32>
  %9:2 = onnx.MaxPool(%8) {kernel_shape = array<i64: 3>} : (tensor<1x1x6xf32>) -> (tensor<1x1x4xf32>, tensor<1x1x4xi64>)
  %10 = onnx.Pad(%x, %pads, %none, %none) : (tensor<1x1x4xf32>, tensor<6xi64>, none, none) -> tensor<1x1x6xf32>
  %11:2 = onnx.MaxPool(%10) {kernel_shape = array<i64: 3>} : (tensor<1x1x6xf32>) -> (tensor<1x1x4xf32>, none)
  %12 = onnx.Pad(%x, %pads, %lowest, %none) : (tensor<1x1x4xf32>, tensor<6xi64>, tensor<f32>, none) -> tensor<1x1x6xf32>
  %13:2 = onnx.MaxPool(%12) {kernel_shape = array<i64: 3>} : (tensor<1x1x6xf32>) -> (tensor<1x1x4xf32>, none)
  return %1, %3, %5#0, %7#0, %9#1, %11#0, %13#0 : tensor<1x1x6xf32>, tensor<1x1x3xf32>, tensor<1x1x3xf32>, tensor<1x1x7xf32>, tensor<1x1x4xi64>, tensor<1x1x4xf32>, tensor<1x1x4xf32>
}
