// The elements of constants as numbers.
//
// SPDX-License-Identifier: Apache-2.0
#include "passes/graph/Elements.h"

#include <cmath>

using namespace mlir;
using cameo::onnx::ElementKind;

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
  case ElementKind::F8E4M3FN:
  case ElementKind::F8E4M3FNUZ:
  case ElementKind::F8E5M2:
  case ElementKind::F8E5M2FNUZ:
  case ElementKind::F8E8M0:
  case ElementKind::F4E2M1:
    return Computes::Float;
  case ElementKind::F64:
    return Computes::Double;
  case ElementKind::I2:
  case ElementKind::I4:
  case ElementKind::I8:
  case ElementKind::I16:
  case ElementKind::I32:
  case ElementKind::I64:
    return Computes::Signed;
  case ElementKind::U2:
  case ElementKind::U4:
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

/// A float that rounds to the same 16 bits as the number itself: rounded to odd, its last bit says
/// that there was more (Boldo and Melquiond, "Emulation of FMA and correctly rounded sums", 2008).
float rounding(double value) {
  auto nearest = static_cast<float>(value);
  if (nearest == value || value != value)
    return nearest;
  auto bits = llvm::bit_cast<uint32_t>(nearest);
  bool isBeyond = std::abs(static_cast<double>(nearest)) > std::abs(value);
  return llvm::bit_cast<float>((isBeyond ? bits - 1 : bits) | 1);
}

float rounding(float value) { return value; }

/// Integers of 64 bits have more digits than a double.
template <typename C> std::enable_if_t<std::is_integral_v<C>, float> rounding(C value) {
  uint64_t magnitude = value < C(0) ? 0 - static_cast<uint64_t>(value) : value;
  // 40 digits are enough to stand for more, as long as the last tells of the rest.
  if (magnitude >> 40)
    magnitude = (magnitude >> 24 | ((magnitude & 0xffffff) != 0)) << 24;
  auto number = static_cast<double>(magnitude);
  return rounding(value < C(0) ? -number : number);
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

template <typename C, typename T> void readAll(const char *from, std::vector<C> &to) {
  for (C &number : to) {
    number = static_cast<C>(load<T>(from));
    from += sizeof(T);
  }
}

template <typename C, typename T> void writeAll(ArrayRef<C> from, std::vector<char> &to) {
  using Wide = std::conditional_t<std::is_integral_v<T> && std::is_signed_v<T>, int64_t,
                                  std::conditional_t<std::is_integral_v<T>, uint64_t, T>>;
  for (auto [i, value] : llvm::enumerate(from))
    store<T>(to.data() + i * sizeof(T), static_cast<T>(static_cast<Wide>(value)));
}

/// The lower bits of a byte as a number; the others are the constant's own affair.
int narrowInteger(ElementKind kind, char byte) {
  int spare = 32 - static_cast<int>(onnx::elementBits(kind));
  uint32_t top = static_cast<uint32_t>(static_cast<uint8_t>(byte)) << spare;
  bool isSigned = computesIn(kind) == Computes::Signed;
  return isSigned ? static_cast<int32_t>(top) >> spare : static_cast<int>(top >> spare);
}

} // namespace

/// `count` elements that lie one behind the other.
template <typename C>
static std::vector<C> readNumbers(ElementKind kind, const char *from, int64_t count) {
  std::vector<C> numbers(count);
  switch (kind) {
  case ElementKind::F32:
    readAll<C, float>(from, numbers);
    break;
  case ElementKind::F64:
    readAll<C, double>(from, numbers);
    break;
  case ElementKind::F16:
    for (int64_t i = 0, e = numbers.size(); i < e; ++i)
      numbers[i] = static_cast<C>(fromF16(load<uint16_t>(from + 2 * i)));
    break;
  case ElementKind::BF16:
    for (int64_t i = 0, e = numbers.size(); i < e; ++i)
      numbers[i] = static_cast<C>(
          llvm::bit_cast<float>(static_cast<uint32_t>(load<uint16_t>(from + 2 * i)) << 16));
    break;
  case ElementKind::I8:
    readAll<C, int8_t>(from, numbers);
    break;
  case ElementKind::I16:
    readAll<C, int16_t>(from, numbers);
    break;
  case ElementKind::I32:
    readAll<C, int32_t>(from, numbers);
    break;
  case ElementKind::I64:
    readAll<C, int64_t>(from, numbers);
    break;
  case ElementKind::U8:
  case ElementKind::Bool:
    readAll<C, uint8_t>(from, numbers);
    break;
  case ElementKind::U16:
    readAll<C, uint16_t>(from, numbers);
    break;
  case ElementKind::U32:
    readAll<C, uint32_t>(from, numbers);
    break;
  case ElementKind::U64:
    readAll<C, uint64_t>(from, numbers);
    break;
  case ElementKind::I2:
  case ElementKind::I4:
  case ElementKind::U2:
  case ElementKind::U4:
    for (int64_t i = 0; i < count; ++i)
      numbers[i] = static_cast<C>(narrowInteger(kind, from[i]));
    break;
  case ElementKind::F8E4M3FN:
  case ElementKind::F8E4M3FNUZ:
  case ElementKind::F8E5M2:
  case ElementKind::F8E5M2FNUZ:
  case ElementKind::F8E8M0:
  case ElementKind::F4E2M1:
    for (int64_t i = 0; i < count; ++i)
      numbers[i] = static_cast<C>(onnx::decodeNarrow(kind, static_cast<uint8_t>(from[i])));
    break;
  default:
    llvm_unreachable("computesIn says what has numbers");
  }
  return numbers;
}

template <typename C> std::vector<C> readElements(const Elements &elements) {
  if (!elements.isSplat())
    return readNumbers<C>(elements.kind, elements.bytes.get().data(), elements.count());
  return std::vector<C>(elements.count(),
                        readNumbers<C>(elements.kind, elements.bytes.get().data(), 1)[0]);
}

template <typename C>
std::vector<char> writeElements(ElementKind kind, ArrayRef<C> numbers,
                                onnx::NarrowRounding narrow) {
  std::vector<char> bytes(numbers.size() * onnx::elementBytes(kind));
  switch (kind) {
  case ElementKind::F32:
    writeAll<C, float>(numbers, bytes);
    break;
  case ElementKind::F64:
    writeAll<C, double>(numbers, bytes);
    break;
  case ElementKind::F16:
    for (auto [i, value] : llvm::enumerate(numbers))
      store(bytes.data() + 2 * i, toF16(rounding(value)));
    break;
  case ElementKind::BF16:
    for (auto [i, value] : llvm::enumerate(numbers))
      store(bytes.data() + 2 * i, toBF16(rounding(value)));
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
  case ElementKind::I2:
  case ElementKind::I4:
  case ElementKind::U2:
  case ElementKind::U4: {
    uint64_t mask = (1u << onnx::elementBits(kind)) - 1;
    for (auto [i, value] : llvm::enumerate(numbers))
      bytes[i] = static_cast<char>(static_cast<uint64_t>(static_cast<int64_t>(value)) & mask);
    break;
  }
  case ElementKind::F8E4M3FN:
  case ElementKind::F8E4M3FNUZ:
  case ElementKind::F8E5M2:
  case ElementKind::F8E5M2FNUZ:
  case ElementKind::F8E8M0:
  case ElementKind::F4E2M1:
    for (auto [i, value] : llvm::enumerate(numbers))
      bytes[i] = static_cast<char>(onnx::encodeNarrow(kind, static_cast<float>(value), narrow));
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
template std::vector<char> writeElements(ElementKind, ArrayRef<float>, onnx::NarrowRounding);
template std::vector<char> writeElements(ElementKind, ArrayRef<double>, onnx::NarrowRounding);
template std::vector<char> writeElements(ElementKind, ArrayRef<int64_t>, onnx::NarrowRounding);
template std::vector<char> writeElements(ElementKind, ArrayRef<uint64_t>, onnx::NarrowRounding);

std::vector<double> readDoubles(const Elements &elements) { return readElements<double>(elements); }

std::vector<double> readDoubles(ElementKind kind, ArrayRef<char> bytes) {
  return readNumbers<double>(kind, bytes.data(), bytes.size() / onnx::elementBytes(kind));
}

} // namespace cameo
