// RUN: cameo-opt %s --split-input-file --verify-diagnostics --cameo-lower-onnx-to-dispatches | FileCheck %s

// Dimensions that keep their size take no part: one read an element.
// CHECK-LABEL: func @nearest
// CHECK: math.ceil
// CHECK-COUNT-1: tensor.extract
// CHECK-NOT: tensor.extract
func.func @nearest(%x: tensor<1x3x4xf32>) -> tensor<1x3x8xf32> {
  %none = onnx.None() : () -> none
  %scales = onnx.Constant() {value = dense<[1.0, 1.0, 2.0]> : tensor<3xf32>} : () -> tensor<3xf32>
  %y = onnx.Resize(%x, %none, %scales, %none) : (tensor<1x3x4xf32>, none, tensor<3xf32>, none)
      -> tensor<1x3x8xf32>
  return %y : tensor<1x3x8xf32>
}

// -----

// Known numbers of neighbours are written out, others looped over.
// CHECK-LABEL: func @linear
// CHECK-NOT: scf.for
// CHECK-COUNT-2: tensor.extract
func.func @linear(%x: tensor<4xf32>) -> tensor<8xf32> {
  %none = onnx.None() : () -> none
  %sizes = onnx.Constant() {value = dense<8> : tensor<1xi64>} : () -> tensor<1xi64>
  %y = onnx.Resize(%x, %none, %none, %sizes) {mode = "linear"}
      : (tensor<4xf32>, none, none, tensor<1xi64>) -> tensor<8xf32>
  return %y : tensor<8xf32>
}

// CHECK-LABEL: func @antialias
// CHECK: scf.for
// CHECK: arith.divf
func.func @antialias(%x: tensor<?xf32>) -> tensor<8xf32> {
  %none = onnx.None() : () -> none
  %sizes = onnx.Constant() {value = dense<8> : tensor<1xi64>} : () -> tensor<1xi64>
  %y = onnx.Resize(%x, %none, %none, %sizes) {mode = "linear", antialias = 1 : i64}
      : (tensor<?xf32>, none, none, tensor<1xi64>) -> tensor<8xf32>
  return %y : tensor<8xf32>
}

// -----

// expected-error @below {{unsupported: 1 node cannot be compiled}}
func.func @crop_of_nothing(%x: tensor<4xf32>) -> tensor<8xf32> {
  %none = onnx.None() : () -> none
  %sizes = onnx.Constant() {value = dense<8> : tensor<1xi64>} : () -> tensor<1xi64>
  // expected-note @below {{coordinate_transformation_mode 'tf_crop_and_resize' without roi; nearest supported: half_pixel}}
  %y = onnx.Resize(%x, %none, %none, %sizes) {coordinate_transformation_mode = "tf_crop_and_resize"}
      : (tensor<4xf32>, none, none, tensor<1xi64>) -> tensor<8xf32>
  return %y : tensor<8xf32>
}
