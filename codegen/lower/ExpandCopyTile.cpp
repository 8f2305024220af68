// kernel.copy_tile ==> loads and stores of each thread. With 16 x 16 elements in groups of 4, 64
// threads take one group each:
//
//   %r = %t / 4; %c = %t % 4 * 4
//   %offset, %inside = region(%r, %c)
//   %v = scf.if %inside { vector.load %source[%offset] } else { padding }
//   vector.store %v, %dest[%dest_offset + %r * stride_row + %c * stride_col]
//
// SPDX-License-Identifier: Apache-2.0
#include "codegen/lower/TileExpander.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"

#include <numeric>

using namespace mlir;
using namespace cameo;

namespace {

/// Copies of up to this many rounds are unrolled.
constexpr int64_t kUnrolledRounds = 16;
/// Loads a thread issues before it stores the first value.
constexpr int64_t kLoadsInFlight = 8;

/// A group of `vector` elements that a thread copies.
struct Group {
  Value row, col;
  /// Where it goes, without the tile's own offset.
  Value dest;
  /// Whether there is such a group; null if there is for every thread.
  Value exists;
  Value loaded;
};

} // namespace

static bool isConstantTrue(Value value) {
  return isConstantIntValue(value, -1) || isConstantIntValue(value, 1);
}

static int64_t roundsOf(kernel::CopyTileOp op) {
  return llvm::divideCeil(op.getRows() * op.getCols() / op.getVector(), op.getThreads());
}

/// Whether `op` takes memory of that kind but for its destination.
static bool reads(kernel::CopyTileOp op, Attribute space) {
  auto isThere = [&](Value value) {
    auto type = dyn_cast<MemRefType>(value.getType());
    return type && (!type.getMemorySpace() || type.getMemorySpace() == space);
  };
  if (isThere(op.getSource()))
    return true;
  WalkResult result = op.getBody().walk([&](Operation *inner) {
    return llvm::any_of(inner->getOperands(), isThere) ? WalkResult::interrupt()
                                                       : WalkResult::advance();
  });
  return result.wasInterrupted();
}

Operation *TileExpander::storePoint(kernel::CopyTileOp op) {
  if (Operation *known = storePoints.lookup(op))
    return known;
  llvm::SmallVector<kernel::CopyTileOp> together = {op};
  Attribute space = cast<MemRefType>(op.getDest().getType()).getMemorySpace();
  int64_t loads = roundsOf(op);
  for (Operation *next = op->getNextNode(); space && next; next = next->getNextNode()) {
    if (isPure(next))
      continue;
    auto copy = dyn_cast<kernel::CopyTileOp>(next);
    if (!copy || cast<MemRefType>(copy.getDest().getType()).getMemorySpace() != space ||
        reads(copy, space) || (loads += roundsOf(copy)) > kLoadsInFlight)
      break;
    together.push_back(copy);
  }
  Operation *point = together.back()->getNextNode();
  for (kernel::CopyTileOp copy : together)
    storePoints[copy] = point;
  return point;
}

LogicalResult TileExpander::expandCopy(kernel::CopyTileOp op) {
  Location loc = op.getLoc();
  if (static_cast<int64_t>(op.getThreads()) != threads)
    return op.emitOpError() << "is for " << op.getThreads() << " threads; the kernel's block has "
                            << threads;
  int64_t vector = op.getVector(), rows = op.getRows(), cols = op.getCols();
  bool alongRows = op.getAlongRows();
  if (rows <= 0 || cols <= 0)
    return op.emitOpError() << "has " << rows << " rows and " << cols << " columns";
  Type from = cast<MemRefType>(op.getSource().getType()).getElementType();
  Type to = cast<MemRefType>(op.getDest().getType()).getElementType();
  bool extends = from != to;
  if (extends && !(isa<FloatType>(from) && isa<FloatType>(to) &&
                   from.getIntOrFloatBitWidth() < to.getIntOrFloatBitWidth()))
    return op.emitOpError() << "converts only to wider floating-point types, not " << from << " to "
                            << to;

  // A line runs in the direction of the groups.
  int64_t groupsPerLine = (alongRows ? rows : cols) / vector;
  int64_t lines = alongRows ? cols : rows;
  int64_t lineStride = alongRows ? op.getStrideCol() : op.getStrideRow();
  int64_t stride = alongRows ? op.getStrideRow() : op.getStrideCol();
  int64_t groups = groupsPerLine * lines;
  int64_t rounds = roundsOf(op), wholeRounds = groups / threads;

  int64_t divisor = std::gcd(knownDivisor(op.getDestOffset()), vector);
  if (lines > 1)
    divisor = std::gcd(divisor, lineStride);
  int64_t alignment = accessAlignment(divisor, to);
  bool oneStore = vector == 1 || (stride == 1 && alignment > bytesOf(to));
  int64_t sourceAlignment = accessAlignment(vector, from);

  OpBuilder builder(op);
  ElementRegion region(op.getBody().front(), /*condition=*/1);
  Type loadedType = vector == 1 ? from : VectorType::get(vector, from);
  Value padding = op.getPadding();
  if (vector > 1)
    padding = builder.createOrFold<vector::BroadcastOp>(loc, loadedType, padding);

  // Group number t + round * threads, and `moved` groups further in a loop.
  auto locate = [&](OpBuilder &b, int64_t round, Value moved) {
    Group group;
    Value line, position;
    int64_t skipped = round * threads;
    if (threads % groupsPerLine == 0) {
      line = add(b, loc, threadQuotient(groupsPerLine, 1), skipped / groupsPerLine);
      if (moved)
        line = add(b, loc, line, divide(b, loc, moved, groupsPerLine));
      position = threadRemainder(groupsPerLine, vector);
    } else if (groupsPerLine % threads == 0 && !moved) {
      line = constant(skipped / groupsPerLine);
      position = add(b, loc, mul(b, loc, thread(), vector), skipped % groupsPerLine * vector);
    } else {
      Value number = add(b, loc, thread(), skipped);
      if (moved)
        number = add(b, loc, number, moved);
      line = divide(b, loc, number, groupsPerLine);
      position = mul(b, loc, remainder(b, loc, number, groupsPerLine), vector);
    }
    group.row = alongRows ? position : line;
    group.col = alongRows ? line : position;
    group.dest = add(b, loc, mul(b, loc, line, lineStride), mul(b, loc, position, stride));
    return group;
  };

  auto load = [&](OpBuilder &b, Group &group) {
    auto loadInside = [&](OpBuilder &b, Location) {
      IRMapping values;
      values.map(op.getBody().getArguments(), ValueRange{group.row, group.col});
      region.inlineUnguarded(b, values, /*withCondition=*/true);
      Value inside = region.result(values, 1);
      auto access = [&](OpBuilder &b) {
        region.inlineGuarded(b, values, /*withCondition=*/true);
        return loadElements(b, loc, op.getSource(), region.result(values, 0), vector,
                            sourceAlignment);
      };
      if (isConstantTrue(inside))
        return access(b);
      return b
          .create<scf::IfOp>(
              loc, inside, [&](OpBuilder &b, Location) { b.create<scf::YieldOp>(loc, access(b)); },
              [&](OpBuilder &b, Location) { b.create<scf::YieldOp>(loc, padding); })
          .getResult(0);
    };
    if (!group.exists) {
      group.loaded = loadInside(b, loc);
      return;
    }
    auto guard = b.create<scf::IfOp>(
        loc, group.exists,
        [&](OpBuilder &b, Location) { b.create<scf::YieldOp>(loc, loadInside(b, loc)); },
        [&](OpBuilder &b, Location) { b.create<scf::YieldOp>(loc, padding); });
    group.loaded = guard.getResult(0);
  };

  auto storeHere = [&](OpBuilder &b, const Group &group) {
    Value value = group.loaded;
    if (extends)
      value =
          b.create<arith::ExtFOp>(loc, vector == 1 ? to : Type(VectorType::get(vector, to)), value);
    Value offset = add(b, loc, op.getDestOffset(), group.dest);
    if (oneStore)
      return storeElements(b, loc, value, op.getDest(), offset, alignment);
    for (int64_t i = 0; i < vector; ++i)
      storeElements(b, loc, b.create<vector::ExtractOp>(loc, value, i), op.getDest(),
                    add(b, loc, offset, i * stride), alignment);
  };
  auto store = [&](OpBuilder &b, const Group &group) {
    if (!group.exists)
      return storeHere(b, group);
    b.create<scf::IfOp>(loc, group.exists, [&](OpBuilder &b, Location) {
      storeHere(b, group);
      b.create<scf::YieldOp>(loc);
    });
  };

  /// Rounds [begin, end); positions are computed by `at`, at the entry unless in a loop.
  auto copy = [&](OpBuilder &b, OpBuilder &at, OpBuilder &stores, int64_t begin, int64_t end,
                  Value moved) {
    for (int64_t first = begin; first < end; first += kLoadsInFlight) {
      SmallVector<Group> batch;
      for (int64_t round = first; round < std::min(first + kLoadsInFlight, end); ++round) {
        Group &group = batch.emplace_back(locate(at, round, moved));
        if (round == wholeRounds)
          group.exists = at.create<arith::CmpIOp>(loc, arith::CmpIPredicate::ult, thread(),
                                                  constant(groups - round * threads));
        load(b, group);
      }
      for (const Group &group : batch)
        store(stores, group);
    }
  };

  int64_t looped = 0;
  if (rounds > kUnrolledRounds) {
    looped = wholeRounds - wholeRounds % kLoadsInFlight;
    auto loop = builder.create<scf::ForOp>(loc, constant(0), constant(looped * threads),
                                           constant(kLoadsInFlight * threads));
    OpBuilder inLoop = OpBuilder::atBlockTerminator(loop.getBody());
    copy(inLoop, inLoop, inLoop, 0, kLoadsInFlight, loop.getInductionVar());
  }
  // The stores of one batch can wait for the loads of other copies.
  OpBuilder later(storePoint(op));
  copy(builder, entry, rounds > kLoadsInFlight ? builder : later, looped, rounds, Value());
  return success();
}
