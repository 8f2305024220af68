// SPDX-License-Identifier: Apache-2.0
#include "codegen/sim/DefinednessShadow.h"

#include "mlir/Interfaces/ControlFlowInterfaces.h"
#include "mlir/Interfaces/DataLayoutInterfaces.h"

using namespace mlir;
using namespace cameo;

/// Integers as wide as a value, element by element.
static Type bitsType(Type type) {
  MLIRContext *context = type.getContext();
  if (auto structure = dyn_cast<LLVM::LLVMStructType>(type)) {
    SmallVector<Type> fields;
    for (Type field : structure.getBody())
      fields.push_back(bitsType(field));
    return LLVM::LLVMStructType::getLiteral(context, fields, structure.isPacked());
  }
  if (auto array = dyn_cast<LLVM::LLVMArrayType>(type))
    return LLVM::LLVMArrayType::get(bitsType(array.getElementType()), array.getNumElements());
  if (LLVM::isCompatibleVectorType(type))
    return VectorType::get(countElements(type), bitsType(LLVM::getVectorElementType(type)));
  return IntegerType::get(context,
                          isa<LLVM::LLVMPointerType>(type) ? 64 : type.getIntOrFloatBitWidth());
}

Value DefinednessShadow::zeros(Type type) { return make<LLVM::ZeroOp>(type); }

Value DefinednessShadow::ones(Type type) {
  if (auto structure = dyn_cast<LLVM::LLVMStructType>(type)) {
    Value value = make<LLVM::UndefOp>(type);
    for (auto [i, field] : llvm::enumerate(structure.getBody()))
      value = make<LLVM::InsertValueOp>(value, ones(field), int64_t(i));
    return value;
  }
  if (auto array = dyn_cast<LLVM::LLVMArrayType>(type)) {
    Value element = ones(array.getElementType());
    Value value = make<LLVM::UndefOp>(type);
    for (int64_t i = 0, count = array.getNumElements(); i < count; ++i)
      value = make<LLVM::InsertValueOp>(value, element, i);
    return value;
  }
  Type element = getElementTypeOrSelf(type);
  TypedAttr bits =
      builder.getIntegerAttr(element, APInt::getAllOnes(element.getIntOrFloatBitWidth()));
  if (auto vector = dyn_cast<VectorType>(type))
    bits = DenseElementsAttr::get(vector, Attribute(bits));
  return make<LLVM::ConstantOp>(type, bits);
}

Value DefinednessShadow::any(Value bits) {
  Type type = bits.getType();
  if (isa<LLVM::LLVMStructType, LLVM::LLVMArrayType>(type)) {
    auto structure = dyn_cast<LLVM::LLVMStructType>(type);
    int64_t count =
        structure ? structure.getBody().size() : cast<LLVM::LLVMArrayType>(type).getNumElements();
    Value result = zeros(builder.getI1Type());
    for (int64_t i = 0; i < count; ++i)
      result = make<LLVM::OrOp>(result, any(make<LLVM::ExtractValueOp>(bits, i)));
    return result;
  }
  if (auto vector = dyn_cast<VectorType>(type))
    bits = make<LLVM::vector_reduce_or>(vector.getElementType(), bits);
  return make<LLVM::ICmpOp>(LLVM::ICmpPredicate::ne, bits, zeros(bits.getType()));
}

Value DefinednessShadow::anyAt(Operation *user, Value value) {
  Value bits = of(value);
  builder.setInsertionPoint(user);
  loc = user->getLoc();
  return any(bits);
}

Value DefinednessShadow::spread(Value flag, Type type) {
  return type == flag.getType() ? flag : make<LLVM::SelectOp>(flag, ones(type), zeros(type));
}

Value DefinednessShadow::orZeros(Value value) {
  Value bits = of(value);
  return bits ? bits : zeros(bitsType(value.getType()));
}

Value DefinednessShadow::of(Value value) {
  if (!undefined.mayBe(value))
    return nullptr;
  if (Value made = known.lookup(value))
    return made;
  Value bits;
  if (auto argument = dyn_cast<BlockArgument>(value)) {
    bits = argument.getOwner()->addArgument(bitsType(value.getType()), argument.getLoc());
    arguments.push_back(argument);
  } else {
    OpBuilder::InsertionGuard guard(builder);
    Location outer = std::exchange(loc, value.getLoc());
    builder.setInsertionPointAfterValue(value);
    bits = ofResult(value.getDefiningOp());
    loc = outer;
  }
  return known[value] = bits;
}

Value DefinednessShadow::ofShuffle(LLVM::ShuffleVectorOp op) {
  auto type = cast<VectorType>(bitsType(op.getType()));
  SmallVector<int32_t> mask(op.getMask());
  Value nowhere; // ones for elements that come from neither
  for (auto [i, source] : llvm::enumerate(mask))
    if (source < 0) {
      source = 0;
      Value place = make<LLVM::ConstantOp>(builder.getI32Type(), builder.getI32IntegerAttr(i));
      nowhere = make<LLVM::InsertElementOp>(nowhere ? nowhere : zeros(type),
                                            ones(type.getElementType()), place);
    }
  Value first = orZeros(op.getV1()), second = orZeros(op.getV2());
  Value result = make<LLVM::ShuffleVectorOp>(first, second, mask);
  if (!nowhere)
    return result;
  sources.push_back(op);
  return make<LLVM::OrOp>(result, nowhere);
}

/// Shifts of more than the width have a meaning of their own on GPUs.
Value DefinednessShadow::ofShift(Operation *op) {
  if (!isa<LLVM::ShlOp, LLVM::LShrOp, LLVM::AShrOp>(op))
    return nullptr;
  Value amount = op->getOperand(1);
  auto constant = amount.getDefiningOp<LLVM::ConstantOp>();
  auto number = constant ? dyn_cast<IntegerAttr>(constant.getValue()) : IntegerAttr();
  if (!number || number.getValue().uge(number.getValue().getBitWidth()))
    return nullptr;
  Value bits = orZeros(op->getOperand(0));
  if (isa<LLVM::ShlOp>(op))
    return make<LLVM::ShlOp>(bits, amount);
  if (isa<LLVM::LShrOp>(op))
    return make<LLVM::LShrOp>(bits, amount);
  return make<LLVM::AShrOp>(bits, amount);
}

/// An element of the result is undefined where one of those that it is computed from is.
Value DefinednessShadow::ofArithmetic(Operation *op) {
  Type type = bitsType(op->getResult(0).getType());
  auto vector = dyn_cast<VectorType>(type);
  Value flags;
  for (Value operand : op->getOperands()) {
    Value bits = of(operand);
    if (!bits)
      continue;
    auto other = dyn_cast<VectorType>(bits.getType());
    Value flag;
    if (vector && other && vector.getNumElements() == other.getNumElements())
      flag = make<LLVM::ICmpOp>(LLVM::ICmpPredicate::ne, bits, zeros(other));
    else
      flag = any(bits);
    if (vector && !isa<VectorType>(flag.getType()))
      flag = spread(flag, vector.clone(builder.getI1Type()));
    flags = flags ? make<LLVM::OrOp>(flags, flag).getResult() : flag;
  }
  return spread(flags, type);
}

/// Undefined only as far as the other operand leaves it open.
Value DefinednessShadow::ofLogic(Operation *op, bool isAnd) {
  Value a = op->getOperand(0), b = op->getOperand(1);
  Value sa = orZeros(a), sb = orZeros(b);
  auto open = [&](Value value, Value bits) -> Value {
    if (!isAnd)
      value = make<LLVM::XOrOp>(value, ones(value.getType()));
    return make<LLVM::OrOp>(value, bits);
  };
  Value first = make<LLVM::AndOp>(sa, open(b, sb)), second = make<LLVM::AndOp>(sb, open(a, sa));
  return make<LLVM::OrOp>(first, second);
}

Value DefinednessShadow::ofResult(Operation *op) {
  Type type = bitsType(op->getResult(0).getType());
  auto operand = [&](unsigned i) { return orZeros(op->getOperand(i)); };
  auto unlessUndefined = [&](unsigned place, Value result) -> Value {
    Value index = of(op->getOperand(place));
    return index ? make<LLVM::SelectOp>(any(index), ones(type), result).getResult() : result;
  };
  if (isa<LLVM::UndefOp, LLVM::PoisonOp>(op)) {
    sources.push_back(op);
    return ones(type);
  }
  if (auto load = dyn_cast<LLVM::LoadOp>(op))
    return make<LLVM::LoadOp>(type, besideAddress(load.getAddr()), /*alignment=*/1);
  if (auto select = dyn_cast<LLVM::SelectOp>(op)) {
    Value chosen = make<LLVM::SelectOp>(select.getCondition(), operand(1), operand(2));
    Value condition = of(select.getCondition());
    return condition ? make<LLVM::SelectOp>(condition, ones(type), chosen).getResult() : chosen;
  }
  if (auto insert = dyn_cast<LLVM::InsertElementOp>(op))
    return unlessUndefined(
        2, make<LLVM::InsertElementOp>(operand(0), operand(1), insert.getPosition()));
  if (auto extract = dyn_cast<LLVM::ExtractElementOp>(op))
    return unlessUndefined(1, make<LLVM::ExtractElementOp>(operand(0), extract.getPosition()));
  if (auto shuffle = dyn_cast<LLVM::ShuffleVectorOp>(op))
    return ofShuffle(shuffle);
  if (auto insert = dyn_cast<LLVM::InsertValueOp>(op))
    return make<LLVM::InsertValueOp>(operand(0), operand(1), insert.getPosition());
  if (auto extract = dyn_cast<LLVM::ExtractValueOp>(op))
    return make<LLVM::ExtractValueOp>(operand(0), extract.getPosition());
  if (isa<LLVM::AndOp>(op))
    return ofLogic(op, /*isAnd=*/true);
  if (isa<LLVM::OrOp>(op))
    return ofLogic(op, /*isAnd=*/false);
  if (isa<LLVM::XOrOp>(op))
    return make<LLVM::OrOp>(operand(0), operand(1));
  if (isa<LLVM::ZExtOp, LLVM::IntToPtrOp, LLVM::PtrToIntOp, LLVM::TruncOp>(op)) {
    Value from = operand(0);
    unsigned bits = getElementTypeOrSelf(from.getType()).getIntOrFloatBitWidth();
    unsigned wanted = getElementTypeOrSelf(type).getIntOrFloatBitWidth();
    return bits < wanted   ? make<LLVM::ZExtOp>(type, from).getResult()
           : bits > wanted ? make<LLVM::TruncOp>(type, from).getResult()
                           : from;
  }
  if (isa<LLVM::SExtOp>(op))
    return make<LLVM::SExtOp>(type, operand(0));
  if (isa<LLVM::BitcastOp>(op))
    return make<LLVM::BitcastOp>(type, operand(0));
  if (Value shifted = ofShift(op))
    return shifted;
  return ofArithmetic(op);
}

/// A local array of undefined bits, as large as `array`.
Value DefinednessShadow::besideArray(LLVM::AllocaOp array) {
  Value &bits = arrays[array];
  if (bits)
    return bits;
  OpBuilder::InsertionGuard guard(builder);
  Location outer = std::exchange(loc, array.getLoc());
  builder.setInsertionPointAfter(array);
  auto count = cast<LLVM::ConstantOp>(array.getArraySize().getDefiningOp());
  uint64_t bytes = cast<IntegerAttr>(count.getValue()).getValue().getZExtValue() *
                   DataLayout::closest(array).getTypeSize(array.getElemType());
  Type i8 = builder.getI8Type();
  Value size = make<LLVM::ConstantOp>(builder.getI64Type(), builder.getI64IntegerAttr(bytes));
  auto made = make<LLVM::AllocaOp>(LLVM::LLVMPointerType::get(builder.getContext()), i8, size,
                                   array.getAlignment().value_or(16));
  auto fill = [&](Value place, int value) {
    make<LLVM::MemsetOp>(place, make<LLVM::ConstantOp>(i8, builder.getI8IntegerAttr(value)), size,
                         /*isVolatile=*/false);
  };
  fill(made, -1);
  fill(array, 0);
  loc = outer;
  // All that is written.
  SmallVector<Value> work{array};
  while (!work.empty())
    for (Operation *user : work.pop_back_val().getUsers()) {
      if (auto store = dyn_cast<LLVM::StoreOp>(user))
        stores.push_back(store);
      else if (isa<LLVM::GEPOp, LLVM::AddrSpaceCastOp>(user))
        work.push_back(user->getResult(0));
    }
  return arrays[array] = made;
}

/// Where in the bits of a local array the bits of what lies at `address` are.
Value DefinednessShadow::besideAddress(Value address) {
  Operation *op = address.getDefiningOp();
  if (auto array = dyn_cast<LLVM::AllocaOp>(op))
    return besideArray(array);
  if (Value made = addresses.lookup(address))
    return made;
  Value base = besideAddress(op->getOperand(0));
  auto gep = dyn_cast<LLVM::GEPOp>(op);
  if (!gep)
    return addresses[address] = base;
  OpBuilder::InsertionGuard guard(builder);
  builder.setInsertionPointAfter(op);
  auto *copy = builder.clone(*op);
  copy->setOperand(0, base);
  copy->getResult(0).setType(base.getType());
  Value result = copy->getResult(0);
  if (Value unknown = of(address)) {
    Location outer = std::exchange(loc, op->getLoc());
    builder.setInsertionPointAfterValue(unknown);
    result = make<LLVM::SelectOp>(any(unknown), besideArray(localArrayOf(address)), result);
    loc = outer;
  }
  return addresses[address] = result;
}

/// Gives what stands beside a block argument its values.
void DefinednessShadow::pass(BlockArgument argument) {
  Block *block = argument.getOwner();
  llvm::SmallSetVector<Block *, 4> before(block->pred_begin(), block->pred_end());
  for (Block *from : before) {
    Operation *end = from->getTerminator();
    loc = end->getLoc();
    for (unsigned i = 0; i < end->getNumSuccessors(); ++i) {
      if (end->getSuccessor(i) != block)
        continue;
      SuccessorOperands operands = cast<BranchOpInterface>(end).getSuccessorOperands(i);
      builder.setInsertionPoint(end);
      operands.append(orZeros(operands[argument.getArgNumber()]));
    }
  }
}

void DefinednessShadow::complete() {
  // What is passed and stored may need more.
  while (!arguments.empty() || !stores.empty()) {
    if (!arguments.empty()) {
      pass(arguments.front());
      arguments.pop_front();
      continue;
    }
    LLVM::StoreOp store = stores.front();
    stores.pop_front();
    loc = store.getLoc();
    Value place = besideAddress(store.getAddr());
    builder.setInsertionPointAfter(store);
    make<LLVM::StoreOp>(orZeros(store.getValue()), place, /*alignment=*/1);
  }
}

void DefinednessShadow::defineSources() {
  for (Operation *source : sources) {
    builder.setInsertionPoint(source);
    loc = source->getLoc();
    Value defined;
    if (auto shuffle = dyn_cast<LLVM::ShuffleVectorOp>(source)) {
      SmallVector<int32_t> mask(shuffle.getMask());
      std::replace(mask.begin(), mask.end(), -1, 0);
      defined = make<LLVM::ShuffleVectorOp>(shuffle.getV1(), shuffle.getV2(), mask);
    } else {
      defined = zeros(source->getResult(0).getType());
    }
    source->getResult(0).replaceAllUsesWith(defined);
  }
}
