// SPDX-License-Identifier: Apache-2.0
#include "runtime/core/prepared.h"

#include <algorithm>
#include <cstring>

namespace cameo::runtime {
namespace {

// The number of the value, or 0.
uint32_t valueIn(const Place &place) { return place.space == Place::Arena ? place.index : 0; }

} // namespace

Prepared::~Prepared() {
  dropGraph();
  if (writeData)
    (void)device.releaseHost(writeData);
}

Status Prepared::create(RunState state) {
  key = std::move(state);
  keyHash = key.hash();
  CAMEO_RETURN_IF_ERROR(runSegment(plan, key, work));
  for (const Step &step : work.steps) {
    uint64_t kernel = step.kind == Step::Launch ? work.launches[step.index].kernel : 0;
    stepsHash = (stepsHash ^ (kernel << 2 | step.kind)) * 0x9e3779b97f4a7c15u;
    stepsHash ^= stepsHash >> 31;
  }
  if (!work.data.empty()) {
    CAMEO_RETURN_IF_ERROR(device.allocateHost(work.data.size(), writeData));
    std::memcpy(writeData, work.data.data(), work.data.size());
  }
  size_t count = work.args.size();
  pointers.resize(count);
  argBytes.resize(count);
  argNames.resize(count);
  argValues.resize(count);
  slots.resize(count + 2 * work.copies.size() + work.writes.size() + work.taps.size());
  births.resize(work.births.size());
  for (size_t i = 0; i < count; ++i) {
    slots[i] = work.args[i].bits;
    argBytes[i] = work.args[i].place.bytes;
    argNames[i] = work.args[i].place.name;
    argValues[i] = valueIn(work.args[i].place);
    pointers[i] = &slots[i]; // little endian: narrow parameters are the low bytes
  }
  return {};
}

Status Prepared::setAddresses(const std::function<DevicePtr(const Place &)> &address) {
  std::vector<uint64_t> before;
  if (graph)
    before = slots;
  for (size_t i = 0; i < work.args.size(); ++i)
    if (work.args[i].place.space != Place::None)
      slots[i] = address(work.args[i].place);
  for (uint32_t i = 0; i < work.copies.size(); ++i) {
    slots[copySlot(i)] = address(work.copies[i].target);
    slots[copySlot(i) + 1] = address(work.copies[i].source);
  }
  for (uint32_t i = 0; i < work.writes.size(); ++i)
    slots[writeSlot(i)] = address(work.writes[i].target);
  for (uint32_t i = 0; i < work.taps.size(); ++i)
    slots[tapSlot(i)] = address(work.taps[i].source);
  for (size_t i = 0; i < births.size(); ++i)
    births[i] = address(work.births[i].place);
  if (work.fetches)
    fetchFrom = address(work.fetch.source);
  // A node that cannot be changed takes the graph with it: it is made anew when it is wanted.
  for (size_t i = 0; graph && i < work.steps.size(); ++i)
    if (!updateNode(i, before).ok())
      dropGraph();
  return {};
}

Status Prepared::updateNode(size_t index, const std::vector<uint64_t> &before) {
  const Step &step = work.steps[index];
  auto changed = [&](size_t first, size_t count) {
    return std::memcmp(&slots[first], &before[first], count * sizeof slots[0]) != 0;
  };
  bool differs = false;
  if (step.kind == Step::Launch) {
    const LaunchStep &launch = work.launches[step.index];
    uint32_t count = plan.kernels()[launch.kernel].argCount;
    differs = count && changed(launch.firstArg, count);
  } else if (step.kind == Step::Copy) {
    differs = changed(copySlot(step.index), 2);
  } else if (step.kind == Step::Write) {
    differs = changed(writeSlot(step.index), 1);
  }
  return differs ? setNode(index) : Status();
}

// Tells the graph what the step is now.
Status Prepared::setNode(size_t index) {
  const Step &step = work.steps[index];
  if (step.kind == Step::Launch)
    return device.setLaunch(graph, nodes[index], launchOf(work.launches[step.index]));
  if (step.kind == Step::Copy) {
    size_t slot = copySlot(step.index);
    // The graph has a node exactly where the copy does something.
    if (!nodes[index] || slots[slot] == slots[slot + 1])
      return failure(Code::Unsupported, "a copy came or went");
    return device.setCopy(graph, nodes[index], slots[slot], slots[slot + 1],
                          work.copies[step.index].bytes);
  }
  const WriteStep &write = work.writes[step.index];
  return device.setWrite(graph, nodes[index], slots[writeSlot(step.index)],
                         static_cast<const char *>(writeData) + write.offset, write.bytes);
}

bool Prepared::isLike(const Prepared &other) const {
  return stepsHash == other.stepsHash && work.steps.size() == other.work.steps.size();
}

Status Prepared::retargetNode(size_t index, const Prepared &former) {
  const Step &step = work.steps[index];
  if (step.kind == Step::Tap)
    return {};
  if (step.kind == Step::Launch) {
    const LaunchStep &now = work.launches[step.index], &then = former.work.launches[step.index];
    uint32_t count = plan.kernels()[now.kernel].argCount;
    if (std::equal(now.grid, now.grid + 3, then.grid) && now.sharedDynamic == then.sharedDynamic &&
        std::equal(slots.begin() + now.firstArg, slots.begin() + now.firstArg + count,
                   former.slots.begin() + then.firstArg))
      return {};
  } else if (step.kind == Step::Copy) {
    size_t slot = copySlot(step.index), was = former.copySlot(step.index);
    if (slots[slot] == slots[slot + 1] && !nodes[index])
      return {};
    if (slots[slot] == former.slots[was] && slots[slot + 1] == former.slots[was + 1] &&
        work.copies[step.index].bytes == former.work.copies[step.index].bytes)
      return {};
  }
  return setNode(index);
}

Status Prepared::takeGraph(Prepared &other) {
  graph = other.graph;
  nodes = std::move(other.nodes);
  other.graph = nullptr;
  Status status;
  for (size_t i = 0; status.ok() && i < work.steps.size(); ++i)
    status = retargetNode(i, other);
  if (!status.ok())
    dropGraph();
  return status;
}

Launch Prepared::launchOf(const LaunchStep &step) {
  const PlanKernel &kernel = plan.kernels()[step.kernel];
  return {kernels[step.kernel],
          {step.grid[0], step.grid[1], step.grid[2]},
          {kernel.block[0], kernel.block[1], kernel.block[2]},
          step.sharedDynamic,
          pointers.data() + step.firstArg,
          argBytes.data() + step.firstArg,
          argNames.data() + step.firstArg,
          argValues.data() + step.firstArg};
}

Status Prepared::named(const LaunchStep &step, Status status) const {
  if (status.ok())
    return status;
  return failure(status.code(), "kernel '%s' (%s): %s", plan.kernels()[step.kernel].name,
                 step.onnxNodes, status.message().c_str());
}

Status Prepared::enqueueStep(const Step &step, Stream stream) {
  switch (step.kind) {
  case Step::Launch: {
    const LaunchStep &launch = work.launches[step.index];
    return named(launch, device.launch(launchOf(launch), stream));
  }
  case Step::Copy: {
    size_t slot = copySlot(step.index);
    const CopyStep &copy = work.copies[step.index];
    if (slots[slot] == slots[slot + 1])
      return {};
    if (uint32_t value = valueIn(copy.source))
      CAMEO_RETURN_IF_ERROR(device.checkValue(slots[slot + 1], copy.bytes, value));
    CAMEO_RETURN_IF_ERROR(device.copyOnDevice(slots[slot], slots[slot + 1], copy.bytes, stream));
    if (uint32_t value = valueIn(copy.target))
      device.wroteValue(slots[slot], copy.bytes, value);
    return {};
  }
  case Step::Tap: // a hook's
    return {};
  default: {
    const WriteStep &write = work.writes[step.index];
    DevicePtr target = slots[writeSlot(step.index)];
    CAMEO_RETURN_IF_ERROR(device.copyToDevice(
        target, static_cast<const char *>(writeData) + write.offset, write.bytes, stream));
    if (uint32_t value = valueIn(write.target))
      device.wroteValue(target, write.bytes, value);
    return {};
  }
  }
}

Status Prepared::enqueueSteps(Stream stream, const LaunchHook &hook, const TapHook &onTap) {
  size_t birth = 0;
  for (size_t i = 0; i < work.steps.size(); ++i) {
    const Step &step = work.steps[i];
    for (; birth < births.size() && work.births[birth].step == i; ++birth) {
      const Place &place = work.births[birth].place;
      device.beginValue(births[birth], place.bytes, place.index, place.name);
    }
    bool hooked = hook && step.kind == Step::Launch;
    if (hooked)
      CAMEO_RETURN_IF_ERROR(hook(step.index, false));
    CAMEO_RETURN_IF_ERROR(enqueueStep(step, stream));
    if (hooked)
      CAMEO_RETURN_IF_ERROR(hook(step.index, true));
    if (onTap && step.kind == Step::Tap) {
      const TapStep &tap = work.taps[step.index];
      DevicePtr memory = slots[tapSlot(step.index)];
      if (uint32_t value = valueIn(tap.source))
        CAMEO_RETURN_IF_ERROR(device.checkValue(memory, tap.bytes, value));
      CAMEO_RETURN_IF_ERROR(onTap(tap, memory));
    }
  }
  return {};
}

Status Prepared::addStep(Graph target, const Step &step, GraphNode &node) {
  if (step.kind == Step::Launch) {
    const LaunchStep &launch = work.launches[step.index];
    return named(launch, device.addLaunch(target, launchOf(launch), node));
  }
  if (step.kind == Step::Copy) {
    size_t slot = copySlot(step.index);
    uint64_t bytes = work.copies[step.index].bytes;
    return slots[slot] == slots[slot + 1] || !bytes
               ? Status()
               : device.addCopy(target, slots[slot], slots[slot + 1], bytes, node);
  }
  if (step.kind == Step::Tap) // nobody looks at what is replayed
    return {};
  const WriteStep &write = work.writes[step.index];
  return write.bytes ? device.addWrite(target, slots[writeSlot(step.index)],
                                       static_cast<const char *>(writeData) + write.offset,
                                       write.bytes, node)
                     : Status();
}

Status Prepared::addSteps(Graph target, std::vector<GraphNode> &added, const LaunchHook &hook) {
  added.assign(work.steps.size(), nullptr);
  for (size_t i = 0; i < work.steps.size(); ++i) {
    const Step &step = work.steps[i];
    bool hooked = hook && step.kind == Step::Launch;
    if (hooked)
      CAMEO_RETURN_IF_ERROR(hook(step.index, false));
    CAMEO_RETURN_IF_ERROR(addStep(target, step, added[i]));
    if (hooked)
      CAMEO_RETURN_IF_ERROR(hook(step.index, true));
  }
  return {};
}

Status Prepared::buildGraph() {
  ++graphsBuilt;
  Graph built = nullptr;
  CAMEO_RETURN_IF_ERROR(device.createGraph(built));
  Status status = addSteps(built, nodes);
  if (status.ok())
    status = device.instantiate(built);
  if (status.ok())
    graph = built;
  else
    (void)device.destroyGraph(built);
  return status;
}

void Prepared::dropGraph() {
  if (graph)
    (void)device.destroyGraph(graph);
  graph = nullptr;
}

uint64_t Prepared::bytes() const {
  constexpr uint64_t kNodeBytes = 1024; // about what a driver takes for one
  return sizeof(*this) + key.bytes() + work.next.bytes() + work.steps.size() * sizeof(Step) +
         work.launches.size() * sizeof(LaunchStep) +
         work.args.size() * (sizeof(ArgValue) + sizeof(uint64_t) + sizeof(void *) +
                             sizeof(uint64_t) + sizeof(const char *) + sizeof(uint32_t)) +
         work.copies.size() * sizeof(CopyStep) + work.births.size() * sizeof(Birth) +
         2 * work.data.size() + (graph ? work.steps.size() * kNodeBytes : 0);
}

Status Prepared::enqueue(Stream stream, bool replay) {
  return replay && graph ? device.launchGraph(graph, stream) : enqueueSteps(stream);
}

} // namespace cameo::runtime
