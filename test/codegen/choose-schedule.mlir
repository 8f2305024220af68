// RUN: cameo-opt %s --pass-pipeline='builtin.module(rt.variant(cameo-assign-schedules))' | FileCheck %s
// RUN: cameo-opt %s --pass-pipeline='builtin.module(rt.variant(cameo-assign-schedules,cameo-lower-dispatches))' | FileCheck %s --check-prefix=KERNEL

// Candidates are stored; the first that is left is sought by all warps, and what conflicts with it is struck out between
// two barriers.
// CHECK-LABEL: rt.variant @lines
// CHECK: schedule <"choose", {threads = 128 : i64}>
// KERNEL-LABEL: rt.variant @lines
// KERNEL: gpu.func
// KERNEL: scf.for
// KERNEL: memref.store
// KERNEL: gpu.barrier
// KERNEL: scf.while
// KERNEL-COUNT-5: gpu.shuffle xor
// KERNEL: scf.if
// KERNEL: gpu.barrier
// KERNEL: memref.load
// KERNEL: memref.store
// KERNEL: gpu.barrier
// KERNEL: gpu.barrier
// KERNEL: scf.for
#pair = affine_map<(i, j, k) -> (i, j)>
#other = affine_map<(i, j, k) -> (i, k)>
#all = affine_map<(i, j, k) -> (i, j, k)>
#v = affine_map<(i, j) -> (i, j)>
rt.variant @lines target "sm_80" {
  func.func @main(%x: tensor<3x100xi32>) -> tensor<3x100xi1> {
    %e = tensor.empty() : tensor<3x100xi1>
    %r = kernel.dispatch ins(%x : tensor<3x100xi32>) outs(%e : tensor<3x100xi1>) {
    ^bb0(%a: tensor<3x100xi32>, %o: tensor<3x100xi1>):
      %seven = arith.constant 7 : index
      %zero = arith.constant 0 : i32
      %bits = tensor.empty() : tensor<3x100xi1>
      %pairs = tensor.empty() : tensor<3x100x100xi1>
      %c = linalg.generic {indexing_maps = [#v, #v], iterator_types = ["parallel", "parallel"]}
          ins(%a : tensor<3x100xi32>) outs(%bits : tensor<3x100xi1>) {
      ^bb1(%p: i32, %w: i1):
        %q = arith.cmpi sgt, %p, %zero : i32
        linalg.yield %q : i1
      } -> tensor<3x100xi1>
      %d = linalg.generic {indexing_maps = [#pair, #other, #all], iterator_types = ["parallel", "parallel", "parallel"]}
          ins(%a, %a : tensor<3x100xi32>, tensor<3x100xi32>) outs(%pairs : tensor<3x100x100xi1>) {
      ^bb1(%p: i32, %s: i32, %w: i1):
        %q = arith.cmpi eq, %p, %s : i32
        linalg.yield %q : i1
      } -> tensor<3x100x100xi1>
      %y = kernel.choose %c conflicts %d limit %seven, %o : tensor<3x100xi1>, tensor<3x100x100xi1>
      kernel.yield %y : tensor<3x100xi1>
    } -> tensor<3x100xi1>
    return %r : tensor<3x100xi1>
  }
}
