// Tensor maps in the kernel's parameters and in global memory, where a fence.proxy.tensormap must
// come before their use.
//
// SPDX-License-Identifier: Apache-2.0
#include "sim_async_testing.h"

using namespace simtest;

namespace {

constexpr uint32_t kBoxBytes = 4 * 4 * 4;

enum class Planted : uint32_t {
  None,
  NoAcquire,
  NarrowAcquire, // not .sys
  OtherMap,
  OtherBlock, // the first one alone acquires
  NotOrdered, // by a warp that nothing orders before the use
  NoRelease,
  EarlyAcquire, // before the release
  LaterWrite,   // while the copy is under way
  Misaligned,
  OutOfBounds
};

void acquire(Gpu gpu, const char *map, CameoSimScope scope, uint32_t site) {
  run(gpu, code(CAMEO_SIM_OP_MAP_FENCE, 1, scope), Words().address(map), site);
}
void release(Gpu gpu, uint32_t site) {
  run(gpu, code(CAMEO_SIM_OP_MAP_FENCE, 0, CAMEO_SIM_SCOPE_GPU), Words(), site);
}
void setUp(Gpu gpu, uint64_t *barrier) {
  if (gpu.tid() != 0)
    return;
  initialise(gpu, barrier, 1, 1);
  run(gpu, CAMEO_SIM_OP_MBAR_INIT_FENCE, 2);
}
void load(Gpu gpu, const void *map, uint64_t *barrier) {
  expect(gpu, barrier, kBoxBytes, 3);
  run(gpu, code(CAMEO_SIM_OP_TENSOR_LOAD, 2, 0, 0),
      Words().address(gpu.shared<char>()).address(map).number(4).number(2).address(barrier), 4);
}

/// A map that the host has written: the second warp acquires it, the first one uses it.
void hostMapBody(Gpu gpu) {
  auto *map = gpu.arg<const char *>(0), *other = gpu.arg<const char *>(1);
  auto plant = gpu.arg<Planted>(2);
  auto *barrier = gpu.shared<uint64_t>(kBarrierAt);
  setUp(gpu, barrier);
  bool none = plant == Planted::NoAcquire || (plant == Planted::OtherBlock && gpu.block() == 1);
  if (gpu.tid() == 32 && !none && plant != Planted::NotOrdered)
    acquire(gpu, plant == Planted::OtherMap ? other : map,
            plant == Planted::NarrowAcquire ? CAMEO_SIM_SCOPE_GPU : CAMEO_SIM_SCOPE_SYS, 5);
  if (plant == Planted::OtherBlock)
    clusterBarrier(gpu, 6);
  gpu.barrier(7);
  if (gpu.tid() == 32 && plant == Planted::NotOrdered)
    acquire(gpu, map, CAMEO_SIM_SCOPE_SYS, 5);
  if (gpu.tid() == 0)
    load(gpu,
         plant == Planted::Misaligned    ? map + 16
         : plant == Planted::OutOfBounds ? map + 64
                                         : map,
         barrier);
  waitFor(gpu, barrier, 0, 8);
  if (plant == Planted::OtherBlock)
    clusterBarrier(gpu, 9);
}

/// A map that the first warp writes.
void ownMapBody(Gpu gpu) {
  auto *map = gpu.arg<uint32_t *>(0);
  auto *from = static_cast<const uint32_t *>(gpu.args[1]);
  auto plant = gpu.arg<Planted>(2);
  auto *barrier = gpu.shared<uint64_t>(kBarrierAt);
  setUp(gpu, barrier);
  if (gpu.tid() < 32) {
    gpu.store(map + gpu.tid(), from[gpu.tid()], 10);
    if (plant != Planted::NoRelease)
      release(gpu, 11);
  }
  auto *at = reinterpret_cast<const char *>(map);
  if (gpu.tid() == 32 && plant == Planted::EarlyAcquire)
    acquire(gpu, at, CAMEO_SIM_SCOPE_SYS, 12);
  gpu.barrier(13);
  if (gpu.tid() == 32) {
    if (plant != Planted::EarlyAcquire && plant != Planted::NoAcquire)
      acquire(gpu, at, CAMEO_SIM_SCOPE_CTA, 12);
    load(gpu, map, barrier);
  }
  if (plant == Planted::LaterWrite) {
    gpu.barrier(14);
    if (gpu.tid() == 0)
      gpu.store(map + 31, 0u, 15);
  }
  waitFor(gpu, barrier, 0, 16);
  if (gpu.tid() == 0)
    gpu.store(map + 31, 0u, 17);
}

/// A map that is a parameter needs no fence, and can have none.
void parameterBody(Gpu gpu) {
  auto *map = static_cast<const char *>(gpu.args[0]);
  auto *barrier = gpu.shared<uint64_t>(kBarrierAt);
  setUp(gpu, barrier);
  gpu.barrier(7);
  if (gpu.tid() == 0) {
    if (gpu.arg<uint32_t>(1))
      acquire(gpu, map, CAMEO_SIM_SCOPE_SYS, 5);
    load(gpu, map, barrier);
  }
  waitFor(gpu, barrier, 0, 8);
}

struct Maps {
  explicit Maps(uint64_t seed) : device(kCheckAll, seed) {
    tensor = device.upload(std::vector<uint32_t>(256), "tensor");
    Map map = mapOf(tensor);
    words.resize(32);
    memcpy(words.data(), map.bytes, sizeof map);
  }
  TestDevice device;
  uint32_t *tensor;
  std::vector<uint32_t> words;
};

TEST(SimMapFences, MapsOfTheHost) {
  const char *missing =
      "missing proxy fence: read of 128 B at map+0x0 (of 128 B) (op 4, test.mlir:4)\n  no "
      "fence.proxy.tensormap::generic.acquire by its block for the tensor map before";
  const std::pair<Planted, const char *> plants[] = {
      {Planted::None, ""},
      {Planted::NoAcquire, missing},
      {Planted::OtherMap, missing},
      {Planted::OtherBlock, missing},
      {Planted::NotOrdered, missing},
      {Planted::NarrowAcquire, "its block's fence.proxy.tensormap::generic.acquire for the tensor "
                               "map, which the host has written, is not .sys"},
      {Planted::Misaligned, "misaligned access: read of 128 B at map+0x10 (of 128 B), which must "
                            "be aligned to 64 B"},
      {Planted::OutOfBounds, "out-of-bounds access of global memory: read of 128 B at map+0x40"}};
  for (uint64_t seed = 0; seed < kSeeds; ++seed)
    for (auto [plant, text] : plants) {
      Maps maps(seed);
      uint32_t *map = maps.device.upload(maps.words, "map");
      uint32_t *other = maps.device.upload(maps.words, "other");
      Shape shape{2, kThreads, 2048};
      shape.cluster = 2;
      std::string found =
          texts(maps.device.run(kernel<hostMapBody>, shape, map, other, uint32_t(plant)));
      EXPECT_NE(found.find(text), std::string::npos)
          << "plant " << uint32_t(plant) << " seed " << seed << "\n"
          << found;
      EXPECT_EQ(plant == Planted::None, found.empty()) << found;
    }
}

TEST(SimMapFences, MapsOfTheKernel) {
  const std::pair<Planted, const char *> plants[] = {
      {Planted::None, ""},
      {Planted::NoAcquire, "no fence.proxy.tensormap::generic.acquire by its block"},
      {Planted::NoRelease,
       "missing proxy fence: read of 128 B at map+0x0 (of 128 B) (op 4, test.mlir:4)\n  no "
       "fence.proxy.tensormap::generic.release, then .acquire, after the write by block (0,0,0) "
       "warp 0 lane 0 (op 10, test.mlir:10)"},
      {Planted::EarlyAcquire, "no fence.proxy.tensormap::generic.release, then .acquire, after"},
      {Planted::LaterWrite, "race on global memory: write of 4 B at map+0x7c (of 128 B) (op 15, "
                            "test.mlir:15)\n  not ordered after the read by the tensor copy of "
                            "block (0,0,0) warp 1 lane 0 (op 4"}};
  for (uint64_t seed = 0; seed < kSeeds; ++seed)
    for (auto [plant, text] : plants) {
      Maps maps(seed);
      uint32_t *map = maps.device.buffer<uint32_t>(32, "map");
      std::string found = texts(maps.device.run(kernel<ownMapBody>, {1, kThreads, 2048}, map,
                                                mapOf(maps.tensor), uint32_t(plant)));
      EXPECT_NE(found.find(text), std::string::npos)
          << "plant " << uint32_t(plant) << " seed " << seed << "\n"
          << found;
      EXPECT_EQ(plant == Planted::None, found.empty()) << found;
    }
}

TEST(SimMapFences, MapsThatAreParameters) {
  for (bool fences : {false, true}) {
    Maps maps(0);
    Shape shape{1, kThreads, 2048};
    shape.maps = 1;
    std::string found =
        texts(maps.device.run(kernel<parameterBody>, shape, mapOf(maps.tensor), uint32_t(fences)));
    EXPECT_EQ(found.empty(), !fences) << found;
    if (fences)
      EXPECT_NE(found.find("the fence is for tensor maps in global memory"), std::string::npos)
          << found;
  }
}

} // namespace
