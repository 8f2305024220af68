// RUN: cameo-opt %s --pass-pipeline='builtin.module(rt.variant(cameo-assign-schedules),cameo-report-decisions)' -verify-diagnostics -o /dev/null
// RUN: cameo-opt %s --pass-pipeline='builtin.module(rt.variant(cameo-assign-schedules))' -o /dev/null 2>&1 | count 0

#id = affine_map<(d0) -> (d0)>
rt.variant @v target "sm_80" {
  func.func @main(%x: tensor<64xf32>) -> tensor<64xf32> {
    %e = tensor.empty() : tensor<64xf32>
    // expected-remark @below {{sm_80: schedule #kernel.schedule<"map", {flat = true, threads = 256 : i64, vector = 1 : i64}>, estimated at 2.6 us}}
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

#a = affine_map<(m, n, k) -> (m, k)>
#b = affine_map<(m, n, k) -> (k, n)>
#y = affine_map<(m, n, k) -> (m, n)>
rt.variant @parts target "sm_80" {
  func.func @main(%x: tensor<32x4096xf32>, %w: tensor<4096x64xf32>) -> tensor<32x64xf32> {
    %e = tensor.empty() : tensor<32x64xf32>
    // expected-remark-re @below {{sm_80: schedule #kernel.schedule<"contraction", {{.*}}splits = {{[0-9]+}} : i64{{.*}}, estimated at {{[0-9.]+}} us with {{[0-9]+}} B for sums of parts}}
    %r = kernel.dispatch ins(%x, %w : tensor<32x4096xf32>, tensor<4096x64xf32>) outs(%e : tensor<32x64xf32>) {
    ^bb0(%p: tensor<32x4096xf32>, %q: tensor<4096x64xf32>, %o: tensor<32x64xf32>):
      %zero = arith.constant 0.0 : f32
      %f = linalg.fill ins(%zero : f32) outs(%o : tensor<32x64xf32>) -> tensor<32x64xf32>
      %g = linalg.generic {indexing_maps = [#a, #b, #y], iterator_types = ["parallel", "parallel", "reduction"]}
          ins(%p, %q : tensor<32x4096xf32>, tensor<4096x64xf32>) outs(%f : tensor<32x64xf32>) {
      ^bb1(%u: f32, %v: f32, %s: f32):
        %t = math.fma %u, %v, %s : f32
        linalg.yield %t : f32
      } -> tensor<32x64xf32>
      kernel.yield %g : tensor<32x64xf32>
    } -> tensor<32x64xf32>
    return %r : tensor<32x64xf32>
  }
}

// Six exponentials an element: a block that has whole rows takes longer than two launches, whose times are told.
#l = affine_map<(b, m, n, k) -> (b, m, k)>
#r = affine_map<(b, m, n, k) -> (b, k, n)>
#s = affine_map<(b, m, n, k) -> (b, m, n)>
#e = affine_map<(b, m, n) -> (b, m, n)>
#m = affine_map<(b, m, n) -> (b, m)>
rt.variant @apart target "sm_80" {
  func.func @main(%x: tensor<96x197x64xf16>, %w: tensor<96x64x197xf16>) -> tensor<96x197x197xf32> {
    %e = tensor.empty() : tensor<96x197x197xf32>
    // expected-remark-re @below {{sm_80: split, as it takes less time in two: {{[0-9.]+}} us by the estimates, {{[0-9.]+}} us as one}}
    // expected-remark-re @below {{sm_80: schedule #kernel.schedule<"mma", {{.*}}}}
    // expected-remark-re @below {{sm_80: schedule #kernel.schedule<"rows", {{.*}}}}
    %r = kernel.dispatch ins(%x, %w : tensor<96x197x64xf16>, tensor<96x64x197xf16>) outs(%e : tensor<96x197x197xf32>) {
    ^bb0(%p: tensor<96x197x64xf16>, %q: tensor<96x64x197xf16>, %o: tensor<96x197x197xf32>):
      %zero = arith.constant 0.0 : f32
      %f = linalg.fill ins(%zero : f32) outs(%o : tensor<96x197x197xf32>) -> tensor<96x197x197xf32>
      %g = linalg.generic {indexing_maps = [#l, #r, #s], iterator_types = ["parallel", "parallel", "parallel", "reduction"]}
          ins(%p, %q : tensor<96x197x64xf16>, tensor<96x64x197xf16>) outs(%f : tensor<96x197x197xf32>) {
      ^bb1(%u: f16, %v: f16, %s: f32):
        %uw = arith.extf %u : f16 to f32
        %vw = arith.extf %v : f16 to f32
        %t = math.fma %uw, %vw, %s : f32
        linalg.yield %t : f32
      } -> tensor<96x197x197xf32>
      %z = tensor.empty() : tensor<96x197xf32>
      %zf = linalg.fill ins(%zero : f32) outs(%z : tensor<96x197xf32>) -> tensor<96x197xf32>
      %sum = linalg.generic {indexing_maps = [#e, #m], iterator_types = ["parallel", "parallel", "reduction"]}
          ins(%g : tensor<96x197x197xf32>) outs(%zf : tensor<96x197xf32>) {
      ^bb1(%u: f32, %s: f32):
        %a = math.exp %u : f32
        %b = math.exp %a : f32
        %c = math.exp %b : f32
        %t = arith.addf %s, %c : f32
        linalg.yield %t : f32
      } -> tensor<96x197xf32>
      %y = linalg.generic {indexing_maps = [#e, #m, #e], iterator_types = ["parallel", "parallel", "parallel"]}
          ins(%g, %sum : tensor<96x197x197xf32>, tensor<96x197xf32>) outs(%o : tensor<96x197x197xf32>) {
      ^bb1(%u: f32, %v: f32, %s: f32):
        %a = math.exp %u : f32
        %b = math.exp %a : f32
        %c = math.exp %b : f32
        %t = arith.divf %c, %v : f32
        linalg.yield %t : f32
      } -> tensor<96x197x197xf32>
      kernel.yield %y : tensor<96x197x197xf32>
    } -> tensor<96x197x197xf32>
    return %r : tensor<96x197x197xf32>
  }
}
