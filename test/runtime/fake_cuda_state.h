// The fake driver's state, shared by its entry points and its controls. Handles are numbers that
// are never used twice, so that a stale handle is always noticed.
// SPDX-License-Identifier: Apache-2.0
#ifndef CAMEO_TEST_RUNTIME_FAKE_CUDA_STATE_H
#define CAMEO_TEST_RUNTIME_FAKE_CUDA_STATE_H

#include "fake_cuda_clock.h"
#include "runtime/cuda/driver_types.h"

#include <deque>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <random>
#include <set>
#include <thread>

namespace fakecuda {

using namespace cameo::runtime::cuda;

/// Errors that Cameo's own table of them (driver_types.h) does without.
enum : CUresult {
  errorNotInitialised = 3,
  errorInvalidDevice = 101,
  errorInvalidContext = 201,
  errorInvalidPtx = 218,
  errorInvalidHandle = 400,
  errorIllegalState = 401,
  errorOutOfResources = 701,
  errorNotPermitted = 800,
  errorCaptureUnsupported = 900,
  errorCaptureInvalidated = 901,
  errorCaptureMerge = 902,
  errorCaptureUnmatched = 903,
  errorCaptureUnjoined = 904,
  errorCaptureIsolation = 905,
  errorCaptureImplicit = 906,
  errorCapturedEvent = 907,
  errorCaptureWrongThread = 908
};

struct Event;
struct Stream;
struct Capture;

/// When the GPU got through a piece of work; shared by all that wait for it.
struct Mark {
  double end = -1; // microseconds; negative: it has not run
};

/// All that had been enqueued on a stream at some time.
struct Point {
  std::shared_ptr<Stream> stream; // null: nothing
  uint64_t count = 0;
  std::shared_ptr<Mark> mark;
};

/// A piece of work. Also what a graph's node does.
struct Op {
  std::string what;               // for messages
  std::function<CUresult()> work; // may be empty
  Engine engine = Engine::None;
  double duration = 0;
  std::shared_ptr<Event> event; // recorded when the work is done
  double submitted = 0;
  std::vector<Point> after;
  std::shared_ptr<Mark> mark;
  uint64_t ticket = 0; // of the event's recording
};

struct Node {
  enum Kind { Kernel, Copy, Fill, Record, Host, Empty } kind = Empty;
  uint64_t handle = 0;
  Op op;
  std::vector<uint64_t> after; // handles
};

struct Graph {
  std::vector<Node> nodes; // in the order in which they were added
};

struct GraphExec {
  std::vector<Node> nodes;     // in an order that their dependencies allow
  std::weak_ptr<Graph> source; // whose nodes' handles name ours
  Point last;                  // a graph waits for its own previous launch
};

/// A stream's work being recorded rather than enqueued.
struct Capture {
  Graph graph;
  std::shared_ptr<Stream> origin;
  std::map<Stream *, std::shared_ptr<Stream>> streams; // taking part
  std::set<Stream *> unjoined; // of those, the ones that nothing has waited for since their last
  bool open = true, invalid = false;
  int mode = 0;
  std::thread::id thread;
};

struct Event {
  bool timed = true;
  int device = 0;
  uint64_t recorded = 0, done = 0; // tickets
  Point point;                     // of the latest recording
  double microseconds = 0;
  std::shared_ptr<Capture> capture; // the latest recording was in this one
  Stream *captureStream = nullptr;
  std::vector<uint64_t> captureNodes;
};

struct Stream {
  enum Kind { Legacy, Blocking, NonBlocking } kind = Blocking;
  int device = 0;
  std::deque<Op> pending;
  uint64_t enqueued = 0, done = 0;
  std::shared_ptr<Mark> last; // of what was enqueued last
  double end = 0;             // of what has run
  std::shared_ptr<Capture> capture;
  std::vector<uint64_t> captureNodes; // what the next one recorded depends on
};

struct Parameter {
  size_t offset, size;
};

/// What the code says of a kernel; 0 where it does not.
struct Kernel {
  std::string name;
  std::vector<Parameter> parameters;
  bool parametersKnown = false;
  int sharedStatic = 0;
  unsigned block[3] = {};
  unsigned cluster[3] = {};
  unsigned maxThreads = 0;
  unsigned registers = 0;
};

struct Module {
  std::map<std::string, Kernel> kernels;
  int device = 0;
};

struct Function {
  uint64_t module = 0;
  Kernel kernel;
  int dynamicShared = 0;
  bool nonPortableCluster = false;
  bool mismatch = false; // the plan says otherwise
};

struct Registered {
  KernelShape shape;
  std::function<void(const Launch &)> body;
};

struct Allocation {
  size_t bytes;
  int device;
  int block; // of the device's memory; -1: blocks of its own
};

struct State {
  std::recursive_mutex mutex;
  bool initialised = false;
  int driverVersion = 13000;
  std::vector<DeviceSpec> devices;
  std::vector<int> retains;
  std::vector<MemoryBlocks> blocks; // a device
  size_t pinnedUsed = 0;

  uint64_t nextHandle = firstHandle;
  uint64_t nextTicket = 1;
  Clock clock;
  CUresult sticky = 0;
  CUresult fault = 0;             // of the kernel at hand
  std::thread::id inHostFunction; // the thread that runs one (cuLaunchHostFunc)
  Order order = Order::Lazy;
  bool deaf = false;
  std::mt19937_64 random;

  std::map<CUdeviceptr, Allocation> memory;
  std::map<uintptr_t, size_t> pinned;
  std::map<uint64_t, Module> modules;
  std::map<uint64_t, Function> functions;
  std::map<uint64_t, std::shared_ptr<Stream>> streams;
  std::map<std::pair<int, uint64_t>, std::shared_ptr<Stream>> defaultStreams; // device, thread
  std::vector<std::shared_ptr<Stream>> retired; // destroyed before their work was done
  std::map<uint64_t, std::shared_ptr<Event>> events;
  std::map<uint64_t, std::shared_ptr<Graph>> graphs;
  std::map<uint64_t, std::shared_ptr<GraphExec>> graphExecs;
  std::set<std::shared_ptr<Capture>> captures; // open ones

  std::vector<std::pair<std::string, std::string>> calls;
  std::vector<std::string> misuses;
  std::map<std::string, Registered> registered;
  std::set<std::string> mismatched; // kernels whose code and plan were found to differ
  std::map<std::string, CUresult> failingKernels;
  std::map<std::string, double> kernelTimes;
  std::string failing;
  int failingIn = 0;
  CUresult failingError = 0;
  bool failed = false;
  std::string log;
  CUresult logError = 0;
  std::string refused;
  int compileMilliseconds = 0; // really
  std::string traceFile;
  std::string artefactFile; // loaded by the first cuInit

  static constexpr uint64_t firstHandle = 0x1000;
  static constexpr CUresult hangs = -1; // a kernel that does not end
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
CUresult readPtx(const std::string &text, const DeviceSpec &device, int driverVersion,
                 Module &module, std::string &log);
CUresult readCubin(const char *image, const DeviceSpec &device, int driverVersion, Module &module);
bool isCubin(const void *image);
/// What a module is made from: `cubin sm_80`, `PTX sm_90a`.
std::string describeImage(const void *image);
std::string describeCubin(const void *image);
/// Whether refuseImages() has the image refused, and with what error.
CUresult refusal(const std::string &description);

/// How a plan and the code differ about a kernel; empty if they do not.
std::string compareKernel(const Kernel &code, const KernelShape &plan);

} // namespace fakecuda

#endif
