// RUN: cameo-opt %s --split-input-file --pass-pipeline='builtin.module(cameo-lower-onnx-to-dispatches)' | FileCheck %s

// Towards zero, and the last numbers of the type from its ends on: the greatest float that is one less than 2^31 is far
// below it, so that 2^31 itself has to be told from what fits. NaN is 0.
// CHECK-LABEL: func @float_to_int(
// CHECK-DAG: %[[LOW:.*]] = arith.constant -2.14748365E+9 : f32
// CHECK-DAG: %[[HIGH:.*]] = arith.constant 2.14748365E+9 : f32
// CHECK-DAG: arith.cmpf olt, %{{.*}}, %[[LOW]] : f32
// CHECK-DAG: arith.cmpf oge, %{{.*}}, %[[HIGH]] : f32
// CHECK-DAG: arith.cmpf ord,
// CHECK: arith.fptosi %{{.*}} : f32 to i32
func.func @float_to_int(%x: tensor<4xf32>) -> tensor<4xi32> {
  %0 = onnx.Cast(%x) {to = 6 : i64} : (tensor<4xf32>) -> tensor<4xi32>
  return %0 : tensor<4xi32>
}

// -----

// Narrow integers wrap, from 32 bits.
// CHECK-LABEL: func @float_to_byte(
// CHECK: arith.fptosi %{{.*}} : f32 to i32
// CHECK: arith.trunci %{{.*}} : i32 to i8
func.func @float_to_byte(%x: tensor<4xf32>) -> tensor<4xi8> {
  %0 = onnx.Cast(%x) {to = 3 : i64} : (tensor<4xf32>) -> tensor<4xi8>
  return %0 : tensor<4xi8>
}

// -----

// CHECK-LABEL: func @float_to_unsigned(
// CHECK: arith.fptosi %{{.*}} : f32 to i64
// CHECK: arith.trunci %{{.*}} : i64 to i32
func.func @float_to_unsigned(%x: tensor<4xf32>) -> tensor<4xui32> {
  %0 = onnx.Cast(%x) {to = 12 : i64} : (tensor<4xf32>) -> tensor<4xui32>
  return %0 : tensor<4xui32>
}

// -----

// True is 1, whatever the type.
// CHECK-LABEL: func @truths(
// CHECK: arith.extui %{{.*}} : i1 to i32
// CHECK: arith.uitofp %{{.*}} : i1 to f32
func.func @truths(%x: tensor<4xi1>) -> (tensor<4xi32>, tensor<4xf32>) {
  %0 = onnx.Cast(%x) {to = 6 : i64} : (tensor<4xi1>) -> tensor<4xi32>
  %1 = onnx.Cast(%x) {to = 1 : i64} : (tensor<4xi1>) -> tensor<4xf32>
  return %0, %1 : tensor<4xi32>, tensor<4xf32>
}

// -----

// CHECK-LABEL: func @signs(
// CHECK: arith.extsi %{{.*}} : i8 to i32
// CHECK: arith.extui %{{.*}} : i8 to i32
// CHECK: arith.sitofp %{{.*}} : i8 to f32
// CHECK: arith.uitofp %{{.*}} : i8 to f32
func.func @signs(%x: tensor<4xi8>, %y: tensor<4xui8>) -> (tensor<4xi32>, tensor<4xi32>, tensor<4xf32>, tensor<4xf32>) {
  %0 = onnx.Cast(%x) {to = 6 : i64} : (tensor<4xi8>) -> tensor<4xi32>
  %1 = onnx.Cast(%y) {to = 6 : i64} : (tensor<4xui8>) -> tensor<4xi32>
  %2 = onnx.Cast(%x) {to = 1 : i64} : (tensor<4xi8>) -> tensor<4xf32>
  %3 = onnx.Cast(%y) {to = 1 : i64} : (tensor<4xui8>) -> tensor<4xf32>
  return %0, %1, %2, %3 : tensor<4xi32>, tensor<4xi32>, tensor<4xf32>, tensor<4xf32>
}

// -----

// By way of FP32, as ONNX Runtime does.
// CHECK-LABEL: func @double_to_half(
// CHECK: arith.truncf %{{.*}} : f64 to f32
// CHECK: arith.truncf %{{.*}} : f32 to f16
func.func @double_to_half(%x: tensor<4xf64>) -> tensor<4xf16> {
  %0 = onnx.Cast(%x) {to = 10 : i64} : (tensor<4xf64>) -> tensor<4xf16>
  return %0 : tensor<4xf16>
}

// -----

// What has 16 bits is added up in 32.
// CHECK-LABEL: func @sums(
// CHECK: arith.extf %{{.*}} : bf16 to f32
// CHECK: arith.addf %{{.*}} : f32
// CHECK: arith.truncf %{{.*}} : f32 to bf16
// CHECK: arith.extf %{{.*}} : f16 to f32
// CHECK: arith.addf %{{.*}} : f32
// CHECK: arith.truncf %{{.*}} : f32 to f16
func.func @sums(%x: tensor<4x4xbf16>, %y: tensor<4x4xf16>) -> (tensor<4x1xbf16>, tensor<4x1xf16>) {
  %axes = onnx.Constant() {value = dense<1> : tensor<1xi64>} : () -> tensor<1xi64>
  %0 = onnx.ReduceSum(%x, %axes) : (tensor<4x4xbf16>, tensor<1xi64>) -> tensor<4x1xbf16>
  %1 = onnx.ReduceSum(%y, %axes) : (tensor<4x4xf16>, tensor<1xi64>) -> tensor<4x1xf16>
  return %0, %1 : tensor<4x1xbf16>, tensor<4x1xf16>
}

// -----

// Halves go to the even number.
// CHECK-LABEL: func @quantised(
// CHECK: math.roundeven %{{.*}} : f32
func.func @quantised(%x: tensor<4xf32>, %scale: tensor<f32>, %zero: tensor<i8>) -> tensor<4xi8> {
  %0 = onnx.QuantizeLinear(%x, %scale, %zero) : (tensor<4xf32>, tensor<f32>, tensor<i8>) -> tensor<4xi8>
  return %0 : tensor<4xi8>
}

// -----

// Half of what is dropped is added, less one where the last bit that is kept is even.
// CHECK-LABEL: func @half_to_even(
// CHECK: %[[BITS:.*]] = arith.shrui %[[RAW:.*]], %{{.*}} : i32
// CHECK: %[[ODD:.*]] = arith.andi %[[BITS]], %{{.*}} : i32
// CHECK: %[[LESS:.*]] = arith.addi %[[RAW]], %{{.*}} : i32
// CHECK: arith.addi %[[LESS]], %[[ODD]] : i32
func.func @half_to_even(%x: tensor<4xf32>) -> tensor<4xf8E4M3FNUZ> {
  %0 = onnx.Cast(%x) {to = 18 : i64} : (tensor<4xf32>) -> tensor<4xf8E4M3FNUZ>
  return %0 : tensor<4xf8E4M3FNUZ>
}
