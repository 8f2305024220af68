// An output that is an input, a constant or another output is copied under its own name.
// SPDX-License-Identifier: Apache-2.0
// RUN: cameo-translate --export-onnx %s -o %t.onnx
// RUN: %python %S/print_model.py %t.onnx | FileCheck %s

// CHECK: input x [4]
// CHECK-NEXT: y: Relu(x) -> y
// CHECK-NEXT: same: Identity(x) -> same
// CHECK-NEXT: twice: Identity(y) -> twice
// CHECK-NEXT: fixed: Identity(c) -> fixed
// CHECK-NEXT: output same [4]
// CHECK-NEXT: output y [4]
// CHECK-NEXT: output twice [4]
// CHECK-NEXT: output fixed [4]
func.func @main(%x: tensor<4xf32> {onnx.name = "x"})
    -> (tensor<4xf32> {onnx.name = "same"}, tensor<4xf32> {onnx.name = "y"},
        tensor<4xf32> {onnx.name = "twice"}, tensor<4xf32> {onnx.name = "fixed"}) {
  %c = onnx.Constant() {value = dense<1.0> : tensor<4xf32>} : () -> tensor<4xf32> loc("c")
  %y = onnx.Relu(%x) : (tensor<4xf32>) -> tensor<4xf32> loc("y")
  return %x, %y, %y, %c : tensor<4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>
}
