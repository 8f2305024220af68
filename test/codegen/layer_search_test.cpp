// Which layers a search keeps, asked of layers whose noise is known, beside all subsets.
//
// SPDX-License-Identifier: Apache-2.0
#include "codegen/calibrate/LayerSearch.h"

#include <gtest/gtest.h>

#include <numeric>
#include <random>

using namespace cameo;
using llvm::BitVector;

namespace {

/// Noise of layers in 8 bits adds up; the promise is a bound on it.
class SumOracle : public LayerOracle {
public:
  SumOracle(std::vector<double> noise, double most) : noise(std::move(noise)), most(most) {}

  llvm::Expected<std::optional<double>> noiseOf(unsigned layer) override {
    if (!hasTime())
      return std::nullopt;
    return noise[layer];
  }
  llvm::Expected<std::optional<bool>> seemsGood(const BitVector &kept) override {
    ++trials;
    if (!hasTime())
      return std::nullopt;
    return sum(kept) <= most;
  }
  llvm::Expected<std::optional<bool>> isGood(const BitVector &kept) override {
    ++compilations;
    if (!hasTime())
      return std::nullopt;
    return sum(kept) + floor <= most;
  }

  double sum(const BitVector &kept) const {
    double all = 0;
    for (unsigned i = 0; i < noise.size(); ++i)
      if (!kept.test(i))
        all += noise[i];
    return all;
  }
  /// The fewest layers that are good, by all subsets.
  unsigned fewest() const {
    unsigned least = noise.size() + 1;
    for (unsigned bits = 0; bits < 1u << noise.size(); ++bits) {
      BitVector kept(noise.size());
      for (unsigned i = 0; i < noise.size(); ++i)
        if (bits >> i & 1)
          kept.set(i);
      if (sum(kept) + floor <= most)
        least = std::min(least, kept.count());
    }
    return least;
  }

  std::vector<double> noise;
  double most, floor = 0; // what stays of noise whatever is kept, and shows in compiled models only
  unsigned answers = ~0u; // that there is time for
  unsigned trials = 0, compilations = 0;

private:
  bool hasTime() { return answers && answers--; }
};

LayerChoice search(LayerOracle &oracle, unsigned layers) {
  llvm::Expected<LayerChoice> choice = chooseKeptLayers(layers, oracle);
  EXPECT_TRUE(bool(choice));
  return std::move(*choice);
}

TEST(LayerSearch, NothingIsKeptWhereThatIsGood) {
  SumOracle oracle({1, 2, 3}, 6);
  LayerChoice choice = search(oracle, 3);
  EXPECT_EQ(choice.end, LayerChoice::Good);
  EXPECT_TRUE(choice.kept.none());
  EXPECT_EQ(oracle.compilations, 1u);
  EXPECT_EQ(oracle.trials, 0u);
}

TEST(LayerSearch, TheNoisiestAreKept) {
  SumOracle oracle({1, 50, 1, 20, 1, 1}, 4);
  LayerChoice choice = search(oracle, 6);
  EXPECT_EQ(choice.end, LayerChoice::Good);
  EXPECT_EQ(choice.kept.count(), 2u);
  EXPECT_TRUE(choice.kept.test(1) && choice.kept.test(3));
  EXPECT_EQ(choice.noise, oracle.noise);
}

TEST(LayerSearch, AsFewAsOfAllSubsets) {
  std::mt19937 random(7);
  for (int round = 0; round < 300; ++round) {
    unsigned layers = 1 + random() % 8;
    std::vector<double> noise(layers);
    for (double &each : noise)
      each = double(1 + random() % 100);
    double all = std::accumulate(noise.begin(), noise.end(), 0.0);
    SumOracle oracle(noise, all * double(random() % 100) / 100);
    LayerChoice choice = search(oracle, layers);
    ASSERT_EQ(choice.end, LayerChoice::Good) << round;
    EXPECT_LE(oracle.sum(choice.kept), oracle.most) << round;
    EXPECT_EQ(choice.kept.count(), oracle.fewest()) << round;
  }
}

/// Layers that are quiet alone and loud together: order alone keeps too many.
class PairOracle : public SumOracle {
public:
  using SumOracle::SumOracle;
  llvm::Expected<std::optional<bool>> seemsGood(const BitVector &kept) override {
    return kept.test(2) && kept.test(3);
  }
  llvm::Expected<std::optional<bool>> isGood(const BitVector &kept) override {
    return seemsGood(kept);
  }
};

TEST(LayerSearch, LayersAreGivenBack) {
  PairOracle oracle({9, 8, 3, 2, 1}, 0);
  LayerChoice choice = search(oracle, 5);
  EXPECT_EQ(choice.end, LayerChoice::Good);
  EXPECT_EQ(choice.kept.count(), 2u);
  EXPECT_TRUE(choice.kept.test(2) && choice.kept.test(3));
}

TEST(LayerSearch, MoreAreKeptWhereTheCompiledModelIsWorse) {
  SumOracle oracle({10, 9, 8, 7, 6, 5, 4, 3}, 20);
  oracle.floor = 9;
  LayerChoice choice = search(oracle, 8);
  EXPECT_EQ(choice.end, LayerChoice::Good);
  EXPECT_LE(oracle.sum(choice.kept) + oracle.floor, oracle.most);
}

/// What was not good once is not asked again.
class CountingOracle : public SumOracle {
public:
  using SumOracle::SumOracle;
  llvm::Expected<std::optional<bool>> isGood(const BitVector &kept) override {
    asked.push_back(kept);
    return SumOracle::isGood(kept);
  }
  std::vector<BitVector> asked;
};

TEST(LayerSearch, NothingIsCompiledTwice) {
  CountingOracle oracle({10, 9, 8, 7, 6, 5, 4, 3}, 20);
  oracle.floor = 3;
  LayerChoice choice = search(oracle, 8);
  EXPECT_EQ(choice.end, LayerChoice::Good);
  for (size_t i = 0; i < oracle.asked.size(); ++i)
    for (size_t j = 0; j < i; ++j)
      EXPECT_NE(oracle.asked[i], oracle.asked[j]) << j << ", " << i;
}

TEST(LayerSearch, HopelessWhereAllAreKept) {
  SumOracle oracle({3, 2, 1}, 1);
  oracle.floor = 2;
  LayerChoice choice = search(oracle, 3);
  EXPECT_EQ(choice.end, LayerChoice::Hopeless);
  EXPECT_TRUE(choice.kept.all());
  SumOracle none({}, 1);
  none.floor = 2;
  EXPECT_EQ(search(none, 0).end, LayerChoice::Hopeless);
}

TEST(LayerSearch, WithoutTimeOnlyWhatWasConfirmedCounts) {
  unsigned outOfTime = 0, early = 0, good = 0;
  for (unsigned answers = 0; answers < 40; ++answers) {
    SumOracle oracle({5, 4, 3, 2, 30, 1}, 7);
    oracle.answers = answers;
    LayerChoice choice = search(oracle, 6);
    switch (choice.end) {
    case LayerChoice::OutOfTime:
      EXPECT_EQ(early + good, 0u) << answers;
      ++outOfTime;
      break;
    case LayerChoice::Early:
    case LayerChoice::Good:
      EXPECT_LE(oracle.sum(choice.kept), oracle.most) << answers;
      ++(choice.end == LayerChoice::Early ? early : good);
      break;
    case LayerChoice::Hopeless:
      ADD_FAILURE() << answers;
    }
  }
  EXPECT_GT(outOfTime, 6u); // one for nothing kept, one a layer
  EXPECT_GT(early, 0u);
  EXPECT_GT(good, 0u);
}

class BrokenOracle : public SumOracle {
public:
  using SumOracle::SumOracle;
  llvm::Expected<std::optional<bool>> seemsGood(const BitVector &) override {
    return llvm::createStringError("broken");
  }
};

TEST(LayerSearch, ErrorsEndIt) {
  BrokenOracle oracle({3, 2, 1}, 2);
  llvm::Expected<LayerChoice> choice = chooseKeptLayers(3, oracle);
  ASSERT_FALSE(bool(choice));
  EXPECT_EQ(llvm::toString(choice.takeError()), "broken");
}

} // namespace
