// cp.async (PTX ISA, "Data Movement and Conversion Instructions: Non-bulk copy").
//
// A copy under way leaves its destination undefined: it is filled with NaN when the copy is issued
// and gets the data when the thread waits for it, or gives it to an mbarrier, which reads the
// source then. So a missing wait shows in results; with the `init` check it is a report.
//
// SPDX-License-Identifier: Apache-2.0
#include "runtime/sim/exec/worker.h"
#include "runtime/sim/isa/instruct.h"

#include <algorithm>
#include <cstring>

namespace cameo::sim {
namespace {

/// What CP_WAIT has in the place of a number of groups.
constexpr size_t kAllCopies = 255;

/// Whether memory that a cp.async reads may be read, as far as the instruction's operands go.
bool isReadable(const char *source, uint32_t bytes, uint32_t sourceBytes) {
  return sourceBytes <= bytes &&
         (sourceBytes == 0 || reinterpret_cast<uintptr_t>(source) % bytes == 0);
}

void reportUnreadable(Fiber &fiber, uint32_t bytes, uint32_t sourceBytes, uint32_t site) {
  reportBadOperand(fiber, site,
                   sourceBytes > bytes ? "the source of a copy is larger than its destination"
                                       : "the source of a copy is not aligned to its size");
}

template <uint32_t kBytes> void moveAll(char *target, const char *source, uint32_t sourceBytes) {
  if (sourceBytes == kBytes) {
    memcpy(target, source, kBytes);
    return;
  }
  memset(target, 0, kBytes);
  memcpy(target, source, sourceBytes);
}

void moveBytes(char *target, const char *source, uint32_t bytes, uint32_t sourceBytes) {
  if (bytes == 16)
    return moveAll<16>(target, source, sourceBytes);
  if (bytes == 8)
    return moveAll<8>(target, source, sourceBytes);
  moveAll<4>(target, source, sourceBytes);
}

/// What conflicts with its read has been looked for since it was issued; from now on the read is
/// one of the thread's.
void move(Fiber &fiber, const PendingCopy &copy) {
  if (!(fiber.block->worker->checks & kCheckMemory)) {
    moveBytes(copy.target, copy.source, copy.bytes, copy.sourceBytes);
    return;
  }
  if (copy.sourceBytes) {
    char *source = const_cast<char *>(copy.source);
    uint32_t alignment = copy.sourceBytes == copy.bytes ? copy.bytes : 1;
    const void *from = copy.raced ? checkWithoutRaces(fiber, source, copy.sourceBytes, alignment, 1,
                                                      CAMEO_SIM_READ, copy.site)
                                  : checkAccess(&fiber.thread, source, copy.sourceBytes, alignment,
                                                1, CAMEO_SIM_READ, copy.site);
    memcpy(copy.target, from, copy.sourceBytes);
  }
  memset(copy.target + copy.sourceBytes, 0, copy.bytes - copy.sourceBytes);
  checkWithoutRaces(fiber, copy.target, copy.bytes, copy.bytes, 3, CAMEO_SIM_WRITE, copy.site);
}

void moveUpTo(Fiber &fiber, CopyQueue &queue, size_t end) {
  for (; queue.moved < end; ++queue.moved)
    move(fiber, queue.copies[queue.moved]);
}

/// The thread knows that its oldest copy is done.
void forgetOldest(Fiber &fiber, CopyQueue &queue) {
  AsyncOperations &async = fiber.block->worker->async;
  uint32_t operation = queue.copies[queue.done++].operation;
  if (operation)
    async.endCopy();
  async.observe(operation, fiber, /*wholeWarp=*/false);
  async.drop(operation);
}

void clearIfDone(CopyQueue &queue) {
  if (queue.done != queue.copies.size()) {
    if (queue.done < 64 || 2 * queue.done < queue.copies.size())
      return;
    // A pipeline is never empty.
    queue.copies.erase(queue.copies.begin(), queue.copies.begin() + ptrdiff_t(queue.done));
    for (size_t &group : queue.groups)
      group -= std::min(group, queue.done);
    queue.moved -= queue.done;
    queue.done = 0;
    return;
  }
  queue.copies.clear();
  queue.done = queue.moved = 0;
  for (size_t &group : queue.groups) // committed groups count on, empty
    group = 0;
}

void finishUpTo(Fiber &fiber, CopyQueue &queue, size_t end) {
  moveUpTo(fiber, queue, end);
  while (queue.done < end)
    forgetOldest(fiber, queue);
  clearIfDone(queue);
}

/// The arrival comes once the thread's copies so far are done: at once. But the thread knows of it
/// only when it has seen the phase end.
void giveToMbarrier(Fiber &fiber, CopyQueue &queue, char *barrier, bool increment, uint32_t site) {
  const AsyncOperations &async = fiber.block->worker->async;
  moveUpTo(fiber, queue, queue.copies.size());
  auto isPast = [&](const PendingCopy &copy) {
    return !copy.operation || !async.isRemembered(copy.operation) ||
           async.isKnown(copy.operation, fiber);
  };
  while (queue.done < queue.copies.size() && isPast(queue.copies[queue.done]))
    forgetOldest(fiber, queue);
  std::vector<uint32_t> operations;
  for (size_t i = queue.done; i < queue.copies.size(); ++i)
    operations.push_back(queue.copies[i].operation);
  clearIfDone(queue);
  arriveAtMbarrier(fiber, barrier, increment, site, operations);
}

void issue(Instruction instruction, Fiber &fiber, CopyQueue &queue, const uint32_t *words,
           uint32_t site) {
  uint32_t bytes = instruction.modifier(0);
  char *source = readAddress(words + 2);
  uint32_t sourceBytes = instruction.modifier(1) ? words[4] : bytes;
  if (!isReadable(source, bytes, sourceBytes))
    return reportUnreadable(fiber, bytes, sourceBytes, site);
  Worker &worker = *fiber.block->worker;
  if (!(worker.checks & kCheckMemory)) {
    char *target = readAddress(words);
    memset(target, 0xff, bytes);
    queue.copies.push_back({target, source, bytes, sourceBytes, site, 0, false});
    return;
  }
  uint32_t operation = worker.async.begin(fiber, Agent::Copy, site);
  char *target = checkAsyncAccess(fiber, operation, readAddress(words), bytes, bytes, 3,
                                  CAMEO_SIM_WRITE, site);
  memset(target, 0xff, bytes);
  if (target == worker.scratch)
    return worker.async.drop(operation);
  worker.undefine(worker.sharedOffset(target), bytes);
  queue.copies.push_back({target, source, bytes, sourceBytes, site, operation, false});
  if (!operation)
    return;
  PendingCopy &copy = queue.copies.back();
  if (sourceBytes) {
    copy.raced = !checkRecordedGlobal(fiber, source, sourceBytes, CAMEO_SIM_READ, site, Agent::Copy,
                                      /*notes=*/false);
    if (worker.async.mayTouchGlobal(source, source + sourceBytes, CAMEO_SIM_READ))
      copy.raced |= !worker.async.checkGlobal(fiber, source, sourceBytes, CAMEO_SIM_READ, site);
  }
  worker.async.startCopy(copy);
}

template <uint32_t kBytes> void fillTargets(const WarpCopyQueue::Copy &copy) {
  for (uint32_t lane = 0; lane < kLanes; ++lane)
    if (copy.lanes >> lane & 1)
      memset(copy.operands.targets[lane], 0xff, kBytes);
}

template <uint32_t kBytes> void moveCopy(const WarpCopyQueue::Copy &copy) {
  const CameoSimWarpCopy &operands = copy.operands;
  for (uint32_t lane = 0; lane < kLanes; ++lane)
    if (copy.lanes >> lane & 1)
      moveAll<kBytes>(operands.targets[lane], operands.sources[lane], operands.sizes[lane]);
}

/// One instruction of a warp, where nothing is checked.
void issueForWarp(const CameoSimStep &step, Warp &warp, WarpCopyQueue &queue,
                  const CameoSimWarpCopy &operands) {
  Instruction instruction = instructionOf(step);
  uint32_t bytes = instruction.modifier(0);
  if (queue.end - queue.begin == queue.ring.size()) {
    std::vector<WarpCopyQueue::Copy> grown(std::max<size_t>(8, 2 * queue.ring.size()));
    for (size_t i = queue.begin; i != queue.end; ++i)
      grown[i & (grown.size() - 1)] = queue.at(i);
    queue.ring = std::move(grown);
  }
  WarpCopyQueue::Copy &copy = queue.at(queue.end);
  copy.operands = operands;
  copy.bytes = bytes;
  copy.lanes = 0;
  if (!instruction.modifier(1))
    std::fill(std::begin(copy.operands.sizes), std::end(copy.operands.sizes), bytes);
  for (uint32_t lane = 0; lane < kLanes; ++lane) {
    if (isReadable(operands.sources[lane], bytes, copy.operands.sizes[lane]))
      copy.lanes |= 1u << lane;
    else
      reportUnreadable(warp.fibers[lane], bytes, copy.operands.sizes[lane], step.site);
  }
  ++queue.end;
  if (bytes == 16)
    fillTargets<16>(copy);
  else if (bytes == 8)
    fillTargets<8>(copy);
  else
    fillTargets<4>(copy);
}

void finishForWarp(WarpCopyQueue &queue, size_t end) {
  for (; queue.begin < end; ++queue.begin) {
    const WarpCopyQueue::Copy &copy = queue.at(queue.begin);
    if (copy.bytes == 16)
      moveCopy<16>(copy);
    else if (copy.bytes == 8)
      moveCopy<8>(copy);
    else
      moveCopy<4>(copy);
  }
}

void waitForWarp(WarpCopyQueue &queue, size_t allowed) {
  if (allowed == kAllCopies) {
    queue.groups.clear();
    return finishForWarp(queue, queue.end);
  }
  if (queue.groups.size() <= allowed)
    return;
  size_t last = queue.groups.size() - allowed - 1, end = queue.groups[last];
  queue.groups.erase(queue.groups.begin(), queue.groups.begin() + ptrdiff_t(last) + 1);
  finishForWarp(queue, end);
}

/// Lane by lane, as the checks look at it.
void executeByLanes(const CameoSimStep &step, Warp &warp, const CameoSimWarpCopy *operands) {
  for (uint32_t lane = 0; lane < kLanes; ++lane) {
    uint32_t words[5] = {};
    if (operands) {
      writeWide(words, reinterpret_cast<uintptr_t>(operands->targets[lane]));
      writeWide(words + 2, reinterpret_cast<uintptr_t>(operands->sources[lane]));
      words[4] = operands->sizes[lane];
    }
    executeCopy(instructionOf(step), warp.fibers[lane], words, step.site);
  }
}

} // namespace

void executeCopy(Instruction instruction, Fiber &fiber, uint32_t *words, uint32_t site) {
  CopyQueue &queue = fiber.block->worker->copyQueue(fiber);
  switch (instruction.opcode()) {
  case CAMEO_SIM_OP_CP_ASYNC:
    return issue(instruction, fiber, queue, words, site);
  case CAMEO_SIM_OP_CP_COMMIT:
    queue.groups.push_back(queue.copies.size());
    return;
  case CAMEO_SIM_OP_CP_WAIT: {
    size_t allowed = instruction.modifier(0);
    if (allowed == kAllCopies) {
      queue.groups.clear();
      return finishUpTo(fiber, queue, queue.copies.size());
    }
    if (queue.groups.size() <= allowed)
      return;
    size_t last = queue.groups.size() - allowed - 1, end = queue.groups[last];
    queue.groups.erase(queue.groups.begin(), queue.groups.begin() + ptrdiff_t(last) + 1);
    return finishUpTo(fiber, queue, end);
  }
  default:
    return giveToMbarrier(fiber, queue, readAddress(words), !instruction.modifier(0), site);
  }
}

void executeWarpCopies(CameoSimThread *thread, const CameoSimStep *steps, uint32_t count,
                       const CameoSimWarpCopy *copies) {
  Fiber &fiber = *reinterpret_cast<Fiber *>(thread);
  Worker &worker = *fiber.block->worker;
  bool byLanes = worker.checks & kCheckMemory;
  for (const CameoSimStep *step = steps; step != steps + count; ++step) {
    Instruction instruction = instructionOf(*step);
    bool copying = instruction.opcode() == CAMEO_SIM_OP_CP_ASYNC;
    if (byLanes)
      executeByLanes(*step, *fiber.warp, copying ? copies : nullptr);
    else if (copying)
      issueForWarp(*step, *fiber.warp, worker.warpCopyQueue(fiber), *copies);
    else if (instruction.opcode() == CAMEO_SIM_OP_CP_COMMIT)
      worker.warpCopyQueue(fiber).groups.push_back(worker.warpCopyQueue(fiber).end);
    else
      waitForWarp(worker.warpCopyQueue(fiber), instruction.modifier(0));
    copies += copying;
  }
}

} // namespace cameo::sim
