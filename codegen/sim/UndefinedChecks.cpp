// SPDX-License-Identifier: Apache-2.0
#include "codegen/sim/UndefinedChecks.h"

#include "codegen/sim/UndefinedValues.h"
#include "dialects/kernel/Kernel.h"
#include "dialects/kernel/Ptx.h"

#include "mlir/Dialect/LLVMIR/NVVMDialect.h"
#include "mlir/IR/Builders.h"
#include "mlir/Interfaces/ControlFlowInterfaces.h"
#include "mlir/Interfaces/DataLayoutInterfaces.h"

#include <deque>

using namespace mlir;
using namespace cameo;

namespace {

constexpr unsigned kWarpLanes = 32;

/// Integers as wide as a value, element by element.
Type shadowType(Type type) {
  MLIRContext *context = type.getContext();
  if (auto structure = dyn_cast<LLVM::LLVMStructType>(type)) {
    SmallVector<Type> fields;
    for (Type field : structure.getBody())
      fields.push_back(shadowType(field));
    return LLVM::LLVMStructType::getLiteral(context, fields, structure.isPacked());
  }
  if (auto array = dyn_cast<LLVM::LLVMArrayType>(type))
    return LLVM::LLVMArrayType::get(shadowType(array.getElementType()), array.getNumElements());
  if (LLVM::isCompatibleVectorType(type))
    return VectorType::get(countElements(type), shadowType(LLVM::getVectorElementType(type)));
  return IntegerType::get(context,
                          isa<LLVM::LLVMPointerType>(type) ? 64 : type.getIntOrFloatBitWidth());
}

/// An operand that must be defined.
struct Judged {
  unsigned operand;
  unsigned lanes = kWarpLanes; // the first ones of the warp
  Value condition = nullptr;   // only where this is true; null: always
};

/// The operands of `op` whose values matter there and then.
SmallVector<Judged> judgedOperands(Operation *op) {
  if (isa<LLVM::LoadOp, LLVM::CondBrOp, LLVM::SwitchOp>(op))
    return {{0}};
  if (auto store = dyn_cast<LLVM::StoreOp>(op)) {
    // Local arrays may hold undefined values.
    if (cast<LLVM::LLVMPointerType>(store.getAddr().getType()).getAddressSpace() == 0)
      return {{1}};
    return {{0}, {1}};
  }
  if (isa<LLVM::AtomicRMWOp>(op))
    return {{0}, {1}};
  SmallVector<Judged> judged;
  auto instruction = dyn_cast<kernel::PtxOp>(op);
  if (!isa<NVVM::NVVMDialect>(op->getDialect()) && (!instruction || carriesOperands(op)))
    return {};
  for (unsigned i = 0; i < op->getNumOperands(); ++i)
    judged.push_back({i});
  if (!instruction)
    return judged;
  std::string unused; // the operation is valid
  auto parsed = kernel::parsePtxInstruction(instruction.getInstruction(),
                                            instruction.getInputs().size(), unused);
  // A row of a matrix each, and eight rows.
  if (parsed->opcode == CAMEO_SIM_OP_LDMATRIX || parsed->opcode == CAMEO_SIM_OP_STMATRIX)
    judged[0].lanes = 8 * parsed->modifiers[0];
  // Before the accumulators stands whether they are read.
  if (parsed->opcode == CAMEO_SIM_OP_WGMMA)
    for (Judged &sum : MutableArrayRef(judged).take_back(parsed->tied))
      sum.condition = op->getOperand(op->getNumOperands() - parsed->tied - 1);
  return judged;
}

class Shadows {
public:
  Shadows(LLVM::LLVMFuncOp kernel, OpBuilder &builder)
      : kernel(kernel), builder(builder), undefined(kernel) {}

  void run(llvm::function_ref<void(const UndefinedUse &)> tell) {
    struct Check {
      UndefinedUse use;
      Value isUndefined;
    };
    SmallVector<Operation *> users;
    kernel.walk([&](Operation *op) {
      if (llvm::any_of(op->getOperands(), [&](Value value) { return undefined.mayBe(value); }))
        users.push_back(op);
    });
    SmallVector<Check> checks;
    for (Operation *user : users)
      for (const Judged &judged : judgedOperands(user)) {
        Value operand = user->getOperand(judged.operand);
        if (!undefined.mayBe(operand))
          continue;
        Value shadow = shadowOf(operand);
        builder.setInsertionPoint(user);
        Value flag = any(shadow);
        if (judged.condition)
          flag = make<LLVM::AndOp>(flag, judged.condition);
        checks.push_back({{user, judged.operand, undefined.originOf(operand), judged.lanes}, flag});
      }
    completeShadows();
    for (const Check &check : checks)
      stayInside(check.use, check.isUndefined);
    for (const Check &check : checks) {
      Operation *user = check.use.user;
      Block *before = user->getBlock(), *after = before->splitBlock(user);
      Block *report = builder.createBlock(after);
      loc = user->getLoc();
      tell(check.use);
      make<LLVM::BrOp>(ValueRange(), after);
      builder.setInsertionPointToEnd(before);
      // Weights: it is not expected.
      make<LLVM::CondBrOp>(check.isUndefined, report, ValueRange(), after, ValueRange(),
                           std::pair<int32_t, int32_t>(1, 1 << 20));
    }
    defineSources();
  }

private:
  template <typename Op, typename... Arguments> Op make(Arguments &&...arguments) {
    return builder.create<Op>(loc, std::forward<Arguments>(arguments)...);
  }

  Value zeros(Type type) { return make<LLVM::ZeroOp>(type); }
  Value ones(Type type);
  Value any(Value shadow);
  /// All ones where `flag`, one or one an element, is true.
  Value spread(Value flag, Type type);
  /// At `op`; zeros for what cannot be undefined.
  Value shadowAt(Value value);
  Value shadowOf(Value value);
  Value resultOf(Operation *op);
  Value logicOf(Operation *op, bool isAnd);
  Value shadowAddress(Value address);
  Value arrayShadow(LLVM::AllocaOp array);
  void completeShadows();
  void stayInside(const UndefinedUse &use, Value isUndefined);
  void defineSources();

  LLVM::LLVMFuncOp kernel;
  OpBuilder &builder;
  Location loc = builder.getUnknownLoc();
  UndefinedValues undefined;
  llvm::DenseMap<Value, Value> shadows, addresses;
  llvm::MapVector<Operation *, Value> arrays; // local ones, and those of their shadows
  std::deque<BlockArgument> arguments;        // whose shadows' values are still to be passed
  std::deque<LLVM::StoreOp> stores;           // whose values' shadows are still to be stored
  SmallVector<Operation *> sources;
};

Value Shadows::ones(Type type) {
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

Value Shadows::any(Value shadow) {
  Type type = shadow.getType();
  if (isa<LLVM::LLVMStructType, LLVM::LLVMArrayType>(type)) {
    auto structure = dyn_cast<LLVM::LLVMStructType>(type);
    int64_t count =
        structure ? structure.getBody().size() : cast<LLVM::LLVMArrayType>(type).getNumElements();
    Value result = zeros(builder.getI1Type());
    for (int64_t i = 0; i < count; ++i)
      result = make<LLVM::OrOp>(result, any(make<LLVM::ExtractValueOp>(shadow, i)));
    return result;
  }
  if (auto vector = dyn_cast<VectorType>(type))
    shadow = make<LLVM::vector_reduce_or>(vector.getElementType(), shadow);
  return make<LLVM::ICmpOp>(LLVM::ICmpPredicate::ne, shadow, zeros(shadow.getType()));
}

Value Shadows::spread(Value flag, Type type) {
  Type one = builder.getI1Type();
  if (auto vector = dyn_cast<VectorType>(flag.getType()))
    return make<LLVM::SelectOp>(flag, ones(type), zeros(type));
  return type == one ? flag : make<LLVM::SelectOp>(flag, ones(type), zeros(type)).getResult();
}

Value Shadows::shadowAt(Value value) {
  Value shadow = shadowOf(value);
  return shadow ? shadow : zeros(shadowType(value.getType()));
}

Value Shadows::shadowOf(Value value) {
  if (!undefined.mayBe(value))
    return nullptr;
  if (Value known = shadows.lookup(value))
    return known;
  Value shadow;
  if (auto argument = dyn_cast<BlockArgument>(value)) {
    shadow = argument.getOwner()->addArgument(shadowType(value.getType()), argument.getLoc());
    arguments.push_back(argument);
  } else {
    OpBuilder::InsertionGuard guard(builder);
    Location outer = std::exchange(loc, value.getLoc());
    builder.setInsertionPointAfterValue(value);
    shadow = resultOf(value.getDefiningOp());
    loc = outer;
  }
  return shadows[value] = shadow;
}

/// Undefined only as far as the other operand leaves it open.
Value Shadows::logicOf(Operation *op, bool isAnd) {
  Value a = op->getOperand(0), b = op->getOperand(1);
  Value sa = shadowAt(a), sb = shadowAt(b);
  auto open = [&](Value value, Value shadow) -> Value {
    if (!isAnd)
      value = make<LLVM::XOrOp>(value, ones(value.getType()));
    return make<LLVM::OrOp>(value, shadow);
  };
  Value result =
      make<LLVM::OrOp>(make<LLVM::AndOp>(sa, open(b, sb)), make<LLVM::AndOp>(sb, open(a, sa)));
  return result;
}

Value Shadows::resultOf(Operation *op) {
  Type type = op->getResult(0).getType(), shadow = shadowType(type);
  auto operand = [&](unsigned i) { return shadowAt(op->getOperand(i)); };
  auto unlessUndefined = [&](unsigned place, Value result) -> Value {
    Value index = shadowOf(op->getOperand(place));
    return index ? make<LLVM::SelectOp>(any(index), ones(shadow), result).getResult() : result;
  };
  if (isa<LLVM::UndefOp, LLVM::PoisonOp>(op)) {
    sources.push_back(op);
    return ones(shadow);
  }
  if (auto load = dyn_cast<LLVM::LoadOp>(op))
    return make<LLVM::LoadOp>(shadow, shadowAddress(load.getAddr()), /*alignment=*/1);
  if (auto select = dyn_cast<LLVM::SelectOp>(op)) {
    Value chosen = make<LLVM::SelectOp>(select.getCondition(), operand(1), operand(2));
    Value condition = shadowOf(select.getCondition());
    return condition ? make<LLVM::SelectOp>(condition, ones(shadow), chosen).getResult() : chosen;
  }
  if (auto insert = dyn_cast<LLVM::InsertElementOp>(op))
    return unlessUndefined(
        2, make<LLVM::InsertElementOp>(operand(0), operand(1), insert.getPosition()));
  if (auto extract = dyn_cast<LLVM::ExtractElementOp>(op))
    return unlessUndefined(1, make<LLVM::ExtractElementOp>(operand(0), extract.getPosition()));
  if (auto shuffle = dyn_cast<LLVM::ShuffleVectorOp>(op)) {
    SmallVector<int32_t> mask(shuffle.getMask());
    Value nowhere;
    for (auto [i, source] : llvm::enumerate(mask))
      if (source < 0) {
        source = 0;
        Value place = make<LLVM::ConstantOp>(builder.getI32Type(), builder.getI32IntegerAttr(i));
        Type element = cast<VectorType>(shadow).getElementType();
        nowhere =
            make<LLVM::InsertElementOp>(nowhere ? nowhere : zeros(shadow), ones(element), place);
      }
    Value result = make<LLVM::ShuffleVectorOp>(operand(0), operand(1), mask);
    if (nowhere) {
      sources.push_back(op);
      result = make<LLVM::OrOp>(result, nowhere);
    }
    return result;
  }
  if (auto insert = dyn_cast<LLVM::InsertValueOp>(op))
    return make<LLVM::InsertValueOp>(operand(0), operand(1), insert.getPosition());
  if (auto extract = dyn_cast<LLVM::ExtractValueOp>(op))
    return make<LLVM::ExtractValueOp>(operand(0), extract.getPosition());
  if (isa<LLVM::AndOp>(op))
    return logicOf(op, /*isAnd=*/true);
  if (isa<LLVM::OrOp>(op))
    return logicOf(op, /*isAnd=*/false);
  if (isa<LLVM::XOrOp>(op))
    return make<LLVM::OrOp>(operand(0), operand(1));
  if (isa<LLVM::ZExtOp, LLVM::IntToPtrOp, LLVM::PtrToIntOp, LLVM::TruncOp>(op)) {
    Value from = operand(0);
    unsigned bits = getElementTypeOrSelf(from.getType()).getIntOrFloatBitWidth();
    unsigned wanted = getElementTypeOrSelf(shadow).getIntOrFloatBitWidth();
    return bits < wanted   ? make<LLVM::ZExtOp>(shadow, from).getResult()
           : bits > wanted ? make<LLVM::TruncOp>(shadow, from).getResult()
                           : from;
  }
  if (isa<LLVM::SExtOp>(op))
    return make<LLVM::SExtOp>(shadow, operand(0));
  if (isa<LLVM::BitcastOp>(op))
    return make<LLVM::BitcastOp>(shadow, operand(0));
  // Shifts of more than the width have a meaning of their own on GPUs.
  auto amount = isa<LLVM::ShlOp, LLVM::LShrOp, LLVM::AShrOp>(op)
                    ? op->getOperand(1).getDefiningOp<LLVM::ConstantOp>()
                    : LLVM::ConstantOp();
  if (auto number = amount ? dyn_cast<IntegerAttr>(amount.getValue()) : IntegerAttr();
      number && number.getValue().ult(number.getValue().getBitWidth())) {
    if (isa<LLVM::ShlOp>(op))
      return make<LLVM::ShlOp>(operand(0), amount);
    if (isa<LLVM::LShrOp>(op))
      return make<LLVM::LShrOp>(operand(0), amount);
    return make<LLVM::AShrOp>(operand(0), amount);
  }
  // An element of the result is undefined where one of those that it is computed from is.
  Value flags;
  auto vector = dyn_cast<VectorType>(shadow);
  for (Value value : op->getOperands()) {
    Value from = shadowOf(value);
    if (!from)
      continue;
    auto other = dyn_cast<VectorType>(from.getType());
    bool isSideBySide = vector && other && vector.getNumElements() == other.getNumElements();
    Value flag =
        isSideBySide
            ? make<LLVM::ICmpOp>(LLVM::ICmpPredicate::ne, from, zeros(from.getType())).getResult()
            : any(from);
    if (!isSideBySide && vector)
      flag = spread(flag, vector.clone(builder.getI1Type()));
    flags = flags ? make<LLVM::OrOp>(flags, flag).getResult() : flag;
  }
  return spread(flags, shadow);
}

/// A local array of undefined bits, as large as `array`.
Value Shadows::arrayShadow(LLVM::AllocaOp array) {
  Value &shadow = arrays[array];
  if (shadow)
    return shadow;
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

/// Where in the shadow of a local array the bits of what lies at `address` are.
Value Shadows::shadowAddress(Value address) {
  Operation *op = address.getDefiningOp();
  if (auto array = dyn_cast<LLVM::AllocaOp>(op))
    return arrayShadow(array);
  if (Value known = addresses.lookup(address))
    return known;
  Value base = shadowAddress(op->getOperand(0));
  auto gep = dyn_cast<LLVM::GEPOp>(op);
  if (!gep)
    return addresses[address] = base;
  OpBuilder::InsertionGuard guard(builder);
  builder.setInsertionPointAfter(op);
  auto *copy = builder.clone(*op);
  copy->setOperand(0, base);
  copy->getResult(0).setType(base.getType());
  Value result = copy->getResult(0);
  if (Value unknown = shadowOf(address)) {
    Location outer = std::exchange(loc, op->getLoc());
    builder.setInsertionPointAfterValue(unknown);
    result = make<LLVM::SelectOp>(any(unknown), arrayShadow(localArrayOf(address)), result);
    loc = outer;
  }
  return addresses[address] = result;
}

/// Gives block arguments and arrays that have shadows what they take; which may need more of them.
void Shadows::completeShadows() {
  while (!arguments.empty() || !stores.empty()) {
    while (!arguments.empty()) {
      BlockArgument argument = arguments.front();
      arguments.pop_front();
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
          operands.append(shadowAt(operands[argument.getArgNumber()]));
        }
      }
    }
    if (!stores.empty()) {
      LLVM::StoreOp store = stores.front();
      stores.pop_front();
      loc = store.getLoc();
      Value place = shadowAddress(store.getAddr());
      builder.setInsertionPointAfter(store);
      make<LLVM::StoreOp>(shadowAt(store.getValue()), place, /*alignment=*/1);
    }
  }
}

/// Where the place in a local array is undefined, the array's beginning is accessed.
void Shadows::stayInside(const UndefinedUse &use, Value isUndefined) {
  bool isAddress =
      isa<LLVM::LoadOp>(use.user) || (isa<LLVM::StoreOp>(use.user) && use.operand == 1);
  LLVM::AllocaOp array =
      isAddress ? localArrayOf(use.user->getOperand(use.operand)) : LLVM::AllocaOp();
  if (!array)
    return;
  builder.setInsertionPoint(use.user);
  loc = use.user->getLoc();
  Value address = use.user->getOperand(use.operand);
  if (array.getType() != address.getType())
    return;
  use.user->setOperand(use.operand, make<LLVM::SelectOp>(isUndefined, array, address));
}

void Shadows::defineSources() {
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

} // namespace

void cameo::insertUndefinedChecks(LLVM::LLVMFuncOp kernel, OpBuilder &builder,
                                  llvm::function_ref<void(const UndefinedUse &)> tell) {
  Shadows(kernel, builder).run(tell);
}
