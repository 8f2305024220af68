// RUN: cameo-opt --split-input-file --verify-diagnostics --pass-pipeline='builtin.module(cameo-verify-stage{stage=precision strict=true})' %s

// Without the attribute a model has the types that it was imported with.
func.func @imported(%x: tensor<2x2xf32>) -> tensor<2x2xf32> {
  %0 = onnx.MatMul(%x, %x) : (tensor<2x2xf32>, tensor<2x2xf32>) -> tensor<2x2xf32>
  return %0 : tensor<2x2xf32>
}

// -----

// A product may say why it is of another type.
func.func @kept(%x: tensor<2x2xf32>) -> tensor<2x2xf32> attributes {onnx.precision = "fp16"} {
  %0 = onnx.MatMul(%x, %x) {onnx.kept_precision = "asked for"} : (tensor<2x2xf32>, tensor<2x2xf32>) -> tensor<2x2xf32>
  return %0 : tensor<2x2xf32>
}

// -----

func.func @product(%x: tensor<2x2xf32>) -> tensor<2x2xf32> attributes {onnx.precision = "fp16"} {
  // expected-error @+1 {{'onnx.MatMul' at stage precision: it computes in FP32 and not in FP16, and nothing says why}}
  %0 = onnx.MatMul(%x, %x) : (tensor<2x2xf32>, tensor<2x2xf32>) -> tensor<2x2xf32>
  return %0 : tensor<2x2xf32>
}

// -----

func.func @weights(%x: tensor<2xf16>) -> tensor<2xf16> attributes {onnx.precision = "fp16"} {
  %c = onnx.Constant() {value = dense<1.0> : tensor<2xf32>} : () -> tensor<2xf32>
  // expected-error @+1 {{'onnx.Cast' at stage precision: constants have their final type}}
  %0 = onnx.Cast(%c) {to = 10 : i64} : (tensor<2xf32>) -> tensor<2xf16>
  %1 = onnx.Add(%x, %0) : (tensor<2xf16>, tensor<2xf16>) -> tensor<2xf16>
  return %1 : tensor<2xf16>
}

// -----

func.func @undone(%x: tensor<2xf16>) -> tensor<2xf16> attributes {onnx.precision = "fp16"} {
  %0 = onnx.Cast(%x) {to = 1 : i64} : (tensor<2xf16>) -> tensor<2xf32>
  // expected-error @+1 {{'onnx.Cast' at stage precision: it undoes the cast before it}}
  %1 = onnx.Cast(%0) {to = 10 : i64} : (tensor<2xf32>) -> tensor<2xf16>
  return %1 : tensor<2xf16>
}

// -----

// The model rounds its numbers by a cast and the one back.
func.func @rounded(%x: tensor<2xf32>) -> tensor<2xf32> attributes {onnx.precision = "tf32"} {
  %0 = onnx.Cast(%x) {to = 10 : i64} : (tensor<2xf32>) -> tensor<2xf16>
  %1 = onnx.Cast(%0) {to = 1 : i64} : (tensor<2xf16>) -> tensor<2xf32>
  return %1 : tensor<2xf32>
}

// -----

// ... or cuts integers beyond those that FP32 has.
func.func @cut(%x: tensor<2xi64>) -> tensor<2xi64> attributes {onnx.precision = "fp16"} {
  %0 = onnx.Cast(%x) {to = 1 : i64} : (tensor<2xi64>) -> tensor<2xf32>
  %1 = onnx.Cast(%0) {to = 7 : i64} : (tensor<2xf32>) -> tensor<2xi64>
  return %1 : tensor<2xi64>
}

// -----

// The pass has no reason to.
func.func @roundedByThePass(%x: tensor<2xf32>) -> tensor<2xf32> attributes {onnx.precision = "fp16"} {
  %0 = onnx.Cast(%x) {onnx.precision = "fp16", to = 10 : i64} : (tensor<2xf32>) -> tensor<2xf16>
  // expected-error @+1 {{'onnx.Cast' at stage precision: it undoes the cast before it}}
  %1 = onnx.Cast(%0) {onnx.precision = "fp32", to = 1 : i64} : (tensor<2xf16>) -> tensor<2xf32>
  return %1 : tensor<2xf32>
}

// -----

// expected-error @+1 {{'func.func' at stage precision: 'onnx.precision' is not a precision: "fp17"}}
func.func @unknown(%x: tensor<2xf16>) -> tensor<2xf16> attributes {onnx.precision = "fp17"} {
  return %x : tensor<2xf16>
}

// -----

func.func @foldedWeights(%x: tensor<2x2xi8>, %s: tensor<f32>, %none: none) -> tensor<2x2xf32> attributes {onnx.precision = "int8"} {
  %w = onnx.Constant() {value = dense<0.5> : tensor<2x2xf32>} : () -> tensor<2x2xf32>
  %0 = onnx.DequantizeLinear(%x, %s, %none) : (tensor<2x2xi8>, tensor<f32>, none) -> tensor<2x2xf32>
  // expected-error @+1 {{'onnx.MatMul' at stage precision: its constants stand in DequantizeLinear up to this stage}}
  %1 = onnx.MatMul(%0, %w) : (tensor<2x2xf32>, tensor<2x2xf32>) -> tensor<2x2xf32>
  return %1 : tensor<2x2xf32>
}
