// The elements of constants as numbers: read, computed with, and written back in their type.
//
// Floats of up to 32 bits compute in float, doubles in double, integers in 64 bits of their sign;
// one result of +, -, *, / or a square root rounds to the same 16 bits from float as from infinite
// precision, because float has more than twice their digits.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "dialects/onnx/NarrowFloats.h"
#include "dialects/onnx/Onnx.h"

#include <vector>

namespace cameo {

/// A constant's elements; a splat holds one.
struct Elements {
  mlir::RankedTensorType type;
  onnx::ElementKind kind;
  onnx::ConstantBytes bytes;

  static std::optional<Elements> of(mlir::ElementsAttr value);

  int64_t count() const { return type.getNumElements(); }
  /// One element stands for all, of which there are some.
  bool isSplat() const { return bytes.isSplat() && count() > 0; }
  llvm::ArrayRef<int64_t> shape() const { return type.getShape(); }
  unsigned elementBytes() const { return onnx::elementBytes(kind); }
  const char *at(int64_t i) const {
    return bytes.get().data() + (bytes.isSplat() ? 0 : i * elementBytes());
  }
};

/// What elements compute in.
enum class Computes { Float, Double, Signed, Unsigned, Not };
Computes computesIn(onnx::ElementKind kind);

/// The elements, converted without loss; C is float, double, int64_t or uint64_t and fits the kind.
template <typename C> std::vector<C> readElements(const Elements &elements);
extern template std::vector<float> readElements(const Elements &);
extern template std::vector<double> readElements(const Elements &);
extern template std::vector<int64_t> readElements(const Elements &);
extern template std::vector<uint64_t> readElements(const Elements &);

/// Bytes of elements of `kind`: floats rounded to nearest, ties to even, those of less than 16 bits
/// by way of float; integers taken modulo their width; a boolean is whether the number differs
/// from 0.
template <typename C>
std::vector<char> writeElements(onnx::ElementKind kind, llvm::ArrayRef<C>,
                                onnx::NarrowRounding rounding = {});
extern template std::vector<char> writeElements(onnx::ElementKind, llvm::ArrayRef<float>,
                                                onnx::NarrowRounding);
extern template std::vector<char> writeElements(onnx::ElementKind, llvm::ArrayRef<double>,
                                                onnx::NarrowRounding);
extern template std::vector<char> writeElements(onnx::ElementKind, llvm::ArrayRef<int64_t>,
                                                onnx::NarrowRounding);
extern template std::vector<char> writeElements(onnx::ElementKind, llvm::ArrayRef<uint64_t>,
                                                onnx::NarrowRounding);

/// Any kind that computes in something, as doubles.
std::vector<double> readDoubles(const Elements &elements);
/// The same of bytes that are not a constant's.
std::vector<double> readDoubles(onnx::ElementKind kind, llvm::ArrayRef<char> bytes);

/// Calls `fn` with a value of the C++ type that `kind` computes in; false where there is none.
template <typename Function> bool withComputeType(onnx::ElementKind kind, Function fn) {
  switch (computesIn(kind)) {
  case Computes::Float:
    fn(float());
    return true;
  case Computes::Double:
    fn(double());
    return true;
  case Computes::Signed:
    fn(int64_t());
    return true;
  case Computes::Unsigned:
    fn(uint64_t());
    return true;
  case Computes::Not:
    return false;
  }
  return false;
}

} // namespace cameo
