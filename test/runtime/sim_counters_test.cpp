// What kernels do to memory, counted: hand-written kernels whose counts can be worked out.
//
// SPDX-License-Identifier: Apache-2.0
#include "sim_testing.h"

#include "runtime/format.h"
#include "runtime/sim/instructions.h"
#include "runtime/sim/observe/estimate.h"

#include <gtest/gtest.h>

using namespace simtest;

namespace {

Options counting(uint64_t seed = 0, uint32_t checks = 0) {
  Options options;
  options.threads = 2;
  options.seed = seed;
  options.checks = checks;
  options.counters = true;
  return options;
}

struct alignas(16) Vec4 {
  float values[4];
};
struct alignas(8) Vec2 {
  float values[2];
};

template <typename... Args>
KernelCounters count(CameoSimKernel entry, const Shape &shape, const Args &...values) {
  TestDevice device(counting());
  LaunchResult result = device.run(entry, shape, values...);
  EXPECT_TRUE(result.ok()) << result.error;
  return result.work;
}

// ---- Global memory: (buffer, first element, step) ----

template <typename T> void loadBody(Gpu gpu) {
  const T *x = gpu.arg<const T *>(0);
  gpu.load(x + gpu.arg<uint32_t>(1) + gpu.tid() * gpu.arg<uint32_t>(2), 1);
}
template <typename T> void storeBody(Gpu gpu) {
  T *x = gpu.arg<T *>(0);
  gpu.store(x + gpu.arg<uint32_t>(1) + gpu.tid() * gpu.arg<uint32_t>(2), T(), 1);
}

template <typename T> GlobalCounts loads(uint32_t first, uint32_t step, bool noSync = false) {
  alignas(256) static char memory[1 << 17];
  return count(kernel<loadBody<T>>, {1, 32, 0, noSync}, static_cast<void *>(memory), first, step)
      .globalLoads;
}

void expectGlobal(const GlobalCounts &counts, uint64_t bytes, uint64_t sectors, uint64_t ideal) {
  EXPECT_EQ(counts.requests, 1u);
  EXPECT_EQ(counts.bytes, bytes);
  EXPECT_EQ(counts.sectors, sectors);
  EXPECT_EQ(counts.idealSectors, ideal);
}

TEST(SimCounters, GlobalLoads) {
  for (bool noSync : {false, true}) { // fibers, and threads one after the other
    SCOPED_TRACE(noSync);
    expectGlobal(loads<float>(0, 1, noSync), 128, 4, 4);
    expectGlobal(loads<float>(0, 2, noSync), 128, 8, 4);
    expectGlobal(loads<float>(1, 1, noSync), 128, 5, 4); // unaligned to sectors
  }
  expectGlobal(loads<float>(0, 512), 128, 32, 4); // a column
  expectGlobal(loads<float>(7, 0), 128, 1, 1);    // broadcast
  expectGlobal(loads<Vec4>(0, 1), 512, 16, 16);
  expectGlobal(loads<Vec4>(0, 4), 512, 32, 16);
  expectGlobal(loads<uint8_t>(0, 1), 32, 1, 1);
  expectGlobal(loads<double>(3, 1), 256, 9, 8);
}

TEST(SimCounters, GlobalStores) {
  alignas(256) static float memory[4096];
  KernelCounters counters =
      count(kernel<storeBody<float>>, {4, 64}, static_cast<void *>(memory), 0u, 4u);
  EXPECT_EQ(counters.globalStores.requests, 8u);
  EXPECT_EQ(counters.globalStores.bytes, 1024u);
  EXPECT_EQ(counters.globalStores.sectors, 8u * 16);
  EXPECT_EQ(counters.globalStores.idealSectors, 8u * 4);
  EXPECT_EQ(counters.of(InstructionKind::Store), 8u);
  EXPECT_EQ(counters.of(InstructionKind::Load), 0u);
  EXPECT_EQ(counters.blocks, 4u);
  EXPECT_EQ(counters.warps, 8u);
  EXPECT_EQ(counters.threads, 256u);
}

TEST(SimCounters, PartOfAWarp) {
  alignas(256) static float memory[4096];
  KernelCounters counters =
      count(kernel<loadBody<float>>, {1, 40}, static_cast<void *>(memory), 0u, 1u);
  EXPECT_EQ(counters.globalLoads.requests, 2u);
  EXPECT_EQ(counters.globalLoads.bytes, 160u);
  EXPECT_EQ(counters.globalLoads.sectors, 5u);
  EXPECT_EQ(counters.warps, 2u);
}

void badlyAlignedBody(Gpu gpu) {
  char *x = gpu.arg<char *>(0);
  gpu.access(x + gpu.tid() * 16, 16, CAMEO_SIM_READ, 1, 4);
}

TEST(SimCounters, VectorsWithLittleAlignmentAreSeveralInstructions) {
  alignas(256) static char memory[512];
  KernelCounters counters = count(kernel<badlyAlignedBody>, {1, 32}, static_cast<void *>(memory));
  EXPECT_EQ(counters.globalLoads.requests, 4u);
  EXPECT_EQ(counters.globalLoads.bytes, 512u);
  EXPECT_EQ(counters.globalLoads.sectors, 4u * 16);
  EXPECT_EQ(counters.globalLoads.idealSectors, 4u * 4);
}

// ---- Shared memory: (step between lanes, lanes that share an address) ----

template <typename T> void sharedBody(Gpu gpu) {
  uint32_t index = gpu.tid() / gpu.arg<uint32_t>(1) * gpu.arg<uint32_t>(0);
  T *x = gpu.shared<T>();
  gpu.store(x + index, T(), 1);
  gpu.load(x + index, 2);
}

template <typename T>
void expectShared(uint32_t step, uint32_t sharing, uint64_t wavefronts, uint64_t ideal) {
  KernelCounters counters = count(kernel<sharedBody<T>>, {1, 32, 64 << 10}, step, sharing);
  for (const SharedCounts &counts : {counters.sharedLoads, counters.sharedStores}) {
    EXPECT_EQ(counts.requests, 1u);
    EXPECT_EQ(counts.bytes, 32 * sizeof(T));
    EXPECT_EQ(counts.wavefronts, wavefronts);
    EXPECT_EQ(counts.idealWavefronts, ideal);
    EXPECT_EQ(counts.conflicts(), wavefronts - ideal);
  }
  EXPECT_EQ(counters.globalLoads.requests + counters.globalStores.requests, 0u);
}

TEST(SimCounters, SharedWords) {
  expectShared<float>(1, 1, 1, 1);    // no conflict
  expectShared<float>(3, 1, 1, 1);    // odd steps have none
  expectShared<float>(2, 1, 2, 1);    // two words a bank
  expectShared<float>(8, 1, 8, 1);    //
  expectShared<float>(32, 1, 32, 1);  // a column of a 32x32 tile
  expectShared<float>(33, 1, 1, 1);   // padded
  expectShared<float>(0, 1, 1, 1);    // broadcast
  expectShared<float>(32, 16, 2, 1);  // two rows, each a broadcast
  expectShared<uint8_t>(1, 1, 1, 1);  // four lanes a word
  expectShared<uint16_t>(1, 1, 1, 1); // two lanes a word
  expectShared<uint16_t>(2, 1, 1, 1);
  expectShared<uint16_t>(64, 1, 32, 1);
}

TEST(SimCounters, SharedVectors) {
  expectShared<Vec2>(1, 1, 2, 2); // half warps
  expectShared<Vec2>(2, 1, 4, 2);
  expectShared<Vec2>(16, 1, 32, 2);
  expectShared<Vec4>(1, 1, 4, 4); // quarter warps
  expectShared<Vec4>(2, 1, 8, 4);
  expectShared<Vec4>(8, 1, 32, 4);
  expectShared<Vec4>(9, 1, 4, 4); // rows of 128 bytes, padded by 16
  expectShared<Vec4>(1, 8, 4, 4); // a broadcast each quarter
}

// ---- Control flow ----

/// Odd lanes do one thing, even ones another; then all do the same.
void divergentBody(Gpu gpu) {
  const float *x = gpu.arg<const float *>(0);
  if (gpu.tid() % 2)
    gpu.load(x + gpu.tid(), 1);
  else
    gpu.load(x + gpu.tid(), 2);
  gpu.warpSync(3);
  gpu.load(x + gpu.tid(), 4);
}

/// Lane l goes round l + 1 times.
void unevenLoopBody(Gpu gpu) {
  const float *x = gpu.arg<const float *>(0);
  for (uint32_t i = 0; i <= gpu.tid(); ++i)
    gpu.load(x + 32 * i + gpu.tid(), 1);
  gpu.load(x + gpu.tid(), 2);
}

TEST(SimCounters, Divergence) {
  alignas(256) static float memory[2048];
  for (uint64_t seed : {0, 1, 2}) {
    TestDevice device(counting(seed));
    KernelCounters counters =
        device.run(kernel<divergentBody>, {1, 32}, static_cast<const float *>(memory)).work;
    EXPECT_EQ(counters.globalLoads.requests, 3u);
    EXPECT_EQ(counters.globalLoads.sectors, 12u);
    EXPECT_EQ(counters.globalLoads.idealSectors, 2u + 2 + 4);
    EXPECT_EQ(counters.of(InstructionKind::WarpSync), 1u);

    for (bool noSync : {false, true}) {
      counters =
          device.run(kernel<unevenLoopBody>, {1, 32, 0, noSync}, static_cast<const float *>(memory))
              .work;
      EXPECT_EQ(counters.globalLoads.requests, 33u);
      // The i-th time lanes i to 31 are there.
      uint64_t sectors = 4;
      for (uint32_t i = 0; i < 32; ++i)
        sectors += 4 - i / 8;
      EXPECT_EQ(counters.globalLoads.sectors, sectors);
      EXPECT_EQ(counters.globalLoads.bytes, 4u * (32 * 33 / 2 + 32));
    }
  }
}

void phasesBody(Gpu gpu) {
  float *tile = gpu.shared<float>();
  for (uint32_t i = 0; i < 10; ++i) {
    gpu.store(tile + gpu.tid(), 1.f, 1);
    gpu.barrier(2);
    gpu.load(tile + (gpu.tid() ^ 33), 3);
    gpu.barrier(4);
  }
  gpu.shuffleDown(1.f, 1, 5);
  gpu.vote(CAMEO_SIM_VOTE_ANY, true, 6);
  gpu.atomicAdd(gpu.shared<uint32_t>(4096), 1, 7);
}

TEST(SimCounters, InstructionsByKindInAnyOrder) {
  for (uint64_t seed : {0, 5}) {
    TestDevice device(counting(seed));
    KernelCounters counters = device.run(kernel<phasesBody>, {3, 128, 8192}).work;
    const uint64_t warps = 3 * 4;
    EXPECT_EQ(counters.of(InstructionKind::Store), 10 * warps);
    EXPECT_EQ(counters.of(InstructionKind::Load), 10 * warps);
    EXPECT_EQ(counters.of(InstructionKind::Barrier), 20 * warps);
    EXPECT_EQ(counters.of(InstructionKind::Shuffle), warps);
    EXPECT_EQ(counters.of(InstructionKind::Vote), warps);
    EXPECT_EQ(counters.of(InstructionKind::Atomic), warps);
    EXPECT_EQ(counters.sharedStores.wavefronts, 10 * warps);
    EXPECT_EQ(counters.sharedLoads.wavefronts, 10 * warps);
    EXPECT_EQ(counters.sharedAtomics.wavefronts, warps);
    EXPECT_EQ(counters.ungrouped, 0u);
  }
}

void longBody(Gpu gpu) {
  const float *x = gpu.arg<const float *>(0);
  for (uint32_t i = 0; i < gpu.arg<uint32_t>(1); ++i)
    gpu.load(x + gpu.tid(), 1);
}

TEST(SimCounters, LanesThatRunTooFarApartAreCountedAlone) {
  alignas(256) static float memory[32];
  const uint32_t more = 10, times = (1u << 16) + more;
  KernelCounters counters =
      count(kernel<longBody>, {1, 32, 0, true}, static_cast<const float *>(memory), times);
  EXPECT_EQ(counters.ungrouped, 32u * more);
  EXPECT_EQ(counters.globalLoads.requests, (1u << 16) + 32 * more);
  EXPECT_EQ(counters.globalLoads.bytes, 128ull * times);
}

// ---- Instructions of the engine ----

void instructionsBody(Gpu gpu) {
  const CameoSimApi *api = gpu.t->api;
  auto address = [](uint32_t *words, const void *p) {
    uint64_t bits = reinterpret_cast<uintptr_t>(p);
    memcpy(words, &bits, 8);
  };
  uint32_t words[32] = {};
  // cp.async of 16 bytes a lane, coalesced; to rows of 128 bytes.
  address(words, gpu.t->shared + gpu.tid() * 128);
  address(words + 2, gpu.arg<char *>(0) + gpu.tid() * 16);
  api->instruction(gpu.t, CAMEO_SIM_OP_CP_ASYNC | 16 << 8, words, 1);
  api->instruction(gpu.t, CAMEO_SIM_OP_CP_WAIT | 255 << 8, words, 2);
  gpu.warpSync(3);
  // ldmatrix x4 of those rows.
  address(words, gpu.t->shared + gpu.tid() * 128);
  api->blocking_instruction(gpu.t, CAMEO_SIM_OP_LDMATRIX | 4 << 8, ~0u, words, 4);
  // mma m16n8k16 f16, f32 sums.
  uint64_t mma = CAMEO_SIM_OP_MMA | 16 << 8 | 8 << 16 | uint64_t(16) << 24 |
                 uint64_t(CAMEO_SIM_F16) << 32 | uint64_t(CAMEO_SIM_F16) << 40 |
                 uint64_t(CAMEO_SIM_F32) << 48;
  for (int i = 0; i < 3; ++i)
    api->blocking_instruction(gpu.t, mma, ~0u, words, 5);
}

TEST(SimCounters, MatrixInstructionsAndAsynchronousCopies) {
  TestDevice device(counting(0, kCheckAll));
  char *x = device.upload(std::vector<char>(512), "x");
  LaunchResult result = device.run(kernel<instructionsBody>, {1, 32, 4096}, x);
  ASSERT_TRUE(result.ok()) << result.error;
  const KernelCounters &work = result.work;
  EXPECT_EQ(work.asyncCopyBytes, 512u);
  EXPECT_EQ(work.globalLoads.sectors, 16u);
  EXPECT_EQ(work.sharedStores.wavefronts, 32u); // eight rows in the same banks, four times
  EXPECT_EQ(work.sharedStores.idealWavefronts, 4u);
  EXPECT_EQ(work.sharedLoads.wavefronts, 32u);
  EXPECT_EQ(work.sharedLoads.idealWavefronts, 4u);
  EXPECT_EQ(work.of(InstructionKind::AsyncCopy), 1u);
  EXPECT_EQ(work.of(InstructionKind::MatrixLoad), 1u);
  EXPECT_EQ(work.of(InstructionKind::Matrix), 3u);
  EXPECT_EQ(work.of(InstructionKind::Load), 0u);
  EXPECT_EQ(work.of(InstructionKind::Store), 0u);
  ASSERT_EQ(work.matrix.size(), 1u);
  EXPECT_EQ(matrixName(work.matrix.begin()->first), "mma.m16n8k16.f32.f16.f16");
  EXPECT_EQ(matrixMultiplyAdds(work.matrix.begin()->first), 16u * 8 * 16);
  EXPECT_EQ(work.matrix.begin()->second, 3u);
}

TEST(SimCounters, NothingIsCountedUnasked) {
  alignas(256) static float memory[32];
  TestDevice device;
  LaunchResult result =
      device.run(kernel<loadBody<float>>, {1, 32}, static_cast<void *>(memory), 0u, 1u);
  EXPECT_EQ(result.work.blocks, 0u);
  EXPECT_EQ(result.work.globalLoads.requests, 0u);
}

// ---- Estimates ----

const CameoBoard kBoard = *findBoard("a100-40");

TEST(SimEstimate, LimitingResource) {
  KernelCounters work;
  work.blocks = 108;
  EXPECT_EQ(estimateLaunch(work, kBoard, 0).limit, Resource::Launch);

  work.globalLoads.sectors = 1555000000 / 32; // 1.555 GB: a millisecond
  Estimate estimate = estimateLaunch(work, kBoard, 0);
  EXPECT_EQ(estimate.limit, Resource::Memory);
  EXPECT_NEAR(estimate.seconds, 1e-3, 2e-6);
  // What is read again comes from the caches.
  EXPECT_NEAR(estimateLaunch(work, kBoard, 155500000).seconds, 1e-4, 2e-6);

  work.operations[CAMEO_SIM_COUNT_F32_FMA] = uint64_t(64) * 108 * 1410000000 / 100; // 10 ms
  estimate = estimateLaunch(work, kBoard, 0);
  EXPECT_EQ(estimate.limit, Resource::Fp32);
  EXPECT_NEAR(estimate.seconds, 10e-3, 1e-5);
  // One block more than multiprocessors takes nearly twice as long: some have two of them.
  work.blocks = 109;
  EXPECT_NEAR(estimateLaunch(work, kBoard, 0).seconds, 10e-3 * 2 * 108 / 109, 1e-5);

  work.blocks = 108;
  work.sharedLoads.wavefronts = uint64_t(108) * 1410000000 / 50; // 20 ms
  EXPECT_EQ(estimateLaunch(work, kBoard, 0).limit, Resource::SharedMemory);
  EXPECT_NEAR(estimateLaunch(work, kBoard, 0).seconds, 20e-3, 1e-5);

  uint64_t mma = CAMEO_SIM_OP_MMA | 16 << 8 | 8 << 16 | uint64_t(16) << 24; // f16
  work.matrix[mma] = uint64_t(1024) * 108 * 1410000000 / 2048 / 25;         // 40 ms
  estimate = estimateLaunch(work, kBoard, 0);
  EXPECT_EQ(estimate.limit, Resource::TensorCores);
  EXPECT_NEAR(estimate.seconds, 40e-3, 1e-5);
}

// What is computed from clocks and rates is what NVIDIA's data sheets say, in TFLOP/s.
TEST(SimEstimate, BoardsDoWhatTheirDataSheetsSay) {
  struct Sheet {
    const char *name;
    double fp32, fp16Matrix; // dense; 0: not looked at
  };
  const Sheet sheets[] = {{"t4", 8.1, 65},
                          {"rtx2080ti", 13.4, 107.6},
                          {"a100-40", 19.5, 312},
                          {"a100-80-sxm", 19.5, 312},
                          {"a100-80-pcie", 19.5, 312},
                          {"a30", 10.3, 165},
                          {"a10", 31.2, 125},
                          {"a40", 37.4, 149.7},
                          {"a6000", 38.7, 154.8},
                          {"rtx3090", 35.6, 142},
                          {"rtx3080", 29.8, 119},
                          {"orin-agx-64", 5.3, 0},
                          {"l4", 30.3, 121},
                          {"l40s", 91.6, 366},
                          {"rtx6000-ada", 91.1, 364},
                          {"rtx4090", 82.6, 330},
                          {"rtx4080", 48.7, 194.9},
                          {"rtx4060", 15.1, 0},
                          {"h100-sxm", 67, 989},
                          {"h100-pcie", 51, 756},
                          {"h200", 67, 989},
                          {"gh200", 67, 989},
                          // Of Blackwell's matrices no rate of mma.sync is known.
                          {"b200", 75, 0},
                          {"b300", 75, 0},
                          {"thor", 0, 0},
                          {"rtx5090", 104.8, 0},
                          {"rtx5080", 56.3, 0},
                          {"gb10", 0, 0}};
  EXPECT_EQ(std::size(sheets), std::size(cameoBoards));
  for (const Sheet &sheet : sheets) {
    const CameoBoard *board = findBoard(sheet.name);
    ASSERT_NE(board, nullptr) << sheet.name;
    // Each multiprocessor has a block, which does as much as it can in a millisecond.
    KernelCounters work;
    work.blocks = board->sm_count;
    if (!sheet.fp32)
      continue;
    work.operations[CAMEO_SIM_COUNT_F32_FMA] = uint64_t(sheet.fp32 * 1e9 / 2);
    double milliseconds = estimateLaunch(work, *board, 0).of[uint32_t(Resource::Fp32)] * 1e3;
    EXPECT_NEAR(milliseconds, 1, 0.015) << sheet.name;
    if (!sheet.fp16Matrix)
      continue;
    uint64_t mma = CAMEO_SIM_OP_MMA | 16 << 8 | 8 << 16 | uint64_t(16) << 24;
    work.matrix[mma] = uint64_t(sheet.fp16Matrix * 1e9 / 2) / 2048;
    milliseconds = estimateLaunch(work, *board, 0).of[uint32_t(Resource::TensorCores)] * 1e3;
    // The sheet's rate is what wgmma reaches, where there is that, at 1830 MHz, where mma.sync ran at
    // 1800.
    const bool hasWgmma = board->arch == 90;
    EXPECT_NEAR(milliseconds, hasWgmma ? 1.5 : 1, hasWgmma ? 0.03 : 0.015) << sheet.name;
  }
}

TEST(SimEstimate, CodeAndBoards) {
  const CameoSimTarget plain = {"sm_80", "a100-40", 80, 0},
                       specific = {"sm_90a", "h100-sxm", 90 | CAMEO_ARCH_A, 0};
  EXPECT_EQ(findBoard("a100"), findBoard("a100-40"));
  EXPECT_EQ(findBoard("h100"), findBoard("h100-sxm"));
  EXPECT_EQ(findBoard("a1"), nullptr);
  EXPECT_EQ(findBoard(""), nullptr);
  EXPECT_TRUE(runsOn(plain, *findBoard("h200")));
  EXPECT_FALSE(runsOn(plain, *findBoard("t4")));
  EXPECT_TRUE(runsOn(specific, *findBoard("h200")));
  EXPECT_FALSE(runsOn(specific, *findBoard("a30")));
  EXPECT_EQ(findBoard("b17"), nullptr);
}

} // namespace
