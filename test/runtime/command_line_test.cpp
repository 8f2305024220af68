// The executable as users run it: the stub with a payload appended, its output and exit codes. The
// C example against libcameo.so and against a library that holds a model.
// SPDX-License-Identifier: Apache-2.0
#include "runtime/cameo.h"
#include "segment_plans.h"

#include <cstdio>
#include <cstdlib>
#include <dlfcn.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

using namespace payload_test;

namespace {

struct Result {
  int code;
  std::string text; // stdout and stderr
};

Result run(const std::string &command) {
  FILE *pipe = popen((command + " 2>&1").c_str(), "r");
  Result result{-1, ""};
  char buffer[4096];
  while (size_t got = std::fread(buffer, 1, sizeof buffer, pipe))
    result.text.append(buffer, got);
  int status = pclose(pipe);
  result.code = WIFEXITED(status) ? WEXITSTATUS(status) : -1;
  return result;
}

bool has(const std::string &text, const std::string &part) {
  return text.find(part) != std::string::npos;
}

class CommandLine : public testing::Test {
protected:
  static void SetUpTestSuite() {
    folder = new std::string(testing::TempDir() + "cameo-cli-" + std::to_string(getpid()) + "/");
    mkdir(folder->c_str(), 0700);
    writeModel("model", testModel(SIM_TEST_IMAGE));
    writeModel("rows", rowModel(SIM_TEST_IMAGE));
    writeModel("loop", segment_test::whileModel());
    writeModel("sizes", segment_test::sizeModel());
  }
  // As an executable, a library and a plan.
  static void writeModel(const std::string &name, const PayloadFile &payload) {
    Bytes file = appended(readBytes(CAMEO_STUB), payload);
    writeBytes(path(name), file.data(), file.size());
    chmod(path(name).c_str(), 0755);
    file = appended(readBytes(CAMEO_MODEL_LIBRARY), payload);
    writeBytes(path(name + ".so"), file.data(), file.size());
    writeBytes(path(name + ".plan"), payload.data(), payload.size());
  }
  static void TearDownTestSuite() {
    run("rm -r " + *folder);
    delete folder;
  }
  static std::string path(const std::string &name) { return *folder + name; }
  // The artefact, on the simulator.
  static Result model(const std::string &arguments) {
    return run(path("model") + " --device=sim " + arguments);
  }

  static std::string *folder;
};

std::string *CommandLine::folder = nullptr;

std::string given(const std::string &rest) {
  return "'--input=x=2x64xf32=1' '--input=k=i64=5' " + rest;
}

} // namespace

TEST_F(CommandLine, PrintsOutputs) {
  Result result = model(given(""));
  EXPECT_EQ(result.code, 0) << result.text;
  EXPECT_TRUE(has(result.text, "running on simulator")) << result.text;
  EXPECT_TRUE(has(result.text, "result[0]: y\n2x64xf32=[2 2 2")) << result.text;
  EXPECT_TRUE(has(result.text, "result[1]: w\n4xf32=1 2 3 4\n")) << result.text;
  EXPECT_TRUE(has(result.text, "result[2]: s\n2xi64=2 5\n")) << result.text;
}

TEST_F(CommandLine, FilesOfEveryKind) {
  for (const char *end : {".npy", ".npz", ".pb"}) {
    std::string y = path(std::string("y") + end), s = path(std::string("s") + end);
    Result result = model(given("--output=y=@" + y + " --output=s=@" + s));
    ASSERT_EQ(result.code, 0) << result.text;
    // Its own output doubles again: y's first row is 2, then 4.
    result = model("--input=x=@" + y + " '--input=k=i64=5' --expected_output=s=@" + s);
    EXPECT_EQ(result.code, 0) << result.text;
    EXPECT_TRUE(has(result.text, "[SUCCESS]")) << result.text;
    result = model("--input=x=@" + y + " '--input=i64=5' --expected_output=@" + y);
    EXPECT_EQ(result.code, 1);
    EXPECT_TRUE(has(result.text, "[FAILED] result[0]: element at index 0 (4) does not match the "
                                 "expected (2)"))
        << result.text;
  }
  ASSERT_EQ(model(given("--output=@" + path("all.npz"))).code, 0);
  EXPECT_EQ(model(given("--expected_output=s=@" + path("all.npz"))).code, 0);
}

TEST_F(CommandLine, Tolerance) {
  EXPECT_EQ(model(given("'--expected_output=w=4xf32=1 2 3 4.01'")).code, 1);
  EXPECT_EQ(model(given("'--expected_output=w=4xf32=1 2 3 4.01' --rtol=0.01")).code, 0);
  EXPECT_EQ(model(given("'--expected_output=w=4xf32=1 2 3 nan' --equal-nan")).code, 1);
  EXPECT_EQ(model(given("'--expected_output=s=2xi64=2 6'")).code, 1);
  EXPECT_EQ(model(given("'--expected_output=s=2xi64=2 6' --atol=1")).code, 0);
  Result result = model(given("'--expected_output=w=2x2xf32=1 2 3 4'"));
  EXPECT_EQ(result.code, 1);
  EXPECT_TRUE(has(result.text, "[FAILED] result[1]: type 4xf32 does not match the expected "
                               "2x2xf32"))
      << result.text;
}

TEST_F(CommandLine, UsageErrors) {
  Result result = model("");
  EXPECT_EQ(result.code, 2);
  EXPECT_TRUE(has(result.text, "2 inputs are missing")) << result.text;
  EXPECT_TRUE(has(result.text, "\n  x: nx64xf32\n  k: i64")) << result.text;
  for (const char *arguments :
       {"--nonsense", "x", "--input", "--input=", "--device=tpu", "--input=z=@f.npy",
        "--input=@none.npy", "--input=@none.txt", "--percentile=100", "--benchmark=1",
        "--entry=third", "--sim-checks=magic", "--streams=0", "--atol=-1", "--shapes=q:1"}) {
    result = model(arguments);
    EXPECT_EQ(result.code, 2) << arguments << "\n" << result.text;
    EXPECT_TRUE(has(result.text, "error: ")) << arguments;
  }
  EXPECT_EQ(model("'--input=x=2x63xf32=1' '--input=i64=1'").code, 2);
  EXPECT_EQ(model("'--input=x=2x64xf64=1' '--input=i64=1'").code, 2);
  EXPECT_EQ(model(given("--output=y=@y.txt")).code, 2);
  EXPECT_EQ(model(given("--output=y=@/nowhere/y.npy")).code, 2);
  result = model("'--input=x=101x64xf32=1' '--input=i64=1'");
  EXPECT_EQ(result.code, 2);
  EXPECT_TRUE(has(result.text, "error: input 'x': 101 rows, at most 100")) << result.text;
}

TEST_F(CommandLine, DamagedFiles) {
  Bytes file = readBytes(path("model"));
  file[file.size() - 100] ^= 1;
  writeBytes(path("damaged"), file.data(), file.size());
  chmod(path("damaged").c_str(), 0755);
  EXPECT_EQ(run(path("damaged") + " --device=sim --random-inputs").code, 4);
  EXPECT_EQ(run(std::string(CAMEO_STUB) + " --info").code, 4);
  Result result = model(given("--arch=sm_90a"));
  EXPECT_EQ(result.code, 3);
  EXPECT_TRUE(has(result.text, "the model has no simulator image for sm_90a; it has simulator "
                               "image for sm_80"))
      << result.text;
  EXPECT_EQ(model(given("--sim-checks")).code, 3);
}

TEST_F(CommandLine, Info) {
  Result result = run(path("model") + " --info");
  EXPECT_EQ(result.code, 0);
  EXPECT_TRUE(has(result.text, "entry point: main\ninputs:\n  x: nx64xf32\n  k: i64  (read on the "
                               "host)\noutputs:\n"))
      << result.text;
  EXPECT_TRUE(has(result.text, "  simulator image for sm_80, ")) << result.text;
  EXPECT_TRUE(has(result.text, "weights: 32 B\n")) << result.text;
  EXPECT_TRUE(has(result.text, "compiler: test 1.0\n")) << result.text;
  EXPECT_FALSE(has(result.text, "work:")) << result.text;
  result = run(path("model") + " --info --shapes=x:2x64");
  EXPECT_TRUE(has(result.text, "work: not known before a run: 'k' is read on the host\n"))
      << result.text;
  result = run(path("model") + " --info=json");
  EXPECT_EQ(result.text, "{\"compiler\": \"test 1.0\", \"precision\": \"fp32\"}\n");
  EXPECT_EQ(run(path("model") + " --help").code, 0);
  EXPECT_TRUE(has(run(path("model") + " --version").text, "payload versions 2 to 5"));
}

TEST_F(CommandLine, Benchmark) {
  Result result =
      model("--random-inputs=7 --shapes=x:3x64 --benchmark --iterations=20 --duration=0 "
            "--warmUp=0 --percentile=50,99");
  EXPECT_EQ(result.code, 0) << result.text;
  EXPECT_TRUE(has(result.text, "Performance summary: SIMULATED")) << result.text;
  EXPECT_TRUE(has(result.text, "Throughput (simulated): ")) << result.text;
  EXPECT_TRUE(has(result.text, "GPU Compute Time (simulated): min = ")) << result.text;
  EXPECT_TRUE(has(result.text, "percentile(50%) = ")) << result.text;
  EXPECT_TRUE(has(result.text, "[W] percentile(99%) refused: 20 samples, 1000 needed"))
      << result.text;
  EXPECT_TRUE(has(result.text, "&&&& PASSED cameo.benchmark # ")) << result.text;
  result = model("--random-inputs --benchmark --iterations=500 --duration=0 --warmUp=0 --streams=3 "
                 "--avgRuns=100");
  EXPECT_EQ(result.code, 0) << result.text;
  EXPECT_TRUE(has(result.text, "percentile(99%) = ")) << result.text;
  EXPECT_TRUE(has(result.text, "Average on 100 runs - GPU latency: ")) << result.text;
  EXPECT_TRUE(has(model("--benchmark --shapes=q:1").text, "&&&& FAILED"));
  // What is only measured needs no inputs; what is compared does.
  result = model("--benchmark --iterations=1 --duration=0 --warmUp=0");
  EXPECT_EQ(result.code, 0) << result.text;
  EXPECT_TRUE(has(result.text, "input 'x' is not given: random values of 1x64xf32\n"))
      << result.text;
  EXPECT_EQ(model("--benchmark --expected_output=w=4xf32=1").code, 2);
}

// A script written for trtexec finds what it looks for, and a percentile only where there is one.
TEST_F(CommandLine, BenchmarkTable) {
  Result result = model("--benchmark --iterations=200 --duration=0 --warmUp=0 --percentile=90,99");
  ASSERT_EQ(result.code, 0) << result.text;
  for (const char *row :
       {"Latency", "Enqueue Time", "H2D Latency", "GPU Compute Time", "D2H Latency"}) {
    size_t at = result.text.find(std::string("\n") + row + " (simulated): min = ");
    ASSERT_NE(at, std::string::npos) << row << "\n" << result.text;
    std::string line = result.text.substr(at + 1, result.text.find('\n', at + 1) - at - 1);
    for (const char *part : {" ms, max = ", " ms, mean = ", " ms, median = ", "percentile(90%) = "})
      EXPECT_TRUE(has(line, part)) << line;
    EXPECT_FALSE(has(line, "percentile(99%)")) << line;
  }
  EXPECT_TRUE(has(result.text, "[W] percentile(99%) refused: 200 samples, 1000 needed"))
      << result.text;
  EXPECT_TRUE(has(result.text, "\nTotal Host Walltime: ")) << result.text;
  EXPECT_TRUE(has(result.text, "\nTotal GPU Compute Time (simulated): ")) << result.text;
}

TEST_F(CommandLine, SpacesAndMisspeltOptions) {
  Result result = model("--input x=2x64xf32=1 --input k=i64=5 --rtol 0.1 "
                        "--expected_output 'w=4xf32=1 2 3 4'");
  EXPECT_EQ(result.code, 0) << result.text;
  EXPECT_TRUE(has(model("--warmup=3").text, "unknown option --warmup; did you mean --warmUp?"));
  EXPECT_TRUE(has(model("--random_inputs").text, "did you mean --random-inputs?"));
  EXPECT_TRUE(has(model("--sim-check=race").text, "unknown option --sim-check; did you mean "
                                                  "--sim-checks?"));
  EXPECT_TRUE(has(model("-input=x").text, "unknown option -input; did you mean --input?"));
  EXPECT_TRUE(has(model("--fast").text, "unknown option --fast; --help lists them"));
  EXPECT_TRUE(has(model("--input --benchmark").text, "--input needs a value"));
  EXPECT_TRUE(has(model("--input=z=@f.npy").text, "the names are x, k"));
}

// Sizes that no machine has are an error, not an abort.
TEST_F(CommandLine, HugeSizes) {
  for (const char *arguments : {"--random-inputs --shapes=x:9000000000000x64",
                                "--input=x=9000000000000x64xf32=1 --input=k=i64=1",
                                "--random-inputs=1 "
                                "--shapes=x:100000000000000000x64"}) {
    Result result = model(arguments);
    EXPECT_EQ(result.code, 2) << result.text;
    EXPECT_TRUE(has(result.text, "error: ")) << result.text;
  }
}

TEST_F(CommandLine, RandomInputsRepeat) {
  EXPECT_EQ(model("--random-inputs=3").text, model("--random-inputs=3").text);
  EXPECT_NE(model("--random-inputs=3").text, model("--random-inputs=4").text);
}

TEST_F(CommandLine, Profile) {
  Result result = model(given("--profile=" + path("trace.json")));
  EXPECT_EQ(result.code, 0) << result.text;
  EXPECT_TRUE(has(result.text, "profile: 3 launches")) << result.text;
  Bytes trace = readBytes(path("trace.json"));
  std::string text(trace.begin(), trace.end());
  EXPECT_TRUE(has(text, "\"onnx_nodes\":[\"node_scale\"]")) << text;
  EXPECT_EQ(run("python3 -m json.tool " + path("trace.json")).code, 0);
}

// Runs that go by values that they compute: loops, and outputs whose shapes nobody knows before.
TEST_F(CommandLine, ValuesDecide) {
  std::string loop = path("loop") + " --device=sim '--input=x=3xi64=4 0 1' ";
  std::string sizes =
      path("sizes") + " --device=sim '--input=x=16xi64=3 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15' ";
  std::string many =
      path("sizes") + " --device=sim '--input=x=16xi64=9 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15' ";
  Result result = run(loop + "--runs=3");
  EXPECT_EQ(result.code, 0) << result.text;
  EXPECT_TRUE(has(result.text, "3xi64=0 12 0")) << result.text;
  EXPECT_TRUE(has(result.text, "3 runs gave the same results")) << result.text;
  result = run(sizes + "--runs=2");
  EXPECT_EQ(result.code, 0) << result.text;
  EXPECT_TRUE(has(result.text, "3xi64=3 1 2")) << result.text;
  result = run(sizes + "'--output=@" + path("y.npy") + "'");
  EXPECT_EQ(result.code, 0) << result.text;
  EXPECT_EQ(run(sizes + "'--expected_output=@" + path("y.npy") + "'").code, 0);
  result = run(many);
  EXPECT_EQ(result.code, 2) << result.text;
  EXPECT_TRUE(has(result.text, "'NonZero': 9 elements, at most 8")) << result.text;

  result = run(sizes + "--benchmark=json --duration=0.01 --warmUp=0");
  EXPECT_EQ(result.code, 0) << result.text;
  EXPECT_TRUE(has(result.text, "\"waits\":1") || has(result.text, "\"waits\": 1")) << result.text;
  result = run(loop + "--benchmark --duration=0.01 --warmUp=0 --noDataTransfers");
  EXPECT_EQ(result.code, 0) << result.text;
  EXPECT_TRUE(has(result.text, "Run: 4 launches, 5 waits for values that decide")) << result.text;
  EXPECT_TRUE(has(result.text, "the same as an eager run's, bit for bit")) << result.text;
  result = run(loop + "--profile=" + path("trace.json"));
  EXPECT_EQ(result.code, 0) << result.text;
  EXPECT_TRUE(has(result.text, "profile: 4 launches")) << result.text;
  EXPECT_TRUE(has(result.text, "5 waits for values that the run goes by")) << result.text;
  Bytes trace = readBytes(path("trace.json"));
  EXPECT_TRUE(has(std::string(trace.begin(), trace.end()), "\"waits\":5,\"waited_us\":"));
  result = run(path("loop") + " --info");
  EXPECT_EQ(result.code, 0) << result.text;
  EXPECT_TRUE(
      has(result.text, "work: values decide how a run goes on; its first part has 0 launches"))
      << result.text;
}

TEST_F(CommandLine, OtherModelFiles) {
  for (const char *name : {"model.plan", "model.so", "model"}) {
    Result result =
        run(std::string(CAMEO_STUB) + " --device=sim --entry=second --model=" + path(name) + " " +
            given("'--expected_output=w=4xf32=1 2 3 4'"));
    EXPECT_EQ(result.code, 0) << result.text;
  }
}

// Sanitized builds need their sanitizer's libraries too.
#if !CAMEO_SANITIZED
TEST_F(CommandLine, NeedsOnlyTheCLibrary) {
  for (const char *file : {CAMEO_STUB, CAMEO_MODEL_LIBRARY, CAMEO_LIBRARY}) {
    Result result = run(std::string("readelf -d ") + file +
                        " | grep NEEDED | grep -vE "
                        "'\\[(libc\\.so\\.6|libm\\.so\\.6|libpthread\\.so\\.0|libdl\\.so\\.2|ld-"
                        "linux-x86-64\\.so\\.2)\\]'");
    EXPECT_EQ(result.text, "") << file;
    // RHEL 8 and Debian 10 have it.
    result = run(std::string("readelf -V ") + file +
                 " | grep -oE 'GLIBC_2\\.[0-9]+' | sort -uV | tail -1");
    EXPECT_LE(std::atoi(result.text.substr(8).c_str()), 28) << result.text;
  }
}

#endif

// The stub is all that a file takes beyond weights and kernels. Its segments are padded to whole pages.
TEST_F(CommandLine, StubIsSmall) {
  struct stat info;
  ASSERT_EQ(stat(CAMEO_STUB, &info), 0);
#ifdef CAMEO_STRIPPED
  EXPECT_LE(info.st_size, 1190000);
#endif
}

TEST_F(CommandLine, CExample) {
  std::vector<float> row(64);
  row[37] = 1;
  writeBytes(path("row.raw"), reinterpret_cast<char *>(row.data()), 256);
  for (const char *name : {"rows", "rows.so", "rows.plan"}) {
    Result result =
        run(std::string(CAMEO_EXAMPLE) + " sim " + path(name) + " " + path("row.raw") + " n=1");
    EXPECT_EQ(result.code, 0) << result.text;
    EXPECT_EQ(result.text, "y: 1 64 f32, largest at 37\n");
  }
  Result result = run(std::string(CAMEO_EXAMPLE) + " sim " + path("rows") + " " + path("row.raw"));
  EXPECT_EQ(result.code, 1);
  EXPECT_EQ(result.text, "input 'x' has open sizes; give n=SIZE behind INPUT.raw\n");
  EXPECT_EQ(run(std::string(CAMEO_EXAMPLE) + " sim " + path("none") + " " + path("row.raw")).code,
            1);
}

// A library with a model in it finds its own payload.
TEST_F(CommandLine, LibraryLoadsItself) {
  void *library = dlopen(path("model.so").c_str(), RTLD_NOW | RTLD_LOCAL);
  ASSERT_NE(library, nullptr) << dlerror();
  auto load =
      reinterpret_cast<decltype(&cameo_model_load_self)>(dlsym(library, "cameo_model_load_self"));
  auto count = reinterpret_cast<decltype(&cameo_model_entry_count)>(
      dlsym(library, "cameo_model_entry_count"));
  auto destroy =
      reinterpret_cast<decltype(&cameo_model_destroy)>(dlsym(library, "cameo_model_destroy"));
  ASSERT_TRUE(load && count && destroy);
  EXPECT_EQ(dlsym(library, "main"), nullptr);
  cameo_model *loaded = nullptr;
  ASSERT_EQ(load(nullptr, &loaded), CAMEO_STATUS_OK);
  EXPECT_EQ(count(loaded), 2u);
  destroy(loaded);
}
