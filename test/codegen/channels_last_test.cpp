// Transpositions, and kernels of tensors whose channels are innermost: the dispatches of the lit
// tests, run on the simulator with all its checks.
//
// SPDX-License-Identifier: Apache-2.0
#include "test/codegen/SimHarness.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <functional>
#include <numeric>

using namespace cameo;
using namespace cameo::test;

namespace {

template <typename T> std::vector<T> counted(size_t count) {
  std::vector<T> result(count);
  std::iota(result.begin(), result.end(), T(1));
  return result;
}

/// Launches the one kernel of a variant with these tensors, which the checks know.
template <typename... T>
void run(const char *file, const char *variant, const char *schedule, unsigned blocks,
         std::vector<T> &...tensors) {
  SimKernels kernels(variantOf(file, variant), true);
  ASSERT_EQ(kernels.error, "");
  ASSERT_EQ(kernels.planned.size(), 1u);
  EXPECT_EQ(kernels.planned[0].schedule, schedule);
  std::vector<const void *> pointers{kernels.share(tensors, "tensor")...}, parameters;
  for (const void *&pointer : pointers)
    parameters.push_back(&pointer);
  sim::LaunchResult launched = kernels.launchPlanned(0, parameters, blocks);
  EXPECT_TRUE(launched.ok()) << launched.error;
}

//===-- transpose -----------------------------------------------------------------------------===//

/// Element i of the result is element `from(i)` of `count`.
template <typename T>
void expectMoved(const char *variant, size_t count, const std::function<size_t(size_t)> &from) {
  SCOPED_TRACE(variant);
  std::vector<T> x = counted<T>(count), y(count), wanted(count);
  for (size_t i = 0; i < count; ++i)
    wanted[i] = x[from(i)];
  run("transpose-schedule.mlir", variant, "transpose", 0, x, y);
  EXPECT_EQ(y, wanted);
}

TEST(Transposes, EveryWidthIsMoved) {
  expectMoved<float>("matrix", 7200, [](size_t i) { return i % 100 * 72 + i / 100; });
  expectMoved<int8_t>("bytes", 130 * 192, [](size_t i) { return i % 130 * 192 + i / 130; });
  expectMoved<double>("doubles", 3000, [](size_t i) { return i % 50 * 60 + i / 50; });
  expectMoved<uint16_t>("heads", 3 * 4 * 64 * 40, [](size_t i) {
    size_t s = i % 40, d = i / 40 % 64, h = i / 2560 % 4, b = i / 10240;
    return ((b * 40 + s) * 4 + h) * 64 + d;
  });
}

TEST(Transposes, DimensionsThatAreOneInMemoryAreMoved) {
  expectMoved<float>("back", 2 * 24 * 196,
                     [](size_t i) { return (i / (24 * 196) * 196 + i % 196) * 24 + i / 196 % 24; });
  expectMoved<float>("tokens", 2 * 49 * 96,
                     [](size_t i) { return (i / (49 * 96) * 96 + i % 96) * 49 + i / 96 % 49; });
}

TEST(Transposes, WorkOnTheWayReadsOtherOperands) {
  std::vector<float> x = randomFloats(2 * 24 * 196), s = randomFloats(24),
                     r = randomFloats(2 * 196 * 24), y = unwritten(r.size());
  run("transpose-schedule.mlir", "image", "transpose", 0, x, s, r, y);
  std::vector<double> wanted;
  for (size_t i = 0; i < r.size(); ++i)
    wanted.push_back(double(x[(i / (24 * 196) * 24 + i % 24) * 196 + i / 24 % 196]) + s[i % 24] +
                     r[i]);
  expectNear(y, wanted);
}

TEST(Transposes, OperandsOfUnlikeTypesHaveTiles) {
  // Halves of 1.0 and 2.0.
  std::vector<float> x = randomFloats(80 * 64), y = unwritten(80 * 64);
  std::vector<uint16_t> factors(80 * 128);
  for (size_t i = 0; i < factors.size(); ++i)
    factors[i] = i % 3 == 0 ? 0x3c00 : 0x4000;
  run("transpose-schedule.mlir", "scaled", "transpose", 0, x, factors, y);
  std::vector<double> wanted;
  for (size_t i = 0; i < y.size(); ++i)
    wanted.push_back(x[i % 80 * 64 + i / 80] * ((i % 80 * 128 + 64 + i / 80) % 3 == 0 ? 1.0 : 2.0));
  expectNear(y, wanted);
}

TEST(Transposes, SizesOfRunTime) {
  for (size_t rows : {1, 33, 100}) {
    SimKernels kernels(variantOf("transpose-schedule.mlir", "open"), true);
    ASSERT_EQ(kernels.error, "");
    std::vector<float> x = randomFloats(rows * 96), y = unwritten(rows * 96);
    const float *a = kernels.share(x, "x");
    float *b = kernels.share(y, "y");
    int32_t size = rows;
    sim::LaunchResult launched =
        kernels.launchPlanned(0, {&a, &b, &size, &size}, 3 * ((rows + 31) / 32));
    ASSERT_TRUE(launched.ok()) << launched.error;
    for (size_t i = 0; i < y.size(); ++i)
      ASSERT_EQ(y[i], x[i % rows * 96 + i / rows]) << "element " << i << " of " << rows << " rows";
  }
}

//===-- channels last -------------------------------------------------------------------------===//

struct Image {
  int count, rows, columns, channels;
  size_t at(int n, int y, int x, int c) const {
    return ((size_t(n) * rows + y) * columns + x) * channels + c;
  }
  size_t size() const { return at(count, 0, 0, 0); }
};

/// `fn` for each element of `out`, in order.
void forEach(const Image &out, const std::function<void(int, int, int, int)> &fn) {
  for (int n = 0; n < out.count; ++n)
    for (int y = 0; y < out.rows; ++y)
      for (int x = 0; x < out.columns; ++x)
        for (int c = 0; c < out.channels; ++c)
          fn(n, y, x, c);
}

/// Sums of 3 x 3 taps, one weight a channel and tap, with a padding of 1.
std::vector<double> depthwise(const Image &in, const Image &out, int stride,
                              const std::vector<float> &x, const std::vector<float> &w) {
  std::vector<double> result;
  forEach(out, [&](int n, int y, int column, int c) {
    double sum = 0;
    for (int tap = 0; tap < 9; ++tap) {
      int r = y * stride + tap / 3 - 1, s = column * stride + tap % 3 - 1;
      if (r >= 0 && r < in.rows && s >= 0 && s < in.columns)
        sum += double(x[in.at(n, r, s, c)]) * w[tap * in.channels + c];
    }
    result.push_back(sum);
  });
  return result;
}

TEST(ChannelsLast, DepthwiseConvolutionsAreComputed) {
  Image image{4, 16, 16, 128};
  std::vector<float> x = randomFloats(image.size()), w = randomFloats(9 * 128),
                     y = unwritten(image.size());
  run("channels-last.mlir", "depthwise", "window", 0, x, w, y);
  expectNear(y, depthwise(image, image, 1, x, w));
}

TEST(ChannelsLast, GroupsOfOneChannelAreComputed) {
  Image in{4, 15, 15, 160}, out{4, 8, 8, 160};
  std::vector<float> x = randomFloats(in.size()), w = randomFloats(9 * 160),
                     bias = randomFloats(160), y = unwritten(out.size());
  run("channels-last.mlir", "grouped", "window", 0, x, w, bias, y);
  std::vector<double> wanted = depthwise(in, out, 2, x, w);
  for (size_t i = 0; i < wanted.size(); ++i)
    wanted[i] += bias[i % 160];
  expectNear(y, wanted);
}

TEST(ChannelsLast, PoolsAreComputed) {
  Image in{8, 20, 20, 256}, out{8, 10, 10, 256};
  std::vector<uint16_t> x(in.size()), y(out.size()), wanted; // positive halves, in order
  for (size_t i = 0; i < x.size(); ++i)
    x[i] = 0x3c00 + i * 7919 % 1024;
  forEach(out, [&](int n, int row, int column, int c) {
    uint16_t most = 0;
    for (int r = std::max(2 * row - 1, 0); r < 2 * row + 2; ++r)
      for (int s = std::max(2 * column - 1, 0); s < 2 * column + 2; ++s)
        most = std::max(most, x[in.at(n, r, s, c)]);
    wanted.push_back(most);
  });
  run("channels-last.mlir", "pool", "window", 0, x, y);
  EXPECT_EQ(y, wanted);
}

TEST(ChannelsLast, WindowsApartAreComputed) {
  Image in{2, 8, 8, 27}, out{2, 4, 4, 27};
  std::vector<float> x = randomFloats(in.size()), y = unwritten(out.size());
  std::vector<double> wanted;
  forEach(out, [&](int n, int r, int s, int c) {
    wanted.push_back(double(x[in.at(n, 2 * r, 2 * s, c)]) + x[in.at(n, 2 * r, 2 * s + 1, c)] +
                     x[in.at(n, 2 * r + 1, 2 * s, c)] + x[in.at(n, 2 * r + 1, 2 * s + 1, c)]);
  });
  run("channels-last.mlir", "apart", "window", 0, x, y);
  expectNear(y, wanted);
}

TEST(ChannelsLast, MeansAreComputed) {
  std::vector<float> x = randomFloats(2 * 49 * 256), y = unwritten(2 * 256);
  std::vector<double> wanted(2 * 256);
  for (size_t i = 0; i < x.size(); ++i)
    wanted[i / (49 * 256) * 256 + i % 256] += x[i] / 49.0;
  run("channels-last.mlir", "mean", "columns", 0, x, y);
  expectNear(y, wanted);
}

TEST(ChannelsLast, ConvolutionsAreComputed) {
  Image in{1, 9, 9, 24}, out{1, 9, 9, 40};
  std::vector<float> x = randomFloats(in.size()), w = randomFloats(9 * 24 * 40),
                     y = unwritten(out.size());
  std::vector<double> wanted;
  forEach(out, [&](int n, int row, int column, int f) {
    double sum = 0;
    for (int tap = 0; tap < 9; ++tap)
      for (int c = 0; c < 24; ++c) {
        int r = row + tap / 3 - 1, s = column + tap % 3 - 1;
        if (r >= 0 && r < 9 && s >= 0 && s < 9)
          sum += double(x[in.at(n, r, s, c)]) * w[(tap * 24 + c) * 40 + f];
      }
    wanted.push_back(sum);
  });
  run("channels-last.mlir", "convolution", "contraction", 0, x, w, y);
  expectNear(y, wanted);
}

} // namespace
