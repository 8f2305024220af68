// RUN: cameo-opt %s --split-input-file --pass-pipeline='builtin.module(func.func(cameo-simplify-operators))' > %t
// RUN: FileCheck %s < %t
// Again, nothing is left to do.
// RUN: cameo-opt %t --split-input-file --pass-pipeline='builtin.module(func.func(cameo-simplify-operators))' | diff %t -

// CHECK-LABEL: func @identities
// CHECK-NEXT: %[[R:.*]] = onnx.Relu(%arg0)
// CHECK-NEXT: return %[[R]]
func.func @identities(%x: tensor<2x3xf32>) -> tensor<2x3xf32> {
  %none = onnx.None() : () -> none
  %zeros = onnx.Constant() {value = dense<0> : tensor<4xi64>} : () -> tensor<4xi64>
  %starts = onnx.Constant() {value = dense<0> : tensor<1xi64>} : () -> tensor<1xi64>
  %ends = onnx.Constant() {value = dense<9223372036854775807> : tensor<1xi64>} : () -> tensor<1xi64>
  %shape = onnx.Constant() {value = dense<[2, 3]> : tensor<2xi64>} : () -> tensor<2xi64>
  %0 = onnx.Identity(%x) : (tensor<2x3xf32>) -> tensor<2x3xf32>
  %1:2 = onnx.Dropout(%0, %none, %none) : (tensor<2x3xf32>, none, none) -> (tensor<2x3xf32>, tensor<2x3xi1>)
  %2 = onnx.Cast(%1#0) {to = 1 : i64} : (tensor<2x3xf32>) -> tensor<2x3xf32>
  %3 = onnx.Transpose(%2) {perm = array<i64: 0, 1>} : (tensor<2x3xf32>) -> tensor<2x3xf32>
  %4 = onnx.Pad(%3, %zeros, %none, %none) : (tensor<2x3xf32>, tensor<4xi64>, none, none) -> tensor<2x3xf32>
  %5 = onnx.Slice(%4, %starts, %ends, %starts, %none) : (tensor<2x3xf32>, tensor<1xi64>, tensor<1xi64>, tensor<1xi64>, none) -> tensor<2x3xf32>
  %6 = onnx.Concat(%5) {axis = 0 : i64} : (tensor<2x3xf32>) -> tensor<2x3xf32>
  %7 = onnx.Reshape(%6, %shape) : (tensor<2x3xf32>, tensor<2xi64>) -> tensor<2x3xf32>
  %8 = onnx.Expand(%7, %shape) : (tensor<2x3xf32>, tensor<2xi64>) -> tensor<2x3xf32>
  %9 = onnx.Clip(%8, %none, %none) : (tensor<2x3xf32>, none, none) -> tensor<2x3xf32>
  %10 = onnx.Relu(%9) : (tensor<2x3xf32>) -> tensor<2x3xf32>
  return %10 : tensor<2x3xf32>
}

// -----

// What trains, moves, cuts or turns is not an identity.
// CHECK-LABEL: func @notIdentities
// CHECK: onnx.Dropout
// CHECK: onnx.Transpose
// CHECK: onnx.Cast
// CHECK: onnx.Slice
// CHECK: onnx.Pad
// CHECK: return
func.func @notIdentities(%x: tensor<3x3xf32>) -> tensor<4x3xf16> {
  %none = onnx.None() : () -> none
  %true = onnx.Constant() {value = dense<true> : tensor<i1>} : () -> tensor<i1>
  %pads = onnx.Constant() {value = dense<[1, 0, 0, 0]> : tensor<4xi64>} : () -> tensor<4xi64>
  %zero = onnx.Constant() {value = dense<0> : tensor<1xi64>} : () -> tensor<1xi64>
  %last = onnx.Constant() {value = dense<-1> : tensor<1xi64>} : () -> tensor<1xi64>
  %least = onnx.Constant() {value = dense<-9223372036854775808> : tensor<1xi64>} : () -> tensor<1xi64>
  %0:2 = onnx.Dropout(%x, %none, %true) : (tensor<3x3xf32>, none, tensor<i1>) -> (tensor<3x3xf32>, tensor<3x3xi1>)
  %1 = onnx.Transpose(%0#0) {perm = array<i64: 1, 0>} : (tensor<3x3xf32>) -> tensor<3x3xf32>
  %2 = onnx.Cast(%1) {to = 10 : i64} : (tensor<3x3xf32>) -> tensor<3x3xf16>
  %3 = onnx.Slice(%2, %last, %least, %zero, %last) : (tensor<3x3xf16>, tensor<1xi64>, tensor<1xi64>, tensor<1xi64>, tensor<1xi64>) -> tensor<3x3xf16>
  %4 = onnx.Pad(%3, %pads, %none, %none) : (tensor<3x3xf16>, tensor<4xi64>, none, none) -> tensor<4x3xf16>
  return %4 : tensor<4x3xf16>
}

// -----

// A mask that is used is computed.
// CHECK-LABEL: func @maskUsed
// CHECK: onnx.Dropout
func.func @maskUsed(%x: tensor<2xf32>) -> (tensor<2xf32>, tensor<2xi1>) {
  %none = onnx.None() : () -> none
  %0:2 = onnx.Dropout(%x, %none, %none) : (tensor<2xf32>, none, none) -> (tensor<2xf32>, tensor<2xi1>)
  return %0#0, %0#1 : tensor<2xf32>, tensor<2xi1>
}

// -----

// CHECK-LABEL: func @neutral
// CHECK-NOT: onnx.Add
// CHECK-NOT: onnx.Sub
// CHECK-NOT: onnx.Mul
// CHECK-NOT: onnx.Div
// CHECK: return %arg0, %arg1
func.func @neutral(%x: tensor<2x3xf32>, %i: tensor<2xi32>) -> (tensor<2x3xf32>, tensor<2xi32>) {
  %zero = onnx.Constant() {value = dense<0.0> : tensor<f32>} : () -> tensor<f32>
  %negative = onnx.Constant() {value = dense<-0.0> : tensor<1xf32>} : () -> tensor<1xf32>
  %one = onnx.Constant() {value = dense<1.0> : tensor<1x1xf32>} : () -> tensor<1x1xf32>
  %none = onnx.Constant() {value = dense<0> : tensor<i32>} : () -> tensor<i32>
  %0 = onnx.Add(%negative, %x) : (tensor<1xf32>, tensor<2x3xf32>) -> tensor<2x3xf32>
  %1 = onnx.Sub(%0, %zero) : (tensor<2x3xf32>, tensor<f32>) -> tensor<2x3xf32>
  %2 = onnx.Mul(%one, %1) : (tensor<1x1xf32>, tensor<2x3xf32>) -> tensor<2x3xf32>
  %3 = onnx.Div(%2, %one) : (tensor<2x3xf32>, tensor<1x1xf32>) -> tensor<2x3xf32>
  %4 = onnx.Add(%i, %none) : (tensor<2xi32>, tensor<i32>) -> tensor<2xi32>
  return %3, %4 : tensor<2x3xf32>, tensor<2xi32>
}

// -----

// x + 0.0 makes 0.0 of -0.0; 0.0 - x and 1.0 / x are not x; a constant of more dimensions adds them.
// CHECK-LABEL: func @notNeutral
// CHECK: onnx.Add
// CHECK: onnx.Sub
// CHECK: onnx.Div
// CHECK: onnx.Mul
func.func @notNeutral(%x: tensor<2xf32>) -> tensor<1x2xf32> {
  %zero = onnx.Constant() {value = dense<0.0> : tensor<f32>} : () -> tensor<f32>
  %one = onnx.Constant() {value = dense<1.0> : tensor<f32>} : () -> tensor<f32>
  %more = onnx.Constant() {value = dense<1.0> : tensor<1x1xf32>} : () -> tensor<1x1xf32>
  %0 = onnx.Add(%x, %zero) : (tensor<2xf32>, tensor<f32>) -> tensor<2xf32>
  %1 = onnx.Sub(%zero, %0) : (tensor<f32>, tensor<2xf32>) -> tensor<2xf32>
  %2 = onnx.Div(%one, %1) : (tensor<f32>, tensor<2xf32>) -> tensor<2xf32>
  %3 = onnx.Mul(%2, %more) : (tensor<2xf32>, tensor<1x1xf32>) -> tensor<1x2xf32>
  return %3 : tensor<1x2xf32>
}

// -----

// CHECK-LABEL: func @transposes
// CHECK-NEXT: %[[T:.*]] = onnx.Transpose(%arg0) {perm = array<i64: 1, 2, 0>}
// CHECK-NEXT: return %[[T]]
func.func @transposes(%x: tensor<2x3x4xf32>) -> tensor<3x4x2xf32> {
  %0 = onnx.Transpose(%x) {perm = array<i64: 0, 2, 1>} : (tensor<2x3x4xf32>) -> tensor<2x4x3xf32>
  %1 = onnx.Transpose(%0) {perm = array<i64: 2, 1, 0>} : (tensor<2x4x3xf32>) -> tensor<3x4x2xf32>
  return %1 : tensor<3x4x2xf32>
}

// -----

// CHECK-LABEL: func @views
// CHECK: %[[V:.*]] = onnx.Reshape(%arg0,
// CHECK-NEXT: return %[[V]], %arg0
func.func @views(%x: tensor<2x3xf32>) -> (tensor<6xf32>, tensor<2x3xf32>) {
  %axis = onnx.Constant() {value = dense<0> : tensor<1xi64>} : () -> tensor<1xi64>
  %all = onnx.Constant() {value = dense<-1> : tensor<1xi64>} : () -> tensor<1xi64>
  %shape = onnx.Constant() {value = dense<[2, 3]> : tensor<2xi64>} : () -> tensor<2xi64>
  %0 = onnx.Unsqueeze(%x, %axis) : (tensor<2x3xf32>, tensor<1xi64>) -> tensor<1x2x3xf32>
  %1 = onnx.Reshape(%0, %all) : (tensor<1x2x3xf32>, tensor<1xi64>) -> tensor<6xf32>
  %2 = onnx.Reshape(%1, %shape) : (tensor<6xf32>, tensor<2xi64>) -> tensor<2x3xf32>
  return %1, %2 : tensor<6xf32>, tensor<2x3xf32>
}

// -----

// A 0 in the second shape means a size of the first view's result.
// CHECK-LABEL: func @zeroCopies
// CHECK-COUNT-2: onnx.Reshape
func.func @zeroCopies(%x: tensor<4x6xf32>) -> tensor<3x8xf32> {
  %a = onnx.Constant() {value = dense<[3, 2, 4]> : tensor<3xi64>} : () -> tensor<3xi64>
  %b = onnx.Constant() {value = dense<[0, 8]> : tensor<2xi64>} : () -> tensor<2xi64>
  %0 = onnx.Reshape(%x, %a) : (tensor<4x6xf32>, tensor<3xi64>) -> tensor<3x2x4xf32>
  %1 = onnx.Reshape(%0, %b) : (tensor<3x2x4xf32>, tensor<2xi64>) -> tensor<3x8xf32>
  return %1 : tensor<3x8xf32>
}

// -----

// Sizes are equal where their names are.
// CHECK-LABEL: func @symbols
// CHECK-NEXT: return %arg0, %arg0
func.func @symbols(%x: tensor<?x4xf32> {onnx.dims = ["N", 4]}, %to: tensor<2xi64>) -> (tensor<?x4xf32>, tensor<?x4xf32>) {
  %0 = onnx.Reshape(%x, %to) {onnx.dims = [["N", 4]]} : (tensor<?x4xf32>, tensor<2xi64>) -> tensor<?x4xf32>
  %1 = onnx.Reshape(%0, %to) {onnx.dims = [["N", 4]]} : (tensor<?x4xf32>, tensor<2xi64>) -> tensor<?x4xf32>
  return %0, %1 : tensor<?x4xf32>, tensor<?x4xf32>
}

// -----

// Sizes without a name may be any.
// CHECK-LABEL: func @unnamed
// CHECK: onnx.Reshape
func.func @unnamed(%x: tensor<?x?xf32>, %to: tensor<2xi64>) -> tensor<?x?xf32> {
  %0 = onnx.Reshape(%x, %to) : (tensor<?x?xf32>, tensor<2xi64>) -> tensor<?x?xf32>
  return %0 : tensor<?x?xf32>
}

// -----

// By way of a type that holds every value there is one Cast, or none.
// CHECK-LABEL: func @casts
// CHECK: %[[C:.*]] = onnx.Cast(%arg1) {to = 10 : i64} : (tensor<2xi8>) -> tensor<2xf16>
// CHECK-NEXT: return %arg0, %[[C]]
func.func @casts(%x: tensor<2xf16>, %i: tensor<2xi8>) -> (tensor<2xf16>, tensor<2xf16>) {
  %0 = onnx.Cast(%x) {to = 1 : i64} : (tensor<2xf16>) -> tensor<2xf32>
  %1 = onnx.Cast(%0) {to = 10 : i64} : (tensor<2xf32>) -> tensor<2xf16>
  %2 = onnx.Cast(%i) {to = 6 : i64} : (tensor<2xi8>) -> tensor<2xi32>
  %3 = onnx.Cast(%2) {to = 10 : i64} : (tensor<2xi32>) -> tensor<2xf16>
  return %1, %3 : tensor<2xf16>, tensor<2xf16>
}

// -----

// A narrower type rounds; 25 bits do not fit a float; -1 by way of a float is not a uint8.
// CHECK-LABEL: func @castsThatRound
// CHECK-COUNT-6: onnx.Cast
func.func @castsThatRound(%x: tensor<2xf32>, %i: tensor<2xi32>, %j: tensor<2xi8>) -> (tensor<2xf32>, tensor<2xi64>, tensor<2xui8>) {
  %0 = onnx.Cast(%x) {to = 10 : i64} : (tensor<2xf32>) -> tensor<2xf16>
  %1 = onnx.Cast(%0) {to = 1 : i64} : (tensor<2xf16>) -> tensor<2xf32>
  %2 = onnx.Cast(%i) {to = 1 : i64} : (tensor<2xi32>) -> tensor<2xf32>
  %3 = onnx.Cast(%2) {to = 7 : i64} : (tensor<2xf32>) -> tensor<2xi64>
  %4 = onnx.Cast(%j) {to = 1 : i64} : (tensor<2xi8>) -> tensor<2xf32>
  %5 = onnx.Cast(%4) {to = 2 : i64} : (tensor<2xf32>) -> tensor<2xui8>
  return %1, %3, %5 : tensor<2xf32>, tensor<2xi64>, tensor<2xui8>
}

// -----

// What nothing uses goes, random or not.
// CHECK-LABEL: func @unused
// CHECK-NEXT: return %arg0
func.func @unused(%x: tensor<2xf32>) -> tensor<2xf32> {
  %0 = onnx.RandomNormal() {shape = array<i64: 2>} : () -> tensor<2xf32>
  %1 = onnx.Add(%0, %x) : (tensor<2xf32>, tensor<2xf32>) -> tensor<2xf32>
  return %x : tensor<2xf32>
}

// -----

// A shape that is only declared is nothing to go by.
// CHECK-LABEL: func @declared
// CHECK: onnx.Reshape
func.func @declared(%x: tensor<2x3xf32>, %to: tensor<2xi64>) -> tensor<2x3xf32> {
  %0 = onnx.Reshape(%x, %to) {onnx.shape_declared} : (tensor<2x3xf32>, tensor<2xi64>) -> tensor<2x3xf32>
  return %0 : tensor<2x3xf32>
}
