// Instructions that the engine executes for kernels, by family: one file each, instruct_*.cpp. They
// are written from the PTX ISA, "Instruction Set"; each names its section.
//
// SPDX-License-Identifier: Apache-2.0
#ifndef CAMEO_SIM_INSTRUCT_H
#define CAMEO_SIM_INSTRUCT_H

#include "runtime/sim/abi.h"
#include "runtime/sim/instructions.h"

#include <cstddef>
#include <cstdint>
#include <vector>

namespace cameo::sim {

struct ClockRow;
struct Fiber;
struct Warp;

/// A code taken apart.
struct Instruction {
  uint64_t code;
  CameoSimOpcode opcode() const { return CameoSimOpcode(code & 0xff); }
  uint32_t modifier(unsigned index) const { return uint32_t(code >> 8 * (index + 1)) & 0xff; }
};

inline uint64_t readWide(const uint32_t *words) { return words[0] | uint64_t(words[1]) << 32; }
inline void writeWide(uint32_t *words, uint64_t value) {
  words[0] = uint32_t(value);
  words[1] = uint32_t(value >> 32);
}
inline char *readAddress(const uint32_t *words) {
  return reinterpret_cast<char *>(readWide(words));
}

inline Instruction instructionOf(const CameoSimStep &step) {
  return {step.code_low | uint64_t(step.code_high) << 32};
}

/// Operands of a whole warp: word i of lane l is lane[l][i].
using LaneWords = uint32_t *const *;

/// Those of matrices, as rows: word i of lane l is rows[i][l].
struct Rows {
  uint32_t *base;
  const uint32_t *places = nullptr; // of each row, in rows from the base; null: one after another
  uint32_t *operator[](uint32_t i) const { return base + size_t(32) * (places ? places[i] : i); }
};

// Collectives. `lanes` take part; for those without a member mask the whole warp does.
/// Words a lane, operands and results.
uint32_t mmaWords(Instruction instruction);
/// Operands of the instructions that follow on each other until this is called are as they were.
void forgetMmaOperands();
void executeMma(Instruction instruction, Warp &warp, Rows rows, uint32_t site);
void executeMatrixLoad(Instruction instruction, Warp &warp, Rows rows, uint32_t site);
void executeMatrixStore(Instruction instruction, Warp &warp, Rows rows, uint32_t site);
uint32_t wgmmaWords(Instruction instruction);
void executeWgmma(Instruction instruction, Warp &warp, Rows rows, uint32_t site);
void executeRedux(Instruction instruction, LaneWords lane, uint32_t lanes);
void executeVote(Instruction instruction, LaneWords lane, uint32_t lanes);
void executeMatch(Instruction instruction, LaneWords lane, uint32_t lanes);
void executeElect(Instruction instruction, LaneWords lane, uint32_t lanes);

// One thread's.
void executeAtom(Instruction instruction, Fiber &fiber, uint32_t *words, uint32_t site);
void executeApprox(Instruction instruction, Fiber &fiber, uint32_t *words, uint32_t site);
void executeConvert(Instruction instruction, Fiber &fiber, uint32_t *words, uint32_t site);
void executeCopy(Instruction instruction, Fiber &fiber, uint32_t *words, uint32_t site);
void executeBulk(Instruction instruction, Fiber &fiber, uint32_t *words, uint32_t site);
void executeCluster(Instruction instruction, Fiber &fiber, uint32_t *words, uint32_t site);
void executeMbarrier(Instruction instruction, Fiber &fiber, uint32_t *words, uint32_t site);
/// Whether the phase that mbarrier.try_wait or test_wait asks about is over.
bool mbarrierPhaseIsOver(Instruction instruction, Fiber &fiber, const uint32_t *words,
                         uint32_t site);
/// An arrival of cp.async.mbarrier.arrive; `increment`: the phase expects one more because of it.
/// `operations` (AsyncOperations): those who see the phase end know that they are done.
void arriveAtMbarrier(Fiber &fiber, char *address, bool increment, uint32_t site,
                      const std::vector<uint32_t> &operations);
/// A copy of so many bytes is complete. `operation` (AsyncOperations; the mbarrier holds it from
/// now on): those who see the phase end know that it is done, and what was before its issue.
void completeTransaction(Fiber &issuer, char *barrier, uint32_t bytes, uint32_t site,
                         const ClockRow &issued, uint32_t operation);
/// fence.mbarrier_init, and what fence.proxy.async does of it.
void fenceMbarrierInit(Fiber &fiber);
/// A load that uses the mbarrier, through the asynchronous proxy, must see it initialised.
void checkMbarrierInit(Fiber &issuer, char *barrier, uint32_t site);
/// bar.arrive.
void arriveAtBarrier(Fiber &fiber, uint32_t id, uint32_t count, uint32_t site);

/// Notes that an operand of `fiber`'s instruction is impossible; the instruction is left out.
void reportBadOperand(Fiber &fiber, uint32_t site, const char *what);

} // namespace cameo::sim

#endif
