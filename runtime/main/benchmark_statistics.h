// Columns of a benchmark's table, and what is printed of each.
// SPDX-License-Identifier: Apache-2.0
#ifndef CAMEO_RUNTIME_MAIN_BENCHMARK_STATISTICS_H
#define CAMEO_RUNTIME_MAIN_BENCHMARK_STATISTICS_H

#include "runtime/main/benchmark.h"

namespace cameo::cli {

// In milliseconds.
struct Statistics {
  double min, max, mean, median, sum;
  double iqr;                                         // between the quartiles
  std::vector<std::pair<double, double>> percentiles; // with their values, those that mean anything
};

struct Column {
  const char *title, *key; // of the table, of the JSON
  double (*get)(const Sample &);
};
constexpr size_t kComputeColumn = 3, kColumnCount = 5;
extern const Column kColumns[kColumnCount];

Statistics statisticsOf(const Column &column, const std::vector<Sample> &samples,
                        const std::vector<double> &percentiles);
// Ten samples must lie above a percentile for it to mean anything.
uint64_t samplesNeeded(double percentile);
Sample sumOf(const std::vector<Sample> &samples, size_t first, size_t count);
// Runs a second, without the time that caches were emptied in.
double throughputOf(const BenchmarkResult &result);

} // namespace cameo::cli

#endif
