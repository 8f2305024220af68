// The types of an operator's outputs.
// SPDX-License-Identifier: Apache-2.0
#include "dialects/onnx/ResultTypes.h"
#include "dialects/onnx/Onnx.h"

#include "llvm/ADT/StringSwitch.h"

using namespace mlir;
namespace cameo::onnx {

Type unrankedType(Type type) {
  if (auto tensor = dyn_cast<TensorType>(type))
    return UnrankedTensorType::get(tensor.getElementType());
  if (auto seq = dyn_cast<SeqType>(type))
    return SeqType::get(type.getContext(), unrankedType(seq.getElementType()));
  if (auto opt = dyn_cast<OptType>(type))
    return OptType::get(type.getContext(), unrankedType(opt.getElementType()));
  return type;
}

namespace {

class Inference {
public:
  Inference(const OpSchema &schema, ValueRange operands, DictionaryAttr attributes,
            ArrayRef<Region *> regions)
      : schema(schema), operands(operands), attributes(attributes), regions(regions),
        context(attributes.getContext()), any(AnyType::get(context)) {
    for (auto [i, operand] : llvm::enumerate(operands)) {
      const Formal &formal = schema.input(i);
      Type type = operand.getType();
      if (isa<NoneType, AnyType>(type) ||
          (formal.option == Option::Variadic && !formal.homogeneous))
        continue;
      if (bound.size() <= formal.typeVariable)
        bound.resize(formal.typeVariable + 1);
      if (!bound[formal.typeVariable])
        bound[formal.typeVariable] = unrankedType(type);
    }
  }

  Type output(unsigned i) {
    if (Type special = bySpecialRule(i))
      return special;
    const Formal &formal = schema.output(i);
    if (formal.typeVariable < bound.size() && bound[formal.typeVariable])
      return bound[formal.typeVariable];
    const TypeSet &set = formal.types();
    if (set.tensor && llvm::isPowerOf2_32(set.tensor) && !set.sequence && !set.optionalTensor)
      return UnrankedTensorType::get(
          elementTypeOf(ElementKind(llvm::countr_zero(set.tensor)), context));
    return any;
  }

private:
  Type operandType(unsigned i) {
    return i < operands.size() && !isAbsent(operands[i]) ? operands[i].getType() : Type();
  }

  Type tensorLike(unsigned i) {
    Type type = operandType(i);
    return type ? unrankedType(type) : any;
  }

  /// A tensor of the element type that an attribute numbers, else of `fallback`.
  Type fromNumber(StringRef name, Type fallback) {
    auto attr = attributes.getAs<IntegerAttr>(name);
    if (!attr || (name == "output_dtype" && attr.getInt() == 0))
      return fallback;
    std::optional<ElementKind> kind = elementKindOfNumber(attr.getInt());
    return kind ? UnrankedTensorType::get(elementTypeOf(*kind, context)) : any;
  }

  Type of(ElementKind kind) { return UnrankedTensorType::get(elementTypeOf(kind, context)); }

  Type yielded(unsigned region, unsigned i) {
    if (region >= regions.size() || regions[region]->empty())
      return any;
    Operation *yield = regions[region]->front().getTerminator();
    return i < yield->getNumOperands() ? yield->getOperand(i).getType() : any;
  }

  Type controlFlow(unsigned i) {
    if (schema.name == "If") {
      Type first = yielded(0, i), second = yielded(1, i);
      if (first == second || isa<AnyType>(second))
        return isa<AnyType>(second) ? unrankedType(first) : first;
      return isa<AnyType>(first) ? unrankedType(second) : unrankedType(first);
    }
    // A Loop's body yields the condition first.
    if (schema.name == "Loop")
      return unrankedType(yielded(0, i + 1));
    if (schema.name == "Scan")
      return unrankedType(yielded(0, i));
    return SeqType::get(context, unrankedType(yielded(0, i)));
  }

  Type bySpecialRule(unsigned i) {
    StringRef name = schema.name;
    if (!regions.empty())
      return controlFlow(i);
    if (name == "Cast" || name == "BitCast")
      return fromNumber("to", any);
    if (name == "ConstantOfShape") {
      auto value = attributes.getAs<ElementsAttr>("value");
      return value ? UnrankedTensorType::get(value.getElementType()) : of(ElementKind::F32);
    }
    if (name == "EyeLike" || name == "RandomNormalLike" || name == "RandomUniformLike" ||
        name == "Bernoulli")
      return fromNumber("dtype", tensorLike(0));
    if (name == "RandomNormal" || name == "RandomUniform")
      return fromNumber("dtype", of(ElementKind::F32));
    if (name == "Multinomial")
      return fromNumber("dtype", of(ElementKind::I32));
    if (name == "HannWindow" || name == "HammingWindow" || name == "BlackmanWindow")
      return fromNumber("output_datatype", of(ElementKind::F32));
    if (name == "MelWeightMatrix")
      return fromNumber("output_datatype", of(ElementKind::F32));
    if (name == "QuantizeLinear" && !operandType(2))
      return fromNumber("output_dtype", of(ElementKind::U8));
    if (name == "DequantizeLinear")
      return fromNumber("output_dtype", tensorLike(1));
    if (name == "LayerNormalization" && i > 0)
      return fromNumber("stash_type", of(ElementKind::F32));
    if (name == "SequenceEmpty")
      return SeqType::get(context, fromNumber("dtype", of(ElementKind::F32)));
    if (name == "SequenceConstruct" || name == "SplitToSequence")
      return SeqType::get(context, tensorLike(0));
    if (name == "SequenceAt" || name == "ConcatFromSequence") {
      auto seq = dyn_cast_or_null<SeqType>(operandType(0));
      return seq ? unrankedType(seq.getElementType()) : any;
    }
    if (name == "Optional") {
      if (Type type = operandType(0))
        return OptType::get(context, unrankedType(type));
      auto type = attributes.getAs<TypeAttr>("type");
      return type ? OptType::get(context, unrankedType(type.getValue())) : any;
    }
    if (name == "OptionalGetElement") {
      Type type = tensorLike(0);
      auto opt = dyn_cast<OptType>(type);
      return opt ? opt.getElementType() : type;
    }
    return {};
  }

  const OpSchema &schema;
  ValueRange operands;
  DictionaryAttr attributes;
  ArrayRef<Region *> regions;
  MLIRContext *context;
  Type any;
  SmallVector<Type, 8> bound;
};

} // namespace

SmallVector<Type> inferElementTypes(const OpSchema &schema, ValueRange operands,
                                    DictionaryAttr attributes, ArrayRef<Region *> regions,
                                    unsigned outputs) {
  Inference inference(schema, operands, attributes, regions);
  SmallVector<Type> types;
  for (unsigned i = 0; i < outputs; ++i)
    types.push_back(inference.output(i));
  return types;
}

} // namespace cameo::onnx
