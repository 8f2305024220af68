// What asynchronous copies do to global memory.
//
// Bulk and tensor copies are kept with the bytes that they touch until every warp of the cluster
// knows that they are done; other clusters see them in the shadows. A cp.async reads: what others
// have written is looked at when it is issued, what they write when they do so, until its thread
// has waited; from then on its read is the thread's.
//
// SPDX-License-Identifier: Apache-2.0
#include "runtime/sim/check/async.h"
#include "runtime/sim/exec/worker.h"

#include <algorithm>

namespace cameo::sim {

static bool conflict(CameoSimAccess one, CameoSimAccess other) {
  return one == CAMEO_SIM_WRITE || other == CAMEO_SIM_WRITE || one != other;
}

/// In order, without gaps or overlaps between neighbours.
static std::vector<Span> tidied(std::vector<Span> spans) {
  auto before = [](const Span &a, const Span &b) { return a.begin < b.begin; };
  if (!std::is_sorted(spans.begin(), spans.end(), before))
    std::sort(spans.begin(), spans.end(), before);
  size_t kept = 0;
  for (const Span &span : spans)
    if (kept && span.begin <= spans[kept - 1].end)
      spans[kept - 1].end = std::max(spans[kept - 1].end, span.end);
    else
      spans[kept++] = span;
  spans.resize(kept);
  return spans;
}

static bool touches(const std::vector<Span> &spans, const Span &bytes) {
  auto first = std::upper_bound(spans.begin(), spans.end(), bytes.begin,
                                [](const char *at, const Span &span) { return at < span.end; });
  return first != spans.end() && first->overlaps(bytes);
}

void AsyncOperations::touchGlobal(Fiber &issuer, uint32_t number, std::vector<Span> spans,
                                  CameoSimAccess kind, uint32_t site, Agent agent) {
  if (!number || spans.empty())
    return;
  const Worker &worker = *issuer.block->worker;
  GlobalUse use{number, kind, {}, tidied(std::move(spans))};
  for (const Span &span : use.spans) {
    use.all.include(span);
    uint32_t bytes = uint32_t(span.end - span.begin);
    checkRecordedGlobal(issuer, span.begin, bytes, kind, site, agent, /*notes=*/true);
    if (mayTouchGlobal(span.begin, span.end, kind))
      checkGlobal(issuer, span.begin, bytes, kind, site);
  }
  if (globalUses_.size() >= forgetAt_)
    forgetKnownUses(worker);
  (kind == CAMEO_SIM_READ ? read_ : written_).include(use.all);
  globalUses_.push_back(std::move(use));
  ++operations_[number].uses;
}

bool AsyncOperations::checkGlobal(const Fiber &fiber, const char *address, uint32_t bytes,
                                  CameoSimAccess kind, uint32_t site) {
  const Span span{address, address + bytes};
  bool good = true;
  auto check = [&](uint32_t operation, CameoSimAccess otherKind) {
    good &= require(operation, otherKind, fiber, FaultKind::GlobalRace,
                    reinterpret_cast<uintptr_t>(address), bytes, kind, site);
  };
  for (const GlobalUse &use : globalUses_)
    if (conflict(kind, use.kind) && use.all.overlaps(span) && touches(use.spans, span))
      check(use.operation, use.kind);
  if (kind == CAMEO_SIM_READ || !span.overlaps(copied_))
    return good;
  for (const CopyQueue &queue : fiber.block->worker->copyQueues)
    for (size_t i = queue.done; i < queue.copies.size(); ++i)
      if (const PendingCopy &copy = queue.copies[i];
          span.overlaps({copy.source, copy.source + copy.sourceBytes}))
        check(copy.operation, CAMEO_SIM_READ);
  return good;
}

void AsyncOperations::startCopy(const PendingCopy &copy) {
  if (!copy.operation)
    return;
  copied_.include({copy.source, copy.source + copy.sourceBytes});
  ++copies_;
}

void AsyncOperations::endCopy() {
  if (copies_ && !--copies_)
    copied_ = Span();
}

bool AsyncOperations::isKnownToAll(const Operation &operation, const Worker &worker) const {
  const Clocks &clocks = *worker.clocks;
  for (const Block &block : worker.blocks)
    for (uint32_t id = 0; id < block.warpCount; ++id) {
      uint32_t w = block.warps[id].clock;
      bool known = !block.warps[id].live;
      for (size_t i = 0; i < operation.observers.size() && !known; ++i) {
        const Observer &observer = operation.observers[i];
        uint32_t v = observer.thread / kLanes;
        known = v == w ? observer.wholeWarp || observer.stamp <= clocks.warp[w].lastFull
                       : observer.stamp <= clocks.knownBy(w)[v];
      }
      if (!known)
        return false;
    }
  return true;
}

/// Whatever happens from now on is ordered after operations that all know of.
void AsyncOperations::forgetKnownUses(const Worker &worker) {
  size_t kept = 0;
  written_ = read_ = Span();
  for (GlobalUse &use : globalUses_) {
    if (isKnownToAll(operations_[use.operation], worker)) {
      --operations_[use.operation].uses;
      freeIfUnused(use.operation);
      continue;
    }
    (use.kind == CAMEO_SIM_READ ? read_ : written_).include(use.all);
    if (GlobalUse &place = globalUses_[kept++]; &place != &use)
      place = std::move(use);
  }
  globalUses_.resize(kept);
  forgetAt_ = std::max(kForgetAt, 2 * kept);
}

} // namespace cameo::sim
