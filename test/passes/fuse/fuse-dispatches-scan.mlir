// RUN: cameo-opt %s --split-input-file --pass-pipeline='builtin.module(cameo-lower-onnx-to-dispatches,func.func(cameo-fuse-dispatches))' | FileCheck %s
// RUN: cameo-opt %s --split-input-file --pass-pipeline='builtin.module(cameo-lower-onnx-to-dispatches,func.func(cameo-fuse-dispatches),cameo-report-decisions)' -o /dev/null 2>&1 | FileCheck %s --check-prefix=WHY

// Positions of the tokens that a mask has: threads of a scan's line compute each of its elements once.
// CHECK-LABEL: func @positions
// CHECK: kernel.dispatch ins(%{{[^ ]*}} : tensor<2x512xi1>)
// CHECK:   arith.extui
// CHECK:   kernel.scan add
// CHECK:   arith.muli
// CHECK-NOT: kernel.dispatch
// WHY-DAG: remark: loc("sum"): fused with 'cast'
func.func @positions(%m: tensor<2x512xi1>) -> tensor<2x512xi64> {
  %axis = onnx.Constant() {value = dense<1> : tensor<i64>} : () -> tensor<i64>
  %0 = onnx.Cast(%m) {to = 7 : i64} : (tensor<2x512xi1>) -> tensor<2x512xi64> loc("cast")
  %1 = onnx.CumSum(%0, %axis) : (tensor<2x512xi64>, tensor<i64>) -> tensor<2x512xi64> loc("sum")
  %2 = onnx.Mul(%1, %1) : (tensor<2x512xi64>, tensor<2x512xi64>) -> tensor<2x512xi64> loc("square")
  return %2 : tensor<2x512xi64>
}

// -----

// Short lines are a loop in each thread, in which elements would be computed again and again.
// CHECK-LABEL: func @short
// CHECK-COUNT-2: kernel.dispatch
// CHECK-NOT: kernel.dispatch
// WHY-DAG: remark: loc("short"): not fused with 'exp': a reduction would compute its elements again for each use
func.func @short(%x: tensor<512x16xf32>) -> tensor<512x16xf32> {
  %axis = onnx.Constant() {value = dense<1> : tensor<i64>} : () -> tensor<i64>
  %0 = onnx.Exp(%x) : (tensor<512x16xf32>) -> tensor<512x16xf32> loc("exp")
  %1 = onnx.CumSum(%0, %axis) : (tensor<512x16xf32>, tensor<i64>) -> tensor<512x16xf32> loc("short")
  return %1 : tensor<512x16xf32>
}

// -----

// What somebody else reads is no elementwise work on the scan.
// CHECK-LABEL: func @other_reader
// CHECK-COUNT-2: kernel.dispatch
// CHECK-NOT: kernel.dispatch
// WHY-DAG: remark: loc("scan"): not fused with 'shared': together they would not be a scan any more
func.func @other_reader(%x: tensor<4x512x2xf32>) -> (tensor<4x512x2xf32>, tensor<4x512x2xf32>) {
  %axis = onnx.Constant() {value = dense<1> : tensor<i64>} : () -> tensor<i64>
  %0 = onnx.Exp(%x) : (tensor<4x512x2xf32>) -> tensor<4x512x2xf32> loc("shared")
  %1 = onnx.CumSum(%0, %axis) : (tensor<4x512x2xf32>, tensor<i64>) -> tensor<4x512x2xf32> loc("scan")
  return %0, %1 : tensor<4x512x2xf32>, tensor<4x512x2xf32>
}

// -----

// Lines that lie in memory as they are gone through are not to be read across it instead.
// CHECK-LABEL: func @turned
// CHECK-COUNT-2: kernel.dispatch
// CHECK-NOT: kernel.dispatch
// WHY-DAG: remark: loc("turned"): not fused with 'turn': lines of the scan would be read across rows
func.func @turned(%x: tensor<512x64xf32>) -> tensor<64x512xf32> {
  %axis = onnx.Constant() {value = dense<1> : tensor<i64>} : () -> tensor<i64>
  %0 = onnx.Transpose(%x) {perm = array<i64: 1, 0>} : (tensor<512x64xf32>) -> tensor<64x512xf32> loc("turn")
  %1 = onnx.CumSum(%0, %axis) : (tensor<64x512xf32>, tensor<i64>) -> tensor<64x512xf32> loc("turned")
  return %1 : tensor<64x512xf32>
}

// -----

// Lines across memory: one input is read so in any case, and may be turned on the way; several large
// ones are not.
// CHECK-LABEL: func @across
// CHECK: kernel.dispatch
// CHECK:   kernel.scan add {{.*}} : tensor<1x512x64xf32>
// CHECK-NOT: kernel.dispatch
func.func @across(%x: tensor<64x512xf32>) -> tensor<512x64xf32> {
  %axis = onnx.Constant() {value = dense<0> : tensor<i64>} : () -> tensor<i64>
  %0 = onnx.Transpose(%x) {perm = array<i64: 1, 0>} : (tensor<64x512xf32>) -> tensor<512x64xf32>
  %1 = onnx.CumSum(%0, %axis) : (tensor<512x64xf32>, tensor<i64>) -> tensor<512x64xf32>
  return %1 : tensor<512x64xf32>
}

// -----

// CHECK-LABEL: func @several_across
// CHECK-COUNT-2: kernel.dispatch
// CHECK-NOT: kernel.dispatch
// WHY-DAG: remark: loc("columns"): not fused with 'sum3': several inputs would be read across their rows, not one
func.func @several_across(%x: tensor<4096x4096xf32>, %y: tensor<4096x4096xf32>, %z: tensor<4096x4096xf32>) -> tensor<4096x4096xf32> {
  %axis = onnx.Constant() {value = dense<0> : tensor<i64>} : () -> tensor<i64>
  %0 = onnx.Sum(%x, %y, %z) : (tensor<4096x4096xf32>, tensor<4096x4096xf32>, tensor<4096x4096xf32>) -> tensor<4096x4096xf32> loc("sum3")
  %1 = onnx.CumSum(%0, %axis) : (tensor<4096x4096xf32>, tensor<i64>) -> tensor<4096x4096xf32> loc("columns")
  return %1 : tensor<4096x4096xf32>
}
