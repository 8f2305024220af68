// RUN: cameo-opt %s --split-input-file --verify-diagnostics --cameo-lower-onnx-to-dispatches | FileCheck %s

// One dispatch: the mean, then the mean of squared differences, then the elements.
// CHECK-LABEL: func @layer
// CHECK: kernel.dispatch
// CHECK: iterator_types = ["parallel", "reduction"]
// CHECK: iterator_types = ["parallel", "reduction"]
// CHECK: arith.subf
// CHECK: math.fma
// CHECK: math.sqrt
// CHECK: iterator_types = ["parallel", "parallel"]
// CHECK-NOT: kernel.dispatch
func.func @layer(%x: tensor<2x8xf32>, %s: tensor<8xf32>, %b: tensor<8xf32>) -> tensor<2x8xf32> {
  %y, %m, %d = onnx.LayerNormalization(%x, %s, %b)
      : (tensor<2x8xf32>, tensor<8xf32>, tensor<8xf32>) -> (tensor<2x8xf32>, none, none)
  return %y : tensor<2x8xf32>
}

// -----

// Statistics in f32 with a tensor in f16: computed in f32.
// CHECK-LABEL: func @batch
// CHECK: arith.extf {{.*}} : f16 to f32
// CHECK: math.fma
// CHECK: arith.truncf {{.*}} : f32 to f16
func.func @batch(%x: tensor<?x3x4xf16>, %c: tensor<3xf32>) -> tensor<?x3x4xf16> {
  %y, %m, %v = onnx.BatchNormalization(%x, %c, %c, %c, %c)
      : (tensor<?x3x4xf16>, tensor<3xf32>, tensor<3xf32>, tensor<3xf32>, tensor<3xf32>)
      -> (tensor<?x3x4xf16>, none, none)
  return %y : tensor<?x3x4xf16>
}

// -----

// What is known of each channel is computed here: 3 / sqrt(4 + 0) and 1 / sqrt(16 + 0).
// CHECK-LABEL: dense<[1.500000e+00, 2.500000e-01]> : tensor<2xf32>
// CHECK-LABEL: func @known_batch
// CHECK: kernel.dispatch ins(%{{.*}}, %{{.*}}, %{{.*}} : tensor<?x2x4xf32>, tensor<2xf32>, tensor<2xf32>)
// CHECK-NOT: math.sqrt
// CHECK: arith.subf
// CHECK: math.fma
func.func @known_batch(%x: tensor<?x2x4xf32>, %b: tensor<2xf32>) -> tensor<?x2x4xf32> {
  %s = onnx.Constant() {value = dense<[3.0, 1.0]> : tensor<2xf32>} : () -> tensor<2xf32>
  %n = onnx.Constant() {value = dense<[4.0, 16.0]> : tensor<2xf32>} : () -> tensor<2xf32>
  %y, %m, %v = onnx.BatchNormalization(%x, %s, %b, %b, %n) {epsilon = 0.0 : f32}
      : (tensor<?x2x4xf32>, tensor<2xf32>, tensor<2xf32>, tensor<2xf32>, tensor<2xf32>)
      -> (tensor<?x2x4xf32>, none, none)
  return %y : tensor<?x2x4xf32>
}

// -----

// Constants of 16 bits are as good; their quotient is not rounded to 16 bits: 3 / sqrt(5 + 0).
// CHECK-LABEL: dense<[1.34164071, 2.500000e-01]> : tensor<2xf32>
// CHECK-LABEL: func @known_half_batch
// CHECK: kernel.dispatch ins(%{{.*}}, %{{.*}}, %{{.*}} : tensor<?x2x4xf16>, tensor<2xf32>, tensor<2xf16>)
// CHECK-NOT: math.sqrt
// CHECK: arith.subf {{.*}} : f32
// CHECK: math.fma {{.*}} : f32
func.func @known_half_batch(%x: tensor<?x2x4xf16>, %b: tensor<2xf16>) -> tensor<?x2x4xf16> {
  %s = onnx.Constant() {value = dense<[3.0, 1.0]> : tensor<2xf16>} : () -> tensor<2xf16>
  %n = onnx.Constant() {value = dense<[5.0, 16.0]> : tensor<2xf16>} : () -> tensor<2xf16>
  %y, %m, %v = onnx.BatchNormalization(%x, %s, %b, %b, %n) {epsilon = 0.0 : f32}
      : (tensor<?x2x4xf16>, tensor<2xf16>, tensor<2xf16>, tensor<2xf16>, tensor<2xf16>)
      -> (tensor<?x2x4xf16>, none, none)
  return %y : tensor<?x2x4xf16>
}

// -----

// Where a factor would be none, kernels compute it: 1 / sqrt(0 + 0).
// CHECK-LABEL: func @infinite_batch
// CHECK: math.sqrt
func.func @infinite_batch(%x: tensor<?x1x4xf32>, %b: tensor<1xf32>) -> tensor<?x1x4xf32> {
  %s = onnx.Constant() {value = dense<1.0> : tensor<1xf32>} : () -> tensor<1xf32>
  %n = onnx.Constant() {value = dense<0.0> : tensor<1xf32>} : () -> tensor<1xf32>
  %y, %m, %v = onnx.BatchNormalization(%x, %s, %b, %b, %n) {epsilon = 0.0 : f32}
      : (tensor<?x1x4xf32>, tensor<1xf32>, tensor<1xf32>, tensor<1xf32>, tensor<1xf32>)
      -> (tensor<?x1x4xf32>, none, none)
  return %y : tensor<?x1x4xf32>
}

// -----

// Groups are a view.
// CHECK-LABEL: func @group
// CHECK: rt.reshape {{.*}} tensor<1x2x3x10xf32>
func.func @group(%x: tensor<1x6x2x5xf32>, %c: tensor<6xf32>) -> tensor<1x6x2x5xf32> {
  %y = onnx.GroupNormalization(%x, %c, %c) {num_groups = 2 : i64}
      : (tensor<1x6x2x5xf32>, tensor<6xf32>, tensor<6xf32>) -> tensor<1x6x2x5xf32>
  return %y : tensor<1x6x2x5xf32>
}

// -----

// expected-error@below {{1 node cannot be compiled}}
func.func @no_such_axis(%x: tensor<2x3xf32>) -> tensor<2x3xf32> {
  // expected-note@below {{axis 2 is outside [-2, 2)}}
  %y = onnx.LpNormalization(%x) {axis = 2 : i64} : (tensor<2x3xf32>) -> tensor<2x3xf32>
  return %y : tensor<2x3xf32>
}
