// Gives values the types that their nodes' precisions ask for, and casts what is between.
//
// A value is cast once for each type that it is read in, right behind the node that writes it;
// a constant is rounded here, once for each type, to nearest and ties to even.
//
// SPDX-License-Identifier: Apache-2.0
#include "passes/precision/ConvertTypes.h"

#include "dialects/onnx/shape/Attention.h"
#include "passes/graph/Elements.h"
#include "passes/graph/Graph.h"
#include "passes/precision/ScaleScores.h"
#include "runtime/mutant.h"

#include <map>

using namespace mlir;

namespace cameo {

static Type elementTypeOf(Value value) {
  return cast<TensorType>(value.getType()).getElementType();
}

static Type withElements(Type type, Type elementType) {
  return cast<TensorType>(type).cloneWith(std::nullopt, elementType);
}

/// Numbers of FP32 rounded to `type`; where there is a `largest` one, no finite one goes beyond it.
static ElementsAttr roundedTo(ElementsAttr value, FloatType type, StringRef name, double largest) {
  Elements elements = *Elements::of(value);
  RankedTensorType shape = elements.type.clone(type);
  if (elements.isSplat())
    elements.type = RankedTensorType::get({1}, elements.type.getElementType());
  std::vector<float> numbers = readElements<float>(elements);
  if (CAMEO_MUTANT(38, largest > 0, false)) {
    auto most = static_cast<float>(largest);
    for (float &number : numbers)
      if (std::isfinite(number))
        number = std::clamp(number, -most, most);
  }
  std::vector<char> bytes = writeElements<float>(*onnx::elementKind(type), numbers);
  if (elements.bytes.isSplat())
    return onnx::makeSplat(shape, bytes);
  return onnx::makeConstant(shape, name, ArrayRef<char>(bytes));
}

namespace {

class TypeConverter {
public:
  TypeConverter(PrecisionPlan &plan, const NumberRanges &ranges)
      : plan(plan), ranges(ranges), b(plan.function.getContext()) {}

  int64_t convert();

private:
  void convertNode(const PrecisionNode &node, const Converted &which);
  void convertInterface();
  /// Makes readers of FP32 of values that are not FP32 any more see what they saw.
  void restore(Value value);
  /// The value in another type: where there is a `largest` number, no finite one goes beyond it.
  Value converted(Value value, FloatType type, double largest = 0);
  Value castTo(Value value, FloatType type);
  Value bounded(Value value, double largest);
  void eraseUnused();

  PrecisionPlan &plan;
  const NumberRanges &ranges;
  OpBuilder b;
  std::map<double, llvm::DenseMap<std::pair<Value, Type>, Value>> made; // by the largest number
  llvm::SmallPtrSet<OpOperand *, 32> settled; // uses that have the type they are to have
  SmallVector<Value> changed;                 // values that were FP32
  llvm::SetVector<Operation *> replaced;      // constants and casts that may have no use any more
  int64_t casts = 0;
};

} // namespace

static Location locationOf(Value value) {
  if (Operation *op = value.getDefiningOp())
    return op->getLoc();
  // As the node that it is, it has the input's name.
  std::string name = valueName(value);
  return NameLoc::get(StringAttr::get(value.getContext(), name.empty() ? "cast" : name));
}

Value TypeConverter::castTo(Value value, FloatType type) {
  b.setInsertionPointAfterValue(value);
  int64_t number = onnx::elementNumber(*onnx::elementKind(type));
  StringRef precision = precisionName(type.isF16()    ? Precision::FP16
                                      : type.isBF16() ? Precision::BF16
                                                      : Precision::FP32);
  SmallVector<NamedAttribute> attributes{
      b.getNamedAttr("to", b.getI64IntegerAttr(number)),
      b.getNamedAttr(kPrecisionAttr, b.getStringAttr(precision))};
  if (ArrayAttr dims = dimsOf(value))
    attributes.push_back(b.getNamedAttr(onnx::kDimsAttr, dims));
  ++casts;
  return b.create<onnx::CastOp>(locationOf(value), withElements(value.getType(), type), value,
                                attributes);
}

/// Numbers beyond become the last ones before they are rounded: those of a mask that hides by a large negative
/// number stay finite, as a row that is hidden as a whole needs it. Infinities stay.
Value TypeConverter::bounded(Value value, double largest) {
  b.setInsertionPointAfterValue(value);
  Location loc = locationOf(value);
  auto scalar = RankedTensorType::get({}, b.getF32Type());
  auto number = [&](double bound) {
    return createConstant(b, loc, DenseElementsAttr::get(scalar, static_cast<float>(bound)));
  };
  SmallVector<NamedAttribute> attributes;
  if (ArrayAttr dims = dimsOf(value))
    attributes.push_back(b.getNamedAttr(onnx::kDimsAttr, dims));
  Value finite = b.create<onnx::ClipOp>(
      loc, value.getType(), ValueRange{value, number(-largest), number(largest)}, attributes);
  if (ranges.of(value).reach > 0)
    return finite; // of constants, which are finite
  Value isInfinite =
      b.create<onnx::IsInfOp>(loc, withElements(value.getType(), b.getI1Type()), value, attributes);
  return b.create<onnx::WhereOp>(loc, value.getType(), ValueRange{isInfinite, value, finite},
                                 attributes);
}

/// True of masks and the like: no product computes the value.
static bool isMadeOfInputs(Value value) {
  SmallVector<Value> open{value};
  for (llvm::SmallPtrSet<Operation *, 16> seen; !open.empty();) {
    Operation *op = open.pop_back_val().getDefiningOp();
    if (!op || !seen.insert(op).second)
      continue;
    Role role = policyOf(op).role;
    if (!isa<onnx::ConstantOp>(op) && role != Role::Elementwise && role != Role::Movement)
      return false;
    llvm::append_range(open, op->getOperands());
  }
  return true;
}

/// True of an operand that masks scores: of inputs alone, added to what is not, in front of a Softmax.
static bool masksScores(Operation *op, unsigned operand) {
  if (!isa<onnx::AddOp, onnx::SubOp, onnx::WhereOp>(op) ||
      !isMadeOfInputs(op->getOperand(operand)) || !leadsToSoftmax(op))
    return false;
  return !llvm::all_of(op->getOperands(), isMadeOfInputs);
}

Value TypeConverter::converted(Value value, FloatType type, double largest) {
  if (elementTypeOf(value) == type)
    return value;
  Value &known = made[largest][{value, type}];
  if (known)
    return known;
  if (auto constant = value.getDefiningOp<onnx::ConstantOp>()) {
    replaced.insert(constant);
    b.setInsertionPointAfter(constant);
    ElementsAttr rounded =
        roundedTo(constant.getValue(), type, nodeName(constant.getOperation()), largest);
    return known = createConstant(b, constant.getLoc(), rounded);
  }
  // What was cast up is there already.
  auto cast = value.getDefiningOp<onnx::CastOp>();
  if (cast && isa<TensorType>(cast.getInput().getType()) &&
      elementTypeOf(cast.getInput()) == type) {
    replaced.insert(cast);
    return known = cast.getInput();
  }
  NumberRange range = ranges.of(value);
  bool mayBeBeyond = range.reach > largest || (range.reach == 0 && !range.isKnown());
  bool isBounded = largest > 0 && isFP32(value) && mayBeBeyond;
  return known = castTo(isBounded ? bounded(value, largest) : value, type);
}

void TypeConverter::convertNode(const PrecisionNode &node, const Converted &which) {
  FloatType type = storedType(*node.precision, b.getContext());
  const PolicyRow &row = policyOf(node.op);
  for (unsigned i : which.operands) {
    OpOperand &use = node.op->getOpOperand(i);
    bool saturates = row.isBound(i) || row.isMask(i) || masksScores(node.op, i);
    double largest = largestOf(*node.precision) / (row.isBound(i) ? 1 : 2);
    use.set(converted(use.get(), type, saturates ? largest : 0));
    settled.insert(&use);
  }
  for (unsigned i : which.results) {
    Value result = node.op->getResult(i);
    result.setType(withElements(result.getType(), type));
    changed.push_back(result);
  }
  if (isa<onnx::CastOp>(node.op))
    node.op->setAttr("to", b.getI64IntegerAttr(onnx::elementNumber(storedAs(*node.precision))));
  // The types between its steps are not the model's.
  if (isa<onnx::AttentionOp>(node.op))
    node.op->setAttr(kPrecisionAttr, b.getStringAttr(precisionName(*node.precision)));
  auto numbers = node.op->getAttrOfType<DictionaryAttr>(onnx::kArithmeticAttr);
  auto hidden = numbers ? dyn_cast_or_null<FloatAttr>(numbers.get("masked")) : FloatAttr();
  double most = largestOf(*node.precision);
  if (!hidden || !std::isfinite(hidden.getValueAsDouble()) ||
      std::abs(hidden.getValueAsDouble()) <= most)
    return;
  NamedAttrList list(numbers);
  list.set("masked",
           FloatAttr::get(hidden.getType(), std::clamp(hidden.getValueAsDouble(), -most, most)));
  node.op->setAttr(onnx::kArithmeticAttr, list.getDictionary(b.getContext()));
}

void TypeConverter::restore(Value value) {
  for (OpOperand &use : llvm::make_early_inc_range(value.getUses())) {
    Operation *user = use.getOwner();
    if (settled.contains(&use))
      continue;
    auto cast = dyn_cast<onnx::CastOp>(user);
    if (cast && elementTypeOf(cast.getOutput()) == elementTypeOf(value)) {
      cast.getOutput().replaceAllUsesWith(value);
      replaced.insert(cast);
    } else if (!readsAnyType(user, use.getOperandNumber())) {
      use.set(converted(value, b.getF32Type()));
      settled.insert(&use);
    }
  }
}

void TypeConverter::convertInterface() {
  if (!isLow(plan.inputsAndOutputs))
    return;
  FloatType type = storedType(plan.inputsAndOutputs, b.getContext());
  for (BlockArgument argument : plan.function.getBody().getArguments())
    if (isFP32(argument)) {
      argument.setType(withElements(argument.getType(), type));
      changed.push_back(argument);
    }
}

int64_t TypeConverter::convert() {
  Operation *end = plan.function.getBody().front().getTerminator();
  SmallVector<unsigned> outputs;
  if (isLow(plan.inputsAndOutputs))
    for (OpOperand &output : end->getOpOperands())
      if (isFP32(output.get()))
        outputs.push_back(output.getOperandNumber());
  // By the types that there were, which no node is asked for any more once others have changed.
  std::vector<std::pair<const PrecisionNode *, Converted>> low;
  for (const PrecisionNode &node : plan.nodes)
    if (node.precision && isLow(*node.precision))
      low.push_back({&node, *convertedIn(node.op, *node.precision)});
  convertInterface();
  for (const auto &[node, which] : low)
    convertNode(*node, which);
  for (unsigned i : outputs) {
    OpOperand &output = end->getOpOperand(i);
    output.set(converted(output.get(), storedType(plan.inputsAndOutputs, b.getContext())));
    settled.insert(&output);
  }
  for (Value value : changed)
    restore(value);
  eraseUnused();
  updateFunctionType(plan.function);
  return casts;
}

void TypeConverter::eraseUnused() {
  for (Operation *op : llvm::reverse(replaced))
    if (op->use_empty())
      op->erase();
}

int64_t convertTypes(PrecisionPlan &plan, const NumberRanges &ranges) {
  return TypeConverter(plan, ranges).convert();
}

} // namespace cameo
