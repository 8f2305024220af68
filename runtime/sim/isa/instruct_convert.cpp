// Conversions of registers (PTX ISA, "Data Movement and Conversion Instructions": cvt to tf32 and
// between pairs of floats, prmt).
//
// SPDX-License-Identifier: Apache-2.0
#include "runtime/sim/isa/formats.h"
#include "runtime/sim/isa/instruct.h"

namespace cameo::sim {
namespace {

/// To 10 bits behind the leading one, to nearest, ties away from zero; the 13 bits that do not
/// count are zero. Infinity stays; NaN is PTX's, but for one whose payload is in those 13 bits: an
/// H200 (driver 580) makes an infinity of 0x7f800a55, as rounding its bits does.
uint32_t roundToTf32(uint32_t bits) {
  bool isNan = (bits & 0x7fffffffu) > 0x7f800000u, hasTf32Payload = bits & 0x007fe000u;
  return isNan && hasTf32Payload ? 0x7fffffffu : (bits + 0x1000u) & ~0x1fffu;
}

/// Each byte of the result is the one of eight that four bits of `selector` name; with the fourth
/// bit set, its sign.
uint32_t permute(uint32_t low, uint32_t high, uint32_t selector) {
  uint64_t bytes = low | uint64_t(high) << 32;
  uint32_t result = 0;
  for (uint32_t i = 0; i < 4; ++i) {
    uint32_t which = selector >> 4 * i;
    uint32_t byte = uint32_t(bytes >> 8 * (which & 7)) & 0xff;
    if (which & 8)
      byte = byte & 0x80 ? 0xff : 0;
    result |= byte << 8 * i;
  }
  return result;
}

/// The first is the upper half.
uint32_t pairOfF8(uint32_t type, float upper, float lower) {
  if (type == CAMEO_SIM_E4M3)
    return uint32_t(floatToE4m3(upper)) << 8 | floatToE4m3(lower);
  return uint32_t(floatToE5m2(upper)) << 8 | floatToE5m2(lower);
}

uint32_t pairOfF16(uint32_t type, uint32_t pair) {
  auto half = [&](uint32_t byte) -> uint32_t {
    return floatToF16(type == CAMEO_SIM_E4M3 ? e4m3ToFloat(uint8_t(byte))
                                             : e5m2ToFloat(uint8_t(byte)));
  };
  return half(pair >> 8) << 16 | half(pair);
}

} // namespace

void executeConvert(Instruction instruction, Fiber &, uint32_t *words, uint32_t) {
  switch (instruction.opcode()) {
  case CAMEO_SIM_OP_PERMUTE:
    words[3] = permute(words[0], words[1], words[2]);
    return;
  case CAMEO_SIM_OP_TO_F8:
    if (instruction.modifier(1) == CAMEO_SIM_F32)
      words[2] = pairOfF8(instruction.modifier(0), floatOf(words[0]), floatOf(words[1]));
    else
      words[1] = pairOfF8(instruction.modifier(0), f16ToFloat(uint16_t(words[0] >> 16)),
                          f16ToFloat(uint16_t(words[0])));
    return;
  case CAMEO_SIM_OP_FROM_F8:
    words[1] = pairOfF16(instruction.modifier(0), words[0]);
    return;
  default:
    words[1] = roundToTf32(words[0]);
  }
}

} // namespace cameo::sim
