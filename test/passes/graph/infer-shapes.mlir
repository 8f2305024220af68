// RUN: cameo-opt %s --split-input-file --pass-pipeline='builtin.module(func.func(cameo-infer-shapes))' > %t
// RUN: FileCheck %s < %t
// RUN: cameo-opt %t --split-input-file --pass-pipeline='builtin.module(func.func(cameo-infer-shapes))' | diff %t -

// CHECK-LABEL: func @static
// CHECK-SAME: -> (tensor<1x8x4x4xf32> {onnx.dims = [1, 8, 4, 4]})
// CHECK: onnx.Conv({{.*}}) -> tensor<1x8x4x4xf32>
func.func @static(%x: tensor<1x3x8x8xf32>, %w: tensor<8x3x3x3xf32>) -> tensor<*xf32> {
  %none = onnx.None() : () -> none
  %0 = onnx.Conv(%x, %w, %none) {pads = array<i64: 1, 1, 1, 1>, strides = array<i64: 2, 2>} : (tensor<1x3x8x8xf32>, tensor<8x3x3x3xf32>, none) -> tensor<*xf32>
  return %0 : tensor<*xf32>
}

// -----

// Equal names are equal sizes; others are expressions.
// CHECK-LABEL: func @symbols
// CHECK: onnx.Add({{.*}}) {onnx.dims = {{\[}}["N", "H"]]} : {{.*}} -> tensor<?x?xf32>
// CHECK: onnx.Concat({{.*}}) {axis = 0 : i64, onnx.dims = {{\[}}["N + N", "H"]]}
// CHECK: onnx.AveragePool({{.*}}onnx.dims = {{\[}}[1, "N + N", "((H - 2) floordiv 2) + 1"]]
func.func @symbols(%x: tensor<?x?xf32> {onnx.dims = ["N", "H"]}, %y: tensor<?x?xf32> {onnx.dims = ["N", "H"]}) -> tensor<*xf32> {
  %axis = onnx.Constant() {value = dense<0> : tensor<1xi64>} : () -> tensor<1xi64>
  %0 = onnx.Add(%x, %y) : (tensor<?x?xf32>, tensor<?x?xf32>) -> tensor<*xf32>
  %1 = onnx.Concat(%0, %x) {axis = 0 : i64} : (tensor<*xf32>, tensor<?x?xf32>) -> tensor<*xf32>
  %2 = onnx.Unsqueeze(%1, %axis) : (tensor<*xf32>, tensor<1xi64>) -> tensor<*xf32>
  %3 = onnx.AveragePool(%2) {kernel_shape = array<i64: 2>, strides = array<i64: 2>} : (tensor<*xf32>) -> tensor<*xf32>
  return %3 : tensor<*xf32>
}

// -----

// The shape of a Reshape, computed from another shape; what is known of it becomes a constant.
// CHECK-LABEL: func @shapeArithmetic
// CHECK-SAME: -> (tensor<?x12xf32> {onnx.dims = ["N", 12]}, tensor<1xi64> {onnx.dims = [1]})
// CHECK: %[[THREE:.*]] = onnx.Constant() {value = dense<3> : tensor<1xi64>}
// CHECK: onnx.Reshape({{.*}}) {onnx.dims = {{\[}}["N", 12]]} : {{.*}} -> tensor<?x12xf32>
// CHECK: return %{{.*}}, %[[THREE]]
func.func @shapeArithmetic(%x: tensor<?x3x4xf32> {onnx.dims = ["N", 3, 4]}) -> (tensor<*xf32>, tensor<*xi64>) {
  %zero = onnx.Constant() {value = dense<0> : tensor<1xi64>} : () -> tensor<1xi64>
  %one = onnx.Constant() {value = dense<1> : tensor<1xi64>} : () -> tensor<1xi64>
  %rest = onnx.Constant() {value = dense<-1> : tensor<1xi64>} : () -> tensor<1xi64>
  %s = onnx.Shape(%x) : (tensor<?x3x4xf32>) -> tensor<*xi64>
  %n = onnx.Gather(%s, %zero) : (tensor<*xi64>, tensor<1xi64>) -> tensor<*xi64>
  %c = onnx.Gather(%s, %one) : (tensor<*xi64>, tensor<1xi64>) -> tensor<*xi64>
  %to = onnx.Concat(%n, %rest) {axis = 0 : i64} : (tensor<*xi64>, tensor<1xi64>) -> tensor<*xi64>
  %y = onnx.Reshape(%x, %to) : (tensor<?x3x4xf32>, tensor<*xi64>) -> tensor<*xf32>
  return %y, %c : tensor<*xf32>, tensor<*xi64>
}

// -----

// What cannot be lowered keeps the declared shape, and inference goes on behind it; without one it
// stops there.
// CHECK-LABEL: func @unsupported
// CHECK: onnx.Custom({{.*}}onnx.shape_declared
// CHECK: onnx.Relu({{.*}}) : (tensor<2x3xf32>) -> tensor<2x3xf32>
// CHECK: onnx.Relu({{.*}}) : (tensor<*xf32>) -> tensor<*xf32>
func.func @unsupported(%x: tensor<4xf32>) -> (tensor<*xf32>, tensor<*xf32>) {
  %0:2 = onnx.Custom(%x) {domain = "d", op_type = "Op", version = 1 : i64, onnx_attributes = {}} : (tensor<4xf32>) -> (tensor<2x3xf32>, tensor<*xf32>)
  %1 = onnx.Relu(%0#0) : (tensor<2x3xf32>) -> tensor<*xf32>
  %2 = onnx.Relu(%0#1) : (tensor<*xf32>) -> tensor<*xf32>
  return %1, %2 : tensor<*xf32>, tensor<*xf32>
}

// -----

// A declared size is not to be relied on where the operands leave it open; what outputs are declared
// to be stays.
// CHECK-LABEL: func @declared
// CHECK-SAME: -> (tensor<?xf32> {onnx.dims = ["length"]}, tensor<?xf32> {onnx.dims = [4]})
// CHECK: onnx.Relu({{.*}}) {onnx.dims = {{\[}}["N"]]} : (tensor<?xf32>) -> tensor<?xf32>
func.func @declared(%x: tensor<?xf32> {onnx.dims = ["N"]}) -> (tensor<?xf32> {onnx.dims = ["length"]}, tensor<4xf32> {onnx.dims = [4]}) {
  %0 = onnx.Relu(%x) : (tensor<?xf32>) -> tensor<4xf32>
  %1 = onnx.Neg(%x) : (tensor<?xf32>) -> tensor<?xf32>
  %2 = onnx.Concat(%0, %1) {axis = 0 : i64} : (tensor<4xf32>, tensor<?xf32>) -> tensor<?xf32>
  return %2, %0 : tensor<?xf32>, tensor<4xf32>
}

// -----

// Integers below a byte that are known.
// CHECK-LABEL: func @nibbles
// CHECK: onnx.Constant() {value = dense<-3> : tensor<2x2xi4>}
func.func @nibbles() -> tensor<2x2xi4> {
  %s = onnx.Constant() {value = dense<2> : tensor<2xi64>} : () -> tensor<2xi64>
  %0 = onnx.ConstantOfShape(%s) {value = dense<-3> : tensor<1xi4>} : (tensor<2xi64>) -> tensor<2x2xi4>
  return %0 : tensor<2x2xi4>
}

// -----

// A dimension backwards is as long as forwards, and has no element where it is empty.
// CHECK-LABEL: func @reversed
// CHECK: onnx.Slice({{.*}}) {onnx.dims = {{\[}}["N"]]} : {{.*}} -> tensor<?xf32>
// CHECK: onnx.Slice({{.*}}) : {{.*}} -> tensor<0xf32>
func.func @reversed(%x: tensor<?xf32> {onnx.dims = ["N"]}, %y: tensor<0xf32>) -> (tensor<*xf32>, tensor<*xf32>) {
  %start = onnx.Constant() {value = dense<-1> : tensor<1xi64>} : () -> tensor<1xi64>
  %end = onnx.Constant() {value = dense<-9223372036854775807> : tensor<1xi64>} : () -> tensor<1xi64>
  %axis = onnx.Constant() {value = dense<0> : tensor<1xi64>} : () -> tensor<1xi64>
  %0 = onnx.Slice(%x, %start, %end, %axis, %start) : (tensor<?xf32>, tensor<1xi64>, tensor<1xi64>, tensor<1xi64>, tensor<1xi64>) -> tensor<*xf32>
  %1 = onnx.Slice(%y, %axis, %end, %axis, %start) : (tensor<0xf32>, tensor<1xi64>, tensor<1xi64>, tensor<1xi64>, tensor<1xi64>) -> tensor<*xf32>
  return %0, %1 : tensor<*xf32>, tensor<*xf32>
}

// -----

// Integers wrap around as their type does; what int32 computes from sizes is checked when it runs.
// CHECK-LABEL: func @wrapping
// CHECK: onnx.Constant() {value = dense<[4, -127]> : tensor<2xi8>}
// CHECK: onnx.Constant() {value = dense<[-128, 1]> : tensor<2xi8>}
// CHECK: onnx.Constant() {value = dense<-9223372036854775808> : tensor<i64>}
// CHECK: onnx.Expand({{.*}}) {onnx.dims = {{\[}}["N*5"]]}
func.func @wrapping(%x: tensor<?xf32> {onnx.dims = ["N"]}, %y: tensor<1xf32>) -> (tensor<2xi8>, tensor<2xi8>, tensor<i64>, tensor<*xf32>) {
  %a = onnx.Constant() {value = dense<[-126, -128]> : tensor<2xi8>} : () -> tensor<2xi8>
  %b = onnx.Constant() {value = dense<[-126, 1]> : tensor<2xi8>} : () -> tensor<2xi8>
  %c = onnx.Constant() {value = dense<-9223372036854775808> : tensor<i64>} : () -> tensor<i64>
  %d = onnx.Constant() {value = dense<-1> : tensor<i64>} : () -> tensor<i64>
  %five = onnx.Constant() {value = dense<5> : tensor<1xi32>} : () -> tensor<1xi32>
  %e = onnx.Constant() {value = dense<[-128, -1]> : tensor<2xi8>} : () -> tensor<2xi8>
  %0 = onnx.Add(%a, %b) : (tensor<2xi8>, tensor<2xi8>) -> tensor<2xi8>
  %1 = onnx.Neg(%e) : (tensor<2xi8>) -> tensor<2xi8>
  %2 = onnx.Div(%c, %d) : (tensor<i64>, tensor<i64>) -> tensor<i64>
  %shape = onnx.Shape(%x) : (tensor<?xf32>) -> tensor<1xi64>
  %narrow = onnx.Cast(%shape) {to = 6 : i64} : (tensor<1xi64>) -> tensor<1xi32>
  %many = onnx.Mul(%narrow, %five) : (tensor<1xi32>, tensor<1xi32>) -> tensor<1xi32>
  %wide = onnx.Cast(%many) {to = 7 : i64} : (tensor<1xi32>) -> tensor<1xi64>
  %3 = onnx.Expand(%y, %wide) : (tensor<1xf32>, tensor<1xi64>) -> tensor<*xf32>
  return %0, %1, %2, %3 : tensor<2xi8>, tensor<2xi8>, tensor<i64>, tensor<*xf32>
}
