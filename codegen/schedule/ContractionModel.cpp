// What kernels of products on lanes take of each resource.
//
// SPDX-License-Identifier: Apache-2.0
#include "codegen/schedule/ContractionModel.h"

#include "llvm/Support/MathExtras.h"

#include <cmath>

using namespace mlir;

namespace cameo {
namespace {

constexpr ContractionTile kTiles[] = {
    {128, 128, kContractionDepth, 8, 8}, {128, 64, kContractionDepth, 8, 8},
    {64, 128, kContractionDepth, 8, 8},  {64, 64, kContractionDepth, 8, 8},
    {32, 128, kContractionDepth, 8, 8},  {32, 64, kContractionDepth, 4, 8},
    {64, 64, kContractionDepth, 4, 4},   {32, 64, kContractionDepth, 4, 4},
    {64, 32, kContractionDepth, 4, 4},   {16, 64, kContractionDepth, 2, 4},
    {32, 32, kContractionDepth, 4, 4}};

// Those that have long rows beside these, in which results are computed from whole rows: a warp's
// lanes share a few of them, and have few sums each, so that there is room for more of an element.
constexpr ContractionTile kRowTiles[] = {{32, 128, kContractionDepth, 4, 4},
                                         {16, 128, kContractionDepth, 2, 4},
                                         {32, 256, kContractionDepth, 4, 8},
                                         {16, 256, kContractionDepth, 2, 8}};

/// Instructions for an access's place in memory and whether it is inside, beside the access.
constexpr double kPlaceOfCopy = 2;
/// Warps that keep all lanes busy: two for each quarter of them, of which one multiplies while the
/// other waits for what it has loaded.
constexpr double kBusyWarps = 8;
/// Registers of addresses, counters and what ptxas keeps.
constexpr int64_t kRegistersBeside = 40;

} // namespace

KernelWork contractionKernel(const ContractionTile &tile, const ContractionWork &work,
                             const Target &target) {
  unsigned bits = work.sumType.getIntOrFloatBitWidth();
  double bytes = bits / 8.0, depth = double(tile.depth);
  double rows = double(tile.rows), columns = double(tile.columns);
  double warps = double(tile.threads()) / 32;
  TimeModel model(target);
  KernelWork kernel;
  kernel.blocks = std::ceil(work.rows / rows) * std::ceil(work.columns / columns) * work.batch;
  kernel.threads = tile.threads();
  kernel.sharedBytes = tile.sharedBytes(work.sumType) + work.indices.of(tile.rows, tile.columns);
  kernel.steps = std::ceil(work.depth / depth);

  // A thread loads its elements of both tiles in groups of 16 bytes, for a warp four turns of shared
  // memory, also where lanes read the same: it is as many bytes as come to registers that count.
  BlockWork &step = kernel.step;
  double products = rows * columns * depth;
  double reads = products * (1.0 / double(tile.threadRows) + 1.0 / double(tile.threadColumns));
  double accesses = rows * depth / work.rowVector + columns * depth / work.columnVector;
  step.arithmetic = model.laneCycles(products, bits);
  step.sharedBytes = (reads + (rows + columns) * depth) * bytes;
  step.slots = (products + reads / 4 + accesses * (2 + kPlaceOfCopy)) / 32;
  // Copies that are turned are stored to the tile element by element.
  auto turned = [&](double elements, double vector) { return elements * (1 - 1 / vector) / 32; };
  step.conversions = (work.isRowTurned ? turned(rows * depth, work.rowVector) : 0) +
                     (work.isColumnTurned ? turned(columns * depth, work.columnVector) : 0);
  step.l2Bytes = depth * (rows * work.rowBytes + columns * work.columnBytes);
  step.idle = std::max(1.0, kBusyWarps / warps);

  auto each = double(tile.threadRows * tile.threadColumns);
  double held =
      (rows + columns) * depth / double(tile.threads()); // elements on their way to shared memory
  kernel.registers = llvm::alignTo(
      int64_t(bytes / 4 * (each + 2 * double(tile.threadRows + tile.threadColumns) + held)) +
          kRegistersBeside,
      8);
  if (work.ofRows.columns)
    kernel.registers = std::max<int64_t>(kernel.registers,
                                         int64_t(each * work.ofRows.registers) + kRegistersBeside);
  else
    kernel.registers = std::min<int64_t>(kernel.registers, target.maxRegistersPerThread);
  kernel.once.l2Bytes = rows * columns * work.resultBytes;
  work.ofRows.addTo(kernel, rows * columns);
  kernel.dramBytes = work.dramBytes;
  kernel.beside = work.beside;
  kernel.multiplyAdds = products * kernel.steps;
  kernel.loads = kernel.ahead = 1; // two stages
  return kernel;
}

SmallVector<TimedContraction, 0> contractionTiles(const ContractionWork &work,
                                                  const Target &target) {
  TimeModel model(target);
  SmallVector<TimedContraction, 0> tiles;
  auto isFaster = [](const TimedContraction &a, const TimedContraction &b) {
    return a.microseconds < b.microseconds;
  };
  SmallVector<ContractionTile> all(std::begin(kTiles), std::end(kTiles));
  if (work.ofRows.columns)
    all.append(std::begin(kRowTiles), std::end(kRowTiles));
  for (const ContractionTile &tile : all) {
    // The large ones are left out where elements have 64 bits.
    if (tile.sharedBytes(work.sumType) > int64_t(target.staticSharedPerBlock) ||
        tile.columns < work.ofRows.columns)
      continue;
    KernelWork kernel = contractionKernel(tile, work, target);
    if (model.blocksPerSm(kernel) == 0)
      continue;
    TimedContraction timed{tile, model.microseconds(kernel), kernel};
    tiles.insert(llvm::upper_bound(tiles, timed, isFaster), timed);
  }
  return tiles;
}

} // namespace cameo
