// Constants as bytes: dense attributes and resources, read and made.
// SPDX-License-Identifier: Apache-2.0
#include "dialects/onnx/Constants.h"
#include "dialects/onnx/Onnx.h"
#include "dialects/onnx/ResourceKey.h"

#include "mlir/IR/AttrTypeSubElements.h"
#include "mlir/IR/Operation.h"
#include "llvm/ADT/StringExtras.h"

using namespace mlir;
namespace cameo::onnx {

bool isAbsent(Value value) { return isa<NoneType>(value.getType()); }

ElementsAttr constantValue(Value value) {
  auto op = value.getDefiningOp<ConstantOp>();
  return op ? op.getValue() : ElementsAttr();
}

std::optional<ConstantBytes> constantBytes(ElementsAttr value) {
  std::optional<ElementKind> kind = innerKind(value.getType());
  if (!kind || *kind == ElementKind::String)
    return std::nullopt;
  if (auto resource = dyn_cast<DenseResourceElementsAttr>(value)) {
    AsmResourceBlob *blob = resource.getRawHandle().getBlob();
    int64_t elements = resource.getType().getNumElements();
    if (!blob || int64_t(blob->getData().size()) != elements * elementBytes(*kind))
      return std::nullopt;
    return ConstantBytes(blob->getData(), /*splat=*/false);
  }
  if (auto external = dyn_cast<ExternalAttr>(value))
    return ConstantBytes(external.bytes(), /*splat=*/false);
  auto dense = dyn_cast<DenseIntOrFPElementsAttr>(value);
  if (!dense)
    return std::nullopt;
  if (*kind != ElementKind::Bool)
    return ConstantBytes(dense.getRawData(), dense.isSplat());
  // Dense booleans are bits; a byte each is the form of everything else.
  if (dense.isSplat())
    return ConstantBytes(std::vector<char>{char(dense.getSplatValue<bool>())}, /*splat=*/true);
  auto range = dense.getValues<bool>();
  return ConstantBytes(std::vector<char>(range.begin(), range.end()), /*splat=*/false);
}

ConstantBytes ConstantBytes::expanded(int64_t count) const {
  if (!splat)
    return *this;
  std::vector<char> all(bytes.size() * count);
  for (int64_t i = 0; i < count; ++i)
    llvm::copy(bytes, all.begin() + i * bytes.size());
  return ConstantBytes(std::move(all), /*splat=*/false);
}

std::optional<SmallVector<StringRef>> constantStrings(ElementsAttr value) {
  auto strings = dyn_cast<DenseStringElementsAttr>(value);
  if (!strings)
    return std::nullopt;
  int64_t count = strings.getNumElements();
  if (strings.isSplat())
    return SmallVector<StringRef>(count, strings.getRawStringData().front());
  return SmallVector<StringRef>(strings.getRawStringData());
}

template <typename T> static std::optional<int64_t> readInt(const char *data) {
  T value;
  memcpy(&value, data, sizeof(T));
  if (std::is_same_v<T, uint64_t> && uint64_t(value) > uint64_t(INT64_MAX))
    return std::nullopt;
  return int64_t(value);
}

static std::optional<int64_t> readInt(ElementKind kind, const char *data) {
  using K = ElementKind;
  switch (kind) {
  case K::I64:
    return readInt<int64_t>(data);
  case K::I32:
    return readInt<int32_t>(data);
  case K::I16:
    return readInt<int16_t>(data);
  case K::U64:
    return readInt<uint64_t>(data);
  case K::U32:
    return readInt<uint32_t>(data);
  case K::U16:
    return readInt<uint16_t>(data);
  case K::U8:
  case K::Bool:
    return readInt<uint8_t>(data);
  case K::I8:
    return readInt<int8_t>(data);
  case K::U4:
    return *data & 15;
  case K::U2:
    return *data & 3;
  case K::I4:
    return int64_t((*data & 15) ^ 8) - 8;
  case K::I2:
    return int64_t((*data & 3) ^ 2) - 2;
  default:
    return std::nullopt;
  }
}

std::optional<SmallVector<int64_t>> constantInts(Value value, int64_t limit) {
  ElementsAttr attr = constantValue(value);
  if (!attr || attr.getNumElements() > limit)
    return std::nullopt;
  std::optional<ElementKind> kind = innerKind(attr.getType());
  std::optional<ConstantBytes> bytes = constantBytes(attr);
  if (!kind || !bytes)
    return std::nullopt;
  SmallVector<int64_t> values;
  unsigned stride = bytes->isSplat() ? 0 : elementBytes(*kind);
  for (int64_t i = 0, e = attr.getNumElements(); i < e; ++i) {
    std::optional<int64_t> element = readInt(*kind, bytes->get().data() + i * stride);
    if (!element)
      return std::nullopt;
    values.push_back(*element);
  }
  return values;
}

std::optional<int64_t> constantInt(Value value) {
  std::optional<SmallVector<int64_t>> values = constantInts(value, 1);
  if (!values || values->size() != 1)
    return std::nullopt;
  return values->front();
}

std::optional<double> constantScalar(Value value) {
  if (std::optional<int64_t> integer = constantInt(value))
    return double(*integer);
  ElementsAttr attr = constantValue(value);
  if (!attr || attr.getNumElements() != 1)
    return std::nullopt;
  auto type = dyn_cast<FloatType>(attr.getElementType());
  std::optional<ConstantBytes> bytes = constantBytes(attr);
  if (!type || !bytes)
    return std::nullopt;
  uint64_t bits = 0;
  memcpy(&bits, bytes->get().data(), type.getWidth() / 8);
  return APFloat(type.getFloatSemantics(), APInt(type.getWidth(), bits)).convertToDouble();
}

std::string resourceKey(StringRef name) {
  std::string key;
  for (char c : name)
    key += llvm::isAlnum(c) || c == '_' || c == '.' || c == '$' ? c : '_';
  return key.empty() || (!llvm::isAlpha(key.front()) && key.front() != '_') ? "_" + key : key;
}

static ElementsAttr makeResource(RankedTensorType type, StringRef name, AsmResourceBlob blob) {
  auto value = DenseResourceElementsAttr::get(type, resourceKey(name), std::move(blob));
  type.getContext()->getOrLoadDialect<OnnxDialect>()->constantResources().add(value.getRawHandle());
  return value;
}

ElementsAttr makeConstant(RankedTensorType type, StringRef name, AsmResourceBlob blob) {
  Type element = type.getElementType();
  ArrayRef<char> data = blob.getData();
  bool dense = isa<IntegerType, FloatType, ComplexType>(element);
  if (!dense || int64_t(data.size()) > kMaxDenseBytes)
    return makeResource(type, name, std::move(blob));
  if (element.isInteger(1)) {
    SmallVector<bool> bits;
    for (char byte : data)
      bits.push_back(byte != 0);
    return DenseElementsAttr::get(type, bits);
  }
  // An empty tensor has no bytes, which the raw form would read as a splat's.
  if (data.empty())
    return DenseElementsAttr::get(type, ArrayRef<Attribute>());
  return DenseElementsAttr::getFromRawBuffer(type, data);
}

ElementsAttr makeConstant(RankedTensorType type, StringRef name, ArrayRef<char> bytes) {
  // No bytes have no address, which copying would not take.
  return makeConstant(type, name,
                      bytes.empty() ? HeapAsmResourceBlob::allocate(0, 16)
                                    : HeapAsmResourceBlob::allocateAndCopyWithAlign(bytes, 16));
}

ElementsAttr makeSplat(RankedTensorType type, ArrayRef<char> element) {
  if (!isa<IntegerType, FloatType>(type.getElementType()))
    return nullptr;
  if (type.getNumElements() == 0)
    return DenseElementsAttr::get(type, ArrayRef<Attribute>());
  if (type.getElementType().isInteger(1))
    return DenseElementsAttr::get(type, element.front() != 0);
  return DenseElementsAttr::getFromRawBuffer(type, element);
}

ElementsAttr largeConstantAs(RankedTensorType type, ElementsAttr value) {
  if (auto resource = dyn_cast<DenseResourceElementsAttr>(value))
    return DenseResourceElementsAttr::get(type, resource.getRawHandle());
  if (auto external = dyn_cast<ExternalAttr>(value))
    return ExternalAttr::get(type.getContext(), type, external.getName(), external.getFile(),
                             external.getOffset(), external.getHash(), external.getData());
  return nullptr;
}

ElementsAttr makeStringConstant(RankedTensorType type, ArrayRef<StringRef> values) {
  return DenseStringElementsAttr::get(type, values);
}

void ConstantResources::add(DenseResourceElementsHandle handle) {
  std::lock_guard lock(mutex);
  handles.push_back(handle);
}

int64_t ConstantResources::release(const llvm::DenseSet<void *> &kept) {
  std::lock_guard lock(mutex);
  int64_t freed = 0;
  llvm::erase_if(handles, [&](DenseResourceElementsHandle handle) {
    if (kept.contains(handle.getResource()))
      return false;
    freed += int64_t(handle.getBlob()->getData().size());
    handle.getResource()->setBlob(AsmResourceBlob());
    return true;
  });
  return freed;
}

int64_t releaseUnusedConstants(ArrayRef<Operation *> roots) {
  auto *dialect = roots.front()->getContext()->getLoadedDialect<OnnxDialect>();
  if (!dialect)
    return 0;
  llvm::DenseSet<void *> used;
  AttrTypeWalker walker;
  walker.addWalk(
      [&](DenseResourceElementsAttr value) { used.insert(value.getRawHandle().getResource()); });
  for (Operation *root : roots)
    root->walk([&](Operation *op) { walker.walk(op->getAttrDictionary()); });
  return dialect->constantResources().release(used);
}

} // namespace cameo::onnx
