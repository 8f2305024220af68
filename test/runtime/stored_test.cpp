// Files of former payload versions, as the compilers of their time wrote them (stored/README.md): they load, and
// give what they gave.
// SPDX-License-Identifier: Apache-2.0
#include "runtime/cameo.h"
#include "runtime/core/payload.h"
#include "runtime/sim/abi.h"
#include "test_model.h"

#include <cmath>
#include <gtest/gtest.h>
#include <map>

using namespace payload_test;

namespace {

struct Input {
  std::vector<int64_t> shape;
  const void *data;
  uint64_t bytes;
};

// The simulator's version that the files have code for: with this one nothing is skipped.
constexpr uint32_t kStoredSimulator = 11;

// A stored file on the simulator.
class Stored {
public:
  explicit Stored(const std::string &name) : path(STORED_PAYLOADS "/" + name) {
    CAMEO_INIT(cameo_device_options, deviceOptions);
    deviceOptions.kind = CAMEO_DEVICE_SIMULATOR;
    EXPECT_EQ(cameo_device_create(&deviceOptions, &device), CAMEO_STATUS_OK) << cameo_last_error();
  }
  ~Stored() {
    cameo_context_destroy(context);
    cameo_model_destroy(model);
    cameo_device_destroy(device);
  }

  void open(uint32_t arch = 0) {
    CAMEO_INIT(cameo_model_options, options);
    options.device = device;
    options.arch = arch;
    cameo_status status = cameo_model_load(path.c_str(), &options, &model);
    if (CAMEO_SIM_ABI_VERSION != kStoredSimulator) {
      // The simulator may move on (docs/versions.md): it refuses the code then, and the rest of the file loads all the same.
      ASSERT_EQ(status, CAMEO_STATUS_INCOMPATIBLE);
      options.device = nullptr;
      ASSERT_EQ(cameo_model_load(path.c_str(), &options, &model), CAMEO_STATUS_OK)
          << cameo_last_error();
      GTEST_SKIP() << "its code is for another version of the simulator";
    }
    ASSERT_EQ(status, CAMEO_STATUS_OK) << cameo_last_error();
    ASSERT_EQ(cameo_context_create(model, nullptr, &context), CAMEO_STATUS_OK)
        << cameo_last_error();
  }
  void run(const std::vector<Input> &inputs, const std::vector<int64_t> &shape,
           const std::vector<double> &expected) {
    if (!context)
      return;
    for (uint32_t i = 0; i < inputs.size(); ++i) {
      const Input &input = inputs[i];
      ASSERT_EQ(cameo_context_set_input_shape(context, i, uint32_t(input.shape.size()),
                                              input.shape.data()),
                CAMEO_STATUS_OK)
          << cameo_last_error();
      cameo_binding binding = {sizeof binding, CAMEO_MEMORY_HOST, 0, const_cast<void *>(input.data),
                               input.bytes};
      ASSERT_EQ(cameo_context_bind_input(context, i, &binding), CAMEO_STATUS_OK)
          << cameo_last_error();
    }
    int64_t dims[8];
    uint32_t rank = 0;
    ASSERT_EQ(cameo_context_get_output_shape(context, 0, 8, dims, &rank), CAMEO_STATUS_OK)
        << cameo_last_error();
    EXPECT_EQ(std::vector<int64_t>(dims, dims + rank), shape);
    std::vector<float> y(expected.size(), -1e30f);
    cameo_binding binding = {sizeof binding, CAMEO_MEMORY_HOST, 0, y.data(),
                             y.size() * sizeof(float)};
    ASSERT_EQ(cameo_context_bind_output(context, 0, &binding), CAMEO_STATUS_OK)
        << cameo_last_error();
    ASSERT_EQ(cameo_context_run(context), CAMEO_STATUS_OK) << cameo_last_error();
    for (size_t i = 0; i < y.size(); ++i)
      EXPECT_NEAR(y[i], expected[i], 1e-5 * std::abs(expected[i])) << i;
  }

  std::string path;
  cameo_device *device = nullptr;
  cameo_model *model = nullptr;
  cameo_context *context = nullptr;
};

// -2, -1, 0, 1, 2, -2, ...
std::vector<float> ramp(size_t count) {
  std::vector<float> values;
  for (size_t i = 0; i < count; ++i)
    values.push_back(float(i % 5) - 2);
  return values;
}

const std::vector<double> product = {-5, -6,  1,  -3, 5, 5,  -2, -8, 10,
                                     9,  -13, -2, 11, 5, -1, 1,  -1, -4};

TEST(StoredV4, FixedSizes) {
  Stored file("v4-fixed.plan");
  file.open();
  const std::vector<float> x = ramp(8);
  file.run({{{2, 4}, x.data(), 32}}, {2, 6},
           {3.316459697089158e-05, 3.316459697089158e-05, 0.0006661287625320256,
            3.316459697089158e-05, 0.26873552799224854, 0.7304988503456116, 3.0718883863301016e-06,
            3.0718883863301016e-06, 0.49996453523635864, 0.49996453523635864,
            3.0718883863301016e-06, 6.170052802190185e-05});
}

TEST(StoredV4, OpenSizes) {
  Stored file("v4-open.plan");
  file.open();
  const std::vector<float> x = ramp(12);
  const std::vector<double> y = {-2, -3, 4, 0, 8,  8,   4,   -2,  16,
                                 15, -7, 4, 0, -6, -12, -10, -12, -15};
  for (int64_t rows : {3, 1, 2, 3})
    file.run({{{rows, 4}, x.data(), uint64_t(rows) * 16}}, {rows, 6},
             {y.begin(), y.begin() + rows * 6});
}

TEST(StoredV4, AnInputThatTheHostReads) {
  Stored file("v4-host.plan");
  file.open();
  const std::vector<float> x = {1, -2, 0.5};
  const int64_t k[] = {2, 3}, more[] = {4, 3};
  file.run({{{1, 3}, x.data(), 12}, {{2}, k, 16}}, {2, 3}, {4, 1, 3.5, 4, 1, 3.5});
  file.run({{{1, 3}, x.data(), 12}, {{2}, more, 16}}, {4, 3},
           {5, 2, 4.5, 5, 2, 4.5, 5, 2, 4.5, 5, 2, 4.5});
}

TEST(StoredV4, Taps) {
  Stored file("v4-taps.plan");
  file.open();
  std::map<std::string, std::vector<float>> taps;
  auto keep = [](void *user, const cameo_tap *tap) {
    const auto *values = static_cast<const float *>(tap->data);
    (*static_cast<std::map<std::string, std::vector<float>> *>(user))[tap->name] = {
        values, values + tap->bytes / 4};
    return CAMEO_STATUS_OK;
  };
  if (!file.context)
    return;
  ASSERT_EQ(cameo_context_set_taps(file.context, CAMEO_MEMORY_HOST, keep, &taps), CAMEO_STATUS_OK);
  const std::vector<float> x = ramp(12);
  file.run({{{3, 4}, x.data(), 48}}, {3, 6},
           {0, 0, 3, 0, 9, 10, 0, 0, 12, 12, 0, 3, 11, 6, 1, 4, 3, 1});
  EXPECT_EQ(taps["product"], std::vector<float>(product.begin(), product.end()));
  ASSERT_EQ(taps["bias"].size(), product.size());
  for (size_t i = 0; i < product.size(); ++i)
    EXPECT_EQ(taps["bias"][i], product[i] + double(i % 6));
}

TEST(StoredV4, TwoVariants) {
  for (uint32_t arch : {80, 90}) {
    Stored file("v4-variants.plan");
    file.open(arch);
    const std::vector<float> x = {1, 2, 3, 4, 5, -1, -2, -3, -4, -5, 6, 7, 8, 9, 10};
    file.run({{{3, 5}, x.data(), 60}}, {5, 3},
             {1, 1, 36, 4, 4, 49, 9, 9, 64, 16, 16, 81, 25, 25, 100});
  }
}

} // namespace
