// RUN: cameo-opt %s --split-input-file --pass-pipeline='builtin.module(rt.variant(cameo-assign-schedules))' | FileCheck %s
// RUN: cameo-opt %s --split-input-file --pass-pipeline='builtin.module(rt.variant(cameo-assign-schedules,cameo-lower-dispatches))' | FileCheck %s --check-prefix=KERNEL

// A row of 32 accesses: several rows a block, a warp each, nothing in shared memory. Four partial
// results a thread, and its accesses written out.
// CHECK-LABEL: rt.variant @short
// CHECK: schedule <"rows", {rows = 4 : i64, threads = 128 : i64, vector = 4 : i64}>
// KERNEL-LABEL: rt.variant @short
// KERNEL: gpu.func
// KERNEL-NOT: workgroup
// KERNEL-NOT: scf.for
// KERNEL: vector.load {{.*}} {kernel.alignment = 16 : i64}
// KERNEL-COUNT-7: arith.addf
// KERNEL-COUNT-5: gpu.shuffle xor
// KERNEL-NOT: gpu.barrier
// KERNEL: vector.load {{.*}} {kernel.alignment = 16 : i64}
// KERNEL: vector.store {{.*}} {kernel.alignment = 16 : i64}
#all = affine_map<(d0, d1) -> (d0, d1)>
#row = affine_map<(d0, d1) -> (d0)>
rt.variant @short target "sm_80" {
  func.func @main(%x: tensor<512x128xf32>) -> tensor<512x128xf32> {
    %e = tensor.empty() : tensor<512x128xf32>
    %r = kernel.dispatch ins(%x : tensor<512x128xf32>) outs(%e : tensor<512x128xf32>) {
    ^bb0(%a: tensor<512x128xf32>, %o: tensor<512x128xf32>):
      %z = arith.constant 0.0 : f32
      %s = tensor.empty() : tensor<512xf32>
      %f = linalg.fill ins(%z : f32) outs(%s : tensor<512xf32>) -> tensor<512xf32>
      %g = linalg.generic {indexing_maps = [#all, #row], iterator_types = ["parallel", "reduction"]}
          ins(%a : tensor<512x128xf32>) outs(%f : tensor<512xf32>) {
      ^bb1(%v: f32, %w: f32):
        %q = arith.addf %w, %v : f32
        linalg.yield %q : f32
      } -> tensor<512xf32>
      %h = linalg.generic {indexing_maps = [#all, #row, #all], iterator_types = ["parallel", "parallel"]}
          ins(%a, %g : tensor<512x128xf32>, tensor<512xf32>) outs(%o : tensor<512x128xf32>) {
      ^bb1(%v: f32, %t: f32, %w: f32):
        %q = arith.divf %v, %t : f32
        linalg.yield %q : f32
      } -> tensor<512x128xf32>
      kernel.yield %h : tensor<512x128xf32>
    } -> tensor<512x128xf32>
    return %r : tensor<512x128xf32>
  }
}

// -----

// A row known only at run time: by vectors where its size allows, else one by one.
// CHECK-LABEL: rt.variant @dynamic
// CHECK: schedule <"rows", {rows = 1 : i64, threads = 64 : i64, vector = 4 : i64}>
// KERNEL-LABEL: rt.variant @dynamic
// KERNEL: gpu.func
// KERNEL: %[[REST:.*]] = arith.andi
// KERNEL: %[[ALL:.*]] = arith.cmpi eq, %[[REST]]
// KERNEL: scf.if %[[ALL]]
// KERNEL: vector.load {{.*}} {kernel.alignment = 16 : i64}
// KERNEL: } else {
// KERNEL: memref.load
// KERNEL: gpu.barrier
// KERNEL: scf.if
// KERNEL: vector.store {{.*}} {kernel.alignment = 16 : i64}
// KERNEL: } else {
// KERNEL: memref.store
#all = affine_map<(d0, d1) -> (d0, d1)>
#row = affine_map<(d0, d1) -> (d0)>
rt.variant @dynamic target "sm_80" {
  func.func @main(%x: tensor<64x?xf32>, %n1: index) -> tensor<64x?xf32> {
    %e = tensor.empty(%n1) : tensor<64x?xf32>
    %r = kernel.dispatch ins(%x : tensor<64x?xf32>) outs(%e : tensor<64x?xf32>) {
    ^bb0(%a: tensor<64x?xf32>, %o: tensor<64x?xf32>):
      %z = arith.constant 0.0 : f32
      %s = tensor.empty() : tensor<64xf32>
      %f = linalg.fill ins(%z : f32) outs(%s : tensor<64xf32>) -> tensor<64xf32>
      %g = linalg.generic {indexing_maps = [#all, #row], iterator_types = ["parallel", "reduction"]}
          ins(%a : tensor<64x?xf32>) outs(%f : tensor<64xf32>) {
      ^bb1(%v: f32, %w: f32):
        %q = arith.addf %w, %v : f32
        linalg.yield %q : f32
      } -> tensor<64xf32>
      %h = linalg.generic {indexing_maps = [#all, #row, #all], iterator_types = ["parallel", "parallel"]}
          ins(%a, %g : tensor<64x?xf32>, tensor<64xf32>) outs(%o : tensor<64x?xf32>) {
      ^bb1(%v: f32, %t: f32, %w: f32):
        %q = arith.divf %v, %t : f32
        linalg.yield %q : f32
      } -> tensor<64x?xf32>
      kernel.yield %h : tensor<64x?xf32>
    } -> tensor<64x?xf32>
    return %r : tensor<64x?xf32>
  }
}

// -----

// Rows of an odd length are aligned to one element only.
// CHECK-LABEL: rt.variant @odd
// CHECK: schedule <"rows", {rows = 1 : i64, threads = 64 : i64, vector = 4 : i64}>
// KERNEL-LABEL: rt.variant @odd
// KERNEL-NOT: vector.load
// KERNEL: gpu.return
#all = affine_map<(d0, d1) -> (d0, d1)>
#row = affine_map<(d0, d1) -> (d0)>
rt.variant @odd target "sm_80" {
  func.func @main(%x: tensor<64x197xf32>) -> tensor<64x197xf32> {
    %e = tensor.empty() : tensor<64x197xf32>
    %r = kernel.dispatch ins(%x : tensor<64x197xf32>) outs(%e : tensor<64x197xf32>) {
    ^bb0(%a: tensor<64x197xf32>, %o: tensor<64x197xf32>):
      %z = arith.constant 0.0 : f32
      %s = tensor.empty() : tensor<64xf32>
      %f = linalg.fill ins(%z : f32) outs(%s : tensor<64xf32>) -> tensor<64xf32>
      %g = linalg.generic {indexing_maps = [#all, #row], iterator_types = ["parallel", "reduction"]}
          ins(%a : tensor<64x197xf32>) outs(%f : tensor<64xf32>) {
      ^bb1(%v: f32, %w: f32):
        %q = arith.addf %w, %v : f32
        linalg.yield %q : f32
      } -> tensor<64xf32>
      %h = linalg.generic {indexing_maps = [#all, #row, #all], iterator_types = ["parallel", "parallel"]}
          ins(%a, %g : tensor<64x197xf32>, tensor<64xf32>) outs(%o : tensor<64x197xf32>) {
      ^bb1(%v: f32, %t: f32, %w: f32):
        %q = arith.divf %v, %t : f32
        linalg.yield %q : f32
      } -> tensor<64x197xf32>
      kernel.yield %h : tensor<64x197xf32>
    } -> tensor<64x197xf32>
    return %r : tensor<64x197xf32>
  }
}

// -----

// Halves go between threads as i32; eight of them are an access, four partial results a thread.
// CHECK-LABEL: rt.variant @halves
// CHECK: schedule <"rows", {rows = 1 : i64, threads = 128 : i64, vector = 8 : i64}>
// KERNEL-LABEL: rt.variant @halves
// KERNEL: gpu.func
// KERNEL-SAME: workgroup(%{{.*}} : memref<4xi32,
// KERNEL: vector.load {{.*}} {kernel.alignment = 16 : i64} : {{.*}}, vector<8xf16>
// KERNEL: arith.bitcast {{.*}} : f16 to i16
// KERNEL: gpu.shuffle xor {{.*}} : i32
#all = affine_map<(d0, d1) -> (d0, d1)>
#row = affine_map<(d0, d1) -> (d0)>
rt.variant @halves target "sm_80" {
  func.func @main(%x: tensor<512x1024xf16>) -> tensor<512x1024xf16> {
    %e = tensor.empty() : tensor<512x1024xf16>
    %r = kernel.dispatch ins(%x : tensor<512x1024xf16>) outs(%e : tensor<512x1024xf16>) {
    ^bb0(%a: tensor<512x1024xf16>, %o: tensor<512x1024xf16>):
      %z = arith.constant 0.0 : f16
      %s = tensor.empty() : tensor<512xf16>
      %f = linalg.fill ins(%z : f16) outs(%s : tensor<512xf16>) -> tensor<512xf16>
      %g = linalg.generic {indexing_maps = [#all, #row], iterator_types = ["parallel", "reduction"]}
          ins(%a : tensor<512x1024xf16>) outs(%f : tensor<512xf16>) {
      ^bb1(%v: f16, %w: f16):
        %q = arith.addf %w, %v : f16
        linalg.yield %q : f16
      } -> tensor<512xf16>
      %h = linalg.generic {indexing_maps = [#all, #row, #all], iterator_types = ["parallel", "parallel"]}
          ins(%a, %g : tensor<512x1024xf16>, tensor<512xf16>) outs(%o : tensor<512x1024xf16>) {
      ^bb1(%v: f16, %t: f16, %w: f16):
        %q = arith.divf %v, %t : f16
        linalg.yield %q : f16
      } -> tensor<512x1024xf16>
      kernel.yield %h : tensor<512x1024xf16>
    } -> tensor<512x1024xf16>
    return %r : tensor<512x1024xf16>
  }
}

// -----

// Rows beside one another: neighbouring threads take neighbouring rows. Too few rows to fill the
// GPU with a thread each: four share one, by shared memory.
// CHECK-LABEL: rt.variant @channels
// CHECK: schedule <"columns", {rows = 32 : i64, threads = 128 : i64, vector = 1 : i64}>
// KERNEL-LABEL: rt.variant @channels
// KERNEL: gpu.func
// KERNEL-SAME: workgroup(%{{.*}} : memref<128xf32,
// KERNEL-NOT: gpu.shuffle
// KERNEL: gpu.barrier
#all = affine_map<(d0, d1, d2) -> (d0, d1, d2)>
#row = affine_map<(d0, d1, d2) -> (d0, d2)>
rt.variant @channels target "sm_80" {
  func.func @main(%x: tensor<8x16x49xf32>) -> tensor<8x16x49xf32> {
    %e = tensor.empty() : tensor<8x16x49xf32>
    %r = kernel.dispatch ins(%x : tensor<8x16x49xf32>) outs(%e : tensor<8x16x49xf32>) {
    ^bb0(%a: tensor<8x16x49xf32>, %o: tensor<8x16x49xf32>):
      %z = arith.constant 0.0 : f32
      %s = tensor.empty() : tensor<8x49xf32>
      %f = linalg.fill ins(%z : f32) outs(%s : tensor<8x49xf32>) -> tensor<8x49xf32>
      %g = linalg.generic {indexing_maps = [#all, #row], iterator_types = ["parallel", "reduction", "parallel"]}
          ins(%a : tensor<8x16x49xf32>) outs(%f : tensor<8x49xf32>) {
      ^bb1(%v: f32, %w: f32):
        %q = arith.addf %w, %v : f32
        linalg.yield %q : f32
      } -> tensor<8x49xf32>
      %h = linalg.generic {indexing_maps = [#all, #row, #all], iterator_types = ["parallel", "parallel", "parallel"]}
          ins(%a, %g : tensor<8x16x49xf32>, tensor<8x49xf32>) outs(%o : tensor<8x16x49xf32>) {
      ^bb1(%v: f32, %t: f32, %w: f32):
        %q = arith.divf %v, %t : f32
        linalg.yield %q : f32
      } -> tensor<8x16x49xf32>
      kernel.yield %h : tensor<8x16x49xf32>
    } -> tensor<8x16x49xf32>
    return %r : tensor<8x16x49xf32>
  }
}

// -----

// Enough of them for 16 bytes a thread: 8 threads side by side are a line of memory, 16 share four
// rows each.
// CHECK-LABEL: rt.variant @channels_wide
// CHECK: schedule <"columns", {rows = 32 : i64, threads = 128 : i64, vector = 4 : i64}>
// KERNEL-LABEL: rt.variant @channels_wide
// KERNEL: gpu.func
// KERNEL-SAME: workgroup(%{{.*}} : memref<128xf32,
// KERNEL-NOT: memref.load
// KERNEL-COUNT-4: vector.load {{.*}} {kernel.alignment = 16 : i64} : {{.*}}global>>, vector<4xf32>
// KERNEL-COUNT-8: gpu.shuffle xor
// KERNEL: vector.store {{.*}} {kernel.alignment = 16 : i64} : {{.*}}workgroup>>, vector<4xf32>
// KERNEL: gpu.barrier
// KERNEL-COUNT-4: vector.store {{.*}} {kernel.alignment = 16 : i64} : {{.*}}global>>, vector<4xf32>
#all = affine_map<(d0, d1, d2) -> (d0, d1, d2)>
#row = affine_map<(d0, d1, d2) -> (d0, d2)>
rt.variant @channels_wide target "sm_80" {
  func.func @main(%x: tensor<2x64x1024xf32>) -> tensor<2x64x1024xf32> {
    %e = tensor.empty() : tensor<2x64x1024xf32>
    %r = kernel.dispatch ins(%x : tensor<2x64x1024xf32>) outs(%e : tensor<2x64x1024xf32>) {
    ^bb0(%a: tensor<2x64x1024xf32>, %o: tensor<2x64x1024xf32>):
      %z = arith.constant 0.0 : f32
      %s = tensor.empty() : tensor<2x1024xf32>
      %f = linalg.fill ins(%z : f32) outs(%s : tensor<2x1024xf32>) -> tensor<2x1024xf32>
      %g = linalg.generic {indexing_maps = [#all, #row], iterator_types = ["parallel", "reduction", "parallel"]}
          ins(%a : tensor<2x64x1024xf32>) outs(%f : tensor<2x1024xf32>) {
      ^bb1(%v: f32, %w: f32):
        %q = arith.addf %w, %v : f32
        linalg.yield %q : f32
      } -> tensor<2x1024xf32>
      %h = linalg.generic {indexing_maps = [#all, #row, #all], iterator_types = ["parallel", "parallel", "parallel"]}
          ins(%a, %g : tensor<2x64x1024xf32>, tensor<2x1024xf32>) outs(%o : tensor<2x64x1024xf32>) {
      ^bb1(%v: f32, %t: f32, %w: f32):
        %q = arith.divf %v, %t : f32
        linalg.yield %q : f32
      } -> tensor<2x64x1024xf32>
      kernel.yield %h : tensor<2x64x1024xf32>
    } -> tensor<2x64x1024xf32>
    return %r : tensor<2x64x1024xf32>
  }
}

// -----

// A short row without further use is the loop of one thread.
// CHECK-LABEL: rt.variant @alone
// CHECK: schedule <"map"
#all = affine_map<(d0, d1) -> (d0, d1)>
#row = affine_map<(d0, d1) -> (d0)>
rt.variant @alone target "sm_80" {
  func.func @main(%x: tensor<64x16xf32>) -> tensor<64xf32> {
    %e = tensor.empty() : tensor<64xf32>
    %r = kernel.dispatch ins(%x : tensor<64x16xf32>) outs(%e : tensor<64xf32>) {
    ^bb0(%a: tensor<64x16xf32>, %o: tensor<64xf32>):
      %z = arith.constant 0.0 : f32
      %f = linalg.fill ins(%z : f32) outs(%o : tensor<64xf32>) -> tensor<64xf32>
      %g = linalg.generic {indexing_maps = [#all, #row], iterator_types = ["parallel", "reduction"]}
          ins(%a : tensor<64x16xf32>) outs(%f : tensor<64xf32>) {
      ^bb1(%v: f32, %w: f32):
        %q = arith.addf %w, %v : f32
        linalg.yield %q : f32
      } -> tensor<64xf32>
      kernel.yield %g : tensor<64xf32>
    } -> tensor<64xf32>
    return %r : tensor<64xf32>
  }
}

// -----

// Where the largest is: whichever was found further along is compared with the other.
// CHECK-LABEL: rt.variant @search
// CHECK: schedule <"rows", {rows = 1 : i64, threads = 256 : i64, vector = 4 : i64}>
// KERNEL-LABEL: rt.variant @search
// KERNEL: gpu.func
// KERNEL: gpu.shuffle xor {{.*}} : f32
// KERNEL: gpu.shuffle xor {{.*}} : i64
// KERNEL: arith.cmpi slt
// KERNEL: arith.cmpf ogt
#all = affine_map<(d0, d1) -> (d0, d1)>
#row = affine_map<(d0, d1) -> (d0)>
rt.variant @search target "sm_80" {
  func.func @main(%x: tensor<64x1024xf32>) -> tensor<64xi64> {
    %e = tensor.empty() : tensor<64xi64>
    %r = kernel.dispatch ins(%x : tensor<64x1024xf32>) outs(%e : tensor<64xi64>) {
    ^bb0(%a: tensor<64x1024xf32>, %o: tensor<64xi64>):
      %z = arith.constant 0xFF800000 : f32
      %i = arith.constant 0 : i64
      %s = tensor.empty() : tensor<64xf32>
      %f = linalg.fill ins(%z : f32) outs(%s : tensor<64xf32>) -> tensor<64xf32>
      %p = linalg.fill ins(%i : i64) outs(%o : tensor<64xi64>) -> tensor<64xi64>
      %g:2 = linalg.generic {indexing_maps = [#all, #row, #row],
          iterator_types = ["parallel", "reduction"]}
          ins(%a : tensor<64x1024xf32>) outs(%f, %p : tensor<64xf32>, tensor<64xi64>) {
      ^bb1(%v: f32, %w: f32, %n: i64):
        %c = arith.cmpf ogt, %v, %w : f32
        %j = linalg.index 1 : index
        %k = arith.index_cast %j : index to i64
        %q = arith.select %c, %v, %w : f32
        %m = arith.select %c, %k, %n : i64
        linalg.yield %q, %m : f32, i64
      } -> (tensor<64xf32>, tensor<64xi64>)
      kernel.yield %g#1 : tensor<64xi64>
    } -> tensor<64xi64>
    return %r : tensor<64xi64>
  }
}

// -----

// Columns whose number and length are open, and what is subtracted from: a thread knows which of its
// columns it computes, however their indices are computed.
// CHECK-LABEL: rt.variant @open_columns
// CHECK: schedule <"columns", {{.*}}vector = 4 : i64}>
// KERNEL-LABEL: rt.variant @open_columns
// KERNEL: gpu.barrier
// KERNEL: arith.subf %{{.*}}, %[[A:[0-9]+]] : f32
// KERNEL-NOT: , %[[A]] : f32
// KERNEL: arith.subf %{{.*}}, %[[B:[0-9]+]] : f32
// KERNEL-NOT: , %[[B]] : f32
// KERNEL: arith.subf %{{.*}}, %[[C:[0-9]+]] : f32
// KERNEL-NOT: , %[[C]] : f32
// KERNEL: arith.subf
// KERNEL: vector.store
#all = affine_map<(d0, d1) -> (d0, d1)>
#column = affine_map<(d0, d1) -> (d1)>
#kept = affine_map<(d0, d1) -> (0, d1)>
rt.variant @open_columns target "sm_80" {
  func.func @main(%x: tensor<?x?xf32>, %m: index, %n: index) -> tensor<?x?xf32> {
    %e = tensor.empty(%m, %n) : tensor<?x?xf32>
    %r = kernel.dispatch ins(%x : tensor<?x?xf32>) scalars(%n : index) outs(%e : tensor<?x?xf32>) {
    ^bb0(%a: tensor<?x?xf32>, %s: index, %o: tensor<?x?xf32>):
      %least = arith.constant 0xFF800000 : f32
      %t = tensor.empty(%s) : tensor<?xf32>
      %f = linalg.fill ins(%least : f32) outs(%t : tensor<?xf32>) -> tensor<?xf32>
      %g = linalg.generic {indexing_maps = [#all, #column], iterator_types = ["reduction", "parallel"]}
          ins(%a : tensor<?x?xf32>) outs(%f : tensor<?xf32>) {
      ^bb1(%v: f32, %w: f32):
        %q = arith.maximumf %w, %v : f32
        linalg.yield %q : f32
      } -> tensor<?xf32>
      %k = tensor.expand_shape %g [[0, 1]] output_shape [1, %s] : tensor<?xf32> into tensor<1x?xf32>
      %h = linalg.generic {indexing_maps = [#all, #kept, #all], iterator_types = ["parallel", "parallel"]}
          ins(%a, %k : tensor<?x?xf32>, tensor<1x?xf32>) outs(%o : tensor<?x?xf32>) {
      ^bb1(%v: f32, %u: f32, %w: f32):
        %q = arith.subf %v, %u : f32
        linalg.yield %q : f32
      } -> tensor<?x?xf32>
      kernel.yield %h : tensor<?x?xf32>
    } -> tensor<?x?xf32>
    return %r : tensor<?x?xf32>
  }
}
