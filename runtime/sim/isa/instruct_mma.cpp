// mma.sync (PTX ISA, "Multiply-and-Accumulate Instruction: mma"; fragments as in "Matrix Fragments
// for mma.m16n8k16 with floating point type" and its neighbours).
//
// All shapes follow one scheme. With g = lane / 4, t = lane mod 4 and n elements a register, a lane
// has of A, in register r, the elements of row g + 8 (r mod 2) from column (r / 2) 4n + nt on; of
// B, in register r, those of column g from row 4nr + nt on; of C and D the elements 2t and 2t + 1
// of rows g and g + 8. So the words of lanes 4g to 4g + 3 in one register are 16 bytes of one row
// of A, or of one column of B.
//
// Floating-point sums as tiles.h says; an f16 result is rounded once more at the end, f64 is summed
// in f64. Integer sums are exact before they wrap or saturate.
//
// SPDX-License-Identifier: Apache-2.0
#include "runtime/sim/isa/instruct.h"
#include "runtime/sim/isa/tiles.h"

#include <algorithm>

namespace cameo::sim {
namespace {

struct Shape {
  explicit Shape(Instruction instruction)
      : m(instruction.modifier(0)), k(instruction.modifier(2)), type(instruction.modifier(3)),
        perWord(type == CAMEO_SIM_TF32                            ? 1
                : type == CAMEO_SIM_F16 || type == CAMEO_SIM_BF16 ? 2
                                                                  : 4),
        halves(m / 8), aWords(m * k / perWord / 32), bWords(kTileColumns * k / perWord / 32) {}
  uint32_t m, k, type, perWord;
  uint32_t halves; // of 8 rows
  uint32_t aWords, bWords;
};

/// Operands that are decoded, by the places of their rows: instructions that follow on each other
/// have many in common.
template <uint32_t kWords, uint32_t kElements> struct Decoded {
  static constexpr uint32_t kWays = 8;
  struct Way {
    uint32_t places[kWords];
    alignas(32) float elements[kElements];
    bool isAt(const uint32_t *others, uint32_t words) const {
      uint32_t differ = 0;
      for (uint32_t i = 0; i < kWords; ++i)
        differ |= i < words ? places[i] ^ others[i] : 0;
      return !differ;
    }
  };
  Way ways[kWays];
  uint32_t used = 0, next = 0;

  /// What `decode` makes of the rows from `first` on.
  template <typename Function>
  const float *find(Rows rows, uint32_t first, uint32_t words, Function decode) {
    if (rows.places) {
      const uint32_t *places = rows.places + first;
      for (uint32_t i = 0; i < used; ++i)
        if (ways[i].isAt(places, words))
          return ways[i].elements;
      std::copy(places, places + words, ways[next].places);
    }
    Way &way = ways[next];
    decode(way.elements);
    next = (next + 1) % kWays;
    used = std::max(used, next == 0 ? kWays : next);
    return way.elements;
  }
};

struct Operands {
  uint64_t code = 0;
  Decoded<4, kTileRows * kTileDepth> a;
  Decoded<2, kTileDepth * kTileColumns> b;
  void forget() { a.used = a.next = b.used = b.next = 0; }
};

Operands &keptOperands() {
  static thread_local Operands kept;
  return kept;
}

void decodeA(const Shape &shape, Rows rows, float *to) {
  for (uint32_t r = 0; r < shape.aWords; ++r)
    for (uint32_t g = 0; g < 8; ++g)
      decodeFloats(shape.type, rows[r] + 4 * g, 1,
                   to + (g + 8 * (r % shape.halves)) * shape.k +
                       r / shape.halves * 4 * shape.perWord);
}

void decodeB(const Shape &shape, uint32_t type, Rows rows, float *to) {
  if (shape.perWord == 2) { // turned before they are twice as wide
    for (uint32_t r = 0; r < shape.bWords; ++r) {
      const uint32_t *words = rows[shape.aWords + r];
      __m128i columns[kTileColumns];
      for (uint32_t j = 0; j < kTileColumns; ++j)
        columns[j] =
            _mm_loadu_si128(reinterpret_cast<const __m128i *>(words + size_t(4) * kColumnOrder[j]));
      turnHalves(columns);
      decodeFloats(type, columns, kTileColumns, to + size_t(8) * r * kTileColumns);
    }
    return;
  }
  alignas(32) float columns[kTileColumns][kTileDepth];
  for (uint32_t r = 0; r < shape.bWords; ++r)
    for (uint32_t g = 0; g < 8; ++g)
      decodeFloats(type, rows[shape.aWords + r] + 4 * g, 1, &columns[g][r * 4 * shape.perWord]);
  turnColumns(columns[0], kTileDepth, shape.k, to, kTileColumns);
}

void multiplyFloats(Instruction instruction, Rows rows) {
  Shape shape(instruction);
  bool half = instruction.modifier(5) == CAMEO_SIM_F16;
  Operands &kept = keptOperands();
  if (kept.code != instruction.code || !rows.places)
    kept.forget();
  kept.code = instruction.code;
  const float *a = kept.a.find(rows, 0, shape.aWords, [&](float *to) { decodeA(shape, rows, to); });
  const float *b = kept.b.find(rows, shape.aWords, shape.bWords, [&](float *to) {
    decodeB(shape, instruction.modifier(4), rows, to);
  });

  uint32_t c = shape.aWords + shape.bWords, d = c + shape.halves * (half ? 1 : 2);
  for (uint32_t h = 0; h < shape.halves; ++h) {
    __m256 sums[8];
    uint32_t at = half ? h : 2 * h;
    const uint32_t *even = rows[c + at], *odd = half ? nullptr : rows[c + at + 1];
    for (uint32_t g = 0; g < 8; ++g)
      sums[g] = half ? loadHalves(even + 4 * g) : loadPair(even + 4 * g, odd + 4 * g);
    const float *rowsA = a + size_t(8) * h * shape.k;
    if (shape.k == 16)
      multiplyTile(rowsA, 16, b, kTileColumns, 16, sums);
    else
      multiplyTile(rowsA, shape.k, b, kTileColumns, shape.k, sums);
    uint32_t *evenD = rows[d + at], *oddD = half ? nullptr : rows[d + at + 1];
    for (uint32_t g = 0; g < 8; ++g)
      if (half)
        storeHalves(evenD + 4 * g, sums[g]);
      else
        storePair(evenD + 4 * g, oddD + 4 * g, sums[g]);
  }
}

void multiplyIntegers(Instruction instruction, Rows rows) {
  constexpr uint32_t kPairs = kTileDepth / 2;
  Shape shape(instruction);
  alignas(32) int32_t a[kTileRows][kPairs], columns[kTileColumns][kPairs];
  alignas(32) int32_t b[kPairs][kTileColumns];
  auto decode = [](uint32_t type, const uint32_t *words, int32_t *pairs) {
    int16_t numbers[16];
    decodeIntegers(type, words, 1, numbers);
    memcpy(pairs, numbers, sizeof numbers);
  };
  for (uint32_t r = 0; r < shape.aWords; ++r)
    for (uint32_t g = 0; g < 8; ++g)
      decode(shape.type, rows[r] + 4 * g, &a[g + 8 * (r % shape.halves)][r / shape.halves * 8]);
  for (uint32_t r = 0; r < shape.bWords; ++r)
    for (uint32_t g = 0; g < 8; ++g)
      decode(instruction.modifier(4), rows[shape.aWords + r] + 4 * g, &columns[g][r * 8]);
  turnColumns(reinterpret_cast<const float *>(columns), kPairs, shape.k / 2,
              reinterpret_cast<float *>(b), kTileColumns);

  uint32_t c = shape.aWords + shape.bWords, d = c + 2 * shape.halves;
  for (uint32_t h = 0; h < shape.halves; ++h) {
    __m256i sums[8] = {};
    const uint32_t *even = rows[c + 2 * h], *odd = rows[c + 2 * h + 1];
    uint32_t *evenD = rows[d + 2 * h], *oddD = rows[d + 2 * h + 1];
    multiplyTile(a[8 * h], kPairs, b[0], kTileColumns, shape.k / 2, sums);
    for (uint32_t g = 0; g < 8; ++g) {
      __m256i before = _mm256_castps_si256(loadPair(even + 4 * g, odd + 4 * g));
      __m256i sum = addSums(before, sums[g], instruction.modifier(6));
      storePair(evenD + 4 * g, oddD + 4 * g, _mm256_castsi256_ps(sum));
    }
  }
}

/// m8n8k4: a lane has one element of A (row g, column t) and of B (row t, column g), two of C; each
/// in two words.
void multiplyDoubles(Rows rows) {
  auto read = [&](uint32_t l, uint32_t index) {
    uint32_t words[2] = {rows[2 * index][l], rows[2 * index + 1][l]};
    double value;
    memcpy(&value, words, sizeof value);
    return value;
  };
  double d[32][2];
  for (uint32_t l = 0; l < 32; ++l)
    for (uint32_t i = 0; i < 2; ++i) {
      double sum = read(l, 2 + i);
      for (uint32_t k = 0; k < 4; ++k)
        sum = __builtin_fma(read(l / 4 * 4 + k, 0), read((l % 4 * 2 + i) * 4 + k, 1), sum);
      d[l][i] = sum;
    }
  for (uint32_t l = 0; l < 32; ++l) {
    uint32_t words[4];
    memcpy(words, d[l], sizeof words);
    for (uint32_t i = 0; i < 4; ++i)
      rows[8 + i][l] = words[i];
  }
}

} // namespace

uint32_t mmaWords(Instruction instruction) {
  uint32_t first, sums = cameoSimSums(instruction.code, &first);
  return first + 2 * sums;
}

void forgetMmaOperands() { keptOperands().forget(); }

void executeMma(Instruction instruction, Warp &, Rows rows, uint32_t) {
  switch (instruction.modifier(5)) {
  case CAMEO_SIM_S32:
    return multiplyIntegers(instruction, rows);
  case CAMEO_SIM_F64:
    return multiplyDoubles(rows);
  default:
    return multiplyFloats(instruction, rows);
  }
}

} // namespace cameo::sim
