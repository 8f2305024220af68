// Dispatches whose work falls apart along the first dimension have one kernel with 32-bit indices.
//
// RUN: cameo-opt %s --split-input-file --pass-pipeline='builtin.module(rt.variant(cameo-assign-schedules,cameo-lower-dispatches))' | FileCheck %s
// RUN: cameo-opt %s --split-input-file --pass-pipeline='builtin.module(rt.variant(cameo-assign-schedules,cameo-lower-dispatches{index-bound=8192}))' | FileCheck %s --check-prefix=BOUND

// A chunk has (2^30 - 1) / 4096 rows, the grid as many chunks along z as there are. A weight that
// does not have the dimension is not advanced.
#id = affine_map<(d0, d1) -> (d0, d1)>
#row = affine_map<(d0, d1) -> (d1)>
// CHECK-LABEL: rt.variant @rows
// CHECK: %[[ROWS:.*]] = arith.constant 262143 : index
// CHECK: arith.minsi %{{.*}}, %[[ROWS]] : index
// CHECK: %[[MOST:.*]] = arith.constant 262143 : index
// CHECK: %[[CHUNKS:.*]] = arith.ceildivsi %{{.*}}, %[[MOST]] : index
// CHECK: %[[ALL:.*]] = arith.index_cast %{{.*}} : index to i64
// CHECK: rt.launch @[[K:.*]]::@[[K]] grid(%{{.*}}, %{{.*}}, %[[CHUNKS]]) {{.*}}args(%{{.*}}, %{{.*}}, %{{.*}}, %[[ALL]] :
// CHECK-NOT: rt.launch
// CHECK: gpu.module @[[K]] attributes {kernel.index_bits = 32 : i32}
// CHECK: gpu.func {{.*}}(%[[X:.*]]: memref<{{[^,]*}}, {{.*}}, %[[B:.*]]: memref<{{[^,]*}}, {{.*}}, %[[Y:.*]]: memref<{{[^,]*}}, {{.*}}, %[[EXTENT:.*]]: i64)
// CHECK: %[[Z:.*]] = gpu.block_id z
// CHECK: %[[CHUNK:.*]] = arith.index_castui %[[Z]] : index to i64
// CHECK: %[[LEFT:.*]] = arith.subi %[[EXTENT]], %{{.*}} : i64
// CHECK: %[[MOST:.*]] = arith.minsi %[[LEFT]], %{{.*}} : i64
// CHECK: %[[SIZE:.*]] = arith.index_cast %[[MOST]] : i64 to index
// CHECK: kernel.advance %[[X]] by %{{.*}} : memref<?xf32
// CHECK-NOT: kernel.advance %[[B]]
// CHECK: kernel.advance %[[Y]] by %{{.*}} : memref<?xf32
// BOUND-LABEL: rt.variant @rows
// BOUND: arith.constant 1 : index
// BOUND: gpu.module @{{.*}} attributes {kernel.index_bits = 32 : i32}
rt.variant @rows target "sm_80" {
  func.func @main(%x: tensor<?x4096xf32>, %w: tensor<4096xf32>, %n: index) -> tensor<?x4096xf32> {
    %e = tensor.empty(%n) : tensor<?x4096xf32>
    %r = kernel.dispatch ins(%x, %w : tensor<?x4096xf32>, tensor<4096xf32>) outs(%e : tensor<?x4096xf32>) {
    ^bb0(%a: tensor<?x4096xf32>, %b: tensor<4096xf32>, %o: tensor<?x4096xf32>):
      %g = linalg.generic {indexing_maps = [#id, #row, #id], iterator_types = ["parallel", "parallel"]}
          ins(%a, %b : tensor<?x4096xf32>, tensor<4096xf32>) outs(%o : tensor<?x4096xf32>) {
      ^bb1(%v: f32, %u: f32, %t: f32):
        %q = arith.addf %v, %u : f32
        linalg.yield %q : f32
      } -> tensor<?x4096xf32>
      kernel.yield %g : tensor<?x4096xf32>
    } -> tensor<?x4096xf32>
    return %r : tensor<?x4096xf32>
  }
}

// -----

// Three elements of an index: chunks begin where 16 elements do, so that vectors stay aligned.
#id = affine_map<(d0, d1) -> (d0, d1)>
// CHECK-LABEL: rt.variant @aligned
// CHECK: arith.constant 357913936 : index
// BOUND-LABEL: rt.variant @aligned
// BOUND: arith.constant 2720 : index
rt.variant @aligned target "sm_80" {
  func.func @main(%x: tensor<?x3xf32>, %n: index) -> tensor<?x3xf32> {
    %e = tensor.empty(%n) : tensor<?x3xf32>
    %r = kernel.dispatch ins(%x : tensor<?x3xf32>) outs(%e : tensor<?x3xf32>) {
    ^bb0(%a: tensor<?x3xf32>, %o: tensor<?x3xf32>):
      %g = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel", "parallel"]}
          ins(%a : tensor<?x3xf32>) outs(%o : tensor<?x3xf32>) {
      ^bb1(%v: f32, %t: f32):
        %q = arith.negf %v : f32
        linalg.yield %q : f32
      } -> tensor<?x3xf32>
      kernel.yield %g : tensor<?x3xf32>
    } -> tensor<?x3xf32>
    return %r : tensor<?x3xf32>
  }
}

// -----

// A row is more than 32 bits reach.
#id = affine_map<(d0, d1) -> (d0, d1)>
// CHECK-LABEL: rt.variant @long_rows
// CHECK-NOT: kernel.advance
// CHECK: kernel.index_bits = 64 : i32
rt.variant @long_rows target "sm_80" {
  func.func @main(%x: tensor<?x1073741824xi8>, %n: index) -> tensor<?x1073741824xi8> {
    %e = tensor.empty(%n) : tensor<?x1073741824xi8>
    %r = kernel.dispatch ins(%x : tensor<?x1073741824xi8>) outs(%e : tensor<?x1073741824xi8>) {
    ^bb0(%a: tensor<?x1073741824xi8>, %o: tensor<?x1073741824xi8>):
      %g = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel", "parallel"]}
          ins(%a : tensor<?x1073741824xi8>) outs(%o : tensor<?x1073741824xi8>) {
      ^bb1(%v: i8, %t: i8):
        %q = arith.addi %v, %v : i8
        linalg.yield %q : i8
      } -> tensor<?x1073741824xi8>
      kernel.yield %g : tensor<?x1073741824xi8>
    } -> tensor<?x1073741824xi8>
    return %r : tensor<?x1073741824xi8>
  }
}

// -----

// All rows make one result: two kernels, one of them with an empty grid.
#id = affine_map<(d0, d1) -> (d0, d1)>
#column = affine_map<(d0, d1) -> (d1)>
// CHECK-LABEL: rt.variant @across
// CHECK-NOT: kernel.advance
// CHECK: kernel.fallback
// CHECK-NOT: kernel.advance
rt.variant @across target "sm_80" {
  func.func @main(%x: tensor<?x64xf32>) -> tensor<64xf32> {
    %e = tensor.empty() : tensor<64xf32>
    %r = kernel.dispatch ins(%x : tensor<?x64xf32>) outs(%e : tensor<64xf32>) {
    ^bb0(%a: tensor<?x64xf32>, %o: tensor<64xf32>):
      %z = arith.constant 0.0 : f32
      %f = linalg.fill ins(%z : f32) outs(%o : tensor<64xf32>) -> tensor<64xf32>
      %g = linalg.generic {indexing_maps = [#id, #column], iterator_types = ["reduction", "parallel"]}
          ins(%a : tensor<?x64xf32>) outs(%f : tensor<64xf32>) {
      ^bb1(%v: f32, %t: f32):
        %q = arith.addf %v, %t : f32
        linalg.yield %q : f32
      } -> tensor<64xf32>
      kernel.yield %g : tensor<64xf32>
    } -> tensor<64xf32>
    return %r : tensor<64xf32>
  }
}

// -----

// The result depends on the index along the dimension.
#id = affine_map<(d0, d1) -> (d0, d1)>
// CHECK-LABEL: rt.variant @own_index
// CHECK-NOT: kernel.advance
// CHECK: kernel.fallback
// CHECK-NOT: kernel.advance
rt.variant @own_index target "sm_80" {
  func.func @main(%n: index) -> tensor<?x64xi64> {
    %e = tensor.empty(%n) : tensor<?x64xi64>
    %r = kernel.dispatch outs(%e : tensor<?x64xi64>) {
    ^bb0(%o: tensor<?x64xi64>):
      %g = linalg.generic {indexing_maps = [#id], iterator_types = ["parallel", "parallel"]}
          outs(%o : tensor<?x64xi64>) {
      ^bb1(%t: i64):
        %i = linalg.index 0 : index
        %q = arith.index_cast %i : index to i64
        linalg.yield %q : i64
      } -> tensor<?x64xi64>
      kernel.yield %g : tensor<?x64xi64>
    } -> tensor<?x64xi64>
    return %r : tensor<?x64xi64>
  }
}

// -----

// The first dimension of the one is not the other's.
#id = affine_map<(d0, d1) -> (d0, d1)>
#turned = affine_map<(d0, d1) -> (d1, d0)>
// CHECK-LABEL: rt.variant @transposed
// CHECK-NOT: kernel.advance
// CHECK: kernel.fallback
// CHECK-NOT: kernel.advance
rt.variant @transposed target "sm_80" {
  func.func @main(%x: tensor<?x64xf32>, %n: index) -> tensor<64x?xf32> {
    %e = tensor.empty(%n) : tensor<64x?xf32>
    %r = kernel.dispatch ins(%x : tensor<?x64xf32>) outs(%e : tensor<64x?xf32>) {
    ^bb0(%a: tensor<?x64xf32>, %o: tensor<64x?xf32>):
      %g = linalg.generic {indexing_maps = [#turned, #id], iterator_types = ["parallel", "parallel"]}
          ins(%a : tensor<?x64xf32>) outs(%o : tensor<64x?xf32>) {
      ^bb1(%v: f32, %t: f32):
        linalg.yield %v : f32
      } -> tensor<64x?xf32>
      kernel.yield %g : tensor<64x?xf32>
    } -> tensor<64x?xf32>
    return %r : tensor<64x?xf32>
  }
}

// -----

// A slice may be any part of the dimension, unless its size says that it is the whole.
#id = affine_map<(d0, d1) -> (d0, d1)>
// CHECK-LABEL: rt.variant @slice
// CHECK: kernel.advance
// CHECK-NOT: kernel.fallback
// CHECK-LABEL: rt.variant @part
// CHECK-NOT: kernel.advance
rt.variant @slice target "sm_80" {
  func.func @main(%x: tensor<?x64xf32>, %n: index) -> tensor<?x32xf32> {
    %e = tensor.empty(%n) : tensor<?x32xf32>
    %r = kernel.dispatch ins(%x : tensor<?x64xf32>) outs(%e : tensor<?x32xf32>) {
    ^bb0(%a: tensor<?x64xf32>, %o: tensor<?x32xf32>):
      %c0 = arith.constant 0 : index
      %d = tensor.dim %a, %c0 : tensor<?x64xf32>
      %s = tensor.extract_slice %a[0, 16] [%d, 32] [1, 1] : tensor<?x64xf32> to tensor<?x32xf32>
      %g = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel", "parallel"]}
          ins(%s : tensor<?x32xf32>) outs(%o : tensor<?x32xf32>) {
      ^bb1(%v: f32, %t: f32):
        linalg.yield %v : f32
      } -> tensor<?x32xf32>
      kernel.yield %g : tensor<?x32xf32>
    } -> tensor<?x32xf32>
    return %r : tensor<?x32xf32>
  }
}
rt.variant @part target "sm_80" {
  func.func @main(%x: tensor<?x64xf32>, %n: index) -> tensor<?x32xf32> {
    %e = tensor.empty(%n) : tensor<?x32xf32>
    %r = kernel.dispatch ins(%x : tensor<?x64xf32>) scalars(%n : index) outs(%e : tensor<?x32xf32>) {
    ^bb0(%a: tensor<?x64xf32>, %d: index, %o: tensor<?x32xf32>):
      %s = tensor.extract_slice %a[0, 16] [%d, 32] [1, 1] : tensor<?x64xf32> to tensor<?x32xf32>
      %g = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel", "parallel"]}
          ins(%s : tensor<?x32xf32>) outs(%o : tensor<?x32xf32>) {
      ^bb1(%v: f32, %t: f32):
        linalg.yield %v : f32
      } -> tensor<?x32xf32>
      kernel.yield %g : tensor<?x32xf32>
    } -> tensor<?x32xf32>
    return %r : tensor<?x32xf32>
  }
}

// -----

// Two dimensions that have nothing to do with one another.
#id = affine_map<(d0, d1) -> (d0, d1)>
// CHECK-LABEL: rt.variant @apart
// CHECK-NOT: kernel.advance
// CHECK: kernel.fallback
// CHECK-NOT: kernel.advance
rt.variant @apart target "sm_80" {
  func.func @main(%n: index, %m: index) -> (tensor<?x64xf32>, tensor<?x64xf32>) {
    %e = tensor.empty(%n) : tensor<?x64xf32>
    %f = tensor.empty(%m) : tensor<?x64xf32>
    %r:2 = kernel.dispatch outs(%e, %f : tensor<?x64xf32>, tensor<?x64xf32>) {
    ^bb0(%o: tensor<?x64xf32>, %p: tensor<?x64xf32>):
      %z = arith.constant 0.0 : f32
      %g = linalg.fill ins(%z : f32) outs(%o : tensor<?x64xf32>) -> tensor<?x64xf32>
      %h = linalg.fill ins(%z : f32) outs(%p : tensor<?x64xf32>) -> tensor<?x64xf32>
      kernel.yield %g, %h : tensor<?x64xf32>, tensor<?x64xf32>
    } -> tensor<?x64xf32>, tensor<?x64xf32>
    return %r#0, %r#1 : tensor<?x64xf32>, tensor<?x64xf32>
  }
}

// -----

// A result without the dimension is computed, too, where there is nothing along it: of one chunk.
#id = affine_map<(d0, d1) -> (d0, d1)>
// CHECK-LABEL: rt.variant @beside
// CHECK: %[[CHUNKS:.*]] = arith.maxsi %{{.*}}, %{{.*}} : index
// CHECK: rt.launch {{.*}} grid(%{{.*}}, %{{.*}}, %[[CHUNKS]])
rt.variant @beside target "sm_80" {
  func.func @main(%n: index) -> (tensor<?x64xf32>, tensor<4x64xf32>) {
    %e = tensor.empty(%n) : tensor<?x64xf32>
    %f = tensor.empty() : tensor<4x64xf32>
    %r:2 = kernel.dispatch outs(%e, %f : tensor<?x64xf32>, tensor<4x64xf32>) {
    ^bb0(%o: tensor<?x64xf32>, %p: tensor<4x64xf32>):
      %z = arith.constant 0.0 : f32
      %g = linalg.fill ins(%z : f32) outs(%o : tensor<?x64xf32>) -> tensor<?x64xf32>
      %h = linalg.fill ins(%z : f32) outs(%p : tensor<4x64xf32>) -> tensor<4x64xf32>
      kernel.yield %g, %h : tensor<?x64xf32>, tensor<4x64xf32>
    } -> tensor<?x64xf32>, tensor<4x64xf32>
    return %r#0, %r#1 : tensor<?x64xf32>, tensor<4x64xf32>
  }
}
