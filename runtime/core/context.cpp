// A context's shapes, values and bindings, and the preparation of its work. Running it: run.cpp.
// SPDX-License-Identifier: Apache-2.0
#include "runtime/core/context.h"

#include <algorithm>
#include <cstring>

namespace cameo::runtime {
namespace {

// Where growing memory stops being worth exact sizes.
constexpr uint64_t kBufferGranularity = 4096;
// Segments at most that are kept: each new one is looked for among them.
constexpr size_t kMostPrepared = 4096;

Status checkAlignment(const char *what, const char *name, uint64_t address, uint64_t alignment) {
  if (address % alignment == 0)
    return {};
  return failure(Code::InvalidArgument,
                 "%s%s: the device memory at 0x%llx is not aligned to %llu bytes", what, name,
                 (unsigned long long)address, (unsigned long long)alignment);
}

// A kernel that reads what it cannot reach ends the context, of this process's other users too.
Status checkReach(Device &device, const char *what, const char *name, DevicePtr memory) {
  Status status = memory ? device.checkDeviceMemory(memory) : Status();
  return status.ok() ? std::move(status)
                     : failure(status.code(), "%s%s: %s", what, name, status.message().c_str());
}

} // namespace

Status badIndex(const char *what, uint32_t index, size_t count) {
  return failure(Code::InvalidArgument, "%s %u: the model has %zu", what, index, count);
}

Status Context::create(std::shared_ptr<Model> model, const ContextOptions &options,
                       std::unique_ptr<Context> &result) {
  if (!model->device())
    return failure(Code::InvalidArgument, "the model was loaded without a device");
  if (options.entry >= model->entries().size())
    return badIndex("entry point", options.entry, model->entries().size());
  CAMEO_RETURN_IF_ERROR(checkAlignment("the arena", "", options.arena, kArenaAlignment));
  const Entry *entry = model->entries()[options.entry].get();
  std::unique_ptr<Context> context(new Context(std::move(model), entry));
  context->options = options;
  context->graphsWork = options.useGraphs && context->device().hasGraphs();
  if (options.useGraphs && !context->graphsWork &&
      context->device().info().kind == DeviceKind::Cuda)
    context->device().log.warning("runs are enqueued launch by launch: this driver has no graphs");
  DeviceScope scope(context->device());
  CAMEO_RETURN_IF_ERROR(std::move(scope.status));
  CAMEO_RETURN_IF_ERROR(context->device().createEvent(context->done, /*timed=*/false));
  CAMEO_RETURN_IF_ERROR(context->device().createEvent(context->inputsCopied, /*timed=*/false));
  if (options.arena)
    CAMEO_RETURN_IF_ERROR(checkReach(context->device(), "the arena", "", options.arena));
  if (!options.stream)
    CAMEO_RETURN_IF_ERROR(context->device().createStream(context->own));
  context->current = options.stream ? options.stream : context->own;
  context->inputs.resize(entry->plan.inputs().size());
  context->outputs.resize(entry->plan.outputs().size());
  context->arenas.resize(entry->plan.arenaCount());
  context->drawsRandom = entry->plan.drawsRandom();
  context->shapes.resize(context->outputs.size());
  context->sizes.resize(context->outputs.size());
  for (size_t i = 0; i < context->inputs.size(); ++i) {
    InputState &input = context->inputs[i];
    input.shape = entry->plan.inputs()[i].dims;
    input.shaped = std::find(input.shape.begin(), input.shape.end(), -1) == input.shape.end();
    input.first = input.shape;
    input.state = options.keepsStates ? entry->plan.inputs()[i].state : PlanTensor::kNone;
    if (context->isInPlace(uint32_t(i)))
      context->outputs[entry->plan.inputs()[i].state].inPlace = uint32_t(i);
  }
  context->listStates();
  result = std::move(context);
  return {};
}

Context::~Context() {
  // Nobody else is told of it.
  device().log.error(settle());
  prepared.clear();
  for (InputState &input : inputs) {
    (void)releaseBuffer(input.device);
    (void)device().releaseHost(input.staging.memory);
  }
  for (OutputState &output : outputs) {
    (void)releaseBuffer(output.device);
    (void)device().releaseHost(output.staging.memory);
  }
  (void)device().releaseHost(tapStaging.memory);
  (void)device().releaseHost(fetchStaging.memory);
  (void)releaseBuffer(randomState);
  (void)device().releaseHost(randomStaging.memory);
  for (Buffer &arena : arenas)
    (void)releaseBuffer(arena);
  for (Event event : {done, inputsCopied})
    if (event)
      (void)device().destroyEvent(event);
  if (own)
    (void)device().destroyStream(own);
}

// Waits for enqueued work, before memory that it uses goes away. By an event, not by the stream,
// which may be the caller's, busy with other things, or gone.
Status Context::settle() {
  if (!inFlight)
    return {};
  inFlight = inputsInFlight = false;
  return device().synchronizeEvent(done);
}

void Context::invalidate() {
  active = nullptr;
  resolved = false;
}

Status Context::setInputShape(uint32_t index, const Shape &shape) {
  if (index >= inputs.size())
    return badIndex("input", index, inputs.size());
  InputState &input = inputs[index];
  if (input.state != PlanTensor::kNone)
    advanceStates();
  // Sizes that are left open are those of a state.
  bool isShaped =
      input.state == PlanTensor::kNone || std::find(shape.begin(), shape.end(), -1) == shape.end();
  Shape closed = isShaped ? Shape() : shape;
  std::replace(closed.begin(), closed.end(), int64_t(-1), int64_t(0));
  CAMEO_RETURN_IF_ERROR(checkShape(plan().inputs()[index], isShaped ? shape : closed));
  if (!isShaped || !input.shaped || input.shape != shape) {
    invalidate();
    input.stateIsSet = false;
    input.first = shape;
  }
  input.shape = shape;
  input.shaped = isShaped;
  return {};
}

Status Context::setSymbol(const char *symbol, int64_t size) {
  if (size < 0)
    return failure(Code::InvalidArgument, "size '%s' is negative: %lld", symbol, (long long)size);
  bool found = false;
  advanceStates();
  for (size_t i = 0; i < inputs.size(); ++i) {
    const PlanTensor &tensor = plan().inputs()[i];
    Shape shape = inputs[i].shape;
    bool changed = false;
    for (size_t d = 0; d < shape.size(); ++d)
      if (tensor.dims[d] < 0 && std::strcmp(tensor.symbols[d], symbol) == 0) {
        shape[d] = size;
        changed = true;
      }
    if (!changed)
      continue;
    found = true;
    if (std::find(shape.begin(), shape.end(), -1) == shape.end()) {
      CAMEO_RETURN_IF_ERROR(setInputShape(uint32_t(i), shape));
    } else {
      inputs[i].shape = inputs[i].first = shape;
      invalidate();
    }
  }
  if (!found)
    return failure(Code::NotFound, "no input has a size named '%s'", symbol);
  return {};
}

Status Context::setInputValue(uint32_t index, const void *data, uint64_t bytes) {
  if (index >= inputs.size())
    return badIndex("input", index, inputs.size());
  InputState &input = inputs[index];
  if (!(plan().inputs()[index].flags & CAMEO_TENSOR_HOST))
    return failure(Code::InvalidArgument, "input '%s' is not read on the host: bind memory to it",
                   inputName(index));
  // The device has taken the former values: they are in pageable memory or were copied.
  invalidate();
  if (!data) {
    input.hasValues = false;
    input.values.clear();
    return {};
  }
  uint64_t needed = 0;
  CAMEO_RETURN_IF_ERROR(inputBytes(index, needed));
  if (bytes != needed)
    return failure(Code::InvalidArgument, "input '%s': %llu bytes given, its shape needs %llu",
                   inputName(index), (unsigned long long)bytes, (unsigned long long)needed);
  const uint8_t *first = static_cast<const uint8_t *>(data);
  input.values.assign(first, first + bytes);
  input.hasValues = true;
  return {};
}

Status Context::inputShape(uint32_t index, Shape &shape) const {
  if (index >= inputs.size())
    return badIndex("input", index, inputs.size());
  if (!inputs[index].shaped)
    return noShape(index);
  shape = nextShape(index);
  return {};
}

Status Context::noShape(uint32_t index) const {
  bool isState = inputs[index].state != PlanTensor::kNone;
  return failure(Code::InvalidArgument, "input '%s' has no shape yet%s; the model takes %s",
                 inputName(index), isState ? ", a state without a first value" : "",
                 formatType(plan().inputs()[index]).c_str());
}

Status Context::inputBytes(uint32_t index, uint64_t &bytes) const {
  Shape shape;
  CAMEO_RETURN_IF_ERROR(inputShape(index, shape));
  return tensorBytes(shape, plan().inputs()[index].dtype, bytes);
}

Status Context::outputShape(uint32_t index, Shape &shape) {
  if (index >= outputs.size())
    return badIndex("output", index, outputs.size());
  const WorkList *next = nullptr;
  CAMEO_RETURN_IF_ERROR(workList(next));
  const OutputShape &known = next->outputs[index].isKnown ? next->outputs[index] : shapes[index];
  if (!known.isKnown)
    return notKnownYet(index, next->outputs[index].bound);
  shape = known.shape;
  return {};
}

Status Context::outputBytes(uint32_t index, uint64_t &bytes) {
  if (index >= outputs.size())
    return badIndex("output", index, outputs.size());
  const WorkList *next = nullptr;
  CAMEO_RETURN_IF_ERROR(workList(next));
  const Shape &bound = next->outputs[index].bound;
  if (std::find(bound.begin(), bound.end(), -1) == bound.end())
    return tensorBytes(bound, plan().outputs()[index].dtype, bytes);
  if (!shapes[index].isKnown)
    return notKnownYet(index, bound);
  bytes = sizes[index];
  return {};
}

Status Context::outputBound(uint32_t index, Shape &bound, bool &isExact) {
  if (index >= outputs.size())
    return badIndex("output", index, outputs.size());
  const WorkList *next = nullptr;
  CAMEO_RETURN_IF_ERROR(workList(next));
  bound = next->outputs[index].bound;
  isExact = next->outputs[index].isKnown;
  return {};
}

Status Context::notKnownYet(uint32_t index, const Shape &bound) const {
  const PlanTensor &tensor = plan().outputs()[index];
  return failure(Code::NotKnownYet,
                 "output '%s': its shape is known after a run, which decides it; it is at most %s",
                 tensor.name, formatBound(tensor, bound).c_str());
}

// Takes over what a segment knows of the outputs at its end.
void Context::takeOutputs(const WorkList &work) {
  shapes = work.outputs;
  sizes = work.outputBytes;
}

Status Context::arenaBytes(uint64_t &bytes) {
  const WorkList *next = nullptr;
  CAMEO_RETURN_IF_ERROR(workList(next));
  bytes = next->arenaBytes(0);
  return {};
}

// The last run's shapes and outputs stay as they are, for those who look at them.
Status Context::workList(const WorkList *&list) {
  bool grows = false;
  for (uint32_t i : stateInputs)
    grows |= inputs[i].advances;
  Prepared *next = nullptr;
  if (active && grows)
    CAMEO_RETURN_IF_ERROR(refreshValues());
  if (active && grows)
    CAMEO_RETURN_IF_ERROR(findPrepared(nextState(), next));
  else
    CAMEO_RETURN_IF_ERROR(prepare());
  list = next ? &next->work : &work();
  return {};
}

Status Context::bindInput(uint32_t index, const Binding &binding) {
  if (index >= inputs.size())
    return badIndex("input", index, inputs.size());
  InputState &input = inputs[index];
  CAMEO_RETURN_IF_ERROR(
      changeBinding("input ", plan().inputs()[index], binding, input.binding, input.pageable));
  input.stateIsSet = false;
  return {};
}

Status Context::bindOutput(uint32_t index, const Binding &binding) {
  if (index >= outputs.size())
    return badIndex("output", index, outputs.size());
  OutputState &output = outputs[index];
  return changeBinding("output ", plan().outputs()[index], binding, output.binding,
                       output.pageable);
}

// Host memory is not in any launch: where it is changes nothing that has been prepared.
Status Context::changeBinding(const char *role, const PlanTensor &tensor, const Binding &binding,
                              Binding &bound, bool &pageable) {
  bool moved = bound.kind != binding.kind || bound.data != binding.data;
  bool isDevice = binding.kind == Binding::Device;
  if (moved && isDevice) {
    std::string name = std::string("'") + tensor.name + "'";
    auto memory = reinterpret_cast<DevicePtr>(binding.data);
    CAMEO_RETURN_IF_ERROR(checkAlignment(role, name.c_str(), memory, kBindingAlignment));
    CAMEO_RETURN_IF_ERROR(checkReach(device(), role, name.c_str(), memory));
  }
  if (moved && binding.kind == Binding::Host)
    CAMEO_RETURN_IF_ERROR(device().isPageable(binding.data, pageable));
  if (moved && (isDevice || bound.kind != binding.kind)) {
    resolved = false;
    ++placed;
  }
  bound = binding;
  return {};
}

Status Context::outputMemory(uint32_t index, DevicePtr &memory, uint64_t &bytes) const {
  if (index >= outputs.size())
    return badIndex("output", index, outputs.size());
  if (!active || !resolved)
    return failure(Code::InvalidArgument, "output '%s' is nowhere before a run",
                   plan().outputs()[index].name);
  if (!shapes[index].isKnown)
    return notKnownYet(index, work().outputs[index].bound);
  memory = outputAddress(index);
  bytes = sizes[index];
  bool isDense =
      outputs[index].inPlace == PlanTensor::kNone || outputs[index].binding.kind == Binding::Device;
  return isDense ? Status() : stateMemory(index, memory);
}

Status Context::setArena(DevicePtr memory, uint64_t bytes) {
  if (!memory && bytes)
    return failure(Code::InvalidArgument, "an arena of %llu bytes has no memory",
                   (unsigned long long)bytes);
  CAMEO_RETURN_IF_ERROR(checkAlignment("the arena", "", memory, kArenaAlignment));
  CAMEO_RETURN_IF_ERROR(checkReach(device(), "the arena", "", memory));
  CAMEO_RETURN_IF_ERROR(settle());
  options.arena = memory;
  options.arenaBytes = bytes;
  resolved = false;
  ++placed;
  return {};
}

void Context::setTaps(TapCallback callback, bool onHost) {
  onTap = std::move(callback);
  tapsOnHost = onHost;
}

// Runs of one context share memory: those on the new stream come after those on the old.
Status Context::setStream(Stream stream) {
  if (!stream && !own)
    CAMEO_RETURN_IF_ERROR(device().createStream(own));
  Stream next = stream ? stream : own;
  if (inFlight && next != current)
    CAMEO_RETURN_IF_ERROR(device().wait(next, done));
  current = next;
  return {};
}

// Freeing device memory makes the whole GPU wait, so memory that grows again grows by more than is
// asked for, where there is as much.
Status Context::grow(Buffer &buffer, uint64_t bytes, const char *what) {
  if (bytes <= buffer.bytes)
    return {};
  uint64_t wanted = std::max(bytes, buffer.bytes + buffer.bytes / 2);
  if (buffer.memory)
    CAMEO_RETURN_IF_ERROR(settle());
  CAMEO_RETURN_IF_ERROR(releaseBuffer(buffer));
  auto rounded = [](uint64_t size) {
    return (size + kBufferGranularity - 1) / kBufferGranularity * kBufferGranularity;
  };
  DevicePtr memory = 0;
  uint64_t given = rounded(wanted);
  Status status = allocate(given, memory);
  if (status.code() == Code::OutOfMemory && rounded(bytes) < given) {
    given = rounded(bytes);
    status = allocate(given, memory);
  }
  if (!status.ok())
    return failure(status.code(), "%llu bytes of device memory for %s: %s",
                   (unsigned long long)given, what, status.message().c_str());
  buffer = {memory, given};
  ++placed;
  device().nameMemory(memory, what);
  device().log.debug("%llu bytes of device memory for %s", (unsigned long long)given, what);
  return {};
}

Status Context::allocate(uint64_t bytes, DevicePtr &memory) {
  const Allocator &allocator = options.allocator;
  if (!allocator.allocate)
    return device().allocate(bytes, memory);
  memory = reinterpret_cast<DevicePtr>(allocator.allocate(allocator.user, bytes));
  if (!memory)
    return failure(Code::OutOfMemory, "the caller's allocator returned no memory");
  Status status = checkAlignment("the caller's allocator", "", memory, kArenaAlignment);
  if (!status.ok() && allocator.release)
    allocator.release(allocator.user, reinterpret_cast<void *>(memory));
  return status;
}

Status Context::releaseBuffer(Buffer &buffer) {
  Buffer old = buffer;
  buffer = {};
  if (!old.memory)
    return {};
  if (!options.allocator.allocate)
    return device().release(old.memory);
  if (options.allocator.release)
    options.allocator.release(options.allocator.user, reinterpret_cast<void *>(old.memory));
  return {};
}

MemoryUse Context::memoryUse() const {
  MemoryUse use;
  use.arena = options.arena ? options.arenaBytes : 0;
  for (const Buffer &arena : arenas)
    use.arena += arena.bytes;
  for (const InputState &input : inputs) {
    use.buffers += input.device.bytes;
    use.pinned += input.staging.bytes;
  }
  for (const OutputState &output : outputs) {
    use.buffers += output.device.bytes;
    use.pinned += output.staging.bytes;
  }
  use.buffers += randomState.bytes;
  use.pinned += tapStaging.bytes + fetchStaging.bytes + randomStaging.bytes;
  for (const auto &one : prepared) {
    use.pinned += one->work.data.size();
    use.graphs += one->hasGraph();
  }
  return use;
}

// Reads host-resident inputs anew from bound host memory; a change makes the plan run again.
Status Context::refreshValues() {
  for (size_t i = 0; i < inputs.size(); ++i) {
    InputState &input = inputs[i];
    if (!(plan().inputs()[i].flags & CAMEO_TENSOR_HOST))
      continue;
    uint64_t bytes = 0;
    CAMEO_RETURN_IF_ERROR(inputBytes(uint32_t(i), bytes));
    if (input.hasValues) {
      if (input.values.size() != bytes)
        return failure(Code::InvalidArgument, "input '%s': its shape changed after its values",
                       inputName(uint32_t(i)));
      continue;
    }
    if (input.binding.kind != Binding::Host)
      return failure(Code::InvalidArgument,
                     "input '%s' is read on the host: bind host memory or set its values",
                     inputName(uint32_t(i)));
    if (input.binding.bytes < bytes)
      return failure(Code::InvalidArgument,
                     "input '%s': %llu bytes are bound, its shape needs %llu",
                     inputName(uint32_t(i)), (unsigned long long)input.binding.bytes,
                     (unsigned long long)bytes);
    const uint8_t *data = static_cast<const uint8_t *>(input.binding.data);
    if (input.values.size() == bytes &&
        (bytes == 0 || std::memcmp(input.values.data(), data, bytes) == 0))
      continue;
    input.values.assign(data, data + bytes);
    invalidate();
  }
  return {};
}

Status Context::prepare() {
  if (!active) {
    advanceStates();
    shapeStates();
  }
  for (size_t i = 0; i < inputs.size(); ++i)
    if (!inputs[i].shaped)
      return noShape(uint32_t(i));
  CAMEO_RETURN_IF_ERROR(refreshValues());
  if (active)
    return {};
  Prepared *found = nullptr;
  CAMEO_RETURN_IF_ERROR(findPrepared(nextState(), found));
  active = found;
  takeOutputs(work());
  return {};
}

// The state that the next run begins with.
RunState Context::nextState() const {
  RunState state;
  state.begin(plan());
  for (uint32_t i = 0; i < inputs.size(); ++i) {
    const PlanTensor &tensor = plan().inputs()[i];
    state.shapes.push_back(nextShape(i));
    state.values.push_back(tensor.flags & CAMEO_TENSOR_HOST ? inputs[i].values
                                                            : std::vector<uint8_t>());
    if (tensor.isInPlace() && tensor.growing != PlanTensor::kNone)
      state.capacities[i] = std::max(inputs[i].capacity, inputs[i].reserved);
  }
  return state;
}

// The work for a state, made where there is none yet.
Status Context::findPrepared(const RunState &state, Prepared *&found) {
  uint64_t hash = state.hash();
  for (size_t i = 0; i < prepared.size(); ++i)
    if (preparedHashes[i] == hash && prepared[i]->isFor(state, hash)) {
      found = prepared[i].get();
      return {};
    }
  auto made = std::make_unique<Prepared>(device(), entry->plan, entry->kernels);
  CAMEO_RETURN_IF_ERROR(made->create(state));
  CAMEO_RETURN_IF_ERROR(makeRoom(made->bytes()));
  found = made.get();
  found->lastUsed = ++uses;
  logPrepared(*found);
  prepared.push_back(std::move(made));
  preparedHashes.push_back(hash);
  return {};
}

// Drops the segments that were used least recently, but for the active one, until there is room for another of `bytes`.
// Where they are too many, half of them go, so that looking at all of them is rare.
Status Context::makeRoom(uint64_t bytes) {
  preparedBytes += bytes;
  if (preparedBytes <= options.keptBytes && prepared.size() < kMostPrepared)
    return {};
  preparedBytes = bytes; // graphs were made and handed on since it was summed up
  for (const auto &one : prepared)
    preparedBytes += one->bytes();
  size_t most = prepared.size() < kMostPrepared ? prepared.size() : kMostPrepared / 2;
  if (preparedBytes <= options.keptBytes && prepared.size() <= most)
    return {};
  CAMEO_RETURN_IF_ERROR(settle());
  std::sort(prepared.begin(), prepared.end(), [this](const auto &a, const auto &b) {
    return std::pair(a.get() == active, a->lastUsed) > std::pair(b.get() == active, b->lastUsed);
  });
  while (prepared.size() > (active ? 1 : 0) &&
         (preparedBytes > options.keptBytes || prepared.size() > most)) {
    preparedBytes -= prepared.back()->bytes();
    prepared.pop_back();
  }
  preparedHashes.clear();
  for (const auto &one : prepared)
    preparedHashes.push_back(one->hash());
  return {};
}

void Context::logPrepared(const Prepared &segment) const {
  if (!device().log.wants(LogLevel::Debug))
    return;
  std::string sizes;
  for (size_t i = 0; i < inputs.size(); ++i)
    sizes += std::string(i ? ", '" : "'") + inputName(uint32_t(i)) +
             "': " + formatType(inputs[i].shape, plan().inputs()[i].dtype);
  std::string where;
  if (segment.key.word)
    where = " from word " + std::to_string(segment.key.word) + " on";
  device().log.debug("'%s' is prepared for %s%s: %zu launches, %llu bytes of intermediate values",
                     plan().name(), sizes.empty() ? "no inputs" : sizes.c_str(), where.c_str(),
                     segment.work.launches.size(),
                     (unsigned long long)segment.work.allArenas().bytes);
}

} // namespace cameo::runtime
