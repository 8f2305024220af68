// States: inputs that outputs become, in one memory with them and apart, on the simulator and on the fake CUDA driver.
// SPDX-License-Identifier: Apache-2.0
#include "fake_cuda_entry.h"
#include "segment_plans.h"

#include "runtime/core/context.h"

using namespace segment_test;

namespace {

// after[2, p + s] = before[2, p], x[2, s], in the state's memory or copied; sizes {2, p} may be given another name.
PayloadFile appending(bool inPlace) {
  PlanBuilder p;
  p.input("x", CAMEO_INT64, {{2}, {-1, "s"}});
  p.input("before", CAMEO_INT64, {{2}, {-1, "p"}},
          CAMEO_TENSOR_STATE | (inPlace ? CAMEO_TENSOR_IN_PLACE : 0));
  p.inputRecord(1).state = 1 << 24;
  p.output("after", CAMEO_INT64, {{2}, {-1, "n"}});
  advanceKernel(p);
  uint32_t x = p.newBuffer(), before = p.newBuffer(), after = p.newBuffer();
  uint32_t zero = p.constant(0), two = p.constant(2), each = p.constant(8);
  uint32_t s = p.newRegister(), old = p.newRegister(), room = p.newRegister();
  p.op(CAMEO_OP_DIM, {s, 0, 1});
  p.op(CAMEO_OP_DIM, {old, 1, 1});
  uint32_t all = p.compute(CAMEO_OP_ADD, old, s);
  p.op(CAMEO_OP_OUTPUT_SHAPE, {0, 2, two, all});
  p.op(CAMEO_OP_BUF_INPUT, {x, 0});
  auto bytesOf = [&](uint32_t count) { return p.compute(CAMEO_OP_MUL, count, each); };
  uint32_t row = bytesOf(s), held = bytesOf(old);
  if (inPlace) {
    p.op(CAMEO_OP_CAPACITY, {room, 1, all});
    uint32_t pitch = bytesOf(room);
    p.op(CAMEO_OP_BUF_STATE, {after, 1, p.compute(CAMEO_OP_ADD, pitch, pitch)});
    uint32_t at = held, from = zero;
    for (int i = 0; i < 2; ++i) {
      uint32_t target = p.newBuffer(), source = p.newBuffer();
      p.op(CAMEO_OP_BUF_PART, {target, after, at, row});
      p.op(CAMEO_OP_BUF_PART, {source, x, from, row});
      p.op(CAMEO_OP_COPY, {target, source, row});
      at = p.compute(CAMEO_OP_ADD, at, pitch);
      from = row;
    }
  } else {
    p.op(CAMEO_OP_BUF_INPUT, {before, 1});
    p.op(CAMEO_OP_BUF_OUTPUT, {after, 0});
    uint32_t at = zero, fromOld = zero, fromNew = zero;
    for (int i = 0; i < 2; ++i) {
      uint32_t target = p.newBuffer(), source = p.newBuffer();
      p.op(CAMEO_OP_BUF_PART, {target, after, at, held});
      p.op(CAMEO_OP_BUF_PART, {source, before, fromOld, held});
      p.op(CAMEO_OP_COPY, {target, source, held});
      at = p.compute(CAMEO_OP_ADD, at, held);
      p.op(CAMEO_OP_BUF_PART, {target, after, at, row});
      p.op(CAMEO_OP_BUF_PART, {source, x, fromNew, row});
      p.op(CAMEO_OP_COPY, {target, source, row});
      at = p.compute(CAMEO_OP_ADD, at, row);
      fromOld = held;
      fromNew = row;
    }
  }
  p.op(CAMEO_OP_END);
  return modelOf(p);
}

// s = advance(s, 5), in one memory.
PayloadFile counting() {
  PlanBuilder p;
  p.input("s", CAMEO_INT64, {{3}}, CAMEO_TENSOR_STATE | CAMEO_TENSOR_IN_PLACE);
  p.inputRecord(0).state = CAMEO_STATE_FIXED << 24;
  p.output("t", CAMEO_INT64, {{3}});
  uint32_t advance = advanceKernel(p), s = p.newBuffer();
  uint32_t zero = p.constant(0), one = p.constant(1);
  p.op(CAMEO_OP_OUTPUT_SHAPE, {0, 1, p.constant(3)});
  p.op(CAMEO_OP_BUF_STATE, {s, 0, p.constant(kBytes)});
  p.op(CAMEO_OP_LAUNCH, {advance, one, one, one, zero, s, s, p.constant(5)});
  p.op(CAMEO_OP_LAUNCH, {advance, one, one, one, zero, s, s, p.constant(5)});
  p.op(CAMEO_OP_END);
  return modelOf(p);
}

using Rows = std::vector<Values>;

class States : public OnDevices {
protected:
  static Values flat(const Rows &rows) {
    Values all;
    for (const Values &row : rows)
      all.insert(all.end(), row.begin(), row.end());
    return all;
  }

  // Gives `count` numbers a row, and adds them to what is expected.
  cameo_status append(Program &program, int64_t count) {
    Rows rows(2);
    for (Values &row : rows)
      for (int64_t i = 0; i < count; ++i)
        row.push_back(next++);
    given = flat(rows);
    int64_t dims[] = {2, count};
    if (cameo_status status = cameo_context_set_input_shape(program.context, 0, 2, dims))
      return status;
    cameo_binding x = {sizeof(cameo_binding), CAMEO_MEMORY_HOST, 0, given.data(),
                       given.size() * sizeof(int64_t)};
    static int64_t none;
    if (given.empty())
      x.data = &none;
    if (cameo_status status = cameo_context_bind_input(program.context, 0, &x))
      return status;
    if (cameo_status status = cameo_context_run(program.context))
      return status;
    for (int i = 0; i < 2; ++i)
      expected[size_t(i)].insert(expected[size_t(i)].end(), rows[size_t(i)].begin(),
                                 rows[size_t(i)].end());
    return CAMEO_STATUS_OK;
  }

  Values read(Program &program) {
    uint64_t bytes = 0;
    int64_t dims[2] = {};
    EXPECT_EQ(cameo_context_get_bytes(program.context, CAMEO_INPUT, 1, &bytes), CAMEO_STATUS_OK);
    EXPECT_EQ(cameo_context_get_input_shape(program.context, 1, 2, dims, nullptr), CAMEO_STATUS_OK);
    EXPECT_EQ(uint64_t(dims[0] * dims[1]) * 8, bytes);
    Values values(bytes / 8);
    EXPECT_EQ(cameo_context_read_state(program.context, 1, values.data(), bytes), CAMEO_STATUS_OK)
        << program.error();
    return values;
  }

  Rows expected{2};
  Values given;
  int64_t next = 1;
};

class StatesOnCuda : public States {};

TEST_P(States, GrowFromNothing) {
  for (bool inPlace : {true, false}) {
    expected = Rows(2);
    Program program(GetParam(), appending(inPlace));
    int64_t start[] = {2, 0};
    if (!inPlace) // nothing in the plan says where it begins
      ASSERT_EQ(cameo_context_set_input_shape(program.context, 1, 2, start), CAMEO_STATUS_OK);
    for (int64_t count : {3, 1, 0, 1, 60, 1, 1, 200, 1, 1, 1}) {
      ASSERT_EQ(append(program, count), CAMEO_STATUS_OK) << program.error();
      EXPECT_EQ(read(program), flat(expected)) << count;
    }
  }
}

// The caller gives the first value, from the host or the device, and takes the outputs.
TEST_P(States, BoundMemory) {
  Program program(GetParam(), appending(true));
  Values first{10, 20, 30, 40}, out(2 * 12);
  int64_t dims[] = {2, 2};
  ASSERT_EQ(cameo_context_set_input_shape(program.context, 1, 2, dims), CAMEO_STATUS_OK);
  cameo_binding before = {sizeof(cameo_binding), CAMEO_MEMORY_HOST, 0, first.data(), 32};
  cameo_binding after = {sizeof(cameo_binding), CAMEO_MEMORY_HOST, 0, out.data(), out.size() * 8};
  ASSERT_EQ(cameo_context_bind_input(program.context, 1, &before), CAMEO_STATUS_OK);
  ASSERT_EQ(cameo_context_bind_output(program.context, 0, &after), CAMEO_STATUS_OK);
  expected = {{10, 20}, {30, 40}};
  for (int64_t count : {1, 4, 5}) {
    ASSERT_EQ(append(program, count), CAMEO_STATUS_OK) << program.error();
    Values all = flat(expected);
    EXPECT_EQ(Values(out.begin(), out.begin() + int64_t(all.size())), all);
  }
  // It is asked for again: another binding, and states that begin anew.
  EXPECT_EQ(append(program, 1), CAMEO_STATUS_INVALID_ARGUMENT);
  EXPECT_NE(program.error().find("192 bytes are bound, its shape needs 208"), std::string::npos)
      << program.error();
  ASSERT_EQ(cameo_context_reset_states(program.context), CAMEO_STATUS_OK);
  expected = {{10, 20}, {30, 40}};
  ASSERT_EQ(append(program, 2), CAMEO_STATUS_OK) << program.error();
  EXPECT_EQ(read(program), flat(expected));
}

// A shape that was set is taken back: the state begins with nothing.
TEST_P(States, OpenAgain) {
  for (bool inPlace : {true, false}) {
    Program program(GetParam(), appending(inPlace));
    int64_t set[] = {2, 3}, open[] = {-1, -1}, mixed[] = {2, -1}, wrong[] = {2, -2};
    ASSERT_EQ(cameo_context_set_input_shape(program.context, 1, 2, set), CAMEO_STATUS_OK);
    expected = Rows(2, Values(3));
    ASSERT_EQ(append(program, 2), CAMEO_STATUS_OK) << program.error();
    EXPECT_EQ(read(program), flat(expected));
    // Sizes that the model fixes are given.
    EXPECT_EQ(cameo_context_set_input_shape(program.context, 1, 2, open),
              CAMEO_STATUS_INVALID_ARGUMENT);
    EXPECT_EQ(cameo_context_set_input_shape(program.context, 1, 2, wrong),
              CAMEO_STATUS_INVALID_ARGUMENT);
    EXPECT_EQ(cameo_context_set_input_shape(program.context, 0, 2, mixed),
              CAMEO_STATUS_INVALID_ARGUMENT);
    ASSERT_EQ(cameo_context_set_input_shape(program.context, 1, 2, mixed), CAMEO_STATUS_OK);
    for (bool isReset : {false, true}) {
      expected = Rows(2);
      if (isReset)
        ASSERT_EQ(cameo_context_reset_states(program.context), CAMEO_STATUS_OK);
      for (int64_t count : {1, 3}) {
        ASSERT_EQ(append(program, count), CAMEO_STATUS_OK) << program.error();
        EXPECT_EQ(read(program), flat(expected));
      }
    }
  }
}

// Room that is asked for in advance is there from the beginning: the memory of a state is taken once.
TEST_P(States, Reserved) {
  for (bool reserves : {true, false}) {
    expected = Rows(2);
    Program program(GetParam(), appending(true));
    if (reserves)
      ASSERT_EQ(cameo_context_reserve_state(program.context, 1, 5000), CAMEO_STATUS_OK);
    ASSERT_EQ(append(program, 1), CAMEO_STATUS_OK);
    int taken = fakecuda::callCount("cuMemAlloc_v2");
    for (int i = 0; i < 400; ++i)
      ASSERT_EQ(append(program, 1), CAMEO_STATUS_OK) << program.error();
    EXPECT_EQ(read(program), flat(expected));
    if (GetParam() == Where::FakeDriver)
      EXPECT_EQ(fakecuda::callCount("cuMemAlloc_v2") - taken, reserves ? 0 : 4);
  }
}

// A token at a time: after the first few no graph is made, and each run copies the new rows alone.
TEST_P(StatesOnCuda, TokensBuildNoGraphs) {
  Program program(GetParam(), appending(true));
  ASSERT_EQ(cameo_context_reserve_state(program.context, 1, 300), CAMEO_STATUS_OK);
  for (int i = 0; i < 5; ++i)
    ASSERT_EQ(append(program, 1), CAMEO_STATUS_OK);
  int made = fakecuda::callCount("cuGraphInstantiateWithFlags");
  int replayed = fakecuda::callCount("cuGraphLaunch");
  for (int i = 5; i < 200; ++i)
    ASSERT_EQ(append(program, 1), CAMEO_STATUS_OK);
  EXPECT_EQ(fakecuda::callCount("cuGraphInstantiateWithFlags"), made);
  EXPECT_EQ(fakecuda::callCount("cuGraphLaunch"), replayed + 195);
  EXPECT_EQ(read(program), flat(expected));
}

// Without states all is an input and an output; and a state may be ended, and declared again.
TEST_P(States, Ended) {
  Program plain(GetParam(), appending(true), 0, CAMEO_CONTEXT_NO_STATES);
  Values first{7, 8}, out(4);
  int64_t dims[] = {2, 1};
  auto bind = [&](Program &program) {
    cameo_binding before = {sizeof(cameo_binding), CAMEO_MEMORY_HOST, 0, first.data(), 16};
    cameo_binding after = {sizeof(cameo_binding), CAMEO_MEMORY_HOST, 0, out.data(), 32};
    ASSERT_EQ(cameo_context_set_input_shape(program.context, 1, 2, dims), CAMEO_STATUS_OK);
    ASSERT_EQ(cameo_context_bind_input(program.context, 1, &before), CAMEO_STATUS_OK);
    ASSERT_EQ(cameo_context_bind_output(program.context, 0, &after), CAMEO_STATUS_OK);
  };
  bind(plain);
  for (int round = 0; round < 4; ++round) {
    first[0] = 7 + round;
    expected = {{first[0]}, {8}};
    ASSERT_EQ(append(plain, 1), CAMEO_STATUS_OK) << plain.error();
    EXPECT_EQ(out, flat(expected));
  }
  Program program(GetParam(), appending(true));
  bind(program);
  ASSERT_EQ(cameo_context_set_state(program.context, 1, UINT32_MAX), CAMEO_STATUS_OK);
  for (int round = 0; round < 2; ++round) {
    expected = {{first[0]}, {8}};
    ASSERT_EQ(append(program, 1), CAMEO_STATUS_OK) << program.error();
    EXPECT_EQ(out, flat(expected));
  }
  ASSERT_EQ(cameo_context_set_state(program.context, 1, 0), CAMEO_STATUS_OK);
  cameo_binding nothing = {sizeof(cameo_binding), CAMEO_MEMORY_HOST, 0, nullptr, 0};
  ASSERT_EQ(cameo_context_bind_output(program.context, 0, &nothing), CAMEO_STATUS_OK);
  expected = {{first[0]}, {8}};
  for (int round = 0; round < 3; ++round)
    ASSERT_EQ(append(program, 2), CAMEO_STATUS_OK) << program.error();
  EXPECT_EQ(read(program), flat(expected));
}

// A size that the caller has set by its name, and that no other input has, is there after a reset.
TEST_P(States, NamedSizesStay) {
  PlanBuilder p;
  p.input("before", CAMEO_INT64, {{-1, "b"}, {-1, "p"}}, CAMEO_TENSOR_STATE);
  p.inputRecord(0).state = 1 << 24;
  p.output("after", CAMEO_INT64, {{-1, "b"}, {-1, "n"}});
  advanceKernel(p);
  uint32_t b = p.newRegister(), old = p.newRegister();
  p.op(CAMEO_OP_DIM, {b, 0, 0});
  p.op(CAMEO_OP_DIM, {old, 0, 1});
  p.op(CAMEO_OP_OUTPUT_SHAPE, {0, 2, b, old});
  p.op(CAMEO_OP_END);
  Program program(GetParam(), modelOf(p));
  ASSERT_EQ(cameo_context_set_symbol(program.context, "b", 3), CAMEO_STATUS_OK);
  for (int round = 0; round < 2; ++round) {
    ASSERT_EQ(cameo_context_run(program.context), CAMEO_STATUS_OK) << program.error();
    int64_t dims[2] = {};
    ASSERT_EQ(cameo_context_get_input_shape(program.context, 0, 2, dims, nullptr), CAMEO_STATUS_OK);
    EXPECT_EQ(dims[0], 3);
    EXPECT_EQ(dims[1], 0);
    ASSERT_EQ(cameo_context_reset_states(program.context), CAMEO_STATUS_OK);
  }
}

TEST_P(States, OutputsInPieces) {
  Program program(GetParam(), appending(true));
  ASSERT_EQ(append(program, 3), CAMEO_STATUS_OK);
  void *data = nullptr;
  uint64_t bytes = 0;
  EXPECT_EQ(cameo_context_output_memory(program.context, 0, &data, &bytes),
            CAMEO_STATUS_UNSUPPORTED);
  EXPECT_EQ(program.error(), "output 'after' is in the memory of state 'before', in 2 pieces with "
                             "room between them; bind memory to it");
  // A shape is that of the next run.
  int64_t dims[2] = {};
  ASSERT_EQ(cameo_context_get_output_shape(program.context, 0, 2, dims, nullptr), CAMEO_STATUS_OK);
  EXPECT_EQ(dims[1], 6);
  EXPECT_EQ(read(program), flat(expected));
}

TEST_P(States, Misuse) {
  Program program(GetParam(), appending(true));
  cameo_context *context = program.context;
  int64_t value[2] = {};
  EXPECT_EQ(cameo_context_read_state(context, 1, value, 16), CAMEO_STATUS_INVALID_ARGUMENT);
  EXPECT_EQ(program.error(), "state 'before': no run has left a value; the next one begins anew");
  EXPECT_EQ(cameo_context_reserve_state(context, 0, 16), CAMEO_STATUS_INVALID_ARGUMENT);
  EXPECT_EQ(program.error(), "input 'x' is not a state that grows in place");
  EXPECT_EQ(cameo_context_reserve_state(context, 2, 16), CAMEO_STATUS_INVALID_ARGUMENT);
  EXPECT_EQ(cameo_context_reserve_state(context, 1, UINT64_MAX), CAMEO_STATUS_INVALID_ARGUMENT);
  EXPECT_EQ(program.error(), "room for 18446744073709551615 along dimension 1 of state 'before'; "
                             "at most 1099511627776");
  ASSERT_EQ(append(program, 1), CAMEO_STATUS_OK) << program.error();
  EXPECT_EQ(cameo_context_read_state(context, 1, value, 8), CAMEO_STATUS_INVALID_ARGUMENT);
  EXPECT_EQ(program.error(), "state 'before' has 16 bytes, not 8");
  EXPECT_EQ(cameo_context_read_state(context, 0, value, 16), CAMEO_STATUS_INVALID_ARGUMENT);
  // Room beyond any memory.
  ASSERT_EQ(cameo_context_reserve_state(context, 1, uint64_t(1) << 40), CAMEO_STATUS_OK);
  EXPECT_NE(append(program, 1), CAMEO_STATUS_OK);
  ASSERT_EQ(cameo_context_reserve_state(context, 1, 0), CAMEO_STATUS_OK);
  ASSERT_EQ(append(program, 1), CAMEO_STATUS_OK) << program.error();
  EXPECT_EQ(read(program), flat(expected));
  CAMEO_INIT(cameo_tensor_info, info);
  ASSERT_EQ(cameo_model_tensor_info(program.model, 0, CAMEO_INPUT, 1, &info), CAMEO_STATUS_OK);
  EXPECT_EQ(info.flags, CAMEO_TENSOR_IS_STATE | CAMEO_TENSOR_IN_PLACE);
  EXPECT_EQ(info.state, 0u);
  EXPECT_EQ(info.state_dim, 1u);
  CAMEO_INIT(cameo_tensor_info, other);
  ASSERT_EQ(cameo_model_tensor_info(program.model, 0, CAMEO_INPUT, 0, &other), CAMEO_STATUS_OK);
  EXPECT_EQ(other.state, UINT32_MAX);
  EXPECT_EQ(other.state_dim, UINT32_MAX);
}

// A state is what it was where there is no memory for more.
TEST_P(StatesOnCuda, NoMemoryToGrow) {
  Program program(GetParam(), appending(true));
  ASSERT_EQ(append(program, 60), CAMEO_STATUS_OK);
  constexpr int kOutOfMemory = 2;
  // The first is of the input.
  fakecuda::failCall("cuMemAlloc_v2", 2, kOutOfMemory);
  EXPECT_EQ(append(program, 10000), CAMEO_STATUS_OUT_OF_MEMORY);
  EXPECT_TRUE(fakecuda::failureHappened());
  ASSERT_EQ(append(program, 10), CAMEO_STATUS_OK) << program.error();
  EXPECT_EQ(read(program), flat(expected));
}

TEST_P(States, OneMemory) {
  Program program(GetParam(), counting());
  Values s{100, 0, 1}, t(3);
  cameo_binding first = {sizeof(cameo_binding), CAMEO_MEMORY_HOST, 0, s.data(), kBytes};
  ASSERT_EQ(cameo_context_bind_input(program.context, 0, &first), CAMEO_STATUS_OK);
  for (int64_t run = 1; run <= 5; ++run) {
    ASSERT_EQ(cameo_context_run(program.context), CAMEO_STATUS_OK) << program.error();
    ASSERT_EQ(cameo_context_read_state(program.context, 0, t.data(), kBytes), CAMEO_STATUS_OK);
    EXPECT_EQ(t, (Values{100 - 2 * run, 10 * run, 1}));
    // One piece: it is where the output is.
    void *data = nullptr;
    uint64_t bytes = 0;
    EXPECT_EQ(cameo_context_output_memory(program.context, 0, &data, &bytes), CAMEO_STATUS_OK);
    EXPECT_EQ(bytes, kBytes);
  }
  if (GetParam() == Where::FakeDriver)
    EXPECT_EQ(fakecuda::callCount("cuGraphExecKernelNodeSetParams_v2"), 0);
  ASSERT_EQ(cameo_context_reset_states(program.context), CAMEO_STATUS_OK);
  ASSERT_EQ(cameo_context_run(program.context), CAMEO_STATUS_OK);
  ASSERT_EQ(cameo_context_read_state(program.context, 0, t.data(), kBytes), CAMEO_STATUS_OK);
  EXPECT_EQ(t, (Values{98, 10, 1}));
}

INSTANTIATE_TEST_SUITE_P(Graphs, StatesOnCuda, testing::Values(Where::FakeDriver), nameOfDevice);

INSTANTIATE_TEST_SUITE_P(Devices, States, testing::Values(Where::Simulator, Where::FakeDriver),
                         nameOfDevice);

TEST(StatePlans, Refused) {
  auto refusal = [](const std::function<void(PlanBuilder &)> &change) {
    PlanBuilder p;
    p.input("x", CAMEO_INT64, {{2}, {-1, "n"}}, CAMEO_TENSOR_STATE | CAMEO_TENSOR_IN_PLACE);
    p.inputRecord(0).state = 1 << 24;
    p.input("h", CAMEO_INT64, {{2}}, CAMEO_TENSOR_HOST);
    p.output("y", CAMEO_INT64, {{2}, {-1, "m"}});
    p.newBuffer();
    p.constant(5);
    change(p);
    p.op(CAMEO_OP_END);
    cameo::runtime::Plan plan;
    Bytes bytes = p.finish();
    std::vector<uint64_t> aligned(bytes.size() / 8 + 1);
    std::memcpy(aligned.data(), bytes.data(), bytes.size());
    cameo::runtime::Status status =
        cameo::runtime::Plan::parse(reinterpret_cast<const uint8_t *>(aligned.data()), bytes.size(),
                                    0, CAMEO_PAYLOAD_VERSION, plan);
    return status.ok() ? std::string() : status.message();
  };
  const std::string damaged = "damaged launch plan: ";
  EXPECT_EQ(refusal([](PlanBuilder &) {}), "");
  EXPECT_EQ(refusal([](PlanBuilder &p) { p.inputRecord(0).flags = 8; }),
            damaged + "tensor 'x' has unknown flags 0x8");
  EXPECT_EQ(refusal([](PlanBuilder &p) { p.inputRecord(0).flags = CAMEO_TENSOR_IN_PLACE; }),
            damaged + "tensor 'x' is no state and has 0x1000000 as one");
  EXPECT_EQ(refusal([](PlanBuilder &p) { p.inputRecord(0).state = 2 << 24; }),
            damaged + "state 'x' grows along dimension 2");
  EXPECT_EQ(refusal([](PlanBuilder &p) { p.inputRecord(0).state = 0; }),
            damaged + "state 'x' grows along dimension 0");
  EXPECT_EQ(refusal([](PlanBuilder &p) { p.inputRecord(0).state = 1 << 24 | 1; }),
            damaged + "input 'x' cannot be the state 1");
  EXPECT_EQ(refusal([](PlanBuilder &p) {
              p.inputRecord(1).flags |= CAMEO_TENSOR_STATE;
              p.inputRecord(1).state = CAMEO_STATE_FIXED << 24;
            }),
            damaged + "input 'h' cannot be the state 0");
  EXPECT_EQ(refusal([](PlanBuilder &p) { p.op(CAMEO_OP_BUF_INPUT, {0, 0}); }),
            damaged + "word 4: input 'x' is a state in place");
  EXPECT_EQ(refusal([](PlanBuilder &p) { p.op(CAMEO_OP_BUF_STATE, {0, 1, 0}); }),
            damaged + "word 4: input 'h' is no state in place");
  EXPECT_EQ(refusal([](PlanBuilder &p) { p.op(CAMEO_OP_CAPACITY, {0, 1, 0}); }),
            damaged + "word 4: input 'h' does not grow in place");
}

} // namespace
