// What the checks say of the warps of a warpgroup, which execute wgmma together.
//
// SPDX-License-Identifier: Apache-2.0
#include "sim_async_testing.h"

using namespace simtest;

namespace {

enum WarpgroupPlant : uint32_t {
  kTogether,
  kOtherDescriptor,
  kOtherCount,
  kOtherOrder,
  kOneLess,
  kNoWarpsFence,
  kNoWarpsCommit,
  kNoWarpsWait,
  kLooserWait,
  kNoLanesWait
};
constexpr uint32_t kWarpgroup = 128;

/// Two m64n8k16 of f16, of zeroes; one warp of the four does something else.
void wgmmaBody(Gpu gpu) {
  auto plant = gpu.arg<uint32_t>(0);
  bool odd = gpu.tid() / 32 == 2;
  auto wgmma = [&](uint32_t site, uint32_t column, bool counts) {
    auto descriptor = [](uint64_t place) {
      return place / 16 | uint64_t(128 / 16) << 16 | uint64_t(256 / 16) << 32;
    };
    uint32_t words[13] = {};
    uint64_t a = descriptor(0), b = descriptor(2048 + column);
    memcpy(words, &a, sizeof a);
    memcpy(words + 2, &b, sizeof b);
    words[4] = counts;
    gpu.t->api->blocking_instruction(gpu.t,
                                     code(CAMEO_SIM_OP_WGMMA, 1, CAMEO_SIM_F16, CAMEO_SIM_F16) |
                                         uint64_t(CAMEO_SIM_F32) << 32,
                                     kFullMask, words, site);
  };
  for (uint32_t i = gpu.tid(); i < (2048 + 512) / 4; i += kWarpgroup)
    gpu.store(gpu.shared<uint32_t>() + i, 0u, 1);
  run(gpu, CAMEO_SIM_OP_PROXY_FENCE, 2);
  gpu.barrier(3);
  if (plant != kNoWarpsFence || !odd)
    run(gpu, CAMEO_SIM_OP_WGMMA_FENCE, 4);
  bool swaps = odd && plant == kOtherOrder;
  wgmma(swaps ? 6 : 5,
        odd && plant == kOtherDescriptor ? 16
        : swaps                          ? 256
                                         : 0,
        odd && plant == kOtherCount);
  if (plant != kOneLess || !odd)
    wgmma(swaps ? 5 : 6, swaps ? 0 : 256, true);
  if (plant != kNoWarpsCommit || !odd)
    run(gpu, CAMEO_SIM_OP_WGMMA_COMMIT, 7);
  if (!(odd && (plant == kNoWarpsWait || (plant == kNoLanesWait && gpu.tid() % 32 == 7))))
    run(gpu, code(CAMEO_SIM_OP_WGMMA_WAIT, odd && plant == kLooserWait), Words(), 8);
}

TEST(SimWgmma, WarpsOfAWarpgroup) {
  // The last warp to come to the barrier goes on first.
  const std::pair<WarpgroupPlant, const char *> plants[] = {
      {kOtherDescriptor, "divergent wgmma: warp 3 of the warpgroup executes it with other operands "
                         "(op 5, test.mlir:5)\n  in kernel test_kernel, node node, block (0,0,0), "
                         "warp 2, lanes 0-31"},
      {kOtherCount, "divergent wgmma: warp 3 of the warpgroup executes it with other operands (op "
                    "5"},
      {kOtherOrder, "divergent wgmma: warp 3 of the warpgroup executes another instruction instead "
                    "(op 6, test.mlir:6)\n  the other one: (op 5, test.mlir:5)"},
      {kOneLess,
       "divergent wgmma: warp 3 of the warpgroup executes another instruction instead (op "
       "7, test.mlir:7)\n  the other one: (op 6, test.mlir:6)"},
      {kNoWarpsFence, "divergent wgmma: "},
      {kNoWarpsCommit, "divergent wgmma: warp 3 of the warpgroup executes another instruction "
                       "instead (op 8, test.mlir:8)\n  the other one: (op 7, test.mlir:7)"},
      {kNoWarpsWait, "divergent wgmma: warp 3 of the warpgroup executes it, this one does not (op "
                     "8, test.mlir:8)\n  in kernel test_kernel, node node, block (0,0,0), warp 2"},
      {kLooserWait, "divergent wgmma: warp 3 of the warpgroup executes another instruction instead "
                    "(op 8"},
      {kNoLanesWait,
       "divergent wgmma: other lanes of the warp execute it (op 8, test.mlir:8)\n  in "
       "kernel test_kernel, node node, block (0,0,0), warp 2, lane 7"}};
  for (uint32_t checks : {uint32_t(kCheckAll), uint32_t(kCheckSync)}) {
    for (auto [plant, text] : plants) {
      TestDevice device(checks);
      LaunchResult result = device.run(kernel<wgmmaBody>, {1, kWarpgroup, 4096}, uint32_t(plant));
      EXPECT_NE(texts(result).find(text), std::string::npos)
          << "plant " << plant << " checks " << checks << "\n"
          << texts(result);
    }
    for (uint64_t seed = 0; seed < kSeeds; ++seed) {
      TestDevice device(checks, seed, /*threads=*/1);
      LaunchResult result =
          device.run(kernel<wgmmaBody>, {3, kWarpgroup, 4096}, uint32_t(kTogether));
      EXPECT_TRUE(result.ok()) << texts(result);
    }
  }
  // With other orders of warps, another one may be the first.
  for (uint64_t seed = 1; seed < kSeeds; ++seed)
    for (auto [plant, text] : plants) {
      TestDevice device(kCheckSync, seed);
      LaunchResult result = device.run(kernel<wgmmaBody>, {1, kWarpgroup, 4096}, uint32_t(plant));
      EXPECT_NE(texts(result).find("divergent wgmma: "), std::string::npos)
          << "plant " << plant << " seed " << seed << "\n"
          << texts(result);
    }
}

TEST(SimWgmma, WarpgroupsAreWhole) {
  TestDevice device(kCheckSync);
  LaunchResult result = device.run(kernel<wgmmaBody>, {1, 96, 4096}, uint32_t(kTogether));
  EXPECT_NE(texts(result).find("invalid instruction: the block has not all four warps of the "
                               "warpgroup (op 5"),
            std::string::npos)
      << texts(result);
}

} // namespace
