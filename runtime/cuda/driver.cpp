// Opening the driver, naming its failures, and listing its devices.
// SPDX-License-Identifier: Apache-2.0
#include "runtime/cuda/driver.h"

#include "runtime/cuda/places.h"

#include <dlfcn.h>
#include <iterator>
#include <unistd.h>

namespace cameo::runtime::cuda {

namespace {

// The oldest driver that has every function of the list that is not optional.
constexpr int oldestDriver = 11000;

bool exists(const std::string &path) { return access(path.c_str(), F_OK) == 0; }

// Tells a library that is not there from one that is there and does not load: of a name that it did
// not find, the loader speaks by that name, of a file that it found by the file's path, or by the
// name of what the file needs.
bool isMissing(const std::string &library, const std::string &reason) {
  if (library.find('/') != std::string::npos)
    return !exists(library);
  return reason.compare(0, library.size() + 1, library + ":") == 0;
}

std::string loaderReason() {
  const char *reason = dlerror();
  return reason ? reason : "unknown reason";
}

std::string joined(const std::vector<std::string> &words) {
  std::string text;
  for (size_t i = 0; i < words.size(); ++i)
    text += (i == 0 ? "" : i + 1 == words.size() ? " and " : ", ") + words[i];
  return text;
}

// Opens the library, and says which file or name it was.
Status openLibrary(const DriverPlaces &places, void *&handle, std::string &opened) {
  opened = places.name;
  handle = dlopen(opened.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (handle)
    return Status();
  std::string reason = loaderReason();
  if (!isMissing(places.name, reason))
    return failure(Code::Driver, "the CUDA driver does not load: %s", reason.c_str());
  for (const std::string &folder : places.folders) {
    opened = folder + "/" + places.name;
    if (!exists(opened))
      continue;
    handle = dlopen(opened.c_str(), RTLD_NOW | RTLD_LOCAL);
    if (!handle)
      return failure(Code::Driver, "the CUDA driver does not load: %s", loaderReason().c_str());
    return Status();
  }
  for (const std::string &trace : places.traces)
    if (exists(trace))
      return failure(
          Code::Driver,
          "there is an NVIDIA GPU or its driver (%s), but %s is neither in the loader's "
          "path nor in %s; install the driver's CUDA library, or name its folder in "
          "LD_LIBRARY_PATH; a container needs NVIDIA_DRIVER_CAPABILITIES=compute,utility",
          trace.c_str(), places.name.c_str(), joined(places.folders).c_str());
  return failure(Code::NoDriver, "no CUDA driver: %s", reason.c_str());
}

// The device's context does not come back from these; every later call fails. They are the errors
// of which cuda.h says that the process must be ended or the context destroyed, and the
// uncorrectable ones of memory and links.
bool losesContext(CUresult result) {
  switch (result) {
  case CUDA_ERROR_ECC_UNCORRECTABLE:
  case CUDA_ERROR_NVLINK_UNCORRECTABLE:
  case CUDA_ERROR_CONTAINED:
  case CUDA_ERROR_ILLEGAL_ADDRESS:
  case CUDA_ERROR_LAUNCH_TIMEOUT:
  case CUDA_ERROR_ASSERT:
  case CUDA_ERROR_TENSOR_MEMORY_LEAK:
  case CUDA_ERROR_MPS_CLIENT_TERMINATED:
  case CUDA_ERROR_EXTERNAL_DEVICE:
    return true;
  default:
    return result >= CUDA_ERROR_HARDWARE_STACK_ERROR && result <= CUDA_ERROR_LAUNCH_FAILED;
  }
}

} // namespace

std::string versionText(int version) {
  return std::to_string(version / 1000) + "." + std::to_string(version % 1000 / 10);
}

DriverPlaces DriverPlaces::of(const char *library) {
  if (library)
    return {library, {}, {}};
  return {CAMEO_CUDA_LIBRARY,
          {std::begin(cameoCudaFolders), std::end(cameoCudaFolders)},
          {std::begin(cameoCudaTraces), std::end(cameoCudaTraces)}};
}

Status Driver::open(const DriverPlaces &places, Driver &driver) {
  void *handle = nullptr;
  std::string opened;
  CAMEO_RETURN_IF_ERROR(openLibrary(places, handle, opened));
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
                   opened.c_str(), versionText(version).c_str(), versionText(oldestDriver).c_str());
  return failure(Code::Driver,
                 "the CUDA driver %s lacks %s; a driver for CUDA %s or newer is "
                 "needed",
                 opened.c_str(), missing, versionText(oldestDriver).c_str());
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
  int major = 0, minor = 0, shared = 0, cache = 0, version = 0;
  CAMEO_RETURN_IF_ERROR(CAMEO_CUDA(driver, cuDeviceGetAttribute, &major,
                                   CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR, device));
  CAMEO_RETURN_IF_ERROR(CAMEO_CUDA(driver, cuDeviceGetAttribute, &minor,
                                   CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR, device));
  CAMEO_RETURN_IF_ERROR(CAMEO_CUDA(driver, cuDeviceGetAttribute, &shared,
                                   CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK_OPTIN, device));
  CAMEO_RETURN_IF_ERROR(
      CAMEO_CUDA(driver, cuDeviceGetAttribute, &cache, CU_DEVICE_ATTRIBUTE_L2_CACHE_SIZE, device));
  CAMEO_RETURN_IF_ERROR(CAMEO_CUDA(driver, cuDriverGetVersion, &version));
  info.kind = DeviceKind::Cuda;
  info.ordinal = ordinal;
  info.arch = static_cast<uint32_t>(major * 10 + minor);
  info.name = name;
  info.totalMemory = memory;
  info.maxSharedBytes = static_cast<uint32_t>(shared);
  info.driverVersion = static_cast<uint32_t>(version);
  info.cacheBytes = static_cast<uint64_t>(cache);
  char bus[32] = "";
  if (driver.cuDeviceGetPCIBusId)
    CAMEO_RETURN_IF_ERROR(CAMEO_CUDA(driver, cuDeviceGetPCIBusId, bus, sizeof(bus), device));
  info.pciBus = bus;
  return Status();
}

CudaProbe probe(const DriverPlaces &places) {
  CudaProbe probe;
  auto finish = [&](CudaProbe::State state, const Status &status) {
    probe.state = state;
    probe.message = status.message();
    return probe;
  };
  Driver driver;
  if (Status status = Driver::open(places, driver); !status.ok())
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

} // namespace cameo::runtime::cuda

namespace cameo::runtime {

CudaProbe probeCudaDriver(const char *library) {
  return cuda::probe(cuda::DriverPlaces::of(library));
}

} // namespace cameo::runtime
