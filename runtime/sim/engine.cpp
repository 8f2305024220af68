// The engine: allocations, workers, launches.
//
// SPDX-License-Identifier: Apache-2.0
#include "runtime/sim/engine.h"
#include "runtime/sim/exec/entry_points.h"
#include "runtime/sim/exec/pool.h"
#include "runtime/sim/exec/worker.h"

#include <algorithm>
#include <cstring>
#include <numeric>
#include <thread>

namespace cameo::sim {
namespace {
// What the engine and the C library need of a fiber's stack below the kernel's own frames: a call
// into the engine, the loader's lazy binding of a libm function, a signal handler's frame with all
// vector registers.
constexpr size_t kEngineStack = 16u << 10;
constexpr size_t kUnguardedStack = 16u << 10; // kernels that need more get guard pages
constexpr uint32_t kMaxGuards = 16384;        // of the 65530 mappings a process may have by default
constexpr unsigned kMaxWorkers = 1024;
constexpr uint32_t kPortableClusterBlocks = 8;
} // namespace

bool parseChecks(const char *text, uint32_t &checks, std::string &error) {
  checks = 0;
  std::string rest = text ? text : "";
  while (true) {
    size_t comma = rest.find(',');
    std::string word = rest.substr(0, comma);
    if (word == "all")
      checks |= kCheckAll;
    else if (word == "bounds")
      checks |= kCheckBounds;
    else if (word == "init")
      checks |= kCheckInit;
    else if (word == "race")
      checks |= kCheckRace;
    else if (word == "sync")
      checks |= kCheckSync;
    else if (word != "none") {
      error =
          format("unknown check '%s'; there are all, none, bounds, init, race, sync", word.c_str());
      return false;
    }
    if (comma == std::string::npos)
      return true;
    rest.erase(0, comma + 1);
  }
}

void Counters::add(const Counters &other) {
  launches += other.launches;
  blocks += other.blocks;
  threads += other.threads;
  barriers += other.barriers;
  collectives += other.collectives;
}

struct Engine::Impl {
  Options options;
  Memory memory;
  Pool pool;
  std::vector<std::unique_ptr<Worker>> workers;
  std::mutex launching;
  uint32_t lastOwner = 0; // LaunchState::lastOwner of the next launch
  mutable std::mutex counting;
  Counters total;

  unsigned workerCount() const {
    unsigned n = options.threads ? options.threads : std::thread::hardware_concurrency();
    return std::clamp(n, 1u, kMaxWorkers);
  }
  std::string describeProblem(const Launch &launch, uint64_t sharedBytes) const;
  static uint64_t sharedBytesOf(const Launch &launch);
  static uint32_t frameBytesOf(const LaunchState &state);
  void describeLaunch(const Launch &launch, uint64_t sharedBytes, bool warpForm,
                      LaunchState &state);
  void chooseRanges(const Launch &launch, LaunchState &state);
  void prepareMemory(LaunchState &state);
  unsigned chooseWorkers(LaunchState &state);
  void run(LaunchState &state, unsigned count);
  void addCounters(const LaunchState &state, unsigned count, LaunchResult &result);
  void addReports(LaunchState &state, LaunchResult &result);
};

Engine::Engine(const Options &options) : impl_(new Impl) { impl_->options = options; }
Engine::~Engine() = default;

void *Engine::allocate(uint64_t bytes, const char *name) {
  return impl_->memory.allocate(bytes, name, impl_->options.checks & kCheckInit);
}
void Engine::release(void *memory) {
  std::lock_guard<std::mutex> lock(impl_->launching);
  impl_->memory.release(memory);
}
void Engine::adopt(void *memory, uint64_t bytes, const char *name) {
  impl_->memory.adopt(memory, bytes, name);
}
void Engine::forget(void *memory) { release(memory); }
void Engine::nameAllocation(const void *memory, const char *name) {
  impl_->memory.rename(memory, name);
}
void Engine::markInitialised(const void *begin, uint64_t bytes) {
  impl_->memory.mark(begin, bytes, true);
}
void Engine::markUninitialised(const void *begin, uint64_t bytes) {
  impl_->memory.mark(begin, bytes, false);
}
void Engine::beginValue(const void *begin, uint64_t bytes, uint32_t value, const char *name) {
  impl_->memory.beginValue(begin, bytes, value, name);
}
void Engine::wroteValue(const void *begin, uint64_t bytes, uint32_t value) {
  impl_->memory.markValue(begin, bytes, value);
}
bool Engine::findOverwritten(const void *begin, uint64_t bytes, uint32_t value,
                             std::string &address, std::string &writer) const {
  return impl_->memory.findOverwritten(begin, bytes, value, address, writer);
}
void Engine::copyInitialised(const void *target, const void *source, uint64_t bytes) {
  impl_->memory.copyMarks(target, source, bytes);
}
bool Engine::findUninitialised(const void *begin, uint64_t bytes, std::string &address) const {
  return impl_->memory.findUnmarked(begin, bytes, address);
}

Counters Engine::counters() const {
  std::lock_guard<std::mutex> lock(impl_->counting);
  return impl_->total;
}

const Options &Engine::options() const { return impl_->options; }

/// Limits that hold on every GPU, and the simulator's own.
std::string Engine::Impl::describeProblem(const Launch &launch, uint64_t sharedBytes) const {
  static const uint32_t maxBlock[3] = {1024, 1024, 64};
  static const uint32_t maxGrid[3] = {0x7fffffffu, 65535, 65535};
  uint64_t threads = 1;
  for (int i = 0; i < 3; ++i) {
    if (launch.block[i] == 0 || launch.block[i] > maxBlock[i])
      return format("block size %c is %u; it goes from 1 to %u", "xyz"[i], launch.block[i],
                    maxBlock[i]);
    if (launch.grid[i] > maxGrid[i])
      return format("grid size %c is %u; the limit is %u", "xyz"[i], launch.grid[i], maxGrid[i]);
    threads *= launch.block[i];
  }
  if (!launch.kernel->thread_entry && threads % kLanes)
    return format("a block has %llu threads; its only form runs whole warps",
                  (unsigned long long)threads);
  uint64_t cluster = 1;
  for (int i = 0; i < 3; ++i) {
    uint32_t own = launch.kernel->cluster[i], given = launch.cluster[i];
    bool launchSays = launch.cluster[0] * launch.cluster[1] * launch.cluster[2] != 1;
    if (own && launchSays && own != given)
      return format("cluster size %c is %u; the kernel is made for %u", "xyz"[i], given, own);
    uint32_t size = own ? own : given;
    if (!size || launch.grid[i] % size)
      return format("grid size %c is %u; it must be a multiple of the cluster's %u", "xyz"[i],
                    launch.grid[i], size);
    cluster *= size;
  }
  uint32_t maxCluster = launch.nonPortableCluster ? kMaxClusterBlocks : kPortableClusterBlocks;
  if (cluster > maxCluster)
    return format("a cluster has %llu blocks; the limit is %u", (unsigned long long)cluster,
                  maxCluster);
  if (threads > kMaxThreads)
    return format("a block has %llu threads; the limit is %u", (unsigned long long)threads,
                  kMaxThreads);
  if (sharedBytes > kSharedWindow)
    return format("requires %llu B of shared memory; the simulator has %u B",
                  (unsigned long long)sharedBytes, kSharedWindow);
  return {};
}

/// What global accesses may touch: the launch's buffers, or every allocation.
void Engine::Impl::chooseRanges(const Launch &launch, LaunchState &state) {
  if (launch.buffers.empty()) {
    state.ranges = memory.ranges();
    return;
  }
  for (const BufferRange &buffer : launch.buffers) {
    const char *begin = static_cast<const char *>(buffer.begin);
    auto holds = [&](const Allocation &a) {
      uint64_t offset = uint64_t(begin - a.begin);
      return offset < a.bytes && buffer.bytes <= a.bytes - offset;
    };
    Allocation *allocation = memory.find(begin);
    if (allocation && !holds(*allocation))
      allocation = nullptr;
    for (auto &foreign : state.foreign)
      if (!allocation && holds(*foreign))
        allocation = foreign.get();
    if (!allocation) {
      state.foreign.push_back(std::make_unique<Allocation>());
      allocation = state.foreign.back().get();
      allocation->begin = const_cast<char *>(begin);
      allocation->bytes = buffer.bytes;
    }
    state.ranges.push_back({begin, buffer.bytes, buffer.name, allocation, buffer.parameter});
    state.ranges.back().mark = markOf(buffer.value);
  }
  for (Range &range : state.ranges) {
    if (range.parameter == BufferRange::kNoParameter)
      continue;
    if (state.byParameter.size() <= range.parameter)
      state.byParameter.resize(range.parameter + 1);
    state.byParameter[range.parameter] = &range;
  }
  const uint32_t readOnly = launch.kernel->read_only_parameters;
  state.knowsWrites = readOnly != 0;
  auto isRead = [&](const Range &range) {
    return range.parameter < 32 && readOnly >> range.parameter & 1;
  };
  for (Range &range : state.ranges) {
    range.readOnly =
        isRead(range) &&
        std::none_of(state.ranges.begin(), state.ranges.end(), [&](const Range &other) {
          return !isRead(other) && range.begin < other.begin + other.bytes &&
                 other.begin < range.begin + range.bytes;
        });
    const uint8_t *marks = range.allocation->initialised;
    range.initialised =
        !marks || (range.readOnly && state.checks & kCheckInit &&
                   (!range.bytes || allHaveMark(marks + (range.begin - range.allocation->begin),
                                                range.bytes, range.mark)));
  }
}

LaunchResult Engine::launch(const Launch &launch) {
  std::lock_guard<std::mutex> lock(impl_->launching);
  const CameoSimKernelInfo &kernel = *launch.kernel;
  bool wholeWarps = uint64_t(launch.block[0]) * launch.block[1] * launch.block[2] % kLanes == 0;
  bool warpForm = kernel.warp_entry && (wholeWarps || !kernel.thread_entry);
  // Counts and traces look at single threads.
  bool single = impl_->options.counters || !impl_->options.trace.kernel.empty();
  if (warpForm && kernel.thread_entry) {
    if (impl_->options.form == Form::Compare && !single)
      return compareForms(launch);
    warpForm = impl_->options.form == Form::Warp && !single;
  }
  return launchForm(launch, warpForm);
}

LaunchResult Engine::compareForms(const Launch &launch) {
  struct Copy {
    Range range;
    std::vector<char> before, byThreads;
  };
  auto bytesOf = [](const Range &range) {
    return std::vector<char>(range.begin, range.begin + range.bytes);
  };
  std::vector<Copy> copies;
  for (const Range &range : impl_->memory.ranges())
    copies.push_back({range, bytesOf(range), {}});
  LaunchResult result = launchForm(launch, /*warpForm=*/false);
  if (!result.ok())
    return result;
  for (Copy &copy : copies) {
    copy.byThreads = bytesOf(copy.range);
    memcpy(const_cast<char *>(copy.range.begin), copy.before.data(), copy.before.size());
  }
  result = launchForm(launch, /*warpForm=*/true);
  for (const Copy &copy : copies) {
    if (!result.ok() || !memcmp(copy.range.begin, copy.byThreads.data(), copy.range.bytes))
      continue;
    size_t at = 0;
    while (copy.range.begin[at] == copy.byThreads[at])
      ++at;
    result.outcome = Outcome::Fault;
    result.error =
        format("the vectorised form leaves 0x%02x at %s+0x%zx, the scalar form 0x%02x",
               copy.range.begin[at] & 0xff, copy.range.name.c_str(), at, copy.byThreads[at] & 0xff);
  }
  return result;
}

uint64_t Engine::Impl::sharedBytesOf(const Launch &launch) {
  constexpr uint64_t kAlignment = 1024; // of dynamic shared memory
  uint64_t own = launch.kernel->shared_static;
  if (!launch.sharedDynamic)
    return own;
  return (own + kAlignment - 1) / kAlignment * kAlignment + launch.sharedDynamic;
}

/// What is checked, counted and traced, and the sizes of blocks and clusters.
void Engine::Impl::describeLaunch(const Launch &launch, uint64_t sharedBytes, bool warpForm,
                                  LaunchState &state) {
  const CameoSimKernelInfo &kernel = *launch.kernel;
  state.launch = &launch;
  state.counting = options.counters && (!launch.image || launch.image->checked);
  if (launch.image && launch.image->traced && options.trace.sink &&
      options.trace.kernel == kernel.name)
    state.trace = &options.trace;
  state.api = &api(state.counting);
  state.checks = options.checks;
  if (launch.image && !launch.image->checked)
    state.checks &= kCheckSync;
  state.seed = options.seed;
  state.threads = launch.block[0] * launch.block[1] * launch.block[2];
  state.sharedBytes = uint32_t(sharedBytes);
  state.warpForm = warpForm;
  state.stackBytes = frameBytesOf(state) + kEngineStack;
  for (int i = 0; i < 3; ++i) {
    state.cluster[i] = kernel.cluster[i] ? kernel.cluster[i] : launch.cluster[i];
    state.clusterSize *= state.cluster[i];
  }
  state.clusterCount =
      uint64_t(launch.grid[0]) * launch.grid[1] * launch.grid[2] / state.clusterSize;
}

uint32_t Engine::Impl::frameBytesOf(const LaunchState &state) {
  const CameoSimKernelInfo &kernel = *state.launch->kernel;
  return state.warpForm ? kernel.warp_stack_bytes : kernel.thread_stack_bytes;
}

/// Memory that may be accessed, and who its records of races are from.
void Engine::Impl::prepareMemory(LaunchState &state) {
  uint32_t owners = uint32_t(std::min<uint64_t>(state.clusterCount, LaunchState::kOwners));
  if (lastOwner > LaunchState::kOwners) { // owners have 31 bits
    for (const Range &range : memory.ranges())
      range.allocation->races.clear();
    lastOwner = 0;
  }
  state.lastOwner = lastOwner;
  lastOwner += owners;
  if (state.checks & kCheckMemory)
    chooseRanges(*state.launch, state);
  for (Range &range : state.ranges)
    range.allocation->races.restart();
}

/// How many workers share the clusters, and in which order these run.
unsigned Engine::Impl::chooseWorkers(LaunchState &state) {
  auto count = unsigned(std::min<uint64_t>(workerCount(), state.clusterCount));
  state.parallel = count > 1;
  if (state.parallel && state.checks & kCheckRace)
    state.regionLocks = std::vector<LaunchState::RegionLock>(LaunchState::kRegionLocks);
  state.chunk = std::clamp<uint64_t>(state.clusterCount / 8 / count, 1, 64);
  state.guards = (state.checks || frameBytesOf(state) > kUnguardedStack) &&
                 count * state.clusterSize * state.threads <= kMaxGuards;
  if (state.seed && state.clusterCount > 1) {
    uint64_t random = mixBits(state.seed);
    state.offset = random % state.clusterCount;
    state.stride = mixBits(random) % state.clusterCount | 1;
    while (std::gcd(state.stride, state.clusterCount) != 1)
      ++state.stride;
  }
  while (workers.size() < count)
    workers.emplace_back(new Worker);
  for (unsigned i = 0; i < count; ++i)
    workers[i]->counters = Counters();
  return count;
}

void Engine::Impl::run(LaunchState &state, unsigned count) {
  struct Work {
    Impl &impl;
    LaunchState &state;
  } work{*this, state};
  pool.run(
      count,
      [](void *context, unsigned index) {
        Work &work = *static_cast<Work *>(context);
        Worker &worker = *work.impl.workers[index];
        if (work.state.nextCluster < work.state.clusterCount && worker.prepare(work.state))
          worker.run();
      },
      &work);
}

/// What the workers have counted.
void Engine::Impl::addCounters(const LaunchState &state, unsigned count, LaunchResult &result) {
  result.counters.launches = 1;
  for (unsigned i = 0; i < count; ++i)
    result.counters.add(workers[i]->counters);
  if (state.counting)
    for (unsigned i = 0; i < count; ++i)
      result.work.add(workers[i]->countedWork());
  std::lock_guard<std::mutex> guard(counting);
  total.add(result.counters);
}

void Engine::Impl::addReports(LaunchState &state, LaunchResult &result) {
  result.outcome = Outcome::Fault;
  const Launch &launch = *state.launch;
  std::vector<Range> names = launch.buffers.empty() ? memory.ranges() : std::move(state.ranges);
  result.reports = state.log.reports(launch, names, state.sharedBytes,
                                     std::max(1u, options.reportLimit), result.moreReports);
  uint64_t count = result.reports.size() + result.moreReports;
  const std::string &text = result.reports.front().text;
  result.error =
      format("%s%s", text.substr(0, text.find('\n')).c_str(),
             count > 1 ? format(" (and %llu more)", (unsigned long long)(count - 1)).c_str() : "");
}

LaunchResult Engine::launchForm(const Launch &launch, bool warpForm) {
  Impl &impl = *impl_;
  LaunchResult result;
  uint64_t sharedBytes = Impl::sharedBytesOf(launch);
  result.error = impl.describeProblem(launch, sharedBytes);
  if (!result.error.empty()) {
    result.outcome = Outcome::Invalid;
    return result;
  }
  LaunchState state;
  impl.describeLaunch(launch, sharedBytes, warpForm, state);
  if (!state.clusterCount)
    return result;
  impl.prepareMemory(state);
  unsigned workers = impl.chooseWorkers(state);
  impl.run(state, workers);
  if (state.nextCluster < state.clusterCount && !state.stop) {
    result.outcome = Outcome::OutOfMemory; // not one worker could be made ready
    result.error =
        format("no memory for the stacks of %u threads", state.threads * state.clusterSize);
    return result;
  }
  impl.addCounters(state, workers, result);
  if (!state.log.empty()) {
    impl.addReports(state, result);
  } else if (state.outOfMemory) {
    result.outcome = Outcome::OutOfMemory;
    result.error = "no memory for the checks";
  }
  return result;
}

} // namespace cameo::sim
