// Control of the fake CUDA driver: what GPUs it pretends to have, which call fails, and what was
// called. The driver itself is a libcuda.so.1 with the real one's symbols.
//
// The fake is strict where the real driver is lenient: work is run only when something waits for
// it, so that a missing wait shows as wrong data; copies are checked against live allocations; a
// handle that does not live ends the process, as what a real driver does with one is not defined.
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
  int sharedOptin = 0;                     // shared memory a block may have; 0: as the GPU's
  size_t contextBytes = size_t(256) << 20; // what a context takes
  size_t pinnedBytes = size_t(64) << 30;   // page-locked memory that the machine gives
  unsigned clusterBlocks = 16;             // of the largest cluster that there is room for
};

/// What things take, in microseconds of a clock that nothing but the fake's own calls moves: the
/// host pays for each call and waits for the GPU; the GPU starts work when it has been submitted
/// and what it waits for is done. Kernels share one engine, transfers have one for each direction.
struct ClockModel {
  double call = 0.2;        // of the host, for every call but the following
  double launch = 2;        // cuLaunchKernel
  double graphLaunch = 5;   // cuGraphLaunch
  double kernel = 2;        // of the GPU, for a kernel and, again, for each full wave of its blocks
  double copy = 1;          // for a transfer or fill,
  double copyBytes = 25000; // and a microsecond more for so many bytes between host and GPU,
  double fillBytes = 1e6;   // so many on the GPU
  double compile = 2000;    // of the host, for PTX; and again for each 64 KiB of it
  double resolution = 0.5;  // what events' times are multiples of
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
/// For a kernel's callback: the launch at hand ends with this error.
void fault(int error);
/// Text for the driver's compiler log, and the error it ends with (0: it succeeds).
void setCompilerLog(const std::string &log, int error);
/// Refuses images when they are loaded: `cubin`, `cubin sm_90`, `PTX:221`, several with commas
/// between. Without an error cubins are refused with 209 and PTX with 218.
void refuseImages(const std::string &list);

/// When enqueued work is run. Lazy, as at first: when something waits for it, and no more than that
/// needs. Eager: at once. Seeded: whenever a call ends, some of what is enqueued, on streams drawn
/// by chance, so that what is not ordered comes in any order; the same for the same seed.
enum class Order { Lazy, Eager, Seeded };
void setOrder(Order order, uint64_t seed = 0);
/// Waiting for a stream returns at once, as if the program did not wait: to see that it is found.
void setDeaf(bool deaf);

void setClock(const ClockModel &model);
/// What every launch of the kernel takes on the GPU, in microseconds.
void setKernelTime(const std::string &kernel, double microseconds);
/// The calling thread's clock.
double hostMicroseconds();

/// What a plan says of a kernel; what is 0 it does not say. It is compared with what the code says
/// (cubins by what ptxas notes in them, PTX by its declarations) when the kernel is looked up: a
/// difference is a misuse, and the kernel cannot be launched.
struct KernelShape {
  std::vector<size_t> sizes; // bytes of each parameter
  int sharedStatic = -1;     // -1: it does not say
  unsigned block[3] = {};
  unsigned cluster[3] = {};
  bool clusterKnown = false;
};

/// Runs `body` for each launch of the kernel.
void registerKernel(const std::string &kernel, KernelShape shape,
                    std::function<void(const Launch &)> body);
void registerKernel(const std::string &kernel, std::vector<size_t> sizes,
                    std::function<void(const Launch &)> body);

/// Runs the kernels of artefacts (by their simulator images; `file:file`) from here on; false, with
/// a message on stderr, where it has none.
bool useArtefacts(const std::string &paths);

/// Whether the plans of an artefact fit its GPU code in parameters, blocks, clusters and shared
/// memory, for all of its GPUs; how many kernels were compared, and what differs.
bool compareCode(const char *path, int &kernels, std::vector<std::string> &differences);

/// The calls so far, as `name` or `name detail`, e.g. `cuLaunchKernel add grid 4x1x1`.
std::vector<std::string> calls();
/// Only the names, without the queries (cuGet*, cuCtx*, attributes).
std::vector<std::string> actions();
int callCount(const std::string &function);
Live live();
/// Misuses that the real driver would not report but which are errors: releasing a stream with a
/// capture open, freeing memory that enqueued work still uses, and so on.
std::vector<std::string> misuses();

/// A cubin as far as anything but a GPU looks at it: ELF with sections `.text.<kernel>`. It says
/// nothing of the kernels' parameters.
std::vector<char> makeCubin(int arch, const std::vector<std::string> &kernels,
                            const std::string &toolkit = "13.0");

/// What ptxas notes of a kernel, in the order in which the fields are written.
struct CubinKernel {
  std::string name;
  std::vector<size_t> sizes = {};
  unsigned block[3] = {};   // .reqntid
  unsigned cluster[3] = {}; // .reqnctapercluster
  unsigned maxThreads = 0;  // .maxntid
  unsigned registers = 0;
  unsigned sharedStatic = 0;
};
std::vector<char> makeCubin(int arch, const std::vector<CubinKernel> &kernels, bool suffix);

} // namespace fakecuda

#endif
