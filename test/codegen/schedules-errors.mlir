// RUN: cameo-opt %s --split-input-file --verify-diagnostics --pass-pipeline='builtin.module(rt.variant(cameo-lower-dispatches))'

#v = affine_map<(d0) -> (d0)>
rt.variant @missing target "sm_80" {
  func.func @main(%x: tensor<8xf32>) -> tensor<8xf32> {
    %e = tensor.empty() : tensor<8xf32>
    // expected-error@+1 {{has no schedule}}
    %r = kernel.dispatch ins(%x : tensor<8xf32>) outs(%e : tensor<8xf32>) {
    ^bb0(%a: tensor<8xf32>, %o: tensor<8xf32>):
      %g = linalg.generic {indexing_maps = [#v, #v], iterator_types = ["parallel"]}
          ins(%a : tensor<8xf32>) outs(%o : tensor<8xf32>) {
      ^bb1(%p: f32, %w: f32):
        linalg.yield %p : f32
      } -> tensor<8xf32>
      kernel.yield %g : tensor<8xf32>
    } -> tensor<8xf32>
    return %r : tensor<8xf32>
  }
}

// -----

#v = affine_map<(d0) -> (d0)>
rt.variant @unknown target "sm_80" {
  func.func @main(%x: tensor<8xf32>) -> tensor<8xf32> {
    %e = tensor.empty() : tensor<8xf32>
    // expected-error@+1 {{no schedule class is called 'magic'; known: skinny mma contraction window rows columns scan recurrence sort choose insert transpose map}}
    %r = kernel.dispatch ins(%x : tensor<8xf32>) outs(%e : tensor<8xf32>) schedule <"magic", {}> {
    ^bb0(%a: tensor<8xf32>, %o: tensor<8xf32>):
      %g = linalg.generic {indexing_maps = [#v, #v], iterator_types = ["parallel"]}
          ins(%a : tensor<8xf32>) outs(%o : tensor<8xf32>) {
      ^bb1(%p: f32, %w: f32):
        linalg.yield %p : f32
      } -> tensor<8xf32>
      kernel.yield %g : tensor<8xf32>
    } -> tensor<8xf32>
    return %r : tensor<8xf32>
  }
}

// -----

#v = affine_map<(d0) -> (d0)>
rt.variant @threads target "sm_80" {
  func.func @main(%x: tensor<8xf32>) -> tensor<8xf32> {
    %e = tensor.empty() : tensor<8xf32>
    // expected-error@+1 {{schedule 'map' asks for 2048 threads; sm_80 allows 1 to 1024}}
    %r = kernel.dispatch ins(%x : tensor<8xf32>) outs(%e : tensor<8xf32>) schedule <"map", {flat = true, threads = 2048 : i64, vector = 1 : i64}> {
    ^bb0(%a: tensor<8xf32>, %o: tensor<8xf32>):
      %g = linalg.generic {indexing_maps = [#v, #v], iterator_types = ["parallel"]}
          ins(%a : tensor<8xf32>) outs(%o : tensor<8xf32>) {
      ^bb1(%p: f32, %w: f32):
        linalg.yield %p : f32
      } -> tensor<8xf32>
      kernel.yield %g : tensor<8xf32>
    } -> tensor<8xf32>
    return %r : tensor<8xf32>
  }
}

// -----

#v = affine_map<(d0) -> (d0)>
rt.variant @vector target "sm_80" {
  func.func @main(%x: tensor<8xf32>) -> tensor<8xf32> {
    %e = tensor.empty() : tensor<8xf32>
    // expected-error@+1 {{schedule 'map': vector 3 is not 1, 2, 4, 8 or 16}}
    %r = kernel.dispatch ins(%x : tensor<8xf32>) outs(%e : tensor<8xf32>) schedule <"map", {flat = true, threads = 32 : i64, vector = 3 : i64}> {
    ^bb0(%a: tensor<8xf32>, %o: tensor<8xf32>):
      %g = linalg.generic {indexing_maps = [#v, #v], iterator_types = ["parallel"]}
          ins(%a : tensor<8xf32>) outs(%o : tensor<8xf32>) {
      ^bb1(%p: f32, %w: f32):
        linalg.yield %p : f32
      } -> tensor<8xf32>
      kernel.yield %g : tensor<8xf32>
    } -> tensor<8xf32>
    return %r : tensor<8xf32>
  }
}

// -----

#v = affine_map<(d0) -> (d0)>
rt.variant @parameters target "sm_80" {
  func.func @main(%x: tensor<8xf32>) -> tensor<8xf32> {
    %e = tensor.empty() : tensor<8xf32>
    // expected-error@+1 {{schedule 'map' needs threads, vector and flat}}
    %r = kernel.dispatch ins(%x : tensor<8xf32>) outs(%e : tensor<8xf32>) schedule <"map", {threads = 32 : i64}> {
    ^bb0(%a: tensor<8xf32>, %o: tensor<8xf32>):
      %g = linalg.generic {indexing_maps = [#v, #v], iterator_types = ["parallel"]}
          ins(%a : tensor<8xf32>) outs(%o : tensor<8xf32>) {
      ^bb1(%p: f32, %w: f32):
        linalg.yield %p : f32
      } -> tensor<8xf32>
      kernel.yield %g : tensor<8xf32>
    } -> tensor<8xf32>
    return %r : tensor<8xf32>
  }
}

// -----

#v = affine_map<(d0) -> (d0)>
rt.variant @family target "sm_80" {
  func.func @main(%x: tensor<8xf32>) -> tensor<8xf32> {
    %e = tensor.empty() : tensor<8xf32>
    // expected-error@+1 {{schedule 'rows' cannot compute this dispatch}}
    %r = kernel.dispatch ins(%x : tensor<8xf32>) outs(%e : tensor<8xf32>) schedule <"rows", {threads = 32 : i64}> {
    ^bb0(%a: tensor<8xf32>, %o: tensor<8xf32>):
      %g = linalg.generic {indexing_maps = [#v, #v], iterator_types = ["parallel"]}
          ins(%a : tensor<8xf32>) outs(%o : tensor<8xf32>) {
      ^bb1(%p: f32, %w: f32):
        linalg.yield %p : f32
      } -> tensor<8xf32>
      kernel.yield %g : tensor<8xf32>
    } -> tensor<8xf32>
    return %r : tensor<8xf32>
  }
}

// -----

#in = affine_map<(i, j) -> (i, j)>
#out = affine_map<(i, j) -> (i)>
rt.variant @rows_threads target "sm_80" {
  func.func @main(%x: tensor<64x128xf32>) -> tensor<64xf32> {
    %e = tensor.empty() : tensor<64xf32>
    // expected-error@+1 {{schedule 'rows' needs rows, vector and threads, a multiple of 32 up to 1024}}
    %r = kernel.dispatch ins(%x : tensor<64x128xf32>) outs(%e : tensor<64xf32>) schedule <"rows", {rows = 1 : i64, threads = 48 : i64, vector = 4 : i64}> {
    ^bb0(%a: tensor<64x128xf32>, %o: tensor<64xf32>):
      %z = arith.constant 0.0 : f32
      %f = linalg.fill ins(%z : f32) outs(%o : tensor<64xf32>) -> tensor<64xf32>
      %g = linalg.generic {indexing_maps = [#in, #out], iterator_types = ["parallel", "reduction"]}
          ins(%a : tensor<64x128xf32>) outs(%f : tensor<64xf32>) {
      ^bb1(%v: f32, %w: f32):
        %q = arith.addf %v, %w : f32
        linalg.yield %q : f32
      } -> tensor<64xf32>
      kernel.yield %g : tensor<64xf32>
    } -> tensor<64xf32>
    return %r : tensor<64xf32>
  }
}

// -----

#in = affine_map<(i, j) -> (i, j)>
#out = affine_map<(i, j) -> (i)>
rt.variant @rows_vector target "sm_80" {
  func.func @main(%x: tensor<64x128xf32>) -> tensor<64xf32> {
    %e = tensor.empty() : tensor<64xf32>
    // expected-error@+1 {{schedule 'rows': vector 3 is not 1, 2, 4, 8 or 16}}
    %r = kernel.dispatch ins(%x : tensor<64x128xf32>) outs(%e : tensor<64xf32>) schedule <"rows", {rows = 1 : i64, threads = 64 : i64, vector = 3 : i64}> {
    ^bb0(%a: tensor<64x128xf32>, %o: tensor<64xf32>):
      %z = arith.constant 0.0 : f32
      %f = linalg.fill ins(%z : f32) outs(%o : tensor<64xf32>) -> tensor<64xf32>
      %g = linalg.generic {indexing_maps = [#in, #out], iterator_types = ["parallel", "reduction"]}
          ins(%a : tensor<64x128xf32>) outs(%f : tensor<64xf32>) {
      ^bb1(%v: f32, %w: f32):
        %q = arith.addf %v, %w : f32
        linalg.yield %q : f32
      } -> tensor<64xf32>
      kernel.yield %g : tensor<64xf32>
    } -> tensor<64xf32>
    return %r : tensor<64xf32>
  }
}

// -----

#in = affine_map<(i, j) -> (i, j)>
#out = affine_map<(i, j) -> (i)>
rt.variant @rows_shared target "sm_80" {
  func.func @main(%x: tensor<64x128xf32>) -> tensor<64xf32> {
    %e = tensor.empty() : tensor<64xf32>
    // expected-error@+1 {{schedule 'rows': 128 threads cannot share 2 rows}}
    %r = kernel.dispatch ins(%x : tensor<64x128xf32>) outs(%e : tensor<64xf32>) schedule <"rows", {rows = 2 : i64, threads = 128 : i64, vector = 4 : i64}> {
    ^bb0(%a: tensor<64x128xf32>, %o: tensor<64xf32>):
      %z = arith.constant 0.0 : f32
      %f = linalg.fill ins(%z : f32) outs(%o : tensor<64xf32>) -> tensor<64xf32>
      %g = linalg.generic {indexing_maps = [#in, #out], iterator_types = ["parallel", "reduction"]}
          ins(%a : tensor<64x128xf32>) outs(%f : tensor<64xf32>) {
      ^bb1(%v: f32, %w: f32):
        %q = arith.addf %v, %w : f32
        linalg.yield %q : f32
      } -> tensor<64xf32>
      kernel.yield %g : tensor<64xf32>
    } -> tensor<64xf32>
    return %r : tensor<64xf32>
  }
}

// -----

#in = affine_map<(i, j) -> (i, j)>
#out = affine_map<(i, j) -> (j)>
rt.variant @columns_vector target "sm_80" {
  func.func @main(%x: tensor<64x30xf32>) -> tensor<30xf32> {
    %e = tensor.empty() : tensor<30xf32>
    // expected-error@+1 {{schedule 'columns': vector 4 does not divide the rows beside one another}}
    %r = kernel.dispatch ins(%x : tensor<64x30xf32>) outs(%e : tensor<30xf32>) schedule <"columns", {rows = 32 : i64, threads = 64 : i64, vector = 4 : i64}> {
    ^bb0(%a: tensor<64x30xf32>, %o: tensor<30xf32>):
      %z = arith.constant 0.0 : f32
      %f = linalg.fill ins(%z : f32) outs(%o : tensor<30xf32>) -> tensor<30xf32>
      %g = linalg.generic {indexing_maps = [#in, #out], iterator_types = ["reduction", "parallel"]}
          ins(%a : tensor<64x30xf32>) outs(%f : tensor<30xf32>) {
      ^bb1(%v: f32, %w: f32):
        %q = arith.addf %v, %w : f32
        linalg.yield %q : f32
      } -> tensor<30xf32>
      kernel.yield %g : tensor<30xf32>
    } -> tensor<30xf32>
    return %r : tensor<30xf32>
  }
}

// -----

#in = affine_map<(i, j) -> (i, j)>
#out = affine_map<(i, j) -> (j)>
rt.variant @columns_share target "sm_80" {
  func.func @main(%x: tensor<64x32xf32>) -> tensor<32xf32> {
    %e = tensor.empty() : tensor<32xf32>
    // expected-error@+1 {{schedule 'columns': 64 threads cannot share 2 rows by vectors of 4}}
    %r = kernel.dispatch ins(%x : tensor<64x32xf32>) outs(%e : tensor<32xf32>) schedule <"columns", {rows = 2 : i64, threads = 64 : i64, vector = 4 : i64}> {
    ^bb0(%a: tensor<64x32xf32>, %o: tensor<32xf32>):
      %z = arith.constant 0.0 : f32
      %f = linalg.fill ins(%z : f32) outs(%o : tensor<32xf32>) -> tensor<32xf32>
      %g = linalg.generic {indexing_maps = [#in, #out], iterator_types = ["reduction", "parallel"]}
          ins(%a : tensor<64x32xf32>) outs(%f : tensor<32xf32>) {
      ^bb1(%v: f32, %w: f32):
        %q = arith.addf %v, %w : f32
        linalg.yield %q : f32
      } -> tensor<32xf32>
      kernel.yield %g : tensor<32xf32>
    } -> tensor<32xf32>
    return %r : tensor<32xf32>
  }
}

// -----

rt.variant @sort_threads target "sm_80" {
  func.func @main(%x: tensor<3x100xi64>) -> tensor<3x100xi64> {
    %e = tensor.empty() : tensor<3x100xi64>
    // expected-error@+1 {{schedule 'sort' needs threads, a multiple of 32 up to 1024}}
    %r = kernel.dispatch ins(%x : tensor<3x100xi64>) outs(%e : tensor<3x100xi64>) schedule <"sort", {threads = 48 : i64}> {
    ^bb0(%a: tensor<3x100xi64>, %o: tensor<3x100xi64>):
      %s = kernel.sort %a, %o {axis = 1 : i64, most = 100 : i64} : tensor<3x100xi64>
      kernel.yield %s : tensor<3x100xi64>
    } -> tensor<3x100xi64>
    return %r : tensor<3x100xi64>
  }
}

// -----

rt.variant @long_sort target "sm_80" {
  func.func @main(%x: tensor<3x?xi64>, %n: index) -> tensor<3x?xi64> {
    %e = tensor.empty(%n) : tensor<3x?xi64>
    // expected-error@+1 {{lines of up to 6145 elements take 49160 B of shared memory; static is 49152 B}}
    %r = kernel.dispatch ins(%x : tensor<3x?xi64>) outs(%e : tensor<3x?xi64>) schedule <"sort", {threads = 64 : i64}> {
    ^bb0(%a: tensor<3x?xi64>, %o: tensor<3x?xi64>):
      %s = kernel.sort %a, %o {axis = 1 : i64, most = 6145 : i64} : tensor<3x?xi64>
      kernel.yield %s : tensor<3x?xi64>
    } -> tensor<3x?xi64>
    return %r : tensor<3x?xi64>
  }
}

// -----

rt.variant @choose_threads target "sm_80" {
  func.func @main(%x: tensor<3x100xi1>, %p: tensor<3x100x100xi1>) -> tensor<3x100xi1> {
    %e = tensor.empty() : tensor<3x100xi1>
    // expected-error@+1 {{schedule 'choose' needs threads, a multiple of 32 up to 1024}}
    %r = kernel.dispatch ins(%x, %p : tensor<3x100xi1>, tensor<3x100x100xi1>) outs(%e : tensor<3x100xi1>) schedule <"choose", {threads = 16 : i64}> {
    ^bb0(%a: tensor<3x100xi1>, %c: tensor<3x100x100xi1>, %o: tensor<3x100xi1>):
      %n = arith.constant 3 : index
      %s = kernel.choose %a conflicts %c limit %n, %o : tensor<3x100xi1>, tensor<3x100x100xi1>
      kernel.yield %s : tensor<3x100xi1>
    } -> tensor<3x100xi1>
    return %r : tensor<3x100xi1>
  }
}

// -----

// A slice has 4 elements in a row, which is as much as one access may have.
rt.variant @insert_vector target "sm_80" {
  func.func @main(%x: tensor<2x3x4xf32>, %p: tensor<2x3xi64>, %c: tensor<2x9x4xf32>) -> tensor<2x9x4xf32> {
    // expected-error@+1 {{schedule 'insert' needs vector, a divisor of 4}}
    %r = kernel.dispatch ins(%x, %p : tensor<2x3x4xf32>, tensor<2x3xi64>) outs(%c : tensor<2x9x4xf32>) schedule <"insert", {threads = 256 : i64, vector = 8 : i64}> {
    ^bb0(%a: tensor<2x3x4xf32>, %b: tensor<2x3xi64>, %o: tensor<2x9x4xf32>):
      %y = kernel.insert %a at %b into %o {axis = 1 : i64} : tensor<2x3x4xf32>, tensor<2x3xi64>, tensor<2x9x4xf32>
      kernel.yield %y : tensor<2x9x4xf32>
    } -> tensor<2x9x4xf32>
    return %r : tensor<2x9x4xf32>
  }
}

// -----

// A class of elements cannot leave what is there.
rt.variant @insert_map target "sm_80" {
  func.func @main(%x: tensor<2x3x4xf32>, %p: tensor<2x3xi64>, %c: tensor<2x9x4xf32>) -> tensor<2x9x4xf32> {
    // expected-error@+1 {{schedule 'map' cannot compute this dispatch}}
    %r = kernel.dispatch ins(%x, %p : tensor<2x3x4xf32>, tensor<2x3xi64>) outs(%c : tensor<2x9x4xf32>) schedule <"map", {flat = false, threads = 256 : i64, vector = 1 : i64}> {
    ^bb0(%a: tensor<2x3x4xf32>, %b: tensor<2x3xi64>, %o: tensor<2x9x4xf32>):
      %y = kernel.insert %a at %b into %o {axis = 1 : i64} : tensor<2x3x4xf32>, tensor<2x3xi64>, tensor<2x9x4xf32>
      kernel.yield %y : tensor<2x9x4xf32>
    } -> tensor<2x9x4xf32>
    return %r : tensor<2x9x4xf32>
  }
}
