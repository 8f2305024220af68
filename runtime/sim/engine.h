// The GPU simulator's execution engine: runs kernels that were compiled for the host CPU as a GPU
// would run them, one fiber a warp or a thread, with optional checks.
//
// An Engine owns the table of device allocations and a pool of worker threads. launch() may be
// called from any thread; launches of one engine run one after the other, their blocks in parallel.
// docs/simulator/memory-model.md says what the checks see and what they cannot see.
//
// SPDX-License-Identifier: Apache-2.0
#ifndef CAMEO_SIM_ENGINE_H
#define CAMEO_SIM_ENGINE_H

#include "runtime/sim/abi.h"
#include "runtime/sim/observe/counters.h"
#include "runtime/sim/observe/trace.h"

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

namespace cameo::sim {

class Object;

enum Check : uint32_t {
  kCheckBounds = 1, // out-of-bounds and misaligned accesses
  kCheckInit = 2,   // reads of uninitialised shared and global memory
  kCheckRace = 4,   // unordered conflicting accesses of shared and global memory
  kCheckSync = 8,   // divergent barriers and wgmma, values shuffled from absent lanes
  kCheckMemory = kCheckBounds | kCheckInit | kCheckRace,
  kCheckAll = 15
};

/// Reads `all`, `none` or a comma-separated list of bounds, init, race, sync. On failure returns
/// false and names the offending word in `error`.
bool parseChecks(const char *text, uint32_t &checks, std::string &error);

/// How a kernel's threads are run (abi.h): a warp together, or each on its own. Compare: both, one
/// after the other on the same memory; a difference in what they leave there is a fault.
enum class Form : uint8_t { Warp, Thread, Compare };

struct Options {
  unsigned threads = 0; // workers; 0: one a core
  uint64_t seed = 0;    // 0: natural order of lanes, warps and blocks; else shuffled, reproducibly
  uint32_t checks = 0;  // of Check; bounds, init and race need an instrumented image
  unsigned reportLimit = 20; // distinct reports kept per launch
  Form form = Form::Warp;    // of kernels that have both; the others run in the one they have
  bool counters = false;     // KernelCounters of launches; needs an instrumented image
  TraceSelection trace;      // needs a traced image
};

enum class FaultKind : uint32_t {
  SharedOutOfBounds,
  GlobalOutOfBounds,
  Misaligned,
  SharedUninitialised,
  GlobalUninitialised,
  GlobalOverwritten, // a value is read whose memory was last written as another's
  SharedRace,
  GlobalRace,
  MissingProxyFence, // an asynchronous access of what a thread accessed, without a fence between
  MissingMapFence,   // a use of a tensor map in global memory that its block has not acquired
  UninitialisedRegister, // an operand that the thread has never given a value
  NotInMask,             // a lane executes a collective whose mask does not name it
  MismatchedOp,          // lanes with one mask execute different collectives
  InactiveLane,          // a shuffle reads a lane that does not take part
  BadBarrier,            // barrier number or count is invalid
  MismatchedBarrier,     // one barrier, different counts
  DivergentBarrier,      // lanes of a warp meet at different barrier instructions
  DivergentWgmma,        // warps of a warpgroup execute different instructions
  BadOperand,            // an instruction has operands that are not allowed
  TensorStart,           // a tensor copy starts where GPUs call it an illegal instruction
  BlockLifetime,         // shared memory of another block of the cluster that may not be running
  UnfinishedAsync,       // an asynchronous operation that nobody has waited for when its block ends
  Deadlock,
  StackOverflow
};

/// "out-of-bounds access of shared memory", ...
const char *faultName(FaultKind kind);

/// One distinct fault of a launch: same kind and same instructions. block, warp and lanes are of
/// its first occurrence in the order of blocks and warps, so reports do not depend on the worker
/// count (but for races between blocks: which of the two is second, and reports it, is chance).
struct Report {
  FaultKind kind = FaultKind::Deadlock;
  std::string kernel;
  std::string node;          // ONNX node's name, may be empty
  std::string location;      // of the access or operation
  std::string what;          // the access or operation
  std::string otherLocation; // races and mismatches: the other access or operation
  std::string otherWhat;
  uint32_t block[3] = {0, 0, 0};
  uint32_t warp = 0;
  uint32_t lanes = 0;  // bit a lane
  uint64_t count = 0;  // occurrences, over all blocks and lanes
  std::string address; // "shared+0x40" or "name+0x40"
  std::string text;    // all of it, ready to print; several lines, no newline at the end
};

struct Counters {
  uint64_t launches = 0;
  uint64_t blocks = 0;
  uint64_t threads = 0;
  uint64_t barriers = 0;    // completed, per block
  uint64_t collectives = 0; // completed, per warp
  void add(const Counters &other);
};

/// Part of an allocation that a launch may touch, normally one a buffer argument.
struct BufferRange {
  const void *begin = nullptr;
  uint64_t bytes = 0;
  const char *name = "";
  /// The kernel's parameter that points to it: accesses through that one must stay inside.
  uint32_t parameter = kNoParameter;
  static constexpr uint32_t kNoParameter = ~0u;
  /// Engine::beginValue() was given it; 0: the range holds no value that has a number.
  uint32_t value = 0;
};

struct Launch {
  const CameoSimImage *image = nullptr; // for its sites; may be null
  const CameoSimKernelInfo *kernel = nullptr;
  uint32_t grid[3] = {1, 1, 1};
  uint32_t block[3] = {1, 1, 1};
  /// Blocks of a cluster. Kernels that say it themselves may be launched with 1, 1, 1 as well.
  uint32_t cluster[3] = {1, 1, 1};
  /// Clusters of up to 16 blocks; else of 8, which every GPU that has clusters takes.
  bool nonPortableCluster = false;
  uint32_t sharedDynamic = 0;
  const void *const *args = nullptr;
  bool noSync = false;    // the kernel has neither synchronisation nor shared memory
  const char *nodes = ""; // names of the ONNX nodes it computes
  /// If not empty, global accesses must stay inside these ranges, which may lie in memory that the
  /// engine did not allocate; else inside an allocation.
  std::vector<BufferRange> buffers;
};

enum class Outcome {
  Good,
  Invalid,     // a launch that no GPU takes
  OutOfMemory, // for stacks or shadows
  Fault        // the kernel did what it must not: see the reports
};

struct LaunchResult {
  Outcome outcome = Outcome::Good;
  std::string error; // one line; the reports tell the rest
  std::vector<Report> reports;
  uint64_t moreReports = 0; // distinct faults beyond Options::reportLimit
  Counters counters;
  KernelCounters work; // where Options::counters asks for it
  bool ok() const { return outcome == Outcome::Good; }
};

/// A simulator image loaded from memory. It must outlive the launches of its kernels.
class Image {
public:
  /// Null on failure, with the reason in `error`: not an image, another version, or, which
  /// `machineLacks` tells apart, a CPU without the x86-64-v3 instructions or too little memory.
  static std::unique_ptr<Image> load(const void *bytes, size_t size, std::string &error,
                                     bool *machineLacks = nullptr);
  ~Image();
  Image(const Image &) = delete;
  Image &operator=(const Image &) = delete;

  const CameoSimImage &table() const { return *table_; }
  const CameoSimKernelInfo *find(const char *kernel) const;

private:
  Image() = default;
  std::unique_ptr<Object> object_;
  const CameoSimImage *table_ = nullptr;
};

class Engine {
public:
  explicit Engine(const Options &options);
  ~Engine();
  Engine(const Engine &) = delete;
  Engine &operator=(const Engine &) = delete;

  /// Device memory: 256-byte aligned, uninitialised. Null when there is none left.
  void *allocate(uint64_t bytes, const char *name);
  void release(void *memory);
  /// Memory that the caller owns, made known to the checks as initialised device memory.
  void adopt(void *memory, uint64_t bytes, const char *name);
  void forget(void *memory);
  void nameAllocation(const void *memory, const char *name);
  /// The host has written [begin, begin + bytes), or its contents no longer count.
  void markInitialised(const void *begin, uint64_t bytes);
  void markUninitialised(const void *begin, uint64_t bytes);
  /// A value of this number, from 1 on, begins in the range, which is not initialised any more. What
  /// launches read through its number must have been written through it. By numbers that differ by
  /// a multiple of kValueMarks nothing is told apart.
  void beginValue(const void *begin, uint64_t bytes, uint32_t value, const char *name);
  /// What is initialised in the range, the value has been written to.
  void wroteValue(const void *begin, uint64_t bytes, uint32_t value);
  /// Names the first byte of the value that was last written as another's, which it names, too, or
  /// returns false.
  bool findOverwritten(const void *begin, uint64_t bytes, uint32_t value, std::string &address,
                       std::string &writer) const;
  /// A copy within device memory: the target is as initialised as the source.
  void copyInitialised(const void *target, const void *source, uint64_t bytes);
  /// Names the first byte of the range that nobody has written, or returns false.
  bool findUninitialised(const void *begin, uint64_t bytes, std::string &address) const;

  LaunchResult launch(const Launch &launch);

  Counters counters() const; // of all launches so far
  const Options &options() const;

private:
  struct Impl;
  LaunchResult launchForm(const Launch &launch, bool warpForm);
  LaunchResult compareForms(const Launch &launch);
  std::unique_ptr<Impl> impl_;
};

} // namespace cameo::sim

#endif
