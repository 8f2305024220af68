// RUN: cameo-opt --split-input-file --verify-diagnostics --pass-pipeline='builtin.module(cameo-verify-stage{stage=normalized strict=true})' %s

// What the passes leave is well-formed.
func.func @good(%x: tensor<2xf32>) -> tensor<2xf32> {
  %c = onnx.Constant() {value = dense<0.0> : tensor<f32>} : () -> tensor<f32>
  %0 = onnx.Add(%x, %c) : (tensor<2xf32>, tensor<f32>) -> tensor<2xf32>
  return %0 : tensor<2xf32>
}

// -----

func.func @identity(%x: tensor<2xf32>) -> tensor<2xf32> {
  // expected-error @+1 {{'onnx.Identity' at stage normalized: it computes nothing; what uses it can use its operand}}
  %0 = onnx.Identity(%x) : (tensor<2xf32>) -> tensor<2xf32>
  return %0 : tensor<2xf32>
}

// -----

func.func @foldable() -> tensor<2xf32> {
  %c = onnx.Constant() {value = dense<1.0> : tensor<2xf32>} : () -> tensor<2xf32>
  // expected-error @+1 {{'onnx.Neg' at stage normalized: its operands are constants, so its results are}}
  %0 = onnx.Neg(%c) : (tensor<2xf32>) -> tensor<2xf32>
  return %0 : tensor<2xf32>
}

// -----

// The pass says so where there were no bytes left.
func.func @keptUnfolded() -> tensor<2xf32> {
  %c = onnx.Constant() {value = dense<1.0> : tensor<2xf32>} : () -> tensor<2xf32>
  %0 = onnx.Neg(%c) {onnx.kept_unfolded} : (tensor<2xf32>) -> tensor<2xf32>
  return %0 : tensor<2xf32>
}

// -----

func.func @batchNorm(%x: tensor<1x1x2xf32>) -> tensor<1x1x2xf32> {
  %w = onnx.Constant() {value = dense<1.0> : tensor<1x1x1xf32>} : () -> tensor<1x1x1xf32>
  %one = onnx.Constant() {value = dense<1.0> : tensor<1xf32>} : () -> tensor<1xf32>
  %none = onnx.None() : () -> none
  %0 = onnx.Conv(%x, %w, %none) : (tensor<1x1x2xf32>, tensor<1x1x1xf32>, none) -> tensor<1x1x2xf32>
  // expected-error @+1 {{'onnx.BatchNormalization' at stage normalized: it can be folded into the convolution before it}}
  %1:3 = onnx.BatchNormalization(%0, %one, %one, %one, %one) : (tensor<1x1x2xf32>, tensor<1xf32>, tensor<1xf32>, tensor<1xf32>, tensor<1xf32>) -> (tensor<1x1x2xf32>, none, none)
  return %1#0 : tensor<1x1x2xf32>
}

// -----

func.func @unranked(%x: tensor<2xf32>) -> tensor<*xf32> {
  // expected-error @+1 {{'onnx.Relu' at stage normalized: it has no rank, although its shape can be inferred}}
  %0 = onnx.Relu(%x) : (tensor<2xf32>) -> tensor<*xf32>
  return %0 : tensor<*xf32>
}

// -----

// What cannot be lowered is refused by name when it comes to that.
func.func @custom(%x: tensor<4xf32>) -> tensor<*xf32> {
  %0 = onnx.Custom(%x) {domain = "d", op_type = "Op", version = 1 : i64, onnx_attributes = {}} : (tensor<4xf32>) -> tensor<*xf32>
  return %0 : tensor<*xf32>
}

// -----

func.func @notOnnx(%x: f32) -> f32 {
  // expected-error @+1 {{'arith.addf' at stage normalized: only the onnx dialect is expected}}
  %0 = arith.addf %x, %x : f32
  return %0 : f32
}
