// The loop around formulas on scalars.
//
// SPDX-License-Identifier: Apache-2.0
#include "passes/linalg/Elementwise.h"

#include "passes/linalg/NarrowTypes.h"

using namespace mlir;

namespace cameo {

Value elementwiseOf(Operation *op, Lowering &l, ArrayRef<unsigned> operands, const Sizes &sizes,
                    Type elementType, DispatchBuilder::ScalarFunction fn) {
  SmallVector<Lowered> tensors;
  SmallVector<Attribute> constants; // null where the element is read
  for (unsigned index : operands) {
    Attribute constant;
    ElementsAttr value = onnx::constantValue(op->getOperand(index));
    if (value && value.getNumElements() == 1 && !narrowFloat(value.getElementType()))
      if (FailureOr<Sizes> host = l.shapes.host.tryValues(op->getOperand(index), 1);
          succeeded(host))
        constant = dyn_cast<Attribute>((*host)[0]);
    constants.push_back(constant);
    if (constant)
      continue;
    Lowered tensor = l.operand(op, index);
    // One element of higher rank than the result, as a bound of Clip may be, is a number.
    if (tensor.rank() > static_cast<int64_t>(sizes.size()))
      tensor = l.build.reshape(op->getLoc(), tensor, {});
    tensors.push_back(tensor);
  }
  return l.build.elementwise(
      op->getLoc(), tensors, sizes, elementType,
      [&](OpBuilder &b, Location loc, ValueRange scalars) {
        SmallVector<Value> elements;
        for (auto [index, constant] : llvm::zip(operands, constants)) {
          Type type = signless(Lowering::elementType(op->getOperand(index)));
          if (!constant) {
            elements.push_back(scalars.front());
            scalars = scalars.drop_front();
          } else if (auto real = dyn_cast<FloatAttr>(constant)) {
            elements.push_back(scalarConstant(b, loc, type, real.getValueAsDouble()));
          } else {
            APInt integer = cast<IntegerAttr>(constant).getValue();
            auto exact = IntegerAttr::get(type, integer.sextOrTrunc(type.getIntOrFloatBitWidth()));
            elements.push_back(b.create<arith::ConstantOp>(loc, exact));
          }
        }
        return fn(b, loc, elements);
      });
}

LogicalResult lowerByFormula(Operation *op, Lowering &l, Formula formula) {
  FailureOr<Sizes> sizes = l.infer(op);
  if (failed(sizes))
    return failure();
  auto operands = llvm::to_vector(llvm::seq<unsigned>(0, op->getNumOperands()));
  Type type = Lowering::elementType(op->getOperand(0));
  // Floats below 16 bits are bytes of the plan.
  bool isNarrow = narrowFloat(type).has_value();
  Type computed = isNarrow ? l.builder().getF32Type() : accumulatorType(signless(type));
  Type resultType = Lowering::elementType(op->getResult(0));
  Value tensor = elementwiseOf(
      op, l, operands, *sizes, resultType, [&](OpBuilder &b, Location loc, ValueRange elements) {
        ScalarMath m(b, loc, computed, Lowering::isUnsigned(type));
        SmallVector<Value> x;
        for (Value element : elements)
          x.push_back(
              convertScalar(b, loc, element, isNarrow ? type : element.getType(), computed));
        Value result = formula(m, op, x);
        // Back to 16 bits; formulas give booleans as they are.
        return convertScalar(b, loc, result, result.getType(), signless(resultType));
      });
  l.define(op, 0, tensor, *sizes, resultType);
  return success();
}

} // namespace cameo
