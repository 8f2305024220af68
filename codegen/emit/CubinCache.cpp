// Entries: a header that says what follows and how it hashes, ptxas's log, the cubin.
//
// SPDX-License-Identifier: Apache-2.0
#include "codegen/emit/CubinCache.h"

#include "codegen/emit/Payload.h"

#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/CachePruning.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/Path.h"
#include "llvm/Support/SHA256.h"
#include "llvm/Support/xxhash.h"

#include <cstring>

using namespace cameo;
using llvm::StringRef;

namespace {

/// In front of log and cubin. Little endian, as all that we run on.
struct EntryHeader {
  char magic[8];
  uint64_t logBytes, cubinBytes;
  uint64_t hash; // XXH3 of log and cubin
};

constexpr char kMagic[] = "CAMEOCU1";

/// LLVM's pruning touches files of this prefix alone.
constexpr llvm::StringLiteral kPrefix = "llvmcache-";

uint64_t hashOf(StringRef bytes) {
  return llvm::xxh3_64bits(llvm::ArrayRef(bytes.bytes_begin(), bytes.size()));
}

} // namespace

llvm::Expected<CubinCache> CubinCache::open(StringRef folder) {
  llvm::SmallString<256> path(folder);
  std::error_code error = llvm::sys::fs::make_absolute(path);
  if (!error)
    error = llvm::sys::fs::create_directories(path);
  if (!error && !llvm::sys::fs::is_directory(path))
    error = std::make_error_code(std::errc::not_a_directory);
  if (error)
    return llvm::createStringError("'" + folder.str() + "': " + error.message());
  return CubinCache(std::string(path));
}

std::string CubinCache::keyOf(llvm::ArrayRef<StringRef> parts) {
  llvm::SHA256 hash;
  for (StringRef part : parts) {
    // With its length, so that no two lists are one text.
    hash.update(std::to_string(part.size()) + ":");
    hash.update(part);
  }
  return llvm::toHex(hash.final(), /*LowerCase=*/true);
}

std::string CubinCache::fileOf(StringRef key) const {
  llvm::SmallString<256> path(folder);
  llvm::sys::path::append(path, kPrefix + key);
  return std::string(path);
}

llvm::Expected<std::optional<CachedCubin>> CubinCache::find(StringRef key) const {
  std::string path = fileOf(key);
  auto file = llvm::MemoryBuffer::getFile(path, /*IsText=*/false, /*RequiresNullTerminator=*/false);
  if (!file && file.getError() == std::errc::no_such_file_or_directory)
    return std::nullopt;
  if (!file)
    return llvm::createStringError("cannot read '" + path + "': " + file.getError().message());
  StringRef bytes = (*file)->getBuffer();
  EntryHeader header = {};
  std::memcpy(&header, bytes.data(), std::min(bytes.size(), sizeof header));
  StringRef content = bytes.drop_front(std::min(bytes.size(), sizeof header));
  if (std::memcmp(header.magic, kMagic, sizeof header.magic) != 0 ||
      header.logBytes > content.size() || header.cubinBytes != content.size() - header.logBytes ||
      header.hash != hashOf(content))
    return llvm::createStringError("'" + path + "' is damaged");
  CachedCubin cubin;
  cubin.log = content.take_front(header.logBytes).str();
  StringRef data = content.drop_front(header.logBytes);
  cubin.data.assign(data.begin(), data.end());
  return cubin;
}

llvm::Error CubinCache::store(StringRef key, const CachedCubin &cubin) const {
  std::string content = cubin.log;
  content.append(cubin.data.begin(), cubin.data.end());
  EntryHeader header = {{}, cubin.log.size(), cubin.data.size(), hashOf(content)};
  std::memcpy(header.magic, kMagic, sizeof header.magic);
  return writeFile(fileOf(key), 0644, [&](llvm::raw_fd_ostream &output) {
    output.write(reinterpret_cast<const char *>(&header), sizeof header);
    output << content;
    return llvm::Error::success();
  });
}

void CubinCache::prune() const {
  llvm::CachePruningPolicy policy;
  policy.Expiration = std::chrono::hours(30 * 24);
  policy.MaxSizeBytes = uint64_t(1) << 30;
  llvm::pruneCache(folder, policy);
}
