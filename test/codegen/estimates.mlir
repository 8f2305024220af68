// RUN: cameo-opt %s --split-input-file --pass-pipeline='builtin.module(rt.variant(cameo-assign-schedules,cameo-lower-dispatches))' | FileCheck %s

// Launches are estimated by the schedule that they were written by.

// What was chosen: 4 MiB in and out at 1555 GB/s, and two microseconds to launch.
// CHECK-LABEL: rt.variant @chosen
// CHECK: rt.launch {{.*}} estimate <nanoseconds = 7395, limit = memory> ->
#id = affine_map<(d0) -> (d0)>
rt.variant @chosen target "sm_80" {
  func.func @main(%x: tensor<1048576xf32>) -> tensor<1048576xf32> {
    %e = tensor.empty() : tensor<1048576xf32>
    %r = kernel.dispatch ins(%x : tensor<1048576xf32>) outs(%e : tensor<1048576xf32>) {
    ^bb0(%a: tensor<1048576xf32>, %o: tensor<1048576xf32>):
      %g = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel"]}
          ins(%a : tensor<1048576xf32>) outs(%o : tensor<1048576xf32>) {
      ^bb1(%v: f32, %w: f32):
        %q = arith.negf %v : f32
        linalg.yield %q : f32
      } -> tensor<1048576xf32>
      kernel.yield %g : tensor<1048576xf32>
    } -> tensor<1048576xf32>
    return %r : tensor<1048576xf32>
  }
}

// -----

// What was given: blocks of one warp, of which a multiprocessor has room for too few. On another board.
// CHECK-LABEL: rt.variant @given
// CHECK: rt.launch {{.*}} estimate <nanoseconds = {{[0-9]+}}, limit = latency> ->
#id = affine_map<(d0) -> (d0)>
rt.variant @given target "sm_80" board "a30" {
  func.func @main(%x: tensor<1048576xf32>) -> tensor<1048576xf32> {
    %e = tensor.empty() : tensor<1048576xf32>
    %r = kernel.dispatch ins(%x : tensor<1048576xf32>) outs(%e : tensor<1048576xf32>) schedule <"map", {flat = true, threads = 32 : i64, vector = 1 : i64}> {
    ^bb0(%a: tensor<1048576xf32>, %o: tensor<1048576xf32>):
      %g = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel"]}
          ins(%a : tensor<1048576xf32>) outs(%o : tensor<1048576xf32>) {
      ^bb1(%v: f32, %w: f32):
        %q = arith.negf %v : f32
        linalg.yield %q : f32
      } -> tensor<1048576xf32>
      kernel.yield %g : tensor<1048576xf32>
    } -> tensor<1048576xf32>
    return %r : tensor<1048576xf32>
  }
}

// -----

// Sizes that only a run knows are taken for likely ones. Of two kernels for one step, one has the estimate.
// CHECK-LABEL: rt.variant @open
// CHECK: rt.launch {{.*}} estimate <nanoseconds = {{[0-9]+}}, limit = launch, assumed = true> ->
// CHECK: rt.launch {{.*}} {kernel.fallback{{[^}]*}}} ->
#id = affine_map<(d0, d1) -> (d0, d1)>
rt.variant @open target "sm_80" {
  func.func @main(%x: tensor<?x?xf32>, %n: index, %m: index) -> tensor<?x?xf32> {
    %e = tensor.empty(%n, %m) : tensor<?x?xf32>
    %r = kernel.dispatch ins(%x : tensor<?x?xf32>) outs(%e : tensor<?x?xf32>) {
    ^bb0(%a: tensor<?x?xf32>, %o: tensor<?x?xf32>):
      %g = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel", "parallel"]}
          ins(%a : tensor<?x?xf32>) outs(%o : tensor<?x?xf32>) {
      ^bb1(%v: f32, %w: f32):
        %q = arith.negf %v : f32
        linalg.yield %q : f32
      } -> tensor<?x?xf32>
      kernel.yield %g : tensor<?x?xf32>
    } -> tensor<?x?xf32>
    return %r : tensor<?x?xf32>
  }
}

// -----

// Of parts of a product's depth both launches have their own.
// CHECK-LABEL: rt.variant @parts
// CHECK: rt.launch @[[K:.*]]::@[[K]] grid{{.*}} estimate <nanoseconds = {{[0-9]+}}, limit = {{[a-z_0-9]+}}> ->
// CHECK: rt.launch {{.*}} finishes @[[K]]::@[[K]] {{.*}} estimate <nanoseconds = {{[0-9]+}}, limit = latency> ->
#a = affine_map<(m, n, k) -> (m, k)>
#b = affine_map<(m, n, k) -> (k, n)>
#y = affine_map<(m, n, k) -> (m, n)>
rt.variant @parts target "sm_80" {
  func.func @main(%x: tensor<32x4096xf32>, %w: tensor<4096x64xf32>) -> tensor<32x64xf32> {
    %e = tensor.empty() : tensor<32x64xf32>
    %r = kernel.dispatch ins(%x, %w : tensor<32x4096xf32>, tensor<4096x64xf32>) outs(%e : tensor<32x64xf32>) {
    ^bb0(%p: tensor<32x4096xf32>, %q: tensor<4096x64xf32>, %o: tensor<32x64xf32>):
      %zero = arith.constant 0.0 : f32
      %f = linalg.fill ins(%zero : f32) outs(%o : tensor<32x64xf32>) -> tensor<32x64xf32>
      %g = linalg.generic {indexing_maps = [#a, #b, #y], iterator_types = ["parallel", "parallel", "reduction"]}
          ins(%p, %q : tensor<32x4096xf32>, tensor<4096x64xf32>) outs(%f : tensor<32x64xf32>) {
      ^bb1(%u: f32, %v: f32, %s: f32):
        %t = math.fma %u, %v, %s : f32
        linalg.yield %t : f32
      } -> tensor<32x64xf32>
      kernel.yield %g : tensor<32x64xf32>
    } -> tensor<32x64xf32>
    return %r : tensor<32x64xf32>
  }
}
