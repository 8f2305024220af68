// RUN: cameo-opt %s --split-input-file --pass-pipeline='builtin.module(func.func(cameo-sink-data-movement))' > %t
// RUN: FileCheck %s < %t
// RUN: cameo-opt %t --split-input-file --pass-pipeline='builtin.module(func.func(cameo-sink-data-movement))' | diff %t -

// A diamond, a number, and a constant of one number a column.
// CHECK-LABEL: func @cancels
// CHECK: %[[C:.*]] = onnx.Constant() {value = dense<{{\[}}[1.000000e+00], [2.000000e+00], [3.000000e+00]]> : tensor<3x1xf32>}
// CHECK: %[[S:.*]] = onnx.Sigmoid(%arg0) {onnx.dims = {{\[}}[3, 2]]} : (tensor<3x2xf32>) -> tensor<3x2xf32>
// CHECK: %[[M:.*]] = onnx.Mul(%arg0, %[[S]])
// CHECK: %[[H:.*]] = onnx.Mul(%[[M]], %{{.*}}) : (tensor<3x2xf32>, tensor<1xf32>) -> tensor<3x2xf32>
// CHECK: %[[A:.*]] = onnx.Add(%[[H]], %[[C]])
// CHECK-NOT: onnx.Transpose
// CHECK: return %[[A]]
func.func @cancels(%x: tensor<3x2xf32>) -> tensor<3x2xf32> {
  %half = onnx.Constant() {value = dense<0.5> : tensor<1xf32>} : () -> tensor<1xf32>
  %c = onnx.Constant() {value = dense<[1.0, 2.0, 3.0]> : tensor<3xf32>} : () -> tensor<3xf32>
  %0 = onnx.Transpose(%x) {perm = array<i64: 1, 0>} : (tensor<3x2xf32>) -> tensor<2x3xf32>
  %1 = onnx.Sigmoid(%0) {onnx.dims = [[2, 3]]} : (tensor<2x3xf32>) -> tensor<2x3xf32>
  %2 = onnx.Mul(%0, %1) : (tensor<2x3xf32>, tensor<2x3xf32>) -> tensor<2x3xf32>
  %3 = onnx.Mul(%2, %half) : (tensor<2x3xf32>, tensor<1xf32>) -> tensor<2x3xf32>
  %4 = onnx.Add(%3, %c) : (tensor<2x3xf32>, tensor<3xf32>) -> tensor<2x3xf32>
  %5 = onnx.Transpose(%4) : (tensor<2x3xf32>) -> tensor<3x2xf32>
  return %5 : tensor<3x2xf32>
}

// -----

// Two become one; a size is known at run time.
// CHECK-LABEL: func @joins
// CHECK: %[[A:.*]] = onnx.Add(%arg0, %arg1) {onnx.dims = {{\[}}["N", 2, 3]]} : (tensor<?x2x3xf32>, tensor<?x2x3xf32>) -> tensor<?x2x3xf32>
// CHECK-NEXT: %[[T:.*]] = onnx.Transpose(%[[A]]) {onnx.dims = {{\[}}[3, "N", 2]], perm = array<i64: 2, 0, 1>} : (tensor<?x2x3xf32>) -> tensor<3x?x2xf32>
// CHECK-NEXT: return %[[T]]
func.func @joins(%x: tensor<?x2x3xf32> {onnx.dims = ["N", 2, 3]}, %y: tensor<?x2x3xf32> {onnx.dims = ["N", 2, 3]}) -> tensor<3x?x2xf32> {
  %0 = onnx.Transpose(%x) {perm = array<i64: 2, 0, 1>, onnx.dims = [[3, "N", 2]]} : (tensor<?x2x3xf32>) -> tensor<3x?x2xf32>
  %1 = onnx.Transpose(%y) {perm = array<i64: 2, 0, 1>, onnx.dims = [[3, "N", 2]]} : (tensor<?x2x3xf32>) -> tensor<3x?x2xf32>
  %2 = onnx.Add(%0, %1) {onnx.dims = [[3, "N", 2]]} : (tensor<3x?x2xf32>, tensor<3x?x2xf32>) -> tensor<3x?x2xf32>
  return %2 : tensor<3x?x2xf32>
}

// -----

// Unlike ones become one that is both; what is not transposed is, where two others go.
// CHECK-LABEL: func @merges
// CHECK: %[[S:.*]] = onnx.Transpose(%arg1) {onnx.dims = {{\[}}[2, 3]], perm = array<i64: 1, 0>}
// CHECK: %[[R:.*]] = onnx.Relu(%arg0)
// CHECK-NEXT: %[[T:.*]] = onnx.Transpose(%[[R]]) {perm = array<i64: 2, 0, 1>}
// CHECK: %[[A:.*]] = onnx.Add(%arg2, %[[S]])
// CHECK: %[[N:.*]] = onnx.Neg(%[[A]])
// CHECK-NEXT: return %[[T]], %[[N]]
func.func @merges(%x: tensor<2x3x4xf32>, %y: tensor<3x2xf32>, %z: tensor<2x3xf32>) -> (tensor<4x2x3xf32>, tensor<2x3xf32>) {
  %0 = onnx.Transpose(%x) {perm = array<i64: 1, 2, 0>} : (tensor<2x3x4xf32>) -> tensor<3x4x2xf32>
  %1 = onnx.Relu(%0) : (tensor<3x4x2xf32>) -> tensor<3x4x2xf32>
  %2 = onnx.Transpose(%1) {perm = array<i64: 1, 2, 0>} : (tensor<3x4x2xf32>) -> tensor<4x2x3xf32>
  %3 = onnx.Transpose(%z) {perm = array<i64: 1, 0>} : (tensor<2x3xf32>) -> tensor<3x2xf32>
  %4 = onnx.Add(%3, %y) : (tensor<3x2xf32>, tensor<3x2xf32>) -> tensor<3x2xf32>
  %5 = onnx.Neg(%4) : (tensor<3x2xf32>) -> tensor<3x2xf32>
  %6 = onnx.Transpose(%5) {perm = array<i64: 1, 0>} : (tensor<3x2xf32>) -> tensor<2x3xf32>
  return %2, %6 : tensor<4x2x3xf32>, tensor<2x3xf32>
}

// -----

// One in, one out of another kind of use: nothing would be gained. A transpose that others read stays, so that
// no second one comes. An operand of another rank. Something that does not compute element by element.
// CHECK-LABEL: func @stays
// CHECK: %[[T:.*]] = onnx.Transpose(%arg0)
// CHECK: %[[R:.*]] = onnx.Relu(%[[T]])
// CHECK: onnx.Neg(%[[T]])
// CHECK: %[[U:.*]] = onnx.Transpose(%arg0)
// CHECK: %[[A:.*]] = onnx.Add(%[[U]], %arg1)
// CHECK: onnx.Transpose(%[[A]])
// CHECK: %[[V:.*]] = onnx.Transpose(%arg0)
// CHECK: %[[S:.*]] = onnx.Softmax(%[[V]])
// CHECK: onnx.Transpose(%[[S]])
func.func @stays(%x: tensor<2x3xf32>, %row: tensor<2xf32>) -> (tensor<3x2xf32>, tensor<3x2xf32>, tensor<3x2xf32>, tensor<2x3xf32>, tensor<2x3xf32>) {
  %0 = onnx.Transpose(%x) {perm = array<i64: 1, 0>} : (tensor<2x3xf32>) -> tensor<3x2xf32>
  %1 = onnx.Relu(%0) : (tensor<3x2xf32>) -> tensor<3x2xf32>
  %2 = onnx.Neg(%0) : (tensor<3x2xf32>) -> tensor<3x2xf32>
  %3 = onnx.Transpose(%x) {perm = array<i64: 1, 0>} : (tensor<2x3xf32>) -> tensor<3x2xf32>
  %4 = onnx.Add(%3, %row) : (tensor<3x2xf32>, tensor<2xf32>) -> tensor<3x2xf32>
  %5 = onnx.Transpose(%4) {perm = array<i64: 1, 0>} : (tensor<3x2xf32>) -> tensor<2x3xf32>
  %6 = onnx.Transpose(%x) {perm = array<i64: 1, 0>} : (tensor<2x3xf32>) -> tensor<3x2xf32>
  %7 = onnx.Softmax(%6) {axis = 1 : i64} : (tensor<3x2xf32>) -> tensor<3x2xf32>
  %8 = onnx.Transpose(%7) {perm = array<i64: 1, 0>} : (tensor<3x2xf32>) -> tensor<2x3xf32>
  return %0, %1, %2, %5, %8 : tensor<3x2xf32>, tensor<3x2xf32>, tensor<3x2xf32>, tensor<2x3xf32>, tensor<2x3xf32>
}

// -----

// The group's own result comes back transposed.
// CHECK-LABEL: func @readsItself
// CHECK-COUNT-3: onnx.Transpose
func.func @readsItself(%x: tensor<2x2xf32>) -> tensor<2x2xf32> {
  %0 = onnx.Transpose(%x) {perm = array<i64: 1, 0>} : (tensor<2x2xf32>) -> tensor<2x2xf32>
  %1 = onnx.Relu(%0) : (tensor<2x2xf32>) -> tensor<2x2xf32>
  %2 = onnx.Transpose(%1) {perm = array<i64: 1, 0>} : (tensor<2x2xf32>) -> tensor<2x2xf32>
  %3 = onnx.Add(%1, %2) : (tensor<2x2xf32>, tensor<2x2xf32>) -> tensor<2x2xf32>
  %4 = onnx.Transpose(%3) {perm = array<i64: 1, 0>} : (tensor<2x2xf32>) -> tensor<2x2xf32>
  return %4 : tensor<2x2xf32>
}

// -----

// CHECK-LABEL: func @products
// CHECK: onnx.Gemm(%arg0, %arg0, %{{.*}}) {transA = 1 : i64, transB = 0 : i64}
// CHECK: onnx.Gemm(%arg0, %arg0, %{{.*}}) {transA = 1 : i64}
// CHECK: onnx.MatMul
func.func @products(%x: tensor<2x3xf32>, %y: tensor<1x2x3xf32>) -> (tensor<3x3xf32>, tensor<3x3xf32>, tensor<1x3x3xf32>) {
  %none = onnx.None() : () -> none
  %perm = onnx.Transpose(%x) {perm = array<i64: 1, 0>} : (tensor<2x3xf32>) -> tensor<3x2xf32>
  %0 = onnx.Gemm(%perm, %perm, %none) {transB = 1 : i64} : (tensor<3x2xf32>, tensor<3x2xf32>, none) -> tensor<3x3xf32>
  %1 = onnx.MatMul(%perm, %x) : (tensor<3x2xf32>, tensor<2x3xf32>) -> tensor<3x3xf32>
  %t = onnx.Transpose(%y) {perm = array<i64: 0, 2, 1>} : (tensor<1x2x3xf32>) -> tensor<1x3x2xf32>
  %2 = onnx.MatMul(%t, %x) : (tensor<1x3x2xf32>, tensor<2x3xf32>) -> tensor<1x3x3xf32>
  return %0, %1, %2 : tensor<3x3xf32>, tensor<3x3xf32>, tensor<1x3x3xf32>
}
