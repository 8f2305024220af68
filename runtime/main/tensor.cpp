// Tensor files by extension, literals, text, and stand-in types.
// SPDX-License-Identifier: Apache-2.0
#include "runtime/main/tensor.h"

#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>

namespace cameo::cli {

bool endsWith(const std::string &text, const char *end) {
  size_t length = std::strlen(end);
  return text.size() >= length && text.compare(text.size() - length, length, end) == 0;
}

namespace {

// "2x3xf32" or "f32".
bool parseType(const std::string &text, Shape &shape, uint32_t &dtype) {
  size_t at = 0;
  while (at < text.size() && text[at] >= '0' && text[at] <= '9') {
    errno = 0;
    char *end = nullptr;
    long long size = std::strtoll(text.c_str() + at, &end, 10);
    if (*end != 'x' || errno)
      return false;
    shape.push_back(size);
    at = size_t(end - text.c_str()) + 1;
  }
  return runtime::parseDtype(text.substr(at), dtype);
}

// The outermost dimension has no brackets, the innermost spaces.
void appendElements(const HostTensor &tensor, size_t depth, uint64_t limit, uint64_t &index,
                    std::string &text) {
  if (depth == tensor.shape.size()) {
    text += formatElement(tensor, index++);
    return;
  }
  bool innermost = depth + 1 == tensor.shape.size();
  for (int64_t i = 0; i < tensor.shape[depth] && index < limit; ++i) {
    if (innermost && i)
      text += ' ';
    if (!innermost)
      text += '[';
    appendElements(tensor, depth + 1, limit, index, text);
    if (!innermost)
      text += ']';
  }
}

} // namespace

Status loadTensors(const std::string &path, const Members &wanted,
                   std::vector<HostTensor> &tensors) {
  std::vector<uint8_t> bytes;
  Status status;
  HostTensor tensor;
  if (endsWith(path, ".npz")) {
    CAMEO_RETURN_IF_ERROR(readFile(path, bytes));
    status = parseNpz(bytes.data(), bytes.size(), wanted, tensors);
  } else if (endsWith(path, ".npy")) {
    CAMEO_RETURN_IF_ERROR(readFile(path, bytes));
    status = parseNpy(bytes.data(), bytes.size(), tensor);
    tensors.push_back(std::move(tensor));
  } else if (endsWith(path, ".pb")) {
    CAMEO_RETURN_IF_ERROR(readFile(path, bytes));
    status = parseTensorProto(bytes.data(), bytes.size(), tensor);
    tensors.push_back(std::move(tensor));
  } else {
    return failure(Code::InvalidArgument, "'%s': tensor files are .npy, .npz or .pb", path.c_str());
  }
  if (!status.ok())
    return failure(status.code(), "%s: %s", path.c_str(), status.message().c_str());
  return {};
}

bool looksLikeLiteral(const std::string &text) {
  Shape shape;
  uint32_t dtype = 0;
  return parseType(text.substr(0, text.find('=')), shape, dtype);
}

Status parseLiteral(const std::string &text, HostTensor &tensor) {
  size_t equals = text.find('=');
  std::string type = text.substr(0, equals);
  tensor.shape.clear();
  if (!parseType(type, tensor.shape, tensor.dtype))
    return failure(Code::InvalidArgument, "'%s' is not a type such as 2x3xf32", type.c_str());
  uint64_t bytes = 0, count = 0;
  CAMEO_RETURN_IF_ERROR(runtime::tensorBytes(tensor.shape, tensor.dtype, bytes));
  CAMEO_RETURN_IF_ERROR(runtime::elementCount(tensor.shape, count));
  if (Status status = checkHostBytes(bytes); !status.ok())
    return failure(status.code(), "the literal %s: %s", type.c_str(), status.message().c_str());
  tensor.data.assign(bytes, 0);
  bool real = runtime::isFloat(tensor.dtype) || runtime::isComplex(tensor.dtype);
  if (runtime::isComplex(tensor.dtype))
    count *= 2; // real and imaginary parts, one after the other
  std::string values = equals == std::string::npos ? "" : text.substr(equals + 1);
  for (char &c : values)
    if (std::strchr("[](),;", c))
      c = ' ';
  const char *at = values.c_str();
  uint64_t given = 0;
  auto put = [&](uint64_t index, double number, int64_t integer) {
    if (real)
      runtime::writeFloat(tensor.data.data(), tensor.dtype, index, number);
    else
      runtime::writeInteger(tensor.data.data(), tensor.dtype, index, integer);
  };
  double number = 0;
  int64_t integer = 0;
  for (;; ++given) {
    at += std::strspn(at, " \t\n");
    if (!*at)
      break;
    if (given == count)
      return failure(Code::InvalidArgument, "more than %llu values for %s",
                     (unsigned long long)count, type.c_str());
    char *end = nullptr;
    errno = 0;
    if (real) {
      number = std::strtod(at, &end);
    } else if (tensor.dtype == CAMEO_BOOL && std::strncmp(at, "true", 4) == 0) {
      integer = 1;
      end = const_cast<char *>(at) + 4;
    } else if (tensor.dtype == CAMEO_BOOL && std::strncmp(at, "false", 5) == 0) {
      integer = 0;
      end = const_cast<char *>(at) + 5;
    } else if (tensor.dtype == CAMEO_UINT64 && *at != '-') {
      integer = int64_t(std::strtoull(at, &end, 10));
    } else {
      integer = std::strtoll(at, &end, 10);
    }
    if (end == at || (*end && !std::strchr(" \t\n", *end)) || (errno == ERANGE && !real))
      return failure(Code::InvalidArgument, "'%.20s' is not a value of type %s", at,
                     runtime::dtypeName(tensor.dtype));
    put(given, number, integer);
    if (!real && runtime::readInteger(tensor.data.data(), tensor.dtype, given) != integer)
      return failure(Code::InvalidArgument, "%lld is out of the range of %s", (long long)integer,
                     runtime::dtypeName(tensor.dtype));
    at = end;
  }
  if (given == 1)
    for (uint64_t i = 1; i < count; ++i)
      put(i, number, integer);
  else if (given && given != count)
    return failure(Code::InvalidArgument, "%llu values for %s of %llu", (unsigned long long)given,
                   type.c_str(), (unsigned long long)count);
  return {};
}

Status adaptType(HostTensor &tensor, uint32_t dtype) {
  if (tensor.dtype == dtype)
    return {};
  uint32_t bits = runtime::dtypeBits(dtype);
  bool standsIn = (bits == 16 && dtype == CAMEO_BFLOAT16 && tensor.dtype == CAMEO_UINT16) ||
                  (bits == 8 && runtime::isFloat(dtype) && tensor.dtype == CAMEO_UINT8);
  if (standsIn) {
    tensor.dtype = dtype;
    return {};
  }
  bool unpacked = bits < 8 && (tensor.dtype == CAMEO_UINT8 || tensor.dtype == CAMEO_INT8);
  if (!unpacked)
    return failure(Code::InvalidArgument, "element type %s given; %s expected",
                   runtime::dtypeName(tensor.dtype), runtime::dtypeName(dtype));
  std::vector<uint8_t> packed((tensor.data.size() * bits + 7) / 8);
  for (size_t i = 0; i < tensor.data.size(); ++i)
    packed[i * bits / 8] |= uint8_t((tensor.data[i] & ((1u << bits) - 1)) << (i * bits % 8));
  tensor.data = std::move(packed);
  tensor.dtype = dtype;
  return {};
}

std::string formatElement(const HostTensor &tensor, uint64_t index) {
  char text[80];
  const void *data = tensor.data.data();
  if (runtime::isComplex(tensor.dtype))
    std::snprintf(text, sizeof text, "%.9g%+.9gi",
                  runtime::readFloat(data, tensor.dtype, 2 * index),
                  runtime::readFloat(data, tensor.dtype, 2 * index + 1));
  else if (runtime::isFloat(tensor.dtype))
    std::snprintf(text, sizeof text, tensor.dtype == CAMEO_DOUBLE ? "%.17g" : "%.9g",
                  runtime::readFloat(data, tensor.dtype, index));
  else if (tensor.dtype == CAMEO_UINT64)
    std::snprintf(text, sizeof text, "%llu",
                  (unsigned long long)runtime::readInteger(data, tensor.dtype, index));
  else
    std::snprintf(text, sizeof text, "%lld",
                  (long long)runtime::readInteger(data, tensor.dtype, index));
  return text;
}

std::string formatTensor(const HostTensor &tensor, uint64_t limit) {
  std::string text = runtime::formatType(tensor.shape, tensor.dtype) + "=";
  uint64_t count = 0;
  if (runtime::elementCount(tensor.shape, count).ok() && count) {
    uint64_t index = 0;
    appendElements(tensor, 0, limit, index, text);
    if (count > limit)
      text += " ...";
  }
  return text;
}

} // namespace cameo::cli
