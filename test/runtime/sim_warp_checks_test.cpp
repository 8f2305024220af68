// A warp's accesses are checked together where that is quick, and then by the same rules as lane by
// lane: random programs of accesses and barriers are run both ways, and must be reported the same.
// But of races it is compared which instructions have one, not with whom: the shadow remembers two
// readers, and of three it may be others.
//
// SPDX-License-Identifier: Apache-2.0
#include "sim_testing.h"

#include <gtest/gtest.h>
#include <random>
#include <set>

using namespace simtest;

namespace {

constexpr uint32_t kLanes = 32, kWarps = 3, kSharedBytes = 2048, kGlobalBytes = 4096;

/// An access by one warp, or a barrier of several.
struct Step {
  uint32_t warps = 0; // bit a warp
  uint32_t barrier = 0;
  CameoSimAccessSite access{};
  bool shared = false;
  int64_t places[kLanes]; // in the shared or the global memory
  uint8_t lanes[kLanes];
};

struct Program {
  std::vector<Step> steps;
  bool together = false;
  char *global = nullptr;
  std::vector<std::string> wentElsewhere; // addresses that were not allowed
};

class Generator {
public:
  explicit Generator(uint32_t seed) : random_(seed) {}

  Program make() {
    Program program;
    // From programs that race all the time to programs that hardly do.
    const uint32_t barriers = pick({2, 4, 8}), faults = pick({0, 0, 1, 5});
    const bool ownPlaces = chance(50), tidy = chance(30);
    if (tidy || chance(50))
      fillShared(program);
    for (uint32_t i = 0; i < 40; ++i) {
      Step step;
      if (below(barriers) == 0) {
        step = barrier(pick({7, 7, 3, 5, 6}));
      } else {
        step.warps = 1u << below(kWarps);
        tidy ? makeTidyAccess(step, 2 + i) : makeAccess(step, 2 + i, faults, ownPlaces);
      }
      program.steps.push_back(step);
      if (tidy)
        program.steps.push_back(barrier(7));
    }
    return program;
  }

private:
  std::mt19937 random_;

  uint32_t below(uint32_t n) { return uint32_t(random_() % n); }
  bool chance(uint32_t percent) { return below(100) < percent; }
  uint32_t pick(std::initializer_list<uint32_t> values) {
    return values.begin()[below(uint32_t(values.size()))];
  }

  Step barrier(uint32_t warps) {
    Step step;
    step.warps = step.barrier = warps;
    return step;
  }

  /// The first warp writes all of it.
  void fillShared(Program &program) {
    for (uint32_t at = 0; at < kSharedBytes; at += kLanes * 16) {
      Step step;
      step.warps = 1;
      step.shared = true;
      step.access = {16, 16, 3, CAMEO_SIM_WRITE, 1, 0, CAMEO_SIM_ALL_LANES, 0};
      for (uint32_t lane = 0; lane < kLanes; ++lane) {
        step.places[lane] = at + lane * 16;
        step.lanes[lane] = 1;
      }
      program.steps.push_back(step);
    }
    program.steps.push_back(barrier(7));
  }

  /// Of shared memory, by lanes side by side.
  void makeTidyAccess(Step &step, uint32_t site) {
    const uint32_t bytes = pick({4, 16}), first = below(kSharedBytes / 16) * 16;
    step.shared = true;
    step.access = {bytes,
                   bytes,
                   3,
                   uint32_t(chance(50) ? CAMEO_SIM_READ : CAMEO_SIM_WRITE),
                   site,
                   0,
                   CAMEO_SIM_ALL_LANES,
                   0};
    for (uint32_t lane = 0; lane < kLanes; ++lane) {
      step.places[lane] = (first + lane * bytes) % kSharedBytes;
      step.lanes[lane] = 1;
    }
  }

  void makeAccess(Step &step, uint32_t site, uint32_t faults, bool ownPlaces) {
    step.shared = chance(60);
    uint32_t bytes = pick({1, 2, 4, 4, 4, 8, 16, 16, 16, 16});
    if (chance(faults))
      bytes = pick({3, 12, 32});
    const uint32_t size = step.shared ? kSharedBytes : kGlobalBytes;
    auto kind = chance(60) ? CAMEO_SIM_READ : chance(90) ? CAMEO_SIM_WRITE : CAMEO_SIM_ATOMIC;
    step.access = {bytes,
                   chance(80) ? bytes : pick({0, 1, 4}),
                   step.shared ? 3u : 1u,
                   uint32_t(kind),
                   site,
                   0,
                   CAMEO_SIM_ALL_LANES,
                   int32_t(below(4)) * 16 - 32};
    if (step.access.alignment & (step.access.alignment - 1))
      step.access.alignment = 4;
    // Where a warp begins: anywhere, or in a part of its own.
    uint32_t first = below(size / 16) * 16 + (chance(30) ? below(16) / bytes * bytes : 0);
    if (ownPlaces && kind != CAMEO_SIM_READ)
      first = size / 4 * uint32_t(__builtin_ctz(step.warps)) + first % (size / 8);
    const uint32_t stride = pick({bytes, bytes, bytes, 2 * bytes, 16, 48}),
                   group = pick({1, 2, 4, 16, 32}), swizzle = below(8), shape = below(6);
    for (uint32_t lane = 0; lane < kLanes; ++lane) {
      uint32_t at = lane * stride;
      if (kind == CAMEO_SIM_READ || chance(faults)) {
        if (shape == 0)
          at = lane / group * 16;
        else if (shape == 1)
          at = lane % group * bytes;
        else if (shape == 2)
          at = (lane ^ swizzle) * 16;
      }
      if (shape == 3)
        at = (kLanes - 1 - lane) * stride;
      else if (shape == 4)
        at = (lane * 7 + swizzle) % kLanes * bytes; // any order
      int64_t place = (first + at) % size - step.access.offset;
      if (chance(faults))
        place += int64_t(below(3)) - 1 + (chance(20) ? int64_t(size) : 0);
      step.places[lane] = place;
      step.lanes[lane] = 1;
    }
    if (chance(30)) {
      step.access.lanes_row = 0;
      uint32_t lanes = chance(30) ? 1u << below(kLanes) : random_();
      for (uint32_t lane = 0; lane < kLanes; ++lane) {
        step.lanes[lane] = lanes >> lane & 1;
        if (!step.lanes[lane])
          step.places[lane] = random_(); // nobody looks
      }
    }
  }
};

void programBody(Gpu gpu) {
  Program &program = *gpu.arg<Program *>(0);
  const auto *warp = reinterpret_cast<char *>(gpu.t);
  for (const Step &step : program.steps) {
    if (!(step.warps >> gpu.t->warp & 1))
      continue;
    if (step.barrier) {
      gpu.barrier(0, step.barrier, uint32_t(__builtin_popcount(step.warps)) * kLanes);
      continue;
    }
    char *addresses[kLanes], *allowed[kLanes];
    for (uint32_t lane = 0; lane < kLanes; ++lane)
      addresses[lane] = (step.shared ? gpu.t->shared : program.global) + step.places[lane];
    const CameoSimAccessSite &access = step.access;
    if (program.together) {
      if (!gpu.t->api->warp_access(gpu.t, &access, 1, addresses, step.lanes, allowed))
        for (uint32_t lane = 0; lane < kLanes; ++lane)
          allowed[lane] = addresses[lane] + access.offset;
    } else {
      for (uint32_t lane = 0; lane < kLanes; ++lane) {
        auto *thread = reinterpret_cast<CameoSimThread *>(const_cast<char *>(warp) +
                                                          lane * gpu.t->api->thread_stride);
        allowed[lane] = addresses[lane] + access.offset;
        if (step.lanes[lane])
          allowed[lane] = static_cast<char *>(
              gpu.t->api->access(thread, allowed[lane], access.bytes, access.alignment,
                                 access.space, access.kind, access.site));
      }
    }
    std::string elsewhere;
    for (uint32_t lane = 0; lane < kLanes; ++lane)
      elsewhere += allowed[lane] == addresses[lane] + access.offset ? '.' : 'x';
    program.wentElsewhere.push_back(elsewhere);
  }
}

/// All that a run tells, in words. Of races, the instructions that come second.
std::string outcome(Program program, bool together, uint32_t checks) {
  TestDevice device(Options{1, 0, checks, 1000, Form::Warp, false, {}});
  program.together = together;
  program.global = device.buffer<char>(kGlobalBytes, "global");
  device.engine.markInitialised(program.global, kGlobalBytes / 2);
  std::string text;
  // The second launch finds what the first has left in the shadows.
  for (int launch = 0; launch < 2; ++launch) {
    Program *argument = &program;
    LaunchResult result =
        device.runWarps(kernel<programBody>, {2, kWarps * kLanes, kSharedBytes}, argument);
    std::set<std::string> racing;
    text += result.ok() ? "good\n" : "faulty\n";
    for (const Report &report : result.reports)
      if (report.kind == FaultKind::SharedRace || report.kind == FaultKind::GlobalRace)
        racing.insert(std::string(faultName(report.kind)) + " " + report.what + "\n");
      else
        text += report.text + "\n";
    for (const std::string &race : racing)
      text += race;
  }
  for (const std::string &line : program.wentElsewhere)
    text += line + "\n";
  return text;
}

class SimWarpChecks : public testing::TestWithParam<uint32_t> {};

TEST_P(SimWarpChecks, AsLaneByLane) {
  uint32_t clean = 0, faulty = 0;
  for (uint32_t seed = 0; seed < 400; ++seed) {
    Program program = Generator(seed).make();
    std::string together = outcome(program, true, GetParam()),
                apart = outcome(program, false, GetParam());
    ASSERT_EQ(together, apart) << "seed " << seed;
    ++(together.find(" global memory") == std::string::npos &&
               together.find(" shared memory") == std::string::npos
           ? clean
           : faulty);
  }
  EXPECT_GT(faulty, 20u);
  EXPECT_GT(clean, 20u);
}

INSTANTIATE_TEST_SUITE_P(Checks, SimWarpChecks,
                         testing::Values(kCheckBounds, kCheckInit, kCheckRace, kCheckAll));

/// Warps write rows and read each other's, more often than there are tags; in one round, if
/// planted, a warp writes its neighbour's row (1), reads before the barrier (2) or reads what
/// nobody wrote (3).
void roundsBody(Gpu gpu) {
  const uint32_t rounds = gpu.arg<uint32_t>(0), planted = gpu.arg<uint32_t>(1),
                 when = gpu.arg<uint32_t>(2);
  const uint32_t warp = gpu.t->warp;
  auto access = [&](uint32_t row, CameoSimAccess kind, uint32_t site) {
    static const CameoSimAccessSite sites[] = {
        {4, 4, 3, CAMEO_SIM_READ, 1, 0, CAMEO_SIM_ALL_LANES, 0},
        {4, 4, 3, CAMEO_SIM_WRITE, 2, 0, CAMEO_SIM_ALL_LANES, 0},
        {4, 4, 3, CAMEO_SIM_READ, 3, 0, CAMEO_SIM_ALL_LANES, 0}};
    char *addresses[kLanes], *allowed[kLanes];
    for (uint32_t lane = 0; lane < kLanes; ++lane)
      addresses[lane] = gpu.t->shared + (row * kLanes + (lane * 5 + site) % kLanes) * 4;
    EXPECT_EQ(sites[site].kind, uint32_t(kind));
    gpu.t->api->warp_access(gpu.t, &sites[site], 1, addresses, nullptr, allowed);
  };
  for (uint32_t round = 0; round < rounds; ++round) {
    const uint32_t fault = round == when ? planted : 0, first = round % 2 * kWarps;
    access(first + (fault == 1 && warp == 1 ? 0 : warp), CAMEO_SIM_WRITE, 1);
    if (fault == 2 && warp == 2)
      access(first + 1, CAMEO_SIM_READ, 0);
    gpu.barrier(4);
    access(fault == 3 ? 2 * kWarps : first + (warp + 1) % kWarps, CAMEO_SIM_READ, 2);
  }
}

TEST(SimWarpAccess, FromBarrierToBarrier) {
  constexpr uint32_t kRounds = 600;
  for (uint32_t planted : {0u, 1u, 2u, 3u})
    for (uint32_t when : {2u, 100u, 249u, 250u, 251u, 252u, 253u, 254u, 255u, 256u, 504u, 599u}) {
      TestDevice device(kCheckAll, /*seed=*/0, 1);
      LaunchResult result = device.runWarps(kernel<roundsBody>, {1, kWarps * kLanes, kSharedBytes},
                                            kRounds, planted, when);
      if (!planted) {
        EXPECT_TRUE(result.ok()) << result.error;
        continue;
      }
      ASSERT_EQ(result.reports.size(), 1u) << "planted " << planted << " in round " << when;
      const Report &report = result.reports[0];
      EXPECT_EQ(report.kind, planted == 3 ? FaultKind::SharedUninitialised : FaultKind::SharedRace);
      EXPECT_EQ(report.count, planted == 3 ? kWarps * kLanes : kLanes) << report.text;
    }
}

/// Blocks on several workers read the same, and write parts of their own, or, planted, the first
/// block's part.
void sharingBody(Gpu gpu) {
  char *in = gpu.arg<char *>(0), *out = gpu.arg<char *>(1);
  const uint32_t planted = gpu.arg<uint32_t>(2);
  char *addresses[2 * kLanes], *allowed[2 * kLanes];
  for (uint32_t round = 0; round < 8; ++round) {
    for (uint32_t lane = 0; lane < kLanes; ++lane) {
      addresses[lane] = in + (round * kLanes + lane) * 16;
      uint32_t block = planted == 1 && gpu.block() == 37 ? 0 : gpu.block();
      addresses[kLanes + lane] = out + ((block * 8 + round) * kLanes + lane) * 4;
    }
    if (planted == 2 && gpu.block() == 37 && round == 7)
      addresses[kLanes] = in;
    const CameoSimAccessSite sites[] = {
        {16, 16, 1 | 1 << 8, CAMEO_SIM_READ, 1, 0, CAMEO_SIM_ALL_LANES, 0},
        {4, 4, 1, CAMEO_SIM_WRITE, 2, 1, CAMEO_SIM_ALL_LANES, 0}};
    gpu.t->api->warp_access(gpu.t, sites, 2, addresses, nullptr, allowed);
  }
}

TEST(SimWarpAccess, BlocksInParallel) {
  constexpr uint32_t kBlocks = 64, kIn = 8 * kLanes * 16;
  for (uint32_t planted : {0u, 1u, 2u}) {
    for (uint64_t seed = 0; seed < 10; ++seed) {
      TestDevice device(kCheckAll, seed, 4);
      char *in = device.upload(std::vector<char>(kIn + kBlocks * 8 * kLanes * 4), "memory");
      char *out = in + kIn;
      // From the first launch on, kernels write this memory, so reads of it are recorded.
      for (uint32_t plant : {0u, planted}) {
        LaunchResult result =
            device.runWarps(kernel<sharingBody>, {kBlocks, kLanes, 0, true}, in, out, plant);
        EXPECT_EQ(result.ok(), plant == 0) << "seed " << seed << " " << result.error;
        for (const Report &report : result.reports)
          EXPECT_EQ(report.kind, FaultKind::GlobalRace) << report.text;
      }
    }
  }
}

/// A kernel that says that it only reads through a parameter: reads there are not recorded, unless
/// another parameter's buffer has bytes in common.
TEST(SimWarpAccess, ReadOnlyParameters) {
  constexpr uint32_t kBlocks = 64, kIn = 8 * kLanes * 16, kOut = kBlocks * 8 * kLanes * 4;
  for (bool overlaps : {false, true}) {
    TestDevice device(kCheckAll, 0, 1);
    char *memory = device.upload(std::vector<char>(kIn + kOut), "memory");
    char *in = memory, *out = overlaps ? memory + 16 : memory + kIn;
    Shape shape{kBlocks, kLanes, 0, true};
    shape.readOnly = 1;
    shape.buffers = {{in, kIn, "in", 0}, {out, kOut - 16, "out", 1}};
    LaunchResult result = device.runWarps(kernel<sharingBody>, shape, in, out, 0u);
    bool raced = false;
    for (const Report &report : result.reports)
      raced |= report.kind == FaultKind::GlobalRace;
    EXPECT_EQ(raced, overlaps) << result.error;
  }
}

} // namespace
