// Weights that are multiplied as TF32 are stored rounded, so that kernels round activations alone.
// RUN: cameo-opt %s --pass-pipeline='builtin.module(rt.variant(cameo-assign-schedules),cameo-pack-weights)' | FileCheck %s
// RUN: cameo-opt %s --pass-pipeline='builtin.module(rt.variant(cameo-assign-schedules),cameo-pack-weights,rt.variant(cameo-assign-schedules),cameo-pack-weights)' | FileCheck %s
// RUN: cameo-opt %s --pass-pipeline='builtin.module(rt.variant(cameo-assign-schedules),cameo-pack-weights,rt.variant(cameo-lower-dispatches))' | FileCheck %s --check-prefix=KERNEL

// Of 1 + 2^-11, its negative and 1 + 3 * 2^-13 the first two are ties, which go away from zero; the
// third is rounded down. What is not multiplied as TF32 keeps its bits.
// CHECK-DAG: rt.constant @w_tf32 = dense<{{\[}}[1.00097656, -1.00097656, 1.000000e+00, 1.000000e+00, 5.000000e-01,
// CHECK-DAG: rt.constant @w_1_0_tf32 = dense<{{\[}}[1.00097656, 8.000000e+00, {{.*}}], [-1.00097656, 9.000000e+00, {{.*}}], [1.000000e+00, 1.000000e+01,
// CHECK-DAG: rt.constant @w_1_0 = dense<{{\[}}[1.00048828, 8.000000e+00, {{.*}}], [-1.00048828, 9.000000e+00, {{.*}}], [1.00036621, 1.000000e+01,
// CHECK-LABEL: rt.variant @as_it_is
// CHECK: rt.get_constant @w_tf32
// CHECK: schedule <"mma", {{.*}}column_rounded = true
// CHECK-SAME: kernel.rounded = array<i64: 1>
// CHECK-NOT: kernel.rounding
// CHECK-LABEL: rt.variant @turned
// CHECK: rt.get_constant @w_1_0_tf32
// CHECK: schedule <"mma", {{.*}}column_rounded = true
// CHECK-SAME: kernel.rounded = array<i64: 1>
// CHECK-LABEL: rt.variant @not_rounded
// CHECK: rt.get_constant @w_1_0 :
// CHECK-NOT: rounded =
// CHECK-LABEL: rt.variant @no_tf32
// CHECK: rt.get_constant @w_1_0 :
// CHECK-NOT: rounded =

// The row's fragment is mapped, the column's is not.
// KERNEL-LABEL: rt.variant @as_it_is
// KERNEL: scf.for
// KERNEL: %[[ROUNDED:.*]] = kernel.map_fragment %
// KERNEL: kernel.ptx "cvt.rna.tf32.f32"
// KERNEL-NOT: cvt.rna
// KERNEL: kernel.contract %[[ROUNDED]], %{{[^ ]+}} into
// KERNEL-LABEL: rt.variant @turned

// Files of schedules say it, and give the same artefact; edited, they have kernels that round.
// RUN: cameoc %s --start-from=dispatched --emit=schedules -o %t.json --target=sim:sm_80
// RUN: FileCheck %s --check-prefix=FILE < %t.json
// FILE: column_rounded = true
// RUN: cameoc %s --start-from=dispatched --emit=plan -o %t.chosen --target=sim:sm_80
// RUN: cameoc %s --start-from=dispatched --emit=plan -o %t.replayed --target=sim:sm_80 --schedules=%t.json
// RUN: cmp %t.chosen %t.replayed
// RUN: sed 's/column_rounded = true, //' %t.json > %t.plain.json
// RUN: cameoc %s --start-from=dispatched --stop-after=scheduled -o - --target=sim:sm_80 --schedules=%t.plain.json | FileCheck %s --check-prefix=PLAIN
// PLAIN-NOT: rounded =
// PLAIN: rt.constant @w =
// PLAIN-NOT: rounded =

#x = affine_map<(m, n, k) -> (m, k)>
#w = affine_map<(m, n, k) -> (n, k)>
#t = affine_map<(m, n, k) -> (k, n)>
#y = affine_map<(m, n, k) -> (m, n)>
rt.constant @w = dense<[[1.00048828125, -1.00048828125, 1.0003662109375, 1.0, 0.5, 2.0, 3.0, 4.0], [8.0, 9.0, 10.0, 11.0, 12.0, 13.0, 14.0, 15.0], [16.0, 17.0, 18.0, 19.0, 20.0, 21.0, 22.0, 23.0], [24.0, 25.0, 26.0, 27.0, 28.0, 29.0, 30.0, 31.0], [32.0, 33.0, 34.0, 35.0, 36.0, 37.0, 38.0, 39.0], [40.0, 41.0, 42.0, 43.0, 44.0, 45.0, 46.0, 47.0], [48.0, 49.0, 50.0, 51.0, 52.0, 53.0, 54.0, 55.0], [56.0, 57.0, 58.0, 59.0, 60.0, 61.0, 62.0, 63.0]]> : tensor<8x8xf32>
rt.variant @as_it_is target "sm_80" {
  func.func @main(%x: tensor<64x8xf32>) -> tensor<64x8xf32> {
    %w = rt.get_constant @w : tensor<8x8xf32>
    %e = tensor.empty() : tensor<64x8xf32>
    %r = kernel.dispatch ins(%x, %w : tensor<64x8xf32>, tensor<8x8xf32>) outs(%e : tensor<64x8xf32>) {
    ^bb0(%a: tensor<64x8xf32>, %b: tensor<8x8xf32>, %o: tensor<64x8xf32>):
      %zero = arith.constant 0.0 : f32
      %f = linalg.fill ins(%zero : f32) outs(%o : tensor<64x8xf32>) -> tensor<64x8xf32>
      %g = linalg.generic {indexing_maps = [#x, #w, #y], iterator_types = ["parallel", "parallel", "reduction"], kernel.precision = "tf32"}
          ins(%a, %b : tensor<64x8xf32>, tensor<8x8xf32>) outs(%f : tensor<64x8xf32>) {
      ^bb1(%p: f32, %q: f32, %s: f32):
        %t = math.fma %p, %q, %s : f32
        linalg.yield %t : f32
      } -> tensor<64x8xf32>
      kernel.yield %g : tensor<64x8xf32>
    } -> tensor<64x8xf32>
    return %r : tensor<64x8xf32>
  }
}
rt.variant @turned target "sm_80" {
  func.func @main(%x: tensor<64x8xf32>) -> tensor<64x8xf32> {
    %w = rt.get_constant @w : tensor<8x8xf32>
    %e = tensor.empty() : tensor<64x8xf32>
    %r = kernel.dispatch ins(%x, %w : tensor<64x8xf32>, tensor<8x8xf32>) outs(%e : tensor<64x8xf32>) {
    ^bb0(%a: tensor<64x8xf32>, %b: tensor<8x8xf32>, %o: tensor<64x8xf32>):
      %zero = arith.constant 0.0 : f32
      %f = linalg.fill ins(%zero : f32) outs(%o : tensor<64x8xf32>) -> tensor<64x8xf32>
      %g = linalg.generic {indexing_maps = [#x, #t, #y], iterator_types = ["parallel", "parallel", "reduction"], kernel.precision = "tf32"}
          ins(%a, %b : tensor<64x8xf32>, tensor<8x8xf32>) outs(%f : tensor<64x8xf32>) {
      ^bb1(%p: f32, %q: f32, %s: f32):
        %t = math.fma %p, %q, %s : f32
        linalg.yield %t : f32
      } -> tensor<64x8xf32>
      kernel.yield %g : tensor<64x8xf32>
    } -> tensor<64x8xf32>
    return %r : tensor<64x8xf32>
  }
}
rt.variant @not_rounded target "sm_80" {
  func.func @main(%x: tensor<64x8xf32>) -> tensor<64x8xf32> {
    %w = rt.get_constant @w : tensor<8x8xf32>
    %e = tensor.empty() : tensor<64x8xf32>
    %r = kernel.dispatch ins(%x, %w : tensor<64x8xf32>, tensor<8x8xf32>) outs(%e : tensor<64x8xf32>) {
    ^bb0(%a: tensor<64x8xf32>, %b: tensor<8x8xf32>, %o: tensor<64x8xf32>):
      %zero = arith.constant 0.0 : f32
      %f = linalg.fill ins(%zero : f32) outs(%o : tensor<64x8xf32>) -> tensor<64x8xf32>
      %g = linalg.generic {indexing_maps = [#x, #w, #y], iterator_types = ["parallel", "parallel", "reduction"]}
          ins(%a, %b : tensor<64x8xf32>, tensor<8x8xf32>) outs(%f : tensor<64x8xf32>) {
      ^bb1(%p: f32, %q: f32, %s: f32):
        %t = math.fma %p, %q, %s : f32
        linalg.yield %t : f32
      } -> tensor<64x8xf32>
      kernel.yield %g : tensor<64x8xf32>
    } -> tensor<64x8xf32>
    return %r : tensor<64x8xf32>
  }
}
rt.variant @no_tf32 target "sm_75" {
  func.func @main(%x: tensor<64x8xf32>) -> tensor<64x8xf32> {
    %w = rt.get_constant @w : tensor<8x8xf32>
    %e = tensor.empty() : tensor<64x8xf32>
    %r = kernel.dispatch ins(%x, %w : tensor<64x8xf32>, tensor<8x8xf32>) outs(%e : tensor<64x8xf32>) {
    ^bb0(%a: tensor<64x8xf32>, %b: tensor<8x8xf32>, %o: tensor<64x8xf32>):
      %zero = arith.constant 0.0 : f32
      %f = linalg.fill ins(%zero : f32) outs(%o : tensor<64x8xf32>) -> tensor<64x8xf32>
      %g = linalg.generic {indexing_maps = [#x, #w, #y], iterator_types = ["parallel", "parallel", "reduction"], kernel.precision = "tf32"}
          ins(%a, %b : tensor<64x8xf32>, tensor<8x8xf32>) outs(%f : tensor<64x8xf32>) {
      ^bb1(%p: f32, %q: f32, %s: f32):
        %t = math.fma %p, %q, %s : f32
        linalg.yield %t : f32
      } -> tensor<64x8xf32>
      kernel.yield %g : tensor<64x8xf32>
    } -> tensor<64x8xf32>
    return %r : tensor<64x8xf32>
  }
}
