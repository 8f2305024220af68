// RUN: cameo-opt %s --split-input-file --pass-pipeline='builtin.module(cameo-lower-onnx-to-dispatches,func.func(cameo-fuse-dispatches{product-row=128}))' | FileCheck %s
// RUN: cameo-opt %s --split-input-file --pass-pipeline='builtin.module(cameo-lower-onnx-to-dispatches,func.func(cameo-fuse-dispatches{product-row=128},cameo-fuse-dispatches{product-row=128}))' | FileCheck %s
// RUN: cameo-opt %s --split-input-file --pass-pipeline='builtin.module(cameo-lower-onnx-to-dispatches,func.func(cameo-fuse-dispatches))' | FileCheck %s --check-prefix=NONE
// RUN: cameo-opt %s --split-input-file --pass-pipeline='builtin.module(cameo-lower-onnx-to-dispatches,func.func(cameo-fuse-dispatches{product-row=128}),cameo-report-decisions)' -o /dev/null 2>&1 | FileCheck %s --check-prefix=WHY

// Scores, a mask and their softmax: one dispatch. By default rows are not reduced with products.
// CHECK-LABEL: func @softmax
// CHECK: kernel.dispatch
// CHECK:   math.fma
// CHECK:   arith.addf
// CHECK:   arith.maximumf
// CHECK:   math.exp
// CHECK:   arith.divf
// CHECK-NOT: kernel.dispatch
// NONE-LABEL: func @softmax
// NONE-COUNT-2: kernel.dispatch
func.func @softmax(%q: tensor<6x49x32xf32>, %k: tensor<6x32x49xf32>, %m: tensor<49x49xf32>) -> tensor<6x49x49xf32> {
  %0 = onnx.MatMul(%q, %k) : (tensor<6x49x32xf32>, tensor<6x32x49xf32>) -> tensor<6x49x49xf32>
  %1 = onnx.Add(%0, %m) : (tensor<6x49x49xf32>, tensor<49x49xf32>) -> tensor<6x49x49xf32>
  %2 = onnx.Softmax(%1) {axis = -1 : i64} : (tensor<6x49x49xf32>) -> tensor<6x49x49xf32>
  return %2 : tensor<6x49x49xf32>
}

// -----

// Another reader's sum is a result of the same dispatch, and what follows the normalisation joins it.
// CHECK-LABEL: func @norm
// CHECK: %[[R:.*]]:2 = kernel.dispatch
// CHECK:   arith.maximumf
// CHECK: return %[[R]]#1, %[[R]]#0
func.func @norm(%x: tensor<64x32xf32>, %w: tensor<32x96xf32>, %r: tensor<64x96xf32>, %s: tensor<96xf32>) -> (tensor<64x96xf32>, tensor<64x96xf32>) {
  %0 = onnx.MatMul(%x, %w) : (tensor<64x32xf32>, tensor<32x96xf32>) -> tensor<64x96xf32>
  %1 = onnx.Add(%0, %r) : (tensor<64x96xf32>, tensor<64x96xf32>) -> tensor<64x96xf32>
  %2, %mean, %deviation = onnx.LayerNormalization(%1, %s, %s) {axis = -1 : i64} : (tensor<64x96xf32>, tensor<96xf32>, tensor<96xf32>) -> (tensor<64x96xf32>, none, none)
  %3 = onnx.Relu(%2) : (tensor<64x96xf32>) -> tensor<64x96xf32>
  return %3, %1 : tensor<64x96xf32>, tensor<64x96xf32>
}

// -----

// CHECK-LABEL: func @long
// CHECK-COUNT-2: kernel.dispatch
// WHY: not fused with 'long': rows of 130 elements do not lie in one block's tile; at most 128 do
func.func @long(%x: tensor<64x32xf32>, %w: tensor<32x130xf32>) -> tensor<64x130xf32> {
  %0 = onnx.MatMul(%x, %w) : (tensor<64x32xf32>, tensor<32x130xf32>) -> tensor<64x130xf32> loc("long")
  %1 = onnx.Softmax(%0) {axis = -1 : i64} : (tensor<64x130xf32>) -> tensor<64x130xf32>
  return %1 : tensor<64x130xf32>
}

// -----

// CHECK-LABEL: func @open
// CHECK-COUNT-2: kernel.dispatch
// WHY: not fused with 'open': how long rows of the product are is known only at run time
func.func @open(%x: tensor<64x32xf32>, %w: tensor<32x?xf32>) -> tensor<64x?xf32> {
  %0 = onnx.MatMul(%x, %w) : (tensor<64x32xf32>, tensor<32x?xf32>) -> tensor<64x?xf32> loc("open")
  %1 = onnx.Softmax(%0) {axis = -1 : i64} : (tensor<64x?xf32>) -> tensor<64x?xf32>
  return %1 : tensor<64x?xf32>
}

// -----

// Along columns rows are: their elements are with different blocks.
// CHECK-LABEL: func @across
// CHECK-COUNT-2: kernel.dispatch
// WHY: not fused with 'across': together they would not be a product whose rows are reduced any more
func.func @across(%x: tensor<64x32xf32>, %w: tensor<32x48xf32>) -> tensor<64x48xf32> {
  %0 = onnx.MatMul(%x, %w) : (tensor<64x32xf32>, tensor<32x48xf32>) -> tensor<64x48xf32> loc("across")
  %1 = onnx.Softmax(%0) {axis = 0 : i64} : (tensor<64x48xf32>) -> tensor<64x48xf32>
  return %1 : tensor<64x48xf32>
}

// -----

// Rows are halves of the product's.
// CHECK-LABEL: func @halves
// CHECK-COUNT-2: kernel.dispatch
// WHY: not fused with 'halves': together they would not be a product whose rows are reduced any more
func.func @halves(%x: tensor<64x32xf32>, %w: tensor<32x48xf32>) -> tensor<64x2x24xf32> {
  %s = onnx.Constant() {value = dense<[64, 2, 24]> : tensor<3xi64>} : () -> tensor<3xi64>
  %0 = onnx.MatMul(%x, %w) : (tensor<64x32xf32>, tensor<32x48xf32>) -> tensor<64x48xf32> loc("halves")
  %1 = onnx.Reshape(%0, %s) : (tensor<64x48xf32>, tensor<3xi64>) -> tensor<64x2x24xf32>
  %2 = onnx.Softmax(%1) {axis = -1 : i64} : (tensor<64x2x24xf32>) -> tensor<64x2x24xf32>
  return %2 : tensor<64x2x24xf32>
}

// -----

// One result per row is no element of the product.
// CHECK-LABEL: func @norms
// CHECK-COUNT-2: kernel.dispatch
// WHY: not fused with 'norms': together they would not be a product whose rows are reduced any more
func.func @norms(%x: tensor<64x32xf32>, %w: tensor<32x48xf32>) -> tensor<64x1xf32> {
  %a = onnx.Constant() {value = dense<[-1]> : tensor<1xi64>} : () -> tensor<1xi64>
  %0 = onnx.MatMul(%x, %w) : (tensor<64x32xf32>, tensor<32x48xf32>) -> tensor<64x48xf32> loc("norms")
  %1 = onnx.ReduceL2(%0, %a) {keepdims = 1 : i64} : (tensor<64x48xf32>, tensor<1xi64>) -> tensor<64x1xf32>
  return %1 : tensor<64x1xf32>
}

// -----

// With few rows, and much work for each, other tiles keep more of a GPU busy.
// CHECK-LABEL: func @few
// CHECK-COUNT-2: kernel.dispatch
// WHY: not fused with 'few': blocks with whole rows would leave most of a GPU idle
func.func @few(%x: tensor<16x8192xf32>, %w: tensor<8192x128xf32>) -> tensor<16x128xf32> {
  %0 = onnx.MatMul(%x, %w) : (tensor<16x8192xf32>, tensor<8192x128xf32>) -> tensor<16x128xf32> loc("few")
  %1 = onnx.Softmax(%0) {axis = -1 : i64} : (tensor<16x128xf32>) -> tensor<16x128xf32>
  return %1 : tensor<16x128xf32>
}
