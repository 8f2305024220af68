// Shapes of quantisation, and of products of quantised tensors.
//
// SPDX-License-Identifier: Apache-2.0
#include "dialects/onnx/shape/Quantization.h"

#include "dialects/onnx/Onnx.h"
#include "dialects/onnx/shape/Attributes.h"
#include "dialects/onnx/shape/Contractions.h"
#include "dialects/onnx/shape/ShapeRules.h"

#include "mlir/Dialect/Utils/StaticValueUtils.h"

using namespace mlir;

namespace cameo::onnx {

bool isOneNumber(const Sizes &sizes) {
  return llvm::all_of(sizes, [](OpFoldResult size) { return isConstantIntValue(size, 1); });
}

//===-- QuantizeLinear, DequantizeLinear ------------------------------------------------------===//

/// A scale of the input's rank has a number for each block of an axis.
static LogicalResult checkBlocks(SizeBuilder &s, Operation *op, const Sizes &x, const Sizes &scale,
                                 const QuantizationShape &shape) {
  if (shape.block == 0)
    return s.refuse(op, "the scale has rank " + Twine(scale.size()) +
                            ", but block_size is not given; nearest supported: a scale of one "
                            "number, or of rank 1 with one for each index of the axis");
  for (auto [i, size, whole] : llvm::enumerate(scale, x)) {
    OpFoldResult wanted =
        static_cast<int64_t>(i) == shape.axis ? s.ceilDiv(whole, s.index(shape.block)) : whole;
    if (failed(s.check(op, s.equal(size, wanted),
                       "the scale has a size of {0} where the input's blocks are {1}", size,
                       wanted)))
      return failure();
  }
  return success();
}

FailureOr<QuantizationShape> inferQuantization(SizeBuilder &s, Operation *op,
                                               ArrayRef<Sizes> operands) {
  const Sizes &x = operands[0], &scale = operands[1];
  QuantizationShape shape;
  shape.result = x;
  int64_t rank = x.size();
  if (!isOneNumber(scale)) {
    shape.axis = intAttribute(op, "axis", 1);
    shape.block = intAttribute(op, "block_size", 0);
    if (shape.axis < -rank || shape.axis >= rank)
      return s.refuse(op, "axis is " + Twine(shape.axis) + " for a tensor of rank " + Twine(rank));
    if (shape.axis < 0)
      shape.axis += rank;
    bool blocked = shape.block != 0 && scale.size() == x.size();
    shape.granularity = blocked ? QuantizationShape::Blocked : QuantizationShape::PerAxis;
    if (!blocked && scale.size() != 1 && scale.size() != x.size())
      return s.refuse(op, "the scale has rank " + Twine(scale.size()) + " for a tensor of rank " +
                              Twine(rank) + "; it must be 0, 1 or that of the tensor");
    if (blocked || scale.size() != 1) {
      if (failed(checkBlocks(s, op, x, scale, shape)))
        return failure();
    } else if (failed(s.check(op, s.equal(scale[0], x[shape.axis]),
                              "the scale has {0} numbers for an axis of {1}", scale[0],
                              x[shape.axis]))) {
      return failure();
    }
  }
  if (operands.size() < 3)
    return shape;
  const Sizes &zero = operands[2];
  if (isOneNumber(zero) && isOneNumber(scale))
    return shape;
  if (zero.size() != scale.size())
    return s.refuse(op, "the zero point has rank " + Twine(zero.size()) + ", the scale " +
                            Twine(scale.size()) + "; both must have one shape");
  for (auto [ofZero, ofScale] : llvm::zip(zero, scale))
    if (failed(s.check(op, s.equal(ofZero, ofScale),
                       "the zero point has a size of {0}, the scale of {1}", ofZero, ofScale)))
      return failure();
  return shape;
}

/// Three results: the numbers, their scale and their zero point.
static FailureOr<SmallVector<Sizes>> inferDynamicQuantization(Shapes &shapes, Operation *op) {
  return SmallVector<Sizes>{shapes.of(op, 0), Sizes(), Sizes()};
}

//===-- Integer products ----------------------------------------------------------------------===//

IntegerProductOperands integerProductOperands(Operation *op) {
  if (isa<ConvIntegerOp, MatMulIntegerOp>(op))
    return {0, 2, 1, 3, {}, {}, {}, {}, {}};
  IntegerProductOperands places{0, 2, 3, 5, 1, 4, 6, 7, {}};
  if (isa<QLinearConvOp>(op))
    places.bias = 8;
  return places;
}

/// Refuses a parameter (a scale or zero point) that is neither one number nor one for each of
/// `channels`, in a tensor whose dimension `dim` from the end they are counted on.
static LogicalResult checkParameter(SizeBuilder &s, Operation *op, ArrayRef<Sizes> operands,
                                    unsigned operand, OpFoldResult channels, unsigned dim,
                                    StringRef what) {
  if (operand >= operands.size() || isAbsent(op, operand) || isOneNumber(operands[operand]))
    return success();
  const Sizes &sizes = operands[operand];
  std::string name = schemaOf(op)->input(operand).name;
  OpFoldResult own = sizes.size() == 1 ? sizes[0] : OpFoldResult();
  if (sizes.size() > 1) {
    // One number for each row or column of each matrix.
    for (auto [i, size] : llvm::enumerate(sizes))
      if (i + dim != sizes.size() && i + 2 >= sizes.size() && !isConstantIntValue(size, 1))
        return s.refuse(op, "'" + name +
                                "' has numbers along the depth of the product; nearest "
                                "supported: one number for each " +
                                what);
    own = sizes[sizes.size() - dim];
  }
  return s.check(op, s.equal(own, channels), "'" + name + "' has {0} numbers for {1} " + what + "s",
                 own, channels);
}

FailureOr<Sizes> inferIntegerMatMul(SizeBuilder &s, Operation *op, ArrayRef<Sizes> operands) {
  IntegerProductOperands places = integerProductOperands(op);
  const Sizes &a = operands[places.x], &b = operands[places.w];
  FailureOr<Sizes> result = inferMatMul(s, op, {a, b});
  if (failed(result))
    return failure();
  OpFoldResult rows = a.size() > 1 ? a[a.size() - 2] : s.index(1);
  OpFoldResult columns = b.size() > 1 ? b.back() : s.index(1);
  SmallVector<unsigned> ofRows{places.xZero}, ofColumns{places.wZero};
  if (places.xScale) {
    ofRows.push_back(*places.xScale);
    ofColumns.push_back(*places.wScale);
    for (unsigned operand : {*places.yScale, *places.yZero})
      if (!isOneNumber(operands[operand]))
        return s.refuse(op, "'" + Twine(schemaOf(op)->input(operand).name) +
                                "' has several numbers; nearest supported: one number");
  }
  for (unsigned operand : ofRows)
    if (failed(checkParameter(s, op, operands, operand, rows, 2, "row")))
      return failure();
  for (unsigned operand : ofColumns)
    if (failed(checkParameter(s, op, operands, operand, columns, 1, "column")))
      return failure();
  return result;
}

FailureOr<WindowShape> inferIntegerConv(SizeBuilder &s, Operation *op, ArrayRef<Sizes> operands) {
  IntegerProductOperands places = integerProductOperands(op);
  SmallVector<Sizes> plain{operands[places.x], operands[places.w]};
  if (places.bias && *places.bias < operands.size())
    plain.push_back(operands[*places.bias]);
  FailureOr<WindowShape> shape = inferConv(s, op, plain);
  if (failed(shape))
    return failure();
  SmallVector<unsigned> single{places.xZero}, ofFilters{places.wZero};
  if (places.xScale) {
    single.append({*places.xScale, *places.yScale, *places.yZero});
    ofFilters.push_back(*places.wScale);
  }
  for (unsigned operand : single)
    if (operand < operands.size() && !isAbsent(op, operand) && !isOneNumber(operands[operand]))
      return s.refuse(op, "'" + Twine(schemaOf(op)->input(operand).name) +
                              "' has several numbers; nearest supported: one number");
  for (unsigned operand : ofFilters) {
    if (operand < operands.size() && operands[operand].size() > 1 &&
        !isOneNumber(operands[operand]))
      return s.refuse(op, "'" + Twine(schemaOf(op)->input(operand).name) + "' has rank " +
                              Twine(operands[operand].size()) + "; it must be 0 or 1");
    if (failed(checkParameter(s, op, operands, operand, plain[1][0], 1, "filter")))
      return failure();
  }
  return shape;
}

template <auto rule> static FailureOr<SmallVector<Sizes>> resultOf(Shapes &shapes, Operation *op) {
  auto shape = rule(shapes.sizes, op, shapes.operands(op));
  if (failed(shape))
    return failure();
  return SmallVector<Sizes>{shape->result};
}

void registerQuantizationRules(ShapeRows &rows) {
  rows.add<QuantizeLinearOp>(resultOf<inferQuantization>);
  rows.add<DequantizeLinearOp>(resultOf<inferQuantization>);
  rows.add<DynamicQuantizeLinearOp>(inferDynamicQuantization);
  rows.add<MatMulIntegerOp>(fromSizes<inferIntegerMatMul>);
  rows.add<QLinearMatMulOp>(fromSizes<inferIntegerMatMul>);
  rows.add<ConvIntegerOp>(resultOf<inferIntegerConv>);
  rows.add<QLinearConvOp>(resultOf<inferIntegerConv>);
}

} // namespace cameo::onnx
