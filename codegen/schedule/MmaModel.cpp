// The estimate of kernels of mma.sync: of each step of depth the resource that takes longest, in
// rounds of as many blocks as fit.
//
// SPDX-License-Identifier: Apache-2.0
#include "codegen/schedule/MmaModel.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/MathExtras.h"

#include <cmath>

using namespace cameo;

namespace {

/// Shared memory: bytes a clock cycle (CUDA C++ Programming Guide: 32 banks of 4 bytes).
constexpr double kSharedRate = 128;
/// L2 cache: bytes a clock cycle and multiprocessor. GA100's whitepaper has 5120 B for 108.
constexpr double kL2Rate = 47;
/// Cycles from a load of global memory to its value, with others under way; from a product to one
/// that adds to it; of a barrier and what surrounds it.
constexpr double kGlobalLatency = 800, kMatrixLatency = 33, kBarrier = 40;
/// What resources that are not the one that takes longest add, of the time that they take: they are
/// not used evenly, and of two tiles that one resource limits alike the one that uses less of the
/// others is better.
constexpr double kContention = 0.1;
/// Instructions of a step beside matrix instructions and copies between memories, a warp.
constexpr double kOtherSlots = 32;
/// Registers of addresses, counters and what ptxas keeps.
constexpr int64_t kOtherRegisters = 40;

/// Depth in bytes, which is what layouts go by: elements are derived from it.
struct Shape {
  int64_t rows, columns, depthBytes, warpRows, warpColumns, stages;
};

// What open kernels have for this instruction, and smaller ones for products that do not fill a
// GPU. Fewer stages are tried where these do not fit.
constexpr Shape kShapes[] = {
    {256, 128, 64, 4, 2, 3},  {128, 256, 64, 2, 4, 3}, {128, 128, 64, 2, 2, 4},
    {128, 128, 128, 2, 2, 3}, {256, 64, 64, 4, 1, 4},  {64, 256, 64, 1, 4, 4},
    {128, 64, 64, 2, 2, 4},   {64, 128, 64, 2, 2, 4},  {128, 64, 128, 2, 2, 4},
    {64, 128, 128, 2, 2, 4},  {64, 64, 128, 2, 2, 4},  {64, 64, 64, 2, 2, 5},
    {64, 32, 128, 2, 2, 4},   {32, 64, 128, 2, 2, 4},  {32, 32, 128, 2, 2, 4},
    {128, 32, 64, 4, 1, 4},   {32, 128, 64, 1, 4, 4},  {16, 128, 128, 1, 4, 4},
    {16, 64, 128, 1, 4, 4},   {64, 16, 128, 4, 1, 4},  {128, 16, 128, 4, 1, 4}};

double perWarp(double amount, const MmaTile &tile) {
  return amount / double(tile.warpRows * tile.warpColumns);
}

/// Cycles of a step of depth with `blocks` blocks on a multiprocessor.
double stepCycles(const MmaTile &tile, const MmaWork &work, const Target &target, double blocks) {
  double bytes = double(work.bytes), depth = double(tile.depth);
  double rows = double(tile.rows), columns = double(tile.columns);
  double rate = matrixRate(target, unsigned(8 * work.bytes));
  double matrix = rows * columns * depth / rate;
  double copied = (rows + columns) * depth * bytes;
  double read = (rows * double(tile.warpColumns) + columns * double(tile.warpRows)) * depth * bytes;
  double shared = (read + copied) / kSharedRate;
  // A warp's instructions: matrix instructions, ldmatrix of 512 bytes, copies of 16 bytes a thread,
  // which through registers are two.
  double warps = double(tile.threads()) / 32;
  double products = rows * columns * depth * bytes / double(work.perInstruction);
  double slots = products + read / 512 + copied / 512 * (work.async ? 1 : 2) + warps * kOtherSlots;
  double issue = slots / 4;
  // What one warp cannot overlap with itself: products that wait for a fragment, the barrier.
  double deep = depth * bytes / kDepthBytes;
  double alone = deep * std::max(kMatrixLatency, perWarp(matrix, tile) * 4 / deep) + kBarrier;
  double ahead = work.async ? double(tile.stages - 1) : 1;
  double l2 = copied / kL2Rate, most = std::max({matrix, shared, issue, l2});
  double cycles = blocks * (most + kContention * (matrix + shared + issue + l2 - most));
  return std::max({cycles, alone, (kGlobalLatency + alone) / (ahead + 1)});
}

double blocksOf(const MmaTile &tile, const MmaWork &work) {
  return std::ceil(work.rows / double(tile.rows)) * std::ceil(work.columns / double(tile.columns)) *
         work.batch;
}

/// Whether a multiprocessor has room for neither two blocks nor eight warps, although there is work
/// for more: nothing runs while the warps of the one block wait.
bool isSparse(const MmaTile &tile, const MmaWork &work, const Target &target) {
  int64_t together = blocksPerSm(tile, work, target);
  return together < 2 && together * tile.threads() < 8 * 32 &&
         blocksOf(tile, work) >= 2.0 * target.board->sm_count;
}

} // namespace

int64_t MmaTile::stagedRows(int64_t bytes) const {
  constexpr int64_t kLeast = 16;
  int64_t whole = rows / warpRows, room = operandBytes(bytes) / (warpRows * columns * 4);
  int64_t pieces = 1;
  while (whole / pieces > std::max(room, kLeast) || whole % (pieces * kLeast) != 0)
    ++pieces;
  return whole / pieces;
}

int64_t cameo::registersPerThread(const MmaTile &tile, const MmaWork &work) {
  int64_t warpTileRows = tile.rows / tile.warpRows;
  int64_t warpTileColumns = tile.columns / tile.warpColumns;
  int64_t sums = warpTileRows * warpTileColumns / 32;
  int64_t fragments =
      (warpTileRows + warpTileColumns) * tile.fragmentBytes(work.instructionBytes) / 4 / 32;
  double copied =
      (double(tile.rows) * work.rowRegisters + double(tile.columns) * work.columnRegisters) *
      double(tile.depth) / double(tile.threads());
  return llvm::alignTo(sums + 2 * fragments + int64_t(copied) + kOtherRegisters, 8);
}

double cameo::matrixRate(const Target &target, unsigned bits) {
  const CameoRates *rates = llvm::find_if(
      cameoRates, [&](const CameoRates &row) { return row.arch == target.board->arch; });
  return bits == 8 ? rates->int8_mma : bits == 16 ? rates->fp16_mma : rates->tf32_mma;
}

int64_t cameo::blocksPerSm(const MmaTile &tile, const MmaWork &work, const Target &target) {
  int64_t shared = tile.sharedBytes(work.bytes), registers = registersPerThread(tile, work);
  if (shared > int64_t(target.maxSharedPerBlock) ||
      registers > int64_t(target.maxRegistersPerThread) ||
      tile.threads() > int64_t(target.maxThreadsPerBlock))
    return 0;
  // The driver takes 1 KiB of each block's (CUDA C++ Programming Guide, compute capability 8.x).
  int64_t byShared = int64_t(target.sharedPerSm) / (shared + (target.asyncCopy ? 1024 : 0));
  int64_t byRegisters = int64_t(target.registersPerSm) / (registers * tile.threads());
  int64_t byThreads = int64_t(target.maxThreadsPerSm) / tile.threads();
  return std::min({byShared, byRegisters, byThreads, int64_t(target.maxBlocksPerSm)});
}

double cameo::mmaCycles(const MmaTile &tile, const MmaWork &work, const Target &target) {
  auto occupancy = double(blocksPerSm(tile, work, target));
  double steps = work.runs * std::ceil(work.depth / double(tile.depth));
  double mine = std::ceil(blocksOf(tile, work) / target.board->sm_count);
  double dram = double(target.board->memory_gbps) * 1e3 / target.board->matrix_clock_mhz;
  double stored = double(tile.rows * tile.columns);
  // Sums go through shared memory once, results to memory.
  double perBlock =
      stored * 8 / kSharedRate + stored * work.resultBytes / (dram / target.board->sm_count);
  auto round = [&](double together) {
    return 2 * kGlobalLatency + steps * stepCycles(tile, work, target, together) +
           together * perBlock;
  };
  double rounds = std::floor(mine / occupancy), rest = mine - rounds * occupancy;
  double cycles = rounds * round(occupancy) + (rest > 0 ? round(rest) : 0);
  double moved =
      work.batch * ((work.rows + work.columns) * work.runs * work.depth * double(work.bytes) +
                    work.rows * work.columns * work.resultBytes);
  return std::max(cycles, moved / dram);
}

std::optional<MmaTile> cameo::chooseMmaTile(const MmaWork &work, const Target &target) {
  std::optional<MmaTile> best;
  std::pair<bool, double> least; // sparse ones last
  for (const Shape &shape : kShapes) {
    MmaTile tile{shape.rows,     shape.columns,     shape.depthBytes / work.bytes,
                 shape.warpRows, shape.warpColumns, work.async ? shape.stages : 2,
                 work.rowGap,    work.columnGap};
    while (tile.stages > 2 && blocksPerSm(tile, work, target) == 0)
      --tile.stages;
    if (blocksPerSm(tile, work, target) == 0)
      continue;
    std::pair cost(isSparse(tile, work, target), mmaCycles(tile, work, target));
    if (!best || cost < least)
      best = tile, least = cost;
  }
  return best;
}
