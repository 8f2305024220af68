// --profile: a trace of a run, a slice a kernel, in the format that Perfetto and Chrome open.
// SPDX-License-Identifier: Apache-2.0
#include "runtime/main/json.h"
#include "runtime/main/session.h"
#include "runtime/sim/observe/estimate.h"

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

// `counters`: null where nothing is counted.
std::string slice(const runtime::LaunchTiming &timing, const sim::LaunchCounters *counters) {
  char numbers[320];
  std::snprintf(
      numbers, sizeof numbers,
      ",\"cat\":\"kernel\",\"ph\":\"X\",\"pid\":1,\"tid\":1,\"ts\":%.3f,\"dur\":%.3f,"
      "\"args\":{\"spread_us\":%.3f,\"grid\":[%u,%u,%u],\"block\":[%u,%u,%u],\"shared_bytes\":%u,",
      timing.start * 1000, timing.duration * 1000, timing.spread * 1000, timing.step->grid[0],
      timing.step->grid[1], timing.step->grid[2], timing.kernel->block[0], timing.kernel->block[1],
      timing.kernel->block[2], timing.kernel->sharedStatic + timing.step->sharedDynamic);
  return "{\"name\":" + quoteJson(timing.kernel->name) + numbers + workOf(*timing.step) +
         "\"onnx_nodes\":" + nodeList(timing.step->onnxNodes) +
         (counters ? "," + formatCounters(*counters) : "") + "}}";
}

// What the times are, for people.
std::string describeTimes(const Session &session, const runtime::TimedRun &how) {
  if (session.simulated())
    return "simulated: times of the simulator, not of a GPU";
  if (how.replays)
    return "medians of " + std::to_string(how.replays) +
           " replays of a graph that records an event between launches";
  std::string why = how.notReplayed.empty() ? "this driver has no graphs" : how.notReplayed;
  return "one run, launched by the host, which short kernels wait for: " + why;
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
  runtime::ContextOptions contextOptions;
  contextOptions.entry = session.entry;
  CAMEO_RETURN_IF_ERROR(runtime::Context::create(session.model, contextOptions, context));
  CAMEO_RETURN_IF_ERROR(bindInputs(*context, inputs));
  CAMEO_RETURN_IF_ERROR(warmUp(options, session, *context));
  std::vector<sim::LaunchCounters> counters;
  session.device->takeCounters(counters); // of those first runs

  std::string slices;
  runtime::TimedRun how;
  size_t count = 0;
  double total = 0;
  bool taken = false;
  auto add = [&](const runtime::LaunchTiming &timing) {
    if (!taken)
      session.device->takeCounters(counters);
    taken = true;
    slices += ",\n" + slice(timing, count < counters.size() ? &counters[count] : nullptr);
    total += timing.duration;
    ++count;
  };
  CAMEO_RETURN_IF_ERROR(context->runTimed(add, options.profileRuns, &how));
  std::string trace = header(session, how) + slices + "\n]}\n";
  CAMEO_RETURN_IF_ERROR(
      writeFile(options.profile, std::vector<uint8_t>(trace.begin(), trace.end())));
  std::printf("profile: %zu launches, %.3f ms in kernels%s; %s\n", count, total,
              session.simulated() ? " (simulated)" : "", options.profile.c_str());
  if (session.simulated())
    return {};
  std::printf("  %s\n", describeTimes(session, how).c_str());
  if (how.replays)
    std::printf("  %s; a replay without events between its launches: %.3f ms\n",
                describeFloor(how).c_str(), how.whole);
  return {};
}

} // namespace cameo::cli
