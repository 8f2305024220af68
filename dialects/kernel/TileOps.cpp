// Verifiers of the tile-level operations.
//
// SPDX-License-Identifier: Apache-2.0
#include "dialects/kernel/Kernel.h"

#include "mlir/Dialect/Utils/StaticValueUtils.h"

using namespace mlir;
using namespace cameo::kernel;

static constexpr int64_t kWarp = 32;

static LogicalResult verifyFlat(Operation *op, Value memref) {
  auto type = cast<MemRefType>(memref.getType());
  if (type.getRank() == 1 && type.getLayout().isIdentity())
    return success();
  return op->emitOpError() << "needs rank-1 contiguous memory, has " << type;
}

static LogicalResult verifyRegion(Operation *op, Block &block, TypeRange arguments,
                                  TypeRange results) {
  if (block.getArgumentTypes() != arguments)
    return op->emitOpError("region has the wrong arguments");
  if (block.getTerminator()->getOperandTypes() != results)
    return op->emitOpError("region yields the wrong values");
  return success();
}

static Type elementOf(Value memref) { return cast<MemRefType>(memref.getType()).getElementType(); }

/// Checks how much of each source is loaded at once.
static LogicalResult verifyWidths(Operation *op, ValueRange sources,
                                  std::optional<ArrayRef<int64_t>> widths, int64_t vector) {
  for (Value source : sources)
    if (failed(verifyFlat(op, source)))
      return failure();
  if (!widths)
    return success();
  if (widths->size() != sources.size())
    return op->emitOpError() << "has " << widths->size() << " widths for " << sources.size()
                             << " sources";
  for (int64_t width : *widths)
    if (width < 0 || (width > 0 && vector % width != 0))
      return op->emitOpError() << "width of " << width << " does not divide the vector of "
                               << vector;
  return success();
}

/// Whether threads have the same elements of both. How many a value has may depend on their type.
static bool areSpreadAlike(FragmentType a, FragmentType b) {
  return a.getRows() == b.getRows() && a.getCols() == b.getCols() &&
         a.getLayout() == b.getLayout() && a.getSpread().width == b.getSpread().width;
}

LogicalResult StoreFragmentOp::verify() {
  if (failed(verifyWidths(*this, getSources(), getWidths(), getVector())) ||
      failed(verifyFlat(*this, getDest())))
    return failure();
  if (getSources().empty() != getReads().empty())
    return emitOpError("needs a region for where it reads exactly where it reads other memory");
  Type index = IndexType::get(getContext());
  SmallVector<Type> arguments{index, index, getFragment().getType().getElementType()};
  for (Value other : getOthers()) {
    auto type = cast<FragmentType>(other.getType());
    if (!areSpreadAlike(type, getFragment().getType()))
      return emitOpError("needs fragments of one size and layout");
    arguments.push_back(type.getElementType());
  }
  for (Value source : getSources())
    arguments.push_back(elementOf(source));
  SmallVector<Type> places(getSources().size(), index);
  if (!getReads().empty() &&
      failed(verifyRegion(*this, getReads().front(), {index, index}, places)))
    return failure();
  return verifyRegion(*this, getBody().front(), arguments,
                      {elementOf(getDest()), index, IntegerType::get(getContext(), 1)});
}

LogicalResult AdvanceOp::verify() { return verifyFlat(*this, getMemory()); }
LogicalResult AddressOp::verify() { return verifyFlat(*this, getMemory()); }

//===-- Tiles and fragments -----------------------------------------------------------------===//

/// Checks that rows x cols from a place on are within the tile, as far as the place is known.
static LogicalResult verifyPart(Operation *op, TileType tile, FragmentType part, Value stage,
                                Value row, Value col) {
  if (tile.getElementType() != part.getElementType())
    return op->emitOpError() << "tile has elements of " << tile.getElementType() << ", fragment of "
                             << part.getElementType();
  auto check = [&](StringRef what, Value at, int64_t count, int64_t bound) -> LogicalResult {
    int64_t first = getConstantIntValue(at).value_or(0);
    if (first >= 0 && first + count <= bound)
      return success();
    return op->emitOpError() << "reaches " << what << "s " << first << " to " << first + count - 1
                             << " of a tile of " << bound;
  };
  return success(succeeded(check("stage", stage, 1, tile.getStages())) &&
                 succeeded(check("row", row, part.getRows(), tile.getRows())) &&
                 succeeded(check("column", col, part.getCols(), tile.getCols())));
}

LogicalResult AllocTileOp::verify() {
  int64_t room = 0;
  for (Value other : getOver()) {
    auto allocation = other.getDefiningOp<AllocTileOp>();
    if (!allocation || !allocation.getOver().empty())
      return emitOpError("can be over tiles of kernel.alloc_tile only that have their own memory");
    room += cast<TileType>(other.getType()).getBytes();
  }
  int64_t bytes = getType().getBytes();
  if (!getOver().empty() && bytes > room)
    return emitOpError() << "takes " << bytes << " B over tiles of " << room << " B";
  return success();
}

LogicalResult LoadGlobalOp::verify() {
  size_t count = getSources().size();
  if (count == 0 || getPaddings().size() != count)
    return emitOpError() << "has " << count << " sources and " << getPaddings().size()
                         << " paddings";
  if (getNumResults() != count && getNumResults() != count + 1)
    return emitOpError() << "has " << getNumResults() << " results for " << count << " sources";
  auto first = cast<FragmentType>(getResultTypes()[0]);
  for (auto [number, type] : llvm::enumerate(getResultTypes())) {
    auto fragment = cast<FragmentType>(type);
    if (fragment.getRows() != first.getRows() || fragment.getCols() != first.getCols() ||
        fragment.getLayout() != first.getLayout())
      return emitOpError("needs fragments of one size and layout");
    Type element =
        number < count ? elementOf(getSources()[number]) : Type(IntegerType::get(getContext(), 1));
    if (fragment.getElementType() != element)
      return emitOpError() << "fragment " << number << " has elements of "
                           << fragment.getElementType() << ", not " << element;
    if (number < count && getPaddings()[number].getType() != element)
      return emitOpError() << "padding " << number << " is not " << element;
  }
  int64_t vector = first.getSpread().width, together = getTogether().value_or(vector);
  if (together < 1 || vector % together != 0)
    return emitOpError() << "together of " << together << " does not divide the vector of "
                         << vector;
  if (failed(verifyWidths(*this, getSources(), getWidths(), together)))
    return failure();
  auto index = IndexType::get(getContext());
  SmallVector<Type> places(count, index);
  places.push_back(IntegerType::get(getContext(), 1));
  return verifyRegion(*this, getBody().front(), {index, index}, places);
}

LogicalResult MapFragmentOp::verify() {
  auto index = IndexType::get(getContext());
  SmallVector<Type> arguments{index, index};
  for (Value input : getInputs()) {
    auto type = cast<FragmentType>(input.getType());
    if (type.getRows() != getType().getRows() || type.getCols() != getType().getCols() ||
        type.getLayout() != getType().getLayout())
      return emitOpError("needs fragments of one size and layout");
    arguments.push_back(type.getElementType());
  }
  // How many elements a value has may depend on their type.
  for (Value input : getInputs())
    if (cast<FragmentType>(input.getType()).getSpread().width != getType().getSpread().width)
      return emitOpError("needs elements that are spread alike");
  return verifyRegion(*this, getBody().front(), arguments, getType().getElementType());
}

LogicalResult ReduceRowsOp::verify() {
  auto index = IndexType::get(getContext());
  Type element = getType().getElementType();
  SmallVector<Type> arguments{index, index};
  for (Value input : getInputs()) {
    auto type = cast<FragmentType>(input.getType());
    if (!areSpreadAlike(type, getType()))
      return emitOpError("needs fragments of one size and layout");
    arguments.push_back(type.getElementType());
  }
  if (getInputs().empty())
    return emitOpError("needs a fragment to reduce");
  arguments.push_back(element);
  std::optional<RowSharing> sharing = rowSharing(getType().getSpread(), getType().getCols());
  if (!sharing || sharing->bits >= kWarp)
    return emitOpError("needs a layout of which each row is with lanes of one warp");
  return success(succeeded(verifyRegion(*this, getBody().front(), arguments, element)) &&
                 succeeded(verifyRegion(*this, getCombine().front(), {element, element}, element)));
}

LogicalResult WriteTileOp::verify() {
  return verifyPart(*this, getTile().getType(), getFragment().getType(), getStage(), getRow(),
                    getCol());
}

LogicalResult LoadFragmentOp::verify() {
  return verifyPart(*this, getTile().getType(), getType(), getStage(), getRow(), getCol());
}

LogicalResult CopyAsyncOp::verify() {
  FragmentType shape = getShape();
  if (failed(verifyFlat(*this, getSource())) ||
      failed(verifyPart(*this, getTile().getType(), shape, getStage(), getRow(), getCol())))
    return failure();
  if (elementOf(getSource()) != shape.getElementType())
    return emitOpError() << "copies " << shape.getElementType() << " from memory of "
                         << elementOf(getSource());
  if (getPadding() && getPadding().getType() != shape.getElementType())
    return emitOpError() << "pads " << shape.getElementType() << " with " << getPadding().getType();
  Spread spread = shape.getSpread();
  int64_t bytes = spread.width * shape.getElementType().getIntOrFloatBitWidth() / 8;
  if (bytes != 4 && bytes != 8 && bytes != 16)
    return emitOpError() << "copies 4, 8 or 16 B at once, not " << bytes;
  if (spread.width > 1 && spread.alongRows == getTile().getType().getLayout().hasConsecutiveRows())
    return emitOpError("needs elements that are consecutive in the tile, too");
  auto index = IndexType::get(getContext());
  return verifyRegion(*this, getBody().front(), {index, index},
                      {index, IntegerType::get(getContext(), 1)});
}

LogicalResult SliceFragmentOp::verify() {
  FragmentType whole = getFragment().getType(), part = getType();
  if (whole.getElementType() != part.getElementType() || whole.getLayout() != part.getLayout())
    return emitOpError("needs fragments of one layout and element type");
  Spread from = whole.getSpread(), to = part.getSpread();
  auto pieces = int64_t(from.values.size() / to.values.size()), number = int64_t(getNumber());
  if (from.values.size() % to.values.size() != 0 || number < 0 || number >= pieces)
    return emitOpError() << "takes piece " << number << " of " << to.values.size() << " of "
                         << from.values.size() << " values";
  ArrayRef<Place> values = ArrayRef(from.values).slice(number * to.values.size());
  for (auto [of, place] : llvm::zip(to.values, values))
    if (of.rowOffset - to.values[0].rowOffset != place.rowOffset - values[0].rowOffset ||
        of.columnOffset - to.values[0].columnOffset !=
            place.columnOffset - values[0].columnOffset ||
        of.holders != place.holders)
      return emitOpError("takes values that lie otherwise in the whole than in the part");
  return success();
}

LogicalResult WaitCopiesOp::verify() {
  int64_t pending = getPending();
  if (pending < 0 || pending > 254)
    return emitOpError() << "lets 0 to 254 groups pend, not " << pending;
  return success();
}

/// Whether elements are multiplied into sums of that type.
static bool isNarrower(Type from, Type to) {
  return from == to || (isa<FloatType>(from) == isa<FloatType>(to) &&
                        from.getIntOrFloatBitWidth() < to.getIntOrFloatBitWidth());
}

LogicalResult ContractOp::verify() {
  FragmentType lhs = getLhs().getType(), rhs = getRhs().getType(), sums = getType();
  if (lhs.getRows() != sums.getRows() || rhs.getCols() != sums.getCols() ||
      lhs.getCols() != rhs.getRows())
    return emitOpError() << "cannot multiply " << lhs.getRows() << " by " << lhs.getCols()
                         << " and " << rhs.getRows() << " by " << rhs.getCols() << " into "
                         << sums.getRows() << " by " << sums.getCols();
  FragmentType operands[] = {lhs, rhs};
  for (auto [number, type] : llvm::enumerate(operands)) {
    auto layout = dyn_cast<OperandAttr>(type.getLayout());
    if (!layout || layout.getNumber() != int64_t(number) ||
        Attribute(layout.getOf()) != Attribute(sums.getLayout()))
      return emitOpError() << "operand " << number << " needs the layout #kernel.operand<" << number
                           << ", of = " << Attribute(sums.getLayout()) << ">";
    if (!isNarrower(type.getElementType(), sums.getElementType()))
      return emitOpError() << "cannot multiply " << type.getElementType()
                           << " into accumulators of " << sums.getElementType();
  }
  return success();
}

LogicalResult FillFragmentOp::verify() {
  if (getValue().getType() == getType().getElementType())
    return success();
  return emitOpError() << "fills " << getType().getElementType() << " with "
                       << getValue().getType();
}
