// RUN: cameo-opt %s --split-input-file --pass-pipeline='builtin.module(rt.variant(cameo-assign-schedules))' | FileCheck %s --check-prefix=CHOICE
// RUN: cameo-opt %s --split-input-file --pass-pipeline='builtin.module(rt.variant(cameo-assign-schedules,cameo-lower-dispatches))' | FileCheck %s

// Depths are split where tiles do not fill the GPU: parts of the sums go to a workspace, and a second launch
// adds them, in order, and does the rest.

// A part has whole steps of depth: 512 of 4096, 32 of 16.
// CHOICE-LABEL: rt.variant @given
// CHOICE: schedule <"contraction", {{.*}}splits = 8
// CHECK-LABEL: rt.variant @given
// CHECK: %[[SPACE:.*]] = tensor.empty() : tensor<8x32x64xf32>
// CHECK: %[[PARTS:.*]] = rt.launch @[[K:.*]]::@[[K]] {{.*}}args(%{{.*}}, %{{.*}}, %[[SPACE]] :
// CHECK-SAME: tensor<8x32x64xf32>
// CHECK: %[[R:.*]] = rt.launch @[[S:.*]]::@[[S]] finishes @[[K]]::@[[K]] {{.*}}args(%[[PARTS]], %{{.*}} :
// CHECK: return %[[R]]
// CHECK: gpu.module @[[K]]
// CHECK: gpu.func @{{.*}}_parts(
// CHECK: kernel.store_fragment
// CHECK-NOT: math.absf
// CHECK: gpu.module @[[S]]
// CHECK: arith.addf
// CHECK: math.absf
#a = affine_map<(m, n, k) -> (m, k)>
#b = affine_map<(m, n, k) -> (k, n)>
#bt = affine_map<(m, n, k) -> (n, k)>
#y = affine_map<(m, n, k) -> (m, n)>
#id = affine_map<(m, n) -> (m, n)>
rt.variant @given target "sm_80" {
  func.func @main(%x: tensor<32x4096xf32>, %w: tensor<4096x64xf32>) -> tensor<32x64xf32> {
    %e = tensor.empty() : tensor<32x64xf32>
    %r = kernel.dispatch ins(%x, %w : tensor<32x4096xf32>, tensor<4096x64xf32>) outs(%e : tensor<32x64xf32>) schedule <"contraction", {column_vector = array<i64: 4, 1>, row_vector = array<i64: 1, 4>, splits = 8 : i64, store_vector = 4 : i64, thread = array<i64: 4, 4>, tile = array<i64: 32, 64, 16>}> {
    ^bb0(%a: tensor<32x4096xf32>, %b: tensor<4096x64xf32>, %o: tensor<32x64xf32>):
      %zero = arith.constant 0.0 : f32
      %f = linalg.fill ins(%zero : f32) outs(%o : tensor<32x64xf32>) -> tensor<32x64xf32>
      %g = linalg.generic {indexing_maps = [#a, #b, #y], iterator_types = ["parallel", "parallel", "reduction"]}
          ins(%a, %b : tensor<32x4096xf32>, tensor<4096x64xf32>) outs(%f : tensor<32x64xf32>) {
      ^bb1(%p: f32, %q: f32, %s: f32):
        %t = math.fma %p, %q, %s : f32
        linalg.yield %t : f32
      } -> tensor<32x64xf32>
      %h = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel", "parallel"]} ins(%g : tensor<32x64xf32>) outs(%o : tensor<32x64xf32>) {
      ^bb1(%v: f32, %z: f32):
        %l = math.absf %v : f32
        linalg.yield %l : f32
      } -> tensor<32x64xf32>
      kernel.yield %h : tensor<32x64xf32>
    } -> tensor<32x64xf32>
    return %r : tensor<32x64xf32>
  }
}

// -----

// Chosen on FP32 units and on Tensor Cores.
// CHOICE-LABEL: rt.variant @chosen
// CHOICE: schedule <"contraction", {{.*}}splits = {{[0-9]+}} : i64
#a = affine_map<(m, n, k) -> (m, k)>
#b = affine_map<(m, n, k) -> (k, n)>
#bt = affine_map<(m, n, k) -> (n, k)>
#y = affine_map<(m, n, k) -> (m, n)>
#id = affine_map<(m, n) -> (m, n)>
rt.variant @chosen target "sm_80" {
  func.func @main(%x: tensor<32x2048xf32>, %w: tensor<2048x1000xf32>) -> tensor<32x1000xf32> {
    %e = tensor.empty() : tensor<32x1000xf32>
    %r = kernel.dispatch ins(%x, %w : tensor<32x2048xf32>, tensor<2048x1000xf32>) outs(%e : tensor<32x1000xf32>) {
    ^bb0(%a: tensor<32x2048xf32>, %b: tensor<2048x1000xf32>, %o: tensor<32x1000xf32>):
      %zero = arith.constant 0.0 : f32
      %f = linalg.fill ins(%zero : f32) outs(%o : tensor<32x1000xf32>) -> tensor<32x1000xf32>
      %g = linalg.generic {indexing_maps = [#a, #b, #y], iterator_types = ["parallel", "parallel", "reduction"]}
          ins(%a, %b : tensor<32x2048xf32>, tensor<2048x1000xf32>) outs(%f : tensor<32x1000xf32>) {
      ^bb1(%p: f32, %q: f32, %s: f32):
        %t = math.fma %p, %q, %s : f32
        linalg.yield %t : f32
      } -> tensor<32x1000xf32>
      kernel.yield %g : tensor<32x1000xf32>
    } -> tensor<32x1000xf32>
    return %r : tensor<32x1000xf32>
  }
}

// -----


// CHOICE-LABEL: rt.variant @matrix
// CHOICE: schedule <"mma", {{.*}}splits = {{[0-9]+}} : i64
// CHECK-LABEL: rt.variant @matrix
// CHECK: gpu.func @{{.*}}_parts(
// CHECK: kernel.contract
// CHECK: kernel.store_fragment
#a = affine_map<(m, n, k) -> (m, k)>
#b = affine_map<(m, n, k) -> (k, n)>
#bt = affine_map<(m, n, k) -> (n, k)>
#y = affine_map<(m, n, k) -> (m, n)>
#id = affine_map<(m, n) -> (m, n)>
rt.variant @matrix target "sm_80" {
  func.func @main(%x: tensor<128x8192xf16>, %w: tensor<8192x128xf16>) -> tensor<128x128xf32> {
    %e = tensor.empty() : tensor<128x128xf32>
    %r = kernel.dispatch ins(%x, %w : tensor<128x8192xf16>, tensor<8192x128xf16>) outs(%e : tensor<128x128xf32>) {
    ^bb0(%a: tensor<128x8192xf16>, %b: tensor<8192x128xf16>, %o: tensor<128x128xf32>):
      %zero = arith.constant 0.0 : f32
      %f = linalg.fill ins(%zero : f32) outs(%o : tensor<128x128xf32>) -> tensor<128x128xf32>
      %g = linalg.generic {indexing_maps = [#a, #b, #y], iterator_types = ["parallel", "parallel", "reduction"]}
          ins(%a, %b : tensor<128x8192xf16>, tensor<8192x128xf16>) outs(%f : tensor<128x128xf32>) {
      ^bb1(%p: f16, %q: f16, %s: f32):
        %pw = arith.extf %p : f16 to f32
        %qw = arith.extf %q : f16 to f32
        %t = math.fma %pw, %qw, %s : f32
        linalg.yield %t : f32
      } -> tensor<128x128xf32>
      kernel.yield %g : tensor<128x128xf32>
    } -> tensor<128x128xf32>
    return %r : tensor<128x128xf32>
  }
}

// -----

// Not where there are tiles for all, or depth is short.
// CHOICE-LABEL: rt.variant @full
// CHOICE-NOT: splits
// CHOICE: return
#a = affine_map<(m, n, k) -> (m, k)>
#b = affine_map<(m, n, k) -> (k, n)>
#bt = affine_map<(m, n, k) -> (n, k)>
#y = affine_map<(m, n, k) -> (m, n)>
#id = affine_map<(m, n) -> (m, n)>
rt.variant @full target "sm_80" {
  func.func @main(%x: tensor<2048x2048xf32>, %w: tensor<2048x2048xf32>) -> tensor<2048x2048xf32> {
    %e = tensor.empty() : tensor<2048x2048xf32>
    %r = kernel.dispatch ins(%x, %w : tensor<2048x2048xf32>, tensor<2048x2048xf32>) outs(%e : tensor<2048x2048xf32>) {
    ^bb0(%a: tensor<2048x2048xf32>, %b: tensor<2048x2048xf32>, %o: tensor<2048x2048xf32>):
      %zero = arith.constant 0.0 : f32
      %f = linalg.fill ins(%zero : f32) outs(%o : tensor<2048x2048xf32>) -> tensor<2048x2048xf32>
      %g = linalg.generic {indexing_maps = [#a, #b, #y], iterator_types = ["parallel", "parallel", "reduction"]}
          ins(%a, %b : tensor<2048x2048xf32>, tensor<2048x2048xf32>) outs(%f : tensor<2048x2048xf32>) {
      ^bb1(%p: f32, %q: f32, %s: f32):
        %t = math.fma %p, %q, %s : f32
        linalg.yield %t : f32
      } -> tensor<2048x2048xf32>
      kernel.yield %g : tensor<2048x2048xf32>
    } -> tensor<2048x2048xf32>
    return %r : tensor<2048x2048xf32>
  }
}

// -----


// CHOICE-LABEL: rt.variant @shallow
// CHOICE-NOT: splits
// CHOICE: return
#a = affine_map<(m, n, k) -> (m, k)>
#b = affine_map<(m, n, k) -> (k, n)>
#bt = affine_map<(m, n, k) -> (n, k)>
#y = affine_map<(m, n, k) -> (m, n)>
#id = affine_map<(m, n) -> (m, n)>
rt.variant @shallow target "sm_80" {
  func.func @main(%x: tensor<64x128xf16>, %w: tensor<128x64xf16>) -> tensor<64x64xf32> {
    %e = tensor.empty() : tensor<64x64xf32>
    %r = kernel.dispatch ins(%x, %w : tensor<64x128xf16>, tensor<128x64xf16>) outs(%e : tensor<64x64xf32>) {
    ^bb0(%a: tensor<64x128xf16>, %b: tensor<128x64xf16>, %o: tensor<64x64xf32>):
      %zero = arith.constant 0.0 : f32
      %f = linalg.fill ins(%zero : f32) outs(%o : tensor<64x64xf32>) -> tensor<64x64xf32>
      %g = linalg.generic {indexing_maps = [#a, #b, #y], iterator_types = ["parallel", "parallel", "reduction"]}
          ins(%a, %b : tensor<64x128xf16>, tensor<128x64xf16>) outs(%f : tensor<64x64xf32>) {
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

// Nor where a run knows how many tiles there are.
// CHOICE-LABEL: rt.variant @open
// CHOICE-NOT: splits
// CHOICE: return
#a = affine_map<(m, n, k) -> (m, k)>
#b = affine_map<(m, n, k) -> (k, n)>
#bt = affine_map<(m, n, k) -> (n, k)>
#y = affine_map<(m, n, k) -> (m, n)>
#id = affine_map<(m, n) -> (m, n)>
rt.variant @open target "sm_80" {
  func.func @main(%x: tensor<?x8192xf32>, %w: tensor<8192x64xf32>, %n: index) -> tensor<?x64xf32> {
    %e = tensor.empty(%n) : tensor<?x64xf32>
    %r = kernel.dispatch ins(%x, %w : tensor<?x8192xf32>, tensor<8192x64xf32>) outs(%e : tensor<?x64xf32>) {
    ^bb0(%a: tensor<?x8192xf32>, %b: tensor<8192x64xf32>, %o: tensor<?x64xf32>):
      %zero = arith.constant 0.0 : f32
      %f = linalg.fill ins(%zero : f32) outs(%o : tensor<?x64xf32>) -> tensor<?x64xf32>
      %g = linalg.generic {indexing_maps = [#a, #b, #y], iterator_types = ["parallel", "parallel", "reduction"]}
          ins(%a, %b : tensor<?x8192xf32>, tensor<8192x64xf32>) outs(%f : tensor<?x64xf32>) {
      ^bb1(%p: f32, %q: f32, %s: f32):
        %t = math.fma %p, %q, %s : f32
        linalg.yield %t : f32
      } -> tensor<?x64xf32>
      kernel.yield %g : tensor<?x64xf32>
    } -> tensor<?x64xf32>
    return %r : tensor<?x64xf32>
  }
}

// -----

// Given for those, too: the workspace has the rows in front, which are in chunks then.
// CHECK-LABEL: rt.variant @open_given
// CHECK: tensor.empty(%{{.*}}) : tensor<?x4x64xf32>
// CHECK: rt.launch @[[K:.*]]::@[[K]]
// CHECK: rt.launch @[[S:.*]]::@[[S]]
// CHECK-NOT: rt.launch
// CHECK: gpu.module @[[K]] attributes {kernel.index_bits = 32 : i32}
// CHECK: kernel.advance
// CHECK: gpu.module @[[S]] attributes {kernel.index_bits = 32 : i32}
#a = affine_map<(m, n, k) -> (m, k)>
#b = affine_map<(m, n, k) -> (k, n)>
#bt = affine_map<(m, n, k) -> (n, k)>
#y = affine_map<(m, n, k) -> (m, n)>
#id = affine_map<(m, n) -> (m, n)>
rt.variant @open_given target "sm_80" {
  func.func @main(%x: tensor<?x8192xf32>, %w: tensor<8192x64xf32>, %n: index) -> tensor<?x64xf32> {
    %e = tensor.empty(%n) : tensor<?x64xf32>
    %r = kernel.dispatch ins(%x, %w : tensor<?x8192xf32>, tensor<8192x64xf32>) outs(%e : tensor<?x64xf32>) schedule <"contraction", {column_vector = array<i64: 4, 1>, row_vector = array<i64: 1, 4>, splits = 4 : i64, store_vector = 4 : i64, thread = array<i64: 4, 4>, tile = array<i64: 32, 64, 16>}> {
    ^bb0(%a: tensor<?x8192xf32>, %b: tensor<8192x64xf32>, %o: tensor<?x64xf32>):
      %zero = arith.constant 0.0 : f32
      %f = linalg.fill ins(%zero : f32) outs(%o : tensor<?x64xf32>) -> tensor<?x64xf32>
      %g = linalg.generic {indexing_maps = [#a, #b, #y], iterator_types = ["parallel", "parallel", "reduction"]}
          ins(%a, %b : tensor<?x8192xf32>, tensor<8192x64xf32>) outs(%f : tensor<?x64xf32>) {
      ^bb1(%p: f32, %q: f32, %s: f32):
        %t = math.fma %p, %q, %s : f32
        linalg.yield %t : f32
      } -> tensor<?x64xf32>
      kernel.yield %g : tensor<?x64xf32>
    } -> tensor<?x64xf32>
    return %r : tensor<?x64xf32>
  }
}

// -----

// Several results of other sizes, and still one launch behind the parts: its first blocks are for the first one.
// CHECK-LABEL: rt.variant @several
// CHECK: rt.launch @[[K:.*]]::@[[K]]
// CHECK: %[[R:.*]]:2 = rt.launch @[[S:.*]]::@[[S]]
// CHECK-NOT: rt.launch
// CHECK: return %[[R]]#0, %[[R]]#1
// CHECK: gpu.module @[[S]]
// CHECK-SAME: kernel.index_bits = 32
// CHECK: %[[BLOCK:.*]] = gpu.block_id  x
// CHECK: %[[FIRST:.*]] = arith.cmpi ult, %[[BLOCK]], %[[BLOCKS:.*]] : index
// CHECK: scf.if %[[FIRST]] {
// CHECK: } else {
// CHECK: arith.subi %[[BLOCK]], %[[BLOCKS]] : index
// CHECK: math.absf
#a = affine_map<(m, n, k) -> (m, k)>
#b = affine_map<(m, n, k) -> (k, n)>
#y = affine_map<(m, n, k) -> (m, n)>
#id = affine_map<(m, n) -> (m, n)>
rt.variant @several target "sm_80" {
  func.func @main(%x: tensor<32x4096xf32>, %w: tensor<4096x96xf32>) -> (tensor<32x64xf32>, tensor<32x32xf32>) {
    %e = tensor.empty() : tensor<32x64xf32>
    %e2 = tensor.empty() : tensor<32x32xf32>
    %r:2 = kernel.dispatch ins(%x, %w : tensor<32x4096xf32>, tensor<4096x96xf32>) outs(%e, %e2 : tensor<32x64xf32>, tensor<32x32xf32>) schedule <"contraction", {column_vector = array<i64: 4, 1>, row_vector = array<i64: 1, 4>, splits = 4 : i64, store_vector = 4 : i64, thread = array<i64: 4, 4>, tile = array<i64: 32, 64, 16>}> {
    ^bb0(%a: tensor<32x4096xf32>, %b: tensor<4096x96xf32>, %o: tensor<32x64xf32>, %o2: tensor<32x32xf32>):
      %zero = arith.constant 0.0 : f32
      %s = tensor.empty() : tensor<32x96xf32>
      %f = linalg.fill ins(%zero : f32) outs(%s : tensor<32x96xf32>) -> tensor<32x96xf32>
      %g = linalg.generic {indexing_maps = [#a, #b, #y], iterator_types = ["parallel", "parallel", "reduction"]}
          ins(%a, %b : tensor<32x4096xf32>, tensor<4096x96xf32>) outs(%f : tensor<32x96xf32>) {
      ^bb1(%p: f32, %q: f32, %sum: f32):
        %t = math.fma %p, %q, %sum : f32
        linalg.yield %t : f32
      } -> tensor<32x96xf32>
      %h = tensor.extract_slice %g[0, 0] [32, 64] [1, 1] : tensor<32x96xf32> to tensor<32x64xf32>
      %i = tensor.extract_slice %g[0, 64] [32, 32] [1, 1] : tensor<32x96xf32> to tensor<32x32xf32>
      %j = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel", "parallel"]} ins(%i : tensor<32x32xf32>) outs(%o2 : tensor<32x32xf32>) {
      ^bb1(%v: f32, %z: f32):
        %l = math.absf %v : f32
        linalg.yield %l : f32
      } -> tensor<32x32xf32>
      kernel.yield %h, %j : tensor<32x64xf32>, tensor<32x32xf32>
    } -> tensor<32x64xf32>, tensor<32x32xf32>
    return %r#0, %r#1 : tensor<32x64xf32>, tensor<32x32xf32>
  }
}

// -----

// The same whatever is fused to the product.
// CHOICE-LABEL: rt.variant @alone
// CHOICE: schedule <"contraction", {{.*}}splits = [[SPLITS:[0-9]+]] : i64
// CHOICE-LABEL: rt.variant @with_residual
// CHOICE: schedule <"contraction", {{.*}}splits = [[SPLITS]] : i64
#a = affine_map<(m, n, k) -> (m, k)>
#b = affine_map<(m, n, k) -> (k, n)>
#y = affine_map<(m, n, k) -> (m, n)>
#id = affine_map<(m, n) -> (m, n)>
rt.variant @alone target "sm_80" {
  func.func @main(%x: tensor<32x2048xf32>, %w: tensor<2048x1000xf32>) -> tensor<32x1000xf32> {
    %e = tensor.empty() : tensor<32x1000xf32>
    %r = kernel.dispatch ins(%x, %w : tensor<32x2048xf32>, tensor<2048x1000xf32>) outs(%e : tensor<32x1000xf32>) {
    ^bb0(%a: tensor<32x2048xf32>, %b: tensor<2048x1000xf32>, %o: tensor<32x1000xf32>):
      %zero = arith.constant 0.0 : f32
      %f = linalg.fill ins(%zero : f32) outs(%o : tensor<32x1000xf32>) -> tensor<32x1000xf32>
      %g = linalg.generic {indexing_maps = [#a, #b, #y], iterator_types = ["parallel", "parallel", "reduction"]}
          ins(%a, %b : tensor<32x2048xf32>, tensor<2048x1000xf32>) outs(%f : tensor<32x1000xf32>) {
      ^bb1(%p: f32, %q: f32, %s: f32):
        %t = math.fma %p, %q, %s : f32
        linalg.yield %t : f32
      } -> tensor<32x1000xf32>
      kernel.yield %g : tensor<32x1000xf32>
    } -> tensor<32x1000xf32>
    return %r : tensor<32x1000xf32>
  }
}
rt.variant @with_residual target "sm_80" {
  func.func @main(%x: tensor<32x2048xf32>, %w: tensor<2048x1000xf32>, %z: tensor<32x1000xf32>) -> tensor<32x1000xf32> {
    %e = tensor.empty() : tensor<32x1000xf32>
    %r = kernel.dispatch ins(%x, %w, %z : tensor<32x2048xf32>, tensor<2048x1000xf32>, tensor<32x1000xf32>) outs(%e : tensor<32x1000xf32>) {
    ^bb0(%a: tensor<32x2048xf32>, %b: tensor<2048x1000xf32>, %c: tensor<32x1000xf32>, %o: tensor<32x1000xf32>):
      %zero = arith.constant 0.0 : f32
      %f = linalg.fill ins(%zero : f32) outs(%o : tensor<32x1000xf32>) -> tensor<32x1000xf32>
      %g = linalg.generic {indexing_maps = [#a, #b, #y], iterator_types = ["parallel", "parallel", "reduction"]}
          ins(%a, %b : tensor<32x2048xf32>, tensor<2048x1000xf32>) outs(%f : tensor<32x1000xf32>) {
      ^bb1(%p: f32, %q: f32, %s: f32):
        %t = math.fma %p, %q, %s : f32
        linalg.yield %t : f32
      } -> tensor<32x1000xf32>
      %h = linalg.generic {indexing_maps = [#id, #id, #id], iterator_types = ["parallel", "parallel"]}
          ins(%g, %c : tensor<32x1000xf32>, tensor<32x1000xf32>) outs(%o : tensor<32x1000xf32>) {
      ^bb1(%v: f32, %u: f32, %old: f32):
        %l = arith.addf %v, %u : f32
        linalg.yield %l : f32
      } -> tensor<32x1000xf32>
      kernel.yield %h : tensor<32x1000xf32>
    } -> tensor<32x1000xf32>
    return %r : tensor<32x1000xf32>
  }
}

// -----

// Convolutions, too: 49 columns of the last stage of a ResNet are a few tiles.
// CHOICE-LABEL: rt.variant @convolution
// CHOICE: schedule <"contraction", {{.*}}splits = {{[0-9]+}} : i64
#x = affine_map<(f, h, w, c, i, j) -> (c, h + i, w + j)>
#k = affine_map<(f, h, w, c, i, j) -> (f, c, i, j)>
#o = affine_map<(f, h, w, c, i, j) -> (f, h, w)>
rt.variant @convolution target "sm_80" {
  func.func @main(%x: tensor<512x9x9xf32>, %w: tensor<512x512x3x3xf32>) -> tensor<512x7x7xf32> {
    %e = tensor.empty() : tensor<512x7x7xf32>
    %r = kernel.dispatch ins(%x, %w : tensor<512x9x9xf32>, tensor<512x512x3x3xf32>) outs(%e : tensor<512x7x7xf32>) {
    ^bb0(%a: tensor<512x9x9xf32>, %b: tensor<512x512x3x3xf32>, %y: tensor<512x7x7xf32>):
      %zero = arith.constant 0.0 : f32
      %f = linalg.fill ins(%zero : f32) outs(%y : tensor<512x7x7xf32>) -> tensor<512x7x7xf32>
      %g = linalg.generic {indexing_maps = [#x, #k, #o], iterator_types = ["parallel", "parallel", "parallel", "reduction", "reduction", "reduction"]}
          ins(%a, %b : tensor<512x9x9xf32>, tensor<512x512x3x3xf32>) outs(%f : tensor<512x7x7xf32>) {
      ^bb1(%p: f32, %q: f32, %s: f32):
        %t = math.fma %p, %q, %s : f32
        linalg.yield %t : f32
      } -> tensor<512x7x7xf32>
      kernel.yield %g : tensor<512x7x7xf32>
    } -> tensor<512x7x7xf32>
    return %r : tensor<512x7x7xf32>
  }
}

// -----

// Parts are in the order in which the result is stored, and added 16 bytes at a time.
// CHECK-LABEL: rt.variant @turned
// CHECK: %[[SPACE:.*]] = tensor.empty() : tensor<4x4x128x256xf32>
// CHECK: %[[PARTS:.*]] = rt.launch @[[K:.*]]::@[[K]] {{.*}}args(%{{.*}}, %{{.*}}, %[[SPACE]] :
// CHECK: %[[R:.*]] = rt.launch @[[S:.*]]::@[[S]] finishes @[[K]]::@[[K]]
// CHECK: gpu.module @[[K]]
// CHECK: kernel.store_fragment {{.*}} vector 4
// CHECK: gpu.module @[[S]]
// CHECK: schedule<"map", {flat = false, threads = 256 : i64, vector = 4 : i64}>
// CHECK: scf.for
// CHECK: vector.load {{.*}} {kernel.alignment = 16 : i64} : {{.*}}, vector<4xf32>
// CHECK: scf.yield
// CHECK: vector.load {{.*}} {kernel.alignment = 16 : i64} : {{.*}}, vector<4xf32>
// CHECK: vector.store {{.*}} {kernel.alignment = 16 : i64} : {{.*}}, vector<4xf32>
#a = affine_map<(b, f, p, k) -> (b, p, k)>
#w = affine_map<(b, f, p, k) -> (k, f)>
#y = affine_map<(b, f, p, k) -> (b, f, p)>
#turned = affine_map<(b, p, f) -> (b, f, p)>
#bias = affine_map<(b, p, f) -> (f)>
#id = affine_map<(b, p, f) -> (b, p, f)>
rt.variant @turned target "sm_80" {
  func.func @main(%x: tensor<4x128x4096xf32>, %w: tensor<4096x256xf32>, %v: tensor<256xf32>) -> tensor<4x128x256xf32> {
    %e = tensor.empty() : tensor<4x128x256xf32>
    %r = kernel.dispatch ins(%x, %w, %v : tensor<4x128x4096xf32>, tensor<4096x256xf32>, tensor<256xf32>) outs(%e : tensor<4x128x256xf32>) schedule <"contraction", {column_vector = array<i64: 4, 1>, row_vector = array<i64: 1, 4>, splits = 4 : i64, store_vector = 4 : i64, thread = array<i64: 4, 4>, tile = array<i64: 32, 64, 16>}> {
    ^bb0(%a: tensor<4x128x4096xf32>, %b: tensor<4096x256xf32>, %c: tensor<256xf32>, %o: tensor<4x128x256xf32>):
      %zero = arith.constant 0.0 : f32
      %d = tensor.empty() : tensor<4x256x128xf32>
      %f = linalg.fill ins(%zero : f32) outs(%d : tensor<4x256x128xf32>) -> tensor<4x256x128xf32>
      %g = linalg.generic {indexing_maps = [#a, #w, #y], iterator_types = ["parallel", "parallel", "parallel", "reduction"]}
          ins(%a, %b : tensor<4x128x4096xf32>, tensor<4096x256xf32>) outs(%f : tensor<4x256x128xf32>) {
      ^bb1(%p: f32, %q: f32, %s: f32):
        %t = math.fma %p, %q, %s : f32
        linalg.yield %t : f32
      } -> tensor<4x256x128xf32>
      %h = linalg.generic {indexing_maps = [#turned, #bias, #id], iterator_types = ["parallel", "parallel", "parallel"]}
          ins(%g, %c : tensor<4x256x128xf32>, tensor<256xf32>) outs(%o : tensor<4x128x256xf32>) {
      ^bb1(%p: f32, %q: f32, %z: f32):
        %l = arith.addf %p, %q : f32
        linalg.yield %l : f32
      } -> tensor<4x128x256xf32>
      kernel.yield %h : tensor<4x128x256xf32>
    } -> tensor<4x128x256xf32>
    return %r : tensor<4x128x256xf32>
  }
}
