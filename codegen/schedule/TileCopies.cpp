// Measuring copies of tiles.
//
// SPDX-License-Identifier: Apache-2.0
#include "codegen/schedule/TileCopies.h"

#include "dialects/kernel/form/Runs.h"
#include "dialects/rt/Layout.h"

#include "mlir/Dialect/Utils/StaticValueUtils.h"

using namespace mlir;

namespace cameo {

/// Whether indices along the loop may be padding for some elements and not for others.
static bool goesIntoPadding(const Access &read, unsigned loop) {
  tensor::PadOp pad = read.pad;
  if (!pad)
    return false;
  for (auto [expr, low, high] :
       llvm::zip(read.map.getResults(), pad.getMixedLowPad(), pad.getMixedHighPad()))
    if (expr.isFunctionOfDim(loop) && !(isConstantIntValue(low, 0) && isConstantIntValue(high, 0)))
      return true;
  return false;
}

/// As AccessPattern takes what is known only at run time.
static double sizeOf(const Product &product, ArrayRef<unsigned> loops) {
  double size = 1;
  for (unsigned loop : loops)
    size *= ShapedType::isDynamic(product.ranges[loop]) ? kUnknownSize : product.ranges[loop];
  return size;
}

namespace {

/// One thing that an operand reads, stored in one order.
class Stored {
public:
  Stored(const Product &product, const Access &read, ArrayRef<unsigned> order)
      : product(product), read(read), distances(product.ranges.size()) {
    auto given = cast<RankedTensorType>(read.source.getType());
    SmallVector<double> strides = stridesIn(given, order);
    AffineMap map = read.place();
    SmallVector<AffineExpr> results;
    for (int64_t position = 0; position < given.getRank(); ++position) {
      unsigned dim = order.empty() ? position : order[position];
      results.push_back(map.getResult(dim));
      // Of products, places are sums over loops.
      SmallVector<int64_t> factors = *factorsOf(map, dim);
      for (auto [loop, distance] : llvm::enumerate(distances))
        distance += std::abs(double(factors[loop])) * strides[dim];
    }
    place = AffineMap::get(map.getNumDims(), 0, results, map.getContext());
    type = permuted(given, order);
  }

  /// Between neighbours along the one of the loops where they are nearest.
  double nearest(ArrayRef<unsigned> loops) const {
    double least = 0;
    for (unsigned loop : loops)
      if (moves(loop) && (least == 0 || distances[loop] < least))
        least = distances[loop];
    return least;
  }

  /// Loops go through what is stored as it is stored, which is what packing weights comes to.
  int64_t vector(ArrayRef<unsigned> loops, int64_t most) const {
    SmallVector<unsigned> sorted;
    for (unsigned loop : loops)
      if (moves(loop))
        sorted.push_back(loop);
    llvm::sort(sorted, [&](unsigned a, unsigned b) {
      return std::pair(-distances[a], a) < std::pair(-distances[b], b);
    });
    auto good = llvm::find_if(llvm::reverse(sorted),
                              [&](unsigned loop) { return goesIntoPadding(read, loop); });
    return vectorAlong(place, type, ArrayRef(sorted).take_back(good - sorted.rbegin()),
                       product.ranges, most);
  }

private:
  bool moves(unsigned loop) const { return product.ranges[loop] != 1 && distances[loop] != 0; }

  const Product &product;
  const Access &read;
  SmallVector<double> distances; // by loop
  AffineMap place;
  RankedTensorType type;
};

} // namespace

SmallVector<TileCopy> tileCopies(kernel::DispatchOp op, const Product &product,
                                 OperandOrders orders, int64_t rows, int64_t columns,
                                 int64_t most) {
  SmallVector<TileCopy> copies;
  for (bool isRow : {true, false}) {
    const Operand &operand = isRow ? product.row : product.column;
    ArrayRef<unsigned> across = isRow ? product.rows : product.columns;
    double times = sizeOf(product, isRow ? product.columns : product.rows);
    times = std::max(1.0, times / (isRow ? columns : rows));
    auto loops = llvm::to_vector(across);
    llvm::append_range(loops, product.depth);
    for (const Access &read : operand.value.reads) {
      unsigned input = cast<BlockArgument>(read.source).getArgNumber();
      if (rt::constantOf(op.getInputs()[input]))
        continue;
      Stored stored(product, read, orders[input]);
      int64_t bytes =
          std::max<int64_t>(getElementTypeOrSelf(read.source).getIntOrFloatBitWidth() / 8, 1);
      auto vector = [&](ArrayRef<unsigned> along) {
        return operand.pad && !operand.value.isMemory()
                   ? 1
                   : stored.vector(along, std::max<int64_t>(most / bytes, 1));
      };
      TileCopy &copy = copies.emplace_back();
      copy.input = input;
      copy.isRow = isRow;
      copy.distance = stored.nearest(loops);
      copy.across = vector(across), copy.depth = vector(product.depth);
      copy.elements = sizeOf(product, product.batch) * sizeOf(product, loops) * times;
    }
  }
  return copies;
}

bool goesAlongRows(const Product &product, const AccessPattern &pattern, OperandOrders orders) {
  std::optional<unsigned> innermost = pattern.innermost(orders);
  for (auto [dim, expr] : llvm::enumerate(product.outMap.getResults()))
    if (innermost && sameDimension(product.epilogues.front(), dim) == innermost)
      return llvm::is_contained(product.rows, cast<AffineDimExpr>(expr).getPosition());
  return false;
}

llvm::BitVector inputsOfOperands(kernel::DispatchOp op, const Product &product) {
  llvm::BitVector inputs(op.getInputs().size() + op.getNumResults());
  for (const Operand *operand : {&product.row, &product.column})
    for (const Access &read : operand->value.reads)
      inputs.set(cast<BlockArgument>(read.source).getArgNumber());
  return inputs;
}

} // namespace cameo
