// Fragments in registers: filled, computed element by element, written to tiles and loaded from
// them.
//
// SPDX-License-Identifier: Apache-2.0
#include "codegen/lower/DevicePatterns.h"
#include "codegen/lower/tile/TileExpander.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/SCF/IR/SCF.h"

#include <numeric>

using namespace mlir;
using namespace cameo;
using kernel::FragmentType;
using kernel::Place;
using kernel::Spread;

LogicalResult TileExpander::expand(kernel::FillFragmentOp op) {
  FailureOr<const Spread *> spread = spreadOf(op, op.getType());
  if (failed(spread))
    return failure();
  OpBuilder builder(op);
  Value value = splat(builder, op.getLoc(), valueType(op.getType()), op.getValue());
  fragments[op.getResult()].assign((*spread)->values.size(), value);
  return success();
}

LogicalResult TileExpander::expand(kernel::MapFragmentOp op) {
  Location loc = op.getLoc();
  FailureOr<const Spread *> found = spreadOf(op, op.getType());
  if (failed(found))
    return failure();
  const Spread &spread = **found;
  SmallVector<Values> inputs;
  for (Value input : op.getInputs()) {
    FailureOr<Values> values = flatten(op, input);
    if (failed(values))
      return failure();
    inputs.push_back(*values);
  }
  Block &body = op.getBody().front();
  bool usesPlace = !body.getArgument(0).use_empty() || !body.getArgument(1).use_empty();
  OpBuilder builder(op);
  Values &results = fragments[op.getResult()];
  for (auto [number, place] : llvm::enumerate(spread.values)) {
    Values elements;
    for (int64_t e = 0; e < spread.width; ++e) {
      IRMapping values;
      if (usesPlace)
        values.map(
            body.getArguments().take_front(2),
            ValueRange{add(builder, loc, rowOf(builder, loc, place), spread.alongRows ? e : 0),
                       add(builder, loc, colOf(builder, loc, place), spread.alongRows ? 0 : e)});
      for (auto [argument, input] : llvm::zip(body.getArguments().drop_front(2), inputs))
        values.map(argument, elementOf(builder, loc, input[number], e));
      for (Operation &inner : body.without_terminator())
        builder.clone(inner, values);
      elements.push_back(values.lookupOrDefault(body.getTerminator()->getOperand(0)));
    }
    results.push_back(joinElements(builder, loc, elements));
  }
  return success();
}

/// Elements `first` to `first` + `count` of a value.
static Value slice(OpBuilder &builder, Location loc, Value value, int64_t first, int64_t count) {
  auto type = dyn_cast<VectorType>(value.getType());
  if (!type || type.getNumElements() == count)
    return value;
  SmallVector<Value> elements;
  for (int64_t e = first; e < first + count; ++e)
    elements.push_back(elementOf(builder, loc, value, e));
  return joinElements(builder, loc, elements);
}

LogicalResult TileExpander::expand(kernel::WriteTileOp op) {
  Location loc = op.getLoc();
  FragmentType type = op.getFragment().getType();
  FailureOr<const Spread *> found = spreadOf(op, type);
  FailureOr<Values> fragment = flatten(op, op.getFragment());
  if (failed(found) || failed(fragment))
    return failure();
  const Spread &spread = **found;
  Part part{op.getTile().getType(), tiles.lookup(op.getTile()), op.getStage(), op.getRow(),
            op.getCol()};
  int64_t bytes = bytesOf(type.getElementType());
  OpBuilder builder(op);
  for (auto [place, value] : llvm::zip(spread.values, *fragment)) {
    OpBuilder::InsertionGuard guard(builder);
    if (Value has = holds(place)) {
      auto branch = builder.create<scf::IfOp>(loc, has, /*withElseRegion=*/false);
      builder.setInsertionPointToStart(branch.thenBlock());
    }
    Element first = elementAt(builder, loc, part, place);
    int64_t run = runOf(spread, part.type, first);
    int64_t alignment = accessAlignment(std::gcd(first.divisor, run), type.getElementType());
    if (alignment == bytes)
      run = 1;
    for (int64_t e = 0; e < spread.width; e += run) {
      Place there = place;
      (spread.alongRows ? there.rowOffset : there.columnOffset) += e;
      Element at = e == 0 ? first : elementAt(builder, loc, part, there);
      storeElements(builder, loc, slice(builder, loc, value, e, run), part.memory, at.offset,
                    alignment);
    }
  }
  return success();
}

LogicalResult TileExpander::expand(kernel::LoadFragmentOp op) {
  Location loc = op.getLoc();
  FailureOr<const Spread *> found = spreadOf(op, op.getType());
  if (failed(found))
    return failure();
  const Spread &spread = **found;
  Part part{op.getTile().getType(), tiles.lookup(op.getTile()), op.getStage(), op.getRow(),
            op.getCol()};
  OpBuilder builder(op);
  if (MatrixLoads::canLoad(op)) {
    Value thread = atThread(getAffineDimExpr(0, op.getContext()));
    if (!matrixLoads)
      matrixLoads.emplace(entry, thread);
    auto pointer = LLVM::LLVMPointerType::get(op.getContext(), kShared);
    Value begin = entry.create<kernel::AddressOp>(loc, pointer, part.memory, constant(0));
    fragments[op.getResult()] = matrixLoads->load(op, begin);
    return success();
  }
  Type element = op.getType().getElementType();
  auto load = [&](OpBuilder &b, const Place &place) {
    Element first = elementAt(b, loc, part, place);
    int64_t run = runOf(spread, part.type, first);
    int64_t alignment = accessAlignment(std::gcd(first.divisor, run), element);
    Values elements;
    for (int64_t e = 0; e < spread.width; e += run) {
      Place there = place;
      (spread.alongRows ? there.rowOffset : there.columnOffset) += e;
      Element at = e == 0 ? first : elementAt(b, loc, part, there);
      Value loaded = loadElements(b, loc, part.memory, at.offset, run, alignment);
      if (run == spread.width)
        return loaded;
      for (int64_t i = 0; i < run; ++i)
        elements.push_back(elementOf(b, loc, loaded, i));
    }
    return joinElements(b, loc, elements);
  };
  Values &values = fragments[op.getResult()];
  for (const Place &place : spread.values) {
    Value has = holds(place);
    if (!has) {
      values.push_back(load(builder, place));
      continue;
    }
    auto branch = builder.create<scf::IfOp>(
        loc, has, [&](OpBuilder &b, Location) { b.create<scf::YieldOp>(loc, load(b, place)); },
        [&](OpBuilder &b, Location) {
          TypedAttr nothing = cast<TypedAttr>(b.getZeroAttr(valueType(op.getType())));
          b.create<scf::YieldOp>(loc, b.create<arith::ConstantOp>(loc, nothing).getResult());
        });
    values.push_back(branch.getResult(0));
  }
  return success();
}

LogicalResult TileExpander::expand(kernel::SliceFragmentOp op) {
  FailureOr<const Spread *> spread = spreadOf(op, op.getType());
  FailureOr<Values> whole = flatten(op, op.getFragment());
  if (failed(spread) || failed(whole))
    return failure();
  size_t count = (*spread)->values.size();
  ArrayRef<Value> part = ArrayRef(*whole).slice(op.getNumber() * count, count);
  fragments[op.getResult()].assign(part.begin(), part.end());
  return success();
}
