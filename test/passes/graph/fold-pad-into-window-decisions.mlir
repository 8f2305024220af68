// RUN: cameo-opt %s --split-input-file --pass-pipeline='builtin.module(func.func(cameo-fold-pad-into-window,cameo-fold-pad-into-window),cameo-report-decisions)' -o /dev/null 2>&1 | FileCheck %s

// CHECK: remark: loc("zeros"): folded into the window that reads it
// CHECK-NEXT: remark: loc("ones"): not folded into the window that reads it: the window's own padding would have other elements, or count them otherwise
// CHECK-NEXT: remark: loc("channels"): not folded into the window that reads it: it pads dimensions that the window does not slide along
// CHECK-NEXT: remark: loc("edges"): not folded into the window that reads it: it does more than to add constants, as many as are known when compiling
// CHECK-NEXT: remark: loc("auto"): not folded into the window that reads it: the window's own padding depends on the padded size
// CHECK-NOT: remark
func.func @main(%x: tensor<1x1x4xf32>, %w: tensor<1x1x3xf32>, %v: tensor<1x2x3xf32>)
    -> (tensor<1x1x4xf32>, tensor<1x1x4xf32>, tensor<1x1x2xf32>, tensor<1x1x4xf32>, tensor<1x1x6xf32>) {
  %pads = onnx.Constant() {value = dense<[0, 0, 1, 0, 0, 1]> : tensor<6xi64>} : () -> tensor<6xi64>
  %first = onnx.Constant() {value = dense<[0, 1, 0, 0, 0, 0]> : tensor<6xi64>} : () -> tensor<6xi64>
  %one = onnx.Constant() {value = dense<1.0> : tensor<f32>} : () -> tensor<f32>
  %none = onnx.None() : () -> none
  %0 = onnx.Pad(%x, %pads, %none, %none) : (tensor<1x1x4xf32>, tensor<6xi64>, none, none) -> tensor<1x1x6xf32> loc("zeros")
  %1 = onnx.Conv(%0, %w, %none) : (tensor<1x1x6xf32>, tensor<1x1x3xf32>, none) -> tensor<1x1x4xf32> loc("a")
  %2 = onnx.Pad(%x, %pads, %one, %none) : (tensor<1x1x4xf32>, tensor<6xi64>, tensor<f32>, none) -> tensor<1x1x6xf32> loc("ones")
  %3 = onnx.Conv(%2, %w, %none) : (tensor<1x1x6xf32>, tensor<1x1x3xf32>, none) -> tensor<1x1x4xf32> loc("b")
  %4 = onnx.Pad(%x, %first, %none, %none) : (tensor<1x1x4xf32>, tensor<6xi64>, none, none) -> tensor<1x2x4xf32> loc("channels")
  %5 = onnx.Conv(%4, %v, %none) : (tensor<1x2x4xf32>, tensor<1x2x3xf32>, none) -> tensor<1x1x2xf32> loc("c")
  %6 = onnx.Pad(%x, %pads, %none, %none) {mode = "edge"} : (tensor<1x1x4xf32>, tensor<6xi64>, none, none) -> tensor<1x1x6xf32> loc("edges")
  %7 = onnx.Conv(%6, %w, %none) : (tensor<1x1x6xf32>, tensor<1x1x3xf32>, none) -> tensor<1x1x4xf32> loc("d")
  %8 = onnx.Pad(%x, %pads, %none, %none) : (tensor<1x1x4xf32>, tensor<6xi64>, none, none) -> tensor<1x1x6xf32> loc("auto")
  %9 = onnx.Conv(%8, %w, %none) {auto_pad = "SAME_UPPER"} : (tensor<1x1x6xf32>, tensor<1x1x3xf32>, none) -> tensor<1x1x6xf32> loc("e")
  return %1, %3, %5, %7, %9 : tensor<1x1x4xf32>, tensor<1x1x4xf32>, tensor<1x1x2xf32>, tensor<1x1x4xf32>, tensor<1x1x6xf32>
}
