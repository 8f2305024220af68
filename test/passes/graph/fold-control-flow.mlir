// RUN: cameo-opt %s --split-input-file --pass-pipeline='builtin.module(cameo-fold-control-flow)' > %t
// RUN: FileCheck %s < %t
// RUN: cameo-opt %t --split-input-file --pass-pipeline='builtin.module(cameo-fold-control-flow)' | diff %t -

// CHECK-LABEL: func @constant
// CHECK-NOT: onnx.If
// CHECK: %[[Y:.*]] = onnx.Relu(%arg0) {onnx.shape_declared} : (tensor<2xf32>) -> tensor<2xf32>
// CHECK-NEXT: return %[[Y]] : tensor<2xf32>
func.func @constant(%x: tensor<2xf32>, %a: tensor<2xf32>) -> tensor<2xf32> {
  %c = onnx.Constant() {value = dense<true> : tensor<i1>} : () -> tensor<i1>
  %0 = onnx.If(%c) ({
    onnx.Yield(%a) : (tensor<2xf32>) -> ()
  }, {
    %1 = onnx.Relu(%x) : (tensor<2xf32>) -> tensor<2xf32>
    onnx.Yield(%1) : (tensor<2xf32>) -> ()
  }) : (tensor<i1>) -> tensor<2xf32>
  return %0 : tensor<2xf32>
}

// -----

// A branch without operators, whose result has the type of what it passes on.
// CHECK-LABEL: func @passes
// CHECK-SAME: -> tensor<2xf32>
// CHECK: return %arg1 : tensor<2xf32>
func.func @passes(%x: tensor<2xf32>, %a: tensor<2xf32>) -> tensor<*xf32> {
  %c = onnx.Constant() {value = dense<false> : tensor<1xi1>} : () -> tensor<1xi1>
  %0 = onnx.If(%c) ({
    onnx.Yield(%a) : (tensor<2xf32>) -> ()
  }, {
    %1 = onnx.Relu(%x) : (tensor<2xf32>) -> tensor<*xf32>
    onnx.Yield(%1) : (tensor<*xf32>) -> ()
  }) : (tensor<1xi1>) -> tensor<*xf32>
  return %0 : tensor<*xf32>
}

// -----

// The second condition is known from the shape of the first one's result.
// CHECK-LABEL: func @chain
// CHECK-NOT: onnx.If
// CHECK: %[[S:.*]] = onnx.Squeeze(%arg0, {{.*}}) {onnx.shape_declared} : {{.*}} -> tensor<3xf32>
// CHECK: %[[Y:.*]] = onnx.Neg(%[[S]]) {onnx.shape_declared} : (tensor<3xf32>) -> tensor<3xf32>
// CHECK: return %[[Y]]
func.func @chain(%x: tensor<1x3xf32>) -> tensor<*xf32> {
  %c = onnx.Constant() {value = dense<true> : tensor<i1>} : () -> tensor<i1>
  %axes = onnx.Constant() {value = dense<0> : tensor<1xi64>} : () -> tensor<1xi64>
  %one = onnx.Constant() {value = dense<1> : tensor<i64>} : () -> tensor<i64>
  %0 = onnx.If(%c) ({
    onnx.Yield(%x) : (tensor<1x3xf32>) -> ()
  }, {
    %1 = onnx.Squeeze(%x, %axes) : (tensor<1x3xf32>, tensor<1xi64>) -> tensor<*xf32>
    onnx.Yield(%1) : (tensor<*xf32>) -> ()
  }) : (tensor<i1>) -> tensor<*xf32>
  %shape = onnx.Shape(%0) : (tensor<*xf32>) -> tensor<*xi64>
  %rank = onnx.Size(%shape) : (tensor<*xi64>) -> tensor<*xi64>
  %same = onnx.Equal(%rank, %one) : (tensor<*xi64>, tensor<i64>) -> tensor<*xi1>
  %2 = onnx.If(%same) ({
    onnx.Yield(%0) : (tensor<*xf32>) -> ()
  }, {
    %3 = onnx.Neg(%0) : (tensor<*xf32>) -> tensor<*xf32>
    onnx.Yield(%3) : (tensor<*xf32>) -> ()
  }) : (tensor<*xi1>) -> tensor<*xf32>
  return %2 : tensor<*xf32>
}

// -----

// CHECK-LABEL: func @nested
// CHECK-NOT: onnx.If
// CHECK: onnx.Abs(%arg0)
func.func @nested(%x: tensor<2xf32>) -> tensor<2xf32> {
  %yes = onnx.Constant() {value = dense<true> : tensor<i1>} : () -> tensor<i1>
  %no = onnx.Constant() {value = dense<false> : tensor<i1>} : () -> tensor<i1>
  %0 = onnx.If(%yes) ({
    onnx.Yield(%x) : (tensor<2xf32>) -> ()
  }, {
    %1 = onnx.If(%no) ({
      %2 = onnx.Abs(%x) : (tensor<2xf32>) -> tensor<2xf32>
      onnx.Yield(%2) : (tensor<2xf32>) -> ()
    }, {
      onnx.Yield(%x) : (tensor<2xf32>) -> ()
    }) : (tensor<i1>) -> tensor<2xf32>
    onnx.Yield(%1) : (tensor<2xf32>) -> ()
  }) : (tensor<i1>) -> tensor<2xf32>
  return %0 : tensor<2xf32>
}

// -----

// Of an open size, and of a condition that an input holds, only a run knows: both branches, and a choice.
// CHECK-LABEL: func @open
// CHECK: %[[SAME:.*]] = onnx.Equal(
// CHECK: %[[A:.*]] = onnx.Neg(%arg0)
// CHECK: %[[X:.*]] = onnx.Where(%[[SAME]], %[[A]], %arg0)
// CHECK: %[[B:.*]] = onnx.Neg(%arg0)
// CHECK: %[[Y:.*]] = onnx.Where(%arg1, %[[B]], %arg0)
// CHECK: return %[[X]], %[[Y]]
func.func @open(%x: tensor<?x3xf32> {onnx.dims = ["N", 3]}, %given: tensor<i1>) -> (tensor<*xf32>, tensor<*xf32>) {
  %zero = onnx.Constant() {value = dense<0> : tensor<i64>} : () -> tensor<i64>
  %one = onnx.Constant() {value = dense<1> : tensor<i64>} : () -> tensor<i64>
  %shape = onnx.Shape(%x) : (tensor<?x3xf32>) -> tensor<2xi64>
  %size = onnx.Gather(%shape, %zero) : (tensor<2xi64>, tensor<i64>) -> tensor<i64>
  %same = onnx.Equal(%size, %one) : (tensor<i64>, tensor<i64>) -> tensor<i1>
  %0 = onnx.If(%same) ({
    onnx.Yield(%x) : (tensor<?x3xf32>) -> ()
  }, {
    %1 = onnx.Neg(%x) : (tensor<?x3xf32>) -> tensor<*xf32>
    onnx.Yield(%1) : (tensor<*xf32>) -> ()
  }) : (tensor<i1>) -> tensor<*xf32>
  %2 = onnx.If(%given) ({
    onnx.Yield(%x) : (tensor<?x3xf32>) -> ()
  }, {
    %3 = onnx.Neg(%x) : (tensor<?x3xf32>) -> tensor<*xf32>
    onnx.Yield(%3) : (tensor<*xf32>) -> ()
  }) : (tensor<i1>) -> tensor<*xf32>
  return %0, %2 : tensor<*xf32>, tensor<*xf32>
}

// -----

// The branch says nothing of what it yields, and nothing can be inferred of it, but the If does.
// CHECK-LABEL: func @declared
// CHECK-SAME: -> tensor<3xf32>
// CHECK: %[[Y:.*]] = onnx.Squeeze(%arg0, {{.*}}) {onnx.shape_declared} : {{.*}} -> tensor<3xf32>
// CHECK: return %[[Y]]
func.func @declared(%x: tensor<?x3xf32>, %a: tensor<3xf32>) -> tensor<3xf32> {
  %none = onnx.None() : () -> none
  %c = onnx.Constant() {value = dense<false> : tensor<i1>} : () -> tensor<i1>
  %0 = onnx.If(%c) ({
    %1 = onnx.Squeeze(%x, %none) : (tensor<?x3xf32>, none) -> tensor<*xf32>
    onnx.Yield(%1) : (tensor<*xf32>) -> ()
  }, {
    onnx.Yield(%a) : (tensor<3xf32>) -> ()
  }) : (tensor<i1>) -> tensor<3xf32>
  return %0 : tensor<3xf32>
}
