// Sizes as values of the host plan.
//
// SPDX-License-Identifier: Apache-2.0
#include "passes/linalg/PlanSizes.h"

#include "dialects/onnx/shape/NodeText.h"
#include "dialects/onnx/shape/Shapes.h"
#include "passes/Passes.h"

using namespace mlir;

namespace cameo {

using onnx::SizeOperation;

PlanSizes::PlanSizes(OpBuilder &b, onnx::Refusals &refusals)
    : SizeBuilder(b.getContext(), refusals), b(b), at(UnknownLoc::get(b.getContext())) {}

void PlanSizes::begin(Location loc) {
  at = loc;
  constants.clear();
  names.clear();
  inputs.clear();
  ofResults.clear();
  decidedSizes.clear();
  counts.clear();
  forget();
}

OpFoldResult PlanSizes::read(Value input, int64_t position, bool real) {
  Value place = value(index(position));
  Value number = b.create<rt::ReadOp>(location(), real ? Type(b.getF64Type()) : b.getI64Type(),
                                      inputs.lookup(input), place);
  if (!real)
    number = b.create<arith::IndexCastOp>(location(), b.getIndexType(), number);
  return number;
}

onnx::Sizes PlanSizes::fetch(Value tensor, int64_t count, bool real) {
  SmallVector<Type> types(count, real ? Type(b.getF64Type()) : b.getI64Type());
  auto numbers =
      b.create<rt::FetchOp>(location(), types, tensorOf(tensor), onnx::elementType(tensor));
  onnx::Sizes sizes;
  for (Value number : numbers.getValues())
    sizes.push_back(
        real ? number
             : b.create<arith::IndexCastOp>(location(), b.getIndexType(), number).getResult());
  return sizes;
}

void PlanSizes::setCount(Operation *op, Value tensor) {
  auto number =
      b.create<rt::FetchOp>(location(), TypeRange{b.getI64Type()}, tensor, b.getI64Type());
  counts[op] =
      b.create<arith::IndexCastOp>(location(), b.getIndexType(), number.getValues().front());
}

StringAttr PlanSizes::nameOf(OpFoldResult ofr) const {
  auto value = dyn_cast_if_present<Value>(ofr);
  return value ? names.lookup(value) : StringAttr();
}

bool PlanSizes::isSize(OpFoldResult given) const {
  auto value = dyn_cast_if_present<Value>(given);
  return value && (value.getDefiningOp<tensor::DimOp>() || decidedSizes.contains(value) ||
                   llvm::is_contained(llvm::make_second_range(counts), value));
}

Value PlanSizes::value(OpFoldResult ofr) {
  if (auto value = dyn_cast<Value>(ofr))
    return value;
  auto attribute = cast<TypedAttr>(cast<Attribute>(ofr));
  Value &known = constants[attribute];
  if (!known)
    known = b.create<arith::ConstantOp>(at, attribute);
  return known;
}

static StringRef nameOfBinary(SizeOperation op) {
  switch (op) {
  case SizeOperation::Add:
    return "arith.addi";
  case SizeOperation::Sub:
    return "arith.subi";
  case SizeOperation::Mul:
    return "arith.muli";
  case SizeOperation::FloorDiv:
    return "arith.floordivsi";
  case SizeOperation::CeilDiv:
    return "arith.ceildivsi";
  case SizeOperation::DivTowardsZero:
    return "arith.divsi";
  case SizeOperation::Rem:
    return "arith.remsi";
  case SizeOperation::Min:
    return "arith.minsi";
  case SizeOperation::Max:
    return "arith.maxsi";
  case SizeOperation::FAdd:
    return "arith.addf";
  case SizeOperation::FSub:
    return "arith.subf";
  case SizeOperation::FMul:
    return "arith.mulf";
  case SizeOperation::FDiv:
    return "arith.divf";
  default:
    llvm_unreachable("not an operation of two operands and their type");
  }
}

/// An operation on 64-bit integers, which wrap around as indices do not.
static StringRef nameOfWrapping(SizeOperation op) {
  switch (op) {
  case SizeOperation::WrapAdd:
    return "arith.addi";
  case SizeOperation::WrapSub:
    return "arith.subi";
  case SizeOperation::WrapMul:
    return "arith.muli";
  case SizeOperation::UnsignedDiv:
    return "arith.divui";
  case SizeOperation::UnsignedRem:
    return "arith.remui";
  default:
    return "";
  }
}

Value PlanSizes::isTrue(OpFoldResult condition) {
  Value number = value(condition), zero = value(index(0));
  return b.create<arith::CmpIOp>(at, arith::CmpIPredicate::ne, number, zero);
}

Value PlanSizes::compare(SizeOperation op, Value left, Value right) {
  bool less = op == SizeOperation::Less;
  Value bit;
  if (isa<FloatType>(left.getType()))
    bit = b.create<arith::CmpFOp>(at, less ? arith::CmpFPredicate::OLT : arith::CmpFPredicate::OEQ,
                                  left, right);
  else
    bit = b.create<arith::CmpIOp>(at, less ? arith::CmpIPredicate::slt : arith::CmpIPredicate::eq,
                                  left, right);
  return b.create<arith::IndexCastUIOp>(at, b.getIndexType(), bit);
}

Value PlanSizes::wide(OpFoldResult number) {
  return b.create<arith::IndexCastOp>(at, b.getI64Type(), value(number));
}

/// An operation of 64-bit integers as they are in the model; null for others.
Value PlanSizes::createWide(SizeOperation op, ArrayRef<OpFoldResult> operands) {
  Type index = b.getIndexType(), type = b.getI64Type();
  if (op == SizeOperation::UnsignedLess) {
    Value left = wide(operands[0]), right = wide(operands[1]);
    Value bit = b.create<arith::CmpIOp>(at, arith::CmpIPredicate::ult, left, right);
    return b.create<arith::IndexCastUIOp>(at, index, bit);
  }
  Value result;
  if (op == SizeOperation::SignExtend || op == SizeOperation::ZeroExtend) {
    Type narrow = b.getIntegerType(*getConstantIntValue(operands[1]));
    Value bits = b.create<arith::TruncIOp>(at, narrow, wide(operands[0]));
    if (op == SizeOperation::SignExtend)
      result = b.create<arith::ExtSIOp>(at, type, bits);
    else
      result = b.create<arith::ExtUIOp>(at, type, bits);
  } else if (StringRef name = nameOfWrapping(op); !name.empty()) {
    Value left = wide(operands[0]), right = wide(operands[1]);
    OperationState state(at, name);
    state.addOperands({left, right});
    state.addTypes(type);
    result = b.create(state)->getResult(0);
  }
  return result ? b.create<arith::IndexCastOp>(at, index, result) : Value();
}

OpFoldResult PlanSizes::create(SizeOperation op, ArrayRef<OpFoldResult> operands) {
  if (Value result = createWide(op, operands))
    return result;
  if (op == SizeOperation::Select) {
    Value bit = isTrue(operands[0]), then = value(operands[1]), otherwise = value(operands[2]);
    return b.create<arith::SelectOp>(at, bit, then, otherwise).getResult();
  }
  Value left = value(operands[0]);
  switch (op) {
  case SizeOperation::FFloor:
    return b.create<math::FloorOp>(at, left).getResult();
  case SizeOperation::FCeil:
    return b.create<math::CeilOp>(at, left).getResult();
  case SizeOperation::FRound: {
    Value narrow = b.create<arith::TruncFOp>(at, b.getF32Type(), left);
    return b.create<arith::ExtFOp>(at, b.getF64Type(), narrow).getResult();
  }
  case SizeOperation::ToFloat: {
    Value wide = b.create<arith::IndexCastOp>(at, b.getI64Type(), left);
    return b.create<arith::SIToFPOp>(at, b.getF64Type(), wide).getResult();
  }
  case SizeOperation::ToInteger: {
    Value wide = b.create<arith::FPToSIOp>(at, b.getI64Type(), left);
    return b.create<arith::IndexCastOp>(at, b.getIndexType(), wide).getResult();
  }
  default:
    break;
  }
  Value right = value(operands[1]);
  if (op == SizeOperation::Equal || op == SizeOperation::Less)
    return compare(op, left, right);
  OperationState state(at, nameOfBinary(op));
  state.addOperands({left, right});
  state.addTypes(left.getType());
  return b.create(state)->getResult(0);
}

void PlanSizes::checkAtRunTime(Operation *op, OpFoldResult condition, const Twine &message,
                               OpFoldResult first, OpFoldResult second) {
  SmallVector<Value> operands;
  std::string text = message.str();
  for (OpFoldResult operand : {first, second}) {
    if (!operand)
      continue;
    std::string mark = "{" + std::to_string(operands.size()) + "}";
    operands.push_back(value(operand));
    StringAttr symbol = nameOf(operands.back());
    if (size_t place = text.find(mark); symbol && place != std::string::npos)
      text.insert(place + mark.size(), " ('" + symbol.str() + "')");
  }
  Value bit = isTrue(condition);
  std::string name;
  if (std::optional<StringRef> known = onnx::nodeName(op))
    name = "node '" + known->str() + "': ";
  b.create<rt::CheckOp>(at, bit, b.getStringAttr(name + text), operands);
}

} // namespace cameo
