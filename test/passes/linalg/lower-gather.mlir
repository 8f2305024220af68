// RUN: cameo-opt %s --split-input-file --verify-diagnostics --cameo-lower-onnx-to-dispatches | FileCheck %s

// Indices count from the end where negative, and are moved into range.
// CHECK-LABEL: func @gather
// CHECK: kernel.dispatch ins(%{{.*}}, %{{.*}} :
// CHECK: %[[READ:.*]] = tensor.extract
// CHECK: arith.index_cast %[[READ]]
// CHECK: arith.maxsi
// CHECK: arith.minsi
// CHECK: tensor.extract
func.func @gather(%x: tensor<5x2xf32>, %i: tensor<3xi64>) -> tensor<3x2xf32> {
  %y = onnx.Gather(%x, %i) : (tensor<5x2xf32>, tensor<3xi64>) -> tensor<3x2xf32>
  return %y : tensor<3x2xf32>
}

// -----

// expected-error @below {{unsupported: 1 node cannot be compiled}}
func.func @empty(%x: tensor<0xf32>, %i: tensor<3xi64>) -> tensor<3xf32> {
  // expected-note @below {{indices into a dimension of size 0}}
  %y = onnx.Gather(%x, %i) : (tensor<0xf32>, tensor<3xi64>) -> tensor<3xf32>
  return %y : tensor<3xf32>
}

// -----

// expected-error @below {{unsupported: 1 node cannot be compiled}}
func.func @constant_index_outside(%x: tensor<5xf32>) -> tensor<2xf32> {
  %i = onnx.Constant() {value = dense<[-5, 5]> : tensor<2xi64>} : () -> tensor<2xi64>
  // expected-note @below {{index 5 into a dimension of size 5}}
  %y = onnx.Gather(%x, %i) : (tensor<5xf32>, tensor<2xi64>) -> tensor<2xf32>
  return %y : tensor<2xf32>
}

// -----

// expected-error @below {{unsupported: 1 node cannot be compiled}}
func.func @constant_list_outside(%x: tensor<5x3xf32>) -> tensor<2xf32> {
  %i = onnx.Constant() {value = dense<[[4, 2], [0, -4]]> : tensor<2x2xi64>} : () -> tensor<2x2xi64>
  // expected-note @below {{index -4 into a dimension of size 3}}
  %y = onnx.GatherND(%x, %i) : (tensor<5x3xf32>, tensor<2x2xi64>) -> tensor<2xf32>
  return %y : tensor<2xf32>
}

// -----

// A size of run time is held against the indices then.
// CHECK-LABEL: func @constant_index_of_open_size
// CHECK: rt.check %{{.*}}, "index {0} into a dimension of size {1}"
func.func @constant_index_of_open_size(%x: tensor<?xf32>) -> tensor<2xf32> {
  %i = onnx.Constant() {value = dense<[0, 7]> : tensor<2xi64>} : () -> tensor<2xi64>
  %y = onnx.Gather(%x, %i) : (tensor<?xf32>, tensor<2xi64>) -> tensor<2xf32>
  return %y : tensor<2xf32>
}

// -----

// One index that is known, into a size that is known, is a slice.
// CHECK: #[[SLICE:.*]] = affine_map<(d0) -> (2, d0)>
// CHECK-LABEL: func @one
// CHECK: linalg.generic {indexing_maps = [#[[SLICE]], #{{.*}}]
// CHECK-NEXT: ^bb0(%[[IN:.*]]: f32,
// CHECK-NEXT: linalg.yield %[[IN]]
func.func @one(%x: tensor<3x4xf32>) -> tensor<4xf32> {
  %i = onnx.Constant() {value = dense<-1> : tensor<i64>} : () -> tensor<i64>
  %y = onnx.Gather(%x, %i) : (tensor<3x4xf32>, tensor<i64>) -> tensor<4xf32>
  return %y : tensor<4xf32>
}

// -----

// Of an open size it is moved into range.
// CHECK-LABEL: func @oneOfMany
// CHECK: arith.minsi
// CHECK: tensor.extract
func.func @oneOfMany(%x: tensor<?x4xf32>) -> tensor<4xf32> {
  %i = onnx.Constant() {value = dense<1> : tensor<i64>} : () -> tensor<i64>
  %y = onnx.Gather(%x, %i) : (tensor<?x4xf32>, tensor<i64>) -> tensor<4xf32>
  return %y : tensor<4xf32>
}

// -----

// The first elements of each sequence are read in the opposite order, its length moved into range.
// CHECK-LABEL: func @reverse_sequence(
// CHECK: kernel.dispatch ins(%{{.*}}, %{{.*}} :
// CHECK: %[[LENGTH:.*]] = tensor.extract
// CHECK: arith.maxsi %[[LENGTH]]
// CHECK: arith.minsi
// CHECK: arith.cmpi slt
// CHECK: %[[STEP:.*]] = arith.select
// CHECK: tensor.extract %{{.*}}[%[[STEP]],
func.func @reverse_sequence(%x: tensor<5x3xf32>, %n: tensor<3xi64>) -> tensor<5x3xf32> {
  %y = onnx.ReverseSequence(%x, %n) : (tensor<5x3xf32>, tensor<3xi64>) -> tensor<5x3xf32>
  return %y : tensor<5x3xf32>
}

// -----

// expected-error @below {{unsupported: 1 node cannot be compiled}}
func.func @reverse_sequence_of_rank_1(%x: tensor<5xf32>, %n: tensor<1xi64>) -> tensor<5xf32> {
  // expected-note @below {{the input has rank 1; it must have 2 or more}}
  %y = onnx.ReverseSequence(%x, %n) : (tensor<5xf32>, tensor<1xi64>) -> tensor<5xf32>
  return %y : tensor<5xf32>
}

// -----

// expected-error @below {{unsupported: 1 node cannot be compiled}}
func.func @reverse_sequence_along_the_batch(%x: tensor<5x3xf32>, %n: tensor<3xi64>)
    -> tensor<5x3xf32> {
  // expected-note @below {{batch_axis and time_axis are both 1; one must be 0, the other 1}}
  %y = onnx.ReverseSequence(%x, %n) {time_axis = 1 : i64}
      : (tensor<5x3xf32>, tensor<3xi64>) -> tensor<5x3xf32>
  return %y : tensor<5x3xf32>
}

// -----

// expected-error @below {{unsupported: 1 node cannot be compiled}}
func.func @lengths_of_rank_2(%x: tensor<5x3xf32>, %n: tensor<3x1xi64>) -> tensor<5x3xf32> {
  // expected-note @below {{sequence_lens has rank 2; it must have 1}}
  %y = onnx.ReverseSequence(%x, %n) : (tensor<5x3xf32>, tensor<3x1xi64>) -> tensor<5x3xf32>
  return %y : tensor<5x3xf32>
}

// -----

// expected-error @below {{unsupported: 1 node cannot be compiled}}
func.func @lengths_for_other_sequences(%x: tensor<5x3xf32>, %n: tensor<5xi64>)
    -> tensor<5x3xf32> {
  // expected-note @below {{sequence_lens holds 5 lengths for 3 sequences}}
  %y = onnx.ReverseSequence(%x, %n) : (tensor<5x3xf32>, tensor<5xi64>) -> tensor<5x3xf32>
  return %y : tensor<5x3xf32>
}

// -----

// expected-error @below {{unsupported: 1 node cannot be compiled}}
func.func @constant_length_outside(%x: tensor<5x3xf32>) -> tensor<5x3xf32> {
  %n = onnx.Constant() {value = dense<[5, 0, 6]> : tensor<3xi64>} : () -> tensor<3xi64>
  // expected-note @below {{a sequence of length 6 along a time axis of size 5}}
  %y = onnx.ReverseSequence(%x, %n) : (tensor<5x3xf32>, tensor<3xi64>) -> tensor<5x3xf32>
  return %y : tensor<5x3xf32>
}

// -----

// expected-error @below {{unsupported: 1 node cannot be compiled}}
func.func @constant_length_below_zero(%x: tensor<5x3xf32>) -> tensor<5x3xf32> {
  %n = onnx.Constant() {value = dense<[5, -1, 0]> : tensor<3xi64>} : () -> tensor<3xi64>
  // expected-note @below {{a sequence of length -1 along a time axis of size 5}}
  %y = onnx.ReverseSequence(%x, %n) : (tensor<5x3xf32>, tensor<3xi64>) -> tensor<5x3xf32>
  return %y : tensor<5x3xf32>
}

// -----

// A time axis of run time is held against constant lengths then.
// CHECK-LABEL: func @constant_lengths_of_open_size
// CHECK: rt.check %{{.*}}, "a sequence of length {0} along a time axis of size {1}"
func.func @constant_lengths_of_open_size(%x: tensor<?x3xf32>) -> tensor<?x3xf32> {
  %n = onnx.Constant() {value = dense<[5, 0, 2]> : tensor<3xi64>} : () -> tensor<3xi64>
  %y = onnx.ReverseSequence(%x, %n) : (tensor<?x3xf32>, tensor<3xi64>) -> tensor<?x3xf32>
  return %y : tensor<?x3xf32>
}
