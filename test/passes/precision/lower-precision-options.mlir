// RUN: cameo-opt %s --pass-pipeline='builtin.module(cameo-lower-precision{precision=bf16})' | FileCheck %s --check-prefix=WIDE
// RUN: cameo-opt %s --pass-pipeline='builtin.module(cameo-lower-precision{precision=tf32},cameo-verify-stage{stage=precision strict=true})' | FileCheck %s --check-prefix=SHORT
// RUN: cameo-opt %s --pass-pipeline='builtin.module(cameo-lower-precision{precision=fp16 io=fp16})' | FileCheck %s --check-prefix=IO
// RUN: cameo-opt %s --pass-pipeline='builtin.module(cameo-lower-precision{precision=fp16 nodes=second*=fp32},cameo-report-decisions)' 2>&1 | FileCheck %s --check-prefix=NAME
// RUN: cameo-opt %s --pass-pipeline='builtin.module(cameo-lower-precision{precision=fp16 nodes=MatMul=tf32;first=bf16},cameo-report-decisions)' 2>&1 | FileCheck %s --check-prefix=LAST
// RUN: cameo-opt %s --pass-pipeline='builtin.module(cameo-lower-precision{nodes=first=fp16})' | FileCheck %s --check-prefix=ONE
// RUN: echo '{"cameo_ranges": 1, "ranges": {"exp": {"min": 0, "max": 9}, "second": {"min": -1, "max": 4e4}}}' > %t.json
// RUN: cameo-opt %s --pass-pipeline='builtin.module(cameo-attach-ranges{file=%t.json},cameo-lower-precision{precision=fp16},cameo-report-decisions)' 2>&1 | FileCheck %s --check-prefix=RANGES

// RUN: not cameo-opt %s --pass-pipeline='builtin.module(cameo-lower-precision{precision=int4})' 2>&1 | FileCheck %s --check-prefix=NONE
// NONE: error: precision 'int4' is not one of fp32, tf32, fp16, bf16 and int8
// RUN: not cameo-opt %s --pass-pipeline='builtin.module(cameo-lower-precision{io=tf32})' 2>&1 | FileCheck %s --check-prefix=NOIO
// NOIO: error: precision 'tf32' of inputs and outputs is not one of fp32, fp16 and bf16
// RUN: not cameo-opt %s --pass-pipeline='builtin.module(cameo-lower-precision{nodes=third=fp16})' 2>&1 | FileCheck %s --check-prefix=NODE
// NODE: error: --precision-of: 'third=fp16' matches no node with values of FP32, neither by name nor by operator
// RUN: not cameo-opt %s --pass-pipeline='builtin.module(cameo-lower-precision{nodes=\MatMul=fp16})' 2>&1 | FileCheck %s --check-prefix=ESCAPE
// ESCAPE: error: --precision-of: '\MatMul=fp16' matches no node with values of FP32, neither by name nor by operator
// RUN: not cameo-opt %s --pass-pipeline='builtin.module(cameo-lower-precision{nodes=first})' 2>&1 | FileCheck %s --check-prefix=FORM
// RUN: not cameo-opt %s --pass-pipeline='builtin.module(cameo-lower-precision{precision=fp16 nodes=Exp=int8})' 2>&1 | FileCheck %s --check-prefix=PRODUCT
// PRODUCT: error: --precision-of: 'Exp=int8' matches no product with values of FP32, neither by name nor by operator
// FORM: error: --precision-of: 'first' is not of the form GLOB=fp16
// RUN: not cameo-opt %s --pass-pipeline='builtin.module(cameo-lower-precision{nodes=first=fp8})' 2>&1 | FileCheck %s --check-prefix=TYPE
// TYPE: error: --precision-of: 'fp8' in 'first=fp8' is not one of fp32, tf32, fp16, bf16 and int8
// RUN: not cameo-opt %s --pass-pipeline='builtin.module(cameo-lower-precision{nodes=[=fp16})' 2>&1 | FileCheck %s --check-prefix=GLOB
// GLOB: error: --precision-of: '[' is not a pattern: {{.}}
// RUN: not cameo-opt %s --pass-pipeline='builtin.module(cameo-attach-ranges{file=%t.none},cameo-lower-precision{precision=fp16})' 2>&1 | FileCheck %s --check-prefix=NOFILE
// NOFILE: error: ranges in '{{.*}}.none': No such file or directory
// RUN: echo '{"ranges": {}}' > %t.old
// RUN: not cameo-opt %s --pass-pipeline='builtin.module(cameo-attach-ranges{file=%t.old},cameo-lower-precision{precision=fp16})' 2>&1 | FileCheck %s --check-prefix=VERSION
// VERSION: error: ranges in '{{.*}}.old': the member 'cameo_ranges' is not 1
// RUN: echo '{"cameo_ranges": 1}' > %t.empty
// RUN: not cameo-opt %s --pass-pipeline='builtin.module(cameo-attach-ranges{file=%t.empty},cameo-lower-precision{precision=fp16})' 2>&1 | FileCheck %s --check-prefix=EMPTY
// EMPTY: error: ranges in '{{.*}}.empty': 'ranges': expected an object of values, found nothing
// RUN: echo '{"cameo_ranges": 1, "ranges": {"first": {"min": 2, "max": 1}}}' > %t.wrong
// RUN: not cameo-opt %s --pass-pipeline='builtin.module(cameo-attach-ranges{file=%t.wrong},cameo-lower-precision{precision=fp16})' 2>&1 | FileCheck %s --check-prefix=WRONG
// WRONG: error: ranges in '{{.*}}.wrong': 'first' has a 'min' that is above its 'max'
// RUN: echo '{"cameo_ranges": 1, "ranges": {"conv1": {"min": 0, "max": 1}}}' > %t.other
// RUN: not cameo-opt %s --pass-pipeline='builtin.module(cameo-attach-ranges{file=%t.other},cameo-lower-precision{precision=fp16})' 2>&1 | FileCheck %s --check-prefix=OTHER
// OTHER: error: ranges in '{{.*}}.other': none of its 1 names is that of a value of this model

// BF16 has FP32's range: an exponential is no danger there.
// WIDE-LABEL: func @main
// WIDE: onnx.MatMul({{.*}} -> tensor<2x2xbf16>
// WIDE: onnx.Exp({{.*}} -> tensor<2x2xbf16>
// WIDE: onnx.MatMul({{.*}} -> tensor<2x2xbf16>
// WIDE: return {{.*}} : tensor<2x2xf32>

// TF32 changes no type.
// SHORT-LABEL: func @main
// SHORT-SAME: onnx.precision = "tf32"
// SHORT-NOT: Cast
// SHORT: onnx.MatMul({{.*}}) {onnx.products = "tf32"}
// SHORT: onnx.Exp({{.*}}) : (tensor<2x2xf32>)
// SHORT: onnx.MatMul({{.*}}) {onnx.products = "tf32"}

// IO-LABEL: func @main(
// IO-SAME: tensor<2x2xf16>{{.*}}) -> {{.*}}tensor<2x2xf16>
// IO-NEXT: onnx.MatMul
// IO: return {{.*}} : tensor<2x2xf16>

// NAME: remark: loc("second"): in FP32, by --precision-of=second*=fp32
// NAME: onnx.MatMul({{.*}} -> tensor<2x2xf16>
// NAME: onnx.MatMul({{.*}} -> tensor<2x2xf32>

// Of several that match, the last one counts.
// LAST: remark: loc("first"): in BF16, by --precision-of=first=bf16
// LAST: remark: loc("second"): in TF32, by --precision-of=MatMul=tf32
// LAST: onnx.MatMul({{.*}} -> tensor<2x2xbf16>
// LAST: onnx.MatMul({{.*}}onnx.products = "tf32"{{.*}} -> tensor<2x2xf32>

// ONE: onnx.precision = "fp32"
// ONE: onnx.MatMul({{.*}} -> tensor<2x2xf16>
// ONE: onnx.MatMul({{.*}} -> tensor<2x2xf32>

// What was seen may be exceeded twofold: 80000 is too much for a result, 18 is not.
// RANGES-NOT: loc("exp")
// RANGES: remark: loc("second"): kept in BF16: its result goes up to 80000; FP16 ends at 65504
// RANGES-NOT: loc("exp")
// RANGES: onnx.Exp({{.*}} -> tensor<2x2xf16>
func.func @main(%x: tensor<2x2xf32> {onnx.name = "x"}) -> (tensor<2x2xf32> {onnx.name = "y"}) {
  %0 = onnx.MatMul(%x, %x) : (tensor<2x2xf32>, tensor<2x2xf32>) -> tensor<2x2xf32> loc("first")
  %1 = onnx.Exp(%0) : (tensor<2x2xf32>) -> tensor<2x2xf32> loc("exp")
  %2 = onnx.MatMul(%1, %1) : (tensor<2x2xf32>, tensor<2x2xf32>) -> tensor<2x2xf32> loc("second")
  return %2 : tensor<2x2xf32>
}
