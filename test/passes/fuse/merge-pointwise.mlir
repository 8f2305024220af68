// RUN: cameo-opt %s --split-input-file --cameo-merge-pointwise | FileCheck %s
// RUN: cameo-opt %s --split-input-file --cameo-merge-pointwise=max-results=1 | FileCheck %s --check-prefix=APART
// RUN: cameo-opt %s --split-input-file --cameo-merge-pointwise=max-tensors=3 | FileCheck %s --check-prefix=APART
// RUN: cameo-opt %s --split-input-file --cameo-merge-pointwise=max-operations=1 | FileCheck %s --check-prefix=APART
// RUN: cameo-opt %s --split-input-file --cameo-merge-pointwise=launch-bytes=64 | FileCheck %s --check-prefix=APART
// Once is enough.
// RUN: cameo-opt %s --split-input-file --pass-pipeline='builtin.module(func.func(cameo-merge-pointwise,cameo-merge-pointwise))' | FileCheck %s

#id = affine_map<(d0, d1) -> (d0, d1)>

// Work of two shapes, on parts of one concatenation: the second place has both.
// CHECK-LABEL: func.func @parts(
// CHECK-SAME: kind = "applied", text = "merged with 'a', elementwise work beside it", what = "merge"
// CHECK: %[[S:.*]] = rt.storage
// CHECK: %[[V:.*]] = rt.view %[[S]][0, 0]
// CHECK: %[[W:.*]] = rt.view %[[S]][0, 8]
// CHECK: %[[AB:.*]]:2 = kernel.dispatch ins(%arg0, %arg1 : tensor<4x8xf32>, tensor<4x5xf32>) outs(%[[V]], %[[W]] : tensor<4x8xf32>, tensor<4x5xf32>)
// CHECK: math.absf
// CHECK: math.sqrt
// CHECK: rt.assemble %[[S]] dim 1 of %[[AB]]#0, %[[AB]]#1
// APART-LABEL: func @parts
// APART-COUNT-2: kernel.dispatch
func.func @parts(%x: tensor<4x8xf32>, %y: tensor<4x5xf32>) -> tensor<4x13xf32> {
  %s = rt.storage : tensor<4x13xf32>
  %v = rt.view %s[0, 0] : tensor<4x13xf32> -> tensor<4x8xf32>
  %a = kernel.dispatch ins(%x : tensor<4x8xf32>) outs(%v : tensor<4x8xf32>) {
  ^bb0(%i: tensor<4x8xf32>, %o: tensor<4x8xf32>):
    %r = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel", "parallel"]}
        ins(%i : tensor<4x8xf32>) outs(%o : tensor<4x8xf32>) {
    ^bb0(%in: f32, %out: f32):
      %t = math.absf %in : f32
      linalg.yield %t : f32
    } -> tensor<4x8xf32>
    kernel.yield %r : tensor<4x8xf32>
  } -> tensor<4x8xf32> loc("a")
  %w = rt.view %s[0, 8] : tensor<4x13xf32> -> tensor<4x5xf32>
  %b = kernel.dispatch ins(%y : tensor<4x5xf32>) outs(%w : tensor<4x5xf32>) {
  ^bb0(%i: tensor<4x5xf32>, %o: tensor<4x5xf32>):
    %r = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel", "parallel"]}
        ins(%i : tensor<4x5xf32>) outs(%o : tensor<4x5xf32>) {
    ^bb0(%in: f32, %out: f32):
      %t = math.sqrt %in : f32
      linalg.yield %t : f32
    } -> tensor<4x5xf32>
    kernel.yield %r : tensor<4x5xf32>
  } -> tensor<4x5xf32> loc("b")
  %c = rt.assemble %s dim 1 of %a, %b : tensor<4x13xf32> of tensor<4x8xf32>, tensor<4x5xf32>
  return %c : tensor<4x13xf32>
}

// -----

#id = affine_map<(d0, d1) -> (d0, d1)>
#sum = affine_map<(d0, d1) -> (d0)>

// What reads the first one stands in front of the second: both are done where the first one is, and
// what names the second one's memory goes along.
// CHECK-LABEL: func @early
// CHECK: %[[F:.*]] = tensor.empty() : tensor<4x5xf32>
// CHECK: %[[AB:.*]]:2 = kernel.dispatch ins(%arg0, %arg1 : {{.*}} outs(%{{.*}}, %[[F]] :
// CHECK: kernel.dispatch ins(%[[AB]]#0
// CHECK: arith.addf
// CHECK: return %{{.*}}, %[[AB]]#1
func.func @early(%x: tensor<4x8xf32>, %y: tensor<4x5xf32>) -> (tensor<4xf32>, tensor<4x5xf32>) {
  %e = tensor.empty() : tensor<4x8xf32>
  %a = kernel.dispatch ins(%x : tensor<4x8xf32>) outs(%e : tensor<4x8xf32>) {
  ^bb0(%i: tensor<4x8xf32>, %o: tensor<4x8xf32>):
    %r = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel", "parallel"]}
        ins(%i : tensor<4x8xf32>) outs(%o : tensor<4x8xf32>) {
    ^bb0(%in: f32, %out: f32):
      %t = math.absf %in : f32
      linalg.yield %t : f32
    } -> tensor<4x8xf32>
    kernel.yield %r : tensor<4x8xf32>
  } -> tensor<4x8xf32>
  %g = tensor.empty() : tensor<4xf32>
  %p = kernel.dispatch ins(%a : tensor<4x8xf32>) outs(%g : tensor<4xf32>) {
  ^bb0(%i: tensor<4x8xf32>, %o: tensor<4xf32>):
    %zero = arith.constant 0.0 : f32
    %start = linalg.fill ins(%zero : f32) outs(%o : tensor<4xf32>) -> tensor<4xf32>
    %r = linalg.generic {indexing_maps = [#id, #sum], iterator_types = ["parallel", "reduction"]}
        ins(%i : tensor<4x8xf32>) outs(%start : tensor<4xf32>) {
    ^bb0(%in: f32, %out: f32):
      %t = arith.addf %in, %out : f32
      linalg.yield %t : f32
    } -> tensor<4xf32>
    kernel.yield %r : tensor<4xf32>
  } -> tensor<4xf32>
  %f = tensor.empty() : tensor<4x5xf32>
  %b = kernel.dispatch ins(%y : tensor<4x5xf32>) outs(%f : tensor<4x5xf32>) {
  ^bb0(%i: tensor<4x5xf32>, %o: tensor<4x5xf32>):
    %r = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel", "parallel"]}
        ins(%i : tensor<4x5xf32>) outs(%o : tensor<4x5xf32>) {
    ^bb0(%in: f32, %out: f32):
      %t = math.absf %in : f32
      linalg.yield %t : f32
    } -> tensor<4x5xf32>
    kernel.yield %r : tensor<4x5xf32>
  } -> tensor<4x5xf32>
  return %p, %b : tensor<4xf32>, tensor<4x5xf32>
}

// -----

#id = affine_map<(d0, d1) -> (d0, d1)>

// One reads the other, through a view too.
// CHECK-LABEL: func @dependent
// CHECK: kernel.dispatch ins(%arg0 : tensor<4x8xf32>)
// CHECK: kernel.dispatch
func.func @dependent(%x: tensor<4x8xf32>) -> tensor<4x4xf32> {
  %e = tensor.empty() : tensor<4x8xf32>
  %a = kernel.dispatch ins(%x : tensor<4x8xf32>) outs(%e : tensor<4x8xf32>) {
  ^bb0(%i: tensor<4x8xf32>, %o: tensor<4x8xf32>):
    %r = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel", "parallel"]}
        ins(%i : tensor<4x8xf32>) outs(%o : tensor<4x8xf32>) {
    ^bb0(%in: f32, %out: f32):
      %t = math.absf %in : f32
      linalg.yield %t : f32
    } -> tensor<4x8xf32>
    kernel.yield %r : tensor<4x8xf32>
  } -> tensor<4x8xf32>
  %v = rt.view %a[0, 4] : tensor<4x8xf32> -> tensor<4x4xf32>
  %f = tensor.empty() : tensor<4x4xf32>
  %b = kernel.dispatch ins(%v : tensor<4x4xf32>) outs(%f : tensor<4x4xf32>) {
  ^bb0(%i: tensor<4x4xf32>, %o: tensor<4x4xf32>):
    %r = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel", "parallel"]}
        ins(%i : tensor<4x4xf32>) outs(%o : tensor<4x4xf32>) {
    ^bb0(%in: f32, %out: f32):
      %t = math.sqrt %in : f32
      linalg.yield %t : f32
    } -> tensor<4x4xf32>
    kernel.yield %r : tensor<4x4xf32>
  } -> tensor<4x4xf32>
  return %b : tensor<4x4xf32>
}

// -----

#id = affine_map<(d0, d1) -> (d0, d1)>
#sum = affine_map<(d0, d1) -> (d0)>

// A reduction is not elementwise, and what is written over an argument stays where it is.
// CHECK-LABEL: func @others
// CHECK-COUNT-3: kernel.dispatch
func.func @others(%x: tensor<4x8xf32>, %y: tensor<4x8xf32>)
    -> (tensor<4xf32>, tensor<4x8xf32>, tensor<4x8xf32>) {
  %e = tensor.empty() : tensor<4xf32>
  %a = kernel.dispatch ins(%x : tensor<4x8xf32>) outs(%e : tensor<4xf32>) {
  ^bb0(%i: tensor<4x8xf32>, %o: tensor<4xf32>):
    %zero = arith.constant 0.0 : f32
    %start = linalg.fill ins(%zero : f32) outs(%o : tensor<4xf32>) -> tensor<4xf32>
    %r = linalg.generic {indexing_maps = [#id, #sum], iterator_types = ["parallel", "reduction"]}
        ins(%i : tensor<4x8xf32>) outs(%start : tensor<4xf32>) {
    ^bb0(%in: f32, %out: f32):
      %t = arith.addf %in, %out : f32
      linalg.yield %t : f32
    } -> tensor<4xf32>
    kernel.yield %r : tensor<4xf32>
  } -> tensor<4xf32>
  %f = tensor.empty() : tensor<4x8xf32>
  %b = kernel.dispatch ins(%x : tensor<4x8xf32>) outs(%f : tensor<4x8xf32>) {
  ^bb0(%i: tensor<4x8xf32>, %o: tensor<4x8xf32>):
    %r = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel", "parallel"]}
        ins(%i : tensor<4x8xf32>) outs(%o : tensor<4x8xf32>) {
    ^bb0(%in: f32, %out: f32):
      %t = math.absf %in : f32
      linalg.yield %t : f32
    } -> tensor<4x8xf32>
    kernel.yield %r : tensor<4x8xf32>
  } -> tensor<4x8xf32>
  %c = kernel.dispatch ins(%x : tensor<4x8xf32>) outs(%y : tensor<4x8xf32>) {
  ^bb0(%i: tensor<4x8xf32>, %o: tensor<4x8xf32>):
    %r = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel", "parallel"]}
        ins(%i : tensor<4x8xf32>) outs(%o : tensor<4x8xf32>) {
    ^bb0(%in: f32, %out: f32):
      %t = math.sqrt %in : f32
      linalg.yield %t : f32
    } -> tensor<4x8xf32>
    kernel.yield %r : tensor<4x8xf32>
  } -> tensor<4x8xf32>
  return %a, %b, %c : tensor<4xf32>, tensor<4x8xf32>, tensor<4x8xf32>
}

// -----

#id = affine_map<(d0, d1) -> (d0, d1)>
#sum = affine_map<(d0, d1) -> (d0)>

// Both at one place, both large values would be needed at a time.
// CHECK-LABEL: func.func @memory(
// CHECK-SAME: kind = "missed", text = "not merged with elementwise work beside it", what = "merge", why = "more memory would be in use at a time than anywhere else"
// CHECK-COUNT-4: kernel.dispatch
func.func @memory(%x: tensor<16x16xf32>) -> (tensor<16xf32>, tensor<16xf32>) {
  %e = tensor.empty() : tensor<16x16xf32>
  %f = tensor.empty() : tensor<16xf32>
  %a = kernel.dispatch ins(%x : tensor<16x16xf32>) outs(%e : tensor<16x16xf32>) {
  ^bb0(%i: tensor<16x16xf32>, %o: tensor<16x16xf32>):
    %r = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel", "parallel"]}
        ins(%i : tensor<16x16xf32>) outs(%o : tensor<16x16xf32>) {
    ^bb0(%in: f32, %out: f32):
      %t = math.absf %in : f32
      linalg.yield %t : f32
    } -> tensor<16x16xf32>
    kernel.yield %r : tensor<16x16xf32>
  } -> tensor<16x16xf32>
  %p = kernel.dispatch ins(%a : tensor<16x16xf32>) outs(%f : tensor<16xf32>) {
  ^bb0(%i: tensor<16x16xf32>, %o: tensor<16xf32>):
    %zero = arith.constant 0.0 : f32
    %start = linalg.fill ins(%zero : f32) outs(%o : tensor<16xf32>) -> tensor<16xf32>
    %r = linalg.generic {indexing_maps = [#id, #sum], iterator_types = ["parallel", "reduction"]}
        ins(%i : tensor<16x16xf32>) outs(%start : tensor<16xf32>) {
    ^bb0(%in: f32, %out: f32):
      %t = arith.addf %in, %out : f32
      linalg.yield %t : f32
    } -> tensor<16xf32>
    kernel.yield %r : tensor<16xf32>
  } -> tensor<16xf32>
  %b = kernel.dispatch ins(%x : tensor<16x16xf32>) outs(%e : tensor<16x16xf32>) {
  ^bb0(%i: tensor<16x16xf32>, %o: tensor<16x16xf32>):
    %r = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel", "parallel"]}
        ins(%i : tensor<16x16xf32>) outs(%o : tensor<16x16xf32>) {
    ^bb0(%in: f32, %out: f32):
      %t = math.sqrt %in : f32
      linalg.yield %t : f32
    } -> tensor<16x16xf32>
    kernel.yield %r : tensor<16x16xf32>
  } -> tensor<16x16xf32>
  %q = kernel.dispatch ins(%b : tensor<16x16xf32>) outs(%f : tensor<16xf32>) {
  ^bb0(%i: tensor<16x16xf32>, %o: tensor<16xf32>):
    %zero = arith.constant 0.0 : f32
    %start = linalg.fill ins(%zero : f32) outs(%o : tensor<16xf32>) -> tensor<16xf32>
    %r = linalg.generic {indexing_maps = [#id, #sum], iterator_types = ["parallel", "reduction"]}
        ins(%i : tensor<16x16xf32>) outs(%start : tensor<16xf32>) {
    ^bb0(%in: f32, %out: f32):
      %t = arith.addf %in, %out : f32
      linalg.yield %t : f32
    } -> tensor<16xf32>
    kernel.yield %r : tensor<16xf32>
  } -> tensor<16xf32>
  return %p, %q : tensor<16xf32>, tensor<16xf32>
}

// -----

#id = affine_map<(d0, d1) -> (d0, d1)>

// Sizes known only at run time are passed to the one kernel.
// CHECK-LABEL: func @open
// CHECK: kernel.dispatch ins(%arg0, %arg1 : tensor<?x8xf32>, tensor<?x5xf32>) scalars(%{{.*}}, %{{.*}} : index, index) outs(
// CHECK-NOT: kernel.dispatch
func.func @open(%x: tensor<?x8xf32>, %y: tensor<?x5xf32>) -> (tensor<?x8xf32>, tensor<?x5xf32>) {
  %c0 = arith.constant 0 : index
  %n = tensor.dim %x, %c0 : tensor<?x8xf32>
  %e = tensor.empty(%n) : tensor<?x8xf32>
  %a = kernel.dispatch ins(%x : tensor<?x8xf32>) scalars(%n : index) outs(%e : tensor<?x8xf32>) {
  ^bb0(%i: tensor<?x8xf32>, %k: index, %o: tensor<?x8xf32>):
    %r = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel", "parallel"]}
        ins(%i : tensor<?x8xf32>) outs(%o : tensor<?x8xf32>) {
    ^bb0(%in: f32, %out: f32):
      %t = math.absf %in : f32
      linalg.yield %t : f32
    } -> tensor<?x8xf32>
    kernel.yield %r : tensor<?x8xf32>
  } -> tensor<?x8xf32>
  %m = tensor.dim %y, %c0 : tensor<?x5xf32>
  %f = tensor.empty(%m) : tensor<?x5xf32>
  %b = kernel.dispatch ins(%y : tensor<?x5xf32>) scalars(%m : index) outs(%f : tensor<?x5xf32>) {
  ^bb0(%i: tensor<?x5xf32>, %k: index, %o: tensor<?x5xf32>):
    %r = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel", "parallel"]}
        ins(%i : tensor<?x5xf32>) outs(%o : tensor<?x5xf32>) {
    ^bb0(%in: f32, %out: f32):
      %t = math.sqrt %in : f32
      linalg.yield %t : f32
    } -> tensor<?x5xf32>
    kernel.yield %r : tensor<?x5xf32>
  } -> tensor<?x5xf32>
  return %a, %b : tensor<?x8xf32>, tensor<?x5xf32>
}
