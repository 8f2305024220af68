// Artefacts that run in the compiler's process, with taps.
//
// SPDX-License-Identifier: Apache-2.0
#include "codegen/Run.h"

#include "codegen/Compile.h"

#include "mlir/Parser/Parser.h"
#include "llvm/ADT/StringMap.h"

#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <numeric>

using namespace cameo;
using namespace mlir;

namespace {

/// y = relu(x * w + b), z = exp(y): one product, what is fused with it, an output in the middle.
constexpr llvm::StringLiteral kModel = R"(
func.func @main(%x: tensor<?x4xf32> {onnx.name = "x", onnx.dims = ["N", 4]})
    -> (tensor<?x2xf32> {onnx.name = "y"}, tensor<?x2xf32> {onnx.name = "z"}) {
  %w = onnx.Constant() {value = dense<[[1.0, -1.0], [2.0, 0.5], [3.0, 0.25], [4.0, 2.0]]> : tensor<4x2xf32>}
      : () -> tensor<4x2xf32> loc("w")
  %b = onnx.Constant() {value = dense<[-8.0, 1.0]> : tensor<2xf32>} : () -> tensor<2xf32> loc("b")
  %0 = onnx.MatMul(%x, %w) : (tensor<?x4xf32>, tensor<4x2xf32>) -> tensor<?x2xf32> loc("product")
  %1 = onnx.Add(%0, %b) : (tensor<?x2xf32>, tensor<2xf32>) -> tensor<?x2xf32> loc("sum")
  %2 = onnx.Relu(%1) : (tensor<?x2xf32>) -> tensor<?x2xf32> loc("relu")
  %3 = onnx.Neg(%2) : (tensor<?x2xf32>) -> tensor<?x2xf32> loc("minus")
  %4 = onnx.Exp(%3) : (tensor<?x2xf32>) -> tensor<?x2xf32> loc("exp")
  return %2, %4 : tensor<?x2xf32>, tensor<?x2xf32>
})";

CompileOptions optionsFor(StringRef taps) {
  CompileOptions options;
  options.pipeline.targets = "sim:sm_80";
  options.pipeline.taps = taps.str();
  options.jobs = 1;
  return options;
}

std::unique_ptr<Runner> compile(CompileOptions options, const RunOptions &runOptions = {}) {
  Compiler compiler(std::move(options));
  ParserConfig config(&compiler.context());
  if (failed(compiler.take(parseSourceString<ModuleOp>(kModel, config), Stage::Imported, "test")) ||
      failed(compiler.runTo(Stage::Host)) || failed(compiler.emit()))
    return nullptr;
  llvm::Expected<std::unique_ptr<Runner>> runner = Runner::create(compiler.artefact(), runOptions);
  if (runner)
    return std::move(*runner);
  ADD_FAILURE() << llvm::toString(runner.takeError());
  return nullptr;
}

HostTensor floats(ArrayRef<int64_t> shape, ArrayRef<float> values) {
  HostTensor tensor;
  tensor.type = CAMEO_DTYPE_F32;
  tensor.shape.assign(shape.begin(), shape.end());
  auto *first = reinterpret_cast<const char *>(values.data());
  tensor.bytes.assign(first, first + values.size() * sizeof(float));
  return tensor;
}

std::vector<float> valuesOf(ArrayRef<char> bytes) {
  std::vector<float> values(bytes.size() / sizeof(float));
  if (!values.empty())
    std::memcpy(values.data(), bytes.data(), bytes.size());
  return values;
}

/// Rows 1 2 3 4, 2 3 4 5, ...
HostTensor rows(int64_t count) {
  std::vector<float> values;
  for (int64_t row = 0; row < count; ++row)
    for (int i = 0; i < 4; ++i)
      values.push_back(row + i + 1);
  return floats({count, 4}, values);
}

struct Seen {
  std::vector<std::string> order;
  llvm::StringMap<std::vector<float>> values;
  llvm::StringMap<std::vector<int64_t>> shapes;

  llvm::Error operator()(const TappedValue &value) {
    order.push_back(value.name.str());
    EXPECT_EQ(value.type, CAMEO_DTYPE_F32);
    values[value.name] = valuesOf(value.bytes);
    shapes[value.name] = value.shape.vec();
    return llvm::Error::success();
  }
};

TEST(Run, GivesOutputsForInputs) {
  std::unique_ptr<Runner> runner = compile(optionsFor(""));
  ASSERT_TRUE(runner);
  ASSERT_EQ(runner->inputs().size(), 1u);
  EXPECT_EQ(runner->inputs()[0].name, "x");
  EXPECT_EQ(runner->inputs()[0].shape, (SmallVector<int64_t>{-1, 4}));
  ASSERT_EQ(runner->outputs().size(), 2u);
  EXPECT_TRUE(runner->taps().empty());
  auto outputs = runner->run({rows(2)});
  ASSERT_TRUE(bool(outputs)) << llvm::toString(outputs.takeError());
  EXPECT_EQ((*outputs)[0].shape, (SmallVector<int64_t>{2, 2}));
  EXPECT_EQ(valuesOf((*outputs)[0].bytes), (std::vector<float>{22, 9.75, 32, 11.5}));
}

// Values of products, of what became parts of their kernels, of an input and of outputs; for any
// batch, and the same bits at any level and with any number of threads.
TEST(Run, ShowsEveryValue) {
  for (unsigned level : {0u, 2u})
    for (unsigned threads : {1u, 3u}) {
      CompileOptions options = optionsFor("*");
      options.pipeline.level = level;
      std::unique_ptr<Runner> runner =
          compile(std::move(options), {{CAMEO_DEVICE_SIMULATOR, 0}, threads});
      ASSERT_TRUE(runner);
      ASSERT_EQ(runner->outputs().size(), 2u);
      for (int64_t batch : {1, 3, 0}) {
        Seen seen;
        auto outputs = runner->run({rows(batch)}, std::ref(seen));
        ASSERT_TRUE(bool(outputs)) << llvm::toString(outputs.takeError());
        EXPECT_EQ(seen.order,
                  (std::vector<std::string>{"x", "product", "sum", "relu", "minus", "exp"}));
        EXPECT_EQ(seen.shapes["sum"], (std::vector<int64_t>{batch, 2}));
        EXPECT_EQ(seen.values["x"], valuesOf(rows(batch).bytes));
        EXPECT_EQ(seen.values["relu"], valuesOf((*outputs)[0].bytes));
        EXPECT_EQ(seen.values["exp"], valuesOf((*outputs)[1].bytes));
        for (int64_t row = 0; row < batch; ++row) {
          EXPECT_EQ(seen.values["product"][2 * row], 30 + 10 * row);
          EXPECT_EQ(seen.values["sum"][2 * row + 1], 9.75 + 1.75 * row);
          EXPECT_EQ(seen.values["minus"][2 * row], -22 - 10 * row);
        }
      }
    }
}

// As it is stored: a product in FP16, and what Exp reads, which stays FP32.
TEST(Run, TapsHaveTheirStoredType) {
  CompileOptions options = optionsFor("product;minus;x");
  options.pipeline.precision.type = "fp16";
  std::unique_ptr<Runner> runner = compile(std::move(options));
  ASSERT_TRUE(runner);
  llvm::StringMap<cameo_dtype> types;
  auto outputs = runner->run({rows(1)}, [&](const TappedValue &value) {
    types[value.name] = value.type;
    EXPECT_EQ(value.bytes.size(), value.type == CAMEO_DTYPE_F16 ? 4u
                                  : value.name == "x"           ? 16u
                                                                : 8u);
    EXPECT_EQ(runner->taps()[value.tap].name, value.name);
    EXPECT_EQ(runner->taps()[value.tap].type, value.type);
    return llvm::Error::success();
  });
  ASSERT_TRUE(bool(outputs)) << llvm::toString(outputs.takeError());
  EXPECT_EQ(types["x"], CAMEO_DTYPE_F32);
  EXPECT_EQ(types["product"], CAMEO_DTYPE_F16);
  EXPECT_EQ(types["minus"], CAMEO_DTYPE_F32);
}

TEST(Run, AnErrorOfTheListenerEndsTheRun) {
  std::unique_ptr<Runner> runner = compile(optionsFor("*"));
  ASSERT_TRUE(runner);
  int calls = 0;
  auto outputs = runner->run({rows(2)}, [&](const TappedValue &value) -> llvm::Error {
    ++calls;
    return value.name == "sum" ? llvm::createStringError("enough of '" + value.name.str() + "'")
                               : llvm::Error::success();
  });
  ASSERT_FALSE(bool(outputs));
  EXPECT_EQ(llvm::toString(outputs.takeError()), "enough of 'sum'");
  EXPECT_LT(calls, 6);
  // The next run is as any other, and nobody looks.
  outputs = runner->run({rows(1)});
  ASSERT_TRUE(bool(outputs)) << llvm::toString(outputs.takeError());
  EXPECT_EQ(valuesOf((*outputs)[0].bytes), (std::vector<float>{22, 9.75}));
}

TEST(Run, WrongInputsAndFilesAreErrors) {
  std::unique_ptr<Runner> runner = compile(optionsFor(""));
  ASSERT_TRUE(runner);
  auto message = [&](std::vector<HostTensor> inputs) {
    auto outputs = runner->run(inputs);
    return outputs ? "" : llvm::toString(outputs.takeError());
  };
  EXPECT_EQ(message({}), "0 inputs are given; the model has 1");
  EXPECT_EQ(message({floats({1, 5}, {1, 2, 3, 4, 5})}),
            "input 'x': shape 1x5xf32 given; the model takes Nx4xf32");
  EXPECT_EQ(message({floats({2, 4}, {1, 2, 3, 4})}),
            "input 'x': 16 bytes are bound, its shape needs 32");
  HostTensor half = rows(1);
  half.type = CAMEO_DTYPE_F16;
  EXPECT_EQ(message({half}), "input 'x' is of type f32, not f16");
  auto none = Runner::create(llvm::WritableMemoryBuffer::getNewMemBuffer(256, "zeros"));
  ASSERT_FALSE(bool(none));
  EXPECT_NE(llvm::toString(none.takeError()), "");
}

TEST(Run, WrongTapsAreErrorsOfTheCompiler) {
  Compiler compiler(optionsFor("product;nothing*"));
  ParserConfig config(&compiler.context());
  ASSERT_TRUE(succeeded(
      compiler.take(parseSourceString<ModuleOp>(kModel, config), Stage::Imported, "test")));
  EXPECT_TRUE(failed(compiler.runTo(Stage::Host)));
  ASSERT_EQ(compiler.messages().size(), 1u);
  EXPECT_EQ(
      compiler.messages().front().text,
      "--tap: 'nothing*' matches no value, neither by name nor by its node's name or operator");
}

} // namespace
