// wgmma.mma_async (PTX ISA, "Asynchronous Warpgroup Level Matrix Instructions").
//
// A warp computes its 16 rows of D from its 16 rows of A and all of B, when it issues the
// instruction: results are there before the wait, and what is written to shared memory in between
// is not seen. Products and sums as in tiles.h; the GPU's sums of 8-bit floats have fewer
// bits.
//
// SPDX-License-Identifier: Apache-2.0
#include "runtime/sim/exec/worker.h"
#include "runtime/sim/isa/instruct.h"
#include "runtime/sim/isa/tiles.h"

namespace cameo::sim {
namespace {

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

/// Operands of one instruction of one warp: its 16 rows of A, and B, as floats or pairs of 16-bit
/// integers; B's columns in the order of tiles.h.
constexpr uint32_t kMaxN = 256, kSlots = kTileDepth; // a pair of integers is one slot
struct Operands {
  alignas(32) float a[kTileRows][kSlots];
  alignas(32) float b[kSlots][kMaxN];
};

/// Where to read a chunk of an operand, of which `writers` says who wrote those before. Keeps its
/// hands off the loader, so that the compiler can hold that in registers.
__attribute__((noinline)) const char *checkChunk(Fiber &fiber, char *chunk, uint32_t operation,
                                                 uint32_t site, AsyncOperations::Writers *writers) {
  Worker &worker = *fiber.block->worker;
  const uint64_t place = uint64_t(chunk - fiber.block->shared);
  const uint64_t offset = worker.sharedOffset(chunk);
  auto isInitialised = [&] {
    uint64_t marks[2];
    memcpy(marks, worker.shadow.initialised.get() + offset, sizeof marks);
    return (marks[0] & marks[1]) == 0x0101010101010101ull;
  };
  if (!fiber.block->counting && place + kChunk <= worker.state->sharedBytes &&
      (!(worker.checks & kCheckInit) || isInitialised()) &&
      (!operation || worker.async.tryKnownOrder(fiber, operation, offset, *writers)))
    return chunk;
  return checkAsyncAccess(fiber, operation, chunk, kChunk, kChunk, 3, CAMEO_SIM_READ, site);
}

class Loader {
public:
  Loader(Instruction instruction, Warp &warp, Rows rows, uint32_t site, uint32_t operation,
         AsyncOperations::Writers *writers)
      : instruction_(instruction), warp_(warp), rows_(rows), site_(site), operation_(operation),
        writers_(writers), n_(instruction.modifier(0) * 8), type_(instruction.modifier(1)),
        integers_(type_ == CAMEO_SIM_S8 || type_ == CAMEO_SIM_U8),
        perChunk_(type_ == CAMEO_SIM_TF32                             ? 4
                  : type_ == CAMEO_SIM_F16 || type_ == CAMEO_SIM_BF16 ? 8
                                                                      : 16) {}

  uint32_t n() const { return n_; }
  bool integers() const { return integers_; }
  /// Floats, or pairs of integers, along k: two chunks of an operand row.
  uint32_t depth() const { return integers_ ? perChunk_ : 2 * perChunk_; }

  /// False if a descriptor is not one that the simulator knows.
  bool load(Operands &operands) {
    uint32_t flags = instruction_.modifier(4);
    bool registers = flags & CAMEO_SIM_WGMMA_REGISTERS;
    Descriptor b = descriptor(registers ? 4 : 2);
    bool hasBase = b.baseOffset;
    if (registers) {
      // As A of mma: 16 bytes of row g + 8 (r mod 2) in the words r of lanes 4g to 4g + 3.
      for (uint32_t r = 0; r < 4; ++r)
        for (uint32_t g = 0; g < 8; ++g)
          decode(type_, rows_[r] + 4 * g, &operands.a[g + 8 * (r % 2)][r / 2 * slots()]);
    } else {
      Descriptor a = descriptor(0);
      hasBase |= a.baseOffset != 0;
      uint32_t first = warp_.id % 4 * kTileRows;
      if (flags & CAMEO_SIM_WGMMA_TRANSPOSE_A) {
        float chunk[16];
        for (uint32_t k = 0; k < depth(); ++k)
          for (uint32_t m = 0; m < kTileRows; m += perChunk_) {
            decode(type_, chunkAt(a, true, k, (first + m) / perChunk_), chunk);
            for (uint32_t i = 0; i < perChunk_; ++i)
              operands.a[m + i][k] = chunk[i];
          }
      } else {
        for (uint32_t m = 0; m < kTileRows; ++m)
          for (uint32_t half = 0; half < 2; ++half)
            decode(type_, chunkAt(a, false, first + m, half), &operands.a[m][half * slots()]);
      }
    }
    if (hasBase) {
      reportBadOperand(warp_.fibers[0], site_,
                       "the simulator knows matrix descriptors with base offset 0 alone");
      return false;
    }
    loadB(b, flags & CAMEO_SIM_WGMMA_TRANSPOSE_B, operands);
    if (flags & CAMEO_SIM_WGMMA_NEGATE_A)
      for (auto &row : operands.a)
        for (float &value : row)
          value = -value;
    if (flags & CAMEO_SIM_WGMMA_NEGATE_B)
      for (uint32_t k = 0; k < depth(); ++k)
        for (uint32_t column = 0; column < n_; ++column)
          operands.b[k][column] = -operands.b[k][column];
    return true;
  }

private:
  Descriptor descriptor(uint32_t word) const {
    return Descriptor(*rows_[word] | uint64_t(*rows_[word + 1]) << 32);
  }
  /// Slots of one chunk.
  uint32_t slots() const { return depth() / 2; }

  void decode(uint32_t type, const void *chunk, float *to) const {
    if (!integers_)
      return decodeFloats(type, chunk, 1, to);
    int16_t numbers[16];
    decodeIntegers(type, chunk, 1, numbers);
    memcpy(to, numbers, sizeof numbers);
  }

  const char *chunkAt(const Descriptor &descriptor, bool transposed, uint32_t slow,
                      uint32_t fast) const {
    const Block &block = *warp_.block;
    char *chunk = block.shared + chunkOffset(descriptor, transposed, slow, fast) % kSharedWindow;
    if (!(block.worker->checks & kCheckMemory) && !block.counting)
      return chunk;
    return checkChunk(warp_.fibers[0], chunk, operation_, site_, writers_);
  }

  /// Eight columns at a time.
  void loadB(const Descriptor &b, bool transposed, Operands &operands) const {
    uint32_t type = instruction_.modifier(2);
    if (transposed) { // a chunk goes along n; only 16-bit types lie so
      float chunk[16];
      for (uint32_t k = 0; k < depth(); ++k)
        for (uint32_t column = 0; column < n_; column += perChunk_) {
          decode(type, chunkAt(b, true, k, column / perChunk_), chunk);
          for (uint32_t j = 0; j < kTileColumns; ++j)
            operands.b[k][column + j] = chunk[kColumnOrder[j]];
        }
      return;
    }
    alignas(32) float columns[kTileColumns][kSlots];
    for (uint32_t column = 0; column < n_; column += kTileColumns) {
      for (uint32_t j = 0; j < kTileColumns; ++j)
        for (uint32_t half = 0; half < 2; ++half)
          decode(type, chunkAt(b, false, column + j, half), &columns[j][half * slots()]);
      turnColumns(columns[0], kSlots, depth(), operands.b[0] + column, kMaxN);
    }
  }

  Instruction instruction_;
  Warp &warp_;
  Rows rows_;
  uint32_t site_;
  uint32_t operation_;                // AsyncOperations
  AsyncOperations::Writers *writers_; // of what was read so far
  uint32_t n_, type_;
  bool integers_;
  uint32_t perChunk_;
};

/// "Register Fragments": element i of a lane is in row g + 8 (i / 2 mod 2), column 8 (i / 4) + 2t +
/// i mod 2. So each 8 columns lie as C and D of mma do.
struct Fragment {
  bool half; // f16: two elements a word
  Rows rows;
  uint32_t first; // of the first 8 columns
  uint32_t *at(uint32_t column, uint32_t h, uint32_t g) const {
    return rows[first + (half ? 2 : 4) * (column / 8) + (half ? h : 2 * h)] + 4 * g;
  }
  uint32_t *odd(uint32_t column, uint32_t h, uint32_t g) const {
    return rows[first + 4 * (column / 8) + 2 * h + 1] + 4 * g;
  }
  __m256 load(uint32_t column, uint32_t h, uint32_t g) const {
    return half ? loadHalves(at(column, h, g)) : loadPair(at(column, h, g), odd(column, h, g));
  }
  void store(uint32_t column, uint32_t h, uint32_t g, __m256 values) const {
    if (half)
      storeHalves(at(column, h, g), values);
    else
      storePair(at(column, h, g), odd(column, h, g), values);
  }
};

} // namespace

uint32_t wgmmaWords(Instruction instruction) {
  uint32_t first, sums = cameoSimSums(instruction.code, &first);
  return first + 2 * sums;
}

void executeWgmma(Instruction instruction, Warp &warp, Rows rows, uint32_t site) {
  static thread_local Operands operands;
  uint32_t first, sums = cameoSimSums(instruction.code, &first);
  // The accumulator counts, or is taken for zero, for the whole warpgroup.
  bool counts = *rows[first - 1];
  auto descriptor = [&](uint32_t word) { return *rows[word] | uint64_t(*rows[word + 1]) << 32; };
  bool registers = instruction.modifier(4) & CAMEO_SIM_WGMMA_REGISTERS;
  uint32_t operation = warp.block->worker->async.issueWgmma(
      warp, {instruction.code,
             {registers ? 0 : descriptor(0), descriptor(registers ? 4 : 2), counts},
             site,
             warp.id});
  AsyncOperations::Writers writers;
  Loader loader(instruction, warp, rows, site, operation, &writers);
  if (!loader.load(operands))
    return;
  bool saturate = instruction.modifier(4) & CAMEO_SIM_WGMMA_SATURATE;
  bool half = instruction.modifier(3) == CAMEO_SIM_F16;
  Fragment c{half, rows, first}, d{half, rows, first + sums};
  for (uint32_t column = 0; column < loader.n(); column += kTileColumns)
    for (uint32_t h = 0; h < 2; ++h) {
      if (loader.integers()) {
        __m256i sums[8] = {};
        multiplyTile(reinterpret_cast<const int32_t *>(operands.a[8 * h]), kSlots,
                     reinterpret_cast<const int32_t *>(operands.b[0] + column), kMaxN,
                     loader.depth(), sums);
        for (uint32_t g = 0; g < 8; ++g) {
          __m256i before =
              counts ? _mm256_castps_si256(c.load(column, h, g)) : _mm256_setzero_si256();
          d.store(column, h, g, _mm256_castsi256_ps(addSums(before, sums[g], saturate)));
        }
        continue;
      }
      __m256 sums[8];
      for (uint32_t g = 0; g < 8; ++g)
        sums[g] = counts ? c.load(column, h, g) : _mm256_setzero_ps();
      multiplyTile(operands.a[8 * h], kSlots, operands.b[0] + column, kMaxN, loader.depth(), sums);
      for (uint32_t g = 0; g < 8; ++g)
        d.store(column, h, g, sums[g]);
    }
}

} // namespace cameo::sim
