// Instruction tests on a GPU, through the driver.
//
// SPDX-License-Identifier: Apache-2.0
#include "test/instructions/Device.h"

#include "runtime/cuda/driver.h"

#include <algorithm>
#include <chrono>
#include <dlfcn.h>
#include <thread>

namespace instructions {
namespace {

using namespace cameo::runtime;
using namespace cameo::runtime::cuda;

constexpr std::chrono::microseconds longestPause(2000);

class Gpu : public Device {
public:
  explicit Gpu(double seconds) : seconds_(seconds) {}

  /// What went wrong, or empty.
  std::string open(const Bytes &code) {
    Status status = Driver::open(nullptr, driver_);
    int devices = 0, version = 0;
    CUdevice device{};
    CUcontext context{};
    if (status.ok())
      status = initialise(driver_, devices, version);
    if (status.ok())
      status = CAMEO_CUDA(driver_, cuDeviceGet, &device, 0);
    if (status.ok())
      status = CAMEO_CUDA(driver_, cuDevicePrimaryCtxRetain, &context, device);
    if (status.ok())
      status = CAMEO_CUDA(driver_, cuCtxPushCurrent_v2, context);
    if (status.ok())
      status = CAMEO_CUDA(driver_, cuStreamCreate, &stream_, CU_STREAM_NON_BLOCKING);
    if (status.ok())
      status = CAMEO_CUDA(driver_, cuEventCreate, &end_, CU_EVENT_DISABLE_TIMING);
    if (status.ok())
      status = CAMEO_CUDA(driver_, cuModuleLoadDataEx, &module_, code.data(), 0, nullptr, nullptr);
    return status.ok() ? "" : status.message();
  }

  Outcome run(const Case &one, std::vector<Bytes> &buffers) override {
    std::vector<CUdeviceptr> memory(buffers.size());
    std::vector<EncodedMap> maps(one.maps.size());
    Status status = upload(one, buffers, memory, maps);
    if (status.ok())
      status = launch(one, memory, maps);
    if (status.ok()) {
      Outcome ended = waitForEnd();
      if (ended.kind != Outcome::Ran)
        return ended;
    }
    // Copies to memory that is not page-locked wait for the kernel, without a limit.
    for (size_t i = 0; i < buffers.size() && status.ok(); ++i)
      status = CAMEO_CUDA(driver_, cuMemcpyDtoHAsync_v2, buffers[i].data(), memory[i],
                          buffers[i].size(), stream_);
    if (status.ok())
      status = CAMEO_CUDA(driver_, cuStreamSynchronize, stream_);
    if (!status.ok())
      return failed(status);
    for (CUdeviceptr pointer : memory)
      driver_.cuMemFree_v2(pointer);
    return {};
  }

private:
  Status upload(const Case &one, const std::vector<Bytes> &buffers,
                std::vector<CUdeviceptr> &memory, std::vector<EncodedMap> &maps) {
    Status status;
    for (size_t i = 0; i < buffers.size() && status.ok(); ++i) {
      status = CAMEO_CUDA(driver_, cuMemAlloc_v2, &memory[i], buffers[i].size());
      if (status.ok())
        status = CAMEO_CUDA(driver_, cuMemcpyHtoDAsync_v2, memory[i], buffers[i].data(),
                            buffers[i].size(), stream_);
    }
    for (size_t i = 0; i < maps.size() && status.ok(); ++i) {
      const TensorMap &map = one.maps[i];
      status = encode(map, memory, maps[i]);
      if (status.ok() && map.place == MapPlace::Global)
        status = CAMEO_CUDA(driver_, cuMemcpyHtoDAsync_v2, memory[map.map], maps[i].bytes,
                            sizeof maps[i].bytes, stream_);
    }
    return status;
  }

  Status launch(const Case &one, std::vector<CUdeviceptr> &memory, std::vector<EncodedMap> &maps) {
    CUfunction function{};
    std::vector<void *> arguments;
    for (CUdeviceptr &pointer : memory)
      arguments.push_back(&pointer);
    for (size_t i = 0; i < maps.size(); ++i)
      if (one.maps[i].place == MapPlace::Parameter)
        arguments[one.maps[i].map] = maps[i].bytes;
    Status status = CAMEO_CUDA(driver_, cuModuleGetFunction, &function, module_, one.name.c_str());
    if (status.ok() && one.cluster > 8) // CUDA C++ Programming Guide, "Thread Block Clusters"
      status = CAMEO_CUDA(driver_, cuFuncSetAttribute, function,
                          CU_FUNC_ATTRIBUTE_NON_PORTABLE_CLUSTER_SIZE_ALLOWED, 1);
    if (status.ok())
      status = CAMEO_CUDA(driver_, cuLaunchKernel, function, one.blocks, 1, 1, one.threads, 1, 1,
                          one.shared, stream_, arguments.data(), nullptr);
    if (status.ok())
      status = CAMEO_CUDA(driver_, cuEventRecord, end_, stream_);
    return status;
  }

  /// A kernel that waits for ever is not ended by the driver of a GPU without a display.
  Outcome waitForEnd() {
    using Clock = std::chrono::steady_clock;
    const auto deadline = Clock::now() + std::chrono::duration<double>(seconds_);
    for (auto pause = std::chrono::microseconds(20);; pause = std::min(2 * pause, longestPause)) {
      CUresult result = driver_.cuEventQuery(end_);
      if (result == CUDA_SUCCESS)
        return {};
      if (result != CUDA_ERROR_NOT_READY)
        return failed(driver_.check(result, "cuEventQuery"));
      if (Clock::now() >= deadline)
        return {Outcome::Hung, format("does not end within %g s", seconds_)};
      std::this_thread::sleep_for(pause);
    }
  }

  /// After some errors every call fails, after others none does.
  Outcome failed(const Status &status) {
    bool lost = driver_.cuStreamSynchronize(stream_) != CUDA_SUCCESS;
    return {lost ? Outcome::Lost : Outcome::Refused, status.message()};
  }

  /// Has the driver make the map.
  Status encode(const TensorMap &map, const std::vector<CUdeviceptr> &memory, EncodedMap &encoded) {
    using Tiled = CUresult (*)(void *, int, uint32_t, void *, const uint64_t *, const uint64_t *,
                               const uint32_t *, const uint32_t *, int, int, int, int);
    using Im2col =
        CUresult (*)(void *, int, uint32_t, void *, const uint64_t *, const uint64_t *, const int *,
                     const int *, uint32_t, uint32_t, const uint32_t *, int, int, int, int);
    void *library = dlopen("libcuda.so.1", RTLD_NOW);
    const char *name = map.parameters.im2col ? "cuTensorMapEncodeIm2col" : "cuTensorMapEncodeTiled";
    void *function = library ? dlsym(library, name) : nullptr;
    if (!function)
      return failure(Code::Driver, "the CUDA driver lacks %s", name);
    const cameo::sim::TensorMapParameters &p = map.parameters;
    auto *tensor = reinterpret_cast<void *>(memory[map.data]);
    CUresult result{};
    if (p.im2col)
      result = reinterpret_cast<Im2col>(function)(
          encoded.bytes, int(p.type), p.rank, tensor, p.sizes, p.strides, p.lower, p.upper,
          p.channels, p.pixels, p.steps, 0, int(p.swizzle), 0, p.fillsNan);
    else
      result = reinterpret_cast<Tiled>(function)(encoded.bytes, int(p.type), p.rank, tensor,
                                                 p.sizes, p.strides, p.box, p.steps, 0,
                                                 int(p.swizzle), 0, p.fillsNan);
    return driver_.check(result, name);
  }

  double seconds_;
  Driver driver_;
  CUstream stream_{};
  CUevent end_{};
  CUmodule module_{};
};

} // namespace

std::unique_ptr<Device> openCuda(const Bytes &code, double seconds, std::string &error) {
  auto gpu = std::make_unique<Gpu>(seconds);
  error = gpu->open(code);
  return error.empty() ? std::move(gpu) : nullptr;
}

} // namespace instructions
