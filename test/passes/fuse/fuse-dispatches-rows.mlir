// RUN: cameo-opt %s --split-input-file --pass-pipeline='builtin.module(cameo-lower-onnx-to-dispatches,func.func(cameo-merge-dispatches,cameo-fuse-dispatches))' | FileCheck %s

// Norms and softmax written in primitives, at sizes at which no launch pays for computing a row's
// reductions once an element: each is one kernel of rows, as the operators are.

// CHECK-LABEL: func @layer_norm
// CHECK: kernel.dispatch
// CHECK-COUNT-2: "reduction"
// CHECK-NOT: kernel.dispatch
func.func @layer_norm(%x: tensor<1x128x768xf32>, %g: tensor<768xf32>, %b: tensor<768xf32>)
    -> tensor<1x128x768xf32> {
  %axis = onnx.Constant() {value = dense<-1> : tensor<1xi64>} : () -> tensor<1xi64>
  %eps = onnx.Constant() {value = dense<1.0e-5> : tensor<f32>} : () -> tensor<f32>
  %0 = onnx.ReduceMean(%x, %axis) : (tensor<1x128x768xf32>, tensor<1xi64>) -> tensor<1x128x1xf32>
  %1 = onnx.Sub(%x, %0) : (tensor<1x128x768xf32>, tensor<1x128x1xf32>) -> tensor<1x128x768xf32>
  %2 = onnx.Mul(%1, %1) : (tensor<1x128x768xf32>, tensor<1x128x768xf32>) -> tensor<1x128x768xf32>
  %3 = onnx.ReduceMean(%2, %axis) : (tensor<1x128x768xf32>, tensor<1xi64>) -> tensor<1x128x1xf32>
  %4 = onnx.Add(%3, %eps) : (tensor<1x128x1xf32>, tensor<f32>) -> tensor<1x128x1xf32>
  %5 = onnx.Sqrt(%4) : (tensor<1x128x1xf32>) -> tensor<1x128x1xf32>
  %6 = onnx.Div(%1, %5) : (tensor<1x128x768xf32>, tensor<1x128x1xf32>) -> tensor<1x128x768xf32>
  %7 = onnx.Mul(%6, %g) : (tensor<1x128x768xf32>, tensor<768xf32>) -> tensor<1x128x768xf32>
  %8 = onnx.Add(%7, %b) : (tensor<1x128x768xf32>, tensor<768xf32>) -> tensor<1x128x768xf32>
  return %8 : tensor<1x128x768xf32>
}

// -----

// CHECK-LABEL: func @large_layer_norm
// CHECK: kernel.dispatch
// CHECK-COUNT-2: "reduction"
// CHECK-NOT: kernel.dispatch
func.func @large_layer_norm(%x: tensor<32x128x768xf32>) -> tensor<32x128x768xf32> {
  %axis = onnx.Constant() {value = dense<2> : tensor<1xi64>} : () -> tensor<1xi64>
  %two = onnx.Constant() {value = dense<2.0> : tensor<f32>} : () -> tensor<f32>
  %eps = onnx.Constant() {value = dense<1.0e-5> : tensor<f32>} : () -> tensor<f32>
  %0 = onnx.ReduceMean(%x, %axis) : (tensor<32x128x768xf32>, tensor<1xi64>) -> tensor<32x128x1xf32>
  %1 = onnx.Sub(%x, %0) : (tensor<32x128x768xf32>, tensor<32x128x1xf32>) -> tensor<32x128x768xf32>
  %2 = onnx.Pow(%1, %two) : (tensor<32x128x768xf32>, tensor<f32>) -> tensor<32x128x768xf32>
  %3 = onnx.ReduceMean(%2, %axis) : (tensor<32x128x768xf32>, tensor<1xi64>) -> tensor<32x128x1xf32>
  %4 = onnx.Add(%3, %eps) : (tensor<32x128x1xf32>, tensor<f32>) -> tensor<32x128x1xf32>
  %5 = onnx.Sqrt(%4) : (tensor<32x128x1xf32>) -> tensor<32x128x1xf32>
  %6 = onnx.Div(%1, %5) : (tensor<32x128x768xf32>, tensor<32x128x1xf32>) -> tensor<32x128x768xf32>
  return %6 : tensor<32x128x768xf32>
}

// -----

// Rows are told by the dimensions that are kept, so that their number need not be known.
// CHECK-LABEL: func @symbolic_layer_norm
// CHECK: kernel.dispatch
// CHECK-COUNT-2: "reduction"
// CHECK-NOT: kernel.dispatch
func.func @symbolic_layer_norm(%x: tensor<?x?x768xf32> {onnx.name = "x", onnx.dims = ["N", "S", 768]})
    -> tensor<?x?x768xf32> {
  %axis = onnx.Constant() {value = dense<2> : tensor<1xi64>} : () -> tensor<1xi64>
  %eps = onnx.Constant() {value = dense<1.0e-5> : tensor<f32>} : () -> tensor<f32>
  %0 = onnx.ReduceMean(%x, %axis) : (tensor<?x?x768xf32>, tensor<1xi64>) -> tensor<?x?x1xf32>
  %1 = onnx.Sub(%x, %0) : (tensor<?x?x768xf32>, tensor<?x?x1xf32>) -> tensor<?x?x768xf32>
  %2 = onnx.Mul(%1, %1) : (tensor<?x?x768xf32>, tensor<?x?x768xf32>) -> tensor<?x?x768xf32>
  %3 = onnx.ReduceMean(%2, %axis) : (tensor<?x?x768xf32>, tensor<1xi64>) -> tensor<?x?x1xf32>
  %4 = onnx.Add(%3, %eps) : (tensor<?x?x1xf32>, tensor<f32>) -> tensor<?x?x1xf32>
  %5 = onnx.Sqrt(%4) : (tensor<?x?x1xf32>) -> tensor<?x?x1xf32>
  %6 = onnx.Div(%1, %5) : (tensor<?x?x768xf32>, tensor<?x?x1xf32>) -> tensor<?x?x768xf32>
  return %6 : tensor<?x?x768xf32>
}

// -----

// CHECK-LABEL: func @softmax
// CHECK: kernel.dispatch
// CHECK-COUNT-2: "reduction"
// CHECK-NOT: kernel.dispatch
func.func @softmax(%x: tensor<12x128x128xf32>) -> tensor<12x128x128xf32> {
  %axis = onnx.Constant() {value = dense<-1> : tensor<1xi64>} : () -> tensor<1xi64>
  %0 = onnx.ReduceMax(%x, %axis) : (tensor<12x128x128xf32>, tensor<1xi64>) -> tensor<12x128x1xf32>
  %1 = onnx.Sub(%x, %0) : (tensor<12x128x128xf32>, tensor<12x128x1xf32>) -> tensor<12x128x128xf32>
  %2 = onnx.Exp(%1) : (tensor<12x128x128xf32>) -> tensor<12x128x128xf32>
  %3 = onnx.ReduceSum(%2, %axis) : (tensor<12x128x128xf32>, tensor<1xi64>) -> tensor<12x128x1xf32>
  %4 = onnx.Div(%2, %3) : (tensor<12x128x128xf32>, tensor<12x128x1xf32>) -> tensor<12x128x128xf32>
  return %4 : tensor<12x128x128xf32>
}

// -----

// CHECK-LABEL: func @long_softmax
// CHECK: kernel.dispatch
// CHECK-COUNT-2: "reduction"
// CHECK-NOT: kernel.dispatch
func.func @long_softmax(%x: tensor<64x1000xf32>) -> tensor<64x1000xf32> {
  %axis = onnx.Constant() {value = dense<1> : tensor<1xi64>} : () -> tensor<1xi64>
  %0 = onnx.ReduceMax(%x, %axis) : (tensor<64x1000xf32>, tensor<1xi64>) -> tensor<64x1xf32>
  %1 = onnx.Sub(%x, %0) : (tensor<64x1000xf32>, tensor<64x1xf32>) -> tensor<64x1000xf32>
  %2 = onnx.Exp(%1) : (tensor<64x1000xf32>) -> tensor<64x1000xf32>
  %3 = onnx.ReduceSum(%2, %axis) : (tensor<64x1000xf32>, tensor<1xi64>) -> tensor<64x1xf32>
  %4 = onnx.Div(%2, %3) : (tensor<64x1000xf32>, tensor<64x1xf32>) -> tensor<64x1000xf32>
  return %4 : tensor<64x1000xf32>
}

// -----

// CHECK-LABEL: func @rms_norm
// CHECK: kernel.dispatch
// CHECK: "reduction"
// CHECK-NOT: kernel.dispatch
func.func @rms_norm(%x: tensor<4x128x768xf32>, %g: tensor<768xf32>) -> tensor<4x128x768xf32> {
  %axis = onnx.Constant() {value = dense<-1> : tensor<1xi64>} : () -> tensor<1xi64>
  %eps = onnx.Constant() {value = dense<1.0e-5> : tensor<f32>} : () -> tensor<f32>
  %0 = onnx.Mul(%x, %x) : (tensor<4x128x768xf32>, tensor<4x128x768xf32>) -> tensor<4x128x768xf32>
  %1 = onnx.ReduceMean(%0, %axis) : (tensor<4x128x768xf32>, tensor<1xi64>) -> tensor<4x128x1xf32>
  %2 = onnx.Add(%1, %eps) : (tensor<4x128x1xf32>, tensor<f32>) -> tensor<4x128x1xf32>
  %3 = onnx.Sqrt(%2) : (tensor<4x128x1xf32>) -> tensor<4x128x1xf32>
  %4 = onnx.Div(%x, %3) : (tensor<4x128x768xf32>, tensor<4x128x1xf32>) -> tensor<4x128x768xf32>
  %5 = onnx.Mul(%4, %g) : (tensor<4x128x768xf32>, tensor<768xf32>) -> tensor<4x128x768xf32>
  return %5 : tensor<4x128x768xf32>
}

// -----

// CHECK-LABEL: func @l2_norm
// CHECK: kernel.dispatch
// CHECK: "reduction"
// CHECK-NOT: kernel.dispatch
func.func @l2_norm(%x: tensor<128x512xf32>) -> tensor<128x512xf32> {
  %axis = onnx.Constant() {value = dense<1> : tensor<1xi64>} : () -> tensor<1xi64>
  %0 = onnx.ReduceL2(%x, %axis) : (tensor<128x512xf32>, tensor<1xi64>) -> tensor<128x1xf32>
  %1 = onnx.Div(%x, %0) : (tensor<128x512xf32>, tensor<128x1xf32>) -> tensor<128x512xf32>
  return %1 : tensor<128x512xf32>
}

// -----

// Dimensions that are reduced together are one; the others are those of what reads the result.
// CHECK-LABEL: func @mean_of_images
// CHECK: rt.reshape {{.*}} tensor<2x64x49xf32>
// CHECK: kernel.dispatch
// CHECK: "reduction"
// CHECK: math.sqrt
// CHECK-NOT: kernel.dispatch
func.func @mean_of_images(%x: tensor<2x64x7x7xf32>) -> tensor<2x64x1x1xf32> {
  %axes = onnx.Constant() {value = dense<[2, 3]> : tensor<2xi64>} : () -> tensor<2xi64>
  %0 = onnx.ReduceMean(%x, %axes) : (tensor<2x64x7x7xf32>, tensor<2xi64>) -> tensor<2x64x1x1xf32>
  %1 = onnx.Sqrt(%0) : (tensor<2x64x1x1xf32>) -> tensor<2x64x1x1xf32>
  return %1 : tensor<2x64x1x1xf32>
}

// -----

// Rows of other dimensions are other rows.
// CHECK-LABEL: func @other_rows
// CHECK-COUNT-2: kernel.dispatch
// CHECK-NOT: kernel.dispatch
func.func @other_rows(%x: tensor<64x64x64xf32>) -> tensor<64xf32> {
  %last = onnx.Constant() {value = dense<2> : tensor<1xi64>} : () -> tensor<1xi64>
  %first = onnx.Constant() {value = dense<0> : tensor<1xi64>} : () -> tensor<1xi64>
  %0 = onnx.ReduceMax(%x, %last) {keepdims = 0 : i64} : (tensor<64x64x64xf32>, tensor<1xi64>) -> tensor<64x64xf32>
  %1 = onnx.ReduceSum(%0, %first) {keepdims = 0 : i64} : (tensor<64x64xf32>, tensor<1xi64>) -> tensor<64xf32>
  return %1 : tensor<64xf32>
}

// -----

// The threads that reduce 64 elements are too few for 8192.
// CHECK-LABEL: func @wider_than_rows
// CHECK-COUNT-2: kernel.dispatch
// CHECK-NOT: kernel.dispatch
func.func @wider_than_rows(%x: tensor<1024x64xf32>, %y: tensor<1024x8192xf32>) -> tensor<1024x8192xf32> {
  %axis = onnx.Constant() {value = dense<1> : tensor<1xi64>} : () -> tensor<1xi64>
  %0 = onnx.ReduceMax(%x, %axis) : (tensor<1024x64xf32>, tensor<1xi64>) -> tensor<1024x1xf32>
  %1 = onnx.Sub(%y, %0) : (tensor<1024x8192xf32>, tensor<1024x1xf32>) -> tensor<1024x8192xf32>
  return %1 : tensor<1024x8192xf32>
}

// -----

// Over channels: a dimension of 1 between sizes that nobody knows is no obstacle either.
// CHECK-LABEL: func @channels
// CHECK: kernel.dispatch
// CHECK-COUNT-2: "reduction"
// CHECK-NOT: kernel.dispatch
func.func @channels(%x: tensor<?x96x?x?xf32> {onnx.name = "x", onnx.dims = ["N", 96, "H", "W"]}) -> tensor<?x96x?x?xf32> {
  %axis = onnx.Constant() {value = dense<1> : tensor<1xi64>} : () -> tensor<1xi64>
  %0 = onnx.ReduceMean(%x, %axis) : (tensor<?x96x?x?xf32>, tensor<1xi64>) -> tensor<?x1x?x?xf32>
  %1 = onnx.Sub(%x, %0) : (tensor<?x96x?x?xf32>, tensor<?x1x?x?xf32>) -> tensor<?x96x?x?xf32>
  %2 = onnx.Mul(%1, %1) : (tensor<?x96x?x?xf32>, tensor<?x96x?x?xf32>) -> tensor<?x96x?x?xf32>
  %3 = onnx.ReduceMean(%2, %axis) : (tensor<?x96x?x?xf32>, tensor<1xi64>) -> tensor<?x1x?x?xf32>
  %4 = onnx.Sqrt(%3) : (tensor<?x1x?x?xf32>) -> tensor<?x1x?x?xf32>
  %5 = onnx.Div(%1, %4) : (tensor<?x96x?x?xf32>, tensor<?x1x?x?xf32>) -> tensor<?x96x?x?xf32>
  return %5 : tensor<?x96x?x?xf32>
}

// -----

// A norm of groups, through reshapes: what is behind it reads a row's channels one after another, and
// the sum in front of it, whose rows a reshape joins, stays a result.
// CHECK-LABEL: func @group_norm
// CHECK: kernel.dispatch
// CHECK-COUNT-2: "reduction"
// CHECK: math.exp
// CHECK: kernel.yield {{.*}} : tensor<2x32x7x7xf32>, tensor<2x32x7x7xf32>
// CHECK-NOT: kernel.dispatch
func.func @group_norm(%x: tensor<2x32x7x7xf32>, %z: tensor<2x32x7x7xf32>, %g: tensor<32x1x1xf32>)
    -> (tensor<2x32x7x7xf32>, tensor<2x32x7x7xf32>) {
  %groups = onnx.Constant() {value = dense<[0, 8, -1]> : tensor<3xi64>} : () -> tensor<3xi64>
  %all = onnx.Constant() {value = dense<[2, 32, 7, 7]> : tensor<4xi64>} : () -> tensor<4xi64>
  %ones = onnx.Constant() {value = dense<1.0> : tensor<8xf32>} : () -> tensor<8xf32>
  %zeros = onnx.Constant() {value = dense<0.0> : tensor<8xf32>} : () -> tensor<8xf32>
  %0 = onnx.Add(%x, %z) : (tensor<2x32x7x7xf32>, tensor<2x32x7x7xf32>) -> tensor<2x32x7x7xf32>
  %1 = onnx.Reshape(%0, %groups) : (tensor<2x32x7x7xf32>, tensor<3xi64>) -> tensor<2x8x196xf32>
  %2 = onnx.InstanceNormalization(%1, %ones, %zeros) : (tensor<2x8x196xf32>, tensor<8xf32>, tensor<8xf32>) -> tensor<2x8x196xf32>
  %3 = onnx.Reshape(%2, %all) : (tensor<2x8x196xf32>, tensor<4xi64>) -> tensor<2x32x7x7xf32>
  %4 = onnx.Mul(%3, %g) : (tensor<2x32x7x7xf32>, tensor<32x1x1xf32>) -> tensor<2x32x7x7xf32>
  %5 = onnx.Sigmoid(%4) : (tensor<2x32x7x7xf32>) -> tensor<2x32x7x7xf32>
  return %0, %5 : tensor<2x32x7x7xf32>, tensor<2x32x7x7xf32>
}

// -----

// Rows that a reshape joins, and whose elements it parts.
// CHECK-LABEL: func @joined_rows
// CHECK: kernel.dispatch
// CHECK: "reduction"
// CHECK-NOT: kernel.dispatch
func.func @joined_rows(%x: tensor<4x6x64xf32>, %y: tensor<24x8x8xf32>) -> tensor<24x8x8xf32> {
  %shape = onnx.Constant() {value = dense<[24, 8, 8]> : tensor<3xi64>} : () -> tensor<3xi64>
  %0 = onnx.Softmax(%x) {axis = 2 : i64} : (tensor<4x6x64xf32>) -> tensor<4x6x64xf32>
  %1 = onnx.Reshape(%0, %shape) : (tensor<4x6x64xf32>, tensor<3xi64>) -> tensor<24x8x8xf32>
  %2 = onnx.Mul(%1, %y) : (tensor<24x8x8xf32>, tensor<24x8x8xf32>) -> tensor<24x8x8xf32>
  return %2 : tensor<24x8x8xf32>
}

// -----

// Rows that end in the middle of an index: 6 rows of 32 are 4 of 48.
// CHECK-LABEL: func @torn_rows
// CHECK-COUNT-2: kernel.dispatch
// CHECK-NOT: kernel.dispatch
func.func @torn_rows(%x: tensor<6x32xf32>, %y: tensor<4x48xf32>) -> tensor<4x48xf32> {
  %shape = onnx.Constant() {value = dense<[4, 48]> : tensor<2xi64>} : () -> tensor<2xi64>
  %0 = onnx.Softmax(%x) {axis = 1 : i64} : (tensor<6x32xf32>) -> tensor<6x32xf32>
  %1 = onnx.Reshape(%0, %shape) : (tensor<6x32xf32>, tensor<2xi64>) -> tensor<4x48xf32>
  %2 = onnx.Mul(%1, %y) : (tensor<4x48xf32>, tensor<4x48xf32>) -> tensor<4x48xf32>
  return %2 : tensor<4x48xf32>
}

// -----

// Half of the rows are read again: nobody writes the others.
// CHECK-LABEL: func @half_of_rows
// CHECK-COUNT-2: kernel.dispatch
// CHECK-NOT: kernel.dispatch
func.func @half_of_rows(%x: tensor<64x128xf32>, %y: tensor<32x128xf32>) -> tensor<32x128xf32> {
  %begin = onnx.Constant() {value = dense<0> : tensor<1xi64>} : () -> tensor<1xi64>
  %end = onnx.Constant() {value = dense<32> : tensor<1xi64>} : () -> tensor<1xi64>
  %0 = onnx.Softmax(%x) {axis = 1 : i64} : (tensor<64x128xf32>) -> tensor<64x128xf32>
  %one = onnx.Constant() {value = dense<1> : tensor<1xi64>} : () -> tensor<1xi64>
  %1 = onnx.Slice(%0, %begin, %end, %begin, %one) : (tensor<64x128xf32>, tensor<1xi64>, tensor<1xi64>, tensor<1xi64>, tensor<1xi64>) -> tensor<32x128xf32>
  %2 = onnx.Mul(%1, %y) : (tensor<32x128xf32>, tensor<32x128xf32>) -> tensor<32x128xf32>
  return %2 : tensor<32x128xf32>
}

// -----

// Rows of two sizes that only a run knows are not the same rows, though their types are: each reduction has a kernel.
// CHECK-LABEL: func @rows_of_two_sizes
// CHECK-COUNT-2: kernel.dispatch
// CHECK-NOT: kernel.dispatch
func.func @rows_of_two_sizes(%x: tensor<?x?x8xf32> {onnx.name = "x", onnx.dims = ["N", "S", 8]})
    -> (tensor<?x8xf32>, tensor<?x8xf32>) {
  %0 = onnx.Constant() {value = dense<0> : tensor<1xi64>} : () -> tensor<1xi64>
  %1 = onnx.Constant() {value = dense<1> : tensor<1xi64>} : () -> tensor<1xi64>
  %2 = onnx.Exp(%x) : (tensor<?x?x8xf32>) -> tensor<?x?x8xf32>
  %3 = onnx.ReduceSum(%2, %1) {keepdims = 0 : i64} : (tensor<?x?x8xf32>, tensor<1xi64>) -> tensor<?x8xf32>
  %4 = onnx.ReduceMin(%2, %0) {keepdims = 0 : i64} : (tensor<?x?x8xf32>, tensor<1xi64>) -> tensor<?x8xf32>
  return %3, %4 : tensor<?x8xf32>, tensor<?x8xf32>
}

// -----

// CHECK-LABEL: func @rows_of_one_size
// CHECK-COUNT-1: kernel.dispatch
// CHECK-COUNT-2: "reduction"
// CHECK-NOT: kernel.dispatch
func.func @rows_of_one_size(%x: tensor<?x?x8xf32> {onnx.name = "x", onnx.dims = ["N", "S", 8]})
    -> (tensor<?x8xf32>, tensor<?x8xf32>) {
  %1 = onnx.Constant() {value = dense<1> : tensor<1xi64>} : () -> tensor<1xi64>
  %2 = onnx.Exp(%x) : (tensor<?x?x8xf32>) -> tensor<?x?x8xf32>
  %3 = onnx.ReduceSum(%2, %1) {keepdims = 0 : i64} : (tensor<?x?x8xf32>, tensor<1xi64>) -> tensor<?x8xf32>
  %4 = onnx.ReduceMin(%2, %1) {keepdims = 0 : i64} : (tensor<?x?x8xf32>, tensor<1xi64>) -> tensor<?x8xf32>
  return %3, %4 : tensor<?x8xf32>, tensor<?x8xf32>
}
