// RUN: cameo-opt %s --split-input-file --pass-pipeline='builtin.module(cameo-lower-onnx-to-dispatches,func.func(cameo-fuse-dispatches))' | FileCheck %s
// RUN: cameo-opt %s --split-input-file --pass-pipeline='builtin.module(cameo-lower-onnx-to-dispatches,func.func(cameo-fuse-dispatches{max-operations=1}))' | FileCheck %s --check-prefix=LIMIT
// RUN: cameo-opt %s --split-input-file --pass-pipeline='builtin.module(cameo-lower-onnx-to-dispatches,func.func(cameo-fuse-dispatches,cameo-fuse-dispatches))' | FileCheck %s

// A product, a bias, a residual (as the first operand) and an activation: one dispatch, in the
// order in which each value is rounded.
// CHECK-LABEL: func @product
// CHECK: kernel.dispatch ins({{.*}} : tensor<64x32xf32>, tensor<32x48xf32>, tensor<48xf32>, tensor<64x48xf32>)
// CHECK:   math.fma
// CHECK:   arith.addf
// CHECK:   arith.addf
// CHECK:   arith.maximumf
// CHECK-NOT: kernel.dispatch
// LIMIT-LABEL: func @product
// LIMIT-COUNT-4: kernel.dispatch
func.func @product(%x: tensor<64x32xf32>, %w: tensor<32x48xf32>, %b: tensor<48xf32>,
                   %r: tensor<64x48xf32>) -> tensor<64x48xf32> {
  %0 = onnx.MatMul(%x, %w) : (tensor<64x32xf32>, tensor<32x48xf32>) -> tensor<64x48xf32>
  %1 = onnx.Add(%0, %b) : (tensor<64x48xf32>, tensor<48xf32>) -> tensor<64x48xf32>
  %2 = onnx.Add(%r, %1) : (tensor<64x48xf32>, tensor<64x48xf32>) -> tensor<64x48xf32>
  %3 = onnx.Relu(%2) : (tensor<64x48xf32>) -> tensor<64x48xf32>
  return %3 : tensor<64x48xf32>
}

// -----

// Of two products that are added one takes the addition; neither is computed twice.
// CHECK-LABEL: func @two_products
// CHECK: kernel.dispatch
// CHECK:   math.fma
// CHECK-NOT: addf
// CHECK: kernel.dispatch
// CHECK:   math.fma
// CHECK:   arith.addf
// CHECK-NOT: kernel.dispatch
func.func @two_products(%x: tensor<64x32xf32>, %w: tensor<32x48xf32>) -> tensor<64x48xf32> {
  %0 = onnx.MatMul(%x, %w) : (tensor<64x32xf32>, tensor<32x48xf32>) -> tensor<64x48xf32>
  %1 = onnx.Relu(%x) : (tensor<64x32xf32>) -> tensor<64x32xf32>
  %2 = onnx.MatMul(%1, %w) : (tensor<64x32xf32>, tensor<32x48xf32>) -> tensor<64x48xf32>
  %3 = onnx.Add(%0, %2) : (tensor<64x48xf32>, tensor<64x48xf32>) -> tensor<64x48xf32>
  return %3 : tensor<64x48xf32>
}

// -----

// What is stored as integers of 8 bits becomes floats where they are read, by each reader.
// CHECK-LABEL: func @stored_numbers
// CHECK: %[[Q:[0-9]+]]:2 = kernel.dispatch {{.*}} outs({{.*}} : tensor<64x48xi8>, tensor<64xf32>)
// CHECK:   arith.negf
// CHECK:   arith.maximumf
// CHECK: kernel.dispatch ins(%[[Q]]#0, {{.*}} : tensor<64x48xi8>,
// CHECK:   math.fma
// CHECK-NOT: kernel.dispatch
func.func @stored_numbers(%x: tensor<64x48xf32>, %a: tensor<64x32xf32>, %w: tensor<32x48xf32>,
                          %s: tensor<f32>) -> (tensor<64x48xi8>, tensor<64x48xf32>, tensor<64x1xf32>) {
  %zero = onnx.Constant() {value = dense<0> : tensor<i8>} : () -> tensor<i8>
  %0 = onnx.Neg(%x) : (tensor<64x48xf32>) -> tensor<64x48xf32>
  %1 = onnx.QuantizeLinear(%0, %s, %zero) : (tensor<64x48xf32>, tensor<f32>, tensor<i8>) -> tensor<64x48xi8>
  %2 = onnx.DequantizeLinear(%1, %s, %zero) : (tensor<64x48xi8>, tensor<f32>, tensor<i8>) -> tensor<64x48xf32>
  %3 = onnx.MatMul(%a, %w) : (tensor<64x32xf32>, tensor<32x48xf32>) -> tensor<64x48xf32>
  %4 = onnx.Add(%3, %2) : (tensor<64x48xf32>, tensor<64x48xf32>) -> tensor<64x48xf32>
  %axes = onnx.Constant() {value = dense<1> : tensor<1xi64>} : () -> tensor<1xi64>
  %5 = onnx.ReduceMax(%2, %axes) : (tensor<64x48xf32>, tensor<1xi64>) -> tensor<64x1xf32>
  return %1, %4, %5 : tensor<64x48xi8>, tensor<64x48xf32>, tensor<64x1xf32>
}

// -----

// A product whose result another product reads, too, has it beside what is computed from it.
// CHECK-LABEL: func @shared_product
// CHECK: %[[BOTH:.*]]:2 = kernel.dispatch
// CHECK:   arith.negf
// CHECK: kernel.dispatch ins(%[[BOTH]]#0
// CHECK-NOT: kernel.dispatch
func.func @shared_product(%x: tensor<32x32xf32>, %w: tensor<32x32xf32>)
    -> (tensor<32x32xf32>, tensor<32x32xf32>) {
  %0 = onnx.MatMul(%x, %w) : (tensor<32x32xf32>, tensor<32x32xf32>) -> tensor<32x32xf32>
  %1 = onnx.MatMul(%0, %w) : (tensor<32x32xf32>, tensor<32x32xf32>) -> tensor<32x32xf32>
  %2 = onnx.Neg(%0) : (tensor<32x32xf32>) -> tensor<32x32xf32>
  return %1, %2 : tensor<32x32xf32>, tensor<32x32xf32>
}

// -----

// A diamond is one dispatch with one result.
// CHECK-LABEL: func @diamond
// CHECK: kernel.dispatch ins(%{{.*}} : tensor<?x4xf32>)
// CHECK: kernel.yield %{{.*}} : tensor<?x4xf32>
// CHECK-NOT: kernel.dispatch
func.func @diamond(%x: tensor<?x4xf32> {onnx.name = "x", onnx.dims = ["N", 4]})
    -> tensor<?x4xf32> {
  %0 = onnx.Exp(%x) : (tensor<?x4xf32>) -> tensor<?x4xf32>
  %1 = onnx.Neg(%0) : (tensor<?x4xf32>) -> tensor<?x4xf32>
  %2 = onnx.Sqrt(%0) : (tensor<?x4xf32>) -> tensor<?x4xf32>
  %3 = onnx.Mul(%1, %2) : (tensor<?x4xf32>, tensor<?x4xf32>) -> tensor<?x4xf32>
  return %3 : tensor<?x4xf32>
}

// -----

// A value that is read later, too, is a second result.
// CHECK-LABEL: func @second_result
// CHECK: %[[R:.*]]:2 = kernel.dispatch
// CHECK: kernel.yield %[[A:.*]], %{{.*}} : tensor<8x4xf32>, tensor<8x4xf32>
// CHECK: %[[T:.*]] = kernel.dispatch ins(%[[R]]#0,
// CHECK: return %[[R]]#1, %[[T]]
func.func @second_result(%x: tensor<8x4xf32>, %w: tensor<4x16xf32>)
    -> (tensor<8x4xf32>, tensor<8x16xf32>) {
  %0 = onnx.Exp(%x) : (tensor<8x4xf32>) -> tensor<8x4xf32>
  %1 = onnx.Neg(%0) : (tensor<8x4xf32>) -> tensor<8x4xf32>
  %2 = onnx.MatMul(%0, %w) : (tensor<8x4xf32>, tensor<4x16xf32>) -> tensor<8x16xf32>
  return %1, %2 : tensor<8x4xf32>, tensor<8x16xf32>
}

// -----

// What only moves elements is repeated by readers that have other shapes.
// CHECK-LABEL: func @repeated_movement
// CHECK-COUNT-2: kernel.dispatch ins({{.*}}tensor<6x4xf32>
// CHECK-NOT: kernel.dispatch
func.func @repeated_movement(%x: tensor<6x4xf32>, %y: tensor<2x4x6xf32>, %z: tensor<3x4x6xf32>) -> (tensor<2x4x6xf32>, tensor<3x4x6xf32>) {
  %0 = onnx.Transpose(%x) {perm = array<i64: 1, 0>} : (tensor<6x4xf32>) -> tensor<4x6xf32>
  %1 = onnx.Add(%0, %y) : (tensor<4x6xf32>, tensor<2x4x6xf32>) -> tensor<2x4x6xf32>
  %2 = onnx.Mul(%0, %z) : (tensor<4x6xf32>, tensor<3x4x6xf32>) -> tensor<3x4x6xf32>
  return %1, %2 : tensor<2x4x6xf32>, tensor<3x4x6xf32>
}

// -----

// A value that an earlier one reads, too, is computed where that can read it: what its other reader needs beside it is
// not there yet.
// CHECK-LABEL: func @late_constant
// CHECK: %[[A:.*]] = kernel.dispatch
// CHECK:   math.exp
// CHECK: kernel.dispatch ins({{.*}}%[[A]]
// CHECK: %[[K:.*]] = rt.get_constant
// CHECK: kernel.dispatch ins(%[[A]], %[[K]]
// CHECK-NOT: kernel.dispatch
func.func @late_constant(%x: tensor<16x16xf32>, %w: tensor<1x16xf32>) -> (tensor<1x16xf32>, tensor<16x16xf32>) {
  %0 = onnx.Exp(%x) : (tensor<16x16xf32>) -> tensor<16x16xf32>
  %1 = onnx.MatMul(%w, %0) : (tensor<1x16xf32>, tensor<16x16xf32>) -> tensor<1x16xf32>
  %k = onnx.Constant() {value = dense<[0.0, 1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0, 8.0, 9.0, 10.0, 11.0, 12.0, 13.0, 14.0, 15.0]> : tensor<16xf32>} : () -> tensor<16xf32>
  %2 = onnx.Add(%0, %k) : (tensor<16x16xf32>, tensor<16xf32>) -> tensor<16x16xf32>
  return %1, %2 : tensor<1x16xf32>, tensor<16x16xf32>
}

// -----

// Elementwise work joins the rows that read it and that it reads: mask, scale and softmax.
// CHECK-LABEL: func @rows
// CHECK: kernel.dispatch
// CHECK:   arith.mulf
// CHECK:   math.exp
// CHECK-NOT: kernel.dispatch
func.func @rows(%x: tensor<128x64xf32>, %m: tensor<64xf32>) -> tensor<128x64xf32> {
  %0 = onnx.Mul(%x, %m) : (tensor<128x64xf32>, tensor<64xf32>) -> tensor<128x64xf32>
  %1 = onnx.Softmax(%0) {axis = -1 : i64} : (tensor<128x64xf32>) -> tensor<128x64xf32>
  return %1 : tensor<128x64xf32>
}

// -----

// A product and the rows of its result are two: a block has a tile of rows and columns, not rows.
// CHECK-LABEL: func @product_rows
// CHECK-COUNT-2: kernel.dispatch
// CHECK-NOT: kernel.dispatch
func.func @product_rows(%x: tensor<128x64xf32>, %w: tensor<64x64xf32>) -> tensor<128x64xf32> {
  %0 = onnx.MatMul(%x, %w) : (tensor<128x64xf32>, tensor<64x64xf32>) -> tensor<128x64xf32>
  %1 = onnx.Softmax(%0) {axis = -1 : i64} : (tensor<128x64xf32>) -> tensor<128x64xf32>
  return %1 : tensor<128x64xf32>
}

// -----

// Two elements a row would be computed a thousand times each: cheaper to keep them.
// CHECK-LABEL: func @broadcast
// CHECK-COUNT-2: kernel.dispatch
// CHECK-NOT: kernel.dispatch
func.func @broadcast(%x: tensor<4096x1xf32>, %y: tensor<4096x8192xf32>) -> tensor<4096x8192xf32> {
  %0 = onnx.Erf(%x) : (tensor<4096x1xf32>) -> tensor<4096x1xf32>
  %1 = onnx.Mul(%0, %y) : (tensor<4096x1xf32>, tensor<4096x8192xf32>) -> tensor<4096x8192xf32>
  return %1 : tensor<4096x8192xf32>
}

// -----

// A transposition is how the product reads its operand: heads of attention, split from a width.
// CHECK-LABEL: func @heads
// CHECK: %[[Q:.*]] = rt.reshape
// CHECK: kernel.dispatch ins(%[[Q]], %{{.*}} : tensor<2x16x4x32xf32>, tensor<2x4x32x16xf32>)
// CHECK:   linalg.yield %in
// CHECK:   math.fma
// CHECK-NOT: kernel.dispatch
func.func @heads(%x: tensor<2x16x128xf32>, %k: tensor<2x4x32x16xf32>) -> tensor<2x4x16x16xf32> {
  %s = onnx.Constant() {value = dense<[2, 16, 4, 32]> : tensor<4xi64>} : () -> tensor<4xi64>
  %0 = onnx.Reshape(%x, %s) : (tensor<2x16x128xf32>, tensor<4xi64>) -> tensor<2x16x4x32xf32>
  %1 = onnx.Transpose(%0) {perm = array<i64: 0, 2, 1, 3>} : (tensor<2x16x4x32xf32>) -> tensor<2x4x16x32xf32>
  %2 = onnx.MatMul(%1, %k)
      : (tensor<2x4x16x32xf32>, tensor<2x4x32x16xf32>) -> tensor<2x4x16x16xf32>
  return %2 : tensor<2x4x16x16xf32>
}

// -----

// Dimensions that are neither parts of one another nor joined of each other have parts in common.
// CHECK-LABEL: func @common_parts
// CHECK: kernel.dispatch
// CHECK:   math.exp
// CHECK:   %[[P:.*]] = tensor.expand_shape {{.*}}into tensor<?x4x2x3xf32>
// CHECK:   tensor.collapse_shape %[[P]] {{.*}}into tensor<?x8x3xf32>
// CHECK:   math.sqrt
// CHECK-NOT: kernel.dispatch
func.func @common_parts(%x: tensor<?x4x6xf32>) -> tensor<?x8x3xf32> {
  %s = onnx.Constant() {value = dense<[0, 8, 3]> : tensor<3xi64>} : () -> tensor<3xi64>
  %0 = onnx.Exp(%x) : (tensor<?x4x6xf32>) -> tensor<?x4x6xf32>
  %1 = onnx.Reshape(%0, %s) : (tensor<?x4x6xf32>, tensor<3xi64>) -> tensor<?x8x3xf32>
  %2 = onnx.Sqrt(%1) : (tensor<?x8x3xf32>) -> tensor<?x8x3xf32>
  return %2 : tensor<?x8x3xf32>
}

// -----

// A dimension of 1 between a reduction and what reads it is no obstacle.
// CHECK-LABEL: func @keepdims
// CHECK: kernel.dispatch
// CHECK:   tensor.expand_shape
// CHECK-NOT: kernel.dispatch
func.func @keepdims(%x: tensor<128x64xf32>) -> tensor<128x64xf32> {
  %a = onnx.Constant() {value = dense<[1]> : tensor<1xi64>} : () -> tensor<1xi64>
  %0 = onnx.ReduceMean(%x, %a) : (tensor<128x64xf32>, tensor<1xi64>) -> tensor<128x1xf32>
  %1 = onnx.Sub(%x, %0) : (tensor<128x64xf32>, tensor<128x1xf32>) -> tensor<128x64xf32>
  return %1 : tensor<128x64xf32>
}

// -----

// Elementwise work joins the product that reads it, a 1x1 convolution, which computes it as elements are loaded.
// CHECK-LABEL: func @value
// CHECK: kernel.dispatch ins({{.*}} : tensor<1x32x8x8xf32>, tensor<32x1x1xf32>, tensor<32x32x1x1xf32>)
// CHECK:   arith.mulf
// CHECK:   arith.maximumf
// CHECK:   math.fma
// CHECK-NOT: kernel.dispatch
// LIMIT-LABEL: func @value
// LIMIT-COUNT-3: kernel.dispatch
func.func @value(%x: tensor<1x32x8x8xf32>, %s: tensor<32x1x1xf32>, %w: tensor<32x32x1x1xf32>)
    -> tensor<1x32x8x8xf32> {
  %none = onnx.None() : () -> none
  %0 = onnx.Mul(%x, %s) : (tensor<1x32x8x8xf32>, tensor<32x1x1xf32>) -> tensor<1x32x8x8xf32>
  %1 = onnx.Relu(%0) : (tensor<1x32x8x8xf32>) -> tensor<1x32x8x8xf32>
  %2 = onnx.Conv(%1, %w, %none) : (tensor<1x32x8x8xf32>, tensor<32x32x1x1xf32>, none) -> tensor<1x32x8x8xf32>
  return %2 : tensor<1x32x8x8xf32>
}

// -----

// Padding is of the value: zeros stay zeros, whatever is added before.
// CHECK-LABEL: func @padded_value
// CHECK: kernel.dispatch
// CHECK:   arith.addf
// CHECK:   tensor.pad
// CHECK:   math.fma
// CHECK-NOT: kernel.dispatch
func.func @padded_value(%x: tensor<1x32x8x8xf32>, %s: tensor<32x1x1xf32>, %w: tensor<32x32x3x3xf32>)
    -> tensor<1x32x8x8xf32> {
  %none = onnx.None() : () -> none
  %0 = onnx.Add(%x, %s) : (tensor<1x32x8x8xf32>, tensor<32x1x1xf32>) -> tensor<1x32x8x8xf32>
  %1 = onnx.Conv(%0, %w, %none) {pads = array<i64: 1, 1, 1, 1>} : (tensor<1x32x8x8xf32>, tensor<32x32x3x3xf32>, none) -> tensor<1x32x8x8xf32>
  return %1 : tensor<1x32x8x8xf32>
}

// -----

// Of what two products read, each would compute all of it again.
// CHECK-LABEL: func @value_of_two
// CHECK-COUNT-3: kernel.dispatch
// CHECK-NOT: kernel.dispatch
func.func @value_of_two(%x: tensor<64x32xf32>, %w: tensor<32x48xf32>) -> (tensor<64x48xf32>, tensor<64x48xf32>) {
  %0 = onnx.Relu(%x) : (tensor<64x32xf32>) -> tensor<64x32xf32>
  %1 = onnx.MatMul(%0, %w) : (tensor<64x32xf32>, tensor<32x48xf32>) -> tensor<64x48xf32>
  %2 = onnx.MatMul(%0, %w) : (tensor<64x32xf32>, tensor<32x48xf32>) -> tensor<64x48xf32>
  return %1, %2 : tensor<64x48xf32>, tensor<64x48xf32>
}

// -----

// 64 tiles of columns would each compute the exponentials.
// CHECK-LABEL: func @expensive_value
// CHECK-COUNT-2: kernel.dispatch
// CHECK-NOT: kernel.dispatch
func.func @expensive_value(%x: tensor<4096x1024xf32>, %w: tensor<1024x4096xf32>) -> tensor<4096x4096xf32> {
  %0 = onnx.Exp(%x) : (tensor<4096x1024xf32>) -> tensor<4096x1024xf32>
  %1 = onnx.MatMul(%0, %w) : (tensor<4096x1024xf32>, tensor<1024x4096xf32>) -> tensor<4096x4096xf32>
  return %1 : tensor<4096x4096xf32>
}

// -----

// The same cheap work on as much is worth it for few columns, not for two inputs as large and many.
// CHECK-LABEL: func @gate
// CHECK-COUNT-2: kernel.dispatch
// CHECK-NOT: kernel.dispatch
// CHECK-LABEL: func @narrow_gate
// CHECK: kernel.dispatch
// CHECK-NOT: kernel.dispatch
func.func @gate(%x: tensor<4096x1024xf32>, %y: tensor<4096x1024xf32>, %w: tensor<1024x4096xf32>) -> tensor<4096x4096xf32> {
  %0 = onnx.Mul(%x, %y) : (tensor<4096x1024xf32>, tensor<4096x1024xf32>) -> tensor<4096x1024xf32>
  %1 = onnx.MatMul(%0, %w) : (tensor<4096x1024xf32>, tensor<1024x4096xf32>) -> tensor<4096x4096xf32>
  return %1 : tensor<4096x4096xf32>
}
func.func @narrow_gate(%x: tensor<4096x1024xf32>, %y: tensor<4096x1024xf32>, %w: tensor<1024x64xf32>) -> tensor<4096x64xf32> {
  %0 = onnx.Mul(%x, %y) : (tensor<4096x1024xf32>, tensor<4096x1024xf32>) -> tensor<4096x1024xf32>
  %1 = onnx.MatMul(%0, %w) : (tensor<4096x1024xf32>, tensor<1024x64xf32>) -> tensor<4096x64xf32>
  return %1 : tensor<4096x64xf32>
}

// -----

// Elementwise work on rows whose other reader comes first: the two stand where the rows did.
// CHECK-LABEL: func @early_reader
// CHECK: %[[BOTH:.*]]:2 = kernel.dispatch
// CHECK:   arith.extf
// CHECK: kernel.dispatch ins(%[[BOTH]]#0
// CHECK-NOT: kernel.dispatch
// CHECK: return %{{.*}}, %[[BOTH]]#1
func.func @early_reader(%x: tensor<64x256xf16>) -> (tensor<256xf16>, tensor<64x256xf32>) {
  %i = onnx.Constant() {value = dense<3> : tensor<i64>} : () -> tensor<i64>
  %0 = onnx.Softmax(%x) {axis = -1 : i64} : (tensor<64x256xf16>) -> tensor<64x256xf16>
  %1 = onnx.Gather(%0, %i) {axis = 0 : i64} : (tensor<64x256xf16>, tensor<i64>) -> tensor<256xf16>
  %2 = onnx.Cast(%0) {to = 1 : i64} : (tensor<64x256xf16>) -> tensor<64x256xf32>
  return %1, %2 : tensor<256xf16>, tensor<64x256xf32>
}

// -----

// What reads something else that comes after the other reader stays where it is, and apart.
// CHECK-LABEL: func @late_operand
// CHECK-COUNT-3: kernel.dispatch
// CHECK-NOT: kernel.dispatch
func.func @late_operand(%x: tensor<64x256xf16>, %w: tensor<256x256xf16>) -> (tensor<64x256xf16>, tensor<64x256xf16>) {
  %0 = onnx.Softmax(%x) {axis = -1 : i64} : (tensor<64x256xf16>) -> tensor<64x256xf16>
  %1 = onnx.MatMul(%0, %w) : (tensor<64x256xf16>, tensor<256x256xf16>) -> tensor<64x256xf16>
  %2 = onnx.Transpose(%1) {perm = array<i64: 0, 1>} : (tensor<64x256xf16>) -> tensor<64x256xf16>
  %3 = onnx.Softmax(%2) {axis = 0 : i64} : (tensor<64x256xf16>) -> tensor<64x256xf16>
  %4 = onnx.Add(%0, %3) : (tensor<64x256xf16>, tensor<64x256xf16>) -> tensor<64x256xf16>
  return %4, %1 : tensor<64x256xf16>, tensor<64x256xf16>
}

// -----

// Elementwise work behind pixels that are interleaved: each is one element of the product still.
// CHECK-LABEL: func @depth_to_space
// CHECK: kernel.dispatch
// CHECK:   math.fma
// CHECK:   arith.maximumf
// CHECK-NOT: kernel.dispatch
func.func @depth_to_space(%x: tensor<1x32x8x8xf32>, %w: tensor<64x32x3x3xf32>) -> tensor<1x16x16x16xf32> {
  %none = onnx.None() : () -> none
  %0 = onnx.Conv(%x, %w, %none) {pads = array<i64: 1, 1, 1, 1>} : (tensor<1x32x8x8xf32>, tensor<64x32x3x3xf32>, none) -> tensor<1x64x8x8xf32>
  %1 = onnx.DepthToSpace(%0) {blocksize = 2 : i64} : (tensor<1x64x8x8xf32>) -> tensor<1x16x16x16xf32>
  %2 = onnx.Relu(%1) : (tensor<1x16x16x16xf32>) -> tensor<1x16x16x16xf32>
  return %2 : tensor<1x16x16x16xf32>
}
