// A context's shapes, values and bindings, and the preparation of its work. Running it: run.cpp.
// SPDX-License-Identifier: Apache-2.0
#include "runtime/core/context.h"

#include <algorithm>
#include <cstring>

namespace cameo::rt {
namespace {

// Where growing memory stops being worth exact sizes.
constexpr uint64_t kBufferGranularity = 4096;

Status checkAlignment(const char *what, const char *name, uint64_t address, uint64_t alignment) {
  if (address % alignment == 0)
    return {};
  return failure(Code::InvalidArgument,
                 "%s%s: the device memory at 0x%llx is not aligned to %llu bytes", what, name,
                 (unsigned long long)address, (unsigned long long)alignment);
}

Status checkBinding(const char *role, const PlanTensor &tensor, const Binding &binding) {
  if (binding.kind != Binding::Device)
    return {};
  std::string name = std::string("'") + tensor.name + "'";
  return checkAlignment(role, name.c_str(), reinterpret_cast<uint64_t>(binding.data),
                        kBindingAlignment);
}

Status badIndex(const char *what, uint32_t index, size_t count) {
  return failure(Code::InvalidArgument, "%s %u: the model has %zu", what, index, count);
}

} // namespace

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
  context->graphsWork = options.useGraphs;
  if (!options.stream)
    CAMEO_RETURN_IF_ERROR(context->device().createStream(context->own));
  context->current = options.stream ? options.stream : context->own;
  context->inputs.resize(entry->plan.inputs().size());
  context->outputs.resize(entry->plan.outputs().size());
  for (size_t i = 0; i < context->inputs.size(); ++i) {
    InputState &input = context->inputs[i];
    input.shape = entry->plan.inputs()[i].dims;
    input.shaped = std::find(input.shape.begin(), input.shape.end(), -1) == input.shape.end();
  }
  result = std::move(context);
  return {};
}

Context::~Context() {
  (void)settle();
  dropGraph();
  for (InputState &input : inputs)
    (void)releaseBuffer(input.device);
  for (OutputState &output : outputs)
    (void)releaseBuffer(output.device);
  (void)releaseBuffer(arena);
  if (writeData)
    (void)device().releaseHost(writeData);
  if (own)
    (void)device().destroyStream(own);
}

// Waits for enqueued work, before memory that it uses goes away.
Status Context::settle() {
  if (!inFlight)
    return {};
  inFlight = false;
  return device().synchronize(current);
}

void Context::invalidate() { prepared = resolved = false; }

Status Context::setInputShape(uint32_t index, const Shape &shape) {
  if (index >= inputs.size())
    return badIndex("input", index, inputs.size());
  CAMEO_RETURN_IF_ERROR(checkShape(plan().inputs()[index], shape));
  InputState &input = inputs[index];
  if (!input.shaped || input.shape != shape)
    invalidate();
  input.shape = shape;
  input.shaped = true;
  return {};
}

Status Context::setSymbol(const char *symbol, int64_t size) {
  if (size < 0)
    return failure(Code::InvalidArgument, "size '%s' is negative: %lld", symbol, (long long)size);
  bool found = false;
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
      inputs[i].shape = shape;
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
  CAMEO_RETURN_IF_ERROR(settle()); // a transfer may still read the former values
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
    return failure(Code::InvalidArgument, "input '%s' has no shape yet; the model takes %s",
                   inputName(index), formatType(plan().inputs()[index]).c_str());
  shape = inputs[index].shape;
  return {};
}

Status Context::inputBytes(uint32_t index, uint64_t &bytes) const {
  Shape shape;
  CAMEO_RETURN_IF_ERROR(inputShape(index, shape));
  return tensorBytes(shape, plan().inputs()[index].dtype, bytes);
}

Status Context::outputShape(uint32_t index, Shape &shape) {
  if (index >= outputs.size())
    return badIndex("output", index, outputs.size());
  CAMEO_RETURN_IF_ERROR(prepare());
  shape = work.outputShapes[index];
  return {};
}

Status Context::outputBytes(uint32_t index, uint64_t &bytes) {
  if (index >= outputs.size())
    return badIndex("output", index, outputs.size());
  CAMEO_RETURN_IF_ERROR(prepare());
  bytes = work.outputBytes[index];
  return {};
}

Status Context::arenaBytes(uint64_t &bytes) {
  CAMEO_RETURN_IF_ERROR(prepare());
  bytes = work.arenaBytes;
  return {};
}

Status Context::workList(const WorkList *&list) {
  CAMEO_RETURN_IF_ERROR(prepare());
  list = &work;
  return {};
}

Status Context::bindInput(uint32_t index, const Binding &binding) {
  if (index >= inputs.size())
    return badIndex("input", index, inputs.size());
  CAMEO_RETURN_IF_ERROR(checkBinding("input ", plan().inputs()[index], binding));
  InputState &input = inputs[index];
  if (input.binding.kind != binding.kind || input.binding.data != binding.data)
    resolved = false;
  input.binding = binding;
  return {};
}

Status Context::bindOutput(uint32_t index, const Binding &binding) {
  if (index >= outputs.size())
    return badIndex("output", index, outputs.size());
  CAMEO_RETURN_IF_ERROR(checkBinding("output ", plan().outputs()[index], binding));
  OutputState &output = outputs[index];
  if (output.binding.kind != binding.kind || output.binding.data != binding.data)
    resolved = false;
  output.binding = binding;
  return {};
}

Status Context::outputMemory(uint32_t index, DevicePtr &memory, uint64_t &bytes) const {
  if (index >= outputs.size())
    return badIndex("output", index, outputs.size());
  if (!prepared || !resolved)
    return failure(Code::InvalidArgument, "output '%s' is nowhere before a run",
                   plan().outputs()[index].name);
  memory = outputAddress(index);
  bytes = work.outputBytes[index];
  return {};
}

Status Context::setState(uint32_t index, uint32_t output) {
  if (index >= inputs.size())
    return badIndex("input", index, inputs.size());
  if (output != UINT32_MAX) {
    if (output >= outputs.size())
      return badIndex("output", output, outputs.size());
    const PlanTensor &from = plan().outputs()[output], &to = plan().inputs()[index];
    if (from.dtype != to.dtype)
      return failure(Code::InvalidArgument,
                     "output '%s' of type %s cannot become input '%s' of "
                     "type %s",
                     from.name, dtypeName(from.dtype), to.name, dtypeName(to.dtype));
    if (to.flags & CAMEO_TENSOR_HOST)
      return failure(Code::Unsupported, "input '%s' is read on the host and cannot be a state",
                     to.name);
  }
  inputs[index].state = output;
  return {};
}

Status Context::setArena(DevicePtr memory, uint64_t bytes) {
  CAMEO_RETURN_IF_ERROR(checkAlignment("the arena", "", memory, kArenaAlignment));
  CAMEO_RETURN_IF_ERROR(settle());
  options.arena = memory;
  options.arenaBytes = bytes;
  resolved = false;
  return {};
}

Status Context::setStream(Stream stream) {
  CAMEO_RETURN_IF_ERROR(settle());
  if (!stream && !own)
    CAMEO_RETURN_IF_ERROR(device().createStream(own));
  current = stream ? stream : own;
  resolved = false;
  return {};
}

Status Context::grow(Buffer &buffer, uint64_t bytes, const char *what) {
  if (bytes <= buffer.bytes)
    return {};
  CAMEO_RETURN_IF_ERROR(releaseBuffer(buffer));
  uint64_t rounded = (bytes + kBufferGranularity - 1) / kBufferGranularity * kBufferGranularity;
  Status status;
  DevicePtr memory = 0;
  if (options.allocator.allocate) {
    memory =
        reinterpret_cast<DevicePtr>(options.allocator.allocate(options.allocator.user, rounded));
    if (!memory)
      status = failure(Code::OutOfMemory, "the caller's allocator gave none");
    else
      status = checkAlignment("the caller's allocator", "", memory, kArenaAlignment);
    if (memory && !status.ok() && options.allocator.release)
      options.allocator.release(options.allocator.user, reinterpret_cast<void *>(memory));
  } else {
    status = device().allocate(rounded, memory);
  }
  if (!status.ok())
    return failure(status.code(), "%llu bytes of device memory for %s: %s",
                   (unsigned long long)rounded, what, status.message().c_str());
  buffer = {memory, rounded};
  device().nameMemory(memory, what);
  return {};
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
  for (size_t i = 0; i < inputs.size(); ++i) {
    Shape shape;
    CAMEO_RETURN_IF_ERROR(inputShape(uint32_t(i), shape));
  }
  CAMEO_RETURN_IF_ERROR(refreshValues());
  if (prepared)
    return {};
  CAMEO_RETURN_IF_ERROR(settle());
  resolved = false;
  std::vector<PlanInput> given(inputs.size());
  // A pointer that is not null, for host-resident inputs of no elements.
  static const uint64_t none = 0;
  for (size_t i = 0; i < inputs.size(); ++i) {
    given[i].shape = inputs[i].shape;
    if (plan().inputs()[i].flags & CAMEO_TENSOR_HOST)
      given[i].values =
          inputs[i].values.empty() ? &none : static_cast<void *>(inputs[i].values.data());
  }
  CAMEO_RETURN_IF_ERROR(runPlan(plan(), given, work));
  prepared = true;
  return {};
}

} // namespace cameo::rt
