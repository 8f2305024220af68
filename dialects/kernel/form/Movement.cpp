// Reading movement.
//
// SPDX-License-Identifier: Apache-2.0
#include "dialects/kernel/form/Movement.h"

#include "mlir/Analysis/FlatLinearValueConstraints.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/IR/Matchers.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"
#include "llvm/ADT/SetVector.h"

using namespace mlir;

namespace cameo {

static ArrayRef<int64_t> shapeOf(Value tensor) {
  return cast<RankedTensorType>(tensor.getType()).getShape();
}

//===-- Maps ----------------------------------------------------------------------------------===//

static std::optional<SmallVector<int64_t>> factorsOf(AffineExpr expr, unsigned dims) {
  SmallVector<int64_t> flat; // dimensions, a constant, and a place more for every division
  if (failed(getFlattenedAffineExpr(expr, dims, 0, &flat)) || flat.size() != dims + 1)
    return std::nullopt;
  return flat;
}

static NumberDigit numberDigitOf(AffineExpr expr) {
  NumberDigit whole{expr, 1, 0, 1};
  auto binary = dyn_cast<AffineBinaryOpExpr>(expr);
  auto by = binary ? dyn_cast<AffineConstantExpr>(binary.getRHS()) : AffineConstantExpr();
  if (!by || by.getValue() <= 0)
    return whole;
  NumberDigit digit = numberDigitOf(binary.getLHS());
  int64_t value = by.getValue();
  bool isMultiple = digit.modulus % value == 0;
  if (expr.getKind() == AffineExprKind::Mul)
    return {digit.number, digit.divisor, digit.modulus, digit.factor * value};
  if (digit.factor != 1 || !isMultiple)
    return whole;
  if (expr.getKind() == AffineExprKind::Mod)
    return {digit.number, digit.divisor, value, 1};
  return {digit.number, digit.divisor * value, digit.modulus / value, 1};
}

SmallVector<NumberDigit> digitsOf(AffineExpr expr) {
  SmallVector<NumberDigit> digits;
  SmallVector<AffineExpr> terms{expr};
  while (!terms.empty()) {
    AffineExpr term = terms.pop_back_val();
    auto binary = dyn_cast<AffineBinaryOpExpr>(term);
    if (binary && binary.getKind() == AffineExprKind::Add)
      terms.append({binary.getLHS(), binary.getRHS()});
    else
      digits.push_back(numberDigitOf(term));
  }
  return digits;
}

/// Puts together what is added up of one number's digits that follow one another.
static AffineExpr withJoinedDigits(AffineExpr expr) {
  SmallVector<NumberDigit> digits = digitsOf(expr);
  for (bool changed = true; changed;) {
    changed = false;
    for (NumberDigit &low : digits)
      for (NumberDigit &high : digits)
        if (!changed && low.number == high.number && low.modulus != 0 &&
            high.divisor == low.divisor * low.modulus && high.factor == low.factor * low.modulus) {
          low.modulus *= high.modulus;
          digits.erase(&high);
          changed = true;
          break;
        }
  }
  AffineExpr sum = getAffineConstantExpr(0, expr.getContext());
  for (const NumberDigit &digit : digits)
    sum = sum + digit.expr();
  return sum;
}

AffineMap withJoinedDigits(AffineMap map, ArrayRef<int64_t> extents) {
  SmallVector<AffineExpr> results;
  for (AffineExpr expr : map.getResults())
    results.push_back(withJoinedDigits(expr));
  return simplifiedWithin(
      AffineMap::get(map.getNumDims(), map.getNumSymbols(), results, map.getContext()), extents);
}

std::optional<SmallVector<int64_t>> factorsOf(AffineMap map, unsigned result) {
  return factorsOf(map.getResult(result), map.getNumDims());
}

bool isLinear(AffineMap map) {
  for (unsigned i = 0; i < map.getNumResults(); ++i)
    if (!factorsOf(map, i))
      return false;
  return true;
}

static int64_t floorOf(int64_t a, int64_t b) { return (a - (a % b + b) % b) / b; }

/// `expr` divided by `divisor`, or what remains, where the part of it that `divisor` does not
/// divide stays below it.
static AffineExpr divided(AffineExpr expr, int64_t divisor, bool quotient,
                          ArrayRef<int64_t> extents) {
  std::optional<SmallVector<int64_t>> factors = factorsOf(expr, extents.size());
  if (!factors)
    return {};
  MLIRContext *context = expr.getContext();
  int64_t whole = floorOf(factors->back(), divisor), least = factors->back() - whole * divisor;
  int64_t most = least;
  AffineExpr left = getAffineConstantExpr(whole, context);
  AffineExpr rest = getAffineConstantExpr(least, context);
  for (auto [dim, extent] : llvm::enumerate(extents)) {
    int64_t factor = (*factors)[dim];
    if (factor % divisor == 0) {
      left = left + getAffineDimExpr(dim, context) * (factor / divisor);
      continue;
    }
    if (factor < 0 || ShapedType::isDynamic(extent))
      return {};
    most += factor * (extent - 1);
    rest = rest + getAffineDimExpr(dim, context) * factor;
  }
  return most < divisor ? (quotient ? left : rest) : AffineExpr();
}

static AffineExpr simplifiedWithin(AffineExpr expr, ArrayRef<int64_t> extents) {
  auto binary = dyn_cast<AffineBinaryOpExpr>(expr);
  if (!binary)
    return expr;
  AffineExpr left = simplifiedWithin(binary.getLHS(), extents);
  AffineExpr right = simplifiedWithin(binary.getRHS(), extents);
  auto divisor = dyn_cast<AffineConstantExpr>(right);
  bool quotient = expr.getKind() == AffineExprKind::FloorDiv;
  if (divisor && divisor.getValue() > 0 && (quotient || expr.getKind() == AffineExprKind::Mod))
    if (AffineExpr simple = divided(left, divisor.getValue(), quotient, extents))
      return simple;
  return getAffineBinaryOpExpr(expr.getKind(), left, right);
}

AffineMap simplifiedWithin(AffineMap map, ArrayRef<int64_t> extents) {
  MLIRContext *context = map.getContext();
  SmallVector<AffineExpr> simple, results;
  for (auto [dim, extent] : llvm::enumerate(extents))
    simple.push_back(extent == 1 ? getAffineConstantExpr(0, context)
                                 : getAffineDimExpr(dim, context));
  for (AffineExpr expr : map.getResults()) {
    AffineExpr result = simplifiedWithin(expr.replaceDims(simple), extents);
    // Sums in one order; divisions that stay as they are, which solving a map knows.
    AffineExpr sum = simplifyAffineExpr(result, map.getNumDims(), 0);
    results.push_back(factorsOf(sum, map.getNumDims()) ? sum : result);
  }
  return AffineMap::get(map.getNumDims(), 0, results, context);
}

//===-- Operations ----------------------------------------------------------------------------===//

AffineMap loopsOfResult(linalg::GenericOp generic, unsigned result) {
  AffineMap map = generic.getMatchingIndexingMap(generic.getDpsInitOperand(result));
  return generic.getNumReductionLoops() == 0 && map.isPermutation() ? inversePermutation(map)
                                                                    : AffineMap();
}

/// An index that a body computes, as an expression of the loops; null where it is not one.
static AffineExpr indexExpr(Value value, linalg::GenericOp generic) {
  MLIRContext *context = value.getContext();
  if (auto index = value.getDefiningOp<linalg::IndexOp>())
    return getAffineDimExpr(index.getDim(), context);
  APInt number;
  if (matchPattern(value, m_ConstantInt(&number)))
    return getAffineConstantExpr(number.getSExtValue(), context);
  Operation *op = value.getDefiningOp();
  if (!isa_and_present<arith::AddIOp, arith::SubIOp, arith::MulIOp>(op))
    return {};
  AffineExpr left = indexExpr(op->getOperand(0), generic);
  AffineExpr right = indexExpr(op->getOperand(1), generic);
  if (!left || !right)
    return {};
  if (isa<arith::MulIOp>(op))
    return left.isSymbolicOrConstant() || right.isSymbolicOrConstant() ? left * right
                                                                       : AffineExpr();
  return isa<arith::AddIOp>(op) ? left + right : left - right;
}

AffineMap extractedAt(linalg::GenericOp generic, tensor::ExtractOp extract) {
  if (llvm::any_of(generic.getStaticLoopRanges(), ShapedType::isDynamic))
    return {};
  SmallVector<AffineExpr> exprs;
  for (Value index : extract.getIndices()) {
    exprs.push_back(indexExpr(index, generic));
    if (!exprs.back())
      return {};
  }
  return AffineMap::get(generic.getNumLoops(), 0, exprs, generic.getContext());
}

static std::optional<Read> movementOf(linalg::GenericOp generic, unsigned result) {
  AffineMap loops = loopsOfResult(generic, result);
  if (!loops)
    return std::nullopt;
  Value value = generic.getBody()->getTerminator()->getOperand(result);
  while (auto cast = value.getDefiningOp<arith::ExtFOp>())
    value = cast.getIn();
  if (auto extract = value.getDefiningOp<tensor::ExtractOp>()) {
    AffineMap at = extractedAt(generic, extract);
    return at ? std::optional(Read{extract.getTensor(), at.compose(loops)}) : std::nullopt;
  }
  auto argument = dyn_cast<BlockArgument>(value);
  if (!argument || argument.getOwner() != generic.getBody() ||
      argument.getArgNumber() >= generic.getNumDpsInputs())
    return std::nullopt;
  OpOperand *input = generic.getDpsInputOperand(argument.getArgNumber());
  if (!isa<RankedTensorType>(input->get().getType()))
    return std::nullopt;
  return Read{input->get(), generic.getMatchingIndexingMap(input).compose(loops)};
}

/// Several dimensions as one: its index of theirs, which are sums, and theirs of its.
static std::optional<Read> movementOf(Value from, Value to, ArrayRef<ReassociationIndices> groups,
                                      bool expands) {
  MLIRContext *context = from.getContext();
  ArrayRef<int64_t> parts = expands ? shapeOf(to) : shapeOf(from);
  // A single value has no groups: the dimensions that it comes of have one element.
  SmallVector<AffineExpr> results(shapeOf(from).size(), getAffineConstantExpr(0, context));
  for (auto [number, group] : llvm::enumerate(groups)) {
    AffineExpr sum = getAffineConstantExpr(0, context);
    AffineExpr one = getAffineDimExpr(number, context);
    int64_t stride = 1;
    // Where there is nothing, any place is right.
    if (llvm::any_of(group, [&](int64_t part) { return parts[part] == 0; }))
      continue;
    // Those of extent 1 take no part, beside whatever sizes.
    const int64_t *first = llvm::find_if(group, [&](int64_t part) { return parts[part] != 1; });
    for (int64_t part : llvm::reverse(group)) {
      if (parts[part] == 1)
        continue;
      if (ShapedType::isDynamic(stride))
        return std::nullopt;
      sum = sum + getAffineDimExpr(part, context) * stride;
      if (!expands)
        results[part] = part == *first                       ? one.floorDiv(stride)
                        : ShapedType::isDynamic(parts[part]) ? one
                                                             : one.floorDiv(stride) % parts[part];
      stride = ShapedType::isDynamic(parts[part]) ? ShapedType::kDynamic : stride * parts[part];
    }
    if (expands)
      results[number] = sum;
  }
  return Read{from, AffineMap::get(shapeOf(to).size(), 0, results, context)};
}

AffineMap reshapedTo(Operation *op) {
  std::optional<Read> back;
  if (auto expand = dyn_cast<tensor::ExpandShapeOp>(op))
    back = movementOf(expand.getResult(), expand.getSrc(), expand.getReassociationIndices(), false);
  else if (auto collapse = dyn_cast<tensor::CollapseShapeOp>(op))
    back = movementOf(collapse.getResult(), collapse.getSrc(), collapse.getReassociationIndices(),
                      true);
  return back ? back->map : AffineMap();
}

/// Whether the slice has all of a dimension: then its size need not be known.
static bool isWhole(tensor::ExtractSliceOp slice, int64_t dim) {
  auto size = dyn_cast<Value>(slice.getMixedSizes()[dim]);
  auto of = size ? size.getDefiningOp<tensor::DimOp>() : tensor::DimOp();
  return of && of.getSource() == slice.getSource() && of.getConstantIndex() == dim &&
         slice.getStaticOffsets()[dim] == 0 && slice.getStaticStrides()[dim] == 1;
}

static std::optional<Read> movementOf(tensor::ExtractSliceOp slice) {
  MLIRContext *context = slice.getContext();
  llvm::SmallBitVector dropped = slice.getDroppedDims();
  SmallVector<AffineExpr> results;
  unsigned next = 0;
  for (unsigned dim = 0; dim < shapeOf(slice.getSource()).size(); ++dim) {
    int64_t offset = slice.getStaticOffsets()[dim], stride = slice.getStaticStrides()[dim];
    if (ShapedType::isDynamic(offset) || ShapedType::isDynamic(stride) ||
        (ShapedType::isDynamic(slice.getStaticSizes()[dim]) && !isWhole(slice, dim)))
      return std::nullopt;
    AffineExpr index =
        dropped.test(dim) ? getAffineConstantExpr(0, context) : getAffineDimExpr(next++, context);
    results.push_back(index * stride + offset);
  }
  return Read{slice.getSource(), AffineMap::get(next, 0, results, context)};
}

std::optional<Read> movement(OpResult result) {
  Operation *op = result.getOwner();
  if (auto generic = dyn_cast<linalg::GenericOp>(op))
    return movementOf(generic, result.getResultNumber());
  if (auto cast = dyn_cast<tensor::CastOp>(op)) {
    auto rank = shapeOf(cast.getSource()).size();
    return Read{cast.getSource(), AffineMap::getMultiDimIdentityMap(rank, op->getContext())};
  }
  if (auto expand = dyn_cast<tensor::ExpandShapeOp>(op))
    return movementOf(expand.getSrc(), result, expand.getReassociationIndices(), true);
  if (auto collapse = dyn_cast<tensor::CollapseShapeOp>(op))
    return movementOf(collapse.getSrc(), result, collapse.getReassociationIndices(), false);
  if (auto slice = dyn_cast<tensor::ExtractSliceOp>(op))
    return movementOf(slice);
  return std::nullopt;
}

/// The sum of the loops that an index in a body depends on; null where it depends on more than these,
/// memory and scalars.
static AffineExpr loopsBehind(Value index, linalg::GenericOp generic) {
  llvm::SmallSetVector<unsigned, 4> loops;
  llvm::SetVector<Operation *> needed;
  auto take = [&](Value value) {
    auto argument = dyn_cast<BlockArgument>(value);
    if (Operation *op = value.getDefiningOp(); op && op->getBlock() == generic.getBody())
      needed.insert(op);
    return !argument || argument.getOwner() != generic.getBody();
  };
  if (!take(index))
    return {};
  for (size_t i = 0; i < needed.size(); ++i) {
    Operation *op = needed[i];
    if (auto loop = dyn_cast<linalg::IndexOp>(op))
      loops.insert(loop.getDim());
    if (op->getNumRegions() != 0 || !isMemoryEffectFree(op) ||
        !llvm::all_of(op->getOperands(), take))
      return {};
  }
  AffineExpr sum = getAffineConstantExpr(0, generic.getContext());
  for (unsigned loop : loops)
    sum = sum + getAffineDimExpr(loop, generic.getContext());
  return sum;
}

std::optional<Gathered> gathered(OpResult result) {
  auto generic = dyn_cast<linalg::GenericOp>(result.getOwner());
  AffineMap loops = generic ? loopsOfResult(generic, result.getResultNumber()) : AffineMap();
  if (!loops)
    return std::nullopt;
  Value value = generic.getBody()->getTerminator()->getOperand(result.getResultNumber());
  auto extract = value.getDefiningOp<tensor::ExtractOp>();
  if (!extract || extract->getBlock() != generic.getBody())
    return std::nullopt;
  std::optional<ReadIndex> found;
  SmallVector<AffineExpr> exprs;
  for (auto [dim, index] : llvm::enumerate(extract.getIndices())) {
    exprs.push_back(indexExpr(index, generic));
    if (exprs.back())
      continue;
    exprs.back() = loopsBehind(index, generic);
    if (found || !exprs.back())
      return std::nullopt;
    found = ReadIndex{generic, index, loops, unsigned(dim)};
  }
  ArrayRef<int64_t> shape = shapeOf(extract.getTensor());
  if (!found ||
      llvm::all_of(shape.drop_front(found->dim + 1), [](int64_t size) { return size == 1; }))
    return std::nullopt;
  AffineMap map = AffineMap::get(generic.getNumLoops(), 0, exprs, generic.getContext());
  return Gathered{extract.getTensor(), map.compose(loops), *found};
}

void follow(Access &access, ArrayRef<int64_t> extents, ArrayRef<Value> ends) {
  if (access.pad)
    extents = shapeOf(access.pad.getSource());
  while (!llvm::is_contained(ends, access.source)) {
    auto result = dyn_cast<OpResult>(access.source);
    std::optional<Read> read = result ? movement(result) : std::nullopt;
    if (!read)
      return;
    AffineMap &so_far = access.pad ? access.beneath : access.map;
    so_far = simplifiedWithin(read->map.compose(so_far), extents);
    access.source = read->tensor;
    if (!access.pad)
      access.tensor = read->tensor;
  }
}

Access accessOf(Value tensor, AffineMap map, ArrayRef<int64_t> extents) {
  Access access{tensor, {}, tensor, map, {}, getElementTypeOrSelf(tensor)};
  follow(access, extents);
  auto pad = access.source.getDefiningOp<tensor::PadOp>();
  if (!pad || !pad.getConstantPaddingValue())
    return access;
  access.tensor = pad;
  access.pad = pad;
  access.source = pad.getSource();
  access.beneath =
      AffineMap::getMultiDimIdentityMap(shapeOf(pad.getSource()).size(), tensor.getContext());
  follow(access, extents);
  return access;
}

} // namespace cameo
