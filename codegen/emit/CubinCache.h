// A folder that keeps what ptxas made of a text.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "llvm/ADT/StringRef.h"
#include "llvm/Support/Error.h"

#include <optional>
#include <string>
#include <vector>

namespace cameo {

/// ptxas's output, as it is kept.
struct CachedCubin {
  std::vector<char> data;
  std::string log;
};

/// An entry is a file that appears whole, under a name that is the hash of all that its content
/// follows from. So any number of processes may share the folder, and nothing ever gets stale.
class CubinCache {
public:
  /// Makes the folder if it is not there.
  static llvm::Expected<CubinCache> open(llvm::StringRef folder);

  /// Nothing where there is no such entry; an error that says so where it is damaged.
  llvm::Expected<std::optional<CachedCubin>> find(llvm::StringRef key) const;
  llvm::Error store(llvm::StringRef key, const CachedCubin &cubin) const;

  /// Removes entries that nobody has read for 30 days and, the least used first, what is above
  /// 1 GiB or above three quarters of the space that there is. Looks every 20 minutes at most.
  void prune() const;

  /// The folder's path.
  llvm::StringRef path() const { return folder; }
  /// The key for what follows from `parts`.
  static std::string keyOf(llvm::ArrayRef<llvm::StringRef> parts);

private:
  explicit CubinCache(std::string folder) : folder(std::move(folder)) {}
  std::string fileOf(llvm::StringRef key) const;

  std::string folder;
};

} // namespace cameo
