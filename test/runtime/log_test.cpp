// cameo.h: what the log of a device is told.
// SPDX-License-Identifier: Apache-2.0
#include "cuda_test_model.h"
#include "runtime/cameo.h"
#include "runtime/core/context.h"
#include "runtime/cuda/device.h"
#include "test_model.h"

#include <gtest/gtest.h>

#include <cstddef>
#include <string>
#include <vector>

using namespace payload_test;

namespace {

struct Heard {
  cameo_log_level level;
  cameo_status status;
  std::string text;
};

class LogOfDevice : public testing::Test {
protected:
  void SetUp() override {
    fakecuda::reset();
    cuda_test::registerKernels();
  }
  void TearDown() override {
    destroy();
    EXPECT_TRUE(fakecuda::live().none()) << fakecuda::live().str();
  }
  // The device first: the log is told of what lives longer, too.
  void destroy() {
    cameo_device_destroy(device);
    cameo_model_destroy(model);
    cameo_context_destroy(context);
    device = nullptr;
    model = nullptr;
    context = nullptr;
  }
  static cameo_device_options optionsOf(cameo_device_kind kind, std::vector<Heard> *heard,
                                        int level = CAMEO_LOG_DEBUG) {
    CAMEO_INIT(cameo_device_options, options);
    options.kind = kind;
    options.sim_threads = 1;
    options.log_user = heard;
    options.log_level = cameo_log_level(level);
    options.log = [](void *user, const cameo_log_message *message) {
      EXPECT_EQ(message->struct_size, sizeof(cameo_log_message));
      static_cast<std::vector<Heard> *>(user)->push_back(
          {message->level, message->status, message->text});
    };
    return options;
  }
  void open(cameo_device_kind kind, int level = CAMEO_LOG_DEBUG) {
    cameo_device_options options = optionsOf(kind, &heard, level);
    ASSERT_EQ(cameo_device_create(&options, &device), CAMEO_STATUS_OK) << cameo_last_error();
  }
  void load(PayloadFile bytes) {
    file = std::move(bytes);
    CAMEO_INIT(cameo_model_options, options);
    options.device = device;
    ASSERT_EQ(cameo_model_load_memory(file.data(), file.size(), &options, &model), CAMEO_STATUS_OK)
        << cameo_last_error();
    ASSERT_EQ(cameo_context_create(model, nullptr, &context), CAMEO_STATUS_OK);
  }
  // The CUDA model computes y = 2 x + i.
  void bind() {
    int64_t count = 4;
    cameo_binding in = {sizeof in, CAMEO_MEMORY_HOST, 0, x, sizeof x};
    cameo_binding out = {sizeof out, CAMEO_MEMORY_HOST, 0, y, sizeof y};
    ASSERT_EQ(cameo_context_set_input_shape(context, 0, 1, &count), CAMEO_STATUS_OK);
    ASSERT_EQ(cameo_context_bind_input(context, 0, &in), CAMEO_STATUS_OK);
    ASSERT_EQ(cameo_context_bind_output(context, 0, &out), CAMEO_STATUS_OK);
  }
  // Those of one level, a line each.
  std::string textsOf(cameo_log_level level) const {
    std::string texts;
    for (const Heard &message : heard)
      if (message.level == level)
        texts += message.text + "\n";
    return texts;
  }
  size_t countOf(cameo_log_level level) const {
    size_t count = 0;
    for (const Heard &message : heard)
      count += message.level == level;
    return count;
  }

  std::vector<Heard> heard;
  PayloadFile file{Bytes()};
  cameo_device *device = nullptr;
  cameo_model *model = nullptr;
  cameo_context *context = nullptr;
  float x[4] = {1, 2, 3, 4}, y[4] = {};
};

bool contains(const std::string &text, const std::string &part) {
  return text.find(part) != std::string::npos;
}

} // namespace

TEST_F(LogOfDevice, SaysWhatIsLoadedAndPrepared) {
  open(CAMEO_DEVICE_SIMULATOR);
  EXPECT_EQ(heard.size(), 0u);
  load(testModel(SIM_TEST_IMAGE));
  ASSERT_EQ(heard.size(), 1u) << textsOf(CAMEO_LOG_DEBUG);
  EXPECT_EQ(heard[0].level, CAMEO_LOG_INFO);
  EXPECT_EQ(heard[0].status, CAMEO_STATUS_OK);
  EXPECT_EQ(
      heard[0].text.find("a model in memory: simulator image for sm_80 and 32 bytes of weights "
                         "loaded in "),
      0u)
      << heard[0].text;
  EXPECT_TRUE(contains(heard[0].text, " ms, on simulator (1 thread)")) << heard[0].text;
  int64_t dims[] = {3, 64}, k = 17;
  ASSERT_EQ(cameo_context_set_input_shape(context, 0, 2, dims), CAMEO_STATUS_OK);
  ASSERT_EQ(cameo_context_set_input_value(context, 1, &k, sizeof k), CAMEO_STATUS_OK);
  uint64_t bytes = 0;
  for (int again = 0; again < 2; ++again)
    ASSERT_EQ(cameo_context_get_arena_bytes(context, &bytes), CAMEO_STATUS_OK);
  EXPECT_EQ(textsOf(CAMEO_LOG_DEBUG),
            "'main' is prepared for 'x': 3x64xf32, 'k': i64: 3 launches, 768 bytes of intermediate "
            "values\n");
}

TEST_F(LogOfDevice, NamesFiles) {
  std::string path = testing::TempDir() + "logged.plan";
  PayloadFile bytes = testModel(SIM_TEST_IMAGE);
  writeBytes(path, bytes.data(), bytes.size());
  open(CAMEO_DEVICE_SIMULATOR);
  CAMEO_INIT(cameo_model_options, options);
  options.device = device;
  ASSERT_EQ(cameo_model_load(path.c_str(), &options, &model), CAMEO_STATUS_OK);
  EXPECT_EQ(textsOf(CAMEO_LOG_INFO).find(path + ": simulator image"), 0u)
      << textsOf(CAMEO_LOG_INFO);
}

TEST_F(LogOfDevice, HearsFailuresOfCalls) {
  open(CAMEO_DEVICE_SIMULATOR, CAMEO_LOG_ERROR);
  CAMEO_INIT(cameo_model_options, options);
  options.device = device;
  EXPECT_EQ(cameo_model_load("/no/such/model", &options, &model), CAMEO_STATUS_NOT_FOUND);
  ASSERT_EQ(heard.size(), 1u);
  EXPECT_EQ(heard[0].level, CAMEO_LOG_ERROR);
  EXPECT_EQ(heard[0].status, CAMEO_STATUS_NOT_FOUND);
  EXPECT_STREQ(heard[0].text.c_str(), cameo_last_error());
  load(testModel(SIM_TEST_IMAGE));
  EXPECT_EQ(heard.size(), 1u) << "what was loaded is less severe";
  uint32_t index = 0;
  void *data = nullptr;
  EXPECT_EQ(cameo_model_find_tensor(model, 0, CAMEO_INPUT, "z", &index), CAMEO_STATUS_NOT_FOUND);
  EXPECT_EQ(cameo_context_run(context), CAMEO_STATUS_INVALID_ARGUMENT);
  EXPECT_EQ(cameo_device_allocate(device, cameo_memory(7), 1, &data),
            CAMEO_STATUS_INVALID_ARGUMENT);
  EXPECT_EQ(textsOf(CAMEO_LOG_ERROR), "cannot open '/no/such/model': No such file or directory\n"
                                      "the model has no input 'z'\n"
                                      "input 'x' has no shape yet; the model takes nx64xf32\n"
                                      "memory kind 7 is unknown\n");
}

TEST_F(LogOfDevice, HearsADeviceThatIsNone) {
  cameo_device_options options = optionsOf(CAMEO_DEVICE_CUDA, &heard);
  options.ordinal = 3;
  EXPECT_EQ(cameo_device_create(&options, &device), CAMEO_STATUS_INVALID_ARGUMENT);
  EXPECT_EQ(textsOf(CAMEO_LOG_ERROR), std::string(cameo_last_error()) + "\n");
}

TEST_F(LogOfDevice, HearsOfBetterCode) {
  open(CAMEO_DEVICE_CUDA);
  fakecuda::failCall("cuModuleLoadDataEx", 1, 209);
  load(cuda_test::makeModelWithCubin());
  EXPECT_EQ(textsOf(CAMEO_LOG_WARNING)
                .find("a model in memory: better code was not taken: "
                      "cuModuleLoadDataEx: CUDA_ERROR_NO_BINARY_FOR_GPU (209)"),
            0u)
      << textsOf(CAMEO_LOG_WARNING);
  EXPECT_TRUE(contains(textsOf(CAMEO_LOG_INFO), "ptx for sm_75 and 240000 bytes of weights"));
  EXPECT_TRUE(contains(textsOf(CAMEO_LOG_INFO), "on Fake GPU (cuda:0, sm_80)"));
}

TEST_F(LogOfDevice, HearsOfGraphsThatAreNotMade) {
  open(CAMEO_DEVICE_CUDA);
  load(cuda_test::makeModel());
  bind();
  ASSERT_EQ(cameo_context_run(context), CAMEO_STATUS_OK);
  EXPECT_TRUE(
      contains(textsOf(CAMEO_LOG_DEBUG), "4096 bytes of device memory for intermediate values\n"))
      << textsOf(CAMEO_LOG_DEBUG);
  EXPECT_EQ(countOf(CAMEO_LOG_WARNING), 0u);
  fakecuda::failCall("cuGraphInstantiateWithFlags", 1, 2);
  ASSERT_EQ(cameo_context_run(context), CAMEO_STATUS_OK);
  EXPECT_EQ(y[3], 2 * 4 + 3);
  EXPECT_EQ(textsOf(CAMEO_LOG_WARNING)
                .find("runs are enqueued launch by launch, as no graph can be "
                      "made of them: cuGraphInstantiateWithFlags: "
                      "CUDA_ERROR_OUT_OF_MEMORY (2)"),
            0u)
      << textsOf(CAMEO_LOG_WARNING);
}

TEST_F(LogOfDevice, HearsOfDriversWithoutGraphs) {
  using namespace cameo::runtime;
  cuda::Driver driver;
  ASSERT_TRUE(cuda::Driver::open(CAMEO_FAKE_CUDA, driver).ok());
  int count = 0, version = 0;
  ASSERT_TRUE(cuda::initialise(driver, count, version).ok());
  DeviceInfo info;
  ASSERT_TRUE(cuda::readDeviceInfo(driver, 0, info).ok());
  driver.cuGraphInstantiateWithFlags = nullptr;
  std::unique_ptr<Device> gpu;
  ASSERT_TRUE(cuda::CudaDevice::create(driver, info, gpu).ok());
  std::vector<std::string> warnings;
  gpu->log =
      Log([&](const LogMessage &message) { warnings.push_back(message.text); }, LogLevel::Warning);
  file = cuda_test::makeModel();
  std::unique_ptr<Payload> payload;
  ASSERT_TRUE(Payload::fromMemory(file.data(), file.size(), payload).ok());
  std::shared_ptr<Model> loaded;
  ASSERT_TRUE(Model::create(std::move(payload), std::move(gpu), 0, false, loaded).ok());
  ContextOptions options;
  options.useGraphs = false;
  std::unique_ptr<Context> made;
  ASSERT_TRUE(Context::create(loaded, options, made).ok());
  EXPECT_EQ(warnings.size(), 0u) << "nobody wants graphs";
  ASSERT_TRUE(Context::create(loaded, {}, made).ok());
  EXPECT_EQ(warnings, std::vector<std::string>{
                          "runs are enqueued launch by launch: this driver has no graphs"});
}

TEST_F(LogOfDevice, HearsOfTimesOfOneRun) {
  open(CAMEO_DEVICE_CUDA);
  load(cuda_test::makeModel());
  bind();
  fakecuda::failCall("cuGraphInstantiateWithFlags", 1, 2);
  ASSERT_EQ(cameo_context_run_timed(
                context, [](void *, const cameo_launch_timing *) {}, nullptr),
            CAMEO_STATUS_OK);
  EXPECT_EQ(countOf(CAMEO_LOG_WARNING), 1u);
  EXPECT_EQ(textsOf(CAMEO_LOG_WARNING)
                .find("times are those of one run, launch by launch: "
                      "cuGraphInstantiateWithFlags"),
            0u)
      << textsOf(CAMEO_LOG_WARNING);
}

TEST_F(LogOfDevice, HearsOfWorkThatNobodyWaitedFor) {
  open(CAMEO_DEVICE_CUDA);
  load(cuda_test::makeModel());
  bind();
  fakecuda::failKernel("add", 700);
  ASSERT_EQ(cameo_context_enqueue(context), CAMEO_STATUS_OK) << cameo_last_error();
  EXPECT_EQ(countOf(CAMEO_LOG_ERROR), 0u);
  destroy();
  EXPECT_TRUE(contains(textsOf(CAMEO_LOG_ERROR), "CUDA_ERROR_ILLEGAL_ADDRESS (700)"))
      << textsOf(CAMEO_LOG_ERROR);
}

TEST_F(LogOfDevice, Levels) {
  size_t counts[5];
  for (int level = 0; level <= CAMEO_LOG_DEBUG; ++level) {
    heard.clear();
    open(CAMEO_DEVICE_SIMULATOR, level);
    load(testModel(SIM_TEST_IMAGE));
    int64_t dims[] = {3, 64}, k = 17;
    uint64_t bytes = 0;
    EXPECT_EQ(cameo_context_get_arena_bytes(context, &bytes), CAMEO_STATUS_INVALID_ARGUMENT);
    ASSERT_EQ(cameo_context_set_input_shape(context, 0, 2, dims), CAMEO_STATUS_OK);
    ASSERT_EQ(cameo_context_set_input_value(context, 1, &k, sizeof k), CAMEO_STATUS_OK);
    ASSERT_EQ(cameo_context_get_arena_bytes(context, &bytes), CAMEO_STATUS_OK);
    counts[level] = heard.size();
    destroy();
  }
  EXPECT_EQ(counts[CAMEO_LOG_ERROR], 1u);
  EXPECT_EQ(counts[CAMEO_LOG_WARNING], 1u);
  EXPECT_EQ(counts[CAMEO_LOG_INFO], 2u);
  EXPECT_EQ(counts[CAMEO_LOG_DEBUG], 3u);
  EXPECT_EQ(counts[0], counts[CAMEO_LOG_INFO]) << "unless the caller says otherwise";
}

TEST_F(LogOfDevice, OptionsThatMakeNoSense) {
  for (int level : {-1, 5}) {
    cameo_device_options options = optionsOf(CAMEO_DEVICE_SIMULATOR, &heard, level);
    EXPECT_EQ(cameo_device_create(&options, &device), CAMEO_STATUS_INVALID_ARGUMENT);
    EXPECT_EQ(std::string(cameo_last_error()),
              "log level " + std::to_string(level) + ": there are 1 to 4");
  }
}

TEST_F(LogOfDevice, CallersOfBeforeHaveNone) {
  cameo_device_options options = optionsOf(CAMEO_DEVICE_SIMULATOR, &heard);
  options.struct_size = offsetof(cameo_device_options, log);
  ASSERT_EQ(cameo_device_create(&options, &device), CAMEO_STATUS_OK) << cameo_last_error();
  load(testModel(SIM_TEST_IMAGE));
  EXPECT_EQ(heard.size(), 0u);
}
