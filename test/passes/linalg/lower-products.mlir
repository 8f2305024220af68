// RUN: cameo-opt %s --cameo-lower-onnx-to-dispatches --split-input-file --verify-diagnostics | FileCheck %s

// How products may be computed goes from the operator to the product in its dispatch.

// CHECK-LABEL: func.func @Rounded
// CHECK: linalg.generic {{.*}} attrs = {kernel.precision = "tf32"}
// CHECK: math.fma
func.func @Rounded(%a: tensor<4x8xf32>, %b: tensor<8x4xf32>) -> tensor<4x4xf32> {
  %y = onnx.MatMul(%a, %b) {onnx.products = "tf32"} : (tensor<4x8xf32>, tensor<8x4xf32>) -> tensor<4x4xf32>
  return %y : tensor<4x4xf32>
}

// -----

// CHECK-LABEL: func.func @EinsumIsRounded
// CHECK: linalg.generic {{.*}} attrs = {kernel.precision = "tf32"}
func.func @EinsumIsRounded(%a: tensor<4x8xf32>, %b: tensor<8x4xf32>) -> tensor<4x4xf32> {
  %y = onnx.Einsum(%a, %b) {equation = "ij,jk->ik", onnx.products = "tf32"} : (tensor<4x8xf32>, tensor<8x4xf32>) -> tensor<4x4xf32>
  return %y : tensor<4x4xf32>
}

// -----

// CHECK-LABEL: func.func @HalfSums
// CHECK: linalg.generic {{.*}} outs(%{{.*}} : tensor<1x4x6x6xf16>)
// CHECK: math.fma {{.*}} : f16
func.func @HalfSums(%x: tensor<1x3x8x8xf16>, %w: tensor<4x3x3x3xf16>) -> tensor<1x4x6x6xf16> {
  %none = onnx.None() : () -> none
  %y = onnx.Conv(%x, %w, %none) {onnx.products = "f16_sums"} : (tensor<1x3x8x8xf16>, tensor<4x3x3x3xf16>, none) -> tensor<1x4x6x6xf16>
  return %y : tensor<1x4x6x6xf16>
}

// -----

// It is of f32 alone, and of f16.
// CHECK-LABEL: func.func @OtherTypes
// CHECK-NOT: kernel.precision
// CHECK: math.fma {{.*}} : f32
func.func @OtherTypes(%a: tensor<4x8xf16>, %b: tensor<8x4xf16>) -> tensor<4x4xf16> {
  %y = onnx.MatMul(%a, %b) {onnx.products = "tf32"} : (tensor<4x8xf16>, tensor<8x4xf16>) -> tensor<4x4xf16>
  return %y : tensor<4x4xf16>
}

// -----

// CHECK-LABEL: func.func @NotAsked
// CHECK-NOT: kernel.precision
func.func @NotAsked(%a: tensor<4x8xf32>, %b: tensor<8x4xf32>) -> tensor<4x4xf32> {
  %y = onnx.MatMul(%a, %b) : (tensor<4x8xf32>, tensor<8x4xf32>) -> tensor<4x4xf32>
  return %y : tensor<4x4xf32>
}

// -----

func.func @Unknown(%a: tensor<4x8xf32>, %b: tensor<8x4xf32>) -> tensor<4x4xf32> {
  // expected-error @below {{'onnx.products' is "tf32" or "f16_sums", not "fast"}}
  %y = onnx.MatMul(%a, %b) {onnx.products = "fast"} : (tensor<4x8xf32>, tensor<8x4xf32>) -> tensor<4x4xf32>
  return %y : tensor<4x4xf32>
}
