// RUN: cameo-opt %s --split-input-file --pass-pipeline='builtin.module(func.func(cameo-fold-constants))' | FileCheck %s

// Equal elements in their order, and a NaN before all numbers.
// CHECK-LABEL: func @TopK
// CHECK-DAG: dense<[0x7FC00000, 3.000000e+00, 3.000000e+00]> : tensor<3xf32>
// CHECK-DAG: dense<[3, 0, 2]> : tensor<3xi64>
// CHECK-NOT: onnx.TopK
func.func @TopK() -> (tensor<3xf32>, tensor<3xi64>) {
  %x = onnx.Constant() {value = dense<[3.0, 1.0, 3.0, 0x7FC00000]> : tensor<4xf32>} : () -> tensor<4xf32>
  %k = onnx.Constant() {value = dense<3> : tensor<1xi64>} : () -> tensor<1xi64>
  %v, %i = onnx.TopK(%x, %k) : (tensor<4xf32>, tensor<1xi64>) -> (tensor<3xf32>, tensor<3xi64>)
  return %v, %i : tensor<3xf32>, tensor<3xi64>
}

// -----

// More than there are.
// CHECK-LABEL: func @TopKOfTooFew
// CHECK: onnx.TopK
func.func @TopKOfTooFew() -> (tensor<5xf32>, tensor<5xi64>) {
  %x = onnx.Constant() {value = dense<[3.0, 1.0, 3.0, 2.0]> : tensor<4xf32>} : () -> tensor<4xf32>
  %k = onnx.Constant() {value = dense<5> : tensor<1xi64>} : () -> tensor<1xi64>
  %v, %i = onnx.TopK(%x, %k) : (tensor<4xf32>, tensor<1xi64>) -> (tensor<5xf32>, tensor<5xi64>)
  return %v, %i : tensor<5xf32>, tensor<5xi64>
}

// -----

// CHECK-LABEL: func @NonZero
// CHECK: dense<{{\[\[}}0, 1], [1, 0]]> : tensor<2x2xi64>
// CHECK-NOT: onnx.NonZero
func.func @NonZero() -> tensor<2x?xi64> {
  %x = onnx.Constant() {value = dense<[[0, 5], [-1, 0]]> : tensor<2x2xi32>} : () -> tensor<2x2xi32>
  %0 = onnx.NonZero(%x) : (tensor<2x2xi32>) -> tensor<2x?xi64>
  return %0 : tensor<2x?xi64>
}

// -----

// A scalar has no dimension to count along: there is a place, of no coordinates.
// CHECK-LABEL: func @NonZeroOfScalar
// CHECK: dense<> : tensor<0x1xi64>
// CHECK-NOT: onnx.NonZero
func.func @NonZeroOfScalar() -> tensor<*xi64> {
  %x = onnx.Constant() {value = dense<1> : tensor<i32>} : () -> tensor<i32>
  %0 = onnx.NonZero(%x) : (tensor<i32>) -> tensor<*xi64>
  return %0 : tensor<*xi64>
}

// -----

// CHECK-LABEL: func @Compress
// CHECK: dense<{{\[\[}}1.000000e+00], [3.000000e+00]]> : tensor<2x1xf32>
// CHECK-NOT: onnx.Compress
func.func @Compress() -> tensor<2x?xf32> {
  %x = onnx.Constant() {value = dense<[[1.0, 2.0], [3.0, 4.0]]> : tensor<2x2xf32>} : () -> tensor<2x2xf32>
  %c = onnx.Constant() {value = dense<true> : tensor<1xi1>} : () -> tensor<1xi1>
  %0 = onnx.Compress(%x, %c) {axis = -1 : i64} : (tensor<2x2xf32>, tensor<1xi1>) -> tensor<2x?xf32>
  return %0 : tensor<2x?xf32>
}

// -----

// In the order of their first occurrence; a result that the node leaves out stays away.
// CHECK-LABEL: func @Unique
// CHECK-DAG: dense<[7, 3]> : tensor<2xi32>
// CHECK-DAG: dense<[0, 1, 0]> : tensor<3xi64>
// CHECK-NOT: onnx.Unique
func.func @Unique() -> (tensor<?xi32>, tensor<?xi64>) {
  %x = onnx.Constant() {value = dense<[7, 3, 7]> : tensor<3xi32>} : () -> tensor<3xi32>
  %y, %i, %r, %c = onnx.Unique(%x) {sorted = 0 : i64} : (tensor<3xi32>) -> (tensor<?xi32>, none, tensor<?xi64>, none)
  return %y, %r : tensor<?xi32>, tensor<?xi64>
}

// -----

// Updates one after another, with an index from the end.
// CHECK-LABEL: func @Scatter
// CHECK-DAG: dense<[0, 5, 4]> : tensor<3xi64>
// CHECK-DAG: dense<[0, 6, 0]> : tensor<3xi64>
// CHECK-NOT: onnx.Scatter
func.func @Scatter() -> (tensor<3xi64>, tensor<3xi64>) {
  %x = onnx.Constant() {value = dense<0> : tensor<3xi64>} : () -> tensor<3xi64>
  %i = onnx.Constant() {value = dense<[1, -1, 1]> : tensor<3xi64>} : () -> tensor<3xi64>
  %u = onnx.Constant() {value = dense<[3, 4, 5]> : tensor<3xi64>} : () -> tensor<3xi64>
  %rows = onnx.Constant() {value = dense<[[1], [1]]> : tensor<2x1xi64>} : () -> tensor<2x1xi64>
  %two = onnx.Constant() {value = dense<[2, 4]> : tensor<2xi64>} : () -> tensor<2xi64>
  %0 = onnx.ScatterElements(%x, %i, %u) : (tensor<3xi64>, tensor<3xi64>, tensor<3xi64>) -> tensor<3xi64>
  %1 = onnx.ScatterND(%x, %rows, %two) {reduction = "add"} : (tensor<3xi64>, tensor<2x1xi64>, tensor<2xi64>) -> tensor<3xi64>
  return %0, %1 : tensor<3xi64>, tensor<3xi64>
}

// -----

// CHECK-LABEL: func @ScatterBeyond
// CHECK: onnx.ScatterElements
func.func @ScatterBeyond() -> tensor<3xi64> {
  %x = onnx.Constant() {value = dense<0> : tensor<3xi64>} : () -> tensor<3xi64>
  %i = onnx.Constant() {value = dense<[3]> : tensor<1xi64>} : () -> tensor<1xi64>
  %0 = onnx.ScatterElements(%x, %i, %i) : (tensor<3xi64>, tensor<1xi64>, tensor<1xi64>) -> tensor<3xi64>
  return %0 : tensor<3xi64>
}

// -----

// CHECK-LABEL: func @Gathers
// CHECK-DAG: dense<[4, 1]> : tensor<2xi64>
// CHECK-DAG: dense<2> : tensor<1xi64>
// CHECK-NOT: onnx.Gather
func.func @Gathers() -> (tensor<2xi64>, tensor<1xi64>) {
  %x = onnx.Constant() {value = dense<[1, 2, 4]> : tensor<3xi64>} : () -> tensor<3xi64>
  %i = onnx.Constant() {value = dense<[-1, 0]> : tensor<2xi64>} : () -> tensor<2xi64>
  %n = onnx.Constant() {value = dense<[[-2]]> : tensor<1x1xi64>} : () -> tensor<1x1xi64>
  %0 = onnx.GatherElements(%x, %i) : (tensor<3xi64>, tensor<2xi64>) -> tensor<2xi64>
  %1 = onnx.GatherND(%x, %n) : (tensor<3xi64>, tensor<1x1xi64>) -> tensor<1xi64>
  return %0, %1 : tensor<2xi64>, tensor<1xi64>
}

// -----

// The second box overlaps the first by more than half, the third does not.
// CHECK-LABEL: func @NonMaxSuppression
// CHECK: dense<{{\[\[}}0, 0, 0], [0, 0, 2]]> : tensor<2x3xi64>
// CHECK-NOT: onnx.NonMaxSuppression
func.func @NonMaxSuppression() -> tensor<?x3xi64> {
  %none = onnx.None() : () -> none
  %boxes = onnx.Constant() {value = dense<[[[0.0, 0.0, 1.0, 1.0], [0.0, 0.1, 1.0, 1.1], [0.0, 5.0, 1.0, 6.0]]]> : tensor<1x3x4xf32>} : () -> tensor<1x3x4xf32>
  %scores = onnx.Constant() {value = dense<[[[0.9, 0.8, 0.7]]]> : tensor<1x1x3xf32>} : () -> tensor<1x1x3xf32>
  %most = onnx.Constant() {value = dense<3> : tensor<i64>} : () -> tensor<i64>
  %share = onnx.Constant() {value = dense<0.5> : tensor<f32>} : () -> tensor<f32>
  %0 = onnx.NonMaxSuppression(%boxes, %scores, %most, %share, %none) : (tensor<1x3x4xf32>, tensor<1x1x3xf32>, tensor<i64>, tensor<f32>, none) -> tensor<?x3xi64>
  return %0 : tensor<?x3xi64>
}
