// wgmma.mma_async (PTX ISA, "Asynchronous Warpgroup Level Matrix Instructions").
//
// A warp computes its 16 rows of D from its 16 rows of A and all of B, when it issues the
// instruction: results are there before the wait, and what is written to shared memory in between
// is not seen. Products and sums as in instruct_mma.cpp; the GPU's sums of 8-bit floats have fewer
// bits.
//
// SPDX-License-Identifier: Apache-2.0
#include "runtime/sim/block.h"
#include "runtime/sim/formats.h"
#include "runtime/sim/instruct.h"

namespace cameo::sim {
namespace {

constexpr uint32_t kRows = 16, kMaxN = 256, kMaxK = 32;
constexpr uint32_t kChunk = 16; // bytes: what descriptors count in

/// "Matrix Descriptor Format".
struct Descriptor {
  explicit Descriptor(uint64_t bits)
      : start(uint32_t(bits & 0x3fff) << 4), leading(uint32_t(bits >> 16 & 0x3fff) << 4),
        stride(uint32_t(bits >> 32 & 0x3fff) << 4), baseOffset(uint32_t(bits >> 49 & 7)),
        swizzle(uint32_t(bits >> 62)) {}
  /// Chunks of a swizzled line: 1 (not swizzled), 8, 4 or 2 for modes 0, 1, 2 and 3.
  uint32_t lineChunks() const { return swizzle ? 16u >> swizzle : 1; }

  uint32_t start, leading, stride, baseOffset, swizzle;
};

/// Where chunk (row of 8, chunk of the fast dimension) of an operand lies in shared memory:
/// "Strides" and "Shared Memory Matrix Layout".
///
/// Fast dimension k: `slow` is a row of m or n, `fast` counts chunks along k. Groups of 8 rows are
/// `stride` apart; chunks follow one another, or are `leading` apart without swizzling.
/// Fast dimension m or n: `slow` is a row of k, `fast` counts chunks along m or n. Groups of 8 rows
/// are `stride` apart and lines `leading` apart; without swizzling the other way round.
uint32_t chunkOffset(const Descriptor &descriptor, bool transposed, uint32_t slow, uint32_t fast) {
  uint32_t line = descriptor.lineChunks();
  uint32_t group = slow / 8, offset = slow % 8 * line * kChunk;
  if (!transposed) {
    offset += group * descriptor.stride;
    offset += descriptor.swizzle ? fast * kChunk : fast * descriptor.leading;
  } else if (descriptor.swizzle) {
    offset += group * descriptor.stride + fast / line * descriptor.leading + fast % line * kChunk;
  } else {
    offset += group * descriptor.leading + fast * descriptor.stride;
  }
  uint32_t address = descriptor.start + offset;
  // The chunk's number in its line is combined with the line's number among eight of 128 bytes.
  return address ^ ((address >> 7 & (line - 1)) << 4);
}

template <typename Element> struct Loader {
  Warp &warp;
  uint32_t type;
  uint32_t site;

  Element convert(uint32_t bits) const;
  /// The elements of one chunk.
  void load(uint32_t offset, Element *elements) const {
    Fiber &fiber = warp.fibers[0];
    const char *chunk = static_cast<const char *>(
        checkAccess(&fiber.thread, fiber.block->shared + offset % kSharedWindow, kChunk, kChunk, 3,
                    CAMEO_SIM_READ, site));
    if (type == CAMEO_SIM_TF32)
      read<uint32_t>(chunk, elements);
    else if (type == CAMEO_SIM_F16 || type == CAMEO_SIM_BF16)
      read<uint16_t>(chunk, elements);
    else
      read<uint8_t>(chunk, elements);
  }
  template <typename Bits> void read(const char *chunk, Element *elements) const {
    Bits bits[kChunk / sizeof(Bits)];
    memcpy(bits, chunk, kChunk);
    for (uint32_t i = 0; i < kChunk / sizeof(Bits); ++i)
      elements[i] = convert(bits[i]);
  }
};

template <> inline float Loader<float>::convert(uint32_t bits) const {
  switch (type) {
  case CAMEO_SIM_F16:
    return f16ToFloat(uint16_t(bits));
  case CAMEO_SIM_BF16:
    return bf16ToFloat(uint16_t(bits));
  case CAMEO_SIM_TF32:
    return tf32ToFloat(bits);
  case CAMEO_SIM_E4M3:
    return e4m3ToFloat(uint8_t(bits));
  default:
    return e5m2ToFloat(uint8_t(bits));
  }
}

template <> inline int32_t Loader<int32_t>::convert(uint32_t bits) const {
  return type == CAMEO_SIM_S8 ? int8_t(bits) : uint8_t(bits);
}

template <typename Element> struct Operands {
  Element a[kRows][kMaxK];
  Element b[kMaxK][kMaxN];
};

/// Rows `first` to `first` + `count` of m or n by `k` of an operand in shared memory.
template <typename Element, typename Set>
void gather(const Loader<Element> &loader, const Descriptor &descriptor, bool transposed,
            uint32_t first, uint32_t count, uint32_t k, uint32_t perChunk, Set set) {
  Element elements[16];
  uint32_t slow = transposed ? 0 : first, slowEnd = transposed ? k : first + count;
  uint32_t fast = transposed ? first : 0, fastEnd = transposed ? first + count : k;
  for (uint32_t row = slow; row < slowEnd; ++row)
    for (uint32_t column = fast; column < fastEnd; column += perChunk) {
      loader.load(chunkOffset(descriptor, transposed, row, column / perChunk), elements);
      for (uint32_t i = 0; i < perChunk; ++i) {
        uint32_t mn = transposed ? column + i : row, inner = transposed ? row : column + i;
        set(mn - first, inner, elements[i]);
      }
    }
}

template <typename Element>
bool loadOperands(Instruction instruction, Warp &warp, uint32_t site, uint32_t n, uint32_t k,
                  Operands<Element> &operands) {
  uint32_t flags = instruction.modifier(4);
  bool registers = flags & CAMEO_SIM_WGMMA_REGISTERS;
  uint32_t perChunk = k / 2, perWord = k / 8;
  Loader<Element> loaderA{warp, instruction.modifier(1), site};
  Loader<Element> loaderB{warp, instruction.modifier(2), site};
  Descriptor b(readWide(warp.words[0] + (registers ? 4 : 2)));
  bool hasBase = b.baseOffset;
  if (registers) {
    // As A of mma: word r of a lane holds row g + 8 (r mod 2).
    for (uint32_t l = 0; l < kLanes; ++l)
      for (uint32_t r = 0; r < 4; ++r)
        for (uint32_t i = 0; i < perWord; ++i) {
          uint32_t bits = warp.words[l][r] >> (perWord == 1 ? 0 : 32 / perWord * i);
          operands.a[l / 4 + 8 * (r % 2)][r / 2 * 4 * perWord + l % 4 * perWord + i] =
              loaderA.convert(perWord == 1   ? bits
                              : perWord == 2 ? bits & 0xffff
                                             : bits & 0xff);
        }
  } else {
    Descriptor a(readWide(warp.words[0]));
    hasBase |= a.baseOffset != 0;
    gather(loaderA, a, flags & CAMEO_SIM_WGMMA_TRANSPOSE_A, warp.id % 4 * kRows, kRows, k, perChunk,
           [&](uint32_t m, uint32_t inner, Element value) { operands.a[m][inner] = value; });
  }
  if (hasBase) {
    reportBadOperand(warp.fibers[0], site,
                     "the simulator knows matrix descriptors with base offset 0 alone");
    return false;
  }
  gather(
      loaderB, b, flags & CAMEO_SIM_WGMMA_TRANSPOSE_B, 0, n, k, perChunk,
      [&](uint32_t column, uint32_t inner, Element value) { operands.b[inner][column] = value; });
  if (flags & CAMEO_SIM_WGMMA_NEGATE_A)
    for (auto &row : operands.a)
      for (Element &value : row)
        value = -value;
  if (flags & CAMEO_SIM_WGMMA_NEGATE_B)
    for (uint32_t inner = 0; inner < k; ++inner)
      for (uint32_t column = 0; column < n; ++column)
        operands.b[inner][column] = -operands.b[inner][column];
  return true;
}

void multiplyFloats(Instruction instruction, Warp &warp, uint32_t site, uint32_t n, uint32_t k) {
  static thread_local Operands<float> operands;
  static thread_local float d[kRows][kMaxN];
  if (!loadOperands(instruction, warp, site, n, k, operands))
    return;
  bool half = instruction.modifier(3) == CAMEO_SIM_F16;
  uint32_t inputs = instruction.modifier(4) & CAMEO_SIM_WGMMA_REGISTERS ? 6 : 4;
  uint32_t sums = half ? n / 4 : n / 2;
  // "Register Fragments": element i of a lane is in row g + 8 (i / 2 mod 2), column 8 (i / 4) + 2t
  // + i mod 2.
  for (uint32_t l = 0; l < kLanes; ++l) {
    const uint32_t *c = warp.words[l] + inputs + 1;
    bool counts = warp.words[l][inputs];
    for (uint32_t i = 0; i < n / 2; ++i) {
      float value = half ? f16ToFloat(uint16_t(c[i / 2] >> 16 * (i % 2))) : floatOf(c[i]);
      d[l / 4 + 8 * (i / 2 % 2)][i / 4 * 8 + l % 4 * 2 + i % 2] = counts ? value : 0;
    }
  }
  for (uint32_t row = 0; row < kRows; ++row)
    for (uint32_t inner = 0; inner < k; ++inner)
      for (uint32_t column = 0; column < n; ++column)
        d[row][column] =
            __builtin_fmaf(operands.a[row][inner], operands.b[inner][column], d[row][column]);
  for (uint32_t l = 0; l < kLanes; ++l) {
    uint32_t *result = warp.words[l] + inputs + 1 + sums;
    for (uint32_t i = 0; i < n / 2; i += 2) {
      const float *pair = &d[l / 4 + 8 * (i / 2 % 2)][i / 4 * 8 + l % 4 * 2];
      if (half) {
        result[i / 2] = floatToF16(pair[0]) | uint32_t(floatToF16(pair[1])) << 16;
      } else {
        result[i] = bitsOf(pair[0]);
        result[i + 1] = bitsOf(pair[1]);
      }
    }
  }
}

void multiplyIntegers(Instruction instruction, Warp &warp, uint32_t site, uint32_t n) {
  constexpr uint32_t k = 32;
  static thread_local Operands<int32_t> operands;
  static thread_local int32_t d[kRows][kMaxN];
  if (!loadOperands(instruction, warp, site, n, k, operands))
    return;
  memset(d, 0, sizeof d);
  for (uint32_t row = 0; row < kRows; ++row)
    for (uint32_t inner = 0; inner < k; ++inner)
      for (uint32_t column = 0; column < n; ++column)
        d[row][column] += operands.a[row][inner] * operands.b[inner][column];
  uint32_t flags = instruction.modifier(4);
  uint32_t inputs = flags & CAMEO_SIM_WGMMA_REGISTERS ? 6 : 4;
  for (uint32_t l = 0; l < kLanes; ++l)
    for (uint32_t i = 0; i < n / 2; ++i) {
      uint32_t *word = warp.words[l] + inputs + 1 + i;
      int64_t sum = d[l / 4 + 8 * (i / 2 % 2)][i / 4 * 8 + l % 4 * 2 + i % 2];
      if (warp.words[l][inputs])
        sum += int32_t(*word);
      if (flags & CAMEO_SIM_WGMMA_SATURATE)
        sum = sum > INT32_MAX ? INT32_MAX : sum < INT32_MIN ? INT32_MIN : sum;
      word[n / 2] = uint32_t(sum);
    }
}

} // namespace

void executeWgmma(Instruction instruction, Warp &warp, uint32_t site) {
  uint32_t n = instruction.modifier(0) * 8, type = instruction.modifier(1);
  if (type == CAMEO_SIM_S8 || type == CAMEO_SIM_U8)
    return multiplyIntegers(instruction, warp, site, n);
  uint32_t k = type == CAMEO_SIM_TF32                            ? 8
               : type == CAMEO_SIM_F16 || type == CAMEO_SIM_BF16 ? 16
                                                                 : 32;
  multiplyFloats(instruction, warp, site, n, k);
}

} // namespace cameo::sim
