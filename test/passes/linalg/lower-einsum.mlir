// RUN: cameo-opt %s --split-input-file --verify-diagnostics --cameo-lower-onnx-to-dispatches | FileCheck %s

// The ellipsis broadcasts; the summed index comes last.
// CHECK-DAG: #[[A:.*]] = affine_map<(d0, d1, d2, d3) -> (d0, d1, d3)>
// CHECK-DAG: #[[B:.*]] = affine_map<(d0, d1, d2, d3) -> (d3, d2)>
// CHECK-LABEL: func @product
// CHECK: indexing_maps = [#[[A]], #[[B]],
// CHECK: math.fma
func.func @product(%a: tensor<5x2x3xf32>, %b: tensor<3x4xf32>) -> tensor<5x2x4xf32> {
  %y = onnx.Einsum(%a, %b) {equation = "...ij,...jk->...ik"}
      : (tensor<5x2x3xf32>, tensor<3x4xf32>) -> tensor<5x2x4xf32>
  return %y : tensor<5x2x4xf32>
}

// -----

// CHECK: affine_map<(d0, d1) -> (d0, d1, d1)>
// CHECK-LABEL: func @traces
func.func @traces(%a: tensor<2x3x3xi32>) -> tensor<2xi32> {
  %y = onnx.Einsum(%a) {equation = "bii"} : (tensor<2x3x3xi32>) -> tensor<2xi32>
  return %y : tensor<2xi32>
}

// -----

// expected-error@below {{1 node cannot be compiled}}
func.func @unknown_index(%a: tensor<2x3xf32>) -> tensor<?xf32> {
  // expected-note@below {{equation 'ij->k' has an index in its result that is unknown or repeated}}
  %y = onnx.Einsum(%a) {equation = "ij->k"} : (tensor<2x3xf32>) -> tensor<?xf32>
  return %y : tensor<?xf32>
}
