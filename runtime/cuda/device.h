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
#include <map>
#include <memory>
#include <mutex>
#include <set>
#include <string>
#include <vector>

namespace cameo::runtime::cuda {

// "launching K, grid 4x1x1, block 128x1x1, 0 B of dynamic shared memory".
std::string launchText(const std::string &kernel, const Launch &launch);

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

  Status createEvent(Event &event, bool timed, bool blocking) override;
  Status destroyEvent(Event event) override;
  Status record(Event event, Stream stream) override;
  Status wait(Stream stream, Event event) override;
  Status synchronizeEvent(Event event) override;
  Status queryEvent(Event event, bool &passed) override;
  Status elapsed(Event start, Event stop, float &milliseconds) override;

  Status copyToDevice(DevicePtr target, const void *source, uint64_t bytes, Stream stream) override;
  Status copyToHost(void *target, DevicePtr source, uint64_t bytes, Stream stream) override;
  Status copyOnDevice(DevicePtr target, DevicePtr source, uint64_t bytes, Stream stream) override;
  Status fill(DevicePtr target, uint8_t value, uint64_t bytes, Stream stream) override;

  Status loadModule(const CodeSection &section, Module &module) override;
  Status unloadModule(Module module) override;
  Status findKernel(Module module, const KernelInfo &info, Kernel &kernel) override;
  Status launch(const Launch &launch, Stream stream) override;
  std::string lastLaunched() const override;

  Status beginCalls() override;
  void endCalls() override;
  Status checkDeviceMemory(DevicePtr memory) override;
  Status isPageable(const void *memory, bool &pageable) override;
  Status isCapturing(Stream stream, bool &capturing) override;
  Status callHost(Stream stream, void (*function)(void *), void *user) override;

  bool hasGraphs() const override { return driver.hasGraphs(); }
  Status createGraph(Graph &graph) override;
  Status addLaunch(Graph graph, const Launch &launch, GraphNode &node) override;
  Status addCopy(Graph graph, DevicePtr target, DevicePtr source, uint64_t bytes,
                 GraphNode &node) override;
  Status addWrite(Graph graph, DevicePtr target, const void *source, uint64_t bytes,
                  GraphNode &node) override;
  Status addRecord(Graph graph, Event event) override;
  Status instantiate(Graph graph) override;
  Status setLaunch(Graph graph, GraphNode node, const Launch &launch) override;
  Status setCopy(Graph graph, GraphNode node, DevicePtr target, DevicePtr source,
                 uint64_t bytes) override;
  Status setWrite(Graph graph, GraphNode node, DevicePtr target, const void *source,
                  uint64_t bytes) override;
  Status launchGraph(Graph graph, Stream stream) override;
  Status destroyGraph(Graph graph) override;

private:
  // The device's context is current while this lives.
  class Current {
  public:
    explicit Current(const CudaDevice &device);
    ~Current();
    // Leaves the context current; whether there is one to pop.
    bool release();
    Status status;

  private:
    const Driver &driver;
    bool pushed = false;
  };
  // Between beginCalls() and endCalls() of this thread; the outermost counts.
  struct Calls {
    const CudaDevice *device = nullptr;
    bool pushed = false;
    int depth = 0;
  };
  static thread_local Calls calls;

  struct LoadedKernel {
    CUmodule module;
    const std::string *name; // in kernelNames
    CUfunction function;
    uint32_t sharedStatic;
    uint32_t sharedDynamic = 0; // what the driver was asked to allow
  };

  // A graph under construction, then its executable; nodes belong to the former.
  struct BuiltGraph {
    CUgraph graph = nullptr;
    CUgraphExec executable = nullptr;
    CUgraphNode last = nullptr; // what the next node runs after
    const std::string *lastKernel = nullptr;
  };

  // For launches and nodes: what the driver would only call invalid is said in full, and much
  // shared memory is asked for.
  Status checkLaunch(const Launch &launch);
  Status allowShared(LoadedKernel &kernel, uint32_t bytes);
  Status allowCluster(CUfunction function, const KernelInfo &info);
  Status addMemcpy(Graph graph, const CUDA_MEMCPY3D &copy, GraphNode &node);
  Status setMemcpy(Graph graph, GraphNode node, const CUDA_MEMCPY3D &copy);

  CudaDevice(const Driver &driver, const DeviceInfo &info, CUdevice native, CUcontext context)
      : driver(driver), deviceInfo(info), native(native), context(context) {}

  // For calls that report what went wrong in work enqueued earlier: adds the last kernel launched.
  Status checkEarlier(CUresult result, const char *call, const std::string &context = "") const;

  const Driver driver;
  const DeviceInfo deviceInfo;
  const CUdevice native;
  CUcontext context;

  std::mutex kernelMutex;
  // A driver that compiles PTX only when a kernel is asked for writes there then.
  std::map<CUmodule, std::string> compilerLogs;
  // Unique by module and name; a kernel's address is its handle.
  std::vector<std::unique_ptr<LoadedKernel>> kernels;
  // Names outlive their modules, so that a late failure can still name its kernel.
  std::set<std::string> kernelNames;
  std::atomic<const std::string *> lastKernel{nullptr}; // null before the first launch
  std::atomic<bool> lastIsGraph{false};                 // it is the last of a graph
};

} // namespace cameo::runtime::cuda

#endif
