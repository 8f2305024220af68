// RUN: cameo-opt %s --split-input-file --pass-pipeline='builtin.module(rt.variant(cameo-lower-dispatches))' | FileCheck %s

// How sums of matrix instructions go to results: each warp's through shared memory of its own, in pieces that
// have room where the operands were, and from there in vectors.

#a = affine_map<(m, n, k) -> (m, k)>
#b = affine_map<(m, n, k) -> (k, n)>
#y = affine_map<(m, n, k) -> (m, n)>
#id = affine_map<(m, n) -> (m, n)>
#column = affine_map<(m, n) -> (n)>

// Four warps with 128 rows of 32 columns each: of sums 32 KiB fit where the operands' three stages were, 64
// rows of each warp. Results of 8 bits are stored 16 at a time; what a column is scaled with is read for 4 at a
// time, before.
// CHECK-LABEL: rt.variant @quantised
// CHECK: %[[ROWS:.*]] = kernel.alloc_tile : <128x32xf16
// CHECK: %[[COLUMNS:.*]] = kernel.alloc_tile : <32x128xf16
// CHECK: %[[STAGING:.*]] = kernel.alloc_tile over(%[[ROWS]], %[[COLUMNS]] : {{.*}}) : <64x128xf32, #kernel.staged<64 x 32>, stages = 1>
// CHECK: %[[SUMS:.*]]:5 = scf.for
// CHECK: kernel.wait_copies 0
// CHECK: gpu.barrier
// CHECK: %[[PIECE:.*]] = kernel.slice_fragment %[[SUMS]]#0[0] : <128 by 128 of f32, {{.*}}> -> <64 by 128 of f32
// CHECK-NEXT: kernel.write_tile %[[PIECE]] to %[[STAGING]]
// CHECK: nvvm.bar.warp.sync
// CHECK: %[[MINE:.*]] = kernel.load_fragment %[[STAGING]]{{.*}} -> <64 by 128 of f32, #kernel.warp_rows<vector = 16, warps = 1 x 4>>
// CHECK: kernel.store_fragment %[[MINE]] reading %{{.*}} widths [4] to %{{.*}} vector 16
// CHECK: math.roundeven
// CHECK: arith.fptosi
// CHECK: kernel.slice_fragment %[[SUMS]]#0[1]
// CHECK: nvvm.bar.warp.sync
// CHECK: kernel.write_tile
// CHECK: nvvm.bar.warp.sync
// CHECK: kernel.store_fragment
// CHECK-NOT: gpu.barrier
rt.variant @quantised target "sm_80" {
  func.func @main(%x: tensor<256x64xf16>, %w: tensor<64x128xf16>, %s: tensor<128xf32>) -> tensor<256x128xi8> {
    %e = tensor.empty() : tensor<256x128xi8>
    %r = kernel.dispatch ins(%x, %w, %s : tensor<256x64xf16>, tensor<64x128xf16>, tensor<128xf32>) outs(%e : tensor<256x128xi8>)
        schedule <"mma", {column_lines = "across", column_vector = 8 : i64, copies = "async", instruction = array<i64: 16, 8, 16>, row_lines = "depth", row_vector = 8 : i64, stages = 3 : i64, store_vector = 16 : i64, tile = array<i64: 128, 128, 32>, warps = array<i64: 1, 4>}> {
    ^bb0(%a: tensor<256x64xf16>, %b: tensor<64x128xf16>, %scale: tensor<128xf32>, %o: tensor<256x128xi8>):
      %zero = arith.constant 0.0 : f32
      %low = arith.constant -128.0 : f32
      %high = arith.constant 127.0 : f32
      %i = tensor.empty() : tensor<256x128xf32>
      %f = linalg.fill ins(%zero : f32) outs(%i : tensor<256x128xf32>) -> tensor<256x128xf32>
      %g = linalg.generic {indexing_maps = [#a, #b, #y], iterator_types = ["parallel", "parallel", "reduction"]}
          ins(%a, %b : tensor<256x64xf16>, tensor<64x128xf16>) outs(%f : tensor<256x128xf32>) {
      ^bb1(%p: f16, %q: f16, %t: f32):
        %pw = arith.extf %p : f16 to f32
        %qw = arith.extf %q : f16 to f32
        %u = math.fma %pw, %qw, %t : f32
        linalg.yield %u : f32
      } -> tensor<256x128xf32>
      %h = linalg.generic {indexing_maps = [#id, #column, #id], iterator_types = ["parallel", "parallel"]}
          ins(%g, %scale : tensor<256x128xf32>, tensor<128xf32>) outs(%o : tensor<256x128xi8>) {
      ^bb1(%p: f32, %q: f32, %old: i8):
        %t = arith.mulf %p, %q : f32
        %u = math.roundeven %t : f32
        %v = arith.maximumf %u, %low : f32
        %n = arith.minimumf %v, %high : f32
        %c = arith.fptosi %n : f32 to i8
        linalg.yield %c : i8
      } -> tensor<256x128xi8>
      kernel.yield %h : tensor<256x128xi8>
    } -> tensor<256x128xi8>
    return %r : tensor<256x128xi8>
  }
}

// -----

#a = affine_map<(m, n, k) -> (m, k)>
#b = affine_map<(m, n, k) -> (k, n)>
#y = affine_map<(m, n, k) -> (m, n)>
#id = affine_map<(m, n) -> (m, n)>

// All 32 rows of each warp at once, of sums and of what is added to them. Rows of a piece are where they are in
// the tile. Two results are read from what was written once.
// CHECK-LABEL: rt.variant @residual
// CHECK: kernel.alloc_tile over({{.*}}) : <64x64xf32, #kernel.staged<32 x 32>, stages = 1>
// CHECK: gpu.barrier
// CHECK: kernel.slice_fragment {{.*}}[0] : <64 by 64 of f32, {{.*}}> -> <64 by 64 of f32
// CHECK-COUNT-1: kernel.write_tile
// CHECK: %[[FIRST:.*]] = kernel.load_fragment {{.*}} -> <64 by 64 of f32, #kernel.warp_rows<vector = 8, warps = 2 x 2>>
// CHECK: kernel.store_fragment %[[FIRST]] reading %{{.*}} widths [8] to %{{.*}} vector 8
// CHECK: %[[SECOND:.*]] = kernel.load_fragment {{.*}} -> <64 by 64 of f32, #kernel.warp_rows<vector = 4, warps = 2 x 2>>
// CHECK: kernel.store_fragment %[[SECOND]] to %{{.*}} vector 4
rt.variant @residual target "sm_80" {
  func.func @main(%x: tensor<256x64xf16>, %w: tensor<64x128xf16>, %z: tensor<256x128xf16>) -> (tensor<256x128xf16>, tensor<256x128xf32>) {
    %e = tensor.empty() : tensor<256x128xf16>
    %e2 = tensor.empty() : tensor<256x128xf32>
    %r:2 = kernel.dispatch ins(%x, %w, %z : tensor<256x64xf16>, tensor<64x128xf16>, tensor<256x128xf16>) outs(%e, %e2 : tensor<256x128xf16>, tensor<256x128xf32>)
        schedule <"mma", {column_lines = "across", column_vector = 8 : i64, copies = "async", instruction = array<i64: 16, 8, 16>, row_lines = "depth", row_vector = 8 : i64, stages = 3 : i64, store_vector = 8 : i64, tile = array<i64: 64, 64, 32>, warps = array<i64: 2, 2>}> {
    ^bb0(%a: tensor<256x64xf16>, %b: tensor<64x128xf16>, %before: tensor<256x128xf16>, %o: tensor<256x128xf16>, %o2: tensor<256x128xf32>):
      %zero = arith.constant 0.0 : f32
      %f = linalg.fill ins(%zero : f32) outs(%o2 : tensor<256x128xf32>) -> tensor<256x128xf32>
      %g = linalg.generic {indexing_maps = [#a, #b, #y], iterator_types = ["parallel", "parallel", "reduction"]}
          ins(%a, %b : tensor<256x64xf16>, tensor<64x128xf16>) outs(%f : tensor<256x128xf32>) {
      ^bb1(%p: f16, %q: f16, %t: f32):
        %pw = arith.extf %p : f16 to f32
        %qw = arith.extf %q : f16 to f32
        %u = math.fma %pw, %qw, %t : f32
        linalg.yield %u : f32
      } -> tensor<256x128xf32>
      %h = linalg.generic {indexing_maps = [#id, #id, #id], iterator_types = ["parallel", "parallel"]}
          ins(%g, %before : tensor<256x128xf32>, tensor<256x128xf16>) outs(%o : tensor<256x128xf16>) {
      ^bb1(%p: f32, %q: f16, %old: f16):
        %wide = arith.extf %q : f16 to f32
        %t = arith.addf %p, %wide : f32
        %n = arith.truncf %t : f32 to f16
        linalg.yield %n : f16
      } -> tensor<256x128xf16>
      kernel.yield %h, %g : tensor<256x128xf16>, tensor<256x128xf32>
    } -> tensor<256x128xf16>, tensor<256x128xf32>
    return %r#0, %r#1 : tensor<256x128xf16>, tensor<256x128xf32>
  }
}
