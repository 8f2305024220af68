// The manifest: an artefact's description of itself, as JSON.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "codegen/emit/Code.h"

namespace cameo {

struct ManifestInfo {
  std::string compilerVersion;
  std::string modelName;
  std::string precision;      // what was asked for, as --precision
  std::string leastPrecision; // with the fewest bits that was asked for of anything
  uint64_t modelHash = 0;     // XXH3 of the input file
};

std::string makeManifest(mlir::ModuleOp module, llvm::ArrayRef<CodeVariant> variants,
                         llvm::ArrayRef<PayloadSection> sections, const ManifestInfo &info);

} // namespace cameo
