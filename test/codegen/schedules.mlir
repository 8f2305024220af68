// RUN: cameo-opt %s --split-input-file --pass-pipeline='builtin.module(rt.variant(cameo-assign-schedules))' | FileCheck %s
// RUN: cameo-opt %s --split-input-file --pass-pipeline='builtin.module(rt.variant(cameo-assign-schedules,cameo-assign-schedules,cameo-lower-dispatches))' | FileCheck %s --check-prefix=KERNEL

// Elementwise work without regard to shape: flat, 16 bytes an access.
// CHECK-LABEL: rt.variant @flat
// CHECK: schedule <"map", {flat = true, threads = 256 : i64, vector = 4 : i64}>
// KERNEL-LABEL: rt.variant @flat
// KERNEL: rt.launch @[[K:.*]]::@[[K]] grid(%{{.*}}) args(%{{.*}} : tensor<64x4096xf32>, tensor<64x4096xf32>) writes [1] {kernel.bytes = 2097152 : i64, kernel.flops = 262144 : i64, rt.in_place = array<i64: 1, 0>} estimate <nanoseconds = {{[0-9]+}}, limit = {{[a-z]+}}> -> tensor<64x4096xf32>
// KERNEL: gpu.module @[[K]] attributes {kernel.index_bits = 32 : i32}
// KERNEL: gpu.func @[[K]](%{{.*}}: memref<?xf32, #gpu.address_space<global>>, %{{.*}}: memref<?xf32, #gpu.address_space<global>>)
// KERNEL-SAME: kernel attributes {kernel.block = array<i32: 256, 1, 1>
// KERNEL-SAME: kernel.no_sync
// KERNEL: vector.load {{.*}} {kernel.alignment = 16 : i64}
// KERNEL-COUNT-4: math.exp
// KERNEL: vector.store {{.*}} {kernel.alignment = 16 : i64}
#id = affine_map<(d0, d1) -> (d0, d1)>
rt.variant @flat target "sm_80" {
  func.func @main(%x: tensor<64x4096xf32>) -> tensor<64x4096xf32> {
    %e = tensor.empty() : tensor<64x4096xf32>
    %r = kernel.dispatch ins(%x : tensor<64x4096xf32>) outs(%e : tensor<64x4096xf32>) {
    ^bb0(%a: tensor<64x4096xf32>, %o: tensor<64x4096xf32>):
      %g = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel", "parallel"]}
          ins(%a : tensor<64x4096xf32>) outs(%o : tensor<64x4096xf32>) {
      ^bb1(%v: f32, %w: f32):
        %q = math.exp %v : f32
        linalg.yield %q : f32
      } -> tensor<64x4096xf32>
      kernel.yield %g : tensor<64x4096xf32>
    } -> tensor<64x4096xf32>
    return %r : tensor<64x4096xf32>
  }
}

// -----

// A product of matrices: tiles in shared memory, two stages, one barrier a step. A thread has few products
// in a step of depth: what the next one needs is written before them.
// CHECK-LABEL: rt.variant @product
// CHECK: schedule <"contraction", {column_vector = array<i64: 4, 1>
// KERNEL-LABEL: rt.variant @product
// KERNEL: gpu.func
// KERNEL: kernel.alloc_tile : {{.*}} stages = 2>
// KERNEL: kernel.alloc_tile : {{.*}} stages = 2>
// KERNEL: kernel.fill_fragment
// KERNEL-COUNT-2: kernel.load_global
// KERNEL-COUNT-2: kernel.write_tile
// KERNEL: scf.for
// KERNEL: gpu.barrier
// KERNEL-NOT: gpu.barrier
// KERNEL-COUNT-2: kernel.load_global
// KERNEL-COUNT-2: kernel.write_tile
// KERNEL-COUNT-16: kernel.contract
// KERNEL-NOT: gpu.barrier
// KERNEL: kernel.store_fragment {{.*}} vector 4
#a = affine_map<(m, n, k) -> (m, k)>
#b = affine_map<(m, n, k) -> (k, n)>
#c = affine_map<(m, n, k) -> (m, n)>
rt.variant @product target "sm_80" {
  func.func @main(%x: tensor<256x64xf32>, %y: tensor<64x512xf32>) -> tensor<256x512xf32> {
    %e = tensor.empty() : tensor<256x512xf32>
    %r = kernel.dispatch ins(%x, %y : tensor<256x64xf32>, tensor<64x512xf32>)
                         outs(%e : tensor<256x512xf32>) {
    ^bb0(%l: tensor<256x64xf32>, %m: tensor<64x512xf32>, %o: tensor<256x512xf32>):
      %z = arith.constant 0.0 : f32
      %f = linalg.fill ins(%z : f32) outs(%o : tensor<256x512xf32>) -> tensor<256x512xf32>
      %g = linalg.generic {indexing_maps = [#a, #b, #c],
                           iterator_types = ["parallel", "parallel", "reduction"]}
          ins(%l, %m : tensor<256x64xf32>, tensor<64x512xf32>) outs(%f : tensor<256x512xf32>) {
      ^bb1(%u: f32, %v: f32, %w: f32):
        %q = math.fma %u, %v, %w : f32
        linalg.yield %q : f32
      } -> tensor<256x512xf32>
      kernel.yield %g : tensor<256x512xf32>
    } -> tensor<256x512xf32>
    return %r : tensor<256x512xf32>
  }
}

// -----

// With many, and few loads, these are under way meanwhile. Deep tiles are multiplied in a loop.
// KERNEL-LABEL: rt.variant @product_ahead
// KERNEL: scf.for
// KERNEL: gpu.barrier
// KERNEL-NOT: gpu.barrier
// KERNEL-COUNT-2: kernel.load_global
// KERNEL-NOT: kernel.write_tile
// KERNEL: scf.for
// KERNEL-COUNT-4: kernel.contract
// KERNEL-NOT: kernel.contract
// KERNEL-COUNT-2: kernel.write_tile
// KERNEL: kernel.store_fragment
#a = affine_map<(m, n, k) -> (m, k)>
#b = affine_map<(m, n, k) -> (k, n)>
#c = affine_map<(m, n, k) -> (m, n)>
rt.variant @product_ahead target "sm_80" {
  func.func @main(%x: tensor<256x64xf32>, %y: tensor<64x512xf32>) -> tensor<256x512xf32> {
    %e = tensor.empty() : tensor<256x512xf32>
    %r = kernel.dispatch ins(%x, %y : tensor<256x64xf32>, tensor<64x512xf32>)
                         outs(%e : tensor<256x512xf32>)
        schedule #kernel.schedule<"contraction", {column_vector = array<i64: 4, 1>, row_vector = array<i64: 1, 4>,
            store_vector = 4 : i64, thread = array<i64: 8, 8>, tile = array<i64: 128, 128, 32>}> {
    ^bb0(%l: tensor<256x64xf32>, %m: tensor<64x512xf32>, %o: tensor<256x512xf32>):
      %z = arith.constant 0.0 : f32
      %f = linalg.fill ins(%z : f32) outs(%o : tensor<256x512xf32>) -> tensor<256x512xf32>
      %g = linalg.generic {indexing_maps = [#a, #b, #c],
                           iterator_types = ["parallel", "parallel", "reduction"]}
          ins(%l, %m : tensor<256x64xf32>, tensor<64x512xf32>) outs(%f : tensor<256x512xf32>) {
      ^bb1(%u: f32, %v: f32, %w: f32):
        %q = math.fma %u, %v, %w : f32
        linalg.yield %q : f32
      } -> tensor<256x512xf32>
      kernel.yield %g : tensor<256x512xf32>
    } -> tensor<256x512xf32>
    return %r : tensor<256x512xf32>
  }
}

// -----

// A reduction over consecutive elements: one block per row.
// CHECK-LABEL: rt.variant @rows
// CHECK: schedule <"rows", {rows = 1 : i64, threads = 256 : i64, vector = 4 : i64}>
// KERNEL-LABEL: rt.variant @rows
// KERNEL: gpu.shuffle xor
// KERNEL: gpu.barrier
#in = affine_map<(i, j) -> (i, j)>
#out = affine_map<(i, j) -> (i)>
rt.variant @rows target "sm_80" {
  func.func @main(%x: tensor<?x1024xf32>, %n: index) -> tensor<?xf32> {
    %e = tensor.empty(%n) : tensor<?xf32>
    %r = kernel.dispatch ins(%x : tensor<?x1024xf32>) outs(%e : tensor<?xf32>) {
    ^bb0(%a: tensor<?x1024xf32>, %o: tensor<?xf32>):
      %z = arith.constant 0.0 : f32
      %f = linalg.fill ins(%z : f32) outs(%o : tensor<?xf32>) -> tensor<?xf32>
      %g = linalg.generic {indexing_maps = [#in, #out], iterator_types = ["parallel", "reduction"]}
          ins(%a : tensor<?x1024xf32>) outs(%f : tensor<?xf32>) {
      ^bb1(%v: f32, %w: f32):
        %q = arith.addf %v, %w : f32
        linalg.yield %q : f32
      } -> tensor<?xf32>
      kernel.yield %g : tensor<?xf32>
    } -> tensor<?xf32>
    return %r : tensor<?xf32>
  }
}

// -----

// Few columns, and a short reduction that is not over consecutive elements: neither tiles nor rows.
// CHECK-LABEL: rt.variant @neither
// CHECK: schedule <"map"
#in = affine_map<(i, j) -> (j, i)>
#out = affine_map<(i, j) -> (i)>
rt.variant @neither target "sm_80" {
  func.func @main(%x: tensor<16x4xf32>) -> tensor<4xf32> {
    %e = tensor.empty() : tensor<4xf32>
    %r = kernel.dispatch ins(%x : tensor<16x4xf32>) outs(%e : tensor<4xf32>) {
    ^bb0(%a: tensor<16x4xf32>, %o: tensor<4xf32>):
      %z = arith.constant 0.0 : f32
      %f = linalg.fill ins(%z : f32) outs(%o : tensor<4xf32>) -> tensor<4xf32>
      %g = linalg.generic {indexing_maps = [#in, #out], iterator_types = ["parallel", "reduction"]}
          ins(%a : tensor<16x4xf32>) outs(%f : tensor<4xf32>) {
      ^bb1(%v: f32, %w: f32):
        %q = arith.addf %v, %w : f32
        linalg.yield %q : f32
      } -> tensor<4xf32>
      kernel.yield %g : tensor<4xf32>
    } -> tensor<4xf32>
    return %r : tensor<4xf32>
  }
}

// -----

// A given schedule is kept.
// CHECK-LABEL: rt.variant @given
// CHECK: schedule <"map", {flat = false, threads = 64 : i64, vector = 1 : i64}>
// KERNEL-LABEL: rt.variant @given
// KERNEL: kernel.block = array<i32: 64, 1, 1>
#v = affine_map<(d0) -> (d0)>
rt.variant @given target "sm_80" {
  func.func @main(%x: tensor<8xf32>) -> tensor<8xf32> {
    %e = tensor.empty() : tensor<8xf32>
    %r = kernel.dispatch ins(%x : tensor<8xf32>) outs(%e : tensor<8xf32>)
        schedule <"map", {flat = false, threads = 64 : i64, vector = 1 : i64}> {
    ^bb0(%a: tensor<8xf32>, %o: tensor<8xf32>):
      %g = linalg.generic {indexing_maps = [#v, #v], iterator_types = ["parallel"]}
          ins(%a : tensor<8xf32>) outs(%o : tensor<8xf32>) {
      ^bb1(%p: f32, %w: f32):
        %q = math.absf %p : f32
        linalg.yield %q : f32
      } -> tensor<8xf32>
      kernel.yield %g : tensor<8xf32>
    } -> tensor<8xf32>
    return %r : tensor<8xf32>
  }
}

// -----

// Products without rows, and of nothing along their depth: classes of products divide by sizes.
// CHECK-LABEL: rt.variant @nothing
// CHECK: schedule <"map"
// CHECK: schedule <"map"
// KERNEL-LABEL: rt.variant @nothing
// KERNEL-COUNT-2: gpu.func
#a = affine_map<(m, n, k) -> (m, k)>
#b = affine_map<(m, n, k) -> (k, n)>
#c = affine_map<(m, n, k) -> (m, n)>
rt.variant @nothing target "sm_80" {
  func.func @main(%x: tensor<0x64xf32>, %y: tensor<64x128xf32>, %u: tensor<256x0xf32>, %v: tensor<0x128xf32>)
      -> (tensor<0x128xf32>, tensor<256x128xf32>) {
    %e = tensor.empty() : tensor<0x128xf32>
    %r = kernel.dispatch ins(%x, %y : tensor<0x64xf32>, tensor<64x128xf32>) outs(%e : tensor<0x128xf32>) {
    ^bb0(%p: tensor<0x64xf32>, %q: tensor<64x128xf32>, %o: tensor<0x128xf32>):
      %z = arith.constant 0.0 : f32
      %f = linalg.fill ins(%z : f32) outs(%o : tensor<0x128xf32>) -> tensor<0x128xf32>
      %g = linalg.generic {indexing_maps = [#a, #b, #c], iterator_types = ["parallel", "parallel", "reduction"]}
          ins(%p, %q : tensor<0x64xf32>, tensor<64x128xf32>) outs(%f : tensor<0x128xf32>) {
      ^bb1(%s: f32, %t: f32, %w: f32):
        %h = math.fma %s, %t, %w : f32
        linalg.yield %h : f32
      } -> tensor<0x128xf32>
      kernel.yield %g : tensor<0x128xf32>
    } -> tensor<0x128xf32>
    %e2 = tensor.empty() : tensor<256x128xf32>
    %r2 = kernel.dispatch ins(%u, %v : tensor<256x0xf32>, tensor<0x128xf32>) outs(%e2 : tensor<256x128xf32>) {
    ^bb0(%p: tensor<256x0xf32>, %q: tensor<0x128xf32>, %o: tensor<256x128xf32>):
      %z = arith.constant 0.0 : f32
      %f = linalg.fill ins(%z : f32) outs(%o : tensor<256x128xf32>) -> tensor<256x128xf32>
      %g = linalg.generic {indexing_maps = [#a, #b, #c], iterator_types = ["parallel", "parallel", "reduction"]}
          ins(%p, %q : tensor<256x0xf32>, tensor<0x128xf32>) outs(%f : tensor<256x128xf32>) {
      ^bb1(%s: f32, %t: f32, %w: f32):
        %h = math.fma %s, %t, %w : f32
        linalg.yield %h : f32
      } -> tensor<256x128xf32>
      kernel.yield %g : tensor<256x128xf32>
    } -> tensor<256x128xf32>
    return %r, %r2 : tensor<0x128xf32>, tensor<256x128xf32>
  }
}
