// SPDX-License-Identifier: Apache-2.0
#include "runtime/sim/observe/estimate.h"

#include "runtime/format.h"
#include "runtime/sim/instructions.h"

#include <algorithm>

namespace cameo::sim {
namespace {

/// Reciprocals, roots, exponentials of a multiprocessor and cycle (CUDA C++ Programming Guide,
/// "Arithmetic Instructions"): the same on all architectures of the table.
constexpr double kSpecialPerClock = 16;
constexpr uint64_t kSectorBytes = 32;

double matrixRate(uint64_t code, const CameoRates &rates) {
  bool mma = (code & 0xff) == CAMEO_SIM_OP_MMA;
  auto rate = [&](uint32_t of) { return mma ? cameoSyncRate(&rates, of) : of; };
  switch (code >> (mma ? 32 : 16) & 0xff) { // the type of a
  case CAMEO_SIM_F16:
  case CAMEO_SIM_BF16:
    return rate(rates.fp16_mma);
  case CAMEO_SIM_TF32:
    return rate(rates.tf32_mma);
  case CAMEO_SIM_F64:
    return rates.fp64;
  default:
    return rate(rates.int8_mma);
  }
}

template <typename Row> const Row &rowOf(const Row *table, const CameoBoard &board) {
  while (table->arch != board.arch)
    ++table;
  return *table;
}

} // namespace

const CameoBoard *findBoard(const std::string &name) {
  for (const CameoBoard &board : cameoBoards)
    if (cameoIsBoard(&board, name.c_str()))
      return &board;
  return nullptr;
}

std::string knownBoards() {
  std::string names;
  for (const CameoBoard &board : cameoBoards)
    names += (names.empty() ? "" : ", ") + std::string(board.name);
  return names;
}

bool runsOn(const CameoSimTarget &code, const CameoBoard &board) {
  uint32_t arch = code.arch & ~CAMEO_ARCH_A;
  return code.arch & CAMEO_ARCH_A ? arch == board.arch : arch <= board.arch;
}

const char *resourceName(Resource resource) {
  static const char *const names[] = {
      "memory", "shared memory", "FP32", "FP64", "special functions", "Tensor Cores", "launch"};
  static_assert(sizeof names / sizeof *names == uint32_t(Resource::Count));
  return names[uint32_t(resource)];
}

Estimate estimateLaunch(const KernelCounters &work, const CameoBoard &board, uint64_t bufferBytes) {
  const CameoRates &rates = rowOf(cameoRates, board);
  // The gap alone, since this is a bound.
  double launchSeconds = rowOf(cameoTimings, board).gap_us * 1e-6;
  Estimate estimate;
  auto time = [&](Resource resource) -> double & { return estimate.of[uint32_t(resource)]; };
  // With blocks that are alike, the multiprocessor with the most of them sets the time.
  double rounds = double((work.blocks + board.sm_count - 1) / board.sm_count);
  double busy = rounds > 0 ? double(work.blocks) / rounds : 1;
  auto perClock = [&](double amount, double rate, double clockMHz) {
    return rate > 0 ? amount / rate / (busy * clockMHz * 1e6) : 0;
  };

  uint64_t traffic = work.globalSectors() * kSectorBytes + work.bulkLoadBytes + work.bulkStoreBytes;
  if (bufferBytes)
    traffic = std::min(traffic, bufferBytes);
  time(Resource::Memory) = double(traffic) / (board.memory_gbps * 1e9);
  time(Resource::SharedMemory) = perClock(double(work.sharedWavefronts()), 1, board.clock_mhz);
  const uint64_t *operations = work.operations;
  time(Resource::Fp32) =
      perClock(double(operations[CAMEO_SIM_COUNT_F32_FMA] + operations[CAMEO_SIM_COUNT_F32] +
                      operations[CAMEO_SIM_COUNT_F16]),
               rates.fp32, board.clock_mhz);
  time(Resource::Fp64) =
      perClock(double(operations[CAMEO_SIM_COUNT_F64_FMA] + operations[CAMEO_SIM_COUNT_F64]),
               rates.fp64, board.clock_mhz);
  time(Resource::Special) = perClock(
      double(operations[CAMEO_SIM_COUNT_SPECIAL] + 32 * work.of(InstructionKind::Approximation)),
      kSpecialPerClock, board.clock_mhz);
  for (const auto &[code, count] : work.matrix)
    time(Resource::TensorCores) += perClock(double(count * matrixMultiplyAdds(code)),
                                            matrixRate(code, rates), board.matrix_clock_mhz);
  time(Resource::Launch) = launchSeconds;

  double most = 0;
  for (uint32_t i = 0; i < uint32_t(Resource::Count); ++i)
    if (estimate.of[i] > most) {
      most = estimate.of[i];
      estimate.limit = Resource(i);
    }
  estimate.seconds = estimate.limit == Resource::Launch ? most : most + launchSeconds;
  return estimate;
}

} // namespace cameo::sim
