// Kernels for the fake driver: those of an artefact, run on the simulator. So a program over the
// fake driver computes what it should, through every call of the CUDA path.
// SPDX-License-Identifier: Apache-2.0
#include "fake_cuda_entry.h"

#include "runtime/core/device.h"
#include "runtime/core/hash.h"
#include "runtime/core/payload.h"
#include "runtime/core/plan.h"
#include "runtime/sim/engine.h"

#include <algorithm>
#include <cstdio>
#include <cstring>

namespace fakecuda {
namespace {

using namespace cameo::runtime;

size_t sizeOf(uint32_t type) { return type == CAMEO_ARG_I32 || type == CAMEO_ARG_F32 ? 4 : 8; }

// How far the memory goes that a kernel is given: to the end of the allocation that the address
// lies in. False: the address is not memory of a GPU.
bool extentOf(uint64_t address, uint64_t &bytes) {
  bytes = 0;
  if (!address)
    return true; // of a tensor without elements
  if (auto *found = findMemory(address, 0)) {
    bytes = found->first + found->second.bytes - address;
    return true;
  }
  bytes = pinnedFrom(reinterpret_cast<const void *>(address));
  return bytes > 0;
}

KernelShape shapeOf(const PlanKernel &kernel) {
  KernelShape shape;
  shape.sharedStatic = static_cast<int>(kernel.sharedStatic);
  for (uint32_t i = 0; i < kernel.argCount; ++i)
    shape.sizes.push_back(sizeOf(kernel.argTypes[i]));
  std::copy_n(kernel.block, 3, shape.block);
  return shape;
}

KernelInfo infoOf(const PlanKernel &kernel) {
  return {
      kernel.name,         kernel.onnxNodes, {kernel.block[0], kernel.block[1], kernel.block[2]},
      kernel.sharedStatic, kernel.flags,     kernel.argTypes,
      kernel.argCount,     kernel.cluster};
}

// The simulator image for the architecture next to the first GPU's; one with checks, which finds
// addresses that are wrong.
uint32_t preference(const Section &image) {
  const std::vector<DeviceSpec> &devices = state().devices;
  uint32_t arch = image.arch & ~CAMEO_ARCH_A, specific = image.arch & CAMEO_ARCH_A ? 1 : 0;
  uint32_t gpu = devices.empty() ? 0 : devices[0].major * 10 + devices[0].minor;
  bool fits = arch <= gpu && (!specific || arch == gpu);
  return (fits ? 4 * arch + 2 * specific : 0) + (image.flags & CAMEO_SIM_IMAGE_CHECKED ? 1 : 0);
}

// An artefact and its simulator image, loaded; lives to the end of the process.
Status parsePlan(const Payload &payload, const Section &code, Plan &plan) {
  for (const Section &section : payload.sections())
    if (section.kind == CAMEO_SECTION_PLAN && section.variant == code.variant)
      return Plan::parse(section.data, section.size, payload.weightBytes(), payload.version(),
                         plan);
  return failure(Code::Corrupt, "code of variant %u has no plan", code.variant);
}

// Every kernel of every plan against the code that is launched by it, for whatever GPU that is.
struct Comparison {
  std::vector<std::string> code;                                // what was read
  std::vector<std::pair<std::string, std::string>> differences; // by kernel
  int kernels = 0;

  Status compare(const Payload &payload);
  /// With all the pieces that the code of this one is in.
  Status compare(const Payload &payload, const Section &first);
};

Status Comparison::compare(const Payload &payload) {
  for (const Section &section : payload.sections())
    if (section.kind == CAMEO_SECTION_CUBIN || section.kind == CAMEO_SECTION_PTX) {
      auto isPiece = [&](const Section &other) { return other.isCodeOf(section); };
      if (&*std::find_if(payload.sections().begin(), payload.sections().end(), isPiece) == &section)
        CAMEO_RETURN_IF_ERROR(compare(payload, section));
    }
  return Status();
}

Status Comparison::compare(const Payload &payload, const Section &first) {
  Plan plan;
  CAMEO_RETURN_IF_ERROR(parsePlan(payload, first, plan));
  DeviceSpec device;
  device.major = static_cast<int>((first.arch & ~CAMEO_ARCH_A) / 10);
  device.minor = static_cast<int>((first.arch & ~CAMEO_ARCH_A) % 10);
  fakecuda::Module module;
  std::string log, about = describeImage(first.data);
  for (const Section &section : payload.sections()) {
    if (!section.isCodeOf(first))
      continue;
    fakecuda::Module piece;
    if (CUresult error = readImage(section.data, device, 99000, piece, log))
      return failure(Code::Corrupt, "%s cannot be read: error %d", about.c_str(), error);
    module.kernels.merge(piece.kernels);
  }
  for (const PlanKernel &kernel : plan.kernels()) {
    auto found = module.kernels.find(kernel.name);
    std::string difference = found == module.kernels.end()
                                 ? "the code does not have it"
                                 : compareKernel(found->second, shapeOf(kernel));
    if (!difference.empty())
      differences.emplace_back(kernel.name, about + ", kernel " + kernel.name + ": " + difference);
  }
  kernels += static_cast<int>(plan.kernels().size());
  code.push_back(about + ": " + std::to_string(plan.kernels().size()) + " kernels");
  return Status();
}

class Artefact {
public:
  Status load(const char *path);

private:
  Status checkCode() const;
  Status loadSimulator(const Section &section);
  Status registerKernels(cameo::runtime::Module module);
  void run(const Launch &launch, cameo::runtime::Kernel kernel, const KernelInfo &info);

  std::unique_ptr<Payload> payload;
  Plan plan; // of the simulator image
  std::unique_ptr<Device> simulator;
  std::unique_ptr<cameo::sim::Image> image; // for its table
};

Status Artefact::load(const char *path) {
  CAMEO_RETURN_IF_ERROR(Payload::open(path, payload));
  CAMEO_RETURN_IF_ERROR(checkCode());
  const Section *chosen = nullptr;
  for (const Section &section : payload->sections())
    if (section.kind == CAMEO_SECTION_SIM_IMAGE &&
        (!chosen || preference(section) > preference(*chosen)))
      chosen = &section;
  if (!chosen)
    return failure(Code::NotFound, "it has no simulator image");
  return loadSimulator(*chosen);
}

// For the driver that the artefact is given to: what does not fit is never launched.
Status Artefact::checkCode() const {
  Comparison comparison;
  CAMEO_RETURN_IF_ERROR(comparison.compare(*payload));
  for (const auto &[kernel, text] : comparison.differences) {
    misuse(text);
    state().mismatched.insert(kernel);
  }
  for (const std::string &code : comparison.code)
    trace("checked " + code);
  return Status();
}

Status Artefact::loadSimulator(const Section &section) {
  SimOptions options;
  options.checkBounds = section.flags & CAMEO_SIM_IMAGE_CHECKED;
  CAMEO_RETURN_IF_ERROR(createSimDevice(options, simulator));
  CAMEO_RETURN_IF_ERROR(parsePlan(*payload, section, plan));
  std::string error;
  image = cameo::sim::Image::load(section.data, section.size, error);
  if (!image)
    return failure(Code::Corrupt, "%s", error.c_str());
  cameo::runtime::Module module = nullptr;
  CAMEO_RETURN_IF_ERROR(simulator->loadModule(
      {section.kind, section.arch, section.flags, section.data, section.size}, module));
  return registerKernels(module);
}

Status Artefact::registerKernels(cameo::runtime::Module module) {
  for (const PlanKernel &kernel : plan.kernels()) {
    KernelInfo info = infoOf(kernel);
    cameo::runtime::Kernel handle = nullptr;
    CAMEO_RETURN_IF_ERROR(simulator->findKernel(module, info, handle));
    KernelShape shape = shapeOf(kernel);
    if (const CameoSimKernelInfo *found = image->find(kernel.name)) {
      std::copy_n(found->cluster, 3, shape.cluster);
      shape.clusterKnown = true;
    }
    registerKernel(kernel.name, std::move(shape),
                   [this, handle, info](const Launch &launch) { run(launch, handle, info); });
  }
  return Status();
}

void Artefact::run(const Launch &launch, cameo::runtime::Kernel kernel, const KernelInfo &info) {
  if (memcmp(launch.block, info.block, sizeof(info.block)) != 0) {
    misuse(launch.kernel + " is launched with another block size");
    return;
  }
  std::vector<void *> arguments;
  std::vector<uint64_t> extents(info.argCount);
  std::vector<const char *> names(info.argCount, "");
  for (uint32_t i = 0; i < info.argCount; ++i) {
    arguments.push_back(const_cast<char *>(launch.arguments[i].data()));
    if (info.argTypes[i] == CAMEO_ARG_BUFFER &&
        !extentOf(launch.argument<uint64_t>(i), extents[i])) {
      misuse(launch.kernel + ": argument " + std::to_string(i) + " is not an address of the GPU's");
      fault(CUDA_ERROR_ILLEGAL_ADDRESS);
      return;
    }
  }
  cameo::runtime::Launch simulated = {kernel,
                                      {launch.grid[0], launch.grid[1], launch.grid[2]},
                                      {launch.block[0], launch.block[1], launch.block[2]},
                                      launch.sharedBytes,
                                      arguments.data(),
                                      extents.data(),
                                      names.data()};
  Status status = simulator->launch(simulated, nullptr);
  if (status.ok())
    return;
  misuse(launch.kernel + ": " + status.message());
  fault(CUDA_ERROR_ILLEGAL_ADDRESS);
}

} // namespace

// For tests that change artefacts, which note a hash of each part.
extern "C" __attribute__((visibility("default"))) uint64_t fakecuda_hash(const void *data,
                                                                         size_t bytes) {
  return cameo::runtime::hash(data, bytes);
}

bool compareCode(const char *path, int &kernels, std::vector<std::string> &differences) {
  std::unique_ptr<Payload> payload;
  Comparison comparison;
  Status status = Payload::open(path, payload);
  if (status.ok())
    status = comparison.compare(*payload);
  if (!status.ok())
    differences.push_back(status.message());
  for (auto &[kernel, difference] : comparison.differences)
    differences.push_back(difference);
  kernels = comparison.kernels;
  return differences.empty();
}

bool useArtefacts(const std::string &paths) {
  for (size_t at = 0; at <= paths.size();) {
    std::string path = paths.substr(at, paths.find(':', at) - at);
    auto *artefact = new Artefact;
    Status status = artefact->load(path.c_str());
    if (!status.ok()) {
      fprintf(stderr, "fake CUDA driver: %s: %s\n", path.c_str(), status.message().c_str());
      return false;
    }
    at += path.size() + 1;
  }
  return true;
}

} // namespace fakecuda
