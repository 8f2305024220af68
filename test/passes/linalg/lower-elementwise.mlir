// RUN: cameo-opt %s --split-input-file --verify-diagnostics --cameo-lower-onnx-to-dispatches | FileCheck %s

// A constant of one element is written into the body.
// CHECK-LABEL: func @add_constant
// CHECK-NOT: rt.get_constant
// CHECK: kernel.dispatch ins(%{{.*}} : tensor<2x3xf32>)
// CHECK: linalg.generic
// CHECK: %[[TWO:.*]] = arith.constant 2.0{{.*}} : f32
// CHECK: %[[SUM:.*]] = arith.addf %{{.*}}, %[[TWO]] : f32
// CHECK: linalg.yield %[[SUM]]
func.func @add_constant(%x: tensor<2x3xf32>) -> tensor<2x3xf32> {
  %two = onnx.Constant() {value = dense<2.0> : tensor<f32>} : () -> tensor<f32>
  %y = onnx.Add(%x, %two) : (tensor<2x3xf32>, tensor<f32>) -> tensor<2x3xf32>
  return %y : tensor<2x3xf32>
}

// -----

// Each step is rounded, as ONNX Runtime does it.
// CHECK-LABEL: func @hard
// CHECK-NOT: math.fma
// CHECK: %[[M:.*]] = arith.mulf
// CHECK: arith.addf %[[M]],
// CHECK-NOT: math.fma
// CHECK: %[[N:.*]] = arith.mulf
// CHECK: arith.addf %[[N]],
// CHECK-NOT: math.fma
func.func @hard(%x: tensor<8xf32>) -> (tensor<8xf32>, tensor<8xf32>) {
  %y = onnx.HardSigmoid(%x) : (tensor<8xf32>) -> tensor<8xf32>
  %z = onnx.HardSwish(%x) : (tensor<8xf32>) -> tensor<8xf32>
  return %y, %z : tensor<8xf32>, tensor<8xf32>
}

// -----

// Broadcasting is in the indexing maps.
// CHECK-DAG: #[[ROW:.*]] = affine_map<(d0, d1) -> (d1)>
// CHECK-DAG: #[[COLUMN:.*]] = affine_map<(d0, d1) -> (d0, 0)>
// CHECK-LABEL: func @broadcast
// CHECK: indexing_maps = [#[[COLUMN]], #[[ROW]],
// CHECK: arith.divui
// CHECK-NOT: arith.divsi
func.func @broadcast(%x: tensor<4x1xui8>, %y: tensor<5xui8>) -> tensor<4x5xui8> {
  %z = onnx.Div(%x, %y) : (tensor<4x1xui8>, tensor<5xui8>) -> tensor<4x5xui8>
  return %z : tensor<4x5xui8>
}

// -----

// 16-bit floats are computed in f32.
// CHECK-LABEL: func @half
// CHECK: %[[WIDE:.*]] = arith.extf %{{.*}} : f16 to f32
// CHECK: %[[TANH:.*]] = math.tanh %[[WIDE]] : f32
// CHECK: arith.truncf %[[TANH]] : f32 to f16
func.func @half(%x: tensor<7xf16>) -> tensor<7xf16> {
  %y = onnx.Tanh(%x) : (tensor<7xf16>) -> tensor<7xf16>
  return %y : tensor<7xf16>
}

// -----

// Comparisons know the sign.
// CHECK-LABEL: func @compare
// CHECK: arith.cmpi ult
// CHECK: arith.cmpi slt
func.func @compare(%x: tensor<3xui16>, %y: tensor<3xi16>) -> (tensor<3xi1>, tensor<3xi1>) {
  %a = onnx.Less(%x, %x) : (tensor<3xui16>, tensor<3xui16>) -> tensor<3xi1>
  %b = onnx.Less(%y, %y) : (tensor<3xi16>, tensor<3xi16>) -> tensor<3xi1>
  return %a, %b : tensor<3xi1>, tensor<3xi1>
}

// -----

// A shift by the width or more gives zero.
// CHECK-LABEL: func @shift
// CHECK: %[[INSIDE:.*]] = arith.cmpi ult, %[[AMOUNT:.*]], %{{.*}} : i8
// CHECK: %[[SAFE:.*]] = arith.select %[[INSIDE]], %[[AMOUNT]]
// CHECK: %[[SHIFTED:.*]] = arith.shrui %{{.*}}, %[[SAFE]]
// CHECK: arith.select %[[INSIDE]], %[[SHIFTED]]
func.func @shift(%x: tensor<3xui8>, %y: tensor<3xui8>) -> tensor<3xui8> {
  %z = onnx.BitShift(%x, %y) {direction = "RIGHT"}
      : (tensor<3xui8>, tensor<3xui8>) -> tensor<3xui8>
  return %z : tensor<3xui8>
}

// -----

// Between signed and unsigned the bits stay: no work.
// CHECK-LABEL: func @resign
// CHECK-NEXT: return %arg0
func.func @resign(%x: tensor<3xi32>) -> tensor<3xui32> {
  %y = onnx.Cast(%x) {to = 12 : i64} : (tensor<3xi32>) -> tensor<3xui32>
  return %y : tensor<3xui32>
}

// -----

// Conversions saturate; arith.fptosi never sees what does not fit.
// CHECK-LABEL: func @cast
// CHECK: %[[SAFE:.*]] = arith.select %{{.*}}, %[[X:.*]], %{{.*}} : f32
// CHECK: arith.fptosi %[[SAFE]] : f32 to i32
// CHECK-COUNT-2: arith.select
// CHECK: linalg.yield
func.func @cast(%x: tensor<3xf32>) -> tensor<3xi32> {
  %y = onnx.Cast(%x) {to = 6 : i64} : (tensor<3xf32>) -> tensor<3xi32>
  return %y : tensor<3xi32>
}

// -----

// CHECK-LABEL: func @clip_one_side
// CHECK: arith.minsi
// CHECK-NOT: arith.maxsi
func.func @clip_one_side(%x: tensor<3xi32>, %high: tensor<i32>) -> tensor<3xi32> {
  %none = onnx.None() : () -> none
  %y = onnx.Clip(%x, %none, %high) : (tensor<3xi32>, none, tensor<i32>) -> tensor<3xi32>
  return %y : tensor<3xi32>
}

// -----

// In inference the mask alone is computed.
// CHECK-LABEL: func @dropout
// CHECK: %[[MASK:.*]] = kernel.dispatch
// CHECK: return %arg0, %[[MASK]]
func.func @dropout(%x: tensor<3xf32>) -> (tensor<3xf32>, tensor<3xi1>) {
  %none = onnx.None() : () -> none
  %y, %mask = onnx.Dropout(%x, %none, %none)
      : (tensor<3xf32>, none, none) -> (tensor<3xf32>, tensor<3xi1>)
  return %y, %mask : tensor<3xf32>, tensor<3xi1>
}

// -----

// expected-error @below {{unsupported: 1 node cannot be compiled}}
func.func @float_mod(%x: tensor<3xf32>) -> tensor<3xf32> {
  // expected-note @below {{(Mod): fmod = 0 on float[3]; nearest supported: fmod = 1, which takes the dividend's sign}}
  %y = onnx.Mod(%x, %x) : (tensor<3xf32>, tensor<3xf32>) -> tensor<3xf32>
  return %y : tensor<3xf32>
}

// -----

// expected-error @below {{unsupported: 1 node cannot be compiled}}
func.func @clip_bounds(%x: tensor<2x3xf32>, %low: tensor<3xf32>) -> tensor<2x3xf32> {
  %none = onnx.None() : () -> none
  // expected-note @below {{(Clip): input 'min' is float[3]; it must hold one number; nearest supported: Max and Min, which broadcast}}
  %y = onnx.Clip(%x, %low, %none)
      : (tensor<2x3xf32>, tensor<3xf32>, none) -> tensor<2x3xf32>
  return %y : tensor<2x3xf32>
}

// -----

// expected-error @below {{unsupported: 1 node cannot be compiled}}
func.func @training(%x: tensor<3xf32>, %mode: tensor<i1>) -> tensor<3xf32> {
  %none = onnx.None() : () -> none
  // expected-note @below {{(Dropout): training mode: training_mode is not a constant false; nearest supported: inference}}
  %y, %mask = onnx.Dropout(%x, %none, %mode)
      : (tensor<3xf32>, none, tensor<i1>) -> (tensor<3xf32>, none)
  return %y : tensor<3xf32>
}

// -----

// Equal elements are a number, whatever their shape.
// CHECK-LABEL: func @splats
// CHECK: kernel.dispatch ins(%{{.*}} : tensor<2x3xf32>)
// CHECK: linalg.generic
// CHECK-SAME: ins(%{{.*}} : tensor<2x3xf32>)
// CHECK-DAG: arith.constant 2.0{{.*}} : f32
// CHECK-DAG: arith.constant 3.0{{.*}} : f32
// CHECK: return
func.func @splats(%x: tensor<2x3xf32>) -> tensor<2x3xf32> {
  %two = onnx.Constant() {value = dense<2.0> : tensor<2x3xf32>} : () -> tensor<2x3xf32>
  %three = onnx.Constant() {value = dense<3.0> : tensor<3xf32>} : () -> tensor<3xf32>
  %y = onnx.Sum(%x, %two, %three) : (tensor<2x3xf32>, tensor<2x3xf32>, tensor<3xf32>) -> tensor<2x3xf32>
  return %y : tensor<2x3xf32>
}

// -----

// A product has both operands in memory. Of a large one (32 MiB) that is one element, which is read as all of
// them. What the function returns is written by a kernel.
// CHECK-DAG: rt.constant @[[W:.*]] = dense<2.0{{.*}}> : tensor<64x8xf32>
// CHECK-DAG: rt.constant @[[ONE:.*]] = dense<3.0{{.*}}> : tensor<f32>
// CHECK-LABEL: func @splatsInMemory
// CHECK: %[[GET:.*]] = rt.get_constant @[[W]]
// CHECK: kernel.dispatch ins(%{{.*}}, %[[GET]] : tensor<4x64xf32>, tensor<64x8xf32>)
// CHECK: %[[ELEMENT:.*]] = rt.get_constant @[[ONE]] : tensor<f32>
// CHECK: kernel.dispatch ins(%{{.*}}, %[[ELEMENT]] : tensor<4x64xf32>, tensor<f32>)
// CHECK: %[[ALL:.*]] = linalg.generic {{.*}} ins(%{{.*}} : tensor<f32>) outs(%{{.*}} : tensor<64x131072xf32>)
// CHECK: linalg.generic {{.*}} ins(%{{.*}}, %[[ALL]] : tensor<4x64xf32>, tensor<64x131072xf32>)
// CHECK: %[[SHOWN:.*]] = kernel.dispatch outs(%{{.*}} : tensor<512xf32>)
// CHECK: return %{{.*}}, %{{.*}}, %[[SHOWN]]
func.func @splatsInMemory(%x: tensor<4x64xf32>) -> (tensor<4x8xf32>, tensor<4x131072xf32>, tensor<512xf32>) {
  %w = onnx.Constant() {value = dense<2.0> : tensor<64x8xf32>} : () -> tensor<64x8xf32>
  %v = onnx.Constant() {value = dense<3.0> : tensor<64x131072xf32>} : () -> tensor<64x131072xf32>
  %o = onnx.Constant() {value = dense<4.0> : tensor<512xf32>} : () -> tensor<512xf32>
  %0 = onnx.MatMul(%x, %w) : (tensor<4x64xf32>, tensor<64x8xf32>) -> tensor<4x8xf32>
  %1 = onnx.MatMul(%x, %v) : (tensor<4x64xf32>, tensor<64x131072xf32>) -> tensor<4x131072xf32>
  return %0, %1, %o : tensor<4x8xf32>, tensor<4x131072xf32>, tensor<512xf32>
}
