// kernel.copy_tile ==> loads and stores of each thread. With 16 x 16 elements in groups of 4, 64
// threads take one group each:
//
//   %r = %t / 4; %c = %t % 4 * 4
//   %offset, %inside = region(%r, %c)
//   %v = scf.if %inside { vector.load %source[%offset] } else { padding }
//   vector.store %v, %dest[%dest_offset + %r * stride_row + %c * stride_col]
//
// With a value region each source is loaded so, and what is stored is computed at the store: where
// several groups are in flight, behind all their loads.
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
/// Loads a thread issues before it stores the first value; those of one element for a group of
/// several are not counted.
constexpr int64_t kLoadsInFlight = 8;

/// A group of `vector` elements that a thread copies.
struct Group {
  Value row, col;
  /// Where it goes, without the tile's own offset.
  Value dest;
  /// Whether there is such a group; null if there is for every thread.
  Value exists;
  /// What the sources have for it; of a computing copy also whether it is inside.
  SmallVector<Value> loaded;
};

} // namespace

static bool isConstantTrue(Value value) {
  return isConstantIntValue(value, -1) || isConstantIntValue(value, 1);
}

static int64_t roundsOf(kernel::CopyTileOp op) {
  return llvm::divideCeil(op.getRows() * op.getCols() / op.getVector(), op.getThreads());
}

static SourceGroup sourcesOf(kernel::CopyTileOp op) {
  SmallVector<int64_t> widths;
  for (unsigned i = 0; i < op.getSources().size(); ++i)
    widths.push_back(op.widthOf(i));
  return SourceGroup(op.getSources(), widths, op.getVector());
}

static int64_t loadsOf(kernel::CopyTileOp op) { return roundsOf(op) * sourcesOf(op).loads(); }

/// Whether `op` takes memory of that kind but for its destination.
static bool reads(kernel::CopyTileOp op, Attribute space) {
  auto isThere = [&](Value value) {
    auto type = dyn_cast<MemRefType>(value.getType());
    return type && (!type.getMemorySpace() || type.getMemorySpace() == space);
  };
  if (llvm::any_of(op.getSources(), isThere))
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
  int64_t loads = loadsOf(op);
  for (Operation *next = op->getNextNode(); space && next; next = next->getNextNode()) {
    if (isPure(next))
      continue;
    auto copy = dyn_cast<kernel::CopyTileOp>(next);
    if (!copy || cast<MemRefType>(copy.getDest().getType()).getMemorySpace() != space ||
        reads(copy, space) || (loads += loadsOf(copy)) > kLoadsInFlight)
      break;
    together.push_back(copy);
  }
  Operation *point = together.back()->getNextNode();
  for (kernel::CopyTileOp copy : together)
    storePoints[copy] = point;
  return point;
}

/// Elements of a group, as the value region computes them from what was loaded.
static Value computeGroup(OpBuilder &b, kernel::CopyTileOp op, const SourceGroup &sources,
                          ArrayRef<Value> loaded) {
  Block &region = op.getValue().front();
  SmallVector<Value> elements;
  for (int64_t e = 0; e < int64_t(op.getVector()); ++e) {
    IRMapping values;
    for (unsigned i = 0; i < op.getSources().size(); ++i)
      values.map(region.getArgument(i), sources.element(b, op.getLoc(), loaded, i, e));
    for (Operation &inner : region.without_terminator())
      b.clone(inner, values);
    elements.push_back(values.lookupOrDefault(region.getTerminator()->getOperand(0)));
  }
  return joinElements(b, op.getLoc(), elements);
}

/// The same, or padding where the group is not inside, which may have no value.
static Value computeInside(OpBuilder &b, kernel::CopyTileOp op, const SourceGroup &sources,
                           ArrayRef<Value> loaded, Value padding) {
  Value inside = loaded.back();
  loaded = loaded.drop_back();
  if (isConstantTrue(inside))
    return computeGroup(b, op, sources, loaded);
  if (llvm::all_of(op.getValue().front().without_terminator(),
                   [](Operation &inner) { return isSpeculatable(&inner); }))
    return b.create<arith::SelectOp>(op.getLoc(), inside, computeGroup(b, op, sources, loaded),
                                     padding);
  auto branch = b.create<scf::IfOp>(
      op.getLoc(), inside,
      [&](OpBuilder &b, Location loc) {
        b.create<scf::YieldOp>(loc, computeGroup(b, op, sources, loaded));
      },
      [&](OpBuilder &b, Location loc) { b.create<scf::YieldOp>(loc, padding); });
  return branch.getResult(0);
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
  Type from = op.getPadding().getType(); // of elements, loaded or computed
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

  OpBuilder builder(op);
  unsigned condition = op.getSources().size();
  ElementRegion region(op.getBody().front(), condition);
  SourceGroup sources = sourcesOf(op);
  Value padding = op.getPadding();
  if (vector > 1)
    padding =
        builder.createOrFold<vector::BroadcastOp>(loc, VectorType::get(vector, from), padding);
  SmallVector<Value> outside{padding}; // in place of what is not loaded
  if (op.computes()) {
    outside.clear();
    for (Type type : sources.types())
      outside.push_back(
          builder.create<arith::ConstantOp>(loc, cast<TypedAttr>(builder.getZeroAttr(type))));
  }

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
    auto loadInside = [&](OpBuilder &b) {
      IRMapping values;
      values.map(op.getBody().getArguments(), ValueRange{group.row, group.col});
      region.inlineUnguarded(b, values, /*withCondition=*/true);
      Value inside = region.result(values, condition);
      auto access = [&](OpBuilder &b) {
        region.inlineGuarded(b, values, /*withCondition=*/true);
        return sources.load(b, loc, [&](unsigned source, int64_t element) {
          if (element == 0)
            return region.result(values, source);
          Value row = alongRows ? add(b, loc, group.row, element) : group.row;
          Value col = alongRows ? group.col : add(b, loc, group.col, element);
          IRMapping there;
          there.map(op.getBody().getArguments(), ValueRange{row, col});
          region.inlineUnguarded(b, there, /*withCondition=*/true);
          region.inlineGuarded(b, there, /*withCondition=*/true);
          return region.result(there, source);
        });
      };
      SmallVector<Value> loaded;
      if (isConstantTrue(inside)) {
        loaded = access(b);
      } else {
        auto branch = b.create<scf::IfOp>(
            loc, inside, [&](OpBuilder &b, Location) { b.create<scf::YieldOp>(loc, access(b)); },
            [&](OpBuilder &b, Location) { b.create<scf::YieldOp>(loc, outside); });
        loaded.assign(branch.result_begin(), branch.result_end());
      }
      if (op.computes())
        loaded.push_back(inside);
      return loaded;
    };
    if (!group.exists) {
      group.loaded = loadInside(b);
      return;
    }
    SmallVector<Value> nothing(outside);
    if (op.computes())
      nothing.push_back(b.create<arith::ConstantOp>(loc, b.getBoolAttr(false)));
    auto guard = b.create<scf::IfOp>(
        loc, group.exists,
        [&](OpBuilder &b, Location) { b.create<scf::YieldOp>(loc, loadInside(b)); },
        [&](OpBuilder &b, Location) { b.create<scf::YieldOp>(loc, nothing); });
    group.loaded.assign(guard.result_begin(), guard.result_end());
  };

  auto storeHere = [&](OpBuilder &b, const Group &group) {
    Value value =
        op.computes() ? computeInside(b, op, sources, group.loaded, padding) : group.loaded.front();
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

  int64_t inFlight = std::max<int64_t>(kLoadsInFlight / std::max<int64_t>(sources.loads(), 1), 1);
  /// Rounds [begin, end); positions are computed by `at`, at the entry unless in a loop.
  auto copy = [&](OpBuilder &b, OpBuilder &at, OpBuilder &stores, int64_t begin, int64_t end,
                  Value moved) {
    for (int64_t first = begin; first < end; first += inFlight) {
      SmallVector<Group> batch;
      for (int64_t round = first; round < std::min(first + inFlight, end); ++round) {
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
  copy(builder, entry, rounds > inFlight ? builder : later, looped, rounds, Value());
  return success();
}
