// RUN: cameo-opt %s --split-input-file --verify-diagnostics --cameo-lower-onnx-to-dispatches | FileCheck %s

// Updates are sorted by the element that they go to; the last one of each is written over the data.
// CHECK-LABEL: func @elements
// CHECK: kernel.dispatch ins(%{{.*}} : tensor<6xi64>) outs(%{{.*}} : tensor<1x1x6xi64>)
// CHECK: %[[INDEX:.*]] = tensor.extract
// CHECK: arith.index_cast %[[INDEX]]
// CHECK: arith.minsi
// CHECK: arith.shli
// CHECK: kernel.sort %{{.*}} {axis = 2 : i64, most = 6 : i64} : tensor<1x1x6xi64>
// CHECK: %[[PLACES:.*]] = kernel.dispatch ins(%{{.*}} : tensor<1x1x6xi64>) outs(%{{.*}} : tensor<1x6xi64>)
// CHECK: scf.if
// CHECK: arith.cmpi ne
// CHECK: %[[VALUES:.*]] = kernel.dispatch ins(%{{.*}}, %{{.*}} : tensor<1x1x6xi64>, tensor<6x1xf32>)
// CHECK: %[[DATA:.*]] = rt.reshape %arg0 : tensor<3x4xf32> -> tensor<1x12x1xf32>
// CHECK: kernel.dispatch ins(%[[VALUES]], %[[PLACES]] : {{.*}}) outs(%[[DATA]] : tensor<1x12x1xf32>)
// CHECK: kernel.insert
func.func @elements(%x: tensor<3x4xf32>, %i: tensor<2x3xi64>, %u: tensor<2x3xf32>) -> tensor<3x4xf32> {
  %y = onnx.ScatterElements(%x, %i, %u) {axis = 1 : i64} : (tensor<3x4xf32>, tensor<2x3xi64>, tensor<2x3xf32>) -> tensor<3x4xf32>
  return %y : tensor<3x4xf32>
}

// -----

// One update needs no order.
// CHECK-LABEL: func @one
// CHECK-NOT: kernel.sort
// CHECK: kernel.insert
func.func @one(%x: tensor<30x4xf32>, %i: tensor<1x1xi64>, %u: tensor<1x4xf32>) -> tensor<30x4xf32> {
  %y = onnx.ScatterND(%x, %i, %u) : (tensor<30x4xf32>, tensor<1x1xi64>, tensor<1x4xf32>) -> tensor<30x4xf32>
  return %y : tensor<30x4xf32>
}

// -----

// A cache is the destination, of which a kernel writes the places that are given and those behind.
// CHECK-LABEL: func @cache
// CHECK: %[[P:.*]] = kernel.dispatch ins(%arg2 : tensor<2xi64>) outs(%{{.*}} : tensor<2x3xi64>)
// CHECK: kernel.dispatch ins(%arg1, %[[P]] : tensor<2x3x4xf32>, tensor<2x3xi64>) outs(%arg0 : tensor<2x9x4xf32>)
// CHECK: kernel.insert %{{.*}} at %{{.*}} into %{{.*}} {axis = 1 : i64}
func.func @cache(%c: tensor<2x9x4xf32>, %u: tensor<2x3x4xf32>, %i: tensor<2xi64>) -> tensor<2x9x4xf32> {
  %y = onnx.TensorScatter(%c, %u, %i) {axis = -2 : i64} : (tensor<2x9x4xf32>, tensor<2x3x4xf32>, tensor<2xi64>) -> tensor<2x9x4xf32>
  return %y : tensor<2x9x4xf32>
}

// -----

// expected-error @below {{unsupported: 1 node cannot be compiled}}
func.func @cacheAxis(%c: tensor<2x9x4xf32>, %u: tensor<3x9x4xf32>, %i: tensor<2xi64>) -> tensor<2x9x4xf32> {
  // expected-note @below {{'axis' = 0 is none of 1 to 2, or the update has other dimensions than the cache}}
  %y = onnx.TensorScatter(%c, %u, %i) {axis = 0 : i64} : (tensor<2x9x4xf32>, tensor<3x9x4xf32>, tensor<2xi64>) -> tensor<2x9x4xf32>
  return %y : tensor<2x9x4xf32>
}

// -----

// expected-error @below {{unsupported: 1 node cannot be compiled}}
func.func @cacheStarts(%c: tensor<2x9x4xf32>, %u: tensor<2x3x4xf32>, %i: tensor<3xi64>) -> tensor<2x9x4xf32> {
  // expected-note @below {{3 write_indices for a batch of 2}}
  %y = onnx.TensorScatter(%c, %u, %i) {axis = 1 : i64} : (tensor<2x9x4xf32>, tensor<2x3x4xf32>, tensor<3xi64>) -> tensor<2x9x4xf32>
  return %y : tensor<2x9x4xf32>
}

// -----


// Rows of several elements are sought once; sums are in the order of the updates.
// CHECK-LABEL: func @rows
// CHECK: kernel.sort
// CHECK: %[[ENDS:.*]] = kernel.dispatch {{.*}} outs(%{{.*}} : tensor<4xi32>)
// CHECK: scf.while
// CHECK: kernel.dispatch ins({{.*}}) outs(%{{.*}} : tensor<4x8xf16>)
// CHECK-NOT: scf.while
// CHECK: scf.for
// CHECK: arith.addf %{{.*}} : f32
// CHECK: arith.truncf
// CHECK: scf.yield
func.func @rows(%x: tensor<4x8xf16>, %i: tensor<5x1xi64>, %u: tensor<5x8xf16>) -> tensor<4x8xf16> {
  %y = onnx.ScatterND(%x, %i, %u) {reduction = "add"} : (tensor<4x8xf16>, tensor<5x1xi64>, tensor<5x8xf16>) -> tensor<4x8xf16>
  return %y : tensor<4x8xf16>
}

// -----

// Booleans are summed up as whether one of them holds.
// CHECK-LABEL: func @booleans
// CHECK: kernel.sort
// CHECK: arith.ori
// CHECK: kernel.sort
// CHECK: arith.andi
func.func @booleans(%x: tensor<3xi1>, %i: tensor<2x1xi64>, %u: tensor<2xi1>) -> (tensor<3xi1>, tensor<3xi1>) {
  %y = onnx.ScatterND(%x, %i, %u) {reduction = "add"} : (tensor<3xi1>, tensor<2x1xi64>, tensor<2xi1>) -> tensor<3xi1>
  %z = onnx.ScatterND(%y, %i, %u) {reduction = "min"} : (tensor<3xi1>, tensor<2x1xi64>, tensor<2xi1>) -> tensor<3xi1>
  return %y, %z : tensor<3xi1>, tensor<3xi1>
}

// -----

// 5000 updates are four runs, merged twice.
// CHECK-LABEL: func @many
// CHECK: kernel.sort %{{.*}} {axis = 2 : i64, most = 1250 : i64} : tensor<1x4x1250xi64>
// CHECK: kernel.dispatch {{.*}} outs(%{{.*}} : tensor<1x2x2500xi64>)
// CHECK: kernel.dispatch {{.*}} outs(%{{.*}} : tensor<1x1x5000xi64>)
// CHECK: kernel.dispatch
// CHECK-NOT: kernel.dispatch
func.func @many(%x: tensor<9xf32>, %i: tensor<5000xi64>, %u: tensor<5000xf32>) -> tensor<9xf32> {
  %y = onnx.ScatterElements(%x, %i, %u) {reduction = "max"} : (tensor<9xf32>, tensor<5000xi64>, tensor<5000xf32>) -> tensor<9xf32>
  return %y : tensor<9xf32>
}

// -----

// Without updates nothing is computed.
// CHECK-LABEL: func @none
// CHECK-NOT: kernel.dispatch
// CHECK: return %arg0
func.func @none(%x: tensor<3x4xf32>, %i: tensor<0x1xi64>, %u: tensor<0x4xf32>) -> tensor<3x4xf32> {
  %y = onnx.ScatterND(%x, %i, %u) : (tensor<3x4xf32>, tensor<0x1xi64>, tensor<0x4xf32>) -> tensor<3x4xf32>
  return %y : tensor<3x4xf32>
}

// -----

// expected-error @below {{unsupported: 1 node cannot be compiled}}
func.func @updates(%x: tensor<3x4xf32>, %i: tensor<2x1xi64>, %u: tensor<2x3xf32>) -> tensor<3x4xf32> {
  // expected-note @below {{updates have a size of 3; data and indices make it 4}}
  %y = onnx.ScatterND(%x, %i, %u) : (tensor<3x4xf32>, tensor<2x1xi64>, tensor<2x3xf32>) -> tensor<3x4xf32>
  return %y : tensor<3x4xf32>
}

// -----

// expected-error @below {{unsupported: 1 node cannot be compiled}}
func.func @updates_rank(%x: tensor<3xf32>, %i: tensor<2xi64>, %u: tensor<2x1xf32>) -> tensor<3xf32> {
  // expected-note @below {{updates have rank 2; they must have 1}}
  %y = onnx.ScatterElements(%x, %i, %u) : (tensor<3xf32>, tensor<2xi64>, tensor<2x1xf32>) -> tensor<3xf32>
  return %y : tensor<3xf32>
}

// -----

// expected-error @below {{unsupported: 1 node cannot be compiled}}
func.func @scalar_indices(%x: tensor<3xf32>, %i: tensor<i64>, %u: tensor<f32>) -> tensor<3xf32> {
  // expected-note @below {{indices have rank 0; they need 1 or more}}
  %y = onnx.ScatterND(%x, %i, %u) : (tensor<3xf32>, tensor<i64>, tensor<f32>) -> tensor<3xf32>
  return %y : tensor<3xf32>
}

// -----

// expected-error @below {{unsupported: 1 node cannot be compiled}}
func.func @deep(%x: tensor<3x4xf32>, %i: tensor<2x3xi64>, %u: tensor<2xf32>) -> tensor<3x4xf32> {
  // expected-note @below {{3 indices a place do not fit data of rank 2}}
  %y = onnx.ScatterND(%x, %i, %u) : (tensor<3x4xf32>, tensor<2x3xi64>, tensor<2xf32>) -> tensor<3x4xf32>
  return %y : tensor<3x4xf32>
}

// -----

// expected-error @below {{unsupported: 1 node cannot be compiled}}
func.func @open_depth(%x: tensor<3x4xf32>, %i: tensor<2x?xi64>, %u: tensor<2xf32>) -> tensor<3x4xf32> {
  // expected-note @below {{the last size of indices is known only at run time; nearest supported: a fixed last size}}
  %y = onnx.ScatterND(%x, %i, %u) : (tensor<3x4xf32>, tensor<2x?xi64>, tensor<2xf32>) -> tensor<3x4xf32>
  return %y : tensor<3x4xf32>
}

// -----

// expected-error @below {{unsupported: 1 node cannot be compiled}}
func.func @huge(%x: tensor<65536x65536xi8>, %i: tensor<2x1xi64>, %u: tensor<2x1xi8>) -> tensor<65536x65536xi8> {
  // expected-note @below {{4294967296 places; at most 2147483647 are supported}}
  %y = onnx.ScatterElements(%x, %i, %u) : (tensor<65536x65536xi8>, tensor<2x1xi64>, tensor<2x1xi8>) -> tensor<65536x65536xi8>
  return %y : tensor<65536x65536xi8>
}

// -----

// Any number of updates that a run may have is sorted: merges that it does not need have nothing to compute.
// CHECK-LABEL: func @open
// CHECK: rt.check %{{.*}}, "{0} updates; at most {1} are supported"
// CHECK: kernel.sort %{{.*}} {axis = 2 : i64, most = 2048 : i64} : tensor<1x?x?xi64>
// CHECK-COUNT-20: outs(%{{.*}} : tensor<1x?x?xi64>)
// CHECK: outs(%{{.*}} : tensor<1x9x1xf32>)
func.func @open(%x: tensor<9xf32>, %i: tensor<?x1xi64>, %u: tensor<?xf32>) -> tensor<9xf32> {
  %y = onnx.ScatterND(%x, %i, %u) : (tensor<9xf32>, tensor<?x1xi64>, tensor<?xf32>) -> tensor<9xf32>
  return %y : tensor<9xf32>
}
