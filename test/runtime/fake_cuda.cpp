// A stand-in for libcuda.so.1: devices, contexts, modules and memory.
// SPDX-License-Identifier: Apache-2.0
#include "fake_cuda_entry.h"

#include <cstring>

using namespace fakecuda;

namespace fakecuda {

Call::Call(const char *name, Needs needs, const std::string &detail) : lock(state().mutex) {
  State &s = state();
  s.calls.emplace_back(name, detail);
  trace(detail.empty() ? name : name + (" " + detail));
  if (needs != Nothing && !s.initialised)
    error = 3; // CUDA_ERROR_NOT_INITIALIZED
  else if (needs == Context && contextStack().empty())
    error = 201; // CUDA_ERROR_INVALID_CONTEXT
  else if (needs == Context && s.sticky)
    error = s.sticky;
  if (s.failing == name && --s.failingIn == 0) {
    s.failing.clear();
    s.failed = true;
    error = s.failingError;
  }
}

std::vector<CUcontext> &contextStack() {
  thread_local std::vector<CUcontext> stack;
  return stack;
}

int currentDevice() { return static_cast<int>(number(contextStack().back())) - 1; }

} // namespace fakecuda

namespace {

struct ErrorText {
  CUresult error;
  const char *name, *text;
};
constexpr ErrorText errorTexts[] = {
    {0, "CUDA_SUCCESS", "no error"},
    {1, "CUDA_ERROR_INVALID_VALUE", "invalid argument"},
    {2, "CUDA_ERROR_OUT_OF_MEMORY", "out of memory"},
    {3, "CUDA_ERROR_NOT_INITIALIZED", "initialization error"},
    {34, "CUDA_ERROR_STUB_LIBRARY", "CUDA driver is a stub library"},
    {100, "CUDA_ERROR_NO_DEVICE", "no CUDA-capable device is detected"},
    {101, "CUDA_ERROR_INVALID_DEVICE", "invalid device ordinal"},
    {200, "CUDA_ERROR_INVALID_IMAGE", "device kernel image is invalid"},
    {201, "CUDA_ERROR_INVALID_CONTEXT", "invalid device context"},
    {209, "CUDA_ERROR_NO_BINARY_FOR_GPU",
     "no kernel image is available for execution on the device"},
    {218, "CUDA_ERROR_INVALID_PTX", "a PTX JIT compilation failed"},
    {222, "CUDA_ERROR_UNSUPPORTED_PTX_VERSION",
     "the provided PTX was compiled with an unsupported toolchain."},
    {400, "CUDA_ERROR_INVALID_HANDLE", "invalid resource handle"},
    {500, "CUDA_ERROR_NOT_FOUND", "named symbol not found"},
    {700, "CUDA_ERROR_ILLEGAL_ADDRESS", "an illegal memory access was encountered"},
    {719, "CUDA_ERROR_LAUNCH_FAILED", "unspecified launch failure"},
    {900, "CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED",
     "operation not permitted when stream is capturing"},
    {901, "CUDA_ERROR_STREAM_CAPTURE_INVALIDATED",
     "operation failed due to a previous error during capture"},
    {904, "CUDA_ERROR_STREAM_CAPTURE_UNJOINED", "capturing stream has unjoined work"},
    {999, "CUDA_ERROR_UNKNOWN", "unknown error"}};

} // namespace

extern "C" {

CUresult cuGetErrorName(CUresult error, const char **name) {
  for (const ErrorText &entry : errorTexts)
    if (entry.error == error) {
      *name = entry.name;
      return CUDA_SUCCESS;
    }
  *name = nullptr;
  return CUDA_ERROR_INVALID_VALUE;
}

CUresult cuGetErrorString(CUresult error, const char **text) {
  for (const ErrorText &entry : errorTexts)
    if (entry.error == error) {
      *text = entry.text;
      return CUDA_SUCCESS;
    }
  *text = nullptr;
  return CUDA_ERROR_INVALID_VALUE;
}

CUresult cuInit(unsigned flags) {
  ENTER(Nothing);
  if (state().devices.empty())
    return CUDA_ERROR_NO_DEVICE;
  if (!state().artefactFile.empty() && !useArtefact(state().artefactFile.c_str()))
    return CUDA_ERROR_UNKNOWN;
  state().artefactFile.clear();
  state().initialised = true;
  return CUDA_SUCCESS;
}

CUresult cuDriverGetVersion(int *version) {
  ENTER(Nothing);
  *version = state().driverVersion;
  return CUDA_SUCCESS;
}

CUresult cuDeviceGetCount(int *count) {
  ENTER(Initialised);
  *count = static_cast<int>(state().devices.size());
  return CUDA_SUCCESS;
}

CUresult cuDeviceGet(CUdevice *device, int ordinal) {
  ENTER(Initialised, std::to_string(ordinal));
  if (ordinal < 0 || ordinal >= static_cast<int>(state().devices.size()))
    return 101;
  *device = ordinal;
  return CUDA_SUCCESS;
}

CUresult cuDeviceGetName(char *name, int length, CUdevice device) {
  ENTER(Initialised);
  snprintf(name, length, "%s", state().devices.at(device).name.c_str());
  return CUDA_SUCCESS;
}

CUresult cuDeviceGetAttribute(int *value, int attribute, CUdevice device) {
  ENTER(Initialised);
  const DeviceSpec &spec = state().devices.at(device);
  switch (attribute) {
  case CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR:
    *value = spec.major;
    return CUDA_SUCCESS;
  case CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR:
    *value = spec.minor;
    return CUDA_SUCCESS;
  case CU_DEVICE_ATTRIBUTE_PAGEABLE_MEMORY_ACCESS:
    *value = 0;
    return CUDA_SUCCESS;
  case CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT:
    *value = 108;
    return CUDA_SUCCESS;
  case CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK_OPTIN:
    *value = spec.sharedOptin;
    return CUDA_SUCCESS;
  }
  return CUDA_ERROR_INVALID_VALUE;
}

CUresult cuDeviceTotalMem_v2(size_t *bytes, CUdevice device) {
  ENTER(Initialised);
  *bytes = state().devices.at(device).memory;
  return CUDA_SUCCESS;
}

CUresult cuDevicePrimaryCtxRetain(CUcontext *context, CUdevice device) {
  ENTER(Initialised, std::to_string(device));
  ++state().retains.at(device);
  *context = handle<CUcontext>(device + 1);
  return CUDA_SUCCESS;
}

CUresult cuDevicePrimaryCtxRelease_v2(CUdevice device) {
  ENTER_RELEASE(Initialised, std::to_string(device));
  if (state().retains.at(device) == 0)
    return 201;
  --state().retains[device];
  return call.error;
}

CUresult cuCtxGetCurrent(CUcontext *context) {
  ENTER(Initialised);
  *context = contextStack().empty() ? nullptr : contextStack().back();
  return CUDA_SUCCESS;
}

CUresult cuCtxPushCurrent_v2(CUcontext context) {
  ENTER(Initialised);
  uint64_t device = number(context);
  if (!device || device > state().devices.size() || !state().retains[device - 1])
    return 201;
  contextStack().push_back(context);
  return CUDA_SUCCESS;
}

CUresult cuCtxPopCurrent_v2(CUcontext *context) {
  ENTER_RELEASE(Initialised);
  if (contextStack().empty())
    return 201;
  if (context)
    *context = contextStack().back();
  contextStack().pop_back();
  return call.error;
}

CUresult cuModuleLoadDataEx(CUmodule *module, const void *image, unsigned optionCount, int *options,
                            void **values) {
  ENTER(Context, describeImage(image));
  State &s = state();
  if (CUresult error = forbiddenInCapture())
    return error;
  Module loaded;
  std::string log = s.log;
  CUresult error = readImage(image, s.devices[currentDevice()], s.driverVersion, loaded, log);
  if (!error)
    error = s.logError;
  char *buffer = nullptr;
  int wanted = error ? CU_JIT_ERROR_LOG_BUFFER : CU_JIT_INFO_LOG_BUFFER;
  for (unsigned i = 0; i < optionCount; ++i) {
    if (options[i] == wanted)
      buffer = static_cast<char *>(values[i]);
    // The size is the value itself and becomes the number of bytes written.
    if (options[i] == wanted + 1 && buffer) {
      size_t room = number(values[i]);
      size_t length = room ? std::min(log.size(), room - 1) : 0;
      if (room) {
        memcpy(buffer, log.data(), length);
        buffer[length] = 0;
      }
      values[i] = handle<void *>(length);
    }
  }
  if (error)
    return error;
  uint64_t id = s.nextHandle++;
  s.modules[id] = std::move(loaded);
  *module = handle<CUmodule>(id);
  return CUDA_SUCCESS;
}

CUresult cuModuleUnload(CUmodule module) {
  ENTER_RELEASE(Context);
  State &s = state();
  for (auto &[id, stream] : s.streams)
    if (!stream->pending.empty())
      misuse("module unloaded while a stream has work");
  if (!s.modules.erase(number(module)))
    return 400;
  for (auto it = s.functions.begin(); it != s.functions.end();)
    it = it->second.module == number(module) ? s.functions.erase(it) : std::next(it);
  return call.error;
}

CUresult cuModuleGetFunction(CUfunction *function, CUmodule module, const char *name) {
  ENTER(Context, name);
  State &s = state();
  auto found = s.modules.find(number(module));
  if (found == s.modules.end())
    return 400;
  auto kernel = found->second.kernels.find(name);
  if (kernel == found->second.kernels.end())
    return CUDA_ERROR_NOT_FOUND;
  for (auto &[id, existing] : s.functions)
    if (existing.module == number(module) && existing.kernel.name == name) {
      *function = handle<CUfunction>(id);
      return CUDA_SUCCESS;
    }
  uint64_t id = s.nextHandle++;
  s.functions[id] = {number(module), kernel->second};
  *function = handle<CUfunction>(id);
  return CUDA_SUCCESS;
}

CUresult cuFuncGetAttribute(int *value, int attribute, CUfunction function) {
  ENTER(Context);
  auto found = state().functions.find(number(function));
  if (found == state().functions.end())
    return 400;
  if (attribute == CU_FUNC_ATTRIBUTE_SHARED_SIZE_BYTES)
    *value = found->second.kernel.sharedStatic;
  else if (attribute == CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES)
    *value = found->second.dynamicShared;
  else
    return CUDA_ERROR_INVALID_VALUE;
  return CUDA_SUCCESS;
}

CUresult cuFuncSetAttribute(CUfunction function, int attribute, int value) {
  ENTER(Context, std::to_string(attribute) + " = " + std::to_string(value));
  auto found = state().functions.find(number(function));
  if (found == state().functions.end())
    return 400;
  if (attribute == CU_FUNC_ATTRIBUTE_NON_PORTABLE_CLUSTER_SIZE_ALLOWED)
    return state().devices[currentDevice()].major >= 9 ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE;
  if (attribute != CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES ||
      value + found->second.kernel.sharedStatic > state().devices[currentDevice()].sharedOptin)
    return CUDA_ERROR_INVALID_VALUE;
  found->second.dynamicShared = value;
  return CUDA_SUCCESS;
}

CUresult cuMemAlloc_v2(CUdeviceptr *pointer, size_t bytes) {
  ENTER(Context, bytesOf(bytes));
  State &s = state();
  if (!bytes)
    return CUDA_ERROR_INVALID_VALUE;
  if (CUresult error = forbiddenInCapture())
    return error;
  int device = currentDevice();
  if (bytes > s.devices[device].memory - s.used[device])
    return CUDA_ERROR_OUT_OF_MEMORY;
  void *memory = nullptr;
  if (posix_memalign(&memory, 256, bytes))
    return CUDA_ERROR_OUT_OF_MEMORY;
  memset(memory, 0xab, bytes); // nothing may count on zeros
  s.used[device] += bytes;
  *pointer = reinterpret_cast<CUdeviceptr>(memory);
  s.memory[*pointer] = {bytes, device};
  return CUDA_SUCCESS;
}

CUresult cuMemFree_v2(CUdeviceptr pointer) {
  ENTER_RELEASE(Context);
  State &s = state();
  auto found = s.memory.find(pointer);
  if (found == s.memory.end())
    return CUDA_ERROR_INVALID_VALUE;
  drainAll();
  s.used[found->second.second] -= found->second.first;
  s.memory.erase(found);
  free(reinterpret_cast<void *>(pointer));
  return call.error;
}

CUresult cuMemGetInfo_v2(size_t *free, size_t *total) {
  ENTER(Context);
  int device = currentDevice();
  *total = state().devices[device].memory;
  *free = *total - state().used[device];
  return CUDA_SUCCESS;
}

CUresult cuMemHostAlloc(void **pointer, size_t bytes, unsigned flags) {
  ENTER(Context, bytesOf(bytes));
  if (!bytes)
    return CUDA_ERROR_INVALID_VALUE;
  if (posix_memalign(pointer, 4096, bytes))
    return CUDA_ERROR_OUT_OF_MEMORY;
  state().pinned[reinterpret_cast<uintptr_t>(*pointer)] = bytes;
  return CUDA_SUCCESS;
}

CUresult cuMemFreeHost(void *pointer) {
  ENTER_RELEASE(Context);
  drainAll();
  if (!state().pinned.erase(reinterpret_cast<uintptr_t>(pointer)))
    return CUDA_ERROR_INVALID_VALUE;
  free(pointer);
  return call.error;
}

} // extern "C"
