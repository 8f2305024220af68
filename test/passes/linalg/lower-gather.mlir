// RUN: cameo-opt %s --split-input-file --verify-diagnostics --cameo-lower-onnx-to-dispatches | FileCheck %s

// Indices count from the end where negative, and are moved into range.
// CHECK-LABEL: func @gather
// CHECK: kernel.dispatch ins(%{{.*}}, %{{.*}} :
// CHECK: %[[READ:.*]] = tensor.extract
// CHECK: arith.index_cast %[[READ]]
// CHECK: arith.maxsi
// CHECK: arith.minsi
// CHECK: tensor.extract
func.func @gather(%x: tensor<5x2xf32>, %i: tensor<3xi64>) -> tensor<3x2xf32> {
  %y = onnx.Gather(%x, %i) : (tensor<5x2xf32>, tensor<3xi64>) -> tensor<3x2xf32>
  return %y : tensor<3x2xf32>
}

// -----

// expected-error @below {{unsupported: 1 node cannot be compiled}}
func.func @empty(%x: tensor<0xf32>, %i: tensor<3xi64>) -> tensor<3xf32> {
  // expected-note @below {{indices into a dimension of size 0}}
  %y = onnx.Gather(%x, %i) : (tensor<0xf32>, tensor<3xi64>) -> tensor<3xf32>
  return %y : tensor<3xf32>
}
