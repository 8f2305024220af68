// Conversions of registers (PTX ISA, "Data Movement and Conversion Instructions"): cvt to tf32,
// prmt.
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
            const std::function<std::string(const uint64_t *, uint32_t)> &wrong) {
  Case made;
  made.name = name;
  made.instruction = instruction;
  made.blocks = kBlocks;
  made.threads = kThreads;
  made.kernel = registerKernel(name, instruction, std::vector<std::string>(operands, type), {"i32"},
                               kThreads);
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
  double x = decodeF32(uint32_t(given[0])), got = decodeF32(bits & ~0x1fffu);
  double wanted = roundedToTf32(x);
  if (std::fabs(wanted) > 0x1.ffcp127) // the largest of tf32
    wanted = std::copysign(INFINITY, wanted);
  return agree(got, wanted, 0) ? std::string() : format("of %.9g: %.9g, not %.9g", x, got, wanted);
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
}

} // namespace instructions
