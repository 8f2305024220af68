// The artefact's own program on the fake driver: exit codes and what it prints, for every driver
// call that fails.
// SPDX-License-Identifier: Apache-2.0
#include "cuda_test_model.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdio>
#include <sys/wait.h>
#include <unistd.h>

using namespace cuda_test;

namespace {

struct Outcome {
  int exitCode; // -1: ended by a signal
  std::string output;
};

class CudaProgram : public testing::Test {
protected:
  void SetUp() override {
    directory = testing::TempDir() + "cameo-cuda-" + std::to_string(getpid());
    model = directory + ".plan";
    trace = directory + ".trace";
    write(makeModel());
  }
  void TearDown() override {
    unlink(model.c_str());
    unlink(trace.c_str());
  }

  void write(const payload_test::PayloadFile &file) {
    FILE *out = fopen(model.c_str(), "wb");
    ASSERT_NE(out, nullptr);
    ASSERT_EQ(fwrite(file.data(), 1, file.size(), out), file.size());
    ASSERT_EQ(fclose(out), 0);
  }

  // Runs the model on the fake driver with the given environment and options.
  Outcome run(const std::string &environment, const std::string &options) {
    unlink(trace.c_str());
    std::string driver = CAMEO_FAKE_CUDA;
    driver.resize(driver.rfind('/'));
    std::string command = "env LD_LIBRARY_PATH='" + driver + "' FAKECUDA_TRACE='" + trace + "' " +
                          environment + " " CAMEO_STUB " --model='" + model + "' " + options +
                          " 2>&1";
    Outcome outcome = {-1, ""};
    FILE *pipe = popen(command.c_str(), "r");
    if (!pipe)
      return outcome;
    char buffer[4096];
    for (size_t got; (got = fread(buffer, 1, sizeof(buffer), pipe)) > 0;)
      outcome.output.append(buffer, got);
    int status = pclose(pipe);
    // A shell reports a program's signal as 128 and its number.
    if (WIFEXITED(status) && WEXITSTATUS(status) < 128)
      outcome.exitCode = WEXITSTATUS(status);
    return outcome;
  }

  std::vector<std::string> traced() const {
    std::vector<std::string> lines;
    char line[512];
    if (FILE *file = fopen(trace.c_str(), "r")) {
      while (fgets(line, sizeof(line), file))
        lines.emplace_back(line, strcspn(line, "\n"));
      fclose(file);
    }
    return lines;
  }

  std::string directory, model, trace;
  const std::string runOnce = "--device=cuda '--input=x=3xf32=1 2 3'";
};

bool contains(const std::string &text, const std::string &part) {
  return text.find(part) != std::string::npos;
}

TEST_F(CudaProgram, RunsAndLeavesNothing) {
  Outcome outcome = run("", runOnce);
  EXPECT_EQ(outcome.exitCode, 0) << outcome.output;
  EXPECT_TRUE(contains(outcome.output, "Fake GPU")) << outcome.output;
  std::vector<std::string> lines = traced();
  ASSERT_FALSE(lines.empty());
  EXPECT_EQ(lines.back(), "left: nothing");
  int launches = 0;
  for (const std::string &line : lines) {
    launches += contains(line, "cuLaunchKernel ");
    EXPECT_FALSE(contains(line, "misuse")) << line;
  }
  EXPECT_EQ(launches, 2);
}

payload_test::Bytes readFile(const char *path) {
  payload_test::Bytes bytes;
  if (FILE *file = fopen(path, "rb")) {
    char buffer[4096];
    for (size_t got; (got = fread(buffer, 1, sizeof(buffer), file)) > 0;)
      bytes.insert(bytes.end(), buffer, buffer + got);
    fclose(file);
  }
  return bytes;
}

// y = 2 x for four values, with a simulator image that has the kernel, too.
payload_test::PayloadFile makeSimulatedModel() {
  payload_test::PlanBuilder plan;
  plan.input("x", CAMEO_FLOAT, {{4}});
  plan.output("y", CAMEO_FLOAT, {{4}});
  uint32_t scale = plan.kernel("scale", 4, {CAMEO_ARG_BUFFER});
  uint32_t zero = plan.constant(0), one = plan.constant(1), four = plan.constant(4),
           bytes = plan.constant(16);
  uint32_t x = plan.newBuffer(), y = plan.newBuffer();
  plan.op(CAMEO_OP_OUTPUT_SHAPE, {0, 1, four});
  plan.op(CAMEO_OP_ARENA_SIZE, {zero});
  plan.op(CAMEO_OP_BUF_INPUT, {x, 0});
  plan.op(CAMEO_OP_BUF_OUTPUT, {y, 0});
  plan.op(CAMEO_OP_COPY, {y, x, bytes});
  plan.op(CAMEO_OP_LAUNCH, {scale, one, one, one, zero, y});
  plan.op(CAMEO_OP_END);
  payload_test::PayloadBuilder builder;
  builder.section(CAMEO_SECTION_PLAN, plan.finish());
  builder.ptx(".version 7.5\n.target sm_75\n.visible .entry scale(.param .u64 p){ ret; }\n", 75);
  builder.section(CAMEO_SECTION_SIM_IMAGE, readFile(SIM_TEST_IMAGE), 0, 75);
  return builder.finish();
}

// y[i + shift] = x[i] for four values; the image checks addresses.
payload_test::PayloadFile makeShiftingModel(int64_t shift, const char *parameters) {
  payload_test::PlanBuilder plan;
  plan.input("x", CAMEO_FLOAT, {{4}});
  plan.output("y", CAMEO_FLOAT, {{4}});
  uint32_t copy = plan.kernel("copy", 4, {CAMEO_ARG_BUFFER, CAMEO_ARG_BUFFER, CAMEO_ARG_I32});
  uint32_t zero = plan.constant(0), one = plan.constant(1), four = plan.constant(4),
           by = plan.constant(shift);
  uint32_t x = plan.newBuffer(), y = plan.newBuffer();
  plan.op(CAMEO_OP_OUTPUT_SHAPE, {0, 1, four});
  plan.op(CAMEO_OP_ARENA_SIZE, {zero});
  plan.op(CAMEO_OP_BUF_INPUT, {x, 0});
  plan.op(CAMEO_OP_BUF_OUTPUT, {y, 0});
  plan.op(CAMEO_OP_LAUNCH, {copy, one, one, one, zero, x, y, by});
  plan.op(CAMEO_OP_END);
  payload_test::PayloadBuilder builder;
  builder.section(CAMEO_SECTION_PLAN, plan.finish());
  builder.ptx(std::string(".version 7.5\n.target sm_75\n.visible .entry copy(") + parameters +
                  "){ ret; }\n",
              75);
  builder.section(CAMEO_SECTION_SIM_IMAGE, readFile(SIM_TEST_CHECKED_IMAGE), 0, 75,
                  CAMEO_SIM_IMAGE_CHECKED);
  return builder.finish();
}

TEST_F(CudaProgram, KernelsOfTheArtefactRunOnTheFake) {
  write(makeSimulatedModel());
  for (const char *device : {"cuda", "sim"}) {
    std::string options = "--device=" + std::string(device) +
                          " '--input=x=4xf32=1 2 3 4' '--expected_output=y=4xf32=2 4 6 8'";
    Outcome outcome = run("FAKECUDA_ARTEFACT='" + model + "'", options);
    EXPECT_EQ(outcome.exitCode, 0) << outcome.output;
  }
  Outcome outcome =
      run("FAKECUDA_ARTEFACT='" + model + "'",
          "--device=cuda '--input=x=4xf32=1 2 3 4' '--expected_output=y=4xf32=2 4 6 9'");
  EXPECT_EQ(outcome.exitCode, 1) << outcome.output;
}

TEST_F(CudaProgram, AddressesBeyondTheMemoryAreFaults) {
  const char *parameters = ".param .u64 x, .param .u64 y, .param .u32 s";
  const std::string environment = "FAKECUDA_ARTEFACT='" + model + "'",
                    options = "--device=cuda '--input=x=4xf32=1 2 3 4'";
  write(makeShiftingModel(0, parameters));
  Outcome outcome = run(environment, options + " '--expected_output=y=4xf32=1 2 3 4'");
  EXPECT_EQ(outcome.exitCode, 0) << outcome.output;
  write(makeShiftingModel(1 << 20, parameters));
  outcome = run(environment, options);
  EXPECT_EQ(outcome.exitCode, 3) << outcome.output;
  EXPECT_TRUE(contains(outcome.output, "CUDA_ERROR_ILLEGAL_ADDRESS (700)")) << outcome.output;
  std::vector<std::string> lines = traced();
  EXPECT_TRUE(std::any_of(lines.begin(), lines.end(), [](const std::string &line) {
    return contains(line, "misuse: copy: ");
  }));
  EXPECT_EQ(lines.back(), "left: nothing") << "the context goes with all that it had";
}

TEST_F(CudaProgram, KernelsThatFailOrHang) {
  Outcome outcome = run("FAKECUDA_FAULT=add:719", runOnce);
  EXPECT_EQ(outcome.exitCode, 3) << outcome.output;
  EXPECT_TRUE(contains(outcome.output, "CUDA_ERROR_LAUNCH_FAILED (719)")) << outcome.output;
  outcome = run("FAKECUDA_FAULT=add:hang", runOnce + " --timeout=0.5");
  EXPECT_EQ(outcome.exitCode, 3) << outcome.output;
  EXPECT_TRUE(contains(outcome.output, "error: not done after 0.5 s; ")) << outcome.output;
}

TEST_F(CudaProgram, PlansThatDoNotFitTheCodeAreNotLaunched) {
  for (const char *parameters :
       {".param .u64 x, .param .u64 y", ".param .u64 x, .param .u64 y, .param .u64 s",
        ".param .u32 s, .param .u64 x, .param .u64 y"}) {
    write(makeShiftingModel(0, parameters));
    Outcome outcome =
        run("FAKECUDA_ARTEFACT='" + model + "'", "--device=cuda '--input=x=4xf32=1 2 3 4'");
    EXPECT_EQ(outcome.exitCode, 3) << outcome.output;
    EXPECT_TRUE(contains(outcome.output, "cuLaunchKernel: CUDA_ERROR_INVALID_VALUE (1)"))
        << outcome.output;
  }
}

TEST_F(CudaProgram, AutoTakesTheGpu) {
  Outcome outcome = run("", "--device=auto '--input=x=3xf32=1 2 3'");
  EXPECT_EQ(outcome.exitCode, 0) << outcome.output;
  EXPECT_TRUE(contains(outcome.output, "Fake GPU")) << outcome.output;
}

TEST_F(CudaProgram, FailingDriverIsNoReasonToSimulate) {
  for (const char *device : {"auto", "cuda"}) {
    Outcome outcome = run("FAKECUDA_FAIL=cuInit:1:999",
                          "--device=" + std::string(device) + " '--input=x=3xf32=1 2 3'");
    EXPECT_EQ(outcome.exitCode, 3) << outcome.output;
    EXPECT_TRUE(contains(outcome.output, "error: cuInit: CUDA_ERROR_UNKNOWN (999)"))
        << outcome.output;
    EXPECT_FALSE(contains(outcome.output, "running on the simulator")) << outcome.output;
  }
}

TEST_F(CudaProgram, WrongGpuAndOldDriver) {
  Outcome outcome = run("FAKECUDA_DEVICES=7.0", runOnce);
  EXPECT_EQ(outcome.exitCode, 3) << outcome.output;
  EXPECT_TRUE(contains(outcome.output, "no code for Fake GPU, an sm_70 GPU")) << outcome.output;
  outcome = run("FAKECUDA_DRIVER=11020", runOnce);
  EXPECT_EQ(outcome.exitCode, 3) << outcome.output;
  EXPECT_TRUE(contains(outcome.output,
                       "the driver of Fake GPU is for CUDA 11.2: PTX for sm_75 (PTX "
                       "ISA 7.5) needs a driver for CUDA 11.5"))
      << outcome.output;
}

TEST_F(CudaProgram, SaysWhichBetterCodeWasRefused) {
  write(makeModelWithCubin());
  Outcome outcome = run("", runOnce);
  EXPECT_EQ(outcome.exitCode, 0) << outcome.output;
  EXPECT_TRUE(contains(outcome.output, "sm_80): cubin for sm_80\n")) << outcome.output;
  EXPECT_FALSE(contains(outcome.output, "better code")) << outcome.output;
  outcome = run("FAKECUDA_FAIL=cuModuleLoadDataEx:1:209", runOnce);
  EXPECT_EQ(outcome.exitCode, 0) << outcome.output;
  EXPECT_TRUE(contains(outcome.output, "sm_80): ptx for sm_75\nbetter code was not taken: "
                                       "cuModuleLoadDataEx: CUDA_ERROR_NO_BINARY_FOR_GPU (209)"))
      << outcome.output;
  outcome = run("FAKECUDA_DRIVER=12040", runOnce);
  EXPECT_EQ(outcome.exitCode, 0) << outcome.output;
  EXPECT_TRUE(contains(outcome.output, "better code was not taken: cubin for sm_80 (made by CUDA "
                                       "13.0) needs a driver for CUDA 13.0\n"))
      << outcome.output;
}

TEST_F(CudaProgram, OutOfMemory) {
  Outcome outcome = run("FAKECUDA_FAIL=cuMemAlloc_v2:1:2", runOnce);
  EXPECT_EQ(outcome.exitCode, 3) << outcome.output;
  EXPECT_TRUE(contains(outcome.output, "CUDA_ERROR_OUT_OF_MEMORY (2): out of memory; asked for "))
      << outcome.output;
}

// With --benchmark, which uses events, several streams and recorded work.
TEST_F(CudaProgram, EveryFailureIsAnExitCode) {
  write(makeSimulatedModel());
  const std::string kernels = "FAKECUDA_ARTEFACT='" + model + "' ";
  const std::string options = "--device=cuda '--input=x=4xf32=1 2 3 4' --benchmark "
                              "--iterations=3 --warmUp=0 --duration=0 --percentile=50";
  Outcome good = run(kernels, options);
  ASSERT_EQ(good.exitCode, 0) << good.output;
  std::vector<std::string> lines = traced();
  EXPECT_EQ(lines.back(), "left: nothing");
  const char *const functions[] = {
#define CAMEO_CUDA_SYMBOL(name, ...) #name,
#include "runtime/cuda/driver_symbols.def"
  };
  for (const std::string function : functions) {
    int count = 0;
    for (const std::string &line : lines)
      count += line.substr(0, line.find(' ')) == function;
    // The first, one in the middle and the last call of each.
    for (int nth : {1, (count + 1) / 2, count}) {
      if (nth < 1)
        continue;
      SCOPED_TRACE(function + ", call " + std::to_string(nth));
      Outcome outcome =
          run(kernels + "FAKECUDA_FAIL=" + function + ":" + std::to_string(nth) + ":999", options);
      EXPECT_TRUE(outcome.exitCode == 3 || outcome.exitCode == 0) << outcome.output;
      if (outcome.exitCode == 3)
        EXPECT_TRUE(contains(outcome.output, function + ": CUDA_ERROR_UNKNOWN (999)"))
            << outcome.output;
      bool preventsRelease = function == "cuCtxGetCurrent" || function == "cuCtxPushCurrent_v2";
      if (!preventsRelease)
        EXPECT_EQ(traced().back(), "left: nothing");
    }
  }
}

} // namespace
