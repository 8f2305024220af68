// ONNX's TensorProto in protobuf's wire format, after onnx.proto's description of its fields.
// SPDX-License-Identifier: Apache-2.0
#include "runtime/main/tensor.h"

#include <algorithm>
#include <cstring>

namespace cameo::cli {
namespace {

enum Field : uint32_t {
  Dims = 1,
  DataType = 2,
  Segment = 3,
  FloatData = 4,
  Int32Data = 5,
  StringData = 6,
  Int64Data = 7,
  Name = 8,
  RawData = 9,
  DoubleData = 10,
  Uint64Data = 11,
  ExternalData = 13,
  DataLocation = 14,
};
enum Wire : uint32_t { Varint = 0, Fixed64 = 1, Bytes = 2, Fixed32 = 5 };

class Reader {
public:
  Reader(const uint8_t *at, size_t size) : at(at), end(at + size) {}
  bool done() const { return at == end; }
  bool varint(uint64_t &value) {
    value = 0;
    for (int shift = 0; shift < 70; shift += 7) {
      if (at == end)
        return false;
      uint8_t byte = *at++;
      if (shift < 64)
        value |= uint64_t(byte & 0x7f) << shift;
      if (!(byte & 0x80))
        return true;
    }
    return false;
  }
  bool fixed(size_t bytes, const uint8_t *&start) {
    if (size_t(end - at) < bytes)
      return false;
    start = at;
    at += bytes;
    return true;
  }
  bool bytes(const uint8_t *&start, size_t &size) {
    uint64_t length = 0;
    if (!varint(length) || length > size_t(end - at))
      return false;
    size = length;
    return fixed(size, start);
  }

private:
  const uint8_t *at, *end;
};

Status malformed(const char *what) {
  return failure(Code::InvalidArgument, "pb: malformed TensorProto: %s", what);
}

// A repeated varint field, packed or not.
bool readVarints(Reader &reader, uint32_t wire, std::vector<uint64_t> &values) {
  uint64_t value = 0;
  if (wire == Varint) {
    if (!reader.varint(value))
      return false;
    values.push_back(value);
    return true;
  }
  const uint8_t *start = nullptr;
  size_t size = 0;
  if (wire != Bytes || !reader.bytes(start, size))
    return false;
  for (Reader packed(start, size); !packed.done(); values.push_back(value))
    if (!packed.varint(value))
      return false;
  return true;
}

// A repeated field of fixed width, packed or not, as its bytes.
bool readFixed(Reader &reader, uint32_t wire, size_t width, std::vector<uint8_t> &bytes) {
  const uint8_t *start = nullptr;
  size_t size = width;
  bool single = wire == (width == 4 ? Fixed32 : Fixed64);
  if (single ? !reader.fixed(width, start) : wire != Bytes || !reader.bytes(start, size))
    return false;
  bytes.insert(bytes.end(), start, start + size);
  return size % width == 0;
}

bool skip(Reader &reader, uint32_t wire) {
  uint64_t value = 0;
  const uint8_t *start = nullptr;
  size_t size = 0;
  switch (wire) {
  case Varint:
    return reader.varint(value);
  case Fixed64:
    return reader.fixed(8, start);
  case Bytes:
    return reader.bytes(start, size);
  case Fixed32:
    return reader.fixed(4, start);
  default:
    return false;
  }
}

struct Fields {
  std::vector<uint64_t> dims, integers; // int32_data, int64_data or uint64_data
  std::vector<uint8_t> reals;           // float_data or double_data
  const uint8_t *raw = nullptr;
  size_t rawBytes = 0;
  uint64_t dataType = 0;
  uint32_t valueFields = 0; // bit set of those seen
};

Status readField(Reader &reader, uint32_t field, uint32_t wire, Fields &fields,
                 HostTensor &tensor) {
  bool good = true;
  const uint8_t *start = nullptr;
  size_t size = 0;
  switch (field) {
  case Dims:
    good = readVarints(reader, wire, fields.dims);
    break;
  case DataType:
    good = wire == Varint && reader.varint(fields.dataType);
    break;
  case Int32Data:
  case Int64Data:
  case Uint64Data:
    fields.valueFields |= 1u << field;
    good = readVarints(reader, wire, fields.integers);
    break;
  case FloatData:
  case DoubleData:
    fields.valueFields |= 1u << field;
    good = readFixed(reader, wire, field == FloatData ? 4 : 8, fields.reals);
    break;
  case Name:
    good = wire == Bytes && reader.bytes(start, size);
    if (good)
      tensor.name.assign(reinterpret_cast<const char *>(start), size);
    break;
  case RawData:
    fields.valueFields |= 1u << field;
    good = wire == Bytes && reader.bytes(fields.raw, fields.rawBytes);
    break;
  case StringData:
    return failure(Code::InvalidArgument, "pb: string tensors are not supported");
  case Segment:
  case ExternalData:
    return failure(Code::InvalidArgument, "pb: segmented and external data are not read");
  default:
    good = skip(reader, wire);
  }
  return good ? Status() : malformed("truncated field");
}

Status storeIntegers(const Fields &fields, uint64_t count, HostTensor &tensor) {
  uint32_t bits = runtime::dtypeBits(tensor.dtype);
  // An entry holds a byte's worth of packed elements.
  uint64_t entries = bits < 8 ? tensor.data.size() : count;
  if (fields.integers.size() != entries)
    return failure(Code::InvalidArgument, "pb: %zu values for %s", fields.integers.size(),
                   runtime::formatType(tensor.shape, tensor.dtype).c_str());
  size_t width = bits < 8 ? 1 : bits / 8;
  for (size_t i = 0; i < entries; ++i) // little endian: the low bytes
    std::memcpy(tensor.data.data() + i * width, &fields.integers[i], width);
  return {};
}

void putVarint(std::vector<uint8_t> &out, uint64_t value) {
  for (; value >= 0x80; value >>= 7)
    out.push_back(uint8_t(value | 0x80));
  out.push_back(uint8_t(value));
}

void putBytes(std::vector<uint8_t> &out, uint32_t field, const void *data, size_t size) {
  putVarint(out, field << 3 | Bytes);
  putVarint(out, size);
  const uint8_t *start = static_cast<const uint8_t *>(data);
  out.insert(out.end(), start, start + size);
}

} // namespace

Status parseTensorProto(const uint8_t *data, size_t size, HostTensor &tensor) {
  Fields fields;
  for (Reader reader(data, size); !reader.done();) {
    uint64_t tag = 0;
    if (!reader.varint(tag) || tag >> 3 == 0 || tag >> 32)
      return malformed("bad tag");
    CAMEO_RETURN_IF_ERROR(readField(reader, uint32_t(tag >> 3), tag & 7, fields, tensor));
  }
  tensor.dtype = uint32_t(std::min<uint64_t>(fields.dataType, 0xffff));
  if (!runtime::dtypeBits(tensor.dtype))
    return failure(Code::InvalidArgument, "pb: element type %u has no fixed size", tensor.dtype);
  tensor.shape.clear();
  for (uint64_t dim : fields.dims)
    tensor.shape.push_back(int64_t(dim));
  uint64_t bytes = 0, count = 0;
  CAMEO_RETURN_IF_ERROR(runtime::tensorBytes(tensor.shape, tensor.dtype, bytes));
  CAMEO_RETURN_IF_ERROR(runtime::elementCount(tensor.shape, count));
  if (fields.valueFields & (fields.valueFields - 1))
    return malformed("values in two fields");
  if (fields.raw || fields.valueFields == 1u << RawData) {
    if (fields.rawBytes != bytes)
      return failure(Code::InvalidArgument, "pb: %zu bytes of raw data; %s needs %llu",
                     fields.rawBytes, runtime::formatType(tensor.shape, tensor.dtype).c_str(),
                     (unsigned long long)bytes);
    tensor.data.assign(fields.raw, fields.raw + bytes);
    return {};
  }
  // What the file's values bound, it is safe to allocate.
  bool isReal = fields.valueFields & (1u << FloatData | 1u << DoubleData);
  uint64_t held = isReal ? fields.reals.size() : fields.integers.size() * 8;
  if (bytes > held)
    return failure(Code::InvalidArgument, "pb: too few values for %s",
                   runtime::formatType(tensor.shape, tensor.dtype).c_str());
  if (!isReal) {
    tensor.data.assign(bytes, 0);
    return storeIntegers(fields, count, tensor);
  }
  bool isSingle = tensor.dtype == CAMEO_FLOAT || tensor.dtype == CAMEO_COMPLEX64;
  bool isDouble = tensor.dtype == CAMEO_DOUBLE || tensor.dtype == CAMEO_COMPLEX128;
  if (!(fields.valueFields & 1u << FloatData ? isSingle : isDouble) || fields.reals.size() != bytes)
    return failure(Code::InvalidArgument, "pb: the values are not those of %s",
                   runtime::formatType(tensor.shape, tensor.dtype).c_str());
  tensor.data = std::move(fields.reals);
  return {};
}

void formatTensorProto(const HostTensor &tensor, std::vector<uint8_t> &bytes) {
  for (int64_t dim : tensor.shape) {
    putVarint(bytes, Dims << 3 | Varint);
    putVarint(bytes, uint64_t(dim));
  }
  putVarint(bytes, DataType << 3 | Varint);
  putVarint(bytes, tensor.dtype);
  if (!tensor.name.empty())
    putBytes(bytes, Name, tensor.name.data(), tensor.name.size());
  putBytes(bytes, RawData, tensor.data.data(), tensor.data.size());
}

} // namespace cameo::cli
