// --sim-counters: what each launch does, counted by the simulator: a table, and JSON.
// SPDX-License-Identifier: Apache-2.0
#include "runtime/main/json.h"
#include "runtime/main/session.h"
#include "runtime/sim/observe/estimate.h"

#include <algorithm>
#include <cstdio>

namespace cameo::cli {
namespace {

using sim::Estimate;
using sim::KernelCounters;
using sim::Resource;

// "name":1
template <typename Number> std::string member(const char *name, Number value) {
  return "\"" + std::string(name) + "\":" + std::to_string(value);
}

std::string formatGlobal(const sim::GlobalCounts &counts) {
  return "{" + member("requests", counts.requests) + "," + member("bytes", counts.bytes) + "," +
         member("sectors", counts.sectors) + "," + member("sectors_ideal", counts.idealSectors) +
         "}";
}

std::string formatShared(const sim::SharedCounts &counts) {
  return "{" + member("requests", counts.requests) + "," + member("bytes", counts.bytes) + "," +
         member("wavefronts", counts.wavefronts) + "," +
         member("wavefronts_ideal", counts.idealWavefronts) + "," +
         member("bank_conflicts", counts.conflicts()) + "}";
}

std::string microseconds(double seconds) {
  char text[32];
  std::snprintf(text, sizeof text, "%.3f", seconds * 1e6);
  return text;
}

std::string formatWork(const KernelCounters &work) {
  std::string text = member("blocks", work.blocks) + "," + member("warps", work.warps) + "," +
                     member("threads", work.threads) +
                     ",\"global\":{\"load\":" + formatGlobal(work.globalLoads) +
                     ",\"store\":" + formatGlobal(work.globalStores) +
                     ",\"atomic\":" + formatGlobal(work.globalAtomics) +
                     "},\"shared\":{\"load\":" + formatShared(work.sharedLoads) +
                     ",\"store\":" + formatShared(work.sharedStores) +
                     ",\"atomic\":" + formatShared(work.sharedAtomics) + "},\"async\":{" +
                     member("cp_async_bytes", work.asyncCopyBytes) + "," +
                     member("bulk_load_bytes", work.bulkLoadBytes) + "," +
                     member("bulk_store_bytes", work.bulkStoreBytes) + "},\"instructions\":{";
  for (uint32_t i = 0; i < uint32_t(sim::InstructionKind::Count); ++i)
    text += (i ? "," : "") +
            member(sim::instructionName(sim::InstructionKind(i)), work.instructions[i]);
  text += "},\"thread_operations\":{";
  for (unsigned i = 0; i < CAMEO_SIM_COUNTS; ++i)
    text += (i ? "," : "") + member(sim::operationName(i), work.operations[i]);
  text += "},\"matrix\":{";
  bool first = true;
  for (const auto &[code, count] : work.matrix) {
    text += (first ? "" : ",") + member(sim::matrixName(code).c_str(), count);
    first = false;
  }
  return text + "}," + member("accesses_not_grouped", work.ungrouped);
}

// "target":"sm_80","board":"a100-40"
std::string formatBoard(const sim::LaunchCounters &counters) {
  return (counters.target ? "\"target\":" + quoteJson(counters.target->name) + "," : "") +
         "\"board\":" + quoteJson(counters.board->name);
}

std::string formatEstimate(const sim::LaunchCounters &counters) {
  const Estimate &estimate = counters.estimate;
  std::string text = "\"estimate\":{" + formatBoard(counters) +
                     ",\"microseconds\":" + microseconds(estimate.seconds) +
                     ",\"limited_by\":" + quoteJson(sim::resourceName(estimate.limit)) +
                     ",\"microseconds_of\":{";
  for (uint32_t i = 0; i < uint32_t(Resource::Count); ++i)
    text += (i ? "," : "") + quoteJson(sim::resourceName(Resource(i))) + ":" +
            microseconds(estimate.of[i]);
  return text + "}}";
}

constexpr size_t kNameWidth = 28;

void printRow(const std::string &name, const KernelCounters &work, const std::string &estimate) {
  std::string shown = name.size() <= kNameWidth ? name : name.substr(0, kNameWidth - 3) + "...";
  std::printf("%-*s %10llu %10llu %10llu %10llu %10llu %10llu %9llu %9.4f  %s\n", int(kNameWidth),
              shown.c_str(), (unsigned long long)work.globalLoads.sectors,
              (unsigned long long)work.globalLoads.idealSectors,
              (unsigned long long)work.globalStores.sectors,
              (unsigned long long)work.globalStores.idealSectors,
              (unsigned long long)work.sharedWavefronts(),
              (unsigned long long)(work.sharedLoads.conflicts() + work.sharedStores.conflicts() +
                                   work.sharedAtomics.conflicts()),
              (unsigned long long)work.of(sim::InstructionKind::Matrix),
              double(work.operations[CAMEO_SIM_COUNT_F32_FMA]) * 1e-9, estimate.c_str());
}

std::string tableEstimate(const Estimate &estimate) {
  char text[64];
  std::snprintf(text, sizeof text, "%10.2f  %s", estimate.seconds * 1e6,
                sim::resourceName(estimate.limit));
  return text;
}

void printTable(const std::vector<sim::LaunchCounters> &launches, const KernelCounters &total,
                double seconds) {
  const CameoBoard *board = launches.empty() ? nullptr : launches[0].board;
  std::printf("counted in the simulator; sectors are 32 B of global memory, wavefronts cycles of "
              "shared memory\n");
  if (board)
    std::printf("times are estimates for %s (sm_%u), from a roofline, not measurements\n",
                board->name, board->arch);
  std::printf("%-*s %10s %10s %10s %10s %10s %10s %9s %9s  %s\n", int(kNameWidth), "", "loaded",
              "ideal", "stored", "ideal", "shared", "bank", "matrix", "1e9",
              board ? "  estimate" : "");
  std::printf("%-*s %10s %10s %10s %10s %10s %10s %9s %9s  %s\n", int(kNameWidth), "kernel",
              "sectors", "sectors", "sectors", "sectors", "wavefronts", "conflicts", "instr.",
              "f32 fma", board ? "        us  limited by" : "");
  for (const sim::LaunchCounters &launch : launches)
    printRow(launch.kernel, launch.work, board ? tableEstimate(launch.estimate) : "");
  char text[32] = "";
  if (board)
    std::snprintf(text, sizeof text, "%10.2f", seconds * 1e6);
  printRow("total of " + std::to_string(launches.size()) +
               (launches.size() == 1 ? " launch" : " launches"),
           total, text);
  if (total.ungrouped)
    std::printf("%llu accesses were counted a lane at a time: lanes ran too far apart\n",
                (unsigned long long)total.ungrouped);
}

} // namespace

std::string nodeList(const char *nodes) {
  std::string list = "[", text = nodes;
  for (size_t at = 0; at < text.size();) {
    size_t comma = text.find(',', at);
    if (comma == std::string::npos)
      comma = text.size();
    list += (list.size() > 1 ? "," : "") + quoteJson(text.substr(at, comma - at));
    at = comma + 1;
  }
  return list + "]";
}

std::string formatCounters(const sim::LaunchCounters &counters) {
  return formatWork(counters.work) + (counters.board ? "," + formatEstimate(counters) : "");
}

Status runCounters(const Options &options, Session &session, std::vector<HostTensor> &inputs) {
  std::unique_ptr<runtime::Context> context;
  runtime::ContextOptions contextOptions = contextOptionsOf(session);
  CAMEO_RETURN_IF_ERROR(runtime::Context::create(session.model, contextOptions, context));
  CAMEO_RETURN_IF_ERROR(bindInputs(*context, inputs));
  std::vector<sim::LaunchCounters> launches;
  session.device->takeCounters(launches); // of other runs
  std::vector<std::string> nodes;
  CAMEO_RETURN_IF_ERROR(context->runTimed([&](const runtime::LaunchTiming &timing) {
    nodes.push_back(nodeList(timing.step->onnxNodes));
  }));
  session.device->takeCounters(launches);

  KernelCounters total;
  double seconds = 0;
  for (const sim::LaunchCounters &launch : launches) {
    total.add(launch.work);
    seconds += launch.estimate.seconds;
  }
  printTable(launches, total, seconds);
  if (options.counters.empty())
    return {};
  std::string text = "{\"device\":" + quoteJson(session.place) + ",\"launches\":[";
  for (size_t i = 0; i < launches.size(); ++i)
    text += std::string(i ? "," : "") + "\n{\"kernel\":" + quoteJson(launches[i].kernel) +
            ",\"onnx_nodes\":" + nodes[i] + "," + formatCounters(launches[i]) + "}";
  text += "\n],\n\"total\":{" + formatWork(total) +
          (!launches.empty() && launches[0].board
               ? ",\"estimate\":{" + formatBoard(launches[0]) +
                     ",\"microseconds\":" + microseconds(seconds) + "}"
               : "") +
          "}}\n";
  return writeFile(options.counters, std::vector<uint8_t>(text.begin(), text.end()));
}

} // namespace cameo::cli
