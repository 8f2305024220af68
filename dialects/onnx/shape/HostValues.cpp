// Values of tensors that are known on the host, and why others are not.
//
// SPDX-License-Identifier: Apache-2.0
#include "dialects/onnx/shape/HostValues.h"

#include "dialects/onnx/Onnx.h"
#include "dialects/onnx/shape/NodeText.h"
#include "dialects/onnx/shape/ShapeRules.h"

#include "mlir/Dialect/Utils/StaticValueUtils.h"
#include "mlir/Interfaces/FunctionInterfaces.h"

#include <numeric>

using namespace mlir;

namespace cameo::onnx {

static FailureOr<Sizes> hostConstant(const SizeBuilder &s, ElementsAttr value, int64_t limit) {
  int64_t count = value.getNumElements();
  if (count > limit || !value.getElementType().isIntOrFloat())
    return failure();
  auto bytes = constantBytes(value);
  if (!bytes)
    return failure();
  ConstantBytes all = bytes->expanded(count);
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
      result.push_back(s.floating(number.convertToDouble()));
    } else if (type.isUnsignedInteger() || type.isInteger(1)) {
      result.push_back(s.index(static_cast<int64_t>(raw)));
    } else {
      result.push_back(s.index(llvm::SignExtend64(raw, width * 8)));
    }
  }
  return result;
}

/// Reads an input of the model on the host: only what is shaped like a list of sizes.
FailureOr<Sizes> HostValues::readInput(BlockArgument argument, int64_t limit) {
  auto type = dyn_cast<RankedTensorType>(argument.getType());
  if (!type || type.getRank() > 2 || !shapes.find(argument))
    return failure();
  Type element = type.getElementType();
  if (!element.isIntOrFloat() ||
      (isa<FloatType>(element) && element.getIntOrFloatBitWidth() < 16) ||
      (!element.isInteger(1) && element.getIntOrFloatBitWidth() < 8))
    return failure(); // bits that the host would have to decode
  if (!type.hasStaticShape() || type.getNumElements() > std::min<int64_t>(limit, kMaxHostReads))
    return failure();
  Sizes result;
  for (int64_t i = 0; i < type.getNumElements(); ++i)
    result.push_back(shapes.sizes.read(argument, i, isa<FloatType>(type.getElementType())));
  return result;
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
  if (ElementsAttr constant = constantValue(value))
    result = hostConstant(shapes.sizes, constant, limit);
  else if (auto argument = dyn_cast<BlockArgument>(value))
    result = readInput(argument, limit);
  else if (auto known = value.getDefiningOp<HostValueInterface>();
           known && small && shapes.hasOperands(known))
    result = known.hostValue(shapes, cast<OpResult>(value).getResultNumber());
  if (succeeded(result) && static_cast<int64_t>(result->size()) <= limit)
    cache[value] = *result;
  else
    failures[value] = limit;
}

FailureOr<Sizes> HostValues::tryValues(Value wanted, int64_t limit) {
  // In order, without recursion: there may be any number of operators in a row.
  SmallVector<Value> pending{wanted};
  llvm::DenseSet<Value> entered;
  while (!pending.empty()) {
    Value value = pending.back();
    size_t before = pending.size();
    // The operands of these two need not be known for their results to be.
    bool ofShape = value.getDefiningOp<ShapeOp>() || value.getDefiningOp<SizeOp>();
    if (!isKnown(value, limit) && value.getDefiningOp<HostValueInterface>() && !ofShape &&
        entered.insert(value).second)
      for (Value operand : value.getDefiningOp()->getOperands())
        if (!isAbsent(operand) && !isKnown(operand, limit))
          pending.push_back(operand);
    if (pending.size() > before)
      continue;
    pending.pop_back();
    if (!isKnown(value, limit))
      evaluate(value, limit);
  }
  auto known = cache.find(wanted);
  if (known == cache.end() || static_cast<int64_t>(known->second.size()) > limit)
    return failure();
  return known->second;
}

static int64_t elementsOf(ArrayRef<int64_t> shape) {
  return std::accumulate(shape.begin(), shape.end(), int64_t(1), std::multiplies<>());
}

/// True of what the device computes, if it is a few numbers that can be read one by one.
bool HostValues::mayFetch(Value value, int64_t limit) {
  Operation *op = value.getDefiningOp();
  std::optional<Sizes> sizes = op && !refusals.contains(op) ? shapes.find(value) : std::nullopt;
  auto type = dyn_cast<RankedTensorType>(value.getType());
  if (!sizes || !type || isa<ConstantOp>(op))
    return false;
  Type element = type.getElementType();
  if (!element.isIntOrFloat() || (!element.isInteger(1) && element.getIntOrFloatBitWidth() < 8) ||
      (isa<FloatType>(element) && element.getIntOrFloatBitWidth() < 16))
    return false;
  FailureOr<SmallVector<int64_t>> shape = hostShape(*sizes);
  int64_t most = std::min<int64_t>(limit, kMaxHostReads);
  return succeeded(shape) && elementsOf(*shape) <= most;
}

/// Reads back what the value is made of, so that the host goes on from there and knows what does not come from the
/// device; where that is too much, the value itself.
FailureOr<Sizes> HostValues::fetch(Value wanted, int64_t limit) {
  SmallVector<Value> visited{wanted};
  llvm::DenseSet<Value> seen{wanted};
  SmallVector<Value> leaves;
  bool areAll = true; // leaves that can be fetched
  for (size_t i = 0; i < visited.size(); ++i) {
    Value value = visited[i];
    Operation *op = value.getDefiningOp();
    if (!isa_and_nonnull<HostValueInterface>(op)) {
      areAll &= mayFetch(value, limit);
      leaves.push_back(value);
      continue;
    }
    bool isKnown = true, areConstants = true;
    for (Value operand : op->getOperands()) {
      FailureOr<Sizes> numbers = isAbsent(operand) ? Sizes() : tryValues(operand, limit);
      if (succeeded(numbers)) {
        areConstants &= llvm::all_of(*numbers, [](OpFoldResult number) {
          return isa_and_present<IntegerAttr, FloatAttr>(dyn_cast<Attribute>(number));
        });
        continue;
      }
      isKnown = false;
      if (seen.insert(operand).second)
        visited.push_back(operand);
    }
    // The device would not make better what the host refuses to make of constants, as a quotient by 0.
    if (isKnown && areConstants)
      return failure();
    if (isKnown) {
      areAll &= mayFetch(value, limit);
      leaves.push_back(value);
    }
  }
  auto read = [&](Value value) {
    bool isReal = isa<FloatType>(elementType(value));
    int64_t count = elementsOf(*hostShape(*shapes.find(value)));
    cache[value] = shapes.sizes.fetch(value, count, isReal);
    failures.clear(); // more is known now
  };
  if (areAll && !leaves.empty()) {
    for (Value leaf : leaves)
      read(leaf);
    if (FailureOr<Sizes> result = tryValues(wanted, limit); succeeded(result))
      return result;
  }
  if (!mayFetch(wanted, limit))
    return failure();
  read(wanted);
  return cache.at(wanted);
}

/// Why a value is not known on the host: the first thing on its way that is computed elsewhere.
/// Empty where that is a node that is refused anyway.
std::string HostValues::describeDeviceValue(Value value) {
  for (unsigned depth = 0; depth < 64; ++depth) {
    if (auto argument = dyn_cast<BlockArgument>(value)) {
      auto function = dyn_cast<FunctionOpInterface>(argument.getOwner()->getParentOp());
      auto name = function
                      ? function.getArgAttrOfType<StringAttr>(argument.getArgNumber(), kNameAttr)
                      : StringAttr();
      bool isOuter = function && function.isPublic();
      return (isOuter ? "comes from the model's input '" : "comes from outside of this graph, '") +
             (name ? name.str() : "") + "' of type " + typeText(argument.getType());
    }
    Operation *op = value.getDefiningOp();
    if (!op || refusals.contains(op))
      return "";
    if (isa<ConstantOp>(op))
      return "is a constant of type " + typeText(value.getType());
    Value next;
    if (value.getDefiningOp<HostValueInterface>())
      for (Value operand : op->getOperands())
        if (!next && !isAbsent(operand) && failed(tryValues(operand)))
          next = operand;
    if (!next)
      return "is computed on the device by node '" + nodeText(op).str() + "' (" + operatorText(op) +
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
      isa<CumProdOp, CumSumOp, NonMaxSuppressionOp, OneHotOp, RangeOp, UnsqueezeOp>(op);
  return !type || type.getRank() == 1 || (type.getRank() == 0 && perhapsScalar);
}

FailureOr<Sizes> HostValues::values(Operation *op, unsigned operand, int64_t limit) {
  if (!hasListRank(op, operand))
    return refusals.add(op, inputText(op, operand) + " is " +
                                typeText(op->getOperand(operand).getType()) +
                                "; it must have one dimension");
  return required(op, operand, limit);
}

FailureOr<OpFoldResult> HostValues::number(Operation *op, unsigned operand) {
  FailureOr<Sizes> values = required(op, operand, 1);
  if (failed(values))
    return failure();
  if (values->size() != 1)
    return refusals.add(op, inputText(op, operand) + " has " + Twine(values->size()) +
                                " elements; one is needed");
  return values->front();
}

FailureOr<Sizes> HostValues::required(Operation *op, unsigned operand, int64_t limit) {
  FailureOr<Sizes> result = tryValues(op->getOperand(operand), limit);
  if (failed(result))
    result = fetch(op->getOperand(operand), limit);
  if (succeeded(result))
    return result;
  std::string where = describeDeviceValue(op->getOperand(operand));
  if (where.empty()) {
    refusals.hide(op);
    return failure();
  }
  return refusals.add(op,
                      inputText(op, operand) + " must be known on the host, but " + where +
                          "; nearest supported: a constant, a value computed from shapes or on the "
                          "device, or an input of the model of rank 2 or less; of a shape that is "
                          "fixed, as by --shapes, with at most " +
                          Twine(std::min<int64_t>(limit, kMaxHostReads)) + " numbers");
}

//===-- Host tensors --------------------------------------------------------------------------===//

OpFoldResult HostArray::at(ArrayRef<int64_t> indices) const {
  int64_t position = 0;
  for (auto [size, at] : llvm::zip_equal(shape, indices))
    position = position * size + at;
  return values[position];
}

FailureOr<SmallVector<int64_t>> hostShape(ArrayRef<OpFoldResult> sizes) {
  constexpr int64_t kLimit = 4096;
  SmallVector<int64_t> shape;
  int64_t count = 1;
  for (OpFoldResult size : sizes) {
    std::optional<int64_t> known = getConstantIntValue(size);
    if (!known || *known < 0 || *known > kLimit)
      return failure();
    shape.push_back(*known);
    count *= *known;
    if (count > kLimit)
      return failure();
  }
  return shape;
}

FailureOr<HostArray> hostArray(Shapes &shapes, Operation *op, unsigned operand) {
  FailureOr<SmallVector<int64_t>> shape = hostShape(shapes.of(op, operand));
  if (failed(shape))
    return failure();
  FailureOr<Sizes> values = shapes.host.tryValues(op->getOperand(operand));
  int64_t count = 1;
  for (int64_t size : *shape)
    count *= size;
  if (failed(values) || static_cast<int64_t>(values->size()) != count)
    return failure();
  return HostArray{*shape, *values};
}

Sizes hostElements(ArrayRef<int64_t> shape,
                   function_ref<OpFoldResult(ArrayRef<int64_t> indices)> element) {
  int64_t count = 1;
  for (int64_t size : shape)
    count *= size;
  Sizes result;
  SmallVector<int64_t> indices(shape.size());
  for (int64_t position = 0; position < count; ++position) {
    int64_t rest = position;
    for (size_t i = shape.size(); i-- > 0;) {
      indices[i] = rest % shape[i];
      rest /= shape[i];
    }
    result.push_back(element(indices));
  }
  return result;
}

} // namespace cameo::onnx
