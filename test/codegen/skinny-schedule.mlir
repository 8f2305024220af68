// RUN: cameo-opt %s --split-input-file --pass-pipeline='builtin.module(rt.variant(cameo-assign-schedules))' | FileCheck %s
// RUN: cameo-opt %s --split-input-file --pass-pipeline='builtin.module(rt.variant(cameo-assign-schedules,cameo-lower-dispatches,gpu.module(cameo-expand-tiles)))' | FileCheck %s --check-prefix=KERNEL

// Products with up to eight rows or columns read the large operand as it is, 16 bytes at a time.

// Eight rows; what is consecutive goes across.
// CHECK-LABEL: rt.variant @rows
// CHECK: schedule <"skinny", {lanes = array<i64: 4, 8>, store_vector = 4 : i64, thin_vector = 4 : i64, tile = array<i64: 8, 8>, together = 4 : i64, warps = array<i64: {{[0-9]+}}, 8>, wide_lines = "across", wide_vector = 8 : i64}>
// KERNEL-LABEL: rt.variant @rows
// KERNEL: scf.for
// KERNEL: vector.load {{.*}}kernel.alignment = 16 : i64{{.*}}vector<8xf16>
// KERNEL: math.fma
// KERNEL: gpu.shuffle xor
// KERNEL: gpu.barrier
// KERNEL: vector.store {{.*}}kernel.alignment = 16 : i64{{.*}}vector<4xf32>
#a = affine_map<(m, n, k) -> (m, k)>
#b = affine_map<(m, n, k) -> (k, n)>
#bt = affine_map<(m, n, k) -> (n, k)>
#y = affine_map<(m, n, k) -> (m, n)>
#id = affine_map<(m, n) -> (m, n)>
rt.variant @rows target "sm_80" {
  func.func @main(%x: tensor<8x4096xf16>, %w: tensor<4096x4096xf16>) -> tensor<8x4096xf32> {
    %e = tensor.empty() : tensor<8x4096xf32>
    %r = kernel.dispatch ins(%x, %w : tensor<8x4096xf16>, tensor<4096x4096xf16>) outs(%e : tensor<8x4096xf32>) {
    ^bb0(%a: tensor<8x4096xf16>, %b: tensor<4096x4096xf16>, %o: tensor<8x4096xf32>):
      %zero = arith.constant 0.0 : f32
      %f = linalg.fill ins(%zero : f32) outs(%o : tensor<8x4096xf32>) -> tensor<8x4096xf32>
      %g = linalg.generic {indexing_maps = [#a, #b, #y], iterator_types = ["parallel", "parallel", "reduction"]}
          ins(%a, %b : tensor<8x4096xf16>, tensor<4096x4096xf16>) outs(%f : tensor<8x4096xf32>) {
      ^bb1(%p: f16, %q: f16, %s: f32):
        %pw = arith.extf %p : f16 to f32
        %qw = arith.extf %q : f16 to f32
        %t = math.fma %pw, %qw, %s : f32
        linalg.yield %t : f32
      } -> tensor<8x4096xf32>
      kernel.yield %g : tensor<8x4096xf32>
    } -> tensor<8x4096xf32>
    return %r : tensor<8x4096xf32>
  }
}

// -----

// A vector. What is consecutive goes along depth.
// CHECK-LABEL: rt.variant @vector
// CHECK: schedule <"skinny", {{.*}}thin_vector = 4 : i64, {{.*}}wide_lines = "depth", wide_vector = 4 : i64}>
#a = affine_map<(m, n, k) -> (m, k)>
#b = affine_map<(m, n, k) -> (k, n)>
#bt = affine_map<(m, n, k) -> (n, k)>
#y = affine_map<(m, n, k) -> (m, n)>
#id = affine_map<(m, n) -> (m, n)>
rt.variant @vector target "sm_80" {
  func.func @main(%x: tensor<1x512xf32>, %w: tensor<1024x512xf32>) -> tensor<1x1024xf32> {
    %e = tensor.empty() : tensor<1x1024xf32>
    %r = kernel.dispatch ins(%x, %w : tensor<1x512xf32>, tensor<1024x512xf32>) outs(%e : tensor<1x1024xf32>) {
    ^bb0(%a: tensor<1x512xf32>, %b: tensor<1024x512xf32>, %o: tensor<1x1024xf32>):
      %zero = arith.constant 0.0 : f32
      %f = linalg.fill ins(%zero : f32) outs(%o : tensor<1x1024xf32>) -> tensor<1x1024xf32>
      %g = linalg.generic {indexing_maps = [#a, #bt, #y], iterator_types = ["parallel", "parallel", "reduction"]}
          ins(%a, %b : tensor<1x512xf32>, tensor<1024x512xf32>) outs(%f : tensor<1x1024xf32>) {
      ^bb1(%p: f32, %q: f32, %s: f32):
        %t = math.fma %p, %q, %s : f32
        linalg.yield %t : f32
      } -> tensor<1x1024xf32>
      kernel.yield %g : tensor<1x1024xf32>
    } -> tensor<1x1024xf32>
    return %r : tensor<1x1024xf32>
  }
}

// -----

// Few columns: the large operand is the rows'.
// CHECK-LABEL: rt.variant @columns
// CHECK: schedule <"skinny", {{.*}}store_vector = 1 : i64, {{.*}}wide_lines = "depth", wide_vector = 8 : i64}>
#a = affine_map<(m, n, k) -> (m, k)>
#b = affine_map<(m, n, k) -> (k, n)>
#bt = affine_map<(m, n, k) -> (n, k)>
#y = affine_map<(m, n, k) -> (m, n)>
#id = affine_map<(m, n) -> (m, n)>
rt.variant @columns target "sm_80" {
  func.func @main(%x: tensor<512x256xbf16>, %w: tensor<256x3xbf16>) -> tensor<512x3xf32> {
    %e = tensor.empty() : tensor<512x3xf32>
    %r = kernel.dispatch ins(%x, %w : tensor<512x256xbf16>, tensor<256x3xbf16>) outs(%e : tensor<512x3xf32>) {
    ^bb0(%a: tensor<512x256xbf16>, %b: tensor<256x3xbf16>, %o: tensor<512x3xf32>):
      %zero = arith.constant 0.0 : f32
      %f = linalg.fill ins(%zero : f32) outs(%o : tensor<512x3xf32>) -> tensor<512x3xf32>
      %g = linalg.generic {indexing_maps = [#a, #b, #y], iterator_types = ["parallel", "parallel", "reduction"]}
          ins(%a, %b : tensor<512x256xbf16>, tensor<256x3xbf16>) outs(%f : tensor<512x3xf32>) {
      ^bb1(%p: bf16, %q: bf16, %s: f32):
        %pw = arith.extf %p : bf16 to f32
        %qw = arith.extf %q : bf16 to f32
        %t = math.fma %pw, %qw, %s : f32
        linalg.yield %t : f32
      } -> tensor<512x3xf32>
      kernel.yield %g : tensor<512x3xf32>
    } -> tensor<512x3xf32>
    return %r : tensor<512x3xf32>
  }
}

// -----

// Integers, of a size that vectors do not divide.
// CHECK-LABEL: rt.variant @integers
// CHECK: schedule <"skinny", {{.*}}thin_vector = 1 : i64, {{.*}}wide_vector = 1 : i64}>
#a = affine_map<(m, n, k) -> (m, k)>
#b = affine_map<(m, n, k) -> (k, n)>
#bt = affine_map<(m, n, k) -> (n, k)>
#y = affine_map<(m, n, k) -> (m, n)>
#id = affine_map<(m, n) -> (m, n)>
rt.variant @integers target "sm_80" {
  func.func @main(%x: tensor<2x77xi32>, %w: tensor<77x99xi32>) -> tensor<2x99xi32> {
    %e = tensor.empty() : tensor<2x99xi32>
    %r = kernel.dispatch ins(%x, %w : tensor<2x77xi32>, tensor<77x99xi32>) outs(%e : tensor<2x99xi32>) {
    ^bb0(%a: tensor<2x77xi32>, %b: tensor<77x99xi32>, %o: tensor<2x99xi32>):
      %zero = arith.constant 0 : i32
      %f = linalg.fill ins(%zero : i32) outs(%o : tensor<2x99xi32>) -> tensor<2x99xi32>
      %g = linalg.generic {indexing_maps = [#a, #b, #y], iterator_types = ["parallel", "parallel", "reduction"]}
          ins(%a, %b : tensor<2x77xi32>, tensor<77x99xi32>) outs(%f : tensor<2x99xi32>) {
      ^bb1(%p: i32, %q: i32, %s: i32):
        %u = arith.muli %p, %q : i32
        %t = arith.addi %s, %u : i32
        linalg.yield %t : i32
      } -> tensor<2x99xi32>
      kernel.yield %g : tensor<2x99xi32>
    } -> tensor<2x99xi32>
    return %r : tensor<2x99xi32>
  }
}

// -----

// Run-time sizes of the large operand.
// CHECK-LABEL: rt.variant @open
// CHECK: schedule <"skinny"
#a = affine_map<(m, n, k) -> (m, k)>
#b = affine_map<(m, n, k) -> (k, n)>
#bt = affine_map<(m, n, k) -> (n, k)>
#y = affine_map<(m, n, k) -> (m, n)>
#id = affine_map<(m, n) -> (m, n)>
rt.variant @open target "sm_80" {
  func.func @main(%x: tensor<4x64xf16>, %w: tensor<64x?xf16>, %n: index) -> tensor<4x?xf32> {
    %e = tensor.empty(%n) : tensor<4x?xf32>
    %r = kernel.dispatch ins(%x, %w : tensor<4x64xf16>, tensor<64x?xf16>) outs(%e : tensor<4x?xf32>) {
    ^bb0(%a: tensor<4x64xf16>, %b: tensor<64x?xf16>, %o: tensor<4x?xf32>):
      %zero = arith.constant 0.0 : f32
      %f = linalg.fill ins(%zero : f32) outs(%o : tensor<4x?xf32>) -> tensor<4x?xf32>
      %g = linalg.generic {indexing_maps = [#a, #b, #y], iterator_types = ["parallel", "parallel", "reduction"]}
          ins(%a, %b : tensor<4x64xf16>, tensor<64x?xf16>) outs(%f : tensor<4x?xf32>) {
      ^bb1(%p: f16, %q: f16, %s: f32):
        %pw = arith.extf %p : f16 to f32
        %qw = arith.extf %q : f16 to f32
        %t = math.fma %pw, %qw, %s : f32
        linalg.yield %t : f32
      } -> tensor<4x?xf32>
      kernel.yield %g : tensor<4x?xf32>
    } -> tensor<4x?xf32>
    return %r : tensor<4x?xf32>
  }
}

// -----

// Nine rows fill half a tile; what is not long, in depth or across, is a tile or rows.
// CHECK-LABEL: rt.variant @nine
// CHECK: schedule <"mma"
#a = affine_map<(m, n, k) -> (m, k)>
#b = affine_map<(m, n, k) -> (k, n)>
#bt = affine_map<(m, n, k) -> (n, k)>
#y = affine_map<(m, n, k) -> (m, n)>
#id = affine_map<(m, n) -> (m, n)>
rt.variant @nine target "sm_80" {
  func.func @main(%x: tensor<9x256xf16>, %w: tensor<256x256xf16>) -> tensor<9x256xf32> {
    %e = tensor.empty() : tensor<9x256xf32>
    %r = kernel.dispatch ins(%x, %w : tensor<9x256xf16>, tensor<256x256xf16>) outs(%e : tensor<9x256xf32>) {
    ^bb0(%a: tensor<9x256xf16>, %b: tensor<256x256xf16>, %o: tensor<9x256xf32>):
      %zero = arith.constant 0.0 : f32
      %f = linalg.fill ins(%zero : f32) outs(%o : tensor<9x256xf32>) -> tensor<9x256xf32>
      %g = linalg.generic {indexing_maps = [#a, #b, #y], iterator_types = ["parallel", "parallel", "reduction"]}
          ins(%a, %b : tensor<9x256xf16>, tensor<256x256xf16>) outs(%f : tensor<9x256xf32>) {
      ^bb1(%p: f16, %q: f16, %s: f32):
        %pw = arith.extf %p : f16 to f32
        %qw = arith.extf %q : f16 to f32
        %t = math.fma %pw, %qw, %s : f32
        linalg.yield %t : f32
      } -> tensor<9x256xf32>
      kernel.yield %g : tensor<9x256xf32>
    } -> tensor<9x256xf32>
    return %r : tensor<9x256xf32>
  }
}

// -----

// Depth is short.
// CHECK-LABEL: rt.variant @shallow
// CHECK-NOT: "skinny"
#a = affine_map<(m, n, k) -> (m, k)>
#b = affine_map<(m, n, k) -> (k, n)>
#bt = affine_map<(m, n, k) -> (n, k)>
#y = affine_map<(m, n, k) -> (m, n)>
#id = affine_map<(m, n) -> (m, n)>
rt.variant @shallow target "sm_80" {
  func.func @main(%x: tensor<4x16xf32>, %w: tensor<16x256xf32>) -> tensor<4x256xf32> {
    %e = tensor.empty() : tensor<4x256xf32>
    %r = kernel.dispatch ins(%x, %w : tensor<4x16xf32>, tensor<16x256xf32>) outs(%e : tensor<4x256xf32>) {
    ^bb0(%a: tensor<4x16xf32>, %b: tensor<16x256xf32>, %o: tensor<4x256xf32>):
      %zero = arith.constant 0.0 : f32
      %f = linalg.fill ins(%zero : f32) outs(%o : tensor<4x256xf32>) -> tensor<4x256xf32>
      %g = linalg.generic {indexing_maps = [#a, #b, #y], iterator_types = ["parallel", "parallel", "reduction"]}
          ins(%a, %b : tensor<4x16xf32>, tensor<16x256xf32>) outs(%f : tensor<4x256xf32>) {
      ^bb1(%p: f32, %q: f32, %s: f32):
        %t = math.fma %p, %q, %s : f32
        linalg.yield %t : f32
      } -> tensor<4x256xf32>
      kernel.yield %g : tensor<4x256xf32>
    } -> tensor<4x256xf32>
    return %r : tensor<4x256xf32>
  }
}

// -----

// Both sides are short.
// CHECK-LABEL: rt.variant @small
// CHECK-NOT: "skinny"
#a = affine_map<(m, n, k) -> (m, k)>
#b = affine_map<(m, n, k) -> (k, n)>
#bt = affine_map<(m, n, k) -> (n, k)>
#y = affine_map<(m, n, k) -> (m, n)>
#id = affine_map<(m, n) -> (m, n)>
rt.variant @small target "sm_80" {
  func.func @main(%x: tensor<4x256xf32>, %w: tensor<256x16xf32>) -> tensor<4x16xf32> {
    %e = tensor.empty() : tensor<4x16xf32>
    %r = kernel.dispatch ins(%x, %w : tensor<4x256xf32>, tensor<256x16xf32>) outs(%e : tensor<4x16xf32>) {
    ^bb0(%a: tensor<4x256xf32>, %b: tensor<256x16xf32>, %o: tensor<4x16xf32>):
      %zero = arith.constant 0.0 : f32
      %f = linalg.fill ins(%zero : f32) outs(%o : tensor<4x16xf32>) -> tensor<4x16xf32>
      %g = linalg.generic {indexing_maps = [#a, #b, #y], iterator_types = ["parallel", "parallel", "reduction"]}
          ins(%a, %b : tensor<4x256xf32>, tensor<256x16xf32>) outs(%f : tensor<4x16xf32>) {
      ^bb1(%p: f32, %q: f32, %s: f32):
        %t = math.fma %p, %q, %s : f32
        linalg.yield %t : f32
      } -> tensor<4x16xf32>
      kernel.yield %g : tensor<4x16xf32>
    } -> tensor<4x16xf32>
    return %r : tensor<4x16xf32>
  }
}

// -----

// Unknown rows may be many.
// CHECK-LABEL: rt.variant @unknown
// CHECK-NOT: "skinny"
#a = affine_map<(m, n, k) -> (m, k)>
#b = affine_map<(m, n, k) -> (k, n)>
#bt = affine_map<(m, n, k) -> (n, k)>
#y = affine_map<(m, n, k) -> (m, n)>
#id = affine_map<(m, n) -> (m, n)>
rt.variant @unknown target "sm_80" {
  func.func @main(%x: tensor<?x64xf32>, %w: tensor<64x64xf32>, %n: index) -> tensor<?x64xf32> {
    %e = tensor.empty(%n) : tensor<?x64xf32>
    %r = kernel.dispatch ins(%x, %w : tensor<?x64xf32>, tensor<64x64xf32>) outs(%e : tensor<?x64xf32>) {
    ^bb0(%a: tensor<?x64xf32>, %b: tensor<64x64xf32>, %o: tensor<?x64xf32>):
      %zero = arith.constant 0.0 : f32
      %f = linalg.fill ins(%zero : f32) outs(%o : tensor<?x64xf32>) -> tensor<?x64xf32>
      %g = linalg.generic {indexing_maps = [#a, #b, #y], iterator_types = ["parallel", "parallel", "reduction"]}
          ins(%a, %b : tensor<?x64xf32>, tensor<64x64xf32>) outs(%f : tensor<?x64xf32>) {
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

// A window slides over the operand, whose elements threads would read again.
// CHECK-LABEL: rt.variant @window
// CHECK-NOT: "skinny"
#a = affine_map<(m, n, k) -> (m, k)>
#b = affine_map<(m, n, k) -> (k, n)>
#bt = affine_map<(m, n, k) -> (n, k)>
#y = affine_map<(m, n, k) -> (m, n)>
#id = affine_map<(m, n) -> (m, n)>
rt.variant @window target "sm_80" {
  func.func @main(%x: tensor<1x4x70xf32>, %w: tensor<4x4x40xf32>) -> tensor<1x4x31xf32> {
    %e = tensor.empty() : tensor<1x4x31xf32>
    %r = kernel.dispatch ins(%x, %w : tensor<1x4x70xf32>, tensor<4x4x40xf32>) outs(%e : tensor<1x4x31xf32>) {
    ^bb0(%a: tensor<1x4x70xf32>, %b: tensor<4x4x40xf32>, %o: tensor<1x4x31xf32>):
      %zero = arith.constant 0.0 : f32
      %f = linalg.fill ins(%zero : f32) outs(%o : tensor<1x4x31xf32>) -> tensor<1x4x31xf32>
      %g = linalg.generic {indexing_maps = [affine_map<(n, f, x, c, i) -> (n, c, x + i)>, affine_map<(n, f, x, c, i) -> (f, c, i)>, affine_map<(n, f, x, c, i) -> (n, f, x)>], iterator_types = ["parallel", "parallel", "parallel", "reduction", "reduction"]}
          ins(%a, %b : tensor<1x4x70xf32>, tensor<4x4x40xf32>) outs(%f : tensor<1x4x31xf32>) {
      ^bb1(%p: f32, %q: f32, %s: f32):
        %t = math.fma %p, %q, %s : f32
        linalg.yield %t : f32
      } -> tensor<1x4x31xf32>
      kernel.yield %g : tensor<1x4x31xf32>
    } -> tensor<1x4x31xf32>
    return %r : tensor<1x4x31xf32>
  }
}

// -----

// Of one vector for each head, depth is a digit of an index: no window slides.
// CHECK-LABEL: rt.variant @heads
// CHECK: schedule <"skinny", {{.*}}thin_vector = 8 : i64, {{.*}}wide_lines = "depth", wide_vector = 8 : i64}>
#q = affine_map<(h, t, k) -> (h, k)>
#k = affine_map<(h, t, k) -> (h, t, k)>
#s = affine_map<(h, t, k) -> (h, t)>
rt.variant @heads target "sm_80" {
  func.func @main(%x: tensor<768xf16>, %w: tensor<12x?x64xf16>, %n: index) -> tensor<12x?xf32> {
    %e = tensor.empty(%n) : tensor<12x?xf32>
    %r = kernel.dispatch ins(%x, %w : tensor<768xf16>, tensor<12x?x64xf16>) outs(%e : tensor<12x?xf32>) {
    ^bb0(%a: tensor<768xf16>, %b: tensor<12x?x64xf16>, %o: tensor<12x?xf32>):
      %zero = arith.constant 0.0 : f32
      %f = linalg.fill ins(%zero : f32) outs(%o : tensor<12x?xf32>) -> tensor<12x?xf32>
      %q = tensor.expand_shape %a [[0, 1]] output_shape [12, 64] : tensor<768xf16> into tensor<12x64xf16>
      %g = linalg.generic {indexing_maps = [#q, #k, #s], iterator_types = ["parallel", "parallel", "reduction"]}
          ins(%q, %b : tensor<12x64xf16>, tensor<12x?x64xf16>) outs(%f : tensor<12x?xf32>) {
      ^bb1(%p: f16, %v: f16, %c: f32):
        %pw = arith.extf %p : f16 to f32
        %vw = arith.extf %v : f16 to f32
        %t = math.fma %pw, %vw, %c : f32
        linalg.yield %t : f32
      } -> tensor<12x?xf32>
      kernel.yield %g : tensor<12x?xf32>
    } -> tensor<12x?xf32>
    return %r : tensor<12x?xf32>
  }
}

// -----

// How depth is shared follows from depth alone: here and where the other side is many times as wide.
// CHECK-LABEL: rt.variant @narrow
// CHECK: schedule <"skinny", {lanes = array<i64: 4, 8>, {{.*}}tile = array<i64: {{[0-9]+}}, 8>, {{.*}}warps = array<i64: {{[0-9]+}}, 4>
#a = affine_map<(m, n, k) -> (m, k)>
#b = affine_map<(m, n, k) -> (k, n)>
#y = affine_map<(m, n, k) -> (m, n)>
rt.variant @narrow target "sm_80" {
  func.func @main(%x: tensor<2x512xf32>, %w: tensor<512x64xf32>) -> tensor<2x64xf32> {
    %e = tensor.empty() : tensor<2x64xf32>
    %r = kernel.dispatch ins(%x, %w : tensor<2x512xf32>, tensor<512x64xf32>) outs(%e : tensor<2x64xf32>) {
    ^bb0(%a: tensor<2x512xf32>, %b: tensor<512x64xf32>, %o: tensor<2x64xf32>):
      %zero = arith.constant 0.0 : f32
      %f = linalg.fill ins(%zero : f32) outs(%o : tensor<2x64xf32>) -> tensor<2x64xf32>
      %g = linalg.generic {indexing_maps = [#a, #b, #y], iterator_types = ["parallel", "parallel", "reduction"]}
          ins(%a, %b : tensor<2x512xf32>, tensor<512x64xf32>) outs(%f : tensor<2x64xf32>) {
      ^bb1(%p: f32, %q: f32, %s: f32):
        %t = math.fma %p, %q, %s : f32
        linalg.yield %t : f32
      } -> tensor<2x64xf32>
      kernel.yield %g : tensor<2x64xf32>
    } -> tensor<2x64xf32>
    return %r : tensor<2x64xf32>
  }
}

// -----

// CHECK-LABEL: rt.variant @broad
// CHECK: schedule <"skinny", {lanes = array<i64: 4, 8>, {{.*}}tile = array<i64: {{[0-9]+}}, 8>, {{.*}}warps = array<i64: {{[0-9]+}}, 4>
#a = affine_map<(m, n, k) -> (m, k)>
#b = affine_map<(m, n, k) -> (k, n)>
#y = affine_map<(m, n, k) -> (m, n)>
rt.variant @broad target "sm_80" {
  func.func @main(%x: tensor<2x512xf32>, %w: tensor<512x65536xf32>) -> tensor<2x65536xf32> {
    %e = tensor.empty() : tensor<2x65536xf32>
    %r = kernel.dispatch ins(%x, %w : tensor<2x512xf32>, tensor<512x65536xf32>) outs(%e : tensor<2x65536xf32>) {
    ^bb0(%a: tensor<2x512xf32>, %b: tensor<512x65536xf32>, %o: tensor<2x65536xf32>):
      %zero = arith.constant 0.0 : f32
      %f = linalg.fill ins(%zero : f32) outs(%o : tensor<2x65536xf32>) -> tensor<2x65536xf32>
      %g = linalg.generic {indexing_maps = [#a, #b, #y], iterator_types = ["parallel", "parallel", "reduction"]}
          ins(%a, %b : tensor<2x512xf32>, tensor<512x65536xf32>) outs(%f : tensor<2x65536xf32>) {
      ^bb1(%p: f32, %q: f32, %s: f32):
        %t = math.fma %p, %q, %s : f32
        linalg.yield %t : f32
      } -> tensor<2x65536xf32>
      kernel.yield %g : tensor<2x65536xf32>
    } -> tensor<2x65536xf32>
    return %r : tensor<2x65536xf32>
  }
}

// -----

// Weights of eight columns are a tile's, as they are with those of other products beside them.
// CHECK-LABEL: rt.variant @weights
// CHECK: schedule <"contraction"
#a = affine_map<(m, n, k) -> (m, k)>
#b = affine_map<(m, n, k) -> (k, n)>
#y = affine_map<(m, n, k) -> (m, n)>
rt.constant @w = dense<2.0> : tensor<64x8xf32>
rt.variant @weights target "sm_80" {
  func.func @main(%x: tensor<200x64xf32>) -> tensor<200x8xf32> {
    %w = rt.get_constant @w : tensor<64x8xf32>
    %e = tensor.empty() : tensor<200x8xf32>
    %r = kernel.dispatch ins(%x, %w : tensor<200x64xf32>, tensor<64x8xf32>) outs(%e : tensor<200x8xf32>) {
    ^bb0(%a: tensor<200x64xf32>, %b: tensor<64x8xf32>, %o: tensor<200x8xf32>):
      %zero = arith.constant 0.0 : f32
      %f = linalg.fill ins(%zero : f32) outs(%o : tensor<200x8xf32>) -> tensor<200x8xf32>
      %g = linalg.generic {indexing_maps = [#a, #b, #y], iterator_types = ["parallel", "parallel", "reduction"]}
          ins(%a, %b : tensor<200x64xf32>, tensor<64x8xf32>) outs(%f : tensor<200x8xf32>) {
      ^bb1(%p: f32, %q: f32, %s: f32):
        %t = math.fma %p, %q, %s : f32
        linalg.yield %t : f32
      } -> tensor<200x8xf32>
      kernel.yield %g : tensor<200x8xf32>
    } -> tensor<200x8xf32>
    return %r : tensor<200x8xf32>
  }
}

// -----

// A long depth that few columns leave to few blocks is split: parts of the sums go to a workspace, a second launch
// adds them and does the rest.
// CHECK-LABEL: rt.variant @parts
// CHECK: schedule <"skinny", {{.*}}splits = {{[0-9]+}} : i64
// KERNEL-LABEL: rt.variant @parts
// KERNEL: %[[SPACE:.*]] = tensor.empty() : tensor<[[P:[0-9]+]]x1x64xf32>
// KERNEL: %[[PARTS:.*]] = rt.launch @[[K:.*]]::@[[K]] {{.*}}args(%{{.*}}, %{{.*}}, %[[SPACE]] :
// KERNEL: rt.launch @[[S:.*]]::@[[S]] finishes @[[K]]::@[[K]] {{.*}}args(%[[PARTS]], %{{.*}} :
// KERNEL: gpu.func @{{.*}}_parts(
// KERNEL: gpu.shuffle xor
// KERNEL-NOT: math.absf
// KERNEL: gpu.module @[[S]]
// KERNEL: math.absf
#a = affine_map<(m, n, k) -> (m, k)>
#b = affine_map<(m, n, k) -> (k, n)>
#y = affine_map<(m, n, k) -> (m, n)>
#id = affine_map<(m, n) -> (m, n)>
rt.variant @parts target "sm_80" {
  func.func @main(%x: tensor<1x65536xf32>, %w: tensor<65536x64xf32>) -> tensor<1x64xf32> {
    %e = tensor.empty() : tensor<1x64xf32>
    %r = kernel.dispatch ins(%x, %w : tensor<1x65536xf32>, tensor<65536x64xf32>) outs(%e : tensor<1x64xf32>) {
    ^bb0(%a: tensor<1x65536xf32>, %b: tensor<65536x64xf32>, %o: tensor<1x64xf32>):
      %zero = arith.constant 0.0 : f32
      %f = linalg.fill ins(%zero : f32) outs(%o : tensor<1x64xf32>) -> tensor<1x64xf32>
      %g = linalg.generic {indexing_maps = [#a, #b, #y], iterator_types = ["parallel", "parallel", "reduction"]}
          ins(%a, %b : tensor<1x65536xf32>, tensor<65536x64xf32>) outs(%f : tensor<1x64xf32>) {
      ^bb1(%p: f32, %q: f32, %s: f32):
        %t = math.fma %p, %q, %s : f32
        linalg.yield %t : f32
      } -> tensor<1x64xf32>
      %h = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel", "parallel"]} ins(%g : tensor<1x64xf32>) outs(%o : tensor<1x64xf32>) {
      ^bb1(%v: f32, %z: f32):
        %l = math.absf %v : f32
        linalg.yield %l : f32
      } -> tensor<1x64xf32>
      kernel.yield %h : tensor<1x64xf32>
    } -> tensor<1x64xf32>
    return %r : tensor<1x64xf32>
  }
}

// -----

// Parts have whole steps of blocks, 512; the last one has what is behind the last whole step of a thread, too.
// KERNEL-LABEL: rt.variant @part_and_rest
// KERNEL: gpu.func @{{.*}}_parts(
// KERNEL: %[[PART:.*]] = arith.divui %{{.*}}, %{{.*}} : index
// KERNEL: %[[FIRST:.*]] = arith.muli %[[PART]], %{{.*}} : index
// KERNEL: scf.for
// KERNEL: %[[IS_LAST:.*]] = arith.cmpi eq, %[[PART]], %{{.*}} : index
// KERNEL: arith.select %[[IS_LAST]]
// KERNEL: scf.for
#a = affine_map<(m, n, k) -> (m, k)>
#b = affine_map<(m, n, k) -> (k, n)>
#y = affine_map<(m, n, k) -> (m, n)>
#id = affine_map<(m, n) -> (m, n)>
rt.variant @part_and_rest target "sm_80" {
  func.func @main(%x: tensor<1x1333xf32>, %w: tensor<1333x64xf32>) -> tensor<1x64xf32> {
    %e = tensor.empty() : tensor<1x64xf32>
    %r = kernel.dispatch ins(%x, %w : tensor<1x1333xf32>, tensor<1333x64xf32>) outs(%e : tensor<1x64xf32>) schedule <"skinny", {lanes = array<i64: 4, 8>, splits = 3 : i64, store_vector = 4 : i64, thin_vector = 1 : i64, tile = array<i64: 4, 8>, warps = array<i64: 1, 8>, wide_lines = "across", wide_vector = 4 : i64}> {
    ^bb0(%a: tensor<1x1333xf32>, %b: tensor<1333x64xf32>, %o: tensor<1x64xf32>):
      %zero = arith.constant 0.0 : f32
      %f = linalg.fill ins(%zero : f32) outs(%o : tensor<1x64xf32>) -> tensor<1x64xf32>
      %g = linalg.generic {indexing_maps = [#a, #b, #y], iterator_types = ["parallel", "parallel", "reduction"]}
          ins(%a, %b : tensor<1x1333xf32>, tensor<1333x64xf32>) outs(%f : tensor<1x64xf32>) {
      ^bb1(%p: f32, %q: f32, %s: f32):
        %t = math.fma %p, %q, %s : f32
        linalg.yield %t : f32
      } -> tensor<1x64xf32>
      %h = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel", "parallel"]} ins(%g : tensor<1x64xf32>) outs(%o : tensor<1x64xf32>) {
      ^bb1(%v: f32, %z: f32):
        %l = math.absf %v : f32
        linalg.yield %l : f32
      } -> tensor<1x64xf32>
      kernel.yield %h : tensor<1x64xf32>
    } -> tensor<1x64xf32>
    return %r : tensor<1x64xf32>
  }
}

// -----

// Not a depth of less than 1024.
// CHECK-LABEL: rt.variant @short
// CHECK: schedule <"skinny"
// CHECK-NOT: splits
#a = affine_map<(m, n, k) -> (m, k)>
#b = affine_map<(m, n, k) -> (k, n)>
#y = affine_map<(m, n, k) -> (m, n)>
#id = affine_map<(m, n) -> (m, n)>
rt.variant @short target "sm_80" {
  func.func @main(%x: tensor<1x1000xf32>, %w: tensor<1000x32xf32>) -> tensor<1x32xf32> {
    %e = tensor.empty() : tensor<1x32xf32>
    %r = kernel.dispatch ins(%x, %w : tensor<1x1000xf32>, tensor<1000x32xf32>) outs(%e : tensor<1x32xf32>) {
    ^bb0(%a: tensor<1x1000xf32>, %b: tensor<1000x32xf32>, %o: tensor<1x32xf32>):
      %zero = arith.constant 0.0 : f32
      %f = linalg.fill ins(%zero : f32) outs(%o : tensor<1x32xf32>) -> tensor<1x32xf32>
      %g = linalg.generic {indexing_maps = [#a, #b, #y], iterator_types = ["parallel", "parallel", "reduction"]}
          ins(%a, %b : tensor<1x1000xf32>, tensor<1000x32xf32>) outs(%f : tensor<1x32xf32>) {
      ^bb1(%p: f32, %q: f32, %s: f32):
        %t = math.fma %p, %q, %s : f32
        linalg.yield %t : f32
      } -> tensor<1x32xf32>
      %h = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel", "parallel"]} ins(%g : tensor<1x32xf32>) outs(%o : tensor<1x32xf32>) {
      ^bb1(%v: f32, %z: f32):
        %l = math.absf %v : f32
        linalg.yield %l : f32
      } -> tensor<1x32xf32>
      kernel.yield %h : tensor<1x32xf32>
    } -> tensor<1x32xf32>
    return %r : tensor<1x32xf32>
  }
}
