// Asynchronous operations and the checks of global memory, which bulk copies and cp.async read and
// write beside the threads.
//
// SPDX-License-Identifier: Apache-2.0
#include "sim_async_testing.h"

using namespace simtest;

namespace {

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

TEST(SimAsyncGlobal, BulkLoadsOfWhatThreadsWrite) {
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

TEST(SimAsyncGlobal, BulkStoresOfWhatThreadsRead) {
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

TEST(SimAsyncGlobal, SourcesOfCopies) {
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

TEST(SimAsyncGlobal, CopiesRaceWithOtherBlocks) {
  TestDevice device(kCheckAll, 0, /*threads=*/1);
  uint32_t *in = nullptr, *out = device.buffer<uint32_t>(kThreads, "out");
  LaunchResult result = device.run(kernel<otherBlockBody>, {2, kThreads, 2048}, in, out, 0u);
  EXPECT_NE(texts(result).find("race on global memory: read of 4 B at out+0x0 (of 256 B) (op 1, "
                               "test.mlir:1)\n  not ordered after the write by the bulk copy of "
                               "block (0,0,0) warp 0 lane 0 (op 5"),
            std::string::npos)
      << texts(result);
}

/// A box of 4 x 4 words at row 2, column 4 of a tensor of 16 x 16, by a plain store or as sums. The
/// second warp then accesses a word of the tensor, too, without waiting.
void tensorStoreBody(Gpu gpu) {
  auto *tensor = gpu.arg<uint32_t *>(0);
  auto *map = gpu.args[1];
  auto combine = gpu.arg<uint32_t>(2), row = gpu.arg<uint32_t>(3), column = gpu.arg<uint32_t>(4);
  if (gpu.tid() < 16)
    gpu.store(gpu.shared<uint32_t>() + gpu.tid(), 1u, 1);
  run(gpu, code(CAMEO_SIM_OP_PROXY_FENCE, CAMEO_SIM_FENCE_SHARED), Words(), 2);
  gpu.barrier(3);
  if (gpu.tid() == 0) {
    run(gpu, code(CAMEO_SIM_OP_TENSOR_STORE, 2, combine),
        Words().address(map).number(4).number(2).address(gpu.shared<uint32_t>()), 4);
    run(gpu, CAMEO_SIM_OP_BULK_COMMIT, 5);
  }
  gpu.barrier(10);
  if (gpu.tid() == 0) {
    run(gpu, code(CAMEO_SIM_OP_BULK_WAIT, 0), Words(), 6);
  } else if (gpu.tid() == 32 && row < 16) {
    uint32_t *word = tensor + 16 * row + column;
    if (combine == CAMEO_SIM_EXCH)
      gpu.load(word, 7);
    else
      gpu.atomicAdd(word, 1, 8);
  } else if (gpu.tid() == 33 && row == 16) {
    gpu.load(tensor + 16 * 3 + 5, 9);
  }
}

TEST(SimAsyncGlobal, BoxesOfTensors) {
  constexpr uint32_t kNowhere = 99;
  auto find = [&](uint32_t combine, uint32_t row, uint32_t column, uint32_t blocks = 1) {
    TestDevice device(kCheckRace, 0, /*threads=*/1);
    auto *tensor = device.upload(std::vector<uint32_t>(256), "tensor");
    Shape shape{blocks, kThreads, 2048};
    shape.maps = 2;
    return texts(
        device.run(kernel<tensorStoreBody>, shape, tensor, mapOf(tensor), combine, row, column));
  };
  const char *race = "by the tensor copy of block (0,0,0) warp 0 lane 0 (op 4";
  for (uint32_t row = 1; row < 7; ++row)
    for (uint32_t column = 3; column < 9; ++column) {
      bool inside = row >= 2 && row < 6 && column >= 4 && column < 8;
      std::string text = find(CAMEO_SIM_EXCH, row, column);
      EXPECT_EQ(text.find(race) != std::string::npos, inside)
          << "row " << row << " column " << column << "\n"
          << text;
      EXPECT_EQ(text.empty(), !inside);
    }
  // Sums race with reads, and with nothing that adds to them.
  EXPECT_EQ(find(CAMEO_SIM_ADD, 3, 5), "");
  EXPECT_NE(find(CAMEO_SIM_ADD, 16, 0).find(std::string("not ordered after the atomic ") + race),
            std::string::npos);
  EXPECT_EQ(find(CAMEO_SIM_ADD, kNowhere, 0, 3), "");
  EXPECT_NE(find(CAMEO_SIM_EXCH, kNowhere, 0, 2)
                .find("race on global memory: write of 16 B at tensor+0x90 (of 1024 B) (op 4, "
                      "test.mlir:4)\n  not ordered after the write by the tensor copy of block "
                      "(0,0,0)"),
            std::string::npos);
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

TEST(SimAsyncGlobal, ManyLoads) {
  check(kernel<manyLoadsBody>, 1, {{kNoWait, "race on global memory: "}},
        [](uint32_t i) { return i; });
}

} // namespace
