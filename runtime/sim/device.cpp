// The simulator as a device of the runtime. Work is done when it is enqueued: streams and events
// are there for their callers' sake.
//
// SPDX-License-Identifier: Apache-2.0
#include "runtime/core/device.h"

#include "runtime/sim/engine.h"
#include "runtime/sim/observe/estimate.h"

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <map>
#include <mutex>
#include <thread>
#include <unistd.h>

namespace cameo::runtime {
namespace {

constexpr uint32_t kMaxShared = 232448; // what a block may have on sm_90, the most of all targets
constexpr size_t kReportBytes = 64u
                                << 10; // a status's message; the rest of the reports is left out

using Clock = std::chrono::steady_clock;

struct SimModule {
  std::unique_ptr<sim::Image> image;
  std::vector<std::unique_ptr<struct SimKernel>> kernels;
};

struct SimKernel {
  const SimModule *module;
  const CameoSimKernelInfo *info;
  KernelInfo plan;
};

const void *pointer(DevicePtr memory) { return reinterpret_cast<const void *>(memory); }
void *mutablePointer(DevicePtr memory) { return reinterpret_cast<void *>(memory); }

class SimDevice final : public Device {
public:
  SimDevice(const sim::Options &options, std::string again, const CameoBoard *board)
      : engine_(options), again_(std::move(again)), board_(board) {
    unsigned threads =
        options.threads ? options.threads : std::max(1u, std::thread::hardware_concurrency());
    info_.kind = DeviceKind::Simulator;
    info_.name =
        "simulator (" + std::to_string(threads) + (threads == 1 ? " thread)" : " threads)");
    info_.totalMemory = uint64_t(sysconf(_SC_PHYS_PAGES)) * uint64_t(sysconf(_SC_PAGESIZE));
    info_.maxSharedBytes = kMaxShared;
  }

  const DeviceInfo &info() const override { return info_; }

  Status memoryInfo(uint64_t &available, uint64_t &total) override {
    available = uint64_t(sysconf(_SC_AVPHYS_PAGES)) * uint64_t(sysconf(_SC_PAGESIZE));
    total = info_.totalMemory;
    return {};
  }

  Status allocate(uint64_t bytes, DevicePtr &memory) override {
    void *allocated = engine_.allocate(bytes, "");
    if (!allocated)
      return failure(Code::OutOfMemory, "the simulator cannot allocate %llu B",
                     (unsigned long long)bytes);
    memory = reinterpret_cast<DevicePtr>(allocated);
    return {};
  }
  Status release(DevicePtr memory) override {
    engine_.release(mutablePointer(memory));
    return {};
  }
  Status allocateHost(uint64_t bytes, void *&memory) override {
    memory = malloc(std::max<uint64_t>(bytes, 1));
    if (!memory)
      return failure(Code::OutOfMemory, "cannot allocate %llu B", (unsigned long long)bytes);
    return {};
  }
  Status releaseHost(void *memory) override {
    free(memory);
    return {};
  }

  Status createStream(Stream &stream) override {
    stream = new char; // an identity, no more
    return {};
  }
  Status destroyStream(Stream stream) override {
    delete static_cast<char *>(stream);
    return {};
  }
  Status synchronize(Stream) override { return {}; }

  Status createEvent(Event &event, bool, bool) override {
    event = new Clock::time_point(Clock::now());
    return {};
  }
  Status destroyEvent(Event event) override {
    delete static_cast<Clock::time_point *>(event);
    return {};
  }
  Status record(Event event, Stream) override {
    *static_cast<Clock::time_point *>(event) = Clock::now();
    return {};
  }
  Status wait(Stream, Event) override { return {}; }
  Status synchronizeEvent(Event) override { return {}; }
  Status queryEvent(Event, bool &passed) override {
    passed = true;
    return {};
  }
  Status elapsed(Event start, Event stop, float &milliseconds) override {
    milliseconds =
        std::chrono::duration<float, std::milli>(*static_cast<Clock::time_point *>(stop) -
                                                 *static_cast<Clock::time_point *>(start))
            .count();
    return {};
  }

  Status copyToDevice(DevicePtr target, const void *source, uint64_t bytes, Stream) override {
    if (!bytes)
      return {};
    memcpy(mutablePointer(target), source, bytes);
    engine_.markInitialised(pointer(target), bytes);
    return {};
  }
  Status copyToHost(void *target, DevicePtr source, uint64_t bytes, Stream) override {
    if (!bytes)
      return {};
    memcpy(target, pointer(source), bytes);
    std::string address;
    if (engine_.findUninitialised(pointer(source), bytes, address))
      return failure(Code::KernelFault,
                     "copy of %llu B to the host: no kernel and no copy has written the byte at %s",
                     (unsigned long long)bytes, address.c_str());
    return {};
  }
  Status copyOnDevice(DevicePtr target, DevicePtr source, uint64_t bytes, Stream) override {
    if (!bytes)
      return {};
    memcpy(mutablePointer(target), pointer(source), bytes);
    engine_.copyInitialised(pointer(target), pointer(source), bytes);
    return {};
  }
  Status fill(DevicePtr target, uint8_t value, uint64_t bytes, Stream) override {
    if (!bytes)
      return {};
    memset(mutablePointer(target), value, bytes);
    engine_.markInitialised(pointer(target), bytes);
    return {};
  }

  Status loadModule(const CodeSection &section, Module &module) override;
  Status unloadModule(Module module) override {
    delete static_cast<SimModule *>(module);
    return {};
  }
  Status findKernel(Module module, const KernelInfo &info, Kernel &kernel) override;
  Status launch(const Launch &launch, Stream stream) override;

  std::string lastLaunched() const override {
    const char *name = lastKernel_.load(std::memory_order_relaxed);
    return name ? std::string("the last kernel launched was ") + name : "";
  }

  void nameMemory(DevicePtr memory, const char *name) override {
    engine_.nameAllocation(pointer(memory), name);
  }
  void discard(DevicePtr memory, uint64_t bytes) override {
    engine_.markUninitialised(pointer(memory), bytes);
  }

  void beginValue(DevicePtr memory, uint64_t bytes, uint32_t value, const char *name) override {
    engine_.beginValue(pointer(memory), bytes, value, name);
  }
  void wroteValue(DevicePtr memory, uint64_t bytes, uint32_t value) override {
    engine_.wroteValue(pointer(memory), bytes, value);
  }
  Status checkValue(DevicePtr memory, uint64_t bytes, uint32_t value) override {
    std::string address, writer;
    if (!engine_.findOverwritten(pointer(memory), bytes, value, address, writer))
      return {};
    return failure(Code::KernelFault,
                   "copy of %llu B: the byte at %s was last written as a part of %s",
                   (unsigned long long)bytes, address.c_str(), writer.c_str());
  }

  void takeCounters(std::vector<sim::LaunchCounters> &counters) override {
    std::lock_guard<std::mutex> lock(counting_);
    counters = std::move(counters_);
    counters_.clear();
  }

private:
  void keepCounters(const SimKernel &kernel, const Launch &launch, sim::KernelCounters work);

  sim::Engine engine_;
  DeviceInfo info_;
  const std::string again_;       // options that give the same order and checks
  const CameoBoard *const board_; // of estimates; null: the one that the image names
  std::atomic<const char *> lastKernel_{nullptr}; // of an image, which lives as long as the device
  std::mutex counting_;
  std::vector<sim::LaunchCounters> counters_;
};

Status SimDevice::loadModule(const CodeSection &section, Module &module) {
  if (section.kind != CAMEO_SECTION_SIM_IMAGE)
    return failure(Code::InvalidArgument, "the simulator runs simulator images only");
  auto loaded = std::make_unique<SimModule>();
  std::string error;
  bool machineLacks = false;
  loaded->image = sim::Image::load(section.data, section.size, error, &machineLacks);
  if (!loaded->image)
    return failure(machineLacks ? Code::Unsupported : Code::Incompatible, "%s", error.c_str());
  const sim::Options &options = engine_.options();
  if (((options.checks & ~uint32_t(sim::kCheckSync)) || options.counters) &&
      !loaded->image->table().checked)
    return failure(Code::NoCode, "this model's simulator image is not instrumented for counters "
                                 "and checks of bounds, init and race; compile it with "
                                 "--sim-checks");
  if (options.trace.sink && !loaded->image->table().traced)
    return failure(Code::NoCode, "this model's simulator image does not report what instructions "
                                 "compute; compile it with --sim-trace");
  const CameoSimTarget *target = loaded->image->table().target;
  if (board_ && target && !sim::runsOn(*target, *board_))
    return failure(Code::NoCode, "code for %s does not run on %s, an sm_%u GPU", target->name,
                   board_->name, board_->arch);
  module = loaded.release();
  return {};
}

void SimDevice::keepCounters(const SimKernel &kernel, const Launch &launch,
                             sim::KernelCounters work) {
  std::map<DevicePtr, uint64_t> buffers; // the same buffer may be several arguments
  for (uint32_t i = 0; launch.argBytes && i < kernel.plan.argCount; ++i)
    if (kernel.plan.argTypes[i] == CAMEO_ARG_BUFFER) {
      uint64_t &bytes = buffers[*static_cast<const DevicePtr *>(launch.args[i])];
      bytes = std::max(bytes, launch.argBytes[i]);
    }
  uint64_t bytes = 0;
  for (const auto &[begin, size] : buffers)
    bytes += size;
  sim::LaunchCounters kept;
  kept.kernel = kernel.info->name;
  kept.target = kernel.module->image->table().target;
  kept.board = board_ ? board_ : kept.target ? sim::findBoard(kept.target->board) : nullptr;
  if (kept.board)
    kept.estimate = sim::estimateLaunch(work, *kept.board, bytes);
  kept.work = std::move(work);
  std::lock_guard<std::mutex> lock(counting_);
  counters_.push_back(std::move(kept));
}

Status SimDevice::findKernel(Module module, const KernelInfo &info, Kernel &kernel) {
  SimModule *loaded = static_cast<SimModule *>(module);
  const CameoSimKernelInfo *found = loaded->image->find(info.name);
  if (!found)
    return failure(Code::Corrupt, "the simulator image has no kernel %s", info.name);
  loaded->kernels.push_back(std::unique_ptr<SimKernel>(new SimKernel{loaded, found, info}));
  kernel = loaded->kernels.back().get();
  return {};
}

Status SimDevice::launch(const Launch &launch, Stream) {
  const SimKernel &kernel = *static_cast<const SimKernel *>(launch.kernel);
  sim::Launch work;
  work.image = &kernel.module->image->table();
  work.kernel = kernel.info;
  memcpy(work.grid, launch.grid, sizeof work.grid);
  memcpy(work.block, launch.block, sizeof work.block);
  work.sharedDynamic = launch.sharedDynamic;
  work.args = launch.args;
  work.nonPortableCluster = kernel.plan.cluster != 0;
  work.noSync = kernel.plan.flags & CAMEO_KERNEL_NO_SYNC;
  work.nodes = kernel.plan.onnxNodes;
  std::vector<std::string> names;
  if (launch.argBytes && engine_.options().checks) {
    names.reserve(kernel.plan.argCount);
    for (uint32_t i = 0; i < kernel.plan.argCount; ++i) {
      if (kernel.plan.argTypes[i] != CAMEO_ARG_BUFFER)
        continue;
      const char *name = launch.argNames ? launch.argNames[i] : "";
      names.push_back(*name ? name : "argument " + std::to_string(i));
      work.buffers.push_back({pointer(*static_cast<const DevicePtr *>(launch.args[i])),
                              launch.argBytes[i], names.back().c_str(), i,
                              launch.argValues ? launch.argValues[i] : 0});
    }
  }
  lastKernel_.store(kernel.info->name, std::memory_order_relaxed);
  sim::LaunchResult result = engine_.launch(work);
  if (engine_.options().counters)
    keepCounters(kernel, launch, std::move(result.work));
  switch (result.outcome) {
  case sim::Outcome::Good:
    return {};
  case sim::Outcome::Invalid:
    return failure(Code::InvalidArgument, "%s", result.error.c_str());
  case sim::Outcome::OutOfMemory:
    return failure(Code::OutOfMemory, "%s", result.error.c_str());
  case sim::Outcome::Fault:
    break;
  }
  std::string message = result.error;
  uint64_t left = result.moreReports;
  for (const sim::Report &report : result.reports) {
    if (message.size() + report.text.size() > kReportBytes)
      ++left;
    else
      message += "\n" + report.text;
  }
  if (left)
    message += "\nand " + std::to_string(left) + " more";
  message += "\nto see it again: " + again_;
  return Status(Code::KernelFault, std::move(message));
}

} // namespace

Status parseSimChecks(const char *text, SimOptions &options) {
  uint32_t checks = 0;
  std::string error;
  if (!sim::parseChecks(text, checks, error))
    return failure(Code::InvalidArgument, "%s", error.c_str());
  options.checkBounds = checks & sim::kCheckBounds;
  options.checkUninitialised = checks & sim::kCheckInit;
  options.checkRaces = checks & sim::kCheckRace;
  options.checkSync = checks & sim::kCheckSync;
  return {};
}

void Device::takeCounters(std::vector<sim::LaunchCounters> &counters) { counters.clear(); }

Status checkSimTrace(const char *text) {
  sim::TraceSelection selection;
  std::string error;
  return sim::parseTrace(text, selection, error)
             ? Status()
             : failure(Code::InvalidArgument, "%s", error.c_str());
}

std::string simCommandLine(const SimOptions &options) {
  std::string checks;
  for (auto [on, name] : {std::pair{options.checkBounds, ",bounds"},
                          {options.checkUninitialised, ",init"},
                          {options.checkRaces, ",race"},
                          {options.checkSync, ",sync"}})
    checks += on ? name : "";
  return "--device=sim" + (checks.empty() ? "" : " --sim-checks=" + checks.substr(1)) +
         " --sim-seed=" + std::to_string(options.seed);
}

Status createSimDevice(const SimOptions &options, std::unique_ptr<Device> &device) {
  sim::Options engine;
  engine.threads = options.threads;
  engine.seed = options.seed;
  engine.checks = (options.checkBounds ? uint32_t(sim::kCheckBounds) : 0) |
                  (options.checkUninitialised ? uint32_t(sim::kCheckInit) : 0) |
                  (options.checkRaces ? uint32_t(sim::kCheckRace) : 0) |
                  (options.checkSync ? uint32_t(sim::kCheckSync) : 0);
  engine.counters = options.counters;
  engine.form = options.form == SimForm::Warp     ? sim::Form::Warp
                : options.form == SimForm::Thread ? sim::Form::Thread
                                                  : sim::Form::Compare;
  if (!options.trace.empty()) {
    std::string error;
    if (!sim::parseTrace(options.trace.c_str(), engine.trace, error))
      return failure(Code::InvalidArgument, "%s", error.c_str());
    engine.trace.sink = [](const std::string &lines) { std::fputs(lines.c_str(), stderr); };
  }
  const CameoBoard *board = nullptr;
  if (!options.board.empty() && !(board = sim::findBoard(options.board)))
    return failure(Code::InvalidArgument, "unknown board '%s'; known: %s", options.board.c_str(),
                   sim::knownBoards().c_str());
  device = std::make_unique<SimDevice>(engine, simCommandLine(options), board);
  return {};
}

} // namespace cameo::runtime
