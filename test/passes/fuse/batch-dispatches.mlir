// RUN: cameo-opt %s --split-input-file --pass-pipeline='builtin.module(cameo-lower-onnx-to-dispatches,func.func(cameo-fuse-dispatches),cameo-batch-dispatches)' | FileCheck %s
// RUN: cameo-opt %s --split-input-file --pass-pipeline='builtin.module(cameo-lower-onnx-to-dispatches,func.func(cameo-fuse-dispatches),cameo-batch-dispatches,func.func(cameo-place-concatenations))' | FileCheck %s --check-prefix=PLACED
// RUN: cameo-opt %s --split-input-file --pass-pipeline='builtin.module(cameo-lower-onnx-to-dispatches,func.func(cameo-fuse-dispatches),cameo-batch-dispatches,cameo-batch-dispatches)' | FileCheck %s

// Slices at equal distances of one tensor, constants that are stacked, and a concatenation, before
// whose dimension the members stand.
// CHECK: rt.ledger = [{{.*}}text = "one of 3 equal dispatches in one launch", what = "batch"
// CHECK: rt.constant @w0_x3 = dense<{{\[\[}}1.000000e+00, 2.000000e+00], [3.000000e+00, 4.000000e+00], [5.000000e+00, 6.000000e+00]]>
// CHECK-LABEL: func @slices
// CHECK-SAME: %[[X:.*]]: tensor<4x6xf32>
// CHECK: %[[W:.*]] = rt.get_constant @w0_x3 : tensor<3x2xf32>
// CHECK: %[[E:.*]] = tensor.empty() : tensor<4x3x2xf32>
// CHECK: %[[R:.*]] = kernel.dispatch ins(%[[X]], %[[W]] : {{.*}}) outs(%[[E]] : tensor<4x3x2xf32>)
// CHECK: linalg.generic {{.*}} outs({{.*}} : tensor<3x4x2xf32>)
// CHECK: math.exp
// CHECK-NOT: kernel.dispatch
// CHECK: %[[Y:.*]] = rt.reshape %[[R]] : tensor<4x3x2xf32> -> tensor<4x6xf32>
// CHECK-NEXT: return %[[Y]]
func.func @slices(%x: tensor<4x6xf32>) -> tensor<4x6xf32> {
  %a = onnx.Constant() {value = dense<[1.0, 2.0]> : tensor<2xf32>} : () -> tensor<2xf32>
  %b = onnx.Constant() {value = dense<[3.0, 4.0]> : tensor<2xf32>} : () -> tensor<2xf32>
  %c = onnx.Constant() {value = dense<[5.0, 6.0]> : tensor<2xf32>} : () -> tensor<2xf32>
  %sizes = onnx.Constant() {value = dense<[2, 2, 2]> : tensor<3xi64>} : () -> tensor<3xi64>
  %0:3 = onnx.Split(%x, %sizes) {axis = 1 : i64} : (tensor<4x6xf32>, tensor<3xi64>) -> (tensor<4x2xf32>, tensor<4x2xf32>, tensor<4x2xf32>)
  %1 = onnx.Mul(%0#0, %a) : (tensor<4x2xf32>, tensor<2xf32>) -> tensor<4x2xf32>
  %2 = onnx.Mul(%0#1, %b) : (tensor<4x2xf32>, tensor<2xf32>) -> tensor<4x2xf32>
  %3 = onnx.Mul(%0#2, %c) : (tensor<4x2xf32>, tensor<2xf32>) -> tensor<4x2xf32>
  %4 = onnx.Exp(%1) : (tensor<4x2xf32>) -> tensor<4x2xf32>
  %5 = onnx.Exp(%2) : (tensor<4x2xf32>) -> tensor<4x2xf32>
  %6 = onnx.Exp(%3) : (tensor<4x2xf32>) -> tensor<4x2xf32>
  %y = onnx.Concat(%4, %5, %6) {axis = 1 : i64} : (tensor<4x2xf32>, tensor<4x2xf32>, tensor<4x2xf32>) -> tensor<4x6xf32>
  return %y : tensor<4x6xf32>
}

// -----

// Products of inputs and weights of their own; what reads them is a batch of the batch's members.
// Its last results are read one by one, as views.
// CHECK-LABEL: func @members
// CHECK: %[[A:.*]] = kernel.dispatch ins({{.*}} outs({{.*}} : tensor<2x16x16xf32>)
// CHECK: math.fma
// CHECK: %[[S:.*]] = kernel.dispatch ins(%[[A]] : tensor<2x16x16xf32>) outs({{.*}} : tensor<2x16x16xf32>)
// CHECK: arith.maximumf
// CHECK: %[[V:.*]] = rt.view %[[S]][0, 0, 0] : tensor<2x16x16xf32> -> tensor<1x16x16xf32>
// CHECK: %[[M:.*]] = rt.reshape %[[V]] : tensor<1x16x16xf32> -> tensor<16x16xf32>
// CHECK: rt.view %[[S]][1, 0, 0]
// CHECK: kernel.dispatch ins(%[[M]]
// CHECK: kernel.dispatch
// CHECK-NOT: kernel.dispatch
func.func @members(%x: tensor<2x16x16xf32>, %w: tensor<16x16xf32>) -> tensor<16xf32> {
  %zero = onnx.Constant() {value = dense<0> : tensor<1xi64>} : () -> tensor<1xi64>
  %sizes = onnx.Constant() {value = dense<[1, 1]> : tensor<2xi64>} : () -> tensor<2xi64>
  %0:2 = onnx.Split(%x, %sizes) {axis = 0 : i64} : (tensor<2x16x16xf32>, tensor<2xi64>) -> (tensor<1x16x16xf32>, tensor<1x16x16xf32>)
  %1 = onnx.Squeeze(%0#0, %zero) : (tensor<1x16x16xf32>, tensor<1xi64>) -> tensor<16x16xf32>
  %2 = onnx.Squeeze(%0#1, %zero) : (tensor<1x16x16xf32>, tensor<1xi64>) -> tensor<16x16xf32>
  %3 = onnx.MatMul(%1, %w) : (tensor<16x16xf32>, tensor<16x16xf32>) -> tensor<16x16xf32>
  %4 = onnx.MatMul(%2, %w) : (tensor<16x16xf32>, tensor<16x16xf32>) -> tensor<16x16xf32>
  %5 = onnx.Softmax(%3) {axis = -1 : i64} : (tensor<16x16xf32>) -> tensor<16x16xf32>
  %6 = onnx.Softmax(%4) {axis = -1 : i64} : (tensor<16x16xf32>) -> tensor<16x16xf32>
  %7 = onnx.MatMul(%5, %6) : (tensor<16x16xf32>, tensor<16x16xf32>) -> tensor<16x16xf32>
  %axis = onnx.Constant() {value = dense<1> : tensor<1xi64>} : () -> tensor<1xi64>
  %8 = onnx.ReduceMax(%7, %axis) {keepdims = 0 : i64} : (tensor<16x16xf32>, tensor<1xi64>) -> tensor<16xf32>
  return %8 : tensor<16xf32>
}

// -----

// Results of unlike dispatches are written beside one another for the two that read them.
// CHECK-LABEL: func @placed
// CHECK: %[[A:.*]] = kernel.dispatch
// CHECK: %[[B:.*]] = kernel.dispatch
// CHECK: %[[C:.*]] = rt.concat {{.*}} dim 0 : tensor<1x16x32xf32>, tensor<1x16x32xf32> -> tensor<2x16x32xf32>
// CHECK: kernel.dispatch ins(%[[C]] : tensor<2x16x32xf32>)
// PLACED-LABEL: func @placed
// PLACED: %[[S:.*]] = rt.storage : tensor<2x16x32xf32>
// PLACED: rt.assemble %[[S]]
// PLACED: kernel.dispatch
// PLACED-NOT: kernel.dispatch
// PLACED: return
func.func @placed(%x: tensor<16x16xf32>, %v: tensor<16x32xf32>, %z: tensor<16x24xf32>, %w: tensor<24x32xf32>) -> tensor<32x32xf32> {
  %0 = onnx.MatMul(%x, %v) : (tensor<16x16xf32>, tensor<16x32xf32>) -> tensor<16x32xf32>
  %1 = onnx.MatMul(%z, %w) : (tensor<16x24xf32>, tensor<24x32xf32>) -> tensor<16x32xf32>
  %2 = onnx.Softmax(%0) {axis = -1 : i64} : (tensor<16x32xf32>) -> tensor<16x32xf32>
  %3 = onnx.Softmax(%1) {axis = -1 : i64} : (tensor<16x32xf32>) -> tensor<16x32xf32>
  %4 = onnx.Concat(%2, %3) {axis = 0 : i64} : (tensor<16x32xf32>, tensor<16x32xf32>) -> tensor<32x32xf32>
  return %4 : tensor<32x32xf32>
}

// -----

// Outputs of the model are in memory of their own.
// CHECK: rt.ledger = [{{.*}}text = "one of 2 equal dispatches, each in its own launch", {{.*}}why = "a result is an output of the model, in memory of its own"
// CHECK-LABEL: func @outputs
// CHECK-COUNT-2: kernel.dispatch
func.func @outputs(%x: tensor<2x4xf32>) -> (tensor<1x4xf32>, tensor<1x4xf32>) {
  %sizes = onnx.Constant() {value = dense<[1, 1]> : tensor<2xi64>} : () -> tensor<2xi64>
  %0:2 = onnx.Split(%x, %sizes) {axis = 0 : i64} : (tensor<2x4xf32>, tensor<2xi64>) -> (tensor<1x4xf32>, tensor<1x4xf32>)
  %1 = onnx.Exp(%0#0) : (tensor<1x4xf32>) -> tensor<1x4xf32>
  %2 = onnx.Exp(%0#1) : (tensor<1x4xf32>) -> tensor<1x4xf32>
  return %1, %2 : tensor<1x4xf32>, tensor<1x4xf32>
}

// -----

// So are inputs.
// CHECK: rt.ledger = [{{.*}}why = "their operands are in unrelated memory"
// CHECK-LABEL: func @inputs
// CHECK-COUNT-2: kernel.dispatch
// CHECK-NOT: kernel.dispatch
// CHECK: rt.concat
func.func @inputs(%x: tensor<4x4xf32>, %y: tensor<4x4xf32>) -> tensor<8x4xf32> {
  %0 = onnx.Exp(%x) : (tensor<4x4xf32>) -> tensor<4x4xf32>
  %1 = onnx.Exp(%y) : (tensor<4x4xf32>) -> tensor<4x4xf32>
  %2 = onnx.Concat(%0, %1) {axis = 0 : i64} : (tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<8x4xf32>
  return %2 : tensor<8x4xf32>
}

// -----

// Large ones fill a GPU alone.
// CHECK: rt.ledger = [{{.*}}why = "each takes longer than a launch"
// CHECK-LABEL: func @large
// CHECK-COUNT-2: kernel.dispatch
func.func @large(%x: tensor<2x2097152xf32>) -> tensor<2x2097152xf32> {
  %sizes = onnx.Constant() {value = dense<[1, 1]> : tensor<2xi64>} : () -> tensor<2xi64>
  %0:2 = onnx.Split(%x, %sizes) {axis = 0 : i64} : (tensor<2x2097152xf32>, tensor<2xi64>) -> (tensor<1x2097152xf32>, tensor<1x2097152xf32>)
  %1 = onnx.Exp(%0#0) : (tensor<1x2097152xf32>) -> tensor<1x2097152xf32>
  %2 = onnx.Exp(%0#1) : (tensor<1x2097152xf32>) -> tensor<1x2097152xf32>
  %3 = onnx.Concat(%1, %2) {axis = 0 : i64} : (tensor<1x2097152xf32>, tensor<1x2097152xf32>) -> tensor<2x2097152xf32>
  return %3 : tensor<2x2097152xf32>
}

// -----

// In another order than the slices.
// CHECK: rt.ledger = [{{.*}}why = "their results do not follow one another in a concatenation"
// CHECK-LABEL: func @order
// CHECK-COUNT-2: kernel.dispatch
// CHECK-NOT: kernel.dispatch
// CHECK: rt.concat
func.func @order(%x: tensor<2x4xf32>) -> tensor<2x4xf32> {
  %sizes = onnx.Constant() {value = dense<[1, 1]> : tensor<2xi64>} : () -> tensor<2xi64>
  %0:2 = onnx.Split(%x, %sizes) {axis = 0 : i64} : (tensor<2x4xf32>, tensor<2xi64>) -> (tensor<1x4xf32>, tensor<1x4xf32>)
  %1 = onnx.Exp(%0#0) : (tensor<1x4xf32>) -> tensor<1x4xf32>
  %2 = onnx.Exp(%0#1) : (tensor<1x4xf32>) -> tensor<1x4xf32>
  %3 = onnx.Concat(%2, %1) {axis = 0 : i64} : (tensor<1x4xf32>, tensor<1x4xf32>) -> tensor<2x4xf32>
  return %3 : tensor<2x4xf32>
}

// -----

// Large products of one tensor are not kept apart: cameo-merge-products makes one of them, or says why not.
// CHECK-NOT: "batch"
// CHECK-LABEL: func @projections
// CHECK-COUNT-2: kernel.dispatch
func.func @projections(%x: tensor<2048x1024xf32>) -> tensor<2048x2048xf32> {
  %v = onnx.Constant() {value = dense<0.5> : tensor<1024x1024xf32>} : () -> tensor<1024x1024xf32>
  %w = onnx.Constant() {value = dense<0.25> : tensor<1024x1024xf32>} : () -> tensor<1024x1024xf32>
  %0 = onnx.MatMul(%x, %v) : (tensor<2048x1024xf32>, tensor<1024x1024xf32>) -> tensor<2048x1024xf32>
  %1 = onnx.MatMul(%x, %w) : (tensor<2048x1024xf32>, tensor<1024x1024xf32>) -> tensor<2048x1024xf32>
  %2 = onnx.Concat(%0, %1) {axis = 1 : i64} : (tensor<2048x1024xf32>, tensor<2048x1024xf32>) -> tensor<2048x2048xf32>
  return %2 : tensor<2048x2048xf32>
}

// -----

// One reads the other's result; or they are not equal.
// CHECK-NOT: "batch"
// CHECK-LABEL: func @different
// CHECK-COUNT-4: kernel.dispatch
func.func @different(%x: tensor<16x16xf32>) -> tensor<48x16xf32> {
  %w = onnx.Constant() {value = dense<0.5> : tensor<16x16xf32>} : () -> tensor<16x16xf32>
  %0 = onnx.MatMul(%x, %w) : (tensor<16x16xf32>, tensor<16x16xf32>) -> tensor<16x16xf32>
  %1 = onnx.MatMul(%0, %w) : (tensor<16x16xf32>, tensor<16x16xf32>) -> tensor<16x16xf32>
  %2 = onnx.Softmax(%1) {axis = -1 : i64} : (tensor<16x16xf32>) -> tensor<16x16xf32>
  %3 = onnx.LogSoftmax(%1) {axis = -1 : i64} : (tensor<16x16xf32>) -> tensor<16x16xf32>
  %4 = onnx.Concat(%2, %3, %0) {axis = 0 : i64} : (tensor<16x16xf32>, tensor<16x16xf32>, tensor<16x16xf32>) -> tensor<48x16xf32>
  return %4 : tensor<48x16xf32>
}

// -----

// Members that go by way of a single value, which has no dimensions that theirs could be put beside.
// CHECK-LABEL: func @single_values
// CHECK: kernel.dispatch
// CHECK: tensor.collapse_shape {{.*}} {{\[\[}}0, 1]] : tensor<2x1xf32> into tensor<2xf32>
// CHECK: math.tanh
// CHECK-NOT: kernel.dispatch
func.func @single_values(%x: tensor<2xf32>) -> tensor<2xf32> {
  %zero = onnx.Constant() {value = dense<0> : tensor<1xi64>} : () -> tensor<1xi64>
  %sizes = onnx.Constant() {value = dense<[1, 1]> : tensor<2xi64>} : () -> tensor<2xi64>
  %0:2 = onnx.Split(%x, %sizes) {axis = 0 : i64} : (tensor<2xf32>, tensor<2xi64>) -> (tensor<1xf32>, tensor<1xf32>)
  %1 = onnx.Exp(%0#0) : (tensor<1xf32>) -> tensor<1xf32>
  %2 = onnx.Exp(%0#1) : (tensor<1xf32>) -> tensor<1xf32>
  %3 = onnx.Squeeze(%1, %zero) : (tensor<1xf32>, tensor<1xi64>) -> tensor<f32>
  %4 = onnx.Squeeze(%2, %zero) : (tensor<1xf32>, tensor<1xi64>) -> tensor<f32>
  %5 = onnx.Tanh(%3) : (tensor<f32>) -> tensor<f32>
  %6 = onnx.Tanh(%4) : (tensor<f32>) -> tensor<f32>
  %7 = onnx.Unsqueeze(%5, %zero) : (tensor<f32>, tensor<1xi64>) -> tensor<1xf32>
  %8 = onnx.Unsqueeze(%6, %zero) : (tensor<f32>, tensor<1xi64>) -> tensor<1xf32>
  %y = onnx.Concat(%7, %8) {axis = 0 : i64} : (tensor<1xf32>, tensor<1xf32>) -> tensor<2xf32>
  return %y : tensor<2xf32>
}
