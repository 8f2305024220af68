// --profile: a trace of one run, a slice a kernel, in the format that Perfetto and Chrome open.
// SPDX-License-Identifier: Apache-2.0
#include "runtime/main/json.h"
#include "runtime/main/session.h"
#include "runtime/sim/estimate.h"

#include <cstdio>

namespace cameo::cli {
namespace {

// `counters`: null where nothing is counted.
// What the launch computes and moves, where the plan says so.
std::string workOf(const rt::LaunchStep &step) {
  if (step.flops < 0 || step.bytes < 0)
    return "";
  char text[80];
  std::snprintf(text, sizeof text, "\"flops\":%.0f,\"bytes\":%.0f,", step.flops, step.bytes);
  return text;
}

std::string slice(const rt::LaunchTiming &timing, const sim::LaunchCounters *counters) {
  char numbers[320];
  std::snprintf(numbers, sizeof numbers,
                ",\"cat\":\"kernel\",\"ph\":\"X\",\"pid\":1,\"tid\":1,\"ts\":%.3f,\"dur\":%.3f,"
                "\"args\":{\"grid\":[%u,%u,%u],\"block\":[%u,%u,%u],\"shared_bytes\":%u,",
                timing.start * 1000, timing.duration * 1000, timing.step->grid[0],
                timing.step->grid[1], timing.step->grid[2], timing.kernel->block[0],
                timing.kernel->block[1], timing.kernel->block[2],
                timing.kernel->sharedStatic + timing.step->sharedDynamic);
  return "{\"name\":" + quoteJson(timing.kernel->name) + numbers + workOf(*timing.step) +
         "\"onnx_nodes\":" + nodeList(timing.step->onnxNodes) +
         (counters ? "," + formatCounters(*counters) : "") + "}}";
}

} // namespace

Status runProfile(const Options &options, Session &session, std::vector<HostTensor> &inputs) {
  std::unique_ptr<rt::Context> context;
  rt::ContextOptions contextOptions;
  contextOptions.entry = session.entry;
  CAMEO_RETURN_IF_ERROR(rt::Context::create(session.model, contextOptions, context));
  CAMEO_RETURN_IF_ERROR(bindInputs(*context, inputs));
  // First runs load code and touch memory for the first time.
  CAMEO_RETURN_IF_ERROR(context->enqueue());
  CAMEO_RETURN_IF_ERROR(context->synchronize());
  std::vector<sim::LaunchCounters> counters;
  session.device->takeCounters(counters); // of those first runs

  const char *label =
      session.simulated() ? "simulated: times of the simulator, not of a GPU" : "GPU";
  std::string trace =
      "{\"displayTimeUnit\":\"ms\",\"otherData\":{\"device\":" + quoteJson(session.place) +
      ",\"times\":" + quoteJson(label) +
      "},\"traceEvents\":[\n"
      "{\"name\":\"process_name\",\"ph\":\"M\",\"pid\":1,\"args\":{\"name\":" +
      quoteJson(session.place) + "}},\n" +
      "{\"name\":\"thread_name\",\"ph\":\"M\",\"pid\":1,\"tid\":1,\"args\":"
      "{\"name\":\"stream 1\"}}";
  size_t count = 0;
  double total = 0;
  bool taken = false;
  CAMEO_RETURN_IF_ERROR(context->runTimed([&](const rt::LaunchTiming &timing) {
    if (!taken)
      session.device->takeCounters(counters);
    taken = true;
    trace += ",\n" + slice(timing, count < counters.size() ? &counters[count] : nullptr);
    total += timing.duration;
    ++count;
  }));
  trace += "\n]}\n";
  CAMEO_RETURN_IF_ERROR(
      writeFile(options.profile, std::vector<uint8_t>(trace.begin(), trace.end())));
  std::printf("profile: %zu launches, %.3f ms in kernels%s; %s\n", count, total,
              session.simulated() ? " (simulated)" : "", options.profile.c_str());
  return {};
}

} // namespace cameo::cli
