// The CUDA driver: its functions, found with dlopen, and its failures turned into statuses.
// SPDX-License-Identifier: Apache-2.0
#ifndef CAMEO_RUNTIME_CUDA_DRIVER_H
#define CAMEO_RUNTIME_CUDA_DRIVER_H

#include "runtime/core/device.h"
#include "runtime/cuda/driver_types.h"

#include <string>
#include <vector>

namespace cameo::runtime::cuda {

// Where a driver is looked for.
struct DriverPlaces {
  std::string name;                 // of the library, for the loader's path, or a path
  std::vector<std::string> folders; // tried where the loader does not find the name
  std::vector<std::string> traces;  // files that only a machine with an NVIDIA GPU has

  // The system's, or for tests `library` and no other; null: the system's.
  static DriverPlaces of(const char *library);
};

// A driver library that has all functions Cameo cannot do without. It is never closed: the driver
// does not survive being unloaded. Copying is cheap enough: it is a table of pointers.
struct Driver {
#define CAMEO_CUDA_SYMBOL(name, ...) CUresult (*name)(__VA_ARGS__) = nullptr;
#include "runtime/cuda/driver_symbols.def"

  // Code::NoDriver where neither the library nor a trace of a GPU exists, Code::Driver where one
  // does and the library is not found or cannot be used. Does not initialise the driver.
  static Status open(const DriverPlaces &places, Driver &driver);
  static Status open(const char *library, Driver &driver) {
    return open(DriverPlaces::of(library), driver);
  }

  // Success, or `call`, the error's name, number and text, then `context` where it is not empty.
  Status check(CUresult result, const char *call, const std::string &context = "") const;
  // `CUDA_ERROR_OUT_OF_MEMORY (2): out of memory`.
  std::string describe(CUresult result) const;

  // Whether this driver has graphs, and all that is wanted of them.
  bool hasGraphs() const;
};

// driver.cuMemFree_v2(p) as a Status that names the call.
#define CAMEO_CUDA(driver, function, ...) (driver).check((driver).function(__VA_ARGS__), #function)

// 12040 as "12.4".
std::string versionText(int version);

// What is found there.
CudaProbe probe(const DriverPlaces &places);

// The devices of an initialised driver.
Status readDeviceInfo(const Driver &driver, int ordinal, DeviceInfo &info);
// Initialises the driver and counts its devices; an error where there are none.
Status initialise(const Driver &driver, int &deviceCount, int &driverVersion);

} // namespace cameo::runtime::cuda

#endif
