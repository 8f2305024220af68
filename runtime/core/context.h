// One stream of runs of an entry point: shapes, bindings, the arena, the prepared list of work.
// Used by one thread at a time. SPDX-License-Identifier: Apache-2.0
#ifndef CAMEO_RUNTIME_CORE_CONTEXT_H
#define CAMEO_RUNTIME_CORE_CONTEXT_H

#include "runtime/core/interpreter.h"
#include "runtime/core/model.h"

#include <functional>

namespace cameo::rt {

struct Allocator {
  void *user = nullptr;
  void *(*allocate)(void *user, uint64_t bytes) = nullptr;
  void (*release)(void *user, void *memory) = nullptr;
};

struct ContextOptions {
  uint32_t entry = 0;
  bool useGraphs = true;
  Stream stream = nullptr; // null: the context's own
  DevicePtr arena = 0;     // 0: allocated as needed
  uint64_t arenaBytes = 0;
  Allocator allocator;
};

// What kernels and copies count on of memory from the caller. The arena's buffers lie at multiples
// of kArenaAlignment in it.
constexpr uint64_t kBindingAlignment = 16, kArenaAlignment = 256;

struct Binding {
  enum Kind { None, Host, Device } kind = None;
  void *data = nullptr; // of device memory: its address
  uint64_t bytes = 0;
};

// Times of one launch, in milliseconds from the run's first.
struct LaunchTiming {
  const PlanKernel *kernel;
  const LaunchStep *step;
  double start, duration;
};

// Events that a run records as it goes, for benchmarks; all valid, or none.
struct PhaseEvents {
  Event begin = nullptr, inputsDone = nullptr, computeDone = nullptr, end = nullptr;
};

class Context {
public:
  static Status create(std::shared_ptr<Model> model, const ContextOptions &options,
                       std::unique_ptr<Context> &context);
  ~Context();

  const Plan &plan() const { return entry->plan; }
  const Model &model() const { return *owner; }

  Status setInputShape(uint32_t input, const Shape &shape);
  Status setSymbol(const char *symbol, int64_t size);
  Status setInputValue(uint32_t input, const void *data, uint64_t bytes);
  Status inputShape(uint32_t input, Shape &shape) const;
  // These run the plan where that is due.
  Status outputShape(uint32_t output, Shape &shape);
  Status inputBytes(uint32_t input, uint64_t &bytes) const;
  Status outputBytes(uint32_t output, uint64_t &bytes);
  Status arenaBytes(uint64_t &bytes);
  Status workList(const WorkList *&work);

  Status bindInput(uint32_t input, const Binding &binding);
  Status bindOutput(uint32_t output, const Binding &binding);
  Status outputMemory(uint32_t output, DevicePtr &memory, uint64_t &bytes) const;
  Status setState(uint32_t input, uint32_t output);
  Status setArena(DevicePtr memory, uint64_t bytes);
  Status setStream(Stream stream);
  Stream stream() const { return current; }

  Status enqueue(const PhaseEvents *events = nullptr);
  Status synchronize();
  Status runTimed(const std::function<void(const LaunchTiming &)> &callback);

private:
  // Device memory that the context owns, and grows.
  struct Buffer {
    DevicePtr memory = 0;
    uint64_t bytes = 0;
  };
  struct InputState {
    Shape shape;
    bool shaped = false;
    Binding binding;
    bool hasValues = false;      // set by setInputValue
    std::vector<uint8_t> values; // host-resident inputs: what the work list was made for
    Buffer device;               // where host memory is copied to
    uint32_t state = UINT32_MAX; // the output that becomes this input
  };
  struct OutputState {
    Binding binding;
    Buffer device;
  };

  Context(std::shared_ptr<Model> model, const Entry *entry)
      : owner(std::move(model)), entry(entry) {}
  Device &device() const { return *owner->device(); }
  const char *inputName(uint32_t input) const { return plan().inputs()[input].name; }

  Status prepare();
  Status refreshValues();
  Status resolve();
  Status allocateBuffers();
  Status checkBindings() const;
  Status checkOverlaps() const;
  Status checkStates() const;
  DevicePtr address(const Place &place) const;
  DevicePtr inputAddress(uint32_t input) const;
  DevicePtr outputAddress(uint32_t output) const;
  Status copyInputs();
  Status copyOutputs();
  Status runSteps(std::vector<Event> *events);
  Status runStep(const Step &step);
  void discardOldContents();
  Status compute();
  Status captureSteps();
  void dropGraph();
  Status grow(Buffer &buffer, uint64_t bytes, const char *what);
  Status releaseBuffer(Buffer &buffer);
  Status settle();
  void invalidate();

  std::shared_ptr<Model> owner;
  const Entry *entry;
  ContextOptions options;
  Stream own = nullptr, current = nullptr;
  std::vector<InputState> inputs;
  std::vector<OutputState> outputs;
  Buffer arena; // owned; options.arena otherwise

  bool prepared = false; // `work` is right for shapes and values
  bool resolved = false; // addresses are in `slots`
  bool inFlight = false;
  WorkList work;
  std::vector<uint64_t> slots; // parameter values, as launches take them
  std::vector<void *> pointers;
  std::vector<uint64_t> argBytes; // of buffers
  std::vector<const char *> argNames;
  void *writeData = nullptr; // page-locked copy of work.data
  uint64_t writeBytes = 0;

  Graph graph = nullptr;
  bool graphsWork = true;
  uint32_t runsSinceResolve = 0;
};

} // namespace cameo::rt

#endif
