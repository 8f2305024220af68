// RUN: cameo-opt %s --split-input-file --pass-pipeline='builtin.module(rt.variant(cameo-assign-schedules))' | FileCheck %s

// Elementwise work on a product, a window or a scan: several operations, the root as any operand, and used
// twice.

// CHECK-LABEL: rt.variant @product_and_residual
// CHECK: schedule <"contraction"
#a = affine_map<(m, n, k) -> (m, k)>
#b = affine_map<(m, n, k) -> (k, n)>
#c = affine_map<(m, n, k) -> (m, n)>
#id = affine_map<(m, n) -> (m, n)>
#row = affine_map<(m, n) -> (n)>
rt.variant @product_and_residual target "sm_80" {
  func.func @main(%x: tensor<64x32xf32>, %w: tensor<32x64xf32>, %t: tensor<64xf32>, %r: tensor<64x64xf32>)
      -> tensor<64x64xf32> {
    %e = tensor.empty() : tensor<64x64xf32>
    %y = kernel.dispatch
        ins(%x, %w, %t, %r : tensor<64x32xf32>, tensor<32x64xf32>, tensor<64xf32>, tensor<64x64xf32>)
        outs(%e : tensor<64x64xf32>) {
    ^bb0(%l: tensor<64x32xf32>, %m: tensor<32x64xf32>, %bias: tensor<64xf32>, %before: tensor<64x64xf32>,
         %o: tensor<64x64xf32>):
      %z = arith.constant 0.0 : f32
      %f = linalg.fill ins(%z : f32) outs(%o : tensor<64x64xf32>) -> tensor<64x64xf32>
      %g = linalg.generic {indexing_maps = [#a, #b, #c],
                           iterator_types = ["parallel", "parallel", "reduction"]}
          ins(%l, %m : tensor<64x32xf32>, tensor<32x64xf32>) outs(%f : tensor<64x64xf32>) {
      ^bb1(%u: f32, %v: f32, %s: f32):
        %q = math.fma %u, %v, %s : f32
        linalg.yield %q : f32
      } -> tensor<64x64xf32>
      %h = linalg.generic {indexing_maps = [#row, #id, #id], iterator_types = ["parallel", "parallel"]}
          ins(%bias, %g : tensor<64xf32>, tensor<64x64xf32>) outs(%o : tensor<64x64xf32>) {
      ^bb1(%u: f32, %v: f32, %s: f32):
        %q = arith.addf %u, %v : f32
        linalg.yield %q : f32
      } -> tensor<64x64xf32>
      %i = linalg.generic {indexing_maps = [#id, #id, #id], iterator_types = ["parallel", "parallel"]}
          ins(%before, %h : tensor<64x64xf32>, tensor<64x64xf32>) outs(%o : tensor<64x64xf32>) {
      ^bb1(%u: f32, %v: f32, %s: f32):
        %q = arith.addf %u, %v : f32
        %p = arith.maximumf %q, %z : f32
        linalg.yield %p : f32
      } -> tensor<64x64xf32>
      kernel.yield %i : tensor<64x64xf32>
    } -> tensor<64x64xf32>
    return %y : tensor<64x64xf32>
  }
}

// -----

// A scan and its double.
// CHECK-LABEL: rt.variant @scan
// CHECK: schedule <"scan"
#id = affine_map<(i, j) -> (i, j)>
rt.variant @scan target "sm_80" {
  func.func @main(%x: tensor<3x256xf32>) -> tensor<3x256xf32> {
    %e = tensor.empty() : tensor<3x256xf32>
    %y = kernel.dispatch ins(%x : tensor<3x256xf32>) outs(%e : tensor<3x256xf32>) {
    ^bb0(%l: tensor<3x256xf32>, %o: tensor<3x256xf32>):
      %s = kernel.scan add %l, %o {axis = 1 : i64} : tensor<3x256xf32>
      %g = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel", "parallel"]}
          ins(%s : tensor<3x256xf32>) outs(%o : tensor<3x256xf32>) {
      ^bb1(%u: f32, %t: f32):
        %q = math.exp %u : f32
        linalg.yield %q : f32
      } -> tensor<3x256xf32>
      %h = linalg.generic {indexing_maps = [#id, #id, #id], iterator_types = ["parallel", "parallel"]}
          ins(%g, %s : tensor<3x256xf32>, tensor<3x256xf32>) outs(%o : tensor<3x256xf32>) {
      ^bb1(%u: f32, %v: f32, %t: f32):
        %q = arith.addf %u, %v : f32
        linalg.yield %q : f32
      } -> tensor<3x256xf32>
      kernel.yield %h : tensor<3x256xf32>
    } -> tensor<3x256xf32>
    return %y : tensor<3x256xf32>
  }
}

// -----

// A pool of one row, subtracted from something.
// CHECK-LABEL: rt.variant @window
// CHECK: schedule <"window"
#in = affine_map<(c, x, k) -> (c, x + k)>
#taps = affine_map<(c, x, k) -> (k)>
#out = affine_map<(c, x, k) -> (c, x)>
#id = affine_map<(c, x) -> (c, x)>
rt.variant @window target "sm_80" {
  func.func @main(%x: tensor<4x66xf32>, %r: tensor<4x64xf32>) -> tensor<4x64xf32> {
    %e = tensor.empty() : tensor<4x64xf32>
    %y = kernel.dispatch ins(%x, %r : tensor<4x66xf32>, tensor<4x64xf32>) outs(%e : tensor<4x64xf32>) {
    ^bb0(%l: tensor<4x66xf32>, %m: tensor<4x64xf32>, %o: tensor<4x64xf32>):
      %z = arith.constant 0.0 : f32
      %f = linalg.fill ins(%z : f32) outs(%o : tensor<4x64xf32>) -> tensor<4x64xf32>
      %n = tensor.empty() : tensor<3xf32>
      %g = linalg.generic {indexing_maps = [#in, #taps, #out],
                           iterator_types = ["parallel", "parallel", "reduction"]}
          ins(%l, %n : tensor<4x66xf32>, tensor<3xf32>) outs(%f : tensor<4x64xf32>) {
      ^bb1(%u: f32, %v: f32, %s: f32):
        %q = arith.addf %u, %s : f32
        linalg.yield %q : f32
      } -> tensor<4x64xf32>
      %h = linalg.generic {indexing_maps = [#id, #id, #id], iterator_types = ["parallel", "parallel"]}
          ins(%m, %g : tensor<4x64xf32>, tensor<4x64xf32>) outs(%o : tensor<4x64xf32>) {
      ^bb1(%u: f32, %v: f32, %s: f32):
        %q = arith.subf %u, %v : f32
        linalg.yield %q : f32
      } -> tensor<4x64xf32>
      kernel.yield %h : tensor<4x64xf32>
    } -> tensor<4x64xf32>
    return %y : tensor<4x64xf32>
  }
}

// -----

// Not where elements of the product are read at another place.
// CHECK-LABEL: rt.variant @product_transposed
// CHECK-NOT: contraction
// CHECK: schedule <"map"
// CHECK-NOT: contraction
#a = affine_map<(m, n, k) -> (m, k)>
#b = affine_map<(m, n, k) -> (k, n)>
#c = affine_map<(m, n, k) -> (m, n)>
#id = affine_map<(m, n) -> (m, n)>
#turn = affine_map<(m, n) -> (n, m)>
rt.variant @product_transposed target "sm_80" {
  func.func @main(%x: tensor<64x16xf32>, %w: tensor<16x64xf32>) -> tensor<64x64xf32> {
    %e = tensor.empty() : tensor<64x64xf32>
    %y = kernel.dispatch ins(%x, %w : tensor<64x16xf32>, tensor<16x64xf32>) outs(%e : tensor<64x64xf32>) {
    ^bb0(%l: tensor<64x16xf32>, %m: tensor<16x64xf32>, %o: tensor<64x64xf32>):
      %z = arith.constant 0.0 : f32
      %f = linalg.fill ins(%z : f32) outs(%o : tensor<64x64xf32>) -> tensor<64x64xf32>
      %g = linalg.generic {indexing_maps = [#a, #b, #c],
                           iterator_types = ["parallel", "parallel", "reduction"]}
          ins(%l, %m : tensor<64x16xf32>, tensor<16x64xf32>) outs(%f : tensor<64x64xf32>) {
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
