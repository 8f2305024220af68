// Plans that fetch values: what the validator refuses, what is known to be live, and the segments that the
// interpreter makes of them. Runs are in segments_test.cpp.
// SPDX-License-Identifier: Apache-2.0
#include "runtime/core/interpreter.h"
#include "test_model.h"

#include <cstring>
#include <functional>
#include <gtest/gtest.h>
#include <random>

using namespace cameo::runtime;
using namespace payload_test;

namespace {

struct Parsed {
  explicit Parsed(const Bytes &bytes, uint32_t version = CAMEO_PAYLOAD_VERSION) : file(bytes) {
    status = Plan::parse(reinterpret_cast<uint8_t *>(file.data()), file.size(), 0, version, plan);
  }
  PayloadFile file;
  Plan plan;
  Status status;
};

// x [n] i64 on the device, h [2] i32 on the host; y [open] i64. `build` writes the code but its END.
Bytes planOf(const std::function<void(PlanBuilder &, uint32_t x)> &build) {
  PlanBuilder p;
  p.input("x", CAMEO_INT64, {{-1, "n"}});
  p.input("h", CAMEO_INT32, {{2}}, CAMEO_TENSOR_HOST);
  p.output("y", CAMEO_INT64, {{-1, "m"}});
  p.kernel("k", 32, {CAMEO_ARG_BUFFER, CAMEO_ARG_I64});
  uint32_t x = p.newBuffer();
  p.op(CAMEO_OP_BUF_INPUT, {x, 0});
  build(p, x);
  p.op(CAMEO_OP_END);
  return p.finish();
}

const int32_t kHost[2] = {7, 9};
std::vector<PlanInput> someInputs(int64_t n = 4) { return {{{n}, nullptr}, {{2}, kHost}}; }

Status first(const Parsed &parsed, WorkList &work, int64_t n = 4) {
  return parsed.status.ok() ? runPlan(parsed.plan, someInputs(n), work)
                            : Status(parsed.status.code(), parsed.status.message());
}

Status refusal(const std::function<void(PlanBuilder &, uint32_t x)> &build,
               uint32_t version = CAMEO_PAYLOAD_VERSION) {
  return std::move(Parsed(planOf(build), version).status);
}

// The status of a run whose fetches all give `value`.
Status runWith(const std::function<void(PlanBuilder &, uint32_t x)> &build, int64_t value,
               int64_t n = 4) {
  Parsed parsed(planOf(build));
  WorkList work;
  CAMEO_RETURN_IF_ERROR(first(parsed, work, n));
  while (work.fetches) {
    RunState next = stateAfter(work, &value);
    CAMEO_RETURN_IF_ERROR(runSegment(parsed.plan, next, work));
  }
  return {};
}

} // namespace

TEST(FetchPlan, WhatIsRefused) {
  using P = PlanBuilder &;
  auto fetch = [](uint32_t dtype, std::vector<uint32_t> tail, int count = -1) {
    return [=](P p, uint32_t x) {
      std::vector<uint32_t> operands = {x, dtype, p.constant(0),
                                        count < 0 ? uint32_t(tail.size()) : uint32_t(count)};
      operands.insert(operands.end(), tail.begin(), tail.end());
      p.op(CAMEO_OP_FETCH, operands);
    };
  };
  EXPECT_TRUE(refusal(fetch(CAMEO_INT64, {0})).ok());
  EXPECT_EQ(refusal(fetch(CAMEO_INT64, {0}), 4).message(),
            "damaged launch plan: word 7: instruction 98 is of payload version 5; the file has "
            "version 4");
  EXPECT_NE(
      refusal(fetch(CAMEO_INT4, {0})).message().find("fetches elements of 4 bits; 8 at least"),
      std::string::npos);
  EXPECT_NE(refusal(fetch(CAMEO_UINT2, {0})).message().find("of 2 bits"), std::string::npos);
  EXPECT_EQ(refusal(fetch(CAMEO_COMPLEX64, {0})).code(), Code::Corrupt);
  EXPECT_EQ(refusal(fetch(CAMEO_STRING, {0})).code(), Code::Corrupt);
  EXPECT_NE(refusal(fetch(CAMEO_INT64, {})).message().find("fetches nothing"), std::string::npos);
  EXPECT_EQ(refusal(fetch(CAMEO_INT64, {0}, 2)).code(), Code::Corrupt);
  EXPECT_EQ(refusal(fetch(CAMEO_INT64, {0, 1000})).code(), Code::Corrupt);
  EXPECT_EQ(refusal([](P p, uint32_t) { p.op(CAMEO_OP_FETCH, {9, CAMEO_INT64, 0, 1, 0}); }).code(),
            Code::Corrupt);
  auto bound = [](uint32_t output, std::vector<uint32_t> sizes) {
    return [=](P p, uint32_t) {
      p.newRegister();
      std::vector<uint32_t> operands = {output, uint32_t(sizes.size())};
      operands.insert(operands.end(), sizes.begin(), sizes.end());
      p.op(CAMEO_OP_OUTPUT_BOUND, operands);
    };
  };
  EXPECT_TRUE(refusal(bound(0, {0})).ok());
  EXPECT_EQ(refusal(bound(0, {0}), 4).code(), Code::Corrupt);
  EXPECT_EQ(refusal(bound(0, {0, 0})).code(), Code::Corrupt);
  EXPECT_EQ(refusal(bound(1, {0})).code(), Code::Corrupt);
  // A FETCH that nothing follows would go on behind the code.
  PlanBuilder p;
  p.input("x", CAMEO_INT64, {{1}});
  uint32_t x = p.newBuffer(), r = p.newRegister();
  p.op(CAMEO_OP_BUF_INPUT, {x, 0});
  p.op(CAMEO_OP_FETCH, {x, CAMEO_INT64, r, 1, r});
  EXPECT_EQ(Parsed(p.finish()).status.code(), Code::Corrupt);
}

TEST(FetchPlan, CountsOfRegistersAndBuffersAreBoundedByTheCode) {
  Status status = refusal([](PlanBuilder &p, uint32_t) {
    for (int i = 0; i < 100; ++i)
      p.newRegister();
  });
  EXPECT_NE(status.message().find("100 registers and 1 buffers in"), std::string::npos)
      << status.message();
}

TEST(FetchPlan, WhatIsLive) {
  uint32_t dead = 0, kept = 0, later = 0, got = 0, named = 0, unread = 0, word = 0, loop = 0;
  Parsed parsed(planOf([&](PlanBuilder &p, uint32_t x) {
    dead = p.constant(1);
    kept = p.constant(2);
    later = p.constant(3);
    got = p.newRegister();
    unread = p.newRegister();
    named = p.newBuffer();
    uint32_t zero = p.constant(0);
    p.op(CAMEO_OP_OUTPUT_SHAPE, {0, 1, dead});
    p.op(CAMEO_OP_BUF_OUTPUT, {named, 0});
    loop = p.op(CAMEO_OP_FETCH, {x, CAMEO_INT64, zero, 2, got, unread});
    // Set before it is read, on one way round the loop; on the other it is read.
    word = p.op(CAMEO_OP_BRANCH_ZERO, {got, 0});
    p.op(CAMEO_OP_MOVE, {later, kept});
    p.op(CAMEO_OP_WRITE, {named, CAMEO_INT64, 1, later});
    p.op(CAMEO_OP_JUMP, {loop});
    p.patch(word + 2, p.op(CAMEO_OP_LOAD, {dead, 1, zero}));
    p.op(CAMEO_OP_WRITE, {named, CAMEO_INT64, 1, dead});
  }));
  ASSERT_TRUE(parsed.status.ok()) << parsed.status.message();
  ASSERT_TRUE(parsed.plan.hasSegments());
  const ResumePoint &point = parsed.plan.resumeAt(word);
  EXPECT_EQ(point.word, word);
  uint32_t zero = unread + 1;
  EXPECT_EQ(point.registers, (std::vector<uint32_t>{kept, got, zero}));
  EXPECT_EQ(point.buffers, (std::vector<uint32_t>{0, named})) << "x is fetched from again";
  EXPECT_EQ(point.shapes, (std::vector<bool>{false, true}))
      << "of h alone the shape counts where it is read";
  EXPECT_EQ(point.values, (std::vector<bool>{false, true}));
  EXPECT_EQ(parsed.plan.deviceInputs(), (std::vector<bool>{true, false}));
  EXPECT_FALSE(Parsed(planOf([](PlanBuilder &, uint32_t) {})).plan.hasSegments());
}

TEST(FetchPlan, ASegmentFollowsFromItsState) {
  Parsed parsed(planOf([](PlanBuilder &p, uint32_t x) {
    uint32_t n = p.newRegister(), got = p.newRegister(), one = p.constant(1), y = p.newBuffer();
    p.op(CAMEO_OP_DIM, {n, 0, 0});
    p.op(CAMEO_OP_OUTPUT_BOUND, {0, 1, p.constant(8)});
    p.op(CAMEO_OP_LAUNCH, {0, one, one, one, p.constant(0), x, n});
    p.op(CAMEO_OP_FETCH, {x, CAMEO_INT64, one, 1, got});
    p.op(CAMEO_OP_OUTPUT_SHAPE, {0, 1, got});
    p.op(CAMEO_OP_BUF_OUTPUT, {y, 0});
    p.op(CAMEO_OP_LAUNCH, {0, got, one, one, p.constant(0), y, got});
  }));
  WorkList work, end, other;
  ASSERT_TRUE(first(parsed, work).ok());
  EXPECT_TRUE(work.fetches);
  EXPECT_EQ(work.launches.size(), 1u);
  EXPECT_EQ(work.fetch.source.space, Place::Input);
  EXPECT_EQ(work.fetch.source.offset, 8u);
  EXPECT_EQ(work.fetch.source.bytes, 8u);
  EXPECT_FALSE(work.outputs[0].isKnown);
  EXPECT_EQ(work.outputs[0].bound, Shape{8});
  int64_t five = 5, six = 6;
  RunState state = stateAfter(work, &five);
  ASSERT_TRUE(runSegment(parsed.plan, state, end).ok());
  EXPECT_FALSE(end.fetches);
  EXPECT_TRUE(end.outputs[0].isKnown);
  EXPECT_EQ(end.outputs[0].shape, Shape{5});
  EXPECT_EQ(end.outputBytes[0], 40u);
  EXPECT_EQ(end.launches[0].grid[0], 5u);
  // n is not read again: what follows is the same for another.
  ASSERT_TRUE(first(parsed, other, 7).ok());
  EXPECT_EQ(stateAfter(other, &five), state);
  EXPECT_EQ(stateAfter(other, &five).hash(), state.hash());
  EXPECT_FALSE(stateAfter(work, &six) == state);
  EXPECT_NE(stateAfter(work, &six).hash(), state.hash());
}

template <typename T> double fetched(uint32_t dtype, T bits, bool isFloating) {
  Parsed parsed(planOf([&](PlanBuilder &p, uint32_t x) {
    uint32_t got = p.newRegister(), y = p.newBuffer(), zero = p.constant(0);
    p.op(CAMEO_OP_OUTPUT_SHAPE, {0, 1, p.constant(1)});
    p.op(CAMEO_OP_BUF_OUTPUT, {y, 0});
    p.op(CAMEO_OP_FETCH, {x, dtype, zero, 1, got});
    p.op(CAMEO_OP_WRITE, {y, uint32_t(isFloating ? CAMEO_DOUBLE : CAMEO_INT64), 1, got});
  }));
  WorkList work, end;
  EXPECT_TRUE(first(parsed, work).ok());
  EXPECT_EQ(work.fetch.source.bytes, sizeof(T));
  Status status = runSegment(parsed.plan, stateAfter(work, &bits), end);
  EXPECT_TRUE(status.ok()) << status.message();
  if (end.data.size() != 8)
    return -1e300;
  double real;
  int64_t integer;
  memcpy(&real, end.data.data(), 8);
  memcpy(&integer, end.data.data(), 8);
  return isFloating ? real : double(integer);
}

TEST(FetchPlan, EveryType) {
  EXPECT_EQ(fetched<uint8_t>(CAMEO_BOOL, 1, false), 1);
  EXPECT_EQ(fetched<uint8_t>(CAMEO_UINT8, 200, false), 200);
  EXPECT_EQ(fetched<int8_t>(CAMEO_INT8, -100, false), -100);
  EXPECT_EQ(fetched<uint16_t>(CAMEO_UINT16, 65000, false), 65000);
  EXPECT_EQ(fetched<int16_t>(CAMEO_INT16, -3, false), -3);
  EXPECT_EQ(fetched<uint32_t>(CAMEO_UINT32, 4000000000u, false), 4e9);
  EXPECT_EQ(fetched<int32_t>(CAMEO_INT32, -5, false), -5);
  EXPECT_EQ(fetched<int64_t>(CAMEO_INT64, -(int64_t(1) << 40), false), -1099511627776.0);
  EXPECT_EQ(fetched<uint64_t>(CAMEO_UINT64, 7, false), 7);
  EXPECT_EQ(fetched<float>(CAMEO_FLOAT, 1.5f, true), 1.5);
  EXPECT_EQ(fetched<double>(CAMEO_DOUBLE, -0.1, true), -0.1);
  EXPECT_EQ(fetched<uint16_t>(CAMEO_FLOAT16, 0x3e00, true), 1.5);
  EXPECT_EQ(fetched<uint16_t>(CAMEO_BFLOAT16, 0xc000, true), -2);
  EXPECT_EQ(fetched<uint8_t>(CAMEO_FLOAT8E4M3FN, 0x38, true), 1);
  EXPECT_EQ(fetched<uint8_t>(CAMEO_FLOAT8E5M2, 0x3c, true), 1);
  EXPECT_EQ(fetched<uint8_t>(CAMEO_FLOAT8E8M0, 127, true), 1);
}

TEST(FetchPlan, ElementsThatAreNotThere) {
  auto at = [](int64_t element, uint32_t count) {
    return [=](PlanBuilder &p, uint32_t x) {
      std::vector<uint32_t> operands = {x, CAMEO_INT64, p.constant(uint64_t(element)), count};
      for (uint32_t i = 0; i < count; ++i)
        operands.push_back(p.newRegister());
      p.op(CAMEO_OP_OUTPUT_SHAPE, {0, 1, p.constant(1)});
      p.op(CAMEO_OP_FETCH, operands);
    };
  };
  auto status = [&](int64_t element, uint32_t count) {
    Parsed parsed(planOf(at(element, count)));
    WorkList work;
    return first(parsed, work);
  };
  EXPECT_TRUE(status(3, 1).ok());
  EXPECT_TRUE(status(0, 4).ok());
  EXPECT_EQ(status(4, 1).code(), Code::OutOfRange);
  EXPECT_EQ(status(1, 4).code(), Code::OutOfRange);
  EXPECT_EQ(status(-1, 1).code(), Code::OutOfRange);
  EXPECT_EQ(status(std::numeric_limits<int64_t>::max(), 1).code(), Code::OutOfRange);
  EXPECT_NE(status(4, 1).message().find("fetches 1 elements from number 4 of 4"),
            std::string::npos);
}

TEST(FetchPlan, WhatComesTooLate) {
  auto late = [](const std::function<void(PlanBuilder &, uint32_t)> &build) {
    return runWith(
        [&](PlanBuilder &p, uint32_t x) {
          uint32_t got = p.newRegister();
          p.op(CAMEO_OP_FETCH, {x, CAMEO_INT64, p.constant(0), 1, got});
          build(p, got);
          p.op(CAMEO_OP_OUTPUT_SHAPE, {0, 1, got});
        },
        8);
  };
  using P = PlanBuilder &;
  EXPECT_TRUE(late([](P, uint32_t) {}).ok());
  EXPECT_EQ(late([](P p, uint32_t r) { p.op(CAMEO_OP_OUTPUT_BOUND, {0, 1, r}); }).code(),
            Code::Corrupt);
  Status second = late([](P p, uint32_t) { p.op(CAMEO_OP_OUTPUT_SHAPE, {0, 1, p.constant(3)}); });
  EXPECT_EQ(second.code(), Code::Corrupt);
  EXPECT_NE(second.message().find("output 'y' is given two shapes: 3xi64 and 8xi64"),
            std::string::npos)
      << second.message();
  EXPECT_TRUE(late([](P p, uint32_t) { p.op(CAMEO_OP_OUTPUT_SHAPE, {0, 1, p.constant(8)}); }).ok())
      << "the same";
  EXPECT_EQ(runWith(
                [](P p, uint32_t x) {
                  p.op(CAMEO_OP_FETCH, {x, CAMEO_INT64, p.constant(0), 1, p.newRegister()});
                },
                1)
                .message(),
            "the launch plan gives output 'y' no shape");
}

TEST(FetchPlan, BoundsHold) {
  auto bounded = [](int64_t bound, int64_t size) {
    return runWith(
        [&](PlanBuilder &p, uint32_t x) {
          uint32_t got = p.newRegister();
          p.op(CAMEO_OP_OUTPUT_BOUND, {0, 1, p.constant(uint64_t(bound))});
          p.op(CAMEO_OP_FETCH, {x, CAMEO_INT64, p.constant(0), 1, got});
          p.op(CAMEO_OP_OUTPUT_SHAPE, {0, 1, got});
        },
        size);
  };
  EXPECT_TRUE(bounded(5, 5).ok());
  EXPECT_TRUE(bounded(5, 0).ok());
  EXPECT_TRUE(bounded(-1, 1000).ok());
  Status status = bounded(5, 6);
  EXPECT_EQ(status.code(), Code::OutOfRange);
  EXPECT_EQ(status.message(), "output 'y' would be 6xi64; it is at most 5xi64");
  EXPECT_EQ(bounded(5, -1).code(), Code::OutOfRange);
  EXPECT_EQ(bounded(-2, 1).code(), Code::OutOfRange);
}

// Two places that change as a loop goes round, and a value in a third that each trip begins anew.
TEST(FetchPlan, PlacesThatChange) {
  Parsed parsed(planOf([](PlanBuilder &p, uint32_t x) {
    uint32_t a = p.newBuffer(), b = p.newBuffer(), t = p.newBuffer(), mine = p.newBuffer();
    uint32_t zero = p.constant(0), one = p.constant(1), bytes = p.constant(24),
             got = p.newRegister();
    uint32_t second = p.constant(256), third = p.constant(512);
    p.op(CAMEO_OP_OUTPUT_SHAPE, {0, 1, zero});
    p.op(CAMEO_OP_ARENA_SIZE, {p.constant(768)});
    p.op(CAMEO_OP_BUF_ARENA, {a, zero, bytes});
    p.op(CAMEO_OP_BUF_ARENA, {b, second, bytes});
    p.op(CAMEO_OP_COPY, {a, x, bytes});
    uint32_t loop = p.op(CAMEO_OP_FETCH, {a, CAMEO_INT64, zero, 1, got});
    uint32_t branch = p.op(CAMEO_OP_BRANCH_ZERO, {got, 0});
    p.op(CAMEO_OP_BUF_ARENA, {mine, third, bytes});
    p.op(CAMEO_OP_COPY, {mine, a, bytes});
    p.op(CAMEO_OP_COPY, {b, mine, bytes});
    p.op(CAMEO_OP_LAUNCH, {0, one, one, one, zero, b, one});
    p.op(CAMEO_OP_BUF_PART, {t, a, zero, bytes});
    p.op(CAMEO_OP_BUF_PART, {a, b, zero, bytes});
    p.op(CAMEO_OP_BUF_PART, {b, t, zero, bytes});
    p.op(CAMEO_OP_JUMP, {loop});
    p.patch(branch + 2, p.op(CAMEO_OP_COPY, {x, a, zero}));
  }));
  ASSERT_TRUE(parsed.status.ok()) << parsed.status.message();
  WorkList work;
  ASSERT_TRUE(first(parsed, work).ok());
  ASSERT_EQ(work.births.size(), 1u) << "b is not used yet";
  int64_t go = 1;
  std::vector<RunState> states;
  for (int trip = 0; trip < 4; ++trip) {
    states.push_back(stateAfter(work, &go));
    ASSERT_TRUE(runSegment(parsed.plan, states.back(), work).ok());
    ASSERT_EQ(work.copies.size(), 2u);
    EXPECT_EQ(work.copies[0].source.offset, trip % 2 ? 256u : 0u);
    EXPECT_EQ(work.copies[1].target.offset, trip % 2 ? 0u : 256u);
    EXPECT_EQ(work.args[0].place.offset, trip % 2 ? 0u : 256u);
    ASSERT_EQ(work.births.size(), trip ? 1u : 2u) << "the value of the trip, and b at its first";
    EXPECT_EQ(work.births[0].place.offset, 512u);
    EXPECT_NE(work.copies[0].source.index, work.copies[1].target.index);
  }
  EXPECT_FALSE(states[0] == states[1]);
  EXPECT_FALSE(states[0] == states[2]) << "b has begun since";
  EXPECT_TRUE(states[1] == states[3]);
}

// The value of the trip before is still read when the loop's own buffer begins anew: the two differ.
// The arena of the second segment is as large as what was fetched; the first one's value is still there.
TEST(FetchPlan, EachSegmentMaySizeAnArena) {
  Parsed parsed(planOf([](PlanBuilder &p, uint32_t x) {
    uint32_t a = p.newBuffer(), b = p.newBuffer(), got = p.newRegister(), at = p.newRegister();
    uint32_t zero = p.constant(0), bytes = p.constant(32), arena = p.newRegister();
    p.op(CAMEO_OP_ARENA_SIZE, {p.constant(256)});
    p.op(CAMEO_OP_BUF_ARENA, {a, zero, bytes});
    p.op(CAMEO_OP_COPY, {a, x, bytes});
    p.op(CAMEO_OP_FETCH, {a, CAMEO_INT64, zero, 1, got});
    p.op(CAMEO_OP_OUTPUT_SHAPE, {0, 1, got});
    p.op(CAMEO_OP_ARENA_REQUEST, {at, got, 0, 1});
    p.op(CAMEO_OP_ARENA_LAYOUT, {arena, p.newRegister(), p.newRegister()});
    p.op(CAMEO_OP_ARENA_SIZE, {arena});
    p.op(CAMEO_OP_BUF_ARENA, {b, at, got});
    p.op(CAMEO_OP_COPY, {b, a, got});
  }));
  ASSERT_TRUE(parsed.status.ok()) << parsed.status.message();
  EXPECT_EQ(parsed.plan.arenaCount(), 2u);
  WorkList work;
  ASSERT_TRUE(first(parsed, work).ok());
  ASSERT_EQ(work.arenas.size(), 1u);
  EXPECT_EQ(work.arenaBytes(0), 256u);
  RunState before = work.next;
  for (int64_t size : {16, 24}) {
    ASSERT_TRUE(runSegment(parsed.plan, stateAfter(work, &size), work).ok());
    ASSERT_EQ(work.arenas.size(), 1u);
    EXPECT_EQ(work.arenaBytes(1), 256u);
    ASSERT_EQ(work.copies.size(), 1u);
    EXPECT_EQ(work.copies[0].source.arena, 0u);
    EXPECT_EQ(work.copies[0].target.arena, 1u);
    EXPECT_EQ(work.copies[0].target.bytes, uint64_t(size));
    ASSERT_TRUE(first(parsed, work).ok());
    EXPECT_EQ(work.next, before);
  }
  int64_t most = 33;
  EXPECT_EQ(runSegment(parsed.plan, stateAfter(work, &most), work).code(), Code::Corrupt)
      << "the first arena's value has 32 bytes";
}

// A loop that comes back to where an arena is sized finds nothing there of the trip before.
TEST(FetchPlan, AnArenaThatIsSizedAgainIsEmpty) {
  auto looped = [](bool inLoop) {
    return [=](PlanBuilder &p, uint32_t x) {
      uint32_t a = p.newBuffer(), b = p.newBuffer(), got = p.newRegister();
      uint32_t zero = p.constant(0), bytes = p.constant(32);
      p.op(CAMEO_OP_OUTPUT_SHAPE, {0, 1, zero});
      p.op(CAMEO_OP_ARENA_SIZE, {p.constant(256)});
      p.op(CAMEO_OP_BUF_ARENA, {a, zero, bytes});
      p.op(CAMEO_OP_COPY, {a, x, bytes});
      uint32_t loop = p.op(CAMEO_OP_FETCH, {x, CAMEO_INT64, zero, 1, got});
      uint32_t branch = p.op(CAMEO_OP_BRANCH_ZERO, {got, 0});
      p.op(CAMEO_OP_ARENA_SIZE, {p.constant(512)});
      p.op(CAMEO_OP_BUF_ARENA, {b, zero, bytes});
      p.op(CAMEO_OP_COPY, {b, a, bytes});
      if (inLoop)
        p.op(CAMEO_OP_BUF_PART, {a, b, zero, bytes});
      p.op(CAMEO_OP_JUMP, {loop});
      p.patch(branch + 2, p.op(CAMEO_OP_COPY, {x, x, zero}));
    };
  };
  for (bool inLoop : {false, true}) {
    Parsed parsed(planOf(looped(inLoop)));
    ASSERT_TRUE(parsed.status.ok()) << parsed.status.message();
    WorkList work;
    ASSERT_TRUE(first(parsed, work).ok());
    int64_t go = 1;
    Status status;
    RunState states[3];
    for (RunState &state : states) {
      state = stateAfter(work, &go);
      if (status.ok())
        status = runSegment(parsed.plan, state, work);
    }
    if (inLoop) {
      EXPECT_NE(status.message().find("a buffer is used before it is defined"), std::string::npos)
          << status.message();
      continue;
    }
    ASSERT_TRUE(status.ok()) << status.message();
    EXPECT_EQ(states[1], states[2]) << "one segment for all trips but the first";
  }
}

TEST(FetchPlan, ANewValueHasANumberThatNobodyHolds) {
  Parsed parsed(planOf([](PlanBuilder &p, uint32_t x) {
    uint32_t current = p.newBuffer(), next = p.newBuffer(), bytes = p.constant(24),
             zero = p.constant(0);
    uint32_t here = p.constant(0), there = p.constant(256), other = p.newRegister(),
             got = p.newRegister();
    p.op(CAMEO_OP_OUTPUT_SHAPE, {0, 1, zero});
    p.op(CAMEO_OP_ARENA_SIZE, {p.constant(512)});
    p.op(CAMEO_OP_BUF_ARENA, {current, here, bytes});
    p.op(CAMEO_OP_COPY, {current, x, bytes});
    uint32_t loop = p.op(CAMEO_OP_FETCH, {current, CAMEO_INT64, zero, 1, got});
    uint32_t branch = p.op(CAMEO_OP_BRANCH_ZERO, {got, 0});
    p.op(CAMEO_OP_BUF_ARENA, {next, there, bytes});
    p.op(CAMEO_OP_COPY, {next, current, bytes});
    p.op(CAMEO_OP_BUF_PART, {current, next, zero, bytes});
    p.op(CAMEO_OP_MOVE, {other, here});
    p.op(CAMEO_OP_MOVE, {here, there});
    p.op(CAMEO_OP_MOVE, {there, other});
    p.op(CAMEO_OP_JUMP, {loop});
    p.patch(branch + 2, p.op(CAMEO_OP_COPY, {x, current, zero}));
  }));
  ASSERT_TRUE(parsed.status.ok()) << parsed.status.message();
  WorkList work;
  ASSERT_TRUE(first(parsed, work).ok());
  int64_t go = 1;
  std::vector<RunState> states;
  for (int trip = 0; trip < 6; ++trip) {
    states.push_back(stateAfter(work, &go));
    ASSERT_TRUE(runSegment(parsed.plan, states.back(), work).ok());
    ASSERT_EQ(work.births.size(), 1u) << "each trip's value begins";
    EXPECT_EQ(work.births[0].place.offset, trip % 2 ? 0u : 256u);
    EXPECT_NE(work.copies[0].source.index, work.copies[0].target.index);
  }
  EXPECT_TRUE(states[2] == states[4]);
  EXPECT_TRUE(states[3] == states[5]);
}

TEST(FetchPlan, FromWhatNothingHasWritten) {
  Status status = runWith(
      [](PlanBuilder &p, uint32_t) {
        uint32_t a = p.newBuffer(), eight = p.constant(8), zero = p.constant(0);
        p.op(CAMEO_OP_OUTPUT_SHAPE, {0, 1, zero});
        p.op(CAMEO_OP_ARENA_SIZE, {eight});
        p.op(CAMEO_OP_BUF_ARENA, {a, zero, eight});
        p.op(CAMEO_OP_FETCH, {a, CAMEO_INT64, zero, 1, p.newRegister()});
      },
      1);
  EXPECT_EQ(status.code(), Code::Corrupt);
  EXPECT_NE(status.message().find("fetches from a buffer that nothing has written"),
            std::string::npos);
}

// A loop that the host knows the trips of unrolls into the segment, as far as there is room.
TEST(FetchPlan, LoopsUnroll) {
  auto unrolled = [](uint64_t trips, WorkList &work) {
    Parsed parsed(planOf([&](PlanBuilder &p, uint32_t x) {
      uint32_t left = p.constant(trips), one = p.constant(1), zero = p.constant(0);
      p.op(CAMEO_OP_OUTPUT_SHAPE, {0, 1, zero});
      uint32_t loop = p.op(CAMEO_OP_BRANCH_ZERO, {left, 0});
      p.op(CAMEO_OP_LAUNCH, {0, one, one, one, zero, x, left});
      p.op(CAMEO_OP_SUB, {left, left, one});
      p.op(CAMEO_OP_JUMP, {loop});
      p.patch(loop + 2, p.op(CAMEO_OP_FETCH, {x, CAMEO_INT64, zero, 1, left}));
    }));
    return first(parsed, work);
  };
  WorkList work;
  ASSERT_TRUE(unrolled(50, work).ok());
  EXPECT_EQ(work.launches.size(), 50u);
  EXPECT_EQ(work.args[1].bits, 50u);
  EXPECT_EQ(work.args[99].bits, 1u);
  ASSERT_TRUE(unrolled(0, work).ok());
  EXPECT_TRUE(work.launches.empty());
  Status status = unrolled(100 << 20, work);
  EXPECT_EQ(status.code(), Code::OutOfRange);
  EXPECT_NE(status.message().find(": loops make more work of it than"), std::string::npos)
      << status.message();
}

TEST(FetchPlan, RandomDamageNeverCrashes) {
  Bytes whole = planOf([](PlanBuilder &p, uint32_t x) {
    uint32_t a = p.newBuffer(), b = p.newBuffer(), t = p.newBuffer(), y = p.newBuffer();
    uint32_t zero = p.constant(0), one = p.constant(1), bytes = p.constant(32);
    uint32_t got = p.newRegister(), size = p.newRegister(), host = p.newRegister(),
             n = p.newRegister();
    p.op(CAMEO_OP_OUTPUT_BOUND, {0, 1, p.constant(8)});
    p.op(CAMEO_OP_DIM, {n, 0, 0});
    p.op(CAMEO_OP_ARENA_SIZE, {p.constant(512)});
    p.op(CAMEO_OP_BUF_ARENA, {a, zero, bytes});
    p.op(CAMEO_OP_BUF_ARENA, {b, p.constant(256), bytes});
    p.op(CAMEO_OP_COPY, {a, x, bytes});
    uint32_t loop = p.op(CAMEO_OP_FETCH, {a, CAMEO_INT64, zero, 2, got, size});
    uint32_t branch = p.op(CAMEO_OP_BRANCH_ZERO, {got, 0});
    p.op(CAMEO_OP_LOAD, {host, 1, one});
    p.op(CAMEO_OP_LAUNCH, {0, host, n, one, zero, a, size});
    p.op(CAMEO_OP_COPY, {b, a, bytes});
    p.op(CAMEO_OP_BUF_PART, {t, a, zero, bytes});
    p.op(CAMEO_OP_BUF_PART, {a, b, zero, bytes});
    p.op(CAMEO_OP_BUF_PART, {b, t, zero, bytes});
    p.op(CAMEO_OP_JUMP, {loop});
    p.patch(branch + 2, p.op(CAMEO_OP_OUTPUT_SHAPE, {0, 1, size}));
    p.op(CAMEO_OP_BUF_OUTPUT, {y, 0});
    p.op(CAMEO_OP_WRITE, {y, CAMEO_INT64, 1, size});
  });
  std::mt19937 random(1);
  int survived = 0, ran = 0, segments = 0;
  for (int round = 0; round < 20000; ++round) {
    Bytes bytes = whole;
    for (int i = int(random() % 3); i >= 0; --i)
      bytes[random() % bytes.size()] = char(random());
    Parsed parsed(bytes);
    if (!parsed.status.ok())
      continue;
    ++survived;
    if (parsed.plan.inputs().size() != 2)
      continue;
    WorkList work;
    std::vector<PlanInput> inputs = someInputs();
    bool fits = true;
    for (size_t i = 0; i < 2; ++i)
      fits &= checkShape(parsed.plan.inputs()[i], inputs[i].shape).ok() &&
              dtypeBits(parsed.plan.inputs()[i].dtype) <= 32u << !i;
    if (!fits || !runPlan(parsed.plan, inputs, work).ok())
      continue;
    ++ran;
    for (int trip = 0; trip < 5 && work.fetches; ++trip) {
      std::vector<int64_t> values(work.fetch.source.bytes / 8 + 1);
      for (int64_t &value : values)
        value = random() % 4 ? int64_t(random() % 9) : int64_t(random()) << 32;
      RunState next = stateAfter(work, values.data());
      if (!runSegment(parsed.plan, next, work).ok())
        break;
      ++segments;
    }
  }
  EXPECT_GT(survived, 1000);
  EXPECT_GT(ran, 500);
  EXPECT_GT(segments, 500);
}
