// RUN: cameo-opt %s --split-input-file --pass-pipeline='builtin.module(cameo-lower-onnx-to-dispatches,func.func(cameo-fuse-dispatches))' | FileCheck %s
// RUN: cameo-opt %s --split-input-file --pass-pipeline='builtin.module(cameo-lower-onnx-to-dispatches,func.func(cameo-fuse-dispatches,cameo-fuse-dispatches))' | FileCheck %s
// RUN: cameo-opt %s --split-input-file --pass-pipeline='builtin.module(cameo-lower-onnx-to-dispatches,func.func(cameo-fuse-dispatches),cameo-report-decisions)' -o /dev/null 2>&1 | FileCheck %s --check-prefix=WHY

// What taps show is stored besides, as long as a kernel takes no more memory by that than an operation
// does, here an operand and a result. Outputs have memory of their own.
// CHECK-LABEL: func @two_at_once
// CHECK: %[[FIRST:.*]]:2 = kernel.dispatch ins(%{{.*}} : tensor<64xf32>)
// CHECK: %[[SECOND:.*]]:2 = kernel.dispatch ins(%[[FIRST]]#1 : tensor<64xf32>)
// CHECK-NOT: kernel.dispatch
// CHECK: return %[[SECOND]]#1, %[[FIRST]]#0, %[[FIRST]]#1, %[[SECOND]]#0
// WHY: remark: loc("sqrt"): fused with 'exp'
// WHY: remark: loc("cos"): fused with 'sin'
// WHY-NEXT: remark: loc(fused["sin", "cos"]): not fused with 'exp': a tap shows what is between them, and one kernel would take more memory than any operation by itself
func.func @two_at_once(%x: tensor<64xf32>)
    -> (tensor<64xf32>, tensor<64xf32> {rt.tap}, tensor<64xf32> {rt.tap}, tensor<64xf32> {rt.tap}) {
  %0 = onnx.Exp(%x) : (tensor<64xf32>) -> tensor<64xf32> loc("exp")
  %1 = onnx.Sqrt(%0) : (tensor<64xf32>) -> tensor<64xf32> loc("sqrt")
  %2 = onnx.Sin(%1) : (tensor<64xf32>) -> tensor<64xf32> loc("sin")
  %3 = onnx.Cos(%2) : (tensor<64xf32>) -> tensor<64xf32> loc("cos")
  return %3, %0, %1, %2 : tensor<64xf32>, tensor<64xf32>, tensor<64xf32>, tensor<64xf32>
}

// -----

// A larger operation elsewhere leaves room for all of them.
// CHECK-LABEL: func @beside_a_large_one
// CHECK: %[[LARGE:.*]] = kernel.dispatch
// CHECK: %[[ALL:.*]]:4 = kernel.dispatch
// CHECK-NOT: kernel.dispatch
// CHECK: return %[[ALL]]#3, %[[LARGE]], %[[ALL]]#0, %[[ALL]]#1, %[[ALL]]#2
func.func @beside_a_large_one(%x: tensor<64xf32>, %y: tensor<512xf32>)
    -> (tensor<64xf32>, tensor<512xf32> {rt.tap}, tensor<64xf32> {rt.tap}, tensor<64xf32> {rt.tap},
        tensor<64xf32> {rt.tap}) {
  %l = onnx.Exp(%y) : (tensor<512xf32>) -> tensor<512xf32>
  %0 = onnx.Exp(%x) : (tensor<64xf32>) -> tensor<64xf32>
  %1 = onnx.Sqrt(%0) : (tensor<64xf32>) -> tensor<64xf32>
  %2 = onnx.Sin(%1) : (tensor<64xf32>) -> tensor<64xf32>
  %3 = onnx.Cos(%2) : (tensor<64xf32>) -> tensor<64xf32>
  return %3, %l, %0, %1, %2
      : tensor<64xf32>, tensor<512xf32>, tensor<64xf32>, tensor<64xf32>, tensor<64xf32>
}

// -----

// One that is large only if a size is does not count: it may be small.
// CHECK-LABEL: func @beside_a_symbolic_one
// CHECK-COUNT-3: kernel.dispatch
// CHECK-NOT: kernel.dispatch
func.func @beside_a_symbolic_one(%x: tensor<64xf32>, %y: tensor<?xf32>)
    -> (tensor<64xf32>, tensor<?xf32> {rt.tap}, tensor<64xf32> {rt.tap}, tensor<64xf32> {rt.tap},
        tensor<64xf32> {rt.tap}) {
  %l = onnx.Exp(%y) : (tensor<?xf32>) -> tensor<?xf32>
  %0 = onnx.Exp(%x) : (tensor<64xf32>) -> tensor<64xf32>
  %1 = onnx.Sqrt(%0) : (tensor<64xf32>) -> tensor<64xf32>
  %2 = onnx.Sin(%1) : (tensor<64xf32>) -> tensor<64xf32>
  %3 = onnx.Cos(%2) : (tensor<64xf32>) -> tensor<64xf32>
  return %3, %l, %0, %1, %2
      : tensor<64xf32>, tensor<?xf32>, tensor<64xf32>, tensor<64xf32>, tensor<64xf32>
}

// -----

// What others read as well is stored either way.
// CHECK-LABEL: func @read_by_others
// CHECK: %[[SUM:.*]]:3 = kernel.dispatch
// CHECK: kernel.dispatch
// CHECK-NOT: kernel.dispatch
func.func @read_by_others(%x: tensor<64xf32>, %w: tensor<64x64xf32>)
    -> (tensor<64xf32>, tensor<64xf32>, tensor<64xf32> {rt.tap}) {
  %0 = onnx.Exp(%x) : (tensor<64xf32>) -> tensor<64xf32>
  %1 = onnx.Sqrt(%0) : (tensor<64xf32>) -> tensor<64xf32>
  %2 = onnx.Sin(%1) : (tensor<64xf32>) -> tensor<64xf32>
  %3 = onnx.MatMul(%0, %w) : (tensor<64xf32>, tensor<64x64xf32>) -> tensor<64xf32>
  %4 = onnx.MatMul(%1, %w) : (tensor<64xf32>, tensor<64x64xf32>) -> tensor<64xf32>
  %5 = onnx.Add(%3, %4) : (tensor<64xf32>, tensor<64xf32>) -> tensor<64xf32>
  return %2, %5, %0 : tensor<64xf32>, tensor<64xf32>, tensor<64xf32>
}
