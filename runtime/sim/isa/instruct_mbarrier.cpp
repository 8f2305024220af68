// mbarrier objects (PTX ISA, "Parallel Synchronization and Communication Instructions: mbarrier").
//
// The object is the 64 bits that the program sees in shared memory: pending arrivals (20 bits),
// arrivals a phase (20), pending transactions in bytes (21, signed), the parity of the phase (1), a
// bit that says that it is one. The state that an arrival returns is the object as it was.
//
// SPDX-License-Identifier: Apache-2.0
#include "runtime/sim/exec/worker.h"
#include "runtime/sim/isa/instruct.h"

#include <algorithm>

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

/// The object at an address of the cluster's shared memory, or null with a report.
uint64_t *check(Fiber &fiber, char *address, uint32_t site, bool create) {
  auto *object = reinterpret_cast<uint64_t *>(address);
  bool aligned = reinterpret_cast<uintptr_t>(address) % 8 == 0;
  if (aligned && (create || State::isValid(*object)))
    return object;
  reportBadOperand(fiber, site,
                   aligned ? "the mbarrier is not initialised"
                           : "an mbarrier is 8 aligned bytes of shared memory");
  return nullptr;
}

/// The object at `address`, or null with a report; `remote`: it may be another block's.
uint64_t *find(Fiber &fiber, char *address, uint32_t site, bool create, bool remote = false) {
  const Block *owner = fiber.block->worker->blockOf(address);
  if (!owner || (owner != fiber.block && !remote)) {
    reportBadOperand(fiber, site,
                     remote ? "an mbarrier is 8 aligned bytes of the cluster's shared memory"
                            : "an mbarrier is 8 aligned bytes of shared memory");
    return nullptr;
  }
  if (owner != fiber.block && !mayReach(fiber, *owner, CAMEO_SIM_ATOMIC, site))
    return nullptr;
  return check(fiber, address, site, create);
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

/// What the phase has brought is there for those who see that it has ended.
void endPhase(Worker &worker, const char *object) {
  MbarrierClock &clock = worker.mbarrierClock(object);
  clock.released.join(clock.pending);
  clock.pending.clear();
  std::vector<uint32_t> &operations = clock.releasedOperations;
  operations.insert(operations.end(), clock.pendingOperations.begin(),
                    clock.pendingOperations.end());
  clock.pendingOperations.clear();
  // Those that nothing remembers any more go.
  const std::vector<size_t> seen = clock.seen;
  size_t kept = 0;
  for (size_t i = 0; i < operations.size(); ++i) {
    if (worker.async.isRemembered(operations[i])) {
      operations[kept++] = operations[i];
      continue;
    }
    worker.async.drop(operations[i]);
    for (size_t w = 0; w < seen.size(); ++w)
      clock.seen[w] -= i < seen[w];
  }
  operations.resize(kept);
}

/// Of an object that is initialised anew, nothing is known.
void startClock(Fiber &fiber, const char *object, uint32_t site) {
  Worker &worker = *fiber.block->worker;
  MbarrierClock &clock = worker.mbarrierClock(object);
  for (std::vector<uint32_t> *operations : {&clock.pendingOperations, &clock.releasedOperations})
    for (uint32_t operation : *operations)
      worker.async.drop(operation);
  clock = MbarrierClock();
  clock.object = object;
  clock.initThread = threadInCluster(fiber);
  clock.initStamp = fiber.block->clocks->warp[clock.initThread / kLanes].event;
  clock.initSite = site;
  clock.initFenced = false;
}

/// Stores what has become of the object; a phase that is complete ends.
void settle(Fiber &fiber, uint64_t *object, State state) {
  bool over = !state.pending && !state.transactions;
  if (over) {
    state.parity = !state.parity;
    state.pending = state.expected;
    if (fiber.block->clocks)
      endPhase(*fiber.block->worker, reinterpret_cast<char *>(object));
  }
  *object = state.write();
  if (over)
    wakeMbarrierWaiters(*fiber.block->worker);
}

void arrive(Fiber &fiber, uint64_t *object, State state, uint32_t count, bool drop, uint32_t site) {
  if (!count || count > state.pending)
    return reportBadOperand(fiber, site, "more arrivals at an mbarrier than it expects");
  if (fiber.block->clocks)
    fiber.block->worker->changeClocks().release(
        fiber.warp->clock,
        fiber.block->worker->mbarrierClock(reinterpret_cast<char *>(object)).pending);
  state.pending -= count;
  if (drop)
    state.expected -= count;
  settle(fiber, object, state);
}

} // namespace

void arriveAtMbarrier(Fiber &fiber, char *address, bool increment, uint32_t site,
                      const std::vector<uint32_t> &operations) {
  uint64_t *object = find(fiber, address, site, false);
  if (!object)
    return;
  Worker &worker = *fiber.block->worker;
  for (uint32_t operation : operations) {
    worker.async.hold(operation);
    worker.mbarrierClock(reinterpret_cast<char *>(object)).pendingOperations.push_back(operation);
  }
  if (increment) // one more expected arrival, and that arrival: nothing changes
    return;
  arrive(fiber, object, State::read(*object), 1, false, site);
}

void fenceMbarrierInit(Fiber &fiber) {
  for (MbarrierClock &clock : fiber.block->worker->mbarrierClocks)
    clock.initFenced |= clock.initThread == threadInCluster(fiber);
}

void checkMbarrierInit(Fiber &issuer, char *barrier, uint32_t site) {
  Worker &worker = *issuer.block->worker;
  if (!issuer.block->clocks)
    return;
  MbarrierClock &clock = worker.mbarrierClock(barrier);
  if (clock.initFenced ||
      issuer.block->clocks->isFenced(clock.initThread, clock.initStamp, FencedMemory::OwnShared,
                                     threadInCluster(issuer) / kLanes))
    return;
  clock.initFenced = true; // one report is enough
  uint32_t perBlock = issuer.block->warpCount * kLanes;
  Fault fault = makeFault(issuer, FaultKind::MissingProxyFence, site);
  fault.otherSite = clock.initSite;
  nameOwner(fault, *issuer.block, worker.sharedOffset(barrier));
  fault.bytes = 8;
  fault.access = CAMEO_SIM_ATOMIC;
  fault.otherAccess = CAMEO_SIM_WRITE;
  fault.otherBlock = worker.blocks[clock.initThread / perBlock].linear;
  fault.otherThread = clock.initThread % perBlock;
  worker.state->log.add(std::move(fault));
}

void completeTransaction(Fiber &issuer, char *barrier, uint32_t bytes, uint32_t site,
                         const ClockRow &issued, uint32_t operation) {
  // That the block can be reached has been checked when the operation was issued.
  const Block *owner = issuer.block->worker->blockOf(barrier);
  if (!owner || !owner->live)
    return;
  uint64_t *object = check(issuer, barrier, site, /*create=*/false);
  if (!object)
    return;
  if (issuer.block->clocks) {
    MbarrierClock &clock = issuer.block->worker->mbarrierClock(barrier);
    clock.pending.join(issued);
    if (operation)
      clock.pendingOperations.push_back(operation);
  }
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
    if (fiber.block->clocks)
      startClock(fiber, reinterpret_cast<char *>(object), site);
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
  if (over && fiber.block->clocks) {
    Worker &worker = *fiber.block->worker;
    MbarrierClock &clock = worker.mbarrierClock(reinterpret_cast<char *>(object));
    Clocks &clocks = worker.changeClocks();
    clocks.acquire(fiber.warp->clock, clock.released);
    clock.seen.resize(clocks.warps);
    size_t &seen = clock.seen[fiber.warp->clock];
    for (; seen < clock.releasedOperations.size(); ++seen)
      worker.async.observe(clock.releasedOperations[seen], fiber, /*wholeWarp=*/true);
  }
  return over;
}

} // namespace cameo::sim
