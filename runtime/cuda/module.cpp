// The CUDA device: modules, kernels and launches.
// SPDX-License-Identifier: Apache-2.0
#include "runtime/cuda/code.h"
#include "runtime/cuda/device.h"

#include <algorithm>
#include <cstring>

namespace cameo::runtime::cuda {

namespace {

// A driver's message is a few lines; what does not fit is cut off.
constexpr size_t compilerLogBytes = 8192;

// What every launch may use of shared memory (CUDA C++ Programming Guide, "Shared Memory").
constexpr uint32_t unaskedShared = 48 << 10;

CUstream nativeStream(Stream stream) { return static_cast<CUstream>(stream); }

// Another code section may do where the driver answers this.
bool refusesCode(CUresult result) {
  switch (result) {
  case CUDA_ERROR_INVALID_IMAGE:
  case CUDA_ERROR_NO_BINARY_FOR_GPU:
  case CUDA_ERROR_INVALID_PTX:
  case CUDA_ERROR_JIT_COMPILER_NOT_FOUND:
  case CUDA_ERROR_UNSUPPORTED_PTX_VERSION:
  case CUDA_ERROR_JIT_COMPILATION_DISABLED:
  case CUDA_ERROR_INVALID_SOURCE:
    return true;
  default:
    return false;
  }
}

} // namespace

std::string launchText(const std::string &kernel, const Launch &launch) {
  char text[160];
  snprintf(text, sizeof(text), ", grid %ux%ux%u, block %ux%ux%u, %u B of dynamic shared memory",
           launch.grid[0], launch.grid[1], launch.grid[2], launch.block[0], launch.block[1],
           launch.block[2], launch.sharedDynamic);
  return "launching " + kernel + text;
}

Status CudaDevice::loadModule(const CodeSection &section, Module &module) {
  auto *bytes = static_cast<const char *>(section.data);
  bool isPtx = section.kind == CAMEO_SECTION_PTX;
  if (!isPtx && section.kind != CAMEO_SECTION_CUBIN)
    return failure(Code::InvalidArgument, "a CUDA device runs cubins and PTX, not section kind %d",
                   static_cast<int>(section.kind));
  // The driver is told no size: it must be able to find the end.
  if (isPtx ? section.size == 0 || bytes[section.size - 1] != 0
            : section.size < 64 || memcmp(bytes, "\177ELF", 4) != 0)
    return failure(Code::Corrupt, "%s is damaged: %s", codeText(section).c_str(),
                   isPtx ? "the text does not end" : "it is not an ELF file");
  std::vector<CodeCandidate> order;
  CAMEO_RETURN_IF_ERROR(orderCudaCode({section}, deviceInfo, order));
  if (!order[0].refusal.empty())
    return allCodeRefused(deviceInfo, {order[0].refusal});

  Current current(*this);
  CAMEO_RETURN_IF_ERROR(std::move(current.status));
  std::string log(compilerLogBytes, '\0');
  int options[] = {CU_JIT_ERROR_LOG_BUFFER, CU_JIT_ERROR_LOG_BUFFER_SIZE_BYTES};
  void *values[] = {log.data(), reinterpret_cast<void *>(log.size())};
  CUmodule loaded = nullptr;
  CUresult result = driver.cuModuleLoadDataEx(&loaded, section.data, 2, options, values);
  if (result == CUDA_SUCCESS) {
    module = loaded;
    std::lock_guard<std::mutex> lock(kernelMutex);
    compilerLogs.emplace(loaded, std::move(log));
    return Status();
  }
  std::string context = "loading the " + codeText(section) + " on " + deviceInfo.name + ", sm_" +
                        std::to_string(deviceInfo.arch) + ", with a driver for CUDA " +
                        versionText(static_cast<int>(deviceInfo.driverVersion));
  log.resize(strnlen(log.data(), log.size()));
  while (!log.empty() && (log.back() == '\n' || log.back() == ' '))
    log.pop_back();
  if (!log.empty())
    context += "; the driver's compiler says: " + log;
  Status status = checkEarlier(result, "cuModuleLoadDataEx", context);
  return refusesCode(result) ? Status(Code::NoCode, status.message()) : std::move(status);
}

Status CudaDevice::unloadModule(Module module) {
  auto *unloaded = static_cast<CUmodule>(module);
  {
    std::lock_guard<std::mutex> lock(kernelMutex);
    kernels.erase(std::remove_if(kernels.begin(), kernels.end(),
                                 [&](const std::unique_ptr<LoadedKernel> &kernel) {
                                   return kernel->module == unloaded;
                                 }),
                  kernels.end());
  }
  Current current(*this);
  CAMEO_RETURN_IF_ERROR(std::move(current.status));
  Status status = checkEarlier(driver.cuModuleUnload(unloaded), "cuModuleUnload");
  std::lock_guard<std::mutex> lock(kernelMutex);
  compilerLogs.erase(unloaded);
  return status;
}

Status CudaDevice::findKernel(Module module, const KernelInfo &info, Kernel &kernel) {
  auto *loaded = static_cast<CUmodule>(module);
  std::lock_guard<std::mutex> lock(kernelMutex);
  for (const auto &known : kernels)
    if (known->module == loaded && *known->name == info.name) {
      kernel = known.get();
      return Status();
    }
  Current current(*this);
  CAMEO_RETURN_IF_ERROR(std::move(current.status));
  std::string context = std::string("for kernel ") + info.name;
  CUfunction function = nullptr;
  CUresult result = driver.cuModuleGetFunction(&function, loaded, info.name);
  if (result == CUDA_ERROR_NOT_FOUND)
    return failure(Code::Corrupt, "the GPU code has no kernel %s, which the plan launches",
                   info.name);
  // A driver that loads functions when they are asked for may refuse them only now.
  if (Status status = checkEarlier(result, "cuModuleGetFunction", context); !status.ok())
    return refusesCode(result) ? Status(Code::NoCode, status.message()) : std::move(status);

  if (info.cluster)
    CAMEO_RETURN_IF_ERROR(allowCluster(function, info));
  kernels.push_back(std::make_unique<LoadedKernel>(
      LoadedKernel{loaded, &*kernelNames.emplace(info.name).first, function, info.sharedStatic}));
  kernel = kernels.back().get();
  return Status();
}

// The GPU takes so many blocks of a cluster if it is asked to, and if it, or the part of it that this process has,
// has as many multiprocessors in one group; a launch would only fail later.
Status CudaDevice::allowCluster(CUfunction function, const KernelInfo &info) {
  uint32_t x = info.cluster & 0xff, y = info.cluster >> 8 & 0xff, z = info.cluster >> 16;
  CUlaunchConfig config = {x,       y,       z, info.block[0], info.block[1], info.block[2], 0,
                           nullptr, nullptr, 0};
  int count = 0;
  const char *call = "cuFuncSetAttribute";
  CUresult result =
      driver.cuFuncSetAttribute(function, CU_FUNC_ATTRIBUTE_NON_PORTABLE_CLUSTER_SIZE_ALLOWED, 1);
  if (result == CUDA_SUCCESS && driver.cuOccupancyMaxActiveClusters) {
    call = "cuOccupancyMaxActiveClusters";
    result = driver.cuOccupancyMaxActiveClusters(&count, function, &config);
  }
  if (result != CUDA_ERROR_INVALID_VALUE && result != CUDA_ERROR_INVALID_CLUSTER_SIZE)
    CAMEO_RETURN_IF_ERROR(checkEarlier(result, call, std::string("for kernel ") + info.name));
  return count > 0 ? Status()
                   : failure(Code::NoCode,
                             "kernel %s needs clusters of %u blocks, for which %s has no room",
                             info.name, x * y * z, deviceInfo.name.c_str());
}

// The driver would only say "invalid argument". Limits: CUDA C++ Programming Guide, "Technical
// Specifications per Compute Capability"; the same for all that are supported.
Status CudaDevice::checkLaunch(const Launch &launch) {
  auto *kernel = static_cast<LoadedKernel *>(launch.kernel);
  if (launch.grid[0] > 0x7fffffffu || launch.grid[1] > 65535 || launch.grid[2] > 65535)
    return failure(Code::Unsupported, "%s: a grid may be 2147483647x65535x65535 at most",
                   launchText(*kernel->name, launch).c_str());
  if (uint64_t(launch.sharedDynamic) + kernel->sharedStatic > deviceInfo.maxSharedBytes)
    return failure(Code::NoCode, "%s: with %u B static, %s allows %u B in all",
                   launchText(*kernel->name, launch).c_str(), kernel->sharedStatic,
                   deviceInfo.name.c_str(), deviceInfo.maxSharedBytes);
  return launch.sharedDynamic + kernel->sharedStatic > unaskedShared
             ? allowShared(*kernel, launch.sharedDynamic)
             : Status();
}

// At the first launch that needs it, for all that static shared memory leaves. Asking for every
// kernel would cost two calls each, and would load those that a driver loads at their first use.
Status CudaDevice::allowShared(LoadedKernel &kernel, uint32_t bytes) {
  std::lock_guard<std::mutex> lock(kernelMutex);
  if (bytes <= kernel.sharedDynamic)
    return Status();
  Current current(*this);
  CAMEO_RETURN_IF_ERROR(std::move(current.status));
  std::string context = "for kernel " + *kernel.name;
  int sharedStatic = 0;
  CAMEO_RETURN_IF_ERROR(
      checkEarlier(driver.cuFuncGetAttribute(&sharedStatic, CU_FUNC_ATTRIBUTE_SHARED_SIZE_BYTES,
                                             kernel.function),
                   "cuFuncGetAttribute", context));
  int most = static_cast<int>(deviceInfo.maxSharedBytes) - sharedStatic;
  CAMEO_RETURN_IF_ERROR(checkEarlier(
      driver.cuFuncSetAttribute(kernel.function, CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES,
                                most),
      "cuFuncSetAttribute",
      context + ", asking for " + std::to_string(most) + " B of dynamic shared memory"));
  kernel.sharedDynamic = static_cast<uint32_t>(most);
  return Status();
}

Status CudaDevice::launch(const Launch &launch, Stream stream) {
  CAMEO_RETURN_IF_ERROR(checkLaunch(launch));
  auto *kernel = static_cast<LoadedKernel *>(launch.kernel);
  Current current(*this);
  CAMEO_RETURN_IF_ERROR(std::move(current.status));
  CUresult result =
      driver.cuLaunchKernel(kernel->function, launch.grid[0], launch.grid[1], launch.grid[2],
                            launch.block[0], launch.block[1], launch.block[2], launch.sharedDynamic,
                            nativeStream(stream), launch.args, nullptr);
  if (result == CUDA_SUCCESS) {
    lastKernel.store(kernel->name, std::memory_order_relaxed);
    lastIsGraph.store(false, std::memory_order_relaxed);
    return Status();
  }
  return checkEarlier(result, "cuLaunchKernel", launchText(*kernel->name, launch));
}

} // namespace cameo::runtime::cuda
