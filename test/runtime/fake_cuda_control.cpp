// The fake driver's controls, for tests in the same process and, through the environment, for
// programs started by tests:
//   FAKECUDA_DEVICES=8.0,9.0  FAKECUDA_DRIVER=12040  FAKECUDA_FAIL=cuMemAlloc_v2:1:2
//   FAKECUDA_FAULT=scale:700 or scale:hang  what becomes of the kernel when it runs
//   FAKECUDA_REFUSE=cubin,PTX sm_80:222  as refuseImages()
//   FAKECUDA_ORDER=lazy, eager or a seed, as setOrder()
//   FAKECUDA_KERNEL_US=3.5 or name=3,other=5  what kernels take on the GPU
//   FAKECUDA_COMPILE_MS=200  what compiling PTX takes, really
//   FAKECUDA_MEMORY=8192 and FAKECUDA_PINNED=1024  memory of the GPUs and page-locked memory, MiB
//   FAKECUDA_TRACE=file, to which calls, misuses and what is left at the end are appended
//   FAKECUDA_ARTEFACT=file:file, whose simulator images supply the kernels, which have different
//   names; without it they do nothing
// SPDX-License-Identifier: Apache-2.0
#include "fake_cuda_entry.h"

#include <cstdlib>
#include <cstring>

namespace fakecuda {

namespace {

struct Process {
  State state;
  Process();
};

Process &process() {
  // Kept to the end of the process: programs release their last handles in static destructors.
  static Process *instance = new Process;
  return *instance;
}

void configure(State &s, std::vector<DeviceSpec> devices) {
  s.retains.assign(devices.size(), 0);
  s.blocks.assign(devices.size(), MemoryBlocks());
  s.devices = std::move(devices);
}

size_t megabytes(const char *variable, size_t otherwise) {
  const char *value = getenv(variable);
  return value ? strtoull(value, nullptr, 10) << 20 : otherwise;
}

void readKernelTimes(State &s, const char *list) {
  char *end;
  double all = strtod(list, &end);
  if (end != list)
    s.clock.model.kernel = all;
  for (const char *at = list; at && *at; at = strchr(at, ',') ? strchr(at, ',') + 1 : nullptr) {
    const char *equals = strchr(at, '=');
    if (equals)
      s.kernelTimes[std::string(at, equals)] = atof(equals + 1);
  }
}

Process::Process() {
  std::vector<DeviceSpec> devices(1);
  if (const char *list = getenv("FAKECUDA_DEVICES")) {
    devices.clear();
    for (const char *at = list; at && *at; at = strchr(at, ',') ? strchr(at, ',') + 1 : nullptr) {
      DeviceSpec device;
      if (sscanf(at, "%d.%d", &device.major, &device.minor) == 2)
        devices.push_back(device);
    }
  }
  for (DeviceSpec &device : devices) {
    device.memory = megabytes("FAKECUDA_MEMORY", device.memory);
    device.pinnedBytes = megabytes("FAKECUDA_PINNED", device.pinnedBytes);
    if (const char *blocks = getenv("FAKECUDA_CLUSTER"))
      device.clusterBlocks = atoi(blocks);
  }
  configure(state, devices);
  if (const char *fault = getenv("FAKECUDA_FAULT"))
    if (const char *colon = strchr(fault, ':'))
      state.failingKernels[std::string(fault, colon)] =
          !strcmp(colon, ":hang") ? State::hangs : atoi(colon + 1);
  if (const char *refused = getenv("FAKECUDA_REFUSE"))
    state.refused = refused;
  if (const char *times = getenv("FAKECUDA_KERNEL_US"))
    readKernelTimes(state, times);
  if (const char *milliseconds = getenv("FAKECUDA_COMPILE_MS"))
    state.compileMilliseconds = atoi(milliseconds);
  if (const char *order = getenv("FAKECUDA_ORDER")) {
    state.order = !strcmp(order, "lazy")    ? Order::Lazy
                  : !strcmp(order, "eager") ? Order::Eager
                                            : Order::Seeded;
    state.random.seed(strtoull(order, nullptr, 10));
  }
  if (const char *version = getenv("FAKECUDA_DRIVER"))
    state.driverVersion = atoi(version);
  if (const char *trace = getenv("FAKECUDA_TRACE"))
    state.traceFile = trace;
  if (const char *artefact = getenv("FAKECUDA_ARTEFACT"))
    state.artefactFile = artefact;
  char name[64];
  int nth, error;
  if (const char *fail = getenv("FAKECUDA_FAIL");
      fail && sscanf(fail, "%63[^:]:%d:%d", name, &nth, &error) == 3) {
    state.failing = name;
    state.failingIn = nth;
    state.failingError = error;
  }
}

// Programs only: tests of the same process look at live() and misuses().
__attribute__((destructor)) void reportAtExit() {
  if (!state().traceFile.empty())
    trace("left: " + (live().none() ? "nothing" : live().str()));
}

} // namespace

State &state() { return process().state; }

void trace(const std::string &line) {
  if (state().traceFile.empty())
    return;
  if (FILE *file = fopen(state().traceFile.c_str(), "a")) {
    fprintf(file, "%s\n", line.c_str());
    fclose(file);
  }
}

void misuse(const std::string &what) {
  state().misuses.push_back(what);
  trace("misuse: " + what);
}

std::string Live::str() const {
  return "contexts " + std::to_string(contexts) + ", allocations " + std::to_string(allocations) +
         ", host allocations " + std::to_string(hostAllocations) + ", modules " +
         std::to_string(modules) + ", streams " + std::to_string(streams) + ", events " +
         std::to_string(events) + ", graphs " + std::to_string(graphs) + ", graph executables " +
         std::to_string(graphExecs);
}

bool Live::none() const {
  return !contexts && !allocations && !hostAllocations && !modules && !streams && !events &&
         !graphs && !graphExecs;
}

void reset() {
  State &s = state();
  std::lock_guard<std::recursive_mutex> lock(s.mutex);
  for (auto &[pointer, extent] : s.memory)
    free(reinterpret_cast<void *>(pointer));
  for (auto &[pointer, bytes] : s.pinned)
    free(reinterpret_cast<void *>(pointer));
  s.memory.clear();
  s.pinned.clear();
  s.modules.clear();
  s.functions.clear();
  while (!s.captures.empty())
    closeCapture(std::shared_ptr<Capture>(*s.captures.begin()));
  dropStreams(-1);
  s.events.clear();
  s.graphs.clear();
  s.graphExecs.clear();
  s.calls.clear();
  s.misuses.clear();
  s.registered.clear();
  s.mismatched.clear();
  s.failingKernels.clear();
  s.kernelTimes.clear();
  s.refused.clear();
  s.failing.clear();
  s.failed = false;
  s.log.clear();
  s.logError = 0;
  s.initialised = false;
  s.driverVersion = 13000;
  s.sticky = 0;
  s.clock.reset();
  s.pinnedUsed = 0;
  s.order = Order::Lazy;
  s.deaf = false;
  configure(s, {DeviceSpec()});
}

void setDriverVersion(int version) { state().driverVersion = version; }

void setDevices(std::vector<DeviceSpec> devices) { configure(state(), std::move(devices)); }

void failCall(const std::string &function, int nth, int error) {
  State &s = state();
  std::lock_guard<std::recursive_mutex> lock(s.mutex);
  s.failing = function;
  s.failingIn = nth;
  s.failingError = error;
  s.failed = false;
}

bool failureHappened() { return state().failed; }

void failKernel(const std::string &kernel, int error) { state().failingKernels[kernel] = error; }

void fault(int error) { state().fault = error; }

void refuseImages(const std::string &list) { state().refused = list; }

void setDeaf(bool deaf) { state().deaf = deaf; }

void setOrder(Order order, uint64_t seed) {
  state().order = order;
  state().random.seed(seed);
}

void setClock(const ClockModel &model) { state().clock.model = model; }

void setKernelTime(const std::string &kernel, double microseconds) {
  state().kernelTimes[kernel] = microseconds;
}

double hostMicroseconds() {
  std::lock_guard<std::recursive_mutex> lock(state().mutex);
  return state().clock.host();
}

void setCompilerLog(const std::string &log, int error) {
  state().log = log;
  state().logError = error;
}

void registerKernel(const std::string &kernel, KernelShape shape,
                    std::function<void(const Launch &)> body) {
  state().registered[kernel] = {std::move(shape), std::move(body)};
}

void registerKernel(const std::string &kernel, std::vector<size_t> sizes,
                    std::function<void(const Launch &)> body) {
  KernelShape shape;
  shape.sizes = std::move(sizes);
  registerKernel(kernel, std::move(shape), std::move(body));
}

std::vector<std::string> calls() {
  State &s = state();
  std::lock_guard<std::recursive_mutex> lock(s.mutex);
  std::vector<std::string> result;
  for (auto &[name, detail] : s.calls)
    result.push_back(detail.empty() ? name : name + " " + detail);
  return result;
}

std::vector<std::string> actions() {
  State &s = state();
  std::lock_guard<std::recursive_mutex> lock(s.mutex);
  std::vector<std::string> result;
  for (auto &[name, detail] : s.calls)
    if (name.rfind("cuCtx", 0) && name.rfind("cuDeviceGet", 0) && name.rfind("cuDeviceTotal", 0) &&
        name.rfind("cuFuncGet", 0) && name.rfind("cuMemGetInfo", 0) && name.rfind("cuDriverGet", 0))
      result.push_back(name);
  return result;
}

int callCount(const std::string &function) {
  State &s = state();
  std::lock_guard<std::recursive_mutex> lock(s.mutex);
  int count = 0;
  for (auto &call : s.calls)
    count += call.first == function;
  return count;
}

Live live() {
  State &s = state();
  std::lock_guard<std::recursive_mutex> lock(s.mutex);
  Live result;
  for (int retained : s.retains)
    result.contexts += retained;
  result.allocations = static_cast<int>(s.memory.size());
  result.hostAllocations = static_cast<int>(s.pinned.size());
  result.modules = static_cast<int>(s.modules.size());
  result.streams = static_cast<int>(s.streams.size());
  result.events = static_cast<int>(s.events.size());
  result.graphs = static_cast<int>(s.graphs.size());
  result.graphExecs = static_cast<int>(s.graphExecs.size());
  return result;
}

std::vector<std::string> misuses() {
  State &s = state();
  std::lock_guard<std::recursive_mutex> lock(s.mutex);
  return s.misuses;
}

} // namespace fakecuda
