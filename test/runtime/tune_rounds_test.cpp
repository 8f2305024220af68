// In which order candidates of a bundle are measured, and what their operands hold.
// SPDX-License-Identifier: Apache-2.0
#include "runtime/tune/operands.h"
#include "runtime/tune/results.h"
#include "runtime/tune/rounds.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <gtest/gtest.h>
#include <set>

#include <fcntl.h>
#include <unistd.h>

namespace {

using namespace cameo::tune;

// Dispatches with so many candidates each, the last of them the heaviest.
Bundle bundleOf(const std::vector<size_t> &counts) {
  Bundle bundle;
  bundle.name = "test";
  bundle.hash = "0123";
  for (size_t i = 0; i < counts.size(); ++i) {
    Dispatch dispatch;
    dispatch.key = "key" + std::to_string(i);
    dispatch.described = "\"key\": \"" + dispatch.key + "\"";
    dispatch.nodes = "node" + std::to_string(i);
    for (size_t k = 0; k < counts[i]; ++k) {
      Candidate candidate;
      candidate.schedule = "s" + std::to_string(k);
      candidate.described = "\"schedule\": \"" + candidate.schedule + "\"";
      candidate.estimate = double(1 + i + k);
      dispatch.candidates.push_back(candidate);
    }
    bundle.dispatches.push_back(dispatch);
  }
  return bundle;
}

Result resultOf(const Visit &visit, uint32_t candidate, double microseconds,
                Outcome outcome = Outcome::Ok) {
  Result result;
  result.dispatch = visit.dispatch;
  result.candidate = candidate;
  result.round = visit.round;
  result.outcome = outcome;
  result.microseconds = microseconds;
  return result;
}

TEST(TuningRounds, EachDispatchHasSomeBeforeAnyHasMore) {
  Bundle bundle = bundleOf({10, 3, 6});
  Rounds rounds(bundle, {0, 1, 2});
  std::vector<uint32_t> order;
  Visit visit;
  while (rounds.next(visit) && visit.round == 1) {
    order.push_back(visit.dispatch);
    EXPECT_LE(visit.candidates.size(), 4u);
    for (uint32_t candidate : visit.candidates)
      rounds.add(resultOf(visit, candidate, 10 + candidate));
  }
  EXPECT_EQ(order, (std::vector<uint32_t>{2, 1, 0, 2, 0, 0}));
  EXPECT_EQ(rounds.tried(), 19u);
  EXPECT_EQ(rounds.total(), 19u);
}

TEST(TuningRounds, TheBestAreRepeatedUntilOneIsLeft) {
  Bundle bundle = bundleOf({8});
  Rounds rounds(bundle, {0});
  std::vector<std::set<uint32_t>> repeated(kRounds + 1);
  // Candidate 5 is the fastest, 6 is close, 2 is slower by more than a round lets pass.
  auto time = [](uint32_t candidate) {
    return candidate == 5 ? 10.0 : candidate == 6 ? 10.2 : candidate == 2 ? 12.0 : 20.0;
  };
  for (Visit visit; rounds.next(visit);)
    for (uint32_t candidate : visit.candidates) {
      EXPECT_TRUE(repeated[visit.round].insert(candidate).second) << "measured twice";
      rounds.add(resultOf(visit, candidate, time(candidate)));
    }
  EXPECT_EQ(repeated[1].size(), 8u);
  EXPECT_EQ(repeated[2], (std::set<uint32_t>{2, 5, 6}));
  EXPECT_EQ(repeated[3], (std::set<uint32_t>{5, 6}));
  EXPECT_EQ(rounds.best(0), 5);
  EXPECT_EQ(rounds.microseconds(0, 5), 10.0);
}

TEST(TuningRounds, WhatWasWrongIsNoReferenceAndNoChoice) {
  Bundle bundle = bundleOf({6});
  Rounds rounds(bundle, {0});
  Visit visit;
  ASSERT_TRUE(rounds.next(visit));
  EXPECT_EQ(visit.reference, -1);
  rounds.add(resultOf(visit, 0, 1, Outcome::Hung));
  rounds.add(resultOf(visit, 1, 2, Outcome::Wrong));
  rounds.add(resultOf(visit, 2, 5));
  rounds.add(resultOf(visit, 3, 4));
  ASSERT_TRUE(rounds.next(visit));
  EXPECT_EQ(visit.reference, 2);
  EXPECT_EQ(rounds.best(0), 3);
  EXPECT_EQ(rounds.microseconds(0, 0), 0);
}

// What a kill leaves at any place of the file is gone on with.
TEST(TuningResults, EveryPrefixIsGoneOnWith) {
  Bundle bundle = bundleOf({3});
  Machine machine;
  machine.device = "GPU [1]";
  std::string name = testing::TempDir() + "cameo-tuning.json";
  const char *path = name.c_str();
  unlink(path);
  std::string whole;
  {
    ResultsFile file;
    std::vector<Result> former;
    ASSERT_TRUE(file.open(path, bundle, machine, former).ok());
    for (uint32_t i = 0; i < 3; ++i) {
      Result result;
      result.candidate = i;
      result.microseconds = 1.5 * (i + 1);
      result.message = "a \"word\" ]}";
      ASSERT_TRUE(file.add(result).ok());
    }
  }
  auto content = [&] {
    std::string text(1 << 16, 0);
    int file = open(path, O_RDONLY);
    text.resize(size_t(read(file, text.data(), text.size())));
    close(file);
    return text;
  };
  whole = content();
  size_t firstResult = whole.find("{\"dispatch\"");
  for (size_t cut = firstResult; cut < whole.size(); ++cut) {
    int file = open(path, O_WRONLY | O_TRUNC);
    ASSERT_EQ(write(file, whole.data(), cut), ssize_t(cut));
    close(file);
    std::vector<Result> former;
    ResultsFile results;
    cameo::tune::Status status = results.open(path, bundle, machine, former);
    ASSERT_TRUE(status.ok()) << cut << ": " << status.message();
    ASSERT_LE(former.size(), 3u);
    for (size_t i = 0; i < former.size(); ++i)
      EXPECT_EQ(former[i].microseconds, 1.5 * double(i + 1));
    for (uint32_t i = uint32_t(former.size()); i < 3; ++i) {
      Result result;
      result.candidate = i;
      result.microseconds = 1.5 * (i + 1);
      result.message = "a \"word\" ]}";
      ASSERT_TRUE(results.add(result).ok());
    }
    ASSERT_EQ(content(), whole) << cut;
  }
  unlink(path);
}

// An element holds the same value in whatever order the dimensions are stored.
TEST(TuningOperands, ValuesGoByTheDispatchsDimensions) {
  for (uint32_t dtype : {CAMEO_FLOAT, CAMEO_FLOAT16, CAMEO_INT8, CAMEO_UINT4, CAMEO_DOUBLE}) {
    auto read = [&](const std::vector<uint8_t> &data, uint64_t i) {
      return cameo::runtime::isFloat(dtype)
                 ? cameo::runtime::readFloat(data.data(), dtype, i)
                 : double(cameo::runtime::readInteger(data.data(), dtype, i));
    };
    for (Values values : {Values::Exact, Values::Rich}) {
      std::vector<uint8_t> plain = makeOperand({3, 4, 5}, dtype, {}, 1, values);
      std::vector<uint8_t> turned = makeOperand({5, 3, 4}, dtype, {2, 0, 1}, 1, values);
      std::set<double> seen;
      for (uint64_t a = 0; a < 3; ++a)
        for (uint64_t b = 0; b < 4; ++b)
          for (uint64_t c = 0; c < 5; ++c) {
            double value = read(plain, (a * 4 + b) * 5 + c);
            EXPECT_EQ(value, read(turned, (c * 3 + a) * 4 + b));
            EXPECT_TRUE(values == Values::Rich || value != 0) << "exact values are divided by";
            seen.insert(value);
          }
      EXPECT_GT(seen.size(), 2u);
    }
    EXPECT_NE(makeOperand({64}, dtype, {}, 0, Values::Exact),
              makeOperand({64}, dtype, {}, 1, Values::Exact));
  }
  std::vector<uint8_t> indices = makeOperand({8}, CAMEO_INT64, {}, 0, Values::Rich);
  EXPECT_TRUE(std::all_of(indices.begin(), indices.end(), [](uint8_t byte) { return byte == 0; }));
  EXPECT_TRUE(makeOperand({0, 3}, CAMEO_FLOAT, {}, 0, Values::Exact).empty());
  EXPECT_EQ(makeOperand({}, CAMEO_FLOAT, {}, 0, Values::Exact).size(), 4u);
}

TEST(TuningOperands, OutputsMayDifferByRoundingAlone) {
  auto bytesOf = [](std::vector<float> values) {
    std::vector<uint8_t> bytes(values.size() * 4);
    std::memcpy(bytes.data(), values.data(), bytes.size());
    return bytes;
  };
  std::vector<uint8_t> reference = bytesOf({1, -100, NAN, INFINITY});
  EXPECT_TRUE(compareOutputs(reference, reference, CAMEO_FLOAT, 4).sameBits);
  auto close = compareOutputs(bytesOf({1.05f, -100, NAN, INFINITY}), reference, CAMEO_FLOAT, 4);
  EXPECT_FALSE(close.sameBits || close.isWrong());
  EXPECT_TRUE(
      compareOutputs(bytesOf({1.2f, -100, NAN, INFINITY}), reference, CAMEO_FLOAT, 4).isWrong());
  EXPECT_TRUE(compareOutputs(bytesOf({1, -100, 0, INFINITY}), reference, CAMEO_FLOAT, 4).isWrong());
  EXPECT_TRUE(compareOutputs(bytesOf({1, -100, NAN, 5}), reference, CAMEO_FLOAT, 4).isWrong());
  EXPECT_FALSE(compareOutputs({4, 5}, {5, 5}, CAMEO_INT8, 2).isWrong());
  EXPECT_TRUE(compareOutputs({3, 5}, {5, 5}, CAMEO_INT8, 2).isWrong());
}

} // namespace
