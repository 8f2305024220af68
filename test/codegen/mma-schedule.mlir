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
// CHECK: schedule <"skinny"
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

// Three channels are too few for a step of depth: one goes along several loops. Threads gather what a
// pixel has of it, element by element, and neighbours load from neighbouring pixels.

// CHECK-LABEL: rt.variant @image
// CHECK: schedule <"mma", {column_lines = "across", column_vector = 8 : i64, copies = "registers", depth_loops = 2 : i64, {{.*}}row_group = 8 : i64, row_lines = "depth", row_vector = 1 : i64, stages = 2 : i64
#x_image = affine_map<(n, y, x, f, j, i, c) -> (n, y * 2 + j, x * 2 + i, c)>
#w_image = affine_map<(n, y, x, f, j, i, c) -> (j, i, c, f)>
#y_image = affine_map<(n, y, x, f, j, i, c) -> (n, y, x, f)>
rt.variant @image target "sm_80" {
  func.func @main(%x: tensor<2x224x224x3xf16>, %w: tensor<7x7x3x64xf16>) -> tensor<2x112x112x64xf32> {
    %e = tensor.empty() : tensor<2x112x112x64xf32>
    %r = kernel.dispatch ins(%x, %w : tensor<2x224x224x3xf16>, tensor<7x7x3x64xf16>) outs(%e : tensor<2x112x112x64xf32>) {
    ^bb0(%a: tensor<2x224x224x3xf16>, %b: tensor<7x7x3x64xf16>, %o: tensor<2x112x112x64xf32>):
      %none = arith.constant 0.0 : f16
      %zero = arith.constant 0.0 : f32
      %p = tensor.pad %a low[0, 3, 3, 0] high[0, 3, 3, 0] {
      ^bb1(%i0: index, %i1: index, %i2: index, %i3: index):
        tensor.yield %none : f16
      } : tensor<2x224x224x3xf16> to tensor<2x230x230x3xf16>
      %f = linalg.fill ins(%zero : f32) outs(%o : tensor<2x112x112x64xf32>) -> tensor<2x112x112x64xf32>
      %g = linalg.generic {indexing_maps = [#x_image, #w_image, #y_image],
          iterator_types = ["parallel", "parallel", "parallel", "parallel", "reduction", "reduction", "reduction"]}
          ins(%p, %b : tensor<2x230x230x3xf16>, tensor<7x7x3x64xf16>) outs(%f : tensor<2x112x112x64xf32>) {
      ^bb1(%u: f16, %v: f16, %s: f32):
        %uw = arith.extf %u : f16 to f32
        %vw = arith.extf %v : f16 to f32
        %t = math.fma %uw, %vw, %s : f32
        linalg.yield %t : f32
      } -> tensor<2x112x112x64xf32>
      kernel.yield %g : tensor<2x112x112x64xf32>
    } -> tensor<2x112x112x64xf32>
    return %r : tensor<2x112x112x64xf32>
  }
}

// Four channels are copied at once, asynchronously.

// CHECK-LABEL: rt.variant @four_channels
// CHECK: schedule <"mma", {{.*}}copies = "async", depth_loops = 3 : i64, {{.*}}row_lines = "depth", row_vector = 4 : i64
#x_four_channels = affine_map<(n, y, x, f, j, i, c) -> (n, y + j, x + i, c)>
#w_four_channels = affine_map<(n, y, x, f, j, i, c) -> (j, i, c, f)>
#y_four_channels = affine_map<(n, y, x, f, j, i, c) -> (n, y, x, f)>
rt.variant @four_channels target "sm_80" {
  func.func @main(%x: tensor<2x64x64x4xf16>, %w: tensor<3x3x4x64xf16>) -> tensor<2x64x64x64xf32> {
    %e = tensor.empty() : tensor<2x64x64x64xf32>
    %r = kernel.dispatch ins(%x, %w : tensor<2x64x64x4xf16>, tensor<3x3x4x64xf16>) outs(%e : tensor<2x64x64x64xf32>) {
    ^bb0(%a: tensor<2x64x64x4xf16>, %b: tensor<3x3x4x64xf16>, %o: tensor<2x64x64x64xf32>):
      %none = arith.constant 0.0 : f16
      %zero = arith.constant 0.0 : f32
      %p = tensor.pad %a low[0, 1, 1, 0] high[0, 1, 1, 0] {
      ^bb1(%i0: index, %i1: index, %i2: index, %i3: index):
        tensor.yield %none : f16
      } : tensor<2x64x64x4xf16> to tensor<2x66x66x4xf16>
      %f = linalg.fill ins(%zero : f32) outs(%o : tensor<2x64x64x64xf32>) -> tensor<2x64x64x64xf32>
      %g = linalg.generic {indexing_maps = [#x_four_channels, #w_four_channels, #y_four_channels],
          iterator_types = ["parallel", "parallel", "parallel", "parallel", "reduction", "reduction", "reduction"]}
          ins(%p, %b : tensor<2x66x66x4xf16>, tensor<3x3x4x64xf16>) outs(%f : tensor<2x64x64x64xf32>) {
      ^bb1(%u: f16, %v: f16, %s: f32):
        %uw = arith.extf %u : f16 to f32
        %vw = arith.extf %v : f16 to f32
        %t = math.fma %uw, %vw, %s : f32
        linalg.yield %t : f32
      } -> tensor<2x64x64x64xf32>
      kernel.yield %g : tensor<2x64x64x64xf32>
    } -> tensor<2x64x64x64xf32>
    return %r : tensor<2x64x64x64xf32>
  }
}

// Where channels are not innermost, neighbouring pixels are: threads gather channels of one, so that
// lines in shared memory go along depth.

// CHECK-LABEL: rt.variant @planes
// CHECK: schedule <"mma", {column_group = 8 : i64, column_lines = "depth", column_vector = 1 : i64, copies = "registers"
// CHECK-NOT: depth_loops
#x_planes = affine_map<(n, y, x, f, j, i, c) -> (n, c, y + j, x + i)>
#w_planes = affine_map<(n, y, x, f, j, i, c) -> (j, i, c, f)>
#y_planes = affine_map<(n, y, x, f, j, i, c) -> (n, f, y, x)>
rt.variant @planes target "sm_80" {
  func.func @main(%x: tensor<2x64x28x28xf16>, %w: tensor<3x3x64x64xf16>) -> tensor<2x64x28x28xf32> {
    %e = tensor.empty() : tensor<2x64x28x28xf32>
    %r = kernel.dispatch ins(%x, %w : tensor<2x64x28x28xf16>, tensor<3x3x64x64xf16>) outs(%e : tensor<2x64x28x28xf32>) {
    ^bb0(%a: tensor<2x64x28x28xf16>, %b: tensor<3x3x64x64xf16>, %o: tensor<2x64x28x28xf32>):
      %none = arith.constant 0.0 : f16
      %zero = arith.constant 0.0 : f32
      %p = tensor.pad %a low[0, 0, 1, 1] high[0, 0, 1, 1] {
      ^bb1(%i0: index, %i1: index, %i2: index, %i3: index):
        tensor.yield %none : f16
      } : tensor<2x64x28x28xf16> to tensor<2x64x30x30xf16>
      %f = linalg.fill ins(%zero : f32) outs(%o : tensor<2x64x28x28xf32>) -> tensor<2x64x28x28xf32>
      %g = linalg.generic {indexing_maps = [#x_planes, #w_planes, #y_planes],
          iterator_types = ["parallel", "parallel", "parallel", "parallel", "reduction", "reduction", "reduction"]}
          ins(%p, %b : tensor<2x64x30x30xf16>, tensor<3x3x64x64xf16>) outs(%f : tensor<2x64x28x28xf32>) {
      ^bb1(%u: f16, %v: f16, %s: f32):
        %uw = arith.extf %u : f16 to f32
        %vw = arith.extf %v : f16 to f32
        %t = math.fma %uw, %vw, %s : f32
        linalg.yield %t : f32
      } -> tensor<2x64x28x28xf32>
      kernel.yield %g : tensor<2x64x28x28xf32>
    } -> tensor<2x64x28x28xf32>
    return %r : tensor<2x64x28x28xf32>
  }
}

// Columns are what neighbours of the result as it is stored go along: here those of the first operand.

// CHECK-LABEL: rt.variant @stored_turned
// CHECK: schedule <"mma", {column_lines = "depth", column_vector = 8 : i64, {{.*}}row_lines = "across", {{.*}}store_vector = 4 : i64
#across = affine_map<(m, n) -> (n, m)>
rt.variant @stored_turned target "sm_80" {
  func.func @main(%x: tensor<256x64xf16>, %w: tensor<64x128xf16>) -> tensor<128x256xf32> {
    %e = tensor.empty() : tensor<128x256xf32>
    %r = kernel.dispatch ins(%x, %w : tensor<256x64xf16>, tensor<64x128xf16>) outs(%e : tensor<128x256xf32>) {
    ^bb0(%a: tensor<256x64xf16>, %b: tensor<64x128xf16>, %o: tensor<128x256xf32>):
      %zero = arith.constant 0.0 : f32
      %i = tensor.empty() : tensor<256x128xf32>
      %f = linalg.fill ins(%zero : f32) outs(%i : tensor<256x128xf32>) -> tensor<256x128xf32>
      %g = linalg.generic {indexing_maps = [#a, #b, #y], iterator_types = ["parallel", "parallel", "reduction"]}
          ins(%a, %b : tensor<256x64xf16>, tensor<64x128xf16>) outs(%f : tensor<256x128xf32>) {
      ^bb1(%p: f16, %q: f16, %s: f32):
        %pw = arith.extf %p : f16 to f32
        %qw = arith.extf %q : f16 to f32
        %t = math.fma %pw, %qw, %s : f32
        linalg.yield %t : f32
      } -> tensor<256x128xf32>
      %h = linalg.generic {indexing_maps = [#id, #across], iterator_types = ["parallel", "parallel"]}
          ins(%g : tensor<256x128xf32>) outs(%o : tensor<128x256xf32>) {
      ^bb1(%p: f32, %q: f32):
        linalg.yield %p : f32
      } -> tensor<128x256xf32>
      kernel.yield %h : tensor<128x256xf32>
    } -> tensor<128x256xf32>
    return %r : tensor<128x256xf32>
  }
}

// Of results in both orders, none is better off.

// CHECK-LABEL: rt.variant @stored_both_ways
// CHECK: schedule <"mma", {column_lines = "across", column_vector = 8 : i64, {{.*}}row_lines = "depth"
rt.variant @stored_both_ways target "sm_80" {
  func.func @main(%x: tensor<256x64xf16>, %w: tensor<64x128xf16>) -> (tensor<256x128xf32>, tensor<128x256xf32>) {
    %e = tensor.empty() : tensor<256x128xf32>
    %d = tensor.empty() : tensor<128x256xf32>
    %r:2 = kernel.dispatch ins(%x, %w : tensor<256x64xf16>, tensor<64x128xf16>) outs(%e, %d : tensor<256x128xf32>, tensor<128x256xf32>) {
    ^bb0(%a: tensor<256x64xf16>, %b: tensor<64x128xf16>, %o: tensor<256x128xf32>, %u: tensor<128x256xf32>):
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
      %h = linalg.generic {indexing_maps = [#id, #across], iterator_types = ["parallel", "parallel"]}
          ins(%g : tensor<256x128xf32>) outs(%u : tensor<128x256xf32>) {
      ^bb1(%p: f32, %q: f32):
        linalg.yield %p : f32
      } -> tensor<128x256xf32>
      kernel.yield %g, %h : tensor<256x128xf32>, tensor<128x256xf32>
    } -> tensor<256x128xf32>, tensor<128x256xf32>
    return %r#0, %r#1 : tensor<256x128xf32>, tensor<128x256xf32>
  }
}

// Patches that do not overlap: rows of 16 pixels of three channels are consecutive, 96 bytes, so that
// weights are wanted in the order of that memory, and elements are copied 16 bytes at a time. With all
// three loops as one a quarter less is multiplied than with 48 elements of 64.
// CHECK-LABEL: rt.variant @patches
// CHECK: schedule <"mma", {{.*}}copies = "async", depth_loops = 3 : i64, {{.*}}row_lines = "depth", row_vector = 8 : i64
// CHECK-SAME: kernel.packing = [array<i64>, array<i64: 2, 3, 1, 0>]
#x_patches = affine_map<(n, y, x, f, j, i, c) -> (n, y * 16 + j, x * 16 + i, c)>
#w_patches = affine_map<(n, y, x, f, j, i, c) -> (f, c, j, i)>
#y_patches = affine_map<(n, y, x, f, j, i, c) -> (n, y, x, f)>
rt.constant @patches_weights = dense<2.0> : tensor<64x3x16x16xf16>
rt.variant @patches target "sm_80" {
  func.func @main(%x: tensor<8x224x224x3xf16>) -> tensor<8x14x14x64xf32> {
    %w = rt.get_constant @patches_weights : tensor<64x3x16x16xf16>
    %e = tensor.empty() : tensor<8x14x14x64xf32>
    %r = kernel.dispatch ins(%x, %w : tensor<8x224x224x3xf16>, tensor<64x3x16x16xf16>) outs(%e : tensor<8x14x14x64xf32>) {
    ^bb0(%a: tensor<8x224x224x3xf16>, %b: tensor<64x3x16x16xf16>, %o: tensor<8x14x14x64xf32>):
      %zero = arith.constant 0.0 : f32
      %f = linalg.fill ins(%zero : f32) outs(%o : tensor<8x14x14x64xf32>) -> tensor<8x14x14x64xf32>
      %g = linalg.generic {indexing_maps = [#x_patches, #w_patches, #y_patches], iterator_types = ["parallel", "parallel", "parallel", "parallel", "reduction", "reduction", "reduction"]}
          ins(%a, %b : tensor<8x224x224x3xf16>, tensor<64x3x16x16xf16>) outs(%f : tensor<8x14x14x64xf32>) {
      ^bb1(%p: f16, %q: f16, %s: f32):
        %pw = arith.extf %p : f16 to f32
        %qw = arith.extf %q : f16 to f32
        %t = math.fma %pw, %qw, %s : f32
        linalg.yield %t : f32
      } -> tensor<8x14x14x64xf32>
      kernel.yield %g : tensor<8x14x14x64xf32>
    } -> tensor<8x14x14x64xf32>
    return %r : tensor<8x14x14x64xf32>
  }
}
