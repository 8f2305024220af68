// RUN: cameo-opt %s --pass-pipeline='builtin.module(rt.variant(cameo-assign-schedules))' | FileCheck %s

// Products that fill tiles stay with classes of products, small ones with a long depth, too, of which the
// estimate has rows of a reduction as faster.

// CHECK-LABEL: rt.variant @small
// CHECK: schedule <"{{contraction|mma}}"
#a = affine_map<(m, n, k) -> (m, k)>
#b = affine_map<(m, n, k) -> (k, n)>
#y = affine_map<(m, n, k) -> (m, n)>
rt.variant @small target "sm_80" {
  func.func @main(%x: tensor<16x1000xf32>, %w: tensor<1000x16xf32>) -> tensor<16x16xf32> {
    %e = tensor.empty() : tensor<16x16xf32>
    %r = kernel.dispatch ins(%x, %w : tensor<16x1000xf32>, tensor<1000x16xf32>) outs(%e : tensor<16x16xf32>) {
    ^bb0(%a: tensor<16x1000xf32>, %b: tensor<1000x16xf32>, %o: tensor<16x16xf32>):
      %zero = arith.constant 0.0 : f32
      %f = linalg.fill ins(%zero : f32) outs(%o : tensor<16x16xf32>) -> tensor<16x16xf32>
      %g = linalg.generic {indexing_maps = [#a, #b, #y], iterator_types = ["parallel", "parallel", "reduction"]}
          ins(%a, %b : tensor<16x1000xf32>, tensor<1000x16xf32>) outs(%f : tensor<16x16xf32>) {
      ^bb1(%p: f32, %q: f32, %s: f32):
        %t = math.fma %p, %q, %s : f32
        linalg.yield %t : f32
      } -> tensor<16x16xf32>
      kernel.yield %g : tensor<16x16xf32>
    } -> tensor<16x16xf32>
    return %r : tensor<16x16xf32>
  }
}
