// Shape rules on sizes that are symbols: no IR is made for them.
// SPDX-License-Identifier: Apache-2.0
#include "dialects/onnx/Onnx.h"
#include "dialects/onnx/shape/SizeNames.h"
#include "dialects/onnx/shape/SymbolicSizes.h"
#include "dialects/onnx/shape/Windows.h"

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
                        attributes + " : (none, none, none) -> none")
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

  std::vector<std::string> names(const FailureOr<onnx::WindowShape> &shape) {
    std::vector<std::string> result;
    if (succeeded(shape))
      for (OpFoldResult size : shape->result)
        result.push_back(onnx::SizeNames(s).of(size));
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

} // namespace
