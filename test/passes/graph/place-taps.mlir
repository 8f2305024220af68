// RUN: %cameo-opt %s --split-input-file --verify-diagnostics --pass-pipeline='builtin.module(cameo-place-taps{values=conv;Relu;x;spl*;shared})' | FileCheck %s
// RUN: %cameo-opt %s --split-input-file --verify-diagnostics --pass-pipeline='builtin.module(cameo-place-taps{values=conv;Relu;x;spl*;shared},cameo-place-taps{values=*})' | FileCheck %s

// Names of inputs, of nodes, of further results; operators. What has taps gets no more of them.
// CHECK-LABEL: func.func @named
// CHECK-SAME: -> (tensor<?x4xf32> {onnx.name = "y"},
// CHECK-SAME: tensor<?x4xf32> {onnx.dims = ["N", 4], onnx.name = "x", rt.tap},
// CHECK-SAME: tensor<?x4xf32> {onnx.dims = ["N", 4], onnx.name = "conv", rt.tap},
// CHECK-SAME: tensor<?x4xf32> {onnx.dims = ["N", 4], onnx.name = "r", rt.tap},
// CHECK-SAME: tensor<?x2xf32> {onnx.dims = ["N", 2], onnx.name = "split", rt.tap},
// CHECK-SAME: tensor<?x2xf32> {onnx.dims = ["N", 2], onnx.name = "split:1", rt.tap},
// CHECK-SAME: tensor<?x4xf32> {onnx.dims = ["N", 4], onnx.name = "shared", rt.tap})
func.func @named(%x: tensor<?x4xf32> {onnx.name = "x", onnx.dims = ["N", 4]})
    -> (tensor<?x4xf32> {onnx.name = "y"}) {
  // CHECK: %[[CONV:.*]] = onnx.Abs
  %0 = onnx.Abs(%x) {onnx.dims = [["N", 4]]} : (tensor<?x4xf32>) -> tensor<?x4xf32> loc("conv")
  // CHECK: %[[RELU:.*]] = onnx.Relu
  %1 = onnx.Relu(%0) {onnx.dims = [["N", 4]]} : (tensor<?x4xf32>) -> tensor<?x4xf32> loc("r")
  // CHECK: %[[SPLIT:.*]]:2 = onnx.Split
  %none = onnx.None() : () -> none
  %2:2 = onnx.Split(%1, %none) {axis = 1, num_outputs = 2, onnx.dims = [["N", 2], ["N", 2]]}
      : (tensor<?x4xf32>, none) -> (tensor<?x2xf32>, tensor<?x2xf32>) loc("split")
  // Steps of one node: the last has the value.
  %3 = onnx.Concat(%2#1, %2#0) {axis = 1, onnx.dims = [["N", 4]]} : (tensor<?x2xf32>, tensor<?x2xf32>) -> tensor<?x4xf32> loc("shared")
  // CHECK: %[[LAST:.*]] = onnx.Neg
  %4 = onnx.Neg(%3) {onnx.dims = [["N", 4]]} : (tensor<?x4xf32>) -> tensor<?x4xf32> loc("shared")
  %5 = onnx.Exp(%4) {onnx.dims = [["N", 4]]} : (tensor<?x4xf32>) -> tensor<?x4xf32> loc("e")
  // CHECK: return %{{.*}}, %arg0, %[[CONV]], %[[RELU]], %[[SPLIT]]#0, %[[SPLIT]]#1, %[[LAST]] :
  return %5 : tensor<?x4xf32>
}

// -----

// A value as it is stored, before it is cast to another type of floating point; a cast that is a
// node of its own; an output.
// CHECK-LABEL: func.func @stored
// CHECK-SAME: tensor<4xf16> {onnx.dims = [4], onnx.name = "conv", rt.tap}
// CHECK-SAME: tensor<4xf32> {onnx.dims = [4], onnx.name = "shared", rt.tap}
// CHECK-SAME: tensor<4xf16> {onnx.dims = [4], onnx.name = "split", rt.tap}
func.func @stored(%a: tensor<4xf16> {onnx.name = "x"}) -> tensor<4xf16> {
  // CHECK: %[[STORED:.*]] = onnx.Relu
  %0 = onnx.Relu(%a) : (tensor<4xf16>) -> tensor<4xf16> loc("conv")
  %1 = onnx.Cast(%0) {to = 1} : (tensor<4xf16>) -> tensor<4xf32> loc("conv")
  // CHECK: %[[CAST:.*]] = onnx.Cast
  // CHECK: %[[CAST:.*]] = onnx.Cast
  %2 = onnx.Cast(%0) {to = 1} : (tensor<4xf16>) -> tensor<4xf32> loc("shared")
  %3 = onnx.Add(%1, %2) : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32> loc("sum")
  // CHECK: %[[OUT:.*]] = onnx.Cast
  %4 = onnx.Cast(%3) {to = 10} : (tensor<4xf32>) -> tensor<4xf16> loc("split")
  // CHECK: return %[[OUT]], %arg0, %[[STORED]], %[[CAST]], %[[OUT]]
  return %4 : tensor<4xf16>
}

// -----

// By what the model's file calls values; the attribute that says so has served its purpose.
// CHECK-LABEL: func.func @tensors
// CHECK-SAME: -> (tensor<4xf32>,
// CHECK-SAME: tensor<4xf32> {onnx.dims = [4], onnx.name = "x", rt.tap},
// CHECK-SAME: tensor<4xf32> {onnx.dims = [4], onnx.name = "a", rt.tap},
// CHECK-SAME: tensor<2xf32> {onnx.dims = [2], onnx.name = "parts:1", rt.tap},
// CHECK-SAME: tensor<4xf32> {onnx.dims = [4], onnx.name = "r", rt.tap},
// CHECK-SAME: tensor<4xf32> {onnx.dims = [4], onnx.name = "n", rt.tap})
// CHECK-NOT: onnx.tensors
func.func @tensors(%x: tensor<4xf32> {onnx.name = "x"}) -> tensor<4xf32>
    attributes {onnx.tensors = {a = "conv", n = "shared", b = "gone", "parts:1" = "split_1"}} {
  %0 = onnx.Abs(%x) : (tensor<4xf32>) -> tensor<4xf32> loc("a")
  %none = onnx.None() : () -> none
  %1:2 = onnx.Split(%0, %none) {axis = 0, num_outputs = 2} : (tensor<4xf32>, none) -> (tensor<2xf32>, tensor<2xf32>) loc("parts")
  %2 = onnx.Concat(%1#1, %1#0) {axis = 0} : (tensor<2xf32>, tensor<2xf32>) -> tensor<4xf32> loc("c")
  %3 = onnx.Relu(%2) : (tensor<4xf32>) -> tensor<4xf32> loc("r")
  %4 = onnx.Neg(%3) : (tensor<4xf32>) -> tensor<4xf32> loc("n")
  return %4 : tensor<4xf32>
}

// -----

// expected-error @below {{--tap: 'conv' matches 'conv', which optimisation has removed}}
func.func @removed(%x: tensor<4xf32> {onnx.name = "x"}) -> tensor<4xf32>
    attributes {onnx.tensors = {batch = "conv"}} {
  %0 = onnx.Relu(%x) : (tensor<4xf32>) -> tensor<4xf32> loc("split")
  %1 = onnx.Neg(%0) : (tensor<4xf32>) -> tensor<4xf32> loc("shared")
  return %1 : tensor<4xf32>
}

// -----

// expected-error @below {{--tap: 'conv' matches no value, neither by name nor by its node's name or operator; nearest: 'Conv1', 'cov'}}
func.func @alike(%x: tensor<4xf32> {onnx.name = "x"}) -> tensor<4xf32>
    attributes {onnx.tensors = {n = "konv1", e = "convolution"}} {
  %0 = onnx.Relu(%x) : (tensor<4xf32>) -> tensor<4xf32> loc("cov")
  %1 = onnx.Neg(%0) : (tensor<4xf32>) -> tensor<4xf32> loc("n")
  %2 = onnx.Exp(%1) : (tensor<4xf32>) -> tensor<4xf32> loc("e")
  %3 = onnx.Abs(%2) : (tensor<4xf32>) -> tensor<4xf32> loc("Conv1")
  return %3 : tensor<4xf32>
}

// -----

// expected-error @below {{--tap: 'conv' matches no value, neither by name nor by its node's name or operator}}
func.func @none(%a: tensor<4xf32> {onnx.name = "x"}) -> tensor<4xf32> {
  %0 = onnx.Relu(%a) : (tensor<4xf32>) -> tensor<4xf32> loc("r")
  return %0 : tensor<4xf32>
}

// -----

// expected-error @below {{--tap: 'conv' matches constants only ('conv'), and a run computes none}}
func.func @constant(%a: tensor<4xf32> {onnx.name = "x"}) -> tensor<4xf32> {
  %c = onnx.Constant() {value = dense<1.0> : tensor<4xf32>} : () -> tensor<4xf32> loc("conv")
  %0 = onnx.Relu(%a) : (tensor<4xf32>) -> tensor<4xf32> loc("r")
  %1 = onnx.Add(%0, %c) : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32> loc("split")
  return %1 : tensor<4xf32>
}
