// Asynchronous operations: cp.async, bulk and tensor copies, st.async, wgmma. Their accesses of
// shared memory are remembered until the bytes are overwritten, those of bulk and tensor copies of
// global memory until all threads know that they are done. An access that nothing orders after
// them is a race. Only where races are checked.
//
// SPDX-License-Identifier: Apache-2.0
#ifndef CAMEO_SIM_ASYNC_H
#define CAMEO_SIM_ASYNC_H

#include "runtime/sim/abi.h"
#include "runtime/sim/engine.h"

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace cameo::sim {

struct Block;
struct Fiber;
struct PendingCopy;
struct Warp;
struct Worker;

/// Who accesses memory: a thread, or an engine on its behalf.
/// Map: a tensor copy that reads its map.
enum class Agent : uint8_t { Thread, Copy, Bulk, Tensor, Store, Wgmma, Map };
inline bool usesAsyncProxy(Agent agent) {
  return agent == Agent::Bulk || agent == Agent::Tensor || agent == Agent::Wgmma;
}

constexpr uint32_t kWarpgroupWarps = 4;

/// Bytes of global memory.
struct Span {
  const char *begin = nullptr, *end = nullptr;
  bool overlaps(const Span &other) const { return begin < other.end && other.begin < end; }
  void include(const Span &other) {
    begin = begin == end ? other.begin : std::min(begin, other.begin);
    end = std::max(end, other.end);
  }
};

class AsyncOperations {
public:
  AsyncOperations() = default;
  ~AsyncOperations();
  AsyncOperations(const AsyncOperations &) = delete;
  AsyncOperations &operator=(const AsyncOperations &) = delete;

  /// A cluster begins; those of the one before are forgotten.
  void restart(Worker &worker);
  /// The cluster has ended: operations that nobody has waited for are reported.
  void finish(Worker &worker);
  /// Whether there has been any in this cluster: else accesses need no check.
  bool any() const { return any_; }

  /// A new operation of `issuer`, and its number; 0 where races are not checked. The caller holds
  /// it.
  uint32_t begin(const Fiber &issuer, Agent agent, uint32_t site);
  void hold(uint32_t operation);
  void drop(uint32_t operation);
  /// The operation will read shared memory of its issuer's block, which must not end before that.
  void keepsBlock(uint32_t operation) { operations_[operation].keepsBlock = true; }
  /// Of a block that ends.
  void finish(const Block &block);
  /// The operation will read or write bytes of shared memory, from now on until somebody knows that
  /// it is done. `offset` as Worker::sharedOffset has it, a multiple of 4, as `bytes` is. Checked
  /// against all that threads and other operations have done there.
  void touch(Fiber &issuer, uint32_t operation, uint64_t offset, uint32_t bytes,
             CameoSimAccess kind, uint32_t site);
  /// Who has written what an instruction reads: neighbours mostly have the same writers, which need
  /// to be looked at once.
  struct Writers {
    bool any = false;
    uint32_t owner = 0, stamp = 0, who = 0; // threads: Access
    uint32_t operation = 0;
  };
  /// As touch, for a read of 16 bytes, if its order is quickly seen: from what `known` says of the
  /// instruction's earlier reads, or from the records. Otherwise returns false and does nothing.
  bool tryKnownOrder(Fiber &issuer, uint32_t operation, uint64_t offset, Writers &known);
  /// `fiber`, or its whole warp, knows from now on that the operation is done.
  void observe(uint32_t operation, const Fiber &fiber, bool wholeWarp);
  bool isKnown(uint32_t operation, const Fiber &fiber) const {
    return isKnown(operations_[operation], fiber);
  }
  /// Whether something remembers what the operation did to memory.
  bool isRemembered(uint32_t operation) const { return operations_[operation].isRemembered(); }
  /// An access of shared memory by a thread.
  void checkShared(const Fiber &fiber, uint64_t offset, uint32_t bytes, CameoSimAccess kind,
                   uint32_t site);

  /// A bulk or tensor copy will read, write or update bytes of global memory from now on, or read
  /// its map (`agent`). Checked as in touch.
  void touchGlobal(Fiber &issuer, uint32_t operation, std::vector<Span> spans, CameoSimAccess kind,
                   uint32_t site, Agent agent);
  /// Whether an access of global memory may conflict with one by an operation.
  bool mayTouchGlobal(const char *begin, const char *end, CameoSimAccess kind) const {
    Span span{begin, end};
    return span.overlaps(written_) ||
           (kind != CAMEO_SIM_READ && (span.overlaps(read_) || span.overlaps(copied_)));
  }
  /// An access of global memory by a thread, or a cp.async. Whether all is well.
  bool checkGlobal(const Fiber &fiber, const char *address, uint32_t bytes, CameoSimAccess kind,
                   uint32_t site);
  /// A cp.async that reads global memory has been issued, or its thread knows that it is done: in
  /// between it is in the thread's CopyQueue.
  void startCopy(const PendingCopy &copy);
  void endCopy();

  /// One of a warpgroup's instructions: of wgmma also the descriptors, 0 for registers, and whether
  /// the accumulators count. `warp`: in the block.
  struct WgmmaStep {
    uint64_t code;
    std::array<uint64_t, 3> operands;
    uint32_t site, warp;
  };
  /// wgmma: the operation that a warp's next one belongs to, which is its warpgroup's; and what
  /// its threads say of it.
  uint32_t issueWgmma(Warp &warp, const WgmmaStep &step);
  void fenceWgmma(const Fiber &fiber, uint64_t code, uint32_t site);
  void commitWgmma(const Fiber &fiber, uint64_t code, uint32_t site);
  void waitForWgmma(const Fiber &fiber, uint64_t code, uint32_t site);

private:
  static constexpr size_t kForgetAt = 64; // uses of global memory, at the least
  /// Thread `thread` of the cluster, or its warp, knows since `stamp`.
  struct Observer {
    uint32_t thread, stamp;
    bool wholeWarp;
  };
  struct Operation {
    uint32_t thread = 0; // in the cluster
    uint32_t site = 0;
    uint32_t places = 0; // in the shadow
    uint32_t uses = 0;   // of global memory
    uint32_t holds = 0;
    Agent agent = Agent::Thread;
    bool keepsBlock = false;
    std::vector<Observer> observers;
    bool isRemembered() const { return places || uses; }
  };
  /// What an operation does to global memory: spans in order, that all lie in `all`.
  struct GlobalUse {
    uint32_t operation;
    CameoSimAccess kind;
    Span all;
    std::vector<Span> spans;
  };
  /// Of 16 bytes: an operation that reads them, and the next one.
  struct Reader {
    uint32_t operation, next;
  };
  struct WgmmaWarp {
    bool fenced = false;
    uint32_t issued = 0, observed = 0;
    std::vector<uint32_t> groups; // wgmma issued up to the end of each
    size_t steps = 0;             // executed
    // Since the last wgmma: steps by lane, the most of them, and where that was.
    uint32_t lanes[32] = {}, lanesMost = 0, lastSite = 0;
  };
  struct Warpgroup {
    std::vector<uint32_t>
        operations; // by the number that a warp has issued before, from `first` on
    uint32_t first = 0;
    std::vector<WgmmaStep> steps; // as the first warp to come to each has executed them
    bool parted = false;          // its warps have not executed the same, and that is reported
  };

  bool reserve(const Worker &worker);
  WgmmaWarp *wgmmaWarp(const Warp &warp);
  Warpgroup &warpgroup(const Warp &warp);
  void reportParted(Warpgroup &group, const Warp &warp, uint32_t lanes, uint32_t site,
                    uint32_t otherSite, std::string detail);
  void follow(const Warp &warp, const WgmmaStep &step);
  bool followLane(const Fiber &fiber, WgmmaWarp &own, uint64_t code, uint32_t site);
  void checkLanes(const Warp &warp, WgmmaWarp &own);
  void finishWgmma(const Worker &worker);
  void release(uint32_t &place);
  void addReader(uint64_t granule, uint32_t operation);
  void noteReader(uint64_t granule, uint32_t operation, const Fiber &issuer);
  /// Forgets readers of a granule of which `gone` says so.
  template <typename Gone> void removeReaders(uint64_t granule, Gone gone);
  void freeIfUnused(uint32_t operation);
  bool isKnown(const Operation &operation, const Fiber &fiber) const;
  void reportUnfinished(const Operation &operation, const Block &block, const char *what) const;
  bool isKnownToAll(const Operation &operation, const Worker &worker) const;
  /// Reports a race where `fiber` cannot know that the operation is done, and returns false. The
  /// access is at `place`, an offset in shared memory or an address in global memory.
  bool require(uint32_t operation, CameoSimAccess otherKind, const Fiber &fiber, FaultKind race,
               uint64_t place, uint32_t bytes, CameoSimAccess kind, uint32_t site) const;
  void forgetKnownUses(const Worker &worker);

  bool any_ = false;
  std::vector<Operation> operations_; // number 0 is none
  std::vector<uint32_t> free_;
  size_t windows_ = 0;          // that there is room for
  size_t bytes_ = 0;            // of each that the launch has, in whole granules
  uint32_t *writers_ = nullptr; // the last operation that writes each 4 bytes
  uint32_t *readers_ = nullptr; // since then, of each 16 bytes: the first of a list, or 0
  std::vector<Reader> lists_;   // from number 1 on
  uint32_t freeReader_ = 0;     // the first of those that are not in use
  std::vector<GlobalUse> globalUses_;
  size_t forgetAt_ = 0; // so many uses of global memory
  Span written_, read_; // all that they write or update, all that they read
  Span copied_;         // all that is read by cp.async under way
  uint32_t copies_ = 0; // so many
  std::vector<WgmmaWarp> wgmmaWarps_;
  std::vector<Warpgroup> warpgroups_;
};

/// Checks an access of shared memory that an operation does, and whether others may race with it:
/// AsyncOperations::touch. Where to access; scratch memory after a report.
char *checkAsyncAccess(Fiber &issuer, uint32_t operation, char *address, uint32_t bytes,
                       uint32_t alignment, uint32_t space, CameoSimAccess kind, uint32_t site);
/// The same without races: when the operation is done, it has been checked for those.
char *checkWithoutRaces(Fiber &issuer, char *address, uint32_t bytes, uint32_t alignment,
                        uint32_t space, CameoSimAccess kind, uint32_t site);

} // namespace cameo::sim

#endif
