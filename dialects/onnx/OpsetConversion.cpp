// What converters build with: attributes taken, constants, and ops of the dialect's opset.
// SPDX-License-Identifier: Apache-2.0
#include "dialects/onnx/OpsetConversion.h"
#include "dialects/onnx/ResultTypes.h"

using namespace mlir;
namespace cameo::onnx {

std::optional<int64_t> ForeignNode::takeInt(StringRef name) {
  auto attr = dyn_cast_or_null<IntegerAttr>(attributes.erase(name));
  return attr ? std::optional(attr.getInt()) : std::nullopt;
}

std::optional<float> ForeignNode::takeFloat(StringRef name) {
  auto attr = dyn_cast_or_null<FloatAttr>(attributes.erase(name));
  return attr ? std::optional(attr.getValue().convertToFloat()) : std::nullopt;
}

std::optional<SmallVector<int64_t>> ForeignNode::takeInts(StringRef name) {
  auto attr = dyn_cast_or_null<DenseI64ArrayAttr>(attributes.erase(name));
  return attr ? std::optional(SmallVector<int64_t>(attr.asArrayRef())) : std::nullopt;
}

std::optional<SmallVector<float>> ForeignNode::takeFloats(StringRef name) {
  auto attr = dyn_cast_or_null<DenseF32ArrayAttr>(attributes.erase(name));
  return attr ? std::optional(SmallVector<float>(attr.asArrayRef())) : std::nullopt;
}

std::optional<std::string> ForeignNode::takeString(StringRef name) {
  auto attr = dyn_cast_or_null<StringAttr>(attributes.erase(name));
  return attr ? std::optional(attr.str()) : std::nullopt;
}

Value ForeignNode::constant(ElementsAttr value) {
  return builder.create<ConstantOp>(loc, value.getType(), ValueRange(),
                                    builder.getNamedAttr("value", value));
}

Value ForeignNode::ints(ArrayRef<int64_t> values) {
  auto type = RankedTensorType::get(int64_t(values.size()), builder.getI64Type());
  return constant(makeConstant(
      type, op, ArrayRef(reinterpret_cast<const char *>(values.data()), values.size() * 8)));
}

Value ForeignNode::floats(ArrayRef<float> values) {
  auto type = RankedTensorType::get(int64_t(values.size()), builder.getF32Type());
  return constant(makeConstant(
      type, op, ArrayRef(reinterpret_cast<const char *>(values.data()), values.size() * 4)));
}

Value ForeignNode::intScalar(int64_t value) {
  return constant(DenseElementsAttr::get(RankedTensorType::get({}, builder.getI64Type()), value));
}

Value ForeignNode::scalarLike(double value, Value tensor) {
  auto tensorType = dyn_cast<TensorType>(tensor.getType());
  if (!tensorType)
    return {};
  Type element = tensorType.getElementType();
  auto type = RankedTensorType::get({}, element);
  if (auto floatType = dyn_cast<FloatType>(element)) {
    APFloat number(value);
    bool losesInfo;
    number.convert(floatType.getFloatSemantics(), APFloat::rmNearestTiesToEven, &losesInfo);
    return constant(DenseElementsAttr::get(type, number));
  }
  if (auto intType = dyn_cast<IntegerType>(element))
    return constant(DenseElementsAttr::get(
        type, APInt(intType.getWidth(), uint64_t(int64_t(value)), /*isSigned=*/true)));
  return {};
}

std::optional<int64_t> ForeignNode::rank(Value value) {
  auto type = dyn_cast<RankedTensorType>(value.getType());
  return type ? std::optional(type.getRank()) : std::nullopt;
}

Value ForeignNode::emit(StringRef name, ArrayRef<Value> operands, ArrayRef<NamedAttribute> attrs) {
  Operation *built = buildOp(builder, loc, none, *lookupSchema(name), operands,
                             NamedAttrList(attrs), {}, {true}, problem);
  // Only operands of a wrong type make this fail; the node's own verification reports it.
  return built ? built->getResult(0) : none;
}

/// Why an attribute does not have the kind its schema asks for, or nothing.
static bool hasKind(Attribute attr, AttrKind kind) {
  switch (kind) {
  case AttrKind::Int:
    return isa<IntegerAttr>(attr);
  case AttrKind::Ints:
    return isa<DenseI64ArrayAttr>(attr);
  case AttrKind::Float:
    return isa<FloatAttr>(attr);
  case AttrKind::Floats:
    return isa<DenseF32ArrayAttr>(attr);
  case AttrKind::String:
    return isa<StringAttr>(attr);
  case AttrKind::Strings:
    return isa<ArrayAttr>(attr) &&
           llvm::all_of(cast<ArrayAttr>(attr), [](Attribute a) { return isa<StringAttr>(a); });
  case AttrKind::Tensor:
    return isa<ElementsAttr>(attr) && !isa<DenseArrayAttr>(attr);
  case AttrKind::Type:
    return isa<TypeAttr>(attr);
  case AttrKind::Graph:
  case AttrKind::SparseTensor:
    return false;
  }
  return false;
}

/// Checks the attributes and moves the regions into the schema's order.
static LogicalResult
checkAttributes(const OpSchema &schema, const NamedAttrList &attributes,
                MutableArrayRef<std::pair<std::string, std::unique_ptr<Region>>> regions,
                SmallVectorImpl<std::unique_ptr<Region>> &ordered, std::string &problem) {
  for (NamedAttribute named : attributes) {
    if (named.getName().strref().starts_with("onnx.")) // a note for later
      continue;
    const AttrSchema *known = schema.attribute(named.getName());
    if (!known)
      problem = "has the unknown attribute '" + named.getName().str() + "'";
    else if (!hasKind(named.getValue(), known->kind))
      problem = "has an attribute '" + named.getName().str() + "' of the wrong kind";
    else
      continue;
    return failure();
  }
  size_t used = 0;
  for (const AttrSchema &known : schema.attributes) {
    if (known.kind == AttrKind::Graph) {
      auto *found = llvm::find_if(regions, [&](auto &named) { return named.first == known.name; });
      if (found != regions.end()) {
        ordered.push_back(std::move(found->second));
        ++used;
        continue;
      }
    }
    if (!known.required || attributes.get(known.name))
      continue;
    problem = std::string("lacks the attribute '") + known.name + "'";
    return failure();
  }
  if (used == regions.size())
    return success();
  problem = "has a graph attribute that the operator does not know";
  return failure();
}

/// Appends `none` up to the formal inputs; refuses what is absent without being optional.
static LogicalResult padInputs(const OpSchema &schema, Value none, SmallVectorImpl<Value> &inputs,
                               std::string &problem) {
  while (!inputs.empty() && isAbsent(inputs.back()) && inputs.size() > schema.inputs.size())
    inputs.pop_back();
  size_t fixed = schema.inputs.size() - schema.hasVariadicInput();
  if (inputs.size() > fixed && !schema.hasVariadicInput()) {
    problem = "has " + std::to_string(inputs.size()) + " inputs; at most " + std::to_string(fixed) +
              " are known";
    return failure();
  }
  while (inputs.size() < fixed)
    inputs.push_back(none);
  for (auto [i, value] : llvm::enumerate(inputs))
    if (isAbsent(value) && schema.input(i).option != Option::Optional) {
      problem = std::string("lacks the input '") + schema.input(i).name + "'";
      return failure();
    }
  if (inputs.size() >= schema.minInputs)
    return success();
  problem = "has " + std::to_string(inputs.size()) + " inputs; at least " +
            std::to_string(schema.minInputs) + " are needed";
  return failure();
}

Operation *buildOp(OpBuilder &builder, Location loc, Value none, const OpSchema &schema,
                   ArrayRef<Value> inputs, NamedAttrList attributes,
                   MutableArrayRef<std::pair<std::string, std::unique_ptr<Region>>> regions,
                   ArrayRef<bool> outputUsed, std::string &problem) {
  SmallVector<std::unique_ptr<Region>> ordered;
  SmallVector<Value> operands(inputs);
  if (failed(checkAttributes(schema, attributes, regions, ordered, problem)) ||
      failed(padInputs(schema, none, operands, problem)))
    return nullptr;
  size_t fixed = schema.outputs.size() - schema.hasVariadicOutput();
  size_t listed = outputUsed.size();
  if (listed > fixed && !schema.hasVariadicOutput()) {
    problem = "has " + std::to_string(listed) + " outputs; at most " + std::to_string(fixed) +
              " are known";
    return nullptr;
  }
  if (listed < schema.minOutputs) {
    problem = "has " + std::to_string(listed) + " outputs; at least " +
              std::to_string(schema.minOutputs) + " are needed";
    return nullptr;
  }
  DictionaryAttr dictionary = attributes.getDictionary(builder.getContext());
  SmallVector<Region *> bodies;
  for (std::unique_ptr<Region> &region : ordered)
    bodies.push_back(region.get());
  SmallVector<Type> types =
      inferElementTypes(schema, operands, dictionary, bodies, std::max(listed, fixed));
  for (size_t i = 0; i < types.size(); ++i)
    if (schema.output(i).option == Option::Optional && (i >= listed || !outputUsed[i]))
      types[i] = builder.getNoneType();
  OperationState state(loc, ("onnx." + schema.name).str());
  state.addOperands(operands);
  state.addTypes(types);
  state.addAttributes(dictionary.getValue());
  for (std::unique_ptr<Region> &region : ordered)
    state.addRegion(std::move(region));
  return builder.create(state);
}

} // namespace cameo::onnx
