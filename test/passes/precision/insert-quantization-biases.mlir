// RUN: echo '{"cameo_ranges": 1, "ranges": {"a": {"min": 0, "max": 127}, "b": {"min": 0, "max": 127}, "c": {"min": 0, "max": 127}}, "inputs": {"conv": {"value": "a", "scale": 1, "means": [8, 16, 4, 4], "shifts": [0.5, 0, 0, 0.25]}, "depthwise": {"value": "b", "scale": 0.0083, "means": [2, 2, 8, 4], "shifts": [100, 100, 100, 100]}, "gemm": {"value": "other", "scale": 1, "means": [1, 1], "shifts": [0, 0]}}}' > %t.json
// RUN: cameo-opt %s --split-input-file --pass-pipeline='builtin.module(cameo-attach-ranges{file=%t.json},cameo-insert-quantization{correct-biases=on})' | FileCheck %s
// RUN: cameo-opt %s --split-input-file --pass-pipeline='builtin.module(cameo-attach-ranges{file=%t.json},cameo-insert-quantization{correct-biases=on},cameo-report-decisions)' 2>&1 | FileCheck %s --check-prefix=MISSED
// RUN: cameo-opt %s --split-input-file --pass-pipeline='builtin.module(cameo-attach-ranges{file=%t.json},cameo-insert-quantization)' | FileCheck %s --check-prefix=OFF

// The ranges say it where nobody asks.
// RUN: sed 's/"inputs"/"chosen": {"bias_correction": true}, "inputs"/' %t.json > %t.chosen
// RUN: cameo-opt %s --split-input-file --pass-pipeline='builtin.module(cameo-attach-ranges{file=%t.chosen},cameo-insert-quantization)' | FileCheck %s
// RUN: cameo-opt %s --split-input-file --pass-pipeline='builtin.module(cameo-attach-ranges{file=%t.chosen},cameo-insert-quantization{correct-biases=off})' | FileCheck %s --check-prefix=OFF
// RUN: sed 's/true}, /3}, /' %t.chosen > %t.three
// RUN: not cameo-opt %s --split-input-file --cameo-attach-ranges='file=%t.three' 2>&1 | FileCheck %s --check-prefix=THREE
// THREE: error: ranges in '{{.*}}.three': 'chosen': 'bias_correction': expected true or false, found 3
// RUN: sed 's/"inputs"/"others"/' %t.chosen > %t.others
// RUN: not cameo-opt %s --split-input-file --cameo-attach-ranges='file=%t.others' 2>&1 | FileCheck %s --check-prefix=OTHERS
// OTHERS: error: ranges in '{{.*}}.others': 'chosen' corrects biases, for which it takes 'inputs': expected an object of products, found nothing
// RUN: not cameo-opt %s --split-input-file --pass-pipeline='builtin.module(cameo-attach-ranges{file=%t.json},cameo-insert-quantization{correct-biases=yes})' 2>&1 | FileCheck %s --check-prefix=YES
// YES: error: --correct-biases: 'yes' is not one of on, off and recorded

// RUN: echo '{"cameo_ranges": 1, "ranges": {"a": {"min": 0, "max": 127}}}' > %t.without
// RUN: not cameo-opt %s --split-input-file --pass-pipeline='builtin.module(cameo-attach-ranges{file=%t.without},cameo-insert-quantization{correct-biases=on})' 2>&1 | FileCheck %s --check-prefix=WITHOUT
// WITHOUT: error: bias correction needs means of what products read, and '{{.*}}.without' has none: calibration records them where it is asked for
// RUN: echo '{"cameo_ranges": 1, "ranges": {"a": {"min": 0, "max": 127}}, "inputs": {"conv": {"value": "a", "scale": 1, "means": [1], "shifts": []}}}' > %t.uneven
// RUN: not cameo-opt %s --split-input-file --pass-pipeline='builtin.module(cameo-attach-ranges{file=%t.uneven},cameo-insert-quantization{correct-biases=on})' 2>&1 | FileCheck %s --check-prefix=UNEVEN
// UNEVEN: error: ranges in '{{.*}}.uneven': the input of 'conv': 'shifts': expected 1 numbers, as many as 'means' has, found 0

// Two channels and two places of the window. 63.5 becomes 64 in a scale of 1, by which the mean
// grows by 16 * 0.5; quantising the input adds 127 * 0.5 + 32 * 0.25. So 100 becomes 20.5,
// whose scale is 1: 20.
// CHECK-LABEL: func @conv(
// CHECK: %[[B:.*]] = onnx.Constant() {value = dense<20> : tensor<1xi32>}
// CHECK: onnx.DequantizeLinear(%[[B]]
// OFF-LABEL: func @conv(
// OFF: onnx.Constant() {value = dense<100> : tensor<1xi32>}
func.func @conv(%x: tensor<1x2x4xf32>) -> tensor<1x1x3xf32> {
  %w = onnx.Constant() {value = dense<[[[127.0, 63.5], [0.0, 32.0]]]> : tensor<1x2x2xf32>} : () -> tensor<1x2x2xf32>
  %b = onnx.Constant() {value = dense<100.0> : tensor<1xf32>} : () -> tensor<1xf32>
  %0 = onnx.Relu(%x) : (tensor<1x2x4xf32>) -> tensor<1x2x4xf32> loc("a")
  %1 = onnx.Conv(%0, %w, %b) : (tensor<1x2x4xf32>, tensor<1x2x2xf32>, tensor<1xf32>) -> tensor<1x1x3xf32> loc("conv")
  return %1 : tensor<1x1x3xf32>
}

// -----

// Each group has its own channels. Shifts by another threshold do not count. A bias is made where
// there is none: in a scale of 2, 1 becomes 0, and what it is multiplied with is 4 on average.
// CHECK-LABEL: func @depthwise(
// CHECK: %[[B:.*]] = onnx.Constant() {value = dense<[0, 2]> : tensor<2xi32>}
// CHECK: onnx.DequantizeLinear(%[[B]]
// OFF-LABEL: func @depthwise(
// OFF-NOT: tensor<2xi32>
func.func @depthwise(%x: tensor<1x2x4xf32>) -> tensor<1x2x3xf32> {
  %w = onnx.Constant() {value = dense<[[[127.0, 0.0]], [[254.0, 1.0]]]> : tensor<2x1x2xf32>} : () -> tensor<2x1x2xf32>
  %none = onnx.None() : () -> none
  %0 = onnx.Relu(%x) : (tensor<1x2x4xf32>) -> tensor<1x2x4xf32> loc("b")
  %1 = onnx.Conv(%0, %w, %none) {group = 2 : i64} : (tensor<1x2x4xf32>, tensor<2x1x2xf32>, none) -> tensor<1x2x3xf32> loc("depthwise")
  return %1 : tensor<1x2x3xf32>
}

// -----

// Means of something else that was read under that name.
// CHECK-LABEL: func @gemm(
// CHECK: onnx.Constant() {value = dense<5> : tensor<1xi32>}
// MISSED-NOT: remark: {{.*}}bias not corrected
// MISSED: remark: loc("gemm"): bias not corrected: the means that were recorded are of something else that it read
// MISSED-NOT: remark: {{.*}}bias not corrected
func.func @gemm(%x: tensor<4x2xf32>) -> tensor<4x1xf32> {
  %w = onnx.Constant() {value = dense<[[127.0], [63.5]]> : tensor<2x1xf32>} : () -> tensor<2x1xf32>
  %b = onnx.Constant() {value = dense<5.0> : tensor<1xf32>} : () -> tensor<1xf32>
  %0 = onnx.Relu(%x) : (tensor<4x2xf32>) -> tensor<4x2xf32> loc("c")
  %1 = onnx.Gemm(%0, %w, %b) : (tensor<4x2xf32>, tensor<2x1xf32>, tensor<1xf32>) -> tensor<4x1xf32> loc("gemm")
  return %1 : tensor<4x1xf32>
}
