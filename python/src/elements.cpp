// The table of types, and what is found in it.
// SPDX-License-Identifier: Apache-2.0
#include "python/src/elements.h"

#include <nanobind/stl/string.h>

namespace nb = nanobind;

namespace cameo::python {
namespace {

using Code = nb::dlpack::dtype_code;

struct Row {
  cameo_dtype type;
  const char *numpy;
  bool isExtension;
  Code code;
  uint8_t bits; // 0: DLPack has no such type, or packs it
};

// DLPack 1.1, dlpack.h; package ml_dtypes.
constexpr Row kRows[] = {
    {CAMEO_DTYPE_F32, "float32", false, Code::Float, 32},
    {CAMEO_DTYPE_F64, "float64", false, Code::Float, 64},
    {CAMEO_DTYPE_F16, "float16", false, Code::Float, 16},
    {CAMEO_DTYPE_I8, "int8", false, Code::Int, 8},
    {CAMEO_DTYPE_I16, "int16", false, Code::Int, 16},
    {CAMEO_DTYPE_I32, "int32", false, Code::Int, 32},
    {CAMEO_DTYPE_I64, "int64", false, Code::Int, 64},
    {CAMEO_DTYPE_U8, "uint8", false, Code::UInt, 8},
    {CAMEO_DTYPE_U16, "uint16", false, Code::UInt, 16},
    {CAMEO_DTYPE_U32, "uint32", false, Code::UInt, 32},
    {CAMEO_DTYPE_U64, "uint64", false, Code::UInt, 64},
    {CAMEO_DTYPE_BOOL, "bool", false, Code::Bool, 8},
    {CAMEO_DTYPE_BF16, "bfloat16", true, Code::Bfloat, 16},
    {CAMEO_DTYPE_F8E4M3FN, "float8_e4m3fn", true, Code::Float8_E4M3FN, 8},
    {CAMEO_DTYPE_F8E4M3FNUZ, "float8_e4m3fnuz", true, Code::Float8_E4M3FNUZ, 8},
    {CAMEO_DTYPE_F8E5M2, "float8_e5m2", true, Code::Float8_E5M2, 8},
    {CAMEO_DTYPE_F8E5M2FNUZ, "float8_e5m2fnuz", true, Code::Float8_E5M2FNUZ, 8},
    {CAMEO_DTYPE_F8E8M0, "float8_e8m0fnu", true, Code::Float8_E8M0FNU, 8},
    {CAMEO_DTYPE_F4E2M1, "float4_e2m1fn", true, Code::Float, 0},
    {CAMEO_DTYPE_I4, "int4", true, Code::Int, 0},
    {CAMEO_DTYPE_U4, "uint4", true, Code::UInt, 0},
    {CAMEO_DTYPE_I2, "int2", true, Code::Int, 0},
    {CAMEO_DTYPE_U2, "uint2", true, Code::UInt, 0},
};

const Row *find(cameo_dtype type) {
  for (const Row &row : kRows)
    if (row.type == type)
      return &row;
  return nullptr;
}

} // namespace

const char *numpyName(cameo_dtype type) {
  const Row *row = find(type);
  return row ? row->numpy : nullptr;
}

bool isExtension(cameo_dtype type) {
  const Row *row = find(type);
  return row && row->isExtension;
}

nb::object numpyType(cameo_dtype type) {
  const Row *row = find(type);
  if (!row)
    throw nb::type_error("numpy has no elements of this type");
  nb::object numpy = nb::module_::import_("numpy");
  if (!row->isExtension)
    return numpy.attr("dtype")(row->numpy);
  return numpy.attr("dtype")(nb::module_::import_("ml_dtypes").attr(row->numpy));
}

// The name says what a dtype is but for the order of its bytes. It takes microseconds to ask for, and is kept.
cameo_dtype fromNumpy(nb::handle dtype) {
  static nb::dict &known = *new nb::dict; // never destroyed: the interpreter may be gone by then
  if (PyObject *found = PyDict_GetItemWithError(known.ptr(), dtype.ptr()))
    return cameo_dtype(PyLong_AsLong(found));
  cameo_dtype type = CAMEO_DTYPE_UNDEFINED;
  std::string name = nb::cast<std::string>(nb::str(dtype.attr("name")));
  if (nb::cast<bool>(dtype.attr("isnative")))
    for (const Row &row : kRows)
      if (name == row.numpy)
        type = row.type;
  known[dtype] = int(type);
  return type;
}

nb::dlpack::dtype dlpackType(cameo_dtype type) {
  const Row *row = find(type);
  return row && row->bits ? nb::dlpack::dtype{uint8_t(row->code), row->bits, 1}
                          : nb::dlpack::dtype{};
}

cameo_dtype fromDlpack(nb::dlpack::dtype type) {
  if (type.bits && type.lanes == 1)
    for (const Row &row : kRows)
      if (uint8_t(row.code) == type.code && row.bits == type.bits)
        return row.type;
  return CAMEO_DTYPE_UNDEFINED;
}

} // namespace cameo::python
