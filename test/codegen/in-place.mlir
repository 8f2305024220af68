// RUN: cameo-opt %s --split-input-file --pass-pipeline='builtin.module(rt.variant(cameo-assign-schedules,cameo-lower-dispatches))' | FileCheck %s

// A result may have the memory of what is read at the same place: of %x, not of %b, one element for
// all threads, nor of %h, which has other elements. The kernel knows of it.
// CHECK-LABEL: rt.variant @map
// CHECK: rt.launch {{.*}} writes [3] {{{.*}}rt.in_place = array<i64: 3, 0>}
// CHECK: gpu.func @{{.*}}(%{{.*}}: memref<?xf32, #gpu.address_space<global>>, %{{.*}}: memref<?xf32, #gpu.address_space<global>> {llvm.noalias}, %{{.*}}: memref<?xf16, #gpu.address_space<global>> {llvm.noalias}, %{{.*}}: memref<?xf32, #gpu.address_space<global>>) kernel
#id = affine_map<(d0, d1) -> (d0, d1)>
#one = affine_map<(d0, d1) -> ()>
rt.variant @map target "sm_80" {
  func.func @main(%x: tensor<64x64xf32>, %b: tensor<f32>, %h: tensor<64x64xf16>) -> tensor<64x64xf32> {
    %e = tensor.empty() : tensor<64x64xf32>
    %r = kernel.dispatch ins(%x, %b, %h : tensor<64x64xf32>, tensor<f32>, tensor<64x64xf16>) outs(%e : tensor<64x64xf32>) {
    ^bb0(%a: tensor<64x64xf32>, %c: tensor<f32>, %d: tensor<64x64xf16>, %o: tensor<64x64xf32>):
      %g = linalg.generic {indexing_maps = [#id, #one, #id, #id], iterator_types = ["parallel", "parallel"]}
          ins(%a, %c, %d : tensor<64x64xf32>, tensor<f32>, tensor<64x64xf16>) outs(%o : tensor<64x64xf32>) {
      ^bb1(%u: f32, %v: f32, %w: f16, %s: f32):
        %k = arith.extf %w : f16 to f32
        %p = arith.addf %u, %v : f32
        %q = arith.addf %p, %k : f32
        linalg.yield %q : f32
      } -> tensor<64x64xf32>
      kernel.yield %g : tensor<64x64xf32>
    } -> tensor<64x64xf32>
    return %r : tensor<64x64xf32>
  }
}

// -----

// Nor do a channel's scale and shift change where the elements beside them are.
// CHECK-LABEL: rt.variant @channels
// CHECK: rt.launch {{.*}} writes [2] {{{.*}}rt.in_place = array<i64: 2, 0>}
// CHECK: gpu.func @{{.*}}(%{{.*}}: memref<?xf32, #gpu.address_space<global>>, %{{.*}}: memref<?xf32, #gpu.address_space<global>> {llvm.noalias}, %{{.*}}: memref<?xf32, #gpu.address_space<global>>) kernel
#id = affine_map<(d0, d1, d2) -> (d0, d1, d2)>
#channel = affine_map<(d0, d1, d2) -> (d1)>
rt.variant @channels target "sm_80" {
  func.func @main(%x: tensor<2x3x64xf32>, %s: tensor<3xf32>) -> tensor<2x3x64xf32> {
    %e = tensor.empty() : tensor<2x3x64xf32>
    %r = kernel.dispatch ins(%x, %s : tensor<2x3x64xf32>, tensor<3xf32>) outs(%e : tensor<2x3x64xf32>) {
    ^bb0(%a: tensor<2x3x64xf32>, %c: tensor<3xf32>, %o: tensor<2x3x64xf32>):
      %g = linalg.generic {indexing_maps = [#id, #channel, #id], iterator_types = ["parallel", "parallel", "parallel"]}
          ins(%a, %c : tensor<2x3x64xf32>, tensor<3xf32>) outs(%o : tensor<2x3x64xf32>) {
      ^bb1(%u: f32, %v: f32, %w: f32):
        %p = arith.mulf %u, %v : f32
        linalg.yield %p : f32
      } -> tensor<2x3x64xf32>
      kernel.yield %g : tensor<2x3x64xf32>
    } -> tensor<2x3x64xf32>
    return %r : tensor<2x3x64xf32>
  }
}

// -----

// In chunks both begin at the block's chunk.
// CHECK-LABEL: rt.variant @chunks
// CHECK: rt.launch {{.*}} writes [1] {{.*}}rt.in_place = array<i64: 1, 0>}
// CHECK: gpu.func @{{.*}}(%[[X:[^ ]*]]: memref<?xf32, #gpu.address_space<global>>, %[[Y:[^ ]*]]: memref<?xf32, #gpu.address_space<global>>, %{{.*}}: i64) kernel
// CHECK: kernel.advance %[[X]]
// CHECK: kernel.advance %[[Y]]
#id = affine_map<(d0, d1) -> (d0, d1)>
rt.variant @chunks target "sm_80" {
  func.func @main(%x: tensor<?x64xf32>, %n: index) -> tensor<?x64xf32> {
    %e = tensor.empty(%n) : tensor<?x64xf32>
    %r = kernel.dispatch ins(%x : tensor<?x64xf32>) outs(%e : tensor<?x64xf32>) {
    ^bb0(%a: tensor<?x64xf32>, %o: tensor<?x64xf32>):
      %g = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel", "parallel"]}
          ins(%a : tensor<?x64xf32>) outs(%o : tensor<?x64xf32>) {
      ^bb1(%v: f32, %w: f32):
        %q = math.exp %v : f32
        linalg.yield %q : f32
      } -> tensor<?x64xf32>
      kernel.yield %g : tensor<?x64xf32>
    } -> tensor<?x64xf32>
    return %r : tensor<?x64xf32>
  }
}

// -----

// Not what is read at another place: transposed, or here and there.
// CHECK-LABEL: rt.variant @elsewhere
// CHECK-NOT: in_place
// CHECK: gpu.func @{{.*}}(%{{.*}}: memref<?xf32, #gpu.address_space<global>> {llvm.noalias}, %{{.*}}: memref<?xf32, #gpu.address_space<global>> {llvm.noalias}, %{{.*}}: memref<?xf32, #gpu.address_space<global>> {llvm.noalias})
#id = affine_map<(d0, d1) -> (d0, d1)>
#t = affine_map<(d0, d1) -> (d1, d0)>
rt.variant @elsewhere target "sm_80" {
  func.func @main(%x: tensor<64x64xf32>, %z: tensor<64x64xf32>) -> tensor<64x64xf32> {
    %e = tensor.empty() : tensor<64x64xf32>
    %r = kernel.dispatch ins(%x, %z : tensor<64x64xf32>, tensor<64x64xf32>) outs(%e : tensor<64x64xf32>) {
    ^bb0(%a: tensor<64x64xf32>, %c: tensor<64x64xf32>, %o: tensor<64x64xf32>):
      %g = linalg.generic {indexing_maps = [#t, #id, #t, #id], iterator_types = ["parallel", "parallel"]}
          ins(%a, %c, %c : tensor<64x64xf32>, tensor<64x64xf32>, tensor<64x64xf32>) outs(%o : tensor<64x64xf32>) {
      ^bb1(%u: f32, %v: f32, %w: f32, %s: f32):
        %p = arith.addf %u, %v : f32
        %q = arith.addf %p, %w : f32
        linalg.yield %q : f32
      } -> tensor<64x64xf32>
      kernel.yield %g : tensor<64x64xf32>
    } -> tensor<64x64xf32>
    return %r : tensor<64x64xf32>
  }
}

// -----

// Nor where a row is read for each of its elements.
// CHECK-LABEL: rt.variant @rows
// CHECK-NOT: in_place
#id = affine_map<(d0, d1) -> (d0, d1)>
#row = affine_map<(d0, d1) -> (d0)>
rt.variant @rows target "sm_80" {
  func.func @main(%x: tensor<64x256xf32>) -> tensor<64x256xf32> {
    %e = tensor.empty() : tensor<64x256xf32>
    %r = kernel.dispatch ins(%x : tensor<64x256xf32>) outs(%e : tensor<64x256xf32>) {
    ^bb0(%a: tensor<64x256xf32>, %o: tensor<64x256xf32>):
      %z = arith.constant 0.0 : f32
      %t = tensor.empty() : tensor<64xf32>
      %f = linalg.fill ins(%z : f32) outs(%t : tensor<64xf32>) -> tensor<64xf32>
      %m = linalg.generic {indexing_maps = [#id, #row], iterator_types = ["parallel", "reduction"]}
          ins(%a : tensor<64x256xf32>) outs(%f : tensor<64xf32>) {
      ^bb1(%u: f32, %s: f32):
        %q = arith.addf %u, %s : f32
        linalg.yield %q : f32
      } -> tensor<64xf32>
      %g = linalg.generic {indexing_maps = [#id, #row, #id], iterator_types = ["parallel", "parallel"]}
          ins(%a, %m : tensor<64x256xf32>, tensor<64xf32>) outs(%o : tensor<64x256xf32>) {
      ^bb1(%u: f32, %v: f32, %s: f32):
        %q = arith.divf %u, %v : f32
        linalg.yield %q : f32
      } -> tensor<64x256xf32>
      kernel.yield %g : tensor<64x256xf32>
    } -> tensor<64x256xf32>
    return %r : tensor<64x256xf32>
  }
}

// -----

// What is added to a product, where the product is stored; never its operands, although one has the
// same shape.
// CHECK-LABEL: rt.variant @residual
// CHECK: rt.launch {{.*}} writes [3] {{{.*}}rt.in_place = array<i64: 3, 2>}
// CHECK: gpu.func @{{.*}}(%{{.*}}: memref<?xf32, #gpu.address_space<global>> {llvm.noalias}, %{{.*}}: memref<?xf32, #gpu.address_space<global>> {llvm.noalias}, %{{.*}}: memref<?xf32, #gpu.address_space<global>>, %{{.*}}: memref<?xf32, #gpu.address_space<global>>)
#a = affine_map<(m, n, k) -> (m, k)>
#b = affine_map<(m, n, k) -> (k, n)>
#c = affine_map<(m, n, k) -> (m, n)>
#id = affine_map<(m, n) -> (m, n)>
rt.variant @residual target "sm_80" {
  func.func @main(%x: tensor<64x64xf32>, %w: tensor<64x64xf32>, %r: tensor<64x64xf32>) -> tensor<64x64xf32> {
    %e = tensor.empty() : tensor<64x64xf32>
    %y = kernel.dispatch ins(%x, %w, %r : tensor<64x64xf32>, tensor<64x64xf32>, tensor<64x64xf32>)
                         outs(%e : tensor<64x64xf32>) {
    ^bb0(%l: tensor<64x64xf32>, %m: tensor<64x64xf32>, %n: tensor<64x64xf32>, %o: tensor<64x64xf32>):
      %z = arith.constant 0.0 : f32
      %t = tensor.empty() : tensor<64x64xf32>
      %f = linalg.fill ins(%z : f32) outs(%t : tensor<64x64xf32>) -> tensor<64x64xf32>
      %g = linalg.generic {indexing_maps = [#a, #b, #c],
                           iterator_types = ["parallel", "parallel", "reduction"]}
          ins(%l, %m : tensor<64x64xf32>, tensor<64x64xf32>) outs(%f : tensor<64x64xf32>) {
      ^bb1(%u: f32, %v: f32, %s: f32):
        %q = math.fma %u, %v, %s : f32
        linalg.yield %q : f32
      } -> tensor<64x64xf32>
      %h = linalg.generic {indexing_maps = [#id, #id, #id], iterator_types = ["parallel", "parallel"]}
          ins(%g, %n : tensor<64x64xf32>, tensor<64x64xf32>) outs(%o : tensor<64x64xf32>) {
      ^bb1(%u: f32, %v: f32, %s: f32):
        %q = arith.addf %u, %v : f32
        linalg.yield %q : f32
      } -> tensor<64x64xf32>
      kernel.yield %h : tensor<64x64xf32>
    } -> tensor<64x64xf32>
    return %y : tensor<64x64xf32>
  }
}
