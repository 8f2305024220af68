// Element types: one table of names and widths, and the conversions of every floating-point format.
// SPDX-License-Identifier: Apache-2.0
#include "runtime/core/types.h"

#include <cmath>
#include <cstring>
#include <limits>

namespace cameo::runtime {
namespace {

struct TypeInfo {
  const char *name;
  uint32_t bits;
  enum Class { None, Float, Signed, Unsigned, Complex } kind;
};

// Indexed by CameoDataType.
constexpr TypeInfo kTypes[] = {
    {"?", 0, TypeInfo::None},           {"f32", 32, TypeInfo::Float},
    {"u8", 8, TypeInfo::Unsigned},      {"i8", 8, TypeInfo::Signed},
    {"u16", 16, TypeInfo::Unsigned},    {"i16", 16, TypeInfo::Signed},
    {"i32", 32, TypeInfo::Signed},      {"i64", 64, TypeInfo::Signed},
    {"string", 0, TypeInfo::None},      {"bool", 8, TypeInfo::Unsigned},
    {"f16", 16, TypeInfo::Float},       {"f64", 64, TypeInfo::Float},
    {"u32", 32, TypeInfo::Unsigned},    {"u64", 64, TypeInfo::Unsigned},
    {"c64", 64, TypeInfo::Complex},     {"c128", 128, TypeInfo::Complex},
    {"bf16", 16, TypeInfo::Float},      {"f8e4m3fn", 8, TypeInfo::Float},
    {"f8e4m3fnuz", 8, TypeInfo::Float}, {"f8e5m2", 8, TypeInfo::Float},
    {"f8e5m2fnuz", 8, TypeInfo::Float}, {"u4", 4, TypeInfo::Unsigned},
    {"i4", 4, TypeInfo::Signed},        {"f4e2m1", 4, TypeInfo::Float},
    {"f8e8m0", 8, TypeInfo::Float},     {"u2", 2, TypeInfo::Unsigned},
    {"i2", 2, TypeInfo::Signed},
};
constexpr uint32_t kTypeCount = sizeof kTypes / sizeof *kTypes;

const TypeInfo &type(uint32_t dtype) { return kTypes[dtype < kTypeCount ? dtype : 0]; }

struct Synonym {
  const char *name;
  uint32_t dtype;
};
constexpr Synonym kSynonyms[] = {
    {"float", CAMEO_FLOAT},         {"float32", CAMEO_FLOAT},
    {"float16", CAMEO_FLOAT16},     {"half", CAMEO_FLOAT16},
    {"double", CAMEO_DOUBLE},       {"float64", CAMEO_DOUBLE},
    {"bfloat16", CAMEO_BFLOAT16},   {"int8", CAMEO_INT8},
    {"int16", CAMEO_INT16},         {"int32", CAMEO_INT32},
    {"int64", CAMEO_INT64},         {"uint8", CAMEO_UINT8},
    {"uint16", CAMEO_UINT16},       {"uint32", CAMEO_UINT32},
    {"uint64", CAMEO_UINT64},       {"ui8", CAMEO_UINT8},
    {"ui16", CAMEO_UINT16},         {"ui32", CAMEO_UINT32},
    {"ui64", CAMEO_UINT64},         {"si8", CAMEO_INT8},
    {"si16", CAMEO_INT16},          {"si32", CAMEO_INT32},
    {"si64", CAMEO_INT64},          {"i1", CAMEO_BOOL},
    {"int4", CAMEO_INT4},           {"uint4", CAMEO_UINT4},
    {"int2", CAMEO_INT2},           {"uint2", CAMEO_UINT2},
    {"complex64", CAMEO_COMPLEX64}, {"complex128", CAMEO_COMPLEX128},
};

// A binary floating-point format of at most 16 bits.
struct SmallFloat {
  int exponentBits, mantissaBits, bias;
  enum Specials {
    Ieee,      // infinities and NaNs at the top exponent
    NanOnly,   // FN: all ones is NaN, no infinity
    Unsigned0, // FNUZ: only the code of -0 is NaN
    Finite,    // neither
  } specials;
};

bool smallFloat(uint32_t dtype, SmallFloat &format) {
  switch (dtype) {
  case CAMEO_FLOAT16:
    format = {5, 10, 15, SmallFloat::Ieee};
    return true;
  case CAMEO_BFLOAT16:
    format = {8, 7, 127, SmallFloat::Ieee};
    return true;
  case CAMEO_FLOAT8E4M3FN:
    format = {4, 3, 7, SmallFloat::NanOnly};
    return true;
  case CAMEO_FLOAT8E4M3FNUZ:
    format = {4, 3, 8, SmallFloat::Unsigned0};
    return true;
  case CAMEO_FLOAT8E5M2:
    format = {5, 2, 15, SmallFloat::Ieee};
    return true;
  case CAMEO_FLOAT8E5M2FNUZ:
    format = {5, 2, 16, SmallFloat::Unsigned0};
    return true;
  case CAMEO_FLOAT4E2M1:
    format = {2, 1, 1, SmallFloat::Finite};
    return true;
  default:
    return false;
  }
}

double decode(const SmallFloat &format, uint32_t bits) {
  int width = 1 + format.exponentBits + format.mantissaBits;
  uint32_t sign = bits >> (width - 1) & 1;
  uint32_t top = (1u << format.exponentBits) - 1;
  uint32_t exponent = bits >> format.mantissaBits & top;
  uint32_t mantissaMask = (1u << format.mantissaBits) - 1;
  uint32_t mantissa = bits & mantissaMask;
  double nan = std::numeric_limits<double>::quiet_NaN();
  if (format.specials == SmallFloat::Ieee && exponent == top)
    return mantissa ? nan : sign ? -HUGE_VAL : HUGE_VAL;
  if (format.specials == SmallFloat::NanOnly && exponent == top && mantissa == mantissaMask)
    return nan;
  if (format.specials == SmallFloat::Unsigned0 && sign && !exponent && !mantissa)
    return nan;
  double value = exponent ? std::ldexp(1.0 + std::ldexp(mantissa, -format.mantissaBits),
                                       int(exponent) - format.bias)
                          : std::ldexp(mantissa, 1 - format.bias - format.mantissaBits);
  return sign ? -value : value;
}

// Overflow gives infinity or, in formats without it, the largest value, as ONNX's Cast saturates.
uint32_t encode(const SmallFloat &format, double value) {
  int width = 1 + format.exponentBits + format.mantissaBits;
  uint32_t signBit = std::signbit(value) ? 1u << (width - 1) : 0;
  uint32_t top = (1u << format.exponentBits) - 1;
  uint32_t infinity = top << format.mantissaBits;
  uint32_t mantissaMask = (1u << format.mantissaBits) - 1;
  uint32_t largest = (infinity | mantissaMask) - (format.specials == SmallFloat::NanOnly ? 1 : 0);
  if (format.specials == SmallFloat::Ieee)
    largest = infinity - 1;
  if (std::isnan(value)) {
    switch (format.specials) {
    case SmallFloat::Ieee:
      return signBit | infinity | 1u << (format.mantissaBits - 1);
    case SmallFloat::NanOnly:
      return signBit | infinity | mantissaMask;
    case SmallFloat::Unsigned0:
      return 1u << (width - 1);
    case SmallFloat::Finite:
      return largest;
    }
  }
  double magnitude = std::fabs(value);
  uint32_t code;
  if (std::isinf(magnitude)) {
    code = largest + 1;
  } else if (magnitude == 0) {
    code = 0;
  } else {
    int exponent;
    std::frexp(magnitude, &exponent); // magnitude = m * 2^exponent, m in [0.5, 1)
    int biased = exponent - 1 + format.bias;
    int scale = biased >= 1 ? exponent - 1 : 1 - format.bias; // of the last subnormal otherwise
    double steps = std::nearbyint(std::ldexp(magnitude, format.mantissaBits - scale));
    // A carry out of the mantissa moves to the next exponent by itself.
    double wide = steps + (biased >= 1 ? double(biased - 1) * (mantissaMask + 1.0) : 0.0);
    code = wide > largest ? largest + 1 : uint32_t(wide);
  }
  if (code > largest)
    code = format.specials == SmallFloat::Ieee ? infinity : largest;
  if (format.specials == SmallFloat::Unsigned0 && code == 0)
    return 0;
  return signBit | code;
}

template <typename T> T load(const void *data, uint64_t index) {
  T value;
  std::memcpy(&value, static_cast<const char *>(data) + index * sizeof(T), sizeof(T));
  return value;
}
template <typename T> void store(void *data, uint64_t index, T value) {
  std::memcpy(static_cast<char *>(data) + index * sizeof(T), &value, sizeof(T));
}

uint32_t loadBits(const void *data, uint32_t bits, uint64_t index) {
  if (bits == 16)
    return load<uint16_t>(data, index);
  if (bits == 8)
    return load<uint8_t>(data, index);
  uint64_t bit = index * bits;
  return static_cast<const uint8_t *>(data)[bit / 8] >> (bit % 8) & ((1u << bits) - 1);
}

void storeBits(void *data, uint32_t bits, uint64_t index, uint32_t code) {
  if (bits == 16)
    return store<uint16_t>(data, index, uint16_t(code));
  if (bits == 8)
    return store<uint8_t>(data, index, uint8_t(code));
  uint64_t bit = index * bits;
  uint8_t &byte = static_cast<uint8_t *>(data)[bit / 8];
  uint32_t mask = ((1u << bits) - 1) << (bit % 8);
  byte = uint8_t((byte & ~mask) | (code << (bit % 8) & mask));
}

} // namespace

uint32_t dtypeBits(uint32_t dtype) { return type(dtype).bits; }
const char *dtypeName(uint32_t dtype) { return type(dtype).name; }
bool isFloat(uint32_t dtype) { return type(dtype).kind == TypeInfo::Float; }
bool isComplex(uint32_t dtype) { return type(dtype).kind == TypeInfo::Complex; }
bool isUnsigned(uint32_t dtype) { return type(dtype).kind == TypeInfo::Unsigned; }

bool parseDtype(const std::string &name, uint32_t &dtype) {
  for (uint32_t i = 1; i < kTypeCount; ++i)
    if (name == kTypes[i].name && kTypes[i].bits) {
      dtype = i;
      return true;
    }
  for (const Synonym &synonym : kSynonyms)
    if (name == synonym.name) {
      dtype = synonym.dtype;
      return true;
    }
  return false;
}

Status elementCount(const Shape &shape, uint64_t &count) {
  uint64_t product = 1;
  bool empty = false;
  for (int64_t size : shape) {
    if (size < 0)
      return failure(Code::InvalidArgument, "a size is negative: %lld", (long long)size);
    empty |= size == 0;
    // Zeros do not excuse an overflow elsewhere: strides are computed from the other sizes.
    if (size && __builtin_mul_overflow(product, uint64_t(size), &product))
      return failure(Code::InvalidArgument, "the number of elements overflows 64 bits");
  }
  if (product > uint64_t(std::numeric_limits<int64_t>::max()))
    return failure(Code::InvalidArgument, "the number of elements overflows 63 bits");
  count = empty ? 0 : product;
  return {};
}

Status tensorBytes(const Shape &shape, uint32_t dtype, uint64_t &bytes) {
  uint64_t count = 0, bits = 0;
  CAMEO_RETURN_IF_ERROR(elementCount(shape, count));
  if (!dtypeBits(dtype))
    return failure(Code::Unsupported, "tensors of type %s (%u) have no fixed size",
                   dtypeName(dtype), dtype);
  if (__builtin_mul_overflow(count, uint64_t(dtypeBits(dtype)), &bits) ||
      bits > uint64_t(std::numeric_limits<int64_t>::max()))
    return failure(Code::InvalidArgument, "a tensor's size in bits overflows 63 bits");
  bytes = (bits + 7) / 8;
  return {};
}

std::string formatType(const Shape &shape, uint32_t dtype) {
  std::string text;
  for (int64_t size : shape)
    text += (size < 0 ? std::string("?") : std::to_string(size)) + "x";
  return text + dtypeName(dtype);
}

double readFloat(const void *data, uint32_t dtype, uint64_t index) {
  SmallFloat format;
  switch (dtype) {
  case CAMEO_FLOAT:
  case CAMEO_COMPLEX64:
    return load<float>(data, index);
  case CAMEO_DOUBLE:
  case CAMEO_COMPLEX128:
    return load<double>(data, index);
  case CAMEO_FLOAT8E8M0: {
    uint32_t code = load<uint8_t>(data, index);
    return code == 255 ? std::numeric_limits<double>::quiet_NaN()
                       : std::ldexp(1.0, int(code) - 127);
  }
  default:
    if (smallFloat(dtype, format))
      return decode(format, loadBits(data, dtypeBits(dtype), index));
    int64_t value = readInteger(data, dtype, index);
    return dtype == CAMEO_UINT64 ? double(uint64_t(value)) : double(value);
  }
}

int64_t readInteger(const void *data, uint32_t dtype, uint64_t index) {
  switch (dtype) {
  case CAMEO_UINT8:
    return load<uint8_t>(data, index);
  case CAMEO_BOOL:
    return load<uint8_t>(data, index) != 0;
  case CAMEO_INT8:
    return load<int8_t>(data, index);
  case CAMEO_UINT16:
    return load<uint16_t>(data, index);
  case CAMEO_INT16:
    return load<int16_t>(data, index);
  case CAMEO_UINT32:
    return load<uint32_t>(data, index);
  case CAMEO_INT32:
    return load<int32_t>(data, index);
  case CAMEO_INT64:
  case CAMEO_UINT64:
    return load<int64_t>(data, index);
  case CAMEO_UINT4:
  case CAMEO_UINT2:
    return loadBits(data, dtypeBits(dtype), index);
  case CAMEO_INT4:
  case CAMEO_INT2: {
    int32_t shift = 32 - int32_t(dtypeBits(dtype));
    return int32_t(loadBits(data, dtypeBits(dtype), index) << shift) >> shift;
  }
  default:
    return 0;
  }
}

void writeFloat(void *data, uint32_t dtype, uint64_t index, double value) {
  SmallFloat format;
  if (dtype == CAMEO_FLOAT || dtype == CAMEO_COMPLEX64)
    return store<float>(data, index, float(value));
  if (dtype == CAMEO_DOUBLE || dtype == CAMEO_COMPLEX128)
    return store<double>(data, index, value);
  if (dtype == CAMEO_FLOAT8E8M0) {
    // Powers of two alone: rounds the exponent; what is not positive becomes the smallest.
    uint32_t code = 255;
    if (!std::isnan(value)) {
      double exponent = value > 0 ? std::nearbyint(std::log2(value)) + 127 : 0;
      code = exponent < 0 ? 0 : exponent > 254 ? 254 : uint32_t(exponent);
    }
    return store<uint8_t>(data, index, uint8_t(code));
  }
  if (smallFloat(dtype, format))
    storeBits(data, dtypeBits(dtype), index, encode(format, value));
}

void writeInteger(void *data, uint32_t dtype, uint64_t index, int64_t value) {
  switch (dtypeBits(dtype)) {
  case 64:
    return store<int64_t>(data, index, value);
  case 32:
    return store<int32_t>(data, index, int32_t(value));
  case 0:
  case 128:
    return;
  default:
    if (dtype == CAMEO_BOOL)
      value = value != 0;
    storeBits(data, dtypeBits(dtype), index, uint32_t(value));
  }
}

} // namespace cameo::runtime
