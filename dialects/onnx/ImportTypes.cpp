// Types of a model: TypeProto to MLIR.
// SPDX-License-Identifier: Apache-2.0
#include "dialects/onnx/Importer.h"
#include "dialects/onnx/ResultTypes.h"

using namespace mlir;
using namespace cameo::onnx;
using namespace cameo::onnx_proto;

static llvm::Error fail(const Twine &why) {
  return llvm::createStringError(llvm::inconvertibleErrorCode(), why);
}

llvm::Expected<Type> Importer::importType(const TypeProto &type) {
  auto element = [&](int32_t number) -> Type {
    std::optional<ElementKind> kind = elementKindOfNumber(number);
    return kind ? elementTypeOf(*kind, context) : Type();
  };
  switch (type.value_case()) {
  case TypeProto::kTensorType: {
    const TypeProto::Tensor &tensor = type.tensor_type();
    Type elementType = element(tensor.elem_type());
    if (!elementType)
      return fail("unknown element type " + Twine(tensor.elem_type()));
    if (!tensor.has_shape())
      return UnrankedTensorType::get(elementType);
    SmallVector<int64_t> dims, fixed;
    for (const TensorShapeProto::Dimension &dim : tensor.shape().dim()) {
      // Many tools write a negative size for one that is not known.
      bool known = dim.has_dim_value() && dim.dim_value() >= 0;
      dims.push_back(known ? dim.dim_value() : ShapedType::kDynamic);
      if (known)
        fixed.push_back(dim.dim_value());
    }
    if (dims.size() > 64 || !checkedElementCount(fixed))
      return fail("the shape has more than 64 dimensions or too many elements for 64 bits");
    return RankedTensorType::get(dims, elementType);
  }
  case TypeProto::kSequenceType: {
    llvm::Expected<Type> inner = importType(type.sequence_type().elem_type());
    return inner ? SeqType::get(context, *inner) : std::move(inner);
  }
  case TypeProto::kOptionalType: {
    llvm::Expected<Type> inner = importType(type.optional_type().elem_type());
    return inner ? OptType::get(context, *inner) : std::move(inner);
  }
  case TypeProto::kMapType: {
    Type key = element(type.map_type().key_type());
    if (!key)
      return fail("unknown key type " + Twine(type.map_type().key_type()));
    llvm::Expected<Type> value = importType(type.map_type().value_type());
    return value ? MapType::get(context, key, *value) : std::move(value);
  }
  case TypeProto::kSparseTensorType:
    return fail("sparse tensors are not supported as inputs, outputs or values");
  case TypeProto::kOpaqueType:
    return fail("the opaque type '" + type.opaque_type().name() + "' is not supported");
  case TypeProto::VALUE_NOT_SET:
    return fail("no type is given");
  }
  return fail("no type is given");
}

/// Whether sizes of this name are one size. What exporters write where they know nothing ("?",
/// "-1", "None", blanks) names none: two of them may differ.
static bool isSizeName(StringRef name) {
  int64_t number;
  name = name.trim();
  return llvm::any_of(name, [](char c) { return llvm::isAlnum(c) || c == '_' || c < 0; }) &&
         !name.equals_insensitive("none") &&
         !(name.starts_with("-") && !name.getAsInteger(10, number));
}

ArrayAttr Importer::importDims(const TypeProto &type) {
  if (!type.has_tensor_type() || !type.tensor_type().has_shape())
    return {};
  SmallVector<Attribute> dims;
  for (const TensorShapeProto::Dimension &dim : type.tensor_type().shape().dim()) {
    if (dim.has_dim_value() && dim.dim_value() >= 0)
      dims.push_back(builder.getI64IntegerAttr(dim.dim_value()));
    else
      dims.push_back(builder.getStringAttr(isSizeName(dim.dim_param()) ? dim.dim_param() : ""));
  }
  return builder.getArrayAttr(dims);
}

void Importer::refine(Value value, const TypeProto &declared, StringRef name, Location loc,
                      bool isBinding) {
  // Values often carry an empty declaration.
  if (declared.value_case() == TypeProto::VALUE_NOT_SET ||
      (declared.has_tensor_type() && declared.tensor_type().elem_type() == 0))
    return;
  llvm::Expected<Type> type = importType(declared);
  if (!type)
    return problem(loc, "'" + name + "': " + llvm::toString(type.takeError()));
  Type found = value.getType();
  if (isa<AnyType>(found))
    return value.setType(*type);
  auto known = dyn_cast<RankedTensorType>(found), said = dyn_cast<RankedTensorType>(*type);
  bool isOtherShape = known && said && failed(verifyCompatibleShape(known, said));
  std::string text =
      ("'" + name + "' is declared to be " + typeText(*type) + " but is ").str() + typeText(found);
  if (unrankedType(found) != unrankedType(*type) || (isOtherShape && isBinding))
    return problem(loc, text);
  if (isOtherShape) {
    emitWarning(loc) << text << "; the declaration is ignored";
    return;
  }
  Operation *op = value.getDefiningOp();
  // Constants and arguments know better. Shapes inside sequences are kept as declared.
  if (op && !isa<ConstantOp>(op) && (!isa<RankedTensorType>(found) || isa<RankedTensorType>(*type)))
    value.setType(*type);
}
