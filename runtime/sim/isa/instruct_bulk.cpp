// Bulk copies and tensor copies (PTX ISA, "Data Movement and Conversion Instructions: Bulk copy",
// "Tensor").
//
// A load leaves its destination undefined (NaN) from its issue on; it is done as late as can be:
// when no thread of the block can go on without it. Then its bytes count at the mbarrier. A store
// is done when its thread waits for its group, with .read or without, or at the block's end. Races
// are looked for when either is issued.
//
// SPDX-License-Identifier: Apache-2.0
#include "runtime/sim/check/map_fences.h"
#include "runtime/sim/exec/worker.h"
#include "runtime/sim/isa/formats.h"
#include "runtime/sim/isa/instruct.h"
#include "runtime/sim/isa/tensor_map.h"

#include <algorithm>
#include <cmath>
#include <cstring>

namespace cameo::sim {
namespace {

/// "Swizzling modes": 16-byte chunks of a line of 32, 64 or 128 bytes change places with the line's
/// number, counted in 128 bytes of shared memory.
uint32_t swizzled(uint32_t address, uint32_t mode) {
  uint32_t mask = (1u << mode) - 1;
  return address ^ ((address >> 7 & mask) << 4);
}

/// Of the block that an address of shared memory belongs to.
char *windowOf(char *shared) {
  return shared - reinterpret_cast<uintptr_t>(shared) % kSharedWindow;
}

constexpr uint32_t kChunkBytes = 16;

/// The map as a copy sees its tensor. Stores and reductions write whole 16-byte chunks of a line, so
/// to the bytes, too, that pad the last one (measured on an H200, driver 580); loads know the size.
TensorMapParameters mapOf(const BulkTransfer &transfer) {
  TensorMapParameters map;
  decodeTensorMap(transfer.map, map);
  if (!transfer.barrier) {
    uint64_t perChunk = kChunkBytes / tensorElementBytes(map.type);
    map.sizes[0] = (map.sizes[0] + perChunk - 1) / perChunk * perChunk;
  }
  return map;
}

uint32_t boxCount(const TensorMapParameters &map, uint32_t d) {
  return (map.box[d] + map.steps[d] - 1) / map.steps[d];
}

uint32_t transferBytes(const TensorMapParameters &map) {
  uint32_t bytes = tensorElementBytes(map.type);
  if (map.im2col)
    return bytes * map.channels * map.pixels;
  for (uint32_t d = 0; d < map.rank; ++d)
    bytes *= boxCount(map, d);
  return bytes;
}

/// Where an element lies, or null outside of the tensor.
char *elementAt(const TensorMapParameters &map, const int64_t *index) {
  char *address = static_cast<char *>(map.address);
  for (uint32_t d = 0; d < map.rank; ++d) {
    if (index[d] < 0 || uint64_t(index[d]) >= map.sizes[d])
      return nullptr;
    address += uint64_t(index[d]) * (d ? map.strides[d - 1] : tensorElementBytes(map.type));
  }
  return address;
}

/// Visits every element of a tile in the order of shared memory: "Tiled Mode".
template <typename Visit>
void eachTiled(const TensorMapParameters &map, const BulkTransfer &transfer, Visit visit) {
  uint32_t counts[5], at[5] = {}, total = 1;
  for (uint32_t d = 0; d < 5; ++d)
    total *= counts[d] = d < map.rank ? boxCount(map, d) : 1;
  for (uint32_t i = 0; i < total; ++i) {
    int64_t index[5];
    for (uint32_t d = 0; d < map.rank; ++d)
      index[d] = int64_t(transfer.coordinates[d]) + int64_t(at[d]) * map.steps[d];
    visit(i, elementAt(map, index));
    for (uint32_t d = 0; d < 5 && ++at[d] == counts[d]; ++d)
      at[d] = 0;
  }
}

/// "Im2col Mode": pixels of the bounding box from the coordinates on, width first, each moved by
/// the offsets; all channels of a pixel together.
template <typename Visit>
void eachIm2col(const TensorMapParameters &map, const BulkTransfer &transfer, Visit visit) {
  uint32_t spatial = map.rank - 2;
  int64_t pixel[5];
  for (uint32_t d = 0; d < map.rank; ++d)
    pixel[d] = transfer.coordinates[d];
  for (uint32_t p = 0; p < map.pixels; ++p) {
    for (uint32_t c = 0; c < map.channels; ++c) {
      int64_t index[5] = {pixel[0] + c};
      for (uint32_t d = 1; d < map.rank; ++d)
        index[d] = pixel[d] + (d <= spatial ? transfer.offsets[d - 1] : 0);
      visit(p * map.channels + c, elementAt(map, index));
    }
    uint32_t d = 1;
    for (; d <= spatial; ++d) {
      pixel[d] += map.steps[d];
      if (pixel[d] <= int64_t(map.sizes[d]) - 1 + map.upper[d - 1])
        break;
      pixel[d] = map.lower[d - 1];
    }
    if (d > spatial)
      ++pixel[map.rank - 1];
  }
}

template <typename Visit>
void eachElement(const TensorMapParameters &map, const BulkTransfer &transfer, Visit visit) {
  uint32_t bytes = tensorElementBytes(map.type);
  char *window = windowOf(transfer.shared);
  uint32_t start = uint32_t(transfer.shared - window);
  auto place = [&](uint32_t number, char *global) {
    visit(window + swizzled(start + number * bytes, map.swizzle), global, bytes);
  };
  if (map.im2col)
    eachIm2col(map, transfer, place);
  else
    eachTiled(map, transfer, place);
}

/// A check of what an asynchronous copy touches when it is done, on behalf of the thread that
/// issued it. Races have been looked for when it was issued.
char *check(const BulkTransfer &transfer, char *address, uint32_t bytes, bool shared,
            CameoSimAccess access) {
  return checkWithoutRaces(*transfer.issuer, address, bytes, 1, shared ? 7 : 1, access,
                           transfer.site);
}

constexpr uint32_t kCheckedBytes = 16;

// CUtensorMapDataType (CUDA Driver API).
enum ElementType : uint32_t {
  kUint32 = 2,
  kInt32 = 3,
  kUint64 = 4,
  kInt64 = 5,
  kFloat16 = 6,
  kFloat32 = 7,
  kFloat64 = 8,
  kBfloat16 = 9,
  kFloat32Flushed = 10
};

template <typename T> T reduceIntegers(uint32_t operation, T a, T b) {
  switch (operation) {
  case CAMEO_SIM_ADD:
    return T(uint64_t(a) + uint64_t(b));
  case CAMEO_SIM_MIN:
    return std::min(a, b);
  case CAMEO_SIM_MAX:
    return std::max(a, b);
  case CAMEO_SIM_AND:
    return a & b;
  case CAMEO_SIM_OR:
    return a | b;
  case CAMEO_SIM_XOR:
    return a ^ b;
  case CAMEO_SIM_INC:
    return a >= b ? 0 : a + 1;
  default: // DEC
    return a == 0 || a > b ? b : a - 1;
  }
}

template <typename T> T reduceFloats(uint32_t operation, T a, T b) {
  // Of a number and a NaN min and max give the number.
  return operation == CAMEO_SIM_ADD   ? a + b
         : operation == CAMEO_SIM_MIN ? std::fmin(a, b)
                                      : std::fmax(a, b);
}

/// "cp.reduce.async.bulk": which types an operation is for.
bool isReduction(uint32_t type, uint32_t operation) {
  bool integer = type >= kUint32 && type <= kInt64;
  switch (operation) {
  case CAMEO_SIM_ADD:
    return (integer && type != kInt64) || (type >= kFloat16 && type <= kFloat32Flushed);
  case CAMEO_SIM_MIN:
  case CAMEO_SIM_MAX:
    return integer || type == kFloat16 || type == kBfloat16;
  case CAMEO_SIM_INC:
  case CAMEO_SIM_DEC:
    return type == kUint32;
  default:
    return integer;
  }
}

template <typename T, typename Function>
void update(char *target, const char *value, Function function) {
  T a, b;
  memcpy(&a, target, sizeof a);
  memcpy(&b, value, sizeof b);
  a = function(a, b);
  memcpy(target, &a, sizeof a);
}

void combine(uint32_t type, uint32_t operation, char *target, const char *value, uint32_t bytes) {
  if (operation == CAMEO_SIM_EXCH) {
    memcpy(target, value, bytes);
    return;
  }
  auto integers = [&](auto a, auto b) { return reduceIntegers(operation, a, b); };
  switch (type) {
  case kUint32:
    return update<uint32_t>(target, value, integers);
  case kInt32:
    return update<int32_t>(target, value, integers);
  case kUint64:
    return update<uint64_t>(target, value, integers);
  case kInt64:
    return update<int64_t>(target, value, integers);
  case kFloat16:
    return update<uint16_t>(target, value, [&](uint16_t a, uint16_t b) {
      return floatToF16(reduceFloats(operation, f16ToFloat(a), f16ToFloat(b)));
    });
  case kBfloat16:
    return update<uint16_t>(target, value, [&](uint16_t a, uint16_t b) {
      return floatToBf16(reduceFloats(operation, bf16ToFloat(a), bf16ToFloat(b)));
    });
  case kFloat64:
    return update<double>(target, value,
                          [&](double a, double b) { return reduceFloats(operation, a, b); });
  default:
    return update<float>(target, value,
                         [&](float a, float b) { return reduceFloats(operation, a, b); });
  }
}

void finishLoad(const BulkTransfer &transfer) {
  const Block &target = *transfer.issuer->block->worker->blockOf(transfer.shared);
  if (!target.live && !mayReach(*transfer.issuer, target, CAMEO_SIM_WRITE, transfer.site))
    return;
  if (transfer.map) {
    TensorMapParameters map = mapOf(transfer);
    bool nan = map.fillsNan;
    eachElement(map, transfer, [&](char *shared, char *global, uint32_t bytes) {
      shared = check(transfer, shared, bytes, true, CAMEO_SIM_WRITE);
      if (global)
        memcpy(shared, check(transfer, global, bytes, false, CAMEO_SIM_READ), bytes);
      else
        memset(shared, nan ? 0xff : 0, bytes);
    });
  } else {
    for (uint32_t i = 0; i < transfer.bytes; i += kCheckedBytes)
      memcpy(
          check(transfer, transfer.shared + i, kCheckedBytes, true, CAMEO_SIM_WRITE),
          check(transfer, transfer.global + i, kCheckedBytes, transfer.fromShared, CAMEO_SIM_READ),
          kCheckedBytes);
  }
  completeTransaction(*transfer.issuer, transfer.barrier, transfer.bytes, transfer.site,
                      transfer.issued, transfer.asyncOperation);
}

void finishStore(const BulkTransfer &transfer) {
  if (!transfer.map) {
    for (uint32_t i = 0; i < transfer.bytes; i += kCheckedBytes)
      memcpy(check(transfer, transfer.global + i, kCheckedBytes, false, CAMEO_SIM_WRITE),
             check(transfer, transfer.shared + i, kCheckedBytes, true, CAMEO_SIM_READ),
             kCheckedBytes);
    return;
  }
  TensorMapParameters map = mapOf(transfer);
  bool plain = transfer.operation == CAMEO_SIM_EXCH;
  if (!plain && !isReduction(map.type, transfer.operation))
    return reportBadOperand(*transfer.issuer, transfer.site,
                            "the reduction is not for the element type of the tensor map");
  eachElement(map, transfer, [&](char *shared, char *global, uint32_t bytes) {
    if (!global)
      return;
    const char *value = check(transfer, shared, bytes, true, CAMEO_SIM_READ);
    combine(map.type, transfer.operation,
            check(transfer, global, bytes, false, plain ? CAMEO_SIM_WRITE : CAMEO_SIM_ATOMIC),
            value, bytes);
  });
}

/// Undefines what a load is going to write.
void poison(const BulkTransfer &transfer) {
  Worker &worker = *transfer.issuer->block->worker;
  for (uint32_t i = 0; i < transfer.bytes; i += kCheckedBytes) {
    char *place = checkAsyncAccess(*transfer.issuer, transfer.asyncOperation, transfer.shared + i,
                                   kCheckedBytes, 1, 7, CAMEO_SIM_WRITE, transfer.site);
    memset(place, 0xff, kCheckedBytes);
    if (place != worker.scratch)
      worker.undefine(worker.sharedOffset(place), kCheckedBytes);
  }
}

/// The operation will read its source from now on.
void claimSource(const BulkTransfer &transfer, const char *source) {
  Worker &worker = *transfer.issuer->block->worker;
  for (uint32_t i = 0; transfer.asyncOperation && i < transfer.bytes; i += kCheckedBytes)
    worker.async.touch(*transfer.issuer, transfer.asyncOperation, worker.sharedOffset(source) + i,
                       kCheckedBytes, CAMEO_SIM_READ, transfer.site);
}

/// The operation will access its part of global memory from now on.
void claimGlobal(const BulkTransfer &transfer, uint32_t operation, CameoSimAccess access) {
  if (!operation)
    return;
  std::vector<Span> spans;
  if (transfer.map) {
    eachElement(mapOf(transfer), transfer, [&](char *, char *global, uint32_t bytes) {
      if (!global)
        return;
      if (spans.empty() || spans.back().end != global)
        spans.push_back({global, global});
      spans.back().end += bytes;
    });
  } else if (transfer.bytes) {
    spans.push_back({transfer.global, transfer.global + transfer.bytes});
  }
  transfer.issuer->block->worker->async.touchGlobal(*transfer.issuer, operation, std::move(spans),
                                                    access, transfer.site,
                                                    transfer.map ? Agent::Tensor : Agent::Bulk);
}

/// The operation will read its tensor map from now on.
void claimMap(const BulkTransfer &transfer) {
  if (!transfer.map || isMapParameter(*transfer.issuer, transfer.map))
    return;
  transfer.issuer->block->worker->async.touchGlobal(
      *transfer.issuer, transfer.asyncOperation, {{transfer.map, transfer.map + kTensorMapBytes}},
      CAMEO_SIM_READ, transfer.site, Agent::Map);
}

void startLoad(BulkTransfer transfer, const Block &target) {
  Fiber &fiber = *transfer.issuer;
  if (&target != fiber.block && !mayReach(fiber, target, CAMEO_SIM_WRITE, transfer.site))
    return;
  checkMbarrierInit(fiber, transfer.barrier, transfer.site);
  transfer.asyncOperation =
      target.worker->async.begin(fiber, transfer.map ? Agent::Tensor : Agent::Bulk, transfer.site);
  if (transfer.fromShared) {
    if (&target != fiber.block && transfer.asyncOperation)
      target.worker->async.keepsBlock(transfer.asyncOperation);
    claimSource(transfer, transfer.global);
  } else {
    claimMap(transfer);
    claimGlobal(transfer, transfer.asyncOperation, CAMEO_SIM_READ);
  }
  poison(transfer);
  if (fiber.block->clocks)
    fiber.block->worker->changeClocks().release(fiber.warp->clock, transfer.issued);
  target.worker->bulkLoads.push_back(std::move(transfer));
}

/// Reports a tiled copy from coordinates on at which a GPU calls it an illegal instruction
/// (CUDA_ERROR_ILLEGAL_INSTRUCTION; measured on an H200, driver 580). It is done all the same: a load
/// that never came would be reported as a deadlock, too.
void checkStart(Fiber &fiber, const BulkTransfer &transfer, const TensorMapParameters &map,
                bool stores) {
  auto report = [&](uint32_t dimension, uint32_t elementBytes) {
    Fault fault = makeFault(fiber, FaultKind::TensorStart, transfer.site);
    fault.values[0] = dimension;
    fault.values[1] = uint32_t(transfer.coordinates[dimension]);
    fault.values[2] = elementBytes;
    fiber.block->worker->state->log.add(std::move(fault));
  };
  uint32_t bytes = tensorElementBytes(map.type);
  if (transfer.coordinates[0] * int64_t(bytes) % kChunkBytes)
    return report(0, bytes);
  for (uint32_t d = 0; stores && d < map.rank; ++d)
    if (transfer.coordinates[d] < 0)
      return report(d, 0);
}

/// Fills in what tensor instructions name; false with a report.
bool readTensor(Instruction instruction, Fiber &fiber, const uint32_t *words, uint32_t dimensions,
                BulkTransfer &transfer) {
  TensorMapParameters map;
  if (!mayReadMap(fiber, transfer.map, transfer.site))
    return false;
  checkMapUse(fiber, transfer.map, transfer.site);
  if (!decodeTensorMap(transfer.map, map) || map.rank != dimensions ||
      map.im2col != (instruction.opcode() == CAMEO_SIM_OP_TENSOR_LOAD && instruction.modifier(1))) {
    reportBadOperand(fiber, transfer.site,
                     "the tensor map is not one, or for another kind of copy");
    return false;
  }
  for (uint32_t d = 0; d < dimensions; ++d)
    transfer.coordinates[d] = int32_t(words[d]);
  transfer.bytes = transferBytes(map);
  if (!map.im2col)
    checkStart(fiber, transfer, map, instruction.opcode() == CAMEO_SIM_OP_TENSOR_STORE);
  return true;
}

/// A copy as its instruction names it.
struct NamedCopy {
  BulkTransfer transfer;
  uint32_t alignment = 16;
  uint32_t targets = 0; // ranks of the blocks that a load is for; 0: where its addresses say
};

/// Of a tensor copy; false with a report.
bool readTensorCopy(Instruction instruction, Fiber &fiber, const uint32_t *words, NamedCopy &copy) {
  BulkTransfer &transfer = copy.transfer;
  uint32_t dimensions = instruction.modifier(0);
  copy.alignment = 128;
  if (instruction.opcode() == CAMEO_SIM_OP_TENSOR_STORE) {
    transfer.map = readAddress(words);
    transfer.operation = instruction.modifier(1);
    transfer.shared = readAddress(words + 2 + dimensions);
    return readTensor(instruction, fiber, words + 2, dimensions, transfer);
  }
  transfer.shared = readAddress(words);
  transfer.map = readAddress(words + 2);
  if (!readTensor(instruction, fiber, words + 4, dimensions, transfer))
    return false;
  words += 4 + dimensions;
  transfer.barrier = readAddress(words);
  words += 2;
  for (uint32_t d = 0; instruction.modifier(1) && d + 2 < dimensions; ++d)
    transfer.offsets[d] = uint16_t(*words++);
  if (instruction.modifier(2))
    copy.targets = *words;
  return true;
}

/// Of a copy of consecutive bytes.
void readBulkCopy(Instruction instruction, const uint32_t *words, NamedCopy &copy) {
  BulkTransfer &transfer = copy.transfer;
  char *first = readAddress(words), *second = readAddress(words + 2);
  bool isStore = instruction.opcode() == CAMEO_SIM_OP_BULK_STORE;
  transfer.fromShared = instruction.opcode() == CAMEO_SIM_OP_BULK_SHARED;
  transfer.shared = isStore ? second : first;
  transfer.global = isStore ? first : second;
  transfer.bytes = words[4];
  if (isStore)
    return;
  transfer.barrier = readAddress(words + 5);
  if (!transfer.fromShared && instruction.modifier(0))
    copy.targets = words[7];
}

/// What is wrong with where a copy goes to and comes from; null where nothing is. `owner` has the
/// shared memory that its address is in.
const char *problemOf(const NamedCopy &copy, const Fiber &fiber, const Block *owner) {
  const BulkTransfer &transfer = copy.transfer;
  Worker &worker = *fiber.block->worker;
  uint64_t offset = owner ? uint64_t(transfer.shared - owner->shared) : kSharedWindow;
  bool mayBeRemote = transfer.barrier && !copy.targets;
  if ((owner != fiber.block && !mayBeRemote) || offset >= kSharedWindow ||
      transfer.bytes > kSharedWindow - offset || offset % copy.alignment || transfer.bytes % 16 ||
      reinterpret_cast<uintptr_t>(transfer.global) % 16)
    return "a bulk copy is misaligned or outside of shared memory";
  if (transfer.barrier && worker.blockOf(transfer.barrier) != owner)
    return "the mbarrier is not in the block that is written to";
  if (transfer.fromShared &&
      (worker.blockOf(transfer.global) != fiber.block ||
       transfer.bytes > kSharedWindow - (transfer.global - fiber.block->shared)))
    return "a bulk copy's source is outside of shared memory";
  if (copy.targets >> worker.cluster.size)
    return "a copy is for a block that the cluster does not have";
  return nullptr;
}

/// A copy to global memory, which is done when its group is waited for.
void startStore(BulkTransfer &transfer, Fiber &fiber) {
  Worker &worker = *fiber.block->worker;
  Agent agent = transfer.map ? Agent::Tensor : Agent::Bulk;
  transfer.asyncOperation = worker.async.begin(fiber, agent, transfer.site);
  claimMap(transfer);
  claimSource(transfer, transfer.shared);
  transfer.globalOperation = worker.async.begin(fiber, agent, transfer.site);
  claimGlobal(transfer, transfer.globalOperation,
              transfer.operation == CAMEO_SIM_EXCH ? CAMEO_SIM_WRITE : CAMEO_SIM_ATOMIC);
  worker.bulkStores.push_back(transfer);
}

/// Copies to the same places of several blocks' shared memory.
void startLoads(const BulkTransfer &transfer, const Fiber &fiber, uint32_t targets) {
  const char *window = fiber.block->shared;
  for (uint32_t rest = targets; rest; rest &= rest - 1) {
    const Block &target = fiber.block->worker->cluster.blocks[__builtin_ctz(rest)];
    BulkTransfer one = transfer;
    one.shared = target.shared + (transfer.shared - window);
    one.barrier = target.shared + (transfer.barrier - window);
    startLoad(one, target);
  }
}

void startCopy(Instruction instruction, Fiber &fiber, const uint32_t *words, uint32_t site) {
  NamedCopy copy;
  BulkTransfer &transfer = copy.transfer;
  transfer.issuer = &fiber;
  transfer.site = site;
  bool isTensor = instruction.opcode() == CAMEO_SIM_OP_TENSOR_LOAD ||
                  instruction.opcode() == CAMEO_SIM_OP_TENSOR_STORE;
  if (!isTensor)
    readBulkCopy(instruction, words, copy);
  else if (!readTensorCopy(instruction, fiber, words, copy))
    return;
  const Block *owner = fiber.block->worker->blockOf(transfer.shared);
  if (const char *problem = problemOf(copy, fiber, owner))
    return reportBadOperand(fiber, site, problem);
  if (fiber.block->counting) {
    KernelCounters &counters = fiber.block->counting->counter.counters;
    (transfer.barrier ? counters.bulkLoadBytes : counters.bulkStoreBytes) += transfer.bytes;
  }
  if (!transfer.barrier)
    startStore(transfer, fiber);
  else if (!copy.targets)
    startLoad(transfer, *owner);
  else
    startLoads(transfer, fiber, copy.targets);
}

} // namespace

void executeBulk(Instruction instruction, Fiber &fiber, uint32_t *words, uint32_t site) {
  Worker &worker = *fiber.block->worker;
  switch (instruction.opcode()) {
  case CAMEO_SIM_OP_PREFETCH_MAP: {
    TensorMapParameters map;
    if (mayReadMap(fiber, readAddress(words), site) && !decodeTensorMap(readAddress(words), map))
      reportBadOperand(fiber, site, "the tensor map is not one");
    return;
  }
  case CAMEO_SIM_OP_BULK_COMMIT:
    for (BulkTransfer &store : worker.bulkStores)
      if (store.issuer == &fiber && !store.group)
        store.group = fiber.bulkGroups + 1;
    ++fiber.bulkGroups;
    return;
  case CAMEO_SIM_OP_BULK_WAIT:
    return finishBulkStores(worker, &fiber,
                            fiber.bulkGroups - std::min(fiber.bulkGroups, instruction.modifier(0)),
                            instruction.modifier(1));
  default:
    return startCopy(instruction, fiber, words, site);
  }
}

bool finishBulkLoad(Worker &worker) {
  if (worker.bulkLoads.empty())
    return false;
  BulkTransfer transfer = std::move(worker.bulkLoads.front());
  worker.bulkLoads.erase(worker.bulkLoads.begin());
  finishLoad(transfer);
  return true;
}

void finishBulkStores(Worker &worker, const Fiber *fiber, uint32_t lastGroup, bool reads) {
  std::vector<BulkTransfer> &stores = worker.bulkStores;
  size_t kept = 0;
  for (size_t i = 0; i < stores.size(); ++i) {
    BulkTransfer &store = stores[i];
    bool due = !fiber || (store.issuer == fiber && store.group && store.group <= lastGroup);
    if (due && !store.done) {
      finishStore(store);
      if (fiber)
        worker.async.observe(store.asyncOperation, *fiber, /*wholeWarp=*/false);
      worker.async.drop(store.asyncOperation);
      store.done = true;
    }
    if (!due || (reads && store.globalOperation)) {
      stores[kept++] = store;
      continue;
    }
    if (fiber)
      worker.async.observe(store.globalOperation, *fiber, /*wholeWarp=*/false);
    worker.async.drop(store.globalOperation);
  }
  stores.resize(kept);
}

} // namespace cameo::sim
