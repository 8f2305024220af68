// Which family an instruction belongs to.
//
// SPDX-License-Identifier: Apache-2.0
#include "runtime/sim/instruct.h"

#include "runtime/sim/block.h"
#include "runtime/sim/map_fences.h"

namespace cameo::sim {

void reportBadOperand(Fiber &fiber, uint32_t site, const char *what) {
  Fault fault = makeFault(fiber, FaultKind::BadOperand, site);
  fault.detail = what;
  fiber.block->worker->state->log.add(std::move(fault));
}

/// In the warp form all lanes go where a collective for all of them is; `lanes` alone would not
/// have.
static void reportParted(Fiber &fiber, uint32_t lanes, uint32_t site) {
  Fault fault = makeFault(fiber, FaultKind::DivergentBarrier, site);
  fault.lanes = lanes;
  fault.values[0] = ~lanes;
  fiber.block->worker->state->log.add(std::move(fault));
}

/// Images with checks look for such operands all the time.
static void reportUndefined(Fiber &fiber, Instruction instruction, uint32_t site) {
  if (!(fiber.block->worker->checks & kCheckInit) || fiber.thread.lane >= instruction.modifier(0))
    return;
  Fault fault = makeFault(fiber, FaultKind::UninitialisedRegister, site);
  fault.otherSite = uint32_t(instruction.code >> 32) - 1; // kNoSite for 0
  fiber.block->worker->state->log.add(std::move(fault));
}

/// Executes an instruction on matrices, whose operands lie in rows. False: it is none.
static bool executeOnRows(Instruction instruction, Warp &warp, uint32_t *rows, uint32_t site) {
  switch (instruction.opcode()) {
  case CAMEO_SIM_OP_MMA:
    executeMma(instruction, rows);
    return true;
  case CAMEO_SIM_OP_LDMATRIX:
    executeMatrixLoad(instruction, warp, rows, site);
    return true;
  case CAMEO_SIM_OP_STMATRIX:
    executeMatrixStore(instruction, warp, rows, site);
    return true;
  case CAMEO_SIM_OP_WGMMA:
    executeWgmma(instruction, warp, rows, site);
    return true;
  default:
    return false;
  }
}

/// Room for `count` words of each lane.
static uint32_t *scratch(Warp &warp, uint32_t count) {
  std::vector<uint32_t> &words = warp.block->worker->operands;
  if (words.size() < size_t(count) * kLanes)
    words.resize(size_t(count) * kLanes);
  return words.data();
}

/// For lanes whose operands lie apart.
static void executeGathered(Instruction instruction, Warp &warp, uint32_t count, uint32_t site) {
  uint32_t *rows = scratch(warp, count);
  for (uint32_t i = 0; i < count; ++i)
    for (uint32_t lane = 0; lane < kLanes; ++lane)
      rows[size_t(i) * kLanes + lane] = warp.words[lane][i];
  executeOnRows(instruction, warp, rows, site);
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
  bool wholeWarp =
      instruction.opcode() == CAMEO_SIM_OP_MMA || instruction.opcode() == CAMEO_SIM_OP_LDMATRIX ||
      instruction.opcode() == CAMEO_SIM_OP_STMATRIX || instruction.opcode() == CAMEO_SIM_OP_WGMMA;
  if (wholeWarp && lanes != ~0u)
    return reportBadOperand(warp.fibers[__builtin_ctz(lanes)], site,
                            "needs all 32 lanes of the warp");
  switch (instruction.opcode()) {
  case CAMEO_SIM_OP_MMA:
    return executeGathered(instruction, warp, mmaWords(instruction), site);
  case CAMEO_SIM_OP_LDMATRIX:
    return executeGathered(instruction, warp, 2 + instruction.modifier(0), site);
  case CAMEO_SIM_OP_STMATRIX:
    return executeGathered(instruction, warp, 2 + instruction.modifier(0), site);
  case CAMEO_SIM_OP_WGMMA:
    return executeGathered(instruction, warp, wgmmaWords(instruction), site);
  case CAMEO_SIM_OP_REDUX:
    return executeRedux(instruction, words, lanes);
  case CAMEO_SIM_OP_VOTE:
    return executeVote(instruction, words, lanes);
  case CAMEO_SIM_OP_MATCH:
    return executeMatch(instruction, words, lanes);
  case CAMEO_SIM_OP_ELECT:
    return executeElect(words, lanes);
  default:
    return reportBadOperand(warp.fibers[__builtin_ctz(lanes)], site,
                            "the simulator does not know the instruction");
  }
}

void executeForWarp(CameoSimThread *thread, uint64_t code, uint32_t *words, uint32_t count,
                    uint32_t site) {
  Fiber &fiber = *reinterpret_cast<Fiber *>(thread);
  Warp &warp = *fiber.warp;
  ++fiber.block->worker->counters.collectives;
  if (executeOnRows(Instruction{code}, warp, words, site))
    return;
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

} // namespace cameo::sim

using namespace cameo::sim;

extern "C" void cameo_sim_instruction(CameoSimThread *thread, uint64_t code, uint32_t *words,
                                      uint32_t site) {
  Fiber &fiber = *reinterpret_cast<Fiber *>(thread);
  Instruction instruction{code};
  bool isReport = instruction.opcode() == CAMEO_SIM_OP_UNDEFINED;
  if (__builtin_expect(fiber.block->counting != nullptr && !isReport, 0))
    countInstruction(fiber, code, words, site);
  switch (instruction.opcode()) {
  case CAMEO_SIM_OP_ATOM:
    return executeAtom(instruction, fiber, words, site);
  case CAMEO_SIM_OP_APPROX:
    return executeApprox(instruction, words);
  case CAMEO_SIM_OP_CP_ASYNC:
  case CAMEO_SIM_OP_CP_COMMIT:
  case CAMEO_SIM_OP_CP_WAIT:
  case CAMEO_SIM_OP_CP_MBARRIER:
    return executeCopy(instruction, fiber, words, site);
  case CAMEO_SIM_OP_TENSOR_LOAD:
  case CAMEO_SIM_OP_TENSOR_STORE:
  case CAMEO_SIM_OP_BULK_LOAD:
  case CAMEO_SIM_OP_BULK_STORE:
  case CAMEO_SIM_OP_BULK_SHARED:
  case CAMEO_SIM_OP_PREFETCH_MAP:
  case CAMEO_SIM_OP_BULK_COMMIT:
  case CAMEO_SIM_OP_BULK_WAIT:
    return executeBulk(instruction, fiber, words, site);
  case CAMEO_SIM_OP_MBAR_INIT:
  case CAMEO_SIM_OP_MBAR_INVAL:
  case CAMEO_SIM_OP_MBAR_ARRIVE:
  case CAMEO_SIM_OP_MBAR_EXPECT_TX:
  case CAMEO_SIM_OP_MBAR_COMPLETE_TX:
    return executeMbarrier(instruction, fiber, words, site);
  case CAMEO_SIM_OP_CLUSTER_ARRIVE:
  case CAMEO_SIM_OP_MAPA:
  case CAMEO_SIM_OP_CTA_RANK:
  case CAMEO_SIM_OP_CLUSTER_LOAD:
  case CAMEO_SIM_OP_CLUSTER_STORE:
  case CAMEO_SIM_OP_ASYNC_STORE:
  case CAMEO_SIM_OP_ASYNC_REDUCE:
    return executeCluster(instruction, fiber, words, site);
  case CAMEO_SIM_OP_BAR_ARRIVE:
    return arriveAtBarrier(fiber, words[0], words[1], site);
  case CAMEO_SIM_OP_NOTHING:
    return;
  case CAMEO_SIM_OP_PARTED:
    return reportParted(fiber, uint32_t(code >> 32), site);
  case CAMEO_SIM_OP_UNDEFINED:
    return reportUndefined(fiber, instruction, site);
  case CAMEO_SIM_OP_PROXY_FENCE:
    if (fiber.block->clocks) {
      fiber.block->worker->changeClocks().fence(threadInCluster(fiber), instruction.modifier(0),
                                                fiber.block->warpCount);
      if (instruction.modifier(0) != CAMEO_SIM_FENCE_GLOBAL)
        fenceMbarrierInit(fiber);
    }
    return;
  case CAMEO_SIM_OP_MAP_FENCE:
    return executeMapFence(instruction, fiber, words, site);
  case CAMEO_SIM_OP_MBAR_INIT_FENCE:
    return fenceMbarrierInit(fiber);
  case CAMEO_SIM_OP_WGMMA_FENCE:
    return fiber.block->worker->async.fenceWgmma(fiber, code, site);
  case CAMEO_SIM_OP_WGMMA_COMMIT:
    return fiber.block->worker->async.commitWgmma(fiber, code, site);
  case CAMEO_SIM_OP_WGMMA_WAIT:
    return fiber.block->worker->async.waitForWgmma(fiber, code, site);
  default:
    return reportBadOperand(fiber, site, "the simulator does not know the instruction");
  }
}
