// What ONNX says of each operator of the default domain at the dialect's opset, as data.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "mlir/IR/Operation.h"
#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/StringRef.h"
#include <optional>

namespace cameo::onnx {

/// The element types of ONNX; the order is that of tools/gen-onnx-ops.py.
// clang-format off
enum class ElementKind : uint8_t {
  F32, F64, F16, BF16, I8, I16, I32, I64, U8, U16, U32, U64, Bool, String, C64, C128,
  F8E4M3FN, F8E4M3FNUZ, F8E5M2, F8E5M2FNUZ, F8E8M0, F4E2M1, I4, U4, I2, U2,
};
// clang-format on
inline constexpr unsigned kElementKinds = 26;

/// Which element types each class of values may have: bit 1 << ElementKind.
struct TypeSet {
  uint32_t tensor, sequence, optionalTensor, optionalSequence;
};

enum class Option : uint8_t { Single, Optional, Variadic };

/// A formal input or output.
struct Formal {
  const char *name;
  Option option;
  /// Whether all actuals of a variadic formal have one type.
  bool homogeneous;
  /// Formals of one operator with the same number have the same type.
  uint8_t typeVariable;
  uint8_t typeSet;

  const TypeSet &types() const;
};

enum class AttrKind : uint8_t {
  Int,
  Ints,
  Float,
  Floats,
  String,
  Strings,
  Tensor,
  Graph,
  Type,
  SparseTensor
};

struct AttrSchema {
  const char *name;
  AttrKind kind;
  bool required;
};

struct OpSchema {
  llvm::StringRef name;
  int64_t sinceVersion;
  llvm::ArrayRef<Formal> inputs, outputs;
  llvm::ArrayRef<AttrSchema> attributes;
  unsigned minInputs, minOutputs;

  bool hasVariadicInput() const {
    return !inputs.empty() && inputs.back().option == Option::Variadic;
  }
  bool hasVariadicOutput() const {
    return !outputs.empty() && outputs.back().option == Option::Variadic;
  }
  /// The formal of an actual input or output, by its position.
  const Formal &input(unsigned i) const { return i < inputs.size() ? inputs[i] : inputs.back(); }
  const Formal &output(unsigned i) const {
    return i < outputs.size() ? outputs[i] : outputs.back();
  }
  const AttrSchema *attribute(llvm::StringRef attrName) const;
};

/// The schema of an operator ("Conv"), or null. Includes Constant.
const OpSchema *lookupSchema(llvm::StringRef onnxName);
/// The schema of an op of this dialect; null for None, Yield, Custom and foreign ops.
const OpSchema *schemaOf(mlir::Operation *op);

/// The kind of an element type, or nothing where ONNX has no such type.
std::optional<ElementKind> elementKind(mlir::Type elementType);
mlir::Type elementTypeOf(ElementKind kind, mlir::MLIRContext *context);
/// ONNX's spelling: "float16".
llvm::StringRef elementName(ElementKind kind);
/// ONNX's number in TensorProto.DataType, and back.
int32_t elementNumber(ElementKind kind);
std::optional<ElementKind> elementKindOfNumber(int64_t number);
/// Bits of an element as ONNX's raw data packs it; 0 for strings.
unsigned elementBits(ElementKind kind);
/// Bytes of an element in a resource or in memory: sub-byte elements take one; 0 for strings.
unsigned elementBytes(ElementKind kind);

/// A type in ONNX's words, for messages: "float[?,3]", "sequence of string[?]".
std::string typeText(mlir::Type type);
/// The same of an element type: "uint8".
std::string elementText(mlir::Type elementType);

/// The kind of a tensor's elements, also of that within a sequence or an optional.
std::optional<ElementKind> innerKind(mlir::Type type);

} // namespace cameo::onnx
