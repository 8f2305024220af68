// The table that --benchmark prints. SPDX-License-Identifier: Apache-2.0
#include "runtime/main/benchmark_statistics.h"

#include <cstdio>

namespace cameo::cli {
namespace {

void printAverages(const BenchmarkResult &result, uint32_t runs) {
  if (!runs)
    return;
  // Of whole samples.
  size_t count = (runs + result.together - 1) / result.together;
  for (size_t first = 0; first + count <= result.samples.size(); first += count) {
    Sample sum = sumOf(result.samples, first, count);
    std::printf("Average on %zu runs - GPU latency: %g ms - Host latency: %g ms (enqueue %g ms)\n",
                count * result.together, sum.compute / double(count), sum.latency() / double(count),
                sum.enqueue / double(count));
  }
}

// What was run, and how.
void printCourse(const Session &session, const Options &options, const BenchmarkResult &result) {
  const runtime::DeviceInfo &info = session.device->info();
  std::printf("Code: %s", runtime::describeCode(*session.model->code()).c_str());
  if (!session.simulated())
    std::printf("; driver %s%sfor CUDA %u.%u", result.monitor.driver.c_str(),
                result.monitor.driver.empty() ? "" : " ", info.driverVersion / 1000,
                info.driverVersion % 1000 / 10);
  std::printf("\nRun: %zu launch%s, ", result.launches, result.launches == 1 ? "" : "es");
  if (result.waits)
    std::printf("%llu wait%s for values that decide what follows, ",
                (unsigned long long)result.waits, result.waits == 1 ? "" : "s");
  std::printf("%s", result.replayed ? "replayed as a graph" : "enqueued one by one");
  if (result.together > 1)
    std::printf(", %u runs back to back a sample", result.together);
  std::printf("; %s", options.transfers ? "transfers in and out, overlapped with computing"
                                        : "no data transfers");
  if (options.streams > 1)
    std::printf("; %u streams", options.streams);
  if (result.blocking)
    std::printf("; waiting does not spin");
  std::printf("\n");
  if (result.flushBytes)
    std::printf("Cold: %llu bytes, twice the cache, are written before each run and not counted in "
                "its times\n",
                (unsigned long long)result.flushBytes);
  std::printf("Warm-up: %g ms", result.warmUp.wall);
  if (result.warmUp.settled)
    std::printf(", until three medians of GPU time agreed within 1 %%");
  std::printf("\n");
}

void printMonitor(const BenchmarkResult &result) {
  const MonitorResult &monitor = result.monitor;
  if (!monitor.missing.empty()) {
    std::printf("Clocks: not available: %s\n", monitor.missing.c_str());
    return;
  }
  std::printf("Clocks: ");
  if (monitor.smHigh)
    std::printf("SM %u to %u MHz, memory %u MHz", monitor.smLow, monitor.smHigh,
                monitor.memoryClock);
  else
    std::printf("not available");
  std::printf("; slowed down by: %s", runtime::cuda::slowdownNames(monitor.slowedBy).c_str());
  if (monitor.hottest)
    std::printf("; %u C", monitor.hottest);
  std::printf("\nPower: ");
  if (monitor.watts > 0)
    std::printf("%g W", monitor.watts);
  else
    std::printf("not available");
  if (monitor.joules >= 0)
    std::printf("; energy: %g J a run (%g J of the whole board)",
                monitor.joules / double(result.runs()), monitor.joules);
  else
    std::printf("; energy: not available");
  std::printf("\n");
}

void printMemory(const Session &session, const BenchmarkResult &result) {
  const MemoryUse &use = result.memory;
  std::printf("Memory: weights %s, intermediate values %s", bytesText(use.weights).c_str(),
              bytesText(use.arena).c_str());
  if (result.arenaSum)
    std::printf(" (a run has %s live at once and %s in all)", bytesText(result.arenaLive).c_str(),
                bytesText(result.arenaSum).c_str());
  std::printf(", inputs and outputs %s, page-locked %s", bytesText(use.tensors).c_str(),
              bytesText(use.pinned).c_str());
  if (!session.simulated())
    std::printf("; the GPU's free memory fell by %s", bytesText(use.fell).c_str());
  std::printf("\n");
}

// What the table lacks, and what limits the throughput, as trtexec warns of it.
void printWarnings(const Options &options, const Session &session, const BenchmarkResult &result) {
  const std::vector<Sample> &samples = result.samples;
  for (double percentile : options.percentiles)
    if (samples.size() < samplesNeeded(percentile))
      std::printf("[W] percentile(%g%%) refused: %zu samples, %llu needed (--iterations=%llu)\n",
                  percentile, samples.size(), (unsigned long long)samplesNeeded(percentile),
                  (unsigned long long)samplesNeeded(percentile) * result.together);
  if (session.simulated())
    return;
  const std::vector<double> &medians = result.warmUp.medians;
  if (!medians.empty() && !result.warmUp.settled)
    std::printf("[W] GPU time did not settle while warming up: the last medians are %g, %g and %g "
                "ms; a longer --warmUp may do\n",
                medians.front(), medians[medians.size() / 2], medians.back());
  Sample sum = sumOf(samples, 0, samples.size());
  if (result.waits)
    std::printf("[W] Enqueue Time holds the waits for values that a run goes by: %llu a run\n",
                (unsigned long long)result.waits);
  else if (sum.enqueue > sum.compute)
    std::printf("[W] Throughput may be bound by Enqueue Time rather than GPU Compute\n");
  if (sum.in > sum.compute || sum.out > sum.compute)
    std::printf("[W] Throughput may be bound by transfers %s rather than GPU Compute; "
                "--noDataTransfers leaves them out\n",
                sum.in > sum.out ? "from host to GPU" : "from GPU to host");
  if (options.transfers && sum.compute / double(samples.size()) < 0.2)
    std::printf("[W] GPU Compute Time of runs this short holds what it takes to begin them; "
                "--noDataTransfers measures several back to back\n");
}

} // namespace

void printBenchmarkTable(const Options &options, const Session &session,
                         const BenchmarkResult &result) {
  const char *note = session.simulated() ? " (simulated)" : "";
  printAverages(result, options.averageRuns);
  if (session.simulated())
    std::printf("=== Performance summary: SIMULATED, times of %s on this CPU and of no GPU ===\n",
                session.place.c_str());
  else
    std::printf("=== Performance summary: %s ===\n", session.place.c_str());
  printCourse(session, options, result);
  if (!session.simulated())
    printMonitor(result);
  std::printf("Throughput%s: %g qps\n", note, throughputOf(result));
  double compute = 0;
  for (const Column &column : kColumns) {
    Statistics times = statisticsOf(column, result.samples, options.percentiles);
    std::printf("%s%s: min = %g ms, max = %g ms, mean = %g ms, median = %g ms", column.title, note,
                times.min, times.max, times.mean, times.median);
    for (auto [percentile, value] : times.percentiles)
      std::printf(", percentile(%g%%) = %g ms", percentile, value);
    std::printf(", iqr = %g ms\n", times.iqr);
    if (&column == &kColumns[kComputeColumn])
      compute = times.sum * result.together;
  }
  std::printf("Total Host Walltime: %g s\nTotal GPU Compute Time%s: %g s\n", result.wall / 1000,
              note, compute / 1000);
  printMemory(session, result);
  std::printf("Results: %s\n", result.verification.c_str());
  if (result.interrupted)
    std::printf("[W] interrupted after %llu runs\n", (unsigned long long)result.runs());
  printWarnings(options, session, result);
}

} // namespace cameo::cli
