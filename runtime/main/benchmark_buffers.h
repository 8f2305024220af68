// A set of buffers that a benchmark's runs use in turn: a context whose tensors lie in device
// memory of its own, and page-locked host memory. SPDX-License-Identifier: Apache-2.0
#ifndef CAMEO_RUNTIME_MAIN_BENCHMARK_BUFFERS_H
#define CAMEO_RUNTIME_MAIN_BENCHMARK_BUFFERS_H

#include "runtime/main/benchmark.h"

namespace cameo::cli {

// Device and page-locked memory, given back with its owner.
class BenchmarkMemory {
public:
  BenchmarkMemory(runtime::Device &device, MemoryUse &use) : device(device), use(use) {}
  ~BenchmarkMemory();
  // Counted as `kind`; null: not counted.
  Status allocate(uint64_t bytes, const char *name, uint64_t MemoryUse::*kind,
                  runtime::DevicePtr &memory);
  Status allocatePinned(uint64_t bytes, void *&memory);

private:
  runtime::Device &device;
  MemoryUse &use;
  std::vector<runtime::DevicePtr> blocks;
  std::vector<void *> pinned;
};

// With two of them a run's transfers overlap with the computing of the other.
class BufferSet {
public:
  BufferSet(Session &session, MemoryUse &use) : session(session), memory(*session.device, use) {}

  // Runs are enqueued on `stream`. `reference` are outputs that a run has given for these inputs.
  Status create(const std::vector<HostTensor> &inputs, const std::vector<HostTensor> &reference,
                runtime::Stream stream);
  // Of the context, to be bound by the owner.
  Status arenaBytes(uint64_t &bytes) { return context->arenaBytes(bytes); }
  Status setArena(runtime::DevicePtr arena, uint64_t bytes) {
    return context->setArena(arena, bytes);
  }

  Status upload(runtime::Stream stream);
  Status compute();
  Status download(runtime::Stream stream);
  // Overwrites the outputs, on the device and on the host, so that those of an earlier run are no
  // longer there.
  Status clearOutputs(runtime::Stream stream);

  // What was downloaded, in a tensor that has the output's type and shape.
  Status takeOutput(uint32_t index, HostTensor &output);
  runtime::Context &runs() { return *context; }

private:
  struct Tensor {
    runtime::DevicePtr device = 0;
    void *host = nullptr;
    uint64_t bytes = 0;
  };
  Status bindInputs(const std::vector<HostTensor> &given);
  Status bindOutputs(const std::vector<HostTensor> &reference);

  Session &session;
  BenchmarkMemory memory;
  std::vector<Tensor> inputs, outputs;
  // Goes before the memory that is bound to it.
  std::unique_ptr<runtime::Context> context;
};

} // namespace cameo::cli

#endif
