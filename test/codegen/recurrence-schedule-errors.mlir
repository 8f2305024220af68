// RUN: cameo-opt %s --split-input-file --verify-diagnostics --pass-pipeline='builtin.module(rt.variant(cameo-lower-dispatches))'

rt.variant @missing target "sm_80" {
  func.func @main(%x: tensor<5x3x1x1x12xf32>, %r: tensor<1x12x1x12xf32>, %h: tensor<1x3x12xf32>) -> tensor<1x3x12xf32> {
    %e = tensor.empty() : tensor<1x3x12xf32>
    // expected-error@+1 {{schedule 'recurrence': needs blocks, deep, parts, rows, threads and vector, or blocks, an instruction of [16, 8, 16] and threads}}
    %s = kernel.dispatch ins(%x, %r, %h : tensor<5x3x1x1x12xf32>, tensor<1x12x1x12xf32>, tensor<1x3x12xf32>)
        outs(%e : tensor<1x3x12xf32>) schedule <"recurrence", {blocks = 1 : i64, deep = 4 : i64, parts = 1 : i64, rows = 1 : i64, threads = 32 : i64}> {
    ^bb0(%a: tensor<5x3x1x1x12xf32>, %b: tensor<1x12x1x12xf32>, %c: tensor<1x3x12xf32>, %l: tensor<1x3x12xf32>):
      %q = kernel.recurrence input(%a : tensor<5x3x1x1x12xf32>) weights(%b : tensor<1x12x1x12xf32>)
          initial(%c : tensor<1x3x12xf32>) outs(%l : tensor<1x3x12xf32>) phases [1] reverse [false] {
      ^bb1(%direction: index, %i: f32, %m: f32, %before: f32):
        kernel.yield %m : f32
      } -> tensor<1x3x12xf32>
      kernel.yield %q : tensor<1x3x12xf32>
    } -> tensor<1x3x12xf32>
    return %s : tensor<1x3x12xf32>
  }
}

// -----

rt.variant @powers target "sm_80" {
  func.func @main(%x: tensor<5x3x1x1x12xf32>, %r: tensor<1x12x1x12xf32>, %h: tensor<1x3x12xf32>) -> tensor<1x3x12xf32> {
    %e = tensor.empty() : tensor<1x3x12xf32>
    // expected-error@+1 {{schedule 'recurrence': rows of 3, parts of 1 and deep of 4 must be powers of two, at most 8, 32 and 8}}
    %s = kernel.dispatch ins(%x, %r, %h : tensor<5x3x1x1x12xf32>, tensor<1x12x1x12xf32>, tensor<1x3x12xf32>)
        outs(%e : tensor<1x3x12xf32>) schedule <"recurrence", {blocks = 1 : i64, deep = 4 : i64, parts = 1 : i64, rows = 3 : i64, threads = 32 : i64, vector = 4 : i64}> {
    ^bb0(%a: tensor<5x3x1x1x12xf32>, %b: tensor<1x12x1x12xf32>, %c: tensor<1x3x12xf32>, %l: tensor<1x3x12xf32>):
      %q = kernel.recurrence input(%a : tensor<5x3x1x1x12xf32>) weights(%b : tensor<1x12x1x12xf32>)
          initial(%c : tensor<1x3x12xf32>) outs(%l : tensor<1x3x12xf32>) phases [1] reverse [false] {
      ^bb1(%direction: index, %i: f32, %m: f32, %before: f32):
        kernel.yield %m : f32
      } -> tensor<1x3x12xf32>
      kernel.yield %q : tensor<1x3x12xf32>
    } -> tensor<1x3x12xf32>
    return %s : tensor<1x3x12xf32>
  }
}

// -----

rt.variant @vector target "sm_80" {
  func.func @main(%x: tensor<5x3x1x1x12xf32>, %r: tensor<1x12x1x12xf32>, %h: tensor<1x3x12xf32>) -> tensor<1x3x12xf32> {
    %e = tensor.empty() : tensor<1x3x12xf32>
    // expected-error@+1 {{schedule 'recurrence': vector of 8 must be a power of two, at most 4, that divides 12 units}}
    %s = kernel.dispatch ins(%x, %r, %h : tensor<5x3x1x1x12xf32>, tensor<1x12x1x12xf32>, tensor<1x3x12xf32>)
        outs(%e : tensor<1x3x12xf32>) schedule <"recurrence", {blocks = 1 : i64, deep = 4 : i64, parts = 1 : i64, rows = 1 : i64, threads = 32 : i64, vector = 8 : i64}> {
    ^bb0(%a: tensor<5x3x1x1x12xf32>, %b: tensor<1x12x1x12xf32>, %c: tensor<1x3x12xf32>, %l: tensor<1x3x12xf32>):
      %q = kernel.recurrence input(%a : tensor<5x3x1x1x12xf32>) weights(%b : tensor<1x12x1x12xf32>)
          initial(%c : tensor<1x3x12xf32>) outs(%l : tensor<1x3x12xf32>) phases [1] reverse [false] {
      ^bb1(%direction: index, %i: f32, %m: f32, %before: f32):
        kernel.yield %m : f32
      } -> tensor<1x3x12xf32>
      kernel.yield %q : tensor<1x3x12xf32>
    } -> tensor<1x3x12xf32>
    return %s : tensor<1x3x12xf32>
  }
}

// -----

rt.variant @no_vector target "sm_80" {
  func.func @main(%x: tensor<5x3x1x1x12xf32>, %r: tensor<1x12x1x12xf32>, %h: tensor<1x3x12xf32>) -> tensor<1x3x12xf32> {
    %e = tensor.empty() : tensor<1x3x12xf32>
    // expected-error@+1 {{schedule 'recurrence': vector of 0 must be a power of two, at most 4, that divides 12 units}}
    %s = kernel.dispatch ins(%x, %r, %h : tensor<5x3x1x1x12xf32>, tensor<1x12x1x12xf32>, tensor<1x3x12xf32>)
        outs(%e : tensor<1x3x12xf32>) schedule <"recurrence", {blocks = 1 : i64, deep = 4 : i64, parts = 1 : i64, rows = 1 : i64, threads = 32 : i64, vector = 0 : i64}> {
    ^bb0(%a: tensor<5x3x1x1x12xf32>, %b: tensor<1x12x1x12xf32>, %c: tensor<1x3x12xf32>, %l: tensor<1x3x12xf32>):
      %q = kernel.recurrence input(%a : tensor<5x3x1x1x12xf32>) weights(%b : tensor<1x12x1x12xf32>)
          initial(%c : tensor<1x3x12xf32>) outs(%l : tensor<1x3x12xf32>) phases [1] reverse [false] {
      ^bb1(%direction: index, %i: f32, %m: f32, %before: f32):
        kernel.yield %m : f32
      } -> tensor<1x3x12xf32>
      kernel.yield %q : tensor<1x3x12xf32>
    } -> tensor<1x3x12xf32>
    return %s : tensor<1x3x12xf32>
  }
}

// -----

rt.variant @depth target "sm_80" {
  func.func @main(%x: tensor<5x3x1x1x12xf32>, %r: tensor<1x12x1x12xf32>, %h: tensor<1x3x12xf32>) -> tensor<1x3x12xf32> {
    %e = tensor.empty() : tensor<1x3x12xf32>
    // expected-error@+1 {{schedule 'recurrence': 12 units must be a multiple of parts times deep, 8}}
    %s = kernel.dispatch ins(%x, %r, %h : tensor<5x3x1x1x12xf32>, tensor<1x12x1x12xf32>, tensor<1x3x12xf32>)
        outs(%e : tensor<1x3x12xf32>) schedule <"recurrence", {blocks = 1 : i64, deep = 4 : i64, parts = 2 : i64, rows = 1 : i64, threads = 32 : i64, vector = 4 : i64}> {
    ^bb0(%a: tensor<5x3x1x1x12xf32>, %b: tensor<1x12x1x12xf32>, %c: tensor<1x3x12xf32>, %l: tensor<1x3x12xf32>):
      %q = kernel.recurrence input(%a : tensor<5x3x1x1x12xf32>) weights(%b : tensor<1x12x1x12xf32>)
          initial(%c : tensor<1x3x12xf32>) outs(%l : tensor<1x3x12xf32>) phases [1] reverse [false] {
      ^bb1(%direction: index, %i: f32, %m: f32, %before: f32):
        kernel.yield %m : f32
      } -> tensor<1x3x12xf32>
      kernel.yield %q : tensor<1x3x12xf32>
    } -> tensor<1x3x12xf32>
    return %s : tensor<1x3x12xf32>
  }
}

// -----

rt.variant @threads target "sm_80" {
  func.func @main(%x: tensor<5x3x1x1x12xf32>, %r: tensor<1x12x1x12xf32>, %h: tensor<1x3x12xf32>) -> tensor<1x3x12xf32> {
    %e = tensor.empty() : tensor<1x3x12xf32>
    // expected-error@+1 {{schedule 'recurrence': threads of 40 must be a multiple of 32 up to 1024}}
    %s = kernel.dispatch ins(%x, %r, %h : tensor<5x3x1x1x12xf32>, tensor<1x12x1x12xf32>, tensor<1x3x12xf32>)
        outs(%e : tensor<1x3x12xf32>) schedule <"recurrence", {blocks = 1 : i64, deep = 4 : i64, parts = 1 : i64, rows = 1 : i64, threads = 40 : i64, vector = 4 : i64}> {
    ^bb0(%a: tensor<5x3x1x1x12xf32>, %b: tensor<1x12x1x12xf32>, %c: tensor<1x3x12xf32>, %l: tensor<1x3x12xf32>):
      %q = kernel.recurrence input(%a : tensor<5x3x1x1x12xf32>) weights(%b : tensor<1x12x1x12xf32>)
          initial(%c : tensor<1x3x12xf32>) outs(%l : tensor<1x3x12xf32>) phases [1] reverse [false] {
      ^bb1(%direction: index, %i: f32, %m: f32, %before: f32):
        kernel.yield %m : f32
      } -> tensor<1x3x12xf32>
      kernel.yield %q : tensor<1x3x12xf32>
    } -> tensor<1x3x12xf32>
    return %s : tensor<1x3x12xf32>
  }
}

// -----

rt.variant @no_matrices target "sm_80" {
  func.func @main(%x: tensor<5x3x1x1x12xf32>, %r: tensor<1x12x1x12xf32>, %h: tensor<1x3x12xf32>) -> tensor<1x3x12xf32> {
    %e = tensor.empty() : tensor<1x3x12xf32>
    // expected-error@+1 {{schedule 'recurrence': its weights are not what matrix instructions take}}
    %s = kernel.dispatch ins(%x, %r, %h : tensor<5x3x1x1x12xf32>, tensor<1x12x1x12xf32>, tensor<1x3x12xf32>)
        outs(%e : tensor<1x3x12xf32>) schedule <"recurrence", {blocks = 1 : i64, instruction = array<i64: 16, 8, 16>, threads = 64 : i64}> {
    ^bb0(%a: tensor<5x3x1x1x12xf32>, %b: tensor<1x12x1x12xf32>, %c: tensor<1x3x12xf32>, %l: tensor<1x3x12xf32>):
      %q = kernel.recurrence input(%a : tensor<5x3x1x1x12xf32>) weights(%b : tensor<1x12x1x12xf32>)
          initial(%c : tensor<1x3x12xf32>) outs(%l : tensor<1x3x12xf32>) phases [1] reverse [false] {
      ^bb1(%direction: index, %i: f32, %m: f32, %before: f32):
        kernel.yield %m : f32
      } -> tensor<1x3x12xf32>
      kernel.yield %q : tensor<1x3x12xf32>
    } -> tensor<1x3x12xf32>
    return %s : tensor<1x3x12xf32>
  }
}

// -----

rt.variant @matrices target "sm_80" {
  func.func @main(%x: tensor<5x3x1x1x16xf32>, %r: tensor<1x1x16x16xf16>, %h: tensor<1x3x16xf16>) -> tensor<1x3x16xf16> {
    %e = tensor.empty() : tensor<1x3x16xf16>
    // expected-error@+1 {{schedule 'recurrence': its products are for matrix instructions; it needs one}}
    %s = kernel.dispatch ins(%x, %r, %h : tensor<5x3x1x1x16xf32>, tensor<1x1x16x16xf16>, tensor<1x3x16xf16>)
        outs(%e : tensor<1x3x16xf16>) schedule <"recurrence", {blocks = 1 : i64, deep = 4 : i64, parts = 1 : i64, rows = 1 : i64, threads = 32 : i64, vector = 4 : i64}> {
    ^bb0(%a: tensor<5x3x1x1x16xf32>, %b: tensor<1x1x16x16xf16>, %c: tensor<1x3x16xf16>, %l: tensor<1x3x16xf16>):
      %t = tensor.empty() : tensor<1x16x1x16xf16>
      %w = linalg.generic {indexing_maps = [affine_map<(d, k, g, j) -> (d, g, j, k)>, affine_map<(d, k, g, j) -> (d, k, g, j)>],
                           iterator_types = ["parallel", "parallel", "parallel", "parallel"]}
          ins(%b : tensor<1x1x16x16xf16>) outs(%t : tensor<1x16x1x16xf16>) {
      ^bb1(%p: f16, %o: f16):
        linalg.yield %p : f16
      } -> tensor<1x16x1x16xf16>
      %q = kernel.recurrence input(%a : tensor<5x3x1x1x16xf32>) weights(%w : tensor<1x16x1x16xf16>)
          initial(%c : tensor<1x3x16xf16>) outs(%l : tensor<1x3x16xf16>) phases [1] reverse [false] {
      ^bb1(%direction: index, %i: f32, %m: f32, %before: f32):
        kernel.yield %m : f32
      } -> tensor<1x3x16xf16>
      kernel.yield %q : tensor<1x3x16xf16>
    } -> tensor<1x3x16xf16>
    return %s : tensor<1x3x16xf16>
  }
}

// -----

rt.variant @threads_of_matrices target "sm_80" {
  func.func @main(%x: tensor<5x3x1x1x16xf32>, %r: tensor<1x1x16x16xf16>, %h: tensor<1x3x16xf16>) -> tensor<1x3x16xf16> {
    %e = tensor.empty() : tensor<1x3x16xf16>
    // expected-error@+1 {{schedule 'recurrence': threads of 2048 must be a multiple of 32 up to 1024}}
    %s = kernel.dispatch ins(%x, %r, %h : tensor<5x3x1x1x16xf32>, tensor<1x1x16x16xf16>, tensor<1x3x16xf16>)
        outs(%e : tensor<1x3x16xf16>) schedule <"recurrence", {blocks = 1 : i64, instruction = array<i64: 16, 8, 16>, threads = 2048 : i64}> {
    ^bb0(%a: tensor<5x3x1x1x16xf32>, %b: tensor<1x1x16x16xf16>, %c: tensor<1x3x16xf16>, %l: tensor<1x3x16xf16>):
      %t = tensor.empty() : tensor<1x16x1x16xf16>
      %w = linalg.generic {indexing_maps = [affine_map<(d, k, g, j) -> (d, g, j, k)>, affine_map<(d, k, g, j) -> (d, k, g, j)>],
                           iterator_types = ["parallel", "parallel", "parallel", "parallel"]}
          ins(%b : tensor<1x1x16x16xf16>) outs(%t : tensor<1x16x1x16xf16>) {
      ^bb1(%p: f16, %o: f16):
        linalg.yield %p : f16
      } -> tensor<1x16x1x16xf16>
      %q = kernel.recurrence input(%a : tensor<5x3x1x1x16xf32>) weights(%w : tensor<1x16x1x16xf16>)
          initial(%c : tensor<1x3x16xf16>) outs(%l : tensor<1x3x16xf16>) phases [1] reverse [false] {
      ^bb1(%direction: index, %i: f32, %m: f32, %before: f32):
        kernel.yield %m : f32
      } -> tensor<1x3x16xf16>
      kernel.yield %q : tensor<1x3x16xf16>
    } -> tensor<1x3x16xf16>
    return %s : tensor<1x3x16xf16>
  }
}

// -----

rt.variant @splits_of_units target "sm_80" {
  func.func @main(%x: tensor<5x3x1x1x16xf32>, %r: tensor<1x1x16x16xf16>, %h: tensor<1x3x16xf16>) -> tensor<1x3x16xf16> {
    %e = tensor.empty() : tensor<1x3x16xf16>
    // expected-error@+1 {{schedule 'recurrence': splits of 2 must be a power of two, at most 8, by which 16 units are steps of 16}}
    %s = kernel.dispatch ins(%x, %r, %h : tensor<5x3x1x1x16xf32>, tensor<1x1x16x16xf16>, tensor<1x3x16xf16>)
        outs(%e : tensor<1x3x16xf16>) schedule <"recurrence", {blocks = 1 : i64, instruction = array<i64: 16, 8, 16>, splits = 2 : i64, threads = 128 : i64}> {
    ^bb0(%a: tensor<5x3x1x1x16xf32>, %b: tensor<1x1x16x16xf16>, %c: tensor<1x3x16xf16>, %l: tensor<1x3x16xf16>):
      %t = tensor.empty() : tensor<1x16x1x16xf16>
      %w = linalg.generic {indexing_maps = [affine_map<(d, k, g, j) -> (d, g, j, k)>, affine_map<(d, k, g, j) -> (d, k, g, j)>],
                           iterator_types = ["parallel", "parallel", "parallel", "parallel"]}
          ins(%b : tensor<1x1x16x16xf16>) outs(%t : tensor<1x16x1x16xf16>) {
      ^bb1(%p: f16, %o: f16):
        linalg.yield %p : f16
      } -> tensor<1x16x1x16xf16>
      %q = kernel.recurrence input(%a : tensor<5x3x1x1x16xf32>) weights(%w : tensor<1x16x1x16xf16>)
          initial(%c : tensor<1x3x16xf16>) outs(%l : tensor<1x3x16xf16>) phases [1] reverse [false] {
      ^bb1(%direction: index, %i: f32, %m: f32, %before: f32):
        kernel.yield %m : f32
      } -> tensor<1x3x16xf16>
      kernel.yield %q : tensor<1x3x16xf16>
    } -> tensor<1x3x16xf16>
    return %s : tensor<1x3x16xf16>
  }
}

// -----

rt.variant @threads_of_splits target "sm_80" {
  func.func @main(%x: tensor<5x3x1x1x32xf32>, %r: tensor<1x1x32x32xf16>, %h: tensor<1x3x32xf16>) -> tensor<1x3x32xf16> {
    %e = tensor.empty() : tensor<1x3x32xf16>
    // expected-error@+1 {{schedule 'recurrence': with splits of 2 a block must have 256 threads, not 128}}
    %s = kernel.dispatch ins(%x, %r, %h : tensor<5x3x1x1x32xf32>, tensor<1x1x32x32xf16>, tensor<1x3x32xf16>)
        outs(%e : tensor<1x3x32xf16>) schedule <"recurrence", {blocks = 1 : i64, instruction = array<i64: 16, 8, 16>, splits = 2 : i64, threads = 128 : i64}> {
    ^bb0(%a: tensor<5x3x1x1x32xf32>, %b: tensor<1x1x32x32xf16>, %c: tensor<1x3x32xf16>, %l: tensor<1x3x32xf16>):
      %t = tensor.empty() : tensor<1x32x1x32xf16>
      %w = linalg.generic {indexing_maps = [affine_map<(d, k, g, j) -> (d, g, j, k)>, affine_map<(d, k, g, j) -> (d, k, g, j)>],
                           iterator_types = ["parallel", "parallel", "parallel", "parallel"]}
          ins(%b : tensor<1x1x32x32xf16>) outs(%t : tensor<1x32x1x32xf16>) {
      ^bb1(%p: f16, %o: f16):
        linalg.yield %p : f16
      } -> tensor<1x32x1x32xf16>
      %q = kernel.recurrence input(%a : tensor<5x3x1x1x32xf32>) weights(%w : tensor<1x32x1x32xf16>)
          initial(%c : tensor<1x3x32xf16>) outs(%l : tensor<1x3x32xf16>) phases [1] reverse [false] {
      ^bb1(%direction: index, %i: f32, %m: f32, %before: f32):
        kernel.yield %m : f32
      } -> tensor<1x3x32xf16>
      kernel.yield %q : tensor<1x3x32xf16>
    } -> tensor<1x3x32xf16>
    return %s : tensor<1x3x32xf16>
  }
}

// -----

rt.variant @clusters target "sm_80" {
  func.func @main(%x: tensor<5x3x1x1x12xf32>, %r: tensor<1x12x1x12xf32>, %h: tensor<1x3x12xf32>) -> tensor<1x3x12xf32> {
    %e = tensor.empty() : tensor<1x3x12xf32>
    // expected-error@+1 {{schedule 'recurrence': blocks of 2 must be a power of two, at most 1, that divides 12 units}}
    %s = kernel.dispatch ins(%x, %r, %h : tensor<5x3x1x1x12xf32>, tensor<1x12x1x12xf32>, tensor<1x3x12xf32>)
        outs(%e : tensor<1x3x12xf32>) schedule <"recurrence", {blocks = 2 : i64, deep = 4 : i64, parts = 1 : i64, rows = 1 : i64, threads = 32 : i64, vector = 4 : i64}> {
    ^bb0(%a: tensor<5x3x1x1x12xf32>, %b: tensor<1x12x1x12xf32>, %c: tensor<1x3x12xf32>, %l: tensor<1x3x12xf32>):
      %q = kernel.recurrence input(%a : tensor<5x3x1x1x12xf32>) weights(%b : tensor<1x12x1x12xf32>)
          initial(%c : tensor<1x3x12xf32>) outs(%l : tensor<1x3x12xf32>) phases [1] reverse [false] {
      ^bb1(%direction: index, %i: f32, %m: f32, %before: f32):
        kernel.yield %m : f32
      } -> tensor<1x3x12xf32>
      kernel.yield %q : tensor<1x3x12xf32>
    } -> tensor<1x3x12xf32>
    return %s : tensor<1x3x12xf32>
  }
}

// -----

rt.variant @large_clusters target "sm_90a" {
  func.func @main(%x: tensor<5x3x1x1x12xf32>, %r: tensor<1x12x1x12xf32>, %h: tensor<1x3x12xf32>) -> tensor<1x3x12xf32> {
    %e = tensor.empty() : tensor<1x3x12xf32>
    // expected-error@+1 {{schedule 'recurrence': blocks of 32 must be a power of two, at most 16, that divides 12 units}}
    %s = kernel.dispatch ins(%x, %r, %h : tensor<5x3x1x1x12xf32>, tensor<1x12x1x12xf32>, tensor<1x3x12xf32>)
        outs(%e : tensor<1x3x12xf32>) schedule <"recurrence", {blocks = 32 : i64, deep = 4 : i64, parts = 1 : i64, rows = 1 : i64, threads = 32 : i64, vector = 4 : i64}> {
    ^bb0(%a: tensor<5x3x1x1x12xf32>, %b: tensor<1x12x1x12xf32>, %c: tensor<1x3x12xf32>, %l: tensor<1x3x12xf32>):
      %q = kernel.recurrence input(%a : tensor<5x3x1x1x12xf32>) weights(%b : tensor<1x12x1x12xf32>)
          initial(%c : tensor<1x3x12xf32>) outs(%l : tensor<1x3x12xf32>) phases [1] reverse [false] {
      ^bb1(%direction: index, %i: f32, %m: f32, %before: f32):
        kernel.yield %m : f32
      } -> tensor<1x3x12xf32>
      kernel.yield %q : tensor<1x3x12xf32>
    } -> tensor<1x3x12xf32>
    return %s : tensor<1x3x12xf32>
  }
}

// -----

rt.variant @odd_clusters target "sm_90" {
  func.func @main(%x: tensor<5x3x1x1x12xf32>, %r: tensor<1x12x1x12xf32>, %h: tensor<1x3x12xf32>) -> tensor<1x3x12xf32> {
    %e = tensor.empty() : tensor<1x3x12xf32>
    // expected-error@+1 {{schedule 'recurrence': blocks of 8 must be a power of two, at most 8, that divides 12 units}}
    %s = kernel.dispatch ins(%x, %r, %h : tensor<5x3x1x1x12xf32>, tensor<1x12x1x12xf32>, tensor<1x3x12xf32>)
        outs(%e : tensor<1x3x12xf32>) schedule <"recurrence", {blocks = 8 : i64, deep = 4 : i64, parts = 1 : i64, rows = 1 : i64, threads = 32 : i64, vector = 4 : i64}> {
    ^bb0(%a: tensor<5x3x1x1x12xf32>, %b: tensor<1x12x1x12xf32>, %c: tensor<1x3x12xf32>, %l: tensor<1x3x12xf32>):
      %q = kernel.recurrence input(%a : tensor<5x3x1x1x12xf32>) weights(%b : tensor<1x12x1x12xf32>)
          initial(%c : tensor<1x3x12xf32>) outs(%l : tensor<1x3x12xf32>) phases [1] reverse [false] {
      ^bb1(%direction: index, %i: f32, %m: f32, %before: f32):
        kernel.yield %m : f32
      } -> tensor<1x3x12xf32>
      kernel.yield %q : tensor<1x3x12xf32>
    } -> tensor<1x3x12xf32>
    return %s : tensor<1x3x12xf32>
  }
}

// -----

rt.variant @missing_of_step target "sm_80" {
  func.func @main(%x: tensor<5x3x1x1x12xf32>, %r: tensor<1x12x1x12xf32>, %h: tensor<1x3x12xf32>) -> tensor<1x3x12xf32> {
    %e = tensor.empty() : tensor<1x3x12xf32>
    // expected-error@+1 {{schedule 'recurrence': needs blocks, deep, parts, rows, threads and vector, or blocks, an instruction of [16, 8, 16] and threads; with steps of 1 deep, parts, rows and threads, or an instruction and splits}}
    %s = kernel.dispatch ins(%x, %r, %h : tensor<5x3x1x1x12xf32>, tensor<1x12x1x12xf32>, tensor<1x3x12xf32>)
        outs(%e : tensor<1x3x12xf32>) schedule <"recurrence", {deep = 4 : i64, parts = 2 : i64, rows = 1 : i64, steps = 1 : i64}> {
    ^bb0(%a: tensor<5x3x1x1x12xf32>, %b: tensor<1x12x1x12xf32>, %c: tensor<1x3x12xf32>, %l: tensor<1x3x12xf32>):
      %q = kernel.recurrence input(%a : tensor<5x3x1x1x12xf32>) weights(%b : tensor<1x12x1x12xf32>)
          initial(%c : tensor<1x3x12xf32>) outs(%l : tensor<1x3x12xf32>) phases [1] reverse [false] {
      ^bb1(%direction: index, %i: f32, %m: f32, %before: f32):
        kernel.yield %m : f32
      } -> tensor<1x3x12xf32>
      kernel.yield %q : tensor<1x3x12xf32>
    } -> tensor<1x3x12xf32>
    return %s : tensor<1x3x12xf32>
  }
}

// -----

rt.variant @powers_of_step target "sm_80" {
  func.func @main(%x: tensor<5x3x1x1x12xf32>, %r: tensor<1x12x1x12xf32>, %h: tensor<1x3x12xf32>) -> tensor<1x3x12xf32> {
    %e = tensor.empty() : tensor<1x3x12xf32>
    // expected-error@+1 {{schedule 'recurrence': rows of 1, parts of 3 and deep of 4 must be powers of two, at most 8, 32 and 8}}
    %s = kernel.dispatch ins(%x, %r, %h : tensor<5x3x1x1x12xf32>, tensor<1x12x1x12xf32>, tensor<1x3x12xf32>)
        outs(%e : tensor<1x3x12xf32>) schedule <"recurrence", {deep = 4 : i64, parts = 3 : i64, rows = 1 : i64, steps = 1 : i64, threads = 32 : i64}> {
    ^bb0(%a: tensor<5x3x1x1x12xf32>, %b: tensor<1x12x1x12xf32>, %c: tensor<1x3x12xf32>, %l: tensor<1x3x12xf32>):
      %q = kernel.recurrence input(%a : tensor<5x3x1x1x12xf32>) weights(%b : tensor<1x12x1x12xf32>)
          initial(%c : tensor<1x3x12xf32>) outs(%l : tensor<1x3x12xf32>) phases [1] reverse [false] {
      ^bb1(%direction: index, %i: f32, %m: f32, %before: f32):
        kernel.yield %m : f32
      } -> tensor<1x3x12xf32>
      kernel.yield %q : tensor<1x3x12xf32>
    } -> tensor<1x3x12xf32>
    return %s : tensor<1x3x12xf32>
  }
}

// -----

rt.variant @depth_of_step target "sm_80" {
  func.func @main(%x: tensor<5x3x1x1x12xf32>, %r: tensor<1x12x1x12xf32>, %h: tensor<1x3x12xf32>) -> tensor<1x3x12xf32> {
    %e = tensor.empty() : tensor<1x3x12xf32>
    // expected-error@+1 {{schedule 'recurrence': 12 units must be a multiple of deep, 8}}
    %s = kernel.dispatch ins(%x, %r, %h : tensor<5x3x1x1x12xf32>, tensor<1x12x1x12xf32>, tensor<1x3x12xf32>)
        outs(%e : tensor<1x3x12xf32>) schedule <"recurrence", {deep = 8 : i64, parts = 2 : i64, rows = 1 : i64, steps = 1 : i64, threads = 32 : i64}> {
    ^bb0(%a: tensor<5x3x1x1x12xf32>, %b: tensor<1x12x1x12xf32>, %c: tensor<1x3x12xf32>, %l: tensor<1x3x12xf32>):
      %q = kernel.recurrence input(%a : tensor<5x3x1x1x12xf32>) weights(%b : tensor<1x12x1x12xf32>)
          initial(%c : tensor<1x3x12xf32>) outs(%l : tensor<1x3x12xf32>) phases [1] reverse [false] {
      ^bb1(%direction: index, %i: f32, %m: f32, %before: f32):
        kernel.yield %m : f32
      } -> tensor<1x3x12xf32>
      kernel.yield %q : tensor<1x3x12xf32>
    } -> tensor<1x3x12xf32>
    return %s : tensor<1x3x12xf32>
  }
}

// -----

rt.variant @threads_of_step target "sm_80" {
  func.func @main(%x: tensor<5x3x1x1x12xf32>, %r: tensor<1x12x1x12xf32>, %h: tensor<1x3x12xf32>) -> tensor<1x3x12xf32> {
    %e = tensor.empty() : tensor<1x3x12xf32>
    // expected-error@+1 {{schedule 'recurrence': threads of 40 must be a multiple of 32 up to 1024}}
    %s = kernel.dispatch ins(%x, %r, %h : tensor<5x3x1x1x12xf32>, tensor<1x12x1x12xf32>, tensor<1x3x12xf32>)
        outs(%e : tensor<1x3x12xf32>) schedule <"recurrence", {deep = 4 : i64, parts = 2 : i64, rows = 1 : i64, steps = 1 : i64, threads = 40 : i64}> {
    ^bb0(%a: tensor<5x3x1x1x12xf32>, %b: tensor<1x12x1x12xf32>, %c: tensor<1x3x12xf32>, %l: tensor<1x3x12xf32>):
      %q = kernel.recurrence input(%a : tensor<5x3x1x1x12xf32>) weights(%b : tensor<1x12x1x12xf32>)
          initial(%c : tensor<1x3x12xf32>) outs(%l : tensor<1x3x12xf32>) phases [1] reverse [false] {
      ^bb1(%direction: index, %i: f32, %m: f32, %before: f32):
        kernel.yield %m : f32
      } -> tensor<1x3x12xf32>
      kernel.yield %q : tensor<1x3x12xf32>
    } -> tensor<1x3x12xf32>
    return %s : tensor<1x3x12xf32>
  }
}

// -----

rt.variant @no_matrices_of_step target "sm_80" {
  func.func @main(%x: tensor<5x3x1x1x12xf32>, %r: tensor<1x12x1x12xf32>, %h: tensor<1x3x12xf32>) -> tensor<1x3x12xf32> {
    %e = tensor.empty() : tensor<1x3x12xf32>
    // expected-error@+1 {{schedule 'recurrence': its weights are not what matrix instructions take}}
    %s = kernel.dispatch ins(%x, %r, %h : tensor<5x3x1x1x12xf32>, tensor<1x12x1x12xf32>, tensor<1x3x12xf32>)
        outs(%e : tensor<1x3x12xf32>) schedule <"recurrence", {instruction = array<i64: 16, 8, 16>, splits = 1 : i64, steps = 1 : i64}> {
    ^bb0(%a: tensor<5x3x1x1x12xf32>, %b: tensor<1x12x1x12xf32>, %c: tensor<1x3x12xf32>, %l: tensor<1x3x12xf32>):
      %q = kernel.recurrence input(%a : tensor<5x3x1x1x12xf32>) weights(%b : tensor<1x12x1x12xf32>)
          initial(%c : tensor<1x3x12xf32>) outs(%l : tensor<1x3x12xf32>) phases [1] reverse [false] {
      ^bb1(%direction: index, %i: f32, %m: f32, %before: f32):
        kernel.yield %m : f32
      } -> tensor<1x3x12xf32>
      kernel.yield %q : tensor<1x3x12xf32>
    } -> tensor<1x3x12xf32>
    return %s : tensor<1x3x12xf32>
  }
}

// -----

rt.variant @splits_of_step target "sm_80" {
  func.func @main(%x: tensor<5x3x1x1x16xf32>, %r: tensor<1x1x16x16xf16>, %h: tensor<1x3x16xf16>) -> tensor<1x3x16xf16> {
    %e = tensor.empty() : tensor<1x3x16xf16>
    // expected-error@+1 {{schedule 'recurrence': splits of 2 must be a power of two, at most 32, by which 16 units are steps of 16}}
    %s = kernel.dispatch ins(%x, %r, %h : tensor<5x3x1x1x16xf32>, tensor<1x1x16x16xf16>, tensor<1x3x16xf16>)
        outs(%e : tensor<1x3x16xf16>) schedule <"recurrence", {instruction = array<i64: 16, 8, 16>, splits = 2 : i64, steps = 1 : i64}> {
    ^bb0(%a: tensor<5x3x1x1x16xf32>, %b: tensor<1x1x16x16xf16>, %c: tensor<1x3x16xf16>, %l: tensor<1x3x16xf16>):
      %t = tensor.empty() : tensor<1x16x1x16xf16>
      %w = linalg.generic {indexing_maps = [affine_map<(d, k, g, j) -> (d, g, j, k)>, affine_map<(d, k, g, j) -> (d, k, g, j)>],
                           iterator_types = ["parallel", "parallel", "parallel", "parallel"]}
          ins(%b : tensor<1x1x16x16xf16>) outs(%t : tensor<1x16x1x16xf16>) {
      ^bb1(%p: f16, %o: f16):
        linalg.yield %p : f16
      } -> tensor<1x16x1x16xf16>
      %q = kernel.recurrence input(%a : tensor<5x3x1x1x16xf32>) weights(%w : tensor<1x16x1x16xf16>)
          initial(%c : tensor<1x3x16xf16>) outs(%l : tensor<1x3x16xf16>) phases [1] reverse [false] {
      ^bb1(%direction: index, %i: f32, %m: f32, %before: f32):
        kernel.yield %m : f32
      } -> tensor<1x3x16xf16>
      kernel.yield %q : tensor<1x3x16xf16>
    } -> tensor<1x3x16xf16>
    return %s : tensor<1x3x16xf16>
  }
}

// -----

rt.variant @sums_of_step target "sm_80" {
  func.func @main(%x: tensor<5x3x1x9x12xf32>, %r: tensor<1x12x9x12xf32>, %h: tensor<1x3x12xf32>) -> tensor<1x3x12xf32> {
    %e = tensor.empty() : tensor<1x3x12xf32>
    // expected-error@+1 {{schedule 'recurrence': a thread would have 72 sums; at most 64}}
    %s = kernel.dispatch ins(%x, %r, %h : tensor<5x3x1x9x12xf32>, tensor<1x12x9x12xf32>, tensor<1x3x12xf32>)
        outs(%e : tensor<1x3x12xf32>) schedule <"recurrence", {deep = 4 : i64, parts = 2 : i64, rows = 8 : i64, steps = 1 : i64, threads = 32 : i64}> {
    ^bb0(%a: tensor<5x3x1x9x12xf32>, %b: tensor<1x12x9x12xf32>, %c: tensor<1x3x12xf32>, %l: tensor<1x3x12xf32>):
      %q = kernel.recurrence input(%a : tensor<5x3x1x9x12xf32>) weights(%b : tensor<1x12x9x12xf32>)
          initial(%c : tensor<1x3x12xf32>) outs(%l : tensor<1x3x12xf32>) phases [9] reverse [false] {
      ^bb1(%direction: index, %i0: f32, %i1: f32, %i2: f32, %i3: f32, %i4: f32, %i5: f32, %i6: f32, %i7: f32, %i8: f32, %m0: f32, %m1: f32, %m2: f32, %m3: f32, %m4: f32, %m5: f32, %m6: f32, %m7: f32, %m8: f32, %before: f32):
        kernel.yield %m0 : f32
      } -> tensor<1x3x12xf32>
      kernel.yield %q : tensor<1x3x12xf32>
    } -> tensor<1x3x12xf32>
    return %s : tensor<1x3x12xf32>
  }
}
