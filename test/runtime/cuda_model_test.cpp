// A model through the C API on the fake driver: its data flow, and every driver call failing in
// turn as the embedding program sees it.
// SPDX-License-Identifier: Apache-2.0
#include "cuda_test_program.h"

#include <thread>

using namespace cuda_test;
using namespace payload_test;

namespace {

TEST_F(CudaModel, Computes) {
  PayloadFile file = makeModel();
  Program program;
  ASSERT_EQ(program.open(file), CAMEO_STATUS_OK) << cameo_last_error();
  // Several runs of one shape, so that recorded work is replayed; then other shapes.
  for (size_t count : {5, 5, 5, 5, 300, 300, 300, 1, 5}) {
    std::vector<float> x(count, static_cast<float>(count)), y;
    ASSERT_EQ(Program::run(program.context, x, y), CAMEO_STATUS_OK) << cameo_last_error();
    EXPECT_EQ(y, expected(x)) << count << " values";
  }
}

TEST_F(CudaModel, ReplaysOneShape) {
  PayloadFile file = makeModel();
  Program program;
  ASSERT_EQ(program.open(file), CAMEO_STATUS_OK) << cameo_last_error();
  std::vector<float> x(4, 1), y(4);
  for (int i = 0; i < 10; ++i)
    ASSERT_EQ(Program::run(program.context, x, y), CAMEO_STATUS_OK) << cameo_last_error();
  EXPECT_EQ(y, expected(x));
  EXPECT_EQ(fakecuda::callCount("cuModuleLoadDataEx"), 1);
  EXPECT_GT(fakecuda::callCount("cuGraphLaunch"), 5);
  EXPECT_LT(fakecuda::callCount("cuLaunchKernel"), 10);
}

TEST_F(CudaModel, ThreadsShareAModel) {
  PayloadFile file = makeModel();
  Program program;
  ASSERT_EQ(program.open(file), CAMEO_STATUS_OK) << cameo_last_error();
  std::vector<std::string> errors(6);
  std::vector<std::thread> threads;
  for (size_t t = 0; t < errors.size(); ++t)
    threads.emplace_back([&, t] {
      cameo_context *context = nullptr;
      if (cameo_context_create(program.model, nullptr, &context)) {
        errors[t] = cameo_last_error();
        return;
      }
      for (size_t round = 0; round < 30 && errors[t].empty(); ++round) {
        std::vector<float> x(1 + (t * 7 + round / 4) % weightCount, static_cast<float>(round)), y;
        if (Program::run(context, x, y))
          errors[t] = cameo_context_error(context);
        else if (y != expected(x))
          errors[t] = "wrong values";
      }
      cameo_context_destroy(context);
    });
  for (std::thread &thread : threads)
    thread.join();
  for (const std::string &error : errors)
    EXPECT_EQ(error, "");
}

TEST_F(CudaModel, WrongGpu) {
  fakecuda::setDevices({{"Old GPU", 7, 0}});
  PayloadFile file = makeModel();
  Program program;
  EXPECT_EQ(program.open(file), CAMEO_STATUS_NO_CODE);
  EXPECT_STREQ(cameo_last_error(),
               "no code for Old GPU, an sm_70 GPU: the artefact holds PTX for sm_75");
}

TEST_F(CudaModel, RefusedCodeGivesWayToTheNext) {
  PayloadFile file = makeModelWithCubin();
  const std::vector<float> x(5, 7);
  for (int error : {0, 200, 209, 218, 221, 222, 223}) {
    SCOPED_TRACE(error);
    fakecuda::reset();
    registerKernels();
    if (error)
      fakecuda::failCall("cuModuleLoadDataEx", 1, error);
    Program program;
    ASSERT_EQ(program.open(file), CAMEO_STATUS_OK) << cameo_last_error();
    std::vector<float> y;
    ASSERT_EQ(Program::run(program.context, x, y), CAMEO_STATUS_OK) << cameo_last_error();
    // The plan is the one of the code that runs.
    EXPECT_EQ(y, expected(x, error ? 2 : 3));
    EXPECT_EQ(fakecuda::live().modules, 1);
  }
}

TEST_F(CudaModel, CodeRefusedWhenItsKernelsAreAskedForGivesWayToo) {
  PayloadFile file = makeModelWithCubin();
  fakecuda::failCall("cuModuleGetFunction", 2, 209);
  Program program;
  ASSERT_EQ(program.open(file), CAMEO_STATUS_OK) << cameo_last_error();
  EXPECT_EQ(fakecuda::live().modules, 1);
  const std::vector<float> x(5, 7);
  std::vector<float> y;
  ASSERT_EQ(Program::run(program.context, x, y), CAMEO_STATUS_OK) << cameo_last_error();
  EXPECT_EQ(y, expected(x));
}

TEST_F(CudaModel, CodeInPiecesIsLoadedTogether) {
  PayloadFile ordered = makeModelWithCubin({{"scale"}, {"add"}}),
              turned = makeModelWithCubin({{"add"}, {"scale"}});
  const std::vector<float> x(5, 7);
  for (const PayloadFile *file : {&ordered, &turned}) {
    fakecuda::reset();
    registerKernels();
    Program program;
    ASSERT_EQ(program.open(*file), CAMEO_STATUS_OK) << cameo_last_error();
    EXPECT_EQ(fakecuda::live().modules, 2);
    if (file == &ordered)
      EXPECT_EQ(fakecuda::callCount("cuModuleGetFunction"), 2);
    std::vector<float> y;
    ASSERT_EQ(Program::run(program.context, x, y), CAMEO_STATUS_OK) << cameo_last_error();
    EXPECT_EQ(y, expected(x, 3));
  }
}

TEST_F(CudaModel, APieceThatIsRefusedTakesTheOthersAlong) {
  PayloadFile file = makeModelWithCubin({{"scale"}, {"add"}});
  const std::vector<float> x(5, 7);
  for (const char *call : {"cuModuleLoadDataEx", "cuModuleGetFunction"})
    for (int nth : {1, 2}) {
      SCOPED_TRACE(call + std::to_string(nth));
      fakecuda::reset();
      registerKernels();
      fakecuda::failCall(call, nth, 209);
      Program program;
      ASSERT_EQ(program.open(file), CAMEO_STATUS_OK) << cameo_last_error();
      EXPECT_EQ(fakecuda::live().modules, 1);
      std::vector<float> y;
      ASSERT_EQ(Program::run(program.context, x, y), CAMEO_STATUS_OK) << cameo_last_error();
      EXPECT_EQ(y, expected(x)); // of the PTX
    }
}

TEST_F(CudaModel, EveryRefusalIsInTheError) {
  PayloadFile file = makeModelWithCubin();
  fakecuda::refuseImages("cubin:209,PTX:209");
  Program program;
  EXPECT_EQ(program.open(file), CAMEO_STATUS_NO_CODE);
  const std::string refused = "cuModuleLoadDataEx: CUDA_ERROR_NO_BINARY_FOR_GPU (209): no kernel "
                              "image is available for execution on the device; loading the ";
  const std::string where = " on Fake GPU, sm_80, with a driver for CUDA 13.0";
  EXPECT_EQ(cameo_last_error(), "the driver of Fake GPU is for CUDA 13.0: " + refused +
                                    "cubin for sm_80" + where + "; " + refused + "PTX for sm_75" +
                                    where);
  EXPECT_EQ(fakecuda::live().modules, 0);
}

TEST_F(CudaModel, OtherFailuresOfLoadingEndIt) {
  PayloadFile file = makeModelWithCubin();
  fakecuda::failCall("cuModuleLoadDataEx", 1, 2);
  Program program;
  EXPECT_EQ(program.open(file), CAMEO_STATUS_OUT_OF_MEMORY) << cameo_last_error();
  EXPECT_EQ(fakecuda::callCount("cuModuleLoadDataEx"), 1);
}

TEST_F(CudaModel, DamagedWeightsAreNotUploaded) {
  PayloadFile file = makeModel();
  Bytes content(file.data(), file.data() + file.size());
  // The weights start on a page of their own.
  content[CAMEO_PAGE + 10] ^= 1;
  PayloadFile damaged(content);
  Program program;
  EXPECT_EQ(program.open(damaged), CAMEO_STATUS_CORRUPT) << cameo_last_error();
  EXPECT_EQ(fakecuda::callCount("cuMemcpyHtoDAsync_v2"), 0);
}

// More than a few chunks go up in several threads.
TEST_F(CudaModel, ManyWeights) {
  Bytes weights = makeWeights();
  weights.resize(13 * CAMEO_WEIGHT_CHUNK + 1000);
  for (size_t i = weightCount * sizeof(float); i < weights.size(); ++i)
    weights[i] = static_cast<char>(i * 31 >> 10);
  PayloadBuilder builder;
  builder.section(CAMEO_SECTION_PLAN, makePlan());
  builder.ptx(ptx, 75);
  builder.weights(weights);
  PayloadFile file = builder.finish();
  {
    Program program;
    ASSERT_EQ(program.open(file), CAMEO_STATUS_OK) << cameo_last_error();
    EXPECT_EQ(fakecuda::callCount("cuMemcpyHtoDAsync_v2"), 14);
    EXPECT_GT(fakecuda::callCount("cuMemHostAlloc"), 2) << "two for each thread";
    // The plan's weight starts where all of them do.
    bool same = false;
    fakecuda::registerKernel("add", {8, 8, 8, 8}, [&](const fakecuda::Launch &launch) {
      same = memcmp(launch.pointer<char>(2), weights.data(), weights.size()) == 0;
    });
    std::vector<float> y;
    ASSERT_EQ(Program::run(program.context, {1, 2}, y), CAMEO_STATUS_OK) << cameo_last_error();
    EXPECT_TRUE(same);
  }
  for (size_t chunk : {0, 7, 13}) {
    Bytes content(file.data(), file.data() + file.size());
    content[CAMEO_PAGE + chunk * CAMEO_WEIGHT_CHUNK + 10] ^= 1;
    PayloadFile damaged(content);
    Program program;
    EXPECT_EQ(program.open(damaged), CAMEO_STATUS_CORRUPT);
    EXPECT_NE(std::string(cameo_last_error()).find("weight chunk " + std::to_string(chunk) + " "),
              std::string::npos)
        << cameo_last_error();
  }
}

TEST_F(CudaModel, EveryFailureReachesTheCaller) {
  const char *const functions[] = {
#define CAMEO_CUDA_SYMBOL(name, ...) #name,
#include "runtime/cuda/driver_symbols.def"
  };
  PayloadFile file = makeModel();
  const std::vector<float> x(64, 3);
  auto runAll = [&](std::string &message) {
    Program program;
    cameo_status status = program.open(file);
    for (int i = 0; i < 4 && status == CAMEO_STATUS_OK; ++i) {
      std::vector<float> y;
      status = Program::run(program.context, x, y);
      if (status == CAMEO_STATUS_OK)
        EXPECT_EQ(y, expected(x));
    }
    message = cameo_last_error();
    return status;
  };
  std::string message;
  ASSERT_EQ(runAll(message), CAMEO_STATUS_OK) << message;
  std::vector<std::pair<std::string, int>> counts;
  for (const char *function : functions)
    counts.emplace_back(function, fakecuda::callCount(function));

  for (auto &[function, count] : counts) {
    // Called to clean up; what they report cannot be mended.
    bool cleansUp = function.find("Free") != std::string::npos ||
                    function.find("Destroy") != std::string::npos ||
                    function.find("Unload") != std::string::npos ||
                    function.find("Release") != std::string::npos ||
                    function == "cuCtxPopCurrent_v2" || function == "cuStreamSynchronize";
    // Without a graph the work is enqueued step by step.
    bool hasOtherWay = function.find("cuGraph") == 0 && function != "cuGraphLaunch";
    bool preventsRelease = function == "cuCtxGetCurrent" || function == "cuCtxPushCurrent_v2";
    for (int nth = 1; nth <= count; ++nth) {
      SCOPED_TRACE(function + ", call " + std::to_string(nth));
      fakecuda::reset();
      registerKernels();
      fakecuda::failCall(function, nth, 999);
      cameo_status status = runAll(message);
      ASSERT_TRUE(fakecuda::failureHappened());
      EXPECT_EQ(fakecuda::live().contexts, 0);
      if (hasOtherWay)
        EXPECT_EQ(status, CAMEO_STATUS_OK) << message;
      else if (!cleansUp && !preventsRelease)
        EXPECT_EQ(status, CAMEO_STATUS_DRIVER);
      if (status != CAMEO_STATUS_OK)
        EXPECT_NE(message.find(function + ": CUDA_ERROR_UNKNOWN (999)"), std::string::npos)
            << message;
      if (preventsRelease)
        continue;
      EXPECT_TRUE(fakecuda::live().none()) << fakecuda::live().str();
      EXPECT_EQ(fakecuda::misuses(), std::vector<std::string>());
    }
  }
  fakecuda::reset();
}

} // namespace
