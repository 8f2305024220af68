// Learned rounding: second moments as they are defined, and weights that no other choice of one
// makes better.
//
// SPDX-License-Identifier: Apache-2.0
#include "codegen/calibrate/LearnRounding.h"

#include <gtest/gtest.h>

#include <cmath>
#include <random>

using namespace cameo;

namespace {

//===-- Second moments ------------------------------------------------------------------------===//

ProductRead convolution(int64_t channels, int64_t groups, ReadWindow window) {
  ProductRead read;
  read.channels = channels;
  read.groups = groups;
  read.window = std::move(window);
  return read;
}

std::vector<int8_t> randomNumbers(size_t count, unsigned seed) {
  std::mt19937 random(seed);
  std::uniform_int_distribution<int> any(-127, 127);
  std::vector<int8_t> numbers(count);
  for (int8_t &number : numbers)
    number = int8_t(any(random));
  return numbers;
}

/// What weight (channel, row, column) of a window is multiplied with for the result at (y, x).
int64_t operandOf(const ReadWindow &window, llvm::ArrayRef<int8_t> image, int64_t channel,
                  int64_t height, int64_t width, int64_t place, int64_t y, int64_t x) {
  int64_t row =
      y * window.strides[0] + place / window.sizes[1] * window.dilations[0] - window.padsBefore[0];
  int64_t column =
      x * window.strides[1] + place % window.sizes[1] * window.dilations[1] - window.padsBefore[1];
  if (row < 0 || row >= height || column < 0 || column >= width)
    return 0;
  return image[(channel * height + row) * width + column];
}

void expectDefinition(const ProductRead &read, int64_t samples, int64_t height, int64_t width) {
  int64_t pixels = read.channels * height * width;
  std::vector<int8_t> numbers = randomNumbers(samples * pixels, 1);
  SecondMoments moments(read);
  llvm::DefaultThreadPool threads(llvm::hardware_concurrency(2));
  moments.add(numbers, {samples, read.channels, height, width}, threads);
  const ReadWindow &window = *read.window;
  int64_t places = window.places(), channels = read.channels / read.groups;
  for (int64_t group = 0; group < read.groups; ++group)
    for (int64_t i = 0; i < channels * places; ++i)
      for (int64_t j = 0; j < channels * places; ++j) {
        int64_t sum = 0;
        for (int64_t sample = 0; sample < samples; ++sample)
          for (int64_t y = 0; y < window.results(0, height); ++y)
            for (int64_t x = 0; x < window.results(1, width); ++x) {
              auto image = llvm::ArrayRef(numbers).slice(sample * pixels, pixels);
              auto at = [&](int64_t weight) {
                return operandOf(window, image, group * channels + weight / places, height, width,
                                 weight % places, y, x);
              };
              sum += at(i) * at(j);
            }
        ASSERT_EQ(moments.at(group, i, j), sum) << group << " " << i << " " << j;
      }
}

TEST(SecondMoments, WindowsAreAsDefined) {
  expectDefinition(convolution(2, 1, {{3, 3}, {1, 1}, {1, 1}, {1, 1}, {1, 1}}), 2, 5, 6);
  expectDefinition(convolution(3, 1, {{2, 3}, {2, 1}, {1, 2}, {0, 2}, {1, 1}}), 3, 7, 6);
  expectDefinition(convolution(20, 1, {{1, 1}, {1, 1}, {1, 1}, {0, 0}, {0, 0}}), 1, 30, 30);
}

TEST(SecondMoments, GroupsAreApart) {
  expectDefinition(convolution(4, 2, {{2, 2}, {1, 1}, {1, 1}, {0, 1}, {1, 0}}), 2, 4, 4);
  expectDefinition(convolution(3, 3, {{3, 3}, {2, 2}, {1, 1}, {1, 1}, {1, 1}}), 1, 5, 5);
}

TEST(SecondMoments, RowsAddUpInAnySplit) {
  ProductRead read;
  read.channels = 37;
  int64_t rows = 1500; // more than are gathered at a time
  std::vector<int8_t> numbers = randomNumbers(rows * read.channels, 2);
  llvm::DefaultThreadPool one(llvm::hardware_concurrency(1)), three(llvm::hardware_concurrency(3));
  SecondMoments whole(read), split(read);
  whole.add(numbers, {rows, read.channels}, one);
  for (int64_t first = 0, count; first < rows; first += count) {
    count = std::min<int64_t>(rows - first, 7);
    split.add(llvm::ArrayRef(numbers).slice(first * read.channels, count * read.channels),
              {1, count, read.channels}, three);
  }
  for (int64_t i = 0; i < read.channels; ++i)
    for (int64_t j = 0; j < read.channels; ++j) {
      int64_t sum = 0;
      for (int64_t row = 0; row < rows; ++row)
        sum += int64_t(numbers[row * read.channels + i]) * numbers[row * read.channels + j];
      ASSERT_EQ(whole.at(0, i, j), sum);
      ASSERT_EQ(split.at(0, i, j), sum);
    }
}

TEST(SecondMoments, WindowLargerThanTheImageReadsNothing) {
  ProductRead read = convolution(1, 1, {{3, 3}, {1, 1}, {1, 1}, {0, 0}, {0, 0}});
  SecondMoments moments(read);
  llvm::DefaultThreadPool threads(llvm::hardware_concurrency(1));
  moments.add(randomNumbers(4, 3), {1, 1, 2, 2}, threads);
  EXPECT_EQ(moments.at(0, 0, 0), 0);
}

//===-- One channel ---------------------------------------------------------------------------===//

/// Weights and the moments of inputs that go together.
struct Channel {
  std::vector<float> weights;
  std::vector<double> moments;

  Channel(size_t count, unsigned seed) : weights(count), moments(count * count, 0) {
    std::mt19937 random(seed);
    std::uniform_real_distribution<float> any(-127, 127);
    std::normal_distribution<double> normal;
    for (float &weight : weights)
      weight = any(random);
    for (unsigned sample = 0; sample < 4 * count; ++sample) {
      std::vector<double> input(count);
      double common = 40 * normal(random);
      for (double &number : input)
        number = std::nearbyint(common + 10 * normal(random));
      for (size_t i = 0; i < count; ++i)
        for (size_t j = 0; j < count; ++j)
          moments[i * count + j] += input[i] * input[j];
    }
  }
  double error(llvm::ArrayRef<int8_t> numbers) const {
    double sum = 0;
    for (size_t i = 0; i < weights.size(); ++i)
      for (size_t j = 0; j < weights.size(); ++j)
        sum +=
            (numbers[i] - weights[i]) * (numbers[j] - weights[j]) * moments[i * weights.size() + j];
    return sum;
  }
  std::vector<int8_t> choice(uint32_t up) const {
    std::vector<int8_t> numbers;
    for (size_t i = 0; i < weights.size(); ++i)
      numbers.push_back(int8_t(std::floor(weights[i]) + (up >> i & 1)));
    return numbers;
  }
  std::vector<int8_t> nearest() const {
    std::vector<int8_t> numbers;
    for (float weight : weights)
      numbers.push_back(int8_t(std::nearbyint(weight)));
    return numbers;
  }
};

/// Of all choices: none that differs in one weight is better, and on average little is lost.
TEST(RoundTogether, IsNoWorseThanAnyNeighbour) {
  double ofNearest = 0, found = 0, ofBest = 0;
  for (unsigned seed = 0; seed < 20; ++seed) {
    Channel channel(8, seed);
    std::vector<int8_t> numbers = roundTogether(channel.weights, channel.moments);
    double error = channel.error(numbers), best = channel.error(channel.nearest());
    EXPECT_LE(error, best * (1 + 1e-9));
    ofNearest += best;
    for (uint32_t up = 0; up < 256; ++up) {
      std::vector<int8_t> other = channel.choice(up);
      size_t differing = 0;
      for (size_t i = 0; i < other.size(); ++i) {
        ASSERT_LE(std::abs(numbers[i] - channel.weights[i]), 1);
        differing += other[i] != numbers[i];
      }
      double of = channel.error(other);
      best = std::min(best, of);
      if (differing == 1)
        EXPECT_GE(of, error * (1 - 1e-6)) << "seed " << seed;
    }
    found += error;
    ofBest += best;
  }
  EXPECT_LT(found, 0.5 * ofNearest);
  EXPECT_LT(ofBest, found * (1 + 1e-9));
  EXPECT_LT(found, 5 * ofBest);
}

TEST(RoundTogether, WeightsThatMeetAloneStayNearest) {
  std::vector<float> weights = {0.4f, -3.6f, 12.5f, 127.0f, -127.0f};
  std::vector<double> moments(25, 0.0);
  for (size_t i = 0; i < 5; ++i)
    moments[i * 6] = double(i); // the first one meets zeros only
  EXPECT_EQ(roundTogether(weights, moments), (std::vector<int8_t>{0, -4, 12, 127, -127}));
}

/// Two that are always multiplied with the same number: one up and one down is exact.
TEST(RoundTogether, ErrorsCancel) {
  EXPECT_EQ(roundTogether({1.4f, 2.4f, 5.2f}, std::vector<double>(9, 100.0)),
            (std::vector<int8_t>{2, 2, 5}));
  EXPECT_EQ(roundTogether({126.6f, 126.6f}, std::vector<double>(4, 1.0)),
            (std::vector<int8_t>{126, 127}));
}

/// The last number of 8 bits has no other above it.
TEST(RoundTogether, StaysWithinEightBits) {
  EXPECT_EQ(roundTogether({127.3f, 0.45f}, std::vector<double>(4, 1.0)),
            (std::vector<int8_t>{127, 1}));
}

} // namespace
