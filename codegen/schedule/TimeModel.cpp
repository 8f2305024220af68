// The estimate of kernels: rounds of blocks, and of each the resource that takes longest.
//
// SPDX-License-Identifier: Apache-2.0
#include "codegen/schedule/TimeModel.h"

#include <cmath>
#include <limits>

namespace cameo {
namespace {

/// Shared memory: bytes a clock cycle (CUDA C++ Programming Guide: 32 banks of 4 bytes).
constexpr double kSharedRate = 128;
/// L2 cache: bytes a clock cycle and multiprocessor. GA100's whitepaper has 5120 B for 108.
constexpr double kL2Rate = 47;
/// Warp schedulers of a multiprocessor, each of which issues an instruction a cycle (CUDA C++
/// Programming Guide, of each compute capability of the table).
constexpr double kSchedulers = 4;
/// What resources that are not the one that takes longest add, of the time that they take: they are
/// not used evenly, and of two kernels that one resource limits alike the one that uses less of the
/// others is better.
constexpr double kContention = 0.1;

} // namespace

double TimeModel::matrixCycles(double multiplyAdds, unsigned bits) const {
  const CameoRates &rates = target.rates();
  return multiplyAdds / (bits == 8 ? rates.int8_mma : bits == 16 ? rates.fp16_mma : rates.tf32_mma);
}

double TimeModel::laneCycles(double multiplyAdds, unsigned bits) const {
  return multiplyAdds / (bits == 64 ? target.rates().fp64 : target.rates().fp32);
}

int64_t TimeModel::blocksPerSm(const KernelWork &work) const {
  if (work.sharedBytes > int64_t(target.maxSharedPerBlock) ||
      work.registers > int64_t(target.maxRegistersPerThread) ||
      work.threads > int64_t(target.maxThreadsPerBlock))
    return 0;
  // The driver takes 1 KiB of each block's (CUDA C++ Programming Guide, compute capability 8.x).
  int64_t shared = work.sharedBytes + (target.asyncCopy ? 1024 : 0);
  int64_t byShared =
      shared ? int64_t(target.sharedPerSm) / shared : std::numeric_limits<int64_t>::max();
  int64_t byRegisters = int64_t(target.registersPerSm) / (work.registers * work.threads);
  int64_t byThreads = int64_t(target.maxThreadsPerSm) / work.threads;
  return std::min({byShared, byRegisters, byThreads, int64_t(target.maxBlocksPerSm)});
}

double TimeModel::cycles(const BlockWork &work, double together) const {
  double issue = work.slots / kSchedulers, shared = work.sharedBytes / kSharedRate;
  double l2 = work.l2Bytes / kL2Rate;
  double most = std::max({work.matrix, work.arithmetic, issue, shared, l2});
  double all = work.matrix + work.arithmetic + issue + shared + l2;
  return std::max(together * (most + kContention * (all - most)), work.alone);
}

double TimeModel::microseconds(const KernelWork &work) const {
  auto occupancy = double(blocksPerSm(work));
  if (occupancy == 0)
    return std::numeric_limits<double>::infinity();
  const CameoBoard &board = *target.board;
  auto round = [&](double together) {
    return work.trips * kGlobalLatency + work.steps * cycles(work.step, together) +
           cycles(work.once, together);
  };
  double mine = std::ceil(work.blocks / board.sm_count);
  double rounds = std::floor(mine / occupancy), rest = mine - rounds * occupancy;
  double all = rounds * round(occupancy) + (rest > 0 ? round(rest) : 0);
  double kernel = all / (work.onMatrix ? board.matrix_clock_mhz : board.clock_mhz);
  double bytesEach = double(board.memory_gbps) * 1000; // in a microsecond
  return std::max(kernel, work.dramBytes / bytesEach) + double(target.launchBytes()) / bytesEach +
         work.beside;
}

} // namespace cameo
