// The simulator runs kernels as a GPU would: collectives, barriers, exits, every order of lanes and
// any number of worker threads.
//
// SPDX-License-Identifier: Apache-2.0
#include "sim_testing.h"

#include "runtime/sim/instructions.h"

#include <cmath>
#include <fstream>
#include <gtest/gtest.h>

#include <algorithm>
#include <iterator>
#include <xmmintrin.h>

using namespace simtest;

namespace {

constexpr uint64_t kSeeds = 20;

// ---- Tree reduction with shuffles and barriers ----

void reduceBody(Gpu gpu) {
  const float *in = gpu.arg<const float *>(0);
  float *out = gpu.arg<float *>(1);
  uint32_t n = gpu.t->ntid[0];
  float value = gpu.load(in + gpu.block() * n + gpu.tid(), 1);
  for (uint32_t offset = 16; offset; offset /= 2)
    value += gpu.shuffleDown(value, offset, 2);
  float *partial = gpu.shared<float>();
  if (gpu.t->lane == 0)
    gpu.store(partial + gpu.t->warp, value, 3);
  gpu.barrier(4);
  if (gpu.t->warp == 0) {
    value = gpu.t->lane < n / 32 ? gpu.load(partial + gpu.t->lane, 5) : 0.f;
    for (uint32_t offset = 16; offset; offset /= 2)
      value += gpu.shuffleDown(value, offset, 6);
    if (gpu.tid() == 0)
      gpu.store(out + gpu.block(), value, 7);
  }
}

std::vector<float> reduce(TestDevice &device, uint32_t blocks, uint32_t threads) {
  std::vector<float> input(size_t(blocks) * threads);
  for (size_t i = 0; i < input.size(); ++i)
    input[i] = float(i % 97) * 0.37f - 11.f;
  float *in = device.upload(input, "in");
  float *out = device.buffer<float>(blocks, "out");
  LaunchResult result = device.run(kernel<reduceBody>, {blocks, threads, 128}, in, out);
  EXPECT_TRUE(result.ok()) << result.error;
  EXPECT_EQ(result.counters.blocks, blocks);
  EXPECT_EQ(result.counters.threads, input.size());
  EXPECT_EQ(result.counters.barriers, blocks);
  EXPECT_EQ(result.counters.collectives, blocks * (threads / 32 * 5 + 5));
  std::vector<float> sums(out, out + blocks);
  for (uint32_t b = 0; b < blocks; ++b) {
    double expected = 0;
    for (uint32_t i = 0; i < threads; ++i)
      expected += input[size_t(b) * threads + i];
    EXPECT_NEAR(sums[b], expected, 1e-2) << "block " << b;
  }
  return sums;
}

TEST(SimEngine, ReducesOver1024Threads) {
  TestDevice device;
  reduce(device, 3, 1024);
}

TEST(SimEngine, GivesTheSameBitsForAnySeedAndThreadCount) {
  TestDevice reference(0, 0, 1);
  std::vector<float> expected = reduce(reference, 50, 256);
  for (unsigned threads : {1u, 2u, 5u})
    for (uint64_t seed = 0; seed <= kSeeds; ++seed)
      for (uint32_t checks : {0u, uint32_t(kCheckAll)}) {
        TestDevice device(checks, seed, threads);
        EXPECT_EQ(reduce(device, 50, 256), expected) << "seed " << seed << " threads " << threads;
      }
}

TEST(SimEngine, RunsManyBlocksAndLaunches) {
  TestDevice device(0, 0, 3);
  for (int i = 0; i < 5; ++i)
    reduce(device, 5000, 64);
  EXPECT_EQ(device.engine.counters().launches, 5u);
  EXPECT_EQ(device.engine.counters().blocks, 25000u);
}

// ---- Order ----

/// Writes down who comes when.
void orderBody(Gpu gpu) {
  uint32_t *next = gpu.arg<uint32_t *>(0), *who = next + 1;
  who[(*next)++] = gpu.block() * 128 + gpu.tid();
}

std::vector<uint32_t> orderOf(uint64_t seed, bool noSync) {
  TestDevice device(0, seed, /*threads=*/1);
  std::vector<uint32_t> record(1 + 8 * 128);
  uint32_t *memory = device.upload(record, "record");
  LaunchResult result = device.run(kernel<orderBody>, {8, 128, 0, noSync}, memory);
  EXPECT_TRUE(result.ok()) << result.error;
  EXPECT_EQ(memory[0], 8u * 128);
  return std::vector<uint32_t>(memory + 1, memory + 1 + 8 * 128);
}

/// The order in which groups of `size` threads are begun, of those in `order` that `in` accepts.
template <typename Filter>
std::vector<uint32_t> firstOf(const std::vector<uint32_t> &order, uint32_t size, Filter &&in) {
  std::vector<uint32_t> groups;
  for (uint32_t thread : order)
    if (in(thread) && std::find(groups.begin(), groups.end(), thread / size) == groups.end())
      groups.push_back(thread / size);
  return groups;
}

TEST(SimEngine, SeedsReorderLanesWarpsAndBlocks) {
  for (bool noSync : {false, true}) {
    SCOPED_TRACE(noSync);
    std::vector<uint32_t> natural = orderOf(0, noSync);
    EXPECT_TRUE(std::is_sorted(natural.begin(), natural.end()));
    for (uint64_t seed = 1; seed <= 3; ++seed) {
      SCOPED_TRACE(seed);
      std::vector<uint32_t> order = orderOf(seed, noSync);
      EXPECT_EQ(order, orderOf(seed, noSync));
      EXPECT_NE(order, orderOf(seed + 1, noSync));
      auto isShuffled = [](const std::vector<uint32_t> &groups, size_t count) {
        EXPECT_EQ(groups.size(), count);
        return !std::is_sorted(groups.begin(), groups.end());
      };
      EXPECT_TRUE(isShuffled(firstOf(order, 128, [](uint32_t) { return true; }), 8)) << "blocks";
      unsigned shuffledWarps = 0; // of four warps, chance leaves every twenty-fourth block's sorted
      for (uint32_t block = 0; block < 8; ++block)
        shuffledWarps +=
            isShuffled(firstOf(order, 32, [=](uint32_t t) { return t / 128 == block; }), 4);
      EXPECT_GE(shuffledWarps, 4u);
      EXPECT_TRUE(isShuffled(firstOf(order, 1, [](uint32_t t) { return t / 32 == 9; }), 32))
          << "lanes";
    }
  }
}

// ---- Shuffles ----

/// out[lane * 2], out[lane * 2 + 1]: value and predicate; the value is 100 + lane.
void shuffleBody(Gpu gpu) {
  uint64_t r = gpu.shuffle(gpu.arg<CameoSimShuffle>(0), 100 + gpu.t->lane, gpu.arg<uint32_t>(1),
                           gpu.arg<uint32_t>(2), 1);
  uint32_t *out = gpu.arg<uint32_t *>(3);
  gpu.store(out + gpu.tid() * 2, uint32_t(r), 2);
  gpu.store(out + gpu.tid() * 2 + 1, uint32_t(r >> 32), 3);
}

struct ShuffleCase {
  CameoSimShuffle kind;
  uint32_t b, c;
  uint32_t (*source)(uint32_t lane); // ~0: out of range
};

TEST(SimEngine, ShufflesAsPtxSays) {
  const ShuffleCase cases[] = {
      {CAMEO_SIM_SHFL_IDX, 5, 31, [](uint32_t) { return 5u; }},
      {CAMEO_SIM_SHFL_UP, 3, 0, [](uint32_t l) { return l >= 3 ? l - 3 : ~0u; }},
      {CAMEO_SIM_SHFL_DOWN, 7, 31, [](uint32_t l) { return l + 7 <= 31 ? l + 7 : ~0u; }},
      {CAMEO_SIM_SHFL_BFLY, 21, 31, [](uint32_t l) { return l ^ 21u; }},
      // Width 8: the segment mask is 0x18.
      {CAMEO_SIM_SHFL_IDX, 2, 0x1807, [](uint32_t l) { return (l & 24u) + 2; }},
      {CAMEO_SIM_SHFL_UP, 1, 0x1800, [](uint32_t l) { return l % 8 ? l - 1 : ~0u; }},
      {CAMEO_SIM_SHFL_DOWN, 1, 0x1807, [](uint32_t l) { return l % 8 != 7 ? l + 1 : ~0u; }},
      {CAMEO_SIM_SHFL_BFLY, 8, 0x1807, [](uint32_t l) { return (l & 8) ? l ^ 8u : ~0u; }},
  };
  TestDevice device;
  for (const ShuffleCase &c : cases) {
    uint32_t *out = device.buffer<uint32_t>(64, "out");
    LaunchResult result = device.run(kernel<shuffleBody>, {}, c.kind, c.b, c.c, out);
    ASSERT_TRUE(result.ok()) << result.error;
    for (uint32_t lane = 0; lane < 32; ++lane) {
      uint32_t source = c.source(lane);
      EXPECT_EQ(out[lane * 2], 100 + (source == ~0u ? lane : source))
          << "kind " << c.kind << " lane " << lane;
      EXPECT_EQ(out[lane * 2 + 1], source != ~0u) << "kind " << c.kind << " lane " << lane;
    }
  }
}

// ---- Votes, and divergent halves with masks of their own ----

void voteBody(Gpu gpu) {
  uint32_t *out = gpu.arg<uint32_t *>(0) + gpu.tid() * 8;
  uint32_t lane = gpu.t->lane;
  uint32_t r[8];
  r[0] = gpu.vote(CAMEO_SIM_VOTE_BALLOT, lane % 3 == 0, 1);
  r[1] = gpu.vote(CAMEO_SIM_VOTE_ANY, lane == 17, 2);
  r[2] = gpu.vote(CAMEO_SIM_VOTE_ALL, lane != 17, 3);
  r[3] = gpu.vote(CAMEO_SIM_VOTE_ALL, true, 4);
  r[4] = gpu.vote(CAMEO_SIM_VOTE_UNI, false, 5);
  r[5] = gpu.vote(CAMEO_SIM_VOTE_UNI, lane == 1, 6);
  // The halves go different ways, each with its own mask and its own number of steps.
  if (lane < 16) {
    r[6] = gpu.vote(CAMEO_SIM_VOTE_BALLOT, lane & 1, 7, 0x0000ffff);
  } else {
    gpu.vote(CAMEO_SIM_VOTE_ANY, true, 8, 0xffff0000);
    r[6] = gpu.vote(CAMEO_SIM_VOTE_BALLOT, lane & 1, 9, 0xffff0000);
  }
  r[7] = gpu.vote(CAMEO_SIM_VOTE_BALLOT, lane < 16, 10);
  for (int i = 0; i < 8; ++i)
    gpu.store(out + i, r[i], 11);
}

TEST(SimEngine, Votes) {
  for (uint64_t seed = 0; seed <= kSeeds; ++seed) {
    TestDevice device(kCheckAll, seed);
    uint32_t *out = device.buffer<uint32_t>(64 * 8, "out");
    LaunchResult result = device.run(kernel<voteBody>, {1, 64}, out);
    ASSERT_TRUE(result.ok()) << result.error;
    for (uint32_t t = 0; t < 64; ++t) {
      const uint32_t half = t % 32 < 16 ? 0x0000aaaau : 0xaaaa0000u;
      const uint32_t expected[8] = {0x49249249u, 1, 0, 1, 1, 0, half, 0xffffu};
      for (int i = 0; i < 8; ++i)
        EXPECT_EQ(out[t * 8 + i], expected[i]) << "thread " << t << " vote " << i;
    }
  }
}

// ---- Exits ----

/// Threads leave one by one before, between and after barriers and collectives.
void exitBody(Gpu gpu) {
  uint32_t *out = gpu.arg<uint32_t *>(0);
  uint32_t *flags = gpu.shared<uint32_t>();
  if (gpu.tid() % 7 == 0)
    return;
  gpu.store(flags + gpu.tid(), gpu.tid(), 1);
  gpu.barrier(2);
  if (gpu.t->warp == 1)
    return;
  uint32_t ballot = gpu.vote(CAMEO_SIM_VOTE_BALLOT, true, 3); // of those that are left
  gpu.barrier(4);
  uint32_t peer = gpu.tid() ^ 1;
  uint32_t seen = peer % 7 ? gpu.load(flags + peer, 5) : 0;
  gpu.store(out + gpu.tid(), ballot + seen, 6);
}

TEST(SimEngine, ExitedThreadsAreNotWaitedFor) {
  for (uint64_t seed = 0; seed <= kSeeds; ++seed) {
    TestDevice device(kCheckAll, seed);
    uint32_t *out = device.upload(std::vector<uint32_t>(96), "out");
    LaunchResult result = device.run(kernel<exitBody>, {1, 96, 4 * 96}, out);
    ASSERT_TRUE(result.ok()) << result.error << result.reports[0].text;
    for (uint32_t t = 0; t < 96; ++t) {
      uint32_t ballot = 0;
      for (uint32_t l = 0; l < 32; ++l)
        ballot |= uint32_t((t / 32 * 32 + l) % 7 != 0) << l;
      uint32_t seen = (t ^ 1) % 7 ? t ^ 1 : 0;
      EXPECT_EQ(out[t], t % 7 == 0 || t / 32 == 1 ? 0 : ballot + seen) << "thread " << t;
    }
  }
}

void partialWarpBody(Gpu gpu) {
  uint32_t *out = gpu.arg<uint32_t *>(0);
  uint32_t ballot = gpu.vote(CAMEO_SIM_VOTE_BALLOT, true, 1);
  gpu.barrier(2);
  gpu.store(out + gpu.tid(), ballot, 3);
}

TEST(SimEngine, LastWarpMayBePartial) {
  TestDevice device;
  uint32_t *out = device.buffer<uint32_t>(45, "out");
  LaunchResult result = device.run(kernel<partialWarpBody>, {1, 45}, out);
  ASSERT_TRUE(result.ok()) << result.error;
  EXPECT_EQ(out[31], ~0u);
  EXPECT_EQ(out[32], 0x1fffu);
}

// ---- Named barriers ----

/// A warp makes values for each of two pairs of warps, which then sum within the pair.
void namedBarrierBody(Gpu gpu) {
  uint32_t *box = gpu.shared<uint32_t>();
  uint32_t *out = gpu.arg<uint32_t *>(0);
  uint32_t warp = gpu.t->warp, lane = gpu.t->lane;
  if (warp == 0) {
    for (uint32_t pair = 0; pair < 2; ++pair) {
      gpu.store(box + pair * 32 + lane, pair * 1000 + lane, 1);
      gpu.barrier(2, 1 + pair, 96);
    }
    return;
  }
  uint32_t pair = (warp - 1) / 2;
  gpu.barrier(3, 1 + pair, 96);
  uint32_t value = gpu.load(box + pair * 32 + 31 - lane, 4);
  uint32_t *sums = box + 64 + pair * 32;
  if (warp % 2)
    gpu.store(sums + lane, value, 5);
  gpu.barrier(6, 3 + pair, 64);
  if (warp % 2 == 0)
    gpu.store(out + pair * 32 + lane, value + gpu.load(sums + (lane + 1) % 32, 7), 8);
}

TEST(SimEngine, NamedBarriersWithCounts) {
  for (uint64_t seed = 0; seed <= kSeeds; ++seed) {
    TestDevice device(kCheckAll, seed);
    uint32_t *out = device.buffer<uint32_t>(64, "out");
    LaunchResult result = device.run(kernel<namedBarrierBody>, {1, 160, 4 * 128}, out);
    ASSERT_TRUE(result.ok()) << result.error << result.reports[0].text;
    for (uint32_t i = 0; i < 64; ++i) {
      uint32_t lane = i % 32, base = i / 32 * 1000;
      EXPECT_EQ(out[i], 2 * base + (31 - lane) + (31 - (lane + 1) % 32));
    }
  }
}

// ---- Threads without synchronisation, indices ----

void indexBody(Gpu gpu) {
  const CameoSimThread &t = *gpu.t;
  uint32_t *out = gpu.arg<uint32_t *>(0);
  uint32_t block = t.ctaid[0] + t.nctaid[0] * (t.ctaid[1] + t.nctaid[1] * t.ctaid[2]);
  uint32_t thread = t.tid[0] + t.ntid[0] * (t.tid[1] + t.ntid[1] * t.tid[2]);
  uint32_t size = t.ntid[0] * t.ntid[1] * t.ntid[2];
  gpu.store(out + block * size + thread, t.warp * 32 + t.lane + block * 10000, 1);
}

TEST(SimEngine, IndicesAgreeOnBothPaths) {
  for (bool noSync : {false, true})
    for (uint64_t seed = 0; seed <= kSeeds; ++seed) {
      TestDevice device(kCheckAll, seed);
      uint32_t *out = device.buffer<uint32_t>(24 * 105, "out");
      CameoSimKernelInfo info{"indices", kernel<indexBody>, 0, 64 << 10, nullptr, 0, 0,
                              0,         {0, 0, 0},         0, 0,        0};
      const void *args[] = {&out};
      Launch launch;
      launch.image = &image();
      launch.kernel = &info;
      const uint32_t grid[3] = {2, 3, 4}, block[3] = {5, 7, 3};
      memcpy(launch.grid, grid, sizeof grid);
      memcpy(launch.block, block, sizeof block);
      launch.args = args;
      launch.noSync = noSync;
      LaunchResult result = device.engine.launch(launch);
      ASSERT_TRUE(result.ok()) << result.error;
      for (uint32_t b = 0; b < 24; ++b)
        for (uint32_t t = 0; t < 105; ++t)
          ASSERT_EQ(out[b * 105 + t], t + b * 10000);
    }
}

void barrierBody(Gpu gpu) { gpu.barrier(1); }

TEST(SimEngine, SynchronisationInAKernelDeclaredFreeOfItIsAnError) {
  TestDevice device(0);
  LaunchResult result = device.run(kernel<barrierBody>, {1, 64, 0, true});
  EXPECT_NE(result.error.find("declared free of synchronisation"), std::string::npos)
      << result.error;
}

// ---- Math, limits, images ----

void mathBody(Gpu gpu) {
  const CameoSimApi &api = *gpu.t->api;
  float *f = gpu.arg<float *>(0);
  double *d = gpu.arg<double *>(1);
#define ONE(NAME)                                                                                  \
  *f++ = api.NAME##f(0.3f);                                                                        \
  *d++ = api.NAME(0.3);
#define TWO(NAME)                                                                                  \
  *f++ = api.NAME##f(2.3f, 0.7f);                                                                  \
  *d++ = api.NAME(2.3, 0.7);
  CAMEO_SIM_MATH1(ONE) CAMEO_SIM_MATH2(TWO)
#undef ONE
#undef TWO
}

TEST(SimEngine, MathTableIsTheCLibrary) {
  TestDevice device(0);
  float f[32] = {};
  double d[32] = {};
  float *fp = f;
  double *dp = d;
  ASSERT_TRUE(device.run(kernel<mathBody>, {1, 1, 0, true}, fp, dp).ok());
  // Neither folded by the compiler nor equal as NaN: the library's bits, acosh of 0.3 included.
  volatile float x = 0.3f, y = 2.3f, z = 0.7f;
  volatile double dx = 0.3, dy = 2.3, dz = 0.7;
  auto same = [](auto a, auto b) { return memcmp(&a, &b, sizeof a) == 0; };
  int i = 0;
#define ONE(NAME)                                                                                  \
  EXPECT_TRUE(same(f[i], ::NAME##f(x))) << #NAME;                                                  \
  EXPECT_TRUE(same(d[i++], ::NAME(dx))) << #NAME;
#define TWO(NAME)                                                                                  \
  EXPECT_TRUE(same(f[i], ::NAME##f(y, z))) << #NAME;                                               \
  EXPECT_TRUE(same(d[i++], ::NAME(dy, dz))) << #NAME;
  CAMEO_SIM_MATH1(ONE) CAMEO_SIM_MATH2(TWO)
#undef ONE
#undef TWO
}

void roundToTf32Body(Gpu gpu) {
  uint32_t *values = gpu.arg<uint32_t *>(0) + gpu.tid(), words[2] = {*values};
  gpu.t->api->instruction(gpu.t, CAMEO_SIM_OP_ROUND_TF32, words, 1);
  *values = words[1];
}

TEST(SimEngine, RoundsNanToTf32) {
  const std::pair<uint32_t, uint32_t> cases[] = {
      {0x7f800000, 0x7f800000},
      {0xff800000, 0xff800000}, // infinities
      {0x7fc00000, 0x7fffffff},
      {0xffffffff, 0x7fffffff},
      {0x7f802000, 0x7fffffff},
      // Payloads in the 13 bits that TF32 does not have; an H200 (driver 580) gives the first.
      {0x7f800a55, 0x7f800000},
      {0xff800001, 0xff800000},
      {0x7f801000, 0x7f802000}};
  std::vector<uint32_t> values;
  for (auto [from, to] : cases)
    values.push_back(from);
  TestDevice device(0);
  uint32_t *at = device.upload(values, "values");
  ASSERT_TRUE(device.run(kernel<roundToTf32Body>, {1, uint32_t(values.size()), 0, true}, at).ok());
  for (auto [from, to] : cases)
    EXPECT_EQ(*at++, to) << std::hex << from;
}

void denormalBody(Gpu gpu) {
  float *x = gpu.arg<float *>(0);
  x[gpu.tid()] *= 0.5f;
}

TEST(SimEngine, KeepsDenormalsWhateverTheApplicationSets) {
  TestDevice device(0);
  std::vector<float> x(4, 1.2e-38f);
  float *data = x.data();
  const unsigned before = _mm_getcsr();
  _mm_setcsr(before | 0x8040); // flush to zero, denormals are zero
  EXPECT_TRUE(device.run(kernel<denormalBody>, {1, 4, 0, true}, data).ok());
  const unsigned after = _mm_getcsr();
  _mm_setcsr(before);
  EXPECT_EQ(x[0], 0.6e-38f);
  EXPECT_EQ(after & 0x8040, 0x8040u);
}

TEST(SimEngine, RefusesWhatNoGpuTakes) {
  TestDevice device(0);
  EXPECT_EQ(device.run(kernel<barrierBody>, {1, 1025}).error,
            "block size x is 1025; it goes from 1 to 1024");
  EXPECT_EQ(device.run(kernel<barrierBody>, {1, 32, 300 << 10}).error,
            "requires 307200 B of shared memory; the simulator has 262144 B");
  EXPECT_TRUE(device.run(kernel<barrierBody>, {0, 32}).ok()); // an empty grid does nothing
}

TEST(SimEngine, ParsesChecks) {
  uint32_t checks = 0;
  std::string error;
  EXPECT_TRUE(parseChecks("all", checks, error));
  EXPECT_EQ(checks, uint32_t(kCheckAll));
  EXPECT_TRUE(parseChecks("race,init", checks, error));
  EXPECT_EQ(checks, uint32_t(kCheckRace | kCheckInit));
  EXPECT_TRUE(parseChecks("none", checks, error));
  EXPECT_EQ(checks, 0u);
  EXPECT_FALSE(parseChecks("race,speed", checks, error));
  EXPECT_EQ(error, "unknown check 'speed'; there are all, none, bounds, init, race, sync");
  EXPECT_FALSE(parseChecks("", checks, error));
}

std::vector<char> readFile(const char *path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
}

TEST(SimImage, LoadsFromMemory) {
  std::vector<char> bytes = readFile(SIM_TEST_IMAGE);
  ASSERT_FALSE(bytes.empty());
  std::string error;
  auto first = Image::load(bytes.data(), bytes.size(), error);
  ASSERT_TRUE(first) << error;
  auto second = Image::load(bytes.data(), bytes.size(), error);
  ASSERT_TRUE(second) << error;
  EXPECT_NE(&first->table(), &second->table()) << "images must not share their data";
  EXPECT_EQ(first->find("absent"), nullptr);
  const CameoSimKernelInfo *kernelInfo = first->find("scale");
  ASSERT_TRUE(kernelInfo);

  TestDevice device;
  float *x = device.upload(std::vector<float>{1, 2, 3, 4}, "x");
  const void *args[] = {&x};
  Launch launch;
  launch.image = &first->table();
  launch.kernel = kernelInfo;
  launch.block[0] = 4;
  launch.args = args;
  ASSERT_TRUE(device.engine.launch(launch).ok());
  EXPECT_EQ(x[3], 8.f);
}

// Whatever the loader reads of an image may be wrong: an error, or an image, but no crash.
TEST(SimImage, DamagedImages) {
  std::vector<char> bytes = readFile(SIM_TEST_IMAGE);
  std::string error;
  for (size_t i = 0; i < bytes.size(); ++i)
    for (char flip : {char(1 << i % 8), char(0xff)}) {
      bytes[i] ^= flip;
      error.clear();
      if (!Image::load(bytes.data(), bytes.size(), error))
        EXPECT_NE(error, "") << i;
      bytes[i] ^= flip;
    }
  EXPECT_TRUE(Image::load(bytes.data(), bytes.size(), error)) << error;
}

TEST(SimImage, RefusesWhatItIsNot) {
  std::string error;
  EXPECT_FALSE(Image::load("nonsense", 8, error));
  EXPECT_EQ(error, "the simulator image is not an ELF file");
  std::vector<char> bytes = readFile(SIM_TEST_IMAGE);
  EXPECT_FALSE(Image::load(bytes.data(), 200, error));
  EXPECT_NE(error.find("cannot load the simulator image"), std::string::npos) << error;
  bytes = readFile(SIM_TEST_OLD_IMAGE);
  EXPECT_FALSE(Image::load(bytes.data(), bytes.size(), error));
  EXPECT_EQ(error, "the simulator image is of version 0; this runtime runs version " +
                       std::to_string(CAMEO_SIM_ABI_VERSION));
}

} // namespace
