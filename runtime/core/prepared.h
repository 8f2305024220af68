// The work of a segment of a run for the state at its start, ready to be enqueued: with the addresses
// that its launches take, and the graph that replays it. A context keeps several, so that callers who
// alternate between shapes replay each, and loops whose states recur.
// SPDX-License-Identifier: Apache-2.0
#ifndef CAMEO_RUNTIME_CORE_PREPARED_H
#define CAMEO_RUNTIME_CORE_PREPARED_H

#include "runtime/core/device.h"
#include "runtime/core/interpreter.h"
#include "runtime/core/plan.h"

#include <functional>

namespace cameo::runtime {

// Called before and after a launch, by its index among the launches.
using LaunchHook = std::function<Status(size_t launch, bool after)>;
// Called with a value, and where it will be when the stream gets there.
using TapHook = std::function<Status(const TapStep &tap, DevicePtr memory)>;

class Prepared {
public:
  Prepared(Device &device, const Plan &plan, const std::vector<Kernel> &kernels)
      : device(device), plan(plan), kernels(kernels) {}
  // The work must be done.
  ~Prepared();

  // Runs the plan from that state on.
  Status create(RunState state);
  // True if it is the work for that state; `hash` is the state's.
  bool isFor(const RunState &state, uint64_t hash) const { return hash == keyHash && state == key; }
  uint64_t hash() const { return keyHash; }

  // Where places are now. Launches and the graph are told of those that changed since the last
  // call.
  Status setAddresses(const std::function<DevicePtr(const Place &)> &address);

  // Enqueues the work: by the graph, where there is one and it is wanted.
  Status enqueue(Stream stream, bool replay);
  // The same step by step.
  Status enqueueSteps(Stream stream, const LaunchHook &hook = nullptr,
                      const TapHook &onTap = nullptr);
  // Makes the graph for replay; needs addresses.
  Status buildGraph();
  bool hasGraph() const { return graph; }
  void dropGraph();
  // True if both have the same kernels and copies in the same order, whatever their sizes: a graph of
  // one can be made one of the other.
  bool isLike(const Prepared &other) const;
  // Takes the graph of another one like it and sets what differs; needs addresses. Where the driver
  // refuses that the graph is gone.
  Status takeGraph(Prepared &other);
  // Adds the steps to a graph of the caller's. `nodes`: one a step, null where it does nothing.
  Status addSteps(Graph graph, std::vector<GraphNode> &nodes, const LaunchHook &hook = nullptr);

  // About what it takes of the host's memory, with its graph.
  uint64_t bytes() const;
  // Address of the values that the segment ends with, once it is enqueued.
  DevicePtr fetchAddress() const { return fetchFrom; }

  RunState key;
  WorkList work;
  uint64_t runs = 0;     // enqueued
  uint64_t lastUsed = 0; // by the context's count of uses
  uint64_t placedAt = 0; // by the context's count of changes of memory; 0: no addresses yet
  uint32_t graphsBuilt = 0;

private:
  Launch launchOf(const LaunchStep &step);
  Status named(const LaunchStep &step, Status status) const;
  Status updateNode(size_t step, const std::vector<uint64_t> &before);
  Status retargetNode(size_t step, const Prepared &former);
  Status setNode(size_t step);
  Status enqueueStep(const Step &step, Stream stream);
  Status addStep(Graph graph, const Step &step, GraphNode &node);

  // Of a copy (target, source), of a write (target) or of a tap: where they are in `slots`.
  size_t copySlot(uint32_t copy) const { return work.args.size() + 2 * copy; }
  size_t writeSlot(uint32_t write) const {
    return work.args.size() + 2 * work.copies.size() + write;
  }
  size_t tapSlot(uint32_t tap) const { return writeSlot(uint32_t(work.writes.size())) + tap; }

  Device &device;
  const Plan &plan;
  const std::vector<Kernel> &kernels;
  uint64_t keyHash = 0, stepsHash = 0;

  // Values of the launches' parameters; then addresses of copies, writes and taps.
  std::vector<uint64_t> slots;
  std::vector<void *> pointers;       // to the parameters
  std::vector<uint64_t> argBytes;     // of buffers
  std::vector<const char *> argNames; // of buffers
  std::vector<uint32_t> argValues;    // of buffers in the arena
  std::vector<DevicePtr> births;      // addresses of work.births
  DevicePtr fetchFrom = 0;
  void *writeData = nullptr; // page-locked copy of work.data

  Graph graph = nullptr;
  std::vector<GraphNode> nodes; // one a step
};

} // namespace cameo::runtime

#endif
