// Values of tensors that are known on the host, and why others are not.
//
// SPDX-License-Identifier: Apache-2.0
#include "passes/linalg/RefusalReport.h"

using namespace mlir;

namespace cameo {

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
FailureOr<Sizes> HostValues::readInput(BlockArgument argument, int64_t limit) {
  std::optional<Lowered> input = l.tryLowered(argument);
  if (!input || input->rank() > 2)
    return failure();
  auto type = cast<RankedTensorType>(input->tensor.getType());
  if (!type.hasStaticShape() || type.getNumElements() > std::min<int64_t>(limit, kMostRead))
    return failure();
  bool real = isa<FloatType>(type.getElementType());
  OpBuilder &b = l.builder();
  Sizes result;
  for (int64_t i = 0; i < type.getNumElements(); ++i) {
    Value position = l.plan.value(l.plan.index(i));
    Value read = b.create<rt::ReadOp>(
        l.plan.location(), real ? Type(b.getF64Type()) : b.getI64Type(), input->tensor, position);
    if (!real)
      read = b.create<arith::IndexCastOp>(l.plan.location(), b.getIndexType(), read);
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

bool HostValues::isKnown(Value value, int64_t limit) const {
  if (cache.count(value))
    return true;
  auto failure = failures.find(value);
  return failure != failures.end() && limit <= failure->second;
}

/// What a value is, if what it is made from was asked for before.
void HostValues::evaluate(Value value, int64_t limit) {
  FailureOr<Sizes> result = failure();
  auto type = dyn_cast<RankedTensorType>(value.getType());
  bool small = !type || !type.hasStaticShape() || type.getNumElements() <= limit;
  if (ElementsAttr constant = onnx::constantValue(value))
    result = hostConstant(l.builder(), constant, limit);
  else if (auto argument = dyn_cast<BlockArgument>(value))
    result = readInput(argument, limit);
  else if (HostFunction host = hostFunction(value); host && small)
    result = host(value.getDefiningOp(), cast<OpResult>(value).getResultNumber(), l);
  if (succeeded(result) && static_cast<int64_t>(result->size()) <= limit)
    cache[value] = *result;
  else
    failures[value] = limit;
}

FailureOr<Sizes> HostValues::tryValues(Value onnxValue, int64_t limit) {
  // In order, without recursion: there may be any number of operators in a row.
  SmallVector<Value> pending{onnxValue};
  llvm::DenseSet<Value> entered;
  while (!pending.empty()) {
    Value value = pending.back();
    size_t before = pending.size();
    // The operands of these two need not be known for their results to be.
    bool ofShape = value.getDefiningOp<onnx::ShapeOp>() || value.getDefiningOp<onnx::SizeOp>();
    if (!isKnown(value, limit) && hostFunction(value) && !ofShape && entered.insert(value).second)
      for (Value operand : value.getDefiningOp()->getOperands())
        if (!onnx::isAbsent(operand) && !isKnown(operand, limit))
          pending.push_back(operand);
    if (pending.size() > before)
      continue;
    pending.pop_back();
    if (!isKnown(value, limit))
      evaluate(value, limit);
  }
  auto known = cache.find(onnxValue);
  if (known == cache.end() || static_cast<int64_t>(known->second.size()) > limit)
    return failure();
  return known->second;
}

/// Why a value is not known on the host: the first thing on its way that is computed elsewhere.
/// Empty where that is a node that is refused anyway.
std::string HostValues::describeDeviceValue(Value value) {
  for (unsigned depth = 0; depth < 64; ++depth) {
    if (auto argument = dyn_cast<BlockArgument>(value)) {
      auto function = dyn_cast<func::FuncOp>(argument.getOwner()->getParentOp());
      auto name =
          function ? function.getArgAttrOfType<StringAttr>(argument.getArgNumber(), onnx::kNameAttr)
                   : StringAttr();
      return "comes from the model's input '" + (name ? name.str() : "") + "' of type " +
             onnx::typeText(argument.getType());
    }
    Operation *op = value.getDefiningOp();
    if (!op || l.isRefused(op))
      return "";
    if (isa<onnx::ConstantOp>(op))
      return "is a constant of type " + onnx::typeText(value.getType());
    auto entry = supportedOperators().find(op->getName().stripDialect());
    Value next;
    if (entry != supportedOperators().end() && entry->second.host)
      for (Value operand : op->getOperands())
        if (!next && !onnx::isAbsent(operand) && failed(tryValues(operand)))
          next = operand;
    if (!next)
      return "is computed on the device by node '" + nodeNameOf(op) + "' (" + operatorText(op) +
             ")";
    value = next;
  }
  return "is computed on the device";
}

/// Whether a list has one dimension, and a single number at most one; where the rank is known.
static bool hasListRank(Operation *op, unsigned operand) {
  auto type = dyn_cast<RankedTensorType>(op->getOperand(operand).getType());
  // A single number in one dimension, and axes of Unsqueeze in none, are common in models.
  bool perhapsScalar =
      isa<onnx::CumProdOp, onnx::CumSumOp, onnx::OneHotOp, onnx::RangeOp, onnx::UnsqueezeOp>(op);
  return !type || type.getRank() == 1 || (type.getRank() == 0 && perhapsScalar);
}

FailureOr<Sizes> HostValues::values(Operation *op, unsigned operand, int64_t limit) {
  if (!hasListRank(op, operand))
    return l.unsupported(op, inputText(op, operand) + " is " +
                                 onnx::typeText(op->getOperand(operand).getType()) +
                                 "; it must have one dimension");
  FailureOr<Sizes> result = tryValues(op->getOperand(operand), limit);
  if (succeeded(result))
    return result;
  std::string where = describeDeviceValue(op->getOperand(operand));
  if (where.empty()) {
    l.hide(op);
    return failure();
  }
  return l.unsupported(op,
                       inputText(op, operand) + " must be known on the host, but " + where +
                           "; nearest supported: a constant, a value computed from shapes, or an "
                           "input of the model of rank 2 or less and of fixed shape with at most " +
                           Twine(std::min<int64_t>(limit, kMostRead)) + " numbers");
}

} // namespace cameo
