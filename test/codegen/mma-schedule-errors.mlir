// RUN: cameo-opt %s --split-input-file --verify-diagnostics --pass-pipeline='builtin.module(rt.variant(cameo-lower-dispatches))'

#a = affine_map<(m, n, k) -> (m, k)>
#b = affine_map<(m, n, k) -> (k, n)>
#y = affine_map<(m, n, k) -> (m, n)>
rt.variant @missing target "sm_80" {
  func.func @main(%x: tensor<256x64xf16>, %w: tensor<64x128xf16>) -> tensor<256x128xf32> {
    %e = tensor.empty() : tensor<256x128xf32>
    // expected-error@+1 {{schedule 'mma' needs tile = [rows, columns, depth], warps = [rows, columns], instruction = [m, n, k], stages, copies = "async" or "registers", row_lines and column_lines = "depth" or "across", row_vector, column_vector and store_vector}}
    %r = kernel.dispatch ins(%x, %w : tensor<256x64xf16>, tensor<64x128xf16>) outs(%e : tensor<256x128xf32>)
        schedule <"mma", {column_lines = "across", column_vector = 8 : i64, copies = "async", instruction = array<i64: 16, 8, 16>, row_lines = "depth", row_vector = 8 : i64, store_vector = 4 : i64, tile = array<i64: 64, 64, 32>, warps = array<i64: 2, 2>}> {
    ^bb0(%a: tensor<256x64xf16>, %b: tensor<64x128xf16>, %o: tensor<256x128xf32>):
      %zero = arith.constant 0.0 : f32
      %f = linalg.fill ins(%zero : f32) outs(%o : tensor<256x128xf32>) -> tensor<256x128xf32>
      %g = linalg.generic {indexing_maps = [#a, #b, #y], iterator_types = ["parallel", "parallel", "reduction"]}
          ins(%a, %b : tensor<256x64xf16>, tensor<64x128xf16>) outs(%f : tensor<256x128xf32>) {
      ^bb1(%p: f16, %q: f16, %s: f32):
        %pw = arith.extf %p : f16 to f32
        %qw = arith.extf %q : f16 to f32
        %t = math.fma %pw, %qw, %s : f32
        linalg.yield %t : f32
      } -> tensor<256x128xf32>
      kernel.yield %g : tensor<256x128xf32>
    } -> tensor<256x128xf32>
    return %r : tensor<256x128xf32>
  }
}

// -----

#a = affine_map<(m, n, k) -> (m, k)>
#b = affine_map<(m, n, k) -> (k, n)>
#y = affine_map<(m, n, k) -> (m, n)>
rt.variant @instruction target "sm_80" {
  func.func @main(%x: tensor<256x64xf16>, %w: tensor<64x128xf16>) -> tensor<256x128xf32> {
    %e = tensor.empty() : tensor<256x128xf32>
    // expected-error@+1 {{schedule 'mma': sm_80 multiplies 'f16' by 16x8x16, not by 16x8x8}}
    %r = kernel.dispatch ins(%x, %w : tensor<256x64xf16>, tensor<64x128xf16>) outs(%e : tensor<256x128xf32>)
        schedule <"mma", {column_lines = "across", column_vector = 8 : i64, copies = "async", instruction = array<i64: 16, 8, 8>, row_lines = "depth", row_vector = 8 : i64, stages = 3 : i64, store_vector = 4 : i64, tile = array<i64: 64, 64, 32>, warps = array<i64: 2, 2>}> {
    ^bb0(%a: tensor<256x64xf16>, %b: tensor<64x128xf16>, %o: tensor<256x128xf32>):
      %zero = arith.constant 0.0 : f32
      %f = linalg.fill ins(%zero : f32) outs(%o : tensor<256x128xf32>) -> tensor<256x128xf32>
      %g = linalg.generic {indexing_maps = [#a, #b, #y], iterator_types = ["parallel", "parallel", "reduction"]}
          ins(%a, %b : tensor<256x64xf16>, tensor<64x128xf16>) outs(%f : tensor<256x128xf32>) {
      ^bb1(%p: f16, %q: f16, %s: f32):
        %pw = arith.extf %p : f16 to f32
        %qw = arith.extf %q : f16 to f32
        %t = math.fma %pw, %qw, %s : f32
        linalg.yield %t : f32
      } -> tensor<256x128xf32>
      kernel.yield %g : tensor<256x128xf32>
    } -> tensor<256x128xf32>
    return %r : tensor<256x128xf32>
  }
}

// -----

#a = affine_map<(m, n, k) -> (m, k)>
#b = affine_map<(m, n, k) -> (k, n)>
#y = affine_map<(m, n, k) -> (m, n)>
rt.variant @warps target "sm_80" {
  func.func @main(%x: tensor<256x64xf16>, %w: tensor<64x128xf16>) -> tensor<256x128xf32> {
    %e = tensor.empty() : tensor<256x128xf32>
    // expected-error@+1 {{schedule 'mma': 8x8 warps; sm_80 allows 1 to 32}}
    %r = kernel.dispatch ins(%x, %w : tensor<256x64xf16>, tensor<64x128xf16>) outs(%e : tensor<256x128xf32>)
        schedule <"mma", {column_lines = "across", column_vector = 8 : i64, copies = "async", instruction = array<i64: 16, 8, 16>, row_lines = "depth", row_vector = 8 : i64, stages = 3 : i64, store_vector = 4 : i64, tile = array<i64: 64, 64, 32>, warps = array<i64: 8, 8>}> {
    ^bb0(%a: tensor<256x64xf16>, %b: tensor<64x128xf16>, %o: tensor<256x128xf32>):
      %zero = arith.constant 0.0 : f32
      %f = linalg.fill ins(%zero : f32) outs(%o : tensor<256x128xf32>) -> tensor<256x128xf32>
      %g = linalg.generic {indexing_maps = [#a, #b, #y], iterator_types = ["parallel", "parallel", "reduction"]}
          ins(%a, %b : tensor<256x64xf16>, tensor<64x128xf16>) outs(%f : tensor<256x128xf32>) {
      ^bb1(%p: f16, %q: f16, %s: f32):
        %pw = arith.extf %p : f16 to f32
        %qw = arith.extf %q : f16 to f32
        %t = math.fma %pw, %qw, %s : f32
        linalg.yield %t : f32
      } -> tensor<256x128xf32>
      kernel.yield %g : tensor<256x128xf32>
    } -> tensor<256x128xf32>
    return %r : tensor<256x128xf32>
  }
}

// -----

#a = affine_map<(m, n, k) -> (m, k)>
#b = affine_map<(m, n, k) -> (k, n)>
#y = affine_map<(m, n, k) -> (m, n)>
rt.variant @shape target "sm_80" {
  func.func @main(%x: tensor<256x64xf16>, %w: tensor<64x128xf16>) -> tensor<256x128xf32> {
    %e = tensor.empty() : tensor<256x128xf32>
    // expected-error@+1 {{schedule 'mma': a tile of 48x64x32 is not made of 32x32x16}}
    %r = kernel.dispatch ins(%x, %w : tensor<256x64xf16>, tensor<64x128xf16>) outs(%e : tensor<256x128xf32>)
        schedule <"mma", {column_lines = "across", column_vector = 8 : i64, copies = "async", instruction = array<i64: 16, 8, 16>, row_lines = "depth", row_vector = 8 : i64, stages = 3 : i64, store_vector = 4 : i64, tile = array<i64: 48, 64, 32>, warps = array<i64: 2, 2>}> {
    ^bb0(%a: tensor<256x64xf16>, %b: tensor<64x128xf16>, %o: tensor<256x128xf32>):
      %zero = arith.constant 0.0 : f32
      %f = linalg.fill ins(%zero : f32) outs(%o : tensor<256x128xf32>) -> tensor<256x128xf32>
      %g = linalg.generic {indexing_maps = [#a, #b, #y], iterator_types = ["parallel", "parallel", "reduction"]}
          ins(%a, %b : tensor<256x64xf16>, tensor<64x128xf16>) outs(%f : tensor<256x128xf32>) {
      ^bb1(%p: f16, %q: f16, %s: f32):
        %pw = arith.extf %p : f16 to f32
        %qw = arith.extf %q : f16 to f32
        %t = math.fma %pw, %qw, %s : f32
        linalg.yield %t : f32
      } -> tensor<256x128xf32>
      kernel.yield %g : tensor<256x128xf32>
    } -> tensor<256x128xf32>
    return %r : tensor<256x128xf32>
  }
}

// -----

#a = affine_map<(m, n, k) -> (m, k)>
#b = affine_map<(m, n, k) -> (k, n)>
#y = affine_map<(m, n, k) -> (m, n)>
rt.variant @no_copies target "sm_75" {
  func.func @main(%x: tensor<256x64xf16>, %w: tensor<64x128xf16>) -> tensor<256x128xf32> {
    %e = tensor.empty() : tensor<256x128xf32>
    // expected-error@+1 {{schedule 'mma': sm_75 has no asynchronous copies}}
    %r = kernel.dispatch ins(%x, %w : tensor<256x64xf16>, tensor<64x128xf16>) outs(%e : tensor<256x128xf32>)
        schedule <"mma", {column_lines = "across", column_vector = 8 : i64, copies = "async", instruction = array<i64: 16, 8, 8>, row_lines = "depth", row_vector = 8 : i64, stages = 3 : i64, store_vector = 4 : i64, tile = array<i64: 64, 64, 32>, warps = array<i64: 2, 2>}> {
    ^bb0(%a: tensor<256x64xf16>, %b: tensor<64x128xf16>, %o: tensor<256x128xf32>):
      %zero = arith.constant 0.0 : f32
      %f = linalg.fill ins(%zero : f32) outs(%o : tensor<256x128xf32>) -> tensor<256x128xf32>
      %g = linalg.generic {indexing_maps = [#a, #b, #y], iterator_types = ["parallel", "parallel", "reduction"]}
          ins(%a, %b : tensor<256x64xf16>, tensor<64x128xf16>) outs(%f : tensor<256x128xf32>) {
      ^bb1(%p: f16, %q: f16, %s: f32):
        %pw = arith.extf %p : f16 to f32
        %qw = arith.extf %q : f16 to f32
        %t = math.fma %pw, %qw, %s : f32
        linalg.yield %t : f32
      } -> tensor<256x128xf32>
      kernel.yield %g : tensor<256x128xf32>
    } -> tensor<256x128xf32>
    return %r : tensor<256x128xf32>
  }
}

// -----

#a = affine_map<(m, n, k) -> (m, k)>
#b = affine_map<(m, n, k) -> (k, n)>
#y = affine_map<(m, n, k) -> (m, n)>
rt.variant @stages target "sm_80" {
  func.func @main(%x: tensor<256x64xf16>, %w: tensor<64x128xf16>) -> tensor<256x128xf32> {
    %e = tensor.empty() : tensor<256x128xf32>
    // expected-error@+1 {{schedule 'mma': 1 stages; 2 to 8 are possible}}
    %r = kernel.dispatch ins(%x, %w : tensor<256x64xf16>, tensor<64x128xf16>) outs(%e : tensor<256x128xf32>)
        schedule <"mma", {column_lines = "across", column_vector = 8 : i64, copies = "async", instruction = array<i64: 16, 8, 16>, row_lines = "depth", row_vector = 8 : i64, stages = 1 : i64, store_vector = 4 : i64, tile = array<i64: 64, 64, 32>, warps = array<i64: 2, 2>}> {
    ^bb0(%a: tensor<256x64xf16>, %b: tensor<64x128xf16>, %o: tensor<256x128xf32>):
      %zero = arith.constant 0.0 : f32
      %f = linalg.fill ins(%zero : f32) outs(%o : tensor<256x128xf32>) -> tensor<256x128xf32>
      %g = linalg.generic {indexing_maps = [#a, #b, #y], iterator_types = ["parallel", "parallel", "reduction"]}
          ins(%a, %b : tensor<256x64xf16>, tensor<64x128xf16>) outs(%f : tensor<256x128xf32>) {
      ^bb1(%p: f16, %q: f16, %s: f32):
        %pw = arith.extf %p : f16 to f32
        %qw = arith.extf %q : f16 to f32
        %t = math.fma %pw, %qw, %s : f32
        linalg.yield %t : f32
      } -> tensor<256x128xf32>
      kernel.yield %g : tensor<256x128xf32>
    } -> tensor<256x128xf32>
    return %r : tensor<256x128xf32>
  }
}

// -----

#a = affine_map<(m, n, k) -> (m, k)>
#b = affine_map<(m, n, k) -> (k, n)>
#y = affine_map<(m, n, k) -> (m, n)>
rt.variant @registers_stages target "sm_80" {
  func.func @main(%x: tensor<256x64xf16>, %w: tensor<64x128xf16>) -> tensor<256x128xf32> {
    %e = tensor.empty() : tensor<256x128xf32>
    // expected-error@+1 {{schedule 'mma': 3 stages; 2 to 2 are possible}}
    %r = kernel.dispatch ins(%x, %w : tensor<256x64xf16>, tensor<64x128xf16>) outs(%e : tensor<256x128xf32>)
        schedule <"mma", {column_lines = "across", column_vector = 8 : i64, copies = "registers", instruction = array<i64: 16, 8, 16>, row_lines = "depth", row_vector = 8 : i64, stages = 3 : i64, store_vector = 4 : i64, tile = array<i64: 64, 64, 32>, warps = array<i64: 2, 2>}> {
    ^bb0(%a: tensor<256x64xf16>, %b: tensor<64x128xf16>, %o: tensor<256x128xf32>):
      %zero = arith.constant 0.0 : f32
      %f = linalg.fill ins(%zero : f32) outs(%o : tensor<256x128xf32>) -> tensor<256x128xf32>
      %g = linalg.generic {indexing_maps = [#a, #b, #y], iterator_types = ["parallel", "parallel", "reduction"]}
          ins(%a, %b : tensor<256x64xf16>, tensor<64x128xf16>) outs(%f : tensor<256x128xf32>) {
      ^bb1(%p: f16, %q: f16, %s: f32):
        %pw = arith.extf %p : f16 to f32
        %qw = arith.extf %q : f16 to f32
        %t = math.fma %pw, %qw, %s : f32
        linalg.yield %t : f32
      } -> tensor<256x128xf32>
      kernel.yield %g : tensor<256x128xf32>
    } -> tensor<256x128xf32>
    return %r : tensor<256x128xf32>
  }
}

// -----

#a = affine_map<(m, n, k) -> (m, k)>
#b = affine_map<(m, n, k) -> (k, n)>
#y = affine_map<(m, n, k) -> (m, n)>
rt.variant @shared target "sm_80" {
  func.func @main(%x: tensor<256x64xf16>, %w: tensor<64x128xf16>) -> tensor<256x128xf32> {
    %e = tensor.empty() : tensor<256x128xf32>
    // expected-error@+1 {{schedule 'mma': requires 196608 B of shared memory; sm_80 allows 166912 B}}
    %r = kernel.dispatch ins(%x, %w : tensor<256x64xf16>, tensor<64x128xf16>) outs(%e : tensor<256x128xf32>)
        schedule <"mma", {column_lines = "across", column_vector = 8 : i64, copies = "async", instruction = array<i64: 16, 8, 16>, row_lines = "depth", row_vector = 8 : i64, stages = 3 : i64, store_vector = 4 : i64, tile = array<i64: 128, 128, 128>, warps = array<i64: 2, 2>}> {
    ^bb0(%a: tensor<256x64xf16>, %b: tensor<64x128xf16>, %o: tensor<256x128xf32>):
      %zero = arith.constant 0.0 : f32
      %f = linalg.fill ins(%zero : f32) outs(%o : tensor<256x128xf32>) -> tensor<256x128xf32>
      %g = linalg.generic {indexing_maps = [#a, #b, #y], iterator_types = ["parallel", "parallel", "reduction"]}
          ins(%a, %b : tensor<256x64xf16>, tensor<64x128xf16>) outs(%f : tensor<256x128xf32>) {
      ^bb1(%p: f16, %q: f16, %s: f32):
        %pw = arith.extf %p : f16 to f32
        %qw = arith.extf %q : f16 to f32
        %t = math.fma %pw, %qw, %s : f32
        linalg.yield %t : f32
      } -> tensor<256x128xf32>
      kernel.yield %g : tensor<256x128xf32>
    } -> tensor<256x128xf32>
    return %r : tensor<256x128xf32>
  }
}

// -----

#a = affine_map<(m, n, k) -> (m, k)>
#b = affine_map<(m, n, k) -> (k, n)>
#y = affine_map<(m, n, k) -> (m, n)>
rt.variant @registers target "sm_80" {
  func.func @main(%x: tensor<256x64xf16>, %w: tensor<64x128xf16>) -> tensor<256x128xf32> {
    %e = tensor.empty() : tensor<256x128xf32>
    // expected-error@+1 {{schedule 'mma': takes about 680 registers a thread; sm_80 allows 255}}
    %r = kernel.dispatch ins(%x, %w : tensor<256x64xf16>, tensor<64x128xf16>) outs(%e : tensor<256x128xf32>)
        schedule <"mma", {column_lines = "across", column_vector = 8 : i64, copies = "async", instruction = array<i64: 16, 8, 16>, row_lines = "depth", row_vector = 8 : i64, stages = 3 : i64, store_vector = 4 : i64, tile = array<i64: 128, 128, 32>, warps = array<i64: 1, 1>}> {
    ^bb0(%a: tensor<256x64xf16>, %b: tensor<64x128xf16>, %o: tensor<256x128xf32>):
      %zero = arith.constant 0.0 : f32
      %f = linalg.fill ins(%zero : f32) outs(%o : tensor<256x128xf32>) -> tensor<256x128xf32>
      %g = linalg.generic {indexing_maps = [#a, #b, #y], iterator_types = ["parallel", "parallel", "reduction"]}
          ins(%a, %b : tensor<256x64xf16>, tensor<64x128xf16>) outs(%f : tensor<256x128xf32>) {
      ^bb1(%p: f16, %q: f16, %s: f32):
        %pw = arith.extf %p : f16 to f32
        %qw = arith.extf %q : f16 to f32
        %t = math.fma %pw, %qw, %s : f32
        linalg.yield %t : f32
      } -> tensor<256x128xf32>
      kernel.yield %g : tensor<256x128xf32>
    } -> tensor<256x128xf32>
    return %r : tensor<256x128xf32>
  }
}

// -----

#a = affine_map<(m, n, k) -> (m, k)>
#b = affine_map<(m, n, k) -> (k, n)>
#y = affine_map<(m, n, k) -> (m, n)>
rt.variant @row_vector target "sm_80" {
  func.func @main(%x: tensor<256x64xf16>, %w: tensor<64x128xf16>) -> tensor<256x128xf32> {
    %e = tensor.empty() : tensor<256x128xf32>
    // expected-error@+1 {{schedule 'mma': row_vector 16 is not possible; at most 8}}
    %r = kernel.dispatch ins(%x, %w : tensor<256x64xf16>, tensor<64x128xf16>) outs(%e : tensor<256x128xf32>)
        schedule <"mma", {column_lines = "across", column_vector = 8 : i64, copies = "async", instruction = array<i64: 16, 8, 16>, row_lines = "depth", row_vector = 16 : i64, stages = 3 : i64, store_vector = 4 : i64, tile = array<i64: 64, 64, 32>, warps = array<i64: 2, 2>}> {
    ^bb0(%a: tensor<256x64xf16>, %b: tensor<64x128xf16>, %o: tensor<256x128xf32>):
      %zero = arith.constant 0.0 : f32
      %f = linalg.fill ins(%zero : f32) outs(%o : tensor<256x128xf32>) -> tensor<256x128xf32>
      %g = linalg.generic {indexing_maps = [#a, #b, #y], iterator_types = ["parallel", "parallel", "reduction"]}
          ins(%a, %b : tensor<256x64xf16>, tensor<64x128xf16>) outs(%f : tensor<256x128xf32>) {
      ^bb1(%p: f16, %q: f16, %s: f32):
        %pw = arith.extf %p : f16 to f32
        %qw = arith.extf %q : f16 to f32
        %t = math.fma %pw, %qw, %s : f32
        linalg.yield %t : f32
      } -> tensor<256x128xf32>
      kernel.yield %g : tensor<256x128xf32>
    } -> tensor<256x128xf32>
    return %r : tensor<256x128xf32>
  }
}

// -----

#a = affine_map<(m, n, k) -> (m, k)>
#b = affine_map<(m, n, k) -> (k, n)>
#y = affine_map<(m, n, k) -> (m, n)>
rt.variant @lines target "sm_80" {
  func.func @main(%x: tensor<256x64xf16>, %w: tensor<64x128xf16>) -> tensor<256x128xf32> {
    %e = tensor.empty() : tensor<256x128xf32>
    // expected-error@+1 {{schedule 'mma': column_vector 8 is not possible; at most 1}}
    %r = kernel.dispatch ins(%x, %w : tensor<256x64xf16>, tensor<64x128xf16>) outs(%e : tensor<256x128xf32>)
        schedule <"mma", {column_lines = "depth", column_vector = 8 : i64, copies = "async", instruction = array<i64: 16, 8, 16>, row_lines = "depth", row_vector = 8 : i64, stages = 3 : i64, store_vector = 4 : i64, tile = array<i64: 64, 64, 32>, warps = array<i64: 2, 2>}> {
    ^bb0(%a: tensor<256x64xf16>, %b: tensor<64x128xf16>, %o: tensor<256x128xf32>):
      %zero = arith.constant 0.0 : f32
      %f = linalg.fill ins(%zero : f32) outs(%o : tensor<256x128xf32>) -> tensor<256x128xf32>
      %g = linalg.generic {indexing_maps = [#a, #b, #y], iterator_types = ["parallel", "parallel", "reduction"]}
          ins(%a, %b : tensor<256x64xf16>, tensor<64x128xf16>) outs(%f : tensor<256x128xf32>) {
      ^bb1(%p: f16, %q: f16, %s: f32):
        %pw = arith.extf %p : f16 to f32
        %qw = arith.extf %q : f16 to f32
        %t = math.fma %pw, %qw, %s : f32
        linalg.yield %t : f32
      } -> tensor<256x128xf32>
      kernel.yield %g : tensor<256x128xf32>
    } -> tensor<256x128xf32>
    return %r : tensor<256x128xf32>
  }
}

// -----

#a = affine_map<(m, n, k) -> (m, k)>
#b = affine_map<(m, n, k) -> (k, n)>
#y = affine_map<(m, n, k) -> (m, n)>
rt.variant @narrow_copy target "sm_80" {
  func.func @main(%x: tensor<256x64xf16>, %w: tensor<64x128xf16>) -> tensor<256x128xf32> {
    %e = tensor.empty() : tensor<256x128xf32>
    // expected-error@+1 {{schedule 'mma': row_vector 1 is of 2 B; asynchronous copies are of 4 or more}}
    %r = kernel.dispatch ins(%x, %w : tensor<256x64xf16>, tensor<64x128xf16>) outs(%e : tensor<256x128xf32>)
        schedule <"mma", {column_lines = "across", column_vector = 8 : i64, copies = "async", instruction = array<i64: 16, 8, 16>, row_lines = "depth", row_vector = 1 : i64, stages = 3 : i64, store_vector = 4 : i64, tile = array<i64: 64, 64, 32>, warps = array<i64: 2, 2>}> {
    ^bb0(%a: tensor<256x64xf16>, %b: tensor<64x128xf16>, %o: tensor<256x128xf32>):
      %zero = arith.constant 0.0 : f32
      %f = linalg.fill ins(%zero : f32) outs(%o : tensor<256x128xf32>) -> tensor<256x128xf32>
      %g = linalg.generic {indexing_maps = [#a, #b, #y], iterator_types = ["parallel", "parallel", "reduction"]}
          ins(%a, %b : tensor<256x64xf16>, tensor<64x128xf16>) outs(%f : tensor<256x128xf32>) {
      ^bb1(%p: f16, %q: f16, %s: f32):
        %pw = arith.extf %p : f16 to f32
        %qw = arith.extf %q : f16 to f32
        %t = math.fma %pw, %qw, %s : f32
        linalg.yield %t : f32
      } -> tensor<256x128xf32>
      kernel.yield %g : tensor<256x128xf32>
    } -> tensor<256x128xf32>
    return %r : tensor<256x128xf32>
  }
}

// -----

#a = affine_map<(m, n, k) -> (m, k)>
#b = affine_map<(m, n, k) -> (k, n)>
#y = affine_map<(m, n, k) -> (m, n)>
rt.variant @store target "sm_80" {
  func.func @main(%x: tensor<256x64xf16>, %w: tensor<64x128xf16>) -> tensor<256x128xf32> {
    %e = tensor.empty() : tensor<256x128xf32>
    // expected-error@+1 {{schedule 'mma': store_vector 8 is not possible; at most 4}}
    %r = kernel.dispatch ins(%x, %w : tensor<256x64xf16>, tensor<64x128xf16>) outs(%e : tensor<256x128xf32>)
        schedule <"mma", {column_lines = "across", column_vector = 8 : i64, copies = "async", instruction = array<i64: 16, 8, 16>, row_lines = "depth", row_vector = 8 : i64, stages = 3 : i64, store_vector = 8 : i64, tile = array<i64: 64, 64, 32>, warps = array<i64: 2, 2>}> {
    ^bb0(%a: tensor<256x64xf16>, %b: tensor<64x128xf16>, %o: tensor<256x128xf32>):
      %zero = arith.constant 0.0 : f32
      %f = linalg.fill ins(%zero : f32) outs(%o : tensor<256x128xf32>) -> tensor<256x128xf32>
      %g = linalg.generic {indexing_maps = [#a, #b, #y], iterator_types = ["parallel", "parallel", "reduction"]}
          ins(%a, %b : tensor<256x64xf16>, tensor<64x128xf16>) outs(%f : tensor<256x128xf32>) {
      ^bb1(%p: f16, %q: f16, %s: f32):
        %pw = arith.extf %p : f16 to f32
        %qw = arith.extf %q : f16 to f32
        %t = math.fma %pw, %qw, %s : f32
        linalg.yield %t : f32
      } -> tensor<256x128xf32>
      kernel.yield %g : tensor<256x128xf32>
    } -> tensor<256x128xf32>
    return %r : tensor<256x128xf32>
  }
}

// -----

#a = affine_map<(m, n, k) -> (m, k)>
#b = affine_map<(m, n, k) -> (k, n)>
#y = affine_map<(m, n, k) -> (m, n)>
rt.variant @depth_loops target "sm_80" {
  func.func @main(%x: tensor<256x64xf16>, %w: tensor<64x128xf16>) -> tensor<256x128xf32> {
    %e = tensor.empty() : tensor<256x128xf32>
    // expected-error@+1 {{schedule 'mma': steps along 2 loops of depth are not possible; of 1 those of known size, or one, are}}
    %r = kernel.dispatch ins(%x, %w : tensor<256x64xf16>, tensor<64x128xf16>) outs(%e : tensor<256x128xf32>)
        schedule <"mma", {column_lines = "across", column_vector = 8 : i64, copies = "async", depth_loops = 2 : i64, stages = 3 : i64, instruction = array<i64: 16, 8, 16>, row_lines = "depth", row_vector = 8 : i64, store_vector = 4 : i64, tile = array<i64: 64, 64, 32>, warps = array<i64: 2, 2>}> {
    ^bb0(%a: tensor<256x64xf16>, %b: tensor<64x128xf16>, %o: tensor<256x128xf32>):
      %zero = arith.constant 0.0 : f32
      %f = linalg.fill ins(%zero : f32) outs(%o : tensor<256x128xf32>) -> tensor<256x128xf32>
      %g = linalg.generic {indexing_maps = [#a, #b, #y], iterator_types = ["parallel", "parallel", "reduction"]}
          ins(%a, %b : tensor<256x64xf16>, tensor<64x128xf16>) outs(%f : tensor<256x128xf32>) {
      ^bb1(%p: f16, %q: f16, %s: f32):
        %pw = arith.extf %p : f16 to f32
        %qw = arith.extf %q : f16 to f32
        %t = math.fma %pw, %qw, %s : f32
        linalg.yield %t : f32
      } -> tensor<256x128xf32>
      kernel.yield %g : tensor<256x128xf32>
    } -> tensor<256x128xf32>
    return %r : tensor<256x128xf32>
  }
}

// -----

#a = affine_map<(m, n, k) -> (m, k)>
#b = affine_map<(m, n, k) -> (k, n)>
#y = affine_map<(m, n, k) -> (m, n)>
rt.variant @group target "sm_80" {
  func.func @main(%x: tensor<256x64xf16>, %w: tensor<64x128xf16>) -> tensor<256x128xf32> {
    %e = tensor.empty() : tensor<256x128xf32>
    // expected-error@+1 {{schedule 'mma': row_group 16 is not possible; with lines along depth, through registers, at most 8}}
    %r = kernel.dispatch ins(%x, %w : tensor<256x64xf16>, tensor<64x128xf16>) outs(%e : tensor<256x128xf32>)
        schedule <"mma", {column_lines = "across", column_vector = 8 : i64, copies = "registers", row_group = 16 : i64, stages = 2 : i64, instruction = array<i64: 16, 8, 16>, row_lines = "depth", row_vector = 8 : i64, store_vector = 4 : i64, tile = array<i64: 64, 64, 32>, warps = array<i64: 2, 2>}> {
    ^bb0(%a: tensor<256x64xf16>, %b: tensor<64x128xf16>, %o: tensor<256x128xf32>):
      %zero = arith.constant 0.0 : f32
      %f = linalg.fill ins(%zero : f32) outs(%o : tensor<256x128xf32>) -> tensor<256x128xf32>
      %g = linalg.generic {indexing_maps = [#a, #b, #y], iterator_types = ["parallel", "parallel", "reduction"]}
          ins(%a, %b : tensor<256x64xf16>, tensor<64x128xf16>) outs(%f : tensor<256x128xf32>) {
      ^bb1(%p: f16, %q: f16, %s: f32):
        %pw = arith.extf %p : f16 to f32
        %qw = arith.extf %q : f16 to f32
        %t = math.fma %pw, %qw, %s : f32
        linalg.yield %t : f32
      } -> tensor<256x128xf32>
      kernel.yield %g : tensor<256x128xf32>
    } -> tensor<256x128xf32>
    return %r : tensor<256x128xf32>
  }
}

// -----

#a = affine_map<(m, n, k) -> (m, k)>
#b = affine_map<(m, n, k) -> (k, n)>
#y = affine_map<(m, n, k) -> (m, n)>
rt.variant @group_across target "sm_80" {
  func.func @main(%x: tensor<256x64xf16>, %w: tensor<64x128xf16>) -> tensor<256x128xf32> {
    %e = tensor.empty() : tensor<256x128xf32>
    // expected-error@+1 {{schedule 'mma': column_group 16 is not possible}}
    %r = kernel.dispatch ins(%x, %w : tensor<256x64xf16>, tensor<64x128xf16>) outs(%e : tensor<256x128xf32>)
        schedule <"mma", {column_lines = "across", column_vector = 8 : i64, copies = "registers", column_group = 16 : i64, stages = 2 : i64, instruction = array<i64: 16, 8, 16>, row_lines = "depth", row_vector = 8 : i64, store_vector = 4 : i64, tile = array<i64: 64, 64, 32>, warps = array<i64: 2, 2>}> {
    ^bb0(%a: tensor<256x64xf16>, %b: tensor<64x128xf16>, %o: tensor<256x128xf32>):
      %zero = arith.constant 0.0 : f32
      %f = linalg.fill ins(%zero : f32) outs(%o : tensor<256x128xf32>) -> tensor<256x128xf32>
      %g = linalg.generic {indexing_maps = [#a, #b, #y], iterator_types = ["parallel", "parallel", "reduction"]}
          ins(%a, %b : tensor<256x64xf16>, tensor<64x128xf16>) outs(%f : tensor<256x128xf32>) {
      ^bb1(%p: f16, %q: f16, %s: f32):
        %pw = arith.extf %p : f16 to f32
        %qw = arith.extf %q : f16 to f32
        %t = math.fma %pw, %qw, %s : f32
        linalg.yield %t : f32
      } -> tensor<256x128xf32>
      kernel.yield %g : tensor<256x128xf32>
    } -> tensor<256x128xf32>
    return %r : tensor<256x128xf32>
  }
}

// -----

#a = affine_map<(m, n, k) -> (m, k)>
#b = affine_map<(m, n, k) -> (n, k)>
#y = affine_map<(m, n, k) -> (m, n)>
rt.variant @rounded_activations target "sm_80" {
  func.func @main(%x: tensor<256x64xf32>, %w: tensor<128x64xf32>) -> tensor<256x128xf32> {
    %e = tensor.empty() : tensor<256x128xf32>
    // expected-error@+1 {{schedule 'mma': the column's operand is not a constant of f32 that is multiplied as TF32, to be rounded where it is stored}}
    %r = kernel.dispatch ins(%x, %w : tensor<256x64xf32>, tensor<128x64xf32>) outs(%e : tensor<256x128xf32>)
        schedule <"mma", {column_lines = "depth", column_rounded = true, column_vector = 4 : i64, copies = "async", instruction = array<i64: 16, 8, 8>, row_lines = "depth", row_vector = 4 : i64, stages = 3 : i64, store_vector = 4 : i64, tile = array<i64: 64, 64, 16>, warps = array<i64: 2, 2>}> {
    ^bb0(%a: tensor<256x64xf32>, %b: tensor<128x64xf32>, %o: tensor<256x128xf32>):
      %zero = arith.constant 0.0 : f32
      %f = linalg.fill ins(%zero : f32) outs(%o : tensor<256x128xf32>) -> tensor<256x128xf32>
      %g = linalg.generic {indexing_maps = [#a, #b, #y], iterator_types = ["parallel", "parallel", "reduction"], kernel.precision = "tf32"}
          ins(%a, %b : tensor<256x64xf32>, tensor<128x64xf32>) outs(%f : tensor<256x128xf32>) {
      ^bb1(%p: f32, %q: f32, %s: f32):
        %t = math.fma %p, %q, %s : f32
        linalg.yield %t : f32
      } -> tensor<256x128xf32>
      kernel.yield %g : tensor<256x128xf32>
    } -> tensor<256x128xf32>
    return %r : tensor<256x128xf32>
  }
}

// -----

#a = affine_map<(m, n, k) -> (m, k)>
#b = affine_map<(m, n, k) -> (n, k)>
#y = affine_map<(m, n, k) -> (m, n)>
rt.constant @w = dense<2.0> : tensor<128x64xf32>
rt.variant @not_yet_rounded target "sm_80" {
  func.func @main(%x: tensor<256x64xf32>) -> tensor<256x128xf32> {
    %w = rt.get_constant @w : tensor<128x64xf32>
    %e = tensor.empty() : tensor<256x128xf32>
    // expected-error@+1 {{its schedule and kernel.rounded differ in which constants are rounded to TF32}}
    %r = kernel.dispatch ins(%x, %w : tensor<256x64xf32>, tensor<128x64xf32>) outs(%e : tensor<256x128xf32>)
        schedule <"mma", {column_lines = "depth", column_rounded = true, column_vector = 4 : i64, copies = "async", instruction = array<i64: 16, 8, 8>, row_lines = "depth", row_vector = 4 : i64, stages = 3 : i64, store_vector = 4 : i64, tile = array<i64: 64, 64, 16>, warps = array<i64: 2, 2>}> {
    ^bb0(%a: tensor<256x64xf32>, %b: tensor<128x64xf32>, %o: tensor<256x128xf32>):
      %zero = arith.constant 0.0 : f32
      %f = linalg.fill ins(%zero : f32) outs(%o : tensor<256x128xf32>) -> tensor<256x128xf32>
      %g = linalg.generic {indexing_maps = [#a, #b, #y], iterator_types = ["parallel", "parallel", "reduction"], kernel.precision = "tf32"}
          ins(%a, %b : tensor<256x64xf32>, tensor<128x64xf32>) outs(%f : tensor<256x128xf32>) {
      ^bb1(%p: f32, %q: f32, %s: f32):
        %t = math.fma %p, %q, %s : f32
        linalg.yield %t : f32
      } -> tensor<256x128xf32>
      kernel.yield %g : tensor<256x128xf32>
    } -> tensor<256x128xf32>
    return %r : tensor<256x128xf32>
  }
}
