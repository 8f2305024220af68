// What contracts promise, and what outputs keep.
//
// SPDX-License-Identifier: Apache-2.0
#include "codegen/calibrate/AccuracyContract.h"

#include <gtest/gtest.h>

#include <cstring>

using namespace cameo;

namespace {

AccuracyContract contract(llvm::StringRef text) {
  llvm::Expected<AccuracyContract> parsed = AccuracyContract::parse(text);
  EXPECT_TRUE(bool(parsed)) << text.str();
  return *parsed;
}

std::string errorOf(llvm::StringRef text) {
  llvm::Expected<AccuracyContract> parsed = AccuracyContract::parse(text);
  return parsed ? "" : llvm::toString(parsed.takeError());
}

HostTensor tensor(llvm::SmallVector<int64_t> shape, std::vector<float> numbers) {
  HostTensor result{CAMEO_DTYPE_F32, std::move(shape), {}};
  result.bytes.resize(numbers.size() * sizeof(float));
  std::memcpy(result.bytes.data(), numbers.data(), result.bytes.size());
  return result;
}

/// Rows of two whose larger element is at these places.
HostTensor rows(std::vector<int> places) {
  std::vector<float> numbers;
  for (int place : places)
    numbers.insert(numbers.end(), {float(place == 0), float(place == 1)});
  return tensor({int64_t(places.size()), 2}, std::move(numbers));
}

const TensorPort kPort{"scores", CAMEO_DTYPE_F32, {-1, 2}};

AccuracyMetric metricOf(llvm::StringRef text, std::vector<int64_t> labels,
                        const HostTensor &reference) {
  AccuracyMetric metric(contract(text), std::move(labels));
  EXPECT_FALSE(bool(metric.addReference(kPort, reference)));
  EXPECT_FALSE(bool(metric.finishReference()));
  return metric;
}

std::optional<bool> verdict(const AccuracyMetric &metric, const HostTensor &outputs, bool isAll) {
  AccuracyScore score;
  metric.add(score, outputs);
  return metric.verdict(score, isAll);
}

TEST(AccuracyContract, Parses) {
  EXPECT_EQ(contract("99%").kind, AccuracyContract::Relative);
  EXPECT_EQ(contract("99.5%").text(), "99.5%");
  EXPECT_EQ(contract("-0.3%").kind, AccuracyContract::Absolute);
  EXPECT_EQ(contract("-0.3%").text(), "-0.3%");
  EXPECT_EQ(contract("-0%").kind, AccuracyContract::Absolute);
  EXPECT_EQ(contract("100%").amount, 1);
  EXPECT_EQ(contract("30dB").text(), "30dB");
  EXPECT_EQ(errorOf("99"), "'99' is not one of 99%, -0.3% and 30dB");
  EXPECT_EQ(errorOf("-5dB"), "'-5dB' allows noise as strong as the values; it must be above 0dB");
  EXPECT_EQ(errorOf("much%"), "'much' in 'much%' is no number");
  EXPECT_EQ(errorOf("101%"), "'101%' is not between 0% and 100%");
  EXPECT_EQ(errorOf("0%"), "'0%' is not between 0% and 100%");
  EXPECT_EQ(errorOf("nandB"), "'nan' in 'nandB' is no number");
}

TEST(AccuracyMetric, SharesOfWhatIsRight) {
  // FP32 has three of four.
  AccuracyMetric metric = metricOf("60%", {0, 1, 1, 0}, rows({0, 1, 1, 1}));
  EXPECT_EQ(metric.referenceValue(), 0.75);
  EXPECT_EQ(metric.needed(), 0.5); // 1.8 rows: two
  EXPECT_EQ(verdict(metric, rows({0, 0, 1, 1}), true), true);
  EXPECT_EQ(verdict(metric, rows({0, 0, 0, 1}), true), false);
  // It may be certain before the end.
  EXPECT_EQ(verdict(metric, rows({0, 1}), false), true);
  EXPECT_EQ(verdict(metric, rows({1, 0}), false), std::nullopt);
  EXPECT_EQ(verdict(metric, rows({1, 0, 0}), false), false);
}

TEST(AccuracyMetric, PointsOfWhatIsRight) {
  AccuracyMetric metric = metricOf("-25%", {0, 1, 1, 0}, rows({0, 1, 1, 1}));
  EXPECT_EQ(metric.needed(), 0.5);
  EXPECT_EQ(metricOf("-0%", {0, 1, 1, 0}, rows({0, 1, 1, 1})).needed(), 0.75);
}

TEST(AccuracyMetric, AgreementWithoutLabels) {
  AccuracyMetric metric = metricOf("75%", {}, rows({0, 1, 1, 1}));
  EXPECT_EQ(metric.referenceValue(), 1);
  EXPECT_EQ(verdict(metric, rows({0, 1, 1, 0}), true), true);
  EXPECT_EQ(verdict(metric, rows({0, 0, 1, 0}), true), false);
  EXPECT_EQ(metric.text(0.975), "97.50 %");
}

TEST(AccuracyMetric, NoiseOfTheWorstOutput) {
  AccuracyMetric metric(contract("20dB"), {});
  std::vector<HostTensor> reference{tensor({2}, {10, 10}), tensor({1}, {100})};
  EXPECT_FALSE(bool(metric.addReference({kPort, kPort}, reference)));
  EXPECT_FALSE(bool(metric.addReference({kPort, kPort}, reference)));
  AccuracyScore score;
  metric.add(score, reference);
  EXPECT_EQ(metric.verdict(score, false), std::nullopt);
  metric.add(score, {tensor({2}, {10, 11}), tensor({1}, {101})});
  EXPECT_NEAR(metric.valueOf(score), 26.02, 0.01); // 400 : 1
  EXPECT_EQ(metric.verdict(score, true), true);
  metric.add(score = {}, {tensor({2}, {10, NAN}), tensor({1}, {100})});
  EXPECT_EQ(metric.verdict(score, true), false);
}

TEST(AccuracyMetric, SaysWhatIsMissing) {
  AccuracyMetric narrow(contract("99%"), {});
  EXPECT_EQ(llvm::toString(narrow.addReference(kPort, tensor({3, 1}, {1, 2, 3}))),
            "output 'scores' has 1 numbers a row, the largest of which would be its class; an "
            "accuracy such as 30dB compares outputs that are not classes");
  AccuracyMetric flat(contract("99%"), {});
  EXPECT_EQ(llvm::toString(flat.addReference(kPort, tensor({3}, {1, 2, 3}))),
            "output 'scores' has no rows, the largest number of which would be its class; an "
            "accuracy such as 30dB compares outputs that are not classes");
  AccuracyMetric empty(contract("99%"), {});
  EXPECT_EQ(
      llvm::toString(empty.addReference(kPort, tensor({2, 2}, {1, 2, 3, NAN}))),
      "row 1 of output 'scores' has NaN with FP32 already, so that it has no class to compare");
  AccuracyMetric uneven(contract("99%"), {});
  EXPECT_FALSE(bool(uneven.addReference(kPort, rows({0, 1}))));
  EXPECT_EQ(llvm::toString(uneven.addReference(kPort, tensor({1, 3}, {1, 2, 3}))),
            "output 'scores' has rows of 2 and of 3 numbers; an accuracy such as 30dB compares "
            "outputs that are not classes");
  AccuracyMetric few(contract("99%"), {0, 1});
  EXPECT_FALSE(bool(few.addReference(kPort, rows({0, 1, 1}))));
  EXPECT_EQ(llvm::toString(few.finishReference()),
            "there are 2 labels for 3 rows of the first output");
  AccuracyMetric beyond(contract("99%"), {1, 2});
  EXPECT_FALSE(bool(beyond.addReference(kPort, rows({0, 1}))));
  EXPECT_EQ(llvm::toString(beyond.finishReference()),
            "label 2 of row 1 is beyond the 2 numbers of a row");
  AccuracyMetric wrong(contract("99%"), {1, 0});
  EXPECT_FALSE(bool(wrong.addReference(kPort, rows({0, 1}))));
  EXPECT_EQ(llvm::toString(wrong.finishReference()),
            "FP32 has none of the 2 rows right by these labels");
}

} // namespace
