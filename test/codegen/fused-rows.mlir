// RUN: cameo-opt %s --split-input-file --pass-pipeline='builtin.module(rt.variant(cameo-assign-schedules,cameo-lower-dispatches))' | FileCheck %s

// Rows of several operations, as networks have them in primitives.

// Softmax of scaled and masked scores: what the reductions read is computed, 16 bytes at a time.
// CHECK-LABEL: rt.variant @softmax
// CHECK: gpu.func {{.*}}schedule<"rows"
// CHECK-NOT: scf.for
// CHECK: vector.load
// CHECK: arith.maximumf
// CHECK: gpu.shuffle
// CHECK: math.exp
// CHECK: gpu.shuffle
// CHECK: arith.divf
// CHECK: vector.store
#all = affine_map<(b, i, j) -> (b, i, j)>
#row = affine_map<(b, i, j) -> (b, i)>
#mask = affine_map<(b, i, j) -> (b, j)>
#kept = affine_map<(b, i, j) -> (b, i, 0)>
rt.variant @softmax target "sm_80" {
  func.func @main(%x: tensor<3x5x128xf32>, %m: tensor<3x128xf32>) -> tensor<3x5x128xf32> {
    %e = tensor.empty() : tensor<3x5x128xf32>
    %r = kernel.dispatch ins(%x, %m : tensor<3x5x128xf32>, tensor<3x128xf32>) outs(%e : tensor<3x5x128xf32>) {
    ^bb0(%a: tensor<3x5x128xf32>, %b: tensor<3x128xf32>, %o: tensor<3x5x128xf32>):
      %z = arith.constant 0.0 : f32
      %scale = arith.constant 0.125 : f32
      %least = arith.constant 0xFF800000 : f32
      %s = tensor.empty() : tensor<3x5xf32>
      %scaled = linalg.generic {indexing_maps = [#all, #all], iterator_types = ["parallel", "parallel", "parallel"]}
          ins(%a : tensor<3x5x128xf32>) outs(%o : tensor<3x5x128xf32>) {
      ^bb1(%v: f32, %w: f32):
        %q = arith.mulf %v, %scale : f32
        linalg.yield %q : f32
      } -> tensor<3x5x128xf32>
      %masked = linalg.generic {indexing_maps = [#all, #mask, #all], iterator_types = ["parallel", "parallel", "parallel"]}
          ins(%scaled, %b : tensor<3x5x128xf32>, tensor<3x128xf32>) outs(%o : tensor<3x5x128xf32>) {
      ^bb1(%v: f32, %n: f32, %w: f32):
        %q = arith.addf %v, %n : f32
        linalg.yield %q : f32
      } -> tensor<3x5x128xf32>
      %f = linalg.fill ins(%least : f32) outs(%s : tensor<3x5xf32>) -> tensor<3x5xf32>
      %most = linalg.generic {indexing_maps = [#all, #row], iterator_types = ["parallel", "parallel", "reduction"]}
          ins(%masked : tensor<3x5x128xf32>) outs(%f : tensor<3x5xf32>) {
      ^bb1(%v: f32, %w: f32):
        %q = arith.maximumf %w, %v : f32
        linalg.yield %q : f32
      } -> tensor<3x5xf32>
      %kept = tensor.expand_shape %most [[0], [1, 2]] output_shape [3, 5, 1] : tensor<3x5xf32> into tensor<3x5x1xf32>
      %less = linalg.generic {indexing_maps = [#all, #kept, #all], iterator_types = ["parallel", "parallel", "parallel"]}
          ins(%masked, %kept : tensor<3x5x128xf32>, tensor<3x5x1xf32>) outs(%o : tensor<3x5x128xf32>) {
      ^bb1(%v: f32, %n: f32, %w: f32):
        %q = arith.subf %v, %n : f32
        linalg.yield %q : f32
      } -> tensor<3x5x128xf32>
      %power = linalg.generic {indexing_maps = [#all, #all], iterator_types = ["parallel", "parallel", "parallel"]}
          ins(%less : tensor<3x5x128xf32>) outs(%o : tensor<3x5x128xf32>) {
      ^bb1(%v: f32, %w: f32):
        %q = math.exp %v : f32
        linalg.yield %q : f32
      } -> tensor<3x5x128xf32>
      %g = linalg.fill ins(%z : f32) outs(%s : tensor<3x5xf32>) -> tensor<3x5xf32>
      %sum = linalg.generic {indexing_maps = [#all, #row], iterator_types = ["parallel", "parallel", "reduction"]}
          ins(%power : tensor<3x5x128xf32>) outs(%g : tensor<3x5xf32>) {
      ^bb1(%v: f32, %w: f32):
        %q = arith.addf %w, %v : f32
        linalg.yield %q : f32
      } -> tensor<3x5xf32>
      %h = linalg.generic {indexing_maps = [#all, #row, #all], iterator_types = ["parallel", "parallel", "parallel"]}
          ins(%power, %sum : tensor<3x5x128xf32>, tensor<3x5xf32>) outs(%o : tensor<3x5x128xf32>) {
      ^bb1(%v: f32, %t: f32, %w: f32):
        %q = arith.divf %v, %t : f32
        linalg.yield %q : f32
      } -> tensor<3x5x128xf32>
      kernel.yield %h : tensor<3x5x128xf32>
    } -> tensor<3x5x128xf32>
    return %r : tensor<3x5x128xf32>
  }
}

// -----

// A residual added, normalised over its length (mean, deviation, its mean of squares), scaled and
// shifted. The sum, the result and the mean are results.
// CHECK-LABEL: rt.variant @normalised
// CHECK: rt.launch {{.*}} writes [4, 5, 6]
// CHECK: gpu.func {{.*}}schedule<"rows"
#all = affine_map<(i, j) -> (i, j)>
#row = affine_map<(i, j) -> (i)>
#column = affine_map<(i, j) -> (j)>
#one = affine_map<(i) -> (i)>
rt.variant @normalised target "sm_80" {
  func.func @main(%x: tensor<6x96xf32>, %y: tensor<6x96xf32>, %g: tensor<96xf32>, %b: tensor<96xf32>)
      -> (tensor<6x96xf32>, tensor<6x96xf32>, tensor<6xf32>) {
    %e = tensor.empty() : tensor<6x96xf32>
    %e2 = tensor.empty() : tensor<6xf32>
    %r:3 = kernel.dispatch ins(%x, %y, %g, %b : tensor<6x96xf32>, tensor<6x96xf32>, tensor<96xf32>, tensor<96xf32>)
                           outs(%e, %e, %e2 : tensor<6x96xf32>, tensor<6x96xf32>, tensor<6xf32>) {
    ^bb0(%a: tensor<6x96xf32>, %c: tensor<6x96xf32>, %gamma: tensor<96xf32>, %beta: tensor<96xf32>,
         %o: tensor<6x96xf32>, %o2: tensor<6x96xf32>, %o3: tensor<6xf32>):
      %z = arith.constant 0.0 : f32
      %n = arith.constant 96.0 : f32
      %epsilon = arith.constant 1.0e-5 : f32
      %s = tensor.empty() : tensor<6xf32>
      %f = linalg.fill ins(%z : f32) outs(%s : tensor<6xf32>) -> tensor<6xf32>
      %added = linalg.generic {indexing_maps = [#all, #all, #all], iterator_types = ["parallel", "parallel"]}
          ins(%a, %c : tensor<6x96xf32>, tensor<6x96xf32>) outs(%o : tensor<6x96xf32>) {
      ^bb1(%v: f32, %t: f32, %w: f32):
        %q = arith.addf %v, %t : f32
        linalg.yield %q : f32
      } -> tensor<6x96xf32>
      %sum = linalg.generic {indexing_maps = [#all, #row], iterator_types = ["parallel", "reduction"]}
          ins(%added : tensor<6x96xf32>) outs(%f : tensor<6xf32>) {
      ^bb1(%v: f32, %w: f32):
        %q = arith.addf %w, %v : f32
        linalg.yield %q : f32
      } -> tensor<6xf32>
      %mean = linalg.generic {indexing_maps = [#one, #one], iterator_types = ["parallel"]}
          ins(%sum : tensor<6xf32>) outs(%s : tensor<6xf32>) {
      ^bb1(%v: f32, %w: f32):
        %q = arith.divf %v, %n : f32
        linalg.yield %q : f32
      } -> tensor<6xf32>
      %off = linalg.generic {indexing_maps = [#all, #row, #all], iterator_types = ["parallel", "parallel"]}
          ins(%added, %mean : tensor<6x96xf32>, tensor<6xf32>) outs(%o : tensor<6x96xf32>) {
      ^bb1(%v: f32, %t: f32, %w: f32):
        %q = arith.subf %v, %t : f32
        linalg.yield %q : f32
      } -> tensor<6x96xf32>
      %square = linalg.generic {indexing_maps = [#all, #all], iterator_types = ["parallel", "parallel"]}
          ins(%off : tensor<6x96xf32>) outs(%o : tensor<6x96xf32>) {
      ^bb1(%v: f32, %w: f32):
        %q = arith.mulf %v, %v : f32
        linalg.yield %q : f32
      } -> tensor<6x96xf32>
      %squares = linalg.generic {indexing_maps = [#all, #row], iterator_types = ["parallel", "reduction"]}
          ins(%square : tensor<6x96xf32>) outs(%f : tensor<6xf32>) {
      ^bb1(%v: f32, %w: f32):
        %q = arith.addf %w, %v : f32
        linalg.yield %q : f32
      } -> tensor<6xf32>
      %deviation = linalg.generic {indexing_maps = [#one, #one], iterator_types = ["parallel"]}
          ins(%squares : tensor<6xf32>) outs(%s : tensor<6xf32>) {
      ^bb1(%v: f32, %w: f32):
        %q = arith.divf %v, %n : f32
        %p = arith.addf %q, %epsilon : f32
        %t = math.sqrt %p : f32
        linalg.yield %t : f32
      } -> tensor<6xf32>
      %even = linalg.generic {indexing_maps = [#all, #row, #all], iterator_types = ["parallel", "parallel"]}
          ins(%off, %deviation : tensor<6x96xf32>, tensor<6xf32>) outs(%o : tensor<6x96xf32>) {
      ^bb1(%v: f32, %t: f32, %w: f32):
        %q = arith.divf %v, %t : f32
        linalg.yield %q : f32
      } -> tensor<6x96xf32>
      %h = linalg.generic {indexing_maps = [#all, #column, #column, #all], iterator_types = ["parallel", "parallel"]}
          ins(%even, %gamma, %beta : tensor<6x96xf32>, tensor<96xf32>, tensor<96xf32>) outs(%o : tensor<6x96xf32>) {
      ^bb1(%v: f32, %t: f32, %u: f32, %w: f32):
        %q = arith.mulf %v, %t : f32
        %p = arith.addf %q, %u : f32
        linalg.yield %p : f32
      } -> tensor<6x96xf32>
      kernel.yield %added, %h, %mean : tensor<6x96xf32>, tensor<6x96xf32>, tensor<6xf32>
    } -> tensor<6x96xf32>, tensor<6x96xf32>, tensor<6xf32>
    return %r#0, %r#1, %r#2 : tensor<6x96xf32>, tensor<6x96xf32>, tensor<6xf32>
  }
}

// -----

// Not where a row needs what was reduced of others.
// CHECK-LABEL: rt.variant @other_rows
// CHECK-NOT: schedule<"rows"
// CHECK: gpu.func {{.*}}schedule<"map"
#all = affine_map<(i, j) -> (i, j)>
#row = affine_map<(i, j) -> (i)>
#column = affine_map<(i, j) -> (j)>
rt.variant @other_rows target "sm_80" {
  func.func @main(%x: tensor<48x48xf32>) -> tensor<48x48xf32> {
    %e = tensor.empty() : tensor<48x48xf32>
    %r = kernel.dispatch ins(%x : tensor<48x48xf32>) outs(%e : tensor<48x48xf32>) {
    ^bb0(%a: tensor<48x48xf32>, %o: tensor<48x48xf32>):
      %z = arith.constant 0.0 : f32
      %s = tensor.empty() : tensor<48xf32>
      %f = linalg.fill ins(%z : f32) outs(%s : tensor<48xf32>) -> tensor<48xf32>
      %g = linalg.generic {indexing_maps = [#all, #row], iterator_types = ["parallel", "reduction"]}
          ins(%a : tensor<48x48xf32>) outs(%f : tensor<48xf32>) {
      ^bb1(%v: f32, %w: f32):
        %q = arith.addf %w, %v : f32
        linalg.yield %q : f32
      } -> tensor<48xf32>
      %h = linalg.generic {indexing_maps = [#row, #column, #all], iterator_types = ["parallel", "parallel"]}
          ins(%g, %g : tensor<48xf32>, tensor<48xf32>) outs(%o : tensor<48x48xf32>) {
      ^bb1(%v: f32, %t: f32, %w: f32):
        %q = arith.mulf %v, %t : f32
        linalg.yield %q : f32
      } -> tensor<48x48xf32>
      kernel.yield %h : tensor<48x48xf32>
    } -> tensor<48x48xf32>
    return %r : tensor<48x48xf32>
  }
}
