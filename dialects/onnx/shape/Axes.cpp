// Axes as operators give them.
//
// SPDX-License-Identifier: Apache-2.0
#include "dialects/onnx/shape/Axes.h"

#include "dialects/onnx/shape/Attributes.h"

#include "mlir/Dialect/Utils/StaticValueUtils.h"

using namespace mlir;

namespace cameo::onnx {

std::optional<int64_t> normalizedAxis(int64_t axis, int64_t rank) {
  if (axis < 0)
    axis += rank;
  if (axis < 0 || axis >= rank)
    return std::nullopt;
  return axis;
}

std::string outsideText(int64_t axis, int64_t rank) {
  return "axis " + std::to_string(axis) + " is outside [-" + std::to_string(rank) + ", " +
         std::to_string(rank) + ")";
}

FailureOr<int64_t> normalizedAxis(SizeBuilder &s, Operation *op, int64_t axis, int64_t rank) {
  if (std::optional<int64_t> normalized = normalizedAxis(axis, rank))
    return *normalized;
  return s.refuse(op, outsideText(axis, rank));
}

FailureOr<int64_t> axisAttribute(SizeBuilder &s, Operation *op, int64_t otherwise, int64_t rank) {
  return normalizedAxis(s, op, intAttribute(op, "axis", otherwise), rank);
}

FailureOr<SmallVector<int64_t>> normalizedAxes(SizeBuilder &s, Operation *op,
                                               ArrayRef<int64_t> axes, int64_t rank) {
  SmallVector<int64_t> result;
  for (int64_t axis : axes) {
    std::optional<int64_t> normalized = normalizedAxis(axis, rank);
    if (!normalized)
      return s.refuse(op, outsideText(axis, rank));
    if (llvm::is_contained(result, *normalized))
      return s.refuse(op, "axis " + Twine(axis) + " is given twice; each may be given once");
    result.push_back(*normalized);
  }
  return result;
}

FailureOr<Sizes> amongAxes(SizeBuilder &s, Operation *op, ArrayRef<OpFoldResult> axes,
                           int64_t rank) {
  Sizes among;
  OpFoldResult named = s.index(0), given = s.index(axes.size());
  for (int64_t i = 0; i < rank; ++i) {
    OpFoldResult here = s.index(0);
    for (OpFoldResult axis : axes)
      here = s.max(here, s.max(s.equal(axis, s.index(i)), s.equal(axis, s.index(i - rank))));
    among.push_back(here);
    named = s.add(named, here);
  }
  if (failed(s.check(op, s.equal(named, given),
                     "the {1} axes name {0} dimensions of a tensor of rank " + Twine(rank) +
                         "; each must be in range and given once",
                     named, given)))
    return failure();
  return among;
}

LogicalResult checkAxes(SizeBuilder &s, Operation *op, ArrayRef<OpFoldResult> axes, int64_t rank) {
  SmallVector<int64_t> known;
  for (OpFoldResult axis : axes)
    if (std::optional<int64_t> value = getConstantIntValue(axis))
      known.push_back(*value);
  if (failed(normalizedAxes(s, op, known, rank)))
    return failure();
  if (static_cast<int64_t>(axes.size()) > rank)
    return s.refuse(op, Twine(axes.size()) + " axes of a tensor of rank " + Twine(rank));
  return known.size() == axes.size() ? success() : success(succeeded(amongAxes(s, op, axes, rank)));
}

OpFoldResult fromStart(SizeBuilder &s, OpFoldResult axis, int64_t rank) {
  if (std::optional<int64_t> known = getConstantIntValue(axis))
    return s.index(*known < 0 ? *known + rank : *known);
  // Not a choice of sums, both of which are computed: one of a great number would overflow.
  return s.add(axis, s.select(s.less(axis, s.index(0)), s.index(rank), s.index(0)));
}

Sizes remainingSizes(SizeBuilder &s, ArrayRef<OpFoldResult> sizes, ArrayRef<OpFoldResult> removed,
                     int64_t count) {
  Sizes result;
  for (int64_t j = 0; j < count; ++j) {
    // The dimension with j remaining ones before it.
    OpFoldResult size = s.index(1), before = s.index(0);
    for (auto [candidate, gone] : llvm::zip(sizes, removed)) {
      OpFoldResult stays = s.sub(s.index(1), gone);
      OpFoldResult here = s.mul(stays, s.equal(before, s.index(j)));
      size = s.select(s.equal(here, s.index(1)), candidate, size);
      before = s.add(before, stays);
    }
    result.push_back(size);
  }
  return result;
}

std::optional<SmallVector<int64_t>> knownIntegers(ArrayRef<OpFoldResult> values) {
  SmallVector<int64_t> result;
  for (OpFoldResult value : values) {
    std::optional<int64_t> known = getConstantIntValue(value);
    if (!known)
      return std::nullopt;
    result.push_back(*known);
  }
  return result;
}

} // namespace cameo::onnx
