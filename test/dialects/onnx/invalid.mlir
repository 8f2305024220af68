// Every error of the verifiers.
// SPDX-License-Identifier: Apache-2.0
// RUN: cameo-opt %s --split-input-file --verify-diagnostics

func.func @ElementType(%x: tensor<4xi8>) {
  // expected-error @+1 {{input 'input' cannot be int8[4]; Softmax takes float, double, float16, bfloat16}}
  %y = onnx.Softmax(%x) : (tensor<4xi8>) -> tensor<4xi8>
  return
}

// -----

func.func @OutputType(%x: tensor<4xf32>) {
  // expected-error @+1 {{output 'shape' cannot be int32[1]; Shape takes int64}}
  %y = onnx.Shape(%x) : (tensor<4xf32>) -> tensor<1xi32>
  return
}

// -----

func.func @TypesDiffer(%x: tensor<4xf32>, %y: tensor<4xf64>) {
  // expected-error @+1 {{input 'B' is of type double, another value of the same type variable of float}}
  %z = onnx.Add(%x, %y) : (tensor<4xf32>, tensor<4xf64>) -> tensor<4xf32>
  return
}

// -----

func.func @Absent(%x: tensor<4xf32>) {
  %none = onnx.None() : () -> none
  // expected-error @+1 {{input 'B' is not optional}}
  %z = onnx.Add(%x, %none) : (tensor<4xf32>, none) -> tensor<4xf32>
  return
}

// -----

func.func @TooFew() {
  // expected-error @+1 {{has 0 inputs; at least 1 are needed}}
  %z = onnx.Concat() {axis = 0 : i64} : () -> tensor<4xf32>
  return
}

// -----

func.func @TooFewOutputs(%x: tensor<4xf32>) {
  %none = onnx.None() : () -> none
  // expected-error @+1 {{has 0 outputs; at least 1 are needed}}
  onnx.Split(%x, %none) {num_outputs = 2 : i64} : (tensor<4xf32>, none) -> ()
  return
}

// -----

func.func @ConstantType() {
  // expected-error @+1 {{has a value of type 'tensor<2xf32>' but yields 'tensor<f32>'}}
  %c = onnx.Constant() {value = dense<1.0> : tensor<2xf32>} : () -> tensor<f32>
  return
}

// -----

func.func @CustomGraphs() {
  // expected-error @+1 {{names 1 graphs but has 0 regions}}
  onnx.Custom() {domain = "d", onnx_attributes = {}, op_type = "T", version = 1 : i64, graphs = ["body"]} : () -> ()
  return
}

// -----

func.func @WordValue(%x: tensor<4xf32>) {
  // expected-error @+1 {{has the attribute 'approximate' = 'erf'; it must be 'none' or 'tanh'}}
  %y = onnx.Gelu(%x) {approximate = "erf"} : (tensor<4xf32>) -> tensor<4xf32>
  return
}

// -----

func.func @FlagValue(%x: tensor<4xf32>) {
  // expected-error @+1 {{has the attribute 'keepdims' = 2; it must be 0 or 1}}
  %y = onnx.ArgMax(%x) {keepdims = 2 : i64} : (tensor<4xf32>) -> tensor<1xi64>
  return
}

// -----

func.func @LeastValue(%x: tensor<1x1x4xf32>) {
  // expected-error @+2 {{has the attribute 'group' = 0; it must be 1 or more}}
  %n = onnx.None() : () -> none
  %y = onnx.Conv(%x, %x, %n) {group = 0 : i64} : (tensor<1x1x4xf32>, tensor<1x1x4xf32>, none) -> tensor<1x1x1xf32>
  return
}

// -----

func.func @LeastValues(%x: tensor<1x1x4x4xf32>) {
  // expected-error @+1 {{has the attribute 'kernel_shape' = [2, 0]; each must be 1 or more}}
  %y = onnx.AveragePool(%x) {kernel_shape = array<i64: 2, 0>} : (tensor<1x1x4x4xf32>) -> tensor<1x1x3x5xf32>
  return
}

// -----

func.func @Between(%x: tensor<4xf32>) {
  // expected-error @+1 {{has the attribute 'p' = 3; it must be 1 to 2}}
  %y = onnx.LpNormalization(%x) {p = 3 : i64} : (tensor<4xf32>) -> tensor<4xf32>
  return
}

// -----

func.func @NotEmpty(%x: tensor<4xf32>) {
  // expected-error @+1 {{has the attribute 'axes' = []; it must have at least one number}}
  %y = onnx.MeanVarianceNormalization(%x) {axes = array<i64>} : (tensor<4xf32>) -> tensor<4xf32>
  return
}

// -----

func.func @OneNumber(%x: tensor<1xi64>) {
  // expected-error @+1 {{has the attribute 'value' = float[2]; it must hold one number}}
  %y = onnx.ConstantOfShape(%x) {value = dense<[1.0, 2.0]> : tensor<2xf32>} : (tensor<1xi64>) -> tensor<?xf32>
  return
}

// -----

func.func @TypeNumber(%x: tensor<4xf32>) {
  // expected-error @+1 {{has the attribute 'to' = 99; it must number a type of TensorProto.DataType}}
  %y = onnx.Cast(%x) {to = 99 : i64} : (tensor<4xf32>) -> tensor<4xf32>
  return
}

// -----

func.func @FloatTypeNumber(%x: tensor<4xf32>) {
  // expected-error @+1 {{has the attribute 'stash_type' = 7; it must number a floating-point type of TensorProto.DataType: 1 (float), 10 (float16), 11 (double) or 16 (bfloat16)}}
  %y = onnx.RMSNormalization(%x, %x) {stash_type = 7 : i64} : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  return
}

// -----

func.func @Permutation(%x: tensor<2x2xf32>) {
  // expected-error @+1 {{has the attribute 'perm' = [0, 0]; it must have each of 0 to 1 once}}
  %y = onnx.Transpose(%x) {perm = array<i64: 0, 0>} : (tensor<2x2xf32>) -> tensor<2x2xf32>
  return
}

// -----

// expected-error @below {{dialect 'onnx' has no attribute 'onnx.speed'}}
func.func @UndeclaredAttribute() attributes {onnx.speed = 1} {
  return
}

// -----

// expected-error @below {{'onnx.precision' cannot be 1 : i64}}
func.func @AttributeOfAnotherType() attributes {onnx.precision = 1} {
  return
}

// -----

// expected-error @below {{dialect 'onnx' has no attribute 'onnx.speed'}}
func.func @UndeclaredArgumentAttribute(%x: tensor<2xf32> {onnx.speed = 1}) {
  return
}

// -----

func.func @BranchInputs(%c: tensor<i1>, %x: tensor<2xf32>) {
  // expected-error @+1 {{has a 'then_branch' of 1 input; 0 are needed}}
  %0 = onnx.If(%c) ({
    onnx.Yield(%x) : (tensor<2xf32>) -> ()
  }, {
  ^bb0(%a: tensor<2xf32>):
    onnx.Yield(%a) : (tensor<2xf32>) -> ()
  }) : (tensor<i1>) -> tensor<2xf32>
  return
}

// -----

func.func @BranchType(%c: tensor<i1>, %x: tensor<2xf32>, %y: tensor<2xi64>) {
  // expected-error @+1 {{has an 'else_branch' that yields output 0 as int64 of unknown rank, not as float of unknown rank}}
  %0 = onnx.If(%c) ({
    onnx.Yield(%y) : (tensor<2xi64>) -> ()
  }, {
    onnx.Yield(%x) : (tensor<2xf32>) -> ()
  }) : (tensor<i1>) -> tensor<2xf32>
  return
}

// -----

func.func @LoopOutputs(%n: tensor<i64>, %c: tensor<i1>, %x: tensor<2xf32>) {
  // expected-error @+1 {{carries 2 values but has 1 output}}
  %0 = onnx.Loop(%n, %c, %x, %x) ({
  ^bb0(%i: tensor<i64>, %d: tensor<i1>, %u: tensor<2xf32>, %v: tensor<2xf32>):
    onnx.Yield(%d, %u, %v) : (tensor<i1>, tensor<2xf32>, tensor<2xf32>) -> ()
  }) : (tensor<i64>, tensor<i1>, tensor<2xf32>, tensor<2xf32>) -> tensor<2xf32>
  return
}

// -----

func.func @LoopInputs(%n: tensor<i64>, %c: tensor<i1>, %x: tensor<2xf32>) {
  // expected-error @+1 {{has a body of 2 inputs; 3 are needed}}
  %0 = onnx.Loop(%n, %c, %x) ({
  ^bb0(%i: tensor<i64>, %d: tensor<i1>):
    onnx.Yield(%d, %x) : (tensor<i1>, tensor<2xf32>) -> ()
  }) : (tensor<i64>, tensor<i1>, tensor<2xf32>) -> tensor<2xf32>
  return
}

// -----

func.func @LoopYields(%n: tensor<i64>, %c: tensor<i1>, %x: tensor<2xf32>) {
  // expected-error @+1 {{has a body of 1 output; 2 are needed}}
  %0 = onnx.Loop(%n, %c, %x) ({
  ^bb0(%i: tensor<i64>, %d: tensor<i1>, %v: tensor<2xf32>):
    onnx.Yield(%d) : (tensor<i1>) -> ()
  }) : (tensor<i64>, tensor<i1>, tensor<2xf32>) -> tensor<2xf32>
  return
}

// -----

func.func @LoopNumber(%n: tensor<i64>, %c: tensor<i1>, %x: tensor<2xf32>) {
  // expected-error @+1 {{has a body that takes the trip's number as int32 of unknown rank, not as int64 of unknown rank}}
  %0 = onnx.Loop(%n, %c, %x) ({
  ^bb0(%i: tensor<i32>, %d: tensor<i1>, %v: tensor<2xf32>):
    onnx.Yield(%d, %v) : (tensor<i1>, tensor<2xf32>) -> ()
  }) : (tensor<i64>, tensor<i1>, tensor<2xf32>) -> tensor<2xf32>
  return
}

// -----

func.func @LoopCondition(%n: tensor<i64>, %c: tensor<i1>, %x: tensor<2xf32>) {
  // expected-error @+1 {{has a body that yields its condition as int64 of unknown rank, not as bool of unknown rank}}
  %0 = onnx.Loop(%n, %c, %x) ({
  ^bb0(%i: tensor<i64>, %d: tensor<i1>, %v: tensor<2xf32>):
    onnx.Yield(%i, %v) : (tensor<i64>, tensor<2xf32>) -> ()
  }) : (tensor<i64>, tensor<i1>, tensor<2xf32>) -> tensor<2xf32>
  return
}

// -----

func.func @LoopCarriedTypes(%n: tensor<i64>, %c: tensor<i1>, %x: tensor<2xf32>) {
  // expected-error @+1 {{has a body that yields carried value 0 as int64 of unknown rank, not as float of unknown rank}}
  %0 = onnx.Loop(%n, %c, %x) ({
  ^bb0(%i: tensor<i64>, %d: tensor<i1>, %v: tensor<2xf32>):
    onnx.Yield(%d, %i) : (tensor<i1>, tensor<i64>) -> ()
  }) : (tensor<i64>, tensor<i1>, tensor<2xf32>) -> tensor<2xf32>
  return
}

// -----

func.func @LoopCollectsSequence(%n: tensor<i64>, %c: tensor<i1>, %x: !onnx.seq<tensor<*xf32>>) {
  // expected-error @+1 {{has a body that yields part of output 0 as sequence of float of unknown rank, not as a tensor}}
  %0 = onnx.Loop(%n, %c) ({
  ^bb0(%i: tensor<i64>, %d: tensor<i1>):
    onnx.Yield(%d, %x) : (tensor<i1>, !onnx.seq<tensor<*xf32>>) -> ()
  }) : (tensor<i64>, tensor<i1>) -> !onnx.seq<tensor<*xf32>>
  return
}

// -----

func.func @ScanInputs(%x: tensor<2xf32>) {
  // expected-error @+1 {{has 'num_scan_inputs' = 2; 1 to its 1 inputs are possible}}
  %0 = onnx.Scan(%x) {num_scan_inputs = 2 : i64} ({
  ^bb0(%e: tensor<f32>):
    onnx.Yield(%e) : (tensor<f32>) -> ()
  }) : (tensor<2xf32>) -> tensor<2xf32>
  return
}

// -----

func.func @ScanAxes(%x: tensor<2xf32>) {
  // expected-error @+1 {{has 2 numbers in 'scan_output_axes'; 1 is needed}}
  %0 = onnx.Scan(%x) {num_scan_inputs = 1 : i64, scan_output_axes = array<i64: 0, 1>} ({
  ^bb0(%e: tensor<f32>):
    onnx.Yield(%e) : (tensor<f32>) -> ()
  }) : (tensor<2xf32>) -> tensor<2xf32>
  return
}

// -----

func.func @MapType(%x: !onnx.seq<tensor<*xf32>>) {
  // expected-error @+1 {{has a body that takes input 0 as int64 of unknown rank, not as float of unknown rank}}
  %0 = onnx.SequenceMap(%x) ({
  ^bb0(%e: tensor<i64>):
    onnx.Yield(%e) : (tensor<i64>) -> ()
  }) : (!onnx.seq<tensor<*xf32>>) -> !onnx.seq<tensor<*xi64>>
  return
}

// -----

func.func @DrawFrom(%s: tensor<8xi32>, %n: tensor<1xi64>) {
  %none = onnx.None() : () -> none
  // expected-error @+1 {{draws from "dice"; distributions are "uniform", "normal" and "below"}}
  %0 = onnx.Draw(%s, %n, %none) {distribution = "dice", stream = 0 : i64} : (tensor<8xi32>, tensor<1xi64>, none) -> tensor<*xf32>
  return
}

// -----

func.func @DrawType(%s: tensor<8xi32>, %n: tensor<1xi64>) {
  %none = onnx.None() : () -> none
  // expected-error @+1 {{draws from "normal" numbers of type 'i64'}}
  %0 = onnx.Draw(%s, %n, %none) {distribution = "normal", stream = 0 : i64} : (tensor<8xi32>, tensor<1xi64>, none) -> tensor<*xi64>
  return
}

// -----

func.func @DrawProbabilities(%s: tensor<8xi32>, %n: tensor<1xi64>, %p: tensor<f32>) {
  // expected-error @+1 {{has probabilities, for "uniform"}}
  %0 = onnx.Draw(%s, %n, %p) {distribution = "uniform", stream = 0 : i64} : (tensor<8xi32>, tensor<1xi64>, tensor<f32>) -> tensor<*xf32>
  return
}

// -----

func.func @DrawNoProbabilities(%s: tensor<8xi32>, %n: tensor<1xi64>) {
  %none = onnx.None() : () -> none
  // expected-error @+1 {{has no probabilities, for "below"}}
  %0 = onnx.Draw(%s, %n, %none) {distribution = "below", stream = 0 : i64} : (tensor<8xi32>, tensor<1xi64>, none) -> tensor<*xi1>
  return
}

// -----

func.func @DrawShape(%s: tensor<8xi32>) {
  %none = onnx.None() : () -> none
  // expected-error @+1 {{has neither a shape nor probabilities}}
  %0 = onnx.Draw(%s, %none, %none) {distribution = "normal", stream = 0 : i64} : (tensor<8xi32>, none, none) -> tensor<*xf32>
  return
}

// -----

func.func @DrawSeed(%s: tensor<8xi32>, %n: tensor<1xi64>) {
  %none = onnx.None() : () -> none
  // expected-error @+1 {{has the seed "x", which is no number}}
  %0 = onnx.Draw(%s, %n, %none) {distribution = "normal", stream = 0 : i64, seed = "x"} : (tensor<8xi32>, tensor<1xi64>, none) -> tensor<*xf32>
  return
}
