// Constants as TensorProto: raw data or external data, strings as strings.
// SPDX-License-Identifier: Apache-2.0
#include "dialects/onnx/Exporter.h"

using namespace mlir;
using namespace cameo::onnx;
using namespace cameo::onnx_proto;

/// What mapping a file wants.
static constexpr uint64_t kAlignment = 4096;

LogicalResult Exporter::exportTensor(Operation *op, ElementsAttr value, TensorProto &tensor) {
  auto type = dyn_cast<RankedTensorType>(value.getType());
  std::optional<ElementKind> kind = type ? elementKind(type.getElementType()) : std::nullopt;
  if (!kind)
    return failure();
  tensor.set_data_type(elementNumber(*kind));
  tensor.mutable_dims()->Add(type.getShape().begin(), type.getShape().end());
  if (*kind == ElementKind::String) {
    std::optional<SmallVector<StringRef>> strings = constantStrings(value);
    if (!strings)
      return failure();
    for (StringRef string : *strings)
      tensor.add_string_data(string.str());
    return success();
  }
  std::optional<ConstantBytes> bytes = constantBytes(value);
  if (!bytes)
    return failure();
  ConstantBytes all = bytes->expanded(type.getNumElements());
  ArrayRef<char> data = all.get();
  std::string packed;
  if (unsigned bits = elementBits(*kind); bits < 8) {
    unsigned perByte = 8 / bits;
    packed.resize((data.size() + perByte - 1) / perByte);
    for (size_t i = 0; i < data.size(); ++i)
      packed[i / perByte] |= (data[i] & ((1 << bits) - 1)) << (i % perByte * bits);
    data = ArrayRef(packed.data(), packed.size());
  }
  if (!external || int64_t(data.size()) < kMinExternalBytes) {
    tensor.set_raw_data(data.data(), data.size());
    return success();
  }
  uint64_t offset = llvm::alignTo(external->size, kAlignment);
  external->stream->write_zeros(offset - external->size);
  external->stream->write(data.data(), data.size());
  external->size = offset + data.size();
  tensor.set_data_location(TensorProto::EXTERNAL);
  auto add = [&](const char *key, const std::string &text) {
    StringStringEntryProto &entry = *tensor.add_external_data();
    entry.set_key(key);
    entry.set_value(text);
  };
  add("location", external->location);
  add("offset", std::to_string(offset));
  add("length", std::to_string(data.size()));
  return success();
}
