// The check of one memory access: bounds, alignment, initialisation, races.
//
// SPDX-License-Identifier: Apache-2.0
#include "runtime/sim/check/map_fences.h"
#include "runtime/sim/check/races.h"

#include <algorithm>
#include <cstring>

namespace cameo::sim {

namespace {

// ---- Races ----

__attribute__((noinline)) void reportConflict(const Fiber &fiber, FaultKind kind, const Accessor &a,
                                              const Access &other, bool otherWrites,
                                              uint64_t address, uint32_t bytes) {
  const Block &block = *fiber.block;
  const LaunchState &state = *block.worker->state;
  Fault fault = makeFault(fiber, kind, a.site);
  fault.otherSite = other.site() == Access::kUnknownSite ? kNoSite : other.site();
  fault.address = address;
  fault.bytes = bytes;
  fault.access = a.kind;
  fault.otherAccess = other.atomic() ? CAMEO_SIM_ATOMIC
                      : otherWrites  ? CAMEO_SIM_WRITE
                                     : CAMEO_SIM_READ;
  // The first of its lanes that the fiber is not ordered after.
  uint32_t lane = uint32_t(__builtin_ctz(other.lanes));
  bool unfenced = kind == FaultKind::MissingProxyFence || kind == FaultKind::MissingMapFence;
  for (uint32_t rest = unfenced ? 0 : other.lanes; rest; rest &= rest - 1) {
    Access one = other;
    one.lanes = rest & -rest;
    lane = uint32_t(__builtin_ctz(rest));
    if (!isOrdered(one, a, fiber.bit))
      break;
  }
  // Clusters that share a number of owner are told by the one that is nearest to this block's.
  uint64_t cluster = block.cluster->firstOrder / block.cluster->size;
  cluster =
      cluster / LaunchState::kOwners * LaunchState::kOwners + (other.owner - state.lastOwner - 1);
  fault.otherBlock =
      state.linearBlock(cluster * block.cluster->size + other.warp() / block.warpCount);
  fault.otherThread = other.warp() % block.warpCount * kLanes + lane;
  if (other.stamp < kFirstStamp)
    fault.otherAgent = Agent(other.stamp);
  fault.ofGlobal = !a.shared;
  if (a.shared)
    nameOwner(fault, block, address);
  block.worker->state->log.add(std::move(fault));
}

/// Whether an access to bytes [first, first + count) of a granule conflicts with nothing unordered
/// in the given plane. Else there is a report.
inline bool checkRecords(const Fiber &fiber, const Accessor &a, const Plane &plane, uint32_t index,
                         size_t granule, uint32_t first, uint32_t count, uint64_t address,
                         uint32_t bytes) {
  bool good = true;
  auto check = [&](const Access &record, bool isWrite) {
    if (index >= first + count || first >= index + record.bytes() ||
        !conflicts(record, isWrite, a) || isOrdered(record, a, fiber.bit))
      return;
    reportConflict(fiber, a.shared ? FaultKind::SharedRace : FaultKind::GlobalRace, a, record,
                   isWrite, address, bytes);
    good = false;
  };
  if (plane.writeKeys[granule] > a.ordered)
    check(plane.writes[granule], true);
  if ((plane.useKeys[granule] & ~Plane::kFull) > a.ordered) {
    check(plane.uses[0][granule], false);
    check(plane.uses[1][granule], false);
  }
  return good;
}

/// An access by one thread. `granule` is the index of the first one, `first` where the access
/// begins in it. False without memory for the shadow.
bool checkRaces(const Fiber &fiber, const Accessor &a, RaceShadow &shadow, size_t granules,
                size_t granule, uint32_t first, uint64_t address, uint32_t bytes) {
  LaunchState &state = *fiber.block->worker->state;
  bool locks = !a.shared && state.parallel;
  RegionLock lock(state);
  for (uint32_t done = 0; done < bytes; ++granule, first = 0) {
    uint32_t count = std::min(kGranule - first, bytes - done);
    if (locks)
      lock.hold(uintptr_t(address) + done);
    bool good = true;
    for (uint32_t rest = shadow.planesOf(first, count); rest; rest &= rest - 1) {
      uint32_t index = uint32_t(__builtin_ctz(rest));
      good &=
          checkRecords(fiber, a, shadow.plane(index), index, granule, first, count, address, bytes);
    }
    if (!shadow.widen(first, count, a.kind == CAMEO_SIM_ATOMIC, granules))
      return false;
    Plane plane = shadow.plane(first);
    if (a.kind == CAMEO_SIM_WRITE) {
      if (!good) // so that each is reported once
        plane.uses[0][granule] = plane.uses[1][granule] = Access();
      recordWrite(shadow, first, plane, granule, a, count, fiber.bit);
    } else {
      recordUse(shadow, first, plane, granule, a, count, fiber.bit);
    }
    done += count;
  }
  return true;
}

// ---- Initialisation ----

// Workers set bytes of global memory's shadow at the same time, to the mark of one range: relaxed
// atomics, as wide as the access, which is aligned or already reported.

template <typename T> constexpr T repeated(uint8_t mark) {
  return T(T(0x0101010101010101ull) * mark);
}

template <typename T> inline bool isMarked(const uint8_t *shadow, uint8_t mark) {
  return __atomic_load_n(reinterpret_cast<const T *>(shadow), __ATOMIC_RELAXED) ==
         repeated<T>(mark);
}

bool allMarked(const uint8_t *shadow, uint32_t bytes, uint8_t mark) {
  if (!(reinterpret_cast<uintptr_t>(shadow) % 8)) {
    if (bytes == 16)
      return isMarked<uint64_t>(shadow, mark) && isMarked<uint64_t>(shadow + 8, mark);
    if (bytes == 8)
      return isMarked<uint64_t>(shadow, mark);
  }
  if (bytes == 4 && !(reinterpret_cast<uintptr_t>(shadow) % 4))
    return isMarked<uint32_t>(shadow, mark);
  bool good = true;
  for (uint32_t i = 0; i < bytes; ++i)
    good &= isMarked<uint8_t>(shadow + i, mark);
  return good;
}

template <typename T> inline void setMark(uint8_t *shadow, uint8_t mark) {
  __atomic_store_n(reinterpret_cast<T *>(shadow), repeated<T>(mark), __ATOMIC_RELAXED);
}

void setMarks(uint8_t *shadow, uint32_t bytes, uint8_t mark) {
  if (bytes == 16 && !(reinterpret_cast<uintptr_t>(shadow) % 8)) {
    setMark<uint64_t>(shadow, mark);
    setMark<uint64_t>(shadow + 8, mark);
  } else if (bytes == 4 && !(reinterpret_cast<uintptr_t>(shadow) % 4)) {
    setMark<uint32_t>(shadow, mark);
  } else {
    for (uint32_t i = 0; i < bytes; ++i)
      setMark<uint8_t>(shadow + i, mark);
  }
}

// ---- One access ----

__attribute__((noinline)) void *fail(const Fiber &fiber, FaultKind kind, uint64_t address,
                                     uint32_t bytes, CameoSimAccess access, uint32_t site,
                                     uint32_t value, void *goOnAt) {
  Fault fault = makeFault(fiber, kind, site);
  fault.address = address;
  if (kind == FaultKind::SharedOutOfBounds || kind == FaultKind::SharedUninitialised ||
      (kind == FaultKind::Misaligned && value >> 31))
    nameOwner(fault, *fiber.block, address);
  fault.bytes = bytes;
  fault.access = access;
  fault.values[0] = value;
  fiber.block->worker->state->log.add(std::move(fault));
  return goOnAt;
}

/// `offset` counts from the window of the cluster's first block on, `place` from its own.
void *checkShared(const Fiber &fiber, char *address, uint64_t offset, uint64_t place,
                  uint32_t bytes, CameoSimAccess kind, uint32_t site) {
  Worker &worker = *fiber.block->worker;
  uint32_t size = worker.state->sharedBytes;
  if (__builtin_expect(place >= size || bytes > size - place, 0)) {
    if (!(worker.checks & kCheckBounds) && place < kSharedWindow && bytes <= kSharedWindow - place)
      return address;
    return fail(fiber, FaultKind::SharedOutOfBounds, offset, bytes, kind, site, 0, worker.scratch);
  }
  if (worker.checks & kCheckInit) {
    uint8_t *shadow = worker.shadow.initialised.get() + offset;
    if (kind != CAMEO_SIM_WRITE && __builtin_expect(!allMarked(shadow, bytes, kWritten), 0))
      fail(fiber, FaultKind::SharedUninitialised, offset, bytes, kind, site, 0, nullptr);
    if (kind != CAMEO_SIM_READ)
      setMarks(shadow, bytes, kWritten);
  }
  if (worker.checks & kCheckRace) {
    Accessor accessor = makeAccessor(fiber, /*shared=*/true, kind, site);
    if (!checkRaces(fiber, accessor, worker.shadow.races, kSharedGranules, offset / kGranule,
                    offset % kGranule, offset, bytes))
      worker.state->outOfMemory.store(true, std::memory_order_relaxed);
    if (__builtin_expect(worker.async.any(), 0))
      worker.async.checkShared(fiber, offset, bytes, kind, site);
  }
  return address;
}

} // namespace

void nameOwner(Fault &fault, const Block &self, uint64_t offset) {
  uint64_t rank = offset / kSharedWindow;
  fault.address = offset % kSharedWindow;
  fault.ownerBlock = rank == self.rank || rank >= self.cluster->size
                         ? Fault::kOwnBlock
                         : self.cluster->blocks[rank].linear;
}

namespace {

/// An access by an asynchronous operation, of shared memory from `begin` = an offset on, or of
/// global memory from an address on. `firstGranule` is the one that the shadow begins with;
/// `notes`: leaves a record for other clusters. Whether all is well.
bool checkForAgent(const Fiber &issuer, const Accessor &a, RaceShadow &shadow, size_t granules,
                   uint64_t firstGranule, uint64_t begin, uint32_t bytes, Agent agent, bool notes) {
  const Block &block = *issuer.block;
  LaunchState &state = *block.worker->state;
  Accessor noted = a;
  noted.stamp = uint32_t(agent);
  RegionLock lock(state);
  bool good = true;
  uint64_t end = begin + bytes, next;
  for (uint64_t at = begin; at < end; at = next) {
    next = std::min(end, at / kGranule * kGranule + kGranule);
    const uint32_t first = at % kGranule, count = uint32_t(next - at);
    const size_t granule = at / kGranule - firstGranule;
    auto check = [&](const Access &record, bool isWrite, uint32_t index) {
      if (index >= first + count || first >= index + record.bytes() ||
          !conflicts(record, isWrite, a))
        return;
      if (!isOrdered(record, a, issuer.bit)) {
        reportConflict(issuer, a.shared ? FaultKind::SharedRace : FaultKind::GlobalRace, a, record,
                       isWrite, begin, bytes);
        good = false;
        return;
      }
      if (record.owner != a.owner || record.stamp < kFirstStamp)
        return;
      if (agent == Agent::Map &&
          !hasAcquiredWrite(issuer, reinterpret_cast<const char *>(begin), record)) {
        reportConflict(issuer, FaultKind::MissingMapFence, a, record, isWrite, begin, bytes);
        good = false;
      }
      if (!usesAsyncProxy(agent))
        return;
      FencedMemory memory = !a.shared ? FencedMemory::Global
                            : at / kSharedWindow == record.warp() / block.warpCount
                                ? FencedMemory::OwnShared
                                : FencedMemory::OtherShared;
      for (uint32_t lanes = record.lanes; lanes; lanes &= lanes - 1) {
        uint32_t thread = record.warp() * kLanes + uint32_t(__builtin_ctz(lanes));
        if (a.clocks->isFenced(thread, record.stamp, memory, a.warp))
          continue;
        Access one = record;
        one.lanes = lanes & -lanes;
        reportConflict(issuer, FaultKind::MissingProxyFence, a, one, isWrite, begin, bytes);
        good = false;
        return;
      }
    };
    if (!a.shared && state.parallel)
      lock.hold(uintptr_t(at));
    for (uint32_t rest = shadow.planesOf(first, count); rest; rest &= rest - 1) {
      uint32_t index = uint32_t(__builtin_ctz(rest));
      const Plane plane = shadow.plane(index);
      check(plane.writes[granule], true, index);
      if (plane.useKeys[granule] & ~Plane::kFull) {
        check(plane.uses[0][granule], false, index);
        check(plane.uses[1][granule], false, index);
      }
    }
    if (!notes)
      continue;
    if (!shadow.widen(first, count, a.kind == CAMEO_SIM_ATOMIC, granules)) {
      state.outOfMemory.store(true, std::memory_order_relaxed);
      return good;
    }
    const Plane plane = shadow.plane(first);
    if (a.kind == CAMEO_SIM_WRITE) {
      plane.uses[0][granule] = plane.uses[1][granule] = Access();
      recordWrite(shadow, first, plane, granule, noted, count, issuer.bit);
    } else {
      recordUse(shadow, first, plane, granule, noted, count, issuer.bit);
    }
  }
  return good;
}

} // namespace

void checkRecorded(const Fiber &issuer, uint64_t offset, uint32_t bytes, CameoSimAccess kind,
                   uint32_t site, Agent agent) {
  checkForAgent(issuer, makeAccessor(issuer, /*shared=*/true, kind, site),
                issuer.block->worker->shadow.races, kSharedGranules, 0, offset, bytes, agent,
                /*notes=*/false);
}

bool checkRecordedGlobal(const Fiber &issuer, const char *address, uint32_t bytes,
                         CameoSimAccess kind, uint32_t site, Agent agent, bool notes) {
  const Range *range = findRange(*issuer.block->worker, address, bytes, 0, site);
  if (!range) // reported when it is done
    return true;
  Allocation &allocation = *range->allocation;
  if (kind != CAMEO_SIM_READ && !allocation.kernelWritten.load(std::memory_order_relaxed))
    allocation.kernelWritten.store(true, std::memory_order_relaxed);
  if (!issuer.block->worker->state->records(*range))
    return true;
  return checkForAgent(issuer, makeAccessor(issuer, /*shared=*/false, kind, site), allocation.races,
                       allocation.granules(), allocation.firstGranule(),
                       reinterpret_cast<uintptr_t>(address), bytes, agent, notes);
}

Range *findRange(Worker &worker, const char *address, uint32_t bytes, uint32_t parameter,
                 uint32_t site) {
  const LaunchState &state = *worker.state;
  if (parameter && parameter <= state.byParameter.size())
    if (Range *own = state.byParameter[parameter - 1])
      return own->contains(address, bytes) ? own : nullptr;
  Range *&cached = worker.cache.entries[site % RangeCache::kEntries];
  if (cached && cached->contains(address, bytes))
    return cached;
  for (Range &range : worker.state->ranges)
    if (range.contains(address, bytes))
      return cached = &range;
  return nullptr;
}

namespace {

/// A read of bytes that do not have the mark of what is read, each by itself.
__attribute__((noinline)) void checkMarks(const Fiber &fiber, const char *address,
                                          const uint8_t *shadow, uint8_t mark, uint32_t bytes,
                                          uint32_t parameter, CameoSimAccess kind, uint32_t site) {
  uint8_t other = kWritten; // the first that is wrong
  for (uint32_t i = 0; i < bytes && other == kWritten; ++i)
    if (uint8_t found = __atomic_load_n(shadow + i, __ATOMIC_RELAXED); !mayBeReadAs(found, mark))
      other = found;
  if (other == kWritten)
    return;
  Fault fault = makeFault(
      fiber, other == kUnwritten ? FaultKind::GlobalUninitialised : FaultKind::GlobalOverwritten,
      site);
  fault.address = reinterpret_cast<uintptr_t>(address);
  fault.bytes = bytes;
  fault.access = kind;
  fault.values[0] = mark | parameter << 8;
  fault.values[1] = other;
  fiber.block->worker->state->log.add(std::move(fault));
}

void *checkGlobal(const Fiber &fiber, char *address, uint32_t bytes, uint32_t parameter,
                  CameoSimAccess kind, uint32_t site) {
  Worker &worker = *fiber.block->worker;
  Range *range = findRange(worker, address, bytes, parameter, site);
  if (__builtin_expect(!range, 0)) {
    if (!(worker.checks & kCheckBounds))
      return address;
    return fail(fiber, FaultKind::GlobalOutOfBounds, reinterpret_cast<uintptr_t>(address), bytes,
                kind, site, parameter, worker.scratch);
  }
  Allocation &allocation = *range->allocation;
  if (worker.checks & kCheckInit && allocation.initialised) {
    uint8_t *shadow = allocation.initialised + (address - allocation.begin);
    if (kind != CAMEO_SIM_WRITE && __builtin_expect(!allMarked(shadow, bytes, range->mark), 0))
      checkMarks(fiber, address, shadow, range->mark, bytes, parameter, kind, site);
    if (kind != CAMEO_SIM_READ)
      setMarks(shadow, bytes, range->mark);
  }
  if (worker.checks & kCheckRace) {
    if (kind != CAMEO_SIM_READ && !allocation.kernelWritten.load(std::memory_order_relaxed))
      allocation.kernelWritten.store(true, std::memory_order_relaxed);
    if (worker.state->records(*range)) {
      Accessor accessor = makeAccessor(fiber, /*shared=*/false, kind, site);
      uintptr_t place = reinterpret_cast<uintptr_t>(address);
      if (!checkRaces(fiber, accessor, allocation.races, allocation.granules(),
                      place / kGranule - allocation.firstGranule(), place % kGranule, place, bytes))
        worker.state->outOfMemory.store(true, std::memory_order_relaxed);
    }
    if (__builtin_expect(worker.async.mayTouchGlobal(address, address + bytes, kind), 0))
      worker.async.checkGlobal(fiber, address, bytes, kind, site);
  }
  return address;
}

} // namespace

void *checkAccess(CameoSimThread *thread, void *address, uint32_t bytes, uint32_t alignment,
                  uint32_t space, uint32_t kind, uint32_t site) {
  const Fiber &fiber = *reinterpret_cast<const Fiber *>(thread);
  Worker &worker = *fiber.block->worker;
  if (!(worker.checks & kCheckMemory))
    return address;
  char *at = static_cast<char *>(address);
  CameoSimAccess access = static_cast<CameoSimAccess>(kind);
  uint64_t offset = worker.sharedOffset(at);
  bool own = (space & 0xff) == 3; // not of other blocks in the cluster
  bool shared = own || offset < worker.cluster.size * uint64_t(kSharedWindow);
  if (shared && worker.checks & kCheckRace && worker.epoch.isOpen())
    flushDeferred(worker);
  if (__builtin_expect(alignment && reinterpret_cast<uintptr_t>(at) % alignment, 0)) {
    if (worker.checks & kCheckBounds)
      return fail(fiber, FaultKind::Misaligned, shared ? offset : reinterpret_cast<uintptr_t>(at),
                  bytes, access, site, alignment | uint32_t(shared) << 31, worker.scratch);
  }
  uint64_t place = own ? uint64_t(at - thread->shared) : offset % kSharedWindow;
  return shared ? checkShared(fiber, at, offset, place, bytes, access, site)
                : checkGlobal(fiber, at, bytes, space >> 8, access, site);
}

} // namespace cameo::sim
