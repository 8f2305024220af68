// A flat dispatch may read a single value that a reduction computes.
// RUN: %cameo-opt --pass-pipeline='builtin.module(rt.variant(cameo-assign-schedules,cameo-lower-dispatches))' %s | FileCheck %s

#all = affine_map<(d0) -> (d0)>
#one = affine_map<(d0) -> ()>
rt.variant @sm_80 target "sm_80" {
  // CHECK-LABEL: gpu.func @
  // CHECK: scf.for
  // CHECK: arith.addf
  // CHECK: arith.negf
  func.func @ReductionThenSingleValue(%x: tensor<6xf32>) -> tensor<f32> {
    %e = tensor.empty() : tensor<f32>
    %y = kernel.dispatch ins(%x : tensor<6xf32>) outs(%e : tensor<f32>) {
    ^bb0(%a: tensor<6xf32>, %o: tensor<f32>):
      %zero = arith.constant 0.0 : f32
      %t = tensor.empty() : tensor<f32>
      %f = linalg.fill ins(%zero : f32) outs(%t : tensor<f32>) -> tensor<f32>
      %s = linalg.generic {indexing_maps = [#all, #one], iterator_types = ["reduction"]}
          ins(%a : tensor<6xf32>) outs(%f : tensor<f32>) {
      ^bb0(%in: f32, %sum: f32):
        %r = arith.addf %sum, %in : f32
        linalg.yield %r : f32
      } -> tensor<f32>
      %n = linalg.generic {indexing_maps = [affine_map<() -> ()>, affine_map<() -> ()>], iterator_types = []}
          ins(%s : tensor<f32>) outs(%o : tensor<f32>) {
      ^bb0(%in: f32, %out: f32):
        %r = arith.negf %in : f32
        linalg.yield %r : f32
      } -> tensor<f32>
      kernel.yield %n : tensor<f32>
    } -> tensor<f32>
    return %y : tensor<f32>
  }
}

#id = affine_map<() -> ()>
rt.variant @strided target "sm_80" {
  // An element of a slice, whose dimension is in no group of what collapses it.
  // CHECK-LABEL: rt.variant @strided
  // CHECK: gpu.func @
  // CHECK: %[[V:.*]] = memref.load
  // CHECK: arith.negf %[[V]]
  func.func @CollapseToSingleValue(%x: tensor<2x3xf32>) -> tensor<f32> {
    %e = tensor.empty() : tensor<f32>
    %y = kernel.dispatch ins(%x : tensor<2x3xf32>) outs(%e : tensor<f32>) {
    ^bb0(%a: tensor<2x3xf32>, %o: tensor<f32>):
      %s = tensor.extract_slice %a[1, 0] [1, 1] [2, 3] : tensor<2x3xf32> to tensor<1x1xf32>
      %c = tensor.collapse_shape %s [] : tensor<1x1xf32> into tensor<f32>
      %n = linalg.generic {indexing_maps = [#id, #id], iterator_types = []}
          ins(%c : tensor<f32>) outs(%o : tensor<f32>) {
      ^bb0(%in: f32, %out: f32):
        %r = arith.negf %in : f32
        linalg.yield %r : f32
      } -> tensor<f32>
      kernel.yield %n : tensor<f32>
    } -> tensor<f32>
    return %y : tensor<f32>
  }
}
