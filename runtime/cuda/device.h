// A GPU through the CUDA driver.
//
// The device's primary context is used, so that memory and streams of a caller who uses the CUDA
// runtime work here as they are. It is made current for each call and the caller's own is restored.
// SPDX-License-Identifier: Apache-2.0
#ifndef CAMEO_RUNTIME_CUDA_DEVICE_H
#define CAMEO_RUNTIME_CUDA_DEVICE_H

#include "runtime/core/device.h"
#include "runtime/cuda/driver.h"

#include <atomic>
#include <memory>
#include <mutex>
#include <set>
#include <string>
#include <vector>

namespace cameo::rt::cuda {

class CudaDevice final : public Device {
public:
  // Retains the primary context; `info` is of this device.
  static Status create(const Driver &driver, const DeviceInfo &info,
                       std::unique_ptr<Device> &device);
  ~CudaDevice() override;

  const DeviceInfo &info() const override { return deviceInfo; }
  Status memoryInfo(uint64_t &available, uint64_t &total) override;

  Status allocate(uint64_t bytes, DevicePtr &memory) override;
  Status release(DevicePtr memory) override;
  Status allocateHost(uint64_t bytes, void *&memory) override;
  Status releaseHost(void *memory) override;

  Status createStream(Stream &stream) override;
  Status destroyStream(Stream stream) override;
  Status synchronize(Stream stream) override;

  Status createEvent(Event &event) override;
  Status destroyEvent(Event event) override;
  Status record(Event event, Stream stream) override;
  Status wait(Stream stream, Event event) override;
  Status synchronizeEvent(Event event) override;
  Status elapsed(Event start, Event stop, float &milliseconds) override;

  Status copyToDevice(DevicePtr target, const void *source, uint64_t bytes, Stream stream) override;
  Status copyToHost(void *target, DevicePtr source, uint64_t bytes, Stream stream) override;
  Status copyOnDevice(DevicePtr target, DevicePtr source, uint64_t bytes, Stream stream) override;
  Status fill(DevicePtr target, uint8_t value, uint64_t bytes, Stream stream) override;

  Status loadModule(const CodeSection &section, Module &module) override;
  Status unloadModule(Module module) override;
  Status findKernel(Module module, const KernelInfo &info, Kernel &kernel) override;
  Status launch(const Launch &launch, Stream stream) override;

  Status beginCapture(Stream stream) override;
  Status endCapture(Stream stream, Graph &graph) override;
  Status launchGraph(Graph graph, Stream stream) override;
  Status destroyGraph(Graph graph) override;

private:
  // The device's context is current while this lives.
  class Current {
  public:
    explicit Current(const CudaDevice &device);
    ~Current();
    Status status;

  private:
    const Driver &driver;
    bool pushed = false;
  };

  struct LoadedKernel {
    CUmodule module;
    const std::string *name; // in kernelNames
    CUfunction function;
    uint32_t sharedStatic;
  };

  CudaDevice(const Driver &driver, const DeviceInfo &info, CUcontext context)
      : driver(driver), deviceInfo(info), context(context) {}

  // For calls that report what went wrong in work enqueued earlier: adds the last kernel launched.
  Status checkEarlier(CUresult result, const char *call, const std::string &context = "") const;

  const Driver driver;
  const DeviceInfo deviceInfo;
  CUcontext context;

  std::mutex kernelMutex;
  // Unique by module and name; a kernel's address is its handle.
  std::vector<std::unique_ptr<LoadedKernel>> kernels;
  // Names outlive their modules, so that a late failure can still name its kernel.
  std::set<std::string> kernelNames;
  std::atomic<const std::string *> lastKernel{nullptr}; // null before the first launch
};

} // namespace cameo::rt::cuda

#endif
