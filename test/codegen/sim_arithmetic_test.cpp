// Every arithmetic operation on every type, scalar and vector, compiled for the simulator and
// compared with values computed here. What IEEE 754 rounds correctly must agree bit for bit (but
// for the payload of NaN): the reference is computed in f64 and rounded once, which for +, -, *, /
// and square roots of narrower types is the same. Transcendental functions may differ by units in
// the last place. Minima and maxima of zeros of two signs may have either sign.
//
// SPDX-License-Identifier: Apache-2.0
#include "test/codegen/SimHarness.h"

#include "llvm/ADT/APFloat.h"
#include "llvm/ADT/APInt.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/FormatVariadic.h"

#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <functional>
#include <limits>
#include <random>

using namespace cameo;
using namespace cameo::test;
using llvm::APFloat;
using llvm::APInt;

namespace {

constexpr unsigned kThreads = 64;

struct FloatType {
  const char *name;
  const llvm::fltSemantics &semantics;
  unsigned bits;
};

const FloatType floatTypes[] = {{"f16", APFloat::IEEEhalf(), 16},
                                {"bf16", APFloat::BFloat(), 16},
                                {"f32", APFloat::IEEEsingle(), 32},
                                {"f64", APFloat::IEEEdouble(), 64}};

/// Values as raw bits, `bits` wide, in memory.
struct Buffer {
  Buffer(unsigned bits, size_t count) : bytes(std::max(bits, 8u) / 8), data(bytes * count, 0x5a) {}
  uint64_t get(size_t index) const {
    uint64_t value = 0;
    std::memcpy(&value, data.data() + index * bytes, bytes);
    return value;
  }
  void set(size_t index, uint64_t value) {
    std::memcpy(data.data() + index * bytes, &value, bytes);
  }
  unsigned bytes;
  std::vector<char> data;
};

uint64_t roundTo(const FloatType &type, double value) {
  APFloat number(value);
  bool inexact;
  number.convert(type.semantics, APFloat::rmNearestTiesToEven, &inexact);
  return number.bitcastToAPInt().getZExtValue();
}

double toDouble(const FloatType &type, uint64_t bits) {
  APFloat number(type.semantics, APInt(type.bits, bits));
  bool inexact;
  number.convert(APFloat::IEEEdouble(), APFloat::rmNearestTiesToEven, &inexact);
  return number.convertToDouble();
}

/// Distance in units in the last place; 0 for equal values and for two NaN.
uint64_t distance(const FloatType &type, uint64_t a, uint64_t b) {
  double x = toDouble(type, a), y = toDouble(type, b);
  if ((std::isnan(x) && std::isnan(y)) || x == y)
    return 0;
  if (std::isnan(x) || std::isnan(y))
    return ~0ull;
  auto ordered = [&](uint64_t bits) {
    int64_t magnitude = bits & (~0ull >> (65 - type.bits));
    return bits >> (type.bits - 1) & 1 ? -magnitude : magnitude;
  };
  return std::abs(ordered(a) - ordered(b));
}

/// Runs `lines` (MLIR that defines %r of type `result` from %x and %y of type `operand`) on each
/// pair of values and returns the results' bits.
std::vector<uint64_t> run(const std::string &lines, const std::string &operand,
                          unsigned operandBits, const std::string &result, unsigned resultBits,
                          const std::vector<std::pair<uint64_t, uint64_t>> &values, unsigned lanes,
                          std::string &error) {
  auto shape = [&](const std::string &element) {
    return lanes > 1 ? llvm::formatv("vector<{0}x{1}>", lanes, element).str() : element;
  };
  auto replaced = lines;
  auto replaceAll = [&](const std::string &what, const std::string &by) {
    for (size_t at = 0; (at = replaced.find(what, at)) != std::string::npos; at += by.size())
      replaced.replace(at, what.size(), by);
  };
  replaceAll("$T", shape(operand));
  replaceAll("$R", shape(result));
  std::string load = lanes > 1 ? "vector.load" : "memref.load";
  std::string suffix = lanes > 1 ? ", " + shape(operand) : "";
  std::string store = lanes > 1 ? "vector.store" : "memref.store";
  std::string storeSuffix = lanes > 1 ? ", " + shape(result) : "";
  std::string text =
      llvm::formatv(R"(
#g = #gpu.address_space<global>
gpu.module @m attributes {{kernel.index_bits = 32 : i32} {{
  gpu.func @k(%a: memref<?x{0}, #g> {{llvm.noalias}, %b: memref<?x{0}, #g> {{llvm.noalias},
              %out: memref<?x{1}, #g>, %n: index) kernel
      attributes {{kernel.block = array<i32: {2}, 1, 1>} {{
    %t = gpu.thread_id x
    %block = gpu.block_id x
    %threads = arith.constant {2} : index
    %lanes = arith.constant {3} : index
    %first = arith.muli %block, %threads : index
    %thread = arith.addi %first, %t : index
    %i = arith.muli %thread, %lanes : index
    %in = arith.cmpi ult, %i, %n : index
    scf.if %in {{
      %x = {4} %a[%i] : memref<?x{0}, #g>{5}
      %y = {4} %b[%i] : memref<?x{0}, #g>{5}
      {6}
      {7} %r, %out[%i] : memref<?x{1}, #g>{8}
    }
    gpu.return
  }
})",
                    operand, result, kThreads, lanes, load, suffix, replaced, store, storeSuffix);
  SimKernels kernels(text, /*checked=*/false);
  error = kernels.error;
  if (!kernels.image)
    return {};
  size_t count = llvm::alignTo(values.size(), lanes);
  Buffer a(operandBits, count), b(operandBits, count), out(resultBits, count);
  for (size_t i = 0; i < values.size(); ++i) {
    a.set(i, values[i].first);
    b.set(i, values[i].second);
  }
  const char *ap = a.data.data(), *bp = b.data.data();
  char *outp = out.data.data();
  uint32_t n = count;
  unsigned blocks = llvm::divideCeil(count, kThreads * lanes);
  sim::LaunchResult launched = kernels.launch("k", blocks, kThreads, {&ap, &bp, &outp, &n});
  error = launched.error;
  std::vector<uint64_t> results;
  for (size_t i = 0; i < values.size(); ++i)
    results.push_back(out.get(i));
  return results;
}

/// Special values in all pairs, then random ones.
std::vector<std::pair<uint64_t, uint64_t>> floatValues(const FloatType &type) {
  std::vector<uint64_t> special;
  for (double value : {0.0, -0.0, 1.0, -1.0, 0.5, -0.5, 1.5, 2.5, -2.5, 3.0, 0.1, 100.25, 1e-3,
                       HUGE_VAL, -HUGE_VAL, std::nan("")})
    special.push_back(roundTo(type, value));
  special.push_back(APFloat::getLargest(type.semantics).bitcastToAPInt().getZExtValue());
  special.push_back(APFloat::getSmallest(type.semantics).bitcastToAPInt().getZExtValue());
  special.push_back(APFloat::getSmallestNormalized(type.semantics).bitcastToAPInt().getZExtValue());
  std::vector<std::pair<uint64_t, uint64_t>> values;
  for (uint64_t a : special)
    for (uint64_t b : special)
      values.push_back({a, b});
  std::mt19937_64 random(7);
  for (unsigned i = 0; i < 400; ++i)
    values.push_back({random() >> (64 - type.bits), random() >> (64 - type.bits)});
  std::normal_distribution<double> normal(0, 2);
  for (unsigned i = 0; i < 400; ++i)
    values.push_back({roundTo(type, normal(random)), roundTo(type, normal(random))});
  return values;
}

struct FloatOperation {
  const char *lines;
  std::function<double(double, double)> reference;
  unsigned ulps = 0; // of f32 and f64; one more than rounding for 16-bit types where not 0
};

double nanMax(double a, double b) { return std::isnan(a) || std::isnan(b) ? NAN : std::fmax(a, b); }
double nanMin(double a, double b) { return std::isnan(a) || std::isnan(b) ? NAN : std::fmin(a, b); }

const FloatOperation floatOperations[] = {
    {"%r = arith.addf %x, %y : $T", [](double a, double b) { return a + b; }},
    {"%r = arith.subf %x, %y : $T", [](double a, double b) { return a - b; }},
    {"%r = arith.mulf %x, %y : $T", [](double a, double b) { return a * b; }},
    {"%r = arith.divf %x, %y : $T", [](double a, double b) { return a / b; }},
    {"%r = arith.remf %x, %y : $T", [](double a, double b) { return std::fmod(a, b); }},
    {"%r = arith.maximumf %x, %y : $T", nanMax},
    {"%r = arith.minimumf %x, %y : $T", nanMin},
    {"%r = arith.maxnumf %x, %y : $T", [](double a, double b) { return std::fmax(a, b); }},
    {"%r = arith.minnumf %x, %y : $T", [](double a, double b) { return std::fmin(a, b); }},
    {"%r = arith.negf %x : $T", [](double a, double) { return -a; }},
    {"%r = math.absf %x : $T", [](double a, double) { return std::fabs(a); }},
    {"%r = math.copysign %x, %y : $T", [](double a, double b) { return std::copysign(a, b); }},
    {"%r = math.sqrt %x : $T", [](double a, double) { return std::sqrt(a); }},
    {"%r = math.floor %x : $T", [](double a, double) { return std::floor(a); }},
    {"%r = math.ceil %x : $T", [](double a, double) { return std::ceil(a); }},
    {"%r = math.trunc %x : $T", [](double a, double) { return std::trunc(a); }},
    {"%r = math.round %x : $T", [](double a, double) { return std::round(a); }},
    {"%r = math.roundeven %x : $T", [](double a, double) { return std::nearbyint(a); }},
    {"%r = math.fma %x, %y, %x : $T", [](double a, double b) { return std::fma(a, b, a); }, 1},
    {"%r = math.rsqrt %x : $T", [](double a, double) { return 1 / std::sqrt(a); }, 1},
    {"%r = math.exp %x : $T", [](double a, double) { return std::exp(a); }, 2},
    {"%r = math.exp2 %x : $T", [](double a, double) { return std::exp2(a); }, 2},
    {"%r = math.expm1 %x : $T", [](double a, double) { return std::expm1(a); }, 2},
    {"%r = math.log %x : $T", [](double a, double) { return std::log(a); }, 2},
    {"%r = math.log2 %x : $T", [](double a, double) { return std::log2(a); }, 2},
    {"%r = math.log10 %x : $T", [](double a, double) { return std::log10(a); }, 2},
    {"%r = math.log1p %x : $T", [](double a, double) { return std::log1p(a); }, 2},
    {"%r = math.sin %x : $T", [](double a, double) { return std::sin(a); }, 2},
    {"%r = math.cos %x : $T", [](double a, double) { return std::cos(a); }, 2},
    {"%r = math.tan %x : $T", [](double a, double) { return std::tan(a); }, 2},
    {"%r = math.asin %x : $T", [](double a, double) { return std::asin(a); }, 2},
    {"%r = math.acos %x : $T", [](double a, double) { return std::acos(a); }, 2},
    {"%r = math.atan %x : $T", [](double a, double) { return std::atan(a); }, 2},
    {"%r = math.sinh %x : $T", [](double a, double) { return std::sinh(a); }, 3},
    {"%r = math.cosh %x : $T", [](double a, double) { return std::cosh(a); }, 3},
    {"%r = math.tanh %x : $T", [](double a, double) { return std::tanh(a); }, 3},
    {"%r = math.asinh %x : $T", [](double a, double) { return std::asinh(a); }, 3},
    {"%r = math.acosh %x : $T", [](double a, double) { return std::acosh(a); }, 3},
    {"%r = math.atanh %x : $T", [](double a, double) { return std::atanh(a); }, 3},
    {"%r = math.erf %x : $T", [](double a, double) { return std::erf(a); }, 2},
    {"%r = math.cbrt %x : $T", [](double a, double) { return std::cbrt(a); }, 2},
    {"%r = math.powf %x, %y : $T", [](double a, double b) { return std::pow(a, b); }, 2},
    {"%r = math.atan2 %x, %y : $T", [](double a, double b) { return std::atan2(a, b); }, 2},
    {"%c = arith.cmpf olt, %x, %y : $T\n%r = arith.select %c, %y, %x : $C, $T",
     [](double a, double b) { return a < b ? b : a; }},
};

class FloatArithmetic : public testing::TestWithParam<std::tuple<unsigned, unsigned>> {};

TEST_P(FloatArithmetic, MatchesHost) {
  const FloatType &type = floatTypes[std::get<0>(GetParam())];
  unsigned lanes = std::get<1>(GetParam());
  auto values = floatValues(type);
  for (const FloatOperation &operation : floatOperations) {
    std::string lines = operation.lines;
    if (size_t at = lines.find("$C, "); at != std::string::npos)
      lines.replace(at, 4, lanes > 1 ? llvm::formatv("vector<{0}xi1>, ", lanes).str() : "");
    std::string error;
    auto results = run(lines, type.name, type.bits, type.name, type.bits, values, lanes, error);
    ASSERT_EQ(error, "") << lines;
    unsigned wrong = 0;
    for (size_t i = 0; i < values.size() && wrong < 3; ++i) {
      double a = toDouble(type, values[i].first), b = toDouble(type, values[i].second);
      uint64_t expected = roundTo(type, operation.reference(a, b));
      // f32 arithmetic may overflow on the way to a 16-bit result that f64 reaches: never here, as
      // one operation is one rounding.
      uint64_t off = distance(type, results[i], expected);
      if (off > operation.ulps) {
        ++wrong;
        ADD_FAILURE() << type.name << " " << lines << ": x = " << a << ", y = " << b << " gives "
                      << toDouble(type, results[i]) << ", expected " << toDouble(type, expected);
      }
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Types, FloatArithmetic,
                         testing::Combine(testing::Range(0u, 4u), testing::Values(1u, 4u)));

class FloatConversion : public testing::TestWithParam<unsigned> {};

TEST_P(FloatConversion, BetweenFloats) {
  unsigned lanes = GetParam();
  for (const FloatType &from : floatTypes)
    for (const FloatType &to : floatTypes) {
      if (from.bits == to.bits)
        continue;
      auto values = floatValues(from);
      if (from.bits == 64) // numbers near halves of f16: where two roundings differ from one
        for (unsigned i = 0; i < 64; ++i) {
          double middle = 1 + (2 * i + 1) * std::ldexp(1.0, -11);
          for (double shift : {-std::ldexp(1.0, -40), 0.0, std::ldexp(1.0, -40)})
            values.push_back({roundTo(from, middle + shift), 0});
        }
      const char *op = from.bits < to.bits ? "extf" : "truncf";
      std::string error;
      auto results = run(llvm::formatv("%r = arith.{0} %x : $T to $R", op), from.name, from.bits,
                         to.name, to.bits, values, lanes, error);
      ASSERT_EQ(error, "");
      for (size_t i = 0; i < values.size(); ++i) {
        double value = toDouble(from, values[i].first);
        // f64 to bf16 goes through f32, as nothing converts in one step.
        if (from.bits == 64 && std::strcmp(to.name, "bf16") == 0)
          value = static_cast<float>(value);
        EXPECT_EQ(distance(to, results[i], roundTo(to, value)), 0u)
            << from.name << " to " << to.name << ": " << value;
      }
    }
}

TEST_P(FloatConversion, ToIntegersSaturates) {
  unsigned lanes = GetParam();
  for (const FloatType &from : floatTypes)
    for (unsigned bits : {8u, 16u, 32u, 64u})
      for (bool isSigned : {false, true}) {
        auto values = floatValues(from);
        std::string error;
        auto results =
            run(llvm::formatv("%r = arith.{0} %x : $T to $R", isSigned ? "fptosi" : "fptoui"),
                from.name, from.bits, llvm::formatv("i{0}", bits), bits, values, lanes, error);
        ASSERT_EQ(error, "");
        for (size_t i = 0; i < values.size(); ++i) {
          // 8-bit results are cut from 16-bit ones, as PTX converts.
          APFloat number(from.semantics, APInt(from.bits, values[i].first));
          llvm::APSInt integer(std::max(bits, 16u), !isSigned);
          bool exact;
          number.convertToInteger(integer, APFloat::rmTowardZero, &exact);
          EXPECT_EQ(results[i], integer.trunc(bits).getZExtValue())
              << from.name << " to i" << bits << ": " << toDouble(from, values[i].first);
        }
      }
}

TEST_P(FloatConversion, FromIntegers) {
  unsigned lanes = GetParam();
  std::mt19937_64 random(3);
  for (const FloatType &to : floatTypes)
    for (unsigned bits : {8u, 16u, 32u, 64u})
      for (bool isSigned : {false, true}) {
        std::vector<std::pair<uint64_t, uint64_t>> values;
        for (uint64_t value :
             {0ull, 1ull, ~0ull >> (64 - bits), 1ull << (bits - 1), 2049ull, 65519ull, 65520ull})
          values.push_back({value & (~0ull >> (64 - bits)), 0});
        for (unsigned i = 0; i < 500; ++i)
          values.push_back({random() >> (64 - bits) >> (random() % bits), 0});
        std::string error;
        auto results =
            run(llvm::formatv("%r = arith.{0} %x : $T to $R", isSigned ? "sitofp" : "uitofp"),
                llvm::formatv("i{0}", bits), bits, to.name, to.bits, values, lanes, error);
        ASSERT_EQ(error, "");
        for (size_t i = 0; i < values.size(); ++i) {
          APInt integer(bits, values[i].first);
          APFloat number(to.bits == 64 ? APFloat::IEEEdouble() : APFloat::IEEEsingle());
          number.convertFromAPInt(integer, isSigned, APFloat::rmNearestTiesToEven);
          bool inexact; // 16-bit types through f32
          number.convert(to.semantics, APFloat::rmNearestTiesToEven, &inexact);
          EXPECT_EQ(results[i], number.bitcastToAPInt().getZExtValue())
              << "i" << bits << " to " << to.name << ": " << values[i].first;
        }
      }
}

INSTANTIATE_TEST_SUITE_P(Lanes, FloatConversion, testing::Values(1u, 4u));

struct IntegerOperation {
  const char *lines;
  std::function<APInt(APInt, APInt)> reference;
};

APInt ones(const APInt &like) { return APInt::getAllOnes(like.getBitWidth()); }

// Division by zero gives what the GPU gives.
const IntegerOperation integerOperations[] = {
    {"%r = arith.addi %x, %y : $T", [](APInt a, APInt b) { return a + b; }},
    {"%r = arith.subi %x, %y : $T", [](APInt a, APInt b) { return a - b; }},
    {"%r = arith.muli %x, %y : $T", [](APInt a, APInt b) { return a * b; }},
    {"%r = arith.divsi %x, %y : $T",
     [](APInt a, APInt b) { return b.isZero() ? ones(a) : a.sdiv(b); }},
    {"%r = arith.divui %x, %y : $T",
     [](APInt a, APInt b) { return b.isZero() ? ones(a) : a.udiv(b); }},
    {"%r = arith.remsi %x, %y : $T", [](APInt a, APInt b) { return b.isZero() ? a : a.srem(b); }},
    {"%r = arith.remui %x, %y : $T", [](APInt a, APInt b) { return b.isZero() ? a : a.urem(b); }},
    {"%r = arith.andi %x, %y : $T", [](APInt a, APInt b) { return a & b; }},
    {"%r = arith.ori %x, %y : $T", [](APInt a, APInt b) { return a | b; }},
    {"%r = arith.xori %x, %y : $T", [](APInt a, APInt b) { return a ^ b; }},
    {"%r = arith.maxsi %x, %y : $T", [](APInt a, APInt b) { return a.sgt(b) ? a : b; }},
    {"%r = arith.minsi %x, %y : $T", [](APInt a, APInt b) { return a.slt(b) ? a : b; }},
    {"%r = arith.maxui %x, %y : $T", [](APInt a, APInt b) { return a.ugt(b) ? a : b; }},
    {"%r = arith.minui %x, %y : $T", [](APInt a, APInt b) { return a.ult(b) ? a : b; }},
    {"%r = math.absi %x : $T", [](APInt a, APInt) { return a.abs(); }},
    {"%r = math.ctpop %x : $T",
     [](APInt a, APInt) { return APInt(a.getBitWidth(), a.popcount()); }},
    {"%r = math.ctlz %x : $T",
     [](APInt a, APInt) { return APInt(a.getBitWidth(), a.countl_zero()); }},
    {"%r = math.cttz %x : $T",
     [](APInt a, APInt) { return APInt(a.getBitWidth(), a.countr_zero()); }},
};

class IntegerArithmetic : public testing::TestWithParam<std::tuple<unsigned, unsigned>> {};

TEST_P(IntegerArithmetic, MatchesHost) {
  auto [bits, lanes] = GetParam();
  uint64_t mask = ~0ull >> (64 - bits);
  std::vector<std::pair<uint64_t, uint64_t>> values;
  uint64_t special[] = {0, 1, 2, 7, mask, mask - 1, mask >> 1, (mask >> 1) + 1};
  for (uint64_t a : special)
    for (uint64_t b : special)
      values.push_back({a, b});
  std::mt19937_64 random(5);
  for (unsigned i = 0; i < 500; ++i)
    values.push_back({random() & mask, (random() & mask) >> (random() % bits)});
  std::string type = llvm::formatv("i{0}", bits);
  for (const IntegerOperation &operation : integerOperations) {
    std::string error;
    auto results = run(operation.lines, type, bits, type, bits, values, lanes, error);
    ASSERT_EQ(error, "") << operation.lines;
    for (size_t i = 0; i < values.size(); ++i)
      EXPECT_EQ(results[i],
                operation.reference(APInt(bits, values[i].first), APInt(bits, values[i].second))
                    .getZExtValue())
          << type << " " << operation.lines << ": " << values[i].first << ", " << values[i].second;
  }
}

INSTANTIATE_TEST_SUITE_P(Types, IntegerArithmetic,
                         testing::Combine(testing::Values(8u, 16u, 32u, 64u),
                                          testing::Values(1u, 4u)));

TEST(Booleans, AreBytes) {
  std::vector<std::pair<uint64_t, uint64_t>> values = {{0, 0}, {0, 1}, {1, 0}, {1, 1}, {255, 2}};
  for (unsigned lanes : {1u, 4u}) {
    std::string error;
    auto results = run("%r = arith.andi %x, %y : $T", "i1", 1, "i1", 1, values, lanes, error);
    ASSERT_EQ(error, "");
    EXPECT_EQ(results, (std::vector<uint64_t>{0, 0, 0, 1, 1}));
  }
}

} // namespace
