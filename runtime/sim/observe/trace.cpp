// SPDX-License-Identifier: Apache-2.0
#include "runtime/sim/observe/trace.h"
#include "runtime/sim/exec/worker.h"
#include "runtime/sim/isa/formats.h"

#include <charconv>
#include <cstring>

namespace cameo::sim {
namespace {

template <typename T> T elementAt(const void *elements, uint32_t index) {
  T value;
  memcpy(&value, static_cast<const char *>(elements) + size_t(index) * sizeof(T), sizeof value);
  return value;
}

template <typename T> std::string shortest(T value) {
  char text[48];
  return std::string(text, std::to_chars(text, text + sizeof text, value).ptr);
}

std::string writeElement(const void *elements, uint32_t index, uint32_t bits, uint32_t kind,
                         const char *shared) {
  switch (kind) {
  case CAMEO_SIM_VALUE_FLOAT:
    return bits == 64   ? shortest(elementAt<double>(elements, index))
           : bits == 32 ? shortest(elementAt<float>(elements, index))
                        : shortest(f16ToFloat(elementAt<uint16_t>(elements, index)));
  case CAMEO_SIM_VALUE_BF16:
    return shortest(bf16ToFloat(elementAt<uint16_t>(elements, index)));
  case CAMEO_SIM_VALUE_POINTER: {
    uint64_t address = elementAt<uint64_t>(elements, index);
    uint64_t offset = address - reinterpret_cast<uintptr_t>(shared);
    char text[24] = "shared+0x";
    char *digits = text + (offset < kSharedWindow ? 9 : 2);
    if (offset >= kSharedWindow)
      memcpy(text, "0x", 2);
    return std::string(text, std::to_chars(digits, text + sizeof text,
                                           offset < kSharedWindow ? offset : address, 16)
                                 .ptr);
  }
  default:
    return bits == 64   ? shortest(elementAt<int64_t>(elements, index))
           : bits == 32 ? shortest(elementAt<int32_t>(elements, index))
           : bits == 16 ? shortest(elementAt<int16_t>(elements, index))
                        : shortest(int(elementAt<int8_t>(elements, index)));
  }
}

bool readNumber(const std::string &text, uint64_t &number) {
  auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  return error == std::errc() && end == text.data() + text.size();
}

} // namespace

bool parseTrace(const char *text, TraceSelection &selection, std::string &error) {
  std::string rest = text ? text : "";
  size_t comma = rest.find(',');
  selection.kernel = rest.substr(0, comma);
  if (selection.kernel.empty()) {
    error = "names no kernel; write kernel, kernel,block or kernel,block,warp";
    return false;
  }
  for (uint64_t *number : {&selection.block, &selection.warp}) {
    if (comma == std::string::npos)
      return true;
    rest.erase(0, comma + 1);
    comma = rest.find(',');
    if (!readNumber(rest.substr(0, comma), *number)) {
      error = format("'%s' is not a number of a block or warp", rest.substr(0, comma).c_str());
      return false;
    }
  }
  if (comma != std::string::npos) {
    error = "has more than a kernel, a block and a warp";
    return false;
  }
  return true;
}

void traceInstruction(CameoSimThread *thread, const void *elements, uint32_t count, uint32_t bits,
                      uint32_t kind, uint32_t site) {
  const Fiber &fiber = *reinterpret_cast<const Fiber *>(thread);
  Block &block = *fiber.block;
  uint32_t warp = fiber.linear / kLanes, lane = fiber.linear % kLanes;
  if (!block.tracing)
    return;
  const TraceSelection &selection = *block.worker->state->trace;
  if (selection.warp != TraceSelection::kAll && selection.warp != warp)
    return;
  std::string text;
  for (uint32_t i = 0; i < count; ++i)
    text += (i ? "," : "") + writeElement(elements, i, bits, kind, thread->shared);
  if (count > 1)
    text = "[" + text + "]";
  Tracing &tracing = *block.tracing;
  if (!tracing.logs[warp].add(lane, site, 0, tracing.texts.size())) {
    // So far ahead of the others, it goes alone.
    traceConvergence(block, warp);
    tracing.logs[warp].add(lane, site, 0, tracing.texts.size());
  }
  tracing.texts.push_back(std::move(text));
}

void traceConvergence(Block &block, uint32_t warp) {
  Tracing &tracing = *block.tracing;
  LaunchState &state = *block.worker->state;
  std::string lines;
  tracing.logs[warp].converge([&](const LaneLog::Group &group) {
    const CameoSimSite &site = state.launch->image->sites[group.site];
    lines += format("(%u,%u,%u) warp %u, %s: %s", block.id[0], block.id[1], block.id[2], warp,
                    describeSet("lane", group.lanes).c_str(), site.what);
    const std::string &first = tracing.texts[group.values[__builtin_ctz(group.lanes)]];
    bool same = true;
    for (uint32_t rest = group.lanes; rest; rest &= rest - 1)
      same &= tracing.texts[group.values[__builtin_ctz(rest)]] == first;
    if (!first.empty())
      lines += " =>";
    for (uint32_t rest = group.lanes; rest && !first.empty(); rest &= rest - 1) {
      lines += " " + tracing.texts[group.values[__builtin_ctz(rest)]];
      if (same)
        break;
    }
    lines += "\n";
  });
  bool anyLeft = false;
  for (const LaneLog &log : tracing.logs)
    anyLeft |= !log.empty();
  if (!anyLeft)
    tracing.texts.clear();
  if (lines.empty())
    return;
  std::lock_guard<std::mutex> lock(state.tracing);
  state.trace->sink(lines);
}

} // namespace cameo::sim
