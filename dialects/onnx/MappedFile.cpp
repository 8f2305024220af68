// Files mapped into memory.
// SPDX-License-Identifier: Apache-2.0
#include "dialects/onnx/MappedFile.h"

#include "llvm/ADT/ScopeExit.h"
#include "llvm/ADT/SmallVector.h"
#include "llvm/Support/Errno.h"
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

using namespace llvm;
namespace cameo::onnx {

static Error failed(StringRef path, const Twine &why) {
  return createStringError(llvm::inconvertibleErrorCode(), "cannot open '" + path + "': " + why);
}

Expected<std::shared_ptr<MappedFile>> MappedFile::map(int fd, StringRef path) {
  auto closeFile = make_scope_exit([&] { ::close(fd); });
  struct stat info;
  if (::fstat(fd, &info) != 0)
    return failed(path, sys::StrError());
  if (!S_ISREG(info.st_mode))
    return failed(path, "not a regular file");
  void *memory = nullptr;
  if (info.st_size > 0) {
    memory = ::mmap(nullptr, info.st_size, PROT_READ, MAP_PRIVATE, fd, 0);
    if (memory == MAP_FAILED)
      return failed(path, sys::StrError());
  }
  return std::shared_ptr<MappedFile>(
      new MappedFile(static_cast<const char *>(memory), info.st_size));
}

MappedFile::~MappedFile() {
  if (size)
    ::munmap(const_cast<char *>(data), size);
}

// O_NONBLOCK keeps the opening of a pipe from waiting for a writer.
static constexpr int kOpenFile = O_RDONLY | O_CLOEXEC | O_NONBLOCK;

Expected<std::shared_ptr<MappedFile>> MappedFile::open(StringRef path) {
  int fd = ::open(path.str().c_str(), kOpenFile);
  if (fd < 0)
    return failed(path, sys::StrError());
  return map(fd, path);
}

Expected<std::shared_ptr<MappedFile>> MappedFile::openBeneath(StringRef folder,
                                                              StringRef relative) {
  if (relative.empty() || relative.contains('\0'))
    return failed(relative, "not a file name");
  if (relative.starts_with("/"))
    return failed(relative, "external data must have a relative path");
  SmallVector<StringRef> parts;
  relative.split(parts, '/', -1, /*KeepEmpty=*/false);
  llvm::erase(parts, ".");
  if (parts.empty() || relative.ends_with("/"))
    return failed(relative, "not a file name");
  if (llvm::is_contained(parts, ".."))
    return failed(relative, "external data must lie beneath the model's folder");
  std::string base = folder.empty() ? "." : folder.str();
  int at = ::open(base.c_str(), O_PATH | O_DIRECTORY | O_CLOEXEC);
  if (at < 0)
    return failed(base, sys::StrError());
  for (StringRef part : ArrayRef(parts).drop_back()) {
    int next = ::openat(at, part.str().c_str(), O_PATH | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    int error = errno;
    ::close(at);
    if (next < 0 && (error == ENOTDIR || error == ELOOP))
      return failed(relative, "'" + part + "' is a symbolic link or no folder");
    if (next < 0)
      return failed(relative, sys::StrError(error));
    at = next;
  }
  int fd = ::openat(at, parts.back().str().c_str(), kOpenFile | O_NOFOLLOW);
  int error = errno;
  ::close(at);
  if (fd < 0 && error == ELOOP)
    return failed(relative, "it is a symbolic link");
  if (fd < 0)
    return failed(relative, sys::StrError(error));
  return map(fd, relative);
}

} // namespace cameo::onnx
