// RUN: cameo-opt %s --split-input-file --cameo-pack-weights -verify-diagnostics -o /dev/null
// RUN: not cameo-opt %s --split-input-file --pass-pipeline='builtin.module(rt.variant(cameo-lower-dispatches))' -o /dev/null 2>&1 | FileCheck %s
// CHECK: error: its constants are to be packed first, by cameo-pack-weights

#id = affine_map<(d0, d1) -> (d0, d1)>
rt.constant @w = dense<2.0> : tensor<64x96xf32>
rt.variant @v target "sm_80" {
  func.func @main() -> tensor<64x96xf32> {
    %w = rt.get_constant @w : tensor<64x96xf32>
    %e = tensor.empty() : tensor<64x96xf32>
    // expected-error @below {{kernel.packing [array<i64: 0, 0>] has no order of the dimensions of each input, or one of an input that is not a constant read by maps}}
    %r = kernel.dispatch ins(%w : tensor<64x96xf32>) outs(%e : tensor<64x96xf32>)
        schedule <"map", {flat = true, threads = 256 : i64, vector = 1 : i64}>
        attributes {kernel.packing = [array<i64: 0, 0>]} {
    ^bb0(%a: tensor<64x96xf32>, %o: tensor<64x96xf32>):
      %g = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel", "parallel"]}
          ins(%a : tensor<64x96xf32>) outs(%o : tensor<64x96xf32>) {
      ^bb1(%v: f32, %u: f32):
        %q = arith.negf %v : f32
        linalg.yield %q : f32
      } -> tensor<64x96xf32>
      kernel.yield %g : tensor<64x96xf32>
    } -> tensor<64x96xf32>
    return %r : tensor<64x96xf32>
  }
}

// -----

#id = affine_map<(d0, d1) -> (d0, d1)>
rt.variant @v target "sm_80" {
  func.func @main(%x: tensor<64x96xf32>) -> tensor<64x96xf32> {
    %e = tensor.empty() : tensor<64x96xf32>
    // expected-error @below {{or one of an input that is not a constant read by maps}}
    %r = kernel.dispatch ins(%x : tensor<64x96xf32>) outs(%e : tensor<64x96xf32>)
        attributes {kernel.packing = [array<i64: 1, 0>]} {
    ^bb0(%a: tensor<64x96xf32>, %o: tensor<64x96xf32>):
      %g = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel", "parallel"]}
          ins(%a : tensor<64x96xf32>) outs(%o : tensor<64x96xf32>) {
      ^bb1(%v: f32, %u: f32):
        %q = arith.negf %v : f32
        linalg.yield %q : f32
      } -> tensor<64x96xf32>
      kernel.yield %g : tensor<64x96xf32>
    } -> tensor<64x96xf32>
    return %r : tensor<64x96xf32>
  }
}

// -----

#id = affine_map<(d0, d1) -> (d0, d1)>
rt.constant @w = dense<2.0> : tensor<64x96xf16>
rt.variant @v target "sm_80" {
  func.func @main() -> tensor<64x96xf16> {
    %w = rt.get_constant @w : tensor<64x96xf16>
    %e = tensor.empty() : tensor<64x96xf16>
    // expected-error @below {{kernel.rounding array<i64: 0> lists an input that is not a constant of f32 read by maps}}
    %r = kernel.dispatch ins(%w : tensor<64x96xf16>) outs(%e : tensor<64x96xf16>)
        attributes {kernel.rounding = array<i64: 0>} {
    ^bb0(%a: tensor<64x96xf16>, %o: tensor<64x96xf16>):
      %g = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel", "parallel"]}
          ins(%a : tensor<64x96xf16>) outs(%o : tensor<64x96xf16>) {
      ^bb1(%v: f16, %u: f16):
        %q = arith.negf %v : f16
        linalg.yield %q : f16
      } -> tensor<64x96xf16>
      kernel.yield %g : tensor<64x96xf16>
    } -> tensor<64x96xf16>
    return %r : tensor<64x96xf16>
  }
}
