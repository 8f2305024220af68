// --benchmark: repeated runs, and trtexec's table of their times.
//
// A stream keeps two runs enqueued, so that the device does not wait for the host between them. A
// run's latency is what its stream spends on it: transfer in, computation, transfer out.
// SPDX-License-Identifier: Apache-2.0
#include "runtime/main/session.h"

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <cstring>
#include <numeric>
#include <thread>

namespace cameo::cli {
namespace {

using Clock = std::chrono::steady_clock;

double millisecondsSince(Clock::time_point start) {
  return std::chrono::duration<double, std::milli>(Clock::now() - start).count();
}

// Times of one run, in milliseconds.
struct Sample {
  double enqueue = 0, in = 0, compute = 0, out = 0;
  double latency() const { return in + compute + out; }
};

// Page-locked host memory, freed with its device.
class PinnedMemory {
public:
  PinnedMemory(rt::Device &device) : device(device) {}
  ~PinnedMemory() {
    for (void *block : blocks)
      (void)device.releaseHost(block);
  }
  Status allocate(uint64_t bytes, void *&memory) {
    CAMEO_RETURN_IF_ERROR(device.allocateHost(std::max<uint64_t>(bytes, 1), memory));
    blocks.push_back(memory);
    return {};
  }

private:
  rt::Device &device;
  std::vector<void *> blocks;
};

// One context with memory and events of its own.
class Worker {
public:
  explicit Worker(Session &session) : session(session), memory(*session.device) {}
  ~Worker() {
    context.reset();
    for (rt::Event event : events)
      (void)session.device->destroyEvent(event);
  }

  Status prepare(const std::vector<HostTensor> &inputs);
  // Runs for so many milliseconds at least and `iterations` in all.
  Status measure(double milliseconds, uint32_t iterations, std::vector<Sample> &samples);

private:
  Status finish(int slot, std::vector<Sample> &samples);

  static constexpr int kDepth = 2;
  Session &session;
  PinnedMemory memory;
  std::unique_ptr<rt::Context> context;
  std::vector<rt::Event> events;
  rt::PhaseEvents phases[kDepth];
  double enqueueTimes[kDepth] = {};
};

Status Worker::prepare(const std::vector<HostTensor> &inputs) {
  rt::ContextOptions options;
  options.entry = session.entry;
  CAMEO_RETURN_IF_ERROR(rt::Context::create(session.model, options, context));
  for (uint32_t i = 0; i < inputs.size(); ++i) {
    void *data = nullptr;
    CAMEO_RETURN_IF_ERROR(memory.allocate(inputs[i].data.size(), data));
    if (!inputs[i].data.empty())
      std::memcpy(data, inputs[i].data.data(), inputs[i].data.size());
    CAMEO_RETURN_IF_ERROR(context->setInputShape(i, inputs[i].shape));
    CAMEO_RETURN_IF_ERROR(context->bindInput(i, {rt::Binding::Host, data, inputs[i].data.size()}));
  }
  for (uint32_t i = 0; i < session.plan().outputs().size(); ++i) {
    uint64_t bytes = 0;
    void *data = nullptr;
    CAMEO_RETURN_IF_ERROR(context->outputBytes(i, bytes));
    CAMEO_RETURN_IF_ERROR(memory.allocate(bytes, data));
    CAMEO_RETURN_IF_ERROR(context->bindOutput(i, {rt::Binding::Host, data, bytes}));
  }
  for (rt::PhaseEvents &phase : phases)
    for (rt::Event *event : {&phase.begin, &phase.inputsDone, &phase.computeDone, &phase.end}) {
      CAMEO_RETURN_IF_ERROR(session.device->createEvent(*event));
      events.push_back(*event);
    }
  return {};
}

Status Worker::finish(int slot, std::vector<Sample> &samples) {
  rt::Device &device = *session.device;
  const rt::PhaseEvents &phase = phases[slot];
  CAMEO_RETURN_IF_ERROR(device.synchronizeEvent(phase.end));
  float in = 0, compute = 0, out = 0;
  CAMEO_RETURN_IF_ERROR(device.elapsed(phase.begin, phase.inputsDone, in));
  CAMEO_RETURN_IF_ERROR(device.elapsed(phase.inputsDone, phase.computeDone, compute));
  CAMEO_RETURN_IF_ERROR(device.elapsed(phase.computeDone, phase.end, out));
  samples.push_back({enqueueTimes[slot], in, compute, out});
  return {};
}

Status Worker::measure(double milliseconds, uint32_t iterations, std::vector<Sample> &samples) {
  Clock::time_point start = Clock::now();
  uint64_t enqueued = 0;
  // With a stop time alone, a run that lasts longer is still a sample.
  while (enqueued < iterations || millisecondsSince(start) < milliseconds) {
    int slot = int(enqueued % kDepth);
    if (enqueued >= kDepth)
      CAMEO_RETURN_IF_ERROR(finish(slot, samples));
    Clock::time_point before = Clock::now();
    CAMEO_RETURN_IF_ERROR(context->enqueue(&phases[slot]));
    enqueueTimes[slot] = millisecondsSince(before);
    ++enqueued;
  }
  uint64_t open = std::min<uint64_t>(enqueued, kDepth);
  for (uint64_t i = enqueued - open; i < enqueued; ++i)
    CAMEO_RETURN_IF_ERROR(finish(int(i % kDepth), samples));
  return context->synchronize();
}

// Runs every worker in a thread of its own; the first failure stands.
Status runWorkers(std::vector<std::unique_ptr<Worker>> &workers, double milliseconds,
                  uint32_t iterations, std::vector<Sample> &samples) {
  std::vector<std::vector<Sample>> own(workers.size());
  std::vector<Status> statuses(workers.size());
  std::vector<std::thread> threads;
  for (size_t i = 1; i < workers.size(); ++i)
    threads.emplace_back(
        [&, i] { statuses[i] = workers[i]->measure(milliseconds, iterations, own[i]); });
  statuses[0] = workers[0]->measure(milliseconds, iterations, own[0]);
  for (std::thread &thread : threads)
    thread.join();
  for (size_t i = 0; i < workers.size(); ++i) {
    CAMEO_RETURN_IF_ERROR(std::move(statuses[i]));
    samples.insert(samples.end(), own[i].begin(), own[i].end());
  }
  return {};
}

// By rank: the smallest value that so many percent do not exceed.
double percentileOf(const std::vector<double> &sorted, double percentile) {
  size_t rank = size_t(std::ceil(percentile / 100 * double(sorted.size())));
  return sorted[std::min(std::max<size_t>(rank, 1), sorted.size()) - 1];
}

// Ten samples must lie above a percentile for it to mean anything.
uint64_t samplesNeeded(double percentile) {
  return uint64_t(std::ceil(10 / (1 - percentile / 100) - 1e-6));
}

void printStatistics(const char *title, std::vector<double> values,
                     const std::vector<double> &percentiles) {
  std::sort(values.begin(), values.end());
  size_t count = values.size();
  double mean = std::accumulate(values.begin(), values.end(), 0.0) / double(count);
  double median = count % 2 ? values[count / 2] : (values[count / 2 - 1] + values[count / 2]) / 2;
  std::printf("%s: min = %g ms, max = %g ms, mean = %g ms, median = %g ms", title, values.front(),
              values.back(), mean, median);
  for (double percentile : percentiles)
    if (count >= samplesNeeded(percentile))
      std::printf(", percentile(%g%%) = %g ms", percentile, percentileOf(values, percentile));
  std::printf("\n");
}

template <typename Get> std::vector<double> column(const std::vector<Sample> &samples, Get get) {
  std::vector<double> values;
  for (const Sample &sample : samples)
    values.push_back(get(sample));
  return values;
}

void printAverages(const std::vector<Sample> &samples, uint32_t runs) {
  for (size_t first = 0; runs && first + runs <= samples.size(); first += runs) {
    Sample sum;
    for (size_t i = first; i < first + runs; ++i) {
      sum.enqueue += samples[i].enqueue;
      sum.in += samples[i].in;
      sum.compute += samples[i].compute;
      sum.out += samples[i].out;
    }
    std::printf("Average on %u runs - GPU latency: %g ms - Host latency: %g ms (enqueue %g ms)\n",
                runs, sum.compute / runs, sum.latency() / runs, sum.enqueue / runs);
  }
}

// What the table lacks, and what limits the throughput, as trtexec warns of it.
void printWarnings(const Options &options, const Session &session,
                   const std::vector<Sample> &samples) {
  for (double percentile : options.percentiles)
    if (samples.size() < samplesNeeded(percentile))
      std::printf("[W] percentile(%g%%) refused: %zu samples, %llu needed (--iterations=%llu)\n",
                  percentile, samples.size(), (unsigned long long)samplesNeeded(percentile),
                  (unsigned long long)samplesNeeded(percentile));
  if (session.simulated())
    return;
  Sample sum;
  for (const Sample &sample : samples) {
    sum.enqueue += sample.enqueue;
    sum.in += sample.in;
    sum.compute += sample.compute;
    sum.out += sample.out;
  }
  if (sum.enqueue > sum.compute)
    std::printf("[W] Throughput may be bound by Enqueue Time rather than GPU Compute\n");
  if (sum.in + sum.out > sum.compute)
    std::printf("[W] Throughput may be bound by transfers between host and GPU\n");
}

void printTable(const Options &options, const Session &session, const std::vector<Sample> &samples,
                double wall) {
  const char *note = session.simulated() ? " (simulated)" : "";
  auto row = [&](const char *title, auto get) {
    printStatistics((std::string(title) + note).c_str(), column(samples, get), options.percentiles);
  };
  printAverages(samples, options.averageRuns);
  if (session.simulated())
    std::printf("=== Performance summary: SIMULATED, times of %s on this CPU and of no GPU ===\n",
                session.place.c_str());
  else
    std::printf("=== Performance summary: %s ===\n", session.place.c_str());
  std::printf("Throughput%s: %g qps\n", note, double(samples.size()) / wall * 1000);
  row("Latency", [](const Sample &s) { return s.latency(); });
  row("Enqueue Time", [](const Sample &s) { return s.enqueue; });
  row("H2D Latency", [](const Sample &s) { return s.in; });
  row("GPU Compute Time", [](const Sample &s) { return s.compute; });
  row("D2H Latency", [](const Sample &s) { return s.out; });
  std::vector<double> compute = column(samples, [](const Sample &s) { return s.compute; });
  std::printf("Total Host Walltime: %g s\nTotal GPU Compute Time%s: %g s\n", wall / 1000, note,
              std::accumulate(compute.begin(), compute.end(), 0.0) / 1000);
  printWarnings(options, session, samples);
}

} // namespace

Status runBenchmark(const Options &options, Session &session, std::vector<HostTensor> &inputs) {
  std::vector<std::unique_ptr<Worker>> workers;
  for (uint32_t i = 0; i < options.streams; ++i) {
    workers.push_back(std::make_unique<Worker>(session));
    CAMEO_RETURN_IF_ERROR(workers.back()->prepare(inputs));
  }
  std::vector<Sample> samples;
  // Three at least: the second run of a context records a graph, the third is the first to use it.
  CAMEO_RETURN_IF_ERROR(runWorkers(workers, options.warmUp, 3, samples));
  samples.clear();
  Clock::time_point start = Clock::now();
  CAMEO_RETURN_IF_ERROR(runWorkers(workers, options.duration * 1000,
                                   std::max<uint32_t>(options.iterations, 1), samples));
  printTable(options, session, samples, millisecondsSince(start));
  return {};
}

} // namespace cameo::cli
