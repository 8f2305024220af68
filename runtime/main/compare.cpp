// Comparison of an output with what was expected, reported as IREE's run tool does.
// SPDX-License-Identifier: Apache-2.0
#include "runtime/main/session.h"

#include <algorithm>
#include <cmath>
#include <cstdio>

namespace cameo::cli {
namespace {

constexpr double kFloatAtol = 1e-5, kFloatRtol = 1e-3;
constexpr uint64_t kPrintedElements = 64;

// long double holds every 64-bit integer.
long double valueOf(const HostTensor &tensor, uint64_t index) {
  if (runtime::isFloat(tensor.dtype) || runtime::isComplex(tensor.dtype))
    return runtime::readFloat(tensor.data.data(), tensor.dtype, index);
  int64_t value = runtime::readInteger(tensor.data.data(), tensor.dtype, index);
  return tensor.dtype == CAMEO_UINT64 ? (long double)(uint64_t(value)) : (long double)(value);
}

} // namespace

bool compareOutput(uint32_t index, const HostTensor &actual, const HostTensor &expected,
                   const Options &options) {
  std::string has = runtime::formatType(actual.shape, actual.dtype);
  std::string wants = runtime::formatType(expected.shape, expected.dtype);
  if (has != wants) {
    std::printf("[FAILED] result[%u]: type %s does not match the expected %s\n", index, has.c_str(),
                wants.c_str());
    return false;
  }
  bool complex = runtime::isComplex(actual.dtype), real = complex || runtime::isFloat(actual.dtype);
  double atol = options.atol >= 0 ? options.atol : real ? kFloatAtol : 0;
  double rtol = options.rtol >= 0 ? options.rtol : real ? kFloatRtol : 0;
  uint64_t count = 0;
  (void)runtime::elementCount(actual.shape, count); // its shape was computed from
  uint64_t parts = complex ? 2 * count : count;
  uint64_t differing = 0, first = 0;
  long double largest = 0;
  for (uint64_t i = 0; i < parts; ++i) {
    long double a = valueOf(actual, i), b = valueOf(expected, i);
    if (a == b) // equal infinities too
      continue;
    if (options.equalNan && std::isnan(a) && std::isnan(b))
      continue;
    long double difference = std::fabs(a - b);
    // So put that a NaN fails, and an infinity where none is expected.
    bool close = std::isfinite(b) && difference <= atol + rtol * std::fabs(b);
    if (!(difference <= largest))
      largest = difference;
    if (!close && !differing++)
      first = complex ? i / 2 : i;
  }
  if (!differing)
    return true;
  std::printf("[FAILED] result[%u]: element at index %llu (%s) does not match the expected (%s)\n",
              index, (unsigned long long)first, formatElement(actual, first).c_str(),
              formatElement(expected, first).c_str());
  std::printf("  %llu of %llu values differ by more than atol = %g, rtol = %g; largest difference "
              "%Lg\n",
              (unsigned long long)differing, (unsigned long long)parts, atol, rtol, largest);
  std::printf("  expected:\n%s\n  actual:\n%s\n", formatTensor(expected, kPrintedElements).c_str(),
              formatTensor(actual, kPrintedElements).c_str());
  return false;
}

bool compareBits(uint32_t index, const HostTensor &actual, const char *what,
                 const HostTensor &reference, const char *other) {
  uint64_t differing = 0, first = 0, bytes = std::min(actual.data.size(), reference.data.size());
  for (uint64_t i = 0; i < bytes; ++i)
    if (actual.data[i] != reference.data[i] && !differing++)
      first = i;
  if (!differing && actual.shape == reference.shape)
    return true;
  std::string type = runtime::formatType(actual.shape, actual.dtype);
  if (actual.shape != reference.shape) {
    std::printf("[FAILED] result[%u] of %s is %s, of %s %s\n", index, what, type.c_str(), other,
                runtime::formatType(reference.shape, reference.dtype).c_str());
    return false;
  }
  uint64_t element = first * 8 / std::max(runtime::dtypeBits(actual.dtype), 1u);
  std::printf(
      "[FAILED] result[%u] of %s: element at index %llu (%s) is not that of %s (%s) bit for "
      "bit; %llu of %llu bytes differ\n",
      index, what, (unsigned long long)element, formatElement(actual, element).c_str(), other,
      formatElement(reference, element).c_str(), (unsigned long long)differing,
      (unsigned long long)bytes);
  return false;
}

} // namespace cameo::cli
