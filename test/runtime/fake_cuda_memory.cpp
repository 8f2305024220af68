// A stand-in for libcuda.so.1: memory and transfers. Device memory is the host's, so that copies
// are real.
// SPDX-License-Identifier: Apache-2.0
#include "fake_cuda_entry.h"

#include <cstdlib>
#include <cstring>

using namespace fakecuda;

namespace fakecuda {

const std::pair<const CUdeviceptr, Allocation> *findMemory(CUdeviceptr pointer, size_t bytes) {
  auto &memory = state().memory;
  auto after = memory.upper_bound(pointer);
  if (after == memory.begin())
    return nullptr;
  auto &found = *--after;
  size_t offset = pointer - found.first;
  return offset <= found.second.bytes && bytes <= found.second.bytes - offset ? &found : nullptr;
}

size_t pinnedFrom(const void *pointer) {
  auto &pinned = state().pinned;
  auto address = reinterpret_cast<uintptr_t>(pointer);
  auto after = pinned.upper_bound(address);
  if (after == pinned.begin())
    return 0;
  auto &[begin, size] = *--after;
  return address - begin < size ? size - (address - begin) : 0;
}

namespace {

Op transfer(const char *what, Engine engine, size_t bytes) {
  const ClockModel &model = state().clock.model;
  Op op;
  op.what = what;
  op.engine = engine;
  op.duration = model.copy + static_cast<double>(bytes) /
                                 (engine == Engine::Kernels ? model.fillBytes : model.copyBytes);
  return op;
}

// Whether enqueued work may still use the memory is looked at when that work is run: by then it is
// an address that means nothing.
CUresult checked(CUdeviceptr pointer, size_t bytes) {
  return findMemory(pointer, bytes) ? CUDA_SUCCESS : CUDA_ERROR_ILLEGAL_ADDRESS;
}

} // namespace

CUresult copyUp(CUdeviceptr target, const void *source, size_t bytes, Op &op) {
  if (!findMemory(target, bytes))
    return CUDA_ERROR_INVALID_VALUE;
  op = transfer("copy to the device", Engine::Up, bytes);
  op.work = [=]() -> CUresult {
    if (CUresult error = checked(target, bytes))
      return error;
    memcpy(reinterpret_cast<void *>(target), source, bytes);
    return CUDA_SUCCESS;
  };
  return CUDA_SUCCESS;
}

CUresult copyDown(void *target, CUdeviceptr source, size_t bytes, Op &op) {
  if (!findMemory(source, bytes))
    return CUDA_ERROR_INVALID_VALUE;
  op = transfer("copy to the host", Engine::Down, bytes);
  op.work = [=]() -> CUresult {
    if (CUresult error = checked(source, bytes))
      return error;
    memcpy(target, reinterpret_cast<const void *>(source), bytes);
    return CUDA_SUCCESS;
  };
  return CUDA_SUCCESS;
}

CUresult copyAcross(CUdeviceptr target, CUdeviceptr source, size_t bytes, Op &op) {
  if (!findMemory(target, bytes) || !findMemory(source, bytes))
    return CUDA_ERROR_INVALID_VALUE;
  op = transfer("copy on the device", Engine::Kernels, bytes);
  op.work = [=]() -> CUresult {
    if (checked(target, bytes) || checked(source, bytes))
      return CUDA_ERROR_ILLEGAL_ADDRESS;
    memmove(reinterpret_cast<void *>(target), reinterpret_cast<void *>(source), bytes);
    return CUDA_SUCCESS;
  };
  return CUDA_SUCCESS;
}

CUresult fill(CUdeviceptr target, unsigned value, unsigned elementBytes, size_t count, Op &op) {
  const size_t bytes = elementBytes * count;
  if ((elementBytes != 1 && elementBytes != 2 && elementBytes != 4) || target % elementBytes ||
      !findMemory(target, bytes))
    return CUDA_ERROR_INVALID_VALUE;
  op = transfer("fill", Engine::Kernels, bytes);
  op.work = [=]() -> CUresult {
    if (CUresult error = checked(target, bytes))
      return error;
    for (size_t i = 0; i < count; ++i)
      memcpy(reinterpret_cast<char *>(target) + i * elementBytes, &value, elementBytes);
    return CUDA_SUCCESS;
  };
  return CUDA_SUCCESS;
}

} // namespace fakecuda

extern "C" {

CUresult cuMemAlloc_v2(CUdeviceptr *pointer, size_t bytes) {
  ENTER(Context, bytesOf(bytes));
  State &s = state();
  if (!bytes)
    return CUDA_ERROR_INVALID_VALUE;
  if (CUresult error = forbiddenInCapture())
    return error;
  int device = currentDevice(), block = -1;
  const DeviceSpec &spec = s.devices[device];
  size_t total = spec.memory - std::min(spec.memory, spec.contextBytes);
  if (!s.blocks[device].allocate(bytes, total, block))
    return CUDA_ERROR_OUT_OF_MEMORY;
  void *memory = nullptr;
  if (posix_memalign(&memory, MemoryBlocks::granule, bytes)) {
    s.blocks[device].release(bytes, block);
    return CUDA_ERROR_OUT_OF_MEMORY;
  }
  memset(memory, 0xab, bytes); // nothing may count on zeros
  *pointer = reinterpret_cast<CUdeviceptr>(memory);
  s.memory[*pointer] = {bytes, device, block};
  return CUDA_SUCCESS;
}

// Waits for all work of the device, as the real one does.
CUresult cuMemFree_v2(CUdeviceptr pointer) {
  ENTER_RELEASE(Context);
  State &s = state();
  if (CUresult error = forbiddenInCapture())
    return error;
  auto found = s.memory.find(pointer);
  if (found == s.memory.end())
    return CUDA_ERROR_INVALID_VALUE;
  if (CUresult error = drainAll())
    return error;
  const Allocation &allocation = found->second;
  s.blocks[allocation.device].release(allocation.bytes, allocation.block);
  s.memory.erase(found);
  free(reinterpret_cast<void *>(pointer));
  return call.error;
}

CUresult cuMemGetInfo_v2(size_t *free, size_t *total) {
  ENTER(Context);
  const DeviceSpec &spec = state().devices[currentDevice()];
  *total = spec.memory;
  *free =
      spec.memory - std::min(spec.memory, spec.contextBytes) - state().blocks[currentDevice()].used;
  return CUDA_SUCCESS;
}

CUresult cuMemHostAlloc(void **pointer, size_t bytes, unsigned flags) {
  ENTER(Context, bytesOf(bytes));
  State &s = state();
  if (!bytes)
    return CUDA_ERROR_INVALID_VALUE;
  if (CUresult error = forbiddenInCapture())
    return error;
  size_t most = s.devices[currentDevice()].pinnedBytes;
  if (bytes > most - std::min(most, s.pinnedUsed) || posix_memalign(pointer, 4096, bytes))
    return CUDA_ERROR_OUT_OF_MEMORY;
  s.pinnedUsed += bytes;
  s.pinned[reinterpret_cast<uintptr_t>(*pointer)] = bytes;
  return CUDA_SUCCESS;
}

CUresult cuMemFreeHost(void *pointer) {
  ENTER_RELEASE(Context);
  State &s = state();
  if (CUresult error = forbiddenInCapture())
    return error;
  auto found = s.pinned.find(reinterpret_cast<uintptr_t>(pointer));
  if (found == s.pinned.end())
    return CUDA_ERROR_INVALID_VALUE;
  if (CUresult error = drainAll())
    return error;
  s.pinnedUsed -= found->second;
  s.pinned.erase(found);
  free(pointer);
  return call.error;
}

CUresult cuPointerGetAttribute(void *value, int attribute, CUdeviceptr pointer) {
  ENTER(Context);
  auto *found = findMemory(pointer, 1);
  if (!found && !pinnedFrom(reinterpret_cast<const void *>(pointer)))
    return CUDA_ERROR_INVALID_VALUE;
  if (attribute == CU_POINTER_ATTRIBUTE_MEMORY_TYPE)
    *static_cast<int *>(value) = found ? CU_MEMORYTYPE_DEVICE : CU_MEMORYTYPE_HOST;
  else if (attribute == CU_POINTER_ATTRIBUTE_DEVICE_ORDINAL)
    *static_cast<int *>(value) = found ? found->second.device : 0;
  else
    return CUDA_ERROR_INVALID_VALUE;
  return CUDA_SUCCESS;
}

CUresult cuMemcpyHtoDAsync_v2(CUdeviceptr destination, const void *source, size_t bytes,
                              CUstream stream) {
  ENTER(Context, bytesOf(bytes) + " from " + addressOf(source));
  auto target = findStream(stream);
  Op op;
  if (CUresult error = copyUp(destination, source, bytes, op))
    return error;
  if (target && !target->capture && pinnedFrom(source) < bytes) {
    // Pageable memory has been read when the call returns; the host has copied it.
    auto *begin = static_cast<const char *>(source);
    auto copy = std::make_shared<std::vector<char>>(begin, begin + bytes);
    if (CUresult error = copyUp(destination, copy->data(), bytes, op))
      return error;
    op.work = [copy, work = std::move(op.work)] { return work(); };
    state().clock.host() += op.duration;
  }
  return enqueue(target, std::move(op), Node::Copy);
}

CUresult cuMemcpyDtoHAsync_v2(void *destination, CUdeviceptr source, size_t bytes,
                              CUstream stream) {
  ENTER(Context, bytesOf(bytes) + " to " + addressOf(destination));
  auto target = findStream(stream);
  Op op;
  if (CUresult error = copyDown(destination, source, bytes, op))
    return error;
  CUresult error = enqueue(target, std::move(op), Node::Copy);
  if (error || target->capture || pinnedFrom(destination) >= bytes)
    return error;
  return waitFor(pointOf(target)); // pageable memory: the call waits
}

CUresult cuMemcpyDtoDAsync_v2(CUdeviceptr destination, CUdeviceptr source, size_t bytes,
                              CUstream stream) {
  ENTER(Context, bytesOf(bytes));
  Op op;
  if (CUresult error = copyAcross(destination, source, bytes, op))
    return error;
  return enqueue(findStream(stream), std::move(op), Node::Copy);
}

CUresult cuMemsetD8Async(CUdeviceptr destination, unsigned char value, size_t bytes,
                         CUstream stream) {
  ENTER(Context, bytesOf(bytes));
  Op op;
  if (CUresult error = fill(destination, value, 1, bytes, op))
    return error;
  return enqueue(findStream(stream), std::move(op), Node::Fill);
}

} // extern "C"
