// Products of tiles in the host's vector registers, for files compiled for x86-64-v3. Everything
// here has internal linkage.
//
// Model: products are exact. Floating-point sums are made in f32, one product after the other along
// k from the accumulator on, each a fused multiply-add. A GPU adds in another order and with other
// intermediate roundings.
//
// SPDX-License-Identifier: Apache-2.0
#ifndef CAMEO_SIM_TILES_H
#define CAMEO_SIM_TILES_H

#include "runtime/sim/instructions.h"
#include "runtime/sim/isa/formats.h"

#include <array>
#include <immintrin.h>

namespace cameo::sim {

/// Rows of A and of D, columns of B and D in a tile; the longest k.
constexpr uint32_t kTileRows = 16, kTileColumns = 8, kTileDepth = 32;

/// Fragments give a lane columns 2t and 2t + 1 of D in two words, so a row's words in the order of
/// the lanes are the even columns, then the odd ones: that order is kept in tiles.
constexpr uint8_t kColumnOrder[kTileColumns] = {0, 2, 4, 6, 1, 3, 5, 7};

static inline const float *fp8Table(uint32_t type) {
  static const auto tables = [] {
    std::array<std::array<float, 256>, 2> made;
    for (unsigned bits = 0; bits < 256; ++bits) {
      made[0][bits] = e4m3ToFloat(uint8_t(bits));
      made[1][bits] = e5m2ToFloat(uint8_t(bits));
    }
    return made;
  }();
  return tables[type == CAMEO_SIM_E4M3 ? 0 : 1].data();
}

/// The elements of `chunks` times 16 bytes, as floats.
static inline void decodeFloats(uint32_t type, const void *from, uint32_t chunks, float *to) {
  const auto *at = static_cast<const __m128i *>(from);
  switch (type) {
  case CAMEO_SIM_F16:
    for (uint32_t i = 0; i < chunks; ++i)
      _mm256_storeu_ps(to + 8 * i, _mm256_cvtph_ps(_mm_loadu_si128(at + i)));
    return;
  case CAMEO_SIM_BF16:
    for (uint32_t i = 0; i < chunks; ++i)
      _mm256_storeu_ps(to + 8 * i, _mm256_castsi256_ps(_mm256_slli_epi32(
                                       _mm256_cvtepu16_epi32(_mm_loadu_si128(at + i)), 16)));
    return;
  case CAMEO_SIM_TF32:
    for (uint32_t i = 0; i < chunks; ++i)
      _mm_storeu_ps(to + 4 * i, _mm_castsi128_ps(_mm_and_si128(_mm_loadu_si128(at + i),
                                                               _mm_set1_epi32(~0x1fff))));
    return;
  default: {
    const float *table = fp8Table(type);
    const auto *bytes = static_cast<const uint8_t *>(from);
    for (uint32_t i = 0; i < 16 * chunks; ++i)
      to[i] = table[bytes[i]];
  }
  }
}

/// The elements of `chunks` times 16 bytes, as 16-bit numbers.
static inline void decodeIntegers(uint32_t type, const void *from, uint32_t chunks, int16_t *to) {
  const auto *at = static_cast<const __m128i *>(from);
  for (uint32_t i = 0; i < chunks; ++i) {
    __m128i bytes = _mm_loadu_si128(at + i);
    _mm256_storeu_si256(reinterpret_cast<__m256i *>(to + 16 * i),
                        type == CAMEO_SIM_S8 ? _mm256_cvtepi8_epi16(bytes)
                                             : _mm256_cvtepu8_epi16(bytes));
  }
}

/// Eight rows of eight 16-bit elements become columns.
static inline void turnHalves(__m128i rows[8]) {
  __m128i pairs[8], fours[8];
  for (unsigned i = 0; i < 8; i += 2) {
    pairs[i] = _mm_unpacklo_epi16(rows[i], rows[i + 1]);
    pairs[i + 1] = _mm_unpackhi_epi16(rows[i], rows[i + 1]);
  }
  for (unsigned i = 0; i < 8; i += 4)
    for (unsigned j = 0; j < 2; ++j) {
      fours[i + 2 * j] = _mm_unpacklo_epi32(pairs[i + j], pairs[i + 2 + j]);
      fours[i + 2 * j + 1] = _mm_unpackhi_epi32(pairs[i + j], pairs[i + 2 + j]);
    }
  for (unsigned i = 0; i < 4; ++i) {
    rows[2 * i] = _mm_unpacklo_epi64(fours[i], fours[i + 4]);
    rows[2 * i + 1] = _mm_unpackhi_epi64(fours[i], fours[i + 4]);
  }
}

/// to[k][j] = from[kColumnOrder[j]][k] for 8 columns of `depth` words, `stride` words apart.
static inline void turnColumns(const float *from, uint32_t stride, uint32_t depth, float *to,
                               uint32_t toStride) {
  uint32_t k = 0;
  for (; k + 8 <= depth; k += 8) {
    __m256 r[8], s[8];
    for (unsigned j = 0; j < 8; ++j)
      r[j] = _mm256_loadu_ps(from + kColumnOrder[j] * stride + k);
    for (unsigned j = 0; j < 8; j += 2) {
      s[j] = _mm256_unpacklo_ps(r[j], r[j + 1]);
      s[j + 1] = _mm256_unpackhi_ps(r[j], r[j + 1]);
    }
    for (unsigned j = 0; j < 8; j += 4) {
      r[j] = _mm256_shuffle_ps(s[j], s[j + 2], 0x44);
      r[j + 1] = _mm256_shuffle_ps(s[j], s[j + 2], 0xee);
      r[j + 2] = _mm256_shuffle_ps(s[j + 1], s[j + 3], 0x44);
      r[j + 3] = _mm256_shuffle_ps(s[j + 1], s[j + 3], 0xee);
    }
    for (unsigned j = 0; j < 4; ++j) {
      _mm256_storeu_ps(to + (k + j) * toStride, _mm256_permute2f128_ps(r[j], r[j + 4], 0x20));
      _mm256_storeu_ps(to + (k + j + 4) * toStride, _mm256_permute2f128_ps(r[j], r[j + 4], 0x31));
    }
  }
  for (; k < depth; ++k)
    for (unsigned j = 0; j < 8; ++j)
      to[k * toStride + j] = from[kColumnOrder[j] * stride + k];
}

/// Adds to the rows of d, 8 x 8, what `times` makes of an element of a, 8 x depth, and of a row of
/// b, depth x 8, which `rowOf` loads.
template <typename Vector, typename Element, typename RowOf, typename Times>
static inline void accumulateTile(const Element *a, uint32_t aStride, uint32_t depth, Vector d[8],
                                  RowOf rowOf, Times times) {
  // Variables of their own stay in registers.
  Vector d0 = d[0], d1 = d[1], d2 = d[2], d3 = d[3], d4 = d[4], d5 = d[5], d6 = d[6], d7 = d[7];
  const Element *low = a, *high = a + 4 * size_t(aStride);
  for (uint32_t k = 0; k < depth; ++k) {
    Vector row = rowOf(k);
    d0 = times(low[k], row, d0);
    d1 = times(low[k + size_t(aStride)], row, d1);
    d2 = times(low[k + 2 * size_t(aStride)], row, d2);
    d3 = times(low[k + 3 * size_t(aStride)], row, d3);
    d4 = times(high[k], row, d4);
    d5 = times(high[k + size_t(aStride)], row, d5);
    d6 = times(high[k + 2 * size_t(aStride)], row, d6);
    d7 = times(high[k + 3 * size_t(aStride)], row, d7);
  }
  d[0] = d0, d[1] = d1, d[2] = d2, d[3] = d3, d[4] = d4, d[5] = d5, d[6] = d6, d[7] = d7;
}

/// d += a b for 8 rows: d is 8 x 8, a 8 x depth, b depth x 8, rows that far apart.
static inline void multiplyTile(const float *a, uint32_t aStride, const float *b, uint32_t bStride,
                                uint32_t depth, __m256 d[8]) {
  accumulateTile(
      a, aStride, depth, d, [&](uint32_t k) { return _mm256_loadu_ps(b + size_t(k) * bStride); },
      [](float element, __m256 row, __m256 sum) {
        return _mm256_fmadd_ps(_mm256_set1_ps(element), row, sum);
      });
}

/// The same for pairs of 16-bit numbers, whose sums of up to 32 products have room.
static inline void multiplyTile(const int32_t *a, uint32_t aStride, const int32_t *b,
                                uint32_t bStride, uint32_t pairs, __m256i d[8]) {
  accumulateTile(
      a, aStride, pairs, d,
      [&](uint32_t k) {
        return _mm256_loadu_si256(reinterpret_cast<const __m256i *>(b + size_t(k) * bStride));
      },
      [](int32_t element, __m256i row, __m256i sum) {
        return _mm256_add_epi32(sum, _mm256_madd_epi16(_mm256_set1_epi32(element), row));
      });
}

/// a + b, wrapped or saturated.
static inline __m256i addSums(__m256i a, __m256i b, bool saturate) {
  __m256i sum = _mm256_add_epi32(a, b);
  if (!saturate)
    return sum;
  // Overflow: both have the sign that the sum has not.
  __m256i overflow = _mm256_andnot_si256(_mm256_xor_si256(a, b), _mm256_xor_si256(a, sum));
  __m256i limit = _mm256_xor_si256(_mm256_srai_epi32(a, 31), _mm256_set1_epi32(INT32_MAX));
  return _mm256_castps_si256(_mm256_blendv_ps(_mm256_castsi256_ps(sum), _mm256_castsi256_ps(limit),
                                              _mm256_castsi256_ps(overflow)));
}

// A fragment's row g of D, of f32 or s32: the words of lanes 4g to 4g + 3 for columns 2t, then
// those for 2t + 1.

static inline __m256 loadPair(const uint32_t *even, const uint32_t *odd) {
  return _mm256_set_m128(_mm_loadu_ps(reinterpret_cast<const float *>(odd)),
                         _mm_loadu_ps(reinterpret_cast<const float *>(even)));
}
static inline void storePair(uint32_t *even, uint32_t *odd, __m256 row) {
  _mm_storeu_ps(reinterpret_cast<float *>(even), _mm256_castps256_ps128(row));
  _mm_storeu_ps(reinterpret_cast<float *>(odd), _mm256_extractf128_ps(row, 1));
}

/// The same of f16, both in one word.
static inline __m256 loadHalves(const uint32_t *words) {
  __m256 row = _mm256_cvtph_ps(_mm_loadu_si128(reinterpret_cast<const __m128i *>(words)));
  return _mm256_permutevar8x32_ps(row, _mm256_setr_epi32(0, 2, 4, 6, 1, 3, 5, 7));
}
static inline void storeHalves(uint32_t *words, __m256 row) {
  float columns[8];
  _mm256_storeu_ps(columns, row);
  for (unsigned t = 0; t < 4; ++t)
    words[t] = floatToF16(columns[t]) | uint32_t(floatToF16(columns[4 + t])) << 16;
}

} // namespace cameo::sim

#endif
