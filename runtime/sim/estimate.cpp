// SPDX-License-Identifier: Apache-2.0
#include "runtime/sim/estimate.h"

#include "runtime/sim/instructions.h"

#include <algorithm>

namespace cameo::sim {
namespace {

/// Between the kernels of a graph (NVIDIA's technical blog, "Getting Started with CUDA Graphs").
constexpr double kLaunchSeconds = 0.5e-6;
/// Reciprocals, roots, exponentials of a multiprocessor and cycle (CUDA C++ Programming Guide,
/// "Arithmetic Instructions"): the same on all architectures of the table.
constexpr double kSpecialPerClock = 16;
constexpr uint64_t kSectorBytes = 32;

double matrixRate(uint64_t code, const CameoSimTarget &target) {
  bool mma = (code & 0xff) == CAMEO_SIM_OP_MMA;
  switch (code >> (mma ? 32 : 16) & 0xff) { // the type of a
  case CAMEO_SIM_F16:
  case CAMEO_SIM_BF16:
    return target.fp16_mma_fma;
  case CAMEO_SIM_TF32:
    return target.tf32_mma_fma;
  case CAMEO_SIM_F64:
    return target.fp64_fma;
  default:
    return target.int8_mma_fma;
  }
}

} // namespace

const char *resourceName(Resource resource) {
  static const char *const names[] = {
      "memory", "shared memory", "FP32", "FP64", "special functions", "Tensor Cores", "launch"};
  static_assert(sizeof names / sizeof *names == uint32_t(Resource::Count));
  return names[uint32_t(resource)];
}

Estimate estimateLaunch(const KernelCounters &work, const CameoSimTarget &target,
                        uint64_t bufferBytes) {
  Estimate estimate;
  auto time = [&](Resource resource) -> double & { return estimate.of[uint32_t(resource)]; };
  // With blocks that are alike, the multiprocessor with the most of them sets the time.
  double rounds = double((work.blocks + target.sm_count - 1) / target.sm_count);
  double busy = rounds > 0 ? double(work.blocks) / rounds : 1;
  double clocks = busy * target.clock_mhz * 1e6; // of all multiprocessors at work, a second
  auto perClock = [&](double amount, double rate) { return rate > 0 ? amount / rate / clocks : 0; };

  uint64_t traffic = work.globalSectors() * kSectorBytes + work.bulkLoadBytes + work.bulkStoreBytes;
  if (bufferBytes)
    traffic = std::min(traffic, bufferBytes);
  time(Resource::Memory) = double(traffic) / (target.memory_gbps * 1e9);
  time(Resource::SharedMemory) = perClock(double(work.sharedWavefronts()), 1);
  const uint64_t *operations = work.operations;
  time(Resource::Fp32) =
      perClock(double(operations[CAMEO_SIM_COUNT_F32_FMA] + operations[CAMEO_SIM_COUNT_F32] +
                      operations[CAMEO_SIM_COUNT_F16]),
               target.fp32_fma);
  time(Resource::Fp64) =
      perClock(double(operations[CAMEO_SIM_COUNT_F64_FMA] + operations[CAMEO_SIM_COUNT_F64]),
               target.fp64_fma);
  time(Resource::Special) = perClock(
      double(operations[CAMEO_SIM_COUNT_SPECIAL] + 32 * work.of(InstructionKind::Approximation)),
      kSpecialPerClock);
  for (const auto &[code, count] : work.matrix)
    time(Resource::TensorCores) +=
        perClock(double(count * matrixMultiplyAdds(code)), matrixRate(code, target));
  time(Resource::Launch) = kLaunchSeconds;

  double most = 0;
  for (uint32_t i = 0; i < uint32_t(Resource::Count); ++i)
    if (estimate.of[i] > most) {
      most = estimate.of[i];
      estimate.limit = Resource(i);
    }
  estimate.seconds = estimate.limit == Resource::Launch ? most : most + kLaunchSeconds;
  return estimate;
}

} // namespace cameo::sim
