// The contraction schedule: matrix products and convolutions as tiled products through shared
// memory.
//
// Each block computes a tile of rows by columns; operand tiles are gathered by index arithmetic,
// which is what makes a convolution an implicit matrix product.
//
// SPDX-License-Identifier: Apache-2.0
#include "codegen/schedule/ContractionKernel.h"
#include "codegen/schedule/ContractionModel.h"
#include "codegen/schedule/ProductLayout.h"
#include "codegen/schedule/ProductSchedule.h"
#include "codegen/schedule/Schedule.h"
#include "codegen/schedule/SplitDepth.h"
#include "codegen/schedule/TileReach.h"

#include "mlir/Dialect/Arith/IR/Arith.h"

#include <limits>

using namespace mlir;

namespace cameo {
namespace {

/// Elements that a thread copies at once at most.
constexpr int64_t kCopied = 8;
/// Elements that are copied at once where the choice of splits does not look at layouts.
constexpr double kPlainCopy = 4;

class ContractionMatch : public ScheduleMatch {
public:
  ContractionMatch(kernel::DispatchOp op, const Target &target, Product product)
      : ScheduleMatch(op, target), product(std::move(product)) {}

  SmallVector<unsigned> packing(unsigned input) const override {
    return productPacking(op, product, input, kContractionDepth);
  }

  void setPacking(Packing orders) override {
    ScheduleMatch::setPacking(std::move(orders));
    orderDepthAsPacked(product, packed);
    splits.reset();
  }

  llvm::BitVector readApart() const override { return inputsOfOperands(op, product); }

  double layoutBytes(const AccessPattern &pattern, OperandOrders orders) const override {
    return productLayoutBytes(op, product, pattern, orders);
  }

  SmallVector<Candidate, 0> candidates(size_t most) const override {
    SmallVector<Candidate, 0> found;
    ContractionWork whole = work();
    int64_t parts = chosenSplits();
    if (whole.ofRows.columns && parts > 1) // sums are the same wherever the product stands
      return found;
    for (const TimedContraction &timed : contractionTiles(partOf(whole, parts), target))
      if (found.size() < most && canSplit(product, stepsOf(timed.tile), parts))
        found.push_back({attributes(timed.tile, parts), timed.microseconds,
                         workspaceBytes(product, parts), timed.work});
    return found;
  }

  KernelWork workOf(DictionaryAttr params) const override {
    ContractionWork whole = work();
    auto widest = [&](StringRef name) {
      ArrayRef<int64_t> vector = params.getAs<DenseI64ArrayAttr>(name).asArrayRef();
      return double(std::max(vector[0], vector[1]));
    };
    whole.rowVector = widest("row_vector");
    whole.columnVector = widest("column_vector");
    auto isTurned = [&](StringRef name) {
      ArrayRef<int64_t> vector = params.getAs<DenseI64ArrayAttr>(name).asArrayRef();
      return vector[0] < vector[1];
    };
    whole.isRowTurned = isTurned("row_vector");
    whole.isColumnTurned = isTurned("column_vector");
    return contractionKernel(tileOf(params), partOf(whole, splitsOf(params)), target);
  }

  double microsecondsApart() const override {
    if (product.steps.empty())
      return ScheduleMatch::microsecondsApart();
    int64_t parts = chosenSplits();
    ContractionWork alone = work();
    alone.ofRows = {};
    for (const TimedContraction &timed : contractionTiles(apart(alone, parts), target))
      if (canSplit(product, stepsOf(timed.tile), parts))
        return timed.microseconds;
    return ScheduleMatch::microsecondsApart();
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
    int64_t bytes =
        given.sharedBytes(product.sumType) + indexBytes(product).of(given.rows, given.columns);
    if (bytes > int64_t(target.maxSharedPerBlock))
      return op.emitError() << "schedule 'contraction' requires " << bytes
                            << " B of shared memory; " << target.name << " allows "
                            << target.maxSharedPerBlock << " B";
    if (!product.steps.empty() && failed(verifyRows(given, splitsOf(params))))
      return failure();
    for (bool isRow : {true, false}) {
      StringRef name = isRow ? "row_vector" : "column_vector";
      auto asked = params.getAs<DenseI64ArrayAttr>(name);
      SmallVector<int64_t> most = widestCopy(isRow);
      for (int i = 0; i < 2; ++i)
        if (asked[i] < 1 || most[i] % asked[i] != 0)
          return op.emitError() << "schedule 'contraction': " << name << " " << asked[i]
                                << " is not possible; at most " << most[i];
    }
    if (*store < 1 || widestStore() % *store != 0)
      return op.emitError() << "schedule 'contraction': store_vector " << *store
                            << " is not possible; at most " << widestStore();
    if (int64_t splits = splitsOf(params); !canSplit(product, stepsOf(given), splits))
      return op.emitError() << "schedule 'contraction': the depth is not split into " << splits
                            << " parts; 1 to " << kMostSplits
                            << " of a step or more each are possible";
    return success();
  }

  FailureOr<SmallVector<Value>> emit(DictionaryAttr params, KernelEmitter &emitter) const override {
    ContractionTile tile = tileOf(params);
    auto copy = [&](StringRef name) {
      auto vector = params.getAs<DenseI64ArrayAttr>(name);
      return ContractionVectors::Copy{vector[0], vector[1]};
    };
    ContractionVectors vectors{copy("row_vector"), copy("column_vector"),
                               *intParam(params, "store_vector")};
    if (int64_t splits = splitsOf(params); splits > 1)
      return launchSplit(op, target, emitter, product,
                         {tile.rows, tile.columns, tile.depth, splits}, tile.threads(),
                         [&](KernelWriter &kernel, const DepthParts &parts) {
                           emitContraction(kernel, product, tile, vectors, parts);
                         });
    OpBuilder host(op);
    Location loc = op.getLoc();
    reachByTiles(emitter, op, product, {tile.rows, tile.columns, tile.depth});
    Value blocks = productBlocks(host, emitter, op, product, tile.rows, tile.columns);
    Value one = host.create<arith::ConstantIndexOp>(loc, 1);
    auto outputs = llvm::to_vector(llvm::seq<int64_t>(0, op.getNumResults()));
    return emitter.launch(op, "", tile.threads(), {blocks, one, one}, outputs,
                          [&](KernelWriter &kernel) {
                            emitContraction(kernel, product, tile, vectors, {});
                            return success();
                          });
  }

private:
  static ContractionTile tileOf(DictionaryAttr params) {
    auto shape = params.getAs<DenseI64ArrayAttr>("tile");
    auto thread = params.getAs<DenseI64ArrayAttr>("thread");
    return {shape[0], shape[1], shape[2], thread[0], thread[1]};
  }

  /// Whether rows, which are reduced, are with lanes of a warp.
  LogicalResult verifyRows(const ContractionTile &tile, int64_t splits) const {
    int64_t columns = product.extent(product.columns), lanes = tile.columns / tile.threadColumns;
    if (columns > tile.columns)
      return op.emitError() << "schedule 'contraction': rows of " << columns
                            << " elements are reduced, which do not lie in a tile of "
                            << tile.columns << " columns";
    if (splits > 1)
      return op.emitError("schedule 'contraction': rows are reduced, which blocks with parts of "
                          "their depth do not have");
    if (!llvm::isPowerOf2_64(lanes) || lanes > kWarp)
      return op.emitError() << "schedule 'contraction': rows are reduced, which " << lanes
                            << " threads each do not share; a power of two up to " << kWarp
                            << " do";
    return success();
  }

  /// Elements that are copied at once, across and along depth.
  SmallVector<int64_t> widestCopy(bool isRow) const {
    ArrayRef<unsigned> across = isRow ? product.rows : product.columns;
    return {copyVector(op, product, isRow, across, kCopied, packed),
            copyVector(op, product, isRow, product.depth, kCopied, packed)};
  }

  int64_t widestStore() const { // of all results
    int64_t store = 1;
    for (size_t number = 0; number < product.epilogues.size(); ++number)
      store = std::max(store, storeVector(product, number, kGroup));
    return store;
  }

  ContractionWork work() const {
    auto loaded = [&](bool isRow) {
      double bytes = 0;
      for (const Access &read : (isRow ? product.row : product.column).value.reads)
        bytes += getElementTypeOrSelf(read.source).getIntOrFloatBitWidth() / 8.0;
      return bytes;
    };
    auto vector = [&](bool isRow) {
      SmallVector<int64_t> widest = widestCopy(isRow);
      return double(std::max(widest[0], widest[1]));
    };
    ContractionWork work{likelyExtent(product, product.rows, 512),
                         likelyExtent(product, product.columns, 512),
                         likelyExtent(product, product.batch, 8),
                         likelyExtent(product, product.depth, 512),
                         product.sumType,
                         loaded(/*isRow=*/true),
                         loaded(/*isRow=*/false),
                         vector(/*isRow=*/true),
                         vector(/*isRow=*/false),
                         resultBytes(product),
                         productBytes(op, product)};
    work.ofRows = rowWork(product);
    work.indices = indexBytes(product);
    auto isTurned = [&](bool isRow) {
      SmallVector<int64_t> widest = widestCopy(isRow);
      return widest[0] < widest[1];
    };
    work.isRowTurned = isTurned(/*isRow=*/true);
    work.isColumnTurned = isTurned(/*isRow=*/false);
    return work;
  }

  /// A kernel of parts: of each block a part of the depth, and another launch for their sums.
  ContractionWork partOf(const ContractionWork &work, int64_t parts) const {
    return parts == 1 ? work : apart(work, parts);
  }

  /// The same, where one part is a launch of its own, too.
  ContractionWork apart(ContractionWork work, int64_t parts) const {
    SplitWork split(op, product, parts);
    work.beside = {split.fixUp(target, work.dramBytes)};
    work.batch *= double(parts);
    work.depth /= double(parts);
    work.resultBytes = split.sumBytes;
    work.dramBytes = split.dramBytes;
    return work;
  }

  /// By what the product alone is, so that it is the same wherever it stands.
  int64_t chosenSplits() const {
    if (!splits)
      splits = findSplits();
    return *splits;
  }

  int64_t findSplits() const {
    double bytes = product.sumType.getIntOrFloatBitWidth() / 8.0;
    ContractionWork plain = work();
    plain.rowBytes = plain.columnBytes = plain.resultBytes = bytes;
    plain.rowVector = plain.columnVector = kPlainCopy;
    plain.isRowTurned = plain.isColumnTurned = false;
    plain.ofRows = {};
    plain.indices = {};
    plain.dramBytes = SplitWork(op, product, /*splits=*/1).dramBytes;
    if (plain.rows > plain.columns) // which of them is which depends on how results are stored
      std::swap(plain.rows, plain.columns);
    return chooseSplits(product, [&](int64_t parts) {
      for (const TimedContraction &timed : contractionTiles(partOf(plain, parts), target))
        if (canSplit(product, stepsOf(timed.tile), parts))
          return timed.microseconds;
      return std::numeric_limits<double>::infinity();
    });
  }

  int64_t stepsOf(const ContractionTile &tile) const {
    return llvm::divideCeil(product.extent(product.depth), tile.depth);
  }
  static int64_t splitsOf(DictionaryAttr params) { return intParam(params, "splits").value_or(1); }

  DictionaryAttr attributes(const ContractionTile &tile, int64_t parts) const {
    Builder b(op.getContext());
    auto list = [&](ArrayRef<int64_t> values) { return b.getDenseI64ArrayAttr(values); };
    SmallVector<NamedAttribute> attributes{
        b.getNamedAttr("column_vector", list(widestCopy(/*isRow=*/false))),
        b.getNamedAttr("row_vector", list(widestCopy(/*isRow=*/true))),
        b.getNamedAttr("store_vector", b.getI64IntegerAttr(widestStore())),
        b.getNamedAttr("thread", list({tile.threadRows, tile.threadColumns})),
        b.getNamedAttr("tile", list({tile.rows, tile.columns, tile.depth}))};
    if (parts > 1)
      attributes.push_back(b.getNamedAttr("splits", b.getI64IntegerAttr(parts)));
    return b.getDictionaryAttr(attributes);
  }

  Product product;
  mutable std::optional<int64_t> splits; // chosen ones, when they were asked for
};

class ContractionSchedule : public Schedule {
public:
  StringRef family() const override { return "contraction"; }
  bool isOfProducts() const override { return true; }

  std::unique_ptr<ScheduleMatch> tryMatch(const Computation &computation,
                                          const Target &target) const override {
    const std::optional<Product> &product =
        computation.root ? matchProduct(computation) : matchProductOfRows(computation);
    if (!product || !product->fillsTiles())
      return nullptr;
    return std::make_unique<ContractionMatch>(computation.op, target, *product);
  }
};

} // namespace

const Schedule *contractionSchedule() {
  static const ContractionSchedule schedule;
  return &schedule;
}

} // namespace cameo
