// Opening the driver, naming its failures, and listing its devices.
// SPDX-License-Identifier: Apache-2.0
#include "runtime/cuda/driver.h"

#include <cerrno>
#include <cstring>
#include <dlfcn.h>
#include <unistd.h>

namespace cameo::rt::cuda {

namespace {

constexpr const char *driverLibrary = "libcuda.so.1";
// The oldest driver that has every function of the list that is not optional.
constexpr int oldestDriver = 11000;

// Tells a library that is not there from one that is there and does not load: the loader names a
// file it found by its path, and one it did not find by the name asked for, with ENOENT's text (in
// whatever language).
bool isMissing(const char *library, const char *message) {
  if (strchr(library, '/'))
    return access(library, F_OK) != 0 && errno == ENOENT;
  size_t length = strlen(library);
  const char *reason = strerror(ENOENT);
  size_t messageLength = strlen(message), reasonLength = strlen(reason);
  return !strncmp(message, library, length) && message[length] == ':' &&
         messageLength >= reasonLength && !strcmp(message + messageLength - reasonLength, reason);
}

// The device's context does not come back from these; every later call fails.
bool losesContext(CUresult result) {
  return (result >= CUDA_ERROR_ILLEGAL_ADDRESS && result <= CUDA_ERROR_LAUNCH_TIMEOUT &&
          result != CUDA_ERROR_LAUNCH_OUT_OF_RESOURCES) ||
         result == CUDA_ERROR_ASSERT ||
         (result >= CUDA_ERROR_HARDWARE_STACK_ERROR && result <= CUDA_ERROR_LAUNCH_FAILED) ||
         result == CUDA_ERROR_ECC_UNCORRECTABLE;
}

} // namespace

std::string versionText(int version) {
  return std::to_string(version / 1000) + "." + std::to_string(version % 1000 / 10);
}

Status Driver::open(const char *library, Driver &driver) {
  if (!library)
    library = driverLibrary;
  void *handle = dlopen(library, RTLD_NOW | RTLD_LOCAL);
  if (!handle) {
    const char *reason = dlerror();
    if (!reason)
      reason = "unknown reason";
    if (isMissing(library, reason))
      return failure(Code::NoDriver, "no CUDA driver: %s", reason);
    return failure(Code::Driver, "the CUDA driver does not load: %s", reason);
  }
  const char *missing = nullptr;
#define CAMEO_CUDA_SYMBOL(name, ...)                                                               \
  driver.name = reinterpret_cast<decltype(driver.name)>(dlsym(handle, #name));                     \
  if (!driver.name && !missing)                                                                    \
    missing = #name;
#define CAMEO_CUDA_OPTIONAL(name, ...)                                                             \
  driver.name = reinterpret_cast<decltype(driver.name)>(dlsym(handle, #name));
#include "runtime/cuda/driver_symbols.def"
  if (!missing)
    return Status();
  int version = 0;
  if (driver.cuDriverGetVersion && driver.cuDriverGetVersion(&version) == CUDA_SUCCESS &&
      version < oldestDriver)
    return failure(Code::Driver, "the CUDA driver %s is for CUDA %s; CUDA %s or newer is needed",
                   library, versionText(version).c_str(), versionText(oldestDriver).c_str());
  return failure(Code::Driver,
                 "the CUDA driver %s lacks %s; a driver for CUDA %s or newer is "
                 "needed",
                 library, missing, versionText(oldestDriver).c_str());
}

std::string Driver::describe(CUresult result) const {
  const char *name = nullptr, *text = nullptr;
  if (cuGetErrorName(result, &name) != CUDA_SUCCESS || !name)
    name = "error";
  if (cuGetErrorString(result, &text) != CUDA_SUCCESS || !text)
    text = "the driver has no text for it";
  return std::string(name) + " (" + std::to_string(result) + "): " + text;
}

Status Driver::check(CUresult result, const char *call, const std::string &context) const {
  if (result == CUDA_SUCCESS)
    return Status();
  std::string message = std::string(call) + ": " + describe(result);
  if (!context.empty())
    message += "; " + context;
  if (losesContext(result))
    message += "; the GPU's context is lost, this process cannot use it any more";
  return Status(result == CUDA_ERROR_OUT_OF_MEMORY ? Code::OutOfMemory : Code::Driver,
                std::move(message));
}

bool Driver::hasGraphs() const {
  return cuGraphCreate && cuGraphAddKernelNode && cuGraphAddMemcpyNode &&
         cuGraphAddEventRecordNode && cuGraphInstantiateWithFlags &&
         cuGraphExecKernelNodeSetParams && cuGraphExecMemcpyNodeSetParams && cuGraphLaunch &&
         cuGraphExecDestroy && cuGraphDestroy;
}

Status initialise(const Driver &driver, int &deviceCount, int &driverVersion) {
  CAMEO_RETURN_IF_ERROR(CAMEO_CUDA(driver, cuDriverGetVersion, &driverVersion));
  if (CUresult result = driver.cuInit(0))
    return driver.check(result, "cuInit", "the driver is for CUDA " + versionText(driverVersion));
  CAMEO_RETURN_IF_ERROR(CAMEO_CUDA(driver, cuDeviceGetCount, &deviceCount));
  if (deviceCount <= 0)
    return failure(Code::Driver, "the CUDA driver (for CUDA %s) shows no GPU",
                   versionText(driverVersion).c_str());
  return Status();
}

Status readDeviceInfo(const Driver &driver, int ordinal, DeviceInfo &info) {
  CUdevice device = 0;
  CAMEO_RETURN_IF_ERROR(CAMEO_CUDA(driver, cuDeviceGet, &device, ordinal));
  char name[256] = "";
  CAMEO_RETURN_IF_ERROR(CAMEO_CUDA(driver, cuDeviceGetName, name, sizeof(name) - 1, device));
  size_t memory = 0;
  CAMEO_RETURN_IF_ERROR(CAMEO_CUDA(driver, cuDeviceTotalMem_v2, &memory, device));
  int major = 0, minor = 0, shared = 0, version = 0;
  CAMEO_RETURN_IF_ERROR(CAMEO_CUDA(driver, cuDeviceGetAttribute, &major,
                                   CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR, device));
  CAMEO_RETURN_IF_ERROR(CAMEO_CUDA(driver, cuDeviceGetAttribute, &minor,
                                   CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR, device));
  CAMEO_RETURN_IF_ERROR(CAMEO_CUDA(driver, cuDeviceGetAttribute, &shared,
                                   CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK_OPTIN, device));
  CAMEO_RETURN_IF_ERROR(CAMEO_CUDA(driver, cuDriverGetVersion, &version));
  info.kind = DeviceKind::Cuda;
  info.ordinal = ordinal;
  info.arch = static_cast<uint32_t>(major * 10 + minor);
  info.name = name;
  info.totalMemory = memory;
  info.maxSharedBytes = static_cast<uint32_t>(shared);
  info.driverVersion = static_cast<uint32_t>(version);
  return Status();
}

} // namespace cameo::rt::cuda

namespace cameo::rt {

CudaProbe probeCudaDriver(const char *library) {
  using namespace cuda;
  CudaProbe probe;
  auto finish = [&](CudaProbe::State state, const Status &status) {
    probe.state = state;
    probe.message = status.message();
    return probe;
  };
  Driver driver;
  if (Status status = Driver::open(library, driver); !status.ok())
    return finish(status.code() == Code::NoDriver ? CudaProbe::NoDriver : CudaProbe::Failing,
                  status);
  int version = 0;
  Status status = initialise(driver, probe.deviceCount, version);
  probe.driverVersion = static_cast<uint32_t>(version);
  for (int i = 0; status.ok() && i < probe.deviceCount; ++i) {
    DeviceInfo info;
    status = readDeviceInfo(driver, i, info);
    probe.devices.push_back(std::move(info));
  }
  if (status.ok())
    return finish(CudaProbe::Usable, status);
  probe.deviceCount = 0;
  probe.devices.clear();
  return finish(CudaProbe::Failing, status);
}

} // namespace cameo::rt
