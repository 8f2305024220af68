// SPDX-License-Identifier: Apache-2.0
// Target-independent passes, in the order of the stages they belong to.
#ifndef CAMEO_PASSES_TD
#define CAMEO_PASSES_TD

include "mlir/Pass/PassBase.td"

//===-- imported -> normalized ----------------------------------------------------------------===//

def FoldBatchNormIntoConv : Pass<"cameo-fold-batch-norm-into-conv", "::mlir::func::FuncOp"> {
  let summary = "fold batch normalizations into convolutions";
  let description = [{
    BatchNormalization in inference goes into the weights and bias of the Conv, ConvTranspose or Gemm
    whose only user it is, if those are constants. Computed in double and rounded once, so that
    results agree to rounding. It stays where a variance with epsilon is not positive and finite,
    where weights would leave their type's range, and where a channel would have denormal ones alone.

    ```mlir
    %0 = onnx.Conv(%x, %w, %b) : (tensor<1x1x4xf32>, tensor<2x1x1xf32>, tensor<2xf32>) -> tensor<1x2x4xf32>
    %1 = onnx.BatchNormalization(%0, %scale, %shift, %mean, %variance) {epsilon = 0.5 : f32}
    ```
    ==>
    ```mlir
    %1 = onnx.Conv(%x, %w_scaled, %b_moved)
        : (tensor<1x1x4xf32>, tensor<2x1x1xf32>, tensor<2xf32>) -> tensor<1x2x4xf32>
    ```
  }];
  let dependentDialects = ["::cameo::onnx::OnnxDialect"];
  let statistics = [
    Statistic<"folded", "folded", "batch normalizations that went into weights and bias">
  ];
}

def FoldConstants : Pass<"cameo-fold-constants", "::mlir::func::FuncOp"> {
  let summary = "fold operators whose operands are constants";
  let description = [{
    Operators that move elements, arithmetic, comparisons, logic and reductions are computed by the
    compiler; only what IEEE 754 and two's complement define to the last bit, so that every host
    gives the same bytes. `Shape` and `Size` need a known shape alone. Views of large constants
    share their bytes, and equal elements are one, however many. Constants that have no other use do not count against the limits. An operator
    that is kept because of `max-total-bytes` gets the attribute `onnx.kept_unfolded`.

    ```mlir
    %a = onnx.Constant() {value = dense<[1, 2]> : tensor<2xi64>} : () -> tensor<2xi64>
    %b = onnx.Add(%a, %a) : (tensor<2xi64>, tensor<2xi64>) -> tensor<2xi64>
    ```
    ==>
    ```mlir
    %b = onnx.Constant() {value = dense<[2, 4]> : tensor<2xi64>} : () -> tensor<2xi64>
    ```
  }];
  let options = [
    Option<"maxBytes", "max-bytes", "int64_t", "1048576",
           "how many bytes one operator's results may add to the constants">,
    Option<"maxTotalBytes", "max-total-bytes", "int64_t", "67108864",
           "how many bytes all of them may add together">
  ];
  let dependentDialects = ["::cameo::onnx::OnnxDialect"];
  let statistics = [
    Statistic<"folded", "folded", "operators that became constants">,
    Statistic<"grown", "bytes-added", "bytes by which the constants grew">,
    Statistic<"kept", "kept", "operators left because of max-total-bytes">
  ];
}

def ExpandRandom : Pass<"cameo-expand-random", "::mlir::func::FuncOp"> {
  let summary = "expand random operators into draws from a state";
  let description = [{
    Random*, Bernoulli, Multinomial and Dropout in training become functions of a state of the run, or of a trip.

    ```mlir
    %0 = onnx.Bernoulli(%p) {dtype = 9 : i64} : (tensor<4xf32>) -> tensor<4xi1>
    ```
    ==>
    ```mlir
    %0 = onnx.Draw(%s, %none, %p) {distribution = "below", stream = 0 : i64} : (tensor<8xi32>, none, tensor<4xf32>) -> tensor<*xi1>
    ```
  }];
  let dependentDialects = ["::cameo::onnx::OnnxDialect", "::cameo::rt::RtDialect"];
  let statistics = [Statistic<"expanded", "expanded", "random operators that became draws">];
}

def ExpandOperators : Pass<"cameo-expand-operators", "::mlir::func::FuncOp"> {
  let summary = "expand operators into others that mean the same";
  let description = [{
    Losses, transforms, windows, grids, rotary embeddings and updates at known places have no kernels of
    their own: others do the same as fast. Sizes are inferred on the way. An operator that cannot be written so keeps
    the reason as `onnx.unexpanded`, which `cameo-report-unsupported` tells.

    ```mlir
    %0 = onnx.NegativeLogLikelihoodLoss(%logs, %classes, %none) {reduction = "sum"}
        : (tensor<4x3xf32>, tensor<4xi64>, none) -> tensor<f32>
    ```

    becomes

    ```mlir
    %1 = onnx.Unsqueeze(%classes, %axis) : (tensor<4xi64>, tensor<1xi64>) -> tensor<*xi64>
    %2 = onnx.GatherElements(%logs, %1) {axis = 1 : i64} : (tensor<4x3xf32>, tensor<*xi64>) -> tensor<*xf32>
    %3 = onnx.Squeeze(%2, %axis) : (tensor<*xf32>, tensor<1xi64>) -> tensor<*xf32>
    %4 = onnx.Neg(%3) : (tensor<*xf32>) -> tensor<*xf32>
    %5 = onnx.ReduceSum(%4, %none) {keepdims = 0 : i64} : (tensor<*xf32>, none) -> tensor<*xf32>
    ```
  }];
  let statistics = [Statistic<"expanded", "expanded", "operators that were written as others">];
}

def FoldControlFlow : Pass<"cameo-fold-control-flow", "::mlir::ModuleOp"> {
  let summary = "fold control flow, sequences and optionals that are known to tensors";
  let description = [{
    Conditions, trip counts and positions are constants, or known from sizes. An If becomes the branch that is taken; where only a
    run knows which that is, both branches and a Where for each result, if they make values of the same shapes and check
    no sizes while they run, else `onnx.CallIf`, whose branches are private functions. An If on which the one before has decided,
    and which alone reads results of that one, goes into its branches first. Loop, Scan and SequenceMap become a copy of the body for each trip: up to 16 trips of one loop, and 2,000 nodes of all copies,
    those of graphs within the body included. What holds graphs in graphs more than three deep is called first, without a
    try of copies, since each of these would try those within it. Results that they collect are Concats of parts. What reads a sequence
    or an optional reads the tensors in it.

    Sizes are inferred on the way and constants folded, so that a condition may be known from the shape of another
    operator's result, or become known in the course of a loop, and graphs may stand within graphs. Names of nodes in
    copies end in the number of the trip. Nodes keep the shapes that the model declares, with `onnx.shape_declared`,
    until `cameo-infer-shapes` has inferred theirs.

    An integer that a Loop carries, and to which each trip adds the same constant, is computed from the number of the trip, as far as the
    host knows what it begins with: a condition that depends on it is no wait for the device.

    Loops and Scans that only a run knows, or that go beyond the limits, become `onnx.CallLoop` with a function for the
    body, if it keeps the shapes of what it carries. Values that a graph captures are arguments of its function, constants are
    copied; sizes have the caller's names. `sizes` of a call has, for each dimension of each result, the operand and its
    dimension that has the same size, -1 where there is none. What stays keeps the reason as `onnx.unexpanded`,
    which `cameo-report-unsupported` tells.

    ```mlir
    %0 = onnx.If(%true) ({
      onnx.Yield(%a) : (tensor<2xf32>) -> ()
    }, {
      %1 = onnx.Relu(%x) : (tensor<2xf32>) -> tensor<2xf32>
      onnx.Yield(%1) : (tensor<2xf32>) -> ()
    }) : (tensor<i1>) -> tensor<2xf32>
    ```
    ==>
    ```mlir
    %1 = onnx.Relu(%x) {onnx.shape_declared} : (tensor<2xf32>) -> tensor<2xf32>
    ```
  }];
  let dependentDialects = ["::cameo::onnx::OnnxDialect"];
  let statistics = [Statistic<"folded", "folded", "Ifs that one branch took the place of">,
                    Statistic<"selected", "selected", "Ifs that both branches took the place of">,
                    Statistic<"sunk", "sunk", "Ifs that went into the branches of the one that decides on them">,
                    Statistic<"outlined", "outlined", "control flow whose graphs have become functions">,
                    Statistic<"in_chunks", "in-chunks", "Loops that collect parts in chunks">,
                    Statistic<"counted", "counted", "loops that count by the trip instead of a number that they carry">,
                    Statistic<"unrolled", "unrolled", "loops that copies of the body took the place of">];
}

def AssignBodyNames : Pass<"cameo-assign-body-names", "::mlir::ModuleOp"> {
  let summary = "assign names to values in bodies that no other value of the model has";
  let description = [{
    Ranges, taps and messages go by names. Nodes in a body that are called as those of another function get a number. A
    captured value is called as in the caller; one that trips hand on as the body's input in the model, perhaps with a number.
    ```mlir
    %0 = onnx.CallLoop(%n, %none, %x) {body = @main.body, carried = 1 : i64, sizes = array<i64: -1, -1>}
    func.func private @main.body(%i: tensor<i64>, %h: tensor<4xf32> {onnx.name = "x"})
    ```
    ==>
    ```mlir
    func.func private @main.body(%i: tensor<i64>, %h: tensor<4xf32> {onnx.name = "x_1"})
    ```
  }];
  let statistics = [Statistic<"renamed", "renamed", "names that were those of other functions' nodes, too">];
}

def FoldPadIntoWindow : Pass<"cameo-fold-pad-into-window", "::mlir::func::FuncOp"> {
  let summary = "fold padding into the pads of convolutions and pools";
  let description = [{
    A Pad by constants, of spatial dimensions alone, becomes pads of the Conv, AveragePool or MaxPool
    that reads it, where these see the same in their own padding: zeros before Conv, zeros that are
    counted before AveragePool, -infinity or the least integer before MaxPool whose indices nobody
    uses. Pads that depend on the input's size, counts that are rounded up and windows without any
    element of the input stay as they are. Every bit of the result stays.

    ```mlir
    %0 = onnx.Pad(%x, %pads, %zero, %none)
        : (tensor<1x1x4xf32>, tensor<6xi64>, tensor<f32>, none) -> tensor<1x1x6xf32>
    %1 = onnx.Conv(%0, %w, %none) : (tensor<1x1x6xf32>, tensor<1x1x3xf32>, none) -> tensor<1x1x4xf32>
    ```
    ==>
    ```mlir
    %1 = onnx.Conv(%x, %w, %none) {pads = array<i64: 1, 1>}
        : (tensor<1x1x4xf32>, tensor<1x1x3xf32>, none) -> tensor<1x1x4xf32>
    ```
  }];
  let dependentDialects = ["::cameo::onnx::OnnxDialect"];
  let statistics = [Statistic<"folded", "folded", "Pads that a window took over">];
}

def FoldScalesIntoWeights : Pass<"cameo-fold-scales-into-weights", "::mlir::func::FuncOp"> {
  let summary = "fold constant factors and shifts into the weights of products, and into one another";
  let description = [{
    Mul and Div by a constant of one number per channel go into the constant weights of the Conv,
    ConvTranspose, Gemm or MatMul before or behind them, also past an Add of a constant; Add and Sub
    behind those with a bias go into that, and so do batch normalizations. In front of a product they stay:
    x - 0.5 is done before anything is rounded, and costs nothing where it is fused. So does the factor where they are
    beyond 8 in its units, as in (x - 101325) / 700. Of a chain of factors or of shifts one is left, where it has no more numbers
    than the largest. Computed in double and rounded once, so that results agree to rounding: constants
    stay apart where on the way they come to more than 8 times what they come to in the end, or factors
    to 8 times more than 1 and their product or less than both. No factor goes into weights that is
    beyond 1,024, below 1/1,024 in front of the product, or leaves a channel with denormal weights alone.

    ```mlir
    %0 = onnx.Mul(%x, %c) : (tensor<4x1xf32>, tensor<1xf32>) -> tensor<4x1xf32>
    %1 = onnx.MatMul(%0, %w) : (tensor<4x1xf32>, tensor<1x2xf32>) -> tensor<4x2xf32>
    ```
    ==>
    ```mlir
    %1 = onnx.MatMul(%x, %w_times_c) : (tensor<4x1xf32>, tensor<1x2xf32>) -> tensor<4x2xf32>
    ```
  }];
  let dependentDialects = ["::cameo::onnx::OnnxDialect"];
  let statistics = [
    Statistic<"folded", "folded", "operators that went into weights and bias">,
    Statistic<"merged", "merged", "operators that became one with their operand">
  ];
}

def ReportUnsupported : Pass<"cameo-report-unsupported", "::mlir::func::FuncOp"> {
  let summary = "report everything that cannot be compiled, in one error";
  let description = [{
    Changes nothing. Every operator, attribute, type and shape that the shape rules refuse is one
    line: the nodes, the reason with value and limit, and the nearest supported form.

    ```mlir
    %0 = onnx.Bernoulli(%x) : (tensor<4xf32>) -> tensor<4xf32>
    ```
    ==>
    ```
    error: unsupported: 1 node cannot be compiled
    note: node 'mask' (Bernoulli): the operator is not supported; nearest supported: an input of the model that holds the random numbers
    ```
  }];
}

def InferShapes : Pass<"cameo-infer-shapes", "::mlir::func::FuncOp"> {
  let summary = "infer every value's shape, with run-time sizes by name";
  let description = [{
    The rules are those that the operators' lowerings ask, too. Sizes known only at run time become
    `?`, and their names, expressions over those of the inputs' sizes, stand in the op's `onnx.dims`:
    a list for each result; an empty name is a size of which nothing is known. Integers that are
    computed from known sizes become constants. Values of operators that are refused keep the shape
    that the model declares, and `onnx.shape_declared` says so; a declared shape that contradicts the
    inferred one is warned of and ignored.

    ```mlir
    func.func @main(%x: tensor<?x4xf32> {onnx.dims = ["N", 4]}) -> tensor<*xf32> {
      %0 = onnx.Concat(%x, %x) {axis = 0 : i64} : (tensor<?x4xf32>, tensor<?x4xf32>) -> tensor<*xf32>
      return %0 : tensor<*xf32>
    }
    ```
    ==>
    ```mlir
    func.func @main(%x: tensor<?x4xf32> {onnx.dims = ["N", 4]})
        -> (tensor<?x4xf32> {onnx.dims = ["N + N", 4]}) {
      %0 = onnx.Concat(%x, %x) {axis = 0 : i64, onnx.dims = [["N + N", 4]]}
          : (tensor<?x4xf32>, tensor<?x4xf32>) -> tensor<?x4xf32>
      return %0 : tensor<?x4xf32>
    }
    ```
  }];
  let options = [Option<"missingOnly", "missing-only", "bool", "false",
                        "do nothing unless there are values without an inferred shape">];
  let dependentDialects = ["::cameo::onnx::OnnxDialect"];
  let statistics = [
    Statistic<"inferred", "inferred", "values that were given a shape">,
    Statistic<"folded", "folded", "operators on sizes that became constants">
  ];
}

def MergeNodes : Pass<"cameo-merge-nodes", "::mlir::func::FuncOp"> {
  let summary = "merge equal nodes";
  let description = [{
    Of nodes with the same operator, operands and attributes the first stands for all; constants of
    equal bytes are one, too.

    ```mlir
    %0 = onnx.Relu(%x) : (tensor<4xf32>) -> tensor<4xf32>
    %1 = onnx.Relu(%x) : (tensor<4xf32>) -> tensor<4xf32>
    %2 = onnx.Add(%0, %1) : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
    ```
    ==>
    ```mlir
    %0 = onnx.Relu(%x) : (tensor<4xf32>) -> tensor<4xf32>
    %2 = onnx.Add(%0, %0) : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
    ```
  }];
  let dependentDialects = ["::cameo::onnx::OnnxDialect", "::cameo::rt::RtDialect"];
  let statistics = [Statistic<"merged", "merged", "nodes for which an equal one stands">];
}

def SimplifyOperators : Pass<"cameo-simplify-operators", "::mlir::func::FuncOp"> {
  let summary = "simplify: remove operators that compute nothing, merge those that are one together";
  let description = [{
    Identity, Dropout in inference, Cast to the same type, Transpose that moves nothing, views and
    Expand to the same shape, Pad by nothing, Slice of everything, Concat of one, arithmetic with
    neutral constants: their users use the operand. Transposes, views and exact Casts of one another
    become one operator. Every bit stays as it was: x + 0.0 turns -0.0 into 0.0, so that only
    x + -0.0 goes. What nothing uses is erased.

    ```mlir
    %0 = onnx.Transpose(%x) {perm = array<i64: 1, 0>} : (tensor<2x3xf32>) -> tensor<3x2xf32>
    %1 = onnx.Transpose(%0) {perm = array<i64: 1, 0>} : (tensor<3x2xf32>) -> tensor<2x3xf32>
    %2 = onnx.Relu(%1) : (tensor<2x3xf32>) -> tensor<2x3xf32>
    ```
    ==>
    ```mlir
    %2 = onnx.Relu(%x) : (tensor<2x3xf32>) -> tensor<2x3xf32>
    ```
  }];
  let dependentDialects = ["::cameo::onnx::OnnxDialect"];
  let statistics = [
    Statistic<"removed", "removed", "operators that computed nothing">,
    Statistic<"merged", "merged", "operators that became one with their operand">,
    Statistic<"erased", "unused", "operators that nothing used">
  ];
}

def SinkDataMovement : Pass<"cameo-sink-data-movement", "::mlir::func::FuncOp"> {
  let summary = "sink transposes through elementwise operators, where fewer are left, and into products";
  let description = [{
    Operators that compute element by element and are connected with one another are one group. Where
    fewer transposes are left at its boundary if all of it is computed with permuted dimensions, it is;
    constants are permuted with it. Transposed matrices become `transA` and `transB` of a Gemm, which
    MatMul of two matrices then is. Transposes of both operands of a MatMul and of its result go where
    together they do nothing, and so do views (Reshape, Flatten, Squeeze, Unsqueeze) on both sides of
    elementwise operators. Every bit of the results stays.

    ```mlir
    %0 = onnx.Transpose(%x) {perm = array<i64: 1, 0>} : (tensor<2x3xf32>) -> tensor<3x2xf32>
    %1 = onnx.Relu(%0) : (tensor<3x2xf32>) -> tensor<3x2xf32>
    %2 = onnx.Transpose(%1) {perm = array<i64: 1, 0>} : (tensor<3x2xf32>) -> tensor<2x3xf32>
    ```
    ==>
    ```mlir
    %1 = onnx.Relu(%x) : (tensor<2x3xf32>) -> tensor<2x3xf32>
    ```
  }];
  let dependentDialects = ["::cameo::onnx::OnnxDialect"];
  let statistics = [
    Statistic<"permuted", "permuted", "operators that are computed with permuted dimensions">,
    Statistic<"unviewed", "unviewed", "operators that are computed without the views around them">,
    Statistic<"sunk", "into-products", "transposes that a product took over">
  ];
}

def RecognizeAttention : Pass<"cameo-recognize-attention", "::mlir::func::FuncOp"> {
  let summary = "recognize attention written in primitives";
  let description = [{
    A Softmax along the last axis between two MatMuls becomes one Attention with them, with what
    scales the queries, the keys or the scores by a number (Mul or Div) and with one mask, added or
    chosen by (Where), if nobody else reads what is between. Keys are transposed as Attention wants
    them. Where heads of keys and values are repeated for groups of queries (Unsqueeze, Expand or Tile,
    Reshape), it has them without that; a product of few tokens may then be of another class, which
    adds up in another order. Else every bit of the results stays: `onnx.arithmetic` has the numbers
    as they were, and lowering repeats them. As an ONNX model, without the attribute, it agrees to
    rounding.

    ```mlir
    %0 = onnx.Transpose(%k) {perm = array<i64: 0, 1, 3, 2>} : (tensor<1x2x5x4xf32>) -> tensor<1x2x4x5xf32>
    %1 = onnx.MatMul(%q, %0) : (tensor<1x2x3x4xf32>, tensor<1x2x4x5xf32>) -> tensor<1x2x3x5xf32>
    %2 = onnx.Div(%1, %two) : (tensor<1x2x3x5xf32>, tensor<f32>) -> tensor<1x2x3x5xf32>
    %3 = onnx.Softmax(%2) : (tensor<1x2x3x5xf32>) -> tensor<1x2x3x5xf32>
    %4 = onnx.MatMul(%3, %v) : (tensor<1x2x3x5xf32>, tensor<1x2x5x4xf32>) -> tensor<1x2x3x4xf32>
    ```
    ==>
    ```mlir
    %1:4 = onnx.Attention(%q, %k, %v, %none, %none, %none, %none)
        {scale = 5.000000e-01 : f32, onnx.arithmetic = {scores_divisor = 2.000000e+00 : f32}}
    ```
  }];
  let dependentDialects = ["::cameo::onnx::OnnxDialect"];
  let statistics = [
    Statistic<"recognized", "recognized", "attentions that became one operator">
  ];
}

//===-- normalized -> precision ---------------------------------------------------------------===//

include "passes/precision/Passes.td"

//===-- precision -> dispatched ---------------------------------------------------------------===//

def LowerOnnxToDispatches : Pass<"cameo-lower-onnx-to-dispatches", "::mlir::ModuleOp"> {
  let summary = "lower ONNX operators to dispatches described in linalg";
  let description = [{
    Every operator becomes `kernel.dispatch`es or, where it only concerns shapes, arithmetic of the
    plan. Constants move into the weight pool (`rt.constant`). Tensors become signless; the ONNX
    element types stay on the entry function's arguments and results as `onnx.type`. Sizes are index
    values; static ones fold to constants. Numbers that shapes depend on and the device computes are read
    back (`rt.fetch`). All unsupported nodes are reported in one error.

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
  let statistics = [
    Statistic<"dispatches", "dispatches", "units of device work">,
    Statistic<"fetches", "fetches", "values that are read back from the device">,
    Statistic<"constants", "weights", "entries of the weight pool">
  ];
}

def MergeProducts : Pass<"cameo-merge-products", "::mlir::ModuleOp"> {
  let summary = "merge products of the same operand with different weights into one";
  let description = [{
    Dispatches of products that read the same value, in the same way, with weights that differ in
    one dimension at most become one dispatch: their weights one after the other in that dimension,
    and each result from its slice of the wide product. The projections of attention, say, or the
    1x1 convolutions of parallel branches. The value is read once, and one large launch fills more
    of a GPU than several small ones. Every sum is the one it was.

    ```mlir
    %q = kernel.dispatch ins(%x, %wq : tensor<8x64xf32>, tensor<64x32xf32>) outs(%e : ...) {...}
    %k = kernel.dispatch ins(%x, %wk : tensor<8x64xf32>, tensor<64x16xf32>) outs(%f : ...) {...}
    ```
    ==>
    ```mlir
    %qk:2 = kernel.dispatch ins(%x, %w : tensor<8x64xf32>, tensor<64x48xf32>) outs(%e, %f : ...) {
      %wide = linalg.generic ...
      %0 = tensor.extract_slice %wide[0, 0] [8, 32] [1, 1]
      %1 = tensor.extract_slice %wide[0, 32] [8, 16] [1, 1]
      kernel.yield %0, %1
    }
    ```
  }];
  let options = [
    Option<"maxResults", "max-results", "int64_t", "4", "results of a dispatch at most">,
    Option<"maxTensors", "max-tensors", "int64_t", "24", "tensors of a dispatch at most">
  ];
  let dependentDialects = ["::cameo::kernel::KernelDialect", "::cameo::rt::RtDialect",
                           "::mlir::tensor::TensorDialect"];
  let statistics = [
    Statistic<"merged", "merged", "products that became part of a wide one">
  ];
}

def MergePointwise : Pass<"cameo-merge-pointwise", "::mlir::func::FuncOp"> {
  let summary = "merge elementwise dispatches that do not depend on one another into one launch";
  let description = [{
    Elementwise dispatches that take less time than a launch become one with all their results: work
    on parts of a tensor, copies into concatenations, keys and values on their way to caches. They
    need not be of one shape. All else stays in its order; the two are done where one of them was,
    unless more memory would be in use there than the plan ever uses at a time.

    ```mlir
    %a = kernel.dispatch ins(%x : tensor<4x8xf32>) outs(%v : tensor<4x8xf32>) {...}
    %b = kernel.dispatch ins(%y : tensor<4x5xf32>) outs(%w : tensor<4x5xf32>) {...}
    ```
    ==>
    ```mlir
    %ab:2 = kernel.dispatch ins(%x, %y : ...) outs(%v, %w : tensor<4x8xf32>, tensor<4x5xf32>) {...}
    ```
  }];
  let options = [
    Option<"maxTensors", "max-tensors", "int64_t", "24", "tensors of a dispatch at most">,
    Option<"maxOperations", "max-operations", "int64_t", "64",
           "operations of a dispatch's description at most">,
    Option<"maxScalars", "max-scalars", "int64_t", "48", "scalars of a dispatch at most">,
    Option<"maxResults", "max-results", "int64_t", "4", "results of a dispatch at most">,
    Option<"launchBytes", "launch-bytes", "int64_t", "4000000",
           "bytes of memory traffic in the time that one more launch takes">
  ];
  let dependentDialects = ["::cameo::kernel::KernelDialect", "::cameo::rt::RtDialect"];
  let statistics = [
    Statistic<"merged", "merged", "dispatches that joined another">
  ];
}

def RemoveRoundings : Pass<"cameo-remove-roundings", "::mlir::func::FuncOp"> {
  let summary = "remove roundings to 16 bits between the elementwise operations of a dispatch";
  let description = [{
    Bodies compute in f32 whatever the types of their operands are. A value of f16 or bf16 that only elementwise
    operations of the same dispatch read goes from one to the other as the f32 that it was rounded from. What is
    stored stays rounded, and so does what a product or a reduction of the dispatch reads or is made of, and what a Cast
    of the model rounds.

    ```mlir
    %a = linalg.generic ins(%x : tensor<4xf16>) outs(%e : tensor<4xf16>) {
    ^bb0(%in: f16, %out: f16):
      %0 = arith.extf %in : f16 to f32
      %1 = math.exp %0 : f32
      %2 = arith.truncf %1 : f32 to f16
      linalg.yield %2 : f16
    } -> tensor<4xf16>
    %b = linalg.generic ins(%a : tensor<4xf16>) outs(%d : tensor<4xf16>) {
    ^bb0(%in: f16, %out: f16):
      %0 = arith.extf %in : f16 to f32
      %1 = arith.subf %0, %one : f32
      %2 = arith.truncf %1 : f32 to f16
      linalg.yield %2 : f16
    } -> tensor<4xf16>
    ```
    ==>
    ```mlir
    %a = linalg.generic ins(%x : tensor<4xf16>) outs(%f : tensor<4xf32>) {
    ^bb0(%in: f16, %out: f32):
      %0 = arith.extf %in : f16 to f32
      %1 = math.exp %0 : f32
      linalg.yield %1 : f32
    } -> tensor<4xf32>
    %b = linalg.generic ins(%a : tensor<4xf32>) outs(%d : tensor<4xf16>) {
    ^bb0(%in: f32, %out: f16):
      %0 = arith.subf %in, %one : f32
      %1 = arith.truncf %0 : f32 to f16
      linalg.yield %1 : f16
    } -> tensor<4xf16>
    ```
  }];
  let dependentDialects = ["::mlir::tensor::TensorDialect"];
  let statistics = [
    Statistic<"removed", "removed", "roundings that are done no more">
  ];
}

def BatchDispatches : Pass<"cameo-batch-dispatches", "::mlir::ModuleOp"> {
  let summary = "batch equal dispatches on different tensors as one with a dimension more";
  let description = [{
    Dispatches that compute the same of different tensors and do not depend on one another become
    one with a dimension more, of as many members as they were: groups of a convolution, heads of
    attention, experts, tables of embeddings. One launch fills more of a GPU than several small
    ones. Nothing is copied for it. A member's operand is the same tensor for all, a slice at equal
    distances, a constant (those are stacked), a member of an earlier batch, or a result that can be
    written beside the other members'; its result is a view of the batch's. Where results follow one
    another in a concatenation, the batch's result is that. Every sum is the one it was.

    Dispatches that take longer than a launch are left alone, and so are products that
    `cameo-merge-products` makes columns of one.

    ```mlir
    %a = kernel.dispatch ins(%x, %v : tensor<4x8xf32>, tensor<4xf32>) outs(%e : ...) {...}
    %b = kernel.dispatch ins(%x, %w : tensor<4x8xf32>, tensor<4xf32>) outs(%e : ...) {...}
    %y = rt.concat %a, %b dim 0 : tensor<4xf32>, tensor<4xf32> -> tensor<8xf32>
    ```
    ==>
    ```mlir
    %vw = rt.get_constant @v_x2 : tensor<2x4xf32>
    %ab = kernel.dispatch ins(%x, %vw : tensor<4x8xf32>, tensor<2x4xf32>) outs(%f : ...) {...}
        -> tensor<2x4xf32>
    %y = rt.reshape %ab : tensor<2x4xf32> -> tensor<8xf32>
    ```
  }];
  let options = [
    Option<"launchBytes", "launch-bytes", "int64_t", "4000000",
           "bytes of memory traffic in the time that one more launch takes">,
    Option<"maxResults", "max-results", "int64_t", "4", "results of a dispatch at most">
  ];
  let dependentDialects = ["::cameo::kernel::KernelDialect", "::cameo::rt::RtDialect",
                           "::mlir::arith::ArithDialect", "::mlir::linalg::LinalgDialect",
                           "::mlir::tensor::TensorDialect"];
  let statistics = [
    Statistic<"batched", "batched", "dispatches that became a member of a batch">
  ];
}

def FuseDispatches : Pass<"cameo-fuse-dispatches", "::mlir::func::FuncOp"> {
  let summary = "fuse dispatches with those that read their results";
  let description = [{
    Dispatches become one where schedules can compute it as well as its parts and it takes less
    time: bytes that need not move and a launch less, against elements that are computed more than
    once. Elementwise work joins the product, window, rows or scan that it reads, or the elementwise work,
    rows and scans of long lines that read it, or the product, for each of whose tiles it is then done again; reductions
    of the same rows join one another; copies that only move elements join products that read them, and so do gathers of rows by indices in memory. A
    concatenation with parts that would have to be copied is read in its parts by its one reader. A result that others
    read, too, stays a result. Products
    are never computed twice. With `product-row` a reduction of a product's rows joins it where a row is no
    longer than that; blocks then have whole rows, which they reduce in an order of their own. Otherwise every bit stays: no sum is reordered, and values are rounded to the
    types that they had in memory. What only taps (`rt.tap`) read besides is stored as long as the
    dispatch takes no more memory by that than the largest operation in any dispatch.

    ```mlir
    %y = kernel.dispatch ins(%x, %w : ...) outs(%e : ...) { %p = linalg.generic ...; kernel.yield %p }
    %z = kernel.dispatch ins(%y : ...) outs(%f : ...) { %r = linalg.generic ins(%arg) ... }
    ```
    ==>
    ```mlir
    %z = kernel.dispatch ins(%x, %w : ...) outs(%f : ...) {
      %p = linalg.generic ...
      %r = linalg.generic ins(%p) ...
      kernel.yield %r
    }
    ```
  }];
  let options = [
    Option<"maxTensors", "max-tensors", "int64_t", "24", "tensors of a dispatch at most">,
    Option<"maxOperations", "max-operations", "int64_t", "64",
           "operations of a dispatch's description at most">,
    Option<"maxScalars", "max-scalars", "int64_t", "48", "scalars of a dispatch at most">,
    Option<"maxResults", "max-results", "int64_t", "4", "results of a dispatch at most">,
    Option<"launchBytes", "launch-bytes", "int64_t", "4000000",
           "bytes of memory traffic in the time that one more launch takes">,
    Option<"operationsPerByte", "operations-per-byte", "int64_t", "8",
           "operations on elements in the time in which a byte moves">,
    Option<"rows", "rows", "int64_t", "64",
           "rows below which one block per row leaves most multiprocessors idle">,
    Option<"productRow", "product-row", "int64_t", "0",
           "columns at most of a product whose rows are reduced with it; 0: none">
  ];
  let dependentDialects = ["::cameo::kernel::KernelDialect", "::mlir::tensor::TensorDialect"];
  let statistics = [
    Statistic<"fused", "fused", "dispatches that joined another">
  ];
}

def MergeDispatches : Pass<"cameo-merge-dispatches", "::mlir::func::FuncOp"> {
  let summary = "merge equal operations of a launch plan";
  let description = [{
    Of operations without side effects that are equal, regions included, the first stays; those whose
    results nobody uses go. In time in proportion to the plan, however many dispatches read one tensor:
    MLIR's CSE compares all of these with one another.

    ```mlir
    %0 = kernel.dispatch ins(%x : tensor<4xf32>) outs(%e : tensor<4xf32>) { ... }
    %1 = kernel.dispatch ins(%x : tensor<4xf32>) outs(%e : tensor<4xf32>) { ... } // the same
    return %0, %1 : tensor<4xf32>, tensor<4xf32>
    ```
    ==>
    ```mlir
    %0 = kernel.dispatch ins(%x : tensor<4xf32>) outs(%e : tensor<4xf32>) { ... }
    return %0, %0 : tensor<4xf32>, tensor<4xf32>
    ```
  }];
  let statistics = [
    Statistic<"merged", "merged", "operations that were there already">,
    Statistic<"removed", "removed", "operations whose results nobody used">
  ];
}

def PlaceConcatenations : Pass<"cameo-place-concatenations", "::mlir::func::FuncOp"> {
  let summary = "place the parts of concatenations in one storage";
  let description = [{
    Makes a `rt.storage` of each `rt.concat`, and what computes a part write it where it is wanted: the dispatch gets a view
    of the storage as its destination. One that is a part of another one becomes a view of that one's storage.

    A part is copied by a dispatch of its own where it has no such place: an input, a constant, values of the host, what is
    an output of the model, what is a part already, and what is reshaped in a way that strides cannot say. Neighbours are
    copied together, up to 32. An output that begins with the input that it becomes (`onnx.state`) is put into that state's
    own storage, which has room for more: the input is there already.

    ```mlir
    %a = kernel.dispatch ... outs(%e : tensor<1x64xf32>) { ... }
    %y = rt.concat %a, %x dim 1 : tensor<1x64xf32>, tensor<1x32xf32> -> tensor<1x96xf32>
    ```
    ==>
    ```mlir
    %s = rt.storage : tensor<1x96xf32>
    %v = rt.view %s[0, 0] : tensor<1x96xf32> -> tensor<1x64xf32>
    %a = kernel.dispatch ... outs(%v : tensor<1x64xf32>) { ... }
    %w = rt.view %s[0, 64] : tensor<1x96xf32> -> tensor<1x32xf32>
    %b = kernel.dispatch ins(%x : tensor<1x32xf32>) outs(%w : tensor<1x32xf32>) { /* a copy */ }
    %y = rt.assemble %s dim 1 of %a, %b : tensor<1x96xf32> of tensor<1x64xf32>, tensor<1x32xf32>
    ```
  }];
  let dependentDialects = [
    "::cameo::kernel::KernelDialect", "::cameo::rt::RtDialect", "::mlir::arith::ArithDialect",
    "::mlir::linalg::LinalgDialect", "::mlir::scf::SCFDialect", "::mlir::tensor::TensorDialect"
  ];
  let statistics = [
    Statistic<"placed", "placed", "parts that are computed in their place">,
    Statistic<"copied", "copied", "parts that are copied to their place">,
    Statistic<"states", "states", "states that are extended where they are">
  ];
}

//===-- tiled -> host -------------------------------------------------------------------------===//

include "passes/host/Passes.td"

//===-- At any stage --------------------------------------------------------------------------===//

def ReportDecisions : Pass<"cameo-report-decisions", "::mlir::ModuleOp"> {
  let summary = "report what passes decided, as remarks";
  let description = [{
    Changes nothing. Every entry of the ledgers (`rt.ledger`) of module, variants and functions is a
    remark at its nodes. `cameoc --remarks` says the same.

    ```mlir
    func.func @main() attributes {rt.ledger = [
      {at = loc("add"), kind = "missed", text = "not folded", what = "fold",
       why = "it would add 32 B; 14 B are left"}
    ]}
    ```
    ==>
    ```
    remark: not folded: it would add 32 B; 14 B are left
    ```
  }];
  let dependentDialects = ["::cameo::rt::RtDialect"];
}

#endif
