// Clusters of blocks on the simulator: numbers, barrier, shared memory of other blocks, what the
// checks find there, and how much memory the largest cluster takes.
//
// SPDX-License-Identifier: Apache-2.0
#include "sim_testing.h"

#include "runtime/sim/instructions.h"

#include <cstdio>
#include <gtest/gtest.h>
#include <unistd.h>

using namespace simtest;

namespace {

constexpr uint64_t kSeeds = 8;

uint64_t code(CameoSimOpcode opcode, uint32_t first = 0, uint32_t second = 0) {
  return uint64_t(opcode) | uint64_t(first) << 8 | uint64_t(second) << 16;
}

void arrive(Gpu gpu, uint32_t site, bool releases = true) {
  gpu.t->api->instruction(gpu.t, code(CAMEO_SIM_OP_CLUSTER_ARRIVE, releases), nullptr, site);
}
void wait(Gpu gpu, uint32_t site) {
  gpu.t->api->blocking_instruction(gpu.t, code(CAMEO_SIM_OP_CLUSTER_WAIT), kFullMask, nullptr,
                                   site);
}
void clusterBarrier(Gpu gpu, uint32_t site) {
  arrive(gpu, site);
  wait(gpu, site);
}
void setAddress(uint32_t *words, const void *address) { memcpy(words, &address, sizeof address); }

/// `place` of this block's shared memory, in block `rank`.
uint32_t *mapTo(Gpu gpu, uint32_t *place, uint32_t rank, uint32_t site) {
  uint32_t words[5];
  setAddress(words, place);
  words[2] = rank;
  gpu.t->api->instruction(gpu.t, code(CAMEO_SIM_OP_MAPA), words, site);
  uint32_t *result;
  memcpy(&result, words + 3, sizeof result);
  return result;
}
uint32_t remoteLoad(Gpu gpu, uint32_t *place, uint32_t site) {
  uint32_t words[3];
  setAddress(words, place);
  gpu.t->api->instruction(gpu.t, code(CAMEO_SIM_OP_CLUSTER_LOAD, 1, 4), words, site);
  return words[2];
}
void remoteStore(Gpu gpu, uint32_t *place, uint32_t value, uint32_t site) {
  uint32_t words[3];
  setAddress(words, place);
  words[2] = value;
  gpu.t->api->instruction(gpu.t, code(CAMEO_SIM_OP_CLUSTER_STORE, 1, 4), words, site);
}

std::string texts(const LaunchResult &result) {
  std::string all = result.error;
  for (const Report &report : result.reports)
    all += "\n" + report.text;
  return all;
}

bool reports(const LaunchResult &result, FaultKind kind) {
  for (const Report &report : result.reports)
    if (report.kind == kind)
      return true;
  return false;
}

// ---- Numbers ----

void numbersBody(Gpu gpu) {
  const CameoSimThread &t = *gpu.t;
  uint32_t linear = (t.ctaid[2] * t.nctaid[1] + t.ctaid[1]) * t.nctaid[0] + t.ctaid[0];
  uint32_t *out = gpu.arg<uint32_t *>(0) + 8 * linear;
  if (gpu.tid())
    return;
  uint32_t values[8] = {t.clusterid[0],     t.clusterid[1],     t.cluster_ctaid[0],
                        t.cluster_ctaid[1], t.cluster_ctarank,  t.cluster_nctarank,
                        t.nclusterid[0],    t.cluster_nctaid[1]};
  for (int i = 0; i < 8; ++i)
    gpu.store(out + i, values[i], 1);
}

TEST(SimCluster, NumbersBlocks) {
  for (uint64_t seed = 0; seed < 3; ++seed) {
    TestDevice device(kCheckAll, seed);
    uint32_t *out = device.buffer<uint32_t>(8 * 6 * 4, "out");
    const void *args[] = {&out, nullptr};
    CameoSimKernelInfo info{"numbers", kernel<numbersBody>, 0, 4096, nullptr, 0, 0,
                            0,         {3, 2, 1},           0, 0,    0};
    Launch launch;
    launch.image = &image();
    launch.kernel = &info;
    launch.grid[0] = 6;
    launch.grid[1] = 4;
    launch.block[0] = 32;
    launch.args = args;
    LaunchResult result = device.engine.launch(launch);
    ASSERT_TRUE(result.ok()) << texts(result);
    EXPECT_EQ(result.counters.blocks, 24u);
    for (uint32_t y = 0; y < 4; ++y)
      for (uint32_t x = 0; x < 6; ++x) {
        const uint32_t *got = out + 8 * (y * 6 + x);
        const uint32_t wanted[8] = {x / 3, y / 2, x % 3, y % 2, y % 2 * 3 + x % 3, 6, 2, 2};
        for (int i = 0; i < 8; ++i)
          EXPECT_EQ(got[i], wanted[i]) << x << "," << y << " value " << i;
      }
  }
}

TEST(SimCluster, RefusesWhatNoGpuTakes) {
  TestDevice device;
  uint32_t *out = device.buffer<uint32_t>(8, "out");
  auto error = [&](uint32_t grid, uint32_t own, uint32_t given, bool nonPortable) {
    const void *args[] = {&out, nullptr};
    CameoSimKernelInfo info{"numbers", kernel<numbersBody>, 0, 4096, nullptr, 0, 0,
                            0,         {own, own, own},     0, 0,    0};
    Launch launch;
    launch.kernel = &info;
    launch.grid[0] = grid;
    launch.block[0] = 32;
    launch.cluster[0] = given;
    launch.nonPortableCluster = nonPortable;
    launch.args = args;
    LaunchResult result = device.engine.launch(launch);
    EXPECT_EQ(result.outcome, Outcome::Invalid);
    return result.error;
  };
  EXPECT_EQ(error(6, 0, 4, false), "grid size x is 6; it must be a multiple of the cluster's 4");
  EXPECT_EQ(error(16, 0, 16, false), "a cluster has 16 blocks; the limit is 8");
  EXPECT_EQ(error(34, 0, 17, true), "a cluster has 17 blocks; the limit is 16");
  EXPECT_EQ(error(4, 1, 2, false), "cluster size x is 2; the kernel is made for 1");
}

// ---- What is right, and what is planted ----

enum Plant : uint32_t {
  kNone,
  kNoFirstBarrier,
  kNoLastBarrier,
  kNoMiddleBarrier,
  kRelaxedMiddle,
  kOwnAccess,
  kBeyondEnd
};

/// Each thread stores in the next block, and reads what the block before has stored.
void handOverBody(Gpu gpu) {
  uint32_t *out = gpu.arg<uint32_t *>(0);
  auto plant = gpu.arg<uint32_t>(1);
  uint32_t rank = gpu.t->cluster_ctarank, size = gpu.t->cluster_nctarank;
  uint32_t *own = gpu.shared<uint32_t>() + gpu.tid();
  if (plant != kNoFirstBarrier)
    clusterBarrier(gpu, 1);
  uint32_t *next = mapTo(gpu, own, (rank + 1) % size, 2);
  if (plant == kBeyondEnd && gpu.tid() == 5)
    next += 4096;
  if (plant == kOwnAccess && gpu.tid() == 5)
    gpu.t->api->access(gpu.t, next, 4, 4, 3, CAMEO_SIM_WRITE, 3);
  else
    remoteStore(gpu, next, gpu.block() * 100 + gpu.tid(), 3);
  if (plant != kNoMiddleBarrier) {
    arrive(gpu, 4, plant != kRelaxedMiddle);
    wait(gpu, 4);
  }
  uint32_t value = plant == kOwnAccess ? 0 : gpu.load(own, 5);
  uint32_t again = remoteLoad(gpu, mapTo(gpu, own, rank, 6), 6);
  uint32_t *before = mapTo(gpu, own, (rank + size - 1) % size, 7);
  if (plant == kNoLastBarrier)
    remoteLoad(gpu, before, 8);
  else
    arrive(gpu, 9, /*releases=*/false);
  gpu.store(out + gpu.block() * gpu.t->ntid[0] + gpu.tid(), value + again, 10);
  if (plant != kNoLastBarrier)
    wait(gpu, 9);
}

LaunchResult handOver(TestDevice &device, Plant plant, uint32_t *out) {
  return device.run(kernel<handOverBody>, {8, 64, 256, false, 4}, out, uint32_t(plant));
}

TEST(SimCluster, HandsOver) {
  for (uint64_t seed = 0; seed <= kSeeds; ++seed) {
    TestDevice device(kCheckAll, seed);
    uint32_t *out = device.buffer<uint32_t>(8 * 64, "out");
    LaunchResult result = handOver(device, kNone, out);
    ASSERT_TRUE(result.ok()) << "seed " << seed << "\n" << texts(result);
    for (uint32_t block = 0; block < 8; ++block)
      for (uint32_t thread = 0; thread < 64; ++thread)
        EXPECT_EQ(out[block * 64 + thread], 2 * (100 * (block / 4 * 4 + (block + 3) % 4) + thread));
  }
}

TEST(SimCluster, FindsPlantedFaults) {
  const std::pair<Plant, FaultKind> plants[] = {
      {kNoFirstBarrier, FaultKind::BlockLifetime}, {kNoLastBarrier, FaultKind::BlockLifetime},
      {kNoMiddleBarrier, FaultKind::SharedRace},   {kRelaxedMiddle, FaultKind::SharedRace},
      {kOwnAccess, FaultKind::SharedOutOfBounds},  {kBeyondEnd, FaultKind::SharedOutOfBounds}};
  for (uint64_t seed = 0; seed <= kSeeds; ++seed)
    for (auto [plant, kind] : plants) {
      TestDevice device(kCheckAll, seed);
      LaunchResult result = handOver(device, plant, device.buffer<uint32_t>(8 * 64, "out"));
      EXPECT_FALSE(result.ok());
      EXPECT_TRUE(reports(result, kind)) << "plant " << plant << " seed " << seed << "\n"
                                         << texts(result);
    }
}

TEST(SimCluster, NamesBothBlocksOfARace) {
  TestDevice device(kCheckAll, 0);
  LaunchResult result = handOver(device, kNoMiddleBarrier, device.buffer<uint32_t>(8 * 64, "out"));
  const std::string all = texts(result);
  for (const char *part :
       {"race on shared memory: read of 4 B at shared+0x0 (op 5, test.mlir:5)\n  not ordered after "
        "the write by block (3,0,0) warp 0 lane 0 (op 3, test.mlir:3)\n  in kernel test_kernel, "
        "node node, block (0,0,0), warp 0, lanes 0-31",
        "write of 4 B at shared+0x0 of block (3,0,0) (op 3, test.mlir:3)"})
    EXPECT_NE(all.find(part), std::string::npos) << part << "\n" << all;
}

void exitedTargetBody(Gpu gpu) {
  clusterBarrier(gpu, 1);
  if (gpu.t->cluster_ctarank == 1)
    return;
  clusterBarrier(gpu, 2); // without those that have exited
  remoteStore(gpu, mapTo(gpu, gpu.shared<uint32_t>(), 1, 3), 1, 4);
}

TEST(SimCluster, RefusesMemoryOfBlocksThatHaveEnded) {
  for (uint32_t checks : {uint32_t(kCheckAll), uint32_t(0)}) {
    TestDevice device(checks, 3);
    LaunchResult result = device.run(kernel<exitedTargetBody>, {2, 32, 64, false, 2});
    ASSERT_TRUE(reports(result, FaultKind::BlockLifetime)) << texts(result);
    EXPECT_NE(result.error.find("of block (1,0,0): it has ended (op 4, test.mlir:4)"),
              std::string::npos)
        << texts(result);
  }
}

// ---- Deadlocks ----

void missingArrivalBody(Gpu gpu) {
  if (gpu.t->cluster_ctarank == 2 && gpu.tid() < 32)
    gpu.barrier(7); // waits for warp 1, which waits for the cluster
  clusterBarrier(gpu, 8);
}

TEST(SimCluster, ReportsDeadlocksOfTheWholeCluster) {
  for (uint64_t seed = 0; seed <= kSeeds; ++seed) {
    TestDevice device(kCheckSync, seed);
    LaunchResult result = device.run(kernel<missingArrivalBody>, {4, 64, 0, false, 4});
    ASSERT_TRUE(reports(result, FaultKind::Deadlock)) << texts(result);
    const std::string all = texts(result);
    for (const char *part :
         {"no thread of the cluster can go on",
          "block (2,0,0), warp 0, lanes 0-31 wait for barrier 0 (32 of 64 threads are there) (op 7",
          "block (3,0,0), warps 0-1, lanes 0-31 wait for the cluster's barrier (224 of 256 threads "
          "have arrived) (op 8"})
      EXPECT_NE(all.find(part), std::string::npos) << part << "\n" << all;
  }
}

void waitForExitedBody(Gpu gpu) {
  if (gpu.t->cluster_ctarank == 0)
    return; // its arrival at the other's mbarrier is missing
  uint32_t words[4] = {};
  if (gpu.tid() == 0) {
    setAddress(words, gpu.shared<uint32_t>());
    words[2] = 1;
    gpu.t->api->instruction(gpu.t, code(CAMEO_SIM_OP_MBAR_INIT), words, 1);
  }
  gpu.barrier(2);
  uint32_t poll[5] = {};
  setAddress(poll, gpu.shared<uint32_t>());
  gpu.t->api->blocking_instruction(gpu.t, code(CAMEO_SIM_OP_MBAR_WAIT, 1, 1), kFullMask, poll, 3);
}

TEST(SimCluster, ReportsABlockThatExitedWhileAnotherWaits) {
  TestDevice device(kCheckSync, 0);
  LaunchResult result = device.run(kernel<waitForExitedBody>, {2, 32, 64, false, 2});
  const std::string all = texts(result);
  ASSERT_TRUE(reports(result, FaultKind::Deadlock)) << all;
  EXPECT_NE(all.find("block (0,0,0), all threads have exited"), std::string::npos) << all;
  EXPECT_NE(all.find("block (1,0,0), warp 0, lanes 0-31 wait for the mbarrier at shared+0x0 (op 3"),
            std::string::npos)
      << all;
}

void twiceBody(Gpu gpu) {
  arrive(gpu, 1);
  arrive(gpu, 2);
  wait(gpu, 3);
  wait(gpu, 4);
}

TEST(SimCluster, ReportsArrivalsAndWaitsOutOfTurn) {
  TestDevice device(kCheckSync, 0);
  LaunchResult result = device.run(kernel<twiceBody>, {2, 32, 0, false, 2});
  const std::string all = texts(result);
  EXPECT_NE(all.find("arrives at the cluster's barrier again without having waited (op 2"),
            std::string::npos)
      << all;
  EXPECT_NE(all.find("waits at the cluster's barrier without having arrived (op 4"),
            std::string::npos)
      << all;
}

// ---- Memory ----

/// The process's address space, which what is resident cannot exceed.
uint64_t mappedBytes() {
  unsigned long long pages = 0;
  FILE *file = fopen("/proc/self/statm", "r");
  if (!file || fscanf(file, "%llu", &pages) != 1)
    pages = 0;
  if (file)
    fclose(file);
  return pages * uint64_t(sysconf(_SC_PAGESIZE));
}

void deepBody(Gpu gpu) {
  volatile char frame[8 << 10];
  memset(const_cast<char *>(frame), int(gpu.tid()), sizeof frame);
  clusterBarrier(gpu, 1);
  if (frame[gpu.tid()] == char(gpu.tid()))
    gpu.atomicAdd(gpu.arg<uint32_t *>(0), 1, 2);
}

TEST(SimCluster, TheLargestFitsInAGibibyte) {
  // Without checks, and with guard pages below every stack.
  for (uint32_t checks : {uint32_t(0), uint32_t(kCheckBounds | kCheckSync)}) {
    TestDevice device(checks, 0, 1);
    uint32_t *count = device.upload<uint32_t>({0}, "count");
    uint64_t before = mappedBytes();
    ASSERT_GT(before, 0u);
    LaunchResult result =
        device.run(kernel<deepBody>, {16, 384, 227 << 10, false, 16, 9 << 10}, count);
    ASSERT_TRUE(result.ok()) << texts(result);
    EXPECT_EQ(*count, 16u * 384);
    uint64_t used = mappedBytes() - before;
    EXPECT_LT(used, 1ull << 30);
    RecordProperty("mapped_bytes", std::to_string(used));
    printf("16 blocks of 384 threads%s: %.0f MiB mapped\n", checks ? ", guarded" : "",
           double(used) / (1 << 20));
  }
}

} // namespace
