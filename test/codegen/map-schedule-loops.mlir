// An element may take a loop; a thread that computes four of them has four.
// RUN: %cameo-opt --pass-pipeline='builtin.module(rt.variant(cameo-assign-schedules,cameo-lower-dispatches))' %s | FileCheck %s

#all = affine_map<(d0) -> (d0)>
rt.variant @sm_80 target "sm_80" {
  // CHECK-LABEL: gpu.func @
  // CHECK-COUNT-4: scf.for {{.*}} iter_args({{.*}}) -> (i32, i32)
  // CHECK-NOT:     scf.for
  func.func @Powers(%x: tensor<1048576xi32>) -> tensor<1048576xi32> {
    %e = tensor.empty() : tensor<1048576xi32>
    %y = kernel.dispatch ins(%x : tensor<1048576xi32>) outs(%e : tensor<1048576xi32>) {
    ^bb0(%a: tensor<1048576xi32>, %o: tensor<1048576xi32>):
      %p = linalg.generic {indexing_maps = [#all, #all], iterator_types = ["parallel"]}
          ins(%a : tensor<1048576xi32>) outs(%o : tensor<1048576xi32>) {
      ^bb0(%in: i32, %out: i32):
        %zero = arith.constant 0 : index
        %one = arith.constant 1 : index
        %start = arith.constant 1 : i32
        %n = arith.index_cast %in : i32 to index
        %r:2 = scf.for %i = %zero to %n step %one iter_args(%s = %start, %t = %in) -> (i32, i32) {
          %s1 = arith.muli %s, %t : i32
          %t1 = arith.addi %t, %start : i32
          scf.yield %s1, %t1 : i32, i32
        }
        linalg.yield %r#0 : i32
      } -> tensor<1048576xi32>
      kernel.yield %p : tensor<1048576xi32>
    } -> tensor<1048576xi32>
    return %y : tensor<1048576xi32>
  }
}
