// The frame of the fake driver's entry points, and what they share.
// SPDX-License-Identifier: Apache-2.0
#ifndef CAMEO_TEST_RUNTIME_FAKE_CUDA_ENTRY_H
#define CAMEO_TEST_RUNTIME_FAKE_CUDA_ENTRY_H

#include "fake_cuda_state.h"

extern "C" {
// Declared from the one list of driver functions: a definition that differs does not compile.
#define CAMEO_CUDA_SYMBOL(name, ...)                                                               \
  __attribute__((visibility("default"))) cameo::runtime::cuda::CUresult name(__VA_ARGS__);
using namespace cameo::runtime::cuda;
#include "runtime/cuda/driver_symbols.def"

// What Cameo does not call, but its callers do.
#define FAKE_CUDA_SYMBOL __attribute__((visibility("default"))) cameo::runtime::cuda::CUresult
FAKE_CUDA_SYMBOL cuStreamBeginCapture_v2(CUstream stream, int mode);
FAKE_CUDA_SYMBOL cuStreamEndCapture(CUstream stream, CUgraph *graph);
FAKE_CUDA_SYMBOL cuStreamQuery(CUstream stream);
FAKE_CUDA_SYMBOL cuEventRecordWithFlags(CUevent event, CUstream stream, unsigned flags);

struct CUDA_MEMSET_NODE_PARAMS {
  CUdeviceptr dst;
  size_t pitch;
  unsigned value, elementSize;
  size_t width, height;
};
FAKE_CUDA_SYMBOL cuGraphAddMemsetNode(CUgraphNode *node, CUgraph graph,
                                      const CUgraphNode *dependencies, size_t dependencyCount,
                                      const CUDA_MEMSET_NODE_PARAMS *parameters, CUcontext context);
}

namespace fakecuda {

/// Context: the calling thread has one; an error of earlier work makes the call fail.
enum Needs { Nothing, Initialised, Context };

/// The frame of every entry point: takes the lock, records the call, charges the host for it, and
/// says whether it may go on.
struct Call {
  std::lock_guard<std::recursive_mutex> lock;
  const char *const name;
  CUresult error = CUDA_SUCCESS;
  bool mayRelease = true; // an injected failure does not keep a release from being done

  Call(const char *name, Needs needs, const std::string &detail = "");
  Call(const Call &) = delete;
  ~Call();
};

#define ENTER(...)                                                                                 \
  Call call(__func__, __VA_ARGS__);                                                                \
  if (call.error)                                                                                  \
  return call.error

// A release: an injected failure is reported after the release has been done, as the driver reports
// failures of earlier work.
#define ENTER_RELEASE(...)                                                                         \
  Call call(__func__, __VA_ARGS__);                                                                \
  if (!call.mayRelease)                                                                            \
  return call.error

template <typename Handle> uint64_t number(Handle handle) {
  return reinterpret_cast<uint64_t>(handle);
}
template <typename Handle> Handle handle(uint64_t value) { return reinterpret_cast<Handle>(value); }

inline std::string bytesOf(size_t bytes) { return std::to_string(bytes) + " B"; }
inline std::string addressOf(const void *host) {
  return std::to_string(reinterpret_cast<uintptr_t>(host));
}

/// Ends the process: what a real driver does then is not defined.
[[noreturn]] void die(const std::string &what);

/// What the handle stands for; null for a null handle, the end for one that does not live.
template <typename Map, typename Handle>
typename Map::mapped_type *find(Map &map, Handle handle, const char *kind) {
  auto found = map.find(number(handle));
  if (found != map.end())
    return &found->second;
  if (!handle)
    return nullptr;
  bool was = number(handle) >= State::firstHandle && number(handle) < state().nextHandle;
  die(std::string("was given ") + (was ? "a destroyed " : "what never was a ") + kind);
}

/// The thread's stack of current contexts.
std::vector<CUcontext> &contextStack();
int currentDevice();
/// Shared memory that a block may have.
int sharedOptin(const DeviceSpec &device);
int multiprocessors(const DeviceSpec &device);

// ---- Memory (fake_cuda_memory.cpp) --------------------------------------------------------------

/// The allocation that has the bytes.
const std::pair<const CUdeviceptr, Allocation> *findMemory(CUdeviceptr pointer, size_t bytes);
/// Bytes of page-locked memory from there on.
size_t pinnedFrom(const void *pointer);
/// Work that copies or fills memory. An error where addresses of the GPU are not.
CUresult copyUp(CUdeviceptr target, const void *source, size_t bytes, Op &op);
CUresult copyDown(void *target, CUdeviceptr source, size_t bytes, Op &op);
CUresult copyAcross(CUdeviceptr target, CUdeviceptr source, size_t bytes, Op &op);
CUresult fill(CUdeviceptr target, unsigned value, unsigned elementBytes, size_t count, Op &op);

// ---- Launches (fake_cuda_launch.cpp) ------------------------------------------------------------

struct LaunchConfig {
  unsigned grid[3], block[3];
  unsigned sharedBytes;
};
/// Work that runs a kernel, with its parameters' values as they are now.
CUresult prepareLaunch(CUfunction function, const LaunchConfig &config, void **parameters,
                       void **extra, Op &op);
std::string describe(CUfunction function, const LaunchConfig &config);

// ---- Queues (fake_cuda_queue.cpp) ---------------------------------------------------------------

/// The stream of a handle, the default ones included.
std::shared_ptr<Stream> findStream(CUstream stream);
/// Appends work to the stream, or to what it is capturing. `kind` is what a graph makes of it.
CUresult enqueue(const std::shared_ptr<Stream> &stream, Op op, Node::Kind kind);
/// All that is enqueued on the stream.
Point pointOf(const std::shared_ptr<Stream> &stream);
/// Runs all up to the point and what that waits for.
CUresult drain(const Point &point);
/// Runs one piece of that work; false where none is left.
bool advance(const Point &point);
/// Runs everything enqueued so far on all streams.
CUresult drainAll();
/// The host waits until the GPU has got through the work.
CUresult waitFor(const Point &point);
/// The host looks whether it has: CUDA_ERROR_NOT_READY if not.
CUresult poll(const Point &point);
/// Runs what the order of work (setOrder) has run on its own account.
void runAhead();
/// Forgets a context's streams and their work; of -1, those of all.
void dropStreams(int device);

// ---- Capture (fake_cuda_capture.cpp) ------------------------------------------------------------

/// Calls that a capture forbids in this thread spoil it.
CUresult forbiddenInCapture();
/// The legacy stream cannot be used while a blocking stream of the device captures.
CUresult checkImplicit(const Stream &stream, bool invalidates);
CUresult capture(const std::shared_ptr<Stream> &stream, Op op, Node::Kind kind);
/// Its streams work as before.
void closeCapture(const std::shared_ptr<Capture> &capture);
/// Has the stream wait for an event of a capture, which it joins.
CUresult waitInCapture(const std::shared_ptr<Stream> &stream, Event &event);
void recordInCapture(const std::shared_ptr<Stream> &stream, Event &event);
/// Adds the nodes in an order that their dependencies allow and that is, for nodes that do not
/// depend on each other, the reverse of that in which they were added.
std::vector<Node> ordered(const std::vector<Node> &nodes);

} // namespace fakecuda

#endif
