// RUN: cameo-opt %s --split-input-file --pass-pipeline='builtin.module(rt.variant(cameo-assign-schedules),cameo-pack-weights)' | FileCheck %s
// RUN: cameo-opt %s --split-input-file --pass-pipeline='builtin.module(rt.variant(cameo-assign-schedules),cameo-pack-weights,rt.variant(cameo-assign-schedules),cameo-pack-weights)' | FileCheck %s

// A matrix product that reads its second operand transposed: packed, for both variants at once. (In
// bytes: 0.0, 16.0, ...)
// CHECK: #[[MAP:.*]] = affine_map<(d0, d1, d2) -> (d2, d1)>
// CHECK-NOT: rt.constant @w =
// CHECK: rt.constant @w_1_0 = dense<"0x0000000000008041{{.*}}> : tensor<16x8xf32>
// CHECK-NOT: rt.constant
// CHECK-LABEL: rt.variant @sm_80
// CHECK: %[[W:.*]] = rt.get_constant @w_1_0 : tensor<16x8xf32>
// CHECK: kernel.dispatch ins(%{{.*}}, %[[W]] : tensor<64x16xf32>, tensor<16x8xf32>)
// CHECK: indexing_maps = [#{{.*}}, #[[MAP]], #{{.*}}]
// CHECK-LABEL: rt.variant @sm_90
// CHECK: rt.get_constant @w_1_0
#x = affine_map<(m, n, k) -> (m, k)>
#w = affine_map<(m, n, k) -> (n, k)>
#y = affine_map<(m, n, k) -> (m, n)>
rt.constant @w = dense<[[0.0, 1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0, 8.0, 9.0, 10.0, 11.0, 12.0, 13.0, 14.0, 15.0], [16.0, 17.0, 18.0, 19.0, 20.0, 21.0, 22.0, 23.0, 24.0, 25.0, 26.0, 27.0, 28.0, 29.0, 30.0, 31.0], [32.0, 33.0, 34.0, 35.0, 36.0, 37.0, 38.0, 39.0, 40.0, 41.0, 42.0, 43.0, 44.0, 45.0, 46.0, 47.0], [48.0, 49.0, 50.0, 51.0, 52.0, 53.0, 54.0, 55.0, 56.0, 57.0, 58.0, 59.0, 60.0, 61.0, 62.0, 63.0], [64.0, 65.0, 66.0, 67.0, 68.0, 69.0, 70.0, 71.0, 72.0, 73.0, 74.0, 75.0, 76.0, 77.0, 78.0, 79.0], [80.0, 81.0, 82.0, 83.0, 84.0, 85.0, 86.0, 87.0, 88.0, 89.0, 90.0, 91.0, 92.0, 93.0, 94.0, 95.0], [96.0, 97.0, 98.0, 99.0, 100.0, 101.0, 102.0, 103.0, 104.0, 105.0, 106.0, 107.0, 108.0, 109.0, 110.0, 111.0], [112.0, 113.0, 114.0, 115.0, 116.0, 117.0, 118.0, 119.0, 120.0, 121.0, 122.0, 123.0, 124.0, 125.0, 126.0, 127.0]]> : tensor<8x16xf32>
rt.variant @sm_80 target "sm_80" {
  func.func @main(%x: tensor<64x16xf32>) -> tensor<64x8xf32> {
    %w = rt.get_constant @w : tensor<8x16xf32>
    %e = tensor.empty() : tensor<64x8xf32>
    %r = kernel.dispatch ins(%x, %w : tensor<64x16xf32>, tensor<8x16xf32>)
                         outs(%e : tensor<64x8xf32>) {
    ^bb0(%a: tensor<64x16xf32>, %b: tensor<8x16xf32>, %o: tensor<64x8xf32>):
      %z = arith.constant 0.0 : f32
      %f = linalg.fill ins(%z : f32) outs(%o : tensor<64x8xf32>) -> tensor<64x8xf32>
      %g = linalg.generic {indexing_maps = [#x, #w, #y],
                           iterator_types = ["parallel", "parallel", "reduction"]}
          ins(%a, %b : tensor<64x16xf32>, tensor<8x16xf32>) outs(%f : tensor<64x8xf32>) {
      ^bb1(%u: f32, %v: f32, %s: f32):
        %q = math.fma %u, %v, %s : f32
        linalg.yield %q : f32
      } -> tensor<64x8xf32>
      kernel.yield %g : tensor<64x8xf32>
    } -> tensor<64x8xf32>
    return %r : tensor<64x8xf32>
  }
}
rt.variant @sm_90 target "sm_90" {
  func.func @main(%x: tensor<64x16xf32>) -> tensor<64x8xf32> {
    %w = rt.get_constant @w : tensor<8x16xf32>
    %e = tensor.empty() : tensor<64x8xf32>
    %r = kernel.dispatch ins(%x, %w : tensor<64x16xf32>, tensor<8x16xf32>)
                         outs(%e : tensor<64x8xf32>) {
    ^bb0(%a: tensor<64x16xf32>, %b: tensor<8x16xf32>, %o: tensor<64x8xf32>):
      %z = arith.constant 0.0 : f32
      %f = linalg.fill ins(%z : f32) outs(%o : tensor<64x8xf32>) -> tensor<64x8xf32>
      %g = linalg.generic {indexing_maps = [#x, #w, #y],
                           iterator_types = ["parallel", "parallel", "reduction"]}
          ins(%a, %b : tensor<64x16xf32>, tensor<8x16xf32>) outs(%f : tensor<64x8xf32>) {
      ^bb1(%u: f32, %v: f32, %s: f32):
        %q = math.fma %u, %v, %s : f32
        linalg.yield %q : f32
      } -> tensor<64x8xf32>
      kernel.yield %g : tensor<64x8xf32>
    } -> tensor<64x8xf32>
    return %r : tensor<64x8xf32>
  }
}

// -----

// A dispatch whose schedule is given keeps its weights: the schedule was chosen for them.
// CHECK-LABEL: rt.variant @given
// CHECK-NOT: @w_1_0
#x = affine_map<(m, n, k) -> (m, k)>
#w = affine_map<(m, n, k) -> (n, k)>
#y = affine_map<(m, n, k) -> (m, n)>
rt.constant @w = dense<[[0.0, 1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0, 8.0, 9.0, 10.0, 11.0, 12.0, 13.0, 14.0, 15.0], [16.0, 17.0, 18.0, 19.0, 20.0, 21.0, 22.0, 23.0, 24.0, 25.0, 26.0, 27.0, 28.0, 29.0, 30.0, 31.0], [32.0, 33.0, 34.0, 35.0, 36.0, 37.0, 38.0, 39.0, 40.0, 41.0, 42.0, 43.0, 44.0, 45.0, 46.0, 47.0], [48.0, 49.0, 50.0, 51.0, 52.0, 53.0, 54.0, 55.0, 56.0, 57.0, 58.0, 59.0, 60.0, 61.0, 62.0, 63.0], [64.0, 65.0, 66.0, 67.0, 68.0, 69.0, 70.0, 71.0, 72.0, 73.0, 74.0, 75.0, 76.0, 77.0, 78.0, 79.0], [80.0, 81.0, 82.0, 83.0, 84.0, 85.0, 86.0, 87.0, 88.0, 89.0, 90.0, 91.0, 92.0, 93.0, 94.0, 95.0], [96.0, 97.0, 98.0, 99.0, 100.0, 101.0, 102.0, 103.0, 104.0, 105.0, 106.0, 107.0, 108.0, 109.0, 110.0, 111.0], [112.0, 113.0, 114.0, 115.0, 116.0, 117.0, 118.0, 119.0, 120.0, 121.0, 122.0, 123.0, 124.0, 125.0, 126.0, 127.0]]> : tensor<8x16xf32>
rt.variant @given target "sm_80" {
  func.func @main(%x: tensor<64x16xf32>) -> tensor<64x8xf32> {
    %w = rt.get_constant @w : tensor<8x16xf32>
    %e = tensor.empty() : tensor<64x8xf32>
    %r = kernel.dispatch ins(%x, %w : tensor<64x16xf32>, tensor<8x16xf32>)
                         outs(%e : tensor<64x8xf32>)
        schedule <"map", {flat = false, threads = 64 : i64, vector = 1 : i64}> {
    ^bb0(%a: tensor<64x16xf32>, %b: tensor<8x16xf32>, %o: tensor<64x8xf32>):
      %z = arith.constant 0.0 : f32
      %f = linalg.fill ins(%z : f32) outs(%o : tensor<64x8xf32>) -> tensor<64x8xf32>
      %g = linalg.generic {indexing_maps = [#x, #w, #y],
                           iterator_types = ["parallel", "parallel", "reduction"]}
          ins(%a, %b : tensor<64x16xf32>, tensor<8x16xf32>) outs(%f : tensor<64x8xf32>) {
      ^bb1(%u: f32, %v: f32, %s: f32):
        %q = math.fma %u, %v, %s : f32
        linalg.yield %q : f32
      } -> tensor<64x8xf32>
      kernel.yield %g : tensor<64x8xf32>
    } -> tensor<64x8xf32>
    return %r : tensor<64x8xf32>
  }
}

// -----

// Where all values are the same, the shape alone is permuted.
// CHECK: rt.constant @w_1_0 = dense<1.000000e+00> : tensor<16x8xf32>
// CHECK-LABEL: rt.variant @splat
// CHECK: rt.get_constant @w_1_0
#x = affine_map<(m, n, k) -> (m, k)>
#w = affine_map<(m, n, k) -> (n, k)>
#y = affine_map<(m, n, k) -> (m, n)>
rt.constant @w = dense<1.0> : tensor<8x16xf32>
rt.variant @splat target "sm_80" {
  func.func @main(%x: tensor<64x16xf32>) -> tensor<64x8xf32> {
    %w = rt.get_constant @w : tensor<8x16xf32>
    %e = tensor.empty() : tensor<64x8xf32>
    %r = kernel.dispatch ins(%x, %w : tensor<64x16xf32>, tensor<8x16xf32>)
                         outs(%e : tensor<64x8xf32>) {
    ^bb0(%a: tensor<64x16xf32>, %b: tensor<8x16xf32>, %o: tensor<64x8xf32>):
      %z = arith.constant 0.0 : f32
      %f = linalg.fill ins(%z : f32) outs(%o : tensor<64x8xf32>) -> tensor<64x8xf32>
      %g = linalg.generic {indexing_maps = [#x, #w, #y],
                           iterator_types = ["parallel", "parallel", "reduction"]}
          ins(%a, %b : tensor<64x16xf32>, tensor<8x16xf32>) outs(%f : tensor<64x8xf32>) {
      ^bb1(%u: f32, %v: f32, %s: f32):
        %q = math.fma %u, %v, %s : f32
        linalg.yield %q : f32
      } -> tensor<64x8xf32>
      kernel.yield %g : tensor<64x8xf32>
    } -> tensor<64x8xf32>
    return %r : tensor<64x8xf32>
  }
}

// -----

// In another shape: packed as it is read, and the original stays for who reads that.
// CHECK: #[[SPLIT:.*]] = affine_map<(d0, d1, d2, d3) -> (d2, d3, d0)>
// CHECK: rt.constant @w = dense
// CHECK: rt.constant @wx8x2x4_1_2_0 = dense<{{.*}}> : tensor<2x4x8xf32>
// CHECK-LABEL: rt.variant @reshaped
// CHECK: %[[W:.*]] = rt.get_constant @wx8x2x4_1_2_0 : tensor<2x4x8xf32>
// CHECK-NOT: rt.reshape
// CHECK: kernel.dispatch ins(%{{.*}}, %[[W]] :
// CHECK: indexing_maps = [#{{.*}}, #[[SPLIT]], #{{.*}}]
#x = affine_map<(n, m, a, b) -> (m, a, b)>
#w = affine_map<(n, m, a, b) -> (n, a, b)>
#y = affine_map<(n, m, a, b) -> (n, m)>
rt.constant @w = dense<"0x000000000000803F0000004000004040000080400000A0400000C0400000E0400000004100001041000020410000304100004041000050410000604100007041000080410000884100009041000098410000A0410000A8410000B0410000B8410000C0410000C8410000D0410000D8410000E0410000E8410000F0410000F84100000042000004420000084200000C4200001042000014420000184200001C4200002042000024420000284200002C4200003042000034420000384200003C4200004042000044420000484200004C4200005042000054420000584200005C4200006042000064420000684200006C4200007042000074420000784200007C42"> : tensor<8x8xf32>
rt.variant @reshaped target "sm_80" {
  func.func @main(%x: tensor<64x2x4xf32>) -> (tensor<8x64xf32>, tensor<8x8xf32>) {
    %w = rt.get_constant @w : tensor<8x8xf32>
    %v = rt.reshape %w : tensor<8x8xf32> -> tensor<8x2x4xf32>
    %e = tensor.empty() : tensor<8x64xf32>
    %r = kernel.dispatch ins(%x, %v : tensor<64x2x4xf32>, tensor<8x2x4xf32>)
                         outs(%e : tensor<8x64xf32>) {
    ^bb0(%a: tensor<64x2x4xf32>, %b: tensor<8x2x4xf32>, %o: tensor<8x64xf32>):
      %z = arith.constant 0.0 : f32
      %f = linalg.fill ins(%z : f32) outs(%o : tensor<8x64xf32>) -> tensor<8x64xf32>
      %g = linalg.generic {indexing_maps = [#x, #w, #y],
                           iterator_types = ["parallel", "parallel", "reduction", "reduction"]}
          ins(%a, %b : tensor<64x2x4xf32>, tensor<8x2x4xf32>) outs(%f : tensor<8x64xf32>) {
      ^bb1(%u: f32, %v1: f32, %s: f32):
        %q = math.fma %u, %v1, %s : f32
        linalg.yield %q : f32
      } -> tensor<8x64xf32>
      kernel.yield %g : tensor<8x64xf32>
    } -> tensor<8x64xf32>
    return %r, %w : tensor<8x64xf32>, tensor<8x8xf32>
  }
}

// -----

// Channels that the other operand has innermost are innermost along depth, too, few as they are: it is copied along
// them.
// CHECK-LABEL: rt.constant @w_2_1_0
// CHECK-SAME: tensor<3x8x16xf32>
// CHECK-LABEL: rt.variant @innermost
// CHECK: kernel.dispatch ins(%{{.*}}, %{{.*}} : tensor<66x8xf32>, tensor<3x8x16xf32>)
#x = affine_map<(m, f, c, k) -> (m + k, c)>
#w = affine_map<(m, f, c, k) -> (f, c, k)>
#y = affine_map<(m, f, c, k) -> (m, f)>
rt.constant @w = dense<1.0> : tensor<16x8x3xf32>
rt.variant @innermost target "sm_80" {
  func.func @main(%x: tensor<66x8xf32>) -> tensor<64x16xf32> {
    %w = rt.get_constant @w : tensor<16x8x3xf32>
    %e = tensor.empty() : tensor<64x16xf32>
    %r = kernel.dispatch ins(%x, %w : tensor<66x8xf32>, tensor<16x8x3xf32>)
                         outs(%e : tensor<64x16xf32>) {
    ^bb0(%a: tensor<66x8xf32>, %b: tensor<16x8x3xf32>, %o: tensor<64x16xf32>):
      %z = arith.constant 0.0 : f32
      %i = linalg.fill ins(%z : f32) outs(%o : tensor<64x16xf32>) -> tensor<64x16xf32>
      %g = linalg.generic {indexing_maps = [#x, #w, #y],
                           iterator_types = ["parallel", "parallel", "reduction", "reduction"]}
          ins(%a, %b : tensor<66x8xf32>, tensor<16x8x3xf32>) outs(%i : tensor<64x16xf32>) {
      ^bb1(%u: f32, %v: f32, %s: f32):
        %q = math.fma %u, %v, %s : f32
        linalg.yield %q : f32
      } -> tensor<64x16xf32>
      kernel.yield %g : tensor<64x16xf32>
    } -> tensor<64x16xf32>
    return %r : tensor<64x16xf32>
  }
}

// -----

// Of 27 columns no two are aligned; along depth eight are together.
// CHECK-LABEL: rt.variant @odd_columns
// CHECK: rt.get_constant @w_1_0 : tensor<27x64xf16>
#x = affine_map<(m, n, k) -> (m, k)>
#w = affine_map<(m, n, k) -> (k, n)>
#y = affine_map<(m, n, k) -> (m, n)>
rt.constant @w = dense<2.0> : tensor<64x27xf16>
rt.variant @odd_columns target "sm_80" {
  func.func @main(%x: tensor<64x64xf16>) -> tensor<64x27xf32> {
    %w = rt.get_constant @w : tensor<64x27xf16>
    %e = tensor.empty() : tensor<64x27xf32>
    %r = kernel.dispatch ins(%x, %w : tensor<64x64xf16>, tensor<64x27xf16>)
                         outs(%e : tensor<64x27xf32>) {
    ^bb0(%a: tensor<64x64xf16>, %b: tensor<64x27xf16>, %o: tensor<64x27xf32>):
      %z = arith.constant 0.0 : f32
      %f = linalg.fill ins(%z : f32) outs(%o : tensor<64x27xf32>) -> tensor<64x27xf32>
      %g = linalg.generic {indexing_maps = [#x, #w, #y],
                           iterator_types = ["parallel", "parallel", "reduction"]}
          ins(%a, %b : tensor<64x64xf16>, tensor<64x27xf16>) outs(%f : tensor<64x27xf32>) {
      ^bb1(%u: f16, %v: f16, %s: f32):
        %uw = arith.extf %u : f16 to f32
        %vw = arith.extf %v : f16 to f32
        %q = math.fma %uw, %vw, %s : f32
        linalg.yield %q : f32
      } -> tensor<64x27xf32>
      kernel.yield %g : tensor<64x27xf32>
    } -> tensor<64x27xf32>
    return %r : tensor<64x27xf32>
  }
}

// -----

// Columns have as much, or neither has: they stay innermost.
// CHECK-LABEL: rt.variant @whole_columns
// CHECK: rt.get_constant @w : tensor<64x24xf16>
#x = affine_map<(m, n, k) -> (m, k)>
#w = affine_map<(m, n, k) -> (k, n)>
#y = affine_map<(m, n, k) -> (m, n)>
rt.constant @w = dense<2.0> : tensor<64x24xf16>
rt.variant @whole_columns target "sm_80" {
  func.func @main(%x: tensor<64x64xf16>) -> tensor<64x24xf32> {
    %w = rt.get_constant @w : tensor<64x24xf16>
    %e = tensor.empty() : tensor<64x24xf32>
    %r = kernel.dispatch ins(%x, %w : tensor<64x64xf16>, tensor<64x24xf16>)
                         outs(%e : tensor<64x24xf32>) {
    ^bb0(%a: tensor<64x64xf16>, %b: tensor<64x24xf16>, %o: tensor<64x24xf32>):
      %z = arith.constant 0.0 : f32
      %f = linalg.fill ins(%z : f32) outs(%o : tensor<64x24xf32>) -> tensor<64x24xf32>
      %g = linalg.generic {indexing_maps = [#x, #w, #y],
                           iterator_types = ["parallel", "parallel", "reduction"]}
          ins(%a, %b : tensor<64x64xf16>, tensor<64x24xf16>) outs(%f : tensor<64x24xf32>) {
      ^bb1(%u: f16, %v: f16, %s: f32):
        %uw = arith.extf %u : f16 to f32
        %vw = arith.extf %v : f16 to f32
        %q = math.fma %uw, %vw, %s : f32
        linalg.yield %q : f32
      } -> tensor<64x24xf32>
      kernel.yield %g : tensor<64x24xf32>
    } -> tensor<64x24xf32>
    return %r : tensor<64x24xf32>
  }
}

// -----

// CHECK-LABEL: rt.variant @odd
// CHECK: rt.get_constant @w : tensor<35x27xf16>
#x = affine_map<(m, n, k) -> (m, k)>
#w = affine_map<(m, n, k) -> (k, n)>
#y = affine_map<(m, n, k) -> (m, n)>
rt.constant @w = dense<2.0> : tensor<35x27xf16>
rt.variant @odd target "sm_80" {
  func.func @main(%x: tensor<64x35xf16>) -> tensor<64x27xf32> {
    %w = rt.get_constant @w : tensor<35x27xf16>
    %e = tensor.empty() : tensor<64x27xf32>
    %r = kernel.dispatch ins(%x, %w : tensor<64x35xf16>, tensor<35x27xf16>)
                         outs(%e : tensor<64x27xf32>) {
    ^bb0(%a: tensor<64x35xf16>, %b: tensor<35x27xf16>, %o: tensor<64x27xf32>):
      %z = arith.constant 0.0 : f32
      %f = linalg.fill ins(%z : f32) outs(%o : tensor<64x27xf32>) -> tensor<64x27xf32>
      %g = linalg.generic {indexing_maps = [#x, #w, #y],
                           iterator_types = ["parallel", "parallel", "reduction"]}
          ins(%a, %b : tensor<64x35xf16>, tensor<35x27xf16>) outs(%f : tensor<64x27xf32>) {
      ^bb1(%u: f16, %v: f16, %s: f32):
        %uw = arith.extf %u : f16 to f32
        %vw = arith.extf %v : f16 to f32
        %q = math.fma %uw, %vw, %s : f32
        linalg.yield %q : f32
      } -> tensor<64x27xf32>
      kernel.yield %g : tensor<64x27xf32>
    } -> tensor<64x27xf32>
    return %r : tensor<64x27xf32>
  }
}
