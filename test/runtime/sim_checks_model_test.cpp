// What the plan tells the simulator's checks of buffers: their lives, sizes and names.
// SPDX-License-Identifier: Apache-2.0
#include "runtime/cameo.h"
#include "test_model.h"

#include <functional>
#include <gtest/gtest.h>
#include <string>
#include <vector>

using namespace payload_test;

namespace {

constexpr uint32_t kRowBytes = 256;

/// The message of running a plan over x [64] f32 -> y [64] f32 with all checks twice, "" if both
/// runs are good. `build` is given the copy kernel, its input and its output.
std::string
run(const std::function<void(PlanBuilder &, uint32_t copy, uint32_t x, uint32_t y)> &build) {
  PlanBuilder p;
  p.input("x", CAMEO_FLOAT, {{64}});
  p.output("y", CAMEO_FLOAT, {{64}});
  uint32_t copy = p.kernel("copy", 64, {CAMEO_ARG_BUFFER, CAMEO_ARG_BUFFER, CAMEO_ARG_I32});
  uint32_t x = p.newBuffer(), y = p.newBuffer();
  p.op(CAMEO_OP_OUTPUT_SHAPE, {0, 1, p.constant(64)});
  p.op(CAMEO_OP_ARENA_SIZE, {p.constant(2 * kRowBytes)});
  p.op(CAMEO_OP_BUF_INPUT, {x, 0});
  p.op(CAMEO_OP_BUF_OUTPUT, {y, 0});
  build(p, copy, x, y);
  p.op(CAMEO_OP_END);
  PayloadBuilder builder;
  builder.section(CAMEO_SECTION_PLAN, p.finish());
  builder.section(CAMEO_SECTION_SIM_IMAGE, readBytes(SIM_TEST_CHECKED_IMAGE), 0, 80,
                  CAMEO_SIM_IMAGE_CHECKED);
  PayloadFile file = builder.finish();

  CAMEO_INIT(cameo_device_options, deviceOptions);
  deviceOptions.kind = CAMEO_DEVICE_SIMULATOR;
  deviceOptions.sim_checks = CAMEO_SIM_CHECK_BOUNDS | CAMEO_SIM_CHECK_UNINITIALISED |
                             CAMEO_SIM_CHECK_RACES | CAMEO_SIM_CHECK_SYNC;
  cameo_device *device = nullptr;
  EXPECT_EQ(cameo_device_create(&deviceOptions, &device), CAMEO_STATUS_OK);
  CAMEO_INIT(cameo_model_options, options);
  options.device = device;
  cameo_model *model = nullptr;
  EXPECT_EQ(cameo_model_load_memory(file.data(), file.size(), &options, &model), CAMEO_STATUS_OK)
      << cameo_last_error();
  cameo_context *context = nullptr;
  EXPECT_EQ(cameo_context_create(model, nullptr, &context), CAMEO_STATUS_OK);
  std::vector<float> from(64, 1.f), to(64);
  cameo_binding in{sizeof(cameo_binding), CAMEO_MEMORY_HOST, 0, from.data(), kRowBytes};
  cameo_binding out{sizeof(cameo_binding), CAMEO_MEMORY_HOST, 0, to.data(), kRowBytes};
  EXPECT_EQ(cameo_context_bind_input(context, 0, &in), CAMEO_STATUS_OK);
  EXPECT_EQ(cameo_context_bind_output(context, 0, &out), CAMEO_STATUS_OK);
  std::string message;
  for (int i = 0; i < 2 && message.empty(); ++i)
    if (cameo_context_run(context) != CAMEO_STATUS_OK)
      message = cameo_context_error(context);
  EXPECT_TRUE(!message.empty() || to == from);
  cameo_context_destroy(context);
  cameo_model_destroy(model);
  cameo_device_destroy(device);
  return message;
}

uint32_t arena(PlanBuilder &p, const char *name, uint64_t offset, uint64_t bytes = kRowBytes) {
  uint32_t buffer = p.newBuffer();
  p.op(CAMEO_OP_BUF_ARENA, {buffer, p.constant(offset), p.constant(bytes)});
  p.op(CAMEO_OP_BUF_NAME, {buffer, p.string(name)});
  return buffer;
}

void launch(PlanBuilder &p, uint32_t copy, uint32_t from, uint32_t to) {
  uint32_t one = p.constant(1), zero = p.constant(0);
  p.op(CAMEO_OP_LAUNCH, {copy, one, one, one, zero, from, to, zero});
}

TEST(SimChecksModel, GoodPlan) {
  EXPECT_EQ(run([](PlanBuilder &p, uint32_t copy, uint32_t x, uint32_t y) {
              uint32_t a = arena(p, "a", 0), b = arena(p, "b", kRowBytes);
              launch(p, copy, x, a);
              launch(p, copy, a, b);
              uint32_t c = arena(p, "c", 0);
              launch(p, copy, b, c);
              launch(p, copy, c, y);
            }),
            "");
}

TEST(SimChecksModel, ReusedPlaceIsUninitialised) {
  std::string message = run([](PlanBuilder &p, uint32_t copy, uint32_t x, uint32_t y) {
    launch(p, copy, x, arena(p, "a", 0));
    launch(p, copy, arena(p, "b", 0), y);
  });
  EXPECT_NE(message.find("read of uninitialised global memory: read of 4 B at b+0x0 (of 256 B)"),
            std::string::npos)
      << message;
}

// Plans that write over a value before it is read: all rows hold the same numbers, so that results
// are right.

TEST(SimChecksModel, AValueThatAnEarlierLaunchHasOverwritten) {
  // Both have one place: by address and size nothing tells them apart.
  std::string message = run([](PlanBuilder &p, uint32_t copy, uint32_t x, uint32_t y) {
    uint32_t a = arena(p, "a", 0), b = arena(p, "b", 0);
    launch(p, copy, x, a);
    launch(p, copy, x, b);
    launch(p, copy, b, y);
    launch(p, copy, a, y);
  });
  EXPECT_NE(message.find("read of an overwritten value: read of 4 B at a+0x0 (of 256 B), last "
                         "written as a part of b"),
            std::string::npos)
      << message;
}

TEST(SimChecksModel, AValueThatTheSameLaunchOverwrites) {
  std::string message = run([](PlanBuilder &p, uint32_t copy, uint32_t x, uint32_t y) {
    uint32_t a = arena(p, "a", 0), b = arena(p, "b", 0);
    launch(p, copy, x, a);
    launch(p, copy, a, b);
    launch(p, copy, b, y);
  });
  EXPECT_NE(message.find("read of uninitialised global memory: read of 4 B at a+0x0 (of 256 B), in "
                         "whose place is b now"),
            std::string::npos)
      << message;
}

TEST(SimChecksModel, APartThatIsOverwritten) {
  std::string message = run([](PlanBuilder &p, uint32_t copy, uint32_t x, uint32_t y) {
    uint32_t a = arena(p, "a", 0), b = arena(p, "b", kRowBytes / 2), all = p.newBuffer();
    launch(p, copy, x, a);
    launch(p, copy, x, b);
    p.op(CAMEO_OP_BUF_PART, {all, a, p.constant(0), p.constant(kRowBytes)});
    launch(p, copy, all, y);
  });
  EXPECT_NE(message.find("at a+0x80 (of 256 B), last written as a part of b"), std::string::npos)
      << message;
}

TEST(SimChecksModel, ACopyOfAnOverwrittenValue) {
  auto copyOf = [](bool written) {
    return run([&](PlanBuilder &p, uint32_t copy, uint32_t x, uint32_t y) {
      uint32_t a = arena(p, "a", 0), b = arena(p, "b", kRowBytes / 2);
      launch(p, copy, x, a);
      launch(p, copy, x, y);
      if (written)
        launch(p, copy, x, b);
      p.op(CAMEO_OP_COPY, {y, a, p.constant(kRowBytes)});
    });
  };
  EXPECT_EQ(copyOf(false), "");
  std::string message = copyOf(true);
  EXPECT_NE(message.find("copy of 256 B: the byte at a+0x80 was last written as a part of b"),
            std::string::npos)
      << message;
}

TEST(SimChecksModel, ACopyOrNumbersThatOverwrite) {
  for (bool copies : {true, false}) {
    std::string message = run([&](PlanBuilder &p, uint32_t copy, uint32_t x, uint32_t y) {
      uint32_t a = arena(p, "a", 0), b = arena(p, "b", 0);
      launch(p, copy, x, a);
      if (copies)
        p.op(CAMEO_OP_COPY, {b, x, p.constant(kRowBytes)});
      else
        p.op(CAMEO_OP_WRITE, {b, CAMEO_FLOAT, 1, p.constantDouble(1)});
      launch(p, copy, a, y);
    });
    std::string found = copies ? "last written as a part of b" : "uninitialised";
    EXPECT_NE(message.find(found), std::string::npos) << message;
  }
}

TEST(SimChecksModel, PartsCopiesAndNumbersAreOfTheirValue) {
  EXPECT_EQ(run([](PlanBuilder &p, uint32_t copy, uint32_t x, uint32_t y) {
              uint32_t a = arena(p, "a", 0), b = arena(p, "b", kRowBytes), one = p.newBuffer();
              p.op(CAMEO_OP_BUF_PART, {one, b, p.constant(kRowBytes - 4), p.constant(4)});
              p.op(CAMEO_OP_COPY, {a, x, p.constant(kRowBytes)});
              launch(p, copy, a, b);
              p.op(CAMEO_OP_WRITE, {one, CAMEO_FLOAT, 1, p.constantDouble(1)});
              launch(p, copy, b, y);
              uint32_t c = arena(p, "c", 0);
              p.op(CAMEO_OP_COPY, {c, b, p.constant(kRowBytes)});
              launch(p, copy, c, y);
            }),
            "");
}

TEST(SimChecksModel, ManyValuesInOnePlace) {
  // More than there are marks.
  EXPECT_EQ(run([](PlanBuilder &p, uint32_t copy, uint32_t x, uint32_t y) {
              uint32_t last = x;
              for (int i = 0; i < 600; ++i) {
                uint32_t next = arena(p, "value", i % 2 * kRowBytes);
                launch(p, copy, last, next);
                last = next;
              }
              launch(p, copy, last, y);
            }),
            "");
}

TEST(SimChecksModel, SecondRunReadsNothingOfTheFirst) {
  std::string message = run([](PlanBuilder &p, uint32_t copy, uint32_t, uint32_t y) {
    uint32_t a = arena(p, "a", 0);
    launch(p, copy, a, y);
    launch(p, copy, y, a);
  });
  EXPECT_NE(message.find("at a+0x0 (of 256 B)"), std::string::npos) << message;
}

TEST(SimChecksModel, UnwrittenOutput) {
  std::string message = run([](PlanBuilder &p, uint32_t copy, uint32_t x, uint32_t) {
    launch(p, copy, x, arena(p, "a", 0));
  });
  EXPECT_NE(message.find("no kernel and no copy has written the byte at y+0x0"), std::string::npos)
      << message;
}

TEST(SimChecksModel, KernelsStayInTheirBuffers) {
  // The arena goes on behind the buffer, and so do the launch's other buffers.
  std::string message = run([](PlanBuilder &p, uint32_t copy, uint32_t x, uint32_t y) {
    uint32_t half = arena(p, "half", 0, kRowBytes / 2);
    launch(p, copy, x, half);
    launch(p, copy, x, y);
  });
  EXPECT_NE(message.find("out-of-bounds access of global memory: write of 4 B at half+0x80 "
                         "(of 128 B)"),
            std::string::npos)
      << message;
}

} // namespace
