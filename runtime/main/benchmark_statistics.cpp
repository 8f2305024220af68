// Statistics of a benchmark's samples. SPDX-License-Identifier: Apache-2.0
#include "runtime/main/benchmark_statistics.h"

#include <algorithm>
#include <cmath>
#include <numeric>

namespace cameo::cli {
namespace {

// By rank: the smallest value that so many percent do not exceed.
double percentileOf(const std::vector<double> &sorted, double percentile) {
  size_t rank = size_t(std::ceil(percentile / 100 * double(sorted.size())));
  return sorted[std::min(std::max<size_t>(rank, 1), sorted.size()) - 1];
}

} // namespace

const Column kColumns[kColumnCount] = {
    {"Latency", "latency_ms", [](const Sample &s) { return s.latency(); }},
    {"Enqueue Time", "enqueue_ms", [](const Sample &s) { return s.enqueue; }},
    {"H2D Latency", "h2d_ms", [](const Sample &s) { return s.in; }},
    {"GPU Compute Time", "compute_ms", [](const Sample &s) { return s.compute; }},
    {"D2H Latency", "d2h_ms", [](const Sample &s) { return s.out; }}};

uint64_t samplesNeeded(double percentile) {
  return uint64_t(std::ceil(10 / (1 - percentile / 100) - 1e-6));
}

Statistics statisticsOf(const Column &column, const std::vector<Sample> &samples,
                        const std::vector<double> &percentiles) {
  std::vector<double> values;
  for (const Sample &sample : samples)
    values.push_back(column.get(sample));
  std::sort(values.begin(), values.end());
  size_t count = values.size();
  double sum = std::accumulate(values.begin(), values.end(), 0.0);
  double median = count % 2 ? values[count / 2] : (values[count / 2 - 1] + values[count / 2]) / 2;
  double iqr = percentileOf(values, 75) - percentileOf(values, 25);
  Statistics result = {values.front(), values.back(), sum / double(count), median, sum, iqr, {}};
  for (double percentile : percentiles)
    if (count >= samplesNeeded(percentile))
      result.percentiles.emplace_back(percentile, percentileOf(values, percentile));
  return result;
}

Sample sumOf(const std::vector<Sample> &samples, size_t first, size_t count) {
  Sample sum;
  for (size_t i = first; i < first + count; ++i) {
    sum.enqueue += samples[i].enqueue;
    sum.in += samples[i].in;
    sum.compute += samples[i].compute;
    sum.out += samples[i].out;
    sum.flush += samples[i].flush;
  }
  return sum;
}

double throughputOf(const BenchmarkResult &result) {
  double flush = sumOf(result.samples, 0, result.samples.size()).flush;
  return double(result.runs()) / (result.wall - flush) * 1000;
}

} // namespace cameo::cli
