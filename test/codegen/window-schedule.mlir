// RUN: cameo-opt %s --pass-pipeline='builtin.module(rt.variant(cameo-assign-schedules))' | FileCheck %s
// RUN: cameo-opt %s --pass-pipeline='builtin.module(rt.variant(cameo-assign-schedules,cameo-lower-dispatches))' | FileCheck %s --check-prefix=KERNEL

// A depthwise convolution, 3 x 3 with padding: eight neighbours a thread. Each of three rows is
// loaded once: two times 16 bytes that are always inside, and one element at either end that may not
// be; each tap's weight is loaded once for all eight.
// CHECK-LABEL: rt.variant @depthwise
// CHECK: schedule <"window", {threads = 128 : i64, vector = 8 : i64}>
// KERNEL-LABEL: rt.variant @depthwise
// KERNEL: gpu.func
// KERNEL-NOT: scf.for
// KERNEL-COUNT-6: vector.load {{.*}} {kernel.alignment = 16 : i64}
// KERNEL-NOT: vector.load
// KERNEL-COUNT-2: vector.store {{.*}} {kernel.alignment = 16 : i64}
#in = affine_map<(n, c, y, x, ky, kx) -> (n, c, y + ky, x + kx)>
#w = affine_map<(n, c, y, x, ky, kx) -> (c, ky, kx)>
#out = affine_map<(n, c, y, x, ky, kx) -> (n, c, y, x)>
rt.variant @depthwise target "sm_80" {
  func.func @main(%x: tensor<4x64x32x32xf32>, %w: tensor<64x3x3xf32>) -> tensor<4x64x32x32xf32> {
    %e = tensor.empty() : tensor<4x64x32x32xf32>
    %r = kernel.dispatch ins(%x, %w : tensor<4x64x32x32xf32>, tensor<64x3x3xf32>)
                         outs(%e : tensor<4x64x32x32xf32>) {
    ^bb0(%a: tensor<4x64x32x32xf32>, %b: tensor<64x3x3xf32>, %o: tensor<4x64x32x32xf32>):
      %z = arith.constant 0.0 : f32
      %p = tensor.pad %a low[0, 0, 1, 1] high[0, 0, 1, 1] {
      ^bb1(%i0: index, %i1: index, %i2: index, %i3: index):
        tensor.yield %z : f32
      } : tensor<4x64x32x32xf32> to tensor<4x64x34x34xf32>
      %f = linalg.fill ins(%z : f32) outs(%o : tensor<4x64x32x32xf32>) -> tensor<4x64x32x32xf32>
      %g = linalg.generic {indexing_maps = [#in, #w, #out],
          iterator_types = ["parallel", "parallel", "parallel", "parallel", "reduction", "reduction"]}
          ins(%p, %b : tensor<4x64x34x34xf32>, tensor<64x3x3xf32>)
          outs(%f : tensor<4x64x32x32xf32>) {
      ^bb1(%u: f32, %v: f32, %s: f32):
        %q = math.fma %u, %v, %s : f32
        linalg.yield %q : f32
      } -> tensor<4x64x32x32xf32>
      kernel.yield %g : tensor<4x64x32x32xf32>
    } -> tensor<4x64x32x32xf32>
    return %r : tensor<4x64x32x32xf32>
  }
}

// The same window over a line whose length is known only at run time: one element per thread.
// CHECK-LABEL: rt.variant @pool
// CHECK: schedule <"window", {threads = 128 : i64, vector = 1 : i64}>
// KERNEL-LABEL: rt.variant @pool
// KERNEL-NOT: scf.for
// KERNEL-COUNT-2: arith.maximumf
#line = affine_map<(c, x, k) -> (c, x * 2 + k)>
#shape = affine_map<(c, x, k) -> (k)>
#best = affine_map<(c, x, k) -> (c, x)>
rt.variant @pool target "sm_80" {
  func.func @main(%x: tensor<64x?xf32>, %n: index) -> tensor<64x?xf32> {
    %e = tensor.empty(%n) : tensor<64x?xf32>
    %r = kernel.dispatch ins(%x : tensor<64x?xf32>) outs(%e : tensor<64x?xf32>) {
    ^bb0(%a: tensor<64x?xf32>, %o: tensor<64x?xf32>):
      %z = arith.constant 0xFF800000 : f32
      %s = tensor.empty() : tensor<2xf32>
      %f = linalg.fill ins(%z : f32) outs(%o : tensor<64x?xf32>) -> tensor<64x?xf32>
      %g = linalg.generic {indexing_maps = [#line, #shape, #best],
          iterator_types = ["parallel", "parallel", "reduction"]}
          ins(%a, %s : tensor<64x?xf32>, tensor<2xf32>) outs(%f : tensor<64x?xf32>) {
      ^bb1(%u: f32, %v: f32, %m: f32):
        %q = arith.maximumf %m, %u : f32
        linalg.yield %q : f32
      } -> tensor<64x?xf32>
      kernel.yield %g : tensor<64x?xf32>
    } -> tensor<64x?xf32>
    return %r : tensor<64x?xf32>
  }
}

// A window of 32 taps is not unrolled, and not for this schedule.
// CHECK-LABEL: rt.variant @large
// CHECK: schedule <"rows"
#far = affine_map<(x, k) -> (x + k)>
#taps = affine_map<(x, k) -> (k)>
#sum = affine_map<(x, k) -> (x)>
rt.variant @large target "sm_80" {
  func.func @main(%x: tensor<95xf32>) -> tensor<64xf32> {
    %e = tensor.empty() : tensor<64xf32>
    %r = kernel.dispatch ins(%x : tensor<95xf32>) outs(%e : tensor<64xf32>) {
    ^bb0(%a: tensor<95xf32>, %o: tensor<64xf32>):
      %z = arith.constant 0.0 : f32
      %s = tensor.empty() : tensor<32xf32>
      %f = linalg.fill ins(%z : f32) outs(%o : tensor<64xf32>) -> tensor<64xf32>
      %g = linalg.generic {indexing_maps = [#far, #taps, #sum],
          iterator_types = ["parallel", "reduction"]}
          ins(%a, %s : tensor<95xf32>, tensor<32xf32>) outs(%f : tensor<64xf32>) {
      ^bb1(%u: f32, %v: f32, %m: f32):
        %q = arith.addf %m, %u : f32
        linalg.yield %q : f32
      } -> tensor<64xf32>
      kernel.yield %g : tensor<64xf32>
    } -> tensor<64xf32>
    return %r : tensor<64xf32>
  }
}

// Channels are innermost in memory, though not in the description: four of them a thread, and four
// neighbours, whose windows have six columns in common. Results are stored as they lie, too.
// CHECK-LABEL: rt.variant @channels_in_memory
// CHECK: schedule <"window", {run = 4 : i64, threads = 128 : i64, vector = 4 : i64}>
// KERNEL-LABEL: rt.variant @channels_in_memory
// KERNEL: gpu.func
// KERNEL-NOT: scf.for
// KERNEL-COUNT-18: vector.load {{.*}} {kernel.alignment = 16 : i64}
// KERNEL-NOT: vector.load
// KERNEL-COUNT-4: vector.store {{.*}} {kernel.alignment = 16 : i64}
// KERNEL-NOT: memref.store
#last = affine_map<(n, c, y, x, ky, kx) -> (n, y + ky, x + kx, c)>
#turned = affine_map<(n, y, x, c) -> (n, c, y, x)>
#same = affine_map<(n, y, x, c) -> (n, y, x, c)>
rt.variant @channels_in_memory target "sm_80" {
  func.func @main(%x: tensor<4x34x34x64xf32>, %w: tensor<64x3x3xf32>) -> tensor<4x32x32x64xf32> {
    %e = tensor.empty() : tensor<4x32x32x64xf32>
    %r = kernel.dispatch ins(%x, %w : tensor<4x34x34x64xf32>, tensor<64x3x3xf32>)
                         outs(%e : tensor<4x32x32x64xf32>) {
    ^bb0(%a: tensor<4x34x34x64xf32>, %b: tensor<64x3x3xf32>, %o: tensor<4x32x32x64xf32>):
      %z = arith.constant 0.0 : f32
      %i = tensor.empty() : tensor<4x64x32x32xf32>
      %f = linalg.fill ins(%z : f32) outs(%i : tensor<4x64x32x32xf32>) -> tensor<4x64x32x32xf32>
      %g = linalg.generic {indexing_maps = [#last, #w, #out],
          iterator_types = ["parallel", "parallel", "parallel", "parallel", "reduction", "reduction"]}
          ins(%a, %b : tensor<4x34x34x64xf32>, tensor<64x3x3xf32>)
          outs(%f : tensor<4x64x32x32xf32>) {
      ^bb1(%u: f32, %v: f32, %s: f32):
        %q = math.fma %u, %v, %s : f32
        linalg.yield %q : f32
      } -> tensor<4x64x32x32xf32>
      %t = linalg.generic {indexing_maps = [#turned, #same],
          iterator_types = ["parallel", "parallel", "parallel", "parallel"]}
          ins(%g : tensor<4x64x32x32xf32>) outs(%o : tensor<4x32x32x64xf32>) {
      ^bb1(%u: f32, %s: f32):
        linalg.yield %u : f32
      } -> tensor<4x32x32x64xf32>
      kernel.yield %t : tensor<4x32x32x64xf32>
    } -> tensor<4x32x32x64xf32>
    return %r : tensor<4x32x32x64xf32>
  }
}
