// RUN: cameo-opt %s --split-input-file --verify-diagnostics --cameo-lower-onnx-to-dispatches | FileCheck %s

// A permutation is the input's map.
// CHECK-DAG: #[[SWAPPED:.*]] = affine_map<(d0, d1) -> (d1, d0)>
// CHECK-LABEL: func @transpose
// CHECK: kernel.dispatch ins(%arg0 : tensor<2x3xf32>)
// CHECK: linalg.generic {indexing_maps = [#[[SWAPPED]], #{{.*}}]
func.func @transpose(%x: tensor<2x3xf32>) -> tensor<3x2xf32> {
  %y = onnx.Transpose(%x) : (tensor<2x3xf32>) -> tensor<3x2xf32>
  return %y : tensor<3x2xf32>
}

// -----

// Dimensions of size 1 that move are no work.
// CHECK-LABEL: func @transpose_ones
// CHECK-NOT: kernel.dispatch
// CHECK: rt.reshape %arg0 : tensor<2x1x3xf32> -> tensor<1x2x3xf32>
func.func @transpose_ones(%x: tensor<2x1x3xf32>) -> tensor<1x2x3xf32> {
  %y = onnx.Transpose(%x) {perm = array<i64: 1, 0, 2>} : (tensor<2x1x3xf32>) -> tensor<1x2x3xf32>
  return %y : tensor<1x2x3xf32>
}

// -----

// CHECK-LABEL: func @slice
// CHECK: %[[SLICE:.*]] = tensor.extract_slice %{{.*}}[1] [3] [2] : tensor<8xf32> to tensor<3xf32>
// CHECK: linalg.generic {{.*}} ins(%[[SLICE]] : tensor<3xf32>)
func.func @slice(%x: tensor<8xf32>) -> tensor<3xf32> {
  %start = onnx.Constant() {value = dense<1> : tensor<1xi64>} : () -> tensor<1xi64>
  %end = onnx.Constant() {value = dense<-2> : tensor<1xi64>} : () -> tensor<1xi64>
  %step = onnx.Constant() {value = dense<2> : tensor<1xi64>} : () -> tensor<1xi64>
  %axis = onnx.Constant() {value = dense<0> : tensor<1xi64>} : () -> tensor<1xi64>
  %y = onnx.Slice(%x, %start, %end, %axis, %step)
      : (tensor<8xf32>, tensor<1xi64>, tensor<1xi64>, tensor<1xi64>, tensor<1xi64>)
      -> tensor<3xf32>
  return %y : tensor<3xf32>
}

// -----

// CHECK-LABEL: func @concat
// CHECK: %[[N:.*]] = tensor.dim %arg1
// CHECK: %[[SUM:.*]] = arith.addi %[[N]], %{{.*}}
// CHECK: rt.concat %arg0, %arg1 dim 0 sizes(%[[SUM]]) : tensor<2xf32>, tensor<?xf32> -> tensor<?xf32>
func.func @concat(%x: tensor<2xf32>, %y: tensor<?xf32>) -> tensor<?xf32> {
  %z = onnx.Concat(%x, %y) {axis = 0 : i64} : (tensor<2xf32>, tensor<?xf32>) -> tensor<?xf32>
  return %z : tensor<?xf32>
}

// -----

// expected-error @below {{unsupported: 1 node cannot be compiled}}
func.func @padding(%x: tensor<4xf32>, %pads: tensor<3xi64>) -> tensor<?xf32> {
  %none = onnx.None() : () -> none
  // expected-note @below {{pads holds 3 numbers for 1 axes; two an axis are needed}}
  %y = onnx.Pad(%x, %pads, %none, %none)
      : (tensor<4xf32>, tensor<3xi64>, none, none) -> tensor<?xf32>
  return %y : tensor<?xf32>
}

// -----

// expected-error @below {{unsupported: 1 node cannot be compiled}}
func.func @cropped_beyond(%x: tensor<3xf32>) -> tensor<?xf32> {
  %none = onnx.None() : () -> none
  %pads = onnx.Constant() {value = dense<[-5, 9]> : tensor<2xi64>} : () -> tensor<2xi64>
  // expected-note @below {{pads take away 5 elements of 3}}
  %y = onnx.Pad(%x, %pads, %none, %none)
      : (tensor<3xf32>, tensor<2xi64>, none, none) -> tensor<?xf32>
  return %y : tensor<?xf32>
}

// -----

// Pads of 1 and -1 leave the size and move the elements.
// CHECK-LABEL: func @moved_by_pads
// CHECK: kernel.dispatch
// CHECK: arith.subi
// CHECK-LABEL: func @padded_by_nothing
// CHECK-NOT: kernel.dispatch
// CHECK: return %arg0
func.func @moved_by_pads(%x: tensor<5xf32>) -> tensor<5xf32> {
  %none = onnx.None() : () -> none
  %pads = onnx.Constant() {value = dense<[1, -1]> : tensor<2xi64>} : () -> tensor<2xi64>
  %y = onnx.Pad(%x, %pads, %none, %none) : (tensor<5xf32>, tensor<2xi64>, none, none) -> tensor<5xf32>
  return %y : tensor<5xf32>
}
func.func @padded_by_nothing(%x: tensor<5xf32>) -> tensor<5xf32> {
  %none = onnx.None() : () -> none
  %pads = onnx.Constant() {value = dense<0> : tensor<2xi64>} : () -> tensor<2xi64>
  %y = onnx.Pad(%x, %pads, %none, %none) : (tensor<5xf32>, tensor<2xi64>, none, none) -> tensor<5xf32>
  return %y : tensor<5xf32>
}

// -----

// expected-error @below {{unsupported: 5 nodes cannot be compiled}}
func.func @parts(%x: tensor<5xf32>, %s: tensor<2xi64>)
    -> (tensor<?xf32>, tensor<?xf32>, tensor<?xf32>, tensor<?xf32>, tensor<?xf32>) {
  %none = onnx.None() : () -> none
  // expected-note @below {{num_outputs is 3; the node has 2 outputs}}
  %a:2 = onnx.Split(%x, %none) {num_outputs = 3 : i64}
      : (tensor<5xf32>, none) -> (tensor<?xf32>, tensor<?xf32>)
  // expected-note @below {{has neither split nor num_outputs; one of them is needed}}
  %b:2 = onnx.Split(%x, %none) : (tensor<5xf32>, none) -> (tensor<?xf32>, tensor<?xf32>)
  // expected-note @below {{has both split and num_outputs; only one of them may be given}}
  %c:2 = onnx.Split(%x, %s) {num_outputs = 2 : i64}
      : (tensor<5xf32>, tensor<2xi64>) -> (tensor<?xf32>, tensor<?xf32>)
  // What versions below 18 become.
  // expected-note @below {{a size of 5 does not split into 2 equal parts}}
  %d:2 = onnx.Split(%x, %none) {num_outputs = 2 : i64, onnx.even_split}
      : (tensor<5xf32>, none) -> (tensor<?xf32>, tensor<?xf32>)
  // expected-note @below {{a size of 5 does not split into 4 parts of which only the last is smaller}}
  %e:4 = onnx.Split(%x, %none) {num_outputs = 4 : i64}
      : (tensor<5xf32>, none) -> (tensor<?xf32>, tensor<?xf32>, tensor<?xf32>, tensor<?xf32>)
  return %a#0, %b#0, %c#0, %d#0, %e#0
      : tensor<?xf32>, tensor<?xf32>, tensor<?xf32>, tensor<?xf32>, tensor<?xf32>
}
