// kernel.store_fragment: what a thread has of a fragment goes to global memory, through the
// elementwise work of its region.
//
// SPDX-License-Identifier: Apache-2.0
#include "codegen/lower/tile/TileExpander.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"

#include <numeric>

using namespace mlir;
using namespace cameo;
using kernel::FragmentType;
using kernel::Place;
using kernel::Spread;

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

LogicalResult TileExpander::expand(kernel::StoreFragmentOp op) {
  Location loc = op.getLoc();
  FailureOr<const Spread *> found = spreadOf(op, op.getFragment().getType());
  FailureOr<Values> fragment = flatten(op, op.getFragment());
  if (failed(found) || failed(fragment))
    return failure();
  const Spread &spread = **found;
  // Elements that are one below the other, or in groups that the vector does not divide, one by
  // one.
  int64_t vector = op.getVector();
  if (spread.alongRows || spread.width % vector != 0)
    vector = 1;
  Type element = cast<MemRefType>(op.getDest().getType()).getElementType();
  int64_t alignment = accessAlignment(vector, element), bytes = bytesOf(element);
  ElementRegion region(op.getBody().front(), /*condition=*/2, /*loaded=*/3);
  SmallVector<int64_t> widths(op.getSources().size(), op.getVector());
  if (op.getWidths())
    widths.assign(op.getWidths()->begin(), op.getWidths()->end());
  for (int64_t &width : widths)
    width = std::min(width, vector);
  SourceGroup sources(op.getSources(), widths, vector);

  OpBuilder builder(op);
  // Maps the region's arguments for elements of other memory.
  auto read = [&](OpBuilder &b, ArrayRef<std::pair<Value, Value>> at,
                  MutableArrayRef<IRMapping> values) {
    if (op.getSources().empty())
      return;
    SmallVector<IRMapping> places(vector);
    Block &reads = op.getReads().front();
    SmallVector<Value> loaded = sources.load(b, loc, [&](unsigned source, int64_t e) {
      if (!places[e].contains(reads.getArgument(0))) {
        places[e].map(reads.getArguments(), ValueRange{at[e].first, at[e].second});
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
  SmallVector<std::pair<Value, Value>> at(vector);
  /// Goes to elements of `value` from `first` on, and says whether they are inside.
  auto begin = [&](const Place &place, Value value, int64_t first) {
    for (int64_t e = 0; e < vector; ++e) {
      Place there = place;
      (spread.alongRows ? there.rowOffset : there.columnOffset) += first + e;
      at[e] = {rowOf(builder, loc, there), colOf(builder, loc, there)};
      values[e].clear();
      values[e].map(
          op.getBody().getArguments().take_front(3),
          ValueRange{at[e].first, at[e].second, elementOf(builder, loc, value, first + e)});
      // The first element speaks for all.
      region.inlineUnguarded(builder, values[e], /*withCondition=*/e == 0);
    }
    return region.result(values[0], 2);
  };
  auto compute = [&](OpBuilder &b, Value inside) {
    read(b, at, values);
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
  auto computeIfInside = [&](Value inside) {
    if (isAlways(inside))
      return compute(builder, inside);
    Type type = vector > 1 ? Type(VectorType::get(vector, element)) : element;
    auto branch = builder.create<scf::IfOp>(loc, TypeRange{type, builder.getIndexType()}, inside,
                                            /*withElseRegion=*/true);
    OpBuilder then = branch.getThenBodyBuilder(), otherwise = branch.getElseBodyBuilder();
    Piece piece = compute(then, inside);
    then.create<scf::YieldOp>(loc, ValueRange{piece.stored, piece.offset});
    Value nothing = otherwise.create<arith::ConstantOp>(loc, builder.getZeroAttr(type));
    Value nowhere = otherwise.create<arith::ConstantIndexOp>(loc, 0);
    otherwise.create<scf::YieldOp>(loc, ValueRange{nothing, nowhere});
    return Piece{branch.getResult(0), branch.getResult(1), inside};
  };
  // A load behind a store to what may be the same memory would wait for it: those of a row, and of
  // several where it is short, come first.
  constexpr int64_t kLoadedFirst = 64; // bytes
  bool loadsFirst = readsSharedMemory(op);
  SmallVector<Piece> pieces;
  auto storePieces = [&] {
    for (const Piece &piece : pieces)
      ifInside(piece.inside, [&](OpBuilder &b) { store(b, piece); });
    pieces.clear();
  };
  const Place *former = nullptr;
  for (auto [place, value] : llvm::zip(spread.values, *fragment)) {
    if (former && former->rowOffset != place.rowOffset &&
        int64_t(pieces.size()) * vector * bytes >= kLoadedFirst)
      storePieces();
    former = &place;
    OpBuilder::InsertionGuard guard(builder);
    Value has = holds(place);
    if (has) {
      auto branch = builder.create<scf::IfOp>(loc, has, /*withElseRegion=*/false);
      builder.setInsertionPointToStart(branch.thenBlock());
    }
    for (int64_t first = 0; first < spread.width; first += vector) {
      Value inside = begin(place, value, first);
      if (loadsFirst && !has)
        pieces.push_back(computeIfInside(inside));
      else
        ifInside(inside, [&](OpBuilder &b) { store(b, compute(b, inside)); });
    }
  }
  storePieces();
  return success();
}
