// Instruction tests on a GPU, through the driver.
//
// SPDX-License-Identifier: Apache-2.0
#include "test/instructions/Device.h"

#include "runtime/cuda/driver.h"

#include <dlfcn.h>

namespace instructions {
namespace {

using namespace cameo::rt;
using namespace cameo::rt::cuda;

class Gpu : public Device {
public:
  /// What went wrong, or empty.
  std::string open(const Bytes &code) {
    Status status = Driver::open("libcuda.so.1", driver_);
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
      status = CAMEO_CUDA(driver_, cuModuleLoadDataEx, &module_, code.data(), 0, nullptr, nullptr);
    return status.ok() ? "" : status.message();
  }

  std::string run(const Case &one, std::vector<Bytes> &buffers) override {
    CUfunction function{};
    std::vector<CUdeviceptr> memory(buffers.size());
    std::vector<void *> arguments;
    for (CUdeviceptr &pointer : memory)
      arguments.push_back(&pointer);
    Status status = CAMEO_CUDA(driver_, cuModuleGetFunction, &function, module_, one.name.c_str());
    if (status.ok() && one.cluster > 8) // CUDA C++ Programming Guide, "Thread Block Clusters"
      status = CAMEO_CUDA(driver_, cuFuncSetAttribute, function,
                          CU_FUNC_ATTRIBUTE_NON_PORTABLE_CLUSTER_SIZE_ALLOWED, 1);
    for (size_t i = 0; i < buffers.size() && status.ok(); ++i) {
      status = CAMEO_CUDA(driver_, cuMemAlloc_v2, &memory[i], buffers[i].size());
      if (status.ok())
        status = CAMEO_CUDA(driver_, cuMemcpyHtoDAsync_v2, memory[i], buffers[i].data(),
                            buffers[i].size(), stream_);
    }
    std::vector<EncodedMap> values(one.maps.size());
    for (size_t i = 0; i < one.maps.size() && status.ok(); ++i) {
      const TensorMap &map = one.maps[i];
      status = encode(map, memory, values[i]);
      if (map.place == MapPlace::Parameter)
        arguments[map.map] = values[i].bytes;
      else if (status.ok())
        status = CAMEO_CUDA(driver_, cuMemcpyHtoDAsync_v2, memory[map.map], values[i].bytes,
                            sizeof values[i].bytes, stream_);
    }
    if (status.ok())
      status = CAMEO_CUDA(driver_, cuLaunchKernel, function, one.blocks, 1, 1, one.threads, 1, 1,
                          one.shared, stream_, arguments.data(), nullptr);
    for (size_t i = 0; i < buffers.size() && status.ok(); ++i)
      status = CAMEO_CUDA(driver_, cuMemcpyDtoHAsync_v2, buffers[i].data(), memory[i],
                          buffers[i].size(), stream_);
    if (status.ok())
      status = CAMEO_CUDA(driver_, cuStreamSynchronize, stream_);
    for (CUdeviceptr pointer : memory)
      if (pointer)
        driver_.cuMemFree_v2(pointer);
    return status.ok() ? "" : status.message();
  }

private:
  /// Has the driver make the map.
  Status encode(const TensorMap &map, const std::vector<CUdeviceptr> &memory, EncodedMap &encoded) {
    using Tiled = CUresult (*)(void *, int, uint32_t, void *, const uint64_t *, const uint64_t *,
                               const uint32_t *, const uint32_t *, int, int, int, int);
    using Im2col =
        CUresult (*)(void *, int, uint32_t, void *, const uint64_t *, const uint64_t *, const int *,
                     const int *, uint32_t, uint32_t, const uint32_t *, int, int, int, int);
    void *library = dlopen("libcuda.so.1", RTLD_NOW);
    const cameo::sim::TensorMapParameters &p = map.parameters;
    auto *tensor = reinterpret_cast<void *>(memory[map.data]);
    CUresult result{};
    if (p.im2col)
      result = reinterpret_cast<Im2col>(dlsym(library, "cuTensorMapEncodeIm2col"))(
          encoded.bytes, int(p.type), p.rank, tensor, p.sizes, p.strides, p.lower, p.upper,
          p.channels, p.pixels, p.steps, 0, int(p.swizzle), 0, p.fillsNan);
    else
      result = reinterpret_cast<Tiled>(dlsym(library, "cuTensorMapEncodeTiled"))(
          encoded.bytes, int(p.type), p.rank, tensor, p.sizes, p.strides, p.box, p.steps, 0,
          int(p.swizzle), 0, p.fillsNan);
    return driver_.check(result, "cuTensorMapEncode");
  }

  Driver driver_;
  CUstream stream_{};
  CUmodule module_{};
};

} // namespace

std::unique_ptr<Device> openCuda(const Bytes &code, std::string &error) {
  auto gpu = std::make_unique<Gpu>();
  error = gpu->open(code);
  return error.empty() ? std::move(gpu) : nullptr;
}

} // namespace instructions
