// The producer's name in the header is extended by " xxh3 ", 16 digits and spaces.
// SPDX-License-Identifier: Apache-2.0
#include "tools/BytecodeChecksum.h"

#include "mlir/Bytecode/BytecodeReader.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/FormatVariadic.h"

using namespace cameo;
using llvm::StringRef;

static constexpr llvm::StringLiteral kMagic("ML\xefR");
/// The producer's name follows the magic number and the version, which takes a byte up to 127.
static constexpr size_t kProducer = 5;
static constexpr llvm::StringLiteral kMark(" xxh3 ");
static constexpr size_t kDigits = 16;
/// The most that a mapped file can be aligned to.
static constexpr size_t kPage = 4096;
/// What the header grows by: whole pages, because alignment is relative to the file's beginning,
/// and so many that readers map the file. What is smaller they copy to where memory is free, which
/// is not aligned as the file's resources are, and MLIR's reader takes addresses for offsets.
static constexpr size_t kExtension = 4 * kPage;

void StreamHash::add(StringRef bytes) {
  while (!bytes.empty()) {
    StringRef part = bytes.take_front(PieceHash::kBytes - piece.size());
    piece.insert(piece.end(), part.begin(), part.end());
    bytes = bytes.drop_front(part.size());
    if (piece.size() == PieceHash::kBytes) {
      hashes.add(StringRef(piece.data(), piece.size()));
      piece.clear();
    }
  }
}

uint64_t StreamHash::finish() {
  hashes.add(StringRef(piece.data(), piece.size()));
  return hashes.hash();
}

static std::string digitsOf(uint64_t hash) { return llvm::formatv("{0:x-16}", hash).str(); }

//===-- Writing -------------------------------------------------------------------------------===//

void ChecksumStream::write_impl(const char *data, size_t size) {
  position += size;
  StringRef bytes(data, size);
  if (hasHeader)
    return pass(bytes);
  header += bytes;
  bool isText = !kMagic.starts_with(StringRef(header).take_front(kMagic.size()));
  if (isText || StringRef(header).find('\0', kProducer) != StringRef::npos)
    writeHeader();
}

void ChecksumStream::writeHeader() {
  if (hasHeader)
    return;
  hasHeader = true;
  size_t end = StringRef(header).find('\0', kProducer);
  if (StringRef(header).starts_with(kMagic) && end != std::string::npos) {
    std::string extension = kMark.str() + std::string(kDigits, '0');
    extension.resize(kExtension, ' ');
    header.insert(end, extension);
    digits = end + kMark.size();
  }
  pass(header);
}

void ChecksumStream::pass(StringRef bytes) {
  file << bytes;
  if (digits)
    hash.add(bytes);
}

void ChecksumStream::finish() {
  flush();
  writeHeader();
  if (digits)
    file.pwrite(digitsOf(hash.finish()).data(), kDigits, start + digits);
}

//===-- Reading -------------------------------------------------------------------------------===//

/// Whether bytecode has a checksum; an error where it has another one than it should.
static llvm::Expected<bool> verifyChecksum(StringRef bytecode) {
  size_t end = bytecode.find('\0', kProducer);
  size_t mark = bytecode.take_front(end).find(kMark, kProducer);
  if (end == StringRef::npos || mark == StringRef::npos)
    return false;
  size_t at = mark + kMark.size();
  StringRef found = bytecode.substr(at, kDigits);
  StreamHash hash;
  hash.add(bytecode.take_front(at));
  hash.add(std::string(found.size(), '0'));
  hash.add(bytecode.drop_front(at + found.size()));
  std::string wanted = digitsOf(hash.finish());
  if (found != wanted)
    return llvm::createStringError("is damaged: its checksum is " + wanted +
                                   ", and its header says " + found.str());
  return true;
}

llvm::Expected<std::unique_ptr<llvm::MemoryBuffer>> cameo::openMlirFile(StringRef path,
                                                                        bool &isUnchecked) {
  const llvm::Align alignment(kPage);
  isUnchecked = false;
  auto file = llvm::MemoryBuffer::getFileOrSTDIN(path, /*IsText=*/false,
                                                 /*RequiresNullTerminator=*/true, alignment);
  if (!file)
    return llvm::createStringError("cannot read '" + path.str() +
                                   "': " + file.getError().message());
  std::unique_ptr<llvm::MemoryBuffer> buffer = std::move(*file);
  if (!mlir::isBytecode(buffer->getMemBufferRef()))
    return buffer;
  if (!llvm::isAddrAligned(alignment, buffer->getBufferStart())) { // standard input
    auto aligned = llvm::WritableMemoryBuffer::getNewUninitMemBuffer(
        buffer->getBufferSize(), buffer->getBufferIdentifier(), alignment);
    llvm::copy(buffer->getBuffer(), aligned->getBufferStart());
    buffer = std::move(aligned);
  }
  llvm::Expected<bool> hasChecksum = verifyChecksum(buffer->getBuffer());
  if (!hasChecksum)
    return llvm::createStringError("'" + path.str() + "' " +
                                   llvm::toString(hasChecksum.takeError()));
  isUnchecked = !*hasChecksum;
  return buffer;
}
