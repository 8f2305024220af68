// What the expansions of tile operations share: index arithmetic that is emitted once, what is
// known of alignment, and element regions.
//
// SPDX-License-Identifier: Apache-2.0
#include "codegen/lower/TileExpander.h"
#include "codegen/lower/DevicePatterns.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"

#include <numeric>

using namespace mlir;
using namespace cameo;

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

Value TileExpander::thread() {
  if (!threadId)
    threadId = entry.create<gpu::ThreadIdOp>(function.getLoc(), gpu::Dimension::x);
  return threadId;
}

Value TileExpander::threadQuotient(int64_t divisor, int64_t factor) {
  if (divisor >= threads)
    return constant(0);
  if (Value known = quotients.lookup({divisor, factor}))
    return known;
  Value value = factor == 1 ? divide(entry, function.getLoc(), thread(), divisor)
                            : mul(entry, function.getLoc(), threadQuotient(divisor, 1), factor);
  return quotients[{divisor, factor}] = value;
}

Value TileExpander::threadRemainder(int64_t divisor, int64_t factor) {
  // Threads are fewer than `threads`.
  if (divisor > threads)
    divisor = threads;
  if (Value known = remainders.lookup({divisor, factor}))
    return known;
  Value value;
  if (factor != 1)
    value = mul(entry, function.getLoc(), threadRemainder(divisor, 1), factor);
  else
    value = divisor == threads ? thread() : remainder(entry, function.getLoc(), thread(), divisor);
  return remainders[{divisor, factor}] = value;
}

//===-- Alignment ---------------------------------------------------------------------------===//

int64_t cameo::knownDivisor(Value value) {
  if (std::optional<int64_t> known = getConstantIntValue(value))
    return std::abs(*known);
  if (auto argument = dyn_cast<BlockArgument>(value)) {
    auto loop = dyn_cast_or_null<scf::ForOp>(argument.getOwner()->getParentOp());
    if (loop && argument == loop.getInductionVar())
      return std::gcd(knownDivisor(loop.getLowerBound()), knownDivisor(loop.getStep()));
    return 1;
  }
  Operation *op = value.getDefiningOp();
  if (isa<arith::AddIOp, arith::SubIOp, arith::RemUIOp, arith::RemSIOp>(op))
    return std::gcd(knownDivisor(op->getOperand(0)), knownDivisor(op->getOperand(1)));
  if (isa<arith::SelectOp>(op))
    return std::gcd(knownDivisor(op->getOperand(1)), knownDivisor(op->getOperand(2)));
  if (isa<arith::MulIOp>(op)) {
    int64_t a = knownDivisor(op->getOperand(0)), b = knownDivisor(op->getOperand(1)), product;
    return llvm::MulOverflow(a, b, product) ? 1 : product;
  }
  return 1;
}

int64_t cameo::bytesOf(Type element) {
  if (element.isIndex())
    return 8;
  return llvm::divideCeil(element.getIntOrFloatBitWidth(), 8);
}

int64_t cameo::accessAlignment(int64_t divisor, Type element) {
  int64_t bytes = bytesOf(element);
  if (divisor == 0)
    return kPointerAlignment;
  int64_t alignment = bytes * (divisor & -divisor);
  return std::max(bytes, std::min(alignment, kPointerAlignment));
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

Value cameo::joinElements(OpBuilder &builder, Location loc, ArrayRef<Value> elements) {
  if (elements.size() == 1)
    return elements[0];
  auto type = VectorType::get(elements.size(), elements[0].getType());
  Value all = builder.create<vector::BroadcastOp>(loc, type, elements[0]);
  for (size_t i = 1; i < elements.size(); ++i)
    all = builder.create<vector::InsertOp>(loc, elements[i], all, i);
  return all;
}

//===-- Sources -------------------------------------------------------------------------------===//

SourceGroup::SourceGroup(ValueRange memories, ArrayRef<int64_t> widths, int64_t vector) {
  unsigned first = 0;
  for (auto [memory, width] : llvm::zip(memories, widths)) {
    Type element = cast<MemRefType>(memory.getType()).getElementType();
    int64_t pieces = width == 0 ? 1 : vector / width;
    sources.push_back({memory, element, width, pieces, first});
    first += pieces;
  }
}

SmallVector<Type> SourceGroup::types() const {
  SmallVector<Type> types;
  for (const Source &source : sources)
    types.append(source.pieces, source.width <= 1
                                    ? source.element
                                    : Type(VectorType::get(source.width, source.element)));
  return types;
}

SmallVector<Value>
SourceGroup::load(OpBuilder &builder, Location loc,
                  function_ref<Value(unsigned source, int64_t element)> offset) const {
  SmallVector<Value> loaded;
  for (auto [number, source] : llvm::enumerate(sources)) {
    int64_t width = std::max<int64_t>(source.width, 1);
    for (int64_t piece = 0; piece < source.pieces; ++piece)
      loaded.push_back(loadElements(builder, loc, source.memory, offset(number, piece * width),
                                    width, accessAlignment(width, source.element)));
  }
  return loaded;
}

Value SourceGroup::element(OpBuilder &builder, Location loc, ArrayRef<Value> loaded,
                           unsigned number, int64_t element) const {
  const Source &source = sources[number];
  if (source.width <= 1)
    return loaded[source.first + element * source.width];
  return builder.create<vector::ExtractOp>(loc, loaded[source.first + element / source.width],
                                           element % source.width);
}

int64_t SourceGroup::loads() const {
  int64_t count = 0;
  for (const Source &source : sources)
    count += source.width == 0 ? 0 : source.pieces;
  return count;
}

//===-- Element regions ---------------------------------------------------------------------===//

/// The operation of `body` that `value` comes from, if any.
static Operation *definingOpIn(Block &body, Value value) {
  Operation *op = value.getDefiningOp();
  return op ? body.findAncestorOpInBlock(*op) : nullptr;
}

ElementRegion::ElementRegion(Block &body, unsigned condition, unsigned loaded) : body(body) {
  llvm::SmallVector<Operation *> work;
  auto take = [&](Value value) {
    if (Operation *op = definingOpIn(body, value))
      if (conditionSlice.insert(op).second)
        work.push_back(op);
  };
  take(body.getTerminator()->getOperand(condition));
  while (!work.empty())
    work.pop_back_val()->walk([&](Operation *op) { llvm::for_each(op->getOperands(), take); });

  for (Operation &op : body.without_terminator()) {
    bool depends = false;
    op.walk([&](Operation *inner) {
      for (Value operand : inner->getOperands()) {
        if (Operation *from = definingOpIn(body, operand))
          depends |= from != &op && guarded.contains(from);
        auto argument = dyn_cast<BlockArgument>(operand);
        depends |= argument && argument.getOwner() == &body && argument.getArgNumber() >= loaded;
      }
    });
    if (depends || !isPure(&op))
      guarded.insert(&op);
  }
}

bool ElementRegion::isGuarded(Operation *op, bool withCondition) const {
  return guarded.contains(op) && !(withCondition && conditionSlice.contains(op));
}

void ElementRegion::inlineUnguarded(OpBuilder &builder, IRMapping &values,
                                    bool withCondition) const {
  for (Operation &op : body.without_terminator())
    if (!isGuarded(&op, withCondition))
      builder.clone(op, values);
}

void ElementRegion::inlineGuarded(OpBuilder &builder, IRMapping &values, bool withCondition) const {
  for (Operation &op : body.without_terminator())
    if (isGuarded(&op, withCondition))
      builder.clone(op, values);
}

Value ElementRegion::result(IRMapping &values, unsigned number) const {
  return values.lookupOrDefault(body.getTerminator()->getOperand(number));
}
