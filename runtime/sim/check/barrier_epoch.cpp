// Epochs: what is done once for each of them. read() and write() are in
// warp_groups.cpp.
//
// SPDX-License-Identifier: Apache-2.0
#include "runtime/sim/check/barrier_epoch.h"

#include <algorithm>
#include <cstring>

namespace cameo::sim {

void BarrierEpoch::startBlock(uint32_t bytes, uint8_t *initialised, bool checksRaces) {
  constexpr size_t kVector = 32; // bytes that are looked at beyond a word
  words_ = (bytes + kWord - 1) / kWord;
  if (writes_.size() < words_ + kVector) {
    writes_.resize(words_ + kVector);
    reads_.resize(words_ + kVector);
  }
  memset(writes_.data(), kNever, words_);
  memset(reads_.data(), kNever, words_);
  now_ = kFirst;
  racing_ = checksRaces ? now_ : kUnused;
  unknown_ = initialised ? kNever : kUnused;
  initialised_ = initialised;
  deferred_.clear();
  isOpen_ = true;
}

void BarrierEpoch::open() {
  deferred_.clear();
  isOpen_ = true;
  if (now_ == kLast) {
    for (uint32_t word = 0; word < words_; ++word)
      writes_[word] = std::min(writes_[word], kBefore);
    memset(reads_.data(), kNever, words_);
    now_ = kBefore;
  }
  racing_ = ++now_;
}

void BarrierEpoch::undefine(uint32_t offset, uint32_t bytes) {
  if (!initialised_)
    return;
  memset(initialised_ + offset, 0, bytes);
  for (uint32_t word = offset / kWord; word * kWord < offset + bytes; ++word)
    writes_[word] = kNever;
}

/// Looks at the bytes where the tags do not tell; `word` is the footprint's origin.
bool BarrierEpoch::findInitialised(const Footprint &footprint, uint32_t word) {
  for (const Footprint::Run &run : footprint.runs)
    for (uint32_t i = 0; i < run.count; ++i) {
      const uint32_t at = word + uint32_t(run.word) + i;
      uint32_t bytes;
      memcpy(&bytes, initialised_ + at * kWord, sizeof bytes);
      if (writes_[at] == racing_ || (writes_[at] == kNever && bytes != 0x01010101u))
        return false;
      if (writes_[at] == kNever)
        writes_[at] = kBefore;
    }
  return true;
}

} // namespace cameo::sim
