// The hash of what is read or written in pieces.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "llvm/ADT/SmallVector.h"
#include "llvm/ADT/StringRef.h"

#include <cstdint>

namespace cameo {

/// XXH3 of the XXH3s of pieces, of 64 bits each. It depends on where one piece ends and the next begins.
class PieceHash {
public:
  /// Bytes of a file's pieces, but for the last one.
  static constexpr size_t kBytes = 1 << 20;

  void add(llvm::StringRef piece);
  /// A number in place of a piece's hash.
  void addNumber(uint64_t number) { hashes.push_back(number); }
  uint64_t hash() const;

private:
  llvm::SmallVector<uint64_t> hashes;
};

} // namespace cameo
