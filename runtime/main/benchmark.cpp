// --benchmark: repeated runs, and trtexec's table of their times.
//
// Before anything is measured the model runs once eagerly; what the measured runs compute is
// compared with that afterwards. SPDX-License-Identifier: Apache-2.0
#include "runtime/main/benchmark_worker.h"

#include <algorithm>
#include <atomic>
#include <cmath>
#include <csignal>
#include <cstdio>
#include <thread>

#include <unistd.h>

namespace cameo::cli {
namespace {

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

// Runs shorter than this are measured several at once: what the host and the device take to begin
// one would count for much.
constexpr double kShortRun = 0.2; // milliseconds
constexpr uint32_t kMostTogether = 100;
// Warming up ends when so many medians in a row agree so well, or after so many times its time.
constexpr size_t kAgreeing = 3;
constexpr double kAgreement = 0.01, kLongestWarmUp = 5;
// Where the device does not tell its cache's size.
constexpr uint64_t kLargeCache = uint64_t(128) << 20;

using Workers = std::vector<std::unique_ptr<Worker>>;

// What a phase of measuring does in each worker.
struct Phase {
  double milliseconds; // at least
  uint64_t runs;       // of each worker, at least
  uint32_t together = 1;
};

// Runs every worker in a thread of its own; the first failure stands.
Status runWorkers(Workers &workers, const Phase &phase, std::vector<Sample> &samples) {
  std::vector<std::vector<Sample>> own(workers.size());
  std::vector<Status> statuses(workers.size());
  std::vector<std::thread> threads;
  auto work = [&](size_t i) {
    statuses[i] = workers[i]->measure(phase.milliseconds, phase.runs, phase.together, own[i]);
  };
  for (size_t i = 1; i < workers.size(); ++i)
    threads.emplace_back(work, i);
  work(0);
  for (std::thread &thread : threads)
    thread.join();
  for (size_t i = 0; i < workers.size(); ++i) {
    CAMEO_RETURN_IF_ERROR(std::move(statuses[i]));
    samples.insert(samples.end(), own[i].begin(), own[i].end());
  }
  return {};
}

double medianCompute(const std::vector<Sample> &samples) {
  std::vector<double> times;
  for (const Sample &sample : samples)
    times.push_back(sample.compute);
  auto middle = times.begin() + times.size() / 2;
  std::nth_element(times.begin(), middle, times.end());
  return times.empty() ? 0 : *middle;
}

bool agree(const std::vector<double> &medians) {
  if (medians.size() < kAgreeing)
    return false;
  auto [low, high] = std::minmax_element(medians.end() - kAgreeing, medians.end());
  return *high <= *low * (1 + kAgreement);
}

// Clocks rise for a while after the first work, and caches and memory settle.
Status warmUp(Workers &workers, const Options &options, bool simulated, WarmUp &result,
              double &median) {
  BenchmarkClock::time_point start = BenchmarkClock::now();
  std::vector<Sample> samples;
  // The second run of a context records it, the third is the first to replay that.
  uint64_t fewest = (simulated ? 1 : 3) * workers[0]->setCount();
  // Times of the simulator are those of a machine that does other things too.
  bool waits = options.warmUp > 0 && !simulated;
  CAMEO_RETURN_IF_ERROR(
      runWorkers(workers, {waits ? options.warmUp / 4 : options.warmUp, fewest}, samples));
  while (waits && !benchmarkInterrupted()) {
    samples.clear();
    CAMEO_RETURN_IF_ERROR(runWorkers(workers, {options.warmUp / 4, 1}, samples));
    result.medians.push_back(medianCompute(samples));
    result.wall = millisecondsSince(start);
    result.settled = agree(result.medians);
    if ((result.settled && result.wall >= options.warmUp) ||
        result.wall >= options.warmUp * kLongestWarmUp)
      break;
  }
  if (result.medians.size() > kAgreeing)
    result.medians.erase(result.medians.begin(), result.medians.end() - kAgreeing);
  result.wall = millisecondsSince(start);
  median = medianCompute(samples);
  return {};
}

Status workerOptions(const Options &options, const Session &session, WorkerOptions &result) {
  result.transfers = options.transfers;
  unsigned processors = std::thread::hardware_concurrency();
  result.blocking = !options.spin && processors && options.streams > processors;
  if (!options.cold)
    return {};
  if (session.simulated())
    return failure(Code::InvalidArgument, "--cold is for GPUs: the simulator has no cache");
  uint64_t cache = session.device->info().cacheBytes;
  result.flushBytes = 2 * (cache ? cache : kLargeCache);
  return {};
}

// Compares what was computed with the eager run's outputs, or with those that are expected.
Status verify(const Options &options, Session &session, const std::vector<HostTensor> &reference,
              Workers &workers, BenchmarkResult &result) {
  if (result.interrupted) {
    result.verification = "not compared: interrupted";
    return {};
  }
  std::vector<GivenTensor> expected;
  CAMEO_RETURN_IF_ERROR(readExpected(options, session, expected));
  OutputCheck check = [&](uint32_t index, const HostTensor &actual, const char *what) {
    for (const GivenTensor &given : expected)
      if (given.index == index)
        return compareOutput(index, actual, given.tensor, options, session);
    return compareBits(index, actual, what, reference[index], "an eager run");
  };
  for (const std::unique_ptr<Worker> &worker : workers)
    CAMEO_RETURN_IF_ERROR(worker->verify(check, result.matched));
  bool all = expected.size() == reference.size();
  result.verification = std::string(result.matched ? "the same as " : "NOT the same as ") +
                        (all                ? "--expected_output's"
                         : expected.empty() ? "an eager run's, bit for bit"
                                            : "--expected_output's and an eager run's");
  return {};
}

Status describeRuns(Workers &workers, const Session &session, BenchmarkResult &result) {
  runtime::Context &context = workers[0]->runs();
  const runtime::WorkList *work = nullptr;
  CAMEO_RETURN_IF_ERROR(context.workList(work));
  result.launches = context.lastRun().launches;
  result.waits = context.lastRun().waits;
  result.arenaLive = work->allArenas().liveBytes;
  result.arenaSum = work->allArenas().sumBytes;
  result.replayed = context.replays();
  result.memory.weights = session.model->payload().weightBytes();
  for (const std::unique_ptr<Worker> &worker : workers)
    result.memory.pinned += worker->pinnedByContexts();
  uint64_t available = 0, total = 0;
  CAMEO_RETURN_IF_ERROR(session.device->memoryInfo(available, total));
  result.memory.fell = session.freeBytes > available ? session.freeBytes - available : 0;
  return {};
}

void print(const Options &options, const Session &session, const BenchmarkResult &result) {
  if (result.samples.empty())
    std::fprintf(stderr, "nothing was measured\n");
  else if (options.benchmark == Report::Json)
    printBenchmarkJson(options, session, result);
  else
    printBenchmarkTable(options, session, result);
}

} // namespace

int benchmarkInterrupted() { return interruptedBy; }

Status runBenchmark(const Options &options, Session &session, std::vector<HostTensor> &inputs,
                    bool &matched, int &interrupted) {
  InterruptGuard guard;
  BenchmarkResult result;
  WorkerOptions worker;
  CAMEO_RETURN_IF_ERROR(workerOptions(options, session, worker));
  result.blocking = worker.blocking;
  result.flushBytes = worker.flushBytes;
  std::vector<HostTensor> reference;
  CAMEO_RETURN_IF_ERROR(runEagerly(session, inputs, reference));
  Workers workers;
  for (uint32_t i = 0; i < options.streams; ++i) {
    workers.push_back(std::make_unique<Worker>(session, worker, result.memory));
    CAMEO_RETURN_IF_ERROR(workers.back()->prepare(inputs, reference));
  }
  double median = 0;
  CAMEO_RETURN_IF_ERROR(warmUp(workers, options, session.simulated(), result.warmUp, median));
  // A run with transfers of its own, or with a cold cache, is one that stands alone.
  if (!session.simulated() && !options.transfers && !options.cold && median > 0)
    result.together =
        uint32_t(std::clamp(std::ceil(kShortRun / median), 1.0, double(kMostTogether)));

  Monitor monitor(session.device->info());
  monitor.start();
  BenchmarkClock::time_point start = BenchmarkClock::now();
  Phase phase = {options.duration * 1000, std::max<uint32_t>(options.iterations, 1),
                 result.together};
  CAMEO_RETURN_IF_ERROR(runWorkers(workers, phase, result.samples));
  result.wall = millisecondsSince(start);
  result.monitor = monitor.stop();
  interrupted = benchmarkInterrupted();
  result.interrupted = interrupted != 0;
  CAMEO_RETURN_IF_ERROR(describeRuns(workers, session, result));
  CAMEO_RETURN_IF_ERROR(verify(options, session, reference, workers, result));
  matched = matched && result.matched;
  print(options, session, result);
  return {};
}

} // namespace cameo::cli
