// RUN: cameo-opt %s --split-input-file --verify-diagnostics --cameo-lower-onnx-to-dispatches | FileCheck %s

// The columns, then a product of them and the weights, with the bias behind the sum.
// CHECK-LABEL: func @plain
// CHECK: tensor.empty() : tensor<2x36x4x5xf16>
// CHECK: kernel.dispatch
// CHECK-COUNT-4: tensor.extract {{.*}} : tensor<2x4x6x7xf16>
// CHECK: kernel.dispatch
// CHECK: iterator_types = ["parallel", "parallel", "parallel", "parallel", "reduction", "reduction", "reduction"]
// CHECK: math.fma {{.*}} : f32
// CHECK-NOT: kernel.dispatch
func.func @plain(%x: tensor<2x4x6x7xf16>, %w: tensor<6x4x3x3xf16>, %offset: tensor<2x18x4x5xf16>,
                 %bias: tensor<6xf16>, %mask: tensor<2x9x4x5xf16>) -> tensor<2x6x4x5xf16> {
  %y = onnx.DeformConv(%x, %w, %offset, %bias, %mask)
      : (tensor<2x4x6x7xf16>, tensor<6x4x3x3xf16>, tensor<2x18x4x5xf16>, tensor<6xf16>,
         tensor<2x9x4x5xf16>) -> tensor<2x6x4x5xf16>
  return %y : tensor<2x6x4x5xf16>
}

// Channels of a group lie together in the columns, as Conv reads them.
// CHECK-LABEL: func @groups
// CHECK: rt.reshape {{.*}} -> tensor<2x2x18x4x5xf32>
func.func @groups(%x: tensor<2x4x6x7xf32>, %w: tensor<6x2x3x3xf32>, %offset: tensor<2x36x4x5xf32>)
    -> tensor<2x6x4x5xf32> {
  %none = onnx.None() : () -> none
  %y = onnx.DeformConv(%x, %w, %offset, %none, %none) {group = 2 : i64, offset_group = 2 : i64}
      : (tensor<2x4x6x7xf32>, tensor<6x2x3x3xf32>, tensor<2x36x4x5xf32>, none, none)
      -> tensor<2x6x4x5xf32>
  return %y : tensor<2x6x4x5xf32>
}

// -----

// expected-error @below {{unsupported: 1 node cannot be compiled}}
func.func @ranks(%x: tensor<2x4x6x7xf32>, %w: tensor<6x4x3xf32>, %offset: tensor<2x18x4x5xf32>)
    -> tensor<2x6x4x5xf32> {
  %none = onnx.None() : () -> none
  // expected-note @below {{X of rank 4, W of rank 3; both need one rank of 3 or more}}
  %y = onnx.DeformConv(%x, %w, %offset, %none, %none)
      : (tensor<2x4x6x7xf32>, tensor<6x4x3xf32>, tensor<2x18x4x5xf32>, none, none)
      -> tensor<2x6x4x5xf32>
  return %y : tensor<2x6x4x5xf32>
}

// -----

// expected-error @below {{unsupported: 1 node cannot be compiled}}
func.func @offset_groups(%x: tensor<2x4x6x7xf32>, %w: tensor<6x4x3x3xf32>,
                         %offset: tensor<2x54x4x5xf32>) -> tensor<2x6x4x5xf32> {
  %none = onnx.None() : () -> none
  // expected-note @below {{4 channels are not a multiple of offset_group 3}}
  %y = onnx.DeformConv(%x, %w, %offset, %none, %none) {offset_group = 3 : i64}
      : (tensor<2x4x6x7xf32>, tensor<6x4x3x3xf32>, tensor<2x54x4x5xf32>, none, none)
      -> tensor<2x6x4x5xf32>
  return %y : tensor<2x6x4x5xf32>
}

// -----

// expected-error @below {{unsupported: 1 node cannot be compiled}}
func.func @offset_rank(%x: tensor<2x4x6x7xf32>, %w: tensor<6x4x3x3xf32>,
                       %offset: tensor<2x18x4xf32>) -> tensor<2x6x4x5xf32> {
  %none = onnx.None() : () -> none
  // expected-note @below {{the offset has rank 3, X rank 4; both need one rank}}
  %y = onnx.DeformConv(%x, %w, %offset, %none, %none)
      : (tensor<2x4x6x7xf32>, tensor<6x4x3x3xf32>, tensor<2x18x4xf32>, none, none)
      -> tensor<2x6x4x5xf32>
  return %y : tensor<2x6x4x5xf32>
}

// -----

// expected-error @below {{unsupported: 1 node cannot be compiled}}
func.func @offset_batch(%x: tensor<2x4x6x7xf32>, %w: tensor<6x4x3x3xf32>,
                        %offset: tensor<1x18x4x5xf32>) -> tensor<2x6x4x5xf32> {
  %none = onnx.None() : () -> none
  // expected-note @below {{batch sizes 1 and 2 of the offset and X differ}}
  %y = onnx.DeformConv(%x, %w, %offset, %none, %none)
      : (tensor<2x4x6x7xf32>, tensor<6x4x3x3xf32>, tensor<1x18x4x5xf32>, none, none)
      -> tensor<2x6x4x5xf32>
  return %y : tensor<2x6x4x5xf32>
}

// -----

// expected-error @below {{unsupported: 1 node cannot be compiled}}
func.func @offset_channels(%x: tensor<2x4x6x7xf32>, %w: tensor<6x4x3x3xf32>,
                           %offset: tensor<2x9x4x5xf32>) -> tensor<2x6x4x5xf32> {
  %none = onnx.None() : () -> none
  // expected-note @below {{the offset has 9 channels; kernel and offset_group need 18}}
  %y = onnx.DeformConv(%x, %w, %offset, %none, %none)
      : (tensor<2x4x6x7xf32>, tensor<6x4x3x3xf32>, tensor<2x9x4x5xf32>, none, none)
      -> tensor<2x6x4x5xf32>
  return %y : tensor<2x6x4x5xf32>
}

// -----

// expected-error @below {{unsupported: 1 node cannot be compiled}}
func.func @mask_size(%x: tensor<2x4x6x7xf32>, %w: tensor<6x4x3x3xf32>,
                     %offset: tensor<2x18x4x5xf32>, %mask: tensor<2x9x4x4xf32>)
    -> tensor<2x6x4x5xf32> {
  %none = onnx.None() : () -> none
  // expected-note @below {{the mask has a size of 4 for 5 positions of the window}}
  %y = onnx.DeformConv(%x, %w, %offset, %none, %mask)
      : (tensor<2x4x6x7xf32>, tensor<6x4x3x3xf32>, tensor<2x18x4x5xf32>, none,
         tensor<2x9x4x4xf32>) -> tensor<2x6x4x5xf32>
  return %y : tensor<2x6x4x5xf32>
}

// -----

// expected-error @below {{unsupported: 1 node cannot be compiled}}
func.func @bias(%x: tensor<2x4x6x7xf32>, %w: tensor<6x4x3x3xf32>, %offset: tensor<2x18x4x5xf32>,
                %bias: tensor<5xf32>) -> tensor<2x6x4x5xf32> {
  %none = onnx.None() : () -> none
  // expected-note @below {{the bias has 5 values for 6 filters}}
  %y = onnx.DeformConv(%x, %w, %offset, %bias, %none)
      : (tensor<2x4x6x7xf32>, tensor<6x4x3x3xf32>, tensor<2x18x4x5xf32>, tensor<5xf32>, none)
      -> tensor<2x6x4x5xf32>
  return %y : tensor<2x6x4x5xf32>
}

// -----

// expected-error @below {{unsupported: 1 node cannot be compiled}}
func.func @empty(%x: tensor<2x4x0x7xf32>, %w: tensor<6x4x1x3xf32>, %offset: tensor<2x6x2x5xf32>)
    -> tensor<2x6x2x5xf32> {
  %none = onnx.None() : () -> none
  // expected-note @below {{the input has a spatial size of 0; it must be 1 or more}}
  %y = onnx.DeformConv(%x, %w, %offset, %none, %none) {pads = array<i64: 1, 0, 1, 0>}
      : (tensor<2x4x0x7xf32>, tensor<6x4x1x3xf32>, tensor<2x6x2x5xf32>, none, none)
      -> tensor<2x6x2x5xf32>
  return %y : tensor<2x6x2x5xf32>
}
