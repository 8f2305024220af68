// See ProductSchedule.h.
//
// SPDX-License-Identifier: Apache-2.0
#include "codegen/schedule/ProductSchedule.h"

#include "codegen/schedule/Epilogues.h"
#include "dialects/kernel/form/Runs.h"
#include "runtime/mutant.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"

using namespace mlir;

namespace cameo {

double likelyExtent(const Product &product, ArrayRef<unsigned> loops, double least) {
  double extent = 1;
  bool isKnown = true;
  for (unsigned loop : loops) {
    if (!ShapedType::isDynamic(product.ranges[loop]))
      extent *= double(product.ranges[loop]);
    else
      isKnown = false;
  }
  return isKnown ? extent : std::max(8 * extent, least);
}

/// Instructions of a body, roughly.
static double instructionsOf(linalg::GenericOp generic) {
  double count = 0;
  for (Operation &op : generic.getBody()->without_terminator())
    count += isa<math::FmaOp>(op)                      ? 1
             : isa<math::MathDialect>(op.getDialect()) ? 12
             : isa<arith::DivFOp>(op)                  ? 8
                                                       : 1;
  return count;
}

static double instructionsOf(const std::optional<Elementwise> &work) {
  double count = 0;
  for (const Elementwise::Term &term : work ? ArrayRef(work->terms) : ArrayRef<Elementwise::Term>())
    if (term.kind == Elementwise::Term::Kind::Computed)
      count += instructionsOf(cast<linalg::GenericOp>(term.value.getDefiningOp()));
  return count;
}

RowWork rowWork(const Product &product) {
  // Of an element: its sum, what is computed of it, and one value more on the way; where it is in
  // the tile and in memory.
  constexpr double kKept = 3, kPlaces = 4;
  RowWork work;
  if (product.steps.empty())
    return work;
  work.columns = product.extent(product.columns);
  work.registers = kKept;
  work.operations = kPlaces;
  for (const RowStep &step : product.steps) {
    bool isOfElements = step.reduction || llvm::any_of(product.columns, [&](unsigned loop) {
                          return step.place.isFunctionOfDim(loop);
                        });
    if (step.reduction)
      work.operations += instructionsOf(step.reduction);
    for (const std::optional<Elementwise> &elements : step.works) {
      work.operations += isOfElements ? instructionsOf(elements) : 0; // else once a row
      for (const Access &read : elements ? ArrayRef(elements->reads) : ArrayRef<Access>())
        work.registers += getElementTypeOrSelf(read.source).getIntOrFloatBitWidth() / 32.0;
    }
  }
  for (const Epilogue &epilogue : product.epilogues)
    work.operations += instructionsOf(product.workOf(epilogue));
  return work;
}

IndexBytes indexBytes(const Product &product) {
  auto of = [](const Operand &operand) {
    return 8 * llvm::count_if(operand.value.reads,
                              [](const Access &read) { return read.index != nullptr; });
  };
  return {of(product.row), of(product.column)};
}

/// The part of the product's elements that a result has: of products that were merged, each is in one of
/// the results.
static double shareOf(const Product &product, const Epilogue &epilogue) {
  ArrayRef<int64_t> sizes = cast<RankedTensorType>(product.sums().getType()).getShape();
  double share = 1;
  for (const Bound &bound : epilogue.bounds) {
    double extent = 1;
    for (auto [dim, size] : llvm::enumerate(sizes))
      if (bound.at.isFunctionOfDim(dim))
        extent *= double(ShapedType::isDynamic(size) ? bound.size : size);
    share *= std::min(1.0, double(bound.size) / extent);
  }
  return share;
}

double resultBytes(const Product &product) {
  double bytes = 0;
  for (const Epilogue &epilogue : product.epilogues)
    bytes += shareOf(product, epilogue) *
             getElementTypeOrSelf(epilogue.value).getIntOrFloatBitWidth() / 8.0;
  return bytes;
}

double accessesOfResults(const Product &product) {
  double count = 0;
  for (const Epilogue &epilogue : product.epilogues) {
    double own = 1;
    if (std::optional<Elementwise> work = product.workOf(epilogue))
      own += double(llvm::count_if(work->reads, [&](const Access &read) {
        auto changes = [&](ArrayRef<unsigned> loops) {
          return llvm::any_of(loops, [&](unsigned loop) { return read.map.isFunctionOfDim(loop); });
        };
        return changes(product.rows) && changes(product.columns);
      }));
    count += shareOf(product, epilogue) * own;
  }
  return count;
}

/// Bytes of the inputs that are operands, or of the others, and of what is stored.
static double movedBytes(kernel::DispatchOp op, const Product &product, bool ofOperands) {
  double rows = likelyExtent(product, product.rows, 512),
         columns = likelyExtent(product, product.columns, 512),
         batch = likelyExtent(product, product.batch, 8),
         depth = likelyExtent(product, product.depth, 512);
  double elements = batch * rows * columns;
  double bytes = ofOperands ? 0 : elements * resultBytes(product);
  auto isRead = [](const Operand &operand, Value argument) {
    return llvm::any_of(operand.value.reads,
                        [&](const Access &read) { return read.source == argument; });
  };
  for (Value argument : op.getInputArgs()) {
    auto type = cast<RankedTensorType>(argument.getType());
    bool ofRow = isRead(product.row, argument), ofColumn = isRead(product.column, argument);
    if ((ofRow || ofColumn) != ofOperands)
      continue;
    double asked = ofRow ? batch * rows * depth : ofColumn ? batch * columns * depth : elements;
    // Windows and broadcasts read elements several times, slices not all of them; what is gathered
    // is taken for as many elements as it would have in memory of its own.
    bool isGathered =
        (ofRow && product.row.isGathered()) || (ofColumn && product.column.isGathered());
    if (type.hasStaticShape() && !isGathered)
      asked = std::min(asked, double(type.getNumElements()));
    bytes += asked * type.getElementTypeBitWidth() / 8;
  }
  return bytes;
}

double operandBytes(kernel::DispatchOp op, const Product &product) {
  return movedBytes(op, product, /*ofOperands=*/true);
}

double productBytes(kernel::DispatchOp op, const Product &product) {
  return operandBytes(op, product) + movedBytes(op, product, /*ofOperands=*/false);
}

bool isOfEachElement(const Product &product, const Access &read, bool isRow) {
  AffineMap place = read.place();
  auto moves = [&](unsigned loop) {
    return product.ranges[loop] == 1 || place.isFunctionOfDim(loop);
  };
  return llvm::all_of(product.depth, moves) &&
         llvm::all_of(isRow ? product.rows : product.columns, moves);
}

unsigned streamedBits(const Product &product, bool isRow) {
  unsigned streamed = 0, any = 0;
  for (const Access &read : (isRow ? product.row : product.column).value.reads) {
    unsigned bits = getElementTypeOrSelf(read.source).getIntOrFloatBitWidth();
    any = std::max(any, bits);
    if (isOfEachElement(product, read, isRow))
      streamed = std::max(streamed, bits);
  }
  unsigned bits = streamed ? streamed : any;
  return bits == 1 ? 8 : bits;
}

/// Elements that memory, padded or not, has together along these loops: of padded memory only along
/// those along which all of them are padding, or none.
static int64_t vectorInMemory(const Product &product, const Access &read, ArrayRef<unsigned> loops,
                              int64_t most) {
  auto type = cast<RankedTensorType>(read.source.getType());
  tensor::PadOp pad = read.pad;
  if (!pad)
    return vectorAlong(read.place(), type, loops, product.ranges, most);
  SmallVector<AffineExpr> shifted;
  size_t first = 0; // of the innermost loops along which padding does not change
  for (auto [expr, low, high] :
       llvm::zip(read.map.getResults(), pad.getMixedLowPad(), pad.getMixedHighPad())) {
    std::optional<int64_t> begin = getConstantIntValue(low);
    if (!begin)
      return 1;
    shifted.push_back(expr - *begin);
    for (size_t i = 0; i < loops.size(); ++i)
      if (expr.isFunctionOfDim(loops[i]) && !(begin == 0 && isConstantIntValue(high, 0)))
        first = std::max(first, i + 1);
  }
  AffineMap place = read.beneath.compose(
      AffineMap::get(read.map.getNumDims(), 0, shifted, read.map.getContext()));
  return vectorAlong(place, type, loops.drop_front(first), product.ranges, most);
}

int64_t vectorOfWindow(const Product &product, ArrayRef<unsigned> loops, int64_t most) {
  bool isRow = product.depthOfColumn;
  int64_t vector = 1;
  for (const Access &read : (isRow ? product.row : product.column).value.reads)
    if (isOfEachElement(product, read, isRow))
      vector = std::max(vector, vectorInMemory(product, read, loops, most));
  return vector;
}

std::pair<AffineMap, RankedTensorType> placeAsPacked(const Access &read,
                                                     ArrayRef<DimOrder> packed) {
  AffineMap place = read.place();
  auto type = cast<RankedTensorType>(read.source.getType());
  auto argument = dyn_cast<BlockArgument>(read.source);
  if (!argument || argument.getArgNumber() >= packed.size() ||
      packed[argument.getArgNumber()].empty())
    return {place, type};
  ArrayRef<unsigned> order = packed[argument.getArgNumber()];
  SmallVector<AffineExpr> results;
  for (unsigned dim : order)
    results.push_back(place.getResult(dim));
  return {AffineMap::get(place.getNumDims(), 0, results, place.getContext()),
          permuted(type, order)};
}

int64_t copyVector(kernel::DispatchOp op, const Product &product, bool isRow,
                   ArrayRef<unsigned> loops, int64_t most, ArrayRef<DimOrder> packed) {
  const Operand &operand = isRow ? product.row : product.column;
  ArrayRef<unsigned> across = isRow ? product.rows : product.columns;
  if (operand.pad) // of what is computed, too, inside and outside would mix
    return operand.value.isMemory()
               ? std::min(vectorInMemory(product, operand.value.reads.front(), loops, most),
                          operandLayout(op, operand.value.reads.front().source).alignment)
               : 1;
  auto moves = [&](const Access &read, ArrayRef<unsigned> along) {
    return ShapedType::isDynamic(sameAlong(read.place(), along, product.ranges)) ? 0 : 1;
  };
  bool hasWhole = llvm::any_of(operand.value.reads, [&](const Access &read) {
    return isOfEachElement(product, read, isRow);
  });
  int best = 0;
  int64_t vector = 1;
  for (const Access &read : operand.value.reads) {
    int dimensions = moves(read, across) + moves(read, product.depth);
    if (dimensions < best)
      continue;
    auto [place, type] = placeAsPacked(read, packed);
    int64_t mine = std::min(vectorAlong(place, type, loops, product.ranges, most),
                            operandLayout(op, read.source).alignment);
    // Weights are loaded at once though neighbours have a scale in common.
    if (hasWhole && !isOfEachElement(product, read, isRow)) {
      int64_t same = sameAlong(place, loops, product.ranges);
      mine = ShapedType::isDynamic(same)
                 ? most
                 : std::max<int64_t>(mine, llvm::bit_floor<uint64_t>(std::gcd(same, most)));
    }
    vector =
        dimensions > best || &read == operand.value.reads.begin() ? mine : std::min(vector, mine);
    best = dimensions;
  }
  return vector;
}

int64_t nearestAlong(const Product &product, const Access &read, ArrayRef<unsigned> loops,
                     ArrayRef<DimOrder> packed) {
  auto [place, type] = placeAsPacked(read, packed);
  SmallVector<int64_t> distances(product.ranges.size());
  int64_t stride = 1;
  for (int64_t dim = type.getRank(); dim-- > 0;) {
    SmallVector<int64_t> factors = *factorsOf(place, dim);
    for (auto [loop, distance] : llvm::enumerate(distances))
      distance += factors[loop] * stride;
    if (type.isDynamicDim(dim))
      break;
    stride *= type.getDimSize(dim);
  }
  int64_t nearest = 0;
  for (unsigned loop : loops)
    if (int64_t distance = std::abs(distances[loop]); product.ranges[loop] != 1 && distance != 0)
      nearest = nearest == 0 ? distance : std::min(nearest, distance);
  return nearest;
}

void orderDepthAsPacked(Product &product, ArrayRef<DimOrder> packed) {
  const Operand &operand = product.depthOfColumn ? product.column : product.row;
  for (const Access &read : operand.value.reads) {
    AffineMap place = placeAsPacked(read, packed).first;
    bool isWhole = operand.value.isMemory() ||
                   (isOfEachElement(product, read, /*isRow=*/!product.depthOfColumn) &&
                    place.isProjectedPermutation(/*allowZeroInResults=*/true));
    if (isWhole)
      return orderDepth(product, place);
  }
}

bool hasEqualElements(const Operand &operand) {
  return llvm::all_of(operand.value.reads,
                      [](const Access &read) { return read.place().getNumResults() == 0; });
}

/// Whether neighbours in the memory of an operand are neighbours along this loop. One of equal elements
/// is in no memory.
static bool isInnermost(const Operand &operand, AffineExpr loop) {
  if (CAMEO_MUTANT(47, hasEqualElements(operand), false))
    return false;
  const Access &read = operand.value.reads.front();
  return read.place().getResult(laneDimension(cast<RankedTensorType>(read.source.getType()))) ==
         loop;
}

/// Of what a computed operand reads, see the header.
static SmallVector<unsigned> computedPacking(kernel::DispatchOp op, const Product &product,
                                             bool isRow, const Access &read) {
  ArrayRef<unsigned> across = isRow ? product.rows : product.columns;
  AffineMap place = read.place();
  auto movesAlong = [&](ArrayRef<unsigned> loops) {
    return llvm::any_of(loops, [&](unsigned loop) {
      return product.ranges[loop] != 1 && place.isFunctionOfDim(loop);
    });
  };
  if (!place.isProjectedPermutation(/*allowZeroInResults=*/true) || !movesAlong(across) ||
      !movesAlong(product.depth))
    return {};
  // Whole vectors of the operand's own elements decide, for its scales, too.
  constexpr int64_t kVector = 16;
  int64_t deep = product.extent(product.depth), wide = product.extent(across);
  if (ShapedType::isDynamic(deep) || ShapedType::isDynamic(wide) ||
      std::gcd(deep, kVector) < std::gcd(wide, kVector) ||
      (streamedBits(product, isRow) >= 16 && std::gcd(deep, kVector) == std::gcd(wide, kVector)))
    return {};
  // Dimensions of one element stay among those of depth: what is computed of weights and scales
  // has the order of both.
  auto rank = [&](unsigned dim) {
    auto expr = dyn_cast<AffineDimExpr>(place.getResult(dim));
    if (!expr || llvm::is_contained(product.depth, expr.getPosition()))
      return 2;
    return llvm::is_contained(product.batch, expr.getPosition()) ? 0 : 1;
  };
  auto order = llvm::to_vector(llvm::seq<unsigned>(0, place.getNumResults()));
  llvm::sort(order,
             [&](unsigned a, unsigned b) { return std::pair(rank(a), a) < std::pair(rank(b), b); });
  return order;
}

/// Whether an operand, a constant, has more elements in an access of 16 bytes with this dimension of
/// depth innermost than with what goes across.
static bool isWiderAlongDepth(const Product &product, ArrayRef<unsigned> across,
                              const Operand &operand, unsigned dim) {
  constexpr int64_t kAccess = 16, kShort = 32; // bytes; of lines that are hardly worth it
  auto type = cast<RankedTensorType>(operand.source.getType());
  int64_t bytes = llvm::divideCeil(type.getElementTypeBitWidth(), 8), deep = type.getDimSize(dim);
  int64_t wide = product.extent(across);
  if (ShapedType::isDynamic(wide) ||
      (deep * bytes < kShort && deep != product.extent(product.depth)))
    return false;
  return std::gcd(deep * bytes, kAccess) > std::gcd(wide * bytes, kAccess);
}

SmallVector<unsigned> productPacking(kernel::DispatchOp op, const Product &product, unsigned input,
                                     int64_t depth, bool depthInnermost) {
  for (bool isRow : {true, false}) {
    const Operand &operand = isRow ? product.row : product.column;
    for (const Access &read : operand.value.reads)
      if (!operand.value.isMemory() && read.source == op.getInputArgs()[input])
        return operand.pad ? SmallVector<unsigned>() : computedPacking(op, product, isRow, read);
  }
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
        return 4;
      if (isInnermost(isRow ? product.column : product.row, expr))
        return 3;
      int64_t range = product.ranges[expr.getPosition()];
      return !ShapedType::isDynamic(range) && range % depth == 0 ? 2 : 1;
    };
    // Of what goes across depth, the innermost loop last.
    auto place = [&](unsigned dim) {
      if (rank(dim) != 4)
        return dim;
      auto loop = cast<AffineDimExpr>(operand->map.getResult(dim)).getPosition();
      return unsigned(llvm::find(across, loop) - across.begin());
    };
    auto order = llvm::to_vector(llvm::seq<unsigned>(0, operand->map.getNumResults()));
    llvm::sort(order, [&](unsigned a, unsigned b) {
      return std::pair(rank(a), place(a)) < std::pair(rank(b), place(b));
    });
    auto isDepth = [&](unsigned dim) { return rank(dim) >= 1 && rank(dim) <= 3; };
    auto innermost = llvm::find_if(llvm::reverse(order), isDepth);
    if (innermost != order.rend() &&
        (depthInnermost || isWiderAlongDepth(product, across, *operand, *innermost)))
      std::rotate(std::prev(innermost.base()), innermost.base(), order.end());
    return order;
  }
  return {};
}

Value productBlocks(OpBuilder &host, KernelEmitter &emitter, kernel::DispatchOp op,
                    const Product &product, int64_t tileRows, int64_t tileColumns) {
  Location loc = op.getLoc();
  SmallVector<Value> sizes = gridSizesOfRoot(host, emitter, op, product.epilogues.front(),
                                             linalg::GenericOp(product.generic).getResult(0));
  auto count = [&](ArrayRef<unsigned> loops) -> Value {
    Value all = host.create<arith::ConstantIndexOp>(loc, 1);
    for (unsigned loop : loops)
      for (auto [dim, expr] : llvm::enumerate(product.outMap.getResults()))
        if (expr == getAffineDimExpr(loop, op.getContext()))
          all = host.createOrFold<arith::MulIOp>(loc, all, sizes[dim]);
    return all;
  };
  auto blocksOf = [&](Value extent, int64_t size) {
    return host.createOrFold<arith::CeilDivSIOp>(loc, extent,
                                                 host.create<arith::ConstantIndexOp>(loc, size));
  };
  Value rowBlocks = blocksOf(count(product.rows), tileRows);
  Value columnBlocks = blocksOf(count(product.columns), tileColumns);
  Value blocks = host.createOrFold<arith::MulIOp>(loc, rowBlocks, columnBlocks);
  return host.createOrFold<arith::MulIOp>(loc, blocks, count(product.batch));
}

} // namespace cameo
