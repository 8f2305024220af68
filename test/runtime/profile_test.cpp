// --profile on the fake driver's clock: the host pays 2 us for a launch, a kernel takes as long as
// the test says, and events tick in half microseconds.
// SPDX-License-Identifier: Apache-2.0
#include "fake_cuda_clock.h"
#include "payload_builder.h"
#include "runtime/core/context.h"

#include <gtest/gtest.h>

using namespace cameo::runtime;

namespace {

constexpr int kLaunches = 60;

// y = x after so many launches of kernels that take from 1 to 8 us; a copy in their midst.
payload_test::PayloadFile chainModel(int launches) {
  payload_test::PlanBuilder plan;
  plan.input("x", CAMEO_FLOAT, {{4}});
  plan.output("y", CAMEO_FLOAT, {{4}});
  std::vector<uint32_t> kernels;
  std::string ptx = ".version 7.5\n.target sm_75\n.address_size 64\n";
  for (int i = 0; i < 8; ++i) {
    std::string name = "take" + std::to_string(i + 1);
    kernels.push_back(plan.kernel(name, 32, {CAMEO_ARG_BUFFER}));
    ptx += ".visible .entry " + name + "(.param .u64 p) { ret; }\n";
  }
  uint32_t zero = plan.constant(0), one = plan.constant(1), four = plan.constant(4),
           bytes = plan.constant(16), x = plan.newBuffer(), y = plan.newBuffer();
  plan.op(CAMEO_OP_OUTPUT_SHAPE, {0, 1, four});
  plan.op(CAMEO_OP_ARENA_SIZE, {zero});
  plan.op(CAMEO_OP_BUF_INPUT, {x, 0});
  plan.op(CAMEO_OP_BUF_OUTPUT, {y, 0});
  for (int i = 0; i < launches; ++i) {
    if (i == launches / 2)
      plan.op(CAMEO_OP_COPY, {y, x, bytes});
    plan.op(CAMEO_OP_LAUNCH, {kernels[i % 8], one, one, one, zero, y});
  }
  plan.op(CAMEO_OP_END);
  payload_test::PayloadBuilder builder;
  builder.section(CAMEO_SECTION_PLAN, plan.finish());
  builder.ptx(ptx, 75);
  return builder.finish();
}

class ProfileTest : public testing::Test {
protected:
  void SetUp() override {
    fakecuda::reset();
    for (int i = 1; i <= 8; ++i) {
      fakecuda::registerKernel("take" + std::to_string(i), {8}, [](const fakecuda::Launch &) {});
      fakecuda::setKernelTime("take" + std::to_string(i), i);
    }
  }

  Status time(int launches, const ContextOptions &options = {}, bool tell = true) {
    file = chainModel(launches);
    std::unique_ptr<Payload> payload;
    CAMEO_RETURN_IF_ERROR(Payload::fromMemory(file.data(), file.size(), payload));
    std::unique_ptr<Device> device;
    CAMEO_RETURN_IF_ERROR(createCudaDevice(0, device));
    std::shared_ptr<Model> model;
    CAMEO_RETURN_IF_ERROR(Model::create(std::move(payload), std::move(device), 0, false, model));
    std::unique_ptr<Context> context;
    CAMEO_RETURN_IF_ERROR(Context::create(model, options, context));
    CAMEO_RETURN_IF_ERROR(context->bindInput(0, {Binding::Host, x, sizeof x}));
    CAMEO_RETURN_IF_ERROR(context->bindOutput(0, {Binding::Host, y, sizeof y}));
    timings.clear();
    CAMEO_RETURN_IF_ERROR(context->runTimed(
        [&](const LaunchTiming &timing) { timings.push_back(timing); }, 20, tell ? &how : nullptr));
    for (const LaunchTiming &timing : timings)
      sum += timing.duration * 1000;
    return {};
  }

  payload_test::PayloadFile file;
  float x[4] = {1, 2, 3, 4}, y[4] = {};
  std::vector<LaunchTiming> timings;
  TimedRun how;
  double sum = 0; // microseconds
};

TEST_F(ProfileTest, SumIsThatOfTheReplay) {
  Status status = time(kLaunches);
  ASSERT_TRUE(status.ok()) << status.message();
  EXPECT_EQ(how.replays, 20u);
  EXPECT_TRUE(how.floorIsKernel);
  ASSERT_EQ(timings.size(), size_t(kLaunches));
  EXPECT_NEAR(sum, how.whole * 1000, how.whole * 100) << "within 10 %";
  for (int i = 0; i < kLaunches; ++i) {
    EXPECT_NEAR(timings[i].duration * 1000, i % 8 + 1, 0.51) << i;
    EXPECT_LE(timings[i].spread * 1000, 0.51) << i;
    if (i)
      EXPECT_DOUBLE_EQ(timings[i].start, timings[i - 1].start + timings[i - 1].duration);
  }
  EXPECT_EQ(y[2], 3);
  EXPECT_EQ(fakecuda::callCount("cuLaunchKernel"), 0);
  EXPECT_TRUE(fakecuda::live().none()) << fakecuda::live().str();
  EXPECT_TRUE(fakecuda::misuses().empty()) << fakecuda::misuses()[0];
}

// What the host's launches make of the same kernels: each shows 2 us and more.
TEST_F(ProfileTest, LaunchByLaunchTheHostIsTimed) {
  ContextOptions options;
  options.useGraphs = false;
  ASSERT_TRUE(time(kLaunches, options).ok());
  EXPECT_EQ(how.replays, 0u);
  EXPECT_EQ(how.notReplayed, "");
  EXPECT_EQ(fakecuda::callCount("cuLaunchKernel"), kLaunches);
}

TEST_F(ProfileTest, ManyLaunchesAreTimedInParts) {
  ASSERT_TRUE(time(2300).ok());
  ASSERT_EQ(timings.size(), 2300u);
  EXPECT_NEAR(sum, how.whole * 1000, how.whole * 100);
  for (int i : {0, 998, 999, 1000, 1001, 1149, 1150, 1999, 2000, 2299})
    EXPECT_NEAR(timings[i].duration * 1000, i % 8 + 1, 0.51) << i;
  // Of the whole, three parts, the floor: each replayed 21 times.
  EXPECT_EQ(fakecuda::callCount("cuGraphLaunch"), 5 * 21);
}

// Who asks for no more does not wait for more.
TEST_F(ProfileTest, TimesAloneTakeOneGraph) {
  ASSERT_TRUE(time(kLaunches, {}, false).ok());
  EXPECT_NEAR(timings[3].duration * 1000, 4, 0.51);
  EXPECT_EQ(fakecuda::callCount("cuGraphLaunch"), 21);
}

TEST_F(ProfileTest, WithoutACompilerTheFloorIsThatOfNothing) {
  fakecuda::failCall("cuModuleLoadDataEx", 2, 221);
  ASSERT_TRUE(time(kLaunches).ok());
  EXPECT_TRUE(fakecuda::failureHappened());
  EXPECT_FALSE(how.floorIsKernel);
  EXPECT_EQ(how.replays, 20u);
  EXPECT_LT(how.floor * 1000, 1);
}

TEST_F(ProfileTest, ADriverThatRefusesTheGraphIsTimedLaunchByLaunch) {
  fakecuda::failCall("cuGraphInstantiateWithFlags", 1, 2);
  ASSERT_TRUE(time(kLaunches).ok());
  EXPECT_EQ(how.replays, 0u);
  EXPECT_NE(how.notReplayed.find("cuGraphInstantiateWithFlags: CUDA_ERROR_OUT_OF_MEMORY (2)"),
            std::string::npos)
      << how.notReplayed;
  EXPECT_EQ(y[2], 3);
  EXPECT_TRUE(fakecuda::live().none()) << fakecuda::live().str();
}

TEST_F(ProfileTest, NoLaunchesAreNoTimes) {
  ASSERT_TRUE(time(0).ok());
  EXPECT_TRUE(timings.empty());
}

} // namespace
