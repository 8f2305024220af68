// Taps: in plans, and as cameo.h shows them of runs on a GPU, which a stand-in is for here. On the
// simulator they are tested with the compiler (test/codegen/run_test.cpp).
// SPDX-License-Identifier: Apache-2.0
#include "cuda_test_model.h"
#include "fake_cuda_entry.h"
#include "runtime/cameo.h"
#include "runtime/core/interpreter.h"

#include <gtest/gtest.h>

#include <functional>
#include <numeric>

using namespace cameo::runtime;
using namespace payload_test;

namespace {

// A plan with a tap [n, 3] f32, whose code `build` writes.
Status runPlanOf(const std::function<void(PlanBuilder &, uint32_t x, uint32_t n)> &build,
                 WorkList &work) {
  PlanBuilder p;
  p.input("x", CAMEO_FLOAT, {{-1, "n"}, {3}});
  p.tap("t", CAMEO_FLOAT, {{-1, "n"}, {3}});
  uint32_t x = p.newBuffer(), n = p.newRegister();
  p.op(CAMEO_OP_DIM, {n, 0, 0});
  p.op(CAMEO_OP_BUF_INPUT, {x, 0});
  build(p, x, n);
  p.op(CAMEO_OP_END);
  PayloadFile file(p.finish());
  Plan plan;
  CAMEO_RETURN_IF_ERROR(Plan::parse(reinterpret_cast<uint8_t *>(file.data()), file.size(), 0,
                                    CAMEO_PAYLOAD_VERSION, plan));
  EXPECT_EQ(plan.taps().size(), 1u);
  EXPECT_EQ(plan.outputs().size(), 0u);
  EXPECT_STREQ(plan.taps()[0].name, "t");
  return runPlan(plan, {{{5, 3}, nullptr}}, work);
}

} // namespace

TEST(TapPlan, IsAStep) {
  WorkList work;
  Status status = runPlanOf([](PlanBuilder &p, uint32_t x,
                               uint32_t n) { p.op(CAMEO_OP_TAP, {0, x, 2, n, p.constant(3)}); },
                            work);
  ASSERT_TRUE(status.ok()) << status.message();
  ASSERT_EQ(work.taps.size(), 1u);
  ASSERT_EQ(work.steps.size(), 1u);
  EXPECT_EQ(work.steps[0].kind, Step::Tap);
  EXPECT_EQ(work.taps[0].shape, (Shape{5, 3}));
  EXPECT_EQ(work.taps[0].bytes, 60u);
  EXPECT_EQ(work.taps[0].source.space, Place::Input);
  EXPECT_TRUE(work.inputUsed[0]);
}

TEST(TapPlan, WhatIsRefused) {
  WorkList work;
  auto code = [&](std::vector<uint32_t> operands, uint64_t size) {
    return runPlanOf(
               [&](PlanBuilder &p, uint32_t x, uint32_t n) {
                 for (uint32_t &operand : operands)
                   operand = operand == 90   ? x
                             : operand == 91 ? n
                             : operand == 92 ? p.constant(size)
                                             : operand;
                 p.op(CAMEO_OP_TAP, operands);
               },
               work)
        .code();
  };
  EXPECT_EQ(code({0, 90, 2, 91, 92}, 3), Code::Ok);
  EXPECT_EQ(code({0, 90, 2, 91, 92}, 2), Code::Ok) << "less than the buffer";
  EXPECT_EQ(code({0, 90, 2, 91, 92}, 4), Code::Corrupt) << "more than the buffer";
  EXPECT_EQ(code({0, 90, 2, 91, 92}, uint64_t(-3)), Code::OutOfRange);
  EXPECT_EQ(code({1, 90, 2, 91, 92}, 3), Code::Corrupt) << "another tap";
  EXPECT_EQ(code({0, 7, 2, 91, 92}, 3), Code::Corrupt) << "another buffer";
  EXPECT_EQ(code({0, 90, 1, 91}, 3), Code::Corrupt) << "another rank";
  EXPECT_EQ(code({0, 90, 2, 91}, 3), Code::Corrupt) << "a size is missing";
  EXPECT_EQ(code({0, 90, 2, 91, 99}, 3), Code::Corrupt) << "another register";
}

namespace {

// y = 2 x + i, with 2 x as a tap.
class Taps : public testing::Test {
protected:
  struct Seen {
    std::vector<float> values;
    std::vector<int64_t> shape;
    int calls = 0;
    cameo_memory memory = CAMEO_MEMORY_HOST;
    cameo_status answer = CAMEO_STATUS_OK;
    void *stream = nullptr;
  };

  void SetUp() override {
    fakecuda::reset();
    cuda_test::registerKernels();
    CAMEO_INIT(cameo_device_options, options);
    options.kind = CAMEO_DEVICE_CUDA;
    ASSERT_EQ(cameo_device_create(&options, &device), CAMEO_STATUS_OK) << cameo_last_error();
    CAMEO_INIT(cameo_model_options, modelOptions);
    modelOptions.device = device;
    ASSERT_EQ(cameo_model_load_memory(file.data(), file.size(), &modelOptions, &model),
              CAMEO_STATUS_OK)
        << cameo_last_error();
    ASSERT_EQ(cameo_context_create(model, nullptr, &context), CAMEO_STATUS_OK);
    bind(4);
  }
  void TearDown() override {
    cameo_context_destroy(context);
    cameo_model_destroy(model);
    cameo_device_destroy(device);
    EXPECT_TRUE(fakecuda::live().none()) << fakecuda::live().str();
    EXPECT_EQ(fakecuda::misuses(), std::vector<std::string>());
  }
  void bind(int64_t count) {
    x.resize(count);
    std::iota(x.begin(), x.end(), 10.0f);
    y.assign(count, -1);
    cameo_binding in = {sizeof(cameo_binding), CAMEO_MEMORY_HOST, 0, x.data(), x.size() * 4};
    cameo_binding out = {sizeof(cameo_binding), CAMEO_MEMORY_HOST, 0, y.data(), y.size() * 4};
    ASSERT_EQ(cameo_context_set_input_shape(context, 0, 1, &count), CAMEO_STATUS_OK);
    ASSERT_EQ(cameo_context_bind_input(context, 0, &in), CAMEO_STATUS_OK);
    ASSERT_EQ(cameo_context_bind_output(context, 0, &out), CAMEO_STATUS_OK);
  }
  void watch(cameo_memory memory = CAMEO_MEMORY_HOST) {
    seen.memory = memory;
    ASSERT_EQ(cameo_context_get_stream(context, &seen.stream), CAMEO_STATUS_OK);
    ASSERT_EQ(cameo_context_set_taps(context, memory, look, &seen), CAMEO_STATUS_OK);
  }
  static cameo_status look(void *user, const cameo_tap *tap) {
    Seen &seen = *static_cast<Seen *>(user);
    ++seen.calls;
    EXPECT_EQ(tap->struct_size, sizeof(cameo_tap));
    EXPECT_EQ(tap->index, 0u);
    EXPECT_STREQ(tap->name, "scaled");
    EXPECT_EQ(tap->dtype, CAMEO_DTYPE_F32);
    EXPECT_EQ(tap->memory, seen.memory);
    seen.shape.assign(tap->dims, tap->dims + tap->rank);
    seen.values.resize(tap->bytes / 4);
    if (tap->memory == CAMEO_MEMORY_HOST) {
      std::memcpy(seen.values.data(), tap->data, tap->bytes);
      return seen.answer;
    }
    auto stream = static_cast<CUstream>(seen.stream);
    EXPECT_EQ(cuMemcpyDtoHAsync_v2(seen.values.data(), reinterpret_cast<CUdeviceptr>(tap->data),
                                   tap->bytes, stream),
              0);
    EXPECT_EQ(cuStreamSynchronize(stream), 0);
    return seen.answer;
  }
  void expectRun() {
    y.assign(y.size(), -1);
    ASSERT_EQ(cameo_context_run(context), CAMEO_STATUS_OK) << cameo_context_error(context);
    for (size_t i = 0; i < x.size(); ++i)
      ASSERT_EQ(y[i], 2 * x[i] + float(i));
  }

  PayloadFile file = cuda_test::makeModel();
  cameo_device *device = nullptr;
  cameo_model *model = nullptr;
  cameo_context *context = nullptr;
  std::vector<float> x, y;
  Seen seen;
};

} // namespace

TEST_F(Taps, AreToldOfApart) {
  EXPECT_EQ(cameo_model_tensor_count(model, 0, CAMEO_OUTPUT), 1u);
  EXPECT_EQ(cameo_model_tensor_count(model, 0, CAMEO_TAP), 1u);
  uint32_t index = 9;
  ASSERT_EQ(cameo_model_find_tensor(model, 0, CAMEO_TAP, "scaled", &index), CAMEO_STATUS_OK);
  EXPECT_EQ(index, 0u);
  EXPECT_EQ(cameo_model_find_tensor(model, 0, CAMEO_TAP, "y", &index), CAMEO_STATUS_NOT_FOUND);
  EXPECT_STREQ(cameo_last_error(), "the model has no tap 'y'");
  CAMEO_INIT(cameo_tensor_info, info);
  ASSERT_EQ(cameo_model_tensor_info(model, 0, CAMEO_TAP, 0, &info), CAMEO_STATUS_OK);
  EXPECT_STREQ(info.name, "scaled");
  EXPECT_EQ(info.dims[0], -1);
  EXPECT_STREQ(info.symbols[0], "n");
  EXPECT_EQ(cameo_model_tensor_info(model, 0, CAMEO_TAP, 1, &info), CAMEO_STATUS_INVALID_ARGUMENT);
  uint64_t bytes = 0;
  EXPECT_EQ(cameo_context_get_bytes(context, CAMEO_TAP, 0, &bytes), CAMEO_STATUS_INVALID_ARGUMENT);
}

// Before there is a graph, beside one, and in device memory; then no more.
TEST_F(Taps, AreShownByEveryRun) {
  watch();
  expectRun();
  EXPECT_EQ(seen.values, (std::vector<float>{20, 22, 24, 26}));
  EXPECT_EQ(seen.shape, (std::vector<int64_t>{4}));
  ASSERT_EQ(cameo_context_set_taps(context, CAMEO_MEMORY_HOST, nullptr, nullptr), CAMEO_STATUS_OK);
  for (int run = 0; run < 3; ++run)
    expectRun();
  EXPECT_EQ(seen.calls, 1);
  EXPECT_GT(fakecuda::callCount("cuGraphLaunch"), 0);
  watch(CAMEO_MEMORY_DEVICE);
  x[1] = 100;
  expectRun();
  EXPECT_EQ(seen.values, (std::vector<float>{20, 200, 24, 26}));
  watch();
  bind(1000);
  expectRun();
  EXPECT_EQ(seen.shape, (std::vector<int64_t>{1000}));
  EXPECT_EQ(seen.values[999], 2 * x[999]);
  bind(0);
  expectRun();
  EXPECT_EQ(seen.shape, (std::vector<int64_t>{0}));
  EXPECT_EQ(seen.calls, 4);
}

TEST_F(Taps, ACallbackEndsTheRun) {
  watch();
  seen.answer = CAMEO_STATUS_OUT_OF_MEMORY;
  EXPECT_EQ(cameo_context_run(context), CAMEO_STATUS_OUT_OF_MEMORY);
  EXPECT_STREQ(cameo_context_error(context), "tap 'scaled': the callback ended the run");
  EXPECT_EQ(y[0], -1);
  seen.answer = CAMEO_STATUS_OK;
  expectRun();
}

// What is computed behind a tap reads what its callback has written there.
TEST_F(Taps, AreReadAndWrittenOver) {
  struct Writer {
    cameo_context *context;
    uint64_t bytesMore = 0;
    cameo_status answer = CAMEO_STATUS_OK;
    static cameo_status write(void *user, const cameo_tap *tap) {
      auto &writer = *static_cast<Writer *>(user);
      std::vector<float> values(tap->bytes / 4);
      EXPECT_EQ(cameo_context_read_tap(writer.context, values.data(), tap->bytes), CAMEO_STATUS_OK);
      for (size_t i = 0; i < values.size(); ++i)
        EXPECT_EQ(values[i], 2 * (10 + float(i)));
      std::fill(values.begin(), values.end(), 1000.0f);
      return writer.answer = cameo_context_write_tap(writer.context, values.data(),
                                                     tap->bytes + writer.bytesMore);
    }
  };
  Writer writer{context};
  for (cameo_memory memory : {CAMEO_MEMORY_HOST, CAMEO_MEMORY_DEVICE})
    for (int64_t count : {4, 0}) {
      bind(count);
      ASSERT_EQ(cameo_context_set_taps(context, memory, &Writer::write, &writer), CAMEO_STATUS_OK);
      ASSERT_EQ(cameo_context_run(context), CAMEO_STATUS_OK) << cameo_context_error(context);
      for (int64_t i = 0; i < count; ++i)
        EXPECT_EQ(y[i], 1000.0f + float(i));
    }
  bind(4);
  writer.bytesMore = 4;
  EXPECT_EQ(cameo_context_run(context), CAMEO_STATUS_INVALID_ARGUMENT);
  EXPECT_EQ(writer.answer, CAMEO_STATUS_INVALID_ARGUMENT);
  ASSERT_EQ(cameo_context_set_taps(context, CAMEO_MEMORY_HOST, nullptr, nullptr), CAMEO_STATUS_OK);
  expectRun();
  EXPECT_EQ(cameo_context_write_tap(context, x.data(), 16), CAMEO_STATUS_INVALID_ARGUMENT);
  EXPECT_STREQ(cameo_context_error(context), "no tap is being shown");
}

TEST_F(Taps, AreNotShownByTimedRuns) {
  watch();
  int launches = 0;
  ASSERT_EQ(cameo_context_run_timed(
                context,
                [](void *user, const cameo_launch_timing *) { ++*static_cast<int *>(user); },
                &launches),
            CAMEO_STATUS_OK)
      << cameo_context_error(context);
  EXPECT_EQ(launches, 2);
  EXPECT_EQ(seen.calls, 0);
}

TEST_F(Taps, AreNoPartOfARecording) {
  expectRun(); // nothing is allocated afterwards
  watch();
  CUcontext current = nullptr;
  CUstream stream = nullptr;
  CUgraph recorded = nullptr;
  ASSERT_EQ(cuDevicePrimaryCtxRetain(&current, 0), 0);
  ASSERT_EQ(cuCtxPushCurrent_v2(current), 0);
  ASSERT_EQ(cuStreamCreate(&stream, 0), 0);
  ASSERT_EQ(cameo_context_set_stream(context, stream), CAMEO_STATUS_OK);
  ASSERT_EQ(cuStreamBeginCapture_v2(stream, /*relaxed*/ 2), 0);
  EXPECT_EQ(cameo_context_enqueue(context), CAMEO_STATUS_UNSUPPORTED);
  EXPECT_STREQ(cameo_context_error(context),
               "taps cannot be looked at while their stream is recorded");
  EXPECT_EQ(cuStreamEndCapture(stream, &recorded), 0);
  EXPECT_EQ(cuGraphDestroy(recorded), 0);
  ASSERT_EQ(cameo_context_set_stream(context, nullptr), CAMEO_STATUS_OK);
  EXPECT_EQ(cuStreamDestroy_v2(stream), 0);
  EXPECT_EQ(cuCtxPopCurrent_v2(nullptr), 0);
  EXPECT_EQ(cuDevicePrimaryCtxRelease_v2(0), 0);
  EXPECT_EQ(seen.calls, 0);
}

TEST_F(Taps, WrongArguments) {
  EXPECT_EQ(cameo_context_set_taps(nullptr, CAMEO_MEMORY_HOST, look, &seen),
            CAMEO_STATUS_INVALID_ARGUMENT);
  EXPECT_EQ(cameo_context_set_taps(context, cameo_memory(7), look, &seen),
            CAMEO_STATUS_INVALID_ARGUMENT);
  EXPECT_STREQ(cameo_context_error(context), "memory kind 7 is unknown");
}
