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
#include "llvm/Support/MathExtras.h"

#include <numeric>

using namespace mlir;
using namespace cameo;
using kernel::Spread;
using kernel::TilePlaces;
using kernel::TileType;

/// Bytes that all banks of shared memory have together.
static constexpr int64_t kLine = 128;

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

int64_t TileExpander::runOf(const Spread &spread, TileType tile, const Element &first) {
  if (auto strided = dyn_cast<kernel::StridedAttr>(tile.getLayout()))
    return (spread.alongRows ? strided.getRow() : strided.getCol()) == 1 ? spread.width : 1;
  if (tile.getLayout().hasConsecutiveRows() == spread.alongRows)
    return 1;
  // Pieces of 16 bytes stay as they are.
  int64_t run = std::min(spread.width, 16 / bytesOf(tile.getElementType()));
  return spread.width % run == 0 && first.divisor % run == 0 ? run : 1;
}

TileExpander::Element TileExpander::elementAt(OpBuilder &builder, Location loc, const Part &part,
                                              const kernel::Place &place) {
  if (auto strided = dyn_cast<kernel::StridedAttr>(part.type.getLayout()))
    return stridedElement(builder, loc, part, place, strided);
  if (auto staged = dyn_cast<kernel::StagedAttr>(part.type.getLayout()))
    return stagedElement(builder, loc, part, place, staged);
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

//===-- Staged ------------------------------------------------------------------------------===//

/// All bits that numbers up to `most` may have.
static int64_t bitsUpTo(int64_t most) {
  return int64_t(llvm::PowerOf2Ceil(uint64_t(most) + 1)) - 1;
}

/// Bits that an expression of the thread's number may have.
static int64_t bitsOf(AffineExpr expr, int64_t threads) {
  if (auto number = dyn_cast<AffineConstantExpr>(expr))
    return number.getValue();
  auto binary = dyn_cast<AffineBinaryOpExpr>(expr);
  if (!binary)
    return bitsUpTo(threads - 1);
  int64_t left = bitsOf(binary.getLHS(), threads), right = bitsOf(binary.getRHS(), threads);
  bool isShift = isa<AffineConstantExpr>(binary.getRHS()) && llvm::isPowerOf2_64(right);
  switch (expr.getKind()) {
  case AffineExprKind::Mul:
    return isShift ? left * right : bitsUpTo(left * right);
  case AffineExprKind::FloorDiv:
    return isShift ? left / right : bitsUpTo(left / right);
  case AffineExprKind::Mod:
    return isShift ? left & (right - 1) : bitsUpTo(std::min(left, right - 1));
  default:
    return (left & right) == 0 ? left | right : bitsUpTo(left + right);
  }
}

/// The offset in a staged tile's stage of an element whose place is known.
static int64_t staged(TileType type, int64_t row, int64_t column) {
  auto layout = cast<kernel::StagedAttr>(type.getLayout());
  int64_t bytes = bytesOf(type.getElementType()), rows = layout.getRows(), cols = layout.getCols();
  int64_t rectangle = row / rows * (type.getCols() / cols) + column / cols;
  int64_t within = row % rows * cols + column % cols;
  int64_t exchange = kernel::StagedAttr::getExchange(within * bytes / kLine) * (16 / bytes);
  return rectangle * rows * cols + (within ^ exchange);
}

/// The same of any element.
Value TileExpander::staged(OpBuilder &builder, Location loc, TileType type, Value row,
                           Value column) {
  auto layout = cast<kernel::StagedAttr>(type.getLayout());
  int64_t bytes = bytesOf(type.getElementType()), rows = layout.getRows(), cols = layout.getCols();
  Value rectangle =
      add(builder, loc, mul(builder, loc, divide(builder, loc, row, rows), type.getCols() / cols),
          divide(builder, loc, column, cols));
  Value within = add(builder, loc, mul(builder, loc, remainder(builder, loc, row, rows), cols),
                     remainder(builder, loc, column, cols));
  Value line = divide(builder, loc, within, kLine / bytes), exchanged = within;
  for (int64_t bit = 1; bit < rows * cols * bytes / kLine; bit *= 2)
    if (int64_t exchange = kernel::StagedAttr::getExchange(bit)) {
      Value isSet = remainder(builder, loc, divide(builder, loc, line, bit), 2);
      exchanged = builder.createOrFold<arith::XOrIOp>(
          loc, exchanged, mul(builder, loc, isSet, exchange * (16 / bytes)));
    }
  return add(builder, loc, mul(builder, loc, rectangle, rows * cols), exchanged);
}

TileExpander::Element TileExpander::stagedElement(OpBuilder &builder, Location loc,
                                                  const Part &part, const kernel::Place &place,
                                                  kernel::StagedAttr layout) {
  int64_t bytes = bytesOf(part.type.getElementType());
  std::optional<int64_t> row = getConstantIntValue(part.row), col = getConstantIntValue(part.col);
  int64_t divisor = std::gcd(16 / bytes, std::gcd(place.column.getLargestKnownDivisor(),
                                                  place.columnOffset + col.value_or(1)));
  Value stage = mul(builder, loc, part.stage, part.type.getStageElements());
  int64_t rowOffset = place.rowOffset + row.value_or(0);
  int64_t columnOffset = place.columnOffset + col.value_or(0);
  bool isApart = row && col && llvm::isPowerOf2_64(layout.getRows()) &&
                 llvm::isPowerOf2_64(layout.getCols()) &&
                 (bitsOf(place.row, threads) & rowOffset) == 0 &&
                 (bitsOf(place.column, threads) & columnOffset) == 0;
  if (!isApart) {
    Value offset =
        staged(builder, loc, part.type, add(builder, loc, rowOf(builder, loc, place), part.row),
               add(builder, loc, colOf(builder, loc, place), part.col));
    return {add(builder, loc, offset, stage), divisor};
  }
  // What does not depend on the thread has bits of its own, so that it can be exchanged by itself:
  // in a line of 128 bytes it is combined with the thread's part, the rest is added.
  int64_t further = ::staged(part.type, rowOffset, columnOffset),
          within = further % (kLine / bytes);
  auto key = [&](int64_t number) {
    return std::tuple(builder.getInsertionBlock(), Type(part.type), place.row, place.column,
                      number);
  };
  if (!stagedParts.contains(key(0)))
    stagedParts[key(0)] =
        staged(builder, loc, part.type, atThread(place.row), atThread(place.column));
  if (!stagedParts.contains(key(within)))
    stagedParts[key(within)] =
        builder.create<arith::XOrIOp>(loc, stagedParts[key(0)], constant(within));
  Value offset = add(builder, loc, stagedParts[key(within)], stage);
  return {add(builder, loc, offset, further - within), divisor};
}
