// Files mapped into memory, opened with care: regular files only, and for external data only
// those beneath the model's folder.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/StringRef.h"
#include "llvm/Support/Error.h"
#include <memory>

namespace cameo::onnx {

class MappedFile {
public:
  static llvm::Expected<std::shared_ptr<MappedFile>> open(llvm::StringRef path);

  /// Opens `relative` beneath `folder`. No part of it may be `..` or a symbolic link. Each part is
  /// opened relative to the one before, so nothing can be exchanged in between.
  static llvm::Expected<std::shared_ptr<MappedFile>> openBeneath(llvm::StringRef folder,
                                                                 llvm::StringRef relative);
  MappedFile(const MappedFile &) = delete;
  MappedFile &operator=(const MappedFile &) = delete;
  ~MappedFile();

  llvm::ArrayRef<char> bytes() const { return {data, size}; }

private:
  MappedFile(const char *data, size_t size) : data(data), size(size) {}
  static llvm::Expected<std::shared_ptr<MappedFile>> map(int fd, llvm::StringRef path);

  const char *data;
  size_t size;
};

} // namespace cameo::onnx
