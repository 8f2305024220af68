// The contraction schedule: matrix products and convolutions as tiled products through shared
// memory.
//
// Each block computes a tile of rows by columns; operand tiles are gathered by index arithmetic,
// which is what makes a convolution an implicit matrix product.
//
// SPDX-License-Identifier: Apache-2.0
#include "codegen/schedule/ContractionKernel.h"
#include "codegen/schedule/ProductSchedule.h"
#include "codegen/schedule/Schedule.h"
#include "codegen/schedule/TileCopies.h"

#include "mlir/Dialect/Arith/IR/Arith.h"

using namespace mlir;

namespace cameo {
namespace {

/// Elements that a thread copies at once at most.
constexpr int64_t kCopied = 8;
/// What it is as slow as in bytes of memory traffic: a byte that is copied another time, from a
/// cache; an access of a copy, with the arithmetic for its place; an element that goes to another
/// line of shared memory than its neighbours.
constexpr double kAgain = 0.25, kAccess = 2, kTurned = 0.3;

constexpr ContractionTile kTiles[] = {
    {128, 128, 16, 8, 8}, {128, 64, 16, 8, 8}, {64, 128, 16, 8, 8}, {64, 64, 16, 8, 8},
    {32, 128, 16, 8, 8},  {32, 64, 16, 4, 8},  {64, 64, 16, 4, 4},  {32, 64, 16, 4, 4},
    {64, 32, 16, 4, 4},   {16, 64, 16, 2, 4},  {32, 32, 16, 4, 4}};

class ContractionMatch : public ScheduleMatch {
public:
  ContractionMatch(kernel::DispatchOp op, const Target &target, Product product)
      : ScheduleMatch(op, target), product(std::move(product)) {}

  SmallVector<unsigned> packing(unsigned input) const override {
    return productPacking(op, product, input, kTiles[0].depth);
  }

  llvm::BitVector readApart() const override { return inputsOfOperands(op, product); }

  /// What all sums take, and copies, where that is no access to memory, on top of memory traffic.
  double layoutCost(const AccessPattern &pattern, OperandOrders orders) const override {
    bool swapped = goesAlongRows(pattern, orders);
    Tiling tiling =
        swapped ? bestTile(product.columns, product.rows) : bestTile(product.rows, product.columns);
    int64_t rows = tiling.tile->rows, columns = tiling.tile->columns;
    if (swapped)
      std::swap(rows, columns);
    double bytes = pattern.bytesMoved(orders, readApart(), /*mayGoAlongReduced=*/false) +
                   target.bytesInTime(tiling.cost * likelyExtent(product, product.depth, 512));
    for (const TileCopy &copy : tileCopies(op, product, orders, rows, columns, 16)) {
      RankedTensorType type = pattern.types[copy.input];
      double once = tensorBytes(type), elementBytes = type.getElementTypeBitWidth() / 8.0;
      double again = std::max(copy.elements * elementBytes - once, 0.0) * kAgain;
      bytes += (once + again) * sectorFactor(copy.distance, type) +
               copy.elements * (kAccess / copy.vector() + (copy.isTurned() ? kTurned : 0));
    }
    return bytes;
  }

  DictionaryAttr choose() const override {
    const ContractionTile *best = bestTile(product.rows, product.columns).tile;
    Builder b(op.getContext());
    auto vector = [&](bool isRow) {
      ArrayRef<unsigned> across = isRow ? product.rows : product.columns;
      return SmallVector<int64_t>{copyVector(op, product, isRow, across, kCopied),
                                  copyVector(op, product, isRow, product.depth, kCopied)};
    };
    int64_t store = 1; // the widest of all results
    for (size_t number = 0; number < product.epilogues.size(); ++number)
      store = std::max(store, storeVector(product, number, kGroup));
    return b.getDictionaryAttr(
        {b.getNamedAttr("column_vector", b.getDenseI64ArrayAttr(vector(/*isRow=*/false))),
         b.getNamedAttr("row_vector", b.getDenseI64ArrayAttr(vector(/*isRow=*/true))),
         b.getNamedAttr("store_vector", b.getI64IntegerAttr(store)),
         b.getNamedAttr("thread", b.getDenseI64ArrayAttr({best->threadRows, best->threadColumns})),
         b.getNamedAttr("tile", b.getDenseI64ArrayAttr({best->rows, best->columns, best->depth}))});
  }

  LogicalResult verify(DictionaryAttr params) const override {
    auto tile = params.getAs<DenseI64ArrayAttr>("tile");
    auto thread = params.getAs<DenseI64ArrayAttr>("thread");
    auto row = params.getAs<DenseI64ArrayAttr>("row_vector");
    auto column = params.getAs<DenseI64ArrayAttr>("column_vector");
    auto store = intParam(params, "store_vector");
    if (!tile || !thread || !row || !column || !store || tile.size() != 3 || thread.size() != 2 ||
        row.size() != 2 || column.size() != 2)
      return op.emitError("schedule 'contraction' needs tile = [rows, columns, depth], thread = "
                          "[rows, columns], row_vector and column_vector = [across, depth], and "
                          "store_vector");
    if (tile[0] < 1 || tile[1] < 1 || tile[2] < 1 || thread[0] < 1 || thread[1] < 1 ||
        tile[0] % thread[0] != 0 || tile[1] % thread[1] != 0 || thread[1] % 4 != 0)
      return op.emitError() << "schedule 'contraction': a tile of " << tile[0] << "x" << tile[1]
                            << " does not consist of thread tiles of " << thread[0] << "x"
                            << thread[1] << " in groups of 4 columns";
    ContractionTile given{tile[0], tile[1], tile[2], thread[0], thread[1]};
    if (given.threads() > target.maxThreadsPerBlock)
      return op.emitError() << "schedule 'contraction' asks for " << given.threads() << " threads; "
                            << target.name << " allows " << target.maxThreadsPerBlock;
    int64_t bytes = given.sharedBytes(product.sumType);
    if (bytes > int64_t(target.maxSharedPerBlock))
      return op.emitError() << "schedule 'contraction' requires " << bytes
                            << " B of shared memory; " << target.name << " allows "
                            << target.maxSharedPerBlock << " B";
    DictionaryAttr known = choose();
    for (StringRef name : {"row_vector", "column_vector"}) {
      auto asked = params.getAs<DenseI64ArrayAttr>(name);
      auto most = known.getAs<DenseI64ArrayAttr>(name);
      for (int i = 0; i < 2; ++i)
        if (asked[i] < 1 || most[i] % asked[i] != 0)
          return op.emitError() << "schedule 'contraction': " << name << " " << asked[i]
                                << " is not possible; at most " << most[i];
    }
    if (*store < 1 || *intParam(known, "store_vector") % *store != 0)
      return op.emitError() << "schedule 'contraction': store_vector " << *store
                            << " is not possible; at most " << *intParam(known, "store_vector");
    return success();
  }

  FailureOr<SmallVector<Value>> emit(DictionaryAttr params, KernelEmitter &emitter) const override {
    auto shape = params.getAs<DenseI64ArrayAttr>("tile");
    auto thread = params.getAs<DenseI64ArrayAttr>("thread");
    ContractionTile tile{shape[0], shape[1], shape[2], thread[0], thread[1]};
    auto copy = [&](StringRef name) {
      auto vector = params.getAs<DenseI64ArrayAttr>(name);
      return ContractionVectors::Copy{vector[0], vector[1]};
    };
    ContractionVectors vectors{copy("row_vector"), copy("column_vector"),
                               *intParam(params, "store_vector")};
    OpBuilder host(op);
    Location loc = op.getLoc();
    Value blocks = productBlocks(host, emitter, op, product, tile.rows, tile.columns);
    Value one = host.create<arith::ConstantIndexOp>(loc, 1);
    auto outputs = llvm::to_vector(llvm::seq<int64_t>(0, op.getNumResults()));
    return emitter.launch(op, "", tile.threads(), {blocks, one, one}, outputs, [&](Kernel &kernel) {
      emitContraction(kernel, product, tile, vectors);
      return success();
    });
  }

private:
  struct Tiling {
    const ContractionTile *tile;
    double cost; // multiply-adds of the busiest multiprocessor in the time of a step of depth
  };

  Tiling bestTile(ArrayRef<unsigned> rowLoops, ArrayRef<unsigned> columnLoops) const {
    double rows = likelyExtent(product, rowLoops, 512);
    double columns = likelyExtent(product, columnLoops, 512);
    double batch = likelyExtent(product, product.batch, 8);
    Tiling best{nullptr, 0};
    for (const ContractionTile &tile : kTiles) {
      if (tile.sharedBytes(product.sumType) > int64_t(target.staticSharedPerBlock))
        continue; // the large ones, where elements have 64 bits
      // Time in units of multiply-adds: the blocks of the busiest multiprocessor, each tile's
      // operands read once from shared memory a step; fewer than eight warps leave it waiting.
      double blocks = std::ceil(rows / tile.rows) * std::ceil(columns / tile.columns) * batch;
      double blocksPerSm = std::ceil(blocks / target.board->sm_count);
      double warps = blocksPerSm * tile.threads() / 32;
      double work = double(tile.rows) * tile.columns;
      double reads = work * (1.0 / tile.threadRows + 1.0 / tile.threadColumns);
      double cost = blocksPerSm * (work + reads) * std::max(1.0, 8 / warps);
      if (!best.tile || cost < best.cost)
        best = {&tile, cost};
    }
    return best;
  }

  /// Whether the first result, stored so, would have what are rows now innermost, which are columns
  /// then.
  bool goesAlongRows(const AccessPattern &pattern, OperandOrders orders) const {
    std::optional<unsigned> innermost = pattern.innermost(orders);
    for (auto [dim, expr] : llvm::enumerate(product.outMap.getResults()))
      if (innermost && sameDimension(product.epilogues.front(), dim) == innermost)
        return llvm::is_contained(product.rows, cast<AffineDimExpr>(expr).getPosition());
    return false;
  }

  Product product;
};

class ContractionSchedule : public Schedule {
public:
  StringRef family() const override { return "contraction"; }

  std::unique_ptr<ScheduleMatch> match(const Computation &computation,
                                       const Target &target) const override {
    std::optional<Product> product = matchProduct(computation);
    if (!product || !product->fillsTiles())
      return nullptr;
    return std::make_unique<ContractionMatch>(computation.op, target, std::move(*product));
  }
};

} // namespace

const Schedule *contractionSchedule() {
  static const ContractionSchedule schedule;
  return &schedule;
}

} // namespace cameo
