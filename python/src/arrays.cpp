// Reading what callers give, and copying what does not lie as Cameo reads it.
// SPDX-License-Identifier: Apache-2.0
#include "python/src/arrays.h"

#include <nanobind/stl/string.h>

#include <algorithm>
#include <cstring>

namespace nb = nanobind;

namespace cameo::python {
namespace {

[[noreturn]] void refuse(const std::string &what, const std::string &why) {
  throw nb::type_error((what + ": " + why).c_str());
}

std::string typeName(nb::handle object) {
  return nb::cast<std::string>(
      nb::str(nb::handle((PyObject *)Py_TYPE(object.ptr())).attr("__name__")));
}

/// What an exception says, without the lines of code that raised it.
std::string textOf(nb::python_error &error) {
  return nb::cast<std::string>(nb::str(error.value()));
}

bool isOnHost(nb::handle object) {
  return nb::cast<int>(object.attr("__dlpack_device__")()[0]) == nb::device::cpu::value;
}

/// numpy.ndarray and numpy.generic, kept for the life of the process.
struct NumpyTypes {
  nb::object array, scalar;
};
const NumpyTypes &numpyTypes() {
  static const NumpyTypes &types = *new NumpyTypes([] {
    nb::object numpy = nb::module_::import_("numpy");
    return NumpyTypes{numpy.attr("ndarray"), numpy.attr("generic")};
  }());
  return types;
}

bool isOf(nb::handle object, const nb::object &type) {
  return PyObject_TypeCheck(object.ptr(), (PyTypeObject *)type.ptr());
}

} // namespace

size_t Array::count() const {
  size_t count = 1;
  for (int64_t size : sizes)
    count *= size_t(size);
  return count;
}

size_t Array::packedBytes() const { return (count() * cameo_dtype_bits(elements) + 7) / 8; }

bool Array::isContiguous() const {
  int64_t expected = int64_t(elementBytes(elements));
  for (size_t i = sizes.size(); i-- > 0;) {
    if (sizes[i] == 0)
      return true;
    if (sizes[i] != 1 && strides[i] != expected)
      return false;
    expected *= sizes[i];
  }
  return true;
}

bool Array::overlapsItself() const {
  if (count() < 2)
    return false;
  std::vector<std::pair<int64_t, int64_t>> dims; // stride, size
  for (size_t i = 0; i < sizes.size(); ++i)
    if (sizes[i] > 1)
      dims.emplace_back(std::abs(strides[i]), sizes[i]);
  std::sort(dims.begin(), dims.end());
  int64_t reach = int64_t(elementBytes(elements)); // of what is inside of a dimension
  for (auto [stride, size] : dims) {
    if (stride < reach)
      return true;
    reach += stride * (size - 1);
  }
  return false;
}

bool Array::overlaps(const Array &other) const {
  if (where != other.where || device != other.device || !count() || !other.count())
    return false;
  if (isPlain() && other.isPlain())
    return first < other.first + other.packedBytes() && other.first < first + packedBytes();
  return first == other.first && sizes == other.sizes && strides == other.strides;
}

Array Array::of(nb::handle object, Access access, const std::string &what) {
  const NumpyTypes &numpy = numpyTypes();
  if (isOf(object, numpy.array)) {
    bool isPlain = (PyObject *)Py_TYPE(object.ptr()) == numpy.array.ptr();
    if (!isPlain && nb::hasattr(object, "mask") && nb::hasattr(object, "filled"))
      refuse(what,
             "a masked array, whose mask means nothing to a model; .filled(VALUE) is one without");
    return ofNumpy(object, access, what);
  }
  if (access == Access::Read && isOf(object, numpy.scalar))
    return ofNumpy(nb::module_::import_("numpy").attr("asarray")(object), access, what);
  if (nb::hasattr(object, "__dlpack__"))
    return ofDlpack(object, access, what);
  refuse(what, "an array was expected, of numpy or of a library that speaks DLPack, not " +
                   typeName(object));
}

Array Array::ofNumpy(nb::handle object, Access access, const std::string &what) {
  nb::object dtype = object.attr("dtype");
  Array array;
  array.elements = fromNumpy(dtype);
  if (array.elements == CAMEO_DTYPE_UNDEFINED) {
    std::string text = "elements of " + nb::cast<std::string>(nb::repr(dtype));
    refuse(what, nb::cast<bool>(dtype.attr("isnative"))
                     ? text + " are in no model"
                     : text + " have their bytes in the other order; .astype('" +
                           nb::cast<std::string>(nb::str(dtype.attr("name"))) + "') turns them");
  }
  nb::object source = nb::borrow(object);
  if (isExtension(array.elements))
    source = object.attr("view")(elementBytes(array.elements) == 1 ? "u1" : "u2");
  array.buffer = std::make_unique<Buffer>();
  Py_buffer &view = array.buffer->view;
  int flags = access == Access::Write ? PyBUF_STRIDED : PyBUF_STRIDED_RO;
  if (PyObject_GetBuffer(source.ptr(), &view, flags) != 0) {
    nb::python_error error;
    refuse(what, textOf(error));
  }
  array.first = static_cast<char *>(view.buf);
  array.sizes.assign(view.shape, view.shape + view.ndim);
  array.strides.assign(view.strides, view.strides + view.ndim);
  return array;
}

Array Array::ofDlpack(nb::handle source, Access access, const std::string &what) {
  nb::object object = nb::borrow(source);
  // torch has views whose elements are the negated ones of their memory, which DLPack does not tell.
  if (nb::hasattr(object, "is_neg") && nb::cast<bool>(object.attr("is_neg")())) {
    if (access == Access::Write)
      refuse(what, "a view that negates its memory cannot be written to");
    object = object.attr("resolve_neg")();
  }
  // torch would share its memory all the same where it is asked for by other ways than __dlpack__.
  if (nb::hasattr(object, "requires_grad") && nb::cast<bool>(object.attr("requires_grad")))
    refuse(what,
           "the tensor requires gradients, which a compiled model does not compute: detach() it");
  nb::ndarray<> memory;
  nb::ndarray<nb::ro> readable;
  bool isRead = access == Access::Read ? nb::try_cast(object, readable, false)
                                       : nb::try_cast(object, memory, false);
  if (!isRead) {
    // Older versions of torch have no booleans in DLPack, but share their memory with numpy.
    try {
      if (nb::hasattr(object, "numpy") && isOnHost(object))
        return ofNumpy(object.attr("numpy")(), access, what);
      // The library says why.
      (void)object.attr("__dlpack__")();
    } catch (nb::python_error &error) {
      refuse(what, textOf(error));
    }
    refuse(what, "a " + typeName(object) + " that cannot be " +
                     (access == Access::Read ? "read" : "written to"));
  }
  auto fill = [&](const auto &given) {
    Array array;
    array.elements = fromDlpack(given.dtype());
    if (array.elements == CAMEO_DTYPE_UNDEFINED)
      refuse(what, "elements of DLPack's type " + std::to_string(given.dtype().code) + " of " +
                       std::to_string(given.dtype().bits) + " bits are in no model");
    switch (given.device_type()) {
    case nb::device::cpu::value:
    case nb::device::cuda_host::value:
      break;
    case nb::device::cuda::value:
    case nb::device::cuda_managed::value:
      array.where = CAMEO_MEMORY_DEVICE;
      array.device = given.device_id();
      break;
    default:
      refuse(what, "memory of a device that is neither the host nor a GPU of CUDA");
    }
    array.first = static_cast<char *>(const_cast<void *>(static_cast<const void *>(given.data())));
    for (size_t i = 0; i < given.ndim(); ++i) {
      array.sizes.push_back(int64_t(given.shape(i)));
      array.strides.push_back(given.stride(i) * int64_t(elementBytes(array.elements)));
    }
    array.tensor = nb::ndarray<nb::ro>(given);
    return array;
  };
  return access == Access::Read ? fill(readable) : fill(memory);
}

// Calls with each element, in row-major order.
template <typename Function> void Array::forEach(Function function) const {
  size_t left = count();
  std::vector<int64_t> index(sizes.size(), 0);
  char *at = first;
  for (size_t n = 0; n < left; ++n) {
    function(n, at);
    for (size_t d = sizes.size(); d-- > 0;) {
      at += strides[d];
      if (++index[d] < sizes[d])
        break;
      at -= strides[d] * sizes[d];
      index[d] = 0;
    }
  }
}

namespace {

template <typename Copy> void bySize(size_t bytes, Copy copy) {
  switch (bytes) {
  case 1:
    return copy(uint8_t());
  case 2:
    return copy(uint16_t());
  case 4:
    return copy(uint32_t());
  default:
    return copy(uint64_t());
  }
}

} // namespace

void Array::copyTo(char *packed) const {
  if (isPacked(elements)) {
    uint32_t bits = cameo_dtype_bits(elements), perByte = 8 / bits;
    std::memset(packed, 0, packedBytes());
    forEach([&](size_t n, char *at) {
      packed[n / perByte] |= char((uint8_t(*at) & ((1u << bits) - 1)) << (n % perByte * bits));
    });
    return;
  }
  bySize(elementBytes(elements), [&](auto zero) {
    forEach([&](size_t n, char *at) { std::memcpy(packed + n * sizeof(zero), at, sizeof(zero)); });
  });
}

void Array::copyFrom(const char *packed) const {
  if (isPacked(elements)) {
    uint32_t bits = cameo_dtype_bits(elements), perByte = 8 / bits;
    bool isSigned = elements == CAMEO_DTYPE_I4 || elements == CAMEO_DTYPE_I2;
    forEach([&](size_t n, char *at) {
      auto value =
          uint8_t((uint8_t(packed[n / perByte]) >> (n % perByte * bits)) & ((1u << bits) - 1));
      *at = isSigned ? char(int8_t(uint8_t(value << (8 - bits))) >> (8 - bits)) : char(value);
    });
    return;
  }
  bySize(elementBytes(elements), [&](auto zero) {
    forEach([&](size_t n, char *at) { std::memcpy(at, packed + n * sizeof(zero), sizeof(zero)); });
  });
}

nb::object makeNumpy(cameo_dtype type, const std::vector<int64_t> &shape) {
  static nb::object &empty = *new nb::object(nb::module_::import_("numpy").attr("empty"));
  nb::object sizes = nb::steal(PyTuple_New(Py_ssize_t(shape.size())));
  for (size_t i = 0; i < shape.size(); ++i)
    PyTuple_SET_ITEM(sizes.ptr(), Py_ssize_t(i), PyLong_FromLongLong(shape[i]));
  static nb::object *const types = new nb::object[CAMEO_DTYPE_I2 + 1];
  nb::object &dtype = types[type];
  if (!dtype.is_valid())
    dtype = numpyType(type);
  return empty(sizes, dtype);
}

} // namespace cameo::python
