// Operators that move elements: Transpose, Expand, Tile, DepthToSpace, SpaceToDepth, Concat.
//
//   onnx.Transpose  ==>  linalg.generic with a permutation as the input's map
//   onnx.Concat     ==>  rt.concat
//
// SPDX-License-Identifier: Apache-2.0
#include "dialects/onnx/shape/Layout.h"
#include "passes/linalg/Families.h"
#include "passes/linalg/Generics.h"
#include "passes/linalg/Slicing.h"

using namespace mlir;

namespace cameo {

//===-- Transpose -----------------------------------------------------------------------------===//

static LogicalResult lowerTranspose(Operation *op, Lowering &l) {
  FailureOr<onnx::TransposeShape> shape = onnx::inferTranspose(l.shapes, op);
  if (failed(shape))
    return failure();
  l.define(op, 0, transposed(l, op->getLoc(), l.operand(op, 0), shape->permutation));
  return success();
}

//===-- DepthToSpace, SpaceToDepth ------------------------------------------------------------===//

static LogicalResult lowerDepthToSpace(Operation *op, Lowering &l) {
  Lowered data = l.operand(op, 0);
  FailureOr<Sizes> result = onnx::inferDepthToSpace(l.plan, op, data.sizes);
  if (failed(result))
    return failure();
  auto depth = cast<onnx::DepthToSpaceOp>(op);
  ArrayRef<OpFoldResult> in = data.sizes;
  OpFoldResult size = l.plan.index(depth.getBlocksize()), channels = (*result)[1];
  bool columnRow = depth.getMode() == "CRD";
  Sizes split = columnRow ? Sizes{in[0], channels, size, size, in[2], in[3]}
                          : Sizes{in[0], size, size, channels, in[2], in[3]};
  SmallVector<int64_t> order =
      columnRow ? SmallVector<int64_t>{0, 1, 4, 2, 5, 3} : SmallVector<int64_t>{0, 3, 4, 1, 5, 2};
  Location loc = op->getLoc();
  Lowered moved = transposed(l, loc, l.build.reshape(loc, data, split), order);
  l.define(op, 0, l.build.reshape(loc, moved, *result));
  return success();
}

static LogicalResult lowerSpaceToDepth(Operation *op, Lowering &l) {
  Lowered data = l.operand(op, 0);
  FailureOr<Sizes> result = onnx::inferSpaceToDepth(l.plan, op, data.sizes);
  if (failed(result))
    return failure();
  ArrayRef<OpFoldResult> in = data.sizes;
  OpFoldResult size = l.plan.index(cast<onnx::SpaceToDepthOp>(op).getBlocksize());
  OpFoldResult rows = (*result)[2], columns = (*result)[3];
  Location loc = op->getLoc();
  Lowered split = l.build.reshape(loc, data, {in[0], in[1], rows, size, columns, size});
  Lowered moved = transposed(l, loc, split, {0, 3, 5, 1, 2, 4});
  l.define(op, 0, l.build.reshape(loc, moved, *result));
  return success();
}

//===-- Expand, Tile --------------------------------------------------------------------------===//

static LogicalResult lowerExpand(Operation *op, Lowering &l) {
  FailureOr<Sizes> sizes = l.infer(op);
  if (failed(sizes))
    return failure();
  Lowered data = l.operand(op, 0);
  if (*sizes == data.sizes) {
    l.define(op, 0, data);
    return success();
  }
  Value result =
      l.build.elementwise(op->getLoc(), data, *sizes, data.elementType,
                          [](OpBuilder &, Location, ValueRange scalars) { return scalars[0]; });
  l.define(op, 0, result, *sizes, data.elementType);
  return success();
}

static LogicalResult lowerTile(Operation *op, Lowering &l) {
  FailureOr<onnx::TileShape> shape = onnx::inferTile(l.shapes, op);
  if (failed(shape))
    return failure();
  Lowered data = l.operand(op, 0);
  const Sizes &sizes = shape->result;
  if (sizes == data.sizes) {
    l.define(op, 0, data);
    return success();
  }
  Value result = l.build.compute(
      op->getLoc(), sizes, data.elementType, [&](OpBuilder &b, Location loc, ValueRange at) {
        IndexMath math(b, loc);
        SmallVector<Value> source;
        for (auto [i, size] : llvm::enumerate(data.sizes)) {
          if (isConstantIntValue(size, 1))
            source.push_back(indexConstant(b, loc, 0));
          else if (isConstantIntValue(shape->repeats[i], 1))
            source.push_back(at[i]);
          else
            source.push_back(b.create<arith::RemUIOp>(loc, at[i], math.of(size)));
        }
        return math.element(data, source);
      });
  l.define(op, 0, result, sizes, data.elementType);
  return success();
}

//===-- Concat --------------------------------------------------------------------------------===//

static LogicalResult lowerConcat(Operation *op, Lowering &l) {
  FailureOr<onnx::ConcatShape> shape = onnx::inferConcat(l.shapes, op);
  if (failed(shape))
    return failure();
  SmallVector<Lowered> parts = l.operands(op);
  int64_t axis = shape->axis;
  const Sizes &sizes = shape->result;
  SmallVector<Lowered> filled; // parts with elements
  for (const Lowered &part : parts)
    if (!isConstantIntValue(part.sizes[axis], 0))
      filled.push_back(part);
  if (filled.size() == 1 && filled[0].sizes == sizes) {
    l.define(op, 0, filled[0]);
    return success();
  }
  if (filled.empty())
    filled.push_back(parts[0]); // no elements at all
  l.define(op, 0, l.build.concat(op->getLoc(), filled, axis, sizes));
  return success();
}

void registerLayoutOperators(LoweringRows &rows) {
  rows.add<onnx::TransposeOp>({lowerTranspose});
  rows.add<onnx::DepthToSpaceOp>({lowerDepthToSpace});
  rows.add<onnx::SpaceToDepthOp>({lowerSpaceToDepth});
  rows.add<onnx::ExpandOp>({lowerExpand, "shape known on the host"});
  rows.add<onnx::TileOp>({lowerTile, "repeats known on the host"});
  rows.add<onnx::ConcatOp>({lowerConcat});
  registerSlicing(rows);
}

} // namespace cameo
