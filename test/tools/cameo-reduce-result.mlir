// The script wants a result that the Relu leads to, so the function keeps one; of the two branches one
// is enough, and the end moves up.
// SPDX-License-Identifier: Apache-2.0
// RUN: cameo-reduce %s '-reduction-tree=traversal-mode=0 test=%S/Inputs/returns-after-relu.sh' | FileCheck %s
// RUN: not cameo-reduce %s '-reduction-tree=traversal-mode=0 test=%S/Inputs/never.sh' 2>&1 | FileCheck %s --check-prefix=NEVER
// NEVER: error: '{{.*}}never.sh' does not exit with 1 for the module as it is
// RUN: not cameo-reduce %s 2>&1 | FileCheck %s --check-prefix=NONE
// NONE: error: no pass to run; --reduction-tree='test=SCRIPT' is the one that reduces

// CHECK: func.func @branches(%[[X:.*]]: tensor<4xf32>{{.*}}) -> tensor<4xf32> {
// CHECK-NEXT: %[[R:.*]] = onnx.Relu(%[[X]])
// CHECK-NEXT: return %[[R]]
func.func @branches(%x: tensor<4xf32>, %u: tensor<4xf32>) -> tensor<2x2xf32> {
  %shape = onnx.Constant() {value = dense<2> : tensor<2xi64>} : () -> tensor<2xi64>
  %0 = onnx.Exp(%x) : (tensor<4xf32>) -> tensor<4xf32>
  %1 = onnx.Relu(%0) : (tensor<4xf32>) -> tensor<4xf32>
  %2 = onnx.Neg(%u) : (tensor<4xf32>) -> tensor<4xf32>
  %3 = onnx.Add(%1, %2) : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  %4 = onnx.Reshape(%3, %shape) : (tensor<4xf32>, tensor<2xi64>) -> tensor<2x2xf32>
  return %4 : tensor<2x2xf32>
}
