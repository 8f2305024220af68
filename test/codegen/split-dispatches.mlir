// RUN: cameo-opt %s --split-input-file --pass-pipeline='builtin.module(rt.variant(cameo-split-dispatches,cameo-assign-schedules))' | FileCheck %s
// RUN: cameo-opt %s --split-input-file --pass-pipeline='builtin.module(rt.variant(cameo-split-dispatches),cameo-report-decisions)' 2>&1 | FileCheck %s --check-prefix=REMARK

// A product whose results are asked for at two places each: the product alone, and the rest.
// CHECK-LABEL: rt.variant @product_and_transposed
// CHECK: %[[ONE:.*]] = kernel.dispatch ins(%{{.*}}, %{{.*}} : tensor<64x96xf32>, tensor<96x64xf32>)
// CHECK-SAME: schedule <"contraction"
// CHECK: kernel.dispatch ins(%[[ONE]] : tensor<64x64xf32>)
// CHECK-SAME: schedule <"map"
// REMARK: remark: sm_80: split, as no schedule class takes it whole
#a = affine_map<(m, n, k) -> (m, k)>
#b = affine_map<(m, n, k) -> (k, n)>
#c = affine_map<(m, n, k) -> (m, n)>
#id = affine_map<(m, n) -> (m, n)>
#turn = affine_map<(m, n) -> (n, m)>
rt.variant @product_and_transposed target "sm_80" {
  func.func @main(%x: tensor<64x96xf32>, %w: tensor<96x64xf32>) -> tensor<64x64xf32> {
    %e = tensor.empty() : tensor<64x64xf32>
    %y = kernel.dispatch ins(%x, %w : tensor<64x96xf32>, tensor<96x64xf32>) outs(%e : tensor<64x64xf32>) {
    ^bb0(%l: tensor<64x96xf32>, %m: tensor<96x64xf32>, %o: tensor<64x64xf32>):
      %z = arith.constant 0.0 : f32
      %f = linalg.fill ins(%z : f32) outs(%o : tensor<64x64xf32>) -> tensor<64x64xf32>
      %g = linalg.generic {indexing_maps = [#a, #b, #c],
                           iterator_types = ["parallel", "parallel", "reduction"]}
          ins(%l, %m : tensor<64x96xf32>, tensor<96x64xf32>) outs(%f : tensor<64x64xf32>) {
      ^bb1(%u: f32, %v: f32, %s: f32):
        %q = math.fma %u, %v, %s : f32
        linalg.yield %q : f32
      } -> tensor<64x64xf32>
      %h = linalg.generic {indexing_maps = [#id, #turn, #id], iterator_types = ["parallel", "parallel"]}
          ins(%g, %g : tensor<64x64xf32>, tensor<64x64xf32>) outs(%o : tensor<64x64xf32>) {
      ^bb1(%u: f32, %v: f32, %s: f32):
        %q = arith.addf %u, %v : f32
        linalg.yield %q : f32
      } -> tensor<64x64xf32>
      kernel.yield %h : tensor<64x64xf32>
    } -> tensor<64x64xf32>
    return %y : tensor<64x64xf32>
  }
}

// -----

// Sums of rows of a size of run time, asked for by every column: the sums alone.
// CHECK-LABEL: rt.variant @outer
// CHECK: %[[EMPTY:.*]] = tensor.empty(%{{.*}}) : tensor<?xf32>
// CHECK: %[[SUMS:.*]] = kernel.dispatch ins(%{{.*}} : tensor<?x128xf32>) outs(%[[EMPTY]] : tensor<?xf32>) schedule <"rows"
// CHECK: kernel.dispatch ins(%[[SUMS]] : tensor<?xf32>)
// CHECK-SAME: schedule <"map"
#all = affine_map<(i, j) -> (i, j)>
#row = affine_map<(i, j) -> (i)>
#column = affine_map<(i, j) -> (j)>
rt.variant @outer target "sm_80" {
  func.func @main(%x: tensor<?x128xf32>, %n: index) -> tensor<?x?xf32> {
    %e = tensor.empty(%n, %n) : tensor<?x?xf32>
    %r = kernel.dispatch ins(%x : tensor<?x128xf32>) outs(%e : tensor<?x?xf32>) {
    ^bb0(%a: tensor<?x128xf32>, %o: tensor<?x?xf32>):
      %z = arith.constant 0.0 : f32
      %c0 = arith.constant 0 : index
      %d = tensor.dim %a, %c0 : tensor<?x128xf32>
      %s = tensor.empty(%d) : tensor<?xf32>
      %f = linalg.fill ins(%z : f32) outs(%s : tensor<?xf32>) -> tensor<?xf32>
      %g = linalg.generic {indexing_maps = [#all, #row], iterator_types = ["parallel", "reduction"]}
          ins(%a : tensor<?x128xf32>) outs(%f : tensor<?xf32>) {
      ^bb1(%v: f32, %w: f32):
        %q = arith.addf %w, %v : f32
        linalg.yield %q : f32
      } -> tensor<?xf32>
      %h = linalg.generic {indexing_maps = [#row, #column, #all], iterator_types = ["parallel", "parallel"]}
          ins(%g, %g : tensor<?xf32>, tensor<?xf32>) outs(%o : tensor<?x?xf32>) {
      ^bb1(%v: f32, %t: f32, %w: f32):
        %q = arith.mulf %v, %t : f32
        linalg.yield %q : f32
      } -> tensor<?x?xf32>
      kernel.yield %h : tensor<?x?xf32>
    } -> tensor<?x?xf32>
    return %r : tensor<?x?xf32>
  }
}

// -----

// What a class takes whole, and short reductions, stay.
// CHECK-LABEL: rt.variant @short
// CHECK-COUNT-1: kernel.dispatch
// CHECK-NOT: kernel.dispatch
// REMARK-LABEL: rt.variant @short
// REMARK-NOT: remark
#all = affine_map<(i, j) -> (i, j)>
#row = affine_map<(i, j) -> (i)>
#column = affine_map<(i, j) -> (j)>
rt.variant @short target "sm_80" {
  func.func @main(%x: tensor<48x48xf32>) -> tensor<48x48xf32> {
    %e = tensor.empty() : tensor<48x48xf32>
    %r = kernel.dispatch ins(%x : tensor<48x48xf32>) outs(%e : tensor<48x48xf32>) {
    ^bb0(%a: tensor<48x48xf32>, %o: tensor<48x48xf32>):
      %z = arith.constant 0.0 : f32
      %s = tensor.empty() : tensor<48xf32>
      %f = linalg.fill ins(%z : f32) outs(%s : tensor<48xf32>) -> tensor<48xf32>
      %g = linalg.generic {indexing_maps = [#all, #row], iterator_types = ["parallel", "reduction"]}
          ins(%a : tensor<48x48xf32>) outs(%f : tensor<48xf32>) {
      ^bb1(%v: f32, %w: f32):
        %q = arith.addf %w, %v : f32
        linalg.yield %q : f32
      } -> tensor<48xf32>
      %h = linalg.generic {indexing_maps = [#row, #column, #all], iterator_types = ["parallel", "parallel"]}
          ins(%g, %g : tensor<48xf32>, tensor<48xf32>) outs(%o : tensor<48x48xf32>) {
      ^bb1(%v: f32, %t: f32, %w: f32):
        %q = arith.mulf %v, %t : f32
        linalg.yield %q : f32
      } -> tensor<48x48xf32>
      kernel.yield %h : tensor<48x48xf32>
    } -> tensor<48x48xf32>
    return %r : tensor<48x48xf32>
  }
}
