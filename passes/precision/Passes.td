// SPDX-License-Identifier: Apache-2.0
// Passes from stage normalized to stage precision; passes/Passes.td includes them.
#ifndef CAMEO_PASSES_PRECISION_TD
#define CAMEO_PASSES_PRECISION_TD

include "mlir/Pass/PassBase.td"

def AttachRanges : Pass<"cameo-attach-ranges", "::mlir::ModuleOp"> {
  let summary = "attach recorded ranges of values to functions";
  let description = [{
    The function gets `onnx.ranges`: of each value of the file the least and the greatest number and
    the scale for 8 bits, and what else calibration has found. Passes of stage precision read it. Ranges
    of another model are an error.

    ```mlir
    func.func @main(%x: tensor<4xf32> {onnx.name = "x"}) -> tensor<4xf32>
    ```
    ==>
    ```mlir
    func.func @main(%x: tensor<4xf32> {onnx.name = "x"}) -> tensor<4xf32>
        attributes {onnx.ranges = {file = "ranges.json", values = {x = array<f64: -1.0, 3.5, 2.8125e-02>}}}
    ```
  }];
  let options = [
    Option<"file", "file", "std::string", "\"\"", "a file of recorded ranges">,
    Option<"model", "model", "std::string", "\"\"",
           "the model's hash, which the file has if it is of this model">
  ];
  let dependentDialects = ["::cameo::onnx::OnnxDialect"];
}

def InsertQuantization : Pass<"cameo-insert-quantization", "::mlir::ModuleOp"> {
  let summary = "insert quantisation of what products read, by recorded ranges";
  let description = [{
    Products become products of dequantised tensors of 8 bits: activations have one scale, the
    least of 5 bits that does not clip a recorded threshold, weights one a channel, of 4 bits, biases 32
    bits and the scale of the sum. Values are
    quantised where they are computed, behind elementwise work; those that operators move or join
    have one scale; of two sums that are added, the earlier one is stored in 8 bits. Products that have no
    form for integers, whose ranges are not known, that a user names or that would cost more than they
    save stay, with `onnx.kept_precision`. Without `onnx.ranges` it is an error to ask for INT8.

    ```mlir
    %0 = onnx.MatMul(%x, %w) : (tensor<2x4xf32>, tensor<4x2xf32>) -> tensor<2x2xf32>
    ```
    ==>
    ```mlir
    %q = onnx.QuantizeLinear(%x, %s, %zero) : (tensor<2x4xf32>, tensor<f32>, tensor<i8>) -> tensor<2x4xi8>
    %d = onnx.DequantizeLinear(%q, %s, %zero) : (tensor<2x4xi8>, tensor<f32>, tensor<i8>) -> tensor<2x4xf32>
    %e = onnx.DequantizeLinear(%integers, %t, %none) {axis = 1 : i64}
        : (tensor<4x2xi8>, tensor<2xf32>, none) -> tensor<4x2xf32>
    %0 = onnx.MatMul(%d, %e) : (tensor<2x4xf32>, tensor<4x2xf32>) -> tensor<2x2xf32>
    ```
  }];
  let options = [
    Option<"precision", "precision", "std::string", "\"int8\"",
           "int8: all products; any other: those that nodes= names">,
    Option<"overrideList", "nodes", "std::string", "\"\"",
           "GLOB=TYPE;...: another one for nodes by name or operator; the last that matches counts">,
    Option<"keptEndsName", "keep-ends", "std::string", "\"none\"",
           "products that no other comes before, or behind, stay: none, first, last or both">,
    Option<"scaleChannels", "scale-channels", "bool", "true",
           "multiplies channels before they are quantised, and divides weights by that, as calibration has found it">,
    Option<"correctBiases", "correct-biases", "std::string", "\"recorded\"",
           "takes what quantisation adds to the mean of a channel, by recorded means of what products read, from the biases of convolutions and Gemms: on, off, or recorded: as the ranges say">
  ];
  let dependentDialects = ["::cameo::onnx::OnnxDialect"];
  let statistics = [
    Statistic<"products", "products", "products that became products of integers">,
    Statistic<"corrected", "corrected", "products whose biases were corrected">,
    Statistic<"scaled", "scaled", "values whose channels are scaled">,
    Statistic<"kept", "kept", "products that stayed">,
    Statistic<"values", "values", "values that are quantised">
  ];
}

def InsertWeightQuantization
    : Pass<"cameo-insert-weight-quantization", "::mlir::ModuleOp"> {
  let summary = "insert quantisation of the constant weights of matrix products and recurrent networks alone";
  let description = [{
    A MatMul or Gemm by a constant matrix of FP32 multiplies by a DequantizeLinear of integers: of 8
    bits with a scale for each column, or of 4 bits with one for each block of depth. W and R of LSTM,
    GRU and RNN are of 8 bits with a scale for each gate of a unit. Scales are symmetric: the greatest
    magnitude becomes 127, or 7. Small matrices, those whose depth is not whole blocks, and weights of
    other products stay; the ledger says so.

    ```mlir
    %0 = onnx.MatMul(%x, %w) : (tensor<5x4xf32>, tensor<4x2xf32>) -> tensor<5x2xf32>
    ```
    ==>
    ```mlir
    %d = onnx.DequantizeLinear(%integers, %s, %none) {axis = 1 : i64}
        : (tensor<4x2xi8>, tensor<2xf32>, none) -> tensor<4x2xf32>
    %0 = onnx.MatMul(%x, %d) : (tensor<5x4xf32>, tensor<4x2xf32>) -> tensor<5x2xf32>
    ```
  }];
  let options = [
    Option<"type", "type", "std::string", "\"int8\"", "int8 or int4">,
    Option<"block", "block", "int64_t", "0",
           "how much of the depth has a scale; 0: all of it, a scale for each column">,
    Option<"leastWeights", "least-weights", "int64_t", "4096",
           "how many weights a matrix has at least that is quantised">
  ];
  let dependentDialects = ["::cameo::onnx::OnnxDialect"];
  let statistics = [
    Statistic<"quantised", "quantised", "products whose weights were quantised">,
    Statistic<"kept", "kept", "products whose constant weights stayed">
  ];
}

def LowerPrecision : Pass<"cameo-lower-precision", "::mlir::ModuleOp"> {
  let summary = "lower FP32 values to FP16 or BF16, and products to TF32, where their ranges allow it";
  let description = [{
    Products take the precision asked for; other operators do where that needs fewer casts, by a minimal
    cut over the bytes that casts and wider values move. A table says of each operator what may be
    (`cameoc --list-precision-policy`). What would leave the type's range, or sink below its normal
    numbers, stays FP32, a product of FP16 becomes one of BF16: bounds come from constants, from operators
    and from `onnx.ranges`, which goes. Constants are rounded here. TF32 changes no type: products
    get `onnx.products = "tf32"`. Products of dequantised tensors stay what they are, and so does elementwise
    work that is quantised. A function that has `onnx.precision` has its types and stays as it is.

    ```mlir
    %0 = onnx.Conv(%x, %w, %none) : (tensor<1x1x4xf32>, tensor<2x1x1xf32>, none) -> tensor<1x2x4xf32>
    %1 = onnx.Relu(%0) : (tensor<1x2x4xf32>) -> tensor<1x2x4xf32>
    ```
    ==>
    ```mlir
    %c = onnx.Cast(%x) {to = 10} : (tensor<1x1x4xf32>) -> tensor<1x1x4xf16>
    %0 = onnx.Conv(%c, %w, %none) : (tensor<1x1x4xf16>, tensor<2x1x1xf16>, none) -> tensor<1x2x4xf16>
    %d = onnx.Cast(%0) {to = 1} : (tensor<1x2x4xf16>) -> tensor<1x2x4xf32>
    %1 = onnx.Relu(%d) : (tensor<1x2x4xf32>) -> tensor<1x2x4xf32>
    ```
  }];
  let options = [
    Option<"precision", "precision", "std::string", "\"fp32\"",
           "fp32, tf32, fp16, bf16, or int8: FP16 beside what is quantised">,
    Option<"overrideList", "nodes", "std::string", "\"\"",
           "GLOB=TYPE;...: another one for nodes by name or operator; the last that matches counts">,
    Option<"ioType", "io", "std::string", "\"fp32\"",
           "what inputs and outputs of FP32 become: fp32, fp16 or bf16">
  ];
  let dependentDialects = ["::cameo::onnx::OnnxDialect"];
  let statistics = [
    Statistic<"fp32", "fp32", "nodes in FP32">, Statistic<"tf32", "tf32", "nodes in TF32">,
    Statistic<"fp16", "fp16", "nodes in FP16">, Statistic<"bf16", "bf16", "nodes in BF16">,
    Statistic<"int8", "int8", "products of integers, and what quantises for them">,
    Statistic<"casts", "casts", "casts that were made">
  ];
}

def PlaceTaps : Pass<"cameo-place-taps", "::mlir::ModuleOp"> {
  let summary = "place taps on intermediate values";
  let description = [{
    Makes values that match a pattern further results of the function, marked with `rt.tap`: they are
    stored for who watches a run, besides the outputs. A pattern matches values by name (an input's; a
    node's for its first result, `name:1` for the second; or what `onnx.tensors` of the function says
    that the model's file calls one), and nodes by name or operator. Constants cannot be tapped. Where several steps of one node have its name, the last one has the value; a cast
    between floats behind it is none of them, so the value is as it is stored. Values in bodies are results of these,
    behind those that the caller takes. A model that has taps stays as it is.

    ```mlir
    func.func @main(%x: tensor<4xf32>) -> tensor<4xf32> {
      %0 = onnx.Relu(%x) : (tensor<4xf32>) -> tensor<4xf32> loc("relu")
      %1 = onnx.Exp(%0) : (tensor<4xf32>) -> tensor<4xf32> loc("exp")
      return %1 : tensor<4xf32>
    }
    ```
    ==>
    ```mlir
    func.func @main(%x: tensor<4xf32>)
        -> (tensor<4xf32>, tensor<4xf32> {onnx.dims = [4], onnx.name = "relu", rt.tap}) {
      %0 = onnx.Relu(%x) : (tensor<4xf32>) -> tensor<4xf32> loc("relu")
      %1 = onnx.Exp(%0) : (tensor<4xf32>) -> tensor<4xf32> loc("exp")
      return %1, %0 : tensor<4xf32>, tensor<4xf32>
    }
    ```
  }];
  let options = [
    Option<"globs", "values", "std::string", "\"\"",
           "GLOB;...: which values, by their names or their nodes' names or operators">
  ];
  let dependentDialects = ["::cameo::onnx::OnnxDialect", "::cameo::rt::RtDialect"];
  let statistics = [Statistic<"placed", "placed", "values that are tapped">];
}

def FoldDequantizeIntoProducts
    : Pass<"cameo-fold-dequantize-into-products", "::mlir::func::FuncOp"> {
  let summary = "fold dequantisation of both operands into products of integers";
  let description = [{
    Conv, MatMul and Gemm of two DequantizeLinear become ConvInteger or MatMulInteger of what these
    read, a Cast, a Mul by the product of the scales and an Add of the bias. The left operand has one
    scale, the right one perhaps one for each channel of the result. Sums of integers are exact, so
    results agree to rounding with those of floats. The ledger has the products that stay products of
    floats, and why.

    ```mlir
    %0 = onnx.DequantizeLinear(%x, %sx, %zx) : (tensor<2x3xui8>, tensor<f32>, tensor<ui8>) -> tensor<2x3xf32>
    %1 = onnx.DequantizeLinear(%w, %sw, %zw) : (tensor<3x4xi8>, tensor<f32>, tensor<i8>) -> tensor<3x4xf32>
    %2 = onnx.MatMul(%0, %1) : (tensor<2x3xf32>, tensor<3x4xf32>) -> tensor<2x4xf32>
    ```
    ==>
    ```mlir
    %0 = onnx.MatMulInteger(%x, %w, %zx, %zw)
        : (tensor<2x3xui8>, tensor<3x4xi8>, tensor<ui8>, tensor<i8>) -> tensor<2x4xi32>
    %1 = onnx.Cast(%0) {to = 1 : i64} : (tensor<2x4xi32>) -> tensor<2x4xf32>
    %2 = onnx.Mul(%1, %s) : (tensor<2x4xf32>, tensor<f32>) -> tensor<2x4xf32>
    ```
  }];
  let dependentDialects = ["::cameo::onnx::OnnxDialect"];
  let statistics = [
    Statistic<"folded", "folded", "products that became products of integers">,
    Statistic<"missed", "missed", "products of dequantised tensors that stay products of floats">
  ];
}

def FoldQuantizedConstants : Pass<"cameo-fold-quantized-constants", "::mlir::func::FuncOp"> {
  let summary = "fold quantised and dequantised constants";
  let description = [{
    QuantizeLinear of a constant becomes a constant of integers. DequantizeLinear of a small one
    becomes a constant of floats, unless a product multiplies by it: products want the integers,
    which are less to read. With `keep-dequantized` none does.

    ```mlir
    %0 = onnx.DequantizeLinear(%c, %s, %none) : (tensor<2xi32>, tensor<f32>, none) -> tensor<2xf32>
    %1 = onnx.Add(%x, %0) : (tensor<2xf32>, tensor<2xf32>) -> tensor<2xf32>
    ```
    ==>
    ```mlir
    %1 = onnx.Add(%x, %c_times_s) : (tensor<2xf32>, tensor<2xf32>) -> tensor<2xf32>
    ```
  }];
  let options = [
    Option<"maxElements", "max-elements", "int64_t", "4096",
           "how many elements a constant has at most that is dequantised">,
    Option<"keepDequantized", "keep-dequantized", "bool", "false", "dequantises no constant">
  ];
  let dependentDialects = ["::cameo::onnx::OnnxDialect"];
  let statistics = [Statistic<"folded", "folded", "operators that became constants">];
}

def HoistQuantization : Pass<"cameo-hoist-quantization", "::mlir::func::FuncOp"> {
  let summary = "hoist quantisation, and sink dequantisation, past operators that move elements";
  let description = [{
    Transposes, views, slices, concatenations, max-pools and the like move the numbers of quantised
    tensors as well as what these stand for: DequantizeLinear comes behind them, QuantizeLinear
    before, where it has one scale, and both are gone where they meet with one scale and zero point.
    So these operators work on bytes, and products are quantised as they are computed. Every bit
    stays, except where max-pools meet NaN.

    ```mlir
    %0 = onnx.DequantizeLinear(%x, %s, %z) : (tensor<2x3xi8>, tensor<f32>, tensor<i8>) -> tensor<2x3xf32>
    %1 = onnx.Transpose(%0) {perm = array<i64: 1, 0>} : (tensor<2x3xf32>) -> tensor<3x2xf32>
    %2 = onnx.QuantizeLinear(%1, %s, %z) : (tensor<3x2xf32>, tensor<f32>, tensor<i8>) -> tensor<3x2xi8>
    ```
    ==>
    ```mlir
    %0 = onnx.Transpose(%x) {perm = array<i64: 1, 0>} : (tensor<2x3xi8>) -> tensor<3x2xi8>
    ```
  }];
  let dependentDialects = ["::cameo::onnx::OnnxDialect"];
  let statistics = [
    Statistic<"hoisted", "hoisted", "operators that QuantizeLinear was moved up past">,
    Statistic<"sunk", "sunk", "operators that DequantizeLinear was moved down past">,
    Statistic<"cancelled", "cancelled", "QuantizeLinear that gave back what was dequantised">
  ];
}

def SplitQuantizedBlocks : Pass<"cameo-split-quantized-blocks", "::mlir::func::FuncOp"> {
  let summary = "split products by weights that are quantised in blocks of their depth";
  let description = [{
    A MatMul or Gemm by a constant that is dequantised with a scale for each block of depth becomes an
    Einsum over blocks and what is in a block, where blocks are whole; what a Gemm adds is added behind.
    BF16, of which ONNX has no Einsum, goes through one of FP32, with casts around it. Then a scale has
    an index of its own, and lowering makes one dispatch of the product and of what dequantises its weights.

    ```mlir
    %0 = onnx.DequantizeLinear(%w, %s, %none) {axis = 0 : i64, block_size = 2 : i64}
        : (tensor<4x1xi8>, tensor<2x1xf32>, none) -> tensor<4x1xf32>
    %1 = onnx.MatMul(%x, %0) : (tensor<5x4xf32>, tensor<4x1xf32>) -> tensor<5x1xf32>
    ```
    ==>
    ```mlir
    %0 = onnx.Reshape(%x, %sizes) : (tensor<5x4xf32>, tensor<3xi64>) -> tensor<5x2x2xf32>
    %1 = onnx.DequantizeLinear(%w_in_blocks, %s_in_blocks, %none) {axis = 1 : i64, block_size = 2 : i64}
        : (tensor<2x2x1xi8>, tensor<2x1x1xf32>, none) -> tensor<2x2x1xf32>
    %2 = onnx.Einsum(%0, %1) {equation = "ayz,yzx->ax"}
        : (tensor<5x2x2xf32>, tensor<2x2x1xf32>) -> tensor<5x1xf32>
    ```
  }];
  let dependentDialects = ["::cameo::onnx::OnnxDialect"];
  let statistics = [Statistic<"split", "split", "products that sum over blocks">];
}

#endif
