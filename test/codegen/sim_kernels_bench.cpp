// What matrix products cost on the simulator, on one core: by kind of kernel, and by form;
// with all checks, too.
//
// SPDX-License-Identifier: Apache-2.0
#include "test/codegen/MatrixKernels.h"
#include "test/codegen/SimHarness.h"

#include <benchmark/benchmark.h>

using namespace cameo;
using namespace cameo::test;

namespace {

constexpr uint32_t kSize = 512;

/// The first three parameters, as the runtime tells the simulator of them.
template <typename T>
std::vector<sim::BufferRange> buffers(const std::vector<T> &a, const std::vector<T> &b,
                                      const std::vector<float> &y) {
  return {{a.data(), a.size() * sizeof(T), "a", 0},
          {b.data(), b.size() * sizeof(T), "b", 1},
          {y.data(), y.size() * sizeof(float), "y", 2}};
}

void report(benchmark::State &state, const sim::LaunchResult &result) {
  if (!result.ok())
    state.SkipWithError(result.error.c_str());
  state.counters["GFLOP/s"] = benchmark::Counter(2e-9 * kSize * kSize * kSize,
                                                 benchmark::Counter::kIsIterationInvariantRate);
}

void simt(benchmark::State &state, sim::Form form, bool checked) {
  TileShape shape{128, 128, 8, 8, 8, 4, 4};
  SimKernels kernels(simtKernel(shape), checked, "sm_80", form);
  if (!kernels.error.empty())
    return state.SkipWithError(kernels.error.c_str());
  std::vector<float> a(kSize * kSize, 0.5f), b(kSize * kSize, 0.25f), y(kSize * kSize);
  const float *pa = kernels.share(a, "a"), *pb = kernels.share(b, "b");
  float *py = kernels.share(y, "y");
  uint32_t blocks = kSize / shape.tn;
  sim::LaunchResult result;
  for (auto _ : state)
    result = kernels.launch("gemm", blocks * blocks, shape.threads(),
                            {&pa, &pb, &py, &kSize, &kSize, &kSize, &blocks}, 0, buffers(a, b, y));
  report(state, result);
}

void matrix(benchmark::State &state, const std::string &text, const MatrixTile &tile,
            const char *target, sim::Form form, bool checked) {
  SimKernels kernels(text, checked, target, form);
  if (!kernels.error.empty())
    return state.SkipWithError(kernels.error.c_str());
  std::vector<uint16_t> a(kSize * kSize, 0x3800), b(kSize * kSize, 0x3400); // 0.5, 0.25
  std::vector<float> y(kSize * kSize);
  const uint16_t *pa = kernels.share(a, "a"), *pb = kernels.share(b, "b");
  float *py = kernels.share(y, "y");
  sim::LaunchResult result;
  for (auto _ : state)
    result = kernels.launch("gemm", kSize / tile.m * (kSize / tile.n), tile.threads,
                            {&pa, &pb, &py, &kSize, &kSize}, 0, buffers(a, b, y));
  report(state, result);
}

BENCHMARK_CAPTURE(simt, warp, sim::Form::Warp, false);
BENCHMARK_CAPTURE(simt, warp / checked, sim::Form::Warp, true);
BENCHMARK_CAPTURE(simt, thread, sim::Form::Thread, false);
BENCHMARK_CAPTURE(matrix, mma / warp, mmaKernel(), kMmaTile, "sm_80", sim::Form::Warp, false);
BENCHMARK_CAPTURE(matrix, mma / warp / checked, mmaKernel(), kMmaTile, "sm_80", sim::Form::Warp,
                  true);
BENCHMARK_CAPTURE(matrix, mma / thread, mmaKernel(), kMmaTile, "sm_80", sim::Form::Thread, false);
BENCHMARK_CAPTURE(matrix, wgmma / warp, wgmmaKernel(), kWgmmaTile, "sm_90a", sim::Form::Warp,
                  false);
BENCHMARK_CAPTURE(matrix, wgmma / warp / checked, wgmmaKernel(), kWgmmaTile, "sm_90a",
                  sim::Form::Warp, true);
BENCHMARK_CAPTURE(matrix, wgmma / thread, wgmmaKernel(), kWgmmaTile, "sm_90a", sim::Form::Thread,
                  false);

} // namespace
