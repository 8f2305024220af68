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

// So do recurrent networks, in each step; their biases are floats.
// CHECK-LABEL: func @recurrent
// CHECK: %[[W:.*]] = onnx.DequantizeLinear
// CHECK: %[[B:.*]] = onnx.Constant() {value = dense<5.000000e-01> : tensor<1x2xf32>}
// CHECK: onnx.RNN(%arg0, %[[W]], %[[W]], %[[B]],
func.func @recurrent(%x: tensor<2x1x1xf32>) -> tensor<2x1x1x1xf32> {
  %none = onnx.None() : () -> none
  %c = onnx.Constant() {value = dense<1> : tensor<1x1x1xi8>} : () -> tensor<1x1x1xi8>
  %d = onnx.Constant() {value = dense<1> : tensor<1x2xi8>} : () -> tensor<1x2xi8>
  %s = onnx.Constant() {value = dense<0.5> : tensor<f32>} : () -> tensor<f32>
  %w = onnx.DequantizeLinear(%c, %s, %none) : (tensor<1x1x1xi8>, tensor<f32>, none) -> tensor<1x1x1xf32>
  %b = onnx.DequantizeLinear(%d, %s, %none) : (tensor<1x2xi8>, tensor<f32>, none) -> tensor<1x2xf32>
  %0, %1 = onnx.RNN(%x, %w, %w, %b, %none, %none)
      : (tensor<2x1x1xf32>, tensor<1x1x1xf32>, tensor<1x1x1xf32>, tensor<1x2xf32>, none, none) -> (tensor<2x1x1x1xf32>, none)
  return %0 : tensor<2x1x1x1xf32>
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

// -----

// A scale and a zero point for each block of two rows; numbers of 4 bits.
// CHECK-LABEL: func @blocks
// CHECK: onnx.Constant() {value = dense<{{\[\[}}1, -8], [3, 7], [-2, 5]]> : tensor<3x2xi4>}
// CHECK-NOT: onnx.QuantizeLinear
func.func @blocks() -> tensor<3x2xi4> {
  %x = onnx.Constant() {value = dense<[[0.5, -90.0], [1.5, 90.0], [-4.0, 8.0]]> : tensor<3x2xf32>} : () -> tensor<3x2xf32>
  %s = onnx.Constant() {value = dense<[[0.5, 1.0], [2.0, 4.0]]> : tensor<2x2xf32>} : () -> tensor<2x2xf32>
  %z = onnx.Constant() {value = dense<[[0, 1], [0, 3]]> : tensor<2x2xi4>} : () -> tensor<2x2xi4>
  %0 = onnx.QuantizeLinear(%x, %s, %z) {axis = 0 : i64, block_size = 2 : i64} : (tensor<3x2xf32>, tensor<2x2xf32>, tensor<2x2xi4>) -> tensor<3x2xi4>
  return %0 : tensor<3x2xi4>
}

// -----

// Floats of 8 bits: the nearest, ties to even, the greatest beyond it.
// CHECK-LABEL: func @floats
// CHECK: onnx.Constant() {value = dense<[1.000000e+00, 4.480000e+02, -2.000000e+00, 0x7F]> : tensor<4xf8E4M3FN>}
// CHECK: onnx.Constant() {value = dense<[0x7C, 0xFC]> : tensor<2xf8E5M2>}
// CHECK-NOT: onnx.QuantizeLinear
func.func @floats() -> (tensor<4xf8E4M3FN>, tensor<2xf8E5M2>) {
  %none = onnx.None() : () -> none
  %x = onnx.Constant() {value = dense<[0.5, 1.0e4, -1.0625, 0x7FC00000]> : tensor<4xf32>} : () -> tensor<4xf32>
  %y = onnx.Constant() {value = dense<[1.0e9, -1.0e9]> : tensor<2xf32>} : () -> tensor<2xf32>
  %s = onnx.Constant() {value = dense<0.5> : tensor<f32>} : () -> tensor<f32>
  %z = onnx.Constant() {value = dense<0.0> : tensor<f8E4M3FN>} : () -> tensor<f8E4M3FN>
  %0 = onnx.QuantizeLinear(%x, %s, %z) : (tensor<4xf32>, tensor<f32>, tensor<f8E4M3FN>) -> tensor<4xf8E4M3FN>
  %1 = onnx.QuantizeLinear(%y, %s, %none) {output_dtype = 19 : i64, saturate = 0 : i64} : (tensor<2xf32>, tensor<f32>, none) -> tensor<2xf8E5M2>
  return %0, %1 : tensor<4xf8E4M3FN>, tensor<2xf8E5M2>
}

// -----

// A scale of 16 bits rounds the result to as many.
// CHECK-LABEL: func @halves
// CHECK: onnx.Constant() {value = dense<[-7.500000e-01, 1.750000e+00]> : tensor<2xf16>}
func.func @halves(%x: tensor<2xf16>) -> tensor<2xf16> {
  %c = onnx.Constant() {value = dense<[-3, 7]> : tensor<2xi4>} : () -> tensor<2xi4>
  %s = onnx.Constant() {value = dense<0.25> : tensor<f16>} : () -> tensor<f16>
  %z = onnx.Constant() {value = dense<0> : tensor<i4>} : () -> tensor<i4>
  %0 = onnx.DequantizeLinear(%c, %s, %z) : (tensor<2xi4>, tensor<f16>, tensor<i4>) -> tensor<2xf16>
  %1 = onnx.Add(%x, %0) : (tensor<2xf16>, tensor<2xf16>) -> tensor<2xf16>
  return %1 : tensor<2xf16>
}

// -----

// A scale whose quotients may be subnormal, and one that is not known.
// CHECK-LABEL: func @notFolded
// CHECK-COUNT-2: onnx.QuantizeLinear
func.func @notFolded(%s: tensor<f32>) -> (tensor<1xi4>, tensor<1xi4>) {
  %x = onnx.Constant() {value = dense<1.0> : tensor<1xf32>} : () -> tensor<1xf32>
  %t = onnx.Constant() {value = dense<1.0e-38> : tensor<f32>} : () -> tensor<f32>
  %z = onnx.Constant() {value = dense<0> : tensor<i4>} : () -> tensor<i4>
  %0 = onnx.QuantizeLinear(%x, %t, %z) : (tensor<1xf32>, tensor<f32>, tensor<i4>) -> tensor<1xi4>
  %1 = onnx.QuantizeLinear(%x, %s, %z) : (tensor<1xf32>, tensor<f32>, tensor<i4>) -> tensor<1xi4>
  return %0, %1 : tensor<1xi4>, tensor<1xi4>
}
