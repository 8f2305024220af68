// A stand-in for libcuda.so.1: modules and functions.
// SPDX-License-Identifier: Apache-2.0
#include "fake_cuda_entry.h"

#include <chrono>
#include <cstring>

using namespace fakecuda;

namespace {

enum : int { // CUfunction_attribute
  attributeMaxThreads = 0,
  attributeRegisters = 4,
  attributeClusterMustBeSet = 10
};

// Without asking for more a kernel may have this much shared memory, its static part included.
constexpr int sharedWithoutAsking = 48 * 1024;

// Hands the compiler's log to the caller, as cuModuleLoadDataEx's options ask for it.
void writeLog(const std::string &log, bool failed, unsigned count, int *options, void **values) {
  char *buffer = nullptr;
  const int wanted = failed ? CU_JIT_ERROR_LOG_BUFFER : CU_JIT_INFO_LOG_BUFFER;
  for (unsigned i = 0; i < count; ++i) {
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
}

// What the host waits for: cubins are only copied.
void compile(const void *image) {
  State &s = state();
  if (isCubin(image))
    return;
  double units = 1 + static_cast<double>(strlen(static_cast<const char *>(image))) / (64 << 10);
  s.clock.host() += s.clock.model.compile * units;
  if (s.compileMilliseconds)
    std::this_thread::sleep_for(std::chrono::milliseconds(s.compileMilliseconds));
}

void compareWithPlan(Function &function) {
  State &s = state();
  const std::string &name = function.kernel.name;
  function.mismatch = s.mismatched.count(name);
  auto plan = s.registered.find(name);
  if (plan == s.registered.end() || function.mismatch)
    return;
  std::string difference = compareKernel(function.kernel, plan->second.shape);
  function.mismatch = !difference.empty();
  if (function.mismatch)
    misuse("kernel " + name + ": " + difference);
}

// A function of the current device; null where it is none.
Function *findFunction(CUfunction handle) {
  State &s = state();
  Function *function = find(s.functions, handle, "kernel");
  return function && s.modules.at(function->module).device == currentDevice() ? function : nullptr;
}

} // namespace

extern "C" {

CUresult cuModuleLoadDataEx(CUmodule *module, const void *image, unsigned optionCount, int *options,
                            void **values) {
  ENTER(Context, describeImage(image));
  State &s = state();
  if (CUresult error = forbiddenInCapture())
    return error;
  Module loaded;
  loaded.device = currentDevice();
  std::string log = s.log;
  CUresult error = refusal(describeImage(image));
  if (!error) {
    compile(image);
    error = readImage(image, s.devices[loaded.device], s.driverVersion, loaded, log);
  }
  if (!error)
    error = s.logError;
  writeLog(log, error, optionCount, options, values);
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
  if (CUresult error = forbiddenInCapture())
    return error;
  Module *found = find(s.modules, module, "module");
  if (!found)
    return errorInvalidHandle;
  for (auto &[id, stream] : s.streams)
    if (stream->device == found->device && !stream->pending.empty())
      misuse("module unloaded while a stream has work");
  s.modules.erase(number(module));
  for (auto it = s.functions.begin(); it != s.functions.end();)
    it = it->second.module == number(module) ? s.functions.erase(it) : std::next(it);
  return call.error;
}

CUresult cuModuleGetFunction(CUfunction *function, CUmodule module, const char *name) {
  ENTER(Context, name);
  State &s = state();
  Module *found = find(s.modules, module, "module");
  if (!found)
    return errorInvalidHandle;
  auto kernel = found->kernels.find(name);
  if (kernel == found->kernels.end())
    return CUDA_ERROR_NOT_FOUND;
  for (auto &[id, existing] : s.functions)
    if (existing.module == number(module) && existing.kernel.name == name) {
      *function = handle<CUfunction>(id);
      return CUDA_SUCCESS;
    }
  uint64_t id = s.nextHandle++;
  Function &created = s.functions[id];
  created.module = number(module);
  created.kernel = kernel->second;
  created.dynamicShared = std::max(0, sharedWithoutAsking - created.kernel.sharedStatic);
  compareWithPlan(created);
  *function = handle<CUfunction>(id);
  return CUDA_SUCCESS;
}

CUresult cuFuncGetAttribute(int *value, int attribute, CUfunction function) {
  ENTER(Context);
  Function *found = findFunction(function);
  if (!found)
    return errorInvalidHandle;
  const Kernel &kernel = found->kernel;
  switch (attribute) {
  case attributeMaxThreads:
    *value = kernel.maxThreads ? static_cast<int>(kernel.maxThreads) : 1024;
    return CUDA_SUCCESS;
  case CU_FUNC_ATTRIBUTE_SHARED_SIZE_BYTES:
    *value = kernel.sharedStatic;
    return CUDA_SUCCESS;
  case attributeRegisters:
    *value = static_cast<int>(kernel.registers);
    return CUDA_SUCCESS;
  case CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES:
    *value = found->dynamicShared;
    return CUDA_SUCCESS;
  case attributeClusterMustBeSet:
    *value = 0;
    return CUDA_SUCCESS;
  case attributeClusterMustBeSet + 1:
  case attributeClusterMustBeSet + 2:
  case attributeClusterMustBeSet + 3:
    *value = static_cast<int>(kernel.cluster[attribute - attributeClusterMustBeSet - 1]);
    return CUDA_SUCCESS;
  case CU_FUNC_ATTRIBUTE_NON_PORTABLE_CLUSTER_SIZE_ALLOWED:
    *value = found->nonPortableCluster;
    return CUDA_SUCCESS;
  }
  return CUDA_ERROR_INVALID_VALUE;
}

CUresult cuFuncSetAttribute(CUfunction function, int attribute, int value) {
  ENTER(Context, std::to_string(attribute) + " = " + std::to_string(value));
  Function *found = findFunction(function);
  if (!found)
    return errorInvalidHandle;
  const DeviceSpec &device = state().devices[currentDevice()];
  if (attribute == CU_FUNC_ATTRIBUTE_NON_PORTABLE_CLUSTER_SIZE_ALLOWED) {
    found->nonPortableCluster = value && device.major >= 9;
    return device.major >= 9 ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE;
  }
  if (attribute != CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES || value < 0 ||
      value + found->kernel.sharedStatic > sharedOptin(device))
    return CUDA_ERROR_INVALID_VALUE;
  found->dynamicShared = value;
  return CUDA_SUCCESS;
}

CUresult cuOccupancyMaxActiveClusters(int *count, CUfunction function,
                                      const CUlaunchConfig *config) {
  ENTER(Context);
  Function *found = findFunction(function);
  if (!found)
    return errorInvalidHandle;
  const DeviceSpec &device = state().devices[currentDevice()];
  const unsigned *own = found->kernel.cluster;
  unsigned given[] = {config->gridDimX, config->gridDimY, config->gridDimZ};
  for (int i = 0; i < 3; ++i)
    if (device.major < 9 || !own[i] || given[i] % own[i])
      return CUDA_ERROR_INVALID_CLUSTER_SIZE;
  unsigned size = own[0] * own[1] * own[2];
  if (size > 8 && !found->nonPortableCluster)
    return CUDA_ERROR_INVALID_CLUSTER_SIZE;
  *count = size <= device.clusterBlocks;
  return CUDA_SUCCESS;
}

} // extern "C"
