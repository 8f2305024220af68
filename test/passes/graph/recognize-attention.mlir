// RUN: cameo-opt %s --split-input-file --pass-pipeline='builtin.module(func.func(cameo-recognize-attention))' > %t
// RUN: FileCheck %s < %t
// RUN: cameo-opt %s --split-input-file --pass-pipeline='builtin.module(func.func(cameo-recognize-attention,cameo-recognize-attention))' | diff %t -

// The keys' transpose goes; the scores are divided, and a mask is added.
// CHECK-LABEL: func @scores
// CHECK-SAME: %[[Q:.*]]: tensor<1x2x3x4xf32>, %[[K:.*]]: tensor<1x2x5x4xf32>, %[[V:.*]]: tensor<1x2x5x6xf32>, %[[M:.*]]: tensor<1x1x3x5xf32>
// CHECK-SAME: rt.ledger = [{{.*}}text = "recognised as attention", what = "attention"
// CHECK-NEXT: %[[N:.*]] = onnx.None()
// CHECK-NEXT: %[[Y:Y[_0-9]*]], {{.*}} = onnx.Attention(%[[Q]], %[[K]], %[[V]], %[[M]], %[[N]], %[[N]], %[[N]])
// CHECK-SAME: {onnx.arithmetic = {scores_divisor = 2.000000e+00 : f32}, onnx.dims = {{\[}}[1, 2, 3, 6]], scale = 5.000000e-01 : f32}
// CHECK-NEXT: return %[[Y]]
func.func @scores(%q: tensor<1x2x3x4xf32>, %k: tensor<1x2x5x4xf32>, %v: tensor<1x2x5x6xf32>, %mask: tensor<1x1x3x5xf32>) -> tensor<1x2x3x6xf32> {
  %two = onnx.Constant() {value = dense<2.0> : tensor<f32>} : () -> tensor<f32>
  %0 = onnx.Transpose(%k) {perm = array<i64: 0, 1, 3, 2>} : (tensor<1x2x5x4xf32>) -> tensor<1x2x4x5xf32>
  %1 = onnx.MatMul(%q, %0) : (tensor<1x2x3x4xf32>, tensor<1x2x4x5xf32>) -> tensor<1x2x3x5xf32>
  %2 = onnx.Div(%1, %two) : (tensor<1x2x3x5xf32>, tensor<f32>) -> tensor<1x2x3x5xf32>
  %3 = onnx.Add(%2, %mask) : (tensor<1x2x3x5xf32>, tensor<1x1x3x5xf32>) -> tensor<1x2x3x5xf32>
  %4 = onnx.Softmax(%3) : (tensor<1x2x3x5xf32>) -> tensor<1x2x3x5xf32>
  %5 = onnx.MatMul(%4, %v) : (tensor<1x2x3x5xf32>, tensor<1x2x5x6xf32>) -> tensor<1x2x3x6xf32>
  return %5 : tensor<1x2x3x6xf32>
}

// -----

// Queries and keys are scaled, these behind their transpose; another transpose is what is left of it.
// Sizes are known at run time.
// CHECK-LABEL: func @both
// CHECK: %[[K:.*]] = onnx.Transpose(%arg1) {onnx.dims = {{\[}}["N", 2, "T", 4]], perm = array<i64: 0, 2, 1, 3>}
// CHECK: onnx.Attention(%arg0, %[[K]], %arg2, %[[N:.*]], %[[N]], %[[N]], %[[N]])
// CHECK-SAME: onnx.arithmetic = {key = 5.000000e-01 : f32, query_divisor = 2.000000e+00 : f32}
// CHECK-SAME: scale = 2.500000e-01 : f32
// CHECK-NOT: onnx.Mul
func.func @both(%q: tensor<?x2x?x4xf32> {onnx.dims = ["N", 2, "S", 4]}, %k: tensor<?x?x2x4xf32> {onnx.dims = ["N", "T", 2, 4]}, %v: tensor<?x2x?x4xf32> {onnx.dims = ["N", 2, "T", 4]}) -> tensor<?x2x?x4xf32> {
  %half = onnx.Constant() {value = dense<0.5> : tensor<1xf32>} : () -> tensor<1xf32>
  %two = onnx.Constant() {value = dense<2.0> : tensor<1xf32>} : () -> tensor<1xf32>
  %0 = onnx.Transpose(%k) {perm = array<i64: 0, 2, 3, 1>, onnx.dims = [["N", 2, 4, "T"]]} : (tensor<?x?x2x4xf32>) -> tensor<?x2x4x?xf32>
  %1 = onnx.Mul(%half, %0) {onnx.dims = [["N", 2, 4, "T"]]} : (tensor<1xf32>, tensor<?x2x4x?xf32>) -> tensor<?x2x4x?xf32>
  %2 = onnx.Div(%q, %two) {onnx.dims = [["N", 2, "S", 4]]} : (tensor<?x2x?x4xf32>, tensor<1xf32>) -> tensor<?x2x?x4xf32>
  %3 = onnx.MatMul(%2, %1) {onnx.dims = [["N", 2, "S", "T"]]} : (tensor<?x2x?x4xf32>, tensor<?x2x4x?xf32>) -> tensor<?x2x?x?xf32>
  %4 = onnx.Softmax(%3) {axis = 3 : i64, onnx.dims = [["N", 2, "S", "T"]]} : (tensor<?x2x?x?xf32>) -> tensor<?x2x?x?xf32>
  %5 = onnx.MatMul(%4, %v) {onnx.dims = [["N", 2, "S", 4]]} : (tensor<?x2x?x?xf32>, tensor<?x2x?x4xf32>) -> tensor<?x2x?x4xf32>
  return %5 : tensor<?x2x?x4xf32>
}

// -----

// One head: rank 3. The keys come transposed, and are scaled before they are so again. A scale that
// others read is left where it is.
// CHECK-LABEL: func @one_head
// CHECK: %[[S:.*]] = onnx.Mul(%arg0
// CHECK: %[[K:.*]] = onnx.Transpose(%arg1) {onnx.dims = {{\[}}[2, 5, 4]], perm = array<i64: 0, 2, 1>}
// CHECK: %[[Y:Y[_0-9]*]], {{.*}} = onnx.Attention(%[[S]], %[[K]], %arg2,
// CHECK-SAME: kv_num_heads = 1 : i64
// CHECK-SAME: q_num_heads = 1 : i64, scale = 1.000000e+00 : f32}
// CHECK: return %[[Y]], %[[S]]
func.func @one_head(%q: tensor<2x3x4xf32>, %k: tensor<2x4x5xf32>, %v: tensor<2x5x4xf32>) -> (tensor<2x3x4xf32>, tensor<2x3x4xf32>) {
  %half = onnx.Constant() {value = dense<0.5> : tensor<1xf32>} : () -> tensor<1xf32>
  %0 = onnx.Mul(%q, %half) : (tensor<2x3x4xf32>, tensor<1xf32>) -> tensor<2x3x4xf32>
  %1 = onnx.MatMul(%0, %k) : (tensor<2x3x4xf32>, tensor<2x4x5xf32>) -> tensor<2x3x5xf32>
  %2 = onnx.Softmax(%1) : (tensor<2x3x5xf32>) -> tensor<2x3x5xf32>
  %3 = onnx.MatMul(%2, %v) : (tensor<2x3x5xf32>, tensor<2x5x4xf32>) -> tensor<2x3x4xf32>
  return %3, %0 : tensor<2x3x4xf32>, tensor<2x3x4xf32>
}

// -----

// Masks that choose: known only at run time with -inf, where they are false and where they are true;
// constant with a low number, since no row hides all. One head of keys for all of the queries.
// CHECK-LABEL: func @chosen
// CHECK-DAG: %[[NOT:.*]] = onnx.Not(%arg3)
// CHECK-DAG: %[[C:.*]] = onnx.Constant() {value = dense<{{\[}}[true, false], [true, true]]> : tensor<2x2xi1>}
// CHECK: %[[A:Y[_0-9]*]], {{.*}} = onnx.Attention(%arg0, %arg1, %arg2, %arg3,
// CHECK: %[[B:Y[_0-9]*]], {{.*}} = onnx.Attention(%arg0, %arg1, %arg2, %[[NOT]],
// CHECK: %[[D:Y[_0-9]*]], {{.*}} = onnx.Attention(%arg0, %arg1, %arg2, %[[C]],
// CHECK-SAME: onnx.arithmetic = {masked = -1.000000e+04 : f32}
// CHECK: return %[[A]], %[[B]], %[[D]]
func.func @chosen(%q: tensor<1x3x2x4xf32>, %k: tensor<1x1x2x4xf32>, %v: tensor<1x1x2x4xf32>, %m: tensor<2x2xi1>) -> (tensor<1x3x2x4xf32>, tensor<1x3x2x4xf32>, tensor<1x3x2x4xf32>) {
  %never = onnx.Constant() {value = dense<0xFF800000> : tensor<f32>} : () -> tensor<f32>
  %low = onnx.Constant() {value = dense<-1.0e4> : tensor<f32>} : () -> tensor<f32>
  %later = onnx.Constant() {value = dense<[[false, true], [false, false]]> : tensor<2x2xi1>} : () -> tensor<2x2xi1>
  %kt = onnx.Transpose(%k) {perm = array<i64: 0, 1, 3, 2>} : (tensor<1x1x2x4xf32>) -> tensor<1x1x4x2xf32>
  %0 = onnx.MatMul(%q, %kt) : (tensor<1x3x2x4xf32>, tensor<1x1x4x2xf32>) -> tensor<1x3x2x2xf32>
  %1 = onnx.Where(%m, %0, %never) : (tensor<2x2xi1>, tensor<1x3x2x2xf32>, tensor<f32>) -> tensor<1x3x2x2xf32>
  %2 = onnx.Softmax(%1) : (tensor<1x3x2x2xf32>) -> tensor<1x3x2x2xf32>
  %3 = onnx.MatMul(%2, %v) : (tensor<1x3x2x2xf32>, tensor<1x1x2x4xf32>) -> tensor<1x3x2x4xf32>
  %4 = onnx.MatMul(%q, %kt) : (tensor<1x3x2x4xf32>, tensor<1x1x4x2xf32>) -> tensor<1x3x2x2xf32>
  %5 = onnx.Where(%m, %never, %4) : (tensor<2x2xi1>, tensor<f32>, tensor<1x3x2x2xf32>) -> tensor<1x3x2x2xf32>
  %6 = onnx.Softmax(%5) : (tensor<1x3x2x2xf32>) -> tensor<1x3x2x2xf32>
  %7 = onnx.MatMul(%6, %v) : (tensor<1x3x2x2xf32>, tensor<1x1x2x4xf32>) -> tensor<1x3x2x4xf32>
  %8 = onnx.MatMul(%q, %kt) : (tensor<1x3x2x4xf32>, tensor<1x1x4x2xf32>) -> tensor<1x3x2x2xf32>
  %9 = onnx.Where(%later, %low, %8) : (tensor<2x2xi1>, tensor<f32>, tensor<1x3x2x2xf32>) -> tensor<1x3x2x2xf32>
  %10 = onnx.Softmax(%9) : (tensor<1x3x2x2xf32>) -> tensor<1x3x2x2xf32>
  %11 = onnx.MatMul(%10, %v) : (tensor<1x3x2x2xf32>, tensor<1x1x2x4xf32>) -> tensor<1x3x2x4xf32>
  return %3, %7, %11 : tensor<1x3x2x4xf32>, tensor<1x3x2x4xf32>, tensor<1x3x2x4xf32>
}

// -----

// A mask that is scaled itself comes first. Keys that others read transposed keep their scale.
// CHECK-LABEL: func @mask_first
// CHECK: %[[M:.*]] = onnx.Mul(%arg3
// CHECK: %[[K:.*]] = onnx.Mul(%arg1
// CHECK: onnx.Attention(%arg0, %[[K]], %arg2, %[[M]],
// CHECK-SAME: scale = 1.000000e+00 : f32
func.func @mask_first(%q: tensor<2x3x4xf32>, %k: tensor<2x5x4xf32>, %v: tensor<2x5x4xf32>, %m: tensor<3x5xf32>) -> (tensor<2x3x4xf32>, tensor<2x4x5xf32>) {
  %low = onnx.Constant() {value = dense<-1.0e4> : tensor<f32>} : () -> tensor<f32>
  %half = onnx.Constant() {value = dense<0.5> : tensor<f32>} : () -> tensor<f32>
  %mask = onnx.Mul(%m, %low) : (tensor<3x5xf32>, tensor<f32>) -> tensor<3x5xf32>
  %0 = onnx.Mul(%k, %half) : (tensor<2x5x4xf32>, tensor<f32>) -> tensor<2x5x4xf32>
  %1 = onnx.Transpose(%0) {perm = array<i64: 0, 2, 1>} : (tensor<2x5x4xf32>) -> tensor<2x4x5xf32>
  %2 = onnx.MatMul(%q, %1) : (tensor<2x3x4xf32>, tensor<2x4x5xf32>) -> tensor<2x3x5xf32>
  %3 = onnx.Add(%mask, %2) : (tensor<3x5xf32>, tensor<2x3x5xf32>) -> tensor<2x3x5xf32>
  %4 = onnx.Softmax(%3) : (tensor<2x3x5xf32>) -> tensor<2x3x5xf32>
  %5 = onnx.MatMul(%4, %v) : (tensor<2x3x5xf32>, tensor<2x5x4xf32>) -> tensor<2x3x4xf32>
  return %5, %1 : tensor<2x3x4xf32>, tensor<2x4x5xf32>
}

// -----

// CHECK-LABEL: func @shared_scores
// CHECK-SAME: why = "others read its scores or weights"
// CHECK-NOT: onnx.Attention
func.func @shared_scores(%q: tensor<1x2x3x4xf32>, %k: tensor<1x2x4x3xf32>, %v: tensor<1x2x3x4xf32>) -> (tensor<1x2x3x4xf32>, tensor<1x2x3x3xf32>) {
  %0 = onnx.MatMul(%q, %k) : (tensor<1x2x3x4xf32>, tensor<1x2x4x3xf32>) -> tensor<1x2x3x3xf32>
  %1 = onnx.Softmax(%0) : (tensor<1x2x3x3xf32>) -> tensor<1x2x3x3xf32>
  %2 = onnx.MatMul(%1, %v) : (tensor<1x2x3x3xf32>, tensor<1x2x3x4xf32>) -> tensor<1x2x3x4xf32>
  return %2, %0 : tensor<1x2x3x4xf32>, tensor<1x2x3x3xf32>
}

// -----

// CHECK-LABEL: func @shared_weights
// CHECK-SAME: why = "others read its scores or weights"
// CHECK-NOT: onnx.Attention
func.func @shared_weights(%q: tensor<1x2x3x4xf32>, %k: tensor<1x2x4x3xf32>, %v: tensor<1x2x3x4xf32>) -> (tensor<1x2x3x4xf32>, tensor<1x2x3x3xf32>) {
  %0 = onnx.MatMul(%q, %k) : (tensor<1x2x3x4xf32>, tensor<1x2x4x3xf32>) -> tensor<1x2x3x3xf32>
  %1 = onnx.Softmax(%0) : (tensor<1x2x3x3xf32>) -> tensor<1x2x3x3xf32>
  %2 = onnx.MatMul(%1, %v) : (tensor<1x2x3x3xf32>, tensor<1x2x3x4xf32>) -> tensor<1x2x3x4xf32>
  return %2, %1 : tensor<1x2x3x4xf32>, tensor<1x2x3x3xf32>
}

// -----

// Down the columns; and the weights on the right.
// CHECK-LABEL: func @other_products
// CHECK-NOT: onnx.Attention
func.func @other_products(%q: tensor<2x3x3xf32>, %k: tensor<2x3x3xf32>, %v: tensor<2x3x3xf32>) -> (tensor<2x3x3xf32>, tensor<2x3x3xf32>) {
  %0 = onnx.MatMul(%q, %k) : (tensor<2x3x3xf32>, tensor<2x3x3xf32>) -> tensor<2x3x3xf32>
  %1 = onnx.Softmax(%0) {axis = 1 : i64} : (tensor<2x3x3xf32>) -> tensor<2x3x3xf32>
  %2 = onnx.MatMul(%1, %v) : (tensor<2x3x3xf32>, tensor<2x3x3xf32>) -> tensor<2x3x3xf32>
  %3 = onnx.MatMul(%q, %k) : (tensor<2x3x3xf32>, tensor<2x3x3xf32>) -> tensor<2x3x3xf32>
  %4 = onnx.Softmax(%3) : (tensor<2x3x3xf32>) -> tensor<2x3x3xf32>
  %5 = onnx.MatMul(%v, %4) : (tensor<2x3x3xf32>, tensor<2x3x3xf32>) -> tensor<2x3x3xf32>
  return %2, %5 : tensor<2x3x3xf32>, tensor<2x3x3xf32>
}

// -----

// Matrices have no batch; heads that are broadcast by their batch are not Attention's.
// CHECK-LABEL: func @shapes
// CHECK-SAME: why = "sizes of queries, keys and values are not known to agree"
// CHECK-NOT: onnx.Attention
func.func @shapes(%q: tensor<3x4xf32>, %k: tensor<4x3xf32>, %v: tensor<3x4xf32>, %q4: tensor<2x2x3x4xf32>, %k4: tensor<1x2x4x3xf32>, %v4: tensor<1x2x3x4xf32>) -> (tensor<3x4xf32>, tensor<2x2x3x4xf32>) {
  %0 = onnx.MatMul(%q, %k) : (tensor<3x4xf32>, tensor<4x3xf32>) -> tensor<3x3xf32>
  %1 = onnx.Softmax(%0) : (tensor<3x3xf32>) -> tensor<3x3xf32>
  %2 = onnx.MatMul(%1, %v) : (tensor<3x3xf32>, tensor<3x4xf32>) -> tensor<3x4xf32>
  %3 = onnx.MatMul(%q4, %k4) : (tensor<2x2x3x4xf32>, tensor<1x2x4x3xf32>) -> tensor<2x2x3x3xf32>
  %4 = onnx.Softmax(%3) : (tensor<2x2x3x3xf32>) -> tensor<2x2x3x3xf32>
  %5 = onnx.MatMul(%4, %v4) : (tensor<2x2x3x3xf32>, tensor<1x2x3x4xf32>) -> tensor<2x2x3x4xf32>
  return %2, %5 : tensor<3x4xf32>, tensor<2x2x3x4xf32>
}

// -----

// A mask of one number per row would be completed with -inf; one that makes more of the scores than
// there were is none; a batch of masks would count as heads.
// CHECK-LABEL: func @masks
// CHECK-SAME: why = "its mask is not of a form that Attention has"
// CHECK-NOT: onnx.Attention
func.func @masks(%q: tensor<2x3x4xf32>, %k: tensor<2x4x3xf32>, %v: tensor<2x3x4xf32>, %rows: tensor<1x3x1xf32>, %batch: tensor<2x3x3xf32>, %q1: tensor<1x1x3x4xf32>, %k1: tensor<1x1x4x3xf32>, %v1: tensor<1x1x3x4xf32>, %more: tensor<1x2x3x3xf32>) -> (tensor<2x3x4xf32>, tensor<2x3x4xf32>, tensor<1x2x3x4xf32>) {
  %0 = onnx.MatMul(%q, %k) : (tensor<2x3x4xf32>, tensor<2x4x3xf32>) -> tensor<2x3x3xf32>
  %1 = onnx.Add(%0, %rows) : (tensor<2x3x3xf32>, tensor<1x3x1xf32>) -> tensor<2x3x3xf32>
  %2 = onnx.Softmax(%1) : (tensor<2x3x3xf32>) -> tensor<2x3x3xf32>
  %3 = onnx.MatMul(%2, %v) : (tensor<2x3x3xf32>, tensor<2x3x4xf32>) -> tensor<2x3x4xf32>
  %4 = onnx.MatMul(%q, %k) : (tensor<2x3x4xf32>, tensor<2x4x3xf32>) -> tensor<2x3x3xf32>
  %5 = onnx.Add(%batch, %4) : (tensor<2x3x3xf32>, tensor<2x3x3xf32>) -> tensor<2x3x3xf32>
  %6 = onnx.Softmax(%5) : (tensor<2x3x3xf32>) -> tensor<2x3x3xf32>
  %7 = onnx.MatMul(%6, %v) : (tensor<2x3x3xf32>, tensor<2x3x4xf32>) -> tensor<2x3x4xf32>
  %8 = onnx.MatMul(%q1, %k1) : (tensor<1x1x3x4xf32>, tensor<1x1x4x3xf32>) -> tensor<1x1x3x3xf32>
  %9 = onnx.Add(%8, %more) : (tensor<1x1x3x3xf32>, tensor<1x2x3x3xf32>) -> tensor<1x2x3x3xf32>
  %10 = onnx.Softmax(%9) : (tensor<1x2x3x3xf32>) -> tensor<1x2x3x3xf32>
  %11 = onnx.MatMul(%10, %v1) : (tensor<1x2x3x3xf32>, tensor<1x1x3x4xf32>) -> tensor<1x2x3x4xf32>
  return %3, %7, %11 : tensor<2x3x4xf32>, tensor<2x3x4xf32>, tensor<1x2x3x4xf32>
}

// -----

// A low number for what is hidden is seen where a row has nothing else: known only at run time, or in
// the constant's last row. A number that is not low is seen anyway.
// CHECK-LABEL: func @visible
// CHECK-SAME: why = "what its mask hides might still be seen, where it hides all of a row"
// CHECK-NOT: onnx.Attention
func.func @visible(%q: tensor<2x2x4xf32>, %k: tensor<2x4x2xf32>, %v: tensor<2x2x4xf32>, %m: tensor<2x2xi1>) -> (tensor<2x2x4xf32>, tensor<2x2x4xf32>, tensor<2x2x4xf32>) {
  %low = onnx.Constant() {value = dense<-1.0e9> : tensor<f32>} : () -> tensor<f32>
  %high = onnx.Constant() {value = dense<-1.0> : tensor<f32>} : () -> tensor<f32>
  %c = onnx.Constant() {value = dense<[[false, true], [false, false]]> : tensor<2x2xi1>} : () -> tensor<2x2xi1>
  %0 = onnx.MatMul(%q, %k) : (tensor<2x2x4xf32>, tensor<2x4x2xf32>) -> tensor<2x2x2xf32>
  %1 = onnx.Where(%m, %0, %low) : (tensor<2x2xi1>, tensor<2x2x2xf32>, tensor<f32>) -> tensor<2x2x2xf32>
  %2 = onnx.Softmax(%1) : (tensor<2x2x2xf32>) -> tensor<2x2x2xf32>
  %3 = onnx.MatMul(%2, %v) : (tensor<2x2x2xf32>, tensor<2x2x4xf32>) -> tensor<2x2x4xf32>
  %4 = onnx.MatMul(%q, %k) : (tensor<2x2x4xf32>, tensor<2x4x2xf32>) -> tensor<2x2x2xf32>
  %5 = onnx.Where(%c, %4, %low) : (tensor<2x2xi1>, tensor<2x2x2xf32>, tensor<f32>) -> tensor<2x2x2xf32>
  %6 = onnx.Softmax(%5) : (tensor<2x2x2xf32>) -> tensor<2x2x2xf32>
  %7 = onnx.MatMul(%6, %v) : (tensor<2x2x2xf32>, tensor<2x2x4xf32>) -> tensor<2x2x4xf32>
  %8 = onnx.MatMul(%q, %k) : (tensor<2x2x4xf32>, tensor<2x4x2xf32>) -> tensor<2x2x2xf32>
  %9 = onnx.Where(%c, %high, %8) : (tensor<2x2xi1>, tensor<f32>, tensor<2x2x2xf32>) -> tensor<2x2x2xf32>
  %10 = onnx.Softmax(%9) : (tensor<2x2x2xf32>) -> tensor<2x2x2xf32>
  %11 = onnx.MatMul(%10, %v) : (tensor<2x2x2xf32>, tensor<2x2x4xf32>) -> tensor<2x2x4xf32>
  return %3, %7, %11 : tensor<2x2x4xf32>, tensor<2x2x4xf32>, tensor<2x2x4xf32>
}

// -----

// Heads of keys and values are repeated for groups of queries: Attention has fewer of them. Others may read
// what is repeated; sizes are known at run time.
// CHECK-LABEL: func @groups
// CHECK-SAME: %[[Q:.*]]: tensor<?x4x3x4xf32> {{{.*}}}, %[[K:.*]]: tensor<?x2x?x4xf32> {{{.*}}}, %[[V:.*]]: tensor<?x2x?x4xf32> {{.*}}) ->
// CHECK-NOT: onnx.Tile
// CHECK: %[[E:.*]] = onnx.Expand
// CHECK: onnx.Attention(%[[Q]], %[[K]], %[[V]],
// CHECK: return {{.*}}, %[[E]]
func.func @groups(%q: tensor<?x4x3x4xf32> {onnx.dims = ["N", 4, 3, 4]}, %k: tensor<?x2x?x4xf32> {onnx.dims = ["N", 2, "T", 4]}, %v: tensor<?x2x?x4xf32> {onnx.dims = ["N", 2, "T", 4]}, %s5: tensor<5xi64>, %s4: tensor<4xi64>) -> (tensor<?x4x3x4xf32>, tensor<?x2x2x?x4xf32>) {
  %axis = onnx.Constant() {value = dense<2> : tensor<1xi64>} : () -> tensor<1xi64>
  %times = onnx.Constant() {value = dense<[1, 1, 2, 1, 1]> : tensor<5xi64>} : () -> tensor<5xi64>
  %0 = onnx.Unsqueeze(%k, %axis) {onnx.dims = [["N", 2, 1, "T", 4]]} : (tensor<?x2x?x4xf32>, tensor<1xi64>) -> tensor<?x2x1x?x4xf32>
  %1 = onnx.Tile(%0, %times) {onnx.dims = [["N", 2, 2, "T", 4]]} : (tensor<?x2x1x?x4xf32>, tensor<5xi64>) -> tensor<?x2x2x?x4xf32>
  %2 = onnx.Reshape(%1, %s4) {onnx.dims = [["N", 4, "T", 4]]} : (tensor<?x2x2x?x4xf32>, tensor<4xi64>) -> tensor<?x4x?x4xf32>
  %3 = onnx.Transpose(%2) {perm = array<i64: 0, 1, 3, 2>, onnx.dims = [["N", 4, 4, "T"]]} : (tensor<?x4x?x4xf32>) -> tensor<?x4x4x?xf32>
  %4 = onnx.Unsqueeze(%v, %axis) {onnx.dims = [["N", 2, 1, "T", 4]]} : (tensor<?x2x?x4xf32>, tensor<1xi64>) -> tensor<?x2x1x?x4xf32>
  %5 = onnx.Expand(%4, %s5) {onnx.dims = [["N", 2, 2, "T", 4]]} : (tensor<?x2x1x?x4xf32>, tensor<5xi64>) -> tensor<?x2x2x?x4xf32>
  %6 = onnx.Reshape(%5, %s4) {onnx.dims = [["N", 4, "T", 4]]} : (tensor<?x2x2x?x4xf32>, tensor<4xi64>) -> tensor<?x4x?x4xf32>
  %7 = onnx.MatMul(%q, %3) {onnx.dims = [["N", 4, 3, "T"]]} : (tensor<?x4x3x4xf32>, tensor<?x4x4x?xf32>) -> tensor<?x4x3x?xf32>
  %8 = onnx.Softmax(%7) {onnx.dims = [["N", 4, 3, "T"]]} : (tensor<?x4x3x?xf32>) -> tensor<?x4x3x?xf32>
  %9 = onnx.MatMul(%8, %6) {onnx.dims = [["N", 4, 3, 4]]} : (tensor<?x4x3x?xf32>, tensor<?x4x?x4xf32>) -> tensor<?x4x3x4xf32>
  return %9, %5 : tensor<?x4x3x4xf32>, tensor<?x2x2x?x4xf32>
}

// -----

// All heads, repeated in turn, are no groups; nor are those of values alone.
// CHECK-LABEL: func @no_groups
// CHECK: %[[K:.*]] = onnx.Reshape
// CHECK: %[[V:.*]] = onnx.Reshape
// CHECK: onnx.Attention(%arg0, %[[K]], %[[V]],
// CHECK: %[[R:.*]] = onnx.Reshape
// CHECK: onnx.Attention(%arg0, %arg3, %[[R]],
func.func @no_groups(%q: tensor<1x4x3x4xf32>, %k: tensor<1x2x5x4xf32>, %v: tensor<1x2x5x4xf32>, %all: tensor<1x4x5x4xf32>) -> (tensor<1x4x3x4xf32>, tensor<1x4x3x4xf32>) {
  %one = onnx.Constant() {value = dense<1> : tensor<1xi64>} : () -> tensor<1xi64>
  %axis = onnx.Constant() {value = dense<2> : tensor<1xi64>} : () -> tensor<1xi64>
  %s5 = onnx.Constant() {value = dense<[1, 2, 2, 5, 4]> : tensor<5xi64>} : () -> tensor<5xi64>
  %s4 = onnx.Constant() {value = dense<[1, 4, 5, 4]> : tensor<4xi64>} : () -> tensor<4xi64>
  %0 = onnx.Unsqueeze(%k, %one) : (tensor<1x2x5x4xf32>, tensor<1xi64>) -> tensor<1x1x2x5x4xf32>
  %1 = onnx.Expand(%0, %s5) : (tensor<1x1x2x5x4xf32>, tensor<5xi64>) -> tensor<1x2x2x5x4xf32>
  %2 = onnx.Reshape(%1, %s4) : (tensor<1x2x2x5x4xf32>, tensor<4xi64>) -> tensor<1x4x5x4xf32>
  %3 = onnx.Transpose(%2) {perm = array<i64: 0, 1, 3, 2>} : (tensor<1x4x5x4xf32>) -> tensor<1x4x4x5xf32>
  %4 = onnx.Unsqueeze(%v, %axis) : (tensor<1x2x5x4xf32>, tensor<1xi64>) -> tensor<1x2x1x5x4xf32>
  %5 = onnx.Expand(%4, %s5) : (tensor<1x2x1x5x4xf32>, tensor<5xi64>) -> tensor<1x2x2x5x4xf32>
  %6 = onnx.Reshape(%5, %s4) : (tensor<1x2x2x5x4xf32>, tensor<4xi64>) -> tensor<1x4x5x4xf32>
  %7 = onnx.MatMul(%q, %3) : (tensor<1x4x3x4xf32>, tensor<1x4x4x5xf32>) -> tensor<1x4x3x5xf32>
  %8 = onnx.Softmax(%7) : (tensor<1x4x3x5xf32>) -> tensor<1x4x3x5xf32>
  %9 = onnx.MatMul(%8, %6) : (tensor<1x4x3x5xf32>, tensor<1x4x5x4xf32>) -> tensor<1x4x3x4xf32>
  %10 = onnx.Transpose(%all) {perm = array<i64: 0, 1, 3, 2>} : (tensor<1x4x5x4xf32>) -> tensor<1x4x4x5xf32>
  %11 = onnx.Reshape(%5, %s4) : (tensor<1x2x2x5x4xf32>, tensor<4xi64>) -> tensor<1x4x5x4xf32>
  %12 = onnx.MatMul(%q, %10) : (tensor<1x4x3x4xf32>, tensor<1x4x4x5xf32>) -> tensor<1x4x3x5xf32>
  %13 = onnx.Softmax(%12) : (tensor<1x4x3x5xf32>) -> tensor<1x4x3x5xf32>
  %14 = onnx.MatMul(%13, %11) : (tensor<1x4x3x5xf32>, tensor<1x4x5x4xf32>) -> tensor<1x4x3x4xf32>
  return %9, %14 : tensor<1x4x3x4xf32>, tensor<1x4x3x4xf32>
}

// -----

// What is not the operator's own: a scale that has one number per key, and shapes that nobody checks.
// CHECK-LABEL: func @unknown
// CHECK-NOT: onnx.Attention
func.func @unknown(%q: tensor<2x3x4xf32>, %k: tensor<2x4x3xf32>, %v: tensor<2x3x4xf32>, %s: tensor<3xf32>) -> (tensor<2x3x4xf32>, tensor<2x3x4xf32>) {
  %0 = onnx.MatMul(%q, %k) : (tensor<2x3x4xf32>, tensor<2x4x3xf32>) -> tensor<2x3x3xf32>
  %1 = onnx.Mul(%0, %s) : (tensor<2x3x3xf32>, tensor<3xf32>) -> tensor<2x3x3xf32>
  %2 = onnx.Softmax(%1) : (tensor<2x3x3xf32>) -> tensor<2x3x3xf32>
  %3 = onnx.MatMul(%2, %v) : (tensor<2x3x3xf32>, tensor<2x3x4xf32>) -> tensor<2x3x4xf32>
  %4 = onnx.MatMul(%q, %k) : (tensor<2x3x4xf32>, tensor<2x4x3xf32>) -> tensor<2x3x3xf32>
  %5 = onnx.Softmax(%4) {onnx.shape_declared} : (tensor<2x3x3xf32>) -> tensor<2x3x3xf32>
  %6 = onnx.Identity(%v) {onnx.shape_declared} : (tensor<2x3x4xf32>) -> tensor<2x3x4xf32>
  %7 = onnx.MatMul(%5, %6) : (tensor<2x3x3xf32>, tensor<2x3x4xf32>) -> tensor<2x3x4xf32>
  return %3, %7 : tensor<2x3x4xf32>, tensor<2x3x4xf32>
}
