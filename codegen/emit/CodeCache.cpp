// Entries: a header that says what follows and how it hashes, the log, the code.
//
// SPDX-License-Identifier: Apache-2.0
#include "codegen/emit/CodeCache.h"

#include "codegen/emit/BuildIds.h"
#include "codegen/emit/Payload.h"

#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/CachePruning.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/FormatVariadic.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/Path.h"
#include "llvm/Support/SHA256.h"
#include "llvm/Support/xxhash.h"

#include <cstring>

using namespace cameo;
using llvm::StringRef;

namespace {

/// In front of log and code. Little endian, as all that we run on.
struct EntryHeader {
  char magic[8];
  uint64_t logBytes, codeBytes;
  uint64_t hash; // XXH3 of log and code
};

constexpr char kMagic[] = "CAMEOCC1";

/// LLVM's pruning touches files of this prefix alone.
constexpr llvm::StringLiteral kPrefix = "llvmcache-";

uint64_t hashOf(StringRef bytes) {
  return llvm::xxh3_64bits(llvm::ArrayRef(bytes.bytes_begin(), bytes.size()));
}

} // namespace

llvm::Expected<CodeCache> CodeCache::open(StringRef folder) {
  llvm::SmallString<256> path(folder);
  std::error_code error = llvm::sys::fs::make_absolute(path);
  if (!error)
    error = llvm::sys::fs::create_directories(path);
  if (!error && !llvm::sys::fs::is_directory(path))
    error = std::make_error_code(std::errc::not_a_directory);
  if (error)
    return llvm::createStringError("'" + folder.str() + "': " + error.message());
  return CodeCache(std::string(path));
}

std::string CodeCache::keyOf(llvm::ArrayRef<StringRef> parts) {
  llvm::SHA256 hash;
  for (StringRef part : parts) {
    // With its length, so that no two lists are one text.
    hash.update(std::to_string(part.size()) + ":");
    hash.update(part);
  }
  return llvm::toHex(hash.final(), /*LowerCase=*/true);
}

std::string CodeCache::fileOf(StringRef key) const {
  llvm::SmallString<256> path(folder);
  llvm::sys::path::append(path, kPrefix + key);
  return std::string(path);
}

llvm::Expected<std::optional<CachedCode>> CodeCache::find(StringRef key) const {
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
      header.logBytes > content.size() || header.codeBytes != content.size() - header.logBytes ||
      header.hash != hashOf(content))
    return llvm::createStringError("'" + path + "' is damaged");
  CachedCode code;
  code.log = content.take_front(header.logBytes).str();
  StringRef data = content.drop_front(header.logBytes);
  code.data.assign(data.begin(), data.end());
  return code;
}

llvm::Error CodeCache::store(StringRef key, const CachedCode &code) const {
  std::string content = code.log;
  content.append(code.data.begin(), code.data.end());
  EntryHeader header = {{}, code.log.size(), code.data.size(), hashOf(content)};
  std::memcpy(header.magic, kMagic, sizeof header.magic);
  return writeFile(fileOf(key), 0644, [&](llvm::raw_fd_ostream &output) {
    output.write(reinterpret_cast<const char *>(&header), sizeof header);
    output << content;
    return llvm::Error::success();
  });
}

void CodeCache::prune() const {
  llvm::CachePruningPolicy policy;
  policy.Expiration = std::chrono::hours(30 * 24);
  policy.MaxSizeBytes = uint64_t(1) << 30;
  llvm::pruneCache(folder, policy);
}

CodeStore::CodeStore(StringRef folder) {
  if (folder.empty())
    return;
  llvm::Expected<CodeCache> opened = CodeCache::open(folder);
  if (opened)
    cache = std::move(*opened);
  else
    warn(llvm::toString(opened.takeError()));
}

void CodeStore::warn(const llvm::Twine &reason) {
  std::lock_guard<std::mutex> lock(mutex);
  if (messages.warnings.empty())
    messages.warnings.push_back(("nothing is cached: " + reason).str());
}

llvm::Expected<CachedCode> CodeStore::get(StringRef kind, llvm::ArrayRef<StringRef> parts,
                                          Make make) {
  if (!cache)
    return make();
  llvm::SmallVector<StringRef> all = {kind};
  all.append(parts.begin(), parts.end());
  std::string key = CodeCache::keyOf(all);
  llvm::Expected<std::optional<CachedCode>> kept = cache->find(key);
  bool isFound = kept && *kept;
  {
    std::lock_guard<std::mutex> lock(mutex);
    Count &count = counts[kind.str()];
    ++(isFound ? count.found : count.made);
    if (!kept)
      messages.remarks.push_back("cached code made anew: " + llvm::toString(kept.takeError()));
  }
  if (isFound)
    return std::move(**kept);
  llvm::Expected<CachedCode> made = make();
  if (made)
    if (llvm::Error error = cache->store(key, *made))
      warn(llvm::toString(std::move(error)));
  return made;
}

llvm::Expected<CachedCode> CodeStore::getOwn(StringRef kind, llvm::ArrayRef<StringRef> parts,
                                             Make make) {
  static const std::string identity = buildIds();
  if (!cache || identity.empty()) {
    if (cache)
      warn("this program has no build ID");
    return make();
  }
  llvm::SmallVector<StringRef> all = {identity};
  all.append(parts.begin(), parts.end());
  return get(kind, all, make);
}

CodeStore::Messages CodeStore::finish() {
  std::lock_guard<std::mutex> lock(mutex);
  llvm::sort(messages.remarks);
  if (cache) {
    cache->prune();
    for (const auto &[kind, count] : std::exchange(counts, {}))
      messages.remarks.push_back(llvm::formatv("{0} of {1} {2} are from the cache in '{3}'",
                                               count.found, count.found + count.made, kind,
                                               cache->path()));
  }
  return std::exchange(messages, {});
}
