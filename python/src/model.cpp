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
    Unlocked release;
    check(load(&options, &model));
  }
  return {model, cameo_model_destroy};
}

int pythonLevel(cameo_log_level level) {
  switch (level) {
  case CAMEO_LOG_ERROR:
    return 40; // logging.ERROR
  case CAMEO_LOG_WARNING:
    return 30;
  case CAMEO_LOG_INFO:
    return 20;
  default:
    return 10;
  }
}

// Python's logger "cameo" hears all but the errors of calls, which are exceptions.
void log(void *, const cameo_log_message *message) {
  if (message->level == CAMEO_LOG_ERROR && std::strcmp(message->text, cameo_last_error()) == 0)
    return;
  if (!Py_IsInitialized()) // a model that goes with the interpreter
    return;
  Locked acquire;
  try {
    nb::module_::import_("logging").attr("getLogger")("cameo").attr("log")(
        pythonLevel(message->level), "%s", message->text);
  } catch (nb::python_error &error) {
    error.discard_as_unraisable("a handler of logger 'cameo'");
  }
}

} // namespace

uint64_t wholeNumber(nb::handle value, const char *what, uint64_t most) {
  nb::object index = nb::steal(PyNumber_Index(value.ptr()));
  if (!index.is_valid()) {
    nb::python_error error;
    throw nb::type_error((std::string(what) + ": a whole number was expected, not " +
                          nb::cast<std::string>(nb::repr(value)))
                             .c_str());
  }
  uint64_t number = PyLong_AsUnsignedLongLong(index.ptr());
  bool isOutside = PyErr_Occurred();
  if (isOutside)
    nb::python_error error;
  if (isOutside || number > most)
    throw nb::value_error((std::string(what) + ": " + nb::cast<std::string>(nb::str(index)) +
                           " is not between 0 and " + std::to_string(most))
                              .c_str());
  return number;
}

Device::Device(cameo_device_kind kind, int ordinal, unsigned threads, unsigned checks,
               uint64_t seed) {
  CAMEO_INIT(cameo_device_options, options);
  options.kind = kind;
  options.ordinal = ordinal;
  options.sim_threads = threads;
  options.sim_checks = checks;
  options.sim_seed = seed;
  options.log = log;
  options.log_level = CAMEO_LOG_DEBUG;
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
    if (info.flags & CAMEO_TENSOR_IS_STATE)
      tensor.state = info.state;
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
