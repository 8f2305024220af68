// What the expansions of tile operations share: arithmetic on thread numbers that is emitted once,
// and values of one or more elements.
//
// SPDX-License-Identifier: Apache-2.0
#include "codegen/lower/tile/TileExpander.h"
#include "codegen/lower/DevicePatterns.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"

using namespace mlir;
using namespace cameo;
using kernel::FragmentType;
using kernel::Spread;

//===-- Index arithmetic --------------------------------------------------------------------===//

TileExpander::TileExpander(gpu::GPUFuncOp function, int64_t threads)
    : function(function), threads(threads), entry(function.getContext()) {
  entry.setInsertionPointToStart(&function.getBody().front());
}

static constexpr auto kNoWrap = arith::IntegerOverflowFlags::nsw | arith::IntegerOverflowFlags::nuw;

static arith::IntegerOverflowFlagsAttr noWrap(OpBuilder &builder) {
  return arith::IntegerOverflowFlagsAttr::get(builder.getContext(), kNoWrap);
}

Value TileExpander::constant(int64_t value) {
  Value &known = constants[value];
  if (!known)
    known = entry.create<arith::ConstantIndexOp>(function.getLoc(), value);
  return known;
}

Value TileExpander::add(OpBuilder &builder, Location loc, Value a, Value b) {
  if (isConstantIntValue(a, 0))
    return b;
  if (isConstantIntValue(b, 0))
    return a;
  std::optional<int64_t> x = getConstantIntValue(a), y = getConstantIntValue(b);
  if (x && y)
    return constant(*x + *y);
  return builder.create<arith::AddIOp>(loc, a, b, noWrap(builder));
}

Value TileExpander::mul(OpBuilder &builder, Location loc, Value a, int64_t b) {
  if (std::optional<int64_t> x = getConstantIntValue(a))
    return constant(*x * b);
  if (b == 0 || b == 1)
    return b == 0 ? constant(0) : a;
  return builder.create<arith::MulIOp>(loc, a, constant(b), noWrap(builder));
}

Value TileExpander::divide(OpBuilder &builder, Location loc, Value a, int64_t b) {
  if (std::optional<int64_t> x = getConstantIntValue(a))
    return constant(*x / b);
  return b == 1 ? a : builder.create<arith::DivUIOp>(loc, a, constant(b));
}

Value TileExpander::remainder(OpBuilder &builder, Location loc, Value a, int64_t b) {
  if (std::optional<int64_t> x = getConstantIntValue(a))
    return constant(*x % b);
  return b == 1 ? constant(0) : builder.create<arith::RemUIOp>(loc, a, constant(b));
}

Value TileExpander::atThread(AffineExpr expr) {
  if (auto known = dyn_cast<AffineConstantExpr>(expr))
    return constant(known.getValue());
  if (Value known = threadValues.lookup(expr))
    return known;
  Location loc = function.getLoc();
  Value value;
  if (isa<AffineDimExpr>(expr)) {
    value = entry.create<gpu::ThreadIdOp>(loc, gpu::Dimension::x);
  } else {
    auto binary = cast<AffineBinaryOpExpr>(expr);
    Value left = atThread(binary.getLHS());
    auto number = dyn_cast<AffineConstantExpr>(binary.getRHS());
    int64_t by = number ? number.getValue() : 0;
    bool isSmall = isa<AffineDimExpr>(binary.getLHS()) && by >= threads;
    switch (expr.getKind()) {
    case AffineExprKind::Mul:
      value = mul(entry, loc, left, by);
      break;
    case AffineExprKind::FloorDiv:
      value = isSmall ? constant(0) : divide(entry, loc, left, by);
      break;
    case AffineExprKind::Mod:
      value = isSmall ? left : remainder(entry, loc, left, by);
      break;
    default:
      value = add(entry, loc, left, atThread(binary.getRHS()));
    }
  }
  return threadValues[expr] = value;
}

Value TileExpander::holds(const kernel::Place &place) {
  if (place.holders >= threads)
    return {};
  Value &known = holders[place.holders];
  if (!known) {
    Value thread = atThread(getAffineDimExpr(0, function.getContext()));
    known = entry.create<arith::CmpIOp>(function.getLoc(), arith::CmpIPredicate::ult, thread,
                                        constant(place.holders));
  }
  return known;
}

//===-- Fragments ---------------------------------------------------------------------------===//

const Spread &TileExpander::spreadOf(FragmentType type) {
  std::unique_ptr<Spread> &known = spreads[type];
  if (!known)
    known = std::make_unique<Spread>(type.getSpread());
  return *known;
}

FailureOr<const Spread *> TileExpander::spreadOf(Operation *op, FragmentType type) {
  const Spread &spread = spreadOf(type);
  if (spread.threads != threads)
    return op->emitOpError() << "has a fragment over " << spread.threads
                             << " threads; the kernel's block has " << threads;
  return &spread;
}

Type TileExpander::valueType(FragmentType type) {
  int64_t width = spreadOf(type).width;
  return width == 1 ? type.getElementType() : VectorType::get(width, type.getElementType());
}

//===-- Values ------------------------------------------------------------------------------===//

int64_t cameo::bytesOf(Type element) {
  return llvm::divideCeil(element.getIntOrFloatBitWidth(), 8);
}

int64_t cameo::accessAlignment(int64_t divisor, Type element) {
  int64_t bytes = bytesOf(element);
  if (divisor == 0)
    return kPointerAlignment;
  int64_t bits = element.isInteger(1) ? 8 : element.getIntOrFloatBitWidth();
  int64_t alignment = bits * (divisor & -divisor) / 8;
  return std::max(bytes, std::min(alignment, kPointerAlignment));
}

Value cameo::elementOf(OpBuilder &builder, Location loc, Value value, int64_t i) {
  return isa<VectorType>(value.getType()) ? builder.createOrFold<vector::ExtractOp>(loc, value, i)
                                          : value;
}

Value cameo::joinElements(OpBuilder &builder, Location loc, ArrayRef<Value> elements) {
  if (elements.size() == 1)
    return elements[0];
  auto type = VectorType::get(elements.size(), elements[0].getType());
  Value all = builder.create<vector::BroadcastOp>(loc, type, elements[0]);
  for (size_t i = 1; i < elements.size(); ++i)
    all = builder.create<vector::InsertOp>(loc, elements[i], all, i);
  return all;
}

Value cameo::splat(OpBuilder &builder, Location loc, Type type, Value value) {
  return type == value.getType() ? value
                                 : builder.createOrFold<vector::BroadcastOp>(loc, type, value);
}

Value cameo::loadElements(OpBuilder &builder, Location loc, Value memory, Value offset,
                          int64_t count, int64_t alignment) {
  if (count == 1)
    return builder.create<memref::LoadOp>(loc, memory, offset);
  Type element = cast<MemRefType>(memory.getType()).getElementType();
  auto load = builder.create<vector::LoadOp>(loc, VectorType::get(count, element), memory, offset);
  load->setAttr(kAlignmentAttr, builder.getI64IntegerAttr(alignment));
  return load;
}

void cameo::storeElements(OpBuilder &builder, Location loc, Value values, Value memory,
                          Value offset, int64_t alignment) {
  if (!isa<VectorType>(values.getType())) {
    builder.create<memref::StoreOp>(loc, values, memory, offset);
    return;
  }
  auto store = builder.create<vector::StoreOp>(loc, values, memory, offset);
  store->setAttr(kAlignmentAttr, builder.getI64IntegerAttr(alignment));
}
