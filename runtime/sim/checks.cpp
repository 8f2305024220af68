// The check of one memory access: bounds, alignment, initialisation, races; and happens-before
// within a block.
//
// SPDX-License-Identifier: Apache-2.0
#include "runtime/sim/block.h"

#include <algorithm>
#include <cstring>

namespace cameo::sim {

// ---- Happens-before ----

void Clocks::start(uint32_t warpCount, uint32_t stamp) {
  if (warps != warpCount) {
    warps = warpCount;
    known.resize(size_t(warps) * warps);
    lanes.assign(size_t(warps) * kLanes * kLanes, 0);
  }
  first = stamp;
  event.assign(warps, stamp);
  lastFull.assign(warps, 0);
  partial.assign(warps, 0);
  std::fill(known.begin(), known.end(), 0);
}

void Clocks::syncLanes(uint32_t w, uint32_t mask, uint32_t all) {
  uint32_t now = event[w]++;
  if (mask == all) {
    lastFull[w] = now;
    partial[w] = false;
    return;
  }
  // What lanes know from former blocks and before lastFull is out of date, never wrong: stamps
  // grow.
  uint32_t joined[kLanes] = {};
  for (uint32_t rest = mask; rest; rest &= rest - 1) {
    const uint32_t *row = knownByLane(w, uint32_t(__builtin_ctz(rest)));
    for (uint32_t l = 0; l < kLanes; ++l)
      joined[l] = std::max(joined[l], row[l]);
  }
  for (uint32_t rest = mask; rest; rest &= rest - 1)
    joined[__builtin_ctz(rest)] = now;
  for (uint32_t rest = mask; rest; rest &= rest - 1)
    memcpy(knownByLane(w, uint32_t(__builtin_ctz(rest))), joined, sizeof joined);
  partial[w] = true;
}

void Clocks::syncWarps(uint32_t base, uint32_t mask) {
  uint32_t joined[kMaxClusterWarps];
  std::fill(joined, joined + warps, 0);
  for (uint32_t rest = mask; rest; rest &= rest - 1) {
    const uint32_t *row = knownBy(base + uint32_t(__builtin_ctz(rest)));
    for (uint32_t v = 0; v < warps; ++v)
      joined[v] = std::max(joined[v], row[v]);
  }
  for (uint32_t rest = mask; rest; rest &= rest - 1) {
    uint32_t w = base + uint32_t(__builtin_ctz(rest));
    joined[w] = event[w];
    lastFull[w] = event[w]++;
    partial[w] = false;
  }
  for (uint32_t rest = mask; rest; rest &= rest - 1)
    std::copy(joined, joined + warps, knownBy(base + uint32_t(__builtin_ctz(rest))));
}

void Clocks::release(uint32_t w, uint32_t *row) {
  const uint32_t *mine = knownBy(w);
  for (uint32_t v = 0; v < warps; ++v)
    row[v] = std::max(row[v], mine[v]);
  row[w] = event[w]++;
}

void Clocks::acquire(uint32_t w, const uint32_t *row) {
  uint32_t *mine = knownBy(w);
  for (uint32_t v = 0; v < warps; ++v)
    mine[v] = std::max(mine[v], row[v]);
  lastFull[w] = std::max(lastFull[w], row[w]);
}

uint32_t Clocks::latest() const { return *std::max_element(event.begin(), event.end()); }

namespace {

// ---- Races ----

struct AccessContext {
  const Fiber &fiber;
  const Clocks &clocks;
  uint32_t tag;
  uint32_t block;      // as the cells have it: of global memory by LaunchState::linearBlock's order
  uint32_t firstBlock; // the cluster's first one
  uint32_t bytes;
  CameoSimAccess kind;
  uint32_t site;
};

inline void store(Access &access, const AccessContext &context, uint32_t who) {
  access = {context.tag, context.block,
            context.clocks.event[context.fiber.block->firstClock + context.fiber.linear / kLanes],
            who};
}

/// Whether the recorded access is of this launch (or block) and not ordered before this one.
inline bool unordered(const Access &access, const AccessContext &context) {
  if (access.tag != context.tag)
    return false;
  const Block &self = *context.fiber.block;
  uint32_t rank = access.block - context.firstBlock;
  if (rank >= self.cluster->size)
    return true;
  return !context.clocks.ordered(rank * self.warpCount * kLanes + access.thread(), access.stamp,
                                 self.firstClock * kLanes + context.fiber.linear);
}

/// Of shared memory: the place in its block, and which block that is if it is not `self`.
void nameOwner(Fault &fault, const Block &self, uint64_t offset) {
  uint64_t rank = offset / kSharedWindow;
  fault.address = offset % kSharedWindow;
  fault.ownerBlock = rank == self.rank || rank >= self.cluster->size
                         ? Fault::kOwnBlock
                         : self.cluster->blocks[rank].linear;
}

__attribute__((noinline)) void reportRace(const Access &other, bool otherWrites, bool shared,
                                          uint64_t address, const AccessContext &context) {
  Fault fault = makeFault(context.fiber, shared ? FaultKind::SharedRace : FaultKind::GlobalRace,
                          context.site);
  fault.otherSite = other.site() == Access::kUnknownSite ? kNoSite : other.site();
  fault.address = address;
  fault.bytes = context.bytes;
  fault.access = context.kind;
  fault.otherAccess = other.atomic() ? CAMEO_SIM_ATOMIC
                      : otherWrites  ? CAMEO_SIM_WRITE
                                     : CAMEO_SIM_READ;
  // Numbers beyond 32 bits differ from this block's in their low part only.
  const Cluster &cluster = *context.fiber.block->cluster;
  uint64_t order = shared ? cluster.firstOrder + other.block
                          : (cluster.firstOrder & ~0xffffffffull) | other.block;
  fault.otherBlock = context.fiber.block->worker->state->linearBlock(order);
  if (shared)
    nameOwner(fault, *context.fiber.block, address);
  fault.otherThread = other.thread();
  context.fiber.block->worker->state->log.add(std::move(fault));
}

/// Checks bytes [first, first + count) of a granule against what a cell of plane `plane` recalls.
inline void checkCell(const Cell &cell, uint32_t plane, uint32_t first, uint32_t count, bool shared,
                      uint64_t address, const AccessContext &context) {
  auto check = [&](const Access &slot, bool isWrite) {
    if (slot.tag != context.tag)
      return;
    // Reads agree with reads, atomics with atomics.
    if (!isWrite && context.kind != CAMEO_SIM_WRITE &&
        slot.atomic() == (context.kind == CAMEO_SIM_ATOMIC))
      return;
    if (plane < first + count && first < plane + slot.bytes() && unordered(slot, context))
      reportRace(slot, isWrite, shared, address, context);
  };
  check(cell.write, true);
  check(cell.uses[0], false);
  check(cell.uses[1], false);
}

inline void noteAccess(Cell &cell, uint32_t count, const AccessContext &context) {
  uint32_t who =
      Access::pack(context.fiber.linear, context.kind == CAMEO_SIM_ATOMIC, count, context.site);
  if (context.kind == CAMEO_SIM_WRITE) {
    store(cell.write, context, who);
    for (Access &slot : cell.uses) // ordered before this write, or just reported
      if (slot.tag == context.tag)
        slot.tag = 0;
    return;
  }
  auto mine = [&](const Access &slot) {
    return slot.thread() == context.fiber.linear && slot.block == context.block;
  };
  Access &first = cell.uses[0];
  if (first.tag != context.tag || mine(first))
    return store(first, context, who);
  Access &second = cell.uses[1];
  // Of two other threads, forget the one that is ordered before this use, else the second.
  if (second.tag == context.tag && !mine(second) && !unordered(first, context))
    return store(first, context, who);
  store(second, context, who);
}

/// `granule` is the index of the first cell, `first` where the access begins in it.
bool checkRaces(RaceShadow &shadow, size_t granules, size_t granule, uint32_t first, bool shared,
                uint64_t address, const AccessContext &context) {
  uint32_t left = context.bytes;
  while (true) {
    uint32_t count = std::min(kGranule - first, left);
    for (uint32_t rest = shadow.used() & ((1u << (first + count)) - 1); rest; rest &= rest - 1) {
      uint32_t plane = uint32_t(__builtin_ctz(rest));
      if (plane + shadow.longest(plane) > first)
        checkCell(shadow.plane(plane)[granule], plane, first, count, shared, address, context);
    }
    Cell *cells = shadow.note(first, count, granules);
    if (!cells)
      return false;
    noteAccess(cells[granule], count, context);
    left -= count;
    if (__builtin_expect(!left, 1))
      return true;
    first = 0;
    ++granule;
  }
}

// ---- Initialisation ----

// Workers set bytes of global memory's shadow at the same time, always to 1: relaxed atomics, as
// wide as the access, which is aligned or already reported.

template <typename T> inline bool allOnes(const uint8_t *shadow) {
  return __atomic_load_n(reinterpret_cast<const T *>(shadow), __ATOMIC_RELAXED) ==
         T(0x0101010101010101ull);
}

bool allInitialised(const uint8_t *shadow, uint32_t bytes) {
  if (!(reinterpret_cast<uintptr_t>(shadow) % 8)) {
    if (bytes == 16)
      return allOnes<uint64_t>(shadow) && allOnes<uint64_t>(shadow + 8);
    if (bytes == 8)
      return allOnes<uint64_t>(shadow);
  }
  if (bytes == 4 && !(reinterpret_cast<uintptr_t>(shadow) % 4))
    return allOnes<uint32_t>(shadow);
  bool good = true;
  for (uint32_t i = 0; i < bytes; ++i)
    good &= allOnes<uint8_t>(shadow + i);
  return good;
}

template <typename T> inline void setOnes(uint8_t *shadow) {
  __atomic_store_n(reinterpret_cast<T *>(shadow), T(0x0101010101010101ull), __ATOMIC_RELAXED);
}

void setInitialised(uint8_t *shadow, uint32_t bytes) {
  if (bytes == 16 && !(reinterpret_cast<uintptr_t>(shadow) % 8)) {
    setOnes<uint64_t>(shadow);
    setOnes<uint64_t>(shadow + 8);
  } else if (bytes == 4 && !(reinterpret_cast<uintptr_t>(shadow) % 4)) {
    setOnes<uint32_t>(shadow);
  } else {
    for (uint32_t i = 0; i < bytes; ++i)
      setOnes<uint8_t>(shadow + i);
  }
}

// ---- One access ----

/// Holds the cells around a granule of global memory, where blocks run in parallel.
class CellLock {
public:
  CellLock(LaunchState &state, uintptr_t granule)
      : lock_(state.parallel ? &state.cellLocks[granule / 4 % LaunchState::kCellLocks] : nullptr) {
    while (lock_ && lock_->exchange(1, std::memory_order_acquire))
      __builtin_ia32_pause();
  }
  ~CellLock() {
    if (lock_)
      lock_->store(0, std::memory_order_release);
  }
  CellLock(const CellLock &) = delete;
  CellLock &operator=(const CellLock &) = delete;

private:
  std::atomic<uint8_t> *lock_;
};

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
    if (kind != CAMEO_SIM_WRITE && __builtin_expect(!allInitialised(shadow, bytes), 0))
      fail(fiber, FaultKind::SharedUninitialised, offset, bytes, kind, site, 0, nullptr);
    if (kind != CAMEO_SIM_READ)
      setInitialised(shadow, bytes);
  }
  if (worker.checks & kCheckRace) {
    AccessContext context{
        fiber, *fiber.block->clocks, worker.clusterSerial, fiber.block->rank, 0, bytes, kind, site};
    if (!checkRaces(worker.shadow.races, kMaxClusterBlocks * (kSharedWindow / kGranule),
                    offset / kGranule, offset % kGranule, true, offset, context))
      worker.state->outOfMemory.store(true, std::memory_order_relaxed);
  }
  return address;
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
    if (kind != CAMEO_SIM_WRITE && __builtin_expect(!allInitialised(shadow, bytes), 0))
      fail(fiber, FaultKind::GlobalUninitialised, reinterpret_cast<uintptr_t>(address), bytes, kind,
           site, 0, nullptr);
    if (kind != CAMEO_SIM_READ)
      setInitialised(shadow, bytes);
  }
  if (worker.checks & kCheckRace) {
    if (kind != CAMEO_SIM_READ && !allocation.kernelWritten.load(std::memory_order_relaxed))
      allocation.kernelWritten.store(true, std::memory_order_relaxed);
    if (allocation.notesReads()) {
      AccessContext context{fiber,
                            *fiber.block->clocks,
                            worker.state->tag,
                            uint32_t(fiber.block->cluster->firstOrder) + fiber.block->rank,
                            uint32_t(fiber.block->cluster->firstOrder),
                            bytes,
                            kind,
                            site};
      uintptr_t granule = reinterpret_cast<uintptr_t>(address) / kGranule;
      // Blocks on other workers look at the same cells. An aligned access stays within four of
      // them.
      CellLock lock(*worker.state, granule);
      if (!checkRaces(allocation.races, allocation.granules(), granule - allocation.firstGranule(),
                      reinterpret_cast<uintptr_t>(address) % kGranule, false,
                      reinterpret_cast<uintptr_t>(address), context))
        worker.state->outOfMemory.store(true, std::memory_order_relaxed);
    }
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
  if (__builtin_expect(alignment && reinterpret_cast<uintptr_t>(at) % alignment, 0)) {
    if (worker.checks & kCheckBounds)
      return fail(fiber, FaultKind::Misaligned, shared ? offset : reinterpret_cast<uintptr_t>(at),
                  bytes, access, site, alignment | uint32_t(shared) << 31, worker.scratch);
  }
  uint64_t place = own ? uint64_t(at - thread->shared) : offset % kSharedWindow;
  return shared ? checkShared(fiber, at, offset, place, bytes, access, site)
                : checkGlobal(fiber, at, bytes, space >> 8, access, site);
}

uint32_t checkWarpAccesses(CameoSimThread *thread, const CameoSimAccessSite *accesses,
                           uint32_t count, char *const *addresses, const uint8_t *lanes,
                           char **allowed) {
  Fiber *fibers = reinterpret_cast<Fiber *>(thread);
  if (!(fibers->block->worker->checks & kCheckMemory))
    return 0;
  bool any = false;
  for (uint32_t i = 0; i < count; ++i) {
    const CameoSimAccessSite &access = accesses[i];
    char *const *row = addresses + kLanes * access.row;
    const uint8_t *takesPart =
        access.lanes_row == CAMEO_SIM_ALL_LANES ? nullptr : lanes + kLanes * access.lanes_row;
    for (uint32_t lane = 0; lane < kLanes; ++lane) {
      char *address = row[lane] + access.offset, *checked = address;
      if (!takesPart || takesPart[lane])
        checked = static_cast<char *>(checkAccess(&fibers[lane].thread, address, access.bytes,
                                                  access.alignment, access.space, access.kind,
                                                  access.site));
      any |= checked != address;
      allowed[i * kLanes + lane] = checked;
    }
  }
  return any;
}

} // namespace cameo::sim
