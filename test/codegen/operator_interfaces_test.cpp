// What is known of ONNX operators hangs on their ops, and is complete.
// SPDX-License-Identifier: Apache-2.0
#include "passes/OperatorInterfaces.h"

#include "dialects/onnx/Interfaces.h"
#include "passes/expand/Expander.h"
#include "passes/linalg/Lowering.h"

#include "gtest/gtest.h"

using namespace mlir;
using namespace cameo;

namespace {

struct OperatorInterfaces : testing::Test {
  MLIRContext context{MLIRContext::Threading::DISABLED};

  RegisteredOperationName name(StringRef op) {
    return *RegisteredOperationName::lookup(("onnx." + op).str(), &context);
  }
};

TEST_F(OperatorInterfaces, EveryOperatorHasThoseThatItNeeds) {
  loadOperators(context);
  EXPECT_EQ(incompleteOperators(context), "");
  EXPECT_TRUE(name("Conv").hasInterface<LoweringInterface>());
  EXPECT_TRUE(name("DFT").hasInterface<ExpansionInterface>());
  EXPECT_TRUE(name("ImageDecoder").hasInterface<onnx::NearestFormInterface>());
  EXPECT_FALSE(name("Custom").hasInterface<onnx::ShapeRuleInterface>());
}

// The dialect alone: every operator that passes would lower or expand lacks that.
TEST_F(OperatorInterfaces, MissingRowsAreToldByName) {
  context.loadDialect<onnx::OnnxDialect>();
  std::string lines = incompleteOperators(context);
  EXPECT_NE(lines.find("onnx.Conv has a shape rule, but no lowering\n"), std::string::npos);
  EXPECT_NE(lines.find("onnx.DFT has neither a lowering nor an expansion, nor a nearest form that "
                       "its refusal tells\n"),
            std::string::npos);
  EXPECT_EQ(lines.find("onnx.ImageDecoder"), std::string::npos);
  EXPECT_EQ(lines.find("onnx.None"), std::string::npos);

  attachLowerings(context);
  lines = incompleteOperators(context);
  EXPECT_NE(lines.find("onnx.Conv has a lowering and takes floats, but has no row of the precision "
                       "policy\n"),
            std::string::npos);
  EXPECT_EQ(lines.find("onnx.BitwiseAnd"), std::string::npos); // has no floats
}

TEST_F(OperatorInterfaces, OneRowEach) {
  loadOperators(context);
  EXPECT_DEATH(LoweringRows(context).add<onnx::ReluOp>({}),
               "onnx.Relu has two rows of cameo::LoweringInterface");
}

TEST_F(OperatorInterfaces, RowsOfTwoWaysToComputeContradict) {
  loadOperators(context);
  ExpansionRows(context).add<onnx::ReluOp>({});
  EXPECT_EQ(incompleteOperators(context), "onnx.Relu has more than one of a lowering, an expansion "
                                          "and a nearest form\n");
}

TEST_F(OperatorInterfaces, ARegistryMayComeTwice) {
  for (int i = 0; i < 2; ++i) {
    DialectRegistry registry;
    registry.insert<onnx::OnnxDialect>();
    registerOperatorInterfaces(registry);
    context.appendDialectRegistry(registry);
    context.loadDialect<onnx::OnnxDialect>();
  }
  EXPECT_EQ(incompleteOperators(context), "");
}

} // namespace
