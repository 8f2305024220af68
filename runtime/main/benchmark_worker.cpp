// A stream of a benchmark's runs: what is enqueued, timed and compared.
// SPDX-License-Identifier: Apache-2.0
#include "runtime/main/benchmark_worker.h"

#include <algorithm>

namespace cameo::cli {

Worker::~Worker() {
  // Nobody is left to tell of a failure.
  if (working)
    for (runtime::Stream stream : streams)
      (void)device.synchronize(stream);
  sets.clear(); // contexts go before their stream
  for (runtime::Event event : events)
    (void)device.destroyEvent(event);
  for (runtime::Stream stream : streams)
    (void)device.destroyStream(stream);
}

Status Worker::createEvents() {
  for (Slot &slot : slots) {
    std::vector<runtime::Event *> wanted = {&slot.computeBegin, &slot.computeEnd};
    if (options.flushBytes)
      wanted.push_back(&slot.flush);
    if (options.transfers)
      wanted.insert(wanted.end(), {&slot.inBegin, &slot.inEnd, &slot.outBegin, &slot.outEnd});
    for (runtime::Event *event : wanted) {
      CAMEO_RETURN_IF_ERROR(device.createEvent(*event, true, options.blocking));
      events.push_back(*event);
    }
  }
  return {};
}

// All sets' runs are on one stream, one after the other: one arena serves them.
Status Worker::shareArena() {
  uint64_t bytes = 0;
  CAMEO_RETURN_IF_ERROR(sets[0]->arenaBytes(bytes));
  if (!bytes)
    return {};
  runtime::DevicePtr arena = 0;
  CAMEO_RETURN_IF_ERROR(memory.allocate(bytes, "intermediate values", &MemoryUse::arena, arena));
  for (const std::unique_ptr<BufferSet> &set : sets)
    CAMEO_RETURN_IF_ERROR(set->setArena(arena, bytes));
  return {};
}

Status Worker::prepare(const std::vector<HostTensor> &inputs,
                       const std::vector<HostTensor> &reference) {
  for (runtime::Stream *stream : {&compute, &up, &down}) {
    if (stream != &compute && !options.transfers)
      continue;
    CAMEO_RETURN_IF_ERROR(device.createStream(*stream));
    streams.push_back(*stream);
  }
  CAMEO_RETURN_IF_ERROR(createEvents());
  for (size_t i = 0; i < (options.transfers ? kDepth : 1); ++i) {
    sets.push_back(std::make_unique<BufferSet>(session, use));
    CAMEO_RETURN_IF_ERROR(sets.back()->create(inputs, reference, compute));
  }
  CAMEO_RETURN_IF_ERROR(shareArena());
  if (options.flushBytes)
    CAMEO_RETURN_IF_ERROR(memory.allocate(options.flushBytes, "a cache's worth", nullptr, flushed));
  if (options.transfers)
    return {};
  working = true;
  CAMEO_RETURN_IF_ERROR(sets[0]->upload(compute));
  CAMEO_RETURN_IF_ERROR(device.synchronize(compute));
  working = false;
  return {};
}

uint64_t Worker::pinnedByContexts() const {
  uint64_t bytes = 0;
  for (const std::unique_ptr<BufferSet> &set : sets)
    bytes += set->runs().memoryUse().pinned;
  return bytes;
}

Status Worker::enqueue(Slot &slot, BufferSet &set, uint32_t together) {
  BenchmarkClock::time_point start = BenchmarkClock::now();
  working = true;
  if (options.transfers) {
    CAMEO_RETURN_IF_ERROR(device.record(slot.inBegin, up));
    CAMEO_RETURN_IF_ERROR(set.upload(up));
    CAMEO_RETURN_IF_ERROR(device.record(slot.inEnd, up));
    CAMEO_RETURN_IF_ERROR(device.wait(compute, slot.inEnd));
  }
  if (options.flushBytes) {
    CAMEO_RETURN_IF_ERROR(device.record(slot.flush, compute));
    CAMEO_RETURN_IF_ERROR(device.fill(flushed, 0, options.flushBytes, compute));
  }
  CAMEO_RETURN_IF_ERROR(device.record(slot.computeBegin, compute));
  for (uint32_t i = 0; i < together; ++i)
    CAMEO_RETURN_IF_ERROR(set.compute());
  CAMEO_RETURN_IF_ERROR(device.record(slot.computeEnd, compute));
  if (options.transfers) {
    CAMEO_RETURN_IF_ERROR(device.wait(down, slot.computeEnd));
    CAMEO_RETURN_IF_ERROR(device.record(slot.outBegin, down));
    CAMEO_RETURN_IF_ERROR(set.download(down));
    CAMEO_RETURN_IF_ERROR(device.record(slot.outEnd, down));
  }
  slot.enqueueTime = millisecondsSince(start);
  return {};
}

Status Worker::finish(const Slot &slot, uint32_t together, std::vector<Sample> &samples) {
  CAMEO_RETURN_IF_ERROR(device.synchronizeEvent(options.transfers ? slot.outEnd : slot.computeEnd));
  float in = 0, compute = 0, out = 0, flush = 0;
  if (options.flushBytes)
    CAMEO_RETURN_IF_ERROR(device.elapsed(slot.flush, slot.computeBegin, flush));
  CAMEO_RETURN_IF_ERROR(device.elapsed(slot.computeBegin, slot.computeEnd, compute));
  if (options.transfers) {
    CAMEO_RETURN_IF_ERROR(device.elapsed(slot.inBegin, slot.inEnd, in));
    CAMEO_RETURN_IF_ERROR(device.elapsed(slot.outBegin, slot.outEnd, out));
  }
  Sample sample;
  sample.enqueue = slot.enqueueTime / together;
  sample.in = in / together;
  sample.compute = compute / together;
  sample.out = out / together;
  sample.flush = flush / together;
  samples.push_back(sample);
  return {};
}

Status Worker::measure(double milliseconds, uint64_t runs, uint32_t together,
                       std::vector<Sample> &samples) {
  BenchmarkClock::time_point start = BenchmarkClock::now();
  uint64_t enqueued = 0;
  // With a stop time alone, a run that lasts longer is still a sample.
  while (!benchmarkInterrupted() &&
         (enqueued * together < runs || millisecondsSince(start) < milliseconds)) {
    Slot &slot = slots[enqueued % kDepth];
    if (enqueued >= kDepth)
      CAMEO_RETURN_IF_ERROR(finish(slot, together, samples));
    CAMEO_RETURN_IF_ERROR(enqueue(slot, *sets[enqueued % sets.size()], together));
    ++enqueued;
  }
  uint64_t open = std::min<uint64_t>(enqueued, kDepth);
  for (uint64_t i = enqueued - open; i < enqueued; ++i)
    CAMEO_RETURN_IF_ERROR(finish(slots[i % kDepth], together, samples));
  for (const std::unique_ptr<BufferSet> &set : sets)
    CAMEO_RETURN_IF_ERROR(set->runs().synchronize());
  working = false;
  return {};
}

Status Worker::checkOutputs(const OutputCheck &check, const char *what, bool &matched) {
  for (const std::unique_ptr<BufferSet> &set : sets)
    for (uint32_t i = 0; i < session.plan().outputs().size(); ++i) {
      HostTensor output;
      CAMEO_RETURN_IF_ERROR(set->takeOutput(i, output));
      if (!check(i, output, what)) {
        matched = false; // one is enough to tell of
        return {};
      }
    }
  return {};
}

Status Worker::verify(const OutputCheck &check, bool &matched) {
  working = true;
  if (!options.transfers) {
    CAMEO_RETURN_IF_ERROR(sets[0]->download(compute));
    CAMEO_RETURN_IF_ERROR(device.synchronize(compute));
  }
  working = false;
  CAMEO_RETURN_IF_ERROR(checkOutputs(check, "the last run measured", matched));
  if (!matched)
    return {};
  working = true;
  // A run that computed nothing would have left the right values of an earlier one there.
  for (const std::unique_ptr<BufferSet> &set : sets) {
    CAMEO_RETURN_IF_ERROR(set->clearOutputs(compute));
    CAMEO_RETURN_IF_ERROR(set->compute());
    CAMEO_RETURN_IF_ERROR(set->download(compute));
    CAMEO_RETURN_IF_ERROR(set->runs().synchronize());
  }
  CAMEO_RETURN_IF_ERROR(device.synchronize(compute));
  working = false;
  return checkOutputs(check, "a run after those measured", matched);
}

} // namespace cameo::cli
