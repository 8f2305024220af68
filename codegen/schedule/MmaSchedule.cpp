// The mma schedule: matrix products and convolutions on Tensor Cores, by mma.sync.
//
// Products whose operands and sums are of types that the target has an instruction for: floats of
// 16 bits; those of 32 bits where the description lets them be rounded to tf32; integers of 8 bits,
// signed or not. Of several loops of depth the innermost one is what a step goes along, so that the
// others, a window's taps, are the same for all of a tile; where that is short, such as the
// channels of an image, several of them as one, so that a tile has several taps.
//
// SPDX-License-Identifier: Apache-2.0
#include "codegen/schedule/MmaKernel.h"
#include "codegen/schedule/ProductKernel.h"
#include "codegen/schedule/ProductLayout.h"
#include "codegen/schedule/ProductSchedule.h"
#include "codegen/schedule/Schedule.h"
#include "codegen/schedule/SplitDepth.h"
#include "codegen/schedule/TileReach.h"
#include "runtime/sim/abi.h"

#include "mlir/Dialect/Arith/IR/Arith.h"

#include <limits>

using namespace mlir;

namespace cameo {
namespace {

/// Steps of depth in shared memory at most.
constexpr int64_t kMostStages = 8;
/// What packing takes for a tile's depth, in bytes: half of the least, which the other half of is
/// zeros.
constexpr int64_t kPackedDepth = 32;
/// Bytes of a copy.
constexpr int64_t kWidestCopy = 16, kNarrowestAsyncCopy = 4;
/// Of depth, in a step.
constexpr int64_t kStepBytes = 64;

Type elementOf(const Operand &operand) { return getElementTypeOrSelf(operand.source); }
int64_t bytesOf(const Operand &operand) { return elementOf(operand).getIntOrFloatBitWidth() / 8; }

/// What an operand's elements are multiplied as.
std::optional<uint8_t> matrixType(const Product &product, const Operand &operand) {
  Type type = elementOf(operand);
  if (type.isF16())
    return CAMEO_SIM_F16;
  if (type.isBF16())
    return CAMEO_SIM_BF16;
  if (type.isF32() && product.mayRoundToTf32)
    return CAMEO_SIM_TF32;
  if (type.isInteger(8))
    return operand.isUnsigned ? CAMEO_SIM_U8 : CAMEO_SIM_S8;
  return std::nullopt;
}

std::optional<uint8_t> sumType(const Product &product) {
  if (product.sumType.isF16())
    return CAMEO_SIM_F16;
  if (product.sumType.isF32())
    return CAMEO_SIM_F32;
  if (product.sumType.isInteger(32))
    return CAMEO_SIM_S32;
  return std::nullopt;
}

/// The deepest instruction of the target for the product's operands and sums.
std::optional<kernel::MatrixShape> instructionFor(const Target &target, const Product &product) {
  std::optional<uint8_t> row = matrixType(product, product.row);
  std::optional<uint8_t> column = matrixType(product, product.column), sum = sumType(product);
  std::optional<kernel::MatrixShape> best;
  for (const kernel::MatrixShape &shape : target.matrixShapes())
    if (shape.a == row && shape.b == column && shape.accumulator == sum && !shape.isWarpgroup() &&
        (!best || best->k < shape.k))
      best = shape;
  return best;
}

/// Bytes across which neighbouring threads gather elements: a sector, so that a warp's are in a few
/// lines of the cache.
constexpr int64_t kNeighbours = 32;
/// Instructions in the loop for the place of an element that is loaded on its own, whether it is
/// inside, and to put it beside its neighbour; the same of a gathered one, whose place is known but
/// for what is the same for all of a thread's. Loads of several need none in the loop, unless they
/// are in several taps.
constexpr double kPlaceOfElement = 3, kPlaceOfGathered = 1.5, kPlaceInTaps = 5;

class MmaMatch : public ScheduleMatch {
public:
  MmaMatch(kernel::DispatchOp op, const Target &target, Product product,
           const kernel::MatrixShape &instruction)
      : ScheduleMatch(op, target), product(std::move(product)), instruction(instruction),
        bytes(bytesOf(this->product.row)) {}

  SmallVector<unsigned> packing(unsigned input) const override {
    // Of all that goes across depth, ldmatrix turns elements of 16 bits alone as they are wanted.
    // Nor are lines of few elements any good.
    auto packed = [&](bool depthInnermost) {
      return productPacking(op, product, input, kPackedDepth / bytes, depthInnermost);
    };
    SmallVector<unsigned> order = packed(/*depthInnermost=*/bytes != 2);
    if (bytes == 2 || order.empty())
      return order;
    bool isRow = operand(/*isRow=*/true).source == op.getInputArgs()[input];
    auto inner = dyn_cast<AffineDimExpr>(operand(isRow).map.getResult(order.back()));
    bool isShort = inner && product.depth.size() > 1 && product.ranges[inner.getPosition()] > 1 &&
                   product.ranges[inner.getPosition()] * bytes < kPackedDepth;
    return isShort ? packed(/*depthInnermost=*/false) : order;
  }

  SmallVector<int64_t> roundedInputs(DictionaryAttr params) const override {
    SmallVector<int64_t> inputs;
    MmaForm form = *formOf(params);
    for (bool isRow : {true, false})
      if ((isRow ? form.row : form.column).isRounded)
        inputs.push_back(cast<BlockArgument>(operand(isRow).source).getArgNumber());
    llvm::sort(inputs);
    inputs.erase(llvm::unique(inputs), inputs.end());
    return inputs;
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
    if (depthCount() == 0)
      return found;
    MmaForm form = widest();
    MmaWork whole = work(form);
    if (whole.ofRows.columns && chosenSplits() > 1) // sums are the same wherever the product stands
      return found;
    // Where registers are too few for the tiles of parts as operands are, it is not split.
    for (int64_t parts : {chosenSplits(), int64_t(1)}) {
      form.splits = parts;
      for (const TimedTile &timed : mmaTiles(partOf(whole, parts), target, most > kMmaShapes))
        if (found.size() < most && canSplit(form, timed.tile.depth))
          found.push_back({attributes(form, timed.tile), timed.microseconds,
                           workspaceBytes(product, parts), timed.work});
      if (!found.empty())
        break;
    }
    return found;
  }

  KernelWork workOf(DictionaryAttr params) const override {
    MmaForm form = *formOf(params);
    return mmaKernel(form.tile, partOf(work(form), form.splits), target);
  }

  double microsecondsApart() const override {
    if (product.steps.empty())
      return ScheduleMatch::microsecondsApart();
    MmaForm form = widest();
    form.splits = chosenSplits();
    MmaWork alone = work(form);
    alone.ofRows = {};
    for (const TimedTile &timed : mmaTiles(apart(alone, form.splits), target))
      if (canSplit(form, timed.tile.depth))
        return timed.microseconds;
    return ScheduleMatch::microsecondsApart();
  }

  LogicalResult verify(DictionaryAttr params) const override;

  FailureOr<SmallVector<Value>> emit(DictionaryAttr params, KernelEmitter &emitter) const override {
    MmaForm form = *formOf(params);
    if (form.splits > 1)
      return launchSplit(op, target, emitter, product, reachOf(form), form.tile.threads(),
                         [&](KernelWriter &kernel, const DepthParts &parts) {
                           emitMma(kernel, product, form, parts);
                         });
    reachByTiles(emitter, op, product, reachOf(form));
    OpBuilder host(op);
    Value blocks = productBlocks(host, emitter, op, product, form.tile.rows, form.tile.columns);
    Value one = host.create<arith::ConstantIndexOp>(op.getLoc(), 1);
    auto outputs = llvm::to_vector(llvm::seq<int64_t>(0, op.getNumResults()));
    return emitter.launch(op, "", form.tile.threads(), {blocks, one, one}, outputs,
                          [&](KernelWriter &kernel) {
                            emitMma(kernel, product, form, {});
                            return success();
                          });
  }

private:
  /// Loops of depth that steps go along, as along one, such that they are mostly of what is
  /// multiplied, not of zeros behind their end; 0: none. As few as possible, and more where what
  /// taps have together is copied in pieces of 16 bytes and a quarter less has to be multiplied.
  /// This is decided by sizes alone, because sums depend on it.
  int64_t depthCount() const {
    int64_t best = 0, leastBytes = 0;
    for (int64_t count = 1; count <= int64_t(product.depth.size()); ++count) {
      DepthLoops depth = depthLoops(product, count);
      int64_t outer = product.extent(depth.outer), inner = product.extent(depth.inner);
      if (int64_t(depth.inner.size()) < count)
        break;
      if (ShapedType::isDynamic(outer) || ShapedType::isDynamic(inner))
        return best == 0 && count == 1 && outer == 1 ? 1 : best;
      int64_t padded = outer * llvm::alignTo(inner * bytes, kStepBytes);
      bool isDeep = outer == 1 || inner * bytes >= kPackedDepth;
      int64_t together = vectorOfWindow(product, depth.inner, kWidestCopy / bytes);
      bool isWhole = product.ranges[depth.inner.back()] * bytes % kWidestCopy == 0 ||
                     together * bytes == kWidestCopy;
      if (isDeep && (best == 0 || (isWhole && 4 * padded <= 3 * leastBytes)))
        best = count, leastBytes = padded;
    }
    return best;
  }

  /// Where steps go along several loops, elements are counted from where these begin.
  Reach reachOf(const MmaForm &form) const {
    int64_t depth = form.depthLoops == 1
                        ? form.tile.depth
                        : product.extent(depthLoops(product, form.depthLoops).inner);
    return {form.tile.rows, form.tile.columns, depth, form.splits};
  }

  /// Whether steps can go along so many: along one always.
  bool hasDepthLoops(int64_t count) const {
    DepthLoops depth = depthLoops(product, count);
    return count == 1 || (count > 1 && int64_t(depth.inner.size()) == count &&
                          !ShapedType::isDynamic(product.extent(depth.inner)));
  }

  /// All but the tile: copies and stores as wide as may be.
  MmaForm widest() const {
    MmaForm form{};
    form.m = instruction.m, form.n = instruction.n, form.k = instruction.k;
    form.async = target.asyncCopy;
    form.depthLoops = depthCount();
    for (bool isRow : {true, false}) {
      MmaForm::Copy &copy = isRow ? form.row : form.column;
      copy = widestCopy(isRow, depthLoops(product, form.depthLoops).inner);
      copy.isRounded = canBeStoredRounded(isRow);
      form.async &= isCopied(isRow) && copy.vector * bytes >= kNarrowestAsyncCopy;
    }
    form.storeVector = widestStore();
    return form;
  }

  /// The widest of all results.
  int64_t widestStore() const {
    int64_t widest = 1;
    for (size_t number = 0; number < product.epilogues.size(); ++number)
      widest = std::max(widest, storeVector(product, number, kWidestCopy));
    return widest;
  }

  const Operand &operand(bool isRow) const { return isRow ? product.row : product.column; }
  /// Whether it is memory as it is, not computed from that.
  bool isCopied(bool isRow) const { return operand(isRow).value.isMemory(); }

  /// Whether it is a constant that may be rounded to tf32 where it is stored, as its products round
  /// it anyway.
  bool canBeStoredRounded(bool isRow) const {
    auto input = dyn_cast<BlockArgument>(operand(isRow).source);
    return instruction.a == CAMEO_SIM_TF32 && isCopied(isRow) && input &&
           input.getArgNumber() < op.getInputs().size() && isRoundable(op, input.getArgNumber());
  }

  /// Whether asynchronous copies take single elements of it, and so need not gather.
  bool isAsyncAlone(bool isRow) const {
    return target.asyncCopy && bytes >= kNarrowestAsyncCopy && isCopied(isRow);
  }

  MmaForm::Copy wholeCopy(bool alongDepth) const {
    return {alongDepth, kWidestCopy / bytes, kWidestCopy / bytes};
  }

  MmaForm::Copy widestCopy(bool isRow, ArrayRef<unsigned> inner) const {
    ArrayRef<unsigned> across = isRow ? product.rows : product.columns;
    int64_t most = kWidestCopy / bytes;
    int64_t down = copyVector(op, product, isRow, inner, most, packed);
    int64_t along = copyVector(op, product, isRow, across, most, packed);
    if (down != along || down > 1) {
      int64_t vector = std::max(down, along);
      return {down > along, vector, vector};
    }
    if (hasEqualElements(operand(isRow))) // which are in no memory
      return {/*alongDepth=*/true, 1, most};
    // One element at a time: neighbours in memory by neighbouring threads.
    const Access &read = operand(isRow).value.reads.front();
    int64_t nearest = nearestAlong(product, read, across, packed);
    if (nearest != 0 && nearest * bytes <= kNeighbours && !isAsyncAlone(isRow))
      return {/*alongDepth=*/true, 1, most};
    AffineMap place = placeAsPacked(read, packed).first;
    bool alongDepth = place.getNumResults() != 0 && llvm::any_of(inner, [&](unsigned loop) {
                        return place.getResult(place.getNumResults() - 1).isFunctionOfDim(loop);
                      });
    return {alongDepth, 1, 1};
  }

  /// What the estimate is told of a copy, of depth along these loops. An element on its own takes a
  /// register, and two for its address; one more where indices may have 64 bits.
  MmaWork::Copy workOf(const MmaForm::Copy &copy, bool isRow, ArrayRef<unsigned> inner) const {
    bool isOpen = llvm::is_contained(product.ranges, ShapedType::kDynamic);
    double alone = copy.isGathered() ? 1.5 : isOpen ? 4 : 3, registers = 0;
    for (const Access &read : operand(isRow).value.reads)
      registers += copy.vector > 1
                       ? getElementTypeOrSelf(read.source).getIntOrFloatBitWidth() / 32.0
                       : alone;
    double place = copy.isGathered() ? kPlaceOfGathered : copy.vector == 1 ? kPlaceOfElement : 0;
    AffineMap map = operand(isRow).map;
    bool isInTaps = inner.size() > 1 && !map.isProjectedPermutation(/*allowZeroInResults=*/true);
    return {double(copy.vector),
            double(copy.group),
            place,
            isInTaps ? kPlaceInTaps : 0,
            registers,
            !copy.alongDepth,
            copy.isGathered(),
            bool(operand(isRow).pad),
            copy.isRounded};
  }

  MmaWork work(const MmaForm &form) const {
    DepthLoops depth = depthLoops(product, form.depthLoops);
    MmaWork work{likelyExtent(product, product.rows, 512),
                 likelyExtent(product, product.columns, 512),
                 likelyExtent(product, product.batch, 8),
                 likelyExtent(product, depth.outer, 1),
                 likelyExtent(product, depth.inner, 512),
                 bytes,
                 resultBytes(product),
                 productBytes(op, product),
                 workOf(form.row, /*isRow=*/true, depth.inner),
                 workOf(form.column, /*isRow=*/false, depth.inner),
                 form.async,
                 int64_t(instruction.k) * bytes,
                 form.gap(/*isRow=*/true, bytes),
                 form.gap(/*isRow=*/false, bytes),
                 form.m * form.n * form.k * bytes};
    work.ofRows = rowWork(product);
    work.indices = indexBytes(product);
    work.results = accessesOfResults(product);
    return work;
  }

  /// A kernel of parts: of each block a part of the depth, and another launch for their sums.
  MmaWork partOf(const MmaWork &work, int64_t parts) const {
    return parts == 1 ? work : apart(work, parts);
  }

  /// The same, where one part is a launch of its own, too.
  MmaWork apart(MmaWork work, int64_t parts) const {
    SplitWork split(op, product, parts);
    work.beside = {split.fixUp(target, work.dramBytes)};
    work.batch *= double(parts);
    (work.runs > 1 ? work.runs : work.depth) /= double(parts);
    work.resultBytes = split.sumBytes;
    work.results = 1;
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
    MmaForm form{};
    form.m = instruction.m, form.n = instruction.n, form.k = instruction.k;
    form.async = target.asyncCopy;
    form.row = form.column = wholeCopy(/*alongDepth=*/true);
    form.depthLoops = std::max<int64_t>(1, depthCount());
    MmaWork plain = work(form);
    plain.row.registers = plain.column.registers = double(bytes) / 4;
    plain.row.place = plain.column.place = 0;
    plain.row.isPadded = plain.column.isPadded = false;
    plain.results = 1;
    plain.resultBytes = product.sumType.getIntOrFloatBitWidth() / 8.0;
    plain.ofRows = {};
    plain.indices = {};
    plain.dramBytes = SplitWork(op, product, /*splits=*/1).dramBytes;
    if (plain.rows > plain.columns) // which of them is which depends on how results are stored
      std::swap(plain.rows, plain.columns);
    return chooseSplits(product, [&](int64_t parts) {
      form.splits = parts;
      for (const TimedTile &timed : mmaTiles(partOf(plain, parts), target))
        if (canSplit(form, timed.tile.depth))
          return timed.microseconds;
      return std::numeric_limits<double>::infinity();
    });
  }

  /// Steps of depth of tiles so deep: of the inner loops, and in all.
  std::pair<int64_t, int64_t> stepsOf(const MmaForm &form, int64_t tileDepth) const {
    DepthLoops depth = depthLoops(product, form.depthLoops);
    int64_t inner = llvm::divideCeil(product.extent(depth.inner), tileDepth);
    return {inner, product.extent(depth.outer) * inner};
  }

  /// Whether an estimate may choose these parts for tiles so deep: where parts begin with them as
  /// with the deepest ones, so that sums do not depend on the tile, which what is fused to the
  /// product has a part in.
  bool canSplit(const MmaForm &form, int64_t tileDepth) const {
    if (!cameo::canSplit(product, stepsOf(form, tileDepth).second, form.splits))
      return false;
    auto begin = [&](int64_t part, int64_t depth) { // indices of the outer loops and of the inner
      auto [inner, steps] = stepsOf(form, depth);
      int64_t step = part * llvm::divideCeil(steps, form.splits);
      return std::pair(step / inner, step % inner * depth);
    };
    return llvm::all_of(llvm::seq<int64_t>(1, form.splits), [&](int64_t part) {
      return begin(part, tileDepth) == begin(part, kMostDepthBytes / bytes);
    });
  }

  DictionaryAttr attributes(const MmaForm &form, const MmaTile &tile) const {
    Builder b(op.getContext());
    auto along = [&](const MmaForm::Copy &copy) {
      return b.getStringAttr(copy.alongDepth ? "depth" : "across");
    };
    auto list = [&](ArrayRef<int64_t> values) { return b.getDenseI64ArrayAttr(values); };
    SmallVector<NamedAttribute> result{
        b.getNamedAttr("column_lines", along(form.column)),
        b.getNamedAttr("column_vector", b.getI64IntegerAttr(form.column.vector)),
        b.getNamedAttr("copies", b.getStringAttr(form.async ? "async" : "registers")),
        b.getNamedAttr("instruction", list({form.m, form.n, form.k})),
        b.getNamedAttr("row_lines", along(form.row)),
        b.getNamedAttr("row_vector", b.getI64IntegerAttr(form.row.vector)),
        b.getNamedAttr("stages", b.getI64IntegerAttr(tile.stages)),
        b.getNamedAttr("store_vector", b.getI64IntegerAttr(form.storeVector)),
        b.getNamedAttr("tile", list({tile.rows, tile.columns, tile.depth})),
        b.getNamedAttr("warps", list({tile.warpRows, tile.warpColumns}))};
    auto addOther = [&](StringRef name, int64_t value, int64_t usual) {
      if (value != usual)
        result.push_back(b.getNamedAttr(name, b.getI64IntegerAttr(value)));
    };
    addOther("splits", form.splits, 1);
    addOther("depth_loops", form.depthLoops, 1);
    addOther("row_group", form.row.group, form.row.vector);
    addOther("column_group", form.column.group, form.column.vector);
    if (form.row.isRounded)
      result.push_back(b.getNamedAttr("row_rounded", b.getBoolAttr(true)));
    if (form.column.isRounded)
      result.push_back(b.getNamedAttr("column_rounded", b.getBoolAttr(true)));
    return b.getDictionaryAttr(result);
  }

  /// Nothing where a parameter is missing or of another type.
  std::optional<MmaForm> formOf(DictionaryAttr params) const {
    auto tile = params.getAs<DenseI64ArrayAttr>("tile");
    auto warps = params.getAs<DenseI64ArrayAttr>("warps");
    auto shape = params.getAs<DenseI64ArrayAttr>("instruction");
    auto copies = params.getAs<StringAttr>("copies");
    std::optional<int64_t> stages = intParam(params, "stages");
    std::optional<int64_t> store = intParam(params, "store_vector");
    if (!tile || !warps || !shape || !copies || !stages || !store || tile.size() != 3 ||
        warps.size() != 2 || shape.size() != 3 ||
        (copies.getValue() != "async" && copies.getValue() != "registers"))
      return std::nullopt;
    MmaForm form{{tile[0], tile[1], tile[2], warps[0], warps[1], *stages},
                 shape[0],
                 shape[1],
                 shape[2],
                 {},
                 {},
                 *store,
                 copies.getValue() == "async",
                 intParam(params, "splits").value_or(1),
                 intParam(params, "depth_loops").value_or(1)};
    for (bool isRow : {true, false}) {
      std::string name = isRow ? "row" : "column";
      auto lines = params.getAs<StringAttr>(name + "_lines");
      std::optional<int64_t> vector = intParam(params, name + "_vector");
      if (!lines || !vector || (lines.getValue() != "depth" && lines.getValue() != "across"))
        return std::nullopt;
      auto rounded = params.getAs<BoolAttr>(name + "_rounded");
      (isRow ? form.row : form.column) = {lines.getValue() == "depth", *vector,
                                          intParam(params, name + "_group").value_or(*vector),
                                          rounded && rounded.getValue()};
    }
    form.tile.rowGap = form.gap(/*isRow=*/true, bytes);
    form.tile.columnGap = form.gap(/*isRow=*/false, bytes);
    return form;
  }

  LogicalResult verifyTile(const MmaForm &form) const;
  LogicalResult verifyRows(const MmaForm &form) const;
  LogicalResult verifyCopy(const MmaForm &form, bool isRow) const;
  InFlightDiagnostic error() const { return op.emitError() << "schedule 'mma': "; }

  Product product;
  kernel::MatrixShape instruction;
  int64_t bytes;                         // of an operand's element
  mutable std::optional<int64_t> splits; // chosen ones, when they were asked for
};

LogicalResult MmaMatch::verifyRows(const MmaForm &form) const {
  const MmaTile &tile = form.tile;
  int64_t columns = product.extent(product.columns);
  if (columns > tile.columns)
    return error() << "rows of " << columns
                   << " elements are reduced, which do not lie in a tile of " << tile.columns
                   << " columns";
  if (form.splits > 1)
    return error() << "rows are reduced, which blocks with parts of their depth do not have";
  if (!llvm::isPowerOf2_64(tile.columns) || MmaTile::kLeastStagedRows % tile.warpColumns != 0)
    return error() << "rows are reduced, which " << tile.warpRows << "x" << tile.warpColumns
                   << " warps do not share, of a tile of " << tile.columns << " columns";
  return success();
}

LogicalResult MmaMatch::verifyTile(const MmaForm &form) const {
  const MmaTile &tile = form.tile;
  if (form.m != int64_t(instruction.m) || form.n != int64_t(instruction.n) ||
      form.k != int64_t(instruction.k))
    return error() << target.name << " multiplies " << elementOf(product.row) << " by "
                   << instruction.m << "x" << instruction.n << "x" << instruction.k << ", not by "
                   << form.m << "x" << form.n << "x" << form.k;
  if (tile.warpRows < 1 || tile.warpColumns < 1 ||
      tile.threads() > int64_t(target.maxThreadsPerBlock))
    return error() << tile.warpRows << "x" << tile.warpColumns << " warps; " << target.name
                   << " allows 1 to " << target.maxThreadsPerBlock / 32;
  // Two columns' worth of an instruction are loaded by one ldmatrix.
  int64_t rowUnit = 16 * tile.warpRows, columnUnit = 16 * tile.warpColumns;
  int64_t depthUnit = kDepthBytes / bytes;
  if (tile.rows < 1 || tile.columns < 1 || tile.depth < 1 || tile.rows % rowUnit != 0 ||
      tile.columns % columnUnit != 0 || tile.depth % depthUnit != 0)
    return error() << "a tile of " << tile.rows << "x" << tile.columns << "x" << tile.depth
                   << " is not made of " << rowUnit << "x" << columnUnit << "x" << depthUnit;
  if (form.async && !target.asyncCopy)
    return error() << target.name << " has no asynchronous copies";
  if (tile.stages < 2 || tile.stages > (form.async ? kMostStages : 2))
    return error() << tile.stages << " stages; 2 to " << (form.async ? kMostStages : 2)
                   << " are possible";
  if (!cameo::canSplit(product, stepsOf(form, tile.depth).second, form.splits))
    return error() << "the depth is not split into " << form.splits << " parts; 1 to "
                   << kMostSplits << " of a step or more each are possible";
  if (!product.steps.empty() && failed(verifyRows(form)))
    return failure();
  int64_t shared = tile.sharedBytes(bytes) + indexBytes(product).of(tile.rows, tile.columns);
  if (shared > int64_t(target.maxSharedPerBlock))
    return error() << "requires " << shared << " B of shared memory; " << target.name << " allows "
                   << target.maxSharedPerBlock << " B";
  int64_t registers = registersPerThread(tile, work(form));
  if (registers > int64_t(target.maxRegistersPerThread))
    return error() << "takes about " << registers << " registers a thread; " << target.name
                   << " allows " << target.maxRegistersPerThread;
  return success();
}

LogicalResult MmaMatch::verifyCopy(const MmaForm &form, bool isRow) const {
  const MmaForm::Copy &copy = isRow ? form.row : form.column;
  StringRef name = isRow ? "row" : "column";
  DepthLoops depth = depthLoops(product, form.depthLoops);
  ArrayRef<unsigned> across = isRow ? product.rows : product.columns;
  int64_t most = copyVector(op, product, isRow, copy.alongDepth ? ArrayRef(depth.inner) : across,
                            kWidestCopy / bytes, packed);
  if (copy.vector < 1 || most % copy.vector != 0)
    return error() << name << "_vector " << copy.vector << " is not possible; at most " << most;
  bool fits = copy.group == copy.vector ||
              (copy.alongDepth && !form.async && copy.group > copy.vector &&
               llvm::isPowerOf2_64(copy.group) && copy.group <= kWidestCopy / bytes);
  if (!fits)
    return error() << name << "_group " << copy.group
                   << " is not possible; with lines along depth, "
                   << "through registers, at most " << kWidestCopy / bytes;
  if (copy.isRounded && !canBeStoredRounded(isRow))
    return error()
           << "the " << name
           << "'s operand is not a constant of f32 that is multiplied as TF32, to be rounded "
              "where it is stored";
  if (form.async && !isCopied(isRow))
    return error() << "the " << name << "'s operand is computed, which asynchronous copies do not";
  if (form.async && copy.vector * bytes < kNarrowestAsyncCopy)
    return error() << name << "_vector " << copy.vector << " is of " << copy.vector * bytes
                   << " B; asynchronous copies are of " << kNarrowestAsyncCopy << " or more";
  return success();
}

LogicalResult MmaMatch::verify(DictionaryAttr params) const {
  std::optional<MmaForm> form = formOf(params);
  if (!form)
    return op.emitError(
        "schedule 'mma' needs tile = [rows, columns, depth], warps = [rows, columns], instruction "
        "= "
        "[m, n, k], stages, copies = \"async\" or \"registers\", row_lines and column_lines = "
        "\"depth\" or \"across\", row_vector, column_vector and store_vector");
  if (!hasDepthLoops(form->depthLoops))
    return error() << "steps along " << form->depthLoops << " loops of depth are not possible; of "
                   << product.depth.size() << " those of known size, or one, are";
  int64_t store = widestStore();
  if (form->storeVector < 1 || store % form->storeVector != 0)
    return error() << "store_vector " << form->storeVector << " is not possible; at most " << store;
  return success(succeeded(verifyTile(*form)) && succeeded(verifyCopy(*form, /*isRow=*/true)) &&
                 succeeded(verifyCopy(*form, /*isRow=*/false)));
}

class MmaSchedule : public Schedule {
public:
  StringRef family() const override { return "mma"; }
  bool isOfProducts() const override { return true; }

  std::unique_ptr<ScheduleMatch> tryMatch(const Computation &computation,
                                          const Target &target) const override {
    const std::optional<Product> &product =
        computation.root ? matchProduct(computation) : matchProductOfRows(computation);
    if (!product || !product->fillsTiles())
      return nullptr;
    std::optional<kernel::MatrixShape> instruction = instructionFor(target, *product);
    if (!instruction)
      return nullptr;
    return std::make_unique<MmaMatch>(computation.op, target, *product, *instruction);
  }
};

} // namespace

const Schedule *mmaSchedule() {
  static const MmaSchedule schedule;
  return &schedule;
}

} // namespace cameo
