// What ONNX cannot say.
// SPDX-License-Identifier: Apache-2.0
// RUN: cameo-translate --export-onnx %s -o /dev/null --split-input-file --verify-diagnostics

// expected-error @+1 {{has 0 functions; ONNX needs one, with one block}}
module {
}

// -----

func.func @Foreign(%x: tensor<4xf32>) -> tensor<4xf32> {
  // expected-error @+1 {{cannot be written as ONNX}}
  %y = func.call @Foreign(%x) : (tensor<4xf32>) -> tensor<4xf32>
  return %y : tensor<4xf32>
}

// -----

// expected-error @+1 {{has an argument of type 'index', which ONNX cannot hold}}
func.func @Argument(%x: index) -> index {
  return %x : index
}
