// RUN: cameo-opt %s --split-input-file --pass-pipeline='builtin.module(rt.variant(cameo-assign-schedules))' | FileCheck %s
// RUN: cameo-opt %s --split-input-file --pass-pipeline='builtin.module(rt.variant(cameo-assign-schedules,cameo-lower-dispatches))' | FileCheck %s --check-prefix=KERNEL

// A thread looks at the place of its elements, which lie in one slice, computes them where that is inside, and stores
// them as one vector. Nothing of the destination is read.
// CHECK-LABEL: rt.variant @rows
// CHECK: schedule <"insert", {threads = 256 : i64, vector = 8 : i64}>
// KERNEL-LABEL: rt.variant @rows
// KERNEL: rt.launch @k0_kernel::@k0_kernel grid({{.*}}) args(%{{.*}}, %{{.*}}, %[[CACHE:.*]] : tensor<8x64x1024xf16>, tensor<8x64xi64>, tensor<8x4096x1024xf16>) writes [2]
// KERNEL: gpu.func @k0_kernel(%[[X:.*]]: memref<?xf16, {{.*}}, %[[P:.*]]: memref<?xi64, {{.*}}, %[[Y:.*]]: memref<?xf16
// KERNEL: scf.if
// KERNEL: memref.load %[[P]]
// KERNEL: arith.cmpi ult
// KERNEL: scf.if
// KERNEL: vector.load %[[X]]
// KERNEL-NOT: load %[[Y]]
// KERNEL: vector.store %{{.*}}, %[[Y]]
rt.variant @rows target "sm_90a" {
  func.func @main(%x: tensor<8x64x1024xf16>, %p: tensor<8x64xi64>, %c: tensor<8x4096x1024xf16>) -> tensor<8x4096x1024xf16> {
    %r = kernel.dispatch ins(%x, %p : tensor<8x64x1024xf16>, tensor<8x64xi64>) outs(%c : tensor<8x4096x1024xf16>) {
    ^bb0(%a: tensor<8x64x1024xf16>, %b: tensor<8x64xi64>, %o: tensor<8x4096x1024xf16>):
      %y = kernel.insert %a at %b into %o {axis = 1 : i64} : tensor<8x64x1024xf16>, tensor<8x64xi64>, tensor<8x4096x1024xf16>
      kernel.yield %y : tensor<8x4096x1024xf16>
    } -> tensor<8x4096x1024xf16>
    return %r : tensor<8x4096x1024xf16>
  }
}

// -----

// Neighbours along the axis are not neighbours in the destination: one by one. Sizes that a run knows are the plan's.
// CHECK-LABEL: rt.variant @columns
// CHECK: schedule <"insert", {threads = 256 : i64, vector = 1 : i64}>
// KERNEL-LABEL: rt.variant @columns
// KERNEL: %[[N:.*]] = tensor.dim %arg0
// KERNEL: rt.launch
// KERNEL: memref.store
rt.variant @columns target "sm_80" {
  func.func @main(%x: tensor<2x8x?xf32>, %p: tensor<2x?xi64>, %c: tensor<2x8x512xf32>) -> tensor<2x8x512xf32> {
    %r = kernel.dispatch ins(%x, %p : tensor<2x8x?xf32>, tensor<2x?xi64>) outs(%c : tensor<2x8x512xf32>) {
    ^bb0(%a: tensor<2x8x?xf32>, %b: tensor<2x?xi64>, %o: tensor<2x8x512xf32>):
      %y = kernel.insert %a at %b into %o {axis = 2 : i64} : tensor<2x8x?xf32>, tensor<2x?xi64>, tensor<2x8x512xf32>
      kernel.yield %y : tensor<2x8x512xf32>
    } -> tensor<2x8x512xf32>
    return %r : tensor<2x8x512xf32>
  }
}
