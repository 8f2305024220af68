// RUN: cameo-opt %s --split-input-file --verify-diagnostics --pass-pipeline='builtin.module(func.func(cameo-fold-dequantize-into-products),cameo-report-decisions)' | FileCheck %s
// RUN: cameo-opt %s --split-input-file --pass-pipeline='builtin.module(func.func(cameo-fold-dequantize-into-products))' > %t
// RUN: cameo-opt %s --split-input-file --pass-pipeline='builtin.module(func.func(cameo-fold-dequantize-into-products,cameo-fold-dequantize-into-products))' | diff %t -

// CHECK-LABEL: func @matMul
// CHECK: %[[P:.*]] = onnx.MatMulInteger(%arg0, %arg1, %{{.*}}, %{{.*}}) : (tensor<2x3xui8>, tensor<3x4xi8>, tensor<ui8>, tensor<i8>) -> tensor<2x4xi32>
// CHECK-NEXT: %[[F:.*]] = onnx.Cast(%[[P]]) {to = 1 : i64}
// CHECK-NEXT: %[[S:.*]] = onnx.Constant() {value = dense<1.250000e-01> : tensor<f32>}
// CHECK-NEXT: %[[Y:.*]] = onnx.Mul(%[[F]], %[[S]])
// CHECK-NEXT: return %[[Y]]
func.func @matMul(%x: tensor<2x3xui8>, %w: tensor<3x4xi8>) -> tensor<2x4xf32> {
  %sx = onnx.Constant() {value = dense<0.5> : tensor<f32>} : () -> tensor<f32>
  %zx = onnx.Constant() {value = dense<128> : tensor<ui8>} : () -> tensor<ui8>
  %sw = onnx.Constant() {value = dense<0.25> : tensor<f32>} : () -> tensor<f32>
  %zw = onnx.Constant() {value = dense<3> : tensor<i8>} : () -> tensor<i8>
  %0 = onnx.DequantizeLinear(%x, %sx, %zx) : (tensor<2x3xui8>, tensor<f32>, tensor<ui8>) -> tensor<2x3xf32>
  %1 = onnx.DequantizeLinear(%w, %sw, %zw) : (tensor<3x4xi8>, tensor<f32>, tensor<i8>) -> tensor<3x4xf32>
  %2 = onnx.MatMul(%0, %1) : (tensor<2x3xf32>, tensor<3x4xf32>) -> tensor<2x4xf32> // expected-remark {{multiplied as integers}}
  return %2 : tensor<2x4xf32>
}

// -----

// A scale for each filter, and a bias in integers.
// CHECK-LABEL: func @conv
// CHECK: onnx.ConvInteger(%arg0, %{{.*}}, %{{.*}}, %{{.*}}) {kernel_shape = array<i64: 2>, pads = array<i64: 1, 0>} : {{.*}} -> tensor<1x2x4xi32>
// CHECK: onnx.Constant() {value = dense<{{\[\[}}1.000000e+00], [2.000000e+00]]> : tensor<2x1xf32>}
// CHECK: %[[M:.*]] = onnx.Mul(
// CHECK: %[[B:.*]] = onnx.Constant() {value = dense<{{\[\[}}5.000000e+00], [-1.400000e+01]]> : tensor<2x1xf32>}
// CHECK: onnx.Add(%[[M]], %[[B]])
func.func @conv(%x: tensor<1x3x4xui8>) -> tensor<1x2x4xf32> {
  %none = onnx.None() : () -> none
  %sx = onnx.Constant() {value = dense<0.5> : tensor<f32>} : () -> tensor<f32>
  %zx = onnx.Constant() {value = dense<128> : tensor<ui8>} : () -> tensor<ui8>
  %w = onnx.Constant() {value = dense<1> : tensor<2x3x2xi8>} : () -> tensor<2x3x2xi8>
  %sw = onnx.Constant() {value = dense<[2.0, 4.0]> : tensor<2xf32>} : () -> tensor<2xf32>
  %b = onnx.Constant() {value = dense<[5, -7]> : tensor<2xi32>} : () -> tensor<2xi32>
  %sb = onnx.Constant() {value = dense<[1.0, 2.0]> : tensor<2xf32>} : () -> tensor<2xf32>
  %0 = onnx.DequantizeLinear(%x, %sx, %zx) : (tensor<1x3x4xui8>, tensor<f32>, tensor<ui8>) -> tensor<1x3x4xf32>
  %1 = onnx.DequantizeLinear(%w, %sw, %none) {axis = 0 : i64} : (tensor<2x3x2xi8>, tensor<2xf32>, none) -> tensor<2x3x2xf32>
  %2 = onnx.DequantizeLinear(%b, %sb, %none) {axis = 0 : i64} : (tensor<2xi32>, tensor<2xf32>, none) -> tensor<2xf32>
  %3 = onnx.Conv(%0, %1, %2) {kernel_shape = array<i64: 2>, pads = array<i64: 1, 0>} : (tensor<1x3x4xf32>, tensor<2x3x2xf32>, tensor<2xf32>) -> tensor<1x2x4xf32> // expected-remark {{multiplied as integers}}
  return %3 : tensor<1x2x4xf32>
}

// -----

// Weights are transposed here, factors go into the scale and the bias.
// CHECK-LABEL: func @gemm
// CHECK: %[[W:.*]] = onnx.Constant() {value = dense<{{\[\[}}1, 4], [2, 5], [3, 6]]> : tensor<3x2xi8>}
// CHECK: onnx.MatMulInteger(%arg0, %[[W]],
// CHECK: value = dense<[2.500000e-01, 5.000000e-01]> : tensor<2xf32>
// CHECK: value = dense<[3.000000e+00, 6.000000e+00]> : tensor<2xf32>
// CHECK: onnx.Add
func.func @gemm(%x: tensor<4x3xi8>) -> tensor<4x2xf32> {
  %none = onnx.None() : () -> none
  %sx = onnx.Constant() {value = dense<0.5> : tensor<f32>} : () -> tensor<f32>
  %w = onnx.Constant() {value = dense<[[1, 2, 3], [4, 5, 6]]> : tensor<2x3xi8>} : () -> tensor<2x3xi8>
  %sw = onnx.Constant() {value = dense<[1.0, 2.0]> : tensor<2xf32>} : () -> tensor<2xf32>
  %c = onnx.Constant() {value = dense<[1.0, 2.0]> : tensor<2xf32>} : () -> tensor<2xf32>
  %0 = onnx.DequantizeLinear(%x, %sx, %none) : (tensor<4x3xi8>, tensor<f32>, none) -> tensor<4x3xf32>
  %1 = onnx.DequantizeLinear(%w, %sw, %none) {axis = 0 : i64} : (tensor<2x3xi8>, tensor<2xf32>, none) -> tensor<2x3xf32>
  %2 = onnx.Gemm(%0, %1, %c) {alpha = 0.5 : f32, beta = 3.0 : f32, transB = 1 : i64} : (tensor<4x3xf32>, tensor<2x3xf32>, tensor<2xf32>) -> tensor<4x2xf32> // expected-remark {{multiplied as integers}}
  return %2 : tensor<4x2xf32>
}

// -----

// Weights alone are quantised: what multiplies them is not an integer.
// CHECK-LABEL: func @weightsOnly
// CHECK: onnx.DequantizeLinear
// CHECK: onnx.MatMul(
func.func @weightsOnly(%x: tensor<2x3xf32>) -> tensor<2x4xf32> {
  %none = onnx.None() : () -> none
  %w = onnx.Constant() {value = dense<1> : tensor<3x4xi8>} : () -> tensor<3x4xi8>
  %sw = onnx.Constant() {value = dense<0.25> : tensor<f32>} : () -> tensor<f32>
  %0 = onnx.DequantizeLinear(%w, %sw, %none) : (tensor<3x4xi8>, tensor<f32>, none) -> tensor<3x4xf32>
  %1 = onnx.MatMul(%x, %0) : (tensor<2x3xf32>, tensor<3x4xf32>) -> tensor<2x4xf32>
  return %1 : tensor<2x4xf32>
}

// -----

// The sum over k would have a scale for each summand.
// CHECK-LABEL: func @scalesOfDepth
// CHECK-NOT: onnx.MatMulInteger
// CHECK: return
func.func @scalesOfDepth(%x: tensor<2x3xi8>, %w: tensor<3x4xi8>) -> tensor<2x4xf32> {
  %none = onnx.None() : () -> none
  %s = onnx.Constant() {value = dense<0.25> : tensor<f32>} : () -> tensor<f32>
  %sw = onnx.Constant() {value = dense<[1.0, 2.0, 3.0]> : tensor<3xf32>} : () -> tensor<3xf32>
  %0 = onnx.DequantizeLinear(%x, %s, %none) : (tensor<2x3xi8>, tensor<f32>, none) -> tensor<2x3xf32>
  %1 = onnx.DequantizeLinear(%w, %sw, %none) {axis = 0 : i64} : (tensor<3x4xi8>, tensor<3xf32>, none) -> tensor<3x4xf32>
  %2 = onnx.MatMul(%0, %1) : (tensor<2x3xf32>, tensor<3x4xf32>) -> tensor<2x4xf32> // expected-remark {{multiplied as floats: scales of the right operand are not those of the result's channels}}
  return %2 : tensor<2x4xf32>
}

// -----

// CHECK-LABEL: func @rowScales
// CHECK-NOT: onnx.MatMulInteger
// CHECK: return
func.func @rowScales(%x: tensor<2x3xi8>, %w: tensor<3x4xi8>) -> tensor<2x4xf32> {
  %none = onnx.None() : () -> none
  %s = onnx.Constant() {value = dense<0.25> : tensor<f32>} : () -> tensor<f32>
  %sx = onnx.Constant() {value = dense<[1.0, 2.0]> : tensor<2xf32>} : () -> tensor<2xf32>
  %0 = onnx.DequantizeLinear(%x, %sx, %none) {axis = 0 : i64} : (tensor<2x3xi8>, tensor<2xf32>, none) -> tensor<2x3xf32>
  %1 = onnx.DequantizeLinear(%w, %s, %none) : (tensor<3x4xi8>, tensor<f32>, none) -> tensor<3x4xf32>
  %2 = onnx.MatMul(%0, %1) : (tensor<2x3xf32>, tensor<3x4xf32>) -> tensor<2x4xf32> // expected-remark {{multiplied as floats: the left operand has several scales}}
  return %2 : tensor<2x4xf32>
}

// -----

// CHECK-LABEL: func @sixteenBits
// CHECK-NOT: onnx.MatMulInteger
// CHECK: return
func.func @sixteenBits(%x: tensor<2x3xi16>, %w: tensor<3x4xi8>) -> tensor<2x4xf32> {
  %none = onnx.None() : () -> none
  %s = onnx.Constant() {value = dense<0.25> : tensor<f32>} : () -> tensor<f32>
  %0 = onnx.DequantizeLinear(%x, %s, %none) : (tensor<2x3xi16>, tensor<f32>, none) -> tensor<2x3xf32>
  %1 = onnx.DequantizeLinear(%w, %s, %none) : (tensor<3x4xi8>, tensor<f32>, none) -> tensor<3x4xf32>
  %2 = onnx.MatMul(%0, %1) : (tensor<2x3xf32>, tensor<3x4xf32>) -> tensor<2x4xf32> // expected-remark {{multiplied as floats: integers of other than 8 bits}}
  return %2 : tensor<2x4xf32>
}

// -----

// CHECK-LABEL: func @biasGiven
// CHECK-NOT: onnx.ConvInteger
// CHECK: return
func.func @biasGiven(%x: tensor<1x3x4xi8>, %w: tensor<2x3x2xi8>, %b: tensor<2xf32>) -> tensor<1x2x3xf32> {
  %none = onnx.None() : () -> none
  %s = onnx.Constant() {value = dense<0.25> : tensor<f32>} : () -> tensor<f32>
  %0 = onnx.DequantizeLinear(%x, %s, %none) : (tensor<1x3x4xi8>, tensor<f32>, none) -> tensor<1x3x4xf32>
  %1 = onnx.DequantizeLinear(%w, %s, %none) : (tensor<2x3x2xi8>, tensor<f32>, none) -> tensor<2x3x2xf32>
  %2 = onnx.Conv(%0, %1, %b) : (tensor<1x3x4xf32>, tensor<2x3x2xf32>, tensor<2xf32>) -> tensor<1x2x3xf32> // expected-remark {{multiplied as floats: what is added is not a constant}}
  return %2 : tensor<1x2x3xf32>
}

// -----

// The scale is known only when the model runs.
// CHECK-LABEL: func @scaleGiven
// CHECK-NOT: onnx.MatMulInteger
// CHECK: return
func.func @scaleGiven(%x: tensor<2x3xi8>, %w: tensor<3x4xi8>, %s: tensor<f32>) -> tensor<2x4xf32> {
  %none = onnx.None() : () -> none
  %0 = onnx.DequantizeLinear(%x, %s, %none) : (tensor<2x3xi8>, tensor<f32>, none) -> tensor<2x3xf32>
  %1 = onnx.DequantizeLinear(%w, %s, %none) : (tensor<3x4xi8>, tensor<f32>, none) -> tensor<3x4xf32>
  %2 = onnx.MatMul(%0, %1) : (tensor<2x3xf32>, tensor<3x4xf32>) -> tensor<2x4xf32>
  return %2 : tensor<2x4xf32>
}
