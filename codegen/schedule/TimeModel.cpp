// The estimate of kernels: rounds of blocks, and of each the resource that takes longest.
//
// SPDX-License-Identifier: Apache-2.0
#include "codegen/schedule/TimeModel.h"

#include <array>
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

/// What blocks wait for that need so many cycles for this work of each.
rt::Limit limitOf(const BlockWork &work, double cycles) {
  std::pair<double, rt::Limit> each[] = {
      {work.matrix, rt::Limit::TensorCores},
      {work.arithmetic, rt::Limit::Arithmetic},
      {work.slots / kSchedulers, rt::Limit::Issue},
      {work.sharedBytes / kSharedRate, rt::Limit::SharedMemory},
      {work.l2Bytes / kL2Rate, rt::Limit::L2Cache},
  };
  return cycles <= work.alone ? rt::Limit::Latency
                              : std::max_element(std::begin(each), std::end(each))->second;
}

} // namespace

void RowWork::addTo(KernelWork &kernel, double elements) const {
  if (columns == 0)
    return;
  kernel.once.slots += elements * operations / 32;
  kernel.trips += 1;
}

double TimeModel::matrixCycles(double multiplyAdds, unsigned bits) const {
  const CameoRates &rates = target.rates();
  uint32_t rate = bits == 8 ? rates.int8_mma : bits == 16 ? rates.fp16_mma : rates.tf32_mma;
  return multiplyAdds / cameoSyncRate(&rates, rate);
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

TimeEstimate TimeModel::estimate(const KernelWork &work) const {
  auto occupancy = double(blocksPerSm(work));
  if (occupancy == 0)
    return {std::numeric_limits<double>::infinity(), rt::Limit::Launch};
  const CameoBoard &board = *target.board;
  std::array<double, rt::getMaxEnumValForLimit() + 1> spent{}; // cycles, by what they go to
  auto spend = [&](const BlockWork &part, double times, double together, double rounds) {
    double each = cycles(part, together);
    spent[size_t(limitOf(part, each))] += rounds * times * each;
    return times * each;
  };
  auto round = [&](double together, double rounds) {
    double waits = work.trips * kGlobalLatency;
    spent[size_t(rt::Limit::Latency)] += rounds * waits;
    return waits + spend(work.step, work.steps, together, rounds) +
           spend(work.once, 1, together, rounds);
  };
  double mine = std::ceil(work.blocks / board.sm_count);
  double rounds = std::floor(mine / occupancy), rest = mine - rounds * occupancy;
  double all =
      (rounds > 0 ? rounds * round(occupancy, rounds) : 0) + (rest > 0 ? round(rest, 1) : 0);
  double kernel = all / (work.onMatrix ? board.matrix_clock_mhz : board.clock_mhz);
  double bytesEach = double(board.memory_gbps) * 1000; // in a microsecond
  double memory = work.dramBytes / bytesEach, launch = double(target.launchBytes()) / bytesEach;
  auto limit = rt::Limit(std::max_element(spent.begin(), spent.end()) - spent.begin());
  if (memory >= kernel)
    limit = rt::Limit::Memory;
  if (launch > std::max(kernel, memory))
    limit = rt::Limit::Launch;
  return {std::max(kernel, memory) + launch, limit};
}

double TimeModel::microseconds(const KernelWork &work) const {
  return estimate(work).microseconds + work.beside;
}

} // namespace cameo
