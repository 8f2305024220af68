// A run over the CUDA device that uses every call of its interface, as the executor would: every
// status is looked at, and what was obtained is given back whether the run succeeds or not.
// SPDX-License-Identifier: Apache-2.0
#ifndef CAMEO_TEST_RUNTIME_CUDA_SCENARIO_H
#define CAMEO_TEST_RUNTIME_CUDA_SCENARIO_H

#include "fake_cuda.h"
#include "runtime/core/device.h"

#include <functional>
#include <string>
#include <vector>

namespace cuda_test {

using namespace cameo::runtime;

inline const std::string scalePtx = ".version 7.5\n"
                                    ".target sm_75\n"
                                    ".address_size 64\n"
                                    ".visible .entry scale(\n"
                                    "  .param .u64 .ptr .global .align 16 scale_param_0,\n"
                                    "  .param .f32 scale_param_1,\n"
                                    "  .param .u32 scale_param_2\n"
                                    ")\n{ ret; }\n"
                                    ".visible .entry other()\n{ ret; }\n"
                                    ".visible .entry large()\n"
                                    ".reqnctapercluster 16, 1, 1\n{ ret; }\n";

inline CodeSection ptxSection(const std::string &text, uint32_t arch = 75) {
  return {CAMEO_SECTION_PTX, arch, 0, text.c_str(), text.size() + 1};
}

inline KernelInfo kernelInfo(const char *name) {
  static const uint32_t types[] = {CAMEO_ARG_BUFFER, CAMEO_ARG_F32, CAMEO_ARG_I32};
  return {name, "node", {128, 1, 1}, 0, 0, types, 3};
}

/// What `scale` does: data[i] *= factor for i < count.
inline void registerScale() {
  fakecuda::registerKernel("scale", {8, 4, 4}, [](const fakecuda::Launch &launch) {
    float *data = launch.pointer<float>(0);
    for (int i = 0; i < launch.argument<int>(2); ++i)
      data[i] *= launch.argument<float>(1);
  });
}

inline Status launchScale(Device &device, Kernel kernel, DevicePtr data, float factor, int count,
                          Stream stream, uint32_t sharedDynamic = 0) {
  void *args[] = {&data, &factor, &count};
  return device.launch({kernel, {1, 1, 1}, {128, 1, 1}, sharedDynamic, args}, stream);
}

inline Status addScale(Device &device, Graph graph, Kernel kernel, DevicePtr data, float factor,
                       int count, GraphNode &node) {
  void *args[] = {&data, &factor, &count};
  return device.addLaunch(graph, {kernel, {1, 1, 1}, {128, 1, 1}, 0, args}, node);
}

inline Status setScale(Device &device, Graph graph, GraphNode node, Kernel kernel, DevicePtr data,
                       float factor, int count) {
  void *args[] = {&data, &factor, &count};
  return device.setLaunch(graph, node, {kernel, {1, 1, 1}, {128, 1, 1}, 0, args});
}

/// Runs actions in reverse order when it ends; the first failure stands.
class Cleanup {
public:
  void add(std::function<Status()> action) { actions.push_back(std::move(action)); }
  Status finish(Status status) {
    for (; !actions.empty(); actions.pop_back()) {
      Status released = actions.back()();
      if (status.ok())
        status = std::move(released);
    }
    return status;
  }

private:
  std::vector<std::function<Status()>> actions;
};

/// Scales `values` by 2 on the GPU through a recorded graph, and by 3 in a plain launch on a second
/// stream that waits for the first.
Status runScenario(std::vector<float> &values);

} // namespace cuda_test

#endif
