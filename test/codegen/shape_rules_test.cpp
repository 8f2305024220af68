// Shape rules on sizes that are symbols: no IR is made for them.
// SPDX-License-Identifier: Apache-2.0
#include "dialects/onnx/Onnx.h"
#include "dialects/onnx/shape/Contractions.h"
#include "dialects/onnx/shape/ShapeRules.h"
#include "dialects/onnx/shape/SizeNames.h"
#include "dialects/onnx/shape/SymbolicSizes.h"
#include "dialects/onnx/shape/Windows.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/Parser/Parser.h"
#include "gtest/gtest.h"

using namespace mlir;
using namespace cameo;

namespace {

struct ShapeRules : testing::Test {
  MLIRContext context{MLIRContext::Threading::DISABLED};
  onnx::Refusals refusals;
  onnx::SymbolicSizes s{&context, refusals};
  OwningOpRef<ModuleOp> module;

  /// An operator with these attributes: rules ask for sizes, not for operands.
  Operation *node(StringRef name, StringRef attributes) {
    context.loadDialect<onnx::OnnxDialect>();
    std::string text = ("%x = onnx.None() : () -> none\n%y = onnx." + name + "(%x, %x, %x) " +
                        attributes + " : (none, none, none) -> none loc(\"node\")")
                           .str();
    module = parseSourceString<ModuleOp>(text, ParserConfig(&context, /*verifyAfterParse=*/false));
    return module ? &module->getBody()->back() : nullptr;
  }

  onnx::Sizes sizes(ArrayRef<StringRef> texts) {
    onnx::Sizes result;
    for (StringRef text : texts) {
      int64_t number;
      bool isName = text.getAsInteger(10, number);
      result.push_back(isName ? s.size(StringAttr::get(&context, text)) : s.index(number));
    }
    return result;
  }

  std::vector<std::string> names(const onnx::Sizes &sizes) {
    std::vector<std::string> result;
    for (OpFoldResult size : sizes)
      result.push_back(onnx::SizeNames(s).of(size));
    return result;
  }

  std::vector<std::string> names(const FailureOr<onnx::WindowShape> &shape) {
    return succeeded(shape) ? names(shape->result) : std::vector<std::string>();
  }

  std::vector<std::string> names(const FailureOr<onnx::Sizes> &sizes) {
    return succeeded(sizes) ? names(*sizes) : std::vector<std::string>();
  }

  /// What the table's rule says of the last operator of a function's body, whose arguments have the
  /// sizes `inputs`.
  std::vector<std::string> inferred(StringRef body, ArrayRef<onnx::Sizes> inputs) {
    context.loadDialect<onnx::OnnxDialect, func::FuncDialect>();
    std::string arguments;
    for (size_t i = 0; i < inputs.size(); ++i)
      arguments += (i ? ", %" : "%") + std::to_string(i) + ": tensor<*xf32>";
    std::string text = "func.func private @f(" + arguments + ") {\n" + body.str() + "\nreturn }";
    module = parseSourceString<ModuleOp>(text, ParserConfig(&context, /*verifyAfterParse=*/false));
    if (!module)
      return {};
    onnx::Shapes shapes(s, refusals);
    Block &block = cast<func::FuncOp>(module->getBody()->front()).getBody().front();
    for (auto [argument, sizes] : llvm::zip(block.getArguments(), inputs))
      shapes.define(argument, sizes);
    std::vector<std::string> result;
    for (Operation &op : block.without_terminator()) {
      if (!isa<onnx::ShapeRuleInterface>(op))
        continue;
      FailureOr<SmallVector<onnx::Sizes>> sizes = onnx::inferSizes(shapes, &op);
      if (failed(sizes))
        return {};
      for (auto [value, own] : llvm::zip(op.getResults(), *sizes))
        shapes.define(value, own);
      result = names(sizes->front());
    }
    return result;
  }

  using Names = std::vector<std::string>;
};

TEST_F(ShapeRules, Conv) {
  Operation *op = node("Conv", "{pads = array<i64: 1, 1>, strides = array<i64: 2>}");
  ASSERT_TRUE(op);
  EXPECT_EQ(names(onnx::inferConv(s, op, {sizes({"N", "3", "W"}), sizes({"8", "3", "3"})})),
            (Names{"N", "8", "(((W + 2) - 3) floordiv 2) + 1"}));
  EXPECT_EQ(names(onnx::inferConv(s, op, {sizes({"N", "3", "9"}), sizes({"F", "3", "3"})})),
            (Names{"N", "F", "5"}));
}

TEST_F(ShapeRules, ConvOfTheSameSize) {
  Operation *op = node("Conv", "{auto_pad = \"SAME_UPPER\", strides = array<i64: 2>}");
  ASSERT_TRUE(op);
  EXPECT_EQ(names(onnx::inferConv(s, op, {sizes({"1", "1", "W"}), sizes({"1", "1", "3"})})),
            (Names{"1", "1", "W ceildiv 2"}));
}

// A stride beyond the window needs no padding, and takes none away.
TEST_F(ShapeRules, WindowsOfTheSameSizePadByNothingAtLeast) {
  for (StringRef mode : {"SAME_UPPER", "SAME_LOWER"}) {
    Operation *op = node("Conv", "{auto_pad = \"" + mode.str() + "\", strides = array<i64: 3>}");
    ASSERT_TRUE(op);
    auto known = onnx::inferConv(s, op, {sizes({"1", "1", "8"}), sizes({"1", "1", "1"})});
    EXPECT_EQ(names(known), (Names{"1", "1", "3"}));
    const onnx::Window &window = known->windows[0];
    EXPECT_EQ(names(onnx::Sizes{window.before, window.after}), (Names{"0", "0"}));
    auto open = onnx::inferConv(s, op, {sizes({"1", "1", "W"}), sizes({"1", "1", "1"})});
    ASSERT_TRUE(succeeded(open));
    const onnx::Window &shared = open->windows[0]; // the smaller part of the padding
    EXPECT_TRUE(s.isNonNegative(mode == "SAME_UPPER" ? shared.before : shared.after));
  }
}

TEST_F(ShapeRules, ConvTranspose) {
  Operation *op = node("ConvTranspose", "{group = 2 : i64, strides = array<i64: 2>}");
  ASSERT_TRUE(op);
  EXPECT_EQ(
      names(onnx::inferConvTranspose(s, op, {sizes({"N", "4", "W"}), sizes({"4", "3", "3"})})),
      (Names{"N", "6", "max((((W - 1)*2) + 2) + 1, 0)"}));
}

TEST_F(ShapeRules, Pools) {
  Operation *op = node("MaxPool", "{ceil_mode = 1 : i64, kernel_shape = array<i64: 2>, "
                                  "strides = array<i64: 2>}");
  ASSERT_TRUE(op);
  EXPECT_EQ(names(onnx::inferPool(s, op, sizes({"N", "C", "5"}))), (Names{"N", "C", "3"}));
  // The second window would begin behind the input.
  op = node("MaxPool",
            "{ceil_mode = 1 : i64, kernel_shape = array<i64: 2>, strides = array<i64: 3>}");
  ASSERT_TRUE(op);
  EXPECT_EQ(names(onnx::inferPool(s, op, sizes({"N", "C", "3"}))), (Names{"N", "C", "1"}));
  EXPECT_EQ(names(onnx::inferPool(s, op, sizes({"N", "C", "4"}))), (Names{"N", "C", "2"}));
  EXPECT_EQ(*onnx::inferGlobalPool(s, op, sizes({"N", "C", "H", "W"})),
            sizes({"N", "C", "1", "1"}));
}

TEST_F(ShapeRules, WhatDoesNotGoTogetherIsRefused) {
  Operation *op = node("Conv", "");
  ASSERT_TRUE(op);
  EXPECT_TRUE(failed(onnx::inferConv(s, op, {sizes({"N", "4", "W"}), sizes({"8", "3", "3"})})));
  ASSERT_EQ(refusals.problems().size(), 1u);
  EXPECT_EQ(refusals.problems()[0].reason, "the weights take 3 channels, the input has 4");
  EXPECT_TRUE(refusals.contains(op));
}

TEST_F(ShapeRules, MatMul) {
  Operation *op = node("MatMul", "");
  ASSERT_TRUE(op);
  EXPECT_EQ(names(onnx::inferMatMul(s, op, {sizes({"N", "M", "K"}), sizes({"K", "8"})})),
            (Names{"N", "M", "8"}));
  EXPECT_EQ(names(onnx::inferMatMul(s, op, {sizes({"K"}), sizes({"N", "K", "8"})})),
            (Names{"N", "8"}));
  EXPECT_TRUE(failed(onnx::inferMatMul(s, op, {sizes({"2", "3"}), sizes({"4", "5"})})));
  EXPECT_EQ(refusals.problems()[0].reason, "inner sizes 3 and 4 differ; they must be one");
}

// A run compares batch sizes of two names, and broadcasts what is 1.
TEST_F(ShapeRules, BatchesOfMatMulAreBroadcast) {
  Operation *op = node("MatMul", "");
  ASSERT_TRUE(op);
  FailureOr<onnx::Sizes> result =
      onnx::inferMatMul(s, op, {sizes({"N", "2", "3"}), sizes({"M", "3", "4"})});
  ASSERT_TRUE(succeeded(result));
  ASSERT_EQ(result->size(), 3u);
  EXPECT_EQ(names(onnx::Sizes(ArrayRef(*result).drop_front())), (Names{"2", "4"}));
  EXPECT_TRUE(refusals.problems().empty());
  EXPECT_TRUE(failed(onnx::inferMatMul(s, op, {sizes({"5", "2", "3"}), sizes({"7", "3", "4"})})));
  EXPECT_EQ(refusals.problems().size(), 1u);
}

TEST_F(ShapeRules, EinsumGivesLoops) {
  Operation *op = node("Einsum", "{equation = \"...ij,jk->...ik\"}");
  ASSERT_TRUE(op);
  FailureOr<onnx::EinsumShape> shape =
      onnx::inferEinsum(s, op, {sizes({"N", "M", "3"}), sizes({"3", "1"})});
  ASSERT_TRUE(succeeded(shape));
  EXPECT_EQ(names(shape->result), (Names{"N", "M", "1"}));
  EXPECT_EQ(names(shape->loops), (Names{"N", "M", "1", "3"}));
  EXPECT_EQ(shape->operands[1], (SmallVector<int64_t>{3, 2}));
}

TEST_F(ShapeRules, ElementwiseOperatorsBroadcast) {
  EXPECT_EQ(inferred("%y = onnx.Add(%0, %1) : (tensor<*xf32>, tensor<*xf32>) -> tensor<*xf32>",
                     {sizes({"N", "1", "4"}), sizes({"C", "1"})}),
            (Names{"N", "C", "4"}));
}

TEST_F(ShapeRules, ReshapeDividesWhatItHas) {
  auto reshape = [&](StringRef shape, ArrayRef<StringRef> input) {
    return inferred(
        "%s = onnx.Constant() {value = dense<[" + shape.str() +
            "]> : tensor<2xi64>} : () -> tensor<2xi64>\n"
            "%y = onnx.Reshape(%0, %s) : (tensor<*xf32>, tensor<2xi64>) -> tensor<*xf32>",
        {sizes(input)});
  };
  EXPECT_EQ(reshape("-1, 3", {"N", "6"}), (Names{"N*2", "3"}));
  // As a whole, not factor by factor.
  EXPECT_EQ(reshape("-1, 4", {"N", "6"}), (Names{"N*6 floordiv 4", "4"}));
  EXPECT_EQ(reshape("0, -1", {"N", "C", "5"}), (Names{"N", "C*5"}));
}

TEST_F(ShapeRules, SlicesEndWhereTheirInputDoes) {
  auto slice = [&](int64_t start, int64_t end, StringRef size) {
    auto number = [](int64_t value) {
      return "onnx.Constant() {value = dense<" + std::to_string(value) +
             "> : tensor<1xi64>} : () -> tensor<1xi64>\n";
    };
    return inferred(
        "%s = " + number(start) + "%e = " + number(end) +
            "%y = onnx.Slice(%0, %s, %e) : (tensor<*xf32>, tensor<1xi64>, tensor<1xi64>)"
            " -> tensor<*xf32>",
        {sizes({size})});
  };
  EXPECT_EQ(slice(-5, 3, "3"), (Names{"3"})); // counted from the end, and beyond the beginning
  EXPECT_EQ(slice(-5, -2, "3"), (Names{"1"}));
  EXPECT_EQ(slice(-2, 9, "3"), (Names{"2"}));
  EXPECT_EQ(slice(2, 1, "3"), (Names{"0"}));
  EXPECT_EQ(slice(0, -5, "3"), (Names{"0"}));
}

TEST_F(ShapeRules, ShapesOfShapes) {
  EXPECT_EQ(inferred("%s = onnx.Shape(%0) : (tensor<*xf32>) -> tensor<2xi64>\n"
                     "%p = onnx.Mul(%s, %s) : (tensor<2xi64>, tensor<2xi64>) -> tensor<2xi64>\n"
                     "%y = onnx.ConstantOfShape(%p) : (tensor<2xi64>) -> tensor<*xf32>",
                     {sizes({"N", "3"})}),
            (Names{"N*N", "9"}));
  EXPECT_TRUE(refusals.problems().empty());
}

TEST_F(ShapeRules, WhatTheDeviceComputesIsReadBack) {
  // Beside what the host knows, as far as that goes.
  Names names =
      inferred("%s = onnx.Shape(%0) : (tensor<*xf32>) -> tensor<1xi64>\n"
               "%p = onnx.MatMul(%1, %1) : (tensor<*xf32>, tensor<*xf32>) -> tensor<1x1xf32>\n"
               "%m = onnx.Cast(%p) {to = 7 : i64} : (tensor<1x1xf32>) -> tensor<1x1xi64>\n"
               "%a = onnx.Constant() {value = dense<0> : tensor<1xi64>} : () -> tensor<1xi64>\n"
               "%q = onnx.Squeeze(%m, %a) : (tensor<1x1xi64>, tensor<1xi64>) -> tensor<1xi64>\n"
               "%c = onnx.Concat(%s, %q) {axis = 0 : i64} : (tensor<1xi64>, tensor<1xi64>) -> "
               "tensor<2xi64>\n"
               "%y = onnx.ConstantOfShape(%c) : (tensor<2xi64>) -> tensor<*xf32>",
               {sizes({"N"}), sizes({"1", "1"})});
  ASSERT_EQ(names.size(), 2u);
  EXPECT_EQ(names[0], "N");
  EXPECT_TRUE(refusals.problems().empty());
}

TEST_F(ShapeRules, ListsOfUnknownLengthAreNoShape) {
  EXPECT_EQ(inferred("%i = onnx.Cast(%0) {to = 7 : i64} : (tensor<*xf32>) -> tensor<?xi64>\n"
                     "%y = onnx.ConstantOfShape(%i) : (tensor<?xi64>) -> tensor<*xf32>",
                     {sizes({"N"})}),
            Names{});
  ASSERT_EQ(refusals.problems().size(), 1u);
  EXPECT_NE(refusals.problems()[0].reason.find("must be known on the host"), std::string::npos);
}

TEST_F(ShapeRules, BugsNameTheirNode) {
  Operation *unknown = node("ImageDecoder", "");
  ASSERT_TRUE(unknown);
  onnx::Shapes shapes(s, refusals);
  EXPECT_DEATH((void)onnx::inferSizes(shapes, unknown),
               "node 'node' \\(onnx.ImageDecoder\\): no rule says what sizes its results have");
}

} // namespace
