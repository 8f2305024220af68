// What the simulator costs: a fiber switch, the two ways to run threads, an FP32 matrix product
// with and without checks, the checks of a warp's accesses.
//
// SPDX-License-Identifier: Apache-2.0
#include "sim_testing.h"

#include <benchmark/benchmark.h>

using namespace simtest;

namespace {

// ---- Switches ----

template <int Kind> void switchBody(Gpu gpu) {
  for (uint32_t i = gpu.arg<uint32_t>(0); i; --i) {
    if (Kind == 0)
      gpu.warpSync(1);
    else if (Kind == 1)
      gpu.barrier(2);
    else
      gpu.shuffle(CAMEO_SIM_SHFL_BFLY, i, 1, 31, 3);
  }
}

template <int Kind> void BM_Switch(benchmark::State &state) {
  TestDevice device(0, uint64_t(state.range(1)), 1);
  uint32_t steps = 1000, threads = uint32_t(state.range(0));
  for (auto _ : state)
    device.run(kernel<switchBody<Kind>>, {1, threads}, steps);
  state.counters["ns/thread"] = benchmark::Counter(double(steps) * threads * 1e-9,
                                                   benchmark::Counter::kIsIterationInvariantRate |
                                                       benchmark::Counter::kInvert);
}
BENCHMARK(BM_Switch<0>)->Name("warp_sync")->Args({32, 0})->Args({256, 0})->Args({256, 1});
BENCHMARK(BM_Switch<1>)->Name("barrier")->Args({32, 0})->Args({256, 0})->Args({1024, 0});
BENCHMARK(BM_Switch<2>)->Name("shuffle")->Args({256, 0})->Args({256, 1});

// ---- Launches ----

void emptyBody(Gpu) {}

void BM_Launch(benchmark::State &state) {
  TestDevice device(0, 0, unsigned(state.range(0)));
  for (auto _ : state)
    device.run(kernel<emptyBody>, {uint32_t(state.range(1)), 256, 0, state.range(2) != 0});
}
BENCHMARK(BM_Launch)
    ->ArgNames({"workers", "blocks", "noSync"})
    ->Args({1, 1, 1})
    ->Args({1, 1000, 1})
    ->Args({1, 1000, 0})
    ->Args({2, 2, 1})
    ->Args({2, 1000, 0})
    ->UseRealTime();

// ---- Elementwise ----

template <bool Checked> void reluBody(Gpu gpu) {
  const float *x = gpu.arg<const float *>(0);
  float *y = gpu.arg<float *>(1);
  uint32_t i = gpu.block() * 256 + gpu.tid();
  float value = Checked ? gpu.load(x + i, 1) : x[i];
  value = value > 0 ? value : 0;
  if (Checked)
    gpu.store(y + i, value, 2);
  else
    y[i] = value;
}

template <bool Checked> void BM_Relu(benchmark::State &state) {
  TestDevice device(Checked ? uint32_t(state.range(0)) : 0, 0, 1);
  uint32_t n = 1 << 20;
  float *x = device.upload(std::vector<float>(n), "x"), *y = device.buffer<float>(n, "y");
  for (auto _ : state)
    device.run(kernel<reluBody<Checked>>, {n / 256, 256, 0, true}, x, y);
  state.SetItemsProcessed(int64_t(state.iterations()) * n);
}
BENCHMARK(BM_Relu<false>)->Name("relu")->Arg(0);
BENCHMARK(BM_Relu<true>)
    ->Name("relu_checked")
    ->ArgName("checks")
    ->Arg(0)
    ->Arg(kCheckBounds)
    ->Arg(kCheckInit)
    ->Arg(kCheckRace)
    ->Arg(kCheckAll);

// ---- FP32 matrix product: 128x128 tiles, 256 threads, 8x8 results each, K in steps of 8 ----

constexpr uint32_t kTile = 128, kStep = 8;

template <bool Checked> void gemmBody(Gpu gpu) {
  const float *a = gpu.arg<const float *>(0), *b = gpu.arg<const float *>(1);
  float *c = gpu.arg<float *>(2);
  uint32_t n = gpu.arg<uint32_t>(3); // A is stored by columns
  float *tileA = gpu.shared<float>(), *tileB = tileA + kStep * kTile;
  uint32_t tid = gpu.tid(), tx = tid % 16 * 4, ty = tid / 16 * 4;
  uint32_t rowBase = gpu.t->ctaid[0] / (n / kTile) * kTile,
           columnBase = gpu.t->ctaid[0] % (n / kTile) * kTile;
  typedef float Vec __attribute__((vector_size(16)));
  auto get = [&](const float *p, uint32_t site) {
    return *static_cast<const Vec *>(Checked ? gpu.access(p, 16, CAMEO_SIM_READ, site, 16)
                                             : const_cast<float *>(p));
  };
  auto put = [&](float *p, Vec v, uint32_t site) {
    *static_cast<Vec *>(Checked ? gpu.access(p, 16, CAMEO_SIM_WRITE, site, 16) : p) = v;
  };
  Vec sum[8][2] = {};
  uint32_t row = tid / 32, column = tid % 32 * 4;
  for (uint32_t k = 0; k < n; k += kStep) {
    put(tileA + row * kTile + column, get(a + size_t(k + row) * n + rowBase + column, 1), 2);
    put(tileB + row * kTile + column, get(b + size_t(k + row) * n + columnBase + column, 3), 4);
    gpu.barrier(5);
#pragma clang loop unroll(disable)
    for (uint32_t s = 0; s < kStep; ++s) {
      const float *pa = tileA + s * kTile + ty, *pb = tileB + s * kTile + tx;
      Vec a0 = get(pa, 6), a1 = get(pa + 64, 7), b0 = get(pb, 8), b1 = get(pb + 64, 9);
#pragma clang loop unroll(full)
      for (uint32_t i = 0; i < 8; ++i) {
        float x = i < 4 ? a0[i & 3] : a1[i & 3];
        Vec all = {x, x, x, x};
        sum[i][0] = __builtin_elementwise_fma(all, b0, sum[i][0]);
        sum[i][1] = __builtin_elementwise_fma(all, b1, sum[i][1]);
      }
    }
    gpu.barrier(10);
  }
  for (uint32_t i = 0; i < 8; ++i)
    for (uint32_t half = 0; half < 2; ++half)
      put(c + size_t(rowBase + ty + i % 4 + i / 4 * 64) * n + columnBase + tx + half * 64,
          sum[i][half], 11);
}

template <bool Checked> void BM_Gemm(benchmark::State &state) {
  TestDevice device(Checked ? uint32_t(state.range(1)) : 0, 0, unsigned(state.range(0)));
  uint32_t n = 512;
  float *a = device.upload(std::vector<float>(n * n, 1.f), "a");
  float *b = device.upload(std::vector<float>(n * n, 2.f), "b");
  float *c = device.buffer<float>(n * n, "c");
  Shape shape{n / kTile * n / kTile, 256, 2 * kStep * kTile * 4};
  for (auto _ : state)
    if (!device.run(kernel<gemmBody<Checked>>, shape, a, b, c, n).ok())
      state.SkipWithError("the kernel is at fault");
  if (c[n * n - 1] != 2.f * float(n))
    state.SkipWithError("wrong result");
  state.counters["FLOP/s"] =
      benchmark::Counter(2. * n * n * n, benchmark::Counter::kIsIterationInvariantRate);
}
BENCHMARK(BM_Gemm<false>)
    ->Name("gemm")
    ->ArgNames({"workers", "checks"})
    ->Args({1, 0})
    ->Args({2, 0})
    ->UseRealTime();
BENCHMARK(BM_Gemm<true>)
    ->Name("gemm_checked")
    ->ArgNames({"workers", "checks"})
    ->Args({1, 0})
    ->Args({1, kCheckBounds})
    ->Args({1, kCheckInit})
    ->Args({1, kCheckRace})
    ->Args({1, kCheckAll})
    ->Args({2, kCheckAll})
    ->UseRealTime();

// ---- Accesses of a warp, as instrumented kernels have them checked ----

enum class Pattern { Row4, Row16, Few16, Column4 };

/// Where lane `lane` accesses memory in step `step` of a warp.
uint32_t placeOf(Pattern pattern, uint32_t step, uint32_t lane) {
  switch (pattern) {
  case Pattern::Row4: // side by side, 4 bytes each
    return step * 128 + lane * 4;
  case Pattern::Row16:
    return step % 32 * 512 + lane * 16;
  case Pattern::Few16: // as in a product of matrices by threads: four lanes read the same
    return step * 128 + lane / 4 * 16;
  default: // 4 bytes from each of 32 rows
    return lane * 516 + step * 4;
  }
}

constexpr uint32_t kWarps = 4, kSteps = 64, kBytes = 32 * 516;

/// Every warp accesses the same memory, of the block's own or global; by writes, a part of its own.
void warpAccessBody(Gpu gpu) {
  char *memory = gpu.arg<char *>(0);
  const auto pattern = gpu.arg<Pattern>(1);
  const auto rounds = gpu.arg<uint32_t>(2);
  const auto kind = gpu.arg<CameoSimAccess>(3);
  const uint32_t bytes = pattern == Pattern::Row4 || pattern == Pattern::Column4 ? 4 : 16;
  const bool isWrite = kind == CAMEO_SIM_WRITE;
  char *from = memory ? memory : gpu.t->shared;
  from += isWrite ? gpu.t->warp * kBytes : 0;
  CameoSimAccessSite site{bytes, bytes, memory ? 1u : 3u,    uint32_t(kind),
                          2,     0,     CAMEO_SIM_ALL_LANES, 0};
  if (!memory && gpu.t->warp == 0) { // written before it is read
    CameoSimAccessSite init{16, 16, 3, CAMEO_SIM_WRITE, 1, 0, CAMEO_SIM_ALL_LANES, 0};
    for (uint32_t at = 0; at < kWarps * kBytes; at += 512) {
      char *addresses[32], *allowed[32];
      for (uint32_t lane = 0; lane < 32; ++lane)
        addresses[lane] = gpu.t->shared + at + lane * 16;
      gpu.t->api->warp_access(gpu.t, &init, 1, addresses, nullptr, allowed);
    }
  }
  for (uint32_t round = 0; round < rounds; ++round) {
    gpu.barrier(3);
    for (uint32_t step = 0; step < kSteps; ++step) {
      char *addresses[32], *allowed[32];
      for (uint32_t lane = 0; lane < 32; ++lane)
        addresses[lane] = from + placeOf(pattern, step, lane);
      gpu.t->api->warp_access(gpu.t, &site, 1, addresses, nullptr, allowed);
    }
  }
}

void BM_WarpAccess(benchmark::State &state) {
  TestDevice device(uint32_t(state.range(3)), 0, 1);
  auto pattern = Pattern(state.range(0));
  auto kind = CameoSimAccess(state.range(1));
  char *memory = nullptr;
  if (state.range(2)) {
    memory = device.buffer<char>(kWarps * kBytes, "x");
    device.engine.markInitialised(memory, kWarps * kBytes);
    // Written by a kernel before, so that reads are recorded.
    device.runWarps(kernel<warpAccessBody>, {1, 32 * kWarps}, memory, Pattern::Row16, 1u,
                    CAMEO_SIM_WRITE);
  }
  const uint32_t rounds = 20;
  for (auto _ : state)
    if (!device
             .runWarps(kernel<warpAccessBody>, {1, 32 * kWarps, kWarps * kBytes}, memory, pattern,
                       rounds, kind)
             .ok())
      state.SkipWithError("the kernel is at fault");
  state.counters["ns/access"] = benchmark::Counter(double(rounds) * kSteps * kWarps * 1e-9,
                                                   benchmark::Counter::kIsIterationInvariantRate |
                                                       benchmark::Counter::kInvert);
}
BENCHMARK(BM_WarpAccess)
    ->Name("warp_access")
    ->ArgNames({"pattern", "kind", "global", "checks"})
    ->Apply([](benchmark::internal::Benchmark *all) {
      for (int64_t global : {0, 1})
        for (auto kind : {CAMEO_SIM_READ, CAMEO_SIM_WRITE})
          for (auto pattern : {Pattern::Row4, Pattern::Row16, Pattern::Few16, Pattern::Column4})
            for (int64_t checks :
                 {0u, 0u + kCheckBounds, 0u + kCheckInit, 0u + kCheckRace, 0u + kCheckAll})
              if (kind == CAMEO_SIM_READ || pattern != Pattern::Few16) // which would be a race
                all->Args({int64_t(pattern), kind, global, checks});
    });

} // namespace
