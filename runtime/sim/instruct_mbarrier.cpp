// mbarrier objects (PTX ISA, "Parallel Synchronization and Communication Instructions: mbarrier").
//
// The object is the 64 bits that the program sees in shared memory: pending arrivals (20 bits),
// arrivals a phase (20), pending transactions in bytes (21, signed), the parity of the phase (1), a
// bit that says that it is one. The state that an arrival returns is the object as it was.
//
// SPDX-License-Identifier: Apache-2.0
#include "runtime/sim/block.h"
#include "runtime/sim/instruct.h"

namespace cameo::sim {
namespace {

constexpr int32_t kMaxCount = (1 << 20) - 1; // PTX ISA: of arrivals and of transactions

struct State {
  uint32_t pending, expected;
  int32_t transactions;
  bool parity;

  static bool isValid(uint64_t bits) { return bits >> 62 == 1; }
  static State read(uint64_t bits) {
    return {uint32_t(bits & 0xfffff), uint32_t(bits >> 20 & 0xfffff),
            int32_t(int64_t(bits << 3) >> 43), bool(bits >> 61 & 1)};
  }
  uint64_t write() const {
    return pending | uint64_t(expected) << 20 |
           (uint64_t(uint32_t(transactions)) & 0x1fffff) << 40 | uint64_t(parity) << 61 |
           1ull << 62;
  }
};

/// The object at `address`, or null with a report; `remote`: it may be another block's.
uint64_t *find(Fiber &fiber, char *address, uint32_t site, bool create, bool remote = false) {
  const Block *owner = fiber.block->worker->blockOf(address);
  if (!owner || (owner != fiber.block && !remote) || reinterpret_cast<uintptr_t>(address) % 8) {
    reportBadOperand(fiber, site,
                     remote ? "an mbarrier is 8 aligned bytes of the cluster's shared memory"
                            : "an mbarrier is 8 aligned bytes of shared memory");
    return nullptr;
  }
  if (owner != fiber.block && !mayReach(fiber, *owner, CAMEO_SIM_ATOMIC, site))
    return nullptr;
  auto *object = reinterpret_cast<uint64_t *>(address);
  if (!create && !State::isValid(*object)) {
    reportBadOperand(fiber, site, "the mbarrier is not initialised");
    return nullptr;
  }
  return object;
}

/// Whether the instruction can name an object of another block.
bool isRemote(Instruction instruction) {
  switch (instruction.opcode()) {
  case CAMEO_SIM_OP_MBAR_ARRIVE:
    return instruction.modifier(3) == CAMEO_SIM_SHARED_CLUSTER;
  case CAMEO_SIM_OP_MBAR_EXPECT_TX:
    return instruction.modifier(2) == CAMEO_SIM_SHARED_CLUSTER;
  case CAMEO_SIM_OP_MBAR_COMPLETE_TX:
    return instruction.modifier(0) == CAMEO_SIM_SHARED_CLUSTER;
  default:
    return false;
  }
}

/// Stores what has become of the object; a phase that is complete ends.
void settle(Fiber &fiber, uint64_t *object, State state) {
  bool over = !state.pending && !state.transactions;
  if (over) {
    state.parity = !state.parity;
    state.pending = state.expected;
  }
  *object = state.write();
  if (over)
    wakeMbarrierWaiters(*fiber.block->worker);
}

void arrive(Fiber &fiber, uint64_t *object, State state, uint32_t count, bool drop, uint32_t site) {
  if (!count || count > state.pending)
    return reportBadOperand(fiber, site, "more arrivals at an mbarrier than it expects");
  if (Clocks *clocks = fiber.block->clocks)
    clocks->release(
        fiber.warp->clock,
        fiber.block->worker->mbarrierClock(reinterpret_cast<char *>(object)).known.data());
  state.pending -= count;
  if (drop)
    state.expected -= count;
  settle(fiber, object, state);
}

} // namespace

void arriveAtMbarrier(Fiber &fiber, char *address, bool increment, uint32_t site) {
  uint64_t *object = find(fiber, address, site, false);
  if (!object || increment) // one more expected arrival, and that arrival: nothing changes
    return;
  arrive(fiber, object, State::read(*object), 1, false, site);
}

void completeTransaction(Fiber &issuer, char *barrier, uint32_t bytes, uint32_t site) {
  uint64_t *object = find(issuer, barrier, site, false, /*remote=*/true);
  if (!object)
    return;
  if (Clocks *clocks = issuer.block->clocks)
    clocks->release(issuer.warp->clock, issuer.block->worker->mbarrierClock(barrier).known.data());
  State state = State::read(*object);
  state.transactions -= int32_t(bytes);
  settle(issuer, object, state);
}

void executeMbarrier(Instruction instruction, Fiber &fiber, uint32_t *words, uint32_t site) {
  bool create = instruction.opcode() == CAMEO_SIM_OP_MBAR_INIT;
  uint64_t *object = find(fiber, readAddress(words), site, create, isRemote(instruction));
  if (!object)
    return;
  State state = create ? State() : State::read(*object);
  uint64_t before = *object;
  switch (instruction.opcode()) {
  case CAMEO_SIM_OP_MBAR_INIT:
    if (!words[2] || words[2] > uint32_t(kMaxCount))
      return reportBadOperand(fiber, site, "an mbarrier counts 1 to 1048575 arrivals");
    checkAccess(&fiber.thread, object, 8, 8, 3, CAMEO_SIM_WRITE, site);
    *object = State{words[2], words[2], 0, false}.write();
    return;
  case CAMEO_SIM_OP_MBAR_INVAL:
    *object = 0;
    return;
  case CAMEO_SIM_OP_MBAR_ARRIVE: {
    bool counted = instruction.modifier(0);
    if (instruction.modifier(4) && words[2] >= state.pending && !state.transactions)
      return reportBadOperand(fiber, site, "an arrival with .noComplete would end the phase");
    arrive(fiber, object, state, counted ? words[2] : 1, instruction.modifier(1), site);
    if (instruction.modifier(2))
      writeWide(words + 2 + counted, before);
    return;
  }
  case CAMEO_SIM_OP_MBAR_COMPLETE_TX:
    state.transactions -= int32_t(words[2]);
    return settle(fiber, object, state);
  default: // expect_tx
    if (int64_t(state.transactions) + words[2] > kMaxCount)
      return reportBadOperand(fiber, site, "an mbarrier counts up to 1048575 B of transactions");
    state.transactions += int32_t(words[2]);
    *object = state.write();
    if (instruction.modifier(0)) {
      arrive(fiber, object, state, 1, false, site);
      if (instruction.modifier(1))
        writeWide(words + 3, before);
    }
    return;
  }
}

bool mbarrierPhaseIsOver(Instruction instruction, Fiber &fiber, const uint32_t *words,
                         uint32_t site) {
  uint64_t *object = find(fiber, readAddress(words), site, false);
  if (!object)
    return true;
  // With .parity: the parity of the phase that is asked about; else the state of an arrival in it.
  bool asked = instruction.modifier(1) ? words[2] & 1 : State::read(readWide(words + 2)).parity;
  bool over = State::read(*object).parity != asked;
  if (Clocks *clocks = over ? fiber.block->clocks : nullptr)
    clocks->acquire(
        fiber.warp->clock,
        fiber.block->worker->mbarrierClock(reinterpret_cast<char *>(object)).known.data());
  return over;
}

} // namespace cameo::sim
