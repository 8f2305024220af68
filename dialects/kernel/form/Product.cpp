// Recognising products in descriptions.
//
// SPDX-License-Identifier: Apache-2.0
#include "dialects/kernel/form/Product.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/IR/Matchers.h"

using namespace mlir;

namespace cameo {

namespace {
/// An input of a body as it is multiplied.
struct Factor {
  Value element;
  bool isUnsigned; // extended by zeros
};
/// A body that is out + in0 * in1, fused for floats.
struct MultiplyAccumulate {
  Factor left, right;
};
} // namespace

/// What is behind widening casts; integers by one at most.
static Factor throughCasts(Value value) {
  while (auto cast = value.getDefiningOp<arith::ExtFOp>())
    value = cast.getIn();
  if (auto cast = value.getDefiningOp<arith::ExtSIOp>())
    return {cast.getIn(), false};
  if (auto cast = value.getDefiningOp<arith::ExtUIOp>())
    return {cast.getIn(), true};
  return {value, false};
}

static std::optional<MultiplyAccumulate> multiplyAccumulateOf(linalg::GenericOp generic) {
  if (generic.getNumDpsInputs() != 2 || generic.getNumDpsInits() != 1)
    return std::nullopt;
  Block *body = generic.getBody();
  Value left, right, sum, yielded = body->getTerminator()->getOperand(0);
  if (auto fma = yielded.getDefiningOp<math::FmaOp>()) {
    left = fma.getA(), right = fma.getB(), sum = fma.getC();
  } else if (auto add = yielded.getDefiningOp<arith::AddIOp>()) {
    auto product = add.getRhs().getDefiningOp<arith::MulIOp>();
    if (!product)
      return std::nullopt;
    left = product.getLhs(), right = product.getRhs(), sum = add.getLhs();
  } else {
    return std::nullopt;
  }
  MultiplyAccumulate found{throughCasts(left), throughCasts(right)};
  if (found.left.element != body->getArgument(0) || found.right.element != body->getArgument(1) ||
      sum != body->getArgument(2))
    return std::nullopt;
  return found;
}

static bool isZero(Value value) {
  return matchPattern(value, m_AnyZeroFloat()) || matchPattern(value, m_Zero());
}

static bool isPaddedByOther(Access access) {
  return access.pad && !isZero(access.pad.getConstantPaddingValue());
}

Value Operand::padding() const {
  tensor::PadOp op = pad;
  Value value = op ? op.getConstantPaddingValue() : Value();
  return value && !isZero(value) ? value : Value();
}

bool Product::fillsTiles() const {
  return !sumType.isInteger(1) &&
         llvm::all_of(ArrayRef{ArrayRef(rows), ArrayRef(columns), ArrayRef(depth)},
                      [&](ArrayRef<unsigned> loops) {
                        int64_t size = extent(loops);
                        return ShapedType::isDynamic(size) || size >= 8;
                      });
}

std::optional<Elementwise> Product::workOf(const Epilogue &epilogue) const {
  AffineMap place = simplifiedWithin(epilogue.place.compose(outMap), ranges);
  Access access{epilogue.value, {}, epilogue.value,
                place,          {}, getElementTypeOrSelf(epilogue.value)};
  SmallVector<Value> given{sums()};
  for (const RowStep &step : steps)
    given.push_back(step.value);
  return elementwiseOf(access, ranges, given);
}

bool Operand::findValue(ArrayRef<int64_t> ranges, ArrayRef<unsigned> depth) {
  Access access = *this;
  // As it is computed: what multiplies it widens it, be it a matrix instruction.
  access.elementType = getElementTypeOrSelf(source);
  std::optional<Elementwise> found = elementwiseOf(access, ranges, {}, /*mayGather=*/true);
  if (!found || found->reads.empty() || found->reads.size() > Product::kMostReads)
    return false;
  value = std::move(*found);
  return llvm::all_of(value.reads, [&](const Access &read) {
    return isLinear(read.place()) && (!read.index || llvm::none_of(depth, [&](unsigned loop) {
             return read.map.getResult(read.index->dim).isFunctionOfDim(loop);
           }));
  });
}

/// The index of a result's innermost dimension, of those that have neighbours; null: it has none.
static AffineExpr innermostIndex(AffineMap place, ArrayRef<int64_t> ranges) {
  for (AffineExpr expr : llvm::reverse(place.getResults()))
    for (unsigned loop = 0; loop < ranges.size(); ++loop)
      if (ranges[loop] != 1 && expr.isFunctionOfDim(loop))
        return expr;
  return {};
}

/// Has columns hold the innermost loop of what is stored, too, where results are in another order
/// than the product, so that threads write consecutive elements.
static void turnToResults(Product &product) {
  int64_t balance = 0; // bits that go along columns alone, less those that go along rows alone
  AffineExpr index;
  for (const Epilogue &epilogue : product.epilogues) {
    index = innermostIndex(epilogue.place.compose(product.outMap), product.ranges);
    auto goesAlong = [&](ArrayRef<unsigned> loops) {
      return index && llvm::any_of(loops, [&](unsigned loop) {
               return product.ranges[loop] != 1 && index.isFunctionOfDim(loop);
             });
    };
    int64_t bits = getElementTypeOrSelf(epilogue.value).getIntOrFloatBitWidth();
    balance += bits * (int(goesAlong(product.columns)) - int(goesAlong(product.rows)));
  }
  if (balance >= 0)
    return;
  std::swap(product.row, product.column);
  std::swap(product.rows, product.columns);
  product.depthOfColumn = !product.depthOfColumn;
  if (auto loop = dyn_cast_if_present<AffineDimExpr>(index)) {
    auto *innermost = llvm::find(product.columns, loop.getPosition());
    if (innermost != product.columns.end())
      std::rotate(innermost, innermost + 1, product.columns.end());
  }
}

static std::optional<Product> readProduct(const Computation &computation) {
  auto generic =
      computation.root ? computation.root.getDefiningOp<linalg::GenericOp>() : linalg::GenericOp();
  std::optional<Product> product =
      generic ? productOf(generic, /*mayBeVector=*/true) : std::nullopt;
  if (!product || !product->row.findValue(product->ranges, product->depth) ||
      !product->column.findValue(product->ranges, product->depth))
    return std::nullopt;
  product->epilogues = computation.epilogues;
  turnToResults(*product);
  return product;
}

const std::optional<Product> &matchProduct(const Computation &computation, bool mayBeVector) {
  static const std::optional<Product> none;
  if (!computation.product)
    computation.product = std::make_shared<const std::optional<Product>>(readProduct(computation));
  const std::optional<Product> &product = *computation.product;
  bool isVector = product && (product->rows.empty() || product->columns.empty());
  return isVector && !mayBeVector ? none : product;
}

void orderDepth(Product &product, AffineMap place) {
  auto placeOf = [&](unsigned loop) {
    for (auto [position, expr] : llvm::enumerate(place.getResults()))
      if (expr.isFunctionOfDim(loop))
        return position;
    return size_t(0); // of extent 1
  };
  llvm::sort(product.depth, [&](unsigned a, unsigned b) {
    return std::pair(placeOf(a), a) < std::pair(placeOf(b), b);
  });
}

namespace {

/// An operand of a product: where the product reads it, and where that is in memory.
struct Side {
  AffineMap elements;
  Access access;
  AffineMap place;
  SmallVector<unsigned> loops; // those that count its elements alone
};

Side sideOf(linalg::GenericOp generic, unsigned number, ArrayRef<int64_t> ranges) {
  MLIRContext *context = generic.getContext();
  SmallVector<AffineExpr> simple;
  for (auto [loop, range] : llvm::enumerate(ranges))
    simple.push_back(range == 1 ? getAffineConstantExpr(0, context)
                                : getAffineDimExpr(loop, context));
  OpOperand *operand = generic.getDpsInputOperand(number);
  AffineMap elements = generic.getMatchingIndexingMap(operand).replaceDimsAndSymbols(
      simple, {}, generic.getNumLoops(), 0);
  Access access = accessOf(operand->get(), elements, ranges);
  AffineMap place = access.place();
  return {elements, std::move(access), place, {}};
}

/// Whether tiles can have the operands' elements, in memory or padding.
bool canBeTiled(const Side &left, const Side &right, Type sumType) {
  // Padding stands behind the end of depth, too, where it meets the other operand's zeros. Of
  // floats it may be infinite.
  bool isPadded[] = {isPaddedByOther(left.access), isPaddedByOther(right.access)};
  return !(isPadded[0] && isPadded[1]) &&
         !((isPadded[0] || isPadded[1]) && isa<FloatType>(sumType)) && isLinear(left.place) &&
         isLinear(right.place);
}

/// Says of each loop what it counts.
void sortLoops(Product &product, Side &left, Side &right) {
  linalg::GenericOp generic = product.generic;
  auto iterators = generic.getIteratorTypesArray();
  for (unsigned loop = 0; loop < generic.getNumLoops(); ++loop) {
    bool inLeft = left.place.isFunctionOfDim(loop), inRight = right.place.isFunctionOfDim(loop);
    if (!inLeft && !inRight) { // repeats elements of the operand that it counts
      inLeft = left.elements.isFunctionOfDim(loop);
      inRight = right.elements.isFunctionOfDim(loop);
    }
    if (iterators[loop] == utils::IteratorType::reduction)
      product.depth.push_back(loop);
    else if (inLeft && inRight)
      product.batch.push_back(loop);
    else if (inLeft)
      left.loops.push_back(loop);
    else if (inRight)
      right.loops.push_back(loop);
    else
      product.batch.push_back(loop); // of extent 1, or broadcast
  }
}

/// Columns hold the result's innermost loop, so that threads write consecutive elements.
bool isLeftColumn(const Product &product, const Side &left, const Side &right) {
  bool leftIsColumn = false;
  for (AffineExpr expr : product.outMap.getResults()) {
    unsigned loop = cast<AffineDimExpr>(expr).getPosition();
    if (llvm::is_contained(left.loops, loop))
      leftIsColumn = true;
    else if (llvm::is_contained(right.loops, loop))
      leftIsColumn = false;
  }
  return leftIsColumn;
}

} // namespace

std::optional<Product> productOf(linalg::GenericOp generic, bool mayBeVector) {
  std::optional<MultiplyAccumulate> body = multiplyAccumulateOf(generic);
  if (!body)
    return std::nullopt;
  Product product;
  product.generic = generic;
  auto precision = declaredAttr<kernel::KernelDialect::PrecisionAttrHelper>(generic);
  product.mayRoundToTf32 = precision && precision.getValue() == kernel::kTf32;
  auto fill = generic.getDpsInitOperand(0)->get().getDefiningOp<linalg::FillOp>();
  if (!fill || !isZero(fill.getInputs()[0]))
    return std::nullopt;
  product.sumType = cast<RankedTensorType>(generic.getResult(0).getType()).getElementType();
  product.ranges = generic.getStaticLoopRanges();
  Side left = sideOf(generic, 0, product.ranges), right = sideOf(generic, 1, product.ranges);
  if (!canBeTiled(left, right, product.sumType))
    return std::nullopt;
  product.outMap = generic.getMatchingIndexingMap(generic.getDpsInitOperand(0));
  sortLoops(product, left, right);
  if (mayBeVector ? left.loops.empty() && right.loops.empty()
                  : left.loops.empty() || right.loops.empty())
    return std::nullopt;
  bool leftIsColumn = isLeftColumn(product, left, right);
  // Depth runs as an operand's memory does, best one that no window slides over: then its elements
  // are consecutive along depth, and it is what packing decides (PackWeights.cpp).
  bool isRight = right.place.isProjectedPermutation(/*allowZeroInResults=*/true);
  product.depthOfColumn = isRight != leftIsColumn;
  orderDepth(product, isRight ? right.place : left.place);
  Operand leftOperand{left.access, {}, body->left.isUnsigned};
  Operand rightOperand{right.access, {}, body->right.isUnsigned};
  product.row = leftIsColumn ? rightOperand : leftOperand;
  product.column = leftIsColumn ? leftOperand : rightOperand;
  product.rows = leftIsColumn ? right.loops : left.loops;
  product.columns = leftIsColumn ? left.loops : right.loops;
  return product;
}

} // namespace cameo
