// Weights that passes have replaced give their memory back.
// SPDX-License-Identifier: Apache-2.0
#include "dialects/onnx/Onnx.h"
#include "dialects/rt/Rt.h"

#include "mlir/IR/BuiltinOps.h"
#include "gtest/gtest.h"

using namespace mlir;
using namespace cameo;

namespace {

TEST(Constants, ThoseThatNothingRefersToAreReleased) {
  MLIRContext context(MLIRContext::Threading::DISABLED);
  context.loadDialect<onnx::OnnxDialect, rt::RtDialect>();
  OpBuilder builder(&context);
  OwningOpRef<ModuleOp> module = ModuleOp::create(builder.getUnknownLoc());
  builder.setInsertionPointToStart(module->getBody());
  auto type = RankedTensorType::get({1000}, builder.getF32Type());
  std::vector<char> bytes(4000, 'x');
  auto resource = [&](StringRef name) {
    return cast<DenseResourceElementsAttr>(onnx::makeConstant(type, name, bytes));
  };
  auto add = [&](StringRef name, ElementsAttr value) {
    return builder.create<rt::ConstantOp>(builder.getUnknownLoc(), name, value, IntegerAttr());
  };
  DenseResourceElementsAttr kept = resource("kept"), shared = resource("shared");
  DenseResourceElementsAttr replaced = resource("replaced"), unused = resource("unused");
  add("a", kept);
  // Another view of the same bytes, which is a user like any other.
  auto square = RankedTensorType::get({10, 100}, builder.getF32Type());
  add("b", DenseResourceElementsAttr::get(square, shared.getRawHandle()));
  rt::ConstantOp old = add("c", replaced);

  EXPECT_EQ(onnx::releaseUnusedConstants({*module}), 4000);
  EXPECT_FALSE(onnx::constantBytes(unused));
  ASSERT_TRUE(onnx::constantBytes(replaced));
  old.erase();
  EXPECT_EQ(onnx::releaseUnusedConstants({*module}), 4000);
  EXPECT_FALSE(onnx::constantBytes(replaced));
  for (DenseResourceElementsAttr live : {kept, shared}) {
    ASSERT_TRUE(onnx::constantBytes(live));
    EXPECT_EQ(onnx::constantBytes(live)->get().back(), 'x');
  }
  EXPECT_EQ(onnx::releaseUnusedConstants({*module}), 0);
}

} // namespace
