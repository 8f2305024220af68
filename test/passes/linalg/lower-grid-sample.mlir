// RUN: cameo-opt %s --split-input-file --verify-diagnostics --cameo-lower-onnx-to-dispatches | FileCheck %s

// The neighbours of a position are written out: two reads of the grid, four of X, each with an
// index inside of it.
// CHECK-LABEL: func @linear
// CHECK: kernel.dispatch
// CHECK-COUNT-2: math.floor
// CHECK-COUNT-4: tensor.extract
// CHECK-NOT: tensor.extract
// CHECK-NOT: kernel.dispatch
func.func @linear(%x: tensor<2x3x5x7xf32>, %grid: tensor<2x4x6x2xf32>) -> tensor<2x3x4x6xf32> {
  %y = onnx.GridSample(%x, %grid) : (tensor<2x3x5x7xf32>, tensor<2x4x6x2xf32>)
      -> tensor<2x3x4x6xf32>
  return %y : tensor<2x3x4x6xf32>
}

// CHECK-LABEL: func @nearest
// CHECK-COUNT-2: math.roundeven
// CHECK-NOT: math.fma
// CHECK-COUNT-1: tensor.extract {{.*}} : tensor<2x3x5x7xi8>
func.func @nearest(%x: tensor<2x3x5x7xui8>, %grid: tensor<2x4x6x2xf32>) -> tensor<2x3x4x6xui8> {
  %y = onnx.GridSample(%x, %grid) {mode = "nearest"}
      : (tensor<2x3x5x7xui8>, tensor<2x4x6x2xf32>) -> tensor<2x3x4x6xui8>
  return %y : tensor<2x3x4x6xui8>
}

// A size of 1 whose corners are aligned is no division of the plan: borders at one place.
// CHECK-LABEL: func @volume
// CHECK-COUNT-3: math.trunc
// CHECK-COUNT-64: tensor.extract {{.*}} : tensor<1x1x?x4x1xf16>
// CHECK: arith.truncf {{.*}} : f32 to f16
func.func @volume(%x: tensor<1x1x?x4x1xf16>, %grid: tensor<1x2x2x2x3xf32>) -> tensor<1x1x2x2x2xf16> {
  %y = onnx.GridSample(%x, %grid)
      {mode = "cubic", padding_mode = "reflection", align_corners = 1 : i64}
      : (tensor<1x1x?x4x1xf16>, tensor<1x2x2x2x3xf32>) -> tensor<1x1x2x2x2xf16>
  return %y : tensor<1x1x2x2x2xf16>
}

// Integers of 32 bits are computed in FP64, which has all of them, and cut.
// CHECK-LABEL: func @integers
// CHECK: arith.sitofp {{.*}} : i32 to f64
// CHECK: arith.fptosi {{.*}} : f64 to i32
func.func @integers(%x: tensor<1x1x5x7xi32>, %grid: tensor<1x4x6x2xf32>) -> tensor<1x1x4x6xi32> {
  %y = onnx.GridSample(%x, %grid) : (tensor<1x1x5x7xi32>, tensor<1x4x6x2xf32>)
      -> tensor<1x1x4x6xi32>
  return %y : tensor<1x1x4x6xi32>
}

// -----

// expected-error @below {{unsupported: 1 node cannot be compiled}}
func.func @ranks(%x: tensor<2x3xf32>, %grid: tensor<2x1xf32>) -> tensor<2x3xf32> {
  // expected-note @below {{X of rank 2, grid of rank 2; both need one rank of 3 or more}}
  %y = onnx.GridSample(%x, %grid) : (tensor<2x3xf32>, tensor<2x1xf32>) -> tensor<2x3xf32>
  return %y : tensor<2x3xf32>
}

// -----

// expected-error @below {{unsupported: 1 node cannot be compiled}}
func.func @coordinates(%x: tensor<2x3x5x7xf32>, %grid: tensor<2x4x6x3xf32>) -> tensor<2x3x4x6xf32> {
  // expected-note @below {{the grid has 3 coordinates for 2 spatial dimensions}}
  %y = onnx.GridSample(%x, %grid) : (tensor<2x3x5x7xf32>, tensor<2x4x6x3xf32>)
      -> tensor<2x3x4x6xf32>
  return %y : tensor<2x3x4x6xf32>
}

// -----

// expected-error @below {{unsupported: 1 node cannot be compiled}}
func.func @batches(%x: tensor<2x3x5x7xf32>, %grid: tensor<1x4x6x2xf32>) -> tensor<2x3x4x6xf32> {
  // expected-note @below {{batch sizes 2 and 1 of X and grid differ}}
  %y = onnx.GridSample(%x, %grid) : (tensor<2x3x5x7xf32>, tensor<1x4x6x2xf32>)
      -> tensor<2x3x4x6xf32>
  return %y : tensor<2x3x4x6xf32>
}

// -----

// expected-error @below {{unsupported: 1 node cannot be compiled}}
func.func @empty(%x: tensor<2x3x0x7xf32>, %grid: tensor<2x4x6x2xf32>) -> tensor<2x3x4x6xf32> {
  // expected-note @below {{the input has a size of 0; it must be 1 or more}}
  %y = onnx.GridSample(%x, %grid) : (tensor<2x3x0x7xf32>, tensor<2x4x6x2xf32>)
      -> tensor<2x3x4x6xf32>
  return %y : tensor<2x3x4x6xf32>
}
