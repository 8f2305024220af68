// RUN: cameo-opt %s --split-input-file --verify-diagnostics --cameo-lower-onnx-to-dispatches | FileCheck %s

// Keys are read transposed; what ONNX leaves open is one factor of the scores, before they are rounded.
// CHECK-DAG: #[[Q:.*]] = affine_map<(d0, d1, d2, d3, d4) -> (d0, d1, d2, d4)>
// CHECK-DAG: #[[K:.*]] = affine_map<(d0, d1, d2, d3, d4) -> (d0, d1, d3, d4)>
// CHECK-DAG: #[[V:.*]] = affine_map<(d0, d1, d2, d3, d4) -> (d0, d1, d4, d3)>
// CHECK-LABEL: func @plain
// CHECK: kernel.dispatch
// CHECK: indexing_maps = [#[[Q]], #[[K]],
// CHECK: math.fma
// CHECK: arith.constant 5.000000e-01 : f32
// CHECK-NEXT: arith.mulf
// CHECK: arith.truncf {{.*}} : f32 to f16
// CHECK: kernel.dispatch
// CHECK: math.exp
// CHECK: kernel.dispatch
// CHECK: indexing_maps = [#[[Q]], #[[V]],
func.func @plain(%q: tensor<1x2x3x4xf16>, %k: tensor<1x2x5x4xf16>, %v: tensor<1x2x5x6xf16>) -> tensor<1x2x3x6xf16> {
  %none = onnx.None() : () -> none
  %y:4 = onnx.Attention(%q, %k, %v, %none, %none, %none, %none) : (tensor<1x2x3x4xf16>, tensor<1x2x5x4xf16>, tensor<1x2x5x6xf16>, none, none, none, none) -> (tensor<1x2x3x6xf16>, none, none, none)
  return %y#0 : tensor<1x2x3x6xf16>
}

// -----

// What was recognised is computed as it was written: a dispatch for each step, at its node.
// CHECK-LABEL: func @recognised
// CHECK: arith.constant 3.000000e+00 : f32
// CHECK: arith.divf
// CHECK: math.fma
// CHECK-NOT: arith.mulf
// CHECK: arith.constant 7.500000e-01 : f32
// CHECK: arith.mulf
// CHECK: arith.constant -1.000000e+09 : f32
// CHECK: arith.select
// CHECK: math.exp
// CHECK: math.fma
func.func @recognised(%q: tensor<1x2x3x4xf32>, %k: tensor<1x2x5x4xf32>, %v: tensor<1x2x5x6xf32>, %m: tensor<3x5xi1>) -> tensor<1x2x3x6xf32> {
  %none = onnx.None() : () -> none
  %y:4 = onnx.Attention(%q, %k, %v, %m, %none, %none, %none) {scale = 0.25 : f32, onnx.arithmetic = {query_divisor = 3.0 : f32, scores = 0.75 : f32, masked = -1.0e9 : f32}} : (tensor<1x2x3x4xf32>, tensor<1x2x5x4xf32>, tensor<1x2x5x6xf32>, tensor<3x5xi1>, none, none, none) -> (tensor<1x2x3x6xf32>, none, none, none)
  return %y#0 : tensor<1x2x3x6xf32>
}

// -----

// Two heads of queries for each of keys: the queries' heads are two dimensions. The past comes first.
// CHECK-DAG: #[[HEADS:.*]] = affine_map<(d0, d1, d2, d3, d4, d5) -> (d0, d1, d2, d3, d5)>
// CHECK-DAG: #[[KEYS:.*]] = affine_map<(d0, d1, d2, d3, d4, d5) -> (d0, d1, d4, d5)>
// CHECK-LABEL: func @groups
// CHECK: rt.concat {{.*}} dim 2 : {{.*}} -> tensor<1x2x7x4xf32>
// CHECK: rt.concat {{.*}} dim 2
// CHECK: indexing_maps = [#[[HEADS]], #[[KEYS]],
// CHECK: linalg.index 2
// CHECK: linalg.index 3
// CHECK: arith.cmpi slt
// CHECK: rt.reshape {{.*}} -> tensor<1x3x24xf32>
func.func @groups(%q: tensor<1x3x16xf32>, %k: tensor<1x5x8xf32>, %v: tensor<1x5x12xf32>, %pk: tensor<1x2x2x4xf32>, %pv: tensor<1x2x2x6xf32>) -> (tensor<1x3x24xf32>, tensor<1x2x7x4xf32>, tensor<1x2x7x6xf32>) {
  %none = onnx.None() : () -> none
  %y:4 = onnx.Attention(%q, %k, %v, %none, %pk, %pv, %none) {q_num_heads = 4 : i64, kv_num_heads = 2 : i64, is_causal = 1 : i64} : (tensor<1x3x16xf32>, tensor<1x5x8xf32>, tensor<1x5x12xf32>, none, tensor<1x2x2x4xf32>, tensor<1x2x2x6xf32>, none) -> (tensor<1x3x24xf32>, tensor<1x2x7x4xf32>, tensor<1x2x7x6xf32>, none)
  return %y#0, %y#1, %y#2 : tensor<1x3x24xf32>, tensor<1x2x7x4xf32>, tensor<1x2x7x6xf32>
}

// -----

// expected-error@below {{14 nodes cannot be compiled}}
func.func @refused(%q: tensor<1x4x3x4xf32>, %k: tensor<1x2x5x4xf32>, %k3: tensor<1x3x5x4xf32>, %p: tensor<1x3x8xf32>, %h: tensor<1x4x5x4xf16>, %ks: tensor<1x?x5x4xf32>, %d: tensor<1x2x5x?xf32>, %m: tensor<3x5xi32>, %m5: tensor<1x1x1x3x5xf32>, %past: tensor<1x2x4xf32>, %n: tensor<1xi64>, %n2: tensor<1x1xi64>) -> (tensor<*xf32>, tensor<*xf32>, tensor<*xf32>, tensor<*xf32>, tensor<*xf32>, tensor<*xf32>, tensor<*xf32>, tensor<*xf32>, tensor<*xf32>, tensor<*xf32>, tensor<*xf32>, tensor<*xf32>, tensor<*xf32>, tensor<*xf32>) {
  %none = onnx.None() : () -> none
  // expected-note@below {{Q, K and V of rank 4, 3 and 4; all must have 3, or all 4}}
  %0:4 = onnx.Attention(%q, %p, %k, %none, %none, %none, %none) : (tensor<1x4x3x4xf32>, tensor<1x3x8xf32>, tensor<1x2x5x4xf32>, none, none, none, none) -> (tensor<*xf32>, none, none, none)
  // expected-note@below {{operands of rank 3 without q_num_heads; nearest supported: with q_num_heads and kv_num_heads}}
  %1:4 = onnx.Attention(%p, %p, %p, %none, %none, %none, %none) : (tensor<1x3x8xf32>, tensor<1x3x8xf32>, tensor<1x3x8xf32>, none, none, none, none) -> (tensor<*xf32>, none, none, none)
  // expected-note@below {{4 heads of queries for 3 of keys; the first must be a multiple of the second}}
  %2:4 = onnx.Attention(%q, %k3, %k3, %none, %none, %none, %none) : (tensor<1x4x3x4xf32>, tensor<1x3x5x4xf32>, tensor<1x3x5x4xf32>, none, none, none, none) -> (tensor<*xf32>, none, none, none)
  // expected-note@below {{numbers of heads known only at run time that may differ}}
  %3:4 = onnx.Attention(%q, %ks, %ks, %none, %none, %none, %none) : (tensor<1x4x3x4xf32>, tensor<1x?x5x4xf32>, tensor<1x?x5x4xf32>, none, none, none, none) -> (tensor<*xf32>, none, none, none)
  // expected-note@below {{operands of several element types}}
  %4:4 = onnx.Attention(%q, %q, %h, %none, %none, %none, %none) : (tensor<1x4x3x4xf32>, tensor<1x4x3x4xf32>, tensor<1x4x5x4xf16>, none, none, none, none) -> (tensor<*xf32>, none, none, none)
  // expected-note@below {{a head size known only at run time; nearest supported: with scale}}
  %5:4 = onnx.Attention(%d, %d, %d, %none, %none, %none, %none) : (tensor<1x2x5x?xf32>, tensor<1x2x5x?xf32>, tensor<1x2x5x?xf32>, none, none, none, none) -> (tensor<*xf32>, none, none, none)
  // expected-note@below {{scale must be above 0}}
  %6:4 = onnx.Attention(%q, %k, %k, %none, %none, %none, %none) {scale = -1.0 : f32} : (tensor<1x4x3x4xf32>, tensor<1x2x5x4xf32>, tensor<1x2x5x4xf32>, none, none, none, none) -> (tensor<*xf32>, none, none, none)
  // expected-note@below {{attn_mask has integers}}
  %7:4 = onnx.Attention(%q, %k, %k, %m, %none, %none, %none) : (tensor<1x4x3x4xf32>, tensor<1x2x5x4xf32>, tensor<1x2x5x4xf32>, tensor<3x5xi32>, none, none, none) -> (tensor<*xf32>, none, none, none)
  // expected-note@below {{attn_mask has rank 5; it must have 1 to 4}}
  %8:4 = onnx.Attention(%q, %k, %k, %m5, %none, %none, %none) : (tensor<1x4x3x4xf32>, tensor<1x2x5x4xf32>, tensor<1x2x5x4xf32>, tensor<1x1x1x3x5xf32>, none, none, none) -> (tensor<*xf32>, none, none, none)
  // expected-note@below {{one of past_key and past_value; nearest supported: both or none}}
  %9:4 = onnx.Attention(%q, %k, %k, %none, %k, %none, %none) : (tensor<1x4x3x4xf32>, tensor<1x2x5x4xf32>, tensor<1x2x5x4xf32>, none, tensor<1x2x5x4xf32>, none, none) -> (tensor<*xf32>, none, none, none)
  // expected-note@below {{past keys or values of rank 3; they must have 4}}
  %10:4 = onnx.Attention(%q, %k, %k, %none, %past, %past, %none) : (tensor<1x4x3x4xf32>, tensor<1x2x5x4xf32>, tensor<1x2x5x4xf32>, none, tensor<1x2x4xf32>, tensor<1x2x4xf32>, none) -> (tensor<*xf32>, none, none, none)
  // expected-note@below {{nonpad_kv_seqlen has rank 2; it must have one}}
  %11:4 = onnx.Attention(%q, %k, %k, %none, %none, %none, %n2) : (tensor<1x4x3x4xf32>, tensor<1x2x5x4xf32>, tensor<1x2x5x4xf32>, none, none, none, tensor<1x1xi64>) -> (tensor<*xf32>, none, none, none)
  // expected-note@below {{nonpad_kv_seqlen beside past_key; nearest supported: one of both}}
  %12:4 = onnx.Attention(%q, %k, %k, %none, %k, %k, %n) : (tensor<1x4x3x4xf32>, tensor<1x2x5x4xf32>, tensor<1x2x5x4xf32>, none, tensor<1x2x5x4xf32>, tensor<1x2x5x4xf32>, tensor<1xi64>) -> (tensor<*xf32>, none, none, none)
  // expected-note@below {{'onnx.arithmetic' has 'query', which is not a number}}
  %13:4 = onnx.Attention(%q, %k, %k, %none, %none, %none, %none) {onnx.arithmetic = {query = "two"}} : (tensor<1x4x3x4xf32>, tensor<1x2x5x4xf32>, tensor<1x2x5x4xf32>, none, none, none, none) -> (tensor<*xf32>, none, none, none)
  return %0#0, %1#0, %2#0, %3#0, %4#0, %5#0, %6#0, %7#0, %8#0, %9#0, %10#0, %11#0, %12#0, %13#0 : tensor<*xf32>, tensor<*xf32>, tensor<*xf32>, tensor<*xf32>, tensor<*xf32>, tensor<*xf32>, tensor<*xf32>, tensor<*xf32>, tensor<*xf32>, tensor<*xf32>, tensor<*xf32>, tensor<*xf32>, tensor<*xf32>, tensor<*xf32>
}
