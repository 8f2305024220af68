// RUN: cameo-opt %s --split-input-file --cameo-lower-onnx-to-dispatches | FileCheck %s

// Padding is the zero point; what it adds to a sum is known for each filter: 7 * 6 and 7 * 12.
// CHECK: rt.constant @[[W:.*]] {{.*}}dense<{{.*}}> : tensor<2x3x2xi8>
// CHECK: rt.constant @[[S:.*]] {{.*}}dense<[-42, -84]> : tensor<2xi32>
// CHECK-LABEL: func.func @convInteger
// CHECK: %[[Z:.*]] = arith.constant 7 : i8
// CHECK: tensor.pad
// CHECK: linalg.generic
// CHECK: ^bb0(%[[X:.*]]: i8, %[[F:.*]]: i8, %[[SUM:.*]]: i32):
// CHECK-NEXT: %[[L:.*]] = arith.extui %[[X]] : i8 to i32
// CHECK-NEXT: %[[R:.*]] = arith.extsi %[[F]] : i8 to i32
// CHECK-NEXT: %[[P:.*]] = arith.muli %[[L]], %[[R]] : i32
// CHECK-NEXT: %[[A:.*]] = arith.addi %[[SUM]], %[[P]] : i32
// CHECK-NEXT: linalg.yield %[[A]]
// CHECK: linalg.generic
// CHECK: arith.addi
func.func @convInteger(%x: tensor<1x3x4xui8>) -> tensor<1x2x4xi32> {
  %none = onnx.None() : () -> none
  %zx = onnx.Constant() {value = dense<7> : tensor<ui8>} : () -> tensor<ui8>
  %w = onnx.Constant() {value = dense<[[[1, 1], [1, 1], [1, 1]], [[2, 2], [2, 2], [2, 2]]]> : tensor<2x3x2xi8>} : () -> tensor<2x3x2xi8>
  %0 = onnx.ConvInteger(%x, %w, %zx, %none) {pads = array<i64: 1, 0>} : (tensor<1x3x4xui8>, tensor<2x3x2xi8>, tensor<ui8>, none) -> tensor<1x2x4xi32>
  return %0 : tensor<1x2x4xi32>
}

// -----

// Weights less their zero point are bytes again, signed ones.
// CHECK: rt.constant {{.*}}dense<{{\[\[}}-1, 0], [1, 2]]> : tensor<2x2xi8>
// CHECK-LABEL: func.func @weights
// CHECK: arith.extui
// CHECK-NEXT: arith.extsi
func.func @weights(%x: tensor<3x2xui8>) -> tensor<3x2xi32> {
  %none = onnx.None() : () -> none
  %w = onnx.Constant() {value = dense<[[127, 128], [129, 130]]> : tensor<2x2xui8>} : () -> tensor<2x2xui8>
  %zw = onnx.Constant() {value = dense<128> : tensor<ui8>} : () -> tensor<ui8>
  %0 = onnx.MatMulInteger(%x, %w, %none, %zw) : (tensor<3x2xui8>, tensor<2x2xui8>, none, tensor<ui8>) -> tensor<3x2xi32>
  return %0 : tensor<3x2xi32>
}

// -----

// Numbers of both operands come when the model runs: zero points are subtracted before the product.
// CHECK-LABEL: func.func @given
// CHECK-COUNT-2: arith.subi {{.*}} : i16
// CHECK: arith.extsi {{.*}} : i16 to i32
// CHECK-NEXT: arith.extsi {{.*}} : i16 to i32
func.func @given(%x: tensor<3x2xui8>, %w: tensor<2x4xi8>, %zx: tensor<ui8>, %zw: tensor<4xi8>) -> tensor<3x4xi32> {
  %0 = onnx.MatMulInteger(%x, %w, %zx, %zw) : (tensor<3x2xui8>, tensor<2x4xi8>, tensor<ui8>, tensor<4xi8>) -> tensor<3x4xi32>
  return %0 : tensor<3x4xi32>
}

// -----

// Scales are one number per column: 0.5 * 2 / 4 and 0.5 * 4 / 4.
// CHECK: rt.constant {{.*}}dense<[2.500000e-01, 5.000000e-01]> : tensor<2xf32>
// CHECK-LABEL: func.func @requantised
// CHECK: kernel.dispatch
// CHECK: arith.sitofp
// CHECK: arith.mulf
// CHECK: math.roundeven
// CHECK: arith.fptosi
// CHECK: arith.trunci {{.*}} : i32 to i8
// CHECK-NOT: kernel.dispatch
func.func @requantised(%x: tensor<3x2xi8>) -> tensor<3x2xi8> {
  %w = onnx.Constant() {value = dense<[[1, 2], [3, 4]]> : tensor<2x2xi8>} : () -> tensor<2x2xi8>
  %z = onnx.Constant() {value = dense<0> : tensor<i8>} : () -> tensor<i8>
  %sx = onnx.Constant() {value = dense<0.5> : tensor<f32>} : () -> tensor<f32>
  %sw = onnx.Constant() {value = dense<[2.0, 4.0]> : tensor<2xf32>} : () -> tensor<2xf32>
  %zw = onnx.Constant() {value = dense<0> : tensor<2xi8>} : () -> tensor<2xi8>
  %sy = onnx.Constant() {value = dense<4.0> : tensor<f32>} : () -> tensor<f32>
  %0 = onnx.QLinearMatMul(%x, %sx, %z, %w, %sw, %zw, %sy, %z) : (tensor<3x2xi8>, tensor<f32>, tensor<i8>, tensor<2x2xi8>, tensor<2xf32>, tensor<2xi8>, tensor<f32>, tensor<i8>) -> tensor<3x2xi8>
  return %0 : tensor<3x2xi8>
}

// -----

// Blocks of two along the axis have a scale each.
// CHECK: affine_map<(d0, d1) -> (d0 floordiv 2, d1)>
// CHECK-LABEL: func.func @blocks
// CHECK: arith.subi
// CHECK: arith.sitofp
// CHECK: arith.mulf
func.func @blocks(%x: tensor<4x3xi8>, %s: tensor<2x3xf32>, %z: tensor<2x3xi8>) -> tensor<4x3xf32> {
  %0 = onnx.DequantizeLinear(%x, %s, %z) {axis = 0 : i64, block_size = 2 : i64} : (tensor<4x3xi8>, tensor<2x3xf32>, tensor<2x3xi8>) -> tensor<4x3xf32>
  return %0 : tensor<4x3xf32>
}

// -----

// Numbers of 4 bits have a byte each in tensors, inputs and outputs have two in a byte.
// CHECK: rt.constant {{.*}}dense<[-1, 7, -8]> : tensor<3xi8>
// CHECK-LABEL: func.func @packed
// CHECK-SAME: %arg0: tensor<2xi8> {onnx.shape = array<i64: 3>, onnx.type = i4}
// CHECK-SAME: tensor<2xi8> {onnx.shape = array<i64: 3>, onnx.type = i4}
func.func @packed(%x: tensor<3xi4>) -> (tensor<3xf32>, tensor<3xf32>, tensor<3xi4>) {
  %none = onnx.None() : () -> none
  %s = onnx.Constant() {value = dense<0.5> : tensor<f32>} : () -> tensor<f32>
  %c = onnx.Constant() {value = dense<[-1, 7, -8]> : tensor<3xi4>} : () -> tensor<3xi4>
  %0 = onnx.DequantizeLinear(%x, %s, %none) : (tensor<3xi4>, tensor<f32>, none) -> tensor<3xf32>
  %1 = onnx.DequantizeLinear(%c, %s, %none) : (tensor<3xi4>, tensor<f32>, none) -> tensor<3xf32>
  %2 = onnx.Identity(%x) : (tensor<3xi4>) -> tensor<3xi4>
  return %0, %1, %2 : tensor<3xf32>, tensor<3xf32>, tensor<3xi4>
}

// -----

// 1 / 0.02 is 50 and a rest; nothing is added for a zero point of 0.
// CHECK-LABEL: func.func @byReciprocal
// CHECK: ^bb0(%[[X:.*]]: f32, %{{.*}}: i8):
// CHECK-DAG: %[[HIGH:.*]] = arith.constant 5.000000e+01 : f32
// CHECK-DAG: %[[LOW:.*]] = arith.constant 1.11758709E-6 : f32
// CHECK: %[[P:.*]] = arith.mulf %[[X]], %[[LOW]] : f32
// CHECK-NEXT: %[[Q:.*]] = math.fma %[[X]], %[[HIGH]], %[[P]] : f32
// CHECK-NEXT: %[[R:.*]] = math.roundeven %[[Q]] : f32
// CHECK-NOT: arith.addf
// CHECK: %[[LEAST:.*]] = arith.maxnumf %[[R]], %{{.*}} : f32
// CHECK: %[[MOST:.*]] = arith.minnumf %[[LEAST]], %{{.*}} : f32
// CHECK-NEXT: arith.fptosi %[[MOST]] : f32 to i32
func.func @byReciprocal(%x: tensor<8xf32>) -> tensor<8xi8> {
  %s = onnx.Constant() {value = dense<0.02> : tensor<f32>} : () -> tensor<f32>
  %z = onnx.Constant() {value = dense<0> : tensor<i8>} : () -> tensor<i8>
  %0 = onnx.QuantizeLinear(%x, %s, %z) : (tensor<8xf32>, tensor<f32>, tensor<i8>) -> tensor<8xi8>
  return %0 : tensor<8xi8>
}

// -----

// CHECK-LABEL: func.func @byPowerOfTwo
// CHECK: %[[INVERSE:.*]] = arith.constant 4.000000e+00 : f32
// CHECK-NEXT: %[[Q:.*]] = arith.mulf %{{.*}}, %[[INVERSE]] : f32
// CHECK-NEXT: math.roundeven %[[Q]]
// CHECK: arith.addf
func.func @byPowerOfTwo(%x: tensor<8xf16>) -> tensor<8xui8> {
  %s = onnx.Constant() {value = dense<0.25> : tensor<f16>} : () -> tensor<f16>
  %z = onnx.Constant() {value = dense<128> : tensor<ui8>} : () -> tensor<ui8>
  %0 = onnx.QuantizeLinear(%x, %s, %z) : (tensor<8xf16>, tensor<f16>, tensor<ui8>) -> tensor<8xui8>
  return %0 : tensor<8xui8>
}

// -----

// One of the few scales for which the products would round to another integer at some float.
// CHECK-LABEL: func.func @aStepWouldMove
// CHECK-NOT: math.fma
// CHECK: arith.divf
func.func @aStepWouldMove(%x: tensor<8xf32>) -> tensor<8xi8> {
  %s = onnx.Constant() {value = dense<0x3EE1FFFF> : tensor<f32>} : () -> tensor<f32>
  %z = onnx.Constant() {value = dense<0> : tensor<i8>} : () -> tensor<i8>
  %0 = onnx.QuantizeLinear(%x, %s, %z) : (tensor<8xf32>, tensor<f32>, tensor<i8>) -> tensor<8xi8>
  return %0 : tensor<8xi8>
}

// -----

// Scales that are given, or several, are divided by; so are quotients that do not become integers,
// and those that the node wants rounded to 16 bits first.
// CHECK-LABEL: func.func @quotients
// CHECK-COUNT-4: arith.divf
func.func @quotients(%x: tensor<8xf32>, %given: tensor<f32>) -> (tensor<8xi8>, tensor<8xi8>, tensor<8xf8E5M2>, tensor<8xi8>) {
  %none = onnx.None() : () -> none
  %s = onnx.Constant() {value = dense<0.02> : tensor<f32>} : () -> tensor<f32>
  %several = onnx.Constant() {value = dense<[1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0, 8.0]> : tensor<8xf32>} : () -> tensor<8xf32>
  %z = onnx.Constant() {value = dense<0> : tensor<i8>} : () -> tensor<i8>
  %zs = onnx.Constant() {value = dense<0> : tensor<8xi8>} : () -> tensor<8xi8>
  %zf = onnx.Constant() {value = dense<0.0> : tensor<f8E5M2>} : () -> tensor<f8E5M2>
  %0 = onnx.QuantizeLinear(%x, %given, %z) : (tensor<8xf32>, tensor<f32>, tensor<i8>) -> tensor<8xi8>
  %1 = onnx.QuantizeLinear(%x, %several, %zs) {axis = 0 : i64} : (tensor<8xf32>, tensor<8xf32>, tensor<8xi8>) -> tensor<8xi8>
  %2 = onnx.QuantizeLinear(%x, %s, %zf) : (tensor<8xf32>, tensor<f32>, tensor<f8E5M2>) -> tensor<8xf8E5M2>
  %3 = onnx.QuantizeLinear(%x, %s, %z) {precision = 10 : i64} : (tensor<8xf32>, tensor<f32>, tensor<i8>) -> tensor<8xi8>
  return %0, %1, %2, %3 : tensor<8xi8>, tensor<8xi8>, tensor<8xf8E5M2>, tensor<8xi8>
}
