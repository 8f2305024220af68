// cameo.h on the simulator: models, contexts, bindings, state, errors.
// SPDX-License-Identifier: Apache-2.0
#include "runtime/cameo.h"
#include "test_model.h"

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <gtest/gtest.h>
#include <numeric>
#include <thread>
#include <unistd.h>

using namespace payload_test;

namespace {

cameo_device *simulator(uint32_t checks = 0) {
  CAMEO_INIT(cameo_device_options, options);
  options.kind = CAMEO_DEVICE_SIMULATOR;
  options.sim_threads = 2;
  options.sim_checks = checks;
  cameo_device *device = nullptr;
  EXPECT_EQ(cameo_device_create(&options, &device), CAMEO_STATUS_OK) << cameo_last_error();
  return device;
}

class Api : public testing::Test {
protected:
  void SetUp() override {
    device = simulator();
    CAMEO_INIT(cameo_model_options, options);
    options.device = device;
    ASSERT_EQ(cameo_model_load_memory(file.data(), file.size(), &options, &model), CAMEO_STATUS_OK)
        << cameo_last_error();
    ASSERT_EQ(cameo_context_create(model, nullptr, &context), CAMEO_STATUS_OK);
  }
  void TearDown() override {
    // In the wrong order, which is allowed.
    cameo_device_destroy(device);
    cameo_model_destroy(model);
    cameo_context_destroy(context);
  }
  void shape(int64_t rows) {
    int64_t dims[] = {rows, 64};
    ASSERT_EQ(cameo_context_set_input_shape(context, 0, 2, dims), CAMEO_STATUS_OK);
    x.resize(size_t(rows) * 64);
    std::iota(x.begin(), x.end(), 1.0f);
    y.assign(x.size(), 0);
  }
  static cameo_binding host(void *data, uint64_t bytes) {
    return {sizeof(cameo_binding), CAMEO_MEMORY_HOST, 0, data, bytes};
  }
  void bind() {
    cameo_binding bindings[] = {host(x.data(), x.size() * 4), host(&k, 8),
                                host(y.data(), y.size() * 4), host(w, 16), host(s, 16)};
    for (uint32_t i = 0; i < 2; ++i)
      ASSERT_EQ(cameo_context_bind_input(context, i, &bindings[i]), CAMEO_STATUS_OK);
    for (uint32_t i = 0; i < 3; ++i)
      ASSERT_EQ(cameo_context_bind_output(context, i, &bindings[2 + i]), CAMEO_STATUS_OK);
  }
  void expectResult() {
    for (size_t i = 0; i < x.size(); ++i)
      ASSERT_EQ(y[i], i < 64 ? 2 * x[i] : x[i]) << i;
    EXPECT_EQ(w[3], 4);
    EXPECT_EQ(s[0], int64_t(x.size() / 64));
    EXPECT_EQ(s[1], k);
  }

  PayloadFile file = testModel(SIM_TEST_IMAGE);
  cameo_device *device = nullptr;
  cameo_model *model = nullptr;
  cameo_context *context = nullptr;
  std::vector<float> x, y;
  int64_t k = 17, s[2] = {};
  float w[4] = {};
};

} // namespace

TEST_F(Api, TellsOfTheModel) {
  EXPECT_EQ(cameo_model_entry_count(model), 2u);
  EXPECT_STREQ(cameo_model_entry_name(model, 1), "second");
  uint32_t index = 9;
  EXPECT_EQ(cameo_model_find_entry(model, "second", &index), CAMEO_STATUS_OK);
  EXPECT_EQ(index, 1u);
  EXPECT_EQ(cameo_model_find_entry(model, "third", &index), CAMEO_STATUS_NOT_FOUND);
  EXPECT_STREQ(cameo_last_error(), "the model has no entry point 'third'");
  EXPECT_EQ(cameo_model_tensor_count(model, 0, CAMEO_OUTPUT), 3u);
  CAMEO_INIT(cameo_tensor_info, info);
  ASSERT_EQ(cameo_model_tensor_info(model, 0, CAMEO_INPUT, 0, &info), CAMEO_STATUS_OK);
  EXPECT_STREQ(info.name, "x");
  EXPECT_EQ(info.dtype, CAMEO_DTYPE_F32);
  EXPECT_EQ(info.dims[0], -1);
  EXPECT_STREQ(info.symbols[0], "n");
  ASSERT_EQ(cameo_model_tensor_info(model, 0, CAMEO_INPUT, 1, &info), CAMEO_STATUS_OK);
  EXPECT_EQ(info.flags, CAMEO_TENSOR_ON_HOST);
  EXPECT_EQ(cameo_model_tensor_info(model, 0, CAMEO_INPUT, 2, &info),
            CAMEO_STATUS_INVALID_ARGUMENT);
  int64_t smallest[2], best[2], largest[2];
  ASSERT_EQ(cameo_model_profile_shape(model, 0, 0, 0, 2, smallest, best, largest), CAMEO_STATUS_OK);
  EXPECT_EQ(largest[1], 64);
  EXPECT_EQ(best[0], -1);
  const char *json = nullptr;
  ASSERT_EQ(cameo_model_manifest(model, &json, nullptr), CAMEO_STATUS_OK);
  EXPECT_NE(std::string(json).find("test 1.0"), std::string::npos);
}

// A file that is written to or cut off later reaches neither contexts nor runs.
TEST_F(Api, ReadsNoFileOnceLoaded) {
  std::string path = testing::TempDir() + "cut.plan";
  writeBytes(path, file.data(), file.size());
  CAMEO_INIT(cameo_model_options, options);
  options.device = device;
  cameo_model *mapped = nullptr;
  ASSERT_EQ(cameo_model_load(path.c_str(), &options, &mapped), CAMEO_STATUS_OK);
  ASSERT_EQ(truncate(path.c_str(), 100), 0);
  std::memset(file.data(), 0, file.size());
  for (cameo_model *loaded : {mapped, model}) {
    cameo_context_destroy(context);
    context = nullptr;
    ASSERT_EQ(cameo_context_create(loaded, nullptr, &context), CAMEO_STATUS_OK);
    shape(3);
    bind();
    ASSERT_EQ(cameo_context_run(context), CAMEO_STATUS_OK) << cameo_context_error(context);
    expectResult();
    EXPECT_STREQ(cameo_model_entry_name(loaded, 1), "second");
  }
  cameo_model_destroy(mapped);
}

TEST_F(Api, Runs) {
  shape(3);
  bind();
  int64_t dims[2];
  uint32_t rank = 0;
  ASSERT_EQ(cameo_context_get_output_shape(context, 0, 2, dims, &rank), CAMEO_STATUS_OK);
  EXPECT_EQ(rank, 2u);
  EXPECT_EQ(dims[0], 3);
  uint64_t bytes = 0;
  ASSERT_EQ(cameo_context_get_arena_bytes(context, &bytes), CAMEO_STATUS_OK);
  EXPECT_EQ(bytes, 768u);
  ASSERT_EQ(cameo_context_run(context), CAMEO_STATUS_OK) << cameo_context_error(context);
  expectResult();
  // The same again, other values, another host-read value, other shapes, none at all.
  x[5] = 99;
  ASSERT_EQ(cameo_context_run(context), CAMEO_STATUS_OK);
  expectResult();
  k = -4;
  ASSERT_EQ(cameo_context_run(context), CAMEO_STATUS_OK);
  expectResult();
  for (int64_t rows : {7, 1, 0, 100}) {
    shape(rows);
    bind();
    ASSERT_EQ(cameo_context_run(context), CAMEO_STATUS_OK) << cameo_context_error(context);
    if (rows)
      expectResult();
  }
}

TEST_F(Api, ModelsOwnCheck) {
  shape(101);
  bind();
  EXPECT_EQ(cameo_context_run(context), CAMEO_STATUS_OUT_OF_RANGE);
  EXPECT_STREQ(cameo_context_error(context), "input 'x': 101 rows, at most 100");
}

TEST_F(Api, Symbols) {
  x.resize(128);
  y.resize(128);
  bind();
  ASSERT_EQ(cameo_context_set_symbol(context, "n", 2), CAMEO_STATUS_OK);
  int64_t dims[2];
  ASSERT_EQ(cameo_context_get_input_shape(context, 0, 2, dims, nullptr), CAMEO_STATUS_OK);
  EXPECT_EQ(dims[0], 2);
  EXPECT_EQ(cameo_context_run(context), CAMEO_STATUS_OK);
  EXPECT_EQ(cameo_context_set_symbol(context, "m", 2), CAMEO_STATUS_NOT_FOUND);
  EXPECT_EQ(cameo_context_set_symbol(context, "n", -2), CAMEO_STATUS_INVALID_ARGUMENT);
}

TEST_F(Api, MissingThings) {
  EXPECT_EQ(cameo_context_run(context), CAMEO_STATUS_INVALID_ARGUMENT);
  EXPECT_STREQ(cameo_context_error(context),
               "input 'x' has no shape yet; the model takes nx64xf32");
  shape(1);
  EXPECT_EQ(cameo_context_run(context), CAMEO_STATUS_INVALID_ARGUMENT);
  EXPECT_STREQ(cameo_context_error(context),
               "input 'k' is read on the host: bind host memory or set its values");
  ASSERT_EQ(cameo_context_set_input_value(context, 1, &k, 8), CAMEO_STATUS_OK);
  EXPECT_EQ(cameo_context_set_input_value(context, 1, &k, 4), CAMEO_STATUS_INVALID_ARGUMENT);
  EXPECT_EQ(cameo_context_set_input_value(context, 0, &k, 8), CAMEO_STATUS_INVALID_ARGUMENT);
  EXPECT_EQ(cameo_context_run(context), CAMEO_STATUS_INVALID_ARGUMENT);
  EXPECT_STREQ(cameo_context_error(context), "input 'x' is not bound");
  cameo_binding small = host(x.data(), 255);
  ASSERT_EQ(cameo_context_bind_input(context, 0, &small), CAMEO_STATUS_OK);
  EXPECT_EQ(cameo_context_run(context), CAMEO_STATUS_INVALID_ARGUMENT);
  EXPECT_STREQ(cameo_context_error(context), "input 'x': 255 bytes are bound, its shape needs 256");
  cameo_binding all = host(x.data(), 256);
  ASSERT_EQ(cameo_context_bind_input(context, 0, &all), CAMEO_STATUS_OK);
  std::vector<float> y(64, -1);
  cameo_binding short_ = host(y.data(), 255);
  ASSERT_EQ(cameo_context_bind_output(context, 0, &short_), CAMEO_STATUS_OK);
  EXPECT_EQ(cameo_context_run(context), CAMEO_STATUS_INVALID_ARGUMENT);
  EXPECT_STREQ(cameo_context_error(context),
               "output 'y': 255 bytes are bound, its shape needs 256");
  EXPECT_EQ(y[0], -1) << "a run that was refused has written";
  cameo_binding none = host(nullptr, 0);
  ASSERT_EQ(cameo_context_bind_output(context, 0, &none), CAMEO_STATUS_OK);
  // Outputs need no binding.
  cameo_binding enough = host(x.data(), 256);
  ASSERT_EQ(cameo_context_bind_input(context, 0, &enough), CAMEO_STATUS_OK);
  ASSERT_EQ(cameo_context_run(context), CAMEO_STATUS_OK) << cameo_context_error(context);
  void *data = nullptr;
  uint64_t bytes = 0;
  ASSERT_EQ(cameo_context_output_memory(context, 0, &data, &bytes), CAMEO_STATUS_OK);
  EXPECT_EQ(bytes, 256u);
  EXPECT_EQ(static_cast<float *>(data)[2], 2 * x[2]);
}

TEST_F(Api, DeviceMemoryArenaAndState) {
  shape(2);
  bind();
  // On the simulator device memory is host memory.
  auto aligned = [](size_t bytes) { return std::aligned_alloc(256, bytes); };
  float *in = static_cast<float *>(aligned(512)), *out = static_cast<float *>(aligned(512));
  void *arena = aligned(512);
  std::copy(x.begin(), x.end(), in);
  cameo_binding input = {sizeof(cameo_binding), CAMEO_MEMORY_DEVICE, 0, in, 512};
  cameo_binding output = {sizeof(cameo_binding), CAMEO_MEMORY_DEVICE, 0, out, 512};
  ASSERT_EQ(cameo_context_bind_input(context, 0, &input), CAMEO_STATUS_OK);
  ASSERT_EQ(cameo_context_bind_output(context, 0, &output), CAMEO_STATUS_OK);
  ASSERT_EQ(cameo_context_set_arena(context, arena, 511), CAMEO_STATUS_OK);
  EXPECT_EQ(cameo_context_run(context), CAMEO_STATUS_INVALID_ARGUMENT);
  EXPECT_STREQ(cameo_context_error(context), "the arena has 511 bytes; these shapes need 512");
  ASSERT_EQ(cameo_context_set_arena(context, arena, 512), CAMEO_STATUS_OK);
  ASSERT_EQ(cameo_context_set_state(context, 0, 0), CAMEO_STATUS_OK);
  for (int run = 0; run < 3; ++run)
    ASSERT_EQ(cameo_context_run(context), CAMEO_STATUS_OK) << cameo_context_error(context);
  EXPECT_EQ(out[3], 8 * x[3]);
  EXPECT_EQ(in[3], 8 * x[3]);
  EXPECT_EQ(out[64], x[64]);
  EXPECT_EQ(cameo_context_set_state(context, 0, 2), CAMEO_STATUS_INVALID_ARGUMENT);
  // One memory for both: refused.
  output.data = in;
  ASSERT_EQ(cameo_context_bind_output(context, 0, &output), CAMEO_STATUS_OK);
  EXPECT_EQ(cameo_context_run(context), CAMEO_STATUS_INVALID_ARGUMENT);
  EXPECT_TRUE(std::string(cameo_context_error(context)).find("output 'y' and input 'x' overlap") ==
              0);
  input.data = in + 1;
  EXPECT_EQ(cameo_context_bind_input(context, 0, &input), CAMEO_STATUS_INVALID_ARGUMENT);
  std::free(in);
  std::free(out);
  std::free(arena);
}

TEST_F(Api, CallersAllocator) {
  struct Counts {
    int live = 0, all = 0;
  } counts;
  CAMEO_INIT(cameo_context_options, options);
  options.entry = 1;
  options.allocator.user = &counts;
  options.allocator.allocate = [](void *user, uint64_t bytes) {
    ++static_cast<Counts *>(user)->live;
    ++static_cast<Counts *>(user)->all;
    return std::aligned_alloc(256, (bytes + 255) / 256 * 256);
  };
  options.allocator.release = [](void *user, void *memory) {
    --static_cast<Counts *>(user)->live;
    std::free(memory);
  };
  cameo_context_destroy(context);
  ASSERT_EQ(cameo_context_create(model, &options, &context), CAMEO_STATUS_OK);
  shape(4);
  bind();
  ASSERT_EQ(cameo_context_run(context), CAMEO_STATUS_OK) << cameo_context_error(context);
  expectResult();
  EXPECT_GE(counts.all, 3);
  cameo_context_destroy(context);
  context = nullptr;
  EXPECT_EQ(counts.live, 0);
}

TEST_F(Api, Timing) {
  shape(2);
  bind();
  std::vector<std::string> kernels;
  ASSERT_EQ(cameo_context_run_timed(
                context,
                [](void *user, const cameo_launch_timing *timing) {
                  static_cast<std::vector<std::string> *>(user)->push_back(timing->onnx_nodes);
                  EXPECT_GE(timing->duration, 0);
                },
                &kernels),
            CAMEO_STATUS_OK);
  EXPECT_EQ(kernels, (std::vector<std::string>{"node_copy", "node_copy", "node_scale"}));
  expectResult();
}

TEST_F(Api, ContextsOfManyThreads) {
  std::vector<std::thread> threads;
  for (int t = 0; t < 8; ++t)
    threads.emplace_back([this, t] {
      cameo_context *own = nullptr;
      ASSERT_EQ(cameo_context_create(model, nullptr, &own), CAMEO_STATUS_OK);
      int64_t rows = 1 + t, key = t, dims[] = {rows, 64};
      std::vector<float> in(size_t(rows) * 64, float(t)), out(in.size());
      cameo_binding a = host(in.data(), in.size() * 4), b = host(&key, 8);
      cameo_binding c = host(out.data(), out.size() * 4);
      EXPECT_EQ(cameo_context_set_input_shape(own, 0, 2, dims), CAMEO_STATUS_OK);
      cameo_context_bind_input(own, 0, &a);
      cameo_context_bind_input(own, 1, &b);
      cameo_context_bind_output(own, 0, &c);
      for (int run = 0; run < 20; ++run)
        EXPECT_EQ(cameo_context_run(own), CAMEO_STATUS_OK) << cameo_context_error(own);
      EXPECT_EQ(out[0], 2.0f * float(t));
      EXPECT_EQ(out.back(), rows > 1 ? float(t) : 2.0f * float(t));
      cameo_context_destroy(own);
    });
  for (std::thread &thread : threads)
    thread.join();
}

TEST_F(Api, RefusesWhatHasNoMeaning) {
  cameo_context *other = nullptr;
  CAMEO_INIT(cameo_context_options, reserved);
  reserved.reserved = 1;
  EXPECT_EQ(cameo_context_create(model, &reserved, &other), CAMEO_STATUS_UNSUPPORTED);
  EXPECT_STREQ(cameo_last_error(), "cameo_context_options: reserved is 1; it must be 0");
  CAMEO_INIT(cameo_context_options, arena);
  arena.arena_bytes = 4096;
  EXPECT_EQ(cameo_context_create(model, &arena, &other), CAMEO_STATUS_INVALID_ARGUMENT);
  EXPECT_EQ(cameo_context_set_arena(context, nullptr, 4096), CAMEO_STATUS_INVALID_ARGUMENT);
  CAMEO_INIT(cameo_context_options, allocator);
  allocator.allocator.allocate = [](void *, uint64_t) -> void * { return nullptr; };
  EXPECT_EQ(cameo_context_create(model, &allocator, &other), CAMEO_STATUS_INVALID_ARGUMENT);
  cameo_binding binding = host(&k, 8);
  binding.reserved = 7;
  EXPECT_EQ(cameo_context_bind_input(context, 1, &binding), CAMEO_STATUS_UNSUPPORTED);
  EXPECT_STREQ(cameo_last_error(), "cameo_binding: reserved is 7; it must be 0");
  EXPECT_EQ(other, nullptr);
}

TEST_F(Api, StructsOfOtherVersions) {
  // An older caller's structure ends earlier.
  struct {
    size_t struct_size;
    uint32_t entry;
  } older = {12, 1};
  cameo_context *other = nullptr;
  EXPECT_EQ(cameo_context_create(model, reinterpret_cast<cameo_context_options *>(&older), &other),
            CAMEO_STATUS_OK);
  cameo_context_destroy(other);
  // A newer one's fields of value zero change nothing, others are refused.
  struct {
    cameo_context_options known;
    uint64_t added;
  } newer = {};
  newer.known.struct_size = sizeof newer;
  EXPECT_EQ(cameo_context_create(model, &newer.known, &other), CAMEO_STATUS_OK);
  cameo_context_destroy(other);
  newer.added = 1;
  EXPECT_EQ(cameo_context_create(model, &newer.known, &other), CAMEO_STATUS_UNSUPPORTED);
  cameo_context_options none = {};
  EXPECT_EQ(cameo_context_create(model, &none, &other), CAMEO_STATUS_INVALID_ARGUMENT);
}

TEST_F(Api, NullsAreErrors) {
  EXPECT_EQ(cameo_model_load(nullptr, nullptr, &model), CAMEO_STATUS_INVALID_ARGUMENT);
  EXPECT_EQ(cameo_context_run(nullptr), CAMEO_STATUS_INVALID_ARGUMENT);
  EXPECT_EQ(cameo_context_bind_input(context, 0, nullptr), CAMEO_STATUS_INVALID_ARGUMENT);
  EXPECT_STREQ(cameo_context_error(nullptr), "");
  cameo_context_destroy(nullptr);
  cameo_model_destroy(nullptr);
  cameo_device_destroy(nullptr);
}

TEST(ApiModel, WithoutDevice) {
  PayloadFile file = testModel(SIM_TEST_IMAGE);
  cameo_model *model = nullptr;
  ASSERT_EQ(cameo_model_load_memory(file.data(), file.size(), nullptr, &model), CAMEO_STATUS_OK);
  EXPECT_EQ(cameo_model_tensor_count(model, 0, CAMEO_INPUT), 2u);
  cameo_context *context = nullptr;
  EXPECT_EQ(cameo_context_create(model, nullptr, &context), CAMEO_STATUS_INVALID_ARGUMENT);
  cameo_model_destroy(model);
}

TEST(ApiModel, NoDeviceIsChosenUnasked) {
  CAMEO_INIT(cameo_device_options, options);
  cameo_device *device = nullptr;
  EXPECT_EQ(cameo_device_create(&options, &device), CAMEO_STATUS_INVALID_ARGUMENT);
}

TEST(ApiModel, ChecksNeedACheckedImage) {
  cameo_device *device = simulator(CAMEO_SIM_CHECK_BOUNDS);
  CAMEO_INIT(cameo_model_options, options);
  options.device = device;
  cameo_model *model = nullptr;
  PayloadFile plain = testModel(SIM_TEST_IMAGE);
  EXPECT_EQ(cameo_model_load_memory(plain.data(), plain.size(), &options, &model),
            CAMEO_STATUS_NO_CODE);
  EXPECT_STREQ(cameo_last_error(), "the model's simulator image was built without checks; compile "
                                   "it with --sim-checks");
  PayloadFile checked = testModel(SIM_TEST_CHECKED_IMAGE, CAMEO_SIM_IMAGE_CHECKED);
  EXPECT_EQ(cameo_model_load_memory(checked.data(), checked.size(), &options, &model),
            CAMEO_STATUS_OK)
      << cameo_last_error();
  cameo_model_destroy(model);
  options.arch = 90;
  EXPECT_EQ(cameo_model_load_memory(checked.data(), checked.size(), &options, &model),
            CAMEO_STATUS_NO_CODE);
  cameo_device_destroy(device);
}
