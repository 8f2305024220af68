// The fake driver's state, shared by its entry points and its controls. Handles are numbers that
// are never used twice, so that a stale handle is always noticed.
// SPDX-License-Identifier: Apache-2.0
#ifndef CAMEO_TEST_RUNTIME_FAKE_CUDA_STATE_H
#define CAMEO_TEST_RUNTIME_FAKE_CUDA_STATE_H

#include "fake_cuda.h"
#include "runtime/cuda/driver_types.h"

#include <deque>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <set>
#include <thread>

namespace fakecuda {

using namespace cameo::rt::cuda;

struct Event;
struct Stream;

struct Op {
  enum Kind { Work, Record, Wait } kind = Work;
  std::function<CUresult()> work;
  std::shared_ptr<Event> event;
  uint64_t ticket = 0; // Record, Wait: which recording of the event
};

struct Graph {
  std::vector<Op> ops;
  std::vector<uint64_t> nodes; // handles of ops, where the graph was put together node by node
  std::set<uint64_t> streams;  // taking part in the capture
  std::set<uint64_t> unjoined; // forked and not yet waited for by the origin
  bool open = true, invalid = false;
};

struct Event {
  uint64_t recorded = 0, done = 0; // tickets
  uint64_t stream = 0;
  double microseconds = 0;
  std::shared_ptr<Graph> capture; // recorded inside of this capture
};

struct Stream {
  std::deque<Op> pending;
  std::shared_ptr<Graph> capture;
  bool origin = false;
  std::thread::id captureThread;
};

struct Kernel {
  std::string name;
  std::vector<size_t> parameters;
  bool parametersKnown = false;
  int sharedStatic = 0;
};

struct Module {
  std::map<std::string, Kernel> kernels;
};

struct Function {
  uint64_t module;
  Kernel kernel;
  int dynamicShared = 48 * 1024;
};

struct Registered {
  std::vector<size_t> sizes;
  std::function<void(const Launch &)> body;
};

struct State {
  std::recursive_mutex mutex;
  bool initialised = false;
  int driverVersion = 13000;
  std::vector<DeviceSpec> devices;
  std::vector<int> retains;
  std::vector<size_t> used;

  uint64_t nextHandle = 0x1000;
  uint64_t nextTicket = 1;
  double clock = 0; // microseconds
  CUresult sticky = 0;

  std::map<CUdeviceptr, std::pair<size_t, int>> memory; // bytes, device
  std::map<uintptr_t, size_t> pinned;
  std::map<uint64_t, Module> modules;
  std::map<uint64_t, Function> functions;
  std::map<uint64_t, std::shared_ptr<Stream>> streams;
  std::map<uint64_t, std::shared_ptr<Event>> events;
  std::map<uint64_t, std::shared_ptr<Graph>> graphs, graphExecs;

  std::vector<std::pair<std::string, std::string>> calls;
  std::vector<std::string> misuses;
  std::map<std::string, Registered> registered;
  std::map<std::string, CUresult> failingKernels;
  std::string failing;
  int failingIn = 0;
  CUresult failingError = 0;
  bool failed = false;
  std::string log;
  CUresult logError = 0;
  std::string traceFile;
  std::string artefactFile; // loaded by the first cuInit
};

State &state();
/// Adds a line to the trace, where there is one.
void trace(const std::string &line);
/// Notes what the real driver would not report but is an error; a program's trace shows it too.
void misuse(const std::string &what);

/// Reads the kernels of a PTX text or a cubin; a driver error when this device and driver cannot
/// run it.
CUresult readImage(const void *image, const DeviceSpec &device, int driverVersion, Module &module,
                   std::string &log);
/// What a module is made from: `cubin sm_80`, `PTX sm_90a`.
std::string describeImage(const void *image);

} // namespace fakecuda

#endif
