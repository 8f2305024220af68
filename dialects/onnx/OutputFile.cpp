// Files under temporary names.
// SPDX-License-Identifier: Apache-2.0
#include "dialects/onnx/OutputFile.h"

using namespace llvm;
namespace cameo::onnx {

Error OutputFile::fail(std::error_code error) const {
  return createStringError(error, "cannot write '" + path + "': " + error.message());
}

Expected<std::unique_ptr<OutputFile>> OutputFile::create(StringRef path) {
  std::unique_ptr<OutputFile> file(new OutputFile(path));
  if (path == "-" || path.starts_with("/dev/") || path.starts_with("/proc/") ||
      (sys::fs::exists(path) && !sys::fs::is_regular_file(path))) {
    std::error_code error;
    file->output.emplace(path, error);
    if (error)
      return file->fail(error);
    return file;
  }
  Expected<sys::fs::TempFile> temporary = sys::fs::TempFile::create(path + ".%%%%%%%%.tmp");
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
  Error error = temporary->keep(path);
  temporary.reset();
  return error ? fail(errorToErrorCode(std::move(error))) : Error::success();
}

} // namespace cameo::onnx
