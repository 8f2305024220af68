// Files under temporary names.
// SPDX-License-Identifier: Apache-2.0
#include "dialects/onnx/OutputFile.h"

#include <unistd.h>

using namespace llvm;
namespace cameo::onnx {

Error OutputFile::fail(std::error_code error) const {
  return createStringError(error, "cannot write '" + path + "': " + error.message());
}

/// Whether it stays what it is while it is written to.
static bool isWrittenInPlace(StringRef path) {
  if (!sys::fs::exists(path))
    return false;
  return !sys::fs::is_regular_file(path) || path.starts_with("/dev/") || path.starts_with("/proc/");
}

Expected<std::unique_ptr<OutputFile>> OutputFile::create(StringRef path, unsigned mode) {
  std::unique_ptr<OutputFile> file(new OutputFile(path, mode));
  if (path == "-") {
    file->output.emplace(STDOUT_FILENO, /*shouldClose=*/false);
    return file;
  }
  if (sys::fs::is_directory(path))
    return createStringError("cannot write '" + path + "': it is a folder");
  if (isWrittenInPlace(path)) {
    int descriptor = -1;
    if (std::error_code error =
            sys::fs::openFileForWrite(path, descriptor, sys::fs::CD_OpenExisting))
      return file->fail(error);
    file->output.emplace(descriptor, /*shouldClose=*/true);
    return file;
  }
  Expected<sys::fs::TempFile> temporary = sys::fs::TempFile::create(path + ".%%%%%%%%.tmp", mode);
  if (!temporary)
    return file->fail(errorToErrorCode(temporary.takeError()));
  file->temporary.emplace(std::move(*temporary));
  file->output.emplace(file->temporary->FD, /*shouldClose=*/false);
  return file;
}

OutputFile::~OutputFile() {
  if (output)
    output->clear_error();
  output.reset();
  if (temporary)
    consumeError(temporary->discard());
}

Error OutputFile::close() {
  output->flush();
  std::error_code error = output->error();
  output->clear_error();
  return error ? fail(error) : Error::success();
}

Error OutputFile::keep() {
  if (!temporary)
    return Error::success();
  if (std::error_code error =
          sys::fs::setPermissions(temporary->TmpName, static_cast<sys::fs::perms>(mode)))
    return fail(error);
  Error error = temporary->keep(path);
  temporary.reset();
  return error ? fail(errorToErrorCode(std::move(error))) : Error::success();
}

} // namespace cameo::onnx
