// RUN: cameo-opt %s --split-input-file --verify-diagnostics --cameo-lower-onnx-to-dispatches | FileCheck %s

// Keys of 32 bits are sorted with their places; the greatest come first.
// CHECK-LABEL: func @top
// CHECK: arith.cmpf uno
// CHECK: arith.bitcast %{{.*}} : f32 to i32
// CHECK: kernel.sort %{{.*}} {axis = 2 : i64, most = 100 : i64} : tensor<3x1x100xi64>
// CHECK: outs(%{{.*}} : tensor<3x5x1xf32>)
// CHECK: outs(%{{.*}} : tensor<3x5x1xi64>)
func.func @top(%x: tensor<3x100xf32>) -> (tensor<3x5xf32>, tensor<3x5xi64>) {
  %k = onnx.Constant() {value = dense<5> : tensor<1xi64>} : () -> tensor<1xi64>
  %v, %i = onnx.TopK(%x, %k) : (tensor<3x100xf32>, tensor<1xi64>) -> (tensor<3x5xf32>, tensor<3x5xi64>)
  return %v, %i : tensor<3x5xf32>, tensor<3x5xi64>
}

// -----

// Of merged runs no more is kept than is asked for.
// CHECK-LABEL: func @few_of_many
// CHECK: kernel.sort %{{.*}} : tensor<1x4x1250xi64>
// CHECK: outs(%{{.*}} : tensor<1x2x5xi64>)
// CHECK: outs(%{{.*}} : tensor<1x1x5xi64>)
func.func @few_of_many(%x: tensor<5000xf32>) -> tensor<5xf32> {
  %k = onnx.Constant() {value = dense<5> : tensor<1xi64>} : () -> tensor<1xi64>
  %v, %i = onnx.TopK(%x, %k) : (tensor<5000xf32>, tensor<1xi64>) -> (tensor<5xf32>, tensor<5xi64>)
  return %v : tensor<5xf32>
}

// -----

// Keys of 64 bits are sorted by their lower half, then by the upper one.
// CHECK-LABEL: func @wide
// CHECK-COUNT-2: kernel.sort
func.func @wide(%x: tensor<100xi64>) -> tensor<5xi64> {
  %k = onnx.Constant() {value = dense<5> : tensor<1xi64>} : () -> tensor<1xi64>
  %v, %i = onnx.TopK(%x, %k) : (tensor<100xi64>, tensor<1xi64>) -> (tensor<5xi64>, tensor<5xi64>)
  return %i : tensor<5xi64>
}

// -----

// A k that the device computes is read back.
// CHECK-LABEL: func @fetched
// CHECK: %[[K:.*]] = rt.fetch %{{.*}} as i64 : tensor<1xi64> -> i64
// CHECK: rt.check %{{.*}}, "k is {0}; it must be 0 or more"
// CHECK: rt.check %{{.*}}, "k is {0}, along an axis of {1} elements"
// CHECK: outs(%{{.*}} : tensor<1x?x1xf32>)
func.func @fetched(%x: tensor<9xf32>, %n: tensor<7xf32>) -> tensor<?xf32> {
  %k = onnx.ArgMax(%n) {axis = 0 : i64} : (tensor<7xf32>) -> tensor<1xi64>
  %v, %i = onnx.TopK(%x, %k) : (tensor<9xf32>, tensor<1xi64>) -> (tensor<?xf32>, tensor<?xi64>)
  return %v : tensor<?xf32>
}

// -----

// Places are counted in runs of 1024; the count is read back.
// CHECK-LABEL: func @nonzero
// CHECK: arith.cmpf une
// CHECK: kernel.scan add %{{.*}} {axis = 2 : i64} : tensor<1x3x1024x1xi32>
// CHECK: kernel.scan add %{{.*}} {axis = 1 : i64, exclusive} : tensor<1x3x1xi32>
// CHECK: %[[N:.*]] = rt.fetch
// CHECK: outs(%{{.*}} : tensor<?xi32>)
// CHECK: scf.while
// CHECK: outs(%{{.*}} : tensor<2x?xi64>)
func.func @nonzero(%x: tensor<3x1000xf32>) -> tensor<2x?xi64> {
  %y = onnx.NonZero(%x) : (tensor<3x1000xf32>) -> tensor<2x?xi64>
  return %y : tensor<2x?xi64>
}

// -----

// CHECK-LABEL: func @compress
// CHECK: rt.fetch
// CHECK: outs(%{{.*}} : tensor<2x?x4xf32>)
func.func @compress(%x: tensor<2x5x4xf32>, %c: tensor<5xi1>) -> tensor<2x?x4xf32> {
  %y = onnx.Compress(%x, %c) {axis = 1 : i64} : (tensor<2x5x4xf32>, tensor<5xi1>) -> tensor<2x?x4xf32>
  return %y : tensor<2x?x4xf32>
}

// -----

// Slices are sorted by their last element first; results that nobody reads are not computed.
// CHECK-LABEL: func @unique
// CHECK-COUNT-3: kernel.sort
// CHECK-NOT: kernel.sort
// CHECK: rt.fetch
// CHECK: outs(%{{.*}} : tensor<1x?x3xf32>)
// CHECK-NOT: kernel.dispatch
func.func @unique(%x: tensor<7x3xf32>) -> tensor<?x3xf32> {
  %y, %i, %j, %c = onnx.Unique(%x) {axis = 0 : i64} : (tensor<7x3xf32>) -> (tensor<?x3xf32>, none, none, none)
  return %y : tensor<?x3xf32>
}

// -----

// expected-error @below {{unsupported: 1 node cannot be compiled}}
func.func @too_many(%x: tensor<3xf32>) -> tensor<4xf32> {
  %k = onnx.Constant() {value = dense<4> : tensor<1xi64>} : () -> tensor<1xi64>
  // expected-note @below {{k is 4, along an axis of 3 elements}}
  %v, %i = onnx.TopK(%x, %k) : (tensor<3xf32>, tensor<1xi64>) -> (tensor<4xf32>, tensor<4xi64>)
  return %v : tensor<4xf32>
}

// -----

// expected-error @below {{unsupported: 1 node cannot be compiled}}
func.func @negative(%x: tensor<3xf32>) -> tensor<?xf32> {
  %k = onnx.Constant() {value = dense<-1> : tensor<1xi64>} : () -> tensor<1xi64>
  // expected-note @below {{k is -1; it must be 0 or more}}
  %v, %i = onnx.TopK(%x, %k) : (tensor<3xf32>, tensor<1xi64>) -> (tensor<?xf32>, tensor<?xi64>)
  return %v : tensor<?xf32>
}

// -----

// expected-error @below {{unsupported: 1 node cannot be compiled}}
func.func @two_numbers(%x: tensor<3xf32>) -> tensor<?xf32> {
  %k = onnx.Constant() {value = dense<[1, 2]> : tensor<2xi64>} : () -> tensor<2xi64>
  // expected-note @below {{}}
  %v, %i = onnx.TopK(%x, %k) : (tensor<3xf32>, tensor<2xi64>) -> (tensor<?xf32>, tensor<?xi64>)
  return %v : tensor<?xf32>
}

// -----

// Places of a scalar have no coordinates: there are as many as it is not 0.
// CHECK-LABEL: func @scalar(
// CHECK: kernel.scan add
// CHECK: rt.fetch
// CHECK: outs(%{{.*}} : tensor<0x?xi64>)
func.func @scalar(%x: tensor<f32>) -> tensor<0x?xi64> {
  %y = onnx.NonZero(%x) : (tensor<f32>) -> tensor<0x?xi64>
  return %y : tensor<0x?xi64>
}

// -----

// expected-error @below {{unsupported: 1 node cannot be compiled}}
func.func @long_condition(%x: tensor<3xf32>, %c: tensor<4xi1>) -> tensor<?xf32> {
  // expected-note @below {{a condition of 4 elements for 3}}
  %y = onnx.Compress(%x, %c) : (tensor<3xf32>, tensor<4xi1>) -> tensor<?xf32>
  return %y : tensor<?xf32>
}

// -----

// expected-error @below {{unsupported: 1 node cannot be compiled}}
func.func @condition_rank(%x: tensor<3xf32>, %c: tensor<1x3xi1>) -> tensor<?xf32> {
  // expected-note @below {{the condition has rank 2; it must have one}}
  %y = onnx.Compress(%x, %c) : (tensor<3xf32>, tensor<1x3xi1>) -> tensor<?xf32>
  return %y : tensor<?xf32>
}

// -----

// expected-error @below {{unsupported: 1 node cannot be compiled}}
func.func @long_slices(%x: tensor<3x65xf32>) -> tensor<?x65xf32> {
  // expected-note @below {{slices along the axis have 65 elements; nearest supported: 1 to 64}}
  %y, %i, %j, %c = onnx.Unique(%x) {axis = 0 : i64} : (tensor<3x65xf32>) -> (tensor<?x65xf32>, none, none, none)
  return %y : tensor<?x65xf32>
}

// -----

// expected-error @below {{unsupported: 1 node cannot be compiled}}
func.func @open_slices(%x: tensor<3x?xf32>) -> tensor<?x?xf32> {
  // expected-note @below {{slices along the axis have an open number of elements; nearest supported: 1 to 64}}
  %y, %i, %j, %c = onnx.Unique(%x) {axis = 0 : i64} : (tensor<3x?xf32>) -> (tensor<?x?xf32>, none, none, none)
  return %y : tensor<?x?xf32>
}

// -----

// Boxes in the order of their scores; those that overlap none that is chosen; their count is read back.
// CHECK-LABEL: func @suppression
// CHECK: kernel.sort
// CHECK: outs(%{{.*}} : tensor<6x20xi32>)
// CHECK: kernel.choose %{{.*}} conflicts %{{.*}} limit %{{.*}} : tensor<6x20xi1>, tensor<6x20x20xi1>
// CHECK: kernel.scan
// CHECK: rt.fetch
// CHECK: outs(%{{.*}} : tensor<?x3xi64>)
func.func @suppression(%boxes: tensor<2x20x4xf32>, %scores: tensor<2x3x20xf32>, %share: tensor<f32>, %least: tensor<1xf32>) -> tensor<?x3xi64> {
  %most = onnx.Constant() {value = dense<5> : tensor<1xi64>} : () -> tensor<1xi64>
  %y = onnx.NonMaxSuppression(%boxes, %scores, %most, %share, %least) : (tensor<2x20x4xf32>, tensor<2x3x20xf32>, tensor<1xi64>, tensor<f32>, tensor<1xf32>) -> tensor<?x3xi64>
  return %y : tensor<?x3xi64>
}

// -----

// As many as there are boxes where the limit is larger, as exporters write none: indices of kernels may have 32 bits.
// CHECK-LABEL: func @no_limit
// CHECK: %[[ALL:.*]] = arith.constant 20 : index
// CHECK: kernel.choose %{{.*}} conflicts %{{.*}} limit %[[ALL]],
func.func @no_limit(%boxes: tensor<2x20x4xf32>, %scores: tensor<2x3x20xf32>, %share: tensor<f32>, %least: tensor<1xf32>) -> tensor<?x3xi64> {
  %most = onnx.Constant() {value = dense<9223372036854775807> : tensor<1xi64>} : () -> tensor<1xi64>
  %y = onnx.NonMaxSuppression(%boxes, %scores, %most, %share, %least) : (tensor<2x20x4xf32>, tensor<2x3x20xf32>, tensor<1xi64>, tensor<f32>, tensor<1xf32>) -> tensor<?x3xi64>
  return %y : tensor<?x3xi64>
}

// -----

// expected-error @below {{unsupported: 1 node cannot be compiled}}
func.func @box_ranks(%boxes: tensor<20x4xf32>, %scores: tensor<2x3x20xf32>) -> tensor<?x3xi64> {
  %none = onnx.None() : () -> none
  // expected-note @below {{boxes have rank 2 and scores rank 3; both must have 3}}
  %y = onnx.NonMaxSuppression(%boxes, %scores, %none, %none, %none) : (tensor<20x4xf32>, tensor<2x3x20xf32>, none, none, none) -> tensor<?x3xi64>
  return %y : tensor<?x3xi64>
}

// -----

// expected-error @below {{unsupported: 2 nodes cannot be compiled}}
func.func @box_shares(%boxes: tensor<2x20x4xf32>, %scores: tensor<2x3x20xf32>) -> (tensor<?x3xi64>, tensor<?x3xi64>) {
  %none = onnx.None() : () -> none
  %beyond = onnx.Constant() {value = dense<1.5> : tensor<f32>} : () -> tensor<f32>
  %nan = onnx.Constant() {value = dense<0x7FC00000> : tensor<1xf32>} : () -> tensor<1xf32>
  // expected-note @below {{iou_threshold is 1.5; it must be from 0 to 1}}
  %y = onnx.NonMaxSuppression(%boxes, %scores, %none, %beyond, %none) : (tensor<2x20x4xf32>, tensor<2x3x20xf32>, none, tensor<f32>, none) -> tensor<?x3xi64>
  // expected-note @below {{iou_threshold is nan; it must be from 0 to 1}}
  %z = onnx.NonMaxSuppression(%boxes, %scores, %none, %nan, %none) : (tensor<2x20x4xf32>, tensor<2x3x20xf32>, none, tensor<1xf32>, none) -> tensor<?x3xi64>
  return %y, %z : tensor<?x3xi64>, tensor<?x3xi64>
}

// -----

// expected-error @below {{unsupported: 1 node cannot be compiled}}
func.func @box_share(%boxes: tensor<2x20x4xf32>, %scores: tensor<2x3x20xf32>, %share: tensor<2xf32>) -> tensor<?x3xi64> {
  %none = onnx.None() : () -> none
  // expected-note @below {{input 'iou_threshold' is float[2]; it must hold one number}}
  %y = onnx.NonMaxSuppression(%boxes, %scores, %none, %share, %none) : (tensor<2x20x4xf32>, tensor<2x3x20xf32>, none, tensor<2xf32>, none) -> tensor<?x3xi64>
  return %y : tensor<?x3xi64>
}
