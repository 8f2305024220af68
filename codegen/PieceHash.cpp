// See PieceHash.h.
//
// SPDX-License-Identifier: Apache-2.0
#include "codegen/PieceHash.h"

#include "llvm/Support/xxhash.h"

using namespace cameo;

void PieceHash::add(llvm::StringRef piece) { hashes.push_back(llvm::xxh3_64bits(piece)); }

uint64_t PieceHash::hash() const {
  return llvm::xxh3_64bits(
      llvm::StringRef(reinterpret_cast<const char *>(hashes.data()), hashes.size_in_bytes()));
}
