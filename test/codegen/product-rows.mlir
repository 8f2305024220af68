// RUN: cameo-opt %s --split-input-file --pass-pipeline='builtin.module(rt.variant(cameo-assign-schedules))' | FileCheck %s --check-prefix=CHOICE
// RUN: cameo-opt %s --split-input-file --pass-pipeline='builtin.module(rt.variant(cameo-assign-schedules,cameo-lower-dispatches))' | FileCheck %s

// Products whose rows are reduced by the block that has them.

// Warps share what is staged, 16 rows of each of two, so that each has whole rows: eight of 64 columns. The
// mask is loaded before the barrier that all wait at for the last products. What is computed once is kept.
// CHECK-LABEL: rt.variant @matrix
// CHECK: kernel.alloc_tile over({{.*}}) : <32x64xf32, #kernel.staged<16 x 32>, stages = 1>
// CHECK: %[[SUMS:.*]]:5 = scf.for
// CHECK: kernel.wait_copies 0
// CHECK: %[[MASK:.*]] = kernel.load_global %{{.*}} widths [4] together 4
// CHECK: gpu.barrier
// CHECK: kernel.slice_fragment %[[SUMS]]#0[0]
// CHECK: kernel.write_tile
// CHECK: gpu.barrier
// CHECK: %[[MINE:.*]] = kernel.load_fragment {{.*}} -> <32 by 64 of f32, #kernel.warp_rows<vector = 4, warps = 4 x 1>>
// CHECK: %[[X:.*]] = kernel.map_fragment %[[MINE]], %[[MASK]]
// CHECK: arith.addf
// CHECK: %[[MOST:.*]] = kernel.reduce_rows %[[MINE]], %[[X]] from %{{.*}}
// CHECK: arith.maximumf
// CHECK-NOT: arith.select
// CHECK: } combine {
// CHECK: arith.maximumf
// CHECK: %[[SUM:.*]] = kernel.reduce_rows %[[MINE]], %[[X]], %[[MOST]] from
// CHECK: math.exp
// CHECK: } combine {
// CHECK: arith.addf
// CHECK: kernel.store_fragment %[[MINE]] with %[[X]], %[[MOST]], %[[SUM]] : {{.*}} to %{{.*}} vector 4
// CHECK: math.exp
// CHECK: arith.divf
// CHECK: kernel.load_global
// CHECK: gpu.barrier
// CHECK: kernel.slice_fragment %[[SUMS]]#0[1]
// CHECK: kernel.write_tile
// CHECK: gpu.barrier
// CHECK: kernel.store_fragment
// CHECK-NOT: gpu.barrier
#a = affine_map<(m, n, k) -> (m, k)>
#b = affine_map<(m, n, k) -> (k, n)>
#y = affine_map<(m, n, k) -> (m, n)>
#id = affine_map<(m, n) -> (m, n)>
#row = affine_map<(m, n) -> (m)>
rt.variant @matrix target "sm_80" {
  func.func @main(%x: tensor<256x64xf16>, %w: tensor<64x64xf16>, %b: tensor<256x64xf32>) -> tensor<256x64xf32> {
    %e = tensor.empty() : tensor<256x64xf32>
    %r = kernel.dispatch ins(%x, %w, %b : tensor<256x64xf16>, tensor<64x64xf16>, tensor<256x64xf32>) outs(%e : tensor<256x64xf32>) schedule <"mma", {column_lines = "across", column_vector = 8 : i64, copies = "async", instruction = array<i64: 16, 8, 16>, row_lines = "depth", row_vector = 8 : i64, stages = 3 : i64, store_vector = 4 : i64, tile = array<i64: 64, 64, 32>, warps = array<i64: 2, 2>}> {
    ^bb0(%l: tensor<256x64xf16>, %q: tensor<64x64xf16>, %mask: tensor<256x64xf32>, %o: tensor<256x64xf32>):
      %zero = arith.constant 0.0 : f32
      %low = arith.constant 0xFF800000 : f32
      %t = tensor.empty() : tensor<256xf32>
      %f = linalg.fill ins(%zero : f32) outs(%o : tensor<256x64xf32>) -> tensor<256x64xf32>
      %p = linalg.generic {indexing_maps = [#a, #b, #y], iterator_types = ["parallel", "parallel", "reduction"]}
          ins(%l, %q : tensor<256x64xf16>, tensor<64x64xf16>) outs(%f : tensor<256x64xf32>) {
      ^bb1(%u: f16, %v: f16, %s: f32):
        %uw = arith.extf %u : f16 to f32
        %vw = arith.extf %v : f16 to f32
        %d = math.fma %uw, %vw, %s : f32
        linalg.yield %d : f32
      } -> tensor<256x64xf32>
      %z = linalg.generic {indexing_maps = [#id, #id, #id], iterator_types = ["parallel", "parallel"]}
          ins(%p, %mask : tensor<256x64xf32>, tensor<256x64xf32>) outs(%o : tensor<256x64xf32>) {
      ^bb1(%u: f32, %v: f32, %s: f32):
        %d = arith.addf %u, %v : f32
        linalg.yield %d : f32
      } -> tensor<256x64xf32>
      %lows = linalg.fill ins(%low : f32) outs(%t : tensor<256xf32>) -> tensor<256xf32>
      %most = linalg.generic {indexing_maps = [#id, #row], iterator_types = ["parallel", "reduction"]}
          ins(%z : tensor<256x64xf32>) outs(%lows : tensor<256xf32>) {
      ^bb1(%u: f32, %s: f32):
        %d = arith.maximumf %s, %u : f32
        linalg.yield %d : f32
      } -> tensor<256xf32>
      %zeros = linalg.fill ins(%zero : f32) outs(%t : tensor<256xf32>) -> tensor<256xf32>
      %sum = linalg.generic {indexing_maps = [#id, #row, #row], iterator_types = ["parallel", "reduction"]}
          ins(%z, %most : tensor<256x64xf32>, tensor<256xf32>) outs(%zeros : tensor<256xf32>) {
      ^bb1(%u: f32, %v: f32, %s: f32):
        %c = arith.subf %u, %v : f32
        %d = math.exp %c : f32
        %g = arith.addf %s, %d : f32
        linalg.yield %g : f32
      } -> tensor<256xf32>
      %out = linalg.generic {indexing_maps = [#id, #row, #row, #id], iterator_types = ["parallel", "parallel"]}
          ins(%z, %most, %sum : tensor<256x64xf32>, tensor<256xf32>, tensor<256xf32>) outs(%o : tensor<256x64xf32>) {
      ^bb1(%u: f32, %v: f32, %h: f32, %s: f32):
        %c = arith.subf %u, %v : f32
        %d = math.exp %c : f32
        %g = arith.divf %d, %h : f32
        linalg.yield %g : f32
      } -> tensor<256x64xf32>
      kernel.yield %out : tensor<256x64xf32>
    } -> tensor<256x64xf32>
    return %r : tensor<256x64xf32>
  }
}

// -----

// Sums stay with their threads, of which 16 lanes share rows. Columns beside the 60 there are take no part.
// CHECK-LABEL: rt.variant @lanes
// CHECK: scf.for
// CHECK: %[[MASK:.*]] = kernel.load_global %{{.*}} widths [4] together 4
// CHECK: %[[X:.*]] = kernel.map_fragment %[[SUMS:.*]], %[[MASK]]
// CHECK: %[[MOST:.*]] = kernel.reduce_rows %[[SUMS]], %[[X]] from
// CHECK: %[[NEXT:.*]] = arith.maximumf %[[SOFAR:.*]], %
// CHECK: %[[INSIDE:.*]] = arith.cmpi ult, %{{.*}}, %c60
// CHECK: %[[KEPT:.*]] = arith.select %[[INSIDE]], %[[NEXT]], %[[SOFAR]]
// CHECK: kernel.yield %[[KEPT]]
// CHECK: } combine {
#a = affine_map<(m, n, k) -> (m, k)>
#b = affine_map<(m, n, k) -> (k, n)>
#y = affine_map<(m, n, k) -> (m, n)>
#id = affine_map<(m, n) -> (m, n)>
#row = affine_map<(m, n) -> (m)>
rt.variant @lanes target "sm_80" {
  func.func @main(%x: tensor<96x32xf32>, %w: tensor<32x60xf32>, %b: tensor<96x60xf32>) -> tensor<96x60xf32> {
    %e = tensor.empty() : tensor<96x60xf32>
    %r = kernel.dispatch ins(%x, %w, %b : tensor<96x32xf32>, tensor<32x60xf32>, tensor<96x60xf32>) outs(%e : tensor<96x60xf32>) schedule <"contraction", {column_vector = array<i64: 4, 1>, row_vector = array<i64: 1, 4>, store_vector = 4 : i64, thread = array<i64: 4, 4>, tile = array<i64: 32, 64, 16>}> {
    ^bb0(%l: tensor<96x32xf32>, %q: tensor<32x60xf32>, %mask: tensor<96x60xf32>, %o: tensor<96x60xf32>):
      %zero = arith.constant 0.0 : f32
      %low = arith.constant 0xFF800000 : f32
      %t = tensor.empty() : tensor<96xf32>
      %f = linalg.fill ins(%zero : f32) outs(%o : tensor<96x60xf32>) -> tensor<96x60xf32>
      %p = linalg.generic {indexing_maps = [#a, #b, #y], iterator_types = ["parallel", "parallel", "reduction"]}
          ins(%l, %q : tensor<96x32xf32>, tensor<32x60xf32>) outs(%f : tensor<96x60xf32>) {
      ^bb1(%u: f32, %v: f32, %s: f32):
        %d = math.fma %u, %v, %s : f32
        linalg.yield %d : f32
      } -> tensor<96x60xf32>
      %z = linalg.generic {indexing_maps = [#id, #id, #id], iterator_types = ["parallel", "parallel"]}
          ins(%p, %mask : tensor<96x60xf32>, tensor<96x60xf32>) outs(%o : tensor<96x60xf32>) {
      ^bb1(%u: f32, %v: f32, %s: f32):
        %d = arith.addf %u, %v : f32
        linalg.yield %d : f32
      } -> tensor<96x60xf32>
      %lows = linalg.fill ins(%low : f32) outs(%t : tensor<96xf32>) -> tensor<96xf32>
      %most = linalg.generic {indexing_maps = [#id, #row], iterator_types = ["parallel", "reduction"]}
          ins(%z : tensor<96x60xf32>) outs(%lows : tensor<96xf32>) {
      ^bb1(%u: f32, %s: f32):
        %d = arith.maximumf %s, %u : f32
        linalg.yield %d : f32
      } -> tensor<96xf32>
      %zeros = linalg.fill ins(%zero : f32) outs(%t : tensor<96xf32>) -> tensor<96xf32>
      %sum = linalg.generic {indexing_maps = [#id, #row, #row], iterator_types = ["parallel", "reduction"]}
          ins(%z, %most : tensor<96x60xf32>, tensor<96xf32>) outs(%zeros : tensor<96xf32>) {
      ^bb1(%u: f32, %v: f32, %s: f32):
        %c = arith.subf %u, %v : f32
        %d = math.exp %c : f32
        %g = arith.addf %s, %d : f32
        linalg.yield %g : f32
      } -> tensor<96xf32>
      %out = linalg.generic {indexing_maps = [#id, #row, #row, #id], iterator_types = ["parallel", "parallel"]}
          ins(%z, %most, %sum : tensor<96x60xf32>, tensor<96xf32>, tensor<96xf32>) outs(%o : tensor<96x60xf32>) {
      ^bb1(%u: f32, %v: f32, %h: f32, %s: f32):
        %c = arith.subf %u, %v : f32
        %d = math.exp %c : f32
        %g = arith.divf %d, %h : f32
        linalg.yield %g : f32
      } -> tensor<96x60xf32>
      kernel.yield %out : tensor<96x60xf32>
    } -> tensor<96x60xf32>
    return %r : tensor<96x60xf32>
  }
}

// -----

// Tiles that are chosen have all columns: 256 for 200 of them, though 128 would do for a product alone.
// CHOICE-LABEL: rt.variant @chosen
// CHOICE: kernel.dispatch {{.*}} schedule <"mma", {{.*}}tile = array<i64: {{[0-9]+}}, 256, {{[0-9]+}}>
// CHOICE-NOT: kernel.dispatch
#a = affine_map<(m, n, k) -> (m, k)>
#b = affine_map<(m, n, k) -> (k, n)>
#y = affine_map<(m, n, k) -> (m, n)>
#id = affine_map<(m, n) -> (m, n)>
#row = affine_map<(m, n) -> (m)>
rt.variant @chosen target "sm_80" {
  func.func @main(%x: tensor<4096x64xf16>, %w: tensor<64x200xf16>, %b: tensor<4096x200xf32>) -> tensor<4096x200xf32> {
    %e = tensor.empty() : tensor<4096x200xf32>
    %r = kernel.dispatch ins(%x, %w, %b : tensor<4096x64xf16>, tensor<64x200xf16>, tensor<4096x200xf32>) outs(%e : tensor<4096x200xf32>) {
    ^bb0(%l: tensor<4096x64xf16>, %q: tensor<64x200xf16>, %mask: tensor<4096x200xf32>, %o: tensor<4096x200xf32>):
      %zero = arith.constant 0.0 : f32
      %low = arith.constant 0xFF800000 : f32
      %t = tensor.empty() : tensor<4096xf32>
      %f = linalg.fill ins(%zero : f32) outs(%o : tensor<4096x200xf32>) -> tensor<4096x200xf32>
      %p = linalg.generic {indexing_maps = [#a, #b, #y], iterator_types = ["parallel", "parallel", "reduction"]}
          ins(%l, %q : tensor<4096x64xf16>, tensor<64x200xf16>) outs(%f : tensor<4096x200xf32>) {
      ^bb1(%u: f16, %v: f16, %s: f32):
        %uw = arith.extf %u : f16 to f32
        %vw = arith.extf %v : f16 to f32
        %d = math.fma %uw, %vw, %s : f32
        linalg.yield %d : f32
      } -> tensor<4096x200xf32>
      %z = linalg.generic {indexing_maps = [#id, #id, #id], iterator_types = ["parallel", "parallel"]}
          ins(%p, %mask : tensor<4096x200xf32>, tensor<4096x200xf32>) outs(%o : tensor<4096x200xf32>) {
      ^bb1(%u: f32, %v: f32, %s: f32):
        %d = arith.addf %u, %v : f32
        linalg.yield %d : f32
      } -> tensor<4096x200xf32>
      %lows = linalg.fill ins(%low : f32) outs(%t : tensor<4096xf32>) -> tensor<4096xf32>
      %most = linalg.generic {indexing_maps = [#id, #row], iterator_types = ["parallel", "reduction"]}
          ins(%z : tensor<4096x200xf32>) outs(%lows : tensor<4096xf32>) {
      ^bb1(%u: f32, %s: f32):
        %d = arith.maximumf %s, %u : f32
        linalg.yield %d : f32
      } -> tensor<4096xf32>
      %zeros = linalg.fill ins(%zero : f32) outs(%t : tensor<4096xf32>) -> tensor<4096xf32>
      %sum = linalg.generic {indexing_maps = [#id, #row, #row], iterator_types = ["parallel", "reduction"]}
          ins(%z, %most : tensor<4096x200xf32>, tensor<4096xf32>) outs(%zeros : tensor<4096xf32>) {
      ^bb1(%u: f32, %v: f32, %s: f32):
        %c = arith.subf %u, %v : f32
        %d = math.exp %c : f32
        %g = arith.addf %s, %d : f32
        linalg.yield %g : f32
      } -> tensor<4096xf32>
      %out = linalg.generic {indexing_maps = [#id, #row, #row, #id], iterator_types = ["parallel", "parallel"]}
          ins(%z, %most, %sum : tensor<4096x200xf32>, tensor<4096xf32>, tensor<4096xf32>) outs(%o : tensor<4096x200xf32>) {
      ^bb1(%u: f32, %v: f32, %h: f32, %s: f32):
        %c = arith.subf %u, %v : f32
        %d = math.exp %c : f32
        %g = arith.divf %d, %h : f32
        linalg.yield %g : f32
      } -> tensor<4096x200xf32>
      kernel.yield %out : tensor<4096x200xf32>
    } -> tensor<4096x200xf32>
    return %r : tensor<4096x200xf32>
  }
}

// -----

// Where rows are few, blocks have 16 of them each.
// CHOICE-LABEL: rt.variant @few_rows
// CHOICE: kernel.dispatch {{.*}} schedule <"mma", {{.*}}tile = array<i64: 16, 256, {{[0-9]+}}>
// CHOICE-NOT: kernel.dispatch
#a = affine_map<(m, n, k) -> (m, k)>
#b = affine_map<(m, n, k) -> (k, n)>
#y = affine_map<(m, n, k) -> (m, n)>
#id = affine_map<(m, n) -> (m, n)>
#row = affine_map<(m, n) -> (m)>
rt.variant @few_rows target "sm_80" {
  func.func @main(%x: tensor<48x64xf16>, %w: tensor<64x200xf16>, %b: tensor<48x200xf32>) -> tensor<48x200xf32> {
    %e = tensor.empty() : tensor<48x200xf32>
    %r = kernel.dispatch ins(%x, %w, %b : tensor<48x64xf16>, tensor<64x200xf16>, tensor<48x200xf32>) outs(%e : tensor<48x200xf32>) {
    ^bb0(%l: tensor<48x64xf16>, %q: tensor<64x200xf16>, %mask: tensor<48x200xf32>, %o: tensor<48x200xf32>):
      %zero = arith.constant 0.0 : f32
      %low = arith.constant 0xFF800000 : f32
      %t = tensor.empty() : tensor<48xf32>
      %f = linalg.fill ins(%zero : f32) outs(%o : tensor<48x200xf32>) -> tensor<48x200xf32>
      %p = linalg.generic {indexing_maps = [#a, #b, #y], iterator_types = ["parallel", "parallel", "reduction"]}
          ins(%l, %q : tensor<48x64xf16>, tensor<64x200xf16>) outs(%f : tensor<48x200xf32>) {
      ^bb1(%u: f16, %v: f16, %s: f32):
        %uw = arith.extf %u : f16 to f32
        %vw = arith.extf %v : f16 to f32
        %d = math.fma %uw, %vw, %s : f32
        linalg.yield %d : f32
      } -> tensor<48x200xf32>
      %z = linalg.generic {indexing_maps = [#id, #id, #id], iterator_types = ["parallel", "parallel"]}
          ins(%p, %mask : tensor<48x200xf32>, tensor<48x200xf32>) outs(%o : tensor<48x200xf32>) {
      ^bb1(%u: f32, %v: f32, %s: f32):
        %d = arith.addf %u, %v : f32
        linalg.yield %d : f32
      } -> tensor<48x200xf32>
      %lows = linalg.fill ins(%low : f32) outs(%t : tensor<48xf32>) -> tensor<48xf32>
      %most = linalg.generic {indexing_maps = [#id, #row], iterator_types = ["parallel", "reduction"]}
          ins(%z : tensor<48x200xf32>) outs(%lows : tensor<48xf32>) {
      ^bb1(%u: f32, %s: f32):
        %d = arith.maximumf %s, %u : f32
        linalg.yield %d : f32
      } -> tensor<48xf32>
      %zeros = linalg.fill ins(%zero : f32) outs(%t : tensor<48xf32>) -> tensor<48xf32>
      %sum = linalg.generic {indexing_maps = [#id, #row, #row], iterator_types = ["parallel", "reduction"]}
          ins(%z, %most : tensor<48x200xf32>, tensor<48xf32>) outs(%zeros : tensor<48xf32>) {
      ^bb1(%u: f32, %v: f32, %s: f32):
        %c = arith.subf %u, %v : f32
        %d = math.exp %c : f32
        %g = arith.addf %s, %d : f32
        linalg.yield %g : f32
      } -> tensor<48xf32>
      %out = linalg.generic {indexing_maps = [#id, #row, #row, #id], iterator_types = ["parallel", "parallel"]}
          ins(%z, %most, %sum : tensor<48x200xf32>, tensor<48xf32>, tensor<48xf32>) outs(%o : tensor<48x200xf32>) {
      ^bb1(%u: f32, %v: f32, %h: f32, %s: f32):
        %c = arith.subf %u, %v : f32
        %d = math.exp %c : f32
        %g = arith.divf %d, %h : f32
        linalg.yield %g : f32
      } -> tensor<48x200xf32>
      kernel.yield %out : tensor<48x200xf32>
    } -> tensor<48x200xf32>
    return %r : tensor<48x200xf32>
  }
}

// -----

// CHOICE-LABEL: rt.variant @chosen_lanes
// CHOICE: kernel.dispatch {{.*}} schedule <"contraction", {{.*}}tile = array<i64: {{[0-9]+}}, 128, 16>
// CHOICE-NOT: kernel.dispatch
#a = affine_map<(m, n, k) -> (m, k)>
#b = affine_map<(m, n, k) -> (k, n)>
#y = affine_map<(m, n, k) -> (m, n)>
#id = affine_map<(m, n) -> (m, n)>
#row = affine_map<(m, n) -> (m)>
rt.variant @chosen_lanes target "sm_80" {
  func.func @main(%x: tensor<4096x64xf32>, %w: tensor<64x100xf32>, %b: tensor<4096x100xf32>) -> tensor<4096x100xf32> {
    %e = tensor.empty() : tensor<4096x100xf32>
    %r = kernel.dispatch ins(%x, %w, %b : tensor<4096x64xf32>, tensor<64x100xf32>, tensor<4096x100xf32>) outs(%e : tensor<4096x100xf32>) {
    ^bb0(%l: tensor<4096x64xf32>, %q: tensor<64x100xf32>, %mask: tensor<4096x100xf32>, %o: tensor<4096x100xf32>):
      %zero = arith.constant 0.0 : f32
      %low = arith.constant 0xFF800000 : f32
      %t = tensor.empty() : tensor<4096xf32>
      %f = linalg.fill ins(%zero : f32) outs(%o : tensor<4096x100xf32>) -> tensor<4096x100xf32>
      %p = linalg.generic {indexing_maps = [#a, #b, #y], iterator_types = ["parallel", "parallel", "reduction"]}
          ins(%l, %q : tensor<4096x64xf32>, tensor<64x100xf32>) outs(%f : tensor<4096x100xf32>) {
      ^bb1(%u: f32, %v: f32, %s: f32):
        %d = math.fma %u, %v, %s : f32
        linalg.yield %d : f32
      } -> tensor<4096x100xf32>
      %z = linalg.generic {indexing_maps = [#id, #id, #id], iterator_types = ["parallel", "parallel"]}
          ins(%p, %mask : tensor<4096x100xf32>, tensor<4096x100xf32>) outs(%o : tensor<4096x100xf32>) {
      ^bb1(%u: f32, %v: f32, %s: f32):
        %d = arith.addf %u, %v : f32
        linalg.yield %d : f32
      } -> tensor<4096x100xf32>
      %lows = linalg.fill ins(%low : f32) outs(%t : tensor<4096xf32>) -> tensor<4096xf32>
      %most = linalg.generic {indexing_maps = [#id, #row], iterator_types = ["parallel", "reduction"]}
          ins(%z : tensor<4096x100xf32>) outs(%lows : tensor<4096xf32>) {
      ^bb1(%u: f32, %s: f32):
        %d = arith.maximumf %s, %u : f32
        linalg.yield %d : f32
      } -> tensor<4096xf32>
      %zeros = linalg.fill ins(%zero : f32) outs(%t : tensor<4096xf32>) -> tensor<4096xf32>
      %sum = linalg.generic {indexing_maps = [#id, #row, #row], iterator_types = ["parallel", "reduction"]}
          ins(%z, %most : tensor<4096x100xf32>, tensor<4096xf32>) outs(%zeros : tensor<4096xf32>) {
      ^bb1(%u: f32, %v: f32, %s: f32):
        %c = arith.subf %u, %v : f32
        %d = math.exp %c : f32
        %g = arith.addf %s, %d : f32
        linalg.yield %g : f32
      } -> tensor<4096xf32>
      %out = linalg.generic {indexing_maps = [#id, #row, #row, #id], iterator_types = ["parallel", "parallel"]}
          ins(%z, %most, %sum : tensor<4096x100xf32>, tensor<4096xf32>, tensor<4096xf32>) outs(%o : tensor<4096x100xf32>) {
      ^bb1(%u: f32, %v: f32, %h: f32, %s: f32):
        %c = arith.subf %u, %v : f32
        %d = math.exp %c : f32
        %g = arith.divf %d, %h : f32
        linalg.yield %g : f32
      } -> tensor<4096x100xf32>
      kernel.yield %out : tensor<4096x100xf32>
    } -> tensor<4096x100xf32>
    return %r : tensor<4096x100xf32>
  }
}

// -----

// No tile has rows of 300: the product with its mask, and what is computed of that.
// CHOICE-LABEL: rt.variant @long
// CHOICE: %[[X:.*]] = kernel.dispatch ins(%{{.*}}, %{{.*}}, %{{.*}} : {{.*}} schedule <"mma"
// CHOICE: arith.addf
// CHOICE: kernel.dispatch ins(%[[X]] : tensor<256x300xf32>) {{.*}} schedule <"rows"
#a = affine_map<(m, n, k) -> (m, k)>
#b = affine_map<(m, n, k) -> (k, n)>
#y = affine_map<(m, n, k) -> (m, n)>
#id = affine_map<(m, n) -> (m, n)>
#row = affine_map<(m, n) -> (m)>
rt.variant @long target "sm_80" {
  func.func @main(%x: tensor<256x64xf16>, %w: tensor<64x300xf16>, %b: tensor<256x300xf32>) -> tensor<256x300xf32> {
    %e = tensor.empty() : tensor<256x300xf32>
    %r = kernel.dispatch ins(%x, %w, %b : tensor<256x64xf16>, tensor<64x300xf16>, tensor<256x300xf32>) outs(%e : tensor<256x300xf32>) {
    ^bb0(%l: tensor<256x64xf16>, %q: tensor<64x300xf16>, %mask: tensor<256x300xf32>, %o: tensor<256x300xf32>):
      %zero = arith.constant 0.0 : f32
      %low = arith.constant 0xFF800000 : f32
      %t = tensor.empty() : tensor<256xf32>
      %f = linalg.fill ins(%zero : f32) outs(%o : tensor<256x300xf32>) -> tensor<256x300xf32>
      %p = linalg.generic {indexing_maps = [#a, #b, #y], iterator_types = ["parallel", "parallel", "reduction"]}
          ins(%l, %q : tensor<256x64xf16>, tensor<64x300xf16>) outs(%f : tensor<256x300xf32>) {
      ^bb1(%u: f16, %v: f16, %s: f32):
        %uw = arith.extf %u : f16 to f32
        %vw = arith.extf %v : f16 to f32
        %d = math.fma %uw, %vw, %s : f32
        linalg.yield %d : f32
      } -> tensor<256x300xf32>
      %z = linalg.generic {indexing_maps = [#id, #id, #id], iterator_types = ["parallel", "parallel"]}
          ins(%p, %mask : tensor<256x300xf32>, tensor<256x300xf32>) outs(%o : tensor<256x300xf32>) {
      ^bb1(%u: f32, %v: f32, %s: f32):
        %d = arith.addf %u, %v : f32
        linalg.yield %d : f32
      } -> tensor<256x300xf32>
      %lows = linalg.fill ins(%low : f32) outs(%t : tensor<256xf32>) -> tensor<256xf32>
      %most = linalg.generic {indexing_maps = [#id, #row], iterator_types = ["parallel", "reduction"]}
          ins(%z : tensor<256x300xf32>) outs(%lows : tensor<256xf32>) {
      ^bb1(%u: f32, %s: f32):
        %d = arith.maximumf %s, %u : f32
        linalg.yield %d : f32
      } -> tensor<256xf32>
      %zeros = linalg.fill ins(%zero : f32) outs(%t : tensor<256xf32>) -> tensor<256xf32>
      %sum = linalg.generic {indexing_maps = [#id, #row, #row], iterator_types = ["parallel", "reduction"]}
          ins(%z, %most : tensor<256x300xf32>, tensor<256xf32>) outs(%zeros : tensor<256xf32>) {
      ^bb1(%u: f32, %v: f32, %s: f32):
        %c = arith.subf %u, %v : f32
        %d = math.exp %c : f32
        %g = arith.addf %s, %d : f32
        linalg.yield %g : f32
      } -> tensor<256xf32>
      %out = linalg.generic {indexing_maps = [#id, #row, #row, #id], iterator_types = ["parallel", "parallel"]}
          ins(%z, %most, %sum : tensor<256x300xf32>, tensor<256xf32>, tensor<256xf32>) outs(%o : tensor<256x300xf32>) {
      ^bb1(%u: f32, %v: f32, %h: f32, %s: f32):
        %c = arith.subf %u, %v : f32
        %d = math.exp %c : f32
        %g = arith.divf %d, %h : f32
        linalg.yield %g : f32
      } -> tensor<256x300xf32>
      kernel.yield %out : tensor<256x300xf32>
    } -> tensor<256x300xf32>
    return %r : tensor<256x300xf32>
  }
}

// -----

// A depth that blocks share.
// CHOICE-LABEL: rt.variant @deep
// CHOICE: %[[X:.*]] = kernel.dispatch {{.*}} schedule <"contraction", {{.*}}splits =
// CHOICE: kernel.dispatch ins(%[[X]] : tensor<32x64xf32>) {{.*}} schedule <"rows"
#a = affine_map<(m, n, k) -> (m, k)>
#b = affine_map<(m, n, k) -> (k, n)>
#y = affine_map<(m, n, k) -> (m, n)>
#id = affine_map<(m, n) -> (m, n)>
#row = affine_map<(m, n) -> (m)>
rt.variant @deep target "sm_80" {
  func.func @main(%x: tensor<32x8192xf32>, %w: tensor<8192x64xf32>, %b: tensor<32x64xf32>) -> tensor<32x64xf32> {
    %e = tensor.empty() : tensor<32x64xf32>
    %r = kernel.dispatch ins(%x, %w, %b : tensor<32x8192xf32>, tensor<8192x64xf32>, tensor<32x64xf32>) outs(%e : tensor<32x64xf32>) {
    ^bb0(%l: tensor<32x8192xf32>, %q: tensor<8192x64xf32>, %mask: tensor<32x64xf32>, %o: tensor<32x64xf32>):
      %zero = arith.constant 0.0 : f32
      %low = arith.constant 0xFF800000 : f32
      %t = tensor.empty() : tensor<32xf32>
      %f = linalg.fill ins(%zero : f32) outs(%o : tensor<32x64xf32>) -> tensor<32x64xf32>
      %p = linalg.generic {indexing_maps = [#a, #b, #y], iterator_types = ["parallel", "parallel", "reduction"]}
          ins(%l, %q : tensor<32x8192xf32>, tensor<8192x64xf32>) outs(%f : tensor<32x64xf32>) {
      ^bb1(%u: f32, %v: f32, %s: f32):
        %d = math.fma %u, %v, %s : f32
        linalg.yield %d : f32
      } -> tensor<32x64xf32>
      %z = linalg.generic {indexing_maps = [#id, #id, #id], iterator_types = ["parallel", "parallel"]}
          ins(%p, %mask : tensor<32x64xf32>, tensor<32x64xf32>) outs(%o : tensor<32x64xf32>) {
      ^bb1(%u: f32, %v: f32, %s: f32):
        %d = arith.addf %u, %v : f32
        linalg.yield %d : f32
      } -> tensor<32x64xf32>
      %lows = linalg.fill ins(%low : f32) outs(%t : tensor<32xf32>) -> tensor<32xf32>
      %most = linalg.generic {indexing_maps = [#id, #row], iterator_types = ["parallel", "reduction"]}
          ins(%z : tensor<32x64xf32>) outs(%lows : tensor<32xf32>) {
      ^bb1(%u: f32, %s: f32):
        %d = arith.maximumf %s, %u : f32
        linalg.yield %d : f32
      } -> tensor<32xf32>
      %zeros = linalg.fill ins(%zero : f32) outs(%t : tensor<32xf32>) -> tensor<32xf32>
      %sum = linalg.generic {indexing_maps = [#id, #row, #row], iterator_types = ["parallel", "reduction"]}
          ins(%z, %most : tensor<32x64xf32>, tensor<32xf32>) outs(%zeros : tensor<32xf32>) {
      ^bb1(%u: f32, %v: f32, %s: f32):
        %c = arith.subf %u, %v : f32
        %d = math.exp %c : f32
        %g = arith.addf %s, %d : f32
        linalg.yield %g : f32
      } -> tensor<32xf32>
      %out = linalg.generic {indexing_maps = [#id, #row, #row, #id], iterator_types = ["parallel", "parallel"]}
          ins(%z, %most, %sum : tensor<32x64xf32>, tensor<32xf32>, tensor<32xf32>) outs(%o : tensor<32x64xf32>) {
      ^bb1(%u: f32, %v: f32, %h: f32, %s: f32):
        %c = arith.subf %u, %v : f32
        %d = math.exp %c : f32
        %g = arith.divf %d, %h : f32
        linalg.yield %g : f32
      } -> tensor<32x64xf32>
      kernel.yield %out : tensor<32x64xf32>
    } -> tensor<32x64xf32>
    return %r : tensor<32x64xf32>
  }
}
