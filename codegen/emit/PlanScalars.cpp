// One table of ops with an opcode of their own, and the few that need more.
//
// SPDX-License-Identifier: Apache-2.0
#include "codegen/emit/PlanScalars.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "llvm/ADT/StringSwitch.h"

#include <limits>

using namespace mlir;
using namespace cameo;

static std::optional<CameoOpcode> opcodeOf(StringRef name) {
  return llvm::StringSwitch<std::optional<CameoOpcode>>(name)
      .Case("arith.addi", CAMEO_OP_ADD)
      .Case("arith.subi", CAMEO_OP_SUB)
      .Case("arith.muli", CAMEO_OP_MUL)
      .Case("arith.divsi", CAMEO_OP_DIV)
      .Case("arith.remsi", CAMEO_OP_REM)
      .Case("arith.floordivsi", CAMEO_OP_FLOORDIV)
      .Case("arith.ceildivsi", CAMEO_OP_CEILDIV)
      .Case("arith.minsi", CAMEO_OP_MIN)
      .Case("arith.maxsi", CAMEO_OP_MAX)
      .Case("arith.andi", CAMEO_OP_AND)
      .Case("arith.ori", CAMEO_OP_OR)
      .Case("arith.xori", CAMEO_OP_XOR)
      .Case("arith.select", CAMEO_OP_SELECT)
      .Case("arith.addf", CAMEO_OP_FADD)
      .Case("arith.subf", CAMEO_OP_FSUB)
      .Case("arith.mulf", CAMEO_OP_FMUL)
      .Case("arith.divf", CAMEO_OP_FDIV)
      .Case("arith.minimumf", CAMEO_OP_FMIN)
      .Case("arith.maximumf", CAMEO_OP_FMAX)
      .Case("math.floor", CAMEO_OP_FFLOOR)
      .Case("math.ceil", CAMEO_OP_FCEIL)
      .Case("math.roundeven", CAMEO_OP_FROUND_EVEN)
      .Case("arith.sitofp", CAMEO_OP_INT_TO_FLOAT)
      .Case("arith.fptosi", CAMEO_OP_FLOAT_TO_INT)
      .Default(std::nullopt);
}

/// The opcodes of 64-bit integers wrap around; sums and products of sizes, which are indices, may
/// not overflow.
static std::optional<CameoOpcode> wrappingOpcodeOf(StringRef name) {
  return llvm::StringSwitch<std::optional<CameoOpcode>>(name)
      .Case("arith.addi", CAMEO_OP_WRAP_ADD)
      .Case("arith.subi", CAMEO_OP_WRAP_SUB)
      .Case("arith.muli", CAMEO_OP_WRAP_MUL)
      .Case("arith.divui", CAMEO_OP_DIV_UNSIGNED)
      .Case("arith.remui", CAMEO_OP_REM_UNSIGNED)
      .Default(std::nullopt);
}

uint32_t PlanScalars::rounded(uint32_t number, Type type) {
  return type.isF32() ? plan.compute(CAMEO_OP_FROUND_F32, {number}) : number;
}

uint32_t PlanScalars::convert(Value value, bool toFloat) {
  bool isFloat = isa<FloatType>(value.getType());
  if (isFloat == toFloat)
    return get(value);
  return plan.compute(toFloat ? CAMEO_OP_INT_TO_FLOAT : CAMEO_OP_FLOAT_TO_INT, {get(value)});
}

/// The low bits of a number.
uint32_t PlanScalars::truncated(uint32_t number, unsigned width) {
  uint64_t mask = llvm::maskTrailingOnes<uint64_t>(width), sign = uint64_t(1) << (width - 1);
  number = plan.compute(CAMEO_OP_AND, {number, plan.constant(mask)});
  if (width == 1)
    return number;
  number = plan.compute(CAMEO_OP_XOR, {number, plan.constant(sign)});
  return plan.compute(CAMEO_OP_SUB, {number, plan.constant(sign)});
}

LogicalResult PlanScalars::emitConstant(Operation &op) {
  auto constant = cast<arith::ConstantOp>(op);
  if (auto integer = dyn_cast<IntegerAttr>(constant.getValue())) {
    // True is 1, not all ones.
    bool isBool = integer.getType().isInteger(1);
    set(constant, plan.constant(isBool ? integer.getValue().getZExtValue()
                                       : integer.getValue().getSExtValue()));
    return success();
  }
  if (auto number = dyn_cast<FloatAttr>(constant.getValue())) {
    set(constant, plan.constantDouble(number.getValueAsDouble()));
    return success();
  }
  return op.emitError("a launch plan's constants are numbers");
}

LogicalResult PlanScalars::emitCompare(Operation &op) {
  auto compare = cast<arith::CmpIOp>(op);
  uint32_t a = get(compare.getLhs()), b = get(compare.getRhs());
  using P = arith::CmpIPredicate;
  P predicate = compare.getPredicate();
  if (predicate >= P::ult) {
    // Unsigned order is signed order with the highest bit flipped.
    uint32_t flip = plan.constant(uint64_t(1) << 63);
    a = plan.compute(CAMEO_OP_XOR, {a, flip});
    b = plan.compute(CAMEO_OP_XOR, {b, flip});
  }
  switch (predicate) {
  case P::eq:
    set(compare, plan.compute(CAMEO_OP_EQ, {a, b}));
    break;
  case P::ne:
    set(compare, plan.compute(CAMEO_OP_NE, {a, b}));
    break;
  case P::slt:
  case P::ult:
    set(compare, plan.compute(CAMEO_OP_LT, {a, b}));
    break;
  case P::sle:
  case P::ule:
    set(compare, plan.compute(CAMEO_OP_LE, {a, b}));
    break;
  case P::sgt:
  case P::ugt:
    set(compare, plan.compute(CAMEO_OP_LT, {b, a}));
    break;
  case P::sge:
  case P::uge:
    set(compare, plan.compute(CAMEO_OP_LE, {b, a}));
    break;
  }
  return success();
}

LogicalResult PlanScalars::emitFloatCompare(Operation &op) {
  auto compare = cast<arith::CmpFOp>(op);
  uint32_t a = get(compare.getLhs()), b = get(compare.getRhs());
  auto negate = [&](uint32_t number) {
    return plan.compute(CAMEO_OP_XOR, {number, plan.constant(1)});
  };
  using P = arith::CmpFPredicate;
  switch (compare.getPredicate()) {
  case P::OEQ:
    set(compare, plan.compute(CAMEO_OP_FEQ, {a, b}));
    return success();
  case P::UNE:
    set(compare, negate(plan.compute(CAMEO_OP_FEQ, {a, b})));
    return success();
  case P::OLT:
    set(compare, plan.compute(CAMEO_OP_FLT, {a, b}));
    return success();
  case P::OLE:
    set(compare, plan.compute(CAMEO_OP_FLE, {a, b}));
    return success();
  case P::OGT:
    set(compare, plan.compute(CAMEO_OP_FLT, {b, a}));
    return success();
  case P::OGE:
    set(compare, plan.compute(CAMEO_OP_FLE, {b, a}));
    return success();
  case P::UGE:
    set(compare, negate(plan.compute(CAMEO_OP_FLT, {a, b})));
    return success();
  case P::UGT:
    set(compare, negate(plan.compute(CAMEO_OP_FLE, {a, b})));
    return success();
  case P::ULE:
    set(compare, negate(plan.compute(CAMEO_OP_FLT, {b, a})));
    return success();
  case P::ULT:
    set(compare, negate(plan.compute(CAMEO_OP_FLE, {b, a})));
    return success();
  default:
    return op.emitError("this comparison is not part of launch plans");
  }
}

LogicalResult PlanScalars::emit(Operation &op) {
  if (isa<arith::ConstantOp>(op))
    return emitConstant(op);
  if (isa<arith::CmpIOp>(op))
    return emitCompare(op);
  if (isa<arith::CmpFOp>(op))
    return emitFloatCompare(op);
  if (op.getNumResults() != 1 || !isa<IndexType, IntegerType, FloatType>(op.getResult(0).getType()))
    return op.emitError("cannot be part of a launch plan");
  Value result = op.getResult(0);
  for (Type type : llvm::concat<Type>(llvm::to_vector(op.getOperandTypes()),
                                      llvm::to_vector(op.getResultTypes())))
    if (isa<FloatType>(type) && !type.isF32() && !type.isF64())
      return op.emitError() << "launch plans compute in f32 and f64, not in " << type;
  // Narrower integers are held exactly, sign-extended but for booleans.
  if (isa<arith::IndexCastOp, arith::ExtSIOp, arith::TruncIOp, arith::ExtFOp, arith::ExtUIOp,
          arith::IndexCastUIOp>(op)) {
    uint32_t source = get(op.getOperand(0));
    if (isa<arith::TruncIOp>(op))
      source = truncated(source, result.getType().getIntOrFloatBitWidth());
    // Narrow unsigned values are held as signed ones.
    if (auto narrow = dyn_cast<IntegerType>(op.getOperand(0).getType());
        isa<arith::ExtUIOp, arith::IndexCastUIOp>(op) && narrow && narrow.getWidth() < 64)
      source = plan.compute(CAMEO_OP_AND,
                            {source, plan.constant((uint64_t(1) << narrow.getWidth()) - 1)});
    // Sign extension of a boolean: true is -1.
    if (isa<arith::ExtSIOp, arith::IndexCastOp>(op) && op.getOperand(0).getType().isInteger(1))
      source = plan.compute(CAMEO_OP_SUB, {plan.constant(0), source});
    set(result, source);
    return success();
  }
  if (isa<arith::TruncFOp>(op)) {
    set(result, rounded(get(op.getOperand(0)), result.getType()));
    return success();
  }
  if (isa<arith::NegFOp>(op)) {
    set(result, plan.compute(CAMEO_OP_FMUL, {get(op.getOperand(0)), plan.constantDouble(-1)}));
    return success();
  }
  StringRef opName = op.getName().getStringRef();
  std::optional<CameoOpcode> opcode = opcodeOf(opName);
  if (auto wrapping = wrappingOpcodeOf(opName); wrapping && result.getType().isInteger(64))
    opcode = wrapping;
  if (!opcode)
    return op.emitError("cannot be part of a launch plan");
  SmallVector<uint32_t> operands;
  for (Value operand : op.getOperands())
    operands.push_back(get(operand));
  uint32_t number = plan.compute(*opcode, operands);
  if (isa<FloatType>(result.getType()) && !isa<arith::SelectOp>(op))
    number = rounded(number, result.getType());
  set(result, number);
  return success();
}
