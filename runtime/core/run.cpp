// Running a context's work: memory, addresses, transfers, replay. States: states.cpp.
// SPDX-License-Identifier: Apache-2.0
#include "runtime/core/context.h"
#include "runtime/core/random.h"

#include "runtime/mutant.h"

#include <algorithm>
#include <cstring>

namespace cameo::runtime {
namespace {

// How often a graph is made for the same shapes: again only where the driver could not change it.
constexpr uint32_t kGraphsBuilt = 2;
// The how manieth state in a row that was never seen before gets a graph all the same: others like it
// will take it over.
constexpr uint32_t kNewcomersInARow = 3;

} // namespace

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

// The caller's arena is the first; what is known later has memory of its own.
DevicePtr Context::arenaMemory(uint32_t arena) const {
  return arena == 0 && options.arena ? options.arena : arenas[arena].memory;
}

DevicePtr Context::address(const Place &place) const {
  switch (place.space) {
  case Place::Arena:
    return arenaMemory(place.arena) + place.offset;
  case Place::Weights:
    return owner->weights() + place.offset;
  case Place::Input:
    return inputAddress(place.index) + place.offset;
  case Place::Output:
    return outputAddress(place.index) + place.offset;
  case Place::State:
    return inputs[place.index].device.memory + place.offset;
  case Place::Random:
    return randomState.memory + place.offset;
  default:
    return 0;
  }
}

namespace {

Status tooSmall(const char *role, const PlanTensor &tensor, uint64_t given, uint64_t needed) {
  return failure(Code::InvalidArgument, "%s '%s': %llu bytes are bound, its shape needs %llu", role,
                 tensor.name, (unsigned long long)given, (unsigned long long)needed);
}

} // namespace

Status Context::checkBindings() const {
  for (size_t i = 0; i < inputs.size(); ++i) {
    const Binding &binding = inputs[i].binding;
    if (binding.kind == Binding::None && !inputs[i].hasValues && !ownsState(uint32_t(i)) &&
        work().inputBytes[i])
      return failure(Code::InvalidArgument, "input '%s' is not bound", plan().inputs()[i].name);
    // Memory that is bound to a state gave its first value.
    bool isHeld = ownsState(uint32_t(i)) && inputs[i].stateIsSet;
    if (binding.kind != Binding::None && !isHeld && binding.bytes < work().inputBytes[i])
      return tooSmall("input", plan().inputs()[i], binding.bytes, work().inputBytes[i]);
  }
  // Nothing is to be said of one whose shape is not known yet.
  for (uint32_t i = 0; i < outputs.size(); ++i)
    if (isTooSmall(i))
      return tooSmall("output", plan().outputs()[i], outputs[i].binding.bytes, sizes[i]);
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
      ranges.push_back({"output", plan().outputs()[i].name, outputAddress(uint32_t(i)), sizes[i]});
  size_t written = ranges.size();
  for (size_t i = 0; i < inputs.size(); ++i)
    if (inputs[i].binding.kind == Binding::Device && !isInPlace(uint32_t(i)))
      ranges.push_back(
          {"input", plan().inputs()[i].name, inputAddress(uint32_t(i)), work().inputBytes[i]});
  if (options.arena)
    ranges.push_back({"the caller's", "arena", options.arena, work().arenaBytes(0)});
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

Status Context::allocateBuffers() {
  for (size_t i = 0; i < inputs.size(); ++i)
    if ((work().inputUsed[i] || ownsState(uint32_t(i))) &&
        inputs[i].binding.kind != Binding::Device && !isInPlace(uint32_t(i)))
      CAMEO_RETURN_IF_ERROR(grow(inputs[i].device, work().inputBytes[i], plan().inputs()[i].name));
  for (uint32_t i = 0; i < outputs.size(); ++i)
    CAMEO_RETURN_IF_ERROR(allocateOutput(i));
  CAMEO_RETURN_IF_ERROR(fitStates(work()));
  if (drawsRandom)
    CAMEO_RETURN_IF_ERROR(grow(randomState, CAMEO_RANDOM_BYTES, "random state"));
  return allocateArenas(work());
}

Status Context::allocateArenas(const WorkList &work) {
  for (const SizedArena &sized : work.arenas) {
    bool isCallers = sized.arena == 0 && options.arena;
    if (!isCallers)
      CAMEO_RETURN_IF_ERROR(grow(arenas[sized.arena], sized.bytes, "intermediate values"));
    else if (options.arenaBytes < sized.bytes)
      return failure(Code::InvalidArgument, "the arena has %llu bytes; these shapes need %llu",
                     (unsigned long long)options.arenaBytes, (unsigned long long)sized.bytes);
  }
  return {};
}

Status Context::allocateOutput(uint32_t index) {
  OutputState &output = outputs[index];
  return output.binding.kind == Binding::Device || output.inPlace != PlanTensor::kNone
             ? Status()
             : grow(output.device, sizes[index], plan().outputs()[index].name);
}

// Turns places into addresses, as launches take them.
Status Context::placeSegment(Prepared &segment) {
  if (segment.placedAt == placed)
    return {};
  CAMEO_RETURN_IF_ERROR(
      segment.setAddresses([this](const Place &place) { return address(place); }));
  segment.placedAt = placed;
  return {};
}

Status Context::resolve() {
  CAMEO_RETURN_IF_ERROR(checkBindings());
  if (resolved)
    return {};
  CAMEO_RETURN_IF_ERROR(checkOverlaps());
  CAMEO_RETURN_IF_ERROR(allocateBuffers());
  CAMEO_RETURN_IF_ERROR(placeSegment(*active));
  resolved = true;
  return {};
}

// ---- Transfers ----------------------------------------------------------------------------------

// Transfers from and to pageable memory make the caller wait for the stream. Up to this size they
// go through page-locked memory of the context's own.
constexpr uint64_t kStagedBytes = uint64_t(64) << 20;

// A recording would copy what the memory held while it was recorded.
bool Context::mayStage(bool pageable, uint64_t bytes) const {
  return pageable && bytes <= kStagedBytes && !capturing;
}

Status Context::growStaging(Staging &staging, uint64_t bytes) {
  if (bytes <= staging.bytes)
    return {};
  CAMEO_RETURN_IF_ERROR(settle());
  if (staging.memory)
    CAMEO_RETURN_IF_ERROR(device().releaseHost(staging.memory));
  staging = {};
  CAMEO_RETURN_IF_ERROR(device().allocateHost(bytes, staging.memory));
  staging.bytes = bytes;
  return {};
}

Status Context::stageInput(uint32_t index, const void *&source) {
  InputState &input = inputs[index];
  uint64_t bytes = work().inputBytes[index];
  source = input.hasValues ? input.values.data() : input.binding.data;
  if (!mayStage(input.pageable || input.hasValues, bytes))
    return {};
  CAMEO_RETURN_IF_ERROR(growStaging(input.staging, bytes));
  if (inputsInFlight)
    CAMEO_RETURN_IF_ERROR(device().synchronizeEvent(inputsCopied));
  inputsInFlight = false;
  std::memcpy(input.staging.memory, source, bytes);
  source = input.staging.memory;
  return {};
}

Status Context::copyInput(uint32_t index) {
  const void *source;
  CAMEO_RETURN_IF_ERROR(stageInput(index, source));
  return device().copyToDevice(inputs[index].device.memory, source, work().inputBytes[index],
                               current);
}

// Launches, and graphs of them, have its address alone, so that a replay draws other numbers.
Status Context::copyRandomState() {
  CAMEO_RETURN_IF_ERROR(growStaging(randomStaging, CAMEO_RANDOM_BYTES));
  if (inputsInFlight)
    CAMEO_RETURN_IF_ERROR(device().synchronizeEvent(inputsCopied));
  inputsInFlight = false;
  std::array<uint32_t, 8> state = runtime::randomState(options.seed, randomRuns);
  static_assert(sizeof state == CAMEO_RANDOM_BYTES);
  std::memcpy(randomStaging.memory, state.data(), sizeof state);
  return device().copyToDevice(randomState.memory, randomStaging.memory, sizeof state, current);
}

Status Context::copyInputs() {
  bool staged = drawsRandom;
  if (drawsRandom)
    CAMEO_RETURN_IF_ERROR(copyRandomState());
  for (uint32_t i = 0; i < inputs.size(); ++i) {
    InputState &input = inputs[i];
    uint64_t bytes = work().inputBytes[i];
    bool owned = ownsState(i);
    if (isInPlace(i)) {
      CAMEO_RETURN_IF_ERROR(copyIntoState(i));
      staged |= input.staging.memory != nullptr;
      continue;
    }
    if (!bytes || input.binding.kind == Binding::Device || (owned && input.stateIsSet) ||
        (!owned && !work().inputUsed[i]))
      continue;
    input.stateIsSet = owned;
    if (owned && input.binding.kind == Binding::None) {
      CAMEO_RETURN_IF_ERROR(device().fill(input.device.memory, 0, bytes, current));
      continue;
    }
    CAMEO_RETURN_IF_ERROR(copyInput(i));
    staged |= input.staging.memory != nullptr;
  }
  if (!staged || capturing)
    return {};
  CAMEO_RETURN_IF_ERROR(device().record(inputsCopied, current));
  inputsInFlight = true;
  return {};
}

namespace {

// The last part of a transfer to pageable memory, when the stream gets there.
struct HostCopy {
  void *target;
  const void *source;
  uint64_t bytes;
};

void copyToCaller(void *user) {
  std::unique_ptr<HostCopy> copy(static_cast<HostCopy *>(user));
  std::memcpy(copy->target, copy->source, copy->bytes);
}

} // namespace

Status Context::copyOutput(uint32_t index, void *target) {
  const OutputState &output = outputs[index];
  return output.inPlace == PlanTensor::kNone
             ? device().copyToHost(target, output.device.memory, sizes[index], current)
             : copyFromState(index, target);
}

Status Context::copyOutput(uint32_t index) {
  OutputState &output = outputs[index];
  uint64_t bytes = sizes[index];
  if (!mayStage(output.pageable, bytes))
    return copyOutput(index, output.binding.data);
  CAMEO_RETURN_IF_ERROR(growStaging(output.staging, bytes));
  CAMEO_RETURN_IF_ERROR(copyOutput(index, output.staging.memory));
  auto copy =
      std::make_unique<HostCopy>(HostCopy{output.binding.data, output.staging.memory, bytes});
  CAMEO_RETURN_IF_ERROR(device().callHost(current, copyToCaller, copy.get()));
  (void)copy.release(); // it is the call's now
  return {};
}

Status Context::copyOutputs() {
  for (uint32_t i = 0; i < outputs.size(); ++i)
    if (outputs[i].binding.kind == Binding::Host && sizes[i])
      CAMEO_RETURN_IF_ERROR(copyOutput(i));
    else if (outputs[i].binding.kind == Binding::Device && outputs[i].inPlace != PlanTensor::kNone)
      CAMEO_RETURN_IF_ERROR(copyFromState(i, nullptr));
  return keepStates();
}

// ---- Runs ---------------------------------------------------------------------------------------

void Context::discardArenas(const WorkList &work) {
  for (const SizedArena &sized : work.arenas)
    if (sized.bytes && !sized.holdsOlder)
      device().discard(arenaMemory(sized.arena), sized.bytes);
}

// Nothing of an earlier run may be read. Of an output in the caller's memory that is also an input
// (a state), the contents do count.
void Context::discardOldContents() {
  discardArenas(work());
  for (size_t i = 0; i < outputs.size(); ++i)
    if (outputs[i].binding.kind != Binding::Device && outputs[i].device.memory && sizes[i])
      device().discard(outputs[i].device.memory, sizes[i]);
}

// The first run of its kind enqueues its work itself; the second makes the graph, as there is then
// reason to expect more of the same. Where the driver does not make one, there is still the way of
// the first run. States that never come again, as those of a cache that grows, hand one graph on.
void Context::makeGraph(Prepared &segment) {
  bool isNew = segment.runs == 0;
  Newcomers *row = nullptr;
  for (Newcomers &each : newcomers)
    if (each.word == segment.key.word)
      row = &each;
  if (!row)
    row = &newcomers.emplace_back(Newcomers{segment.key.word, 0});
  row->inARow = isNew ? row->inARow + 1 : 0;
  if (isNew && (retargetGraph(segment) || row->inARow < kNewcomersInARow))
    return;
  if (segment.graphsBuilt >= kGraphsBuilt)
    return;
  if (Status status = segment.buildGraph(); !status.ok())
    device().log.warning("runs are enqueued launch by launch, as no graph can be made of them: %s",
                         status.message().c_str());
}

// The least recently used graph of those whose state has come once and not again.
bool Context::retargetGraph(Prepared &segment) {
  Prepared *oldest = nullptr;
  for (const auto &one : prepared)
    if (one->hasGraph() && one->runs == 1 && one->key.word == segment.key.word &&
        one->isLike(segment) && (!oldest || one->lastUsed < oldest->lastUsed))
      oldest = one.get();
  return oldest && segment.takeGraph(*oldest).ok();
}

Status Context::compute(Prepared &segment) {
  bool shown = onTap && !segment.work.taps.empty();
  bool wanted = graphsWork && !capturing && !shown && segment.work.steps.size() > 1;
  if (wanted && !segment.hasGraph()) {
    preparedBytes -= segment.bytes();
    makeGraph(segment);
    preparedBytes += segment.bytes();
  }
  ++segment.runs;
  counts.replayed &= segment.hasGraph() || segment.work.steps.size() < 2;
  if (shown)
    return segment.enqueueSteps(current, nullptr, [this](const TapStep &tap, DevicePtr memory) {
      return showTap(tap, memory);
    });
  return segment.enqueue(current, wanted);
}

// ---- Segments -----------------------------------------------------------------------------------

Status Context::forEachSegment(const std::function<Status(Prepared &segment)> &enqueueSegment) {
  Prepared *segment = active;
  segment->lastUsed = ++uses;
  discardOldContents();
  counts = {segment->work.launches.size(), 0, true};
  uint64_t executed = segment->work.instructions;
  CAMEO_RETURN_IF_ERROR(enqueueSegment(*segment));
  while (segment->work.goesOn) {
    RunState next;
    CAMEO_RETURN_IF_ERROR(finishSegment(*segment, next));
    CAMEO_RETURN_IF_ERROR(findPrepared(next, segment));
    segment->lastUsed = ++uses;
    executed += segment->work.instructions;
    if (executed > kMaxInstructions)
      return failure(Code::OutOfRange,
                     "a run of '%s' takes more than %llu instructions and has waited %llu times: "
                     "does a loop of the model's end?",
                     plan().name(), (unsigned long long)kMaxInstructions,
                     (unsigned long long)counts.waits);
    CAMEO_RETURN_IF_ERROR(shapeOutputs(*segment));
    CAMEO_RETURN_IF_ERROR(fitStates(segment->work));
    CAMEO_RETURN_IF_ERROR(allocateArenas(segment->work));
    discardArenas(segment->work);
    CAMEO_RETURN_IF_ERROR(placeSegment(*segment));
    counts.launches += segment->work.launches.size();
    CAMEO_RETURN_IF_ERROR(enqueueSegment(*segment));
  }
  return {};
}

// Waits for what was put down so far, which has memory that is to grow, or for the values that decide how the run goes
// on.
Status Context::finishSegment(const Prepared &segment, RunState &next) {
  if (segment.work.fetches)
    return fetch(segment, next);
  ++counts.waits;
  next = segment.work.next;
  return device().synchronize(current);
}

Status Context::fetch(const Prepared &segment, RunState &next) {
  const Place &source = segment.work.fetch.source;
  CAMEO_RETURN_IF_ERROR(growStaging(fetchStaging, source.bytes));
  if (source.space == Place::Arena)
    CAMEO_RETURN_IF_ERROR(device().checkValue(segment.fetchAddress(), source.bytes, source.index));
  CAMEO_RETURN_IF_ERROR(
      device().copyToHost(fetchStaging.memory, segment.fetchAddress(), source.bytes, current));
  CAMEO_RETURN_IF_ERROR(CAMEO_MUTANT(48, device().synchronize(current), Status()));
  ++counts.waits;
  next = stateAfter(segment.work, fetchStaging.memory);
  if (device().info().kind == DeviceKind::Cuda)
    next.forgetNames();
  return {};
}

// Outputs that have got their shapes in a segment: whether their bindings do for them, and memory.
Status Context::shapeOutputs(const Prepared &segment) {
  std::vector<uint32_t> shaped;
  for (uint32_t i = 0; i < outputs.size(); ++i)
    if (segment.work.outputs[i].isKnown && !shapes[i].isKnown)
      shaped.push_back(i);
  if (shaped.empty())
    return {};
  takeOutputs(segment.work);
  for (uint32_t i : shaped)
    if (isTooSmall(i))
      return tooSmall("output", plan().outputs()[i], outputs[i].binding.bytes, sizes[i]);
  CAMEO_RETURN_IF_ERROR(checkStates());
  CAMEO_RETURN_IF_ERROR(checkOverlaps());
  for (uint32_t i : shaped) {
    CAMEO_RETURN_IF_ERROR(allocateOutput(i));
    if (outputs[i].binding.kind != Binding::Device && outputs[i].device.memory && sizes[i])
      device().discard(outputs[i].device.memory, sizes[i]);
  }
  return {};
}

// ---- Taps ---------------------------------------------------------------------------------------

// The next step may write over the value: it is looked at before that is enqueued.
Status Context::showTap(const TapStep &tap, DevicePtr memory) {
  TapValue value{tap.tap, tap.shape, tap.trips, nullptr, memory, tap.bytes};
  if (tapsOnHost) {
    CAMEO_RETURN_IF_ERROR(growStaging(tapStaging, std::max<uint64_t>(tap.bytes, 1)));
    if (tap.bytes)
      CAMEO_RETURN_IF_ERROR(device().copyToHost(tapStaging.memory, memory, tap.bytes, current));
    value.data = tapStaging.memory;
  }
  CAMEO_RETURN_IF_ERROR(device().synchronize(current));
  shown = &value;
  Status status = onTap(value);
  shown = nullptr;
  return status.ok() ? Status()
                     : failure(status.code(), "tap '%s': %s", plan().taps()[tap.tap].name,
                               status.message().c_str());
}

Status Context::checkShown(uint64_t bytes) const {
  if (!shown)
    return failure(Code::InvalidArgument, "no tap is being shown");
  if (bytes != shown->bytes)
    return failure(Code::InvalidArgument, "tap '%s' has %llu bytes, not %llu",
                   plan().taps()[shown->tap].name, (unsigned long long)shown->bytes,
                   (unsigned long long)bytes);
  return {};
}

Status Context::readTap(void *data, uint64_t bytes) {
  CAMEO_RETURN_IF_ERROR(checkShown(bytes));
  if (!bytes)
    return {};
  CAMEO_RETURN_IF_ERROR(device().copyToHost(data, shown->memory, bytes, current));
  return device().synchronize(current);
}

Status Context::writeTap(const void *data, uint64_t bytes) {
  CAMEO_RETURN_IF_ERROR(checkShown(bytes));
  if (!bytes)
    return {};
  CAMEO_RETURN_IF_ERROR(device().copyToDevice(shown->memory, data, bytes, current));
  return device().synchronize(current);
}

// ---- Enqueueing ---------------------------------------------------------------------------------

Status Context::enqueue() {
  DeviceScope scope(device());
  CAMEO_RETURN_IF_ERROR(std::move(scope.status));
  CAMEO_RETURN_IF_ERROR(device().isCapturing(current, capturing));
  if (capturing && plan().hasSegments())
    return failure(Code::Unsupported,
                   "'%s' waits for values of its own, or its loops for memory, which a recording "
                   "of the stream cannot",
                   plan().name());
  if (capturing && drawsRandom)
    return failure(Code::Unsupported,
                   "'%s' draws random numbers, which a recording of the stream would repeat",
                   plan().name());
  advanceStates();
  CAMEO_RETURN_IF_ERROR(prepare());
  if (plan().hasSegments())
    takeOutputs(work()); // what an earlier run has decided is open again
  CAMEO_RETURN_IF_ERROR(resolve());
  if (capturing && onTap && !work().taps.empty())
    return failure(Code::Unsupported, "taps cannot be looked at while their stream is recorded");
  Status status = enqueueAll();
  // An event that is recorded becomes part of the recording and cannot be waited for.
  if (capturing)
    return status;
  if (status.ok())
    status = device().record(done, current);
  inFlight = status.ok();
  // A part of the work is on its way, to memory that the caller will think his own again.
  if (!inFlight)
    (void)device().synchronize(current);
  return status;
}

Status Context::enqueueAll() {
  CAMEO_RETURN_IF_ERROR(copyInputs());
  CAMEO_RETURN_IF_ERROR(forEachSegment([this](Prepared &segment) { return compute(segment); }));
  randomRuns += !options.repeatsRandom;
  return copyOutputs();
}

// Nothing may be on its way to the caller's memory afterwards, whatever the event says.
Status Context::synchronize() {
  Status status = settle();
  if (!status.ok())
    (void)device().synchronize(current);
  return status;
}

Status Context::isDone(bool &done) {
  done = true;
  return inFlight ? device().queryEvent(this->done, done) : Status();
}

Status Context::callWhenDone(void (*function)(void *), void *user) {
  bool isDone = false;
  CAMEO_RETURN_IF_ERROR(this->isDone(isDone));
  if (!isDone)
    return device().callHost(current, function, user);
  function(user);
  return {};
}

} // namespace cameo::runtime
