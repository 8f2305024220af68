// SPDX-License-Identifier: Apache-2.0
// Passes from stage `tiled` to `host`, in their order. passes/Passes.td includes them.
#ifndef CAMEO_PASSES_HOST_PASSES_TD
#define CAMEO_PASSES_HOST_PASSES_TD

include "mlir/Pass/PassBase.td"

def LayOutWeights : Pass<"cameo-lay-out-weights", "::mlir::ModuleOp"> {
  let summary = "lay out the weight pool's constants in the weight section";
  let description = [{
    Gives every `rt.constant` its offset in bytes, a multiple of 256. Equal contents share one place,
    whatever their types; splats of one element share that of the longest (a splat is compared with
    splats only). Constants that no variant uses are erased. Booleans take a byte each.

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
  let statistics = [
    Statistic<"erased", "unused", "constants that no variant uses">,
    Statistic<"shared", "shared", "constants that share the place of another">,
    Statistic<"saved", "bytes-saved", "bytes that sharing saves">,
    Statistic<"stored", "bytes", "bytes of the weight section">
  ];
}

def ReplaceCalls : Pass<"cameo-replace-calls", "::cameo::rt::VariantOp"> {
  let summary = "replace calls of branches and bodies by regions of the plan";
  let description = [{
    `rt.if` becomes `rt.branch`, `rt.loop` `rt.repeat`, with the operations of the functions that they call, which are
    gone. What is read on the host of a function's argument is what the caller makes it of, an input of the model, or
    fetched from the device.

    ```mlir
    %y, %n = rt.if %c then @main.then else @main.else (%x : tensor<?xf32>) -> tensor<?xf32>, index
    ```
    ==>
    ```mlir
    %y, %n = rt.branch %c then {
      ...
      rt.yield %a, %d : tensor<?xf32>, index
    } else {
      ...
    } -> tensor<?xf32>, index
    ```
  }];
  let dependentDialects = ["::mlir::arith::ArithDialect", "::cameo::rt::RtDialect", "::mlir::tensor::TensorDialect"];
  let statistics = [Statistic<"inlined", "inlined", "functions that have become parts of the plan">];
}

def HoistChecks : Pass<"cameo-hoist-checks", "::mlir::func::FuncOp"> {
  let summary = "check sizes as soon as they are known";
  let description = [{
    Moves each `rt.check`, and the arithmetic that it reads, behind the last fetch, launch or region that it depends
    on. Kernels of a node may have gone into others by now, which are launched before the node's place: sizes that are
    wrong must end the run before that.

    ```mlir
    %n = rt.fetch %a as i64 : tensor<1xi64> -> i64
    %d = tensor.dim %x, %c0 : tensor<?xf32>
    %ok = arith.cmpi eq, %d, %c8 : index
    rt.check %ok, "sizes {0} and 8 cannot be broadcast" (%d : index)
    ```
    ==>
    ```mlir
    %d = tensor.dim %x, %c0 : tensor<?xf32>
    %ok = arith.cmpi eq, %d, %c8 : index
    rt.check %ok, "sizes {0} and 8 cannot be broadcast" (%d : index)
    %n = rt.fetch %a as i64 : tensor<1xi64> -> i64
    ```
  }];
  let dependentDialects = ["::cameo::rt::RtDialect"];
  let statistics = [Statistic<"hoisted", "hoisted", "checks that are made before more of the run">];
}

def PlanBuffers : Pass<"cameo-plan-buffers", "::mlir::func::FuncOp"> {
  let summary = "plan memory: make a launch plan on buffers of an entry function on tensors";
  let description = [{
    Every tensor gets a place: inputs and weights are where they are, results are written straight
    into outputs where that is possible, everything else shares the arena, by lifetime. A launch
    updates a tensor in place if nothing reads the old value afterwards; elsewhere the value is
    copied first. A new result has the memory of an operand that nothing reads afterwards, where
    `rt.in_place` says that the kernel allows it and both are of one size. Reshapes cost nothing. An
    output that is an input, a weight, another output or a reshape of one is copied. Sizes known only
    at run time become arithmetic of the plan; where there are any, `rt.lay_out_arena` gives all
    buffers their offsets when the plan runs.

    The plan is then held against the function: each step must find in its buffers the values that it
    reads, and outputs must have theirs. That it does not is an error, and a bug of the pass.

    A result with the attribute `rt.tap` is not an output: it becomes a `rt.tap` right behind what computes
    it, and lives no longer than anything else does.

    What callers see of inputs and outputs moves to the attributes `rt.inputs` and `rt.outputs`, and
    of taps to `rt.taps`; `rt.memory` says how large the arena is and how small it could be, where all sizes are known.

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
      rt.arena_size %c0 live %c0 sum %c0
      %x = rt.input 0
      %y = rt.output 0
      rt.launch @relu::@relu grid(%n, %c1, %c1) args(%x, %y, %n : !rt.buffer, !rt.buffer, index)
          writes [1]
      return
    }
    ```
  }];
  let dependentDialects = ["::cameo::rt::RtDialect", "::mlir::arith::ArithDialect"];
  let statistics = [
    Statistic<"inPlace", "in-place", "operands that a launch writes its result over">,
    Statistic<"views", "arena-buffers", "buffers in the arena">,
    Statistic<"copies", "copies", "copies between buffers">,
    Statistic<"taps", "taps", "values that runs show">,
    Statistic<"saved", "bytes-saved", "bytes by which the arena is smaller than its tensors, where sizes are known">
  ];
}

#endif
