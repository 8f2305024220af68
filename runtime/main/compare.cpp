// Comparison of an output with what was expected, reported as IREE's run tool does.
// SPDX-License-Identifier: Apache-2.0
#include "runtime/error_sums.h"
#include "runtime/main/session.h"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstring>

namespace cameo::cli {
namespace {

constexpr uint64_t kPrintedElements = 64;

// The coarsest last. What is computed in fewer bits is off by a part of a tensor's largest elements,
// in its smallest ones, too. FP16 and TF32 have as many bits of a number; networks in FP16 have 50 to
// 60 dB, in BF16 35 to 45, in INT8 20 to 35.
constexpr Tolerance kTolerances[] = {{"fp32", 1e-5, 0, 1e-3},    {"tf32", 1e-5, 0.01, 1e-2},
                                     {"fp16", 1e-5, 0.01, 1e-2}, {"bf16", 1e-5, 0.05, 5e-2},
                                     {"int8", 1e-5, 0.1, 1e-1},  {"int4", 1e-5, 0.1, 1e-1}};

// That of FP32 for what has none of its own.
const Tolerance *findTolerance(std::string_view precision) {
  for (const Tolerance &tolerance : kTolerances)
    if (precision == tolerance.precision)
      return &tolerance;
  return kTolerances;
}

// long double holds every 64-bit integer.
long double valueOf(const HostTensor &tensor, uint64_t index) {
  if (runtime::isFloat(tensor.dtype) || runtime::isComplex(tensor.dtype))
    return runtime::readFloat(tensor.data.data(), tensor.dtype, index);
  int64_t value = runtime::readInteger(tensor.data.data(), tensor.dtype, index);
  return tensor.dtype == CAMEO_UINT64 ? (long double)(uint64_t(value)) : (long double)(value);
}

bool isReal(uint32_t dtype) { return runtime::isFloat(dtype) || runtime::isComplex(dtype); }

// Of numbers: a complex element has two.
uint64_t countNumbers(const HostTensor &tensor) {
  uint64_t count = 0;
  (void)runtime::elementCount(tensor.shape, count); // its shape was computed from
  return runtime::isComplex(tensor.dtype) ? 2 * count : count;
}

CameoErrorSums errorsOf(const HostTensor &actual, const HostTensor &expected) {
  CameoErrorSums errors = {};
  uint64_t count = countNumbers(actual);
  for (uint64_t i = 0; i < count; ++i)
    cameoAddError(&errors, double(valueOf(expected, i)), double(valueOf(actual, i)));
  return errors;
}

bool areAlike(const HostTensor &actual, const HostTensor &expected) {
  return actual.dtype == expected.dtype && actual.shape == expected.shape;
}

void printTolerance(const Tolerance &tolerance, double atol) {
  std::printf("atol = %g", atol);
  if (tolerance.share)
    std::printf(" (%g %% of the largest)", tolerance.share * 100);
  std::printf(", rtol = %g", tolerance.rtol);
  if (tolerance.precision)
    std::printf(" of %s", tolerance.precision);
}

} // namespace

Tolerance toleranceOf(const Options &options, const Session &session, uint32_t dtype) {
  Tolerance tolerance = {nullptr, 0, 0, 0};
  if (isReal(dtype)) {
    const Json *precision = session.manifest.find("least_precision");
    const Tolerance *coarsest = precision ? findTolerance(precision->text) : kTolerances;
    const char *own = dtype == CAMEO_FLOAT16 ? "fp16" : dtype == CAMEO_BFLOAT16 ? "bf16" : "fp32";
    tolerance = *std::max(coarsest, findTolerance(own));
  }
  if (options.atol >= 0) {
    tolerance.atol = options.atol;
    tolerance.share = 0;
  }
  if (options.rtol >= 0)
    tolerance.rtol = options.rtol;
  if (options.atol >= 0 && options.rtol >= 0)
    tolerance.precision = nullptr;
  return tolerance;
}

void printErrors(uint32_t index, const HostTensor &actual, const HostTensor &expected) {
  if (!isReal(actual.dtype) || !areAlike(actual, expected))
    return;
  CameoErrorSums errors = errorsOf(actual, expected);
  double sqnr = cameoSqnr(&errors);
  std::printf("result[%u] '%s': ", index, actual.name.c_str());
  if (std::isinf(sqnr))
    std::printf("%s", sqnr > 0 ? "equal" : "SQNR not finite");
  else
    std::printf("SQNR %.1f dB", sqnr);
  std::printf(", cosine %.6f, max error %.3g, largest expected %.3g\n", cameoCosine(&errors),
              errors.largest_difference, errors.largest_reference);
}

bool compareOutput(uint32_t index, const HostTensor &actual, const HostTensor &expected,
                   const Options &options, const Session &session) {
  if (!areAlike(actual, expected)) {
    std::printf("[FAILED] result[%u]: type %s does not match the expected %s\n", index,
                runtime::formatType(actual.shape, actual.dtype).c_str(),
                runtime::formatType(expected.shape, expected.dtype).c_str());
    return false;
  }
  Tolerance tolerance = toleranceOf(options, session, actual.dtype);
  double atol = tolerance.atol;
  if (tolerance.share)
    atol += tolerance.share * errorsOf(actual, expected).largest_reference;
  uint64_t count = countNumbers(actual), differing = 0, first = 0;
  long double largest = 0;
  for (uint64_t i = 0; i < count; ++i) {
    long double a = valueOf(actual, i), b = valueOf(expected, i);
    if (a == b) // equal infinities too
      continue;
    if (options.equalNan && std::isnan(a) && std::isnan(b))
      continue;
    long double difference = std::fabs(a - b);
    // So put that a NaN fails, and an infinity where none is expected.
    bool close = std::isfinite(b) && difference <= atol + tolerance.rtol * std::fabs(b);
    if (!(difference <= largest))
      largest = difference;
    if (!close && !differing++)
      first = runtime::isComplex(actual.dtype) ? i / 2 : i;
  }
  if (!differing)
    return true;
  std::printf("[FAILED] result[%u]: element at index %llu (%s) does not match the expected (%s)\n",
              index, (unsigned long long)first, formatElement(actual, first).c_str(),
              formatElement(expected, first).c_str());
  std::printf("  %llu of %llu values differ by more than ", (unsigned long long)differing,
              (unsigned long long)count);
  printTolerance(tolerance, atol);
  std::printf("; largest difference %Lg\n", largest);
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
