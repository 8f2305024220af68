// What --benchmark measures.
// SPDX-License-Identifier: Apache-2.0
#ifndef CAMEO_RUNTIME_MAIN_BENCHMARK_H
#define CAMEO_RUNTIME_MAIN_BENCHMARK_H

#include "runtime/main/session.h"

namespace cameo::cli {

// Times of one run, in milliseconds.
struct Sample {
  double enqueue = 0, in = 0, compute = 0, out = 0;
  double latency() const { return in + compute + out; }
};

struct BenchmarkResult {
  std::vector<Sample> samples;
  double wall = 0; // milliseconds
  bool interrupted = false;
};

// As a table after trtexec's, or as JSON. There is one sample at least.
void printBenchmark(const Options &options, const Session &session, const BenchmarkResult &result);

} // namespace cameo::cli

#endif
