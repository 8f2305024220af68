// RUN: echo '{"cameo_ranges": 1, "ranges": {"a": {"min": 0, "max": 127}}, "roundings": {"conv": {"scales": [1], "up": "Cg=="}, "matmul": {"scales": [1, 3], "up": "DA=="}, "other": {"scales": [1, 1], "up": "AAA="}}}' > %t.json
// RUN: cameo-opt %s --split-input-file --pass-pipeline='builtin.module(func.func(cameo-insert-quantization{ranges=%t.json learn-rounding}))' | FileCheck %s
// RUN: cameo-opt %s --split-input-file --pass-pipeline='builtin.module(func.func(cameo-insert-quantization{ranges=%t.json learn-rounding}),cameo-report-decisions)' 2>&1 | FileCheck %s --check-prefix=MISSED
// RUN: cameo-opt %s --split-input-file --pass-pipeline='builtin.module(func.func(cameo-insert-quantization{ranges=%t.json}))' | FileCheck %s --check-prefix=OFF

// RUN: echo '{"cameo_ranges": 1, "ranges": {"a": {"min": 0, "max": 127}}}' > %t.without
// RUN: not cameo-opt %s --split-input-file --pass-pipeline='builtin.module(func.func(cameo-insert-quantization{ranges=%t.without learn-rounding}))' 2>&1 | FileCheck %s --check-prefix=WITHOUT
// WITHOUT: error: learned rounding needs what was learned, and '{{.*}}.without' has nothing: calibration learns it where it is asked for
// RUN: echo '{"cameo_ranges": 1, "ranges": {"a": {"min": 0, "max": 127}}, "roundings": {"conv": {"scales": [1], "up": "?"}}}' > %t.bits
// RUN: not cameo-opt %s --split-input-file --pass-pipeline='builtin.module(func.func(cameo-insert-quantization{ranges=%t.bits learn-rounding}))' 2>&1 | FileCheck %s --check-prefix=BITS
// BITS: error: ranges in '{{.*}}.bits': the rounding of 'conv': 'up': expected Base64, found {{.*}}

// Up are the second weight and the fourth.
// CHECK-LABEL: func @conv(
// CHECK: onnx.Constant() {value = dense<{{\[\[\[}}127, 64, 2, -3]]]> : tensor<1x1x4xi8>}
// OFF-LABEL: func @conv(
// OFF: onnx.Constant() {value = dense<{{\[\[\[}}127, 63, 3, -4]]]> : tensor<1x1x4xi8>}
func.func @conv(%x: tensor<4x1x8xf32>) -> tensor<4x1x5xf32> {
  %w = onnx.Constant() {value = dense<[[[127.0, 63.4, 2.6, -3.7]]]> : tensor<1x1x4xf32>} : () -> tensor<1x1x4xf32>
  %none = onnx.None() : () -> none
  %0 = onnx.Relu(%x) : (tensor<4x1x8xf32>) -> tensor<4x1x8xf32> loc("a")
  %1 = onnx.Conv(%0, %w, %none) : (tensor<4x1x8xf32>, tensor<1x1x4xf32>, none) -> tensor<4x1x5xf32> loc("conv")
  return %1 : tensor<4x1x5xf32>
}

// -----

// Channels are columns; the second one has another scale than was learned for.
// CHECK-LABEL: func @matmul(
// CHECK: onnx.Constant() {value = dense<{{\[\[}}127, 127], [2, 1]]> : tensor<2x2xi8>}
// MISSED: remark: loc("matmul"): rounding not learned: for 1 channels, of another scale than was learned for
func.func @matmul(%x: tensor<8x2xf32>) -> tensor<8x2xf32> {
  %w = onnx.Constant() {value = dense<[[127.0, 254.0], [1.4, 2.6]]> : tensor<2x2xf32>} : () -> tensor<2x2xf32>
  %0 = onnx.Relu(%x) : (tensor<8x2xf32>) -> tensor<8x2xf32> loc("a")
  %1 = onnx.MatMul(%0, %w) : (tensor<8x2xf32>, tensor<2x2xf32>) -> tensor<8x2xf32> loc("matmul")
  return %1 : tensor<8x2xf32>
}

// -----

// Of more weights than it has; and of none.
// CHECK-LABEL: func @other(
// CHECK: onnx.Constant() {value = dense<{{\[\[}}127], [1]]> : tensor<2x1xi8>}
// CHECK: onnx.Constant() {value = dense<{{\[\[}}127], [1]]> : tensor<2x1xi8>}
// MISSED: remark: loc("other"): rounding not learned: what was learned is of other weights
// MISSED: remark: loc("unknown"): rounding not learned: nothing was learned of this product
func.func @other(%x: tensor<8x2xf32>) -> (tensor<8x1xf32>, tensor<8x1xf32>) {
  %w = onnx.Constant() {value = dense<[[127.0], [1.4]]> : tensor<2x1xf32>} : () -> tensor<2x1xf32>
  %0 = onnx.Relu(%x) : (tensor<8x2xf32>) -> tensor<8x2xf32> loc("a")
  %1 = onnx.MatMul(%0, %w) : (tensor<8x2xf32>, tensor<2x1xf32>) -> tensor<8x1xf32> loc("other")
  %2 = onnx.MatMul(%0, %w) : (tensor<8x2xf32>, tensor<2x1xf32>) -> tensor<8x1xf32> loc("unknown")
  return %1, %2 : tensor<8x1xf32>, tensor<8x1xf32>
}

// -----

// MISSED: remark: loc("deep"): rounding not learned: sums of 4097 products are deeper than the 4096 for which it is
func.func @deep(%x: tensor<8x4097xf32>) -> tensor<8x1xf32> {
  %w = onnx.Constant() {value = dense<1.0> : tensor<4097x1xf32>} : () -> tensor<4097x1xf32>
  %0 = onnx.Relu(%x) : (tensor<8x4097xf32>) -> tensor<8x4097xf32> loc("a")
  %1 = onnx.MatMul(%0, %w) : (tensor<8x4097xf32>, tensor<4097x1xf32>) -> tensor<8x1xf32> loc("deep")
  return %1 : tensor<8x1xf32>
}
