// RUN: cameo-opt %s --split-input-file --mlir-print-debuginfo --pass-pipeline='builtin.module(func.func(cameo-sink-data-movement))' > %t
// RUN: FileCheck %s < %t
// RUN: cameo-opt %t --split-input-file --mlir-print-debuginfo --pass-pipeline='builtin.module(func.func(cameo-sink-data-movement))' | diff %t -

// A diamond, a number, and a constant of one number per column.
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

// -----

// Views on both sides of a diamond; a number may stay. One view has another reader.
// CHECK-LABEL: func @views
// CHECK: %[[S:.*]] = onnx.Sigmoid(%arg0) {onnx.dims = {{\[}}["N", 6]]} : (tensor<?x6xf32>) -> tensor<?x6xf32>
// CHECK: %[[M:.*]] = onnx.Mul(%arg0, %[[S]])
// CHECK: %[[H:.*]] = onnx.Mul(%[[M]], %{{.*}}) {{.*}} -> tensor<?x6xf32>
// CHECK: return %[[H]], %{{.*}} : tensor<?x6xf32>, tensor<?x2x3xf32>
func.func @views(%x: tensor<?x6xf32> {onnx.dims = ["N", 6]}) -> (tensor<?x6xf32>, tensor<?x2x3xf32>) {
  %half = onnx.Constant() {value = dense<0.5> : tensor<1xf32>} : () -> tensor<1xf32>
  %a = onnx.Constant() {value = dense<[0, 2, 3]> : tensor<3xi64>} : () -> tensor<3xi64>
  %0 = onnx.Reshape(%x, %a) {onnx.dims = [["N", 2, 3]]} : (tensor<?x6xf32>, tensor<3xi64>) -> tensor<?x2x3xf32>
  %1 = onnx.Sigmoid(%0) {onnx.dims = [["N", 2, 3]]} : (tensor<?x2x3xf32>) -> tensor<?x2x3xf32>
  %2 = onnx.Mul(%0, %1) {onnx.dims = [["N", 2, 3]]} : (tensor<?x2x3xf32>, tensor<?x2x3xf32>) -> tensor<?x2x3xf32>
  %3 = onnx.Mul(%2, %half) {onnx.dims = [["N", 2, 3]]} : (tensor<?x2x3xf32>, tensor<1xf32>) -> tensor<?x2x3xf32>
  %4 = onnx.Flatten(%3) {axis = 1 : i64, onnx.dims = [["N", 6]]} : (tensor<?x2x3xf32>) -> tensor<?x6xf32>
  return %4, %0 : tensor<?x6xf32>, tensor<?x2x3xf32>
}

// -----

// Not where what is between has another reader, is broadcast, has a constant of more numbers, or where
// the views lead to another shape.
// CHECK-LABEL: func @keeps_views
// CHECK-COUNT-8: onnx.Reshape
func.func @keeps_views(%x: tensor<6xf32>, %row: tensor<3xf32>, %a: tensor<2xi64>) -> (tensor<6xf32>, tensor<2x3xf32>, tensor<6xf32>, tensor<6xf32>, tensor<3x2xf32>) {
  %c = onnx.Constant() {value = dense<[1.0, 2.0, 3.0]> : tensor<3xf32>} : () -> tensor<3xf32>
  %s = onnx.Constant() {value = dense<[2, 3]> : tensor<2xi64>} : () -> tensor<2xi64>
  %f = onnx.Constant() {value = dense<6> : tensor<1xi64>} : () -> tensor<1xi64>
  %t = onnx.Constant() {value = dense<[3, 2]> : tensor<2xi64>} : () -> tensor<2xi64>
  %0 = onnx.Reshape(%x, %s) : (tensor<6xf32>, tensor<2xi64>) -> tensor<2x3xf32>
  %1 = onnx.Relu(%0) : (tensor<2x3xf32>) -> tensor<2x3xf32>
  %2 = onnx.Reshape(%1, %f) : (tensor<2x3xf32>, tensor<1xi64>) -> tensor<6xf32>
  %3 = onnx.Reshape(%x, %s) : (tensor<6xf32>, tensor<2xi64>) -> tensor<2x3xf32>
  %4 = onnx.Add(%3, %row) : (tensor<2x3xf32>, tensor<3xf32>) -> tensor<2x3xf32>
  %5 = onnx.Reshape(%4, %f) : (tensor<2x3xf32>, tensor<1xi64>) -> tensor<6xf32>
  %6 = onnx.Reshape(%x, %s) : (tensor<6xf32>, tensor<2xi64>) -> tensor<2x3xf32>
  %7 = onnx.Mul(%6, %c) : (tensor<2x3xf32>, tensor<3xf32>) -> tensor<2x3xf32>
  %8 = onnx.Reshape(%7, %f) : (tensor<2x3xf32>, tensor<1xi64>) -> tensor<6xf32>
  %9 = onnx.Reshape(%x, %s) : (tensor<6xf32>, tensor<2xi64>) -> tensor<2x3xf32>
  %10 = onnx.Abs(%9) : (tensor<2x3xf32>) -> tensor<2x3xf32>
  %11 = onnx.Reshape(%10, %t) : (tensor<2x3xf32>, tensor<2xi64>) -> tensor<3x2xf32>
  return %2, %1, %5, %8, %11 : tensor<6xf32>, tensor<2x3xf32>, tensor<6xf32>, tensor<6xf32>, tensor<3x2xf32>
}

// -----

// (A' B')' is B A; batches in another order.
// CHECK-LABEL: func @products
// CHECK-NEXT: %[[Y:.*]] = onnx.MatMul(%arg1, %arg0) : (tensor<2x5x4xf32>, tensor<2x4x3xf32>) -> tensor<2x5x3xf32>
// CHECK-NEXT: %[[Z:.*]] = onnx.MatMul(%arg2, %arg3) : (tensor<2x3x4x5xf32>, tensor<2x3x5x6xf32>) -> tensor<2x3x4x6xf32>
// CHECK-NEXT: return %[[Y]], %[[Z]]
func.func @products(%a: tensor<2x4x3xf32>, %b: tensor<2x5x4xf32>, %c: tensor<2x3x4x5xf32>, %d: tensor<2x3x5x6xf32>) -> (tensor<2x5x3xf32>, tensor<2x3x4x6xf32>) {
  %0 = onnx.Transpose(%a) {perm = array<i64: 0, 2, 1>} : (tensor<2x4x3xf32>) -> tensor<2x3x4xf32>
  %1 = onnx.Transpose(%b) {perm = array<i64: 0, 2, 1>} : (tensor<2x5x4xf32>) -> tensor<2x4x5xf32>
  %2 = onnx.MatMul(%0, %1) : (tensor<2x3x4xf32>, tensor<2x4x5xf32>) -> tensor<2x3x5xf32>
  %3 = onnx.Transpose(%2) {perm = array<i64: 0, 2, 1>} : (tensor<2x3x5xf32>) -> tensor<2x5x3xf32>
  %4 = onnx.Transpose(%c) {perm = array<i64: 1, 0, 2, 3>} : (tensor<2x3x4x5xf32>) -> tensor<3x2x4x5xf32>
  %5 = onnx.Transpose(%d) {perm = array<i64: 1, 0, 2, 3>} : (tensor<2x3x5x6xf32>) -> tensor<3x2x5x6xf32>
  %6 = onnx.MatMul(%4, %5) : (tensor<3x2x4x5xf32>, tensor<3x2x5x6xf32>) -> tensor<3x2x4x6xf32>
  %7 = onnx.Transpose(%6) {perm = array<i64: 1, 0, 2, 3>} : (tensor<3x2x4x6xf32>) -> tensor<2x3x4x6xf32>
  return %3, %7 : tensor<2x5x3xf32>, tensor<2x3x4x6xf32>
}

// -----

// Not where one batch is broadcast, where the result is read as it is, or where more than batches and
// matrices is exchanged.
// CHECK-LABEL: func @keeps_products
// CHECK-COUNT-8: onnx.Transpose
func.func @keeps_products(%a: tensor<2x4x3xf32>, %b: tensor<1x5x4xf32>, %c: tensor<2x5x4xf32>, %d: tensor<4x2x4xf32>) -> (tensor<2x5x3xf32>, tensor<2x5x3xf32>, tensor<2x3x5xf32>, tensor<4x2x2xf32>) {
  %0 = onnx.Transpose(%a) {perm = array<i64: 0, 2, 1>} : (tensor<2x4x3xf32>) -> tensor<2x3x4xf32>
  %1 = onnx.Transpose(%b) {perm = array<i64: 0, 2, 1>} : (tensor<1x5x4xf32>) -> tensor<1x4x5xf32>
  %2 = onnx.MatMul(%0, %1) : (tensor<2x3x4xf32>, tensor<1x4x5xf32>) -> tensor<2x3x5xf32>
  %3 = onnx.Transpose(%2) {perm = array<i64: 0, 2, 1>} : (tensor<2x3x5xf32>) -> tensor<2x5x3xf32>
  %4 = onnx.Transpose(%c) {perm = array<i64: 0, 2, 1>} : (tensor<2x5x4xf32>) -> tensor<2x4x5xf32>
  %5 = onnx.MatMul(%0, %4) : (tensor<2x3x4xf32>, tensor<2x4x5xf32>) -> tensor<2x3x5xf32>
  %6 = onnx.Transpose(%5) {perm = array<i64: 0, 2, 1>} : (tensor<2x3x5xf32>) -> tensor<2x5x3xf32>
  %7 = onnx.Transpose(%d) {perm = array<i64: 2, 1, 0>} : (tensor<4x2x4xf32>) -> tensor<4x2x4xf32>
  %8 = onnx.Transpose(%d) {perm = array<i64: 2, 0, 1>} : (tensor<4x2x4xf32>) -> tensor<4x4x2xf32>
  %9 = onnx.MatMul(%7, %8) : (tensor<4x2x4xf32>, tensor<4x4x2xf32>) -> tensor<4x2x2xf32>
  %10 = onnx.Transpose(%9) {perm = array<i64: 0, 2, 1>} : (tensor<4x2x2xf32>) -> tensor<4x2x2xf32>
  return %3, %6, %5, %10 : tensor<2x5x3xf32>, tensor<2x5x3xf32>, tensor<2x3x5xf32>, tensor<4x2x2xf32>
}

// -----

// Of a single element, which would have fewer dimensions.
// CHECK-LABEL: func @keeps_rank
// CHECK: %[[R:.*]] = onnx.Reciprocal(%{{.*}}) : (tensor<1x1xf32>) -> tensor<1x1xf32>
// CHECK: onnx.Reshape(%[[R]]
func.func @keeps_rank(%x: tensor<1x1xf32>) -> tensor<1x1x1xf32> {
  %0 = onnx.Sqrt(%x) : (tensor<1x1xf32>) -> tensor<1x1xf32>
  %1 = onnx.Reciprocal(%0) : (tensor<1x1xf32>) -> tensor<1x1xf32>
  %shape = onnx.Constant() {value = dense<1> : tensor<3xi64>} : () -> tensor<3xi64>
  %2 = onnx.Reshape(%1, %shape) : (tensor<1x1xf32>, tensor<3xi64>) -> tensor<1x1x1xf32>
  return %2 : tensor<1x1x1xf32>
}

// -----

// What is read in both orders, by a transpose right behind and by others: the first goes, before the others get
// one of their own.
// CHECK-LABEL: func @read_in_both_orders
// CHECK-NEXT: %[[R:.*]] = onnx.Relu(%arg0) : (tensor<2x4x5x3xf32>) -> tensor<2x4x5x3xf32>
// CHECK-NEXT: %[[S:.*]] = onnx.Transpose(%[[R]]) {{{.*}}perm = array<i64: 0, 2, 3, 1>} : (tensor<2x4x5x3xf32>) -> tensor<2x5x3x4xf32>
// CHECK-NEXT: return %[[S]], %[[R]]
func.func @read_in_both_orders(%x: tensor<2x4x5x3xf32>) -> (tensor<2x5x3x4xf32>, tensor<2x4x5x3xf32>) {
  %0 = onnx.Transpose(%x) {perm = array<i64: 0, 2, 3, 1>} : (tensor<2x4x5x3xf32>) -> tensor<2x5x3x4xf32>
  %1 = onnx.Relu(%0) : (tensor<2x5x3x4xf32>) -> tensor<2x5x3x4xf32>
  %2 = onnx.Transpose(%1) {perm = array<i64: 0, 3, 1, 2>} : (tensor<2x5x3x4xf32>) -> tensor<2x4x5x3xf32>
  return %1, %2 : tensor<2x5x3x4xf32>, tensor<2x4x5x3xf32>
}
