// RUN: cameo-opt %s --split-input-file --pass-pipeline='builtin.module(rt.variant(cameo-assign-schedules,cameo-lower-dispatches))' | FileCheck %s

// Windows and scans between other operations.

// A ReLU, padded, pooled by sums of three, then two results: the sums halved, and those of
// channel of them.
// CHECK-LABEL: rt.variant @pool
// CHECK: rt.launch {{.*}} writes [1, 2]
// CHECK: gpu.func {{.*}}schedule<"window"
// CHECK: arith.maximumf
// CHECK: arith.mulf
// CHECK: memref.store
// CHECK: scf.if
// CHECK: memref.store
#in = affine_map<(c, x, k) -> (c, x + k)>
#taps = affine_map<(c, x, k) -> (k)>
#out = affine_map<(c, x, k) -> (c, x)>
#id = affine_map<(c, x) -> (c, x)>
#later = affine_map<(c, x) -> (c + 2, x)>
rt.variant @pool target "sm_80" {
  func.func @main(%x: tensor<6x16xf32>) -> (tensor<6x16xf32>, tensor<4x16xf32>) {
    %e = tensor.empty() : tensor<6x16xf32>
    %e2 = tensor.empty() : tensor<4x16xf32>
    %y:2 = kernel.dispatch ins(%x : tensor<6x16xf32>) outs(%e, %e2 : tensor<6x16xf32>, tensor<4x16xf32>) {
    ^bb0(%l: tensor<6x16xf32>, %o: tensor<6x16xf32>, %o2: tensor<4x16xf32>):
      %z = arith.constant 0.0 : f32
      %half = arith.constant 0.5 : f32
      %relu = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel", "parallel"]}
          ins(%l : tensor<6x16xf32>) outs(%o : tensor<6x16xf32>) {
      ^bb1(%u: f32, %t: f32):
        %q = arith.maximumf %u, %z : f32
        linalg.yield %q : f32
      } -> tensor<6x16xf32>
      %p = tensor.pad %relu low[0, 1] high[0, 1] {
      ^bb1(%i: index, %j: index):
        tensor.yield %half : f32
      } : tensor<6x16xf32> to tensor<6x18xf32>
      %f = linalg.fill ins(%z : f32) outs(%o : tensor<6x16xf32>) -> tensor<6x16xf32>
      %n = tensor.empty() : tensor<3xf32>
      %g = linalg.generic {indexing_maps = [#in, #taps, #out],
                           iterator_types = ["parallel", "parallel", "reduction"]}
          ins(%p, %n : tensor<6x18xf32>, tensor<3xf32>) outs(%f : tensor<6x16xf32>) {
      ^bb1(%u: f32, %v: f32, %s: f32):
        %q = arith.addf %u, %s : f32
        linalg.yield %q : f32
      } -> tensor<6x16xf32>
      %h = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel", "parallel"]}
          ins(%g : tensor<6x16xf32>) outs(%o : tensor<6x16xf32>) {
      ^bb1(%u: f32, %t: f32):
        %q = arith.mulf %u, %half : f32
        linalg.yield %q : f32
      } -> tensor<6x16xf32>
      %i = linalg.generic {indexing_maps = [#later, #id], iterator_types = ["parallel", "parallel"]}
          ins(%h : tensor<6x16xf32>) outs(%o2 : tensor<4x16xf32>) {
      ^bb1(%u: f32, %t: f32):
        linalg.yield %u : f32
      } -> tensor<4x16xf32>
      kernel.yield %h, %i : tensor<6x16xf32>, tensor<4x16xf32>
    } -> tensor<6x16xf32>, tensor<4x16xf32>
    return %y#0, %y#1 : tensor<6x16xf32>, tensor<4x16xf32>
  }
}

// -----

// A scan of doubles of what is given, which is a result, as is its transposition.
// CHECK-LABEL: rt.variant @scan
// CHECK: rt.launch {{.*}} writes [1, 2]
// CHECK: gpu.func {{.*}}schedule<"scan"
// CHECK-COUNT-3: memref.store
#id = affine_map<(i, j) -> (i, j)>
#turn = affine_map<(i, j) -> (j, i)>
rt.variant @scan target "sm_80" {
  func.func @main(%x: tensor<3x256xf32>) -> (tensor<3x256xf32>, tensor<256x3xf32>) {
    %e = tensor.empty() : tensor<3x256xf32>
    %e2 = tensor.empty() : tensor<256x3xf32>
    %y:2 = kernel.dispatch ins(%x : tensor<3x256xf32>) outs(%e, %e2 : tensor<3x256xf32>, tensor<256x3xf32>) {
    ^bb0(%l: tensor<3x256xf32>, %o: tensor<3x256xf32>, %o2: tensor<256x3xf32>):
      %d = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel", "parallel"]}
          ins(%l : tensor<3x256xf32>) outs(%o : tensor<3x256xf32>) {
      ^bb1(%u: f32, %t: f32):
        %q = arith.addf %u, %u : f32
        linalg.yield %q : f32
      } -> tensor<3x256xf32>
      %s = kernel.scan add %d, %o {axis = 1 : i64} : tensor<3x256xf32>
      %g = linalg.generic {indexing_maps = [#turn, #id], iterator_types = ["parallel", "parallel"]}
          ins(%s : tensor<3x256xf32>) outs(%o2 : tensor<256x3xf32>) {
      ^bb1(%u: f32, %t: f32):
        linalg.yield %u : f32
      } -> tensor<256x3xf32>
      kernel.yield %s, %g : tensor<3x256xf32>, tensor<256x3xf32>
    } -> tensor<3x256xf32>, tensor<256x3xf32>
    return %y#0, %y#1 : tensor<3x256xf32>, tensor<256x3xf32>
  }
}

// -----

// Rows that are computed as they are read, and a residual, come 16 bytes at a time; each element that
// neighbours share is computed once.
// CHECK-LABEL: rt.variant @rows_of_values
// CHECK: gpu.func @{{.*}}(%[[X:[^:]*]]: memref{{[^%]*}} %[[R:[^:]*]]: memref{{[^%]*}} %[[Y:[^:]*]]: memref{{.*}}schedule<"window", {threads = 128 : i64, vector = 8
// CHECK: memref.load %[[X]]
// CHECK: arith.maximumf
// CHECK: vector.load %[[X]]{{.*}} vector<4xf32>
// CHECK-COUNT-4: arith.maximumf
// CHECK: vector.load %[[X]]{{.*}} vector<4xf32>
// CHECK-COUNT-4: arith.maximumf
// CHECK: memref.load %[[X]]
// CHECK: arith.maximumf
// CHECK-NOT: arith.maximumf
// CHECK: vector.load %[[R]]{{.*}} vector<4xf32>
// CHECK: arith.mulf
// CHECK-NOT: memref.load %[[R]]
// CHECK: vector.store %{{.*}}, %[[Y]]
#in = affine_map<(c, x, k) -> (c, x + k)>
#taps = affine_map<(c, x, k) -> (k)>
#out = affine_map<(c, x, k) -> (c, x)>
#id = affine_map<(c, x) -> (c, x)>
rt.variant @rows_of_values target "sm_80" {
  func.func @main(%x: tensor<1024x64xf32>, %r: tensor<1024x64xf32>) -> tensor<1024x64xf32> {
    %e = tensor.empty() : tensor<1024x64xf32>
    %y = kernel.dispatch ins(%x, %r : tensor<1024x64xf32>, tensor<1024x64xf32>) outs(%e : tensor<1024x64xf32>) {
    ^bb0(%l: tensor<1024x64xf32>, %before: tensor<1024x64xf32>, %o: tensor<1024x64xf32>):
      %z = arith.constant 0.0 : f32
      %relu = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel", "parallel"]}
          ins(%l : tensor<1024x64xf32>) outs(%o : tensor<1024x64xf32>) {
      ^bb1(%u: f32, %t: f32):
        %q = arith.maximumf %u, %z : f32
        linalg.yield %q : f32
      } -> tensor<1024x64xf32>
      %p = tensor.pad %relu low[0, 1] high[0, 1] {
      ^bb1(%i: index, %j: index):
        tensor.yield %z : f32
      } : tensor<1024x64xf32> to tensor<1024x66xf32>
      %f = linalg.fill ins(%z : f32) outs(%o : tensor<1024x64xf32>) -> tensor<1024x64xf32>
      %n = tensor.empty() : tensor<3xf32>
      %g = linalg.generic {indexing_maps = [#in, #taps, #out],
                           iterator_types = ["parallel", "parallel", "reduction"]}
          ins(%p, %n : tensor<1024x66xf32>, tensor<3xf32>) outs(%f : tensor<1024x64xf32>) {
      ^bb1(%u: f32, %v: f32, %s: f32):
        %q = arith.addf %u, %s : f32
        linalg.yield %q : f32
      } -> tensor<1024x64xf32>
      %h = linalg.generic {indexing_maps = [#id, #id, #id], iterator_types = ["parallel", "parallel"]}
          ins(%g, %before : tensor<1024x64xf32>, tensor<1024x64xf32>) outs(%o : tensor<1024x64xf32>) {
      ^bb1(%u: f32, %v: f32, %t: f32):
        %q = arith.mulf %u, %v : f32
        linalg.yield %q : f32
      } -> tensor<1024x64xf32>
      kernel.yield %h : tensor<1024x64xf32>
    } -> tensor<1024x64xf32>
    return %y : tensor<1024x64xf32>
  }
}
