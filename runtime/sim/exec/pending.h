// What the instructions of a block have begun and nobody has waited for yet: copies, and phases of
// mbarriers.
//
// SPDX-License-Identifier: Apache-2.0
#ifndef CAMEO_SIM_PENDING_H
#define CAMEO_SIM_PENDING_H

#include "runtime/sim/check/clocks.h"
#include "runtime/sim/instructions.h"

#include <cstddef>
#include <cstdint>
#include <vector>

namespace cameo::sim {

struct Fiber;
struct Worker;

/// cp.async of one thread: copies of which it does not know that they are done, and where its
/// committed groups end among them. Those before `moved` have been done when they were given to an
/// mbarrier, and their thread knows nothing of that yet.
struct PendingCopy {
  char *target;
  const char *source;
  uint32_t bytes, sourceBytes;
  uint32_t site;
  uint32_t operation; // AsyncOperations
  bool raced;         // its read, which has been reported
};
struct CopyQueue {
  std::vector<PendingCopy> copies;
  std::vector<size_t> groups;
  size_t done = 0, moved = 0;
  void clear() {
    copies.clear();
    groups.clear();
    done = moved = 0;
  }
};

/// The same of a warp whose lanes all issue the same copies, commits and waits, where nothing is
/// checked: a ring. Copies and groups' ends are counted from the block's beginning on.
struct WarpCopyQueue {
  struct Copy {
    CameoSimWarpCopy operands;
    uint32_t bytes;
    uint32_t lanes; // others had operands that are not allowed
  };
  std::vector<Copy> ring; // as many as a power of two
  std::vector<size_t> groups;
  size_t begin = 0, end = 0;
  Copy &at(size_t index) { return ring[index & (ring.size() - 1)]; }
  void clear() {
    groups.clear();
    begin = end = 0;
  }
};

/// A bulk copy under way: of a tensor, or of plain bytes where `map` is null. A copy from shared
/// memory to that of another block is a load.
struct BulkTransfer {
  Fiber *issuer = nullptr;
  const char *map = nullptr;
  char *shared = nullptr, *global = nullptr;
  bool fromShared = false; // `global` is in the issuer's shared memory
  char *barrier = nullptr; // loads: where the bytes count
  uint32_t bytes = 0;
  uint32_t group = 0; // stores: which of the thread's; 0: none yet
  uint32_t operation = CAMEO_SIM_EXCH;
  int32_t coordinates[5] = {0, 0, 0, 0, 0};
  uint32_t offsets[3] = {0, 0, 0};
  uint32_t site = 0;
  uint32_t asyncOperation = 0;  // AsyncOperations; of a store, it reads shared memory
  uint32_t globalOperation = 0; // of a store: it writes global memory
  bool done = false;            // a store: some wait has seen that its source has been read
  ClockRow issued;              // loads: what is ordered before the issue
};

/// A thread that waits for a phase of an mbarrier to end.
struct MbarrierWaiter {
  Fiber *fiber;
  uint64_t code;
  const uint32_t *words;
  uint32_t *result;
  bool blocks; // else it wants to know only, and is told as soon as nothing else can go on
};

/// What is ordered before those who see a phase of an mbarrier end, and the operations that they
/// know to be done: of the phase that has not ended yet, and of all before it.
struct MbarrierClock {
  const char *object = nullptr;
  ClockRow pending, released;
  std::vector<uint32_t> pendingOperations, releasedOperations;
  std::vector<size_t> seen; // by warp: how many released operations it knows of
  // Who has initialised it, and whether a fence has followed.
  uint32_t initThread = 0, initStamp = 0, initSite = kNoSite;
  bool initFenced = true;
};

/// Does the oldest bulk load that is under way; false if there is none.
bool finishBulkLoad(Worker &worker);
/// Does the stores of `fiber` in its groups up to `lastGroup`, or all stores where it is null.
/// `reads`: the fiber knows from now on that they have read their source, and no more.
void finishBulkStores(Worker &worker, const Fiber *fiber, uint32_t lastGroup, bool reads);
/// A phase of an mbarrier of the block is over.
void wakeMbarrierWaiters(Worker &worker);

} // namespace cameo::sim

#endif
