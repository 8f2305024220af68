// Matrix products written in tile operations, on the simulator with every check on: all tile shapes
// give the products that a plain loop gives, at sizes that fill tiles and at sizes that do not.
//
// SPDX-License-Identifier: Apache-2.0
#include "test/codegen/MatrixKernels.h"
#include "test/codegen/SimHarness.h"

#include "llvm/ADT/APFloat.h"

#include <gtest/gtest.h>

#include <cmath>

using namespace cameo;
using namespace cameo::test;

namespace {

/// Small integers: sums are exact in any order, and elements exact in 16 bits.
float element(int i) { return static_cast<float>(i * 7 % 11 - 5); }

uint16_t toHalf(float value) {
  llvm::APFloat number(value);
  bool inexact;
  number.convert(llvm::APFloat::IEEEhalf(), llvm::APFloat::rmNearestTiesToEven, &inexact);
  return static_cast<uint16_t>(number.bitcastToAPInt().getZExtValue());
}

template <typename T>
void checkProduct(const TileShape &shape, uint32_t m, uint32_t n, uint32_t k, T (*convert)(float)) {
  SCOPED_TRACE(testing::Message() << shape.tm << "x" << shape.tn << "x" << shape.tk << " for " << m
                                  << "x" << n << "x" << k);
  SimKernels kernels(simtKernel(shape), /*checked=*/true);
  ASSERT_EQ(kernels.error, "");
  std::vector<T> a(m * k), b(k * n);
  for (size_t i = 0; i < a.size(); ++i)
    a[i] = convert(element(static_cast<int>(i)));
  for (size_t i = 0; i < b.size(); ++i)
    b[i] = convert(element(static_cast<int>(3 * i + 1)));
  std::vector<float> y(m * n, NAN);
  const T *pa = kernels.share(a, "a"), *pb = kernels.share(b, "b");
  float *py = kernels.share(y, "y");
  uint32_t blocksM = (m + shape.tm - 1) / shape.tm, blocksN = (n + shape.tn - 1) / shape.tn;
  sim::LaunchResult result = kernels.launch("gemm", blocksM * blocksN, shape.threads(),
                                            {&pa, &pb, &py, &m, &n, &k, &blocksN});
  ASSERT_TRUE(result.ok()) << result.error
                           << (result.reports.empty() ? "" : result.reports.front().text);
  for (uint32_t row = 0; row < m; ++row)
    for (uint32_t col = 0; col < n; ++col) {
      float expected = 0;
      for (uint32_t i = 0; i < k; ++i)
        expected += element(static_cast<int>(row * k + i)) *
                    element(static_cast<int>(3 * (i * n + col) + 1));
      ASSERT_EQ(y[row * n + col], expected) << row << ", " << col;
    }
}

float same(float value) { return value; }

TEST(ExpandTiles, ProductOfWholeTiles) {
  checkProduct({64, 64, 16, 4, 4, 4, 4}, 128, 64, 32, same);
}

TEST(ExpandTiles, ProductOfPartialTiles) {
  checkProduct({64, 64, 16, 4, 4, 4, 4}, 68, 100, 20, same);
  checkProduct({64, 64, 16, 4, 4, 4, 1}, 65, 67, 19, same);
}

TEST(ExpandTiles, OtherShapesOfThreadTiles) {
  checkProduct({128, 64, 8, 8, 8, 4, 4}, 132, 72, 16, same);
  checkProduct({64, 128, 8, 8, 8, 8, 4}, 65, 132, 12, same);
  checkProduct({16, 64, 32, 1, 4, 2, 2}, 17, 70, 34, same);
  // Six rows of a thread are read two at a time; 3 groups of a thread do not fill its last round.
  checkProduct({48, 48, 20, 6, 6, 1, 4}, 50, 52, 24, same);
}

TEST(ExpandTiles, CopiesOfManyRounds) { checkProduct({64, 64, 32, 8, 8, 8, 1}, 65, 66, 33, same); }

TEST(ExpandTiles, HalvesAreWidenedAsTheyAreMultiplied) {
  checkProduct({64, 64, 16, 4, 4, 4, 8, "f16"}, 72, 64, 24, toHalf);
}

} // namespace
