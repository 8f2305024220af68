// #kernel.staged: no two lanes that access shared memory at once use one bank for different words.
//
// SPDX-License-Identifier: Apache-2.0
#include "dialects/kernel/Kernel.h"

#include <gtest/gtest.h>

#include <functional>
#include <set>

using cameo::kernel::StagedAttr;

namespace {

/// The byte of an element that is `byte` bytes from the rectangle's begin, in row-major order.
int64_t placeOf(int64_t byte) { return byte ^ StagedAttr::getExchange(byte / 128) * 16; }

/// Lanes access `bytes` bytes each, 128 of them at once.
void checkLanes(int64_t bytes, const std::function<int64_t(int64_t)> &byteOf) {
  for (int64_t first = 0; first < 32; first += 128 / bytes) {
    std::set<int64_t> banks;
    for (int64_t lane = first; lane < std::min<int64_t>(first + 128 / bytes, 32); ++lane)
      for (int64_t word = 0; word < bytes; word += 4)
        banks.insert((placeOf(byteOf(lane)) + word) % 128);
    EXPECT_EQ(int64_t(banks.size()), std::min<int64_t>(128 / bytes, 32) * bytes / 4);
  }
}

class StagedLayout : public testing::TestWithParam<std::tuple<int64_t, int64_t>> {
protected:
  int64_t columns = std::get<0>(GetParam()), element = std::get<1>(GetParam());
  int64_t line = columns * element;
};

TEST_P(StagedLayout, AccumulatorsAreWrittenWithoutConflicts) {
  for (int64_t row : {0, 8})
    for (int64_t column = 0; column < columns; column += 8)
      checkLanes(2 * element, [&](int64_t lane) {
        return (row + lane / 4) * line + (column + lane % 4 * 2) * element;
      });
}

TEST_P(StagedLayout, PairsOfAccumulatorsAreWrittenWithoutConflicts) {
  // First row of a warp, and how far the rows of groups of lanes are apart.
  for (auto [row, apart] : {std::pair(0, 1), {8, 1}, {0, 2}, {1, 2}})
    for (int64_t column = 0; column < columns; column += 16)
      checkLanes(4 * element, [&, row = row, apart = apart](int64_t lane) {
        return (row + lane / 4 * apart) * line + (column + lane % 4 * 4) * element;
      });
}

TEST_P(StagedLayout, RowsAreReadWithoutConflicts) {
  for (int64_t bytes = 16; bytes <= 64 && bytes <= line; bytes *= 2) // of a lane
    for (int64_t first = 0; first < 16 * line; first += 32 * bytes)
      for (int64_t piece = 0; piece < bytes; piece += 16)
        checkLanes(16, [&](int64_t lane) { return first + lane * bytes + piece; });
}

INSTANTIATE_TEST_SUITE_P(Sizes, StagedLayout,
                         testing::Combine(testing::Values(16, 32, 64, 128, 256),
                                          testing::Values(2, 4)));

TEST(StagedLayoutPieces, ExchangeIsLinear) {
  for (int64_t a = 0; a < 64; ++a)
    for (int64_t b = 0; b < 64; ++b)
      EXPECT_EQ(StagedAttr::getExchange(a) ^ StagedAttr::getExchange(b),
                StagedAttr::getExchange(a ^ b));
}

} // namespace
