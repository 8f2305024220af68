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

LogicalResult TileExpander::expand(kernel::LoadGlobalOp op) {
  Location loc = op.getLoc();
  auto type = cast<FragmentType>(op.getResultTypes()[0]);
  FailureOr<const Spread *> found = spreadOf(op, type);
  if (failed(found))
    return failure();
  const Spread &spread = **found;
  unsigned count = op.getSources().size();
  SmallVector<int64_t> widths(count, spread.width);
  if (op.getWidths())
    widths.assign(op.getWidths()->begin(), op.getWidths()->end());
  SourceGroup sources(op.getSources(), widths, spread.width);
  ElementRegion region(op.getBody().front(), /*condition=*/count);

  OpBuilder builder(op);
  SmallVector<Value> outside; // in place of what is not loaded
  for (auto [number, padding] : llvm::enumerate(op.getPaddings()))
    for (Type piece : sources.types(number))
      outside.push_back(splat(builder, loc, piece, padding));
  Value never;
  if (op.isMasked())
    never = builder.create<arith::ConstantOp>(loc, builder.getBoolAttr(false));

  for (const Place &place : spread.values) {
    Value row = rowOf(entry, loc, place), col = colOf(entry, loc, place);
    auto loadInside = [&](OpBuilder &b) {
      IRMapping values;
      values.map(op.getBody().getArguments(), ValueRange{row, col});
      region.inlineUnguarded(b, values, /*withCondition=*/true);
      Value inside = region.result(values, count);
      auto access = [&](OpBuilder &b) {
        region.inlineGuarded(b, values, /*withCondition=*/true);
        return sources.load(b, loc, [&](unsigned source, int64_t element) {
          if (element == 0)
            return region.result(values, source);
          IRMapping there;
          there.map(op.getBody().getArguments(),
                    ValueRange{add(b, loc, row, spread.alongRows ? element : 0),
                               add(b, loc, col, spread.alongRows ? 0 : element)});
          region.inlineUnguarded(b, there, /*withCondition=*/true);
          region.inlineGuarded(b, there, /*withCondition=*/true);
          return region.result(there, source);
        });
      };
      SmallVector<Value> loaded = choose(b, loc, inside, access, outside);
      if (op.isMasked())
        loaded.push_back(inside);
      return loaded;
    };
    SmallVector<Value> nothing(outside);
    if (op.isMasked())
      nothing.push_back(never);
    SmallVector<Value> loaded = choose(builder, loc, holds(place), loadInside, nothing);
    for (unsigned source = 0; source < count; ++source)
      fragments[op.getResult(source)].push_back(
          sources.whole(builder, loc, loaded, source, spread.width));
    if (op.isMasked())
      fragments[op.getResult(count)].push_back(
          splat(builder, loc, valueType(cast<FragmentType>(op.getResult(count).getType())),
                loaded.back()));
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
