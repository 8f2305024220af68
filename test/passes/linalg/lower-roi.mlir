// RUN: cameo-opt %s --split-input-file --verify-diagnostics --cameo-lower-onnx-to-dispatches | FileCheck %s

// A fixed number of samples: loops with known ends, four reads a sample.
// CHECK-LABEL: func @fixed
// CHECK: %[[TWO:.*]] = arith.constant 2 : index
// CHECK: scf.for %{{.*}} to %[[TWO]]
// CHECK: scf.for %{{.*}} to %[[TWO]]
// CHECK-COUNT-4: tensor.extract
// CHECK-NOT: tensor.extract
// CHECK: arith.divf
func.func @fixed(%x: tensor<2x3x8x9xf32>, %rois: tensor<5x4xf32>, %images: tensor<5xi64>)
    -> tensor<5x3x3x2xf32> {
  %y = onnx.RoiAlign(%x, %rois, %images)
      {output_height = 3 : i64, output_width = 2 : i64, sampling_ratio = 2 : i64}
      : (tensor<2x3x8x9xf32>, tensor<5x4xf32>, tensor<5xi64>) -> tensor<5x3x3x2xf32>
  return %y : tensor<5x3x3x2xf32>
}

// By the region's size: loops over the samples that may be inside. The greatest element times its
// weight; 0 where a sample is outside or there is none.
// CHECK-LABEL: func @adaptive
// CHECK-COUNT-2: math.ceil
// CHECK-COUNT-2: scf.for
// CHECK-COUNT-4: tensor.extract
// CHECK: arith.select
func.func @adaptive(%x: tensor<?x3x?x9xf16>, %rois: tensor<?x4xf16>, %images: tensor<?xi64>)
    -> tensor<?x3x1x1xf16> {
  %y = onnx.RoiAlign(%x, %rois, %images) {mode = "max"}
      : (tensor<?x3x?x9xf16>, tensor<?x4xf16>, tensor<?xi64>) -> tensor<?x3x1x1xf16>
  return %y : tensor<?x3x1x1xf16>
}

// CHECK-LABEL: func @greatest
// CHECK: scf.for
// CHECK: scf.for
// CHECK: tensor.extract
// CHECK: arith.maximumf
func.func @greatest(%x: tensor<2x3x8x9xf32>, %rois: tensor<5x5xf32>) -> tensor<5x3x3x2xf32> {
  %y = onnx.MaxRoiPool(%x, %rois) {pooled_shape = array<i64: 3, 2>, spatial_scale = 0.5 : f32}
      : (tensor<2x3x8x9xf32>, tensor<5x5xf32>) -> tensor<5x3x3x2xf32>
  return %y : tensor<5x3x3x2xf32>
}

// -----

// expected-error @below {{unsupported: 1 node cannot be compiled}}
func.func @ranks(%x: tensor<2x3x8xf32>, %rois: tensor<5x4xf32>, %images: tensor<5xi64>)
    -> tensor<5x3x1x1xf32> {
  // expected-note @below {{X of rank 3, rois of rank 2; they must have 4 and 2}}
  %y = onnx.RoiAlign(%x, %rois, %images)
      : (tensor<2x3x8xf32>, tensor<5x4xf32>, tensor<5xi64>) -> tensor<5x3x1x1xf32>
  return %y : tensor<5x3x1x1xf32>
}

// -----

// expected-error @below {{unsupported: 1 node cannot be compiled}}
func.func @numbers(%x: tensor<2x3x8x9xf32>, %rois: tensor<5x5xf32>, %images: tensor<5xi64>)
    -> tensor<5x3x1x1xf32> {
  // expected-note @below {{rois holds 5 numbers a region; it needs 4}}
  %y = onnx.RoiAlign(%x, %rois, %images)
      : (tensor<2x3x8x9xf32>, tensor<5x5xf32>, tensor<5xi64>) -> tensor<5x3x1x1xf32>
  return %y : tensor<5x3x1x1xf32>
}

// -----

// expected-error @below {{unsupported: 1 node cannot be compiled}}
func.func @empty(%x: tensor<2x3x0x9xf32>, %rois: tensor<5x4xf32>, %images: tensor<5xi64>)
    -> tensor<5x3x1x1xf32> {
  // expected-note @below {{the input has a size of 0; it must be 1 or more}}
  %y = onnx.RoiAlign(%x, %rois, %images)
      : (tensor<2x3x0x9xf32>, tensor<5x4xf32>, tensor<5xi64>) -> tensor<5x3x1x1xf32>
  return %y : tensor<5x3x1x1xf32>
}

// -----

// expected-error @below {{unsupported: 1 node cannot be compiled}}
func.func @images(%x: tensor<2x3x8x9xf32>, %rois: tensor<5x4xf32>, %images: tensor<5x1xi64>)
    -> tensor<5x3x1x1xf32> {
  // expected-note @below {{batch_indices has rank 2; it must have 1}}
  %y = onnx.RoiAlign(%x, %rois, %images)
      : (tensor<2x3x8x9xf32>, tensor<5x4xf32>, tensor<5x1xi64>) -> tensor<5x3x1x1xf32>
  return %y : tensor<5x3x1x1xf32>
}

// -----

// expected-error @below {{unsupported: 1 node cannot be compiled}}
func.func @count(%x: tensor<2x3x8x9xf32>, %rois: tensor<5x4xf32>, %images: tensor<4xi64>)
    -> tensor<5x3x1x1xf32> {
  // expected-note @below {{batch_indices holds 4 numbers for 5 regions}}
  %y = onnx.RoiAlign(%x, %rois, %images)
      : (tensor<2x3x8x9xf32>, tensor<5x4xf32>, tensor<4xi64>) -> tensor<5x3x1x1xf32>
  return %y : tensor<5x3x1x1xf32>
}

// -----

// expected-error @below {{unsupported: 2 nodes cannot be compiled}}
func.func @outside(%x: tensor<2x3x8x9xf32>, %rois: tensor<2x4xf32>)
    -> (tensor<2x3x1x1xf32>, tensor<2x3x1x1xf32>) {
  %above = onnx.Constant() {value = dense<[0, 2]> : tensor<2xi64>} : () -> tensor<2xi64>
  %below = onnx.Constant() {value = dense<[-1, 1]> : tensor<2xi64>} : () -> tensor<2xi64>
  // expected-note @below {{batch_indices has image 2 of 2}}
  %y = onnx.RoiAlign(%x, %rois, %above)
      : (tensor<2x3x8x9xf32>, tensor<2x4xf32>, tensor<2xi64>) -> tensor<2x3x1x1xf32>
  // expected-note @below {{batch_indices has image -1 of 2}}
  %z = onnx.RoiAlign(%x, %rois, %below)
      : (tensor<2x3x8x9xf32>, tensor<2x4xf32>, tensor<2xi64>) -> tensor<2x3x1x1xf32>
  return %y, %z : tensor<2x3x1x1xf32>, tensor<2x3x1x1xf32>
}

// -----

// expected-error @below {{unsupported: 1 node cannot be compiled}}
func.func @pooled(%x: tensor<2x3x8x9xf32>, %rois: tensor<5x5xf32>) -> tensor<5x3x3x2xf32> {
  // expected-note @below {{pooled_shape holds 1 numbers; it must hold 2}}
  %y = onnx.MaxRoiPool(%x, %rois) {pooled_shape = array<i64: 3>}
      : (tensor<2x3x8x9xf32>, tensor<5x5xf32>) -> tensor<5x3x3x2xf32>
  return %y : tensor<5x3x3x2xf32>
}
