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

namespace {

/// Elements that a thread stores at once, and whether they are inside.
struct Piece {
  Value stored, offset, inside;
};

bool isAlways(Value inside) {
  return isConstantIntValue(inside, 1) || isConstantIntValue(inside, -1);
}

/// Computes pieces by the operation's region and stores them. Of a piece every element is begun
/// before it is computed.
class PieceStore {
public:
  PieceStore(kernel::StoreFragmentOp op, const Spread &spread, OpBuilder &builder)
      : op(op), loc(op.getLoc()), builder(builder), vector(vectorOf(op, spread)),
        element(cast<MemRefType>(op.getDest().getType()).getElementType()),
        firstRead(3 + op.getOthers().size()),
        region(op.getBody().front(), /*condition=*/2, firstRead),
        sources(op.getSources(), widthsOf(op, vector), vector), values(vector), at(vector) {}

  /// Elements of a piece.
  int64_t size() const { return vector; }
  /// Goes to an element of the next piece: where it is, and its value in each fragment.
  void begin(int64_t e, std::pair<Value, Value> place, ValueRange elements);
  /// Stores the piece that was begun, if it is inside.
  void storeBegun();
  /// Computes it, and stores it with the others that are kept.
  void keepBegun() { kept.push_back(computeIfInside(insideOfBegun())); }
  int64_t keptBytes() const { return int64_t(kept.size()) * vector * bytesOf(element); }
  void storeKept();

private:
  /// Elements that are one below the other, or in groups that the vector does not divide, one by
  /// one.
  static int64_t vectorOf(kernel::StoreFragmentOp op, const Spread &spread) {
    return spread.alongRows || spread.width % op.getVector() != 0 ? 1 : op.getVector();
  }

  static SmallVector<int64_t> widthsOf(kernel::StoreFragmentOp op, int64_t vector) {
    SmallVector<int64_t> widths(op.getSources().size(), op.getVector());
    if (op.getWidths())
      widths.assign(op.getWidths()->begin(), op.getWidths()->end());
    for (int64_t &width : widths)
      width = std::min(width, vector);
    return widths;
  }

  /// The first element speaks for all.
  Value insideOfBegun() { return region.result(values[0], 2); }

  void read(OpBuilder &b);
  Piece compute(OpBuilder &b, Value inside);
  Piece computeIfInside(Value inside);
  void ifInside(Value inside, function_ref<void(OpBuilder &)> then) {
    if (isAlways(inside))
      return then(builder);
    builder.create<scf::IfOp>(loc, inside, [&](OpBuilder &b, Location) {
      then(b);
      b.create<scf::YieldOp>(loc);
    });
  }
  void store(OpBuilder &b, const Piece &piece) {
    storeElements(b, loc, piece.stored, op.getDest(), piece.offset,
                  accessAlignment(vector, element));
  }

  kernel::StoreFragmentOp op;
  Location loc;
  OpBuilder &builder;
  int64_t vector;
  Type element;
  unsigned firstRead; // argument of the region that is loaded
  ElementRegion region;
  SourceGroup sources;
  SmallVector<IRMapping> values; // by element of the piece that was begun
  SmallVector<std::pair<Value, Value>> at;
  SmallVector<Piece> kept;
};

} // namespace

void PieceStore::begin(int64_t e, std::pair<Value, Value> place, ValueRange elements) {
  at[e] = place;
  values[e].clear();
  values[e].map(op.getBody().getArguments().take_front(2), ValueRange{place.first, place.second});
  values[e].map(op.getBody().getArguments().slice(2, firstRead - 2), elements);
  region.inlineUnguarded(builder, values[e], /*withCondition=*/e == 0);
}

/// Maps the region's arguments for elements of other memory.
void PieceStore::read(OpBuilder &b) {
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
      values[e].map(op.getBody().getArgument(firstRead + source),
                    sources.element(b, loc, loaded, source, e));
}

Piece PieceStore::compute(OpBuilder &b, Value inside) {
  read(b);
  SmallVector<Value> stored;
  for (int64_t e = 0; e < vector; ++e) {
    region.inlineGuarded(b, values[e], /*withCondition=*/e == 0);
    stored.push_back(region.result(values[e], 0));
  }
  return {joinElements(b, loc, stored), region.result(values[0], 1), inside};
}

Piece PieceStore::computeIfInside(Value inside) {
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
  return {branch.getResult(0), branch.getResult(1), inside};
}

void PieceStore::storeBegun() {
  Value inside = insideOfBegun();
  ifInside(inside, [&](OpBuilder &b) { store(b, compute(b, inside)); });
}

void PieceStore::storeKept() {
  for (const Piece &piece : kept)
    ifInside(piece.inside, [&](OpBuilder &b) { store(b, piece); });
  kept.clear();
}

LogicalResult TileExpander::expand(kernel::StoreFragmentOp op) {
  Location loc = op.getLoc();
  FailureOr<const Spread *> found = spreadOf(op, op.getFragment().getType());
  if (failed(found))
    return failure();
  const Spread &spread = **found;
  SmallVector<Values> inputs;
  SmallVector<Value> read{op.getFragment()};
  llvm::append_range(read, op.getOthers());
  for (Value input : read) {
    FailureOr<Values> values = flatten(op, input);
    if (failed(values))
      return failure();
    inputs.push_back(*values);
  }
  OpBuilder builder(op);
  PieceStore pieces(op, spread, builder);
  // A load behind a store to what may be the same memory would wait for it: those of a row, and of
  // several where it is short, come first.
  constexpr int64_t kLoadedFirst = 64; // bytes
  bool loadsFirst = readsSharedMemory(op);
  const Place *former = nullptr;
  for (auto [number, place] : llvm::enumerate(spread.values)) {
    if (former && former->rowOffset != place.rowOffset && pieces.keptBytes() >= kLoadedFirst)
      pieces.storeKept();
    former = &place;
    OpBuilder::InsertionGuard guard(builder);
    Value has = holds(place);
    if (has) {
      auto branch = builder.create<scf::IfOp>(loc, has, /*withElseRegion=*/false);
      builder.setInsertionPointToStart(branch.thenBlock());
    }
    for (int64_t first = 0; first < spread.width; first += pieces.size()) {
      for (int64_t e = 0; e < pieces.size(); ++e) {
        Place there = place;
        (spread.alongRows ? there.rowOffset : there.columnOffset) += first + e;
        std::pair<Value, Value> at{rowOf(builder, loc, there), colOf(builder, loc, there)};
        Values elements;
        for (const Values &input : inputs)
          elements.push_back(elementOf(builder, loc, input[number], first + e));
        pieces.begin(e, at, elements);
      }
      if (loadsFirst && !has)
        pieces.keepBegun();
      else
        pieces.storeBegun();
    }
  }
  pieces.storeKept();
  return success();
}
