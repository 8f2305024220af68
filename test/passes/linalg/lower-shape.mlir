// RUN: cameo-opt %s --split-input-file --verify-diagnostics --cameo-lower-onnx-to-dispatches | FileCheck %s

// A shape that is computed from sizes leaves only the view.
// CHECK-LABEL: func @flattened
// CHECK-NOT: kernel.dispatch
// CHECK-NOT: rt.check
// CHECK: %[[N:.*]] = tensor.dim %arg0
// CHECK: rt.reshape %arg0 sizes(%[[N]]) : tensor<?x3x4xf32> -> tensor<?x12xf32>
func.func @flattened(%x: tensor<?x3x4xf32>) -> tensor<?x?xf32> {
  %zero = onnx.Constant() {value = dense<0> : tensor<1xi64>} : () -> tensor<1xi64>
  %rest = onnx.Constant() {value = dense<-1> : tensor<1xi64>} : () -> tensor<1xi64>
  %s = onnx.Shape(%x) : (tensor<?x3x4xf32>) -> tensor<3xi64>
  %n = onnx.Gather(%s, %zero) : (tensor<3xi64>, tensor<1xi64>) -> tensor<1xi64>
  %to = onnx.Concat(%n, %rest) {axis = 0 : i64} : (tensor<1xi64>, tensor<1xi64>) -> tensor<2xi64>
  %y = onnx.Reshape(%x, %to) : (tensor<?x3x4xf32>, tensor<2xi64>) -> tensor<?x?xf32>
  return %y : tensor<?x?xf32>
}

// -----

// Counts that may differ are compared at run time.
// CHECK-LABEL: func @checked
// CHECK: rt.check
// CHECK: rt.reshape
func.func @checked(%x: tensor<?xf32>) -> tensor<2x3xf32> {
  %to = onnx.Constant() {value = dense<[2, 3]> : tensor<2xi64>} : () -> tensor<2xi64>
  %y = onnx.Reshape(%x, %to) : (tensor<?xf32>, tensor<2xi64>) -> tensor<2x3xf32>
  return %y : tensor<2x3xf32>
}

// -----

// expected-error @below {{unsupported: 1 node cannot be compiled}}
func.func @unequal(%x: tensor<5xf32>) -> tensor<2x3xf32> {
  %to = onnx.Constant() {value = dense<[2, 3]> : tensor<2xi64>} : () -> tensor<2xi64>
  // expected-note @below {{5 elements cannot take a shape of 6 elements}}
  %y = onnx.Reshape(%x, %to) : (tensor<5xf32>, tensor<2xi64>) -> tensor<2x3xf32>
  return %y : tensor<2x3xf32>
}

// -----

// Axes of run time: each dimension is found out by the plan.
// CHECK-LABEL: func @unsqueeze_at_run_time
// CHECK-COUNT-2: rt.read
// CHECK: rt.check %{{.*}}, "the {1} axes name {0} dimensions of a tensor of rank 3; each must be in range and given once"
// CHECK: rt.reshape %{{.*}} : {{.*}}tensor<?x?x?xf32>
func.func @unsqueeze_at_run_time(%x: tensor<4xf32>, %axes: tensor<2xi64>) -> tensor<?x?x?xf32> {
  %y = onnx.Unsqueeze(%x, %axes) : (tensor<4xf32>, tensor<2xi64>) -> tensor<?x?x?xf32>
  return %y : tensor<?x?x?xf32>
}

// -----

// CHECK-LABEL: func @squeeze_at_run_time
// CHECK: rt.check %{{.*}}, "the {1} axes name {0} dimensions of a tensor of rank 2; each must be in range and given once"
// CHECK: rt.check %{{.*}}, "{0} elements cannot take a shape of {1} elements"
// CHECK: rt.reshape %{{.*}} : {{.*}}tensor<?xf32>
func.func @squeeze_at_run_time(%x: tensor<1x4xf32>, %axes: tensor<1xi64>) -> tensor<?xf32> {
  %y = onnx.Squeeze(%x, %axes) : (tensor<1x4xf32>, tensor<1xi64>) -> tensor<?xf32>
  return %y : tensor<?xf32>
}
