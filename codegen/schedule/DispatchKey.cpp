// Hashing descriptions by their structure.
//
// SPDX-License-Identifier: Apache-2.0
#include "codegen/schedule/DispatchKey.h"

#include "codegen/schedule/KernelEmitter.h"

#include "mlir/IR/DialectResourceBlobManager.h"
#include "llvm/Support/FormatVariadic.h"
#include "llvm/Support/xxhash.h"

using namespace mlir;

namespace cameo {

static uint64_t hashOf(StringRef text) { return llvm::xxh3_64bits(text); }

static DispatchKey keyOf(ArrayRef<uint64_t> tokens) {
  llvm::XXH128_hash_t hash = llvm::xxh3_128bits(
      {reinterpret_cast<const uint8_t *>(tokens.data()), tokens.size() * sizeof(uint64_t)});
  return {hash.high64, hash.low64};
}

std::string textOf(DispatchKey key) {
  return llvm::formatv("{0:x-16}{1:x-16}", key.first, key.second);
}

DispatchKey extend(DispatchKey key, StringRef more) {
  return keyOf({key.first, key.second, hashOf(more)});
}

/// The bytes of a constant whose text would be long; nothing of other attributes.
static std::optional<StringRef> bytesOf(Attribute attribute) {
  if (auto dense = dyn_cast<DenseElementsAttr>(attribute))
    return StringRef(dense.getRawData().data(), dense.getRawData().size());
  auto resource = dyn_cast<DenseResourceElementsAttr>(attribute);
  AsmResourceBlob *blob = resource ? resource.getRawHandle().getBlob() : nullptr;
  if (!blob)
    return std::nullopt;
  return StringRef(blob->getData().data(), blob->getData().size());
}

uint64_t DispatchHasher::hash(Attribute attribute) {
  if (!attribute)
    return 0;
  auto [entry, isNew] = attributes.try_emplace(attribute, 0);
  if (!isNew)
    return entry->second;
  uint64_t result;
  if (std::optional<StringRef> bytes = bytesOf(attribute)) {
    ShapedType type = cast<ElementsAttr>(attribute).getShapedType();
    result = keyOf({hash(type), hashOf(*bytes), bytes->size()}).first;
  } else {
    std::string text;
    llvm::raw_string_ostream stream(text);
    attribute.print(stream);
    result = hashOf(text);
  }
  return attributes[attribute] = result;
}

uint64_t DispatchHasher::hash(Type type) {
  auto [entry, isNew] = types.try_emplace(type, 0);
  if (isNew) {
    std::string text;
    llvm::raw_string_ostream stream(text);
    type.print(stream);
    entry->second = hashOf(text);
  }
  return entry->second;
}

/// Writes a description down as numbers, each list behind its length.
class DispatchHasher::Writer {
public:
  Writer(DispatchHasher &hasher, llvm::function_ref<bool(Operation *)> unknown)
      : hasher(hasher), unknown(unknown) {}

  void addDispatch(kernel::DispatchOp op) {
    add(op.getInputs().size());
    add(op.getScalars().size());
    addTypes(op.getOperandTypes());
    for (BlockArgument view : viewsOf(op)) {
      OperandLayout layout = operandLayout(op, view);
      add(view.getArgNumber());
      add(layout.alignment);
      add(layout.strides.size());
      for (int64_t stride : layout.strides)
        add(stride);
    }
    addRegion(op.getBody());
  }

  DispatchKey key() const { return keyOf(tokens); }

private:
  void add(uint64_t token) { tokens.push_back(token); }

  void addTypes(TypeRange range) {
    add(range.size());
    for (Type type : range)
      add(hasher.hash(type));
  }

  void addRegion(Region &region) {
    add(region.getBlocks().size());
    for (Block &block : region) {
      addTypes(block.getArgumentTypes());
      for (BlockArgument argument : block.getArguments())
        values.try_emplace(argument, values.size());
      add(block.getOperations().size());
      for (Operation &op : block)
        addOperation(&op);
    }
  }

  void addOperation(Operation *op) {
    add(hasher.hash(op->getName().getIdentifier()));
    add(op->getNumOperands());
    for (Value operand : op->getOperands())
      add(values.at(operand)); // a body is isolated, and each value defined before it is used
    addTypes(op->getResultTypes());
    add(unknown && unknown(op) ? 0 : hasher.hash(op->getAttrDictionary()));
    for (Value result : op->getResults())
      values.try_emplace(result, values.size());
    add(op->getNumRegions());
    for (Region &region : op->getRegions())
      addRegion(region);
  }

  DispatchHasher &hasher;
  llvm::function_ref<bool(Operation *)> unknown;
  std::vector<uint64_t> tokens;
  llvm::DenseMap<Value, uint64_t> values; // by order of definition
};

DispatchKey DispatchHasher::key(kernel::DispatchOp op,
                                llvm::function_ref<bool(Operation *)> unknown) {
  Writer writer(*this, unknown);
  writer.addDispatch(op);
  return writer.key();
}

} // namespace cameo
