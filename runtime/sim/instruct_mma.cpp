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
#include "runtime/sim/instruct.h"
#include "runtime/sim/tiles.h"

#include <algorithm>

namespace cameo::sim {
namespace {

/// Word r of lane l is at rows[32 r + l].
constexpr uint32_t kRow = 32;

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

void multiplyFloats(Instruction instruction, uint32_t *rows) {
  Shape shape(instruction);
  bool half = instruction.modifier(5) == CAMEO_SIM_F16;
  uint32_t typeB = instruction.modifier(4), perChunk = 4 * shape.perWord;
  alignas(32) float a[kTileRows][kTileDepth], columns[kTileColumns][kTileDepth];
  alignas(32) float b[kTileDepth][kTileColumns];
  for (uint32_t r = 0; r < shape.aWords; ++r)
    for (uint32_t g = 0; g < 8; ++g)
      decodeFloats(shape.type, rows + kRow * r + 4 * g, 1,
                   &a[g + 8 * (r % shape.halves)][r / shape.halves * perChunk]);
  const uint32_t *rowsB = rows + kRow * shape.aWords;
  for (uint32_t r = 0; r < shape.bWords; ++r)
    for (uint32_t g = 0; g < 8; ++g)
      decodeFloats(typeB, rowsB + kRow * r + 4 * g, 1, &columns[g][r * perChunk]);
  turnColumns(columns[0], kTileDepth, shape.k, b[0], kTileColumns);

  const uint32_t *c = rowsB + kRow * shape.bWords;
  uint32_t *d = rows + (c - rows) + kRow * shape.halves * (half ? 1 : 2);
  for (uint32_t h = 0; h < shape.halves; ++h) {
    __m256 sums[8];
    uint32_t at = kRow * (half ? h : 2 * h);
    for (uint32_t g = 0; g < 8; ++g)
      sums[g] = half ? loadHalves(c + at + 4 * g) : loadPair(c + at + 4 * g, c + at + kRow + 4 * g);
    multiplyTile(a[8 * h], kTileDepth, b[0], kTileColumns, shape.k, sums);
    for (uint32_t g = 0; g < 8; ++g)
      if (half)
        storeHalves(d + at + 4 * g, sums[g]);
      else
        storePair(d + at + 4 * g, d + at + kRow + 4 * g, sums[g]);
  }
}

void multiplyIntegers(Instruction instruction, uint32_t *rows) {
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
      decode(shape.type, rows + kRow * r + 4 * g,
             &a[g + 8 * (r % shape.halves)][r / shape.halves * 8]);
  const uint32_t *rowsB = rows + kRow * shape.aWords;
  for (uint32_t r = 0; r < shape.bWords; ++r)
    for (uint32_t g = 0; g < 8; ++g)
      decode(instruction.modifier(4), rowsB + kRow * r + 4 * g, &columns[g][r * 8]);
  turnColumns(reinterpret_cast<const float *>(columns), kPairs, shape.k / 2,
              reinterpret_cast<float *>(b), kTileColumns);

  const uint32_t *c = rowsB + kRow * shape.bWords;
  uint32_t *d = rows + (c - rows) + kRow * 2 * shape.halves;
  for (uint32_t h = 0; h < shape.halves; ++h) {
    __m256i sums[8] = {};
    uint32_t at = kRow * 2 * h;
    multiplyTile(a[8 * h], kPairs, b[0], kTileColumns, shape.k / 2, sums);
    for (uint32_t g = 0; g < 8; ++g) {
      __m256i before = _mm256_castps_si256(loadPair(c + at + 4 * g, c + at + kRow + 4 * g));
      __m256i sum = addSums(before, sums[g], instruction.modifier(6));
      storePair(d + at + 4 * g, d + at + kRow + 4 * g, _mm256_castsi256_ps(sum));
    }
  }
}

/// m8n8k4: a lane has one element of A (row g, column t) and of B (row t, column g), two of C; each
/// in two words.
void multiplyDoubles(uint32_t *rows) {
  auto read = [&](uint32_t l, uint32_t index) {
    uint32_t words[2] = {rows[kRow * 2 * index + l], rows[kRow * (2 * index + 1) + l]};
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
      rows[kRow * (8 + i) + l] = words[i];
  }
}

} // namespace

uint32_t mmaWords(Instruction instruction) {
  if (instruction.modifier(5) == CAMEO_SIM_F64)
    return 12;
  Shape shape(instruction);
  return shape.aWords + shape.bWords +
         2 * shape.halves * (instruction.modifier(5) == CAMEO_SIM_F16 ? 1 : 2);
}

void executeMma(Instruction instruction, Warp &, uint32_t *rows, uint32_t) {
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
