// --profile: a run kernel by kernel, as a table and as a trace in the format that Perfetto and Chrome
// open, a slice a kernel.
// SPDX-License-Identifier: Apache-2.0
#include "runtime/main/json.h"
#include "runtime/main/session.h"
#include "runtime/sim/observe/estimate.h"

#include <algorithm>
#include <chrono>
#include <cstdio>

namespace cameo::cli {
namespace {

// What the launch computes and moves, where the plan says so.
std::string workOf(const runtime::LaunchStep &step) {
  if (step.flops < 0 || step.bytes < 0)
    return "";
  char text[80];
  std::snprintf(text, sizeof text, "\"flops\":%.0f,\"bytes\":%.0f,", step.flops, step.bytes);
  return text;
}

// By the manifest: the type with the fewest bits that the kernel reads or writes; else empty.
std::string precisionOf(const Session &session, const char *kernel) {
  const Json *found = session.manifest.find("variants");
  uint32_t variant = session.model->code()->variant;
  if (!found || variant >= found->members.size())
    return "";
  found = found->members[variant].second.find("precision_of");
  found = found ? found->find(kernel) : nullptr;
  return found ? found->text : "";
}

// A launch as the table has it.
struct Row {
  size_t number;
  const char *kernel;
  std::string precision, nodes;
  double milliseconds, flops, bytes;
};

// As many names as there is room for.
std::string shortNodes(const std::string &nodes) {
  constexpr size_t kRoom = 40;
  size_t shown = 0, left = 0;
  std::string text;
  for (size_t at = 0; at < nodes.size();) {
    size_t end = std::min(nodes.find(',', at), nodes.size());
    if (!shown || (!left && text.size() + end - at <= kRoom)) {
      text += (shown++ ? ", " : "") + nodes.substr(at, end - at);
    } else {
      ++left;
    }
    at = end + 1;
  }
  return left ? text + " and " + std::to_string(left) + " more" : text;
}

// In 10^9 a second, three digits; empty where the work is not known.
std::string rate(double work, double milliseconds) {
  if (work < 0 || milliseconds <= 0)
    return "";
  char text[32];
  double each = work / milliseconds * 1e-6;
  std::snprintf(text, sizeof text, each < 10 ? "%.2f" : each < 100 ? "%.1f" : "%.0f", each);
  return text;
}

std::string tableRow(const std::string &number, const std::string &kernel, int width,
                     const Row &row, double total) {
  char text[400];
  std::snprintf(text, sizeof text, "%8s  %-*s  %-9s %11.3f %6.1f %% %9s %9s", number.c_str(), width,
                kernel.c_str(), row.precision.c_str(), row.milliseconds * 1000,
                total > 0 ? 100 * row.milliseconds / total : 0,
                rate(row.flops, row.milliseconds).c_str(),
                rate(row.bytes, row.milliseconds).c_str());
  return std::string(text) + (row.nodes.empty() ? "" : "  " + row.nodes) + "\n";
}

// Waits for the same value together, in the order of the run.
void printWaits(const std::vector<runtime::WaitTiming> &waits) {
  std::vector<bool> told(waits.size());
  for (size_t i = 0; i < waits.size(); ++i) {
    size_t count = 0;
    double milliseconds = 0;
    for (size_t k = i; k < waits.size() && !told[i]; ++k)
      if (waits[k].value == waits[i].value) {
        told[k] = k != i;
        ++count;
        milliseconds += waits[k].duration;
      }
    const char *value = waits[i].value.c_str();
    if (count)
      std::printf(*value ? "    %11.3f us, %zu of them for '%s'\n"
                         : "    %11.3f us, %zu of them for memory that grows\n",
                  milliseconds * 1000, count, value);
  }
}

// The longest first, and all of them together.
void printTable(std::vector<Row> rows, bool areMedians) {
  constexpr size_t kWidest = 40;
  Row total = {0, "", "", "", 0, 0, 0};
  size_t width = 6;
  bool isKnown = true;
  for (const Row &row : rows) {
    width = std::max(width, std::min(std::string(row.kernel).size(), kWidest));
    isKnown &= row.flops >= 0 && row.bytes >= 0;
    total.milliseconds += row.milliseconds;
    total.flops += row.flops;
    total.bytes += row.bytes;
  }
  if (!isKnown)
    total.flops = total.bytes = -1;
  std::sort(rows.begin(), rows.end(), [](const Row &a, const Row &b) {
    return std::pair(-a.milliseconds, a.number) < std::pair(-b.milliseconds, b.number);
  });
  std::printf("%8s  %-*s  %-9s %11s %8s %9s %9s  %s\n", "launch", int(width), "kernel", "precision",
              areMedians ? "median us" : "us", "share", "GFLOP/s", "GB/s", "nodes");
  for (const Row &row : rows) {
    std::string kernel = row.kernel;
    if (kernel.size() > kWidest)
      kernel = kernel.substr(0, kWidest - 3) + "...";
    std::fputs(
        tableRow(std::to_string(row.number), kernel, int(width), row, total.milliseconds).c_str(),
        stdout);
  }
  std::fputs(tableRow("total", "", int(width), total, total.milliseconds).c_str(), stdout);
}

// `counters`: null where nothing is counted.
std::string slice(const runtime::LaunchTiming &timing, const std::string &precision,
                  const sim::LaunchCounters *counters) {
  char numbers[320];
  std::snprintf(
      numbers, sizeof numbers,
      ",\"cat\":\"kernel\",\"ph\":\"X\",\"pid\":1,\"tid\":1,\"ts\":%.3f,\"dur\":%.3f,"
      "\"args\":{\"spread_us\":%.3f,\"grid\":[%u,%u,%u],\"block\":[%u,%u,%u],\"shared_bytes\":%u,",
      timing.start * 1000, timing.duration * 1000, timing.spread * 1000, timing.step->grid[0],
      timing.step->grid[1], timing.step->grid[2], timing.kernel->block[0], timing.kernel->block[1],
      timing.kernel->block[2], timing.kernel->sharedStatic + timing.step->sharedDynamic);
  return "{\"name\":" + quoteJson(timing.kernel->name) + numbers + workOf(*timing.step) +
         (precision.empty() ? "" : "\"precision\":" + quoteJson(precision) + ",") +
         "\"onnx_nodes\":" + nodeList(timing.step->onnxNodes) +
         (counters ? "," + formatCounters(*counters) : "") + "}}";
}

// The time from a launch to the one behind the wait.
std::string waitSlices(const runtime::TimedRun &how, const std::vector<double> &ends) {
  std::string text;
  for (const runtime::WaitTiming &wait : how.waitTimings) {
    char numbers[160];
    std::snprintf(numbers, sizeof numbers,
                  ",\"cat\":\"wait\",\"ph\":\"X\",\"pid\":1,\"tid\":1,\"ts\":%.3f,\"dur\":%.3f,"
                  "\"args\":{\"spread_us\":%.3f}}",
                  ends[wait.launches - 1] * 1000, wait.duration * 1000, wait.spread * 1000);
    text += ",\n{\"name\":" +
            quoteJson(wait.value.empty() ? "wait for memory" : "wait for " + wait.value) + numbers;
  }
  return text;
}

// What the times are, for people.
std::string describeTimes(const Session &session, const runtime::TimedRun &how) {
  if (session.simulated())
    return "simulated: times of the simulator, not of a GPU";
  if (how.replays)
    return "medians of " + std::to_string(how.replays) +
           " replays of a graph that records an event between launches";
  std::string why = how.notReplayed.empty() ? "this driver has no graphs" : how.notReplayed;
  std::string runs = how.runs > 1 ? "medians of " + std::to_string(how.runs) + " runs" : "one run";
  return runs + ", launched by the host, which short kernels wait for: " + why;
}

std::string describeFloor(const runtime::TimedRun &how) {
  char text[80];
  std::snprintf(text, sizeof text, "floor %.3f us: %s", how.floor * 1000,
                how.floorIsKernel ? "an empty kernel" : "no kernel at all");
  return text;
}

std::string header(const Session &session, const runtime::TimedRun &how) {
  std::string text =
      "{\"displayTimeUnit\":\"ms\",\"otherData\":{\"device\":" + quoteJson(session.place) +
      ",\"times\":" + quoteJson(describeTimes(session, how));
  if (how.replays) {
    char numbers[160];
    std::snprintf(numbers, sizeof numbers,
                  ",\"replays\":%u,\"replay_us\":%.3f,\"floor_us\":%.3f,\"floor_of\":", how.replays,
                  how.whole * 1000, how.floor * 1000);
    text += numbers + quoteJson(how.floorIsKernel ? "an empty kernel" : "no kernel");
  }
  if (how.waits) {
    char numbers[80];
    std::snprintf(numbers, sizeof numbers, ",\"waits\":%llu,\"waited_us\":%.3f",
                  (unsigned long long)how.waits, how.waited() * 1000);
    text += numbers;
  }
  return text +
         "},\"traceEvents\":[\n"
         "{\"name\":\"process_name\",\"ph\":\"M\",\"pid\":1,\"args\":{\"name\":" +
         quoteJson(session.place) +
         "}},\n"
         "{\"name\":\"thread_name\",\"ph\":\"M\",\"pid\":1,\"tid\":1,\"args\":"
         "{\"name\":\"stream 1\"}}";
}

// The first run loads code and touches memory for the first time; the clocks of a GPU take a while
// to rise.
Status warmUp(const Options &options, const Session &session, runtime::Context &context) {
  auto start = std::chrono::steady_clock::now();
  std::chrono::duration<double, std::milli> passed{};
  do {
    CAMEO_RETURN_IF_ERROR(context.enqueue());
    CAMEO_RETURN_IF_ERROR(context.synchronize());
    passed = std::chrono::steady_clock::now() - start;
  } while (!session.simulated() && passed.count() < options.warmUp);
  return {};
}

} // namespace

Status runProfile(const Options &options, Session &session, std::vector<HostTensor> &inputs) {
  std::unique_ptr<runtime::Context> context;
  runtime::ContextOptions contextOptions = contextOptionsOf(session);
  CAMEO_RETURN_IF_ERROR(runtime::Context::create(session.model, contextOptions, context));
  CAMEO_RETURN_IF_ERROR(bindInputs(*context, inputs));
  CAMEO_RETURN_IF_ERROR(warmUp(options, session, *context));
  std::vector<sim::LaunchCounters> counters;
  session.device->takeCounters(counters); // of those first runs

  std::string slices;
  std::vector<Row> rows;
  std::vector<double> ends; // of launches
  runtime::TimedRun how;
  double total = 0;
  auto add = [&](const runtime::LaunchTiming &timing) {
    const runtime::LaunchStep &step = *timing.step;
    size_t number = rows.size();
    if (number == 0)
      session.device->takeCounters(counters);
    std::string precision = precisionOf(session, timing.kernel->name);
    slices +=
        ",\n" + slice(timing, precision, number < counters.size() ? &counters[number] : nullptr);
    rows.push_back({number, timing.kernel->name, precision, shortNodes(step.onnxNodes),
                    timing.duration, step.flops, step.bytes});
    ends.push_back(timing.start + timing.duration);
    total += timing.duration;
  };
  CAMEO_RETURN_IF_ERROR(context->runTimed(add, options.profileRuns, &how));
  if (!options.profile.empty()) {
    std::string trace = header(session, how) + slices + waitSlices(how, ends) + "\n]}\n";
    CAMEO_RETURN_IF_ERROR(
        writeFile(options.profile, std::vector<uint8_t>(trace.begin(), trace.end())));
  }
  std::printf("profile: %zu launches, %.3f ms in kernels%s%s%s\n", rows.size(), total,
              session.simulated() ? " (simulated)" : "", options.profile.empty() ? "" : "; ",
              options.profile.c_str());
  std::printf("  %s\n", describeTimes(session, how).c_str());
  if (how.waits)
    std::printf("  %llu waits for values that the run goes by: %.3f ms between launches\n",
                (unsigned long long)how.waits, how.waited());
  printWaits(how.waitTimings);
  if (how.replays)
    std::printf("  %s; a replay without events between its launches: %.3f ms\n",
                describeFloor(how).c_str(), how.whole);
  if (!rows.empty())
    printTable(std::move(rows), how.replays || how.runs > 1);
  return {};
}

} // namespace cameo::cli
