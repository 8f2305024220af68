// Running a context's work: memory, addresses, transfers, launches, recorded graphs.
// SPDX-License-Identifier: Apache-2.0
#include "runtime/core/context.h"

#include <cstring>

namespace cameo::rt {

DevicePtr Context::inputAddress(uint32_t index) const {
  const InputState &input = inputs[index];
  return input.binding.kind == Binding::Device ? reinterpret_cast<DevicePtr>(input.binding.data)
                                               : input.device.memory;
}

DevicePtr Context::outputAddress(uint32_t index) const {
  const OutputState &output = outputs[index];
  return output.binding.kind == Binding::Device ? reinterpret_cast<DevicePtr>(output.binding.data)
                                                : output.device.memory;
}

DevicePtr Context::address(const Place &place) const {
  switch (place.space) {
  case Place::Arena:
    return (options.arena ? options.arena : arena.memory) + place.offset;
  case Place::Weights:
    return owner->weights() + place.offset;
  case Place::Input:
    return inputAddress(place.index) + place.offset;
  case Place::Output:
    return outputAddress(place.index) + place.offset;
  default:
    return 0;
  }
}

Status Context::checkBindings() const {
  auto tooSmall = [](const char *role, const PlanTensor &tensor, uint64_t given, uint64_t needed) {
    return failure(Code::InvalidArgument, "%s '%s': %llu bytes are bound, its shape needs %llu",
                   role, tensor.name, (unsigned long long)given, (unsigned long long)needed);
  };
  for (size_t i = 0; i < inputs.size(); ++i) {
    const Binding &binding = inputs[i].binding;
    if (binding.kind == Binding::None && !inputs[i].hasValues && work.inputBytes[i])
      return failure(Code::InvalidArgument, "input '%s' is not bound", plan().inputs()[i].name);
    if (binding.kind != Binding::None && binding.bytes < work.inputBytes[i])
      return tooSmall("input", plan().inputs()[i], binding.bytes, work.inputBytes[i]);
  }
  for (size_t i = 0; i < outputs.size(); ++i) {
    const Binding &binding = outputs[i].binding;
    if (binding.kind != Binding::None && binding.bytes < work.outputBytes[i])
      return tooSmall("output", plan().outputs()[i], binding.bytes, work.outputBytes[i]);
  }
  return checkStates();
}

// Kernels read inputs while outputs are written: device memory of the caller's that is both would
// give results that depend on the order of launches.
Status Context::checkOverlaps() const {
  struct Range {
    const char *role, *name;
    uint64_t start, bytes;
  };
  std::vector<Range> ranges;
  for (size_t i = 0; i < outputs.size(); ++i)
    if (outputs[i].binding.kind == Binding::Device)
      ranges.push_back(
          {"output", plan().outputs()[i].name, outputAddress(uint32_t(i)), work.outputBytes[i]});
  size_t written = ranges.size();
  for (size_t i = 0; i < inputs.size(); ++i)
    if (inputs[i].binding.kind == Binding::Device)
      ranges.push_back(
          {"input", plan().inputs()[i].name, inputAddress(uint32_t(i)), work.inputBytes[i]});
  for (size_t i = 0; i < written; ++i)
    for (size_t j = i + 1; j < ranges.size(); ++j)
      if (ranges[i].start < ranges[j].start + ranges[j].bytes &&
          ranges[j].start < ranges[i].start + ranges[i].bytes)
        return failure(Code::InvalidArgument,
                       "output '%s' and %s '%s' overlap in memory; for an output that becomes an "
                       "input there is cameo_context_set_state",
                       ranges[i].name, ranges[j].role, ranges[j].name);
  return {};
}

Status Context::checkStates() const {
  for (size_t i = 0; i < inputs.size(); ++i) {
    uint32_t output = inputs[i].state;
    if (output == UINT32_MAX)
      continue;
    const PlanTensor &tensor = plan().inputs()[i];
    if (inputs[i].binding.kind != Binding::Device)
      return failure(Code::InvalidArgument, "input '%s' is a state: bind device memory to it",
                     tensor.name);
    if (work.outputShapes[output] != inputs[i].shape)
      return failure(Code::InvalidArgument,
                     "output '%s' of shape %s cannot become input '%s' of "
                     "shape %s",
                     plan().outputs()[output].name,
                     formatType(work.outputShapes[output], tensor.dtype).c_str(), tensor.name,
                     formatType(inputs[i].shape, tensor.dtype).c_str());
  }
  return {};
}

Status Context::allocateBuffers() {
  for (size_t i = 0; i < inputs.size(); ++i)
    if (work.inputUsed[i] && inputs[i].binding.kind != Binding::Device)
      CAMEO_RETURN_IF_ERROR(grow(inputs[i].device, work.inputBytes[i], plan().inputs()[i].name));
  for (size_t i = 0; i < outputs.size(); ++i)
    if (outputs[i].binding.kind != Binding::Device)
      CAMEO_RETURN_IF_ERROR(grow(outputs[i].device, work.outputBytes[i], plan().outputs()[i].name));
  if (options.arena && options.arenaBytes < work.arenaBytes)
    return failure(Code::InvalidArgument, "the arena has %llu bytes; these shapes need %llu",
                   (unsigned long long)options.arenaBytes, (unsigned long long)work.arenaBytes);
  if (!options.arena)
    CAMEO_RETURN_IF_ERROR(grow(arena, work.arenaBytes, "intermediate values"));
  if (work.data.size() > writeBytes) {
    if (writeData)
      CAMEO_RETURN_IF_ERROR(device().releaseHost(writeData));
    writeData = nullptr;
    writeBytes = 0;
    CAMEO_RETURN_IF_ERROR(device().allocateHost(work.data.size(), writeData));
    writeBytes = work.data.size();
  }
  if (!work.data.empty())
    std::memcpy(writeData, work.data.data(), work.data.size());
  return {};
}

// Turns places into addresses, as launches take them.
Status Context::resolve() {
  CAMEO_RETURN_IF_ERROR(checkBindings());
  if (resolved)
    return {};
  CAMEO_RETURN_IF_ERROR(checkOverlaps());
  CAMEO_RETURN_IF_ERROR(settle());
  dropGraph();
  CAMEO_RETURN_IF_ERROR(allocateBuffers());
  slots.resize(work.args.size());
  pointers.resize(work.args.size());
  argBytes.resize(work.args.size());
  argNames.resize(work.args.size());
  for (size_t i = 0; i < work.args.size(); ++i) {
    const ArgValue &arg = work.args[i];
    slots[i] = arg.place.space == Place::None ? arg.bits : address(arg.place);
    argBytes[i] = arg.place.bytes;
    argNames[i] = arg.place.name;
    pointers[i] = &slots[i]; // little endian: narrow parameters are the low bytes
  }
  runsSinceResolve = 0;
  resolved = true;
  return {};
}

Status Context::copyInputs() {
  for (size_t i = 0; i < inputs.size(); ++i) {
    InputState &input = inputs[i];
    if (!work.inputUsed[i] || !work.inputBytes[i] || input.binding.kind == Binding::Device)
      continue;
    const void *source = input.hasValues ? input.values.data() : input.binding.data;
    CAMEO_RETURN_IF_ERROR(
        device().copyToDevice(input.device.memory, source, work.inputBytes[i], current));
  }
  return {};
}

Status Context::copyOutputs() {
  for (size_t i = 0; i < outputs.size(); ++i)
    if (outputs[i].binding.kind == Binding::Host && work.outputBytes[i])
      CAMEO_RETURN_IF_ERROR(device().copyToHost(outputs[i].binding.data, outputs[i].device.memory,
                                                work.outputBytes[i], current));
  for (size_t i = 0; i < inputs.size(); ++i) {
    uint32_t output = inputs[i].state;
    if (output == UINT32_MAX || !work.inputBytes[i])
      continue;
    DevicePtr target = inputAddress(uint32_t(i)), source = outputAddress(output);
    if (target != source)
      CAMEO_RETURN_IF_ERROR(device().copyOnDevice(target, source, work.inputBytes[i], current));
  }
  return {};
}

Status Context::runStep(const Step &step) {
  switch (step.kind) {
  case Step::Launch: {
    const LaunchStep &launch = work.launches[step.index];
    const PlanKernel &kernel = plan().kernels()[launch.kernel];
    Launch call{entry->kernels[launch.kernel],
                {launch.grid[0], launch.grid[1], launch.grid[2]},
                {kernel.block[0], kernel.block[1], kernel.block[2]},
                launch.sharedDynamic,
                pointers.data() + launch.firstArg,
                argBytes.data() + launch.firstArg,
                argNames.data() + launch.firstArg};
    Status status = device().launch(call, current);
    if (!status.ok())
      return failure(status.code(), "kernel '%s' (%s): %s", kernel.name, launch.onnxNodes,
                     status.message().c_str());
    return {};
  }
  case Step::Copy: {
    const CopyStep &copy = work.copies[step.index];
    DevicePtr target = address(copy.target), source = address(copy.source);
    return target == source ? Status() : device().copyOnDevice(target, source, copy.bytes, current);
  }
  default: {
    const WriteStep &write = work.writes[step.index];
    return device().copyToDevice(address(write.target),
                                 static_cast<const char *>(writeData) + write.offset, write.bytes,
                                 current);
  }
  }
}

// Nothing of an earlier run may be read. Of an output in the caller's memory that is also an input
// (a state), the contents do count.
void Context::discardOldContents() {
  if (work.arenaBytes)
    device().discard(options.arena ? options.arena : arena.memory, work.arenaBytes);
  for (size_t i = 0; i < outputs.size(); ++i)
    if (outputs[i].binding.kind != Binding::Device && work.outputBytes[i])
      device().discard(outputs[i].device.memory, work.outputBytes[i]);
}

// Records two events a launch, where asked to.
Status Context::runSteps(std::vector<Event> *events) {
  discardOldContents();
  auto birth = work.births.begin();
  for (size_t i = 0; i < work.steps.size(); ++i) {
    const Step &step = work.steps[i];
    for (; birth != work.births.end() && birth->step == i; ++birth)
      device().discard(address(birth->place), birth->place.bytes);
    bool timed = events && step.kind == Step::Launch;
    if (timed)
      CAMEO_RETURN_IF_ERROR(device().record((*events)[2 * step.index], current));
    CAMEO_RETURN_IF_ERROR(runStep(step));
    if (timed)
      CAMEO_RETURN_IF_ERROR(device().record((*events)[2 * step.index + 1], current));
  }
  return {};
}

void Context::dropGraph() {
  if (graph)
    (void)device().destroyGraph(graph);
  graph = nullptr;
}

Status Context::captureSteps() {
  Status begun = device().beginCapture(current);
  if (begun.code() == Code::Unsupported) {
    graphsWork = false;
    return {};
  }
  CAMEO_RETURN_IF_ERROR(std::move(begun));
  Status steps = runSteps(nullptr);
  // The capture must be ended whatever happened in it.
  Status ended = device().endCapture(current, graph);
  if (steps.ok() && ended.ok())
    return {};
  dropGraph();
  return steps.ok() ? std::move(ended) : std::move(steps);
}

// The first run with new addresses enqueues its work itself; the second records it for replay, as
// there is then reason to expect more of the same.
Status Context::compute() {
  if (graphsWork && !graph && runsSinceResolve == 1 && work.steps.size() > 1)
    CAMEO_RETURN_IF_ERROR(captureSteps());
  if (runsSinceResolve < 2)
    ++runsSinceResolve;
  if (graph)
    return device().launchGraph(graph, current);
  return runSteps(nullptr);
}

Status Context::enqueue(const PhaseEvents *events) {
  CAMEO_RETURN_IF_ERROR(prepare());
  CAMEO_RETURN_IF_ERROR(resolve());
  inFlight = true;
  if (events)
    CAMEO_RETURN_IF_ERROR(device().record(events->begin, current));
  CAMEO_RETURN_IF_ERROR(copyInputs());
  if (events)
    CAMEO_RETURN_IF_ERROR(device().record(events->inputsDone, current));
  CAMEO_RETURN_IF_ERROR(compute());
  if (events)
    CAMEO_RETURN_IF_ERROR(device().record(events->computeDone, current));
  CAMEO_RETURN_IF_ERROR(copyOutputs());
  if (events)
    CAMEO_RETURN_IF_ERROR(device().record(events->end, current));
  return {};
}

Status Context::synchronize() {
  inFlight = false;
  return device().synchronize(current);
}

Status Context::runTimed(const std::function<void(const LaunchTiming &)> &callback) {
  CAMEO_RETURN_IF_ERROR(prepare());
  CAMEO_RETURN_IF_ERROR(resolve());
  struct Events : std::vector<Event> {
    explicit Events(Device &device) : device(device) {}
    ~Events() {
      for (Event event : *this)
        (void)device.destroyEvent(event);
    }
    Device &device;
  } events(device());
  for (size_t i = 0; i < 2 * work.launches.size(); ++i) {
    Event event = nullptr;
    CAMEO_RETURN_IF_ERROR(device().createEvent(event));
    events.push_back(event);
  }
  inFlight = true;
  CAMEO_RETURN_IF_ERROR(copyInputs());
  CAMEO_RETURN_IF_ERROR(runSteps(&events));
  CAMEO_RETURN_IF_ERROR(copyOutputs());
  CAMEO_RETURN_IF_ERROR(synchronize());
  for (size_t i = 0; i < work.launches.size(); ++i) {
    float start = 0, duration = 0;
    CAMEO_RETURN_IF_ERROR(device().elapsed(events[0], events[2 * i], start));
    CAMEO_RETURN_IF_ERROR(device().elapsed(events[2 * i], events[2 * i + 1], duration));
    const LaunchStep &step = work.launches[i];
    callback({&plan().kernels()[step.kernel], &step, start, duration});
  }
  return {};
}

} // namespace cameo::rt
