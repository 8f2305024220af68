// One artefact with switches says what each INT8 model says.
//
// SPDX-License-Identifier: Apache-2.0
#include "codegen/calibrate/SwitchedModel.h"
#include "codegen/compare/TensorError.h"
#include "dialects/onnx/Export.h"

#include "mlir/Parser/Parser.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/FormatVariadic.h"

#include <gtest/gtest.h>

#include <cstring>
#include <random>

using namespace cameo;
using namespace mlir;

namespace {

constexpr int64_t kRows = 16, kSize = 32;

std::string weights(const char *name, std::mt19937 &random) {
  std::uniform_real_distribution<float> number(-0.25f, 0.25f);
  std::string rows;
  for (int64_t row = 0; row < kSize; ++row) {
    std::string columns;
    for (int64_t column = 0; column < kSize; ++column)
      columns += (column ? ", " : "") + std::to_string(number(random));
    rows += (row ? ", [" : "[") + columns + "]";
  }
  return llvm::formatv("  %{0} = onnx.Constant() {{value = dense<[{1}]> : tensor<32x32xf32>} : () "
                       "-> tensor<32x32xf32> loc(\"{0}\")\n",
                       name, rows);
}

/// Three products; what the first one gives is added to what the second one does.
std::string network() {
  std::mt19937 random(3);
  std::string product = "(tensor<16x32xf32>, tensor<32x32xf32>) -> tensor<16x32xf32>";
  return "func.func @main(%x: tensor<16x32xf32> {onnx.name = \"x\"}) -> (tensor<16x32xf32> "
         "{onnx.name = \"y\"}) {\n" +
         weights("u", random) + weights("v", random) + weights("w", random) +
         "  %a = onnx.MatMul(%x, %u) : " + product +
         " loc(\"first\")\n"
         "  %b = onnx.Relu(%a) : (tensor<16x32xf32>) -> tensor<16x32xf32> loc(\"relu\")\n"
         "  %c = onnx.MatMul(%b, %v) : " +
         product +
         " loc(\"second[0]\")\n"
         "  %d = onnx.Add(%b, %c) : (tensor<16x32xf32>, tensor<16x32xf32>) -> tensor<16x32xf32> "
         "loc(\"sum\")\n"
         "  %y = onnx.MatMul(%d, %w) : " +
         product +
         " loc(\"third\")\n"
         "  return %y : tensor<16x32xf32>\n}\n";
}

class SwitchedModels : public testing::Test {
protected:
  void SetUp() override {
    ASSERT_FALSE(llvm::sys::fs::createTemporaryFile("switched", "onnx", model));
    ASSERT_FALSE(llvm::sys::fs::createTemporaryFile("switched", "json", ranges));
    Compiler compiler(options());
    ParserConfig config(&compiler.context());
    ASSERT_TRUE(succeeded(
        compiler.take(parseSourceString<ModuleOp>(network(), config), Stage::Imported, "test")));
    ASSERT_TRUE(succeeded(onnx::exportOnnxFile(compiler.module(), model)));
    std::error_code code;
    llvm::raw_fd_ostream file(ranges, code);
    file << R"({"cameo_ranges": 1, "ranges": {"x": {"min": -1, "max": 1}, )"
         << R"("first": {"min": -3, "max": 3}, "relu": {"min": 0, "max": 3}, )"
         << R"("second[0]": {"min": -3, "max": 3}, "sum": {"min": -3, "max": 4}, )"
         << R"("third": {"min": -9, "max": 9}}})";
    std::mt19937 random(5);
    std::uniform_real_distribution<float> number(-1, 1);
    std::vector<float> numbers(kRows * kSize);
    for (float &each : numbers)
      each = number(random);
    input = {CAMEO_DTYPE_F32, {kRows, kSize}, {}};
    input.bytes.resize(numbers.size() * sizeof(float));
    std::memcpy(input.bytes.data(), numbers.data(), input.bytes.size());
  }
  void TearDown() override {
    llvm::sys::fs::remove(model);
    llvm::sys::fs::remove(ranges);
  }

  CompileOptions options(std::string nodes = "*=int8") {
    CompileOptions result;
    result.pipeline.targets = "sim:sm_80";
    result.pipeline.precision.type = "int8";
    result.pipeline.precision.ranges = ranges.str();
    result.pipeline.precision.nodes = std::move(nodes);
    result.jobs = 1;
    return result;
  }

  std::vector<double> numbersOf(llvm::Expected<std::vector<HostTensor>> outputs) {
    EXPECT_TRUE(bool(outputs));
    return toNumbers(outputs->front().type, outputs->front().bytes);
  }
  /// Of the model as it is compiled.
  std::vector<double> compiled(const std::string &nodes) {
    Compiler compiler(options(nodes));
    EXPECT_TRUE(succeeded(compiler.read(model)) && succeeded(compiler.runTo(Stage::Host)) &&
                succeeded(compiler.emit()));
    auto runner = Runner::create(compiler.artefact());
    EXPECT_TRUE(bool(runner));
    return numbersOf((*runner)->run({input}));
  }
  static double sqnr(const std::vector<double> &reference, const std::vector<double> &values) {
    TensorError error;
    error.add(reference, values);
    return error.sqnr();
  }

  llvm::SmallString<128> model, ranges;
  HostTensor input;
};

TEST_F(SwitchedModels, AsCompiledForEveryChoice) {
  // Small products are of integers only if that is asked for, by operator: none is to be chosen.
  FailureOr<std::unique_ptr<LayerPlans>> asked = LayerPlans::create(model, options("*=int8"));
  ASSERT_TRUE(succeeded(asked));
  EXPECT_TRUE((*asked)->layers().empty());

  FailureOr<std::unique_ptr<LayerPlans>> plans = LayerPlans::create(model, options(""));
  ASSERT_TRUE(succeeded(plans));
  std::vector<std::string> names;
  for (const QuantizableLayer &layer : (*plans)->layers()) {
    names.push_back(layer.name);
    EXPECT_EQ(layer.otherwise, Precision::FP16);
  }
  // The first one stays: a launch of its own would quantise the input.
  ASSERT_EQ(names, (std::vector<std::string>{"second[0]", "third"}));
  SwitchPlaces places;
  std::vector<std::pair<std::string, QuantizedOperands>> choices;
  for (unsigned bits = 0; bits < 4; ++bits) {
    llvm::BitVector kept(2);
    for (unsigned i = 0; i < 2; ++i)
      if (bits >> i & 1)
        kept.set(i);
    FailureOr<QuantizedOperands> operands = (*plans)->withKept(kept);
    ASSERT_TRUE(succeeded(operands));
    places.add(*operands);
    choices.push_back({(*plans)->overridesOf(kept), std::move(*operands)});
  }
  EXPECT_EQ(choices[1].first, "\\second\\[0\\]=fp16");
  for (unsigned layer = 0; layer < 2; ++layer) {
    FailureOr<QuantizedOperands> alone = (*plans)->alone(layer);
    ASSERT_TRUE(succeeded(alone));
    EXPECT_EQ(alone->constants.size(), 1u);
    EXPECT_TRUE(alone->constants.count({names[layer], 1}));
    EXPECT_TRUE(places.cover(*alone));
  }
  FailureOr<std::unique_ptr<SwitchedModel>> switched =
      SwitchedModel::create(model, options(""), places, {RunDevice(), 1});
  ASSERT_TRUE(succeeded(switched));
  DataBatch batch{kRows, /*repeated=*/0, {input}};
  std::vector<double> reference = numbersOf((*switched)->run(batch));
  for (const auto &[overrides, operands] : choices) {
    (*switched)->set(operands);
    std::vector<double> found = numbersOf((*switched)->run(batch));
    if (operands.scales.empty()) {
      EXPECT_EQ(found, reference) << overrides;
      continue;
    }
    std::vector<double> wanted = compiled(overrides);
    // What is not in 8 bits is in FP32 here and in FP16 there.
    EXPECT_GT(sqnr(wanted, found), sqnr(reference, wanted) + 6) << overrides;
  }
  (*switched)->set({});
  EXPECT_EQ(numbersOf((*switched)->run(batch)), reference);
}

TEST(GlobOf, MatchesNothingElse) {
  EXPECT_EQ(globOf("/layer.1/Conv"), "\\/layer.1/Conv");
  EXPECT_EQ(globOf("a*b[0]?c"), "\\a\\*b\\[0\\]\\?c");
  EXPECT_EQ(globOf("a;b"), "\\a?b");
}

} // namespace
