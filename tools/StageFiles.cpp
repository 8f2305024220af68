// Stage files. Those of text with large weights are two: the text, and the bytes of its
// #onnx.external attributes, each aligned to 64 bytes.
// SPDX-License-Identifier: Apache-2.0
#include "tools/StageFiles.h"

#include "codegen/emit/Payload.h"
#include "dialects/onnx/Onnx.h"
#include "tools/BytecodeChecksum.h"

#include "mlir/Bytecode/BytecodeWriter.h"
#include "mlir/IR/AttrTypeSubElements.h"
#include "mlir/Parser/Parser.h"
#include "llvm/ADT/MapVector.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/MathExtras.h"
#include "llvm/Support/Path.h"
#include "llvm/Support/SourceMgr.h"

using namespace mlir;
using namespace cameo;

namespace {

/// Resources of more bytes leave the text. Small ones are easier to read and to edit in it.
constexpr size_t kInlineBytes = 2048;

/// The file of a text's weights: which bytes there are, once each, and where.
class WeightLayout {
public:
  explicit WeightLayout(ModuleOp module) {
    AttrTypeWalker walker;
    walker.addWalk([&](ElementsAttr value) {
      if (std::optional<ArrayRef<char>> bytes = largeBytes(value))
        add(*bytes);
    });
    module.walk([&](Operation *op) { walker.walk(op->getAttrDictionary()); });
  }

  bool empty() const { return places.empty(); }

  void write(llvm::raw_fd_ostream &output) const {
    for (const auto &[data, place] : places) {
      output.write_zeros(place.offset - output.tell());
      output.write(data, place.size);
    }
  }

  /// Makes references to `file` of the module's attributes.
  void refer(ModuleOp module, StringRef file) {
    // Later stages have no other use for the dialect.
    module.getContext()->getOrLoadDialect<onnx::OnnxDialect>();
    AttrTypeReplacer replacer;
    replacer.addReplacement([&](Attribute attribute) -> std::optional<Attribute> {
      auto value = dyn_cast<ElementsAttr>(attribute);
      std::optional<ArrayRef<char>> bytes =
          value ? largeBytes(value) : std::optional<ArrayRef<char>>();
      if (!bytes)
        return std::nullopt;
      const Place &place = places.find(bytes->data())->second;
      return onnx::ExternalAttr::get(module.getContext(), cast<RankedTensorType>(value.getType()),
                                     nameOf(value), file, place.offset, place.hash, bytes->data());
    });
    replacer.recursivelyReplaceElementsIn(module, /*replaceAttrs=*/true, /*replaceLocs=*/false,
                                          /*replaceTypes=*/false);
  }

private:
  struct Place {
    uint64_t offset, size, hash;
  };

  static std::optional<ArrayRef<char>> largeBytes(ElementsAttr value) {
    if (!isa<DenseResourceElementsAttr, onnx::ExternalAttr>(value) ||
        !isa<RankedTensorType>(value.getType()))
      return std::nullopt;
    // Refers to the bytes: neither kind is packed or a splat.
    std::optional<onnx::ConstantBytes> bytes = onnx::constantBytes(value);
    if (!bytes || bytes->get().size() <= kInlineBytes)
      return std::nullopt;
    return bytes->get();
  }

  static StringRef nameOf(ElementsAttr value) {
    if (auto external = dyn_cast<onnx::ExternalAttr>(value))
      return external.getName();
    return cast<DenseResourceElementsAttr>(value).getRawHandle().getKey();
  }

  void add(ArrayRef<char> bytes) {
    auto [place, isNew] = places.try_emplace(bytes.data());
    if (!isNew)
      return;
    place->second = {end, bytes.size(), onnx::weightHash(bytes)};
    end = llvm::alignTo(end + bytes.size(), onnx::kWeightAlignment);
  }

  llvm::MapVector<const char *, Place> places; // by where the bytes are in memory
  uint64_t end = 0;
};

llvm::Error writeBytecode(ModuleOp module, StringRef path) {
  return writeFile(path, 0644, [&](llvm::raw_fd_ostream &output) -> llvm::Error {
    ChecksumStream stream(output);
    if (failed(writeBytecodeToFile(module, stream)))
      return llvm::createStringError("cannot write '" + path + "' as bytecode");
    stream.finish();
    return llvm::Error::success();
  });
}

/// Standard output, devices and pipes have nothing beside them.
bool canStandBeside(StringRef path) {
  llvm::sys::fs::file_status status;
  bool isNew = static_cast<bool>(llvm::sys::fs::status(path, status));
  return path != "-" && (isNew || status.type() == llvm::sys::fs::file_type::regular_file);
}

} // namespace

llvm::Error cameo::writeStageFile(ModuleOp module, StringRef path) {
  if (path.ends_with(".mlirbc"))
    return writeBytecode(module, path);
  if (canStandBeside(path)) {
    WeightLayout layout(module);
    std::string weights = path.str() + ".weights";
    if (!layout.empty()) {
      if (llvm::Error error = writeFile(weights, 0644, [&](llvm::raw_fd_ostream &output) {
            layout.write(output);
            return llvm::Error::success();
          }))
        return error;
      layout.refer(module, llvm::sys::path::filename(weights));
    }
  }
  return writeFile(path, 0644, [&](llvm::raw_fd_ostream &output) {
    OpPrintingFlags flags;
    flags.enableDebugInfo();
    module.print(output, flags);
    output << "\n";
    return llvm::Error::success();
  });
}

OwningOpRef<ModuleOp> cameo::readStageFile(StringRef path, MLIRContext *context) {
  auto fail = [&](const Twine &what) {
    emitError(UnknownLoc::get(context)) << what;
    return nullptr;
  };
  bool isUnchecked;
  llvm::Expected<std::unique_ptr<llvm::MemoryBuffer>> file = openMlirFile(path, isUnchecked);
  if (!file)
    return fail(llvm::toString(file.takeError()));
  if (isUnchecked)
    return fail("'" + path +
                "' is bytecode without a checksum; cameo-opt --emit-bytecode adds one");
  // Shared, so that resources in bytecode need not be copied.
  auto sources = std::make_shared<llvm::SourceMgr>();
  sources->AddNewSourceBuffer(std::move(*file), SMLoc());
  return parseSourceFile<ModuleOp>(sources, ParserConfig(context));
}
