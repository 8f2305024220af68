// Arithmetic with sizes: folding, numbering, signs and names, on sizes that are symbols.
// SPDX-License-Identifier: Apache-2.0
#include "dialects/onnx/shape/SizeNames.h"
#include "dialects/onnx/shape/SymbolicSizes.h"

#include "mlir/Dialect/Utils/StaticValueUtils.h"
#include "mlir/IR/Builders.h"
#include "mlir/IR/BuiltinOps.h"
#include "gtest/gtest.h"

using namespace mlir;
using namespace cameo;

namespace {

struct SizeBuilderTest : testing::Test {
  MLIRContext context{MLIRContext::Threading::DISABLED};
  onnx::Refusals refusals;
  onnx::SymbolicSizes s{&context, refusals};
  OpFoldResult n = s.size(StringAttr::get(&context, "N")),
               m = s.size(StringAttr::get(&context, "M"));
  OpFoldResult unnamed = s.size(StringAttr::get(&context));
  OwningOpRef<ModuleOp> node = ModuleOp::create(UnknownLoc::get(&context));

  OpFoldResult number(int64_t value) { return s.index(value); }
  std::string name(OpFoldResult size) { return onnx::SizeNames(s).of(size); }
};

TEST_F(SizeBuilderTest, KnownSizesAreFolded) {
  EXPECT_EQ(s.add(number(3), number(4)), number(7));
  EXPECT_EQ(s.floorDiv(number(-7), number(2)), number(-4));
  EXPECT_EQ(s.ceilDiv(number(-7), number(2)), number(-3));
  EXPECT_EQ(s.divTowardsZero(number(-7), number(2)), number(-3));
  EXPECT_EQ(s.rem(number(-7), number(2)), number(-1));
  EXPECT_EQ(s.select(number(0), n, m), m);
  EXPECT_EQ(s.toInteger(s.fdiv(s.toFloat(number(7)), s.floating(2))), number(3));
}

TEST_F(SizeBuilderTest, WhatIsNotDefinedIsNotFolded) {
  EXPECT_FALSE(getConstantIntValue(s.add(number(INT64_MAX), number(1))));
  EXPECT_FALSE(getConstantIntValue(s.rem(number(1), number(0))));
  EXPECT_FALSE(getConstantIntValue(s.floorDiv(number(INT64_MIN), number(-1))));
}

TEST_F(SizeBuilderTest, NeutralOperandsVanish) {
  EXPECT_EQ(s.add(number(0), n), n);
  EXPECT_EQ(s.mul(n, number(1)), n);
  EXPECT_EQ(s.mul(n, number(0)), number(0));
  EXPECT_EQ(s.sub(n, n), number(0));
  EXPECT_EQ(s.max(n, n), n);
  EXPECT_EQ(s.equal(n, n), number(1));
  EXPECT_EQ(s.floorDiv(s.mul(m, n), m), n);
  EXPECT_EQ(s.sub(s.add(m, n), m), n);
  EXPECT_EQ(s.sub(s.add(m, number(1)), m), number(1));
  EXPECT_NE(s.sub(s.add(m, n), unnamed), n);
}

TEST_F(SizeBuilderTest, EqualExpressionsAreEqual) {
  EXPECT_EQ(s.size(StringAttr::get(&context, "N")), n);
  EXPECT_NE(s.size(StringAttr::get(&context)), unnamed);
  EXPECT_EQ(s.add(n, m), s.add(m, n));
  EXPECT_NE(s.sub(n, m), s.sub(m, n));
  EXPECT_EQ(s.product({n, number(2), m, number(3)}), s.mul(s.mul(n, m), number(6)));
  EXPECT_EQ(s.fround(s.fround(s.toFloat(n))), s.fround(s.toFloat(n)));
}

TEST_F(SizeBuilderTest, SizesAreNotNegative) {
  EXPECT_TRUE(s.isNonNegative(s.floorDiv(s.add(n, unnamed), number(2))));
  EXPECT_TRUE(s.isNonNegative(s.less(n, m)));
  EXPECT_FALSE(s.isNonNegative(s.sub(n, m)));
  EXPECT_EQ(s.atLeastZero(n), n);
  EXPECT_EQ(s.atLeastZero(s.sub(n, m)), s.max(s.sub(n, m), number(0)));
}

TEST_F(SizeBuilderTest, SizesHaveNames) {
  EXPECT_EQ(name(s.mul(s.add(n, number(1)), m)), "(N + 1)*M");
  EXPECT_EQ(name(s.max(s.ceilDiv(n, number(2)), m)), "max(N ceildiv 2, M)");
  EXPECT_EQ(name(s.add(n, unnamed)), "");
  EXPECT_EQ(name(s.select(s.less(n, m), n, m)), "");
  OpFoldResult sum = n;
  for (int i = 0; i < 100; ++i)
    sum = s.add(sum, sum);
  EXPECT_EQ(name(sum), "");
}

TEST_F(SizeBuilderTest, BroadcastComparesWhatIsNotKnownToBeEqual) {
  auto shape = s.broadcast(*node, {onnx::Sizes{n, number(4)}, onnx::Sizes{number(4)}});
  ASSERT_TRUE(succeeded(shape));
  EXPECT_EQ(*shape, (onnx::Sizes{n, number(4)}));
  shape = s.broadcast(*node, {onnx::Sizes{n}, onnx::Sizes{m}});
  ASSERT_TRUE(succeeded(shape));
  EXPECT_EQ((*shape)[0], s.select(s.equal(n, number(1)), m, n));
  // The first n of 512 are n, or do not go with n of something else; of one there is but one.
  for (OpFoldResult least : {s.min(n, number(512)), s.min(number(512), n)})
    for (auto shapes : {std::pair(n, least), std::pair(least, n)}) {
      shape = s.broadcast(*node, {onnx::Sizes{shapes.first}, onnx::Sizes{shapes.second}});
      ASSERT_TRUE(succeeded(shape));
      EXPECT_EQ((*shape)[0], n);
    }
  EXPECT_FALSE(s.isCapped(s.min(n, number(1)), n));
  EXPECT_FALSE(s.isCapped(s.min(n, m), n));
  EXPECT_FALSE(s.isCapped(s.min(n, number(512)), m));
  EXPECT_TRUE(failed(s.broadcast(*node, {onnx::Sizes{number(3)}, onnx::Sizes{number(4)}})));
  ASSERT_EQ(refusals.problems().size(), 1u);
  EXPECT_EQ(refusals.problems()[0].reason, "sizes 3 and 4 cannot be broadcast together");
}

} // namespace
