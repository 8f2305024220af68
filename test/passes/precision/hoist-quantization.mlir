// RUN: cameo-opt %s --split-input-file --pass-pipeline='builtin.module(func.func(cameo-hoist-quantization))' > %t
// RUN: FileCheck %s < %t
// RUN: cameo-opt %t --split-input-file --pass-pipeline='builtin.module(func.func(cameo-hoist-quantization))' | diff %t -

// CHECK-LABEL: func @transpose
// CHECK: %[[T:.*]] = onnx.Transpose(%arg0) {{.*}} : (tensor<2x3xi8>) -> tensor<3x2xi8>
// CHECK-NOT: Linear
// CHECK: return %[[T]]
func.func @transpose(%x: tensor<2x3xi8>) -> tensor<3x2xi8> {
  %s = onnx.Constant() {value = dense<0.5> : tensor<f32>} : () -> tensor<f32>
  %z = onnx.Constant() {value = dense<3> : tensor<i8>} : () -> tensor<i8>
  %0 = onnx.DequantizeLinear(%x, %s, %z) : (tensor<2x3xi8>, tensor<f32>, tensor<i8>) -> tensor<2x3xf32>
  %1 = onnx.Transpose(%0) {perm = array<i64: 1, 0>} : (tensor<2x3xf32>) -> tensor<3x2xf32>
  %2 = onnx.QuantizeLinear(%1, %s, %z) : (tensor<3x2xf32>, tensor<f32>, tensor<i8>) -> tensor<3x2xi8>
  return %2 : tensor<3x2xi8>
}

// -----

// What is computed is quantised, then the greatest numbers are taken.
// CHECK-LABEL: func @maxPool
// CHECK: %[[R:.*]] = onnx.Relu
// CHECK: %[[Q:.*]] = onnx.QuantizeLinear(%[[R]],
// CHECK: %[[P:.*]], %{{.*}} = onnx.MaxPool(%[[Q]]) {{.*}} -> (tensor<1x2x4xui8>, none)
// CHECK: %[[F:.*]] = onnx.Flatten(%[[P]]) {{.*}} -> tensor<1x8xui8>
// CHECK-NEXT: return %[[F]]
func.func @maxPool(%x: tensor<1x2x8xf32>) -> tensor<1x8xui8> {
  %0 = onnx.Relu(%x) : (tensor<1x2x8xf32>) -> tensor<1x2x8xf32>
  %1:2 = onnx.MaxPool(%0) {kernel_shape = array<i64: 2>, strides = array<i64: 2>} : (tensor<1x2x8xf32>) -> (tensor<1x2x4xf32>, none)
  %2 = onnx.Flatten(%1#0) : (tensor<1x2x4xf32>) -> tensor<1x8xf32>
  %s = onnx.Constant() {value = dense<0.5> : tensor<f32>} : () -> tensor<f32>
  %z = onnx.Constant() {value = dense<3> : tensor<ui8>} : () -> tensor<ui8>
  %3 = onnx.QuantizeLinear(%2, %s, %z) : (tensor<1x8xf32>, tensor<f32>, tensor<ui8>) -> tensor<1x8xui8>
  return %3 : tensor<1x8xui8>
}

// -----

// One part has the scale of the whole, another one is scaled by itself.
// CHECK-LABEL: func @concat
// CHECK: %[[B:.*]] = onnx.DequantizeLinear(%arg1,
// CHECK: %[[Q:.*]] = onnx.QuantizeLinear(%[[B]],
// CHECK: onnx.Concat(%arg0, %[[Q]]) {axis = 0 : i64} : (tensor<2xi8>, tensor<3xi8>) -> tensor<5xi8>
func.func @concat(%x: tensor<2xi8>, %y: tensor<3xi8>) -> tensor<5xi8> {
  %none = onnx.None() : () -> none
  %s = onnx.Constant() {value = dense<0.5> : tensor<f32>} : () -> tensor<f32>
  %t = onnx.Constant() {value = dense<0.25> : tensor<f32>} : () -> tensor<f32>
  %z = onnx.Constant() {value = dense<0> : tensor<i8>} : () -> tensor<i8>
  %0 = onnx.DequantizeLinear(%x, %s, %none) : (tensor<2xi8>, tensor<f32>, none) -> tensor<2xf32>
  %1 = onnx.DequantizeLinear(%y, %t, %none) : (tensor<3xi8>, tensor<f32>, none) -> tensor<3xf32>
  %2 = onnx.Concat(%0, %1) {axis = 0 : i64} : (tensor<2xf32>, tensor<3xf32>) -> tensor<5xf32>
  %3 = onnx.QuantizeLinear(%2, %s, %z) : (tensor<5xf32>, tensor<f32>, tensor<i8>) -> tensor<5xi8>
  return %3 : tensor<5xi8>
}

// -----

// The axis goes where the transpose takes it.
// CHECK-LABEL: func @transposedAxis
// CHECK: %[[T:.*]] = onnx.Transpose(%arg0) {{.*}} -> tensor<3x2xi8>
// CHECK: onnx.DequantizeLinear(%[[T]], {{.*}}) {axis = 1 : i64} : (tensor<3x2xi8>, tensor<2xf32>, none) -> tensor<3x2xf32>
func.func @transposedAxis(%x: tensor<2x3xi8>) -> tensor<3x2xf32> {
  %none = onnx.None() : () -> none
  %s = onnx.Constant() {value = dense<[0.5, 0.25]> : tensor<2xf32>} : () -> tensor<2xf32>
  %0 = onnx.DequantizeLinear(%x, %s, %none) {axis = 0 : i64} : (tensor<2x3xi8>, tensor<2xf32>, none) -> tensor<2x3xf32>
  %1 = onnx.Transpose(%0) {perm = array<i64: 1, 0>} : (tensor<2x3xf32>) -> tensor<3x2xf32>
  return %1 : tensor<3x2xf32>
}

// -----

// A reshape leaves no axis that the scales could be along.
// CHECK-LABEL: func @reshapedAxis
// CHECK: onnx.DequantizeLinear(%arg0
// CHECK: onnx.Reshape({{.*}} -> tensor<6xf32>
func.func @reshapedAxis(%x: tensor<2x3xi8>) -> tensor<6xf32> {
  %none = onnx.None() : () -> none
  %s = onnx.Constant() {value = dense<[0.5, 0.25]> : tensor<2xf32>} : () -> tensor<2xf32>
  %shape = onnx.Constant() {value = dense<6> : tensor<1xi64>} : () -> tensor<1xi64>
  %0 = onnx.DequantizeLinear(%x, %s, %none) {axis = 0 : i64} : (tensor<2x3xi8>, tensor<2xf32>, none) -> tensor<2x3xf32>
  %1 = onnx.Reshape(%0, %shape) : (tensor<2x3xf32>, tensor<1xi64>) -> tensor<6xf32>
  return %1 : tensor<6xf32>
}

// -----

// Others read the floats that are moved.
// CHECK-LABEL: func @read
// CHECK: %[[T:.*]] = onnx.Transpose(%arg0) {{.*}} -> tensor<3x2xf32>
// CHECK: %[[Q:.*]] = onnx.QuantizeLinear(%[[T]],
// CHECK: return %[[T]], %[[Q]]
func.func @read(%x: tensor<2x3xf32>) -> (tensor<3x2xf32>, tensor<3x2xi8>) {
  %s = onnx.Constant() {value = dense<0.5> : tensor<f32>} : () -> tensor<f32>
  %z = onnx.Constant() {value = dense<3> : tensor<i8>} : () -> tensor<i8>
  %0 = onnx.Transpose(%x) {perm = array<i64: 1, 0>} : (tensor<2x3xf32>) -> tensor<3x2xf32>
  %1 = onnx.QuantizeLinear(%0, %s, %z) : (tensor<3x2xf32>, tensor<f32>, tensor<i8>) -> tensor<3x2xi8>
  return %0, %1 : tensor<3x2xf32>, tensor<3x2xi8>
}

// -----

// Another zero point is another number.
// CHECK-LABEL: func @otherZero
// CHECK: onnx.DequantizeLinear
// CHECK: onnx.QuantizeLinear
func.func @otherZero(%x: tensor<2xi8>) -> tensor<2xi8> {
  %s = onnx.Constant() {value = dense<0.5> : tensor<f32>} : () -> tensor<f32>
  %z = onnx.Constant() {value = dense<3> : tensor<i8>} : () -> tensor<i8>
  %none = onnx.None() : () -> none
  %0 = onnx.DequantizeLinear(%x, %s, %none) : (tensor<2xi8>, tensor<f32>, none) -> tensor<2xf32>
  %1 = onnx.QuantizeLinear(%0, %s, %z) : (tensor<2xf32>, tensor<f32>, tensor<i8>) -> tensor<2xi8>
  return %1 : tensor<2xi8>
}

// -----

// CHECK-LABEL: func @twice
// CHECK: %[[C:.*]] = onnx.Concat(%arg0, %arg0) {axis = 0 : i64} : (tensor<2xi8>, tensor<2xi8>) -> tensor<4xi8>
// CHECK: onnx.DequantizeLinear(%[[C]],
func.func @twice(%x: tensor<2xi8>) -> tensor<4xf32> {
  %s = onnx.Constant() {value = dense<0.5> : tensor<f32>} : () -> tensor<f32>
  %none = onnx.None() : () -> none
  %0 = onnx.DequantizeLinear(%x, %s, %none) : (tensor<2xi8>, tensor<f32>, none) -> tensor<2xf32>
  %1 = onnx.Concat(%0, %0) {axis = 0 : i64} : (tensor<2xf32>, tensor<2xf32>) -> tensor<4xf32>
  return %1 : tensor<4xf32>
}
