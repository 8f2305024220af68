// What --benchmark=json prints. SPDX-License-Identifier: Apache-2.0
#include "runtime/main/benchmark_statistics.h"
#include "runtime/main/json.h"

#include <cstdio>

namespace cameo::cli {
namespace {

// The members of an object, in order.
class JsonMembers {
public:
  void add(const char *key, const std::string &value) {
    text += (text.empty() ? "" : ",") + quoteJson(key) + ":" + value;
  }
  void add(const char *key, bool value) { add(key, std::string(value ? "true" : "false")); }
  void add(const char *key, double value) {
    char number[32];
    std::snprintf(number, sizeof number, "%.9g", value);
    add(key, std::string(number));
  }
  void add(const char *key, uint64_t value) { add(key, std::to_string(value)); }
  void addText(const char *key, const std::string &value) { add(key, quoteJson(value)); }
  void line() { text += "\n"; }
  std::string str() const { return "{" + text + "}"; }

private:
  std::string text;
};

std::string column(const Statistics &times) {
  JsonMembers percentiles, members;
  for (auto [percentile, value] : times.percentiles) {
    char key[32];
    std::snprintf(key, sizeof key, "%.9g", percentile);
    percentiles.add(key, value);
  }
  members.add("min", times.min);
  members.add("max", times.max);
  members.add("mean", times.mean);
  members.add("median", times.median);
  members.add("iqr", times.iqr);
  members.add("percentiles", percentiles.str());
  return members.str();
}

std::string warmUpOf(const WarmUp &warmUp) {
  JsonMembers members;
  std::string medians;
  for (double median : warmUp.medians) {
    char number[32];
    std::snprintf(number, sizeof number, "%.9g", median);
    medians += (medians.empty() ? "" : ",") + std::string(number);
  }
  members.add("wall_ms", warmUp.wall);
  members.add("medians_ms", "[" + medians + "]");
  members.add("settled", warmUp.settled);
  return members.str();
}

std::string memoryOf(const BenchmarkResult &result, bool simulated) {
  const MemoryUse &use = result.memory;
  JsonMembers members;
  members.add("weight_bytes", use.weights);
  members.add("arena_bytes", use.arena);
  if (result.arenaSum) {
    members.add("live_max_bytes", result.arenaLive);
    members.add("tensor_sum_bytes", result.arenaSum);
  }
  members.add("input_and_output_bytes", use.tensors);
  members.add("page_locked_bytes", use.pinned);
  if (!simulated)
    members.add("free_memory_fell_bytes", use.fell);
  return members.str();
}

// What NVML does not tell has no member.
std::string monitorOf(const BenchmarkResult &result) {
  const MonitorResult &monitor = result.monitor;
  JsonMembers members;
  if (!monitor.missing.empty())
    members.addText("missing", monitor.missing);
  if (!monitor.driver.empty())
    members.addText("driver", monitor.driver);
  if (monitor.smHigh) {
    members.add("sm_mhz_min", uint64_t(monitor.smLow));
    members.add("sm_mhz_max", uint64_t(monitor.smHigh));
  }
  if (monitor.memoryClock)
    members.add("memory_mhz", uint64_t(monitor.memoryClock));
  if (monitor.hottest)
    members.add("celsius_max", uint64_t(monitor.hottest));
  if (monitor.watts > 0)
    members.add("watts", monitor.watts);
  if (monitor.missing.empty())
    members.addText("slowed_by", runtime::cuda::slowdownNames(monitor.slowedBy));
  if (monitor.missing.empty() && monitor.joules >= 0) {
    members.add("joules", monitor.joules);
    members.add("joules_per_run", monitor.joules / double(result.runs()));
  }
  return members.str();
}

} // namespace

// Times are milliseconds.
void printBenchmarkJson(const Options &options, const Session &session,
                        const BenchmarkResult &result) {
  JsonMembers members;
  bool simulated = session.simulated();
  members.addText("device", session.place);
  members.add("simulated", simulated);
  members.add("streams", uint64_t(options.streams));
  members.add("runs", result.runs());
  members.add("interrupted", result.interrupted);
  members.add("wall_ms", result.wall);
  members.add("throughput_qps", throughputOf(result));
  for (const Column &each : kColumns) {
    members.line();
    members.add(each.key, column(statisticsOf(each, result.samples, options.percentiles)));
  }
  members.line();
  members.add("runs_per_sample", uint64_t(result.together));
  members.addText("code", runtime::describeCode(*session.model->code()));
  if (!simulated)
    members.add("cuda_driver", uint64_t(session.device->info().driverVersion));
  members.add("launches", uint64_t(result.launches));
  if (result.waits)
    members.add("waits", result.waits);
  members.add("graph", result.replayed);
  members.addText("transfers", options.transfers ? "overlapped" : "none");
  members.add("spins", !result.blocking);
  members.add("cold_bytes", result.flushBytes);
  members.add("warm_up", warmUpOf(result.warmUp));
  members.add("memory", memoryOf(result, simulated));
  if (!simulated)
    members.add("monitor", monitorOf(result));
  members.addText("results", result.verification);
  members.add("matched", result.matched);
  std::printf("%s\n", members.str().c_str());
}

} // namespace cameo::cli
