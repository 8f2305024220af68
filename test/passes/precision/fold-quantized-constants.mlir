// RUN: cameo-opt %s --split-input-file --pass-pipeline='builtin.module(func.func(cameo-fold-quantized-constants{max-elements=4}))' > %t
// RUN: FileCheck %s < %t
// RUN: cameo-opt %t --split-input-file --pass-pipeline='builtin.module(func.func(cameo-fold-quantized-constants{max-elements=4}))' | diff %t -

// Ties go to even, what does not fit to the greatest number.
// CHECK-LABEL: func @quantize
// CHECK: %[[Q:.*]] = onnx.Constant() {value = dense<{{\[\[}}1, 3], [-11, 127]]> : tensor<2x2xi8>}
// CHECK-NEXT: return %[[Q]]
func.func @quantize() -> tensor<2x2xi8> {
  %x = onnx.Constant() {value = dense<[[0.25, 0.75], [-3.0, 900.0]]> : tensor<2x2xf32>} : () -> tensor<2x2xf32>
  %s = onnx.Constant() {value = dense<[0.5, 0.25]> : tensor<2xf32>} : () -> tensor<2xf32>
  %z = onnx.Constant() {value = dense<1> : tensor<2xi8>} : () -> tensor<2xi8>
  %0 = onnx.QuantizeLinear(%x, %s, %z) {axis = 0 : i64} : (tensor<2x2xf32>, tensor<2xf32>, tensor<2xi8>) -> tensor<2x2xi8>
  return %0 : tensor<2x2xi8>
}

// -----

// CHECK-LABEL: func @dequantize
// CHECK: %[[C:.*]] = onnx.Constant() {value = dense<[5.000000e-01, -1.000000e+00]> : tensor<2xf32>}
// CHECK: onnx.Add(%arg0, %[[C]])
func.func @dequantize(%x: tensor<2xf32>) -> tensor<2xf32> {
  %none = onnx.None() : () -> none
  %c = onnx.Constant() {value = dense<[1, -2]> : tensor<2xi32>} : () -> tensor<2xi32>
  %s = onnx.Constant() {value = dense<0.5> : tensor<f32>} : () -> tensor<f32>
  %0 = onnx.DequantizeLinear(%c, %s, %none) : (tensor<2xi32>, tensor<f32>, none) -> tensor<2xf32>
  %1 = onnx.Add(%x, %0) : (tensor<2xf32>, tensor<2xf32>) -> tensor<2xf32>
  return %1 : tensor<2xf32>
}

// -----

// Products take the integers.
// CHECK-LABEL: func @weights
// CHECK: onnx.DequantizeLinear
func.func @weights(%x: tensor<2x2xf32>) -> tensor<2x1xf32> {
  %none = onnx.None() : () -> none
  %c = onnx.Constant() {value = dense<1> : tensor<2x1xi8>} : () -> tensor<2x1xi8>
  %s = onnx.Constant() {value = dense<0.5> : tensor<f32>} : () -> tensor<f32>
  %0 = onnx.DequantizeLinear(%c, %s, %none) : (tensor<2x1xi8>, tensor<f32>, none) -> tensor<2x1xf32>
  %1 = onnx.MatMul(%x, %0) : (tensor<2x2xf32>, tensor<2x1xf32>) -> tensor<2x1xf32>
  return %1 : tensor<2x1xf32>
}

// -----

// Above the limit floats would be more to read than integers.
// CHECK-LABEL: func @large
// CHECK: onnx.DequantizeLinear
func.func @large(%x: tensor<5xf32>) -> tensor<5xf32> {
  %none = onnx.None() : () -> none
  %c = onnx.Constant() {value = dense<1> : tensor<5xi8>} : () -> tensor<5xi8>
  %s = onnx.Constant() {value = dense<0.5> : tensor<f32>} : () -> tensor<f32>
  %0 = onnx.DequantizeLinear(%c, %s, %none) : (tensor<5xi8>, tensor<f32>, none) -> tensor<5xf32>
  %1 = onnx.Add(%x, %0) : (tensor<5xf32>, tensor<5xf32>) -> tensor<5xf32>
  return %1 : tensor<5xf32>
}
