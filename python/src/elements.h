// Types of elements: numpy's, DLPack's and Cameo's.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "runtime/cameo.h"

#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>

namespace cameo::python {

/// Elements of fewer bits than a byte are a byte each in numpy, and packed in Cameo, the first in the lowest bits.
inline bool isPacked(cameo_dtype type) {
  uint32_t bits = cameo_dtype_bits(type);
  return bits && bits < 8;
}

/// Bytes of an element of an array, as numpy and DLPack have it.
inline size_t elementBytes(cameo_dtype type) {
  return isPacked(type) ? 1 : cameo_dtype_bits(type) / 8;
}

/// numpy's name, or that of package ml_dtypes; null where neither has one.
const char *numpyName(cameo_dtype type);

/// numpy's type of `type`, e.g. dtype('float32'). Raises ImportError where ml_dtypes is needed and is not installed.
nanobind::object numpyType(cameo_dtype type);
/// UNDEFINED where a model has no such elements.
cameo_dtype fromNumpy(nanobind::handle dtype);
/// True where numpy itself knows nothing of the type, as of ml_dtypes' ones: its arrays have no buffer.
bool isExtension(cameo_dtype type);

/// A `bits` of 0 where DLPack has none.
nanobind::dlpack::dtype dlpackType(cameo_dtype type);
cameo_dtype fromDlpack(nanobind::dlpack::dtype type);

} // namespace cameo::python
