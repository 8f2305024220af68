// RUN: cameo-opt %s --split-input-file --pass-pipeline='builtin.module(func.func(cameo-fold-constants))' > %t
// RUN: FileCheck %s < %t
// RUN: cameo-opt %t --split-input-file --pass-pipeline='builtin.module(func.func(cameo-fold-constants))' | diff %t -

// CHECK-LABEL: func @arithmetic
// CHECK-DAG: dense<[3, 5]> : tensor<2xi64>
// CHECK-DAG: dense<[-128, 3]> : tensor<2xi8>
// CHECK-DAG: dense<[255, 1]> : tensor<2xui8>
// CHECK-NOT: onnx.Add
// CHECK: return
func.func @arithmetic() -> (tensor<2xi64>, tensor<2xi8>, tensor<2xui8>) {
  %a = onnx.Constant() {value = dense<[1, 2]> : tensor<2xi64>} : () -> tensor<2xi64>
  %b = onnx.Constant() {value = dense<[2, 3]> : tensor<2xi64>} : () -> tensor<2xi64>
  %i = onnx.Constant() {value = dense<[127, 2]> : tensor<2xi8>} : () -> tensor<2xi8>
  %one = onnx.Constant() {value = dense<1> : tensor<i8>} : () -> tensor<i8>
  %u = onnx.Constant() {value = dense<[1, 3]> : tensor<2xui8>} : () -> tensor<2xui8>
  %two = onnx.Constant() {value = dense<2> : tensor<1xui8>} : () -> tensor<1xui8>
  %0 = onnx.Add(%a, %b) : (tensor<2xi64>, tensor<2xi64>) -> tensor<2xi64>
  %1 = onnx.Add(%i, %one) : (tensor<2xi8>, tensor<i8>) -> tensor<2xi8>
  %2 = onnx.Sub(%u, %two) : (tensor<2xui8>, tensor<1xui8>) -> tensor<2xui8>
  return %0, %1, %2 : tensor<2xi64>, tensor<2xi8>, tensor<2xui8>
}

// -----

// 16 bits round to nearest, ties to even: 2048 + 1 is 2048 in f16, 256 + 1 is 256 in bf16.
// CHECK-LABEL: func @rounding
// CHECK-DAG: dense<[2.048000e+03, 2.052000e+03]> : tensor<2xf16>
// CHECK-DAG: dense<[2.560000e+02, 2.600000e+02]> : tensor<2xbf16>
// CHECK-DAG: dense<0x7F800000> : tensor<f32>
// CHECK-DAG: dense<[2, -2, 0, 2]> : tensor<4xi32>
func.func @rounding() -> (tensor<2xf16>, tensor<2xbf16>, tensor<f32>, tensor<4xi32>) {
  %h = onnx.Constant() {value = dense<[2048.0, 2050.0]> : tensor<2xf16>} : () -> tensor<2xf16>
  %h1 = onnx.Constant() {value = dense<[1.0, 1.0]> : tensor<2xf16>} : () -> tensor<2xf16>
  %b = onnx.Constant() {value = dense<[256.0, 258.0]> : tensor<2xbf16>} : () -> tensor<2xbf16>
  %b1 = onnx.Constant() {value = dense<1.0> : tensor<bf16>} : () -> tensor<bf16>
  %zero = onnx.Constant() {value = dense<0.0> : tensor<f32>} : () -> tensor<f32>
  %f = onnx.Constant() {value = dense<[1.5, -2.5, 0.5, 2.4]> : tensor<4xf32>} : () -> tensor<4xf32>
  %0 = onnx.Add(%h, %h1) : (tensor<2xf16>, tensor<2xf16>) -> tensor<2xf16>
  %1 = onnx.Add(%b, %b1) : (tensor<2xbf16>, tensor<bf16>) -> tensor<2xbf16>
  %2 = onnx.Reciprocal(%zero) : (tensor<f32>) -> tensor<f32>
  %3 = onnx.Round(%f) : (tensor<4xf32>) -> tensor<4xf32>
  %4 = onnx.Cast(%3) {to = 6 : i64} : (tensor<4xf32>) -> tensor<4xi32>
  return %0, %1, %2, %4 : tensor<2xf16>, tensor<2xbf16>, tensor<f32>, tensor<4xi32>
}

// -----

// What has no defined result stays: division by zero, a float out of the integer's range.
// CHECK-LABEL: func @undefined
// CHECK: onnx.Div
// CHECK: onnx.Mod
// CHECK: onnx.Cast
func.func @undefined() -> (tensor<i32>, tensor<i32>, tensor<2xi8>) {
  %a = onnx.Constant() {value = dense<1> : tensor<i32>} : () -> tensor<i32>
  %zero = onnx.Constant() {value = dense<0> : tensor<i32>} : () -> tensor<i32>
  %f = onnx.Constant() {value = dense<[1.0, 128.0]> : tensor<2xf32>} : () -> tensor<2xf32>
  %0 = onnx.Div(%a, %zero) : (tensor<i32>, tensor<i32>) -> tensor<i32>
  %1 = onnx.Mod(%a, %zero) : (tensor<i32>, tensor<i32>) -> tensor<i32>
  %2 = onnx.Cast(%f) {to = 3 : i64} : (tensor<2xf32>) -> tensor<2xi8>
  return %0, %1, %2 : tensor<i32>, tensor<i32>, tensor<2xi8>
}

// -----

// Exponentials differ in the last bit from one library to the next.
// CHECK-LABEL: func @notExact
// CHECK: onnx.Exp
func.func @notExact() -> tensor<f32> {
  %a = onnx.Constant() {value = dense<1.0> : tensor<f32>} : () -> tensor<f32>
  %0 = onnx.Exp(%a) : (tensor<f32>) -> tensor<f32>
  return %0 : tensor<f32>
}

// -----

// CHECK-LABEL: func @logic
// CHECK-DAG: dense<[true, false, false]> : tensor<3xi1>
// CHECK-DAG: dense<[1, 20, 30]> : tensor<3xi32>
// CHECK-DAG: dense<[-2, 0, 0]> : tensor<3xi32>
func.func @logic() -> (tensor<3xi1>, tensor<3xi32>, tensor<3xi32>) {
  %a = onnx.Constant() {value = dense<[1, 2, 3]> : tensor<3xi32>} : () -> tensor<3xi32>
  %b = onnx.Constant() {value = dense<[10, 20, 30]> : tensor<3xi32>} : () -> tensor<3xi32>
  %two = onnx.Constant() {value = dense<2> : tensor<i32>} : () -> tensor<i32>
  %n = onnx.Constant() {value = dense<[-3, 4, -5]> : tensor<3xi32>} : () -> tensor<3xi32>
  %m = onnx.Constant() {value = dense<[-4, 3, 2]> : tensor<3xi32>} : () -> tensor<3xi32>
  %0 = onnx.Less(%a, %two) : (tensor<3xi32>, tensor<i32>) -> tensor<3xi1>
  %1 = onnx.Where(%0, %a, %b) : (tensor<3xi1>, tensor<3xi32>, tensor<3xi32>) -> tensor<3xi32>
  %2 = onnx.Add(%n, %a) : (tensor<3xi32>, tensor<3xi32>) -> tensor<3xi32>
  %3 = onnx.Mod(%2, %m) : (tensor<3xi32>, tensor<3xi32>) -> tensor<3xi32>
  %four = onnx.Constant() {value = dense<[0, 1, 1]> : tensor<3xi32>} : () -> tensor<3xi32>
  %4 = onnx.Max(%3, %four) : (tensor<3xi32>, tensor<3xi32>) -> tensor<3xi32>
  %5 = onnx.Min(%3, %4) : (tensor<3xi32>, tensor<3xi32>) -> tensor<3xi32>
  return %0, %1, %5 : tensor<3xi1>, tensor<3xi32>, tensor<3xi32>
}

// -----

// CHECK-LABEL: func @moved
// CHECK-DAG: dense<{{\[}}[1, 4], [2, 5], [3, 6]]> : tensor<3x2xi32>
// CHECK-DAG: dense<{{\[}}[6, 4], [3, 1]]> : tensor<2x2xi32>
// CHECK-DAG: dense<{{\[}}[3, 1], [6, 4]]> : tensor<2x2xi32>
// CHECK-DAG: dense<[1, 2, 3, 1, 2, 3]> : tensor<6xi32>
func.func @moved() -> (tensor<3x2xi32>, tensor<2x2xi32>, tensor<2x2xi32>, tensor<6xi32>) {
  %x = onnx.Constant() {value = dense<[[1, 2, 3], [4, 5, 6]]> : tensor<2x3xi32>} : () -> tensor<2x3xi32>
  %v = onnx.Constant() {value = dense<[1, 2, 3]> : tensor<3xi32>} : () -> tensor<3xi32>
  %starts = onnx.Constant() {value = dense<[-1, -1]> : tensor<2xi64>} : () -> tensor<2xi64>
  %ends = onnx.Constant() {value = dense<-9223372036854775808> : tensor<2xi64>} : () -> tensor<2xi64>
  %axes = onnx.Constant() {value = dense<[0, 1]> : tensor<2xi64>} : () -> tensor<2xi64>
  %steps = onnx.Constant() {value = dense<[-1, -2]> : tensor<2xi64>} : () -> tensor<2xi64>
  %at = onnx.Constant() {value = dense<[-1, 0]> : tensor<2xi64>} : () -> tensor<2xi64>
  %two = onnx.Constant() {value = dense<2> : tensor<1xi64>} : () -> tensor<1xi64>
  %0 = onnx.Transpose(%x) {perm = array<i64: 1, 0>} : (tensor<2x3xi32>) -> tensor<3x2xi32>
  %1 = onnx.Slice(%x, %starts, %ends, %axes, %steps) : (tensor<2x3xi32>, tensor<2xi64>, tensor<2xi64>, tensor<2xi64>, tensor<2xi64>) -> tensor<2x2xi32>
  %2 = onnx.Gather(%x, %at) {axis = 1 : i64} : (tensor<2x3xi32>, tensor<2xi64>) -> tensor<2x2xi32>
  %3 = onnx.Tile(%v, %two) : (tensor<3xi32>, tensor<1xi64>) -> tensor<6xi32>
  return %0, %1, %2, %3 : tensor<3x2xi32>, tensor<2x2xi32>, tensor<2x2xi32>, tensor<6xi32>
}

// -----

// CHECK-LABEL: func @joined
// CHECK-DAG: dense<{{\[}}[1, 2, 9], [3, 4, 9]]> : tensor<2x3xi32>
// CHECK-DAG: dense<{{\[}}[1], [3]]> : tensor<2x1xi32>
// CHECK-DAG: dense<{{\[}}[2], [4]]> : tensor<2x1xi32>
// CHECK-DAG: dense<[4, 6]> : tensor<2xi32>
// CHECK-DAG: dense<{{\[}}[5, 3, 1]]> : tensor<1x3xi64>
func.func @joined() -> (tensor<2x3xi32>, tensor<2x1xi32>, tensor<2x1xi32>, tensor<2xi32>, tensor<1x3xi64>) {
  %none = onnx.None() : () -> none
  %x = onnx.Constant() {value = dense<[[1, 2], [3, 4]]> : tensor<2x2xi32>} : () -> tensor<2x2xi32>
  %nine = onnx.Constant() {value = dense<9> : tensor<2x1xi32>} : () -> tensor<2x1xi32>
  %axis = onnx.Constant() {value = dense<0> : tensor<1xi64>} : () -> tensor<1xi64>
  %five = onnx.Constant() {value = dense<5> : tensor<i64>} : () -> tensor<i64>
  %zero = onnx.Constant() {value = dense<0> : tensor<i64>} : () -> tensor<i64>
  %by = onnx.Constant() {value = dense<-2> : tensor<i64>} : () -> tensor<i64>
  %0 = onnx.Concat(%x, %nine) {axis = 1 : i64} : (tensor<2x2xi32>, tensor<2x1xi32>) -> tensor<2x3xi32>
  %1:2 = onnx.Split(%x, %none) {axis = 1 : i64, num_outputs = 2 : i64} : (tensor<2x2xi32>, none) -> (tensor<2x1xi32>, tensor<2x1xi32>)
  %2 = onnx.ReduceSum(%x, %axis) {keepdims = 0 : i64} : (tensor<2x2xi32>, tensor<1xi64>) -> tensor<2xi32>
  %3 = onnx.Range(%five, %zero, %by) : (tensor<i64>, tensor<i64>, tensor<i64>) -> tensor<3xi64>
  %4 = onnx.Unsqueeze(%3, %axis) : (tensor<3xi64>, tensor<1xi64>) -> tensor<1x3xi64>
  return %0, %1#0, %1#1, %2, %4 : tensor<2x3xi32>, tensor<2x1xi32>, tensor<2x1xi32>, tensor<2xi32>, tensor<1x3xi64>
}

// -----

// A known shape needs no known values; what is not known of it stays.
// CHECK-LABEL: func @shapes
// CHECK: dense<[4, 2]> : tensor<2xi64>
// CHECK: %[[S:.*]] = onnx.Shape(%arg0) : (tensor<?x4x2xf32>) -> tensor<3xi64>
func.func @shapes(%x: tensor<?x4x2xf32>) -> (tensor<2xi64>, tensor<3xi64>) {
  %0 = onnx.Shape(%x) {start = 1 : i64} : (tensor<?x4x2xf32>) -> tensor<2xi64>
  %1 = onnx.Shape(%x) : (tensor<?x4x2xf32>) -> tensor<3xi64>
  return %0, %1 : tensor<2xi64>, tensor<3xi64>
}

// -----

// A gigabyte is not unfolded, unless all of it is one number.
// CHECK-LABEL: func @huge
// CHECK: onnx.Constant() {value = dense<1.000000e+00> : tensor<1024x1024x256xf32>}
// CHECK: onnx.Expand
func.func @huge() -> (tensor<1024x1024x256xf32>, tensor<1024x1024x256xf32>) {
  %one = onnx.Constant() {value = dense<1.0> : tensor<f32>} : () -> tensor<f32>
  %two = onnx.Constant() {value = dense<[[1.0], [2.0]]> : tensor<2x1xf32>} : () -> tensor<2x1xf32>
  %shape = onnx.Constant() {value = dense<[1024, 1024, 256]> : tensor<3xi64>} : () -> tensor<3xi64>
  %long = onnx.Constant() {value = dense<[134217728, 2, 1]> : tensor<3xi64>} : () -> tensor<3xi64>
  %0 = onnx.Expand(%one, %shape) : (tensor<f32>, tensor<3xi64>) -> tensor<1024x1024x256xf32>
  %1 = onnx.Expand(%two, %long) : (tensor<2x1xf32>, tensor<3xi64>) -> tensor<134217728x2x1xf32>
  %2 = onnx.Reshape(%1, %shape) : (tensor<134217728x2x1xf32>, tensor<3xi64>) -> tensor<1024x1024x256xf32>
  return %0, %2 : tensor<1024x1024x256xf32>, tensor<1024x1024x256xf32>
}

// -----

// Numbers below a byte wrap, floats of 8 bits saturate unless told not to; both are read, too.
// CHECK-LABEL: func @narrow
// CHECK-DAG: dense<[-8, 7]> : tensor<2xi4>
// CHECK-DAG: dense<[4.480000e+02, -1.125000e+00]> : tensor<2xf8E4M3FN>
// CHECK-DAG: dense<[0x7C, -1.000000e+00]> : tensor<2xf8E5M2>
// CHECK-DAG: dense<[4.480000e+02, 0x7FC00000]> : tensor<2xf32>
// CHECK-DAG: dense<[-8, 7]> : tensor<2xi64>
// CHECK-DAG: dense<3> : tensor<2x2xi4>
// CHECK-NOT: onnx.Cast
func.func @narrow() -> (tensor<2xi4>, tensor<2xf8E4M3FN>, tensor<2xf8E5M2>, tensor<2xf32>, tensor<2xi64>, tensor<2x2xi4>) {
  %i = onnx.Constant() {value = dense<[24, 7]> : tensor<2xi32>} : () -> tensor<2xi32>
  %x = onnx.Constant() {value = dense<[1.0e9, -1.1]> : tensor<2xf32>} : () -> tensor<2xf32>
  %q = onnx.Constant() {value = dense<[448.0, 0x7F]> : tensor<2xf8E4M3FN>} : () -> tensor<2xf8E4M3FN>
  %n = onnx.Constant() {value = dense<[-8, 7]> : tensor<2xi4>} : () -> tensor<2xi4>
  %s = onnx.Constant() {value = dense<2> : tensor<2xi64>} : () -> tensor<2xi64>
  %0 = onnx.Cast(%i) {to = 22 : i64} : (tensor<2xi32>) -> tensor<2xi4>
  %1 = onnx.Cast(%x) {to = 17 : i64} : (tensor<2xf32>) -> tensor<2xf8E4M3FN>
  %2 = onnx.Cast(%x) {to = 19 : i64, saturate = 0 : i64} : (tensor<2xf32>) -> tensor<2xf8E5M2>
  %3 = onnx.Cast(%q) {to = 1 : i64} : (tensor<2xf8E4M3FN>) -> tensor<2xf32>
  %4 = onnx.Cast(%n) {to = 7 : i64} : (tensor<2xi4>) -> tensor<2xi64>
  %5 = onnx.ConstantOfShape(%s) {value = dense<3> : tensor<1xi4>} : (tensor<2xi64>) -> tensor<2x2xi4>
  return %0, %1, %2, %3, %4, %5 : tensor<2xi4>, tensor<2xf8E4M3FN>, tensor<2xf8E5M2>, tensor<2xf32>, tensor<2xi64>, tensor<2x2xi4>
}
