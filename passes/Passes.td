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

//===-- tiled -> host -------------------------------------------------------------------------===//

def LayoutWeights : Pass<"cameo-layout-weights", "::mlir::ModuleOp"> {
  let summary = "place the weight pool's constants in the weight section";
  let description = [{
    Gives every `rt.constant` its offset in bytes, a multiple of 256. Equal contents share one place,
    whatever their types (a splat is compared with splats only); constants that no variant uses are
    erased. Booleans take a byte each.

    ```mlir
    rt.constant @a = dense<1.0> : tensor<4xf32>
    rt.constant @b = dense<1.0> : tensor<2x2xf32>
    rt.constant @c = dense<2> : tensor<3xi64>
    ```
    ==>
    ```mlir
    rt.constant @a = dense<1.0> : tensor<4xf32> at 0
    rt.constant @b = dense<1.0> : tensor<2x2xf32> at 0
    rt.constant @c = dense<2> : tensor<3xi64> at 256
    ```
  }];
  let dependentDialects = ["::cameo::rt::RtDialect"];
}

def PlanBuffers : Pass<"cameo-plan-buffers", "::mlir::func::FuncOp"> {
  let summary = "plan memory: an entry function on tensors becomes a launch plan on buffers";
  let description = [{
    Every tensor gets a place: inputs and weights are where they are, results are written straight
    into outputs where that is possible, everything else shares the arena, by lifetime. A launch
    updates a tensor in place if nothing reads the old value afterwards; elsewhere the value is
    copied first. Reshapes cost nothing. An output that is an input, a weight, another output or a
    reshape of one is copied. Sizes known only at run time become arithmetic of the plan; buffers
    whose sizes are multiples of the same run-time sizes are laid out together.

    What callers see of inputs and outputs moves to the attributes `rt.inputs` and `rt.outputs`;
    `rt.memory` says how large the arena is and how small it could be, where all sizes are known.

    ```mlir
    func.func @main(%x: tensor<?x4xf32> {onnx.name = "x", onnx.dims = ["N", 4]})
        -> (tensor<?x4xf32> {onnx.name = "y", onnx.dims = ["N", 4]}) {
      %c0 = arith.constant 0 : index
      %n = tensor.dim %x, %c0 : tensor<?x4xf32>
      %e = tensor.empty(%n) : tensor<?x4xf32>
      %y = rt.launch @relu::@relu grid(%n, %c1, %c1)
          args(%x, %e, %n : tensor<?x4xf32>, tensor<?x4xf32>, index) writes [1] -> tensor<?x4xf32>
      return %y : tensor<?x4xf32>
    }
    ```
    ==>
    ```mlir
    func.func @main() attributes {rt.inputs = [...], rt.outputs = [...]} {
      %n = rt.dim 0, 0
      rt.output_shape 0 sizes(%n, %c4)
      rt.arena_size %c0
      %x = rt.input 0
      %y = rt.output 0
      rt.launch @relu::@relu grid(%n, %c1, %c1) args(%x, %y, %n : !rt.buffer, !rt.buffer, index)
          writes [1]
      return
    }
    ```
  }];
  let dependentDialects = ["::cameo::rt::RtDialect", "::mlir::arith::ArithDialect"];
}

#endif
