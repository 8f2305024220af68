// The small model of cuda_test_model.h through the C API, on the fake driver.
// SPDX-License-Identifier: Apache-2.0
#ifndef CAMEO_TEST_RUNTIME_CUDA_TEST_PROGRAM_H
#define CAMEO_TEST_RUNTIME_CUDA_TEST_PROGRAM_H

#include "cuda_test_model.h"
#include "runtime/cameo.h"

#include <gtest/gtest.h>

namespace cuda_test {

// Destroys what it holds, in the order an embedding program would.
struct Program {
  cameo_device *device = nullptr;
  cameo_model *model = nullptr;
  cameo_context *context = nullptr;

  ~Program() { close(); }
  void close() {
    cameo_context_destroy(context);
    cameo_model_destroy(model);
    cameo_device_destroy(device);
    context = nullptr;
    model = nullptr;
    device = nullptr;
  }

  cameo_status open(const payload_test::PayloadFile &file,
                    const cameo_context_options *options = nullptr) {
    cameo_device_options deviceOptions = {};
    deviceOptions.struct_size = sizeof(deviceOptions);
    deviceOptions.kind = CAMEO_DEVICE_CUDA;
    if (cameo_status status = cameo_device_create(&deviceOptions, &device))
      return status;
    cameo_model_options modelOptions = {};
    modelOptions.struct_size = sizeof(modelOptions);
    modelOptions.device = device;
    if (cameo_status status =
            cameo_model_load_memory(file.data(), file.size(), &modelOptions, &model))
      return status;
    return cameo_context_create(model, options, &context);
  }

  static cameo_binding binding(const void *data, size_t bytes,
                               cameo_memory memory = CAMEO_MEMORY_HOST) {
    return {sizeof(cameo_binding), memory, 0, const_cast<void *>(data), bytes};
  }

  /// Shape and host bindings of x and y.
  static cameo_status bind(cameo_context *context, const std::vector<float> &x,
                           std::vector<float> &y) {
    auto dims = static_cast<int64_t>(x.size());
    if (cameo_status status = cameo_context_set_input_shape(context, 0, 1, &dims))
      return status;
    cameo_binding input = binding(x.data(), x.size() * sizeof(float));
    if (cameo_status status = cameo_context_bind_input(context, 0, &input))
      return status;
    y.resize(x.size());
    cameo_binding output = binding(y.data(), y.size() * sizeof(float));
    return cameo_context_bind_output(context, 0, &output);
  }

  static cameo_status run(cameo_context *context, const std::vector<float> &x,
                          std::vector<float> &y) {
    if (cameo_status status = bind(context, x, y))
      return status;
    return cameo_context_run(context);
  }
};

inline std::vector<float> expected(const std::vector<float> &x, float factor = 2) {
  std::vector<float> y;
  for (size_t i = 0; i < x.size(); ++i)
    y.push_back(factor * x[i] + static_cast<float>(i));
  return y;
}

class CudaModel : public testing::Test {
protected:
  void SetUp() override {
    fakecuda::reset();
    registerKernels();
  }
  void TearDown() override {
    EXPECT_TRUE(fakecuda::live().none()) << fakecuda::live().str();
    EXPECT_EQ(fakecuda::misuses(), std::vector<std::string>());
  }
};

} // namespace cuda_test

#endif
