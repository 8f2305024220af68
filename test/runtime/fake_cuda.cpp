// A stand-in for libcuda.so.1: the frame of its calls, devices and contexts.
// SPDX-License-Identifier: Apache-2.0
#include "fake_cuda_entry.h"

#include <cstdlib>
#include <cstring>

using namespace fakecuda;

namespace fakecuda {

namespace {

double cost(const char *name) {
  const ClockModel &model = state().clock.model;
  return !strcmp(name, "cuLaunchKernel")  ? model.launch
         : !strcmp(name, "cuGraphLaunch") ? model.graphLaunch
                                          : model.call;
}

} // namespace

Call::Call(const char *name, Needs needs, const std::string &detail)
    : lock(state().mutex), name(name) {
  State &s = state();
  s.calls.emplace_back(name, detail);
  trace(detail.empty() ? name : name + (" " + detail));
  s.clock.host() += cost(name);
  if (s.inHostFunction == std::this_thread::get_id())
    error = errorNotPermitted;
  else if (needs != Nothing && !s.initialised)
    error = errorNotInitialised;
  else if (needs == Context && contextStack().empty())
    error = errorInvalidContext;
  else if (needs == Context && s.sticky)
    error = s.sticky;
  mayRelease = !error;
  if (s.failing == name && --s.failingIn == 0) {
    s.failing.clear();
    s.failed = true;
    error = s.failingError;
  }
}

Call::~Call() {
  if (state().inHostFunction != std::this_thread::get_id())
    runAhead();
}

void die(const std::string &what) {
  std::string call = state().calls.empty() ? "" : state().calls.back().first + " ";
  fprintf(stderr, "fake CUDA driver: %s%s; a real driver may do anything now\n", call.c_str(),
          what.c_str());
  trace("died: " + call + what);
  abort();
}

std::vector<CUcontext> &contextStack() {
  thread_local std::vector<CUcontext> stack;
  return stack;
}

int currentDevice() { return static_cast<int>(number(contextStack().back())) - 1; }

// CUDA C++ Programming Guide, "Technical Specifications per Compute Capability".
int sharedOptin(const DeviceSpec &device) {
  if (device.sharedOptin)
    return device.sharedOptin;
  int kib = 99;
  switch (device.major * 10 + device.minor) {
  case 70:
    kib = 96;
    break;
  case 75:
    kib = 64;
    break;
  case 80:
  case 87:
    kib = 163;
    break;
  case 90:
  case 100:
  case 103:
  case 110:
    kib = 227;
    break;
  }
  return kib << 10;
}

int multiprocessors(const DeviceSpec &device) {
  return device.major >= 9 ? 132 : device.major == 8 ? 108 : 40;
}

} // namespace fakecuda

namespace {

// What outlives the context's last user: an error of its work that has stood since then may have
// kept things from being given back; they go with the context.
void dropContext(int device) {
  State &s = state();
  dropStreams(device);
  for (auto it = s.memory.begin(); it != s.memory.end();)
    if (it->second.device == device) {
      free(reinterpret_cast<void *>(it->first));
      it = s.memory.erase(it);
    } else {
      ++it;
    }
  for (auto &[pointer, bytes] : s.pinned)
    free(reinterpret_cast<void *>(pointer));
  s.pinned.clear();
  s.modules.clear();
  s.functions.clear();
  s.events.clear();
  s.graphs.clear();
  s.graphExecs.clear();
  s.blocks[device] = MemoryBlocks();
  s.pinnedUsed = 0;
}

} // namespace

extern "C" {

CUresult cuInit(unsigned flags) {
  ENTER(Nothing);
  if (state().devices.empty())
    return CUDA_ERROR_NO_DEVICE;
  if (!state().artefactFile.empty() && !useArtefacts(state().artefactFile))
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
    return errorInvalidDevice;
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
  constexpr int reservedShared = 111; // CU_DEVICE_ATTRIBUTE_RESERVED_SHARED_MEMORY_PER_BLOCK
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
    *value = multiprocessors(spec);
    return CUDA_SUCCESS;
  case CU_DEVICE_ATTRIBUTE_L2_CACHE_SIZE:
    *value = 1 << 20;
    return CUDA_SUCCESS;
  case CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK_OPTIN:
    *value = sharedOptin(spec);
    return CUDA_SUCCESS;
  case reservedShared:
    *value = spec.major >= 8 ? 1024 : 0;
    return CUDA_SUCCESS;
  }
  return CUDA_ERROR_INVALID_VALUE;
}

CUresult cuDeviceTotalMem_v2(size_t *bytes, CUdevice device) {
  ENTER(Initialised);
  *bytes = state().devices.at(device).memory;
  return CUDA_SUCCESS;
}

CUresult cuDeviceGetPCIBusId(char *text, int length, CUdevice device) {
  ENTER(Initialised);
  snprintf(text, length, "0000:%02x:00.0", device + 1);
  return CUDA_SUCCESS;
}

CUresult cuDevicePrimaryCtxRetain(CUcontext *context, CUdevice device) {
  ENTER(Initialised, std::to_string(device));
  const DeviceSpec &spec = state().devices.at(device);
  if (spec.contextBytes > spec.memory)
    return CUDA_ERROR_OUT_OF_MEMORY;
  ++state().retains[device];
  *context = handle<CUcontext>(device + 1);
  return CUDA_SUCCESS;
}

CUresult cuDevicePrimaryCtxRelease_v2(CUdevice device) {
  ENTER_RELEASE(Initialised, std::to_string(device));
  State &s = state();
  if (s.retains.at(device) == 0)
    return errorInvalidContext;
  if (--s.retains[device] == 0 && s.sticky)
    dropContext(device);
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
    return errorInvalidContext;
  contextStack().push_back(context);
  return CUDA_SUCCESS;
}

CUresult cuCtxPopCurrent_v2(CUcontext *context) {
  ENTER_RELEASE(Initialised);
  if (contextStack().empty())
    return errorInvalidContext;
  if (context)
    *context = contextStack().back();
  contextStack().pop_back();
  return call.error;
}

} // extern "C"
