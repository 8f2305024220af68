// What kernels of mma.sync take of each resource.
//
// SPDX-License-Identifier: Apache-2.0
#include "codegen/schedule/MmaModel.h"

#include "codegen/schedule/Schedule.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/MathExtras.h"

#include <cmath>

using namespace cameo;
using llvm::SmallVector;

namespace {

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

// Those that have long rows beside these, in which results are computed from whole rows.
constexpr Shape kRowShapes[] = {
    {64, 256, 64, 2, 4, 3}, {32, 256, 64, 1, 4, 4}, {16, 256, 64, 1, 4, 4}};
static_assert(kRowShapes[0].columns == kLongestProductRow);

/// Beside kShapes all that warps make whose own tiles are of a usual size.
SmallVector<Shape> allShapes() {
  SmallVector<Shape> shapes(std::begin(kShapes), std::end(kShapes));
  constexpr std::pair<int64_t, int64_t> kWarps[] = {{1, 4}, {2, 2}, {4, 1}, {2, 3},
                                                    {3, 2}, {2, 4}, {4, 2}};
  for (int64_t depthBytes : {64, 128})
    for (auto [warpRows, warpColumns] : kWarps)
      for (int64_t rows : {32, 48, 64})
        for (int64_t columns : {32, 48, 64}) {
          Shape shape{rows * warpRows, columns * warpColumns, depthBytes, warpRows, warpColumns, 4};
          bool isKnown = llvm::any_of(kShapes, [&](const Shape &known) {
            return known.rows == shape.rows && known.columns == shape.columns &&
                   known.depthBytes == shape.depthBytes && known.warpRows == shape.warpRows;
          });
          if (!isKnown)
            shapes.push_back(shape);
        }
  return shapes;
}

/// Adds what a step's tile of an operand takes that the architecture's timing counts.
void addCopy(BlockWork &step, const MmaTile &tile, const MmaWork &work, const MmaWork::Copy &copy,
             int64_t lines, int64_t readers) {
  double bytes = double(work.bytes), elements = double(lines * tile.depth);
  double loads = elements / (32 * copy.vector), writes = elements / (32 * copy.group);
  auto turns = [&](double vector) { return std::max(1.0, 32 * vector * bytes / 128); };
  if (!work.async)
    step.turns += loads * turns(copy.vector) + writes * turns(copy.group) - elements * bytes / 128;
  if (copy.isPadded)
    step.checks += loads;
  // Lines that are no power of two put each of a thread's elements elsewhere in its line, and so do
  // threads.
  if (((copy.isAcross || copy.isGathered) && !llvm::isPowerOf2_64(lines)) ||
      !llvm::isPowerOf2_64(tile.threads()))
    step.places += writes;
  // Warps' fragments: f32 is rounded; bytes are put beside their neighbours, four at a time. The former
  // is two instructions, and both are of integers, which take two slots each: multiprocessors have half
  // as many lanes for them (CUDA C++ Programming Guide, "Arithmetic Instructions").
  double fragments = double(lines * readers * tile.depth) / 32;
  if (work.bytes == 4 && work.async && !copy.isRounded)
    step.conversions += 2 * fragments;
  // f32 that ldmatrix cannot turn is loaded one by one instead of four at a time.
  if (work.bytes == 4 && copy.isAcross)
    step.slots += fragments - fragments / 4;
  if (work.bytes == 1 && copy.isAcross)
    step.conversions += 2 * fragments / 4;
}

/// What a block does in a step of depth.
BlockWork stepOf(const MmaTile &tile, const MmaWork &work, const Target &target) {
  double bytes = double(work.bytes), depth = double(tile.depth);
  double rows = double(tile.rows), columns = double(tile.columns);
  BlockWork step;
  step.matrix = TimeModel(target).matrixCycles(rows * columns * depth, unsigned(8 * work.bytes));
  double copied = (rows + columns) * depth * bytes;
  double read = (rows * double(tile.warpColumns) + columns * double(tile.warpRows)) * depth * bytes;
  step.sharedBytes = read + copied;
  step.l2Bytes = copied;
  // A warp's instructions: matrix instructions, ldmatrix of 512 bytes, copies, which through
  // registers are two.
  auto copies = [&](double elements, const MmaWork::Copy &copy) {
    double loads = elements * depth / (32 * copy.vector);
    double writes = work.async ? 0 : elements * depth / (32 * copy.group);
    // Where a step has all taps, which is which does not change.
    double place = copy.place + (work.depth > depth ? copy.taps : 0);
    return loads * (1 + place) + writes;
  };
  double warps = double(tile.threads()) / 32;
  double products = rows * columns * depth * bytes / double(work.perInstruction);
  step.slots = products + read / 512 + copies(rows, work.row) + copies(columns, work.column) +
               warps * kOtherSlots;
  addCopy(step, tile, work, work.row, tile.rows, tile.warpColumns);
  addCopy(step, tile, work, work.column, tile.columns, tile.warpRows);
  // What one warp cannot overlap with itself: products that wait for a fragment, the barrier; and,
  // for as many steps as are not ahead, copies.
  step.products = depth * bytes / kDepthBytes;
  step.barriers = step.loads = 1;
  step.ahead = work.async ? double(tile.stages - 1) : 1;
  return step;
}

double blocksOf(const MmaTile &tile, const MmaWork &work) {
  return std::ceil(work.rows / double(tile.rows)) * std::ceil(work.columns / double(tile.columns)) *
         work.batch;
}

/// Whether a multiprocessor has room for neither two blocks nor eight warps, although there is work
/// for more: nothing runs while the warps of the one block wait.
bool isSparse(const KernelWork &kernel, const Target &target) {
  int64_t together = TimeModel(target).blocksPerSm(kernel);
  return together < 2 && together * kernel.threads < 8 * 32 &&
         kernel.blocks >= 2.0 * target.board->sm_count;
}

} // namespace

int64_t MmaTile::stagedRows(int64_t bytes) const {
  int64_t whole = rows / warpRows, room = operandBytes(bytes) / (warpRows * columns * 4);
  int64_t pieces = 1;
  while (whole / pieces > std::max(room, kLeastStagedRows) ||
         whole % (pieces * kLeastStagedRows) != 0)
    ++pieces;
  return whole / pieces;
}

int64_t cameo::registersPerThread(const MmaTile &tile, const MmaWork &work) {
  int64_t warpTileRows = tile.rows / tile.warpRows;
  int64_t warpTileColumns = tile.columns / tile.warpColumns;
  int64_t sums = warpTileRows * warpTileColumns / 32;
  int64_t fragments =
      (warpTileRows + warpTileColumns) * tile.fragmentBytes(work.instructionBytes) / 4 / 32;
  double copied = work.async ? 0
                             : (double(tile.rows) * work.row.registers +
                                double(tile.columns) * work.column.registers) *
                                   double(tile.depth) / double(tile.threads());
  int64_t beside = 2 * fragments + int64_t(copied);
  // Behind the products, elements of what is staged at once: what is kept, and what was loaded.
  int64_t staged = MmaTile::kLeastStagedRows * tile.warpRows * tile.columns / tile.threads();
  if (work.ofRows.columns)
    beside = std::max(beside, int64_t(work.ofRows.registers * double(staged)));
  return llvm::alignTo(sums + beside + kOtherRegisters, 8);
}

KernelWork cameo::mmaKernel(const MmaTile &tile, const MmaWork &work, const Target &target) {
  KernelWork kernel;
  kernel.blocks = blocksOf(tile, work);
  kernel.threads = tile.threads();
  kernel.registers = registersPerThread(tile, work);
  kernel.sharedBytes = tile.sharedBytes(work.bytes) + work.indices.of(tile.rows, tile.columns);
  kernel.steps = work.runs * std::ceil(work.depth / double(tile.depth));
  kernel.step = stepOf(tile, work, target);
  // Sums go through shared memory once, results to memory.
  double stored = double(tile.rows * tile.columns);
  kernel.once.sharedBytes = stored * 8;
  kernel.once.l2Bytes = stored * work.resultBytes;
  kernel.once.results = stored * work.results / 32;
  if (!llvm::isPowerOf2_64(tile.columns / tile.warpColumns))
    kernel.once.places = stored / 32;
  work.ofRows.addTo(kernel, stored);
  kernel.dramBytes = work.dramBytes;
  kernel.beside = work.beside;
  kernel.onMatrix = true;
  kernel.multiplyAdds =
      double(tile.rows) * double(tile.columns) * double(tile.depth) * kernel.steps;
  kernel.loads = kernel.step.loads;
  kernel.ahead = kernel.step.ahead;
  return kernel;
}

const size_t cameo::kMmaShapes = std::size(kShapes);

SmallVector<TimedTile, 0> cameo::mmaTiles(const MmaWork &work, const Target &target, bool all) {
  TimeModel model(target);
  SmallVector<TimedTile, 0> tiles;
  auto isBetter = [&](const TimedTile &a, const TimedTile &b) {
    return std::pair(isSparse(a.work, target), a.microseconds) <
           std::pair(isSparse(b.work, target), b.microseconds);
  };
  // Whole rows are shared by a power of two of columns.
  SmallVector<Shape> shapes = all && !work.ofRows.columns
                                  ? allShapes()
                                  : SmallVector<Shape>(std::begin(kShapes), std::end(kShapes));
  if (work.ofRows.columns)
    shapes.append(std::begin(kRowShapes), std::end(kRowShapes));
  for (const Shape &shape : shapes) {
    if (shape.columns < work.ofRows.columns)
      continue;
    MmaTile tile{shape.rows,     shape.columns,     shape.depthBytes / work.bytes,
                 shape.warpRows, shape.warpColumns, work.async ? shape.stages : 2,
                 work.rowGap,    work.columnGap};
    while (tile.stages > 2 && model.blocksPerSm(mmaKernel(tile, work, target)) == 0)
      --tile.stages;
    KernelWork kernel = mmaKernel(tile, work, target);
    if (model.blocksPerSm(kernel) == 0)
      continue;
    TimedTile timed{tile, model.microseconds(kernel), kernel};
    tiles.insert(llvm::upper_bound(tiles, timed, isBetter), timed);
  }
  return tiles;
}
