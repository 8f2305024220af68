// The Expander class: what is known of an operator, and others in its place.
//
// SPDX-License-Identifier: Apache-2.0
#include "passes/expand/Expander.h"

#include "dialects/onnx/OpsetConversion.h"
#include "dialects/onnx/shape/NodeText.h"
#include "passes/graph/Elements.h"

using namespace mlir;

namespace cameo {

Expander::Expander(Operation *op, onnx::Shapes &shapes, Value none, RandomDraws *random)
    : op(op), shapes(shapes), random(random), none(none), b(op), before(op->getPrevNode()) {}

//===-- What is there -------------------------------------------------------------------------===//

int64_t Expander::integer(StringRef attribute, int64_t otherwise) const {
  auto value = op->getAttrOfType<IntegerAttr>(attribute);
  return value ? value.getInt() : otherwise;
}

StringRef Expander::text(StringRef attribute, StringRef otherwise) const {
  auto value = op->getAttrOfType<StringAttr>(attribute);
  return value ? value.getValue() : otherwise;
}

std::optional<SmallVector<int64_t>> Expander::integers(StringRef attribute) const {
  auto value = op->getAttrOfType<DenseI64ArrayAttr>(attribute);
  return value ? std::optional(SmallVector<int64_t>(value.asArrayRef())) : std::nullopt;
}

int64_t Expander::rank(unsigned operand) const { return int64_t(shapes.of(op, operand).size()); }

std::optional<int64_t> Expander::size(unsigned operand, int64_t axis) const {
  return getConstantIntValue(shapes.of(op, operand)[axis]);
}

SmallVector<int64_t> Expander::sizes(unsigned operand) const {
  SmallVector<int64_t> result;
  for (OpFoldResult size : shapes.of(op, operand))
    result.push_back(getConstantIntValue(size).value_or(ShapedType::kDynamic));
  return result;
}

std::optional<SmallVector<int64_t>> Expander::known(unsigned operand) const {
  if (std::optional<SmallVector<int64_t>> constant =
          onnx::constantInts(op->getOperand(operand), /*limit=*/1 << 24))
    return constant;
  std::optional<SmallVector<std::optional<int64_t>>> each = numbers(operand);
  if (!each || llvm::is_contained(*each, std::nullopt))
    return std::nullopt;
  return llvm::map_to_vector(*each, [](std::optional<int64_t> number) { return *number; });
}

std::optional<SmallVector<std::optional<int64_t>>> Expander::numbers(unsigned operand) const {
  FailureOr<onnx::Sizes> values = shapes.host.tryValues(op->getOperand(operand));
  if (failed(values))
    return std::nullopt;
  return llvm::map_to_vector(*values,
                             [](OpFoldResult value) { return getConstantIntValue(value); });
}

std::string whyUnknown(onnx::Shapes &shapes, Value value, const Twine &what, StringRef nearest) {
  bool isOpen = succeeded(shapes.host.tryValues(value, 1));
  return (what +
          (isOpen ? " depends on sizes or numbers that only a run knows; nearest supported: sizes "
                    "fixed with --shapes, numbers with --shape-values, or "
                  : " is computed from what only a run knows; nearest supported: ") +
          nearest)
      .str();
}

LogicalResult Expander::refuseUnknown(unsigned operand) {
  return refuse(
      whyUnknown(shapes, op->getOperand(operand), onnx::inputText(op, operand), "a constant"));
}

//===-- What is emitted -----------------------------------------------------------------------===//

SmallVector<Value> Expander::emitAll(StringRef name, ArrayRef<Value> operands,
                                     ArrayRef<NamedAttribute> attributes, unsigned results) {
  std::string problem;
  SmallVector<bool> used(results, true);
  Operation *built = onnx::buildOp(b, op->getLoc(), none, *onnx::lookupSchema(name), operands,
                                   NamedAttrList(attributes), {}, used, problem);
  if (!built)
    onnx::reportBug(op, "its expansion has a " + name + " that " + problem);
  return llvm::to_vector(llvm::map_range(built->getResults(), [](Value v) { return v; }));
}

Value Expander::emit(StringRef name, ArrayRef<Value> operands,
                     ArrayRef<NamedAttribute> attributes) {
  return emitAll(name, operands, attributes, 1).front();
}

Value Expander::ints(ArrayRef<int64_t> numbers) {
  return table({int64_t(numbers.size())}, numbers);
}

Value Expander::scalar(double number, Type element) { return table({}, {number}, element); }

Value Expander::table(ArrayRef<int64_t> shape, ArrayRef<double> numbers, Type element) {
  auto type = RankedTensorType::get(shape, element);
  std::vector<char> bytes;
  if (isa<FloatType>(element)) {
    bytes = writeElements<double>(*onnx::elementKind(element), numbers);
  } else {
    std::vector<int64_t> whole(numbers.begin(), numbers.end());
    bytes = writeElements<int64_t>(*onnx::elementKind(element), whole);
  }
  return createConstant(b, op->getLoc(),
                        onnx::makeConstant(type, nodeName(op), ArrayRef<char>(bytes)));
}

Value Expander::table(ArrayRef<int64_t> shape, ArrayRef<int64_t> numbers) {
  auto type = RankedTensorType::get(shape, b.getI64Type());
  std::vector<char> bytes = writeElements<int64_t>(onnx::ElementKind::I64, numbers);
  return createConstant(b, op->getLoc(),
                        onnx::makeConstant(type, nodeName(op), ArrayRef<char>(bytes)));
}

NamedAttribute Expander::with(StringRef name, int64_t number) {
  return b.getNamedAttr(name, b.getI64IntegerAttr(number));
}

NamedAttribute Expander::with(StringRef name, float number) {
  return b.getNamedAttr(name, b.getF32FloatAttr(number));
}

NamedAttribute Expander::with(StringRef name, ArrayRef<int64_t> numbers) {
  return b.getNamedAttr(name, b.getDenseI64ArrayAttr(numbers));
}

NamedAttribute Expander::with(StringRef name, StringRef text) {
  return b.getNamedAttr(name, b.getStringAttr(text));
}

Value Expander::reshape(Value value, ArrayRef<int64_t> shape) {
  return emit("Reshape", {value, ints(shape)});
}

Value Expander::transpose(Value value, ArrayRef<int64_t> permutation) {
  return emit("Transpose", {value}, {with("perm", permutation)});
}

Value Expander::slice(Value value, int64_t axis, int64_t start, int64_t end, int64_t step) {
  return emit("Slice", {value, ints({start}), ints({end}), ints({axis}), ints({step})});
}

Value Expander::cast(Value value, Type element, bool saturates) {
  if (onnx::elementType(value) == element)
    return value;
  SmallVector<NamedAttribute> attributes{
      with("to", onnx::elementNumber(*onnx::elementKind(element)))};
  if (!saturates)
    attributes.push_back(with("saturate", int64_t(0)));
  return emit("Cast", {value}, attributes);
}

//===-- How it ends ---------------------------------------------------------------------------===//

LogicalResult Expander::leave() {
  left = true;
  return failure();
}

LogicalResult Expander::refuse(const Twine &text) {
  why = text.str();
  return failure();
}

Operation *Expander::finish() {
  for (auto [result, value] : given)
    op->getResult(result).replaceAllUsesWith(value);
  Operation *next = op->getNextNode();
  op->erase();
  return before ? before->getNextNode() : &next->getBlock()->front();
}

void Expander::undo() {
  while (op->getPrevNode() != before)
    op->getPrevNode()->erase();
}

} // namespace cameo
