// mma.sync (PTX ISA, "Multiply-and-Accumulate Instruction: mma"; fragments as in "Matrix Fragments
// for mma.m16n8k16 with floating point type" and its neighbours).
//
// All shapes follow one scheme. With g = lane / 4, t = lane mod 4 and n elements a register, a lane
// has of A, in register r, the elements of row g + 8 (r mod 2) from column (r / 2) 4n + nt on; of
// B, in register r, those of column g from row 4nr + nt on; of C and D the elements 2t and 2t + 1
// of rows g and g + 8.
//
// Model: products are exact. Floating-point sums are made in f32 (f64 for f64), one product after
// the other along k from the accumulator on, each a fused multiply-add; an f16 result is rounded
// once more at the end. Integer sums are exact before they wrap or saturate. A GPU adds in another
// order and with other intermediate roundings.
//
// SPDX-License-Identifier: Apache-2.0
#include "runtime/sim/formats.h"
#include "runtime/sim/instruct.h"

#include <algorithm>

namespace cameo::sim {
namespace {

constexpr unsigned kMaxM = 16, kN = 8, kMaxK = 32;

struct Shape {
  unsigned m, k;
};

float elementOf(uint32_t type, uint32_t word, unsigned index) {
  switch (type) {
  case CAMEO_SIM_F16:
    return f16ToFloat(uint16_t(word >> 16 * index));
  case CAMEO_SIM_BF16:
    return bf16ToFloat(uint16_t(word >> 16 * index));
  default:
    return tf32ToFloat(word);
  }
}

int32_t integerOf(uint32_t type, uint32_t word, unsigned index) {
  uint8_t byte = uint8_t(word >> 8 * index);
  return type == CAMEO_SIM_S8 ? int8_t(byte) : byte;
}

/// Calls `set(row, column, word, index in the word)` for every element of A, then of B.
template <typename SetA, typename SetB>
void eachInput(const Shape &shape, unsigned perWord, LaneWords lane, SetA setA, SetB setB) {
  unsigned halves = shape.m / 8;
  unsigned aWords = shape.m * shape.k / perWord / 32, bWords = kN * shape.k / perWord / 32;
  for (unsigned l = 0; l < 32; ++l) {
    unsigned g = l / 4, t = l % 4;
    for (unsigned r = 0; r < aWords; ++r)
      for (unsigned i = 0; i < perWord; ++i)
        setA(g + 8 * (r % halves), r / halves * 4 * perWord + t * perWord + i, lane[l][r], i);
    for (unsigned r = 0; r < bWords; ++r)
      for (unsigned i = 0; i < perWord; ++i)
        setB(r * 4 * perWord + t * perWord + i, g, lane[l][aWords + r], i);
  }
}

void multiplyFloats(Instruction instruction, const Shape &shape, LaneWords lane) {
  uint32_t type = instruction.modifier(3);
  bool half = instruction.modifier(5) == CAMEO_SIM_F16;
  unsigned perWord = type == CAMEO_SIM_TF32 ? 1 : 2;
  alignas(32) float a[kMaxM][kMaxK], b[kMaxK][kN], d[kMaxM][kN];
  eachInput(
      shape, perWord, lane,
      [&](unsigned row, unsigned column, uint32_t word, unsigned i) {
        a[row][column] = elementOf(type, word, i);
      },
      [&](unsigned row, unsigned column, uint32_t word, unsigned i) {
        b[row][column] = elementOf(type, word, i);
      });
  unsigned inputs = (shape.m + kN) * shape.k / perWord / 32, halves = shape.m / 8;
  for (unsigned l = 0; l < 32; ++l)
    for (unsigned h = 0; h < halves; ++h)
      for (unsigned i = 0; i < 2; ++i) {
        const uint32_t *c = lane[l] + inputs;
        d[l / 4 + 8 * h][l % 4 * 2 + i] =
            half ? f16ToFloat(uint16_t(c[h] >> 16 * i)) : floatOf(c[2 * h + i]);
      }
  for (unsigned row = 0; row < shape.m; ++row)
    for (unsigned k = 0; k < shape.k; ++k)
      for (unsigned column = 0; column < kN; ++column)
        d[row][column] = __builtin_fmaf(a[row][k], b[k][column], d[row][column]);
  for (unsigned l = 0; l < 32; ++l)
    for (unsigned h = 0; h < halves; ++h) {
      uint32_t *result = lane[l] + inputs + (half ? 1 : 2) * halves;
      const float *pair = &d[l / 4 + 8 * h][l % 4 * 2];
      if (half) {
        result[h] = floatToF16(pair[0]) | uint32_t(floatToF16(pair[1])) << 16;
      } else {
        result[2 * h] = bitsOf(pair[0]);
        result[2 * h + 1] = bitsOf(pair[1]);
      }
    }
}

void multiplyIntegers(Instruction instruction, const Shape &shape, LaneWords lane) {
  alignas(32) int32_t a[kMaxM][kMaxK], b[kMaxK][kN];
  int64_t d[kMaxM][kN];
  eachInput(
      shape, 4, lane,
      [&](unsigned row, unsigned column, uint32_t word, unsigned i) {
        a[row][column] = integerOf(instruction.modifier(3), word, i);
      },
      [&](unsigned row, unsigned column, uint32_t word, unsigned i) {
        b[row][column] = integerOf(instruction.modifier(4), word, i);
      });
  for (unsigned row = 0; row < shape.m; ++row) {
    int32_t sums[kN] = {}; // of at most 32 products of 8-bit numbers
    for (unsigned k = 0; k < shape.k; ++k)
      for (unsigned column = 0; column < kN; ++column)
        sums[column] += a[row][k] * b[k][column];
    for (unsigned column = 0; column < kN; ++column)
      d[row][column] = sums[column];
  }
  unsigned inputs = (shape.m + kN) * shape.k / 4 / 32, sums = shape.m / 4;
  bool saturate = instruction.modifier(6);
  for (unsigned l = 0; l < 32; ++l)
    for (unsigned i = 0; i < sums; ++i) {
      int64_t sum = d[l / 4 + 8 * (i / 2)][l % 4 * 2 + i % 2] + int32_t(lane[l][inputs + i]);
      if (saturate)
        sum = std::clamp<int64_t>(sum, INT32_MIN, INT32_MAX);
      lane[l][inputs + sums + i] = uint32_t(sum);
    }
}

/// m8n8k4: a lane has one element of A (row g, column t) and of B (row t, column g), two of C.
void multiplyDoubles(LaneWords lane) {
  auto read = [&](unsigned l, unsigned index) {
    double value;
    memcpy(&value, lane[l] + 2 * index, sizeof value);
    return value;
  };
  double d[32][2];
  for (unsigned l = 0; l < 32; ++l)
    for (unsigned i = 0; i < 2; ++i) {
      double sum = read(l, 2 + i);
      for (unsigned k = 0; k < 4; ++k)
        sum = __builtin_fma(read(l / 4 * 4 + k, 0), read((l % 4 * 2 + i) * 4 + k, 1), sum);
      d[l][i] = sum;
    }
  for (unsigned l = 0; l < 32; ++l)
    memcpy(lane[l] + 8, d[l], sizeof d[l]);
}

} // namespace

void executeMma(Instruction instruction, LaneWords lane) {
  Shape shape{instruction.modifier(0), instruction.modifier(2)};
  switch (instruction.modifier(5)) {
  case CAMEO_SIM_S32:
    return multiplyIntegers(instruction, shape, lane);
  case CAMEO_SIM_F64:
    return multiplyDoubles(lane);
  default:
    return multiplyFloats(instruction, shape, lane);
  }
}

} // namespace cameo::sim
