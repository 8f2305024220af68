// RUN: cameo-opt %s --split-input-file --verify-diagnostics --pass-pipeline='builtin.module(func.func(cameo-fold-constants{max-bytes=40 max-total-bytes=16}),cameo-report-decisions)' > %t
// RUN: FileCheck %s < %t
// RUN: cameo-opt %t --split-input-file --pass-pipeline='builtin.module(func.func(cameo-fold-constants{max-bytes=40 max-total-bytes=16}))' | diff %t -

// 10 bytes come and the 8 of their shape go; then 14 are left.
// CHECK-LABEL: func @total
// CHECK: dense<1> : tensor<10xi8>
// CHECK: onnx.Expand({{.*}}) {onnx.kept_unfolded}
func.func @total(%x: tensor<i8>) -> (tensor<10xi8>, tensor<40xi8>, tensor<i8>) {
  %one = onnx.Constant() {value = dense<1> : tensor<i8>} : () -> tensor<i8>
  %two = onnx.Constant() {value = dense<2> : tensor<i8>} : () -> tensor<i8>
  %a = onnx.Constant() {value = dense<10> : tensor<1xi64>} : () -> tensor<1xi64>
  %b = onnx.Constant() {value = dense<40> : tensor<1xi64>} : () -> tensor<1xi64>
  %0 = onnx.Expand(%one, %a) : (tensor<i8>, tensor<1xi64>) -> tensor<10xi8>
  // expected-remark @+1 {{not folded: it would add 32 B; 14 B are left}}
  %1 = onnx.Expand(%two, %b) : (tensor<i8>, tensor<1xi64>) -> tensor<40xi8>
  %2 = onnx.Add(%x, %two) : (tensor<i8>, tensor<i8>) -> tensor<i8>
  %3 = onnx.Add(%2, %one) : (tensor<i8>, tensor<i8>) -> tensor<i8>
  return %0, %1, %3 : tensor<10xi8>, tensor<40xi8>, tensor<i8>
}

// -----

// One operator adds 41 bytes at most; an operand without another use makes room for its result.
// CHECK-LABEL: func @one
// CHECK: onnx.Tile
// CHECK-NOT: onnx.Transpose
func.func @one(%x: tensor<f32>) -> (tensor<f32>, tensor<12xf32>, tensor<6x4xf32>) {
  %one = onnx.Constant() {value = dense<1.0> : tensor<1xf32>} : () -> tensor<1xf32>
  %times = onnx.Constant() {value = dense<12> : tensor<1xi64>} : () -> tensor<1xi64>
  %large = onnx.Constant() {value = dense<2.0> : tensor<4x6xf32>} : () -> tensor<4x6xf32>
  %n = onnx.Size(%times) : (tensor<1xi64>) -> tensor<i64>
  %0 = onnx.Tile(%one, %times) : (tensor<1xf32>, tensor<1xi64>) -> tensor<12xf32>
  %1 = onnx.ReduceSum(%one, %times) {noop_with_empty_axes = 1 : i64} : (tensor<1xf32>, tensor<1xi64>) -> tensor<1xf32>
  %2 = onnx.Transpose(%large) {perm = array<i64: 1, 0>} : (tensor<4x6xf32>) -> tensor<6x4xf32>
  return %x, %0, %2 : tensor<f32>, tensor<12xf32>, tensor<6x4xf32>
}
