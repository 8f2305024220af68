// Neighbours share the loop of a reduction where it reads them in vectors; elsewhere a thread has one element.
// RUN: cameo-opt %s --split-input-file --pass-pipeline='builtin.module(rt.variant(cameo-assign-schedules,cameo-lower-dispatches))' | FileCheck %s

// Sums along the outermost dimension of two inputs, and work behind them: one loop each, in order.
// CHECK-LABEL: rt.variant @parts
// CHECK: gpu.func
// CHECK-SAME: schedule<"map", {flat = false, threads = 256 : i64, vector = 4 : i64}>
// CHECK: %[[ONE:.*]]:4 = scf.for {{.*}} -> (f32, f32, f32, f32) {
// CHECK: vector.load {{.*}} {kernel.alignment = 16 : i64} : {{.*}}, vector<4xf32>
// CHECK-NOT: memref.load
// CHECK-NOT: vector.load
// CHECK: scf.yield
// CHECK: %[[TWO:.*]]:4 = scf.for {{.*}} -> (f32, f32, f32, f32) {
// CHECK: vector.load {{.*}} {kernel.alignment = 16 : i64} : {{.*}}, vector<4xf32>
// CHECK-NOT: memref.load
// CHECK-NOT: vector.load
// CHECK: scf.yield
// CHECK: arith.addf %[[ONE]]#0, %[[TWO]]#0
// CHECK: vector.store {{.*}} {kernel.alignment = 8 : i64} : {{.*}}, vector<4xf16>
#p = affine_map<(i, j, k) -> (k, i, j)>
#q = affine_map<(i, j, k) -> (i, k, j)>
#y = affine_map<(i, j, k) -> (i, j)>
#id = affine_map<(i, j) -> (i, j)>
rt.variant @parts target "sm_80" {
  func.func @main(%x: tensor<3x256x512xf32>, %z: tensor<256x2x512xf32>) -> tensor<256x512xf16> {
    %e = tensor.empty() : tensor<256x512xf16>
    %r = kernel.dispatch ins(%x, %z : tensor<3x256x512xf32>, tensor<256x2x512xf32>) outs(%e : tensor<256x512xf16>) {
    ^bb0(%a: tensor<3x256x512xf32>, %b: tensor<256x2x512xf32>, %o: tensor<256x512xf16>):
      %zero = arith.constant 0.0 : f32
      %d = tensor.empty() : tensor<256x512xf32>
      %f = linalg.fill ins(%zero : f32) outs(%d : tensor<256x512xf32>) -> tensor<256x512xf32>
      %g = linalg.generic {indexing_maps = [#p, #y], iterator_types = ["parallel", "parallel", "reduction"]}
          ins(%a : tensor<3x256x512xf32>) outs(%f : tensor<256x512xf32>) {
      ^bb1(%v: f32, %s: f32):
        %t = arith.addf %s, %v : f32
        linalg.yield %t : f32
      } -> tensor<256x512xf32>
      %h = linalg.generic {indexing_maps = [#q, #y], iterator_types = ["parallel", "parallel", "reduction"]}
          ins(%b : tensor<256x2x512xf32>) outs(%f : tensor<256x512xf32>) {
      ^bb1(%v: f32, %s: f32):
        %t = arith.addf %s, %v : f32
        linalg.yield %t : f32
      } -> tensor<256x512xf32>
      %n = linalg.generic {indexing_maps = [#id, #id, #id], iterator_types = ["parallel", "parallel"]}
          ins(%g, %h : tensor<256x512xf32>, tensor<256x512xf32>) outs(%o : tensor<256x512xf16>) {
      ^bb1(%v: f32, %w: f32, %s: f16):
        %t = arith.addf %v, %w : f32
        %u = arith.truncf %t : f32 to f16
        linalg.yield %u : f16
      } -> tensor<256x512xf16>
      kernel.yield %n : tensor<256x512xf16>
    } -> tensor<256x512xf16>
    return %r : tensor<256x512xf16>
  }
}

// -----

// What is reduced is innermost in the second input: neighbours read memory that is apart.
// CHECK-LABEL: rt.variant @innermost
// CHECK: schedule<"map", {flat = false, threads = 256 : i64, vector = 1 : i64}>
#p = affine_map<(i, j, k) -> (k, i, j)>
#q = affine_map<(i, j, k) -> (i, j, k)>
#y = affine_map<(i, j, k) -> (i, j)>
#id = affine_map<(i, j) -> (i, j)>
rt.variant @innermost target "sm_80" {
  func.func @main(%x: tensor<3x256x512xf32>, %z: tensor<256x512x3xf32>) -> tensor<256x512xf32> {
    %e = tensor.empty() : tensor<256x512xf32>
    %r = kernel.dispatch ins(%x, %z : tensor<3x256x512xf32>, tensor<256x512x3xf32>) outs(%e : tensor<256x512xf32>) {
    ^bb0(%a: tensor<3x256x512xf32>, %b: tensor<256x512x3xf32>, %o: tensor<256x512xf32>):
      %zero = arith.constant 0.0 : f32
      %f = linalg.fill ins(%zero : f32) outs(%o : tensor<256x512xf32>) -> tensor<256x512xf32>
      %g = linalg.generic {indexing_maps = [#p, #y], iterator_types = ["parallel", "parallel", "reduction"]}
          ins(%a : tensor<3x256x512xf32>) outs(%f : tensor<256x512xf32>) {
      ^bb1(%v: f32, %s: f32):
        %t = arith.addf %s, %v : f32
        linalg.yield %t : f32
      } -> tensor<256x512xf32>
      %h = linalg.generic {indexing_maps = [#q, #y], iterator_types = ["parallel", "parallel", "reduction"]}
          ins(%b : tensor<256x512x3xf32>) outs(%f : tensor<256x512xf32>) {
      ^bb1(%v: f32, %s: f32):
        %t = arith.addf %s, %v : f32
        linalg.yield %t : f32
      } -> tensor<256x512xf32>
      %n = linalg.generic {indexing_maps = [#id, #id, #id], iterator_types = ["parallel", "parallel"]}
          ins(%g, %h : tensor<256x512xf32>, tensor<256x512xf32>) outs(%o : tensor<256x512xf32>) {
      ^bb1(%v: f32, %w: f32, %s: f32):
        %t = arith.addf %v, %w : f32
        linalg.yield %t : f32
      } -> tensor<256x512xf32>
      kernel.yield %n : tensor<256x512xf32>
    } -> tensor<256x512xf32>
    return %r : tensor<256x512xf32>
  }
}

// -----

// Rows of 511 have no vectors.
// CHECK-LABEL: rt.variant @ragged
// CHECK: schedule<"map", {flat = false, threads = 256 : i64, vector = 1 : i64}>
#p = affine_map<(i, j, k) -> (k, i, j)>
#q = affine_map<(i, j, k) -> (i, k, j)>
#y = affine_map<(i, j, k) -> (i, j)>
#id = affine_map<(i, j) -> (i, j)>
rt.variant @ragged target "sm_80" {
  func.func @main(%x: tensor<3x256x511xf32>, %z: tensor<256x2x511xf32>) -> tensor<256x511xf32> {
    %e = tensor.empty() : tensor<256x511xf32>
    %r = kernel.dispatch ins(%x, %z : tensor<3x256x511xf32>, tensor<256x2x511xf32>) outs(%e : tensor<256x511xf32>) {
    ^bb0(%a: tensor<3x256x511xf32>, %b: tensor<256x2x511xf32>, %o: tensor<256x511xf32>):
      %zero = arith.constant 0.0 : f32
      %f = linalg.fill ins(%zero : f32) outs(%o : tensor<256x511xf32>) -> tensor<256x511xf32>
      %g = linalg.generic {indexing_maps = [#p, #y], iterator_types = ["parallel", "parallel", "reduction"]}
          ins(%a : tensor<3x256x511xf32>) outs(%f : tensor<256x511xf32>) {
      ^bb1(%v: f32, %s: f32):
        %t = arith.addf %s, %v : f32
        linalg.yield %t : f32
      } -> tensor<256x511xf32>
      %h = linalg.generic {indexing_maps = [#q, #y], iterator_types = ["parallel", "parallel", "reduction"]}
          ins(%b : tensor<256x2x511xf32>) outs(%f : tensor<256x511xf32>) {
      ^bb1(%v: f32, %s: f32):
        %t = arith.addf %s, %v : f32
        linalg.yield %t : f32
      } -> tensor<256x511xf32>
      %n = linalg.generic {indexing_maps = [#id, #id, #id], iterator_types = ["parallel", "parallel"]}
          ins(%g, %h : tensor<256x511xf32>, tensor<256x511xf32>) outs(%o : tensor<256x511xf32>) {
      ^bb1(%v: f32, %w: f32, %s: f32):
        %t = arith.addf %v, %w : f32
        linalg.yield %t : f32
      } -> tensor<256x511xf32>
      kernel.yield %n : tensor<256x511xf32>
    } -> tensor<256x511xf32>
    return %r : tensor<256x511xf32>
  }
}
