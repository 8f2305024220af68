// What --benchmark measures. Its rooms: benchmark.cpp (the course of a benchmark), worker (a stream
// of runs), buffers (a set of buffers that runs use in turn), monitor (clocks and power),
// statistics, report and json (what is printed).
// SPDX-License-Identifier: Apache-2.0
#ifndef CAMEO_RUNTIME_MAIN_BENCHMARK_H
#define CAMEO_RUNTIME_MAIN_BENCHMARK_H

#include "runtime/main/benchmark_monitor.h"
#include "runtime/main/session.h"

#include <chrono>

namespace cameo::cli {

using BenchmarkClock = std::chrono::steady_clock;

inline double millisecondsSince(BenchmarkClock::time_point start) {
  return std::chrono::duration<double, std::milli>(BenchmarkClock::now() - start).count();
}

// The signal that asks to stop measuring; 0: none did.
int benchmarkInterrupted();

// Times of one run, in milliseconds; where several are enqueued at once, a run's share.
struct Sample {
  double enqueue = 0, in = 0, compute = 0, out = 0;
  double flush = 0; // before the run, in none of the others
  double latency() const { return in + compute + out; }
};

// Bytes.
struct MemoryUse {
  uint64_t weights = 0, arena = 0, tensors = 0; // on the device
  uint64_t pinned = 0;                          // page-locked, on the host
  uint64_t fell = 0;                            // by which the device's free memory fell
};

struct WarmUp {
  double wall = 0; // milliseconds
  // The medians of GPU time of the last rounds; empty where nothing waits for them to agree.
  std::vector<double> medians;
  bool settled = false;
};

struct BenchmarkResult {
  std::vector<Sample> samples;
  uint32_t together = 1; // runs a sample
  double wall = 0;       // milliseconds
  bool interrupted = false;

  size_t launches = 0; // a run
  uint64_t waits = 0;  // of a run, for values that it goes by
  // What is in the arena, at most at once and in all; where the plan tells.
  uint64_t arenaLive = 0, arenaSum = 0;
  bool replayed = false;
  bool blocking = false;    // waiting for the device does not spin
  uint64_t flushBytes = 0;  // written before each run
  std::string verification; // what the results were compared with, and how that went
  bool matched = true;
  WarmUp warmUp;
  MemoryUse memory;
  MonitorResult monitor;

  uint64_t runs() const { return uint64_t(samples.size()) * together; }
};

// As a table after trtexec's, or as JSON. There is one sample at least.
void printBenchmarkTable(const Options &options, const Session &session,
                         const BenchmarkResult &result);
void printBenchmarkJson(const Options &options, const Session &session,
                        const BenchmarkResult &result);

} // namespace cameo::cli

#endif
