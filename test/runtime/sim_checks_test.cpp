// Each planted fault is reported as what it is, where it is; the correct kernel beside it is clean
// under every seed.
//
// SPDX-License-Identifier: Apache-2.0
#include "runtime/sim/instructions.h"

#include "sim_testing.h"

#include <functional>
#include <gtest/gtest.h>
#include <set>

using namespace simtest;

namespace {

constexpr uint64_t kSeeds = 20;

/// Which fault a kernel plants; its last argument. kNone: the correct kernel.
using Plant = uint32_t;
constexpr Plant kNone = 0;

const Report *find(const LaunchResult &result, FaultKind kind) {
  for (const Report &report : result.reports)
    if (report.kind == kind)
      return &report;
  return nullptr;
}

std::string texts(const LaunchResult &result) {
  std::string all = result.error;
  for (const Report &report : result.reports)
    all += "\n" + report.text;
  return all;
}

using RunKernel = std::function<LaunchResult(TestDevice &, Plant)>;

/// The plants are caught as the given kinds under every seed, and only the plants are reported.
void expectCaught(const RunKernel &run, const std::vector<std::pair<Plant, FaultKind>> &plants) {
  for (uint64_t seed = 0; seed <= kSeeds; ++seed) {
    TestDevice clean(kCheckAll, seed);
    LaunchResult result = run(clean, kNone);
    EXPECT_TRUE(result.ok()) << "seed " << seed << "\n" << texts(result);
    for (auto [plant, kind] : plants) {
      TestDevice device(kCheckAll, seed);
      LaunchResult faulty = run(device, plant);
      EXPECT_FALSE(faulty.ok()) << "plant " << plant << " seed " << seed;
      EXPECT_TRUE(find(faulty, kind))
          << "plant " << plant << " seed " << seed << " lacks " << faultName(kind) << "\n"
          << texts(faulty);
    }
  }
}

// ---- Races on shared memory ----

/// A tile is filled, read by other warps, and filled again.
void tileBody(Gpu gpu) {
  uint32_t *out = gpu.arg<uint32_t *>(0);
  Plant plant = gpu.arg<Plant>(1);
  uint32_t *tile = gpu.shared<uint32_t>();
  uint32_t n = gpu.t->ntid[0], sum = 0;
  for (uint32_t step = 0; step < 3; ++step) {
    gpu.store(tile + gpu.tid(), step * n + gpu.tid(), 1);
    if (plant != 1)
      gpu.barrier(2);
    sum += gpu.load(tile + (gpu.tid() + 37) % n, 3);
    if (plant != 2)
      gpu.barrier(4);
  }
  if (plant == 3 && gpu.tid() < 40) // two threads, one word
    gpu.store(tile + gpu.tid() % 36, 0u, 5);
  gpu.store(out + gpu.block() * n + gpu.tid(), sum, 6);
}

LaunchResult runTile(TestDevice &device, Plant plant) {
  uint32_t *out = device.buffer<uint32_t>(8 * 128, "out");
  return device.run(kernel<tileBody>, {8, 128, 512}, out, plant);
}

TEST(SimChecks, RemovedBarriers) {
  expectCaught(
      runTile,
      {{1, FaultKind::SharedRace}, {2, FaultKind::SharedRace}, {3, FaultKind::SharedRace}});
}

/// The first warp writes and arrives, the second one waits and reads, then the other way; 1, 2: the
/// first one goes on without waiting.
void handOverBody(Gpu gpu) {
  const Plant plant = gpu.arg<Plant>(0);
  uint32_t *tile = reinterpret_cast<uint32_t *>(gpu.t->shared) + gpu.t->lane;
  auto arrive = [&](uint32_t id, uint32_t site) {
    uint32_t words[] = {id, 64};
    gpu.t->api->instruction(gpu.t, CAMEO_SIM_OP_BAR_ARRIVE, words, site);
  };
  if (gpu.t->warp == 0) {
    gpu.store(tile, 1u, 1);
    arrive(1, 2);
    if (plant == 1)
      gpu.store(tile, 2u, 3);
    if (plant == 2)
      gpu.load(tile + 32, 4);
    gpu.barrier(5, 2, 64);
    gpu.load(tile + 32, 6);
  } else {
    gpu.store(tile + 32, 1u, 7);
    gpu.barrier(8, 1, 64);
    gpu.load(tile, 9);
    arrive(2, 10);
  }
}

TEST(SimChecks, ArrivingOrdersOneWay) {
  auto run = [](TestDevice &device, Plant plant) {
    return device.run(kernel<handOverBody>, {1, 64, 512}, plant);
  };
  expectCaught(run, {{1, FaultKind::SharedRace}, {2, FaultKind::SharedRace}});
}

/// One thread reads 16 bytes, writes (or rereads) their first half, and another one the second
/// half.
void halvesBody(Gpu gpu) {
  const bool reads = gpu.arg<uint32_t>(0), ordered = gpu.arg<uint32_t>(1);
  char *tile = gpu.t->shared;
  auto access = [&](uint32_t offset, uint32_t bytes, CameoSimAccess kind, uint32_t site) {
    gpu.t->api->access(gpu.t, tile + offset, bytes, bytes, 3, kind, site);
  };
  if (gpu.tid() == 0) {
    access(0, 16, CAMEO_SIM_WRITE, 1);
    access(0, 16, CAMEO_SIM_READ, 2);
    access(0, 8, reads ? CAMEO_SIM_READ : CAMEO_SIM_WRITE, 3);
  }
  if (ordered)
    gpu.barrier(4);
  if (gpu.tid() == 1)
    access(8, 8, CAMEO_SIM_WRITE, 5);
}

TEST(SimChecks, NarrowAccessesDoNotHideWideOnes) {
  for (uint32_t reads : {0u, 1u}) {
    TestDevice device;
    LaunchResult good = device.run(kernel<halvesBody>, {1, 32, 512}, reads, 1u);
    EXPECT_TRUE(good.ok()) << texts(good);
    LaunchResult result = device.run(kernel<halvesBody>, {1, 32, 512}, reads, 0u);
    std::set<std::string> others;
    for (const Report &report : result.reports)
      others.insert(report.otherWhat);
    EXPECT_EQ(others, (std::set<std::string>{"op 1", "op 2"})) << texts(result);
  }
}

/// A thread reads (or only counts) what all blocks count.
void countBody(Gpu gpu) {
  uint32_t *counter = gpu.arg<uint32_t *>(0);
  const uint32_t reads = gpu.arg<uint32_t>(1);
  auto access = [&](CameoSimAccess kind, uint32_t site) {
    gpu.t->api->access(gpu.t, counter, 4, 4, 1, kind, site);
  };
  if (reads && gpu.block() == 0 && gpu.tid() == 0)
    access(CAMEO_SIM_READ, 1);
  access(CAMEO_SIM_ATOMIC, 2);
}

TEST(SimChecks, AtomicsDoNotHideReads) {
  for (uint32_t reads : {0u, 1u}) {
    TestDevice device(kCheckRace, /*seed=*/0, 1);
    uint32_t *counter = device.buffer<uint32_t>(1, "counter");
    LaunchResult result = device.run(kernel<countBody>, {2, 1, 0, true}, counter, reads);
    EXPECT_EQ(result.ok(), !reads) << texts(result);
    if (reads && !result.ok())
      EXPECT_EQ(result.reports[0].otherWhat, "op 1") << texts(result);
  }
}

TEST(SimChecks, RaceReportNamesBothAccesses) {
  TestDevice device;
  LaunchResult result = runTile(device, 3);
  const Report *report = find(result, FaultKind::SharedRace);
  ASSERT_TRUE(report) << texts(result);
  EXPECT_EQ(report->kernel, "test_kernel");
  EXPECT_EQ(report->node, "node");
  EXPECT_EQ(report->location, "test.mlir:5");
  EXPECT_EQ(report->what, "op 5");
  EXPECT_EQ(report->otherLocation, "test.mlir:5");
  EXPECT_EQ(report->block[0], 0u);
  EXPECT_EQ(report->warp, 1u);
  EXPECT_EQ(report->lanes, 0xf0u);
  EXPECT_EQ(report->count, 32u) << "4 lanes of each of 8 blocks";
  EXPECT_EQ(report->address, "shared+0x0");
  EXPECT_EQ(report->text,
            "race on shared memory: write of 4 B at shared+0x0 (op 5, test.mlir:5)\n"
            "  not ordered after the write by block (0,0,0) warp 0 lane 0 (op 5, test.mlir:5)\n"
            "  in kernel test_kernel, node node, block (0,0,0), warp 1, lanes 4-7; "
            "32 times in all");
}

/// Lanes of one warp hand values to each other; 2: a shuffle is not a fence.
void warpBody(Gpu gpu) {
  uint32_t *out = gpu.arg<uint32_t *>(0);
  Plant plant = gpu.arg<Plant>(1);
  uint32_t *tile = gpu.shared<uint32_t>(gpu.t->warp * 128);
  uint32_t lane = gpu.t->lane;
  gpu.store(tile + lane, lane, 1);
  if (plant == 2)
    gpu.shuffle(CAMEO_SIM_SHFL_BFLY, 0, 1, 31, 2);
  else if (plant == 3) // only the lower half
    lane < 16 ? gpu.warpSync(3, 0x0000ffff) : void();
  else if (plant != 1)
    gpu.warpSync(4);
  gpu.store(out + gpu.tid(), gpu.load(tile + (lane ^ 1), 5), 6);
}

TEST(SimChecks, LanesAreOrderedByWarpSync) {
  RunKernel run = [](TestDevice &device, Plant plant) {
    uint32_t *out = device.buffer<uint32_t>(64, "out");
    return device.run(kernel<warpBody>, {1, 64, 256}, out, plant);
  };
  expectCaught(
      run, {{1, FaultKind::SharedRace}, {2, FaultKind::SharedRace}, {3, FaultKind::SharedRace}});
  TestDevice device;
  LaunchResult result = run(device, 3);
  for (const Report &report : result.reports)
    EXPECT_EQ(report.lanes & 0xffffu, 0u) << "the lower half is synchronised\n" << report.text;
}

/// Halves of a warp synchronise apart, quarters within them, then all.
void partialSyncBody(Gpu gpu) {
  uint32_t *tile = gpu.shared<uint32_t>();
  Plant plant = gpu.arg<Plant>(0);
  uint32_t lane = gpu.t->lane;
  gpu.store(tile + lane, lane, 1);
  uint32_t half = lane < 16 ? 0x0000ffffu : 0xffff0000u;
  uint32_t quarter = 0xffu << (lane / 8 * 8);
  gpu.warpSync(2, quarter);
  gpu.load(tile + (lane ^ 7), 3);
  if (plant != 1)
    gpu.warpSync(4, half);
  gpu.load(tile + (lane ^ 15), 5);
  if (plant != 2)
    gpu.warpSync(6);
  gpu.store(tile + (lane ^ 31), lane, 7);
}

TEST(SimChecks, PartialWarpSyncs) {
  expectCaught([](TestDevice &device,
                  Plant plant) { return device.run(kernel<partialSyncBody>, {4, 32, 128}, plant); },
               {{1, FaultKind::SharedRace}, {2, FaultKind::SharedRace}});
}

/// Warp 0 fills for warp 1, which meets it at barrier 1; 1: so does warp 2, in vain.
void pairBody(Gpu gpu) {
  uint32_t *tile = gpu.shared<uint32_t>();
  Plant plant = gpu.arg<Plant>(0);
  if (gpu.t->warp == 0)
    gpu.store(tile + gpu.t->lane, 1u, 1);
  if (gpu.t->warp < 2)
    gpu.barrier(2, 1, 64);
  if (gpu.t->warp == 1 || (plant == 1 && gpu.t->warp == 2))
    gpu.load(tile + gpu.t->lane, 3);
  if (plant != 2)
    gpu.barrier(4);
  if (gpu.t->warp == 2)
    gpu.store(tile + gpu.t->lane, 1u, 5);
}

TEST(SimChecks, NamedBarriersOrderTheirWarpsOnly) {
  expectCaught([](TestDevice &device,
                  Plant plant) { return device.run(kernel<pairBody>, {2, 96, 128}, plant); },
               {{2, FaultKind::SharedRace}});
  // Warp 2 may run first: then what it reads is uninitialised too, and the race is seen from the
  // writer's side.
  for (uint64_t seed = 0; seed <= kSeeds; ++seed) {
    TestDevice device(kCheckAll, seed);
    LaunchResult result = device.run(kernel<pairBody>, {2, 96, 128}, Plant(1));
    EXPECT_TRUE(find(result, FaultKind::SharedRace)) << texts(result);
  }
}

/// Neighbouring elements of every size by different threads are no race; 1: sizes overlap.
template <typename T> void neighbourBody(Gpu gpu) {
  T *global = gpu.arg<T *>(0);
  Plant plant = gpu.arg<Plant>(1);
  T *tile = gpu.shared<T>();
  gpu.store(tile + gpu.tid(), T(gpu.tid()), 1);
  gpu.store(global + gpu.block() * 64 + gpu.tid(), T(gpu.tid()), 2);
  if (plant == 1 && gpu.tid() == 63)
    gpu.store(reinterpret_cast<uint32_t *>(tile), 1u, 3);
  gpu.barrier(4);
  gpu.load(tile + 63 - gpu.tid(), 5);
  gpu.load(global + gpu.block() * 64 + 63 - gpu.tid(), 6);
  if (plant == 2 && gpu.block() == 1 && gpu.tid() == 0) // block 0's
    gpu.load(reinterpret_cast<uint32_t *>(global), 7);
}

TEST(SimChecks, SmallElements) {
  auto check = [](auto element) {
    using T = decltype(element);
    expectCaught(
        [](TestDevice &device, Plant plant) {
          T *out = device.upload(std::vector<T>(128), "out");
          return device.run(kernel<neighbourBody<T>>, {2, 64, 64 * sizeof(T)}, out, plant);
        },
        {{1, FaultKind::SharedRace}, {2, FaultKind::GlobalRace}});
  };
  check(uint8_t());
  check(uint16_t());
  check(uint32_t());
  check(double());
}

/// Wide accesses over narrow ones: a row of 16 floats a thread, read by 16 B or 32 B.
void wideBody(Gpu gpu) {
  float *tile = gpu.shared<float>();
  Plant plant = gpu.arg<Plant>(0);
  for (uint32_t i = 0; i < 16; ++i)
    gpu.store(tile + gpu.tid() * 16 + i, 1.f, 1);
  if (plant != 1)
    gpu.barrier(2);
  const uint32_t bytes = gpu.arg<uint32_t>(1), other = (gpu.tid() + 5) % gpu.t->ntid[0];
  for (uint32_t at = 0; at < 64; at += bytes)
    gpu.access(tile + other * 16 + at / 4, bytes, CAMEO_SIM_READ, 3, bytes);
  if (plant != 2)
    gpu.barrier(4);
  gpu.store(tile + (gpu.tid() * 16 + 13), 2.f, 5); // within a granule, not at its start
}

TEST(SimChecks, WideAccesses) {
  for (uint32_t bytes : {16u, 32u})
    expectCaught(
        [bytes](TestDevice &device, Plant plant) {
          return device.run(kernel<wideBody>, {2, 64, 64 * 64}, plant, bytes);
        },
        {{1, FaultKind::SharedRace}, {2, FaultKind::SharedRace}});
}

// ---- Races on global memory ----

/// 1: blocks write one word. 2: a block reads what another writes. 3: no barrier within the block.
/// 4: an atomic beside a plain write.
void globalBody(Gpu gpu) {
  uint32_t *x = gpu.arg<uint32_t *>(0);
  uint32_t *total = gpu.arg<uint32_t *>(1);
  Plant plant = gpu.arg<Plant>(2);
  uint32_t i = gpu.block() * gpu.t->ntid[0] + gpu.tid();
  uint32_t n = gpu.t->ntid[0] * gpu.t->nctaid[0];
  gpu.store(x + (plant == 1 ? i / 2 * 2 % 96 : i), i, 1);
  if (plant == 2)
    gpu.load(x + (i + gpu.t->ntid[0]) % n, 2);
  if (plant != 3)
    gpu.barrier(3);
  gpu.load(x + gpu.block() * gpu.t->ntid[0] + (gpu.tid() + 33) % gpu.t->ntid[0], 4);
  gpu.atomicAdd(total, 1, 5);
  if (plant == 4 && i == 70)
    gpu.store(total, 0u, 6);
}

TEST(SimChecks, GlobalRaces) {
  expectCaught(
      [](TestDevice &device, Plant plant) {
        uint32_t *x = device.upload(std::vector<uint32_t>(256), "x");
        uint32_t *total = device.upload(std::vector<uint32_t>(1), "total");
        LaunchResult result = device.run(kernel<globalBody>, {4, 64}, x, total, plant);
        if (plant == kNone) {
          EXPECT_EQ(*total, 256u);
          // What one launch wrote, the next may read.
          LaunchResult again = device.run(kernel<globalBody>, {4, 64}, x, total, plant);
          EXPECT_TRUE(again.ok()) << texts(again);
        }
        return result;
      },
      {{1, FaultKind::GlobalRace},
       {2, FaultKind::GlobalRace},
       {3, FaultKind::GlobalRace},
       {4, FaultKind::GlobalRace}});
}

/// Threads run one after the other, and yet all of it is seen.
void noSyncBody(Gpu gpu) {
  uint32_t *x = gpu.arg<uint32_t *>(0);
  Plant plant = gpu.arg<Plant>(1);
  uint32_t i = gpu.block() * gpu.t->ntid[0] + gpu.tid();
  gpu.store(x + (plant == 1 ? i / 2 : plant == 2 ? i + 1 : i), i, 1);
  if (plant == 3)
    gpu.load(x + (i ^ 1), 2);
}

TEST(SimChecks, KernelsWithoutSynchronisation) {
  expectCaught(
      [](TestDevice &device, Plant plant) {
        uint32_t *x = device.upload(std::vector<uint32_t>(256), "x");
        return device.run(kernel<noSyncBody>, {4, 64, 0, true}, x, plant);
      },
      {{1, FaultKind::GlobalRace}, {2, FaultKind::GlobalOutOfBounds}, {3, FaultKind::GlobalRace}});
}

// ---- Bounds, alignment, initialisation ----

enum : Plant {
  kSharedLoad = 1,
  kSharedStore,
  kSharedBefore,
  kGlobalLoad,
  kGlobalStore,
  kGlobalBefore,
  kNull,
  kMisalignedShared,
  kMisalignedGlobal,
  kUninitialisedShared,
  kUninitialisedGlobal,
  kHalfInitialised,
  kStraddles
};

void accessBody(Gpu gpu) {
  uint32_t *in = gpu.arg<uint32_t *>(0);    // 32, initialised
  uint32_t *fresh = gpu.arg<uint32_t *>(1); // 32, not initialised
  Plant plant = gpu.arg<Plant>(2);
  uint32_t *tile = gpu.shared<uint32_t>(); // 64
  uint32_t tid = gpu.tid();
  uint32_t value = gpu.load(in + tid, 1);
  gpu.store(tile + tid, value, 2);
  gpu.load(tile + tid, 3);
  auto at = [](auto *p, int bytes) {
    return reinterpret_cast<uint32_t *>(reinterpret_cast<char *>(p) + bytes);
  };
  switch (plant) {
  case kSharedLoad:
    gpu.load(tile + 33 + tid, 10);
    break;
  case kSharedStore:
    gpu.store(tile + 33 + tid, value, 11);
    break;
  case kSharedBefore:
    gpu.store(tile + tid - 1, value, 12);
    break;
  case kGlobalLoad:
    gpu.load(in + tid + 1, 13);
    break;
  case kGlobalStore:
    gpu.store(fresh + 32 + tid, value, 14);
    break;
  case kGlobalBefore:
    gpu.load(in + tid - 1, 15);
    break;
  case kNull:
    gpu.load(reinterpret_cast<uint32_t *>(uintptr_t(4 * tid)), 16);
    break;
  case kMisalignedShared:
    gpu.load(at(tile + tid, 2), 17);
    break;
  case kMisalignedGlobal:
    gpu.store(at(fresh + 8, 1), value, 18);
    break;
  case kUninitialisedShared:
    gpu.load(tile + 32 + tid, 19);
    break;
  case kUninitialisedGlobal:
    gpu.load(fresh + tid, 20);
    break;
  case kHalfInitialised:
    gpu.store(reinterpret_cast<uint16_t *>(fresh + tid), uint16_t(1), 21);
    gpu.load(fresh + tid, 22);
    break;
  case kStraddles: // the last 4 of these 8 bytes lie outside
    if (tid == 31)
      gpu.access(in + tid, 8, CAMEO_SIM_READ, 23, 4);
    break;
  default:
    gpu.store(fresh + tid, value, 24);
    gpu.load(fresh + tid, 25);
  }
}

LaunchResult runAccess(TestDevice &device, Plant plant) {
  uint32_t *in = device.upload(std::vector<uint32_t>(32), "in");
  uint32_t *fresh = device.buffer<uint32_t>(32, "fresh");
  return device.run(kernel<accessBody>, {1, 32, 256}, in, fresh, plant);
}

TEST(SimChecks, Accesses) {
  expectCaught(runAccess, {{kSharedLoad, FaultKind::SharedOutOfBounds},
                           {kSharedStore, FaultKind::SharedOutOfBounds},
                           {kSharedBefore, FaultKind::GlobalOutOfBounds},
                           {kGlobalLoad, FaultKind::GlobalOutOfBounds},
                           {kGlobalStore, FaultKind::GlobalOutOfBounds},
                           {kGlobalBefore, FaultKind::GlobalOutOfBounds},
                           {kNull, FaultKind::GlobalOutOfBounds},
                           {kMisalignedShared, FaultKind::Misaligned},
                           {kMisalignedGlobal, FaultKind::Misaligned},
                           {kUninitialisedShared, FaultKind::SharedUninitialised},
                           {kUninitialisedGlobal, FaultKind::GlobalUninitialised},
                           {kHalfInitialised, FaultKind::GlobalUninitialised},
                           {kStraddles, FaultKind::GlobalOutOfBounds}});
}

TEST(SimChecks, AccessReports) {
  TestDevice device;
  LaunchResult result = runAccess(device, kSharedLoad);
  ASSERT_FALSE(result.reports.empty());
  // Lanes 0 to 30 read uninitialised words, lane 31 reads outside.
  const Report *report = find(result, FaultKind::SharedOutOfBounds);
  ASSERT_TRUE(report);
  EXPECT_EQ(report->text, "out-of-bounds access of shared memory: read of 4 B at shared+0x100, "
                          "which has 256 B (op 10, test.mlir:10)\n"
                          "  in kernel test_kernel, node node, block (0,0,0), warp 0, lane 31");
  result = runAccess(device, kGlobalStore);
  ASSERT_EQ(result.reports.size(), 1u);
  EXPECT_EQ(result.reports[0].text,
            "out-of-bounds access of global memory: write of 4 B at fresh+0x80 (of 128 B) "
            "(op 14, test.mlir:14)\n"
            "  in kernel test_kernel, node node, block (0,0,0), warp 0, lanes 0-31; "
            "32 times in all");
  EXPECT_EQ(result.error, "out-of-bounds access of global memory: write of "
                          "4 B at fresh+0x80 (of 128 B) (op 14, test.mlir:14)");
  result = runAccess(device, kMisalignedGlobal);
  EXPECT_EQ(result.reports[0].address, "fresh+0x21 (of 128 B)");
}

TEST(SimChecks, OnlyWhatIsAskedForIsChecked) {
  TestDevice bounds(kCheckBounds);
  EXPECT_TRUE(runAccess(bounds, kUninitialisedGlobal).ok());
  EXPECT_TRUE(runTile(bounds, 1).ok());
  TestDevice init(kCheckInit);
  EXPECT_TRUE(runAccess(init, kGlobalLoad).ok());
  EXPECT_FALSE(runAccess(init, kUninitialisedGlobal).ok());
  TestDevice race(kCheckRace);
  EXPECT_TRUE(runAccess(race, kUninitialisedGlobal).ok());
  EXPECT_FALSE(runTile(race, 1).ok());
}

/// Half of the lanes tell of an operand that has no value; `lanes` of the warp need one.
void registerBody(Gpu gpu) {
  if (gpu.tid() % 2)
    gpu.t->api->instruction(gpu.t,
                            CAMEO_SIM_OP_UNDEFINED | gpu.arg<uint32_t>(0) << 8 |
                                uint64_t(gpu.arg<uint32_t>(1)) << 32,
                            nullptr, 7);
}

TEST(SimChecks, Registers) {
  TestDevice device;
  LaunchResult result = device.run(kernel<registerBody>, {2, 64, 16}, 32u, 0u);
  ASSERT_EQ(result.reports.size(), 1u);
  EXPECT_EQ(result.reports[0].kind, FaultKind::UninitialisedRegister);
  EXPECT_EQ(
      result.reports[0].text,
      "read of an uninitialised register: op 7 (test.mlir:7)\n"
      "  in kernel test_kernel, node node, block (0,0,0), warp 0, lanes 1, 3, 5, 7, 9, 11, 13, "
      "15, 17, 19, 21, 23, 25, 27, 29, 31; 64 times in all");
  // With the place that should have set it, and for the first lanes alone.
  result = device.run(kernel<registerBody>, {1, 32, 16}, 8u, 3u);
  ASSERT_EQ(result.reports.size(), 1u);
  EXPECT_EQ(
      result.reports[0].text,
      "read of an uninitialised register: op 7 (test.mlir:7)\n"
      "  which comes from: (op 2, test.mlir:2)\n"
      "  in kernel test_kernel, node node, block (0,0,0), warp 0, lanes 1, 3, 5, 7; 4 times in "
      "all");
  TestDevice others(kCheckAll & ~kCheckInit);
  EXPECT_TRUE(others.run(kernel<registerBody>, {1, 32, 16}, 32u, 0u).ok());
}

TEST(SimChecks, LaunchesMayBeHeldToTheirBuffers) {
  TestDevice device;
  uint32_t *arena = device.upload(std::vector<uint32_t>(256), "arena");
  CameoSimKernelInfo info{
      "test_kernel", kernel<noSyncBody>, 0, 64 << 10, nullptr, 0, 0, 0, {0, 0, 0}, 0, 0, 0};
  for (Plant plant : {0u, 2u}) {
    uint32_t *x = arena + 64;
    const void *args[] = {&x, &plant};
    Launch launch;
    launch.image = &image();
    launch.kernel = &info;
    launch.block[0] = 64;
    launch.args = args;
    launch.noSync = true;
    launch.buffers.push_back({x, 256, "x"});
    LaunchResult result = device.engine.launch(launch);
    EXPECT_EQ(result.ok(), plant == 0) << texts(result);
    if (plant)
      EXPECT_EQ(result.reports[0].address, "x+0x100 (of 256 B)");
  }
}

TEST(SimChecks, ContentsCanBeDeclaredDead) {
  TestDevice device;
  uint32_t *in = device.upload(std::vector<uint32_t>(32), "in");
  device.engine.markUninitialised(in + 8, 16);
  uint32_t *fresh = device.buffer<uint32_t>(32, "fresh");
  LaunchResult result = device.run(kernel<accessBody>, {1, 32, 256}, in, fresh, kNone);
  ASSERT_EQ(result.reports.size(), 1u);
  EXPECT_EQ(result.reports[0].lanes, 0xf00u);
}

// ---- Synchronisation ----

enum : Plant {
  kDivergentShuffle = 1,
  kOtherMask,
  kOtherOp,
  kNotInMask,
  kAbsentLane,
  kHalfBarrier,
  kWrongBarrier,
  kTwoBarriers,
  kBadNumber,
  kBadCount,
  kOtherCount,
  kMissingWarp
};

void syncBody(Gpu gpu) {
  Plant plant = gpu.arg<Plant>(0);
  uint32_t lane = gpu.t->lane, warp = gpu.t->warp;
  switch (plant) {
  case kDivergentShuffle:
    if (lane < 20)
      gpu.shuffle(CAMEO_SIM_SHFL_BFLY, 0, 1, 31, 1);
    break;
  case kOtherMask:
    gpu.shuffle(CAMEO_SIM_SHFL_BFLY, 0, 1, 31, 2, lane < 16 ? kFullMask : 0xffff0fffu);
    break;
  case kOtherOp:
    if (lane < 16)
      gpu.shuffle(CAMEO_SIM_SHFL_BFLY, 0, 1, 31, 3);
    else
      gpu.vote(CAMEO_SIM_VOTE_ANY, true, 4);
    break;
  case kNotInMask:
    gpu.warpSync(5, 0x7fffffffu);
    break;
  case kAbsentLane:
    if (lane < 16)
      gpu.shuffle(CAMEO_SIM_SHFL_IDX, 0, 20, 31, 6, 0xffffu);
    break;
  case kHalfBarrier:
    if (lane < 16)
      gpu.barrier(7);
    gpu.warpSync(8, lane < 16 ? kFullMask : 0xffff0000u);
    break;
  case kWrongBarrier:
    gpu.barrier(9, warp);
    break;
  case kTwoBarriers:
    gpu.barrier(lane < 16 ? 10 : 11);
    break;
  case kBadNumber:
    gpu.barrier(12, 16);
    break;
  case kBadCount:
    gpu.barrier(13, 1, 40);
    break;
  case kOtherCount:
    gpu.barrier(14, 1, warp ? 64 : 32 * 3);
    break;
  case kMissingWarp:
    if (warp)
      gpu.barrier(15, 1, 96);
    break;
  default:
    gpu.shuffle(CAMEO_SIM_SHFL_BFLY, 0, 1, 31, 16);
  }
  if (plant != kDivergentShuffle || lane < 20)
    gpu.barrier(17);
  else
    gpu.warpSync(18, 0xfff00000u);
  if (plant == kDivergentShuffle)
    gpu.barrier(19);
}

LaunchResult runSync(TestDevice &device, Plant plant) {
  return device.run(kernel<syncBody>, {2, 96}, plant);
}

TEST(SimChecks, Synchronisation) {
  expectCaught(runSync, {{kDivergentShuffle, FaultKind::Deadlock},
                         {kOtherMask, FaultKind::Deadlock},
                         {kOtherOp, FaultKind::MismatchedOp},
                         {kNotInMask, FaultKind::NotInMask},
                         {kAbsentLane, FaultKind::InactiveLane},
                         {kHalfBarrier, FaultKind::DivergentBarrier},
                         {kWrongBarrier, FaultKind::Deadlock},
                         {kTwoBarriers, FaultKind::DivergentBarrier},
                         {kBadNumber, FaultKind::BadBarrier},
                         {kBadCount, FaultKind::BadBarrier},
                         {kOtherCount, FaultKind::MismatchedBarrier},
                         {kMissingWarp, FaultKind::Deadlock}});
}

TEST(SimChecks, DeadlocksEndTheLaunchWithoutChecksToo) {
  for (Plant plant : {kDivergentShuffle, kOtherMask, kOtherOp, kWrongBarrier, kMissingWarp}) {
    TestDevice device(0);
    EXPECT_FALSE(runSync(device, plant).ok());
    EXPECT_TRUE(runSync(device, kNone).ok()) << "the engine must stay usable";
  }
}

TEST(SimChecks, DeadlockReportSaysWhoWaitsWhere) {
  TestDevice device;
  LaunchResult result = runSync(device, kDivergentShuffle);
  ASSERT_EQ(result.reports.size(), 1u) << texts(result);
  EXPECT_EQ(result.reports[0].text,
            "deadlock: no thread of the block can go on\n"
            "  warps 0-2, lanes 0-19 wait for a shuffle.bfly of lanes 0-31 (op 1, test.mlir:1)\n"
            "  warps 0-2, lanes 20-31 wait for barrier 0 (36 of 96 threads are there) "
            "(op 19, test.mlir:19)\n"
            "  in kernel test_kernel, node node, block (0,0,0), warp 0, lanes 0-19; "
            "2 times in all");
}

TEST(SimChecks, ReportsDoNotDependOnTheWorkers) {
  auto run = [](unsigned threads) {
    TestDevice device(kCheckAll, 7, threads);
    return texts(runTile(device, 1));
  };
  std::string expected = run(1);
  for (unsigned threads : {2u, 3u, 8u})
    EXPECT_EQ(run(threads), expected);
}

/// What the first thread does for its warp: lanes of even number write every other word, and read
/// it and the word behind.
void warpAccessesBody(Gpu gpu) {
  gpu.warpSync(1);
  if (gpu.tid())
    return;
  constexpr uint32_t kLanes = 32;
  float *x = gpu.arg<float *>(0);
  x[1] = 0;
  const CameoSimAccessSite sites[] = {{4, 4, 1, CAMEO_SIM_WRITE, 2, 0, 1, 0},
                                      {4, 4, 1, CAMEO_SIM_READ, 3, 1, 1, -4},
                                      {4, 4, 1, CAMEO_SIM_READ, 4, 1, 0, 0}};
  char *addresses[2 * kLanes], *allowed[3 * kLanes];
  uint8_t takesPart[2 * kLanes];
  for (uint32_t lane = 0; lane < kLanes; ++lane) {
    addresses[lane] = reinterpret_cast<char *>(x + 2 * lane);
    addresses[kLanes + lane] = addresses[lane] + 4;
    takesPart[lane] = 0;
    takesPart[kLanes + lane] = lane % 2 == 0;
  }
  uint32_t faulty = gpu.t->api->warp_access(gpu.t, sites, 3, addresses, takesPart, allowed);
  for (uint32_t lane = 0; lane < kLanes; lane += 2) {
    char *to = faulty ? allowed[lane] : addresses[lane];
    char *from = faulty ? allowed[kLanes + lane] : addresses[kLanes + lane] - 4;
    float value = float(lane);
    memcpy(to, &value, 4);
    if (memcmp(from, &value, 4))
      x[1] = -1;
  }
}

TEST(SimChecks, AccessesOfAWholeWarp) {
  TestDevice device;
  float *x = device.buffer<float>(64, "x");
  LaunchResult result = device.run(kernel<warpAccessesBody>, {1, 32}, x);
  EXPECT_TRUE(result.ok()) << texts(result);
  EXPECT_EQ(x[60], 30.f);
  EXPECT_NE(x[1], -1.f);
  // Lane 30 is beyond the end, in both accesses, and goes on elsewhere.
  float *small = device.buffer<float>(58, "small");
  result = device.run(kernel<warpAccessesBody>, {1, 32}, small);
  ASSERT_EQ(result.reports.size(), 2u) << texts(result);
  for (const Report &report : result.reports) {
    EXPECT_EQ(report.kind, FaultKind::GlobalOutOfBounds);
    EXPECT_EQ(report.lanes, 1u << 30);
  }
}

/// Every thread has a fault of its own.
void manyBody(Gpu gpu) { gpu.load(static_cast<uint32_t *>(nullptr), gpu.tid()); }

TEST(SimChecks, ReportsAreLimited) {
  TestDevice device;
  LaunchResult result = device.run(kernel<manyBody>, {3, 50, 0, true});
  EXPECT_EQ(result.reports.size(), 20u);
  EXPECT_EQ(result.moreReports, 30u);
  EXPECT_NE(result.error.find("(and 49 more)"), std::string::npos) << result.error;
}

} // namespace
