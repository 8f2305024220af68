// The sidecar: a header, a table, names, then the blobs, each aligned to 64 bytes.
// SPDX-License-Identifier: Apache-2.0
#include "tools/StageFiles.h"

#include "codegen/emit/Payload.h"

#include "mlir/IR/AsmState.h"
#include "mlir/IR/AttrTypeSubElements.h"
#include "mlir/IR/BuiltinDialect.h"
#include "mlir/IR/DialectResourceBlobManager.h"
#include "mlir/IR/Verifier.h"
#include "mlir/Parser/Parser.h"
#include "llvm/ADT/MapVector.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/MathExtras.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/SourceMgr.h"

#include <cstring>

using namespace mlir;
using namespace cameo;

namespace {

constexpr char kMagic[8] = {'C', 'A', 'M', 'E', 'O', 'W', 'T', '1'};
constexpr uint64_t kAlignment = 64;
/// Resources of more characters than this in their text form leave the text. Small ones are easier
/// to read and to edit in it.
constexpr int64_t kInlineCharacters = 4096;

struct SidecarHeader {
  char magic[8];
  uint64_t count;
};
struct SidecarEntry {
  uint64_t nameOffset, nameSize, offset, size; // from the file's start
};

/// "0x" and an alignment of four bytes come before the data, two characters a byte.
bool isElided(const AsmResourceBlob &blob) {
  return int64_t(blob.getData().size()) * 2 + 12 > kInlineCharacters;
}

/// Every resource that the module refers to, once.
llvm::MapVector<StringRef, ArrayRef<char>> largeResources(ModuleOp module) {
  llvm::MapVector<StringRef, ArrayRef<char>> blobs;
  llvm::DenseSet<Attribute> seen;
  AttrTypeWalker walker;
  walker.addWalk([&](DenseResourceElementsAttr attribute) {
    DenseResourceElementsHandle handle = attribute.getRawHandle();
    if (AsmResourceBlob *blob = handle.getBlob(); blob && isElided(*blob))
      blobs.insert({handle.getKey(), blob->getData()});
  });
  module.walk([&](Operation *op) { walker.walk(op->getAttrDictionary()); });
  return blobs;
}

llvm::Error writeSidecar(const llvm::MapVector<StringRef, ArrayRef<char>> &blobs, StringRef path) {
  return writeFile(path, 0644, [&](llvm::raw_fd_ostream &output) {
    SidecarHeader header;
    std::memcpy(header.magic, kMagic, sizeof kMagic);
    header.count = blobs.size();
    std::vector<SidecarEntry> entries;
    uint64_t end = sizeof header + blobs.size() * sizeof(SidecarEntry);
    for (auto &[name, data] : blobs) {
      entries.push_back({end, name.size(), 0, data.size()});
      end += name.size();
    }
    for (SidecarEntry &entry : entries) {
      entry.offset = llvm::alignTo(end, kAlignment);
      end = entry.offset + entry.size;
    }
    output.write(reinterpret_cast<const char *>(&header), sizeof header);
    output.write(reinterpret_cast<const char *>(entries.data()),
                 entries.size() * sizeof(SidecarEntry));
    for (auto &[name, data] : blobs)
      output << name;
    size_t i = 0;
    for (auto &[name, data] : blobs) {
      output.write_zeros(entries[i++].offset - output.tell());
      output.write(data.data(), data.size());
    }
    return llvm::Error::success();
  });
}

/// Puts the sidecar's blobs behind the names that the text has parsed as empty.
llvm::Error readSidecar(const std::string &path, MLIRContext *context) {
  auto fail = [&](const Twine &what) {
    return llvm::createStringError("'" + path + "': " + what.str());
  };
  auto file = llvm::MemoryBuffer::getFile(path, /*IsText=*/false, /*RequiresNullTerminator=*/false);
  if (!file)
    return fail(file.getError().message());
  std::shared_ptr<llvm::MemoryBuffer> buffer = std::move(*file);
  const uint64_t size = buffer->getBufferSize();
  const char *start = buffer->getBufferStart();
  SidecarHeader header;
  if (size < sizeof header || std::memcmp(start, kMagic, sizeof kMagic) != 0)
    return fail("is no file of weights");
  std::memcpy(&header, start, sizeof header);
  if (header.count > (size - sizeof header) / sizeof(SidecarEntry))
    return fail("is truncated");
  auto inside = [&](uint64_t offset, uint64_t bytes) {
    return offset <= size && bytes <= size - offset;
  };
  auto &manager = DenseResourceElementsHandle::getManagerInterface(context).getBlobManager();
  for (uint64_t i = 0; i < header.count; ++i) {
    SidecarEntry entry;
    std::memcpy(&entry, start + sizeof header + i * sizeof entry, sizeof entry);
    if (!inside(entry.nameOffset, entry.nameSize) || !inside(entry.offset, entry.size))
      return fail("is truncated");
    StringRef name(start + entry.nameOffset, entry.nameSize);
    if (!manager.lookup(name))
      continue;
    // The blob's deleter holds the mapping.
    manager.update(name, AsmResourceBlob(
                             ArrayRef<char>(start + entry.offset, entry.size), kAlignment,
                             [buffer](void *, size_t, size_t) {},
                             /*dataIsMutable=*/false));
  }
  return llvm::Error::success();
}

} // namespace

llvm::Error cameo::writeStageFile(ModuleOp module, StringRef path) {
  llvm::MapVector<StringRef, ArrayRef<char>> blobs = largeResources(module);
  std::string sidecar = path.str() + ".weights";
  const bool isStandardOutput = path == "-"; // weights go into the text
  if (!blobs.empty() && !isStandardOutput) {
    if (llvm::Error error = writeSidecar(blobs, sidecar))
      return error;
  } else if (std::error_code error =
                 isStandardOutput ? std::error_code() : llvm::sys::fs::remove(sidecar)) {
    // Weights of another module must not be taken for this one's.
    return llvm::createStringError("cannot remove '" + sidecar + "': " + error.message());
  }
  return writeFile(path, 0644, [&](llvm::raw_fd_ostream &output) {
    OpPrintingFlags flags;
    flags.enableDebugInfo();
    if (!isStandardOutput)
      flags.elideLargeResourceString(kInlineCharacters);
    module.print(output, flags);
    output << "\n";
    return llvm::Error::success();
  });
}

OwningOpRef<ModuleOp> cameo::readStageFile(StringRef path, MLIRContext *context) {
  auto file = llvm::MemoryBuffer::getFileOrSTDIN(path);
  if (!file) {
    emitError(UnknownLoc::get(context))
        << "cannot read '" << path << "': " << file.getError().message();
    return nullptr;
  }
  llvm::SourceMgr sources;
  sources.AddNewSourceBuffer(std::move(*file), SMLoc());
  // Verified below: some verifiers look at weights.
  ParserConfig config(context, /*verifyAfterParse=*/false);
  OwningOpRef<ModuleOp> module = parseSourceFile<ModuleOp>(sources, config);
  if (!module)
    return nullptr;
  std::string sidecar = path.str() + ".weights";
  if (llvm::sys::fs::exists(sidecar))
    if (llvm::Error error = readSidecar(sidecar, context)) {
      emitError(UnknownLoc::get(context)) << llvm::toString(std::move(error));
      return nullptr;
    }
  if (failed(verify(*module)))
    return nullptr;
  return module;
}
