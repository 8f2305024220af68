// See ProductSchedule.h.
//
// SPDX-License-Identifier: Apache-2.0
#include "codegen/schedule/ProductSchedule.h"

#include "codegen/schedule/Epilogues.h"
#include "dialects/kernel/form/Runs.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
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

/// Of memory that is padded: only loops along which all of them are padding, or none.
static int64_t paddedVector(kernel::DispatchOp op, const Product &product, const Access &read,
                            ArrayRef<unsigned> loops, int64_t most) {
  tensor::PadOp pad = read.pad;
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
  auto type = cast<RankedTensorType>(read.source.getType());
  return std::min(vectorAlong(place, type, loops.drop_front(first), product.ranges, most),
                  operandLayout(op, read.source).alignment);
}

int64_t copyVector(kernel::DispatchOp op, const Product &product, bool isRow,
                   ArrayRef<unsigned> loops, int64_t most) {
  const Operand &operand = isRow ? product.row : product.column;
  ArrayRef<unsigned> across = isRow ? product.rows : product.columns;
  if (operand.pad) // of what is computed, too, inside and outside would mix
    return operand.value.isMemory()
               ? paddedVector(op, product, operand.value.reads.front(), loops, most)
               : 1;
  auto moves = [&](const Access &read, ArrayRef<unsigned> along) {
    return ShapedType::isDynamic(sameAlong(read.place(), along, product.ranges)) ? 0 : 1;
  };
  int best = 0;
  int64_t vector = 1;
  for (const Access &read : operand.value.reads) {
    int dimensions = moves(read, across) + moves(read, product.depth);
    if (dimensions < best)
      continue;
    auto type = cast<RankedTensorType>(read.source.getType());
    int64_t mine = std::min(vectorAlong(read.place(), type, loops, product.ranges, most),
                            operandLayout(op, read.source).alignment);
    vector =
        dimensions > best || &read == operand.value.reads.begin() ? mine : std::min(vector, mine);
    best = dimensions;
  }
  return vector;
}

/// Whether neighbours in the memory of an operand are neighbours along this loop.
static bool isInnermost(const Operand &operand, AffineExpr loop) {
  const Access &read = operand.value.reads.front();
  return read.place().getResult(laneDimension(cast<RankedTensorType>(read.source.getType()))) ==
         loop;
}

SmallVector<unsigned> productPacking(kernel::DispatchOp op, const Product &product, unsigned input,
                                     int64_t depth, bool depthInnermost) {
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
      bool isWhole = !ShapedType::isDynamic(range) && range % depth == 0;
      return isWhole || isInnermost(isRow ? product.column : product.row, expr) ? 2 : 1;
    };
    auto order = llvm::to_vector(llvm::seq<unsigned>(0, operand->map.getNumResults()));
    llvm::sort(order, [&](unsigned a, unsigned b) {
      return std::pair(rank(a), a) < std::pair(rank(b), b);
    });
    auto isDepth = [&](unsigned dim) { return rank(dim) == 1 || rank(dim) == 2; };
    auto innermost = llvm::find_if(llvm::reverse(order), isDepth);
    if (depthInnermost && innermost != order.rend())
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
