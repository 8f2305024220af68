// Misused instructions, on the simulator: each fault must be seen. What instructions compute is
// tested in test/instructions.
//
// SPDX-License-Identifier: Apache-2.0
#include "test/codegen/SimHarness.h"

#include <gtest/gtest.h>

using namespace cameo;
using namespace cameo::test;

namespace {

/// A kernel of one block of 64 threads, and what became of it: the first report, or "".
struct Launched {
  explicit Launched(const std::string &body, bool checked = true)
      : kernels(R"(gpu.module @k {
  llvm.mlir.global external @dynamic() {addr_space = 3 : i32, alignment = 1024 : i64} : !llvm.array<0 x i8>
  llvm.func @k(%in: !llvm.ptr<1>, %out: !llvm.ptr<1>) attributes {nvvm.kernel, nvvm.reqntid = array<i32: 64, 1, 1>} {
    %tid = nvvm.read.ptx.sreg.tid.x : i32
    %lane = nvvm.read.ptx.sreg.laneid : i32
    %zero = llvm.mlir.constant(0 : i32) : i32
    %one = llvm.mlir.constant(1 : i32) : i32
    %all = llvm.mlir.constant(-1 : i32) : i32
    %shared = llvm.mlir.addressof @dynamic : !llvm.ptr<3>
    %leads = llvm.icmp "eq" %tid, %zero : i32
    %odd_bit = llvm.and %lane, %one : i32
    %odd = llvm.icmp "eq" %odd_bit, %one : i32
)" + body + R"(
    llvm.return
  }
}
)",
                checked) {
    if (!kernels.error.empty()) {
      report = kernels.error;
      return;
    }
    for (size_t i = 0; i < input.size(); ++i)
      input[i] = float(i);
    float *in = kernels.share(input, "in"), *out = kernels.share(output, "out");
    sim::LaunchResult result = kernels.launch("k", 1, 64, {&in, &out}, 4096);
    report = result.reports.empty() ? result.error : result.reports[0].text;
  }

  std::vector<float> input = std::vector<float>(256), output = std::vector<float>(256);
  SimKernels kernels;
  std::string report;
};

std::string copy(const char *wait) {
  return std::string(R"(
    %from = llvm.getelementptr %in[%tid] : (!llvm.ptr<1>, i32) -> !llvm.ptr<1>, f32
    %to = llvm.getelementptr %shared[%tid] : (!llvm.ptr<3>, i32) -> !llvm.ptr<3>, f32
    %result = llvm.getelementptr %out[%tid] : (!llvm.ptr<1>, i32) -> !llvm.ptr<1>, f32
    kernel.ptx "cp.async.ca.shared.global 4"(%to, %from) : (!llvm.ptr<3>, !llvm.ptr<1>) -> ()
    kernel.ptx "cp.async.commit_group"() : () -> ()
)") + wait +
         R"(
    %value = llvm.load %to : !llvm.ptr<3> -> f32
    llvm.store %value, %result : f32, !llvm.ptr<1>
)";
}

#define EXPECT_HAS(TEXT, PART) EXPECT_NE((TEXT).find(PART), std::string::npos) << (TEXT)

TEST(SimInstructions, CopyWithoutWait) {
  Launched good(copy("kernel.ptx \"cp.async.wait_group 0\"() : () -> ()"));
  EXPECT_EQ(good.report, "");
  EXPECT_EQ(good.output[63], 63.0f);
  for (const char *wait : {"", "kernel.ptx \"cp.async.wait_group 1\"() : () -> ()"}) {
    Launched bad(copy(wait));
    EXPECT_HAS(bad.report, "read of uninitialised shared memory");
    // Without checks the data are not there.
    Launched unchecked(copy(wait), /*checked=*/false);
    EXPECT_EQ(unchecked.report, "");
    EXPECT_NE(unchecked.output[63], unchecked.output[63]);
  }
}

TEST(SimInstructions, DivergentCollective) {
  Launched run(R"(
    llvm.cond_br %odd, ^odd, ^end
  ^odd:
    %m = kernel.ptx "ldmatrix.sync.aligned.m8n8.x1.shared.b16"(%shared) : (!llvm.ptr<3>) -> i32
    nvvm.barrier0
    llvm.br ^end
  ^end:
    nvvm.barrier0
)");
  EXPECT_HAS(run.report, "deadlock");
  EXPECT_HAS(run.report, "wait for a collective instruction of lanes 0-31");
}

TEST(SimInstructions, CollectiveAfterLanesHaveExited) {
  Launched run(R"(
    llvm.cond_br %odd, ^odd, ^end
  ^odd:
    %m = kernel.ptx "ldmatrix.sync.aligned.m8n8.x1.shared.b16"(%shared) : (!llvm.ptr<3>) -> i32
    llvm.br ^end
  ^end:
)");
  EXPECT_HAS(run.report, "needs all 32 lanes of the warp");
}

TEST(SimInstructions, UninitialisedMbarrier) {
  Launched run(R"(
    %state = kernel.ptx "mbarrier.arrive.shared.b64"(%shared) : (!llvm.ptr<3>) -> i64
)");
  EXPECT_HAS(run.report, "the mbarrier is not initialised");
}

std::string withMbarrier(const char *count, const std::string &body) {
  return std::string("    %count = llvm.mlir.constant(") + count + R"( : i32) : i32
    llvm.cond_br %leads, ^init, ^ready
  ^init:
    kernel.ptx "mbarrier.init.shared.b64"(%shared, %count) : (!llvm.ptr<3>, i32) -> ()
    llvm.br ^ready
  ^ready:
    nvvm.barrier0
)" + body;
}

TEST(SimInstructions, MbarrierThatNobodyArrivesAt) {
  Launched run(withMbarrier("64", R"(
    %done = kernel.ptx "mbarrier.try_wait.parity.shared.b64"(%shared, %zero) : (!llvm.ptr<3>, i32) -> i1
)"));
  EXPECT_HAS(run.report, "deadlock");
  EXPECT_HAS(run.report, "wait for the mbarrier at shared+0x0");
}

TEST(SimInstructions, MbarrierWithTooManyArrivals) {
  Launched run(withMbarrier("3", R"(
    %two = llvm.mlir.constant(2 : i32) : i32
    %state = kernel.ptx "mbarrier.arrive.shared.b64"(%shared, %two) : (!llvm.ptr<3>, i32) -> i64
)"));
  EXPECT_HAS(run.report, "more arrivals at an mbarrier than it expects");
}

TEST(SimInstructions, RaceThatAnMbarrierOrders) {
  // Warp 0 writes and arrives, warp 1 waits and reads.
  auto text = [](bool waits) {
    std::string wait = waits
                           ? "kernel.ptx \"mbarrier.try_wait.parity.shared.b64\"(%shared, %zero) : "
                             "(!llvm.ptr<3>, i32) -> i1"
                           : "llvm.mlir.constant(true) : i1";
    return withMbarrier("32", R"(
    %warp_size = llvm.mlir.constant(32 : i32) : i32
    %place = llvm.getelementptr %shared[%lane] : (!llvm.ptr<3>, i32) -> !llvm.ptr<3>, i64
    %data = llvm.getelementptr %place[8] : (!llvm.ptr<3>) -> !llvm.ptr<3>, i64
    %writes = llvm.icmp "ult" %tid, %warp_size : i32
    llvm.cond_br %writes, ^write, ^read
  ^write:
    llvm.store %lane, %data : i32, !llvm.ptr<3>
    %state = kernel.ptx "mbarrier.arrive.shared.b64"(%shared) : (!llvm.ptr<3>) -> i64
    llvm.br ^end
  ^read:
    %done = )" + wait + R"(
    %value = llvm.load %data : !llvm.ptr<3> -> i32
    %to = llvm.getelementptr %out[%lane] : (!llvm.ptr<1>, i32) -> !llvm.ptr<1>, i32
    llvm.store %value, %to : i32, !llvm.ptr<1>
    llvm.br ^end
  ^end:
)");
  };
  EXPECT_EQ(Launched(text(true)).report, "");
  EXPECT_HAS(Launched(text(false)).report, "race on shared memory");
}

TEST(SimInstructions, LanesThatPart) {
  // Data decide who comes to a barrier: the vectorised form takes one way, and says so.
  auto text = [](const char *bound) {
    return std::string(R"(
    %from = llvm.getelementptr %in[%tid] : (!llvm.ptr<1>, i32) -> !llvm.ptr<1>, f32
    %value = llvm.load %from : !llvm.ptr<1> -> f32
    %bound = llvm.mlir.constant()") +
           bound + R"( : f32) : f32
    %more = llvm.fcmp "oge" %value, %bound : f32
    llvm.cond_br %more, ^meet, ^end
  ^meet:
    nvvm.bar.warp.sync %all : i32
    llvm.br ^end
  ^end:
)";
  };
  EXPECT_EQ(Launched(text("32.0"), /*checked=*/false).report, "");
  Launched parted(text("11.0"), /*checked=*/false);
  EXPECT_HAS(parted.report, "divergent barrier");
  EXPECT_HAS(parted.report, "lanes 0-10 of the warp do not reach it");
}

} // namespace
