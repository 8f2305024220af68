// RUN: cameo-opt %s --split-input-file --pass-pipeline='builtin.module(rt.variant(cameo-split-dispatches,cameo-assign-schedules,cameo-lower-dispatches))' | FileCheck %s

// Products of values, and other memory that goes into their results.

// Channels are scaled, shifted and cut off as the columns are copied: the image in vectors, what a
// channel has once for all of them, each memory at its one place. Bias and residual are read before the
// store, the residual in vectors.
// CHECK-LABEL: rt.variant @scaled_operand
// CHECK: gpu.func {{.*}}schedule<"contraction", {column_vector = array<i64: 4, 1>
// CHECK: kernel.load_global %{{[^,]*}} padding
// CHECK: %[[L:.*]]:3 = kernel.load_global %{{.*}}, %{{.*}} widths [4, 0] padding {{.*}}vector = 4, along = columns
// CHECK: kernel.yield %{{.*}}, %{{.*}}, %{{.*}} : index, index, i1
// CHECK: kernel.write_tile
// CHECK: kernel.map_fragment %[[L]]#0, %[[L]]#1, %[[L]]#2
// CHECK-NEXT: ^bb0(%{{.*}}: index, %{{.*}}: index, %[[A:.*]]: f32, %[[B:.*]]: f32, %[[IN:.*]]: i1):
// CHECK-NEXT: %[[M:.*]] = arith.mulf %[[A]], %[[B]]
// CHECK-NEXT: %[[P:.*]] = arith.addf %[[M]], %[[B]]
// CHECK-NEXT: %[[R:.*]] = arith.maximumf %[[P]]
// CHECK: %[[V:.*]] = arith.select %[[IN]], %[[R]]
// CHECK-NEXT: kernel.yield %[[V]] : f32
// CHECK: kernel.store_fragment %{{.*}} reading %{{.*}}, %{{.*}} widths [0, 4] to %{{.*}} vector 4
// CHECK: ^bb0(%{{.*}}: index, %{{.*}}: index, %[[SUM:.*]]: f32, %[[C:.*]]: f32, %[[D:.*]]: f32):
// CHECK: arith.addf %[[SUM]], %[[C]]
// CHECK: arith.addf %{{.*}}, %[[D]]
// CHECK: } reads {
#x = affine_map<(f, y, x, c) -> (c, y, x)>
#w = affine_map<(f, y, x, c) -> (f, c)>
#y = affine_map<(f, y, x, c) -> (f, y, x)>
#id = affine_map<(c, y, x) -> (c, y, x)>
#channel = affine_map<(c, y, x) -> (c)>
rt.variant @scaled_operand target "sm_80" {
  func.func @main(%x: tensor<32x14x14xf32>, %s: tensor<32xf32>, %w: tensor<64x32xf32>, %b: tensor<64xf32>,
                  %r: tensor<64x14x14xf32>) -> tensor<64x14x14xf32> {
    %e = tensor.empty() : tensor<64x14x14xf32>
    %y = kernel.dispatch ins(%x, %s, %w, %b, %r : tensor<32x14x14xf32>, tensor<32xf32>, tensor<64x32xf32>,
                             tensor<64xf32>, tensor<64x14x14xf32>)
                         outs(%e : tensor<64x14x14xf32>) {
    ^bb0(%l: tensor<32x14x14xf32>, %t: tensor<32xf32>, %m: tensor<64x32xf32>, %bias: tensor<64xf32>,
         %before: tensor<64x14x14xf32>, %o: tensor<64x14x14xf32>):
      %z = arith.constant 0.0 : f32
      %i = tensor.empty() : tensor<32x14x14xf32>
      %n = linalg.generic {indexing_maps = [#id, #channel, #id], iterator_types = ["parallel", "parallel", "parallel"]}
          ins(%l, %t : tensor<32x14x14xf32>, tensor<32xf32>) outs(%i : tensor<32x14x14xf32>) {
      ^bb1(%u: f32, %v: f32, %q: f32):
        %p = arith.mulf %u, %v : f32
        linalg.yield %p : f32
      } -> tensor<32x14x14xf32>
      %n2 = linalg.generic {indexing_maps = [#id, #channel, #id], iterator_types = ["parallel", "parallel", "parallel"]}
          ins(%n, %t : tensor<32x14x14xf32>, tensor<32xf32>) outs(%i : tensor<32x14x14xf32>) {
      ^bb1(%u: f32, %v: f32, %q: f32):
        %p = arith.addf %u, %v : f32
        %p2 = arith.maximumf %p, %z : f32
        linalg.yield %p2 : f32
      } -> tensor<32x14x14xf32>
      %f = linalg.fill ins(%z : f32) outs(%o : tensor<64x14x14xf32>) -> tensor<64x14x14xf32>
      %g = linalg.generic {indexing_maps = [#x, #w, #y],
                           iterator_types = ["parallel", "parallel", "parallel", "reduction"]}
          ins(%n2, %m : tensor<32x14x14xf32>, tensor<64x32xf32>) outs(%f : tensor<64x14x14xf32>) {
      ^bb1(%u: f32, %v: f32, %q: f32):
        %p = math.fma %u, %v, %q : f32
        linalg.yield %p : f32
      } -> tensor<64x14x14xf32>
      %h = linalg.generic {indexing_maps = [#id, #channel, #id, #id], iterator_types = ["parallel", "parallel", "parallel"]}
          ins(%g, %bias, %before : tensor<64x14x14xf32>, tensor<64xf32>, tensor<64x14x14xf32>) outs(%o : tensor<64x14x14xf32>) {
      ^bb1(%u: f32, %v: f32, %k: f32, %q: f32):
        %p = arith.addf %u, %v : f32
        %p2 = arith.addf %p, %k : f32
        linalg.yield %p2 : f32
      } -> tensor<64x14x14xf32>
      kernel.yield %h : tensor<64x14x14xf32>
    } -> tensor<64x14x14xf32>
    return %y : tensor<64x14x14xf32>
  }
}

// -----

// Padding is of what is computed: the condition stands in the load, and what is outside is zero whatever
// is made of it. What is added is one a channel.
// CHECK-LABEL: rt.variant @padded_value
// CHECK: kernel.load_global %{{.*}}, %{{.*}} widths [1, 0] padding {{.*}}vector = 1,
// CHECK: arith.cmpi ult
// CHECK: kernel.map_fragment
// CHECK-NEXT: ^bb0(%{{.*}}: index, %{{.*}}: index, %{{.*}}: f32, %{{.*}}: f32, %[[IN:.*]]: i1):
// CHECK-NEXT: %[[SUM:.*]] = arith.addf
// CHECK: arith.select %[[IN]], %[[SUM]]
#x = affine_map<(f, x, c, k) -> (c, x + k)>
#w = affine_map<(f, x, c, k) -> (f, c, k)>
#y = affine_map<(f, x, c, k) -> (f, x)>
#id = affine_map<(c, x) -> (c, x)>
#channel = affine_map<(c, x) -> (c)>
rt.variant @padded_value target "sm_80" {
  func.func @main(%x: tensor<16x64xf32>, %s: tensor<16xf32>, %w: tensor<16x16x3xf32>) -> tensor<16x64xf32> {
    %e = tensor.empty() : tensor<16x64xf32>
    %y = kernel.dispatch ins(%x, %s, %w : tensor<16x64xf32>, tensor<16xf32>, tensor<16x16x3xf32>)
                         outs(%e : tensor<16x64xf32>) {
    ^bb0(%l: tensor<16x64xf32>, %t: tensor<16xf32>, %m: tensor<16x16x3xf32>, %o: tensor<16x64xf32>):
      %z = arith.constant 0.0 : f32
      %i = tensor.empty() : tensor<16x64xf32>
      %n = linalg.generic {indexing_maps = [#id, #channel, #id], iterator_types = ["parallel", "parallel"]}
          ins(%l, %t : tensor<16x64xf32>, tensor<16xf32>) outs(%i : tensor<16x64xf32>) {
      ^bb1(%u: f32, %v: f32, %q: f32):
        %p = arith.addf %u, %v : f32
        linalg.yield %p : f32
      } -> tensor<16x64xf32>
      %padded = tensor.pad %n low[0, 1] high[0, 1] {
      ^bb1(%u: index, %v: index):
        tensor.yield %z : f32
      } : tensor<16x64xf32> to tensor<16x66xf32>
      %f = linalg.fill ins(%z : f32) outs(%o : tensor<16x64xf32>) -> tensor<16x64xf32>
      %g = linalg.generic {indexing_maps = [#x, #w, #y],
                           iterator_types = ["parallel", "parallel", "reduction", "reduction"]}
          ins(%padded, %m : tensor<16x66xf32>, tensor<16x16x3xf32>) outs(%f : tensor<16x64xf32>) {
      ^bb1(%u: f32, %v: f32, %q: f32):
        %p = math.fma %u, %v, %q : f32
        linalg.yield %p : f32
      } -> tensor<16x64xf32>
      kernel.yield %g : tensor<16x64xf32>
    } -> tensor<16x64xf32>
    return %y : tensor<16x64xf32>
  }
}

// -----

// A value that depends on where it is is none that tiles can be filled with.
// CHECK-LABEL: rt.variant @placed_value
// CHECK-NOT: "contraction"
#a = affine_map<(m, n, k) -> (m, k)>
#b = affine_map<(m, n, k) -> (k, n)>
#c = affine_map<(m, n, k) -> (m, n)>
#id = affine_map<(m, n) -> (m, n)>
rt.variant @placed_value target "sm_80" {
  func.func @main(%x: tensor<64x128xf32>, %w: tensor<128x64xf32>) -> tensor<64x64xf32> {
    %e = tensor.empty() : tensor<64x64xf32>
    %y = kernel.dispatch ins(%x, %w : tensor<64x128xf32>, tensor<128x64xf32>) outs(%e : tensor<64x64xf32>) {
    ^bb0(%l: tensor<64x128xf32>, %m: tensor<128x64xf32>, %o: tensor<64x64xf32>):
      %z = arith.constant 0.0 : f32
      %i = tensor.empty() : tensor<64x128xf32>
      %n = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel", "parallel"]}
          ins(%l : tensor<64x128xf32>) outs(%i : tensor<64x128xf32>) {
      ^bb1(%u: f32, %q: f32):
        %j = linalg.index 0 : index
        %k = linalg.index 1 : index
        %above = arith.cmpi ugt, %k, %j : index
        %p = arith.select %above, %z, %u : f32
        linalg.yield %p : f32
      } -> tensor<64x128xf32>
      %f = linalg.fill ins(%z : f32) outs(%o : tensor<64x64xf32>) -> tensor<64x64xf32>
      %g = linalg.generic {indexing_maps = [#a, #b, #c],
                           iterator_types = ["parallel", "parallel", "reduction"]}
          ins(%n, %m : tensor<64x128xf32>, tensor<128x64xf32>) outs(%f : tensor<64x64xf32>) {
      ^bb1(%u: f32, %v: f32, %q: f32):
        %p = math.fma %u, %v, %q : f32
        linalg.yield %p : f32
      } -> tensor<64x64xf32>
      kernel.yield %g : tensor<64x64xf32>
    } -> tensor<64x64xf32>
    return %y : tensor<64x64xf32>
  }
}
