// RUN: cameo-opt %s --pass-pipeline='builtin.module(rt.variant(cameo-assign-schedules),cameo-report-decisions)' -verify-diagnostics -o /dev/null
// RUN: cameo-opt %s --pass-pipeline='builtin.module(rt.variant(cameo-assign-schedules))' -o /dev/null 2>&1 | count 0

#id = affine_map<(d0) -> (d0)>
rt.variant @v target "sm_80" {
  func.func @main(%x: tensor<64xf32>) -> tensor<64xf32> {
    %e = tensor.empty() : tensor<64xf32>
    // expected-remark @below {{sm_80: schedule #kernel.schedule<"map", {flat = true, threads = 256 : i64, vector = 1 : i64}>}}
    %r = kernel.dispatch ins(%x : tensor<64xf32>) outs(%e : tensor<64xf32>) {
    ^bb0(%a: tensor<64xf32>, %o: tensor<64xf32>):
      %g = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel"]}
          ins(%a : tensor<64xf32>) outs(%o : tensor<64xf32>) {
      ^bb1(%v: f32, %w: f32):
        %q = arith.negf %v : f32
        linalg.yield %q : f32
      } -> tensor<64xf32>
      kernel.yield %g : tensor<64xf32>
    } -> tensor<64xf32>
    return %r : tensor<64xf32>
  }
}
