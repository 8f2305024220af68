// RUN: cameo-opt %s --split-input-file --pass-pipeline='builtin.module(rt.variant(cameo-assign-schedules,cameo-lower-dispatches))' | FileCheck %s

// Products of sizes that only a run knows have one kernel: where a tile begins has 64 bits, and the plan checks
// that 32 bits reach from there on.

// On Tensor Cores: pointers of a step and of results.
// CHECK-LABEL: rt.variant @matrix
// CHECK: arith.cmpi ult
// CHECK: rt.check %{{.*}}, "node 'product': its kernel reaches less than 1073741824 rows, columns and steps of depth, and elements between the first and the last of a tile of {{[0-9x]+}}"
// CHECK: rt.launch @[[K:.*]]::@[[K]]
// CHECK-NOT: rt.launch
// CHECK: gpu.module @[[K]] attributes {kernel.index_bits = 32 : i32}
// CHECK: arith.muli %{{.*}}, %{{.*}} : i64
// CHECK: kernel.advance
// CHECK: kernel.copy_async
// CHECK: kernel.store_fragment
// CHECK-NOT: gpu.module
#a = affine_map<(m, n, k) -> (m, k)>
#b = affine_map<(m, n, k) -> (k, n)>
#bt = affine_map<(m, n, k) -> (n, k)>
#y = affine_map<(m, n, k) -> (m, n)>
#id = affine_map<(m, n) -> (m, n)>
rt.variant @matrix target "sm_80" {
  func.func @main(%x: tensor<?x64xf16>, %w: tensor<?x64xf16>, %n: index, %m: index) -> tensor<?x?xf32> {
    %e = tensor.empty(%m, %n) : tensor<?x?xf32>
    %r = kernel.dispatch ins(%x, %w : tensor<?x64xf16>, tensor<?x64xf16>) outs(%e : tensor<?x?xf32>) {
    ^bb0(%a: tensor<?x64xf16>, %b: tensor<?x64xf16>, %o: tensor<?x?xf32>):
      %zero = arith.constant 0.0 : f32
      %f = linalg.fill ins(%zero : f32) outs(%o : tensor<?x?xf32>) -> tensor<?x?xf32>
      %g = linalg.generic {indexing_maps = [#a, #bt, #y], iterator_types = ["parallel", "parallel", "reduction"]}
          ins(%a, %b : tensor<?x64xf16>, tensor<?x64xf16>) outs(%f : tensor<?x?xf32>) {
      ^bb1(%p: f16, %q: f16, %s: f32):
        %pw = arith.extf %p : f16 to f32
        %qw = arith.extf %q : f16 to f32
        %t = math.fma %pw, %qw, %s : f32
        linalg.yield %t : f32
      } -> tensor<?x?xf32>
      kernel.yield %g : tensor<?x?xf32>
    } -> tensor<?x?xf32>
    return %r : tensor<?x?xf32>
  }
}

// -----

// On FP32 units.
// CHECK-LABEL: rt.variant @tiles
// CHECK: rt.check
// CHECK: rt.launch @[[K:.*]]::@[[K]]
// CHECK-NOT: rt.launch
// CHECK: gpu.module @[[K]] attributes {kernel.index_bits = 32 : i32}
// CHECK: kernel.advance
// CHECK: kernel.load_global
// CHECK-NOT: gpu.module
#a = affine_map<(m, n, k) -> (m, k)>
#b = affine_map<(m, n, k) -> (k, n)>
#bt = affine_map<(m, n, k) -> (n, k)>
#y = affine_map<(m, n, k) -> (m, n)>
#id = affine_map<(m, n) -> (m, n)>
rt.variant @tiles target "sm_80" {
  func.func @main(%x: tensor<?x?xf32>, %w: tensor<?x?xf32>, %n: index, %m: index) -> tensor<?x?xf32> {
    %e = tensor.empty(%m, %n) : tensor<?x?xf32>
    %r = kernel.dispatch ins(%x, %w : tensor<?x?xf32>, tensor<?x?xf32>) outs(%e : tensor<?x?xf32>) {
    ^bb0(%a: tensor<?x?xf32>, %b: tensor<?x?xf32>, %o: tensor<?x?xf32>):
      %zero = arith.constant 0.0 : f32
      %f = linalg.fill ins(%zero : f32) outs(%o : tensor<?x?xf32>) -> tensor<?x?xf32>
      %g = linalg.generic {indexing_maps = [#a, #b, #y], iterator_types = ["parallel", "parallel", "reduction"]}
          ins(%a, %b : tensor<?x?xf32>, tensor<?x?xf32>) outs(%f : tensor<?x?xf32>) {
      ^bb1(%p: f32, %q: f32, %s: f32):
        %t = math.fma %p, %q, %s : f32
        linalg.yield %t : f32
      } -> tensor<?x?xf32>
      kernel.yield %g : tensor<?x?xf32>
    } -> tensor<?x?xf32>
    return %r : tensor<?x?xf32>
  }
}

// -----

// Of few rows: each thread counts from its own step on.
// CHECK-LABEL: rt.variant @few
// CHECK: rt.check
// CHECK: rt.launch @[[K:.*]]::@[[K]]
// CHECK-NOT: rt.launch
// CHECK: gpu.module @[[K]] attributes {kernel.index_bits = 32 : i32}
// CHECK: scf.for
// CHECK: kernel.advance
// CHECK-NOT: gpu.module
#a = affine_map<(m, n, k) -> (m, k)>
#b = affine_map<(m, n, k) -> (k, n)>
#bt = affine_map<(m, n, k) -> (n, k)>
#y = affine_map<(m, n, k) -> (m, n)>
#id = affine_map<(m, n) -> (m, n)>
rt.variant @few target "sm_80" {
  func.func @main(%x: tensor<2x?xf32>, %w: tensor<?x?xf32>, %n: index, %m: index) -> tensor<2x?xf32> {
    %e = tensor.empty(%n) : tensor<2x?xf32>
    %r = kernel.dispatch ins(%x, %w : tensor<2x?xf32>, tensor<?x?xf32>) outs(%e : tensor<2x?xf32>) {
    ^bb0(%a: tensor<2x?xf32>, %b: tensor<?x?xf32>, %o: tensor<2x?xf32>):
      %zero = arith.constant 0.0 : f32
      %f = linalg.fill ins(%zero : f32) outs(%o : tensor<2x?xf32>) -> tensor<2x?xf32>
      %g = linalg.generic {indexing_maps = [#a, #b, #y], iterator_types = ["parallel", "parallel", "reduction"]}
          ins(%a, %b : tensor<2x?xf32>, tensor<?x?xf32>) outs(%f : tensor<2x?xf32>) {
      ^bb1(%p: f32, %q: f32, %s: f32):
        %t = math.fma %p, %q, %s : f32
        linalg.yield %t : f32
      } -> tensor<2x?xf32>
      kernel.yield %g : tensor<2x?xf32>
    } -> tensor<2x?xf32>
    return %r : tensor<2x?xf32>
  }
}

// -----

// A tile's rows are known to be too far apart: 64 bits throughout.
// CHECK-LABEL: rt.variant @apart
// CHECK-NOT: rt.check
// CHECK: kernel.index_bits = 64 : i32
#a = affine_map<(m, n, k) -> (m, k)>
#b = affine_map<(m, n, k) -> (k, n)>
#bt = affine_map<(m, n, k) -> (n, k)>
#y = affine_map<(m, n, k) -> (m, n)>
#id = affine_map<(m, n) -> (m, n)>
rt.variant @apart target "sm_80" {
  func.func @main(%x: tensor<64x67108864xf32>, %w: tensor<67108864x?xf32>, %n: index, %m: index) -> tensor<64x?xf32> {
    %e = tensor.empty(%n) : tensor<64x?xf32>
    %r = kernel.dispatch ins(%x, %w : tensor<64x67108864xf32>, tensor<67108864x?xf32>) outs(%e : tensor<64x?xf32>) {
    ^bb0(%a: tensor<64x67108864xf32>, %b: tensor<67108864x?xf32>, %o: tensor<64x?xf32>):
      %zero = arith.constant 0.0 : f32
      %f = linalg.fill ins(%zero : f32) outs(%o : tensor<64x?xf32>) -> tensor<64x?xf32>
      %g = linalg.generic {indexing_maps = [#a, #b, #y], iterator_types = ["parallel", "parallel", "reduction"]}
          ins(%a, %b : tensor<64x67108864xf32>, tensor<67108864x?xf32>) outs(%f : tensor<64x?xf32>) {
      ^bb1(%p: f32, %q: f32, %s: f32):
        %t = math.fma %p, %q, %s : f32
        linalg.yield %t : f32
      } -> tensor<64x?xf32>
      kernel.yield %g : tensor<64x?xf32>
    } -> tensor<64x?xf32>
    return %r : tensor<64x?xf32>
  }
}

// -----

// Known sizes that 32 bits do not reach altogether: nothing to check.
// CHECK-LABEL: rt.variant @known
// CHECK-NOT: rt.check
// CHECK: kernel.index_bits = 32 : i32
// CHECK: kernel.advance
#a = affine_map<(m, n, k) -> (m, k)>
#b = affine_map<(m, n, k) -> (k, n)>
#bt = affine_map<(m, n, k) -> (n, k)>
#y = affine_map<(m, n, k) -> (m, n)>
#id = affine_map<(m, n) -> (m, n)>
rt.variant @known target "sm_80" {
  func.func @main(%x: tensor<1048576x4096xf32>, %w: tensor<4096x64xf32>) -> tensor<1048576x64xf32> {
    %e = tensor.empty() : tensor<1048576x64xf32>
    %r = kernel.dispatch ins(%x, %w : tensor<1048576x4096xf32>, tensor<4096x64xf32>) outs(%e : tensor<1048576x64xf32>) {
    ^bb0(%a: tensor<1048576x4096xf32>, %b: tensor<4096x64xf32>, %o: tensor<1048576x64xf32>):
      %zero = arith.constant 0.0 : f32
      %f = linalg.fill ins(%zero : f32) outs(%o : tensor<1048576x64xf32>) -> tensor<1048576x64xf32>
      %g = linalg.generic {indexing_maps = [#a, #b, #y], iterator_types = ["parallel", "parallel", "reduction"]}
          ins(%a, %b : tensor<1048576x4096xf32>, tensor<4096x64xf32>) outs(%f : tensor<1048576x64xf32>) {
      ^bb1(%p: f32, %q: f32, %s: f32):
        %t = math.fma %p, %q, %s : f32
        linalg.yield %t : f32
      } -> tensor<1048576x64xf32>
      kernel.yield %g : tensor<1048576x64xf32>
    } -> tensor<1048576x64xf32>
    return %r : tensor<1048576x64xf32>
  }
}
