// One stream of runs of an entry point: shapes, bindings, the arena, the prepared list of work.
// Used by one thread at a time. SPDX-License-Identifier: Apache-2.0
#ifndef CAMEO_RUNTIME_CORE_CONTEXT_H
#define CAMEO_RUNTIME_CORE_CONTEXT_H

#include "runtime/arena.h"
#include "runtime/core/model.h"
#include "runtime/core/prepared.h"

#include <deque>
#include <functional>

namespace cameo::runtime {

struct Allocator {
  void *user = nullptr;
  void *(*allocate)(void *user, uint64_t bytes) = nullptr;
  void (*release)(void *user, void *memory) = nullptr;
};

struct ContextOptions {
  uint32_t entry = 0;
  bool useGraphs = true;
  bool keepsStates = true; // else the model's states are inputs and outputs like others
  Stream stream = nullptr; // null: the context's own
  DevicePtr arena = 0;     // 0: allocated as needed
  uint64_t arenaBytes = 0;
  Allocator allocator;
  uint64_t seed = 0;          // of random numbers
  bool repeatsRandom = false; // each run draws those of the first one
  // Bytes of the host's memory for segments that are kept, with their graphs.
  uint64_t keptBytes = uint64_t(256) << 20;
};

// What kernels and copies count on of memory from the caller. The arena's buffers lie at multiples
// of kArenaAlignment in it.
constexpr uint64_t kBindingAlignment = 16, kArenaAlignment = CAMEO_BUFFER_ALIGNMENT;

struct Binding {
  enum Kind { None, Host, Device } kind = None;
  void *data = nullptr; // of device memory: its address
  uint64_t bytes = 0;
};

// What a context holds, in bytes.
struct MemoryUse {
  uint64_t arena = 0;   // of the device; intermediate values
  uint64_t buffers = 0; // of the device; inputs and outputs that are not in the caller's memory
  uint64_t pinned = 0;  // of the host; page-locked
  uint32_t graphs = 0;  // kept for replay
};

// Times of one launch, in milliseconds from the run's first.
struct LaunchTiming {
  const PlanKernel *kernel;
  const LaunchStep *step;
  double start, duration;
  double spread; // between the quartiles of all replays
};

// A tapped value, as long as the call lasts that it is given to.
struct TapValue {
  uint32_t tap;               // index among the plan's
  const Shape &shape, &trips; // trips: numbers of those around it, outer loops first
  const void *data;           // host memory, or null where the value was wanted on the device
  DevicePtr memory;           // where it is there; nothing of the run is under way
  uint64_t bytes;
};
using TapCallback = std::function<Status(const TapValue &)>;

// Work that the last run has put down, in all of its segments.
struct RunCounts {
  uint64_t launches = 0, waits = 0; // for values that the run goes by
  bool replayed = true;             // all that a graph is worth while for
};

// From the end of a launch to the beginning of the next one, between which the host waits, in milliseconds.
struct WaitTiming {
  size_t launches;   // in front of it
  std::string value; // that is read back; empty: memory grows
  double duration;
  double spread; // between the quartiles of all runs
};

// How launches were timed. Times are milliseconds.
struct TimedRun {
  uint32_t replays = 0; // of which times are the medians; 0: `runs` runs, launch by launch
  uint32_t runs = 0;
  std::string notReplayed;    // why not, where a graph was tried
  double whole = 0;           // a replay from its first launch to its last, no events between
  double floor = 0;           // what is shown for a launch that does nothing:
  bool floorIsKernel = false; // for an empty kernel; else for no kernel at all
  uint64_t waits = 0;         // for values that the run goes by
  std::vector<WaitTiming> waitTimings = {}; // those with launches in front of them and behind
  double waited() const {
    double sum = 0;
    for (const WaitTiming &wait : waitTimings)
      sum += wait.duration;
    return sum;
  }
};
constexpr uint32_t kTimedReplays = 20;

Status badIndex(const char *what, uint32_t index, size_t count);

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
  // These run the plan where that is due. An output whose shape a run decides has none before it:
  // Code::NotKnownYet.
  Status outputShape(uint32_t output, Shape &shape);
  Status inputBytes(uint32_t input, uint64_t &bytes) const;
  // The most that each size can be in the next run, -1 where nothing bounds it.
  Status outputBound(uint32_t output, Shape &bound, bool &isExact);
  // Bytes of that bound; if there is none, those of the last run.
  Status outputBytes(uint32_t output, uint64_t &bytes);
  Status arenaBytes(uint64_t &bytes);
  // Work of the next run's first segment.
  Status workList(const WorkList *&work);

  Status bindInput(uint32_t input, const Binding &binding);
  Status bindOutput(uint32_t output, const Binding &binding);
  Status outputMemory(uint32_t output, DevicePtr &memory, uint64_t &bytes) const;
  Status setState(uint32_t input, uint32_t output);
  // Room for so many along the dimension along which a state grows in place.
  Status reserveState(uint32_t input, uint64_t capacity);
  // Copies what the next run begins with to host memory, and waits.
  Status readState(uint32_t input, void *data, uint64_t bytes);
  // Has states begin anew, with their first shapes.
  void resetStates();
  Status setArena(DevicePtr memory, uint64_t bytes);
  Status setStream(Stream stream);
  // Random numbers of the next run are those of a new context with that seed.
  void setSeed(uint64_t seed) {
    options.seed = seed;
    randomRuns = 0;
  }
  Stream stream() const { return current; }
  MemoryUse memoryUse() const;

  Status enqueue();
  Status synchronize();
  // Tells if the enqueued work is done; waits for nothing.
  Status isDone(bool &done);
  // Calls a function once what was enqueued is done: by a thread of the driver's, or before this returns.
  Status callWhenDone(void (*function)(void *), void *user);
  // True if the next run of this kind is a replay; with several segments, if the last one was.
  bool replays() const {
    return plan().hasSegments() ? counts.replayed : active && active->hasGraph();
  }
  RunCounts lastRun() const { return counts; }
  // Who is shown tapped values by runs to come, each as soon as it is there; null: nobody. Such
  // runs wait, and are not replays. The callback must not use the context but for readTap and
  // writeTap; its failure ends the run.
  void setTaps(TapCallback callback, bool onHost);
  // Within such a callback alone: the value that is shown to host memory, and over it from there.
  Status readTap(void *data, uint64_t bytes);
  Status writeTap(const void *data, uint64_t bytes);
  // Calls back for every launch in order, once the run is done. Taps are not shown. `how`, where it
  // is wanted, takes some replays more.
  Status runTimed(const std::function<void(const LaunchTiming &)> &callback,
                  uint32_t replays = kTimedReplays, TimedRun *how = nullptr);
  // Times `replays` replays of a graph that has the run's work `together` times, in milliseconds
  // each; without graphs the work is enqueued. Inputs and outputs are in device memory, or what was
  // last copied there.
  Status timeTogether(uint32_t together, uint32_t replays, std::vector<float> &milliseconds);

private:
  // Device memory that the context owns, and grows.
  struct Buffer {
    DevicePtr memory = 0;
    uint64_t bytes = 0;
  };
  // Page-locked memory between the caller's and the device.
  struct Staging {
    void *memory = nullptr;
    uint64_t bytes = 0;
  };
  struct InputState {
    Shape shape, first; // `first`: as the caller has set it, before a state has grown
    bool shaped = false;
    Binding binding;
    bool pageable = false;       // of bound host memory
    bool hasValues = false;      // set by setInputValue
    std::vector<uint8_t> values; // host-resident inputs: what the work list was made for
    Buffer device;               // where host memory is copied to
    Staging staging;
    uint32_t state = PlanTensor::kNone; // the output that becomes this input
    bool stateIsSet = false;            // `device` holds its value
    // Before the next run: `device` changes places with the output's, and `shape` becomes the output's.
    bool swaps = false, advances = false;
    uint64_t capacity = 0,
             reserved = 0; // of a state that grows in place: of `device`; what is asked for
  };
  struct OutputState {
    Binding binding;
    bool pageable = false; // of bound host memory
    Buffer device;
    Staging staging;
    uint32_t inPlace = PlanTensor::kNone; // the input in whose memory it is
  };

  Context(std::shared_ptr<Model> model, const Entry *entry)
      : owner(std::move(model)), entry(entry) {}
  Device &device() const { return *owner->device(); }
  const char *inputName(uint32_t input) const { return plan().inputs()[input].name; }

  const WorkList &work() const { return active->work; }
  bool isInPlace(uint32_t input) const { return plan().inputs()[input].isInPlace(); }
  bool ownsState(uint32_t input) const;

  Status changeBinding(const char *role, const PlanTensor &tensor, const Binding &binding,
                       Binding &bound, bool &pageable);
  Status prepare();
  Status refreshValues();
  Status findPrepared(const RunState &state, Prepared *&found);
  Status makeRoom(uint64_t bytes);
  void logPrepared(const Prepared &segment) const;
  RunState nextState() const;
  const Shape &nextShape(uint32_t input) const {
    return inputs[input].advances ? shapes[inputs[input].state].shape : inputs[input].shape;
  }
  Status notKnownYet(uint32_t output, const Shape &bound) const;
  Status noShape(uint32_t input) const;
  void takeOutputs(const WorkList &work);
  Status resolve();
  Status placeSegment(Prepared &segment);
  Status allocateBuffers();
  Status allocateArenas(const WorkList &work);
  DevicePtr arenaMemory(uint32_t arena) const;
  void discardArenas(const WorkList &work);
  Status allocateOutput(uint32_t output);
  Status checkBindings() const;
  bool isTooSmall(uint32_t output) const {
    const Binding &binding = outputs[output].binding;
    return binding.kind != Binding::None && binding.bytes < sizes[output];
  }
  Status checkOverlaps() const;
  Status checkStates() const;
  Status checkState(uint32_t input) const;
  DevicePtr address(const Place &place) const;
  DevicePtr inputAddress(uint32_t input) const;
  DevicePtr outputAddress(uint32_t output) const;
  Status enqueueAll();
  Status copyInputs();
  Status copyInput(uint32_t input);
  Status stageInput(uint32_t input, const void *&source);
  Status copyRandomState();
  Status copyOutputs();
  Status copyOutput(uint32_t output);
  Status copyOutput(uint32_t output, void *target);
  void listStates();
  void shapeStates();
  int64_t sizeNamed(uint32_t input, const char *symbol) const;
  Status fitStates(const WorkList &work);
  Status fitState(uint32_t input, uint64_t capacity);
  Status copyIntoState(uint32_t input);
  Status copyFromState(uint32_t output, void *target);
  Status copyPieces(uint32_t input, const Shape &shape, DevicePtr target, void *host);
  Status stateMemory(uint32_t output, DevicePtr &memory) const;
  Status keepStates();
  void advanceStates();
  void discardOldContents();
  Status timeLaunches(uint32_t replays, std::deque<LaunchStep> &steps,
                      std::vector<LaunchTiming> &timings, bool wantsReference, TimedRun &how);
  Status timeSteps(uint32_t replays, std::vector<LaunchTiming> &timings, bool wantsReference,
                   TimedRun &how);
  Status timeSegments(uint32_t runs, std::deque<LaunchStep> &steps,
                      std::vector<LaunchTiming> &timings, TimedRun &how);
  Status timeRun(std::deque<LaunchStep> &steps, std::vector<LaunchTiming> &timings,
                 std::vector<WaitTiming> &waits);
  Status timeRuns(uint32_t together, uint32_t replays, const std::vector<Event> &events,
                  std::vector<float> &milliseconds);
  Status timeReplays(uint32_t replays, std::vector<LaunchTiming> &timings, TimedRun &how);
  Status timeReference(uint32_t replays, size_t launches, TimedRun &how);
  Status timeRange(size_t first, size_t last, bool together, uint32_t replays,
                   std::vector<std::vector<float>> &times);
  // Calls with each segment of a run in turn; in between it waits for the values that the plan goes by.
  Status forEachSegment(const std::function<Status(Prepared &segment)> &enqueue);
  Status finishSegment(const Prepared &segment, RunState &next);
  Status fetch(const Prepared &segment, RunState &next);
  Status shapeOutputs(const Prepared &segment);
  Status compute(Prepared &segment);
  void makeGraph(Prepared &segment);
  bool retargetGraph(Prepared &segment);
  Status showTap(const TapStep &tap, DevicePtr memory);
  Status checkShown(uint64_t bytes) const;
  bool mayStage(bool pageable, uint64_t bytes) const;
  Status growStaging(Staging &staging, uint64_t bytes);
  Status grow(Buffer &buffer, uint64_t bytes, const char *what);
  Status allocate(uint64_t bytes, DevicePtr &memory);
  Status releaseBuffer(Buffer &buffer);
  Status settle();
  void invalidate();

  std::shared_ptr<Model> owner;
  const Entry *entry;
  ContextOptions options;
  Stream own = nullptr, current = nullptr;
  std::vector<InputState> inputs;
  std::vector<uint32_t> stateInputs; // those that an output becomes
  std::vector<OutputState> outputs;
  // Shapes of outputs: before a run what follows from the inputs, during and after it all that it gave.
  std::vector<OutputShape> shapes;
  std::vector<uint64_t> sizes; // bytes, 0 where the shape is not known
  std::vector<Buffer> arenas;  // owned; in place of the first one options.arena

  // Plans that draw random numbers do so by this state; and the runs that had some since the seed was set.
  bool drawsRandom = false;
  Buffer randomState;
  Staging randomStaging;
  uint64_t randomRuns = 0;

  TapCallback onTap;
  bool tapsOnHost = false;
  Staging tapStaging, fetchStaging;
  const TapValue *shown = nullptr; // as long as its callback lasts

  std::vector<std::unique_ptr<Prepared>> prepared; // segments of late
  std::vector<uint64_t> preparedHashes;            // of their states
  uint64_t preparedBytes = 0;                      // about what they take
  Prepared *active =
      nullptr; // a run's first, right for shapes and values of now; null: not known yet
  RunCounts counts;
  uint64_t uses = 0; // of segments
  struct Newcomers {
    uint32_t word;
    uint32_t inARow; // uses of segments there that were each the first of its own
  };
  std::vector<Newcomers> newcomers;
  uint64_t placed = 1;    // changes of where memory is
  bool resolved = false;  // the bindings fit `active`, and its memory is there
  bool graphsWork = true; // and are wanted
  bool capturing = false; // the caller records `current` during this run

  Event done = nullptr;         // recorded at the end of a run
  Event inputsCopied = nullptr; // recorded when the inputs' staging memory may be written again
  bool inFlight = false, inputsInFlight = false;
};

} // namespace cameo::runtime

#endif
