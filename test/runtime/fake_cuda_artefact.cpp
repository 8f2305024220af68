// Kernels for the fake driver: those of an artefact, run on the simulator. So a program over the
// fake driver computes what it should, through every call of the CUDA path.
// SPDX-License-Identifier: Apache-2.0
#include "fake_cuda_state.h"

#include "runtime/core/device.h"
#include "runtime/core/payload.h"
#include "runtime/core/plan.h"

#include <cstdio>
#include <cstring>

namespace fakecuda {
namespace {

using namespace cameo::rt;

size_t sizeOf(uint32_t type) { return type == CAMEO_ARG_I32 || type == CAMEO_ARG_F32 ? 4 : 8; }

// An artefact's simulator image, loaded; lives to the end of the process.
struct Artefact {
  std::unique_ptr<Payload> payload;
  Plan plan;
  std::unique_ptr<Device> simulator;

  Status load(const char *path);
  Status registerKernels(cameo::rt::Module module);
};

Status Artefact::load(const char *path) {
  CAMEO_RETURN_IF_ERROR(Payload::open(path, payload));
  CAMEO_RETURN_IF_ERROR(createSimDevice(SimOptions(), simulator));
  const Section *image = nullptr, *code = nullptr;
  for (const Section &section : payload->sections())
    if (section.kind == CAMEO_SECTION_SIM_IMAGE && !(section.flags & CAMEO_SIM_IMAGE_CHECKED))
      image = &section;
  if (!image)
    return failure(Code::NotFound, "it has no simulator image");
  for (const Section &section : payload->sections())
    if (section.kind == CAMEO_SECTION_PLAN && section.variant == image->variant)
      code = &section;
  if (!code)
    return failure(Code::Corrupt, "its simulator image has no plan");
  CAMEO_RETURN_IF_ERROR(Plan::parse(code->data, code->size, payload->weightBytes(), plan));
  cameo::rt::Module module = nullptr;
  CAMEO_RETURN_IF_ERROR(simulator->loadModule(
      {image->kind, image->arch, image->flags, image->data, image->size}, module));
  return registerKernels(module);
}

Status Artefact::registerKernels(cameo::rt::Module module) {
  for (const PlanKernel &kernel : plan.kernels()) {
    KernelInfo info = {
        kernel.name,         kernel.onnxNodes, {kernel.block[0], kernel.block[1], kernel.block[2]},
        kernel.sharedStatic, kernel.flags,     kernel.argTypes,
        kernel.argCount};
    cameo::rt::Kernel handle = nullptr;
    CAMEO_RETURN_IF_ERROR(simulator->findKernel(module, info, handle));
    std::vector<size_t> sizes;
    for (uint32_t i = 0; i < kernel.argCount; ++i)
      sizes.push_back(sizeOf(kernel.argTypes[i]));
    registerKernel(kernel.name, sizes, [this, handle, info](const Launch &launch) {
      if (memcmp(launch.block, info.block, sizeof(info.block)) != 0) {
        misuse(launch.kernel + " is launched with another block size");
        return;
      }
      std::vector<void *> arguments;
      for (const std::vector<char> &argument : launch.arguments)
        arguments.push_back(const_cast<char *>(argument.data()));
      cameo::rt::Launch simulated = {handle,
                                     {launch.grid[0], launch.grid[1], launch.grid[2]},
                                     {launch.block[0], launch.block[1], launch.block[2]},
                                     launch.sharedBytes,
                                     arguments.data()};
      Status status = simulator->launch(simulated, nullptr);
      if (!status.ok())
        misuse(launch.kernel + ": " + status.message());
    });
  }
  return Status();
}

} // namespace

bool useArtefact(const char *path) {
  auto *artefact = new Artefact;
  Status status = artefact->load(path);
  if (!status.ok())
    fprintf(stderr, "fake CUDA driver: %s: %s\n", path, status.message().c_str());
  return status.ok();
}

} // namespace fakecuda
