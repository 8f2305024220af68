// Places of tensors that are parts of others.
//
// SPDX-License-Identifier: Apache-2.0
#include "passes/host/BufferPlanner.h"

#include "mlir/Dialect/Utils/StaticValueUtils.h"

using namespace mlir;
using namespace cameo;

/// Whether the tensor is a storage or a view of one, which is there to be written.
bool BufferPlanner::isUnwritten(Value tensor) {
  while (Operation *op = tensor.getDefiningOp()) {
    if (isa<rt::StorageOp>(op))
      return true;
    if (!isa<rt::ViewOp, rt::ReshapeOp, tensor::CastOp>(op))
      return false;
    tensor = op->getOperand(0);
  }
  return false;
}

LogicalResult BufferPlanner::collectView(rt::ViewOp view) {
  auto source = placeOf.find(view.getSource());
  std::optional<rt::Layout> layout = rt::layoutOf(view);
  if (source == placeOf.end() || !layout)
    return view.emitError("is of a tensor that is in no memory");
  builder.setInsertionPoint(view);
  Place place = places[source->second];
  place.view = view;
  place.offset = constant(0);
  int64_t elementBytes = bytesOfElement(view);
  for (auto [index, stride] : layout->offset) {
    OpFoldResult distance = mul(mul(index, product(stride)), constant(elementBytes));
    place.offset = sum(place.offset, distance);
  }
  place.bytes = bytesOf(view, *layout);
  if (!place.bytes) {
    // To the end of the memory, which begins nowhere else where it is empty.
    OpFoldResult all = bytesOf(memories[place.memory]);
    if (getConstantIntValue(all).value_or(0) == 0)
      place.offset =
          builder.createOrFold<arith::MinSIOp>(view.getLoc(), value(place.offset), value(all));
    place.bytes =
        builder.createOrFold<arith::SubIOp>(view.getLoc(), value(all), value(place.offset));
  }
  if (isUnwritten(view)) {
    unsigned around = place.part;
    place.part = parts.size();
    parts[around].inside.push_back(place.part);
    parts.push_back({around, {}, {}});
  }
  places.push_back(place);
  bind(view, places.size() - 1);
  return success();
}

OpFoldResult BufferPlanner::sum(OpFoldResult a, OpFoldResult b) {
  auto x = getConstantIntValue(a), y = getConstantIntValue(b);
  if (x && y)
    return constant(*x + *y);
  return x == 0 ? b : builder.createOrFold<arith::AddIOp>(function.getLoc(), value(a), value(b));
}

OpFoldResult BufferPlanner::product(const rt::Extent &extent) {
  OpFoldResult result = constant(extent.factor);
  for (const rt::Extent::Size &size : extent.sizes)
    result =
        mul(result, size.dim < 0 ? OpFoldResult(size.value) : (*sizesOf(size.value))[size.dim]);
  return result;
}

/// From a view's first element to its last; null where that is in several pieces of a size known
/// only at run time.
OpFoldResult BufferPlanner::bytesOf(Value view, const rt::Layout &layout) {
  int64_t elementBytes = bytesOfElement(view);
  auto type = cast<RankedTensorType>(view.getType());
  if (layout.isContiguous) {
    OpFoldResult bytes = constant(elementBytes);
    for (int64_t dim = 0; dim < type.getRank(); ++dim)
      bytes = mul(bytes, product(rt::sizeOf(view, dim)));
    return bytes;
  }
  if (!type.hasStaticShape() || type.getNumElements() == 0)
    return {};
  int64_t last = 0;
  for (int64_t dim = 0; dim < type.getRank(); ++dim) {
    std::optional<int64_t> stride = layout.strides[dim].known();
    if (!stride)
      return {};
    last += (type.getDimSize(dim) - 1) * *stride;
  }
  return constant((last + 1) * elementBytes);
}

/// The buffer of a place, made at `user`, the first step that uses it.
Value BufferPlanner::bufferAt(unsigned number, Location user) {
  const Place &place = places[number];
  Value whole = buffer(place.memory, user);
  if (!place.view)
    return whole;
  Value &result = buffersOfViews[number];
  if (!result)
    result = builder.create<rt::BufferPartOp>(function.getLoc(), whole.getType(), whole,
                                              value(place.offset), value(place.bytes));
  return result;
}
