// Runs that go by values that they compute, through the C API, on the simulator and on the fake CUDA driver.
// SPDX-License-Identifier: Apache-2.0
#include "fake_cuda_entry.h"
#include "segment_plans.h"

#include "runtime/core/context.h"

using namespace segment_test;

namespace {

class Segments : public OnDevices {};

class SegmentsOnCuda : public Segments {};

TEST_P(Segments, BothBranches) {
  Program program(GetParam(), ifModel());
  Values y(3);
  for (int64_t first : {4, 4, 0, 0, 0, 4, 0, 4}) {
    ASSERT_EQ(program.run({first, 10, 0}, y), CAMEO_STATUS_OK) << program.error();
    EXPECT_EQ(y, first ? (Values{3, 15, 1}) : (Values{-2, -4, 0}));
  }
}

TEST_P(Segments, WhileOnAValue) {
  for (Places places : {Places::One, Places::Two})
    for (bool counts : {false, true}) {
      Program program(GetParam(), whileModel(places, counts));
      Values y(3);
      for (int round = 0; round < 3; ++round)
        for (int64_t trips : {0, 1, 2, 50, 2, 0}) {
          ASSERT_EQ(program.run(loopOf(trips), y), CAMEO_STATUS_OK) << program.error();
          EXPECT_EQ(y, loopGives(trips, counts)) << trips << " trips";
        }
    }
}

// A loop that needs more memory than its trip before waits for the steps that have the old one.
TEST_P(Segments, LoopsSizeTheirMemoryAnew) {
  for (int64_t step : {-256, 0, 256}) {
    Program program(GetParam(), sizingModel(step));
    for (size_t count : {5, 1, 0, 5, 5, 8}) {
      Values x(count), y(count);
      for (size_t i = 0; i < count; ++i)
        x[i] = int64_t(100 * count + i);
      int64_t size = int64_t(count);
      ASSERT_EQ(cameo_context_set_input_shape(program.context, 0, 1, &size), CAMEO_STATUS_OK);
      ASSERT_EQ(program.run(x, y), CAMEO_STATUS_OK) << program.error();
      EXPECT_EQ(y, x);
    }
  }
}

// Without graphs the same.
TEST_P(Segments, LaunchByLaunch) {
  Program program(GetParam(), whileModel(Places::Two, true), 0, CAMEO_CONTEXT_NO_GRAPH);
  Values y(3);
  for (int64_t trips : {3, 3, 3, 0, 7}) {
    ASSERT_EQ(program.run(loopOf(trips), y), CAMEO_STATUS_OK) << program.error();
    EXPECT_EQ(y, loopGives(trips, true));
  }
  EXPECT_EQ(fakecuda::callCount("cuGraphLaunch"), 0);
}

TEST_P(Segments, SizesFromValues) {
  Program program(GetParam(), sizeModel());
  Values x(16), y(8);
  for (int64_t i = 0; i < 16; ++i)
    x[size_t(i)] = 100 + i;
  int64_t dims[1] = {};
  uint32_t rank = 0;
  int32_t exact = 7;
  uint64_t bytes = 0;
  ASSERT_EQ(cameo_context_get_output_shape(program.context, 0, 1, dims, &rank),
            CAMEO_STATUS_NOT_KNOWN_YET);
  EXPECT_EQ(program.error(),
            "output 'y': its shape is known after a run, which decides it; it is at most 8xi64");
  ASSERT_EQ(cameo_context_get_output_bound(program.context, 0, 1, dims, &rank, &exact),
            CAMEO_STATUS_OK);
  EXPECT_EQ(dims[0], 8);
  EXPECT_EQ(exact, 0);
  ASSERT_EQ(cameo_context_get_bytes(program.context, CAMEO_OUTPUT, 0, &bytes), CAMEO_STATUS_OK);
  EXPECT_EQ(bytes, 64u);
  void *data = nullptr;
  for (int64_t size : {3, 8, 0, 3, 3, 5}) {
    x[0] = size;
    ASSERT_EQ(program.run(x, y), CAMEO_STATUS_OK) << program.error();
    ASSERT_EQ(cameo_context_get_output_shape(program.context, 0, 1, dims, &rank), CAMEO_STATUS_OK);
    EXPECT_EQ(dims[0], size);
    for (int64_t i = 0; i < 8; ++i)
      EXPECT_EQ(y[size_t(i)], i < size ? x[size_t(i)] : -99) << i << " of " << size;
    ASSERT_EQ(cameo_context_get_bytes(program.context, CAMEO_OUTPUT, 0, &bytes), CAMEO_STATUS_OK);
    EXPECT_EQ(bytes, 64u) << "what the next run may need";
    ASSERT_EQ(cameo_context_output_memory(program.context, 0, &data, &bytes), CAMEO_STATUS_OK);
    EXPECT_EQ(bytes, uint64_t(size) * 8);
  }
  // More than the plan allows: the model's own check, and nothing is written.
  x[0] = 9;
  EXPECT_EQ(program.run(x, y), CAMEO_STATUS_OUT_OF_RANGE);
  EXPECT_EQ(program.error(), "'NonZero': 9 elements, at most 8");
  EXPECT_EQ(y, Values(8, -99));
  EXPECT_EQ(cameo_context_get_output_shape(program.context, 0, 1, dims, &rank),
            CAMEO_STATUS_NOT_KNOWN_YET)
      << "that of the run before is no longer it";
  // More than is bound.
  Values little(2);
  x[0] = 3;
  EXPECT_EQ(program.run(x, little), CAMEO_STATUS_INVALID_ARGUMENT);
  EXPECT_EQ(program.error(), "output 'y': 16 bytes are bound, its shape needs 24");
  EXPECT_EQ(little, Values(2, -99));
  x[0] = 2;
  EXPECT_EQ(program.run(x, little), CAMEO_STATUS_OK) << program.error();
  EXPECT_EQ(little, (Values{2, 101}));
}

TEST_P(Segments, SizesWithoutABound) {
  Program program(GetParam(), sizeModel(-1));
  Values x(16), none;
  uint64_t bytes = 0;
  EXPECT_EQ(cameo_context_get_bytes(program.context, CAMEO_OUTPUT, 0, &bytes),
            CAMEO_STATUS_NOT_KNOWN_YET);
  EXPECT_NE(program.error().find("it is at most keptxi64"), std::string::npos) << program.error();
  // In memory of the context's own, which grows.
  for (int64_t size : {1, 16, 4}) {
    x[0] = size;
    ASSERT_EQ(program.run(x, none), CAMEO_STATUS_OK) << program.error();
    void *data = nullptr;
    ASSERT_EQ(cameo_context_output_memory(program.context, 0, &data, &bytes), CAMEO_STATUS_OK);
    EXPECT_EQ(bytes, uint64_t(size) * 8);
    Values y{Values(size_t(size))};
    ASSERT_EQ(cameo_device_copy(program.device, y.data(), CAMEO_MEMORY_HOST, data,
                                CAMEO_MEMORY_DEVICE, bytes),
              CAMEO_STATUS_OK);
    EXPECT_EQ(y, Values(x.begin(), x.begin() + size));
    ASSERT_EQ(cameo_context_get_bytes(program.context, CAMEO_OUTPUT, 0, &bytes), CAMEO_STATUS_OK);
    EXPECT_EQ(bytes, uint64_t(size) * 8) << "of the last run";
  }
  x[0] = -1;
  EXPECT_EQ(program.run(x, none), CAMEO_STATUS_OUT_OF_RANGE);
}

// States of several runs in one context, again and again.
TEST_P(Segments, NothingIsStale) {
  Program loop(GetParam(), whileModel(Places::Two, true)), branch(GetParam(), ifModel()),
      sizes(GetParam(), sizeModel());
  Values y(3), part(8), x(16, 7);
  for (int round = 0; round < 4; ++round)
    for (int64_t state : {5, 9, 0, 5, 9, 9}) {
      ASSERT_EQ(loop.run(loopOf(state), y), CAMEO_STATUS_OK) << loop.error();
      EXPECT_EQ(y, loopGives(state, true));
      ASSERT_EQ(branch.run({state, round, 0}, y), CAMEO_STATUS_OK) << branch.error();
      EXPECT_EQ(y, state ? (Values{state - 1, round + 5, state > 1}) : (Values{-2, round - 14, 0}));
      x[0] = state % 9;
      ASSERT_EQ(sizes.run(x, part), CAMEO_STATUS_OK) << sizes.error();
      for (int64_t i = 0; i < 8; ++i)
        EXPECT_EQ(part[size_t(i)], i < x[0] ? x[size_t(i)] : -99);
    }
}

TEST_P(Segments, DeviceMemoryOfTheCallers) {
  Program program(GetParam(), whileModel(Places::Two));
  void *memory[3] = {};
  for (void *&each : memory)
    ASSERT_EQ(cameo_device_allocate(program.device, CAMEO_MEMORY_DEVICE, kBytes, &each),
              CAMEO_STATUS_OK);
  for (int run = 0; run < 9; ++run) {
    Values x = loopOf(run % 4), y(3);
    ASSERT_EQ(cameo_device_copy(program.device, memory[0], CAMEO_MEMORY_DEVICE, x.data(),
                                CAMEO_MEMORY_HOST, kBytes),
              CAMEO_STATUS_OK);
    void *to = memory[1 + run % 2];
    cameo_binding in = {sizeof in, CAMEO_MEMORY_DEVICE, 0, memory[0], kBytes};
    cameo_binding out = {sizeof out, CAMEO_MEMORY_DEVICE, 0, to, kBytes};
    ASSERT_EQ(cameo_context_bind_input(program.context, 0, &in), CAMEO_STATUS_OK);
    ASSERT_EQ(cameo_context_bind_output(program.context, 0, &out), CAMEO_STATUS_OK);
    ASSERT_EQ(cameo_context_run(program.context), CAMEO_STATUS_OK) << program.error();
    ASSERT_EQ(cameo_device_copy(program.device, y.data(), CAMEO_MEMORY_HOST, to,
                                CAMEO_MEMORY_DEVICE, kBytes),
              CAMEO_STATUS_OK);
    EXPECT_EQ(y, loopGives(run % 4));
  }
  for (void *each : memory)
    EXPECT_EQ(cameo_device_release(program.device, CAMEO_MEMORY_DEVICE, each), CAMEO_STATUS_OK);
}

// y becomes x: each run goes on where the one before ended.
TEST_P(Segments, States) {
  PlanBuilder p;
  p.input("x", CAMEO_INT64, {{3}});
  p.output("y", CAMEO_INT64, {{3}});
  uint32_t advance = advanceKernel(p), x = p.newBuffer(), y = p.newBuffer(), got = p.newRegister();
  uint32_t zero = p.constant(0), one = p.constant(1);
  p.op(CAMEO_OP_BUF_INPUT, {x, 0});
  p.op(CAMEO_OP_FETCH, {x, CAMEO_INT64, zero, 1, got});
  p.op(CAMEO_OP_OUTPUT_SHAPE, {0, 1, p.constant(3)});
  p.op(CAMEO_OP_BUF_OUTPUT, {y, 0});
  p.op(CAMEO_OP_LAUNCH, {advance, one, one, one, zero, x, y, got});
  p.op(CAMEO_OP_END);
  Program program(GetParam(), modelOf(p));
  ASSERT_EQ(cameo_context_set_state(program.context, 0, 0), CAMEO_STATUS_OK);
  const Values start = {10, 0, 0};
  cameo_binding in = Program::binding(start);
  ASSERT_EQ(cameo_context_bind_input(program.context, 0, &in), CAMEO_STATUS_OK);
  int64_t sum = 0;
  for (int64_t run = 0; run < 6; ++run) {
    sum += 10 - run;
    ASSERT_EQ(cameo_context_run(program.context), CAMEO_STATUS_OK) << program.error();
    void *data = nullptr;
    uint64_t bytes = 0;
    ASSERT_EQ(cameo_context_output_memory(program.context, 0, &data, &bytes), CAMEO_STATUS_OK);
    Values now(3);
    ASSERT_EQ(cameo_device_copy(program.device, now.data(), CAMEO_MEMORY_HOST, data,
                                CAMEO_MEMORY_DEVICE, bytes),
              CAMEO_STATUS_OK);
    EXPECT_EQ(now, (Values{9 - run, sum, run < 9}));
  }
}

TEST_P(Segments, TapsOfEveryTrip) {
  Program program(GetParam(), whileModel(Places::Two));
  std::vector<Values> seen;
  auto keep = [](void *user, const cameo_tap *tap) {
    const auto *values = static_cast<const int64_t *>(tap->data);
    static_cast<std::vector<Values> *>(user)->push_back({values, values + tap->bytes / 8});
    return CAMEO_STATUS_OK;
  };
  ASSERT_EQ(cameo_context_set_taps(program.context, CAMEO_MEMORY_HOST, keep, &seen),
            CAMEO_STATUS_OK);
  Values y(3);
  for (int run = 0; run < 3; ++run) {
    seen.clear();
    ASSERT_EQ(program.run(loopOf(3), y), CAMEO_STATUS_OK) << program.error();
    EXPECT_EQ(y, loopGives(3));
    EXPECT_EQ(seen, (std::vector<Values>{{2, 3, 1}, {1, 6, 1}, {0, 9, 0}}));
  }
}

TEST_P(Segments, TimesOfEveryTrip) {
  Program program(GetParam(), whileModel(Places::Two, true));
  Values y(3);
  std::vector<cameo_launch_timing> times;
  auto keep = [](void *user, const cameo_launch_timing *timing) {
    static_cast<std::vector<cameo_launch_timing> *>(user)->push_back(*timing);
  };
  for (int round = 0; round < 3; ++round) {
    times.clear();
    const Values x = loopOf(4);
    ASSERT_EQ(program.bind(x, y), CAMEO_STATUS_OK);
    ASSERT_EQ(cameo_context_run_timed(program.context, keep, &times), CAMEO_STATUS_OK)
        << program.error();
    EXPECT_EQ(y, loopGives(4, true));
    ASSERT_EQ(times.size(), 4u);
    for (size_t i = 0; i < 4; ++i) {
      EXPECT_STREQ(times[i].kernel, "advance");
      EXPECT_GE(times[i].start, i ? times[i - 1].start + times[i - 1].duration : 0);
    }
    ASSERT_EQ(program.run(loopOf(2), y), CAMEO_STATUS_OK);
    EXPECT_EQ(y, loopGives(2, true));
  }
}

// A loop that does not end is ended: instructions count over all segments.
TEST_P(Segments, RunsEnd) {
  PlanBuilder p;
  p.input("x", CAMEO_INT64, {{1}});
  uint32_t x = p.newBuffer(), got = p.newRegister(), left = p.newRegister();
  uint32_t zero = p.constant(0), one = p.constant(1), many = p.constant(1 << 22);
  p.op(CAMEO_OP_BUF_INPUT, {x, 0});
  uint32_t again = p.op(CAMEO_OP_FETCH, {x, CAMEO_INT64, zero, 1, got});
  p.op(CAMEO_OP_MOVE, {left, many});
  uint32_t loop = p.op(CAMEO_OP_BRANCH_ZERO, {left, again});
  p.op(CAMEO_OP_SUB, {left, left, one});
  p.op(CAMEO_OP_JUMP, {loop});
  p.op(CAMEO_OP_END);
  advanceKernel(p);
  Program program(GetParam(), modelOf(p));
  const Values value = {1};
  cameo_binding in = Program::binding(value);
  ASSERT_EQ(cameo_context_bind_input(program.context, 0, &in), CAMEO_STATUS_OK);
  EXPECT_EQ(cameo_context_run(program.context), CAMEO_STATUS_OUT_OF_RANGE);
  EXPECT_EQ(program.error(),
            "a run of 'main' takes more than 67108864 instructions and has waited 6 times: does a "
            "loop of the model's end?");
}

INSTANTIATE_TEST_SUITE_P(Devices, Segments, testing::Values(Where::Simulator, Where::FakeDriver),
                         nameOfDevice);

TEST(SegmentChecks, ValuesBeginAnewInEachTrip) {
  for (Places places : {Places::One, Places::Two}) {
    Program program(Where::Simulator, whileModel(places, true, true),
                    CAMEO_SIM_CHECK_BOUNDS | CAMEO_SIM_CHECK_UNINITIALISED | CAMEO_SIM_CHECK_RACES);
    Values y(3);
    for (int64_t trips : {5, 0, 2, 5}) {
      ASSERT_EQ(program.run(loopOf(trips), y), CAMEO_STATUS_OK) << program.error();
      EXPECT_EQ(y, loopGives(trips, true));
    }
  }
}

// A trip that reads its own value before anything is written there, though the trip before has.
TEST(SegmentChecks, WhatATripHasNotWrittenIsFound) {
  PlanBuilder p;
  p.input("x", CAMEO_INT64, {{3}});
  p.output("y", CAMEO_INT64, {{3}});
  uint32_t advance = advanceKernel(p), x = p.newBuffer(), y = p.newBuffer(), s = p.newBuffer(),
           t = p.newBuffer();
  uint32_t zero = p.constant(0), one = p.constant(1), two = p.constant(2),
           bytes = p.constant(kBytes);
  uint32_t got = p.newRegister(), there = p.constant(256);
  p.op(CAMEO_OP_OUTPUT_SHAPE, {0, 1, p.constant(3)});
  p.op(CAMEO_OP_ARENA_SIZE, {p.constant(512)});
  p.op(CAMEO_OP_BUF_INPUT, {x, 0});
  p.op(CAMEO_OP_BUF_OUTPUT, {y, 0});
  p.op(CAMEO_OP_BUF_ARENA, {s, zero, bytes});
  p.op(CAMEO_OP_COPY, {s, x, bytes});
  p.op(CAMEO_OP_BUF_ARENA, {t, there, bytes});
  p.op(CAMEO_OP_COPY, {t, x, bytes});
  uint32_t loop = p.op(CAMEO_OP_FETCH, {s, CAMEO_INT64, two, 1, got});
  uint32_t branch = p.op(CAMEO_OP_BRANCH_ZERO, {got, 0});
  p.op(CAMEO_OP_BUF_ARENA, {t, there, bytes});
  p.op(CAMEO_OP_BUF_NAME, {t, p.string("of the trip")});
  p.op(CAMEO_OP_LAUNCH, {advance, one, one, one, zero, t, s, one});
  p.op(CAMEO_OP_JUMP, {loop});
  p.patch(branch + 2, p.op(CAMEO_OP_COPY, {y, s, bytes}));
  p.op(CAMEO_OP_END);
  Program program(Where::Simulator, modelOf(p, true), CAMEO_SIM_CHECK_UNINITIALISED);
  Values result(3);
  EXPECT_EQ(program.run(loopOf(2), result), CAMEO_STATUS_KERNEL_FAULT);
  EXPECT_NE(program.error().find("of the trip"), std::string::npos) << program.error();
}

// ---- Of the fake driver alone: graphs, waits, failures ------------------------------------------

int graphsBuilt() { return fakecuda::callCount("cuGraphInstantiateWithFlags"); }

TEST_P(SegmentsOnCuda, AStateThatComesAgainHasAGraph) {
  for (auto [places, graphs] : {std::pair(Places::One, 1), std::pair(Places::Two, 2)}) {
    fakecuda::reset();
    registerAdvance();
    Program program(GetParam(), whileModel(places));
    Values y(3);
    for (int64_t trips : {50, 20, 50, 3}) {
      ASSERT_EQ(program.run(loopOf(trips), y), CAMEO_STATUS_OK) << program.error();
      EXPECT_EQ(y, loopGives(trips));
    }
    EXPECT_EQ(graphsBuilt(), graphs) << "one for each of the places";
    EXPECT_EQ(fakecuda::callCount("cuLaunchKernel"), graphs) << "the first trips";
    EXPECT_EQ(fakecuda::callCount("cuGraphLaunch"), 123 - graphs);
  }
}

TEST_P(SegmentsOnCuda, AScalarThatGrowsHandsOneGraphOn) {
  Program program(GetParam(), whileModel(Places::Two, true));
  Values y(3);
  ASSERT_EQ(program.run(loopOf(200), y), CAMEO_STATUS_OK) << program.error();
  EXPECT_EQ(y, loopGives(200, true));
  EXPECT_EQ(graphsBuilt(), 1) << "by the third trip";
  EXPECT_EQ(fakecuda::callCount("cuLaunchKernel"), 2);
  EXPECT_EQ(fakecuda::callCount("cuGraphLaunch"), 198);
  EXPECT_EQ(fakecuda::live().graphExecs, 1);
}

// As a decoder: the number of the token is read on the host, and goes into grids and scalars.
TEST_P(SegmentsOnCuda, TokensHandOneGraphOn) {
  PlanBuilder p;
  p.input("x", CAMEO_INT64, {{3}});
  p.input("token", CAMEO_INT64, {}, CAMEO_TENSOR_HOST);
  p.output("y", CAMEO_INT64, {{3}});
  uint32_t advance = advanceKernel(p), x = p.newBuffer(), y = p.newBuffer(),
           token = p.newRegister();
  uint32_t zero = p.constant(0), one = p.constant(1), written = p.newBuffer(), s = p.newBuffer();
  uint32_t bytes = p.constant(kBytes);
  p.op(CAMEO_OP_LOAD, {token, 1, zero});
  p.op(CAMEO_OP_OUTPUT_SHAPE, {0, 1, p.constant(3)});
  p.op(CAMEO_OP_ARENA_SIZE, {p.constant(512)});
  p.op(CAMEO_OP_BUF_INPUT, {x, 0});
  p.op(CAMEO_OP_BUF_OUTPUT, {y, 0});
  p.op(CAMEO_OP_BUF_ARENA, {s, zero, bytes});
  p.op(CAMEO_OP_BUF_ARENA, {written, p.constant(256), bytes});
  p.op(CAMEO_OP_WRITE, {written, CAMEO_INT64, 3, token, token, zero});
  p.op(CAMEO_OP_LAUNCH, {advance, token, one, one, token, x, s, token});
  p.op(CAMEO_OP_LAUNCH, {advance, one, one, one, zero, written, y, one});
  p.op(CAMEO_OP_END);
  // The grid is of blocks that all do the same.
  Program program(GetParam(), modelOf(p));
  Values result(3);
  for (int64_t token = 1; token <= 200; ++token) {
    ASSERT_EQ(cameo_context_set_input_value(program.context, 1, &token, 8), CAMEO_STATUS_OK);
    ASSERT_EQ(program.run({5, 5, 0}, result), CAMEO_STATUS_OK) << program.error();
    EXPECT_EQ(result, (Values{token - 1, token + 1, token > 1})) << token;
    if (token == 3)
      EXPECT_EQ(graphsBuilt(), 1);
  }
  EXPECT_EQ(graphsBuilt(), 1);
  EXPECT_EQ(fakecuda::callCount("cuGraphLaunch"), 198);
  EXPECT_EQ(fakecuda::live().graphExecs, 1);
}

// Where the driver does not change a node, the segment is enqueued, and a graph made when it comes again.
TEST_P(SegmentsOnCuda, AGraphThatCannotBeChanged) {
  Program program(GetParam(), whileModel(Places::One, true));
  Values y(3);
  fakecuda::failCall("cuGraphExecKernelNodeSetParams", 2, 910);
  for (int round = 0; round < 3; ++round) {
    ASSERT_EQ(program.run(loopOf(6), y), CAMEO_STATUS_OK) << program.error();
    EXPECT_EQ(y, loopGives(6, true));
  }
  EXPECT_TRUE(fakecuda::failureHappened());
}

TEST_P(SegmentsOnCuda, SegmentsAreKeptByWhatTheyTake) {
  using namespace cameo::runtime;
  std::unique_ptr<Device> made;
  ASSERT_TRUE(createCudaDevice(0, made).ok());
  std::shared_ptr<Device> device = std::move(made);
  PayloadFile file = whileModel(Places::Two, true);
  std::unique_ptr<Payload> payload;
  ASSERT_TRUE(Payload::fromMemory(file.data(), file.size(), payload).ok());
  std::shared_ptr<Model> model;
  ASSERT_TRUE(Model::create(std::move(payload), device, 0, false, model).ok());
  for (uint64_t kept : {uint64_t(0), uint64_t(20000), uint64_t(1) << 20}) {
    ContextOptions options;
    options.keptBytes = kept;
    std::unique_ptr<Context> context;
    ASSERT_TRUE(Context::create(model, options, context).ok());
    Values y(3);
    for (int64_t trips : {30, 1, 30, 30, 0, 2}) {
      Values x = loopOf(trips);
      ASSERT_TRUE(context->bindInput(0, {Binding::Host, x.data(), kBytes}).ok());
      ASSERT_TRUE(context->bindOutput(0, {Binding::Host, y.data(), kBytes}).ok());
      Status status = context->enqueue();
      ASSERT_TRUE(status.ok()) << status.message();
      ASSERT_TRUE(context->synchronize().ok());
      EXPECT_EQ(y, loopGives(trips, true)) << kept << " bytes, " << trips << " trips";
      EXPECT_EQ(context->lastRun().launches, uint64_t(trips));
      EXPECT_EQ(context->lastRun().waits, uint64_t(trips) + 1);
    }
    MemoryUse use = context->memoryUse();
    EXPECT_EQ(use.arena, 4096u);
    EXPECT_GE(use.pinned, 8u) << "where values are fetched to";
    if (!kept)
      EXPECT_LE(use.graphs, 1u);
    else if (kept > 100000)
      EXPECT_EQ(use.graphs, 30u) << "every trip has come again";
    else
      EXPECT_LT(use.graphs, 20u);
  }
}

TEST_P(SegmentsOnCuda, SegmentsThatAreManyAreDropped) {
  using namespace cameo::runtime;
  std::unique_ptr<Device> made;
  ASSERT_TRUE(createCudaDevice(0, made).ok());
  std::shared_ptr<Device> device = std::move(made);
  PayloadFile file = whileModel(Places::Two, true);
  std::unique_ptr<Payload> payload;
  ASSERT_TRUE(Payload::fromMemory(file.data(), file.size(), payload).ok());
  std::shared_ptr<Model> model;
  ASSERT_TRUE(Model::create(std::move(payload), device, 0, false, model).ok());
  std::unique_ptr<Context> context;
  ASSERT_TRUE(Context::create(model, {}, context).ok());
  Values y(3);
  for (int64_t trips : {4200, 4200}) {
    Values x = loopOf(trips);
    ASSERT_TRUE(context->bindInput(0, {Binding::Host, x.data(), kBytes}).ok());
    ASSERT_TRUE(context->bindOutput(0, {Binding::Host, y.data(), kBytes}).ok());
    ASSERT_TRUE(context->enqueue().ok());
    ASSERT_TRUE(context->synchronize().ok());
    EXPECT_EQ(y, loopGives(trips, true)) << trips << " trips";
    EXPECT_LE(context->memoryUse().graphs, 4096u);
  }
}

TEST_P(SegmentsOnCuda, AMissingWaitIsFound) {
  Program loop(GetParam(), whileModel()), branch(GetParam(), ifModel()),
      sizes(GetParam(), sizeModel());
  Values y(3), part(8), x(16, 4);
  ASSERT_EQ(loop.run(loopOf(5), y), CAMEO_STATUS_OK);
  ASSERT_EQ(branch.run({1, 10, 0}, y), CAMEO_STATUS_OK);
  x[0] = 5;
  ASSERT_EQ(sizes.run(x, part), CAMEO_STATUS_OK);
  fakecuda::setDeaf(true);
  // Each goes by what was fetched last, which is not yet overwritten.
  cameo_status status = loop.run(loopOf(3), y);
  EXPECT_TRUE(status != CAMEO_STATUS_OK || y != loopGives(3));
  ASSERT_EQ(branch.run({0, 10, 0}, y), CAMEO_STATUS_OK);
  EXPECT_NE(y, (Values{-2, -4, 0}));
  x[0] = 2;
  ASSERT_EQ(sizes.run(x, part), CAMEO_STATUS_OK);
  EXPECT_NE(part[4], -99);
  fakecuda::setDeaf(false);
}

TEST_P(SegmentsOnCuda, OrderDoesNotMatter) {
  for (uint64_t seed = 0; seed < 8; ++seed) {
    fakecuda::reset();
    registerAdvance();
    fakecuda::setOrder(fakecuda::Order::Seeded, seed);
    Program program(GetParam(), whileModel(Places::Two, seed % 2 == 1));
    Values y(3);
    for (int64_t trips : {4, 4, 9, 0, 4}) {
      ASSERT_EQ(program.run(loopOf(trips), y), CAMEO_STATUS_OK) << program.error();
      EXPECT_EQ(y, loopGives(trips, seed % 2 == 1));
    }
  }
}

TEST_P(SegmentsOnCuda, ARecordingIsRefused) {
  Program program(GetParam(), whileModel());
  Values y(3);
  ASSERT_EQ(program.run(loopOf(2), y), CAMEO_STATUS_OK);
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
            "'main' waits for values of its own, or its loops for memory, which a recording of the "
            "stream cannot");
  ASSERT_EQ(cuStreamEndCapture(stream, &graph), 0);
  ASSERT_EQ(cuGraphDestroy(graph), 0);
  ASSERT_EQ(program.run(loopOf(3), y), CAMEO_STATUS_OK) << program.error();
  EXPECT_EQ(y, loopGives(3));
  ASSERT_EQ(cameo_context_set_stream(program.context, nullptr), CAMEO_STATUS_OK);
  ASSERT_EQ(cuStreamDestroy_v2(stream), 0);
  ASSERT_EQ(cuCtxPopCurrent_v2(&current), 0);
  ASSERT_EQ(cuDevicePrimaryCtxRelease_v2(0), 0);
}

// Every call of three runs fails in turn: a status that says so, and the same context runs again.
TEST_P(SegmentsOnCuda, EveryFailureLeavesAContextThatRuns) {
  const char *const functions[] = {"cuMemAlloc_v2",
                                   "cuMemHostAlloc",
                                   "cuMemcpyHtoDAsync_v2",
                                   "cuMemcpyDtoHAsync_v2",
                                   "cuMemcpyDtoDAsync_v2",
                                   "cuLaunchKernel",
                                   "cuGraphCreate",
                                   "cuGraphAddKernelNode",
                                   "cuGraphAddMemcpyNode",
                                   "cuGraphInstantiateWithFlags",
                                   "cuGraphLaunch",
                                   "cuGraphExecKernelNodeSetParams",
                                   "cuGraphExecMemcpyNodeSetParams",
                                   "cuStreamSynchronize",
                                   "cuEventRecord",
                                   "cuEventSynchronize",
                                   "cuLaunchHostFunc"};
  struct Case {
    PayloadFile (*model)();
    Values x[3], y[3];
  };
  const Case cases[] = {{[] { return whileModel(Places::Two, true); },
                         {loopOf(4), loopOf(2), loopOf(4)},
                         {loopGives(4, true), loopGives(2, true), loopGives(4, true)}},
                        {[] { return sizeModel(); },
                         {Values(16, 3), Values(16, 5), Values(16, 3)},
                         {{3, 3, 3, -99, -99, -99, -99, -99},
                          {5, 5, 5, 5, 5, -99, -99, -99},
                          {3, 3, 3, -99, -99, -99, -99, -99}}}};
  int failures = 0, outright = 0;
  for (const Case &each : cases)
    for (const char *function : functions)
      for (int nth = 1;; ++nth) {
        SCOPED_TRACE(std::string(function) + ", call " + std::to_string(nth));
        fakecuda::reset();
        registerAdvance();
        Program program(GetParam(), each.model());
        fakecuda::failCall(function, nth, 999);
        Values y(each.y[0].size());
        for (int run = 0; run < 3; ++run) {
          cameo_status status = program.run(each.x[run], y);
          if (status != CAMEO_STATUS_OK) {
            ++failures;
            EXPECT_EQ(status, CAMEO_STATUS_DRIVER) << program.error();
            EXPECT_NE(program.error().find(function), std::string::npos) << program.error();
            status = program.run(each.x[run], y);
          }
          ASSERT_EQ(status, CAMEO_STATUS_OK) << program.error();
          EXPECT_EQ(y, each.y[run]) << "run " << run;
        }
        if (!fakecuda::failureHappened()) {
          outright += nth > 1;
          break;
        }
      }
  EXPECT_GT(failures, 50);
  EXPECT_GT(outright, 12) << "calls that happen";
}

// What must not stay: a failed run may have decided shapes.
TEST_P(SegmentsOnCuda, AFailedRunKnowsNoShapes) {
  Program program(GetParam(), sizeModel());
  Values x(16, 3), y(8);
  ASSERT_EQ(program.run(x, y), CAMEO_STATUS_OK);
  fakecuda::failCall("cuMemcpyDtoHAsync_v2", 1, 999);
  EXPECT_EQ(program.run(x, y), CAMEO_STATUS_DRIVER);
  int64_t dims[1];
  EXPECT_EQ(cameo_context_get_output_shape(program.context, 0, 1, dims, nullptr),
            CAMEO_STATUS_NOT_KNOWN_YET);
  void *data = nullptr;
  EXPECT_EQ(cameo_context_output_memory(program.context, 0, &data, nullptr),
            CAMEO_STATUS_NOT_KNOWN_YET);
}

INSTANTIATE_TEST_SUITE_P(Graphs, SegmentsOnCuda, testing::Values(Where::FakeDriver), nameOfDevice);

} // namespace
