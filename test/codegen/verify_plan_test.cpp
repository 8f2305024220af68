// Plans that PlannedValues is to find wrong: those of cameo-plan-buffers, changed in one place.
//
// SPDX-License-Identifier: Apache-2.0
#include "dialects/kernel/Kernel.h"
#include "passes/host/BufferPlanner.h"
#include "passes/host/VerifyPlan.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/Verifier.h"
#include "mlir/Parser/Parser.h"

#include <gtest/gtest.h>

using namespace mlir;
using namespace cameo;

namespace {

using Change = llvm::function_ref<void(func::FuncOp plan)>;

class VerifyPlan : public testing::Test {
protected:
  VerifyPlan()
      : handler(&context, [this](Diagnostic &diagnostic) { said += diagnostic.str() + "\n"; }) {
    context.loadDialect<rt::RtDialect, kernel::KernelDialect, func::FuncDialect,
                        arith::ArithDialect, tensor::TensorDialect>();
  }

  /// Plans a function, makes the change, and gives what is said of the plan then.
  std::string verify(StringRef body, Change change = [](func::FuncOp) {}) {
    said.clear();
    std::string text = (R"(
      func.func @main(%x: tensor<64xf32>) -> (tensor<64xf32> {onnx.name = "y"}) {
        %c1 = arith.constant 1 : index
        %e = tensor.empty() : tensor<64xf32>
    )" + body + "}")
                           .str();
    module = parseSourceString<ModuleOp>(text, &context);
    if (!module)
      return "not parsed: " + said;
    auto function = *module->getOps<func::FuncOp>().begin();
    PlannedValues values(function);
    if (failed(BufferPlanner(function).run()))
      return "not planned: " + said;
    change(function);
    if (failed(mlir::verify(*module)))
      return "not IR: " + said;
    bool good = succeeded(values.verify(function)) && succeeded(verifyArena(function));
    EXPECT_EQ(good, said.empty()) << said;
    return said;
  }

  static rt::LaunchOp launch(func::FuncOp plan, unsigned number) {
    auto launches = llvm::to_vector(plan.getOps<rt::LaunchOp>());
    return number < launches.size() ? launches[number] : rt::LaunchOp();
  }
  static Value buffer(rt::LaunchOp launch, unsigned position) {
    return launch.getOperands_()[position];
  }
  static void setBuffer(rt::LaunchOp launch, unsigned position, Value buffer) {
    launch.getOperands_Mutable()[position].set(buffer);
  }

  MLIRContext context;
  std::string said;
  ScopedDiagnosticHandler handler;
  OwningOpRef<ModuleOp> module;
};

/// a is read by b, c and, last, y.
constexpr StringLiteral kChain = R"(
  %a = rt.launch @k::@a grid(%c1, %c1, %c1) args(%x, %e : tensor<64xf32>, tensor<64xf32>)
      writes [1] -> tensor<64xf32> loc("a")
  %b = rt.launch @k::@b grid(%c1, %c1, %c1) args(%a, %e : tensor<64xf32>, tensor<64xf32>)
      writes [1] -> tensor<64xf32> loc("b")
  %c = rt.launch @k::@c grid(%c1, %c1, %c1) args(%b, %e : tensor<64xf32>, tensor<64xf32>)
      writes [1] {rt.in_place = array<i64: 1, 0>} -> tensor<64xf32> loc("c")
  %y = rt.launch @k::@y grid(%c1, %c1, %c1) args(%a, %c, %e : tensor<64xf32>, tensor<64xf32>,
      tensor<64xf32>) writes [2] -> tensor<64xf32> loc("y")
  return %y : tensor<64xf32>
)";

TEST_F(VerifyPlan, APlanIsRight) {
  EXPECT_EQ(verify(kChain), "");
  ASSERT_TRUE(launch(*module->getOps<func::FuncOp>().begin(), 2)->hasAttr(rt::kInPlaceAttr))
      << "c is written over b";
}

TEST_F(VerifyPlan, AResultOverAValueThatIsReadLater) {
  // As if c might be written over a, which y reads.
  EXPECT_EQ(verify(kChain,
                   [&](func::FuncOp plan) {
                     Value a = buffer(launch(plan, 0), 1);
                     rt::LaunchOp c = launch(plan, 2);
                     setBuffer(c, 1, a);
                     c->removeAttr(rt::kInPlaceAttr);
                     setBuffer(launch(plan, 3), 1, a);
                   }),
            "reads 'a' from a buffer that holds 'c'; this is a bug in Cameo\n");
}

TEST_F(VerifyPlan, AnotherBufferIsRead) {
  EXPECT_EQ(
      verify(kChain,
             [&](func::FuncOp plan) { setBuffer(launch(plan, 3), 1, buffer(launch(plan, 0), 1)); }),
      "reads 'c' from a buffer that holds 'a'; this is a bug in Cameo\n");
}

TEST_F(VerifyPlan, OnePlaceForTwo) {
  std::string found = verify(kChain, [&](func::FuncOp plan) {
    auto place = [&](unsigned number) {
      return buffer(launch(plan, number), 1).getDefiningOp<rt::ArenaViewOp>();
    };
    place(1).getOffsetMutable().set(place(0).getOffset());
  });
  EXPECT_EQ(found.substr(0, found.find('\n')),
            "'b' overwrites 'a', which is in use later, in the arena: they have bytes [0, 256) and "
            "[0, 256) and share [0, 256); this is a bug in Cameo");
}

TEST_F(VerifyPlan, AnInputIsWritten) {
  EXPECT_EQ(
      verify(kChain,
             [&](func::FuncOp plan) { setBuffer(launch(plan, 1), 1, buffer(launch(plan, 0), 0)); }),
      "writes 'b' to the memory of an input or a weight; this is a bug in Cameo\n");
}

TEST_F(VerifyPlan, AnOutputIsNotThere) {
  EXPECT_EQ(verify(kChain,
                   [&](func::FuncOp plan) {
                     setBuffer(launch(plan, 3), 2, buffer(launch(plan, 2), 1));
                     setBuffer(launch(plan, 3), 1, buffer(launch(plan, 0), 1));
                   }),
            "reads 'c' from a buffer that holds 'a'; this is a bug in Cameo\n");
  EXPECT_EQ(verify(kChain,
                   [&](func::FuncOp plan) {
                     Value y = buffer(launch(plan, 3), 2);
                     setBuffer(launch(plan, 3), 2, buffer(launch(plan, 0), 1));
                     setBuffer(launch(plan, 3), 0, y);
                   }),
            "reads 'a' from a buffer that holds nothing; this is a bug in Cameo\n");
}

TEST_F(VerifyPlan, AStepIsMissing) {
  EXPECT_EQ(verify(kChain, [&](func::FuncOp plan) { launch(plan, 3).erase(); }),
            "has 3 launches, 0 writes of numbers and 0 fetches, and had 4, 0 and 0 before it was "
            "planned; this is a bug in Cameo\n");
}

/// y is updated where it is, after a copy; x is an output, too.
constexpr StringLiteral kUpdate = R"(
  %a = rt.launch @k::@a grid(%c1, %c1, %c1) args(%x, %e : tensor<64xf32>, tensor<64xf32>)
      writes [1] -> tensor<64xf32> loc("a")
  %b = rt.launch @k::@b grid(%c1, %c1, %c1) args(%x, %a : tensor<64xf32>, tensor<64xf32>)
      writes [1] -> tensor<64xf32> loc("b")
  %y = rt.launch @k::@y grid(%c1, %c1, %c1) args(%a, %b, %e : tensor<64xf32>, tensor<64xf32>,
      tensor<64xf32>) writes [2] -> tensor<64xf32> loc("y")
  return %y : tensor<64xf32>
)";

TEST_F(VerifyPlan, AnUpdateWithoutItsCopy) {
  EXPECT_EQ(verify(kUpdate), "");
  EXPECT_EQ(verify(kUpdate,
                   [&](func::FuncOp plan) {
                     rt::CopyOp copy = *plan.getOps<rt::CopyOp>().begin();
                     copy.erase();
                   }),
            "reads 'a' from a buffer that holds nothing; this is a bug in Cameo\n");
  EXPECT_EQ(verify(kUpdate,
                   [&](func::FuncOp plan) {
                     rt::CopyOp copy = *plan.getOps<rt::CopyOp>().begin();
                     copy.getDest().replaceAllUsesWith(copy.getSource());
                     copy.erase();
                   }),
            "reads 'a' from a buffer that holds 'b'; this is a bug in Cameo\n");
}

/// Two parts of one storage, and what is made of it.
constexpr StringLiteral kParts = R"(
  %s = rt.storage : tensor<64xf32> loc("s")
  %v = rt.view %s[0] : tensor<64xf32> -> tensor<32xf32>
  %w = rt.view %s[32] : tensor<64xf32> -> tensor<32xf32>
  %a = rt.launch @k::@a grid(%c1, %c1, %c1) args(%x, %v : tensor<64xf32>, tensor<32xf32>)
      writes [1] -> tensor<32xf32> loc("a")
  %b = rt.launch @k::@b grid(%c1, %c1, %c1) args(%a, %w : tensor<32xf32>, tensor<32xf32>)
      writes [1] -> tensor<32xf32> loc("b")
  %t = rt.assemble %s dim 0 of %a, %b : tensor<64xf32> of tensor<32xf32>, tensor<32xf32>
  %c = rt.launch @k::@c grid(%c1, %c1, %c1) args(%t, %e : tensor<64xf32>, tensor<64xf32>)
      writes [1] -> tensor<64xf32> loc("c")
  %y = rt.launch @k::@y grid(%c1, %c1, %c1) args(%t, %c, %e : tensor<64xf32>, tensor<64xf32>,
      tensor<64xf32>) writes [2] -> tensor<64xf32> loc("y")
  return %y : tensor<64xf32>
)";

TEST_F(VerifyPlan, PartsAreOneValue) {
  EXPECT_EQ(verify(kParts), "");
  EXPECT_EQ(verify(kParts,
                   [&](func::FuncOp plan) {
                     rt::LaunchOp c = launch(plan, 2);
                     setBuffer(launch(plan, 3), 1, buffer(c, 0));
                     Value own = buffer(c, 1);
                     setBuffer(c, 1, buffer(c, 0));
                     setBuffer(c, 0, own);
                   }),
            "reads 's' from a buffer that holds nothing; this is a bug in Cameo\n");
}

/// One of two launches runs; both write over what they read.
constexpr StringLiteral kFallback = R"(
  %a = rt.launch @k::@a grid(%c1, %c1, %c1) args(%x, %e : tensor<64xf32>, tensor<64xf32>)
      writes [1] -> tensor<64xf32> loc("a")
  %b = rt.launch @k::@b grid(%c1, %c1, %c1) args(%a, %e : tensor<64xf32>, tensor<64xf32>)
      writes [1] {rt.in_place = array<i64: 1, 0>} -> tensor<64xf32> loc("b")
  %c = rt.launch @k::@c grid(%c1, %c1, %c1) args(%a, %b : tensor<64xf32>, tensor<64xf32>)
      writes [1] {kernel.fallback, rt.in_place = array<i64: 1, 0>} -> tensor<64xf32> loc("c")
  %y = rt.launch @k::@y grid(%c1, %c1, %c1) args(%c, %e : tensor<64xf32>, tensor<64xf32>)
      writes [1] -> tensor<64xf32> loc("y")
  return %y : tensor<64xf32>
)";

TEST_F(VerifyPlan, OneOfTwoLaunchesRuns) {
  EXPECT_EQ(verify(kFallback), "");
  auto c = launch(*module->getOps<func::FuncOp>().begin(), 2);
  EXPECT_EQ(buffer(c, 0), buffer(c, 1)) << "it is written over a, where b would be";
  EXPECT_EQ(
      verify(kFallback, [&](func::FuncOp plan) { launch(plan, 2)->removeAttr(rt::kFallbackAttr); }),
      "reads 'a' from a buffer that holds 'b'; this is a bug in Cameo\n");
}

} // namespace
