// The fake driver's controls, for tests in the same process and, through the environment, for
// programs started by tests:
//   FAKECUDA_DEVICES=8.0,9.0  FAKECUDA_DRIVER=12040  FAKECUDA_FAIL=cuMemAlloc_v2:1:2
//   FAKECUDA_TRACE=file, to which calls, misuses and what is left at the end are appended
//   FAKECUDA_ARTEFACT=file, whose simulator image supplies the kernels; without it they do nothing
// SPDX-License-Identifier: Apache-2.0
#include "fake_cuda_state.h"

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
  s.used.assign(devices.size(), 0);
  s.devices = std::move(devices);
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
  configure(state, devices);
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
  s.streams.clear();
  s.events.clear();
  s.graphs.clear();
  s.graphExecs.clear();
  s.calls.clear();
  s.misuses.clear();
  s.registered.clear();
  s.failingKernels.clear();
  s.failing.clear();
  s.failed = false;
  s.log.clear();
  s.logError = 0;
  s.initialised = false;
  s.driverVersion = 13000;
  s.sticky = 0;
  s.clock = 0;
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

void setCompilerLog(const std::string &log, int error) {
  state().log = log;
  state().logError = error;
}

void registerKernel(const std::string &kernel, std::vector<size_t> sizes,
                    std::function<void(const Launch &)> body) {
  state().registered[kernel] = {std::move(sizes), std::move(body)};
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
  result.streams = static_cast<int>(s.streams.size() - s.streams.count(0) - s.streams.count(2));
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
