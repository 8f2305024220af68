// Precisions that a user asks for by node: GLOB=TYPE.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "passes/precision/Policy.h"

#include "llvm/Support/Error.h"
#include "llvm/Support/GlobPattern.h"

namespace cameo {

/// How a reason begins that is the user's.
inline constexpr llvm::StringLiteral kAskedPrecision = "--precision-of=";

struct PrecisionOverride {
  std::string text; // as given
  llvm::GlobPattern pattern;
  Precision precision;
  bool isUsed = false;
};

/// "layer4.*=bf16;Conv=fp16": matches names of nodes and of operators; "\\Conv=fp16", which begins
/// with an escape, those of nodes alone.
class PrecisionOverrides {
public:
  static llvm::Expected<PrecisionOverrides> parse(llvm::StringRef text);

  /// The last one that the node matches, or null; all that it matches are used.
  const PrecisionOverride *find(mlir::Operation *op);
  llvm::ArrayRef<PrecisionOverride> all() const { return list; }

private:
  std::vector<PrecisionOverride> list;
};

} // namespace cameo
