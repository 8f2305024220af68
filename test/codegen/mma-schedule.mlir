// RUN: cameo-opt %s --pass-pipeline='builtin.module(rt.variant(cameo-assign-schedules))' | FileCheck %s

// Products of f16 and bf16 go to Tensor Cores; what the target does not multiply does not.

#a = affine_map<(m, n, k) -> (m, k)>
#b = affine_map<(m, n, k) -> (k, n)>
#bt = affine_map<(m, n, k) -> (n, k)>
#y = affine_map<(m, n, k) -> (m, n)>
#id = affine_map<(m, n) -> (m, n)>

// CHECK-LABEL: rt.variant @half
// CHECK: schedule <"mma", {column_lines = "across", column_vector = 8 : i64, copies = "async", instruction = array<i64: 16, 8, 16>, row_lines = "depth", row_vector = 8 : i64, stages = {{[3-5]}} : i64, store_vector = 4 : i64
rt.variant @half target "sm_80" {
  func.func @main(%x: tensor<256x64xf16>, %w: tensor<64x128xf16>) -> tensor<256x128xf32> {
    %e = tensor.empty() : tensor<256x128xf32>
    %r = kernel.dispatch ins(%x, %w : tensor<256x64xf16>, tensor<64x128xf16>) outs(%e : tensor<256x128xf32>) {
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

// CHECK-LABEL: rt.variant @bfloat
// CHECK: schedule <"mma", {{.*}}instruction = array<i64: 16, 8, 16>
rt.variant @bfloat target "sm_80" {
  func.func @main(%x: tensor<256x64xbf16>, %w: tensor<64x128xbf16>) -> tensor<256x128xf32> {
    %e = tensor.empty() : tensor<256x128xf32>
    %r = kernel.dispatch ins(%x, %w : tensor<256x64xbf16>, tensor<64x128xbf16>) outs(%e : tensor<256x128xf32>) {
    ^bb0(%a: tensor<256x64xbf16>, %b: tensor<64x128xbf16>, %o: tensor<256x128xf32>):
      %zero = arith.constant 0.0 : f32
      %f = linalg.fill ins(%zero : f32) outs(%o : tensor<256x128xf32>) -> tensor<256x128xf32>
      %g = linalg.generic {indexing_maps = [#a, #b, #y], iterator_types = ["parallel", "parallel", "reduction"]}
          ins(%a, %b : tensor<256x64xbf16>, tensor<64x128xbf16>) outs(%f : tensor<256x128xf32>) {
      ^bb1(%p: bf16, %q: bf16, %s: f32):
        %pw = arith.extf %p : bf16 to f32
        %qw = arith.extf %q : bf16 to f32
        %t = math.fma %pw, %qw, %s : f32
        linalg.yield %t : f32
      } -> tensor<256x128xf32>
      kernel.yield %g : tensor<256x128xf32>
    } -> tensor<256x128xf32>
    return %r : tensor<256x128xf32>
  }
}

// CHECK-LABEL: rt.variant @turned
// CHECK: schedule <"mma", {column_lines = "depth", column_vector = 8 : i64
rt.variant @turned target "sm_80" {
  func.func @main(%x: tensor<256x64xf16>, %w: tensor<128x64xf16>) -> tensor<256x128xf32> {
    %e = tensor.empty() : tensor<256x128xf32>
    %r = kernel.dispatch ins(%x, %w : tensor<256x64xf16>, tensor<128x64xf16>) outs(%e : tensor<256x128xf32>) {
    ^bb0(%a: tensor<256x64xf16>, %b: tensor<128x64xf16>, %o: tensor<256x128xf32>):
      %zero = arith.constant 0.0 : f32
      %f = linalg.fill ins(%zero : f32) outs(%o : tensor<256x128xf32>) -> tensor<256x128xf32>
      %g = linalg.generic {indexing_maps = [#a, #bt, #y], iterator_types = ["parallel", "parallel", "reduction"]}
          ins(%a, %b : tensor<256x64xf16>, tensor<128x64xf16>) outs(%f : tensor<256x128xf32>) {
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

// 36 elements are a multiple of 8 bytes, 34 of 4, 33 of none.

// CHECK-LABEL: rt.variant @eight_bytes
// CHECK: copies = "async", {{.*}}row_vector = 4 : i64
rt.variant @eight_bytes target "sm_80" {
  func.func @main(%x: tensor<256x36xf16>, %w: tensor<36x128xf16>) -> tensor<256x128xf32> {
    %e = tensor.empty() : tensor<256x128xf32>
    %r = kernel.dispatch ins(%x, %w : tensor<256x36xf16>, tensor<36x128xf16>) outs(%e : tensor<256x128xf32>) {
    ^bb0(%a: tensor<256x36xf16>, %b: tensor<36x128xf16>, %o: tensor<256x128xf32>):
      %zero = arith.constant 0.0 : f32
      %f = linalg.fill ins(%zero : f32) outs(%o : tensor<256x128xf32>) -> tensor<256x128xf32>
      %g = linalg.generic {indexing_maps = [#a, #b, #y], iterator_types = ["parallel", "parallel", "reduction"]}
          ins(%a, %b : tensor<256x36xf16>, tensor<36x128xf16>) outs(%f : tensor<256x128xf32>) {
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

// CHECK-LABEL: rt.variant @four_bytes
// CHECK: copies = "async", {{.*}}row_vector = 2 : i64
rt.variant @four_bytes target "sm_80" {
  func.func @main(%x: tensor<256x34xf16>, %w: tensor<34x128xf16>) -> tensor<256x128xf32> {
    %e = tensor.empty() : tensor<256x128xf32>
    %r = kernel.dispatch ins(%x, %w : tensor<256x34xf16>, tensor<34x128xf16>) outs(%e : tensor<256x128xf32>) {
    ^bb0(%a: tensor<256x34xf16>, %b: tensor<34x128xf16>, %o: tensor<256x128xf32>):
      %zero = arith.constant 0.0 : f32
      %f = linalg.fill ins(%zero : f32) outs(%o : tensor<256x128xf32>) -> tensor<256x128xf32>
      %g = linalg.generic {indexing_maps = [#a, #b, #y], iterator_types = ["parallel", "parallel", "reduction"]}
          ins(%a, %b : tensor<256x34xf16>, tensor<34x128xf16>) outs(%f : tensor<256x128xf32>) {
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

// CHECK-LABEL: rt.variant @two_bytes
// CHECK: copies = "registers", {{.*}}row_lines = "depth", row_vector = 1 : i64, stages = 2 : i64
rt.variant @two_bytes target "sm_80" {
  func.func @main(%x: tensor<256x33xf16>, %w: tensor<33x128xf16>) -> tensor<256x128xf32> {
    %e = tensor.empty() : tensor<256x128xf32>
    %r = kernel.dispatch ins(%x, %w : tensor<256x33xf16>, tensor<33x128xf16>) outs(%e : tensor<256x128xf32>) {
    ^bb0(%a: tensor<256x33xf16>, %b: tensor<33x128xf16>, %o: tensor<256x128xf32>):
      %zero = arith.constant 0.0 : f32
      %f = linalg.fill ins(%zero : f32) outs(%o : tensor<256x128xf32>) -> tensor<256x128xf32>
      %g = linalg.generic {indexing_maps = [#a, #b, #y], iterator_types = ["parallel", "parallel", "reduction"]}
          ins(%a, %b : tensor<256x33xf16>, tensor<33x128xf16>) outs(%f : tensor<256x128xf32>) {
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

// Turing multiplies f16 by a smaller instruction, has no asynchronous copies, and no bf16.

// CHECK-LABEL: rt.variant @turing
// CHECK: schedule <"mma", {{.*}}copies = "registers", instruction = array<i64: 16, 8, 8>, {{.*}}stages = 2 : i64
rt.variant @turing target "sm_75" {
  func.func @main(%x: tensor<256x64xf16>, %w: tensor<64x128xf16>) -> tensor<256x128xf32> {
    %e = tensor.empty() : tensor<256x128xf32>
    %r = kernel.dispatch ins(%x, %w : tensor<256x64xf16>, tensor<64x128xf16>) outs(%e : tensor<256x128xf32>) {
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

// CHECK-LABEL: rt.variant @turing_bfloat
// CHECK: schedule <"contraction"
rt.variant @turing_bfloat target "sm_75" {
  func.func @main(%x: tensor<256x64xbf16>, %w: tensor<64x128xbf16>) -> tensor<256x128xf32> {
    %e = tensor.empty() : tensor<256x128xf32>
    %r = kernel.dispatch ins(%x, %w : tensor<256x64xbf16>, tensor<64x128xbf16>) outs(%e : tensor<256x128xf32>) {
    ^bb0(%a: tensor<256x64xbf16>, %b: tensor<64x128xbf16>, %o: tensor<256x128xf32>):
      %zero = arith.constant 0.0 : f32
      %f = linalg.fill ins(%zero : f32) outs(%o : tensor<256x128xf32>) -> tensor<256x128xf32>
      %g = linalg.generic {indexing_maps = [#a, #b, #y], iterator_types = ["parallel", "parallel", "reduction"]}
          ins(%a, %b : tensor<256x64xbf16>, tensor<64x128xbf16>) outs(%f : tensor<256x128xf32>) {
      ^bb1(%p: bf16, %q: bf16, %s: f32):
        %pw = arith.extf %p : bf16 to f32
        %qw = arith.extf %q : bf16 to f32
        %t = math.fma %pw, %qw, %s : f32
        linalg.yield %t : f32
      } -> tensor<256x128xf32>
      kernel.yield %g : tensor<256x128xf32>
    } -> tensor<256x128xf32>
    return %r : tensor<256x128xf32>
  }
}

// CHECK-LABEL: rt.variant @single
// CHECK: schedule <"contraction"
rt.variant @single target "sm_80" {
  func.func @main(%x: tensor<256x64xf32>, %w: tensor<64x128xf32>) -> tensor<256x128xf32> {
    %e = tensor.empty() : tensor<256x128xf32>
    %r = kernel.dispatch ins(%x, %w : tensor<256x64xf32>, tensor<64x128xf32>) outs(%e : tensor<256x128xf32>) {
    ^bb0(%a: tensor<256x64xf32>, %b: tensor<64x128xf32>, %o: tensor<256x128xf32>):
      %zero = arith.constant 0.0 : f32
      %f = linalg.fill ins(%zero : f32) outs(%o : tensor<256x128xf32>) -> tensor<256x128xf32>
      %g = linalg.generic {indexing_maps = [#a, #b, #y], iterator_types = ["parallel", "parallel", "reduction"]}
          ins(%a, %b : tensor<256x64xf32>, tensor<64x128xf32>) outs(%f : tensor<256x128xf32>) {
      ^bb1(%p: f32, %q: f32, %s: f32):
        %t = math.fma %p, %q, %s : f32
        linalg.yield %t : f32
      } -> tensor<256x128xf32>
      kernel.yield %g : tensor<256x128xf32>
    } -> tensor<256x128xf32>
    return %r : tensor<256x128xf32>
  }
}

// CHECK-LABEL: rt.variant @mixed
// CHECK: schedule <"contraction"
rt.variant @mixed target "sm_80" {
  func.func @main(%x: tensor<256x64xf16>, %w: tensor<64x128xf32>) -> tensor<256x128xf32> {
    %e = tensor.empty() : tensor<256x128xf32>
    %r = kernel.dispatch ins(%x, %w : tensor<256x64xf16>, tensor<64x128xf32>) outs(%e : tensor<256x128xf32>) {
    ^bb0(%a: tensor<256x64xf16>, %b: tensor<64x128xf32>, %o: tensor<256x128xf32>):
      %zero = arith.constant 0.0 : f32
      %f = linalg.fill ins(%zero : f32) outs(%o : tensor<256x128xf32>) -> tensor<256x128xf32>
      %g = linalg.generic {indexing_maps = [#a, #b, #y], iterator_types = ["parallel", "parallel", "reduction"]}
          ins(%a, %b : tensor<256x64xf16>, tensor<64x128xf32>) outs(%f : tensor<256x128xf32>) {
      ^bb1(%p: f16, %q: f32, %s: f32):
        %pw = arith.extf %p : f16 to f32
        %t = math.fma %pw, %q, %s : f32
        linalg.yield %t : f32
      } -> tensor<256x128xf32>
      kernel.yield %g : tensor<256x128xf32>
    } -> tensor<256x128xf32>
    return %r : tensor<256x128xf32>
  }
}

// A handful of rows leaves a tile idle.

// CHECK-LABEL: rt.variant @narrow
// CHECK: schedule <"rows"
rt.variant @narrow target "sm_80" {
  func.func @main(%x: tensor<4x64xf16>, %w: tensor<64x128xf16>) -> tensor<4x128xf32> {
    %e = tensor.empty() : tensor<4x128xf32>
    %r = kernel.dispatch ins(%x, %w : tensor<4x64xf16>, tensor<64x128xf16>) outs(%e : tensor<4x128xf32>) {
    ^bb0(%a: tensor<4x64xf16>, %b: tensor<64x128xf16>, %o: tensor<4x128xf32>):
      %zero = arith.constant 0.0 : f32
      %f = linalg.fill ins(%zero : f32) outs(%o : tensor<4x128xf32>) -> tensor<4x128xf32>
      %g = linalg.generic {indexing_maps = [#a, #b, #y], iterator_types = ["parallel", "parallel", "reduction"]}
          ins(%a, %b : tensor<4x64xf16>, tensor<64x128xf16>) outs(%f : tensor<4x128xf32>) {
      ^bb1(%p: f16, %q: f16, %s: f32):
        %pw = arith.extf %p : f16 to f32
        %qw = arith.extf %q : f16 to f32
        %t = math.fma %pw, %qw, %s : f32
        linalg.yield %t : f32
      } -> tensor<4x128xf32>
      kernel.yield %g : tensor<4x128xf32>
    } -> tensor<4x128xf32>
    return %r : tensor<4x128xf32>
  }
}
