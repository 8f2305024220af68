// RUN: cameo-opt %s --split-input-file --cameo-hoist-constants | FileCheck %s
// RUN: cameo-opt %s --split-input-file --cameo-hoist-constants --cameo-hoist-constants | FileCheck %s
// RUN: cameo-opt %s --split-input-file --cameo-assign-schedules --cameo-hoist-constants --cameo-lower-dispatches | FileCheck %s --check-prefix=KERNELS

// What differs is passed; what is common stays.
// CHECK-LABEL: rt.variant @differ
// CHECK: %[[TWO:.*]] = arith.constant 2.000000e+00 : f32
// CHECK: kernel.dispatch ins(%{{.*}} : tensor<4xf32>) scalars(%[[TWO]] : f32)
// CHECK: ^bb0(%{{.*}}: tensor<4xf32>, %[[C:.*]]: f32, %{{.*}}: tensor<4xf32>):
// CHECK: %[[SAME:.*]] = arith.constant 3.000000e+00 : f32
// CHECK: %[[P:.*]] = arith.mulf %{{.*}}, %[[C]] : f32
// CHECK: arith.addf %[[P]], %[[SAME]] : f32
// CHECK: %[[FIVE:.*]] = arith.constant 5.000000e+00 : f32
// CHECK: kernel.dispatch ins(%{{.*}} : tensor<4xf32>) scalars(%[[FIVE]] : f32)
// CHECK: arith.constant 3.000000e+00 : f32
// KERNELS-LABEL: rt.variant @differ
// KERNELS: rt.launch @[[K:.*]]::@[[K]] {{.*}}f32
// KERNELS: rt.launch @[[K]]::@[[K]]
// KERNELS: gpu.func @[[K]](%{{.*}}: memref{{.*}}, %{{.*}}: memref{{.*}}, %{{.*}}: f32)
// KERNELS-NOT: gpu.func
#id = affine_map<(i) -> (i)>
rt.variant @differ target "sm_80" {
  func.func @main(%x: tensor<4xf32>) -> tensor<4xf32> {
    %e = tensor.empty() : tensor<4xf32>
    %y = kernel.dispatch ins(%x : tensor<4xf32>) outs(%e : tensor<4xf32>) {
    ^bb0(%a: tensor<4xf32>, %o: tensor<4xf32>):
      %g = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel"]}
          ins(%a : tensor<4xf32>) outs(%o : tensor<4xf32>) {
      ^bb1(%u: f32, %v: f32):
        %c = arith.constant 2.0 : f32
        %d = arith.constant 3.0 : f32
        %p = arith.mulf %u, %c : f32
        %q = arith.addf %p, %d : f32
        linalg.yield %q : f32
      } -> tensor<4xf32>
      kernel.yield %g : tensor<4xf32>
    } -> tensor<4xf32>
    %z = kernel.dispatch ins(%y : tensor<4xf32>) outs(%e : tensor<4xf32>) {
    ^bb0(%a: tensor<4xf32>, %o: tensor<4xf32>):
      %g = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel"]}
          ins(%a : tensor<4xf32>) outs(%o : tensor<4xf32>) {
      ^bb1(%u: f32, %v: f32):
        %c = arith.constant 5.0 : f32
        %d = arith.constant 3.0 : f32
        %p = arith.mulf %u, %c : f32
        %q = arith.addf %p, %d : f32
        linalg.yield %q : f32
      } -> tensor<4xf32>
      kernel.yield %g : tensor<4xf32>
    } -> tensor<4xf32>
    return %z : tensor<4xf32>
  }
}

// -----

// Types that launches do not pass travel in one that they do, without a loss.
// CHECK-LABEL: rt.variant @narrow
// KERNELS-LABEL: rt.variant @narrow
// CHECK: arith.constant 1.500000e+00 : f32
// CHECK: scalars(%{{.*}} : f32)
// CHECK: %[[T:.*]] = arith.truncf %{{.*}} : f32 to f16
// CHECK: arith.mulf %{{.*}}, %[[T]] : f16
// CHECK: arith.constant 2.500000e+00 : f32
// CHECK: scalars(%{{.*}} : f32)
#id = affine_map<(i) -> (i)>
rt.variant @narrow target "sm_80" {
  func.func @main(%x: tensor<4xf16>) -> tensor<4xf16> {
    %e = tensor.empty() : tensor<4xf16>
    %y = kernel.dispatch ins(%x : tensor<4xf16>) outs(%e : tensor<4xf16>) {
    ^bb0(%a: tensor<4xf16>, %o: tensor<4xf16>):
      %c = arith.constant 1.5 : f16
      %g = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel"]}
          ins(%a : tensor<4xf16>) outs(%o : tensor<4xf16>) {
      ^bb1(%u: f16, %v: f16):
        %p = arith.mulf %u, %c : f16
        linalg.yield %p : f16
      } -> tensor<4xf16>
      kernel.yield %g : tensor<4xf16>
    } -> tensor<4xf16>
    %z = kernel.dispatch ins(%y : tensor<4xf16>) outs(%e : tensor<4xf16>) {
    ^bb0(%a: tensor<4xf16>, %o: tensor<4xf16>):
      %c = arith.constant 2.5 : f16
      %g = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel"]}
          ins(%a : tensor<4xf16>) outs(%o : tensor<4xf16>) {
      ^bb1(%u: f16, %v: f16):
        %p = arith.mulf %u, %c : f16
        linalg.yield %p : f16
      } -> tensor<4xf16>
      kernel.yield %g : tensor<4xf16>
    } -> tensor<4xf16>
    return %z : tensor<4xf16>
  }
}

// -----

// Initial values stay: schedules look at them. So do constants of a dispatch that has no like.
// CHECK-LABEL: rt.variant @stay
// CHECK-NOT: scalars
// KERNELS-LABEL: rt.variant @stay
// KERNELS-COUNT-3: gpu.func
#in = affine_map<(i, j) -> (i, j)>
#row = affine_map<(i, j) -> (i)>
rt.variant @stay target "sm_80" {
  func.func @main(%x: tensor<4x8xf32>) -> (tensor<4xf32>, tensor<4xf32>, tensor<4x8xf32>) {
    %e = tensor.empty() : tensor<4xf32>
    %y = kernel.dispatch ins(%x : tensor<4x8xf32>) outs(%e : tensor<4xf32>) {
    ^bb0(%a: tensor<4x8xf32>, %o: tensor<4xf32>):
      %c = arith.constant 0.0 : f32
      %f = linalg.fill ins(%c : f32) outs(%o : tensor<4xf32>) -> tensor<4xf32>
      %g = linalg.generic {indexing_maps = [#in, #row], iterator_types = ["parallel", "reduction"]}
          ins(%a : tensor<4x8xf32>) outs(%f : tensor<4xf32>) {
      ^bb1(%u: f32, %v: f32):
        %p = arith.addf %u, %v : f32
        linalg.yield %p : f32
      } -> tensor<4xf32>
      kernel.yield %g : tensor<4xf32>
    } -> tensor<4xf32>
    %z = kernel.dispatch ins(%x : tensor<4x8xf32>) outs(%e : tensor<4xf32>) {
    ^bb0(%a: tensor<4x8xf32>, %o: tensor<4xf32>):
      %c = arith.constant 1.0 : f32
      %f = linalg.fill ins(%c : f32) outs(%o : tensor<4xf32>) -> tensor<4xf32>
      %g = linalg.generic {indexing_maps = [#in, #row], iterator_types = ["parallel", "reduction"]}
          ins(%a : tensor<4x8xf32>) outs(%f : tensor<4xf32>) {
      ^bb1(%u: f32, %v: f32):
        %p = arith.addf %u, %v : f32
        linalg.yield %p : f32
      } -> tensor<4xf32>
      kernel.yield %g : tensor<4xf32>
    } -> tensor<4xf32>
    %w = tensor.empty() : tensor<4x8xf32>
    %t = kernel.dispatch ins(%x : tensor<4x8xf32>) outs(%w : tensor<4x8xf32>) {
    ^bb0(%a: tensor<4x8xf32>, %o: tensor<4x8xf32>):
      %g = linalg.generic {indexing_maps = [#in, #in], iterator_types = ["parallel", "parallel"]}
          ins(%a : tensor<4x8xf32>) outs(%o : tensor<4x8xf32>) {
      ^bb1(%u: f32, %v: f32):
        %c = arith.constant 7.0 : f32
        %p = arith.mulf %u, %c : f32
        linalg.yield %p : f32
      } -> tensor<4x8xf32>
      kernel.yield %g : tensor<4x8xf32>
    } -> tensor<4x8xf32>
    return %y, %z, %t : tensor<4xf32>, tensor<4xf32>, tensor<4x8xf32>
  }
}
