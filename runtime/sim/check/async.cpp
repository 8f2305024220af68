// Operations that go on beside the threads that issue them.
//
// PTX ISA, "Memory Consistency Model: Proxies" and "Asynchronous operations": such an operation is
// ordered after what its thread did before the issue, and before what those do who have observed
// that it is done: through an mbarrier, or a wait for a group, by themselves or by somebody whom
// they are ordered after. Bulk and tensor copies and wgmma access memory through the asynchronous
// proxy: a fence.proxy.async must be between that and an earlier access by a thread.
//
// SPDX-License-Identifier: Apache-2.0
#include "runtime/sim/check/async.h"
#include "runtime/sim/exec/worker.h"
#include "runtime/sim/isa/instruct.h"

#include <algorithm>
#include <cstring>

namespace cameo::sim {
namespace {
constexpr uint32_t kWarpgroupThreads = kWarpgroupWarps * kLanes;
constexpr size_t kWindowWords = kSharedWindow / kWord, kWindowGranules = kSharedWindow / kGranule;
} // namespace

AsyncOperations::~AsyncOperations() {
  unmapLazily(writers_, windows_ * kWindowWords * sizeof *writers_);
  unmapLazily(readers_, windows_ * kWindowGranules * sizeof *readers_);
}

bool AsyncOperations::reserve(const Worker &worker) {
  if (windows_ >= worker.cluster.size)
    return true;
  unmapLazily(writers_, windows_ * kWindowWords * sizeof *writers_);
  unmapLazily(readers_, windows_ * kWindowGranules * sizeof *readers_);
  windows_ = worker.cluster.size;
  writers_ = static_cast<uint32_t *>(mapLazily(windows_ * kWindowWords * sizeof *writers_));
  readers_ = static_cast<uint32_t *>(mapLazily(windows_ * kWindowGranules * sizeof *readers_));
  if (writers_ && readers_)
    return true;
  unmapLazily(writers_, windows_ * kWindowWords * sizeof *writers_);
  unmapLazily(readers_, windows_ * kWindowGranules * sizeof *readers_);
  writers_ = nullptr;
  readers_ = nullptr;
  windows_ = 0;
  return false;
}

void AsyncOperations::restart(Worker &worker) {
  for (size_t window = 0; any_ && window < windows_; ++window) {
    memset(writers_ + window * kWindowWords, 0, bytes_ / kWord * sizeof *writers_);
    memset(readers_ + window * kWindowGranules, 0, bytes_ / kGranule * sizeof *readers_);
  }
  // Of the launch that begins, which may be another one.
  bytes_ = (worker.state->sharedBytes + kGranule - 1) / kGranule * kGranule;
  any_ = false;
  globalUses_.clear();
  forgetAt_ = kForgetAt;
  written_ = read_ = copied_ = Span();
  copies_ = 0;
  lists_.clear();
  freeReader_ = 0;
  operations_.clear();
  free_.clear();
  wgmmaWarps_.clear();
  warpgroups_.clear();
}

void AsyncOperations::finish(Worker &worker) {
  finishWgmma(worker);
  for (const Operation &operation : operations_) {
    if (!operation.places || !operation.observers.empty() || operation.agent == Agent::Copy)
      continue;
    const uint32_t perBlock = worker.blocks.front().warpCount * kLanes;
    reportUnfinished(operation, worker.blocks[operation.thread / perBlock],
                     "nothing has waited for it");
  }
}

void AsyncOperations::finish(const Block &block) {
  const Clocks &clocks = *block.clocks;
  const uint32_t perBlock = block.warpCount * kLanes;
  for (const Operation &operation : operations_) {
    if (!operation.keepsBlock || !operation.places || operation.thread / perBlock != block.rank)
      continue;
    auto seenBy = [&](const Observer &observer) {
      uint32_t v = observer.thread / kLanes;
      for (uint32_t w = block.firstClock; w < block.firstClock + block.warpCount; ++w)
        if (v == w || observer.stamp <= clocks.knownBy(w)[v])
          return true;
      return false;
    };
    if (std::none_of(operation.observers.begin(), operation.observers.end(), seenBy))
      reportUnfinished(operation, block,
                       "it reads the block's shared memory, and nothing makes the block wait");
  }
}

void AsyncOperations::reportUnfinished(const Operation &operation, const Block &block,
                                       const char *what) const {
  uint32_t thread = operation.thread % (block.warpCount * kLanes);
  Fault fault;
  fault.kind = FaultKind::UnfinishedAsync;
  fault.site = operation.site;
  fault.block = block.linear;
  fault.warp = thread / kLanes;
  fault.lanes = 1u << thread % kLanes;
  fault.detail = what;
  block.worker->state->log.add(std::move(fault));
}

uint32_t AsyncOperations::begin(const Fiber &issuer, Agent agent, uint32_t site) {
  Worker &worker = *issuer.block->worker;
  if (!(worker.checks & kCheckRace))
    return 0;
  if (worker.epoch.isOpen())
    flushDeferred(worker);
  if (!any_) {
    if (!reserve(worker)) {
      worker.state->outOfMemory.store(true, std::memory_order_relaxed);
      return 0;
    }
    any_ = true;
    operations_.resize(1);
    lists_.resize(1);
  }
  uint32_t number;
  if (free_.empty()) {
    number = uint32_t(operations_.size());
    operations_.emplace_back();
  } else {
    number = free_.back();
    free_.pop_back();
  }
  Operation &operation = operations_[number];
  operation.thread = threadInCluster(issuer);
  operation.site = site;
  operation.places = operation.uses = 0;
  operation.holds = 1;
  operation.agent = agent;
  operation.keepsBlock = false;
  operation.observers.clear();
  return number;
}

void AsyncOperations::hold(uint32_t operation) {
  if (operation)
    ++operations_[operation].holds;
}

void AsyncOperations::drop(uint32_t operation) {
  if (!operation)
    return;
  --operations_[operation].holds;
  freeIfUnused(operation);
}

void AsyncOperations::freeIfUnused(uint32_t operation) {
  if (!operations_[operation].holds && !operations_[operation].isRemembered())
    free_.push_back(operation);
}

/// A place of the shadow forgets its operation.
void AsyncOperations::release(uint32_t &place) {
  uint32_t operation = place;
  if (!operation)
    return;
  place = 0;
  --operations_[operation].places;
  freeIfUnused(operation);
}

void AsyncOperations::addReader(uint64_t granule, uint32_t operation) {
  uint32_t index = freeReader_;
  if (index) {
    freeReader_ = lists_[index].next;
  } else {
    index = uint32_t(lists_.size());
    lists_.emplace_back();
  }
  lists_[index] = {operation, readers_[granule]};
  readers_[granule] = index;
  ++operations_[operation].places;
}

template <typename Gone> void AsyncOperations::removeReaders(uint64_t granule, Gone gone) {
  for (uint32_t *link = &readers_[granule]; *link;) {
    uint32_t index = *link;
    Reader &reader = lists_[index];
    if (!gone(reader.operation)) {
      link = &reader.next;
      continue;
    }
    *link = reader.next;
    release(reader.operation);
    reader.next = freeReader_;
    freeReader_ = index;
  }
}

bool AsyncOperations::isKnown(const Operation &operation, const Fiber &fiber) const {
  const Clocks &clocks = *fiber.block->clocks;
  uint32_t self = threadInCluster(fiber);
  return std::any_of(operation.observers.begin(), operation.observers.end(),
                     [&](const Observer &observer) {
                       if (observer.wholeWarp && observer.thread / kLanes == self / kLanes)
                         return true;
                       return clocks.ordered(observer.thread, observer.stamp, self);
                     });
}

void AsyncOperations::observe(uint32_t number, const Fiber &fiber, bool wholeWarp) {
  if (!number)
    return;
  Operation &operation = operations_[number];
  if (!isKnown(operation, fiber))
    operation.observers.push_back({threadInCluster(fiber),
                                   fiber.block->clocks->warp[threadInCluster(fiber) / kLanes].event,
                                   wholeWarp});
}

bool AsyncOperations::require(uint32_t number, CameoSimAccess otherKind, const Fiber &fiber,
                              FaultKind race, uint64_t place, uint32_t bytes, CameoSimAccess kind,
                              uint32_t site) const {
  const Operation &other = operations_[number];
  if (isKnown(other, fiber))
    return true;
  Worker &worker = *fiber.block->worker;
  uint32_t perBlock = fiber.block->warpCount * kLanes;
  Fault fault = makeFault(fiber, race, site);
  fault.otherSite = other.site;
  fault.address = place;
  if (race == FaultKind::SharedRace)
    nameOwner(fault, *fiber.block, place);
  fault.bytes = bytes;
  fault.access = kind;
  fault.otherAccess = otherKind;
  fault.otherBlock = worker.blocks[other.thread / perBlock].linear;
  fault.otherThread = other.thread % perBlock;
  fault.otherAgent = other.agent;
  worker.state->log.add(std::move(fault));
  return false;
}

void AsyncOperations::checkShared(const Fiber &fiber, uint64_t offset, uint32_t bytes,
                                  CameoSimAccess kind, uint32_t site) {
  uint64_t last = offset + bytes - 1;
  uint32_t before = 0;
  for (uint64_t word = offset / kWord; word <= last / kWord; ++word) {
    uint32_t writer = writers_[word];
    if (writer && writer != before)
      require(writer, CAMEO_SIM_WRITE, fiber, FaultKind::SharedRace, offset, bytes, kind, site);
    before = writer;
  }
  if (kind == CAMEO_SIM_READ)
    return;
  for (uint64_t granule = offset / kGranule; granule <= last / kGranule; ++granule)
    for (uint32_t i = readers_[granule]; i; i = lists_[i].next)
      require(lists_[i].operation, CAMEO_SIM_READ, fiber, FaultKind::SharedRace, offset, bytes,
              kind, site);
}

void AsyncOperations::touch(Fiber &issuer, uint32_t number, uint64_t offset, uint32_t bytes,
                            CameoSimAccess kind, uint32_t site) {
  if (offset % kSharedWindow + bytes > bytes_) // out of bounds, and reported as that
    return;
  checkRecorded(issuer, offset, bytes, kind, site, operations_[number].agent);
  uint64_t end = offset + bytes;
  uint32_t before = 0;
  for (uint64_t word = offset / kWord; word < end / kWord; ++word) {
    uint32_t writer = writers_[word];
    if (writer == number)
      continue;
    if (writer && writer != before)
      require(writer, CAMEO_SIM_WRITE, issuer, FaultKind::SharedRace, offset, bytes, kind, site);
    before = writer;
    if (kind == CAMEO_SIM_READ)
      continue;
    release(writers_[word]);
    writers_[word] = number;
    ++operations_[number].places;
  }
  for (uint64_t granule = offset / kGranule; granule * kGranule < end; ++granule)
    if (kind == CAMEO_SIM_READ)
      noteReader(granule, number, issuer);
    else
      removeReaders(granule, [&](uint32_t reader) {
        if (reader == number)
          return false;
        require(reader, CAMEO_SIM_READ, issuer, FaultKind::SharedRace, offset, bytes, kind, site);
        return true;
      });
}

void AsyncOperations::noteReader(uint64_t granule, uint32_t number, const Fiber &issuer) {
  bool isReader = false;
  removeReaders(granule, [&](uint32_t reader) {
    if (reader == number) {
      isReader = true;
      return false;
    }
    // Another one can go whose end the issuer knows, or which ends before this one.
    const Operation &other = operations_[reader], &own = operations_[number];
    return (own.agent == Agent::Wgmma && other.agent == own.agent &&
            other.thread / kWarpgroupThreads == own.thread / kWarpgroupThreads) ||
           isKnown(other, issuer);
  });
  if (!isReader)
    addReader(granule, number);
}

/// Whether what the threads of a record have written is ordered before all that `issuer` does, and
/// fenced, whichever lanes they are. The block is not a part of a cluster.
static bool isSettled(const Access &record, const Fiber &issuer) {
  const Clocks &clocks = *issuer.block->clocks;
  if (record.owner != issuer.block->cluster->owner)
    return true;
  const uint32_t other = record.warp(), self = issuer.warp->clock;
  if (record.stamp > (other == self ? clocks.warp[self].lastFull : clocks.knownBy(self)[other]))
    return false;
  for (uint32_t lane = 0; record.stamp >= kFirstStamp && lane < kLanes; ++lane)
    if (!clocks.isFenced(other * kLanes + lane, record.stamp, FencedMemory::OwnShared, self))
      return false;
  return true;
}

bool AsyncOperations::tryKnownOrder(Fiber &issuer, uint32_t number, uint64_t offset,
                                    Writers &known) {
  const Worker &worker = *issuer.block->worker;
  const RaceShadow &shadow = worker.shadow.races;
  const uint32_t *words = writers_ + offset / kWord, writer = words[0];
  if (worker.cluster.size > 1 || shadow.used() > 1 || shadow.hasAtomics() || words[1] != writer ||
      words[2] != writer || words[3] != writer)
    return false;
  const uint64_t granule = offset / kGranule;
  const Access record = shadow.used() ? shadow.plane(0).writes[granule] : Access();
  if (!known.any || known.operation != writer || known.owner != record.owner ||
      known.stamp != record.stamp || known.who != record.who) {
    if ((writer && !isKnown(operations_[writer], issuer)) || !isSettled(record, issuer))
      return false;
    known = {true, record.owner, record.stamp, record.who, writer};
  }
  noteReader(granule, number, issuer);
  return true;
}

char *checkWithoutRaces(Fiber &issuer, char *address, uint32_t bytes, uint32_t alignment,
                        uint32_t space, CameoSimAccess kind, uint32_t site) {
  uint32_t &checks = issuer.block->worker->checks;
  uint32_t before = checks;
  checks &= ~uint32_t(kCheckRace);
  char *place = static_cast<char *>(
      checkAccess(&issuer.thread, address, bytes, alignment, space, kind, site));
  checks = before;
  return place;
}

char *checkAsyncAccess(Fiber &issuer, uint32_t operation, char *address, uint32_t bytes,
                       uint32_t alignment, uint32_t space, CameoSimAccess kind, uint32_t site) {
  Worker &worker = *issuer.block->worker;
  char *place = checkWithoutRaces(issuer, address, bytes, alignment, space, kind, site);
  if (operation && place == address)
    worker.async.touch(issuer, operation, worker.sharedOffset(place), bytes, kind, site);
  return place;
}

} // namespace cameo::sim
