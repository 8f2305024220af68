// Accesses of a block's shared memory by whole warps in one epoch: from one barrier of all its
// threads to the next. As long as no word is accessed twice in an epoch, except by reads, nothing
// can race, whatever the order, and two bytes for each word are enough to see that. Accesses are
// deferred until the barrier, which orders them before all that follows. The first doubt before
// that, or anything that orders accesses in another way, closes the epoch: the deferred accesses
// are flushed to the race shadow, and the exact checks (races.h) go on from there.
//
// SPDX-License-Identifier: Apache-2.0
#ifndef CAMEO_SIM_BARRIER_EPOCH_H
#define CAMEO_SIM_BARRIER_EPOCH_H

#include "runtime/sim/check/access_plans.h"

namespace cameo::sim {

struct Fiber;

class BarrierEpoch {
public:
  /// Accesses of a group by a warp whose first lane that takes part has address `base`.
  struct Deferred {
    Fiber *warp;
    const CameoSimAccessSite *accesses;
    const Footprint *footprint;
    char *base;
    uint32_t count;
  };

  /// A block begins, with `bytes` of shared memory, of which `initialised` has a byte a byte (null:
  /// not checked).
  void startBlock(uint32_t bytes, uint8_t *initialised, bool checksRaces);
  /// All that was accessed is ordered before all that follows.
  void open();
  /// No access is deferred until open().
  void close() { isOpen_ = false; }
  bool isOpen() const { return isOpen_; }
  std::vector<Deferred> &deferred() { return deferred_; }
  /// Bytes [offset, offset + bytes) are not initialised any more.
  void undefine(uint32_t offset, uint32_t bytes);

  /// Accesses words at `place` in the block's shared memory, a multiple of 4, as the footprint
  /// says. False: that would take a closer look. Then, too, what is written counts as initialised.
  bool read(const Footprint &footprint, uint32_t place);
  bool write(const Footprint &footprint, uint32_t place);

  static constexpr size_t kMaxDeferred = 1u << 16;

private:
  // Tags of a word: the number of the epoch in which it was last written, or read.
  static constexpr uint8_t kNever = 0, kBefore = 1, kFirst = 2, kLast = 253;
  static constexpr uint8_t kUnused = 254; // no tag is that

  bool findInitialised(const Footprint &footprint, uint32_t word);

  bool isOpen_ = false;
  uint8_t now_ = kFirst;
  uint8_t racing_ = kUnused;  // what is tagged so races with accesses now
  uint8_t unknown_ = kUnused; // what is tagged so is perhaps not initialised
  uint8_t *initialised_ = nullptr;
  uint32_t words_ = 0;
  std::vector<uint8_t> writes_, reads_;
  std::vector<Deferred> deferred_;
};

} // namespace cameo::sim

#endif
