// atom and red (PTX ISA, "Parallel Synchronization and Communication Instructions").
//
// SPDX-License-Identifier: Apache-2.0
#include "runtime/sim/exec/worker.h"
#include "runtime/sim/isa/formats.h"
#include "runtime/sim/isa/instruct.h"

#include <algorithm>

namespace cameo::sim {
namespace {

/// Subnormal numbers as zeros of their sign.
float flush(float value) {
  uint32_t bits = bitsOf(value);
  return bits & 0x7f800000u ? value : floatOf(bits & 0x80000000u);
}

uint16_t addHalves(uint16_t a, uint16_t b, bool bf16) {
  // In f32 and then to 16 bits is one rounding in effect: 24 bits are at least twice 11 and two.
  return bf16 ? floatToBf16(bf16ToFloat(a) + bf16ToFloat(b))
              : floatToF16(f16ToFloat(a) + f16ToFloat(b));
}

template <typename T> T addFloats(Instruction instruction, T old, T value) {
  bool shared = instruction.modifier(3);
  switch (instruction.modifier(1)) {
  case CAMEO_SIM_F32: {
    // "atom.add.f32 on global memory flushes subnormal inputs and results".
    float a = floatOf(uint32_t(old)), b = floatOf(uint32_t(value));
    return T(bitsOf(shared ? a + b : flush(flush(a) + flush(b))));
  }
  case CAMEO_SIM_F64: {
    double a, b;
    uint64_t bits = uint64_t(old), other = uint64_t(value);
    memcpy(&a, &bits, 8);
    memcpy(&b, &other, 8);
    a += b;
    memcpy(&bits, &a, 8);
    return T(bits);
  }
  case CAMEO_SIM_F16X2:
  case CAMEO_SIM_BF16X2: {
    bool bf16 = instruction.modifier(1) == CAMEO_SIM_BF16X2;
    return T(
        addHalves(uint16_t(old), uint16_t(value), bf16) |
        uint32_t(addHalves(uint16_t(uint32_t(old) >> 16), uint16_t(uint32_t(value) >> 16), bf16))
            << 16);
  }
  case CAMEO_SIM_F16:
  case CAMEO_SIM_BF16:
    return T(addHalves(uint16_t(old), uint16_t(value), instruction.modifier(1) == CAMEO_SIM_BF16));
  default:
    return T(old + value);
  }
}

template <typename T, typename Signed>
T apply(Instruction instruction, T old, T value, T replacement) {
  bool isSigned =
      instruction.modifier(1) == CAMEO_SIM_S32 || instruction.modifier(1) == CAMEO_SIM_S64;
  switch (instruction.modifier(0)) {
  case CAMEO_SIM_ADD:
    return addFloats(instruction, old, value);
  case CAMEO_SIM_MIN:
    return isSigned ? T(std::min(Signed(old), Signed(value))) : std::min(old, value);
  case CAMEO_SIM_MAX:
    return isSigned ? T(std::max(Signed(old), Signed(value))) : std::max(old, value);
  case CAMEO_SIM_AND:
    return old & value;
  case CAMEO_SIM_OR:
    return old | value;
  case CAMEO_SIM_XOR:
    return old ^ value;
  case CAMEO_SIM_EXCH:
    return value;
  case CAMEO_SIM_CAS:
    return old == value ? replacement : old;
  case CAMEO_SIM_INC:
    return old >= value ? T(0) : T(old + 1);
  default: // dec
    return old == 0 || old > value ? value : T(old - 1);
  }
}

/// Blocks run in parallel: as on the GPU, a change is all or nothing.
template <typename T, typename Signed>
void update(Instruction instruction, Fiber &fiber, uint32_t *words, uint32_t site) {
  constexpr unsigned wide = sizeof(T) == 8 ? 2 : 1;
  bool compares = instruction.modifier(0) == CAMEO_SIM_CAS;
  auto read = [&](unsigned index) {
    return sizeof(T) == 8 ? T(readWide(words + 2 + 2 * index)) : T(words[2 + index]);
  };
  T value = read(0), replacement = compares ? read(1) : T(0);
  char *address = readAddress(words);
  if (reinterpret_cast<uintptr_t>(address) % sizeof(T))
    return reportBadOperand(fiber, site, "the address of an atomic operation is not aligned");
  uint32_t space = instruction.modifier(3);
  T *place = reinterpret_cast<T *>(
      space == CAMEO_SIM_SHARED_CLUSTER
          ? checkClusterAccess(fiber, address, sizeof(T), sizeof(T), CAMEO_SIM_ATOMIC, site)
          : checkAccess(&fiber.thread, address, sizeof(T), sizeof(T),
                        space == CAMEO_SIM_SHARED ? 3 : 1, CAMEO_SIM_ATOMIC, site));
  T old = __atomic_load_n(place, __ATOMIC_RELAXED);
  while (!__atomic_compare_exchange_n(place, &old,
                                      apply<T, Signed>(instruction, old, value, replacement),
                                      /*weak=*/true, __ATOMIC_ACQ_REL, __ATOMIC_RELAXED)) {
  }
  if (!instruction.modifier(2))
    return;
  uint32_t *result = words + 2 + wide * (compares ? 2 : 1);
  if (sizeof(T) == 8)
    writeWide(result, uint64_t(old));
  else
    result[0] = uint32_t(old);
}

} // namespace

void executeAtom(Instruction instruction, Fiber &fiber, uint32_t *words, uint32_t site) {
  switch (instruction.modifier(1)) {
  case CAMEO_SIM_S64:
  case CAMEO_SIM_U64:
  case CAMEO_SIM_F64:
    return update<uint64_t, int64_t>(instruction, fiber, words, site);
  case CAMEO_SIM_F16:
  case CAMEO_SIM_BF16:
    return update<uint16_t, int16_t>(instruction, fiber, words, site);
  default:
    return update<uint32_t, int32_t>(instruction, fiber, words, site);
  }
}

} // namespace cameo::sim
