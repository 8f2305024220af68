// Devices and models.
// SPDX-License-Identifier: Apache-2.0
#include "python/src/model.h"

#include <cstdlib>
#include <cstring>

namespace nb = nanobind;

namespace cameo::python {
namespace {

constexpr size_t kModelAlignment = 64; // of cameo_model_load_memory

template <typename Load>
std::shared_ptr<cameo_model> loadModel(const std::shared_ptr<Device> &device, Load load) {
  CAMEO_INIT(cameo_model_options, options);
  options.device = device ? device->get() : nullptr;
  cameo_model *model = nullptr;
  {
    nb::gil_scoped_release release;
    check(load(&options, &model));
  }
  return {model, cameo_model_destroy};
}

} // namespace

Device::Device(cameo_device_kind kind, int ordinal, unsigned threads, unsigned checks,
               uint64_t seed) {
  CAMEO_INIT(cameo_device_options, options);
  options.kind = kind;
  options.ordinal = ordinal;
  options.sim_threads = threads;
  options.sim_checks = checks;
  options.sim_seed = seed;
  cameo_device *device = nullptr;
  check(cameo_device_create(&options, &device));
  handle.reset(device, cameo_device_destroy);
  info.struct_size = sizeof(info);
  check(cameo_device_get_info(device, &info));
}

std::string Device::text() const {
  return isCuda() ? "cuda:" + std::to_string(ordinal()) : "simulator";
}

Model::Model(const std::string &path, std::shared_ptr<Device> device) : on(std::move(device)) {
  handle = loadModel(on, [&](const cameo_model_options *options, cameo_model **model) {
    return cameo_model_load(path.c_str(), options, model);
  });
}

Model::Model(nb::bytes given, std::shared_ptr<Device> device) : on(std::move(device)) {
  size_t rounded = (given.size() + kModelAlignment - 1) / kModelAlignment * kModelAlignment;
  bytes.reset(static_cast<char *>(std::aligned_alloc(kModelAlignment, rounded)), std::free);
  if (!bytes)
    throw std::bad_alloc();
  std::memcpy(bytes.get(), given.c_str(), given.size());
  handle = loadModel(on, [&](const cameo_model_options *options, cameo_model **model) {
    return cameo_model_load_memory(bytes.get(), given.size(), options, model);
  });
}

std::vector<std::string> Model::entries() const {
  std::vector<std::string> names;
  for (uint32_t i = 0, count = cameo_model_entry_count(get()); i < count; ++i)
    names.push_back(cameo_model_entry_name(get(), i));
  return names;
}

std::vector<Tensor> Model::tensors(uint32_t entry, cameo_tensor_role role) const {
  std::vector<Tensor> list;
  for (uint32_t i = 0, count = cameo_model_tensor_count(get(), entry, role); i < count; ++i) {
    CAMEO_INIT(cameo_tensor_info, info);
    check(cameo_model_tensor_info(get(), entry, role, i, &info));
    Tensor tensor;
    tensor.name = info.name;
    tensor.type = info.dtype;
    tensor.dims.assign(info.dims, info.dims + info.rank);
    tensor.symbols.assign(info.symbols, info.symbols + info.rank);
    tensor.isOnHost = info.flags & CAMEO_TENSOR_ON_HOST;
    list.push_back(std::move(tensor));
  }
  return list;
}

std::string Model::manifest() const {
  const char *json = nullptr;
  size_t size = 0;
  check(cameo_model_manifest(get(), &json, &size));
  return {json, size};
}

} // namespace cameo::python
