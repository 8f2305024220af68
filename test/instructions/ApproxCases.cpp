// Approximations (PTX ISA, "Floating Point Instructions" and "Half Precision Floating Point
// Instructions"): within the bounds stated there, and with the special values of its tables.
//
// SPDX-License-Identifier: Apache-2.0
#include "test/instructions/Case.h"

#include <algorithm>
#include <cmath>

namespace instructions {
namespace {

constexpr unsigned kThreads = 128, kBlocks = 32, kRecords = kThreads * kBlocks;

struct Function {
  const char *name;
  double (*exact)(double);
  /// What the ISA allows at x, the exact value being y.
  double (*tolerance)(double x, double y);
  double low, high; // of random arguments
};

double ulp32(double y) { return std::ldexp(1, std::max(std::ilogb(y), -126) - 23); }

const Function functions[] = {
    // "a maximum relative error of 2^-22" and its like: of each section's closing paragraph. The
    // last place is allowed besides, for subnormal results.
    {"ex2", [](double x) { return std::exp2(x); },
     [](double, double y) { return std::fabs(y) * 0x1p-22 + ulp32(y); }, -160, 140},
    {"lg2", [](double x) { return std::log2(x); },
     [](double x, double y) {
       return x > 0.5 && x < 2 ? 0x1p-22 : std::fabs(y) * 0x1p-22 + ulp32(y);
     },
     0, 100},
    {"rcp", [](double x) { return 1 / x; }, [](double, double y) { return ulp32(y); }, -100, 100},
    {"rsqrt", [](double x) { return x == 0 ? std::copysign(INFINITY, x) : 1 / std::sqrt(x); },
     [](double, double y) { return std::fabs(y) * 0x1p-22 + ulp32(y); }, 0, 1000},
    {"sqrt", [](double x) { return std::sqrt(x); },
     [](double, double y) { return std::fabs(y) * 0x1p-22 + ulp32(y); }, 0, 1000},
    {"sin", [](double x) { return std::isinf(x) ? NAN : std::sin(x); },
     [](double, double) { return 0x1p-20; }, -3.14159, 3.14159},
    {"cos", [](double x) { return std::isinf(x) ? NAN : std::cos(x); },
     [](double, double) { return 0x1p-20; }, -3.14159, 3.14159},
    {"tanh", [](double x) { return std::tanh(x); },
     [](double, double y) { return std::fabs(y) * 0x1p-11 + ulp32(y); }, -6, 6},
};

/// The bounds that the ISA states for f16 and bf16: of ex2 and tanh alone.
double tolerance16(bool isTanh, bool f16, double y) {
  double lastPlace = std::ldexp(1, std::max(std::ilogb(y), f16 ? -14 : -126) - (f16 ? 10 : 7));
  double bound = isTanh ? (f16 ? 0x1p-10 : 0x1p-8) : std::fabs(y) * (f16 ? 0x1p-9 : 0x1p-7);
  return bound + lastPlace;
}

double flushed(double x, bool ftz) {
  return ftz && std::fabs(x) < 0x1p-126 ? std::copysign(0.0, x) : x;
}

/// `type` is f32, f16, f16x2, bf16 or bf16x2.
void add(std::vector<Case> &cases, const Function &function, bool ftz, const std::string &type,
         unsigned since) {
  Case made;
  made.instruction = std::string(function.name) + ".approx" + (ftz ? ".ftz." : ".") + type;
  made.name = made.instruction;
  std::replace(made.name.begin(), made.name.end(), '.', '_');
  made.since = since;
  made.blocks = kBlocks;
  made.threads = kThreads;
  bool f32 = type == "f32", f16 = type[0] == 'f', pair = type.find("x2") != std::string::npos;
  std::string mlir = f32 ? "f32" : pair ? "i32" : "i16";
  made.kernel = registerKernel(made.name, made.instruction, {mlir}, {mlir}, kThreads);
  int exponent = f16 && !f32 ? 5 : 8, mantissa = f32 ? 23 : f16 ? 10 : 7;
  auto draw = [&](Random &random) -> uint32_t {
    uint32_t infinity = ((1u << exponent) - 1) << mantissa;
    uint32_t sign = random.below(2) << (exponent + mantissa);
    if (random.below(8) == 0) {
      const uint32_t edges[] = {0,
                                1,
                                (1u << mantissa) - 1,
                                1u << mantissa,
                                infinity - 1,
                                infinity,
                                infinity | 1u << (mantissa - 1),
                                encodeFloat(1, exponent, mantissa)};
      return edges[random.below(8)] | sign;
    }
    double x = function.low + (random.unit() + 1) / 2 * (function.high - function.low);
    if (!f32)
      x /= 8;
    return encodeFloat(x, exponent, mantissa);
  };
  Bytes in(kRecords * kSlot), out(kRecords * kSlot);
  Random random(cases.size() + 5);
  for (unsigned record = 0; record < kRecords; ++record) {
    uint64_t word = draw(random);
    if (pair)
      word |= uint64_t(draw(random)) << 16;
    setSlot(in, record, 1, 0, word);
  }
  made.buffers = {in, out};
  made.check = [=](const std::vector<Bytes> &after) -> std::string {
    unsigned bits = unsigned(1 + exponent + mantissa);
    for (unsigned record = 0; record < kRecords; ++record)
      for (unsigned part = 0; part < (pair ? 2u : 1u); ++part) {
        auto read = [&](const Bytes &buffer) {
          uint64_t word = slot(buffer, record, 1, 0) >> (bits * part);
          return decodeFloat(uint32_t(word & ((1ull << bits) - 1)), exponent, mantissa);
        };
        double x = flushed(read(in), ftz), got = read(after[1]);
        double wanted = function.exact(x);
        bool trigonometric = function.name[0] == 's' && function.name[1] == 'i';
        trigonometric |= function.name[0] == 'c';
        if (trigonometric && std::fabs(x) > 3.15 && std::isfinite(x))
          continue; // no bound is stated there
        double tolerance =
            f32 ? function.tolerance(x, wanted) : tolerance16(function.name[0] == 't', f16, wanted);
        if (ftz)
          tolerance += std::fabs(wanted) < 0x1.001p-126 ? 0x1p-126 : 0;
        // Rounded to infinity, or just not.
        double largest = decodeFloat((((1u << exponent) - 1) << mantissa) - 1, exponent, mantissa);
        if (std::isfinite(wanted) && std::fabs(wanted) > largest && std::isinf(got))
          continue;
        if (!agree(got, wanted, tolerance) ||
            (got == 0 && wanted == 0 && std::signbit(got) != std::signbit(wanted)))
          return format("of %.9g: %.9g, not %.9g +- %.3g", x, got, wanted, tolerance);
      }
    return {};
  };
  cases.push_back(std::move(made));
}

} // namespace

void addApproxCases(std::vector<Case> &cases) {
  for (const Function &function : functions) {
    bool isTanh = std::string(function.name) == "tanh", isEx2 = std::string(function.name) == "ex2";
    add(cases, function, false, "f32", 75);
    if (!isTanh)
      add(cases, function, true, "f32", 75);
    for (const char *type : {"f16", "f16x2"})
      if (isTanh || isEx2)
        add(cases, function, false, type, 75);
    for (const char *type : {"bf16", "bf16x2"})
      if (isTanh || isEx2)
        add(cases, function, isEx2, type, 90);
  }
}

} // namespace instructions
