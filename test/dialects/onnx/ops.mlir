// The one assembly format of the onnx ops, read, printed and read again.
// SPDX-License-Identifier: Apache-2.0
// RUN: cameo-opt %s | cameo-opt | FileCheck %s

// CHECK-LABEL: func.func @AbsentOptionalInput
func.func @AbsentOptionalInput(%x: tensor<?x4xf32>, %low: tensor<f32>) -> tensor<?x4xf32> {
  // CHECK: %[[NONE:.*]] = onnx.None() : () -> none
  %none = onnx.None() : () -> none
  // CHECK: onnx.Clip(%{{.*}}, %{{.*}}, %[[NONE]]) : (tensor<?x4xf32>, tensor<f32>, none) -> tensor<?x4xf32>
  %y = onnx.Clip(%x, %low, %none) : (tensor<?x4xf32>, tensor<f32>, none) -> tensor<?x4xf32>
  return %y : tensor<?x4xf32>
}

// CHECK-LABEL: func.func @AbsentOptionalOutput
func.func @AbsentOptionalOutput(%x: tensor<4x8xf32>) -> tensor<4x8xf32> {
  %none = onnx.None() : () -> none
  // CHECK: onnx.Dropout({{.*}}) : (tensor<4x8xf32>, none, none) -> (tensor<4x8xf32>, none)
  %y:2 = onnx.Dropout(%x, %none, %none) : (tensor<4x8xf32>, none, none) -> (tensor<4x8xf32>, none)
  return %y#0 : tensor<4x8xf32>
}

// CHECK-LABEL: func.func @Attributes
func.func @Attributes(%x: tensor<1x1x8x8xf32>, %w: tensor<1x1x3x3xf32>) -> tensor<*xf32> {
  %none = onnx.None() : () -> none
  // CHECK: onnx.Conv({{.*}}) {auto_pad = "SAME_UPPER", group = 1 : i64, strides = array<i64: 2, 2>}
  %y = onnx.Conv(%x, %w, %none) {auto_pad = "SAME_UPPER", group = 1 : i64, strides = array<i64: 2, 2>}
    : (tensor<1x1x8x8xf32>, tensor<1x1x3x3xf32>, none) -> tensor<*xf32>
  return %y : tensor<*xf32>
}

// CHECK-LABEL: func.func @Regions
func.func @Regions(%c: tensor<i1>, %x: tensor<4xf32>) -> tensor<4xf32> {
  // CHECK: onnx.If(%{{.*}}) ({
  // CHECK:   onnx.Yield(%{{.*}}) : (tensor<4xf32>) -> ()
  // CHECK: }, {
  // CHECK: }) : (tensor<i1>) -> tensor<4xf32>
  %y = onnx.If(%c) ({
    onnx.Yield(%x) : (tensor<4xf32>) -> ()
  }, {
    %d = onnx.Relu(%x) : (tensor<4xf32>) -> tensor<4xf32>
    onnx.Yield(%d) : (tensor<4xf32>) -> ()
  }) : (tensor<i1>) -> tensor<4xf32>
  return %y : tensor<4xf32>
}

// CHECK-LABEL: func.func @Types
// CHECK-SAME: tensor<2x!onnx.string>, %{{.*}}: !onnx.seq<tensor<?xf16>>, %{{.*}}: !onnx.opt<tensor<*xi64>>
// CHECK-SAME: tensor<3x!onnx.f4E2M1>, %{{.*}}: tensor<3x!onnx.f8E8M0>, %{{.*}}: !onnx.map<i64, tensor<*xf32>>
func.func @Types(%a: tensor<2x!onnx.string>, %b: !onnx.seq<tensor<?xf16>>, %c: !onnx.opt<tensor<*xi64>>,
                 %d: tensor<3x!onnx.f4E2M1>, %e: tensor<3x!onnx.f8E8M0>, %f: !onnx.map<i64, tensor<*xf32>>) {
  return
}

// CHECK-LABEL: func.func @Strings
func.func @Strings() -> tensor<2x!onnx.string> {
  // CHECK: onnx.Constant() {value = dense<["a", "b"]> : tensor<2x!onnx.string>}
  %s = onnx.Constant() {value = dense<["a", "b"]> : tensor<2x!onnx.string>} : () -> tensor<2x!onnx.string>
  return %s : tensor<2x!onnx.string>
}

// CHECK-LABEL: func.func @Custom
func.func @Custom(%x: tensor<4xf32>) -> !onnx.any {
  // CHECK: onnx.Custom(%{{.*}}) {domain = "com.acme", onnx_attributes = {alpha = 1.000000e+00 : f32}, op_type = "Twist", version = 3 : i64} : (tensor<4xf32>) -> !onnx.any
  %y = onnx.Custom(%x) {domain = "com.acme", onnx_attributes = {alpha = 1.0 : f32}, op_type = "Twist", version = 3 : i64}
    : (tensor<4xf32>) -> !onnx.any
  return %y : !onnx.any
}
