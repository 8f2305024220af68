// RUN: echo '{"cameo_ranges": 1, "model": "16e89c4be18b0e5f", "ranges": {"one": {"min": -1, "max": 1}, "two": {"min": -1, "max": 1}, "three": {"min": -1, "max": 1}}}' > %t.json
// RUN: cameo-opt %s --pass-pipeline='builtin.module(cameo-attach-ranges{file=%t.json model=16e89c4be18b0e5f},cameo-insert-quantization)' | FileCheck %s --check-prefix=ALL
// RUN: cameo-opt %s --pass-pipeline='builtin.module(cameo-attach-ranges{file=%t.json},cameo-insert-quantization{keep-ends=first},cameo-report-decisions)' 2>&1 | FileCheck %s --check-prefix=FIRST
// RUN: cameo-opt %s --pass-pipeline='builtin.module(cameo-attach-ranges{file=%t.json},cameo-insert-quantization{keep-ends=last},cameo-report-decisions)' 2>&1 | FileCheck %s --check-prefix=LAST
// RUN: cameo-opt %s --pass-pipeline='builtin.module(cameo-attach-ranges{file=%t.json},cameo-insert-quantization{keep-ends=both})' | FileCheck %s --check-prefix=BOTH
// RUN: cameo-opt %s --pass-pipeline='builtin.module(cameo-attach-ranges{file=%t.json},cameo-insert-quantization{precision=fp16 nodes=p2=int8})' | FileCheck %s --check-prefix=BOTH
// RUN: cameo-opt %s --pass-pipeline='builtin.module(cameo-insert-quantization{precision=fp16})' | FileCheck %s --check-prefix=NOTHING
// RUN: cameo-opt %s --pass-pipeline='builtin.module(cameo-attach-ranges{file=%t.json},cameo-insert-quantization,func.func(cameo-hoist-quantization),cameo-lower-precision{precision=int8},cameo-verify-stage{stage=precision strict=true})' | FileCheck %s --check-prefix=TYPES
// RUN: cameo-opt %s --pass-pipeline='builtin.module(cameo-attach-ranges{file=%t.json},cameo-insert-quantization,cameo-lower-precision{precision=int8},cameo-verify-stage{stage=precision strict=true})' > %t.once
// RUN: cameo-opt %t.once --pass-pipeline='builtin.module(cameo-attach-ranges{file=%t.json},cameo-insert-quantization,cameo-lower-precision{precision=int8})' | diff %t.once -

// RUN: not cameo-opt %s --pass-pipeline='builtin.module(cameo-insert-quantization)' 2>&1 | FileCheck %s --check-prefix=NONE
// NONE: error: INT8 needs the ranges of the model's values, recorded while it runs on sample data, and there are none
// RUN: not cameo-opt %s --pass-pipeline='builtin.module(cameo-attach-ranges{file=%t.json model=00c8a1ee01e86f41},cameo-insert-quantization)' 2>&1 | FileCheck %s --check-prefix=MODEL
// MODEL: error: ranges in '{{.*}}.json': they are of the model with the hash 16e89c4be18b0e5f, and this one's is 00c8a1ee01e86f41
// RUN: not cameo-opt %s --pass-pipeline='builtin.module(cameo-attach-ranges{file=%t.json},cameo-insert-quantization{keep-ends=middle})' 2>&1 | FileCheck %s --check-prefix=ENDS
// ENDS: error: --keep-ends: 'middle' is not one of none, first, last and both
// RUN: echo '{"cameo_ranges": 1, "ranges": {"one": {"min": -1, "max": 1, "method": "mse", "thresholds": {"max": 1}}}}' > %t.method
// RUN: not cameo-opt %s --pass-pipeline='builtin.module(cameo-attach-ranges{file=%t.method},cameo-insert-quantization)' 2>&1 | FileCheck %s --check-prefix=METHOD
// METHOD: error: ranges in '{{.*}}.method': 'one': its 'method' names none of its 'thresholds', which are more than 0
// RUN: not cameo-opt %s --pass-pipeline='builtin.module(cameo-insert-quantization{nodes=p1=int4})' 2>&1 | FileCheck %s --check-prefix=TYPE
// TYPE: error: --precision-of: 'int4' in 'p1=int4' is not one of fp32, tf32, fp16, bf16 and int8

// ALL-COUNT-3: onnx.QuantizeLinear
// ALL-NOT: onnx.QuantizeLinear
// FIRST: remark: loc("p1"): not quantised: no product comes before it, and the first ones are kept
// FIRST-COUNT-2: onnx.QuantizeLinear
// FIRST-NOT: onnx.QuantizeLinear
// LAST: remark: loc("p3"): not quantised: no product comes behind it, and the last ones are kept
// LAST-COUNT-2: onnx.QuantizeLinear
// LAST-NOT: onnx.QuantizeLinear
// BOTH-COUNT-1: onnx.QuantizeLinear
// BOTH-NOT: onnx.QuantizeLinear
// NOTHING-NOT: onnx.QuantizeLinear

// What products of integers give is FP32, until it is stored.
// TYPES-LABEL: func @main
// TYPES-SAME: onnx.precision = "int8"
// TYPES-NOT: onnx.Cast
// TYPES: return
func.func @main(%x: tensor<4x4xf32> {onnx.name = "x"}) -> tensor<4x4xf32> {
  %0 = onnx.Relu(%x) : (tensor<4x4xf32>) -> tensor<4x4xf32> loc("one")
  %1 = onnx.MatMul(%0, %0) : (tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<4x4xf32> loc("p1")
  %2 = onnx.Tanh(%1) : (tensor<4x4xf32>) -> tensor<4x4xf32> loc("two")
  %3 = onnx.MatMul(%2, %2) : (tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<4x4xf32> loc("p2")
  %4 = onnx.Sigmoid(%3) : (tensor<4x4xf32>) -> tensor<4x4xf32> loc("three")
  %5 = onnx.MatMul(%4, %4) : (tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<4x4xf32> loc("p3")
  return %5 : tensor<4x4xf32>
}
