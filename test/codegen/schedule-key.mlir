// Dispatches that differ in what they scale by alone are one entry of a file of schedules.
// RUN: cameoc %s --start-from=dispatched --emit=schedules -o %t.json --target=sim:sm_80
// RUN: FileCheck %s < %t.json
// They are not one kernel, and each has its number where the file is replayed.
// RUN: cameoc %s --start-from=dispatched --stop-after=tiled -o - --target=sim:sm_80 --schedules=%t.json --Werror | FileCheck %s --check-prefix=TILED

// CHECK: "nodes": [
// CHECK-NEXT: "third",
// CHECK-NEXT: "tenth"
// CHECK-NEXT: ],
// CHECK: "nodes": [
// CHECK-NEXT: "double"
// CHECK-NEXT: ],
// CHECK: "nodes": [
// CHECK-NEXT: "whole"
// CHECK-NEXT: ],
// CHECK-NOT: "nodes"

// TILED-DAG: arith.constant 3.300000e-01 : f32
// TILED-DAG: arith.constant 1.000000e-01 : f32
// TILED-DAG: arith.constant 2.000000e+00 : f32
// TILED-DAG: arith.constant 3.000000e+00 : f32

#id = affine_map<(d0) -> (d0)>
rt.variant @sm_80 target "sm_80" {
  func.func @main(%x: tensor<64xf32>) -> (tensor<64xf32>, tensor<64xf32>, tensor<64xf32>, tensor<64xf32>) {
    %e = tensor.empty() : tensor<64xf32>
    %0 = kernel.dispatch ins(%x : tensor<64xf32>) outs(%e : tensor<64xf32>) {
    ^bb0(%a: tensor<64xf32>, %o: tensor<64xf32>):
      %c = arith.constant 0.33 : f32
      %g = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel"]}
          ins(%a : tensor<64xf32>) outs(%o : tensor<64xf32>) {
      ^bb1(%u: f32, %s: f32):
        %q = arith.mulf %u, %c : f32
        linalg.yield %q : f32
      } -> tensor<64xf32>
      kernel.yield %g : tensor<64xf32>
    } -> tensor<64xf32> loc("third")
    %1 = kernel.dispatch ins(%x : tensor<64xf32>) outs(%e : tensor<64xf32>) {
    ^bb0(%a: tensor<64xf32>, %o: tensor<64xf32>):
      %c = arith.constant 0.1 : f32
      %g = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel"]}
          ins(%a : tensor<64xf32>) outs(%o : tensor<64xf32>) {
      ^bb1(%u: f32, %s: f32):
        %q = arith.mulf %u, %c : f32
        linalg.yield %q : f32
      } -> tensor<64xf32>
      kernel.yield %g : tensor<64xf32>
    } -> tensor<64xf32> loc("tenth")
    %2 = kernel.dispatch ins(%x : tensor<64xf32>) outs(%e : tensor<64xf32>) {
    ^bb0(%a: tensor<64xf32>, %o: tensor<64xf32>):
      %c = arith.constant 2.0 : f32
      %g = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel"]}
          ins(%a : tensor<64xf32>) outs(%o : tensor<64xf32>) {
      ^bb1(%u: f32, %s: f32):
        %q = arith.mulf %u, %c : f32
        linalg.yield %q : f32
      } -> tensor<64xf32>
      kernel.yield %g : tensor<64xf32>
    } -> tensor<64xf32> loc("double")
    %3 = kernel.dispatch ins(%x : tensor<64xf32>) outs(%e : tensor<64xf32>) {
    ^bb0(%a: tensor<64xf32>, %o: tensor<64xf32>):
      %c = arith.constant 3.0 : f32
      %g = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel"]}
          ins(%a : tensor<64xf32>) outs(%o : tensor<64xf32>) {
      ^bb1(%u: f32, %s: f32):
        %q = arith.mulf %u, %c : f32
        linalg.yield %q : f32
      } -> tensor<64xf32>
      kernel.yield %g : tensor<64xf32>
    } -> tensor<64xf32> loc("whole")
    return %0, %1, %2, %3 : tensor<64xf32>, tensor<64xf32>, tensor<64xf32>, tensor<64xf32>
  }
}
