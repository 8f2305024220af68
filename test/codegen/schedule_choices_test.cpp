// What schedule classes choose by themselves, they accept: over operators, element types, sizes and
// every target.
//
// SPDX-License-Identifier: Apache-2.0
#include "codegen/Passes.h"
#include "codegen/schedule/Schedule.h"
#include "dialects/onnx/Onnx.h"
#include "passes/OperatorInterfaces.h"
#include "passes/Passes.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Parser/Parser.h"
#include "mlir/Pass/PassManager.h"
#include "llvm/Support/FormatVariadic.h"

#include <gtest/gtest.h>

using namespace cameo;
using namespace mlir;

namespace {

std::string tensorOf(ArrayRef<int64_t> sizes, StringRef element) {
  std::string result = "tensor<";
  for (int64_t size : sizes)
    result += std::to_string(size) + "x";
  return result + element.str() + ">";
}

/// `body` makes %y of the inputs %a and %b.
std::string model(const std::string &a, const std::string &b, const std::string &y,
                  const std::string &body) {
  return llvm::formatv("func.func @main(%a: {0}, %b: {1}) -> {2} {{\n{3}\n  return %y : {2}\n}\n",
                       a, b, y, body);
}

std::string product(int64_t m, int64_t n, int64_t k, StringRef element) {
  std::string a = tensorOf({m, k}, element), b = tensorOf({k, n}, element);
  std::string y = tensorOf({m, n}, element);
  return model(a, b, y, llvm::formatv("  %y = onnx.MatMul(%a, %b) : ({0}, {1}) -> {2}", a, b, y));
}

std::string convolution(int64_t images, int64_t channels, int64_t size, int64_t filters,
                        int64_t window, StringRef element) {
  std::string x = tensorOf({images, channels, size, size}, element);
  std::string w = tensorOf({filters, channels, window, window}, element);
  int64_t out = size - window + 1;
  std::string y = tensorOf({images, filters, out, out}, element);
  return model(x, w, y,
               llvm::formatv("  %none = onnx.None() : () -> none\n"
                             "  %y = onnx.Conv(%a, %b, %none) : ({0}, {1}, none) -> {2}",
                             x, w, y));
}

/// An operator of one tensor that keeps its shape.
std::string unary(StringRef op, StringRef attributes, ArrayRef<int64_t> sizes, StringRef element) {
  std::string x = tensorOf(sizes, element);
  return model(x, x, x, llvm::formatv("  %y = onnx.{0}(%a) {1} : ({2}) -> {2}", op, attributes, x));
}

std::string transposed(int64_t rows, int64_t columns, StringRef element) {
  std::string x = tensorOf({3, rows, columns}, element), y = tensorOf({3, columns, rows}, element);
  return model(x, x, y,
               llvm::formatv("  %y = onnx.Transpose(%a) {{perm = array<i64: 0, 2, 1>} : ({0}) -> "
                             "{1}",
                             x, y));
}

std::string runningSum(int64_t length, StringRef element) {
  std::string x = tensorOf({length}, element);
  return model(x, x, x,
               llvm::formatv("  %axis = onnx.Constant() {{value = dense<0> : tensor<i64>} : () -> "
                             "tensor<i64>\n  %y = onnx.CumSum(%a, %axis) : ({0}, tensor<i64>) -> "
                             "{0}",
                             x));
}

std::string scattered(int64_t length, StringRef element) {
  std::string x = tensorOf({length}, element);
  return model(x, x, x,
               llvm::formatv("  %i = onnx.Cast(%b) {{to = 7 : i64} : ({0}) -> tensor<{1}xi64>\n"
                             "  %y = onnx.ScatterElements(%a, %i, %b) : ({0}, tensor<{1}xi64>, "
                             "{0}) -> {0}",
                             x, length));
}

std::string cached(int64_t length, StringRef element) {
  std::string x = tensorOf({2, 64, length}, element), u = tensorOf({2, 3, length}, element);
  return model(x, u, x,
               llvm::formatv("  %none = onnx.None() : () -> none\n"
                             "  %y = onnx.TensorScatter(%a, %b, %none) : ({0}, {1}, none) -> {0}",
                             x, u));
}

std::string suppressed(int64_t count) {
  std::string boxes = tensorOf({2, count, 4}, "f32"), scores = tensorOf({2, 3, count}, "f32");
  return model(boxes, scores, "tensor<?x3xi64>",
               llvm::formatv("  %n = onnx.Constant() {{value = dense<50> : tensor<i64>} : () -> "
                             "tensor<i64>\n  %none = onnx.None() : () -> none\n"
                             "  %y = onnx.NonMaxSuppression(%a, %b, %n, %none, %none) : ({0}, {1}, "
                             "tensor<i64>, none, none) -> tensor<?x3xi64>",
                             boxes, scores));
}

std::string recurrent(StringRef op, int64_t gates, int64_t rows, int64_t units, StringRef element) {
  std::string x = tensorOf({4, rows, 8}, element), r = tensorOf({2, gates * units, units}, element),
              w = tensorOf({2, gates * units, 8}, element),
              y = tensorOf({4, 2, rows, units}, element);
  std::string more = op == "LSTM" ? ", %none, %none" : "",
              moreTypes = op == "LSTM" ? ", none, none" : "",
              moreResults = op == "LSTM" ? ", %k" : "",
              moreResultTypes = op == "LSTM" ? ", none" : "";
  return model(x, r, y,
               llvm::formatv("  %none = onnx.None() : () -> none\n"
                             "  %w = onnx.Constant() {{value = dense<0.5> : {3}} : () -> {3}\n"
                             "  %y, %h{7} = onnx.{0}(%a, %w, %b, %none, %none, %none{5}) "
                             "{{direction = \"bidirectional\"} : ({1}, {3}, {2}, none, none, "
                             "none{6}) -> ({4}, none{8})",
                             op, x, r, w, y, more, moreTypes, moreResults, moreResultTypes));
}

std::string pool(int64_t channels, int64_t size, int64_t window, StringRef element) {
  std::string x = tensorOf({1, channels, size, size}, element);
  std::string y = tensorOf({1, channels, size - window + 1, size - window + 1}, element);
  return model(x, x, y,
               llvm::formatv("  %y, %i = onnx.MaxPool(%a) {{kernel_shape = array<i64: {2}, {2}>} : "
                             "({0}) -> ({1}, none)",
                             x, y, window));
}

class ScheduleChoices : public testing::Test {
protected:
  ScheduleChoices() : context(registry()) {
    for (const Target &target : knownTargets())
      targets += (targets.empty() ? "" : ";") + target.name.str();
  }

  static DialectRegistry registry() {
    DialectRegistry result;
    result.insert<func::FuncDialect, onnx::OnnxDialect>();
    registerOperatorInterfaces(result);
    return result;
  }

  /// Schedules the model for every target, and asks each class about its own choice.
  void expectAccepted(const std::string &text) {
    SCOPED_TRACE(text);
    std::string problems;
    ScopedDiagnosticHandler handler(&context, [&](Diagnostic &diagnostic) {
      problems += diagnostic.str() + "\n";
      return success();
    });
    OwningOpRef<ModuleOp> module = parseSourceString<ModuleOp>(text, &context, "test.mlir");
    ASSERT_TRUE(module) << problems;
    PassManager passes(&context);
    passes.addPass(createLowerOnnxToDispatches());
    passes.addPass(createCreateVariants({targets}));
    passes.nest<rt::VariantOp>().addPass(createAssignSchedules());
    passes.addPass(createPackWeights());
    ASSERT_TRUE(succeeded(passes.run(*module))) << problems;
    module->walk([&](kernel::DispatchOp op) {
      auto variant = op->getParentOfType<rt::VariantOp>();
      const Target *target = llvm::cantFail(findTarget(variant.getTarget()));
      kernel::ScheduleAttr chosen = op.getScheduleAttr();
      std::unique_ptr<ScheduleMatch> match =
          findSchedule(chosen.getFamily())->match(Computation(op), *target);
      EXPECT_TRUE(match && succeeded(match->verify(chosen.getParams())))
          << target->name.str() << ": " << problems;
      families.insert(chosen.getFamily().str());
    });
  }

  MLIRContext context;
  std::string targets;
  std::set<std::string> families;
};

constexpr const char *kFloats[] = {"f16", "bf16", "f32", "f64"};
constexpr const char *kNumbers[] = {"f16", "bf16", "f32", "f64", "i32", "i64", "ui32", "ui64"};

TEST_F(ScheduleChoices, ProductsAreAccepted) {
  constexpr int64_t kSizes[] = {1, 7, 8, 33, 64, 250, 1024, 2048, 8192};
  for (const char *element : kNumbers)
    for (int64_t m : kSizes)
      for (int64_t n : kSizes)
        expectAccepted(product(m, n, m == n ? 2048 : 72, element));
  EXPECT_TRUE(families.count("contraction"));
}

TEST_F(ScheduleChoices, ConvolutionsAreAccepted) {
  for (const char *element : kFloats)
    for (int64_t images : {1, 8})
      for (int64_t channels : {3, 64})
        for (int64_t size : {7, 56, 112})
          for (int64_t window : {1, 3, 7})
            expectAccepted(convolution(images, channels, size, 64, window, element));
  EXPECT_TRUE(families.count("contraction"));
}

TEST_F(ScheduleChoices, OthersAreAccepted) {
  for (const char *element : kFloats)
    for (int64_t length : {1, 5, 64, 1000, 4096, 100000}) {
      expectAccepted(unary("Softmax", "{axis = -1 : i64}", {16, length}, element));
      expectAccepted(unary("Softmax", "{axis = 0 : i64}", {length, 16}, element));
      expectAccepted(unary("Relu", "", {3, length}, element));
      expectAccepted(runningSum(length, element));
      expectAccepted(scattered(length, element));
      expectAccepted(cached(length, element));
    }
  for (const char *element : {"i1", "i8", "f16", "f32", "f64"})
    for (int64_t rows : {1, 3, 8, 100, 512})
      for (int64_t columns : {1, 7, 64, 1000})
        expectAccepted(transposed(rows, columns, element));
  for (const char *element : kFloats)
    for (int64_t window : {2, 3, 11})
      expectAccepted(pool(64, 56, window, element));
  for (int64_t count : {1, 100, 10000})
    expectAccepted(suppressed(count));
  for (const char *element : kFloats)
    for (int64_t rows : {1, 300})
      for (int64_t units : {1, 2, 3, 16, 50, 64, 96, 128, 256, 1000, 2048}) {
        expectAccepted(recurrent("LSTM", 4, rows, units, element));
        expectAccepted(recurrent("GRU", 3, rows, units, element));
        expectAccepted(recurrent("RNN", 1, rows, units, element));
      }
  for (const char *family : {"rows", "columns", "window", "scan", "sort", "choose", "insert",
                             "recurrence", "transpose", "map"})
    EXPECT_TRUE(families.count(family)) << family;
}

} // namespace
