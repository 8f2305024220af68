// The mma schedule: matrix products and convolutions on Tensor Cores, by mma.sync.
//
// Products whose operands and sums are of types that the target has an instruction for: floats of
// 16 bits; those of 32 bits where the description lets them be rounded to tf32; integers of 8 bits,
// signed or not. Of several loops of depth the innermost one is what a step goes along, so that the
// others, a window's taps, are the same for all of a tile.
//
// SPDX-License-Identifier: Apache-2.0
#include "codegen/schedule/MmaKernel.h"
#include "codegen/schedule/ProductKernel.h"
#include "codegen/schedule/ProductSchedule.h"
#include "codegen/schedule/Schedule.h"
#include "runtime/sim/abi.h"

#include "mlir/Dialect/Arith/IR/Arith.h"

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

class MmaMatch : public ScheduleMatch {
public:
  MmaMatch(kernel::DispatchOp op, const Target &target, Product product,
           const kernel::MatrixShape &instruction)
      : ScheduleMatch(op, target), product(std::move(product)), instruction(instruction),
        bytes(bytesOf(this->product.row)) {}

  SmallVector<unsigned> packing(unsigned input) const override {
    // Of all that goes across depth, ldmatrix turns elements of 16 bits alone as they are wanted.
    return productPacking(op, product, input, kPackedDepth / bytes, /*depthInnermost=*/bytes != 2);
  }

  DictionaryAttr choose() const override {
    MmaForm form = widest();
    return attributes(form, *chooseMmaTile(work(form), target));
  }

  LogicalResult verify(DictionaryAttr params) const override;

  FailureOr<SmallVector<Value>> emit(DictionaryAttr params, KernelEmitter &emitter) const override {
    MmaForm form = *formOf(params);
    OpBuilder host(op);
    Value blocks = productBlocks(host, emitter, op, product, form.tile.rows, form.tile.columns);
    Value one = host.create<arith::ConstantIndexOp>(op.getLoc(), 1);
    auto outputs = llvm::to_vector(llvm::seq<int64_t>(0, op.getNumResults()));
    return emitter.launch(op, "", form.tile.threads(), {blocks, one, one}, outputs,
                          [&](Kernel &kernel) {
                            emitMma(kernel, product, form);
                            return success();
                          });
  }

  /// Whether the target has a tile for it.
  bool isPossible() const { return chooseMmaTile(work(widest()), target).has_value(); }

private:
  /// All but the tile: copies and stores as wide as may be.
  MmaForm widest() const {
    MmaForm form{};
    form.m = instruction.m, form.n = instruction.n, form.k = instruction.k;
    form.async = target.asyncCopy;
    for (bool isRow : {true, false}) {
      MmaForm::Copy &copy = isRow ? form.row : form.column;
      copy = widestCopy(isRow);
      form.async &= isCopied(isRow) && copy.vector * bytes >= kNarrowestAsyncCopy;
    }
    form.storeVector = 1; // the widest of all results
    for (size_t number = 0; number < product.epilogues.size(); ++number)
      form.storeVector = std::max(form.storeVector, storeVector(product, number, kWidestCopy));
    return form;
  }

  const Operand &operand(bool isRow) const { return isRow ? product.row : product.column; }
  /// Whether it is memory as it is, not computed from that.
  bool isCopied(bool isRow) const { return operand(isRow).value.isMemory(); }

  MmaForm::Copy widestCopy(bool isRow) const {
    unsigned inner = depthLoops(product).inner;
    ArrayRef<unsigned> across = isRow ? product.rows : product.columns;
    int64_t most = kWidestCopy / bytes;
    int64_t down = copyVector(op, product, isRow, inner, most);
    int64_t along = copyVector(op, product, isRow, across, most);
    if (down != along || down > 1)
      return {down > along, std::max(down, along)};
    // One element at a time: neighbours in memory by neighbouring threads.
    AffineMap place = operand(isRow).value.reads[0].place();
    bool alongDepth = place.getNumResults() != 0 &&
                      place.getResult(place.getNumResults() - 1).isFunctionOfDim(inner);
    return {alongDepth, 1};
  }

  MmaWork work(const MmaForm &form) const {
    DepthLoops depth = depthLoops(product);
    double result = 0;
    for (const Epilogue &epilogue : product.epilogues)
      result += getElementTypeOrSelf(epilogue.value).getIntOrFloatBitWidth() / 8.0;
    // An element on its own takes a register, and two for its address; one more where indices may
    // have 64 bits.
    bool isOpen = llvm::is_contained(product.ranges, ShapedType::kDynamic);
    auto registers = [&](bool isRow) {
      double each = 0;
      for (const Access &read : operand(isRow).value.reads)
        each += (isRow ? form.row : form.column).vector > 1
                    ? getElementTypeOrSelf(read.source).getIntOrFloatBitWidth() / 32.0
                : isOpen ? 4
                         : 3;
      return form.async ? 0 : each;
    };
    return {likelyExtent(product, product.rows, 512),
            likelyExtent(product, product.columns, 512),
            likelyExtent(product, product.batch, 8),
            likelyExtent(product, depth.outer, 1),
            likelyExtent(product, depth.inner, 512),
            bytes,
            result,
            form.async,
            registers(/*isRow=*/true),
            registers(/*isRow=*/false),
            int64_t(instruction.k) * bytes,
            form.gap(/*isRow=*/true, bytes),
            form.gap(/*isRow=*/false, bytes),
            form.m * form.n * form.k * bytes};
  }

  DictionaryAttr attributes(const MmaForm &form, const MmaTile &tile) const {
    Builder b(op.getContext());
    auto along = [&](const MmaForm::Copy &copy) {
      return b.getStringAttr(copy.alongDepth ? "depth" : "across");
    };
    auto list = [&](ArrayRef<int64_t> values) { return b.getDenseI64ArrayAttr(values); };
    return b.getDictionaryAttr(
        {b.getNamedAttr("column_lines", along(form.column)),
         b.getNamedAttr("column_vector", b.getI64IntegerAttr(form.column.vector)),
         b.getNamedAttr("copies", b.getStringAttr(form.async ? "async" : "registers")),
         b.getNamedAttr("instruction", list({form.m, form.n, form.k})),
         b.getNamedAttr("row_lines", along(form.row)),
         b.getNamedAttr("row_vector", b.getI64IntegerAttr(form.row.vector)),
         b.getNamedAttr("stages", b.getI64IntegerAttr(tile.stages)),
         b.getNamedAttr("store_vector", b.getI64IntegerAttr(form.storeVector)),
         b.getNamedAttr("tile", list({tile.rows, tile.columns, tile.depth})),
         b.getNamedAttr("warps", list({tile.warpRows, tile.warpColumns}))});
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
                 copies.getValue() == "async"};
    for (bool isRow : {true, false}) {
      std::string name = isRow ? "row" : "column";
      auto lines = params.getAs<StringAttr>(name + "_lines");
      std::optional<int64_t> vector = intParam(params, name + "_vector");
      if (!lines || !vector || (lines.getValue() != "depth" && lines.getValue() != "across"))
        return std::nullopt;
      (isRow ? form.row : form.column) = {lines.getValue() == "depth", *vector};
    }
    form.tile.rowGap = form.gap(/*isRow=*/true, bytes);
    form.tile.columnGap = form.gap(/*isRow=*/false, bytes);
    return form;
  }

  LogicalResult verifyTile(const MmaForm &form) const;
  LogicalResult verifyCopy(const MmaForm &form, bool isRow) const;
  InFlightDiagnostic error() const { return op.emitError() << "schedule 'mma': "; }

  Product product;
  kernel::MatrixShape instruction;
  int64_t bytes; // of an operand's element
};

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
  int64_t shared = tile.sharedBytes(bytes);
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
  unsigned inner = depthLoops(product).inner;
  ArrayRef<unsigned> across = isRow ? product.rows : product.columns;
  int64_t most = copyVector(op, product, isRow, copy.alongDepth ? ArrayRef(inner) : across,
                            kWidestCopy / bytes);
  if (copy.vector < 1 || most % copy.vector != 0)
    return error() << name << "_vector " << copy.vector << " is not possible; at most " << most;
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
  int64_t store = widest().storeVector;
  if (form->storeVector < 1 || store % form->storeVector != 0)
    return error() << "store_vector " << form->storeVector << " is not possible; at most " << store;
  return success(succeeded(verifyTile(*form)) && succeeded(verifyCopy(*form, /*isRow=*/true)) &&
                 succeeded(verifyCopy(*form, /*isRow=*/false)));
}

/// Whether steps along the innermost loop of depth are mostly of what is multiplied, not of zeros
/// behind its end.
bool isDeep(const Product &product) {
  DepthLoops depth = depthLoops(product);
  int64_t outer = product.extent(depth.outer), inner = product.ranges[depth.inner];
  return outer == 1 || (!ShapedType::isDynamic(outer) && !ShapedType::isDynamic(inner) &&
                        inner * bytesOf(product.row) >= kPackedDepth);
}

class MmaSchedule : public Schedule {
public:
  StringRef family() const override { return "mma"; }

  std::unique_ptr<ScheduleMatch> match(const Computation &computation,
                                       const Target &target) const override {
    std::optional<Product> product = matchProduct(computation);
    if (!product || !product->fillsTiles())
      return nullptr;
    std::optional<kernel::MatrixShape> instruction = instructionFor(target, *product);
    if (!instruction || !isDeep(*product))
      return nullptr;
    auto match =
        std::make_unique<MmaMatch>(computation.op, target, std::move(*product), *instruction);
    return match->isPossible() ? std::move(match) : nullptr;
  }
};

} // namespace

const Schedule *mmaSchedule() {
  static const MmaSchedule schedule;
  return &schedule;
}

} // namespace cameo
