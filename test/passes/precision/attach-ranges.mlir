// RUN: echo '{"cameo_ranges": 1, "model": "16e89c4be18b0e5f", "inputs": {"p": {"value": "r", "scale": 0.0390625, "means": [0.5], "shifts": [0.25]}}, "ranges": {"x": {"min": -1, "max": 3.5, "method": "mse", "thresholds": {"mse": 3}}, "r": {"min": 0, "max": 5}, "z": {"min": 0, "max": 0}}}' > %t.json
// RUN: cameo-opt %s --cameo-attach-ranges='file=%t.json model=16e89c4be18b0e5f' | FileCheck %s
// What has been attached is text as all else, and a function that has its types needs none.
// RUN: cameo-opt %s --cameo-attach-ranges='file=%t.json' | cameo-opt | FileCheck %s
// RUN: cameo-opt %s --pass-pipeline='builtin.module(cameo-attach-ranges{file=%t.json},cameo-lower-precision{precision=fp16})' | FileCheck %s --check-prefix=TYPES
// RUN: cameo-opt %s --pass-pipeline='builtin.module(cameo-lower-precision{precision=fp16},cameo-attach-ranges{file=%t.json})' | FileCheck %s --check-prefix=TYPES
// RUN: not cameo-opt %s --cameo-attach-ranges='file=%t.json model=00c8a1ee01e86f41' 2>&1 | FileCheck %s --check-prefix=MODEL
// RUN: not cameo-opt %s --cameo-attach-ranges='file=%t.none' 2>&1 | FileCheck %s --check-prefix=NONE
// RUN: sed 's/ -> tensor<4xf32> {/ -> tensor<4xf32> attributes {onnx.ranges = {file = "r", values = {x = array<f64: 1.0>}}} {/' %s | not cameo-opt --cameo-lower-precision 2>&1 | FileCheck %s --check-prefix=FORM

// Names in files written by hand can be misspelt, which a file that was recorded of this model has not.
// RUN: sed 's/"model": "16e89c4be18b0e5f", //; s/"z"/"Relu_O"/' %t.json > %t.hand.json
// RUN: cameo-opt %s --cameo-attach-ranges='file=%t.hand.json' 2>&1 | FileCheck %s --check-prefix=HAND
// HAND: warning: ranges in '{{.*}}.hand.json': 1 of its 3 names are not those of values of this model: 'Relu_O'

// The scale is the least of five bits that does not clip 3: 3 / 127 = 0.02362.
// CHECK: func.func @main
// CHECK-SAME: onnx.ranges = {file = "{{.*}}.json", inputs = {p = [array<f64: 5.000000e-01>, array<f64: 2.500000e-01>, array<f64: 3.906250e-02>, "r"]},
// CHECK-SAME: values = {r = array<f64: 0.000000e+00, 5.000000e+00, 0.041015625, 0.000000e+00>, x = array<f64: -1.000000e+00, 3.500000e+00, 0.0244140625, 0.000000e+00>, z = array<f64: 0.000000e+00, 0.000000e+00, 0.000000e+00, 0.000000e+00>}}
// TYPES-NOT: onnx.ranges
// MODEL: error: ranges in '{{.*}}.json': they are of the model with the hash 16e89c4be18b0e5f, and this one's is 00c8a1ee01e86f41
// NONE: error: ranges in '{{.*}}.none': No such file or directory
// FORM: error: 'onnx.ranges' is not of the form in which cameo-attach-ranges leaves it
func.func @main(%x: tensor<4xf32> {onnx.name = "x"}) -> tensor<4xf32> {
  %0 = onnx.Relu(%x) : (tensor<4xf32>) -> tensor<4xf32> loc("r")
  return %0 : tensor<4xf32>
}
