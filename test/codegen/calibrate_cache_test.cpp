// Files of calibration, Cameo's and TensorRT's.
//
// SPDX-License-Identifier: Apache-2.0
#include "codegen/calibrate/CalibrationCache.h"

#include "llvm/Support/FileSystem.h"
#include "llvm/Support/raw_ostream.h"

#include <gtest/gtest.h>

using namespace cameo;
using llvm::StringRef;

namespace {

CalibrationCache example() {
  CalibrationCache cache;
  cache.source = {0x16e89c4be18b0e5f, 0, "train.npz", 0x1234, 1, 512, ""};
  cache.method = {CalibrationMethod::Entropy, 99.99};
  CalibratedValue conv{"conv1",
                       -7.25,
                       9.5,
                       0,
                       {{9.5f, 8.1f, 9, 1e-30f}},
                       std::nullopt,
                       CalibrationMethod::Entropy,
                       {{41, 0, 7}, 4}};
  CalibratedValue split{
      "split:1", 0, 1, 3, {{1, 1, 1, 0.75f}}, std::nullopt, CalibrationMethod::Entropy, {}};
  cache.values = {conv, split};
  return cache;
}

class CalibrateCacheTest : public testing::Test {
protected:
  void SetUp() override {
    ASSERT_FALSE(llvm::sys::fs::createTemporaryFile("cameo-cache-test", "json", path));
  }
  void TearDown() override { llvm::sys::fs::remove(path); }

  llvm::Expected<CalibrationCache> read(const std::string &text) {
    std::error_code error;
    llvm::raw_fd_ostream(path, error) << text;
    return CalibrationCache::read(path);
  }
  /// An empty one where it was refused, which fails the test with the reason.
  static CalibrationCache whole(llvm::Expected<CalibrationCache> cache) {
    if (cache)
      return std::move(*cache);
    ADD_FAILURE() << llvm::toString(cache.takeError());
    return {};
  }
  /// What reading the text says, without the file's name.
  std::string refusal(const std::string &text) {
    return StringRef(llvm::toString(read(text).takeError())).split("': ").second.str();
  }
  llvm::SmallString<128> path;
};

TEST_F(CalibrateCacheTest, IsReadable) {
  EXPECT_EQ(example().text(), R"({
  "cameo_ranges": 1,
  "model": "16e89c4be18b0e5f",
  "data": {"name": "train.npz", "files": 1, "samples": 512, "xxh3": "0000000000001234"},
  "method": "entropy",
  "percentile": 99.99,
  "ranges": {
    "conv1": {"min": -7.25, "max": 9.5, "method": "entropy", "thresholds": {"max": 9.5, "entropy": 8.1, "percentile": 9, "mse": 1e-30}, "histogram": {"end": 4, "counts": [41, 0, 7]}},
    "split:1": {"min": 0, "max": 1, "method": "entropy", "thresholds": {"max": 1, "entropy": 1, "percentile": 1, "mse": 0.75}, "non_finite": 3}
  }
}
)");
}

TEST_F(CalibrateCacheTest, IsReadAsItWasWritten) {
  CalibrationCache cache = whole(read(example().text()));
  EXPECT_EQ(cache.text(), example().text());
  cache.source.weights = 0xabc;
  EXPECT_EQ(whole(read(cache.text())).source.weights, 0xabcu);
}

TEST_F(CalibrateCacheTest, KeepsWhatProductsNeed) {
  CalibrationCache cache = example();
  cache.inputs = {{"conv2", "conv1", 0.0625f, {0.25f}, {-0.01f}}};
  cache.channels.emplace();
  (*cache.channels)["split:1"] = {0, 0};
  (*cache.channels)["conv1"] = {-16, 0, 16};
  EXPECT_TRUE(StringRef(cache.text()).contains(R"(,
  "channels": {
    "conv1": [-16, 0, 16],
    "split:1": [0, 0]
  },
  "inputs": {
    "conv2": {"value": "conv1", "scale": 0.0625, "means": [0.25], "shifts": [-0.01]}
  }
}
)")) << cache.text();
  EXPECT_EQ(whole(read(cache.text())).text(), cache.text());
  cache.inputs.emplace();
  cache.channels.emplace();
  EXPECT_EQ(whole(read(cache.text())).text(), cache.text());
}

TEST_F(CalibrateCacheTest, KeepsThresholdsOfScaledChannels) {
  CalibrationCache cache = example();
  cache.values[0].scaled = Thresholds{{4, 3, 2, 1e-30f}};
  EXPECT_EQ(whole(read(cache.text())).text(), cache.text());
  llvm::Expected<RecordedRanges> ranges = RecordedRanges::parse(cache.text(), "r.json");
  ASSERT_TRUE(bool(ranges)) << llvm::toString(ranges.takeError());
  EXPECT_EQ(ranges->byName["conv1"].scale, activationScale(8.1f));
  EXPECT_EQ(ranges->byName["conv1"].scaled, activationScale(3));
  EXPECT_EQ(ranges->byName["split:1"].scaled, 0);
}

TEST_F(CalibrateCacheTest, KeepsTheChoice) {
  CalibrationCache cache = example();
  QuantizationChoice &choice = cache.choice.emplace();
  choice.trials = {{CalibrationMethod::Mse, false, false, 20.5, 20},
                   {CalibrationMethod::Entropy, false, false, 31, 30.25}};
  choice.chosen = choice.trials[1];
  choice.samples = 32;
  EXPECT_EQ(choice.text(), "entropy: 30.2 dB on 32 samples (median run: 31.0 dB); mse: 20.0 dB "
                           "(median run: 20.5 dB)");
  EXPECT_TRUE(StringRef(cache.text()).contains(R"(,
  "chosen": {"bias_correction": false, "samples": 32, "trials": [
    {"method": "mse", "channel_scales": false, "bias_correction": false, "sqnr": 20.50, "sqnr_of_all": 20.00},
    {"method": "entropy", "channel_scales": false, "bias_correction": false, "sqnr": 31.00, "sqnr_of_all": 30.25}]}
}
)")) << cache.text();
  CalibrationCache again = whole(read(cache.text()));
  EXPECT_EQ(again.text(), cache.text());
  EXPECT_EQ(again.choice->text(), choice.text());
  // The cache has another method than was chosen.
  cache.method.kind = CalibrationMethod::Max;
  EXPECT_EQ(refusal(cache.text()),
            "'chosen' has no trials of calibration, or what was chosen is none of them");
}

TEST_F(CalibrateCacheTest, AnotherMethodNeedsNoRun) {
  CalibrationCache cache = example();
  cache.inputs.emplace();
  cache.choice.emplace();
  cache.channels.emplace();
  EXPECT_TRUE(cache.adopt({CalibrationMethod::Mse, 99.99}));
  EXPECT_EQ(cache.values[1].chosen, CalibrationMethod::Mse);
  EXPECT_FALSE(cache.inputs); // of what was quantised by the other one
  EXPECT_FALSE(cache.choice);
  EXPECT_TRUE(cache.channels);
  // What was chosen by hand stays.
  cache.values[0].chosen = CalibrationMethod::Max;
  EXPECT_TRUE(cache.adopt({CalibrationMethod::Mse, 99.9}));
  EXPECT_EQ(cache.values[0].chosen, CalibrationMethod::Max);
  EXPECT_FALSE(cache.adopt({CalibrationMethod::Percentile, 99.9}));
  EXPECT_FALSE(cache.adopt({CalibrationMethod::Best, 99.99}));
}

TEST_F(CalibrateCacheTest, OthersAreRefused) {
  CalibrationSource source = example().source;
  EXPECT_FALSE(example().checkSource(source, "c.json"));
  source.dataName = "copy.npz";
  EXPECT_FALSE(example().checkSource(source, "c.json"));
  source.dataHash = 0x5678;
  source.samples = 2;
  EXPECT_EQ(llvm::toString(example().checkSource(source, "c.json")),
            "calibration cache 'c.json' was made with other data: 512 samples of 'train.npz' "
            "(xxh3 0000000000001234), not 2 samples of 'copy.npz' (xxh3 0000000000005678); remove "
            "it, or name another file");
  source.passes = "imported:mine";
  EXPECT_EQ(llvm::toString(example().checkSource(source, "c.json")),
            "calibration cache 'c.json' was made without --insert-pass, and this model is compiled "
            "with --insert-pass=imported:mine");
  source.weights = 1;
  EXPECT_EQ(llvm::toString(example().checkSource(source, "c.json")),
            "calibration cache 'c.json' is of a model with other external data");
  source.model = 1;
  EXPECT_EQ(llvm::toString(example().checkSource(source, "c.json")),
            "calibration cache 'c.json' is of another model: of one with the hash "
            "16e89c4be18b0e5f, and this one's is 0000000000000001");
}

TEST_F(CalibrateCacheTest, WhatIsNotACacheIsRefused) {
  EXPECT_EQ(refusal("{}"), "the member 'cameo_ranges' is not 1");
  EXPECT_EQ(refusal("{\"cameo_ranges\": 1, \"ranges\": {}}"),
            "calibration has not written it: 'model', 'data' or 'method' is not as it should be");
  auto changed = [](StringRef from, StringRef to) {
    std::string text = example().text();
    return text.replace(text.find(from.str()), from.size(), to.str());
  };
  EXPECT_EQ(refusal(changed("\"min\": -7.25", "\"min\": 10")),
            "'conv1' has a 'min' that is above its 'max'");
  EXPECT_EQ(refusal(changed("\"mse\": 0.75", "\"mse\": 0")),
            "'split:1' has no threshold of method 'mse' that is more than 0");
  EXPECT_EQ(refusal(changed("-7.25, \"max\": 9.5, \"method\": \"entropy\"",
                            "0, \"max\": 1, \"method\": \"best\"")),
            "'conv1' has no 'method' and 'thresholds' of calibration");
}

TEST_F(CalibrateCacheTest, MembersThatAreNoneAreRefused) {
  auto with = [&](StringRef member) {
    std::string text = example().text();
    return refusal(text.insert(text.rfind("\n}"), (", " + member).str()));
  };
  EXPECT_EQ(with(R"("inputs": [1, 2])"), "'inputs': expected an object of products, found [1,2]");
  EXPECT_EQ(with(R"("channels": "none")"),
            "'channels': expected an object of values, found \"none\"");
  EXPECT_EQ(with(R"("channels": {"x": 3})"),
            "the channels of 'x': expected a list of exponents from -16 to 16, found 3");
  EXPECT_EQ(with(R"("channels": {"x": [0, 1.5]})"),
            "the channels of 'x': expected a list of exponents from -16 to 16, found [0,1.5]");
  EXPECT_EQ(with(R"("channels": {"x": [0, -17]})"),
            "the channels of 'x': expected a list of exponents from -16 to 16, found [0,-17]");
  EXPECT_EQ(with(R"("inputs": {"conv2": 3})"), "the input of 'conv2': expected an object, found 3");
  EXPECT_EQ(with(R"("inputs": {"conv2": {"scale": 1, "means": [], "shifts": []}})"),
            "the input of 'conv2': 'value': expected a text, found nothing");
  EXPECT_EQ(with(R"("inputs": {"conv2": {"value": "x", "scale": "1"}})"),
            "the input of 'conv2': 'scale': expected a finite number, found \"1\"");
  EXPECT_EQ(with(R"("inputs": {"conv2": {"value": "x", "scale": 1, "means": [1, true]}})"),
            "the input of 'conv2': 'means': expected a list of finite numbers, found [1,true]");
  EXPECT_EQ(with(R"("inputs": {"conv2": {"value": "x", "scale": 1, "means": [1], "shifts": []}})"),
            "the input of 'conv2': 'shifts': expected 1 numbers, as many as 'means' has, found 0");
}

TEST(CalibrateTensorRtCache, ScalesByName) {
  StringRef text = "TRT-8501-EntropyCalibration2\r\ninput: 3c010a14\nlayer: 1/out: 3f800000\r\n\n";
  EXPECT_TRUE(TensorRtCache::isOne(text));
  EXPECT_FALSE(TensorRtCache::isOne("{}"));
  TensorRtCache cache = llvm::cantFail(TensorRtCache::parse(text, "calib.cache"));
  EXPECT_EQ(cache.scales.size(), 2u);
  EXPECT_FLOAT_EQ(cache.scales.lookup("input"), 0.00787594f);
  EXPECT_EQ(cache.scales.lookup("layer: 1/out"), 1.0f);
}

TEST(CalibrateTensorRtCache, OtherLinesAreRefused) {
  auto refused = [](const char *line) {
    return llvm::toString(
        TensorRtCache::parse(
            ("TRT-8501-MinMaxCalibration\na: 3f800000\n" + llvm::Twine(line)).str(), "c")
            .takeError());
  };
  EXPECT_EQ(refused("b 3f800000"),
            "calibration cache 'c', line 3: 'b 3f800000' is not a tensor's name and eight digits "
            "of its scale, as in 'conv1: 3c010a14'");
  EXPECT_EQ(refused("b: 7f800000"), "calibration cache 'c', line 3: the scale of 'b' is INF");
  EXPECT_EQ(refused("a: 3f800000"), "calibration cache 'c', line 3: a second scale of 'a'");
}

} // namespace
