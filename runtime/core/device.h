// The device as the plan executor sees it. Implemented over the CUDA driver (runtime/cuda) and by
// the simulator (runtime/sim).
//
// Sizes are bytes. Calls that take a stream are enqueued on it and may return before they are done;
// host memory given to them stays valid and unchanged until the stream has passed them. An error of
// enqueued work is returned by that call or by a later one on the same device. A Device may be used
// by several threads at once, each with streams and events of its own.
// SPDX-License-Identifier: Apache-2.0
#ifndef CAMEO_RUNTIME_CORE_DEVICE_H
#define CAMEO_RUNTIME_CORE_DEVICE_H

#include "runtime/core/log.h"
#include "runtime/core/status.h"
#include "runtime/format.h"

#include <cstdint>
#include <string>
#include <vector>

namespace cameo::sim {
struct LaunchCounters;
}

namespace cameo::runtime {

using DevicePtr = uint64_t; // CUdeviceptr; on the simulator a host address
using Stream = void *;      // CUstream, so that a caller's own passes through; null: default stream
using Event = void *;
using Module = void *;
using Kernel = void *;
using Graph = void *;
using GraphNode = void *;

enum class DeviceKind { Cuda, Simulator };

struct DeviceInfo {
  DeviceKind kind = DeviceKind::Cuda;
  int ordinal = 0;
  uint32_t arch = 0;           // major * 10 + minor; for the simulator 0: any
  std::string name;            // e.g. "NVIDIA A100-SXM4-40GB", "simulator (4 threads)"
  uint64_t totalMemory = 0;    // bytes
  uint32_t maxSharedBytes = 0; // dynamic and static, a block, opt-in included
  uint32_t driverVersion = 0;  // as cuDriverGetVersion; 0 for the simulator
  uint64_t cacheBytes = 0;     // of the last cache before memory; 0: not known
  std::string pciBus;          // "0000:3b:00.0"; "": not known
};

// A code section of the payload. The bytes stay mapped while the module is loaded.
struct CodeSection {
  CameoSectionKind kind; // PTX, CUBIN or SIM_IMAGE
  uint32_t arch;
  uint32_t flags;
  const void *data;
  uint64_t size;
};

// What the plan says of a kernel; pointers stay valid while its module is loaded.
struct KernelInfo {
  const char *name;
  const char *onnxNodes;
  uint32_t block[3];
  uint32_t sharedStatic;
  uint32_t flags;           // CAMEO_KERNEL_*
  const uint32_t *argTypes; // CameoArgType
  uint32_t argCount;
  uint32_t cluster = 0; // as in CameoPlanKernel
};

struct Launch {
  Kernel kernel;
  uint32_t grid[3]; // all non-zero
  uint32_t block[3];
  uint32_t sharedDynamic;
  // args[i] points to the value of parameter i (DevicePtr, int32_t, int64_t, float or double by its
  // CameoArgType); read before launch() returns.
  void **args;
  // The sizes of buffer arguments, 0 for others. With them a checking simulator holds the kernel to
  // its buffers, and takes memory that the device did not allocate; null: not known.
  const uint64_t *argBytes = nullptr;
  const char *const *argNames = nullptr; // of buffers, for reports; null: not known
  // The numbers of the values that buffers of an arena hold, as beginValue() was given them, 0 for
  // others; null: not known.
  const uint32_t *argValues = nullptr;
};

class Device {
public:
  virtual ~Device() = default;

  virtual const DeviceInfo &info() const = 0;

  // Hears of the device, of models that are loaded for it, and of their contexts. It is set before others use
  // the device.
  Log log;

  // Free and total device memory.
  virtual Status memoryInfo(uint64_t &available, uint64_t &total) = 0;

  // Device memory, aligned to 256 at least. Zero bytes give a valid, unique or null pointer.
  virtual Status allocate(uint64_t bytes, DevicePtr &memory) = 0;
  virtual Status release(DevicePtr memory) = 0;
  // Page-locked host memory for transfers that overlap; plain memory on the simulator.
  virtual Status allocateHost(uint64_t bytes, void *&memory) = 0;
  virtual Status releaseHost(void *memory) = 0;

  // Work on it is ordered with that of the default stream, as of a caller who knows no other, where
  // the device has such a stream.
  virtual Status createStream(Stream &stream) = 0;
  virtual Status destroyStream(Stream stream) = 0;
  virtual Status synchronize(Stream stream) = 0;

  // Without timing an event is cheaper, and serves for order alone. The host sleeps when it waits
  // for one that is `blocking`; for others it may spin.
  virtual Status createEvent(Event &event, bool timed = true, bool blocking = false) = 0;
  virtual Status destroyEvent(Event event) = 0;
  virtual Status record(Event event, Stream stream) = 0;
  virtual Status wait(Stream stream, Event event) = 0; // later work of the stream waits
  virtual Status synchronizeEvent(Event event) = 0;    // the host waits
  virtual Status queryEvent(Event event, bool &passed) = 0;
  virtual Status elapsed(Event start, Event stop, float &milliseconds) = 0; // both have passed

  virtual Status copyToDevice(DevicePtr target, const void *source, uint64_t bytes,
                              Stream stream) = 0;
  virtual Status copyToHost(void *target, DevicePtr source, uint64_t bytes, Stream stream) = 0;
  // The ranges do not overlap.
  virtual Status copyOnDevice(DevicePtr target, DevicePtr source, uint64_t bytes,
                              Stream stream) = 0;
  virtual Status fill(DevicePtr target, uint8_t value, uint64_t bytes, Stream stream) = 0;

  virtual Status loadModule(const CodeSection &section, Module &module) = 0;
  virtual Status unloadModule(Module module) = 0;
  // The kernel lives as long as its module.
  virtual Status findKernel(Module module, const KernelInfo &info, Kernel &kernel) = 0;
  virtual Status launch(const Launch &launch, Stream stream) = 0;

  // "the last kernel launched was K", for who waits in vain; empty where it is not known.
  virtual std::string lastLaunched() const { return ""; }

  // What a checking simulator wants to know; others ignore it. A name for reports, of memory that
  // allocate() gave; and that a range's contents no longer count, so that reading them is a fault.
  virtual void nameMemory(DevicePtr memory, const char *name) {}
  virtual void discard(DevicePtr memory, uint64_t bytes) {}
  // Values in an arena are told of as well, by numbers from 1 on. One begins: what was in its range
  // no longer counts. The host or a copy has written to one. One is to be read: an error if another
  // has been written there since.
  virtual void beginValue(DevicePtr memory, uint64_t bytes, uint32_t value, const char *name) {}
  virtual void wroteValue(DevicePtr memory, uint64_t bytes, uint32_t value) {}
  virtual Status checkValue(DevicePtr memory, uint64_t bytes, uint32_t value) { return {}; }

  // What a counting simulator has counted of the launches since the last call, in their order.
  virtual void takeCounters(std::vector<sim::LaunchCounters> &counters);

  // Many calls follow by this thread: what each would set up anew is set up once. Use DeviceScope.
  virtual Status beginCalls() { return {}; }
  virtual void endCalls() {}

  // What is known of the caller's memory. An error where a kernel cannot reach it.
  virtual Status checkDeviceMemory(DevicePtr memory) { return {}; }
  // Whether transfers from and to this memory make the calling thread wait.
  virtual Status isPageable(const void *memory, bool &pageable) {
    pageable = false;
    return {};
  }
  // Whether the caller records this stream's work: nothing may be waited for meanwhile.
  virtual Status isCapturing(Stream stream, bool &capturing) {
    capturing = false;
    return {};
  }
  // Calls a function when the stream gets there. The function must not call the device.
  virtual Status callHost(Stream stream, void (*function)(void *), void *user) {
    return failure(Code::Unsupported, "no calls from streams");
  }

  // Work that is put together once and replayed by one call. Nodes run one after the other, in the
  // order in which they were added; arguments are read when they are. Devices without graphs answer
  // false and then Code::Unsupported, and the executor enqueues the work each time.
  virtual bool hasGraphs() const { return false; }
  virtual Status createGraph(Graph &) { return noGraphs(); }
  virtual Status addLaunch(Graph, const Launch &, GraphNode &) { return noGraphs(); }
  virtual Status addCopy(Graph, DevicePtr target, DevicePtr source, uint64_t bytes, GraphNode &) {
    return noGraphs();
  }
  // From page-locked host memory, which is read at each replay.
  virtual Status addWrite(Graph, DevicePtr target, const void *source, uint64_t bytes,
                          GraphNode &) {
    return noGraphs();
  }
  virtual Status addRecord(Graph, Event) { return noGraphs(); }
  // After it no nodes are added, and the graph can be launched.
  virtual Status instantiate(Graph) { return noGraphs(); }
  // Other arguments or addresses for a node, in launches of the graph from now on.
  virtual Status setLaunch(Graph, GraphNode, const Launch &) { return noGraphs(); }
  virtual Status setCopy(Graph, GraphNode, DevicePtr target, DevicePtr source, uint64_t bytes) {
    return noGraphs();
  }
  virtual Status setWrite(Graph, GraphNode, DevicePtr target, const void *source, uint64_t bytes) {
    return noGraphs();
  }
  virtual Status launchGraph(Graph, Stream) { return noGraphs(); }
  virtual Status destroyGraph(Graph) { return noGraphs(); }

private:
  static Status noGraphs() { return failure(Code::Unsupported, "this device has no graphs"); }
};

class DeviceScope {
public:
  explicit DeviceScope(Device &device)
      : status(device.beginCalls()), device(status.ok() ? &device : nullptr) {}
  ~DeviceScope() {
    if (device)
      device->endCalls();
  }
  DeviceScope(const DeviceScope &) = delete;
  void operator=(const DeviceScope &) = delete;
  Status status;

private:
  Device *device; // null where the calls did not begin
};

// ---- CUDA (runtime/cuda) ------------------------------------------------------------------------

struct CudaProbe {
  enum State {
    NoDriver, // neither libcuda.so.1 nor anything else of an NVIDIA GPU is there
    Failing,  // something is there, and it does not work: `message` says why
    Usable,
  } state = NoDriver;
  int deviceCount = 0;
  uint32_t driverVersion = 0;
  std::string message;
  std::vector<DeviceInfo> devices; // where Usable
};

// Neither makes a context but createCudaDevice. `library` is the driver to open, for tests; null:
// libcuda.so.1, wherever it is.
CudaProbe probeCudaDriver(const char *library = nullptr);
Status createCudaDevice(int ordinal, std::unique_ptr<Device> &device,
                        const char *library = nullptr);

// A code section that is meant for a device.
struct CodeCandidate {
  size_t index;        // in the list asked about
  std::string refusal; // why the device's driver cannot take it; empty: nothing is known against it
};

// Those of a payload's code sections (the simulator's are passed over) that a CUDA device may run,
// the best first: a cubin made for it, then PTX that its driver compiles. Code::NoCode where there
// is none says what the GPU is and what the sections hold.
Status orderCudaCode(const std::vector<CodeSection> &sections, const DeviceInfo &device,
                     std::vector<CodeCandidate> &order);

// The error where each of them was refused.
Status allCodeRefused(const DeviceInfo &device, const std::vector<std::string> &refusals);

// ---- Simulator (runtime/sim) --------------------------------------------------------------------

// How the simulator runs the threads of kernels that it can run in either way: a warp together,
// each on its own, or in both ways, as long as they agree to the bit.
enum class SimForm { Warp, Thread, Compare };

struct SimOptions {
  // What is found is Code::KernelFault; its message holds a line that says it all, then the reports
  // of several lines each. All but the last need an image built with CAMEO_SIM_IMAGE_CHECKED.
  bool checkBounds = false;
  bool checkUninitialised = false;
  bool checkRaces = false;
  bool checkSync = false; // divergent barriers, absent lanes; a deadlock is always found
  uint64_t seed = 0;      // order of lanes, warps and blocks; 0: the natural order
  unsigned threads = 0;   // host threads; 0: one a core
  SimForm form = SimForm::Warp;
  bool counters = false; // for takeCounters(); needs such an image, too
  std::string board;     // of runtime/boards.h, for estimates; "": the one the image was made for
  std::string trace;     // `kernel[,block[,warp]]` to print on stderr; needs a traced image
};

// Sets the checks from `all`, `none` or a list like `race,bounds,init,sync`.
Status parseSimChecks(const char *text, SimOptions &options);

// Whether `text` is one that SimOptions::trace may be.
Status checkSimTrace(const char *text);

// Options of an executable's command line that give the same order and the same checks again.
std::string simCommandLine(const SimOptions &options);

Status createSimDevice(const SimOptions &options, std::unique_ptr<Device> &device);

} // namespace cameo::runtime

#endif
