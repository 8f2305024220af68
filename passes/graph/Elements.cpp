// The elements of constants as numbers.
//
// SPDX-License-Identifier: Apache-2.0
#include "passes/graph/Elements.h"

#include "llvm/ADT/APFloat.h"

using namespace mlir;
using cameo::onnx::ElementKind;
using llvm::APFloat;

namespace cameo {

std::optional<Elements> Elements::of(ElementsAttr value) {
  if (!value)
    return std::nullopt;
  auto type = dyn_cast<RankedTensorType>(value.getType());
  std::optional<ElementKind> kind = onnx::innerKind(value.getType());
  std::optional<onnx::ConstantBytes> bytes = onnx::constantBytes(value);
  if (!type || !kind || !bytes)
    return std::nullopt;
  return Elements{type, *kind, *bytes};
}

Computes computesIn(ElementKind kind) {
  switch (kind) {
  case ElementKind::F32:
  case ElementKind::F16:
  case ElementKind::BF16:
    return Computes::Float;
  case ElementKind::F64:
    return Computes::Double;
  case ElementKind::I8:
  case ElementKind::I16:
  case ElementKind::I32:
  case ElementKind::I64:
    return Computes::Signed;
  case ElementKind::U8:
  case ElementKind::U16:
  case ElementKind::U32:
  case ElementKind::U64:
  case ElementKind::Bool:
    return Computes::Unsigned;
  default:
    return Computes::Not;
  }
}

namespace {

template <typename T> T load(const char *from) {
  T value;
  std::memcpy(&value, from, sizeof(T));
  return value;
}

template <typename T> void store(char *to, T value) { std::memcpy(to, &value, sizeof(T)); }

/// The 16 bits of a number, of any width, rounded once.
template <typename C> uint16_t rounded(const llvm::fltSemantics &semantics, C value) {
  bool lost;
  APFloat number(0.0);
  if constexpr (std::is_integral_v<C>) {
    number = APFloat(semantics);
    number.convertFromAPInt(llvm::APInt(64, value), std::is_signed_v<C>,
                            APFloat::rmNearestTiesToEven);
  } else {
    number = APFloat(value);
    number.convert(semantics, APFloat::rmNearestTiesToEven, &lost);
  }
  return static_cast<uint16_t>(number.bitcastToAPInt().getZExtValue());
}

uint16_t toBF16(float value) {
  auto bits = llvm::bit_cast<uint32_t>(value);
  if (value != value)
    return static_cast<uint16_t>(bits >> 16 | 0x40);
  return static_cast<uint16_t>((bits + 0x7fff + (bits >> 16 & 1)) >> 16);
}

uint16_t toF16(float value) {
  auto bits = llvm::bit_cast<uint32_t>(value);
  auto sign = static_cast<uint16_t>(bits >> 16 & 0x8000);
  bits &= 0x7fffffff;
  if (bits > 0x7f800000) // NaN
    return static_cast<uint16_t>(sign | 0x7e00 | (bits >> 13 & 0x3ff));
  if (bits >= 0x47800000) // 2^16, infinity
    return sign | 0x7c00;
  // Below the normal numbers one place is 2^-24, as of a float that 1/2 is added to.
  if (bits < 0x38800000)
    return static_cast<uint16_t>(
        sign | (llvm::bit_cast<uint32_t>(llvm::bit_cast<float>(bits) + 0.5F) - 0x3f000000));
  return static_cast<uint16_t>(sign | (bits - 0x38000000 + 0xfff + (bits >> 13 & 1)) >> 13);
}

/// Exact for all 65536 of them.
float fromF16(uint16_t bits) {
  uint32_t sign = static_cast<uint32_t>(bits >> 15) << 31, exponent = bits >> 10 & 31,
           fraction = bits & 1023;
  if (exponent == 31)
    return llvm::bit_cast<float>(sign | 0x7f800000 | fraction << 13);
  if (exponent)
    return llvm::bit_cast<float>(sign | (exponent + 112) << 23 | fraction << 13);
  float magnitude = static_cast<float>(fraction) * 0x1p-24f;
  return sign ? -magnitude : magnitude;
}

template <typename C, typename T> void readAll(const Elements &elements, std::vector<C> &to) {
  for (int64_t i = 0, e = to.size(); i < e; ++i)
    to[i] = static_cast<C>(load<T>(elements.at(i)));
}

template <typename C, typename T> void writeAll(ArrayRef<C> from, std::vector<char> &to) {
  using Wide = std::conditional_t<std::is_integral_v<T> && std::is_signed_v<T>, int64_t,
                                  std::conditional_t<std::is_integral_v<T>, uint64_t, T>>;
  for (auto [i, value] : llvm::enumerate(from))
    store<T>(to.data() + i * sizeof(T), static_cast<T>(static_cast<Wide>(value)));
}

} // namespace

template <typename C> std::vector<C> readElements(const Elements &elements) {
  std::vector<C> numbers(elements.count());
  switch (elements.kind) {
  case ElementKind::F32:
    readAll<C, float>(elements, numbers);
    break;
  case ElementKind::F64:
    readAll<C, double>(elements, numbers);
    break;
  case ElementKind::F16:
    for (int64_t i = 0, e = numbers.size(); i < e; ++i)
      numbers[i] = static_cast<C>(fromF16(load<uint16_t>(elements.at(i))));
    break;
  case ElementKind::BF16:
    for (int64_t i = 0, e = numbers.size(); i < e; ++i)
      numbers[i] = static_cast<C>(
          llvm::bit_cast<float>(static_cast<uint32_t>(load<uint16_t>(elements.at(i))) << 16));
    break;
  case ElementKind::I8:
    readAll<C, int8_t>(elements, numbers);
    break;
  case ElementKind::I16:
    readAll<C, int16_t>(elements, numbers);
    break;
  case ElementKind::I32:
    readAll<C, int32_t>(elements, numbers);
    break;
  case ElementKind::I64:
    readAll<C, int64_t>(elements, numbers);
    break;
  case ElementKind::U8:
  case ElementKind::Bool:
    readAll<C, uint8_t>(elements, numbers);
    break;
  case ElementKind::U16:
    readAll<C, uint16_t>(elements, numbers);
    break;
  case ElementKind::U32:
    readAll<C, uint32_t>(elements, numbers);
    break;
  case ElementKind::U64:
    readAll<C, uint64_t>(elements, numbers);
    break;
  default:
    llvm_unreachable("computesIn says what has numbers");
  }
  return numbers;
}

template <typename C> std::vector<char> writeElements(ElementKind kind, ArrayRef<C> numbers) {
  std::vector<char> bytes(numbers.size() * onnx::elementBytes(kind));
  switch (kind) {
  case ElementKind::F32:
    writeAll<C, float>(numbers, bytes);
    break;
  case ElementKind::F64:
    writeAll<C, double>(numbers, bytes);
    break;
  case ElementKind::F16:
    for (auto [i, value] : llvm::enumerate(numbers)) {
      if constexpr (std::is_same_v<C, float>)
        store(bytes.data() + 2 * i, toF16(value));
      else
        store(bytes.data() + 2 * i, rounded(APFloat::IEEEhalf(), value));
    }
    break;
  case ElementKind::BF16:
    for (auto [i, value] : llvm::enumerate(numbers)) {
      if constexpr (std::is_same_v<C, float>)
        store(bytes.data() + 2 * i, toBF16(value));
      else
        store(bytes.data() + 2 * i, rounded(APFloat::BFloat(), value));
    }
    break;
  case ElementKind::I8:
    writeAll<C, int8_t>(numbers, bytes);
    break;
  case ElementKind::I16:
    writeAll<C, int16_t>(numbers, bytes);
    break;
  case ElementKind::I32:
    writeAll<C, int32_t>(numbers, bytes);
    break;
  case ElementKind::I64:
    writeAll<C, int64_t>(numbers, bytes);
    break;
  case ElementKind::U8:
    writeAll<C, uint8_t>(numbers, bytes);
    break;
  case ElementKind::U16:
    writeAll<C, uint16_t>(numbers, bytes);
    break;
  case ElementKind::U32:
    writeAll<C, uint32_t>(numbers, bytes);
    break;
  case ElementKind::U64:
    writeAll<C, uint64_t>(numbers, bytes);
    break;
  case ElementKind::Bool:
    for (auto [i, value] : llvm::enumerate(numbers))
      bytes[i] = value != C(0);
    break;
  default:
    llvm_unreachable("computesIn says what has numbers");
  }
  return bytes;
}

template std::vector<float> readElements(const Elements &);
template std::vector<double> readElements(const Elements &);
template std::vector<int64_t> readElements(const Elements &);
template std::vector<uint64_t> readElements(const Elements &);
template std::vector<char> writeElements(ElementKind, ArrayRef<float>);
template std::vector<char> writeElements(ElementKind, ArrayRef<double>);
template std::vector<char> writeElements(ElementKind, ArrayRef<int64_t>);
template std::vector<char> writeElements(ElementKind, ArrayRef<uint64_t>);

std::vector<double> readDoubles(const Elements &elements) { return readElements<double>(elements); }

} // namespace cameo
