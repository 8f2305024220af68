// Shapes of what takes bounds: Slice, Split and Pad.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "dialects/onnx/shape/Shapes.h"

namespace cameo::onnx {

/// Where a part lies: element i of a dimension is element start + i * step of the input's.
struct Bounds {
  Sizes starts, steps, result;
};
mlir::FailureOr<Bounds> inferSlice(Shapes &shapes, mlir::Operation *op);

struct SplitShape {
  int64_t axis;
  Sizes parts; // sizes along the axis, one a result
};
mlir::FailureOr<SplitShape> inferSplit(Shapes &shapes, mlir::Operation *op);
/// Where part `number` of `x` lies.
Bounds boundsOf(SizeBuilder &s, const Sizes &x, const SplitShape &split, size_t number);

/// `crops` are left out before each dimension, of which `kept` elements stay; `before` and `after`
/// are added to those.
struct PadShape {
  Sizes crops, kept, before, after, result;
  bool isIdentity;
};
mlir::FailureOr<PadShape> inferPad(Shapes &shapes, mlir::Operation *op);

} // namespace cameo::onnx
