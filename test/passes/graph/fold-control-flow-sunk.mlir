// What an If decides for one behind it: `continue` and `break`, as exporters write them.
// RUN: cameo-opt %s --split-input-file --pass-pipeline='builtin.module(cameo-fold-control-flow)' > %t
// RUN: FileCheck %s < %t
// RUN: cameo-opt %t --split-input-file --pass-pipeline='builtin.module(cameo-fold-control-flow)' | diff %t -

// The flag is known in each branch, and the number that stands for what is not set is read by nobody.
// CHECK-LABEL: func @flag(
// CHECK-DAG: %[[NEG:.*]] = onnx.Neg(%arg0)
// CHECK-DAG: %[[EXP:.*]] = onnx.Exp(%arg0)
// CHECK: %[[Y:.*]] = onnx.Where(%arg1, %[[EXP]], %[[NEG]])
// CHECK-NEXT: return %[[Y]]
func.func @flag(%x: tensor<3xf32>, %c: tensor<i1>) -> tensor<*xf32> {
  %true = onnx.Constant() {value = dense<true> : tensor<i1>} : () -> tensor<i1>
  %false = onnx.Constant() {value = dense<false> : tensor<i1>} : () -> tensor<i1>
  %unset = onnx.Constant() {value = dense<0.0> : tensor<f32>} : () -> tensor<f32>
  %0:3 = onnx.If(%c) ({
    %1 = onnx.Identity(%false) : (tensor<i1>) -> tensor<i1>
    onnx.Yield(%1, %x, %unset) : (tensor<i1>, tensor<3xf32>, tensor<f32>) -> ()
  }, {
    %1 = onnx.Exp(%x) : (tensor<3xf32>) -> tensor<*xf32>
    onnx.Yield(%true, %unset, %1) : (tensor<i1>, tensor<f32>, tensor<*xf32>) -> ()
  }) : (tensor<i1>) -> (tensor<*xi1>, tensor<*xf32>, tensor<*xf32>)
  %2 = onnx.Cast(%0#0) {to = 9 : i64} : (tensor<*xi1>) -> tensor<*xi1>
  %3 = onnx.If(%2) ({
    %4 = onnx.Neg(%0#1) : (tensor<*xf32>) -> tensor<*xf32>
    onnx.Yield(%4) : (tensor<*xf32>) -> ()
  }, {
    onnx.Yield(%0#2) : (tensor<*xf32>) -> ()
  }) : (tensor<*xi1>) -> tensor<*xf32>
  return %3 : tensor<*xf32>
}

// -----

// One condition decides on both; what others read of the first one stays.
// CHECK-LABEL: func @same(
// CHECK: %[[Y:.*]]:2 = onnx.CallIf(%arg1, %arg0)
// CHECK-NEXT: return %[[Y]]#0, %[[Y]]#1 : tensor<?xf32>, tensor<?xf32>
// CHECK: func private @same.then(
// CHECK-NOT: onnx.Cos
// CHECK: onnx.Sin(
// CHECK: func private @same.else(
// CHECK: onnx.Cos(
// CHECK-NOT: onnx.Sin
func.func @same(%x: tensor<?xf32> {onnx.dims = ["N"]}, %c: tensor<i1>) -> (tensor<*xf32>, tensor<*xf32>) {
  %unset = onnx.Constant() {value = dense<0.0> : tensor<f32>} : () -> tensor<f32>
  %0:3 = onnx.If(%c) ({
    onnx.Yield(%x, %x, %unset) : (tensor<?xf32>, tensor<?xf32>, tensor<f32>) -> ()
  }, {
    %1 = onnx.Concat(%x, %x) {axis = 0 : i64} : (tensor<?xf32>, tensor<?xf32>) -> tensor<*xf32>
    onnx.Yield(%1, %unset, %1) : (tensor<*xf32>, tensor<f32>, tensor<*xf32>) -> ()
  }) : (tensor<i1>) -> (tensor<*xf32>, tensor<*xf32>, tensor<*xf32>)
  %2 = onnx.If(%c) ({
    %3 = onnx.Cos(%0#1) : (tensor<*xf32>) -> tensor<*xf32>
    onnx.Yield(%3) : (tensor<*xf32>) -> ()
  }, {
    %3 = onnx.Sin(%0#2) : (tensor<*xf32>) -> tensor<*xf32>
    onnx.Yield(%3) : (tensor<*xf32>) -> ()
  }) : (tensor<i1>) -> tensor<*xf32>
  return %0#0, %2 : tensor<*xf32>, tensor<*xf32>
}

// -----

// Results that others read, another condition, and what is computed between the two stay where they are.
// CHECK-LABEL: func @apart(
// CHECK-COUNT-4: onnx.CallIf(
// CHECK: return
func.func @apart(%x: tensor<?xf32> {onnx.dims = ["N"]}, %c: tensor<i1>, %d: tensor<i1>) -> (tensor<*xf32>, tensor<*xf32>, tensor<*xf32>) {
  %0 = onnx.If(%c) ({
    onnx.Yield(%x) : (tensor<?xf32>) -> ()
  }, {
    %1 = onnx.Concat(%x, %x) {axis = 0 : i64} : (tensor<?xf32>, tensor<?xf32>) -> tensor<*xf32>
    onnx.Yield(%1) : (tensor<*xf32>) -> ()
  }) : (tensor<i1>) -> tensor<*xf32>
  %2 = onnx.If(%c) ({
    onnx.Yield(%0) : (tensor<*xf32>) -> ()
  }, {
    onnx.Yield(%x) : (tensor<?xf32>) -> ()
  }) : (tensor<i1>) -> tensor<*xf32>
  %3 = onnx.If(%d) ({
    %4 = onnx.Sin(%2) : (tensor<*xf32>) -> tensor<*xf32>
    onnx.Yield(%4) : (tensor<*xf32>) -> ()
  }, {
    onnx.Yield(%x) : (tensor<?xf32>) -> ()
  }) : (tensor<i1>) -> tensor<*xf32>
  %5 = onnx.Cos(%3) : (tensor<*xf32>) -> tensor<*xf32>
  %6 = onnx.If(%d) ({
    %7 = onnx.Add(%3, %5) : (tensor<*xf32>, tensor<*xf32>) -> tensor<*xf32>
    onnx.Yield(%7) : (tensor<*xf32>) -> ()
  }, {
    %7 = onnx.Concat(%5, %5) {axis = 0 : i64} : (tensor<*xf32>, tensor<*xf32>) -> tensor<*xf32>
    onnx.Yield(%7) : (tensor<*xf32>) -> ()
  }) : (tensor<i1>) -> tensor<*xf32>
  return %0, %2, %6 : tensor<*xf32>, tensor<*xf32>, tensor<*xf32>
}

// -----

// A half is true, and the whole number that it becomes is not.
// CHECK-LABEL: func @halves(
// CHECK-COUNT-2: onnx.CallIf(
// CHECK: return
func.func @halves(%x: tensor<?xf32> {onnx.dims = ["N"]}, %h: tensor<f32>) -> tensor<*xf32> {
  %0 = onnx.Cast(%h) {to = 9 : i64} : (tensor<f32>) -> tensor<i1>
  %1 = onnx.Cast(%h) {to = 6 : i64} : (tensor<f32>) -> tensor<i32>
  %2 = onnx.Cast(%1) {to = 9 : i64} : (tensor<i32>) -> tensor<i1>
  %3 = onnx.If(%0) ({
    onnx.Yield(%x) : (tensor<?xf32>) -> ()
  }, {
    %4 = onnx.Concat(%x, %x) {axis = 0 : i64} : (tensor<?xf32>, tensor<?xf32>) -> tensor<*xf32>
    onnx.Yield(%4) : (tensor<*xf32>) -> ()
  }) : (tensor<i1>) -> tensor<*xf32>
  %5 = onnx.If(%2) ({
    onnx.Yield(%3) : (tensor<*xf32>) -> ()
  }, {
    onnx.Yield(%x) : (tensor<?xf32>) -> ()
  }) : (tensor<i1>) -> tensor<*xf32>
  return %5 : tensor<*xf32>
}
