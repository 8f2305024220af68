// RUN: cameo-opt %s --split-input-file --verify-diagnostics --pass-pipeline='builtin.module(rt.variant(cameo-lower-dispatches))'

#a = affine_map<(m, n, k) -> (m, k)>
#b = affine_map<(m, n, k) -> (k, n)>
#y = affine_map<(m, n, k) -> (m, n)>
#id = affine_map<(m, n) -> (m, n)>
#row = affine_map<(m, n) -> (m)>
rt.variant @narrow target "sm_80" {
  func.func @main(%x: tensor<256x64xf16>, %w: tensor<64x96xf16>, %b: tensor<256x96xf32>) -> tensor<256x96xf32> {
    %e = tensor.empty() : tensor<256x96xf32>
    // expected-error@+1 {{schedule 'mma': rows of 96 elements are reduced, which do not lie in a tile of 64 columns}}
    %r = kernel.dispatch ins(%x, %w, %b : tensor<256x64xf16>, tensor<64x96xf16>, tensor<256x96xf32>) outs(%e : tensor<256x96xf32>) schedule <"mma", {column_lines = "across", column_vector = 8 : i64, copies = "async", instruction = array<i64: 16, 8, 16>, row_lines = "depth", row_vector = 8 : i64, stages = 3 : i64, store_vector = 4 : i64, tile = array<i64: 64, 64, 32>, warps = array<i64: 2, 2>}> {
    ^bb0(%l: tensor<256x64xf16>, %q: tensor<64x96xf16>, %mask: tensor<256x96xf32>, %o: tensor<256x96xf32>):
      %zero = arith.constant 0.0 : f32
      %low = arith.constant 0xFF800000 : f32
      %t = tensor.empty() : tensor<256xf32>
      %f = linalg.fill ins(%zero : f32) outs(%o : tensor<256x96xf32>) -> tensor<256x96xf32>
      %p = linalg.generic {indexing_maps = [#a, #b, #y], iterator_types = ["parallel", "parallel", "reduction"]}
          ins(%l, %q : tensor<256x64xf16>, tensor<64x96xf16>) outs(%f : tensor<256x96xf32>) {
      ^bb1(%u: f16, %v: f16, %s: f32):
        %uw = arith.extf %u : f16 to f32
        %vw = arith.extf %v : f16 to f32
        %d = math.fma %uw, %vw, %s : f32
        linalg.yield %d : f32
      } -> tensor<256x96xf32>
      %z = linalg.generic {indexing_maps = [#id, #id, #id], iterator_types = ["parallel", "parallel"]}
          ins(%p, %mask : tensor<256x96xf32>, tensor<256x96xf32>) outs(%o : tensor<256x96xf32>) {
      ^bb1(%u: f32, %v: f32, %s: f32):
        %d = arith.addf %u, %v : f32
        linalg.yield %d : f32
      } -> tensor<256x96xf32>
      %lows = linalg.fill ins(%low : f32) outs(%t : tensor<256xf32>) -> tensor<256xf32>
      %most = linalg.generic {indexing_maps = [#id, #row], iterator_types = ["parallel", "reduction"]}
          ins(%z : tensor<256x96xf32>) outs(%lows : tensor<256xf32>) {
      ^bb1(%u: f32, %s: f32):
        %d = arith.maximumf %s, %u : f32
        linalg.yield %d : f32
      } -> tensor<256xf32>
      %zeros = linalg.fill ins(%zero : f32) outs(%t : tensor<256xf32>) -> tensor<256xf32>
      %sum = linalg.generic {indexing_maps = [#id, #row, #row], iterator_types = ["parallel", "reduction"]}
          ins(%z, %most : tensor<256x96xf32>, tensor<256xf32>) outs(%zeros : tensor<256xf32>) {
      ^bb1(%u: f32, %v: f32, %s: f32):
        %c = arith.subf %u, %v : f32
        %d = math.exp %c : f32
        %g = arith.addf %s, %d : f32
        linalg.yield %g : f32
      } -> tensor<256xf32>
      %out = linalg.generic {indexing_maps = [#id, #row, #row, #id], iterator_types = ["parallel", "parallel"]}
          ins(%z, %most, %sum : tensor<256x96xf32>, tensor<256xf32>, tensor<256xf32>) outs(%o : tensor<256x96xf32>) {
      ^bb1(%u: f32, %v: f32, %h: f32, %s: f32):
        %c = arith.subf %u, %v : f32
        %d = math.exp %c : f32
        %g = arith.divf %d, %h : f32
        linalg.yield %g : f32
      } -> tensor<256x96xf32>
      kernel.yield %out : tensor<256x96xf32>
    } -> tensor<256x96xf32>
    return %r : tensor<256x96xf32>
  }
}

// -----

#a = affine_map<(m, n, k) -> (m, k)>
#b = affine_map<(m, n, k) -> (k, n)>
#y = affine_map<(m, n, k) -> (m, n)>
#id = affine_map<(m, n) -> (m, n)>
#row = affine_map<(m, n) -> (m)>
rt.variant @parts target "sm_80" {
  func.func @main(%x: tensor<256x2048xf16>, %w: tensor<2048x64xf16>, %b: tensor<256x64xf32>) -> tensor<256x64xf32> {
    %e = tensor.empty() : tensor<256x64xf32>
    // expected-error@+1 {{schedule 'mma': rows are reduced, which blocks with parts of their depth do not have}}
    %r = kernel.dispatch ins(%x, %w, %b : tensor<256x2048xf16>, tensor<2048x64xf16>, tensor<256x64xf32>) outs(%e : tensor<256x64xf32>) schedule <"mma", {column_lines = "across", column_vector = 8 : i64, copies = "async", instruction = array<i64: 16, 8, 16>, row_lines = "depth", row_vector = 8 : i64, splits = 2 : i64, stages = 3 : i64, store_vector = 4 : i64, tile = array<i64: 64, 64, 32>, warps = array<i64: 2, 2>}> {
    ^bb0(%l: tensor<256x2048xf16>, %q: tensor<2048x64xf16>, %mask: tensor<256x64xf32>, %o: tensor<256x64xf32>):
      %zero = arith.constant 0.0 : f32
      %low = arith.constant 0xFF800000 : f32
      %t = tensor.empty() : tensor<256xf32>
      %f = linalg.fill ins(%zero : f32) outs(%o : tensor<256x64xf32>) -> tensor<256x64xf32>
      %p = linalg.generic {indexing_maps = [#a, #b, #y], iterator_types = ["parallel", "parallel", "reduction"]}
          ins(%l, %q : tensor<256x2048xf16>, tensor<2048x64xf16>) outs(%f : tensor<256x64xf32>) {
      ^bb1(%u: f16, %v: f16, %s: f32):
        %uw = arith.extf %u : f16 to f32
        %vw = arith.extf %v : f16 to f32
        %d = math.fma %uw, %vw, %s : f32
        linalg.yield %d : f32
      } -> tensor<256x64xf32>
      %z = linalg.generic {indexing_maps = [#id, #id, #id], iterator_types = ["parallel", "parallel"]}
          ins(%p, %mask : tensor<256x64xf32>, tensor<256x64xf32>) outs(%o : tensor<256x64xf32>) {
      ^bb1(%u: f32, %v: f32, %s: f32):
        %d = arith.addf %u, %v : f32
        linalg.yield %d : f32
      } -> tensor<256x64xf32>
      %lows = linalg.fill ins(%low : f32) outs(%t : tensor<256xf32>) -> tensor<256xf32>
      %most = linalg.generic {indexing_maps = [#id, #row], iterator_types = ["parallel", "reduction"]}
          ins(%z : tensor<256x64xf32>) outs(%lows : tensor<256xf32>) {
      ^bb1(%u: f32, %s: f32):
        %d = arith.maximumf %s, %u : f32
        linalg.yield %d : f32
      } -> tensor<256xf32>
      %zeros = linalg.fill ins(%zero : f32) outs(%t : tensor<256xf32>) -> tensor<256xf32>
      %sum = linalg.generic {indexing_maps = [#id, #row, #row], iterator_types = ["parallel", "reduction"]}
          ins(%z, %most : tensor<256x64xf32>, tensor<256xf32>) outs(%zeros : tensor<256xf32>) {
      ^bb1(%u: f32, %v: f32, %s: f32):
        %c = arith.subf %u, %v : f32
        %d = math.exp %c : f32
        %g = arith.addf %s, %d : f32
        linalg.yield %g : f32
      } -> tensor<256xf32>
      %out = linalg.generic {indexing_maps = [#id, #row, #row, #id], iterator_types = ["parallel", "parallel"]}
          ins(%z, %most, %sum : tensor<256x64xf32>, tensor<256xf32>, tensor<256xf32>) outs(%o : tensor<256x64xf32>) {
      ^bb1(%u: f32, %v: f32, %h: f32, %s: f32):
        %c = arith.subf %u, %v : f32
        %d = math.exp %c : f32
        %g = arith.divf %d, %h : f32
        linalg.yield %g : f32
      } -> tensor<256x64xf32>
      kernel.yield %out : tensor<256x64xf32>
    } -> tensor<256x64xf32>
    return %r : tensor<256x64xf32>
  }
}

// -----

#a = affine_map<(m, n, k) -> (m, k)>
#b = affine_map<(m, n, k) -> (k, n)>
#y = affine_map<(m, n, k) -> (m, n)>
#id = affine_map<(m, n) -> (m, n)>
#row = affine_map<(m, n) -> (m)>
rt.variant @odd target "sm_80" {
  func.func @main(%x: tensor<256x64xf16>, %w: tensor<64x64xf16>, %b: tensor<256x64xf32>) -> tensor<256x64xf32> {
    %e = tensor.empty() : tensor<256x64xf32>
    // expected-error@+1 {{schedule 'mma': rows are reduced, which 2x2 warps do not share, of a tile of 96 columns}}
    %r = kernel.dispatch ins(%x, %w, %b : tensor<256x64xf16>, tensor<64x64xf16>, tensor<256x64xf32>) outs(%e : tensor<256x64xf32>) schedule <"mma", {column_lines = "across", column_vector = 8 : i64, copies = "async", instruction = array<i64: 16, 8, 16>, row_lines = "depth", row_vector = 8 : i64, stages = 3 : i64, store_vector = 4 : i64, tile = array<i64: 64, 96, 32>, warps = array<i64: 2, 2>}> {
    ^bb0(%l: tensor<256x64xf16>, %q: tensor<64x64xf16>, %mask: tensor<256x64xf32>, %o: tensor<256x64xf32>):
      %zero = arith.constant 0.0 : f32
      %low = arith.constant 0xFF800000 : f32
      %t = tensor.empty() : tensor<256xf32>
      %f = linalg.fill ins(%zero : f32) outs(%o : tensor<256x64xf32>) -> tensor<256x64xf32>
      %p = linalg.generic {indexing_maps = [#a, #b, #y], iterator_types = ["parallel", "parallel", "reduction"]}
          ins(%l, %q : tensor<256x64xf16>, tensor<64x64xf16>) outs(%f : tensor<256x64xf32>) {
      ^bb1(%u: f16, %v: f16, %s: f32):
        %uw = arith.extf %u : f16 to f32
        %vw = arith.extf %v : f16 to f32
        %d = math.fma %uw, %vw, %s : f32
        linalg.yield %d : f32
      } -> tensor<256x64xf32>
      %z = linalg.generic {indexing_maps = [#id, #id, #id], iterator_types = ["parallel", "parallel"]}
          ins(%p, %mask : tensor<256x64xf32>, tensor<256x64xf32>) outs(%o : tensor<256x64xf32>) {
      ^bb1(%u: f32, %v: f32, %s: f32):
        %d = arith.addf %u, %v : f32
        linalg.yield %d : f32
      } -> tensor<256x64xf32>
      %lows = linalg.fill ins(%low : f32) outs(%t : tensor<256xf32>) -> tensor<256xf32>
      %most = linalg.generic {indexing_maps = [#id, #row], iterator_types = ["parallel", "reduction"]}
          ins(%z : tensor<256x64xf32>) outs(%lows : tensor<256xf32>) {
      ^bb1(%u: f32, %s: f32):
        %d = arith.maximumf %s, %u : f32
        linalg.yield %d : f32
      } -> tensor<256xf32>
      %zeros = linalg.fill ins(%zero : f32) outs(%t : tensor<256xf32>) -> tensor<256xf32>
      %sum = linalg.generic {indexing_maps = [#id, #row, #row], iterator_types = ["parallel", "reduction"]}
          ins(%z, %most : tensor<256x64xf32>, tensor<256xf32>) outs(%zeros : tensor<256xf32>) {
      ^bb1(%u: f32, %v: f32, %s: f32):
        %c = arith.subf %u, %v : f32
        %d = math.exp %c : f32
        %g = arith.addf %s, %d : f32
        linalg.yield %g : f32
      } -> tensor<256xf32>
      %out = linalg.generic {indexing_maps = [#id, #row, #row, #id], iterator_types = ["parallel", "parallel"]}
          ins(%z, %most, %sum : tensor<256x64xf32>, tensor<256xf32>, tensor<256xf32>) outs(%o : tensor<256x64xf32>) {
      ^bb1(%u: f32, %v: f32, %h: f32, %s: f32):
        %c = arith.subf %u, %v : f32
        %d = math.exp %c : f32
        %g = arith.divf %d, %h : f32
        linalg.yield %g : f32
      } -> tensor<256x64xf32>
      kernel.yield %out : tensor<256x64xf32>
    } -> tensor<256x64xf32>
    return %r : tensor<256x64xf32>
  }
}

// -----

#a = affine_map<(m, n, k) -> (m, k)>
#b = affine_map<(m, n, k) -> (k, n)>
#y = affine_map<(m, n, k) -> (m, n)>
#id = affine_map<(m, n) -> (m, n)>
#row = affine_map<(m, n) -> (m)>
rt.variant @narrow_lanes target "sm_80" {
  func.func @main(%x: tensor<96x32xf32>, %w: tensor<32x100xf32>, %b: tensor<96x100xf32>) -> tensor<96x100xf32> {
    %e = tensor.empty() : tensor<96x100xf32>
    // expected-error@+1 {{schedule 'contraction': rows of 100 elements are reduced, which do not lie in a tile of 64 columns}}
    %r = kernel.dispatch ins(%x, %w, %b : tensor<96x32xf32>, tensor<32x100xf32>, tensor<96x100xf32>) outs(%e : tensor<96x100xf32>) schedule <"contraction", {column_vector = array<i64: 4, 1>, row_vector = array<i64: 1, 4>, store_vector = 4 : i64, thread = array<i64: 4, 4>, tile = array<i64: 32, 64, 16>}> {
    ^bb0(%l: tensor<96x32xf32>, %q: tensor<32x100xf32>, %mask: tensor<96x100xf32>, %o: tensor<96x100xf32>):
      %zero = arith.constant 0.0 : f32
      %low = arith.constant 0xFF800000 : f32
      %t = tensor.empty() : tensor<96xf32>
      %f = linalg.fill ins(%zero : f32) outs(%o : tensor<96x100xf32>) -> tensor<96x100xf32>
      %p = linalg.generic {indexing_maps = [#a, #b, #y], iterator_types = ["parallel", "parallel", "reduction"]}
          ins(%l, %q : tensor<96x32xf32>, tensor<32x100xf32>) outs(%f : tensor<96x100xf32>) {
      ^bb1(%u: f32, %v: f32, %s: f32):
        %d = math.fma %u, %v, %s : f32
        linalg.yield %d : f32
      } -> tensor<96x100xf32>
      %z = linalg.generic {indexing_maps = [#id, #id, #id], iterator_types = ["parallel", "parallel"]}
          ins(%p, %mask : tensor<96x100xf32>, tensor<96x100xf32>) outs(%o : tensor<96x100xf32>) {
      ^bb1(%u: f32, %v: f32, %s: f32):
        %d = arith.addf %u, %v : f32
        linalg.yield %d : f32
      } -> tensor<96x100xf32>
      %lows = linalg.fill ins(%low : f32) outs(%t : tensor<96xf32>) -> tensor<96xf32>
      %most = linalg.generic {indexing_maps = [#id, #row], iterator_types = ["parallel", "reduction"]}
          ins(%z : tensor<96x100xf32>) outs(%lows : tensor<96xf32>) {
      ^bb1(%u: f32, %s: f32):
        %d = arith.maximumf %s, %u : f32
        linalg.yield %d : f32
      } -> tensor<96xf32>
      %zeros = linalg.fill ins(%zero : f32) outs(%t : tensor<96xf32>) -> tensor<96xf32>
      %sum = linalg.generic {indexing_maps = [#id, #row, #row], iterator_types = ["parallel", "reduction"]}
          ins(%z, %most : tensor<96x100xf32>, tensor<96xf32>) outs(%zeros : tensor<96xf32>) {
      ^bb1(%u: f32, %v: f32, %s: f32):
        %c = arith.subf %u, %v : f32
        %d = math.exp %c : f32
        %g = arith.addf %s, %d : f32
        linalg.yield %g : f32
      } -> tensor<96xf32>
      %out = linalg.generic {indexing_maps = [#id, #row, #row, #id], iterator_types = ["parallel", "parallel"]}
          ins(%z, %most, %sum : tensor<96x100xf32>, tensor<96xf32>, tensor<96xf32>) outs(%o : tensor<96x100xf32>) {
      ^bb1(%u: f32, %v: f32, %h: f32, %s: f32):
        %c = arith.subf %u, %v : f32
        %d = math.exp %c : f32
        %g = arith.divf %d, %h : f32
        linalg.yield %g : f32
      } -> tensor<96x100xf32>
      kernel.yield %out : tensor<96x100xf32>
    } -> tensor<96x100xf32>
    return %r : tensor<96x100xf32>
  }
}

// -----

#a = affine_map<(m, n, k) -> (m, k)>
#b = affine_map<(m, n, k) -> (k, n)>
#y = affine_map<(m, n, k) -> (m, n)>
#id = affine_map<(m, n) -> (m, n)>
#row = affine_map<(m, n) -> (m)>
rt.variant @parts_of_lanes target "sm_80" {
  func.func @main(%x: tensor<96x2048xf32>, %w: tensor<2048x64xf32>, %b: tensor<96x64xf32>) -> tensor<96x64xf32> {
    %e = tensor.empty() : tensor<96x64xf32>
    // expected-error@+1 {{schedule 'contraction': rows are reduced, which blocks with parts of their depth do not have}}
    %r = kernel.dispatch ins(%x, %w, %b : tensor<96x2048xf32>, tensor<2048x64xf32>, tensor<96x64xf32>) outs(%e : tensor<96x64xf32>) schedule <"contraction", {column_vector = array<i64: 4, 1>, row_vector = array<i64: 1, 4>, splits = 2 : i64, store_vector = 4 : i64, thread = array<i64: 4, 4>, tile = array<i64: 32, 64, 16>}> {
    ^bb0(%l: tensor<96x2048xf32>, %q: tensor<2048x64xf32>, %mask: tensor<96x64xf32>, %o: tensor<96x64xf32>):
      %zero = arith.constant 0.0 : f32
      %low = arith.constant 0xFF800000 : f32
      %t = tensor.empty() : tensor<96xf32>
      %f = linalg.fill ins(%zero : f32) outs(%o : tensor<96x64xf32>) -> tensor<96x64xf32>
      %p = linalg.generic {indexing_maps = [#a, #b, #y], iterator_types = ["parallel", "parallel", "reduction"]}
          ins(%l, %q : tensor<96x2048xf32>, tensor<2048x64xf32>) outs(%f : tensor<96x64xf32>) {
      ^bb1(%u: f32, %v: f32, %s: f32):
        %d = math.fma %u, %v, %s : f32
        linalg.yield %d : f32
      } -> tensor<96x64xf32>
      %z = linalg.generic {indexing_maps = [#id, #id, #id], iterator_types = ["parallel", "parallel"]}
          ins(%p, %mask : tensor<96x64xf32>, tensor<96x64xf32>) outs(%o : tensor<96x64xf32>) {
      ^bb1(%u: f32, %v: f32, %s: f32):
        %d = arith.addf %u, %v : f32
        linalg.yield %d : f32
      } -> tensor<96x64xf32>
      %lows = linalg.fill ins(%low : f32) outs(%t : tensor<96xf32>) -> tensor<96xf32>
      %most = linalg.generic {indexing_maps = [#id, #row], iterator_types = ["parallel", "reduction"]}
          ins(%z : tensor<96x64xf32>) outs(%lows : tensor<96xf32>) {
      ^bb1(%u: f32, %s: f32):
        %d = arith.maximumf %s, %u : f32
        linalg.yield %d : f32
      } -> tensor<96xf32>
      %zeros = linalg.fill ins(%zero : f32) outs(%t : tensor<96xf32>) -> tensor<96xf32>
      %sum = linalg.generic {indexing_maps = [#id, #row, #row], iterator_types = ["parallel", "reduction"]}
          ins(%z, %most : tensor<96x64xf32>, tensor<96xf32>) outs(%zeros : tensor<96xf32>) {
      ^bb1(%u: f32, %v: f32, %s: f32):
        %c = arith.subf %u, %v : f32
        %d = math.exp %c : f32
        %g = arith.addf %s, %d : f32
        linalg.yield %g : f32
      } -> tensor<96xf32>
      %out = linalg.generic {indexing_maps = [#id, #row, #row, #id], iterator_types = ["parallel", "parallel"]}
          ins(%z, %most, %sum : tensor<96x64xf32>, tensor<96xf32>, tensor<96xf32>) outs(%o : tensor<96x64xf32>) {
      ^bb1(%u: f32, %v: f32, %h: f32, %s: f32):
        %c = arith.subf %u, %v : f32
        %d = math.exp %c : f32
        %g = arith.divf %d, %h : f32
        linalg.yield %g : f32
      } -> tensor<96x64xf32>
      kernel.yield %out : tensor<96x64xf32>
    } -> tensor<96x64xf32>
    return %r : tensor<96x64xf32>
  }
}

// -----

#a = affine_map<(m, n, k) -> (m, k)>
#b = affine_map<(m, n, k) -> (k, n)>
#y = affine_map<(m, n, k) -> (m, n)>
#id = affine_map<(m, n) -> (m, n)>
#row = affine_map<(m, n) -> (m)>
rt.variant @odd_lanes target "sm_80" {
  func.func @main(%x: tensor<96x32xf32>, %w: tensor<32x64xf32>, %b: tensor<96x64xf32>) -> tensor<96x64xf32> {
    %e = tensor.empty() : tensor<96x64xf32>
    // expected-error@+1 {{schedule 'contraction': rows are reduced, which 24 threads each do not share; a power of two up to 32 do}}
    %r = kernel.dispatch ins(%x, %w, %b : tensor<96x32xf32>, tensor<32x64xf32>, tensor<96x64xf32>) outs(%e : tensor<96x64xf32>) schedule <"contraction", {column_vector = array<i64: 4, 1>, row_vector = array<i64: 1, 4>, store_vector = 4 : i64, thread = array<i64: 4, 4>, tile = array<i64: 32, 96, 16>}> {
    ^bb0(%l: tensor<96x32xf32>, %q: tensor<32x64xf32>, %mask: tensor<96x64xf32>, %o: tensor<96x64xf32>):
      %zero = arith.constant 0.0 : f32
      %low = arith.constant 0xFF800000 : f32
      %t = tensor.empty() : tensor<96xf32>
      %f = linalg.fill ins(%zero : f32) outs(%o : tensor<96x64xf32>) -> tensor<96x64xf32>
      %p = linalg.generic {indexing_maps = [#a, #b, #y], iterator_types = ["parallel", "parallel", "reduction"]}
          ins(%l, %q : tensor<96x32xf32>, tensor<32x64xf32>) outs(%f : tensor<96x64xf32>) {
      ^bb1(%u: f32, %v: f32, %s: f32):
        %d = math.fma %u, %v, %s : f32
        linalg.yield %d : f32
      } -> tensor<96x64xf32>
      %z = linalg.generic {indexing_maps = [#id, #id, #id], iterator_types = ["parallel", "parallel"]}
          ins(%p, %mask : tensor<96x64xf32>, tensor<96x64xf32>) outs(%o : tensor<96x64xf32>) {
      ^bb1(%u: f32, %v: f32, %s: f32):
        %d = arith.addf %u, %v : f32
        linalg.yield %d : f32
      } -> tensor<96x64xf32>
      %lows = linalg.fill ins(%low : f32) outs(%t : tensor<96xf32>) -> tensor<96xf32>
      %most = linalg.generic {indexing_maps = [#id, #row], iterator_types = ["parallel", "reduction"]}
          ins(%z : tensor<96x64xf32>) outs(%lows : tensor<96xf32>) {
      ^bb1(%u: f32, %s: f32):
        %d = arith.maximumf %s, %u : f32
        linalg.yield %d : f32
      } -> tensor<96xf32>
      %zeros = linalg.fill ins(%zero : f32) outs(%t : tensor<96xf32>) -> tensor<96xf32>
      %sum = linalg.generic {indexing_maps = [#id, #row, #row], iterator_types = ["parallel", "reduction"]}
          ins(%z, %most : tensor<96x64xf32>, tensor<96xf32>) outs(%zeros : tensor<96xf32>) {
      ^bb1(%u: f32, %v: f32, %s: f32):
        %c = arith.subf %u, %v : f32
        %d = math.exp %c : f32
        %g = arith.addf %s, %d : f32
        linalg.yield %g : f32
      } -> tensor<96xf32>
      %out = linalg.generic {indexing_maps = [#id, #row, #row, #id], iterator_types = ["parallel", "parallel"]}
          ins(%z, %most, %sum : tensor<96x64xf32>, tensor<96xf32>, tensor<96xf32>) outs(%o : tensor<96x64xf32>) {
      ^bb1(%u: f32, %v: f32, %h: f32, %s: f32):
        %c = arith.subf %u, %v : f32
        %d = math.exp %c : f32
        %g = arith.divf %d, %h : f32
        linalg.yield %g : f32
      } -> tensor<96x64xf32>
      kernel.yield %out : tensor<96x64xf32>
    } -> tensor<96x64xf32>
    return %r : tensor<96x64xf32>
  }
}
