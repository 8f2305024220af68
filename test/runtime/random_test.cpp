// Random states of runs: that each has its own, replayed or not, and that a seed begins anew.
// SPDX-License-Identifier: Apache-2.0
#include "fake_cuda_entry.h"
#include "segment_plans.h"

#include "runtime/core/context.h"
#include "runtime/core/random.h"

#include <cstring>

using namespace segment_test;

namespace {

// y = the run's random state, by way of the arena: two copies, of which a graph is made.
PayloadFile stateModel() {
  PlanBuilder p;
  p.input("x", CAMEO_INT64, {{3}});
  p.output("y", CAMEO_INT64, {{4}});
  advanceKernel(p);
  uint32_t state = p.newBuffer(), kept = p.newBuffer(), y = p.newBuffer();
  uint32_t bytes = p.constant(CAMEO_RANDOM_BYTES), zero = p.constant(0);
  p.op(CAMEO_OP_OUTPUT_SHAPE, {0, 1, p.constant(4)});
  p.op(CAMEO_OP_ARENA_SIZE, {bytes});
  p.op(CAMEO_OP_BUF_RANDOM, {state});
  p.op(CAMEO_OP_BUF_ARENA, {kept, zero, bytes});
  p.op(CAMEO_OP_BUF_OUTPUT, {y, 0});
  p.op(CAMEO_OP_COPY, {kept, state, bytes});
  p.op(CAMEO_OP_COPY, {y, kept, bytes});
  p.op(CAMEO_OP_END);
  return modelOf(p);
}

Values stateOf(uint64_t seed, uint64_t run) {
  std::array<uint32_t, 8> words = cameo::runtime::randomState(seed, run);
  Values result(4);
  std::memcpy(result.data(), words.data(), sizeof words);
  return result;
}

class Random : public OnDevices {};

class RandomOnCuda : public Random {};

const Values kX(3);

TEST(Philox, KnownAnswers) {
  using cameo::runtime::philox;
  using Block = cameo::runtime::RandomBlock;
  EXPECT_EQ(philox(0, {0, 0, 0, 0}), (Block{0x6627e8d5, 0xe169c58d, 0xbc57ac4c, 0x9b00dbd8}));
  uint32_t most = UINT32_MAX;
  EXPECT_EQ(philox(UINT64_MAX, {most, most, most, most}),
            (Block{0x408f276d, 0x41c83b0e, 0xa20bc7c6, 0x6d5451fd}));
}

TEST_P(Random, EachRunHasItsOwn) {
  Program program(GetParam(), stateModel());
  Values y(4);
  for (uint64_t run = 0; run < 5; ++run) {
    ASSERT_EQ(program.run(kX, y), CAMEO_STATUS_OK) << program.error();
    EXPECT_EQ(y, stateOf(0, run)) << run;
  }
  for (uint64_t seed : {UINT64_MAX, uint64_t(7), uint64_t(7)}) {
    ASSERT_EQ(cameo_context_set_seed(program.context, seed), CAMEO_STATUS_OK);
    for (uint64_t run = 0; run < 3; ++run) {
      ASSERT_EQ(program.run(kX, y), CAMEO_STATUS_OK) << program.error();
      EXPECT_EQ(y, stateOf(seed, run)) << seed << ", " << run;
    }
  }
}

TEST_P(Random, RunsThatAreNotWaitedFor) {
  Program program(GetParam(), stateModel());
  Values y[4] = {Values(4), Values(4), Values(4), Values(4)};
  for (Values &each : y) {
    ASSERT_EQ(program.bind(kX, each), CAMEO_STATUS_OK);
    ASSERT_EQ(cameo_context_enqueue(program.context), CAMEO_STATUS_OK) << program.error();
  }
  ASSERT_EQ(cameo_context_synchronize(program.context), CAMEO_STATUS_OK);
  for (uint64_t run = 0; run < 4; ++run)
    EXPECT_EQ(y[run], stateOf(0, run)) << run;
}

TEST_P(Random, SetSeedNeedsAContext) {
  EXPECT_EQ(cameo_context_set_seed(nullptr, 1), CAMEO_STATUS_INVALID_ARGUMENT);
}

TEST_P(RandomOnCuda, AReplayDrawsAnew) {
  Program program(GetParam(), stateModel());
  Values y(4);
  for (uint64_t run = 0; run < 5; ++run) {
    ASSERT_EQ(program.run(kX, y), CAMEO_STATUS_OK) << program.error();
    EXPECT_EQ(y, stateOf(0, run)) << run;
  }
  EXPECT_EQ(fakecuda::callCount("cuGraphInstantiateWithFlags"), 1);
  EXPECT_EQ(fakecuda::callCount("cuGraphLaunch"), 4);
  EXPECT_EQ(fakecuda::callCount("cuGraphExecMemcpyNodeSetParams"), 0);
}

// A run that fails is not counted.
TEST_P(RandomOnCuda, FailuresDrawNothing) {
  Program program(GetParam(), stateModel());
  Values y(4);
  ASSERT_EQ(program.run(kX, y), CAMEO_STATUS_OK) << program.error();
  fakecuda::failCall("cuMemcpyHtoDAsync_v2", 1, 999);
  EXPECT_NE(program.run(kX, y), CAMEO_STATUS_OK);
  ASSERT_EQ(program.run(kX, y), CAMEO_STATUS_OK) << program.error();
  EXPECT_EQ(y, stateOf(0, 1));
}

TEST_P(RandomOnCuda, ARecordingIsRefused) {
  Program program(GetParam(), stateModel());
  Values y(4);
  ASSERT_EQ(program.run(kX, y), CAMEO_STATUS_OK) << program.error();
  CUcontext current = nullptr;
  CUstream stream = nullptr;
  CUgraph graph = nullptr;
  ASSERT_EQ(cuDevicePrimaryCtxRetain(&current, 0), 0);
  ASSERT_EQ(cuCtxPushCurrent_v2(current), 0);
  ASSERT_EQ(cuStreamCreate(&stream, 1), 0);
  ASSERT_EQ(cameo_context_set_stream(program.context, stream), CAMEO_STATUS_OK);
  ASSERT_EQ(cuStreamBeginCapture_v2(stream, 1), 0);
  EXPECT_EQ(cameo_context_enqueue(program.context), CAMEO_STATUS_UNSUPPORTED);
  EXPECT_EQ(program.error(),
            "'main' draws random numbers, which a recording of the stream would repeat");
  ASSERT_EQ(cuStreamEndCapture(stream, &graph), 0);
  ASSERT_EQ(cuGraphDestroy(graph), 0);
  ASSERT_EQ(cameo_context_set_stream(program.context, nullptr), CAMEO_STATUS_OK);
  ASSERT_EQ(cuStreamDestroy_v2(stream), 0);
  ASSERT_EQ(cuCtxPopCurrent_v2(&current), 0);
  ASSERT_EQ(cuDevicePrimaryCtxRelease_v2(0), 0);
}

INSTANTIATE_TEST_SUITE_P(Devices, Random, testing::Values(Where::Simulator, Where::FakeDriver),
                         [](const auto &each) {
                           return each.param == Where::Simulator ? "Simulator" : "FakeDriver";
                         });
INSTANTIATE_TEST_SUITE_P(Graphs, RandomOnCuda, testing::Values(Where::FakeDriver), nameOfDevice);

} // namespace
