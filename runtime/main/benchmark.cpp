// --benchmark: repeated runs, and trtexec's table of their times.
//
// A stream keeps two runs enqueued, so that the device does not wait for the host between them. A
// run's latency is what its stream spends on it: transfer in, computation, transfer out.
// SPDX-License-Identifier: Apache-2.0
#include "runtime/main/benchmark.h"

#include <algorithm>
#include <atomic>
#include <chrono>
#include <csignal>
#include <cstdio>
#include <cstring>
#include <thread>

#include <unistd.h>

namespace cameo::cli {
namespace {

using Clock = std::chrono::steady_clock;

// The signal that asks to stop measuring; 0: none did.
std::atomic<int> interruptedBy{0};

// The first signal of its kind lets the runs in progress end, so that what was measured is shown;
// the second ends the program at once.
class InterruptGuard {
public:
  InterruptGuard() {
    struct sigaction action = {};
    action.sa_handler = [](int signal) {
      static const char message[] = "interrupted; waiting for the runs in progress\n";
      (void)!write(STDERR_FILENO, message, sizeof message - 1);
      interruptedBy = signal;
    };
    action.sa_flags = SA_RESETHAND | SA_RESTART;
    for (int i = 0; i < kCount; ++i) {
      sigaction(kSignals[i], nullptr, &before[i]);
      // What the program's caller has it ignore stays ignored.
      if (before[i].sa_handler != SIG_IGN)
        sigaction(kSignals[i], &action, nullptr);
    }
  }
  ~InterruptGuard() {
    for (int i = 0; i < kCount; ++i)
      sigaction(kSignals[i], &before[i], nullptr);
  }

private:
  static constexpr int kSignals[] = {SIGINT, SIGTERM};
  static constexpr int kCount = sizeof kSignals / sizeof *kSignals;
  struct sigaction before[kCount];
};

double millisecondsSince(Clock::time_point start) {
  return std::chrono::duration<double, std::milli>(Clock::now() - start).count();
}

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
  while (!interruptedBy && (enqueued < iterations || millisecondsSince(start) < milliseconds)) {
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

} // namespace

Status runBenchmark(const Options &options, Session &session, std::vector<HostTensor> &inputs,
                    int &interrupted) {
  InterruptGuard guard;
  std::vector<std::unique_ptr<Worker>> workers;
  for (uint32_t i = 0; i < options.streams; ++i) {
    workers.push_back(std::make_unique<Worker>(session));
    CAMEO_RETURN_IF_ERROR(workers.back()->prepare(inputs));
  }
  BenchmarkResult result;
  // Three at least: the second run of a context records a graph, the third is the first to use it.
  CAMEO_RETURN_IF_ERROR(runWorkers(workers, options.warmUp, 3, result.samples));
  result.samples.clear();
  Clock::time_point start = Clock::now();
  CAMEO_RETURN_IF_ERROR(runWorkers(workers, options.duration * 1000,
                                   std::max<uint32_t>(options.iterations, 1), result.samples));
  result.wall = millisecondsSince(start);
  interrupted = interruptedBy;
  result.interrupted = interrupted != 0;
  if (result.samples.empty())
    std::fprintf(stderr, "nothing was measured\n");
  else
    printBenchmark(options, session, result);
  return {};
}

} // namespace cameo::cli
