// Matrix products by SIMT threads, mma.sync and wgmma: right on the simulator, in both forms with
// the same bits.
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
float element(uint32_t i) { return static_cast<float>(i * 7 % 11) - 5; }

uint16_t toHalf(float value) {
  llvm::APFloat number(value);
  bool inexact;
  number.convert(llvm::APFloat::IEEEhalf(), llvm::APFloat::rmNearestTiesToEven, &inexact);
  return static_cast<uint16_t>(number.bitcastToAPInt().getZExtValue());
}

void checkProduct(const std::string &text, const MatrixTile &tile, const char *target,
                  bool checked) {
  SimKernels kernels(text, checked, target, sim::Form::Compare);
  ASSERT_EQ(kernels.error, "");
  EXPECT_TRUE(kernels.image->find("gemm")->warp_entry);
  uint32_t m = 2 * tile.m, n = 2 * tile.n, k = 3 * tile.k;
  std::vector<uint16_t> a(m * k), b(n * k);
  for (uint32_t i = 0; i < a.size(); ++i)
    a[i] = toHalf(element(i));
  for (uint32_t i = 0; i < b.size(); ++i)
    b[i] = toHalf(element(3 * i + 1));
  std::vector<float> y(m * n, NAN);
  const uint16_t *pa = kernels.share(a, "a"), *pb = kernels.share(b, "b");
  float *py = kernels.share(y, "y");
  sim::LaunchResult result =
      kernels.launch("gemm", m / tile.m * (n / tile.n), tile.threads, {&pa, &pb, &py, &n, &k});
  ASSERT_TRUE(result.ok()) << result.error
                           << (result.reports.empty() ? "" : result.reports.front().text);
  for (uint32_t row = 0; row < m; ++row)
    for (uint32_t column = 0; column < n; ++column) {
      float expected = 0;
      for (uint32_t i = 0; i < k; ++i)
        expected += element(row * k + i) * element(3 * (column * k + i) + 1);
      ASSERT_EQ(y[row * n + column], expected) << row << ", " << column;
    }
}

TEST(SimMatrix, ProductByMma) { checkProduct(mmaKernel(), kMmaTile, "sm_80", false); }
TEST(SimMatrix, ProductByMmaChecked) { checkProduct(mmaKernel(), kMmaTile, "sm_80", true); }
TEST(SimMatrix, ProductByWgmma) { checkProduct(wgmmaKernel(), kWgmmaTile, "sm_90a", false); }
TEST(SimMatrix, ProductByWgmmaChecked) { checkProduct(wgmmaKernel(), kWgmmaTile, "sm_90a", true); }

/// The first report on the kernel by wgmma after its line `line`, counted among lines with the same
/// text, has been left out; in either form.
std::string reportWithout(const std::string &line, int number, sim::Form form) {
  std::string text = wgmmaKernel();
  size_t at = text.find(line);
  for (; number; --number)
    at = text.find(line, at + 1);
  EXPECT_NE(at, std::string::npos) << line;
  text.erase(at, text.find('\n', at) - at);
  // The sums are waited for, or compiling would be an error already.
  text.insert(text.rfind('\n', text.find("llvm.store", text.rfind("wgmma.mma_async"))),
              "\nkernel.ptx \"wgmma.commit_group.sync.aligned\"() : () -> ()"
              "\nkernel.ptx \"wgmma.wait_group.sync.aligned 0\"() : () -> ()");
  SimKernels kernels(text, /*checked=*/true, "sm_90a", form);
  EXPECT_EQ(kernels.error, "");
  if (!kernels.error.empty())
    return kernels.error;
  uint32_t m = kWgmmaTile.m, n = kWgmmaTile.n, k = 2 * kWgmmaTile.k;
  std::vector<uint16_t> a(m * k), b(n * k);
  std::vector<float> y(m * n);
  const uint16_t *pa = kernels.share(a, "a"), *pb = kernels.share(b, "b");
  float *py = kernels.share(y, "y");
  sim::LaunchResult result = kernels.launch("gemm", 1, kWgmmaTile.threads, {&pa, &pb, &py, &n, &k});
  return result.reports.empty() ? result.error : result.reports.front().text;
}

TEST(SimMatrix, FindsWhatWgmmaMisses) {
  struct {
    const char *line;
    int number;
    const char *report;
  } const misses[] = {
      {"kernel.ptx \"fence.proxy.async\"", 0, "no fence.proxy.async after the write by block"},
      {"nvvm.barrier0", 0, "race on shared memory"},
      {"nvvm.barrier0", 1, "race on shared memory"},
      {"kernel.ptx \"wgmma.fence", 0, "no wgmma.fence precedes the warp's first wgmma"},
      {"kernel.ptx \"wgmma.commit_group", 0, "not ordered after the read by the wgmma of block"},
      {"kernel.ptx \"wgmma.wait_group", 0, "not ordered after the read by the wgmma of block"}};
  for (sim::Form form : {sim::Form::Warp, sim::Form::Thread})
    for (const auto &miss : misses) {
      std::string report = reportWithout(miss.line, miss.number, form);
      EXPECT_NE(report.find(miss.report), std::string::npos) << miss.line << "\n" << report;
    }
}

/// Where the compiler's objects happen to lie in memory must not show in the code.
TEST(SimMatrix, ImagesAreReproducible) {
  llvm::SmallVector<char> first;
  std::vector<std::unique_ptr<char[]>> gaps; // so that it is not the same memory each time
  for (size_t run = 0; run < 8; ++run) {
    SimKernels kernels(mmaKernel(), /*checked=*/true);
    ASSERT_EQ(kernels.error, "");
    if (run == 0)
      first = kernels.code;
    EXPECT_TRUE(kernels.code == first) << "run " << run;
    for (size_t bytes = 16; bytes < 600; bytes += 16 * (run + 1))
      gaps.emplace_back(new char[bytes]);
  }
}

TEST(SimMatrix, FormsOfSimtProductsAgree) {
  for (TileShape shape : {TileShape{64, 64, 16, 4, 4, 4, 4}, TileShape{128, 128, 8, 8, 8, 4, 4}}) {
    SimKernels kernels(simtKernel(shape), /*checked=*/false, "sm_80", sim::Form::Compare);
    ASSERT_EQ(kernels.error, "");
    EXPECT_TRUE(kernels.image->find("gemm")->warp_entry);
    uint32_t m = 70, n = 132, k = 20, blocksN = (n + shape.tn - 1) / shape.tn;
    std::vector<float> a(m * k), b(k * n), y(m * n, NAN);
    for (uint32_t i = 0; i < a.size(); ++i)
      a[i] = 1.0f / float(i + 1);
    for (uint32_t i = 0; i < b.size(); ++i)
      b[i] = 1.0f / float(2 * i + 1);
    const float *pa = kernels.share(a, "a"), *pb = kernels.share(b, "b");
    float *py = kernels.share(y, "y");
    sim::LaunchResult result =
        kernels.launch("gemm", (m + shape.tm - 1) / shape.tm * blocksN, shape.threads(),
                       {&pa, &pb, &py, &m, &n, &k, &blocksN});
    EXPECT_TRUE(result.ok()) << result.error;
    EXPECT_FALSE(std::isnan(y.back()));
  }
}

} // namespace
