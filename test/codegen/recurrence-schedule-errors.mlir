// RUN: cameo-opt %s --split-input-file --verify-diagnostics --pass-pipeline='builtin.module(rt.variant(cameo-lower-dispatches))'

rt.variant @missing target "sm_80" {
  func.func @main(%x: tensor<5x3x1x1x12xf32>, %r: tensor<1x12x1x12xf32>, %h: tensor<1x3x12xf32>) -> tensor<1x3x12xf32> {
    %e = tensor.empty() : tensor<1x3x12xf32>
    // expected-error@+1 {{schedule 'recurrence': needs deep, parts, rows, threads and vector}}
    %s = kernel.dispatch ins(%x, %r, %h : tensor<5x3x1x1x12xf32>, tensor<1x12x1x12xf32>, tensor<1x3x12xf32>)
        outs(%e : tensor<1x3x12xf32>) schedule <"recurrence", {deep = 4 : i64, parts = 1 : i64, rows = 1 : i64, threads = 32 : i64}> {
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
        outs(%e : tensor<1x3x12xf32>) schedule <"recurrence", {deep = 4 : i64, parts = 1 : i64, rows = 3 : i64, threads = 32 : i64, vector = 4 : i64}> {
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
        outs(%e : tensor<1x3x12xf32>) schedule <"recurrence", {deep = 4 : i64, parts = 1 : i64, rows = 1 : i64, threads = 32 : i64, vector = 8 : i64}> {
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
        outs(%e : tensor<1x3x12xf32>) schedule <"recurrence", {deep = 4 : i64, parts = 2 : i64, rows = 1 : i64, threads = 32 : i64, vector = 4 : i64}> {
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
        outs(%e : tensor<1x3x12xf32>) schedule <"recurrence", {deep = 4 : i64, parts = 1 : i64, rows = 1 : i64, threads = 40 : i64, vector = 4 : i64}> {
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
