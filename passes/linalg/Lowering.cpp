// The Lowering class: operands, results and host values.
//
// SPDX-License-Identifier: Apache-2.0
#include "passes/linalg/Lowering.h"

using namespace mlir;

namespace cameo {

Lowering::Lowering(ModuleOp module)
    : module(module), b(module.getContext()), plan(b, refusals), build(module, b, plan) {}

Type Lowering::elementType(Value onnxValue) {
  return cast<TensorType>(onnxValue.getType()).getElementType();
}

//===-- Operands and results ------------------------------------------------------------------===//

bool Lowering::absent(Operation *op, unsigned index) {
  return index >= op->getNumOperands() || onnx::isAbsent(op->getOperand(index));
}

Lowered Lowering::operand(Operation *op, unsigned index) { return lowered(op->getOperand(index)); }

Lowered Lowering::lowered(Value onnxValue) {
  auto found = values.find(onnxValue);
  if (found != values.end())
    return found->second;
  // Constants join the pool with their first use on the device: most of the small ones have none.
  ElementsAttr value = onnx::constantValue(onnxValue);
  assert(value && "operators are lowered after their operands");
  Lowered result;
  result.tensor = build.constant(onnxValue.getLoc(), value);
  result.elementType = value.getElementType();
  for (int64_t size : value.getShapedType().getShape())
    result.sizes.push_back(plan.index(size));
  values[onnxValue] = result;
  return result;
}

std::optional<Lowered> Lowering::tryLowered(Value onnxValue) {
  auto found = values.find(onnxValue);
  return found == values.end() ? std::nullopt : std::optional<Lowered>(found->second);
}

void Lowering::define(Operation *op, unsigned result, Lowered lowered) {
  assert(lowered.tensor.getType() == tensorType(lowered.sizes, lowered.elementType));
  values[op->getResult(result)] = std::move(lowered);
}

void Lowering::define(Operation *op, unsigned result, Value tensor, const Sizes &sizes,
                      Type elementType) {
  define(op, result, Lowered{tensor, sizes, elementType});
}

//===-- Host values ---------------------------------------------------------------------------===//

static FailureOr<Sizes> hostConstant(OpBuilder &b, ElementsAttr value, int64_t limit) {
  int64_t count = value.getNumElements();
  if (count > limit || !value.getElementType().isIntOrFloat())
    return failure();
  auto bytes = onnx::constantBytes(value);
  if (!bytes)
    return failure();
  onnx::ConstantBytes all = bytes->expanded(count);
  Type type = value.getElementType();
  unsigned width = type.isInteger(1) ? 1 : type.getIntOrFloatBitWidth() / 8;
  if (width == 0)
    return failure();
  Sizes result;
  for (int64_t i = 0; i < count; ++i) {
    const char *at = all.get().data() + i * width;
    uint64_t raw = 0;
    std::memcpy(&raw, at, width);
    if (auto real = dyn_cast<FloatType>(type)) {
      APFloat number(real.getFloatSemantics(), APInt(width * 8, raw));
      bool lost;
      number.convert(APFloat::IEEEdouble(), APFloat::rmNearestTiesToEven, &lost);
      result.push_back(b.getF64FloatAttr(number.convertToDouble()));
    } else if (type.isUnsignedInteger() || type.isInteger(1)) {
      result.push_back(b.getIndexAttr(static_cast<int64_t>(raw)));
    } else {
      result.push_back(b.getIndexAttr(llvm::SignExtend64(raw, width * 8)));
    }
  }
  return result;
}

/// Reads an input of the model on the host: only what is shaped like a list of sizes.
FailureOr<Sizes> Lowering::readInput(BlockArgument argument, int64_t limit) {
  auto found = values.find(argument);
  if (found == values.end() || found->second.rank() > 2)
    return failure();
  const Lowered &input = found->second;
  auto type = cast<RankedTensorType>(input.tensor.getType());
  if (!type.hasStaticShape() || type.getNumElements() > std::min<int64_t>(limit, kMostRead))
    return failure();
  bool real = isa<FloatType>(type.getElementType());
  Sizes result;
  for (int64_t i = 0; i < type.getNumElements(); ++i) {
    Value position = plan.value(plan.index(i));
    Value read = b.create<rt::ReadOp>(plan.location(), real ? Type(b.getF64Type()) : b.getI64Type(),
                                      input.tensor, position);
    if (!real)
      read = b.create<arith::IndexCastOp>(plan.location(), b.getIndexType(), read);
    result.push_back(read);
  }
  return result;
}

/// The operator's host function; null where it has none.
static HostFunction hostFunction(Value value) {
  Operation *op = value.getDefiningOp();
  const OperatorTable &table = supportedOperators();
  auto entry = op ? table.find(op->getName().stripDialect()) : table.end();
  return entry == table.end() ? nullptr : entry->second.host;
}

bool Lowering::isHostValueKnown(Value value, int64_t limit) const {
  if (hostCache.count(value))
    return true;
  auto failure = hostFailures.find(value);
  return failure != hostFailures.end() && limit <= failure->second;
}

/// What a value is, if what it is made from was asked for before.
void Lowering::evaluateOnHost(Value value, int64_t limit) {
  FailureOr<Sizes> result = failure();
  auto type = dyn_cast<RankedTensorType>(value.getType());
  bool small = !type || !type.hasStaticShape() || type.getNumElements() <= limit;
  if (ElementsAttr constant = onnx::constantValue(value))
    result = hostConstant(b, constant, limit);
  else if (auto argument = dyn_cast<BlockArgument>(value))
    result = readInput(argument, limit);
  else if (HostFunction host = hostFunction(value); host && small)
    result = host(value.getDefiningOp(), cast<OpResult>(value).getResultNumber(), *this);
  if (succeeded(result) && static_cast<int64_t>(result->size()) <= limit)
    hostCache[value] = *result;
  else
    hostFailures[value] = limit;
}

FailureOr<Sizes> Lowering::tryHostValues(Value onnxValue, int64_t limit) {
  // In order, without recursion: there may be any number of operators in a row.
  SmallVector<Value> pending{onnxValue};
  llvm::DenseSet<Value> entered;
  while (!pending.empty()) {
    Value value = pending.back();
    size_t before = pending.size();
    // The operands of these two need not be known for their results to be.
    bool ofShape = value.getDefiningOp<onnx::ShapeOp>() || value.getDefiningOp<onnx::SizeOp>();
    if (!isHostValueKnown(value, limit) && hostFunction(value) && !ofShape &&
        entered.insert(value).second)
      for (Value operand : value.getDefiningOp()->getOperands())
        if (!onnx::isAbsent(operand) && !isHostValueKnown(operand, limit))
          pending.push_back(operand);
    if (pending.size() > before)
      continue;
    pending.pop_back();
    if (!isHostValueKnown(value, limit))
      evaluateOnHost(value, limit);
  }
  auto known = hostCache.find(onnxValue);
  if (known == hostCache.end() || static_cast<int64_t>(known->second.size()) > limit)
    return failure();
  return known->second;
}

} // namespace cameo
