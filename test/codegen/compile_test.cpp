// The compiler as a library: from memory to memory, messages as values, several at once, an end
// before the end.
//
// SPDX-License-Identifier: Apache-2.0
#include "codegen/Compile.h"
#include "dialects/onnx/Export.h"
#include "runtime/cameo.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Parser/Parser.h"
#include "llvm/Support/FormatVariadic.h"

#include <gtest/gtest.h>

#include <thread>

using namespace cameo;
using namespace mlir;

namespace {

using Severity = CompileMessage::Severity;

CompileOptions simulated() {
  CompileOptions options;
  options.pipeline.targets = "sim:sm_80";
  options.jobs = 1;
  return options;
}

/// y = relu(x + x) of so many elements.
std::string doubled(int64_t size) {
  return llvm::formatv("func.func @main(%x: tensor<{0}xf32> {{onnx.name = \"x\"}) "
                       "-> (tensor<{0}xf32> {{onnx.name = \"y\"}) {{\n"
                       "  %s = onnx.Add(%x, %x) : (tensor<{0}xf32>, tensor<{0}xf32>) "
                       "-> tensor<{0}xf32>\n"
                       "  %y = onnx.Relu(%s) : (tensor<{0}xf32>) -> tensor<{0}xf32>\n"
                       "  return %y : tensor<{0}xf32>\n}\n",
                       size);
}

LogicalResult take(Compiler &compiler, const std::string &text) {
  ParserConfig config(&compiler.context());
  return compiler.take(parseSourceString<ModuleOp>(text, config), Stage::Imported, "test");
}

LogicalResult compileAll(Compiler &compiler) {
  return success(succeeded(compiler.runTo(Stage::Host)) && succeeded(compiler.emit()));
}

/// The plan of a model.
std::string compile(const std::string &text, CompileOptions options) {
  Compiler compiler(std::move(options));
  if (failed(take(compiler, text)) || failed(compileAll(compiler)))
    return "";
  return compiler.artefact()->getBuffer().str();
}

std::string onnxBytes(const std::string &text) {
  Compiler compiler(simulated());
  if (failed(take(compiler, text)))
    return "";
  FailureOr<std::string> bytes = onnx::exportOnnxBuffer(compiler.module());
  return succeeded(bytes) ? *bytes : "";
}

TEST(Compile, ModelInMemoryBecomesArtefactInMemory) {
  std::string model = onnxBytes(doubled(3));
  ASSERT_FALSE(model.empty());
  Compiler compiler(simulated());
  ASSERT_TRUE(succeeded(compiler.read(model, "doubled")));
  EXPECT_EQ(compiler.stage(), Stage::Imported);
  ASSERT_TRUE(succeeded(compileAll(compiler)));
  std::unique_ptr<llvm::MemoryBuffer> plan = compiler.artefact();

  cameo_device *device = nullptr;
  CAMEO_INIT(cameo_device_options, deviceOptions);
  deviceOptions.kind = CAMEO_DEVICE_SIMULATOR;
  deviceOptions.sim_threads = 1;
  ASSERT_EQ(cameo_device_create(&deviceOptions, &device), CAMEO_STATUS_OK) << cameo_last_error();
  cameo_model *loaded = nullptr;
  CAMEO_INIT(cameo_model_options, modelOptions);
  modelOptions.device = device;
  ASSERT_EQ(cameo_model_load_memory(plan->getBufferStart(), plan->getBufferSize(), &modelOptions,
                                    &loaded),
            CAMEO_STATUS_OK)
      << cameo_last_error();
  cameo_context *context = nullptr;
  ASSERT_EQ(cameo_context_create(loaded, nullptr, &context), CAMEO_STATUS_OK);
  float x[3] = {1, -2, 3}, y[3] = {};
  cameo_binding in = {sizeof(cameo_binding), CAMEO_MEMORY_HOST, 0, x, sizeof x};
  cameo_binding out = {sizeof(cameo_binding), CAMEO_MEMORY_HOST, 0, y, sizeof y};
  ASSERT_EQ(cameo_context_bind_input(context, 0, &in), CAMEO_STATUS_OK);
  ASSERT_EQ(cameo_context_bind_output(context, 0, &out), CAMEO_STATUS_OK);
  ASSERT_EQ(cameo_context_run(context), CAMEO_STATUS_OK) << cameo_last_error();
  EXPECT_EQ(std::vector<float>(y, y + 3), (std::vector<float>{2, 0, 6}));
  cameo_context_destroy(context);
  cameo_model_destroy(loaded);
  cameo_device_destroy(device);
}

TEST(Compile, MessagesAreValuesAndArePassedOn) {
  std::vector<std::string> heard;
  CompileOptions options = simulated();
  options.onMessage = [&](const CompileMessage &message) { heard.push_back(message.text); };
  Compiler compiler(std::move(options));
  ASSERT_TRUE(succeeded(
      take(compiler,
           "func.func @main(%x: tensor<4xui8>) -> tensor<?x?x3xui8> {\n"
           "  %y = onnx.ImageDecoder(%x) : (tensor<4xui8>) -> tensor<?x?x3xui8> loc(\"bend\")\n"
           "  return %y : tensor<?x?x3xui8>\n}\n")));
  EXPECT_TRUE(failed(compileAll(compiler)));
  ASSERT_EQ(compiler.messages().size(), 1u);
  EXPECT_TRUE(compiler.hasErrors());
  EXPECT_EQ(compiler.messages().front().severity, Severity::Error);
  ASSERT_FALSE(compiler.messages().front().notes.empty());
  EXPECT_NE(compiler.messages().front().notes.front().text.find("'bend' (ImageDecoder)"),
            std::string::npos);
  EXPECT_EQ(heard.size(), compiler.messages().size());
  EXPECT_EQ(heard.front(), compiler.messages().front().text);
}

TEST(Compile, WarningsMayBeErrors) {
  for (bool areErrors : {false, true}) {
    CompileOptions options = simulated();
    options.warningsAreErrors = areErrors;
    Compiler compiler(std::move(options));
    compiler.warn("thin ice");
    EXPECT_EQ(compiler.hasErrors(), areErrors);
    std::string text;
    llvm::raw_string_ostream(text) << compiler.messages().front();
    EXPECT_EQ(text, areErrors ? "error: thin ice [--Werror]\n" : "warning: thin ice\n");
  }
}

TEST(Compile, SizesOfInputsAreFixed) {
  CompileOptions options = simulated();
  options.shapes.sizes["x"] = {5};
  Compiler compiler(std::move(options));
  std::string open = doubled(3);
  for (size_t at; (at = open.find("<3x")) != std::string::npos;)
    open.replace(at, 3, "<?x");
  ASSERT_TRUE(succeeded(take(compiler, open)));
  ASSERT_TRUE(succeeded(compiler.runTo(Stage::Normalized)));
  auto function = *compiler.module().getOps<func::FuncOp>().begin();
  EXPECT_EQ(cast<RankedTensorType>(function.getResultTypes()[0]).getShape(), ArrayRef<int64_t>(5));
}

// Plans of other sizes, so that nothing of one can be taken for another's.
TEST(Compile, SeveralAtOnceMakeWhatTheyMakeAlone) {
  constexpr int64_t count = 6;
  std::vector<std::string> alone(count), together(count);
  for (int64_t i = 0; i < count; ++i)
    alone[i] = compile(doubled(100 + i), simulated());
  std::vector<std::thread> threads;
  for (int64_t i = 0; i < count; ++i)
    threads.emplace_back([&, i] {
      CompileOptions options = simulated();
      options.jobs = 1 + i % 2;
      together[i] = compile(doubled(100 + i), std::move(options));
    });
  for (std::thread &thread : threads)
    thread.join();
  for (int64_t i = 0; i < count; ++i) {
    EXPECT_FALSE(alone[i].empty());
    EXPECT_EQ(alone[i], together[i]) << i;
  }
}

TEST(Compile, EndsEarlyAtEveryStage) {
  for (const StageInfo &info : stages()) {
    if (!info.populate)
      continue;
    std::atomic<bool> cancelled = false;
    int stagesBegun = 0;
    CompileOptions options = simulated();
    options.code.cancelled = &cancelled;
    options.onPasses = [&](PassManager &) { cancelled = ++stagesBegun == int(info.stage); };
    Compiler compiler(std::move(options));
    ASSERT_TRUE(succeeded(take(compiler, doubled(3))));
    EXPECT_TRUE(failed(compileAll(compiler)));
    ASSERT_EQ(compiler.messages().size(), 1u);
    EXPECT_EQ(compiler.messages().front().text, "cancelled on the way to stage " + info.name.str());
    EXPECT_EQ(unsigned(*compiler.stage()), unsigned(info.stage) - 1);
  }
}

TEST(Compile, EndsEarlyBeforeKernelsAreCompiled) {
  std::atomic<bool> cancelled = false;
  CompileOptions options = simulated();
  options.code.cancelled = &cancelled;
  Compiler compiler(std::move(options));
  ASSERT_TRUE(succeeded(take(compiler, doubled(3))));
  ASSERT_TRUE(succeeded(compiler.runTo(Stage::Host)));
  cancelled = true;
  EXPECT_TRUE(failed(compiler.emit()));
  ASSERT_EQ(compiler.messages().size(), 1u);
  EXPECT_NE(StringRef(compiler.messages().front().text).find("cancelled"), StringRef::npos);
}

} // namespace
