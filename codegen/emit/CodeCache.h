// A folder that keeps compiled kernels, and what looks there before it makes one.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "llvm/ADT/STLFunctionalExtras.h"
#include "llvm/ADT/StringRef.h"
#include "llvm/Support/Error.h"

#include <map>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

namespace cameo {

/// A kernel as it is kept: a cubin, PTX text or an object file, and what there is to say of it.
struct CachedCode {
  std::vector<char> data;
  std::string log;
};

/// An entry is a file that appears whole, under a name that is the hash of all that its content
/// follows from. So any number of processes may share the folder, and nothing ever gets stale.
class CodeCache {
public:
  /// Makes the folder if it is not there.
  static llvm::Expected<CodeCache> open(llvm::StringRef folder);

  /// The entry of a key, or nothing where there is none; a damaged one is an error that says so.
  llvm::Expected<std::optional<CachedCode>> find(llvm::StringRef key) const;
  llvm::Error store(llvm::StringRef key, const CachedCode &code) const;

  /// Removes entries that nobody has read for 30 days and, the least used first, what is above
  /// 1 GiB or above three quarters of the space that there is. Looks every 20 minutes at most.
  void prune() const;

  /// The folder's path.
  llvm::StringRef path() const { return folder; }
  /// The key for what follows from `parts`.
  static std::string keyOf(llvm::ArrayRef<llvm::StringRef> parts);

private:
  explicit CodeCache(std::string folder) : folder(std::move(folder)) {}
  std::string fileOf(llvm::StringRef key) const;

  std::string folder;
};

/// The place that a compilation takes its kernels' code from: a folder, if there is one, else the function
/// that makes it. A folder that fails only costs time. Several threads may use it at a time.
class CodeStore {
public:
  /// Keeps nothing where `folder` is empty; where it cannot be a folder, that is a warning.
  explicit CodeStore(llvm::StringRef folder = "");

  bool keeps() const { return bool(cache); }

  using Make = llvm::function_ref<llvm::Expected<CachedCode>()>;
  /// The code that follows from `parts` alone. `kind`, in the plural, is what messages call it.
  llvm::Expected<CachedCode> get(llvm::StringRef kind, llvm::ArrayRef<llvm::StringRef> parts,
                                 Make make);
  /// Code that follows from this compiler, too: every build of it has entries of its own.
  llvm::Expected<CachedCode> getOwn(llvm::StringRef kind, llvm::ArrayRef<llvm::StringRef> parts,
                                    Make make);

  /// Says, once of all, why nothing is cached.
  void warn(const llvm::Twine &reason);

  /// Removes what the folder has too much of. What there is to say of it: remarks, and warnings.
  struct Messages {
    std::vector<std::string> remarks, warnings;
  };
  Messages finish();

private:
  struct Count {
    unsigned found = 0, made = 0;
  };

  std::optional<CodeCache> cache;
  std::mutex mutex; // of what follows
  std::map<std::string, Count> counts;
  Messages messages;
};

} // namespace cameo
