// RUN: cameo-opt %s --pass-pipeline='builtin.module(rt.variant(cameo-assign-schedules))' | FileCheck %s

// Which types go to Tensor Cores, by which instruction, and which do not.

#a = affine_map<(m, n, k) -> (m, k)>
#b = affine_map<(m, n, k) -> (k, n)>
#bt = affine_map<(m, n, k) -> (n, k)>
#y = affine_map<(m, n, k) -> (m, n)>

// CHECK-LABEL: rt.variant @signed
// CHECK: schedule <"mma", {column_lines = "depth", column_vector = 16 : i64, copies = "async", instruction = array<i64: 16, 8, 32>, row_lines = "depth", row_vector = 16 : i64, stages = {{[3-5]}} : i64
rt.variant @signed target "sm_80" {
  func.func @main(%x: tensor<256x64xi8>, %w: tensor<128x64xi8>) -> tensor<256x128xi32> {
    %e = tensor.empty() : tensor<256x128xi32>
    %r = kernel.dispatch ins(%x, %w : tensor<256x64xi8>, tensor<128x64xi8>) outs(%e : tensor<256x128xi32>) {
    ^bb0(%a: tensor<256x64xi8>, %b: tensor<128x64xi8>, %o: tensor<256x128xi32>):
      %zero = arith.constant 0 : i32
      %f = linalg.fill ins(%zero : i32) outs(%o : tensor<256x128xi32>) -> tensor<256x128xi32>
      %g = linalg.generic {indexing_maps = [#a, #bt, #y], iterator_types = ["parallel", "parallel", "reduction"]}
          ins(%a, %b : tensor<256x64xi8>, tensor<128x64xi8>) outs(%f : tensor<256x128xi32>) {
      ^bb1(%p: i8, %q: i8, %s: i32):
        %pw = arith.extsi %p : i8 to i32
        %qw = arith.extsi %q : i8 to i32
        %m = arith.muli %pw, %qw : i32
        %t = arith.addi %s, %m : i32
        linalg.yield %t : i32
      } -> tensor<256x128xi32>
      kernel.yield %g : tensor<256x128xi32>
    } -> tensor<256x128xi32>
    return %r : tensor<256x128xi32>
  }
}

// CHECK-LABEL: rt.variant @mixed
// CHECK: schedule <"mma", {{.*}}instruction = array<i64: 16, 8, 32>
rt.variant @mixed target "sm_80" {
  func.func @main(%x: tensor<256x64xi8>, %w: tensor<128x64xi8>) -> tensor<256x128xi32> {
    %e = tensor.empty() : tensor<256x128xi32>
    %r = kernel.dispatch ins(%x, %w : tensor<256x64xi8>, tensor<128x64xi8>) outs(%e : tensor<256x128xi32>) {
    ^bb0(%a: tensor<256x64xi8>, %b: tensor<128x64xi8>, %o: tensor<256x128xi32>):
      %zero = arith.constant 0 : i32
      %f = linalg.fill ins(%zero : i32) outs(%o : tensor<256x128xi32>) -> tensor<256x128xi32>
      %g = linalg.generic {indexing_maps = [#a, #bt, #y], iterator_types = ["parallel", "parallel", "reduction"]}
          ins(%a, %b : tensor<256x64xi8>, tensor<128x64xi8>) outs(%f : tensor<256x128xi32>) {
      ^bb1(%p: i8, %q: i8, %s: i32):
        %pw = arith.extui %p : i8 to i32
        %qw = arith.extsi %q : i8 to i32
        %m = arith.muli %pw, %qw : i32
        %t = arith.addi %s, %m : i32
        linalg.yield %t : i32
      } -> tensor<256x128xi32>
      kernel.yield %g : tensor<256x128xi32>
    } -> tensor<256x128xi32>
    return %r : tensor<256x128xi32>
  }
}

// CHECK-LABEL: rt.variant @signed_sm75
// CHECK: schedule <"mma", {{.*}}copies = "registers", instruction = array<i64: 8, 8, 16>, {{.*}}stages = 2 : i64
rt.variant @signed_sm75 target "sm_75" {
  func.func @main(%x: tensor<256x64xi8>, %w: tensor<128x64xi8>) -> tensor<256x128xi32> {
    %e = tensor.empty() : tensor<256x128xi32>
    %r = kernel.dispatch ins(%x, %w : tensor<256x64xi8>, tensor<128x64xi8>) outs(%e : tensor<256x128xi32>) {
    ^bb0(%a: tensor<256x64xi8>, %b: tensor<128x64xi8>, %o: tensor<256x128xi32>):
      %zero = arith.constant 0 : i32
      %f = linalg.fill ins(%zero : i32) outs(%o : tensor<256x128xi32>) -> tensor<256x128xi32>
      %g = linalg.generic {indexing_maps = [#a, #bt, #y], iterator_types = ["parallel", "parallel", "reduction"]}
          ins(%a, %b : tensor<256x64xi8>, tensor<128x64xi8>) outs(%f : tensor<256x128xi32>) {
      ^bb1(%p: i8, %q: i8, %s: i32):
        %pw = arith.extsi %p : i8 to i32
        %qw = arith.extsi %q : i8 to i32
        %m = arith.muli %pw, %qw : i32
        %t = arith.addi %s, %m : i32
        linalg.yield %t : i32
      } -> tensor<256x128xi32>
      kernel.yield %g : tensor<256x128xi32>
    } -> tensor<256x128xi32>
    return %r : tensor<256x128xi32>
  }
}

// CHECK-LABEL: rt.variant @bytes_across
// CHECK: schedule <"mma", {column_lines = "across", column_vector = 16 : i64, copies = "async", instruction = array<i64: 16, 8, 32>
rt.variant @bytes_across target "sm_80" {
  func.func @main(%x: tensor<256x64xi8>, %w: tensor<64x128xi8>) -> tensor<256x128xi32> {
    %e = tensor.empty() : tensor<256x128xi32>
    %r = kernel.dispatch ins(%x, %w : tensor<256x64xi8>, tensor<64x128xi8>) outs(%e : tensor<256x128xi32>) {
    ^bb0(%a: tensor<256x64xi8>, %b: tensor<64x128xi8>, %o: tensor<256x128xi32>):
      %zero = arith.constant 0 : i32
      %f = linalg.fill ins(%zero : i32) outs(%o : tensor<256x128xi32>) -> tensor<256x128xi32>
      %g = linalg.generic {indexing_maps = [#a, #b, #y], iterator_types = ["parallel", "parallel", "reduction"]}
          ins(%a, %b : tensor<256x64xi8>, tensor<64x128xi8>) outs(%f : tensor<256x128xi32>) {
      ^bb1(%p: i8, %q: i8, %s: i32):
        %pw = arith.extsi %p : i8 to i32
        %qw = arith.extui %q : i8 to i32
        %m = arith.muli %pw, %qw : i32
        %t = arith.addi %s, %m : i32
        linalg.yield %t : i32
      } -> tensor<256x128xi32>
      kernel.yield %g : tensor<256x128xi32>
    } -> tensor<256x128xi32>
    return %r : tensor<256x128xi32>
  }
}

// f32 may be rounded where that is said.
// CHECK-LABEL: rt.variant @tf32
// CHECK: schedule <"mma", {column_lines = "depth", column_vector = 4 : i64, copies = "async", instruction = array<i64: 16, 8, 8>
rt.variant @tf32 target "sm_80" {
  func.func @main(%x: tensor<256x64xf32>, %w: tensor<128x64xf32>) -> tensor<256x128xf32> {
    %e = tensor.empty() : tensor<256x128xf32>
    %r = kernel.dispatch ins(%x, %w : tensor<256x64xf32>, tensor<128x64xf32>) outs(%e : tensor<256x128xf32>) {
    ^bb0(%a: tensor<256x64xf32>, %b: tensor<128x64xf32>, %o: tensor<256x128xf32>):
      %zero = arith.constant 0.0 : f32
      %f = linalg.fill ins(%zero : f32) outs(%o : tensor<256x128xf32>) -> tensor<256x128xf32>
      %g = linalg.generic {indexing_maps = [#a, #bt, #y], iterator_types = ["parallel", "parallel", "reduction"], kernel.precision = "tf32"}
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

// CHECK-LABEL: rt.variant @f32
// CHECK: schedule <"contraction"
rt.variant @f32 target "sm_80" {
  func.func @main(%x: tensor<256x64xf32>, %w: tensor<128x64xf32>) -> tensor<256x128xf32> {
    %e = tensor.empty() : tensor<256x128xf32>
    %r = kernel.dispatch ins(%x, %w : tensor<256x64xf32>, tensor<128x64xf32>) outs(%e : tensor<256x128xf32>) {
    ^bb0(%a: tensor<256x64xf32>, %b: tensor<128x64xf32>, %o: tensor<256x128xf32>):
      %zero = arith.constant 0.0 : f32
      %f = linalg.fill ins(%zero : f32) outs(%o : tensor<256x128xf32>) -> tensor<256x128xf32>
      %g = linalg.generic {indexing_maps = [#a, #bt, #y], iterator_types = ["parallel", "parallel", "reduction"]}
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

// CHECK-LABEL: rt.variant @tf32_sm75
// CHECK: schedule <"contraction"
rt.variant @tf32_sm75 target "sm_75" {
  func.func @main(%x: tensor<256x64xf32>, %w: tensor<128x64xf32>) -> tensor<256x128xf32> {
    %e = tensor.empty() : tensor<256x128xf32>
    %r = kernel.dispatch ins(%x, %w : tensor<256x64xf32>, tensor<128x64xf32>) outs(%e : tensor<256x128xf32>) {
    ^bb0(%a: tensor<256x64xf32>, %b: tensor<128x64xf32>, %o: tensor<256x128xf32>):
      %zero = arith.constant 0.0 : f32
      %f = linalg.fill ins(%zero : f32) outs(%o : tensor<256x128xf32>) -> tensor<256x128xf32>
      %g = linalg.generic {indexing_maps = [#a, #bt, #y], iterator_types = ["parallel", "parallel", "reduction"], kernel.precision = "tf32"}
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

// Sums in f16 are what the description says, not a choice.
// CHECK-LABEL: rt.variant @half_sums
// CHECK: schedule <"mma", {{.*}}instruction = array<i64: 16, 8, 16>
rt.variant @half_sums target "sm_80" {
  func.func @main(%x: tensor<256x64xf16>, %w: tensor<128x64xf16>) -> tensor<256x128xf16> {
    %e = tensor.empty() : tensor<256x128xf16>
    %r = kernel.dispatch ins(%x, %w : tensor<256x64xf16>, tensor<128x64xf16>) outs(%e : tensor<256x128xf16>) {
    ^bb0(%a: tensor<256x64xf16>, %b: tensor<128x64xf16>, %o: tensor<256x128xf16>):
      %zero = arith.constant 0.0 : f16
      %f = linalg.fill ins(%zero : f16) outs(%o : tensor<256x128xf16>) -> tensor<256x128xf16>
      %g = linalg.generic {indexing_maps = [#a, #bt, #y], iterator_types = ["parallel", "parallel", "reduction"]}
          ins(%a, %b : tensor<256x64xf16>, tensor<128x64xf16>) outs(%f : tensor<256x128xf16>) {
      ^bb1(%p: f16, %q: f16, %s: f16):
        %t = math.fma %p, %q, %s : f16
        linalg.yield %t : f16
      } -> tensor<256x128xf16>
      kernel.yield %g : tensor<256x128xf16>
    } -> tensor<256x128xf16>
    return %r : tensor<256x128xf16>
  }
}

// CHECK-LABEL: rt.variant @half_sums_sm75
// CHECK: schedule <"mma", {{.*}}instruction = array<i64: 16, 8, 8>
rt.variant @half_sums_sm75 target "sm_75" {
  func.func @main(%x: tensor<256x64xf16>, %w: tensor<128x64xf16>) -> tensor<256x128xf16> {
    %e = tensor.empty() : tensor<256x128xf16>
    %r = kernel.dispatch ins(%x, %w : tensor<256x64xf16>, tensor<128x64xf16>) outs(%e : tensor<256x128xf16>) {
    ^bb0(%a: tensor<256x64xf16>, %b: tensor<128x64xf16>, %o: tensor<256x128xf16>):
      %zero = arith.constant 0.0 : f16
      %f = linalg.fill ins(%zero : f16) outs(%o : tensor<256x128xf16>) -> tensor<256x128xf16>
      %g = linalg.generic {indexing_maps = [#a, #bt, #y], iterator_types = ["parallel", "parallel", "reduction"]}
          ins(%a, %b : tensor<256x64xf16>, tensor<128x64xf16>) outs(%f : tensor<256x128xf16>) {
      ^bb1(%p: f16, %q: f16, %s: f16):
        %t = math.fma %p, %q, %s : f16
        linalg.yield %t : f16
      } -> tensor<256x128xf16>
      kernel.yield %g : tensor<256x128xf16>
    } -> tensor<256x128xf16>
    return %r : tensor<256x128xf16>
  }
}

// No instruction multiplies two kinds of floats, or bytes into sums of 64 bits.
// CHECK-LABEL: rt.variant @two_floats
// CHECK: schedule <"contraction"
rt.variant @two_floats target "sm_80" {
  func.func @main(%x: tensor<256x64xf16>, %w: tensor<128x64xbf16>) -> tensor<256x128xf32> {
    %e = tensor.empty() : tensor<256x128xf32>
    %r = kernel.dispatch ins(%x, %w : tensor<256x64xf16>, tensor<128x64xbf16>) outs(%e : tensor<256x128xf32>) {
    ^bb0(%a: tensor<256x64xf16>, %b: tensor<128x64xbf16>, %o: tensor<256x128xf32>):
      %zero = arith.constant 0.0 : f32
      %f = linalg.fill ins(%zero : f32) outs(%o : tensor<256x128xf32>) -> tensor<256x128xf32>
      %g = linalg.generic {indexing_maps = [#a, #bt, #y], iterator_types = ["parallel", "parallel", "reduction"]}
          ins(%a, %b : tensor<256x64xf16>, tensor<128x64xbf16>) outs(%f : tensor<256x128xf32>) {
      ^bb1(%p: f16, %q: bf16, %s: f32):
        %pw = arith.extf %p : f16 to f32
        %qw = arith.extf %q : bf16 to f32
        %t = math.fma %pw, %qw, %s : f32
        linalg.yield %t : f32
      } -> tensor<256x128xf32>
      kernel.yield %g : tensor<256x128xf32>
    } -> tensor<256x128xf32>
    return %r : tensor<256x128xf32>
  }
}

// CHECK-LABEL: rt.variant @long_sums
// CHECK: schedule <"contraction"
rt.variant @long_sums target "sm_80" {
  func.func @main(%x: tensor<256x64xi8>, %w: tensor<128x64xi8>) -> tensor<256x128xi64> {
    %e = tensor.empty() : tensor<256x128xi64>
    %r = kernel.dispatch ins(%x, %w : tensor<256x64xi8>, tensor<128x64xi8>) outs(%e : tensor<256x128xi64>) {
    ^bb0(%a: tensor<256x64xi8>, %b: tensor<128x64xi8>, %o: tensor<256x128xi64>):
      %zero = arith.constant 0 : i64
      %f = linalg.fill ins(%zero : i64) outs(%o : tensor<256x128xi64>) -> tensor<256x128xi64>
      %g = linalg.generic {indexing_maps = [#a, #bt, #y], iterator_types = ["parallel", "parallel", "reduction"]}
          ins(%a, %b : tensor<256x64xi8>, tensor<128x64xi8>) outs(%f : tensor<256x128xi64>) {
      ^bb1(%p: i8, %q: i8, %s: i64):
        %pw = arith.extsi %p : i8 to i64
        %qw = arith.extsi %q : i8 to i64
        %m = arith.muli %pw, %qw : i64
        %t = arith.addi %s, %m : i64
        linalg.yield %t : i64
      } -> tensor<256x128xi64>
      kernel.yield %g : tensor<256x128xi64>
    } -> tensor<256x128xi64>
    return %r : tensor<256x128xi64>
  }
}

// CHECK-LABEL: rt.variant @words
// CHECK: schedule <"contraction"
rt.variant @words target "sm_80" {
  func.func @main(%x: tensor<256x64xi16>, %w: tensor<128x64xi16>) -> tensor<256x128xi32> {
    %e = tensor.empty() : tensor<256x128xi32>
    %r = kernel.dispatch ins(%x, %w : tensor<256x64xi16>, tensor<128x64xi16>) outs(%e : tensor<256x128xi32>) {
    ^bb0(%a: tensor<256x64xi16>, %b: tensor<128x64xi16>, %o: tensor<256x128xi32>):
      %zero = arith.constant 0 : i32
      %f = linalg.fill ins(%zero : i32) outs(%o : tensor<256x128xi32>) -> tensor<256x128xi32>
      %g = linalg.generic {indexing_maps = [#a, #bt, #y], iterator_types = ["parallel", "parallel", "reduction"]}
          ins(%a, %b : tensor<256x64xi16>, tensor<128x64xi16>) outs(%f : tensor<256x128xi32>) {
      ^bb1(%p: i16, %q: i16, %s: i32):
        %pw = arith.extsi %p : i16 to i32
        %qw = arith.extsi %q : i16 to i32
        %m = arith.muli %pw, %qw : i32
        %t = arith.addi %s, %m : i32
        linalg.yield %t : i32
      } -> tensor<256x128xi32>
      kernel.yield %g : tensor<256x128xi32>
    } -> tensor<256x128xi32>
    return %r : tensor<256x128xi32>
  }
}
