// What --accuracy writes to the report of a search's outcome.
//
// SPDX-License-Identifier: Apache-2.0
#include "codegen/calibrate/KeepAccuracy.h"

#include <gtest/gtest.h>

#include <limits>

using namespace cameo;

namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();

TEST(AccuracyResult, FiguresThatAreNoNumbersAreWords) {
  AccuracyResult result;
  result.measure = "sqnr";
  result.reference = kInfinity;
  result.unkept = -kInfinity;
  result.reached = 31.5;
  result.layers = {{"quiet", "Conv", kInfinity, std::nullopt},
                   {"broken", "Conv", -kInfinity, Precision::FP32},
                   {"unmeasured", "Conv", std::nullopt, std::nullopt}};
  llvm::json::Object json = result.json();
  EXPECT_EQ(json.getString("fp32"), "no noise");
  EXPECT_EQ(json.getString("int8"), "not finite");
  EXPECT_EQ(json.getNumber("reached"), 31.5);
  const llvm::json::Array &layers = *json.getArray("layers");
  EXPECT_EQ(layers[0].getAsObject()->getString("sqnr"), "no noise");
  EXPECT_EQ(layers[1].getAsObject()->getString("sqnr"), "not finite");
  EXPECT_EQ(layers[2].getAsObject()->get("sqnr"), nullptr);
}

} // namespace
