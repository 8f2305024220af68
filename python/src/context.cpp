// Runs: what is bound, where it lies, and what comes back.
// SPDX-License-Identifier: Apache-2.0
#include "python/src/model.h"

#include <nanobind/stl/string.h>

#include <algorithm>

namespace nb = nanobind;

namespace cameo::python {
namespace {

std::string shapeText(const std::vector<int64_t> &shape) {
  std::string text = "(";
  for (size_t i = 0; i < shape.size(); ++i)
    text += (i ? ", " : "") + std::to_string(shape[i]);
  return text + (shape.size() == 1 ? ",)" : ")");
}

std::string typeText(cameo_dtype type) {
  const char *name = numpyName(type);
  return name ? name : cameo_dtype_name(type);
}

void checkType(const Array &array, const Tensor &tensor, const std::string &what) {
  if (array.type() != tensor.type)
    throw nb::type_error(
        (what + " has elements of " + typeText(tensor.type) + ", not of " + typeText(array.type()))
            .c_str());
}

nb::object tuple(const std::vector<int64_t> &values) {
  nb::object result = nb::steal(PyTuple_New(Py_ssize_t(values.size())));
  for (size_t i = 0; i < values.size(); ++i)
    PyTuple_SET_ITEM(result.ptr(), Py_ssize_t(i), PyLong_FromLongLong(values[i]));
  return result;
}

// Sizes as Python has them, None for -1.
nb::object openTuple(const std::vector<int64_t> &sizes) {
  nb::list list;
  for (int64_t size : sizes)
    list.append(size < 0 ? nb::none() : nb::object(nb::int_(size)));
  return nb::tuple(list);
}

std::string quoted(const char *role, const Tensor &tensor) {
  return std::string(role) + " '" + tensor.name + "'";
}

// Kernels read and write device memory as it lies; on the host there is a copy in between.
bool needsStaging(const Array &array, const std::string &what) {
  if (array.isPlain())
    return false;
  if (array.memory() == CAMEO_MEMORY_DEVICE)
    throw nb::type_error((what + " is on the device and not contiguous; make it so first").c_str());
  return true;
}

// Removes what a former run has bound.
constexpr cameo_binding kNothing = {sizeof(cameo_binding), CAMEO_MEMORY_HOST, 0, nullptr, 0};

} // namespace

nb::object makeDeviceArray(const Device &device, cameo_dtype type,
                           const std::vector<int64_t> &shape, void *&data) {
  if (!dlpackType(type).bits)
    throw nb::type_error((std::string("elements of ") + typeText(type) +
                          " cannot be handed over on the device; bind memory of the host")
                             .c_str());
  uint64_t bytes = elementBytes(type);
  std::vector<size_t> sizes(shape.begin(), shape.end());
  for (size_t size : sizes)
    bytes *= size;
  // Nothing of the device is asked for where there are no elements.
  auto *memory = new std::pair<Device, void *>(device, nullptr);
  nb::capsule owner(memory, [](void *pointer) noexcept {
    auto *memory = static_cast<std::pair<Device, void *> *>(pointer);
    cameo_device_release(memory->first.get(), CAMEO_MEMORY_DEVICE, memory->second);
    delete memory;
  });
  if (bytes)
    check(cameo_device_allocate(device.get(), CAMEO_MEMORY_DEVICE, bytes, &memory->second));
  data = memory->second;
  nb::ndarray<nb::array_api> array(data, sizes.size(), sizes.data(), owner, nullptr,
                                   dlpackType(type), nb::device::cuda::value, device.ordinal());
  return nb::cast(array);
}

Context::Context(std::shared_ptr<Model> loaded, uint32_t entry, bool useGraphs, bool keepsStates)
    : model(std::move(loaded)) {
  CAMEO_INIT(cameo_context_options, options);
  options.entry = entry;
  options.flags =
      (useGraphs ? 0 : CAMEO_CONTEXT_NO_GRAPH) | (keepsStates ? 0 : CAMEO_CONTEXT_NO_STATES);
  cameo_context *context = nullptr;
  {
    Unlocked release;
    python::check(cameo_context_create(model->get(), &options, &context));
  }
  handle.reset(context);
  inputs = model->tensors(entry, CAMEO_INPUT);
  outputs = model->tensors(entry, CAMEO_OUTPUT);
  boundInputs.resize(inputs.size());
  boundOutputs.resize(outputs.size());
  shapes.resize(inputs.size());
  for (size_t i = 0; i < inputs.size(); ++i)
    if (keepsStates && inputs[i].state)
      boundInputs[i].isState = boundOutputs[*inputs[i].state].isState = true;
}

// An exception of a tap's callback is the reason of a failure before its status.
void Context::check(cameo_status status) {
  if (raised) {
    nb::python_error error = std::move(*raised);
    raised.reset();
    throw error;
  }
  if (status != CAMEO_STATUS_OK)
    throw StatusError(status, cameo_last_error());
}

void Context::checkDevice(const Array &array, const std::string &what) const {
  const Device &device = *model->device();
  if (array.memory() == CAMEO_MEMORY_DEVICE &&
      !(device.isCuda() && device.ordinal() == array.ordinal()))
    throw nb::type_error((what + " is on cuda:" + std::to_string(array.ordinal()) +
                          ", the model on " + device.text())
                             .c_str());
}

void Context::setShape(uint32_t index, const std::vector<int64_t> &shape) {
  std::vector<int64_t> &known = shapes[index];
  // Those of states change from run to run.
  if (known == shape && !shape.empty() && !boundInputs[index].isState)
    return;
  check(cameo_context_set_input_shape(handle.get(), index, uint32_t(shape.size()), shape.data()));
  known = shape;
}

void Context::bindInput(uint32_t index, nb::handle given) {
  const Tensor &tensor = inputs[index];
  std::string what = quoted("input", tensor);
  Array array = Array::of(given, Array::Access::Read, what);
  checkType(array, tensor, what);
  checkDevice(array, what);
  setShape(index, array.shape());
  Bound &bound = boundInputs[index];
  if (bound.isState)
    firstValues.push_back(index);
  cameo_memory memory = array.memory();
  void *data = array.data();
  bool isStaged = needsStaging(array, what);
  if (memory == CAMEO_MEMORY_DEVICE && tensor.isOnHost) {
    bound.staged.resize(array.packedBytes());
    python::check(cameo_device_copy(model->device()->get(), bound.staged.data(), CAMEO_MEMORY_HOST,
                                    data, CAMEO_MEMORY_DEVICE, bound.staged.size()));
    memory = CAMEO_MEMORY_HOST;
    data = bound.staged.data();
  } else if (isStaged) {
    bound.staged.resize(array.packedBytes());
    array.copyTo(bound.staged.data());
    data = bound.staged.data();
  }
  static char none; // where an array without elements may have no memory
  cameo_binding binding = {sizeof(cameo_binding), memory, 0, data ? data : &none,
                           array.packedBytes()};
  bound.array = std::move(array);
  check(cameo_context_bind_input(handle.get(), index, &binding));
}

void Context::bindInputs(nb::list given) {
  if (given.size() != inputs.size())
    throw nb::type_error(("the model has " + std::to_string(inputs.size()) + " inputs, not " +
                          std::to_string(given.size()))
                             .c_str());
  for (uint32_t i = 0; i < inputs.size(); ++i)
    if (!given[i].is_none())
      bindInput(i, given[i]);
    else if (!boundInputs[i].isState) { // an array of a former run may be gone
      check(cameo_context_bind_input(handle.get(), i, &kNothing));
      boundInputs[i].array.reset();
    }
}

std::vector<int64_t> Context::outputShape(uint32_t index) {
  uint32_t rank = 0;
  check(cameo_context_get_output_shape(handle.get(), index, 0, nullptr, &rank));
  std::vector<int64_t> shape(rank);
  check(cameo_context_get_output_shape(handle.get(), index, rank, shape.data(), &rank));
  return shape;
}

bool Context::isWrittenLater(uint32_t output, const std::string &what) const {
  const Array &array = *boundOutputs[output].array;
  if (array.overlapsItself())
    throw nb::value_error(
        (what + " has elements in one place; an expanded view is not written to").c_str());
  for (uint32_t i = 0; i < output; ++i)
    if (boundOutputs[i].array && boundOutputs[i].array->overlaps(array))
      throw nb::value_error(
          (what + " is in the memory of " + quoted("output", outputs[i])).c_str());
  if (needsStaging(array, what))
    return true;
  // Kernels may read an input after an output has been written.
  for (uint32_t i = 0; i < inputs.size(); ++i)
    if (boundInputs[i].array && boundInputs[i].array->isPlain() &&
        boundInputs[i].array->overlaps(array)) {
      if (array.memory() == CAMEO_MEMORY_DEVICE)
        throw nb::value_error(
            (what + " is in the memory of " + quoted("input", inputs[i])).c_str());
      return true;
    }
  return false;
}

bool Context::isExact(uint32_t output) {
  int32_t exact = 0;
  check(cameo_context_get_output_bound(handle.get(), output, 0, nullptr, nullptr, &exact));
  return exact != 0;
}

nb::object Context::chooseOutput(uint32_t index, nb::handle given, nb::object make, bool onDevice,
                                 const std::vector<int64_t> &shape, cameo_binding &memory) {
  const Tensor &tensor = outputs[index];
  std::string what = quoted("output", tensor);
  Bound &bound = boundOutputs[index];
  if (given.is_none() && make.is_none() && onDevice) {
    nb::object result = makeDeviceArray(*model->device(), tensor.type, shape, memory.data);
    memory.memory = CAMEO_MEMORY_DEVICE;
    memory.bytes = elementBytes(tensor.type);
    for (int64_t size : shape)
      memory.bytes *= uint64_t(size);
    return result;
  }
  nb::object result = !given.is_none()  ? nb::borrow(given)
                      : !make.is_none() ? make(typeText(tensor.type), tuple(shape))
                                        : makeNumpy(tensor.type, shape);
  Array array = Array::of(result, Array::Access::Write, what);
  checkType(array, tensor, what);
  checkDevice(array, what);
  if (array.shape() != shape)
    throw nb::value_error(
        (what + " has the shape " + shapeText(shape) + ", not " + shapeText(array.shape()))
            .c_str());
  memory.memory = array.memory();
  memory.bytes = array.packedBytes();
  memory.data = array.data();
  bound.array = std::move(array);
  bound.isStaged = isWrittenLater(index, what);
  if (bound.isStaged) {
    bound.staged.resize(memory.bytes);
    memory.data = bound.staged.data();
  }
  return result;
}

// Outputs whose shapes the run decides stay in the context's own memory, and have no array yet.
std::vector<nb::object> Context::bindOutputs(nb::list given, nb::object make, bool onDevice) {
  std::vector<nb::object> results(outputs.size());
  for (uint32_t i = 0; i < outputs.size(); ++i) {
    boundOutputs[i].array.reset(); // of a run that failed
    boundOutputs[i].isStaged = false;
    cameo_binding binding = kNothing;
    if (!isOnlyState(i, given[i]) && isExact(i))
      results[i] = chooseOutput(i, given[i], make, onDevice, outputShape(i), binding);
    if (!binding.bytes)
      binding.data = nullptr;
    check(cameo_context_bind_output(handle.get(), i, &binding));
  }
  return results;
}

bool Context::isOnlyState(uint32_t output, nb::handle given) const {
  return boundOutputs[output].isState && given.is_none();
}

nb::object Context::takeOutput(uint32_t index, nb::handle given, nb::object make, bool onDevice) {
  cameo_binding memory = kNothing;
  nb::object result = chooseOutput(index, given, make, onDevice, outputShape(index), memory);
  void *data = nullptr;
  uint64_t bytes = 0;
  check(cameo_context_output_memory(handle.get(), index, &data, &bytes));
  if (bytes)
    python::check(cameo_device_copy(model->device()->get(), memory.data, memory.memory, data,
                                    CAMEO_MEMORY_DEVICE, bytes));
  return result;
}

// A call that has failed may have taken the values of some states, and not those of others: all begin anew, without.
void Context::withdrawFirstValues() {
  for (uint32_t i : firstValues) {
    shapes[i] = inputs[i].dims; // -1 where they are open
    cameo_context_set_input_shape(handle.get(), i, uint32_t(shapes[i].size()), shapes[i].data());
    cameo_context_bind_input(handle.get(), i, &kNothing);
    boundInputs[i].array.reset();
  }
  if (!firstValues.empty())
    cameo_context_reset_states(handle.get());
}

nb::list Context::run(nb::list given, nb::list wanted, nb::object make, bool onDevice,
                      uint64_t stream, bool isAsynchronous) {
  Call call(*this);
  firstValues.clear();
  try {
    return runOnce(given, wanted, make, onDevice, stream, isAsynchronous);
  } catch (...) {
    withdrawFirstValues();
    throw;
  }
}

nb::list Context::runOnce(nb::list given, nb::list wanted, nb::object make, bool onDevice,
                          uint64_t stream, bool isAsynchronous) {
  check(cameo_context_set_stream(handle.get(), reinterpret_cast<void *>(stream)));
  bindInputs(given);
  std::vector<nb::object> results = bindOutputs(wanted, make, onDevice);
  for (size_t i = 0; i < outputs.size(); ++i) {
    const Bound &bound = boundOutputs[i];
    isAsynchronous &=
        isOnlyState(uint32_t(i), wanted[i]) ||
        (results[i] && (!bound.array || bound.array->memory() == CAMEO_MEMORY_DEVICE));
  }
  cameo_status status;
  {
    Unlocked release;
    status = isAsynchronous ? cameo_context_enqueue(handle.get()) : cameo_context_run(handle.get());
  }
  // States read their first value again where shapes change, and sizes go by values on the host; all else is bound anew
  // by the next run.
  for (size_t i = 0; i < boundInputs.size(); ++i)
    if (!given[i].is_none() && !isAsynchronous && !boundInputs[i].isState && !inputs[i].isOnHost)
      boundInputs[i].array.reset();
  check(status);
  nb::list list;
  for (uint32_t i = 0; i < results.size(); ++i) {
    if (isOnlyState(i, wanted[i])) {
      list.append(nb::none());
      continue;
    }
    if (!results[i])
      results[i] = takeOutput(i, wanted[i], make, onDevice);
    Bound &bound = boundOutputs[i];
    if (bound.array && bound.isStaged)
      bound.array->copyFrom(bound.staged.data());
    bound.array.reset();
    list.append(results[i]);
  }
  return list;
}

nb::list Context::profile(nb::list given) {
  Call call(*this);
  bindInputs(given);
  for (uint32_t i = 0; i < outputs.size(); ++i)
    check(cameo_context_bind_output(handle.get(), i, &kNothing));
  struct Launch {
    std::string kernel, nodes;
    uint32_t grid[3], block[3];
    double start, duration;
  };
  std::vector<Launch> launches;
  cameo_status status;
  {
    Unlocked release;
    status = cameo_context_run_timed(
        handle.get(),
        [](void *user, const cameo_launch_timing *timing) {
          Launch launch{timing->kernel, timing->onnx_nodes, {}, {},
                        timing->start,  timing->duration};
          std::copy_n(timing->grid, 3, launch.grid);
          std::copy_n(timing->block, 3, launch.block);
          static_cast<std::vector<Launch> *>(user)->push_back(std::move(launch));
        },
        &launches);
  }
  check(status);
  nb::list list;
  for (const Launch &launch : launches)
    list.append(nb::make_tuple(launch.kernel, launch.nodes,
                               nb::make_tuple(launch.grid[0], launch.grid[1], launch.grid[2]),
                               nb::make_tuple(launch.block[0], launch.block[1], launch.block[2]),
                               launch.start, launch.duration));
  return list;
}

static std::vector<int64_t> shapeFrom(nb::handle sizes, const std::string &what) {
  std::vector<int64_t> shape;
  if (nb::try_cast(sizes, shape))
    return shape;
  throw nb::type_error(
      (what + ": a shape has whole numbers, not " + nb::cast<std::string>(nb::repr(sizes)))
          .c_str());
}

void Context::takeShape(uint32_t index, nb::handle given) {
  const Tensor &tensor = inputs[index];
  std::string what = quoted("input", tensor);
  bool isShape = nb::isinstance<nb::tuple>(given) || nb::isinstance<nb::list>(given);
  if (isShape && tensor.isOnHost)
    throw StatusError(CAMEO_STATUS_INVALID_ARGUMENT,
                      what + ": its values decide about shapes; give an array instead of a shape");
  if (tensor.isOnHost)
    return bindInput(index, given);
  if (isShape)
    return setShape(index, shapeFrom(given, what));
  Array array = Array::of(given, Array::Access::Read, what);
  checkType(array, tensor, what);
  setShape(index, array.shape());
}

nb::list Context::outputShapes(nb::list given) {
  Call call(*this);
  if (given.size() != inputs.size())
    throw nb::type_error("a shape or an array is needed for each input");
  for (uint32_t i = 0; i < inputs.size(); ++i)
    if (!given[i].is_none())
      takeShape(i, given[i]);
    else if (!boundInputs[i].isState)
      throw nb::type_error((quoted("input", inputs[i]) + " needs a shape or an array").c_str());
  nb::list list;
  for (uint32_t i = 0; i < outputs.size(); ++i)
    list.append(openTuple(isExact(i) ? outputShape(i) : outputs[i].dims));
  return list;
}

void Context::setState(uint32_t input, std::optional<uint32_t> output) {
  Call call(*this);
  check(cameo_context_set_state(handle.get(), input, output.value_or(UINT32_MAX)));
  boundInputs[input].isState = output.has_value();
}

nb::object Context::state(uint32_t input) {
  Call call(*this);
  uint32_t rank = 0;
  cameo_status status = cameo_context_get_input_shape(handle.get(), input, 0, nullptr, &rank);
  if (status != CAMEO_STATUS_OK) // before any run, of which the other call tells
    check(cameo_context_read_state(handle.get(), input, nullptr, 0));
  check(status);
  std::vector<int64_t> shape(rank);
  check(cameo_context_get_input_shape(handle.get(), input, rank, shape.data(), &rank));
  nb::object value = makeNumpy(inputs[input].type, shape);
  Array array = Array::of(value, Array::Access::Write, quoted("state", inputs[input]));
  std::vector<char> packed(array.packedBytes());
  check(cameo_context_read_state(handle.get(), input, packed.data(), packed.size()));
  array.copyFrom(packed.data());
  return value;
}

void Context::reserveState(uint32_t input, uint64_t capacity) {
  Call call(*this);
  check(cameo_context_reserve_state(handle.get(), input, capacity));
}

void Context::resetStates() {
  Call call(*this);
  check(cameo_context_reset_states(handle.get()));
}

void Context::setSeed(uint64_t seed) {
  Call call(*this);
  check(cameo_context_set_seed(handle.get(), seed));
}

cameo_status Context::showTap(const cameo_tap &tap) {
  Locked acquire;
  try {
    std::string what = std::string("tap '") + tap.name + "'";
    std::vector<int64_t> shape(tap.dims, tap.dims + tap.rank);
    nb::object value = makeNumpy(tap.dtype, shape);
    Array array = Array::of(value, Array::Access::Write, what);
    array.copyFrom(static_cast<const char *>(tap.data));
    std::string name = tap.name;
    for (uint32_t i = 0; i < tap.trip_count; ++i)
      name += (i ? "." : "#") + std::to_string(tap.trips[i]);
    nb::object answer = tapCallback(nb::str(name.c_str()), value);
    if (answer.is_none())
      return CAMEO_STATUS_OK;
    Array changed = Array::of(answer, Array::Access::Read, what);
    if (changed.type() != tap.dtype || changed.shape() != shape ||
        changed.memory() != CAMEO_MEMORY_HOST)
      throw nb::type_error(
          (what + ": another value must be an array on the host, of its type and shape").c_str());
    std::vector<char> packed(changed.packedBytes());
    changed.copyTo(packed.data());
    return cameo_context_write_tap(handle.get(), packed.data(), packed.size());
  } catch (nb::python_error &error) {
    raised.emplace(std::move(error));
  } catch (nb::builtin_exception &error) { // an Array that is none
    std::string text = std::string("what the callback has returned for ") + error.what();
    PyErr_SetString(PyExc_TypeError, text.c_str());
    raised.emplace();
  } catch (std::exception &error) {
    PyErr_SetString(PyExc_TypeError, error.what());
    raised.emplace();
  }
  return CAMEO_STATUS_INVALID_ARGUMENT;
}

void Context::setTaps(nb::object callback) {
  Call call(*this);
  tapCallback = callback;
  cameo_tap_callback show = [](void *user, const cameo_tap *tap) {
    return static_cast<Context *>(user)->showTap(*tap);
  };
  check(cameo_context_set_taps(handle.get(), CAMEO_MEMORY_HOST, callback.is_none() ? nullptr : show,
                               this));
}

void Context::synchronize() {
  cameo_status status;
  {
    Unlocked release;
    status = cameo_context_synchronize(handle.get());
  }
  check(status);
}

bool Context::isDone() {
  int32_t done = 0;
  check(cameo_context_query(handle.get(), &done));
  return done != 0;
}

uint64_t Context::arenaBytes() {
  uint64_t bytes = 0;
  check(cameo_context_get_arena_bytes(handle.get(), &bytes));
  return bytes;
}

} // namespace cameo::python
