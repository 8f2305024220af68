// Arrays of callers: numpy's, and any library's by DLPack.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "python/src/elements.h"

#include <memory>
#include <string>
#include <vector>

namespace cameo::python {

/// An array that a caller has given, to be read or to be written.
class Array {
public:
  enum class Access { Read, Write };

  /// Raises TypeError, which begins with `what`, for what is no array, is of no type that models have, is on no device
  /// that is known, or cannot be written to.
  static Array of(nanobind::handle object, Access access, const std::string &what);

  cameo_dtype type() const { return elements; }
  const std::vector<int64_t> &shape() const { return sizes; }
  void *data() const { return first; }
  cameo_memory memory() const { return where; }
  /// The GPU's number, where its memory is the device's.
  int ordinal() const { return device; }

  size_t count() const;
  /// Bytes of its elements, packed as Cameo has them.
  size_t packedBytes() const;
  /// True where its memory is what Cameo reads and writes.
  bool isPlain() const { return isContiguous() && !isPacked(elements); }
  bool isContiguous() const;
  /// True where elements have memory in common, as in a view that was expanded; of exotic strides that do not, too.
  bool overlapsItself() const;
  /// Whether both are plain and have memory in common, or are one and the same view.
  bool overlaps(const Array &other) const;

  /// Between an array on the host and elements that lie one behind the other, packed.
  void copyTo(char *packed) const;
  void copyFrom(const char *packed) const;

private:
  struct Buffer {
    Py_buffer view = {};
    ~Buffer() { PyBuffer_Release(&view); }
  };

  static Array ofNumpy(nanobind::handle object, Access access, const std::string &what);
  static Array ofDlpack(nanobind::handle object, Access access, const std::string &what);
  template <typename Function> void forEach(Function function) const;

  cameo_dtype elements = CAMEO_DTYPE_UNDEFINED;
  std::vector<int64_t> sizes, strides; // strides in bytes
  char *first = nullptr;
  cameo_memory where = CAMEO_MEMORY_HOST;
  int device = 0;
  // Keepers of the memory: numpy's, or DLPack's.
  std::unique_ptr<Buffer> buffer;
  nanobind::ndarray<nanobind::ro> tensor;
};

/// A new array of numpy's.
nanobind::object makeNumpy(cameo_dtype type, const std::vector<int64_t> &shape);

} // namespace cameo::python
