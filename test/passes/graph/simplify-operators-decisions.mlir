// RUN: cameo-opt %s --pass-pipeline='builtin.module(func.func(cameo-simplify-operators,cameo-simplify-operators),cameo-report-decisions)' -o /dev/null 2>&1 | FileCheck %s

// What went is named with what stands for it; nodes that nothing reads, too, but not their constants.
// CHECK: remark: loc("unread"): removed: nothing reads its result
// CHECK-NEXT: remark: loc("same"): removed: its result is the input 'x'
// CHECK-NEXT: remark: loc("back"): merged with 'turn', the Transpose before it
// CHECK-NEXT: remark: loc("back"): removed: its result is the input 'x'
// CHECK-NEXT: remark: loc("plain"): removed: its result is that of 'relu'
// CHECK-NEXT: remark: loc("turn"): removed: nothing reads its result
// CHECK-NOT: remark
func.func @main(%x: tensor<2x3xf32> {onnx.name = "x"}) -> tensor<2x3xf32> {
  %shape = onnx.Constant() {value = dense<[3, 2]> : tensor<2xi64>} : () -> tensor<2xi64> loc("shape")
  %0 = onnx.Reshape(%x, %shape) : (tensor<2x3xf32>, tensor<2xi64>) -> tensor<3x2xf32> loc("unread")
  %1 = onnx.Identity(%x) : (tensor<2x3xf32>) -> tensor<2x3xf32> loc("same")
  %2 = onnx.Transpose(%1) {perm = array<i64: 1, 0>} : (tensor<2x3xf32>) -> tensor<3x2xf32> loc("turn")
  %3 = onnx.Transpose(%2) {perm = array<i64: 1, 0>} : (tensor<3x2xf32>) -> tensor<2x3xf32> loc("back")
  %4 = onnx.Relu(%3) : (tensor<2x3xf32>) -> tensor<2x3xf32> loc("relu")
  %5 = onnx.Identity(%4) : (tensor<2x3xf32>) -> tensor<2x3xf32> loc("plain")
  return %5 : tensor<2x3xf32>
}
