// kernel.load_global and kernel.copy_async: what threads read of global memory.
//
//   %offset, %inside = region(%r, %c)
//   %v = scf.if %inside { vector.load %source[%offset] } else { padding }
//
// or
//
//   %size = arith.select %inside, 16, 0
//   kernel.ptx "cp.async.cg.shared.global 16"(address in the tile, address in the source, %size)
//
// or, where what is outside is not zero,
//
//   scf.if %inside { kernel.ptx "cp.async..."(...) } else { vector.store padding to the tile }
//
// SPDX-License-Identifier: Apache-2.0
#include "codegen/lower/DevicePatterns.h"
#include "codegen/lower/tile/TileExpander.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"

using namespace mlir;
using namespace cameo;
using kernel::FragmentType;
using kernel::Place;
using kernel::Spread;

static bool isConstantTrue(Value value) {
  return isConstantIntValue(value, -1) || isConstantIntValue(value, 1);
}

/// What `inside` gives where `condition` holds, else `outside`.
static SmallVector<Value> choose(OpBuilder &builder, Location loc, Value condition,
                                 function_ref<SmallVector<Value>(OpBuilder &)> inside,
                                 ValueRange outside) {
  if (!condition || isConstantTrue(condition))
    return inside(builder);
  auto branch = builder.create<scf::IfOp>(
      loc, condition, [&](OpBuilder &b, Location) { b.create<scf::YieldOp>(loc, inside(b)); },
      [&](OpBuilder &b, Location) { b.create<scf::YieldOp>(loc, outside); });
  return branch.getResults();
}

namespace {

/// What a kernel.load_global loads, run by run: elements that are inside together.
class RunLoader {
public:
  using Add = function_ref<Value(OpBuilder &, Value, int64_t)>;
  RunLoader(kernel::LoadGlobalOp op, int64_t run, bool alongRows, Add add)
      : op(op), loc(op.getLoc()), run(run), alongRows(alongRows), add(add),
        count(op.getSources().size()), widths(op.getWidths() ? llvm::to_vector(*op.getWidths())
                                                             : SmallVector<int64_t>(count, run)),
        sources(op.getSources(), widths, run), region(op.getBody().front(), /*condition=*/count) {}

  /// In place of what is not loaded, with whether it is inside where that is asked for.
  SmallVector<Value> outside(OpBuilder &b) {
    SmallVector<Value> values;
    for (auto [number, padding] : llvm::enumerate(op.getPaddings()))
      for (Type piece : sources.types(number))
        values.push_back(splat(b, loc, piece, padding));
    if (op.isMasked())
      values.push_back(b.create<arith::ConstantOp>(loc, b.getBoolAttr(false)));
    return values;
  }

  /// The same of the run from a row and a column on.
  SmallVector<Value> load(OpBuilder &b, Value row, Value col, ArrayRef<Value> outside) {
    IRMapping values = mapped(row, col);
    region.inlineUnguarded(b, values, /*withCondition=*/true);
    Value inside = region.result(values, count);
    auto access = [&](OpBuilder &b) {
      region.inlineGuarded(b, values, /*withCondition=*/true);
      return sources.load(b, loc, [&](unsigned source, int64_t element) {
        if (element == 0)
          return region.result(values, source);
        IRMapping there =
            mapped(alongRows ? add(b, row, element) : row, alongRows ? col : add(b, col, element));
        region.inlineUnguarded(b, there, /*withCondition=*/true);
        region.inlineGuarded(b, there, /*withCondition=*/true);
        return region.result(there, source);
      });
    };
    SmallVector<Value> loaded =
        choose(b, loc, inside, access, op.isMasked() ? outside.drop_back() : outside);
    if (op.isMasked())
      loaded.push_back(inside);
    return loaded;
  }

  /// Element by element, those of a source from a run.
  void append(OpBuilder &b, ArrayRef<Value> loaded, unsigned source,
              SmallVector<Value> &elements) const {
    for (int64_t element = 0; element < run; ++element)
      elements.push_back(source < count ? sources.element(b, loc, loaded, source, element)
                                        : loaded.back());
  }
  /// All of them as one value.
  Value whole(OpBuilder &b, ArrayRef<Value> loaded, unsigned source, Type type) const {
    return source < count ? sources.whole(b, loc, loaded, source, run)
                          : splat(b, loc, type, loaded.back());
  }

private:
  IRMapping mapped(Value row, Value col) {
    IRMapping values;
    values.map(op.getBody().getArguments(), ValueRange{row, col});
    return values;
  }

  kernel::LoadGlobalOp op;
  Location loc;
  int64_t run;
  bool alongRows;
  Add add; // an index and so many
  unsigned count;
  SmallVector<int64_t> widths;
  SourceGroup sources;
  ElementRegion region;
};

} // namespace

LogicalResult TileExpander::expand(kernel::LoadGlobalOp op) {
  Location loc = op.getLoc();
  FailureOr<const Spread *> found = spreadOf(op, cast<FragmentType>(op.getResultTypes()[0]));
  if (failed(found))
    return failure();
  const Spread &spread = **found;
  int64_t run = op.getTogether().value_or(spread.width);
  auto further = [&](OpBuilder &b, Value index, int64_t by) { return add(b, loc, index, by); };
  RunLoader loader(op, run, spread.alongRows, further);
  OpBuilder builder(op);
  SmallVector<Value> outside = loader.outside(builder);
  for (const Place &place : spread.values) {
    Value row = rowOf(entry, loc, place), col = colOf(entry, loc, place), has = holds(place);
    std::vector<SmallVector<Value>> runs;
    for (int64_t first = 0; first < spread.width; first += run) {
      Value runRow = spread.alongRows ? add(entry, loc, row, first) : row;
      Value runCol = spread.alongRows ? col : add(entry, loc, col, first);
      runs.push_back(choose(
          builder, loc, has, [&](OpBuilder &b) { return loader.load(b, runRow, runCol, outside); },
          outside));
    }
    for (auto [number, result] : llvm::enumerate(op.getResults())) {
      Type type = valueType(cast<FragmentType>(result.getType()));
      if (runs.size() == 1) {
        fragments[result].push_back(loader.whole(builder, runs.front(), number, type));
        continue;
      }
      SmallVector<Value> elements;
      for (const SmallVector<Value> &loaded : runs)
        loader.append(builder, loaded, number, elements);
      fragments[result].push_back(joinElements(builder, loc, elements));
    }
  }
  return success();
}

LogicalResult TileExpander::expand(kernel::CopyAsyncOp op) {
  Location loc = op.getLoc();
  FragmentType type = op.getShape();
  FailureOr<const Spread *> found = spreadOf(op, type);
  if (failed(found))
    return failure();
  const Spread &spread = **found;
  int64_t bytes = spread.width * bytesOf(type.getElementType());
  // Past L1, in whole sectors, where the instruction can.
  std::string instruction =
      ("cp.async." + Twine(bytes == 16 ? "cg" : "ca") + ".shared.global " + Twine(bytes)).str();
  ElementRegion region(op.getBody().front(), /*condition=*/1);
  Part part{op.getTile().getType(), tiles.lookup(op.getTile()), op.getStage(), op.getRow(),
            op.getCol()};
  auto pointer = [&](unsigned space) { return LLVM::LLVMPointerType::get(op.getContext(), space); };

  auto copy = [&](OpBuilder &b, const Place &place) -> LogicalResult {
    Element to = elementAt(b, loc, part, place);
    if (accessAlignment(to.divisor, type.getElementType()) < bytes)
      return op.emitOpError() << "copies " << bytes << " B to places that are not aligned to them";
    IRMapping values;
    values.map(op.getBody().getArguments(), ValueRange{rowOf(b, loc, place), colOf(b, loc, place)});
    region.inlineUnguarded(b, values, /*withCondition=*/true);
    Value inside = region.result(values, 1);
    bool isPadded = op.getPadding() && !isConstantTrue(inside);
    OpBuilder::InsertionGuard guard(b);
    if (isPadded) {
      auto branch = b.create<scf::IfOp>(loc, inside, /*withElseRegion=*/true);
      b.setInsertionPointToStart(branch.elseBlock());
      Value outside = splat(b, loc, valueType(type), op.getPadding());
      storeElements(b, loc, outside, part.memory, to.offset, bytes);
      b.setInsertionPointToStart(branch.thenBlock());
    }
    // Nothing is read of where an element is that is not inside.
    Value offset = choose(
        b, loc, region.isGuarded(0) && !isPadded ? inside : Value(),
        [&](OpBuilder &b) {
          region.inlineGuarded(b, values, /*withCondition=*/true);
          return SmallVector<Value>{region.result(values, 0)};
        },
        constant(0))[0];
    SmallVector<Value> operands{
        b.create<kernel::AddressOp>(loc, pointer(kShared), part.memory, to.offset),
        b.create<kernel::AddressOp>(loc, pointer(kGlobal), op.getSource(), offset)};
    if (!isConstantTrue(inside) && !isPadded) {
      auto size = [&](int64_t value) { return b.create<arith::ConstantIntOp>(loc, value, 32); };
      operands.push_back(b.create<arith::SelectOp>(loc, inside, size(bytes), size(0)));
    }
    b.create<kernel::PtxOp>(loc, TypeRange(), instruction, operands);
    return success();
  };
  OpBuilder builder(op);
  for (const Place &place : spread.values) {
    OpBuilder::InsertionGuard guard(builder);
    if (Value has = holds(place)) {
      auto branch = builder.create<scf::IfOp>(loc, has, /*withElseRegion=*/false);
      builder.setInsertionPointToStart(branch.thenBlock());
    }
    if (failed(copy(builder, place)))
      return failure();
  }
  return success();
}
