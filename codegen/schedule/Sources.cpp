// Loading and computing elements.
//
// SPDX-License-Identifier: Apache-2.0
#include "codegen/schedule/Sources.h"

#include "dialects/kernel/form/Runs.h"

#include "mlir/Dialect/Arith/IR/Arith.h"

using namespace mlir;

namespace cameo {

int64_t loadWidth(kernel::DispatchOp op, const Access &read, ArrayRef<unsigned> loops,
                  ArrayRef<int64_t> ranges, int64_t vector) {
  AffineMap place = read.place();
  int64_t same = sameAlong(place, loops, ranges);
  if (ShapedType::isDynamic(same) || (vector > 1 && same % vector == 0))
    return 0;
  auto type = cast<RankedTensorType>(read.source.getType());
  return std::min(vectorAlong(place, type, loops, ranges, vector),
                  operandLayout(op, read.source).alignment);
}

Value computeElement(KernelWriter &kernel, const Elementwise &work, ValueRange read, Value given) {
  return computeElement(kernel, work, read, [&](Value) { return given; });
}

Value computeElement(KernelWriter &kernel, const Elementwise &work, ValueRange read,
                     function_ref<Value(Value)> given) {
  using Kind = Elementwise::Term::Kind;
  OpBuilder &b = kernel.b;
  SmallVector<Value> values;
  for (const Elementwise::Term &term : work.terms) {
    Value value;
    if (term.kind == Kind::Read) {
      value = read[term.read];
    } else if (term.kind == Kind::Given) {
      value = given(term.value);
    } else if (term.kind == Kind::Scalar) {
      DenseElementsAttr splat;
      if (auto constant = term.value.getDefiningOp<arith::ConstantOp>())
        splat = dyn_cast<DenseElementsAttr>(constant.getValue());
      value = splat ? b.create<arith::ConstantOp>(kernel.loc, splat.getSplatValue<TypedAttr>())
                    : kernel.scalar(term.value);
    } else {
      SmallVector<Value> arguments;
      for (unsigned input : term.inputs)
        arguments.push_back(input == Elementwise::kUnused ? Value() : values[input]);
      auto result = cast<OpResult>(term.value);
      value = kernel.inlineBody(cast<linalg::GenericOp>(result.getOwner()), {},
                                arguments)[result.getResultNumber()];
    }
    if (value.getType() != term.type)
      value = b.create<arith::ExtFOp>(kernel.loc, term.type, value);
    values.push_back(value);
  }
  return values.back();
}

} // namespace cameo
