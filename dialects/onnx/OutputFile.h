// A file that takes its name when it is whole.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "llvm/Support/FileSystem.h"
#include "llvm/Support/raw_ostream.h"
#include <memory>
#include <optional>
#include <string>

namespace cameo::onnx {

/// Is written beside the file of its name, and removed again where it is not kept. Standard output
/// (`-`), devices, pipes and what names of the system stand for (`/dev/stdout`) are written to as
/// they are.
class OutputFile {
public:
  /// `mode` are the permissions that the file gets.
  static llvm::Expected<std::unique_ptr<OutputFile>> create(llvm::StringRef path,
                                                            unsigned mode = 0644);
  ~OutputFile();

  llvm::raw_fd_ostream &stream() { return *output; }
  /// After this the file is whole, but has not got its name.
  llvm::Error close();
  llvm::Error keep();

private:
  OutputFile(llvm::StringRef path, unsigned mode) : path(path), mode(mode) {}
  llvm::Error fail(std::error_code error) const;

  std::string path;
  unsigned mode;
  std::optional<llvm::sys::fs::TempFile> temporary;
  std::optional<llvm::raw_fd_ostream> output;
};

} // namespace cameo::onnx
