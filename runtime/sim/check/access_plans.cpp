// Calls of CameoSimApi::warp_access, worked out once and looked up again.
//
// SPDX-License-Identifier: Apache-2.0
#include "runtime/sim/check/access_plans.h"

#include <algorithm>
#include <cstring>

namespace cameo::sim {
namespace {

constexpr int64_t kFarthest =
    1 << 20; // bytes that the lanes lie apart: more than shared memory has

std::unique_ptr<Footprint> makeFootprint(const AccessGroup &group,
                                         const CameoSimAccessSite *accesses, uint32_t lanes,
                                         char *const *addresses) {
  auto made = std::make_unique<Footprint>();
  Footprint &footprint = *made;
  footprint.lanes = lanes;
  footprint.bits = group.bits;
  const char *from = addresses[__builtin_ctz(lanes)];
  int64_t least = 0, most = 0;
  uint32_t different = 0; // lanes that are the first to access something
  for (uint32_t lane = 0; lane < kLanes; ++lane) {
    const bool takesPart = lanes >> lane & 1;
    const int64_t distance = takesPart ? int64_t(reinterpret_cast<uintptr_t>(addresses[lane]) -
                                                 reinterpret_cast<uintptr_t>(from))
                                       : 0;
    footprint.distances[lane] = distance;
    footprint.takesPart[lane] = -int64_t(takesPart);
    footprint.bits |= uint64_t(distance);
    least = std::min(least, distance);
    most = std::max(most, distance);
    const int64_t *before = footprint.distances;
    bool isFirst = true;
    for (uint32_t other = 0; other < lane; ++other)
      isFirst &= before[other] != distance || !(lanes >> other & 1);
    different |= uint32_t(takesPart && isFirst) << lane;
  }
  footprint.first = least + group.low;
  footprint.end = most + group.high;
  const CameoSimAccessSite &access = accesses[group.first];
  footprint.usable = access.bytes && footprint.first > -kFarthest && footprint.end < kFarthest;
  footprint.apart = different == lanes && !((footprint.bits | access.bytes) % kWord);
  footprint.singles = 0;
  if (!footprint.usable)
    return made;

  // Words from that of the first byte on, rounded down.
  const int64_t origin = footprint.first & -int64_t(kWord);
  std::vector<bool> touched(size_t((footprint.end - origin + kWord - 1) / kWord));
  for (uint32_t i = group.first; i < group.first + group.count; ++i)
    for (uint32_t rest = different; rest; rest &= rest - 1) {
      const int64_t begin = footprint.distances[__builtin_ctz(rest)] + accesses[i].offset - origin;
      for (int64_t word = begin / kWord; word * kWord < begin + access.bytes; ++word) {
        footprint.apart &= !touched[size_t(word)];
        touched[size_t(word)] = true;
      }
    }
  std::vector<Footprint::Run> singles;
  for (size_t word = 0; word < touched.size();) {
    size_t end = word;
    while (end < touched.size() && touched[end])
      ++end;
    if (end > word)
      (end == word + 1 ? singles : footprint.runs)
          .push_back({int32_t(origin / kWord + int64_t(word)), uint32_t(end - word)});
    word = end + 1;
  }
  footprint.singles = uint32_t(footprint.runs.size());
  footprint.runs.insert(footprint.runs.end(), singles.begin(), singles.end());
  return made;
}

} // namespace

AccessPlan &AccessPlans::findSlowly(const CameoSimAccessSite *accesses, uint32_t count) {
  AccessPlan &plan = plans_[accesses];
  plan.launch = launch_;
  if (plan.accesses.size() == count &&
      !memcmp(plan.accesses.data(), accesses, count * sizeof *accesses))
    return plan;
  for (const AccessGroup &group : plan.groups)
    footprints_ -= uint32_t(group.footprints.size());
  plan.groups.clear();
  plan.accesses.assign(accesses, accesses + count);
  for (uint32_t i = 0; i < count; ++i) {
    const CameoSimAccessSite &access = accesses[i];
    const int64_t low = access.offset, high = low + access.bytes;
    AccessGroup *last = plan.groups.empty() ? nullptr : &plan.groups.back();
    const CameoSimAccessSite *other = last ? &accesses[last->first] : nullptr;
    if (other && other->bytes == access.bytes && other->alignment == access.alignment &&
        other->space == access.space && other->kind == access.kind && other->row == access.row &&
        other->lanes_row == access.lanes_row) {
      ++last->count;
      last->low = std::min(last->low, low);
      last->high = std::max(last->high, high);
      last->bits |= uint64_t(low);
    } else {
      plan.groups.emplace_back();
      AccessGroup &group = plan.groups.back();
      group.first = i;
      group.count = 1;
      group.low = low;
      group.high = high;
      group.bits = uint64_t(low);
    }
  }
  return plan;
}

const Footprint *AccessPlans::find(AccessGroup &group, const CameoSimAccessSite *accesses,
                                   uint32_t lanes, char *const *addresses) {
  auto &known = group.footprints;
  if (__builtin_expect(
          group.lastUsed < known.size() && liesLike(*known[group.lastUsed], lanes, addresses), 1))
    return known[group.lastUsed].get();
  for (uint32_t i = 0; i < known.size(); ++i)
    if (liesLike(*known[i], lanes, addresses)) {
      group.lastUsed = i;
      return known[i].get();
    }
  if (footprints_ >= kMaxFootprints)
    return nullptr;
  ++footprints_;
  group.lastUsed = uint32_t(known.size());
  known.push_back(makeFootprint(group, accesses, lanes, addresses));
  return known.back().get();
}

void AccessPlans::forget() {
  for (auto &entry : plans_)
    for (AccessGroup &group : entry.second.groups)
      group.footprints.clear();
  footprints_ = 0;
}

} // namespace cameo::sim
