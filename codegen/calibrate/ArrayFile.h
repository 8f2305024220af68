// Arrays of numpy in files, .npy and .npz, read front to back and never whole.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "runtime/cameo.h"

#include "llvm/ADT/SmallVector.h"
#include "llvm/Support/Error.h"

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

namespace cameo {

/// A file that is read by position.
class InputFile {
public:
  static llvm::Expected<std::shared_ptr<InputFile>> open(llvm::StringRef path);
  ~InputFile();
  InputFile(const InputFile &) = delete;
  InputFile &operator=(const InputFile &) = delete;

  llvm::StringRef path() const { return name; }
  uint64_t size() const { return bytes; }
  /// Fills `buffer` with what begins at `offset`; less than that is an error.
  llvm::Error read(uint64_t offset, llvm::MutableArrayRef<char> buffer) const;

private:
  InputFile(llvm::StringRef name, int handle, uint64_t bytes)
      : name(name), handle(handle), bytes(bytes) {}

  std::string name;
  int handle;
  uint64_t bytes;
};

/// Of files' bytes, in order: XXH3 of the hashes of pieces of 1 MiB and of sizes.
llvm::Expected<uint64_t> hashFiles(llvm::ArrayRef<std::string> paths);

/// Where an array lies in a file: all of an .npy file, or a member of an .npz archive.
struct ArrayPlace {
  std::string name; // of the member, without ".npy"; empty: the file is the array
  uint64_t offset = 0, packedBytes = 0, unpackedBytes = 0;
  bool isDeflated = false;
  uint32_t checksum = 0; // CRC-32 of a member's unpacked bytes
};

/// The one array of a file called *.npy, the members of any other, which is an .npz archive.
llvm::Expected<std::vector<ArrayPlace>> listArrays(const InputFile &file);

/// One array: its type and shape, then its elements in row-major order.
class ArrayReader {
public:
  static llvm::Expected<std::unique_ptr<ArrayReader>> open(std::shared_ptr<InputFile> file,
                                                           const ArrayPlace &place);
  ~ArrayReader();

  cameo_dtype dtype() const { return elementType; }
  uint64_t elementBytes() const { return elementSize; }
  llvm::ArrayRef<int64_t> shape() const { return sizes; }
  /// The next bytes of its elements. Whoever reads the last ones learns whether the member's
  /// checksum is right.
  llvm::Error read(llvm::MutableArrayRef<char> buffer);

private:
  struct Inflation;
  ArrayReader(std::shared_ptr<InputFile> file, const ArrayPlace &place);
  llvm::Error problem(const llvm::Twine &what) const;
  llvm::Error start();
  llvm::Error parseHeader(llvm::StringRef header);
  llvm::Error readBytes(llvm::MutableArrayRef<char> buffer);
  llvm::Error inflateInto(llvm::MutableArrayRef<char> buffer);

  std::shared_ptr<InputFile> file;
  ArrayPlace place;
  uint64_t taken = 0, made = 0; // of the packed and the unpacked bytes
  uint32_t checksum = 0;
  std::unique_ptr<Inflation> inflation;
  cameo_dtype elementType = CAMEO_DTYPE_UNDEFINED;
  uint64_t elementSize = 0;
  llvm::SmallVector<int64_t> sizes;
};

/// "float32", as numpy calls it; the runtime's word where numpy has none.
std::string dtypeText(cameo_dtype dtype);
/// "1x3x?" with -1 as "?"; "scalar".
std::string sizesText(llvm::ArrayRef<int64_t> sizes);

} // namespace cameo
