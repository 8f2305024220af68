// Numbers that are read ==> sums of their products.
//
// SPDX-License-Identifier: Apache-2.0
#include "codegen/calibrate/SecondMoments.h"

#include <array>

using namespace cameo;

/// Results at a time: their sums stay in 32 bits, and two tiles of rows in the first-level cache.
static constexpr int64_t kBlock = 512, kTile = 16;

SecondMoments::SecondMoments(const ProductRead &read)
    : read(read), rows(read.depth()), sums(read.groups * triangle(), 0) {}

bool SecondMoments::isOf(const ProductRead &other) const {
  return read.tap == other.tap && read.channels == other.channels && read.groups == other.groups &&
         read.window == other.window;
}

/// Rows of Gemms and matrix products are samples of one place.
void SecondMoments::findOffsets(llvm::ArrayRef<int64_t> added) {
  if (added == llvm::ArrayRef(shape))
    return;
  shape.assign(added.begin(), added.end());
  plane = resultsOfSample = 1;
  int64_t samples = 1;
  if (!read.window) {
    for (int64_t size : added.drop_back())
      samples *= size;
    offsets.assign(1, 0);
    results = samples;
    return;
  }
  llvm::ArrayRef<int64_t> sizes = added.drop_front(2);
  llvm::SmallVector<int64_t> counts;
  for (auto [axis, size] : llvm::enumerate(sizes)) {
    counts.push_back(read.window->results(axis, size));
    plane *= size;
    resultsOfSample *= counts.back();
  }
  results = added[0] * resultsOfSample;
  int64_t places = read.window->places();
  offsets.resize(places * resultsOfSample);
  for (int64_t i = 0; i < int64_t(offsets.size()); ++i) {
    int64_t place = i / resultsOfSample, result = i % resultsOfSample, offset = 0, inner = 1;
    for (int64_t axis = sizes.size() - 1; axis >= 0; --axis) {
      int64_t at = result % counts[axis] * read.window->strides[axis] +
                   place % read.window->sizes[axis] * read.window->dilations[axis] -
                   read.window->padsBefore[axis];
      result /= counts[axis];
      place /= read.window->sizes[axis];
      offset = offset < 0 || at < 0 || at >= sizes[axis] ? -1 : offset + at * inner;
      inner *= sizes[axis];
    }
    offsets[i] = offset;
  }
}

/// What one weight of all output channels is multiplied with, for results from `first` on; zeros
/// behind the last one.
void SecondMoments::gather(llvm::ArrayRef<int8_t> numbers, int64_t first, int64_t row) {
  int64_t places = int64_t(offsets.size()) / resultsOfSample;
  int64_t channel = row / places;
  const int64_t *offset = offsets.data() + row % places * resultsOfSample;
  int16_t *to = block.data() + row * kBlock;
  int64_t count = std::min(kBlock, results - first);
  int64_t sample = first / resultsOfSample, at = first % resultsOfSample;
  for (int64_t i = 0; i < count; ++i) {
    int64_t from = offset[at];
    to[i] = from < 0 ? 0 : numbers[(sample * read.channels + channel) * plane + from];
    if (++at == resultsOfSample) {
      at = 0;
      ++sample;
    }
  }
  std::fill(to + count, to + kBlock, 0);
}

/// Products of one row with four, over a block: each of its numbers is loaded once.
[[gnu::always_inline]] static inline std::array<int32_t, 4>
dotsBody(const int16_t *row, const std::array<const int16_t *, 4> &others) {
  const auto [a, b, c, d] = others;
  int32_t ofA = 0, ofB = 0, ofC = 0, ofD = 0;
  for (int64_t i = 0; i < kBlock; ++i) {
    ofA += int32_t(row[i]) * a[i];
    ofB += int32_t(row[i]) * b[i];
    ofC += int32_t(row[i]) * c[i];
    ofD += int32_t(row[i]) * d[i];
  }
  return {ofA, ofB, ofC, ofD};
}

using Dots = std::array<int32_t, 4> (*)(const int16_t *, const std::array<const int16_t *, 4> &);

static std::array<int32_t, 4> dots(const int16_t *row,
                                   const std::array<const int16_t *, 4> &others) {
  return dotsBody(row, others);
}

#ifdef __x86_64__
[[gnu::target("avx2")]] static std::array<int32_t, 4>
dotsAvx2(const int16_t *row, const std::array<const int16_t *, 4> &others) {
  return dotsBody(row, others);
}
static Dots fastestDots() { return __builtin_cpu_supports("avx2") ? dotsAvx2 : dots; }
#else
static Dots fastestDots() { return dots; }
#endif

/// Of some rows with all before them.
void SecondMoments::addTile(int64_t group, int64_t from) {
  Dots multiply = fastestDots();
  const int16_t *first = block.data() + group * rows * kBlock;
  int64_t *to = sums.data() + group * triangle();
  int64_t end = std::min(from + kTile, rows);
  for (int64_t other = 0; other < end; other += kTile)
    for (int64_t i = std::max(from, other); i < end; ++i) {
      int64_t last = std::min(i, other + kTile - 1);
      for (int64_t j = other; j <= last; j += 4) {
        std::array<const int16_t *, 4> others;
        for (int64_t k = 0; k < 4; ++k)
          others[k] = first + std::min(j + k, last) * kBlock;
        std::array<int32_t, 4> found = multiply(first + i * kBlock, others);
        for (int64_t k = 0; k < 4 && j + k <= last; ++k)
          to[i * (i + 1) / 2 + j + k] += found[k];
      }
    }
}

/// Calls `work` with each number below `count`. The last ones of a triangle are the longest, so
/// threads take turns.
static void inTurns(int64_t count, llvm::ThreadPoolInterface &threads,
                    llvm::function_ref<void(int64_t)> work) {
  int64_t parts = std::min<int64_t>(count, threads.getMaxConcurrency());
  for (int64_t part = 1; part < parts; ++part)
    threads.async([=] {
      for (int64_t i = part; i < count; i += parts)
        work(i);
    });
  for (int64_t i = 0; i < count; i += parts)
    work(i);
  threads.wait();
}

void SecondMoments::add(llvm::ArrayRef<int8_t> numbers, llvm::ArrayRef<int64_t> added,
                        llvm::ThreadPoolInterface &threads) {
  findOffsets(added);
  block.resize(read.groups * rows * kBlock);
  int64_t tiles = (rows + kTile - 1) / kTile;
  for (int64_t first = 0; first < results; first += kBlock) {
    inTurns(read.groups * rows, threads, [&](int64_t row) { gather(numbers, first, row); });
    inTurns(read.groups * tiles, threads,
            [&](int64_t i) { addTile(i / tiles, i % tiles * kTile); });
  }
  block = {}; // of many products, only one is added at a time
}
