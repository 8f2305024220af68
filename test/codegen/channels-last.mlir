// RUN: cameo-opt %s --split-input-file --pass-pipeline='builtin.module(rt.variant(cameo-assign-schedules))' | FileCheck %s
// RUN: cameo-opt %s --split-input-file --pass-pipeline='builtin.module(rt.variant(cameo-assign-schedules,cameo-lower-dispatches))' | FileCheck %s --check-prefix=KERNEL

// A depthwise convolution, 3 x 3 with padding, channels last: four channels of four neighbours a thread.
// Each of three rows is six vectors, the first and the last of which may be padding, all of it or
// nothing; the weights of a tap are one vector.
// CHECK-LABEL: rt.variant @depthwise
// CHECK: schedule <"window", {run = 4 : i64, threads = 128 : i64, vector = 4 : i64}>
// KERNEL-LABEL: rt.variant @depthwise
// KERNEL: gpu.func
// KERNEL-NOT: memref.load
// KERNEL-COUNT-27: vector.load {{.*}} {kernel.alignment = 16 : i64}
// KERNEL-NOT: vector.load
// KERNEL-COUNT-4: vector.store {{.*}} {kernel.alignment = 16 : i64}
#in = affine_map<(n, y, x, c, ky, kx) -> (n, y + ky, x + kx, c)>
#w = affine_map<(n, y, x, c, ky, kx) -> (ky, kx, c)>
#out = affine_map<(n, y, x, c, ky, kx) -> (n, y, x, c)>
rt.variant @depthwise target "sm_80" {
  func.func @main(%x0: tensor<4x16x16x128xf32>,
                  %x1: tensor<3x3x128xf32>) -> tensor<4x16x16x128xf32> {
    %e = tensor.empty() : tensor<4x16x16x128xf32>
    %r = kernel.dispatch ins(%x0, %x1 : tensor<4x16x16x128xf32>, tensor<3x3x128xf32>)
                         outs(%e : tensor<4x16x16x128xf32>) {
    ^bb0(%a0: tensor<4x16x16x128xf32>, %a1: tensor<3x3x128xf32>, %o: tensor<4x16x16x128xf32>):
      %z = arith.constant 0.0 : f32
      %p = tensor.pad %a0 low[0, 1, 1, 0] high[0, 1, 1, 0] {
      ^bb1(%i0: index, %i1: index, %i2: index, %i3: index):
        tensor.yield %z : f32
      } : tensor<4x16x16x128xf32> to tensor<4x18x18x128xf32>
      %f = linalg.fill ins(%z : f32) outs(%o : tensor<4x16x16x128xf32>) -> tensor<4x16x16x128xf32>
      %g = linalg.generic {indexing_maps = [#in, #w, #out],
          iterator_types = ["parallel", "parallel", "parallel", "parallel", "reduction", "reduction"]}
          ins(%p, %a1 : tensor<4x18x18x128xf32>, tensor<3x3x128xf32>)
          outs(%f : tensor<4x16x16x128xf32>) {
      ^bb1(%u: f32, %v: f32, %s: f32):
        %q = math.fma %u, %v, %s : f32
        linalg.yield %q : f32
      } -> tensor<4x16x16x128xf32>
      kernel.yield %g : tensor<4x16x16x128xf32>
    } -> tensor<4x16x16x128xf32>
    return %r : tensor<4x16x16x128xf32>
  }
}

// -----

// The same with a stride, as a grouped convolution whose groups have one filter and one channel each, and
// with a bias: what has one element does not matter.
// CHECK-LABEL: rt.variant @grouped
// CHECK: schedule <"window", {run = {{[0-9]+}} : i64, threads = 128 : i64, vector = 4 : i64}>
// KERNEL-LABEL: rt.variant @grouped
// KERNEL: gpu.func
// KERNEL-NOT: memref.load
// KERNEL: vector.load {{.*}} {kernel.alignment = 16 : i64}
// KERNEL-NOT: memref.load
// KERNEL: vector.store {{.*}} {kernel.alignment = 16 : i64}
#in = affine_map<(n, y, x, g, f, c, ky, kx) -> (n, y * 2 + ky, x * 2 + kx, g, c)>
#w = affine_map<(n, y, x, g, f, c, ky, kx) -> (ky, kx, g, f, c)>
#out = affine_map<(n, y, x, g, f, c, ky, kx) -> (n, y, x, g, f)>
#bias = affine_map<(n, y, x, g, f) -> (g, f)>
#same = affine_map<(n, y, x, g, f) -> (n, y, x, g, f)>
rt.variant @grouped target "sm_80" {
  func.func @main(%x0: tensor<4x15x15x160x1xf32>,
                  %x1: tensor<3x3x160x1x1xf32>,
                  %x2: tensor<160x1xf32>) -> tensor<4x8x8x160x1xf32> {
    %e = tensor.empty() : tensor<4x8x8x160x1xf32>
    %r = kernel.dispatch ins(%x0, %x1, %x2 : tensor<4x15x15x160x1xf32>, tensor<3x3x160x1x1xf32>, tensor<160x1xf32>)
                         outs(%e : tensor<4x8x8x160x1xf32>) {
    ^bb0(%a0: tensor<4x15x15x160x1xf32>, %a1: tensor<3x3x160x1x1xf32>, %a2: tensor<160x1xf32>, %o: tensor<4x8x8x160x1xf32>):
      %z = arith.constant 0.0 : f32
      %p = tensor.pad %a0 low[0, 1, 1, 0, 0] high[0, 1, 1, 0, 0] {
      ^bb1(%i0: index, %i1: index, %i2: index, %i3: index, %i4: index):
        tensor.yield %z : f32
      } : tensor<4x15x15x160x1xf32> to tensor<4x17x17x160x1xf32>
      %f = linalg.fill ins(%z : f32) outs(%o : tensor<4x8x8x160x1xf32>) -> tensor<4x8x8x160x1xf32>
      %h = linalg.generic {indexing_maps = [#in, #w, #out], iterator_types =
          ["parallel", "parallel", "parallel", "parallel", "parallel", "reduction", "reduction", "reduction"]}
          ins(%p, %a1 : tensor<4x17x17x160x1xf32>, tensor<3x3x160x1x1xf32>)
          outs(%f : tensor<4x8x8x160x1xf32>) {
      ^bb1(%u: f32, %v: f32, %s: f32):
        %q = math.fma %u, %v, %s : f32
        linalg.yield %q : f32
      } -> tensor<4x8x8x160x1xf32>
      %g = linalg.generic {indexing_maps = [#same, #bias, #same],
          iterator_types = ["parallel", "parallel", "parallel", "parallel", "parallel"]}
          ins(%h, %a2 : tensor<4x8x8x160x1xf32>, tensor<160x1xf32>)
          outs(%o : tensor<4x8x8x160x1xf32>) {
      ^bb1(%u: f32, %v: f32, %s: f32):
        %q = arith.addf %u, %v : f32
        linalg.yield %q : f32
      } -> tensor<4x8x8x160x1xf32>
      kernel.yield %g : tensor<4x8x8x160x1xf32>
    } -> tensor<4x8x8x160x1xf32>
    return %r : tensor<4x8x8x160x1xf32>
  }
}

// -----

// A pool of halves, eight channels at once.
// CHECK-LABEL: rt.variant @pool
// CHECK: schedule <"window", {run = 2 : i64, threads = 128 : i64, vector = 8 : i64}>
// KERNEL-LABEL: rt.variant @pool
// KERNEL: gpu.func
// KERNEL-COUNT-15: vector.load {{.*}} {kernel.alignment = 16 : i64} : memref<?xf16
// KERNEL-NOT: memref.load
// KERNEL-COUNT-2: vector.store {{.*}} {kernel.alignment = 16 : i64}
#in = affine_map<(n, y, x, c, ky, kx) -> (n, y * 2 + ky, x * 2 + kx, c)>
#w = affine_map<(n, y, x, c, ky, kx) -> (ky, kx)>
#out = affine_map<(n, y, x, c, ky, kx) -> (n, y, x, c)>
rt.variant @pool target "sm_80" {
  func.func @main(%x0: tensor<8x20x20x256xf16>) -> tensor<8x10x10x256xf16> {
    %e = tensor.empty() : tensor<8x10x10x256xf16>
    %r = kernel.dispatch ins(%x0 : tensor<8x20x20x256xf16>)
                         outs(%e : tensor<8x10x10x256xf16>) {
    ^bb0(%a0: tensor<8x20x20x256xf16>, %o: tensor<8x10x10x256xf16>):
      %z = arith.constant 0xFC00 : f16
      %p = tensor.pad %a0 low[0, 1, 1, 0] high[0, 0, 0, 0] {
      ^bb1(%i0: index, %i1: index, %i2: index, %i3: index):
        tensor.yield %z : f16
      } : tensor<8x20x20x256xf16> to tensor<8x21x21x256xf16>
      %s = tensor.empty() : tensor<3x3xf16>
      %f = linalg.fill ins(%z : f16) outs(%o : tensor<8x10x10x256xf16>) -> tensor<8x10x10x256xf16>
      %g = linalg.generic {indexing_maps = [#in, #w, #out],
          iterator_types = ["parallel", "parallel", "parallel", "parallel", "reduction", "reduction"]}
          ins(%p, %s : tensor<8x21x21x256xf16>, tensor<3x3xf16>)
          outs(%f : tensor<8x10x10x256xf16>) {
      ^bb1(%u: f16, %v: f16, %m: f16):
        %q = arith.maximumf %m, %u : f16
        linalg.yield %q : f16
      } -> tensor<8x10x10x256xf16>
      kernel.yield %g : tensor<8x10x10x256xf16>
    } -> tensor<8x10x10x256xf16>
    return %r : tensor<8x10x10x256xf16>
  }
}

// -----

// The number of channels does not divide by four, and windows have nothing in common: an element a
// thread, neighbours being channels.
// CHECK-LABEL: rt.variant @apart
// CHECK: schedule <"window", {run = 1 : i64, threads = 128 : i64, vector = 1 : i64}>
#in = affine_map<(n, y, x, c, ky, kx) -> (n, y * 2 + ky, x * 2 + kx, c)>
#w = affine_map<(n, y, x, c, ky, kx) -> (ky, kx)>
#out = affine_map<(n, y, x, c, ky, kx) -> (n, y, x, c)>
rt.variant @apart target "sm_80" {
  func.func @main(%x0: tensor<2x8x8x27xf32>) -> tensor<2x4x4x27xf32> {
    %e = tensor.empty() : tensor<2x4x4x27xf32>
    %r = kernel.dispatch ins(%x0 : tensor<2x8x8x27xf32>)
                         outs(%e : tensor<2x4x4x27xf32>) {
    ^bb0(%a0: tensor<2x8x8x27xf32>, %o: tensor<2x4x4x27xf32>):
      %z = arith.constant 0.0 : f32
      %s = tensor.empty() : tensor<2x2xf32>
      %f = linalg.fill ins(%z : f32) outs(%o : tensor<2x4x4x27xf32>) -> tensor<2x4x4x27xf32>
      %g = linalg.generic {indexing_maps = [#in, #w, #out],
          iterator_types = ["parallel", "parallel", "parallel", "parallel", "reduction", "reduction"]}
          ins(%a0, %s : tensor<2x8x8x27xf32>, tensor<2x2xf32>)
          outs(%f : tensor<2x4x4x27xf32>) {
      ^bb1(%u: f32, %v: f32, %m: f32):
        %q = arith.addf %m, %u : f32
        linalg.yield %q : f32
      } -> tensor<2x4x4x27xf32>
      kernel.yield %g : tensor<2x4x4x27xf32>
    } -> tensor<2x4x4x27xf32>
    return %r : tensor<2x4x4x27xf32>
  }
}

// -----

// A mean over all places: threads of a vector of channels share the places, and add what they have in
// shared memory, in one order.
// CHECK-LABEL: rt.variant @mean
// CHECK: schedule <"columns", {rows = {{[0-9]+}} : i64, threads = {{[0-9]+}} : i64, vector = {{[0-9]+}} : i64}>
// KERNEL-LABEL: rt.variant @mean
// KERNEL: workgroup(
// KERNEL: gpu.barrier
#in = affine_map<(n, c, y, x) -> (n, y, x, c)>
#out = affine_map<(n, c, y, x) -> (n, c)>
#same = affine_map<(n, c) -> (n, c)>
rt.variant @mean target "sm_80" {
  func.func @main(%x0: tensor<2x7x7x256xf32>) -> tensor<2x256xf32> {
    %e = tensor.empty() : tensor<2x256xf32>
    %r = kernel.dispatch ins(%x0 : tensor<2x7x7x256xf32>)
                         outs(%e : tensor<2x256xf32>) {
    ^bb0(%a0: tensor<2x7x7x256xf32>, %o: tensor<2x256xf32>):
      %z = arith.constant 0.0 : f32
      %f = linalg.fill ins(%z : f32) outs(%o : tensor<2x256xf32>) -> tensor<2x256xf32>
      %h = linalg.generic {indexing_maps = [#in, #out],
          iterator_types = ["parallel", "parallel", "reduction", "reduction"]}
          ins(%a0 : tensor<2x7x7x256xf32>) outs(%f : tensor<2x256xf32>) {
      ^bb1(%u: f32, %s: f32):
        %q = arith.addf %s, %u : f32
        linalg.yield %q : f32
      } -> tensor<2x256xf32>
      %g = linalg.generic {indexing_maps = [#same, #same], iterator_types = ["parallel", "parallel"]}
          ins(%h : tensor<2x256xf32>) outs(%o : tensor<2x256xf32>) {
      ^bb1(%u: f32, %s: f32):
        %c = arith.constant 49.0 : f32
        %q = arith.divf %u, %c : f32
        linalg.yield %q : f32
      } -> tensor<2x256xf32>
      kernel.yield %g : tensor<2x256xf32>
    } -> tensor<2x256xf32>
    return %r : tensor<2x256xf32>
  }
}

// -----

// A convolution with padding is a product whose depth ends with the channels, consecutive in both
// operands: what is padded is padded for all of a vector along them.
// CHECK-LABEL: rt.variant @convolution
// CHECK: schedule <"contraction", {column_vector = array<i64: 4, 1>, row_vector = array<i64: 1, 4>
// KERNEL-LABEL: rt.variant @convolution
// KERNEL: kernel.load_global {{.*}} of f32, #kernel.copied<vector = 4, along = columns,
// KERNEL: kernel.load_global {{.*}} of f32, #kernel.copied<vector = 4, along = columns,
#in = affine_map<(n, y, x, f, ky, kx, c) -> (n, y + ky, x + kx, c)>
#w = affine_map<(n, y, x, f, ky, kx, c) -> (ky, kx, c, f)>
#out = affine_map<(n, y, x, f, ky, kx, c) -> (n, y, x, f)>
rt.variant @convolution target "sm_80" {
  func.func @main(%x0: tensor<1x9x9x24xf32>,
                  %x1: tensor<3x3x24x40xf32>) -> tensor<1x9x9x40xf32> {
    %e = tensor.empty() : tensor<1x9x9x40xf32>
    %r = kernel.dispatch ins(%x0, %x1 : tensor<1x9x9x24xf32>, tensor<3x3x24x40xf32>)
                         outs(%e : tensor<1x9x9x40xf32>) {
    ^bb0(%a0: tensor<1x9x9x24xf32>, %a1: tensor<3x3x24x40xf32>, %o: tensor<1x9x9x40xf32>):
      %z = arith.constant 0.0 : f32
      %p = tensor.pad %a0 low[0, 1, 1, 0] high[0, 1, 1, 0] {
      ^bb1(%i0: index, %i1: index, %i2: index, %i3: index):
        tensor.yield %z : f32
      } : tensor<1x9x9x24xf32> to tensor<1x11x11x24xf32>
      %f = linalg.fill ins(%z : f32) outs(%o : tensor<1x9x9x40xf32>) -> tensor<1x9x9x40xf32>
      %g = linalg.generic {indexing_maps = [#in, #w, #out], iterator_types =
          ["parallel", "parallel", "parallel", "parallel", "reduction", "reduction", "reduction"]}
          ins(%p, %a1 : tensor<1x11x11x24xf32>, tensor<3x3x24x40xf32>)
          outs(%f : tensor<1x9x9x40xf32>) {
      ^bb1(%u: f32, %v: f32, %s: f32):
        %q = math.fma %u, %v, %s : f32
        linalg.yield %q : f32
      } -> tensor<1x9x9x40xf32>
      kernel.yield %g : tensor<1x9x9x40xf32>
    } -> tensor<1x9x9x40xf32>
    return %r : tensor<1x9x9x40xf32>
  }
}
