// RUN: cameo-opt %s --split-input-file --pass-pipeline='builtin.module(rt.variant(cameo-assign-schedules,cameo-lower-dispatches))' | FileCheck %s
// RUN: cameo-opt %s --split-input-file --pass-pipeline='builtin.module(rt.variant(cameo-assign-schedules{candidates=2}))' | FileCheck %s --check-prefix=WORK

// Products whose operands are moved before they are read, and whose results are moved, split and
// computed on.

// Channels 64 and on of a product are one result, a ReLU of those before another.
// CHECK-LABEL: rt.variant @split
// CHECK: rt.launch {{.*}} writes [2, 3]
// CHECK: gpu.func {{.*}}schedule<"contraction", {{.*}}store_vector = 4
// CHECK: kernel.store_fragment {{.*}} vector 4
// CHECK: %[[REST:.*]] = arith.addi %{{.*}}, %c-64
// CHECK: arith.cmpi ult, %[[REST]], %c32
// CHECK: kernel.yield
// CHECK: kernel.store_fragment {{.*}} vector 4
// CHECK: arith.cmpi ult, %{{.*}}, %c64
// CHECK: arith.maximumf
#a = affine_map<(m, n, k) -> (m, k)>
#b = affine_map<(m, n, k) -> (k, n)>
#c = affine_map<(m, n, k) -> (m, n)>
#id = affine_map<(m, n) -> (m, n)>
#rest = affine_map<(m, n) -> (m, n + 64)>
rt.variant @split target "sm_80" {
  func.func @main(%x: tensor<64x32xf32>, %w: tensor<32x96xf32>) -> (tensor<64x32xf32>, tensor<64x64xf32>) {
    %e = tensor.empty() : tensor<64x32xf32>
    %e2 = tensor.empty() : tensor<64x64xf32>
    %y:2 = kernel.dispatch ins(%x, %w : tensor<64x32xf32>, tensor<32x96xf32>)
                           outs(%e, %e2 : tensor<64x32xf32>, tensor<64x64xf32>) {
    ^bb0(%l: tensor<64x32xf32>, %m: tensor<32x96xf32>, %o: tensor<64x32xf32>, %o2: tensor<64x64xf32>):
      %z = arith.constant 0.0 : f32
      %t = tensor.empty() : tensor<64x96xf32>
      %f = linalg.fill ins(%z : f32) outs(%t : tensor<64x96xf32>) -> tensor<64x96xf32>
      %g = linalg.generic {indexing_maps = [#a, #b, #c],
                           iterator_types = ["parallel", "parallel", "reduction"]}
          ins(%l, %m : tensor<64x32xf32>, tensor<32x96xf32>) outs(%f : tensor<64x96xf32>) {
      ^bb1(%u: f32, %v: f32, %s: f32):
        %q = math.fma %u, %v, %s : f32
        linalg.yield %q : f32
      } -> tensor<64x96xf32>
      %h = linalg.generic {indexing_maps = [#rest, #id], iterator_types = ["parallel", "parallel"]}
          ins(%g : tensor<64x96xf32>) outs(%o : tensor<64x32xf32>) {
      ^bb1(%u: f32, %s: f32):
        linalg.yield %u : f32
      } -> tensor<64x32xf32>
      %i = tensor.extract_slice %g[0, 0] [64, 64] [1, 1] : tensor<64x96xf32> to tensor<64x64xf32>
      %j = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel", "parallel"]}
          ins(%i : tensor<64x64xf32>) outs(%o2 : tensor<64x64xf32>) {
      ^bb1(%u: f32, %s: f32):
        %q = arith.maximumf %u, %z : f32
        linalg.yield %q : f32
      } -> tensor<64x64xf32>
      kernel.yield %h, %j : tensor<64x32xf32>, tensor<64x64xf32>
    } -> tensor<64x32xf32>, tensor<64x64xf32>
    return %y#0, %y#1 : tensor<64x32xf32>, tensor<64x64xf32>
  }
}

// -----

// The same of pieces that a body asks for one by one.
// CHECK-LABEL: rt.variant @extracted
// CHECK: gpu.func {{.*}}schedule<"contraction", {{.*}}store_vector = 4
#a = affine_map<(m, n, k) -> (m, k)>
#b = affine_map<(m, n, k) -> (k, n)>
#c = affine_map<(m, n, k) -> (m, n)>
#id = affine_map<(m, n) -> (m, n)>
rt.variant @extracted target "sm_80" {
  func.func @main(%x: tensor<64x32xf32>, %w: tensor<32x96xf32>) -> tensor<64x64xf32> {
    %e = tensor.empty() : tensor<64x64xf32>
    %y = kernel.dispatch ins(%x, %w : tensor<64x32xf32>, tensor<32x96xf32>) outs(%e : tensor<64x64xf32>) {
    ^bb0(%l: tensor<64x32xf32>, %m: tensor<32x96xf32>, %o: tensor<64x64xf32>):
      %z = arith.constant 0.0 : f32
      %t = tensor.empty() : tensor<64x96xf32>
      %f = linalg.fill ins(%z : f32) outs(%t : tensor<64x96xf32>) -> tensor<64x96xf32>
      %g = linalg.generic {indexing_maps = [#a, #b, #c],
                           iterator_types = ["parallel", "parallel", "reduction"]}
          ins(%l, %m : tensor<64x32xf32>, tensor<32x96xf32>) outs(%f : tensor<64x96xf32>) {
      ^bb1(%u: f32, %v: f32, %s: f32):
        %q = math.fma %u, %v, %s : f32
        linalg.yield %q : f32
      } -> tensor<64x96xf32>
      %h = linalg.generic {indexing_maps = [#id], iterator_types = ["parallel", "parallel"]}
          outs(%o : tensor<64x64xf32>) {
      ^bb1(%s: f32):
        %c32 = arith.constant 32 : index
        %i = linalg.index 0 : index
        %j = linalg.index 1 : index
        %k = arith.addi %j, %c32 : index
        %u = tensor.extract %g[%i, %k] : tensor<64x96xf32>
        linalg.yield %u : f32
      } -> tensor<64x64xf32>
      kernel.yield %h : tensor<64x64xf32>
    } -> tensor<64x64xf32>
    return %y : tensor<64x64xf32>
  }
}

// -----

// Heads: the product's columns become a dimension of 4 and one of 16, the first of which goes in
// front of the rows.
// CHECK-LABEL: rt.variant @heads
// CHECK: gpu.func {{.*}}schedule<"contraction", {{.*}}store_vector = 4
// CHECK: kernel.store_fragment {{.*}} vector 4
// CHECK: arith.floordivsi
// CHECK: arith.remsi
#a = affine_map<(m, n, k) -> (m, k)>
#b = affine_map<(m, n, k) -> (k, n)>
#c = affine_map<(m, n, k) -> (m, n)>
#in = affine_map<(h, s, d) -> (s, h, d)>
#id = affine_map<(h, s, d) -> (h, s, d)>
rt.variant @heads target "sm_80" {
  func.func @main(%x: tensor<40x32xf32>, %w: tensor<32x64xf32>) -> tensor<4x40x16xf32> {
    %e = tensor.empty() : tensor<4x40x16xf32>
    %y = kernel.dispatch ins(%x, %w : tensor<40x32xf32>, tensor<32x64xf32>) outs(%e : tensor<4x40x16xf32>) {
    ^bb0(%l: tensor<40x32xf32>, %m: tensor<32x64xf32>, %o: tensor<4x40x16xf32>):
      %z = arith.constant 0.0 : f32
      %t = tensor.empty() : tensor<40x64xf32>
      %f = linalg.fill ins(%z : f32) outs(%t : tensor<40x64xf32>) -> tensor<40x64xf32>
      %g = linalg.generic {indexing_maps = [#a, #b, #c],
                           iterator_types = ["parallel", "parallel", "reduction"]}
          ins(%l, %m : tensor<40x32xf32>, tensor<32x64xf32>) outs(%f : tensor<40x64xf32>) {
      ^bb1(%u: f32, %v: f32, %s: f32):
        %q = math.fma %u, %v, %s : f32
        linalg.yield %q : f32
      } -> tensor<40x64xf32>
      %h = tensor.expand_shape %g [[0], [1, 2]] output_shape [40, 4, 16] : tensor<40x64xf32> into tensor<40x4x16xf32>
      %i = linalg.generic {indexing_maps = [#in, #id], iterator_types = ["parallel", "parallel", "parallel"]}
          ins(%h : tensor<40x4x16xf32>) outs(%o : tensor<4x40x16xf32>) {
      ^bb1(%u: f32, %s: f32):
        linalg.yield %u : f32
      } -> tensor<4x40x16xf32>
      kernel.yield %i : tensor<4x40x16xf32>
    } -> tensor<4x40x16xf32>
    return %y : tensor<4x40x16xf32>
  }
}

// -----

// The other way round: the heads of a product of batches become columns, and a bias is added.
// CHECK-LABEL: rt.variant @merged_heads
// CHECK: gpu.func {{.*}}schedule<"contraction", {{.*}}store_vector = 4
// CHECK: kernel.store_fragment {{.*}} vector 4
#a = affine_map<(h, m, n, k) -> (h, m, k)>
#b = affine_map<(h, m, n, k) -> (h, k, n)>
#c = affine_map<(h, m, n, k) -> (h, m, n)>
#in = affine_map<(s, h, d) -> (h, s, d)>
#turned = affine_map<(s, h, d) -> (s, h, d)>
#id = affine_map<(s, n) -> (s, n)>
#row = affine_map<(s, n) -> (n)>
rt.variant @merged_heads target "sm_80" {
  func.func @main(%x: tensor<4x40x32xf32>, %w: tensor<4x32x16xf32>, %b: tensor<64xf32>) -> tensor<40x64xf32> {
    %e = tensor.empty() : tensor<40x64xf32>
    %y = kernel.dispatch ins(%x, %w, %b : tensor<4x40x32xf32>, tensor<4x32x16xf32>, tensor<64xf32>)
                         outs(%e : tensor<40x64xf32>) {
    ^bb0(%l: tensor<4x40x32xf32>, %m: tensor<4x32x16xf32>, %bias: tensor<64xf32>, %o: tensor<40x64xf32>):
      %z = arith.constant 0.0 : f32
      %t = tensor.empty() : tensor<4x40x16xf32>
      %t2 = tensor.empty() : tensor<40x4x16xf32>
      %f = linalg.fill ins(%z : f32) outs(%t : tensor<4x40x16xf32>) -> tensor<4x40x16xf32>
      %g = linalg.generic {indexing_maps = [#a, #b, #c],
                           iterator_types = ["parallel", "parallel", "parallel", "reduction"]}
          ins(%l, %m : tensor<4x40x32xf32>, tensor<4x32x16xf32>) outs(%f : tensor<4x40x16xf32>) {
      ^bb1(%u: f32, %v: f32, %s: f32):
        %q = math.fma %u, %v, %s : f32
        linalg.yield %q : f32
      } -> tensor<4x40x16xf32>
      %h = linalg.generic {indexing_maps = [#in, #turned], iterator_types = ["parallel", "parallel", "parallel"]}
          ins(%g : tensor<4x40x16xf32>) outs(%t2 : tensor<40x4x16xf32>) {
      ^bb1(%u: f32, %s: f32):
        linalg.yield %u : f32
      } -> tensor<40x4x16xf32>
      %i = tensor.collapse_shape %h [[0], [1, 2]] : tensor<40x4x16xf32> into tensor<40x64xf32>
      %j = linalg.generic {indexing_maps = [#id, #row, #id], iterator_types = ["parallel", "parallel"]}
          ins(%i, %bias : tensor<40x64xf32>, tensor<64xf32>) outs(%o : tensor<40x64xf32>) {
      ^bb1(%u: f32, %v: f32, %s: f32):
        %q = arith.addf %u, %v : f32
        linalg.yield %q : f32
      } -> tensor<40x64xf32>
      kernel.yield %j : tensor<40x64xf32>
    } -> tensor<40x64xf32>
    return %y : tensor<40x64xf32>
  }
}

// -----

// A transposed result has its elements in a column: one by one.
// CHECK-LABEL: rt.variant @transposed
// CHECK: gpu.func {{.*}}schedule<"contraction", {{.*}}store_vector = 1
// CHECK: kernel.store_fragment {{.*}} vector 1
#a = affine_map<(m, n, k) -> (m, k)>
#b = affine_map<(m, n, k) -> (k, n)>
#c = affine_map<(m, n, k) -> (m, n)>
#id = affine_map<(m, n) -> (m, n)>
#turn = affine_map<(m, n) -> (n, m)>
rt.variant @transposed target "sm_80" {
  func.func @main(%x: tensor<?x32xf32>, %w: tensor<32x64xf32>, %n: index) -> tensor<64x?xf32> {
    %e = tensor.empty(%n) : tensor<64x?xf32>
    %y = kernel.dispatch ins(%x, %w : tensor<?x32xf32>, tensor<32x64xf32>) outs(%e : tensor<64x?xf32>) {
    ^bb0(%l: tensor<?x32xf32>, %m: tensor<32x64xf32>, %o: tensor<64x?xf32>):
      %z = arith.constant 0.0 : f32
      %c0 = arith.constant 0 : index
      %size = tensor.dim %l, %c0 : tensor<?x32xf32>
      %t = tensor.empty(%size) : tensor<?x64xf32>
      %f = linalg.fill ins(%z : f32) outs(%t : tensor<?x64xf32>) -> tensor<?x64xf32>
      %g = linalg.generic {indexing_maps = [#a, #b, #c],
                           iterator_types = ["parallel", "parallel", "reduction"]}
          ins(%l, %m : tensor<?x32xf32>, tensor<32x64xf32>) outs(%f : tensor<?x64xf32>) {
      ^bb1(%u: f32, %v: f32, %s: f32):
        %q = math.fma %u, %v, %s : f32
        linalg.yield %q : f32
      } -> tensor<?x64xf32>
      %h = linalg.generic {indexing_maps = [#turn, #id], iterator_types = ["parallel", "parallel"]}
          ins(%g : tensor<?x64xf32>) outs(%o : tensor<64x?xf32>) {
      ^bb1(%u: f32, %s: f32):
        linalg.yield %u : f32
      } -> tensor<64x?xf32>
      kernel.yield %h : tensor<64x?xf32>
    } -> tensor<64x?xf32>
    return %y : tensor<64x?xf32>
  }
}

// -----

// Operands: heads of one tensor's last dimension, by a reshape, a transposition and a slice; the
// other half-precision, widened. 16 bytes at a time all the same.
// CHECK-LABEL: rt.variant @moved_operands
// CHECK: gpu.func {{.*}}schedule<"contraction", {column_vector = array<i64: 1, 8>, row_vector = array<i64: 1, 4>
#a = affine_map<(h, m, n, k) -> (h, m, k)>
#b = affine_map<(h, m, n, k) -> (h, n, k)>
#c = affine_map<(h, m, n, k) -> (h, m, n)>
#in = affine_map<(h, s, d) -> (s, h, d)>
#half = affine_map<(s, n) -> (s, n + 64)>
#same = affine_map<(s, n) -> (s, n)>
#id = affine_map<(h, s, d) -> (h, s, d)>
rt.variant @moved_operands target "sm_80" {
  func.func @main(%x: tensor<40x128xf32>, %w: tensor<40x64xf16>) -> tensor<4x40x40xf32> {
    %e = tensor.empty() : tensor<4x40x40xf32>
    %y = kernel.dispatch ins(%x, %w : tensor<40x128xf32>, tensor<40x64xf16>) outs(%e : tensor<4x40x40xf32>) {
    ^bb0(%l: tensor<40x128xf32>, %m: tensor<40x64xf16>, %o: tensor<4x40x40xf32>):
      %z = arith.constant 0.0 : f32
      %t1 = tensor.empty() : tensor<40x64xf32>
      %t2 = tensor.empty() : tensor<4x40x16xf32>
      %s1 = linalg.generic {indexing_maps = [#half, #same], iterator_types = ["parallel", "parallel"]}
          ins(%l : tensor<40x128xf32>) outs(%t1 : tensor<40x64xf32>) {
      ^bb1(%u: f32, %s: f32):
        linalg.yield %u : f32
      } -> tensor<40x64xf32>
      %s2 = tensor.expand_shape %s1 [[0], [1, 2]] output_shape [40, 4, 16] : tensor<40x64xf32> into tensor<40x4x16xf32>
      %s3 = linalg.generic {indexing_maps = [#in, #id], iterator_types = ["parallel", "parallel", "parallel"]}
          ins(%s2 : tensor<40x4x16xf32>) outs(%t2 : tensor<4x40x16xf32>) {
      ^bb1(%u: f32, %s: f32):
        linalg.yield %u : f32
      } -> tensor<4x40x16xf32>
      %s4 = tensor.expand_shape %m [[0], [1, 2]] output_shape [40, 4, 16] : tensor<40x64xf16> into tensor<40x4x16xf16>
      %s5 = linalg.generic {indexing_maps = [#in, #id], iterator_types = ["parallel", "parallel", "parallel"]}
          ins(%s4 : tensor<40x4x16xf16>) outs(%t2 : tensor<4x40x16xf32>) {
      ^bb1(%u: f16, %s: f32):
        %q = arith.extf %u : f16 to f32
        linalg.yield %q : f32
      } -> tensor<4x40x16xf32>
      %f = linalg.fill ins(%z : f32) outs(%o : tensor<4x40x40xf32>) -> tensor<4x40x40xf32>
      %g = linalg.generic {indexing_maps = [#a, #b, #c],
                           iterator_types = ["parallel", "parallel", "parallel", "reduction"]}
          ins(%s3, %s5 : tensor<4x40x16xf32>, tensor<4x40x16xf32>) outs(%f : tensor<4x40x40xf32>) {
      ^bb1(%u: f32, %v: f32, %s: f32):
        %q = math.fma %u, %v, %s : f32
        linalg.yield %q : f32
      } -> tensor<4x40x40xf32>
      kernel.yield %g : tensor<4x40x40xf32>
    } -> tensor<4x40x40xf32>
    return %y : tensor<4x40x40xf32>
  }
}

// -----

// Not where a result reads the product at two places.
// CHECK-LABEL: rt.variant @two_places
// CHECK-NOT: contraction
#a = affine_map<(m, n, k) -> (m, k)>
#b = affine_map<(m, n, k) -> (k, n)>
#c = affine_map<(m, n, k) -> (m, n)>
#id = affine_map<(m, n) -> (m, n)>
#next = affine_map<(m, n) -> (m, n + 1)>
rt.variant @two_places target "sm_80" {
  func.func @main(%x: tensor<64x32xf32>, %w: tensor<32x64xf32>) -> tensor<64x32xf32> {
    %e = tensor.empty() : tensor<64x32xf32>
    %y = kernel.dispatch ins(%x, %w : tensor<64x32xf32>, tensor<32x64xf32>) outs(%e : tensor<64x32xf32>) {
    ^bb0(%l: tensor<64x32xf32>, %m: tensor<32x64xf32>, %o: tensor<64x32xf32>):
      %z = arith.constant 0.0 : f32
      %t = tensor.empty() : tensor<64x64xf32>
      %f = linalg.fill ins(%z : f32) outs(%t : tensor<64x64xf32>) -> tensor<64x64xf32>
      %g = linalg.generic {indexing_maps = [#a, #b, #c],
                           iterator_types = ["parallel", "parallel", "reduction"]}
          ins(%l, %m : tensor<64x32xf32>, tensor<32x64xf32>) outs(%f : tensor<64x64xf32>) {
      ^bb1(%u: f32, %v: f32, %s: f32):
        %q = math.fma %u, %v, %s : f32
        linalg.yield %q : f32
      } -> tensor<64x64xf32>
      %i = tensor.extract_slice %g[0, 0] [64, 32] [1, 1] : tensor<64x64xf32> to tensor<64x32xf32>
      %h = linalg.generic {indexing_maps = [#next, #id, #id], iterator_types = ["parallel", "parallel"]}
          ins(%g, %i : tensor<64x64xf32>, tensor<64x32xf32>) outs(%o : tensor<64x32xf32>) {
      ^bb1(%u: f32, %v: f32, %s: f32):
        %q = arith.addf %u, %v : f32
        linalg.yield %q : f32
      } -> tensor<64x32xf32>
      kernel.yield %h : tensor<64x32xf32>
    } -> tensor<64x32xf32>
    return %y : tensor<64x32xf32>
  }
}

// -----

// One element as all of an operand: it is read with strides of zero.
// CHECK-LABEL: rt.variant @repeated
// CHECK: rt.launch {{.*}} : tensor<64x32xf32>, tensor<f32>, tensor<64x96xf32>) writes [2]
// CHECK: gpu.func @{{[^ (]*}}(%[[X:[^ :]*]]: memref<?xf32, #gpu.address_space<global>> {llvm.noalias}, %[[ONE:[^ :]*]]: memref<?xf32, #gpu.address_space<global>> {llvm.noalias}, {{.*}}schedule<"contraction", {column_vector = array<i64: 1, 1>
// CHECK: kernel.load_global %[[X]]
// CHECK: kernel.load_global %[[ONE]]
#a = affine_map<(m, n, k) -> (m, k)>
#b = affine_map<(m, n, k) -> (k, n)>
#c = affine_map<(m, n, k) -> (m, n)>
#id = affine_map<(m, n) -> (m, n)>
#one = affine_map<(m, n) -> ()>
rt.variant @repeated target "sm_80" {
  func.func @main(%x: tensor<64x32xf32>, %w: tensor<f32>) -> tensor<64x96xf32> {
    %e = tensor.empty() : tensor<64x96xf32>
    %y = kernel.dispatch ins(%x, %w : tensor<64x32xf32>, tensor<f32>) outs(%e : tensor<64x96xf32>) {
    ^bb0(%l: tensor<64x32xf32>, %m: tensor<f32>, %o: tensor<64x96xf32>):
      %s = tensor.empty() : tensor<32x96xf32>
      %r = linalg.generic {indexing_maps = [#one, #id], iterator_types = ["parallel", "parallel"]}
          ins(%m : tensor<f32>) outs(%s : tensor<32x96xf32>) {
      ^bb1(%u: f32, %v: f32):
        linalg.yield %u : f32
      } -> tensor<32x96xf32>
      %z = arith.constant 0.0 : f32
      %f = linalg.fill ins(%z : f32) outs(%o : tensor<64x96xf32>) -> tensor<64x96xf32>
      %g = linalg.generic {indexing_maps = [#a, #b, #c],
                           iterator_types = ["parallel", "parallel", "reduction"]}
          ins(%l, %r : tensor<64x32xf32>, tensor<32x96xf32>) outs(%f : tensor<64x96xf32>) {
      ^bb1(%u: f32, %v: f32, %t: f32):
        %q = math.fma %u, %v, %t : f32
        linalg.yield %q : f32
      } -> tensor<64x96xf32>
      kernel.yield %g : tensor<64x96xf32>
    } -> tensor<64x96xf32>
    return %y : tensor<64x96xf32>
  }
}

// -----

// Each element of merged products is stored to one of the results: their work is that of one result.
// WORK-LABEL: rt.variant @one_result
// WORK: work = array<f64: [[WORK:[^>]*]]>
// WORK-LABEL: rt.variant @two_results
// WORK: work = array<f64: [[WORK]]>
#a = affine_map<(m, n, k) -> (m, k)>
#b = affine_map<(m, n, k) -> (k, n)>
#y = affine_map<(m, n, k) -> (m, n)>
rt.variant @one_result target "sm_80" {
  func.func @main(%x: tensor<128x256xf16>, %w: tensor<256x192xf16>) -> tensor<128x192xf32> {
    %e = tensor.empty() : tensor<128x192xf32>
    %r = kernel.dispatch ins(%x, %w : tensor<128x256xf16>, tensor<256x192xf16>) outs(%e : tensor<128x192xf32>) {
    ^bb0(%a: tensor<128x256xf16>, %b: tensor<256x192xf16>, %o: tensor<128x192xf32>):
      %zero = arith.constant 0.0 : f32
      %f = linalg.fill ins(%zero : f32) outs(%o : tensor<128x192xf32>) -> tensor<128x192xf32>
      %g = linalg.generic {indexing_maps = [#a, #b, #y], iterator_types = ["parallel", "parallel", "reduction"]}
          ins(%a, %b : tensor<128x256xf16>, tensor<256x192xf16>) outs(%f : tensor<128x192xf32>) {
      ^bb1(%p: f16, %q: f16, %sum: f32):
        %u = arith.extf %p : f16 to f32
        %v = arith.extf %q : f16 to f32
        %t = math.fma %u, %v, %sum : f32
        linalg.yield %t : f32
      } -> tensor<128x192xf32>
      kernel.yield %g : tensor<128x192xf32>
    } -> tensor<128x192xf32>
    return %r : tensor<128x192xf32>
  }
}
rt.variant @two_results target "sm_80" {
  func.func @main(%x: tensor<128x256xf16>, %w: tensor<256x192xf16>) -> (tensor<128x128xf32>, tensor<128x64xf32>) {
    %e = tensor.empty() : tensor<128x128xf32>
    %e2 = tensor.empty() : tensor<128x64xf32>
    %r:2 = kernel.dispatch ins(%x, %w : tensor<128x256xf16>, tensor<256x192xf16>) outs(%e, %e2 : tensor<128x128xf32>, tensor<128x64xf32>) {
    ^bb0(%a: tensor<128x256xf16>, %b: tensor<256x192xf16>, %o: tensor<128x128xf32>, %o2: tensor<128x64xf32>):
      %zero = arith.constant 0.0 : f32
      %s = tensor.empty() : tensor<128x192xf32>
      %f = linalg.fill ins(%zero : f32) outs(%s : tensor<128x192xf32>) -> tensor<128x192xf32>
      %g = linalg.generic {indexing_maps = [#a, #b, #y], iterator_types = ["parallel", "parallel", "reduction"]}
          ins(%a, %b : tensor<128x256xf16>, tensor<256x192xf16>) outs(%f : tensor<128x192xf32>) {
      ^bb1(%p: f16, %q: f16, %sum: f32):
        %u = arith.extf %p : f16 to f32
        %v = arith.extf %q : f16 to f32
        %t = math.fma %u, %v, %sum : f32
        linalg.yield %t : f32
      } -> tensor<128x192xf32>
      %h = tensor.extract_slice %g[0, 0] [128, 128] [1, 1] : tensor<128x192xf32> to tensor<128x128xf32>
      %i = tensor.extract_slice %g[0, 128] [128, 64] [1, 1] : tensor<128x192xf32> to tensor<128x64xf32>
      kernel.yield %h, %i : tensor<128x128xf32>, tensor<128x64xf32>
    } -> tensor<128x128xf32>, tensor<128x64xf32>
    return %r#0, %r#1 : tensor<128x128xf32>, tensor<128x64xf32>
  }
}
