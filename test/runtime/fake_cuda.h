// Control of the fake CUDA driver: what GPUs it pretends to have, which call fails, and what was
// called. The driver itself is a libcuda.so.1 with the real one's symbols.
//
// The fake is strict where the real driver is lenient: work is run only when something waits for
// it, so that a missing wait shows as wrong data; copies are checked against live allocations;
// handles are checked against those that live.
// SPDX-License-Identifier: Apache-2.0
#ifndef CAMEO_TEST_RUNTIME_FAKE_CUDA_H
#define CAMEO_TEST_RUNTIME_FAKE_CUDA_H

#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>
#include <vector>

namespace fakecuda {

struct DeviceSpec {
  std::string name = "Fake GPU";
  int major = 8;
  int minor = 0;
  size_t memory = size_t(1) << 30;
  int sharedOptin = 163 * 1024;
};

/// A launch as a kernel's callback sees it. Device pointers are host addresses.
struct Launch {
  std::string kernel;
  unsigned grid[3], block[3];
  unsigned sharedBytes;
  std::vector<std::vector<char>> arguments;

  template <typename T> T argument(size_t index) const {
    T value;
    __builtin_memcpy(&value, arguments.at(index).data(), sizeof(T));
    return value;
  }
  template <typename T> T *pointer(size_t index) const {
    return reinterpret_cast<T *>(argument<uint64_t>(index));
  }
};

/// What the program has not given back.
struct Live {
  int contexts = 0; // primary contexts retained and not released
  int allocations = 0;
  int hostAllocations = 0;
  int modules = 0;
  int streams = 0;
  int events = 0;
  int graphs = 0;
  int graphExecs = 0;

  std::string str() const;
  bool none() const;
};

/// Forgets everything: one sm_80 device, driver of CUDA 13.0, no failures, no calls recorded.
void reset();
void setDriverVersion(int version);
void setDevices(std::vector<DeviceSpec> devices);

/// Makes the `nth` call (from 1, counted from now) of the driver function fail with `error`.
void failCall(const std::string &function, int nth, int error);
/// True when the failure asked for last has happened.
bool failureHappened();
/// Makes the next kernels of this name fail when they run: a sticky error, as in the real driver.
void failKernel(const std::string &kernel, int error);
/// Text for the driver's compiler log, and the error it ends with (0: it succeeds).
void setCompilerLog(const std::string &log, int error);

/// Runs `body` for each launch of the kernel; `sizes` are the bytes of its parameters, needed where
/// the module does not tell (cubins) and checked against it where it does (PTX).
void registerKernel(const std::string &kernel, std::vector<size_t> sizes,
                    std::function<void(const Launch &)> body);

/// Runs the kernels of an artefact (by its simulator image) from here on; false, with a message on
/// stderr, where it has none.
bool useArtefact(const char *path);

/// The calls so far, as `name` or `name detail`, e.g. `cuLaunchKernel add grid 4x1x1`.
std::vector<std::string> calls();
/// Only the names, without the queries (cuGet*, cuCtx*, attributes).
std::vector<std::string> actions();
int callCount(const std::string &function);
Live live();
/// Misuses that the real driver would not report but which are errors: releasing a stream with a
/// capture open, freeing memory that enqueued work still uses, and so on.
std::vector<std::string> misuses();

/// A cubin as far as anything but a GPU looks at it: ELF with sections `.text.<kernel>`.
std::vector<char> makeCubin(int arch, const std::vector<std::string> &kernels,
                            const std::string &toolkit = "13.0");

} // namespace fakecuda

#endif
