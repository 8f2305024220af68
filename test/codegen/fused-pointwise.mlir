// RUN: cameo-opt %s --pass-pipeline='builtin.module(rt.variant(cameo-assign-schedules,cameo-lower-dispatches))' | FileCheck %s

// Elements of a slice, of a reshape and of a reshaped slice: two at a time from each, as they are
// stored.
// CHECK-LABEL: rt.variant @moved
// CHECK: gpu.func {{.*}}schedule<"map"{{.*}}vector = 2
// CHECK-COUNT-3: vector.load
// CHECK-NOT: memref.load
// CHECK: vector.store
#id = affine_map<(i, j) -> (i, j)>
#half = affine_map<(i, j) -> (i, j + 64)>
rt.variant @moved target "sm_80" {
  func.func @main(%x: tensor<40x128xf32>, %y: tensor<40x4x16xf32>, %z: tensor<2560xf32>) -> tensor<40x64xf32> {
    %e = tensor.empty() : tensor<40x64xf32>
    %r = kernel.dispatch ins(%x, %y, %z : tensor<40x128xf32>, tensor<40x4x16xf32>, tensor<2560xf32>)
                         outs(%e : tensor<40x64xf32>)
        schedule <"map", {flat = false, threads = 64 : i64, vector = 2 : i64}> {
    ^bb0(%a: tensor<40x128xf32>, %b: tensor<40x4x16xf32>, %c: tensor<2560xf32>, %o: tensor<40x64xf32>):
      %g = tensor.collapse_shape %b [[0], [1, 2]] : tensor<40x4x16xf32> into tensor<40x64xf32>
      %h = tensor.expand_shape %c [[0, 1]] output_shape [40, 64] : tensor<2560xf32> into tensor<40x64xf32>
      %i = tensor.extract_slice %h[0, 0] [40, 64] [1, 1] : tensor<40x64xf32> to tensor<40x64xf32>
      %j = linalg.generic {indexing_maps = [#half, #id, #id, #id], iterator_types = ["parallel", "parallel"]}
          ins(%a, %g, %i : tensor<40x128xf32>, tensor<40x64xf32>, tensor<40x64xf32>) outs(%o : tensor<40x64xf32>) {
      ^bb1(%u: f32, %v: f32, %w: f32, %s: f32):
        %q = arith.mulf %u, %v : f32
        %p = arith.addf %q, %w : f32
        linalg.yield %p : f32
      } -> tensor<40x64xf32>
      kernel.yield %j : tensor<40x64xf32>
    } -> tensor<40x64xf32>
    return %r : tensor<40x64xf32>
  }
}
