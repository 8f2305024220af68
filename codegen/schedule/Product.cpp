// Recognising products in descriptions.
//
// SPDX-License-Identifier: Apache-2.0
#include "codegen/schedule/Product.h"

#include "mlir/Analysis/FlatLinearValueConstraints.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/IR/Matchers.h"

using namespace mlir;

namespace cameo {

/// The input argument behind widening casts, if `value` is one.
static BlockArgument throughCasts(Value value) {
  while (auto cast = value.getDefiningOp<arith::ExtFOp>())
    value = cast.getIn();
  return dyn_cast<BlockArgument>(value);
}

/// Whether the body is out + in0 * in1, fused for floats.
static bool isMultiplyAccumulate(linalg::GenericOp generic) {
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

static bool isZero(Value value) {
  return matchPattern(value, m_AnyZeroFloat()) || matchPattern(value, m_Zero());
}

static std::optional<Operand> matchOperand(Value tensor, AffineMap map) {
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
    return matchOperand(generic.getDpsInputOperand(number)->get(), map);
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

} // namespace cameo
