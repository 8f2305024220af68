// Conversions of registers (PTX ISA, "Data Movement and Conversion Instructions"): cvt to tf32
// and between pairs of floats, prmt.
//
// SPDX-License-Identifier: Apache-2.0
#include "test/instructions/Case.h"

#include <cmath>

namespace instructions {
namespace {

constexpr unsigned kThreads = 128, kBlocks = 16, kRecords = kThreads * kBlocks;

/// Fills the input by `draw`, and compares each record's result with what `wanted` says of it.
Case caseOf(const std::string &name, const std::string &instruction, unsigned operands,
            const std::string &type, const std::function<uint64_t(Random &, unsigned)> &draw,
            const std::function<std::string(const uint64_t *, uint32_t)> &wrong,
            const std::string &result = "i32") {
  Case made;
  made.name = name;
  made.instruction = instruction;
  made.blocks = kBlocks;
  made.threads = kThreads;
  made.kernel = registerKernel(name, instruction, std::vector<std::string>(operands, type),
                               {result}, kThreads);
  Bytes in(kRecords * operands * kSlot), out(kRecords * kSlot);
  Random random(11);
  for (unsigned record = 0; record < kRecords; ++record)
    for (unsigned index = 0; index < operands; ++index)
      setSlot(in, record, operands, index, draw(random, index));
  made.buffers = {in, out};
  made.check = [=](const std::vector<Bytes> &after) -> std::string {
    for (unsigned record = 0; record < kRecords; ++record) {
      uint64_t given[3] = {};
      for (unsigned index = 0; index < operands; ++index)
        given[index] = slot(in, record, operands, index);
      if (std::string what = wrong(given, uint32_t(slot(after[1], record, 1, 0))); !what.empty())
        return what;
    }
    return {};
  };
  return made;
}

/// 10 bits behind the leading one, to nearest, ties away from zero: by scaling, not by bits.
double roundedToTf32(double x) {
  if (x == 0 || !std::isfinite(x))
    return x;
  int exponent = std::max(std::ilogb(x), -126) - 10;
  return std::ldexp(std::round(std::ldexp(x, -exponent)), exponent);
}

std::string tf32IsWrong(const uint64_t *given, uint32_t bits) {
  uint32_t from = uint32_t(given[0]);
  double x = decodeF32(from), got = decodeF32(bits & ~0x1fffu);
  double wanted = roundedToTf32(x);
  if (std::fabs(wanted) > 0x1.ffcp127) // the largest of tf32
    wanted = std::copysign(INFINITY, wanted);
  // Of a NaN whose payload is in the 13 bits that tf32 does not have nothing need be left: an H200
  // (driver 580) makes an infinity of 0x7f800a55.
  bool losesPayload = std::isnan(x) && !(from & 0x007fe000u);
  if (agree(got, wanted, 0) || (losesPayload && std::isinf(got) && bits >> 31 == from >> 31))
    return {};
  return format("of %#x (%.9g): %#x (%.9g), not %.9g", from, x, bits, got, wanted);
}

std::string permutationIsWrong(const uint64_t *given, uint32_t got) {
  for (unsigned i = 0; i < 4; ++i) {
    unsigned which = unsigned(given[2] >> 4 * i) & 15;
    uint32_t word = uint32_t(given[which & 4 ? 1 : 0]);
    uint8_t byte = uint8_t(word >> 8 * (which & 3));
    uint8_t wanted = which & 8 ? (byte >= 128 ? 255 : 0) : byte;
    if (uint8_t(got >> 8 * i) != wanted)
      return format("byte %u of %#llx, %#llx by %#llx: %#x, not %#x", i,
                    (unsigned long long)given[0], (unsigned long long)given[1],
                    (unsigned long long)given[2], got >> 8 * i & 255, wanted);
  }
  return {};
}

//===-- Pairs of 8-bit floats -----------------------------------------------------------------===//

struct Float8 {
  const char *name;
  double (*decode)(uint32_t);
  uint32_t most; // the code of the greatest number
};

double decodeE5m2Byte(uint32_t bits) { return decodeFloat(bits & 0xff, 5, 2); }
double decodeE4m3Byte(uint32_t bits) { return decodeE4m3(bits); }

constexpr Float8 kFloats8[] = {{"e4m3", decodeE4m3Byte, 0x7e}, {"e5m2", decodeE5m2Byte, 0x7b}};

/// By search: the code whose number is the nearest, of two the even one; what is greater than all
/// is the greatest, NaN is 0x7f.
uint32_t nearestF8(const Float8 &type, double x) {
  if (std::isnan(x))
    return 0x7f;
  uint32_t best = 0;
  for (uint32_t code = 1; code <= type.most; ++code) {
    double gain =
        std::fabs(type.decode(best) - std::fabs(x)) - std::fabs(type.decode(code) - std::fabs(x));
    if (gain > 0 || (gain == 0 && code % 2 == 0))
      best = code;
  }
  if (std::fabs(x) > type.decode(type.most))
    best = type.most;
  return best | (std::signbit(x) ? 0x80 : 0);
}

std::string pairIsWrong(const Float8 &type, double upper, double lower, uint32_t got) {
  uint32_t wanted = nearestF8(type, upper) << 8 | nearestF8(type, lower);
  return got == wanted ? std::string()
                       : format("of %.9g and %.9g: %#x, not %#x", upper, lower, got, wanted);
}

std::string halvesAreWrong(const Float8 &type, uint32_t pair, uint32_t got) {
  for (unsigned i = 0; i < 2; ++i) {
    double wanted = type.decode(pair >> 8 * i & 0xff), half = decodeF16(got >> 16 * i);
    bool same = std::isnan(wanted) ? std::isnan(half)
                                   : half == wanted && std::signbit(half) == std::signbit(wanted);
    if (!same)
      return format("of byte %#x: %.9g, not %.9g", pair >> 8 * i & 0xff, half, wanted);
  }
  return {};
}

void addFloat8Cases(std::vector<Case> &cases) {
  for (const Float8 &type : kFloats8) {
    // Numbers, ties between two, and what is beyond all, each a little more or less.
    auto drawFloat = [&type](Random &random, unsigned) -> uint64_t {
      uint32_t bits = uint32_t(random.bits());
      if (random.below(8) == 0)
        return bits;
      uint32_t code = uint32_t(random.below(type.most + 1));
      double number = type.decode(code), next = type.decode(code + 1);
      if (!std::isfinite(next))
        next = number * 1.5;
      double value = random.below(2) ? number : (number + next) / 2;
      uint32_t encoded = encodeF32(random.below(2) ? value : -value);
      return encoded + uint32_t(random.below(3)) - (encoded & 0x7fffffff ? 1 : 0);
    };
    auto drawHalves = [](Random &random, unsigned) { return uint64_t(uint32_t(random.bits())); };
    auto drawPair = [](Random &random, unsigned) { return uint64_t(random.below(1 << 16)); };
    std::string name = type.name;
    std::string single = "cvt.rn.satfinite." + name + "x2.f32";
    cases.push_back(caseOf(
        "cvt_" + name + "x2_f32", single, 2, "f32", drawFloat,
        [&type](const uint64_t *given, uint32_t got) {
          return pairIsWrong(type, decodeF32(uint32_t(given[0])), decodeF32(uint32_t(given[1])),
                             got);
        },
        "i16"));
    cases.back().since = 89;
    std::string half = "cvt.rn.satfinite." + name + "x2.f16x2";
    cases.push_back(caseOf(
        "cvt_" + name + "x2_f16x2", half, 1, "i32", drawHalves,
        [&type](const uint64_t *given, uint32_t got) {
          return pairIsWrong(type, decodeF16(uint32_t(given[0]) >> 16),
                             decodeF16(uint32_t(given[0])), got);
        },
        "i16"));
    cases.back().since = 89;
    cases.push_back(caseOf("cvt_f16x2_" + name + "x2", "cvt.rn.f16x2." + name + "x2", 1, "i16",
                           drawPair, [&type](const uint64_t *given, uint32_t got) {
                             return halvesAreWrong(type, uint32_t(given[0]), got);
                           }));
    cases.back().since = 89;
  }
}

} // namespace

void addConvertCases(std::vector<Case> &cases) {
  auto drawFloat = [](Random &random, unsigned) -> uint64_t {
    uint32_t bits = uint32_t(random.bits());
    switch (random.below(8)) {
    case 0: // ties
      return (bits & ~0x1fffu) | 0x1000;
    case 1: // infinities and NaN
      return bits | 0x7f800000u;
    case 2: // subnormal numbers
      return bits & 0x807fffffu;
    case 3: // the largest ones
      return (bits & 0x80001fffu) | 0x7f7fe000u;
    case 4: // NaN with nothing in the bits that tf32 has
      return (bits & 0x80001fffu) | 0x7f800000u;
    default:
      return bits;
    }
  };
  cases.push_back(caseOf("cvt_rna_tf32_f32", "cvt.rna.tf32.f32", 1, "f32", drawFloat, tf32IsWrong));
  cases.back().since = 80;
  auto drawWord = [](Random &random, unsigned index) -> uint64_t {
    return index < 2 ? uint32_t(random.bits()) : random.below(1 << 16);
  };
  cases.push_back(caseOf("prmt_b32", "prmt.b32", 3, "i32", drawWord, permutationIsWrong));
  addFloat8Cases(cases);
}

} // namespace instructions
