// RUN: not %cameo-opt %s --pass-pipeline='builtin.module(cameo-place-taps{values=[a})' 2>&1 | FileCheck %s --check-prefix=PATTERN
// RUN: %cameo-opt %s --pass-pipeline='builtin.module(cameo-place-taps)' | FileCheck %s

// PATTERN: error: --tap: '[a' is not a pattern: invalid glob pattern
// CHECK: func.func @main(%{{.*}}: tensor<4xf32>) -> tensor<4xf32> {
func.func @main(%a: tensor<4xf32>) -> tensor<4xf32> {
  %0 = onnx.Relu(%a) : (tensor<4xf32>) -> tensor<4xf32> loc("r")
  return %0 : tensor<4xf32>
}
