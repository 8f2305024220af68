// What --benchmark prints.
// SPDX-License-Identifier: Apache-2.0
#include "runtime/main/benchmark.h"
#include "runtime/main/json.h"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstring>
#include <numeric>

namespace cameo::cli {
namespace {

// By rank: the smallest value that so many percent do not exceed.
double percentileOf(const std::vector<double> &sorted, double percentile) {
  size_t rank = size_t(std::ceil(percentile / 100 * double(sorted.size())));
  return sorted[std::min(std::max<size_t>(rank, 1), sorted.size()) - 1];
}

// Ten samples must lie above a percentile for it to mean anything.
uint64_t samplesNeeded(double percentile) {
  return uint64_t(std::ceil(10 / (1 - percentile / 100) - 1e-6));
}

// Of one column of times, in milliseconds.
struct Statistics {
  double min, max, mean, median, sum;
  std::vector<std::pair<double, double>> percentiles; // with their values, those that mean anything
};

struct Column {
  const char *title, *key; // of the table, of the JSON
  double (*get)(const Sample &);
};

constexpr Column kColumns[] = {
    {"Latency", "latency_ms", [](const Sample &s) { return s.latency(); }},
    {"Enqueue Time", "enqueue_ms", [](const Sample &s) { return s.enqueue; }},
    {"H2D Latency", "h2d_ms", [](const Sample &s) { return s.in; }},
    {"GPU Compute Time", "compute_ms", [](const Sample &s) { return s.compute; }},
    {"D2H Latency", "d2h_ms", [](const Sample &s) { return s.out; }}};

Statistics statisticsOf(const Column &column, const std::vector<Sample> &samples,
                        const std::vector<double> &percentiles) {
  std::vector<double> values;
  for (const Sample &sample : samples)
    values.push_back(column.get(sample));
  std::sort(values.begin(), values.end());
  size_t count = values.size();
  double sum = std::accumulate(values.begin(), values.end(), 0.0);
  double median = count % 2 ? values[count / 2] : (values[count / 2 - 1] + values[count / 2]) / 2;
  Statistics result = {values.front(), values.back(), sum / double(count), median, sum, {}};
  for (double percentile : percentiles)
    if (count >= samplesNeeded(percentile))
      result.percentiles.emplace_back(percentile, percentileOf(values, percentile));
  return result;
}

double throughput(const BenchmarkResult &result) {
  return double(result.samples.size()) / result.wall * 1000;
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

void printTable(const Options &options, const Session &session, const BenchmarkResult &result) {
  const char *note = session.simulated() ? " (simulated)" : "";
  printAverages(result.samples, options.averageRuns);
  if (session.simulated())
    std::printf("=== Performance summary: SIMULATED, times of %s on this CPU and of no GPU ===\n",
                session.place.c_str());
  else
    std::printf("=== Performance summary: %s ===\n", session.place.c_str());
  std::printf("Throughput%s: %g qps\n", note, throughput(result));
  double compute = 0;
  for (const Column &column : kColumns) {
    Statistics times = statisticsOf(column, result.samples, options.percentiles);
    std::printf("%s%s: min = %g ms, max = %g ms, mean = %g ms, median = %g ms", column.title, note,
                times.min, times.max, times.mean, times.median);
    for (auto [percentile, value] : times.percentiles)
      std::printf(", percentile(%g%%) = %g ms", percentile, value);
    std::printf("\n");
    if (std::strcmp(column.key, "compute_ms") == 0)
      compute = times.sum;
  }
  std::printf("Total Host Walltime: %g s\nTotal GPU Compute Time%s: %g s\n", result.wall / 1000,
              note, compute / 1000);
  if (result.interrupted)
    std::printf("[W] interrupted after %zu runs\n", result.samples.size());
  printWarnings(options, session, result.samples);
}

std::string number(double value) {
  char text[32];
  std::snprintf(text, sizeof text, "%.9g", value);
  return text;
}

// Times are milliseconds.
void printJson(const Options &options, const Session &session, const BenchmarkResult &result) {
  std::string text = "{\"device\":" + quoteJson(session.place) +
                     ",\"simulated\":" + (session.simulated() ? "true" : "false") +
                     ",\"streams\":" + std::to_string(options.streams) +
                     ",\"runs\":" + std::to_string(result.samples.size()) +
                     ",\"interrupted\":" + (result.interrupted ? "true" : "false") +
                     ",\"wall_ms\":" + number(result.wall) +
                     ",\"throughput_qps\":" + number(throughput(result));
  for (const Column &column : kColumns) {
    Statistics times = statisticsOf(column, result.samples, options.percentiles);
    text += std::string(",\n\"") + column.key + "\":{\"min\":" + number(times.min) +
            ",\"max\":" + number(times.max) + ",\"mean\":" + number(times.mean) +
            ",\"median\":" + number(times.median) + ",\"percentiles\":{";
    for (size_t i = 0; i < times.percentiles.size(); ++i)
      text += std::string(i ? "," : "") + "\"" + number(times.percentiles[i].first) +
              "\":" + number(times.percentiles[i].second);
    text += "}}";
  }
  std::printf("%s}\n", text.c_str());
}

} // namespace

void printBenchmark(const Options &options, const Session &session, const BenchmarkResult &result) {
  if (options.benchmark == Report::Json)
    printJson(options, session, result);
  else
    printTable(options, session, result);
}

} // namespace cameo::cli
