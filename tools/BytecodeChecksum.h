// A checksum in MLIR's bytecode: of the whole file, in the header's name of the producer, which
// other readers pass over.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "codegen/PieceHash.h"

#include "llvm/ADT/StringRef.h"
#include "llvm/Support/Error.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/raw_ostream.h"

#include <string>
#include <vector>

namespace cameo {

/// The hash of a file's pieces as they are written, wherever writes begin and end.
class StreamHash {
public:
  void add(llvm::StringRef bytes);
  uint64_t finish();

private:
  std::vector<char> piece;
  PieceHash hashes;
};

/// Passes MLIR on to a file, or memory, that can be written out of order. Bytecode gets a checksum
/// on the way, text stays as it is.
class ChecksumStream : public llvm::raw_ostream {
public:
  explicit ChecksumStream(llvm::raw_pwrite_stream &file) : file(file), start(file.tell()) {}
  ~ChecksumStream() override { flush(); }
  /// Writes the checksum; called when everything else is written.
  void finish();

private:
  void write_impl(const char *data, size_t size) override;
  uint64_t current_pos() const override { return position; }
  void writeHeader();
  void pass(llvm::StringRef bytes);

  llvm::raw_pwrite_stream &file;
  uint64_t start, position = 0;
  /// What has come of the header, until it is complete.
  std::string header;
  bool hasHeader = false;
  /// Offset of the checksum's digits; 0 in text.
  uint64_t digits = 0;
  StreamHash hash;
};

/// Reads a file of MLIR, "-" for standard input. Bytecode is aligned as its reader needs it, and an
/// error says that its checksum is wrong; `isUnchecked` is set where it has none.
llvm::Expected<std::unique_ptr<llvm::MemoryBuffer>> openMlirFile(llvm::StringRef path,
                                                                 bool &isUnchecked);

} // namespace cameo
