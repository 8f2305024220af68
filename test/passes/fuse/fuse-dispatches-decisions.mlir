// RUN: cameo-opt %s --split-input-file --pass-pipeline='builtin.module(cameo-lower-onnx-to-dispatches,func.func(cameo-fuse-dispatches),cameo-report-decisions)' -o /dev/null 2>&1 | FileCheck %s
// RUN: cameo-opt %s --split-input-file --pass-pipeline='builtin.module(cameo-lower-onnx-to-dispatches,func.func(cameo-fuse-dispatches{max-tensors=3 max-operations=3}),cameo-report-decisions)' -o /dev/null 2>&1 | FileCheck %s --check-prefix=LIMIT

// Every pair that became one, and every one that did not.
// CHECK: remark: loc("relu"): fused with 'product'; it saves 8192 B of memory traffic
// CHECK-NEXT: remark: loc("second"): not fused with 'product': a product needs what many blocks of a product compute; it would save 8192 B of memory traffic
// LIMIT: remark: loc("relu"): not fused with 'product': one kernel would have 5 operations; at most 3; it would save 8192 B of memory traffic
func.func @main(%x: tensor<32x32xf32>, %w: tensor<32x32xf32>) -> tensor<32x32xf32> {
  %0 = onnx.MatMul(%x, %w) : (tensor<32x32xf32>, tensor<32x32xf32>) -> tensor<32x32xf32> loc("product")
  %1 = onnx.Relu(%0) : (tensor<32x32xf32>) -> tensor<32x32xf32> loc("relu")
  %2 = onnx.MatMul(%1, %w) : (tensor<32x32xf32>, tensor<32x32xf32>) -> tensor<32x32xf32> loc("second")
  return %2 : tensor<32x32xf32>
}

// -----

// CHECK-NEXT: remark: loc("sum"): fused with 'left'; it saves 8192 B of memory traffic
// CHECK-NEXT: remark: loc("turned"): fused with 'norm'; it saves 4096 B of memory traffic
// CHECK-NEXT: remark: loc(fused["sum", "left"]): not fused with 'norm': a product needs what many blocks of a reduction of rows compute; it would save
// CHECK-NOT: remark
func.func @shared(%x: tensor<32x32xf32>) -> (tensor<32x32xf32>, tensor<32x32xf32>) {
  %0 = onnx.Relu(%x) : (tensor<32x32xf32>) -> tensor<32x32xf32> loc("left")
  %1 = onnx.Softmax(%x) {axis = 1 : i64} : (tensor<32x32xf32>) -> tensor<32x32xf32> loc("norm")
  %2 = onnx.MatMul(%0, %1) : (tensor<32x32xf32>, tensor<32x32xf32>) -> tensor<32x32xf32> loc("sum")
  %3 = onnx.Transpose(%1) {perm = array<i64: 1, 0>} : (tensor<32x32xf32>) -> tensor<32x32xf32> loc("turned")
  return %2, %3 : tensor<32x32xf32>, tensor<32x32xf32>
}

// -----

// Elementwise work that reads something later cannot stand where its producer does, and the other
// reader comes before it.
// CHECK-NEXT: remark: loc("both"): fused with 'second'
// CHECK-NEXT: remark: loc(fused["second", "both"]): not fused with 'first': a product needs what many blocks of a product compute
// CHECK-NOT: remark
func.func @late(%x: tensor<32x32xf32>) -> tensor<32x32xf32> {
  %0 = onnx.MatMul(%x, %x) : (tensor<32x32xf32>, tensor<32x32xf32>) -> tensor<32x32xf32> loc("first")
  %1 = onnx.MatMul(%0, %x) : (tensor<32x32xf32>, tensor<32x32xf32>) -> tensor<32x32xf32> loc("second")
  %2 = onnx.Add(%0, %1) : (tensor<32x32xf32>, tensor<32x32xf32>) -> tensor<32x32xf32> loc("both")
  return %2 : tensor<32x32xf32>
}

// -----

// A product names what becomes one with it, as the casts of --precision, which are called as what
// they convert. A node may be several dispatches.
// CHECK-NEXT: remark: loc("product"): fused with 'x'; it saves
// CHECK-NEXT: remark: loc("product"): fused with another dispatch of it; it saves
// CHECK-NEXT: remark: loc("next"): not fused with 'product': a product needs what many blocks of a product compute
// CHECK-NOT: remark
func.func @rooted(%x: tensor<32x32xf32>, %w: tensor<32x32xf16>) -> tensor<32x32xf32> {
  %0 = onnx.Cast(%x) {to = 10 : i64} : (tensor<32x32xf32>) -> tensor<32x32xf16> loc("x")
  %1 = onnx.MatMul(%0, %w) : (tensor<32x32xf16>, tensor<32x32xf16>) -> tensor<32x32xf16> loc("product")
  %2 = onnx.Cast(%1) {to = 1 : i64} : (tensor<32x32xf16>) -> tensor<32x32xf32> loc("product")
  %3 = onnx.MatMul(%2, %x) : (tensor<32x32xf32>, tensor<32x32xf32>) -> tensor<32x32xf32> loc("next")
  return %3 : tensor<32x32xf32>
}

// -----

// What a body cannot have between the two is said as it is.
// CHECK-NEXT: remark: loc("root"): not fused with 'exp': the reshape between them splits or joins dimensions whose sizes are known only at run time
// CHECK-NOT: remark
func.func @joined(%x: tensor<?x?x4xf32> {onnx.name = "x", onnx.dims = ["N", "S", 4]}) -> tensor<?x4xf32> {
  %shape = onnx.Constant() {value = dense<[-1, 4]> : tensor<2xi64>} : () -> tensor<2xi64>
  %0 = onnx.Exp(%x) : (tensor<?x?x4xf32>) -> tensor<?x?x4xf32> loc("exp")
  %1 = onnx.Reshape(%0, %shape) : (tensor<?x?x4xf32>, tensor<2xi64>) -> tensor<?x4xf32> loc("joined")
  %2 = onnx.Sqrt(%1) : (tensor<?x4xf32>) -> tensor<?x4xf32> loc("root")
  return %2 : tensor<?x4xf32>
}

// -----

// CHECK-NEXT: remark: loc("root"): not fused with 'exp': the reshape between them neither splits nor joins dimensions
// CHECK-NOT: remark
func.func @other(%x: tensor<4x6xf32>) -> tensor<3x8xf32> {
  %shape = onnx.Constant() {value = dense<[3, 8]> : tensor<2xi64>} : () -> tensor<2xi64>
  %0 = onnx.Exp(%x) : (tensor<4x6xf32>) -> tensor<4x6xf32> loc("exp")
  %1 = onnx.Reshape(%0, %shape) : (tensor<4x6xf32>, tensor<2xi64>) -> tensor<3x8xf32> loc("other")
  %2 = onnx.Sqrt(%1) : (tensor<3x8xf32>) -> tensor<3x8xf32> loc("root")
  return %2 : tensor<3x8xf32>
}
