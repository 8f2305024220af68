// #onnx.external: weights in a file, checked when they are first referred to.
// SPDX-License-Identifier: Apache-2.0
#include "dialects/onnx/WeightFiles.h"
#include "dialects/onnx/MappedFile.h"
#include "dialects/onnx/Onnx.h"
#include "dialects/onnx/ResourceKey.h"

#include "mlir/Bytecode/BytecodeImplementation.h"
#include "mlir/IR/DialectImplementation.h"
#include "mlir/IR/DialectResourceBlobManager.h"
#include "llvm/Support/FormatVariadic.h"
#include "llvm/Support/Path.h"
#include "llvm/Support/xxhash.h"

using namespace mlir;
namespace cameo::onnx {

uint64_t weightHash(ArrayRef<char> bytes) {
  return llvm::xxh3_64bits(ArrayRef(reinterpret_cast<const uint8_t *>(bytes.data()), bytes.size()));
}

//===----------------------------------------------------------------------===//
// Files
//===----------------------------------------------------------------------===//

WeightFiles::WeightFiles() = default;
WeightFiles::~WeightFiles() = default;

llvm::Expected<ArrayRef<char>> WeightFiles::read(StringRef folder, StringRef name, uint64_t offset,
                                                 uint64_t size, uint64_t hash) {
  llvm::SmallString<256> path(folder);
  llvm::sys::path::append(path, name);
  auto fail = [&](const Twine &what) {
    return llvm::createStringError("weights in '" + path + "': " + what);
  };
  std::lock_guard lock(mutex);
  std::shared_ptr<MappedFile> &file = files[path];
  if (!file) {
    llvm::Expected<std::shared_ptr<MappedFile>> opened = MappedFile::openBeneath(folder, name);
    if (!opened)
      return fail(llvm::toString(opened.takeError()));
    file = std::move(*opened);
  }
  if (offset % kWeightAlignment)
    return fail("offset " + Twine(offset) + " is not a multiple of " + Twine(kWeightAlignment));
  ArrayRef<char> all = file->bytes();
  if (offset > all.size() || size > all.size() - offset)
    return fail("the file has " + Twine(all.size()) + " bytes, and " + Twine(size) +
                " are wanted at offset " + Twine(offset));
  ArrayRef<char> bytes = all.slice(offset, size);
  if (checked.contains({bytes.data(), hash}))
    return bytes;
  if (uint64_t found = weightHash(bytes); found != hash)
    return fail("the " + Twine(size) + " bytes at offset " + Twine(offset) +
                " are damaged or another model's: their xxh3 is " +
                llvm::formatv("{0:x-16}, not {1:x-16}", found, hash).str());
  checked.insert({bytes.data(), hash});
  return bytes;
}

DenseResourceElementsAttr WeightFiles::asResource(ExternalAttr value) {
  ArrayRef<char> bytes = value.bytes();
  std::lock_guard lock(mutex);
  auto known = resources.find({bytes.data(), bytes.size()});
  if (known != resources.end())
    return DenseResourceElementsAttr::get(value.getType(), known->second);
  // What the attribute refers to outlives it.
  auto resource = DenseResourceElementsAttr::get(
      value.getType(), resourceKey(value.getName()),
      UnmanagedAsmResourceBlob::allocateWithAlign(bytes, kWeightAlignment));
  resources.try_emplace({bytes.data(), bytes.size()}, resource.getRawHandle());
  return resource;
}

//===----------------------------------------------------------------------===//
// The attribute
//===----------------------------------------------------------------------===//

/// Bytes of all elements; nothing where they have no form of their own in memory.
static std::optional<uint64_t> byteSize(RankedTensorType type) {
  std::optional<ElementKind> kind = innerKind(type);
  if (!kind || *kind == ElementKind::String || !type.hasStaticShape())
    return std::nullopt;
  int64_t size = elementBytes(*kind);
  for (int64_t extent : type.getShape())
    if (llvm::MulOverflow(size, extent, size))
      return std::nullopt;
  return size;
}

ArrayRef<char> ExternalAttr::bytes() const { return {getData(), *byteSize(getType())}; }

Attribute ExternalAttr::parse(AsmParser &parser, Type type) {
  SMLoc start = parser.getCurrentLocation();
  std::string name, file, digits;
  uint64_t offset, hash;
  if (parser.parseLess() || parser.parseString(&name) || parser.parseKeyword("in") ||
      parser.parseString(&file) || parser.parseKeyword("at") || parser.parseInteger(offset) ||
      parser.parseKeyword("xxh3") || parser.parseString(&digits) || parser.parseGreater())
    return {};
  if (digits.size() != 16 || StringRef(digits).getAsInteger(16, hash)) {
    parser.emitError(start) << "'" << digits << "' is not a hash of 16 hexadecimal digits";
    return {};
  }
  auto tensor = llvm::dyn_cast_or_null<RankedTensorType>(type);
  std::optional<uint64_t> size = tensor ? byteSize(tensor) : std::nullopt;
  if (!size) {
    parser.emitError(start) << "elements of a file need the type of a tensor of numbers of known "
                               "size";
    return {};
  }
  // Text that has no file refers to files in the current folder.
  StringRef text;
  if (auto location = llvm::dyn_cast<FileLineColLoc>(parser.getEncodedSourceLoc(start)))
    text = location.getFilename().getValue();
  auto *dialect = parser.getContext()->getOrLoadDialect<OnnxDialect>();
  llvm::Expected<ArrayRef<char>> bytes =
      dialect->weightFiles().read(llvm::sys::path::parent_path(text), file, offset, *size, hash);
  if (!bytes) {
    parser.emitError(start) << llvm::toString(bytes.takeError());
    return {};
  }
  return ExternalAttr::get(parser.getContext(), tensor, name, file, offset, hash, bytes->data());
}

void ExternalAttr::print(AsmPrinter &printer) const {
  printer << "<";
  printer.printString(getName());
  printer << " in ";
  printer.printString(getFile());
  printer << " at " << getOffset() << " xxh3 \"" << llvm::formatv("{0:x-16}", getHash()).str()
          << "\">";
}

//===----------------------------------------------------------------------===//
// Bytecode
//===----------------------------------------------------------------------===//

namespace {

struct OnnxBytecode : BytecodeDialectInterface {
  explicit OnnxBytecode(Dialect *dialect) : BytecodeDialectInterface(dialect) {}

  LogicalResult writeAttribute(Attribute attribute, DialectBytecodeWriter &writer) const override {
    auto external = dyn_cast<ExternalAttr>(attribute);
    if (!external)
      return failure();
    auto *dialect = cast<OnnxDialect>(getDialect());
    writer.writeAttribute(dialect->weightFiles().asResource(external));
    return success();
  }

  Attribute readAttribute(DialectBytecodeReader &reader) const override {
    Attribute resource;
    return succeeded(reader.readAttribute(resource)) ? resource : Attribute();
  }
};

} // namespace

std::unique_ptr<BytecodeDialectInterface> makeBytecodeInterface(Dialect *dialect) {
  return std::make_unique<OnnxBytecode>(dialect);
}

} // namespace cameo::onnx
