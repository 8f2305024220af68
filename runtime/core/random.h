// Random numbers are drawn by Philox 4x32-10 (Salmon, Moraes, Dror, Shaw: Parallel random numbers: as easy as
// 1, 2, 3, SC 2011), a function of a key and a counter, so that a number follows from its place alone.
// SPDX-License-Identifier: Apache-2.0
#ifndef CAMEO_RUNTIME_CORE_RANDOM_H
#define CAMEO_RUNTIME_CORE_RANDOM_H

#include <array>
#include <cstdint>

namespace cameo::runtime {

using RandomBlock = std::array<uint32_t, 4>;

inline RandomBlock philox(uint64_t key, RandomBlock counter) {
  uint32_t key0 = uint32_t(key), key1 = uint32_t(key >> 32);
  for (int round = 0; round < 10; ++round) {
    uint64_t first = uint64_t(0xd2511f53u) * counter[0];
    uint64_t second = uint64_t(0xcd9e8d57u) * counter[2];
    counter = {uint32_t(second >> 32) ^ counter[1] ^ key0, uint32_t(second),
               uint32_t(first >> 32) ^ counter[3] ^ key1, uint32_t(first)};
    key0 += 0x9e3779b9u;
    key1 += 0xbb67ae85u;
  }
  return counter;
}

// CAMEO_OP_BUF_RANDOM gives a run two blocks, of which the second one does not depend on the context's seed.
// Each is a key of two words, and two words of counters, to which the compiler adds the node's number.
inline std::array<uint32_t, 8> randomState(uint64_t seed, uint64_t run) {
  // A key for the second block that no seed is likely to be.
  constexpr uint64_t kUnseeded = 0x243f6a8885a308d3u; // of pi
  RandomBlock counter = {uint32_t(run), uint32_t(run >> 32), 0, 0};
  RandomBlock own = philox(seed, counter), common = philox(kUnseeded, counter);
  std::array<uint32_t, 8> state;
  for (int i = 0; i < 4; ++i) {
    state[i] = own[i];
    state[4 + i] = common[i];
  }
  return state;
}

} // namespace cameo::runtime

#endif
