// Fragments in registers: a thread's tile_rows x tile_cols / group vectors of `group` elements, row
// by row, and the operations on them.
//
// SPDX-License-Identifier: Apache-2.0
#include "codegen/lower/TileExpander.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"

#include <numeric>

using namespace mlir;
using namespace cameo;
using kernel::ThreadTileAttr;

namespace {

/// Contractions of up to this depth are unrolled; deeper ones by kUnrolledSteps.
constexpr int64_t kUnrolledDepth = 16;
constexpr int64_t kUnrolledSteps = 4;

} // namespace

FailureOr<ThreadTileAttr> TileExpander::layoutOf(Operation *op, kernel::FragmentType type) {
  auto layout = dyn_cast<ThreadTileAttr>(type.getLayout());
  if (!layout)
    return op->emitOpError() << "needs a thread_tile layout to be expanded, has "
                             << type.getLayout();
  if (!isa<FloatType, IntegerType>(type.getElementType()))
    return op->emitOpError() << "accumulates floating-point or integer elements, not "
                             << type.getElementType();
  if (layout.getThreadRows() * layout.getTileRows() != type.getRows() ||
      layout.getThreadCols() * layout.getTileCols() != type.getCols())
    return op->emitOpError() << "layout does not cover a fragment of " << type.getRows() << " by "
                             << type.getCols();
  int64_t count = layout.getThreadRows() * layout.getThreadCols();
  if (count != threads)
    return op->emitOpError() << "has a fragment over " << count
                             << " threads; the kernel's block has " << threads;
  return layout;
}

//===-- Fill --------------------------------------------------------------------------------===//

LogicalResult TileExpander::expandFill(kernel::FillFragmentOp op) {
  kernel::FragmentType type = op.getResult().getType();
  FailureOr<ThreadTileAttr> layout = layoutOf(op, type);
  if (failed(layout))
    return failure();
  if (op.getValue().getType() != type.getElementType())
    return op.emitOpError() << "fills " << type.getElementType() << " with "
                            << op.getValue().getType();
  OpBuilder builder(op);
  Value value = builder.createOrFold<vector::BroadcastOp>(
      op.getLoc(), VectorType::get(layout->getGroup(), type.getElementType()), op.getValue());
  fragments[op.getResult()].assign(
      layout->getTileRows() * (layout->getTileCols() / layout->getGroup()), value);
  return success();
}

//===-- Contraction -------------------------------------------------------------------------===//

/// Operands in the accumulator's type; integers are signed, but for truth values.
static Value widen(OpBuilder &builder, Location loc, Value value, Type element) {
  Type from = getElementTypeOrSelf(value.getType());
  if (from == element)
    return value;
  Type to = element;
  if (auto vector = dyn_cast<VectorType>(value.getType()))
    to = VectorType::get(vector.getShape(), element);
  if (isa<FloatType>(from))
    return builder.create<arith::ExtFOp>(loc, to, value);
  if (from.isInteger(1))
    return builder.create<arith::ExtUIOp>(loc, to, value);
  return builder.create<arith::ExtSIOp>(loc, to, value);
}

static bool canWiden(Type from, Type to) {
  return from == to || (((isa<FloatType>(from) && isa<FloatType>(to)) ||
                         (isa<IntegerType>(from) && isa<IntegerType>(to))) &&
                        from.getIntOrFloatBitWidth() < to.getIntOrFloatBitWidth());
}

static Value multiplyAdd(OpBuilder &builder, Location loc, Value a, Value b, Value sum) {
  if (isa<FloatType>(getElementTypeOrSelf(sum.getType())))
    return builder.create<vector::FMAOp>(loc, a, b, sum);
  return builder.create<arith::AddIOp>(loc, builder.create<arith::MulIOp>(loc, a, b), sum);
}

LogicalResult TileExpander::expandContract(kernel::ContractTileOp op) {
  Location loc = op.getLoc();
  FailureOr<ThreadTileAttr> found = layoutOf(op, op.getAccumulator().getType());
  FailureOr<Values> accumulator = flatten(op, op.getAccumulator());
  if (failed(found) || failed(accumulator))
    return failure();
  ThreadTileAttr layout = *found;
  Type element = op.getAccumulator().getType().getElementType();
  for (Value operand : {op.getLhs(), op.getRhs()}) {
    Type type = cast<MemRefType>(operand.getType()).getElementType();
    if (!canWiden(type, element))
      return op.emitOpError() << "cannot multiply " << type << " into an accumulator of "
                              << element;
  }
  Type lhsElement = cast<MemRefType>(op.getLhs().getType()).getElementType();
  Type rhsElement = cast<MemRefType>(op.getRhs().getType()).getElementType();
  int64_t depth = op.getDepth(), lhsStride = op.getLhsStride(), rhsStride = op.getRhsStride();
  int64_t tileRows = layout.getTileRows(), group = layout.getGroup();
  int64_t rowGroups = layout.getTileCols() / group;

  OpBuilder builder(op);
  auto divisorOf = [&](Value offset, int64_t stride, int64_t part, int64_t parts) {
    int64_t divisor = knownDivisor(offset);
    if (depth > 1)
      divisor = std::gcd(divisor, stride);
    return parts > 1 ? std::gcd(divisor, part) : divisor;
  };
  // The left-hand rows of a thread are read in vectors as wide as their alignment allows.
  int64_t lhsDivisor = divisorOf(op.getLhsOffset(), lhsStride, tileRows, layout.getThreadRows());
  int64_t lhsWidest = accessAlignment(lhsDivisor, lhsElement) / bytesOf(lhsElement);
  int64_t rhsAlignment = accessAlignment(
      std::gcd(group, divisorOf(op.getRhsOffset(), rhsStride, group, layout.getThreadCols())),
      rhsElement);
  Value lhsBase =
      add(builder, loc, op.getLhsOffset(), threadQuotient(layout.getThreadCols(), tileRows));
  Value rhsBase =
      add(builder, loc, op.getRhsOffset(), threadRemainder(layout.getThreadCols(), group));

  // One step: a column of lhs times a row of rhs.
  auto step = [&](OpBuilder &b, Value lhsAt, Value rhsAt, int64_t k, Values &sums) {
    Values lhs, rhs;
    for (int64_t i = 0, width; i < tileRows; i += width) {
      width = std::min<int64_t>(lhsWidest, llvm::bit_floor<uint64_t>(tileRows - i));
      Value loaded = loadElements(b, loc, op.getLhs(), add(b, loc, lhsAt, k * lhsStride + i), width,
                                  width * bytesOf(lhsElement));
      loaded = widen(b, loc, loaded, element);
      for (int64_t e = 0; e < width; ++e)
        lhs.push_back(width == 1 ? loaded : b.create<vector::ExtractOp>(loc, loaded, e));
    }
    for (int64_t j = 0; j < rowGroups; ++j) {
      Value offset = add(b, loc, rhsAt, k * rhsStride + j * layout.getThreadCols() * group);
      Value loaded = loadElements(b, loc, op.getRhs(), offset, group, rhsAlignment);
      loaded = widen(b, loc, loaded, element);
      if (group == 1)
        loaded = b.create<vector::BroadcastOp>(loc, VectorType::get(1, element), loaded);
      rhs.push_back(loaded);
    }
    for (int64_t i = 0; i < tileRows; ++i) {
      Value splat = b.create<vector::BroadcastOp>(loc, VectorType::get(group, element), lhs[i]);
      for (int64_t j = 0; j < rowGroups; ++j) {
        Value &sum = sums[i * rowGroups + j];
        sum = multiplyAdd(b, loc, splat, rhs[j], sum);
      }
    }
  };

  Values sums = *accumulator;
  int64_t done = 0;
  if (depth > kUnrolledDepth) {
    done = depth - depth % kUnrolledSteps;
    auto loop = builder.create<scf::ForOp>(loc, constant(0), constant(done),
                                           constant(kUnrolledSteps), sums);
    OpBuilder inLoop = OpBuilder::atBlockBegin(loop.getBody());
    Value k = loop.getInductionVar();
    Value lhsAt = add(inLoop, loc, lhsBase, mul(inLoop, loc, k, lhsStride));
    Value rhsAt = add(inLoop, loc, rhsBase, mul(inLoop, loc, k, rhsStride));
    Values carried(loop.getRegionIterArgs());
    for (int64_t s = 0; s < kUnrolledSteps; ++s)
      step(inLoop, lhsAt, rhsAt, s, carried);
    inLoop.create<scf::YieldOp>(loc, carried);
    sums.assign(loop.result_begin(), loop.result_end());
  }
  for (int64_t k = done; k < depth; ++k)
    step(builder, lhsBase, rhsBase, k, sums);
  fragments[op.getResult()] = sums;
  return success();
}

//===-- Store -------------------------------------------------------------------------------===//

/// Whether the epilogue loads from buffers of the kernel that are not `noalias`.
static bool readsSharedMemory(kernel::StoreFragmentOp op) {
  auto function = op->getParentOfType<gpu::GPUFuncOp>();
  auto isShared = [&](Value memory) {
    if (auto advance = memory.getDefiningOp<kernel::AdvanceOp>())
      memory = advance.getMemory();
    auto argument = dyn_cast<BlockArgument>(memory);
    return argument && argument.getOwner() == &function.getBody().front() &&
           argument.getArgNumber() < function.getNumArguments() &&
           !function.getArgAttr(argument.getArgNumber(), "llvm.noalias");
  };
  if (llvm::any_of(op.getSources(), isShared))
    return true;
  return op.getBody()
      .walk([&](Operation *inner) {
        bool reads = isa<memref::LoadOp, vector::LoadOp>(inner) && isShared(inner->getOperand(0));
        return reads ? WalkResult::interrupt() : WalkResult::advance();
      })
      .wasInterrupted();
}

LogicalResult TileExpander::expandStore(kernel::StoreFragmentOp op) {
  Location loc = op.getLoc();
  FailureOr<ThreadTileAttr> found = layoutOf(op, op.getFragment().getType());
  FailureOr<Values> fragment = flatten(op, op.getFragment());
  if (failed(found) || failed(fragment))
    return failure();
  ThreadTileAttr layout = *found;
  if (static_cast<int64_t>(op.getVector()) <= 0)
    return op.emitOpError() << "vector must be positive, is " << op.getVector();
  int64_t tileRows = layout.getTileRows(), group = layout.getGroup();
  int64_t rowGroups = layout.getTileCols() / group;
  int64_t vector = group % op.getVector() == 0 ? op.getVector() : 1;
  int64_t alignment =
      accessAlignment(vector, cast<MemRefType>(op.getDest().getType()).getElementType());

  OpBuilder builder(op);
  Values rows, cols;
  for (int64_t i = 0; i < tileRows; ++i)
    rows.push_back(add(builder, loc, threadQuotient(layout.getThreadCols(), tileRows), i));
  for (int64_t j = 0; j < rowGroups; ++j)
    for (int64_t e = 0; e < group; ++e)
      cols.push_back(add(builder, loc, threadRemainder(layout.getThreadCols(), group),
                         j * layout.getThreadCols() * group + e));

  ElementRegion region(op.getBody().front(), /*condition=*/2, /*loaded=*/3);
  SmallVector<int64_t> widths(op.getSources().size(), op.getVector());
  if (op.getWidths())
    widths.assign(op.getWidths()->begin(), op.getWidths()->end());
  for (int64_t &width : widths)
    width = std::min(width, vector);
  SourceGroup sources(op.getSources(), widths, vector);
  // Maps the region's arguments for elements of other memory.
  auto read = [&](OpBuilder &b, int64_t row, int64_t col, MutableArrayRef<IRMapping> values) {
    if (op.getSources().empty())
      return;
    SmallVector<IRMapping> places(vector);
    Block &reads = op.getReads().front();
    SmallVector<Value> loaded = sources.load(b, loc, [&](unsigned source, int64_t e) {
      if (!places[e].contains(reads.getArgument(0))) {
        places[e].map(reads.getArguments(), ValueRange{rows[row], cols[col + e]});
        for (Operation &inner : reads.without_terminator())
          b.clone(inner, places[e]);
      }
      return places[e].lookupOrDefault(reads.getTerminator()->getOperand(source));
    });
    for (int64_t e = 0; e < vector; ++e)
      for (unsigned source = 0; source < op.getSources().size(); ++source)
        values[e].map(op.getBody().getArgument(3 + source),
                      sources.element(b, loc, loaded, source, e));
  };
  struct Piece {
    Value stored, offset, inside;
  };
  auto isAlways = [](Value inside) {
    return isConstantIntValue(inside, 1) || isConstantIntValue(inside, -1);
  };
  SmallVector<IRMapping> values(vector);
  /// What is inside of the next element and which that is; the rest is up to `compute`.
  auto begin = [&](int64_t row, int64_t col) {
    for (int64_t e = 0; e < vector; ++e) {
      Value sum = builder.create<vector::ExtractOp>(
          loc, (*fragment)[row * rowGroups + (col + e) / group], (col + e) % group);
      values[e].clear();
      values[e].map(op.getBody().getArguments().take_front(3),
                    ValueRange{rows[row], cols[col + e], sum});
      // The first element speaks for all.
      region.inlineUnguarded(builder, values[e], /*withCondition=*/e == 0);
    }
    return region.result(values[0], 2);
  };
  auto compute = [&](OpBuilder &b, int64_t row, int64_t col, Value inside) {
    read(b, row, col, values);
    Values stored;
    for (int64_t e = 0; e < vector; ++e) {
      region.inlineGuarded(b, values[e], /*withCondition=*/e == 0);
      stored.push_back(region.result(values[e], 0));
    }
    return Piece{joinElements(b, loc, stored), region.result(values[0], 1), inside};
  };
  auto store = [&](OpBuilder &b, const Piece &piece) {
    storeElements(b, loc, piece.stored, op.getDest(), piece.offset, alignment);
  };
  auto ifInside = [&](Value inside, function_ref<void(OpBuilder &)> then) {
    if (isAlways(inside))
      return then(builder);
    builder.create<scf::IfOp>(loc, inside, [&](OpBuilder &b, Location) {
      then(b);
      b.create<scf::YieldOp>(loc);
    });
  };
  auto computeIfInside = [&](int64_t row, int64_t col, Value inside) {
    if (isAlways(inside))
      return compute(builder, row, col, inside);
    Type element = cast<MemRefType>(op.getDest().getType()).getElementType();
    Type type = vector > 1 ? Type(VectorType::get(vector, element)) : element;
    auto branch = builder.create<scf::IfOp>(loc, TypeRange{type, builder.getIndexType()}, inside,
                                            /*withElseRegion=*/true);
    OpBuilder then = branch.getThenBodyBuilder(), otherwise = branch.getElseBodyBuilder();
    Piece piece = compute(then, row, col, inside);
    then.create<scf::YieldOp>(loc, ValueRange{piece.stored, piece.offset});
    Value nothing = otherwise.create<arith::ConstantOp>(loc, builder.getZeroAttr(type));
    Value nowhere = otherwise.create<arith::ConstantIndexOp>(loc, 0);
    otherwise.create<scf::YieldOp>(loc, ValueRange{nothing, nowhere});
    return Piece{branch.getResult(0), branch.getResult(1), inside};
  };
  // A load behind a store to what may be the same memory would wait for it: all of a row first.
  bool loadsFirst = readsSharedMemory(op);
  for (int64_t row = 0; row < tileRows; ++row) {
    SmallVector<Piece> pieces;
    for (int64_t col = 0; col < rowGroups * group; col += vector) {
      Value inside = begin(row, col);
      if (loadsFirst)
        pieces.push_back(computeIfInside(row, col, inside));
      else
        ifInside(inside, [&](OpBuilder &b) { store(b, compute(b, row, col, inside)); });
    }
    for (const Piece &piece : pieces)
      ifInside(piece.inside, [&](OpBuilder &b) { store(b, piece); });
  }
  return success();
}
