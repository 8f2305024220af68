// Instructions on the shared memory of other blocks of the cluster: addresses, loads and stores,
// and those that complete at an mbarrier (PTX ISA, "Data Movement and Conversion Instructions:
// mapa, getctarank, ld, st, st.async, red.async").
//
// SPDX-License-Identifier: Apache-2.0
#include "runtime/sim/exec/worker.h"
#include "runtime/sim/isa/instruct.h"

#include <cstring>

namespace cameo::sim {
namespace {

/// `count` elements of `bytes` bytes, each in as many words as it needs, from or to memory.
void move(char *place, uint32_t *words, uint32_t count, uint32_t bytes, bool load) {
  for (uint32_t i = 0; i < count; ++i, place += bytes, words += bytes == 8 ? 2 : 1) {
    if (load && bytes < 4)
      *words = 0;
    if (load)
      memcpy(words, place, bytes);
    else
      memcpy(place, words, bytes);
  }
}

/// st.async and red.async name an mbarrier in the block whose memory they write.
bool hasOwnBarrier(Fiber &fiber, const char *address, const char *barrier, uint32_t site) {
  Worker &worker = *fiber.block->worker;
  const Block *owner = worker.blockOf(address);
  if (owner && owner == worker.blockOf(barrier))
    return true;
  reportBadOperand(fiber, site, "the mbarrier is not in the block that is written to");
  return false;
}

/// What is ordered before an operation that `fiber` issues now.
ClockRow releaseOf(const Fiber &fiber) {
  ClockRow row;
  if (fiber.block->clocks)
    fiber.block->worker->changeClocks().release(fiber.warp->clock, row);
  return row;
}

} // namespace

void executeCluster(Instruction instruction, Fiber &fiber, uint32_t *words, uint32_t site) {
  if (instruction.opcode() == CAMEO_SIM_OP_CLUSTER_ARRIVE) // has no operands
    return arriveAtClusterBarrier(fiber, instruction.modifier(0), instruction.modifier(1), site);
  Worker &worker = *fiber.block->worker;
  uint32_t count = instruction.modifier(0), bytes = instruction.modifier(1);
  char *address = readAddress(words);
  switch (instruction.opcode()) {
  case CAMEO_SIM_OP_MAPA: {
    const Block *owner = worker.blockOf(address);
    if (!owner || words[2] >= worker.cluster.size) {
      reportBadOperand(fiber, site,
                       owner ? "the cluster has no block of this rank"
                             : "the address is not in the cluster's shared memory");
      return writeWide(words + 3, reinterpret_cast<uintptr_t>(address));
    }
    return writeWide(words + 3, reinterpret_cast<uintptr_t>(worker.cluster.blocks[words[2]].shared +
                                                            (address - owner->shared)));
  }
  case CAMEO_SIM_OP_CTA_RANK:
    if (const Block *owner = worker.blockOf(address))
      words[2] = owner->rank;
    else
      reportBadOperand(fiber, site, "the address is not in the cluster's shared memory");
    return;
  case CAMEO_SIM_OP_CLUSTER_LOAD:
  case CAMEO_SIM_OP_CLUSTER_STORE: {
    bool load = instruction.opcode() == CAMEO_SIM_OP_CLUSTER_LOAD;
    char *place = checkClusterAccess(fiber, address, count * bytes, count * bytes,
                                     load ? CAMEO_SIM_READ : CAMEO_SIM_WRITE, site);
    return move(place, words + 2, count, bytes, load);
  }
  case CAMEO_SIM_OP_ASYNC_STORE: {
    char *barrier = readAddress(words + 2 + count * (bytes == 8 ? 2 : 1));
    if (!hasOwnBarrier(fiber, address, barrier, site))
      return;
    // Visible to those who see the phase of the mbarrier end.
    uint32_t operation = worker.async.begin(fiber, Agent::Store, site);
    move(checkClusterAccess(fiber, address, count * bytes, count * bytes, CAMEO_SIM_WRITE, site,
                            operation),
         words + 2, count, bytes, false);
    return completeTransaction(fiber, barrier, count * bytes, site, releaseOf(fiber), operation);
  }
  default: { // red.async: as red, and then the mbarrier
    bool wide =
        instruction.modifier(1) == CAMEO_SIM_U64 || instruction.modifier(1) == CAMEO_SIM_S64;
    char *barrier = readAddress(words + (wide ? 4 : 3));
    if (!hasOwnBarrier(fiber, address, barrier, site))
      return;
    executeAtom({(instruction.code & ~0xffull) | CAMEO_SIM_OP_ATOM |
                 uint64_t(CAMEO_SIM_SHARED_CLUSTER) << 32},
                fiber, words, site);
    return completeTransaction(fiber, barrier, wide ? 8 : 4, site, releaseOf(fiber),
                               /*operation=*/0);
  }
  }
}

} // namespace cameo::sim
