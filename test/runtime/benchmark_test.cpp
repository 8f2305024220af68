// --benchmark and --runs in this process, on the fake driver: what they notice, and what they
// print. SPDX-License-Identifier: Apache-2.0
#include "cuda_test_model.h"
#include "runtime/main/benchmark_statistics.h"
#include "runtime/main/session.h"

#include <cstdio>
#include <cstdlib>
#include <gtest/gtest.h>
#include <thread>
#include <unistd.h>

using namespace cameo;
using namespace cuda_test;

namespace {

bool has(const std::string &text, const std::string &part) {
  return text.find(part) != std::string::npos;
}

class BenchmarkTest : public testing::Test {
protected:
  void TearDown() override { unsetenv("FAKENVML_FAIL"); }
  void SetUp() override {
    fakecuda::reset();
    registerKernels();
    options.device = cli::DeviceChoice::Cuda;
    options.inputs = {"x=100xf32=3"};
    options.benchmark = cli::Report::Text;
    options.duration = options.warmUp = 0;
    options.iterations = 12;
  }

  // Opens makeModel() and runs the mode; what it printed is in `text`.
  runtime::Status run() {
    std::string path = testing::TempDir() + "cameo-benchmark-" + std::to_string(getpid());
    payload_test::PayloadFile file = makeModel();
    FILE *out = fopen(path.c_str(), "wb");
    EXPECT_EQ(fwrite(file.data(), 1, file.size(), out), file.size());
    EXPECT_EQ(fclose(out), 0);
    testing::internal::CaptureStdout();
    runtime::Status status = runOn(path);
    text = testing::internal::GetCapturedStdout();
    unlink(path.c_str());
    EXPECT_TRUE(fakecuda::live().none()) << fakecuda::live().str();
    EXPECT_TRUE(fakecuda::misuses().empty()) << fakecuda::misuses()[0];
    return status;
  }

  runtime::Status runOn(const std::string &path) {
    std::unique_ptr<runtime::Payload> payload;
    CAMEO_RETURN_IF_ERROR(runtime::Payload::open(path.c_str(), payload));
    cli::Session session;
    CAMEO_RETURN_IF_ERROR(cli::openSession(options, std::move(payload), session));
    std::vector<cli::HostTensor> inputs;
    CAMEO_RETURN_IF_ERROR(cli::gatherInputs(options, session, inputs));
    int interrupted = 0;
    return options.benchmark == cli::Report::None
               ? cli::runOnce(options, session, inputs, matched)
               : cli::runBenchmark(options, session, inputs, matched, interrupted);
  }

  // From the so-manieth launch on "add" is one too high for a value.
  static void spoilFrom(int launch) {
    auto count = std::make_shared<int>(0);
    fakecuda::registerKernel("add", {8, 8, 8, 8}, [=](const fakecuda::Launch &call) {
      float extra = ++*count >= launch ? 1 : 0;
      for (int64_t i = 0; i < call.argument<int64_t>(3); ++i)
        call.pointer<float>(0)[i] =
            call.pointer<float>(1)[i] + call.pointer<float>(2)[i] + (i == 7 ? extra : 0);
    });
  }

  // Of a column of the JSON.
  double mean(const std::string &column) const {
    size_t at = text.find("\"mean\":", text.find("\"" + column + "\""));
    return at == std::string::npos ? -1 : std::strtod(text.c_str() + at + 7, nullptr);
  }

  cli::Options options;
  bool matched = true;
  std::string text;
};

TEST(BenchmarkStatistics, OfSamples) {
  std::vector<cli::Sample> samples(100);
  for (size_t i = 0; i < samples.size(); ++i) {
    samples[i].compute = double((i * 37) % 100 + 1); // 1 to 100, mixed
    samples[i].in = 1;
    samples[i].flush = 3;
  }
  cli::Statistics times =
      cli::statisticsOf(cli::kColumns[cli::kComputeColumn], samples, {50, 90, 99});
  EXPECT_EQ(times.min, 1);
  EXPECT_EQ(times.max, 100);
  EXPECT_EQ(times.sum, 5050);
  EXPECT_EQ(times.mean, 50.5);
  EXPECT_EQ(times.median, 50.5);
  EXPECT_EQ(times.iqr, 50);
  // One sample in a hundred says nothing of the 99th percentile.
  std::vector<std::pair<double, double>> percentiles = {{50, 50}, {90, 90}};
  EXPECT_EQ(times.percentiles, percentiles);
  EXPECT_EQ(cli::statisticsOf(cli::kColumns[0], samples, {}).mean, 51.5);
  samples.pop_back();
  EXPECT_EQ(cli::statisticsOf(cli::kColumns[cli::kComputeColumn], samples, {}).median, 50);
  cli::BenchmarkResult result;
  result.samples = samples;
  result.wall = 99 * 3 + 198;
  EXPECT_EQ(cli::throughputOf(result), double(result.runs()) / 198 * 1000);
}

TEST_F(BenchmarkTest, ComparesWhatItMeasured) {
  for (bool transfers : {true, false})
    for (uint32_t streams : {1, 3}) {
      options.transfers = transfers;
      options.streams = streams;
      ASSERT_TRUE(run().ok());
      EXPECT_TRUE(matched);
      EXPECT_TRUE(has(text, "Results: the same as an eager run's, bit for bit\n")) << text;
      EXPECT_TRUE(has(text, transfers ? "; transfers in and out, overlapped with computing"
                                      : "; no data transfers"))
          << text;
      EXPECT_TRUE(has(text, "Run: 2 launches, replayed as a graph")) << text;
    }
}

TEST_F(BenchmarkTest, AReplayThatGoesWrongIsAMismatch) {
  // The first run is the eager one that all are compared with.
  for (int launch : {2, 8, 17})
    for (bool transfers : {true, false}) {
      matched = true;
      spoilFrom(launch);
      options.transfers = transfers;
      ASSERT_TRUE(run().ok());
      EXPECT_FALSE(matched);
      EXPECT_TRUE(has(text, "element at index 7 (14) is not that of an eager run (13) bit for bit"))
          << text;
      EXPECT_TRUE(has(text, "Results: NOT the same as an eager run's, bit for bit\n")) << text;
    }
}

TEST_F(BenchmarkTest, AReplayThatDoesNothingIsAMismatch) {
  auto count = std::make_shared<int>(0);
  fakecuda::registerKernel("add", {8, 8, 8, 8}, [=](const fakecuda::Launch &call) {
    if (++*count < 12)
      for (int64_t i = 0; i < call.argument<int64_t>(3); ++i)
        call.pointer<float>(0)[i] = call.pointer<float>(1)[i] + call.pointer<float>(2)[i];
  });
  options.transfers = false;
  ASSERT_TRUE(run().ok());
  EXPECT_FALSE(matched);
  EXPECT_TRUE(has(text, "[FAILED] result[0] of a run after those measured: element at index 0"))
      << text;
}

TEST_F(BenchmarkTest, ExpectedOutputsCountByTheirTolerances) {
  spoilFrom(2);
  options.expected = {"y=100xf32=56"}; // 6 + i lies within 50 of it
  options.atol = 51;
  ASSERT_TRUE(run().ok());
  EXPECT_TRUE(matched) << text;
  EXPECT_TRUE(has(text, "Results: the same as --expected_output's\n")) << text;
  options.atol = 1;
  ASSERT_TRUE(run().ok());
  EXPECT_FALSE(matched);
}

TEST_F(BenchmarkTest, ShortRunsAreMeasuredBackToBack) {
  options.transfers = false;
  options.benchmark = cli::Report::Json;
  ASSERT_TRUE(run().ok());
  // A graph takes the fake GPU 50 us or so.
  EXPECT_FALSE(has(text, "\"runs_per_sample\":1,")) << text;
  options.transfers = true;
  ASSERT_TRUE(run().ok());
  EXPECT_TRUE(has(text, "\"runs_per_sample\":1,")) << text;
  EXPECT_TRUE(has(text, "\"runs\":12,")) << text;
}

// The warm-up ends by the wall clock, so that a busy machine must have time for enough medians.
TEST_F(BenchmarkTest, WarmsUpUntilMediansAgree) {
  options.warmUp = 100;
  options.benchmark = cli::Report::Json;
  ASSERT_TRUE(run().ok());
  EXPECT_TRUE(has(text, "\"settled\":true")) << text;
  options.warmUp = 0;
  ASSERT_TRUE(run().ok());
  EXPECT_TRUE(has(text, "\"medians_ms\":[],\"settled\":false")) << text;
}

TEST_F(BenchmarkTest, SaysWhereTimesDoNotSettle) {
  options.warmUp = 4;
  auto count = std::make_shared<int>(0);
  fakecuda::registerKernel("add", {8, 8, 8, 8}, [=](const fakecuda::Launch &call) {
    for (int64_t i = 0; i < call.argument<int64_t>(3); ++i)
      call.pointer<float>(0)[i] = call.pointer<float>(1)[i] + call.pointer<float>(2)[i];
    // A host that takes longer each time to launch a graph whose time has begun.
    fakecuda::ClockModel clock;
    clock.graphLaunch = 3.0 * ++*count;
    fakecuda::setClock(clock);
  });
  ASSERT_TRUE(run().ok());
  EXPECT_TRUE(has(text, "[W] GPU time did not settle while warming up: the last medians are "))
      << text;
}

// By the fake's clock: with two runs on their way each takes little more than half of its three
// parts, and without transfers no more than the computing.
TEST_F(BenchmarkTest, TransfersOverlapWithComputing) {
  options.inputs = {"x=60000xf32=3"};
  options.benchmark = cli::Report::Json;
  fakecuda::setKernelTime("scale", 10);
  for (bool transfers : {true, false}) {
    options.transfers = transfers;
    double microseconds[2];
    for (int i = 0; i < 2; ++i) {
      options.iterations = i ? 600 : 200;
      double before = fakecuda::hostMicroseconds();
      ASSERT_TRUE(run().ok());
      microseconds[i] = fakecuda::hostMicroseconds() - before;
    }
    double each = (microseconds[1] - microseconds[0]) / 400;
    double parts = 1000 * mean("latency_ms"), compute = 1000 * mean("compute_ms");
    if (transfers)
      EXPECT_GT(parts, compute + 15) << text;
    EXPECT_LT(each, transfers ? parts * 0.6 : compute * 1.1) << text;
  }
}

TEST_F(BenchmarkTest, ColdRunsWriteTwiceTheCacheBefore) {
  options.cold = true;
  options.transfers = false;
  ASSERT_TRUE(run().ok());
  EXPECT_TRUE(matched);
  EXPECT_TRUE(has(text, "Cold: 2097152 bytes, twice the cache, are written before each run"))
      << text;
  int fills = 0;
  for (const std::string &call : fakecuda::calls())
    fills += call == "cuMemsetD8Async 2097152 B";
  EXPECT_EQ(fills, 3 + 12);
}

TEST_F(BenchmarkTest, TellsMemory) {
  options.benchmark = cli::Report::Json;
  ASSERT_TRUE(run().ok());
  // Two sets of buffers share an arena.
  EXPECT_TRUE(has(text, "\"memory\":{\"weight_bytes\":" + std::to_string(4 * weightCount) +
                            ",\"arena_bytes\":400,"
                            "\"input_and_output_bytes\":1600,\"page_locked_bytes\":1600,"
                            "\"free_memory_fell_bytes\":"))
      << text;
}

TEST_F(BenchmarkTest, TellsClocksAndEnergy) {
  ASSERT_TRUE(run().ok());
  EXPECT_TRUE(has(text, "driver 580.00.01 for CUDA 13.0\n")) << text;
  EXPECT_TRUE(has(text, "MHz, memory 2619 MHz; slowed down by: power cap; 54 C\n")) << text;
  EXPECT_TRUE(has(text, "Power: 123.456 W; energy: 0.416667 J a run (5 J of the whole board)\n"))
      << text;
  setenv("FAKENVML_FAIL", "nvmlDeviceGetTotal:3", 1);
  ASSERT_TRUE(run().ok());
  EXPECT_TRUE(has(text, "Power: 123.456 W; energy: not available\n")) << text;
  setenv("FAKENVML_FAIL", "nvmlInit_v2:9", 1);
  ASSERT_TRUE(run().ok());
  EXPECT_TRUE(has(text, "Clocks: not available: nvmlInit_v2: error 9\n")) << text;
  options.benchmark = cli::Report::Json;
  ASSERT_TRUE(run().ok());
  EXPECT_TRUE(has(text, "\"monitor\":{\"missing\":\"nvmlInit_v2: error 9\"}")) << text;
}

TEST_F(BenchmarkTest, WaitingSleepsWhereStreamsOutnumberProcessors) {
  options.benchmark = cli::Report::Json;
  options.streams = std::thread::hardware_concurrency() + 1;
  ASSERT_TRUE(run().ok());
  EXPECT_TRUE(has(text, "\"spins\":false")) << text;
  options.spin = true;
  ASSERT_TRUE(run().ok());
  EXPECT_TRUE(has(text, "\"spins\":true")) << text;
}

TEST_F(BenchmarkTest, RunsAreComparedWithTheFirst) {
  options.benchmark = cli::Report::None;
  options.runs = 5;
  ASSERT_TRUE(run().ok());
  EXPECT_TRUE(matched);
  EXPECT_TRUE(has(text, "5 runs gave the same results, bit for bit\n")) << text;
  EXPECT_EQ(fakecuda::callCount("cuGraphLaunch"), 4);
  spoilFrom(4);
  ASSERT_TRUE(run().ok());
  EXPECT_FALSE(matched);
  EXPECT_TRUE(has(text, "[FAILED] result[0] of run 4: element at index 7 (14) is not that of run 1 "
                        "(13) bit for bit"))
      << text;
}

} // namespace
