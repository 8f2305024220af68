// RUN: cameo-opt %s --split-input-file --verify-diagnostics --pass-pipeline='builtin.module(func.func(cameo-fold-constants{max-bytes=40 max-total-bytes=16}),cameo-report-decisions)' > %t
// RUN: FileCheck %s < %t
// RUN: cameo-opt %t --split-input-file --pass-pipeline='builtin.module(func.func(cameo-fold-constants{max-bytes=40 max-total-bytes=16}))' | diff %t -

// 10 bytes come and the 8 of how often go; then 14 are left.
// CHECK-LABEL: func @total
// CHECK: dense<[1, 2, 1, 2, 1, 2, 1, 2, 1, 2]> : tensor<10xi8>
// CHECK: onnx.Tile({{.*}}) {onnx.kept_unfolded}
func.func @total(%x: tensor<2xi8>) -> (tensor<10xi8>, tensor<40xi8>, tensor<2xi8>) {
  %one = onnx.Constant() {value = dense<[1, 2]> : tensor<2xi8>} : () -> tensor<2xi8>
  %two = onnx.Constant() {value = dense<[2, 3]> : tensor<2xi8>} : () -> tensor<2xi8>
  %a = onnx.Constant() {value = dense<5> : tensor<1xi64>} : () -> tensor<1xi64>
  %b = onnx.Constant() {value = dense<20> : tensor<1xi64>} : () -> tensor<1xi64>
  // expected-remark @+1 {{folded to a constant}}
  %0 = onnx.Tile(%one, %a) : (tensor<2xi8>, tensor<1xi64>) -> tensor<10xi8>
  // expected-remark @+1 {{not folded: it would add 32 B; 14 B are left}}
  %1 = onnx.Tile(%two, %b) : (tensor<2xi8>, tensor<1xi64>) -> tensor<40xi8>
  %2 = onnx.Add(%x, %two) : (tensor<2xi8>, tensor<2xi8>) -> tensor<2xi8>
  %3 = onnx.Add(%2, %one) : (tensor<2xi8>, tensor<2xi8>) -> tensor<2xi8>
  return %0, %1, %3 : tensor<10xi8>, tensor<40xi8>, tensor<2xi8>
}

// -----

// One operator adds 40 bytes at most; an operand without another use makes room for its result.
// CHECK-LABEL: func @one
// CHECK: onnx.Tile
// CHECK-NOT: onnx.Transpose
func.func @one(%x: tensor<f32>) -> (tensor<f32>, tensor<24xf32>, tensor<2xf32>, tensor<6x2xf32>) {
  %one = onnx.Constant() {value = dense<[1.0, 2.0]> : tensor<2xf32>} : () -> tensor<2xf32>
  %times = onnx.Constant() {value = dense<12> : tensor<1xi64>} : () -> tensor<1xi64>
  %large = onnx.Constant() {value = dense<[[1.0, 2.0, 3.0, 4.0, 5.0, 6.0], [7.0, 8.0, 9.0, 10.0, 11.0, 12.0]]> : tensor<2x6xf32>} : () -> tensor<2x6xf32>
  %0 = onnx.Tile(%one, %times) : (tensor<2xf32>, tensor<1xi64>) -> tensor<24xf32>
  // expected-remark @+1 {{folded to a constant}}
  %1 = onnx.Transpose(%large) {perm = array<i64: 1, 0>} : (tensor<2x6xf32>) -> tensor<6x2xf32>
  return %x, %0, %one, %1 : tensor<f32>, tensor<24xf32>, tensor<2xf32>, tensor<6x2xf32>
}

// -----

// Equal elements are one, however many: moved, and computed with.
// CHECK-LABEL: func @splats
// CHECK-DAG: %[[A:.*]] = onnx.Constant() {value = dense<4.000000e+00> : tensor<1000x8xf32>}
// CHECK-DAG: %[[B:.*]] = onnx.Constant() {value = dense<true> : tensor<1000xi1>}
// CHECK: return %[[A]], %[[B]]
func.func @splats() -> (tensor<1000x8xf32>, tensor<1000xi1>) {
  %shape = onnx.Constant() {value = dense<[8, 1000]> : tensor<2xi64>} : () -> tensor<2xi64>
  %row = onnx.Constant() {value = dense<1000> : tensor<1xi64>} : () -> tensor<1xi64>
  %one = onnx.Constant() {value = dense<1.5> : tensor<f32>} : () -> tensor<f32>
  // expected-remark @+1 {{folded to a constant}}
  %0 = onnx.ConstantOfShape(%shape) {value = dense<2.5> : tensor<1xf32>} : (tensor<2xi64>) -> tensor<8x1000xf32>
  // expected-remark @+1 {{folded to a constant}}
  %1 = onnx.Expand(%one, %row) : (tensor<f32>, tensor<1xi64>) -> tensor<1000xf32>
  // expected-remark @+1 {{folded to a constant}}
  %2 = onnx.Add(%0, %1) : (tensor<8x1000xf32>, tensor<1000xf32>) -> tensor<8x1000xf32>
  // expected-remark @+1 {{folded to a constant}}
  %3 = onnx.Transpose(%2) : (tensor<8x1000xf32>) -> tensor<1000x8xf32>
  // expected-remark @+1 {{folded to a constant}}
  %4 = onnx.Less(%1, %one) : (tensor<1000xf32>, tensor<f32>) -> tensor<1000xi1>
  // expected-remark @+1 {{folded to a constant}}
  %5 = onnx.Not(%4) : (tensor<1000xi1>) -> tensor<1000xi1>
  return %3, %5 : tensor<1000x8xf32>, tensor<1000xi1>
}
