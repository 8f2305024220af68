// A payload made ready on a device: its variant chosen, code loaded, kernels found, weights there.
// Immutable once created, and so shared by contexts of any thread.
// SPDX-License-Identifier: Apache-2.0
#ifndef CAMEO_RUNTIME_CORE_MODEL_H
#define CAMEO_RUNTIME_CORE_MODEL_H

#include "runtime/core/device.h"
#include "runtime/core/payload.h"
#include "runtime/core/plan.h"

#include <chrono>
#include <memory>
#include <vector>

namespace cameo::runtime {

struct Entry {
  Plan plan;
  std::vector<Kernel> kernels; // one a plan kernel; empty without a device
};

class Model {
public:
  // Without a device the model can only be asked about. `arch` narrows the choice of code; 0: any.
  // `checked` prefers simulator images built for checking, and requires one.
  static Status create(std::unique_ptr<Payload> payload, std::shared_ptr<Device> device,
                       uint32_t arch, bool checked, std::shared_ptr<Model> &model);
  ~Model();

  const Payload &payload() const { return *file; }
  Device *device() const { return owner.get(); }
  const std::vector<std::unique_ptr<Entry>> &entries() const { return entryList; }
  DevicePtr weights() const { return weightMemory; }
  // The code that runs; null without a device.
  const Section *code() const { return chosen; }
  // Why the driver did not take code that would be better for the device.
  const std::vector<std::string> &refusals() const { return refusalList; }

private:
  Model(std::unique_ptr<Payload> payload, std::shared_ptr<Device> device)
      : file(std::move(payload)), owner(std::move(device)) {}
  Status loadCudaCode(uint32_t arch);
  Status chooseSimImage(uint32_t arch, bool checked);
  Status parsePlans();
  // Of `chosen`, with the plans of its variant.
  Status loadCode();
  void unloadCode();
  void logLoaded(std::chrono::steady_clock::time_point start) const;
  Status findKernels(Entry &entry);
  struct Upload;
  Status uploadWeights();
  Status uploadChunks(Upload &upload);
  static void *uploadInThread(void *upload);

  std::unique_ptr<Payload> file;
  std::shared_ptr<Device> owner;
  std::vector<std::unique_ptr<Entry>> entryList;
  std::vector<Module> modules;
  const Section *chosen = nullptr;
  std::vector<std::string> refusalList;
  DevicePtr weightMemory = 0;
};

// "NVIDIA H200 (cuda:0, sm_90)", "simulator (2 threads)".
std::string describeDevice(const DeviceInfo &info);
// "ptx for sm_80", "simulator image for sm_90a".
std::string describeCode(const Section &section);

} // namespace cameo::runtime

#endif
