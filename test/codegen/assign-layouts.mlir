// RUN: cameo-opt %s --split-input-file --pass-pipeline='builtin.module(rt.variant(cameo-assign-layouts{layout=channels-last}))' | FileCheck %s --check-prefix=LAST
// RUN: cameo-opt %s --split-input-file --pass-pipeline='builtin.module(rt.variant(cameo-assign-layouts{layout=channels-last},cameo-assign-layouts{layout=channels-last}))' | FileCheck %s --check-prefix=LAST
// RUN: cameo-opt %s --split-input-file --pass-pipeline='builtin.module(rt.variant(cameo-assign-layouts))' | FileCheck %s --check-prefix=AUTO
// RUN: cameo-opt %s --split-input-file --pass-pipeline='builtin.module(rt.variant(cameo-assign-layouts,cameo-assign-layouts))' | FileCheck %s --check-prefix=AUTO
// RUN: cameo-opt %s --split-input-file --pass-pipeline='builtin.module(rt.variant(cameo-assign-layouts{layout=tensor-cores}))' | FileCheck %s --check-prefix=TENSOR

// Between dispatches, the order changes; inputs and outputs are read and written as they are declared. Loops go
// through what is written as it is stored. Costs leave all as it is.
// LAST: #[[IN:.*]] = affine_map<(d0, d1, d2, d3) -> (d0, d3, d1, d2)>
// LAST: #[[ID:.*]] = affine_map<(d0, d1, d2, d3) -> (d0, d1, d2, d3)>
// LAST: #[[BACK:.*]] = affine_map<(d0, d1, d2, d3) -> (d0, d2, d3, d1)>
// LAST-LABEL: rt.variant @pointwise
// LAST: %[[E:.*]] = tensor.empty() : tensor<1x3x2x4xf32>
// LAST: %[[X:.*]] = kernel.dispatch ins(%{{.*}} : tensor<1x4x3x2xf32>) outs(%[[E]] : tensor<1x3x2x4xf32>)
// LAST: linalg.generic {indexing_maps = [#[[IN]], #[[ID]]]
// LAST: kernel.dispatch ins(%[[X]], %{{.*}} : tensor<1x3x2x4xf32>, tensor<1x4x3x2xf32>)
// LAST: linalg.generic {indexing_maps = [#[[BACK]], #[[ID]], #[[ID]]]
// LAST: -> tensor<1x4x3x2xf32>
// AUTO-LABEL: rt.variant @pointwise
// AUTO-NOT: tensor<1x3x2x4xf32>
#id = affine_map<(a, b, c, d) -> (a, b, c, d)>
rt.variant @pointwise target "sm_80" {
  func.func @main(%x: tensor<1x4x3x2xf32>) -> tensor<1x4x3x2xf32> {
    %e = tensor.empty() : tensor<1x4x3x2xf32>
    %0 = kernel.dispatch ins(%x : tensor<1x4x3x2xf32>) outs(%e : tensor<1x4x3x2xf32>) {
    ^bb0(%a: tensor<1x4x3x2xf32>, %o: tensor<1x4x3x2xf32>):
      %r = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel", "parallel", "parallel", "parallel"]}
          ins(%a : tensor<1x4x3x2xf32>) outs(%o : tensor<1x4x3x2xf32>) {
      ^bb1(%u: f32, %q: f32):
        %n = arith.negf %u : f32
        linalg.yield %n : f32
      } -> tensor<1x4x3x2xf32>
      kernel.yield %r : tensor<1x4x3x2xf32>
    } -> tensor<1x4x3x2xf32>
    %1 = kernel.dispatch ins(%0, %x : tensor<1x4x3x2xf32>, tensor<1x4x3x2xf32>) outs(%e : tensor<1x4x3x2xf32>) {
    ^bb0(%a: tensor<1x4x3x2xf32>, %b: tensor<1x4x3x2xf32>, %o: tensor<1x4x3x2xf32>):
      %r = linalg.generic {indexing_maps = [#id, #id, #id], iterator_types = ["parallel", "parallel", "parallel", "parallel"]}
          ins(%a, %b : tensor<1x4x3x2xf32>, tensor<1x4x3x2xf32>) outs(%o : tensor<1x4x3x2xf32>) {
      ^bb1(%u: f32, %v: f32, %q: f32):
        %n = arith.addf %u, %v : f32
        linalg.yield %n : f32
      } -> tensor<1x4x3x2xf32>
      kernel.yield %r : tensor<1x4x3x2xf32>
    } -> tensor<1x4x3x2xf32>
    return %1 : tensor<1x4x3x2xf32>
  }
}

// -----

// Sizes known at run time: of memory, of padding, of who asks for them. Indices are those of the loops.
// LAST-LABEL: rt.variant @window
// LAST: func.func @main(%{{.*}}: tensor<?x4x8x?xf32>, %[[N:.*]]: index, %[[W:.*]]: index, %[[H:.*]]: index)
// LAST: tensor.empty(%[[N]], %[[W]]) : tensor<?x8x?x4xf32>
// LAST: linalg.index 2 : index
// LAST: tensor.pad %{{.*}} low[0, 1, 1, 0] high[0, 0, 0, 0]
// LAST: tensor<?x8x?x4xf32> to tensor<?x9x?x4xf32>
// LAST: linalg.fill ins(%{{.*}}) outs(%{{.*}} : tensor<?x4x?x4xf32>)
// LAST: iterator_types = ["parallel", "parallel", "parallel", "parallel", "reduction", "reduction"]} ins(%{{.*}} : tensor<?x9x?x4xf32>, tensor<3x3xi8>)
// LAST: %[[C2:.*]] = arith.constant 2 : index
// LAST: tensor.dim %{{.*}}, %[[C2]] : tensor<?x8x?x4xf32>
// AUTO-LABEL: rt.variant @window
// AUTO-NOT: tensor<?x8x?x4xf32>
#in = affine_map<(n, c, y, x, k, l) -> (n, c, y * 2 + k, x * 2 + l)>
#taps = affine_map<(n, c, y, x, k, l) -> (k, l)>
#out = affine_map<(n, c, y, x, k, l) -> (n, c, y, x)>
#id = affine_map<(a, b, c, d) -> (a, b, c, d)>
rt.variant @window target "sm_80" {
  func.func @main(%x: tensor<?x4x8x?xf32>, %batch: index, %w: index, %h: index) -> (tensor<?x4x4x?xf32>, index) {
    %e = tensor.empty(%batch, %w) : tensor<?x4x8x?xf32>
    %0 = kernel.dispatch ins(%x : tensor<?x4x8x?xf32>) outs(%e : tensor<?x4x8x?xf32>) {
    ^bb0(%a: tensor<?x4x8x?xf32>, %o: tensor<?x4x8x?xf32>):
      %r = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel", "parallel", "parallel", "parallel"]}
          ins(%a : tensor<?x4x8x?xf32>) outs(%o : tensor<?x4x8x?xf32>) {
      ^bb1(%u: f32, %q: f32):
        %i = linalg.index 3 : index
        %j = arith.index_cast %i : index to i32
        %k = arith.sitofp %j : i32 to f32
        %n = arith.addf %u, %k : f32
        linalg.yield %n : f32
      } -> tensor<?x4x8x?xf32>
      kernel.yield %r : tensor<?x4x8x?xf32>
    } -> tensor<?x4x8x?xf32>
    %p = tensor.empty(%batch, %h) : tensor<?x4x4x?xf32>
    %1 = kernel.dispatch ins(%0 : tensor<?x4x8x?xf32>) outs(%p : tensor<?x4x4x?xf32>) {
    ^bb0(%a: tensor<?x4x8x?xf32>, %o: tensor<?x4x4x?xf32>):
      %z = arith.constant 0xFF800000 : f32
      %pad = tensor.pad %a low[0, 0, 1, 1] high[0, 0, 0, 0] {
      ^bb1(%i: index, %j: index, %k: index, %l: index):
        tensor.yield %z : f32
      } : tensor<?x4x8x?xf32> to tensor<?x4x9x?xf32>
      %f = linalg.fill ins(%z : f32) outs(%o : tensor<?x4x4x?xf32>) -> tensor<?x4x4x?xf32>
      %t = tensor.empty() : tensor<3x3xi8>
      %r = linalg.generic {indexing_maps = [#in, #taps, #out], iterator_types = ["parallel", "parallel", "parallel", "parallel", "reduction", "reduction"]}
          ins(%pad, %t : tensor<?x4x9x?xf32>, tensor<3x3xi8>) outs(%f : tensor<?x4x4x?xf32>) {
      ^bb1(%u: f32, %v: i8, %s: f32):
        %m = arith.maximumf %s, %u : f32
        linalg.yield %m : f32
      } -> tensor<?x4x4x?xf32>
      kernel.yield %r : tensor<?x4x4x?xf32>
    } -> tensor<?x4x4x?xf32>
    %c3 = arith.constant 3 : index
    %d = tensor.dim %0, %c3 : tensor<?x4x8x?xf32>
    %2 = kernel.dispatch ins(%1 : tensor<?x4x4x?xf32>) outs(%p : tensor<?x4x4x?xf32>) {
    ^bb0(%a: tensor<?x4x4x?xf32>, %o: tensor<?x4x4x?xf32>):
      %r = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel", "parallel", "parallel", "parallel"]}
          ins(%a : tensor<?x4x4x?xf32>) outs(%o : tensor<?x4x4x?xf32>) {
      ^bb1(%u: f32, %q: f32):
        %n = arith.negf %u : f32
        linalg.yield %n : f32
      } -> tensor<?x4x4x?xf32>
      kernel.yield %r : tensor<?x4x4x?xf32>
    } -> tensor<?x4x4x?xf32>
    return %2, %d : tensor<?x4x4x?xf32>, index
  }
}

// -----

// A storage, its views and what is written there are stored alike.
// LAST-LABEL: rt.variant @views
// LAST: %[[S:.*]] = rt.storage : tensor<2x4x5x6xf32>
// LAST: rt.view %[[S]][0, 0, 0, 0] : tensor<2x4x5x6xf32> -> tensor<2x4x5x3xf32>
// LAST: rt.view %[[S]][0, 0, 0, 3] : tensor<2x4x5x6xf32> -> tensor<2x4x5x3xf32>
// LAST: rt.assemble %[[S]] dim 3 of
// AUTO-LABEL: rt.variant @views
// AUTO: rt.storage : tensor<2x6x4x5xf32>
#id = affine_map<(a, b, c, d) -> (a, b, c, d)>
rt.variant @views target "sm_80" {
  func.func @main(%x: tensor<2x3x4x5xf32>) -> tensor<2x6x4x5xf32> {
    %s = rt.storage : tensor<2x6x4x5xf32>
    %v = rt.view %s[0, 0, 0, 0] : tensor<2x6x4x5xf32> -> tensor<2x3x4x5xf32>
    %w = rt.view %s[0, 3, 0, 0] : tensor<2x6x4x5xf32> -> tensor<2x3x4x5xf32>
    %0 = kernel.dispatch ins(%x : tensor<2x3x4x5xf32>) outs(%v : tensor<2x3x4x5xf32>) {
    ^bb0(%a: tensor<2x3x4x5xf32>, %o: tensor<2x3x4x5xf32>):
      %r = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel", "parallel", "parallel", "parallel"]}
          ins(%a : tensor<2x3x4x5xf32>) outs(%o : tensor<2x3x4x5xf32>) {
      ^bb1(%u: f32, %q: f32):
        %n = arith.negf %u : f32
        linalg.yield %n : f32
      } -> tensor<2x3x4x5xf32>
      kernel.yield %r : tensor<2x3x4x5xf32>
    } -> tensor<2x3x4x5xf32>
    %1 = kernel.dispatch ins(%x : tensor<2x3x4x5xf32>) outs(%w : tensor<2x3x4x5xf32>) {
    ^bb0(%a: tensor<2x3x4x5xf32>, %o: tensor<2x3x4x5xf32>):
      %r = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel", "parallel", "parallel", "parallel"]}
          ins(%a : tensor<2x3x4x5xf32>) outs(%o : tensor<2x3x4x5xf32>) {
      ^bb1(%u: f32, %q: f32):
        %n = math.absf %u : f32
        linalg.yield %n : f32
      } -> tensor<2x3x4x5xf32>
      kernel.yield %r : tensor<2x3x4x5xf32>
    } -> tensor<2x3x4x5xf32>
    %y = rt.assemble %s dim 1 of %0, %1 : tensor<2x6x4x5xf32> of tensor<2x3x4x5xf32>, tensor<2x3x4x5xf32>
    %e = tensor.empty() : tensor<2x6x4x5xf32>
    %2 = kernel.dispatch ins(%y : tensor<2x6x4x5xf32>) outs(%e : tensor<2x6x4x5xf32>) {
    ^bb0(%a: tensor<2x6x4x5xf32>, %o: tensor<2x6x4x5xf32>):
      %r = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel", "parallel", "parallel", "parallel"]}
          ins(%a : tensor<2x6x4x5xf32>) outs(%o : tensor<2x6x4x5xf32>) {
      ^bb1(%u: f32, %q: f32):
        %n = arith.negf %u : f32
        linalg.yield %n : f32
      } -> tensor<2x6x4x5xf32>
      kernel.yield %r : tensor<2x6x4x5xf32>
    } -> tensor<2x6x4x5xf32>
    return %2 : tensor<2x6x4x5xf32>
  }
}

// -----

// A reshape that splits a dimension goes along; one that does not, gets a copy as it was.
// LAST-LABEL: rt.variant @reshapes
// LAST: %[[X:.*]] = kernel.dispatch {{.*}} outs(%{{.*}} : tensor<2x4x5x6xf32>)
// LAST: %[[COPY:.*]] = kernel.dispatch ins(%[[X]] : tensor<2x4x5x6xf32>) outs(%{{.*}} : tensor<2x6x4x5xf32>)
// LAST: rt.reshape %[[X]] : tensor<2x4x5x6xf32> -> tensor<2x4x5x3x2xf32>
// LAST: rt.reshape %[[COPY]] : tensor<2x6x4x5xf32> -> tensor<8x6x5xf32>
// AUTO-LABEL: rt.variant @reshapes
// AUTO: rt.reshape %{{.*}} : tensor<2x6x4x5xf32> -> tensor<2x3x2x4x5xf32>
#id = affine_map<(a, b, c, d) -> (a, b, c, d)>
#id5 = affine_map<(a, b, c, d, e) -> (a, b, c, d, e)>
#id3 = affine_map<(a, b, c) -> (a, b, c)>
rt.variant @reshapes target "sm_80" {
  func.func @main(%x: tensor<2x6x4x5xf32>) -> (tensor<2x3x2x4x5xf32>, tensor<8x6x5xf32>) {
    %e = tensor.empty() : tensor<2x6x4x5xf32>
    %0 = kernel.dispatch ins(%x : tensor<2x6x4x5xf32>) outs(%e : tensor<2x6x4x5xf32>) {
    ^bb0(%a: tensor<2x6x4x5xf32>, %o: tensor<2x6x4x5xf32>):
      %r = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel", "parallel", "parallel", "parallel"]}
          ins(%a : tensor<2x6x4x5xf32>) outs(%o : tensor<2x6x4x5xf32>) {
      ^bb1(%u: f32, %q: f32):
        %n = arith.negf %u : f32
        linalg.yield %n : f32
      } -> tensor<2x6x4x5xf32>
      kernel.yield %r : tensor<2x6x4x5xf32>
    } -> tensor<2x6x4x5xf32>
    %s = rt.reshape %0 : tensor<2x6x4x5xf32> -> tensor<2x3x2x4x5xf32>
    %t = rt.reshape %0 : tensor<2x6x4x5xf32> -> tensor<8x6x5xf32>
    %f = tensor.empty() : tensor<2x3x2x4x5xf32>
    %g = tensor.empty() : tensor<8x6x5xf32>
    %1 = kernel.dispatch ins(%s : tensor<2x3x2x4x5xf32>) outs(%f : tensor<2x3x2x4x5xf32>) {
    ^bb0(%a: tensor<2x3x2x4x5xf32>, %o: tensor<2x3x2x4x5xf32>):
      %r = linalg.generic {indexing_maps = [#id5, #id5], iterator_types = ["parallel", "parallel", "parallel", "parallel", "parallel"]}
          ins(%a : tensor<2x3x2x4x5xf32>) outs(%o : tensor<2x3x2x4x5xf32>) {
      ^bb1(%u: f32, %q: f32):
        %n = arith.negf %u : f32
        linalg.yield %n : f32
      } -> tensor<2x3x2x4x5xf32>
      kernel.yield %r : tensor<2x3x2x4x5xf32>
    } -> tensor<2x3x2x4x5xf32>
    %2 = kernel.dispatch ins(%t : tensor<8x6x5xf32>) outs(%g : tensor<8x6x5xf32>) {
    ^bb0(%a: tensor<8x6x5xf32>, %o: tensor<8x6x5xf32>):
      %r = linalg.generic {indexing_maps = [#id3, #id3], iterator_types = ["parallel", "parallel", "parallel"]}
          ins(%a : tensor<8x6x5xf32>) outs(%o : tensor<8x6x5xf32>) {
      ^bb1(%u: f32, %q: f32):
        %n = arith.negf %u : f32
        linalg.yield %n : f32
      } -> tensor<8x6x5xf32>
      kernel.yield %r : tensor<8x6x5xf32>
    } -> tensor<8x6x5xf32>
    return %1, %2 : tensor<2x3x2x4x5xf32>, tensor<8x6x5xf32>
  }
}

// -----

// A dispatch with a schedule, and what it reads and writes, stays as it is; and so does an output.
// LAST-LABEL: rt.variant @given
// LAST-NOT: tensor<1x3x2x4xf32>
// LAST: return
// AUTO-LABEL: rt.variant @given
#id = affine_map<(a, b, c, d) -> (a, b, c, d)>
rt.variant @given target "sm_80" {
  func.func @main(%x: tensor<1x4x3x2xf32>) -> (tensor<1x4x3x2xf32>, tensor<1x4x3x2xf32>) {
    %e = tensor.empty() : tensor<1x4x3x2xf32>
    %0 = kernel.dispatch ins(%x : tensor<1x4x3x2xf32>) outs(%e : tensor<1x4x3x2xf32>) {
    ^bb0(%a: tensor<1x4x3x2xf32>, %o: tensor<1x4x3x2xf32>):
      %r = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel", "parallel", "parallel", "parallel"]}
          ins(%a : tensor<1x4x3x2xf32>) outs(%o : tensor<1x4x3x2xf32>) {
      ^bb1(%u: f32, %q: f32):
        %n = arith.negf %u : f32
        linalg.yield %n : f32
      } -> tensor<1x4x3x2xf32>
      kernel.yield %r : tensor<1x4x3x2xf32>
    } -> tensor<1x4x3x2xf32>
    %1 = kernel.dispatch ins(%0 : tensor<1x4x3x2xf32>) outs(%e : tensor<1x4x3x2xf32>) schedule <"map", {flat = false, threads = 64 : i64, vector = 1 : i64}> {
    ^bb0(%a: tensor<1x4x3x2xf32>, %o: tensor<1x4x3x2xf32>):
      %r = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel", "parallel", "parallel", "parallel"]}
          ins(%a : tensor<1x4x3x2xf32>) outs(%o : tensor<1x4x3x2xf32>) {
      ^bb1(%u: f32, %q: f32):
        %n = arith.negf %u : f32
        linalg.yield %n : f32
      } -> tensor<1x4x3x2xf32>
      kernel.yield %r : tensor<1x4x3x2xf32>
    } -> tensor<1x4x3x2xf32>
    %2 = kernel.dispatch ins(%x : tensor<1x4x3x2xf32>) outs(%e : tensor<1x4x3x2xf32>) {
    ^bb0(%a: tensor<1x4x3x2xf32>, %o: tensor<1x4x3x2xf32>):
      %r = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel", "parallel", "parallel", "parallel"]}
          ins(%a : tensor<1x4x3x2xf32>) outs(%o : tensor<1x4x3x2xf32>) {
      ^bb1(%u: f32, %q: f32):
        %n = arith.negf %u : f32
        linalg.yield %n : f32
      } -> tensor<1x4x3x2xf32>
      kernel.yield %r : tensor<1x4x3x2xf32>
    } -> tensor<1x4x3x2xf32>
    %3 = kernel.dispatch ins(%2 : tensor<1x4x3x2xf32>) outs(%e : tensor<1x4x3x2xf32>) {
    ^bb0(%a: tensor<1x4x3x2xf32>, %o: tensor<1x4x3x2xf32>):
      %r = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel", "parallel", "parallel", "parallel"]}
          ins(%a : tensor<1x4x3x2xf32>) outs(%o : tensor<1x4x3x2xf32>) {
      ^bb1(%u: f32, %q: f32):
        %n = arith.negf %u : f32
        linalg.yield %n : f32
      } -> tensor<1x4x3x2xf32>
      kernel.yield %r : tensor<1x4x3x2xf32>
    } -> tensor<1x4x3x2xf32>
    return %3, %2 : tensor<1x4x3x2xf32>, tensor<1x4x3x2xf32>
  }
}

// -----

// Two that read it transposed: it is stored transposed, which only its writer pays for.
// AUTO-LABEL: rt.variant @transposed
// AUTO: kernel.dispatch ins(%{{.*}} : tensor<64x64x128xf32>) outs(%{{.*}} : tensor<64x128x64xf32>)
// AUTO-COUNT-2: kernel.dispatch ins(%{{.*}} : tensor<64x128x64xf32>) outs(%{{.*}} : tensor<64x128x64xf32>)
// LAST-LABEL: rt.variant @transposed
#id = affine_map<(a, b, c) -> (a, b, c)>
#t = affine_map<(a, b, c) -> (a, c, b)>
rt.variant @transposed target "sm_80" {
  func.func @main(%x: tensor<64x64x128xf32>) -> (tensor<64x128x64xf32>, tensor<64x128x64xf32>) {
    %e = tensor.empty() : tensor<64x64x128xf32>
    %f = tensor.empty() : tensor<64x128x64xf32>
    %0 = kernel.dispatch ins(%x : tensor<64x64x128xf32>) outs(%e : tensor<64x64x128xf32>) {
    ^bb0(%a: tensor<64x64x128xf32>, %o: tensor<64x64x128xf32>):
      %r = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel", "parallel", "parallel"]}
          ins(%a : tensor<64x64x128xf32>) outs(%o : tensor<64x64x128xf32>) {
      ^bb1(%u: f32, %q: f32):
        %n = arith.negf %u : f32
        linalg.yield %n : f32
      } -> tensor<64x64x128xf32>
      kernel.yield %r : tensor<64x64x128xf32>
    } -> tensor<64x64x128xf32>
    %1 = kernel.dispatch ins(%0 : tensor<64x64x128xf32>) outs(%f : tensor<64x128x64xf32>) {
    ^bb0(%a: tensor<64x64x128xf32>, %o: tensor<64x128x64xf32>):
      %r = linalg.generic {indexing_maps = [#t, #id], iterator_types = ["parallel", "parallel", "parallel"]}
          ins(%a : tensor<64x64x128xf32>) outs(%o : tensor<64x128x64xf32>) {
      ^bb1(%u: f32, %q: f32):
        %n = arith.negf %u : f32
        linalg.yield %n : f32
      } -> tensor<64x128x64xf32>
      kernel.yield %r : tensor<64x128x64xf32>
    } -> tensor<64x128x64xf32>
    %2 = kernel.dispatch ins(%0 : tensor<64x64x128xf32>) outs(%f : tensor<64x128x64xf32>) {
    ^bb0(%a: tensor<64x64x128xf32>, %o: tensor<64x128x64xf32>):
      %r = linalg.generic {indexing_maps = [#t, #id], iterator_types = ["parallel", "parallel", "parallel"]}
          ins(%a : tensor<64x64x128xf32>) outs(%o : tensor<64x128x64xf32>) {
      ^bb1(%u: f32, %q: f32):
        %n = math.absf %u : f32
        linalg.yield %n : f32
      } -> tensor<64x128x64xf32>
      kernel.yield %r : tensor<64x128x64xf32>
    } -> tensor<64x128x64xf32>
    return %1, %2 : tensor<64x128x64xf32>, tensor<64x128x64xf32>
  }
}

// -----

// An input that many read transposed beside sums, and so not through shared memory, is copied, once for all; those
// that read it as it is are not concerned.
// AUTO-LABEL: rt.variant @copied
// AUTO-SAME: reads a copy with dimension 0 innermost
// AUTO: func.func @main(%[[X:.*]]: tensor<1024x1024xf32>,
// AUTO: kernel.dispatch ins(%[[X]] :
// AUTO: %[[COPY:.*]] = kernel.dispatch ins(%[[X]] : tensor<1024x1024xf32>)
// AUTO: kernel.dispatch ins(%[[COPY]], %{{.*}} :
// AUTO: kernel.dispatch ins(%[[COPY]], %{{.*}} :
// AUTO: kernel.dispatch ins(%[[COPY]], %{{.*}} :
// LAST-LABEL: rt.variant @copied
#id = affine_map<(a, b) -> (a, b)>
#t = affine_map<(a, b) -> (b, a)>
#row = affine_map<(a, b) -> (a)>
rt.variant @copied target "sm_80" {
  func.func @main(%x: tensor<1024x1024xf32>, %g: tensor<1024x4xf32>) -> (tensor<1024x1024xf32>, tensor<1024x1024xf32>, tensor<1024x1024xf32>, tensor<1024x1024xf32>) {
    %e = tensor.empty() : tensor<1024x1024xf32>
    %f = kernel.dispatch ins(%x : tensor<1024x1024xf32>) outs(%e : tensor<1024x1024xf32>) {
    ^bb0(%a: tensor<1024x1024xf32>, %o: tensor<1024x1024xf32>):
      %r = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel", "parallel"]}
          ins(%a : tensor<1024x1024xf32>) outs(%o : tensor<1024x1024xf32>) {
      ^bb1(%u: f32, %q: f32):
        %n = arith.negf %u : f32
        linalg.yield %n : f32
      } -> tensor<1024x1024xf32>
      kernel.yield %r : tensor<1024x1024xf32>
    } -> tensor<1024x1024xf32>
    %0 = kernel.dispatch ins(%x, %g : tensor<1024x1024xf32>, tensor<1024x4xf32>) outs(%e : tensor<1024x1024xf32>) {
    ^bb0(%a: tensor<1024x1024xf32>, %b: tensor<1024x4xf32>, %o: tensor<1024x1024xf32>):
      %z = arith.constant 0.0 : f32
      %i = tensor.empty() : tensor<1024xf32>
      %l = linalg.fill ins(%z : f32) outs(%i : tensor<1024xf32>) -> tensor<1024xf32>
      %s = linalg.generic {indexing_maps = [#id, #row], iterator_types = ["parallel", "reduction"]}
          ins(%b : tensor<1024x4xf32>) outs(%l : tensor<1024xf32>) {
      ^bb1(%u: f32, %q: f32):
        %n = arith.addf %q, %u : f32
        linalg.yield %n : f32
      } -> tensor<1024xf32>
      %r = linalg.generic {indexing_maps = [#t, #row, #id], iterator_types = ["parallel", "parallel"]}
          ins(%a, %s : tensor<1024x1024xf32>, tensor<1024xf32>) outs(%o : tensor<1024x1024xf32>) {
      ^bb1(%u: f32, %v: f32, %q: f32):
        %n = arith.addf %u, %v : f32
        linalg.yield %n : f32
      } -> tensor<1024x1024xf32>
      kernel.yield %r : tensor<1024x1024xf32>
    } -> tensor<1024x1024xf32>
    %1 = kernel.dispatch ins(%x, %g : tensor<1024x1024xf32>, tensor<1024x4xf32>) outs(%e : tensor<1024x1024xf32>) {
    ^bb0(%a: tensor<1024x1024xf32>, %b: tensor<1024x4xf32>, %o: tensor<1024x1024xf32>):
      %z = arith.constant 0.0 : f32
      %i = tensor.empty() : tensor<1024xf32>
      %l = linalg.fill ins(%z : f32) outs(%i : tensor<1024xf32>) -> tensor<1024xf32>
      %s = linalg.generic {indexing_maps = [#id, #row], iterator_types = ["parallel", "reduction"]}
          ins(%b : tensor<1024x4xf32>) outs(%l : tensor<1024xf32>) {
      ^bb1(%u: f32, %q: f32):
        %n = arith.addf %q, %u : f32
        linalg.yield %n : f32
      } -> tensor<1024xf32>
      %r = linalg.generic {indexing_maps = [#t, #row, #id], iterator_types = ["parallel", "parallel"]}
          ins(%a, %s : tensor<1024x1024xf32>, tensor<1024xf32>) outs(%o : tensor<1024x1024xf32>) {
      ^bb1(%u: f32, %v: f32, %q: f32):
        %n = arith.addf %u, %v : f32
        linalg.yield %n : f32
      } -> tensor<1024x1024xf32>
      kernel.yield %r : tensor<1024x1024xf32>
    } -> tensor<1024x1024xf32>
    %2 = kernel.dispatch ins(%x, %g : tensor<1024x1024xf32>, tensor<1024x4xf32>) outs(%e : tensor<1024x1024xf32>) {
    ^bb0(%a: tensor<1024x1024xf32>, %b: tensor<1024x4xf32>, %o: tensor<1024x1024xf32>):
      %z = arith.constant 0.0 : f32
      %i = tensor.empty() : tensor<1024xf32>
      %l = linalg.fill ins(%z : f32) outs(%i : tensor<1024xf32>) -> tensor<1024xf32>
      %s = linalg.generic {indexing_maps = [#id, #row], iterator_types = ["parallel", "reduction"]}
          ins(%b : tensor<1024x4xf32>) outs(%l : tensor<1024xf32>) {
      ^bb1(%u: f32, %q: f32):
        %n = arith.addf %q, %u : f32
        linalg.yield %n : f32
      } -> tensor<1024xf32>
      %r = linalg.generic {indexing_maps = [#t, #row, #id], iterator_types = ["parallel", "parallel"]}
          ins(%a, %s : tensor<1024x1024xf32>, tensor<1024xf32>) outs(%o : tensor<1024x1024xf32>) {
      ^bb1(%u: f32, %v: f32, %q: f32):
        %n = arith.addf %u, %v : f32
        linalg.yield %n : f32
      } -> tensor<1024x1024xf32>
      kernel.yield %r : tensor<1024x1024xf32>
    } -> tensor<1024x1024xf32>
    return %f, %0, %1, %2 : tensor<1024x1024xf32>, tensor<1024x1024xf32>, tensor<1024x1024xf32>, tensor<1024x1024xf32>
  }
}

// -----

// Padded operands of products are copied 16 bytes at a time where channels are innermost, whatever their type is. Those
// of FP32 multiply no sooner for it, so that costs leave them as they are.
// AUTO-LABEL: rt.variant @products_f32
// AUTO-NOT: tensor<1x14x14x256xf32>
// AUTO-LABEL: rt.variant @products_f16
// AUTO-SAME: stored with dimension 1 innermost
// AUTO: kernel.dispatch {{.*}} outs(%{{.*}} : tensor<1x56x56x64xf16>)
// TENSOR-LABEL: rt.variant @products_f32
// TENSOR-NOT: tensor<1x14x14x256xf32>
// TENSOR-LABEL: rt.variant @products_f16
// TENSOR: kernel.dispatch {{.*}} outs(%{{.*}} : tensor<1x56x56x64xf16>)
#id = affine_map<(a, b, c, d) -> (a, b, c, d)>
#in = affine_map<(n, f, y, x, c, k, l) -> (n, c, y + k, x + l)>
#w = affine_map<(n, f, y, x, c, k, l) -> (f, c, k, l)>
#out = affine_map<(n, f, y, x, c, k, l) -> (n, f, y, x)>
rt.constant @w_f32 = dense<1.0> : tensor<256x256x3x3xf32>
rt.variant @products_f32 target "sm_80" {
  func.func @main(%x: tensor<1x256x14x14xf32>) -> tensor<1x256x14x14xf32> {
    %w = rt.get_constant @w_f32 : tensor<256x256x3x3xf32>
    %e = tensor.empty() : tensor<1x256x14x14xf32>
    %0 = kernel.dispatch ins(%x, %w : tensor<1x256x14x14xf32>, tensor<256x256x3x3xf32>) outs(%e : tensor<1x256x14x14xf32>) {
    ^bb0(%a: tensor<1x256x14x14xf32>, %b: tensor<256x256x3x3xf32>, %o: tensor<1x256x14x14xf32>):
      %c = arith.constant 0.0 : f32
      %z = arith.constant 0.0 : f32
      %p = tensor.pad %a low[0, 0, 1, 1] high[0, 0, 1, 1] {
      ^bb1(%j: index, %k: index, %l: index, %m: index):
        tensor.yield %c : f32
      } : tensor<1x256x14x14xf32> to tensor<1x256x16x16xf32>
      %f = linalg.fill ins(%z : f32) outs(%o : tensor<1x256x14x14xf32>) -> tensor<1x256x14x14xf32>
      %r = linalg.generic {indexing_maps = [#in, #w, #out], iterator_types = ["parallel", "parallel", "parallel", "parallel", "reduction", "reduction", "reduction"]}
          ins(%p, %b : tensor<1x256x16x16xf32>, tensor<256x256x3x3xf32>) outs(%f : tensor<1x256x14x14xf32>) {
      ^bb1(%u: f32, %v: f32, %s: f32):
        %n = math.fma %u, %v, %s : f32
        linalg.yield %n : f32
      } -> tensor<1x256x14x14xf32>
      kernel.yield %r : tensor<1x256x14x14xf32>
    } -> tensor<1x256x14x14xf32>
    %1 = kernel.dispatch ins(%0, %w : tensor<1x256x14x14xf32>, tensor<256x256x3x3xf32>) outs(%e : tensor<1x256x14x14xf32>) {
    ^bb0(%a: tensor<1x256x14x14xf32>, %b: tensor<256x256x3x3xf32>, %o: tensor<1x256x14x14xf32>):
      %c = arith.constant 0.0 : f32
      %z = arith.constant 0.0 : f32
      %p = tensor.pad %a low[0, 0, 1, 1] high[0, 0, 1, 1] {
      ^bb1(%j: index, %k: index, %l: index, %m: index):
        tensor.yield %c : f32
      } : tensor<1x256x14x14xf32> to tensor<1x256x16x16xf32>
      %f = linalg.fill ins(%z : f32) outs(%o : tensor<1x256x14x14xf32>) -> tensor<1x256x14x14xf32>
      %r = linalg.generic {indexing_maps = [#in, #w, #out], iterator_types = ["parallel", "parallel", "parallel", "parallel", "reduction", "reduction", "reduction"]}
          ins(%p, %b : tensor<1x256x16x16xf32>, tensor<256x256x3x3xf32>) outs(%f : tensor<1x256x14x14xf32>) {
      ^bb1(%u: f32, %v: f32, %s: f32):
        %n = math.fma %u, %v, %s : f32
        linalg.yield %n : f32
      } -> tensor<1x256x14x14xf32>
      kernel.yield %r : tensor<1x256x14x14xf32>
    } -> tensor<1x256x14x14xf32>
    return %1 : tensor<1x256x14x14xf32>
  }
}
rt.constant @w_f16 = dense<1.0> : tensor<64x64x3x3xf16>
rt.variant @products_f16 target "sm_80" {
  func.func @main(%x: tensor<1x64x56x56xf16>) -> tensor<1x64x56x56xf16> {
    %w = rt.get_constant @w_f16 : tensor<64x64x3x3xf16>
    %e = tensor.empty() : tensor<1x64x56x56xf16>
    %0 = kernel.dispatch ins(%x, %w : tensor<1x64x56x56xf16>, tensor<64x64x3x3xf16>) outs(%e : tensor<1x64x56x56xf16>) {
    ^bb0(%a: tensor<1x64x56x56xf16>, %b: tensor<64x64x3x3xf16>, %o: tensor<1x64x56x56xf16>):
      %c = arith.constant 0.0 : f16
      %z = arith.constant 0.0 : f32
      %p = tensor.pad %a low[0, 0, 1, 1] high[0, 0, 1, 1] {
      ^bb1(%j: index, %k: index, %l: index, %m: index):
        tensor.yield %c : f16
      } : tensor<1x64x56x56xf16> to tensor<1x64x58x58xf16>
      %i = tensor.empty() : tensor<1x64x56x56xf32>
      %f = linalg.fill ins(%z : f32) outs(%i : tensor<1x64x56x56xf32>) -> tensor<1x64x56x56xf32>
      %r = linalg.generic {indexing_maps = [#in, #w, #out], iterator_types = ["parallel", "parallel", "parallel", "parallel", "reduction", "reduction", "reduction"]}
          ins(%p, %b : tensor<1x64x58x58xf16>, tensor<64x64x3x3xf16>) outs(%f : tensor<1x64x56x56xf32>) {
      ^bb1(%u: f16, %v: f16, %s: f32):
        %uu = arith.extf %u : f16 to f32
        %vv = arith.extf %v : f16 to f32
        %n = math.fma %uu, %vv, %s : f32
        linalg.yield %n : f32
      } -> tensor<1x64x56x56xf32>
      %t = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel", "parallel", "parallel", "parallel"]}
          ins(%r : tensor<1x64x56x56xf32>) outs(%o : tensor<1x64x56x56xf16>) {
      ^bb1(%u: f32, %q: f16):
        %n = arith.truncf %u : f32 to f16
        linalg.yield %n : f16
      } -> tensor<1x64x56x56xf16>
      kernel.yield %t : tensor<1x64x56x56xf16>
    } -> tensor<1x64x56x56xf16>
    %1 = kernel.dispatch ins(%0, %w : tensor<1x64x56x56xf16>, tensor<64x64x3x3xf16>) outs(%e : tensor<1x64x56x56xf16>) {
    ^bb0(%a: tensor<1x64x56x56xf16>, %b: tensor<64x64x3x3xf16>, %o: tensor<1x64x56x56xf16>):
      %c = arith.constant 0.0 : f16
      %z = arith.constant 0.0 : f32
      %p = tensor.pad %a low[0, 0, 1, 1] high[0, 0, 1, 1] {
      ^bb1(%j: index, %k: index, %l: index, %m: index):
        tensor.yield %c : f16
      } : tensor<1x64x56x56xf16> to tensor<1x64x58x58xf16>
      %i = tensor.empty() : tensor<1x64x56x56xf32>
      %f = linalg.fill ins(%z : f32) outs(%i : tensor<1x64x56x56xf32>) -> tensor<1x64x56x56xf32>
      %r = linalg.generic {indexing_maps = [#in, #w, #out], iterator_types = ["parallel", "parallel", "parallel", "parallel", "reduction", "reduction", "reduction"]}
          ins(%p, %b : tensor<1x64x58x58xf16>, tensor<64x64x3x3xf16>) outs(%f : tensor<1x64x56x56xf32>) {
      ^bb1(%u: f16, %v: f16, %s: f32):
        %uu = arith.extf %u : f16 to f32
        %vv = arith.extf %v : f16 to f32
        %n = math.fma %uu, %vv, %s : f32
        linalg.yield %n : f32
      } -> tensor<1x64x56x56xf32>
      %t = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel", "parallel", "parallel", "parallel"]}
          ins(%r : tensor<1x64x56x56xf32>) outs(%o : tensor<1x64x56x56xf16>) {
      ^bb1(%u: f32, %q: f16):
        %n = arith.truncf %u : f32 to f16
        linalg.yield %n : f16
      } -> tensor<1x64x56x56xf16>
      kernel.yield %t : tensor<1x64x56x56xf16>
    } -> tensor<1x64x56x56xf16>
    return %1 : tensor<1x64x56x56xf16>
  }
}

// -----

// One element of what is stored channels last, as a single value, which has no dimensions to store.
// LAST: #[[IN:.*]] = affine_map<(d0, d1, d2, d3) -> (d0, d3, d1, d2)>
// LAST-LABEL: rt.variant @single_value
// LAST: kernel.dispatch ins(%{{.*}} : tensor<1x4x3x2xf32>) outs(%{{.*}} : tensor<1x3x2x4xf32>)
// LAST: tensor.extract_slice %{{.*}}[0, 1, 1, 2] [1, 1, 1, 1] [1, 1, 1, 1] : tensor<1x3x2x4xf32> to tensor<1x1x1x1xf32>
// LAST: tensor.collapse_shape %{{.*}} [] : tensor<1x1x1x1xf32> into tensor<f32>
#id = affine_map<(a, b, c, d) -> (a, b, c, d)>
#one = affine_map<() -> ()>
rt.variant @single_value target "sm_80" {
  func.func @main(%x: tensor<1x4x3x2xf32>) -> tensor<f32> {
    %e = tensor.empty() : tensor<1x4x3x2xf32>
    %0 = kernel.dispatch ins(%x : tensor<1x4x3x2xf32>) outs(%e : tensor<1x4x3x2xf32>) {
    ^bb0(%a: tensor<1x4x3x2xf32>, %o: tensor<1x4x3x2xf32>):
      %r = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel", "parallel", "parallel", "parallel"]}
          ins(%a : tensor<1x4x3x2xf32>) outs(%o : tensor<1x4x3x2xf32>) {
      ^bb1(%u: f32, %q: f32):
        %n = arith.negf %u : f32
        linalg.yield %n : f32
      } -> tensor<1x4x3x2xf32>
      kernel.yield %r : tensor<1x4x3x2xf32>
    } -> tensor<1x4x3x2xf32>
    %s = tensor.empty() : tensor<f32>
    %1 = kernel.dispatch ins(%0 : tensor<1x4x3x2xf32>) outs(%s : tensor<f32>) {
    ^bb0(%a: tensor<1x4x3x2xf32>, %o: tensor<f32>):
      %p = tensor.extract_slice %a[0, 2, 1, 1] [1, 1, 1, 1] [1, 1, 1, 1] : tensor<1x4x3x2xf32> to tensor<1x1x1x1xf32>
      %c = tensor.collapse_shape %p [] : tensor<1x1x1x1xf32> into tensor<f32>
      %r = linalg.generic {indexing_maps = [#one, #one], iterator_types = []}
          ins(%c : tensor<f32>) outs(%o : tensor<f32>) {
      ^bb1(%u: f32, %q: f32):
        %n = math.exp %u : f32
        linalg.yield %n : f32
      } -> tensor<f32>
      kernel.yield %r : tensor<f32>
    } -> tensor<f32>
    return %1 : tensor<f32>
  }
}
