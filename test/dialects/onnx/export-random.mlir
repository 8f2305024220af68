// Draws are the operators of ONNX that draw such numbers; states are numbers that nobody reads.
// SPDX-License-Identifier: Apache-2.0
// RUN: cameo-translate --export-onnx %s -o %t.onnx
// RUN: %python %S/print_model.py %t.onnx | FileCheck %s

// CHECK: a: ConstantOfShape(shape) -> [[A:.*]]
// CHECK-NEXT: a{{.*}}: RandomNormalLike([[A]]) -> a
// CHECK-NEXT: b: Bernoulli(p) -> b
// CHECK-NEXT: c: Expand(p, shape) -> [[C:.*]]
// CHECK-NEXT: c{{.*}}: Bernoulli([[C]]) -> c
func.func @main(%p: tensor<1xf32> {onnx.name = "p"})
    -> (tensor<4xf32> {onnx.name = "a"}, tensor<1xi1> {onnx.name = "b"}, tensor<4xi1> {onnx.name = "c"}) {
  %none = onnx.None() : () -> none
  %shape = onnx.Constant() {value = dense<4> : tensor<1xi64>} : () -> tensor<1xi64> loc("shape")
  %s = onnx.RandomState() : () -> tensor<8xi32>
  %i = onnx.Constant() {value = dense<4> : tensor<i64>} : () -> tensor<i64>
  %t = onnx.RandomTrip(%s, %i) : (tensor<8xi32>, tensor<i64>) -> tensor<8xi32>
  %a = onnx.Draw(%t, %shape, %none) {distribution = "normal", mean = 1.5 : f32, scale = 2.0 : f32, stream = 0 : i64}
      : (tensor<8xi32>, tensor<1xi64>, none) -> tensor<4xf32> loc("a")
  %b = onnx.Draw(%s, %none, %p) {distribution = "below", seed = 7 : i64, stream = 0 : i64}
      : (tensor<8xi32>, none, tensor<1xf32>) -> tensor<1xi1> loc("b")
  %c = onnx.Draw(%s, %shape, %p) {distribution = "below", stream = 1 : i64}
      : (tensor<8xi32>, tensor<1xi64>, tensor<1xf32>) -> tensor<4xi1> loc("c")
  return %a, %b, %c : tensor<4xf32>, tensor<1xi1>, tensor<4xi1>
}
