// A stand-in for libnvidia-ml.so.1: one board at the fake driver's PCI bus. Programs started by
// tests set through the environment what fails: FAKENVML_FAIL=nvmlDeviceGetClockInfo:3, a name or
// the beginning of several. Its clocks rise by 15 MHz each time they are read, from 345 MHz to 1980
// MHz, and its energy counter by 5 J. SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <cstring>

extern "C" {
#define CAMEO_NVML_SYMBOL(name, ...) __attribute__((visibility("default"))) int name(__VA_ARGS__);
#include "runtime/cuda/nvml_symbols.def"
}

namespace {

constexpr int kInvalidArgument = 2, kUninitialised = 1, kNotFound = 6;
int board; // its address is the handle
std::atomic<int> users{0};
std::atomic<unsigned> clockReads{0};
std::atomic<unsigned long long> millijoules{1000000};

// What the environment has this function answer; 0: nothing.
int failureOf(const char *function) {
  const char *wish = getenv("FAKENVML_FAIL");
  const char *colon = wish ? strchr(wish, ':') : nullptr;
  return colon && strncmp(function, wish, size_t(colon - wish)) == 0 ? atoi(colon + 1) : 0;
}

int check(const char *function, const void *device = &board) {
  if (int error = failureOf(function))
    return error;
  return !users ? kUninitialised : device != &board ? kInvalidArgument : 0;
}

} // namespace

int nvmlInit_v2() {
  if (int error = failureOf(__func__))
    return error;
  ++users;
  return 0;
}

int nvmlShutdown() {
  int error = check(__func__);
  if (!error)
    --users;
  return error;
}

int nvmlDeviceGetHandleByPciBusId_v2(const char *bus, void **device) {
  int error = check(__func__);
  *device = &board;
  return error ? error : strcmp(bus, "0000:01:00.0") ? kNotFound : 0;
}

int nvmlSystemGetDriverVersion(char *text, unsigned length) {
  snprintf(text, length, "580.00.01");
  return check(__func__);
}

int nvmlDeviceGetClockInfo(void *device, int type, unsigned *megahertz) {
  if (type == 1)
    *megahertz = std::min(345 + 15 * clockReads++, 1980u);
  else if (type == 2)
    *megahertz = 2619;
  else
    return kInvalidArgument;
  return check(__func__, device);
}

int nvmlDeviceGetPowerUsage(void *device, unsigned *milliwatts) {
  *milliwatts = 123456;
  return check(__func__, device);
}

int nvmlDeviceGetTemperature(void *device, int sensor, unsigned *celsius) {
  *celsius = 54;
  return sensor ? kInvalidArgument : check(__func__, device);
}

int nvmlDeviceGetTotalEnergyConsumption(void *device, unsigned long long *value) {
  *value = millijoules += 5000;
  return check(__func__, device);
}

int nvmlDeviceGetCurrentClocksThrottleReasons(void *device, unsigned long long *reasons) {
  *reasons = 0x4;
  return check(__func__, device);
}

int nvmlDeviceGetCurrentClocksEventReasons(void *device, unsigned long long *reasons) {
  *reasons = 0x4;
  return check(__func__, device);
}
