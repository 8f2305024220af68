// Executes an instruction by its row of instructions.def.
//
// SPDX-License-Identifier: Apache-2.0
#include "runtime/sim/isa/instruct.h"

#include "runtime/sim/check/map_fences.h"
#include "runtime/sim/exec/worker.h"

namespace cameo::sim {

void reportBadOperand(Fiber &fiber, uint32_t site, const char *what) {
  Fault fault = makeFault(fiber, FaultKind::BadOperand, site);
  fault.detail = what;
  fiber.block->worker->state->log.add(std::move(fault));
}

/// In the vectorised form all lanes go where a collective for all of them is; those of the code
/// alone would not have.
static void reportParted(Instruction instruction, Fiber &fiber, uint32_t *, uint32_t site) {
  uint32_t lanes = uint32_t(instruction.code >> 32);
  Fault fault = makeFault(fiber, FaultKind::DivergentBarrier, site);
  fault.lanes = lanes;
  fault.values[0] = ~lanes;
  fiber.block->worker->state->log.add(std::move(fault));
}

/// Images with checks look for such operands all the time.
static void reportUndefined(Instruction instruction, Fiber &fiber, uint32_t *, uint32_t site) {
  if (!(fiber.block->worker->checks & kCheckInit) || fiber.thread.lane >= instruction.modifier(0))
    return;
  Fault fault = makeFault(fiber, FaultKind::UninitialisedRegister, site);
  fault.otherSite = uint32_t(instruction.code >> 32) - 1; // kNoSite for 0
  fiber.block->worker->state->log.add(std::move(fault));
}

static void executeNothing(Instruction, Fiber &, uint32_t *, uint32_t) {}

static void executeBarrierArrive(Instruction, Fiber &fiber, uint32_t *words, uint32_t site) {
  arriveAtBarrier(fiber, words[0], words[1], site);
}

static void executeProxyFence(Instruction instruction, Fiber &fiber, uint32_t *, uint32_t) {
  if (!fiber.block->clocks)
    return;
  fiber.block->worker->changeClocks().fence(threadInCluster(fiber), instruction.modifier(0),
                                            fiber.block->warpCount);
  if (instruction.modifier(0) != CAMEO_SIM_FENCE_GLOBAL)
    fenceMbarrierInit(fiber);
}

static void executeMbarrierInitFence(Instruction, Fiber &fiber, uint32_t *, uint32_t) {
  fenceMbarrierInit(fiber);
}

static void executeWgmmaOrder(Instruction instruction, Fiber &fiber, uint32_t *, uint32_t site) {
  AsyncOperations &async = fiber.block->worker->async;
  switch (instruction.opcode()) {
  case CAMEO_SIM_OP_WGMMA_FENCE:
    return async.fenceWgmma(fiber, instruction.code, site);
  case CAMEO_SIM_OP_WGMMA_COMMIT:
    return async.commitWgmma(fiber, instruction.code, site);
  default:
    return async.waitForWgmma(fiber, instruction.code, site);
  }
}

namespace {

/// What executes an instruction: one of these, or none.
struct Execution {
  using ForThread = void (*)(Instruction, Fiber &, uint32_t *words, uint32_t site);
  using ForLanes = void (*)(Instruction, LaneWords, uint32_t lanes);
  /// For all lanes of a warp; their words lie in rows.
  using ForRows = void (*)(Instruction, Warp &, Rows, uint32_t site);
  ForThread forThread = nullptr;
  ForLanes forLanes = nullptr;
  ForRows forRows = nullptr;

  constexpr Execution(std::nullptr_t) {}
  constexpr Execution(ForThread function) : forThread(function) {}
  constexpr Execution(ForLanes function) : forLanes(function) {}
  constexpr Execution(ForRows function) : forRows(function) {}
  constexpr bool isTogether() const { return forLanes || forRows; }
};

constexpr Execution kExecutions[] = {
    nullptr, // CAMEO_SIM_OP_NONE
#define CAMEO_SIM_INSTRUCTION(NAME, FUNCTION, ...) FUNCTION,
#include "runtime/sim/instructions.def"
};

constexpr size_t kOpcodes = sizeof kExecutions / sizeof *kExecutions;

#define CAMEO_SIM_INSTRUCTION(NAME, FUNCTION, KIND, FACTS, ...)                                    \
  static_assert(Execution(FUNCTION).isTogether() == bool((FACTS) & CAMEO_SIM_COLLECTIVE));
#include "runtime/sim/instructions.def"

const Execution &executionOf(Instruction instruction) {
  return kExecutions[instruction.opcode() < kOpcodes ? instruction.opcode() : CAMEO_SIM_OP_NONE];
}

/// Words a lane, operands and results, of an instruction that is executed on rows.
uint32_t wordsOf(Instruction instruction) {
  switch (instruction.opcode()) {
  case CAMEO_SIM_OP_MMA:
    return mmaWords(instruction);
  case CAMEO_SIM_OP_WGMMA:
    return wgmmaWords(instruction);
  default: // an address, and one register per matrix
    return 2 + instruction.modifier(0);
  }
}

} // namespace

/// Room for `count` words of each lane.
static uint32_t *scratch(Warp &warp, uint32_t count) {
  std::vector<uint32_t> &words = warp.block->worker->operands;
  if (words.size() < size_t(count) * kLanes)
    words.resize(size_t(count) * kLanes);
  return words.data();
}

/// For lanes whose operands lie apart.
static void executeGathered(Instruction instruction, Warp &warp, uint32_t site) {
  uint32_t count = wordsOf(instruction);
  uint32_t *rows = scratch(warp, count);
  for (uint32_t i = 0; i < count; ++i)
    for (uint32_t lane = 0; lane < kLanes; ++lane)
      rows[size_t(i) * kLanes + lane] = warp.words[lane][i];
  executionOf(instruction).forRows(instruction, warp, {rows}, site);
  for (uint32_t i = 0; i < count; ++i)
    for (uint32_t lane = 0; lane < kLanes; ++lane)
      warp.words[lane][i] = rows[size_t(i) * kLanes + lane];
}

void executeTogether(Warp &warp, uint32_t lanes, uint32_t site) {
  LaneWords words = warp.words;
  Instruction instruction{warp.codes[__builtin_ctz(lanes)]};
  for (uint32_t rest = lanes; rest; rest &= rest - 1) {
    uint32_t lane = uint32_t(__builtin_ctz(rest));
    if (warp.codes[lane] != instruction.code)
      return reportBadOperand(warp.fibers[lane], site,
                              "lanes execute different instructions together");
  }
  const Execution &execution = executionOf(instruction);
  if (execution.forLanes)
    return execution.forLanes(instruction, words, lanes);
  Fiber &first = warp.fibers[__builtin_ctz(lanes)];
  if (!execution.forRows)
    return reportBadOperand(first, site, "the simulator does not know the instruction");
  if (lanes != ~0u)
    return reportBadOperand(first, site, "needs all 32 lanes of the warp");
  executeGathered(instruction, warp, site);
}

void executeForWarp(CameoSimThread *thread, uint64_t code, uint32_t *words, uint32_t count,
                    uint32_t site) {
  Fiber &fiber = *reinterpret_cast<Fiber *>(thread);
  Warp &warp = *fiber.warp;
  ++fiber.block->worker->counters.collectives;
  if (Execution::ForRows execute = executionOf({code}).forRows)
    return execute({code}, warp, {words}, site);
  uint32_t *operands = scratch(warp, count);
  for (uint32_t lane = 0; lane < kLanes; ++lane) {
    uint32_t *own = operands + size_t(lane) * count;
    for (uint32_t i = 0; i < count; ++i)
      own[i] = words[size_t(i) * kLanes + lane];
    warp.words[lane] = own;
    warp.codes[lane] = code;
  }
  executeTogether(warp, warp.all, site);
  for (uint32_t i = 0; i < count; ++i)
    for (uint32_t lane = 0; lane < kLanes; ++lane)
      words[size_t(i) * kLanes + lane] = warp.words[lane][i];
}

void executeMatrices(CameoSimThread *thread, const CameoSimStep *steps, uint32_t count,
                     uint32_t *rows, const uint32_t *places) {
  Fiber &fiber = *reinterpret_cast<Fiber *>(thread);
  fiber.block->worker->counters.collectives += count;
  forgetMmaOperands();
  for (const CameoSimStep *step = steps; step != steps + count; ++step) {
    Instruction instruction = instructionOf(*step);
    executionOf(instruction)
        .forRows(instruction, *fiber.warp, {rows, places + step->first}, step->site);
  }
}

} // namespace cameo::sim

using namespace cameo::sim;

extern "C" void cameo_sim_instruction(CameoSimThread *thread, uint64_t code, uint32_t *words,
                                      uint32_t site) {
  Fiber &fiber = *reinterpret_cast<Fiber *>(thread);
  Instruction instruction{code};
  bool isReport = instruction.opcode() == CAMEO_SIM_OP_UNDEFINED;
  if (__builtin_expect(fiber.block->counting != nullptr && !isReport, 0))
    countInstruction(fiber, code, words, site);
  if (Execution::ForThread execute = executionOf(instruction).forThread)
    return execute(instruction, fiber, words, site);
  reportBadOperand(fiber, site, "the simulator does not know the instruction");
}
