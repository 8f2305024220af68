// cameo.h: versions, devices, models.
// SPDX-License-Identifier: Apache-2.0
#include "runtime/core/api.h"

#include <cstdint>
#include <dlfcn.h>
#include <link.h>
#include <string_view>

using namespace cameo::runtime;
using namespace cameo::runtime::api;

static_assert(CAMEO_STATUS_INTERNAL == int(Code::Internal), "cameo.h and Code agree");
static_assert(CAMEO_STATUS_CORRUPT == int(Code::Corrupt), "cameo.h and Code agree");
static_assert(CAMEO_STATUS_NOT_A_MODEL == int(Code::NotAModel), "cameo.h and Code agree");
static_assert(CAMEO_STATUS_NOT_KNOWN_YET == int(Code::NotKnownYet), "cameo.h and Code agree");
static_assert(int(CAMEO_DTYPE_I2) == int(CAMEO_INT2), "cameo.h and format.h agree");
static_assert(int(CAMEO_DTYPE_BF16) == int(CAMEO_BFLOAT16), "cameo.h and format.h agree");
static_assert(CAMEO_TENSOR_ON_HOST == CAMEO_TENSOR_HOST, "cameo.h and format.h agree");

namespace {

std::string &lastError() {
  thread_local std::string message;
  return message;
}

Status entryOf(const cameo_model *model, uint32_t entry, const Plan *&plan) {
  const auto &entries = model->model->entries();
  if (entry >= entries.size())
    return failure(Code::InvalidArgument, "entry point %u: the model has %zu", entry,
                   entries.size());
  plan = &entries[entry]->plan;
  return {};
}

const std::vector<PlanTensor> &tensorsOf(const Plan &plan, cameo_tensor_role role) {
  return role == CAMEO_INPUT ? plan.inputs() : role == CAMEO_TAP ? plan.taps() : plan.outputs();
}

const char *roleName(cameo_tensor_role role) {
  return role == CAMEO_INPUT ? "input" : role == CAMEO_TAP ? "tap" : "output";
}

Status readLog(const cameo_device_options &options, Log &log) {
  if (options.log_level < 0 || options.log_level > CAMEO_LOG_DEBUG)
    return failure(Code::InvalidArgument, "log level %d: there are %d to %d",
                   int(options.log_level), int(CAMEO_LOG_ERROR), int(CAMEO_LOG_DEBUG));
  if (!options.log)
    return {};
  auto tell = [callback = options.log, user = options.log_user](const LogMessage &message) {
    cameo_log_message filled = {sizeof filled, cameo_log_level(message.level),
                                cameo_status(message.code), message.text};
    callback(user, &filled);
  };
  log = Log(tell, LogLevel(options.log_level ? options.log_level : CAMEO_LOG_INFO));
  return {};
}

constexpr uint32_t kSimChecks = CAMEO_SIM_CHECK_BOUNDS | CAMEO_SIM_CHECK_UNINITIALISED |
                                CAMEO_SIM_CHECK_RACES | CAMEO_SIM_CHECK_SYNC;

Status createDevice(const cameo_device_options &options, cameo_device &device) {
  std::unique_ptr<Device> made;
  switch (options.kind) {
  case CAMEO_DEVICE_CUDA:
    CAMEO_RETURN_IF_ERROR(createCudaDevice(options.ordinal, made));
    break;
  case CAMEO_DEVICE_SIMULATOR: {
    if (uint32_t unknown = options.sim_checks & ~kSimChecks)
      return failure(Code::InvalidArgument, "sim_checks: unknown bits 0x%x", unknown);
    SimOptions sim;
    sim.checkBounds = options.sim_checks & CAMEO_SIM_CHECK_BOUNDS;
    sim.checkUninitialised = options.sim_checks & CAMEO_SIM_CHECK_UNINITIALISED;
    sim.checkRaces = options.sim_checks & CAMEO_SIM_CHECK_RACES;
    sim.seed = options.sim_seed;
    sim.threads = options.sim_threads;
    sim.checkSync = options.sim_checks & CAMEO_SIM_CHECK_SYNC;
    device.checked = sim.checkBounds || sim.checkUninitialised || sim.checkRaces;
    CAMEO_RETURN_IF_ERROR(createSimDevice(sim, made));
    break;
  }
  default:
    return failure(
        Code::InvalidArgument,
        "device kind %d: there are a GPU (%d) and the simulator (%d), and none is chosen unasked",
        int(options.kind), int(CAMEO_DEVICE_CUDA), int(CAMEO_DEVICE_SIMULATOR));
  }
  device.device = std::move(made);
  return {};
}

Status unknownMemory(cameo_memory memory) {
  return failure(Code::InvalidArgument, "memory kind %d is unknown", int(memory));
}

// Copies on the default stream, whose work comes after what contexts have enqueued on their own.
Status copy(Device &device, void *to, cameo_memory toMemory, const void *from,
            cameo_memory fromMemory, uint64_t bytes) {
  for (cameo_memory memory : {toMemory, fromMemory})
    if (memory != CAMEO_MEMORY_HOST && memory != CAMEO_MEMORY_DEVICE)
      return unknownMemory(memory);
  if (!bytes)
    return {};
  auto target = reinterpret_cast<DevicePtr>(to), source = reinterpret_cast<DevicePtr>(from);
  if (toMemory == CAMEO_MEMORY_HOST && fromMemory == CAMEO_MEMORY_HOST) {
    std::memmove(to, from, bytes);
    return {};
  }
  constexpr Stream stream = nullptr;
  CAMEO_RETURN_IF_ERROR(toMemory == CAMEO_MEMORY_HOST ? device.copyToHost(to, source, bytes, stream)
                        : fromMemory == CAMEO_MEMORY_HOST
                            ? device.copyToDevice(target, from, bytes, stream)
                            : device.copyOnDevice(target, source, bytes, stream));
  return device.synchronize(stream);
}

Status finishLoad(std::unique_ptr<Payload> payload, const cameo_model_options *given,
                  cameo_model **result) {
  cameo_model_options options = {};
  if (given)
    CAMEO_RETURN_IF_ERROR(readStruct(given, "cameo_model_options", options));
  auto model = std::make_unique<cameo_model>();
  std::shared_ptr<Device> device = options.device ? options.device->device : nullptr;
  CAMEO_RETURN_IF_ERROR(Model::create(std::move(payload), device, options.arch,
                                      options.device && options.device->checked, model->model));
  model->manifest = std::string(model->model->payload().manifest());
  *result = model.release();
  return {};
}

// Tells the log of the device that a model was to be loaded for.
cameo_status reportLoad(const cameo_model_options *given, const Status &status) {
  cameo_model_options options = {};
  bool isForDevice =
      given && readStruct(given, "cameo_model_options", options).ok() && options.device;
  return isForDevice ? report(options.device, status) : report(status);
}

Status openAndLoad(const char *path, const cameo_model_options *options, cameo_model **model,
                   const char *name) {
  std::unique_ptr<Payload> payload;
  CAMEO_RETURN_IF_ERROR(Payload::open(path, payload, name));
  return finishLoad(std::move(payload), options, model);
}

cameo_status loadFile(const char *path, const cameo_model_options *options, cameo_model **model,
                      const char *name = nullptr) {
  return reportLoad(options, openAndLoad(path, options, model, name));
}

} // namespace

cameo_status cameo::runtime::api::report(const Status &status) {
  if (!status.ok())
    lastError() = status.message();
  return cameo_status(status.code());
}

cameo_status cameo::runtime::api::report(const cameo_device *device, const Status &status) {
  cameo_status code = report(status);
  device->device->log.error(status);
  return code;
}

cameo_status cameo::runtime::api::report(const cameo_model *model, const Status &status) {
  cameo_status code = report(status);
  if (const Device *device = model->model->device())
    device->log.error(status);
  return code;
}

extern "C" {

uint32_t cameo_api_version(void) { return CAMEO_API_VERSION; }

void cameo_payload_versions(uint32_t *oldest, uint32_t *newest) {
  if (oldest)
    *oldest = kOldestPayloadVersion;
  if (newest)
    *newest = CAMEO_PAYLOAD_VERSION;
}

const char *cameo_version(void) { return CAMEO_VERSION; }

const char *cameo_status_name(cameo_status status) {
  static const char *const names[] = {"ok",
                                      "invalid argument",
                                      "out of range",
                                      "unsupported",
                                      "out of memory",
                                      "not found",
                                      "input/output",
                                      "corrupt",
                                      "incompatible",
                                      "no driver",
                                      "driver",
                                      "kernel fault",
                                      "internal error",
                                      "no code for the device",
                                      "busy",
                                      "not a model",
                                      "not known yet"};
  return size_t(status) < sizeof names / sizeof *names ? names[status] : "?";
}

const char *cameo_last_error(void) { return lastError().c_str(); }
uint32_t cameo_dtype_bits(cameo_dtype dtype) { return dtypeBits(dtype); }
const char *cameo_dtype_name(cameo_dtype dtype) { return dtypeName(dtype); }

cameo_status cameo_cuda_device_count(uint32_t *count) {
  CAMEO_REQUIRE(count);
  CudaProbe probe = probeCudaDriver();
  if (probe.state == CudaProbe::NoDriver)
    return report(failure(Code::NoDriver, "%s", probe.message.c_str()));
  if (probe.state == CudaProbe::Failing)
    return report(failure(Code::Driver, "%s", probe.message.c_str()));
  *count = uint32_t(probe.deviceCount);
  return CAMEO_STATUS_OK;
}

cameo_status cameo_device_create(const cameo_device_options *options, cameo_device **device) {
  CAMEO_REQUIRE(options);
  CAMEO_REQUIRE(device);
  cameo_device_options known;
  if (Status status = readStruct(options, "cameo_device_options", known); !status.ok())
    return report(status);
  Log log;
  if (Status status = readLog(known, log); !status.ok())
    return report(status);
  auto made = std::make_unique<cameo_device>();
  if (Status status = createDevice(known, *made); !status.ok()) {
    cameo_status code = report(status);
    log.error(status);
    return code;
  }
  made->device->log = std::move(log);
  *device = made.release();
  return CAMEO_STATUS_OK;
}

void cameo_device_destroy(cameo_device *device) { delete device; }

cameo_status cameo_device_allocate(cameo_device *device, cameo_memory memory, uint64_t bytes,
                                   void **data) {
  CAMEO_REQUIRE(device);
  CAMEO_REQUIRE(data);
  if (memory != CAMEO_MEMORY_HOST && memory != CAMEO_MEMORY_DEVICE)
    return report(device, unknownMemory(memory));
  void *made = nullptr;
  DevicePtr address = 0;
  Status status = memory == CAMEO_MEMORY_HOST ? device->device->allocateHost(bytes, made)
                                              : device->device->allocate(bytes, address);
  if (status.ok()) {
    *data = made ? made : reinterpret_cast<void *>(address);
    std::lock_guard<std::mutex> lock(device->mutex);
    device->allocated[*data] = memory;
  }
  return report(device, status);
}

cameo_status cameo_device_release(cameo_device *device, cameo_memory memory, void *data) {
  CAMEO_REQUIRE(device);
  if (memory != CAMEO_MEMORY_HOST && memory != CAMEO_MEMORY_DEVICE)
    return report(device, unknownMemory(memory));
  if (!data)
    return CAMEO_STATUS_OK;
  {
    std::lock_guard<std::mutex> lock(device->mutex);
    auto found = device->allocated.find(data);
    if (found == device->allocated.end() || found->second != memory)
      return report(device, failure(Code::InvalidArgument,
                                    "%p is no memory of the %s that this device has allocated and "
                                    "that was not released",
                                    data, memory == CAMEO_MEMORY_HOST ? "host" : "device"));
    device->allocated.erase(found);
  }
  return report(device, memory == CAMEO_MEMORY_HOST
                            ? device->device->releaseHost(data)
                            : device->device->release(reinterpret_cast<DevicePtr>(data)));
}

cameo_status cameo_device_copy(cameo_device *device, void *to, cameo_memory to_memory,
                               const void *from, cameo_memory from_memory, uint64_t bytes) {
  CAMEO_REQUIRE(device);
  if (bytes) {
    CAMEO_REQUIRE(to);
    CAMEO_REQUIRE(from);
  }
  return report(device, copy(*device->device, to, to_memory, from, from_memory, bytes));
}

cameo_status cameo_device_get_info(const cameo_device *device, cameo_device_info *info) {
  CAMEO_REQUIRE(device);
  CAMEO_REQUIRE(info);
  const DeviceInfo &known = device->device->info();
  cameo_device_info filled = {};
  filled.kind = known.kind == DeviceKind::Cuda ? CAMEO_DEVICE_CUDA : CAMEO_DEVICE_SIMULATOR;
  filled.ordinal = known.ordinal;
  filled.name = known.name.c_str();
  filled.arch = known.arch;
  filled.driver_version = known.driverVersion;
  filled.total_memory = known.totalMemory;
  return report(device, writeStruct(filled, "cameo_device_info", info));
}

cameo_status cameo_device_memory(cameo_device *device, uint64_t *available, uint64_t *total) {
  CAMEO_REQUIRE(device);
  uint64_t freeBytes = 0, allBytes = 0;
  Status status = device->device->memoryInfo(freeBytes, allBytes);
  if (status.ok() && available)
    *available = freeBytes;
  if (status.ok() && total)
    *total = allBytes;
  return report(device, status);
}

cameo_status cameo_model_load(const char *path, const cameo_model_options *options,
                              cameo_model **model) {
  CAMEO_REQUIRE(path);
  CAMEO_REQUIRE(model);
  return loadFile(path, options, model);
}

cameo_status cameo_model_load_memory(const void *data, size_t size,
                                     const cameo_model_options *options, cameo_model **model) {
  CAMEO_REQUIRE(data);
  CAMEO_REQUIRE(model);
  std::unique_ptr<Payload> payload;
  Status status = Payload::fromMemory(data, size, payload);
  return reportLoad(options, status.ok() ? finishLoad(std::move(payload), options, model)
                                         : std::move(status));
}

cameo_status cameo_model_load_self(const cameo_model_options *options, cameo_model **model) {
  CAMEO_REQUIRE(model);
  Dl_info self;
  if (!dladdr(reinterpret_cast<void *>(&cameo_model_load_self), &self) || !self.dli_fname)
    return reportLoad(
        options, failure(Code::NotFound, "cannot find the file that this function is part of"));
  // For the executable the loader reports the name it was started by, which may not be a path.
  if (Payload::isPresent(self.dli_fname))
    return loadFile(self.dli_fname, options, model);
  OwnFile own = ownFile();
  return loadFile(own.path, options, model, own.name);
}

cameo_status cameo_model_load_linked(const char *library, const cameo_model_options *options,
                                     cameo_model **model) {
  CAMEO_REQUIRE(library);
  CAMEO_REQUIRE(model);
  struct Search {
    std::string_view wanted;
    std::string path;
  } search{library, ""};
  dl_iterate_phdr(
      [](dl_phdr_info *info, size_t, void *user) {
        auto &search = *static_cast<Search *>(user);
        std::string_view path = info->dlpi_name ? info->dlpi_name : "";
        if (path.substr(path.rfind('/') + 1) != search.wanted)
          return 0;
        search.path = path;
        return 1;
      },
      &search);
  if (search.path.empty())
    return reportLoad(
        options,
        failure(Code::NotFound,
                "no library '%s' is loaded; a linker that leaves out what no symbol is taken "
                "from needs --no-as-needed",
                library));
  return loadFile(search.path.c_str(), options, model);
}

void cameo_model_destroy(cameo_model *model) { delete model; }

cameo_status cameo_model_manifest(const cameo_model *model, const char **json, size_t *size) {
  CAMEO_REQUIRE(model);
  CAMEO_REQUIRE(json);
  *json = model->manifest.c_str();
  if (size)
    *size = model->manifest.size();
  return CAMEO_STATUS_OK;
}

uint32_t cameo_model_entry_count(const cameo_model *model) {
  return model ? uint32_t(model->model->entries().size()) : 0;
}

const char *cameo_model_entry_name(const cameo_model *model, uint32_t entry) {
  const Plan *plan = nullptr;
  if (!model || !entryOf(model, entry, plan).ok())
    return "";
  return plan->name();
}

cameo_status cameo_model_find_entry(const cameo_model *model, const char *name, uint32_t *entry) {
  CAMEO_REQUIRE(model);
  CAMEO_REQUIRE(name);
  CAMEO_REQUIRE(entry);
  const auto &entries = model->model->entries();
  for (size_t i = 0; i < entries.size(); ++i)
    if (std::strcmp(entries[i]->plan.name(), name) == 0) {
      *entry = uint32_t(i);
      return CAMEO_STATUS_OK;
    }
  return report(model, failure(Code::NotFound, "the model has no entry point '%s'", name));
}

uint32_t cameo_model_tensor_count(const cameo_model *model, uint32_t entry,
                                  cameo_tensor_role role) {
  const Plan *plan = nullptr;
  if (!model || !entryOf(model, entry, plan).ok() || !checkRole(role).ok())
    return 0;
  return uint32_t(tensorsOf(*plan, role).size());
}

cameo_status cameo_model_tensor_info(const cameo_model *model, uint32_t entry,
                                     cameo_tensor_role role, uint32_t index,
                                     cameo_tensor_info *info) {
  CAMEO_REQUIRE(model);
  CAMEO_REQUIRE(info);
  const Plan *plan = nullptr;
  if (Status status = entryOf(model, entry, plan); !status.ok())
    return report(model, status);
  if (Status status = checkRole(role); !status.ok())
    return report(model, status);
  const std::vector<PlanTensor> &tensors = tensorsOf(*plan, role);
  if (index >= tensors.size())
    return report(model, failure(Code::InvalidArgument, "%s %u: the model has %zu", roleName(role),
                                 index, tensors.size()));
  const PlanTensor &tensor = tensors[index];
  cameo_tensor_info filled = {};
  filled.name = tensor.name;
  filled.dtype = cameo_dtype(tensor.dtype);
  filled.rank = uint32_t(tensor.dims.size());
  filled.dims = tensor.dims.data();
  filled.symbols = tensor.symbols.data();
  filled.flags = tensor.flags;
  filled.state = tensor.state;
  filled.state_dim = tensor.growing;
  return report(model, writeStruct(filled, "cameo_tensor_info", info));
}

cameo_status cameo_model_find_tensor(const cameo_model *model, uint32_t entry,
                                     cameo_tensor_role role, const char *name, uint32_t *index) {
  CAMEO_REQUIRE(model);
  CAMEO_REQUIRE(name);
  CAMEO_REQUIRE(index);
  const Plan *plan = nullptr;
  if (Status status = entryOf(model, entry, plan); !status.ok())
    return report(model, status);
  if (Status status = checkRole(role); !status.ok())
    return report(model, status);
  const std::vector<PlanTensor> &tensors = tensorsOf(*plan, role);
  for (size_t i = 0; i < tensors.size(); ++i)
    if (std::strcmp(tensors[i].name, name) == 0) {
      *index = uint32_t(i);
      return CAMEO_STATUS_OK;
    }
  return report(model, failure(Code::NotFound, "the model has no %s '%s'", roleName(role), name));
}

uint32_t cameo_model_profile_count(const cameo_model *model, uint32_t entry) {
  const Plan *plan = nullptr;
  return model && entryOf(model, entry, plan).ok() ? 1 : 0;
}

cameo_status cameo_model_profile_shape(const cameo_model *model, uint32_t entry, uint32_t profile,
                                       uint32_t input, uint32_t capacity, int64_t *smallest,
                                       int64_t *best, int64_t *largest) {
  CAMEO_REQUIRE(model);
  const Plan *plan = nullptr;
  if (Status status = entryOf(model, entry, plan); !status.ok())
    return report(model, status);
  if (profile >= 1 || input >= plan->inputs().size())
    return report(model,
                  failure(Code::InvalidArgument,
                          "profile %u, input %u: the entry point has 1 profile and %zu inputs",
                          profile, input, plan->inputs().size()));
  const Shape &dims = plan->inputs()[input].dims;
  if (capacity < dims.size())
    return report(model, failure(Code::InvalidArgument, "room for %u sizes; the input has %zu",
                                 capacity, dims.size()));
  for (size_t i = 0; i < dims.size(); ++i) {
    bool open = dims[i] < 0;
    if (smallest)
      smallest[i] = open ? 0 : dims[i];
    if (best)
      best[i] = dims[i];
    if (largest)
      largest[i] = open ? INT64_MAX : dims[i];
  }
  return CAMEO_STATUS_OK;
}

} // extern "C"
