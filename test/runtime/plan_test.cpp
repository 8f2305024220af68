// Plans: what the validator refuses, and what the interpreter computes.
// SPDX-License-Identifier: Apache-2.0
#include "runtime/core/interpreter.h"
#include "test_model.h"

#include <cmath>
#include <functional>
#include <gtest/gtest.h>
#include <limits>
#include <random>

using namespace cameo::runtime;
using namespace payload_test;

namespace {

struct Parsed {
  explicit Parsed(const Bytes &bytes, uint64_t weights = 64,
                  uint32_t version = CAMEO_PAYLOAD_VERSION)
      : file(bytes) {
    status =
        Plan::parse(reinterpret_cast<uint8_t *>(file.data()), file.size(), weights, version, plan);
  }
  PayloadFile file;
  Plan plan;
  Status status;
};

// A plan with one output of one element, whose code `build` writes; its END is added.
Bytes planOf(const std::function<void(PlanBuilder &)> &build, bool shaped = true) {
  PlanBuilder p;
  p.input("x", CAMEO_FLOAT, {{-1, "n"}, {3}});
  p.input("h", CAMEO_INT32, {{4}}, CAMEO_TENSOR_HOST);
  p.input("f", CAMEO_FLOAT16, {{2}}, CAMEO_TENSOR_HOST);
  p.output("y", CAMEO_INT64, {{-1}});
  p.kernel("k", 32, {CAMEO_ARG_BUFFER, CAMEO_ARG_I32, CAMEO_ARG_F32, CAMEO_ARG_F64});
  if (shaped)
    p.op(CAMEO_OP_OUTPUT_SHAPE, {0, 1, p.constant(1)});
  build(p);
  p.op(CAMEO_OP_END);
  return p.finish();
}

const int32_t kHost[4] = {-7, 1, 2, 3};
const uint16_t kHalf[2] = {0x3e00, 0xc000}; // 1.5, -2

std::vector<PlanInput> someInputs() { return {{{5, 3}, nullptr}, {{4}, kHost}, {{2}, kHalf}}; }

Status run(const Bytes &bytes, WorkList &work, std::vector<PlanInput> inputs = someInputs()) {
  Parsed parsed(bytes);
  if (!parsed.status.ok())
    return std::move(parsed.status);
  return runPlan(parsed.plan, inputs, work);
}

// The value of the register that `build` returns, as an output's size.
Status evaluate(const std::function<uint32_t(PlanBuilder &)> &build, int64_t &value) {
  WorkList work;
  Status status = run(planOf([&](PlanBuilder &p) {
                        uint32_t result = build(p);
                        uint32_t buffer = p.newBuffer();
                        p.op(CAMEO_OP_ARENA_SIZE, {p.constant(8)});
                        p.op(CAMEO_OP_BUF_OUTPUT, {buffer, 0});
                        p.op(CAMEO_OP_WRITE, {buffer, CAMEO_INT64, 1, result});
                      }),
                      work);
  if (status.ok())
    memcpy(&value, work.data.data(), sizeof value);
  return status;
}

int64_t binary(CameoOpcode opcode, int64_t a, int64_t b) {
  int64_t value = 0;
  Status status = evaluate(
      [&](PlanBuilder &p) {
        return p.compute(opcode, p.constant(uint64_t(a)), p.constant(uint64_t(b)));
      },
      value);
  EXPECT_TRUE(status.ok()) << status.message();
  return value;
}

Code binaryCode(CameoOpcode opcode, int64_t a, int64_t b) {
  int64_t value = 0;
  return evaluate(
             [&](PlanBuilder &p) {
               return p.compute(opcode, p.constant(uint64_t(a)), p.constant(uint64_t(b)));
             },
             value)
      .code();
}

int64_t floating(CameoOpcode opcode, double a, double b) {
  int64_t value = 0;
  EXPECT_TRUE(evaluate(
                  [&](PlanBuilder &p) {
                    return p.compute(opcode, p.constantDouble(a), p.constantDouble(b));
                  },
                  value)
                  .ok());
  return value;
}

double asDouble(int64_t bits) {
  double value;
  memcpy(&value, &bits, sizeof value);
  return value;
}

Code parseCode(const std::function<void(PlanBuilder &)> &build) {
  return Parsed(planOf(build)).status.code();
}

constexpr int64_t kMin = std::numeric_limits<int64_t>::min();
constexpr int64_t kMax = std::numeric_limits<int64_t>::max();

} // namespace

TEST(Plan, ParsesTheTestModel) {
  Parsed parsed(testPlan());
  ASSERT_TRUE(parsed.status.ok()) << parsed.status.message();
  EXPECT_STREQ(parsed.plan.name(), "main");
  ASSERT_EQ(parsed.plan.inputs().size(), 2u);
  EXPECT_STREQ(parsed.plan.inputs()[0].symbols[0], "n");
  EXPECT_EQ(parsed.plan.inputs()[0].dims, (Shape{-1, 64}));
  EXPECT_EQ(parsed.plan.kernels()[0].argCount, 3u);
}

TEST(Plan, RefusesNumbersOutOfRange) {
  using P = PlanBuilder &;
  EXPECT_EQ(parseCode([](P) {}), Code::Ok);
  EXPECT_EQ(parseCode([](P p) { p.op(CAMEO_OP_MOVE, {0, 1000}); }), Code::Corrupt);
  EXPECT_EQ(parseCode([](P p) { p.op(CAMEO_OP_MOVE, {0}); }), Code::Corrupt);
  EXPECT_EQ(parseCode([](P p) { p.op(CAMEO_OP_MOVE, {0, 0, 0}); }), Code::Corrupt);
  EXPECT_EQ(parseCode([](P p) { p.op(CAMEO_OP_JUMP, {100000}); }), Code::Corrupt);
  EXPECT_EQ(parseCode([](P p) { p.op(CAMEO_OP_JUMP, {1}); }), Code::Corrupt); // into an instruction
  EXPECT_EQ(parseCode([](P p) { p.op(CAMEO_OP_DIM, {0, 3, 0}); }), Code::Corrupt);
  EXPECT_EQ(parseCode([](P p) { p.op(CAMEO_OP_DIM, {0, 0, 2}); }), Code::Corrupt);
  EXPECT_EQ(parseCode([](P p) { p.op(CAMEO_OP_LOAD, {0, 0, 0}); }), Code::Corrupt); // not on host
  EXPECT_EQ(parseCode([](P p) { p.op(CAMEO_OP_BUF_INPUT, {0, 0}); }), Code::Corrupt);
  EXPECT_EQ(parseCode([](P p) { p.op(CAMEO_OP_CHECK, {0, 1u << 20, 0, 0}); }), Code::Corrupt);
  EXPECT_EQ(parseCode([](P p) { p.op(CAMEO_OP_OUTPUT_SHAPE, {0, 2, 0, 0}); }), Code::Corrupt);
  EXPECT_EQ(parseCode([](P p) { p.op(CAMEO_OP_OUTPUT_SHAPE, {0, 1, 0, 0}); }), Code::Corrupt);
  EXPECT_EQ(parseCode([](P p) { p.op(CAMEO_OP_LAUNCH, {0, 0, 0, 0, 0, 0, 0, 0}); }), Code::Corrupt);
  EXPECT_EQ(parseCode([](P p) { p.op(CAMEO_OP_LAUNCH, {1, 0, 0, 0, 0}); }), Code::Corrupt);
  EXPECT_EQ(parseCode([](P p) {
              p.newBuffer();
              p.op(CAMEO_OP_BUF_WEIGHT, {0, 60, 0, 5, 0});
            }),
            Code::Corrupt);
  EXPECT_EQ(parseCode([](P p) {
              p.newBuffer();
              p.op(CAMEO_OP_WRITE, {0, CAMEO_STRING, 0});
            }),
            Code::Corrupt);
  EXPECT_EQ(parseCode([](P p) { p.op(200); }), Code::Corrupt);
}

TEST(Plan, ClustersThatAreNotPortable) {
  auto statusOf = [](uint32_t cluster) {
    Parsed parsed(planOf([&](PlanBuilder &p) { p.kernelRecord(0).cluster = cluster; }));
    return parsed.status.message();
  };
  EXPECT_EQ(statusOf(16 | 1 << 8 | 1 << 16), "");
  EXPECT_EQ(statusOf(3 | 3 << 8 | 1 << 16), "");
  std::string wrong = "damaged launch plan: kernel 'k' has clusters of ";
  EXPECT_EQ(statusOf(2 | 1 << 8 | 1 << 16), wrong + "2 x 1 x 1 blocks");
  EXPECT_EQ(statusOf(16 | 2 << 8 | 1 << 16), wrong + "16 x 2 x 1 blocks");
  EXPECT_EQ(statusOf(16), wrong + "16 x 0 x 0 blocks");
  EXPECT_EQ(statusOf(255u | 255u << 8 | 65535u << 16), wrong + "255 x 255 x 65535 blocks");
}

// What later versions will say has its place, and until then each of them is refused by its name.
TEST(Plan, ReservedIsRefused) {
  auto refusal = [](const std::function<void(PlanBuilder &)> &change) {
    Parsed parsed(planOf(change));
    return std::pair(parsed.status.code(), parsed.status.message());
  };
  auto kernel = [&](const std::function<void(CameoPlanKernel &)> &change) {
    return refusal([&](PlanBuilder &p) { change(p.kernelRecord(0)); });
  };
  auto notYet = [](const std::string &what) {
    return std::pair(Code::Incompatible, what + ", which this runtime does not know yet");
  };
  EXPECT_EQ(kernel([](auto &k) { k.flags = CAMEO_KERNEL_DEPENDENT; }),
            notYet("kernel 'k' is launched before the one that it depends on ends"));
  EXPECT_EQ(kernel([](auto &k) { k.flags = CAMEO_KERNEL_COOPERATIVE | CAMEO_KERNEL_NO_SYNC; }),
            notYet("kernel 'k' needs all of its blocks at once"));
  EXPECT_EQ(kernel([](auto &k) { k.flags = 8; }),
            std::pair(Code::Corrupt,
                      std::string("damaged launch plan: kernel 'k' has unknown flags 0x8")));
  EXPECT_EQ(
      refusal([](PlanBuilder &p) { p.kernel("m", 32, {CAMEO_ARG_I32, CAMEO_ARG_TENSOR_MAP}); }),
      notYet("kernel 'm' has parameter 1, a tensor map"));
  EXPECT_EQ(
      refusal([](PlanBuilder &p) { p.kernel("m", 32, {CAMEO_ARG_BUFFER | CAMEO_ARG_WRITTEN}); }),
      notYet("kernel 'm' has parameter 0, a buffer marked as written"));
  EXPECT_EQ(refusal([](PlanBuilder &p) { p.kernel("m", 32, {CAMEO_ARG_I32 | CAMEO_ARG_WRITTEN}); }),
            std::pair(Code::Corrupt,
                      std::string("damaged launch plan: parameter 0 of 'm' is of kind 257")));
  uint32_t word = 0;
  auto at = [&] { return "launch plan, word " + std::to_string(word) + ": asks for "; };
  auto attribute = refusal([&](PlanBuilder &p) { word = p.op(CAMEO_OP_ATTRIBUTE, {0, 1}); });
  EXPECT_EQ(attribute, notYet(at() + "an attribute of the device"));
  auto map = refusal([&](PlanBuilder &p) { word = p.op(CAMEO_OP_TENSOR_MAP, {0, 0}); });
  EXPECT_EQ(map, notYet(at() + "a tensor map"));
  EXPECT_EQ(refusal([](PlanBuilder &p) { p.inputRecord(0).state = 1; }),
            std::pair(Code::Corrupt, std::string("damaged launch plan: tensor 'x' is no state and "
                                                 "has 0x1 as one")));
  EXPECT_EQ(
      refusal([](PlanBuilder &p) { p.dimRecord(1).reserved = 7; }),
      std::pair(Code::Corrupt, std::string("damaged launch plan: size 1 of tensor 'x' has 0x7 "
                                           "in a reserved field")));
}

TEST(Plan, RandomDamageNeverCrashes) {
  Bytes whole = testPlan();
  std::mt19937 random(1);
  int survived = 0, ran = 0;
  for (int round = 0; round < 20000; ++round) {
    Bytes bytes = whole;
    for (int i = int(random() % 3); i >= 0; --i)
      bytes[random() % bytes.size()] = char(random());
    Parsed parsed(bytes);
    if (!parsed.status.ok())
      continue;
    ++survived;
    // What the validator lets pass must run without harm, whatever comes of it.
    static const uint64_t values[64] = {3};
    std::vector<PlanInput> inputs;
    for (const PlanTensor &tensor : parsed.plan.inputs()) {
      Shape shape = tensor.dims;
      for (int64_t &size : shape)
        size = size < 0 ? 2 : size;
      uint64_t bytes = 0;
      if (!checkShape(tensor, shape).ok() || !tensorBytes(shape, tensor.dtype, bytes).ok())
        break;
      bool onHost = tensor.flags & CAMEO_TENSOR_HOST;
      inputs.push_back({shape, onHost && bytes <= sizeof values ? values : nullptr});
    }
    WorkList work;
    if (inputs.size() == parsed.plan.inputs().size())
      ran += runPlan(parsed.plan, inputs, work).ok();
  }
  EXPECT_GT(ran, 0);
  EXPECT_GT(survived, 0);
}

TEST(Plan, EveryTruncation) {
  Bytes whole = testPlan();
  for (size_t size = 0; size < whole.size(); ++size)
    EXPECT_FALSE(Parsed(Bytes(whole.begin(), whole.begin() + long(size))).status.ok()) << size;
}

TEST(Interpreter, Integers) {
  EXPECT_EQ(binary(CAMEO_OP_ADD, 3, -5), -2);
  EXPECT_EQ(binary(CAMEO_OP_SUB, 3, 5), -2);
  EXPECT_EQ(binary(CAMEO_OP_MUL, -3, 5), -15);
  EXPECT_EQ(binary(CAMEO_OP_DIV, -7, 2), -3);
  EXPECT_EQ(binary(CAMEO_OP_REM, -7, 2), -1);
  EXPECT_EQ(binary(CAMEO_OP_FLOORDIV, -7, 2), -4);
  EXPECT_EQ(binary(CAMEO_OP_FLOORDIV, 7, -2), -4);
  EXPECT_EQ(binary(CAMEO_OP_FLOORDIV, 7, 2), 3);
  EXPECT_EQ(binary(CAMEO_OP_CEILDIV, 7, 2), 4);
  EXPECT_EQ(binary(CAMEO_OP_CEILDIV, -7, 2), -3);
  EXPECT_EQ(binary(CAMEO_OP_CEILDIV, -7, -2), 4);
  EXPECT_EQ(binary(CAMEO_OP_REM, kMin, -1), 0);
  EXPECT_EQ(binary(CAMEO_OP_MIN, 1, -1), -1);
  EXPECT_EQ(binary(CAMEO_OP_MAX, 1, -1), 1);
  EXPECT_EQ(binary(CAMEO_OP_XOR, 6, 3), 5);
  EXPECT_EQ(binary(CAMEO_OP_LT, 1, 2), 1);
  EXPECT_EQ(binary(CAMEO_OP_LE, 3, 2), 0);
  EXPECT_EQ(binary(CAMEO_OP_WRAP_ADD, kMax, 1), kMin);
  EXPECT_EQ(binary(CAMEO_OP_WRAP_SUB, kMin, 1), kMax);
  EXPECT_EQ(binary(CAMEO_OP_WRAP_MUL, kMax, 2), -2);
  EXPECT_EQ(binary(CAMEO_OP_DIV_UNSIGNED, -1, 2), kMax);
  EXPECT_EQ(binary(CAMEO_OP_REM_UNSIGNED, -1, 4), 3);
}

TEST(Interpreter, BitsAndComparisons) {
  // All bits, not truths.
  EXPECT_EQ(binary(CAMEO_OP_AND, 6, 3), 2);
  EXPECT_EQ(binary(CAMEO_OP_AND, 4, 3), 0);
  EXPECT_EQ(binary(CAMEO_OP_AND, -1, kMin), kMin);
  EXPECT_EQ(binary(CAMEO_OP_OR, 6, 3), 7);
  EXPECT_EQ(binary(CAMEO_OP_OR, kMin, 1), kMin + 1);
  EXPECT_EQ(binary(CAMEO_OP_OR, 0, 0), 0);
  EXPECT_EQ(binary(CAMEO_OP_EQ, kMin, kMin), 1);
  EXPECT_EQ(binary(CAMEO_OP_EQ, 0, int64_t(1) << 32), 0);
  EXPECT_EQ(binary(CAMEO_OP_NE, kMin, kMin), 0);
  EXPECT_EQ(binary(CAMEO_OP_NE, 0, int64_t(1) << 32), 1);
  EXPECT_EQ(binary(CAMEO_OP_LT, 2, 2), 0);
  EXPECT_EQ(binary(CAMEO_OP_LT, kMin, kMax), 1);
  EXPECT_EQ(binary(CAMEO_OP_LE, 2, 2), 1);
  EXPECT_EQ(binary(CAMEO_OP_LE, -1, 0), 1);
}

TEST(Interpreter, Selects) {
  auto select = [](int64_t condition) {
    int64_t value = 0;
    Status status = evaluate(
        [&](PlanBuilder &p) {
          uint32_t result = p.newRegister();
          p.op(CAMEO_OP_SELECT,
               {result, p.constant(uint64_t(condition)), p.constant(5), p.constant(7)});
          return result;
        },
        value);
    EXPECT_TRUE(status.ok()) << status.message();
    return value;
  };
  EXPECT_EQ(select(0), 7);
  EXPECT_EQ(select(1), 5);
  EXPECT_EQ(select(-1), 5);
  EXPECT_EQ(select(int64_t(1) << 32), 5);
}

TEST(Interpreter, ArithmeticErrors) {
  EXPECT_EQ(binaryCode(CAMEO_OP_ADD, kMax, 1), Code::OutOfRange);
  EXPECT_EQ(binaryCode(CAMEO_OP_SUB, kMin, 1), Code::OutOfRange);
  EXPECT_EQ(binaryCode(CAMEO_OP_MUL, kMax, 2), Code::OutOfRange);
  EXPECT_EQ(binaryCode(CAMEO_OP_DIV, kMin, -1), Code::OutOfRange);
  for (CameoOpcode opcode : {CAMEO_OP_DIV, CAMEO_OP_REM, CAMEO_OP_FLOORDIV, CAMEO_OP_CEILDIV,
                             CAMEO_OP_DIV_UNSIGNED, CAMEO_OP_REM_UNSIGNED})
    EXPECT_EQ(binaryCode(opcode, 1, 0), Code::OutOfRange);
}

TEST(Interpreter, Doubles) {
  EXPECT_EQ(asDouble(floating(CAMEO_OP_FADD, 0.5, 0.25)), 0.75);
  EXPECT_EQ(asDouble(floating(CAMEO_OP_FDIV, 1, 0)), HUGE_VAL);
  EXPECT_TRUE(std::isnan(asDouble(floating(CAMEO_OP_FMIN, NAN, 1))));
  EXPECT_TRUE(std::isnan(asDouble(floating(CAMEO_OP_FMAX, 1, NAN))));
  EXPECT_EQ(asDouble(floating(CAMEO_OP_FSUB, 0.5, 0.75)), -0.25);
  EXPECT_EQ(asDouble(floating(CAMEO_OP_FMUL, -0.5, 3)), -1.5);
  EXPECT_EQ(asDouble(floating(CAMEO_OP_FDIV, 1, 4)), 0.25);
  EXPECT_EQ(asDouble(floating(CAMEO_OP_FMIN, 2, 1)), 1);
  EXPECT_EQ(asDouble(floating(CAMEO_OP_FMAX, 2, 1)), 2);
  EXPECT_EQ(floating(CAMEO_OP_FLT, 1, 2), 1);
  EXPECT_EQ(floating(CAMEO_OP_FLT, 2, 2), 0);
  EXPECT_EQ(floating(CAMEO_OP_FLE, 1, 2), 1);
  EXPECT_EQ(floating(CAMEO_OP_FLE, 2, 2), 1);
  EXPECT_EQ(floating(CAMEO_OP_FLE, 3, 2), 0);
  EXPECT_EQ(floating(CAMEO_OP_FLE, NAN, NAN), 0);
  EXPECT_EQ(floating(CAMEO_OP_FEQ, -0.0, 0.0), 1);
  EXPECT_EQ(floating(CAMEO_OP_FEQ, NAN, NAN), 0);
  auto unary = [](CameoOpcode opcode, double a) {
    int64_t value = 0;
    Status status = evaluate(
        [&](PlanBuilder &p) {
          uint32_t result = p.newRegister();
          p.op(opcode, {result, p.constantDouble(a)});
          return result;
        },
        value);
    return std::make_pair(status.code(), value);
  };
  EXPECT_EQ(asDouble(unary(CAMEO_OP_FROUND_EVEN, 2.5).second), 2.0);
  EXPECT_EQ(asDouble(unary(CAMEO_OP_FFLOOR, -2.5).second), -3.0);
  EXPECT_EQ(asDouble(unary(CAMEO_OP_FCEIL, -2.5).second), -2.0);
  EXPECT_EQ(asDouble(unary(CAMEO_OP_FCEIL, 2.25).second), 3.0);
  EXPECT_EQ(asDouble(unary(CAMEO_OP_FROUND_F32, 0.1).second), double(0.1f));
  auto toDouble = [](int64_t number) {
    int64_t value = 0;
    Status status = evaluate(
        [&](PlanBuilder &p) {
          uint32_t result = p.newRegister();
          p.op(CAMEO_OP_INT_TO_FLOAT, {result, p.constant(uint64_t(number))});
          return result;
        },
        value);
    EXPECT_TRUE(status.ok()) << status.message();
    return asDouble(value);
  };
  EXPECT_EQ(toDouble(-3), -3.0);
  EXPECT_EQ(toDouble(int64_t(5) << 32), 0x5p32);
  EXPECT_EQ(toDouble(kMin), -0x1p63);
  EXPECT_EQ(unary(CAMEO_OP_FLOAT_TO_INT, -2.9).second, -2);
  EXPECT_EQ(unary(CAMEO_OP_FLOAT_TO_INT, NAN).first, Code::OutOfRange);
  EXPECT_EQ(unary(CAMEO_OP_FLOAT_TO_INT, 0x1p63).first, Code::OutOfRange);
}

TEST(Interpreter, HostInputs) {
  int64_t value = 0;
  auto load = [&](uint32_t input, int64_t index) {
    return evaluate(
        [&](PlanBuilder &p) {
          uint32_t at = p.constant(uint64_t(index)), result = p.newRegister();
          p.op(CAMEO_OP_LOAD, {result, input, at});
          return result;
        },
        value);
  };
  ASSERT_TRUE(load(1, 0).ok());
  EXPECT_EQ(value, -7);
  ASSERT_TRUE(load(2, 1).ok());
  EXPECT_EQ(asDouble(value), -2.0);
  EXPECT_EQ(load(1, 4).code(), Code::OutOfRange);
  EXPECT_EQ(load(1, -1).code(), Code::OutOfRange);
}

TEST(Interpreter, LoopsAndBranches) {
  // The sum of 1 to 10.
  int64_t value = 0;
  ASSERT_TRUE(evaluate(
                  [](PlanBuilder &p) {
                    uint32_t sum = p.constant(0), i = p.constant(10), one = p.constant(1);
                    uint32_t next = p.newRegister();
                    uint32_t top = p.op(CAMEO_OP_ADD, {sum, sum, i});
                    p.op(CAMEO_OP_SUB, {next, i, one});
                    p.op(CAMEO_OP_MOVE, {i, next});
                    uint32_t branch = p.op(CAMEO_OP_BRANCH_ZERO, {i, 0});
                    uint32_t jump = p.op(CAMEO_OP_JUMP, {top});
                    p.patch(branch + 2, jump + 2);
                    return sum;
                  },
                  value)
                  .ok());
  EXPECT_EQ(value, 55);
}

TEST(Interpreter, Checks) {
  WorkList work;
  Status status = run(planOf([](PlanBuilder &p) {
                        uint32_t bad = p.constant(0), a = p.constant(5);
                        p.op(CAMEO_OP_CHECK, {bad, p.string("got {0} of {1} {2}"), a, bad});
                      }),
                      work);
  EXPECT_EQ(status.code(), Code::OutOfRange);
  EXPECT_EQ(status.message(), "got 5 of 0 {2}");
}

TEST(Interpreter, MemoryRules) {
  auto code = [](const std::function<void(PlanBuilder &)> &build, bool shaped = true) {
    WorkList work;
    return run(planOf(build, shaped), work).code();
  };
  using P = PlanBuilder &;
  auto arena = [](P p, int64_t size, int64_t offset, int64_t bytes) {
    uint32_t a = p.newBuffer(), y = p.newBuffer();
    p.op(CAMEO_OP_ARENA_SIZE, {p.constant(uint64_t(size))});
    p.op(CAMEO_OP_BUF_ARENA, {a, p.constant(uint64_t(offset)), p.constant(uint64_t(bytes))});
    p.op(CAMEO_OP_BUF_OUTPUT, {y, 0});
    p.op(CAMEO_OP_COPY, {a, y, p.constant(uint64_t(8))});
  };
  EXPECT_EQ(code([&](P p) { arena(p, 16, 8, 8); }), Code::Ok);
  EXPECT_EQ(code([&](P p) { arena(p, 16, 9, 8); }), Code::Corrupt);
  EXPECT_EQ(code([&](P p) { arena(p, 16, 0, 4); }), Code::Corrupt);
  EXPECT_EQ(code([&](P p) { arena(p, -1, 0, 8); }), Code::OutOfRange);
  EXPECT_EQ(code([&](P p) { arena(p, 16, kMax, 8); }), Code::Corrupt);
  // Undefined buffer; an output before its shape; no shape at all; two arenas.
  EXPECT_EQ(code([](P p) {
              uint32_t a = p.newBuffer();
              p.op(CAMEO_OP_COPY, {a, a, p.constant(1)});
            }),
            Code::Corrupt);
  EXPECT_EQ(code([](P p) { p.op(CAMEO_OP_BUF_OUTPUT, {p.newBuffer(), 0}); }, false), Code::Corrupt);
  EXPECT_EQ(code([](P) {}, false), Code::Corrupt);
  EXPECT_EQ(code([](P p) { p.op(CAMEO_OP_OUTPUT_SHAPE, {0, 1, p.constant(uint64_t(-1))}); }),
            Code::OutOfRange);
  EXPECT_EQ(code([](P p) { p.op(CAMEO_OP_OUTPUT_SHAPE, {0, 1, p.constant(1ull << 61)}); }),
            Code::OutOfRange);
}

// Where buffers stand is decided by the sizes that the registers have then.
TEST(Interpreter, LaysTheArenaOut) {
  auto layOut = [](int64_t a, int64_t b, WorkList &work) {
    return run(planOf([&](PlanBuilder &p) {
                 uint32_t sizes[] = {p.constant(uint64_t(a)), p.constant(uint64_t(b))};
                 uint32_t offsets[3], arena = p.newRegister(), live = p.newRegister(),
                                      sum = p.newRegister();
                 for (uint32_t i = 0; i < 3; ++i) {
                   offsets[i] = p.newRegister();
                   p.op(CAMEO_OP_ARENA_REQUEST, {offsets[i], sizes[i % 2], i, i + 1});
                 }
                 p.op(CAMEO_OP_ARENA_LAYOUT, {arena, live, sum});
                 p.op(CAMEO_OP_ARENA_SIZE, {arena});
                 p.op(CAMEO_OP_ARENA_USE, {live, sum});
                 uint32_t y = p.newBuffer();
                 p.op(CAMEO_OP_BUF_OUTPUT, {y, 0});
                 for (uint32_t i = 0; i < 3; ++i) {
                   uint32_t buffer = p.newBuffer();
                   p.op(CAMEO_OP_BUF_ARENA, {buffer, offsets[i], sizes[i % 2]});
                   p.op(CAMEO_OP_COPY, {buffer, y, p.constant(8)});
                 }
               }),
               work);
  };
  WorkList work;
  ASSERT_TRUE(layOut(8, 1000, work).ok());
  EXPECT_EQ(work.arenaBytes(0), 1280u);
  EXPECT_TRUE(work.arenaUseKnown);
  EXPECT_EQ(work.allArenas().liveBytes, 1008u);
  EXPECT_EQ(work.allArenas().sumBytes, 1016u);
  EXPECT_EQ(work.copies[0].target.offset, work.copies[2].target.offset);
  EXPECT_NE(work.copies[0].target.offset, work.copies[1].target.offset);
  ASSERT_TRUE(layOut(1000, 8, work).ok());
  EXPECT_EQ(work.arenaBytes(0), 1280u);
  EXPECT_EQ(work.allArenas().sumBytes, 2008u);
  EXPECT_EQ(layOut(-1, 8, work).code(), Code::OutOfRange);
  EXPECT_EQ(layOut(kMax, 8, work).code(), Code::OutOfRange);
  EXPECT_EQ(layOut(kMax - 255, kMax - 255, work).code(), Code::OutOfRange);
}

TEST(Interpreter, ArenaRequestsAreChecked) {
  auto code = [](const std::function<void(PlanBuilder &, uint32_t)> &build) {
    WorkList work;
    return run(planOf([&](PlanBuilder &p) { build(p, p.constant(8)); }), work).code();
  };
  using P = PlanBuilder &;
  auto layOut = [](P p, uint32_t r) { p.op(CAMEO_OP_ARENA_LAYOUT, {r, r, r}); };
  EXPECT_EQ(code([&](P p, uint32_t r) { layOut(p, r); }), Code::Ok);
  // Branches and bodies have layouts of their own.
  EXPECT_EQ(code([&](P p, uint32_t r) {
              layOut(p, r);
              p.op(CAMEO_OP_ARENA_REQUEST, {r, r, 0, 1});
              layOut(p, r);
            }),
            Code::Ok);
  // Steps in the wrong order.
  EXPECT_EQ(code([](P p, uint32_t r) { p.op(CAMEO_OP_ARENA_REQUEST, {r, r, 2, 1}); }),
            Code::Corrupt);
  // A loop of requests ends before memory does.
  EXPECT_EQ(code([](P p, uint32_t r) {
              uint32_t at = p.op(CAMEO_OP_ARENA_REQUEST, {r, r, 0, UINT32_MAX});
              p.op(CAMEO_OP_JUMP, {at});
            }),
            Code::Corrupt);
  EXPECT_EQ(code([](P p, uint32_t r) { p.op(CAMEO_OP_ARENA_USE, {r, p.constant(uint64_t(-1))}); }),
            Code::OutOfRange);
  EXPECT_EQ(parseCode([](P p) { p.op(CAMEO_OP_ARENA_REQUEST, {0, 1u << 20, 0, 0}); }),
            Code::Corrupt);
  EXPECT_EQ(parseCode([](P p) { p.op(CAMEO_OP_ARENA_REQUEST, {0, 0, 0}); }), Code::Corrupt);
  EXPECT_EQ(parseCode([](P p) { p.op(CAMEO_OP_ARENA_LAYOUT, {0, 0, 1u << 20}); }), Code::Corrupt);
}

TEST(Interpreter, PartsOfBuffers) {
  auto code = [](int64_t offset, int64_t bytes, bool isDefined = true) {
    WorkList work;
    return run(planOf([=](PlanBuilder &p) {
                 uint32_t a = p.newBuffer(), part = p.newBuffer(), y = p.newBuffer();
                 uint32_t size = p.constant(uint64_t(16));
                 p.op(CAMEO_OP_ARENA_SIZE, {size});
                 if (isDefined)
                   p.op(CAMEO_OP_BUF_ARENA, {a, p.constant(0), size});
                 p.op(CAMEO_OP_BUF_PART,
                      {part, a, p.constant(uint64_t(offset)), p.constant(uint64_t(bytes))});
                 p.op(CAMEO_OP_BUF_OUTPUT, {y, 0});
                 p.op(CAMEO_OP_COPY, {part, y, p.constant(uint64_t(8))});
               }),
               work)
        .code();
  };
  EXPECT_EQ(code(8, 8), Code::Ok);
  EXPECT_EQ(code(8, 4), Code::Corrupt); // the copy
  EXPECT_EQ(code(9, 8), Code::Corrupt);
  EXPECT_EQ(code(17, 0), Code::Corrupt);
  EXPECT_EQ(code(kMax, 8), Code::Corrupt);
  EXPECT_EQ(code(-1, 8), Code::OutOfRange);
  EXPECT_EQ(code(0, 8, false), Code::Corrupt);
}

TEST(Interpreter, PartsAreBornWithTheirWhole) {
  Parsed parsed(planOf([](PlanBuilder &p) {
    uint32_t whole = p.newBuffer(), inner = p.newBuffer(), part = p.newBuffer(), y = p.newBuffer();
    uint32_t zero = p.constant(0), four = p.constant(4), eight = p.constant(8);
    uint32_t bytes = p.constant(16);
    p.op(CAMEO_OP_ARENA_SIZE, {bytes});
    p.op(CAMEO_OP_BUF_ARENA, {whole, zero, bytes});
    p.op(CAMEO_OP_BUF_NAME, {whole, p.string("whole")});
    p.op(CAMEO_OP_BUF_PART, {inner, whole, four, eight});
    p.op(CAMEO_OP_BUF_PART, {part, inner, four, four});
    p.op(CAMEO_OP_BUF_OUTPUT, {y, 0});
    p.op(CAMEO_OP_COPY, {part, y, four});
    p.op(CAMEO_OP_COPY, {whole, y, four});
    p.op(CAMEO_OP_COPY, {inner, y, four});
  }));
  ASSERT_TRUE(parsed.status.ok()) << parsed.status.message();
  WorkList work;
  ASSERT_TRUE(runPlan(parsed.plan, someInputs(), work).ok());
  ASSERT_EQ(work.births.size(), 1u);
  EXPECT_EQ(work.births[0].step, 0u);
  EXPECT_EQ(work.births[0].place.bytes, 16u);
  ASSERT_EQ(work.copies.size(), 3u);
  EXPECT_EQ(work.copies[0].target.offset, 8u);
  EXPECT_EQ(work.copies[0].target.bytes, 4u);
  EXPECT_STREQ(work.copies[0].target.name, "whole");
  EXPECT_EQ(work.copies[0].target.index, 1u) << "a part of a value has its number";
}

TEST(Interpreter, LivesBeginAtTheFirstUse) {
  Parsed parsed(planOf([](PlanBuilder &p) {
    uint32_t a = p.newBuffer(), b = p.newBuffer(), y = p.newBuffer();
    uint32_t zero = p.constant(0), bytes = p.constant(8);
    p.op(CAMEO_OP_ARENA_SIZE, {bytes});
    p.op(CAMEO_OP_BUF_ARENA, {a, zero, bytes});
    p.op(CAMEO_OP_BUF_ARENA, {b, zero, bytes});
    p.op(CAMEO_OP_BUF_NAME, {b, p.string("second")});
    p.op(CAMEO_OP_BUF_OUTPUT, {y, 0});
    p.op(CAMEO_OP_COPY, {a, y, bytes});
    p.op(CAMEO_OP_COPY, {y, a, bytes});
    p.op(CAMEO_OP_COPY, {b, y, bytes});
  }));
  ASSERT_TRUE(parsed.status.ok()) << parsed.status.message();
  WorkList work; // its names are the plan's
  ASSERT_TRUE(runPlan(parsed.plan, someInputs(), work).ok());
  ASSERT_EQ(work.births.size(), 2u);
  EXPECT_EQ(work.births[0].step, 0u);
  EXPECT_STREQ(work.births[0].place.name, "");
  EXPECT_EQ(work.births[1].step, 2u);
  EXPECT_STREQ(work.births[1].place.name, "second");
  // Values that have one place have numbers of their own.
  EXPECT_EQ(work.births[0].place.index, 1u);
  EXPECT_EQ(work.births[1].place.index, 2u);
  EXPECT_EQ(work.copies[0].target.index, 1u);
  EXPECT_EQ(work.copies[2].target.index, 2u);
}

TEST(Interpreter, Launches) {
  auto launch = [](uint64_t x, uint64_t y, WorkList &work) {
    return run(planOf([&](PlanBuilder &p) {
                 uint32_t b = p.newBuffer(), one = p.constant(1), zero = p.constant(0);
                 p.op(CAMEO_OP_BUF_INPUT, {b, 0});
                 p.op(CAMEO_OP_LAUNCH,
                      {0, p.constant(x), p.constant(y), one, zero, b, p.constant(uint64_t(-2)),
                       p.constantDouble(0.1), p.constantDouble(0.1)});
               }),
               work);
  };
  WorkList work;
  ASSERT_TRUE(launch(7, 1, work).ok());
  ASSERT_EQ(work.launches.size(), 1u);
  EXPECT_EQ(work.launches[0].grid[0], 7u);
  EXPECT_EQ(work.args[0].place.bytes, 60u);
  EXPECT_EQ(uint32_t(work.args[1].bits), 0xfffffffeu);
  float narrow;
  memcpy(&narrow, &work.args[2].bits, sizeof narrow);
  EXPECT_EQ(narrow, 0.1f);
  EXPECT_EQ(asDouble(int64_t(work.args[3].bits)), 0.1);
  EXPECT_TRUE(work.inputUsed[0]);
  ASSERT_TRUE(launch(7, 0, work).ok());
  EXPECT_TRUE(work.launches.empty());
  EXPECT_EQ(launch(1ull << 31, 1, work).code(), Code::OutOfRange);
  EXPECT_EQ(launch(1, 65536, work).code(), Code::OutOfRange);
}

// A kernel serves several nodes; a launch may say which it is for.
TEST(Interpreter, NodesOfALaunch) {
  PlanBuilder p;
  p.output("y", CAMEO_FLOAT, {{4}});
  p.kernel("k", 32, {});
  uint32_t zero = p.constant(0), one = p.constant(1), four = p.constant(4);
  p.op(CAMEO_OP_OUTPUT_SHAPE, {0, 1, four});
  p.op(CAMEO_OP_ARENA_SIZE, {zero});
  p.op(CAMEO_OP_NODES, {p.string("first")});
  p.op(CAMEO_OP_LAUNCH, {0, one, one, one, zero});
  p.op(CAMEO_OP_LAUNCH, {0, one, one, one, zero});
  p.op(CAMEO_OP_NODES, {p.string("skipped")});
  p.op(CAMEO_OP_LAUNCH, {0, zero, one, one, zero});
  p.op(CAMEO_OP_LAUNCH, {0, one, one, one, zero});
  p.op(CAMEO_OP_END);
  Parsed parsed(p.finish());
  ASSERT_TRUE(parsed.status.ok()) << parsed.status.message();
  WorkList work;
  ASSERT_TRUE(runPlan(parsed.plan, {}, work).ok());
  ASSERT_EQ(work.launches.size(), 3u);
  EXPECT_STREQ(work.launches[0].onnxNodes, "first");
  EXPECT_STREQ(work.launches[1].onnxNodes, "node_k");
  EXPECT_STREQ(work.launches[2].onnxNodes, "node_k");
  EXPECT_EQ(parseCode([](PlanBuilder &b) { b.op(CAMEO_OP_NODES, {1u << 20}); }), Code::Corrupt);
}

TEST(Interpreter, WorkOfTheNextLaunch) {
  PlanBuilder p;
  uint32_t kernel = p.kernel("k", 32, {});
  uint32_t one = p.constant(1), zero = p.constant(0);
  uint32_t flops = p.constantDouble(3e20), bytes = p.constantDouble(64);
  p.op(CAMEO_OP_ARENA_SIZE, {zero});
  p.op(CAMEO_OP_WORK, {flops, bytes});
  p.op(CAMEO_OP_LAUNCH, {kernel, zero, one, one, zero}); // skipped, and its work with it
  p.op(CAMEO_OP_LAUNCH, {kernel, one, one, one, zero});
  p.op(CAMEO_OP_WORK, {flops, bytes});
  p.op(CAMEO_OP_LAUNCH, {kernel, one, one, one, zero});
  p.op(CAMEO_OP_END);
  Parsed parsed(p.finish());
  ASSERT_TRUE(parsed.status.ok()) << parsed.status.message();
  WorkList work;
  ASSERT_TRUE(runPlan(parsed.plan, {}, work).ok());
  ASSERT_EQ(work.launches.size(), 2u);
  EXPECT_EQ(work.launches[0].flops, -1);
  EXPECT_EQ(work.launches[0].bytes, -1);
  EXPECT_EQ(work.launches[1].flops, 3e20);
  EXPECT_EQ(work.launches[1].bytes, 64);
}

TEST(Interpreter, Shapes) {
  Parsed parsed(testPlan());
  const PlanTensor &x = parsed.plan.inputs()[0];
  EXPECT_TRUE(checkShape(x, {3, 64}).ok());
  EXPECT_EQ(checkShape(x, {3, 65}).message(),
            "input 'x': shape 3x65xf32 given; the model takes nx64xf32");
  EXPECT_FALSE(checkShape(x, {3}).ok());
  EXPECT_FALSE(checkShape(x, {-1, 64}).ok());
  EXPECT_FALSE(checkShape(x, {kMax / 16, 64}).ok());
}
