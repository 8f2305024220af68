// RUN: cameo-opt %s --pass-pipeline='builtin.module(rt.variant(cameo-assign-schedules))' | FileCheck %s
// RUN: cameo-opt %s --pass-pipeline='builtin.module(rt.variant(cameo-assign-schedules,cameo-lower-dispatches))' | FileCheck %s --check-prefix=KERNEL

// A block has a line in shared memory: loaded, sorted in steps with a barrier behind each, stored.
// CHECK-LABEL: rt.variant @lines
// CHECK: schedule <"sort", {threads = 256 : i64}>
// KERNEL-LABEL: rt.variant @lines
// KERNEL: rt.launch
// KERNEL: gpu.func
// KERNEL-SAME: workgroup(%{{.*}} : memref<1000xi64
// KERNEL: scf.for
// KERNEL: gpu.barrier
// KERNEL: scf.for
// KERNEL: scf.for
// KERNEL: scf.for
// KERNEL: arith.cmpi slt
// KERNEL: gpu.barrier
// KERNEL-NOT: gpu.barrier
// KERNEL: scf.for
rt.variant @lines target "sm_80" {
  func.func @main(%x: tensor<3x1000x2xi64>) -> tensor<3x1000x2xi64> {
    %e = tensor.empty() : tensor<3x1000x2xi64>
    %r = kernel.dispatch ins(%x : tensor<3x1000x2xi64>) outs(%e : tensor<3x1000x2xi64>) {
    ^bb0(%a: tensor<3x1000x2xi64>, %o: tensor<3x1000x2xi64>):
      %s = kernel.sort %a, %o {axis = 1 : i64, most = 1000 : i64} : tensor<3x1000x2xi64>
      kernel.yield %s : tensor<3x1000x2xi64>
    } -> tensor<3x1000x2xi64>
    return %r : tensor<3x1000x2xi64>
  }
}

// No other class takes a sort of nothing.
// CHECK-LABEL: rt.variant @empty
// CHECK: schedule <"sort", {threads = 32 : i64}>
rt.variant @empty target "sm_80" {
  func.func @main(%x: tensor<3x0xi64>) -> tensor<3x0xi64> {
    %e = tensor.empty() : tensor<3x0xi64>
    %r = kernel.dispatch ins(%x : tensor<3x0xi64>) outs(%e : tensor<3x0xi64>) {
    ^bb0(%a: tensor<3x0xi64>, %o: tensor<3x0xi64>):
      %s = kernel.sort %a, %o {axis = 1 : i64, most = 1 : i64} : tensor<3x0xi64>
      kernel.yield %s : tensor<3x0xi64>
    } -> tensor<3x0xi64>
    return %r : tensor<3x0xi64>
  }
}
