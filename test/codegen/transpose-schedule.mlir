// RUN: cameo-opt %s --split-input-file --pass-pipeline='builtin.module(rt.variant(cameo-assign-schedules))' | FileCheck %s
// RUN: cameo-opt %s --split-input-file --pass-pipeline='builtin.module(rt.variant(cameo-assign-schedules,cameo-lower-dispatches))' | FileCheck %s --check-prefix=KERNEL

// A matrix: read and written 16 bytes at a time, and a word at a time in between. Both sides have a
// tile that is not whole.
// CHECK-LABEL: rt.variant @matrix
// CHECK: schedule <"transpose", {load_vector = array<i64: 4>, store_vector = 4 : i64, threads = 128 : i64}>
// KERNEL-LABEL: rt.variant @matrix
// KERNEL: workgroup(%[[TILE:.*]] : memref<1055xf32
// KERNEL: scf.if
// KERNEL: vector.load {{.*}} {kernel.alignment = 16 : i64} : memref<?xf32
// KERNEL-COUNT-4: memref.store {{.*}}, %[[TILE]]
// KERNEL: gpu.barrier
// KERNEL-COUNT-4: memref.load %[[TILE]]
// KERNEL: vector.store {{.*}} {kernel.alignment = 16 : i64}
#in = affine_map<(i, j) -> (j, i)>
#out = affine_map<(i, j) -> (i, j)>
rt.variant @matrix target "sm_80" {
  func.func @main(%x0: tensor<100x72xf32>) -> tensor<72x100xf32> {
    %e = tensor.empty() : tensor<72x100xf32>
    %r = kernel.dispatch ins(%x0 : tensor<100x72xf32>)
                         outs(%e : tensor<72x100xf32>) {
    ^bb0(%a0: tensor<100x72xf32>, %o: tensor<72x100xf32>):
      %g = linalg.generic {indexing_maps = [#in, #out],
          iterator_types = ["parallel", "parallel"]}
          ins(%a0 : tensor<100x72xf32>) outs(%o : tensor<72x100xf32>) {
      ^bb1(%v: f32, %w: f32):
        linalg.yield %v : f32
      } -> tensor<72x100xf32>
      kernel.yield %g : tensor<72x100xf32>
    } -> tensor<72x100xf32>
    return %r : tensor<72x100xf32>
  }
}

// -----

// Keys of attention, in half precision: two lines of the operand make words of two elements, which are
// stored and loaded together.
// CHECK-LABEL: rt.variant @heads
// CHECK: schedule <"transpose", {load_vector = array<i64: 8>, store_vector = 8 : i64
// KERNEL-LABEL: rt.variant @heads
// KERNEL-COUNT-2: vector.load {{.*}} {kernel.alignment = 16 : i64} : memref<?xf16
// KERNEL-COUNT-8: vector.store {{.*}} {kernel.alignment = 4 : i64}
// KERNEL: gpu.barrier
// KERNEL-COUNT-4: vector.load {{.*}} {kernel.alignment = 4 : i64}
// KERNEL: vector.store {{.*}} {kernel.alignment = 16 : i64}
#in = affine_map<(b, h, d, s) -> (b, s, h, d)>
#out = affine_map<(b, h, d, s) -> (b, h, d, s)>
rt.variant @heads target "sm_80" {
  func.func @main(%x0: tensor<3x40x4x64xf16>) -> tensor<3x4x64x40xf16> {
    %e = tensor.empty() : tensor<3x4x64x40xf16>
    %r = kernel.dispatch ins(%x0 : tensor<3x40x4x64xf16>)
                         outs(%e : tensor<3x4x64x40xf16>) {
    ^bb0(%a0: tensor<3x40x4x64xf16>, %o: tensor<3x4x64x40xf16>):
      %g = linalg.generic {indexing_maps = [#in, #out],
          iterator_types = ["parallel", "parallel", "parallel", "parallel"]}
          ins(%a0 : tensor<3x40x4x64xf16>) outs(%o : tensor<3x4x64x40xf16>) {
      ^bb1(%v: f16, %w: f16):
        linalg.yield %v : f16
      } -> tensor<3x4x64x40xf16>
      kernel.yield %g : tensor<3x4x64x40xf16>
    } -> tensor<3x4x64x40xf16>
    return %r : tensor<3x4x64x40xf16>
  }
}

// -----

// An image becomes channels last: y and x are one run of 196. What has the order of the result is read
// as results are written.
// CHECK-LABEL: rt.variant @image
// CHECK: schedule <"transpose", {load_vector = array<i64: 4>, store_vector = 4 : i64
// KERNEL-LABEL: rt.variant @image
// KERNEL: gpu.barrier
// KERNEL-COUNT-2: vector.load {{.*}} {kernel.alignment = 16 : i64} : memref<?xf32
// KERNEL: vector.store {{.*}} {kernel.alignment = 16 : i64}
#turned = affine_map<(n, y, x, c) -> (n, c, y, x)>
#bias = affine_map<(n, y, x, c) -> (c)>
#same = affine_map<(n, y, x, c) -> (n, y, x, c)>
rt.variant @image target "sm_80" {
  func.func @main(%x0: tensor<2x24x14x14xf32>, %x1: tensor<24xf32>, %x2: tensor<2x14x14x24xf32>) -> tensor<2x14x14x24xf32> {
    %e = tensor.empty() : tensor<2x14x14x24xf32>
    %r = kernel.dispatch ins(%x0, %x1, %x2 : tensor<2x24x14x14xf32>, tensor<24xf32>, tensor<2x14x14x24xf32>)
                         outs(%e : tensor<2x14x14x24xf32>) {
    ^bb0(%a0: tensor<2x24x14x14xf32>, %a1: tensor<24xf32>, %a2: tensor<2x14x14x24xf32>, %o: tensor<2x14x14x24xf32>):
      %g = linalg.generic {indexing_maps = [#turned, #bias, #same, #same],
          iterator_types = ["parallel", "parallel", "parallel", "parallel"]}
          ins(%a0, %a1, %a2 : tensor<2x24x14x14xf32>, tensor<24xf32>, tensor<2x14x14x24xf32>) outs(%o : tensor<2x14x14x24xf32>) {
      ^bb1(%v: f32, %s: f32, %t: f32, %w: f32):
        %p = arith.addf %v, %s : f32
        %q = arith.addf %p, %t : f32
        linalg.yield %q : f32
      } -> tensor<2x14x14x24xf32>
      kernel.yield %g : tensor<2x14x14x24xf32>
    } -> tensor<2x14x14x24xf32>
    return %r : tensor<2x14x14x24xf32>
  }
}

// -----

// And back: vectors of the result go on where lines of 14 end.
// CHECK-LABEL: rt.variant @back
// CHECK: schedule <"transpose", {load_vector = array<i64: 4>, store_vector = 4 : i64
#in = affine_map<(n, c, y, x) -> (n, y, x, c)>
#out = affine_map<(n, c, y, x) -> (n, c, y, x)>
rt.variant @back target "sm_80" {
  func.func @main(%x0: tensor<2x14x14x24xf32>) -> tensor<2x24x14x14xf32> {
    %e = tensor.empty() : tensor<2x24x14x14xf32>
    %r = kernel.dispatch ins(%x0 : tensor<2x14x14x24xf32>)
                         outs(%e : tensor<2x24x14x14xf32>) {
    ^bb0(%a0: tensor<2x14x14x24xf32>, %o: tensor<2x24x14x14xf32>):
      %g = linalg.generic {indexing_maps = [#in, #out],
          iterator_types = ["parallel", "parallel", "parallel", "parallel"]}
          ins(%a0 : tensor<2x14x14x24xf32>) outs(%o : tensor<2x24x14x14xf32>) {
      ^bb1(%v: f32, %w: f32):
        linalg.yield %v : f32
      } -> tensor<2x24x14x14xf32>
      kernel.yield %g : tensor<2x24x14x14xf32>
    } -> tensor<2x24x14x14xf32>
    return %r : tensor<2x24x14x14xf32>
  }
}

// -----

// Bytes: four lines to a word. Lines of 130 are written two at a time.
// CHECK-LABEL: rt.variant @bytes
// CHECK: schedule <"transpose", {load_vector = array<i64: 16>, store_vector = 2 : i64
#in = affine_map<(i, j) -> (j, i)>
#out = affine_map<(i, j) -> (i, j)>
rt.variant @bytes target "sm_80" {
  func.func @main(%x0: tensor<130x192xi8>) -> tensor<192x130xi8> {
    %e = tensor.empty() : tensor<192x130xi8>
    %r = kernel.dispatch ins(%x0 : tensor<130x192xi8>)
                         outs(%e : tensor<192x130xi8>) {
    ^bb0(%a0: tensor<130x192xi8>, %o: tensor<192x130xi8>):
      %g = linalg.generic {indexing_maps = [#in, #out],
          iterator_types = ["parallel", "parallel"]}
          ins(%a0 : tensor<130x192xi8>) outs(%o : tensor<192x130xi8>) {
      ^bb1(%v: i8, %w: i8):
        linalg.yield %v : i8
      } -> tensor<192x130xi8>
      kernel.yield %g : tensor<192x130xi8>
    } -> tensor<192x130xi8>
    return %r : tensor<192x130xi8>
  }
}

// -----

// Doubles: tiles of 16 x 16.
// CHECK-LABEL: rt.variant @doubles
// CHECK: schedule <"transpose", {load_vector = array<i64: 2>, store_vector = 2 : i64, threads = 64 : i64}>
#in = affine_map<(i, j) -> (j, i)>
#out = affine_map<(i, j) -> (i, j)>
rt.variant @doubles target "sm_80" {
  func.func @main(%x0: tensor<50x60xf64>) -> tensor<60x50xf64> {
    %e = tensor.empty() : tensor<60x50xf64>
    %r = kernel.dispatch ins(%x0 : tensor<50x60xf64>)
                         outs(%e : tensor<60x50xf64>) {
    ^bb0(%a0: tensor<50x60xf64>, %o: tensor<60x50xf64>):
      %g = linalg.generic {indexing_maps = [#in, #out],
          iterator_types = ["parallel", "parallel"]}
          ins(%a0 : tensor<50x60xf64>) outs(%o : tensor<60x50xf64>) {
      ^bb1(%v: f64, %w: f64):
        linalg.yield %v : f64
      } -> tensor<60x50xf64>
      kernel.yield %g : tensor<60x50xf64>
    } -> tensor<60x50xf64>
    return %r : tensor<60x50xf64>
  }
}

// -----

// Of a size known only at run time no more is read or written together than is certain.
// CHECK-LABEL: rt.variant @open
// CHECK: schedule <"transpose", {load_vector = array<i64: 4>, store_vector = 1 : i64
#in = affine_map<(i, j) -> (j, i)>
#out = affine_map<(i, j) -> (i, j)>
rt.variant @open target "sm_80" {
  func.func @main(%x0: tensor<?x96xf32>) -> tensor<96x?xf32> {
    %c0 = arith.constant 0 : index
    %n = tensor.dim %x0, %c0 : tensor<?x96xf32>
    %e = tensor.empty(%n) : tensor<96x?xf32>
    %r = kernel.dispatch ins(%x0 : tensor<?x96xf32>)
                         outs(%e : tensor<96x?xf32>) {
    ^bb0(%a0: tensor<?x96xf32>, %o: tensor<96x?xf32>):
      %g = linalg.generic {indexing_maps = [#in, #out],
          iterator_types = ["parallel", "parallel"]}
          ins(%a0 : tensor<?x96xf32>) outs(%o : tensor<96x?xf32>) {
      ^bb1(%v: f32, %w: f32):
        linalg.yield %v : f32
      } -> tensor<96x?xf32>
      kernel.yield %g : tensor<96x?xf32>
    } -> tensor<96x?xf32>
    return %r : tensor<96x?xf32>
  }
}

// -----

// Two operands of unlike types, one of them a part of its tensor, through tiles of their own.
// CHECK-LABEL: rt.variant @scaled
// CHECK: schedule <"transpose", {load_vector = array<i64: 4, 8>, store_vector = 4 : i64
#turned = affine_map<(i, j) -> (j, i)>
#part = affine_map<(i, j) -> (j, i + 64)>
#same = affine_map<(i, j) -> (i, j)>
rt.variant @scaled target "sm_80" {
  func.func @main(%x0: tensor<80x64xf32>, %x1: tensor<80x128xf16>) -> tensor<64x80xf32> {
    %e = tensor.empty() : tensor<64x80xf32>
    %r = kernel.dispatch ins(%x0, %x1 : tensor<80x64xf32>, tensor<80x128xf16>)
                         outs(%e : tensor<64x80xf32>) {
    ^bb0(%a0: tensor<80x64xf32>, %a1: tensor<80x128xf16>, %o: tensor<64x80xf32>):
      %g = linalg.generic {indexing_maps = [#turned, #part, #same],
          iterator_types = ["parallel", "parallel"]}
          ins(%a0, %a1 : tensor<80x64xf32>, tensor<80x128xf16>) outs(%o : tensor<64x80xf32>) {
      ^bb1(%v: f32, %s: f16, %w: f32):
        %p = arith.extf %s : f16 to f32
        %q = arith.mulf %v, %p : f32
        linalg.yield %q : f32
      } -> tensor<64x80xf32>
      kernel.yield %g : tensor<64x80xf32>
    } -> tensor<64x80xf32>
    return %r : tensor<64x80xf32>
  }
}

// -----

// Patches as tokens: what a reshape has split is one run in memory.
// CHECK-LABEL: rt.variant @tokens
// CHECK: schedule <"transpose", {load_vector = array<i64: 1>, store_vector = 4 : i64
#in = affine_map<(n, s, c) -> (n, c, s floordiv 7, s mod 7)>
#out = affine_map<(n, s, c) -> (n, s, c)>
rt.variant @tokens target "sm_80" {
  func.func @main(%x0: tensor<2x96x7x7xf32>) -> tensor<2x49x96xf32> {
    %e = tensor.empty() : tensor<2x49x96xf32>
    %r = kernel.dispatch ins(%x0 : tensor<2x96x7x7xf32>)
                         outs(%e : tensor<2x49x96xf32>) {
    ^bb0(%a0: tensor<2x96x7x7xf32>, %o: tensor<2x49x96xf32>):
      %g = linalg.generic {indexing_maps = [#in, #out],
          iterator_types = ["parallel", "parallel", "parallel"]}
          ins(%a0 : tensor<2x96x7x7xf32>) outs(%o : tensor<2x49x96xf32>) {
      ^bb1(%v: f32, %w: f32):
        linalg.yield %v : f32
      } -> tensor<2x49x96xf32>
      kernel.yield %g : tensor<2x49x96xf32>
    } -> tensor<2x49x96xf32>
    return %r : tensor<2x49x96xf32>
  }
}

// -----

// Three channels would leave most of a tile empty.
// CHECK-LABEL: rt.variant @colours
// CHECK: schedule <"map"
#in = affine_map<(n, y, x, c) -> (n, c, y, x)>
#out = affine_map<(n, y, x, c) -> (n, y, x, c)>
rt.variant @colours target "sm_80" {
  func.func @main(%x0: tensor<2x3x64x64xf32>) -> tensor<2x64x64x3xf32> {
    %e = tensor.empty() : tensor<2x64x64x3xf32>
    %r = kernel.dispatch ins(%x0 : tensor<2x3x64x64xf32>)
                         outs(%e : tensor<2x64x64x3xf32>) {
    ^bb0(%a0: tensor<2x3x64x64xf32>, %o: tensor<2x64x64x3xf32>):
      %g = linalg.generic {indexing_maps = [#in, #out],
          iterator_types = ["parallel", "parallel", "parallel", "parallel"]}
          ins(%a0 : tensor<2x3x64x64xf32>) outs(%o : tensor<2x64x64x3xf32>) {
      ^bb1(%v: f32, %w: f32):
        linalg.yield %v : f32
      } -> tensor<2x64x64x3xf32>
      kernel.yield %g : tensor<2x64x64x3xf32>
    } -> tensor<2x64x64x3xf32>
    return %r : tensor<2x64x64x3xf32>
  }
}

// -----

// A small tensor stays in caches.
// CHECK-LABEL: rt.variant @small
// CHECK: schedule <"map"
#in = affine_map<(i, j) -> (j, i)>
#out = affine_map<(i, j) -> (i, j)>
rt.variant @small target "sm_80" {
  func.func @main(%x0: tensor<32x64xf32>) -> tensor<64x32xf32> {
    %e = tensor.empty() : tensor<64x32xf32>
    %r = kernel.dispatch ins(%x0 : tensor<32x64xf32>)
                         outs(%e : tensor<64x32xf32>) {
    ^bb0(%a0: tensor<32x64xf32>, %o: tensor<64x32xf32>):
      %g = linalg.generic {indexing_maps = [#in, #out],
          iterator_types = ["parallel", "parallel"]}
          ins(%a0 : tensor<32x64xf32>) outs(%o : tensor<64x32xf32>) {
      ^bb1(%v: f32, %w: f32):
        linalg.yield %v : f32
      } -> tensor<64x32xf32>
      kernel.yield %g : tensor<64x32xf32>
    } -> tensor<64x32xf32>
    return %r : tensor<64x32xf32>
  }
}

// -----

// The innermost dimension stays innermost.
// CHECK-LABEL: rt.variant @outer
// CHECK: schedule <"map"
#in = affine_map<(i, j, k) -> (j, i, k)>
#out = affine_map<(i, j, k) -> (i, j, k)>
rt.variant @outer target "sm_80" {
  func.func @main(%x0: tensor<64x48x64xf32>) -> tensor<48x64x64xf32> {
    %e = tensor.empty() : tensor<48x64x64xf32>
    %r = kernel.dispatch ins(%x0 : tensor<64x48x64xf32>)
                         outs(%e : tensor<48x64x64xf32>) {
    ^bb0(%a0: tensor<64x48x64xf32>, %o: tensor<48x64x64xf32>):
      %g = linalg.generic {indexing_maps = [#in, #out],
          iterator_types = ["parallel", "parallel", "parallel"]}
          ins(%a0 : tensor<64x48x64xf32>) outs(%o : tensor<48x64x64xf32>) {
      ^bb1(%v: f32, %w: f32):
        linalg.yield %v : f32
      } -> tensor<48x64x64xf32>
      kernel.yield %g : tensor<48x64x64xf32>
    } -> tensor<48x64x64xf32>
    return %r : tensor<48x64x64xf32>
  }
}

// -----

// Two places of one operand would need two tiles.
// CHECK-LABEL: rt.variant @symmetric
// CHECK: schedule <"map"
#turned = affine_map<(i, j) -> (j, i)>
#same = affine_map<(i, j) -> (i, j)>
rt.variant @symmetric target "sm_80" {
  func.func @main(%x0: tensor<64x64xf32>) -> tensor<64x64xf32> {
    %e = tensor.empty() : tensor<64x64xf32>
    %r = kernel.dispatch ins(%x0 : tensor<64x64xf32>)
                         outs(%e : tensor<64x64xf32>) {
    ^bb0(%a0: tensor<64x64xf32>, %o: tensor<64x64xf32>):
      %g = linalg.generic {indexing_maps = [#same, #turned, #same],
          iterator_types = ["parallel", "parallel"]}
          ins(%a0, %a0 : tensor<64x64xf32>, tensor<64x64xf32>) outs(%o : tensor<64x64xf32>) {
      ^bb1(%u: f32, %v: f32, %w: f32):
        %q = arith.addf %u, %v : f32
        linalg.yield %q : f32
      } -> tensor<64x64xf32>
      kernel.yield %g : tensor<64x64xf32>
    } -> tensor<64x64xf32>
    return %r : tensor<64x64xf32>
  }
}
