// RUN: cameo-opt %s --split-input-file --pass-pipeline='builtin.module(rt.variant(cameo-assign-schedules{candidates=32}))' | FileCheck %s

// All candidates' parts begin at the same places of depth, so that sums do not depend on which is chosen. In four
// parts, steps of 32 and of 64 elements both make parts of 576 of 2304.
// CHECK-LABEL: rt.variant @even
// CHECK: splits = 4 : i64
// CHECK: tile = array<i64: 64, 64, 32>
// CHECK: return
#a = affine_map<(m, n, k) -> (m, k)>
#b = affine_map<(m, n, k) -> (k, n)>
#y = affine_map<(m, n, k) -> (m, n)>
rt.variant @even target "sm_80" {
  func.func @main(%x: tensor<128x2304xf16>, %w: tensor<2304x128xf16>) -> tensor<128x128xf32> {
    %e = tensor.empty() : tensor<128x128xf32>
    %r = kernel.dispatch ins(%x, %w : tensor<128x2304xf16>, tensor<2304x128xf16>) outs(%e : tensor<128x128xf32>) {
    ^bb0(%a: tensor<128x2304xf16>, %b: tensor<2304x128xf16>, %o: tensor<128x128xf32>):
      %zero = arith.constant 0.0 : f32
      %f = linalg.fill ins(%zero : f32) outs(%o : tensor<128x128xf32>) -> tensor<128x128xf32>
      %g = linalg.generic {indexing_maps = [#a, #b, #y], iterator_types = ["parallel", "parallel", "reduction"]}
          ins(%a, %b : tensor<128x2304xf16>, tensor<2304x128xf16>) outs(%f : tensor<128x128xf32>) {
      ^bb1(%p: f16, %q: f16, %s: f32):
        %pw = arith.extf %p : f16 to f32
        %qw = arith.extf %q : f16 to f32
        %t = math.fma %pw, %qw, %s : f32
        linalg.yield %t : f32
      } -> tensor<128x128xf32>
      kernel.yield %g : tensor<128x128xf32>
    } -> tensor<128x128xf32>
    return %r : tensor<128x128xf32>
  }
}


// -----

// Of 2336, steps of 64 make parts of 640, and steps of 32 would make parts of 608.
// CHECK-LABEL: rt.variant @uneven
// CHECK: splits = 4 : i64
// CHECK-NOT: tile = array<i64: {{[0-9]+, [0-9]+}}, 32>
// CHECK: return
#a = affine_map<(m, n, k) -> (m, k)>
#b = affine_map<(m, n, k) -> (k, n)>
#y = affine_map<(m, n, k) -> (m, n)>
rt.variant @uneven target "sm_80" {
  func.func @main(%x: tensor<128x2336xf16>, %w: tensor<2336x128xf16>) -> tensor<128x128xf32> {
    %e = tensor.empty() : tensor<128x128xf32>
    %r = kernel.dispatch ins(%x, %w : tensor<128x2336xf16>, tensor<2336x128xf16>) outs(%e : tensor<128x128xf32>) {
    ^bb0(%a: tensor<128x2336xf16>, %b: tensor<2336x128xf16>, %o: tensor<128x128xf32>):
      %zero = arith.constant 0.0 : f32
      %f = linalg.fill ins(%zero : f32) outs(%o : tensor<128x128xf32>) -> tensor<128x128xf32>
      %g = linalg.generic {indexing_maps = [#a, #b, #y], iterator_types = ["parallel", "parallel", "reduction"]}
          ins(%a, %b : tensor<128x2336xf16>, tensor<2336x128xf16>) outs(%f : tensor<128x128xf32>) {
      ^bb1(%p: f16, %q: f16, %s: f32):
        %pw = arith.extf %p : f16 to f32
        %qw = arith.extf %q : f16 to f32
        %t = math.fma %pw, %qw, %s : f32
        linalg.yield %t : f32
      } -> tensor<128x128xf32>
      kernel.yield %g : tensor<128x128xf32>
    } -> tensor<128x128xf32>
    return %r : tensor<128x128xf32>
  }
}

