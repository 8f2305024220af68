// Choice of the device.
// SPDX-License-Identifier: Apache-2.0
#include "runtime/main/session.h"

#include <cstdio>

namespace cameo::cli {
namespace {

Status openCuda(int ordinal, std::shared_ptr<runtime::Device> &result) {
  std::unique_ptr<runtime::Device> device;
  CAMEO_RETURN_IF_ERROR(runtime::createCudaDevice(ordinal, device));
  result = std::move(device);
  return {};
}

Status openSimulator(const DeviceOptions &options, std::shared_ptr<runtime::Device> &result) {
  std::unique_ptr<runtime::Device> device;
  CAMEO_RETURN_IF_ERROR(runtime::createSimDevice(options.sim, device));
  result = std::move(device);
  return {};
}

} // namespace

// The simulator is taken unasked only where there is no driver at all: one that fails is an error.
Status openDevice(const DeviceOptions &options, std::shared_ptr<runtime::Device> &device) {
  if (options.device == DeviceChoice::Cuda)
    return openCuda(options.ordinal, device);
  if (options.device == DeviceChoice::Simulator)
    return openSimulator(options, device);
  runtime::CudaProbe probe = runtime::probeCudaDriver();
  switch (probe.state) {
  case runtime::CudaProbe::Usable:
    if (options.simOnly)
      return failure(Code::InvalidArgument, "--sim-... and --threads are for --device=sim");
    return openCuda(options.ordinal, device);
  case runtime::CudaProbe::Failing:
    return failure(Code::Driver, "%s; --device=sim runs on the simulator", probe.message.c_str());
  default:
    std::fprintf(stderr, "no CUDA driver on this machine: running on the simulator\n");
    return openSimulator(options, device);
  }
}

runtime::ContextOptions contextOptionsOf(const Session &session) {
  runtime::ContextOptions options;
  options.entry = session.entry;
  options.seed = session.seed;
  options.repeatsRandom = true;
  options.keepsStates = false;
  return options;
}

Status openSession(const Options &options, std::unique_ptr<runtime::Payload> payload,
                   Session &session) {
  CAMEO_RETURN_IF_ERROR(openDevice(options, session.device));
  uint64_t total = 0;
  if (options.benchmark != Report::None)
    CAMEO_RETURN_IF_ERROR(session.device->memoryInfo(session.freeBytes, total));
  const runtime::SimOptions &sim = options.sim;
  bool checked = sim.checkBounds || sim.checkUninitialised || sim.checkRaces || sim.counters ||
                 !sim.trace.empty();
  CAMEO_RETURN_IF_ERROR(runtime::Model::create(std::move(payload), session.device, options.arch,
                                               checked, session.model));
  // What is not there is not known: --info says what is wrong with it.
  if (!parseJson(session.model->payload().manifest(), session.manifest))
    session.manifest = {};
  session.seed = options.seed;
  session.place = runtime::describeDevice(session.device->info());
  std::fprintf(stderr, "running on %s: %s\n", session.place.c_str(),
               runtime::describeCode(*session.model->code()).c_str());
  for (const std::string &refusal : session.model->refusals())
    std::fprintf(stderr, "better code was not taken: %s\n", refusal.c_str());
  const auto &entries = session.model->entries();
  for (session.entry = 0; session.entry < entries.size(); ++session.entry)
    if (options.entry.empty() || options.entry == session.plan().name())
      return {};
  return failure(Code::NotFound, "the model has no entry point '%s'", options.entry.c_str());
}

} // namespace cameo::cli
