// Values by the place of an element in the dispatch's own order of dimensions.
// SPDX-License-Identifier: Apache-2.0
#include "runtime/tune/operands.h"

#include <algorithm>
#include <cmath>
#include <cstring>

namespace cameo::tune {
namespace {

constexpr uint32_t kPatterns = 1024; // a power of two

// Scrambles a place: neighbours, and those a row apart, have nothing in common.
uint32_t patternAt(uint64_t place, uint32_t number) {
  uint64_t mixed = (place + number * 0x9e3779b97f4a7c15ULL) * 0xbf58476d1ce4e5b9ULL;
  return uint32_t((mixed ^ (mixed >> 29)) >> 20) % kPatterns;
}

void writePattern(uint32_t pattern, uint32_t dtype, Values values, uint8_t *to) {
  static const int8_t digits[] = {-2, -1, 1, 2};
  int digit = digits[pattern % 4];
  bool isRich = values == Values::Rich;
  if (runtime::isFloat(dtype)) {
    // From -2 to 2, without the neighbourhood of zero.
    double real = (0.25 + 1.75 * double(pattern / 2) / (kPatterns / 2)) * (pattern % 2 ? 1 : -1);
    runtime::writeFloat(to, dtype, 0, isRich ? real : digit);
  } else if (dtype == CAMEO_BOOL) {
    runtime::writeInteger(to, dtype, 0, pattern % 2);
  } else if (runtime::dtypeBits(dtype) >= 32) {
    runtime::writeInteger(to, dtype, 0, 0);
  } else if (runtime::isUnsigned(dtype)) {
    runtime::writeInteger(to, dtype, 0, isRich ? int64_t(pattern) : digit + 3);
  } else {
    runtime::writeInteger(to, dtype, 0, isRich ? int64_t(pattern) - kPatterns / 2 : digit);
  }
}

// Calls back with the place of each element in the dispatch's order, in the order of memory.
template <typename Callback>
void forEachPlace(const runtime::Shape &shape, const std::vector<uint32_t> &order,
                  Callback callback) {
  size_t rank = shape.size();
  std::vector<uint64_t> strides(rank, 1); // of the dispatch's dimensions
  std::vector<int64_t> sizes(rank), index(rank, 0);
  auto dimension = [&](size_t i) { return order.empty() ? i : size_t(order[i]); };
  for (size_t i = 0; i < rank; ++i)
    sizes[dimension(i)] = shape[i];
  for (size_t i = rank; i-- > 1;)
    strides[i - 1] = strides[i] * uint64_t(sizes[i]);
  uint64_t count = 1;
  for (int64_t size : shape)
    count *= uint64_t(size);
  if (rank == 0 || count == 0) {
    if (count)
      callback(uint64_t(0));
    return;
  }
  uint64_t run = uint64_t(shape.back()), step = strides[dimension(rank - 1)], start = 0;
  for (uint64_t done = 0; done < count; done += run) {
    for (uint64_t i = 0; i < run; ++i)
      callback(start + i * step);
    for (size_t i = rank - 1; i-- > 0;) {
      start += strides[dimension(i)];
      if (++index[i] < shape[i])
        break;
      start -= uint64_t(index[i]) * strides[dimension(i)];
      index[i] = 0;
    }
  }
}

// Of the largest magnitude. What products and sums are stored in says how far apart two orders of
// summation may end: a few units in the last place, and those that a later step makes of them.
double boundOf(uint32_t dtype) {
  switch (dtype) {
  case CAMEO_FLOAT16:
    return 4.0 / 1024;
  case CAMEO_BFLOAT16:
    return 4.0 / 128;
  case CAMEO_FLOAT8E4M3FN:
  case CAMEO_FLOAT8E5M2:
    return 0.25;
  case CAMEO_DOUBLE:
    return 1e-10;
  default: // products of TF32 and FP16 are stored as floats, too
    return runtime::isFloat(dtype) ? 1e-3 : 0;
  }
}

} // namespace

std::vector<uint8_t> makeOperand(const runtime::Shape &shape, uint32_t dtype,
                                 const std::vector<uint32_t> &order, uint32_t number,
                                 Values values) {
  uint32_t bits = runtime::dtypeBits(dtype);
  size_t bytes = std::max(bits / 8, 1U);
  std::vector<uint8_t> patterns(kPatterns * bytes);
  for (uint32_t i = 0; i < kPatterns; ++i)
    writePattern(i, dtype, values, &patterns[i * bytes]);
  uint64_t count = 1;
  for (int64_t size : shape)
    count *= uint64_t(size);
  std::vector<uint8_t> data((count * bits + 7) / 8);
  uint64_t at = 0;
  auto fill = [&](auto store) {
    forEachPlace(shape, order, [&](uint64_t place) { store(at++, patternAt(place, number)); });
  };
  auto storeAs = [&](auto type) {
    using Element = decltype(type);
    auto *to = reinterpret_cast<Element *>(data.data());
    auto *from = reinterpret_cast<const Element *>(patterns.data());
    fill([&](uint64_t i, uint32_t pattern) { to[i] = from[pattern]; });
  };
  switch (bits) {
  case 8:
    storeAs(uint8_t());
    break;
  case 16:
    storeAs(uint16_t());
    break;
  case 32:
    storeAs(uint32_t());
    break;
  case 64:
    storeAs(uint64_t());
    break;
  case 128:
    fill([&](uint64_t i, uint32_t pattern) {
      std::memcpy(&data[i * bytes], &patterns[pattern * bytes], bytes);
    });
    break;
  default: // several elements a byte, the first in the lowest bits
    fill([&](uint64_t i, uint32_t pattern) {
      uint32_t mask = (1U << bits) - 1;
      data[i * bits / 8] |= uint8_t((patterns[pattern] & mask) << (i * bits % 8));
    });
  }
  return data;
}

Deviation compareOutputs(const std::vector<uint8_t> &output, const std::vector<uint8_t> &reference,
                         uint32_t dtype, uint64_t elements) {
  Deviation result;
  result.sameBits = output == reference;
  result.bound = boundOf(dtype);
  if (result.sameBits)
    return result;
  double largest = 0;
  bool isReal = runtime::isFloat(dtype);
  for (uint64_t i = 0; i < elements; ++i) {
    double one = isReal ? runtime::readFloat(output.data(), dtype, i)
                        : double(runtime::readInteger(output.data(), dtype, i));
    double other = isReal ? runtime::readFloat(reference.data(), dtype, i)
                          : double(runtime::readInteger(reference.data(), dtype, i));
    if (std::isnan(one) != std::isnan(other) || std::isinf(one) != std::isinf(other))
      result.error = INFINITY;
    if (std::isfinite(other))
      largest = std::max(largest, std::fabs(other));
    if (std::isfinite(one) && std::isfinite(other))
      result.error = std::max(result.error, std::fabs(one - other));
  }
  if (!isReal) // what is quantised may be rounded to the neighbour
    result.bound = runtime::dtypeBits(dtype) <= 8 ? 1 : 0;
  else
    result.error /= largest > 0 ? largest : 1;
  return result;
}

} // namespace cameo::tune
