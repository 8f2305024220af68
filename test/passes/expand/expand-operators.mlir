// RUN: cameo-opt %s --split-input-file --pass-pipeline='builtin.module(func.func(cameo-expand-operators))' > %t
// RUN: FileCheck %s < %t
// RUN: cameo-opt %t --split-input-file --pass-pipeline='builtin.module(func.func(cameo-expand-operators))' | diff %t -
// RUN: cameo-opt %s --split-input-file --pass-pipeline='builtin.module(func.func(cameo-expand-operators,cameo-infer-shapes))' | FileCheck %s --check-prefix=SIZES

// The mean of what was chosen, without classes that are not counted.
// CHECK-LABEL: func @loss(
// CHECK: onnx.LogSoftmax(%arg0) {axis = 1 : i64}
// CHECK: %[[IGNORED:.*]] = onnx.Equal(%arg1,
// CHECK: onnx.Where(%[[IGNORED]],
// CHECK: onnx.GatherElements(
// CHECK: onnx.Neg(
// CHECK: %[[LOSS:.*]] = onnx.Where(%[[IGNORED]],
// CHECK: %[[WEIGHT:.*]] = onnx.Where(%[[IGNORED]],
// CHECK: onnx.ReduceSum(%[[LOSS]],
// CHECK: onnx.ReduceSum(%[[WEIGHT]],
// CHECK: onnx.Div(
// CHECK-NOT: onnx.SoftmaxCrossEntropyLoss
func.func @loss(%x: tensor<4x3xf32>, %t: tensor<4xi64>) -> tensor<*xf32> {
  %none = onnx.None() : () -> none
  %0, %1 = onnx.SoftmaxCrossEntropyLoss(%x, %t, %none) {ignore_index = -1 : i64}
      : (tensor<4x3xf32>, tensor<4xi64>, none) -> (tensor<*xf32>, none)
  return %0 : tensor<*xf32>
}

// -----

// A transform of few numbers is one product, by a table of real and imaginary parts.
// CHECK-LABEL: func @transform(
// CHECK: onnx.MatMul({{.*}} -> tensor<*xf32>
// CHECK-NOT: onnx.MatMul
// CHECK-NOT: onnx.DFT
// SIZES-LABEL: func @transform(
// SIZES: return {{.*}} : tensor<2x5x2xf32>
func.func @transform(%x: tensor<2x8x1xf32>) -> tensor<*xf32> {
  %none = onnx.None() : () -> none
  %0 = onnx.DFT(%x, %none, %none) {onesided = 1 : i64} : (tensor<2x8x1xf32>, none, none) -> tensor<*xf32>
  return %0 : tensor<*xf32>
}

// -----

// A long one is two of 24 and 25 numbers, with a turn between.
// CHECK-LABEL: func @split(
// CHECK: dense{{.*}}tensor<48x48xf32>
// CHECK: onnx.MatMul(
// CHECK: onnx.Add(
// CHECK: dense{{.*}}tensor<50x50xf32>
// CHECK: onnx.MatMul(
// CHECK-NOT: onnx.DFT
// SIZES-LABEL: func @split(
// SIZES: return {{.*}} : tensor<?x600x2xf32>
func.func @split(%x: tensor<?x600x2xf32>) -> tensor<*xf32> {
  %none = onnx.None() : () -> none
  %0 = onnx.DFT(%x, %none, %none) : (tensor<?x600x2xf32>, none, none) -> tensor<*xf32>
  return %0 : tensor<*xf32>
}

// -----

// The last update of a place counts.
// CHECK-LABEL: func @scatter(
// CHECK: onnx.Concat(
// CHECK: value = dense<[0, 5, 2]>
// CHECK: onnx.Gather(
// CHECK-NOT: onnx.ScatterND
// SIZES-LABEL: func @scatter(
// SIZES: return {{.*}} : tensor<3x2xf32>
func.func @scatter(%x: tensor<3x2xf32>, %u: tensor<3x2xf32>) -> tensor<*xf32> {
  %places = onnx.Constant() {value = dense<[[1], [1], [-2]]> : tensor<3x1xi64>} : () -> tensor<3x1xi64>
  %0 = onnx.ScatterND(%x, %places, %u) : (tensor<3x2xf32>, tensor<3x1xi64>, tensor<3x2xf32>) -> tensor<*xf32>
  return %0 : tensor<*xf32>
}

// -----

// What stands for one may feed another.
// CHECK-LABEL: func @chain(
// CHECK-NOT: onnx.CenterCropPad
// CHECK-NOT: onnx.AffineGrid
// CHECK: return
// SIZES-LABEL: func @chain(
// SIZES: return {{.*}} : tensor<1x2x2x2xf32>
func.func @chain(%x: tensor<3x4x3xf32>) -> tensor<*xf32> {
  %shape = onnx.Constant() {value = dense<[1, 2, 3]> : tensor<3xi64>} : () -> tensor<3xi64>
  %size = onnx.Constant() {value = dense<[1, 1, 2, 2]> : tensor<4xi64>} : () -> tensor<4xi64>
  %0 = onnx.CenterCropPad(%x, %shape) : (tensor<3x4x3xf32>, tensor<3xi64>) -> tensor<*xf32>
  %1 = onnx.AffineGrid(%0, %size) : (tensor<*xf32>, tensor<4xi64>) -> tensor<*xf32>
  return %1 : tensor<*xf32>
}

// -----

// What cannot be written so keeps the reason, and nothing of what was begun.
// CHECK-LABEL: func @kept(
// CHECK-NOT: onnx.Concat
// CHECK: onnx.Det({{.*}} {onnx.unexpanded = "the last two sizes must be known, alike and 1 to 4;
// CHECK: onnx.RotaryEmbedding({{.*}}onnx.unexpanded = "'num_heads' = 5 does not divide the 8 numbers of a token"
// CHECK: onnx.DFT({{.*}} {onnx.unexpanded = "a length of 2053 has a prime factor above 2048;
func.func @kept(%m: tensor<5x5xf32>, %t: tensor<1x2x8xf32>, %c: tensor<1x2x4xf32>, %s: tensor<1x2053x1xf32>)
    -> (tensor<*xf32>, tensor<*xf32>, tensor<*xf32>) {
  %none = onnx.None() : () -> none
  %0 = onnx.Det(%m) : (tensor<5x5xf32>) -> tensor<*xf32>
  %1 = onnx.RotaryEmbedding(%t, %c, %c, %none) {num_heads = 5 : i64} : (tensor<1x2x8xf32>, tensor<1x2x4xf32>, tensor<1x2x4xf32>, none) -> tensor<*xf32>
  %2 = onnx.DFT(%s, %none, %none) : (tensor<1x2053x1xf32>, none, none) -> tensor<*xf32>
  return %0, %1, %2 : tensor<*xf32>, tensor<*xf32>, tensor<*xf32>
}

// -----

// Places that are computed, places that many updates go to, and wrong ones are left to the lowering.
// CHECK-LABEL: func @left(
// CHECK-COUNT-3: onnx.ScatterND(
// CHECK-NOT: onnx.unexpanded
// CHECK: return
func.func @left(%x: tensor<3xf32>, %at: tensor<1x1xi64>, %u: tensor<1xf32>, %many: tensor<17xf32>) -> (tensor<*xf32>, tensor<*xf32>, tensor<*xf32>) {
  %zeros = onnx.Constant() {value = dense<0> : tensor<17x1xi64>} : () -> tensor<17x1xi64>
  %beyond = onnx.Constant() {value = dense<3> : tensor<1x1xi64>} : () -> tensor<1x1xi64>
  %0 = onnx.ScatterND(%x, %at, %u) : (tensor<3xf32>, tensor<1x1xi64>, tensor<1xf32>) -> tensor<*xf32>
  %1 = onnx.ScatterND(%x, %zeros, %many) {reduction = "add"} : (tensor<3xf32>, tensor<17x1xi64>, tensor<17xf32>) -> tensor<*xf32>
  %2 = onnx.ScatterND(%x, %beyond, %u) : (tensor<3xf32>, tensor<1x1xi64>, tensor<1xf32>) -> tensor<*xf32>
  return %0, %1, %2 : tensor<*xf32>, tensor<*xf32>, tensor<*xf32>
}

// -----

// Each word of a pair is compared with those of the pool, and what is found is counted for its column.
// CHECK-LABEL: func @pairs(
// CHECK: %[[FIRST:.*]] = onnx.Equal(
// CHECK: %[[SECOND:.*]] = onnx.Equal(
// CHECK: %[[PAIR:.*]] = onnx.And(%[[FIRST]], %[[SECOND]])
// CHECK: onnx.Cast(%[[PAIR]]) {to = 6 : i64}
// CHECK: onnx.ReduceSum(
// CHECK: onnx.Gather(
// CHECK-NOT: onnx.TfIdfVectorizer
// SIZES-LABEL: func @pairs(
// SIZES: return {{.*}} : tensor<?x3xf32>
func.func @pairs(%x: tensor<?x?xi32>) -> tensor<*xf32> {
  %y = onnx.TfIdfVectorizer(%x) {max_gram_length = 2 : i64, max_skip_count = 0 : i64, min_gram_length = 2 : i64, mode = "TF", ngram_counts = array<i64: 0, 0>, ngram_indexes = array<i64: 2, 0>, pool_int64s = array<i64: 3, 4, 4, 3>} : (tensor<?x?xi32>) -> tensor<*xf32>
  return %y : tensor<*xf32>
}

// -----

// CHECK-LABEL: func @words_refused(
func.func @words_refused(%x: tensor<2x5xi32>, %deep: tensor<2x2x5xi32>) -> (tensor<*xf32>, tensor<*xf32>, tensor<*xf32>, tensor<*xf32>, tensor<*xf32>, tensor<*xf32>, tensor<*xf32>) {
  // CHECK: onnx.unexpanded = "the input has 3 dimensions, neither 1 nor 2"
  %0 = onnx.TfIdfVectorizer(%deep) {max_gram_length = 1 : i64, max_skip_count = 0 : i64, min_gram_length = 1 : i64, mode = "TF", ngram_counts = array<i64: 0>, ngram_indexes = array<i64: 0>, pool_int64s = array<i64: 3>} : (tensor<2x2x5xi32>) -> tensor<*xf32>
  // CHECK: onnx.unexpanded = "words are text; nearest supported: numbers of words, and 'pool_int64s'"
  %1 = onnx.TfIdfVectorizer(%x) {max_gram_length = 1 : i64, max_skip_count = 0 : i64, min_gram_length = 1 : i64, mode = "TF", ngram_counts = array<i64: 0>, ngram_indexes = array<i64: 0>, pool_strings = ["a"]} : (tensor<2x5xi32>) -> tensor<*xf32>
  // CHECK: onnx.unexpanded = "'min_gram_length' = 2 and 'max_gram_length' = 1 are no lengths of the 1 that 'ngram_counts' has"
  %2 = onnx.TfIdfVectorizer(%x) {max_gram_length = 1 : i64, max_skip_count = 0 : i64, min_gram_length = 2 : i64, mode = "TF", ngram_counts = array<i64: 0>, ngram_indexes = array<i64: 0>, pool_int64s = array<i64: 3>} : (tensor<2x5xi32>) -> tensor<*xf32>
  // CHECK: onnx.unexpanded = "'ngram_counts' has 0 to 3 for sequences of 2; 'pool_int64s' has 3 numbers"
  %3 = onnx.TfIdfVectorizer(%x) {max_gram_length = 2 : i64, max_skip_count = 0 : i64, min_gram_length = 2 : i64, mode = "TF", ngram_counts = array<i64: 0, 0>, ngram_indexes = array<i64: 0>, pool_int64s = array<i64: 3, 4, 5>} : (tensor<2x5xi32>) -> tensor<*xf32>
  // CHECK: onnx.unexpanded = "the pool has a sequence twice"
  %4 = onnx.TfIdfVectorizer(%x) {max_gram_length = 1 : i64, max_skip_count = 0 : i64, min_gram_length = 1 : i64, mode = "TF", ngram_counts = array<i64: 0>, ngram_indexes = array<i64: 0, 1>, pool_int64s = array<i64: 3, 3>} : (tensor<2x5xi32>) -> tensor<*xf32>
  // CHECK: onnx.unexpanded = "'ngram_indexes' has a number 2 times; supported are 16, and one with 'mode' = 'IDF'"
  %5 = onnx.TfIdfVectorizer(%x) {max_gram_length = 1 : i64, max_skip_count = 0 : i64, min_gram_length = 1 : i64, mode = "IDF", ngram_counts = array<i64: 0>, ngram_indexes = array<i64: 1, 1>, pool_int64s = array<i64: 3, 4>} : (tensor<2x5xi32>) -> tensor<*xf32>
  // CHECK: onnx.unexpanded = "'weights' has 1 numbers for 2 sequences of 'pool_int64s'"
  %6 = onnx.TfIdfVectorizer(%x) {max_gram_length = 1 : i64, max_skip_count = 0 : i64, min_gram_length = 1 : i64, mode = "TFIDF", ngram_counts = array<i64: 0>, ngram_indexes = array<i64: 1, 0>, pool_int64s = array<i64: 3, 4>, weights = array<f32: 1.0>} : (tensor<2x5xi32>) -> tensor<*xf32>
  return %0, %1, %2, %3, %4, %5, %6 : tensor<*xf32>, tensor<*xf32>, tensor<*xf32>, tensor<*xf32>, tensor<*xf32>, tensor<*xf32>, tensor<*xf32>
}

// -----

// A window as long as a run says is computed in FP64.
// CHECK-LABEL: func @window(
// CHECK: %[[PLACES:.*]] = onnx.Range(
// CHECK: onnx.Cast(%[[PLACES]]) {to = 11 : i64}
// CHECK: onnx.Cos({{.*}}xf64>
// CHECK: onnx.Cast({{.*}}) {to = 10 : i64}
// CHECK-NOT: onnx.HannWindow
func.func @window(%size: tensor<i64>) -> tensor<*xf16> {
  %y = onnx.HannWindow(%size) {output_datatype = 10 : i64} : (tensor<i64>) -> tensor<*xf16>
  return %y : tensor<*xf16>
}
