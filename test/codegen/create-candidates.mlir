// Each candidate of each dispatch as a variant of its own.
// RUN: cameo-opt %s --pass-pipeline='builtin.module(rt.variant(cameo-assign-schedules{candidates=2 everything}),cameo-create-candidates)' | FileCheck %s
// No constants are left behind, and the kernels are those of the model.
// RUN: cameo-opt %s --pass-pipeline='builtin.module(rt.variant(cameo-assign-schedules{candidates=2 everything}),cameo-create-candidates,rt.variant(cameo-lower-dispatches),cameo-replace-placeholders)' | FileCheck %s --check-prefix=TILED

#x = affine_map<(m, n, k) -> (m, k)>
#w = affine_map<(m, n, k) -> (k, n)>
#y = affine_map<(m, n, k) -> (m, n)>
#id = affine_map<(m, n) -> (m, n)>

// Two equal products, of which one is tried, and a sum.
// CHECK-LABEL: module
// CHECK-NEXT: rt.constant @[[PLACE:placeholder[0-9]+]] = dense<0.000000e+00> : tensor<96x96xf16> {onnx.name = "x1"}
// CHECK-NEXT: rt.variant @d0_0 target "sm_80"
// CHECK-SAME: rt.candidate = {candidate = {microseconds = {{[0-9.]+}} : f64, schedule = #kernel.schedule<"mma"
// CHECK-SAME: tile = array<i64: 32, 32, 64>
// CHECK-SAME: key = "{{[0-9a-f]+}}", nodes = ["first", "second"], uses = 2 : i64}
// CHECK: func.func @main(%[[X:.*]]: tensor<64x96xf16> {onnx.name = "x0"}) -> tensor<64x96xf16>
// CHECK-NEXT: %[[W:.*]] = rt.get_constant @[[PLACE]]
// CHECK: kernel.dispatch ins(%[[X]], %[[W]] : tensor<64x96xf16>, tensor<96x96xf16>)
// CHECK-SAME: tile = array<i64: 32, 32, 64>
// CHECK: rt.variant @d0_1 target "sm_80"
// CHECK-SAME: tile = array<i64: 16, 64, 64>
// CHECK-SAME: nodes = ["first", "second"]
// CHECK: rt.variant @d1_0 target "sm_80"
// CHECK-SAME: nodes = ["sum"], uses = 1 : i64
// CHECK: func.func @main(%{{.*}}: tensor<64x96xf16> {onnx.name = "x0"}, %{{.*}}: tensor<64x96xf16> {onnx.name = "x1"})
// CHECK-NOT: rt.variant

// TILED-LABEL: module
// TILED-NOT: rt.constant
// TILED: rt.variant @d0_0
// TILED: func.func @main(%[[X:.*]]: tensor<64x96xf16> {onnx.name = "x0"}, %[[W:.*]]: tensor<{{.*}}xf16> {onnx.name = "x1"})
// TILED: rt.launch @{{.*}} args(%[[X]], %[[W]],
// TILED-NOT: rt.get_constant
rt.constant @weights = dense<1.0> : tensor<96x96xf16>
rt.variant @sm_80 target "sm_80" {
  func.func @main(%x: tensor<64x96xf16>) -> tensor<64x96xf16> {
    %w = rt.get_constant @weights : tensor<96x96xf16>
    %e = tensor.empty() : tensor<64x96xf16>
    %p = kernel.dispatch ins(%x, %w : tensor<64x96xf16>, tensor<96x96xf16>) outs(%e : tensor<64x96xf16>) {
    ^bb0(%a: tensor<64x96xf16>, %b: tensor<96x96xf16>, %o: tensor<64x96xf16>):
      %z = arith.constant 0.0 : f32
      %i = tensor.empty() : tensor<64x96xf32>
      %f = linalg.fill ins(%z : f32) outs(%i : tensor<64x96xf32>) -> tensor<64x96xf32>
      %g = linalg.generic {indexing_maps = [#x, #w, #y], iterator_types = ["parallel", "parallel", "reduction"]}
          ins(%a, %b : tensor<64x96xf16>, tensor<96x96xf16>) outs(%f : tensor<64x96xf32>) {
      ^bb1(%u: f16, %v: f16, %s: f32):
        %u32 = arith.extf %u : f16 to f32
        %v32 = arith.extf %v : f16 to f32
        %q = math.fma %u32, %v32, %s : f32
        linalg.yield %q : f32
      } -> tensor<64x96xf32>
      %h = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel", "parallel"]}
          ins(%g : tensor<64x96xf32>) outs(%o : tensor<64x96xf16>) {
      ^bb1(%u: f32, %s: f16):
        %q = arith.truncf %u : f32 to f16
        linalg.yield %q : f16
      } -> tensor<64x96xf16>
      kernel.yield %h : tensor<64x96xf16>
    } -> tensor<64x96xf16> loc("first")
    %r = kernel.dispatch ins(%p, %w : tensor<64x96xf16>, tensor<96x96xf16>) outs(%e : tensor<64x96xf16>) {
    ^bb0(%a: tensor<64x96xf16>, %b: tensor<96x96xf16>, %o: tensor<64x96xf16>):
      %z = arith.constant 0.0 : f32
      %i = tensor.empty() : tensor<64x96xf32>
      %f = linalg.fill ins(%z : f32) outs(%i : tensor<64x96xf32>) -> tensor<64x96xf32>
      %g = linalg.generic {indexing_maps = [#x, #w, #y], iterator_types = ["parallel", "parallel", "reduction"]}
          ins(%a, %b : tensor<64x96xf16>, tensor<96x96xf16>) outs(%f : tensor<64x96xf32>) {
      ^bb1(%u: f16, %v: f16, %s: f32):
        %u32 = arith.extf %u : f16 to f32
        %v32 = arith.extf %v : f16 to f32
        %q = math.fma %u32, %v32, %s : f32
        linalg.yield %q : f32
      } -> tensor<64x96xf32>
      %h = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel", "parallel"]}
          ins(%g : tensor<64x96xf32>) outs(%o : tensor<64x96xf16>) {
      ^bb1(%u: f32, %s: f16):
        %q = arith.truncf %u : f32 to f16
        linalg.yield %q : f16
      } -> tensor<64x96xf16>
      kernel.yield %h : tensor<64x96xf16>
    } -> tensor<64x96xf16> loc("second")
    %t = kernel.dispatch ins(%r, %x : tensor<64x96xf16>, tensor<64x96xf16>) outs(%e : tensor<64x96xf16>) {
    ^bb0(%a: tensor<64x96xf16>, %b: tensor<64x96xf16>, %o: tensor<64x96xf16>):
      %g = linalg.generic {indexing_maps = [#id, #id, #id], iterator_types = ["parallel", "parallel"]}
          ins(%a, %b : tensor<64x96xf16>, tensor<64x96xf16>) outs(%o : tensor<64x96xf16>) {
      ^bb1(%u: f16, %v: f16, %s: f16):
        %q = arith.addf %u, %v : f16
        linalg.yield %q : f16
      } -> tensor<64x96xf16>
      kernel.yield %g : tensor<64x96xf16>
    } -> tensor<64x96xf16> loc("sum")
    return %t : tensor<64x96xf16>
  }
}
