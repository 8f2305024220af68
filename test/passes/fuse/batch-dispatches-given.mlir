// RUN: cameo-opt %s --split-input-file --pass-pipeline='builtin.module(cameo-batch-dispatches)' | FileCheck %s

// Members read one tensor at equal distances: the map has the distance for each of them, and where the first one
// begins.
// CHECK: #[[PLACE:.*]] = affine_map<(d0, d1) -> (d1 + d0 * 8 + 1)>
// CHECK: rt.ledger = [{{.*}}text = "one of 3 equal dispatches in one launch"
// CHECK-LABEL: func @distances
// CHECK: kernel.dispatch
// CHECK: linalg.generic {indexing_maps = [#[[PLACE]], #{{.*}}], {{.*}} outs({{.*}} : tensor<3x8xf32>)
// CHECK-NOT: kernel.dispatch
#first = affine_map<(i) -> (i + 1)>
#second = affine_map<(i) -> (i + 9)>
#third = affine_map<(i) -> (i + 17)>
#id = affine_map<(i) -> (i)>
func.func @distances(%x: tensor<32xf32>) -> tensor<24xf32> {
  %e = tensor.empty() : tensor<8xf32>
  %0 = kernel.dispatch ins(%x : tensor<32xf32>) outs(%e : tensor<8xf32>) {
  ^bb0(%a: tensor<32xf32>, %o: tensor<8xf32>):
    %g = linalg.generic {indexing_maps = [#first, #id], iterator_types = ["parallel"]}
        ins(%a : tensor<32xf32>) outs(%o : tensor<8xf32>) {
    ^bb1(%u: f32, %v: f32):
      %p = arith.negf %u : f32
      linalg.yield %p : f32
    } -> tensor<8xf32>
    kernel.yield %g : tensor<8xf32>
  } -> tensor<8xf32>
  %1 = kernel.dispatch ins(%x : tensor<32xf32>) outs(%e : tensor<8xf32>) {
  ^bb0(%a: tensor<32xf32>, %o: tensor<8xf32>):
    %g = linalg.generic {indexing_maps = [#second, #id], iterator_types = ["parallel"]}
        ins(%a : tensor<32xf32>) outs(%o : tensor<8xf32>) {
    ^bb1(%u: f32, %v: f32):
      %p = arith.negf %u : f32
      linalg.yield %p : f32
    } -> tensor<8xf32>
    kernel.yield %g : tensor<8xf32>
  } -> tensor<8xf32>
  %2 = kernel.dispatch ins(%x : tensor<32xf32>) outs(%e : tensor<8xf32>) {
  ^bb0(%a: tensor<32xf32>, %o: tensor<8xf32>):
    %g = linalg.generic {indexing_maps = [#third, #id], iterator_types = ["parallel"]}
        ins(%a : tensor<32xf32>) outs(%o : tensor<8xf32>) {
    ^bb1(%u: f32, %v: f32):
      %p = arith.negf %u : f32
      linalg.yield %p : f32
    } -> tensor<8xf32>
    kernel.yield %g : tensor<8xf32>
  } -> tensor<8xf32>
  %y = rt.concat %0, %1, %2 dim 0 : tensor<8xf32>, tensor<8xf32>, tensor<8xf32> -> tensor<24xf32>
  return %y : tensor<24xf32>
}

// -----

// The third one is elsewhere: only two are one.
// CHECK: rt.ledger = [{{.*}}text = "one of 2 equal dispatches in one launch"
// CHECK-LABEL: func @unequal_distances
// CHECK-COUNT-2: kernel.dispatch
#first = affine_map<(i) -> (i + 1)>
#second = affine_map<(i) -> (i + 9)>
#elsewhere = affine_map<(i) -> (i + 13)>
#id = affine_map<(i) -> (i)>
func.func @unequal_distances(%x: tensor<32xf32>) -> tensor<24xf32> {
  %e = tensor.empty() : tensor<8xf32>
  %0 = kernel.dispatch ins(%x : tensor<32xf32>) outs(%e : tensor<8xf32>) {
  ^bb0(%a: tensor<32xf32>, %o: tensor<8xf32>):
    %g = linalg.generic {indexing_maps = [#first, #id], iterator_types = ["parallel"]}
        ins(%a : tensor<32xf32>) outs(%o : tensor<8xf32>) {
    ^bb1(%u: f32, %v: f32):
      %p = arith.negf %u : f32
      linalg.yield %p : f32
    } -> tensor<8xf32>
    kernel.yield %g : tensor<8xf32>
  } -> tensor<8xf32>
  %1 = kernel.dispatch ins(%x : tensor<32xf32>) outs(%e : tensor<8xf32>) {
  ^bb0(%a: tensor<32xf32>, %o: tensor<8xf32>):
    %g = linalg.generic {indexing_maps = [#second, #id], iterator_types = ["parallel"]}
        ins(%a : tensor<32xf32>) outs(%o : tensor<8xf32>) {
    ^bb1(%u: f32, %v: f32):
      %p = arith.negf %u : f32
      linalg.yield %p : f32
    } -> tensor<8xf32>
    kernel.yield %g : tensor<8xf32>
  } -> tensor<8xf32>
  %2 = kernel.dispatch ins(%x : tensor<32xf32>) outs(%e : tensor<8xf32>) {
  ^bb0(%a: tensor<32xf32>, %o: tensor<8xf32>):
    %g = linalg.generic {indexing_maps = [#elsewhere, #id], iterator_types = ["parallel"]}
        ins(%a : tensor<32xf32>) outs(%o : tensor<8xf32>) {
    ^bb1(%u: f32, %v: f32):
      %p = arith.negf %u : f32
      linalg.yield %p : f32
    } -> tensor<8xf32>
    kernel.yield %g : tensor<8xf32>
  } -> tensor<8xf32>
  %y = rt.concat %0, %1, %2 dim 0 : tensor<8xf32>, tensor<8xf32>, tensor<8xf32> -> tensor<24xf32>
  return %y : tensor<24xf32>
}
