// RUN: cameo-opt %s --pass-pipeline='builtin.module(rt.variant(cameo-assign-schedules))' | FileCheck %s
// RUN: cameo-opt %s --pass-pipeline='builtin.module(rt.variant(cameo-assign-schedules,cameo-lower-dispatches))' | FileCheck %s --check-prefix=KERNEL

// A long line: five rounds of shuffles, then the warps' sums through shared memory, between two
// barriers.
// CHECK-LABEL: rt.variant @long
// CHECK: schedule <"scan", {threads = 256 : i64}>
// KERNEL-LABEL: rt.variant @long
// KERNEL: rt.launch
// KERNEL: gpu.func
// KERNEL-SAME: workgroup(%{{.*}} : memref<8xf32
// KERNEL: scf.for
// KERNEL-COUNT-5: gpu.shuffle up
// KERNEL-NOT: gpu.shuffle
// KERNEL-COUNT-2: gpu.barrier
rt.variant @long target "sm_80" {
  func.func @main(%x: tensor<3x1000x1xf32>) -> tensor<3x1000x1xf32> {
    %e = tensor.empty() : tensor<3x1000x1xf32>
    %r = kernel.dispatch ins(%x : tensor<3x1000x1xf32>) outs(%e : tensor<3x1000x1xf32>) {
    ^bb0(%a: tensor<3x1000x1xf32>, %o: tensor<3x1000x1xf32>):
      %s = kernel.scan add %a, %o {axis = 1 : i64} : tensor<3x1000x1xf32>
      kernel.yield %s : tensor<3x1000x1xf32>
    } -> tensor<3x1000x1xf32>
    return %r : tensor<3x1000x1xf32>
  }
}

// A short line is a loop in each thread; so is a line of elements that shuffles do not move.
// CHECK-LABEL: rt.variant @short
// CHECK: schedule <"map"
// CHECK: schedule <"map"
rt.variant @short target "sm_80" {
  func.func @main(%x: tensor<3x10x1xf32>, %y: tensor<3x1000x1xi8>) -> (tensor<3x10x1xf32>, tensor<3x1000x1xi8>) {
    %e = tensor.empty() : tensor<3x10x1xf32>
    %r = kernel.dispatch ins(%x : tensor<3x10x1xf32>) outs(%e : tensor<3x10x1xf32>) {
    ^bb0(%a: tensor<3x10x1xf32>, %o: tensor<3x10x1xf32>):
      %s = kernel.scan mul %a, %o {axis = 1 : i64} : tensor<3x10x1xf32>
      kernel.yield %s : tensor<3x10x1xf32>
    } -> tensor<3x10x1xf32>
    %f = tensor.empty() : tensor<3x1000x1xi8>
    %t = kernel.dispatch ins(%y : tensor<3x1000x1xi8>) outs(%f : tensor<3x1000x1xi8>) {
    ^bb0(%a: tensor<3x1000x1xi8>, %o: tensor<3x1000x1xi8>):
      %s = kernel.scan add %a, %o {axis = 1 : i64} : tensor<3x1000x1xi8>
      kernel.yield %s : tensor<3x1000x1xi8>
    } -> tensor<3x1000x1xi8>
    return %r, %t : tensor<3x10x1xf32>, tensor<3x1000x1xi8>
  }
}
