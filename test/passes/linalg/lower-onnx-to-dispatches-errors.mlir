// RUN: %cameo-opt --split-input-file --verify-diagnostics --cameo-lower-onnx-to-dispatches %s

rt.variant @sm_80 target "sm_80" {
  func.func @main(%x: tensor<4xf32>) -> tensor<4xf32> {
    // expected-error @+1 {{'onnx.Relu' is in a variant; operators are lowered before variants are created}}
    %0 = onnx.Relu(%x) : (tensor<4xf32>) -> tensor<4xf32>
    return %0 : tensor<4xf32>
  }
}
