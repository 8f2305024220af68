// The runtime's C interface for the compiler's own use.
//
// SPDX-License-Identifier: Apache-2.0
#include "codegen/Run.h"

#include "codegen/target/GpuTargets.h"

#include "llvm/ADT/ScopeExit.h"
#include "llvm/Support/FormatVariadic.h"

using namespace cameo;

static llvm::Error errorOf(cameo_status status) {
  if (status == CAMEO_STATUS_OK)
    return llvm::Error::success();
  return llvm::createStringError(std::string(cameo_last_error()));
}

//===-- Devices -------------------------------------------------------------------------------===//

llvm::Expected<RunDevice> RunDevice::parse(llvm::StringRef text) {
  if (text == "sim" || text == "simulator") // as Python's package calls it
    return RunDevice();
  RunDevice device{CAMEO_DEVICE_CUDA};
  llvm::StringRef number = text;
  if (text == "cuda" || (number.consume_front("cuda:") &&
                         !number.getAsInteger(10, device.ordinal) && device.ordinal >= 0))
    return device;
  return llvm::createStringError("'" + text.str() +
                                 "' is not a device; expected sim, cuda or cuda:N");
}

std::string RunDevice::text() const {
  return kind == CAMEO_DEVICE_SIMULATOR ? "sim" : "cuda:" + std::to_string(ordinal);
}

static cameo_device_options deviceOptionsOf(const RunDevice &where) {
  CAMEO_INIT(cameo_device_options, options);
  options.kind = where.kind;
  options.ordinal = where.ordinal;
  return options;
}

llvm::Expected<std::string> RunDevice::targets() const {
  if (kind == CAMEO_DEVICE_SIMULATOR)
    return "sim:sm_80";
  cameo_device_options options = deviceOptionsOf(*this);
  cameo_device *device = nullptr;
  if (llvm::Error error = errorOf(cameo_device_create(&options, &device)))
    return llvm::createStringError(text() + ": " + llvm::toString(std::move(error)));
  auto release = llvm::make_scope_exit([&] { cameo_device_destroy(device); });
  CAMEO_INIT(cameo_device_info, info);
  if (llvm::Error error = errorOf(cameo_device_get_info(device, &info)))
    return llvm::createStringError(text() + ": " + llvm::toString(std::move(error)));
  llvm::Expected<std::string> targets = targetsOfGpu(info.arch / 10, info.arch % 10);
  if (!targets)
    return llvm::createStringError(text() + ", " + info.name + ": " +
                                   llvm::toString(targets.takeError()));
  return targets;
}

//===-- Runs ----------------------------------------------------------------------------------===//

llvm::Expected<std::unique_ptr<Runner>> Runner::create(std::unique_ptr<llvm::MemoryBuffer> artefact,
                                                       const RunOptions &options) {
  std::unique_ptr<Runner> runner(new Runner);
  runner->artefact = std::move(artefact);
  if (llvm::Error error = runner->load(options))
    return std::move(error);
  return std::move(runner);
}

Runner::~Runner() {
  cameo_context_destroy(context);
  cameo_model_destroy(model);
  cameo_device_destroy(device);
}

llvm::Error Runner::load(const RunOptions &options) {
  cameo_device_options deviceOptions = deviceOptionsOf(options.device);
  isSimulated = options.device.kind == CAMEO_DEVICE_SIMULATOR;
  deviceOptions.sim_threads = options.threads;
  if (llvm::Error error = errorOf(cameo_device_create(&deviceOptions, &device)))
    return error;
  CAMEO_INIT(cameo_model_options, modelOptions);
  modelOptions.device = device;
  if (llvm::Error error = errorOf(cameo_model_load_memory(
          artefact->getBufferStart(), artefact->getBufferSize(), &modelOptions, &model)))
    return error;
  if (llvm::Error error = errorOf(cameo_context_create(model, nullptr, &context)))
    return error;
  inputPorts = ports(CAMEO_INPUT);
  outputPorts = ports(CAMEO_OUTPUT);
  tapPorts = ports(CAMEO_TAP);
  return llvm::Error::success();
}

llvm::StringRef Runner::manifest() const {
  const char *json = nullptr;
  size_t size = 0;
  return cameo_model_manifest(model, &json, &size) == CAMEO_STATUS_OK ? llvm::StringRef(json, size)
                                                                      : llvm::StringRef();
}

std::vector<TensorPort> Runner::ports(cameo_tensor_role role) const {
  std::vector<TensorPort> result;
  uint32_t count = cameo_model_tensor_count(model, 0, role);
  for (uint32_t i = 0; i < count; ++i) {
    CAMEO_INIT(cameo_tensor_info, info);
    (void)cameo_model_tensor_info(model, 0, role, i, &info);
    result.push_back({info.name, info.dtype, {info.dims, info.dims + info.rank}});
  }
  return result;
}

static cameo_binding bindingOf(std::vector<char> &bytes) {
  static char none; // nothing is read of it or written to it
  CAMEO_INIT(cameo_binding, binding);
  binding.memory = CAMEO_MEMORY_HOST;
  binding.data = bytes.empty() ? &none : bytes.data();
  binding.bytes = bytes.size();
  return binding;
}

llvm::Error Runner::bindInputs(llvm::ArrayRef<HostTensor> given) {
  if (given.size() != inputPorts.size())
    return llvm::createStringError(
        llvm::formatv("{0} inputs are given; the model has {1}", given.size(), inputPorts.size())
            .str());
  for (auto [i, tensor] : llvm::enumerate(given)) {
    if (tensor.type != inputPorts[i].type)
      return llvm::createStringError(
          llvm::formatv("input '{0}' is of type {1}, not {2}", inputPorts[i].name,
                        cameo_dtype_name(inputPorts[i].type), cameo_dtype_name(tensor.type))
              .str());
    if (llvm::Error error = errorOf(
            cameo_context_set_input_shape(context, i, tensor.shape.size(), tensor.shape.data())))
      return error;
    // A binding is for both directions; of an input nothing is written.
    cameo_binding binding = bindingOf(const_cast<std::vector<char> &>(tensor.bytes));
    if (llvm::Error error = errorOf(cameo_context_bind_input(context, i, &binding)))
      return error;
  }
  return llvm::Error::success();
}

llvm::Error Runner::bindOutputs(std::vector<HostTensor> &results) {
  for (auto [i, port] : llvm::enumerate(outputPorts)) {
    HostTensor &result = results.emplace_back();
    result.type = port.type;
    result.shape.resize(port.shape.size());
    uint64_t bytes = 0;
    int32_t isExact = 1;
    if (llvm::Error error = errorOf(cameo_context_get_output_bound(
            context, i, result.shape.size(), result.shape.data(), nullptr, &isExact)))
      return error;
    if (!isExact) { // its values are fetched when there is a shape
      CAMEO_INIT(cameo_binding, none);
      if (llvm::Error error = errorOf(cameo_context_bind_output(context, i, &none)))
        return error;
      continue;
    }
    if (llvm::Error error = errorOf(cameo_context_get_bytes(context, CAMEO_OUTPUT, i, &bytes)))
      return error;
    result.bytes.resize(bytes);
    cameo_binding binding = bindingOf(result.bytes);
    if (llvm::Error error = errorOf(cameo_context_bind_output(context, i, &binding)))
      return error;
  }
  return llvm::Error::success();
}

llvm::Error Runner::readOutputs(std::vector<HostTensor> &results) {
  for (auto [i, result] : llvm::enumerate(results)) {
    int32_t isExact = 1;
    if (llvm::Error error =
            errorOf(cameo_context_get_output_bound(context, i, 0, nullptr, nullptr, &isExact)))
      return error;
    if (isExact)
      continue;
    void *data = nullptr;
    uint64_t bytes = 0;
    if (llvm::Error error = errorOf(cameo_context_get_output_shape(context, i, result.shape.size(),
                                                                   result.shape.data(), nullptr)))
      return error;
    if (llvm::Error error = errorOf(cameo_context_output_memory(context, i, &data, &bytes)))
      return error;
    result.bytes.resize(bytes);
    if (llvm::Error error = errorOf(cameo_device_copy(
            device, result.bytes.data(), CAMEO_MEMORY_HOST, data, CAMEO_MEMORY_DEVICE, bytes)))
      return error;
  }
  return llvm::Error::success();
}

namespace {
/// Who looks at the values of a run, and what he says.
struct TapListener {
  Runner::TapFunction onTap;
  llvm::Error error = llvm::Error::success();
};
} // namespace

cameo_status Runner::showTap(void *user, const cameo_tap *tap) {
  auto &listener = *static_cast<TapListener *>(user);
  const char *data = static_cast<const char *>(tap->data);
  llvm::Error error = listener.onTap(
      {tap->index, tap->name, tap->dtype, llvm::ArrayRef(tap->dims, tap->rank),
       llvm::ArrayRef(data, tap->bytes), llvm::ArrayRef(tap->trips, tap->trip_count)});
  if (!error)
    return CAMEO_STATUS_OK;
  listener.error = llvm::joinErrors(std::move(listener.error), std::move(error));
  return CAMEO_STATUS_INVALID_ARGUMENT;
}

llvm::Expected<std::vector<HostTensor>> Runner::run(llvm::ArrayRef<HostTensor> given,
                                                    TapFunction onTap) {
  // The simulator's device memory is the host's: no value needs to be copied.
  return runWith(given, isSimulated ? CAMEO_MEMORY_DEVICE : CAMEO_MEMORY_HOST, onTap);
}

llvm::Expected<std::vector<HostTensor>>
Runner::runWatched(llvm::ArrayRef<HostTensor> given, WantFunction isWanted, TapFunction onTap) {
  std::vector<char> copy;
  return runWith(given, CAMEO_MEMORY_DEVICE, [&](const TappedValue &value) -> llvm::Error {
    if (!isWanted(value.tap, value.bytes.size()))
      return llvm::Error::success();
    if (isSimulated)
      return onTap(value);
    copy.resize(value.bytes.size());
    if (llvm::Error error = errorOf(cameo_context_read_tap(context, copy.data(), copy.size())))
      return error;
    TappedValue shown = value;
    shown.bytes = copy;
    return onTap(shown);
  });
}

llvm::Expected<std::vector<HostTensor>> Runner::runChanged(llvm::ArrayRef<HostTensor> given,
                                                           ChangeFunction change) {
  return runWith(given, CAMEO_MEMORY_HOST, [&](const TappedValue &value) -> llvm::Error {
    // The copy on the host is the runtime's, and is there for this call alone.
    llvm::MutableArrayRef<char> bytes(const_cast<char *>(value.bytes.data()), value.bytes.size());
    if (!change(value, bytes))
      return llvm::Error::success();
    return errorOf(cameo_context_write_tap(context, bytes.data(), bytes.size()));
  });
}

llvm::Expected<std::vector<HostTensor>> Runner::runWith(llvm::ArrayRef<HostTensor> given,
                                                        cameo_memory memory, TapFunction onTap) {
  std::vector<HostTensor> results;
  results.reserve(outputPorts.size());
  if (llvm::Error error = bindInputs(given))
    return std::move(error);
  if (llvm::Error error = bindOutputs(results))
    return std::move(error);
  if (llvm::Error error = errorOf(cameo_context_get_arena_bytes(context, &arena)))
    return std::move(error);
  TapListener listener{onTap};
  (void)cameo_context_set_taps(context, memory, onTap ? &showTap : nullptr, &listener);
  cameo_status status = cameo_context_run(context);
  (void)cameo_context_set_taps(context, CAMEO_MEMORY_HOST, nullptr, nullptr);
  // What the listener has said is why the run ended.
  if (listener.error)
    return std::move(listener.error);
  if (llvm::Error error = errorOf(status))
    return std::move(error);
  if (llvm::Error error = readOutputs(results))
    return std::move(error);
  return std::move(results);
}
