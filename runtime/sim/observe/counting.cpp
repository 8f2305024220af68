// SPDX-License-Identifier: Apache-2.0
#include "runtime/sim/observe/counting.h"
#include "runtime/sim/check/checks.h"
#include "runtime/sim/exec/block.h"
#include "runtime/sim/isa/instruct.h"

#include <algorithm>

namespace cameo::sim {
namespace {

/// What a LaneLog's entries are, packed: an access, or an instruction without one.
struct Detail {
  static constexpr uint32_t kInstruction = 1u << 31;
  static uint32_t instruction(InstructionKind kind) { return kInstruction | uint32_t(kind); }
  static uint32_t access(uint32_t bytes, uint32_t alignment, uint32_t kind, bool shared,
                         bool async) {
    return std::min(bytes, 0xfffu) | std::min(alignment, 0xffu) << 12 | kind << 20 |
           uint32_t(shared) << 24 | uint32_t(async) << 25;
  }
};

void count(Counter &counter, const LaneLog::Group &group) {
  if (group.detail & Detail::kInstruction)
    return counter.instruction(InstructionKind(group.detail & 0xff));
  counter.access({group.lanes, group.values, group.detail & 0xfff, group.detail >> 12 & 0xff,
                  CameoSimAccess(group.detail >> 20 & 0xf), bool(group.detail >> 24 & 1),
                  bool(group.detail >> 25 & 1)});
}

void note(const Fiber &fiber, uint32_t site, uint32_t detail, uint64_t value) {
  Counting &counting = *fiber.block->counting;
  uint32_t lane = fiber.linear % kLanes;
  if (__builtin_expect(counting.logs[fiber.linear / kLanes].add(lane, site, detail, value), 1))
    return;
  LaneLog::Group alone{site, detail, 1u << lane, {}};
  alone.values[lane] = value;
  ++counting.counter.counters.ungrouped;
  count(counting.counter, alone);
}

void noteAccess(const Fiber &fiber, uint32_t site, const void *address, uint32_t bytes,
                uint32_t alignment, uint32_t kind, bool shared, bool async) {
  note(fiber, site, Detail::access(bytes, alignment, kind, shared, async),
       reinterpret_cast<uintptr_t>(address));
}

bool isShared(const CameoSimThread *thread, const void *address, uint32_t space) {
  return (space & 0xff) == 3 ||
         uint64_t(static_cast<const char *>(address) - thread->shared) < kSharedWindow;
}

InstructionKind kindOf(CameoSimOpcode opcode) {
  switch (opcode) {
#define CAMEO_SIM_INSTRUCTION(NAME, FUNCTION, KIND, ...)                                           \
  case CAMEO_SIM_OP_##NAME:                                                                        \
    return InstructionKind::KIND;
#include "runtime/sim/instructions.def"
  default:
    return InstructionKind::Other;
  }
}

uint32_t atomicBytes(uint32_t type) {
  switch (type) {
  case CAMEO_SIM_S64:
  case CAMEO_SIM_U64:
  case CAMEO_SIM_F64:
    return 8;
  case CAMEO_SIM_F16:
  case CAMEO_SIM_BF16:
    return 2;
  default:
    return 4;
  }
}

} // namespace

void *countedAccess(CameoSimThread *thread, void *address, uint32_t bytes, uint32_t alignment,
                    uint32_t space, uint32_t kind, uint32_t site) {
  noteAccess(*reinterpret_cast<const Fiber *>(thread), site, address, bytes, alignment, kind,
             isShared(thread, address, space), /*async=*/false);
  return checkAccess(thread, address, bytes, alignment, space, kind, site);
}

void countInstruction(Fiber &fiber, uint64_t code, const uint32_t *words, uint32_t site) {
  Instruction instruction{code};
  KernelCounters &counters = fiber.block->counting->counter.counters;
  if (instruction.opcode() == CAMEO_SIM_OP_ATOM) {
    const char *address = readAddress(words);
    uint32_t bytes = atomicBytes(instruction.modifier(1));
    return noteAccess(fiber, site, address, bytes, bytes, CAMEO_SIM_ATOMIC,
                      isShared(&fiber.thread, address, instruction.modifier(3) ? 3 : 1), false);
  }
  if (instruction.opcode() == CAMEO_SIM_OP_CP_ASYNC) {
    uint32_t bytes = instruction.modifier(0);
    uint32_t sourceBytes = instruction.modifier(1) ? std::min(words[4], bytes) : bytes;
    if (sourceBytes)
      noteAccess(fiber, site, readAddress(words + 2), sourceBytes, sourceBytes, CAMEO_SIM_READ,
                 false, /*async=*/true);
    noteAccess(fiber, site, readAddress(words), bytes, bytes, CAMEO_SIM_WRITE, true,
               /*async=*/true);
    counters.asyncCopyBytes += sourceBytes;
  }
  note(fiber, site, Detail::instruction(kindOf(instruction.opcode())), 0);
}

void countCollective(Warp &warp, uint32_t op) {
  Counter &counter = warp.block->counting->counter;
  counter.instruction((op & ~0xffu) == kOpShuffle ? InstructionKind::Shuffle
                      : (op & ~0xffu) == kOpVote  ? InstructionKind::Vote
                                                  : InstructionKind::WarpSync);
}

void countTogether(Warp &warp, uint64_t code, uint32_t lanes) {
  Counter &counter = warp.block->counting->counter;
  Instruction instruction{code};
  InstructionKind kind = kindOf(instruction.opcode());
  counter.instruction(kind);
  if (kind == InstructionKind::Matrix)
    ++counter.counters.matrix[code];
  if (kind != InstructionKind::MatrixLoad && kind != InstructionKind::MatrixStore)
    return;
  // Rows of 16 bytes, given by as many lanes as there are rows; eight rows at a time.
  uint64_t addresses[kLanes] = {};
  uint32_t rows = std::min(8 * instruction.modifier(0), kLanes);
  for (uint32_t lane = 0; lane < rows; ++lane)
    addresses[lane] = readWide(warp.words[lane]);
  uint32_t given = rows == kLanes ? ~0u : (1u << rows) - 1;
  counter.access({lanes & given, addresses, 16, 16,
                  kind == InstructionKind::MatrixLoad ? CAMEO_SIM_READ : CAMEO_SIM_WRITE,
                  /*shared=*/true, /*async=*/true});
}

void countConvergence(Block &block, uint32_t warp) {
  Counter &counter = block.counting->counter;
  block.counting->logs[warp].converge([&](const LaneLog::Group &group) { count(counter, group); });
}

} // namespace cameo::sim
