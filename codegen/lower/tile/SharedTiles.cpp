// Tiles in shared memory: kernel.alloc_tile, and where their elements are.
//
//   %t = kernel.alloc_tile : !kernel.tile<16x64xf32, #kernel.strided<[68, 1]>, stages = 2>
//   ==>
//   workgroup(%t : memref<2176xf32, #gpu.address_space<workgroup>>)
//
// or, with kernel.dynamic_shared and for tiles over others, a memref.view of bytes.
//
// SPDX-License-Identifier: Apache-2.0
#include "codegen/lower/DevicePatterns.h"
#include "codegen/lower/tile/TileExpander.h"
#include "dialects/kernel/layouts/TilePlaces.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"

#include <numeric>

using namespace mlir;
using namespace cameo;
using kernel::TilePlaces;
using kernel::TileType;

//===-- Allocation --------------------------------------------------------------------------===//

LogicalResult TileExpander::placeTiles() {
  FailureOr<TilePlaces> places = kernel::placeTiles(function);
  if (failed(places))
    return failure();
  if (places->tiles.empty())
    return success();
  Location loc = function.getLoc();
  MLIRContext *context = function.getContext();
  auto space = gpu::AddressSpaceAttr::get(context, gpu::AddressSpace::Workgroup);
  auto memory = [&](int64_t count, Type element) {
    return MemRefType::get({count}, element, MemRefLayoutAttrInterface(), space);
  };
  Type byte = entry.getI8Type();
  auto dynamic = function->getAttrOfType<IntegerAttr>(kDynamicSharedAttribute);
  if (dynamic && dynamic.getInt() < places->bytes)
    return function.emitOpError() << "has tiles of " << places->bytes << " B in "
                                  << dynamic.getInt() << " B of dynamic shared memory";
  Value all;
  if (dynamic)
    all = entry.create<gpu::DynamicSharedMemoryOp>(loc, memory(ShapedType::kDynamic, byte));
  SmallVector<Value> bases(places->groups.size(), all);
  for (auto &[tile, at] : places->tiles) {
    auto type = cast<TileType>(tile.getType());
    const TilePlaces::Group &group = places->groups[at.group];
    MemRefType typed = memory(type.getStages() * type.getStageElements(), type.getElementType());
    Value &base = bases[at.group];
    bool isAlone = !dynamic && group.tiles == 1;
    if (!base) {
      unsigned number = function.getNumWorkgroupAttributions();
      base = function.addWorkgroupAttribution(isAlone ? typed : memory(group.bytes, byte), loc);
      if (group.alignment > kPointerAlignment)
        function.setWorkgroupAttributionAttr(number, LLVM::LLVMDialect::getAlignAttrName(),
                                             entry.getI64IntegerAttr(group.alignment));
    }
    int64_t offset = at.offset + (dynamic ? group.begin : 0);
    tiles[tile] =
        isAlone
            ? base
            : Value(entry.create<memref::ViewOp>(loc, typed, base, constant(offset), ValueRange()));
    expanded.push_back(tile.getDefiningOp());
  }
  return success();
}

//===-- Elements ----------------------------------------------------------------------------===//

bool TileExpander::areConsecutive(const kernel::Spread &spread, TileType tile) {
  if (auto strided = dyn_cast<kernel::StridedAttr>(tile.getLayout()))
    return (spread.alongRows ? strided.getRow() : strided.getCol()) == 1;
  return tile.getLayout().hasConsecutiveRows() != spread.alongRows;
}

TileExpander::Element TileExpander::elementAt(OpBuilder &builder, Location loc, const Part &part,
                                              const kernel::Place &place) {
  if (auto strided = dyn_cast<kernel::StridedAttr>(part.type.getLayout()))
    return stridedElement(builder, loc, part, place, strided);
  return swizzledElement(builder, loc, part, place,
                         cast<kernel::SwizzleAttr>(part.type.getLayout()));
}

TileExpander::Element TileExpander::stridedElement(OpBuilder &builder, Location loc,
                                                   const Part &part, const kernel::Place &place,
                                                   kernel::StridedAttr layout) {
  AffineExpr atThread = place.row * layout.getRow() + place.column * layout.getCol();
  int64_t distance = place.rowOffset * layout.getRow() + place.columnOffset * layout.getCol();
  int64_t divisor = std::gcd(atThread.getLargestKnownDivisor(), distance);
  auto divides = [&](Value index, int64_t stride) {
    divisor = std::gcd(divisor, getConstantIntValue(index).value_or(1) * stride);
  };
  divides(part.stage, part.type.getStageElements());
  divides(part.row, layout.getRow());
  divides(part.col, layout.getCol());

  // Stage and thread first, once, where the stage is known; then the place in the tile.
  Value stage = part.stage;
  Value &begin = stageParts[{stage, part.type.getStageElements(), atThread}];
  if (!begin) {
    OpBuilder early = entry;
    auto argument = dyn_cast<BlockArgument>(stage);
    bool isAtEntry = getConstantIntValue(stage) ||
                     (argument && argument.getOwner() == &function.getBody().front());
    if (!isAtEntry)
      early.setInsertionPointAfterValue(stage);
    begin = add(early, loc, mul(early, loc, stage, part.type.getStageElements()),
                this->atThread(atThread));
  }
  Value offset = begin;
  for (auto [index, stride] : {std::pair(part.row, layout.getRow()), {part.col, layout.getCol()}}) {
    if (std::optional<int64_t> known = getConstantIntValue(index))
      distance += *known * stride;
    else
      offset = add(builder, loc, offset, mul(builder, loc, index, stride));
  }
  return {add(builder, loc, offset, distance), divisor};
}

/// The offset in a stage of the element so far along a line of a swizzled tile.
Value TileExpander::swizzled(OpBuilder &builder, Location loc, kernel::TileType type, Value line,
                             Value along) {
  auto layout = cast<kernel::SwizzleAttr>(type.getLayout());
  int64_t bytes = bytesOf(type.getElementType());
  int64_t lines = layout.hasConsecutiveRows() ? type.getRows() : type.getCols();
  int64_t span = layout.getSpan() / bytes, piece = 16 / bytes, row = 128 / bytes;
  Value panel = mul(builder, loc, divide(builder, loc, along, span), lines * span);
  Value offset = add(builder, loc, add(builder, loc, panel, mul(builder, loc, line, span)),
                     remainder(builder, loc, along, span));
  Value exchanged =
      mul(builder, loc,
          remainder(builder, loc, divide(builder, loc, offset, row), layout.getSpan() / 16), piece);
  return builder.createOrFold<arith::XOrIOp>(loc, offset, exchanged);
}

TileExpander::Element TileExpander::swizzledElement(OpBuilder &builder, Location loc,
                                                    const Part &part, const kernel::Place &place,
                                                    kernel::SwizzleAttr layout) {
  struct Position {
    AffineExpr atThread;
    int64_t distance;
    Value from;
  };
  Position line{place.row, place.rowOffset, part.row};
  Position along{place.column, place.columnOffset, part.col};
  int64_t lines = part.type.getRows();
  if (!layout.hasConsecutiveRows()) {
    std::swap(line, along);
    lines = part.type.getCols();
  }
  int64_t bytes = bytesOf(part.type.getElementType());
  int64_t span = layout.getSpan() / bytes, piece = 16 / bytes;
  int64_t divisor =
      std::gcd(piece, std::gcd(along.atThread.getLargestKnownDivisor(), along.distance));
  divisor = std::gcd(divisor, getConstantIntValue(along.from).value_or(1));
  Value stage = mul(builder, loc, part.stage, part.type.getStageElements());

  std::optional<int64_t> knownLine = getConstantIntValue(line.from);
  std::optional<int64_t> knownAlong = getConstantIntValue(along.from);
  int64_t lineDistance = line.distance + knownLine.value_or(0);
  int64_t alongDistance = along.distance + knownAlong.value_or(0);
  // Pieces are exchanged alike eight lines further, and in the next panel.
  if (knownLine && knownAlong && lineDistance % 8 == 0 && alongDistance % span == 0) {
    Value &known = swizzledParts[{part.type, line.atThread, along.atThread}];
    if (!known)
      known = swizzled(entry, loc, part.type, atThread(line.atThread), atThread(along.atThread));
    Value offset = add(builder, loc, known, stage);
    return {add(builder, loc, offset, (lineDistance + alongDistance / span * lines) * span),
            divisor};
  }
  auto at = [&](const Position &position) {
    return add(builder, loc, add(builder, loc, atThread(position.atThread), position.distance),
               position.from);
  };
  Value offset = swizzled(builder, loc, part.type, at(line), at(along));
  return {add(builder, loc, offset, stage), divisor};
}
