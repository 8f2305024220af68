// RUN: cameo-opt %s --split-input-file --pass-pipeline='builtin.module(func.func(cameo-merge-dispatches))' | FileCheck %s
// RUN: cameo-opt %s --split-input-file --pass-pipeline='builtin.module(func.func(cameo-merge-dispatches,cameo-merge-dispatches))' | FileCheck %s

// Equal dispatches become one, with what they are made from.
// CHECK-LABEL: func @equal
// CHECK: %[[E:.*]] = tensor.empty
// CHECK-NOT: tensor.empty
// CHECK: %[[R:.*]] = kernel.dispatch
// CHECK-NOT: kernel.dispatch
// CHECK: return %[[R]], %[[R]]
#id = affine_map<(i) -> (i)>
func.func @equal(%x: tensor<4xf32>) -> (tensor<4xf32>, tensor<4xf32>) {
  %e = tensor.empty() : tensor<4xf32>
  %0 = kernel.dispatch ins(%x : tensor<4xf32>) outs(%e : tensor<4xf32>) {
  ^bb0(%a: tensor<4xf32>, %o: tensor<4xf32>):
    %g = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel"]}
        ins(%a : tensor<4xf32>) outs(%o : tensor<4xf32>) {
    ^bb1(%u: f32, %v: f32):
      %c = arith.constant 2.0 : f32
      %p = arith.mulf %u, %c : f32
      linalg.yield %p : f32
    } -> tensor<4xf32>
    kernel.yield %g : tensor<4xf32>
  } -> tensor<4xf32>
  %f = tensor.empty() : tensor<4xf32>
  %1 = kernel.dispatch ins(%x : tensor<4xf32>) outs(%f : tensor<4xf32>) {
  ^bb0(%a: tensor<4xf32>, %o: tensor<4xf32>):
    %g = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel"]}
        ins(%a : tensor<4xf32>) outs(%o : tensor<4xf32>) {
    ^bb1(%u: f32, %v: f32):
      %c = arith.constant 2.0 : f32
      %p = arith.mulf %u, %c : f32
      linalg.yield %p : f32
    } -> tensor<4xf32>
    kernel.yield %g : tensor<4xf32>
  } -> tensor<4xf32>
  return %0, %1 : tensor<4xf32>, tensor<4xf32>
}

// -----

// A constant, an operation inside or the order of its operands differs: all stay.
// CHECK-LABEL: func @different
// CHECK-COUNT-3: kernel.dispatch
// CHECK-NOT: kernel.dispatch
#id = affine_map<(i) -> (i)>
func.func @different(%x: tensor<4xf32>) -> (tensor<4xf32>, tensor<4xf32>, tensor<4xf32>) {
  %e = tensor.empty() : tensor<4xf32>
  %0 = kernel.dispatch ins(%x : tensor<4xf32>) outs(%e : tensor<4xf32>) {
  ^bb0(%a: tensor<4xf32>, %o: tensor<4xf32>):
    %g = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel"]}
        ins(%a : tensor<4xf32>) outs(%o : tensor<4xf32>) {
    ^bb1(%u: f32, %v: f32):
      %c = arith.constant 2.0 : f32
      %p = arith.subf %u, %c : f32
      linalg.yield %p : f32
    } -> tensor<4xf32>
    kernel.yield %g : tensor<4xf32>
  } -> tensor<4xf32>
  %1 = kernel.dispatch ins(%x : tensor<4xf32>) outs(%e : tensor<4xf32>) {
  ^bb0(%a: tensor<4xf32>, %o: tensor<4xf32>):
    %g = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel"]}
        ins(%a : tensor<4xf32>) outs(%o : tensor<4xf32>) {
    ^bb1(%u: f32, %v: f32):
      %c = arith.constant 3.0 : f32
      %p = arith.subf %u, %c : f32
      linalg.yield %p : f32
    } -> tensor<4xf32>
    kernel.yield %g : tensor<4xf32>
  } -> tensor<4xf32>
  %2 = kernel.dispatch ins(%x : tensor<4xf32>) outs(%e : tensor<4xf32>) {
  ^bb0(%a: tensor<4xf32>, %o: tensor<4xf32>):
    %g = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel"]}
        ins(%a : tensor<4xf32>) outs(%o : tensor<4xf32>) {
    ^bb1(%u: f32, %v: f32):
      %c = arith.constant 2.0 : f32
      %p = arith.subf %c, %u : f32
      linalg.yield %p : f32
    } -> tensor<4xf32>
    kernel.yield %g : tensor<4xf32>
  } -> tensor<4xf32>
  return %0, %1, %2 : tensor<4xf32>, tensor<4xf32>, tensor<4xf32>
}

// -----

// Checks at run time have an effect and stay; what nobody uses goes.
// CHECK-LABEL: func @effects
// CHECK-NOT: arith.muli
// CHECK-COUNT-2: rt.check
func.func @effects(%n: index) {
  %a = arith.muli %n, %n : index
  %b = arith.muli %a, %n : index
  %c = arith.cmpi eq, %n, %n : index
  rt.check %c, "once {0}"(%n : index)
  rt.check %c, "once {0}"(%n : index)
  return
}
