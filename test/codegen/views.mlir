// RUN: %cameo-opt --split-input-file --pass-pipeline='builtin.module(rt.variant(cameo-assign-schedules,cameo-lower-dispatches))' %s | FileCheck %s
// Kernels whose operands are views: known strides are constants, others arguments; what is one piece
// is as any other; accesses are as wide as the beginnings of pieces allow.

#id = affine_map<(d0, d1, d2) -> (d0, d1, d2)>
rt.variant @sm_80 target "sm_80" {
  // Both parts have the same strides and the same alignment: one kernel.
  // CHECK-LABEL: func.func @Strided
  // CHECK: rt.launch @[[K:k0[^:]*]]::
  // CHECK: rt.launch @[[K]]::
  // CHECK: gpu.module @[[K]]
  // CHECK-DAG: %[[STRIDE:.*]] = arith.constant 8192 : index
  // CHECK: %[[VECTOR:.*]] = vector.load {{.*}} {kernel.alignment = 16 : i64}
  // CHECK: arith.muli %{{.*}}, %[[STRIDE]]
  // CHECK: vector.store {{.*}} {kernel.alignment = 16 : i64}
  func.func @Strided(%x: tensor<256x32x128xf32>) -> tensor<256x64x128xf32> {
    %s = rt.storage : tensor<256x64x128xf32>
    %v = rt.view %s[0, 0, 0] : tensor<256x64x128xf32> -> tensor<256x32x128xf32>
    %w = rt.view %s[0, 32, 0] : tensor<256x64x128xf32> -> tensor<256x32x128xf32>
    %a = kernel.dispatch ins(%x : tensor<256x32x128xf32>) outs(%v : tensor<256x32x128xf32>) {
    ^bb0(%i: tensor<256x32x128xf32>, %o: tensor<256x32x128xf32>):
      %r = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel", "parallel", "parallel"]}
          ins(%i : tensor<256x32x128xf32>) outs(%o : tensor<256x32x128xf32>) {
      ^bb0(%in: f32, %out: f32):
        %n = arith.negf %in : f32
        linalg.yield %n : f32
      } -> tensor<256x32x128xf32>
      kernel.yield %r : tensor<256x32x128xf32>
    } -> tensor<256x32x128xf32>
    %b = kernel.dispatch ins(%x : tensor<256x32x128xf32>) outs(%w : tensor<256x32x128xf32>) {
    ^bb0(%i: tensor<256x32x128xf32>, %o: tensor<256x32x128xf32>):
      %r = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel", "parallel", "parallel"]}
          ins(%i : tensor<256x32x128xf32>) outs(%o : tensor<256x32x128xf32>) {
      ^bb0(%in: f32, %out: f32):
        %n = arith.negf %in : f32
        linalg.yield %n : f32
      } -> tensor<256x32x128xf32>
      kernel.yield %r : tensor<256x32x128xf32>
    } -> tensor<256x32x128xf32>
    %y = rt.assemble %s dim 1 of %a, %b : tensor<256x64x128xf32> of tensor<256x32x128xf32>, tensor<256x32x128xf32>
    return %y : tensor<256x64x128xf32>
  }
}

// -----

#id = affine_map<(d0, d1) -> (d0, d1)>
rt.variant @sm_80 target "sm_80" {
  // A part in one piece is flat. It is read where it was written; its beginning allows 8 bytes.
  // CHECK-LABEL: func.func @OnePiece
  // CHECK: gpu.func @
  // CHECK-NOT: arith.remui
  // CHECK: vector.load {{.*}} {kernel.alignment = 8 : i64}
  // CHECK: vector.store {{.*}} {kernel.alignment = 8 : i64}
  func.func @OnePiece(%x: tensor<1x1048578xf32>) -> tensor<1x1048576xf32> {
    %v = rt.view %x[0, 2] : tensor<1x1048578xf32> -> tensor<1x1048576xf32>
    %e = tensor.empty() : tensor<1x1048576xf32>
    %a = kernel.dispatch ins(%v : tensor<1x1048576xf32>) outs(%e : tensor<1x1048576xf32>) {
    ^bb0(%i: tensor<1x1048576xf32>, %o: tensor<1x1048576xf32>):
      %r = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel", "parallel"]}
          ins(%i : tensor<1x1048576xf32>) outs(%o : tensor<1x1048576xf32>) {
      ^bb0(%in: f32, %out: f32):
        %n = arith.negf %in : f32
        linalg.yield %n : f32
      } -> tensor<1x1048576xf32>
      kernel.yield %r : tensor<1x1048576xf32>
    } -> tensor<1x1048576xf32>
    return %a : tensor<1x1048576xf32>
  }
}

// -----

#id = affine_map<(d0, d1) -> (d0, d1)>
rt.variant @sm_80 target "sm_80" {
  // Rows are as far apart as the whole has elements in one: an argument.
  // CHECK-LABEL: func.func @Open
  // CHECK: %[[N:.*]] = tensor.dim
  // CHECK: %[[M:.*]] = arith.addi %[[N]], %[[N]]
  // CHECK: rt.launch {{.*}} args(%{{.*}}, %{{.*}}, %{{.*}}, %[[M]] :
  // CHECK: gpu.func @{{.*}}(%{{.*}}: memref{{.*}}, %{{.*}}: memref{{.*}}, %{{.*}}: index, %[[STRIDE:.*]]: index)
  // CHECK: arith.muli %{{.*}}, %[[STRIDE]]
  func.func @Open(%x: tensor<4x?xf32>) -> tensor<4x?xf32> {
    %c1 = arith.constant 1 : index
    %n = tensor.dim %x, %c1 : tensor<4x?xf32>
    %m = arith.addi %n, %n : index
    %s = rt.storage sizes(%m) : tensor<4x?xf32>
    %v = rt.view %s[0, 0] sizes(%n) : tensor<4x?xf32> -> tensor<4x?xf32>
    %w = rt.view %s[0, %n] sizes(%n) : tensor<4x?xf32> -> tensor<4x?xf32>
    %a = kernel.dispatch ins(%x : tensor<4x?xf32>) outs(%v : tensor<4x?xf32>) {
    ^bb0(%i: tensor<4x?xf32>, %o: tensor<4x?xf32>):
      %r = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel", "parallel"]}
          ins(%i : tensor<4x?xf32>) outs(%o : tensor<4x?xf32>) {
      ^bb0(%in: f32, %out: f32):
        %p = arith.negf %in : f32
        linalg.yield %p : f32
      } -> tensor<4x?xf32>
      kernel.yield %r : tensor<4x?xf32>
    } -> tensor<4x?xf32>
    %b = kernel.dispatch ins(%a : tensor<4x?xf32>) outs(%w : tensor<4x?xf32>) {
    ^bb0(%i: tensor<4x?xf32>, %o: tensor<4x?xf32>):
      %r = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel", "parallel"]}
          ins(%i : tensor<4x?xf32>) outs(%o : tensor<4x?xf32>) {
      ^bb0(%in: f32, %out: f32):
        %p = arith.negf %in : f32
        linalg.yield %p : f32
      } -> tensor<4x?xf32>
      kernel.yield %r : tensor<4x?xf32>
    } -> tensor<4x?xf32>
    %y = rt.assemble %s dim 1 of %a, %b : tensor<4x?xf32> of tensor<4x?xf32>, tensor<4x?xf32>
    return %y : tensor<4x?xf32>
  }
}

// -----

// A part that begins 20 bytes behind the storage: no more is promised of its pointer.
#id = affine_map<(d0, d1) -> (d0, d1)>
rt.variant @sm_80 target "sm_80" {
  // CHECK-LABEL: func.func @Unaligned
  // CHECK: gpu.func {{.*}} memref<?xf32, #gpu.address_space<global>> {llvm.noalias}{{.*}} memref<?xf32, #gpu.address_space<global>> {llvm.align = 4 : i64, llvm.noalias}
  func.func @Unaligned(%x: tensor<8x4xf32>, %z: tensor<8x5xf32>) -> tensor<8x9xf32> {
    %s = rt.storage : tensor<8x9xf32>
    %v = rt.view %s[0, 0] : tensor<8x9xf32> -> tensor<8x5xf32>
    %w = rt.view %s[0, 5] : tensor<8x9xf32> -> tensor<8x4xf32>
    %a = kernel.dispatch ins(%x : tensor<8x4xf32>) outs(%w : tensor<8x4xf32>) {
    ^bb0(%i: tensor<8x4xf32>, %o: tensor<8x4xf32>):
      %r = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel", "parallel"]}
          ins(%i : tensor<8x4xf32>) outs(%o : tensor<8x4xf32>) {
      ^bb0(%in: f32, %out: f32):
        %n = arith.negf %in : f32
        linalg.yield %n : f32
      } -> tensor<8x4xf32>
      kernel.yield %r : tensor<8x4xf32>
    } -> tensor<8x4xf32>
    %b = kernel.dispatch ins(%z : tensor<8x5xf32>) outs(%v : tensor<8x5xf32>) {
    ^bb0(%i: tensor<8x5xf32>, %o: tensor<8x5xf32>):
      %r = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel", "parallel"]}
          ins(%i : tensor<8x5xf32>) outs(%o : tensor<8x5xf32>) {
      ^bb0(%in: f32, %out: f32):
        %n = math.absf %in : f32
        linalg.yield %n : f32
      } -> tensor<8x5xf32>
      kernel.yield %r : tensor<8x5xf32>
    } -> tensor<8x5xf32>
    %y = rt.assemble %s dim 1 of %b, %a : tensor<8x9xf32> of tensor<8x5xf32>, tensor<8x4xf32>
    return %y : tensor<8x9xf32>
  }
}
