// Tensors of a model as constants.
// SPDX-License-Identifier: Apache-2.0
#include "dialects/onnx/TensorImport.h"
#include "dialects/onnx/Onnx.h"

#include "llvm/Support/FormatVariadic.h"
#include "llvm/Support/Path.h"

using namespace mlir;
namespace cameo::onnx {

char UnreadableFile::ID = 0;

static llvm::Error fail(const Twine &why) {
  return llvm::createStringError(llvm::inconvertibleErrorCode(), why);
}

static constexpr size_t kMaxRank = 64;

std::optional<int64_t> checkedElementCount(ArrayRef<int64_t> dims) {
  // Zero elements allow any other dimensions, but these must multiply all the same: MLIR does.
  int64_t product = 1, positive = 16;
  for (int64_t dim : dims) {
    if (dim < 0 || (dim > 0 && __builtin_mul_overflow(positive, dim, &positive)))
      return std::nullopt;
    product *= dim;
  }
  return product;
}

/// The typed field that holds elements of a kind.
enum class Field { Float, Int32, Int64, Double, Uint64, String };

static Field fieldOf(ElementKind kind) {
  using K = ElementKind;
  switch (kind) {
  case K::F32:
  case K::C64:
    return Field::Float;
  case K::F64:
  case K::C128:
    return Field::Double;
  case K::I64:
    return Field::Int64;
  case K::U32:
  case K::U64:
    return Field::Uint64;
  case K::String:
    return Field::String;
  default:
    return Field::Int32;
  }
}

template <typename T> static std::vector<char> copyOf(const T *data, size_t count) {
  auto *bytes = reinterpret_cast<const char *>(data);
  return std::vector<char>(bytes, bytes + count * sizeof(T));
}

/// Elements from a typed field, in the packing of raw data.
static llvm::Expected<std::vector<char>> packTyped(const onnx_proto::TensorProto &tensor,
                                                   ElementKind kind, int64_t count) {
  unsigned bits = elementBits(kind);
  size_t parts = kind == ElementKind::C64 || kind == ElementKind::C128 ? 2 : 1;
  auto checkCount = [&](size_t found, size_t wanted) -> llvm::Error {
    if (found != wanted)
      return fail("has " + Twine(found) + " values where its shape asks for " + Twine(wanted));
    return llvm::Error::success();
  };
  switch (fieldOf(kind)) {
  case Field::Float:
    if (llvm::Error error = checkCount(tensor.float_data_size(), count * parts))
      return error;
    return copyOf(tensor.float_data().data(), tensor.float_data_size());
  case Field::Double:
    if (llvm::Error error = checkCount(tensor.double_data_size(), count * parts))
      return error;
    return copyOf(tensor.double_data().data(), tensor.double_data_size());
  case Field::Int64:
    if (llvm::Error error = checkCount(tensor.int64_data_size(), count))
      return error;
    return copyOf(tensor.int64_data().data(), tensor.int64_data_size());
  case Field::Uint64: {
    if (llvm::Error error = checkCount(tensor.uint64_data_size(), count))
      return error;
    if (bits == 64)
      return copyOf(tensor.uint64_data().data(), tensor.uint64_data_size());
    std::vector<char> bytes;
    for (uint64_t value : tensor.uint64_data()) {
      if (value > UINT32_MAX)
        return fail("has the value " + Twine(value) + ", which no uint32 can hold");
      uint32_t narrow = uint32_t(value);
      llvm::append_range(bytes, copyOf(&narrow, 1));
    }
    return bytes;
  }
  case Field::Int32: {
    // Sub-byte elements are packed into bytes first, one byte per value.
    size_t wanted = bits < 8 ? (count * bits + 7) / 8 : count;
    if (llvm::Error error = checkCount(tensor.int32_data_size(), wanted))
      return error;
    unsigned width = std::max(bits, 8u);
    if (width == 32)
      return copyOf(tensor.int32_data().data(), tensor.int32_data_size());
    std::vector<char> bytes;
    bytes.reserve(wanted * width / 8);
    for (int32_t value : tensor.int32_data()) {
      if (value < -(1 << (width - 1)) || value >= (1 << width))
        return fail("has the value " + Twine(value) + ", which no " + elementName(kind) +
                    " can hold");
      for (unsigned shift = 0; shift < width; shift += 8)
        bytes.push_back(char(value >> shift));
    }
    return bytes;
  }
  case Field::String:
    break;
  }
  llvm_unreachable("strings have no bytes");
}

llvm::Expected<ElementsAttr> TensorImporter::import(const onnx_proto::TensorProto &tensor,
                                                    StringRef name) {
  std::optional<ElementKind> kind = elementKindOfNumber(tensor.data_type());
  if (!kind)
    return fail("has the unknown element type " + Twine(tensor.data_type()));
  ArrayRef<int64_t> dims(tensor.dims().data(), tensor.dims_size());
  if (dims.size() > kMaxRank)
    return fail("has rank " + Twine(dims.size()) + "; at most " + Twine(kMaxRank) +
                " is supported");
  std::optional<int64_t> count = checkedElementCount(dims);
  if (!count)
    return fail("has a shape with a negative dimension or too many elements for 64 bits");
  if (tensor.has_segment())
    return fail("is stored in segments, which are not supported");
  auto type = RankedTensorType::get(dims, elementTypeOf(*kind, context));

  bool external = tensor.data_location() == onnx_proto::TensorProto::EXTERNAL;
  std::pair<Field, int> fields[] = {
      {Field::Float, tensor.float_data_size()},   {Field::Int32, tensor.int32_data_size()},
      {Field::Int64, tensor.int64_data_size()},   {Field::Double, tensor.double_data_size()},
      {Field::Uint64, tensor.uint64_data_size()}, {Field::String, tensor.string_data_size()}};
  int used = int(external) + tensor.has_raw_data();
  for (auto [field, size] : fields) {
    if (size == 0)
      continue;
    ++used;
    if (field != fieldOf(*kind))
      return fail(Twine("holds ") + elementName(*kind) + " in a field for another type");
  }
  if (used > 1)
    return fail("has its values in two fields");
  if (external)
    return importExternal(tensor, type, name);
  if (*kind == ElementKind::String) {
    if (tensor.has_raw_data())
      return fail("holds strings as raw data");
    if (tensor.string_data_size() != *count)
      return fail("has " + Twine(tensor.string_data_size()) + " strings where its shape asks for " +
                  Twine(*count));
    SmallVector<StringRef> strings(tensor.string_data().begin(), tensor.string_data().end());
    return makeStringConstant(type, strings);
  }
  if (tensor.has_raw_data()) {
    std::shared_ptr<const std::string> bytes = taken.lookup(&tensor);
    assert(bytes && "a tensor of another model");
    return fromPacked(type, name, ArrayRef(bytes->data(), bytes->size()), bytes);
  }
  llvm::Expected<std::vector<char>> packed = packTyped(tensor, *kind, *count);
  if (!packed)
    return packed.takeError();
  auto keeper = std::make_shared<std::vector<char>>(std::move(*packed));
  return fromPacked(type, name, *keeper, keeper);
}

void TensorImporter::takeRawData(onnx_proto::ModelProto &model) {
  takeRawData(*model.mutable_graph());
  for (onnx_proto::FunctionProto &function : *model.mutable_functions())
    for (onnx_proto::NodeProto &node : *function.mutable_node())
      takeRawData(node);
}

void TensorImporter::takeRawData(onnx_proto::GraphProto &graph) {
  for (onnx_proto::TensorProto &tensor : *graph.mutable_initializer())
    takeRawData(tensor);
  for (onnx_proto::SparseTensorProto &tensor : *graph.mutable_sparse_initializer())
    takeRawData(tensor);
  for (onnx_proto::NodeProto &node : *graph.mutable_node())
    takeRawData(node);
}

void TensorImporter::takeRawData(onnx_proto::NodeProto &node) {
  for (onnx_proto::AttributeProto &attribute : *node.mutable_attribute()) {
    if (attribute.has_t())
      takeRawData(*attribute.mutable_t());
    for (onnx_proto::TensorProto &tensor : *attribute.mutable_tensors())
      takeRawData(tensor);
    if (attribute.has_sparse_tensor())
      takeRawData(*attribute.mutable_sparse_tensor());
    for (onnx_proto::SparseTensorProto &tensor : *attribute.mutable_sparse_tensors())
      takeRawData(tensor);
    if (attribute.has_g())
      takeRawData(*attribute.mutable_g());
    for (onnx_proto::GraphProto &graph : *attribute.mutable_graphs())
      takeRawData(graph);
  }
}

void TensorImporter::takeRawData(onnx_proto::SparseTensorProto &tensor) {
  if (tensor.has_values())
    takeRawData(*tensor.mutable_values());
  if (tensor.has_indices())
    takeRawData(*tensor.mutable_indices());
}

void TensorImporter::takeRawData(onnx_proto::TensorProto &tensor) {
  if (tensor.has_raw_data())
    taken[&tensor] = std::make_shared<std::string>(std::move(*tensor.mutable_raw_data()));
}

llvm::Expected<ElementsAttr> TensorImporter::fromPacked(RankedTensorType type, StringRef name,
                                                        ArrayRef<char> bytes,
                                                        std::shared_ptr<const void> keeper) {
  ElementKind kind = *elementKind(type.getElementType());
  unsigned bits = elementBits(kind);
  int64_t count = type.getNumElements();
  int64_t wanted = (count * bits + 7) / 8;
  if (int64_t(bytes.size()) != wanted)
    return fail("has " + Twine(bytes.size()) + " bytes where its shape asks for " + Twine(wanted));
  if (bits < 8) {
    std::vector<char> unpacked(count);
    unsigned perByte = 8 / bits;
    for (int64_t i = 0; i < count; ++i)
      unpacked[i] = (uint8_t(bytes[i / perByte]) >> (i % perByte * bits)) & ((1 << bits) - 1);
    return makeConstant(type, name, unpacked);
  }
  bool isClean = kind != ElementKind::Bool ||
                 llvm::all_of(bytes, [](char byte) { return byte == 0 || byte == 1; });
  if (!isClean) {
    std::vector<char> clean;
    for (char byte : bytes)
      clean.push_back(byte != 0);
    return makeConstant(type, name, clean);
  }
  // No more than any allocation has: text of the IR states it, and is to be the same each time.
  unsigned align = 16;
  while (align > 1 && reinterpret_cast<uintptr_t>(bytes.data()) % align)
    align /= 2;
  unsigned needed = kind == ElementKind::C64    ? 4
                    : kind == ElementKind::C128 ? 8
                                                : elementBytes(kind);
  if (int64_t(bytes.size()) <= kMaxDenseBytes || align < needed)
    return makeConstant(type, name, bytes);
  auto release = [keeper = std::move(keeper)](void *, size_t, size_t) mutable { keeper.reset(); };
  return makeConstant(
      type, name, UnmanagedAsmResourceBlob::allocateWithAlign(bytes, align, std::move(release)));
}

llvm::Expected<ElementsAttr> TensorImporter::importExternal(const onnx_proto::TensorProto &tensor,
                                                            RankedTensorType type, StringRef name) {
  ElementKind kind = *elementKind(type.getElementType());
  if (kind == ElementKind::String)
    return fail("holds strings as external data");
  if (!folder)
    return fail("has external data, but the model is not in a folder");
  std::string location;
  uint64_t offset = 0;
  std::optional<uint64_t> length;
  for (const onnx_proto::StringStringEntryProto &entry : tensor.external_data()) {
    if (entry.key() == "location")
      location = entry.value();
    if (entry.key() != "offset" && entry.key() != "length")
      continue;
    uint64_t value;
    if (StringRef(entry.value()).getAsInteger(10, value))
      return fail("has the external " + entry.key() + " '" + entry.value() +
                  "', which is not a number of bytes");
    if (entry.key() == "offset")
      offset = value;
    else
      length = value;
  }
  std::shared_ptr<MappedFile> &file = files[location];
  if (!file) {
    llvm::Expected<std::shared_ptr<MappedFile>> opened = MappedFile::openBeneath(*folder, location);
    if (!opened) {
      Unreadable &told = unreadable[location];
      if (++told.tensors == 1)
        told.firstTensor = name.str();
      told.why = llvm::toString(opened.takeError());
      return llvm::make_error<UnreadableFile>();
    }
    file = *opened;
  }
  uint64_t size = file->bytes().size();
  if (offset > size || (length && *length > size - offset))
    return fail("lies at offset " + Twine(offset) + " of '" + location + "' with length " +
                Twine(length.value_or(0)) + "; the file has " + Twine(size) + " bytes");
  uint64_t wanted = (uint64_t(type.getNumElements()) * elementBits(kind) + 7) / 8;
  // Without a length the data takes what it needs: files may be padded.
  if (!length && wanted > size - offset)
    return fail("needs " + Twine(wanted) + " bytes at offset " + Twine(offset) + " of '" +
                location + "'; the file has " + Twine(size));
  return fromPacked(type, name, file->bytes().slice(offset, length.value_or(wanted)), file);
}

std::vector<std::string> TensorImporter::unreadableFiles() const {
  std::vector<std::string> sentences;
  for (const auto &[location, file] : unreadable) {
    std::string others =
        file.tensors > 1 ? llvm::formatv(" and {0} more", file.tensors - 1).str() : "";
    sentences.push_back(llvm::formatv("external data of '{0}'{1}: {2}; it is looked for in '{3}'",
                                      file.firstTensor, others, file.why,
                                      folder->empty() ? "." : *folder));
  }
  return sentences;
}

std::vector<std::string> TensorImporter::externalFiles() const {
  std::vector<std::string> paths;
  for (StringRef location : files.keys()) {
    llvm::SmallString<256> path(*folder);
    llvm::sys::path::append(path, location);
    paths.push_back(std::string(path));
  }
  return paths;
}

llvm::Expected<ElementsAttr> TensorImporter::import(const onnx_proto::SparseTensorProto &tensor,
                                                    StringRef name) {
  llvm::Expected<ElementsAttr> values = import(tensor.values(), name);
  if (!values)
    return values.takeError();
  llvm::Expected<ElementsAttr> indices = import(tensor.indices(), name);
  if (!indices)
    return indices.takeError();
  ArrayRef<int64_t> dims(tensor.dims().data(), tensor.dims_size());
  std::optional<int64_t> count = checkedElementCount(dims);
  if (!count || dims.size() > kMaxRank)
    return fail("has a shape with a negative dimension or too many elements");
  auto valuesType = cast<RankedTensorType>(values->getType());
  auto indicesType = cast<RankedTensorType>(indices->getType());
  unsigned bytes = elementBytes(*elementKind(valuesType.getElementType()));
  if (bytes == 0)
    return fail("is a sparse tensor of strings, which is not supported");
  if (*count * bytes > maxUnfoldedBytes)
    return fail("unfolds to " + Twine(*count * bytes) + " bytes; at most " +
                Twine(maxUnfoldedBytes) + " are allowed");
  int64_t stored = valuesType.getNumElements(), rank = dims.size();
  bool linear = indicesType.getRank() == 1;
  if (!indicesType.getElementType().isInteger(64) || valuesType.getRank() != 1 ||
      indicesType.getNumElements() != (linear ? stored : stored * rank))
    return fail("has indices that do not fit its values");
  std::optional<ConstantBytes> valueBytes = constantBytes(*values);
  std::optional<ConstantBytes> indexBytes = constantBytes(*indices);
  if (!valueBytes || !indexBytes)
    return fail("has values that cannot be read");
  ConstantBytes allValues = valueBytes->expanded(stored);
  ConstantBytes allIndices = indexBytes->expanded(indicesType.getNumElements());
  std::vector<char> dense(*count * bytes);
  for (int64_t i = 0; i < stored; ++i) {
    int64_t position = 0;
    for (int64_t d = 0, e = linear ? 1 : rank; d < e; ++d) {
      int64_t index;
      memcpy(&index, allIndices.get().data() + (i * e + d) * sizeof(index), sizeof(index));
      int64_t extent = linear ? *count : dims[d];
      if (index < 0 || index >= extent)
        return fail("has the index " + Twine(index) + " outside its shape");
      position = position * extent + index;
    }
    memcpy(dense.data() + position * bytes, allValues.get().data() + i * bytes, bytes);
  }
  return makeConstant(RankedTensorType::get(dims, valuesType.getElementType()), name, dense);
}

} // namespace cameo::onnx
