// RUN: %cameo-opt --split-input-file --verify-diagnostics --pass-pipeline='builtin.module(cameo-verify-stage{stage=scheduled})' %s

// expected-error @+1 {{a model at stage scheduled has a variant for each architecture; there is none}}
module {
}

// -----

// expected-error @+1 {{'rt.variant' at stage scheduled: it has no entry function}}
rt.variant @empty target "sm_80" {
}

// -----

// expected-error @+1 {{'func.func' at stage scheduled: functions stand in variants}}
func.func @main() {
  return
}
rt.variant @v target "sm_80" {
  func.func @main() {
    return
  }
}

// -----

rt.variant @v target "sm_80" {
  func.func @main(%x: tensor<4xf32>) -> tensor<4xf32> {
    // expected-error @+1 {{'kernel.dispatch' at stage scheduled: it has no schedule}}
    %y = kernel.dispatch outs(%x : tensor<4xf32>) {
    ^bb0(%o: tensor<4xf32>):
      kernel.yield %o : tensor<4xf32>
    } -> tensor<4xf32>
    return %y : tensor<4xf32>
  }
}

// -----

rt.variant @v target "sm_80" {
  func.func @main(%x: tensor<4xf32>) -> tensor<4xf32> {
    %c = arith.constant 0.0 : f32
    // expected-error @+1 {{'linalg.fill' at stage scheduled: compute ops stand in dispatches}}
    %y = linalg.fill ins(%c : f32) outs(%x : tensor<4xf32>) -> tensor<4xf32>
    return %y : tensor<4xf32>
  }
}

// -----

rt.variant @v target "sm_80" {
  func.func @main(%x: tensor<4xf32>) -> tensor<4xf32> {
    // expected-error @+1 {{'onnx.Relu' at stage scheduled: operators have become dispatches by now}}
    %y = "onnx.Relu"(%x) : (tensor<4xf32>) -> tensor<4xf32>
    return %y : tensor<4xf32>
  }
}

// -----

rt.variant @v target "sm_80" {
  func.func @main(%x: tensor<4xf32>) -> tensor<8xf32> {
    // expected-error @+1 {{'rt.concat' at stage scheduled: concatenations have become storages by now}}
    %y = rt.concat %x, %x dim 0 : tensor<4xf32>, tensor<4xf32> -> tensor<8xf32>
    return %y : tensor<8xf32>
  }
}
