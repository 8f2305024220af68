// A model's bytes ==> module, hash and the files that were read.
// SPDX-License-Identifier: Apache-2.0
#include "codegen/ModelInput.h"

#include "mlir/IR/Diagnostics.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/FormatVariadic.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/xxhash.h"

#include <climits>

using namespace mlir;
using namespace cameo;

namespace fs = llvm::sys::fs;

uint64_t cameo::hashOfModel(StringRef bytes) {
  return llvm::xxh3_64bits(ArrayRef(bytes.bytes_begin(), bytes.size()));
}

std::string cameo::hashText(uint64_t hash) { return llvm::formatv("{0:x-16}", hash); }

uint64_t cameo::hashFile(StringRef path) {
  auto file = llvm::MemoryBuffer::getFile(path, /*IsText=*/false, /*RequiresNullTerminator=*/false);
  return file ? hashOfModel((*file)->getBuffer()) : 0;
}

bool cameo::isStream(StringRef path) {
  fs::file_status status;
  if (path == "-" || path == "/dev/stdin")
    return true;
  return !fs::status(path, status) &&
         (status.type() == fs::file_type::fifo_file || status.type() == fs::file_type::socket_file);
}

/// All of it, but no more than a model may have by one byte.
static llvm::Expected<std::string> readStream(StringRef path) {
  auto fail = [&](std::error_code error) {
    return llvm::createStringError("cannot read '" + path.str() + "': " + error.message());
  };
  fs::file_t file = fs::getStdinHandle();
  if (path != "-" && path != "/dev/stdin") {
    llvm::Expected<fs::file_t> opened = fs::openNativeFileForRead(path);
    if (!opened)
      return fail(llvm::errorToErrorCode(opened.takeError()));
    file = *opened;
  }
  std::string bytes;
  constexpr size_t slice = 1 << 20, most = size_t(INT_MAX) + 1;
  size_t got = 1;
  while (got && bytes.size() < most) {
    size_t old = bytes.size();
    bytes.resize(std::min(old + slice, most));
    llvm::Expected<size_t> read =
        fs::readNativeFile(file, MutableArrayRef(bytes.data() + old, bytes.size() - old));
    if (!read)
      return fail(llvm::errorToErrorCode(read.takeError()));
    got = *read;
    bytes.resize(old + got);
  }
  return bytes;
}

ModelInput cameo::readModel(StringRef path, MLIRContext *context,
                            const std::vector<std::string> &overridable) {
  ModelInput input;
  onnx::ImportOptions options;
  options.overridable = overridable;
  options.externalFiles = &input.files;
  options.tensors = &input.tensors;
  if (!isStream(path)) {
    input.module = onnx::importOnnxFile(path, context, options);
    input.hash = input.module ? hashFile(path) : 0;
    return input;
  }
  llvm::Expected<std::string> bytes = readStream(path);
  if (!bytes) {
    emitError(UnknownLoc::get(context)) << llvm::toString(bytes.takeError());
    return input;
  }
  options.externalDataFolder = ".";
  input.hash = hashOfModel(*bytes);
  input.module = onnx::importOnnxBuffer(*bytes, "standard input", context, options);
  return input;
}
