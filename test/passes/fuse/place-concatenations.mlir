// RUN: %cameo-opt --split-input-file --cameo-place-concatenations %s | FileCheck %s
// Once is enough.
// RUN: %cameo-opt --split-input-file --cameo-place-concatenations %s -o %t.1
// RUN: %cameo-opt --split-input-file --cameo-place-concatenations %t.1 | diff %t.1 -

#id = affine_map<(d0, d1) -> (d0, d1)>

// CHECK-LABEL: func.func @Parts
// CHECK: %[[S:.*]] = rt.storage : tensor<2x8xf32>
// CHECK: %[[V:.*]] = rt.view %[[S]][0, 0] : tensor<2x8xf32> -> tensor<2x3xf32>
// CHECK: %[[W:.*]] = rt.view %[[S]][0, 3] : tensor<2x8xf32> -> tensor<2x5xf32>
// CHECK: %[[A:.*]] = kernel.dispatch {{.*}} outs(%[[V]] : tensor<2x3xf32>)
// The input is copied.
// CHECK: %[[B:.*]] = kernel.dispatch ins(%{{.*}} : tensor<2x5xf32>) outs(%[[W]] : tensor<2x5xf32>)
// CHECK: linalg.yield %in
// CHECK: %[[Y:.*]] = rt.assemble %[[S]] dim 1 of %[[A]], %[[B]]
// CHECK: return %[[Y]]
func.func @Parts(%x: tensor<2x3xf32>, %y: tensor<2x5xf32>) -> tensor<2x8xf32> {
  %e = tensor.empty() : tensor<2x3xf32>
  %a = kernel.dispatch ins(%x : tensor<2x3xf32>) outs(%e : tensor<2x3xf32>) {
  ^bb0(%i: tensor<2x3xf32>, %o: tensor<2x3xf32>):
    %r = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel", "parallel"]}
        ins(%i : tensor<2x3xf32>) outs(%o : tensor<2x3xf32>) {
    ^bb0(%in: f32, %out: f32):
      %n = arith.negf %in : f32
      linalg.yield %n : f32
    } -> tensor<2x3xf32>
    kernel.yield %r : tensor<2x3xf32>
  } -> tensor<2x3xf32>
  %z = rt.concat %a, %y dim 1 : tensor<2x3xf32>, tensor<2x5xf32> -> tensor<2x8xf32>
  return %z : tensor<2x8xf32>
}

// -----

#id = affine_map<(d0, d1) -> (d0, d1)>

// Nothing has a place: one copy. A constant start and one that is known only at run time.
// CHECK-LABEL: func.func @Inputs
// CHECK: %[[N:.*]] = tensor.dim %{{.*}}, %c1
// CHECK-NOT: rt.storage
// CHECK: kernel.dispatch ins(%arg0, %arg1 : tensor<2x?xf32>, tensor<2x5xf32>) scalars({{.*}} : index, index) outs(
// CHECK: scf.if
// CHECK: tensor.extract
// CHECK: else
// CHECK: tensor.extract
func.func @Inputs(%x: tensor<2x?xf32>, %y: tensor<2x5xf32>) -> tensor<2x?xf32> {
  %c1 = arith.constant 1 : index
  %c5 = arith.constant 5 : index
  %n = tensor.dim %x, %c1 : tensor<2x?xf32>
  %m = arith.addi %n, %c5 : index
  %all = arith.addi %m, %n : index
  %z = rt.concat %x, %y, %x dim 1 sizes(%all) : tensor<2x?xf32>, tensor<2x5xf32>, tensor<2x?xf32> -> tensor<2x?xf32>
  return %z : tensor<2x?xf32>
}

// -----

#id = affine_map<(d0, d1) -> (d0, d1)>

// One in another: the inner storage is a view of the outer one. What is a part twice, and what is an
// output, is copied.
// CHECK-LABEL: func.func @Nested
// CHECK: %[[S:.*]] = rt.storage : tensor<2x12xf32>
// CHECK: %[[I:.*]] = rt.view %[[S]][0, 0] : tensor<2x12xf32> -> tensor<2x6xf32>
// CHECK: %[[R:.*]] = rt.view %[[S]][0, 6]
// CHECK: %[[V:.*]] = rt.view %[[I]][0, 0]
// CHECK: %[[W:.*]] = rt.view %[[I]][0, 3]
// CHECK: %[[A:.*]] = kernel.dispatch {{.*}} outs(%[[V]]
// CHECK: %[[B:.*]] = kernel.dispatch {{.*}} outs(%[[W]]
// CHECK: %[[C:.*]] = rt.assemble %[[I]] dim 1 of %[[A]], %[[B]]
// CHECK: %[[O:.*]] = kernel.dispatch {{.*}} outs(%{{.*}} : tensor<2x3xf32>)
// CHECK: %[[D:.*]] = kernel.dispatch ins(%[[A]], %[[O]] : {{.*}} outs(%[[R]]
// CHECK: %[[Y:.*]] = rt.assemble %[[S]] dim 1 of %[[C]], %[[D]]
// CHECK: return %[[Y]], %[[O]]
func.func @Nested(%x: tensor<2x3xf32>) -> (tensor<2x12xf32>, tensor<2x3xf32>) {
  %e = tensor.empty() : tensor<2x3xf32>
  %a = kernel.dispatch ins(%x : tensor<2x3xf32>) outs(%e : tensor<2x3xf32>) {
  ^bb0(%i: tensor<2x3xf32>, %o: tensor<2x3xf32>):
    kernel.yield %i : tensor<2x3xf32>
  } -> tensor<2x3xf32>
  %b = kernel.dispatch ins(%a : tensor<2x3xf32>) outs(%e : tensor<2x3xf32>) {
  ^bb0(%i: tensor<2x3xf32>, %o: tensor<2x3xf32>):
    kernel.yield %i : tensor<2x3xf32>
  } -> tensor<2x3xf32>
  %c = rt.concat %a, %b dim 1 : tensor<2x3xf32>, tensor<2x3xf32> -> tensor<2x6xf32>
  %d = kernel.dispatch ins(%b : tensor<2x3xf32>) outs(%e : tensor<2x3xf32>) {
  ^bb0(%i: tensor<2x3xf32>, %o: tensor<2x3xf32>):
    kernel.yield %i : tensor<2x3xf32>
  } -> tensor<2x3xf32>
  %y = rt.concat %c, %a, %d dim 1 : tensor<2x6xf32>, tensor<2x3xf32>, tensor<2x3xf32> -> tensor<2x12xf32>
  return %y, %d : tensor<2x12xf32>, tensor<2x3xf32>
}

// -----

// What two concatenations begin with is one, and a view of the longer one.
// CHECK-LABEL: func.func @Prefix
// CHECK: %[[S:.*]] = rt.storage : tensor<2x9xf32>
// CHECK: %[[I:.*]] = rt.view %[[S]][0, 0] : tensor<2x9xf32> -> tensor<2x6xf32>
// CHECK: %[[C:.*]] = rt.assemble %[[I]] dim 1
// CHECK: rt.assemble %[[S]] dim 1 of %[[C]], %{{.*}} : tensor<2x9xf32>
// CHECK-NOT: rt.assemble
func.func @Prefix(%x: tensor<2x3xf32>) -> tensor<2x9xf32> {
  %e = tensor.empty() : tensor<2x3xf32>
  %a = kernel.dispatch ins(%x : tensor<2x3xf32>) outs(%e : tensor<2x3xf32>) {
  ^bb0(%i: tensor<2x3xf32>, %o: tensor<2x3xf32>):
    kernel.yield %i : tensor<2x3xf32>
  } -> tensor<2x3xf32>
  %b = kernel.dispatch ins(%a : tensor<2x3xf32>) outs(%e : tensor<2x3xf32>) {
  ^bb0(%i: tensor<2x3xf32>, %o: tensor<2x3xf32>):
    kernel.yield %i : tensor<2x3xf32>
  } -> tensor<2x3xf32>
  %c = rt.concat %a, %b dim 1 : tensor<2x3xf32>, tensor<2x3xf32> -> tensor<2x6xf32>
  %d = kernel.dispatch ins(%c : tensor<2x6xf32>) outs(%e : tensor<2x3xf32>) {
  ^bb0(%i: tensor<2x6xf32>, %o: tensor<2x3xf32>):
    kernel.yield %o : tensor<2x3xf32>
  } -> tensor<2x3xf32>
  %y = rt.concat %a, %b, %d dim 1 : tensor<2x3xf32>, tensor<2x3xf32>, tensor<2x3xf32> -> tensor<2x9xf32>
  return %y : tensor<2x9xf32>
}

// -----

// A reshape between a part and what computes it is one of the view. One that strides cannot say
// stands in the way, unless the part is one piece.
// CHECK-LABEL: func.func @Reshaped
// CHECK: %[[S:.*]] = rt.storage : tensor<2x4x3xf32>
// CHECK: %[[V:.*]] = rt.view %[[S]][0, 0, 0] : tensor<2x4x3xf32> -> tensor<2x2x3xf32>
// CHECK: %[[F:.*]] = rt.reshape %[[V]] : tensor<2x2x3xf32> -> tensor<2x6xf32>
// CHECK: kernel.dispatch {{.*}} outs(%[[F]] : tensor<2x6xf32>)
// CHECK: %[[B:.*]] = kernel.dispatch {{.*}} outs(%{{.*}} : tensor<2x2x3xf32>)
// CHECK: rt.reshape %[[B]] : tensor<2x2x3xf32> -> tensor<12xf32>
// CHECK: kernel.dispatch ins(%[[B]] : tensor<2x2x3xf32>) outs(
func.func @Reshaped(%x: tensor<2x6xf32>) -> (tensor<2x4x3xf32>, tensor<12xf32>) {
  %e = tensor.empty() : tensor<2x6xf32>
  %a = kernel.dispatch ins(%x : tensor<2x6xf32>) outs(%e : tensor<2x6xf32>) {
  ^bb0(%i: tensor<2x6xf32>, %o: tensor<2x6xf32>):
    kernel.yield %i : tensor<2x6xf32>
  } -> tensor<2x6xf32>
  %p = rt.reshape %a : tensor<2x6xf32> -> tensor<2x2x3xf32>
  %f = tensor.empty() : tensor<2x2x3xf32>
  %b = kernel.dispatch ins(%p : tensor<2x2x3xf32>) outs(%f : tensor<2x2x3xf32>) {
  ^bb0(%i: tensor<2x2x3xf32>, %o: tensor<2x2x3xf32>):
    kernel.yield %i : tensor<2x2x3xf32>
  } -> tensor<2x2x3xf32>
  %flat = rt.reshape %b : tensor<2x2x3xf32> -> tensor<12xf32>
  %g = tensor.empty() : tensor<12xf32>
  %q = kernel.dispatch ins(%flat : tensor<12xf32>) outs(%g : tensor<12xf32>) {
  ^bb0(%i: tensor<12xf32>, %o: tensor<12xf32>):
    kernel.yield %i : tensor<12xf32>
  } -> tensor<12xf32>
  %y = rt.concat %p, %b dim 1 : tensor<2x2x3xf32>, tensor<2x2x3xf32> -> tensor<2x4x3xf32>
  return %y, %q : tensor<2x4x3xf32>, tensor<12xf32>
}

// -----

// Sizes known only at run time move in front of what needs them; what can fail does not.
// CHECK-LABEL: func.func @Sizes
// CHECK: %[[ALL:.*]] = arith.addi
// CHECK: %[[S:.*]] = rt.storage sizes(%[[ALL]]) : tensor<?xf32>
// CHECK: rt.view %[[S]][0] sizes(
// CHECK: kernel.dispatch
func.func @Sizes(%x: tensor<?xf32>) -> tensor<?xf32> {
  %c0 = arith.constant 0 : index
  %n = tensor.dim %x, %c0 : tensor<?xf32>
  %e = tensor.empty(%n) : tensor<?xf32>
  %a = kernel.dispatch ins(%x : tensor<?xf32>) outs(%e : tensor<?xf32>) {
  ^bb0(%i: tensor<?xf32>, %o: tensor<?xf32>):
    kernel.yield %i : tensor<?xf32>
  } -> tensor<?xf32>
  %all = arith.addi %n, %n : index
  %y = rt.concat %a, %x dim 0 sizes(%all) : tensor<?xf32>, tensor<?xf32> -> tensor<?xf32>
  return %y : tensor<?xf32>
}

// CHECK-LABEL: func.func @Division
// CHECK-NOT: rt.storage
func.func @Division(%x: tensor<?xf32>, %z: tensor<?xf32>, %all: tensor<?xf32>) -> tensor<?xf32> {
  %c0 = arith.constant 0 : index
  %n = tensor.dim %x, %c0 : tensor<?xf32>
  %m = tensor.dim %z, %c0 : tensor<?xf32>
  %e = tensor.empty(%n) : tensor<?xf32>
  %a = kernel.dispatch ins(%x : tensor<?xf32>) outs(%e : tensor<?xf32>) {
  ^bb0(%i: tensor<?xf32>, %o: tensor<?xf32>):
    kernel.yield %i : tensor<?xf32>
  } -> tensor<?xf32>
  %q = arith.divui %n, %m : index
  %y = rt.concat %a, %x dim 0 sizes(%q) : tensor<?xf32>, tensor<?xf32> -> tensor<?xf32>
  return %y : tensor<?xf32>
}

// -----

// Equal elements are a number, beside what is copied and alone.
// CHECK-LABEL: func @equal
// CHECK: kernel.dispatch ins(%arg0 : tensor<1x4xf32>)
// CHECK: linalg.generic
// CHECK: scf.if
// CHECK: tensor.extract
// CHECK: arith.constant 5.0{{.*}} : f32
// CHECK: %[[VIEW:.*]] = rt.view %{{.*}}[1, 0]
// CHECK: kernel.dispatch outs(%[[VIEW]]
// CHECK: linalg.generic {indexing_maps = [#{{[a-z0-9]*}}], {{.*}} outs
// CHECK: %[[FIVE:.*]] = arith.constant 5.0{{.*}} : f32
// CHECK: linalg.yield %[[FIVE]]
// CHECK-NOT: tensor.extract
#id = affine_map<(d0, d1) -> (d0, d1)>
rt.constant @w = dense<5.0> : tensor<64x4xf32>
rt.constant @v = dense<[[1.0, 2.0, 3.0, 4.0]]> : tensor<1x4xf32>
func.func @equal(%x: tensor<1x4xf32>) -> (tensor<65x4xf32>, tensor<65x4xf32>) {
  %w = rt.get_constant @w : tensor<64x4xf32>
  %y = rt.concat %x, %w dim 0 : tensor<1x4xf32>, tensor<64x4xf32> -> tensor<65x4xf32>
  %e = tensor.empty() : tensor<1x4xf32>
  %a = kernel.dispatch ins(%x : tensor<1x4xf32>) outs(%e : tensor<1x4xf32>) {
  ^bb0(%i: tensor<1x4xf32>, %o: tensor<1x4xf32>):
    %g = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel", "parallel"]}
        ins(%i : tensor<1x4xf32>) outs(%o : tensor<1x4xf32>) {
    ^bb1(%u: f32, %s: f32):
      %q = math.exp %u : f32
      linalg.yield %q : f32
    } -> tensor<1x4xf32>
    kernel.yield %g : tensor<1x4xf32>
  } -> tensor<1x4xf32>
  %z = rt.concat %a, %w dim 0 : tensor<1x4xf32>, tensor<64x4xf32> -> tensor<65x4xf32>
  return %y, %z : tensor<65x4xf32>, tensor<65x4xf32>
}
