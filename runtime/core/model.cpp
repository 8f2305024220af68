// Choice of code, loading, and the upload of weights.
// SPDX-License-Identifier: Apache-2.0
#include "runtime/core/model.h"

#include <algorithm>
#include <atomic>
#include <csignal>
#include <cstring>
#include <mutex>
#include <pthread.h>

namespace cameo::runtime {
namespace {

// Two page-locked buffers, so that one chunk is verified while the other is on its way.
class Staging {
public:
  explicit Staging(Device &device) : device(device) {}
  ~Staging() {
    if (inFlight)
      (void)device.synchronize(stream);
    for (int i = 0; i < 2; ++i) {
      if (events[i])
        (void)device.destroyEvent(events[i]);
      if (buffers[i])
        (void)device.releaseHost(buffers[i]);
    }
    if (stream)
      (void)device.destroyStream(stream);
  }
  Status create(uint64_t bytes) {
    CAMEO_RETURN_IF_ERROR(device.createStream(stream));
    for (int i = 0; i < 2; ++i) {
      CAMEO_RETURN_IF_ERROR(device.allocateHost(bytes, buffers[i]));
      CAMEO_RETURN_IF_ERROR(device.createEvent(events[i]));
    }
    return {};
  }
  // A buffer whose former content has arrived.
  Status next(void *&buffer) {
    current ^= 1;
    if (used[current])
      CAMEO_RETURN_IF_ERROR(device.synchronizeEvent(events[current]));
    buffer = buffers[current];
    return {};
  }
  Status send(DevicePtr target, uint64_t bytes) {
    inFlight = true;
    CAMEO_RETURN_IF_ERROR(device.copyToDevice(target, buffers[current], bytes, stream));
    used[current] = true;
    return device.record(events[current], stream);
  }
  Status finish() {
    inFlight = false;
    return device.synchronize(stream);
  }

private:
  Device &device;
  Stream stream = nullptr;
  void *buffers[2] = {};
  Event events[2] = {};
  bool used[2] = {}, inFlight = false;
  int current = 0;
};

// Copying a chunk from the file and verifying it takes a thread longer than sending it takes the
// bus.
constexpr uint64_t kUploaders = 4;

// Signals are the application's: threads of ours must not be chosen to handle them.
class SignalsBlocked {
public:
  SignalsBlocked() {
    sigset_t all;
    sigfillset(&all);
    masked = pthread_sigmask(SIG_SETMASK, &all, &before) == 0;
  }
  ~SignalsBlocked() {
    if (masked)
      (void)pthread_sigmask(SIG_SETMASK, &before, nullptr);
  }

private:
  sigset_t before;
  bool masked;
};

std::string archName(uint32_t arch) {
  return "sm_" + std::to_string(arch & 0xffff) + (arch & CAMEO_ARCH_A ? "a" : "");
}

} // namespace

// Threads take chunks until there are none, or one of them has failed.
struct Model::Upload {
  Model *model = nullptr;
  uint64_t chunks = 0;
  std::atomic<uint64_t> next{0};
  std::mutex mutex;
  Status status; // the first failure

  void finish(Status result) {
    if (result.ok())
      return;
    next = chunks;
    std::lock_guard<std::mutex> lock(mutex);
    if (status.ok())
      status = std::move(result);
  }
};

std::string describeDevice(const DeviceInfo &info) {
  if (info.kind == DeviceKind::Simulator)
    return info.name;
  return info.name + " (cuda:" + std::to_string(info.ordinal) + ", sm_" +
         std::to_string(info.arch) + ")";
}

std::string describeCode(const Section &section) {
  const char *kind = section.kind == CAMEO_SECTION_PTX     ? "ptx"
                     : section.kind == CAMEO_SECTION_CUBIN ? "cubin"
                                                           : "simulator image";
  return std::string(kind) + " for " + archName(section.arch) +
         (section.kind == CAMEO_SECTION_SIM_IMAGE && (section.flags & CAMEO_SIM_IMAGE_CHECKED)
              ? ", with checks"
              : "");
}

// "cubin for sm_80, ptx for sm_90": kernels may be pieces of their own, so that many sections are
// alike.
static std::string heldCode(const Payload &file) {
  std::vector<std::string> pieces;
  for (const Section &section : file.sections())
    if (section.kind == CAMEO_SECTION_PTX || section.kind == CAMEO_SECTION_CUBIN ||
        section.kind == CAMEO_SECTION_SIM_IMAGE)
      if (std::string piece = describeCode(section);
          std::find(pieces.begin(), pieces.end(), piece) == pieces.end())
        pieces.push_back(std::move(piece));
  std::string list;
  for (const std::string &piece : pieces)
    list += (list.empty() ? "" : ", ") + piece;
  return list.empty() ? "no code" : list;
}

Status Model::create(std::unique_ptr<Payload> payload, std::shared_ptr<Device> device,
                     uint32_t arch, bool checked, std::shared_ptr<Model> &result) {
  if (payload->isBundle())
    return failure(Code::Incompatible, "the file is a tuning bundle, and no model: it measures "
                                       "kernels when it is run");
  auto start = std::chrono::steady_clock::now();
  std::shared_ptr<Model> model(new Model(std::move(payload), std::move(device)));
  if (!model->owner) {
    CAMEO_RETURN_IF_ERROR(model->parsePlans());
  } else {
    if (model->owner->info().kind == DeviceKind::Simulator) {
      CAMEO_RETURN_IF_ERROR(model->chooseSimImage(arch, checked));
      CAMEO_RETURN_IF_ERROR(model->loadCode());
    } else {
      CAMEO_RETURN_IF_ERROR(model->loadCudaCode(arch));
    }
    CAMEO_RETURN_IF_ERROR(model->uploadWeights());
    model->logLoaded(start);
  }
  result = std::move(model);
  return {};
}

void Model::logLoaded(std::chrono::steady_clock::time_point start) const {
  const Log &log = owner->log;
  for (const std::string &refusal : refusalList)
    log.warning("%s: better code was not taken: %s", file->name().c_str(), refusal.c_str());
  // PTX is compiled by the driver meanwhile, which is what takes long where a file has no better code.
  std::chrono::duration<double, std::milli> time = std::chrono::steady_clock::now() - start;
  log.info("%s: %s and %llu bytes of weights loaded in %.1f ms, on %s", file->name().c_str(),
           describeCode(*chosen).c_str(), (unsigned long long)file->weightBytes(), time.count(),
           describeDevice(owner->info()).c_str());
}

Model::~Model() {
  if (!owner)
    return;
  unloadCode();
  if (weightMemory)
    (void)owner->release(weightMemory);
}

// The best code that the driver takes. What it takes can only be known by asking: cubins of a later
// toolkit, PTX where the driver has no compiler or must not use it.
Status Model::loadCudaCode(uint32_t arch) {
  std::vector<CodeSection> code;
  std::vector<const Section *> origin;
  for (const Section &section : file->sections()) {
    bool isGpu = section.kind == CAMEO_SECTION_PTX || section.kind == CAMEO_SECTION_CUBIN;
    bool isAnotherPiece = std::any_of(origin.begin(), origin.end(), [&](const Section *known) {
      return section.isCodeOf(*known);
    });
    if (!isGpu || (arch && section.arch != arch) || isAnotherPiece)
      continue;
    code.push_back({section.kind, section.arch, section.flags, section.data, section.size});
    origin.push_back(&section);
  }
  if (arch && code.empty())
    return failure(Code::NoCode, "the model has no GPU code for %s; it has %s",
                   archName(arch).c_str(), heldCode(*file).c_str());
  std::vector<CodeCandidate> order;
  CAMEO_RETURN_IF_ERROR(orderCudaCode(code, owner->info(), order));
  for (CodeCandidate &candidate : order) {
    if (!candidate.refusal.empty()) {
      refusalList.push_back(std::move(candidate.refusal));
      continue;
    }
    chosen = origin[candidate.index];
    Status status = loadCode();
    if (status.code() != Code::NoCode || order.size() == 1)
      return status;
    refusalList.push_back(status.message());
    unloadCode();
  }
  return allCodeRefused(owner->info(), refusalList);
}

// The newest architecture simulated, and of its images the one whose checks are as asked for.
// Images without checks are preferred where none are, being faster.
Status Model::chooseSimImage(uint32_t arch, bool checked) {
  bool any = false;
  for (const Section &section : file->sections()) {
    if (section.kind != CAMEO_SECTION_SIM_IMAGE || (arch && section.arch != arch))
      continue;
    any = true;
    bool hasChecks = section.flags & CAMEO_SIM_IMAGE_CHECKED;
    if (checked && !hasChecks)
      continue;
    auto rank = [](const Section &s) {
      return std::make_pair((s.arch & 0xffff) * 2 + (s.arch & CAMEO_ARCH_A ? 1 : 0),
                            s.flags & CAMEO_SIM_IMAGE_CHECKED ? 0 : 1);
    };
    if (!chosen || rank(section) > rank(*chosen))
      chosen = &section;
  }
  if (chosen)
    return {};
  if (any)
    return failure(Code::NoCode, "the model's simulator image was built without checks; "
                                 "compile it with --sim-checks");
  return failure(Code::NoCode, "the model has no simulator image%s; it has %s",
                 arch ? (" for " + archName(arch)).c_str() : "", heldCode(*file).c_str());
}

Status Model::parsePlans() {
  uint32_t variant = chosen ? chosen->variant : 0;
  for (const Section &section : file->sections()) {
    if (section.kind != CAMEO_SECTION_PLAN || section.variant != variant)
      continue;
    auto entry = std::make_unique<Entry>();
    CAMEO_RETURN_IF_ERROR(
        Plan::parse(section.data, section.size, file->weightBytes(), file->version(), entry->plan));
    entryList.push_back(std::move(entry));
  }
  if (entryList.empty())
    return failure(Code::Corrupt, "damaged model file: variant %u has no launch plan", variant);
  return {};
}

Status Model::loadCode() {
  CAMEO_RETURN_IF_ERROR(parsePlans());
  for (const Section &section : file->sections()) {
    if (!section.isCodeOf(*chosen))
      continue;
    Module module = nullptr;
    CAMEO_RETURN_IF_ERROR(owner->loadModule(
        {section.kind, section.arch, section.flags, section.data, section.size}, module));
    modules.push_back(module);
  }
  for (auto &entry : entryList)
    CAMEO_RETURN_IF_ERROR(findKernels(*entry));
  return {};
}

void Model::unloadCode() {
  for (Module module : modules)
    (void)owner->unloadModule(module);
  modules.clear();
  entryList.clear();
}

// A piece of code has one kernel, in the plan's order, or all of them: the next one is in the piece
// behind that of the last one.
Status Model::findKernels(Entry &entry) {
  size_t next = 0;
  for (const PlanKernel &kernel : entry.plan.kernels()) {
    KernelInfo info{
        kernel.name,         kernel.onnxNodes, {kernel.block[0], kernel.block[1], kernel.block[2]},
        kernel.sharedStatic, kernel.flags,     kernel.argTypes,
        kernel.argCount,     kernel.cluster};
    Kernel found = nullptr;
    Status status = failure(Code::Corrupt, "there is no code for kernel '%s'", kernel.name);
    for (size_t i = 0; i < modules.size() && !found; ++i) {
      status = owner->findKernel(modules[(next + i) % modules.size()], info, found);
      if (found)
        next = next + i + 1;
      else if (status.code() != Code::Corrupt)
        break; // it is there, and cannot be used
    }
    CAMEO_RETURN_IF_ERROR(std::move(status));
    entry.kernels.push_back(found);
  }
  return {};
}

Status Model::uploadWeights() {
  uint64_t total = file->weightBytes();
  if (!total)
    return {};
  Status status = owner->allocate(total, weightMemory);
  if (!status.ok())
    return failure(status.code(), "%llu bytes for weights: %s", (unsigned long long)total,
                   status.message().c_str());
  owner->nameMemory(weightMemory, "weights");
  Upload upload;
  upload.model = this;
  upload.chunks = (total + CAMEO_WEIGHT_CHUNK - 1) / CAMEO_WEIGHT_CHUNK;
  std::vector<pthread_t> threads;
  {
    SignalsBlocked blocked;
    while (threads.size() < kUploaders - 1 && upload.chunks > kUploaders * (threads.size() + 1)) {
      pthread_t thread;
      if (pthread_create(&thread, nullptr, uploadInThread, &upload) != 0)
        break; // those that there are do it all
      threads.push_back(thread);
    }
  }
  upload.finish(uploadChunks(upload));
  for (pthread_t thread : threads)
    pthread_join(thread, nullptr);
  return std::move(upload.status);
}

void *Model::uploadInThread(void *argument) {
  Upload &upload = *static_cast<Upload *>(argument);
  upload.finish(upload.model->uploadChunks(upload));
  return nullptr;
}

Status Model::uploadChunks(Upload &upload) {
  Staging staging(*owner);
  const uint64_t total = file->weightBytes();
  CAMEO_RETURN_IF_ERROR(staging.create(std::min<uint64_t>(total, CAMEO_WEIGHT_CHUNK)));
  for (uint64_t chunk; (chunk = upload.next++) < upload.chunks;) {
    uint64_t offset = chunk * CAMEO_WEIGHT_CHUNK;
    uint64_t bytes = std::min<uint64_t>(total - offset, CAMEO_WEIGHT_CHUNK);
    void *buffer = nullptr;
    CAMEO_RETURN_IF_ERROR(staging.next(buffer));
    std::memcpy(buffer, file->weights() + offset, bytes);
    CAMEO_RETURN_IF_ERROR(file->verifyWeightChunk(chunk, buffer, bytes));
    CAMEO_RETURN_IF_ERROR(staging.send(weightMemory + offset, bytes));
  }
  return staging.finish();
}

} // namespace cameo::runtime
