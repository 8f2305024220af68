// Plans that go by values that they compute, and a program that runs them, on the simulator and on the fake CUDA driver.
// SPDX-License-Identifier: Apache-2.0
#ifndef CAMEO_TEST_RUNTIME_SEGMENT_PLANS_H
#define CAMEO_TEST_RUNTIME_SEGMENT_PLANS_H

#include "fake_cuda.h"
#include "runtime/cameo.h"
#include "test_model.h"

#include <gtest/gtest.h>

namespace segment_test {

using namespace payload_test;
using Values = std::vector<int64_t>;

inline constexpr uint32_t kBytes = 24;

// to = {from[0] - 1, from[1] + step, from[0] > 1}, as in sim_image.c.
inline void registerAdvance() {
  fakecuda::registerKernel("advance", {8, 8, 8}, [](const fakecuda::Launch &launch) {
    const auto *from = launch.pointer<int64_t>(0);
    auto *to = launch.pointer<int64_t>(1);
    int64_t left = from[0] - 1, sum = from[1] + launch.argument<int64_t>(2);
    to[0] = left;
    to[1] = sum;
    to[2] = left > 0;
  });
}

inline uint32_t advanceKernel(PlanBuilder &p) {
  return p.kernel("advance", 64, {CAMEO_ARG_BUFFER, CAMEO_ARG_BUFFER, CAMEO_ARG_I64});
}

inline PayloadFile modelOf(PlanBuilder &p, bool checked = false) {
  PayloadBuilder builder;
  builder.section(CAMEO_SECTION_PLAN, p.finish());
  builder.section(CAMEO_SECTION_SIM_IMAGE,
                  readBytes(checked ? SIM_TEST_CHECKED_IMAGE : SIM_TEST_IMAGE), 0, 80,
                  checked ? CAMEO_SIM_IMAGE_CHECKED : 0);
  builder.ptx(".version 7.5\n.target sm_75\n.address_size 64\n"
              ".visible .entry advance(.param .u64 f, .param .u64 t, .param .u64 s)\n{ ret; }\n",
              75);
  return builder.finish();
}

enum class Places { One, Two };

// while (s[2]) s = advance(s, 3), for s = x {trips, 0, trips > 0}; y = s. In one place, or in two that change.
// Where `counts`, the number of trips done goes to the kernel as a scalar instead of the 3.
inline PayloadFile whileModel(Places places = Places::One, bool counts = false,
                              bool checked = false) {
  PlanBuilder p;
  p.input("x", CAMEO_INT64, {{3}});
  p.output("y", CAMEO_INT64, {{3}});
  p.tap("s", CAMEO_INT64, {{3}});
  uint32_t advance = advanceKernel(p);
  uint32_t x = p.newBuffer(), y = p.newBuffer(), s = p.newBuffer(), other = p.newBuffer();
  uint32_t zero = p.constant(0), one = p.constant(1), two = p.constant(2), three = p.constant(3);
  uint32_t bytes = p.constant(kBytes), go = p.newRegister(), step = p.newRegister();
  uint32_t here = p.constant(0), there = p.constant(256), t = p.newRegister();
  p.op(CAMEO_OP_OUTPUT_SHAPE, {0, 1, three});
  p.op(CAMEO_OP_ARENA_SIZE, {p.constant(512)});
  p.op(CAMEO_OP_BUF_INPUT, {x, 0});
  p.op(CAMEO_OP_BUF_OUTPUT, {y, 0});
  p.op(CAMEO_OP_BUF_ARENA, {s, here, bytes});
  p.op(CAMEO_OP_BUF_NAME, {s, p.string("carried")});
  p.op(CAMEO_OP_COPY, {s, x, bytes});
  p.op(CAMEO_OP_MOVE, {step, counts ? one : three});
  uint32_t loop = p.op(CAMEO_OP_FETCH, {s, CAMEO_INT64, two, 1, go});
  uint32_t branch = p.op(CAMEO_OP_BRANCH_ZERO, {go, 0});
  if (places == Places::One) {
    p.op(CAMEO_OP_LAUNCH, {advance, one, one, one, zero, s, s, step});
    p.op(CAMEO_OP_COPY, {y, s, bytes});
  } else {
    p.op(CAMEO_OP_BUF_ARENA, {other, there, bytes});
    p.op(CAMEO_OP_LAUNCH, {advance, one, one, one, zero, s, other, step});
    p.op(CAMEO_OP_COPY, {y, other, bytes});
    p.op(CAMEO_OP_BUF_PART, {s, other, zero, bytes});
    p.op(CAMEO_OP_MOVE, {t, here});
    p.op(CAMEO_OP_MOVE, {here, there});
    p.op(CAMEO_OP_MOVE, {there, t});
  }
  if (counts)
    p.op(CAMEO_OP_ADD, {step, step, one});
  p.op(CAMEO_OP_TAP, {0, s, 1, three});
  p.op(CAMEO_OP_JUMP, {loop});
  p.patch(branch + 2, p.op(CAMEO_OP_COPY, {y, s, bytes}));
  p.op(CAMEO_OP_END);
  return modelOf(p, checked);
}

inline Values loopOf(int64_t trips) { return {trips, 0, trips > 0}; }
inline Values loopGives(int64_t trips, bool counts = false) {
  return {0, counts ? trips * (trips + 1) / 2 : 3 * trips, 0};
}

// y = x[0] ? advance(x, 5) : advance(advance(x, -7), -7)
inline PayloadFile ifModel() {
  PlanBuilder p;
  p.input("x", CAMEO_INT64, {{3}});
  p.output("y", CAMEO_INT64, {{3}});
  uint32_t advance = advanceKernel(p);
  uint32_t x = p.newBuffer(), y = p.newBuffer(), s = p.newBuffer();
  uint32_t zero = p.constant(0), one = p.constant(1), bytes = p.constant(kBytes);
  uint32_t go = p.newRegister(), down = p.constant(uint64_t(-7));
  p.op(CAMEO_OP_OUTPUT_SHAPE, {0, 1, p.constant(3)});
  p.op(CAMEO_OP_ARENA_SIZE, {bytes});
  p.op(CAMEO_OP_BUF_INPUT, {x, 0});
  p.op(CAMEO_OP_BUF_OUTPUT, {y, 0});
  p.op(CAMEO_OP_BUF_ARENA, {s, zero, bytes});
  p.op(CAMEO_OP_FETCH, {x, CAMEO_INT64, zero, 1, go});
  uint32_t branch = p.op(CAMEO_OP_BRANCH_ZERO, {go, 0});
  p.op(CAMEO_OP_LAUNCH, {advance, one, one, one, zero, x, y, p.constant(5)});
  uint32_t out = p.op(CAMEO_OP_JUMP, {0});
  p.patch(branch + 2, p.op(CAMEO_OP_LAUNCH, {advance, one, one, one, zero, x, s, down}));
  p.op(CAMEO_OP_LAUNCH, {advance, one, one, one, zero, s, y, down});
  p.patch(out + 1, p.op(CAMEO_OP_END));
  return modelOf(p);
}

// y = the first x[0] elements of x, of 8 at most by the plan's own check. `bound`: 8, -1 none.
inline PayloadFile sizeModel(int64_t bound = 8) {
  PlanBuilder p;
  p.input("x", CAMEO_INT64, {{16}});
  p.output("y", CAMEO_INT64, {{-1, "kept"}});
  advanceKernel(p);
  uint32_t x = p.newBuffer(), y = p.newBuffer(), n = p.newRegister(), zero = p.constant(0);
  uint32_t eight = p.constant(8);
  p.op(CAMEO_OP_OUTPUT_BOUND, {0, 1, p.constant(uint64_t(bound))});
  p.op(CAMEO_OP_BUF_INPUT, {x, 0});
  p.op(CAMEO_OP_FETCH, {x, CAMEO_INT64, zero, 1, n});
  uint32_t fits = p.compute(CAMEO_OP_LE, n, eight);
  if (bound >= 0)
    p.op(CAMEO_OP_CHECK, {fits, p.string("'NonZero': {0} elements, at most {1}"), n, eight});
  p.op(CAMEO_OP_OUTPUT_SHAPE, {0, 1, n});
  p.op(CAMEO_OP_BUF_OUTPUT, {y, 0});
  uint32_t bytes = p.compute(CAMEO_OP_MUL, n, eight);
  p.op(CAMEO_OP_COPY, {y, x, bytes});
  p.op(CAMEO_OP_END);
  return modelOf(p);
}

// y = x, an element a trip, through an arena of 256 bytes in the first trip and `step` more in each that follows.
inline PayloadFile sizingModel(int64_t step) {
  PlanBuilder p;
  p.input("x", CAMEO_INT64, {{-1, "n"}});
  p.output("y", CAMEO_INT64, {{-1, "n"}});
  advanceKernel(p);
  uint32_t x = p.newBuffer(), y = p.newBuffer(), held = p.newBuffer(), from = p.newBuffer();
  uint32_t to = p.newBuffer(), n = p.newRegister(), i = p.newRegister(), at = p.newRegister();
  uint32_t zero = p.constant(0), one = p.constant(1), eight = p.constant(8), left = p.newRegister();
  uint32_t most = p.newRegister(), by = p.constant(uint64_t(step)), last = p.newRegister();
  p.op(CAMEO_OP_DIM, {n, 0, 0});
  p.op(CAMEO_OP_OUTPUT_SHAPE, {0, 1, n});
  p.op(CAMEO_OP_BUF_INPUT, {x, 0});
  p.op(CAMEO_OP_BUF_OUTPUT, {y, 0});
  p.op(CAMEO_OP_MOVE, {i, zero});
  p.op(CAMEO_OP_MOVE, {most, p.constant(2048)});
  uint32_t loop = p.op(CAMEO_OP_LT, {left, i, n});
  uint32_t branch = p.op(CAMEO_OP_BRANCH_ZERO, {left, 0});
  p.op(CAMEO_OP_ARENA_SIZE, {most});
  p.op(CAMEO_OP_SUB, {last, most, eight});
  p.op(CAMEO_OP_BUF_ARENA, {held, last, eight});
  p.op(CAMEO_OP_MUL, {at, i, eight});
  p.op(CAMEO_OP_BUF_PART, {from, x, at, eight});
  p.op(CAMEO_OP_BUF_PART, {to, y, at, eight});
  p.op(CAMEO_OP_COPY, {held, from, eight});
  p.op(CAMEO_OP_COPY, {to, held, eight});
  p.op(CAMEO_OP_ADD, {most, most, by});
  p.op(CAMEO_OP_ADD, {i, i, one});
  p.op(CAMEO_OP_JUMP, {loop});
  p.patch(branch + 2, p.op(CAMEO_OP_END));
  return modelOf(p);
}

enum class Where { Simulator, FakeDriver };

// A model and one context.
// Tests that leave nothing of the fake driver behind, whether they run on it or on the simulator.
class OnDevices : public testing::TestWithParam<Where> {
protected:
  void SetUp() override {
    fakecuda::reset();
    registerAdvance();
  }
  void TearDown() override {
    EXPECT_TRUE(fakecuda::live().none()) << fakecuda::live().str();
    EXPECT_EQ(fakecuda::misuses(), std::vector<std::string>());
  }
};

inline std::string nameOfDevice(const testing::TestParamInfo<Where> &info) {
  return info.param == Where::Simulator ? "Simulator" : "FakeDriver";
}

class Program {
public:
  Program(Where where, PayloadFile content, uint32_t checks = 0, uint32_t flags = 0)
      : file(std::move(content)) {
    CAMEO_INIT(cameo_device_options, deviceOptions);
    deviceOptions.kind = where == Where::Simulator ? CAMEO_DEVICE_SIMULATOR : CAMEO_DEVICE_CUDA;
    deviceOptions.sim_threads = 1;
    deviceOptions.sim_checks = checks;
    status = cameo_device_create(&deviceOptions, &device);
    CAMEO_INIT(cameo_model_options, options);
    options.device = device;
    if (status == CAMEO_STATUS_OK)
      status = cameo_model_load_memory(file.data(), file.size(), &options, &model);
    CAMEO_INIT(cameo_context_options, contextOptions);
    contextOptions.flags = flags;
    if (status == CAMEO_STATUS_OK)
      status = cameo_context_create(model, &contextOptions, &context);
    EXPECT_TRUE(mayFail || status == CAMEO_STATUS_OK) << cameo_last_error();
  }
  ~Program() {
    cameo_context_destroy(context);
    cameo_model_destroy(model);
    cameo_device_destroy(device);
  }
  Program(const Program &) = delete;

  static cameo_binding binding(const Values &values) {
    return {sizeof(cameo_binding), CAMEO_MEMORY_HOST, 0, const_cast<int64_t *>(values.data()),
            values.size() * 8};
  }
  cameo_status bind(const Values &x, Values &y) {
    cameo_binding in = binding(x), out = binding(y);
    if (cameo_status failed = cameo_context_bind_input(context, 0, &in))
      return failed;
    return cameo_context_bind_output(context, 0, &out);
  }
  // Into memory that holds something else before.
  cameo_status run(const Values &x, Values &y) {
    std::fill(y.begin(), y.end(), -99);
    cameo_status failed = bind(x, y);
    return failed ? failed : cameo_context_run(context);
  }
  std::string error() const { return cameo_context_error(context); }

  static bool mayFail;
  PayloadFile file;
  cameo_status status = CAMEO_STATUS_OK;
  cameo_device *device = nullptr;
  cameo_model *model = nullptr;
  cameo_context *context = nullptr;
};
inline bool Program::mayFail = false;

} // namespace segment_test

#endif
