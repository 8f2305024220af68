// RUN: cameo-opt %s --pass-pipeline='builtin.module(rt.variant(cameo-assign-schedules))' | FileCheck %s
// RUN: cameo-opt %s --pass-pipeline='builtin.module(rt.variant(cameo-assign-schedules,cameo-lower-dispatches))' | FileCheck %s --check-prefix=KERNEL

// 1,024 units are more than a block reads in the time of a launch: a launch a step, in which a warp has a unit and reads 16
// bytes a lane of each gate's weights, as they are in memory. The first launch reads the initial state, the others one of two
// places by turns; the last one stores the last state.
// CHECK-LABEL: rt.variant @launches
// CHECK: schedule <"recurrence", {deep = 4 : i64, parts = 32 : i64, rows = 1 : i64, steps = 1 : i64, threads = 128 : i64}>
// KERNEL-LABEL: rt.variant @launches
// KERNEL: %[[STEPS:.*]] = tensor.dim %arg0,
// KERNEL: %[[TIMES:.*]] = arith.maxsi %[[STEPS]], %{{.*}}
// KERNEL: %[[SLOTS:.*]] = tensor.empty() : tensor<2x1x1x1024xf32>
// KERNEL: rt.launch @k0_kernel::@k0_kernel grid({{.*}}) times(%[[TIMES]]) args({{.*}}, %[[SLOTS]], %{{[^ ]*}} : {{.*}}) writes [3, 4]
// KERNEL: gpu.func @k0_kernel({{.*}}, %arg4: memref<?xf32, #gpu.address_space<global>>{{.*}}, %arg5: index{{.*}}, %arg6: index
// KERNEL-NOT: gpu.barrier
// KERNEL: %[[PLACE:.*]] = arith.remui %arg6, %c2
// KERNEL: %[[FIRST:.*]] = arith.cmpi eq, %arg6, %c0
// KERNEL: %[[BEHIND:.*]] = arith.subi %arg5, %c1
// KERNEL: %[[LAST:.*]] = arith.cmpi eq, %arg6, %[[BEHIND]]
// KERNEL: scf.if %[[FIRST]]
// KERNEL: scf.for %{{.*}} to %c1024 step %c128
// KERNEL-COUNT-4: vector.load %arg1{{.*}} vector<4xf32>
// KERNEL: vector.load %arg2{{.*}} vector<4xf32>
// KERNEL-COUNT-16: math.fma
// KERNEL: } else {
// KERNEL: %[[BEFORE:.*]] = kernel.advance %arg4
// KERNEL: scf.for %{{.*}} to %c1024 step %c128
// KERNEL: vector.load %[[BEFORE]]{{.*}} vector<4xf32>
// KERNEL-COUNT-20: gpu.shuffle xor
// KERNEL-NOT: gpu.shuffle
// KERNEL: arith.subi %c1, %[[PLACE]]
// KERNEL: %[[AFTER:.*]] = kernel.advance %arg4
// KERNEL: memref.store %{{.*}}, %[[AFTER]]
// KERNEL: scf.if %[[LAST]]
// KERNEL: memref.store %{{.*}}, %arg3
// KERNEL: gpu.return
rt.variant @launches target "sm_80" {
  func.func @main(%x: tensor<?x1x1x4x1024xf32>, %r: tensor<1x4x1024x1024xf32>, %h: tensor<1x1x1024xf32>) -> tensor<1x1x1024xf32> {
    %e = tensor.empty() : tensor<1x1x1024xf32>
    %s = kernel.dispatch ins(%x, %r, %h : tensor<?x1x1x4x1024xf32>, tensor<1x4x1024x1024xf32>, tensor<1x1x1024xf32>)
        outs(%e : tensor<1x1x1024xf32>) {
    ^bb0(%a: tensor<?x1x1x4x1024xf32>, %b: tensor<1x4x1024x1024xf32>, %c: tensor<1x1x1024xf32>, %l: tensor<1x1x1024xf32>):
      %t = tensor.empty() : tensor<1x1024x4x1024xf32>
      %w = linalg.generic {indexing_maps = [affine_map<(d, k, g, j) -> (d, g, j, k)>, affine_map<(d, k, g, j) -> (d, k, g, j)>],
                           iterator_types = ["parallel", "parallel", "parallel", "parallel"]}
          ins(%b : tensor<1x4x1024x1024xf32>) outs(%t : tensor<1x1024x4x1024xf32>) {
      ^bb1(%p: f32, %o: f32):
        linalg.yield %p : f32
      } -> tensor<1x1024x4x1024xf32>
      %q = kernel.recurrence input(%a : tensor<?x1x1x4x1024xf32>) weights(%w : tensor<1x1024x4x1024xf32>)
          initial(%c : tensor<1x1x1024xf32>) outs(%l : tensor<1x1x1024xf32>) phases [4] reverse [false] {
      ^bb1(%direction: index, %i: f32, %j: f32, %k: f32, %u: f32, %m: f32, %n: f32, %o: f32, %p: f32, %before: f32):
        %0 = arith.addf %m, %n : f32
        %1 = arith.addf %o, %p : f32
        %2 = arith.mulf %0, %1 : f32
        kernel.yield %2 : f32
      } -> tensor<1x1x1024xf32>
      kernel.yield %q : tensor<1x1x1024xf32>
    } -> tensor<1x1x1024xf32>
    return %s : tensor<1x1x1024xf32>
  }
}

// On Tensor Cores eight warps share the depth of eight units; the first one adds up what the others leave in shared memory.
// CHECK-LABEL: rt.variant @tiles
// CHECK: schedule <"recurrence", {instruction = array<i64: 16, 8, 16>, splits = 8 : i64, steps = 1 : i64}>
// KERNEL-LABEL: rt.variant @tiles
// KERNEL: rt.launch @{{.*}} times(%{{.*}})
// KERNEL: gpu.func
// KERNEL-SAME: workgroup(%{{.*}} : memref<2048xf32
// KERNEL: scf.for %{{.*}} = %c0 to %c512 step %c128
// KERNEL-COUNT-2: kernel.ptx "mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32"
// KERNEL: gpu.barrier
// KERNEL-NOT: gpu.barrier
// KERNEL-COUNT-56: arith.addf
// KERNEL: gpu.return
rt.variant @tiles target "sm_80" {
  func.func @main(%x: tensor<5x3x1x4x512xf32>, %r: tensor<1x4x512x512xf16>, %h: tensor<1x3x512xf16>) -> tensor<1x3x512xf16> {
    %e = tensor.empty() : tensor<1x3x512xf16>
    %s = kernel.dispatch ins(%x, %r, %h : tensor<5x3x1x4x512xf32>, tensor<1x4x512x512xf16>, tensor<1x3x512xf16>)
        outs(%e : tensor<1x3x512xf16>) {
    ^bb0(%a: tensor<5x3x1x4x512xf32>, %b: tensor<1x4x512x512xf16>, %c: tensor<1x3x512xf16>, %l: tensor<1x3x512xf16>):
      %t = tensor.empty() : tensor<1x512x4x512xf16>
      %w = linalg.generic {indexing_maps = [affine_map<(d, k, g, j) -> (d, g, j, k)>, affine_map<(d, k, g, j) -> (d, k, g, j)>],
                           iterator_types = ["parallel", "parallel", "parallel", "parallel"]}
          ins(%b : tensor<1x4x512x512xf16>) outs(%t : tensor<1x512x4x512xf16>) {
      ^bb1(%p: f16, %o: f16):
        linalg.yield %p : f16
      } -> tensor<1x512x4x512xf16>
      %q = kernel.recurrence input(%a : tensor<5x3x1x4x512xf32>) weights(%w : tensor<1x512x4x512xf16>)
          initial(%c : tensor<1x3x512xf16>) outs(%l : tensor<1x3x512xf16>) phases [4] reverse [false] {
      ^bb1(%direction: index, %i: f32, %j: f32, %k: f32, %u: f32, %m: f32, %n: f32, %o: f32, %p: f32, %before: f32):
        %0 = arith.mulf %m, %n : f32
        %1 = arith.mulf %o, %p : f32
        %2 = arith.mulf %0, %1 : f32
        kernel.yield %2 : f32
      } -> tensor<1x3x512xf16>
      kernel.yield %q : tensor<1x3x512xf16>
    } -> tensor<1x3x512xf16>
    return %s : tensor<1x3x512xf16>
  }
}

// A step that is the only one is one launch, with nothing to hand on.
// CHECK-LABEL: rt.variant @one
// CHECK: steps = 1 : i64
// KERNEL-LABEL: rt.variant @one
// KERNEL-NOT: times(
// KERNEL: rt.launch @{{.*}} grid({{.*}}) args(%arg0, %arg1, %arg2, %{{[^ ]*}} : {{.*}}) writes [3]
// KERNEL: gpu.return
rt.variant @one target "sm_80" {
  func.func @main(%x: tensor<1x3x1x4x512xf32>, %r: tensor<1x4x512x512xf16>, %h: tensor<1x3x512xf16>) -> tensor<1x3x512xf16> {
    %e = tensor.empty() : tensor<1x3x512xf16>
    %s = kernel.dispatch ins(%x, %r, %h : tensor<1x3x1x4x512xf32>, tensor<1x4x512x512xf16>, tensor<1x3x512xf16>)
        outs(%e : tensor<1x3x512xf16>) {
    ^bb0(%a: tensor<1x3x1x4x512xf32>, %b: tensor<1x4x512x512xf16>, %c: tensor<1x3x512xf16>, %l: tensor<1x3x512xf16>):
      %t = tensor.empty() : tensor<1x512x4x512xf16>
      %w = linalg.generic {indexing_maps = [affine_map<(d, k, g, j) -> (d, g, j, k)>, affine_map<(d, k, g, j) -> (d, k, g, j)>],
                           iterator_types = ["parallel", "parallel", "parallel", "parallel"]}
          ins(%b : tensor<1x4x512x512xf16>) outs(%t : tensor<1x512x4x512xf16>) {
      ^bb1(%p: f16, %o: f16):
        linalg.yield %p : f16
      } -> tensor<1x512x4x512xf16>
      %q = kernel.recurrence input(%a : tensor<1x3x1x4x512xf32>) weights(%w : tensor<1x512x4x512xf16>)
          initial(%c : tensor<1x3x512xf16>) outs(%l : tensor<1x3x512xf16>) phases [4] reverse [false] {
      ^bb1(%direction: index, %i: f32, %j: f32, %k: f32, %u: f32, %m: f32, %n: f32, %o: f32, %p: f32, %before: f32):
        %0 = arith.mulf %m, %n : f32
        %1 = arith.mulf %o, %p : f32
        %2 = arith.mulf %0, %1 : f32
        kernel.yield %2 : f32
      } -> tensor<1x3x512xf16>
      kernel.yield %q : tensor<1x3x512xf16>
    } -> tensor<1x3x512xf16>
    return %s : tensor<1x3x512xf16>
  }
}
