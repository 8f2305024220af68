// RUN: %cameo-opt --split-input-file --verify-diagnostics --cameo-create-variants %s

func.func @main(%x: tensor<4xf32>) -> tensor<4xf32> {
  // expected-error @+1 {{'onnx.Relu' is not a dispatch yet; operators are lowered before variants are created}}
  %0 = onnx.Relu(%x) : (tensor<4xf32>) -> tensor<4xf32>
  return %0 : tensor<4xf32>
}
