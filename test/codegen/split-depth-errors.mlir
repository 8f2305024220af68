// RUN: cameo-opt %s --split-input-file --verify-diagnostics --pass-pipeline='builtin.module(rt.variant(cameo-lower-dispatches))'

#a = affine_map<(m, n, k) -> (m, k)>
#b = affine_map<(m, n, k) -> (k, n)>
#bt = affine_map<(m, n, k) -> (n, k)>
#y = affine_map<(m, n, k) -> (m, n)>
#id = affine_map<(m, n) -> (m, n)>
rt.variant @many target "sm_80" {
  func.func @main(%x: tensor<64x4096xf32>, %w: tensor<4096x64xf32>) -> tensor<64x64xf32> {
    %e = tensor.empty() : tensor<64x64xf32>
    // expected-error@+1 {{schedule 'contraction': the depth is not split into 33 parts; 1 to 32 of a step or more each are possible}}
    %r = kernel.dispatch ins(%x, %w : tensor<64x4096xf32>, tensor<4096x64xf32>) outs(%e : tensor<64x64xf32>) schedule <"contraction", {column_vector = array<i64: 4, 1>, row_vector = array<i64: 1, 4>, splits = 33 : i64, store_vector = 4 : i64, thread = array<i64: 4, 4>, tile = array<i64: 32, 64, 16>}> {
    ^bb0(%a: tensor<64x4096xf32>, %b: tensor<4096x64xf32>, %o: tensor<64x64xf32>):
      %zero = arith.constant 0.0 : f32
      %f = linalg.fill ins(%zero : f32) outs(%o : tensor<64x64xf32>) -> tensor<64x64xf32>
      %g = linalg.generic {indexing_maps = [#a, #b, #y], iterator_types = ["parallel", "parallel", "reduction"]}
          ins(%a, %b : tensor<64x4096xf32>, tensor<4096x64xf32>) outs(%f : tensor<64x64xf32>) {
      ^bb1(%p: f32, %q: f32, %s: f32):
        %t = math.fma %p, %q, %s : f32
        linalg.yield %t : f32
      } -> tensor<64x64xf32>
      kernel.yield %g : tensor<64x64xf32>
    } -> tensor<64x64xf32>
    return %r : tensor<64x64xf32>
  }
}

// -----

#a = affine_map<(m, n, k) -> (m, k)>
#b = affine_map<(m, n, k) -> (k, n)>
#bt = affine_map<(m, n, k) -> (n, k)>
#y = affine_map<(m, n, k) -> (m, n)>
#id = affine_map<(m, n) -> (m, n)>
rt.variant @empty target "sm_80" {
  func.func @main(%x: tensor<64x96xf32>, %w: tensor<96x64xf32>) -> tensor<64x64xf32> {
    %e = tensor.empty() : tensor<64x64xf32>
    // expected-error@+1 {{schedule 'contraction': the depth is not split into 5 parts; 1 to 32 of a step or more each are possible}}
    %r = kernel.dispatch ins(%x, %w : tensor<64x96xf32>, tensor<96x64xf32>) outs(%e : tensor<64x64xf32>) schedule <"contraction", {column_vector = array<i64: 4, 1>, row_vector = array<i64: 1, 4>, splits = 5 : i64, store_vector = 4 : i64, thread = array<i64: 4, 4>, tile = array<i64: 32, 64, 16>}> {
    ^bb0(%a: tensor<64x96xf32>, %b: tensor<96x64xf32>, %o: tensor<64x64xf32>):
      %zero = arith.constant 0.0 : f32
      %f = linalg.fill ins(%zero : f32) outs(%o : tensor<64x64xf32>) -> tensor<64x64xf32>
      %g = linalg.generic {indexing_maps = [#a, #b, #y], iterator_types = ["parallel", "parallel", "reduction"]}
          ins(%a, %b : tensor<64x96xf32>, tensor<96x64xf32>) outs(%f : tensor<64x64xf32>) {
      ^bb1(%p: f32, %q: f32, %s: f32):
        %t = math.fma %p, %q, %s : f32
        linalg.yield %t : f32
      } -> tensor<64x64xf32>
      kernel.yield %g : tensor<64x64xf32>
    } -> tensor<64x64xf32>
    return %r : tensor<64x64xf32>
  }
}

// -----

#a = affine_map<(m, n, k) -> (m, k)>
#b = affine_map<(m, n, k) -> (k, n)>
#bt = affine_map<(m, n, k) -> (n, k)>
#y = affine_map<(m, n, k) -> (m, n)>
#id = affine_map<(m, n) -> (m, n)>
rt.variant @matrix target "sm_80" {
  func.func @main(%x: tensor<64x96xf16>, %w: tensor<96x64xf16>) -> tensor<64x64xf32> {
    %e = tensor.empty() : tensor<64x64xf32>
    // expected-error@+1 {{schedule 'mma': the depth is not split into 0 parts; 1 to 32 of a step or more each are possible}}
    %r = kernel.dispatch ins(%x, %w : tensor<64x96xf16>, tensor<96x64xf16>) outs(%e : tensor<64x64xf32>) schedule <"mma", {column_lines = "across", column_vector = 8 : i64, copies = "async", instruction = array<i64: 16, 8, 16>, row_lines = "depth", row_vector = 8 : i64, splits = 0 : i64, stages = 4 : i64, store_vector = 4 : i64, tile = array<i64: 32, 64, 32>, warps = array<i64: 2, 2>}> {
    ^bb0(%a: tensor<64x96xf16>, %b: tensor<96x64xf16>, %o: tensor<64x64xf32>):
      %zero = arith.constant 0.0 : f32
      %f = linalg.fill ins(%zero : f32) outs(%o : tensor<64x64xf32>) -> tensor<64x64xf32>
      %g = linalg.generic {indexing_maps = [#a, #b, #y], iterator_types = ["parallel", "parallel", "reduction"]}
          ins(%a, %b : tensor<64x96xf16>, tensor<96x64xf16>) outs(%f : tensor<64x64xf32>) {
      ^bb1(%p: f16, %q: f16, %s: f32):
        %pw = arith.extf %p : f16 to f32
        %qw = arith.extf %q : f16 to f32
        %t = math.fma %pw, %qw, %s : f32
        linalg.yield %t : f32
      } -> tensor<64x64xf32>
      kernel.yield %g : tensor<64x64xf32>
    } -> tensor<64x64xf32>
    return %r : tensor<64x64xf32>
  }
}

// -----

#a = affine_map<(m, n, k) -> (m, k)>
#b = affine_map<(m, n, k) -> (k, n)>
#y = affine_map<(m, n, k) -> (m, n)>
#id = affine_map<(m, n) -> (m, n)>
rt.variant @skinny target "sm_80" {
  func.func @main(%x: tensor<1x1024xf32>, %w: tensor<1024x64xf32>) -> tensor<1x64xf32> {
    %e = tensor.empty() : tensor<1x64xf32>
    // expected-error@+1 {{schedule 'skinny': the depth is not split into 3 parts; 1 to 32 of a step or more each are possible}}
    %r = kernel.dispatch ins(%x, %w : tensor<1x1024xf32>, tensor<1024x64xf32>) outs(%e : tensor<1x64xf32>) schedule <"skinny", {lanes = array<i64: 4, 8>, splits = 3 : i64, store_vector = 4 : i64, thin_vector = 4 : i64, tile = array<i64: 4, 8>, warps = array<i64: 1, 8>, wide_lines = "across", wide_vector = 4 : i64}> {
    ^bb0(%a: tensor<1x1024xf32>, %b: tensor<1024x64xf32>, %o: tensor<1x64xf32>):
      %zero = arith.constant 0.0 : f32
      %f = linalg.fill ins(%zero : f32) outs(%o : tensor<1x64xf32>) -> tensor<1x64xf32>
      %g = linalg.generic {indexing_maps = [#a, #b, #y], iterator_types = ["parallel", "parallel", "reduction"]}
          ins(%a, %b : tensor<1x1024xf32>, tensor<1024x64xf32>) outs(%f : tensor<1x64xf32>) {
      ^bb1(%p: f32, %q: f32, %s: f32):
        %t = math.fma %p, %q, %s : f32
        linalg.yield %t : f32
      } -> tensor<1x64xf32>
      %h = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel", "parallel"]} ins(%g : tensor<1x64xf32>) outs(%o : tensor<1x64xf32>) {
      ^bb1(%v: f32, %z: f32):
        %l = math.absf %v : f32
        linalg.yield %l : f32
      } -> tensor<1x64xf32>
      kernel.yield %h : tensor<1x64xf32>
    } -> tensor<1x64xf32>
    return %r : tensor<1x64xf32>
  }
}
