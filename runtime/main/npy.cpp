// numpy's array format: a magic, a header that is a Python dictionary, the elements.
// SPDX-License-Identifier: Apache-2.0
#include "runtime/main/tensor.h"

#include <algorithm>
#include <cstdlib>
#include <cstring>

namespace cameo::cli {
namespace {

constexpr char kMagic[] = "\x93NUMPY";
constexpr size_t kMagicBytes = 6;

struct Descr {
  const char *name; // without byte order
  uint32_t dtype;
};
constexpr Descr kDescrs[] = {
    {"f4", CAMEO_FLOAT},     {"f8", CAMEO_DOUBLE},      {"f2", CAMEO_FLOAT16}, {"i1", CAMEO_INT8},
    {"i2", CAMEO_INT16},     {"i4", CAMEO_INT32},       {"i8", CAMEO_INT64},   {"u1", CAMEO_UINT8},
    {"u2", CAMEO_UINT16},    {"u4", CAMEO_UINT32},      {"u8", CAMEO_UINT64},  {"b1", CAMEO_BOOL},
    {"c8", CAMEO_COMPLEX64}, {"c16", CAMEO_COMPLEX128},
};
// What numpy makes of ml_dtypes' types, and cannot read itself: void types of 1 and 2 bytes of fp8
// and bf16, and of fp8 with 5 and 2 bits a float of 1 byte.
constexpr Descr kForeignDescrs[] = {{"V1", CAMEO_UINT8}, {"f1", CAMEO_UINT8}, {"V2", CAMEO_UINT16}};

// The text after `'key':`, or null.
const char *valueOf(const std::string &header, const char *key) {
  size_t at = header.find(std::string("'") + key + "'");
  if (at == std::string::npos)
    return nullptr;
  at = header.find(':', at);
  if (at == std::string::npos)
    return nullptr;
  at = header.find_first_not_of(' ', at + 1);
  return at == std::string::npos ? nullptr : header.c_str() + at;
}

Status parseDescr(const char *text, uint32_t &dtype, bool &bigEndian) {
  if (!text || *text != '\'')
    return failure(Code::InvalidArgument, "npy: structured or missing element type");
  const char *end = std::strchr(text + 1, '\'');
  std::string descr(text + 1, end ? size_t(end - text - 1) : 0);
  auto find = [&](const Descr *known, const Descr *last) {
    for (; known != last; ++known)
      if (descr.substr(1) == known->name) {
        dtype = known->dtype;
        bigEndian = descr[0] == '>';
        return true;
      }
    return false;
  };
  if (!descr.empty() && std::strchr("<|=>", descr[0]) &&
      (find(std::begin(kDescrs), std::end(kDescrs)) ||
       find(std::begin(kForeignDescrs), std::end(kForeignDescrs))))
    return {};
  return failure(Code::InvalidArgument, "npy: element type '%s' is not supported", descr.c_str());
}

Status parseShape(const char *text, Shape &shape) {
  if (!text || *text != '(')
    return failure(Code::InvalidArgument, "npy: no shape");
  for (++text;;) {
    text += std::strspn(text, " ,");
    if (*text == ')')
      return {};
    char *end = nullptr;
    long long size = std::strtoll(text, &end, 10);
    if (end == text || size < 0)
      return failure(Code::InvalidArgument, "npy: malformed shape");
    shape.push_back(size);
    text = *end == 'L' ? end + 1 : end; // Python 2 wrote long integers so
  }
}

// To this machine's order of bytes. A complex number's two parts stay in their order.
void swapBytes(HostTensor &tensor) {
  size_t bytes = runtime::dtypeBits(tensor.dtype) / 8 / (runtime::isComplex(tensor.dtype) ? 2 : 1);
  for (uint8_t *at = tensor.data.data(), *end = at + tensor.data.size(); at != end; at += bytes)
    std::reverse(at, at + bytes);
}

// From column-major order, in which the first index runs fastest, to row-major.
void toRowMajor(HostTensor &tensor) {
  const size_t rank = tensor.shape.size(), bytes = runtime::dtypeBits(tensor.dtype) / 8;
  std::vector<size_t> strides(rank, bytes);
  for (size_t d = 1; d < rank; ++d)
    strides[d] = strides[d - 1] * size_t(tensor.shape[d - 1]);
  std::vector<uint8_t> rows(tensor.data.size());
  std::vector<int64_t> index(rank);
  const uint8_t *source = tensor.data.data();
  for (uint8_t *at = rows.data(), *end = at + rows.size(); at != end; at += bytes) {
    std::memcpy(at, source, bytes);
    for (size_t d = rank; d-- > 0;) {
      source += strides[d];
      if (++index[d] < tensor.shape[d])
        break;
      source -= strides[d] * size_t(index[d]);
      index[d] = 0;
    }
  }
  tensor.data = std::move(rows);
}

} // namespace

Status parseNpy(const uint8_t *data, size_t size, HostTensor &tensor) {
  if (size < 10 || std::memcmp(data, kMagic, kMagicBytes) != 0)
    return failure(Code::InvalidArgument, "npy: not an npy file");
  uint32_t version = data[6];
  size_t start = version == 1 ? 10 : 12;
  if (version < 1 || version > 3 || size < start)
    return failure(Code::InvalidArgument, "npy: format version %u; 1 to 3 are read", version);
  size_t length = data[8] | size_t(data[9]) << 8;
  if (version > 1)
    length |= size_t(data[10]) << 16 | size_t(data[11]) << 24;
  if (length > size - start)
    return failure(Code::InvalidArgument, "npy: truncated header");
  std::string header(reinterpret_cast<const char *>(data) + start, length);
  tensor.shape.clear();
  bool bigEndian = false;
  CAMEO_RETURN_IF_ERROR(parseDescr(valueOf(header, "descr"), tensor.dtype, bigEndian));
  CAMEO_RETURN_IF_ERROR(parseShape(valueOf(header, "shape"), tensor.shape));
  uint64_t bytes = 0;
  CAMEO_RETURN_IF_ERROR(runtime::tensorBytes(tensor.shape, tensor.dtype, bytes));
  if (bytes != size - start - length)
    return failure(Code::InvalidArgument, "npy: %s needs %llu bytes, the file has %zu",
                   runtime::formatType(tensor.shape, tensor.dtype).c_str(),
                   (unsigned long long)bytes, size - start - length);
  tensor.data.assign(data + start + length, data + size);
  if (bigEndian)
    swapBytes(tensor);
  const char *order = valueOf(header, "fortran_order");
  if (order && std::strncmp(order, "True", 4) == 0 && tensor.shape.size() > 1)
    toRowMajor(tensor);
  return {};
}

Status formatNpy(const HostTensor &tensor, std::vector<uint8_t> &bytes) {
  const char *descr = nullptr;
  for (const Descr &known : kDescrs)
    if (known.dtype == tensor.dtype)
      descr = known.name;
  HostTensor unpacked;
  const HostTensor *written = &tensor;
  uint32_t bits = runtime::dtypeBits(tensor.dtype);
  if (bits < 8) { // one element per byte, as numpy has nothing smaller
    unpacked.shape = tensor.shape;
    uint64_t count = 0;
    CAMEO_RETURN_IF_ERROR(runtime::elementCount(tensor.shape, count));
    bool isSigned = tensor.dtype == CAMEO_INT4 || tensor.dtype == CAMEO_INT2;
    for (uint64_t i = 0; i < count; ++i) {
      uint8_t code = uint8_t(tensor.data[i * bits / 8] >> (i * bits % 8) & ((1u << bits) - 1));
      if (isSigned && code >> (bits - 1))
        code |= uint8_t(0xff << bits);
      unpacked.data.push_back(code);
    }
    descr = isSigned ? "i1" : "u1";
    written = &unpacked;
  } else if (!descr) { // bf16 and fp8, as bits
    descr = bits == 16 ? "u2" : "u1";
  }
  std::string shape;
  for (int64_t extent : tensor.shape)
    shape += std::to_string(extent) + ", ";
  if (tensor.shape.size() > 1)
    shape.resize(shape.size() - 2);
  else if (!shape.empty())
    shape.resize(shape.size() - 1);
  std::string header = "{'descr': '" + std::string(std::strcmp(descr + 1, "1") ? "<" : "|") +
                       descr + "', 'fortran_order': False, 'shape': (" + shape + "), }";
  // The elements begin at a multiple of 64.
  header.append(63 - (10 + header.size()) % 64, ' ');
  header += '\n';
  bytes.assign(kMagic, kMagic + kMagicBytes);
  bytes.insert(bytes.end(), {1, 0, uint8_t(header.size()), uint8_t(header.size() >> 8)});
  bytes.insert(bytes.end(), header.begin(), header.end());
  bytes.insert(bytes.end(), written->data.begin(), written->data.end());
  return {};
}

} // namespace cameo::cli
