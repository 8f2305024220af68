// cameo.h, the calls that other tests do not need: versions, devices, streams, asynchronous runs;
// and what every call answers to arguments that make no sense.
// SPDX-License-Identifier: Apache-2.0
#include "cuda_test_model.h"
#include "fake_cuda_entry.h"
#include "runtime/cameo.h"
#include "test_model.h"

#include <gtest/gtest.h>

#include <cstdlib>
#include <cstring>
#include <set>
#include <thread>
#include <vector>

using namespace payload_test;

namespace {

// A device of one kind with a model and a context.
class Calls : public testing::Test {
protected:
  void SetUp() override {
    fakecuda::reset();
    cuda_test::registerKernels();
  }
  void TearDown() override {
    cameo_context_destroy(context);
    cameo_model_destroy(model);
    cameo_device_destroy(device);
    EXPECT_TRUE(fakecuda::live().none()) << fakecuda::live().str();
    EXPECT_EQ(fakecuda::misuses(), std::vector<std::string>());
  }
  cameo_status createDevice(cameo_device_kind kind, int ordinal = 0) {
    CAMEO_INIT(cameo_device_options, options);
    options.kind = kind;
    options.ordinal = ordinal;
    options.sim_threads = 1;
    return cameo_device_create(&options, &device);
  }
  void open(cameo_device_kind kind, const cameo_context_options *options = nullptr) {
    ASSERT_EQ(createDevice(kind), CAMEO_STATUS_OK) << cameo_last_error();
    file = kind == CAMEO_DEVICE_CUDA ? cuda_test::makeModel() : testModel(SIM_TEST_IMAGE);
    CAMEO_INIT(cameo_model_options, modelOptions);
    modelOptions.device = device;
    ASSERT_EQ(cameo_model_load_memory(file.data(), file.size(), &modelOptions, &model),
              CAMEO_STATUS_OK)
        << cameo_last_error();
    ASSERT_EQ(cameo_context_create(model, options, &context), CAMEO_STATUS_OK)
        << cameo_last_error();
  }
  static cameo_binding binding(cameo_memory memory, void *data, uint64_t bytes) {
    return {sizeof(cameo_binding), memory, 0, data, bytes};
  }
  // Of the CUDA model: y = 2 x + i.
  void bindPinned(int64_t count) {
    for (float **memory : {&x, &y})
      ASSERT_EQ(cameo_device_allocate(device, CAMEO_MEMORY_HOST, count * 4,
                                      reinterpret_cast<void **>(memory)),
                CAMEO_STATUS_OK);
    std::fill(x, x + count, 1.0f);
    std::fill(y, y + count, -1.0f);
    cameo_binding in = binding(CAMEO_MEMORY_HOST, x, count * 4);
    cameo_binding out = binding(CAMEO_MEMORY_HOST, y, count * 4);
    ASSERT_EQ(cameo_context_set_input_shape(context, 0, 1, &count), CAMEO_STATUS_OK);
    ASSERT_EQ(cameo_context_bind_input(context, 0, &in), CAMEO_STATUS_OK);
    ASSERT_EQ(cameo_context_bind_output(context, 0, &out), CAMEO_STATUS_OK);
  }
  void freePinned() {
    for (float *memory : {x, y})
      EXPECT_EQ(cameo_device_release(device, CAMEO_MEMORY_HOST, memory), CAMEO_STATUS_OK);
  }

  PayloadFile file{Bytes()};
  cameo_device *device = nullptr;
  cameo_model *model = nullptr;
  cameo_context *context = nullptr;
  float *x = nullptr, *y = nullptr;
};

// The program's own context and stream, as one that shares the GPU has them.
struct CallersStream {
  CUcontext context = nullptr;
  CUstream stream = nullptr;
  CallersStream() {
    cuInit(0);
    cuDevicePrimaryCtxRetain(&context, 0);
    cuCtxPushCurrent_v2(context);
    cuStreamCreate(&stream, 0);
  }
  ~CallersStream() {
    cuStreamDestroy_v2(stream);
    cuCtxPopCurrent_v2(nullptr);
    cuDevicePrimaryCtxRelease_v2(0);
  }
};

} // namespace

TEST(ApiVersions, AreThoseOfTheHeader) {
  EXPECT_EQ(cameo_api_version(), CAMEO_API_VERSION);
  uint32_t oldest = 0, newest = 0;
  cameo_payload_versions(&oldest, &newest);
  EXPECT_EQ(newest, CAMEO_PAYLOAD_VERSION);
  EXPECT_GE(newest, oldest);
  EXPECT_GE(oldest, 1u);
  cameo_payload_versions(nullptr, nullptr);
  EXPECT_EQ(std::string(cameo_version()).find_first_not_of("0123456789."), std::string::npos);
}

TEST(ApiVersions, EveryStatusAndTypeHasAName) {
  std::set<std::string> names;
  for (int status = CAMEO_STATUS_OK; status <= CAMEO_STATUS_NOT_KNOWN_YET; ++status)
    names.insert(cameo_status_name(cameo_status(status)));
  EXPECT_EQ(names.size(), size_t(CAMEO_STATUS_NOT_KNOWN_YET) + 1);
  EXPECT_EQ(names.count("?"), 0u);
  EXPECT_STREQ(cameo_status_name(cameo_status(17)), "?");
  names.clear();
  for (int dtype = CAMEO_DTYPE_F32; dtype <= CAMEO_DTYPE_I2; ++dtype) {
    names.insert(cameo_dtype_name(cameo_dtype(dtype)));
    EXPECT_EQ(cameo_dtype_bits(cameo_dtype(dtype)) == 0, dtype == CAMEO_DTYPE_STRING) << dtype;
  }
  EXPECT_EQ(names.size(), size_t(CAMEO_DTYPE_I2));
  EXPECT_STREQ(cameo_dtype_name(CAMEO_DTYPE_BF16), "bf16");
  EXPECT_EQ(cameo_dtype_bits(CAMEO_DTYPE_I4), 4u);
  EXPECT_EQ(cameo_dtype_bits(CAMEO_DTYPE_F8E4M3FN), 8u);
  EXPECT_EQ(cameo_dtype_bits(CAMEO_DTYPE_COMPLEX128), 128u);
  EXPECT_EQ(cameo_dtype_bits(cameo_dtype(31)), 0u);
  EXPECT_STREQ(cameo_dtype_name(cameo_dtype(31)), "?");
}

TEST_F(Calls, CudaDevices) {
  fakecuda::setDevices({{"GPU A", 8, 6, size_t(1) << 30}, {"GPU B", 9, 0, size_t(2) << 30}});
  uint32_t count = 0;
  ASSERT_EQ(cameo_cuda_device_count(&count), CAMEO_STATUS_OK) << cameo_last_error();
  EXPECT_EQ(count, 2u);
  EXPECT_EQ(createDevice(CAMEO_DEVICE_CUDA, 2), CAMEO_STATUS_INVALID_ARGUMENT);
  EXPECT_EQ(device, nullptr);
  ASSERT_EQ(createDevice(CAMEO_DEVICE_CUDA, 1), CAMEO_STATUS_OK) << cameo_last_error();
  CAMEO_INIT(cameo_device_info, info);
  ASSERT_EQ(cameo_device_get_info(device, &info), CAMEO_STATUS_OK);
  EXPECT_EQ(info.kind, CAMEO_DEVICE_CUDA);
  EXPECT_EQ(info.ordinal, 1);
  EXPECT_STREQ(info.name, "GPU B");
  EXPECT_EQ(info.arch, 90u);
  EXPECT_EQ(info.driver_version, 13000u);
  EXPECT_EQ(info.total_memory, uint64_t(2) << 30);
}

TEST_F(Calls, FailingDriversAreTold) {
  uint32_t count = 77;
  fakecuda::failCall("cuInit", 1, 999);
  EXPECT_EQ(cameo_cuda_device_count(&count), CAMEO_STATUS_DRIVER);
  EXPECT_EQ(count, 77u) << "results are left as they were";
  fakecuda::setDevices({});
  EXPECT_EQ(cameo_cuda_device_count(&count), CAMEO_STATUS_DRIVER);
  EXPECT_EQ(createDevice(CAMEO_DEVICE_CUDA), CAMEO_STATUS_DRIVER);
  EXPECT_EQ(device, nullptr);
}

TEST_F(Calls, SimulatorInfoAndMemory) {
  open(CAMEO_DEVICE_SIMULATOR);
  CAMEO_INIT(cameo_device_info, info);
  ASSERT_EQ(cameo_device_get_info(device, &info), CAMEO_STATUS_OK);
  EXPECT_EQ(info.kind, CAMEO_DEVICE_SIMULATOR);
  EXPECT_EQ(info.arch, 0u);
  EXPECT_EQ(info.driver_version, 0u);
  uint64_t available = 0, total = 0;
  ASSERT_EQ(cameo_device_memory(device, &available, &total), CAMEO_STATUS_OK);
  EXPECT_GT(available, 0u);
  EXPECT_GE(total, available);
}

TEST_F(Calls, MemoryOfTheGpu) {
  open(CAMEO_DEVICE_CUDA);
  uint64_t available = 0, total = 0;
  ASSERT_EQ(cameo_device_memory(device, &available, &total), CAMEO_STATUS_OK);
  EXPECT_EQ(total, uint64_t(1) << 30);
  constexpr uint64_t block = 2 << 20; // what the driver takes for the weights
  EXPECT_EQ(available, total - fakecuda::DeviceSpec().contextBytes - block);
}

TEST_F(Calls, TensorsAndProfiles) {
  open(CAMEO_DEVICE_SIMULATOR);
  uint32_t index = 77;
  EXPECT_EQ(cameo_model_find_tensor(model, 0, CAMEO_OUTPUT, "s", &index), CAMEO_STATUS_OK);
  EXPECT_EQ(index, 2u);
  EXPECT_EQ(cameo_model_find_tensor(model, 0, CAMEO_INPUT, "s", &index), CAMEO_STATUS_NOT_FOUND);
  EXPECT_STREQ(cameo_last_error(), "the model has no input 's'");
  EXPECT_EQ(index, 2u);
  EXPECT_EQ(cameo_model_profile_count(model, 1), 1u);
  EXPECT_EQ(cameo_model_profile_count(model, 2), 0u);
  EXPECT_EQ(cameo_model_tensor_count(model, 2, CAMEO_INPUT), 0u);
  EXPECT_STREQ(cameo_model_entry_name(model, 2), "");
  uint64_t bytes = 77;
  EXPECT_EQ(cameo_context_get_bytes(context, CAMEO_INPUT, 0, &bytes),
            CAMEO_STATUS_INVALID_ARGUMENT);
  EXPECT_EQ(bytes, 77u) << "its shape is open";
  ASSERT_EQ(cameo_context_set_symbol(context, "n", 3), CAMEO_STATUS_OK);
  ASSERT_EQ(cameo_context_get_bytes(context, CAMEO_INPUT, 0, &bytes), CAMEO_STATUS_OK);
  EXPECT_EQ(bytes, 3 * 64 * 4u);
  int64_t k = 1;
  ASSERT_EQ(cameo_context_set_input_value(context, 1, &k, 8), CAMEO_STATUS_OK);
  ASSERT_EQ(cameo_context_get_bytes(context, CAMEO_OUTPUT, 2, &bytes), CAMEO_STATUS_OK);
  EXPECT_EQ(bytes, 16u);
}

// What is not there yet says so.
TEST_F(Calls, OtherProfilesAndFlags) {
  open(CAMEO_DEVICE_SIMULATOR);
  cameo_context *other = nullptr;
  CAMEO_INIT(cameo_context_options, options);
  options.profile = 1;
  EXPECT_EQ(cameo_context_create(model, &options, &other), CAMEO_STATUS_INVALID_ARGUMENT);
  EXPECT_STREQ(cameo_last_error(), "profile 1: the entry point has 1");
  options.profile = 0;
  options.flags = 8;
  EXPECT_EQ(cameo_context_create(model, &options, &other), CAMEO_STATUS_UNSUPPORTED);
  EXPECT_STREQ(cameo_last_error(), "unknown context flags 0x8");
  options.flags = 0;
  options.entry = 2;
  EXPECT_EQ(cameo_context_create(model, &options, &other), CAMEO_STATUS_INVALID_ARGUMENT);
  EXPECT_EQ(other, nullptr);
}

// Work goes to the caller's stream, and enqueue does not wait for it.
TEST_F(Calls, EnqueueOnTheCallersStream) {
  open(CAMEO_DEVICE_CUDA);
  CallersStream caller;
  void *stream = nullptr;
  ASSERT_EQ(cameo_context_get_stream(context, &stream), CAMEO_STATUS_OK);
  EXPECT_NE(stream, nullptr);
  EXPECT_NE(stream, caller.stream);
  ASSERT_EQ(cameo_context_set_stream(context, caller.stream), CAMEO_STATUS_OK);
  ASSERT_EQ(cameo_context_get_stream(context, &stream), CAMEO_STATUS_OK);
  EXPECT_EQ(stream, caller.stream);
  bindPinned(4);
  for (int run = 0; run < 3; ++run) { // the second is recorded, the third is replayed
    std::fill(y, y + 4, -1.0f);
    ASSERT_EQ(cameo_context_enqueue(context), CAMEO_STATUS_OK) << cameo_context_error(context);
    EXPECT_EQ(y[1], -1) << "run " << run << " was waited for";
    ASSERT_EQ(cuStreamSynchronize(caller.stream), 0);
    EXPECT_EQ(y[1], 3);
  }
  ASSERT_EQ(cameo_context_enqueue(context), CAMEO_STATUS_OK);
  ASSERT_EQ(cameo_context_synchronize(context), CAMEO_STATUS_OK);
  EXPECT_EQ(y[3], 5);
  ASSERT_EQ(cameo_context_set_stream(context, nullptr), CAMEO_STATUS_OK);
  ASSERT_EQ(cameo_context_get_stream(context, &stream), CAMEO_STATUS_OK);
  EXPECT_NE(stream, caller.stream);
  y[3] = -1;
  ASSERT_EQ(cameo_context_run(context), CAMEO_STATUS_OK);
  EXPECT_EQ(y[3], 5);
  cameo_context_destroy(context);
  context = nullptr;
  freePinned();
}

TEST_F(Calls, StreamOfTheOptionsAndNoGraph) {
  CallersStream caller;
  CAMEO_INIT(cameo_context_options, options);
  options.stream = caller.stream;
  options.flags = CAMEO_CONTEXT_NO_GRAPH;
  open(CAMEO_DEVICE_CUDA, &options);
  bindPinned(4);
  for (int run = 0; run < 4; ++run)
    ASSERT_EQ(cameo_context_run(context), CAMEO_STATUS_OK) << cameo_context_error(context);
  EXPECT_EQ(y[2], 4);
  EXPECT_EQ(fakecuda::callCount("cuStreamBeginCapture_v2"), 0);
  cameo_context_destroy(context);
  context = nullptr;
  freePinned();
}

TEST_F(Calls, MisalignedMemory) {
  open(CAMEO_DEVICE_SIMULATOR);
  char *memory = static_cast<char *>(std::aligned_alloc(256, 1024));
  auto message = [&](const char *format, size_t offset) {
    char text[200];
    std::snprintf(text, sizeof text, format, (unsigned long long)(memory + offset));
    return std::string(text);
  };
  cameo_binding at4 = binding(CAMEO_MEMORY_DEVICE, memory + 4, 256);
  EXPECT_EQ(cameo_context_bind_input(context, 0, &at4), CAMEO_STATUS_INVALID_ARGUMENT);
  EXPECT_EQ(cameo_context_error(context),
            message("input 'x': the device memory at 0x%llx is not aligned to 16 bytes", 4));
  EXPECT_EQ(cameo_context_bind_output(context, 1, &at4), CAMEO_STATUS_INVALID_ARGUMENT);
  EXPECT_EQ(cameo_context_error(context),
            message("output 'w': the device memory at 0x%llx is not aligned to 16 bytes", 4));
  cameo_binding at16 = binding(CAMEO_MEMORY_DEVICE, memory + 16, 256);
  EXPECT_EQ(cameo_context_bind_input(context, 0, &at16), CAMEO_STATUS_OK);
  cameo_binding host = binding(CAMEO_MEMORY_HOST, memory + 1, 256);
  EXPECT_EQ(cameo_context_bind_input(context, 0, &host), CAMEO_STATUS_OK) << "copied anyway";
  EXPECT_EQ(cameo_context_set_arena(context, memory + 128, 512), CAMEO_STATUS_INVALID_ARGUMENT);
  std::string arena =
      message("the arena: the device memory at 0x%llx is not aligned to 256 bytes", 128);
  EXPECT_EQ(cameo_context_error(context), arena);
  cameo_context *other = nullptr;
  CAMEO_INIT(cameo_context_options, options);
  options.arena = memory + 128;
  options.arena_bytes = 512;
  EXPECT_EQ(cameo_context_create(model, &options, &other), CAMEO_STATUS_INVALID_ARGUMENT);
  EXPECT_EQ(cameo_last_error(), arena);
  std::free(memory);
}

TEST_F(Calls, MisalignedAllocator) {
  static char *memory;
  static int released;
  memory = static_cast<char *>(std::aligned_alloc(256, 1 << 16));
  released = 0;
  CAMEO_INIT(cameo_context_options, options);
  options.allocator.allocate = [](void *, uint64_t) -> void * { return memory + 64; };
  options.allocator.release = [](void *, void *given) { released += given == memory + 64; };
  open(CAMEO_DEVICE_SIMULATOR, &options);
  int64_t dims[] = {1, 64}, k = 1;
  float values[64] = {};
  cameo_binding in = binding(CAMEO_MEMORY_HOST, values, 256);
  ASSERT_EQ(cameo_context_set_input_shape(context, 0, 2, dims), CAMEO_STATUS_OK);
  ASSERT_EQ(cameo_context_set_input_value(context, 1, &k, 8), CAMEO_STATUS_OK);
  ASSERT_EQ(cameo_context_bind_input(context, 0, &in), CAMEO_STATUS_OK);
  EXPECT_EQ(cameo_context_run(context), CAMEO_STATUS_INVALID_ARGUMENT);
  EXPECT_NE(std::string(cameo_context_error(context)).find("is not aligned to 256 bytes"),
            std::string::npos)
      << cameo_context_error(context);
  EXPECT_EQ(released, 1);
  cameo_context_destroy(context);
  context = nullptr;
  EXPECT_EQ(released, 1);
  std::free(memory);
}

TEST_F(Calls, FilesThatAreNoModels) {
  cameo_model *none = nullptr;
  EXPECT_EQ(cameo_model_load("/nowhere/model", nullptr, &none), CAMEO_STATUS_NOT_FOUND);
  EXPECT_EQ(cameo_model_load("/", nullptr, &none), CAMEO_STATUS_IO);
  EXPECT_EQ(cameo_model_load("/proc/self/exe", nullptr, &none), CAMEO_STATUS_NOT_A_MODEL);
  EXPECT_EQ(cameo_model_load_self(nullptr, &none), CAMEO_STATUS_NOT_A_MODEL);
  EXPECT_EQ(none, nullptr);
}

// A model of which something is missing, or which has something behind it, is told from another file.
TEST_F(Calls, DamagedFilesAreModels) {
  PayloadFile whole = testModel(SIM_TEST_IMAGE);
  cameo_model *none = nullptr;
  auto load = [&](size_t size) {
    return cameo_model_load_memory(whole.data(), size, nullptr, &none);
  };
  EXPECT_EQ(load(whole.size() - 1), CAMEO_STATUS_CORRUPT);
  EXPECT_STREQ(cameo_last_error(), "damaged model file: it does not end in 'CAMEOEND'; was "
                                   "something cut off or appended?");
  EXPECT_EQ(load(whole.size() / 2), CAMEO_STATUS_CORRUPT);
  EXPECT_EQ(load(7), CAMEO_STATUS_NOT_A_MODEL);
  std::memset(whole.data(), 'x', 8);
  EXPECT_EQ(load(whole.size() - 1), CAMEO_STATUS_NOT_A_MODEL);
  EXPECT_STREQ(cameo_last_error(), "not a model file: it does not end in 'CAMEOEND'");
  EXPECT_EQ(none, nullptr);
}

TEST_F(Calls, MemoryForBindings) {
  for (cameo_device_kind kind : {CAMEO_DEVICE_SIMULATOR, CAMEO_DEVICE_CUDA}) {
    ASSERT_EQ(createDevice(kind), CAMEO_STATUS_OK) << cameo_last_error();
    void *there = nullptr, *other = nullptr, *here = nullptr;
    constexpr uint64_t bytes = 1000;
    ASSERT_EQ(cameo_device_allocate(device, CAMEO_MEMORY_DEVICE, bytes, &there), CAMEO_STATUS_OK);
    ASSERT_EQ(cameo_device_allocate(device, CAMEO_MEMORY_DEVICE, bytes, &other), CAMEO_STATUS_OK);
    ASSERT_EQ(cameo_device_allocate(device, CAMEO_MEMORY_HOST, bytes, &here), CAMEO_STATUS_OK);
    EXPECT_EQ(reinterpret_cast<uintptr_t>(there) % 256, 0u);
    std::string text(bytes, 'a');
    text[999] = 'z';
    auto copy = [&](void *to, cameo_memory toMemory, const void *from, cameo_memory fromMemory) {
      EXPECT_EQ(cameo_device_copy(device, to, toMemory, from, fromMemory, bytes), CAMEO_STATUS_OK)
          << cameo_last_error();
    };
    copy(here, CAMEO_MEMORY_HOST, text.data(), CAMEO_MEMORY_HOST);
    copy(there, CAMEO_MEMORY_DEVICE, here, CAMEO_MEMORY_HOST);
    copy(other, CAMEO_MEMORY_DEVICE, there, CAMEO_MEMORY_DEVICE);
    std::memset(here, 0, bytes);
    copy(here, CAMEO_MEMORY_HOST, other, CAMEO_MEMORY_DEVICE);
    EXPECT_EQ(std::string(static_cast<char *>(here), bytes), text);
    auto unknown = cameo_memory(2);
    EXPECT_EQ(cameo_device_allocate(device, unknown, bytes, &there), CAMEO_STATUS_INVALID_ARGUMENT);
    EXPECT_EQ(cameo_device_release(device, unknown, there), CAMEO_STATUS_INVALID_ARGUMENT);
    EXPECT_EQ(cameo_device_copy(device, there, unknown, here, CAMEO_MEMORY_HOST, 1),
              CAMEO_STATUS_INVALID_ARGUMENT);
    EXPECT_STREQ(cameo_last_error(), "memory kind 2 is unknown");
    EXPECT_EQ(
        cameo_device_copy(device, nullptr, CAMEO_MEMORY_HOST, nullptr, CAMEO_MEMORY_DEVICE, 0),
        CAMEO_STATUS_OK);
    EXPECT_EQ(cameo_device_release(device, CAMEO_MEMORY_DEVICE, nullptr), CAMEO_STATUS_OK);
    EXPECT_EQ(cameo_device_release(device, CAMEO_MEMORY_HOST, there),
              CAMEO_STATUS_INVALID_ARGUMENT);
    EXPECT_EQ(cameo_device_release(device, CAMEO_MEMORY_HOST, &kind),
              CAMEO_STATUS_INVALID_ARGUMENT);
    EXPECT_EQ(cameo_device_release(device, CAMEO_MEMORY_DEVICE, there), CAMEO_STATUS_OK);
    EXPECT_EQ(cameo_device_release(device, CAMEO_MEMORY_DEVICE, there),
              CAMEO_STATUS_INVALID_ARGUMENT);
    EXPECT_EQ(cameo_device_release(device, CAMEO_MEMORY_DEVICE, other), CAMEO_STATUS_OK);
    EXPECT_EQ(cameo_device_release(device, CAMEO_MEMORY_HOST, here), CAMEO_STATUS_OK);
    cameo_device_destroy(device);
    device = nullptr;
  }
}

// Memory of the device that a run writes is copied after the run, which nobody has waited for.
TEST_F(Calls, CopiesComeAfterRuns) {
  open(CAMEO_DEVICE_CUDA);
  constexpr int64_t count = 4;
  void *in = nullptr, *out = nullptr;
  ASSERT_EQ(cameo_device_allocate(device, CAMEO_MEMORY_DEVICE, count * 4, &in), CAMEO_STATUS_OK);
  ASSERT_EQ(cameo_device_allocate(device, CAMEO_MEMORY_DEVICE, count * 4, &out), CAMEO_STATUS_OK);
  float values[count] = {1, 1, 1, 1};
  ASSERT_EQ(
      cameo_device_copy(device, in, CAMEO_MEMORY_DEVICE, values, CAMEO_MEMORY_HOST, count * 4),
      CAMEO_STATUS_OK);
  cameo_binding input = binding(CAMEO_MEMORY_DEVICE, in, count * 4);
  cameo_binding output = binding(CAMEO_MEMORY_DEVICE, out, count * 4);
  ASSERT_EQ(cameo_context_set_input_shape(context, 0, 1, &count), CAMEO_STATUS_OK);
  ASSERT_EQ(cameo_context_bind_input(context, 0, &input), CAMEO_STATUS_OK);
  ASSERT_EQ(cameo_context_bind_output(context, 0, &output), CAMEO_STATUS_OK);
  ASSERT_EQ(cameo_context_enqueue(context), CAMEO_STATUS_OK) << cameo_context_error(context);
  ASSERT_EQ(
      cameo_device_copy(device, values, CAMEO_MEMORY_HOST, out, CAMEO_MEMORY_DEVICE, count * 4),
      CAMEO_STATUS_OK);
  EXPECT_EQ(values[3], 5);
  cameo_context_destroy(context);
  context = nullptr;
  EXPECT_EQ(cameo_device_release(device, CAMEO_MEMORY_DEVICE, in), CAMEO_STATUS_OK);
  EXPECT_EQ(cameo_device_release(device, CAMEO_MEMORY_DEVICE, out), CAMEO_STATUS_OK);
}

TEST_F(Calls, CompletionIsAskedForAndTold) {
  open(CAMEO_DEVICE_CUDA);
  CallersStream caller;
  ASSERT_EQ(cameo_context_set_stream(context, caller.stream), CAMEO_STATUS_OK);
  bindPinned(4);
  int32_t done = -1;
  int told = 0;
  auto callback = [](void *user) { ++*static_cast<int *>(user); };
  ASSERT_EQ(cameo_context_query(context, &done), CAMEO_STATUS_OK);
  EXPECT_EQ(done, 1) << "nothing was enqueued";
  ASSERT_EQ(cameo_context_enqueue(context), CAMEO_STATUS_OK) << cameo_context_error(context);
  ASSERT_EQ(cameo_context_query(context, &done), CAMEO_STATUS_OK);
  EXPECT_EQ(done, 0);
  ASSERT_EQ(cameo_context_notify(context, callback, &told), CAMEO_STATUS_OK);
  EXPECT_EQ(told, 0);
  ASSERT_EQ(cuStreamSynchronize(caller.stream), 0);
  EXPECT_EQ(told, 1);
  ASSERT_EQ(cameo_context_query(context, &done), CAMEO_STATUS_OK);
  EXPECT_EQ(done, 1);
  ASSERT_EQ(cameo_context_notify(context, callback, &told), CAMEO_STATUS_OK);
  EXPECT_EQ(told, 2) << "at once";
  cameo_context_destroy(context);
  context = nullptr;
  freePinned();
}

TEST_F(Calls, TheRankIsWrittenWithoutRoom) {
  open(CAMEO_DEVICE_SIMULATOR);
  int64_t dims[2] = {3, 64};
  ASSERT_EQ(cameo_context_set_input_shape(context, 0, 2, dims), CAMEO_STATUS_OK);
  uint32_t rank = 77;
  int64_t sizes[1] = {-7};
  EXPECT_EQ(cameo_context_get_input_shape(context, 0, 0, sizes, &rank), CAMEO_STATUS_OK);
  EXPECT_EQ(rank, 2u);
  EXPECT_EQ(sizes[0], -7);
  rank = 77;
  EXPECT_EQ(cameo_context_get_input_shape(context, 0, 1, sizes, &rank),
            CAMEO_STATUS_INVALID_ARGUMENT);
  EXPECT_STREQ(cameo_context_error(context), "room for 1 sizes; the shape has 2");
  EXPECT_EQ(rank, 2u) << "who has not enough room is told how much it takes";
}

// A context that is in use, by the call around a callback or by another thread, is left alone.
TEST_F(Calls, AContextInUseIsBusy) {
  open(CAMEO_DEVICE_CUDA);
  bindPinned(4);
  struct Seen {
    cameo_context *context;
    std::vector<cameo_status> statuses;
  } seen = {context, {}};
  auto callback = [](void *user, const cameo_launch_timing *) {
    auto &seen = *static_cast<Seen *>(user);
    uint64_t bytes = 0;
    for (auto call : {cameo_context_enqueue, cameo_context_synchronize, cameo_context_run})
      seen.statuses.push_back(call(seen.context));
    std::thread([&] {
      seen.statuses.push_back(cameo_context_get_bytes(seen.context, CAMEO_INPUT, 0, &bytes));
      EXPECT_STREQ(cameo_last_error(),
                   "cameo_context_get_bytes: the context is in use by another call");
    }).join();
  };
  ASSERT_EQ(cameo_context_run_timed(context, callback, &seen), CAMEO_STATUS_OK)
      << cameo_context_error(context);
  EXPECT_EQ(seen.statuses, std::vector<cameo_status>(8, CAMEO_STATUS_BUSY)) << "of two launches";
  EXPECT_STREQ(cameo_context_error(context), "");
  EXPECT_EQ(cameo_context_run(context), CAMEO_STATUS_OK);
  cameo_context_destroy(context);
  context = nullptr;
  freePinned();
}

// Null and numbers out of range, for every call that returns a status.
// Counts are checked before anything is read by them, and ints before they are taken for what they might be.
TEST_F(Calls, NumbersOutOfRangeAreErrors) {
  ASSERT_NO_FATAL_FAILURE(open(CAMEO_DEVICE_SIMULATOR));
  int64_t dims[2] = {1, 1};
  EXPECT_EQ(cameo_context_set_input_shape(context, 0, UINT32_MAX, dims),
            CAMEO_STATUS_INVALID_ARGUMENT);
  EXPECT_NE(std::string(cameo_last_error()).find("rank 4294967295"), std::string::npos);
  CAMEO_INIT(cameo_model_options, options);
  cameo_model *none = nullptr;
  EXPECT_EQ(cameo_model_load_memory(file.data(), SIZE_MAX, &options, &none),
            CAMEO_STATUS_INVALID_ARGUMENT);
  EXPECT_EQ(none, nullptr);
  auto role = cameo_tensor_role(77);
  CAMEO_INIT(cameo_tensor_info, info);
  uint64_t bytes = 0;
  uint32_t index = 0;
  EXPECT_EQ(cameo_model_tensor_count(model, 0, role), 0u);
  EXPECT_EQ(cameo_model_tensor_info(model, 0, role, 0, &info), CAMEO_STATUS_INVALID_ARGUMENT);
  EXPECT_EQ(cameo_model_find_tensor(model, 0, role, "y", &index), CAMEO_STATUS_INVALID_ARGUMENT);
  EXPECT_EQ(cameo_context_get_bytes(context, role, 0, &bytes), CAMEO_STATUS_INVALID_ARGUMENT);
  EXPECT_NE(std::string(cameo_last_error()).find("role 77"), std::string::npos);
  CAMEO_INIT(cameo_device_options, unknown);
  unknown.kind = CAMEO_DEVICE_SIMULATOR;
  unknown.sim_checks = 0xffff;
  cameo_device *other = nullptr;
  EXPECT_EQ(cameo_device_create(&unknown, &other), CAMEO_STATUS_INVALID_ARGUMENT);
}

TEST_F(Calls, NonsenseIsAnError) {
  open(CAMEO_DEVICE_SIMULATOR);
  uint32_t number = 0;
  uint64_t bytes = 0;
  void *data = nullptr;
  const char *text = nullptr;
  cameo_device *newDevice = nullptr;
  cameo_model *newModel = nullptr;
  cameo_context *newContext = nullptr;
  CAMEO_INIT(cameo_device_options, deviceOptions);
  CAMEO_INIT(cameo_device_info, deviceInfo);
  CAMEO_INIT(cameo_tensor_info, tensorInfo);
  CAMEO_INIT(cameo_binding, none);
  cameo_timing_callback callback = [](void *, const cameo_launch_timing *) {};
  const int64_t dims[1] = {1};
  const cameo_status statuses[] = {
      cameo_cuda_device_count(nullptr),
      cameo_device_create(nullptr, &newDevice),
      cameo_device_create(&deviceOptions, nullptr),
      cameo_device_get_info(nullptr, &deviceInfo),
      cameo_device_get_info(device, nullptr),
      cameo_device_memory(nullptr, &bytes, &bytes),
      cameo_device_allocate(nullptr, CAMEO_MEMORY_DEVICE, 4, &data),
      cameo_device_allocate(device, CAMEO_MEMORY_DEVICE, 4, nullptr),
      cameo_device_release(nullptr, CAMEO_MEMORY_DEVICE, nullptr),
      cameo_device_copy(nullptr, &bytes, CAMEO_MEMORY_HOST, &bytes, CAMEO_MEMORY_HOST, 8),
      cameo_device_copy(device, nullptr, CAMEO_MEMORY_HOST, &bytes, CAMEO_MEMORY_HOST, 8),
      cameo_device_copy(device, &bytes, CAMEO_MEMORY_HOST, nullptr, CAMEO_MEMORY_HOST, 8),
      cameo_model_load(nullptr, nullptr, &newModel),
      cameo_model_load("/", nullptr, nullptr),
      cameo_model_load_memory(nullptr, 0, nullptr, &newModel),
      cameo_model_load_memory(file.data(), file.size(), nullptr, nullptr),
      cameo_model_load_self(nullptr, nullptr),
      cameo_model_manifest(nullptr, &text, nullptr),
      cameo_model_manifest(model, nullptr, nullptr),
      cameo_model_find_entry(nullptr, "main", &number),
      cameo_model_find_entry(model, nullptr, &number),
      cameo_model_find_entry(model, "main", nullptr),
      cameo_model_tensor_info(nullptr, 0, CAMEO_INPUT, 0, &tensorInfo),
      cameo_model_tensor_info(model, 0, CAMEO_INPUT, 0, nullptr),
      cameo_model_tensor_info(model, 2, CAMEO_INPUT, 0, &tensorInfo),
      cameo_model_tensor_info(model, 0, CAMEO_OUTPUT, 3, &tensorInfo),
      cameo_model_find_tensor(nullptr, 0, CAMEO_INPUT, "x", &number),
      cameo_model_find_tensor(model, 2, CAMEO_INPUT, "x", &number),
      cameo_model_find_tensor(model, 0, CAMEO_INPUT, nullptr, &number),
      cameo_model_find_tensor(model, 0, CAMEO_INPUT, "x", nullptr),
      cameo_model_profile_shape(nullptr, 0, 0, 0, 2, nullptr, nullptr, nullptr),
      cameo_model_profile_shape(model, 0, 1, 0, 2, nullptr, nullptr, nullptr),
      cameo_model_profile_shape(model, 0, 0, 2, 2, nullptr, nullptr, nullptr),
      cameo_model_profile_shape(model, 0, 0, 0, 1, nullptr, nullptr, nullptr),
      cameo_context_create(nullptr, nullptr, &newContext),
      cameo_context_create(model, nullptr, nullptr),
      cameo_context_set_input_shape(nullptr, 0, 1, dims),
      cameo_context_set_input_shape(context, 0, 1, nullptr),
      cameo_context_set_input_shape(context, 0, 1, dims),
      cameo_context_set_input_shape(context, 2, 1, dims),
      cameo_context_set_symbol(nullptr, "n", 1),
      cameo_context_set_symbol(context, nullptr, 1),
      cameo_context_set_input_value(nullptr, 1, dims, 8),
      cameo_context_set_input_value(context, 2, dims, 8),
      cameo_context_get_input_shape(nullptr, 0, 0, nullptr, nullptr),
      cameo_context_get_input_shape(context, 2, 0, nullptr, nullptr),
      cameo_context_get_output_shape(nullptr, 0, 0, nullptr, nullptr),
      cameo_context_get_output_shape(context, 3, 0, nullptr, nullptr),
      cameo_context_get_output_bound(nullptr, 0, 0, nullptr, nullptr, nullptr),
      cameo_context_get_output_bound(context, 3, 0, nullptr, nullptr, nullptr),
      cameo_context_get_bytes(nullptr, CAMEO_INPUT, 0, &bytes),
      cameo_context_get_bytes(context, CAMEO_INPUT, 2, &bytes),
      cameo_context_get_bytes(context, CAMEO_INPUT, 1, nullptr),
      cameo_context_get_arena_bytes(nullptr, &bytes),
      cameo_context_get_arena_bytes(context, nullptr),
      cameo_context_bind_input(nullptr, 0, &none),
      cameo_context_bind_input(context, 2, &none),
      cameo_context_bind_output(context, 3, &none),
      cameo_context_bind_output(context, 0, nullptr),
      cameo_context_output_memory(nullptr, 0, &data, nullptr),
      cameo_context_output_memory(context, 0, nullptr, nullptr),
      cameo_context_output_memory(context, 0, &data, nullptr),
      cameo_context_set_state(nullptr, 0, 0),
      cameo_context_set_state(context, 2, 0),
      cameo_context_set_state(context, 0, 3),
      cameo_context_set_arena(nullptr, nullptr, 0),
      cameo_context_set_stream(nullptr, nullptr),
      cameo_context_set_seed(nullptr, 1),
      cameo_context_get_stream(nullptr, &data),
      cameo_context_get_stream(context, nullptr),
      cameo_context_enqueue(nullptr),
      cameo_context_enqueue(context),
      cameo_context_synchronize(nullptr),
      cameo_context_query(nullptr, reinterpret_cast<int32_t *>(&number)),
      cameo_context_query(context, nullptr),
      cameo_context_notify(
          nullptr, [](void *) {}, nullptr),
      cameo_context_notify(context, nullptr, nullptr),
      cameo_context_run(nullptr),
      cameo_context_read_tap(nullptr, &number, sizeof number),
      cameo_context_read_tap(context, nullptr, sizeof number),
      cameo_context_read_tap(context, &number, sizeof number),
      cameo_context_write_tap(nullptr, &number, sizeof number),
      cameo_context_write_tap(context, nullptr, sizeof number),
      cameo_context_run_timed(nullptr, callback, nullptr),
      cameo_context_run_timed(context, nullptr, nullptr),
      cameo_context_run_timed(context, callback, nullptr),
  };
  for (size_t i = 0; i < std::size(statuses); ++i)
    EXPECT_EQ(statuses[i], CAMEO_STATUS_INVALID_ARGUMENT) << "call " << i;
  EXPECT_TRUE(!newDevice && !newModel && !newContext && !data && !text);
  EXPECT_EQ(cameo_model_entry_count(nullptr), 0u);
  EXPECT_STREQ(cameo_model_entry_name(nullptr, 0), "");
  EXPECT_EQ(cameo_model_tensor_count(nullptr, 0, CAMEO_INPUT), 0u);
  EXPECT_EQ(cameo_model_profile_count(nullptr, 0), 0u);
}
