// The operator table: look-up, element types, and the verifier that reads it.
// SPDX-License-Identifier: Apache-2.0
#include "dialects/onnx/AttributeValues.h"
#include "dialects/onnx/Bodies.h"
#include "dialects/onnx/Onnx.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringMap.h"
#include "llvm/Support/raw_ostream.h"

using namespace mlir;
namespace cameo::onnx {
namespace {

struct Row {
  const char *name;
  uint16_t sinceVersion, inputs, inputCount, outputs, outputCount, attrs, attrCount;
  uint8_t minInputs, minOutputs;
};

#include "dialects/onnx/Schemas.inc"

struct Table {
  std::vector<OpSchema> schemas;
  llvm::StringMap<const OpSchema *> byName;

  Table() {
    ArrayRef<Formal> allFormals(formals);
    ArrayRef<AttrSchema> allAttrs(attrs);
    for (const Row &row : rows)
      schemas.push_back({row.name, row.sinceVersion, allFormals.slice(row.inputs, row.inputCount),
                         allFormals.slice(row.outputs, row.outputCount),
                         allAttrs.slice(row.attrs, row.attrCount), row.minInputs, row.minOutputs});
    for (const OpSchema &schema : schemas)
      byName[schema.name] = &schema;
  }
};

const Table &table() {
  static const Table instance;
  return instance;
}

struct Element {
  const char *name;
  uint8_t number, bits;
};
/// In the order of ElementKind; the numbers are those of TensorProto.DataType.
constexpr Element elements[] = {
    {"float", 1, 32},        {"double", 11, 64},
    {"float16", 10, 16},     {"bfloat16", 16, 16},
    {"int8", 3, 8},          {"int16", 5, 16},
    {"int32", 6, 32},        {"int64", 7, 64},
    {"uint8", 2, 8},         {"uint16", 4, 16},
    {"uint32", 12, 32},      {"uint64", 13, 64},
    {"bool", 9, 8},          {"string", 8, 0},
    {"complex64", 14, 64},   {"complex128", 15, 128},
    {"float8e4m3fn", 17, 8}, {"float8e4m3fnuz", 18, 8},
    {"float8e5m2", 19, 8},   {"float8e5m2fnuz", 20, 8},
    {"float8e8m0", 24, 8},   {"float4e2m1", 23, 4},
    {"int4", 22, 4},         {"uint4", 21, 4},
    {"int2", 26, 2},         {"uint2", 25, 2},
};
static_assert(std::size(elements) == kElementKinds);

/// Whether a value of this type may stand for the formal.
bool accepts(const TypeSet &set, Type type) {
  if (isa<AnyType>(type))
    return true;
  std::optional<ElementKind> kind = innerKind(type);
  if (!kind)
    return false;
  uint32_t bit = 1u << unsigned(*kind);
  if (isa<TensorType>(type))
    return set.tensor & bit;
  if (isa<SeqType>(type))
    return set.sequence & bit;
  if (auto optional = dyn_cast<OptType>(type))
    return (isa<SeqType>(optional.getElementType()) ? set.optionalSequence : set.optionalTensor) &
           bit;
  return false;
}

/// The class of a value and its element type, without the shape.
Type withoutShape(Type type) {
  if (auto tensor = dyn_cast<TensorType>(type))
    return tensor.getElementType();
  if (auto seq = dyn_cast<SeqType>(type))
    return SeqType::get(type.getContext(), withoutShape(seq.getElementType()));
  if (auto opt = dyn_cast<OptType>(type))
    return OptType::get(type.getContext(), withoutShape(opt.getElementType()));
  return type;
}

std::string listTypes(const TypeSet &set) {
  std::string text;
  auto list = [&](uint32_t mask, StringRef prefix, StringRef suffix) {
    for (unsigned i = 0; i < kElementKinds; ++i)
      if (mask & (1u << i))
        text += (Twine(text.empty() ? "" : ", ") + prefix + elements[i].name + suffix).str();
  };
  list(set.tensor, "", "");
  list(set.sequence, "seq(", ")");
  list(set.optionalTensor, "optional(", ")");
  list(set.optionalSequence, "optional(seq(", "))");
  return text;
}

} // namespace

const TypeSet &Formal::types() const { return typeSets[typeSet]; }

const AttrSchema *OpSchema::attribute(StringRef attrName) const {
  const auto *found =
      llvm::find_if(attributes, [&](const AttrSchema &a) { return attrName == a.name; });
  return found == attributes.end() ? nullptr : found;
}

const OpSchema *lookupSchema(StringRef onnxName) { return table().byName.lookup(onnxName); }

const OpSchema *schemaOf(Operation *op) {
  return isa_and_nonnull<OnnxDialect>(op->getDialect()) ? lookupSchema(op->getName().stripDialect())
                                                        : nullptr;
}

std::optional<ElementKind> elementKind(Type type) {
  using K = ElementKind;
  if (auto integer = dyn_cast<IntegerType>(type)) {
    if (integer.isSigned())
      return std::nullopt;
    bool isUnsigned = integer.isUnsigned();
    switch (integer.getWidth()) {
    case 1:
      return isUnsigned ? std::nullopt : std::optional(K::Bool);
    case 2:
      return isUnsigned ? K::U2 : K::I2;
    case 4:
      return isUnsigned ? K::U4 : K::I4;
    case 8:
      return isUnsigned ? K::U8 : K::I8;
    case 16:
      return isUnsigned ? K::U16 : K::I16;
    case 32:
      return isUnsigned ? K::U32 : K::I32;
    case 64:
      return isUnsigned ? K::U64 : K::I64;
    default:
      return std::nullopt;
    }
  }
  if (auto complex = dyn_cast<ComplexType>(type)) {
    if (complex.getElementType().isF32())
      return K::C64;
    if (complex.getElementType().isF64())
      return K::C128;
    return std::nullopt;
  }
  if (type.isF32())
    return K::F32;
  if (type.isF64())
    return K::F64;
  if (type.isF16())
    return K::F16;
  if (type.isBF16())
    return K::BF16;
  if (isa<Float8E4M3FNType>(type))
    return K::F8E4M3FN;
  if (isa<Float8E4M3FNUZType>(type))
    return K::F8E4M3FNUZ;
  if (isa<Float8E5M2Type>(type))
    return K::F8E5M2;
  if (isa<Float8E5M2FNUZType>(type))
    return K::F8E5M2FNUZ;
  if (isa<F8E8M0Type>(type))
    return K::F8E8M0;
  if (isa<F4E2M1Type>(type))
    return K::F4E2M1;
  if (isa<StringType>(type))
    return K::String;
  return std::nullopt;
}

Type elementTypeOf(ElementKind kind, MLIRContext *context) {
  using K = ElementKind;
  Builder b(context);
  switch (kind) {
  case K::F32:
    return b.getF32Type();
  case K::F64:
    return b.getF64Type();
  case K::F16:
    return b.getF16Type();
  case K::BF16:
    return b.getBF16Type();
  case K::I8:
    return b.getIntegerType(8);
  case K::I16:
    return b.getIntegerType(16);
  case K::I32:
    return b.getIntegerType(32);
  case K::I64:
    return b.getIntegerType(64);
  case K::U8:
    return b.getIntegerType(8, false);
  case K::U16:
    return b.getIntegerType(16, false);
  case K::U32:
    return b.getIntegerType(32, false);
  case K::U64:
    return b.getIntegerType(64, false);
  case K::Bool:
    return b.getI1Type();
  case K::String:
    return StringType::get(context);
  case K::C64:
    return ComplexType::get(b.getF32Type());
  case K::C128:
    return ComplexType::get(b.getF64Type());
  case K::F8E4M3FN:
    return b.getFloat8E4M3FNType();
  case K::F8E4M3FNUZ:
    return b.getFloat8E4M3FNUZType();
  case K::F8E5M2:
    return b.getFloat8E5M2Type();
  case K::F8E5M2FNUZ:
    return b.getFloat8E5M2FNUZType();
  case K::F8E8M0:
    return F8E8M0Type::get(context);
  case K::F4E2M1:
    return F4E2M1Type::get(context);
  case K::I4:
    return b.getIntegerType(4);
  case K::U4:
    return b.getIntegerType(4, false);
  case K::I2:
    return b.getIntegerType(2);
  case K::U2:
    return b.getIntegerType(2, false);
  }
  llvm_unreachable("all kinds are listed");
}

StringRef elementName(ElementKind kind) { return elements[unsigned(kind)].name; }
int32_t elementNumber(ElementKind kind) { return elements[unsigned(kind)].number; }
unsigned elementBits(ElementKind kind) { return elements[unsigned(kind)].bits; }
unsigned elementBytes(ElementKind kind) { return (elementBits(kind) + 7) / 8; }

std::optional<ElementKind> elementKindOfNumber(int64_t number) {
  for (unsigned i = 0; i < kElementKinds; ++i)
    if (elements[i].number == number)
      return ElementKind(i);
  return std::nullopt;
}

std::optional<ElementKind> innerKind(Type type) {
  while (true) {
    if (auto tensor = dyn_cast<TensorType>(type))
      return elementKind(tensor.getElementType());
    if (auto seq = dyn_cast<SeqType>(type))
      type = seq.getElementType();
    else if (auto opt = dyn_cast<OptType>(type))
      type = opt.getElementType();
    else
      return std::nullopt;
  }
}

std::string elementText(Type type) {
  if (std::optional<ElementKind> kind = elementKind(type))
    return elementName(*kind).str();
  std::string text;
  llvm::raw_string_ostream(text) << type;
  return text;
}

std::string typeText(Type type) {
  if (auto seq = dyn_cast<SeqType>(type))
    return "sequence of " + typeText(seq.getElementType());
  if (auto optional = dyn_cast<OptType>(type))
    return "optional " + typeText(optional.getElementType());
  if (isa<AnyType>(type))
    return "a type that is not known";
  auto tensor = dyn_cast<TensorType>(type);
  if (!tensor)
    return elementText(type);
  std::string text = elementText(tensor.getElementType());
  if (!tensor.hasRank())
    return text + " of unknown rank";
  text += "[";
  for (auto [i, size] : llvm::enumerate(tensor.getShape()))
    text += (i ? "," : "") + (ShapedType::isDynamic(size) ? "?" : std::to_string(size));
  return text + "]";
}

std::string detail::schemaProblem(Operation *op) {
  std::string problem;
  llvm::raw_string_ostream os(problem);
  const OpSchema *schema = schemaOf(op);
  if (!schema) {
    os << "has no schema at opset " << kOpset;
    return problem;
  }
  if (op->getNumOperands() < schema->minInputs)
    os << "has " << op->getNumOperands() << " inputs; at least " << schema->minInputs
       << " are needed";
  else if (op->getNumResults() < schema->minOutputs)
    os << "has " << op->getNumResults() << " outputs; at least " << schema->minOutputs
       << " are needed";
  // The type that each type variable stands for, from its first use.
  SmallVector<Type, 8> bound;
  auto check = [&](Type type, const Formal &formal, const char *what) {
    if (!problem.empty() || (isa<NoneType>(type) && formal.option == Option::Optional))
      return;
    if (isa<NoneType>(type)) {
      os << what << " '" << formal.name << "' is not optional";
      return;
    }
    if (!accepts(formal.types(), type)) {
      os << what << " '" << formal.name << "' cannot be " << typeText(type) << "; " << schema->name
         << " takes " << listTypes(formal.types());
      return;
    }
    if ((formal.option == Option::Variadic && !formal.homogeneous) || isa<AnyType>(type))
      return;
    if (bound.size() <= formal.typeVariable)
      bound.resize(formal.typeVariable + 1);
    Type &expected = bound[formal.typeVariable];
    Type found = withoutShape(type);
    if (!expected)
      expected = found;
    else if (expected != found)
      os << what << " '" << formal.name << "' is of type " << typeText(found)
         << ", another value of "
         << "the same type variable of " << typeText(expected);
  };
  for (auto [i, type] : llvm::enumerate(op->getOperandTypes()))
    check(type, schema->input(i), "input");
  for (auto [i, type] : llvm::enumerate(op->getResultTypes()))
    check(type, schema->output(i), "output");
  if (problem.empty())
    for (NamedAttribute named : op->getAttrs()) {
      std::string wrong = attributeValueProblem(schema->name, schema->sinceVersion, named.getName(),
                                                named.getValue());
      if (!wrong.empty())
        return wrong;
    }
  return problem.empty() && op->getNumRegions() ? bodyProblem(op) : problem;
}

LogicalResult detail::verifySchema(Operation *op) {
  std::string problem = schemaProblem(op);
  return problem.empty() ? success() : op->emitOpError(problem);
}

} // namespace cameo::onnx
