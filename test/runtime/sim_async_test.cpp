// Asynchronous operations and the checks: copies between global and shared memory, stores in other
// blocks. Each kernel is right as it stands; planted faults leave out one thing.
//
// SPDX-License-Identifier: Apache-2.0
#include "sim_async_testing.h"

using namespace simtest;

namespace {

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
