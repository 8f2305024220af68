// RUN: cameo-opt %s --split-input-file --verify-diagnostics --pass-pipeline='builtin.module(rt.variant(cameo-lower-dispatches))'

#a = affine_map<(m, n, k) -> (m, k)>
#b = affine_map<(m, n, k) -> (k, n)>
#bt = affine_map<(m, n, k) -> (n, k)>
#y = affine_map<(m, n, k) -> (m, n)>
#id = affine_map<(m, n) -> (m, n)>
rt.variant @missing target "sm_80" {
  func.func @main(%x: tensor<2x256xf32>, %w: tensor<256x256xf32>) -> tensor<2x256xf32> {
    %e = tensor.empty() : tensor<2x256xf32>
    // expected-error@+1 {{schedule 'skinny' needs tile = [wide, depth], lanes and warps = [across, along], wide_lines = "depth" or "across", wide_vector, thin_vector and store_vector}}
    %r = kernel.dispatch ins(%x, %w : tensor<2x256xf32>, tensor<256x256xf32>) outs(%e : tensor<2x256xf32>) schedule <"skinny", {}> {
    ^bb0(%a: tensor<2x256xf32>, %b: tensor<256x256xf32>, %o: tensor<2x256xf32>):
      %zero = arith.constant 0.0 : f32
      %f = linalg.fill ins(%zero : f32) outs(%o : tensor<2x256xf32>) -> tensor<2x256xf32>
      %g = linalg.generic {indexing_maps = [#a, #b, #y], iterator_types = ["parallel", "parallel", "reduction"]}
          ins(%a, %b : tensor<2x256xf32>, tensor<256x256xf32>) outs(%f : tensor<2x256xf32>) {
      ^bb1(%p: f32, %q: f32, %s: f32):
        %t = math.fma %p, %q, %s : f32
        linalg.yield %t : f32
      } -> tensor<2x256xf32>
      kernel.yield %g : tensor<2x256xf32>
    } -> tensor<2x256xf32>
    return %r : tensor<2x256xf32>
  }
}

// -----

#a = affine_map<(m, n, k) -> (m, k)>
#b = affine_map<(m, n, k) -> (k, n)>
#bt = affine_map<(m, n, k) -> (n, k)>
#y = affine_map<(m, n, k) -> (m, n)>
#id = affine_map<(m, n) -> (m, n)>
rt.variant @lanes target "sm_80" {
  func.func @main(%x: tensor<2x256xf32>, %w: tensor<256x256xf32>) -> tensor<2x256xf32> {
    %e = tensor.empty() : tensor<2x256xf32>
    // expected-error@+1 {{schedule 'skinny': 4x4 lanes are not a warp}}
    %r = kernel.dispatch ins(%x, %w : tensor<2x256xf32>, tensor<256x256xf32>) outs(%e : tensor<2x256xf32>) schedule <"skinny", {lanes = array<i64: 4, 4>, store_vector = 4 : i64, thin_vector = 4 : i64, tile = array<i64: 4, 4>, warps = array<i64: 1, 4>, wide_lines = "across", wide_vector = 4 : i64}> {
    ^bb0(%a: tensor<2x256xf32>, %b: tensor<256x256xf32>, %o: tensor<2x256xf32>):
      %zero = arith.constant 0.0 : f32
      %f = linalg.fill ins(%zero : f32) outs(%o : tensor<2x256xf32>) -> tensor<2x256xf32>
      %g = linalg.generic {indexing_maps = [#a, #b, #y], iterator_types = ["parallel", "parallel", "reduction"]}
          ins(%a, %b : tensor<2x256xf32>, tensor<256x256xf32>) outs(%f : tensor<2x256xf32>) {
      ^bb1(%p: f32, %q: f32, %s: f32):
        %t = math.fma %p, %q, %s : f32
        linalg.yield %t : f32
      } -> tensor<2x256xf32>
      kernel.yield %g : tensor<2x256xf32>
    } -> tensor<2x256xf32>
    return %r : tensor<2x256xf32>
  }
}

// -----

#a = affine_map<(m, n, k) -> (m, k)>
#b = affine_map<(m, n, k) -> (k, n)>
#bt = affine_map<(m, n, k) -> (n, k)>
#y = affine_map<(m, n, k) -> (m, n)>
#id = affine_map<(m, n) -> (m, n)>
rt.variant @warps target "sm_80" {
  func.func @main(%x: tensor<2x256xf32>, %w: tensor<256x256xf32>) -> tensor<2x256xf32> {
    %e = tensor.empty() : tensor<2x256xf32>
    // expected-error@+1 {{schedule 'skinny': 8x8 warps; sm_80 allows 1 to 32}}
    %r = kernel.dispatch ins(%x, %w : tensor<2x256xf32>, tensor<256x256xf32>) outs(%e : tensor<2x256xf32>) schedule <"skinny", {lanes = array<i64: 4, 8>, store_vector = 4 : i64, thin_vector = 4 : i64, tile = array<i64: 4, 4>, warps = array<i64: 8, 8>, wide_lines = "across", wide_vector = 4 : i64}> {
    ^bb0(%a: tensor<2x256xf32>, %b: tensor<256x256xf32>, %o: tensor<2x256xf32>):
      %zero = arith.constant 0.0 : f32
      %f = linalg.fill ins(%zero : f32) outs(%o : tensor<2x256xf32>) -> tensor<2x256xf32>
      %g = linalg.generic {indexing_maps = [#a, #b, #y], iterator_types = ["parallel", "parallel", "reduction"]}
          ins(%a, %b : tensor<2x256xf32>, tensor<256x256xf32>) outs(%f : tensor<2x256xf32>) {
      ^bb1(%p: f32, %q: f32, %s: f32):
        %t = math.fma %p, %q, %s : f32
        linalg.yield %t : f32
      } -> tensor<2x256xf32>
      kernel.yield %g : tensor<2x256xf32>
    } -> tensor<2x256xf32>
    return %r : tensor<2x256xf32>
  }
}

// -----

#a = affine_map<(m, n, k) -> (m, k)>
#b = affine_map<(m, n, k) -> (k, n)>
#bt = affine_map<(m, n, k) -> (n, k)>
#y = affine_map<(m, n, k) -> (m, n)>
#id = affine_map<(m, n) -> (m, n)>
rt.variant @tile target "sm_80" {
  func.func @main(%x: tensor<2x256xf32>, %w: tensor<256x256xf32>) -> tensor<2x256xf32> {
    %e = tensor.empty() : tensor<2x256xf32>
    // expected-error@+1 {{schedule 'skinny': a tile of 16x16; 1 to 128 elements are possible}}
    %r = kernel.dispatch ins(%x, %w : tensor<2x256xf32>, tensor<256x256xf32>) outs(%e : tensor<2x256xf32>) schedule <"skinny", {lanes = array<i64: 4, 8>, store_vector = 4 : i64, thin_vector = 4 : i64, tile = array<i64: 16, 16>, warps = array<i64: 1, 4>, wide_lines = "across", wide_vector = 4 : i64}> {
    ^bb0(%a: tensor<2x256xf32>, %b: tensor<256x256xf32>, %o: tensor<2x256xf32>):
      %zero = arith.constant 0.0 : f32
      %f = linalg.fill ins(%zero : f32) outs(%o : tensor<2x256xf32>) -> tensor<2x256xf32>
      %g = linalg.generic {indexing_maps = [#a, #b, #y], iterator_types = ["parallel", "parallel", "reduction"]}
          ins(%a, %b : tensor<2x256xf32>, tensor<256x256xf32>) outs(%f : tensor<2x256xf32>) {
      ^bb1(%p: f32, %q: f32, %s: f32):
        %t = math.fma %p, %q, %s : f32
        linalg.yield %t : f32
      } -> tensor<2x256xf32>
      kernel.yield %g : tensor<2x256xf32>
    } -> tensor<2x256xf32>
    return %r : tensor<2x256xf32>
  }
}

// -----

#a = affine_map<(m, n, k) -> (m, k)>
#b = affine_map<(m, n, k) -> (k, n)>
#bt = affine_map<(m, n, k) -> (n, k)>
#y = affine_map<(m, n, k) -> (m, n)>
#id = affine_map<(m, n) -> (m, n)>
rt.variant @wide target "sm_80" {
  func.func @main(%x: tensor<2x256xf32>, %w: tensor<256x256xf32>) -> tensor<2x256xf32> {
    %e = tensor.empty() : tensor<2x256xf32>
    // expected-error@+1 {{schedule 'skinny': wide_vector 8 is not possible; at most 4}}
    %r = kernel.dispatch ins(%x, %w : tensor<2x256xf32>, tensor<256x256xf32>) outs(%e : tensor<2x256xf32>) schedule <"skinny", {lanes = array<i64: 4, 8>, store_vector = 4 : i64, thin_vector = 4 : i64, tile = array<i64: 8, 4>, warps = array<i64: 1, 4>, wide_lines = "across", wide_vector = 8 : i64}> {
    ^bb0(%a: tensor<2x256xf32>, %b: tensor<256x256xf32>, %o: tensor<2x256xf32>):
      %zero = arith.constant 0.0 : f32
      %f = linalg.fill ins(%zero : f32) outs(%o : tensor<2x256xf32>) -> tensor<2x256xf32>
      %g = linalg.generic {indexing_maps = [#a, #b, #y], iterator_types = ["parallel", "parallel", "reduction"]}
          ins(%a, %b : tensor<2x256xf32>, tensor<256x256xf32>) outs(%f : tensor<2x256xf32>) {
      ^bb1(%p: f32, %q: f32, %s: f32):
        %t = math.fma %p, %q, %s : f32
        linalg.yield %t : f32
      } -> tensor<2x256xf32>
      kernel.yield %g : tensor<2x256xf32>
    } -> tensor<2x256xf32>
    return %r : tensor<2x256xf32>
  }
}

// -----

#a = affine_map<(m, n, k) -> (m, k)>
#b = affine_map<(m, n, k) -> (k, n)>
#bt = affine_map<(m, n, k) -> (n, k)>
#y = affine_map<(m, n, k) -> (m, n)>
#id = affine_map<(m, n) -> (m, n)>
rt.variant @thin target "sm_80" {
  func.func @main(%x: tensor<2x256xf32>, %w: tensor<256x256xf32>) -> tensor<2x256xf32> {
    %e = tensor.empty() : tensor<2x256xf32>
    // expected-error@+1 {{schedule 'skinny': thin_vector 4 is not possible; at most 2}}
    %r = kernel.dispatch ins(%x, %w : tensor<2x256xf32>, tensor<256x256xf32>) outs(%e : tensor<2x256xf32>) schedule <"skinny", {lanes = array<i64: 4, 8>, store_vector = 4 : i64, thin_vector = 4 : i64, tile = array<i64: 4, 2>, warps = array<i64: 1, 4>, wide_lines = "across", wide_vector = 4 : i64}> {
    ^bb0(%a: tensor<2x256xf32>, %b: tensor<256x256xf32>, %o: tensor<2x256xf32>):
      %zero = arith.constant 0.0 : f32
      %f = linalg.fill ins(%zero : f32) outs(%o : tensor<2x256xf32>) -> tensor<2x256xf32>
      %g = linalg.generic {indexing_maps = [#a, #b, #y], iterator_types = ["parallel", "parallel", "reduction"]}
          ins(%a, %b : tensor<2x256xf32>, tensor<256x256xf32>) outs(%f : tensor<2x256xf32>) {
      ^bb1(%p: f32, %q: f32, %s: f32):
        %t = math.fma %p, %q, %s : f32
        linalg.yield %t : f32
      } -> tensor<2x256xf32>
      kernel.yield %g : tensor<2x256xf32>
    } -> tensor<2x256xf32>
    return %r : tensor<2x256xf32>
  }
}

// -----

#a = affine_map<(m, n, k) -> (m, k)>
#b = affine_map<(m, n, k) -> (k, n)>
#bt = affine_map<(m, n, k) -> (n, k)>
#y = affine_map<(m, n, k) -> (m, n)>
#id = affine_map<(m, n) -> (m, n)>
rt.variant @together target "sm_80" {
  func.func @main(%x: tensor<2x256xf32>, %w: tensor<256x256xf32>) -> tensor<2x256xf32> {
    %e = tensor.empty() : tensor<2x256xf32>
    // expected-error@+1 {{schedule 'skinny': together 3 is not possible; at most 4}}
    %r = kernel.dispatch ins(%x, %w : tensor<2x256xf32>, tensor<256x256xf32>) outs(%e : tensor<2x256xf32>) schedule <"skinny", {lanes = array<i64: 4, 8>, store_vector = 4 : i64, thin_vector = 4 : i64, tile = array<i64: 4, 4>, together = 3 : i64, warps = array<i64: 1, 4>, wide_lines = "across", wide_vector = 4 : i64}> {
    ^bb0(%a: tensor<2x256xf32>, %b: tensor<256x256xf32>, %o: tensor<2x256xf32>):
      %zero = arith.constant 0.0 : f32
      %f = linalg.fill ins(%zero : f32) outs(%o : tensor<2x256xf32>) -> tensor<2x256xf32>
      %g = linalg.generic {indexing_maps = [#a, #b, #y], iterator_types = ["parallel", "parallel", "reduction"]}
          ins(%a, %b : tensor<2x256xf32>, tensor<256x256xf32>) outs(%f : tensor<2x256xf32>) {
      ^bb1(%p: f32, %q: f32, %s: f32):
        %t = math.fma %p, %q, %s : f32
        linalg.yield %t : f32
      } -> tensor<2x256xf32>
      kernel.yield %g : tensor<2x256xf32>
    } -> tensor<2x256xf32>
    return %r : tensor<2x256xf32>
  }
}

// -----

#a = affine_map<(m, n, k) -> (m, k)>
#b = affine_map<(m, n, k) -> (k, n)>
#bt = affine_map<(m, n, k) -> (n, k)>
#y = affine_map<(m, n, k) -> (m, n)>
#id = affine_map<(m, n) -> (m, n)>
rt.variant @store target "sm_80" {
  func.func @main(%x: tensor<2x256xf32>, %w: tensor<256x256xf32>) -> tensor<2x256xf32> {
    %e = tensor.empty() : tensor<2x256xf32>
    // expected-error@+1 {{schedule 'skinny': store_vector 8 is not possible; at most 4}}
    %r = kernel.dispatch ins(%x, %w : tensor<2x256xf32>, tensor<256x256xf32>) outs(%e : tensor<2x256xf32>) schedule <"skinny", {lanes = array<i64: 4, 8>, store_vector = 8 : i64, thin_vector = 4 : i64, tile = array<i64: 4, 4>, warps = array<i64: 1, 4>, wide_lines = "across", wide_vector = 4 : i64}> {
    ^bb0(%a: tensor<2x256xf32>, %b: tensor<256x256xf32>, %o: tensor<2x256xf32>):
      %zero = arith.constant 0.0 : f32
      %f = linalg.fill ins(%zero : f32) outs(%o : tensor<2x256xf32>) -> tensor<2x256xf32>
      %g = linalg.generic {indexing_maps = [#a, #b, #y], iterator_types = ["parallel", "parallel", "reduction"]}
          ins(%a, %b : tensor<2x256xf32>, tensor<256x256xf32>) outs(%f : tensor<2x256xf32>) {
      ^bb1(%p: f32, %q: f32, %s: f32):
        %t = math.fma %p, %q, %s : f32
        linalg.yield %t : f32
      } -> tensor<2x256xf32>
      kernel.yield %g : tensor<2x256xf32>
    } -> tensor<2x256xf32>
    return %r : tensor<2x256xf32>
  }
}

// -----

#a = affine_map<(m, n, k) -> (m, k)>
#b = affine_map<(m, n, k) -> (k, n)>
#bt = affine_map<(m, n, k) -> (n, k)>
#y = affine_map<(m, n, k) -> (m, n)>
#id = affine_map<(m, n) -> (m, n)>
rt.variant @shared target "sm_80" {
  func.func @main(%x: tensor<8x256xf32>, %w: tensor<256x4096xf32>) -> tensor<8x4096xf32> {
    %e = tensor.empty() : tensor<8x4096xf32>
    // expected-error@+1 {{schedule 'skinny': requires 65536 B of shared memory; sm_80 allows 49152 B}}
    %r = kernel.dispatch ins(%x, %w : tensor<8x256xf32>, tensor<256x4096xf32>) outs(%e : tensor<8x4096xf32>) schedule <"skinny", {lanes = array<i64: 32, 1>, store_vector = 4 : i64, thin_vector = 4 : i64, tile = array<i64: 4, 4>, warps = array<i64: 1, 16>, wide_lines = "across", wide_vector = 4 : i64}> {
    ^bb0(%a: tensor<8x256xf32>, %b: tensor<256x4096xf32>, %o: tensor<8x4096xf32>):
      %zero = arith.constant 0.0 : f32
      %f = linalg.fill ins(%zero : f32) outs(%o : tensor<8x4096xf32>) -> tensor<8x4096xf32>
      %g = linalg.generic {indexing_maps = [#a, #b, #y], iterator_types = ["parallel", "parallel", "reduction"]}
          ins(%a, %b : tensor<8x256xf32>, tensor<256x4096xf32>) outs(%f : tensor<8x4096xf32>) {
      ^bb1(%p: f32, %q: f32, %s: f32):
        %t = math.fma %p, %q, %s : f32
        linalg.yield %t : f32
      } -> tensor<8x4096xf32>
      kernel.yield %g : tensor<8x4096xf32>
    } -> tensor<8x4096xf32>
    return %r : tensor<8x4096xf32>
  }
}

// -----

#a = affine_map<(m, n, k) -> (m, k)>
#b = affine_map<(m, n, k) -> (k, n)>
#bt = affine_map<(m, n, k) -> (n, k)>
#y = affine_map<(m, n, k) -> (m, n)>
#id = affine_map<(m, n) -> (m, n)>
rt.variant @other target "sm_80" {
  func.func @main(%x: tensor<64x64xf32>, %w: tensor<64x64xf32>) -> tensor<64x64xf32> {
    %e = tensor.empty() : tensor<64x64xf32>
    // expected-error@+1 {{schedule 'skinny' cannot compute this dispatch}}
    %r = kernel.dispatch ins(%x, %w : tensor<64x64xf32>, tensor<64x64xf32>) outs(%e : tensor<64x64xf32>) schedule <"skinny", {lanes = array<i64: 4, 8>, store_vector = 4 : i64, thin_vector = 4 : i64, tile = array<i64: 4, 4>, warps = array<i64: 1, 4>, wide_lines = "across", wide_vector = 4 : i64}> {
    ^bb0(%a: tensor<64x64xf32>, %b: tensor<64x64xf32>, %o: tensor<64x64xf32>):
      %zero = arith.constant 0.0 : f32
      %f = linalg.fill ins(%zero : f32) outs(%o : tensor<64x64xf32>) -> tensor<64x64xf32>
      %g = linalg.generic {indexing_maps = [#a, #b, #y], iterator_types = ["parallel", "parallel", "reduction"]}
          ins(%a, %b : tensor<64x64xf32>, tensor<64x64xf32>) outs(%f : tensor<64x64xf32>) {
      ^bb1(%p: f32, %q: f32, %s: f32):
        %t = math.fma %p, %q, %s : f32
        linalg.yield %t : f32
      } -> tensor<64x64xf32>
      kernel.yield %g : tensor<64x64xf32>
    } -> tensor<64x64xf32>
    return %r : tensor<64x64xf32>
  }
}
