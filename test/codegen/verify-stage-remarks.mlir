// RUN: cameo-opt --split-input-file --verify-diagnostics --pass-pipeline='builtin.module(cameo-verify-stage{stage=normalized},cameo-report-decisions)' %s | FileCheck %s
// RUN: cameo-opt --split-input-file --pass-pipeline='builtin.module(cameo-verify-stage{stage=normalized})' %s > %t
// RUN: cameo-opt --split-input-file --pass-pipeline='builtin.module(cameo-verify-stage{stage=normalized},cameo-verify-stage{stage=normalized})' %s | diff %t -

// A broken promise of quality costs nobody the model: it is a decision that is missed.
// CHECK-LABEL: func @identity
// CHECK: onnx.Identity
func.func @identity(%x: tensor<2xf32>) -> tensor<2xf32> {
  // expected-remark @+1 {{not as stage normalized promises: it computes nothing; what uses it can use its operand}}
  %0 = onnx.Identity(%x) : (tensor<2xf32>) -> tensor<2xf32>
  // expected-remark @+1 {{not as stage normalized promises: it computes nothing}}
  %1 = onnx.Identity(%0) : (tensor<2xf32>) -> tensor<2xf32>
  return %1 : tensor<2xf32>
}

// -----

func.func @unranked(%x: tensor<2xf32>) -> tensor<*xf32> {
  // expected-remark @+1 {{not as stage normalized promises: it has no rank, although its shape can be inferred}}
  %0 = onnx.Relu(%x) : (tensor<2xf32>) -> tensor<*xf32>
  return %0 : tensor<*xf32>
}
