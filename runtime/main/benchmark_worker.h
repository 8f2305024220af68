// A stream of a benchmark's runs. As in trtexec one run is enqueued ahead, and its transfers, on
// streams of their own, overlap with the computing of the run before it.
// SPDX-License-Identifier: Apache-2.0
#ifndef CAMEO_RUNTIME_MAIN_BENCHMARK_WORKER_H
#define CAMEO_RUNTIME_MAIN_BENCHMARK_WORKER_H

#include "runtime/main/benchmark_buffers.h"

namespace cameo::cli {

// What all workers have in common.
struct WorkerOptions {
  bool transfers = true;   // else inputs are uploaded once and outputs stay on the device
  bool blocking = false;   // waiting for the device does not spin
  uint64_t flushBytes = 0; // written before each run, so that caches hold nothing of it
};

// Called for each output of a run; `what` says which run it was.
using OutputCheck = std::function<bool(uint32_t index, const HostTensor &actual, const char *what)>;

class Worker {
public:
  Worker(Session &session, const WorkerOptions &options, MemoryUse &use)
      : session(session), device(*session.device), options(options), use(use),
        memory(*session.device, use) {}
  ~Worker();

  Status prepare(const std::vector<HostTensor> &inputs, const std::vector<HostTensor> &reference);
  // Samples of `together` runs each, for so many milliseconds at least and `runs` in all.
  Status measure(double milliseconds, uint64_t runs, uint32_t together,
                 std::vector<Sample> &samples);
  // Whether the outputs of the last runs, and those of one more run of each set of buffers, are
  // what they should be.
  Status verify(const OutputCheck &check, bool &matched);

  runtime::Context &runs() { return sets[0]->runs(); }
  size_t setCount() const { return sets.size(); }
  uint64_t pinnedByContexts() const;

private:
  // Of a sample, on the streams.
  struct Slot {
    runtime::Event flush, inBegin, inEnd, computeBegin, computeEnd, outBegin, outEnd;
    double enqueueTime = 0;
  };
  static constexpr size_t kDepth = 2;

  Status createEvents();
  Status shareArena();
  Status enqueue(Slot &slot, BufferSet &set, uint32_t together);
  Status finish(const Slot &slot, uint32_t together, std::vector<Sample> &samples);
  Status checkOutputs(const OutputCheck &check, const char *what, bool &matched);

  Session &session;
  runtime::Device &device;
  const WorkerOptions options;
  MemoryUse &use;
  bool working = false; // work may be enqueued
  runtime::Stream compute = nullptr, up = nullptr, down = nullptr;
  std::vector<runtime::Stream> streams;
  std::vector<runtime::Event> events;
  Slot slots[kDepth];
  BenchmarkMemory memory;
  runtime::DevicePtr flushed = 0;
  std::vector<std::unique_ptr<BufferSet>> sets;
};

} // namespace cameo::cli

#endif
