// RUN: cameo-opt %s --split-input-file --pass-pipeline='builtin.module(rt.variant(cameo-assign-schedules,cameo-lower-dispatches))' | FileCheck %s

// A block reads the index of each row of its tile once. Copies are as wide as those of rows that follow
// one another.
// CHECK-LABEL: rt.variant @lanes
// CHECK: gpu.func {{.*}}%[[TABLE:arg0]]: memref<?xf32, {{.*}}%[[INDICES:arg1]]: memref<?xi64, {{.*}} workgroup(%[[ROWS:.*]] : memref<16xi64, #gpu.address_space<workgroup>>){{.*}}<"contraction"
// CHECK: scf.for %[[ROW:.*]] = %thread_id_x to %c16 step
// CHECK: %[[AT:.*]] = arith.minui %{{.*}}, %c39
// CHECK: memref.load %[[INDICES]][%[[AT]]]
// CHECK-NOT: memref.load
// CHECK: arith.minsi
// CHECK: memref.store %{{.*}}, %[[ROWS]][%[[ROW]]]
// CHECK: gpu.barrier
// CHECK: kernel.load_global %[[TABLE]] {{.*}}vector = 4, along = columns
// CHECK: memref.load %[[ROWS]]
#a = affine_map<(m, n, k) -> (m, k)>
#b = affine_map<(m, n, k) -> (k, n)>
#c = affine_map<(m, n, k) -> (m, n)>
#id = affine_map<(m, n) -> (m, n)>
rt.variant @lanes target "sm_80" {
  func.func @main(%t: tensor<500x64xf32>, %i: tensor<40xi64>, %w: tensor<64x96xf32>) -> tensor<40x96xf32> {
    %e = tensor.empty() : tensor<40x96xf32>
    %y = kernel.dispatch ins(%t, %i, %w : tensor<500x64xf32>, tensor<40xi64>, tensor<64x96xf32>) outs(%e : tensor<40x96xf32>) {
    ^bb0(%table: tensor<500x64xf32>, %indices: tensor<40xi64>, %m: tensor<64x96xf32>, %o: tensor<40x96xf32>):
      %z = arith.constant 0.0 : f32
      %t0 = tensor.empty() : tensor<40x64xf32>
      %l = linalg.generic {indexing_maps = [#id], iterator_types = ["parallel", "parallel"]}
          outs(%t0 : tensor<40x64xf32>) {
      ^bb1(%s: f32):
        %c0 = arith.constant 0 : index
        %c499 = arith.constant 499 : index
        %r = linalg.index 0 : index
        %d = linalg.index 1 : index
        %n = tensor.extract %indices[%r] : tensor<40xi64>
        %p = arith.index_cast %n : i64 to index
        %q = arith.maxsi %p, %c0 : index
        %at = arith.minsi %q, %c499 : index
        %u = tensor.extract %table[%at, %d] : tensor<500x64xf32>
        linalg.yield %u : f32
      } -> tensor<40x64xf32>
      %f = linalg.fill ins(%z : f32) outs(%o : tensor<40x96xf32>) -> tensor<40x96xf32>
      %g = linalg.generic {indexing_maps = [#a, #b, #c],
                           iterator_types = ["parallel", "parallel", "reduction"]}
          ins(%l, %m : tensor<40x64xf32>, tensor<64x96xf32>) outs(%f : tensor<40x96xf32>) {
      ^bb1(%u: f32, %v: f32, %s: f32):
        %q = math.fma %u, %v, %s : f32
        linalg.yield %q : f32
      } -> tensor<40x96xf32>
      kernel.yield %g : tensor<40x96xf32>
    } -> tensor<40x96xf32>
    return %y : tensor<40x96xf32>
  }
}

// -----

// The same with matrix instructions: 16 bytes at once, asynchronously.
// CHECK-LABEL: rt.variant @matrices
// CHECK: gpu.func {{.*}}%[[TABLE:arg0]]: memref<?xf16, {{.*}}%[[INDICES:arg1]]: memref<?xi64, {{.*}} workgroup(%[[ROWS:[^ ]*]] : memref<{{.*}}xi64, #gpu.address_space<workgroup>>){{.*}}<"mma"
// CHECK: memref.load %[[INDICES]]
// CHECK: memref.store %{{.*}}, %[[ROWS]]
// CHECK: gpu.barrier
// CHECK: %[[STEP:.*]] = kernel.advance %[[TABLE]]
// CHECK: kernel.copy_async %[[STEP]] {{.*}}vector = 8
// CHECK: memref.load %[[ROWS]]
#a = affine_map<(m, n, k) -> (m, k)>
#b = affine_map<(m, n, k) -> (k, n)>
#c = affine_map<(m, n, k) -> (m, n)>
#id = affine_map<(m, n) -> (m, n)>
rt.variant @matrices target "sm_80" {
  func.func @main(%t: tensor<500x64xf16>, %i: tensor<40xi64>, %w: tensor<64x96xf16>) -> tensor<40x96xf32> {
    %e = tensor.empty() : tensor<40x96xf32>
    %y = kernel.dispatch ins(%t, %i, %w : tensor<500x64xf16>, tensor<40xi64>, tensor<64x96xf16>) outs(%e : tensor<40x96xf32>) {
    ^bb0(%table: tensor<500x64xf16>, %indices: tensor<40xi64>, %m: tensor<64x96xf16>, %o: tensor<40x96xf32>):
      %z = arith.constant 0.0 : f32
      %t0 = tensor.empty() : tensor<40x64xf16>
      %l = linalg.generic {indexing_maps = [#id], iterator_types = ["parallel", "parallel"]}
          outs(%t0 : tensor<40x64xf16>) {
      ^bb1(%s: f16):
        %c0 = arith.constant 0 : index
        %c499 = arith.constant 499 : index
        %r = linalg.index 0 : index
        %d = linalg.index 1 : index
        %n = tensor.extract %indices[%r] : tensor<40xi64>
        %p = arith.index_cast %n : i64 to index
        %q = arith.maxsi %p, %c0 : index
        %at = arith.minsi %q, %c499 : index
        %u = tensor.extract %table[%at, %d] : tensor<500x64xf16>
        linalg.yield %u : f16
      } -> tensor<40x64xf16>
      %f = linalg.fill ins(%z : f32) outs(%o : tensor<40x96xf32>) -> tensor<40x96xf32>
      %g = linalg.generic {indexing_maps = [#a, #b, #c],
                           iterator_types = ["parallel", "parallel", "reduction"]}
          ins(%l, %m : tensor<40x64xf16>, tensor<64x96xf16>) outs(%f : tensor<40x96xf32>) {
      ^bb1(%u: f16, %v: f16, %s: f32):
        %x = arith.extf %u : f16 to f32
        %y0 = arith.extf %v : f16 to f32
        %q = math.fma %x, %y0, %s : f32
        linalg.yield %q : f32
      } -> tensor<40x96xf32>
      kernel.yield %g : tensor<40x96xf32>
    } -> tensor<40x96xf32>
    return %y : tensor<40x96xf32>
  }
}
