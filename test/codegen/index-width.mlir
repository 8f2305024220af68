// How wide a kernel's indices are.
//
// RUN: cameo-opt %s --pass-pipeline='builtin.module(rt.variant(cameo-assign-schedules,cameo-lower-dispatches))' | FileCheck %s

#id = affine_map<(d0, d1) -> (d0, d1)>

// Several sizes known only at run time: the plan compares the tensor's elements with 2^30 and gives one of
// two kernels an empty grid. What a launch costs is arithmetic of the plan, too.
// CHECK-LABEL: rt.variant @dynamic
// CHECK: %[[BOUND:.*]] = arith.constant 1073741824 : index
// CHECK: arith.cmpi ult, %{{.*}}, %[[BOUND]] : index
// CHECK: %[[NARROW:.*]] = arith.select %[[FITS:.*]], %[[BLOCKS:.*]], %{{.*}} : index
// CHECK: %[[ROWS:.*]] = arith.sitofp %{{.*}} : i64 to f64
// CHECK: %[[COLUMNS:.*]] = arith.sitofp %{{.*}} : i64 to f64
// CHECK: %[[COUNT:.*]] = arith.mulf %[[ROWS]], %[[COLUMNS]] : f64
// CHECK: %[[FOUR:.*]] = arith.constant 4.000000e+00 : f64
// CHECK: %[[WRITTEN:.*]] = arith.mulf %[[COUNT]], %[[FOUR]] : f64
// CHECK: %[[BYTES:.*]] = arith.addf
// CHECK: %[[FIRST:.*]] = rt.launch @[[K:.*]]::@[[K]] grid(%[[NARROW]], {{.*}} flops %{{.*}} bytes %[[BYTES]]
// CHECK: %[[WIDE:.*]] = arith.select %[[FITS]], %{{.*}}, %[[BLOCKS]] : index
// CHECK: rt.launch @[[W:.*]]::@[[W]] grid(%[[WIDE]], {{.*}} args(%{{.*}}, %[[FIRST]], {{.*}} {kernel.fallback, rt.in_place = array<i64: 1, 0>}
// CHECK: gpu.module @[[K]] attributes {kernel.index_bits = 32 : i32}
// CHECK: gpu.module @[[W]] attributes {kernel.index_bits = 64 : i32}
rt.variant @dynamic target "sm_80" {
  func.func @main(%x: tensor<?x?xf32>, %n: index, %m: index) -> tensor<?x?xf32> {
    %e = tensor.empty(%n, %m) : tensor<?x?xf32>
    %r = kernel.dispatch ins(%x : tensor<?x?xf32>) outs(%e : tensor<?x?xf32>) {
    ^bb0(%a: tensor<?x?xf32>, %o: tensor<?x?xf32>):
      %g = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel", "parallel"]}
          ins(%a : tensor<?x?xf32>) outs(%o : tensor<?x?xf32>) {
      ^bb1(%v: f32, %w: f32):
        %q = math.exp %v : f32
        linalg.yield %q : f32
      } -> tensor<?x?xf32>
      kernel.yield %g : tensor<?x?xf32>
    } -> tensor<?x?xf32>
    return %r : tensor<?x?xf32>
  }
}

// Known sizes above the bound: one wide kernel.
// CHECK-LABEL: rt.variant @large
// CHECK: rt.launch
// CHECK-NOT: rt.launch
// CHECK: kernel.index_bits = 64 : i32
rt.variant @large target "sm_80" {
  func.func @main(%x: tensor<524288x4096xi8>) -> tensor<524288x4096xi8> {
    %e = tensor.empty() : tensor<524288x4096xi8>
    %r = kernel.dispatch ins(%x : tensor<524288x4096xi8>) outs(%e : tensor<524288x4096xi8>) {
    ^bb0(%a: tensor<524288x4096xi8>, %o: tensor<524288x4096xi8>):
      %g = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel", "parallel"]}
          ins(%a : tensor<524288x4096xi8>) outs(%o : tensor<524288x4096xi8>) {
      ^bb1(%v: i8, %w: i8):
        %q = arith.addi %v, %v : i8
        linalg.yield %q : i8
      } -> tensor<524288x4096xi8>
      kernel.yield %g : tensor<524288x4096xi8>
    } -> tensor<524288x4096xi8>
    return %r : tensor<524288x4096xi8>
  }
}

// Indices that the description itself multiplies are bounded by no tensor: a wide kernel alone.
// CHECK-LABEL: rt.variant @own
// CHECK: rt.launch
// CHECK-NOT: rt.launch
// CHECK: kernel.index_bits = 64 : i32
#line = affine_map<(d0) -> (d0)>
rt.variant @own target "sm_80" {
  func.func @main(%n: index) -> tensor<?xi64> {
    %e = tensor.empty(%n) : tensor<?xi64>
    %r = kernel.dispatch outs(%e : tensor<?xi64>) {
    ^bb0(%o: tensor<?xi64>):
      %g = linalg.generic {indexing_maps = [#line], iterator_types = ["parallel"]}
          outs(%o : tensor<?xi64>) {
      ^bb1(%w: i64):
        %i = linalg.index 0 : index
        %s = arith.muli %i, %i : index
        %q = arith.index_cast %s : index to i64
        linalg.yield %q : i64
      } -> tensor<?xi64>
      kernel.yield %g : tensor<?xi64>
    } -> tensor<?xi64>
    return %r : tensor<?xi64>
  }
}
