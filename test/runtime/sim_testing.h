// What the simulator's tests share: a device to launch hand-written kernels on, and shorthands for
// those kernels. Site n of the image is "op n" at "test.mlir:n".
//
// SPDX-License-Identifier: Apache-2.0
#ifndef CAMEO_TEST_SIM_TESTING_H
#define CAMEO_TEST_SIM_TESTING_H

#include "runtime/sim/engine.h"

#include <array>
#include <cstring>
#include <string>
#include <vector>

namespace simtest {

using namespace cameo::sim;

constexpr uint32_t kFullMask = ~0u;

/// A GPU thread as kernels see it. Accesses are instrumented, as in checked images.
struct Gpu {
  CameoSimThread *t;
  const void *const *args;

  template <typename T> T arg(int i) const { return *static_cast<const T *>(args[i]); }
  uint32_t tid() const { return t->tid[0]; }
  uint32_t block() const { return t->ctaid[0]; }
  template <typename T> T *shared(uint32_t offset = 0) const {
    return reinterpret_cast<T *>(t->shared + offset);
  }
  void *access(const volatile void *p, uint32_t bytes, CameoSimAccess kind, uint32_t site,
               uint32_t alignment) const {
    uint64_t offset = uint64_t(static_cast<const volatile char *>(p) - t->shared);
    return t->api->access(t, const_cast<void *>(p), bytes, alignment, offset < (256u << 10) ? 3 : 1,
                          kind, site);
  }
  // Tests plant races between blocks, which are the simulator's to find and not ThreadSanitizer's.
  template <typename T>
  __attribute__((no_sanitize("thread"))) T load(const T *p, uint32_t site) const {
    return *static_cast<T *>(access(p, sizeof(T), CAMEO_SIM_READ, site, sizeof(T)));
  }
  template <typename T>
  __attribute__((no_sanitize("thread"))) void store(T *p, T value, uint32_t site) const {
    *static_cast<T *>(access(p, sizeof(T), CAMEO_SIM_WRITE, site, sizeof(T))) = value;
  }
  void atomicAdd(uint32_t *p, uint32_t value, uint32_t site) const {
    auto *at = static_cast<uint32_t *>(access(p, 4, CAMEO_SIM_ATOMIC, site, 4));
    __atomic_fetch_add(at, value, __ATOMIC_RELAXED);
  }
  void barrier(uint32_t site, uint32_t id = 0, uint32_t count = 0) const {
    t->api->barrier(t, id, count, site);
  }
  void warpSync(uint32_t site, uint32_t mask = kFullMask) const {
    t->api->warp_sync(t, mask, site);
  }
  uint64_t shuffle(CameoSimShuffle kind, uint32_t value, uint32_t b, uint32_t c, uint32_t site,
                   uint32_t mask = kFullMask) const {
    return t->api->shuffle(t, kind, mask, value, b, c, site);
  }
  float shuffleDown(float value, uint32_t by, uint32_t site, uint32_t mask = kFullMask) const {
    uint32_t bits;
    memcpy(&bits, &value, 4);
    bits = uint32_t(shuffle(CAMEO_SIM_SHFL_DOWN, bits, by, 31, site, mask));
    memcpy(&value, &bits, 4);
    return value;
  }
  uint32_t vote(CameoSimVote kind, bool predicate, uint32_t site, uint32_t mask = kFullMask) const {
    return t->api->vote(t, kind, mask, predicate, site);
  }
};

/// Makes a CameoSimKernel of a function that takes a Gpu.
template <void (*Body)(Gpu)> void kernel(CameoSimThread *thread, const void *const *args) {
  Body(Gpu{thread, args});
}

constexpr uint32_t kSites = 64;

inline const CameoSimImage &image() {
  static std::array<std::string, 2 * kSites> texts;
  static std::array<CameoSimSite, kSites> sites;
  static const CameoSimImage table = [] {
    for (uint32_t i = 0; i < kSites; ++i) {
      texts[2 * i] = "test.mlir:" + std::to_string(i);
      texts[2 * i + 1] = "op " + std::to_string(i);
      sites[i] = {"node", texts[2 * i].c_str(), texts[2 * i + 1].c_str()};
    }
    return CameoSimImage{CAMEO_SIM_ABI_VERSION, 0,       kSites,  1, nullptr,
                         sites.data(),          nullptr, nullptr, 1};
  }();
  return table;
}

struct Shape {
  uint32_t grid = 1;
  uint32_t block = 32;
  uint32_t shared = 0;
  bool noSync = false;
  uint32_t cluster = 1; // blocks, all in x
  uint32_t stack = 64 << 10;
  uint32_t readOnly = 0;                 // CameoSimKernelInfo::read_only_parameters
  std::vector<BufferRange> buffers = {}; // Launch::buffers
  uint32_t maps = 0;                     // CameoSimKernelInfo::map_parameters
};

class TestDevice {
public:
  explicit TestDevice(uint32_t checks = kCheckAll, uint64_t seed = 0, unsigned threads = 2)
      : TestDevice(Options{threads, seed, checks, 20, Form::Warp, false, {}}) {}
  explicit TestDevice(const Options &options) : engine(options) {}

  template <typename T> T *buffer(size_t count, const char *name) {
    return static_cast<T *>(engine.allocate(count * sizeof(T), name));
  }
  template <typename T> T *upload(const std::vector<T> &values, const char *name) {
    T *memory = buffer<T>(values.size(), name);
    memcpy(memory, values.data(), values.size() * sizeof(T));
    engine.markInitialised(memory, values.size() * sizeof(T));
    return memory;
  }
  template <typename... Args>
  LaunchResult run(CameoSimKernel entry, const Shape &shape, const Args &...values) {
    return launch({"test_kernel",
                   entry,
                   shape.shared,
                   shape.stack,
                   nullptr,
                   0,
                   0,
                   0,
                   {0, 0, 0},
                   0,
                   0,
                   shape.maps},
                  shape, values...);
  }
  /// A kernel in the vectorised form.
  template <typename... Args>
  LaunchResult runWarps(CameoSimKernel entry, const Shape &shape, const Args &...values) {
    return launch({"test_kernel",
                   nullptr,
                   shape.shared,
                   0,
                   entry,
                   shape.stack,
                   0,
                   0,
                   {0, 0, 0},
                   shape.readOnly,
                   1,
                   shape.maps},
                  shape, values...);
  }

  Engine engine;

private:
  template <typename... Args>
  LaunchResult launch(const CameoSimKernelInfo &info, const Shape &shape, const Args &...values) {
    const void *pointers[] = {&values..., nullptr};
    Launch launch;
    launch.image = &image();
    launch.kernel = &info;
    launch.grid[0] = shape.grid;
    launch.block[0] = shape.block;
    launch.args = pointers;
    launch.noSync = shape.noSync;
    launch.buffers = shape.buffers;
    launch.cluster[0] = shape.cluster;
    launch.nonPortableCluster = true;
    return engine.launch(launch);
  }
};

} // namespace simtest

#endif
