// RUN: cameo-opt %s --split-input-file --cameo-remove-roundings | FileCheck %s
// RUN: cameo-opt %s --split-input-file --cameo-remove-roundings --cameo-remove-roundings | FileCheck %s

#id = affine_map<(d0) -> (d0)>
#row = affine_map<(d0, d1) -> (d0, d1)>
#sum = affine_map<(d0, d1) -> (d0)>

// What an exponential makes goes to the difference behind it as it is, also of open sizes; the result is rounded.
// CHECK-LABEL: func @between
// CHECK: kernel.dispatch
// CHECK: %[[E:.*]] = tensor.empty(%{{.*}}) : tensor<?xf32>
// CHECK: linalg.generic {{.*}} ins(%{{.*}} : tensor<?xf16>) outs(%[[E]] : tensor<?xf32>)
// CHECK: math.exp
// CHECK-NOT: arith.truncf
// CHECK: linalg.generic {{.*}} ins(%{{.*}} : tensor<?xf32>) outs(%{{.*}} : tensor<?xf16>)
// CHECK-NOT: arith.extf
// CHECK: arith.subf
// CHECK: arith.truncf
func.func @between(%x: tensor<?xf16>, %y: tensor<?xf16>, %n: index) -> tensor<?xf16> {
  %0 = kernel.dispatch ins(%x : tensor<?xf16>) scalars(%n : index) outs(%y : tensor<?xf16>) {
  ^bb0(%in: tensor<?xf16>, %size: index, %out: tensor<?xf16>):
    %one = arith.constant 1.0 : f32
    %empty = tensor.empty(%size) : tensor<?xf16>
    %1 = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel"]} ins(%in : tensor<?xf16>) outs(%empty : tensor<?xf16>) {
    ^bb0(%a: f16, %b: f16):
      %3 = arith.extf %a : f16 to f32
      %4 = math.exp %3 : f32
      %5 = arith.truncf %4 : f32 to f16
      linalg.yield %5 : f16
    } -> tensor<?xf16>
    %2 = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel"]} ins(%1 : tensor<?xf16>) outs(%out : tensor<?xf16>) {
    ^bb0(%a: f16, %b: f16):
      %3 = arith.extf %a : f16 to f32
      %4 = arith.subf %3, %one : f32
      %5 = arith.truncf %4 : f32 to f16
      linalg.yield %5 : f16
    } -> tensor<?xf16>
    kernel.yield %2 : tensor<?xf16>
  } -> tensor<?xf16>
  return %0 : tensor<?xf16>
}

// -----

// A sum of a product that is rounded and nothing else: its readers have the sum itself.
#id = affine_map<(d0) -> (d0)>
// CHECK-LABEL: func @alone
// CHECK: kernel.dispatch
// CHECK-COUNT-1: linalg.generic
// CHECK: arith.mulf %in, %in_0 : f32
// CHECK-NOT: linalg.generic
// CHECK: return
func.func @alone(%x: tensor<4xf32>, %y: tensor<4xbf16>) -> tensor<4xbf16> {
  %0 = kernel.dispatch ins(%x : tensor<4xf32>) outs(%y : tensor<4xbf16>) {
  ^bb0(%in: tensor<4xf32>, %out: tensor<4xbf16>):
    %empty = tensor.empty() : tensor<4xbf16>
    %1 = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel"]} ins(%in : tensor<4xf32>) outs(%empty : tensor<4xbf16>) {
    ^bb0(%a: f32, %b: bf16):
      %3 = arith.truncf %a : f32 to bf16
      linalg.yield %3 : bf16
    } -> tensor<4xbf16>
    %2 = linalg.generic {indexing_maps = [#id, #id, #id], iterator_types = ["parallel"]} ins(%1, %1 : tensor<4xbf16>, tensor<4xbf16>) outs(%out : tensor<4xbf16>) {
    ^bb0(%a: bf16, %b: bf16, %c: bf16):
      %3 = arith.extf %a : bf16 to f32
      %4 = arith.extf %b : bf16 to f32
      %5 = arith.mulf %3, %4 : f32
      %6 = arith.truncf %5 : f32 to bf16
      linalg.yield %6 : bf16
    } -> tensor<4xbf16>
    kernel.yield %2 : tensor<4xbf16>
  } -> tensor<4xbf16>
  return %0 : tensor<4xbf16>
}

// -----

// A Cast of the model; a value that is stored as well; one that is compared as it is; one that is reduced.
#id = affine_map<(d0, d1) -> (d0, d1)>
#row = affine_map<(d0, d1) -> (d0)>
// CHECK-LABEL: func @stays
// CHECK: kernel.dispatch
// CHECK-COUNT-4: arith.truncf %{{.*}} : f32 to f16
func.func @stays(%x: tensor<4x8xf32>, %y: tensor<4x8xf32>, %z: tensor<4x8xf16>, %m: tensor<4x8xi1>, %s: tensor<4xf32>) -> (tensor<4x8xf32>, tensor<4x8xf16>, tensor<4x8xi1>, tensor<4xf32>) {
  %0:4 = kernel.dispatch ins(%x : tensor<4x8xf32>) outs(%y, %z, %m, %s : tensor<4x8xf32>, tensor<4x8xf16>, tensor<4x8xi1>, tensor<4xf32>) {
  ^bb0(%in: tensor<4x8xf32>, %out: tensor<4x8xf32>, %stored: tensor<4x8xf16>, %mask: tensor<4x8xi1>, %sums: tensor<4xf32>):
    %zero = arith.constant 0.0 : f16
    %empty = tensor.empty() : tensor<4x8xf16>
    %cast = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel", "parallel"], kernel.cast} ins(%in : tensor<4x8xf32>) outs(%empty : tensor<4x8xf16>) {
    ^bb0(%a: f32, %b: f16):
      %3 = arith.truncf %a : f32 to f16
      linalg.yield %3 : f16
    } -> tensor<4x8xf16>
    %1 = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel", "parallel"]} ins(%cast : tensor<4x8xf16>) outs(%stored : tensor<4x8xf16>) {
    ^bb0(%a: f16, %b: f16):
      %3 = arith.extf %a : f16 to f32
      %4 = math.exp %3 : f32
      %5 = arith.truncf %4 : f32 to f16
      linalg.yield %5 : f16
    } -> tensor<4x8xf16>
    %2 = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel", "parallel"]} ins(%1 : tensor<4x8xf16>) outs(%out : tensor<4x8xf32>) {
    ^bb0(%a: f16, %b: f32):
      %3 = arith.extf %a : f16 to f32
      linalg.yield %3 : f32
    } -> tensor<4x8xf32>
    %compared = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel", "parallel"]} ins(%in : tensor<4x8xf32>) outs(%empty : tensor<4x8xf16>) {
    ^bb0(%a: f32, %b: f16):
      %3 = math.sqrt %a : f32
      %4 = arith.truncf %3 : f32 to f16
      linalg.yield %4 : f16
    } -> tensor<4x8xf16>
    %above = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel", "parallel"]} ins(%compared : tensor<4x8xf16>) outs(%mask : tensor<4x8xi1>) {
    ^bb0(%a: f16, %b: i1):
      %3 = arith.cmpf ogt, %a, %zero : f16
      linalg.yield %3 : i1
    } -> tensor<4x8xi1>
    %squared = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel", "parallel"]} ins(%in : tensor<4x8xf32>) outs(%empty : tensor<4x8xf16>) {
    ^bb0(%a: f32, %b: f16):
      %3 = arith.mulf %a, %a : f32
      %4 = arith.truncf %3 : f32 to f16
      linalg.yield %4 : f16
    } -> tensor<4x8xf16>
    %sum = linalg.generic {indexing_maps = [#id, #row], iterator_types = ["parallel", "reduction"]} ins(%squared : tensor<4x8xf16>) outs(%sums : tensor<4xf32>) {
    ^bb0(%a: f16, %b: f32):
      %3 = arith.extf %a : f16 to f32
      %4 = arith.addf %b, %3 : f32
      linalg.yield %4 : f32
    } -> tensor<4xf32>
    kernel.yield %2, %1, %above, %sum : tensor<4x8xf32>, tensor<4x8xf16>, tensor<4x8xi1>, tensor<4xf32>
  } -> tensor<4x8xf32>, tensor<4x8xf16>, tensor<4x8xi1>, tensor<4xf32>
  return %0#0, %0#1, %0#2, %0#3 : tensor<4x8xf32>, tensor<4x8xf16>, tensor<4x8xi1>, tensor<4xf32>
}
