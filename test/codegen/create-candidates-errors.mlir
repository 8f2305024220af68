// RUN: cameo-opt %s --pass-pipeline='builtin.module(rt.variant(cameo-assign-schedules{candidates=2 everything}),cameo-create-candidates)' --verify-diagnostics
// What has no sizes yet is not measured, and where nothing else is left that is an error.

#id = affine_map<(m, n) -> (m, n)>
// expected-error @+1 {{there is nothing to measure: the model has no kernels, or sizes of all of them are known only at run time; --shapes fixes sizes}}
module {
rt.variant @sm_80 target "sm_80" {
  func.func @main(%x: tensor<?x96xf16>) -> tensor<?x96xf16> {
    %zero = arith.constant 0 : index
    %n = tensor.dim %x, %zero : tensor<?x96xf16>
    %e = tensor.empty(%n) : tensor<?x96xf16>
    // expected-warning @+1 {{its sizes are known only at run time, so that its schedules are not measured; --shapes fixes sizes}}
    %t = kernel.dispatch ins(%x : tensor<?x96xf16>) outs(%e : tensor<?x96xf16>) {
    ^bb0(%a: tensor<?x96xf16>, %o: tensor<?x96xf16>):
      %g = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel", "parallel"]}
          ins(%a : tensor<?x96xf16>) outs(%o : tensor<?x96xf16>) {
      ^bb1(%u: f16, %s: f16):
        %q = arith.addf %u, %u : f16
        linalg.yield %q : f16
      } -> tensor<?x96xf16>
      kernel.yield %g : tensor<?x96xf16>
    } -> tensor<?x96xf16>
    return %t : tensor<?x96xf16>
  }
}
}
