// What tests of asynchronous operations share: instructions as kernels give them to the engine, and
// kernels that are right as they stand, of which planted faults leave out one thing.
//
// SPDX-License-Identifier: Apache-2.0
#ifndef CAMEO_TEST_SIM_ASYNC_TESTING_H
#define CAMEO_TEST_SIM_ASYNC_TESTING_H

#include "sim_testing.h"

#include "runtime/sim/instructions.h"
#include "runtime/sim/isa/tensor_map.h"

#include <gtest/gtest.h>
#include <numeric>

namespace simtest {

constexpr uint64_t kSeeds = 6;
constexpr uint32_t kThreads = 64, kBytes = 4 * kThreads, kBarrierAt = 1024;

enum Plant : uint32_t {
  kNone,
  kNoWait,
  kNoCommit,
  kNoFence,
  kNoReadFence,
  kNoInitFence,
  kNoBarrier,
  kNoLastWait,
  kDivergent,
  kOtherFence,
  kReadWait,
  kFirstOfThree,
  kSecondOfThree,
  kThirdOfThree
};

/// Words that instructions are given, addresses as two of them.
struct Words {
  uint32_t words[16] = {};
  uint32_t count = 0;
  Words &address(const void *p) {
    memcpy(words + count, &p, sizeof p);
    count += 2;
    return *this;
  }
  Words &number(uint32_t value) {
    words[count++] = value;
    return *this;
  }
};

inline uint64_t code(CameoSimOpcode opcode, uint32_t a = 0, uint32_t b = 0, uint32_t c = 0) {
  return uint64_t(opcode) | uint64_t(a) << 8 | uint64_t(b) << 16 | uint64_t(c) << 24;
}
inline void run(Gpu gpu, uint64_t code, Words words, uint32_t site) {
  gpu.t->api->instruction(gpu.t, code, words.words, site);
}
inline void run(Gpu gpu, CameoSimOpcode opcode, uint32_t site) {
  run(gpu, code(opcode), Words(), site);
}
inline void initialise(Gpu gpu, uint64_t *barrier, uint32_t count, uint32_t site) {
  run(gpu, code(CAMEO_SIM_OP_MBAR_INIT), Words().address(barrier).number(count), site);
}
inline void expect(Gpu gpu, uint64_t *barrier, uint32_t bytes, uint32_t site) {
  run(gpu, code(CAMEO_SIM_OP_MBAR_EXPECT_TX, 1, 1), Words().address(barrier).number(bytes), site);
}
inline void waitFor(Gpu gpu, uint64_t *barrier, uint32_t parity, uint32_t site) {
  Words words;
  words.address(barrier).number(parity);
  gpu.t->api->blocking_instruction(gpu.t, code(CAMEO_SIM_OP_MBAR_WAIT, 1, 1), kFullMask,
                                   words.words, site);
}
inline void bulkLoad(Gpu gpu, void *to, const void *from, uint64_t *barrier, uint32_t site) {
  run(gpu, code(CAMEO_SIM_OP_BULK_LOAD),
      Words().address(to).address(from).number(kBytes).address(barrier), site);
}
inline void clusterBarrier(Gpu gpu, uint32_t site, bool aligned = false) {
  run(gpu, code(CAMEO_SIM_OP_CLUSTER_ARRIVE, 1, aligned), Words(), site);
  gpu.t->api->blocking_instruction(gpu.t, code(CAMEO_SIM_OP_CLUSTER_WAIT, aligned), kFullMask,
                                   nullptr, site);
}

struct Map {
  alignas(64) char bytes[128];
};
/// A map of 16 x 16 words, for boxes of 4 x 4.
inline Map mapOf(uint32_t *tensor) {
  TensorMapParameters parameters;
  parameters.type = 2; // u32
  parameters.rank = 2;
  parameters.address = tensor;
  parameters.sizes[0] = parameters.sizes[1] = 16;
  parameters.strides[0] = 64;
  parameters.box[0] = parameters.box[1] = 4;
  Map map;
  EXPECT_EQ(encodeTensorMap(parameters, map.bytes), nullptr);
  return map;
}

/// All texts, after "kind: ".
inline std::string texts(const LaunchResult &result) {
  std::string all = result.error;
  for (const Report &report : result.reports)
    all += "\n" + report.text;
  return all;
}

/// Runs `entry` with each of the plants, which must be found by races alone, and without.
inline void check(CameoSimKernel entry, uint32_t cluster,
                  const std::vector<std::pair<Plant, const char *>> &plants,
                  uint32_t (*expected)(uint32_t)) {
  std::vector<uint32_t> values(2 * kThreads);
  std::iota(values.begin(), values.end(), 100);
  for (uint64_t seed = 0; seed < kSeeds; ++seed) {
    for (auto [plant, text] : plants) {
      for (uint32_t checks : {uint32_t(kCheckAll), uint32_t(kCheckRace | kCheckSync)}) {
        TestDevice device(checks, seed);
        uint32_t *in = device.upload(values, "in");
        uint32_t *out = device.buffer<uint32_t>(2 * kThreads, "out");
        LaunchResult result =
            device.run(entry, {cluster, kThreads, 2048, false, cluster}, in, out, uint32_t(plant));
        EXPECT_NE(texts(result).find(text), std::string::npos)
            << "plant " << plant << " seed " << seed << " checks " << checks << "\n"
            << texts(result);
      }
    }
    TestDevice device(kCheckAll, seed);
    uint32_t *in = device.upload(values, "in");
    uint32_t *out = device.buffer<uint32_t>(2 * kThreads, "out");
    LaunchResult result =
        device.run(entry, {cluster, kThreads, 2048, false, cluster}, in, out, uint32_t(kNone));
    ASSERT_TRUE(result.ok()) << "seed " << seed << "\n" << texts(result);
    for (uint32_t i = 0; i < kThreads; ++i)
      ASSERT_EQ(out[i], expected(i)) << "seed " << seed << " word " << i;
  }
}

} // namespace simtest

#endif
