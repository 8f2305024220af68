// Asynchronous operations and the checks: copies between global and shared memory, stores in other
// blocks. Each kernel is right as it stands; planted faults leave out one thing.
//
// SPDX-License-Identifier: Apache-2.0
#include "sim_testing.h"

#include "runtime/sim/instructions.h"

#include <gtest/gtest.h>
#include <numeric>

using namespace simtest;

namespace {

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

uint64_t code(CameoSimOpcode opcode, uint32_t a = 0, uint32_t b = 0, uint32_t c = 0) {
  return uint64_t(opcode) | uint64_t(a) << 8 | uint64_t(b) << 16 | uint64_t(c) << 24;
}
void run(Gpu gpu, uint64_t code, Words words, uint32_t site) {
  gpu.t->api->instruction(gpu.t, code, words.words, site);
}
void run(Gpu gpu, CameoSimOpcode opcode, uint32_t site) { run(gpu, code(opcode), Words(), site); }
void initialise(Gpu gpu, uint64_t *barrier, uint32_t count, uint32_t site) {
  run(gpu, code(CAMEO_SIM_OP_MBAR_INIT), Words().address(barrier).number(count), site);
}
void expect(Gpu gpu, uint64_t *barrier, uint32_t bytes, uint32_t site) {
  run(gpu, code(CAMEO_SIM_OP_MBAR_EXPECT_TX, 1, 1), Words().address(barrier).number(bytes), site);
}
void waitFor(Gpu gpu, uint64_t *barrier, uint32_t parity, uint32_t site) {
  Words words;
  words.address(barrier).number(parity);
  gpu.t->api->blocking_instruction(gpu.t, code(CAMEO_SIM_OP_MBAR_WAIT, 1, 1), kFullMask,
                                   words.words, site);
}
void bulkLoad(Gpu gpu, void *to, const void *from, uint64_t *barrier, uint32_t site) {
  run(gpu, code(CAMEO_SIM_OP_BULK_LOAD),
      Words().address(to).address(from).number(kBytes).address(barrier), site);
}
void clusterBarrier(Gpu gpu, uint32_t site, bool aligned = false) {
  run(gpu, code(CAMEO_SIM_OP_CLUSTER_ARRIVE, 1, aligned), Words(), site);
  gpu.t->api->blocking_instruction(gpu.t, code(CAMEO_SIM_OP_CLUSTER_WAIT, aligned), kFullMask,
                                   nullptr, site);
}

/// All texts, after "kind: ".
std::string texts(const LaunchResult &result) {
  std::string all = result.error;
  for (const Report &report : result.reports)
    all += "\n" + report.text;
  return all;
}

/// Runs `entry` with each of the plants, which must be found by races alone, and without.
void check(CameoSimKernel entry, uint32_t cluster,
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

// ---- cp.async ----

/// Each thread copies a word; its neighbour in the other warp reads it.
void copyBody(Gpu gpu) {
  auto *in = gpu.arg<uint32_t *>(0), *out = gpu.arg<uint32_t *>(1);
  auto plant = gpu.arg<uint32_t>(2);
  uint32_t *own = gpu.shared<uint32_t>() + gpu.tid();
  run(gpu, code(CAMEO_SIM_OP_CP_ASYNC, 4), Words().address(own).address(in + gpu.tid()), 1);
  if (plant != kNoCommit)
    run(gpu, CAMEO_SIM_OP_CP_COMMIT, 2);
  if (plant != kNoWait)
    run(gpu, code(CAMEO_SIM_OP_CP_WAIT, 0), Words(), 3);
  uint32_t value = gpu.load(own, 4);
  if (plant != kNoBarrier)
    gpu.barrier(5);
  value += gpu.load(gpu.shared<uint32_t>() + (gpu.tid() ^ 32), 6);
  gpu.store(out + gpu.tid(), value, 7);
}

TEST(SimAsync, Copies) {
  check(
      kernel<copyBody>, 1,
      {{kNoWait, "(op 4, test.mlir:4)\n  not ordered after the write by the asynchronous copy of "
                 "block (0,0,0) warp"},
       {kNoCommit, "not ordered after the write by the asynchronous copy of"},
       {kNoBarrier, "(op 6, test.mlir:6)\n  not ordered after the write by the asynchronous copy"}},
      [](uint32_t i) { return 200 + i + (i ^ 32); });
}

/// Each thread uses what it has copied itself, once an mbarrier says so.
void trackedCopyBody(Gpu gpu) {
  auto *in = gpu.arg<uint32_t *>(0), *out = gpu.arg<uint32_t *>(1);
  auto plant = gpu.arg<uint32_t>(2);
  auto *barrier = gpu.shared<uint64_t>(kBarrierAt);
  uint32_t *own = gpu.shared<uint32_t>() + gpu.tid(), sum = 0;
  if (gpu.tid() == 0)
    initialise(gpu, barrier, kThreads, 1);
  gpu.barrier(2);
  for (uint32_t i = 0; i < 3; ++i) {
    bool last = i == 2;
    run(gpu, code(CAMEO_SIM_OP_CP_ASYNC, 4), Words().address(own).address(in + gpu.tid() + 2 * i),
        3);
    run(gpu, code(CAMEO_SIM_OP_CP_MBARRIER, 1), Words().address(barrier), 4);
    if (plant == kReadWait && last) // a wait of the thread's own will do as well
      run(gpu, code(CAMEO_SIM_OP_CP_WAIT, 255), Words(), 5);
    else if (plant != kNoWait || !last)
      waitFor(gpu, barrier, i % 2, 6);
    sum += gpu.load(own, 7);
  }
  gpu.store(out + gpu.tid(), sum, 8);
}

TEST(SimAsync, CopiesGivenToMbarriers) {
  check(kernel<trackedCopyBody>, 1,
        {{kNoWait, "(op 7, test.mlir:7)\n  not ordered after the write by the asynchronous copy of "
                   "block (0,0,0) warp"}},
        [](uint32_t i) { return 306 + 3 * i; });
  TestDevice device(kCheckAll);
  uint32_t *in = device.upload(std::vector<uint32_t>(2 * kThreads), "in");
  uint32_t *out = device.buffer<uint32_t>(2 * kThreads, "out");
  LaunchResult result =
      device.run(kernel<trackedCopyBody>, {1, kThreads, 2048}, in, out, uint32_t(kReadWait));
  EXPECT_TRUE(result.ok()) << texts(result);
}

// ---- Bulk loads ----

/// Threads write shared memory, a copy replaces it, all read, another copy replaces it.
void loadBody(Gpu gpu) {
  auto *in = gpu.arg<uint32_t *>(0), *out = gpu.arg<uint32_t *>(1);
  auto plant = gpu.arg<uint32_t>(2);
  auto *barrier = gpu.shared<uint64_t>(kBarrierAt);
  uint32_t *data = gpu.shared<uint32_t>(), *own = data + gpu.tid();
  bool first = gpu.tid() == 0;
  if (first) {
    initialise(gpu, barrier, 1, 1);
    if (plant != kNoInitFence)
      run(gpu, CAMEO_SIM_OP_MBAR_INIT_FENCE, 2);
  }
  if (plant != kNoInitFence) { // where a fence would cover the mbarrier as well
    gpu.store(own, gpu.tid(), 3);
    if (plant != kNoFence)
      run(gpu, CAMEO_SIM_OP_PROXY_FENCE, 4);
  }
  gpu.barrier(5);
  if (first) {
    expect(gpu, barrier, kBytes, 6);
    bulkLoad(gpu, data, in, barrier, 7);
  }
  if (plant != kNoWait || gpu.tid() < 32)
    waitFor(gpu, barrier, 0, 8);
  uint32_t value = gpu.load(own, 9);
  if (plant != kNoReadFence && plant != kNoInitFence)
    run(gpu, CAMEO_SIM_OP_PROXY_FENCE, 10);
  if (plant == kNoInitFence)
    return;
  if (plant != kNoBarrier)
    gpu.barrier(11);
  if (first) {
    expect(gpu, barrier, kBytes, 12);
    bulkLoad(gpu, data, in + kThreads, barrier, 13);
  }
  if (plant == kNoLastWait)
    return;
  waitFor(gpu, barrier, 1, 14);
  gpu.store(out + gpu.tid(), value + gpu.load(own, 15), 16);
}

TEST(SimAsync, BulkLoads) {
  check(
      kernel<loadBody>, 1,
      {{kNoWait, "race on shared memory: "},
       {kNoFence, "missing proxy fence: write of 16 B at shared+0x0 (op 7, test.mlir:7)\n  no "
                  "fence.proxy.async after the write by block (0,0,0) warp 0 lane 0 (op 3"},
       {kNoInitFence, "missing proxy fence: atomic of 8 B at shared+0x400 (op 7, test.mlir:7)\n  "
                      "no fence.proxy.async after the write by block (0,0,0) warp 0 lane 0 (op 1"},
       {kNoReadFence, "(op 13, test.mlir:13)\n  no fence.proxy.async after the read by block"},
       {kNoBarrier, "race on shared memory: "},
       {kNoLastWait, "asynchronous operation under way at the end of its block: nothing has "
                     "waited for it (op 13, test.mlir:13)"}},
      [](uint32_t i) { return 264 + 2 * i; });
}

/// The copy is done in time, for warp 0 has waited for it; warp 1 knows only that it was issued.
void unobservedBody(Gpu gpu) {
  auto *in = gpu.arg<uint32_t *>(0);
  auto *barrier = gpu.shared<uint64_t>(kBarrierAt), *issued = barrier + 1, *done = barrier + 2;
  if (gpu.tid() == 0)
    for (uint32_t i = 0; i < 3; ++i)
      initialise(gpu, barrier + i, 1, 1);
  run(gpu, CAMEO_SIM_OP_PROXY_FENCE, 2);
  gpu.barrier(3);
  if (gpu.tid() == 0) {
    expect(gpu, barrier, kBytes, 4);
    bulkLoad(gpu, gpu.shared<uint32_t>(), in, barrier, 5);
    run(gpu, code(CAMEO_SIM_OP_MBAR_ARRIVE), Words().address(issued), 6);
  }
  bool waits = gpu.arg<uint32_t>(2);
  if (gpu.tid() < 32) {
    waitFor(gpu, barrier, 0, 7);
    if (gpu.tid() == 0)
      run(gpu, code(CAMEO_SIM_OP_MBAR_ARRIVE), Words().address(done), 8);
    return;
  }
  waitFor(gpu, issued, 0, 9);
  if (waits)
    waitFor(gpu, done, 0, 10); // knows from warp 0 that the copy is done
  else
    for (int i = 0; i < 100; ++i) // lets time pass, which orders nothing
      gpu.warpSync(11);
  gpu.load(gpu.shared<uint32_t>() + gpu.tid(), 12);
}

TEST(SimAsync, WhoHasNotWaitedKnowsNothing) {
  for (uint64_t seed = 0; seed < kSeeds; ++seed)
    for (uint32_t waits : {0u, 1u}) {
      TestDevice device(kCheckRace, seed);
      uint32_t *in = device.upload(std::vector<uint32_t>(kThreads), "in"), *out = nullptr;
      LaunchResult result = device.run(kernel<unobservedBody>, {1, kThreads, 2048}, in, out, waits);
      EXPECT_EQ(result.ok(), waits) << texts(result);
      if (!waits)
        EXPECT_NE(texts(result).find("not ordered after the write by the bulk copy"),
                  std::string::npos)
            << texts(result);
    }
}

// ---- Bulk stores ----

void storeBody(Gpu gpu) {
  auto *out = gpu.arg<uint32_t *>(1);
  auto plant = gpu.arg<uint32_t>(2);
  uint32_t *own = gpu.shared<uint32_t>() + gpu.tid();
  gpu.store(own, 7 * gpu.tid(), 1);
  if (plant != kNoFence && (plant != kDivergent || gpu.tid() == 0))
    run(gpu, CAMEO_SIM_OP_PROXY_FENCE, 2);
  gpu.barrier(3);
  if (gpu.tid() == 0) {
    run(gpu, code(CAMEO_SIM_OP_BULK_STORE),
        Words().address(out).address(gpu.shared<uint32_t>()).number(kBytes), 4);
    if (plant != kNoCommit)
      run(gpu, CAMEO_SIM_OP_BULK_COMMIT, 5);
    if (plant != kNoWait && plant != kNoLastWait)
      run(gpu, code(CAMEO_SIM_OP_BULK_WAIT, 0), Words(), 6);
  }
  if (plant == kNoLastWait)
    return;
  if (plant != kNoBarrier)
    gpu.barrier(7);
  gpu.store(own, 0u, 8);
}

TEST(SimAsync, BulkStores) {
  check(kernel<storeBody>, 1,
        {{kNoWait, "(op 8, test.mlir:8)\n  not ordered after the read by the bulk copy of block "
                   "(0,0,0) warp 0 lane 0 (op 4, test.mlir:4)"},
         {kNoCommit, "not ordered after the read by the bulk copy"},
         {kNoBarrier, "race on shared memory: "},
         {kNoFence, "(op 4, test.mlir:4)\n  no fence.proxy.async after the write by block (0,0,0) "
                    "warp 0 lane 0 (op 1"},
         {kDivergent, "no fence.proxy.async after the write by block (0,0,0) warp"},
         {kNoLastWait, "asynchronous operation under way at the end of its block"}},
        [](uint32_t i) { return 7 * i; });
}

/// Three threads store the same bytes in turn; all have read them before they change.
void threeReadersBody(Gpu gpu) {
  auto *out = gpu.arg<uint32_t *>(1);
  auto plant = gpu.arg<uint32_t>(2);
  uint32_t *own = gpu.shared<uint32_t>() + gpu.tid();
  gpu.store(own, gpu.tid(), 1);
  run(gpu, CAMEO_SIM_OP_PROXY_FENCE, 2);
  gpu.barrier(3);
  constexpr uint32_t kIssuers[] = {0, 1, 32}, kPart = 64;
  for (uint32_t i = 0; i < 3; ++i) {
    if (gpu.tid() == kIssuers[i]) {
      run(gpu, code(CAMEO_SIM_OP_BULK_STORE),
          Words().address(out + 16 * i).address(gpu.shared<uint32_t>()).number(kPart), 4 + i);
      run(gpu, CAMEO_SIM_OP_BULK_COMMIT, 7);
    }
    gpu.barrier(8);
  }
  run(gpu,
      code(CAMEO_SIM_OP_BULK_WAIT,
           plant >= kFirstOfThree && gpu.tid() == kIssuers[plant - kFirstOfThree], 1),
      Words(), 9);
  gpu.barrier(10);
  gpu.store(own, 0u, 11);
  run(gpu, code(CAMEO_SIM_OP_BULK_WAIT, 0), Words(), 12);
  if (gpu.tid() >= 48)
    gpu.store(out + gpu.tid(), gpu.tid() % 16, 13);
}

TEST(SimAsync, ThreeReaders) {
  check(kernel<threeReadersBody>, 1,
        {{kFirstOfThree, "(op 11, test.mlir:11)\n  not ordered after the read by the bulk copy of "
                         "block (0,0,0) warp 0 lane 0 (op 4"},
         {kSecondOfThree, "(op 11, test.mlir:11)\n  not ordered after the read by the bulk copy of "
                          "block (0,0,0) warp 0 lane 1 (op 5"},
         {kThirdOfThree, "(op 11, test.mlir:11)\n  not ordered after the read by the bulk copy of "
                         "block (0,0,0) warp 1 lane 0 (op 6"}},
        [](uint32_t i) { return i % 16; });
}

// ---- Global memory ----

/// Threads write global memory, a bulk copy loads it, threads write it again.
void globalLoadBody(Gpu gpu) {
  auto *out = gpu.arg<uint32_t *>(1), *own = out + kThreads + gpu.tid();
  auto plant = gpu.arg<uint32_t>(2);
  auto *barrier = gpu.shared<uint64_t>(kBarrierAt);
  bool first = gpu.tid() == 0;
  if (first) {
    initialise(gpu, barrier, 1, 1);
    run(gpu, CAMEO_SIM_OP_MBAR_INIT_FENCE, 2);
  }
  gpu.store(own, 3 * gpu.tid(), 3);
  if (plant != kNoFence)
    run(gpu,
        code(CAMEO_SIM_OP_PROXY_FENCE,
             plant == kOtherFence ? CAMEO_SIM_FENCE_SHARED_CLUSTER : CAMEO_SIM_FENCE_GLOBAL),
        Words(), 4);
  if (plant != kNoBarrier)
    gpu.barrier(5);
  if (first) {
    expect(gpu, barrier, kBytes, 6);
    bulkLoad(gpu, gpu.shared<uint32_t>(), out + kThreads, barrier, 7);
  }
  gpu.barrier(8); // tells of the issue, not of the end
  if (plant != kNoWait)
    waitFor(gpu, barrier, 0, 9);
  gpu.store(own, 0u, 10);
  if (plant == kNoWait)
    waitFor(gpu, barrier, 0, 9);
  gpu.store(out + gpu.tid(), gpu.load(gpu.shared<uint32_t>() + gpu.tid(), 11), 12);
}

TEST(SimAsync, BulkLoadsOfWhatThreadsWrite) {
  check(kernel<globalLoadBody>, 1,
        {{kNoFence, "missing proxy fence: read of 256 B at out+0x100 (of 512 B) (op 7, "
                    "test.mlir:7)\n  no fence.proxy.async after the write by block (0,0,0) warp"},
         {kOtherFence, "missing proxy fence: read of 256 B at out+0x100"},
         {kNoBarrier, "race on global memory: "},
         {kNoWait, "(op 10, test.mlir:10)\n  not ordered after the read by the bulk copy of block "
                   "(0,0,0) warp 0 lane 0 (op 7"}},
        [](uint32_t i) { return 3 * i; });
}

/// A bulk copy writes global memory, which all read.
void globalStoreBody(Gpu gpu) {
  auto *out = gpu.arg<uint32_t *>(1);
  auto plant = gpu.arg<uint32_t>(2);
  auto store = [&](uint32_t site) {
    run(gpu, code(CAMEO_SIM_OP_BULK_STORE),
        Words().address(out + kThreads).address(gpu.shared<uint32_t>()).number(kBytes), site);
    run(gpu, CAMEO_SIM_OP_BULK_COMMIT, site);
  };
  gpu.store(gpu.shared<uint32_t>() + gpu.tid(), 5 * gpu.tid(), 1);
  run(gpu, code(CAMEO_SIM_OP_PROXY_FENCE, CAMEO_SIM_FENCE_SHARED), Words(), 2);
  gpu.barrier(3);
  if (gpu.tid() == 0) {
    store(4);
    if (plant == kDivergent)
      store(5); // nothing orders it after the first one
    run(gpu, code(CAMEO_SIM_OP_BULK_WAIT, 0, plant == kReadWait), Words(), 6);
    if (plant == kReadWait) // the second wait does what the first one should have done
      gpu.load(out + kThreads, 7);
    run(gpu, code(CAMEO_SIM_OP_BULK_WAIT, plant == kNoWait), Words(), 8);
  }
  if (plant != kNoBarrier)
    gpu.barrier(9);
  gpu.store(out + gpu.tid(), gpu.load(out + kThreads + gpu.tid(), 10), 11);
}

TEST(SimAsync, BulkStoresOfWhatThreadsRead) {
  check(kernel<globalStoreBody>, 1,
        {{kReadWait, "race on global memory: read of 4 B at out+0x100 (of 512 B) (op 7, "
                     "test.mlir:7)\n  not ordered after the write by the bulk copy of block "
                     "(0,0,0) warp 0 lane 0 (op 4"},
         {kDivergent, "race on global memory: write of 256 B at out+0x100 (of 512 B) (op 5, "
                      "test.mlir:5)\n  not ordered after the write by the bulk copy of block"},
         {kNoBarrier, "race on global memory: "}},
        [](uint32_t i) { return 5 * i; });
}

/// Threads write what their own cp.async reads.
void copySourceBody(Gpu gpu) {
  auto *out = gpu.arg<uint32_t *>(1), *source = out + kThreads + gpu.tid();
  auto plant = gpu.arg<uint32_t>(2);
  uint32_t *own = gpu.shared<uint32_t>() + gpu.tid();
  gpu.store(out + kThreads + (gpu.tid() ^ 32), 9 * gpu.tid(), 1);
  if (plant != kNoBarrier)
    gpu.barrier(2);
  run(gpu, code(CAMEO_SIM_OP_CP_ASYNC, 4), Words().address(own).address(source), 3);
  run(gpu, CAMEO_SIM_OP_CP_COMMIT, 4);
  gpu.barrier(5);
  if (plant == kNoWait)
    gpu.store(source, 0u, 6);
  run(gpu, code(CAMEO_SIM_OP_CP_WAIT, 0), Words(), 7);
  gpu.store(source, 0u, 8);
  gpu.store(out + gpu.tid(), gpu.load(own, 9), 10);
}

TEST(SimAsync, SourcesOfCopies) {
  check(kernel<copySourceBody>, 1,
        {{kNoWait, "(op 6, test.mlir:6)\n  not ordered after the read by the asynchronous copy of "
                   "block (0,0,0) warp"},
         {kNoBarrier, "(op 3, test.mlir:3)\n  not ordered after the write by block (0,0,0) warp"}},
        [](uint32_t i) { return 9 * (i ^ 32); });
}

/// The first block's copy writes what the second one reads.
void otherBlockBody(Gpu gpu) {
  auto *out = gpu.arg<uint32_t *>(1);
  if (gpu.block() == 1) {
    gpu.load(out + gpu.tid(), 1);
    return;
  }
  gpu.store(gpu.shared<uint32_t>() + gpu.tid(), 0u, 2);
  run(gpu, CAMEO_SIM_OP_PROXY_FENCE, 3);
  gpu.barrier(4);
  if (gpu.tid())
    return;
  run(gpu, code(CAMEO_SIM_OP_BULK_STORE),
      Words().address(out).address(gpu.shared<uint32_t>()).number(kBytes), 5);
  run(gpu, CAMEO_SIM_OP_BULK_COMMIT, 6);
  run(gpu, code(CAMEO_SIM_OP_BULK_WAIT, 0), Words(), 7);
}

TEST(SimAsync, CopiesRaceWithOtherBlocks) {
  TestDevice device(kCheckAll, 0, /*threads=*/1);
  uint32_t *in = nullptr, *out = device.buffer<uint32_t>(kThreads, "out");
  LaunchResult result = device.run(kernel<otherBlockBody>, {2, kThreads, 2048}, in, out, 0u);
  EXPECT_NE(texts(result).find("race on global memory: read of 4 B at out+0x0 (of 256 B) (op 1, "
                               "test.mlir:1)\n  not ordered after the write by the bulk copy of "
                               "block (0,0,0) warp 0 lane 0 (op 5"),
            std::string::npos)
      << texts(result);
}

/// More copies than are remembered until all know of their end.
void manyLoadsBody(Gpu gpu) {
  auto *out = gpu.arg<uint32_t *>(1);
  auto plant = gpu.arg<uint32_t>(2);
  auto *barrier = gpu.shared<uint64_t>(kBarrierAt);
  if (gpu.tid() == 0)
    initialise(gpu, barrier, 1, 1);
  gpu.store(out + kThreads + gpu.tid(), gpu.tid(), 2);
  run(gpu, CAMEO_SIM_OP_PROXY_FENCE, 3);
  gpu.barrier(4);
  constexpr uint32_t kLoads = 300;
  for (uint32_t i = 0; i < kLoads; ++i) {
    if (gpu.tid() == 0) {
      expect(gpu, barrier, kBytes, 5);
      bulkLoad(gpu, gpu.shared<uint32_t>(), out + kThreads, barrier, 6);
    }
    if (plant == kNoWait && i + 1 == kLoads && gpu.tid() >= 32)
      gpu.store(out + kThreads + gpu.tid(), 0u, 7);
    waitFor(gpu, barrier, i % 2, 8);
    gpu.barrier(9);
  }
  gpu.store(out + kThreads + gpu.tid(), 0u, 10);
  gpu.store(out + gpu.tid(), gpu.load(gpu.shared<uint32_t>() + gpu.tid(), 11), 12);
}

TEST(SimAsync, ManyLoads) {
  check(kernel<manyLoadsBody>, 1, {{kNoWait, "race on global memory: "}},
        [](uint32_t i) { return i; });
}

// ---- wgmma ----

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

TEST(SimAsync, WarpsOfAWarpgroup) {
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

TEST(SimAsync, WarpgroupsAreWhole) {
  TestDevice device(kCheckSync);
  LaunchResult result = device.run(kernel<wgmmaBody>, {1, 96, 4096}, uint32_t(kTogether));
  EXPECT_NE(texts(result).find("invalid instruction: the block has not all four warps of the "
                               "warpgroup (op 5"),
            std::string::npos)
      << texts(result);
}

// ---- Clusters ----

void *inOther(Gpu gpu, void *p, uint32_t site) {
  Words words;
  words.address(p).number(1 - gpu.t->cluster_ctarank);
  gpu.t->api->instruction(gpu.t, code(CAMEO_SIM_OP_MAPA), words.words, site);
  void *mapped;
  memcpy(&mapped, words.words + 3, sizeof mapped);
  return mapped;
}

/// Each thread stores in the other block, which waits for all bytes.
void asyncStoreBody(Gpu gpu) {
  auto *in = gpu.arg<uint32_t *>(0), *out = gpu.arg<uint32_t *>(1);
  auto plant = gpu.arg<uint32_t>(2);
  auto *barrier = gpu.shared<uint64_t>(kBarrierAt);
  uint32_t *own = gpu.shared<uint32_t>() + gpu.tid();
  if (gpu.tid() == 0) {
    initialise(gpu, barrier, 1, 1);
    expect(gpu, barrier, kBytes, 2);
  }
  uint32_t aligned = plant == kDivergent && gpu.tid() % 32 > 3 ? 4 : 3;
  clusterBarrier(gpu, aligned, /*aligned=*/true);
  run(gpu, code(CAMEO_SIM_OP_ASYNC_STORE, 1, 4),
      Words()
          .address(inOther(gpu, own, 5))
          .number(gpu.load(in + gpu.block() * kThreads + gpu.tid(), 6))
          .address(inOther(gpu, barrier, 5)),
      7);
  if (plant == kNoWait)
    clusterBarrier(gpu, 8); // orders what has been stored, but not what is on its way
  else
    waitFor(gpu, barrier, 0, 9);
  gpu.store(out + gpu.block() * kThreads + gpu.tid(), gpu.load(own, 10), 11);
  clusterBarrier(gpu, 12);
}

/// Each block copies to the other one, and ends when the other has got it.
void bulkSharedBody(Gpu gpu) {
  auto *in = gpu.arg<uint32_t *>(0), *out = gpu.arg<uint32_t *>(1);
  auto plant = gpu.arg<uint32_t>(2);
  auto *barrier = gpu.shared<uint64_t>(kBarrierAt);
  uint32_t *own = gpu.shared<uint32_t>() + gpu.tid(), record = gpu.block() * kThreads + gpu.tid();
  if (gpu.tid() == 0) {
    initialise(gpu, barrier, 1, 1);
    run(gpu, CAMEO_SIM_OP_MBAR_INIT_FENCE, 2);
    expect(gpu, barrier, kBytes, 3);
  }
  gpu.store(own, gpu.load(in + record, 4), 5);
  run(gpu, code(CAMEO_SIM_OP_PROXY_FENCE, CAMEO_SIM_FENCE_SHARED), Words(), 6);
  clusterBarrier(gpu, 7);
  if (gpu.tid() == 0)
    run(gpu, code(CAMEO_SIM_OP_BULK_SHARED),
        Words()
            .address(inOther(gpu, own + kThreads, 8))
            .address(own)
            .number(kBytes)
            .address(inOther(gpu, barrier, 8)),
        9);
  waitFor(gpu, barrier, 0, 10);
  gpu.store(out + record, gpu.load(own + kThreads, 11), 12);
  if (plant != kNoBarrier)
    clusterBarrier(gpu, 13);
}

TEST(SimAsync, BlocksOutliveTheirCopies) {
  check(kernel<bulkSharedBody>, 2,
        {{kNoBarrier, "asynchronous operation under way at the end of its block: it reads the "
                      "block's shared memory, and nothing makes the block wait (op 9, "
                      "test.mlir:9)"}},
        [](uint32_t i) { return 164 + i; });
}

TEST(SimAsync, StoresInOtherBlocks) {
  check(kernel<asyncStoreBody>, 2,
        {{kNoWait, "(op 10, test.mlir:10)\n  not ordered after the write by the asynchronous store "
                   "of block"},
         {kDivergent, "divergent barrier: "}},
        [](uint32_t i) { return 164 + i; });
}

} // namespace
