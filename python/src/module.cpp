// Module cameo._runtime: the C interface in Python's classes, which package cameo makes convenient.
// SPDX-License-Identifier: Apache-2.0
#include "python/src/model.h"

#include <nanobind/stl/optional.h>
#include <nanobind/stl/shared_ptr.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/tuple.h>
#include <nanobind/stl/vector.h>

namespace nb = nanobind;
using namespace nb::literals;

namespace cameo::python {
namespace {

constexpr cameo_tensor_role kRoles[] = {CAMEO_INPUT, CAMEO_OUTPUT, CAMEO_TAP};

// Sizes as Python has them: a number, a name, or None where an open size has none.
nb::object shapeOf(const Tensor &tensor) {
  nb::list sizes;
  for (size_t i = 0; i < tensor.dims.size(); ++i)
    if (tensor.dims[i] >= 0)
      sizes.append(tensor.dims[i]);
    else if (!tensor.symbols[i].empty())
      sizes.append(tensor.symbols[i]);
    else
      sizes.append(nb::none());
  return nb::tuple(sizes);
}

nb::list describe(const Model &model, uint32_t entry, unsigned role) {
  nb::list list;
  std::vector<Tensor> outputs = model.tensors(entry, CAMEO_OUTPUT);
  for (const Tensor &tensor : model.tensors(entry, kRoles[role])) {
    const char *name = numpyName(tensor.type);
    nb::object state =
        tensor.state ? nb::object(nb::cast(outputs[*tensor.state].name)) : nb::none();
    list.append(nb::make_tuple(tensor.name, name ? name : cameo_dtype_name(tensor.type),
                               shapeOf(tensor), tensor.isOnHost, state));
  }
  return list;
}

// A callback may refer to its context, as a method of an object that has one does.
int traverse(PyObject *self, visitproc visit, void *arg) { // as Py_VISIT has it
  Py_VISIT(Py_TYPE(self));
  if (nb::inst_ready(self))
    Py_VISIT(nb::inst_ptr<Context>(self)->callback().ptr());
  return 0;
}
int clear(PyObject *self) {
  if (nb::inst_ready(self))
    nb::inst_ptr<Context>(self)->forgetCallback();
  return 0;
}
PyType_Slot kContextSlots[] = {{Py_tp_traverse, reinterpret_cast<void *>(traverse)},
                               {Py_tp_clear, reinterpret_cast<void *>(clear)},
                               {0, nullptr}};

void translate(const std::exception_ptr &pointer, void *) {
  try {
    std::rethrow_exception(pointer);
  } catch (const StatusError &error) {
    nb::object made = nb::module_::import_("cameo._errors")
                          .attr("of_status")(cameo_status_name(error.status()), error.what());
    PyErr_SetObject((PyObject *)Py_TYPE(made.ptr()), made.ptr());
  }
}

} // namespace
} // namespace cameo::python

NB_MODULE(_runtime, m) {
  using namespace cameo::python;
  // Models that others keep until the interpreter ends, as torch does functions that it has compiled, are no leaks.
  nb::set_leak_warnings(false);
  nb::register_exception_translator(translate);

  m.def("version", &cameo_version);
  m.def("status_names", [] {
    std::vector<std::string> names;
    for (int i = 0; i <= CAMEO_STATUS_NOT_KNOWN_YET; ++i)
      names.push_back(cameo_status_name(cameo_status(i)));
    return names;
  });
  m.def("cuda_device_count", [] {
    uint32_t count = 0;
    check(cameo_cuda_device_count(&count));
    return count;
  });

  nb::class_<Device>(m, "Device")
      .def_static(
          "cuda",
          [](nb::object ordinal) {
            return std::make_shared<Device>(CAMEO_DEVICE_CUDA, whole<int>(ordinal, "ordinal"), 0, 0,
                                            0);
          },
          "ordinal"_a = 0, nb::sig("def cuda(ordinal: int = 0) -> Device"),
          "A GPU. An error where there is no driver, or none that works.")
      .def_static(
          "simulator",
          [](nb::object threads, nb::object checks, nb::object seed) {
            return std::make_shared<Device>(
                CAMEO_DEVICE_SIMULATOR, 0, whole<unsigned>(threads, "threads"),
                whole<unsigned>(checks, "checks"), whole<uint64_t>(seed, "seed"));
          },
          "threads"_a = 0, "checks"_a = 0, "seed"_a = 0,
          nb::sig("def simulator(threads: int = 0, checks: int = 0, seed: int = 0) -> Device"))
      .def_prop_ro("is_cuda", &Device::isCuda)
      .def_prop_ro("ordinal", &Device::ordinal)
      .def_prop_ro("name", &Device::name, "As the driver tells it.")
      .def_prop_ro("arch", &Device::arch, "80 for sm_80; 0 on the simulator.")
      .def_prop_ro("total_memory", &Device::totalMemory, "In bytes.")
      .def("__str__", &Device::text)
      .def("__repr__",
           [](const Device &device) { return "<cameo.Device '" + device.text() + "'>"; });

  nb::class_<Model>(m, "Model")
      .def(nb::init<const std::string &, std::shared_ptr<Device>>(), "path"_a, "device"_a.none())
      .def(nb::init<nb::bytes, std::shared_ptr<Device>>(), "data"_a, "device"_a.none())
      .def_prop_ro("device", &Model::device)
      .def("entries", &Model::entries)
      .def("describe", describe, "entry"_a, "role"_a)
      .def("manifest", &Model::manifest);

  nb::class_<Context>(m, "Context", nb::type_slots(kContextSlots))
      .def(nb::init<std::shared_ptr<Model>, uint32_t, bool, bool>(), "model"_a, "entry"_a,
           "use_graphs"_a, "keeps_states"_a = true)
      .def(
          "run",
          [](Context &context, nb::list inputs, nb::list outputs, nb::object make, bool onDevice,
             nb::object stream, bool isAsynchronous) {
            return context.run(inputs, outputs, make, onDevice, whole<uint64_t>(stream, "stream"),
                               isAsynchronous);
          },
          "inputs"_a, "outputs"_a, "make"_a.none(), "on_device"_a, "stream"_a, "is_asynchronous"_a)
      .def("profile", &Context::profile, "inputs"_a)
      .def("output_shapes", &Context::outputShapes, "inputs"_a)
      .def("set_state", &Context::setState, "input"_a, "output"_a.none())
      .def("state", &Context::state, "input"_a)
      .def(
          "reserve_state",
          [](Context &context, uint32_t input, nb::object capacity) {
            context.reserveState(input, whole<uint64_t>(capacity, "capacity"));
          },
          "input"_a, "capacity"_a)
      .def("reset_states", &Context::resetStates)
      .def(
          "set_seed",
          [](Context &context, nb::object seed) { context.setSeed(whole<uint64_t>(seed, "seed")); },
          "seed"_a)
      .def("set_taps", &Context::setTaps, "callback"_a.none())
      .def("synchronize", &Context::synchronize)
      .def("is_done", &Context::isDone)
      .def("arena_bytes", &Context::arenaBytes);
}
