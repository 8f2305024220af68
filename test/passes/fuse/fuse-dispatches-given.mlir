// RUN: cameo-opt %s --pass-pipeline='builtin.module(func.func(cameo-fuse-dispatches))' | FileCheck %s

// Where a schedule is given, dispatches stay as they are.
// CHECK-LABEL: func @given
// CHECK: kernel.dispatch {{.*}} schedule
// CHECK: kernel.dispatch
#id = affine_map<(i) -> (i)>
func.func @given(%x: tensor<4xf32>) -> tensor<4xf32> {
  %e = tensor.empty() : tensor<4xf32>
  %0 = kernel.dispatch ins(%x : tensor<4xf32>) outs(%e : tensor<4xf32>)
      schedule #kernel.schedule<"map", {flat = true, threads = 32 : i64, vector = 1 : i64}> {
  ^bb0(%a: tensor<4xf32>, %o: tensor<4xf32>):
    %g = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel"]}
        ins(%a : tensor<4xf32>) outs(%o : tensor<4xf32>) {
    ^bb1(%u: f32, %v: f32):
      %p = arith.negf %u : f32
      linalg.yield %p : f32
    } -> tensor<4xf32>
    kernel.yield %g : tensor<4xf32>
  } -> tensor<4xf32>
  %1 = kernel.dispatch ins(%0 : tensor<4xf32>) outs(%e : tensor<4xf32>) {
  ^bb0(%a: tensor<4xf32>, %o: tensor<4xf32>):
    %g = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel"]}
        ins(%a : tensor<4xf32>) outs(%o : tensor<4xf32>) {
    ^bb1(%u: f32, %v: f32):
      %p = arith.negf %u : f32
      linalg.yield %p : f32
    } -> tensor<4xf32>
    kernel.yield %g : tensor<4xf32>
  } -> tensor<4xf32>
  return %1 : tensor<4xf32>
}
