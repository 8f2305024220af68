// The state of a run at the start of a segment: made of inputs, or of what a segment leaves and what was fetched.
// SPDX-License-Identifier: Apache-2.0
#include "runtime/core/arithmetic.h"
#include "runtime/core/hash.h"
#include "runtime/core/interpreter.h"

#include <algorithm>
#include <cstring>

namespace cameo::runtime {
Status checkShape(const PlanTensor &tensor, const Shape &shape) {
  if (shape.size() != tensor.dims.size())
    return failure(Code::InvalidArgument, "input '%s': rank %zu given (%s); the model takes %s",
                   tensor.name, shape.size(), formatType(shape, tensor.dtype).c_str(),
                   formatType(tensor).c_str());
  for (size_t i = 0; i < shape.size(); ++i)
    if (shape[i] < 0 || (tensor.dims[i] >= 0 && tensor.dims[i] != shape[i]))
      return failure(Code::InvalidArgument, "input '%s': shape %s given; the model takes %s",
                     tensor.name, formatType(shape, tensor.dtype).c_str(),
                     formatType(tensor).c_str());
  uint64_t bytes = 0;
  if (Status status = tensorBytes(shape, tensor.dtype, bytes); !status.ok())
    return failure(status.code(), "input '%s': %s", tensor.name, status.message().c_str());
  return {};
}

Status checkSymbols(const Plan &plan, const std::vector<Shape> &shapes) {
  struct Known {
    const char *symbol, *input;
    int64_t size;
  };
  std::vector<Known> known;
  for (size_t i = 0; i < shapes.size(); ++i) {
    const PlanTensor &tensor = plan.inputs()[i];
    for (size_t d = 0; d < tensor.dims.size(); ++d) {
      if (tensor.dims[d] >= 0 || !*tensor.symbols[d])
        continue;
      int64_t size = shapes[i][d];
      bool found = false;
      for (const Known &other : known) {
        if (std::strcmp(other.symbol, tensor.symbols[d]) != 0)
          continue;
        if (other.size != size)
          return failure(Code::InvalidArgument,
                         "size '%s' is %lld in input '%s' and %lld in input '%s'", other.symbol,
                         (long long)other.size, other.input, (long long)size, tensor.name);
        found = true;
      }
      if (!found)
        known.push_back({tensor.symbols[d], tensor.name, size});
    }
  }
  return {};
}

Status startState(const Plan &plan, const std::vector<PlanInput> &inputs, RunState &state) {
  for (size_t i = 0; i < inputs.size(); ++i) {
    const PlanTensor &tensor = plan.inputs()[i];
    uint64_t bytes = 0;
    CAMEO_RETURN_IF_ERROR(tensorBytes(inputs[i].shape, tensor.dtype, bytes));
    state.shapes.push_back(inputs[i].shape);
    const auto *first = static_cast<const uint8_t *>(inputs[i].values);
    bool isRead = first && (tensor.flags & CAMEO_TENSOR_HOST);
    state.values.emplace_back(first, isRead ? first + bytes : first);
  }
  state.begin(plan);
  return {};
}

void RunState::begin(const Plan &plan) {
  for (const PlanTensor &output : plan.outputs())
    outputs.push_back({false, {}, output.dims});
  arenas.assign(plan.arenaCount(), kUnsized);
  capacities.resize(plan.inputs().size());
}

SizedArena *WorkList::find(uint32_t arena) {
  for (SizedArena &sized : arenas)
    if (sized.arena == arena)
      return &sized;
  return nullptr;
}

void WorkList::sizeArena(uint32_t arena, uint64_t bytes, bool holdsOlder) {
  if (!find(arena))
    arenas.push_back({arena, holdsOlder});
  find(arena)->bytes = std::max(find(arena)->bytes, bytes);
}

void WorkList::noteUse(uint32_t arena, uint64_t liveBytes, uint64_t sumBytes) {
  SizedArena *sized = find(arena);
  if (!sized)
    return;
  sized->liveBytes = std::max(sized->liveBytes, liveBytes);
  sized->sumBytes = std::max(sized->sumBytes, sumBytes);
  arenaUseKnown = true;
}

uint64_t WorkList::arenaBytes(uint32_t arena) const {
  for (const SizedArena &sized : arenas)
    if (sized.arena == arena)
      return sized.bytes;
  return 0;
}

SizedArena WorkList::allArenas() const {
  SizedArena all;
  for (const SizedArena &sized : arenas) {
    all.bytes += sized.bytes;
    all.liveBytes += sized.liveBytes;
    all.sumBytes += sized.sumBytes;
  }
  return all;
}

RunState stateAfter(const WorkList &work, const void *fetched) {
  RunState state = work.next;
  const FetchStep &fetch = work.fetch;
  for (size_t i = 0; i < fetch.targets.size(); ++i)
    if (fetch.targets[i] != FetchStep::kNowhere)
      state.registers[fetch.targets[i]] = isFloat(fetch.dtype)
                                              ? asBits(readFloat(fetched, fetch.dtype, i))
                                              : readInteger(fetched, fetch.dtype, i);
  return state;
}

bool RunState::operator==(const RunState &other) const {
  return word == other.word && registers == other.registers && buffers == other.buffers &&
         shapes == other.shapes && values == other.values && outputs == other.outputs &&
         arenas == other.arenas && arena == other.arena && capacities == other.capacities;
}

namespace {

// Collects numbers for a hash. Only what differs often need go in.
class Mixer {
public:
  void add(uint64_t number) { sum = (sum ^ number) * 0x9e3779b97f4a7c15u + (sum >> 29); }
  template <typename T> void addAll(const std::vector<T> &numbers) {
    add(runtime::hash(numbers.data(), numbers.size() * sizeof(T)));
  }
  uint64_t sum = 0;
};

} // namespace

void RunState::forgetNames() {
  std::vector<uint32_t> numbers; // by the numbers that values have had
  uint32_t last = 0;
  for (Buffer &buffer : buffers) {
    buffer.place.name = buffer.unborn.name = "";
    if (buffer.place.space != Place::Arena)
      continue;
    numbers.resize(std::max<size_t>(numbers.size(), buffer.place.index + 1));
    uint32_t &number = numbers[buffer.place.index];
    if (!number)
      number = ++last;
    buffer.place.index = number;
    if (buffer.unborn.space == Place::Arena)
      buffer.unborn.index = number;
  }
}

uint64_t RunState::hash() const {
  Mixer mixer;
  mixer.add(word);
  mixer.addAll(registers);
  mixer.addAll(capacities);
  for (const Buffer &buffer : buffers) {
    mixer.add(buffer.place.offset);
    mixer.add(buffer.place.bytes);
  }
  for (const Shape &shape : shapes)
    mixer.addAll(shape);
  for (const std::vector<uint8_t> &read : values)
    mixer.addAll(read);
  for (const OutputShape &output : outputs)
    mixer.addAll(output.shape);
  return mixer.sum;
}

uint64_t RunState::bytes() const {
  uint64_t sum = sizeof(*this) + registers.size() * sizeof(int64_t) +
                 buffers.size() * sizeof(Buffer) + outputs.size() * sizeof(OutputShape) +
                 (arenas.size() + capacities.size()) * sizeof(uint64_t);
  for (const Shape &shape : shapes)
    sum += sizeof shape + shape.size() * sizeof(int64_t);
  for (const std::vector<uint8_t> &read : values)
    sum += sizeof read + read.size();
  return sum;
}

} // namespace cameo::runtime
