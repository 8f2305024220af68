// Runs and times candidates on one device. SPDX-License-Identifier: Apache-2.0
#ifndef CAMEO_RUNTIME_TUNE_BENCH_H
#define CAMEO_RUNTIME_TUNE_BENCH_H

#include "runtime/core/context.h"
#include "runtime/cuda/nvml.h"
#include "runtime/tune/operands.h"
#include "runtime/tune/rounds.h"

#include <functional>
#include <map>

namespace cameo::tune {

class Bench {
public:
  Bench(const Bundle &bundle, std::shared_ptr<runtime::Device> device);
  ~Bench();

  // The newest architecture whose candidates the device takes, of those that the bundle has; where it
  // takes none, the error says why.
  Status chooseArch(uint32_t &arch);
  // Measures the candidates of a visit. `begin` and `end` are called around each, `end` with what came
  // of it. False: the device failed with the last of these, and is in no state to go on.
  bool visit(const Visit &visit, const std::function<void(uint32_t)> &begin,
             const std::function<void(const Result &)> &end);

private:
  struct Buffer {
    runtime::DevicePtr memory = 0;
    uint64_t bytes = 0;
  };
  // The content of an input's memory.
  struct Content {
    runtime::Shape shape;
    std::vector<uint32_t> order;
    Values values;
    bool operator==(const Content &other) const {
      return shape == other.shape && order == other.order && values == other.values;
    }
  };
  struct Outputs {
    std::vector<std::vector<uint8_t>> bytes;
  };

  Status load(const Candidate &candidate, std::unique_ptr<runtime::Context> &context);
  Status bind(runtime::Context &context, const Candidate &candidate, Values values);
  Status grow(Buffer &buffer, uint64_t bytes);
  Status run(runtime::Context &context, Outputs &outputs);
  Status time(runtime::Context &context, uint32_t replays, Result &result);
  Status measure(const Visit &visit, Result &result);
  // The outputs that those of the visit are compared with.
  Status prepareReference(const Visit &visit);

  const Bundle &bundle;
  std::shared_ptr<runtime::Device> device;
  std::unique_ptr<runtime::cuda::Nvml> nvml; // null: clocks are not told
  std::map<uint32_t, Buffer> inputs;         // by the operand's number
  std::map<uint32_t, Content> contents;
  std::vector<Buffer> outputs;
  uint32_t current = UINT32_MAX;      // the dispatch that contents are of
  std::unique_ptr<Outputs> reference; // of it; null: none has run
};

} // namespace cameo::tune

#endif
