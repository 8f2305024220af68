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
/// Warp schedulers of a multiprocessor, each of which issues an instruction a cycle (CUDA C++
/// Programming Guide, of each compute capability of the table).
constexpr double kSchedulers = 4;
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

double TimeModel::slots(const BlockWork &work) const {
  return work.slots + timing.conversion * work.conversions + timing.place * work.places +
         timing.check * work.checks + timing.result * work.results;
}

double TimeModel::sharedCycles(const BlockWork &work) const {
  return work.sharedBytes / kSharedRate + timing.turn * work.turns;
}

double TimeModel::resourceCycles(const BlockWork &work, double together) const {
  double issue = slots(work) / kSchedulers, shared = sharedCycles(work);
  double l2 = work.l2Bytes / timing.l2_rate;
  double most = std::max({work.matrix, work.arithmetic, issue, shared, l2});
  double all = work.matrix + work.arithmetic + issue + shared + l2;
  return together * (most + timing.contention * (all - most));
}

double TimeModel::waitCycles(double loads, double ahead) const {
  return timing.global_latency * loads / (ahead + 1);
}

double TimeModel::aloneCycles(const BlockWork &work, int64_t threads) const {
  double own = work.chain;
  if (work.products > 0) {
    // A warp multiplies on a quarter of a multiprocessor's Tensor Cores.
    double warps = double(threads) / 32, each = work.matrix / warps * kSchedulers / work.products;
    own += work.products * std::max(timing.matrix_latency, each);
  }
  own += work.barriers * timing.barrier;
  double waiting = (timing.global_latency * work.loads + own) / (work.ahead + 1);
  double unshared = work.idle > 0 ? resourceCycles(work, 1) * work.idle : 0;
  return std::max({own, waiting, unshared});
}

double TimeModel::cycles(const BlockWork &work, int64_t threads, double together) const {
  return std::max(resourceCycles(work, together), aloneCycles(work, threads));
}

rt::Limit TimeModel::limitOf(const BlockWork &work, int64_t threads, double cycles) const {
  std::pair<double, rt::Limit> each[] = {
      {work.matrix, rt::Limit::TensorCores},
      {work.arithmetic, rt::Limit::Arithmetic},
      {slots(work) / kSchedulers, rt::Limit::Issue},
      {sharedCycles(work), rt::Limit::SharedMemory},
      {work.l2Bytes / timing.l2_rate, rt::Limit::L2Cache},
  };
  return cycles <= aloneCycles(work, threads)
             ? rt::Limit::Latency
             : std::max_element(std::begin(each), std::end(each))->second;
}

TimeEstimate TimeModel::estimate(const KernelWork &work) const {
  auto occupancy = double(blocksPerSm(work));
  if (occupancy == 0)
    return {std::numeric_limits<double>::infinity(), rt::Limit::Launch};
  const CameoBoard &board = *target.board;
  std::array<double, rt::getMaxEnumValForLimit() + 1> spent{}; // cycles, by what they go to
  auto spend = [&](const BlockWork &part, double times, double together, double rounds) {
    double each = cycles(part, work.threads, together);
    spent[size_t(limitOf(part, work.threads, each))] += rounds * times * each;
    return times * each;
  };
  auto round = [&](double together, double rounds) {
    double waits = work.trips * timing.global_latency;
    spent[size_t(rt::Limit::Latency)] += rounds * waits;
    return waits + spend(work.step, work.steps, together, rounds) +
           spend(work.once, 1, together, rounds);
  };
  double mine = std::ceil(work.blocks / board.sm_count);
  double rounds = std::floor(mine / occupancy), rest = mine - rounds * occupancy;
  double all =
      (rounds > 0 ? rounds * round(occupancy, rounds) : 0) + (rest > 0 ? round(rest, 1) : 0);
  double kernel = all / (work.onMatrix ? board.matrix_clock_mhz : board.clock_mhz);
  double memory = work.dramBytes / target.memoryRate(), launch = timing.launch_us;
  auto limit = rt::Limit(std::max_element(spent.begin(), spent.end()) - spent.begin());
  if (memory >= kernel)
    limit = rt::Limit::Memory;
  if (launch > std::max(kernel, memory))
    limit = rt::Limit::Launch;
  return {std::max(kernel, memory) + launch, limit};
}

double TimeModel::microseconds(const KernelWork &work) const {
  double all = work.launches * estimate(work).microseconds;
  for (const KernelWork &other : work.beside)
    all += microseconds(other);
  return all;
}

} // namespace cameo
