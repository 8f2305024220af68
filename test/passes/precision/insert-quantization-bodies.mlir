// RUN: echo '{"cameo_ranges": 1, "ranges": {"x": {"min": -1, "max": 1}, "relu": {"min": 0, "max": 12.7}}}' > %t.json
// RUN: cameo-opt %s --pass-pipeline='builtin.module(cameo-attach-ranges{file=%t.json},cameo-insert-quantization{nodes=MatMul=int8})' | FileCheck %s
// RUN: cameo-opt %s --pass-pipeline='builtin.module(cameo-attach-ranges{file=%t.json},cameo-insert-quantization{nodes=MatMul=int8},cameo-report-decisions)' 2>&1 | FileCheck %s --check-prefix=REMARKS
// RUN: cameo-opt %s --pass-pipeline='builtin.module(cameo-attach-ranges{file=%t.json},cameo-lower-precision{precision=fp16 nodes=taken=fp32})' | FileCheck %s --check-prefix=TYPES
// RUN: not cameo-opt %s --pass-pipeline='builtin.module(cameo-lower-precision{nodes=nobody=fp32})' 2>&1 | FileCheck %s --check-prefix=NOBODY
// RUN: cameo-opt %s --pass-pipeline='builtin.module(cameo-insert-weight-quantization)' 2>&1 | FileCheck %s --check-prefix=ONCE

// Products in a branch are quantised as others, and what crosses its border stays as it is.
// CHECK-LABEL: func.func @main
// CHECK: onnx.CallIf(%arg0, %arg1) {{.*}} : (tensor<i1>, tensor<4x4xf32>) -> tensor<4x4xf32>
// CHECK-LABEL: func.func private @main.then(%arg0: tensor<4x4xf32>
// CHECK: %[[R:.*]] = onnx.Relu(%arg0)
// CHECK: %[[Q:.*]] = onnx.QuantizeLinear(%[[R]], %{{.*}}, %{{.*}})
// CHECK: %[[D:.*]] = onnx.DequantizeLinear(%[[Q]]
// CHECK: %[[P:.*]] = onnx.MatMul(%[[D]], %{{.*}})
// CHECK: return %[[P]] : tensor<4x4xf32>
// Nothing is known of a branch that no sample takes.
// CHECK-LABEL: func.func private @main.else
// CHECK-NOT: onnx.QuantizeLinear
// CHECK: onnx.MatMul(%{{.*}}, %{{.*}}) {onnx.kept_precision = "input 'A' has no range: no sample has come to this graph"}
// REMARKS: not quantised: input 'A' has no range: no sample has come to this graph
// REMARKS-NOT: remark: {{.*}}no sample

// What an option names may be in any of the functions, and is looked for in all of them.
// TYPES-LABEL: func.func private @main.then
// TYPES: onnx.MatMul({{.*}}) {{.*}} : (tensor<4x4xf32>, tensor<4x4xf32>)
// TYPES-LABEL: func.func private @main.else
// TYPES: onnx.MatMul({{.*}}) : (tensor<4x4xf16>, tensor<4x4xf16>)
// NOBODY: error: --precision-of: 'nobody=fp32' matches no node with values of FP32, neither by name nor by operator
// NOBODY-NOT: error:
// ONCE: warning: --weights=int8: no weights are quantised
// ONCE-NOT: warning:
func.func @main(%c: tensor<i1> {onnx.name = "c"}, %x: tensor<4x4xf32> {onnx.name = "x"}) -> tensor<4x4xf32> {
  %0 = onnx.CallIf(%c, %x) {then_branch = @main.then, else_branch = @main.else, sizes = array<i64: -1, -1, -1, -1>} : (tensor<i1>, tensor<4x4xf32>) -> tensor<4x4xf32> loc("if")
  return %0 : tensor<4x4xf32>
}
func.func private @main.then(%x: tensor<4x4xf32> {onnx.name = "x"}) -> tensor<4x4xf32> {
  %w = onnx.Constant() {value = dense<1.0> : tensor<4x4xf32>} : () -> tensor<4x4xf32> loc("w")
  %0 = onnx.Relu(%x) : (tensor<4x4xf32>) -> tensor<4x4xf32> loc("relu")
  %1 = onnx.MatMul(%0, %w) : (tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<4x4xf32> loc("taken")
  return %1 : tensor<4x4xf32>
}
func.func private @main.else(%x: tensor<4x4xf32> {onnx.name = "x"}) -> tensor<4x4xf32> {
  %w = onnx.Constant() {value = dense<1.0> : tensor<4x4xf32>} : () -> tensor<4x4xf32> loc("w")
  %0 = onnx.Log(%x) : (tensor<4x4xf32>) -> tensor<4x4xf32> loc("log")
  %1 = onnx.MatMul(%0, %w) : (tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<4x4xf32> loc("other")
  return %1 : tensor<4x4xf32>
}
