// cp.async (PTX ISA, "Data Movement and Conversion Instructions: Non-bulk copy").
//
// A copy under way leaves its destination undefined: it is filled with NaN when the copy is issued
// and gets the data when the thread waits for it, or gives it to an mbarrier, which reads the
// source then. So a missing wait shows in results; with the `init` check it is a report.
//
// SPDX-License-Identifier: Apache-2.0
#include "runtime/sim/block.h"
#include "runtime/sim/instruct.h"

#include <algorithm>
#include <cstring>

namespace cameo::sim {
namespace {

/// What conflicts with its read has been looked for since it was issued; from now on the read is
/// one of the thread's.
void move(Fiber &fiber, const PendingCopy &copy) {
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
  if (queue.done != queue.copies.size())
    return;
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
  if (sourceBytes > bytes)
    return reportBadOperand(fiber, site, "the source of a copy is larger than its destination");
  if (sourceBytes && reinterpret_cast<uintptr_t>(source) % bytes)
    return reportBadOperand(fiber, site, "the source of a copy is not aligned to its size");
  Worker &worker = *fiber.block->worker;
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
    if (allowed == 255) {
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

} // namespace cameo::sim
