// NVML, found with dlopen. SPDX-License-Identifier: Apache-2.0
#include "runtime/cuda/nvml.h"

#include <dlfcn.h>

namespace cameo::runtime::cuda {

// The library is never closed: what it has started does not survive that.
struct Nvml::Functions {
#define CAMEO_NVML_SYMBOL(name, ...) int (*name)(__VA_ARGS__) = nullptr;
#include "runtime/cuda/nvml_symbols.def"
};

namespace {

// Values of nvml.h.
constexpr int kClockSm = 1, kClockMemory = 2, kTemperatureGpu = 0;

struct Slowdown {
  uint64_t bit;
  const char *name;
};
constexpr Slowdown kSlowdowns[] = {{0x1, "idle"},
                                   {0x2, "clocks set by hand"},
                                   {0x4, "power cap"},
                                   {0x8, "hardware slowdown"},
                                   {0x10, "sync boost"},
                                   {0x20, "thermal slowdown by software"},
                                   {0x40, "thermal slowdown by hardware"},
                                   {0x80, "power brake"},
                                   {0x100, "display clock setting"}};

} // namespace

Nvml::Nvml() : functions(new Functions) {}

Nvml::~Nvml() {
  if (device)
    (void)functions->nvmlShutdown();
}

Status Nvml::open(const std::string &pciBus, std::unique_ptr<Nvml> &result, const char *library) {
  if (!library)
    library = "libnvidia-ml.so.1";
  if (pciBus.empty())
    return failure(Code::NotFound, "the driver does not report the GPU's PCI bus");
  void *handle = dlopen(library, RTLD_NOW | RTLD_LOCAL);
  if (!handle)
    return failure(Code::NotFound, "no %s", library);
  std::unique_ptr<Nvml> nvml(new Nvml);
  Functions &found = *nvml->functions;
#define CAMEO_NVML_SYMBOL(name, ...)                                                               \
  found.name = reinterpret_cast<int (*)(__VA_ARGS__)>(dlsym(handle, #name));
#include "runtime/cuda/nvml_symbols.def"
  if (!found.nvmlInit_v2 || !found.nvmlShutdown || !found.nvmlDeviceGetHandleByPciBusId_v2)
    return failure(Code::Unsupported, "%s lacks functions of NVML", library);
  if (int error = found.nvmlInit_v2())
    return failure(Code::Unsupported, "nvmlInit_v2: error %d", error);
  void *device = nullptr;
  if (int error = found.nvmlDeviceGetHandleByPciBusId_v2(pciBus.c_str(), &device)) {
    (void)found.nvmlShutdown();
    return failure(Code::Unsupported, "nvmlDeviceGetHandleByPciBusId_v2(%s): error %d",
                   pciBus.c_str(), error);
  }
  nvml->device = device;
  char text[80] = "";
  if (found.nvmlSystemGetDriverVersion &&
      found.nvmlSystemGetDriverVersion(text, sizeof text - 1) == 0)
    nvml->driverText = text;
  result = std::move(nvml);
  return {};
}

NvmlReading Nvml::read() const {
  NvmlReading reading;
  const Functions &call = *functions;
  // A figure that cannot be had stays zero.
  if (call.nvmlDeviceGetClockInfo) {
    if (call.nvmlDeviceGetClockInfo(device, kClockSm, &reading.smClock))
      reading.smClock = 0;
    if (call.nvmlDeviceGetClockInfo(device, kClockMemory, &reading.memoryClock))
      reading.memoryClock = 0;
  }
  if (call.nvmlDeviceGetPowerUsage && call.nvmlDeviceGetPowerUsage(device, &reading.power))
    reading.power = 0;
  if (call.nvmlDeviceGetTemperature &&
      call.nvmlDeviceGetTemperature(device, kTemperatureGpu, &reading.temperature))
    reading.temperature = 0;
  auto *reasonsOf = call.nvmlDeviceGetCurrentClocksEventReasons
                        ? call.nvmlDeviceGetCurrentClocksEventReasons
                        : call.nvmlDeviceGetCurrentClocksThrottleReasons;
  unsigned long long reasons = 0;
  if (reasonsOf && reasonsOf(device, &reasons) == 0)
    reading.slowedBy = reasons;
  return reading;
}

Status Nvml::energy(uint64_t &millijoules) const {
  unsigned long long value = 0;
  if (!functions->nvmlDeviceGetTotalEnergyConsumption)
    return failure(Code::Unsupported, "the library does not report the energy");
  if (int error = functions->nvmlDeviceGetTotalEnergyConsumption(device, &value))
    return failure(Code::Unsupported, "nvmlDeviceGetTotalEnergyConsumption: error %d", error);
  millijoules = value;
  return {};
}

std::string slowdownNames(uint64_t reasons) {
  std::string text;
  auto add = [&](const char *name) { text += (text.empty() ? "" : ", ") + std::string(name); };
  for (const Slowdown &slowdown : kSlowdowns) {
    if (reasons & slowdown.bit)
      add(slowdown.name);
    reasons &= ~slowdown.bit;
  }
  if (reasons)
    add("another reason");
  return text.empty() ? "none" : text;
}

} // namespace cameo::runtime::cuda
