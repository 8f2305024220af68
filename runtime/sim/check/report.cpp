// Faults as they are noted while a launch runs, and their making into reports afterwards.
//
// SPDX-License-Identifier: Apache-2.0
#include "runtime/sim/check/report.h"
#include "runtime/sim/exec/fiber.h"

#include <algorithm>
#include <cstdarg>
#include <cstdio>
#include <cstring>

namespace cameo::sim {

std::string format(const char *pattern, ...) {
  va_list arguments, again;
  va_start(arguments, pattern);
  va_copy(again, arguments);
  int size = vsnprintf(nullptr, 0, pattern, arguments);
  va_end(arguments);
  std::string text(size > 0 ? size_t(size) : 0, '\0');
  if (size > 0)
    vsnprintf(&text[0], text.size() + 1, pattern, again);
  va_end(again);
  return text;
}

const char *faultName(FaultKind kind) {
  switch (kind) {
  case FaultKind::SharedOutOfBounds:
    return "out-of-bounds access of shared memory";
  case FaultKind::GlobalOutOfBounds:
    return "out-of-bounds access of global memory";
  case FaultKind::Misaligned:
    return "misaligned access";
  case FaultKind::SharedUninitialised:
    return "read of uninitialised shared memory";
  case FaultKind::GlobalUninitialised:
    return "read of uninitialised global memory";
  case FaultKind::GlobalOverwritten:
    return "read of an overwritten value";
  case FaultKind::SharedRace:
    return "race on shared memory";
  case FaultKind::GlobalRace:
    return "race on global memory";
  case FaultKind::MissingProxyFence:
  case FaultKind::MissingMapFence:
    return "missing proxy fence";
  case FaultKind::UninitialisedRegister:
    return "read of an uninitialised register";
  case FaultKind::NotInMask:
    return "lane outside the mask of its collective";
  case FaultKind::MismatchedOp:
    return "lanes of one mask at different collectives";
  case FaultKind::InactiveLane:
    return "shuffle from an absent lane";
  case FaultKind::BadBarrier:
    return "invalid barrier";
  case FaultKind::MismatchedBarrier:
    return "barrier with different counts";
  case FaultKind::DivergentBarrier:
    return "divergent barrier";
  case FaultKind::DivergentWgmma:
    return "divergent wgmma";
  case FaultKind::BadOperand:
    return "invalid instruction";
  case FaultKind::TensorStart:
    return "illegal instruction";
  case FaultKind::BlockLifetime:
    return "shared memory of a block that may not be running";
  case FaultKind::UnfinishedAsync:
    return "asynchronous operation under way at the end of its block";
  case FaultKind::Deadlock:
    return "deadlock";
  case FaultKind::StackOverflow:
    return "stack overflow";
  }
  return "fault";
}

const char *describeOp(uint32_t op) {
  static const char *const shuffles[] = {"shuffle.idx", "shuffle.up", "shuffle.down",
                                         "shuffle.bfly"};
  static const char *const votes[] = {"vote.any", "vote.all", "vote.uni", "vote.ballot"};
  switch (op & ~0xffu) {
  case kOpShuffle:
    return shuffles[op & 3];
  case kOpVote:
    return votes[op & 3];
  case kOpBarrier:
    return "barrier";
  case kOpClusterBarrier:
    return "barrier of the cluster";
  case kOpInstruction:
    return "collective instruction";
  default:
    return "warp sync";
  }
}

std::string describeSet(const char *noun, uint32_t mask) {
  std::string text = format((mask & (mask - 1)) ? "%ss " : "%s ", noun);
  const char *separator = "";
  for (uint32_t lane = 0; lane < kLanes; ++lane) {
    if (!(mask >> lane & 1))
      continue;
    uint32_t last = lane;
    while (last + 1 < kLanes && (mask >> (last + 1) & 1))
      ++last;
    text +=
        last == lane ? format("%s%u", separator, lane) : format("%s%u-%u", separator, lane, last);
    separator = ", ";
    lane = last;
  }
  return text;
}

namespace {

struct SiteText {
  std::string node, location, what;
};

SiteText readSite(const CameoSimImage *image, uint32_t site) {
  if (!image || site >= image->site_count)
    return {};
  const CameoSimSite &entry = image->sites[site];
  return {entry.node, entry.location, entry.what};
}

std::string joinSite(const SiteText &site) {
  if (site.what.empty() && site.location.empty())
    return {};
  if (site.what.empty() || site.location.empty())
    return " (" + site.what + site.location + ")";
  return " (" + site.what + ", " + site.location + ")";
}

const char *verb(CameoSimAccess access) {
  return access == CAMEO_SIM_READ ? "read" : access == CAMEO_SIM_WRITE ? "write" : "atomic";
}

/// A global address in terms of the buffers: of the one of parameter number `parameter` - 1, else
/// inside one, or so far from the nearest.
std::string nameAddress(uint64_t address, const std::vector<Range> &ranges, uint32_t parameter) {
  const Range *nearest = nullptr;
  uint64_t distance = ~0ull;
  for (const Range &range : ranges) {
    uint64_t begin = reinterpret_cast<uintptr_t>(range.begin), end = begin + range.bytes;
    uint64_t d = address < begin ? begin - address : address < end ? 0 : address - end;
    if (parameter && range.parameter == parameter - 1)
      d = 0;
    else if (parameter && d == 0)
      d = 1;
    if (!nearest || d < distance) {
      nearest = &range;
      distance = d;
    }
  }
  if (!nearest)
    return format("0x%llx", (unsigned long long)address);
  const char *name = nearest->name.empty() ? "buffer" : nearest->name.c_str();
  uint64_t begin = reinterpret_cast<uintptr_t>(nearest->begin);
  if (address < begin)
    return format("%s-0x%llx (of %llu B)", name, (unsigned long long)(begin - address),
                  (unsigned long long)nearest->bytes);
  return format("%s+0x%llx (of %llu B)", name, (unsigned long long)(address - begin),
                (unsigned long long)nearest->bytes);
}

void decode(uint64_t linear, const uint32_t *grid, uint32_t *block) {
  block[0] = uint32_t(linear % grid[0]);
  block[1] = uint32_t(linear / grid[0] % grid[1]);
  block[2] = uint32_t(linear / grid[0] / grid[1]);
}

/// "write by", "write by the tensor copy of".
std::string describeAccess(CameoSimAccess access, Agent agent) {
  static const char *const agents[] = {"by",
                                       "by the asynchronous copy of",
                                       "by the bulk copy of",
                                       "by the tensor copy of",
                                       "by the asynchronous store of",
                                       "by the wgmma of",
                                       "by the tensor copy of"};
  return format("%s %s", verb(access), agents[int(agent)]);
}

bool isAccess(FaultKind kind) { return kind <= FaultKind::MissingMapFence; }

bool isShared(const Fault &fault) {
  return fault.kind == FaultKind::SharedOutOfBounds ||
         fault.kind == FaultKind::SharedUninitialised || fault.kind == FaultKind::SharedRace ||
         (fault.kind == FaultKind::MissingProxyFence && !fault.ofGlobal) ||
         (fault.kind == FaultKind::Misaligned && fault.values[0] >> 31);
}

/// The allocation that a global access is in, or null.
const Allocation *allocationOf(const Fault &fault, const std::vector<Range> &ranges) {
  for (const Range &range : ranges)
    if (range.contains(reinterpret_cast<const char *>(fault.address), fault.bytes))
      return range.allocation;
  return nullptr;
}

/// The value that has begun last in the place of one that is not there (any more), if it is another.
std::string describeSuccessor(const Fault &fault, const std::vector<Range> &ranges) {
  const Allocation *allocation = allocationOf(fault, ranges);
  const uint8_t mark = fault.values[0] & 0xff;
  if (!allocation || mark < kFirstValueMark)
    return "";
  const uint64_t begin = fault.address - reinterpret_cast<uintptr_t>(allocation->begin);
  const ArenaValue *last = nullptr;
  for (const ArenaValue &value : allocation->values)
    if (value.order && value.offset < begin + fault.bytes && begin < value.offset + value.bytes &&
        (!last || last->order < value.order))
      last = &value;
  return !last || last == &allocation->values[mark]
             ? ""
             : format(", in whose place is %s now",
                      allocation->nameOf(uint8_t(last - allocation->values.data())));
}

/// What is particular to the kind, on the first line.
std::string describe(const Fault &fault, const Report &report, const Launch &launch,
                     const std::vector<Range> &ranges, uint32_t sharedBytes) {
  std::string access = isAccess(fault.kind) ? format("%s of %u B at %s", verb(fault.access),
                                                     fault.bytes, report.address.c_str())
                                            : "";
  switch (fault.kind) {
  case FaultKind::SharedOutOfBounds:
    return format("%s, which has %u B", access.c_str(), sharedBytes);
  case FaultKind::Misaligned:
    return format("%s, which must be aligned to %u B", access.c_str(),
                  fault.values[0] & 0x7fffffffu);
  case FaultKind::GlobalOverwritten:
    return format("%s, last written as a part of %s", access.c_str(),
                  allocationOf(fault, ranges)->nameOf(fault.values[1]));
  case FaultKind::GlobalUninitialised:
    return access + describeSuccessor(fault, ranges);
  case FaultKind::UninitialisedRegister:
    return report.what;
  case FaultKind::NotInMask:
    return format("mask 0x%08x", fault.values[0]);
  case FaultKind::MismatchedOp:
    return format("%s here, %s at %s", describeOp(fault.values[1]),
                  describeSet("lane", fault.values[2]).c_str(), describeOp(fault.values[0]));
  case FaultKind::InactiveLane:
    return format("reads lane %u, mask 0x%08x", fault.values[0], fault.values[1]);
  case FaultKind::BadBarrier:
    return fault.detail.empty()
               ? format("barrier %u for %u threads; numbers go to 15, counts are multiples of 32 "
                        "and at most the block's threads",
                        fault.values[0], fault.values[1])
               : fault.detail;
  case FaultKind::MismatchedBarrier:
    return format("barrier %u for %u threads here, for %u elsewhere", fault.values[0],
                  fault.values[1], fault.values[2]);
  case FaultKind::DivergentBarrier:
    return format("%s of the warp %s", describeSet("lane", fault.values[0]).c_str(),
                  fault.values[1] ? "meet it at another instruction" : "do not reach it");
  case FaultKind::TensorStart: {
    int32_t coordinate = int32_t(fault.values[1]);
    if (fault.values[2])
      return format("the copy starts at coordinate %d of dimension %u, %lld B into its line, which "
                    "must be a multiple of 16 B",
                    coordinate, fault.values[0], (long long)coordinate * fault.values[2]);
    return format("the store or reduction starts at coordinate %d of dimension %u, which must be 0 "
                  "or greater",
                  coordinate, fault.values[0]);
  }
  case FaultKind::DivergentWgmma:
  case FaultKind::BadOperand:
  case FaultKind::BlockLifetime:
  case FaultKind::UnfinishedAsync:
    return fault.detail;
  case FaultKind::Deadlock:
    return format("no thread of the %s can go on",
                  launch.cluster[0] * launch.cluster[1] * launch.cluster[2] > 1 ? "cluster"
                                                                                : "block") +
           fault.detail;
  case FaultKind::StackOverflow:
    return "the kernel needs more stack than its image says";
  default:
    return access;
  }
}

Report makeReport(const Fault &fault, const Launch &launch, const std::vector<Range> &ranges,
                  uint32_t sharedBytes) {
  Report report;
  report.kind = fault.kind;
  report.kernel = launch.kernel->name;
  SiteText site = readSite(launch.image, fault.site);
  SiteText other = readSite(launch.image, fault.otherSite);
  report.node = !site.node.empty() ? site.node : launch.nodes ? launch.nodes : "";
  report.location = site.location;
  report.what = site.what;
  report.otherLocation = other.location;
  report.otherWhat = other.what;
  decode(fault.block, launch.grid, report.block);
  report.warp = fault.warp;
  report.lanes = fault.lanes;
  report.count = fault.count;
  const bool ofValue =
      fault.kind == FaultKind::GlobalUninitialised || fault.kind == FaultKind::GlobalOverwritten;
  if (isAccess(fault.kind))
    report.address = isShared(fault)
                         ? format("shared+0x%llx", (unsigned long long)fault.address)
                         : nameAddress(fault.address, ranges,
                                       fault.kind == FaultKind::GlobalOutOfBounds ? fault.values[0]
                                       : ofValue ? fault.values[0] >> 8
                                                 : 0);
  if (fault.ownerBlock != Fault::kOwnBlock) {
    uint32_t owner[3];
    decode(fault.ownerBlock, launch.grid, owner);
    report.address += format(" of block (%u,%u,%u)", owner[0], owner[1], owner[2]);
  }

  bool isRegister = fault.kind == FaultKind::UninitialisedRegister;
  if (isRegister)
    site.what.clear(); // the description has it
  report.text = format("%s: %s%s", faultName(fault.kind),
                       describe(fault, report, launch, ranges, sharedBytes).c_str(),
                       fault.kind == FaultKind::Deadlock ? "" : joinSite(site).c_str());
  bool unfenced = fault.kind == FaultKind::MissingProxyFence;
  bool ofMap = fault.kind == FaultKind::MissingMapFence;
  if (ofMap && !fault.detail.empty()) {
    report.text += "\n  " + fault.detail;
  } else if (ofMap || unfenced || fault.kind == FaultKind::SharedRace ||
             fault.kind == FaultKind::GlobalRace) {
    uint32_t block[3];
    decode(fault.otherBlock, launch.grid, block);
    report.text += format(
        "\n  %s the %s block (%u,%u,%u) warp %u lane %u%s",
        unfenced ? "no fence.proxy.async after"
        : ofMap  ? "no fence.proxy.tensormap::generic.release, then .acquire, after"
                 : "not ordered after",
        describeAccess(fault.otherAccess, fault.otherAgent).c_str(), block[0], block[1], block[2],
        fault.otherThread / kLanes, fault.otherThread % kLanes, joinSite(other).c_str());
  } else if (std::string elsewhere = joinSite(other); !elsewhere.empty()) {
    report.text += (isRegister ? "\n  which comes from:" : "\n  the other one:") + elsewhere;
  }
  report.text += format("\n  in kernel %s", report.kernel.c_str());
  if (!report.node.empty())
    report.text += format(", node %s", report.node.c_str());
  report.text += format(", block (%u,%u,%u), warp %u, %s", report.block[0], report.block[1],
                        report.block[2], report.warp, describeSet("lane", report.lanes).c_str());
  if (report.count > 1)
    report.text += format("; %llu times in all", (unsigned long long)report.count);
  return report;
}

} // namespace

std::string describeSite(const CameoSimImage *image, uint32_t site) {
  return joinSite(readSite(image, site));
}

void FaultLog::add(Fault fault) {
  std::lock_guard<std::mutex> lock(mutex_);
  // One deadlock a launch is enough: which instruction happens to come first tells nothing.
  bool deadlock = fault.kind == FaultKind::Deadlock;
  Key key{fault.kind, deadlock ? kNoSite : fault.site, fault.otherSite};
  auto [it, inserted] = faults_.try_emplace(key);
  Fault &known = it->second;
  if (inserted) {
    known = std::move(fault);
    return;
  }
  uint64_t count = known.count + fault.count;
  auto place = [](const Fault &f) { return std::make_pair(f.block, f.warp); };
  if (place(fault) < place(known))
    known = std::move(fault);
  else if (place(fault) == place(known))
    known.lanes |= fault.lanes;
  known.count = count;
}

std::vector<Report> FaultLog::reports(const Launch &launch, const std::vector<Range> &ranges,
                                      uint32_t sharedBytes, unsigned limit, uint64_t &more) const {
  std::vector<const Fault *> order;
  order.reserve(faults_.size());
  for (const auto &entry : faults_)
    order.push_back(&entry.second);
  std::sort(order.begin(), order.end(), [](const Fault *a, const Fault *b) {
    return std::tie(a->block, a->warp, a->site, a->kind, a->otherSite) <
           std::tie(b->block, b->warp, b->site, b->kind, b->otherSite);
  });
  more = order.size() > limit ? order.size() - limit : 0;
  std::vector<Report> result;
  for (size_t i = 0; i < order.size() && i < limit; ++i)
    result.push_back(makeReport(*order[i], launch, ranges, sharedBytes));
  return result;
}

} // namespace cameo::sim
