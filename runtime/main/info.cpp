// --info: the manifest for people. What the plans and sections say is printed from them; of the
// manifest, whatever it has beyond that.
// SPDX-License-Identifier: Apache-2.0
#include "runtime/core/hash.h"
#include "runtime/core/interpreter.h"
#include "runtime/main/json.h"
#include "runtime/main/session.h"

#include <algorithm>
#include <cstdio>
#include <cstring>

namespace cameo::cli {
namespace {

// The output that becomes an input, and where.
std::string stateOf(const runtime::Plan &plan, const runtime::PlanTensor &tensor) {
  if (tensor.state == runtime::PlanTensor::kNone)
    return "";
  std::string text = "  (a state, of '" + std::string(plan.outputs()[tensor.state].name) + "'";
  if (tensor.growing != runtime::PlanTensor::kNone)
    text += ", grows along dimension " + std::to_string(tensor.growing);
  return text + (tensor.isInPlace() ? ", in place)" : ", in another place each run)");
}

void printTensors(const char *title, const runtime::Plan &plan,
                  const std::vector<runtime::PlanTensor> &tensors) {
  std::printf("%s\n", title);
  for (const runtime::PlanTensor &tensor : tensors)
    std::printf("  %s: %s%s%s\n", tensor.name, runtime::formatType(tensor).c_str(),
                tensor.flags & CAMEO_TENSOR_HOST ? "  (read on the host)" : "",
                stateOf(plan, tensor).c_str());
}

void printValue(const std::string &name, const Json &value, int indent) {
  std::printf("%*s%s%s", indent, "", name.c_str(), name.empty() ? "-" : ":");
  bool flat = true;
  for (const auto &member : value.members)
    flat &= member.second.members.empty() && value.kind == Json::Array;
  if (value.members.empty()) {
    std::printf(" %s\n", value.text.c_str());
  } else if (flat) {
    for (const auto &member : value.members)
      std::printf(" %s", member.second.text.c_str());
    std::printf("\n");
  } else {
    std::printf("\n");
    for (const auto &[memberName, member] : value.members)
      printValue(memberName, member, indent + 2);
  }
}

// What one run computes, moves and keeps, for the sizes of --shapes; without it where no size is
// open. Nothing is run, so nothing is known where it depends on values.
Status printWork(const Options &options, const runtime::Plan &plan) {
  std::vector<Shape> shapes;
  CAMEO_RETURN_IF_ERROR(chooseShapes(options, plan.inputs(), shapes));
  std::vector<runtime::PlanInput> inputs;
  std::string text;
  bool isOpen = false;
  for (size_t i = 0; i < shapes.size(); ++i) {
    const runtime::PlanTensor &tensor = plan.inputs()[i];
    if (tensor.flags & CAMEO_TENSOR_HOST) {
      if (!options.shapes.empty())
        std::printf("work: not known before a run: '%s' is read on the host\n", tensor.name);
      return {};
    }
    isOpen |= shapes[i] != tensor.dims;
    text += std::string(i ? ", " : "") + tensor.name + " " +
            runtime::formatType(shapes[i], tensor.dtype);
    inputs.push_back({shapes[i], nullptr});
  }
  if (isOpen && options.shapes.empty())
    return {};
  runtime::WorkList work;
  if (Status status = runtime::runPlan(plan, inputs, work); !status.ok())
    return options.shapes.empty() ? Status() : std::move(status);
  if (isOpen)
    std::printf("for: %s\n", text.c_str());
  double flops = 0, bytes = 0;
  bool isKnown = true;
  for (const runtime::LaunchStep &launch : work.launches) {
    isKnown &= launch.flops >= 0 && launch.bytes >= 0;
    flops += launch.flops;
    bytes += launch.bytes;
  }
  if (plan.hasSegments())
    std::printf("work: values decide how a run goes on; its first part has %zu launches\n",
                work.launches.size());
  else if (isKnown)
    std::printf("work: %zu launches, %.6g GFLOP, %.6g MB read and written\n", work.launches.size(),
                flops / 1e9, bytes / 1e6);
  runtime::SizedArena all = work.allArenas();
  if (work.arenaUseKnown)
    std::printf("intermediate values: %llu B in the arena, %llu B of them live at once, %llu B in "
                "all\n",
                (unsigned long long)all.bytes, (unsigned long long)all.liveBytes,
                (unsigned long long)all.sumBytes);
  return {};
}

Status printEntries(const Options &options, const runtime::Payload &payload) {
  uint32_t variant = UINT32_MAX;
  for (const runtime::Section &section : payload.sections()) {
    if (section.kind != CAMEO_SECTION_PLAN)
      continue;
    // All variants have the same entry points.
    if (variant == UINT32_MAX)
      variant = section.variant;
    if (section.variant != variant)
      continue;
    runtime::Plan plan;
    CAMEO_RETURN_IF_ERROR(runtime::Plan::parse(section.data, section.size, payload.weightBytes(),
                                               payload.version(), plan));
    std::printf("entry point: %s\n", plan.name());
    printTensors("inputs:", plan, plan.inputs());
    printTensors("outputs:", plan, plan.outputs());
    if (!plan.taps().empty())
      printTensors("taps:", plan, plan.taps());
    std::printf("kernels: %zu\n", plan.kernels().size());
    CAMEO_RETURN_IF_ERROR(printWork(options, plan));
  }
  return {};
}

} // namespace

std::string bytesText(uint64_t bytes) {
  char text[48];
  if (bytes < 10240)
    std::snprintf(text, sizeof text, "%llu B", (unsigned long long)bytes);
  else if (bytes < 10u << 20)
    std::snprintf(text, sizeof text, "%.1f KiB", double(bytes) / 1024);
  else
    std::snprintf(text, sizeof text, "%.1f MiB", double(bytes) / (1 << 20));
  return text;
}

// There may be hundreds of kernels, and --profile shows their precisions.
static void dropPrecisions(Json &variants) {
  for (auto &[name, variant] : variants.members)
    variant.members.erase(
        std::remove_if(variant.members.begin(), variant.members.end(),
                       [](const auto &member) { return member.first == "precision_of"; }),
        variant.members.end());
}

// What is in several pieces has the hash of their hashes.
void printCode(const runtime::Payload &payload) {
  std::printf("code:\n");
  const std::vector<runtime::Section> &sections = payload.sections();
  for (auto section = sections.begin(); section != sections.end(); ++section) {
    auto isPiece = [&](const runtime::Section &other) { return other.isCodeOf(*section); };
    bool isCode = section->kind == CAMEO_SECTION_PTX || section->kind == CAMEO_SECTION_CUBIN ||
                  section->kind == CAMEO_SECTION_SIM_IMAGE;
    if (!isCode || std::any_of(sections.begin(), section, isPiece))
      continue;
    uint64_t bytes = 0;
    std::vector<uint64_t> hashes;
    for (const runtime::Section &piece : sections)
      if (isPiece(piece)) {
        bytes += piece.size;
        hashes.push_back(runtime::hash(piece.data, piece.size));
      }
    std::string pieces =
        hashes.size() > 1 ? " in " + std::to_string(hashes.size()) + " pieces" : "";
    std::printf(
        "  %s, %s%s, xxh3 %016llx\n", runtime::describeCode(*section).c_str(),
        bytesText(bytes).c_str(), pieces.c_str(),
        (unsigned long long)(hashes.size() == 1
                                 ? hashes[0]
                                 : runtime::hash(hashes.data(), hashes.size() * sizeof(uint64_t))));
  }
}

Status printInfo(const Options &options, const runtime::Payload &payload) {
  std::string_view manifest = payload.manifest();
  if (options.info == Report::Json) {
    std::fwrite(manifest.data(), 1, manifest.size(), stdout);
    std::printf("\n");
    return {};
  }
  CAMEO_RETURN_IF_ERROR(printEntries(options, payload));
  printCode(payload);
  std::printf("weights: %s\n", bytesText(payload.weightBytes()).c_str());
  std::printf("payload: version %u, %s\n", payload.version(), bytesText(payload.size()).c_str());
  Json json;
  if (!parseJson(manifest, json) || json.kind != Json::Object)
    return failure(Code::Corrupt, "the manifest is not a JSON object");
  for (auto &[name, value] : json.members) {
    if (name == "variants")
      dropPrecisions(value);
    if (name != "inputs" && name != "outputs" && name != "entries" && name != "code" &&
        name != "weight_bytes")
      printValue(name, value, 0);
  }
  return {};
}

} // namespace cameo::cli
