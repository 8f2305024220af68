// SPDX-License-Identifier: Apache-2.0
// Target-independent passes, in the order of the stages they belong to.
#ifndef CAMEO_PASSES_TD
#define CAMEO_PASSES_TD

include "mlir/Pass/PassBase.td"

//===-- normalized -> dispatched --------------------------------------------------------------===//

def LowerOnnxToDispatches : Pass<"cameo-lower-onnx-to-dispatches", "::mlir::ModuleOp"> {
  let summary = "lower ONNX operators to dispatches described in linalg";
  let description = [{
    Every operator becomes `kernel.dispatch`es or, where it only concerns shapes, arithmetic of the
    plan. Constants move into the weight pool (`rt.constant`). Tensors become signless; the ONNX
    element types stay on the entry function's arguments and results as `onnx.type`. Sizes are index
    values; static ones fold to constants. All unsupported nodes are reported in one error.

    ```mlir
    func.func @main(%x: tensor<?x4xf32>) -> tensor<?x4xf32> {
      %0 = "onnx.Relu"(%x) : (tensor<?x4xf32>) -> tensor<?x4xf32>
      return %0 : tensor<?x4xf32>
    }
    ```
    ==>
    ```mlir
    func.func @main(%x: tensor<?x4xf32>) -> tensor<?x4xf32> {
      %n = tensor.dim %x, %c0 : tensor<?x4xf32>
      %e = tensor.empty(%n) : tensor<?x4xf32>
      %0 = kernel.dispatch ins(%x : tensor<?x4xf32>) outs(%e : tensor<?x4xf32>) {
        ^bb0(%a: tensor<?x4xf32>, %o: tensor<?x4xf32>):
          %r = linalg.generic ... { arith.maximumf }
          kernel.yield %r : tensor<?x4xf32>
      } -> tensor<?x4xf32>
      return %0 : tensor<?x4xf32>
    }
    ```
  }];
  let dependentDialects = [
    "::cameo::kernel::KernelDialect", "::cameo::rt::RtDialect", "::mlir::arith::ArithDialect",
    "::mlir::linalg::LinalgDialect", "::mlir::math::MathDialect", "::mlir::scf::SCFDialect",
    "::mlir::tensor::TensorDialect"
  ];
}

#endif
