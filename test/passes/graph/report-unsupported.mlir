// RUN: cameo-opt %s --split-input-file --verify-diagnostics --pass-pipeline='builtin.module(func.func(cameo-report-unsupported))' | FileCheck %s

// Nothing is changed.
// CHECK-LABEL: func @supported
// CHECK-NEXT: %[[Y:.*]] = onnx.Relu(%{{.*}}) : (tensor<?xf32>) -> tensor<?xf32>
// CHECK-NEXT: return %[[Y]]
func.func @supported(%x: tensor<?xf32>) -> tensor<?xf32> {
  %y = onnx.Relu(%x) : (tensor<?xf32>) -> tensor<?xf32>
  return %y : tensor<?xf32>
}

// -----

// What no output needs is not compiled, so it is not told.
// CHECK-LABEL: func @unneeded
func.func @unneeded(%x: tensor<4xui8>) -> tensor<4xui8> {
  %0 = onnx.ImageDecoder(%x) : (tensor<4xui8>) -> tensor<?x?x3xui8>
  %1 = onnx.Identity(%0) : (tensor<?x?x3xui8>) -> tensor<?x?x3xui8>
  return %x : tensor<4xui8>
}

// -----

// One line for nodes with one operator and one reason.
// expected-error @below {{unsupported: 6 nodes cannot be compiled}}
func.func @groups(%x: tensor<4xf32>, %b: tensor<4xui8>) -> (tensor<?x?x3xui8>, tensor<?x?x3xui8>, tensor<?x?x3xui8>, tensor<?x?x3xui8>, tensor<?x?x3xui8>, tensor<4xf32>) {
  // expected-note @below {{nodes '(unnamed)', '(unnamed)', '(unnamed)' and 2 more (ImageDecoder): the operator is not supported; nearest supported: the same done before the model, which takes tensors of numbers}}
  %0 = onnx.ImageDecoder(%b) : (tensor<4xui8>) -> tensor<?x?x3xui8>
  %1 = onnx.ImageDecoder(%b) : (tensor<4xui8>) -> tensor<?x?x3xui8>
  %2 = onnx.ImageDecoder(%b) : (tensor<4xui8>) -> tensor<?x?x3xui8>
  %3 = onnx.ImageDecoder(%b) : (tensor<4xui8>) -> tensor<?x?x3xui8>
  %4 = onnx.ImageDecoder(%b) : (tensor<4xui8>) -> tensor<?x?x3xui8>
  // expected-note @below {{node '(unnamed)' (Softmax): axis 2 is outside [-1, 1)}}
  %5 = onnx.Softmax(%x) {axis = 2 : i64} : (tensor<4xf32>) -> tensor<4xf32>
  return %0, %1, %2, %3, %4, %5 : tensor<?x?x3xui8>, tensor<?x?x3xui8>, tensor<?x?x3xui8>, tensor<?x?x3xui8>, tensor<?x?x3xui8>, tensor<4xf32>
}

// -----

// Behind a node that is refused, others are looked at with its declared shape; what follows from the
// refusal alone is not told.
// expected-error @below {{unsupported: 3 nodes cannot be compiled}}
func.func @behind(%x: tensor<4xf32>, %b: tensor<4xui8>) -> (tensor<2x3xf32>, tensor<*xf32>, tensor<6xf32>, tensor<*xf32>) {
  // expected-note @below {{(d.Op, opset 1): operators of other domains are not supported; nearest supported: a model-local function of that name}}
  %0:2 = onnx.Custom(%x) {domain = "d", op_type = "Op", version = 1 : i64, onnx_attributes = {}} : (tensor<4xf32>) -> (tensor<2x3xf32>, !onnx.any)
  // expected-note @below {{(Softmax): axis 4 is outside [-2, 2)}}
  %1 = onnx.Softmax(%0#0) {axis = 4 : i64} : (tensor<2x3xf32>) -> tensor<2x3xf32>
  %2 = onnx.Relu(%0#1) : (!onnx.any) -> tensor<*xf32>
  // expected-note @below {{(ImageDecoder): the operator is not supported}}
  %image = onnx.ImageDecoder(%b) : (tensor<4xui8>) -> tensor<?xui8>
  %3 = onnx.Cast(%image) {to = 7 : i64} : (tensor<?xui8>) -> tensor<?xi64>
  %4 = onnx.Reshape(%x, %3) : (tensor<4xf32>, tensor<?xi64>) -> tensor<6xf32>
  %5 = onnx.Relu(%2) : (tensor<*xf32>) -> tensor<*xf32>
  return %1, %2, %4, %5 : tensor<2x3xf32>, tensor<*xf32>, tensor<6xf32>, tensor<*xf32>
}

// -----

// Inputs have no node.
// expected-error @below {{unsupported: 3 inputs and 1 node cannot be compiled}}
// expected-note @below {{input 'a' is of type string; nearest supported: numbers that stand for the strings, such as int64}}
// expected-note @below {{input 'b' has no known rank; nearest supported: --shapes=b:?x?x3, with as many sizes each as runs give, ? for one that stays open}}
// expected-note @below {{input 'c' of type float[1048576,1048576,?] takes 4.398047e+12 B; at most 137438953472 B (128 GiB) are supported}}
func.func @inputs(%a: tensor<4x!onnx.string> {onnx.name = "a"}, %b: tensor<*xf32> {onnx.name = "b"}, %c: tensor<1048576x1048576x?xf32> {onnx.name = "c"}) -> tensor<4x!onnx.string> {
  // expected-note @below {{(Identity): input 'input' is of type string; nearest supported: numbers that stand for the strings, such as int64}}
  %0 = onnx.Identity(%a) : (tensor<4x!onnx.string>) -> tensor<4x!onnx.string>
  return %0 : tensor<4x!onnx.string>
}

// -----

// Types, with what comes nearest.
// expected-error @below {{unsupported: 1 node cannot be compiled}}
func.func @types(%x: tensor<4xf32>) -> (tensor<4xf8E4M3FN>, tensor<4xi4>, tensor<4x!onnx.string>) {
  %0 = onnx.Cast(%x) {to = 17 : i64} : (tensor<4xf32>) -> tensor<4xf8E4M3FN>
  %1 = onnx.Cast(%x) {to = 22 : i64} : (tensor<4xf32>) -> tensor<4xi4>
  // expected-note @below {{(Cast): output 'output' is of type string; nearest supported: numbers}}
  %2 = onnx.Cast(%x) {to = 8 : i64} : (tensor<4xf32>) -> tensor<4x!onnx.string>
  return %0, %1, %2 : tensor<4xf8E4M3FN>, tensor<4xi4>, tensor<4x!onnx.string>
}

// -----

// How many bytes there are of what shares them is to be known.
// expected-error @below {{unsupported: 1 input and 1 output cannot be compiled}}
// expected-note @below {{input 'x' is of type int4[?], whose elements share bytes, and has a size known only at run time; nearest supported: elements of 8 bits}}
// expected-note @below {{output 'z' is of type uint2[?], whose elements share bytes}}
func.func @packed(%x: tensor<?xi4> {onnx.name = "x"}, %y: tensor<?xf32> {onnx.name = "y"}) -> (tensor<?xf32>, tensor<?xui2> {onnx.name = "z"}) {
  %0 = onnx.Cast(%x) {to = 1 : i64} : (tensor<?xi4>) -> tensor<?xf32>
  %1 = onnx.Cast(%y) {to = 25 : i64} : (tensor<?xf32>) -> tensor<?xui2>
  return %0, %1 : tensor<?xf32>, tensor<?xui2>
}

// -----

// What must be known on the host says what makes it.
// expected-error @below {{unsupported: 3 nodes cannot be compiled}}
func.func @host(%x: tensor<?xf32>, %n: tensor<?xi64> {onnx.name = "lengths"}, %m: tensor<2xi64>, %l: tensor<?x2xi64>) -> (tensor<*xf32>, tensor<*xf32>, tensor<*xf32>) {
  // expected-note @below {{(Reshape): input 'shape' must be known on the host, but comes from the model's input 'lengths' of type int64[?]; nearest supported: a constant, a value computed from shapes or on the device, or an input of the model of rank 2 or less; of a shape that is fixed, as by --shapes, with at most 1024 numbers}}
  %0 = onnx.Reshape(%x, %n) : (tensor<?xf32>, tensor<?xi64>) -> tensor<*xf32>
  %list = onnx.MatMul(%l, %m) : (tensor<?x2xi64>, tensor<2xi64>) -> tensor<?xi64>
  // expected-note @below {{(Expand): input 'shape' must be known on the host, but is computed on the device by node '(unnamed)' (MatMul)}}
  %1 = onnx.Expand(%x, %list) : (tensor<?xf32>, tensor<?xi64>) -> tensor<*xf32>
  // expected-note @below {{(Tile): repeats holds 2 numbers for an input of rank 1}}
  %2 = onnx.Tile(%x, %m) : (tensor<?xf32>, tensor<2xi64>) -> tensor<*xf32>
  return %0, %1, %2 : tensor<*xf32>, tensor<*xf32>, tensor<*xf32>
}

// -----

// Results that no GPU holds.
// expected-error @below {{unsupported: 1 node cannot be compiled}}
func.func @huge(%x: tensor<1048576x1xf32>) -> tensor<*xf32> {
  %y = onnx.Transpose(%x) {perm = array<i64: 1, 0>} : (tensor<1048576x1xf32>) -> tensor<1x1048576xf32>
  // expected-note @below {{(Mul): a value of type float[1048576,1048576] takes 4.398047e+12 B; at most 137438953472 B (128 GiB) are supported}}
  %z = onnx.Mul(%x, %y) : (tensor<1048576x1xf32>, tensor<1x1048576xf32>) -> tensor<*xf32>
  return %z : tensor<*xf32>
}

// -----

// A constant that is an output.
// expected-error @below {{unsupported: 1 output cannot be compiled}}
// expected-note @below {{output 'y' is of type string; nearest supported: numbers}}
func.func @constant_output() -> (tensor<1x!onnx.string> {onnx.name = "y"}) {
  %y = onnx.Constant() {value = dense<"a"> : tensor<1x!onnx.string>} : () -> tensor<1x!onnx.string>
  return %y : tensor<1x!onnx.string>
}
