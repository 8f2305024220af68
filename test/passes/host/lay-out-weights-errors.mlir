// RUN: %cameo-opt --split-input-file --verify-diagnostics --cameo-lay-out-weights %s

// expected-error @+1 {{cannot be a weight: elements of type '!onnx.string'}}
rt.constant @text = dense<"a"> : tensor<1x!onnx.string>
rt.variant @v target "sm_80" {
  func.func @main() {
    %0 = rt.get_constant @text : tensor<1x!onnx.string>
    return
  }
}

// -----

// expected-error @+1 {{constant @w of type 'tensor<4xf32>': its data are missing}}
rt.constant @w = dense_resource<nowhere> : tensor<4xf32>
rt.variant @v target "sm_80" {
  func.func @main() {
    %0 = rt.get_constant @w : tensor<4xf32>
    return
  }
}
