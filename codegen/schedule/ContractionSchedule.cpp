// The contraction schedule: matrix products and convolutions as tiled products through shared
// memory.
//
// Loops of the description fall into batch (in both operands and the result), rows and columns (in
// one operand and the result; columns hold the result's innermost loop) and depth (reduced). Each
// block computes a tile of rows by columns; operand tiles are gathered by index arithmetic, which
// is what makes a convolution an implicit matrix product. Two buffers a tile: while one is
// multiplied, the next is filled, so that an iteration needs one barrier.
//
// SPDX-License-Identifier: Apache-2.0
#include "codegen/schedule/Schedule.h"

#include "mlir/Analysis/FlatLinearValueConstraints.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"

using namespace mlir;

namespace cameo {
namespace {

/// One operand of the product: memory, perhaps padded, and how loops index it.
struct Operand {
  Value tensor;      // as the generic reads it
  tensor::PadOp pad; // null where it is memory itself
  Value source;      // the block argument
  AffineMap map;     // loops of extent 1 replaced by 0
};

/// A dispatch seen as a product; see the file comment.
struct Product {
  linalg::GenericOp generic;
  Value root; // the dispatch's result: the product, or elementwise work on it
  Operand row, column;
  AffineMap outMap;
  SmallVector<unsigned> batch, rows, columns, depth; // loops, outermost first
  Type sumType;
  SmallVector<int64_t> ranges; // kDynamic where unknown

  int64_t extent(ArrayRef<unsigned> loops) const {
    int64_t product = 1;
    for (unsigned loop : loops) {
      if (ShapedType::isDynamic(ranges[loop]))
        return ShapedType::kDynamic;
      product *= ranges[loop];
    }
    return product;
  }
};

/// The input argument behind widening casts, if `value` is one.
BlockArgument throughCasts(Value value) {
  while (auto cast = value.getDefiningOp<arith::ExtFOp>())
    value = cast.getIn();
  return dyn_cast<BlockArgument>(value);
}

/// Whether the body is out + in0 * in1, fused for floats.
bool isMultiplyAccumulate(linalg::GenericOp generic) {
  if (generic.getNumDpsInputs() != 2 || generic.getNumDpsInits() != 1)
    return false;
  Block *body = generic.getBody();
  Value left, right, sum, yielded = body->getTerminator()->getOperand(0);
  if (auto fma = yielded.getDefiningOp<math::FmaOp>()) {
    left = fma.getA(), right = fma.getB(), sum = fma.getC();
  } else if (auto add = yielded.getDefiningOp<arith::AddIOp>()) {
    auto product = add.getRhs().getDefiningOp<arith::MulIOp>();
    if (!product)
      return false;
    left = product.getLhs(), right = product.getRhs(), sum = add.getLhs();
  } else {
    return false;
  }
  return throughCasts(left) == body->getArgument(0) &&
         throughCasts(right) == body->getArgument(1) && sum == body->getArgument(2);
}

bool isZero(Value value) {
  return matchPattern(value, m_AnyZeroFloat()) || matchPattern(value, m_Zero());
}

std::optional<Operand> matchOperand(Value tensor, AffineMap map, kernel::DispatchOp op) {
  Operand operand{tensor, nullptr, tensor, map};
  if (auto pad = tensor.getDefiningOp<tensor::PadOp>()) {
    Value padding = pad.getConstantPaddingValue();
    if (!padding || !isZero(padding))
      return std::nullopt;
    operand.pad = pad;
    operand.source = pad.getSource();
  }
  if (!isa<BlockArgument>(operand.source))
    return std::nullopt;
  return operand;
}

std::optional<Product> matchProduct(kernel::DispatchOp op) {
  if (op.getNumResults() != 1)
    return std::nullopt;
  Product product;
  product.root = op.getBodyBlock()->getTerminator()->getOperand(0);
  auto generic = product.root.getDefiningOp<linalg::GenericOp>();
  if (!generic)
    return std::nullopt;
  if (generic.getNumReductionLoops() == 0) {
    // Elementwise work whose first input is the product at the same place.
    if (generic.getNumDpsInputs() == 0 || generic.getNumResults() != 1 ||
        !generic.getMatchingIndexingMap(generic.getDpsInitOperand(0)).isIdentity())
      return std::nullopt;
    OpOperand *first = generic.getDpsInputOperand(0);
    if (!generic.getMatchingIndexingMap(first).isIdentity() || !first->get().hasOneUse())
      return std::nullopt;
    generic = first->get().getDefiningOp<linalg::GenericOp>();
  }
  if (!generic || generic.getNumReductionLoops() == 0 || !isMultiplyAccumulate(generic))
    return std::nullopt;
  product.generic = generic;
  auto fill = generic.getDpsInitOperand(0)->get().getDefiningOp<linalg::FillOp>();
  if (!fill || !isZero(fill.getInputs()[0]))
    return std::nullopt;
  product.sumType = cast<RankedTensorType>(generic.getResult(0).getType()).getElementType();
  product.ranges = generic.getStaticLoopRanges();
  MLIRContext *context = op.getContext();
  unsigned loops = generic.getNumLoops();
  SmallVector<AffineExpr> simple;
  for (unsigned loop = 0; loop < loops; ++loop)
    simple.push_back(product.ranges[loop] == 1 ? getAffineConstantExpr(0, context)
                                               : getAffineDimExpr(loop, context));
  auto simplified = [&](OpOperand *operand) {
    return generic.getMatchingIndexingMap(operand).replaceDimsAndSymbols(simple, {}, loops, 0);
  };
  AffineMap left = simplified(generic.getDpsInputOperand(0));
  AffineMap right = simplified(generic.getDpsInputOperand(1));
  for (AffineMap map : {left, right})
    for (AffineExpr expr : map.getResults()) {
      SmallVector<int64_t> flat; // loops, a constant, and a place more for every division
      if (failed(getFlattenedAffineExpr(expr, loops, 0, &flat)) || flat.size() != loops + 1)
        return std::nullopt;
    }
  product.outMap = generic.getMatchingIndexingMap(generic.getDpsInitOperand(0));
  auto iterators = generic.getIteratorTypesArray();
  SmallVector<unsigned> leftLoops, rightLoops;
  for (unsigned loop = 0; loop < loops; ++loop) {
    bool inLeft = left.isFunctionOfDim(loop), inRight = right.isFunctionOfDim(loop);
    if (iterators[loop] == utils::IteratorType::reduction)
      product.depth.push_back(loop);
    else if (inLeft && inRight)
      product.batch.push_back(loop);
    else if (inLeft)
      leftLoops.push_back(loop);
    else if (inRight)
      rightLoops.push_back(loop);
    else
      product.batch.push_back(loop); // of extent 1, or broadcast
  }
  if (leftLoops.empty() || rightLoops.empty())
    return std::nullopt;
  // Columns hold the result's innermost loop, so that threads write consecutive elements.
  bool leftIsColumn = false;
  for (AffineExpr expr : product.outMap.getResults()) {
    unsigned loop = cast<AffineDimExpr>(expr).getPosition();
    if (llvm::is_contained(leftLoops, loop))
      leftIsColumn = true;
    else if (llvm::is_contained(rightLoops, loop))
      leftIsColumn = false;
  }
  auto matched = [&](unsigned number, AffineMap map) {
    return matchOperand(generic.getDpsInputOperand(number)->get(), map, op);
  };
  auto first = matched(0, left), second = matched(1, right);
  if (!first || !second)
    return std::nullopt;
  // Depth runs as an operand's memory does, best one that no window slides over: then its elements
  // are consecutive along depth, and it is what packing decides (PackWeights.cpp).
  const Operand &ordered =
      right.isProjectedPermutation(/*allowZeroInResults=*/true) ? *second : *first;
  auto placeIn = [&](unsigned loop) {
    for (auto [place, expr] : llvm::enumerate(ordered.map.getResults()))
      if (expr.isFunctionOfDim(loop))
        return place;
    return size_t(0); // of extent 1
  };
  llvm::sort(product.depth, [&](unsigned a, unsigned b) {
    return std::pair(placeIn(a), a) < std::pair(placeIn(b), b);
  });
  product.row = leftIsColumn ? *second : *first;
  product.column = leftIsColumn ? *first : *second;
  product.rows = leftIsColumn ? rightLoops : leftLoops;
  product.columns = leftIsColumn ? leftLoops : rightLoops;
  return product;
}

/// Length of the run of consecutive elements that the innermost of `loops` walk in a tensor with
/// this map: its last dimensions are those loops, each over the whole dimension.
int64_t contiguousRun(AffineMap map, RankedTensorType type, ArrayRef<unsigned> loops,
                      ArrayRef<int64_t> ranges) {
  int64_t run = 1;
  int64_t result = map.getNumResults() - 1;
  for (unsigned loop : llvm::reverse(loops)) {
    if (ranges[loop] == 1)
      continue;
    // Dimensions of extent 1 do not matter.
    while (result >= 0 && type.getDimSize(result) == 1)
      --result;
    if (result < 0)
      break;
    auto dim = dyn_cast<AffineDimExpr>(map.getResult(result));
    if (!dim || dim.getPosition() != loop || ShapedType::isDynamic(ranges[loop]) ||
        type.getDimSize(result) != ranges[loop])
      break;
    for (auto [other, expr] : llvm::enumerate(map.getResults()))
      if (static_cast<int64_t>(other) != result && expr.isFunctionOfDim(loop))
        return run;
    run *= ranges[loop];
    --result;
  }
  return run;
}

/// Elements that a thread copies at once at most, and the columns that it has beside one another.
constexpr int64_t kCopied = 8, kGroup = 4;

/// Elements that may be accessed at once along `loops`: a power of two of at most `most` elements
/// and 16 bytes.
int64_t vectorAlong(AffineMap map, RankedTensorType type, ArrayRef<unsigned> loops,
                    ArrayRef<int64_t> ranges, int64_t most) {
  unsigned bits = type.getElementTypeBitWidth();
  int64_t run = contiguousRun(map, type, loops, ranges), vector = bits < 8 ? 1 : 128 / bits;
  vector = std::min<int64_t>(vector, most);
  while (vector > 1 && run % vector != 0)
    vector /= 2;
  return vector;
}

struct Tile {
  int64_t rows, columns, depth, threadRows, threadColumns; // the last two: elements a thread
  int64_t threads() const { return rows / threadRows * (columns / threadColumns); }
};
constexpr Tile kTiles[] = {{128, 128, 16, 8, 8}, {128, 64, 16, 8, 8}, {64, 128, 16, 8, 8},
                           {64, 64, 16, 8, 8},   {32, 128, 16, 8, 8}, {32, 64, 16, 4, 8},
                           {64, 64, 16, 4, 4},   {32, 64, 16, 4, 4},  {64, 32, 16, 4, 4},
                           {16, 64, 16, 2, 4},   {32, 32, 16, 4, 4}};

/// Shared memory rows are this much longer than the tile, against bank conflicts of transposed
/// writes; a multiple of 16 bytes.
constexpr int64_t kSkew = 4;

/// Shared memory of a block in bytes: both operands' tiles in the sums' type, twice, so that one
/// pair is filled while the other is multiplied.
int64_t sharedBytes(int64_t rows, int64_t columns, int64_t depth, Type sumType) {
  return 2 * depth * (rows + kSkew + columns + kSkew) * sumType.getIntOrFloatBitWidth() / 8;
}

/// Offsets into an operand's memory as a sum over loops, each with the distance that a step of it
/// makes: so the part of each loop is computed where that loop's index is known.
class Offsets {
public:
  Offsets(Kernel &kernel, const Operand &operand)
      : kernel(kernel), operand(operand), distances(operand.map.getNumDims()) {
    SmallVector<Value> sizes = kernel.sizes(operand.source);
    Value stride = kernel.constant(1);
    constant = kernel.constant(0);
    for (size_t dim = sizes.size(); dim-- > 0;) {
      SmallVector<int64_t> flat;
      // Checked by matchProduct: without divisions, so that there is nothing but loops and a
      // constant.
      (void)getFlattenedAffineExpr(operand.map.getResult(dim), distances.size(), 0, &flat);
      for (size_t loop = 0; loop < distances.size(); ++loop)
        if (flat[loop] != 0) {
          Value part = kernel.mul(kernel.constant(flat[loop]), stride);
          distances[loop] = distances[loop] ? kernel.add(distances[loop], part) : part;
        }
      constant = kernel.add(constant, kernel.mul(kernel.constant(flat.back()), stride));
      if (Value amount = lowPad(dim))
        constant =
            kernel.b.createOrFold<arith::SubIOp>(kernel.loc, constant, kernel.mul(amount, stride));
      stride = kernel.mul(stride, sizes[dim]);
    }
  }

  /// Offset of loop indices 0.
  Value constantPart() const { return constant; }
  /// `sum` and the part of `loop` at `index`.
  Value add(Value sum, unsigned loop, Value index) const {
    return distances[loop] ? kernel.add(sum, kernel.mul(index, distances[loop])) : sum;
  }
  /// How far dimension `dim` of the memory begins behind that of the padded tensor; null where it
  /// is not padded.
  Value lowPad(size_t dim) const { return operand.pad ? kernel.lowPad(operand.pad, dim) : Value(); }

private:
  Kernel &kernel;
  const Operand &operand;
  SmallVector<Value> distances; // by loop; null: the loop does not move it
  Value constant;
};

class ContractionSchedule : public Schedule {
public:
  StringRef family() const override { return "contraction"; }

  bool isSupported(kernel::DispatchOp op, const Target &) const override {
    auto product = matchProduct(op);
    if (!product || product->sumType.isInteger(1))
      return false;
    // A handful of rows or columns would leave most of a tile idle.
    for (ArrayRef<unsigned> loops : {ArrayRef(product->rows), ArrayRef(product->columns)}) {
      int64_t extent = product->extent(loops);
      if (!ShapedType::isDynamic(extent) && extent < 8)
        return false;
    }
    int64_t depth = product->extent(product->depth);
    return ShapedType::isDynamic(depth) || depth >= 8;
  }

  DictionaryAttr choose(kernel::DispatchOp op, const Target &target) const override {
    Product product = *matchProduct(op);
    // Sizes known only at run time: a batch of eight beside other loops, at least `least` together.
    auto guess = [&](ArrayRef<unsigned> loops, double least) {
      double extent = 1;
      bool isKnown = true;
      for (unsigned loop : loops) {
        if (!ShapedType::isDynamic(product.ranges[loop]))
          extent *= product.ranges[loop];
        else
          isKnown = false;
      }
      return isKnown ? extent : std::max(8 * extent, least);
    };
    double rows = guess(product.rows, 512), columns = guess(product.columns, 512);
    double batch = guess(product.batch, 8);
    const Tile *best = nullptr;
    double bestCost = 0;
    for (const Tile &tile : kTiles) {
      if (sharedBytes(tile.rows, tile.columns, tile.depth, product.sumType) >
          int64_t(target.staticSharedPerBlock))
        continue; // the large ones, where elements have 64 bits
      // Time in units of multiply-adds: the blocks of the busiest multiprocessor, each tile's
      // operands read once from shared memory a step; fewer than eight warps leave it waiting.
      double blocks = std::ceil(rows / tile.rows) * std::ceil(columns / tile.columns) * batch;
      double blocksPerSm = std::ceil(blocks / target.board->sm_count);
      double warps = blocksPerSm * tile.threads() / 32;
      double work = double(tile.rows) * tile.columns;
      double reads = work * (1.0 / tile.threadRows + 1.0 / tile.threadColumns);
      double cost = blocksPerSm * (work + reads) * std::max(1.0, 8 / warps);
      if (!best || cost < bestCost)
        best = &tile, bestCost = cost;
    }
    Builder b(op.getContext());
    auto vector = [&](const Operand &operand, ArrayRef<unsigned> across) {
      auto type = cast<RankedTensorType>(operand.tensor.getType());
      int64_t alongDepth = vectorAlong(operand.map, type, product.depth, product.ranges, kCopied);
      int64_t alongAcross = vectorAlong(operand.map, type, across, product.ranges, kCopied);
      if (operand.pad) // inside and outside would mix
        alongDepth = alongAcross = 1;
      return SmallVector<int64_t>{alongAcross, alongDepth};
    };
    auto out = cast<RankedTensorType>(op.getResult(0).getType());
    int64_t store = vectorAlong(product.outMap, out, product.columns, product.ranges, kGroup);
    return b.getDictionaryAttr(
        {b.getNamedAttr("column_vector",
                        b.getDenseI64ArrayAttr(vector(product.column, product.columns))),
         b.getNamedAttr("row_vector", b.getDenseI64ArrayAttr(vector(product.row, product.rows))),
         b.getNamedAttr("store_vector", b.getI64IntegerAttr(store)),
         b.getNamedAttr("thread", b.getDenseI64ArrayAttr({best->threadRows, best->threadColumns})),
         b.getNamedAttr("tile", b.getDenseI64ArrayAttr({best->rows, best->columns, best->depth}))});
  }

  /// Constants: batch, then depth with channels (what a tile's depth divides) innermost, so that a
  /// step of depth stays within one tap of a window; then what goes across, so that tiles are
  /// copied as they are, 16 bytes at a time.
  SmallVector<unsigned> packing(kernel::DispatchOp op, unsigned input) const override {
    Product product = *matchProduct(op);
    for (bool isRow : {true, false}) {
      const Operand *operand = isRow ? &product.row : &product.column;
      ArrayRef<unsigned> across = isRow ? product.rows : product.columns;
      if (operand->source != op.getInputArgs()[input] || operand->pad ||
          !operand->map.isProjectedPermutation(/*allowZeroInResults=*/true))
        continue;
      auto rank = [&](unsigned dim) {
        auto expr = dyn_cast<AffineDimExpr>(operand->map.getResult(dim));
        if (!expr || llvm::is_contained(product.batch, expr.getPosition()))
          return 0;
        if (llvm::is_contained(across, expr.getPosition()))
          return 3;
        int64_t range = product.ranges[expr.getPosition()];
        return !ShapedType::isDynamic(range) && range % kTiles[0].depth == 0 ? 2 : 1;
      };
      auto order = llvm::to_vector(llvm::seq<unsigned>(0, operand->map.getNumResults()));
      llvm::sort(order, [&](unsigned a, unsigned b) {
        return std::pair(rank(a), a) < std::pair(rank(b), b);
      });
      return order;
    }
    return {};
  }

  LogicalResult verify(kernel::DispatchOp op, DictionaryAttr params,
                       const Target &target) const override {
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
    int64_t threads = tile[0] / thread[0] * (tile[1] / thread[1]);
    if (threads > target.maxThreadsPerBlock)
      return op.emitError() << "schedule 'contraction' asks for " << threads << " threads; "
                            << target.name << " allows " << target.maxThreadsPerBlock;
    Product product = *matchProduct(op);
    int64_t bytes = sharedBytes(tile[0], tile[1], tile[2], product.sumType);
    if (bytes > int64_t(target.staticSharedPerBlock))
      return op.emitError() << "schedule 'contraction' requires " << bytes
                            << " B of shared memory; " << target.name << " allows "
                            << target.staticSharedPerBlock << " B";
    DictionaryAttr known = choose(op, target);
    for (StringRef name : {"row_vector", "column_vector"}) {
      auto given = params.getAs<DenseI64ArrayAttr>(name);
      auto most = known.getAs<DenseI64ArrayAttr>(name);
      for (int i = 0; i < 2; ++i)
        if (given[i] < 1 || most[i] % given[i] != 0)
          return op.emitError() << "schedule 'contraction': " << name << " " << given[i]
                                << " is not possible; at most " << most[i];
    }
    if (*store < 1 || *intParam(known, "store_vector") % *store != 0)
      return op.emitError() << "schedule 'contraction': store_vector " << *store
                            << " is not possible; at most " << *intParam(known, "store_vector");
    return success();
  }

  LogicalResult emit(kernel::DispatchOp op, DictionaryAttr params,
                     KernelEmitter &emitter) const override {
    Product product = *matchProduct(op);
    auto shape = params.getAs<DenseI64ArrayAttr>("tile");
    auto thread = params.getAs<DenseI64ArrayAttr>("thread");
    Tile tile{shape[0], shape[1], shape[2], thread[0], thread[1]};
    OpBuilder host(op);
    Location loc = op.getLoc();
    // Blocks: batch * ceil(rows / tile) * ceil(columns / tile), from the result's sizes.
    auto count = [&](ArrayRef<unsigned> loops) -> Value {
      Value product_ = host.create<arith::ConstantIndexOp>(loc, 1);
      for (unsigned loop : loops)
        for (auto [dim, expr] : llvm::enumerate(product.outMap.getResults()))
          if (expr == getAffineDimExpr(loop, op.getContext()))
            product_ = host.createOrFold<arith::MulIOp>(
                loc, product_, host.createOrFold<tensor::DimOp>(loc, op.getInits()[0], dim));
      return product_;
    };
    auto blocksOf = [&](Value extent, int64_t size) {
      return host.createOrFold<arith::CeilDivSIOp>(loc, extent,
                                                   host.create<arith::ConstantIndexOp>(loc, size));
    };
    Value rowBlocks = blocksOf(count(product.rows), tile.rows);
    Value columnBlocks = blocksOf(count(product.columns), tile.columns);
    Value blocks = host.createOrFold<arith::MulIOp>(loc, rowBlocks, columnBlocks);
    blocks = host.createOrFold<arith::MulIOp>(loc, blocks, count(product.batch));
    Value one = host.create<arith::ConstantIndexOp>(loc, 1);
    auto launched =
        emitter.launch(op, "", tile.threads(), {blocks, one, one}, {0},
                       [&](Kernel &kernel) { return emitBody(kernel, product, tile, params); });
    if (failed(launched))
      return failure();
    op.replaceAllUsesWith(*launched);
    op.erase();
    return success();
  }

private:
  /// Copies a tile of an operand: `across` are its loops of rows or columns.
  static void copyOperand(Kernel &kernel, const Product &product, const Operand &operand,
                          ArrayRef<unsigned> across, Value acrossStart, Value depthStart,
                          int64_t acrossSize, int64_t depthSize, ArrayRef<int64_t> vector,
                          ArrayRef<Value> loops, ArrayRef<Value> extents, Value shared,
                          Value offset, int64_t stride, int64_t threads) {
    OpBuilder &b = kernel.b;
    Location loc = kernel.loc;
    auto type = cast<RankedTensorType>(operand.source.getType());
    Value zero = b.create<arith::ConstantOp>(loc, b.getZeroAttr(type.getElementType()));
    // Rows of the copied tile are depth, columns go across, unless depth is what is consecutive.
    bool alongRows = vector[0] == 1 && vector[1] > 1;
    int64_t width = alongRows ? vector[1] : vector[0];
    int64_t extent = alongRows ? depthSize : acrossSize;
    while (extent % width != 0)
      width /= 2;

    SmallVector<Value> place(loops); // where an element is, in loop indices
    for (Value &index : place)
      if (!index)
        index = kernel.constant(0);
    Value inside;
    auto require = [&](Value condition) {
      inside = inside ? b.create<arith::AndIOp>(loc, inside, condition).getResult() : condition;
    };
    auto sizesOf = [&](ArrayRef<unsigned> group) {
      SmallVector<Value> sizes;
      for (unsigned loop : group)
        sizes.push_back(extents[loop]);
      return sizes;
    };
    auto decode = [&](ArrayRef<unsigned> group, Value index) {
      for (auto [loop, value] : llvm::zip(group, kernel.delinearize(index, sizesOf(group))))
        place[loop] = value;
    };
    auto total = [&](ArrayRef<unsigned> group) {
      Value product = kernel.constant(1);
      for (Value size : sizesOf(group))
        product = kernel.mul(product, size);
      return product;
    };
    auto below = [&](Value index, Value bound) {
      return b.create<arith::CmpIOp>(loc, arith::CmpIPredicate::ult, index, bound);
    };
    // What does not change within the tile is computed before it: a step of depth that stays within
    // its innermost loop has one place in the others. Depth is always checked: the copy ahead of
    // the last step asks for what is past the end.
    std::optional<unsigned> innermost;
    for (unsigned loop : llvm::reverse(product.depth))
      if (!innermost && product.ranges[loop] != 1)
        innermost = loop;
    bool steady = innermost && !ShapedType::isDynamic(product.ranges[*innermost]) &&
                  product.ranges[*innermost] % depthSize == 0;
    if (steady) {
      require(below(depthStart, total(product.depth)));
      decode(product.depth, depthStart);
    }
    Offsets offsets(kernel, operand);
    Value fixed = offsets.constantPart();
    for (unsigned loop : product.batch)
      fixed = offsets.add(fixed, loop, place[loop]);
    if (steady)
      for (unsigned loop : product.depth)
        fixed = offsets.add(fixed, loop, place[loop]);

    auto copy = b.create<kernel::CopyTileOp>(loc, kernel.memory(operand.source), shared, offset,
                                             zero, depthSize, acrossSize, stride, 1, width,
                                             alongRows && width > 1, threads);
    OpBuilder::InsertionGuard guard(b);
    Block *body =
        b.createBlock(&copy.getBody(), {}, {b.getIndexType(), b.getIndexType()}, {loc, loc});
    Value localDepth = body->getArgument(0);
    Value index = kernel.add(acrossStart, body->getArgument(1));
    Value acrossTotal = total(across);
    if (auto known = getConstantIntValue(acrossTotal); !known || *known % acrossSize != 0)
      require(below(index, acrossTotal));
    decode(across, index);
    Value flat = kernel.constant(0);
    for (unsigned loop : across)
      flat = offsets.add(flat, loop, place[loop]);
    // The part of depth last: what goes across is the same in every step.
    flat = kernel.add(flat, fixed);
    if (steady) {
      flat = offsets.add(flat, *innermost, localDepth);
    } else {
      Value depth = kernel.add(depthStart, localDepth);
      require(below(depth, total(product.depth)));
      decode(product.depth, depth);
      for (unsigned loop : product.depth)
        flat = offsets.add(flat, loop, place[loop]);
    }
    if (tensor::PadOp pad = operand.pad) {
      if (steady)
        place[*innermost] = kernel.add(place[*innermost], localDepth);
      SmallVector<Value> indices = kernel.apply(operand.map, place);
      for (auto [dim, low] : llvm::enumerate(pad.getMixedLowPad()))
        if (Value amount = offsets.lowPad(dim))
          require(below(b.createOrFold<arith::SubIOp>(loc, indices[dim], amount),
                        kernel.size(operand.source, dim)));
    }
    if (!inside)
      inside = b.create<arith::ConstantOp>(loc, b.getBoolAttr(true));
    b.create<kernel::YieldOp>(loc, ValueRange{flat, inside});
  }

  static LogicalResult emitBody(Kernel &kernel, const Product &product, const Tile &tile,
                                DictionaryAttr params) {
    OpBuilder &b = kernel.b;
    Location loc = kernel.loc;
    SmallVector<Value> extents = kernel.loopSizes(product.generic);
    auto total = [&](ArrayRef<unsigned> loops) {
      Value result = kernel.constant(1);
      for (unsigned loop : loops)
        result = kernel.mul(result, extents[loop]);
      return result;
    };
    auto tilesOf = [&](Value extent, int64_t size) -> Value {
      if (auto known = getConstantIntValue(extent))
        return kernel.constant(llvm::divideCeil(*known, size));
      return b.create<arith::DivUIOp>(loc, kernel.add(extent, kernel.constant(size - 1)),
                                      kernel.constant(size));
    };
    Value rows = total(product.rows), columns = total(product.columns);
    Value depth = total(product.depth);
    Value columnTiles = tilesOf(columns, tile.columns), rowTiles = tilesOf(rows, tile.rows);
    SmallVector<Value> order{total(product.batch), rowTiles, columnTiles};
    SmallVector<Value> block = kernel.delinearize(kernel.blockId(), order);
    Value rowStart = kernel.mul(block[1], kernel.constant(tile.rows));
    Value columnStart = kernel.mul(block[2], kernel.constant(tile.columns));
    SmallVector<Value> loops(extents.size()), batchSizes;
    for (unsigned loop : product.batch)
      batchSizes.push_back(extents[loop]);
    for (auto [loop, value] : llvm::zip(product.batch, kernel.delinearize(block[0], batchSizes)))
      loops[loop] = value;

    Type sumType = product.sumType;
    int64_t rowStride = tile.rows + kSkew, columnStride = tile.columns + kSkew;
    Value rowShared = kernel.sharedMemory(2 * tile.depth * rowStride, sumType);
    Value columnShared = kernel.sharedMemory(2 * tile.depth * columnStride, sumType);
    auto rowVector = params.getAs<DenseI64ArrayAttr>("row_vector");
    auto columnVector = params.getAs<DenseI64ArrayAttr>("column_vector");
    auto fill = [&](Value step, Value buffer) {
      Value start = kernel.mul(step, kernel.constant(tile.depth));
      copyOperand(kernel, product, product.row, product.rows, rowStart, start, tile.rows,
                  tile.depth, rowVector, loops, extents, rowShared,
                  kernel.mul(buffer, kernel.constant(tile.depth * rowStride)), rowStride,
                  tile.threads());
      copyOperand(kernel, product, product.column, product.columns, columnStart, start,
                  tile.columns, tile.depth, columnVector, loops, extents, columnShared,
                  kernel.mul(buffer, kernel.constant(tile.depth * columnStride)), columnStride,
                  tile.threads());
    };
    auto layout = kernel::ThreadTileAttr::get(
        b.getContext(), tile.rows / tile.threadRows, tile.columns / tile.threadColumns,
        tile.threadRows, tile.threadColumns, tile.threadColumns % 8 == 0 ? 8 : 4);
    auto fragment =
        kernel::FragmentType::get(b.getContext(), tile.rows, tile.columns, sumType, layout);
    Value zero = b.create<arith::ConstantOp>(loc, b.getZeroAttr(sumType));
    Value sum = b.create<kernel::FillFragmentOp>(loc, fragment, zero);
    fill(kernel.constant(0), kernel.constant(0));
    Value steps = tilesOf(depth, tile.depth);
    auto loop = b.create<scf::ForOp>(loc, kernel.constant(0), steps, kernel.constant(1), sum);
    {
      OpBuilder::InsertionGuard guard(b);
      b.setInsertionPointToStart(loop.getBody());
      Value step = loop.getInductionVar();
      // All have filled this step's buffers and are done with the other ones.
      b.create<gpu::BarrierOp>(loc);
      Value next = b.create<arith::AddIOp>(loc, step, kernel.constant(1));
      Value buffer = b.create<arith::RemUIOp>(loc, step, kernel.constant(2));
      Value other = b.create<arith::SubIOp>(loc, kernel.constant(1), buffer);
      fill(next, other);
      Value result = b.create<kernel::ContractTileOp>(
          loc, fragment, rowShared, kernel.mul(buffer, kernel.constant(tile.depth * rowStride)),
          columnShared, kernel.mul(buffer, kernel.constant(tile.depth * columnStride)),
          loop.getRegionIterArgs()[0], tile.depth, rowStride, columnStride);
      b.create<scf::YieldOp>(loc, result);
    }

    auto store = b.create<kernel::StoreFragmentOp>(loc, loop.getResult(0),
                                                   kernel.memory(kernel.op.getInitArgs()[0]),
                                                   *intParam(params, "store_vector"));
    Block *body = b.createBlock(&store.getBody(), {}, {b.getIndexType(), b.getIndexType(), sumType},
                                {loc, loc, loc});
    Value row = kernel.add(rowStart, body->getArgument(0));
    Value column = kernel.add(columnStart, body->getArgument(1));
    auto below = [&](Value index, Value extent, int64_t size) -> Value {
      auto known = getConstantIntValue(extent);
      if (known && *known % size == 0)
        return b.create<arith::ConstantOp>(loc, b.getBoolAttr(true));
      return b.create<arith::CmpIOp>(loc, arith::CmpIPredicate::ult, index, extent);
    };
    Value inside = b.createOrFold<arith::AndIOp>(loc, below(row, rows, tile.rows),
                                                 below(column, columns, tile.columns));
    SmallVector<Value> place(loops);
    auto spread = [&](ArrayRef<unsigned> group, Value index) {
      SmallVector<Value> sizes;
      for (unsigned member : group)
        sizes.push_back(extents[member]);
      for (auto [member, value] : llvm::zip(group, kernel.delinearize(index, sizes)))
        place[member] = value;
    };
    spread(product.rows, row);
    spread(product.columns, column);
    SmallVector<Value> indices = kernel.apply(product.outMap, place);
    Value offset = kernel.linearize(indices, kernel.sizes(kernel.op.getInitArgs()[0]));
    // Operands of the elementwise part are read only inside.
    Value accumulated = body->getArgument(2);
    Value described = linalg::GenericOp(product.generic).getResult(0);
    kernel.keep(described, [accumulated](ValueRange) { return accumulated; });
    Value value;
    if (product.root == described) {
      value = accumulated;
    } else if (matchPattern(inside, m_One())) {
      value = kernel.element(product.root, indices);
    } else {
      Type type = cast<RankedTensorType>(product.root.getType()).getElementType();
      auto branch = b.create<scf::IfOp>(loc, TypeRange{type}, inside, true);
      OpBuilder::InsertionGuard guard(b);
      b.setInsertionPointToStart(branch.thenBlock());
      b.create<scf::YieldOp>(loc, kernel.element(product.root, indices));
      b.setInsertionPointToStart(branch.elseBlock());
      Value nothing = b.create<arith::ConstantOp>(loc, b.getZeroAttr(type));
      b.create<scf::YieldOp>(loc, nothing);
      value = branch.getResult(0);
    }
    b.create<kernel::YieldOp>(loc, ValueRange{value, offset, inside});
    return success();
  }
};

} // namespace

const Schedule *contractionSchedule() {
  static const ContractionSchedule schedule;
  return &schedule;
}

} // namespace cameo
