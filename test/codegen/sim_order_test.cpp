// Orders of lanes in the vectorised form, which --sim-seed chooses: what kernels leave where they
// depend on it.
//
// SPDX-License-Identifier: Apache-2.0
#include "test/codegen/SimHarness.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <numeric>
#include <set>

using namespace cameo;
using namespace cameo::test;

namespace {

constexpr unsigned kBlocks = 16, kThreads = 64, kLanes = 32, kRounds = 4;

/// Each block has a counter and a list of its own. In every round all threads append their number
/// to the list, then the odd ones once more; a barrier ends the round.
const char *const kAppends = R"(
gpu.module @k {
  llvm.func @appends(%counts: !llvm.ptr<1>, %lists: !llvm.ptr<1>, %rounds: i32)
      attributes {nvvm.kernel, nvvm.reqntid = array<i32: 64, 1, 1>} {
    %tid = nvvm.read.ptx.sreg.tid.x : i32
    %block = nvvm.read.ptx.sreg.ctaid.x : i32
    %zero = llvm.mlir.constant(0 : i32) : i32
    %one = llvm.mlir.constant(1 : i32) : i32
    %room = llvm.mlir.constant(1024 : i32) : i32
    %count = llvm.getelementptr %counts[%block] : (!llvm.ptr<1>, i32) -> !llvm.ptr<1>, i32
    %begin = llvm.mul %block, %room : i32
    %list = llvm.getelementptr %lists[%begin] : (!llvm.ptr<1>, i32) -> !llvm.ptr<1>, i32
    %low = llvm.and %tid, %one : i32
    %odd = llvm.icmp "eq" %low, %one : i32
    llvm.br ^round(%zero : i32)
  ^round(%i: i32):
    %at = llvm.atomicrmw add %count, %one monotonic : !llvm.ptr<1>, i32
    %p = llvm.getelementptr %list[%at] : (!llvm.ptr<1>, i32) -> !llvm.ptr<1>, i32
    llvm.store %tid, %p : i32, !llvm.ptr<1>
    llvm.cond_br %odd, ^again, ^met
  ^again:
    %then = llvm.atomicrmw add %count, %one monotonic : !llvm.ptr<1>, i32
    %q = llvm.getelementptr %list[%then] : (!llvm.ptr<1>, i32) -> !llvm.ptr<1>, i32
    llvm.store %tid, %q : i32, !llvm.ptr<1>
    llvm.br ^met
  ^met:
    nvvm.barrier0
    %next = llvm.add %i, %one : i32
    %more = llvm.icmp "ult" %next, %rounds : i32
    llvm.cond_br %more, ^round(%next : i32), ^done
  ^done:
    llvm.return
  }
  llvm.func @last(%values: !llvm.ptr<1>) attributes {nvvm.kernel, nvvm.reqntid = array<i32: 64, 1, 1>} {
    %lane = nvvm.read.ptx.sreg.laneid : i32
    %block = nvvm.read.ptx.sreg.ctaid.x : i32
    %p = llvm.getelementptr %values[%block] : (!llvm.ptr<1>, i32) -> !llvm.ptr<1>, i32
    llvm.store %lane, %p : i32, !llvm.ptr<1>
    llvm.return
  }
}
)";

class SimOrder : public testing::Test {
protected:
  void launch(const char *kernel, uint64_t seed, unsigned workers, bool noSync,
              std::vector<const void *> parameters) {
    sim::Options options;
    options.seed = seed;
    options.threads = workers;
    sim::Engine engine(options);
    sim::Launch launch;
    launch.image = &kernels.image->table();
    launch.kernel = kernels.image->find(kernel);
    launch.grid[0] = kBlocks;
    launch.block[0] = kThreads;
    launch.noSync = noSync;
    launch.args = parameters.data();
    sim::LaunchResult result = engine.launch(launch);
    ASSERT_TRUE(result.ok()) << result.error;
  }

  /// The blocks' lists, one after the other.
  std::vector<uint32_t> appended(uint64_t seed, unsigned workers = 1) {
    std::vector<uint32_t> counts(kBlocks), lists(kBlocks * 1024u), result;
    uint32_t *count = counts.data(), *list = lists.data(), rounds = kRounds;
    launch("appends", seed, workers, /*noSync=*/false, {&count, &list, &rounds});
    for (unsigned block = 0; block < kBlocks; ++block) {
      EXPECT_EQ(counts[block], kRounds * (kThreads + kThreads / 2));
      auto begin = lists.begin() + block * 1024u;
      result.insert(result.end(), begin, begin + counts[block]);
    }
    return result;
  }

  std::vector<uint32_t> last(uint64_t seed) {
    std::vector<uint32_t> values(kBlocks, ~0u);
    uint32_t *value = values.data();
    launch("last", seed, /*workers=*/1, /*noSync=*/true, {&value});
    return values;
  }

  void SetUp() override { ASSERT_EQ(kernels.error, ""); }

  SimKernels kernels{kAppends, /*checked=*/false};
};

/// What warps append in a row.
constexpr unsigned kRun = kLanes + kLanes / 2;

/// The order in which a warp's lanes come, from what they append.
std::vector<uint32_t> lanesOf(const uint32_t *run) {
  std::vector<uint32_t> lanes;
  for (const uint32_t *thread = run; thread != run + kRun; ++thread) {
    EXPECT_EQ(*thread / kLanes, *run / kLanes) << "another warp";
    if (lanes.empty() || lanes.back() != *thread % kLanes)
      lanes.push_back(*thread % kLanes);
  }
  return lanes;
}

std::vector<uint32_t> natural() {
  std::vector<uint32_t> lanes(kLanes);
  std::iota(lanes.begin(), lanes.end(), 0);
  return lanes;
}

TEST_F(SimOrder, NaturalWithoutASeed) {
  std::vector<uint32_t> list = appended(0);
  for (size_t run = 0; run < list.size(); run += kRun)
    EXPECT_EQ(lanesOf(&list[run]), natural());
  EXPECT_EQ(last(0), std::vector<uint32_t>(kBlocks, kLanes - 1));
}

TEST_F(SimOrder, SeedsReorderLanes) {
  std::set<std::vector<uint32_t>> orders;
  for (uint64_t seed : {1, 2, 3}) {
    std::vector<uint32_t> list = appended(seed);
    for (size_t run = 0; run < list.size(); run += kRun) {
      std::vector<uint32_t> lanes = lanesOf(&list[run]);
      EXPECT_TRUE(std::is_permutation(lanes.begin(), lanes.end(), natural().begin()));
      orders.insert(lanes);
    }
  }
  // 512 orders there are, of which 384 were drawn: warps, blocks and rounds each draw their own.
  EXPECT_GT(orders.size(), 150u);
  // Any lane may come before any other.
  for (uint32_t a = 0; a < kLanes; ++a)
    for (uint32_t b = 0; b < kLanes; ++b)
      if (a != b) {
        EXPECT_TRUE(std::any_of(orders.begin(), orders.end(),
                                [&](const auto &lanes) {
                                  return std::find(std::find(lanes.begin(), lanes.end(), a),
                                                   lanes.end(), b) != lanes.end();
                                }))
            << a << " before " << b;
      }
}

TEST_F(SimOrder, ASeedsOrderIsTheSameAgain) {
  std::vector<uint32_t> list = appended(5);
  EXPECT_EQ(list, appended(5));
  EXPECT_EQ(list, appended(5, /*workers=*/3));
  EXPECT_NE(list, appended(6));
  EXPECT_EQ(last(5), last(5));
}

TEST_F(SimOrder, SeedsChooseWhoseValueStays) {
  std::vector<uint32_t> values = last(5);
  std::set<uint32_t> lanes(values.begin(), values.end());
  EXPECT_GT(lanes.size(), 4u);
  EXPECT_LT(*lanes.rbegin(), kLanes);
}

} // namespace
