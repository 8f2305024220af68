// Shapes and constants: Shape, Size, Constant, ConstantOfShape, Range, and the operators that only
// change the shape (Reshape, Flatten, Squeeze, Unsqueeze).
//
//   onnx.Shape    ==>  rt.from_scalars of sizes
//   onnx.Reshape  ==>  rt.reshape, no device work
//
// SPDX-License-Identifier: Apache-2.0
#include "dialects/onnx/shape/Generators.h"
#include "passes/linalg/Families.h"
#include "passes/linalg/Indexing.h"

using namespace mlir;

namespace cameo {

//===-- Shape, Size ---------------------------------------------------------------------------===//

static LogicalResult lowerShape(Operation *op, Lowering &l) {
  FailureOr<Sizes> sizes = l.infer(op);
  if (failed(sizes))
    return failure();
  Type type = Lowering::elementType(op->getResult(0));
  Sizes values = onnx::shapeValues(l.shapes, op);
  l.define(op, 0, l.build.fromHost(op->getLoc(), values, *sizes, type), *sizes, type);
  return success();
}

static LogicalResult lowerSize(Operation *op, Lowering &l) {
  Type type = Lowering::elementType(op->getResult(0));
  OpFoldResult value = onnx::sizeValue(l.shapes, op);
  l.define(op, 0, l.build.fromHost(op->getLoc(), value, {}, type), {}, type);
  return success();
}

//===-- Constant, ConstantOfShape, Range ------------------------------------------------------===//

static LogicalResult lowerConstant(Operation *op, Lowering &l) {
  ElementsAttr value = cast<onnx::ConstantOp>(op).getValue();
  Sizes sizes;
  for (int64_t size : value.getShapedType().getShape())
    sizes.push_back(l.plan.index(size));
  l.define(op, 0, l.build.constant(op->getLoc(), value), sizes, value.getElementType());
  return success();
}

static LogicalResult lowerConstantOfShape(Operation *op, Lowering &l) {
  FailureOr<Sizes> sizes = l.infer(op);
  if (failed(sizes))
    return failure();
  Type type = Lowering::elementType(op->getResult(0));
  TypedAttr value = onnx::fillValue(cast<onnx::ConstantOfShapeOp>(op));
  l.define(op, 0, l.build.fill(op->getLoc(), *sizes, type, value), *sizes, type);
  return success();
}

static LogicalResult lowerRange(Operation *op, Lowering &l) {
  FailureOr<Sizes> inferred = l.infer(op);
  if (failed(inferred))
    return failure();
  const Sizes &sizes = *inferred;
  Type type = Lowering::elementType(op->getResult(0));
  Lowered start = l.operand(op, 0), delta = l.operand(op, 2);
  Value range = l.build.compute(
      op->getLoc(), sizes, type, [&](OpBuilder &b, Location loc, ValueRange at) -> Value {
        IndexMath math(b, loc);
        Type sumType = accumulatorType(signless(type));
        Value from = convertScalar(b, loc, math.only(start), type, sumType);
        Value step = convertScalar(b, loc, math.only(delta), type, sumType);
        Type wide = b.getI64Type();
        Value position = b.create<arith::IndexCastOp>(loc, wide, at[0]);
        position = convertScalar(b, loc, position, wide, sumType);
        if (!isa<FloatType>(sumType))
          return b.create<arith::AddIOp>(loc, from, b.create<arith::MulIOp>(loc, position, step));
        Value element =
            b.create<arith::AddFOp>(loc, from, b.create<arith::MulFOp>(loc, position, step));
        return convertScalar(b, loc, element, sumType, type);
      });
  l.define(op, 0, range, sizes, type);
  return success();
}

//===-- Reshape -------------------------------------------------------------------------------===//

/// Reshape, Flatten, Squeeze and Unsqueeze: the same elements under the sizes that were inferred.
static LogicalResult lowerView(Operation *op, Lowering &l) {
  FailureOr<Sizes> sizes = l.infer(op);
  if (failed(sizes))
    return failure();
  l.define(op, 0, l.build.reshape(op->getLoc(), l.operand(op, 0), *sizes));
  return success();
}

void registerShapeOperators(LoweringRows &rows) {
  rows.add<onnx::ShapeOp>({lowerShape});
  rows.add<onnx::SizeOp>({lowerSize});
  rows.add<onnx::ConstantOp>({lowerConstant});
  rows.add<onnx::ConstantOfShapeOp>({lowerConstantOfShape, "shape known on the host"});
  rows.add<onnx::RangeOp>({lowerRange, "operands known on the host"});
  rows.add<onnx::ReshapeOp>({lowerView, "shape known on the host"});
  rows.add<onnx::FlattenOp>({lowerView});
  rows.add<onnx::SqueezeOp>({lowerView, "axes known on the host"});
  rows.add<onnx::UnsqueezeOp>({lowerView, "axes known on the host"});
}

} // namespace cameo
