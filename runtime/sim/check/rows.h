// AVX2 on the rows that the checks look at: 32 addresses, and bytes that stand for bytes or words
// of memory. Everything here has internal linkage: it is for files that are compiled for processors
// which have it.
//
// SPDX-License-Identifier: Apache-2.0
#ifndef CAMEO_SIM_ROWS_H
#define CAMEO_SIM_ROWS_H

#include "runtime/sim/check/clocks.h"

#include <cstring>
#include <immintrin.h>

namespace cameo::sim {
namespace {

inline __m256i load(const void *at) { return _mm256_loadu_si256(static_cast<const __m256i *>(at)); }
inline void store(void *at, __m256i value) {
  _mm256_storeu_si256(static_cast<__m256i *>(at), value);
}

/// Of 32 bytes, those that are 1 and not 0.
inline uint32_t maskOf(const uint8_t *lanes) {
  return uint32_t(_mm256_movemask_epi8(_mm256_slli_epi16(load(lanes), 7)));
}

/// Whether each lane's address has its distance from `from`. `takesPart`: -1 or 0 for each lane;
/// null: all lanes take part.
inline bool haveDistances(const int64_t *distances, const int64_t *takesPart, __m256i from,
                          char *const *addresses) {
  __m256i odd = _mm256_setzero_si256();
  for (uint32_t i = 0; i < kLanes; i += 4) {
    __m256i off =
        _mm256_xor_si256(_mm256_sub_epi64(load(addresses + i), from), load(distances + i));
    odd = _mm256_or_si256(odd, takesPart ? _mm256_and_si256(off, load(takesPart + i)) : off);
  }
  return _mm256_testz_si256(odd, odd);
}

// Marks of bytes (memory.h). Workers set those of global memory at the same time, to what the range
// has.

__attribute__((no_sanitize("thread"))) inline bool allMarked(const uint8_t *at, uint32_t count,
                                                             uint8_t mark) {
  if (count >= 32) {
    __m256i all = load(at + count - 32);
    for (uint32_t i = 0; i + 32 < count; i += 32)
      all = _mm256_and_si256(all, load(at + i));
    return uint32_t(_mm256_movemask_epi8(_mm256_cmpeq_epi8(all, _mm256_set1_epi8(char(mark))))) ==
           ~0u;
  }
  if (count == 16) {
    __m128i all = _mm_loadu_si128(reinterpret_cast<const __m128i *>(at));
    return _mm_movemask_epi8(_mm_cmpeq_epi8(all, _mm_set1_epi8(char(mark)))) == 0xffff;
  }
  if (count == 4) {
    uint32_t all;
    memcpy(&all, at, sizeof all);
    return all == 0x01010101u * mark;
  }
  uint8_t differences = 0;
  for (uint32_t i = 0; i < count; ++i)
    differences |= at[i] ^ mark;
  return !differences;
}

__attribute__((no_sanitize("thread"))) inline void setMarks(uint8_t *at, uint32_t count,
                                                            uint8_t mark) {
  const __m256i marks = _mm256_set1_epi8(char(mark));
  if (count >= 32) {
    for (uint32_t i = 0; i + 32 < count; i += 32)
      store(at + i, marks);
    store(at + count - 32, marks);
  } else if (count == 16) {
    _mm_storeu_si128(reinterpret_cast<__m128i *>(at), _mm256_castsi256_si128(marks));
  } else if (count == 4) {
    memset(at, mark, 4);
  } else {
    for (uint32_t i = 0; i < count; ++i)
      at[i] = mark;
  }
}

} // namespace
} // namespace cameo::sim

#endif
